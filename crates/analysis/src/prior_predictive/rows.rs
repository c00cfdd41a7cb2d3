//! Rows with average predictors but one, and what a draw expects of rows.

use ndarray::{Array2, Axis};

use super::{categorical, kept, numeric};
use ergodic_base::INTERCEPT;
use ergodic_core::design::{Design, ResponseKind};
use ergodic_core::models::predicts::{Law, Point};

/// The number that stands for the first category or level.
pub(super) fn first_code(kind: &ResponseKind) -> f64 {
    match kind {
        ResponseKind::Ordered { .. } | ResponseKind::Unordered { .. } => 1.0,
        _ => 0.0,
    }
}

/// Shares of successes or categories, or sorted numbers, of the outcomes `y` of rows; `None` where rows have no outcome.
pub(super) fn observed_outcomes(
    kind: &ResponseKind,
    y: &[f64],
    trials: Option<&[f64]>,
) -> Option<Vec<f64>> {
    let share = |k: f64| {
        let mine = y.iter().filter(|&&y| y == k).count();
        mine as f64 / y.len().max(1) as f64
    };
    Some(match kind {
        ResponseKind::Binary { .. } => vec![share(1.0)],
        ResponseKind::Successes => {
            let trials: f64 = trials.into_iter().flatten().sum();
            vec![y.iter().sum::<f64>() / trials]
        }
        kind @ (ResponseKind::Categories { levels }
        | ResponseKind::Ordered { levels }
        | ResponseKind::Unordered { levels }) => {
            let first = first_code(kind);
            (0..levels.len()).map(|k| share(first + k as f64)).collect()
        }
        ResponseKind::Number { .. } | ResponseKind::Count { .. } => kept(y),
        ResponseKind::Absent => return None,
    })
}

/// What was observed of the outcome of a design, or of each column where there is no outcome.
pub(super) fn observed_of(design: &Design) -> Vec<Vec<f64>> {
    let trials = design.trials.as_deref();
    if let Some(observed) = observed_outcomes(&design.response.kind, &design.y, trials) {
        return vec![observed];
    }
    let shares = categorical(design).map(|(_, levels, codes)| {
        let mut shares = vec![0.0; levels.len()];
        for &code in codes {
            shares[code as usize] += 1.0 / codes.len() as f64;
        }
        shares
    });
    let numbers = numeric(design).map(|(_, values)| kept(values));
    numbers.chain(shares).collect()
}

/// Columns of the design besides the intercept.
pub(super) fn num_predictors(design: &Design) -> usize {
    design.num_columns() - usize::from(design.has_intercept)
}

/// The rows with all predictors but one at their average over all rows of `design`, in turn.
pub(super) fn one_by_one(rows: &Design, design: &Design) -> Design {
    let first = usize::from(design.has_intercept);
    let predictors = num_predictors(design);
    let means = |x: &Array2<f64>| x.mean_axis(Axis(0)).unwrap_or_default();
    let mut changed = rows.clone();
    let average = means(&design.x);
    let kept = |i: usize| first + i % predictors;
    for (i, mut row) in changed.x.rows_mut().into_iter().enumerate() {
        for j in (first..row.len()).filter(|&j| j != kept(i)) {
            row[j] = average[j];
        }
    }
    for (term, all) in changed.group_terms.iter_mut().zip(&design.group_terms) {
        let average = means(&all.z);
        for (i, mut row) in term.z.rows_mut().into_iter().enumerate() {
            for (k, name) in term.names.iter().enumerate() {
                if name != INTERCEPT && rows.terms[kept(i)] != *name {
                    row[k] = average[k];
                }
            }
        }
    }
    changed
}

/// Expected outcomes of the rows of a design at a draw, `per_exposure` without their offsets; none of levels without an order.
pub(super) fn expected_of<'a>(
    design: &'a Design,
    point: &'a Point,
    per_exposure: bool,
) -> impl Iterator<Item = f64> + 'a {
    let outcome = match point.law {
        Law::One(outcome) => Some(outcome),
        Law::Levels(_) => None,
    };
    let of_rows = outcome
        .into_iter()
        .flat_map(|outcome| (0..design.num_obs()).map(move |i| (i, outcome)));
    of_rows.map(move |(i, outcome)| {
        let mut z = match &design.offset {
            Some(offset) if !per_exposure => offset[i],
            _ => 0.0,
        };
        let scaling = design.raw_center.iter().zip(&design.raw_scale);
        for ((x, (centre, scale)), b) in
            design.x.row(i).iter().zip(scaling).zip(&point.coefficients)
        {
            z += (x * scale + centre) * b;
        }
        for (term, found) in design.group_terms.iter().zip(&point.terms) {
            let group = design.groups[term.factor].index[i] as usize;
            let effects = found.effects.chunks_exact(term.names.len()).nth(group);
            let columns = term.z.row(i).into_iter().zip(&term.scale);
            for ((value, scale), effect) in columns.zip(effects.unwrap_or_default()) {
                z += value * scale * effect;
            }
        }
        outcome.mean(z)
    })
}
