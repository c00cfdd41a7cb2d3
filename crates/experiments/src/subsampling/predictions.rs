//! What runs of a logistic regression predict: ROC curves of rows that were kept out of the fit, and realised beside predicted shares of
//! rows that were fitted, along a predictor.
//!
//! Source: Dang, Quiroz, Kohn, Tran and Villani (2019), figures 3 and 6.

use super::super::problem::{info, row};
use super::super::{FurtherTable, Plot};
use crate::error::BenchError;
use ergodic_analysis::Run;
use ergodic_analysis::predict::{DRAWS, Fitted, PredictOptions, RowPrediction};
use ergodic_base::Control;
use ergodic_base::draws::DrawList;
use ergodic_core::samplers::{SIGN, WEIGHT};
use ergodic_diagnostics::scores::Roc;

/// Shares of false positives at which curves are written, evenly spaced from 0 to 1.
const POINTS: usize = 51;

/// The ROC curve of mean predictions of the rows held out; `None` where no chain ended well, weights of draws cancel, or all outcomes are
/// the same.
///
/// # Errors
/// The rows cannot be predicted.
pub fn roc(fitted: &Fitted, run: &Run) -> Result<Option<Roc>, BenchError> {
    let view = run.view();
    let lists: Vec<&DrawList> = view.usable().map(|chain| &chain.draws.draws).collect();
    if lists.is_empty() {
        return Ok(None);
    }
    let weights = info(run, WEIGHT);
    match fitted.scores(&lists, &weights, None, DRAWS, &Control::default()) {
        Ok(scores) => Ok(scores.roc),
        // Signed weights may leave no estimate.
        Err(_) if !info(run, SIGN).is_empty() => Ok(None),
        Err(error) => Err(BenchError::unknown(error)),
    }
}

/// The share of yes that is found where at most the share `false_positives` of no is called yes.
fn found(curve: &Roc, false_positives: f64) -> f64 {
    let points = &curve.points;
    let beyond = points.partition_point(|it| it.false_positives <= false_positives);
    // The first point is that of no false positives.
    points[beyond - 1].true_positives
}

/// The largest vertical distance of two curves of the same rows.
pub fn gap(a: &Roc, b: &Roc) -> f64 {
    let shares = a.points.iter().chain(&b.points);
    let gaps = shares.map(|it| (found(a, it.false_positives) - found(b, it.false_positives)).abs());
    gaps.fold(0.0, f64::max)
}

/// The curves side by side; those that are missing have no numbers.
pub fn curves(curves: &[(&'static str, Option<&Roc>)]) -> FurtherTable {
    let names = curves.iter().map(|(name, _)| *name);
    let rows = (0..POINTS).map(|k| {
        let share = k as f64 / (POINTS - 1) as f64;
        let height = |curve: &Option<&Roc>| curve.map_or(f64::NAN, |it| found(it, share));
        let heights = curves.iter().map(|(_, curve)| height(curve));
        let cells: Vec<f64> = std::iter::once(share).chain(heights).collect();
        row(&[], &cells)
    });
    FurtherTable {
        name: "roc",
        columns: std::iter::once("false_positives").chain(names).collect(),
        rows: rows.collect(),
    }
}

/// The picture of the table of curves.
pub fn roc_plot(curves: &[(&'static str, Option<&Roc>)]) -> Plot {
    let names: Vec<&'static str> = curves.iter().map(|(name, _)| *name).collect();
    let plot = Plot::lines("false_positives", &names);
    plot.of("roc").named("share of yes found")
}

/// Mean predictions of the rows of the fit, ascending by row.
///
/// # Errors
/// No chain ended well.
pub fn of_fitted_rows(fitted: &Fitted, run: &Run) -> Result<Vec<RowPrediction>, BenchError> {
    let view = run.view();
    let lists: Vec<&DrawList> = view.usable().map(|chain| &chain.draws.draws).collect();
    let options = PredictOptions::default();
    let predicted = fitted.predict(
        &lists,
        &info(run, WEIGHT),
        None,
        options,
        &Control::default(),
    );
    Ok(predicted.map_err(BenchError::unknown)?.rows)
}

/// Rows that are neighbours along a predictor.
pub struct Group {
    /// Mean of the predictor.
    pub middle: f64,
    /// Rows.
    pub rows: usize,
    /// Share of yes.
    pub realised: f64,
    /// Mean predicted probabilities of all rows on the one hand, by draws of the exact sampler, and on the other.
    pub predicted: [f64; 2],
}

impl Group {
    /// By how much the predicted probabilities differ.
    pub fn difference(&self) -> f64 {
        (self.predicted[0] - self.predicted[1]).abs()
    }

    /// The same in standard errors that a realised share of that number of rows has where the exact sampler is right.
    pub fn relative_difference(&self) -> f64 {
        let p = self.predicted[0];
        self.difference() / (p * (1.0 - p) / self.rows as f64).sqrt()
    }
}

/// Two predictions of the same rows in `count` groups of equally many rows, in the order of the predictor, whose `values` are those of all
/// rows of the table.
pub fn groups(predicted: [&[RowPrediction]; 2], values: &[f64], count: usize) -> Vec<Group> {
    let length = predicted[0].len();
    let value = |i: usize| values[predicted[0][i].row as usize];
    let mut order: Vec<usize> = (0..length).collect();
    order.sort_by(|a, b| value(*a).total_cmp(&value(*b)));
    let count = count.min(length);
    let group = |k: usize| {
        let rows = &order[k * length / count..(k + 1) * length / count];
        let mean = |of: &dyn Fn(usize) -> f64| {
            rows.iter().map(|i| of(*i)).sum::<f64>() / rows.len() as f64
        };
        Group {
            middle: mean(&value),
            rows: rows.len(),
            realised: mean(&|i| predicted[0][i].observed),
            predicted: predicted.map(|it| mean(&|i| it[i].mean)),
        }
    };
    (0..count).map(group).collect()
}

/// The groups as a table, with these names of predictor and samplers.
pub fn realised(groups: &[Group], samplers: [&'static str; 2]) -> FurtherTable {
    let rows = groups.iter().map(|it| {
        let [exact, other] = it.predicted;
        row(&[], &[it.middle, it.rows as f64, it.realised, exact, other])
    });
    FurtherTable {
        name: "realised",
        columns: vec!["predictor", "rows", "realised", samplers[0], samplers[1]],
        rows: rows.collect(),
    }
}

/// The picture of that table.
pub fn realised_plot(samplers: [&'static str; 2]) -> Plot {
    let plot = Plot::lines("predictor", &["realised", samplers[0], samplers[1]]);
    plot.of("realised").named("share of yes")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ergodic_diagnostics::scores::roc;

    /// Of two yes and two no one curve finds a yes, a no, a yes and a no, the other a no first.
    #[test]
    fn curves_are_compared_at_every_share_of_false_positives() {
        let outcomes = [1.0, 0.0, 1.0, 0.0];
        let curve = |probabilities: [f64; 4]| roc(&probabilities, &outcomes, None).unwrap();
        let (right, wrong) = (curve([0.9, 0.7, 0.5, 0.3]), curve([0.7, 0.9, 0.5, 0.3]));
        assert_eq!(
            [0.0, 0.4, 0.5, 1.0].map(|at| found(&right, at)),
            [0.5, 0.5, 1.0, 1.0]
        );
        assert_eq!(found(&wrong, 0.49), 0.0);
        assert_eq!([gap(&right, &wrong), gap(&wrong, &right)], [0.5; 2]);
        assert_eq!(gap(&right, &right), 0.0);
    }

    #[test]
    fn rows_are_grouped_along_the_predictor() {
        // Every other row of the table was fitted; the predictor falls.
        let values = [7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0, 0.0];
        let predicted = |means: [f64; 4], outcomes: [f64; 4]| -> Vec<RowPrediction> {
            let rows = means.iter().zip(outcomes).zip([0, 2, 4, 6]);
            let rows = rows.map(|((mean, observed), row)| RowPrediction {
                row,
                mean: *mean,
                observed,
                ..RowPrediction::default()
            });
            rows.collect()
        };
        let outcomes = [1.0, 1.0, 1.0, 0.0];
        let exact = predicted([0.8, 0.6, 0.5, 0.3], outcomes);
        let other = predicted([0.8, 0.6, 0.4, 0.2], outcomes);
        let found = groups([&exact, &other], &values, 2);
        assert_eq!(found.len(), 2);
        let [low, high] = [&found[0], &found[1]];
        assert_eq!([low.middle, high.middle], [2.0, 6.0]);
        assert_eq!([low.rows, high.rows], [2, 2]);
        assert_eq!([low.realised, high.realised], [0.5, 1.0]);
        assert!((low.difference() - 0.1).abs() < 1e-12 && high.difference() == 0.0);
        // Shares of two rows with probability 0.4 have the standard error √(0.24/2).
        let relative = 0.1 / f64::sqrt(0.12);
        assert!((low.relative_difference() - relative).abs() < 1e-12);
    }
}
