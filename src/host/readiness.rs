//! Is this machine fit for measuring, and if not, what to do about it.
//!
//! Judges facts and nothing else: it reads no file and starts nothing. One check per condition, always all of them, so
//! that a report shows what was looked at. `Fail` is a condition under which figures are not comparable; `Warn` is one
//! that the figures must be read with.

use super::{HostFacts, cpu_list};

/// How a check came out.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// As wanted, or it does not apply here.
    Pass,
    /// Measuring works; the reader must know.
    Warn,
    /// Not fit for measuring.
    Fail,
}

/// One condition and what was found.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Check {
    /// A stable word for it.
    pub name: String,
    /// How it came out.
    pub verdict: Verdict,
    /// What is.
    pub found: String,
    /// What should be.
    pub wanted: String,
    /// What to do; empty when it passed or nothing can be done.
    pub fix: String,
}

/// Largest interquartile range of the measured clock that counts as steady, parts of the median.
const STEADY: f64 = 0.005;

/// All checks for one benchmark CPU, in a fixed order. The facts must be those read for the same CPU.
#[must_use]
pub fn readiness(facts: &HostFacts, cpu: u32) -> Vec<Check> {
    let mut checks = vec![
        architecture(facts),
        perf_events(facts),
        turbo(facts),
        governor(facts, cpu),
        clock_range(facts, cpu),
        smt_sibling(facts, cpu),
        core_type(facts, cpu),
        cpu_allowed(facts, cpu),
    ];
    let fit_so_far = checks.iter().all(|check| check.verdict < Verdict::Fail);
    checks.push(steady_clock(facts, fit_so_far));
    checks.push(cycle_source(facts));
    checks.push(bare_metal(facts));
    checks
}

fn check(name: &str, verdict: Verdict, found: impl Into<String>, wanted: &str, fix: &str) -> Check {
    let fix = if verdict == Verdict::Pass { "" } else { fix };
    Check {
        name: name.to_owned(),
        verdict,
        found: found.into(),
        wanted: wanted.to_owned(),
        fix: fix.to_owned(),
    }
}

fn or_fail(holds: bool) -> Verdict {
    if holds { Verdict::Pass } else { Verdict::Fail }
}

fn shown(fact: Option<&str>) -> &str {
    fact.unwrap_or("not there")
}

fn architecture(facts: &HostFacts) -> Check {
    let found = facts.get("architecture");
    let known = matches!(found, Some("x86_64" | "aarch64"));
    let fix = "measure on x86_64 or aarch64: the guide has flags for these two only";
    check("architecture", or_fail(known), shown(found), "x86_64 or aarch64", fix)
}

fn perf_events(facts: &HostFacts) -> Check {
    let found = facts.get("perf_event_paranoid");
    let open = matches!(found, Some("-1" | "0" | "1" | "2"));
    let fix = "sudo sysctl kernel.perf_event_paranoid=2";
    check("perf-events", or_fail(open), shown(found), "at most 2", fix)
}

fn turbo(facts: &HostFacts) -> Check {
    let on = facts.get("turbo") == Some("on");
    let fix = if facts.get("intel_pstate_no_turbo").is_some() {
        "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"
    } else {
        "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"
    };
    check("turbo", or_fail(!on), shown(facts.get("turbo")), "off", fix)
}

fn governor(facts: &HostFacts, cpu: u32) -> Check {
    let found = facts.get("cpufreq_governor");
    let fix = format!(
        "echo performance | sudo tee /sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor"
    );
    let holds = matches!(found, None | Some("performance"));
    check("governor", or_fail(holds), shown(found), "performance, or no frequency scaling", &fix)
}

/// On aarch64 there is no turbo switch, so the clock is fixed by minimum = maximum. On x86 turbo off and the governor do
/// that; a range is worth a remark only.
fn clock_range(facts: &HostFacts, cpu: u32) -> Check {
    let (low, high) = (facts.get("cpufreq_min_khz"), facts.get("cpufreq_max_khz"));
    let wanted = "minimum = maximum";
    let (Some(_), Some(low), Some(high)) = (facts.get("cpufreq_governor"), low, high) else {
        return check("clock-range", Verdict::Pass, "no frequency scaling", wanted, "");
    };
    let verdict = match (low == high, facts.get("architecture")) {
        (true, _) => Verdict::Pass,
        (false, Some("aarch64")) => Verdict::Fail,
        (false, _) => Verdict::Warn,
    };
    let mut found = format!("{low} to {high} kHz");
    if let Some(hardware) = facts.get("cpufreq_hardware_max_khz").filter(|&h| h != high) {
        found.push_str(" (hardware maximum ");
        found.push_str(hardware);
        found.push_str(" kHz)");
    }
    let dir = format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq");
    let fix = format!("echo {high} | sudo tee {dir}/scaling_min_freq");
    check("clock-range", verdict, found, wanted, &fix)
}

fn smt_sibling(facts: &HostFacts, cpu: u32) -> Check {
    let found = facts.get("thread_siblings");
    let alone = found.is_none_or(|list| list.trim() == cpu.to_string());
    let fix = "echo off | sudo tee /sys/devices/system/cpu/smt/control";
    let wanted = format!("CPU {cpu} alone on its core");
    check("smt-sibling", or_fail(alone), shown(found), &wanted, fix)
}

fn core_type(facts: &HostFacts, cpu: u32) -> Check {
    let found = facts.get("performance_cores");
    let inside = found.is_none_or(|list| cpu_list(list).contains(&cpu));
    let fix = format!("choose a CPU of {} with --cpu", shown(found));
    let found = found.unwrap_or("all cores are of one type");
    check("core-type", or_fail(inside), found, "a performance core", &fix)
}

fn cpu_allowed(facts: &HostFacts, cpu: u32) -> Check {
    let found = facts.get("cpus_allowed");
    let allowed = found.is_some_and(|list| cpu_list(list).contains(&cpu));
    let fix = format!("choose a CPU of {} with --cpu, or widen the cpuset", shown(found));
    check("cpu-allowed", or_fail(allowed), shown(found), &format!("CPU {cpu} among them"), &fix)
}

/// Where nothing says how the clock is governed, only measuring it can. The probe's result comes in as facts.
fn steady_clock(facts: &HostFacts, fit_so_far: bool) -> Check {
    let wanted = "interquartile range within 0.5 % of the median";
    if facts.get("cpufreq_governor").is_some() {
        return check("steady-clock", Verdict::Pass, "the governor holds it", wanted, "");
    }
    let number = |name| facts.get(name).and_then(|v| v.parse::<f64>().ok());
    let probed = (number("core_clock_hz"), number("core_clock_iqr_hz"));
    let (Some(median), Some(range)) = probed else {
        let verdict = or_fail(!fit_so_far);
        let found = if fit_so_far { "cannot be measured here" } else { "not looked at" };
        let fix = "needs hardware cycle counters: measure on the machine itself, not in a guest";
        return check("steady-clock", verdict, found, wanted, fix);
    };
    let steady = median > 0.0 && range <= STEADY * median;
    let found = format!("{:.0} MHz, range {:.2} %", median / 1e6, 100.0 * range / median.max(1.0));
    check(
        "steady-clock",
        or_fail(steady),
        found,
        wanted,
        "fix the clock, or end what heats the machine",
    )
}

fn cycle_source(facts: &HostFacts) -> Check {
    let found = facts.get("cycle_source");
    let verdict = if found == Some("hw-cycles") { Verdict::Pass } else { Verdict::Warn };
    let fix = "without it figures are in time and ticks, never in cycles";
    check("cycle-source", verdict, found.unwrap_or("not probed"), "hw-cycles", fix)
}

fn bare_metal(facts: &HostFacts) -> Check {
    let guest = facts.get("virtualized") == Some("true");
    let verdict = if guest { Verdict::Warn } else { Verdict::Pass };
    let found = if guest { "virtual machine" } else { "no hypervisor seen" };
    check(
        "bare-metal",
        verdict,
        found,
        "no hypervisor",
        "other guests disturb what cannot be seen from here",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fit machine, with changes: an empty value takes the fact away.
    fn verdict(name: &str, changes: &[(&str, &str)]) -> Verdict {
        let mut facts = HostFacts::default();
        for (fact, value) in [
            ("architecture", "x86_64"),
            ("perf_event_paranoid", "2"),
            ("turbo", "off"),
            ("cpufreq_governor", "performance"),
            ("cpufreq_min_khz", "2100000"),
            ("cpufreq_max_khz", "2100000"),
            ("thread_siblings", "2"),
            ("performance_cores", "0-7"),
            ("cpus_allowed", "0-19"),
            ("cycle_source", "hw-cycles"),
            ("virtualized", "false"),
        ]
        .iter()
        .chain(changes)
        {
            facts.0.remove(*fact);
            facts.set(fact, (!value.is_empty()).then(|| (*value).to_owned()));
        }
        readiness(&facts, 2).into_iter().find(|check| check.name == name).unwrap().verdict
    }

    #[test]
    fn each_condition_has_its_verdict() {
        use Verdict::{Fail, Pass, Warn};
        let no_governor = ("cpufreq_governor", "");
        type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], Verdict);
        let cases: &[Case<'_>] = &[
            ("architecture", &[], Pass),
            ("architecture", &[("architecture", "riscv64")], Fail),
            ("perf-events", &[("perf_event_paranoid", "-1")], Pass),
            ("perf-events", &[("perf_event_paranoid", "3")], Fail),
            ("perf-events", &[("perf_event_paranoid", "")], Fail),
            ("turbo", &[("turbo", "on")], Fail),
            ("turbo", &[("turbo", "")], Pass),
            ("governor", &[("cpufreq_governor", "powersave")], Fail),
            ("governor", &[no_governor], Pass),
            ("clock-range", &[("cpufreq_min_khz", "800000")], Warn),
            ("clock-range", &[("architecture", "aarch64"), ("cpufreq_min_khz", "800000")], Fail),
            ("clock-range", &[("architecture", "aarch64")], Pass),
            ("smt-sibling", &[("thread_siblings", "2-3")], Fail),
            ("smt-sibling", &[("thread_siblings", "")], Pass),
            ("core-type", &[("performance_cores", "0-1,4")], Fail),
            ("core-type", &[("performance_cores", "")], Pass),
            ("cpu-allowed", &[("cpus_allowed", "0-1")], Fail),
            ("steady-clock", &[], Pass),
            ("steady-clock", &[no_governor], Fail),
            ("steady-clock", &[no_governor, ("turbo", "on")], Pass),
            (
                "steady-clock",
                &[no_governor, ("core_clock_hz", "2600000000"), ("core_clock_iqr_hz", "1000000")],
                Pass,
            ),
            (
                "steady-clock",
                &[no_governor, ("core_clock_hz", "2600000000"), ("core_clock_iqr_hz", "26000000")],
                Fail,
            ),
            ("cycle-source", &[("cycle_source", "tsc")], Warn),
            ("cycle-source", &[("cycle_source", "")], Warn),
            ("bare-metal", &[("virtualized", "true")], Warn),
        ];
        for (name, changes, wanted) in cases {
            assert_eq!(verdict(name, changes), *wanted, "{name} with {changes:?}");
        }
    }

    #[test]
    fn a_failed_check_says_what_to_do_and_a_passed_one_does_not() {
        let mut facts = HostFacts::default();
        facts.set("cpufreq_governor", Some("powersave".into()));
        facts.set("cpufreq_min_khz", Some("800000".into()));
        facts.set("cpufreq_max_khz", Some("1600000".into()));
        facts.set("cpufreq_hardware_max_khz", Some("3900000".into()));
        let checks = readiness(&facts, 5);
        for check in &checks {
            assert_eq!(check.fix.is_empty(), check.verdict == Verdict::Pass, "{check:?}");
        }
        let range = checks.iter().find(|check| check.name == "clock-range").unwrap();
        assert_eq!(range.found, "800000 to 1600000 kHz (hardware maximum 3900000 kHz)");
    }
}
