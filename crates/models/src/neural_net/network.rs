//! Layers of weights and what rows make of them, for a tile of rows at a time by products of matrices.

use super::Activation;
use crate::Rows;
use crate::design::Design;
use crate::families::unordered::{MAX_PREDICTORS, Unordered};
use ergodic_base::linalg::{Factor, add_product, axpy};

/// Rows of a tile: their covariates, 784 of the images of digits, stay in the second-level cache while two products read them.
pub const TILE_ROWS: usize = 64;

/// Sizes of a network, and where its weights stand: those of the first hidden units (P × H₁), of each further layer biases (Hₗ) and then
/// weights (Hₗ₋₁ × Hₗ), biases of scores (K), then weights of scores (H × K, H the units of the last layer), all row-major.
#[derive(Clone, Debug)]
pub struct Shape {
    /// P, the columns of rows with the intercept among them.
    pub inputs: usize,
    /// H₁, H₂, …: the units of each hidden layer, of which there is one at least.
    pub hidden: Vec<usize>,
    /// K.
    pub levels: usize,
}

impl Shape {
    /// H₁.
    pub fn first_units(&self) -> usize {
        self.hidden.first().copied().unwrap_or_default()
    }

    /// H, the units that scores are made of.
    pub fn last_units(&self) -> usize {
        self.hidden.last().copied().unwrap_or_default()
    }

    /// Units before and in each layer behind the first hidden one, that of scores among them.
    pub fn behind(&self) -> impl Iterator<Item = (usize, usize)> {
        let after = self.hidden.iter().skip(1).chain([&self.levels]);
        self.hidden
            .iter()
            .zip(after)
            .map(|(before, own)| (*before, *own))
    }

    /// Number of weights of the first hidden units.
    pub fn num_first(&self) -> usize {
        self.inputs * self.first_units()
    }

    /// Number of weights of hidden units, with their biases.
    pub fn num_hidden(&self) -> usize {
        self.num_weights() - self.levels * (1 + self.last_units())
    }

    /// Number of all weights.
    pub fn num_weights(&self) -> usize {
        let behind: usize = self.behind().map(|(before, own)| own * (1 + before)).sum();
        self.num_first() + behind
    }

    /// Where biases of the `l`-th layer behind the first one begin, and its units before and in it.
    fn place(&self, l: usize) -> (usize, usize, usize) {
        let earlier: usize = (self.behind().take(l))
            .map(|(before, own)| own * (1 + before))
            .sum();
        let (before, own) = self.behind().nth(l).unwrap_or_default();
        (self.num_first() + earlier, before, own)
    }

    /// Biases and weights (units before × units) of the `l`-th layer behind the first one.
    fn layer<'a>(&self, l: usize, weights: &'a [f64]) -> (&'a [f64], &'a [f64]) {
        let (first, before, own) = self.place(l);
        let (bias, rest) = weights[first..].split_at(own);
        (bias, &rest[..before * own])
    }

    /// Biases and weights of the `l`-th layer behind the first one, to be written.
    fn layer_mut<'a>(&self, l: usize, weights: &'a mut [f64]) -> (&'a mut [f64], &'a mut [f64]) {
        let (first, before, own) = self.place(l);
        let (bias, rest) = weights[first..].split_at_mut(own);
        (bias, &mut rest[..before * own])
    }

    /// Units of all hidden layers.
    fn all_units(&self) -> usize {
        self.hidden.iter().sum()
    }

    /// Numbers that a tile takes ([`Tile::of`]).
    pub fn tile_len(&self) -> usize {
        TILE_ROWS * (self.inputs + 2 * self.all_units() + self.levels + 1)
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
    shape: &'a Shape,
    /// Covariates (rows × P).
    x: &'a mut [f64],
    /// What hidden units pass on, of one layer after the other (rows × Hₗ).
    units: &'a mut [f64],
    /// Derivatives in their sums (the same).
    slopes: &'a mut [f64],
    /// Scores of levels, then derivatives in them (rows × K).
    scores: &'a mut [f64],
    /// Log likelihoods.
    log_p: &'a mut [f64],
    len: usize,
}

/// The numbers of `len` rows in a hidden layer with the layers `before` it, among those of all layers.
fn layer_of<'a>(all: &'a [f64], before: &[usize], units: usize, len: usize) -> &'a [f64] {
    &all[TILE_ROWS * before.iter().sum::<usize>()..][..len * units]
}

/// The numbers of `len` rows in a hidden layer, to be written, and those of the layer before it.
fn with_before<'a>(
    all: &'a mut [f64],
    before: &[usize],
    units: usize,
    len: usize,
) -> (&'a mut [f64], &'a mut [f64]) {
    let (earlier, rest) = all.split_at_mut(TILE_ROWS * before.iter().sum::<usize>());
    let last = before.last().copied().unwrap_or_default();
    let at = earlier.len() - TILE_ROWS * last;
    (&mut earlier[at..][..len * last], &mut rest[..len * units])
}

impl<'a> Tile<'a> {
    /// In `memory` of [`Shape::tile_len`] numbers.
    pub fn of(shape: &'a Shape, memory: &'a mut [f64]) -> Self {
        let units = TILE_ROWS * shape.all_units();
        let (x, rest) = memory.split_at_mut(TILE_ROWS * shape.inputs);
        let (units, rest) = rest.split_at_mut(units);
        let (slopes, rest) = rest.split_at_mut(units.len());
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
        let (shape, inputs, levels) = (self.shape, self.shape.inputs, self.shape.levels);
        let all = rows.len(data.place.len());
        self.len = TILE_ROWS.min(all - first);
        let x = &mut self.x[..self.len * inputs];
        for (k, x) in x.chunks_exact_mut(inputs).enumerate() {
            data.write(rows.get(first + k), x);
        }
        for (l, &units) in shape.hidden.iter().enumerate() {
            let (before, own) = with_before(self.units, &shape.hidden[..l], units, self.len);
            match l.checked_sub(1) {
                None => {
                    own.fill(0.0);
                    let hidden = Factor::of(&weights[..shape.num_first()], units);
                    add_product(Factor::of(x, inputs), hidden, own);
                }
                Some(behind) => {
                    let (bias, weights) = shape.layer(behind, weights);
                    (own.chunks_exact_mut(units)).for_each(|own| own.copy_from_slice(bias));
                    let before = Factor::of(before, shape.hidden[behind]);
                    add_product(before, Factor::of(weights, units), own);
                }
            }
            (own.chunks_exact_mut(units)).for_each(|units| activation.apply(units));
        }
        let (bias, output) = shape.layer(shape.hidden.len() - 1, weights);
        let scores = &mut self.scores[..self.len * levels];
        (scores.chunks_exact_mut(levels)).for_each(|scores| scores.copy_from_slice(bias));
        let units = shape.last_units();
        let before = &shape.hidden[..shape.hidden.len() - 1];
        let own = layer_of(self.units, before, units, self.len);
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
        let (shape, len) = (self.shape, self.len);
        for (l, &units) in shape.hidden.iter().enumerate().rev() {
            let before = &shape.hidden[..l];
            let (own, after) = self
                .slopes
                .split_at_mut(TILE_ROWS * (before.iter().sum::<usize>() + units));
            let start = own.len() - TILE_ROWS * units;
            let slopes = &mut own[start..][..len * units];
            slopes.fill(0.0);
            // What the layer passes on to the next one, or to scores.
            let (after, width) = match shape.hidden.get(l + 1) {
                Some(&width) => (&after[..len * width], width),
                None => (&self.scores[..len * shape.levels], shape.levels),
            };
            let (_bias, layer) = shape.layer(l, weights);
            let layer = Factor::of(layer, width).transposed();
            add_product(Factor::of(after, width), layer, slopes);
            let passed = layer_of(self.units, before, units, len);
            let rows = (passed.chunks_exact(units)).zip(slopes.chunks_exact_mut(units));
            rows.for_each(|(units, slopes)| activation.pull_back(units, slopes));
        }
    }

    /// After [`Self::pull_back`]: derivatives of `len` rows in the sums of the `l`-th layer behind the first one, and what the layer
    /// before it passed on.
    fn behind(&self, l: usize) -> (&[f64], &[f64]) {
        let (hidden, len) = (&self.shape.hidden, self.len);
        let passed = layer_of(self.units, &hidden[..l], hidden[l], len);
        let slopes = match hidden.get(l + 1) {
            Some(&units) => layer_of(self.slopes, &hidden[..=l], units, len),
            None => &self.scores[..len * self.shape.levels],
        };
        (slopes, passed)
    }

    /// After [`Self::pull_back`]: ADDS the gradient in weights of the rows of the tile.
    pub fn add_gradient(&self, grad: &mut [f64]) {
        let (shape, inputs) = (self.shape, self.shape.inputs);
        let units = shape.first_units();
        let x = Factor::of(&self.x[..self.len * inputs], inputs);
        let slopes = Factor::of(&self.slopes[..self.len * units], units);
        add_product(x.transposed(), slopes, &mut grad[..shape.num_first()]);
        for (l, (before, own)) in shape.behind().enumerate() {
            let (slopes, passed) = self.behind(l);
            let (bias, weights) = shape.layer_mut(l, grad);
            for slopes in slopes.chunks_exact(own) {
                axpy(1.0, slopes, bias);
            }
            let passed = Factor::of(passed, before);
            add_product(passed.transposed(), Factor::of(slopes, own), weights);
        }
    }

    /// Adds the gradient of the `k`-th row alone.
    pub fn add_gradient_of(&self, k: usize, grad: &mut [f64]) {
        let (shape, inputs) = (self.shape, self.shape.inputs);
        let units = shape.first_units();
        let slopes = &self.slopes[k * units..][..units];
        let x = &self.x[k * inputs..][..inputs];
        let first = grad[..shape.num_first()].chunks_exact_mut(units);
        for (x, hidden) in x.iter().zip(first) {
            axpy(*x, slopes, hidden);
        }
        for (l, (before, own)) in shape.behind().enumerate() {
            let (slopes, passed) = self.behind(l);
            let (slopes, passed) = (&slopes[k * own..][..own], &passed[k * before..][..before]);
            let (bias, weights) = shape.layer_mut(l, grad);
            axpy(1.0, slopes, bias);
            for (unit, weights) in passed.iter().zip(weights.chunks_exact_mut(own)) {
                axpy(*unit, slopes, weights);
            }
        }
    }
}
