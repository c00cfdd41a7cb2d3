//! The predictive density of numeric columns: where a further unit would lie, column by column, and how sure that is.
//!
//! Every kept draw gives one density: weights of its clusters and of new ones from Dirichlet(m_1, …, m_K, α), mean and variance
//! of each cluster from their posterior, Σ_jj ~ Ψ_jj/χ²(d + m) and μ_j ~ N(m_j, Σ_jj/κ) ([`ColumnPosterior`]), new clusters
//! integrated out. Where partitions of a random part of the units were kept, its clusters stand for all N units: they count
//! N/m times, so that the band is that of all of them. Their mean is the posterior predictive density, their quantiles at a point are its band. No label matters.

use rand_distr::{Distribution as _, Gamma, StandardNormal};
use serde::{Deserialize, Serialize};
use statrs::function::gamma::ln_gamma;

use crate::models::Mixture;
use crate::models::dp_mixture::numeric::{ColumnPosterior, Numeric};
use ergodic_base::{ChainRng, Purpose, stream};
use ergodic_diagnostics::histogram;
use ergodic_diagnostics::quantiles::quantile;

/// Columns that get a curve.
const MOST_COLUMNS: usize = 20;
/// Draws that a curve is made from; its band is no rougher than one of twice as many.
const MOST_DRAWS: usize = 100;
/// Points of a curve.
const GRID: usize = 160;
/// Room on both sides of the data, as a share of their range.
const ROOM: f64 = 0.06;
/// Standard deviations beyond which a normal density is nothing.
const FAR: f64 = 8.0;
/// Probabilities of the band.
const BAND: (f64, f64) = (0.05, 0.95);

/// Data and predictive density of one column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Predictive {
    /// Name of the column.
    pub column: String,
    /// Edges of the histogram of the data, one more than heights.
    pub edges: Vec<f64>,
    /// Share of the data in each interval over its width.
    pub heights: Vec<f64>,
    /// Points of the curves, ascending, in the unit of the column.
    pub x: Vec<f64>,
    /// Posterior predictive density there.
    pub mean: Vec<f64>,
    /// 5 % quantile of the density there.
    pub low: Vec<f64>,
    /// 95 % quantile.
    pub high: Vec<f64>,
}

/// A drawn partition of the units kept, with its concentration.
pub type Draw<'a> = (&'a [u32], f64);

/// The densities of the numeric columns of `mixture` from `draws` of the partition of the units `kept`.
pub fn predictive(mixture: &Mixture, kept: &[u32], draws: &[Draw<'_>]) -> Vec<Predictive> {
    let Some(part) = &mixture.numeric else {
        return Vec::new();
    };
    let step = draws.len().div_ceil(MOST_DRAWS).max(1);
    let draws: Vec<Draw<'_>> = draws.iter().copied().step_by(step).collect();
    (0..part.dim().min(MOST_COLUMNS))
        .filter_map(|j| column(mixture, part, j, kept, &draws))
        .collect()
}

/// `None` where there is nothing to draw, as without draws.
fn column(
    mixture: &Mixture,
    part: &Numeric,
    j: usize,
    kept: &[u32],
    draws: &[Draw<'_>],
) -> Option<Predictive> {
    let (center, scale) = (part.center[j], part.scale[j]);
    let n = mixture.num_units();
    let data: Vec<f64> = (0..n).map(|i| center + scale * part.unit(i)[j]).collect();
    let bars = histogram(&[&data], &[], None).ok()?;
    let (from, to) = (*bars.edges.first()?, *bars.edges.last()?);
    let room = ROOM * (to - from);
    let step = (to - from + 2.0 * room) / (GRID - 1) as f64;
    let x: Vec<f64> = (0..GRID).map(|k| from - room + k as f64 * step).collect();
    let scaled: Vec<f64> = x.iter().map(|x| (x - center) / scale).collect();
    let values: Vec<f64> = kept.iter().map(|&i| part.unit(i as usize)[j]).collect();
    let each = n as f64 / kept.len().max(1) as f64;
    let mut rng = stream(0, j, Purpose::Predictive);
    let densities: Vec<Vec<f64>> = (draws.iter())
        .map(|&draw| density(part, j, draw, (&values, each), &scaled, &mut rng))
        .collect();
    let at = |k: usize| densities.iter().map(move |density| density[k] / scale);
    let (mut mean, mut low, mut high) = (Vec::new(), Vec::new(), Vec::new());
    for k in 0..GRID {
        let values: Vec<f64> = at(k).collect();
        mean.push(values.iter().sum::<f64>() / values.len() as f64);
        low.push(quantile(&[&values], BAND.0).ok()?);
        high.push(quantile(&[&values], BAND.1).ok()?);
    }
    let widths = bars.edges.windows(2).map(|pair| pair[1] - pair[0]);
    Some(Predictive {
        column: part.names[j].clone(),
        heights: (bars.counts.iter().zip(widths))
            .map(|(count, width)| count / (n as f64 * width))
            .collect(),
        edges: bars.edges,
        x,
        mean,
        low,
        high,
    })
}

/// One drawn density of column `j` at `grid`, both on the scale of the units' values, each of which stands for `each`.
fn density(
    part: &Numeric,
    j: usize,
    (labels, alpha): Draw<'_>,
    (values, each): (&[f64], f64),
    grid: &[f64],
    rng: &mut ChainRng,
) -> Vec<f64> {
    let clusters = labels.iter().max().map_or(0, |most| *most as usize + 1);
    let mut sums = vec![[0.0; 3]; clusters];
    for (&label, &value) in labels.iter().zip(values) {
        let sum = &mut sums[label as usize];
        sum[0] += each;
        sum[1] += each * value;
        sum[2] += each * value * value;
    }
    let gamma = |shape: f64, rng: &mut ChainRng| {
        Gamma::new(shape, 1.0).map_or(0.0, |gamma| gamma.sample(rng))
    };
    let mut weights: Vec<f64> = sums.iter().map(|sum| gamma(sum[0], rng)).collect();
    weights.push(gamma(alpha, rng));
    let total: f64 = weights.iter().sum();
    let new = Student::of(&part.column(j, 0.0, 0.0, 0.0));
    let share = weights[clusters] / total;
    let mut out: Vec<f64> = grid.iter().map(|&x| share * new.density(x)).collect();
    for ([n, sum, squares], weight) in sums.into_iter().zip(weights) {
        let posterior = part.column(j, n, sum, squares);
        // χ²(df) is twice a gamma variable of half the shape.
        let variance = posterior.psi / (2.0 * gamma(0.5 * posterior.df, rng));
        let z: f64 = StandardNormal.sample(rng);
        let mean = posterior.mean + z * (variance / posterior.kappa).sqrt();
        let sd = variance.sqrt();
        let height = weight / (total * sd * (2.0 * std::f64::consts::PI).sqrt());
        let first = grid.partition_point(|&x| x < mean - FAR * sd);
        for (out, &x) in out[first..].iter_mut().zip(&grid[first..]) {
            let z = (x - mean) / sd;
            if z > FAR {
                break;
            }
            *out += height * (-0.5 * z * z).exp();
        }
    }
    out
}

/// The density of a value in a cluster of which only the prior is known.
struct Student {
    df: f64,
    scale: f64,
    constant: f64,
}

impl Student {
    fn of(prior: &ColumnPosterior) -> Self {
        let df = prior.df;
        let scale = (prior.psi / df * (1.0 + 1.0 / prior.kappa)).sqrt();
        let gammas = ln_gamma(0.5 * (df + 1.0)) - ln_gamma(0.5 * df);
        Self {
            df,
            scale,
            constant: gammas.exp() / ((df * std::f64::consts::PI).sqrt() * scale),
        }
    }

    fn density(&self, x: f64) -> f64 {
        let z = x / self.scale;
        self.constant * (1.0 + z * z / self.df).powf(-0.5 * (self.df + 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::dp_mixture::AlphaPrior;
    use crate::testing::mixtures::{names, numeric};
    use rand::RngExt as _;

    /// With one partition the mean over many draws is the predictive density with everything integrated out.
    #[test]
    fn the_mean_density_is_the_predictive_one() {
        let mut rng = stream(1, 0, Purpose::Data);
        let rows: Vec<[f64; 2]> = (0..60)
            .map(|unit| {
                let side = if unit < 40 { -1.5 } else { 1.5 };
                [side + 0.4 * (rng.random::<f64>() - 0.5), rng.random()]
            })
            .collect();
        let slices: Vec<&[f64]> = rows.iter().map(<[f64; 2]>::as_slice).collect();
        let labels: Vec<u32> = (0..60).map(|unit| u32::from(unit >= 40)).collect();
        let kept: Vec<u32> = (0..60).collect();
        for diagonal in [false, true] {
            let part = numeric(&slices, diagonal);
            let mixture = Mixture::new(names(60), 0, Some(part), None, AlphaPrior::Constant(2.0));
            let draws = vec![(labels.as_slice(), 2.0); MOST_DRAWS];
            let found = predictive(&mixture, &kept, &draws);
            assert_eq!(found.len(), 2);
            let one = &found[0];
            let step = one.x[1] - one.x[0];
            // Nearly all of it, but for the tail of new clusters; bars have area 1.
            let area: f64 = one.mean.iter().sum::<f64>() * step;
            assert!((0.9..1.001).contains(&area), "{area}");
            let bars = one.edges.windows(2).zip(&one.heights);
            let bars: f64 = bars
                .map(|(pair, height)| (pair[1] - pair[0]) * height)
                .sum();
            assert!((bars - 1.0).abs() < 1e-9);
            // With one column the densities of the mixture itself are the yardstick: clusters of 40 and 20, α = 2.
            let alone: Vec<[f64; 1]> = rows.iter().map(|row| [row[0]]).collect();
            let mut alone: Vec<&[f64]> = alone.iter().map(<[f64; 1]>::as_slice).collect();
            let points: Vec<[f64; 1]> = one.x.iter().map(|&x| [x]).collect();
            alone.extend(points.iter().map(<[f64; 1]>::as_slice));
            let count = points.len();
            let single = Mixture::new(
                names(60 + count),
                count,
                Some(numeric(&alone, diagonal)),
                None,
                AlphaPrior::Constant(2.0),
            );
            let mut records = vec![vec![0.0; single.width()]; 2];
            for (unit, &label) in labels.iter().enumerate() {
                single.add(unit, &mut records[label as usize]);
            }
            for record in &mut records {
                single.settle(record);
            }
            for k in 0..count {
                let exact = single
                    .log_next(60 + k, 2.0, records.iter().map(Vec::as_slice))
                    .exp();
                // The band is that of one draw: a hundredth of its variance is that of the mean.
                let sd = (one.high[k] - one.low[k]) / 3.29;
                let error = (one.mean[k] - exact).abs();
                assert!(
                    error < 6.0 * sd / 10.0 + 0.01,
                    "{k}: {} {exact}",
                    one.mean[k]
                );
                assert!(one.low[k] <= one.mean[k] + 1e-9 || exact < 0.01);
            }
        }
    }

    /// A part of the units stands for all of them: the band from 400 of 8,000 units is as wide as that from all.
    #[test]
    fn the_band_is_that_of_all_units_also_where_a_part_was_kept() {
        const UNITS: usize = 8000;
        let mut rng = stream(2, 0, Purpose::Data);
        let rows: Vec<[f64; 1]> = (0..UNITS).map(|_| [rng.sample(StandardNormal)]).collect();
        let slices: Vec<&[f64]> = rows.iter().map(<[f64; 1]>::as_slice).collect();
        let part = Some(numeric(&slices, false));
        let mixture = Mixture::new(names(UNITS), 0, part, None, AlphaPrior::Constant(1.0));
        let width = |kept: usize| {
            let labels = vec![0; kept];
            let kept: Vec<u32> = (0..kept as u32).collect();
            let draws = vec![(labels.as_slice(), 1.0); MOST_DRAWS];
            let found = predictive(&mixture, &kept, &draws);
            let band = found[0].high.iter().zip(&found[0].low);
            band.map(|(high, low)| high - low).sum::<f64>()
        };
        let ratio = width(400) / width(UNITS);
        // Bands of a hundred draws are known to a tenth; without the factor the ratio would be 4.5.
        assert!((0.75..1.33).contains(&ratio), "{ratio}");
    }

    #[test]
    fn without_numbers_or_draws_there_is_no_curve() {
        let mixture = Mixture::new(names(2), 0, None, None, AlphaPrior::Constant(1.0));
        assert!(predictive(&mixture, &[0, 1], &[(&[0, 0], 1.0)]).is_empty());
        let rows: [&[f64]; 3] = [&[0.0], &[1.0], &[2.0]];
        let part = Some(numeric(&rows, false));
        let mixture = Mixture::new(names(3), 0, part, None, AlphaPrior::Constant(1.0));
        assert!(predictive(&mixture, &[0, 1, 2], &[]).is_empty());
    }
}
