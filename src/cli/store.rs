//! The verbs of `ngcc store`: types and help texts.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cmd::{self, Verdict, context::Context};
use crate::name::Name;

#[derive(Debug, Subcommand)]
pub(super) enum StoreVerb {
    /// Count what the store holds, and say what is kept from collection
    Stat {
        #[command(flatten)]
        keep: KeepArgs,
    },
    /// Re-hash everything and list what is damaged, missing or foreign
    #[command(
        after_help = "Examples:\n  ngcc store verify\n  ngcc store verify --repair              and make again what is lost\n  ngcc store verify --repair --measure    lost measurements too: other samples than the lost ones\n\nA repair sets damaged content aside, forgets the results that need it, and runs the lost actions that today's\nplans still make under the same keys. Lost measurements are listed with the command that takes new ones.\n\nExit codes: 0 all is well or whole again, 4 damage, or results that stay lost."
    )]
    Verify(VerifyArgs),
    /// Remove what no root needs; shows what would go unless --yes is given
    #[command(
        after_help = "Kept are: named runs, runs that have not ended, the last N runs of each pipeline of each workspace, what\nthe pages cite, all measurements, and archives. `ngcc store stat` lists them.\n\nExamples:\n  ngcc store gc                   what would go\n  ngcc store gc --keep-runs 2 --yes"
    )]
    Gc {
        #[command(flatten)]
        keep: KeepArgs,
        /// Do it
        #[arg(long)]
        yes: bool,
    },
    /// Write one run with all that it leads to as an archive: records, samples, libraries, inputs, pages
    #[command(
        after_help = "The same run gives the same bytes. The archive holds the sources that the run read: mind their licences.\n\nExamples:\n  ngcc store export submitted submitted.tar\n  ngcc store export latest - | zstd >run.tar.zst"
    )]
    Export {
        /// The run: its id, its name, `latest`, `latest~1`, ...
        run: String,
        /// The archive (tar); `-` is standard output
        file: PathBuf,
    },
    /// Take in the archive of a run, checked entry by entry
    #[command(
        after_help = "Results that are here already stay; one that differs is reported (exit code 4). The run is given a name,\nwhich keeps it from collection.\n\nExamples:\n  ngcc store import submitted.tar --name lab-a\n  zstd -dc run.tar.zst | ngcc store import -"
    )]
    Import {
        /// The archive; `-` is standard input
        file: PathBuf,
        /// How the run is to be called here [default: imported-<id>]
        #[arg(long)]
        name: Option<Name>,
    },
}

/// Which runs count.
#[derive(Debug, Clone, Args)]
pub struct KeepArgs {
    /// Keep what the last N runs of each workspace and pipeline used
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub keep_runs: usize,
}

/// Arguments of `store verify`.
#[derive(Debug, Clone, Args)]
pub struct VerifyArgs {
    /// Set damaged content aside and make again what is lost
    #[arg(long)]
    pub repair: bool,
    #[command(flatten)]
    pub how: RepairArgs,
}

/// How to repair.
#[derive(Debug, Clone, Args)]
pub struct RepairArgs {
    /// Take lost measurements again, too
    #[arg(long, requires = "repair")]
    pub measure: bool,
    /// The measuring system
    #[arg(long, value_name = "ID", default_value = "this", requires = "repair")]
    pub system: Name,
}

impl StoreVerb {
    pub(super) fn run(&self, context: &Context) -> Verdict {
        match self {
            Self::Stat { keep } => cmd::store::stat(context, keep.keep_runs),
            Self::Verify(args) if args.repair => cmd::repair::run(context, &args.how),
            Self::Verify(_) => cmd::store::verify(context),
            Self::Gc { keep, yes } => cmd::store::gc(context, keep.keep_runs, *yes),
            Self::Export { run, file } => cmd::export::export(context, run, file),
            Self::Import { file, name } => cmd::export::import(context, file, name.as_ref()),
        }
    }
}
