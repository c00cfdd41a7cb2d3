//! Two layers of weights and what rows make of them, for a tile of rows at a time by products of matrices.

use super::Activation;
use crate::Rows;
use crate::design::matrix::Design;
use crate::families::unordered::{MAX_PREDICTORS, Unordered};
use ergodic_base::linalg::{Factor, add_product, axpy};

/// Rows of a tile: their covariates, 784 of the images of digits, stay in the second-level cache while two products read them.
pub const TILE_ROWS: usize = 64;

/// Sizes of a network, and where its weights stand: those of hidden units (P × H), then biases of scores (K), then weights of scores
/// (H × K), all row-major.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// P, the columns of rows with the intercept among them.
    pub inputs: usize,
    /// H.
    pub units: usize,
    /// K.
    pub levels: usize,
}

impl Shape {
    /// Number of weights of hidden units.
    pub fn num_hidden(&self) -> usize {
        self.inputs * self.units
    }

    /// Number of all weights.
    pub fn num_weights(&self) -> usize {
        self.num_hidden() + self.levels * (1 + self.units)
    }

    /// Weights of hidden units, biases of scores, weights of scores.
    fn parts<'a>(&self, weights: &'a [f64]) -> [&'a [f64]; 3] {
        let (hidden, rest) = weights.split_at(self.num_hidden());
        let (bias, output) = rest.split_at(self.levels);
        [hidden, bias, output]
    }

    fn parts_mut<'a>(&self, weights: &'a mut [f64]) -> [&'a mut [f64]; 3] {
        let (hidden, rest) = weights.split_at_mut(self.num_hidden());
        let (bias, output) = rest.split_at_mut(self.levels);
        [hidden, bias, output]
    }

    /// Numbers that a tile takes ([`Tile::of`]).
    pub fn tile_len(&self) -> usize {
        TILE_ROWS * (self.inputs + 2 * self.units + self.levels + 1)
    }
}

/// What rows are made of.
pub struct Data<'a> {
    /// The design.
    pub design: &'a Design,
    /// Whether covariates are taken as the table has them instead of centred and scaled.
    pub raw: bool,
    /// Level of each row, from 0.
    pub place: &'a [u8],
}

impl Data<'_> {
    fn weight(&self, i: usize) -> f64 {
        (self.design.weights.as_ref()).map_or(1.0, |weights| weights[i])
    }

    /// Writes the covariates of row `i`.
    fn write(&self, i: usize, out: &mut [f64]) {
        let design = self.design;
        for (out, x) in out.iter_mut().zip(design.x.row(i)) {
            *out = *x;
        }
        if self.raw {
            let scaling = design.raw_center.iter().zip(&design.raw_scale);
            for (out, (centre, scale)) in out.iter_mut().zip(scaling) {
                *out = *out * scale + centre;
            }
        }
    }
}

/// Working memory for a tile of rows.
pub struct Tile<'a> {
    shape: Shape,
    /// Covariates (rows × P).
    x: &'a mut [f64],
    /// What hidden units pass on (rows × H).
    units: &'a mut [f64],
    /// Derivatives in their sums (rows × H).
    slopes: &'a mut [f64],
    /// Scores of levels, then derivatives in them (rows × K).
    scores: &'a mut [f64],
    /// Log likelihoods.
    log_p: &'a mut [f64],
    len: usize,
}

impl<'a> Tile<'a> {
    /// In `memory` of [`Shape::tile_len`] numbers.
    pub fn of(shape: Shape, memory: &'a mut [f64]) -> Self {
        let (x, rest) = memory.split_at_mut(TILE_ROWS * shape.inputs);
        let (units, rest) = rest.split_at_mut(TILE_ROWS * shape.units);
        let (slopes, rest) = rest.split_at_mut(TILE_ROWS * shape.units);
        let (scores, log_p) = rest.split_at_mut(TILE_ROWS * shape.levels);
        Self {
            shape,
            x,
            units,
            slopes,
            scores,
            log_p,
            len: 0,
        }
    }

    /// Computes scores under `weights` of at most [`TILE_ROWS`] of `rows` from the `first`-th on.
    pub fn score(
        &mut self,
        data: &Data<'_>,
        activation: Activation,
        weights: &[f64],
        (rows, first): (Rows<'_>, usize),
    ) {
        let Shape {
            inputs,
            units,
            levels,
        } = self.shape;
        let all = rows.len(data.place.len());
        self.len = TILE_ROWS.min(all - first);
        let [hidden, bias, output] = self.shape.parts(weights);
        let x = &mut self.x[..self.len * inputs];
        for (k, x) in x.chunks_exact_mut(inputs).enumerate() {
            data.write(rows.get(first + k), x);
        }
        let own = &mut self.units[..self.len * units];
        own.fill(0.0);
        add_product(Factor::of(x, inputs), Factor::of(hidden, units), own);
        (own.chunks_exact_mut(units)).for_each(|units| activation.apply(units));
        let scores = &mut self.scores[..self.len * levels];
        (scores.chunks_exact_mut(levels)).for_each(|scores| scores.copy_from_slice(bias));
        add_product(Factor::of(own, units), Factor::of(output, levels), scores);
    }

    /// Chances of all levels but the first of the `k`-th row, into `chances`.
    pub fn chances(&self, k: usize, chances: &mut [f64]) -> f64 {
        let levels = self.shape.levels;
        let scores = &self.scores[k * levels..][..levels];
        for (chance, score) in chances.iter_mut().zip(&scores[1..]) {
            *chance = score - scores[0];
        }
        Unordered::new(levels).chances(chances)
    }

    /// Turns scores into derivatives in them, for rows that begin with the `first`-th of `rows`; log likelihoods are known then.
    pub fn judge(&mut self, data: &Data<'_>, (rows, first): (Rows<'_>, usize)) -> &[f64] {
        let levels = self.shape.levels;
        let mut chances = [0.0; MAX_PREDICTORS];
        let chances = &mut chances[..levels - 1];
        for k in 0..self.len {
            let i = rows.get(first + k);
            let (own, weight) = (data.place[i] as usize, data.weight(i));
            let log_total = self.chances(k, chances);
            let scores = &mut self.scores[k * levels..][..levels];
            self.log_p[k] = weight * (scores[own] - scores[0] - log_total);
            scores[0] = -weight * (-log_total).exp();
            for (score, chance) in scores[1..].iter_mut().zip(&*chances) {
                *score = -weight * chance;
            }
            scores[own] += weight;
        }
        &self.log_p[..self.len]
    }

    /// After [`Self::judge`]: derivatives in the sums of hidden units.
    pub fn pull_back(&mut self, activation: Activation, weights: &[f64]) {
        let Shape { units, levels, .. } = self.shape;
        let [_hidden, _bias, output] = self.shape.parts(weights);
        let slopes = &mut self.slopes[..self.len * units];
        slopes.fill(0.0);
        let scores = Factor::of(&self.scores[..self.len * levels], levels);
        add_product(scores, Factor::of(output, levels).transposed(), slopes);
        let rows = (self.units.chunks_exact(units)).zip(slopes.chunks_exact_mut(units));
        rows.for_each(|(units, slopes)| activation.pull_back(units, slopes));
    }

    /// After [`Self::pull_back`]: ADDS the gradient in weights of the rows of the tile.
    pub fn add_gradient(&self, grad: &mut [f64]) {
        let Shape {
            inputs,
            units,
            levels,
        } = self.shape;
        let [hidden, bias, output] = self.shape.parts_mut(grad);
        let x = Factor::of(&self.x[..self.len * inputs], inputs);
        let slopes = Factor::of(&self.slopes[..self.len * units], units);
        add_product(x.transposed(), slopes, hidden);
        let scores = &self.scores[..self.len * levels];
        for scores in scores.chunks_exact(levels) {
            axpy(1.0, scores, bias);
        }
        let own = Factor::of(&self.units[..self.len * units], units);
        add_product(own.transposed(), Factor::of(scores, levels), output);
    }

    /// Adds the gradient of the `k`-th row alone.
    pub fn add_gradient_of(&self, k: usize, grad: &mut [f64]) {
        let Shape {
            inputs,
            units,
            levels,
        } = self.shape;
        let [hidden, bias, output] = self.shape.parts_mut(grad);
        let slopes = &self.slopes[k * units..][..units];
        let x = &self.x[k * inputs..][..inputs];
        for (x, hidden) in x.iter().zip(hidden.chunks_exact_mut(units)) {
            axpy(*x, slopes, hidden);
        }
        let scores = &self.scores[k * levels..][..levels];
        axpy(1.0, scores, bias);
        let own = &self.units[k * units..][..units];
        for (unit, output) in own.iter().zip(output.chunks_exact_mut(levels)) {
            axpy(*unit, scores, output);
        }
    }
}
