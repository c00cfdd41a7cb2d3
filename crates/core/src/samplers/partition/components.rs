//! Components with parameters of their own: drawn from their posteriors given clusters, and evaluated for eight units at once.

use rand_distr::{Distribution as _, Gamma, StandardNormal};

use crate::families::rows::{LANES, Lane};
use crate::models::Mixture;
use crate::models::dp_mixture::counts::Counts;
use crate::models::dp_mixture::numeric::Numeric;
use crate::samplers::cir::log_gamma;
use ergodic_base::ChainRng;

/// Parameters of J components in a row.
#[derive(Clone, Debug, Default)]
pub struct Components {
    count: usize,
    /// Per component: mean (p), factor B of the precision B'B (p, or p(p+1)/2 packed), log normalising constant.
    normal: Vec<f64>,
    normal_width: usize,
    /// Logarithms of probabilities, J for each item, so that a unit adds up rows.
    log_theta: Vec<f64>,
    /// Working memory: Bartlett's triangle, and gamma variables of one component.
    bartlett: Vec<f64>,
    gammas: Vec<f64>,
}

impl Components {
    /// Memory for `room` components.
    pub fn new(mixture: &Mixture, room: usize) -> Self {
        let normal_width = mixture
            .numeric
            .as_ref()
            .map_or(0, |part| part.dim() + part.factor_len() + 1);
        let items = mixture.counts.as_ref().map_or(0, Counts::num_items);
        let factor = mixture.numeric.as_ref().map_or(0, Numeric::factor_len);
        Self {
            count: 0,
            normal: Vec::with_capacity(room * normal_width),
            normal_width,
            log_theta: Vec::with_capacity(room * items),
            bartlett: vec![0.0; factor],
            gammas: vec![0.0; items],
        }
    }

    /// Makes room for `count` components, all of which must be drawn.
    pub fn resize(&mut self, mixture: &Mixture, count: usize) {
        self.count = count;
        self.normal.resize(count * self.normal_width, 0.0);
        let items = mixture.counts.as_ref().map_or(0, Counts::num_items);
        self.log_theta.resize(count * items, 0.0);
    }

    /// Draws component `j` given the settled record of its cluster, which may be empty.
    pub fn draw(&mut self, mixture: &Mixture, j: usize, record: &[f64], rng: &mut ChainRng) {
        if let Some(part) = &mixture.numeric {
            let width = self.normal_width;
            let out = &mut self.normal[j * width..(j + 1) * width];
            let record_part = mixture.numeric_part(record);
            draw_normal(part, record[0], record_part, &mut self.bartlett, out, rng);
        }
        if let Some(part) = &mixture.counts {
            draw_log_theta(part, mixture.counts_part(record), &mut self.gammas, rng);
            let column = self.log_theta.iter_mut().skip(j).step_by(self.count);
            for (out, log) in column.zip(&self.gammas) {
                *out = *log;
            }
        }
    }

    /// Log densities of the units `first`, `first + 1`, … (the last of them repeated to fill a lane) under the first
    /// components, as many as `logs` has lanes.
    pub fn log_densities(&self, mixture: &Mixture, first: usize, logs: &mut [Lane]) {
        let last = mixture.num_units() - 1;
        logs.fill([0.0; LANES]);
        if let Some(part) = &mixture.numeric {
            for (log, normal) in logs
                .iter_mut()
                .zip(self.normal.chunks_exact(self.normal_width))
            {
                add_normal(part, first, last, normal, log);
            }
        }
        if let Some(part) = &mixture.counts {
            for lane in 0..LANES {
                for entry in part.unit((first + lane).min(last)) {
                    let start = entry.item as usize * self.count;
                    let row = &self.log_theta[start..start + logs.len()];
                    let times = f64::from(entry.count);
                    for (log, theta) in logs.iter_mut().zip(row) {
                        log[lane] += times * theta;
                    }
                }
            }
        }
    }
}

/// Mean and precision factor from their normal-inverse-Wishart posterior: Σ⁻¹ = B'B with B = U'L⁻¹, Ψ = LL', U upper
/// triangular with independent normal entries and U_ii² ~ χ²(ν − (p − 1 − i)) (Bartlett's decomposition from the other
/// end, so that B is lower triangular); B(μ − m) = ξ/sqrt(κ).
fn draw_normal(
    part: &Numeric,
    n: f64,
    record: &[f64],
    bartlett: &mut [f64],
    out: &mut [f64],
    rng: &mut ChainRng,
) {
    let p = part.dim();
    let posterior = part.posterior(n, record);
    let (mean, rest) = out.split_at_mut(p);
    let (factor, constant) = rest.split_at_mut(part.factor_len());
    let root = |df: f64, rng: &mut ChainRng| {
        // χ²; the degrees of freedom are above 0 by construction of the prior.
        Gamma::new(0.5 * df, 2.0).map_or(f64::NAN, |gamma| gamma.sample(rng).sqrt())
    };
    let mut log_det = 0.0;
    let shrink = 1.0 / posterior.kappa.sqrt();
    if part.is_diagonal() {
        for j in 0..p {
            factor[j] = root(posterior.df, rng) * posterior.inverse[j] * posterior.inverse_scale;
            log_det += factor[j].ln();
            let z: f64 = StandardNormal.sample(rng);
            mean[j] = posterior.mean[j] + z * shrink / factor[j];
        }
    } else {
        let at = |i: usize, j: usize| i * (i + 1) / 2 + j;
        for i in 0..p {
            for k in 0..i {
                bartlett[at(i, k)] = StandardNormal.sample(rng);
            }
            // Row i of U' ends with U_ii.
            bartlett[at(i, i)] = root(posterior.df - (p - 1 - i) as f64, rng);
        }
        for i in 0..p {
            for j in 0..=i {
                let products = (j..=i).map(|k| bartlett[at(i, k)] * posterior.inverse[at(k, j)]);
                factor[at(i, j)] = products.sum::<f64>() * posterior.inverse_scale;
            }
            log_det += factor[at(i, i)].ln();
        }
        for i in 0..p {
            let z: f64 = StandardNormal.sample(rng);
            let known: f64 = (0..i).map(|k| factor[at(i, k)] * mean[k]).sum();
            mean[i] = (z * shrink - known) / factor[at(i, i)];
        }
        for (mean, centre) in mean.iter_mut().zip(posterior.mean) {
            *mean += centre;
        }
    }
    constant[0] = log_det - 0.5 * p as f64 * (2.0 * std::f64::consts::PI).ln();
}

/// Logarithms of probabilities from their Dirichlet posterior, block by block.
fn draw_log_theta(part: &Counts, record: &[f64], out: &mut [f64], rng: &mut ChainRng) {
    for block in &part.blocks {
        let logs = &mut out[block.items.clone()];
        for (log, count) in logs.iter_mut().zip(&record[block.items.clone()]) {
            *log = log_gamma(rng, block.concentration + count);
        }
        normalise(logs);
    }
}

/// Subtracts the logarithm of the sum of the exponentials.
pub fn normalise(logs: &mut [f64]) {
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logs.iter().map(|log| (log - largest).exp()).sum();
    let total = largest + sum.ln();
    for log in logs {
        *log -= total;
    }
}

/// Adds the log normal density of eight units.
#[inline]
fn add_normal(part: &Numeric, first: usize, last: usize, normal: &[f64], log: &mut Lane) {
    let p = part.dim();
    let (mean, rest) = normal.split_at(p);
    let constant = rest[rest.len() - 1];
    let mut total = [0.0; LANES];
    let mut k = 0;
    for i in 0..p {
        let mut z = [0.0; LANES];
        let columns = if part.is_diagonal() {
            i..i + 1
        } else {
            0..i + 1
        };
        for j in columns {
            let (f, m) = (rest[k], mean[j]);
            for lane in 0..LANES {
                z[lane] += f * (part.unit((first + lane).min(last))[j] - m);
            }
            k += 1;
        }
        for lane in 0..LANES {
            total[lane] += z[lane] * z[lane];
        }
    }
    for lane in 0..LANES {
        log[lane] += constant - 0.5 * total[lane];
    }
}
