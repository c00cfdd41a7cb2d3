//! Rows chosen with probability proportional to how far they depart from their Taylor expansions at the centre, the weights
//! ω_i of Dang et al. (2019), (8).
//!
//! Where differences d_i between log likelihoods of rows and their expansions are summed by looking at few rows, each drawn
//! with probability p_i and weighed by 1/p_i, the variance is Σ d_i²/p_i − (Σ d_i)². Averaged over the quadratic approximation
//! N(û, H⁻¹) it is least for p_i ∝ (E d_i²)^½. The linear predictor of row i is then normal around its value at û with
//! variance a_i'H⁻¹a_i, so that E d_i² is an integral over one variable. With differences of the third order p_i grows as
//! the third power of the row's leverage's root: the few rows of a rare level, whose coefficient is not well known, carry
//! nearly all of Σ d_i, and rows drawn with equal chances miss them. On 93,000 rows of forest cover with 40 soil types the
//! variance falls 150 times, measured at draws of the posterior.
//!
//! Rows without a linear predictor have their mean of d_i² over a few points of N(û, H⁻¹), by passes over all rows.

use rand_distr::{Distribution as _, StandardNormal};

use super::lipschitz::{AliasTable, squared_lengths};
use crate::models::arithmetic::{LANES, Lane};
use crate::models::{LinearRows, RowLikelihood, Rows};
use crate::numerics::quadrature::gauss_hermite;
use ergodic_base::linalg::{Cholesky, axpy};
use ergodic_base::{Purpose, stream};

/// Nodes of the integral, which are evaluated together with the centre: exact for squares of the leading terms up to the sixth order
/// of a difference.
const NODES: usize = LANES - 1;
/// Share of draws in which all rows have equal chances. No estimate is unbiased unless every row can be drawn.
const UNIFORM: f64 = 0.01;
/// Share of draws with equal chances where means come from a few points: a row that was near its expansion at all of them by chance weighs
/// ten times as much as with equal chances at most.
const UNIFORM_MEASURED: f64 = 0.1;
/// Points at which rows without a linear predictor are measured, the same for all rows.
const POINTS: usize = 6;
/// Derivatives along δ at û are differences of log likelihoods at û ± this times δ: exact to a thousandth of what is of the third order
/// in δ, and to 1e-12 of a log likelihood.
const STEP: f64 = 1.0 / 32.0;
/// Differences of rows below this are rounding: a million of them change no likelihood.
const NEGLIGIBLE: f64 = 1e-10;
/// Rows that are measured together.
const CHUNK_ROWS: usize = 4096;
/// Rows whose terms are computed together, so that none waits for those of another: a few kilobytes.
const TOGETHER: usize = 32;

/// The table for expansions of `order` 0, 1 or 2 at `u` (D), `factor` being that of H there; `None` where no row with
/// a linear predictor departs from its expansion, or a row does without bounds.
pub fn difference_chances(
    model: &dyn RowLikelihood,
    u: &[f64],
    factor: &Cholesky,
    order: usize,
) -> Option<AliasTable> {
    let num_obs = model.num_obs();
    let (mut masses, uniform) = match model.linear_rows() {
        Some(linear) => {
            let masses = integrated_masses(linear, num_obs, u, factor, order);
            (masses, UNIFORM)
        }
        None => (measured_masses(model, u, factor, order), UNIFORM_MEASURED),
    };
    let mean = masses.iter().sum::<f64>() / num_obs as f64;
    for mass in &mut masses {
        *mass = (1.0 - uniform) * *mass + uniform * mean;
    }
    AliasTable::new(&masses)
}

/// (E d_i²)^½ of `num_obs` rows by an integral over their linear predictors.
fn integrated_masses(
    linear: &dyn LinearRows,
    num_obs: usize,
    u: &[f64],
    factor: &Cholesky,
    order: usize,
) -> Vec<f64> {
    let (nodes, weights) = gauss_hermite(NODES);
    // For ∫ f(x) φ(x) dx instead of ∫ f(x) e^(−x²) dx, up to a factor that is the same for all rows.
    let rule: Vec<(f64, f64)> = (nodes.iter().map(|node| node * std::f64::consts::SQRT_2))
        .zip(weights)
        .collect();
    let square = |sd: f64, [values, slopes, seconds]: &[Lane; 3]| -> f64 {
        let slope = if order < 1 { 0.0 } else { slopes[0] };
        let second = if order < 2 { 0.0 } else { seconds[0] };
        let square = |(&(node, weight), there): (&(f64, f64), &f64)| {
            let step = sd * node;
            weight * (there - values[0] - (slope + 0.5 * second * step) * step).powi(2)
        };
        rule.iter().zip(&values[1..]).map(square).sum()
    };
    let fill = |first: usize, masses: &mut [f64]| {
        let lengths = squared_lengths(linear, factor, first..first + masses.len());
        let (mut z, mut terms) = ([[0.0; LANES]; TOGETHER], [[[0.0; LANES]; 3]; TOGETHER]);
        let rows = (first..).step_by(TOGETHER);
        let parts = masses.chunks_mut(TOGETHER).zip(lengths.chunks(TOGETHER));
        for (first, (masses, lengths)) in rows.zip(parts) {
            let (z, terms) = (&mut z[..masses.len()], &mut terms[..masses.len()]);
            for (row, (z, length)) in (first..).zip(z.iter_mut().zip(lengths)) {
                // The centre, and then the nodes.
                *z = [linear.predictor(row, u); LANES];
                for (z, (node, _weight)) in z[1..].iter_mut().zip(&rule) {
                    *z += length.sqrt() * node;
                }
            }
            linear.derivatives_at(first, z, terms);
            for ((mass, length), terms) in masses.iter_mut().zip(lengths).zip(terms) {
                *mass = square(length.sqrt(), terms).sqrt();
            }
        }
    };
    let mut masses = vec![0.0; num_obs];
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let share = num_obs.div_ceil(cores).max(CHUNK_ROWS);
    let fill = &fill;
    // Threads of their own: one of a pool that waits here could take up a chain that waits for the same chances.
    std::thread::scope(|scope| {
        let mut parts = (0..).step_by(share).zip(masses.chunks_mut(share));
        let own = parts.next();
        for (first, masses) in parts {
            scope.spawn(move || fill(first, masses));
        }
        if let Some((first, masses)) = own {
            fill(first, masses);
        }
    });
    masses
}

/// Passes over all rows that [`difference_chances`] takes for expansions of `order` where rows have no linear predictor; those of others are
/// integrals.
pub fn passes_of_chances(model: &dyn RowLikelihood, order: usize) -> u64 {
    let of_point = if order > 0 { 3 } else { 1 };
    match model.linear_rows() {
        Some(_) => 0,
        None => 1 + POINTS as u64 * of_point,
    }
}

/// (E d_i²)^½ of all rows over [`POINTS`] points of N(û, H⁻¹), where rows are known by their log likelihoods alone.
fn measured_masses(
    model: &dyn RowLikelihood,
    u: &[f64],
    factor: &Cholesky,
    order: usize,
) -> Vec<f64> {
    let num_obs = model.num_obs();
    // Streams 0 to 2 belong to the centre and to who measures the spread of differences.
    let mut rng = stream(0, 3, Purpose::Data);
    let deltas = [(); POINTS].map(|()| {
        let mut delta: Vec<f64> = u.iter().map(|_| StandardNormal.sample(&mut rng)).collect();
        factor.solve_lower_transpose(&mut delta);
        delta
    });
    let mut scratch = model.scratch();
    let mut point = u.to_vec();
    let mut masses = vec![0.0; num_obs];
    let mut values = [(); 4].map(|()| vec![0.0; CHUNK_ROWS.min(num_obs)]);
    for (chunk, masses) in masses.chunks_mut(CHUNK_ROWS).enumerate() {
        let rows = Rows::Span {
            start: chunk * CHUNK_ROWS,
            len: masses.len(),
        };
        let [centre, there, above, below] = values.each_mut().map(|it| &mut it[..masses.len()]);
        let mut at = |delta: &[f64], by: f64, out: &mut [f64]| {
            point.copy_from_slice(u);
            axpy(by, delta, &mut point);
            model.pointwise(&point, rows, &mut scratch, out);
        };
        at(&deltas[0], 0.0, centre);
        for delta in &deltas {
            at(delta, 1.0, there);
            if order > 0 {
                at(delta, STEP, above);
                at(delta, -STEP, below);
            }
            for (k, mass) in masses.iter_mut().enumerate() {
                let mut difference = there[k] - centre[k];
                if order > 0 {
                    difference -= 0.5 * (above[k] - below[k]) / STEP;
                }
                if order > 1 {
                    difference -= 0.5 * (above[k] - 2.0 * centre[k] + below[k]) / (STEP * STEP);
                }
                *mass += difference * difference;
            }
        }
    }
    for mass in &mut masses {
        *mass = (*mass / POINTS as f64).sqrt() + NEGLIGIBLE;
    }
    masses
}
