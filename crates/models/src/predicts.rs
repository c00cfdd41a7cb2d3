//! The view of a model that predicts new rows from one linear predictor.

use super::neural_net::Activation;
use crate::families::Outcome;
use crate::families::unordered::Unordered;

/// How an outcome follows from the linear predictors of its row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// An outcome around one linear predictor.
    One(Outcome),
    /// An outcome that is a level, where each level but the first has a linear predictor.
    Levels(Unordered),
}

impl Law {
    /// Linear predictors of a row, L.
    pub fn num_predictors(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Levels(levels) => levels.num_predictors(),
        }
    }
}

/// A draw on the scale of the data: with columns x as they are, the linear predictor of a row is x'b + offset + Σ_t z_t'r_t of
/// its groups.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Coefficients b (P), of groups their population's; of several linear predictors those of one after the other (L × P).
    pub coefficients: Vec<f64>,
    /// What follows from the linear predictors.
    pub law: Law,
    /// One per group term of the design.
    pub terms: Vec<PointTerm>,
    /// What stands between sums of columns and linear predictors, where these are not the same: `coefficients` are then those of the sums
    /// of hidden units (H × P).
    pub layer: Option<HiddenLayer>,
}

/// The hidden layers of a network in a draw: linear predictors from the sums of the first hidden units.
#[derive(Clone, Debug, PartialEq)]
pub struct HiddenLayer {
    activation: Activation,
    /// Units of each layer, H₁, H₂, ….
    hidden: Vec<usize>,
    /// Of each layer but the first: sums without units before, and what each of these adds ((Hₗ₋₁ + 1) × Hₗ).
    further: Vec<f64>,
    /// By how much the score of each level but the first grows more than that of the first: without units, and with each ((H + 1) × (K − 1)).
    weights: Vec<f64>,
}

impl HiddenLayer {
    /// Layers of `hidden` units. `weights` are, of each layer but the first, intercepts and then weights of the units before
    /// ((Hₗ₋₁ + 1) × Hₗ), and the same of the scores of `num_levels` levels ((H + 1) × K).
    pub fn new(
        activation: Activation,
        hidden: &[usize],
        weights: &[f64],
        num_levels: usize,
    ) -> Self {
        let further = hidden.windows(2).map(|pair| (pair[0] + 1) * pair[1]).sum();
        let (further, scores) = weights.split_at(further);
        let scores = scores.chunks_exact(num_levels);
        let weights = scores.flat_map(|scores| scores[1..].iter().map(|it| it - scores[0]));
        Self {
            activation,
            hidden: hidden.to_vec(),
            further: further.to_vec(),
            weights: weights.collect(),
        }
    }

    /// H₁.
    pub fn num_units(&self) -> usize {
        self.hidden.first().copied().unwrap_or_default()
    }

    /// Writes the linear predictors of a row (K − 1) whose first hidden units have these sums (H₁), which are used up.
    pub fn predictors(&self, units: &mut [f64], out: &mut [f64]) {
        self.activation.apply(units);
        let (mut own, mut rest): (Vec<f64>, &[f64]) = (Vec::new(), &self.further);
        for &next in &self.hidden[1..] {
            let before = if own.is_empty() { &*units } else { &own };
            let (layer, after) = rest.split_at((before.len() + 1) * next);
            let mut sums = vec![0.0; next];
            sum(layer, before, &mut sums);
            self.activation.apply(&mut sums);
            (own, rest) = (sums, after);
        }
        sum(
            &self.weights,
            if own.is_empty() { units } else { &own },
            out,
        );
    }
}

/// Writes what `units` add up to in a layer, whose intercepts stand before its weights.
fn sum(layer: &[f64], units: &[f64], out: &mut [f64]) {
    let (intercepts, weights) = layer.split_at(out.len());
    out.copy_from_slice(intercepts);
    for (unit, weights) in units.iter().zip(weights.chunks_exact(out.len())) {
        ergodic_base::linalg::axpy(*unit, weights, out);
    }
}

/// The effects of one group term in a draw.
#[derive(Clone, Debug, PartialEq)]
pub struct PointTerm {
    /// Deviations of groups from the population, groups × q, row-major.
    pub effects: Vec<f64>,
    /// L with LL' their covariance, q × q, row-major.
    pub factor: Vec<f64>,
}

/// The view of a model that predicts outcomes of new rows from one linear predictor.
pub trait Predicts {
    /// A draw from its reported quantities (Q); `None` where these are no draw of this model.
    fn point(&self, theta: &[f64]) -> Option<Point>;
}
