//! Predicted against observed, small enough to draw however many rows there are.

use super::Predictions;
use ergodic_core::design::ResponseKind;
use ergodic_diagnostics::quantiles::NORMAL_90;

/// Most groups of rows that observed shares are taken over, and least rows in one.
const BINS: usize = 10;
const LEAST_ROWS: usize = 10;
/// Most points of a scatter.
const POINTS: usize = 2000;

/// Rows with similar predictions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShareBin {
    /// Share of successes predicted, all trials together.
    pub predicted: f64,
    /// Share observed.
    pub observed: f64,
    /// Where nine in ten observed shares are if the predictions are right.
    pub range: [f64; 2],
    /// Rows.
    pub rows: usize,
}

/// What to draw.
#[derive(Clone, Debug, PartialEq)]
pub enum Picture {
    /// Of successes, of one level, or of the most probable one: observed shares of rows in the order of their predictions.
    Shares(Vec<ShareBin>),
    /// Of numbers and counts: predicted mean and observed outcome, of rows evenly spaced in the table.
    Points(Vec<[f64; 2]>),
}

impl Picture {
    /// The picture of the rows with an observed outcome.
    pub fn of(predictions: &Predictions) -> Self {
        let rows: Vec<(f64, f64, f64)> = predictions
            .rows
            .iter()
            .filter(|row| row.observed.is_finite())
            .map(|row| (row.mean, row.observed, row.trials))
            .collect();
        if let ResponseKind::Unordered { .. } = predictions.response.kind {
            return Self::of_most_probable(predictions);
        }
        let is_share = matches!(
            predictions.response.kind,
            ResponseKind::Binary { .. } | ResponseKind::Successes
        );
        if !is_share {
            let stride = rows.len().div_ceil(POINTS).max(1);
            let kept = rows.iter().step_by(stride);
            return Self::Points(kept.map(|&(mean, y, _)| [mean, y]).collect());
        }
        Self::shares(rows)
    }

    /// The picture of how often the most probable level was observed.
    fn of_most_probable(predictions: &Predictions) -> Self {
        let rows = predictions.rows.iter().enumerate();
        let observed = rows.filter(|(_, row)| row.observed.is_finite());
        let rows = observed.map(|(place, row)| {
            let is_right = predictions.called(place) == Some(row.observed);
            (row.mean, f64::from(is_right), 1.0)
        });
        Self::shares(rows.collect())
    }

    /// The picture of the chances of the `place`-th level, from 0, of the rows with an observed outcome.
    pub fn of_level(predictions: &Predictions, place: usize) -> Self {
        let rows = predictions.rows.iter().zip(&predictions.chances);
        let observed = rows.filter(|(row, _)| row.observed.is_finite());
        let is_level = |y: f64| f64::from(y == (place + 1) as f64);
        let rows = observed.map(|(row, chances)| (chances[place], is_level(row.observed), 1.0));
        Self::shares(rows.collect())
    }

    /// Of rows with a predicted share, successes and trials.
    fn shares(mut rows: Vec<(f64, f64, f64)>) -> Self {
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        let bins = (rows.len() / LEAST_ROWS).clamp(1, BINS);
        let bin = |k: usize| {
            let rows = &rows[k * rows.len() / bins..(k + 1) * rows.len() / bins];
            let sum = |f: &dyn Fn(&(f64, f64, f64)) -> f64| rows.iter().map(f).sum::<f64>();
            let trials = sum(&|(_, _, n)| *n);
            let predicted = sum(&|(p, _, n)| n * p) / trials;
            let half = NORMAL_90 * sum(&|(p, _, n)| n * p * (1.0 - p)).sqrt() / trials;
            ShareBin {
                predicted,
                observed: sum(&|(_, y, _)| *y) / trials,
                range: [(predicted - half).max(0.0), (predicted + half).min(1.0)],
                rows: rows.len(),
            }
        };
        Self::Shares(if rows.is_empty() {
            Vec::new()
        } else {
            (0..bins).map(bin).collect()
        })
    }
}

/// Whether `inside` of `count` groups in a 90 % band are as many as chance gives: not fewer than the number that is
/// undershot with a probability of 5 % at most.
fn is_calibrated(inside: usize, count: usize) -> bool {
    let mut below = 0.0;
    let mut term = 0.1_f64.powi(count as i32);
    // P(X <= inside) of a binomial with success probability 0.9.
    for k in 0..=inside.min(count) {
        below += term;
        term *= 9.0 * (count - k) as f64 / (k + 1) as f64;
    }
    below > 0.05
}

impl Predictions {
    /// How predictions agree with what was observed, in one sentence; `None` where nothing was.
    pub fn agreement(&self, picture: &Picture) -> Option<String> {
        match picture {
            Picture::Shares(bins) if !bins.is_empty() => {
                let inside = bins
                    .iter()
                    .filter(|bin| (bin.range[0]..=bin.range[1]).contains(&bin.observed));
                let gap = bins
                    .iter()
                    .map(|bin| (bin.observed - bin.predicted).abs())
                    .fold(0.0, f64::max);
                let (inside, count) = (inside.count(), bins.len());
                // Nine in ten lie inside if the model is right: fewer than binomial chance allows are too few.
                let head = if is_calibrated(inside, count) {
                    "Well calibrated"
                } else {
                    "Not well calibrated"
                };
                Some(format!(
                    "{head}: {inside} of {count} groups lie inside the 90 % band; largest gap {:.1} points",
                    100.0 * gap
                ))
            }
            Picture::Points(_) => {
                let (inside, observed) = self.coverage();
                (observed > 0).then(|| {
                    format!(
                        "{inside} of {observed} observed outcomes lie inside their {:.0} % intervals ({:.1} %)",
                        100.0 * self.options.interval,
                        100.0 * inside as f64 / observed as f64
                    )
                })
            }
            Picture::Shares(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_calibrated;

    #[test]
    fn fewer_groups_inside_than_chance_allows_are_too_few() {
        // P(X <= 7) of a binomial(10, 0.9) is 0.070, P(X <= 6) is 0.013.
        assert!(is_calibrated(10, 10) && is_calibrated(7, 10) && !is_calibrated(6, 10));
        assert!(is_calibrated(0, 1) && !is_calibrated(0, 2));
    }
}
