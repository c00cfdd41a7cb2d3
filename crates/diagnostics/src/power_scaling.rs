//! How much a posterior depends on prior and likelihood: the distance that it moves when one of them is raised to a power
//! near 1.
//!
//! Source: Kallioinen, Paananen, Bürkner and Vehtari (2023), Statistics and Computing 34:57, and its R package priorsense.
//! Raising the prior p(θ) to the power α gives draw s the weight p(θ_s)^(α − 1), smoothed by [`super::psis`]; the same for the
//! likelihood. The distance of a weighted from the plain sample is the square root of the symmetric cumulative Jensen-Shannon
//! divergence of the two distribution functions (Nguyen and Vreeken 2015), over its upper bound, the larger of that of x
//! and of −x, so that it depends on no unit. Sensitivity is its mean at α = 0.99 and 1.01 per doubling of α: for a normal
//! mean it is about a fifth of the shift in standard deviations per doubling.
//!
//! It says that something moves, not whether that is wrong: a prior that was meant to inform shows as well.

use serde::{Deserialize, Serialize};

use super::psis::{LIMIT, smooth};
use super::sorting::Sorter;
use ergodic_base::ParamId;

/// Powers that a component is raised to.
pub const POWERS: [f64; 2] = [0.99, 1.01];
/// Sensitivity from which it is worth a look, as in the source: that of a normal posterior whose mean moves by about a
/// quarter of its standard deviation as the power doubles.
pub const THRESHOLD: f64 = 0.05;

/// What the sensitivities of a quantity say together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Diagnosis {
    /// The prior hardly matters.
    None,
    /// Prior and likelihood both move it: they may disagree.
    Conflict,
    /// The prior moves it and the likelihood does not.
    StrongPrior,
}

impl Diagnosis {
    fn of(prior: f64, likelihood: f64) -> Self {
        match (prior >= THRESHOLD, likelihood >= THRESHOLD) {
            (true, true) => Self::Conflict,
            (true, false) => Self::StrongPrior,
            (false, _) => Self::None,
        }
    }

    /// In words, empty where there is nothing to say.
    pub fn words(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Conflict => "potential prior-data conflict",
            Self::StrongPrior => "potential strong prior or weak likelihood",
        }
    }
}

/// Sensitivity of one reported quantity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SensitivityRow {
    /// Name of the variable.
    pub variable: ParamId,
    /// To the prior.
    pub prior: f64,
    /// To the likelihood.
    pub likelihood: f64,
    /// What both sensitivities say together.
    pub diagnosis: Diagnosis,
}

/// Weights of draws under a power-scaled component, for each of [`POWERS`].
#[derive(Clone, Debug)]
pub struct Scaled {
    weights: [Vec<f64>; 2],
    /// The larger k̂ of the two.
    pub k: f64,
}

impl Scaled {
    /// The weights of draws at which the component has these logarithms.
    pub fn new(log_component: &[f64]) -> Self {
        let [low, high] = POWERS.map(|power| {
            let logs: Vec<f64> = log_component
                .iter()
                .map(|log| (power - 1.0) * log)
                .collect();
            // Without a prior that varies there is nothing to smooth, and nothing wrong.
            let even = logs.iter().all(|&log| log == logs[0]);
            let smoothed = smooth(&logs, 1.0);
            let k = if even { f64::NEG_INFINITY } else { smoothed.k };
            (smoothed.weights, k)
        });
        Self {
            k: low.1.max(high.1),
            weights: [low.0, high.0],
        }
    }

    /// Whether its weights cannot be trusted.
    pub fn is_unreliable(&self) -> bool {
        self.k > LIMIT
    }
}

/// Sensitivities of quantities to the two components, one after the other.
pub struct PowerScaling {
    /// By powers of the prior.
    pub prior: Scaled,
    /// By powers of the likelihood.
    pub likelihood: Scaled,
    sorter: Sorter,
    sorted: Vec<f64>,
    order: Vec<u32>,
}

impl PowerScaling {
    /// For draws at which prior and likelihood have these logarithms, in the order of the draws.
    pub fn new(log_prior: &[f64], log_lik: &[f64]) -> Self {
        Self {
            prior: Scaled::new(log_prior),
            likelihood: Scaled::new(log_lik),
            sorter: Sorter::default(),
            sorted: Vec::new(),
            order: Vec::new(),
        }
    }

    /// The sensitivities of a quantity with these `draws`.
    pub fn of(&mut self, variable: impl Into<ParamId>, draws: &[f64]) -> SensitivityRow {
        self.sorter.sort(draws, &mut self.sorted, &mut self.order);
        let sensitivity = |scaled: &Scaled| {
            let sum: f64 = scaled
                .weights
                .iter()
                .map(|weights| {
                    let weights = self.order.iter().map(|&i| weights[i as usize]);
                    distance(&self.sorted, &weights.collect::<Vec<f64>>())
                })
                .sum();
            sum / (2.0 * POWERS[1].log2())
        };
        let (prior, likelihood) = (sensitivity(&self.prior), sensitivity(&self.likelihood));
        SensitivityRow {
            variable: variable.into(),
            prior,
            likelihood,
            diagnosis: Diagnosis::of(prior, likelihood),
        }
    }
}

/// The cumulative Jensen-Shannon distance of the sample `sorted` from the same with `weights`, which sum to 1.
fn distance(sorted: &[f64], weights: &[f64]) -> f64 {
    let n = sorted.len();
    // From below, and from above as −x would be.
    let below = one_sided(
        (1..n).map(|i| (sorted[i] - sorted[i - 1], weights[i - 1])),
        n,
    );
    let above = (1..n)
        .rev()
        .map(|i| (sorted[i] - sorted[i - 1], weights[i]));
    below.max(one_sided(above, n))
}

/// The distance from steps between neighbours, each with its width and the weight that is passed before it.
fn one_sided(steps: impl Iterator<Item = (f64, f64)>, n: usize) -> f64 {
    let (mut divergence, mut bound, mut q) = (0.0, 0.0, 0.0);
    for (k, (width, weight)) in steps.enumerate() {
        let p = (k + 1) as f64 / n as f64;
        q += weight;
        // p log(p/m) + q log(q/m) about the middle m; the terms beside it in the source cancel in the sum of both directions.
        let middle = 0.5 * (p + q);
        let part = |share: f64| {
            if share > 0.0 {
                share * (share / middle).log2()
            } else {
                0.0
            }
        };
        divergence += width * (part(p) + part(q));
        bound += width * (p + q);
    }
    if bound > 0.0 {
        (divergence / bound).max(0.0).sqrt()
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests;
