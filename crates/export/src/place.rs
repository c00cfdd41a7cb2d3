//! Where a command may write a file: over nothing that it reads, and over no file of a run.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::claim::LOCK;
use super::folder::RunFolder;
use super::saved::{MANIFEST, SAVING};
use super::{ExportError, files, is_special, journal, saving, target_of};
use ergodic_analysis::Recipe;

/// Whether a file can be written at `path` without destroying what a command reads: as [`check_spares`]; nothing stays behind, and
/// what stands there stays.
///
/// # Errors
/// As there; the folder is not there or cannot be written, or the path is a folder.
pub fn check_place(
    path: &Path,
    read: impl IntoIterator<Item: AsRef<Path>>,
) -> Result<(), ExportError> {
    let what = "The output file cannot be written";
    if path.is_dir() {
        let error = std::io::ErrorKind::IsADirectory.into();
        return Err(ExportError::at(what, error, path));
    }
    if is_special(path) {
        return Ok(());
    }
    check_spares(path, read)?;
    let probe = files::part_of(&target_of(path), &files::token());
    files::write_new(&probe, |_out| Ok(()))
        .and_then(|_written| files::remove(&probe))
        .map_err(|error| ExportError::at(what, error, path))
}

/// Whether a file at `path` would replace none of the files `read` (tables, and recipes and run folders, which stand for their data too) and
/// no file of any run.
///
/// # Errors
/// It would.
pub fn check_spares(
    path: &Path,
    read: impl IntoIterator<Item: AsRef<Path>>,
) -> Result<(), ExportError> {
    let target = target_of(path);
    if is_of_run(&target) {
        return Err(ExportError::OverRun(path.to_owned()));
    }
    let is_target = |input: &Path| target_of(input) == target;
    let is_read =
        |input: &Path| is_target(input) || data_of(input).is_some_and(|it| is_target(&it));
    match read.into_iter().any(|input| is_read(input.as_ref())) {
        true => Err(ExportError::OverInput(path.to_owned())),
        false => Ok(()),
    }
}

/// Whether the file `target` is one that run folders hold, in one.
fn is_of_run(target: &Path) -> bool {
    let Some(name) = target.file_name().and_then(OsStr::to_str) else {
        return false;
    };
    let is_there = |file: &&str| target.with_file_name(file).is_file();
    let is_run = [MANIFEST, SAVING, journal::DRAWS].iter().any(is_there);
    is_run && (saving::is_own(name) || name == LOCK)
}

/// The table of the run folder or recipe `input`.
fn data_of(input: &Path) -> Option<PathBuf> {
    if input.is_dir() {
        return RunFolder::open(input).ok()?.recipe().ok()?.data_path(input);
    }
    let is_recipe = input.extension().is_some_and(|end| end == "toml");
    let recipe = is_recipe.then(|| Recipe::read(input, &[]).ok()).flatten()?;
    recipe.data_path(input.parent()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_their_data_and_files_of_runs_are_no_place_for_output() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("run")).unwrap();
        for name in ["table.csv", "run/run.json", "run/draws.csv"] {
            std::fs::write(at(name), "kept").unwrap();
        }
        let recipe = Recipe::new("../table.csv", "linear", "y ~ x");
        std::fs::write(at("run/recipe.toml"), recipe.to_toml()).unwrap();
        std::fs::write(at("own.toml"), recipe.to_toml().replace("../", "")).unwrap();

        let refused = |out: &str, read: &[PathBuf]| {
            let said = check_place(&at(out), read).unwrap_err().to_string();
            assert!(said.ends_with(&at(out).display().to_string()), "{said}");
            said
        };
        let read = "is one that this command reads";
        for input in ["table.csv", "run", "own.toml"] {
            let said = refused("table.csv", &[at("elsewhere.csv"), at(input)]);
            assert!(said.contains(read), "{said}");
        }
        // The same file by another way.
        assert!(refused("run/../table.csv", &[at("run")]).contains(read));
        for name in ["draws.csv", "recipe.toml", "summary.csv", "journal.lock"] {
            let said = refused(&format!("run/{name}"), &[]);
            assert!(said.contains("is one of a run"), "{said}");
        }
        for out in ["new.csv", "run/report.html", "draws.csv"] {
            check_place(&at(out), [at("run")]).unwrap();
        }
        check_place(&at("table.csv"), [at("new.csv")]).unwrap();
        assert_eq!(std::fs::read(at("table.csv")).unwrap(), b"kept");
    }
}
