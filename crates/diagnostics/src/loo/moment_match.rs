//! Leave-one-out scores of rows whose importance weights cannot be trusted, by draws moved to where the posterior without the row is.
//!
//! Source: Paananen, Piironen, Bürkner and Vehtari (2021), Statistics and Computing 31:16, and `loo_moment_match` of its R package
//! loo. Draws u_s of the posterior p are moved by affine maps so that their mean, then also their variances, then also their
//! covariance are those of the weighted draws, as long as Pareto k falls; a moved draw has the weight p(Tu)/(p(u) p(y_i|Tu)), the
//! Jacobian being the same for all. Then half of the draws are moved by the whole map T and the others stay, and weights are those
//! against the mixture of both, the split of the source's section 2.3:
//!
//! ```text
//! w ∝ p(v) / p(y_i|v) / (p(v) + p(T⁻¹v)/|T|)
//! ```
//!
//! loo 2.5.1 takes for T⁻¹v the map M⁻¹(v − m)/s + m − t where Tu = M(s(u − m)) + m + t, which is its inverse only for shifts;
//! here it is M⁻¹(v − m − t)/s + m. Pareto k is that of the moved draws before the split, as in loo.

use ergodic_base::linalg::{Cholesky, axpy, dot};

use crate::psis::{Smoothed, smooth};

/// Maps before giving up, as in loo.
const MOST_MAPS: usize = 30;
/// Draws per parameter from which covariances are matched.
const DRAWS_FOR_COVARIANCE: usize = 10;

/// What moment matching asks of a model and the row that is left out.
pub trait Target {
    /// Why densities are not known.
    type Error;

    /// Log densities of the posterior, up to a constant, and of the row at points (one row of parameters on the real line each).
    ///
    /// # Errors
    /// They are not known.
    fn evaluate(
        &mut self,
        points: &[f64],
        log_density: &mut [f64],
        log_lik: &mut [f64],
    ) -> Result<(), Self::Error>;
}

/// What moved draws say of a row that is left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Matched {
    /// Expected log predictive density of the row by a posterior without it.
    pub elpd: f64,
    /// Variance of `elpd` that comes from the finite number of draws.
    pub mc_variance: f64,
    /// Pareto k of the weights of the moved draws.
    pub k: f64,
    /// Maps that lowered it.
    pub maps: usize,
}

/// Draws of a posterior on the real line.
#[derive(Clone, Copy)]
pub struct Draws<'a> {
    /// One row of parameters per draw.
    pub points: &'a [f64],
    /// Parameters.
    pub dim: usize,
    /// Log density at each, up to a constant.
    pub log_density: &'a [f64],
}

/// Draws where they were moved to, and what they weigh there.
struct Moved {
    points: Vec<f64>,
    log_lik: Vec<f64>,
    smoothed: Smoothed,
}

/// v = M(s(u − m)) + m + t around the mean m of the draws.
struct Map {
    shift: Vec<f64>,
    scale: Vec<f64>,
    /// M (D×D), lower triangular; none where coordinates are moved apart, which models of many parameters can afford.
    mixing: Option<Vec<f64>>,
}

/// A way to move draws.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Mean,
    Variances,
    Covariance,
}

/// Moves draws until the Pareto k of the row with log densities `log_lik` at them is at most `limit`; `efficiency` is effective draws
/// per draw. `None` where no map lowers it.
///
/// # Errors
/// Those of `target`.
pub fn moment_match<T: Target>(
    target: &mut T,
    draws: Draws<'_>,
    log_lik: &[f64],
    (efficiency, limit): (f64, f64),
) -> Result<Option<Matched>, T::Error> {
    let found = adapt(target, draws, log_lik, (efficiency, limit))?;
    let Some((moved, map, maps)) = found else {
        return Ok(None);
    };
    let split = split(target, draws, &map, efficiency)?;
    let (elpd, mc_variance) = split.mean(efficiency);
    Ok(Some(Matched {
        elpd,
        mc_variance,
        k: moved.smoothed.k,
        maps,
    }))
}

fn adapt<T: Target>(
    target: &mut T,
    draws: Draws<'_>,
    log_lik: &[f64],
    (efficiency, limit): (f64, f64),
) -> Result<Option<(Moved, Map, usize)>, T::Error> {
    let Draws {
        points,
        dim,
        log_density,
    } = draws;
    let mut now = Moved {
        points: points.to_vec(),
        log_lik: log_lik.to_vec(),
        smoothed: smoothed(log_lik.iter().map(|it| -it), efficiency),
    };
    let mut map = Map::identity(dim);
    let mut maps = 0;
    let mut kinds = vec![Kind::Mean, Kind::Variances];
    if log_lik.len() >= DRAWS_FOR_COVARIANCE * dim {
        kinds.push(Kind::Covariance);
    }
    'maps: while maps < MOST_MAPS && now.smoothed.k > limit {
        for &kind in &kinds {
            let Some(step) = Map::matching(kind, &now, dim) else {
                continue;
            };
            let points = step.applied(&now.points);
            let (mut density, mut log_lik) = (vec![0.0; log_lik.len()], vec![0.0; log_lik.len()]);
            target.evaluate(&points, &mut density, &mut log_lik)?;
            let ratios = (density.iter().zip(log_density).zip(&log_lik))
                .map(|((density, before), log_lik)| density - before - log_lik);
            let smoothed = smoothed(ratios, efficiency);
            if smoothed.k < now.smoothed.k {
                map.follow(&step);
                now = Moved {
                    points,
                    log_lik,
                    smoothed,
                };
                maps += 1;
                continue 'maps;
            }
        }
        break;
    }
    Ok((maps > 0).then_some((now, map, maps)))
}

/// Half of the draws moved by `map`, the others where they are, with weights against the mixture of both.
fn split<T: Target>(
    target: &mut T,
    draws: Draws<'_>,
    map: &Map,
    efficiency: f64,
) -> Result<Moved, T::Error> {
    let Draws { points, dim, .. } = draws;
    let count = points.len() / dim.max(1);
    let half = count / 2 * dim;
    let moved = map.applied(points);
    let back = map.undone(points);
    // v, and T⁻¹v.
    let at = [&moved[..half], &points[half..]].concat();
    let before = [&points[..half], &back[half..]].concat();
    let (mut here, mut log_lik) = (vec![0.0; count], vec![0.0; count]);
    let (mut there, mut unused) = (vec![0.0; count], vec![0.0; count]);
    target.evaluate(&before, &mut there, &mut unused)?;
    target.evaluate(&at, &mut here, &mut log_lik)?;
    let log_volume = map.log_volume();
    let ratios = (here.iter().zip(&there).zip(&log_lik)).map(|((here, there), log_lik)| {
        let there = there - log_volume;
        let (high, low) = (here.max(there), here.min(there));
        here - log_lik - (high + (low - high).exp().ln_1p())
    });
    let smoothed = smoothed(ratios, efficiency);
    Ok(Moved {
        points: at,
        log_lik,
        smoothed,
    })
}

/// Smoothed weights of draws with these logarithms; those without a density weigh nothing.
fn smoothed(ratios: impl Iterator<Item = f64>, efficiency: f64) -> Smoothed {
    let known = |it: f64| match it.is_nan() {
        true => f64::MIN,
        false => it.clamp(f64::MIN, f64::MAX),
    };
    let ratios: Vec<f64> = ratios.map(known).collect();
    smooth(&ratios, efficiency)
}

impl Moved {
    /// Logarithm of the weighted mean density of the row, and the variance of that by the number of draws.
    fn mean(&self, efficiency: f64) -> (f64, f64) {
        let weights = &self.smoothed.weights;
        let counts = || self.log_lik.iter().zip(weights).filter(|(_, w)| **w > 0.0);
        let largest = counts()
            .map(|(it, _)| *it)
            .fold(f64::NEG_INFINITY, f64::max);
        let mean: f64 = counts().map(|(it, w)| w * (it - largest).exp()).sum();
        let spread: f64 = counts()
            .map(|(it, w)| (w * ((it - largest).exp() - mean)).powi(2))
            .sum();
        let relative = spread / efficiency / (mean * mean);
        (largest + mean.ln(), relative.ln_1p())
    }
}

impl Map {
    fn identity(dim: usize) -> Self {
        Self {
            shift: vec![0.0; dim],
            scale: vec![1.0; dim],
            mixing: None,
        }
    }

    /// The map by which draws get the weighted moments; `None` where there is none.
    fn matching(kind: Kind, of: &Moved, dim: usize) -> Option<Self> {
        let weights = &of.smoothed.weights;
        let even = vec![1.0 / weights.len() as f64; weights.len()];
        let centre = mean_of(&of.points, &even, dim);
        let weighted = mean_of(&of.points, weights, dim);
        let mut map = Self::identity(dim);
        map.shift = weighted.iter().zip(&centre).map(|(a, b)| a - b).collect();
        match kind {
            Kind::Mean => {}
            Kind::Variances => {
                let (mut own, mut others) = (vec![0.0; dim], vec![0.0; dim]);
                for (point, weight) in of.points.chunks_exact(dim).zip(weights) {
                    for j in 0..dim {
                        own[j] += (point[j] - centre[j]).powi(2) * even[0];
                        others[j] += weight * (point[j] - weighted[j]).powi(2);
                    }
                }
                map.scale = (own.iter().zip(&others))
                    .map(|(own, other)| (other / own).sqrt())
                    .collect();
            }
            Kind::Covariance => {
                let own = covariance_of(&of.points, &even, &centre);
                let other = covariance_of(&of.points, weights, &weighted);
                let own = Cholesky::of(&own, dim).ok()?;
                // Without a root of the weighted covariance the mean alone is moved.
                if let Ok(root) = Cholesky::of(&other, dim) {
                    // M = L₂ L₁⁻¹: rows of M solve L₁' x = row of L₂.
                    let mut mixing = root.lower().to_vec();
                    for line in mixing.chunks_exact_mut(dim) {
                        own.solve_lower_transpose(line);
                    }
                    map.mixing = Some(mixing);
                }
            }
        }
        let usable = |values: &[f64]| values.iter().all(|it| it.is_finite());
        let positive = map.scale.iter().all(|it| *it > 0.0);
        let mixes = map.mixing.as_deref().is_none_or(usable);
        (positive && usable(&map.shift) && usable(&map.scale) && mixes).then_some(map)
    }

    /// The whole of this map and a later one, M₂ S₂ M₁ S₁: what comes after M₁ mixes with it.
    fn follow(&mut self, later: &Self) {
        let dim = self.shift.len();
        axpy(1.0, &later.shift, &mut self.shift);
        let Some(first) = &mut self.mixing else {
            for (scale, later) in self.scale.iter_mut().zip(&later.scale) {
                *scale *= later;
            }
            self.mixing.clone_from(&later.mixing);
            return;
        };
        for (line, scale) in first.chunks_exact_mut(dim).zip(&later.scale) {
            line.iter_mut().for_each(|it| *it *= scale);
        }
        if let Some(second) = &later.mixing {
            let mut mixing = vec![0.0; dim * dim];
            for i in 0..dim {
                for k in 0..=i {
                    let line = &first[k * dim..(k + 1) * dim];
                    axpy(
                        second[i * dim + k],
                        line,
                        &mut mixing[i * dim..(i + 1) * dim],
                    );
                }
            }
            *first = mixing;
        }
    }

    /// log|T|.
    fn log_volume(&self) -> f64 {
        let dim = self.scale.len();
        let diagonal = self.mixing.iter().flat_map(|it| it.iter().step_by(dim + 1));
        self.scale.iter().chain(diagonal).map(|it| it.ln()).sum()
    }

    /// Where the map takes points with their own mean.
    fn applied(&self, points: &[f64]) -> Vec<f64> {
        let dim = self.shift.len();
        let centre = plain_mean(points, dim);
        let (mut out, mut rest) = (Vec::with_capacity(points.len()), vec![0.0; dim]);
        for point in points.chunks_exact(dim) {
            for j in 0..dim {
                rest[j] = self.scale[j] * (point[j] - centre[j]);
            }
            out.extend((0..dim).map(|i| {
                let mixed = self.mixing.as_ref().map_or(rest[i], |mixing| {
                    dot(&mixing[i * dim..=i * dim + i], &rest[..=i])
                });
                mixed + centre[i] + self.shift[i]
            }));
        }
        out
    }

    /// Where points come from, which have the mean of draws that were not moved.
    fn undone(&self, points: &[f64]) -> Vec<f64> {
        let dim = self.shift.len();
        let centre = plain_mean(points, dim);
        let points = points.chunks_exact(dim);
        points.flat_map(|point| self.back(point, &centre)).collect()
    }

    /// T⁻¹ of a point, for draws with mean `centre`.
    fn back(&self, point: &[f64], centre: &[f64]) -> Vec<f64> {
        let dim = self.shift.len();
        let mut rest = vec![0.0; dim];
        for i in 0..dim {
            let target = point[i] - centre[i] - self.shift[i];
            rest[i] = self.mixing.as_ref().map_or(target, |mixing| {
                let line = &mixing[i * dim..=i * dim + i];
                (target - dot(&line[..i], &rest[..i])) / line[i]
            });
        }
        (0..dim)
            .map(|i| rest[i] / self.scale[i] + centre[i])
            .collect()
    }
}

fn plain_mean(points: &[f64], dim: usize) -> Vec<f64> {
    let count = points.len() / dim.max(1);
    mean_of(points, &vec![1.0 / count as f64; count], dim)
}

fn mean_of(points: &[f64], weights: &[f64], dim: usize) -> Vec<f64> {
    let mut mean = vec![0.0; dim];
    for (point, weight) in points.chunks_exact(dim).zip(weights) {
        axpy(*weight, point, &mut mean);
    }
    mean
}

/// Covariance around `centre`, unbiased where weights are even.
fn covariance_of(points: &[f64], weights: &[f64], centre: &[f64]) -> Vec<f64> {
    let dim = centre.len();
    let mut out = vec![0.0; dim * dim];
    let mut rest = vec![0.0; dim];
    for (point, weight) in points.chunks_exact(dim).zip(weights) {
        for j in 0..dim {
            rest[j] = point[j] - centre[j];
        }
        for i in 0..dim {
            axpy(weight * rest[i], &rest, &mut out[i * dim..(i + 1) * dim]);
        }
    }
    let squares: f64 = weights.iter().map(|w| w * w).sum();
    out.iter_mut().for_each(|it| *it /= 1.0 - squares);
    out
}

#[cfg(test)]
mod tests;
