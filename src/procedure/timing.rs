//! Times one operation: calibrate, plan, run the trials one process each, keep every sample.
//!
//! Planning, memory and retry rules are the reference harness' (docs/METHODOLOGY.md, "Planning"), so figures stay
//! comparable with the published pages. Statistics are not made here: the document holds facts.

use std::collections::BTreeMap;
use std::time::Duration;

use super::report_lines::{Lines, field};
use crate::exec::command::Command;
use crate::exec::job::{Job, Stop, Yield};
use crate::record::{FailureClass, Finding};
use crate::result::{Calibration, Counter, Timing, Trial, TrialPlan};

/// What the pipeline asks for. JSON in the key.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Settings {
    /// Processes per operation.
    pub trials: u64,
    /// Seconds a trial aims at.
    pub target_s: f64,
    /// Calls over all trials, at least.
    pub min_total: u64,
    /// Calls per trial, at most.
    pub max_iterations: u64,
    /// Seconds for one operation, over all trials.
    pub budget_s: f64,
    /// With a setup of so many seconds or more, all trials share one process.
    pub separate_setup_s: f64,
}

/// Longest calibration process, seconds.
const CALIBRATION_LIMIT_S: u64 = 21_600;
/// Cores busy with other programs from which on a timing is called noisy.
const NOISY: f64 = 0.25;
/// Attempts for a disturbed trial.
const ATTEMPTS: u32 = 3;

impl Settings {
    /// The plan for an operation whose single call took `t1` seconds in a process that took `setup` more.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "counts are clamped far below 2^52 before they are converted"
    )]
    pub fn plan(&self, t1: f64, setup: f64) -> TrialPlan {
        let t = t1.max(1e-8);
        let trials = self.trials.max(1) as f64;
        let floor = (self.min_total as f64 / trials).ceil();
        let mut iterations = (self.target_s / t).ceil().max(floor).min(self.max_iterations as f64);
        if trials * iterations * t > self.budget_s {
            iterations = (self.budget_s / (trials * t)).floor().max(1.0);
        }
        let trials = if trials * t <= self.budget_s {
            trials
        } else {
            (self.budget_s / t).floor().max(1.0).min(trials)
        };
        let warmups = if t < 0.05 {
            3.0
        } else if t < 5.0 {
            1.0
        } else {
            0.0
        };
        let separate = setup < self.separate_setup_s;
        let processes = if separate { trials } else { 1.0 };
        let per_process = if separate { iterations } else { iterations * trials };
        TrialPlan {
            iterations_per_trial: iterations as u64,
            warmups: warmups as u64,
            trials: trials as u64,
            separate_processes: separate,
            estimated_s: trials * iterations * t + processes * (warmups * t + setup),
            timeout_per_process_s: 3.0 * (per_process + warmups) * t + 3.0 * setup + 300.0,
        }
    }
}

/// What one process of the driver gave.
struct Process {
    lines: Lines,
    trials: Vec<Trial>,
    wall: Duration,
}

pub(super) fn run(job: &mut Job<'_>) -> Result<Yield, Stop> {
    let settings: Settings = job.json_param("settings")?;
    let operation = job.param("operation").to_owned();
    let round = job.number("round")?;
    job.lay_out_inputs("")?;
    let started_utc = job.bench().clock.utc();
    let load_average_start = load_average();
    let quiet = Quiet::begin(job);
    let limit = Duration::from_secs(CALIBRATION_LIMIT_S);
    let first = process(job, &operation, [1, 1, 0], limit, "calibration")?;
    let t1 = first.trials.first().map_or(0.0, |t| t.seconds);
    let setup = (first.wall.as_secs_f64() - t1).max(0.0);
    let plan = settings.plan(t1, setup);
    let clock_hz = fixed_clock(&job.bench().host.0);
    let mut trials = Vec::new();
    let mut retries = 0;
    let mut rss = (0_u64, 0_u64);
    let mut damage: Option<String> = None;
    let once = plan.trials == 1 && plan.iterations_per_trial == 1 && plan.warmups == 0;
    let (processes, per_process) =
        if plan.separate_processes { (plan.trials, 1) } else { (1, plan.trials) };
    let limit = Duration::from_secs_f64(plan.timeout_per_process_s);
    for number in 0..processes {
        let mut attempt = 1;
        let done = loop {
            let counts = [per_process, plan.iterations_per_trial, plan.warmups];
            let done = if once {
                process(job, &operation, [1, 1, 0], limit, "samples")?
            } else {
                process(job, &operation, counts, limit, &format!("samples-{number}"))?
            };
            if attempt == ATTEMPTS || !done.trials.iter().any(|t| disturbed(t, clock_hz)) {
                break done;
            }
            attempt += 1;
            retries += 1;
        };
        let guard = done.lines.text("guard_damage").map_err(misread)?;
        if guard != "no" {
            damage = Some(guard.to_owned());
        }
        let read = |key| done.lines.number::<u64>(key).map_err(misread);
        // The buffer that keeps the samples is in both figures alike; the published driver has none.
        let buffer = read("sample_buffer_bytes")?;
        let own = |bytes: u64| bytes.saturating_sub(buffer);
        rss =
            (rss.0.max(own(read("baseline_rss_bytes")?)), rss.1.max(own(read("peak_rss_bytes")?)));
        trials.extend(done.trials);
    }
    let lines = &first.lines;
    let sizes = ["pk", "sk", "ct", "ss"]
        .into_iter()
        .map(|name| Ok((name.to_owned(), lines.number(&format!("{name}_bytes"))?)))
        .collect::<Result<BTreeMap<_, _>, String>>()
        .map_err(misread)?;
    let counter = Counter {
        source: lines.text("cycle_source").map_err(misread)?.to_owned(),
        note: Some(lines.text("cycle_note").map_err(misread)?)
            .filter(|note| *note != "-")
            .unwrap_or_default()
            .to_owned(),
        tick_hz: lines.number("tick_hz").map_err(misread)?,
        empty_op: lines.number("empty_op_ticks").map_err(misread)?,
    };
    let timing = Timing {
        schema: 1,
        operation,
        plan,
        calibration: Calibration { t1_s: t1, setup_s: setup },
        counter,
        trials,
        disturbed_retries: retries,
        sizes,
        baseline_rss_bytes: rss.0,
        peak_rss_bytes: rss.1,
        timing_scope: "loop".to_owned(),
        environment: job.bench().host.0.clone(),
        cpu: job.bench().cpu,
        started_utc,
        ended_utc: job.bench().clock.utc(),
        load_average_start,
        load_average_end: load_average(),
        round,
    };
    let mut made = Yield::default().with("timing", job.keep_json(&timing)?);
    let others = quiet.others(job);
    if others > NOISY {
        let text = format!(
            "[ngcc: other programs kept {others:.2} cores busy while this was timed; on a quiet machine, \
             `--remeasure` measures again]\n"
        );
        job.trace.log.extend(text.into_bytes());
    }
    made.observed = serde_json::json!({ "other_cores": others });
    made.findings.extend(damage.map(|text| Finding {
        code: "guard-damage".into(),
        message: format!(
            "{} wrote outside its buffers while it was timed: {text}",
            timing.operation
        ),
    }));
    Ok(made)
}

/// The load averages of 1, 5 and 15 minutes; zeros where the system has none.
fn load_average() -> [f64; 3] {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let mut fields = text.split(' ').map(|f| f.parse().unwrap_or(0.0));
    std::array::from_fn(|_| fields.next().unwrap_or(0.0))
}

/// What the machine had done when the timing began, to know afterwards what others did meanwhile.
struct Quiet {
    begun: std::time::Instant,
    machine: Duration,
    own: Duration,
}

impl Quiet {
    fn begin(job: &Job<'_>) -> Self {
        Self { begun: std::time::Instant::now(), machine: busy(), own: job.trace.cpu }
    }

    /// How many cores were busy with something else, on average; 0 where the system does not tell.
    fn others(&self, job: &Job<'_>) -> f64 {
        let own = job.trace.cpu.saturating_sub(self.own);
        let others = busy().saturating_sub(self.machine).saturating_sub(own);
        others.as_secs_f64() / self.begun.elapsed().as_secs_f64().max(0.01)
    }
}

/// CPU time that all cores have spent on programs since the machine was started.
fn busy() -> Duration {
    busy_in(&std::fs::read_to_string("/proc/stat").unwrap_or_default())
}

fn busy_in(stat: &str) -> Duration {
    let mut fields = stat.lines().next().unwrap_or_default().split_ascii_whitespace().skip(1);
    let mut next = || fields.next().and_then(|f| f.parse::<u64>().ok()).unwrap_or(0);
    let (user, nice, system) = (next(), next(), next());
    // Then idle, waiting for disks, interrupts of two kinds. Linux counts in hundredths of a second towards programs.
    let (_, _, hard, soft) = (next(), next(), next(), next());
    Duration::from_millis(10 * (user + nice + system + hard + soft))
}

fn misread(text: String) -> Stop {
    Stop::new(FailureClass::Output, format!("perf: {text}"))
}

/// The clock that the machine is fixed to, Hz, if it is.
fn fixed_clock(host: &BTreeMap<String, String>) -> Option<f64> {
    let number = |name: &str| host.get(name).and_then(|v| v.parse::<f64>().ok());
    number("cpufreq_max_khz").filter(|k| *k > 0.0).map(|k| k * 1000.0).or(number("core_clock_hz"))
}

/// Whether a trial lost CPU time, as far as a fixed clock shows it.
#[expect(clippy::cast_precision_loss, reason = "cycle counts of a trial are far below 2^52")]
fn disturbed(trial: &Trial, clock_hz: Option<f64>) -> bool {
    clock_hz.is_some_and(|hz| {
        trial.seconds > 0.01 && trial.cycles != 0 && trial.cycles as f64 / trial.seconds < 0.95 * hz
    })
}

/// One process of the driver: trials, calls per trial, warm-ups.
fn process(
    job: &mut Job<'_>,
    operation: &str,
    counts: [u64; 3],
    limit: Duration,
    samples: &str,
) -> Result<Process, Stop> {
    let mut args = vec!["lib.so".to_owned(), operation.to_owned()];
    args.extend(counts.iter().map(u64::to_string));
    args.extend(["--samples".to_owned(), samples.to_owned()]);
    let command = Command {
        program: "bin/perf".into(),
        args,
        stdout: Some("stdout".into()),
        pinned: true,
        wall: Some(limit),
        ..Command::default()
    };
    let finished = job.run_ok(&command)?;
    let scratch = job.scratch()?.to_path_buf();
    let lines = Lines::parse(&std::fs::read_to_string(scratch.join("stdout"))?).map_err(misread)?;
    if !lines.complete() {
        return Err(misread("the process did not complete".into()));
    }
    let samples = std::fs::read_to_string(scratch.join(samples))?;
    let trials = trials(&lines, &samples).map_err(misread)?;
    Ok(Process { lines, trials, wall: finished.wall })
}

/// The trials of one process, with their samples.
fn trials(lines: &Lines, samples: &str) -> Result<Vec<Trial>, String> {
    let mut trials = Vec::new();
    for fields in lines.rows("TRIAL") {
        trials.push(Trial {
            measurements: field(fields, 1)?,
            seconds: field(fields, 2)?,
            cycles: field(fields, 3)?,
            ticks: 0,
            cpu_seconds: 0.0,
            involuntary_switches: 0,
            samples_ns: Vec::new(),
        });
    }
    let mut at = |fields: &[String], set: &mut dyn FnMut(&mut Trial) -> Result<(), String>| {
        let number: usize = field(fields, 0)?;
        let trial = number.checked_sub(1).and_then(|i| trials.get_mut(i));
        set(trial.ok_or_else(|| format!("trial {number} has no TRIAL line"))?)
    };
    for fields in lines.rows("TICKS") {
        at(fields, &mut |trial| {
            trial.ticks = field(fields, 1)?;
            Ok(())
        })?;
    }
    for fields in lines.rows("USAGE") {
        at(fields, &mut |trial| {
            trial.cpu_seconds = field(fields, 1)?;
            trial.involuntary_switches = field(fields, 2)?;
            Ok(())
        })?;
    }
    for line in samples.lines() {
        let fields: Vec<String> = line.split(' ').map(str::to_owned).collect();
        at(&fields, &mut |trial| {
            trial.samples_ns.push(field(&fields, 2)?);
            Ok(())
        })?;
    }
    for (index, trial) in trials.iter().enumerate() {
        if trial.samples_ns.len() as u64 != trial.measurements {
            let (kept, made) = (trial.samples_ns.len(), trial.measurements);
            return Err(format!("trial {} made {made} calls and kept {kept} samples", index + 1));
        }
    }
    Ok(trials)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published planning numbers.
    const PUBLISHED: Settings = Settings {
        trials: 5,
        target_s: 1.0,
        min_total: 100,
        max_iterations: 20_000,
        budget_s: 900.0,
        separate_setup_s: 60.0,
    };

    #[test]
    fn busy_time_is_that_of_programs_and_interrupts() {
        let stat = "cpu  100 20 3 9999 888 4 5 0 0 0\ncpu0 1 1 1 1\n";
        assert_eq!(busy_in(stat), Duration::from_millis(1320));
        assert_eq!(busy_in(""), Duration::ZERO);
    }

    #[test]
    fn the_planning_formula_gives_the_published_iteration_counts() {
        // Calls per trial on the x86_1 pages, with a single-call time inside the interval they imply.
        for (t1, iterations) in [
            (94.55e-6, 10_577),
            (646.2e-6, 1_548),
            (2.0725e-3, 483),
            (3.12e-3, 321),
            (7.66e-3, 131),
            (23.0e-3, 44),
            (4.09, 20),
            (24.0, 7),
            (11.5, 15),
            (40.0, 4),
            (1e-9, 20_000),
        ] {
            assert_eq!(PUBLISHED.plan(t1, 0.01).iterations_per_trial, iterations, "t1 = {t1}");
        }
    }

    #[test]
    fn a_recorded_plan_is_reproduced() {
        // arm_1, kem-18 Loong128 keygen: target 0.5 s and budget 300 s; 296 calls, estimate and time limit as saved.
        let arm = Settings { target_s: 0.5, budget_s: 300.0, ..PUBLISHED };
        let plan = arm.plan(1.690e-3, 0.002);
        assert_eq!((plan.iterations_per_trial, plan.warmups, plan.trials), (296, 3, 5));
        assert!((plan.timeout_per_process_s - (0.6 * plan.estimated_s + 300.0)).abs() < 1e-9);
    }

    #[test]
    fn a_very_slow_operation_gets_fewer_trials_and_no_warm_ups() {
        let plan = PUBLISHED.plan(400.0, 100.0);
        assert_eq!((plan.trials, plan.iterations_per_trial, plan.warmups), (2, 1, 0));
        assert!(!plan.separate_processes);
    }

    #[test]
    fn every_sample_must_be_there() {
        let lines = Lines::parse("TRIAL\t1\t2\t0.5\t0\nSTATUS\tcomplete\n").unwrap();
        assert_eq!(trials(&lines, "1 1 10\n1 2 20\n").unwrap()[0].samples_ns, [10, 20]);
        assert!(trials(&lines, "1 1 10\n").unwrap_err().contains("kept 1 samples"));
    }

    #[test]
    fn a_trial_that_lost_cpu_time_is_disturbed_only_when_the_clock_is_known() {
        let trial = Trial {
            measurements: 1,
            seconds: 1.0,
            cycles: 1_000_000_000,
            ticks: 0,
            cpu_seconds: 1.0,
            involuntary_switches: 0,
            samples_ns: vec![],
        };
        assert!(disturbed(&trial, Some(2.1e9)));
        assert!(!disturbed(&trial, Some(1.0e9)));
        assert!(!disturbed(&trial, None));
    }
}
