//! Pictures of what is found before a run.

use std::path::Path;

use super::state::AppState;
use ergodic_report::{
    Figure, ReportError, calibration_ranks, density_overlay, group_intervals, outcomes_of_priors,
    save_figure,
};

/// A picture of what is found of a draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DraftPicture {
    /// What its priors expect, or the one being typed.
    Priors,
    /// Ranks of true values in simulations.
    Ranks,
    /// Effects of groups by likelihood.
    Groups,
    /// Densities by the samplers that were compared.
    Densities,
}

impl DraftPicture {
    /// Name for its file.
    pub fn file_name(self) -> &'static str {
        match self {
            Self::Priors => "priors.svg",
            Self::Ranks => "calibration-ranks.svg",
            Self::Groups => "likelihood-groups.svg",
            Self::Densities => "densities.svg",
        }
    }

    /// The picture, or why it cannot be drawn; `None` where nothing has been found yet.
    fn figure(self, state: &AppState) -> Option<Result<Figure, ReportError>> {
        match self {
            Self::Priors => {
                let typed = state.preview.as_ref();
                let typed = typed.and_then(|preview| preview.expected.as_deref());
                let checked = state.check.as_deref();
                let checked = checked.and_then(|check| check.expected.as_ref()?.as_ref().ok());
                typed.or(checked).map(|it| Ok(outcomes_of_priors(it)))
            }
            Self::Ranks => {
                let done = state.calibrated.done()?;
                Some(calibration_ranks(&done.calibration))
            }
            Self::Groups => group_intervals(&state.estimated.done()?.fit).map(Ok),
            Self::Densities => {
                let comparison = state.comparison.as_ref()?;
                let facts = comparison.facts.as_ref()?;
                Some(density_overlay(
                    &comparison.rows(),
                    &facts.names,
                    facts.scale,
                ))
            }
        }
    }
}

/// Saves a picture; the ending of the file's name says how.
pub(super) fn save(state: &mut AppState, picture: DraftPicture, path: &Path) {
    let Some(figure) = picture.figure(state) else {
        state.refuse("There is nothing to draw yet");
        return;
    };
    match figure.and_then(|figure| save_figure(&figure, path)) {
        Ok(_caption) => state.say(format!("Saved as {}", path.display()), false),
        Err(error) => state.say(error.to_string(), true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::Session;
    use crate::app::{PathCommand, Pick, Product};

    #[test]
    fn what_is_found_before_a_run_is_saved_as_a_picture() {
        let mut session = Session::with_draft("churn");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("priors.csv");
        let priors = Product::DraftPicture(DraftPicture::Priors);
        session.send(PathCommand::Pick(priors));
        let asked = Pick::Save(priors, "priors.svg".to_owned());
        assert_eq!(session.fx.picks.pop(), Some(asked));
        session.send(PathCommand::Write(priors, path.clone()));
        let table = std::fs::read_to_string(&path).unwrap();
        for series in [",prior,", ",data,"] {
            assert!(table.contains(series), "{table}");
        }
        // Nothing was simulated, fitted or compared yet.
        for picture in [
            DraftPicture::Ranks,
            DraftPicture::Groups,
            DraftPicture::Densities,
        ] {
            let path = folder.path().join(picture.file_name());
            session.send(PathCommand::Write(
                Product::DraftPicture(picture),
                path.clone(),
            ));
            assert!(!path.exists());
        }
    }
}
