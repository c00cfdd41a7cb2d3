//! Leave-one-out cross-validation of tall data from a sample of its rows.
//!
//! Source: Magnusson, Vehtari, Jonasson and Andersen 2020, "Leave-One-Out Cross-Validation for Bayesian Model Comparison in Large
//! Data", AISTATS, and the R package loo (`loo_subsample`, estimator `diff_srs`, approximation `plpd`). Every row has an
//! approximation π̃_i, the log density of its outcome at the posterior mean of the parameters; m rows, drawn without replacement,
//! have their score π_i. With e_i = π_i − π̃_i the sum of all scores is
//!
//! Σ π̃_i + N mean(e),   of variance N² (1 − m/N) var(e)/m
//!
//! by the choice of the rows. The standard error of the sum as one of independent rows is estimated from the same rows, so that the
//! two errors stand apart: more rows mend the first and not the second.

use rand::seq::index::sample;

use super::{LooError, scores, unusable};
use crate::predict::log_lik::LogLikError;
use crate::predict::{Fitted, PredictError};
use ergodic_base::draws::DrawList;
use ergodic_base::numerals::{fixed, plural, thousands};
use ergodic_base::{Control, Purpose, stream};
use ergodic_diagnostics::Verdict;
use ergodic_diagnostics::loo::Loo;

/// Rows that are left out unless somebody says how many.
pub const ROWS: usize = 1000;

/// A sum over all rows, known from some of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampledTotal {
    /// The sum.
    pub estimate: f64,
    /// Standard error as of a sum of independent rows: what other data of the same kind would change.
    pub se: f64,
    /// Standard error by the choice of the rows: what leaving out all rows would change.
    pub se_of_sample: f64,
}

/// What a sample of rows says of all.
#[derive(Clone, Debug)]
pub struct Subsampled {
    /// elpd_loo, by the difference estimator.
    pub elpd: SampledTotal,
    /// p_loo, by simple random sampling.
    pub p: SampledTotal,
    /// Scores of the rows that were left out.
    pub loo: Loo,
    /// Rows of the table that were drawn, 0-based, ascending.
    pub rows: Vec<u32>,
    /// Rows there are.
    pub rows_total: usize,
    /// Why the draws are not usable, if they are not.
    unusable: Option<String>,
}

/// Leaves `size` rows out, drawn by `seed`, or all where there are fewer, and estimates the sum of the scores of all rows.
///
/// # Errors
/// As of [`super::cross_validate`].
pub fn subsample(
    fitted: &Fitted,
    (draws, weights): (&[&DrawList], &[Vec<f64>]),
    size: usize,
    seed: u64,
    control: &Control,
) -> Result<Subsampled, LooError> {
    let refuse = |error| match error {
        LogLikError::Predict(PredictError::Cancelled) => LooError::Cancelled,
        other => other.into(),
    };
    control.enter("approximating all rows");
    let middle = mean_of(draws, weights);
    let approximate = fitted
        .log_lik(&[&middle], &[], 1, control)
        .map_err(refuse)?;
    let n = approximate.num_rows();
    let mut all = vec![0.0; n];
    approximate.tile(0, 1, &mut all);
    control.check(LooError::Cancelled)?;
    let mut rng = stream(seed, 0, Purpose::Diagnostics);
    let mut places = sample(&mut rng, n, size.min(n)).into_vec();
    places.sort_unstable();
    let log_lik = fitted
        .log_lik(draws, weights, usize::MAX, control)
        .map_err(refuse)?;
    let loo = scores(fitted, &log_lik, Some(&places), control)?;
    if let Some(place) = all.iter().position(|value| !value.is_finite()) {
        return Err(LooError::NotFinite(
            fitted.place(log_lik.observed().rows[place]),
        ));
    }
    let elpd: Vec<f64> = loo.rows.iter().map(|row| row.elpd).collect();
    let p: Vec<f64> = loo.rows.iter().map(|row| row.p()).collect();
    Ok(Subsampled {
        elpd: difference(&all, &places, &elpd),
        p: plain(n, &p),
        rows: places
            .iter()
            .map(|&place| log_lik.observed().rows[place])
            .collect(),
        rows_total: n,
        loo,
        unusable: None,
    })
}

/// The posterior mean of each reported quantity, as one draw.
fn mean_of(draws: &[&DrawList], weights: &[Vec<f64>]) -> DrawList {
    let width = draws.first().map_or(0, |list| list.width());
    let weight = |chain: usize, i: usize| weights.get(chain).map_or(1.0, |weights| weights[i]);
    let (mut sums, mut total) = (vec![0.0; width], 0.0);
    for (chain, list) in draws.iter().enumerate() {
        for i in 0..list.len() {
            total += weight(chain, i);
            for (j, sum) in sums.iter_mut().enumerate() {
                *sum += weight(chain, i) * list.value(i, j);
            }
        }
    }
    sums.iter_mut().for_each(|sum| *sum /= total);
    let mut mean = DrawList::new(width);
    mean.push(&sums);
    mean
}

fn mean_and_variance(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let count = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / count;
    let squares: f64 = values.map(|value| (value - mean) * (value - mean)).sum();
    (mean, squares / (count - 1.0))
}

/// The difference estimator: approximations of all rows, and the values of those at `places`.
fn difference(approximate: &[f64], places: &[usize], values: &[f64]) -> SampledTotal {
    let (n, m) = (approximate.len() as f64, values.len() as f64);
    let pairs = values
        .iter()
        .zip(places)
        .map(|(value, &place)| (*value, approximate[place]));
    let (error, variance) = mean_and_variance(pairs.clone().map(|(value, near)| value - near));
    let sum: f64 = approximate.iter().sum();
    let squares: f64 = approximate.iter().map(|near| near * near).sum();
    let more = pairs
        .map(|(value, near)| value * value - near * near)
        .sum::<f64>()
        * n
        / m;
    let estimate = sum + n * error;
    let of_sample = n * n * (1.0 - m / n) * variance / m;
    let of_errors = n * error;
    // Σ π² − (Σ π)²/N, with the square of the sum freed from the variance of its estimate.
    let spread =
        squares + more - (of_errors * of_errors - of_sample + 2.0 * sum * estimate - sum * sum) / n;
    SampledTotal {
        estimate,
        se: spread.max(0.0).sqrt(),
        se_of_sample: of_sample.sqrt(),
    }
}

/// The sum over `n` rows from the values of some.
fn plain(n: usize, values: &[f64]) -> SampledTotal {
    let (n, m) = (n as f64, values.len() as f64);
    let (mean, variance) = mean_and_variance(values.iter().copied());
    SampledTotal {
        estimate: n * mean,
        se: (n * variance).sqrt(),
        se_of_sample: (n * n * (1.0 - m / n) * variance / m).sqrt(),
    }
}

impl Subsampled {
    /// The scores of a run with this verdict and its sentence, as of [`super::CrossValidation::of_run`].
    #[must_use]
    pub fn of_run(mut self, verdict: Verdict, sentence: &str) -> Self {
        self.unusable = unusable(verdict, sentence);
        self
    }

    /// What was done, and what of the error more rows would mend, in one sentence.
    pub fn sentence(&self) -> String {
        let count = self.rows.len();
        let doubtful = self.loo.doubtful().len();
        let doubt = match (&self.unusable, doubtful) {
            (Some(why), _) => format!(
                "; but the draws of this run are not usable, so neither are these scores, whatever their errors: {why}"
            ),
            (None, 0) => String::new(),
            (None, few) => format!("; {few} of these rows have a Pareto k that is not good"),
        };
        format!(
            "{} of {} left out, drawn at random: of the error of elpd_loo {} come from this choice and {} from the rows that there are{doubt}",
            thousands(count as u64),
            plural(self.rows_total, "row"),
            fixed(self.elpd.se_of_sample, 1),
            fixed(self.elpd.se, 1)
        )
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// Numbers of loo:::srs_diff_est and loo:::srs_est (`tests/reference/loo_subsample.R`).
    #[test]
    fn sums_and_both_errors_are_those_of_loo() {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference");
        let text = std::fs::read_to_string(folder.join("loo_subsample.csv")).unwrap();
        let (mut approximate, mut places, mut values) = (Vec::new(), Vec::new(), Vec::new());
        let mut expected = Vec::new();
        for line in text.lines().filter(|line| !line.starts_with('#')).skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            let number = |k: usize| cells[k].parse::<f64>().unwrap();
            match cells[0] {
                "approximate" => approximate.push(number(2)),
                "value" => {
                    places.push(number(1) as usize - 1);
                    values.push(number(2));
                }
                _ => expected.push(number(2)),
            }
        }
        let all = [
            difference(&approximate, &places, &values),
            plain(approximate.len(), &values),
        ];
        let found = all
            .iter()
            .flat_map(|it| [it.estimate, it.se, it.se_of_sample]);
        assert_eq!(expected.len(), 6);
        for (found, expected) in found.zip(expected) {
            assert!(
                (found / expected - 1.0).abs() < 1e-10,
                "{found} for {expected}"
            );
        }
    }
}
