//! The stages of a pipeline: what each kind may be told, and its defaults.
//!
//! Knows nothing of how a stage is carried out, or of other stages: that is `needs.rs`. A new kind is a variant here,
//! a reader, and a line in [`StageKind::WORDS`].

use std::collections::BTreeMap;
use std::time::Duration;

use super::command::{self, CommandSettings};
use super::fields::{Fields, Map};
use super::reader::{At, Located};
use crate::disk::Disk;
use crate::name::Name;
use crate::result::KEM_OPERATIONS;

/// One step of a pipeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stage {
    /// Its name in the file.
    pub name: Name,
    /// Stages whose results it uses, in file order.
    pub needs: Vec<Name>,
    /// What it does.
    pub kind: StageKind,
    /// Limits of each process it starts.
    pub limits: Limits,
}

/// Limits of a process; what is not set is the program's default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limits {
    /// Wall time.
    pub wall: Option<Duration>,
    /// Address space, bytes.
    pub memory: Option<u64>,
    /// Largest file it may write, bytes.
    pub file_size: Option<u64>,
    /// Stack, bytes.
    pub stack: Option<u64>,
    /// Log kept, bytes.
    pub log: Option<u64>,
}

/// What a stage does, with its settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StageKind {
    /// Compiles the library of each instance.
    Build {
        /// Names of flag sets, tried in order.
        flags: Vec<Name>,
    },
    /// Runs the known-answer test.
    Kat {
        /// Only so many records.
        records: Option<u64>,
        /// Keep the generated text when it is at most so long, bytes.
        keep_text: Option<u64>,
    },
    /// Times the operations.
    Timing(TimingSettings),
    /// Finds the share of the helper functions.
    Profile(ProfileSettings),
    /// Measures the static sizes of each library.
    Sizes,
    /// Renders pages.
    Report {
        /// In these formats.
        formats: Vec<ReportFormat>,
        /// Heading.
        title: Option<String>,
    },
    /// Runs a declared command.
    Command(CommandSettings),
}

impl StageKind {
    /// The words of the pipeline file.
    pub const WORDS: [&'static str; 7] =
        ["build", "kat", "timing", "profile", "sizes", "report", "command"];

    /// The word for this kind.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Build { .. } => "build",
            Self::Kat { .. } => "kat",
            Self::Timing(_) => "timing",
            Self::Profile(_) => "profile",
            Self::Sizes => "sizes",
            Self::Report { .. } => "report",
            Self::Command(_) => "command",
        }
    }

    /// Names of the outputs that a `command` stage may take as inputs.
    #[must_use]
    pub fn outputs(&self) -> Vec<String> {
        let fixed: &[&str] = match self {
            Self::Build { .. } => &["library", "build"],
            Self::Kat { .. } => &["kat"],
            Self::Timing(_) => &["timing"],
            Self::Profile(_) => &["profile"],
            Self::Sizes => &["sizes"],
            Self::Report { .. } => &["pages"],
            Self::Command(settings) => {
                return settings.outputs.keys().map(Name::to_string).collect();
            }
        };
        fixed.iter().map(|s| (*s).to_owned()).collect()
    }
}

/// How operations are timed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimingSettings {
    /// Trials of each operation.
    pub trials: u64,
    /// Time that one trial should take.
    pub target: Duration,
    /// Fewest calls over all trials.
    pub min_total: u64,
    /// Most calls in one trial.
    pub max_iterations: u64,
    /// Longest time for one operation.
    pub budget: Duration,
    /// Trials are separate processes when setting up takes less than this.
    pub separate_setup: Duration,
    /// Print the interval of the median over the trials.
    pub interval: bool,
    /// Which operations.
    pub operations: Vec<String>,
}

impl Default for TimingSettings {
    fn default() -> Self {
        Self {
            trials: 5,
            target: Duration::from_secs(1),
            min_total: 100,
            max_iterations: 20_000,
            budget: Duration::from_secs(900),
            separate_setup: Duration::from_secs(60),
            interval: false,
            operations: KEM_OPERATIONS.iter().map(|s| (*s).to_owned()).collect(),
        }
    }
}

/// Fewest trials that give the median an interval of 95 %.
const TRIALS_FOR_INTERVAL: u64 = 6;

/// How operations are profiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileSettings {
    /// Time that one operation's profile should take.
    pub target: Duration,
    /// Most calls.
    pub max_operations: u64,
}

impl Default for ProfileSettings {
    fn default() -> Self {
        Self { target: Duration::from_secs(1), max_operations: 1_000 }
    }
}

/// A form of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReportFormat {
    /// Markdown.
    Markdown,
    /// HTML.
    Html,
    /// Comma-separated tables.
    Csv,
    /// JSON.
    Json,
}

impl ReportFormat {
    /// The words of the pipeline file.
    pub(super) const WORDS: [(&'static str, Self); 4] =
        [("md", Self::Markdown), ("html", Self::Html), ("csv", Self::Csv), ("json", Self::Json)];

    /// The word, which is also the file extension.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::Html => "html",
            Self::Csv => "csv",
            Self::Json => "json",
        }
    }
}

impl std::fmt::Display for ReportFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

/// A stage as read, with the places that the checks across stages point at.
#[derive(Debug)]
pub(super) struct Draft<'d> {
    pub(super) kind: StageKind,
    pub(super) needs: Vec<Located<'d, Name>>,
    pub(super) flags: Vec<Located<'d, Name>>,
    pub(super) uses: Vec<Located<'d, command::Use>>,
    pub(super) limits: Limits,
    pub(super) fields: Fields,
}

/// Reads one stage.
pub(super) fn read<'d>(at: At<'d>, disk: &Disk) -> Option<Draft<'d>> {
    let map = at.map()?;
    let words = StageKind::WORDS.map(|word| (word, word));
    let kind = map.required("kind", |at| at.one_of("stage kind", &words));
    let needs = map.or("needs", Vec::new(), |at| at.list(|at| at.located(at.name())));
    let limits = map.or("limits", Limits::default(), limits);
    let mut flags = Some(Vec::new());
    let mut uses = Vec::new();
    let Some(kind) = kind else {
        map.finish_unjudged();
        return None;
    };
    let settings = match kind {
        "build" => {
            flags = map.required("flags", |at| at.list(|at| at.located(at.name())));
            let names = flags.as_ref().map(|f| f.iter().map(|f| f.value.clone()).collect());
            names.map(|flags| StageKind::Build { flags })
        }
        "kat" => kat(&map),
        "timing" => timing(&map),
        "profile" => profile(&map),
        "sizes" => Some(StageKind::Sizes),
        "report" => report(&map),
        _ => command::read(&map, disk).map(|(settings, from)| {
            uses = from;
            StageKind::Command(settings)
        }),
    };
    let fields = map.finish();
    let mut needs = needs?;
    for Located { value: (stage, _), at } in &uses {
        if needs.iter().all(|n| n.value != *stage) {
            needs.push(Located { value: stage.clone(), at: *at });
        }
    }
    Some(Draft { kind: settings?, needs, flags: flags?, uses, limits: limits?, fields })
}

fn limits(at: At<'_>) -> Option<Limits> {
    let map = at.map()?;
    let wall = map.optional("wall", At::duration);
    let [memory, file_size, stack, log] =
        ["memory", "file_size", "stack", "log"].map(|key| map.optional(key, At::bytes));
    map.finish();
    Some(Limits { wall: wall?, memory: memory?, file_size: file_size?, stack: stack?, log: log? })
}

fn kat(map: &Map<'_>) -> Option<StageKind> {
    let records = map.optional("records", At::count);
    let keep_text = map.optional("keep_text", At::bytes);
    Some(StageKind::Kat { records: records?, keep_text: keep_text? })
}

fn timing(map: &Map<'_>) -> Option<StageKind> {
    let default = TimingSettings::default();
    let trials_at = map.get("trials");
    let trials = map.or("trials", default.trials, At::count);
    let target = map.or("target", default.target, At::duration);
    let min_total = map.or("min_total", default.min_total, At::count);
    let max_iterations = map.or("max_iterations", default.max_iterations, At::count);
    let budget = map.or("budget", default.budget, At::duration);
    let separate_setup = map.or("separate_setup", default.separate_setup, At::duration);
    let interval = map.or("interval", default.interval, At::truth);
    let operations = map.or("operations", default.operations, |at| {
        let words = KEM_OPERATIONS.map(|word| (word, word.to_owned()));
        at.set(|at| at.one_of("operation", &words))
    });
    if let (Some(at), Some(true), Some(trials)) = (map.get("interval"), interval, trials)
        && trials < TRIALS_FOR_INTERVAL
    {
        let message = format!(
            "an interval of the median needs at least {TRIALS_FOR_INTERVAL} trials, and there are {trials}"
        );
        at.key_error("too-few-trials", message, "asked for here", |d| match trials_at {
            Some(at) => at.point(d, "too few"),
            None => d.help(format!("`trials` is {trials} by default; set it to 6 or more")),
        });
        return None;
    }
    Some(StageKind::Timing(TimingSettings {
        trials: trials?,
        target: target?,
        min_total: min_total?,
        max_iterations: max_iterations?,
        budget: budget?,
        separate_setup: separate_setup?,
        interval: interval?,
        operations: operations?,
    }))
}

fn profile(map: &Map<'_>) -> Option<StageKind> {
    let default = ProfileSettings::default();
    let target = map.or("target", default.target, At::duration);
    let max_operations = map.or("max_operations", default.max_operations, At::count);
    Some(StageKind::Profile(ProfileSettings { target: target?, max_operations: max_operations? }))
}

fn report(map: &Map<'_>) -> Option<StageKind> {
    let formats = map.or("formats", vec![ReportFormat::Markdown], |at| {
        at.set(|at| at.one_of("format", &ReportFormat::WORDS))
    });
    let title = map.optional("title", At::text);
    Some(StageKind::Report { formats: formats?, title: title? })
}

/// Name to stage draft, in file order.
pub(super) type Drafts<'d> = Vec<super::fields::Named<'d, Draft<'d>>>;

/// The kinds by stage name.
pub(super) fn kinds<'a>(drafts: &'a Drafts<'_>) -> BTreeMap<&'a Name, &'a StageKind> {
    drafts.iter().map(|d| (&d.name, &d.value.kind)).collect()
}
