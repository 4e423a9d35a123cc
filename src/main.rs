//! Calls the library and returns its exit code.

fn main() -> std::process::ExitCode {
    ngcc::cli::main()
}
