//! Projects, `*.ergodic`: a TOML file that lists data, draft and run folders.
//!
//! It holds no results: those are in the run folders, and nothing is computed again when a project is opened. Paths are
//! relative to the file, so that a folder with a project in it can be moved.

use std::io;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::folder::relative_to;
use super::{ExportError, RunFolder, write_file};
use ergodic_analysis::{DataSection, Recipe, SAMPLE_PREFIX};

/// Ending of the file name.
pub const EXTENSION: &str = "ergodic";
/// Version of the layout.
pub(super) const FORMAT: u32 = 1;

/// What a project file says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Project {
    /// Version of the layout.
    pub format: u32,
    /// What was on screen.
    #[serde(default)]
    pub view: ProjectView,
    /// The open data; absent if none were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<DataSection>,
    /// The draft.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft: Option<Recipe>,
    /// Runs, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<ProjectRun>,
}

/// What was on screen when a project was saved; no change of it is worth asking about.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProjectView {
    /// Page, in lower case.
    pub page: String,
    /// Number of the run shown.
    pub run: Option<u64>,
    /// Variable shown, 0-based.
    pub variable: usize,
    /// How the panes of runs are arranged; absent: as at first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub panes: Option<PaneLayout>,
}

/// An arrangement of panes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PaneLayout {
    /// One, by its name in lower case.
    Pane(String),
    /// Behind each other.
    Tabs {
        /// Which is in front, 0-based.
        front: usize,
        /// The panes behind each other.
        parts: Vec<Self>,
    },
    /// From left to right.
    Row {
        /// Shares of the width.
        shares: Vec<f64>,
        /// The panes from left to right.
        parts: Vec<Self>,
    },
    /// From top to bottom.
    Column {
        /// Shares of the height.
        shares: Vec<f64>,
        /// The panes from top to bottom.
        parts: Vec<Self>,
    },
}

/// A run of a project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProjectRun {
    /// Number of the run.
    pub number: u64,
    /// What somebody called it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What somebody noted about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Folder of the run, or the file of draws.
    pub path: PathBuf,
    /// The draft it was started from, which tells whether its results are of the present draft.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<Recipe>,
}

impl Project {
    /// An empty one.
    pub fn new() -> Self {
        Self {
            format: FORMAT,
            ..Self::default()
        }
    }

    /// Reads a file; all paths are then absolute.
    ///
    /// # Errors
    /// One sentence: it is not there, is no project, or is of another version.
    pub fn read(path: &Path) -> Result<Self, ExportError> {
        let text = ergodic_data::read_text(path)
            .map_err(|error| ExportError::at("The project cannot be read", error, path))?;
        let mut project: Self = toml::from_str(&text).map_err(|error| {
            let place = error.span().map_or(String::new(), |span| {
                let before = &text[..span.start.min(text.len())];
                format!(" on line {}", 1 + before.matches('\n').count())
            });
            let what = error.message().lines().collect::<Vec<_>>().join(", ");
            ExportError::Project {
                place,
                what: what.trim_end_matches('.').to_owned(),
                path: path.to_owned(),
            }
        })?;
        if project.format != FORMAT {
            return Err(ExportError::ProjectFormat(project.format, path.to_owned()));
        }
        let started = project
            .runs
            .iter_mut()
            .filter_map(|run| run.started.as_mut());
        for recipe in project.draft.iter_mut().chain(started) {
            recipe.use_words_of_today();
        }
        let folder = std::path::absolute(path).unwrap_or_else(|_bad| path.to_owned());
        let folder = folder.parent().unwrap_or(Path::new("")).to_owned();
        Ok(project.with_paths(|path| lexical(&folder.join(path))))
    }

    /// Writes a file, by a temporary name; its paths are relative where both share more than the root.
    ///
    /// # Errors
    /// The place cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), ExportError> {
        let what = "The project could not be saved";
        let failed = |error| ExportError::at(what, error, path);
        let absolute = std::path::absolute(path).map_err(failed)?;
        let folder = absolute.parent().unwrap_or(Path::new("/"));
        let relative = self.with_paths(|path| PathBuf::from(relative_to(folder, path)));
        let text = toml::to_string(&relative).map_err(|error| failed(io::Error::other(error)))?;
        let text = format!(
            "# A project of Ergodic: data, draft and runs. Results are in the run folders.\n\n{text}"
        );
        write_file(what, &absolute, |out| out.write_all(text.as_bytes()))
    }

    /// Whether nothing but the view differs.
    pub fn says_the_same_as(&self, other: &Self) -> bool {
        self.data == other.data && self.draft == other.draft && self.runs == other.runs
    }

    /// Whether run `index` was started from something else than the present draft.
    pub fn is_stale(&self, index: usize) -> bool {
        let started = self.runs.get(index).and_then(|run| run.started.as_ref());
        match (started, &self.draft) {
            (Some(started), Some(draft)) => !started.gives_the_same_results_as(draft),
            _ => false,
        }
    }

    /// The folder of run `index`, or why it is not there.
    ///
    /// # Errors
    /// One sentence with advice.
    pub fn folder(&self, index: usize) -> Result<RunFolder, ExportError> {
        let run = &self.runs[index];
        RunFolder::open(&run.path)
            .map_err(|error| ExportError::ProjectRun(run.number, Box::new(error)))
    }

    fn with_paths(&self, change: impl Fn(&Path) -> PathBuf) -> Self {
        let mut project = self.clone();
        let source = |data: &mut DataSection| {
            if !data.source.starts_with(SAMPLE_PREFIX) && !data.source.is_empty() {
                data.source = change(Path::new(&data.source)).display().to_string();
            }
        };
        let sections = project.data.iter_mut();
        sections.for_each(&source);
        project
            .draft
            .iter_mut()
            .for_each(|recipe| source(&mut recipe.data));
        for run in &mut project.runs {
            run.path = change(&run.path);
            run.started
                .iter_mut()
                .for_each(|recipe| source(&mut recipe.data));
        }
        project
    }
}

/// `path` without `.` and `..`, so that the same file has the same name.
fn lexical(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_can_be_moved_with_what_it_lists() {
        let folder = tempfile::tempdir().unwrap();
        let old = folder.path().join("old");
        std::fs::create_dir_all(old.join("work")).unwrap();
        let mut project = Project::new();
        let source = old.join("data.csv").display().to_string();
        let recipe = Recipe::new(&source, "logistic", "y ~ x");
        project.data = Some(recipe.data.clone());
        project.draft = Some(recipe.clone());
        project.runs.push(ProjectRun {
            number: 3,
            name: Some("pilot".to_owned()),
            note: None,
            path: old.join("work/runs/a-1"),
            started: Some(recipe),
        });
        let path = old.join("work/study.ergodic");
        project.write(&path).unwrap();
        assert_eq!(Project::read(&path).unwrap(), project);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("path = \"runs/a-1\""), "{text}");
        assert!(text.contains("source = \"../data.csv\""), "{text}");

        let new = folder.path().join("new");
        std::fs::rename(&old, &new).unwrap();
        let moved = Project::read(&new.join("work/study.ergodic")).unwrap();
        assert_eq!(moved.runs[0].path, new.join("work/runs/a-1"));
        let source = new.join("data.csv").display().to_string();
        assert_eq!(moved.data.unwrap().source, source);
    }

    #[test]
    fn what_is_no_project_is_refused_in_one_sentence() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.ergodic");
        let error = |text: &str| {
            std::fs::write(&path, text).unwrap();
            Project::read(&path).unwrap_err()
        };
        let other = error("format = 9\n");
        assert!(matches!(other, ExportError::ProjectFormat(9, _)), "{other}");
        let nonsense = error("format = 1\nnonsense = 2\n").to_string();
        assert!(nonsense.contains("line 2"), "{nonsense}");
        assert!(Project::read(&folder.path().join("none")).is_err());
    }
}
