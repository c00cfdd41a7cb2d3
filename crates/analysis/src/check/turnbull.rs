//! The distribution of outcomes of which some are censored from the left, from the right or both, without a model: the maximum of the
//! nonparametric likelihood (Turnbull 1976).
//!
//! Where outcomes are known to be above some values and below others, the likelihood says how probable certain pieces are and no more:
//! values that were seen, and gaps between a value that an outcome is above and the next one that an outcome is below, with nothing
//! seen between. With p_j the probability of piece j, β_k that of the first k pieces, s_j the rows seen there, b_k the rows that lie
//! in one of the first k pieces and a_k those that lie in another one,
//!
//! ```text
//! log L = Σ_j s_j log p_j + Σ_k b_k log β_k + Σ_k a_k log(1 − β_k)
//! ```
//!
//! is strictly concave in β, for there are rows of a or b at both ends of a gap, so it has one maximum.
//!
//! A step of self-consistency shares the rows of b among the pieces in which they may lie, in proportion to what these have so far,
//! and takes the product-limit estimator of these and the rows of a (Turnbull 1974), which is the step of an EM algorithm. Without
//! rows of b one step gives the estimator of Kaplan and Meier (1958). Pieces are taken in reverse order where b has more rows than a,
//! so that one step gives the reverse estimator without rows of a.
//!
//! Where few outcomes were seen these steps are slow, so that each is followed by one of Newton for β with the diagonal of the
//! curvature alone, made ascending by isotonic regression (Groeneboom and Wellner 1992; Wellner and Zhan 1997 for both together).

use super::calibration::isotonic;
use ergodic_base::Control;
use ergodic_core::design::censoring::Censoring;

/// How far the largest derivative of the mean of log L towards a piece may be above 1 where steps end. The mean lies below its maximum by
/// no more than this.
const TOLERANCE: f64 = 1e-10;
/// Most steps; 30,000 simulated rows of which 2 % were seen take some hundreds.
const MOST_STEPS: usize = 2000;
/// Most halvings of a step of Newton: one that is to be shorter than a thousandth gains nothing.
const HALVINGS: usize = 10;
/// The share of the gain that the slope promises, which a step of Newton must bring.
const GAIN: f64 = 0.1;

/// Probabilities of values and of gaps between values.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Distribution {
    /// Ascending.
    pieces: Vec<Piece>,
}

/// A part of the numbers, and what is probable of it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Piece {
    /// Twice the value that was seen, or the ends of a gap, which do not belong to it.
    ends: [f64; 2],
    /// How probable it is.
    share: f64,
    /// How probable what is above it is.
    above: f64,
}

impl Distribution {
    /// Of `outcomes` of which `statuses` say how far they were seen. Rows that are censored at a value that was seen lie above it, or
    /// below. Stops where it is if somebody cancels.
    pub(super) fn of(outcomes: &[f64], statuses: &[Censoring], control: &Control) -> Self {
        let (ends, rows) = Rows::of(outcomes, statuses);
        let shares = match rows.below.iter().sum::<f64>() > rows.above.iter().sum() {
            true => {
                let mut shares = rows.reversed().most_likely(control);
                shares.reverse();
                shares
            }
            false => rows.most_likely(control),
        };
        let mut sum = 0.0;
        let pieces = ends.into_iter().zip(shares).map(|(ends, share)| {
            sum += share;
            Piece {
                ends,
                share,
                above: (1.0 - sum).max(0.0),
            }
        });
        Self {
            pieces: pieces.collect(),
        }
    }

    /// How probable values of at least `at` are. Inside a gap they are taken to be evenly spread; where a gap has no end nothing is
    /// known, which is below the least of all rows or above the largest.
    pub(super) fn at_least(&self, at: f64) -> f64 {
        let is_below = |piece: &Piece| piece.ends[0] < at && piece.ends[1] <= at;
        let before = self.pieces.partition_point(is_below);
        let above = before.checked_sub(1).map_or(1.0, |k| self.pieces[k].above);
        match self.pieces.get(before) {
            Some(Piece {
                ends: [from, to],
                share,
                ..
            }) if *from < at => above - share * (at - from) / (to - from),
            _ => above,
        }
    }
}

/// Rows by what they say of pieces.
#[derive(Clone, Debug, PartialEq)]
struct Rows {
    /// Of each piece the rows that were seen there.
    seen: Vec<f64>,
    /// Rows that lie in one of the first k pieces, for k from 0 on.
    below: Vec<f64>,
    /// Rows that lie in none of the first k pieces.
    above: Vec<f64>,
}

impl Rows {
    /// The ends of the pieces, ascending, and the rows.
    fn of(outcomes: &[f64], statuses: &[Censoring]) -> (Vec<[f64; 2]>, Self) {
        // At one value, what is known to be below it comes first, and what is known to be above it last.
        let rank = |i: usize| match statuses[i] {
            Censoring::Left => 0,
            Censoring::Seen => 1,
            Censoring::Right => 2,
        };
        let mut order: Vec<usize> = (0..outcomes.len()).collect();
        order.sort_unstable_by(|&i, &j| {
            let values = outcomes[i].total_cmp(&outcomes[j]);
            values.then(rank(i).cmp(&rank(j)))
        });
        let mut ends: Vec<[f64; 2]> = Vec::new();
        let mut rows = Self {
            seen: Vec::new(),
            below: vec![0.0],
            above: vec![0.0],
        };
        // Where the next gap begins, if one may begin.
        let mut begin = Some(f64::NEG_INFINITY);
        for i in order {
            let y = outcomes[i];
            let at = match statuses[i] {
                Censoring::Left => {
                    if let Some(from) = begin.take() {
                        ends.push([from, y]);
                        rows.add_piece();
                    }
                    &mut rows.below[ends.len()]
                }
                Censoring::Seen => {
                    begin = None;
                    if ends.last() != Some(&[y, y]) {
                        ends.push([y, y]);
                        rows.add_piece();
                    }
                    &mut rows.seen[ends.len() - 1]
                }
                Censoring::Right => {
                    begin = Some(y);
                    &mut rows.above[ends.len()]
                }
            };
            *at += 1.0;
        }
        if let Some(from) = begin {
            ends.push([from, f64::INFINITY]);
            rows.add_piece();
        }
        (ends, rows)
    }

    fn add_piece(&mut self) {
        self.seen.push(0.0);
        self.below.push(0.0);
        self.above.push(0.0);
    }

    /// These pieces in reverse order.
    fn reversed(self) -> Self {
        let reverse = |mut of: Vec<f64>| {
            of.reverse();
            of
        };
        Self {
            seen: reverse(self.seen),
            below: reverse(self.above),
            above: reverse(self.below),
        }
    }

    /// Probabilities of the pieces at the maximum of the likelihood.
    fn most_likely(&self, control: &Control) -> Vec<f64> {
        let pieces = self.seen.len();
        let mut shares = self.self_consistent(&vec![1.0 / pieces as f64; pieces]);
        if self.below.iter().all(|rows| *rows == 0.0) {
            return shares;
        }
        for _ in 0..MOST_STEPS {
            if self.excess(&shares) <= TOLERANCE || control.is_cancelled() {
                break;
            }
            shares = self.self_consistent(&self.newton(shares));
        }
        shares
    }

    /// The product-limit estimator, with rows of `below` shared out by `shares`.
    fn self_consistent(&self, shares: &[f64]) -> Vec<f64> {
        let pieces = shares.len();
        let up_to = cumulative(shares);
        let (mut rate, mut at_risk) = (0.0, 0.0);
        let mut hazards = vec![0.0; pieces];
        for j in (0..pieces).rev() {
            rate += ratio(self.below[j + 1], up_to[j + 1]);
            let events = self.seen[j] + shares[j] * rate;
            at_risk += events + self.above[j + 1];
            hazards[j] = ratio(events, at_risk);
        }
        // What is left over is in the last piece, though nothing was seen there.
        hazards[pieces - 1] = 1.0;
        let mut left = 1.0;
        let shares = hazards.into_iter().map(|hazard| {
            let share = left * hazard;
            left *= 1.0 - hazard;
            share
        });
        shares.collect()
    }

    /// How far the largest derivative of the mean of log L towards a piece is above 1, which it is nowhere at the maximum.
    fn excess(&self, shares: &[f64]) -> f64 {
        let pieces = shares.len();
        let (up_to, beyond) = (cumulative(shares), beyond(shares));
        let mut of_below = 0.0;
        let mut slopes = vec![0.0; pieces];
        for j in (0..pieces).rev() {
            of_below += ratio(self.below[j + 1], up_to[j + 1]);
            slopes[j] = of_below + ratio(self.seen[j], shares[j]);
        }
        let mut of_above = 0.0;
        for (j, slope) in slopes.iter_mut().enumerate() {
            of_above += ratio(self.above[j], beyond[j]);
            *slope += of_above;
        }
        let all = [&self.seen, &self.below, &self.above].map(|rows| rows.iter().sum::<f64>());
        slopes.into_iter().fold(0.0, f64::max) / all.iter().sum::<f64>() - 1.0
    }

    /// Shares after a step of Newton for what is between the pieces, or `shares` if that gains nothing.
    fn newton(&self, shares: Vec<f64>) -> Vec<f64> {
        let inner = 1..shares.len();
        let (up_to, beyond) = (cumulative(&shares), beyond(&shares));
        let (mut slopes, mut weights) = (Vec::new(), Vec::new());
        for k in inner.clone() {
            let [before, after] = [k - 1, k].map(|j| ratio(self.seen[j], shares[j]));
            let [below, above] =
                [(self.below[k], up_to[k]), (self.above[k], beyond[k])].map(|(n, p)| ratio(n, p));
            slopes.push(before - after + below - above);
            let squares = [
                ratio(before, shares[k - 1]),
                ratio(after, shares[k]),
                ratio(below, up_to[k]),
                ratio(above, beyond[k]),
            ];
            weights.push(squares.iter().sum::<f64>());
        }
        let now = &up_to[inner];
        let aims: Vec<f64> = (now.iter().zip(&slopes).zip(&weights))
            .map(|((now, slope), weight)| now + slope / weight)
            .collect();
        let aims = isotonic(&aims, &weights);
        let moves: Vec<f64> = (aims.iter().zip(now))
            .map(|(aim, now)| aim.clamp(0.0, 1.0) - now)
            .collect();
        let slope: f64 = moves
            .iter()
            .zip(&slopes)
            .map(|(step, slope)| step * slope)
            .sum();
        let start = self.log_lik(&shares);
        let mut length = 1.0;
        for _ in 0..=HALVINGS {
            let mut before = 0.0;
            let inner = now
                .iter()
                .zip(&moves)
                .map(|(now, step)| now + length * step);
            let moved: Vec<f64> = inner
                .chain([1.0])
                .map(|up_to| {
                    let share = (up_to - before).max(0.0);
                    before = up_to;
                    share
                })
                .collect();
            // What is impossible has a log likelihood of −∞.
            if self.log_lik(&moved) > start + GAIN * length * slope {
                return moved;
            }
            length *= 0.5;
        }
        shares
    }

    /// log L.
    fn log_lik(&self, shares: &[f64]) -> f64 {
        let sum = |rows: &[f64], probabilities: &[f64]| -> f64 {
            let both = rows.iter().zip(probabilities);
            both.filter(|(rows, _)| **rows > 0.0)
                .map(|(rows, p)| rows * p.ln())
                .sum()
        };
        sum(&self.seen, shares)
            + sum(&self.below, &cumulative(shares))
            + sum(&self.above, &beyond(shares))
    }
}

/// Rows over a probability; 0 where there are none, whatever the probability.
fn ratio(rows: f64, probability: f64) -> f64 {
    if rows > 0.0 { rows / probability } else { 0.0 }
}

/// Sums of the first k, for k from 0 on.
fn cumulative(shares: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    let sums = shares.iter().map(|share| {
        sum += share;
        sum
    });
    std::iter::once(0.0).chain(sums).collect()
}

/// Sums of all but the first k.
fn beyond(shares: &[f64]) -> Vec<f64> {
    let reversed: Vec<f64> = shares.iter().rev().copied().collect();
    let mut sums = cumulative(&reversed);
    sums.reverse();
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use Censoring::{Left, Right, Seen};
    use ergodic_base::{ChainRng, Purpose, stream};
    use rand::RngExt as _;

    fn of(outcomes: &[f64], statuses: &[Censoring]) -> Distribution {
        Distribution::of(outcomes, statuses, &Control::default())
    }

    fn close(here: f64, there: f64, tolerance: f64) {
        assert!((here - there).abs() <= tolerance, "{here} {there}");
    }

    /// Values that were seen, each once, ascending, with the share of outcomes that are larger (Kaplan and Meier 1958).
    fn product_limit(outcomes: &[f64], seen: &[bool]) -> Vec<[f64; 2]> {
        let mut values = outcomes.to_vec();
        values.sort_unstable_by(f64::total_cmp);
        values.dedup();
        let count = |holds: &dyn Fn(usize) -> bool| {
            (0..outcomes.len()).filter(|&i| holds(i)).count() as f64
        };
        let mut share = 1.0;
        let steps = values.into_iter().map(|value| {
            let events = count(&|i| outcomes[i] == value && seen[i]);
            share *= 1.0 - events / count(&|i| outcomes[i] >= value);
            [value, share]
        });
        steps.collect()
    }

    /// Whole numbers with many ties, `of_seen` of them seen.
    fn rows(rng: &mut ChainRng, others: &[Censoring], of_seen: f64) -> (Vec<f64>, Vec<Censoring>) {
        let row = |_| {
            let status = match rng.random::<f64>() < of_seen {
                true => Seen,
                false => others[rng.random_range(0..others.len())],
            };
            (f64::from(rng.random_range(1..40_u32)), status)
        };
        (0..90).map(row).unzip()
    }

    #[test]
    fn without_left_censored_rows_it_is_the_estimator_of_kaplan_and_meier() {
        let mut rng = stream(51, 0, Purpose::Data);
        for of_seen in [0.0, 0.2, 0.6, 1.0] {
            let (outcomes, statuses) = rows(&mut rng, &[Right], of_seen);
            let seen: Vec<bool> = statuses.iter().map(|it| *it == Seen).collect();
            let found = of(&outcomes, &statuses);
            for [value, above] in product_limit(&outcomes, &seen) {
                close(found.at_least(next(value)), above, 1e-12);
            }
            close(found.at_least(1.0), 1.0, 0.0);
        }
    }

    /// The next larger number, so that the share of at least it is that above.
    fn next(value: f64) -> f64 {
        value.next_up()
    }

    #[test]
    fn without_right_censored_rows_it_is_that_estimator_in_reverse() {
        let mut rng = stream(52, 0, Purpose::Data);
        for of_seen in [0.0, 0.2, 0.6] {
            let (outcomes, statuses) = rows(&mut rng, &[Left], of_seen);
            let seen: Vec<bool> = statuses.iter().map(|it| *it == Seen).collect();
            let reversed: Vec<f64> = outcomes.iter().map(|y| -y).collect();
            let found = of(&outcomes, &statuses);
            for [value, below] in product_limit(&reversed, &seen) {
                close(1.0 - found.at_least(-value), below, 1e-12);
            }
            close(found.at_least(next(40.0)), 0.0, 1e-12);
        }
    }

    /// Weeks of remission of Freireich et al. (1963), as in the table of Kalbfleisch and Prentice (2002).
    #[test]
    fn remissions_last_as_the_textbook_says() {
        let seen = [6.0, 6.0, 6.0, 7.0, 10.0, 13.0, 16.0, 22.0, 23.0];
        let censored = [
            6.0, 9.0, 10.0, 11.0, 17.0, 19.0, 20.0, 25.0, 32.0, 32.0, 34.0, 35.0,
        ];
        let weeks: Vec<f64> = seen.into_iter().chain(censored).collect();
        let statuses: Vec<Censoring> = (0..weeks.len())
            .map(|i| if i < seen.len() { Seen } else { Right })
            .collect();
        let found = of(&weeks, &statuses);
        let shares = [0.857, 0.807, 0.753, 0.690, 0.627, 0.538, 0.448];
        for (time, share) in [6.0, 7.0, 10.0, 13.0, 16.0, 22.0, 23.0]
            .into_iter()
            .zip(shares)
        {
            close(found.at_least(next(time)), share, 5e-4);
        }
        close(found.at_least(35.0), shares[6], 5e-4);
    }

    /// Ages of the first use of marijuana (Turnbull and Weiss 1978) with the shares of Klein and Moeschberger (2003), section 5.2: some
    /// boys had used it earlier than at their age, and others not yet. Those who had begun may have done so at that age.
    #[test]
    fn first_uses_are_as_late_as_the_textbook_says() {
        let counts = [
            (10.0, 4, 0, 0, 0.977),
            (11.0, 12, 0, 0, 0.906),
            (12.0, 19, 0, 2, 0.794),
            (13.0, 24, 1, 15, 0.651),
            (14.0, 20, 2, 24, 0.516),
            (15.0, 13, 3, 18, 0.392),
            (16.0, 3, 2, 14, 0.345),
            (17.0, 1, 3, 6, 0.308),
            (18.0, 0, 1, 0, 0.308),
            (19.0, 4, 0, 0, 0.0),
        ];
        let (mut ages, mut statuses) = (Vec::new(), Vec::new());
        for (age, seen, left, right, _) in counts {
            for (count, at, status) in [
                (seen, age, Seen),
                (left, age + 0.5, Left),
                (right, age, Right),
            ] {
                ages.extend(vec![at; count]);
                statuses.extend(vec![status; count]);
            }
        }
        assert_eq!(ages.len(), 191);
        let found = of(&ages, &statuses);
        for (age, .., above) in counts {
            close(found.at_least(age + 0.5), above, 5e-4);
        }
    }

    /// A distribution is the maximum if no derivative of the mean log likelihood towards one value is above 1.
    #[test]
    fn no_other_distribution_is_more_likely() {
        let mut rng = stream(53, 0, Purpose::Data);
        for of_seen in [0.0, 0.01, 0.1, 0.3, 0.9] {
            for _ in 0..8 {
                let (outcomes, statuses) = rows(&mut rng, &[Left, Right], of_seen);
                let found = of(&outcomes, &statuses);
                let holds = |i: usize, [from, to]: [f64; 2]| match statuses[i] {
                    Seen => from == outcomes[i] && to == outcomes[i],
                    Left => to <= outcomes[i] && from < outcomes[i],
                    Right => from >= outcomes[i] && to > outcomes[i],
                };
                let all: f64 = found.pieces.iter().map(|it| it.share).sum();
                close(all, 1.0, 1e-12);
                let probable: Vec<f64> = (0..outcomes.len())
                    .map(|i| {
                        let pieces = found.pieces.iter().filter(|it| holds(i, it.ends));
                        pieces.map(|it| it.share).sum()
                    })
                    .collect();
                for half in 0..84_u32 {
                    let at = 0.5 * f64::from(half);
                    let rows = (0..outcomes.len()).filter(|&i| holds(i, [at, at]));
                    let slope = rows.map(|i| 1.0 / probable[i]).sum::<f64>();
                    let mean = slope / outcomes.len() as f64;
                    assert!(mean < 1.0 + 2.0 * TOLERANCE, "{of_seen} {at} {mean}");
                }
            }
        }
    }

    /// Numbers of R, by `tests/reference/turnbull.R`.
    #[test]
    fn shares_are_those_of_r() {
        let table = |file: &str| -> Vec<Vec<String>> {
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/reference/");
            let text = std::fs::read_to_string(format!("{folder}{file}")).unwrap();
            let lines = text.lines().skip(1);
            lines
                .map(|line| line.split(',').map(str::to_owned).collect())
                .collect()
        };
        let (data, shares) = (table("turnbull_data.csv"), table("turnbull_r.csv"));
        for set in ["right", "left", "both", "status"] {
            let (outcomes, statuses): (Vec<f64>, Vec<Censoring>) = (data.iter())
                .filter(|row| row[0] == set)
                .map(|row| {
                    let status = match row[2].as_str() {
                        "left" => Left,
                        "right" => Right,
                        _ => Seen,
                    };
                    (row[1].parse::<f64>().unwrap(), status)
                })
                .unzip();
            assert_eq!(outcomes.len(), 160);
            let found = of(&outcomes, &statuses);
            let expected = shares.iter().filter(|row| row[0] == set);
            for row in expected.clone() {
                let [at, share] = [1, 2].map(|k: usize| row[k].parse::<f64>().unwrap());
                close(found.at_least(at), share, 1e-8);
            }
            assert!(expected.count() > 20);
        }
    }

    /// Rows above 2 and rows below 5, of which a gap explains a third, as 1 and 9 do.
    #[test]
    fn what_lies_in_a_gap_is_spread_evenly() {
        let found = of(
            &[2.0, 2.0, 5.0, 5.0, 9.0, 1.0],
            &[Right, Right, Left, Left, Seen, Seen],
        );
        let ends: Vec<[f64; 2]> = found.pieces.iter().map(|it| it.ends).collect();
        assert_eq!(ends, [[1.0, 1.0], [2.0, 5.0], [9.0, 9.0]]);
        for (at, share) in [
            (1.0, 1.0),
            (2.0, 2.0 / 3.0),
            (3.5, 0.5),
            (5.0, 1.0 / 3.0),
            (9.0, 1.0 / 3.0),
        ] {
            close(found.at_least(at), share, 1e-9);
        }
    }

    /// Two values that rows are censored at, without any that were seen, leave nothing to one of the two ends.
    #[test]
    fn rows_that_were_all_censored_have_a_distribution() {
        for (outcomes, statuses, at, share) in [
            (vec![3.0; 4], vec![Right; 4], 3.0, 1.0),
            (vec![3.0; 4], vec![Left; 4], 3.0, 0.0),
            (vec![3.0; 4], vec![Left, Right, Right, Right], 3.0, 0.75),
            (vec![1.0, 2.0], vec![Right, Left], 1.5, 0.5),
        ] {
            close(of(&outcomes, &statuses).at_least(at), share, 1e-9);
        }
    }
}
