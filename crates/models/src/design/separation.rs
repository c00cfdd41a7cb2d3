//! Predictors that tell the outcome without error, alone or together.
//!
//! The likelihood of such data has no finite maximum: it grows along the separating direction for ever.

use faer::{Mat, Side};

use ergodic_base::Reporter;
use ergodic_base::special::logistic;

use super::checks::EXACT;
use super::matrix::Design;
use super::remark::{MAX_NAMES, Remark};
use crate::formula::term_label;

/// Rows looked at first for separation. They become ten times as many as long as something separates them, or they say nothing of some
/// direction.
const FIRST_ROWS: usize = 500;
/// Most multiplications spent on a separating direction.
const MAX_WORK: usize = 4_000_000_000;

/// Reports single columns that predict the outcome without error; true if there is one.
pub(super) fn separated_columns(
    design: &Design,
    constant: &[bool],
    reporter: &mut Reporter,
) -> bool {
    let columns = usize::from(design.has_intercept)..design.num_columns();
    let mut found: Vec<(usize, Remark)> = columns
        .filter(|&j| !constant[j])
        .filter_map(|j| Some((j, separated_column(design, j)?)))
        .collect();
    let is_separated = !found.is_empty();
    while let Some(&(first, _)) = found.first() {
        let column = source(design, first);
        let others = found
            .iter()
            .take_while(|(j, _)| source(design, *j) == column);
        let separated = others.count();
        let remarks = found.drain(..separated).map(|(_, remark)| remark);
        if separated < MANY_LEVELS {
            remarks.for_each(|remark| reporter.report(remark));
            continue;
        }
        let own = (0..design.num_columns()).filter(|&j| source(design, j) == column);
        reporter.report(Remark::LevelsSeparate {
            column: column.to_owned(),
            example: design.terms[first].clone(),
            separated,
            levels: own.count() + 1,
            response: design.response.name.clone(),
        });
    }
    is_separated
}

/// Levels of one column from which a remark is made of the column and not of each.
const MANY_LEVELS: usize = 4;

/// What the columns of a term have in common: its factors, whatever their levels.
fn source(design: &Design, j: usize) -> String {
    term_label(&design.terms[j].factors())
}

fn separated_column(design: &Design, j: usize) -> Option<Remark> {
    // Where outcomes overlap in some rows, neither a value nor a cut separates those of all.
    let [failures, successes] = ranges(design, j, FIRST_ROWS);
    if failures.1 > successes.0 && successes.1 > failures.0 {
        return None;
    }
    let column = design.x.column(j);
    let term = design.terms[j].clone();
    let response = design.response.name.clone();
    let outcome = |value: bool| design.response.counts[usize::from(value)].0.clone();
    let raw = |value: f64| design.raw_center[j] + design.raw_scale[j] * value;
    let (low, high) = extremes(column.iter());
    // A column of two values, such as a level or a yes-no number: look at the outcomes of either value.
    if column.iter().all(|&value| value == low || value == high) {
        for (value, is) in [(high, low), (low, high)].map(|(value, _)| (value, raw(value))) {
            let (mut ones, mut all) = (0_usize, 0_usize);
            for (&x, &y) in column.iter().zip(&design.y) {
                if x == value {
                    all += 1;
                    ones += usize::from(y == 1.0);
                }
            }
            if ones == 0 || ones == all {
                let is_level = term.has_category() && (is - 1.0).abs() < 1e-9;
                return Some(Remark::ValueSeparates {
                    column: term,
                    value: (!is_level).then_some(is),
                    rows: all,
                    response,
                    outcome: outcome(ones > 0),
                });
            }
        }
        return None;
    }
    let [failures, successes] = ranges(design, j, design.num_obs());
    let (above, cut, strict) = if failures.1 <= successes.0 {
        (true, successes.0, failures.1 < successes.0)
    } else if successes.1 <= failures.0 {
        (false, successes.1, successes.1 < failures.0)
    } else {
        return None;
    };
    Some(Remark::CutSeparates {
        column: term,
        response,
        outcome: outcome(true),
        above,
        cut: raw(cut),
        shared: !strict,
    })
}

/// The least and the largest value of a column in the first `rows` rows with outcome 0, and with outcome 1.
fn ranges(design: &Design, j: usize, rows: usize) -> [(f64, f64); 2] {
    [0.0, 1.0].map(|outcome| {
        let column = design.x.column(j);
        let rows = column.iter().zip(&design.y).take(rows);
        extremes(rows.filter(|(_, y)| **y == outcome).map(|(x, _)| x))
    })
}

fn extremes<'a>(values: impl Iterator<Item = &'a f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| {
        (low.min(x), high.max(x))
    })
}

/// Looks for a direction of several columns that separates the outcomes: first in some rows (what does not
/// separate them does not separate all, if they say something of every direction), then in more.
pub(super) fn separated_together(design: &Design, skipped: &[bool], reporter: &mut Reporter) {
    let columns: Vec<usize> = (0..design.num_columns())
        .filter(|&j| !skipped[j] || (j == 0 && design.has_intercept))
        .collect();
    let n = design.num_obs();
    if columns.len() > 200 || n * columns.len() * columns.len() > MAX_WORK / NEWTON_STEPS {
        reporter.report(Remark::SeparationUnchecked {});
        return;
    }
    let mut rows = n.min(FIRST_ROWS.max(20 * columns.len()));
    loop {
        let direction = match separating_direction(design, &columns, rows) {
            Separation::None => return,
            Separation::Open => None,
            Separation::Along(direction) => Some(direction),
        };
        if let Some(direction) = direction
            && rows == n
        {
            let strongest = direction
                .iter()
                .map(|value| value.abs())
                .fold(0.0, f64::max);
            let columns = columns
                .iter()
                .zip(&direction)
                .filter(|(j, value)| {
                    value.abs() > 0.05 * strongest && !(**j == 0 && design.has_intercept)
                })
                .map(|(j, _)| design.terms[*j].to_string())
                .take(MAX_NAMES)
                .collect();
            let response = design.response.name.clone();
            reporter.report(Remark::TogetherSeparate { columns, response });
            return;
        }
        rows = n.min(10 * rows);
    }
}

/// Newton steps after which the fit of data that do not separate has long converged.
const NEWTON_STEPS: usize = 30;

/// Variance of an outcome whose chance is a half, as it is where all coefficients are 0.
const LARGEST_WEIGHT: f64 = 0.25;

/// What some rows say of directions that separate outcomes.
enum Separation {
    /// There is none.
    None,
    /// They are the same along some direction, as where they lack a level: others may differ.
    Open,
    /// There is this one.
    Along(Vec<f64>),
}

/// A direction d with s_i x_i'd >= 0 for all of the first `rows` rows (s = 1 for success, -1 for failure) and
/// more than 0 for some; none if Newton's method finds a finite maximum of the likelihood instead.
///
/// On separable data every Newton step of the logistic likelihood goes about one unit further along such a
/// direction (the log odds of the remaining rows grow by 1), otherwise the steps shrink quadratically.
fn separating_direction(design: &Design, columns: &[usize], rows: usize) -> Separation {
    let p = columns.len();
    let mut beta = vec![0.0; p];
    let mut x = vec![0.0; p];
    for step in 0..NEWTON_STEPS {
        let mut gradient = Mat::<f64>::zeros(p, 1);
        // A trace of a ridge keeps the factor positive where weights vanish.
        let mut hessian =
            Mat::<f64>::from_fn(p, p, |i, j| if i == j { 1e-12 * rows as f64 } else { 0.0 });
        for i in 0..rows {
            let row = design.x.row(i);
            let mut eta = 0.0;
            for (k, &j) in columns.iter().enumerate() {
                x[k] = row[j];
                eta += x[k] * beta[k];
            }
            let mean = logistic(eta);
            let weight = mean * (1.0 - mean);
            for a in 0..p {
                gradient[(a, 0)] += (design.y[i] - mean) * x[a];
                for b in 0..=a {
                    hessian[(a, b)] += weight * x[a] * x[b];
                }
            }
        }
        let Ok(factor) = hessian.llt(Side::Lower) else {
            return Separation::None;
        };
        if step == 0 && rows < design.num_obs() {
            let lower = factor.L();
            // Of a column of zeros nothing is left but the ridge, which is all that it has: columns of all rows are of the order of 1.
            let own = |j: usize| hessian[(j, j)].max(LARGEST_WEIGHT * rows as f64);
            if (0..p).any(|j| lower[(j, j)].powi(2) < EXACT * own(j)) {
                return Separation::Open;
            }
        }
        let step = faer::linalg::solvers::Solve::solve(&factor, &gradient);
        let direction: Vec<f64> = (0..p).map(|k| step[(k, 0)]).collect();
        if is_separating(design, columns, rows, &beta) {
            return Separation::Along(beta);
        }
        if is_separating(design, columns, rows, &direction) {
            return Separation::Along(direction);
        }
        // Far from the maximum a full step may overshoot; half of a long one stays on the way.
        let longest = largest_eta(design, columns, rows, &direction);
        if longest < 1e-6 {
            return Separation::None;
        }
        let share = if longest > 8.0 { 8.0 / longest } else { 1.0 };
        beta.iter_mut()
            .zip(&direction)
            .for_each(|(value, step)| *value += share * step);
    }
    Separation::None
}

fn eta(design: &Design, columns: &[usize], row: usize, direction: &[f64]) -> f64 {
    columns
        .iter()
        .zip(direction)
        .map(|(&j, value)| design.x[[row, j]] * value)
        .sum()
}

fn largest_eta(design: &Design, columns: &[usize], rows: usize, direction: &[f64]) -> f64 {
    (0..rows)
        .map(|i| eta(design, columns, i, direction).abs())
        .fold(0.0, f64::max)
}

/// Whether no row lies on the wrong side of `direction`, up to rounding, and some lie clearly on the right one.
fn is_separating(design: &Design, columns: &[usize], rows: usize, direction: &[f64]) -> bool {
    let (mut worst, mut best) = (f64::INFINITY, f64::NEG_INFINITY);
    for i in 0..rows {
        let side = (2.0 * design.y[i] - 1.0) * eta(design, columns, i, direction);
        worst = worst.min(side);
        best = best.max(side);
    }
    best > 0.0 && worst >= -1e-6 * best
}
