//! Exact scores of rows whose importance weights cannot be trusted: by fits without each of them.

use std::path::Path;
use std::sync::Arc;

use super::{CrossValidation, LooError};
use crate::hold_out::{HoldOut, NotHeldOut};
use crate::predict::Fitted;
use crate::{Job, JobError, Recipe};
use ergodic_base::Control;
use ergodic_base::draws::DrawList;
use ergodic_core::engine::{RunView, Sampling as _};
use ergodic_data::Loaded;
use ergodic_diagnostics::ess_mean;
use ergodic_diagnostics::loo::RowScore;
use ergodic_diagnostics::psis::smooth;

/// The fit of `recipe` without row `row` of the table (0-based), with as many draws as it names. As of every row that is held out, the
/// fit knows nothing of it: scales of predictors and default priors are those of the other rows.
///
/// # Errors
/// The run keeps rows out of its fit already; see [`Job::prepare`].
pub fn job_without(
    recipe: &Recipe,
    folder: &Path,
    loaded: Option<Arc<Loaded>>,
    row: u32,
    control: &Control,
) -> Result<Job, JobError> {
    if recipe.model.hold_out.is_some() {
        return Err(NotHeldOut::Already.into());
    }
    let mut recipe = recipe.clone();
    recipe.model.hold_out = Some(HoldOut::Rows(vec![row + 1]));
    recipe.run.stop_by_draws_alone();
    Job::prepare(&recipe, folder, loaded, control)
}

impl CrossValidation {
    /// Takes the score of row `row` of the table (0-based) from a run of [`job_without`] that row.
    ///
    /// # Errors
    /// The density of the row is not known, or somebody cancelled.
    pub fn take_exact(
        &mut self,
        row: u32,
        (job, view): (&Job, &RunView),
        control: &Control,
    ) -> Result<(), LooError> {
        let Ok(i) = self.observed.rows.binary_search(&row) else {
            return Ok(());
        };
        let fitted = Fitted::of(job).map_err(LooError::of)?;
        let lists: Vec<&DrawList> = view.usable().map(|chain| &chain.draws.draws).collect();
        let weights = view.weights(job.weight_column());
        let log_lik = fitted.log_lik_of_held_out((&lists, &weights), control)?;
        let mut values = vec![0.0; log_lik.num_draws()];
        if log_lik.num_rows() == 0 {
            return Err(LooError::UnknownLevel(fitted.place(row)));
        }
        log_lik.row(0, 0, &mut values);
        let score = exact(&values, log_lik.chains(), log_lik.draw_weights());
        let before = self.loo.rows[i];
        let exact = score.ok_or_else(|| LooError::NotFinite(fitted.place(row)))?;
        self.loo.rows[i] = RowScore {
            elpd: exact.elpd,
            mc_variance: exact.mc_variance,
            k: exact.k,
            ..before
        };
        self.refitted.push(row);
        self.refitted.sort_unstable();
        Ok(())
    }
}

/// Logarithm of a mean of densities over draws.
struct Exact {
    elpd: f64,
    /// Monte Carlo variance of the mean, of use where [`Self::k`] is good.
    mc_variance: f64,
    /// Pareto k of the densities: where few draws have nearly all of their sum, neither the mean nor its error is known.
    k: f64,
}

/// Of exp(ℓ) over the draws of chains of these lengths, with their weights or none.
fn exact(log_lik: &[f64], chains: &[usize], weights: Option<&[f64]>) -> Option<Exact> {
    let largest = log_lik.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let values: Vec<f64> = log_lik
        .iter()
        .map(|value| (value - largest).exp())
        .collect();
    let weight = |s: usize| weights.map_or(1.0, |weights| weights[s]);
    let total: f64 = (0..values.len()).map(weight).sum();
    let mean = values
        .iter()
        .enumerate()
        .map(|(s, p)| weight(s) * p)
        .sum::<f64>()
        / total;
    let squares = values.iter().enumerate();
    let squares: f64 = squares
        .map(|(s, p)| weight(s) * (p - mean) * (p - mean))
        .sum();
    let mut rest = values.as_slice();
    let mut of_chains = Vec::with_capacity(chains.len());
    let shortest = chains.iter().copied().min()?;
    for &length in chains {
        let (chain, after) = rest.split_at(length);
        of_chains.push(&chain[..shortest]);
        rest = after;
    }
    let effective = ess_mean(&of_chains).unwrap_or(values.len() as f64);
    let elpd = largest + mean.ln();
    elpd.is_finite().then(|| {
        let of_draw = |(s, value): (usize, &f64)| (value + weight(s).ln()).max(f64::MIN);
        let logs: Vec<f64> = log_lik.iter().enumerate().map(of_draw).collect();
        let k = smooth(&logs, effective / values.len() as f64).k;
        Exact {
            elpd,
            mc_variance: squares / total / effective / (mean * mean),
            k: if k.is_nan() { f64::INFINITY } else { k },
        }
    })
}
