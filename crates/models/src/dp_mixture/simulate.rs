//! Draws of everything from the prior: concentration, partition, components, and rows.
//!
//! α from its prior; unit i joins a cluster of m units with odds m and opens one with odds α (the Chinese restaurant, whose
//! partitions have the probability of [`super::concentration::log_partition`]); each cluster has a component from the
//! normal-inverse-Wishart prior and probabilities from the Dirichlet priors, each row of a unit values from these.

use rand::RngExt as _;
use rand_distr::{ChiSquared, Distribution as _, StandardNormal};

use super::counts::{Block, Counts};
use super::mixture::Mixture;
use super::numeric::Numeric;
use crate::categorical::log_gamma_draw;
use crate::numerics::wishart::inverse_wishart;
use ergodic_base::ChainRng;
use ergodic_base::linalg::{Cholesky, dot};

/// What the units of a cluster have in common.
struct Component {
    normal: Option<Normal>,
    /// Running sums of the probabilities of each block.
    probabilities: Vec<Vec<f64>>,
}

impl Component {
    fn draw(mixture: &Mixture, rng: &mut ChainRng) -> Option<Self> {
        let numeric = mixture.numeric.as_ref();
        let blocks = mixture.counts.iter().flat_map(|counts| &counts.blocks);
        Some(Self {
            normal: match numeric {
                Some(numeric) => Some(Normal::draw(numeric, rng)?),
                None => None,
            },
            probabilities: blocks.map(|block| probabilities(block, rng)).collect(),
        })
    }
}

/// Running sums of draws from the Dirichlet prior of a block.
fn probabilities(block: &Block, rng: &mut ChainRng) -> Vec<f64> {
    // In logarithms nothing vanishes, however small the concentration is.
    let logs: Vec<f64> = (0..block.items.len())
        .map(|_| log_gamma_draw(block.concentration, rng))
        .collect();
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    logs.iter()
        .map(|log| {
            sum += (log - most).exp();
            sum
        })
        .collect()
}

/// A component of numeric columns.
struct Normal {
    mean: Vec<f64>,
    /// Lower factor of the covariance, p×p.
    lower: Vec<f64>,
}

impl Normal {
    fn draw(numeric: &Numeric, rng: &mut ChainRng) -> Option<Self> {
        let p = numeric.dim();
        let mut lower = vec![0.0; p * p];
        if numeric.is_diagonal() {
            for (j, psi) in numeric.psi().iter().enumerate() {
                let chi2 = ChiSquared::new(numeric.nu()).ok()?;
                lower[j * (p + 1)] = (psi / chi2.sample(rng)).sqrt();
            }
        } else {
            let mut psi = vec![0.0; p * p];
            for (j, value) in numeric.psi().iter().enumerate() {
                psi[j * (p + 1)] = *value;
            }
            let factor = Cholesky::of(&psi, p).ok()?;
            inverse_wishart(&factor, numeric.nu(), rng, &mut lower);
        }
        let mut component = Self {
            mean: vec![0.0; p],
            lower,
        };
        let narrow = numeric.kappa().sqrt().recip();
        let mut mean = component.row(rng);
        for value in &mut mean {
            *value *= narrow;
        }
        component.mean = mean;
        Some(component)
    }

    /// A row around the mean.
    fn row(&self, rng: &mut ChainRng) -> Vec<f64> {
        let p = self.mean.len();
        let z: Vec<f64> = (0..p).map(|_| rng.sample(StandardNormal)).collect();
        let step = |i: usize| dot(&self.lower[i * p..=i * p + i], &z[..=i]);
        (0..p).map(|i| self.mean[i] + step(i)).collect()
    }
}

/// Clusters of `count` units.
fn partition(count: usize, alpha: f64, rng: &mut ChainRng) -> Vec<usize> {
    let mut sizes: Vec<f64> = Vec::new();
    (0..count)
        .map(|i| {
            let mut rest = rng.random::<f64>() * (alpha + i as f64);
            let mut joined = sizes.len();
            for (k, size) in sizes.iter().enumerate() {
                if rest < *size {
                    joined = k;
                    break;
                }
                rest -= size;
            }
            match sizes.get_mut(joined) {
                Some(size) => *size += 1.0,
                None => sizes.push(1.0),
            }
            joined
        })
        .collect()
}

/// Draws reported quantities into `reported` (Q) and the rows whose units are `unit_of_row` (N) into `values` (N×C): numeric
/// columns on their own scale, then positions of the levels of categorical ones. `None` where the numbers of a prior are out
/// of range.
pub(super) fn draw(
    mixture: &Mixture,
    unit_of_row: &[u32],
    rng: &mut ChainRng,
    reported: &mut [f64],
    values: &mut [f64],
) -> Option<()> {
    let count = mixture.num_units();
    let alpha = mixture.alpha.draw(rng)?;
    let labels = partition(count, alpha, rng);
    let clusters = labels.iter().max()? + 1;
    let components: Vec<Component> = (0..clusters)
        .map(|_| Component::draw(mixture, rng))
        .collect::<Option<_>>()?;
    let mut simulated = mixture.clone();
    let (mut rows, mut items) = (Vec::new(), vec![Vec::new(); count]);
    let width = values.len() / unit_of_row.len().max(1);
    for (values, &unit) in values.chunks_exact_mut(width.max(1)).zip(unit_of_row) {
        let component = &components[labels[unit as usize]];
        let mut numbers = 0;
        if let (Some(normal), Some(numeric)) = (&component.normal, &mixture.numeric) {
            let row = normal.row(rng);
            numbers = row.len();
            for (j, (value, x)) in values.iter_mut().zip(&row).enumerate() {
                *value = numeric.center[j] + numeric.scale[j] * x;
            }
            rows.extend(row);
        }
        let blocks = mixture.counts.iter().flat_map(|counts| &counts.blocks);
        let places = values[numbers..].iter_mut().zip(blocks);
        for ((value, block), sums) in places.zip(&component.probabilities) {
            let at = rng.random::<f64>() * sums.last()?;
            let level = sums.partition_point(|sum| *sum <= at).min(sums.len() - 1);
            *value = level as f64;
            items[unit as usize].push((block.items.start + level) as u32);
        }
    }
    if let Some(numeric) = &mixture.numeric {
        simulated.numeric = Some(numeric.with_rows(rows));
    }
    if let Some(counts) = &mixture.counts {
        simulated.counts = Some(Counts::new(counts.blocks.clone(), &items));
    }
    let mut records = vec![vec![0.0; simulated.width()]; clusters];
    for (unit, &label) in labels.iter().enumerate() {
        simulated.add(unit, &mut records[label]);
    }
    for record in &mut records {
        simulated.settle(record);
    }
    let mut sizes: Vec<f64> = records.iter().map(|record| record[0]).collect();
    sizes.sort_by(|a, b| b.total_cmp(a));
    let log_density = simulated.log_density(alpha, records.iter().map(Vec::as_slice));
    simulated.report(alpha, &sizes, log_density, f64::NAN, reported);
    Some(())
}
