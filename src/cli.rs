//! The command line: types, help texts, and the way from an error to an exit code. No logic of its own.

mod store;

use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};

use store::StoreVerb;
pub use store::{KeepArgs, RepairArgs, VerifyArgs};

use crate::cmd;
use crate::cmd::context::Terminal;
use crate::fetch::release::Cargo;
use crate::name::Name;
use crate::spec::Selector;

/// How the program ends. The numbers are public (README, "Exit codes").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// All is well.
    Fine = 0,
    /// A KAT differs, a size disagrees, a stage failed.
    Findings = 1,
    /// The command line is wrong.
    Usage = 2,
    /// A YAML file is invalid.
    Spec = 3,
    /// The store or evidence is damaged or differs.
    Store = 4,
    /// The machine is not fit for measuring.
    Host = 5,
    /// A bug of this program.
    Bug = 70,
    /// Interrupted.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Measures cryptographic submissions as a reproducible pipeline.
#[derive(Debug, Parser)]
#[command(name = "ngcc", version, max_term_width = 110, after_help = EXAMPLES)]
pub struct Cli {
    /// Root of the workspace (the directory with pipelines/, kems/ and systems/) [default: found upwards from here]
    #[arg(long, short = 'C', global = true, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// The store [default: store/ in the workspace]
    #[arg(long, global = true, value_name = "DIR")]
    pub store: Option<PathBuf>,
    /// Trust no time stamp: hash all inputs and stored outputs again
    #[arg(long, global = true)]
    pub paranoid: bool,
    /// How results and progress are printed
    #[arg(long, global = true, value_enum, default_value_t = Format::Human)]
    pub format: Format,
    #[command(subcommand)]
    command: Verb,
}

const EXAMPLES: &str = "\
Examples:
  ngcc pipeline run all                     build, check, measure and report every submission
  ngcc pipeline run all 'kem-18/*/Loong128' only this instance
  ngcc pipeline plan all                    what would run, and why
  ngcc why kem-18/independent/Loong256/build
  ngcc trace kem-18/independent/Loong128/timing/keygen
  ngcc store verify";

/// Output formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Human,
    /// One JSON document, or one JSON object per line for events.
    Json,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Run, plan and inspect pipelines
    #[command(subcommand)]
    Pipeline(PipelineVerb),
    /// Say why an action would run or was reused, down to the source file or flag
    #[command(after_help = "Example:\n  ngcc why kem-18/independent/Loong256/build --pipeline all")]
    Why {
        /// Label of an action, as `ngcc pipeline plan` prints it; a part that names one is enough
        target: String,
        #[command(flatten)]
        which: WhichPipeline,
    },
    /// Print the provenance chain of one number: samples, driver, library, sources, tools, host
    #[command(
        after_help = "Examples:\n  ngcc trace kem-18/independent/Loong128/timing/keygen\n  ngcc trace 5f0c2a9b        an earlier result, by the beginning of its record's key"
    )]
    Trace {
        /// Label of an action, of which a part that names one is enough; or the key of a record
        target: String,
        #[command(flatten)]
        which: WhichPipeline,
    },
    /// Compare two runs: keys, outputs, findings, medians (exit code 1 when results differ)
    #[command(
        after_help = "Examples:\n  ngcc diff latest~1 latest\n  ngcc diff 20261130T190205Z submitted"
    )]
    Diff {
        /// A run: its id, its name, `latest`, `latest~1`, ...
        first: String,
        /// Another
        second: String,
    },
    /// The history of runs
    #[command(
        args_conflicts_with_subcommands = true,
        after_help = "Examples:\n  ngcc runs\n  ngcc runs show latest\n  ngcc runs name submitted latest"
    )]
    Runs {
        /// How many
        #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
        last: usize,
        /// Only those of this pipeline
        #[arg(long)]
        pipeline: Option<Name>,
        #[command(subcommand)]
        verb: Option<RunsVerb>,
    },
    /// List and inspect submissions
    #[command(subcommand)]
    Kem(KemVerb),
    /// Digest and compare known-answer texts
    #[command(subcommand)]
    Kat(KatVerb),
    /// Look at this machine as a measuring system
    #[command(subcommand)]
    Host(HostVerb),
    /// Look after the store
    #[command(subcommand)]
    Store(StoreVerb),
    /// Print or write JSON schemas: of the YAML files, for editors; of events and summaries, for programs
    #[command(
        after_help = "Examples:\n  ngcc schema --write     all of them into schemas/\n  ngcc schema events      what `pipeline run --format json` writes to stderr, line by line\n  ngcc schema summary     what it writes to stdout"
    )]
    Schema {
        /// Only this one: pipeline, submission, system, events, summary [default: all, by file name]
        #[arg(conflicts_with = "write")]
        which: Option<String>,
        /// Write them to schemas/ in the workspace
        #[arg(long)]
        write: bool,
    },
    /// Print shell completions
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Subcommand)]
enum PipelineVerb {
    /// Run a pipeline: only what a change touches runs
    #[command(
        after_help = "Examples:\n  ngcc pipeline run all\n  ngcc pipeline run quick kem-18\n  ngcc pipeline run all --remeasure 'kem-18/*/Loong128'\n  ngcc pipeline run kat 'ref-*' --fetch\n  ngcc pipeline run quick kem-18 --watch    build and check with every save\n\nExit codes: 0 fine, 1 findings, 3 invalid YAML, 4 damaged store, 130 interrupted. Ctrl-C once lets nothing new\nstart and ends what runs; twice, at once. It ends a --watch with 0 while that waits, and with 130 during a run."
    )]
    Run(RunArgs),
    /// Show what would run: hit, run, after another action, unavailable
    Plan(PlanArgs),
    /// Print the graph of actions
    Graph {
        #[command(flatten)]
        plan: PlanArgs,
        /// The notation
        #[arg(long = "as", value_enum, default_value_t = GraphFormat::Dot)]
        notation: GraphFormat,
    },
    /// List the pipelines
    List,
    /// Check all YAML files and print every mistake
    Check,
}

/// Graph notations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    /// Graphviz.
    Dot,
    /// Mermaid, for Markdown.
    Mermaid,
    /// One JSON document.
    Json,
}

/// Arguments of `pipeline plan` and everything that plans.
#[derive(Debug, Clone, Args)]
pub struct PlanArgs {
    /// The pipeline (a file of pipelines/ without its ending)
    pub pipeline: Name,
    /// Which instances: globs over submission/implementation/instance
    pub selectors: Vec<Selector>,
    /// Only this stage and what it needs (repeatable)
    #[arg(long, value_name = "STAGE")]
    pub only: Vec<Name>,
    /// The measuring system (a file of systems/)
    #[arg(long, value_name = "ID", default_value = "this")]
    pub system: Name,
    /// The core that timed work is pinned to [default: the system file's, else the last one]
    #[arg(long, value_name = "N")]
    pub cpu: Option<u32>,
}

/// Arguments of `pipeline run`.
#[derive(Debug, Clone, Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub plan: PlanArgs,
    /// Only show what would run
    #[arg(long)]
    pub dry_run: bool,
    /// Builds and tests at once [default: the number of cores]
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<usize>,
    /// Go on after failures and findings (the default)
    #[arg(long, conflicts_with = "fail_fast")]
    pub keep_going: bool,
    /// Start nothing new after the first failure or finding
    #[arg(long)]
    pub fail_fast: bool,
    /// Measure the selection once more; earlier rounds stay
    #[arg(long)]
    pub remeasure: bool,
    /// First fetch the pinned archives that the selection needs and the store lacks
    #[arg(long, conflicts_with = "offline")]
    pub fetch: bool,
    /// Further attempts of --fetch after one that brought nothing
    #[arg(long, value_name = "N", default_value_t = 3, requires = "fetch")]
    pub retry: u32,
    /// Never touch the network: an absent archive stays a row (the default, unless --fetch is given)
    #[arg(long)]
    pub offline: bool,
    /// Run again with every save that changes what the plan reads; timed work is left out
    #[arg(long, conflicts_with = "dry_run")]
    pub watch: bool,
    /// With --watch: timed work, too
    #[arg(long, requires = "watch")]
    pub measure: bool,
    /// With --watch: look at the files every second, as network file systems want it
    #[arg(long, requires = "watch")]
    pub poll: bool,
}

/// Arguments of `kem add`.
#[derive(Debug, Clone, Args)]
pub struct AddArgs {
    /// An archive (ZIP, tar, tar.gz/.xz/.zst, 7z, RAR) or a directory
    pub package: PathBuf,
    /// The submission's id [default: made from the name of the package]
    #[arg(long)]
    pub id: Option<Name>,
    /// Only print the manifest
    #[arg(long)]
    pub dry_run: bool,
}

/// Arguments of `kem inspect`.
#[derive(Debug, Clone, Args)]
pub struct InspectArgs {
    /// The submission's id
    pub id: Name,
    /// Only print the manifest
    #[arg(long)]
    pub dry_run: bool,
}

/// Arguments of `kem update`.
#[derive(Debug, Clone, Args)]
pub struct UpdateArgs {
    /// The submission's id
    pub id: Name,
    /// The newer archive
    pub package: PathBuf,
    /// Say what would change, and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// The pipeline whose actions are looked at
    #[arg(long, default_value = "all")]
    pub pipeline: Name,
    /// The measuring system
    #[arg(long, value_name = "ID", default_value = "this")]
    pub system: Name,
}

/// Arguments of `kem fetch`.
#[derive(Debug, Clone, Args)]
pub struct FetchArgs {
    /// Which submissions: globs over submission/implementation
    pub ids: Vec<Selector>,
    /// All submissions
    #[arg(long, conflicts_with = "ids")]
    pub all: bool,
    /// A folder of downloads (three levels are searched), or the archive itself
    #[arg(long, value_name = "PATH")]
    pub from: Option<PathBuf>,
    /// Never touch the network
    #[arg(long)]
    pub offline: bool,
    /// Unpack again what is unpacked already
    #[arg(long)]
    pub again: bool,
    /// Further attempts after one that brought nothing
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub retry: u32,
}

/// Which pipeline a label belongs to.
#[derive(Debug, Clone, Args)]
pub struct WhichPipeline {
    /// The pipeline
    #[arg(long, default_value = "all")]
    pub pipeline: Name,
    /// The measuring system
    #[arg(long, value_name = "ID", default_value = "this")]
    pub system: Name,
    /// The core that timed work is pinned to
    #[arg(long, value_name = "N")]
    pub cpu: Option<u32>,
}

impl PlanArgs {
    /// Whether only a part of the pipeline is asked for.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        !self.selectors.is_empty() || !self.only.is_empty()
    }
}

impl WhichPipeline {
    /// All of the pipeline.
    #[must_use]
    pub fn whole(&self) -> PlanArgs {
        PlanArgs {
            pipeline: self.pipeline.clone(),
            selectors: Vec::new(),
            only: Vec::new(),
            system: self.system.clone(),
            cpu: self.cpu,
        }
    }
}

#[derive(Debug, Subcommand)]
enum KemVerb {
    /// List the submissions
    List,
    /// Inspect a package or directory, without executing anything, and write its manifest
    #[command(
        after_help = "Examples:\n  ngcc kem add LoongKEM.zip --id kem-18\n  ngcc kem add ~/mykem --id mykem      a directory; it is copied unless it is in the workspace\n  ngcc kem add LoongKEM.zip --dry-run  only print the manifest\n\nEvery decision is commented with why; what could not be decided is a line `# ASK:`."
    )]
    Add(AddArgs),
    /// Complete a manifest that nobody has checked yet from its fetched package
    #[command(after_help = "Example:\n  ngcc kem fetch kem-01 && ngcc kem inspect kem-01")]
    Inspect(InspectArgs),
    /// Compare a newer package with the pinned one, pin it, and say which actions that touches
    #[command(
        after_help = "Examples:\n  ngcc kem update kem-18 LoongKEM-v2.zip\n  ngcc kem update kem-18 LoongKEM-v2.zip --dry-run"
    )]
    Update(UpdateArgs),
    /// Obtain pinned archives and crates, check them, and unpack them into the store
    #[command(
        after_help = "Examples:\n  ngcc kem fetch kem-18\n  ngcc kem fetch kem-01 kem-02 --from ~/Downloads\n  ngcc kem fetch 'ref-*'          the baselines, through your own cargo\n  ngcc kem fetch --all\n\nA broken download is resumed by the same command. Nothing of a package is executed."
    )]
    Fetch(FetchArgs),
    /// Say what is there of one submission, pinned, missing
    Show {
        /// Its id, e.g. kem-18
        id: Name,
    },
}

#[derive(Debug, Subcommand)]
enum RunsVerb {
    /// Show what ran or failed in one run
    Show {
        /// Its id, its name, `latest`, `latest~1`, ...
        run: String,
    },
    /// Name a run, which keeps its results from collection
    Name {
        /// The name
        name: Name,
        /// The run
        #[arg(default_value = "latest")]
        run: String,
    },
    /// Take a name away
    Unname {
        /// The name
        name: Name,
    },
}

#[derive(Debug, Subcommand)]
enum KatVerb {
    /// Print the canonical digest of texts, as in kat.sha256
    #[command(after_help = "Example:\n  ngcc kat digest KAT_KEM_Loong128.txt")]
    Digest {
        /// The texts; `-` is standard input
        #[arg(required = true)]
        files: Vec<PathBuf>,
        #[command(flatten)]
        how: KatText,
    },
    /// Compare a text with its reference: record, field and byte of the first difference (exit code 1)
    #[command(
        after_help = "Line ends, trailing blanks and empty lines do not count. Texts of any length are compared as\nstreams.\n\nExample:\n  ngcc kat compare output/KAT_KEM_Loong128.txt Test_Vectors/KAT_KEM_Loong128.txt"
    )]
    Compare {
        /// The generated text; `-` is standard input
        ours: PathBuf,
        /// The reference
        reference: PathBuf,
        #[command(flatten)]
        how: KatText,
    },
}

/// Which part of a KAT text counts.
#[derive(Debug, Clone, Args)]
pub struct KatText {
    /// Leave the lines with lengths out
    #[arg(long)]
    pub nolen: bool,
    /// Only the first N records
    #[arg(long, value_name = "N")]
    pub records: Option<u64>,
}

impl KatText {
    /// As the canonical form names it.
    #[must_use]
    pub const fn mode(&self) -> crate::kat::Mode {
        if self.nolen { crate::kat::Mode::NoLen } else { crate::kat::Mode::Strict }
    }
}

#[derive(Debug, Subcommand)]
enum HostVerb {
    /// Check whether this machine is fit for measuring (exit code 5 if not)
    Check {
        /// The core to measure on
        #[arg(long, value_name = "N")]
        cpu: Option<u32>,
    },
    /// Print the facts about this machine and its identity
    Show {
        /// The measuring system
        #[arg(long, value_name = "ID", default_value = "this")]
        system: Name,
    },
}

/// Runs the command line; what `main` calls.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the one place that reads the caller's environment")]
pub fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    match args.get(1).and_then(|a| a.to_str()) {
        Some("__exec") => return crate::exec::launcher::main(args[2..].to_vec()),
        Some("__no-network") => return crate::exec::no_network::main(),
        Some("__cmake") => return crate::exec::cmake_child::main(args[2..].to_vec()),
        _ => {}
    }
    let command = args.iter().skip(1).map(|a| a.to_string_lossy().into_owned()).collect();
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { Exit::Usage.into() } else { Exit::Fine.into() };
        }
    };
    let no_colour = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty())
        || std::env::var_os("TERM").is_some_and(|v| v == "dumb");
    let terminal = Terminal {
        path: std::env::var("PATH").unwrap_or_default(),
        cargo: cargo(),
        launcher: std::env::current_exe().unwrap_or_else(|_| PathBuf::from("ngcc")),
        colour: !no_colour && std::io::stderr().is_terminal(),
        live: std::io::stderr().is_terminal(),
        command,
        paranoid: cli.paranoid,
        format: cli.format,
        started: std::time::Instant::now(),
    };
    let context = match cmd::context::Context::open(&cli, terminal) {
        Ok(context) => context,
        Err(error) => return report(&error, &cli, !no_colour),
    };
    let result = match &cli.command {
        Verb::Pipeline(PipelineVerb::Run(args)) => cmd::run::run(&context, args),
        Verb::Pipeline(PipelineVerb::Plan(args)) => cmd::plan::run(&context, args),
        Verb::Pipeline(PipelineVerb::Graph { plan, notation }) => {
            cmd::graph::run(&context, plan, *notation)
        }
        Verb::Pipeline(PipelineVerb::List) => cmd::list::run(&context),
        Verb::Pipeline(PipelineVerb::Check) => cmd::check::run(&context),
        Verb::Why { target, which } => cmd::why::run(&context, target, which),
        Verb::Trace { target, which } => cmd::trace::run(&context, target, which),
        Verb::Diff { first, second } => cmd::diff::run(&context, first, second),
        Verb::Runs { last, pipeline, verb: None } => {
            cmd::runs::list(&context, *last, pipeline.as_ref())
        }
        Verb::Runs { verb: Some(RunsVerb::Show { run }), .. } => cmd::runs::show(&context, run),
        Verb::Runs { verb: Some(RunsVerb::Name { name, run }), .. } => {
            cmd::runs::name(&context, name, Some(run))
        }
        Verb::Runs { verb: Some(RunsVerb::Unname { name }), .. } => {
            cmd::runs::name(&context, name, None)
        }
        Verb::Kem(KemVerb::List) => cmd::kem::list(&context),
        Verb::Kem(KemVerb::Add(args)) => cmd::add::add(&context, args),
        Verb::Kem(KemVerb::Inspect(args)) => cmd::add::inspect(&context, args),
        Verb::Kem(KemVerb::Update(args)) => cmd::update::run(&context, args),
        Verb::Kem(KemVerb::Fetch(args)) => cmd::fetch::run(&context, args),
        Verb::Kem(KemVerb::Show { id }) => cmd::kem::show(&context, id),
        Verb::Kat(KatVerb::Digest { files, how }) => cmd::kat::digests(&context, files, how),
        Verb::Kat(KatVerb::Compare { ours, reference, how }) => {
            cmd::kat::compare(&context, ours, reference, how)
        }
        Verb::Host(HostVerb::Check { cpu }) => cmd::host::check(&context, *cpu),
        Verb::Host(HostVerb::Show { system }) => cmd::host::show(&context, system),
        Verb::Store(verb) => verb.run(&context),
        Verb::Schema { which, write } => cmd::schema::run(&context, which.as_deref(), *write),
        Verb::Completions { shell } => {
            let mut command = <Cli as clap::CommandFactory>::command();
            let mut text = Vec::new();
            clap_complete::generate(*shell, &mut command, "ngcc", &mut text);
            cmd::context::print_bytes(&text)
        }
    };
    match result {
        Ok(exit) => exit.into(),
        Err(error) => report(&error, &cli, !no_colour && std::io::stderr().is_terminal()),
    }
}

/// The user's cargo, with everything that configures it.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the caller's environment")]
fn cargo() -> Cargo {
    let path = std::env::var("PATH").unwrap_or_default();
    let program = std::env::split_paths(&path).map(|dir| dir.join("cargo")).find(|p| p.is_file());
    let named = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let home = named("CARGO_HOME").or_else(|| Some(named("HOME")?.join(".cargo")));
    let wanted = |name: &str| {
        const WHOLE: [&str; 5] = ["PATH", "HOME", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR"];
        let lower = name.to_ascii_lowercase();
        WHOLE.contains(&name)
            || ["CARGO", "RUSTUP", "GIT_"].iter().any(|start| name.starts_with(start))
            || lower.ends_with("_proxy")
    };
    let env = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| wanted(name))
        .collect();
    Cargo { program, home, env }
}

/// Prints an error the way its format asks for; a broken pipe is success.
fn report(error: &cmd::CommandError, cli: &Cli, colour: bool) -> ExitCode {
    if error.is_broken_pipe() {
        return Exit::Fine.into();
    }
    let text = match cli.format {
        Format::Human => error.render(colour),
        Format::Json => error.json(),
    };
    let _ = writeln!(std::io::stderr(), "{}", text.trim_end());
    error.exit().into()
}
