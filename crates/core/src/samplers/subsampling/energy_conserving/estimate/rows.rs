//! Rows of a subsample beside their expansions: by their linear predictors or, where rows have none, by their scores.
//!
//! Without a linear predictor the control variate of row i is q_i = ℓ_i(û) + s_i'δ − ½ δ'C_iδ (Dang et al. 2019, (11)), with
//! δ = u − û and the score s_i and the curvature C_i = −∇²ℓ_i of the row at û; its difference d_i = ℓ_i(u) − q_i has the gradient
//! s_i(u) − s_i + C_iδ. The s_i are kept. Of C_i only its product with δ is needed, which is the central difference
//!
//! C_iδ = (s_i(û − tδ) − s_i(û + tδ))/(2t):
//!
//! two scores more per row and gradient, and no matrix per row.

use std::ops::Range;

use super::Expansion;
use crate::models::{LinearRows, RowLikelihood, Rows, Scratch};
use crate::samplers::StateVisitor;
use ergodic_base::linalg::{axpy, dot};

/// t. A share of δ, so that the units of coordinates do not matter; a power of two, so that it adds no rounding of its own. What C_iδ
/// leaves out is t²/6 of the fourth order of ℓ_i in δ, and rounding adds 1e-13 of a score: the sum of q_i that is known differs from
/// that of the q_i in use by far less than a thousandth.
const STEP: f64 = 1.0 / 1024.0;
/// Rows whose scores at û ± tδ are held at a time: a few tens of thousands of numbers at most.
const TILE_ROWS: usize = 64;

/// Gradients of rows that evaluating one row costs with expansions of `order`: its own and, where second derivatives are differences of
/// scores, those of both.
pub fn evaluations(model: &dyn RowLikelihood, order: usize) -> u64 {
    if order > 1 && model.linear_rows().is_none() {
        3
    } else {
        1
    }
}

/// What is kept of the rows of a subsample, whose rows stand in the same order.
pub enum RowMemory {
    /// Rows with one linear predictor: numbers.
    Linear(LinearMemory),
    /// Others: scores and gradients.
    Scores(ScoreMemory),
}

impl RowMemory {
    /// Room for `size` rows with expansions of `order`.
    pub fn new(model: &dyn RowLikelihood, order: usize, size: usize) -> Self {
        match model.linear_rows() {
            Some(_) => Self::Linear(LinearMemory::new(size)),
            None => Self::Scores(ScoreMemory::new(model, order, size)),
        }
    }

    /// Bytes of what is kept of `rows` rows besides a few numbers of each.
    pub fn bytes(model: &dyn RowLikelihood, rows: usize) -> f64 {
        match model.linear_rows() {
            Some(_) => 0.0,
            None => 2.0 * 8.0 * rows as f64 * model.dim() as f64,
        }
    }

    /// Without gradients of differences, where values alone are asked for.
    pub fn of_values(self) -> Self {
        match self {
            // Slopes come with the values.
            Self::Linear(_) => self,
            Self::Scores(memory) => Self::Scores(ScoreMemory {
                gradient_dim: 0,
                gradients: Vec::new(),
                ..memory
            }),
        }
    }

    /// Gradients of rows that evaluating one row costs.
    pub fn evaluations(&self) -> u64 {
        match self {
            Self::Linear(_) => 1,
            Self::Scores(memory) => memory.evaluations,
        }
    }

    /// Computes what is known at the control-variate centre about `picks`, whose first row has the place `start`.
    pub fn expand(
        &mut self,
        (start, picks): (usize, &[u32]),
        expansion: &Expansion,
        model: &dyn RowLikelihood,
        scratch: &mut Scratch,
    ) {
        match (self, model.linear_rows()) {
            (Self::Linear(memory), Some(linear)) => {
                memory.expand((start, picks), expansion, linear, scratch);
            }
            (Self::Scores(memory), _) => memory.expand((start, picks), expansion, model, scratch),
            // The same model has no linear rows now although it had them.
            (Self::Linear(_), None) => {}
        }
    }

    /// Writes weighed differences at `u` of `picks` (m), whose first row has the place `start`, and keeps their gradients.
    pub fn evaluate(
        &mut self,
        (start, picks): (usize, &[u32]),
        u: &[f64],
        expansion: &Expansion,
        model: &dyn RowLikelihood,
        scratch: &mut Scratch,
        differences: &mut [f64],
    ) {
        match (self, model.linear_rows()) {
            (Self::Linear(memory), Some(linear)) => {
                memory.evaluate((start, picks), u, linear, scratch, differences);
            }
            (Self::Scores(memory), _) => {
                memory.evaluate((start, picks), u, expansion, model, scratch, differences);
            }
            (Self::Linear(_), None) => differences.fill(f64::NAN),
        }
    }

    /// ADDS Σ w_k ∇d_k over the first rows, `picks`, to `grad` (D); `weights` (m) are overwritten.
    pub fn add_weighted_gradients(
        &self,
        picks: &[u32],
        weights: &mut [f64],
        model: &dyn RowLikelihood,
        grad: &mut [f64],
    ) {
        match (self, model.linear_rows()) {
            (Self::Linear(memory), Some(linear)) => {
                for (weight, slope) in weights.iter_mut().zip(&memory.slopes) {
                    *weight *= slope;
                }
                linear.add_weighted_covariates(Rows::Pick(picks), weights, grad);
            }
            (Self::Scores(memory), _) => {
                let gradients = memory.gradients.chunks_exact(memory.dim);
                for (weight, gradient) in weights.iter().zip(gradients) {
                    axpy(*weight, gradient, grad);
                }
            }
            (Self::Linear(_), None) => grad.fill(f64::NAN),
        }
    }

    /// The rows in `range` become the first.
    pub fn copy_to_front(&mut self, range: Range<usize>) {
        match self {
            Self::Linear(memory) => {
                memory.centre.copy_within(range.clone(), 0);
                memory.slopes.copy_within(range, 0);
            }
            Self::Scores(memory) => {
                memory.values.copy_within(range.clone(), 0);
                memory.weights.copy_within(range.clone(), 0);
                let numbers = |width: usize| range.start * width..range.end * width;
                memory
                    .gradients
                    .copy_within(numbers(memory.gradient_dim), 0);
                memory.scores.copy_within(numbers(memory.dim), 0);
            }
        }
    }

    /// The first `count` of the first `len` rows become the last of these.
    pub fn rotate_left(&mut self, len: usize, count: usize) {
        match self {
            Self::Linear(memory) => {
                memory.centre[..len].rotate_left(count);
                memory.slopes[..len].rotate_left(count);
            }
            Self::Scores(memory) => {
                memory.values[..len].rotate_left(count);
                memory.weights[..len].rotate_left(count);
                let (dim, of_gradients) = (memory.dim, memory.gradient_dim);
                memory.gradients[..len * of_gradients].rotate_left(count * of_gradients);
                memory.scores[..len * dim].rotate_left(count * dim);
            }
        }
    }

    /// Visits what is known at the control-variate centre.
    pub fn visit(&mut self, visitor: &mut dyn StateVisitor) {
        match self {
            Self::Linear(memory) => {
                visitor.slice("subsample_at_expansion", memory.centre.as_flattened_mut());
            }
            Self::Scores(memory) => {
                visitor.slice("subsample_at_expansion", &mut memory.values);
                visitor.slice("subsample_weights", &mut memory.weights);
                visitor.slice("subsample_scores", &mut memory.scores);
            }
        }
    }
}

/// Rows with one linear predictor.
pub struct LinearMemory {
    /// ẑ, ℓ, ℓ' and ℓ'' there as far as the order goes, and 1/(N p_i).
    centre: Vec<[f64; 5]>,
    /// Working memory: z, ℓ and ℓ' at the present point.
    terms: Vec<[f64; 3]>,
    /// ∂d/∂z, weighed; while rows are expanded, working memory.
    slopes: Vec<f64>,
}

impl LinearMemory {
    fn new(size: usize) -> Self {
        Self {
            centre: vec![[0.0; 5]; size],
            terms: vec![[0.0; 3]; size],
            slopes: vec![0.0; size],
        }
    }

    /// See [`RowMemory::expand`].
    fn expand(
        &mut self,
        (start, picks): (usize, &[u32]),
        expansion: &Expansion,
        linear: &dyn LinearRows,
        scratch: &mut Scratch,
    ) {
        let range = start..start + picks.len();
        let terms = &mut self.terms[range.clone()];
        linear.row_terms(&expansion.u, Rows::Pick(picks), scratch, terms);
        let curvatures = &mut self.slopes[range.clone()];
        if expansion.order > 1 {
            linear.curvatures(&expansion.u, Rows::Pick(picks), scratch, curvatures);
        } else {
            curvatures.fill(0.0);
        }
        let rows = self.centre[range].iter_mut().zip(picks);
        for ((out, &row), ([z, value, slope], curvature)) in rows.zip(terms.iter().zip(curvatures))
        {
            let slope = if expansion.order > 0 { *slope } else { 0.0 };
            *out = [*z, *value, slope, -*curvature, expansion.weight(row)];
        }
    }

    /// See [`RowMemory::evaluate`].
    fn evaluate(
        &mut self,
        (start, picks): (usize, &[u32]),
        u: &[f64],
        linear: &dyn LinearRows,
        scratch: &mut Scratch,
        differences: &mut [f64],
    ) {
        let range = start..start + picks.len();
        let terms = &mut self.terms[range.clone()];
        linear.row_terms(u, Rows::Pick(picks), scratch, terms);
        for (k, difference) in range.zip(differences) {
            let [z, value, slope] = self.terms[k];
            let [z_0, value_0, first, second, weight] = self.centre[k];
            let step = z - z_0;
            *difference = weight * (value - value_0 - (first + 0.5 * second * step) * step);
            self.slopes[k] = weight * (slope - first - second * step);
        }
    }
}

/// Rows that depend on the parameters in whatever way.
pub struct ScoreMemory {
    dim: usize,
    evaluations: u64,
    /// ℓ_i(û), and 1/(N p_i), one per row.
    values: Vec<f64>,
    weights: Vec<f64>,
    /// s_i (m×D).
    scores: Vec<f64>,
    /// Numbers per gradient: D, or none where values alone are asked for.
    gradient_dim: usize,
    /// ∇d_i at the present point, weighed (m×D).
    gradients: Vec<f64>,
    /// Working memory: δ and a position (D); scores of a tile on either side of û.
    delta: Vec<f64>,
    point: Vec<f64>,
    above: Vec<f64>,
    below: Vec<f64>,
}

impl ScoreMemory {
    fn new(model: &dyn RowLikelihood, order: usize, size: usize) -> Self {
        let dim = model.dim();
        let tile = if order > 1 {
            TILE_ROWS.min(size) * dim
        } else {
            0
        };
        Self {
            dim,
            evaluations: evaluations(model, order),
            values: vec![0.0; size],
            weights: vec![0.0; size],
            scores: vec![0.0; size * dim],
            gradient_dim: dim,
            gradients: vec![0.0; size * dim],
            delta: vec![0.0; dim],
            point: vec![0.0; dim],
            above: vec![0.0; tile],
            below: vec![0.0; tile],
        }
    }

    /// See [`RowMemory::expand`].
    fn expand(
        &mut self,
        (start, picks): (usize, &[u32]),
        expansion: &Expansion,
        model: &dyn RowLikelihood,
        scratch: &mut Scratch,
    ) {
        if picks.is_empty() {
            return;
        }
        let (u, rows) = (&expansion.u, Rows::Pick(picks));
        let range = start..start + picks.len();
        model.pointwise(u, rows, scratch, &mut self.values[range.clone()]);
        for (weight, &row) in self.weights[range].iter_mut().zip(picks) {
            *weight = expansion.weight(row);
        }
        if expansion.order > 0 {
            let scores = &mut self.scores[start * self.dim..][..picks.len() * self.dim];
            model.scores(u, rows, scratch, scores);
        }
    }

    /// See [`RowMemory::evaluate`].
    fn evaluate(
        &mut self,
        (start, picks): (usize, &[u32]),
        u: &[f64],
        expansion: &Expansion,
        model: &dyn RowLikelihood,
        scratch: &mut Scratch,
        differences: &mut [f64],
    ) {
        if picks.is_empty() {
            return;
        }
        let rows = Rows::Pick(picks);
        model.pointwise(u, rows, scratch, differences);
        let gradient_dim = self.gradient_dim;
        let gradients = &mut self.gradients[start * gradient_dim..][..picks.len() * gradient_dim];
        if gradient_dim > 0 {
            model.scores(u, rows, scratch, gradients);
        }
        for ((delta, u), centre) in self.delta.iter_mut().zip(u).zip(&expansion.u) {
            *delta = u - centre;
        }
        if expansion.order > 1 {
            self.add_curvature((start, picks), &expansion.u, model, scratch, differences);
        }
        let scores = self.scores[start * self.dim..].chunks_exact(self.dim);
        let known = self.values[start..].iter().zip(&self.weights[start..]);
        for (k, ((difference, score), (value, weight))) in
            differences.iter_mut().zip(scores).zip(known).enumerate()
        {
            let gradient = &mut self.gradients[(start + k) * gradient_dim..][..gradient_dim];
            *difference -= value;
            if expansion.order > 0 {
                *difference -= dot(score, &self.delta);
                for (gradient, score) in gradient.iter_mut().zip(score) {
                    *gradient -= score;
                }
            }
            *difference *= weight;
            for gradient in gradient {
                *gradient *= weight;
            }
        }
    }

    /// ADDS ½ δ'C_iδ of each row to `differences` (m) and C_iδ to gradients.
    fn add_curvature(
        &mut self,
        (start, picks): (usize, &[u32]),
        centre: &[f64],
        model: &dyn RowLikelihood,
        scratch: &mut Scratch,
        differences: &mut [f64],
    ) {
        let (dim, gradient_dim, delta) = (self.dim, self.gradient_dim, &self.delta);
        let mut at = start;
        for (picks, differences) in picks
            .chunks(TILE_ROWS)
            .zip(differences.chunks_mut(TILE_ROWS))
        {
            let rows = Rows::Pick(picks);
            for (by, scores) in [(STEP, &mut self.above), (-STEP, &mut self.below)] {
                self.point.copy_from_slice(centre);
                axpy(by, delta, &mut self.point);
                model.scores(&self.point, rows, scratch, &mut scores[..picks.len() * dim]);
            }
            let sides = self
                .above
                .chunks_exact(dim)
                .zip(self.below.chunks_exact(dim));
            for (difference, (above, below)) in differences.iter_mut().zip(sides) {
                let gradient = &mut self.gradients[at * gradient_dim..][..gradient_dim];
                for j in 0..dim {
                    let product = (below[j] - above[j]) * (0.5 / STEP);
                    *difference += 0.5 * product * delta[j];
                    if let Some(gradient) = gradient.get_mut(j) {
                        *gradient += product;
                    }
                }
                at += 1;
            }
        }
    }
}
