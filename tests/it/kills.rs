//! `kill -9` at any instant, many times: nothing half-written is believed, nothing finished runs again, no repair step
//! is needed, and what comes out is what an undisturbed run gives.
//!
//! Half of the kills hit the program alone, half hit it with all its children. Up to twenty
//! in every test run; with `NGCC_TEST_KILLS=200` (and `--no-capture` for the count) as many as that.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test that cannot go on has failed; the campaign tells what it did"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use ngcc::exec::descendants;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::bench::{Workspace, shell};

const NODES: usize = 300;
const JOBS: usize = 2;
/// After so long no further kill, when no number of them was asked for.
const ENOUGH: Duration = Duration::from_secs(20);

/// 100 chains of three steps.
fn chains() -> Workspace {
    let names: Vec<String> = (0..NODES / 3).map(|n| format!("N{n:02}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let one = shell("one", "instance", "cat ${input:src}/*/one.c", "inputs: {src: sources}");
    let two = shell(
        "two",
        "instance",
        "mkdir tree; cp ${input:x} tree/x; echo two > tree/y",
        "inputs: {x: one.out}, outputs: {tree: tree}",
    );
    let three =
        shell("three", "instance", "cat ${input:x}/x ${input:x}/y", "inputs: {x: two.tree}");
    Workspace::of_commands(&names, &format!("{one}{two}{three}"))
}

/// Numbers that are different in every run of the test; the seed is told when it fails.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        // Xorshift.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit.max(1)
    }
}

/// Actions that the events of one run say have started, and have ended with a result.
fn events(path: &Path) -> (Vec<String>, BTreeSet<String>) {
    let (mut started, mut ended) = (Vec::new(), BTreeSet::new());
    // The last line may be half.
    let text = std::fs::read_to_string(path).unwrap();
    for event in text.lines().filter_map(|l| serde_json::from_str::<serde_json::Value>(l).ok()) {
        let label = || event["action"].as_str().unwrap().to_owned();
        match (event["event"].as_str(), event["status"].as_str()) {
            (Some("started"), _) => started.push(label()),
            (Some("ended"), Some("done")) => drop(ended.insert(label())),
            _ => {}
        }
    }
    (started, ended)
}

/// Key to label and outputs, of all records of a store.
fn results(store: &Path) -> BTreeMap<String, (String, String)> {
    let files = walkdir::WalkDir::new(store.join("records")).into_iter().map(Result::unwrap);
    files
        .filter(|file| file.file_type().is_file())
        .map(|file| {
            let text = std::fs::read_to_string(file.path()).unwrap();
            let record: serde_json::Value = serde_json::from_str(&text).unwrap();
            let text = |field: &str| record[field].as_str().unwrap().to_owned();
            (text("key"), (text("label"), record["outputs"].to_string()))
        })
        .collect()
}

/// One store: killed some times on the way, then run to its end.
struct Campaign<'w> {
    workspace: &'w Workspace,
    store: String,
    /// With a result, as told before a kill.
    ended: BTreeSet<String>,
    started: usize,
    kills: usize,
}

impl Campaign<'_> {
    fn args(&self) -> Vec<String> {
        let jobs = JOBS.to_string();
        let args =
            ["--format", "json", "--store", &self.store, "pipeline", "run", "p", "--jobs", &jobs];
        args.map(str::to_owned).to_vec()
    }

    fn verify(&self) {
        let verify = self.workspace.ngcc(&["--store", &self.store, "store", "verify"]);
        assert_eq!(
            verify.code,
            Some(0),
            "after {} kills: {}{}",
            self.kills,
            verify.out,
            verify.err
        );
        assert!(!verify.out.contains("foreign"), "{}", verify.out);
    }

    /// What one run did must fit what earlier ones had finished.
    fn count(&mut self, events_file: &Path) {
        let (started, ended) = events(events_file);
        for action in &started {
            assert!(!self.ended.contains(action), "`{action}` had ended and ran again");
        }
        self.started += started.len();
        self.ended.extend(ended);
        assert!(self.started <= NODES + JOBS * self.kills, "{} starts", self.started);
    }

    /// Runs for that long and kills; false when the run ended before.
    fn kill_after(&mut self, wait: Duration, whole_tree: bool) -> bool {
        let file = self.workspace.path("events");
        let args = self.args();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let mut child = self
            .workspace
            .command(&args)
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(&file).unwrap())
            .spawn()
            .unwrap();
        let begun = Instant::now();
        while begun.elapsed() < wait && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let alive = child.try_wait().unwrap().is_none();
        if alive {
            self.kills += 1;
            let pid = Pid::from_raw(i32::try_from(child.id()).unwrap());
            let below = if whole_tree { descendants::of(pid) } else { BTreeSet::new() };
            for pid in std::iter::once(pid).chain(below) {
                let _ = kill(pid, Signal::SIGKILL);
            }
            child.wait().unwrap();
        }
        self.count(&file);
        alive
    }

    /// Directories of dead processes go when the store is opened next; one that an orphan still writes to, a little later.
    fn expect_no_leftovers(&self) {
        let tmp = Path::new(&self.store).join("tmp");
        let left = || {
            let entries = walkdir::WalkDir::new(&tmp).min_depth(1).into_iter().map(Result::unwrap);
            entries.map(walkdir::DirEntry::into_path).collect::<Vec<_>>()
        };
        for _ in 0..10 {
            // Only the lock stays.
            if left().len() == 1 {
                return;
            }
            std::thread::sleep(Duration::from_millis(200));
            self.verify();
        }
        panic!("left in tmp: {:?}", left());
    }

    fn finish(&mut self) {
        let args = self.args();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let run = self.workspace.ngcc(&args);
        assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
        let file = self.workspace.path("events");
        std::fs::write(&file, run.err).unwrap();
        self.count(&file);
        self.verify();
    }
}

#[test]
fn after_kills_at_any_instant_only_unfinished_actions_run_and_the_results_are_the_undisturbed_ones()
{
    #[expect(clippy::disallowed_methods, reason = "how often is up to whoever runs the tests")]
    let asked = std::env::var("NGCC_TEST_KILLS").ok();
    let wanted: usize = asked.as_ref().map_or(20, |n| n.parse().unwrap());
    let workspace = chains();
    // In memory where that can be: this is about order, and a busy disk only makes it slow.
    let stores = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let store = |n: usize| stores.path().join(format!("store-{n}")).display().to_string();
    let campaign = |n: usize| Campaign {
        workspace: &workspace,
        store: store(n),
        ended: BTreeSet::new(),
        started: 0,
        kills: 0,
    };
    let begun = Instant::now();
    let mut undisturbed = campaign(0);
    undisturbed.finish();
    let whole = u64::try_from(begun.elapsed().as_millis()).unwrap();
    let expected = results(Path::new(&store(0)));
    assert_eq!(expected.len(), NODES);

    let seed = u64::from(std::process::id()) << 20 | whole;
    let mut dice = Dice(seed);
    let (mut kills, mut used, mut again) = (0, 0, 0);
    // On a busy machine fewer will do, unless a number was asked for.
    while kills < wanted && (asked.is_some() || kills == 0 || begun.elapsed() < ENOUGH) {
        used += 1;
        let mut campaign = campaign(used);
        for _ in 0..6 {
            // Mostly somewhere in the run, sometimes in its first moments, when the store is opened.
            let limit = if dice.below(4) == 0 { 60 } else { whole / 3 };
            let wait = Duration::from_millis(dice.below(limit));
            let whole_tree = dice.below(2) == 0;
            let tired = asked.is_none() && campaign.kills > 0 && begun.elapsed() > ENOUGH;
            if tired || kills + campaign.kills == wanted || !campaign.kill_after(wait, whole_tree) {
                break;
            }
            campaign.verify();
        }
        campaign.finish();
        kills += campaign.kills;
        again += campaign.started - NODES;
        assert_eq!(results(Path::new(&campaign.store)), expected, "seed {seed}");
        campaign.expect_no_leftovers();
        std::fs::remove_dir_all(&campaign.store).unwrap();
    }
    eprintln!(
        "{kills} kills over {used} stores in {:?} (a whole run takes {whole} ms): {again} actions ran a second time",
        begun.elapsed()
    );
}
