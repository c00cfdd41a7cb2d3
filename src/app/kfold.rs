//! Exact K-fold cross-validation of finished runs, as `ergodic score --folds` makes it, on a thread of its own.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::entry::{RunEntry, Saved};
use super::scoring;
use super::state::AppState;
use super::tasks::Effects;
use ergodic_analysis::bias_check::finished;
use ergodic_analysis::job;
use ergodic_analysis::predict::scores::folds::{self, Folded};
use ergodic_base::Control;
use ergodic_data::Loaded;
use ergodic_export::RunFolder;

/// The folder of a run whose recipe is fitted again.
fn folder_of(entry: &RunEntry) -> Option<PathBuf> {
    match &entry.saved {
        Saved::At(folder) => Some(folder.clone()),
        _ => None,
    }
}

/// Why a run cannot be fitted again without parts of its rows now, if so.
pub fn refusal(entry: &RunEntry) -> Option<&'static str> {
    if let Some(why) = scoring::refusal(entry) {
        Some(why)
    } else if entry.holds_out() {
        Some(folds::HOLDS_OUT)
    } else if folder_of(entry).is_none() {
        Some("The fits are made from the recipe in the run's folder, and the run is not saved yet")
    } else {
        None
    }
}

/// Fits a run again without each of `parts` parts of its rows, unless that is being done.
pub(super) fn score(state: &mut AppState, id: u64, parts: u32, fx: &mut dyn Effects) {
    let open = state.data.as_ref().map(|data| Arc::clone(&data.loaded));
    let Some(entry) = state.run(id) else { return };
    if entry.folded.working().is_some() {
        return;
    }
    if let Some(why) = refusal(entry) {
        state.refuse(why);
        return;
    }
    let (title, Some(place)) = (entry.title(), folder_of(entry)) else {
        return;
    };
    let fingerprint = entry.data_fingerprint();
    let open = open.filter(|open| Some(open.table.fingerprint()) == fingerprint);
    let parts = parts.clamp(folds::FEWEST, folds::MOST);
    state.begin_of(
        fx,
        ("Cross-validating", &title),
        move |control| {
            let folded = folded(&place, open, parts, control);
            folded.map(Arc::new).map_err(|error| error.to_string())
        },
        (id, |entry| &mut entry.folded),
    );
}

/// Fits the run in the folder `place` again without each of `parts` parts, as the command line does: its recipe holds every choice.
fn folded(
    place: &Path,
    open: Option<Arc<Loaded>>,
    parts: u32,
    control: &Control,
) -> Result<Folded, Box<dyn Error>> {
    let folder = RunFolder::open(place)?;
    let recipe = folder.recipe()?;
    let loaded = match open {
        Some(open) => open,
        None => Arc::new(job::load_data(&recipe, folder.path(), control)?),
    };
    let (of, parts) = ((&recipe, folder.path()), (parts, usize::MAX));
    folds::run(of, Some(&loaded), parts, control, |_number, job, quiet| {
        Ok(finished(job, quiet)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::Session;
    use crate::app::{Analysis, DraftChange, Question, RunCommand};
    use ergodic_analysis::hold_out::HoldOut;

    #[test]
    fn every_row_is_scored_once_and_cancelling_keeps_nothing() {
        let mut session = Session::with_draft("churn");
        session.run(2, 60, 60);
        let id = session.state.runs[0].id;
        let work = session.begin(Question::ScoreInFolds(id, 2)).remove(0);
        session.send(Question::Cancel(id, Analysis::Folds));
        session.end(work());
        assert!(session.state.runs[0].folded.is_idle());
        session.send(Question::ScoreInFolds(id, 3));
        let done = session.state.runs[0].folded.done().unwrap();
        assert_eq!((done.folds, done.scores.rows.len()), (3, 1000));
        assert!(done.scores.elpd().se > 0.0);
        // More draws make the scores old.
        session.send(RunCommand::AddDraws(id, 20));
        assert!(session.state.runs[0].folded.is_idle());
        session.wait_for_runs();
    }

    #[test]
    fn a_run_that_keeps_rows_out_has_no_folds() {
        let mut session = Session::with_draft("churn");
        let kept_out = HoldOut::Share(0.2);
        session.send(DraftChange::HoldOut(Some(kept_out)));
        session.run(1, 20, 20);
        assert_eq!(refusal(&session.state.runs[0]), Some(folds::HOLDS_OUT));
        let id = session.state.runs[0].id;
        assert!(session.begin(Question::ScoreInFolds(id, 3)).is_empty());
    }
}
