//! The share of outcomes that are larger than a value, where some are censored: by the product-limit estimator (Kaplan and Meier 1958),
//! the same in reverse, or where some are right-censored and others left-censored by Turnbull's (1976) estimator, of what was observed,
//! over shares in replicated data, which are not censored.
//!
//! These estimators say what uncensored outcomes would be if censoring told nothing of them; where it depends on predictors of the
//! outcome, the two differ though the model is right.

use super::Band;
use super::cells::Counts;
use super::turnbull::Distribution;
use ergodic_base::Control;
use ergodic_base::numerals::fixed;
use ergodic_core::design::censoring::{self, Censoring};

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
    /// Ascending: from below the least row, or where rows are left-censored from the least on; to above the largest row, or where
    /// rows are right-censored to the largest.
    pub points: Vec<SurvivalPoint>,
    /// Rows that are right-censored.
    pub right: usize,
    /// Rows that are left-censored.
    pub left: usize,
}

impl Survival {
    /// Of `observed`, of which `statuses` say how far they were seen, and replicated data sets.
    pub(super) fn of(
        observed: &[f64],
        statuses: &[Censoring],
        counts: &Counts,
        control: &Control,
    ) -> Self {
        let distribution = Distribution::of(observed, statuses, control);
        let [right, left] = [Censoring::Right, Censoring::Left]
            .map(|which| statuses.iter().filter(|it| **it == which).count());
        let rows = observed.len() as f64;
        let cells = counts.cells;
        let least = observed.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = observed.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // Times begin at 0, and so does their curve.
        let begin = if least >= 0.0 { 0.0 } else { f64::NEG_INFINITY };
        let is_shown = |edge: &usize| {
            let at = cells.edge(*edge);
            let is_watched = (left == 0 || at >= least) && (right == 0 || at <= largest);
            is_watched && cells.edge(*edge + 1) > begin
        };
        let edges = (0..=cells.count).filter(is_shown);
        let points = edges.map(|edge| {
            let at = cells.edge(edge).max(begin);
            SurvivalPoint {
                at,
                observed: distribution.at_least(at),
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
            right,
            left,
        }
    }

    /// The name of the curve, as it stands within a sentence.
    pub fn curve(&self) -> &'static str {
        match (self.right > 0, self.left > 0) {
            (true, true) => "Turnbull curve",
            (false, true) => "reverse Kaplan-Meier curve",
            (_, false) => "Kaplan-Meier curve",
        }
    }

    /// What is compared, in one sentence; `rows` are all.
    pub(super) fn in_words(&self, rows: usize) -> String {
        let censored = censoring::in_words([self.right, self.left], rows);
        format!(
            "{censored}, so their {} is compared with replicated outcomes, which are not",
            self.curve()
        )
    }

    /// How much of the observed curve lies outside the band, in one sentence.
    pub(super) fn summary(&self, column: &str) -> String {
        let outside = |point: &&SurvivalPoint| !point.replicated.holds(point.observed);
        let outside = self.points.iter().filter(outside).count();
        format!(
            "Outside the pointwise 90 % band: {} % of the {} of {column}",
            fixed(100.0 * outside as f64 / self.points.len() as f64, 0),
            self.curve()
        )
    }
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
            Survival::of(
                outcomes,
                &[Censoring::Seen; 4],
                &counts,
                &Control::default(),
            )
            .points
        };
        let first = curve(&[1.0, 2.0, 5.0, 9.0])[0];
        assert_eq!((first.at, first.observed), (0.0, 1.0));
        assert_eq!(first.replicated.median, 1.0);
        assert!(curve(&[-1.0, 2.0, 5.0, 9.0])[0].at < -1.0);
        // Far from 0 the curve begins beside the least.
        assert!(curve(&[101.0, 102.0, 105.0, 109.0])[0].at > 99.0);
    }

    /// What was not watched is not shown, and the name says which way outcomes are censored.
    #[test]
    fn curves_go_as_far_as_outcomes_were_watched() {
        use Censoring::{Left, Right, Seen};
        let outcomes = [11.0, 12.0, 15.0, 19.0];
        let mut counts = Counts::new(Cells::of_numbers(&outcomes), 1, 1);
        outcomes.iter().for_each(|y| counts.add(&[*y]));
        for (statuses, name, [from_least, to_largest]) in [
            ([Seen; 4], "Kaplan-Meier curve", [false, false]),
            (
                [Right, Seen, Seen, Seen],
                "Kaplan-Meier curve",
                [false, true],
            ),
            (
                [Seen, Seen, Seen, Left],
                "reverse Kaplan-Meier curve",
                [true, false],
            ),
            ([Seen, Left, Right, Seen], "Turnbull curve", [true, true]),
        ] {
            let survival = Survival::of(&outcomes, &statuses, &counts, &Control::default());
            assert_eq!(survival.curve(), name);
            let [first, .., last] = survival.points.as_slice() else {
                panic!("{survival:?}");
            };
            assert_eq!(
                [first.at >= 11.0, last.at <= 19.0],
                [from_least, to_largest]
            );
            assert!(survival.in_words(4).contains(name));
            // Between 11 and 19 Turnbull's curve is level.
            assert!(first.observed >= last.observed);
        }
    }
}
