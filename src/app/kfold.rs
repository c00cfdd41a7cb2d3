//! Exact K-fold cross-validation of finished runs, as `ergodic score --folds` makes it, on a thread of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::entry::{RunEntry, Saved};
use super::scoring;
use super::state::AppState;
use super::tasks::Effects;
use ergodic_analysis::bias_check::finished;
use ergodic_analysis::job;
use ergodic_analysis::predict::scores::{PredictionScores, folds};
use ergodic_base::control::Control;
use ergodic_base::names::listed;
use ergodic_data::load::Loaded;
use ergodic_diagnostics::Verdict;
use ergodic_export::RunFolder;

/// Scores of all rows of a run, each by a fit without the part that it is in.
#[derive(Debug)]
pub struct Folded {
    /// How many parts there are.
    pub folds: u32,
    /// The scores.
    pub scores: PredictionScores,
    /// What is wrong with the draws of some of the fits: one sentence each.
    pub remarks: Vec<String>,
}

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

/// Fits a run again without each of so many parts of its rows, unless that is being done.
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
        move |control| folded(&place, open, parts, control).map(Arc::new),
        (id, |entry| &mut entry.folded),
    );
}

/// Fits the run in the folder `place` again without each of so many parts, as the command line does: its recipe holds every choice.
///
/// # Errors
/// One sentence why there are no scores.
fn folded(
    place: &Path,
    open: Option<Arc<Loaded>>,
    parts: u32,
    control: &Control,
) -> Result<Folded, String> {
    let folder = RunFolder::open(place).map_err(|error| error.to_string())?;
    let recipe = folder.recipe().map_err(|error| error.to_string())?;
    let loaded = match open {
        Some(open) => open,
        None => job::load_data(&recipe, folder.path(), control)
            .map(Arc::new)
            .map_err(|error| error.to_string())?,
    };
    control.enter("fitting again without folds of the rows");
    control.expect(u64::from(parts));
    let mut verdicts = Vec::new();
    let mut scored = Vec::new();
    for number in 1..=parts {
        control.say(format!("fitting without fold {number} of {parts}"));
        // What the steps of a part say of themselves says nothing of all.
        let quiet = control.part();
        let (loaded, of) = (Some(Arc::clone(&loaded)), (number, parts));
        let job = folds::job_without(&recipe, folder.path(), loaded, of, &quiet);
        let run = job.and_then(|job| finished(job, &quiet));
        let run = run.map_err(|error| error.to_string())?;
        let report = run.report();
        if report.verdict != Verdict::Good {
            verdicts.push((number, report.sentence.clone()));
        }
        let scores = folds::score(run.job(), &run.view(), usize::MAX, &quiet);
        scored.push(scores.map_err(|error| error.to_string())?);
        control.advance(1);
    }
    let scores = PredictionScores::joined(scored).ok_or("There are no parts to score")?;
    Ok(Folded {
        folds: parts,
        scores,
        remarks: remarks(&verdicts, parts),
    })
}

/// Sentences on fits by their numbers, of `of` in all, each with all fits that it is said of.
fn remarks(verdicts: &[(u32, String)], of: u32) -> Vec<String> {
    let mut said: Vec<(&str, Vec<u32>)> = Vec::new();
    for (number, sentence) in verdicts {
        match said.iter_mut().find(|(known, _)| known == sentence) {
            Some((_, numbers)) => numbers.push(*number),
            None => said.push((sentence, vec![*number])),
        }
    }
    let all = said.into_iter().map(|(sentence, numbers)| {
        let folds = match numbers.as_slice() {
            [one] => format!("Fold {one}"),
            all if all.len() as u32 == of => format!("All {of} folds"),
            some => {
                let some = some.iter().map(ToString::to_string);
                format!("Folds {}", listed(some, usize::MAX))
            }
        };
        format!("{folds}: {sentence}")
    });
    all.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::Session;
    use crate::app::{Analysis, Command, DraftChange};
    use ergodic_analysis::hold_out::HoldOut;

    #[test]
    fn what_is_said_of_several_fits_is_said_once() {
        let said = |of: u32, verdicts: &[(u32, &str)]| {
            let owned = verdicts.iter().map(|(k, text)| (*k, (*text).to_owned()));
            remarks(&owned.collect::<Vec<_>>(), of)
        };
        assert_eq!(said(2, &[(1, "few"), (2, "few")]), ["All 2 folds: few"]);
        assert_eq!(
            said(4, &[(1, "few"), (2, "bad"), (4, "few")]),
            ["Folds 1 and 4: few", "Fold 2: bad"]
        );
        assert!(said(3, &[]).is_empty());
    }

    #[test]
    fn every_row_is_scored_once_and_cancelling_keeps_nothing() {
        let mut session = Session::with_draft("churn");
        session.run(2, 60, 60);
        let id = session.state.runs[0].id;
        let work = session.begin(Command::ScoreInFolds(id, 2)).remove(0);
        session.send(Command::CancelAnalysis(id, Analysis::Folds));
        session.end(work());
        assert!(session.state.runs[0].folded.is_idle());
        session.send(Command::ScoreInFolds(id, 3));
        let done = session.state.runs[0].folded.done().unwrap();
        assert_eq!((done.folds, done.scores.rows.len()), (3, 1000));
        assert!(done.scores.elpd().se > 0.0);
        // More draws make the scores old.
        session.send(Command::AddDraws(id, 20));
        assert!(session.state.runs[0].folded.is_idle());
        session.wait_for_runs();
    }

    #[test]
    fn a_run_that_keeps_rows_out_has_no_folds() {
        let mut session = Session::with_draft("churn");
        let kept_out = HoldOut::Share(0.2);
        session.send(Command::Draft(DraftChange::HoldOut(Some(kept_out))));
        session.run(1, 20, 20);
        assert_eq!(refusal(&session.state.runs[0]), Some(folds::HOLDS_OUT));
        let id = session.state.runs[0].id;
        assert!(session.begin(Command::ScoreInFolds(id, 3)).is_empty());
    }
}
