//! How far apart two posteriors of the same quantities are as a whole, from weighted draws of both.
//!
//! Every quantity is first centred at its mean in the first posterior and divided by its standard deviation there, so that no
//! distance depends on units:
//!
//! | distance | definition |
//! |---|---|
//! | energy | 2 E\|X − Y\| − E\|X − X'\| − E\|Y − Y'\| (Székely and Rizzo 2013), over all pairs of draws: 0 only for equal laws |
//! | Wasserstein-2 | of the normal distributions with the means and covariances of both: \|μ₁ − μ₂\|² + tr(Σ₁ + Σ₂ − 2 (Σ₂^½ Σ₁ Σ₂^½)^½), its root (Dowson and Landau 1982) |
//! | sliced Wasserstein-2 | of the draws, along one direction after the other ([`sliced`]): shapes count, not means and covariances alone |
//! | Kolmogorov-Smirnov | of the draws, coordinate by coordinate of Rosenblatt's transform ([`rosenblatt`]), its mean: how quantities hang together counts too |
//! | Kullback-Leibler | E log p/q, densities by the distance of the k-th nearest draw ([`divergence`]; Wang, Kulkarni and Verdú 2009, equation 5) |
//!
//! All of them are positive by chance, the more so the fewer draws there are. What chance does is read off both runs: the first
//! half of each chain against the second, and every second chain against the others ([`Apart::halves`]).

mod rosenblatt;
mod sliced;

use rayon::prelude::*;

use super::summary::{append_column, shortest};
use super::{CONSTANT_RANGE, Missing, moments, weights};
use ergodic_base::draws::DrawList;
use ergodic_base::linalg::{dot, symmetric_eigen};

/// Draws of each posterior that pairs are made of, evenly spaced: with more, pairs take long and tell little.
pub(crate) const PAIRED_DRAWS: usize = 1_000;
/// Quantities that a joint distance is of at most: between nearest neighbours among a thousand draws nothing is left to see in
/// more dimensions.
pub const MOST_QUANTITIES: usize = 50;
/// Which neighbour densities are read off: the fifth has less than half of the variance of the nearest, and is about as local.
const NEIGHBOURS: usize = 5;
/// Share of the largest variance below which a direction is a sum of others up to rounding, such as that of shares that add up
/// to 1.
const FLAT: f64 = 1e-10;

/// Draws as points with weights.
#[derive(Clone, Debug)]
pub struct Cloud {
    dim: usize,
    /// n×D, row-major.
    points: Vec<f64>,
    /// Weights of the points, whose sum is 1.
    weights: Vec<f64>,
    /// Of each point: whether it is of the second half of its chain, and whether its chain has an odd number.
    sides: Vec<[bool; 2]>,
}

impl Cloud {
    /// The draws of `columns`, in this order, of all chains, which are cut to the shortest; `weights` of their draws are one
    /// vector per chain, or none.
    ///
    /// # Errors
    /// Fewer than two draws, a quantity that is constant, values that are not finite, weights that cancel.
    pub fn of(
        chains: &[&DrawList],
        weights: &[Vec<f64>],
        columns: &[usize],
    ) -> Result<Self, Missing> {
        let (draws, dim) = (shortest(chains), columns.len());
        let count = draws * chains.len();
        if count < 2 {
            return Err(Missing::TooFew);
        }
        let relative = weights::relative(weights, draws).transpose()?;
        let mut points = vec![0.0; count * dim];
        let mut values = Vec::with_capacity(count);
        for (j, &column) in columns.iter().enumerate() {
            values.clear();
            append_column(&mut values, chains, column, draws);
            if values.iter().any(|x| !x.is_finite()) {
                return Err(Missing::NotFinite);
            }
            let [least, greatest] = moments::range(&values);
            if greatest - least < CONSTANT_RANGE {
                return Err(Missing::Constant);
            }
            for (point, &value) in points.chunks_exact_mut(dim).zip(&values) {
                point[j] = value;
            }
        }
        let side = |i: usize| [2 * (i % draws) >= draws, (i / draws) % 2 == 1];
        Self {
            dim,
            points,
            weights: relative.unwrap_or_else(|| vec![1.0; count]),
            sides: (0..count).map(side).collect(),
        }
        .normalised()
    }

    /// Points.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// Whether a weight is negative, so that the points have no density and no quantiles.
    fn is_signed(&self) -> bool {
        self.weights.iter().any(|&w| w < 0.0)
    }

    fn point(&self, i: usize) -> &[f64] {
        &self.points[i * self.dim..(i + 1) * self.dim]
    }

    fn normalised(mut self) -> Result<Self, Missing> {
        let total: f64 = self.weights.iter().sum();
        if !(total.is_finite() && total > 0.0) {
            return Err(Missing::Weights);
        }
        self.weights.iter_mut().for_each(|w| *w /= total);
        Ok(self)
    }

    /// The points at these positions.
    fn at(&self, positions: impl Iterator<Item = usize>) -> Result<Self, Missing> {
        let mut part = Self {
            dim: self.dim,
            points: Vec::new(),
            weights: Vec::new(),
            sides: Vec::new(),
        };
        for i in positions {
            part.points.extend_from_slice(self.point(i));
            part.weights.push(self.weights[i]);
            part.sides.push(self.sides[i]);
        }
        if part.len() < 2 {
            return Err(Missing::TooFew);
        }
        part.normalised()
    }

    /// At most `most` of the points, evenly spaced.
    fn thinned(&self, most: usize) -> Result<Self, Missing> {
        let (all, kept) = (self.len(), most.min(self.len()));
        self.at((0..kept).map(|k| k * all / kept))
    }

    /// One side of one of the two ways to split the points.
    fn half(&self, way: usize, side: bool) -> Result<Self, Missing> {
        self.at((0..self.len()).filter(|&i| self.sides[i][way] == side))
    }

    /// Mean (D) and covariance (D×D).
    fn moments(&self) -> (Vec<f64>, Vec<f64>) {
        let dim = self.dim;
        let (mut mean, mut covariance) = (vec![0.0; dim], vec![0.0; dim * dim]);
        let points = || self.points.chunks_exact(dim).zip(&self.weights);
        for (point, w) in points() {
            mean.iter_mut().zip(point).for_each(|(m, x)| *m += w * x);
        }
        let mut gap = vec![0.0; dim];
        for (point, w) in points() {
            for j in 0..dim {
                gap[j] = point[j] - mean[j];
                for k in 0..=j {
                    covariance[j * dim + k] += w * gap[j] * gap[k];
                }
            }
        }
        for j in 0..dim {
            for k in 0..j {
                covariance[k * dim + j] = covariance[j * dim + k];
            }
        }
        (mean, covariance)
    }

    /// The points where `rows`×D `map` takes them after `centre` was subtracted.
    fn mapped(&self, centre: &[f64], map: &[f64]) -> Self {
        let mut gap = vec![0.0; self.dim];
        let mut points = Vec::with_capacity(self.len() * map.len() / self.dim);
        for point in self.points.chunks_exact(self.dim) {
            for (gap, (x, c)) in gap.iter_mut().zip(point.iter().zip(centre)) {
                *gap = x - c;
            }
            points.extend(map.chunks_exact(self.dim).map(|row| dot(row, &gap)));
        }
        Self {
            dim: map.len() / self.dim,
            points,
            weights: self.weights.clone(),
            sides: self.sides.clone(),
        }
    }

    /// Points that are at the same place as one, with their weights added: samplers that reject stay where they are.
    fn merged(&self) -> Self {
        let by_place = |&i: &usize, &j: &usize| {
            let pairs = self.point(i).iter().zip(self.point(j));
            let mut orders = pairs.map(|(x, y)| x.total_cmp(y));
            orders
                .find(|order| order.is_ne())
                .unwrap_or(std::cmp::Ordering::Equal)
        };
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by(by_place);
        let mut merged = Self {
            dim: self.dim,
            points: Vec::new(),
            weights: Vec::new(),
            sides: Vec::new(),
        };
        for same in order.chunk_by(|i, j| by_place(i, j).is_eq()) {
            merged.points.extend_from_slice(self.point(same[0]));
            let weight: f64 = same.iter().map(|&i| self.weights[i]).sum();
            merged.weights.push(weight);
            merged.sides.push(self.sides[same[0]]);
        }
        merged
    }
}

/// Distances between two posteriors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distances {
    /// Energy distance, in standard deviations of the first.
    pub energy: f64,
    /// Energy distance as a share of 2 E|X − Y|, between 0 for equal and 1 for two points.
    pub energy_share: f64,
    /// Wasserstein-2 distance of the normal distributions with both means and covariances, in standard deviations of the first.
    pub wasserstein: f64,
    /// What of it is the distance of the means.
    pub wasserstein_means: f64,
    /// Sliced Wasserstein-2 distance of the draws, in standard deviations of the first. `None` with negative weights.
    pub sliced: Option<f64>,
    /// Mean Kolmogorov-Smirnov distance over the coordinates of Rosenblatt's transform for the normal distribution with the moments of
    /// the first. `None` with negative weights.
    pub rosenblatt: Option<f64>,
    /// Kullback-Leibler divergences in nats, from the first (under draws of the first) and from the second; below 0 by chance
    /// only. `None` with negative weights and where too few draws differ.
    pub divergence: Option<[f64; 2]>,
}

impl Distances {
    /// The larger of each.
    fn or_larger(self, other: Self) -> Self {
        let divergence = match (self.divergence, other.divergence) {
            (Some(a), Some(b)) => Some([a[0].max(b[0]), a[1].max(b[1])]),
            (one, other) => one.or(other),
        };
        let larger = |one: Option<f64>, other: Option<f64>| match (one, other) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (one, other) => one.or(other),
        };
        Self {
            energy: self.energy.max(other.energy),
            energy_share: self.energy_share.max(other.energy_share),
            wasserstein: self.wasserstein.max(other.wasserstein),
            wasserstein_means: self.wasserstein_means.max(other.wasserstein_means),
            sliced: larger(self.sliced, other.sliced),
            rosenblatt: larger(self.rosenblatt, other.rosenblatt),
            divergence,
        }
    }
}

/// Two posteriors as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Apart {
    /// Quantities that the distances are of.
    pub dim: usize,
    /// Draws of each that pairs were made of.
    pub paired: [usize; 2],
    /// How far apart they are.
    pub distances: Distances,
    /// The largest distances between halves of one run: what chance alone does, with half of the draws. `None` where no run can
    /// be split.
    pub halves: Option<Distances>,
}

/// Compares two posteriors, draws of the same quantities in the same order.
///
/// # Errors
/// Weights that cancel, also where the variance of a quantity is not positive for them; something that is not finite.
///
/// # Panics
/// If the quantities are not as many.
pub fn compare(one: &Cloud, other: &Cloud) -> Result<Apart, Missing> {
    assert_eq!(one.dim, other.dim, "the same quantities");
    let frame = Frame::of(one, other)?;
    let [one, other] = [one, other].map(|cloud| frame.scaled(cloud));
    let paired = [&one, &other].map(|cloud| cloud.thinned(PAIRED_DRAWS));
    let [paired_one, paired_other] = paired;
    let (paired_one, paired_other) = (paired_one?, paired_other?);
    let distances = frame.distances((&one, &other), (&paired_one, &paired_other))?;
    let mut halves: Option<Distances> = None;
    for (all, paired) in [(&one, &paired_one), (&other, &paired_other)] {
        for way in [0, 1] {
            let parts = |cloud: &Cloud| -> Result<(Cloud, Cloud), Missing> {
                Ok((cloud.half(way, false)?, cloud.half(way, true)?))
            };
            // One chain has no others, and signed weights may cancel in a half.
            let (Ok(all), Ok(paired)) = (parts(all), parts(paired)) else {
                continue;
            };
            let found = frame.distances((&all.0, &all.1), (&paired.0, &paired.1))?;
            halves = Some(halves.map_or(found, |so_far| so_far.or_larger(found)));
        }
    }
    Ok(Apart {
        dim: frame.centre.len(),
        paired: [paired_one.len(), paired_other.len()],
        distances,
        halves,
    })
}

/// The coordinates that distances are measured in.
struct Frame {
    /// Means of the first.
    centre: Vec<f64>,
    /// One over the standard deviations of the first, on the diagonal (D×D).
    scale: Vec<f64>,
    /// From scaled coordinates to those in which the average of both covariances is the identity, without flat directions (R×D).
    whiten: Vec<f64>,
    /// Rosenblatt's transform of scaled coordinates for the first (R×D).
    conditional: Vec<f64>,
}

impl Frame {
    fn of(one: &Cloud, other: &Cloud) -> Result<Self, Missing> {
        let dim = one.dim;
        let (centre, own) = one.moments();
        let (_, others) = other.moments();
        let mut scale = vec![0.0; dim * dim];
        for j in 0..dim {
            let variance = own[j * dim + j];
            if variance.is_nan() || variance <= 0.0 {
                return Err(Missing::Weights);
            }
            scale[j * dim + j] = 1.0 / variance.sqrt();
        }
        let in_units = |k: usize, value: f64| {
            let units = scale[k / dim * (dim + 1)] * scale[k % dim * (dim + 1)];
            value * units
        };
        let within: Vec<f64> = (0..dim * dim)
            .map(|k| in_units(k, 0.5 * (own[k] + others[k])))
            .collect();
        let of_first: Vec<f64> = (0..dim * dim).map(|k| in_units(k, own[k])).collect();
        let (values, vectors) = symmetric_eigen(&within, dim).ok_or(Missing::NotFinite)?;
        let largest = values.last().copied().unwrap_or(0.0);
        let mut whiten = Vec::with_capacity(dim * dim);
        for (value, vector) in values.iter().zip(vectors.chunks_exact(dim)) {
            if *value > FLAT * largest {
                whiten.extend(vector.iter().map(|v| v / value.sqrt()));
            }
        }
        Ok(Self {
            centre,
            scale,
            whiten,
            conditional: rosenblatt::transform(&of_first, dim),
        })
    }

    fn scaled(&self, cloud: &Cloud) -> Cloud {
        cloud.mapped(&self.centre, &self.scale)
    }

    /// Distances of scaled points: of normal approximations and along directions from all of them, of pairs from those kept for pairs.
    fn distances(
        &self,
        (one, other): (&Cloud, &Cloud),
        paired: (&Cloud, &Cloud),
    ) -> Result<Distances, Missing> {
        let (energy, energy_share) = energy(paired.0, paired.1);
        let (wasserstein, wasserstein_means) = wasserstein(&one.moments(), &other.moments())?;
        let zero = vec![0.0; self.centre.len()];
        let [a, b] = [paired.0, paired.1].map(|cloud| cloud.mapped(&zero, &self.whiten).merged());
        let divergence = match (divergence(&a, &b), divergence(&b, &a)) {
            (Ok(from), Ok(to)) if !one.is_signed() && !other.is_signed() => Some([from, to]),
            _ => None,
        };
        Ok(Distances {
            energy,
            energy_share,
            wasserstein,
            wasserstein_means,
            sliced: sliced::sliced(one, other),
            rosenblatt: rosenblatt::rosenblatt(one, other, &self.conditional).ok(),
            divergence,
        })
    }
}

/// Energy distance over all pairs, and its share of 2 E|X − Y|.
fn energy(one: &Cloud, other: &Cloud) -> (f64, f64) {
    let mean = |a: &Cloud, b: &Cloud| -> f64 {
        let rows: Vec<f64> = (0..a.len())
            .into_par_iter()
            .map(|i| {
                let pairs = b.points.chunks_exact(b.dim).zip(&b.weights);
                let sum: f64 = pairs.map(|(y, w)| w * squared(a.point(i), y).sqrt()).sum();
                a.weights[i] * sum
            })
            .collect();
        rows.iter().sum()
    };
    let between = 2.0 * mean(one, other);
    let energy = between - mean(one, one) - mean(other, other);
    let share = if between > 0.0 { energy / between } else { 0.0 };
    (energy, share)
}

fn squared(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum()
}

/// Wasserstein-2 distance of two normal distributions with these means and covariances, and that of their means alone.
fn wasserstein(
    (mean_1, covariance_1): &(Vec<f64>, Vec<f64>),
    (mean_2, covariance_2): &(Vec<f64>, Vec<f64>),
) -> Result<(f64, f64), Missing> {
    let dim = mean_1.len();
    let means = squared(mean_1, mean_2);
    let trace = |a: &[f64]| (0..dim).map(|j| a[j * (dim + 1)]).sum::<f64>();
    let (values, vectors) = symmetric_eigen(covariance_2, dim).ok_or(Missing::NotFinite)?;
    // Rows r_k = √λ_k v_k: the entries r_j'Σ₁ r_k have the eigenvalues of Σ₂^½ Σ₁ Σ₂^½.
    let mut inner = vec![0.0; dim * dim];
    let mut product = vec![0.0; dim];
    for k in 0..dim {
        let v_k = &vectors[k * dim..(k + 1) * dim];
        ergodic_base::linalg::matvec(covariance_1, v_k, &mut product);
        for j in 0..dim {
            let size = (values[j].max(0.0) * values[k].max(0.0)).sqrt();
            inner[j * dim + k] = size * dot(&vectors[j * dim..(j + 1) * dim], &product);
        }
    }
    let (values, _) = symmetric_eigen(&inner, dim).ok_or(Missing::NotFinite)?;
    let roots: f64 = values.iter().map(|value| value.max(0.0).sqrt()).sum();
    let spread = trace(covariance_1) + trace(covariance_2) - 2.0 * roots;
    Ok(((means + spread.max(0.0)).sqrt(), means.sqrt()))
}

/// The Kullback-Leibler divergence E log p/q under p, in nats, from draws of `p` and `q` at different places each.
///
/// With ρ the distance of a draw of p from its k-th nearest other one and ν that of its k-th nearest of q, log p/q is
/// log(P/Q) + D log(ν/ρ), where P and Q are the weights within these distances: k/(n − 1) and k/m for plain draws, as in the
/// source. Draws of both at the same place count as neither's neighbours, so that equal draws are at distance 0.
///
/// It falls short of large divergences: where q has no draws the nearest one is far, and still too near for the density there.
/// Of normal distributions 0.8 standard deviations apart, one of them 1.5 times as wide, a thousand draws show 0.26 of 0.27 and
/// 0.41 of 0.54 in one dimension, and 0.24 of the latter in five.
///
/// # Errors
/// Fewer draws than neighbours.
fn divergence(p: &Cloud, q: &Cloud) -> Result<f64, Missing> {
    let terms: Vec<Result<f64, Missing>> = (0..p.len())
        .into_par_iter()
        .map_init(Vec::new, |near, i| {
            let [own, others] = {
                let mut around = |cloud: &Cloud| density(cloud, p.point(i), near);
                [around(p)?, around(q)?]
            };
            let (mass_p, square_p) = own;
            let (mass_q, square_q) = others;
            let distances = 0.5 * p.dim as f64 * (square_q / square_p).ln();
            Ok(p.weights[i] * ((mass_p / mass_q).ln() + distances))
        })
        .collect();
    terms.into_iter().sum()
}

/// The weight of the nearest draws of `cloud` around `x`, and the squared distance of the last of them.
fn density(cloud: &Cloud, x: &[f64], near: &mut Vec<(f64, f64)>) -> Result<(f64, f64), Missing> {
    near.clear();
    let points = cloud.points.chunks_exact(cloud.dim).zip(&cloud.weights);
    let all = points.map(|(y, &w)| (squared(x, y), w));
    let mut here = 0.0;
    for (square, w) in all {
        if square == 0.0 {
            here += w;
        } else if w > 0.0 {
            near.push((square, w));
        }
    }
    if near.len() < NEIGHBOURS {
        return Err(Missing::TooFew);
    }
    let last = NEIGHBOURS - 1;
    let (nearer, &mut (square, weight), _) =
        near.select_nth_unstable_by(last, |a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    // Added in order of size, so that the sum does not depend on how they were selected.
    nearer.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mass = nearer.iter().map(|(_, w)| w).sum::<f64>() + weight;
    Ok((mass / (1.0 - here), square))
}

#[cfg(test)]
mod tests;
