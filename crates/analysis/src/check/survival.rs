//! The share of outcomes that are larger than a value, where some are right-censored: by the product-limit estimator (Kaplan and
//! Meier 1958, JASA 53) of what was observed, over shares in replicated data, which are not censored.
//!
//! The estimator says what uncensored outcomes would be if censoring told nothing of them; where it depends on predictors of the
//! outcome, the two differ though the model is right.

use super::Band;
use super::cells::Counts;
use ergodic_base::numerals::fixed;

/// The share of larger outcomes at one place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurvivalPoint {
    /// Where.
    pub at: f64,
    /// Of the observed data.
    pub observed: f64,
    /// Of replicated data.
    pub replicated: Band,
}

/// Observed shares of larger outcomes over replicated ones, as far as outcomes were watched; bands hold at each place by itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Survival {
    /// Ascending.
    pub points: Vec<SurvivalPoint>,
    /// Rows that are censored.
    pub censored: usize,
}

impl Survival {
    pub(super) fn of(observed: &[f64], seen: &[bool], counts: &Counts) -> Self {
        let steps = product_limit(observed, seen);
        let rows = observed.len() as f64;
        let last = observed.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let cells = counts.cells;
        let least = observed.iter().copied().fold(f64::INFINITY, f64::min);
        // Times begin at 0, and so does their curve.
        let begin = if least >= 0.0 { 0.0 } else { f64::NEG_INFINITY };
        let is_shown = |edge: &usize| cells.edge(*edge) <= last && cells.edge(*edge + 1) > begin;
        let edges = (0..=cells.count).filter(is_shown);
        let points = edges.map(|edge| {
            let at = cells.edge(edge).max(begin);
            let before = steps.partition_point(|[time, _]| *time < at);
            SurvivalPoint {
                at,
                observed: before.checked_sub(1).map_or(1.0, |k| steps[k][1]),
                replicated: counts
                    .band(|set| {
                        let below: f64 = set[..=edge].iter().map(|&n| f64::from(n)).sum();
                        1.0 - below / rows
                    })
                    .1,
            }
        });
        Self {
            points: points.collect(),
            censored: seen.iter().filter(|seen| !**seen).count(),
        }
    }

    /// How much of the observed curve lies outside the band, in one sentence.
    pub(super) fn summary(&self, column: &str) -> String {
        let outside = |point: &&SurvivalPoint| !point.replicated.holds(point.observed);
        let outside = self.points.iter().filter(outside).count();
        format!(
            "Outside the pointwise 90 % band: {} % of the Kaplan-Meier curve of {column}",
            fixed(100.0 * outside as f64 / self.points.len() as f64, 0)
        )
    }
}

/// Outcomes that were seen, each once, ascending, with the share of outcomes that are larger.
fn product_limit(outcomes: &[f64], seen: &[bool]) -> Vec<[f64; 2]> {
    let mut order: Vec<usize> = (0..outcomes.len()).collect();
    order.sort_unstable_by(|&a, &b| outcomes[a].total_cmp(&outcomes[b]));
    let mut share = 1.0;
    let mut left = outcomes.len();
    let mut steps = Vec::new();
    for alike in order.chunk_by(|&a, &b| outcomes[a] == outcomes[b]) {
        // Rows that are censored at a value are still watched there.
        let events = alike.iter().filter(|&&i| seen[i]).count();
        if events > 0 {
            share *= 1.0 - events as f64 / left as f64;
            steps.push([outcomes[alike[0]], share]);
        }
        left -= alike.len();
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::super::cells::Cells;
    use super::*;

    /// Times that are positive have a curve from 0 on, where everything is above; other numbers one from below the least.
    #[test]
    fn curves_of_times_begin_at_zero() {
        let curve = |outcomes: &[f64]| {
            let mut counts = Counts::new(Cells::of_numbers(outcomes), 1, 1);
            outcomes.iter().for_each(|y| counts.add(&[*y]));
            Survival::of(outcomes, &[true; 4], &counts).points
        };
        let first = curve(&[1.0, 2.0, 5.0, 9.0])[0];
        assert_eq!((first.at, first.observed), (0.0, 1.0));
        assert_eq!(first.replicated.median, 1.0);
        assert!(curve(&[-1.0, 2.0, 5.0, 9.0])[0].at < -1.0);
        // Far from 0 the curve begins beside the least.
        assert!(curve(&[101.0, 102.0, 105.0, 109.0])[0].at > 99.0);
    }

    /// Weeks of remission of Freireich et al. (1963), as in the table of Kalbfleisch and Prentice (2002).
    #[test]
    fn remissions_last_as_the_textbook_says() {
        let seen = [6.0, 6.0, 6.0, 7.0, 10.0, 13.0, 16.0, 22.0, 23.0];
        let censored = [
            6.0, 9.0, 10.0, 11.0, 17.0, 19.0, 20.0, 25.0, 32.0, 32.0, 34.0, 35.0,
        ];
        let weeks: Vec<f64> = seen.into_iter().chain(censored).collect();
        let was_seen: Vec<bool> = (0..weeks.len()).map(|i| i < seen.len()).collect();
        let steps = product_limit(&weeks, &was_seen);
        let shares = [0.857, 0.807, 0.753, 0.690, 0.627, 0.538, 0.448];
        let times = [6.0, 7.0, 10.0, 13.0, 16.0, 22.0, 23.0];
        assert_eq!(steps.len(), times.len());
        for ([time, share], (there, expected)) in steps.iter().zip(times.iter().zip(shares)) {
            assert_eq!(time, there);
            assert!((share - expected).abs() < 5e-4, "{time} {share}");
        }
    }
}
