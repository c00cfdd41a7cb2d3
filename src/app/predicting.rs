//! Predictions of finished runs, and their likelihood fits, on threads of their own.

use std::path::PathBuf;
use std::sync::Arc;

use super::correcting::{Source, source};
use super::entry::{Fitting, Predicted, Prediction, RunEntry};
use super::state::AppState;
use super::tasks::{Effects, Outcome};
use ergodic_analysis::likelihood::{LikelihoodControl, LikelihoodFit, LikelihoodOptions, fit};
use ergodic_analysis::predict::picture::Picture;
use ergodic_analysis::predict::{Fitted, PredictControl, PredictOptions};
use ergodic_base::draws::DrawList;
use ergodic_core::samplers::weight_column;
use ergodic_export::{likelihood as fit_files, predictions as files};

/// Draws of all chains: predictions of fewer are old.
pub(super) fn draws_of(entry: &RunEntry) -> usize {
    entry.view().map_or(0, |view| {
        view.chains.iter().map(|c| c.draws.draws.len()).sum()
    })
}

/// Predicts the rows of a run, unless that is done or being done.
pub(super) fn predict(state: &mut AppState, id: u64, with_groups: bool, fx: &mut dyn Effects) {
    let Some(entry) = state.run_mut(id) else {
        return;
    };
    if entry.is_active() || entry.predictions(with_groups).is_some() {
        return;
    }
    if matches!(&entry.predicted, Predicted::Working(wanted, _) if *wanted == with_groups) {
        return;
    }
    cancel(entry);
    let (Some(source), Some(view)) = (source(entry), entry.view()) else {
        let why = "Draws without a recipe have no rows to predict";
        entry.predicted = Predicted::Refused(why.to_owned());
        return;
    };
    let draws = draws_of(entry);
    let weights = view.weights(weight_column(&entry.info_names()));
    let control = Arc::new(PredictControl::default());
    entry.predicted = Predicted::Working(with_groups, Arc::clone(&control));
    let options = PredictOptions {
        with_groups,
        ..PredictOptions::default()
    };
    fx.spawn(
        "predictions",
        Box::new(move || {
            let fitted = match source {
                Source::Job(job) => Fitted::of(&job),
                Source::Recipe(recipe, folder) => Fitted::open(&recipe, &folder, &control),
            };
            let result = fitted.and_then(|fitted| {
                let lists: Vec<&DrawList> = view.usable().map(|c| &c.draws.draws).collect();
                fitted.predict(&lists, &weights, None, options, &control)
            });
            let result = result.map(|predictions| {
                let picture = Picture::of(&predictions);
                Box::new(Prediction {
                    agreement: predictions.agreement(&picture),
                    remarks: predictions.remarks(),
                    predictions,
                    picture,
                    draws,
                })
            });
            Outcome::Predicted {
                run: id,
                control,
                result: result.map_err(|error| error.to_string()),
            }
        }),
    );
}

/// Stops predicting; predictions that are there stay.
pub(super) fn cancel(entry: &mut RunEntry) {
    if let Predicted::Working(_, control) = &entry.predicted {
        control.cancel();
        entry.predicted = Predicted::No;
    }
}

/// Stops whatever predicts for runs that are not shown.
pub(super) fn cancel_hidden(state: &mut AppState) {
    let shown = state
        .selected_run
        .filter(|_| state.page == super::Page::Runs);
    for entry in &mut state.runs {
        if Some(entry.id) != shown {
            cancel(entry);
        }
    }
}

pub(super) fn predicted(
    state: &mut AppState,
    id: u64,
    control: &Arc<PredictControl>,
    result: Result<Box<Prediction>, String>,
) {
    let Some(entry) = state.run_mut(id) else {
        return;
    };
    let mine =
        matches!(&entry.predicted, Predicted::Working(_, mine) if Arc::ptr_eq(mine, control));
    if mine {
        entry.predicted = match result {
            Ok(done) => Predicted::Done(Arc::from(done)),
            Err(why) => Predicted::Refused(why),
        };
    }
}

/// Writes the predictions of a run.
pub(super) fn export(state: &mut AppState, id: u64, path: PathBuf, fx: &mut dyn Effects) {
    let done = state.run(id).map(|entry| &entry.predicted);
    let Some(Predicted::Done(done)) = done else {
        state.refuse("There are no predictions to export yet");
        return;
    };
    let done = Arc::clone(done);
    fx.spawn(
        "export-predictions",
        Box::new(move || {
            let written = files::save(&done.predictions, &path);
            let said = written.map(|()| format!("Exported to {}", path.display()));
            Outcome::Written(said.map_err(|error| error.to_string()))
        }),
    );
}

/// Fits the data and formula of a run by likelihood.
pub(super) fn estimate(state: &mut AppState, id: u64, fx: &mut dyn Effects) {
    let open = state.data.as_ref().map(|data| Arc::clone(&data.loaded));
    let Some(entry) = state.run_mut(id) else {
        return;
    };
    cancel_fit(entry);
    let fingerprint = entry.data_fingerprint();
    let open = open.filter(|open| Some(open.table.fingerprint()) == fingerprint);
    let Some((recipe, folder)) = source(entry).map(|source| match source {
        Source::Job(job) => (Box::new(job.recipe.clone()), PathBuf::new()),
        Source::Recipe(recipe, folder) => (recipe, folder),
    }) else {
        entry.fitting = Fitting::Refused("Draws without a recipe have no data to fit".to_owned());
        return;
    };
    let control = Arc::new(LikelihoodControl::default());
    entry.fitting = Fitting::Working(Arc::clone(&control));
    fx.spawn(
        "likelihood",
        Box::new(move || {
            let options = LikelihoodOptions::of(&recipe);
            let result = fit(&recipe, &folder, open.as_deref(), &options, &control);
            Outcome::RunEstimated {
                run: id,
                control,
                result: result.map(Box::new).map_err(|error| error.to_string()),
            }
        }),
    );
}

pub(super) fn cancel_fit(entry: &mut RunEntry) {
    if let Fitting::Working(control) = &entry.fitting {
        control.cancel();
        entry.fitting = Fitting::No;
    }
}

pub(super) fn estimated(
    state: &mut AppState,
    id: u64,
    control: &Arc<LikelihoodControl>,
    result: Result<Box<LikelihoodFit>, String>,
) {
    let Some(entry) = state.run_mut(id) else {
        return;
    };
    let mine = matches!(&entry.fitting, Fitting::Working(mine) if Arc::ptr_eq(mine, control));
    if mine {
        entry.fitting = match result {
            Ok(done) => Fitting::Done(Arc::from(done)),
            Err(why) => Fitting::Refused(why),
        };
    }
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
        None => state.estimated.as_ref(),
    };
    let Some(done) = done.cloned() else {
        state.refuse("There is no likelihood fit to export yet");
        return;
    };
    fx.spawn(
        "export-fit",
        Box::new(move || {
            let written = fit_files::save(&done, &folder);
            let said = written.map(|()| format!("Exported to {}", folder.display()));
            Outcome::Written(said.map_err(|error| error.to_string()))
        }),
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::Session;
    use crate::app::{Command, Page};
    use ergodic_core::engine::run_section::RunSection;

    #[test]
    fn nothing_is_predicted_for_a_run_that_is_not_shown() {
        let mut session = Session::with_draft("churn");
        session.send(Command::SetRun(RunSection {
            chains: 1,
            warmup: Some(20),
            draws: 30,
            ..RunSection::default()
        }));
        session.send(Command::StartRun);
        session.wait_for_runs();
        let id = session.state.runs[0].id;
        let working = |session: &mut Session| {
            let control = Arc::new(PredictControl::default());
            session.state.runs[0].predicted = Predicted::Working(true, Arc::clone(&control));
            control
        };
        let control = working(&mut session);
        session.send(Command::GoTo(Page::Data));
        assert!(control.is_cancelled() && matches!(session.state.runs[0].predicted, Predicted::No));
        // A result that was overtaken says nothing.
        let late = Err("late".to_owned());
        predicted(&mut session.state, id, &control, late);
        assert!(matches!(session.state.runs[0].predicted, Predicted::No));
        session.send(Command::SelectRun(id));
        session.send(Command::Predict(id, true));
        assert!(session.state.runs[0].predictions(true).is_some());
        assert!(session.state.runs[0].predictions(false).is_none());
        // A run read from its folder reads its data again and says the same.
        let folder = session.state.runs[0].place().unwrap().to_owned();
        session.send(Command::Open(folder));
        let read = session.state.selected().unwrap().id;
        assert_ne!(read, id);
        session.send(Command::Predict(read, true));
        let rows = |session: &Session, id: u64| {
            let entry = session.state.run(id).unwrap();
            entry.predictions(true).unwrap().predictions.rows.clone()
        };
        assert_eq!(rows(&session, id), rows(&session, read));
    }
}
