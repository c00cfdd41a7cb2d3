//! LOO-R²: the share of the variance of an outcome that predictions of rows explain which the fit has not seen (Gelman, Goodrich, Gabry
//! and Vehtari 2019, section 3.3, as `loo_R2` of the R packages rstanarm and brms computes it).
//!
//! Row i is expected by the posterior without it, by the importance weights of [`ergodic_diagnostics::loo`]; its error e_i is that less
//! what was observed. The uncertainty is that of the rows, by the Bayesian bootstrap (Rubin 1981): for weights w of the rows, drawn
//! from Dirichlet(1, …, 1), R² = 1 − (Σ w e² − Σ (w e)²)/var_w(y), cut to between −1 and 1, as where the outcome hardly varies. What is
//! taken off Σ w e² is its 2/n at most, and not the square of the mean error: predictions that are all off by as much count as wrong. Below
//! 0 the mean of the outcome predicts better. Scales are those of [`super::r2`]: the function of a column that the model explains, and
//! numbers of successes.

use rand_distr::{Distribution as _, Exp1};
use rayon::prelude::*;

use super::log_lik::LogLikError;
use super::{Around, Fitted, INTERVAL, PredictError, Work};
use crate::hold_out::SEED;
use ergodic_base::draws::DrawList;
use ergodic_base::numerals::{fixed, plural};
use ergodic_base::{ChainRng, Control, Purpose, stream};
use ergodic_diagnostics::loo::{Chains, Scorer, threshold};
use ergodic_diagnostics::quantiles;

/// Most draws that rows are left out by, and least, if there are as many: with fewer the weights of many rows cannot be trusted.
const DRAWS: usize = 4000;
const LEAST_DRAWS: usize = 100;
/// Log densities of rows at draws, and weights of rows, at most, while there are draws and sets to spare: some seconds of one core.
const EVALUATIONS: usize = 40_000_000;
/// Sets of Dirichlet weights, as many as rstanarm has draws by default, and least where rows are many.
const SETS: usize = 4000;
const LEAST_SETS: usize = 400;
/// Smallest and largest value: where the outcome hardly varies under the weights, the ratio has no bound.
const RANGE: [f64; 2] = [-1.0, 1.0];

/// The share of the variance of the outcome that predictions of rows explain which the fit has not seen.
#[derive(Clone, Debug, PartialEq)]
pub struct LooR2 {
    /// What the model explains.
    pub outcome: String,
    /// R² under each set of weights of the rows.
    pub values: Vec<f64>,
    /// Their median.
    pub median: f64,
    /// Interval that leaves the same probability on both sides; it has that of [`INTERVAL`].
    pub interval: [f64; 2],
    /// Draws that rows were left out by.
    pub draws: usize,
    /// Rows whose importance weights cannot be trusted with the number of draws there is.
    pub doubtful: usize,
}

impl LooR2 {
    /// In one sentence.
    pub fn sentence(&self) -> String {
        let [median, low, high] =
            [self.median, self.interval[0], self.interval[1]].map(|value| fixed(value, 3));
        let doubt = match self.doubtful {
            0 => String::new(),
            rows => format!(
                "; the importance weights of {} cannot be trusted, so it may be off",
                plural(rows, "row")
            ),
        };
        format!(
            "LOO-R² of {}: {median} ({:.0} % interval {low} to {high}), the share of the variance of rows left out that predictions \
             explain{doubt}",
            self.outcome,
            100.0 * INTERVAL
        )
    }
}

/// A row that was left out.
#[derive(Clone, Copy, Debug, Default)]
struct LeftOut {
    observed: f64,
    /// What is expected without the row, less what was observed.
    error: f64,
    /// Pareto k of its weights.
    k: f64,
}

impl Fitted {
    /// LOO-R² of the rows of the fit from `draws` of reported quantities (one list per chain) with `weights` (one vector per chain, or
    /// empty), of which at most 4,000 are used, evenly spaced, and fewer where rows are many. `None` where [`Self::r2`] is not defined,
    /// of outcomes of which some are censored or have no finite density, of a constant outcome, and of draws with negative weights.
    ///
    /// # Errors
    /// The work was cancelled; the draws are of other variables, or too few.
    pub(super) fn loo_r2(
        &self,
        draws: &[&DrawList],
        weights: &[Vec<f64>],
        control: &Control,
    ) -> Result<Option<LooR2>, PredictError> {
        let Some((rows, used)) = self.left_out(draws, weights, control)? else {
            return Ok(None);
        };
        let values = bootstrap(&rows, control)?;
        if !values.iter().all(|value| value.is_finite()) {
            return Ok(None);
        }
        let mut sorted = values.clone();
        let mut at = |prob: f64| quantiles::of_unsorted(&mut sorted, prob);
        let limit = threshold(used);
        Ok(Some(LooR2 {
            outcome: self.response.name.clone(),
            median: at(0.5),
            interval: [at(0.5 - 0.5 * INTERVAL), at(0.5 + 0.5 * INTERVAL)],
            values,
            draws: used,
            doubtful: rows.iter().filter(|row| row.k > limit).count(),
        }))
    }

    /// Every row with its error by the posterior without it, and the draws used.
    fn left_out(
        &self,
        draws: &[&DrawList],
        weights: &[Vec<f64>],
        control: &Control,
    ) -> Result<Option<(Vec<LeftOut>, usize)>, PredictError> {
        let most = (EVALUATIONS / self.rows.len().max(1)).clamp(LEAST_DRAWS, DRAWS);
        let log_lik = match self.log_lik(draws, weights, most, control) {
            Ok(log_lik) => log_lik,
            Err(LogLikError::Predict(error)) => return Err(error),
            // An outcome without a density.
            Err(_) => return Ok(None),
        };
        let linear = log_lik.posterior().linear();
        let is_one = linear.is_some_and(|linear| matches!(linear.around, Around::One(_)));
        let chains = Chains::new(log_lik.chains(), log_lik.draw_weights());
        let (true, false, Ok(chains)) = (is_one, log_lik.is_censored(), chains) else {
            return Ok(None);
        };
        let used = log_lik.num_draws();
        control.enter("leaving rows out");
        control.expect(log_lik.num_rows() as u64);
        let even = vec![1.0; used];
        let of_draws = log_lik.draw_weights().unwrap_or(&even);
        let rows: Vec<Option<LeftOut>> = (0..log_lik.num_rows())
            .into_par_iter()
            .map_init(
                || {
                    let empty = || vec![0.0; used];
                    (Scorer::new(&chains), Work::new(used), empty(), empty())
                },
                |(scorer, work, log_density, expected), i| {
                    if control.is_cancelled() {
                        return None;
                    }
                    log_lik.row(i, 0, log_density);
                    let observed = log_lik.expected(i, work, expected);
                    control.advance(1);
                    if !log_density.iter().all(|value| value.is_finite()) {
                        return None;
                    }
                    let mean = |weights: &[f64]| {
                        let pairs = weights.iter().zip(expected.iter());
                        pairs.map(|(w, mean)| w * mean).sum::<f64>() / weights.iter().sum::<f64>()
                    };
                    // A row that says the same at every draw moves none.
                    let says_nothing = log_density.iter().all(|value| *value == log_density[0]);
                    let (mean, k) = if says_nothing {
                        (mean(of_draws), f64::NEG_INFINITY)
                    } else {
                        let smoothed = scorer.weights(log_density);
                        let k = if smoothed.k.is_nan() {
                            f64::INFINITY
                        } else {
                            smoothed.k
                        };
                        (mean(&smoothed.weights), k)
                    };
                    let error = mean - observed;
                    Some(LeftOut { observed, error, k })
                },
            )
            .collect();
        control.check(PredictError::Cancelled)?;
        let rows: Option<Vec<LeftOut>> = rows.into_iter().collect();
        Ok(rows.map(|rows| (rows, used)))
    }
}

/// R² under sets of Dirichlet weights of the rows; no finite numbers where the outcome is constant or an error is not finite.
fn bootstrap(rows: &[LeftOut], control: &Control) -> Result<Vec<f64>, PredictError> {
    let count = rows.len().max(1);
    let sets = (EVALUATIONS / count).clamp(LEAST_SETS, SETS);
    // Variances are those of what is near 0.
    let centre = rows.iter().map(|row| row.observed).sum::<f64>() / count as f64;
    let values: Vec<f64> = (0..sets)
        .into_par_iter()
        .map(|set| {
            if control.is_cancelled() {
                return f64::NAN;
            }
            let mut rng: ChainRng = stream(SEED, set, Purpose::Diagnostics);
            let (mut total, mut outcomes, mut errors) = (0.0, [0.0; 2], [0.0; 2]);
            for row in rows {
                // Exponential numbers over their sum.
                let weight: f64 = Exp1.sample(&mut rng);
                total += weight;
                let off = row.observed - centre;
                outcomes[0] += weight * off;
                outcomes[1] += weight * off * off;
                let weighted = weight * row.error;
                errors[0] += weighted * row.error;
                errors[1] += weighted * weighted;
            }
            let of_outcome = outcomes[1] / total - (outcomes[0] / total).powi(2);
            let of_errors = errors[0] / total - errors[1] / (total * total);
            // Keeps what is no number, which `max` and `min` would not.
            (1.0 - of_errors / of_outcome).clamp(RANGE[0], RANGE[1])
        })
        .collect();
    control.check(PredictError::Cancelled)?;
    let is_constant = rows.iter().all(|row| row.observed == rows[0].observed);
    Ok(match is_constant {
        true => vec![f64::NAN],
        false => values,
    })
}

#[cfg(test)]
mod tests;
