//! Priors with a kink, such as Laplace's, smoothed while the mode is looked for.
//!
//! At its mode a posterior with such priors may have no gradient: coefficients that the data do not need sit at the kink.
//! Newton's method and L-BFGS get stuck beside it. Instead of −|z|/b they climb −sqrt(z² + δ²)/b, for δ that shrink from the
//! prior's scale to a thousandth of it, each search from where the last one ended: the mode of the last differs from the
//! true one by less than δ in each kinked coefficient, far below a posterior standard deviation.

use crate::models::{LinearRows as _, LogDensity, RowLikelihood};
use ergodic_base::linalg::axpy;

/// δ in units of the prior's scale b, one after another.
const WIDTHS: [f64; 4] = [1.0, 0.1, 0.01, 1e-3];

/// A smoothing of all kinked priors of a model.
#[derive(Clone, Copy, Debug)]
pub(super) struct Smoothing {
    width: f64,
}

/// The smoothings to go through for `density`: none where no prior has a kink.
pub(super) fn stages(density: &dyn LogDensity) -> Vec<Smoothing> {
    let kinked = (density.rows())
        .and_then(RowLikelihood::prior_rows)
        .is_some_and(|rows| (0..rows.count()).any(|row| rows.prior(row).kink().is_some()));
    let widths = if kinked { &WIDTHS[..] } else { &[] };
    widths.iter().map(|&width| Smoothing { width }).collect()
}

impl Smoothing {
    /// What smoothing adds to the log prior at `u`; ADDS its gradient to `grad` (D).
    pub fn value(self, model: &dyn RowLikelihood, u: &[f64], grad: &mut [f64]) -> f64 {
        let mut change = 0.0;
        self.each(model, u, |row, z, root, scale| {
            change += (z.abs() - root) / scale;
            let slope = if z == 0.0 { 0.0 } else { z.signum() };
            axpy((slope - z / root) / scale, row, grad);
        });
        change
    }

    /// What smoothing adds to −∂² log prior at `u`, ADDED to the row-major D×D `hessian`.
    pub fn add_neg_hessian(self, model: &dyn RowLikelihood, u: &[f64], hessian: &mut [f64]) {
        let Some(rows) = model.prior_rows() else {
            return;
        };
        for k in 0..rows.count() {
            let prior = rows.prior(k);
            let Some((location, scale)) = prior.kink() else {
                continue;
            };
            let (row, value) = (rows.row(k), rows.predictor(k, u));
            let (z, delta) = (value - location, self.width * scale);
            let root = z.hypot(delta);
            let smooth = delta * delta / (scale * root * root * root);
            let change = rows.power() * (smooth - prior.curvature(value));
            for (i, &a) in row.iter().enumerate().filter(|(_, a)| **a != 0.0) {
                axpy(
                    change * a,
                    row,
                    &mut hessian[i * row.len()..(i + 1) * row.len()],
                );
            }
        }
    }

    /// Calls `visit(row, z, sqrt(z² + δ²), b/r)` for every kinked prior, z counted from its kink, where r is the power that priors are raised
    /// to.
    fn each(
        self,
        model: &dyn RowLikelihood,
        u: &[f64],
        mut visit: impl FnMut(&[f64], f64, f64, f64),
    ) {
        let Some(rows) = model.prior_rows() else {
            return;
        };
        for k in 0..rows.count() {
            if let Some((location, scale)) = rows.prior(k).kink() {
                let z = rows.predictor(k, u) - location;
                let root = z.hypot(self.width * scale);
                visit(rows.row(k), z, root, scale / rows.power());
            }
        }
    }
}
