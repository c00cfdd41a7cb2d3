//! Whether predictors fit a numeric response to the last digit.
//!
//! Then no residual is left: the likelihood grows without bound as the residual standard deviation goes to 0, and no sampler
//! can follow it there. More draws do not help.

use faer::Mat;
use faer::linalg::solvers::SolveLstsq as _;

use super::matrix::Design;
use super::response::ResponseKind;

/// Standard deviation of residuals that is nothing, as a share of that of the response: what rounding leaves of numbers with
/// 16 digits, with room for columns that are nearly alike. Noise a thousand times as small as any measurement's is larger.
const NOTHING: f64 = 1e-11;
/// Rows beyond the number of columns that coefficients are found from. An exact fit of all rows is one of these.
const SPARE_ROWS: usize = 20;
/// Rows beyond the number of columns without which a perfect fit says nothing.
const LEAST_SPARE: usize = 3;
/// Most columns that are looked at; the work grows with their cube.
const MAX_COLUMNS: usize = 300;

/// Whether the response is a combination of the columns. Of columns that are combinations of each other nothing is known.
pub(super) fn is_exact(design: &Design) -> bool {
    if !matches!(design.response.kind, ResponseKind::Number { .. }) {
        return false;
    }
    let (n, p) = (design.num_obs(), design.num_columns());
    if p > MAX_COLUMNS || n < p + LEAST_SPARE {
        return false;
    }
    let offset = |i: usize| design.offset.as_ref().map_or(0.0, |offset| offset[i]);
    let y = |i: usize| design.y[i] - offset(i);
    let mean = (0..n).map(y).sum::<f64>() / n as f64;
    let variance = (0..n).map(|i| (y(i) - mean).powi(2)).sum::<f64>() / n as f64;
    if !(variance > 0.0 && variance.is_finite()) {
        return false;
    }
    // Rows of a design are shuffled, so that the first are like all others.
    let few = n.min(p + SPARE_ROWS);
    let x = Mat::from_fn(few, p, |i, j| design.x[(i, j)]);
    let target = Mat::from_fn(few, 1, |i, _| y(i));
    let coefs = x.qr().solve_lstsq(&target);
    let residual = |i: usize| {
        let fitted: f64 = (0..p).map(|j| design.x[(i, j)] * coefs[(j, 0)]).sum();
        y(i) - fitted
    };
    let left = |rows: usize| (0..rows).map(|i| residual(i).powi(2)).sum::<f64>() / rows as f64;
    let limit = NOTHING * NOTHING * variance;
    // The few first: nearly always they say no.
    left(few) <= limit && left(n) <= limit
}

#[cfg(test)]
mod tests {
    use crate::design::checks::check;
    use crate::design::columns::{MemoryColumns, Values};
    use crate::design::matrix::{Design, ModelFrame};
    use crate::design::remark::Remark;
    use crate::design::response::ResponseUse;

    fn is_exact(formula: &str, noise: f64) -> bool {
        let rows = 0..40_u32;
        let mod_of = |i: u32, a: u32, m: u32| f64::from((i * a) % m);
        let x: Vec<f64> = rows.clone().map(|i| mod_of(i, 7919, 101) / 10.0).collect();
        let z: Vec<f64> = rows
            .clone()
            .map(|i| mod_of(i, 104_729, 97) / 10.0)
            .collect();
        let y = rows.map(|i| 3.0 + 2.0 * x[i as usize] + noise * mod_of(i, 31, 7));
        let y = y.collect();
        let columns = [("y", y), ("x", x.clone()), ("z", z)]
            .map(|(name, values)| (name.to_owned(), Values::Numbers(values)));
        let table = MemoryColumns::new("t", columns.into()).unwrap();
        let frame = ModelFrame {
            response_use: ResponseUse::Number,
            ..ModelFrame::new(formula.parse().unwrap())
        };
        let (design, _) = Design::build(&table, &frame).unwrap();
        let found = check(&design).warnings;
        found
            .iter()
            .any(|it| matches!(it.remark(), Some(Remark::ExactFit { .. })))
    }

    #[test]
    fn only_an_exact_fit_is_told() {
        assert!(is_exact("y ~ x", 0.0));
        assert!(is_exact("y ~ x + z", 0.0));
        assert!(!is_exact("y ~ z", 0.0));
        // Small noise is noise.
        assert!(!is_exact("y ~ x", 1e-8));
    }
}
