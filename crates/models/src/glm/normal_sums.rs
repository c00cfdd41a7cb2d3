//! Sums over normal rows that say all of their likelihood: passes over all rows then cost as much as a few rows do.
//!
//! With coefficients β, the least squares ĉ of rows of weight w_i, d = β − ĉ, r_i = y_i − x_i'ĉ and Σ w_i x_i x_i' = L L', the sum
//! Σ w_i (y_i − x_i'β)² is Σ w_i r_i² + |L'd|² − 2 q'(L'd), where q = L⁻¹ Σ w_i r_i x_i is what rounding leaves. Nothing cancels there, however
//! well the rows are predicted, and value and gradient agree to the last digits, also where columns nearly say the same.

use super::GlmRows;
use crate::families::rows::RowFamily;
use crate::{Rows, Scratch};
use ergodic_base::linalg::{Cholesky, axpy, dot};

/// Rows whose sums are taken together, which keeps the rounding of long sums small.
const CHUNK: usize = 4096;
/// Least share of a column's square that is not that of columns before it: with less, rounding of sums, of 1e-16, would be felt in the
/// posterior.
const LEAST_SHARE: f64 = 1e-9;
/// Corrections of ĉ, each of which gains at least six digits with that share.
const CORRECTIONS: usize = 2;

/// Sums over all rows of a family that is [`RowFamily::NORMAL`] and has log σ as its auxiliary coordinate.
#[derive(Debug)]
pub struct NormalSums {
    /// ĉ (P).
    centre: Vec<f64>,
    /// Σ w x x', row-major P×P.
    products: Vec<f64>,
    /// L.
    factor: Cholesky,
    /// q (P).
    rest: Vec<f64>,
    /// Σ w r².
    squares: f64,
    /// Σ w.
    weights: f64,
    /// What the log likelihood is besides, whatever u is.
    constant: f64,
}

impl NormalSums {
    /// The sums over `rows`, by six passes over them; `None` where columns depend on each other.
    pub fn of<F: RowFamily>(rows: &GlmRows<F>) -> Option<Self> {
        let (dim, columns) = (rows.dim(), rows.num_columns());
        let mut scratch = rows.scratch();
        // Where log σ is 0.
        let mut u = vec![0.0; dim];
        let mut hessian = vec![0.0; dim * dim];
        rows.add_neg_hessian(&u, Rows::All, &mut scratch, &mut hessian);
        let lines = hessian.chunks_exact(dim).take(columns);
        let products: Vec<f64> = lines.flat_map(|line| line[..columns].to_vec()).collect();
        let factor = Cholesky::of(&products, columns).ok()?;
        let shares = (0..columns).map(|j| {
            let at = j * (columns + 1);
            factor.lower()[at].powi(2) / products[at]
        });
        if shares.fold(1.0, f64::min) < LEAST_SHARE {
            return None;
        }
        let mut slopes = |u: &[f64]| {
            let mut grad = vec![0.0; dim];
            rows.gradient(u, Rows::All, &mut scratch, &mut grad);
            grad.truncate(columns);
            grad
        };
        for _ in 0..=CORRECTIONS {
            let mut step = slopes(&u);
            factor.solve(&mut step);
            axpy(1.0, &step, &mut u[..columns]);
        }
        let mut rest = slopes(&u);
        factor.solve_lower(&mut rest);
        u.truncate(columns);
        let mut sums = Self {
            centre: u,
            products,
            factor,
            rest,
            squares: 0.0,
            weights: 0.0,
            constant: 0.0,
        };
        for start in (0..rows.num_obs()).step_by(CHUNK) {
            let (mut weight_sum, mut square_sum, mut constant_sum) = (0.0, 0.0, 0.0);
            for i in start..rows.num_obs().min(start + CHUNK) {
                let [y, weight, constant, _] = rows.extra(i);
                let r = y - rows.tiled.store.covariates(i).dot(&sums.centre);
                weight_sum += weight;
                square_sum += weight * r * r;
                constant_sum += constant;
            }
            sums.weights += weight_sum;
            sums.squares += square_sum;
            sums.constant += constant_sum;
        }
        sums.squares.is_finite().then_some(sums)
    }

    /// 1/σ², Σ w (y − x'β)², and Σ w (y − x'β) x in the [`Scratch::vector`].
    fn at(&self, u: &[f64], scratch: &mut Scratch) -> (f64, f64) {
        let columns = self.centre.len();
        let (beta, log_sigma) = (&u[..columns], u[columns]);
        let (along, slopes) = (&mut scratch.lanes[..columns], &mut scratch.vector);
        for ((away, beta), centre) in slopes.iter_mut().zip(beta).zip(&self.centre) {
            *away = beta - centre;
        }
        self.factor.lower_transpose_mul(slopes, along);
        let change = dot(along, along) - 2.0 * dot(along, &self.rest);
        for (along, rest) in along.iter_mut().zip(&self.rest) {
            *along = rest - *along;
        }
        self.factor.lower_mul(along, slopes);
        ((-2.0 * log_sigma).exp(), self.squares + change)
    }

    /// The log likelihood of all rows; ADDS its gradient to `grad` (D).
    pub fn value_gradient(&self, u: &[f64], scratch: &mut Scratch, grad: &mut [f64]) -> f64 {
        let columns = self.centre.len();
        let (precision, squares) = self.at(u, scratch);
        axpy(precision, &scratch.vector, &mut grad[..columns]);
        grad[columns] += precision * squares - self.weights;
        self.constant - u[columns] * self.weights - 0.5 * precision * squares
    }

    /// ADDS −∂²/∂u² of the log likelihood of all rows to the row-major D×D `hessian`.
    pub fn add_neg_hessian(&self, u: &[f64], scratch: &mut Scratch, hessian: &mut [f64]) {
        let (columns, dim) = (self.centre.len(), u.len());
        let (precision, squares) = self.at(u, scratch);
        for (i, line) in hessian.chunks_exact_mut(dim).take(columns).enumerate() {
            let products = &self.products[i * columns..][..columns];
            axpy(precision, products, &mut line[..columns]);
        }
        for (j, slope) in scratch.vector.iter().enumerate() {
            hessian[j * dim + columns] += 2.0 * precision * slope;
            hessian[columns * dim + j] += 2.0 * precision * slope;
        }
        hessian[columns * dim + columns] += 2.0 * precision * squares;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Storage;
    use crate::conformance::design_of;
    use crate::design::Design;
    use crate::families::Family;
    use crate::families::rows::{FamilyRows, RowUse};
    use crate::testing::regressions::Shape;

    const ROWS: usize = 203;

    /// Compares passes over all rows of the design with those over their sums, each at coefficients that are `away` from those of least
    /// squares, in units of the response.
    struct Compared<'a> {
        design: &'a Design,
        storage: Storage,
        away: f64,
        log_sigma: f64,
        tolerance: f64,
    }

    impl RowUse for Compared<'_> {
        type Made = ();

        fn of<F: RowFamily>(self, rows: FamilyRows<F>) {
            let columns = self.design.terms.len();
            let rows = GlmRows::new(rows.family, columns, rows.data).stored_as(self.storage);
            let sums = NormalSums::of(&rows).unwrap();
            let mut u: Vec<f64> = sums.centre.clone();
            u.iter_mut().for_each(|beta| *beta += self.away);
            u.push(self.log_sigma);
            let (dim, mut scratch) = (u.len(), rows.scratch());
            let near = |found: &[f64], expected: &[f64], what: &str| {
                let largest = expected.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
                for (found, expected) in found.iter().zip(expected) {
                    let off = (found - expected).abs();
                    assert!(
                        off <= self.tolerance * largest,
                        "{what}: {found} {expected}"
                    );
                }
            };
            let (mut by_sums, mut by_rows) = (vec![0.5; dim], vec![0.5; dim]);
            let value = sums.value_gradient(&u, &mut scratch, &mut by_sums);
            let expected = rows.value_gradient(&u, Rows::All, &mut scratch, &mut by_rows);
            near(&[value], &[expected], "value");
            near(&by_sums, &by_rows, "gradient");
            let (mut by_sums, mut by_rows) = (vec![0.5; dim * dim], vec![0.5; dim * dim]);
            sums.add_neg_hessian(&u, &mut scratch, &mut by_sums);
            rows.add_neg_hessian(&u, Rows::All, &mut scratch, &mut by_rows);
            near(&by_sums, &by_rows, "curvature");
        }
    }

    fn compare(change: impl Fn(&mut Design), with: (Storage, f64, f64, f64)) {
        let shape = Shape {
            offset: true,
            weights: true,
            ..Shape::default()
        };
        let mut design = design_of(Family::Gaussian, shape, ROWS);
        change(&mut design);
        let (storage, away, log_sigma, tolerance) = with;
        let compared = Compared {
            design: &design,
            storage,
            away,
            log_sigma,
            tolerance,
        };
        Family::Gaussian.rows(&design, compared).unwrap();
    }

    #[test]
    fn sums_say_what_a_pass_over_rows_says() {
        for storage in [Storage::F64, Storage::F32] {
            for away in [0.0, 0.3, -40.0] {
                compare(|_design| (), (storage, away, -0.4, 1e-12));
            }
        }
    }

    /// Columns that nearly say the same are taken as far as sums have digits for them.
    #[test]
    fn columns_may_nearly_depend_on_each_other() {
        let alike = |design: &mut Design, apart: f64| {
            let (first, other) = (design.x.column(1).to_owned(), design.x.column(3).to_owned());
            design.x.column_mut(2).assign(&(first + apart * other));
        };
        for away in [0.0, 0.7, 1e4] {
            let change = |design: &mut Design| alike(design, 1e-4);
            compare(change, (Storage::F64, away, 0.2, 1e-9));
        }
        let mut design = design_of(Family::Gaussian, Shape::default(), ROWS);
        for apart in [0.0, 1e-6] {
            alike(&mut design, apart);
            assert!(!Family::Gaussian.rows(&design, HasSums(&design)).unwrap());
        }
    }

    /// Whether rows have sums.
    struct HasSums<'a>(&'a Design);

    impl RowUse for HasSums<'_> {
        type Made = bool;

        fn of<F: RowFamily>(self, rows: FamilyRows<F>) -> bool {
            let rows = GlmRows::new(rows.family, self.0.terms.len(), rows.data);
            NormalSums::of(&rows).is_some()
        }
    }

    /// Residuals of a millionth of the response have six digits less in sums of y². Those of a pass over rows are off by the rounding
    /// of one predictor, 1e-16 of residuals of 1e-6.
    #[test]
    fn rows_that_are_predicted_well_lose_no_digits() {
        let predicted = |design: &mut Design| {
            design.offset = None;
            for (i, y) in design.y.iter_mut().enumerate() {
                let noise = ((i * 7919 % 1009) as f64 / 504.0 - 1.0) * 1e-6;
                *y = 3.0 + design.x.row(i).iter().skip(1).sum::<f64>() + noise;
            }
        };
        for away in [0.0, 1e-7] {
            let sigma: f64 = 1e-6;
            compare(predicted, (Storage::F64, away, sigma.ln(), 1e-8));
        }
    }
}
