//! Compiles the measuring programs with the pipeline's compiler: `kat`, `perf`, `profile`.
//!
//! Inputs are the embedded sources, so a changed driver changes the key of everything that runs it.

use crate::exec::command::Command;
use crate::exec::job::{Job, Stop, Yield};

/// Flags of the drivers: C99 as the reference harness builds its own, warnings on because the code is ours.
const FLAGS: [&str; 5] = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Wpedantic"];

/// Programs and the source files each consists of. Only what a program needs is linked: memory figures are compared
/// with published ones.
const PROGRAMS: [(&str, &[&str]); 3] = [
    ("kat", &["kat_main", "kem", "report", "crash", "../iccs/drng", "../iccs/sm3"]),
    ("perf", &["perf_main", "prepare", "memory", "counter", "report", "kem"]),
    ("profile", &["profile_main", "prepare", "counter", "report", "kem"]),
];

pub(super) fn run(job: &mut Job<'_>) -> Result<Yield, Stop> {
    job.lay_out_inputs("ngcc")?;
    let mut made = Yield::default();
    for (program, sources) in PROGRAMS {
        let mut args: Vec<String> = FLAGS.iter().map(|f| (*f).to_owned()).collect();
        args.push("-ffile-prefix-map={scratch}=.".into());
        args.extend(["-Idriver".into(), "-Iiccs".into()]);
        args.extend(sources.iter().map(|source| format!("driver/{source}.c")));
        args.extend(["-o".into(), format!("../{program}"), "-ldl".into()]);
        let command = Command {
            program: "tool:gcc".into(),
            args,
            dir: Some("ngcc".into()),
            trusted: true,
            ..Command::default()
        };
        job.run_ok(&command)?;
        let artifact = job.keep_file(&job.scratch()?.join(program))?;
        made = made.with(program, artifact);
    }
    Ok(made)
}
