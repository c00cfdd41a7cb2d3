//! Predictions of finished runs on threads of their own, and files of these and of likelihood fits.

use super::analysis::Analysis;
use std::path::PathBuf;

use super::entry::Prediction;
use super::from_draws::{FromDraws, find};
use super::state::AppState;
use super::tasks::Effects;
use ergodic_analysis::predict::picture::Picture;
use ergodic_analysis::predict::{PredictError, PredictOptions};
use ergodic_export::{likelihood as fit_files, predictions as files};

const QUESTION: FromDraws<Prediction> = FromDraws {
    kept: |entry| &mut entry.predicted,
    what: "Predicting the rows of",
    without_recipe: "Draws without a recipe have no rows to predict",
    cancelled: "The predictions were cancelled",
    earlier_stays: false,
};

/// Predicts the rows of a run, unless that is done or being done.
pub(super) fn predict(state: &mut AppState, id: u64, with_groups: bool, fx: &mut dyn Effects) {
    let Some(entry) = state.run_mut(id) else {
        return;
    };
    if entry.is_active() || entry.predictions(with_groups).is_some() {
        return;
    }
    if entry.predicted.working().is_some() && entry.predicts_with_groups == with_groups {
        return;
    }
    let options = PredictOptions {
        with_groups,
        ..PredictOptions::default()
    };
    entry.predicts_with_groups = with_groups;
    find(state, id, &QUESTION, fx, move |draws, control| {
        let fitted = draws.source.fitted(control)?;
        let predictions = fitted.predict(draws.lists, draws.weights, None, options, control)?;
        let picture = Picture::of(&predictions);
        let levels = (0..predictions.response.levels().len()).map(|place| {
            let picture = Picture::of_level(&predictions, place);
            let agreement = predictions.agreement(&picture);
            (picture, agreement)
        });
        let levels = levels.collect();
        Ok::<_, PredictError>(Prediction {
            agreement: predictions.agreement(&picture),
            levels,
            remarks: predictions.remarks(),
            predictions,
            picture,
            draws: draws.count,
        })
    });
}

/// Stops whatever predicts or answers for runs that are not shown.
pub(super) fn cancel_hidden(state: &mut AppState) {
    let shown = state
        .selected_run
        .filter(|_| state.page == super::Page::Runs);
    for entry in &mut state.runs {
        if Some(entry.id) != shown {
            for analysis in Analysis::OF_PANES {
                analysis.cancel(entry);
            }
        }
    }
}

/// Writes the predictions of a run.
pub(super) fn export(state: &mut AppState, id: u64, path: PathBuf, fx: &mut dyn Effects) {
    let done = state.run(id).and_then(|entry| entry.predicted.done());
    let Some(done) = done.cloned() else {
        state.refuse("There are no predictions to export yet");
        return;
    };
    state.begin_surely(
        fx,
        ("Exporting predictions", ""),
        move |_control| {
            let written = files::save(&done.predictions, &path);
            written.map(|()| format!("Exported to {}", path.display()))
        },
        |state, ended, _fx| state.say_ended(ended),
    );
}

/// Writes a likelihood fit into a new folder: that of a run, or of the draft.
pub(super) fn export_fit(
    state: &mut AppState,
    of: Option<u64>,
    folder: PathBuf,
    fx: &mut dyn Effects,
) {
    let done = match of {
        Some(id) => state.run(id).and_then(|entry| entry.fitting.done()),
        None => state.estimated.done(),
    };
    let Some(done) = done.cloned() else {
        state.refuse("There is no likelihood fit to export yet");
        return;
    };
    state.begin_surely(
        fx,
        ("Exporting a likelihood fit", ""),
        move |_control| {
            let written = fit_files::save(&done, &folder);
            written.map(|()| format!("Exported to {}", folder.display()))
        },
        |state, ended, _fx| state.say_ended(ended),
    );
}

#[cfg(test)]
mod tests {
    use crate::app::testing::Session;
    use crate::app::{Command, DataCommand, Page, Question, ViewCommand};

    #[test]
    fn nothing_is_predicted_for_a_run_that_is_not_shown() {
        let (mut session, id) = Session::with_run("churn");
        // A request that was overtaken says nothing, also where its work was done already.
        let work = session.begin(Question::Predict(id, true)).remove(0);
        let flag = session.state.runs[0].predicted.working().unwrap().flag();
        session.send(Command::GoTo(Page::Data));
        assert!(flag.load(std::sync::atomic::Ordering::Relaxed));
        assert!(session.state.runs[0].predicted.is_idle());
        session.end(work());
        assert!(session.state.runs[0].predicted.is_idle() && !session.state.is_busy());
        session.send(ViewCommand::SelectRun(id));
        session.send(Question::Predict(id, true));
        assert!(session.state.runs[0].predictions(true).is_some());
        assert!(session.state.runs[0].predictions(false).is_none());
        // A run read from its folder reads its data again and says the same.
        let folder = session.state.runs[0].place().unwrap().to_owned();
        session.send(DataCommand::Open(folder));
        let read = session.state.selected().unwrap().id;
        assert_ne!(read, id);
        session.send(Question::Predict(read, true));
        let rows = |session: &Session, id: u64| {
            let entry = session.state.run(id).unwrap();
            entry.predictions(true).unwrap().predictions.rows.clone()
        };
        assert_eq!(rows(&session, id), rows(&session, read));
    }
}
