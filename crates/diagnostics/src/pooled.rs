//! The draws of one parameter, sorted once; every definition in this directory reads from here.
//!
//! One sort gives ranks, quantiles, median absolute deviation and tail indicators; ranks of the folded draws
//! follow by merging the two sides of the median. The normal scores and the Fourier plan depend only on the
//! number of draws and are shared by all parameters ([`Tables`]), and so are the weights of weighted draws.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use self::size::{LEAST_NEAR, NEAR_SHARE, Reach};
use super::fourier::{Buffers, Plan};
use super::indicator::Indicators;
use super::moments::{Moments, mean_and_variance, mean_of, range, sum};
use super::sorting::Sorter;
use super::{CONSTANT_RANGE, Estimate, Missing, quantiles, weights};

mod nested;
mod size;
mod weighted;

/// What depends only on the shape (chains × draws per chain) and on the weights.
pub(super) struct Tables {
    num_chains: usize,
    draws_per_chain: usize,
    /// Over their mean, chain after chain; `None` for plain draws, an error if they cannot be used.
    weights: Option<Result<Vec<f64>, Missing>>,
    near_plan: OnceLock<Plan>,
    full_plan: OnceLock<Plan>,
    normal_scores: OnceLock<Vec<f64>>,
}

impl Tables {
    /// For chains cut to `draws_per_chain`, with one slice of weights per chain or none.
    pub fn new<W: AsRef<[f64]>>(
        num_chains: usize,
        draws_per_chain: usize,
        weights: &[W],
    ) -> Arc<Self> {
        let weights = if weights.is_empty() || weights.len() == num_chains {
            weights::relative(weights, draws_per_chain)
        } else {
            Some(Err(Missing::Weights))
        };
        Arc::new(Self {
            num_chains,
            draws_per_chain,
            weights,
            near_plan: OnceLock::new(),
            full_plan: OnceLock::new(),
            normal_scores: OnceLock::new(),
        })
    }

    /// Length of a half chain; the middle draw of an odd chain belongs to neither half.
    fn half(&self) -> usize {
        self.draws_per_chain / 2
    }

    /// Draws in all half chains.
    fn num_split(&self) -> usize {
        2 * self.half() * self.num_chains
    }

    /// Transforms for autocovariances at this reach.
    fn plan(&self, reach: Reach) -> &Plan {
        let half = self.half();
        match reach {
            Reach::Near => {
                let lags = LEAST_NEAR.max(half / NEAR_SHARE).min(half);
                self.near_plan.get_or_init(|| Plan::at_least(half + lags))
            }
            Reach::Full => self.full_plan.get_or_init(|| Plan::at_least(2 * half)),
        }
    }

    /// Normal score of rank 1, 2, … among the split draws.
    fn normal_scores(&self) -> &[f64] {
        self.normal_scores.get_or_init(|| {
            let total = self.num_split();
            (1..=total)
                .map(|rank| normal_score(rank as f64, total))
                .collect()
        })
    }
}

/// Normal quantile of the fractional rank (r - 3/8) / (S + 1/4), Blom's formula.
fn normal_score(rank: f64, total: usize) -> f64 {
    quantiles::normal((rank - 0.375) / (total as f64 + 0.25))
}

/// Which transformed draws [`Pooled::ess`] and [`Pooled::split_rhat`] look at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum View {
    /// The draws.
    Raw,
    /// Normal scores of the ranks.
    Bulk,
    /// Normal scores of the ranks of |x - median|.
    Folded,
    /// 1 for the draws up to the quantile of this probability, 0 for the others.
    Below(f64),
    /// 1 for the draws above the quantile of the first probability and up to that of the second, 0 for the others. The interval from
    /// probability 0 holds the smallest draw.
    Between(f64, f64),
    /// |x - mean|.
    Deviation,
    /// (x - mean)².
    SquaredDeviation,
}

/// The sorted draws with one value of an indicator, the rarer one where that is known beforehand.
struct Marked {
    places: Range<usize>,
    /// Value of the indicator.
    value: f64,
}

/// The draws of one parameter and the working memory; load one parameter after the other.
pub(super) struct Pooled {
    tables: Arc<Tables>,
    /// Chain after chain.
    values: Vec<f64>,
    /// Ascending.
    sorted: Vec<f64>,
    /// Where in `values` the sorted value stands.
    order: Vec<u32>,
    /// Sorted values of |x - median|; filled on first use.
    folded: Vec<f64>,
    folded_order: Vec<u32>,
    has_folded: bool,
    /// The cdf of the weights at the sorted values; of weighted draws, on first use.
    cdf: Vec<f64>,
    has_cdf: bool,
    finite: bool,
    mean: f64,
    /// The view being worked on, laid out like `values`.
    view: Vec<f64>,
    /// Which view that is, and whether it can be used.
    current: Option<(View, Result<(), Missing>)>,
    sorter: Sorter,
    near_buffers: Option<Buffers>,
    full_buffers: Option<Buffers>,
    power: Vec<f64>,
    rho: Vec<f64>,
    indicators: Indicators,
}

impl Pooled {
    pub fn new(tables: Arc<Tables>) -> Self {
        Self {
            tables,
            values: Vec::new(),
            sorted: Vec::new(),
            order: Vec::new(),
            folded: Vec::new(),
            folded_order: Vec::new(),
            has_folded: false,
            cdf: Vec::new(),
            has_cdf: false,
            finite: true,
            mean: f64::NAN,
            view: Vec::new(),
            current: None,
            sorter: Sorter::default(),
            near_buffers: None,
            full_buffers: None,
            power: Vec::new(),
            rho: Vec::new(),
            indicators: Indicators::default(),
        }
    }

    /// The chains of one parameter, cut to the shortest.
    pub fn of(chains: &[&[f64]]) -> Self {
        Self::weighted(chains, &[])
    }

    /// The chains of one parameter with one slice of weights per chain, or none.
    pub fn weighted(chains: &[&[f64]], weights: &[&[f64]]) -> Self {
        let draws = chains.iter().map(|chain| chain.len()).min().unwrap_or(0);
        let mut pooled = Self::new(Tables::new(chains.len(), draws, weights));
        pooled.load(|values| {
            for chain in chains {
                values.extend_from_slice(&chain[..draws]);
            }
        });
        pooled
    }

    /// Replaces the draws; `fill` appends chain after chain, as many draws as the tables were made for.
    pub fn load(&mut self, fill: impl FnOnce(&mut Vec<f64>)) {
        self.values.clear();
        fill(&mut self.values);
        assert_eq!(
            self.values.len(),
            self.tables.num_chains * self.tables.draws_per_chain,
            "shape of the tables"
        );
        assert!(
            self.values.len() <= u32::MAX as usize,
            "positions fit 32 bits"
        );
        self.has_folded = false;
        self.has_cdf = false;
        self.current = None;
        self.finite = self.values.iter().all(|x| x.is_finite());
        self.mean = self.weighted_mean(mean_of(&self.values));
        if self.finite {
            self.sorter
                .sort(&self.values, &mut self.sorted, &mut self.order);
        }
    }

    /// Draws of each chain.
    pub fn chains(&self) -> impl Iterator<Item = &[f64]> {
        // Chunks have at least one draw.
        self.values.chunks_exact(self.tables.draws_per_chain.max(1))
    }

    /// Whether draws have weights that differ.
    pub fn is_weighted(&self) -> bool {
        self.weights().is_some()
    }

    /// Number of draws of all chains.
    pub fn num_draws(&self) -> usize {
        self.values.len()
    }

    /// The draws, ascending; empty if one is not finite.
    pub fn sorted(&self) -> &[f64] {
        if self.finite { &self.sorted } else { &[] }
    }

    fn check(&self, at_least: usize) -> Result<(), Missing> {
        if let Some(Err(broken)) = self.tables.weights {
            Err(broken)
        } else if !self.finite {
            Err(Missing::NotFinite)
        } else if self.values.len() < at_least {
            Err(Missing::TooFew)
        } else {
            Ok(())
        }
    }

    /// Why no diagnostic of the raw draws is possible, if so.
    pub fn defect(&self) -> Option<Missing> {
        self.check(1)
            .err()
            .or_else(|| self.is_constant().then_some(Missing::Constant))
    }

    fn is_constant(&self) -> bool {
        self.sorted[self.sorted.len() - 1] - self.sorted[0] < CONSTANT_RANGE
    }

    pub fn mean(&self) -> Estimate {
        self.check(1)?;
        finite(self.mean)
    }

    /// Standard deviation with divisor S - 1.
    pub fn sd(&self) -> Estimate {
        self.check(2)?;
        let n = self.values.len() as f64;
        finite((self.central_moment(2) * n / (n - 1.0)).sqrt())
    }

    /// Mean of (x - mean)^`power`, for 2 and 4.
    pub fn central_moment(&self, power: u32) -> f64 {
        let square = |x: f64| (x - self.mean) * (x - self.mean);
        if let Some(v) = self.weights() {
            return if power == 2 {
                weights::mean_with(v, &self.values, square)
            } else {
                weights::mean_with(v, &self.values, |x| square(x) * square(x))
            };
        }
        let total = if power == 2 {
            sum(&self.values, square)
        } else {
            sum(&self.values, |x| square(x) * square(x))
        };
        total / self.values.len() as f64
    }

    /// Quantile of the draws, of weighted ones by their cdf.
    pub fn quantile(&mut self, prob: f64) -> Estimate {
        self.check(1)?;
        Ok(self.place(prob))
    }

    /// The share of the draws, by weight where they have some, of which `holds` is true.
    pub fn share(&self, holds: impl Fn(f64) -> bool) -> Estimate {
        self.check(1)?;
        let mark = |x: f64| f64::from(u8::from(holds(x)));
        finite(match self.weights() {
            Some(v) => weights::mean_with(v, &self.values, mark),
            None => sum(&self.values, mark) / self.values.len() as f64,
        })
    }

    /// The shortest interval between two draws over which their share, or that of their weight, rises by `share` (Chen and Shao 1999,
    /// Journal of Computational and Graphical Statistics 8): of n draws, from the i-th to the (i + ⌊n share⌋)-th.
    pub fn shortest(&mut self, share: f64) -> Result<[f64; 2], Missing> {
        self.check(1)?;
        if self.is_weighted() {
            self.make_cdf();
            return Ok(weights::shortest(&self.sorted, &self.cdf, share));
        }
        let sorted = self.sorted();
        let between = ((share * sorted.len() as f64).floor() as usize).min(sorted.len() - 1);
        let ends = sorted.iter().zip(&sorted[between..]);
        let shortest = ends.min_by(|a, b| (a.1 - a.0).total_cmp(&(b.1 - b.0)));
        shortest
            .map(|(low, high)| [*low, *high])
            .ok_or(Missing::TooFew)
    }

    pub fn median(&mut self) -> Estimate {
        self.check(1)?;
        Ok(self.centre())
    }

    /// The quantile of usable draws.
    fn place(&mut self, prob: f64) -> f64 {
        self.make_cdf();
        if self.has_cdf {
            weights::quantile(&self.sorted, &self.cdf, prob)
        } else {
            quantiles::of_sorted(&self.sorted, prob)
        }
    }

    /// The median of usable draws.
    fn centre(&mut self) -> f64 {
        self.make_cdf();
        if self.has_cdf {
            weights::quantile(&self.sorted, &self.cdf, 0.5)
        } else {
            middle(&self.sorted)
        }
    }

    /// 1.4826 × median of |x - median|.
    pub fn mad(&mut self) -> Estimate {
        self.check(1)?;
        self.fold();
        Ok(match self.weights() {
            Some(v) => self.weighted_mad(v),
            None => 1.4826 * middle(&self.folded),
        })
    }

    /// Split R-hat of a view.
    pub fn split_rhat(&mut self, view: View) -> Estimate {
        self.fill(view)?;
        let half = self.tables.half();
        if half < 2 {
            return Err(Missing::TooFew);
        }
        if let Some(v) = self.weights() {
            return self.weighted_split_rhat(v);
        }
        let n = half as f64;
        let (mut means, mut within) = (Moments::default(), 0.0);
        for chain in self.halves() {
            let (mean, square) = mean_and_variance(chain);
            means.add(mean);
            within += square * n / (n - 1.0);
        }
        within /= means.count;
        let rhat = ((means.variance() * n / within + n - 1.0) / n).sqrt();
        if rhat.is_nan() {
            Err(Missing::NotFinite)
        } else {
            Ok(rhat)
        }
    }

    /// The half chains of the current view.
    fn halves(&self) -> impl Iterator<Item = &[f64]> {
        halves(&self.view, self.tables.draws_per_chain, self.tables.half())
    }

    /// Computes a view, unless it is there already; refuses one that is not finite or constant on the half chains.
    fn fill(&mut self, view: View) -> Result<(), Missing> {
        match self.current {
            Some((current, usable)) if current == view => usable,
            _ => {
                let usable = self.fill_again(view);
                self.current = Some((view, usable));
                usable
            }
        }
    }

    fn fill_again(&mut self, view: View) -> Result<(), Missing> {
        self.check(1)?;
        if self.tables.half() < 2 {
            return Err(Missing::TooFew);
        }
        if matches!(view, View::Below(_) | View::Between(..)) && self.is_constant() {
            return Err(Missing::Constant);
        }
        let mean = self.mean;
        self.view.resize(self.values.len(), 0.0);
        match view {
            // Centred, since no definition depends on the origin and means near zero keep more digits.
            View::Raw => set(&mut self.view, &self.values, |x| x - mean),
            View::Deviation => set(&mut self.view, &self.values, |x| (x - mean).abs()),
            View::SquaredDeviation => {
                set(&mut self.view, &self.values, |x| (x - mean) * (x - mean));
            }
            View::Below(prob) => {
                let marked = self.below(prob);
                self.fill_marked(&marked);
            }
            View::Between(low, high) => {
                let marked = self.between(low, high);
                self.fill_marked(&marked);
            }
            View::Bulk => self.fill_scores(false),
            View::Folded => {
                self.fold();
                self.fill_scores(true);
            }
        }
        let (mut least, mut greatest) = (f64::INFINITY, f64::NEG_INFINITY);
        for chain in self.halves() {
            let [low, high] = range(chain);
            (least, greatest) = (least.min(low), greatest.max(high));
        }
        if !(greatest - least).is_finite() {
            Err(Missing::NotFinite)
        } else if greatest - least < CONSTANT_RANGE {
            Err(Missing::Constant)
        } else {
            Ok(())
        }
    }

    fn fill_marked(&mut self, marked: &Marked) {
        self.view.fill(1.0 - marked.value);
        for &position in &self.order[marked.places.clone()] {
            self.view[position as usize] = marked.value;
        }
    }

    /// The draws up to the quantile of probability `prob`.
    fn below(&mut self, prob: f64) -> Marked {
        let total = self.values.len() as f64;
        // The largest draw is never left out, so that the indicator of the maximum is not constant.
        let prob = if prob == 1.0 {
            (total - 0.5) / total
        } else {
            prob
        };
        let below = self.num_up_to(prob);
        if 2 * below < self.order.len() {
            Marked {
                places: 0..below,
                value: 1.0,
            }
        } else {
            Marked {
                places: below..self.order.len(),
                value: 0.0,
            }
        }
    }

    /// The draws between two quantiles.
    fn between(&mut self, low: f64, high: f64) -> Marked {
        let first = if low > 0.0 { self.num_up_to(low) } else { 0 };
        Marked {
            places: first..self.num_up_to(high).max(first),
            value: 1.0,
        }
    }

    /// How many draws are not above the quantile of probability `prob`.
    fn num_up_to(&mut self, prob: f64) -> usize {
        let limit = self.place(prob);
        self.sorted.partition_point(|&x| x <= limit)
    }

    /// Writes normal scores of the ranks (or folded ranks) among the split draws; ties get their average rank.
    fn fill_scores(&mut self, folded: bool) {
        if self.weights().is_some() {
            self.make_cdf();
            self.fill_weighted_scores(folded);
            return;
        }
        let (keys, order) = if folded {
            (&self.folded, &self.folded_order)
        } else {
            (&self.sorted, &self.order)
        };
        let scores = self.tables.normal_scores();
        let (n, half) = (self.tables.draws_per_chain, self.tables.half());
        let odd = n % 2 == 1;
        let is_middle = |position: u32| odd && position as usize % n == half;
        let mut rank = 0;
        let mut start = 0;
        while start < keys.len() {
            let key = keys[start];
            let mut end = start + 1;
            while end < keys.len() && keys[end] == key {
                end += 1;
            }
            let tied = &order[start..end];
            let count = if odd {
                tied.iter().filter(|&&p| !is_middle(p)).count()
            } else {
                tied.len()
            };
            if count > 0 {
                let score = if count % 2 == 1 {
                    scores[rank + count / 2]
                } else {
                    normal_score(rank as f64 + 0.5 * (count + 1) as f64, scores.len())
                };
                for &position in tied {
                    // The middle draw of an odd chain gets a score too, which no half chain reads.
                    self.view[position as usize] = score;
                }
            }
            rank += count;
            start = end;
        }
    }

    /// Sorts |x - median| by merging outwards from the median.
    fn fold(&mut self) {
        if self.has_folded {
            return;
        }
        self.has_folded = true;
        let median = self.centre();
        let (sorted, order) = (&self.sorted, &self.order);
        let count = sorted.len();
        self.folded.resize(count, 0.0);
        self.folded_order.resize(count, 0);
        let mut write = |to: usize, distance: f64, from: usize| {
            self.folded[to] = distance;
            self.folded_order[to] = order[from];
        };
        let mut right = sorted.partition_point(|&x| x < median);
        let mut left = right;
        let (mut lowest, mut end) = (0, count);
        // From the median outwards and from the ends inwards at the same time: neither waits for the other. No side runs out
        // before its own length. Of two at one distance the right one comes first.
        let both = left.min(count - right);
        for i in 0..both {
            let (below, above) = (median - sorted[left - 1], sorted[right] - median);
            let is_left = below < above;
            let (distance, from) = match is_left {
                true => (below, left - 1),
                false => (above, right),
            };
            write(i, distance, from);
            left -= usize::from(is_left);
            right += usize::from(!is_left);
            let (below, above) = (median - sorted[lowest], sorted[end - 1] - median);
            let is_left = below >= above;
            let (distance, from) = match is_left {
                true => (below, lowest),
                false => (above, end - 1),
            };
            write(count - 1 - i, distance, from);
            lowest += usize::from(is_left);
            end -= usize::from(!is_left);
        }
        for i in both..count - both {
            let is_left =
                right == end || left > lowest && median - sorted[left - 1] < sorted[right] - median;
            if is_left {
                left -= 1;
                write(i, median - sorted[left], left);
            } else {
                write(i, sorted[right] - median, right);
                right += 1;
            }
        }
    }
}

/// The half chains of chains of length `n`; the middle draw of an odd chain belongs to neither.
fn halves(chains: &[f64], n: usize, half: usize) -> impl Iterator<Item = &[f64]> {
    chains
        .chunks_exact(n.max(1))
        .flat_map(move |chain| [&chain[..half], &chain[n - half..]])
}

/// Refuses sums that overflow.
fn finite(x: f64) -> Estimate {
    if x.is_finite() {
        Ok(x)
    } else {
        Err(Missing::NotFinite)
    }
}

fn set(out: &mut [f64], values: &[f64], f: impl Fn(f64) -> f64) {
    for (out, &x) in out.iter_mut().zip(values) {
        *out = f(x);
    }
}

fn middle(sorted: &[f64]) -> f64 {
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted[half]
    } else {
        (sorted[half - 1] + sorted[half]) / 2.0
    }
}

#[cfg(test)]
mod tests;
