//! Cross-validation without approximation: a model is fitted again without each of several parts of its rows, drawn at random, and every
//! row is scored by the fit that does not know it.

use std::path::Path;
use std::sync::Arc;

use super::{PredictionScores, ScoresError};
use crate::hold_out::HoldOut;
use crate::predict::Fitted;
use crate::{Job, JobError, Recipe, Run};
use ergodic_base::Control;
use ergodic_base::draws::DrawList;
use ergodic_base::names::listed;
use ergodic_base::numerals::duration;
use ergodic_core::engine::{RunView, Sampling as _};
use ergodic_data::Loaded;
use ergodic_diagnostics::Verdict;

/// Parts that are usual: with more, fits know nearly all rows, and there are more of them to make.
pub const USUAL: u32 = 10;
/// Fewest parts.
pub const FEWEST: u32 = 2;
/// Most parts.
pub const MOST: u32 = 1000;
/// Why a run has no folds that keeps rows out of its fit.
pub const HOLDS_OUT: &str =
    "The run keeps rows out of its fit already, and folds are parts of all rows";

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

/// Fits `recipe`, which stands in `folder`, again without each of `folds` parts of its rows, and scores each part by at most `most` draws
/// of the fit without it. `fit` runs the job of a part, which it is told the number of, to its end.
///
/// # Errors
/// Those of `fit`, and see [`Job::prepare`] and [`Fitted::scores`].
pub fn run<E: From<JobError> + From<ScoresError>>(
    (recipe, folder): (&Recipe, &Path),
    loaded: Option<&Arc<Loaded>>,
    (folds, most): (u32, usize),
    control: &Control,
    mut fit: impl FnMut(u32, Job, &Control) -> Result<Run, E>,
) -> Result<Folded, E> {
    control.enter("fitting again without folds of the rows");
    control.expect(u64::from(folds));
    let (mut verdicts, mut scored) = (Vec::new(), Vec::new());
    for number in 1..=folds {
        control.say(format!("fitting without fold {number} of {folds}"));
        // What the steps of a part say of themselves says nothing of all.
        let quiet = control.part();
        let job = job_without(recipe, folder, loaded.cloned(), (number, folds), &quiet)?;
        let run = fit(number, job, &quiet)?;
        let report = run.report();
        if report.verdict != Verdict::Good {
            verdicts.push((number, report.sentence.clone()));
        }
        scored.push(score(run.job(), &run.view(), most, &quiet)?);
        control.advance(1);
    }
    Ok(Folded {
        folds,
        scores: PredictionScores::joined(scored).ok_or(ScoresError::NoParts)?,
        remarks: remarks(&verdicts, folds),
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

/// The fit of `recipe`, which stands in `folder`, without part `number` of `of`. Which rows are in it depends on the data alone.
///
/// # Errors
/// See [`Job::prepare`].
pub fn job_without(
    recipe: &Recipe,
    folder: &Path,
    loaded: Option<Arc<Loaded>>,
    (number, of): (u32, u32),
    control: &Control,
) -> Result<Job, JobError> {
    let mut recipe = recipe.clone();
    recipe.model.hold_out = Some(HoldOut::Part { number, of });
    Job::prepare(&recipe, folder, loaded, control)
}

/// How long it takes to fit a run again `times` times that took `secs` seconds, in words that can stand alone.
pub fn time_of_fits(times: usize, secs: f64) -> String {
    let each = duration(secs);
    match times {
        1 => format!("One fit as long as this run: about {each}"),
        _ => format!(
            "{times} fits as long as this run, about {each} each: about {} in all",
            duration(secs * times as f64)
        ),
    }
}

/// Scores the rows that `job` keeps out by its draws, of which at most `most` are used.
///
/// # Errors
/// See [`Fitted::scores`].
pub fn score(
    job: &Job,
    view: &RunView,
    most: usize,
    control: &Control,
) -> Result<PredictionScores, ScoresError> {
    let draws: Vec<&DrawList> = view.usable().map(|chain| &chain.draws.draws).collect();
    let weights = view.weights(job.weight_column());
    Fitted::of(job)?.scores(&draws, &weights, None, most, control)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
