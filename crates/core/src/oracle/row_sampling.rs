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

use super::lipschitz::{AliasTable, squared_lengths};
use crate::models::RowLikelihood;
use crate::models::arithmetic::LANES;
use crate::numerics::quadrature::gauss_hermite;
use ergodic_base::linalg::Cholesky;

/// Nodes of the integral, which are evaluated together with the centre: exact for squares of the leading terms up to the sixth order
/// of a difference.
const NODES: usize = LANES - 1;
/// Share of draws in which all rows have equal chances. No estimate is unbiased unless every row can be drawn.
const UNIFORM: f64 = 0.01;

/// The table for expansions of `order` 0, 1 or 2 at `u` (D), `factor` being that of H there; `None` for models without
/// linear rows, and where no row departs from its expansion or one does without bounds.
pub fn difference_chances(
    model: &dyn RowLikelihood,
    u: &[f64],
    factor: &Cholesky,
    order: usize,
) -> Option<AliasTable> {
    let linear = model.linear_rows()?;
    let num_obs = model.num_obs();
    let (nodes, weights) = gauss_hermite(NODES);
    // For ∫ f(x) φ(x) dx instead of ∫ f(x) e^(−x²) dx, up to a factor that is the same for all rows.
    let rule: Vec<(f64, f64)> = (nodes.iter().map(|node| node * std::f64::consts::SQRT_2))
        .zip(weights)
        .collect();
    let mut masses = squared_lengths(linear, factor, 0..num_obs);
    for (row, mass) in masses.iter_mut().enumerate() {
        let sd = mass.sqrt();
        // The centre, and then the nodes.
        let mut z = [linear.predictor(row, u); LANES];
        for (z, (node, _weight)) in z[1..].iter_mut().zip(&rule) {
            *z += sd * node;
        }
        let [values, slopes, seconds] = linear.derivatives_at(row, &z);
        let slope = if order < 1 { 0.0 } else { slopes[0] };
        let second = if order < 2 { 0.0 } else { seconds[0] };
        let square = |(&(node, weight), there): (&(f64, f64), &f64)| {
            let step = sd * node;
            weight * (there - values[0] - (slope + 0.5 * second * step) * step).powi(2)
        };
        *mass = (rule.iter().zip(&values[1..]).map(square).sum::<f64>()).sqrt();
    }
    let mean = masses.iter().sum::<f64>() / num_obs as f64;
    for mass in &mut masses {
        *mass = (1.0 - UNIFORM) * *mass + UNIFORM * mean;
    }
    AliasTable::new(&masses)
}
