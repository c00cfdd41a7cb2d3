//! Density estimates and histograms for plots: O(n) in the draws, so that a live panel can afford them.

use super::Missing;
use super::fourier::Plan;
use super::sorting::Sorter;
use super::weights::{self, relative};

/// Points of a density curve; more than a plot has pixels to tell apart.
pub const GRID: usize = 512;

/// Most whole numbers between the least and the largest draw for which the shares of single numbers are shown.
const MAX_STEPS: f64 = 64.0;

/// Draws looked at for the interquartile range.
const SUBSET: usize = 4096;

/// A density curve on an even grid.
#[derive(Clone, Debug, PartialEq)]
pub struct Density {
    /// Where, ascending, in the unit of the draws.
    pub x: Vec<f64>,
    /// Density, per unit of the draws. Integrates to the share of draws inside the range.
    pub y: Vec<f64>,
    /// Standard deviation of the Gaussian kernel.
    pub bandwidth: f64,
    /// Probability below zero that was cut off, where negative weights prevail; 0 without negative weights.
    pub clipped: f64,
}

/// Counts in equal intervals.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// Edges, one more than counts, ascending.
    pub edges: Vec<f64>,
    /// Draws in each interval, each as often as its relative weight; the last one is closed on both sides. Intervals in
    /// which negative weights prevail are empty.
    pub counts: Vec<f64>,
}

/// Draws with their weights over the mean weight, 1 for plain draws.
fn weighted(parts: &[&[f64]], relative: Option<&[f64]>) -> impl Iterator<Item = (f64, f64)> {
    let draws = parts.iter().copied().flatten().copied();
    draws
        .enumerate()
        .map(move |(i, x)| (x, relative.map_or(1.0, |v| v[i])))
}

/// Relative weights over parts of any length; one slice of weights per part, or none.
fn relative_of_parts(parts: &[&[f64]], weights: &[&[f64]]) -> Result<Option<Vec<f64>>, Missing> {
    if weights.is_empty() {
        return Ok(None);
    }
    let all = weights.concat();
    let draws = parts.iter().map(|part| part.len()).sum();
    relative(&[all], draws).transpose()
}

/// Gaussian kernel estimate of the draws in `parts` (chains or chunks, all taken together) on [`GRID`] points.
///
/// Bandwidth by Silverman's rule, 0.9 min(sd, IQR / 1.34) n^(-1/5). Draws are shared linearly between the two
/// nearest grid points and smoothed by a Fourier transform. `range` is the interval shown; `None` shows all draws,
/// or their middle when a few lie very far out. Mass is not reflected at bounds.
///
/// Draws that are all whole numbers, such as numbers of clusters, have no density: the curve is then a step of width 1
/// about each number, as high as its share of the draws, and the bandwidth is 0.
///
/// `weights` are those of the draws, one slice per part, or none. The bandwidth is then that of weighted sd and quartiles
/// and of n = (Σ w)² / Σ w² draws; where negative weights prevail the curve is cut off at zero ([`Density::clipped`]).
pub fn density(
    parts: &[&[f64]],
    weights: &[&[f64]],
    range: Option<(f64, f64)>,
) -> Result<Density, Missing> {
    let relative = relative_of_parts(parts, weights)?;
    let spread = Spread::of(parts, relative.as_deref())?;
    if let Some(steps) = shares(parts, relative.as_deref(), &spread, range) {
        return Ok(steps);
    }
    let bandwidth = spread.bandwidth();
    let (low, high) = range.unwrap_or_else(|| {
        let (low, high) = spread.shown();
        (low - 3.0 * bandwidth, high + 3.0 * bandwidth)
    });
    let step = (high - low) / (GRID - 1) as f64;
    if !(step > 0.0 && step.is_finite()) {
        return Err(Missing::NotFinite);
    }
    // Twice the grid, so that mass at one end does not come round to the other.
    let plan = Plan::at_least(2 * GRID);
    let mut buffers = plan.buffers();
    let weight = 1.0 / (spread.count as f64 * step);
    for (x, v) in weighted(parts, relative.as_deref()) {
        let place = (x - low) / step;
        if place >= 0.0 && place <= (GRID - 1) as f64 {
            let left = (place as usize).min(GRID - 2);
            let share = place - left as f64;
            buffers.real[left] += (1.0 - share) * weight * v;
            buffers.real[left + 1] += share * weight * v;
        }
    }
    plan.forward(&mut buffers);
    let omega = std::f64::consts::TAU / (plan.len() as f64 * step) * bandwidth;
    for (j, z) in buffers.spectrum.iter_mut().enumerate() {
        *z *= (-0.5 * (omega * j as f64).powi(2)).exp() / plan.len() as f64;
    }
    plan.inverse(&mut buffers);
    let curve = &buffers.real[..GRID];
    let signed = relative.is_some_and(|v| v.iter().any(|&v| v < 0.0));
    Ok(Density {
        x: (0..GRID).map(|i| low + i as f64 * step).collect(),
        // Rounding leaves tiny negative values where there is no mass.
        y: curve.iter().map(|y| y.max(0.0)).collect(),
        bandwidth,
        clipped: if signed {
            step * curve.iter().map(|y| (-y).max(0.0)).sum::<f64>()
        } else {
            0.0
        },
    })
}

/// The shares of whole numbers as a curve of steps; `None` if some draw is not whole or they spread too far.
fn shares(
    parts: &[&[f64]],
    relative: Option<&[f64]>,
    spread: &Spread,
    range: Option<(f64, f64)>,
) -> Option<Density> {
    let steps = spread.max - spread.min;
    let whole = |x: &f64| x.fract() == 0.0;
    if steps > MAX_STEPS || !parts.iter().copied().flatten().all(whole) {
        return None;
    }
    let mut share = vec![0.0; steps as usize + 1];
    for (x, v) in weighted(parts, relative) {
        share[(x - spread.min) as usize] += v / spread.count as f64;
    }
    let (low, high) = range.unwrap_or((spread.min - 1.0, spread.max + 1.0));
    let step = (high - low) / (GRID - 1) as f64;
    let x: Vec<f64> = (0..GRID).map(|i| low + i as f64 * step).collect();
    let height = |x: &f64| {
        let number = (x - spread.min).round();
        let inside = (0.0..=steps).contains(&number);
        inside.then(|| share[number as usize].max(0.0))
    };
    Some(Density {
        y: x.iter().map(|x| height(x).unwrap_or(0.0)).collect(),
        x,
        bandwidth: 0.0,
        clipped: share.iter().map(|share| (-share).max(0.0)).sum(),
    })
}

/// Histogram of the draws in `parts` over their whole range (its middle if a few draws lie very far out), in
/// `bins` intervals; `None` takes the rule of Freedman and Diaconis, between 10 and 200. `weights` as for [`density`].
pub fn histogram(
    parts: &[&[f64]],
    weights: &[&[f64]],
    bins: Option<usize>,
) -> Result<Histogram, Missing> {
    let relative = relative_of_parts(parts, weights)?;
    let spread = Spread::of(parts, relative.as_deref())?;
    let (low, high) = spread.shown();
    let bins = bins.unwrap_or_else(|| {
        let width = 2.0 * spread.iqr / spread.independent.cbrt();
        ((high - low) / width).ceil().clamp(10.0, 200.0) as usize
    });
    let bins = bins.max(1);
    let width = (high - low) / bins as f64;
    let mut counts = vec![0.0; bins];
    for (x, v) in weighted(parts, relative.as_deref()) {
        if x >= low && x <= high {
            counts[(((x - low) / width) as usize).min(bins - 1)] += v;
        }
    }
    for count in &mut counts {
        *count = count.max(0.0);
    }
    Ok(Histogram {
        edges: (0..=bins).map(|i| low + i as f64 * width).collect(),
        counts,
    })
}

/// Extent of the draws.
pub(super) struct Spread {
    count: usize,
    /// Draws of equal weight that would tell as much: `count` for plain draws.
    independent: f64,
    min: f64,
    max: f64,
    sd: f64,
    q25: f64,
    q75: f64,
    /// Interquartile range; that of a normal distribution with this sd if more than half of the draws agree.
    iqr: f64,
}

impl Spread {
    pub(super) fn of(parts: &[&[f64]], relative: Option<&[f64]>) -> Result<Self, Missing> {
        let (mut count, mut mean, mut squares) = (0_usize, 0.0, 0.0);
        let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
        for &x in parts.iter().copied().flatten() {
            count += 1;
            let before = x - mean;
            mean += before / count as f64;
            squares += before * (x - mean);
            min = min.min(x);
            max = max.max(x);
        }
        if count < 2 {
            return Err(Missing::TooFew);
        }
        if !squares.is_finite() {
            return Err(Missing::NotFinite);
        }
        if max == min {
            return Err(Missing::Constant);
        }
        let stride = count.div_ceil(SUBSET);
        let mut subset: Vec<f64> = parts
            .iter()
            .copied()
            .flatten()
            .copied()
            .step_by(stride)
            .collect();
        subset.sort_unstable_by(f64::total_cmp);
        let quarter = subset.len() / 4;
        let (mut q25, mut q75) = (subset[quarter], subset[subset.len() - 1 - quarter]);
        let mut sd = (squares / (count - 1) as f64).sqrt();
        let mut independent = count as f64;
        if let Some(v) = relative {
            let draws: Vec<f64> = parts.concat();
            let (mut sorted, mut order, mut places) = (Vec::new(), Vec::new(), Vec::new());
            Sorter::default().sort(&draws, &mut sorted, &mut order);
            weights::cdf(v, &order, &mut places);
            [q25, q75] = [0.25, 0.75].map(|p| weights::quantile(&sorted, &places, p));
            let mean = weights::mean_with(v, &draws, |x| x);
            let variance = weights::mean_with(v, &draws, |x| (x - mean) * (x - mean));
            independent = count as f64 / weights::mean_with(v, v, |v| v).max(1.0);
            if variance <= 0.0 {
                return Err(Missing::Weights);
            }
            sd = variance.sqrt();
        }
        let iqr = if q75 > q25 { q75 - q25 } else { 1.34 * sd };
        Ok(Self {
            count,
            independent,
            min,
            max,
            sd,
            q25,
            q75,
            iqr,
        })
    }

    /// Standard deviation, or that of a normal distribution with these quartiles if that is smaller.
    pub(super) fn scale(&self) -> f64 {
        self.sd.min(self.iqr / 1.34)
    }

    /// Draws of equal weight that would tell as much.
    pub(super) fn independent(&self) -> f64 {
        self.independent
    }

    fn bandwidth(&self) -> f64 {
        0.9 * self.scale() * self.independent.powf(-0.2)
    }

    /// All draws, unless some lie more than ten interquartile ranges out (37 sd for a normal distribution takes
    /// nothing away; a Cauchy distribution would otherwise be one spike).
    pub(super) fn shown(&self) -> (f64, f64) {
        (
            self.min.max(self.q25 - 10.0 * self.iqr),
            self.max.min(self.q75 + 10.0 * self.iqr),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantiles;

    fn normal_draws(n: usize) -> Vec<f64> {
        (0..n)
            .map(|i| quantiles::normal((i as f64 + 0.5) / n as f64))
            .collect()
    }

    #[test]
    fn the_estimate_is_the_sum_of_kernels() {
        let draws = [0.3, 1.1, 1.2, 4.0, 2.2, -0.7];
        let estimate = density(&[&draws[..2], &draws[2..]], &[], None).unwrap();
        let h = estimate.bandwidth;
        let exact = |x: f64| {
            let kernel =
                |d: &f64| (-0.5 * ((x - d) / h).powi(2)).exp() / (h * std::f64::consts::TAU.sqrt());
            draws.iter().map(kernel).sum::<f64>() / 6.0
        };
        let peak = estimate.y.iter().copied().fold(0.0, f64::max);
        for (&x, &y) in estimate.x.iter().zip(&estimate.y) {
            // Linear sharing between grid points costs (step / bandwidth)² / 12 at most.
            assert!(
                (y - exact(x)).abs() < 1e-3 * peak,
                "{x}: {y} against {}",
                exact(x)
            );
        }
    }

    #[test]
    fn a_normal_sample_gives_the_normal_density() {
        let estimate = density(&[&normal_draws(20_000)], &[], None).unwrap();
        let step = estimate.x[1] - estimate.x[0];
        assert!((estimate.y.iter().sum::<f64>() * step - 1.0).abs() < 1e-3);
        for (&x, &y) in estimate.x.iter().zip(&estimate.y) {
            let exact = (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
            assert!((y - exact).abs() < 0.01, "{x}: {y} against {exact}");
        }
    }

    #[test]
    fn far_outliers_do_not_flatten_the_picture() {
        let mut draws = normal_draws(1000);
        draws.push(1e9);
        let estimate = density(&[&draws], &[], None).unwrap();
        assert!(estimate.x[GRID - 1] < 30.0);
        let step = estimate.x[1] - estimate.x[0];
        assert!((estimate.y.iter().sum::<f64>() * step - 1000.0 / 1001.0).abs() < 1e-3);
        assert_eq!(
            histogram(&[&draws], &[], None)
                .unwrap()
                .counts
                .iter()
                .sum::<f64>(),
            1000.0
        );
    }

    #[test]
    fn counts_fall_into_half_open_intervals() {
        let histogram = histogram(&[&[0.0, 1.0, 1.5, 2.0, 4.0]], &[], Some(4)).unwrap();
        assert_eq!(histogram.edges, [0.0, 1.0, 2.0, 3.0, 4.0]);
        assert_eq!(histogram.counts, [1.0, 2.0, 1.0, 1.0]);
    }

    #[test]
    fn whole_numbers_show_their_shares() {
        let estimate = density(&[&[8.0, 9.0], &[9.0, 12.0]], &[], None).unwrap();
        let at = |x: f64| {
            let near = |a: &&f64, b: &&f64| (*a - x).abs().total_cmp(&(*b - x).abs());
            let nearest = estimate.x.iter().min_by(near).unwrap();
            estimate.y[estimate.x.iter().position(|x| x == nearest).unwrap()]
        };
        let shares = [7.0, 8.0, 9.0, 9.4, 10.0, 11.0, 12.0, 13.0].map(at);
        assert_eq!(shares, [0.0, 0.25, 0.5, 0.5, 0.0, 0.0, 0.25, 0.0]);
        let step = estimate.x[1] - estimate.x[0];
        assert!((estimate.y.iter().sum::<f64>() * step - 1.0).abs() < 0.02);
        let other = density(&[&[8.0, 9.5], &[9.0, 12.0]], &[], None).unwrap();
        assert!(other.bandwidth > 0.0);
    }

    #[test]
    fn draws_without_a_density_are_refused() {
        assert_eq!(
            density(&[&[1.0; 5]], &[], None).unwrap_err(),
            Missing::Constant
        );
        assert_eq!(
            density(&[&[1.0, f64::NAN]], &[], None).unwrap_err(),
            Missing::NotFinite
        );
        assert_eq!(density(&[&[1.0]], &[], None).unwrap_err(), Missing::TooFew);
    }
}
