//! What a verb that runs actions needs besides a session: starters of children, Ctrl-C, the meter.
//!
//! Knows nothing of locks, pages or summaries: that is the business of the verb.

use super::CommandError;
use super::context::Context;
use super::session::Session;
use crate::clock::SystemClock;
use crate::event::Sink;
use crate::exec::job::Bench;
use crate::exec::meter::Meter;
use crate::exec::process::{Interrupt, Runner};
use crate::exec::run::{self, Options, Report};
use crate::procedure;

/// As many jobs as there are processors.
pub(super) fn default_jobs() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get)
}

/// Runs what a session planned.
///
/// # Errors
/// A store that cannot be read at all.
pub(super) fn perform(
    context: &Context,
    session: &Session,
    interrupt: &Interrupt,
    options: Options<'_>,
    sink: &mut dyn Sink,
) -> Result<Report, CommandError> {
    let runner = Runner::new(context.terminal.launcher.clone());
    let bench = Bench {
        store: &session.store,
        workspace: &session.workspace.root,
        tools: &session.tools,
        launcher: &context.terminal.launcher,
        runner: &runner,
        confined: &runner.confined(),
        clock: &SystemClock,
        interrupt,
        host: &session.host,
        cpu: session.cpu,
        meter: &Meter::default(),
    };
    Ok(run::run(&session.plan, &bench, procedure::find, options, sink)?)
}
