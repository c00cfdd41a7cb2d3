//! Runs that score the same rows, by how far each falls behind the best.

use super::PredictionScores;
use crate::loo::{difference_in_words, few_rows};
use ergodic_diagnostics::loo::Total;

/// A run that predicts no better than the best.
#[derive(Clone, Debug, PartialEq)]
pub struct Behind {
    /// Position among those compared.
    pub index: usize,
    /// Log predictive density of all rows together less that of the best, with the standard error of differences row by row.
    pub difference: Total,
    /// The difference in words.
    pub sentence: String,
}

/// Runs of the same rows.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoresCompared {
    /// Position of the run with the highest log predictive density.
    pub best: usize,
    /// The other runs, the best of them first.
    pub behind: Vec<Behind>,
    /// What to know about the differences.
    pub remarks: Vec<String>,
}

/// Compares runs, each with what sentences call it; `None` where they are fewer than two or do not score the same rows.
pub fn compare(runs: &[(String, &PredictionScores)]) -> Option<ScoresCompared> {
    let ((_, first), rest) = runs.split_first()?;
    if rest.is_empty() || !rest.iter().all(|(_, run)| run.has_the_rows_of(first)) {
        return None;
    }
    let elpd = |k: &usize| runs[*k].1.elpd().estimate;
    let mut order: Vec<usize> = (0..runs.len()).collect();
    order.sort_by(|a, b| elpd(b).total_cmp(&elpd(a)));
    let (&best, others) = order.split_first()?;
    let behind = others.iter().map(|&index| {
        let difference = runs[index].1.total_difference(runs[best].1);
        let names = [runs[best].0.as_str(), runs[index].0.as_str()];
        Behind {
            index,
            difference,
            sentence: difference_in_words(names, difference.times(-1.0)),
        }
    });
    Some(ScoresCompared {
        best,
        behind: behind.collect(),
        remarks: few_rows(first.rows.len()).into_iter().collect(),
    })
}
