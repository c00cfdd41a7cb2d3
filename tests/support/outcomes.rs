//! What a command comes to: its output, or the sentence that refuses it.

use std::path::Path;
use std::process::Output;

use super::support::{program, text};

fn ergodic(folder: &Path, args: &[&str]) -> Output {
    program(folder, args).output().unwrap()
}

/// The output of a command that must succeed.
#[track_caller]
pub fn done(folder: &Path, args: &[&str]) -> String {
    let output = ergodic(folder, args);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {errors}");
    text(&output.stdout)
}

/// The sentence of a command that must be refused.
#[track_caller]
pub fn refused(folder: &Path, args: &[&str]) -> String {
    let output = ergodic(folder, args);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
    said
}
