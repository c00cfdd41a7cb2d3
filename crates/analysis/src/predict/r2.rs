//! Bayesian R²: the share of the variance of an outcome that a model explains (Gelman, Goodrich, Gabry and Vehtari 2019).
//!
//! For draw s it is R²_s = V_s/(V_s + E_s): V_s is the variance of the expected outcomes of the rows of the fit (divisor n − 1), E_s the
//! mean over rows of the variance of an outcome around what is expected of it, σ² of normal noise and p (1 − p) of yes or no. What
//! was observed does not enter, so no draw is above 1. Every row counts once; group effects are those of the row's group. Successes
//! among trials are counted, not their share, as `bayes_R2` of the R package rstanarm does. Where the model explains a function of a
//! column, such as log(y), so does R².

use rayon::prelude::*;

use super::loo_r2::LooR2;
use super::{Around, DRAWS, Fitted, INTERVAL, PredictError, Work};
use ergodic_base::Control;
use ergodic_base::draws::DrawList;
use ergodic_base::numerals::fixed;
use ergodic_core::design::ResponseKind;
use ergodic_diagnostics::quantiles;

/// Outcomes that are expected in all, at most: some seconds of one core.
const EVALUATIONS: usize = 200_000_000;
/// Draws that are used at least, if there are as many.
const LEAST_DRAWS: usize = 100;
/// Draws that a thread takes through all rows at a time.
const BLOCK: usize = 32;

/// The share of the variance of the outcome that a model explains.
#[derive(Clone, Debug, PartialEq)]
pub struct R2 {
    /// What the model explains.
    pub outcome: String,
    /// Whether group effects explain some of it.
    pub has_groups: bool,
    /// R² of each draw used.
    pub values: Vec<f64>,
    /// Draws there are.
    pub draws_total: usize,
    /// Posterior median.
    pub median: f64,
    /// Interval that leaves the same probability on both sides; it has that of [`INTERVAL`].
    pub interval: [f64; 2],
    /// R² of rows left out; `None` where it is not defined, such as of censored outcomes.
    pub loo: Option<LooR2>,
}

impl R2 {
    /// In a sentence, and one of rows left out where that is known.
    pub fn sentences(&self) -> Vec<String> {
        let of_loo = self.loo.iter().map(LooR2::sentence);
        std::iter::once(self.sentence()).chain(of_loo).collect()
    }

    /// In one sentence.
    pub fn sentence(&self) -> String {
        let [median, low, high] =
            [self.median, self.interval[0], self.interval[1]].map(|value| fixed(value, 3));
        let groups = match self.has_groups {
            true => ", group effects included",
            false => "",
        };
        format!(
            "Bayesian R² of {}: {median} ({:.0} % interval {low} to {high}), the share of its variance that the model explains{groups}",
            self.outcome,
            100.0 * INTERVAL
        )
    }
}

/// Mean and sum of squared deviations of numbers that come one by one, and the sum of others.
#[derive(Clone, Copy, Default)]
struct Sums {
    count: f64,
    mean: f64,
    squares: f64,
    variances: f64,
}

impl Sums {
    fn add(&mut self, [expected, variance]: [f64; 2]) {
        self.count += 1.0;
        let off = expected - self.mean;
        self.mean += off / self.count;
        self.squares += off * (expected - self.mean);
        self.variances += variance;
    }

    fn r2(&self) -> f64 {
        let explained = self.squares / (self.count - 1.0);
        explained / (explained + self.variances / self.count)
    }
}

impl Fitted {
    /// Bayesian R² of the rows of the fit from `draws` of reported quantities (one list per chain) with `draw_weights` (one vector per
    /// chain, or empty), of which at most [`DRAWS`] are used, evenly spaced, and fewer where rows are many. `None` where it is not
    /// defined: of levels, which have no distances, of models whose variance of an outcome is not known, and of a single row.
    ///
    /// # Errors
    /// The work was cancelled; the draws are of other variables, or too few.
    pub fn r2(
        &self,
        draws: &[&DrawList],
        draw_weights: &[Vec<f64>],
        control: &Control,
    ) -> Result<Option<R2>, PredictError> {
        let kind = &self.response.kind;
        let are_levels = matches!(
            kind,
            ResponseKind::Ordered { .. } | ResponseKind::Unordered { .. }
        );
        if are_levels || self.model.predicts().is_none() {
            return Ok(None);
        }
        let most = (EVALUATIONS / self.rows.len().max(1)).clamp(LEAST_DRAWS, DRAWS);
        let posterior = self.posterior(draws, draw_weights, most, control)?;
        let linear = posterior.linear().map(|linear| &linear.around);
        let Some(Around::One(outcomes)) = linear else {
            return Ok(None);
        };
        let rows = self
            .coding
            .code(self.table.as_ref(), Some(self.rows.clone()), true)?;
        let (count, trials) = (rows.row.len(), rows.trials.as_ref());
        control.enter("finding how much is explained");
        control.expect(posterior.len() as u64);
        let mut values = vec![0.0; posterior.len()];
        values.par_chunks_mut(BLOCK).enumerate().for_each_init(
            || Work::new(posterior.len()),
            |work, (block, values)| {
                let first = block * BLOCK;
                let mut sums = vec![Sums::default(); values.len()];
                for i in 0..count {
                    if control.is_cancelled() {
                        return;
                    }
                    let trials = trials.map_or(1.0, |trials| trials[i]);
                    let eta =
                        posterior.predictors(&rows, i, (first, values.len()), self.seed, work);
                    let draws = sums.iter_mut().zip(eta).zip(&outcomes[first..]);
                    for ((sums, eta), outcome) in draws {
                        let variance = outcome.variance(*eta, rows.known(i));
                        sums.add([trials * outcome.mean(*eta), variance]);
                    }
                }
                for (value, sums) in values.iter_mut().zip(&sums) {
                    *value = sums.r2();
                }
                control.advance(values.len() as u64);
            },
        );
        control.check(PredictError::Cancelled)?;
        let weights = posterior.weights.as_deref();
        let weights = weights.as_slice();
        let probs = [0.5, 0.5 - 0.5 * INTERVAL, 0.5 + 0.5 * INTERVAL];
        // A draw of no finite R², such as that of a single row, leaves nothing to say.
        let found = quantiles::weighted(&[&values], weights, probs).ok();
        let loo = match found {
            Some(_) => self.loo_r2(draws, draw_weights, control)?,
            None => None,
        };
        Ok(found.map(|[median, low, high]| R2 {
            loo,
            outcome: self.response.name.clone(),
            has_groups: self.has_groups,
            draws_total: draws.iter().map(|chain| chain.len()).sum(),
            values,
            median,
            interval: [low, high],
        }))
    }
}

#[cfg(test)]
mod tests;
