use std::process::ExitCode;

use ngcc::exec::{cmake_child, launcher};

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let verb = args.next();
    match verb.as_deref().and_then(|v| v.to_str()) {
        Some("__exec") => launcher::main(args.collect()),
        Some("__cmake") => cmake_child::main(args.collect()),
        _ => ExitCode::SUCCESS,
    }
}
