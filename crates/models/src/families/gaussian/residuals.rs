//! What residuals say against normal noise around a linear predictor: rows far from the fit, and a bend along a predictor.
//!
//! Both limits are such that one in a hundred data sets with normal noise passes one of them. Residuals are measured in a
//! standard deviation that far rows do not widen: 1.4826 times their median size, which is that of normal noise. From n rows and
//! p coefficients its square has the precision of one from 0.37 (n − p) rows (the efficiency of the median absolute deviation,
//! Rousseeuw and Croux 1993), so that a residual over it is nearly a Student t with as many degrees of freedom.

use statrs::distribution::{ContinuousCDF as _, StudentsT};

use crate::design::Remark;
use crate::families::rows::{Fit, value_or};
use ergodic_base::Reporter;
use ergodic_diagnostics::quantiles;

/// Chance that normal noise is remarked on.
const FALSE_ALARMS: f64 = 0.01;
/// Normal standard deviation over the median absolute value.
const OF_MEDIAN: f64 = 1.482_602_218_505_602;
/// Efficiency of the median absolute deviation as an estimate of a normal standard deviation.
const EFFICIENCY: f64 = 0.37;
/// Rows beyond coefficients from which the normal quantile stands for that of Student's t, a hundredth above it.
const NEARLY_NORMAL: f64 = 1000.0;
/// Rows beyond coefficients from which residuals are looked at: fewer say nothing about tails.
const LEAST_ROWS: usize = 10;
/// A bend that explains less of the residuals' variance changes no conclusion.
const LEAST_SHARE: f64 = 0.05;

/// Remarks on the fit at the mode.
pub(super) fn remark(fit: &Fit<'_>, reporter: &mut Reporter) {
    let residuals = residuals(fit);
    let coefficients = fit.design.num_columns();
    if residuals.len() < coefficients + LEAST_ROWS {
        return;
    }
    // A bend among far rows is theirs.
    if !outliers(fit, &residuals, reporter) {
        bend(fit, &residuals, reporter);
    }
}

/// Row and residual, in standard deviations of the response, of rows that count.
fn residuals(fit: &Fit<'_>) -> Vec<(usize, f64)> {
    let (design, response) = (fit.design, fit.response);
    (0..design.num_obs())
        .filter(|&i| value_or(&design.weights, i, 1.0) > 0.0)
        .map(|i| {
            let y = design.y[i] - value_or(&design.offset, i, 0.0) - response.centre;
            (i, y / response.scale - fit.predictors[i])
        })
        .collect()
}

/// Whether there are rows too far from the fit for normal noise.
fn outliers(fit: &Fit<'_>, residuals: &[(usize, f64)], reporter: &mut Reporter) -> bool {
    let n = residuals.len();
    let free = (n - fit.design.num_columns()) as f64;
    let mut sizes: Vec<f64> = residuals.iter().map(|(_, r)| r.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    let sd = OF_MEDIAN * sizes[n / 2] * (n as f64 / free).sqrt();
    let tail = 0.5 * FALSE_ALARMS / n as f64;
    let limit = match StudentsT::new(0.0, 1.0, EFFICIENCY * free) {
        Ok(t) if free < NEARLY_NORMAL => -t.inverse_cdf(tail),
        _ => -quantiles::normal(tail),
    };
    let far = &sizes[sizes.partition_point(|size| *size <= limit * sd)..];
    // Where half of all rows are on the fit, all others are far from it, which is no matter of tails.
    let (Some(nearest), true) = (far.first(), sd > 0.0) else {
        return false;
    };
    reporter.report(Remark::Outliers {
        response: fit.design.response.name.clone(),
        far: far.len(),
        rows: n,
        distance: nearest / sd,
        limit,
    });
    true
}

/// Finds the predictor whose square explains most of the residuals.
fn bend(fit: &Fit<'_>, residuals: &[(usize, f64)], reporter: &mut Reporter) {
    let design = fit.design;
    let first = usize::from(design.has_intercept);
    let n = residuals.len() as f64;
    let total: f64 = residuals.iter().map(|(_, r)| r * r).sum();
    let mut best: Option<(f64, usize)> = None;
    for j in first..design.num_columns() {
        let x: Vec<f64> = residuals.iter().map(|(i, _)| design.x[[*i, j]]).collect();
        let Some(curve) = curve_of(&x) else {
            continue;
        };
        let product: f64 = curve.iter().zip(residuals).map(|(v, (_, r))| v * r).sum();
        let size: f64 = curve.iter().map(|v| v * v).sum();
        let share = product * product / (size * total);
        if share > best.map_or(0.0, |(share, _)| share) {
            best = Some((share, j));
        }
    }
    let Some((share, j)) = best else { return };
    let tail = 0.5 * FALSE_ALARMS / (design.num_columns() - first) as f64;
    let limit = quantiles::normal(tail);
    if share < LEAST_SHARE || n * share < limit * limit {
        return;
    }
    reporter.report(Remark::Bend {
        response: design.response.name.clone(),
        column: design.terms[j].to_string(),
        share,
    });
}

/// The square of a column less what a straight line in it says; `None` of columns of two values, which have none.
fn curve_of(x: &[f64]) -> Option<Vec<f64>> {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    let centred: Vec<f64> = x.iter().map(|x| x - mean).collect();
    let moment = |power: i32| centred.iter().map(|x| x.powi(power)).sum::<f64>() / n;
    let (second, third) = (moment(2), moment(3));
    let slope = third / second;
    let curve: Vec<f64> = centred.iter().map(|x| x * x - second - slope * x).collect();
    let left = curve.iter().map(|v| v * v).sum::<f64>() / n;
    // Of the square's own variance; rounding leaves a little of that of two values.
    (left > 1e-9 * second * second).then_some(curve)
}
