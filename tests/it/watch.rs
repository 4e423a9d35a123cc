//! `ngcc pipeline run --watch`: one rerun for a save, none for what changes nothing, no timed work.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::time::{Duration, Instant};

use crate::bench::Workspace;

const SOURCE: &str = "kems/toy-1/src/A/KEM_AlgorithmInstance.c";

/// A watch that goes on; its summaries come to a file.
struct Watch<'w> {
    workspace: &'w Workspace,
    child: std::process::Child,
}

impl<'w> Watch<'w> {
    fn start(workspace: &'w Workspace, more: &[&str]) -> Self {
        let args = [&["--format", "json", "pipeline", "run", "p", "--watch"], more].concat();
        let child = workspace
            .command(&args)
            .stdout(std::fs::File::create(workspace.path("summaries")).unwrap())
            .stderr(std::fs::File::create(workspace.path("events")).unwrap())
            .spawn()
            .unwrap();
        Self { workspace, child }
    }

    fn summaries(&self) -> Vec<serde_json::Value> {
        let text = std::fs::read_to_string(self.workspace.path("summaries")).unwrap();
        serde_json::Deserializer::from_str(&text).into_iter().filter_map(Result::ok).collect()
    }

    fn events(&self) -> String {
        std::fs::read_to_string(self.workspace.path("events")).unwrap()
    }

    /// Waits until it has run `runs` times and waits for the next save.
    fn after(&self, runs: usize) -> serde_json::Value {
        let begun = Instant::now();
        loop {
            let waits = self.events().matches("\"watching ").count();
            if self.summaries().len() == runs && waits >= runs {
                return self.summaries().pop().unwrap();
            }
            let text = format!("{} runs, {waits} waits: {}", self.summaries().len(), self.events());
            assert!(self.summaries().len() <= runs, "more than {runs} runs: {text}");
            assert!(begun.elapsed() < Duration::from_secs(200), "never {runs} runs: {text}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// No further run comes of what happened before.
    fn stays_at(&self, runs: usize) {
        std::thread::sleep(Duration::from_millis(2500));
        self.after(runs);
    }

    fn end(mut self) -> Option<i32> {
        let pid = nix::unistd::Pid::from_raw(i32::try_from(self.child.id()).unwrap());
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

#[test]
fn a_save_gives_one_rerun_and_a_touch_or_an_unused_file_gives_none() {
    for more in [&[][..], &["--poll"]] {
        let workspace = Workspace::new();
        workspace.without_measuring();
        let watch = Watch::start(&workspace, more);
        assert_eq!(watch.after(1)["executed"], 11);
        workspace.edit(SOURCE, "enum { SEED", "/* a comment */\nenum { SEED");
        assert_eq!(watch.after(2)["executed"], 1);
        assert!(
            watch.events().contains("changed: toy-1/independent/A/build"),
            "{}",
            watch.events()
        );

        let text = std::fs::read_to_string(workspace.path(SOURCE)).unwrap();
        workspace.write(SOURCE, &text);
        let file = std::fs::File::open(workspace.path(SOURCE)).unwrap();
        let later = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(2_000_000_000);
        file.set_modified(later).unwrap();
        workspace.write("kems/toy-1/src/A/notes.txt~", "mine");
        watch.stays_at(2);
        // While it waits, others may have the store.
        assert_eq!(workspace.ngcc(&["store", "gc", "--yes"]).code, Some(0));
        assert_eq!(watch.end(), Some(0));
    }
}

#[test]
fn a_burst_of_thousands_of_files_gives_one_rerun() {
    let workspace = Workspace::new();
    workspace.without_measuring();
    let watch = Watch::start(&workspace, &[]);
    watch.after(1);
    workspace.edit(SOURCE, "enum { SEED", "/* one */\nenum { SEED");
    // More than the queue of the kernel holds (16,384), so that events are lost, too.
    for n in 0..17_000 {
        std::fs::write(workspace.path(&format!("kems/toy-1/src/A/object{n}.o")), "x").unwrap();
    }
    workspace.edit(SOURCE, "/* one */", "/* two */");
    assert_eq!(watch.after(2)["executed"], 1);
    watch.stays_at(2);
}

#[test]
fn timed_stages_are_left_out_and_named_and_reused_where_nothing_changed_for_them() {
    let workspace = Workspace::new();
    let watch = Watch::start(&workspace, &[]);
    let first = watch.after(1);
    let stages: Vec<&str> =
        first["left_out"]["stages"].as_array().unwrap().iter().filter_map(|s| s.as_str()).collect();
    assert_eq!(stages, ["profile", "report", "timing"]);
    assert!(!watch.events().contains("/timing/"), "{}", watch.events());
    assert_eq!(watch.end(), Some(0));

    assert_eq!(workspace.run(&[]).code, Some(0));
    let watch = Watch::start(&workspace, &[]);
    assert_eq!(
        (&watch.after(1)["executed"], &watch.after(1)["left_out"]["actions"]),
        (&0.into(), &0.into())
    );
    workspace.edit(SOURCE, "enum { SEED", "/* the library stays */\nenum { SEED");
    let second = watch.after(2);
    assert_eq!((&second["executed"], &second["left_out"]["actions"]), (&1.into(), &0.into()));
}

#[test]
fn a_mistake_in_a_yaml_file_is_shown_once_and_the_watch_goes_on() {
    let workspace = Workspace::new();
    workspace.without_measuring();
    let watch = Watch::start(&workspace, &[]);
    watch.after(1);
    workspace.edit("pipelines/p.yaml", "kind: sizes", "kind: size");
    let begun = Instant::now();
    while !watch.events().contains("pipelines/p.yaml") {
        assert!(begun.elapsed() < Duration::from_secs(60), "{}", watch.events());
        std::thread::sleep(Duration::from_millis(20));
    }
    workspace.edit("pipelines/p.yaml", "kind: size,", "kind: sizes,");
    assert_eq!(watch.after(2)["executed"], 0);
}

#[test]
fn a_step_that_writes_into_a_watched_directory_causes_no_loop() {
    let workspace = Workspace::new();
    workspace.write("kems/toy-1/notes/read.txt", "read");
    let stamp = workspace.path("kems/toy-1/notes/stamp");
    let argv = format!("[sh, -c, \"date +%N >{}; cat notes/read.txt >out\"]", stamp.display());
    workspace.write(
        "pipelines/p.yaml",
        &format!(
            "about: Writes where it should not\nstages:\n  env:\n    kind: command\n    scope: once\n    argv: {argv}\n    outputs: {{out: out}}\n    tools: [sh]\n"
        ),
    );
    let watch = Watch::start(&workspace, &[]);
    watch.after(1);
    watch.stays_at(1);
}
