//! Probability integral transforms: where each outcome lies in its predictive distribution, between 0 and 1.
//!
//! If the model is right these are uniform (Gelfand, Dey and Chang 1992). The predictive distribution of a row is that of the
//! posterior without the row, by the importance weights of [`ergodic_diagnostics::loo`]: the weighted share of replicated outcomes
//! below the observed one, and of those equal to it a random part, drawn by the seed of the run (Czado, Gneiting and Held 2009, section
//! 2.1). Of yes or no both shares are the weighted means of the probabilities themselves. The test of uniformity is that of the random
//! values. The curve needs none: it is the mean over rows of the distribution functions that are uniform between the two shares (the
//! same, equation 3), which of outcomes that are never equal is the share of values below.
//!
//! Of yes or no the transforms tell whether successes are as frequent as predicted, and little more; calibration tells more.
//!
//! Rows share the parameters that they were fitted by, so their values balance each other and the test of uniformity finds less
//! than its level: what it finds is there.

use super::super::predict::log_lik::replicated::{Replicates, Row};
use super::SURPRISING;
use ergodic_base::numerals::{fixed, plural, thousands};
use ergodic_base::{Purpose, stream};
use ergodic_diagnostics::kolmogorov;
use ergodic_diagnostics::loo::{Scorer, threshold};
use rand::RngExt as _;

/// Most rows looked at, evenly spaced: their distribution function then is exact to 3 %.
pub const ROWS: usize = 2000;
/// Steps of the curve.
pub const STEPS: usize = 100;
/// Variance of the uniform distribution on (0, 1).
const VARIANCE: f64 = 1.0 / 12.0;
/// Standard errors of the mean or the variance from which the shape of the departure is named.
const CLEAR: f64 = 2.0;

/// The transform of one row.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowPit {
    /// Shares of the predictive distribution below the outcome, and up to it.
    pub(super) ends: [f64; 2],
    /// A random place between them.
    value: f64,
    /// Pareto k of the importance weights.
    pub(super) k: f64,
}

impl RowPit {
    /// PIT of the `i`-th row, whose outcome is one of two values where `is_binary`; plain draws where its log density is not finite
    /// at each of them.
    pub(super) fn of(
        replicates: &Replicates,
        i: usize,
        (row, is_binary): (&Row, bool),
        scorer: &mut Scorer,
    ) -> Self {
        let observed = replicates.observed(i);
        let draws = row.outcome.len() as f64;
        let finite = row.log_lik.iter().all(|value| value.is_finite());
        let same = row.log_lik.iter().all(|value| *value == row.log_lik[0]);
        let smoothed = (finite && !same).then(|| scorer.weights(&row.log_lik));
        let weight = |s: usize| {
            let smoothed = smoothed.as_ref();
            smoothed.map_or(1.0 / draws, |smoothed| smoothed.weights[s])
        };
        let (mut below, mut equal) = (0.0, 0.0);
        if is_binary {
            let success: f64 = (row.mean.iter().enumerate())
                .map(|(s, &probability)| weight(s) * probability)
                .sum();
            (below, equal) = match observed > 0.0 {
                true => (1.0 - success, success),
                false => (0.0, 1.0 - success),
            };
        } else {
            for (s, &outcome) in row.outcome.iter().enumerate() {
                if outcome < observed {
                    below += weight(s);
                } else if outcome == observed {
                    equal += weight(s);
                }
            }
        }
        let mut rng = stream(replicates.seed(), i, Purpose::Diagnostics);
        let k = match &smoothed {
            Some(smoothed) if smoothed.k.is_nan() => f64::INFINITY,
            Some(smoothed) => smoothed.k,
            None if finite => f64::NEG_INFINITY,
            None => f64::INFINITY,
        };
        let share = |share: f64| share.clamp(0.0, 1.0);
        Self {
            ends: [share(below), share(below + equal)],
            value: share(below + equal * rng.random::<f64>()),
            k,
        }
    }

    /// Distribution function of a value that is uniform between the two shares.
    fn distribution_function(&self, at: f64) -> f64 {
        let [below, upto] = self.ends;
        if at >= upto {
            1.0
        } else if at <= below {
            0.0
        } else {
            (at - below) / (upto - below)
        }
    }
}

/// Transforms of the rows of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Pit {
    /// Of outcomes that can be equal at random places between their two shares. Ascending.
    pub values: Vec<f64>,
    /// The distribution function of the transforms at 0, 1/[`STEPS`], …, 1, without randomness.
    pub curve: Vec<f64>,
    /// Largest distance of their distribution function from that of uniform values.
    pub distance: f64,
    /// Chance of such a distance of uniform values (Kolmogorov 1933).
    pub p: f64,
    /// Rows whose importance weights cannot be trusted.
    pub doubtful: usize,
    /// Rows of the fit.
    pub rows: usize,
    /// Draws that the weights are of.
    pub draws: usize,
}

impl Pit {
    pub(super) fn of(of_rows: &[RowPit], rows: usize, draws: usize) -> Self {
        let limit = threshold(draws);
        let mut values: Vec<f64> = of_rows.iter().map(|row| row.value).collect();
        let distance = kolmogorov::distance_from_uniform(&mut values);
        Self {
            p: kolmogorov::p_value(distance, values.len()),
            distance,
            curve: (0..=STEPS)
                .map(|k| {
                    let at = k as f64 / STEPS as f64;
                    let each = of_rows.iter().map(|row| row.distribution_function(at));
                    each.sum::<f64>() / of_rows.len() as f64
                })
                .collect(),
            doubtful: of_rows.iter().filter(|row| row.k > limit).count(),
            values,
            rows,
            draws,
        }
    }

    /// How the transforms depart from uniform ones, in one sentence; `None` if they do not.
    pub(super) fn finding(&self) -> Option<String> {
        if self.p >= SURPRISING {
            return None;
        }
        let n = self.values.len() as f64;
        let mean = self.values.iter().sum::<f64>() / n;
        let variance = self.values.iter().map(|u| (u - 0.5).powi(2)).sum::<f64>() / n;
        // The variance of (u − 1/2)² of uniform u is 1/180.
        let off_centre = (mean - 0.5) / (VARIANCE / n).sqrt();
        let too_wide = (variance - VARIANCE) / (1.0 / 180.0 / n).sqrt();
        let shape = if off_centre.abs() > too_wide.abs().max(CLEAR) {
            match off_centre > 0.0 {
                true => ": outcomes are larger than predicted",
                false => ": outcomes are smaller than predicted",
            }
        } else if too_wide > CLEAR {
            ": predictive distributions are too narrow"
        } else if too_wide < -CLEAR {
            ": predictive distributions are too wide"
        } else {
            ": predictive distributions have another shape than outcomes"
        };
        Some(format!(
            "The places of outcomes in their predictive distributions (LOO-PIT) are not uniform, {}{shape}",
            self.p_in_words()
        ))
    }

    fn p_in_words(&self) -> String {
        if self.p < 0.001 {
            "p < 0.001".to_owned()
        } else {
            format!("p = {}", fixed(self.p, 3))
        }
    }

    /// How far the transforms are from uniform ones, in one sentence.
    pub fn summary(&self) -> String {
        format!(
            "LOO-PIT of {} rows: largest distance from a uniform distribution {}, {}",
            thousands(self.values.len() as u64),
            fixed(self.distance, 3),
            self.p_in_words()
        )
    }

    /// What to know about the transforms.
    pub(super) fn remark(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        let looked_at = self.values.len();
        if looked_at < self.rows {
            remarks.push(format!(
                "LOO-PIT from {} of {} rows, evenly spaced",
                thousands(looked_at as u64),
                thousands(self.rows as u64)
            ));
        }
        if self.doubtful > 0 {
            remarks.push(format!(
                "By the {} used here the importance weights of {} cannot be trusted, and LOO-PIT may look too good there; leave-one-out \
                 cross-validation (LOO), which uses all draws, lists the rows of which that is still true",
                plural(self.draws, "draw"),
                plural(self.doubtful, "row")
            ));
        }
        remarks
    }
}
