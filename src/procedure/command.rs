//! Runs an argv that a pipeline file declares: a lab's own step without a line of Rust.
//!
//! Inputs are laid out below `in/`, the child runs in `out/`, and only the declared outputs are kept. Symbols in the
//! argv (`{in}`, `{out}`) were put in by the stage; absolute paths never enter the key.

use std::path::Path;

use crate::exec::command::Command;
use crate::exec::job::{Job, Stop, Yield};
use crate::exec::process::Exit;
use crate::record::{FailureClass, Finding};

/// Undeclared files that are named in the log, at most.
const MOST_NAMED: usize = 20;

pub(super) fn run(job: &mut Job<'_>) -> Result<Yield, Stop> {
    job.lay_out_inputs("in")?;
    let out = job.scratch()?.join("out");
    std::fs::create_dir_all(&out)?;
    let argv: Vec<String> = job.json_param("argv")?;
    let outputs: std::collections::BTreeMap<String, String> = job.json_param("outputs")?;
    let finding_codes: Vec<i32> = job.json_param("finding codes")?;
    let Some((program, args)) = argv.split_first() else {
        return Err(Stop::new(FailureClass::Refused, "the argv is empty"));
    };
    for path in outputs.values() {
        if let Some(parent) = out.join(path).parent() {
            std::fs::create_dir_all(parent)?;
        }
    }
    // Only what is declared can be found: a tool that is not in the key cannot be run by name.
    let tools = job.scratch()?.join("tools");
    std::fs::create_dir_all(&tools)?;
    for name in &job.spec().tools {
        if let Some(tool) = job.bench().tools.get(name) {
            std::os::unix::fs::symlink(&tool.path, tools.join(name))?;
        }
    }
    let stdout = Some(job.param("stdout")).filter(|s| !s.is_empty());
    let command = Command {
        program: program.clone(),
        args: args.iter().map(|arg| placed(&placed(arg, "in"), "out")).collect(),
        dir: Some("out".into()),
        env: [("PATH".to_owned(), "{scratch}/tools".to_owned())].into(),
        stdout: stdout.and_then(|name| outputs.get(name)).map(|path| format!("out/{path}")),
        ..Command::default()
    };
    let finished = job.run(&command)?;
    let mut made = Yield::default();
    if let Exit::Code(code) = finished.exit
        && finding_codes.contains(&code)
    {
        made.findings.push(Finding {
            code: format!("{}-{code}", job.spec().stage),
            message: format!(
                "`{program}` ended with status {code}, which the pipeline calls a finding"
            ),
        });
    } else if let Some(failure) = job.failure_of(&finished.exit, program) {
        return Err(Stop::Failure(failure));
    }
    for (name, path) in &outputs {
        made = made.with(name, job.keep_output(&out, path)?);
    }
    let mut stray = Vec::new();
    undeclared(&out, "", &outputs.values().map(String::as_str).collect::<Vec<_>>(), &mut stray);
    if !stray.is_empty() {
        let text = format!("[ngcc: not declared as outputs and not kept: {}]\n", stray.join(", "));
        job.trace.log.extend(text.into_bytes());
    }
    Ok(made)
}

/// An argument with a symbol replaced by its directory; in double braces it stands for itself.
fn placed(arg: &str, symbol: &str) -> String {
    let (symbol, path) = (format!("{{{symbol}}}"), format!("{{scratch}}/{symbol}"));
    let parts: Vec<String> =
        arg.split(&format!("{{{symbol}}}")).map(|part| part.replace(&symbol, &path)).collect();
    parts.join(&symbol)
}

/// What lies below `out` and belongs to no output, in name order; what holds an output is looked into. `below` is
/// empty or ends with a slash.
fn undeclared(out: &Path, below: &str, outputs: &[&str], found: &mut Vec<String>) {
    let entries = std::fs::read_dir(out.join(below)).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    for name in names {
        let path = format!("{below}{name}");
        let inside = format!("{path}/");
        if outputs.contains(&path.as_str()) {
            continue;
        }
        if outputs.iter().any(|output| output.starts_with(&inside)) {
            undeclared(out, &inside, outputs, found);
        } else if found.len() < MOST_NAMED {
            found.push(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::placed;

    #[test]
    fn a_symbol_becomes_a_directory_and_text_that_looks_like_one_stays() {
        assert_eq!(placed("{in}/a {in}", "in"), "{scratch}/in/a {scratch}/in");
        assert_eq!(placed("{{in}} {in} {print}", "in"), "{in} {scratch}/in {print}");
        assert_eq!(placed("{{{in}}}", "in"), "{{in}}");
    }
}
