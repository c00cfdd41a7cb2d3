//! Draws of everything from the prior: concentration, partition, components, and rows of numeric columns.
//!
//! α from its prior; unit i joins a cluster of m units with odds m and opens one with odds α (the Chinese restaurant, whose
//! partitions have the probability of [`super::concentration::log_partition`]); each cluster has a component from the
//! normal-inverse-Wishart prior, each unit a row from its component.

use rand::RngExt as _;
use rand_distr::{ChiSquared, Distribution as _, StandardNormal};

use super::mixture::Mixture;
use super::numeric::Numeric;
use crate::base::linalg::{Cholesky, dot};
use crate::base::rng::ChainRng;
use crate::base::wishart::inverse_wishart;

/// Why it cannot be done for some mixtures.
pub(super) const NUMBERS_ONLY: &str =
    "rows are simulated only where they are units with numeric columns, none of them held out";

/// A component of numeric columns.
struct Component {
    mean: Vec<f64>,
    /// Lower factor of the covariance, p×p.
    lower: Vec<f64>,
}

impl Component {
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

/// Draws reported quantities into `reported` (Q) and rows on the columns' own scale into `values` (N×p); `None` if the mixture
/// has other columns than numeric ones.
pub(super) fn draw(
    mixture: &Mixture,
    rng: &mut ChainRng,
    reported: &mut [f64],
    values: &mut [f64],
) -> Option<()> {
    let numeric = mixture.numeric.as_ref()?;
    let (count, p) = (mixture.num_units(), numeric.dim());
    let alpha = mixture.alpha.draw(rng)?;
    let labels = partition(count, alpha, rng);
    let clusters = labels.iter().max()? + 1;
    let components: Vec<Component> = (0..clusters)
        .map(|_| Component::draw(numeric, rng))
        .collect::<Option<_>>()?;
    let rows: Vec<f64> = labels
        .iter()
        .flat_map(|&label| components[label].row(rng))
        .collect();
    for (k, (value, row)) in values.iter_mut().zip(&rows).enumerate() {
        *value = numeric.center[k % p] + numeric.scale[k % p] * row;
    }
    let mut simulated = mixture.clone();
    simulated.numeric = Some(numeric.with_rows(rows));
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
