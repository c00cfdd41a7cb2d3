//! What the window writes to a place that a user names: each with a name for its file and with what writes it.

use std::path::PathBuf;

use super::draft_pictures::{self, DraftPicture};
use super::reporting::{self, Picture};
use super::state::AppState;
use super::tasks::{Effects, Pick};
use super::writing::{export_run, save_recipe};
use super::{predicting, project};

/// Name of the folder of a likelihood fit.
const FIT: &str = "likelihood-fit";

/// What can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Product {
    /// The project.
    Project,
    /// The draft as a recipe.
    Recipe,
    /// The likelihood fit of a run, or of the draft: a new folder.
    Fit(Option<u64>),
    /// Predictions of a run.
    Predictions(u64),
    /// Results of a run in a format.
    Results(u64, &'static str),
    /// A report of a run in a format.
    Report(u64, &'static str),
    /// A picture of a run; the ending of the file's name says how.
    Picture(u64, Picture),
    /// A picture of what is found of the draft; the ending of the file's name says how.
    DraftPicture(DraftPicture),
}

impl Product {
    /// What a dialog that asks where to write it is called.
    pub fn title(self) -> &'static str {
        match self {
            Self::Project => "Save the project",
            Self::Recipe => "Save the draft as a recipe",
            Self::Fit(_) => "Export the likelihood fit into a new folder",
            Self::Predictions(_) => "Export the predictions",
            Self::Results(..) => "Export",
            Self::Report(..) => "Save a report",
            Self::Picture(..) | Self::DraftPicture(_) => "Save a picture",
        }
    }

    /// A name for its file; `None` where there is no such run or format.
    pub fn file_name(self, state: &AppState) -> Option<String> {
        let of_run = |id, rest: &str| {
            let entry = state.run(id)?;
            Some(format!("run-{}-{rest}", entry.number))
        };
        match self {
            Self::Project => Some(project::proposed_name(state)),
            Self::Recipe => Some("recipe.toml".to_owned()),
            Self::Fit(None) => Some(FIT.to_owned()),
            Self::Fit(Some(id)) => of_run(id, FIT),
            Self::Predictions(id) => of_run(id, ergodic_export::predictions::FILE),
            Self::Results(id, format) => of_run(id, ergodic_export::find(format).ok()?.file_name),
            Self::Report(id, format) => {
                of_run(id, ergodic_report::report::find(format).ok()?.file_name)
            }
            Self::Picture(id, picture) => of_run(id, &format!("{}.svg", picture.figure)),
            Self::DraftPicture(picture) => Some(picture.file_name().to_owned()),
        }
    }

    /// Asks for a place by the system's dialog.
    pub(super) fn pick(self, state: &AppState, fx: &mut dyn Effects) {
        if let Some(name) = self.file_name(state) {
            fx.pick(Pick::Save(self, name));
        }
    }

    /// Writes it.
    pub(super) fn write(self, state: &mut AppState, path: PathBuf, fx: &mut dyn Effects) {
        match self {
            Self::Project => project::save_as(state, &path, fx),
            Self::Recipe => save_recipe(state, &path, fx),
            Self::Fit(of) => predicting::export_fit(state, of, path, fx),
            Self::Predictions(id) => predicting::export(state, id, path, fx),
            Self::Results(id, format) => export_run(state, id, format, path, fx),
            Self::Report(id, format) => reporting::save_report(state, (id, format), path, fx),
            Self::Picture(id, picture) => reporting::save_picture(state, (id, picture), path, fx),
            Self::DraftPicture(picture) => draft_pictures::save(state, picture, &path),
        }
    }
}
