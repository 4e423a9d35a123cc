//! Profiles one operation: helper calls and their share, counted by link-time wrappers.
//!
//! Same preparation as the timing driver, accounting only inside each operation. Whether a wrapper can see its
//! helper's calls was decided at link time and travels with the result.

use std::collections::BTreeMap;
use std::time::Duration;

use super::report_lines::{Lines, field};
use crate::exec::command::Command;
use crate::exec::job::{Job, Stop, Yield};
use crate::record::FailureClass;
use crate::result::{Binding, HelperCalls, Profile};

pub(super) fn run(job: &mut Job<'_>) -> Result<Yield, Stop> {
    let operation = job.param("operation").to_owned();
    let target_s: f64 = job.number("target_s")?;
    let max: u64 = job.number("max operations")?;
    job.lay_out_inputs("")?;
    let binding: BTreeMap<String, Binding> =
        serde_json::from_str(&job.text("binding.json")?).map_err(|e| misread(e.to_string()))?;
    let first = process(job, &operation, 1, 0, Duration::from_secs(21_600))?;
    let t1 = first.ticks as f64 / first.tick_hz.max(1.0);
    let iterations = iterations(t1, target_s, max);
    let warmups = u64::from(t1 < 5.0);
    let limit = 3.0 * (iterations + warmups) as f64 * t1 + 300.0;
    let mut profile =
        process(job, &operation, iterations, warmups, Duration::from_secs_f64(limit.min(1e6)))?;
    profile.binding = binding;
    Ok(Yield::default().with("profile", job.keep_json(&profile)?))
}

/// Operations to profile, from the time of one. Source: the reference harness' hash profile.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to `max` before the conversion"
)]
fn iterations(t1: f64, target_s: f64, max: u64) -> u64 {
    if t1 > 60.0 {
        1
    } else {
        ((target_s / t1.max(1e-8)).ceil().min(1e9) as u64).clamp(3, max.max(3))
    }
}

fn misread(text: String) -> Stop {
    Stop::new(FailureClass::Output, format!("profile: {text}"))
}

fn process(
    job: &mut Job<'_>,
    operation: &str,
    iterations: u64,
    warmups: u64,
    limit: Duration,
) -> Result<Profile, Stop> {
    let args = vec![
        "lib.so".to_owned(),
        operation.to_owned(),
        iterations.to_string(),
        warmups.to_string(),
    ];
    let command = Command {
        program: "bin/profile".into(),
        args,
        stdout: Some("stdout".into()),
        pinned: true,
        wall: Some(limit),
        ..Command::default()
    };
    job.run_ok(&command)?;
    let text = std::fs::read_to_string(job.scratch()?.join("stdout"))?;
    read(operation, &text).map_err(misread)
}

fn read(operation: &str, text: &str) -> Result<Profile, String> {
    let lines = Lines::parse(text)?;
    if !lines.complete() {
        return Err("the process did not complete".into());
    }
    let total = lines.rows("TOTAL").next().ok_or("no TOTAL line")?;
    let mut calls = Vec::new();
    for fields in lines.rows("CALL") {
        calls.push(HelperCalls {
            function: fields[0].clone(),
            in_bits: field(fields, 1)?,
            out_bits: field(fields, 2)?,
            calls: field(fields, 3)?,
            ticks: field(fields, 4)?,
        });
    }
    calls.sort_by(|a, b| {
        (&a.function, a.in_bits, a.out_bits).cmp(&(&b.function, b.in_bits, b.out_bits))
    });
    Ok(Profile {
        schema: 1,
        operation: operation.to_owned(),
        tick_source: lines.text("tick_source")?.to_owned(),
        tick_hz: lines.number("tick_hz")?,
        operations: field(total, 0)?,
        ticks: field(total, 1)?,
        wrapper_ticks: lines.number("wrapper_ticks")?,
        overflow_calls: lines.number("overflow_calls")?,
        calls,
        binding: BTreeMap::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_profiled_operations_follows_the_published_rule() {
        assert_eq!(iterations(1.0 / 591.5, 1.0, 1000), 592);
        assert_eq!(iterations(1e-6, 1.0, 1000), 1000);
        assert_eq!(iterations(2.0, 1.0, 1000), 3);
        assert_eq!(iterations(61.0, 1.0, 1000), 1);
    }

    #[test]
    fn a_profile_is_read_line_by_line() {
        let text = "META\ttick_source\trdtsc\nMETA\ttick_hz\t2596000000\nMETA\twrapper_ticks\t61.00\n\
                    META\toverflow_calls\t0\nTOTAL\t10\t1000\nCALL\tsm3hash\t8\t256\t10\t100\n\
                    CALL\tdrng\t0\t512\t10\t50\nSTATUS\tcomplete\n";
        let profile = read("keygen", text).unwrap();
        assert_eq!((profile.operations, profile.ticks), (10, 1000));
        assert_eq!(profile.calls[0].function, "drng");
        assert!(read("keygen", "STATUS\tcomplete\n").is_err());
    }
}
