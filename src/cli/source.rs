//! What a command is given in the first place: a recipe or data.

use std::convert::Infallible;
use std::path::{Path, PathBuf};

use super::Failure;
use clap::builder::TypedValueParser as _;
use ergodic_analysis::SAMPLE_PREFIX;

/// A recipe, or data that a model is to be fitted to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A recipe, or a run folder whose recipe is meant.
    Recipe(PathBuf),
    /// A data file, or `sample:NAME`.
    Data(String),
}

impl Source {
    /// Reads one from the command line.
    pub fn parser() -> impl clap::builder::TypedValueParser<Value = Self> {
        clap::builder::StringValueParser::new()
            .try_map(|text| Ok::<_, Infallible>(Self::from(text)))
    }

    /// The recipe, if it is one.
    pub fn recipe(&self) -> Option<&Path> {
        match self {
            Self::Recipe(path) => Some(path),
            Self::Data(_) => None,
        }
    }

    /// The data, if it is data.
    pub fn data(&self) -> Option<&str> {
        match self {
            Self::Recipe(_) => None,
            Self::Data(data) => Some(data),
        }
    }

    /// The data that a command is given in the first place or by the flag `--data`.
    pub fn data_or<'a>(source: Option<&'a Self>, flag: Option<&'a str>) -> Option<&'a str> {
        source.and_then(Self::data).or(flag)
    }

    /// Where it is on disk; a sample is not there.
    pub fn path(&self) -> &Path {
        match self {
            Self::Recipe(path) => path,
            Self::Data(data) => Path::new(data),
        }
    }
}

/// Refuses flags that say again what the recipe at `path` says: each with whether it is given.
pub fn check_alone(path: &Path, flags: &[(&str, bool)]) -> Result<(), Failure> {
    match flags.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((flag, _)) => Err(Failure::request(format!(
            "A recipe has its own model, so {flag} does not go with {}; leave one of them out, or change the recipe by --set",
            path.display()
        ))),
    }
}

impl From<String> for Source {
    /// Recipes end in .toml and run folders are folders; what else is named is data.
    fn from(text: String) -> Self {
        let path = Path::new(&text);
        let is_recipe = match path.extension() {
            Some(end) => end == "toml" || path.is_dir(),
            // A folder that is not there is missed with a better sentence than a table of no known format; a pipe is data.
            None => path.is_dir() || !path.exists(),
        };
        if is_recipe && !text.starts_with(SAMPLE_PREFIX) {
            Self::Recipe(text.into())
        } else {
            Self::Data(text)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_run_folders_tables_and_samples_are_told_apart() {
        // A pipe is a table.
        assert!(cfg!(not(unix)) || Source::from("/dev/null".to_owned()).recipe().is_none());
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run.1").to_string_lossy().into_owned();
        let bare = folder.path().join("table").to_string_lossy().into_owned();
        std::fs::create_dir(&run).unwrap();
        std::fs::write(&bare, "x\n1\n").unwrap();
        for recipe in ["a/recipe.toml", "runs/none", &run] {
            assert!(
                Source::from(recipe.to_owned()).recipe().is_some(),
                "{recipe}"
            );
        }
        for data in ["churn.csv", "t.csv.gz", "sample:churn", &bare] {
            assert_eq!(Source::from(data.to_owned()).data(), Some(data));
        }
    }
}
