//! The verbs of `ngcc store`: types and help texts.

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
        }
    }
}
