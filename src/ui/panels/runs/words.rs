//! Words and verdicts that several parts of the runs page share.

use std::sync::Arc;

use crate::app::entry::{RunPhase, Saved};
use crate::app::{AppState, RunEntry};
use crate::ui::theme::VerdictKind;
use crate::ui::widgets::{Progress, number};
use ergodic_analysis::predict::scores::folds;
use ergodic_analysis::{Recipe, Run, bias_check};
use ergodic_core::engine::{
    ChainView, Report, RunState, RunView, Sampling as _, StopReason, Warmup,
};
use ergodic_diagnostics::{Missing, SummaryRow, Verdict};

/// How a verdict is shown.
pub fn kind_of(verdict: Verdict) -> VerdictKind {
    match verdict {
        Verdict::Good => VerdictKind::Good,
        Verdict::Watch => VerdictKind::Watch,
        Verdict::Bad => VerdictKind::Bad,
        Verdict::TooEarly => VerdictKind::TooEarly,
        Verdict::NotCertified => VerdictKind::NotCertified,
    }
}

/// The verdict of a run as its badge and its row in the tree show it.
pub fn run_kind(entry: &RunEntry) -> VerdictKind {
    match (&entry.phase, entry.report()) {
        (RunPhase::Refused(_), _) => VerdictKind::Bad,
        (_, Some(report)) => kind_of(report.verdict),
        _ => VerdictKind::TooEarly,
    }
}

/// The verdict on one row of the summary, by the criterion of the run's own verdict.
pub fn row_kind(entry: &RunEntry, report: &Report, row: &SummaryRow, index: usize) -> VerdictKind {
    if matches!(row.missing, Some(Missing::NotFinite | Missing::Weights))
        || row.rhat.is_some_and(f64::is_infinite)
    {
        return VerdictKind::Bad;
    }
    if report.draws_per_chain < report.limits.least_draws() {
        return VerdictKind::TooEarly;
    }
    match report.limits.verdict(row) {
        Verdict::Good => {}
        // While draws come, what is not there yet is not bad.
        _ if entry.is_active() => return VerdictKind::Watch,
        verdict => return kind_of(verdict),
    }
    let biased = entry.sampler().is_some_and(|spec| spec.bias.is_some());
    if !biased {
        return VerdictKind::Good;
    }
    let checked = report
        .bias
        .as_ref()
        .and_then(|bias| bias.rows.get(index))
        .map(|row| row.verdict);
    match checked {
        None => VerdictKind::MixingOnly,
        Some(Verdict::Good) => VerdictKind::Good,
        Some(Verdict::TooEarly) => VerdictKind::TooEarly,
        // What the check could not tell is not certified either.
        Some(_) => VerdictKind::NotCertified,
    }
}

/// Iteration at which the warm-up of each chain ends: where it ended if the chain draws, where it is to end before.
pub fn warmup_ends(entry: &RunEntry, view: &RunView) -> Vec<u64> {
    let planned = planned_warmup(entry);
    view.chains
        .iter()
        .map(|chain| {
            let made = chain.draws.warmup.len() as u64;
            if chain.draws.draws.is_empty() {
                planned.max(made)
            } else {
                made
            }
        })
        .collect()
}

/// What to know about the first iteration of plots, where the warm-up before it is gone: run folders keep none.
pub fn warmup_remark(view: &RunView) -> Option<String> {
    let gone = |chain: &ChainView| {
        let made = chain.warmup_end?;
        (made > 0 && chain.draws.warmup.is_empty()).then_some(made)
    };
    let made = view.chains.iter().filter_map(gone).max()?;
    let made = number::integer(made);
    Some(format!(
        "starts after {made} iterations of warm-up, which run folders do not keep"
    ))
}

/// Iterations of warm-up that a run is to make per chain.
fn planned_warmup(entry: &RunEntry) -> u64 {
    entry.job().map_or(0, |job| match job.warmup() {
        Warmup::Fixed(length) => length,
        Warmup::UntilReady { max } => max,
    })
}

/// Iterations of warm-up per chain: those made once all chains draw, those planned before, also where the run ended before.
pub fn warmup_iterations(entry: &RunEntry, view: &RunView) -> u64 {
    let made = view
        .chains
        .iter()
        .map(|chain| chain.draws.warmup.len() as u64)
        .max()
        .unwrap_or(0);
    let drawing = view
        .chains
        .iter()
        .any(|chain| !chain.draws.draws.is_empty());
    if drawing || (view.is_finished() && !ended_in_warmup(view)) {
        made
    } else {
        planned_warmup(entry).max(made)
    }
}

/// Draws that each chain is to keep.
pub fn draws_wanted(entry: &RunEntry, view: &RunView) -> u64 {
    match entry.run() {
        Some(run) => (0..view.chains.len())
            .map(|chain| run.draws_wanted(chain))
            .max()
            .unwrap_or(0),
        None => view.draws_per_chain() as u64,
    }
}

/// How far a run is.
pub fn progress(entry: &RunEntry, view: &RunView) -> Progress {
    if view.is_finished() {
        // What has ended is one line: how long its warm-up was is no news. What ended before its first draw shows how far it
        // came.
        if !ended_in_warmup(view) {
            return Progress {
                warmup: 0.0,
                done: 1.0,
            };
        }
    }
    let warmup = warmup_iterations(entry, view) as f32;
    let all = (warmup + draws_wanted(entry, view) as f32).max(1.0);
    let iterations: u64 = view
        .usable()
        .map(|chain| (chain.draws.warmup.len() + chain.draws.draws.len()) as u64)
        .sum();
    let chains = view.usable().count().max(1);
    Progress {
        warmup: warmup / all,
        done: (iterations as f32 / chains as f32 / all).min(1.0),
    }
}

/// Seconds that all parts of a run took together: the clock of one that was continued counts its last part alone.
pub fn took(view: &RunView) -> f64 {
    let chains = view.chains.iter();
    let parts = chains.map(|chain| chain.warmup_secs + chain.draw_secs);
    parts.fold(view.elapsed_secs, f64::max)
}

/// Whether no chain has made a draw yet.
pub fn is_before_draws(view: &RunView) -> bool {
    let mut chains = view.chains.iter();
    chains.all(|chain| chain.draws.draws.is_empty())
}

/// Whether the run ended during its warm-up, because somebody or the time limit stopped it.
pub fn ended_in_warmup(view: &RunView) -> bool {
    let stopped = matches!(
        view.state,
        RunState::Finished(StopReason::User | StopReason::Time | StopReason::CutShort)
    );
    stopped && is_before_draws(view)
}

/// Seconds that the control run of a bias check still takes, if it goes on as before.
pub fn control_left(entry: &RunEntry) -> Option<f64> {
    let done = f64::from(control_progress(entry)?);
    let elapsed = entry.control.as_ref()?.view().elapsed_secs;
    (done > 0.02).then(|| elapsed * (1.0 - done) / done)
}

/// The exact sampler that a bias check runs.
pub fn control(entry: &RunEntry) -> &'static str {
    let job = entry.job();
    job.map_or("an exact sampler", |job| bias_check::control_title(job))
}

/// What a bias check will cost; empty where that is not known.
pub fn check_cost(entry: &RunEntry) -> String {
    let view = entry.view();
    let job = entry.job();
    job.map_or_else(String::new, |job| bias_check::cost(job, view.as_deref()))
}

/// [`check_cost`] between brackets after the name of the control, or nothing.
pub fn check_cost_in_brackets(entry: &RunEntry) -> String {
    match check_cost(entry) {
        cost if cost.is_empty() => cost,
        cost => format!(" ({cost})"),
    }
}

/// How long it takes to fit the run again `times` times.
pub fn time_of_fits(entry: &RunEntry, times: usize) -> String {
    let secs = entry.view().map_or(f64::NAN, |view| view.elapsed_secs);
    folds::time_of_fits(times, secs)
}

/// Progress of the control run of a bias check, 0 to 1.
pub fn control_progress(entry: &RunEntry) -> Option<f32> {
    let control = entry.control.as_ref()?;
    let view = control.view();
    let job = control.job();
    let warmup = match job.warmup() {
        Warmup::Fixed(length) => length,
        Warmup::UntilReady { max } => max,
    };
    let all = (warmup + job.recipe.run.draws).max(1) as f32;
    let least = view
        .chains
        .iter()
        .map(|chain| chain.draws.warmup.len() + chain.draws.draws.len())
        .min()
        .unwrap_or(0);
    Some((least as f32 / all).min(1.0))
}

/// Why the results of a run are of something else than the draft, if they are. A run that could not be started, or that ended before
/// its first draw, has none.
pub fn stale_reason(state: &AppState, entry: &RunEntry) -> Option<&'static str> {
    let has_none = |view: Arc<RunView>| view.is_finished() && is_before_draws(&view);
    if matches!(entry.phase, RunPhase::Refused(_)) || entry.view().is_some_and(has_none) {
        return None;
    }
    let draft = &state.document.as_ref()?.recipe;
    let mine = entry.recipe.as_ref()?;
    let open = (state.data.as_ref()).map(|data| data.loaded.table.fingerprint());
    let same_data = open.is_some() && open == entry.data_fingerprint();
    if let (Some(data), Some(_)) = (&state.data, entry.data_fingerprint())
        && data.source == mine.data.source
        && !same_data
    {
        return Some("the data file has changed since");
    }
    // Recipes in run folders have filled in what drafts leave to defaults, and say otherwise where the data are.
    let completed = (state.check.as_ref()).filter(|_| state.checking.is_none());
    let completed = completed.and_then(|check| check.completed.as_ref());
    let is_of = |recipe: &Recipe| match same_data {
        true => mine.has_the_model_of(recipe),
        false => mine.gives_the_same_results_as(recipe),
    };
    if is_of(draft) || completed.is_some_and(is_of) {
        return None;
    }
    Some(if !same_data && mine.data.source != draft.data.source {
        "other data are open now"
    } else if !same_data && mine.data.import != draft.data.import {
        "the data were read differently"
    } else if mine.data.storage != draft.data.storage {
        "rows were stored in another precision"
    } else if mine.model != draft.model && completed.is_none_or(|it| mine.model != it.model) {
        "the model was changed since"
    } else {
        "the priors were changed since"
    })
}

/// The command line that makes the same run, and whether it names a file that is there.
pub fn command_line(entry: &RunEntry) -> (String, bool) {
    match &entry.saved {
        Saved::At(folder) if entry.recipe.is_some() => {
            let path = folder.join("recipe.toml").display().to_string();
            let path = if path.contains(' ') {
                format!("\"{path}\"")
            } else {
                path
            };
            (format!("ergodic fit {path}"), true)
        }
        _ => ("ergodic fit recipe.toml".to_owned(), false),
    }
}

/// When a run that goes on will end, in words; each of its chains is to keep `draws`.
pub fn stop_rule(run: &Run, draws: u64) -> String {
    let section = &run.job().recipe.run;
    let mut rules = Vec::new();
    if section.draws_of_chains.is_none() {
        if let Some(precision) = section.precision() {
            let rhat = number::fixed(precision.rhat, 2);
            let ess = precision.ess.map(number::ess);
            rules.push(match ess {
                Some(ess) => format!("R-hat {rhat} and ESS {ess}"),
                None => format!("R-hat {rhat}"),
            });
        }
        if let Some(seconds) = section.max_seconds {
            rules.push(number::duration(seconds));
        }
    }
    if !rules.is_empty() {
        return format!("stops at {}", rules.join(" or after "));
    }
    let draws = number::integer(draws);
    match run.may_go_on() {
        true => format!("stops after {draws} draws, or later if they are not precise enough"),
        false => format!("stops after {draws} draws"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::Session;
    use crate::app::{DataCommand, DraftChange, RunCommand};
    use ergodic_core::engine::RunSection;

    #[test]
    fn a_reopened_run_says_that_its_warm_up_is_gone_and_is_stale_only_where_it_differs() {
        let mut session = Session::with_draft("churn");
        session.send(DraftChange::Formula("churned ~ age".to_owned()));
        session.run(2, 60, 50);
        let place = session.state.runs[0].place().unwrap().to_owned();
        session.send(DataCommand::Open(place));
        let remark = |index: usize| {
            let entry: &RunEntry = &session.state.runs[index];
            warmup_remark(&entry.view().unwrap())
        };
        assert_eq!(remark(0), None);
        let remark = remark(1).unwrap();
        assert!(remark.starts_with("starts after 60 iterations of warm-up"));
        // The recipe in its folder says more than the draft, and the same.
        let stale = |session: &Session| stale_reason(&session.state, &session.state.runs[1]);
        assert_eq!(stale(&session), None);
        session.send(DraftChange::Prior(
            "b".to_owned(),
            Some("normal(0, 1)".to_owned()),
        ));
        assert!(stale(&session).unwrap().contains("priors"));
        session.send(DraftChange::Prior("b".to_owned(), None));
        assert_eq!(stale(&session), None);
        session.send(DraftChange::Success("no".to_owned()));
        assert!(stale(&session).unwrap().contains("model"));
    }

    #[test]
    fn a_run_that_could_not_be_started_is_never_stale() {
        let mut session = Session::with_draft("churn");
        // The model has no clusters, which this sampler draws.
        session.send(DraftChange::Sampler("dp-gibbs".to_owned()));
        session.send(RunCommand::Start);
        session.send(DraftChange::Formula("churned ~ age".to_owned()));
        let entry = &session.state.runs[0];
        assert!(matches!(entry.phase, RunPhase::Refused(_)));
        assert_eq!(stale_reason(&session.state, entry), None);
    }

    /// What stands there is about the draws that are wanted now, by whomever.
    #[test]
    fn the_stop_rule_follows_the_draws_that_are_wanted() {
        let said = |sampler: &str, added: u64| {
            let mut session = Session::with_draft("churn");
            session.send(DraftChange::Sampler(sampler.to_owned()));
            session.send(DraftChange::Run(RunSection {
                chains: 1,
                // It never comes to its first draw.
                warmup: Some(1_000_000),
                draws: 1000,
                ..RunSection::default()
            }));
            session.send(RunCommand::Start);
            if added > 0 {
                session.send(RunCommand::AddDraws(1, added));
            }
            let entry = session.state.selected().unwrap();
            let view = entry.view().unwrap();
            stop_rule(entry.run().unwrap(), draws_wanted(entry, &view)).replace('\u{202f}', " ")
        };
        let later = ", or later if they are not precise enough";
        let expected = |draws: &str, more: &str| format!("stops after {draws} draws{more}");
        assert_eq!(said("nuts", 0), expected("1 000", later));
        assert_eq!(said("nuts", 1000), expected("2 000", later));
        assert_eq!(said("nuts", 100_000), expected("101 000", ""));
        // Draws of an approximate sampler are not made precise by more of them.
        assert_eq!(said("sgld", 0), expected("1 000", ""));
    }
}
