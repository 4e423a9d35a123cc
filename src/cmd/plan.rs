//! `ngcc pipeline plan`: what would run and why, with cost from history.

use std::fmt::Write as _;

use std::time::Duration;

use super::context::{Context, print, print_json, table};
use super::session::Session;
use super::standing::Standing;
use super::{CommandError, Verdict};
use crate::action::{Claim, NodeId};
use crate::cli::{Exit, PlanArgs};
use crate::event::human;
use crate::exec::forecast::{Forecast, forecast};
use crate::name::natural_order;
use crate::plan::{Unavailable, absent};
use crate::store::Store;

/// One row of the plan.
#[derive(Debug, serde::Serialize)]
struct Row {
    action: String,
    status: &'static str,
    after: Option<String>,
    why: String,
    seconds: Option<f64>,
}

/// The rows, and what they come to.
#[derive(Default)]
struct Listing {
    rows: Vec<Row>,
    hits: usize,
    runs: usize,
    after: usize,
    blocked: usize,
    shared: Duration,
    quiet: Duration,
    unknown: usize,
    unavailable: Vec<Unavailable>,
}

impl Listing {
    /// Adds what stands as a former run left it.
    fn add_standing(&mut self, store: &Store, standing: &Standing) {
        for (_, label, key) in standing.nodes() {
            let hit = key.and_then(|key| store.lookup(key).ok().flatten());
            self.hits += usize::from(key.is_some());
            self.rows.push(Row {
                action: label.to_owned(),
                status: if key.is_some() { "hit" } else { "not needed" },
                after: None,
                why: String::new(),
                seconds: hit.map(|hit| Duration::from_nanos(hit.wall_ns).as_secs_f64()),
            });
        }
    }

    /// Adds what was planned.
    fn add_planned(&mut self, session: &Session) -> Result<(), CommandError> {
        let root = &session.workspace.root;
        let (forecasts, mut settled) =
            forecast(&session.plan, &session.store, root, &session.tools)?;
        for &node in session.plan.order().iter().filter(|n| !session.plan.is_standing(**n)) {
            let spec = session.plan.node(node);
            let seconds = past(session, node);
            let (status, behind, why) = match &forecasts[node.index()] {
                Forecast::Hit(_) => {
                    self.hits += 1;
                    ("hit", None, String::new())
                }
                Forecast::Run(_) => {
                    self.runs += 1;
                    let explanation =
                        super::why::explain_with(session, &forecasts, &mut settled, node)?;
                    ("run", None, explanation.headline())
                }
                Forecast::After(root) => {
                    self.after += 1;
                    ("after", Some(session.plan.node(*root).label.clone()), String::new())
                }
                Forecast::Skipped => ("not needed", None, String::new()),
                Forecast::Blocked(why) => {
                    self.blocked += 1;
                    ("blocked", None, why.clone())
                }
            };
            if matches!(forecasts[node.index()], Forecast::Run(_) | Forecast::After(_)) {
                match seconds {
                    Some(time) if spec.claim == Claim::Quiet => self.quiet += time,
                    Some(time) => self.shared += time,
                    // A fallback runs only when what is before it does not end well.
                    None if !spec.unless_good.is_empty() => {}
                    None => self.unknown += 1,
                }
            }
            self.rows.push(Row {
                action: spec.label.clone(),
                status,
                after: behind,
                why,
                seconds: seconds.map(|d| d.as_secs_f64()),
            });
        }
        self.unavailable.clone_from(&session.plan.unavailable);
        Ok(())
    }

    /// Brings the actions of one submission together; its own order is kept.
    fn sort(&mut self) {
        let first = |row: &Row| row.action.split('/').next().unwrap_or_default().to_owned();
        self.rows.sort_by(|a, b| natural_order(&first(a), &first(b)));
    }
}

/// Runs the verb.
///
/// # Errors
/// Invalid YAML, an unusable store, a wrong machine.
pub fn run(context: &Context, args: &PlanArgs) -> Verdict {
    let mut listing = Listing::default();
    let store = context.store_if_there()?;
    let standing = store.as_ref().map(|store| Standing::load(context, store, args)).transpose()?;
    match store.zip(standing.flatten()) {
        Some((store, (standing, _))) if standing.is_whole() => {
            listing.add_standing(&store, &standing);
            listing.unavailable = standing.unavailable();
        }
        Some((store, (standing, machine))) => {
            let session = Session::on(context, store, args, standing, machine)?;
            if let Some(standing) = &session.standing {
                listing.add_standing(&session.store, standing);
            }
            listing.add_planned(&session)?;
            listing.sort();
        }
        None => {
            listing.add_planned(&Session::open(context, args, false)?)?;
        }
    }
    let Listing { rows, hits, runs, after, blocked, shared, quiet, unknown, unavailable } = listing;
    let jobs = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    let total = shared / u32::try_from(jobs).unwrap_or(1) + quiet;
    if context.json() {
        return print_json(&serde_json::json!({
            "actions": rows,
            "unavailable": unavailable,
            "estimate": {
                "seconds": total.as_secs_f64(), "quiet_s": quiet.as_secs_f64(),
                "shared_s": shared.as_secs_f64(), "jobs": jobs, "never_ran": unknown,
            },
        }));
    }
    let mut lines = vec![vec!["action".into(), "status".into(), "last took".into(), String::new()]];
    for row in &rows {
        let note = match &row.after {
            Some(label) => format!("{label} (an equal result makes this a hit)"),
            None => row.why.clone(),
        };
        let took = row.seconds.map_or_else(|| "–".into(), |s| human(Duration::from_secs_f64(s)));
        lines.push(vec![row.action.clone(), row.status.into(), took, note]);
    }
    let mut text = if rows.is_empty() { String::new() } else { table(&lines) };
    for group in absent(&unavailable) {
        let _ = writeln!(text, "\nunavailable; to have it: {}", group.help);
        let each = group.rows.iter().map(|row| vec![format!("  {}", row.label), row.why.clone()]);
        text.push_str(&table(&each.collect::<Vec<_>>()));
    }
    let alone = match quiet {
        Duration::ZERO => String::new(),
        quiet => format!(" ({} of it alone on the machine)", human(quiet)),
    };
    let estimate = match (unknown, total) {
        (_, Duration::ZERO) if runs + after == 0 => String::new(),
        (0, total) => format!("; about {}{alone}", human(total)),
        (n, total) => {
            format!("; about {}{alone} and {n} actions that never ran before", human(total))
        }
    };
    let _ = writeln!(
        text,
        "\n{hits} hits, {runs} to run, {after} after those, {blocked} blocked, {} unavailable{estimate}",
        unavailable.len()
    );
    print(&text)?;
    Ok(Exit::Fine)
}

/// How long it took when it last ran, also when its record was collected since.
fn past(session: &Session, node: NodeId) -> Option<Duration> {
    let (store, label) = (&session.store, &session.plan.node(node).label);
    let hit = store.latest(label).ok().flatten().and_then(|key| store.lookup(key).ok().flatten());
    let wall_ns = hit.map(|hit| hit.wall_ns).or_else(|| Some(store.remembered(label)?.wall_ns))?;
    Some(Duration::from_nanos(wall_ns))
}
