//! The log of runs: what was asked, what ran or failed, and which keys the run relied on.
//!
//! One file per run, `runs/<id>.jsonl`: a line when it begins, a line per action that ran or failed (failures live nowhere
//! else), a line when it ends. A run without the last line was killed or is going on. What was reused is not worth a
//! line each; the keys of the whole run are one blob, named in the last line, equal for equal runs.
//!
//! Lines are appended in one write each and not synced: a torn last line after a power loss is passed over.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::{Store, StoreError};
use crate::digest::{ActionKey, BlobId, Digest};
use crate::name::Name;
use crate::record::Failure;

/// How a run began.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct RunStart {
    /// The pipeline's name.
    pub pipeline: String,
    /// The command line, for people.
    pub command: Vec<String>,
    /// Start, UTC, RFC 3339; the id of the run is made from it.
    pub started: String,
    /// Version of the program.
    pub ngcc: String,
    /// Where it was started; none in logs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<RunWorkspace>,
}

/// The workspace of a run, so that several can share one store and none pushes out the runs of another.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct RunWorkspace {
    /// What tells it from others: the beginning of a digest.
    pub id: String,
    /// Where it is on this machine, for people; none in a run that came from elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

impl RunWorkspace {
    /// That of a root directory, however it was reached.
    #[must_use]
    pub fn at(root: &Path) -> Self {
        let path = fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
        let id = Digest::of(path.as_os_str().as_bytes()).to_string()[..16].to_owned();
        Self { id, path: Some(path.display().to_string()) }
    }
}

/// Why a run keeps its results from collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kept {
    /// It has a name.
    Named,
    /// It is among the last of its workspace and pipeline.
    Last,
    /// It has not ended, or was killed, and none ended since.
    Open,
}

/// What became of one action that did not simply get reused.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct RunLine {
    /// Where the action stands in the pipeline.
    pub label: String,
    /// Its key; none when its inputs never came to be.
    pub key: Option<ActionKey>,
    /// How it ended.
    pub end: RunEnd,
    /// Wall time, nanoseconds.
    pub wall_ns: u64,
}

/// How an action ended in a run.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunEnd {
    /// It ran and its record was committed; so many findings.
    Ran(u32),
    /// It came to no result.
    Failed(Failure),
    /// An input could not be made; the label of the action that failed.
    Blocked(String),
    /// An input is not on this machine; what to do about it.
    Unavailable(String),
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct RunSummary {
    /// End, UTC, RFC 3339.
    pub ended: String,
    /// Actions that ran.
    pub ran: u64,
    /// Actions whose result was on record.
    pub reused: u64,
    /// Actions that failed.
    pub failed: u64,
    /// Actions that could not start for want of an input.
    pub blocked: u64,
    /// Actions whose sources are not here.
    pub unavailable: u64,
    /// Findings in all results of the run, reused ones included.
    pub findings: u64,
    /// Whether the user ended it early.
    pub interrupted: bool,
}

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
enum WireLine {
    Start(RunStart),
    Action(RunLine),
    End { summary: RunSummary, keys: BlobId },
}

/// A run read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Its id.
    pub id: Name,
    /// How it began.
    pub start: RunStart,
    /// What ran or failed, in the order it ended.
    pub lines: Vec<RunLine>,
    /// How it ended; none when it was killed or goes on.
    pub summary: Option<RunSummary>,
    /// The blob that lists the keys, `key label` a line.
    pub keys: Option<BlobId>,
}

/// A run that goes on. Shared by reference between threads.
#[derive(Debug)]
pub struct RunLog {
    id: Name,
    path: PathBuf,
    file: Mutex<File>,
}

impl Store {
    /// Begins a run. Its id is the start time, `20261130T190205Z`, with `-2` and so on for others in the same second.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn begin_run(&self, start: &RunStart) -> Result<RunLog, StoreError> {
        let second = start.started.split('.').next().unwrap_or_default();
        let mut stem: String =
            second.chars().filter(char::is_ascii_alphanumeric).take(30).collect();
        if !stem.ends_with('Z') {
            stem.push('Z');
        }
        // Behind all others of this second, also when a collection has made room before them: the last must stay last.
        let number = |id: &Name| match id.as_str().strip_prefix(&stem)? {
            "" => Some(1),
            rest => rest.strip_prefix('-')?.parse().ok(),
        };
        let last: u32 = self.run_ids()?.iter().filter_map(number).max().unwrap_or(0);
        for n in last.saturating_add(1).. {
            let text = if n == 1 { stem.clone() } else { format!("{stem}-{n}") };
            let id: Name = text.parse().expect("letters, digits and a dash");
            let path = self.run_path(&id);
            match File::options().append(true).create_new(true).open(&path) {
                Ok(file) => {
                    let log = RunLog { id, path, file: Mutex::new(file) };
                    log.write(&WireLine::Start(start.clone()))?;
                    return Ok(log);
                }
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(StoreError::io("create", &path, e)),
            }
        }
        unreachable!("some number below 2^32 is free")
    }

    /// Ends a run: files the keys it relied on, by label, and writes the last line. It keeps its results from
    /// collection for as long as the run is among the last, or has a name.
    ///
    /// Returns the key list.
    ///
    /// # Errors
    /// When either cannot be written.
    pub fn end_run(
        &self,
        log: &RunLog,
        summary: &RunSummary,
        keys: &BTreeMap<String, ActionKey>,
    ) -> Result<BlobId, StoreError> {
        let mut text = String::with_capacity(keys.len() * 120);
        for (label, key) in keys {
            text.push_str(&key.to_string());
            text.push(' ');
            text.push_str(&label.replace(['\n', '\r'], " "));
            text.push('\n');
        }
        let keys = self.put_bytes(text.as_bytes())?;
        log.write(&WireLine::End { summary: summary.clone(), keys })?;
        Ok(keys)
    }

    /// Ends a run that relied on exactly the keys of an earlier one.
    ///
    /// # Errors
    /// When the line cannot be written.
    pub fn end_run_like(
        &self,
        log: &RunLog,
        summary: &RunSummary,
        keys: BlobId,
    ) -> Result<(), StoreError> {
        log.write(&WireLine::End { summary: summary.clone(), keys })
    }

    /// The runs on record, oldest first.
    ///
    /// # Errors
    /// When the directory cannot be listed.
    pub fn run_ids(&self) -> Result<Vec<Name>, StoreError> {
        let dir = self.layout.runs();
        let failed = |e| StoreError::io("list", &dir, e);
        let mut ids: Vec<Name> = Vec::new();
        for entry in fs::read_dir(&dir).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let id = name.to_str().and_then(|name| name.strip_suffix(".jsonl"));
            ids.extend(id.and_then(|id| id.parse::<Name>().ok()));
        }
        ids.sort_by(|a, b| crate::name::natural_order(a.as_str(), b.as_str()));
        Ok(ids)
    }

    /// Reads a run; `None` when there is none of that id or its first line is gone.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn run(&self, id: &Name) -> Result<Option<Run>, StoreError> {
        let path = self.run_path(id);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(StoreError::io("read", &path, e)),
        };
        Ok(parse(id, &bytes))
    }

    /// The keys a run relied on, by label: all of them when it ended, what it ran when it did not.
    ///
    /// # Errors
    /// When the list is missing or damaged.
    pub fn run_keys(&self, run: &Run) -> Result<BTreeMap<String, ActionKey>, StoreError> {
        let mut keys: BTreeMap<String, ActionKey> =
            run.lines.iter().filter_map(|line| Some((line.label.clone(), line.key?))).collect();
        if let Some(list) = run.keys {
            let text = self.read_blob(list)?;
            let text = String::from_utf8_lossy(&text);
            for (key, label) in text.lines().filter_map(|line| line.split_once(' ')) {
                if let Ok(key) = key.parse() {
                    keys.insert(label.to_owned(), key);
                }
            }
        }
        Ok(keys)
    }

    /// Gives a run a name, which keeps its results from collection; the name leaves the run that had it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn name_run(&self, name: &Name, id: &Name) -> Result<(), StoreError> {
        self.session.place(format!("{id}\n").as_bytes(), &self.named_run_path(name))
    }

    /// Takes a name away.
    ///
    /// # Errors
    /// When the file cannot be removed.
    pub fn unname_run(&self, name: &Name) -> Result<(), StoreError> {
        super::records::remove_file(&self.named_run_path(name))
    }

    /// The named runs: name to id.
    ///
    /// # Errors
    /// When the directory cannot be listed.
    pub fn named_runs(&self) -> Result<BTreeMap<Name, Name>, StoreError> {
        let dir = self.layout.runs();
        let failed = |e| StoreError::io("list", &dir, e);
        let mut found = BTreeMap::new();
        for entry in fs::read_dir(&dir).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let file_name = entry.file_name();
            let name = file_name.to_str().and_then(|name| name.strip_suffix(".name"));
            let Some(Ok(name)) = name.map(str::parse::<Name>) else { continue };
            let text = fs::read_to_string(entry.path()).unwrap_or_default();
            if let Ok(id) = text.trim().parse() {
                found.insert(name, id);
            }
        }
        Ok(found)
    }

    /// Runs to keep the results of, and why: those with a name; of each workspace and pipeline the last `last` that ended;
    /// and those that never ended (going on, or killed) unless a later run of the same workspace and pipeline did.
    ///
    /// # Errors
    /// When runs cannot be listed or read.
    pub fn runs_to_keep(&self, last: usize) -> Result<BTreeMap<Name, Kept>, StoreError> {
        let mut keep: BTreeMap<Name, Kept> = BTreeMap::new();
        let mut ended: BTreeMap<(String, String), usize> = BTreeMap::new();
        for id in self.run_ids()?.into_iter().rev() {
            let Some(run) = self.run(&id)? else { continue };
            let workspace = run.start.workspace.map(|w| w.id).unwrap_or_default();
            let before = ended.entry((workspace, run.start.pipeline)).or_insert(0);
            if run.summary.is_some() {
                *before += 1;
                if *before <= last {
                    keep.insert(id, Kept::Last);
                }
            } else if *before == 0 {
                keep.insert(id, Kept::Open);
            }
        }
        keep.extend(self.named_runs()?.into_values().map(|id| (id, Kept::Named)));
        Ok(keep)
    }

    pub(super) fn run_path(&self, id: &Name) -> PathBuf {
        self.layout.runs().join(format!("{id}.jsonl"))
    }

    fn named_run_path(&self, name: &Name) -> PathBuf {
        self.layout.runs().join(format!("{name}.name"))
    }
}

impl RunLog {
    /// The id of the run.
    #[must_use]
    pub fn id(&self) -> &Name {
        &self.id
    }

    /// Adds a line.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn append(&self, line: &RunLine) -> Result<(), StoreError> {
        self.write(&WireLine::Action(line.clone()))
    }

    fn write(&self, line: &WireLine) -> Result<(), StoreError> {
        let mut text = serde_json::to_vec(line).expect("plain data");
        text.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(&text).map_err(|e| StoreError::io("write", &self.path, e))
    }
}

/// A run from the bytes of its file; `None` when the first line is gone.
pub(super) fn parse(id: &Name, bytes: &[u8]) -> Option<Run> {
    let mut lines = bytes
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice::<WireLine>(line).ok());
    let Some(WireLine::Start(start)) = lines.next() else { return None };
    let mut run = Run { id: id.clone(), start, lines: Vec::new(), summary: None, keys: None };
    for line in lines {
        match line {
            WireLine::Start(_) => {}
            WireLine::Action(line) => run.lines.push(line),
            WireLine::End { summary, keys } => {
                run.summary = Some(summary);
                run.keys = Some(keys);
            }
        }
    }
    Some(run)
}

/// The bytes of a run's file as this version writes them.
pub(super) fn text(run: &Run) -> Vec<u8> {
    let start = [WireLine::Start(run.start.clone())];
    let actions = run.lines.iter().cloned().map(WireLine::Action);
    let end = run.summary.clone().zip(run.keys);
    let end = end.map(|(summary, keys)| WireLine::End { summary, keys });
    let mut text = Vec::new();
    for line in start.into_iter().chain(actions).chain(end) {
        text.extend(serde_json::to_vec(&line).expect("plain data"));
        text.push(b'\n');
    }
    text
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::record::FailureClass;

    pub(in crate::store) fn start(started: &str) -> RunStart {
        RunStart {
            pipeline: "all".into(),
            command: vec!["ngcc".into(), "pipeline".into(), "run".into(), "all".into()],
            started: started.into(),
            ngcc: "0.1.0".into(),
            workspace: None,
        }
    }

    pub(in crate::store) fn summary() -> RunSummary {
        RunSummary {
            ended: "2026-11-30T19:02:06Z".into(),
            ran: 1,
            reused: 1,
            failed: 0,
            blocked: 0,
            unavailable: 0,
            findings: 0,
            interrupted: false,
        }
    }

    fn key(text: &str) -> ActionKey {
        ActionKey(Digest::of(text.as_bytes()))
    }

    #[test]
    fn a_run_is_read_back_with_its_failures_and_keys() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let log = store.begin_run(&start("2026-11-30T19:02:05.123Z")).unwrap();
        assert_eq!(log.id().as_str(), "20261130T190205Z");
        let failure = Failure::new(FailureClass::Timeout, "no end after 60 s");
        let lines = [
            RunLine { label: "a".into(), key: Some(key("a")), end: RunEnd::Ran(2), wall_ns: 5 },
            RunLine {
                label: "b".into(),
                key: Some(key("b")),
                end: RunEnd::Failed(failure),
                wall_ns: 6,
            },
            RunLine { label: "c".into(), key: None, end: RunEnd::Blocked("b".into()), wall_ns: 0 },
        ];
        for line in &lines {
            log.append(line).unwrap();
        }
        let open = store.run(log.id()).unwrap().unwrap();
        assert_eq!((open.summary.as_ref(), open.keys), (None, None));
        assert_eq!(store.run_keys(&open).unwrap().len(), 2);
        let keys = [("a".to_owned(), key("a")), ("reused one".to_owned(), key("r"))].into();
        store.end_run(&log, &summary(), &keys).unwrap();
        let run = store.run(log.id()).unwrap().unwrap();
        assert_eq!((run.lines.as_slice(), run.summary.as_ref()), (&lines[..], Some(&summary())));
        assert_eq!(store.run_keys(&run).unwrap()["reused one"], key("r"));
    }

    #[test]
    fn a_torn_line_is_passed_over_and_a_torn_file_is_no_run() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let log = store.begin_run(&start("2026-11-30T19:02:05Z")).unwrap();
        let path = store.run_path(log.id());
        let whole = fs::read(&path).unwrap();
        fs::write(&path, [&whole[..], b"{\"action\":{\"lab"].concat()).unwrap();
        assert!(store.run(log.id()).unwrap().unwrap().lines.is_empty());
        fs::write(&path, &whole[..10]).unwrap();
        assert_eq!(store.run(log.id()).unwrap(), None);
    }

    #[test]
    fn runs_of_one_second_are_told_apart_and_sorted_by_age() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        for _ in 0..11 {
            store.begin_run(&start("2026-11-30T19:02:05Z")).unwrap();
        }
        store.begin_run(&start("2025-11-30T19:02:05Z")).unwrap();
        let ids = store.run_ids().unwrap();
        assert_eq!(ids[0].as_str(), "20251130T190205Z");
        assert_eq!(ids.last().unwrap().as_str(), "20261130T190205Z-11");
        // Where earlier ones were collected, a new one is still the last.
        fs::remove_file(store.run_path(&"20261130T190205Z".parse().unwrap())).unwrap();
        fs::remove_file(store.run_path(&"20261130T190205Z-4".parse().unwrap())).unwrap();
        let log = store.begin_run(&start("2026-11-30T19:02:05Z")).unwrap();
        assert_eq!(store.run_ids().unwrap().last(), Some(log.id()));
    }

    #[test]
    fn the_last_the_named_and_the_open_runs_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let ids: Vec<Name> = (0..6)
            .map(|n| {
                let log = store.begin_run(&start(&format!("2026-11-30T19:02:0{n}Z"))).unwrap();
                if n != 1 && n != 5 {
                    store.end_run(&log, &summary(), &BTreeMap::new()).unwrap();
                }
                log.id().clone()
            })
            .collect();
        let name: Name = "published-2026".parse().unwrap();
        store.name_run(&name, &ids[0]).unwrap();
        let keep = |last| store.runs_to_keep(last).unwrap().into_keys().collect::<Vec<_>>();
        assert_eq!(keep(1), [ids[0].clone(), ids[4].clone(), ids[5].clone()]);
        assert_eq!(keep(3).len(), 5);
        store.unname_run(&name).unwrap();
        assert_eq!(keep(1), [ids[4].clone(), ids[5].clone()]);
    }
    #[test]
    fn the_runs_of_one_workspace_do_not_push_out_those_of_another_or_of_another_pipeline() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let run = |second: u32, pipeline: &str, workspace: Option<&str>| {
            let workspace = workspace.map(|id| RunWorkspace { id: id.into(), path: None });
            let started = format!("2026-11-30T19:02:0{second}Z");
            let start = RunStart { pipeline: pipeline.into(), workspace, ..start(&started) };
            let log = store.begin_run(&start).unwrap();
            store.end_run(&log, &summary(), &BTreeMap::new()).unwrap();
            log.id().clone()
        };
        let here = [run(0, "all", Some("here")), run(1, "quick", Some("here"))];
        let there = run(2, "all", Some("there"));
        let of_old_versions = run(3, "all", None);
        let latest = run(4, "all", Some("here"));
        let kept = store.runs_to_keep(1).unwrap();
        let expected = [here[1].clone(), there, of_old_versions, latest];
        assert_eq!(kept.keys().cloned().collect::<Vec<_>>(), expected);
        assert!(kept.values().all(|why| *why == Kept::Last));
    }

    #[test]
    fn a_start_line_of_an_earlier_version_is_still_read() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let id: Name = "20261130T190205Z".parse().unwrap();
        let line = r#"{"start":{"pipeline":"all","command":[],"started":"2026-11-30T19:02:05Z","ngcc":"0.0.9"}}"#;
        fs::write(store.run_path(&id), format!("{line}\n")).unwrap();
        assert_eq!(store.run(&id).unwrap().unwrap().start.workspace, None);
    }
}
