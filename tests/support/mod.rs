//! The program as tests run it.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

/// `ergodic` with `args` in `folder`, without input and without a display.
pub fn program<A: AsRef<OsStr>>(folder: &Path, args: impl IntoIterator<Item = A>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ergodic"));
    command
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::null())
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY");
    command
}

/// Text that the program wrote to one of its outputs.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
