//! Pareto k of rows as pictures show them.

use super::CrossValidation;

/// Points of a picture, at most, besides those of rows whose Pareto k is not good.
const POINTS: usize = 4000;

impl CrossValidation {
    /// Row of the table, from 1, and its Pareto k: of all rows, or of many those that are not good and some of the others, evenly
    /// spaced.
    pub fn points(&self) -> Vec<[f64; 2]> {
        let limit = self.loo.threshold();
        let step = self.loo.rows.len().div_ceil(POINTS).max(1);
        let rows = self.observed.rows.iter().zip(&self.loo.rows).enumerate();
        let shown = rows
            .filter(|(i, (_, score))| score.k.is_finite() && (i % step == 0 || score.k > limit));
        shown
            .map(|(_, (row, score))| [f64::from(*row) + 1.0, score.k])
            .collect()
    }
}
