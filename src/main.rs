//! The one binary: a window without a subcommand, otherwise the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    ergodic::cli::main()
}
