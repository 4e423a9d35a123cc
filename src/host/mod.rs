//! What machine this is: facts read from `/proc` and `/sys` below a root, and the identity made from some of them.
//!
//! A file that is not there is a fact that is absent, never an error and never a default. Facts that only a program can
//! find (the cycle source, the measured clock, tool versions) are put in by the caller. Judging the facts is
//! `readiness.rs`; which facts make the identity is up to `systems/<id>.yaml`.

mod readiness;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

pub use readiness::{Check, Verdict, readiness};

use crate::digest::{Encode, KeyWriter, Sink, SystemId};

/// The facts that make a system's identity unless its file says otherwise.
pub const DEFAULT_IDENTITY: [&str; 6] =
    ["cpu_model", "microcode", "cpufreq_governor", "turbo", "smt", "cycle_source"];

/// Host facts by name. Names with a unit carry it (`memory_total_kib`).
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct HostFacts(pub BTreeMap<String, String>);

/// Facts that are a whole file: name, path below the root (`{cpu}` is the benchmark CPU's number).
const FILES: &[(&str, &str)] = &[
    ("hostname", "proc/sys/kernel/hostname"),
    ("kernel", "proc/sys/kernel/osrelease"),
    ("logical_cpus_online", "sys/devices/system/cpu/online"),
    ("perf_event_paranoid", "proc/sys/kernel/perf_event_paranoid"),
    ("cpufreq_governor", "sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor"),
    ("cpufreq_driver", "sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_driver"),
    ("cpufreq_min_khz", "sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_min_freq"),
    ("cpufreq_max_khz", "sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_max_freq"),
    ("cpufreq_hardware_max_khz", "sys/devices/system/cpu/cpu{cpu}/cpufreq/cpuinfo_max_freq"),
    ("cpufreq_avg_khz", "sys/devices/system/cpu/cpu{cpu}/cpufreq/cpuinfo_avg_freq"),
    ("thread_siblings", "sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"),
    ("intel_pstate_no_turbo", "sys/devices/system/cpu/intel_pstate/no_turbo"),
    ("cpufreq_boost", "sys/devices/system/cpu/cpufreq/boost"),
    ("smt_control", "sys/devices/system/cpu/smt/control"),
    ("performance_cores", "sys/devices/cpu_core/cpus"),
    ("aslr", "proc/sys/kernel/randomize_va_space"),
    ("transparent_hugepage", "sys/kernel/mm/transparent_hugepage/enabled"),
    ("clocksource", "sys/devices/system/clocksource/clocksource0/current_clocksource"),
    ("isolated_cpus", "sys/devices/system/cpu/isolated"),
];

impl HostFacts {
    /// Reads all facts below `root` (`/` but in tests) for one benchmark CPU.
    #[must_use]
    pub fn read(root: &Path, cpu: u32) -> Self {
        let mut facts = Self::default();
        for (name, path) in FILES {
            facts.set(name, text(root, &path.replace("{cpu}", &cpu.to_string())));
        }
        let architecture = text(root, "proc/sys/kernel/arch");
        facts.set("architecture", architecture.or(Some(std::env::consts::ARCH.to_owned())));
        facts.set("cpu_number", Some(cpu.to_string()));
        facts.read_cpuinfo(&text(root, "proc/cpuinfo").unwrap_or_default());
        facts.set("machine", machine(root));
        facts.set("os", os_name(root));
        facts.set("memory_total_kib", memory_total(root));
        facts.set("cpus_allowed", allowed(root));
        facts.set("load_average", load_average(root));
        facts.set("mitigations", mitigations(root));
        facts.set("turbo", facts.turbo().map(str::to_owned));
        facts.set("cycle_source", Some(cycle_source(root).to_owned()));
        let smt = text(root, "sys/devices/system/cpu/smt/active");
        facts.set("smt", smt.map(|active| if active == "1" { "on" } else { "off" }.to_owned()));
        facts
    }

    /// One fact; absent when its source is.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Sets a fact that was found another way (`cycle_source`, `core_clock_hz`, `compiler`).
    pub fn set(&mut self, name: &str, value: Option<String>) {
        if let Some(value) = value {
            self.0.insert(name.to_owned(), value);
        }
    }

    fn read_cpuinfo(&mut self, text: &str) {
        let field = |name: &str| {
            text.lines().find_map(|line| {
                let (key, value) = line.split_once(':')?;
                (key.trim() == name).then(|| value.trim().to_owned())
            })
        };
        let arm = || {
            Some(format!("implementer {} part {}", field("CPU implementer")?, field("CPU part")?))
        };
        let model = field("model name").or_else(|| field("Hardware")).or_else(arm);
        self.set("cpu_model", model);
        self.set("microcode", field("microcode"));
        if !text.is_empty() {
            let flags = field("flags").unwrap_or_default();
            let virtualized = flags.split_whitespace().any(|flag| flag == "hypervisor");
            self.set("virtualized", Some(virtualized.to_string()));
        }
    }

    /// Whether the clock may rise above its nominal rate, from whichever file says so.
    fn turbo(&self) -> Option<&'static str> {
        match (self.get("intel_pstate_no_turbo"), self.get("cpufreq_boost")) {
            (Some("0"), _) | (_, Some("1")) => Some("on"),
            (Some(_), _) | (_, Some(_)) => Some("off"),
            (None, None) => None,
        }
    }

    /// The clock that is fixed by configuration or by measurement, Hz: what a disturbed sample is recognised by.
    #[must_use]
    pub fn fixed_clock_hz(&self) -> Option<u64> {
        let number = |name| self.get(name).and_then(|v| v.parse::<u64>().ok()).filter(|&n| n > 0);
        number("cpufreq_max_khz").map(|khz| khz * 1000).or_else(|| number("core_clock_hz"))
    }

    /// The highest CPU this process may run on: the farthest from interrupts and from the work of others.
    #[must_use]
    pub fn default_cpu(root: &Path) -> Option<u32> {
        cpu_list(&allowed(root)?).into_iter().max()
    }
}

/// The identity of a system: the digest of the named facts, absent ones included as absent.
#[must_use]
pub fn identity(facts: &HostFacts, fields: &[String]) -> SystemId {
    struct Identity<'a>(&'a HostFacts, &'a [String]);
    impl Encode for Identity<'_> {
        fn encode(&self, sink: &mut dyn Sink) {
            let mut fields: Vec<&String> = self.1.iter().collect();
            fields.sort();
            fields.dedup();
            sink.open("system", fields.len());
            for name in fields {
                match self.0.get(name) {
                    Some(value) => sink.field(name, value.as_bytes()),
                    None => {
                        sink.open(name, 0);
                        sink.close();
                    }
                }
            }
            sink.close();
        }
    }
    SystemId(KeyWriter::key("system", &Identity(facts, fields)))
}

/// The CPUs of a list as the kernel writes it: `0-3,8`. What cannot be read is left out.
#[must_use]
pub fn cpu_list(list: &str) -> Vec<u32> {
    let mut cpus = Vec::new();
    for part in list.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.trim().parse::<u32>(), last.trim().parse::<u32>()) {
            // No machine has more; a damaged file must not fill the memory.
            cpus.extend(first..=last.min(first.saturating_add(65_536)));
        }
    }
    cpus
}

/// A file's text without blanks and NULs at the end; absent when unreadable or empty.
fn text(root: &Path, path: &str) -> Option<String> {
    let bytes = fs::read(root.join(path)).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!text.is_empty()).then(|| text.to_owned())
}

fn machine(root: &Path) -> Option<String> {
    text(root, "sys/firmware/devicetree/base/model")
        .or_else(|| text(root, "sys/class/dmi/id/product_name"))
}

fn os_name(root: &Path) -> Option<String> {
    let release = text(root, "etc/os-release").or_else(|| text(root, "usr/lib/os-release"))?;
    let name = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(name.trim_matches('"').to_owned())
}

fn memory_total(root: &Path) -> Option<String> {
    let meminfo = text(root, "proc/meminfo")?;
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.split_whitespace().next().map(str::to_owned)
}

fn allowed(root: &Path) -> Option<String> {
    let status = text(root, "proc/self/status")?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    Some(list.trim().to_owned())
}

fn load_average(root: &Path) -> Option<String> {
    let all = text(root, "proc/loadavg")?;
    Some(all.split_whitespace().take(3).collect::<Vec<_>>().join(" "))
}

/// Each vulnerability with what the kernel does about it, sorted by name.
fn mitigations(root: &Path) -> Option<String> {
    let dir = "sys/devices/system/cpu/vulnerabilities";
    let entries = fs::read_dir(root.join(dir)).ok()?;
    let mut found: Vec<String> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let state = text(root, &format!("{dir}/{name}"))?;
            Some(format!("{name}: {state}"))
        })
        .collect();
    found.sort();
    (!found.is_empty()).then(|| found.join("; "))
}

/// What counts cycles on this machine, as far as files tell: `hw-cycles` where a core's performance counters are
/// there and allowed, else the constant-rate counter of the architecture. The drivers find out for certain.
#[must_use]
pub fn cycle_source(root: &Path) -> &'static str {
    let devices = root.join("sys/bus/event_source/devices");
    let core = ["cpu", "cpu_core", "armv8_pmuv3_0", "armv8_pmuv3"];
    let counters = core.iter().any(|name| devices.join(name).is_dir());
    let paranoid = text(root, "proc/sys/kernel/perf_event_paranoid");
    let allowed = paranoid.and_then(|t| t.parse::<i32>().ok()).is_some_and(|level| level <= 2);
    if counters && allowed {
        "hw-cycles"
    } else if cfg!(target_arch = "x86_64") {
        "tsc"
    } else if cfg!(target_arch = "aarch64") {
        "cntvct"
    } else {
        "none"
    }
}

/// The largest resident set of this process so far, bytes; 0 where the system does not say.
#[must_use]
pub fn own_peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|n| n.parse::<u64>().ok()).unwrap_or(0) * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root_with(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        dir
    }

    #[test]
    fn an_empty_root_gives_no_fact_but_the_given_ones() {
        let dir = root_with(&[]);
        let facts = HostFacts::read(dir.path(), 3);
        let names: Vec<&str> = facts.0.keys().map(String::as_str).collect();
        assert_eq!(names, ["architecture", "cpu_number", "cycle_source"]);
    }

    #[test]
    fn facts_are_read_with_their_blanks_and_nuls_taken_off() {
        let dir = root_with(&[
            (
                "proc/cpuinfo",
                "model name\t: Some CPU\nmicrocode\t: 0x2b\nflags\t\t: fpu hypervisor\n",
            ),
            ("proc/meminfo", "MemTotal:       16318056 kB\nMemFree: 1 kB\n"),
            ("sys/firmware/devicetree/base/model", "Some Board\0"),
            ("etc/os-release", "NAME=x\nPRETTY_NAME=\"Some Linux 12\"\n"),
            ("proc/loadavg", "0.10 0.20 0.30 1/92 16474\n"),
            ("sys/devices/system/cpu/cpu1/cpufreq/scaling_max_freq", "1600000\n"),
            ("sys/devices/system/cpu/cpu1/cpufreq/cpuinfo_max_freq", "3900000\n"),
            ("sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected\n"),
            ("proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-2\n"),
        ]);
        let facts = HostFacts::read(dir.path(), 1);
        for (name, value) in [
            ("cpu_model", "Some CPU"),
            ("microcode", "0x2b"),
            ("virtualized", "true"),
            ("memory_total_kib", "16318056"),
            ("machine", "Some Board"),
            ("os", "Some Linux 12"),
            ("load_average", "0.10 0.20 0.30"),
            ("cpufreq_max_khz", "1600000"),
            ("cpufreq_hardware_max_khz", "3900000"),
            ("mitigations", "meltdown: Not affected"),
        ] {
            assert_eq!(facts.get(name), Some(value), "{name}");
        }
        // The allowed maximum, not the hardware's.
        assert_eq!(facts.fixed_clock_hz(), Some(1_600_000_000));
        assert_eq!(HostFacts::default_cpu(dir.path()), Some(2));
    }

    #[test]
    fn the_identity_follows_its_fields_only() {
        let fields = DEFAULT_IDENTITY.map(str::to_owned);
        let mut facts = HostFacts::default();
        facts.set("cpu_model", Some("Some CPU".into()));
        let base = identity(&facts, &fields);
        facts.set("load_average", Some("9 9 9".into()));
        facts.set("kernel", Some("6.18".into()));
        assert_eq!(identity(&facts, &fields), base);
        facts.set("microcode", Some(String::new()));
        assert_ne!(identity(&facts, &fields), base, "an empty fact is not an absent one");
        let mut reversed = fields.clone();
        reversed.reverse();
        assert_eq!(identity(&facts, &fields), identity(&facts, &reversed));
    }

    #[test]
    fn cpu_lists_have_ranges_commas_and_damage() {
        assert_eq!(cpu_list("0-2,8\n"), [0, 1, 2, 8]);
        assert_eq!(cpu_list(""), [0_u32; 0]);
        assert_eq!(cpu_list("x,3"), [3]);
    }
}
