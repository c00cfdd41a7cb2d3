//! The kernel Stein discrepancy of the draws of a run, tested against what draws from the posterior have.

use crate::Job;
use crate::scored_points::{SCORE_ROWS, ScoredPoints, Scorer, oracle_of};
use ergodic_base::{Purpose, stream};
use ergodic_core::engine::{RunView, Sampling as _};
use ergodic_diagnostics::SummaryRow;
use ergodic_diagnostics::stein::{Discrepancy, tested_discrepancy};

/// Most draws that are tested: the kernel takes n² operations, and a discrepancy that does not show in that many is one that shows in
/// nothing else either.
const MOST_POINTS: usize = 400;
/// Fewest: with fewer nothing but gross errors show.
const LEAST_POINTS: usize = 50;

/// Most row gradients that the scores of a run and of its control take; `None` where no scores are looked at.
pub(super) fn most_rows(job: &Job) -> Option<u64> {
    job.model.rows()?;
    job.keep().is_all().then_some(())?;
    job.centre.as_deref()?;
    Some(2 * (MOST_POINTS * SCORE_ROWS.min(job.model.num_obs())) as u64)
}

/// The discrepancy of evenly spaced draws of a run with this `summary`, as many as it has effective ones, so that they count as
/// independent; and the rows that their scores took. `None` without rows, without a mode to whiten by, or with too few effective
/// draws.
pub(super) fn discrepancy(
    job: &Job,
    run: (&Job, &RunView),
    summary: &[SummaryRow],
) -> Option<(Discrepancy, u64)> {
    job.model.rows()?;
    // Points are draws of all parameters.
    job.keep().is_all().then_some(())?;
    let (run_job, view) = run;
    let chains = view.usable().count();
    let effective = summary.iter().filter_map(|row| row.ess_bulk);
    let effective = effective.fold(f64::INFINITY, f64::min);
    let per_chain = MOST_POINTS.min(effective as usize) / chains.max(1);
    let per_chain = per_chain.min(view.draws_per_chain());
    if per_chain * chains < LEAST_POINTS {
        return None;
    }
    let all_weights = view.weights(run_job.weight_column());
    let mut oracle = oracle_of(job);
    let mut scored = ScoredPoints::default();
    let mut weights = Vec::new();
    let mut scorer = Scorer::new(job, &mut oracle)?;
    let mut u = vec![0.0; job.model.dim()];
    let mut theta = vec![0.0; job.model.params().len()];
    for (chain, view) in view.usable().enumerate() {
        let list = &view.draws.draws;
        for k in 0..per_chain {
            let draw = k * list.len() / per_chain;
            theta.fill_with({
                let mut columns = 0..list.width();
                move || columns.next().map_or(f64::NAN, |j| list.value(draw, j))
            });
            job.model.unconstrain(&theta, &mut u);
            if u.iter().any(|u| !u.is_finite()) {
                return None;
            }
            scorer.add(&u, &mut scored)?;
            weights.extend(all_weights.get(chain).map(|weights| weights[draw]));
        }
    }
    let mut rng = stream(job.recipe.run.seed, 2, Purpose::Diagnostics);
    let of = (scored.points.as_slice(), scored.scores.as_slice());
    let found = tested_discrepancy(of, u.len(), &weights, &mut rng)?;
    Some((found, oracle.datum_grads))
}
