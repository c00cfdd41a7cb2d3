//! How R-hat, effective sample size and Monte Carlo error developed over the draws, for the convergence panel.
//!
//! Points stand at fixed lengths, 100 draws per chain and then 5 % apart, so that a curve does not depend on when
//! it was asked for, and its cost stays a fixed multiple of the last point. Within the budget of an update the
//! longest length comes first (the panel must show the present) and missed shorter ones follow.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::pooled::{Pooled, Tables};
use super::summary::{SummaryRow, append_column, shortest};
use ergodic_base::ParamId;
use ergodic_base::draws::DrawList;

/// Draws per chain before which the measures are too noisy to show.
pub(crate) const FIRST_POINT: usize = 100;

/// Draws per chain before which the measures of many short chains are too noisy to show.
const FIRST_OF_MANY: usize = 10;

/// Growth from one point to the next.
const GROWTH: f64 = 1.05;

/// The state of one parameter after some draws.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Draws per chain.
    pub draws: usize,
    /// Rank-normalised split R-hat.
    pub rhat: Option<f64>,
    /// Effective sample size in the bulk.
    pub ess_bulk: Option<f64>,
    /// Effective sample size in the tails.
    pub ess_tail: Option<f64>,
    /// Monte Carlo standard error of the mean.
    pub mcse_mean: Option<f64>,
    /// Nested R-hat, where chains begin in groups.
    pub rhat_nested: Option<f64>,
}

/// The history of all parameters of one run.
#[derive(Clone, Debug)]
pub struct Running {
    curves: Vec<Vec<Point>>,
    /// Lengths that were reached and not finished, shortest first.
    pending: Vec<usize>,
    /// The next length that no chain has reached.
    next: usize,
    /// The length being worked on and the first parameter not done at it.
    current: Option<(usize, usize)>,
    superchains: Option<usize>,
}

impl Running {
    /// An empty history of `num_params` parameters.
    pub fn new(num_params: usize) -> Self {
        Self {
            curves: vec![Vec::new(); num_params],
            pending: Vec::new(),
            next: FIRST_POINT,
            current: None,
            superchains: None,
        }
    }

    /// The history for chains that begin in `superchains` groups: with nested R-hat, and from fewer draws on, as chains are many.
    #[must_use]
    pub fn with_superchains(self, superchains: Option<usize>) -> Self {
        Self {
            next: match superchains {
                Some(_) => FIRST_OF_MANY,
                None => self.next,
            },
            superchains,
            ..self
        }
    }

    /// The points of one parameter, in order of draws.
    pub fn points(&self, param: usize) -> &[Point] {
        &self.curves[param]
    }

    /// Whether every length reached by the chains seen so far has its points.
    pub fn is_up_to_date(&self) -> bool {
        self.pending.is_empty() && self.current.is_none()
    }

    /// Share of the work for the lengths reached so far that is done.
    pub fn share_done(&self) -> f64 {
        let params = self.curves.len();
        let done: usize = (self.curves.iter().flatten())
            .map(|point| point.draws)
            .sum();
        let waiting: usize = self.pending.iter().map(|length| length * params).sum();
        let current = (self.current).map_or(0, |(length, first)| length * (params - first));
        let left = waiting + current;
        if left == 0 {
            return 1.0;
        }
        done as f64 / (done + left) as f64
    }

    /// Adds points for the lengths that `chains` reached since the last call, until `budget` is spent; what is
    /// left is continued by the next call. At least one parameter is done per call. Gives whether points were added.
    ///
    /// The lists must be those of earlier calls with draws appended, with one column per parameter; `weights` are those
    /// of the draws, one vector per chain, or empty.
    pub fn update(&mut self, chains: &[&DrawList], weights: &[Vec<f64>], budget: Duration) -> bool {
        let start = Instant::now();
        let draws = shortest(chains);
        while self.next <= draws {
            self.pending.push(self.next);
            self.next = (self.next as f64 * GROWTH).ceil() as usize;
        }
        let mut added = false;
        while let Some((length, first)) = self
            .current
            .or_else(|| self.pending.pop().map(|length| (length, 0)))
        {
            let tables = Tables::new(chains.len(), length, weights);
            // Enough at a time to keep all threads busy, few enough to keep to the budget.
            let batch = 2 * rayon::current_num_threads();
            let mut done = first;
            while done < self.curves.len() && !(added && start.elapsed() >= budget) {
                let until = (done + batch).min(self.curves.len());
                let superchains = self.superchains;
                let curves = &mut self.curves[done..until];
                curves.par_iter_mut().enumerate().for_each_init(
                    || Pooled::new(Arc::clone(&tables)),
                    |pooled, (i, curve)| {
                        pooled.load(|values| append_column(values, chains, done + i, length));
                        insert(curve, point(pooled, length, superchains));
                    },
                );
                added = true;
                done = until;
            }
            if done < self.curves.len() {
                self.current = Some((length, done));
                return added;
            }
            self.current = None;
            if start.elapsed() >= budget {
                break;
            }
        }
        added
    }
}

fn point(pooled: &mut Pooled, draws: usize, superchains: Option<usize>) -> Point {
    let row = SummaryRow::of(ParamId::named(""), pooled, 0.0);
    Point {
        draws,
        rhat: row.rhat,
        ess_bulk: row.ess_bulk,
        ess_tail: row.ess_tail,
        mcse_mean: row.mcse_mean,
        rhat_nested: superchains.and_then(|groups| pooled.rhat_nested(groups).ok()),
    }
}

fn insert(curve: &mut Vec<Point>, point: Point) {
    let place = curve.partition_point(|other| other.draws < point.draws);
    curve.insert(place, point);
}

#[cfg(test)]
mod tests {
    use super::*;
    use ergodic_base::{Purpose, stream};
    use rand::RngExt as _;
    use rand_distr::StandardNormal;

    const LONG: Duration = Duration::from_secs(600);

    fn grow(lists: &mut [DrawList], draws: usize) {
        for (chain, list) in lists.iter_mut().enumerate() {
            let mut rng = stream(list.len() as u64, chain, Purpose::Diagnostics);
            for _ in 0..draws {
                let row: Vec<f64> = (0..list.width())
                    .map(|_| rng.sample(StandardNormal))
                    .collect();
                list.push(&row);
            }
        }
    }

    fn update(running: &mut Running, lists: &[DrawList], budget: Duration) -> bool {
        running.update(&lists.iter().collect::<Vec<_>>(), &[], budget)
    }

    #[test]
    fn curves_start_at_a_hundred_draws_and_hold_the_numbers_of_the_summary() {
        let mut lists = vec![DrawList::new(2); 4];
        let mut running = Running::new(2);
        grow(&mut lists, 99);
        assert!(!update(&mut running, &lists, LONG));
        grow(&mut lists, 1);
        assert!(update(&mut running, &lists, LONG));
        assert_eq!(running.points(0).len(), 1);
        let names = ["a".into(), "b".into()];
        let rows = super::super::summarise(&names, &lists.iter().collect::<Vec<_>>(), &[], 1.0);
        for (j, row) in rows.iter().enumerate() {
            let point = running.points(j)[0];
            assert_eq!(point.draws, 100);
            assert_eq!(
                (point.rhat, point.ess_bulk, point.ess_tail, point.mcse_mean),
                (row.rhat, row.ess_bulk, row.ess_tail, row.mcse_mean)
            );
            assert!(point.rhat.is_some());
        }
    }

    #[test]
    fn curves_do_not_depend_on_when_they_were_asked_for() {
        let mut lists = vec![DrawList::new(3); 2];
        let (mut often, mut budgeted, mut once) =
            (Running::new(3), Running::new(3), Running::new(3));
        for draws in [50, 70, 13, 200, 150] {
            grow(&mut lists, draws);
            update(&mut often, &lists, LONG);
            update(&mut budgeted, &lists, Duration::ZERO);
        }
        update(&mut once, &lists, LONG);
        let mut calls = 0;
        let mut share = budgeted.share_done();
        while !budgeted.is_up_to_date() {
            assert!(share < 1.0);
            assert!(update(&mut budgeted, &lists, Duration::ZERO));
            assert!(budgeted.share_done() > share);
            share = budgeted.share_done();
            calls += 1;
            assert!(calls < 1000);
        }
        for j in 0..3 {
            assert!(once.points(j).len() > 25);
            assert!(once.points(j).is_sorted_by_key(|point| point.draws));
            assert_eq!(once.points(j), often.points(j));
            assert_eq!(once.points(j), budgeted.points(j));
        }
        assert!(once.is_up_to_date());
        assert_eq!((share, once.share_done()), (1.0, 1.0));
    }

    #[test]
    fn without_time_the_longest_length_comes_first() {
        let mut lists = vec![DrawList::new(1); 4];
        grow(&mut lists, 1000);
        let mut running = Running::new(1);
        update(&mut running, &lists, Duration::ZERO);
        assert_eq!(running.points(0).len(), 1);
        assert!(running.points(0)[0].draws > 950);
        assert!(!running.is_up_to_date());
    }
    /// Nested R-hat begins after few draws and ends where that of all draws is.
    #[test]
    fn many_short_chains_have_a_history_of_nested_rhat() {
        let lists: Vec<DrawList> = (0..16)
            .map(|chain| {
                let mut rng = stream(3, chain, Purpose::Diagnostics);
                let mut list = DrawList::new(1);
                for _ in 0..40 {
                    // Groups of four that have not forgotten where they began.
                    let start = (chain / 4) as f64;
                    list.push(&[start + rng.sample::<f64, _>(StandardNormal)]);
                }
                list
            })
            .collect();
        let lists: Vec<&DrawList> = lists.iter().collect();
        let mut running = Running::new(1).with_superchains(Some(4));
        running.update(&lists, &[], Duration::MAX);
        let points = running.points(0);
        assert_eq!(points[0].draws, FIRST_OF_MANY);
        let last = points.last().unwrap();
        let columns: Vec<Vec<f64>> = lists.iter().map(|list| list.column(0)).collect();
        let chains: Vec<&[f64]> = columns.iter().map(|column| &column[..last.draws]).collect();
        let expected = crate::rhat::rhat_nested(&chains, 4).unwrap();
        assert_eq!(last.rhat_nested, Some(expected));
        assert!(expected > 1.2, "{expected}");
        let mut plain = Running::new(1);
        plain.update(&lists, &[], Duration::MAX);
        assert!(plain.points(0).is_empty());
    }
}
