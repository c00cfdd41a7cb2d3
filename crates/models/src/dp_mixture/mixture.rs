//! What samplers of partitions need of a mixture: units, statistics of clusters, and closed-form densities.

use super::concentration::{AlphaPrior, log_partition};
use super::counts::Counts;
use super::numeric::Numeric;

/// Largest clusters whose share is reported.
pub(crate) const NUM_WEIGHTS: usize = 5;

/// Units to be partitioned, with conjugate components: numeric columns and categories are independent within a component.
///
/// A cluster is a record of [`Self::width`] numbers, the first of them its size. Adding or removing a unit costs as much as
/// the unit has numbers, plus [`Self::settle`] before a density is asked for.
#[derive(Clone, Debug)]
pub struct Mixture {
    num_units: usize,
    held_out: usize,
    /// Numeric columns.
    pub numeric: Option<Numeric>,
    /// Categories.
    pub counts: Option<Counts>,
    /// Prior of α.
    pub alpha: AlphaPrior,
    /// Names of the units, those held out last.
    pub unit_names: Vec<String>,
    /// Log predictive density of each unit in a cluster of its own.
    alone: Vec<f64>,
}

impl Mixture {
    /// A mixture of the first units of the columns; the last `held_out` take no part and are predicted.
    pub fn new(
        unit_names: Vec<String>,
        held_out: usize,
        numeric: Option<Numeric>,
        counts: Option<Counts>,
        alpha: AlphaPrior,
    ) -> Self {
        let total = unit_names.len();
        let mut mixture = Self {
            num_units: total - held_out,
            held_out,
            numeric,
            counts,
            alpha,
            unit_names,
            alone: Vec::new(),
        };
        let mut empty = vec![0.0; mixture.width()];
        mixture.settle(&mut empty);
        mixture.alone = (0..total)
            .map(|unit| mixture.log_predictive(unit, &empty))
            .collect();
        mixture
    }

    /// N, the units to be partitioned.
    pub fn num_units(&self) -> usize {
        self.num_units
    }

    /// Units held out: those from N on.
    pub fn num_held_out(&self) -> usize {
        self.held_out
    }

    fn numeric_width(&self) -> usize {
        self.numeric.as_ref().map_or(0, Numeric::width)
    }

    /// Numbers in the record of a cluster.
    pub fn width(&self) -> usize {
        1 + self.numeric_width() + self.counts.as_ref().map_or(0, Counts::width)
    }

    /// The part of a record that belongs to numeric columns.
    #[inline]
    pub fn numeric_part<'a>(&self, record: &'a [f64]) -> &'a [f64] {
        &record[1..=self.numeric_width()]
    }

    /// The part of a record that belongs to categories: counts per item, then per block.
    #[inline]
    pub fn counts_part<'a>(&self, record: &'a [f64]) -> &'a [f64] {
        &record[1 + self.numeric_width()..]
    }

    /// Adds a unit to a cluster.
    #[inline]
    pub fn add(&self, unit: usize, record: &mut [f64]) {
        self.change(unit, 1.0, record);
    }

    /// Takes a unit out of a cluster.
    #[inline]
    pub fn remove(&self, unit: usize, record: &mut [f64]) {
        self.change(unit, -1.0, record);
    }

    #[inline]
    fn change(&self, unit: usize, sign: f64, record: &mut [f64]) {
        record[0] += sign;
        let (numeric, counts) = record[1..].split_at_mut(self.numeric_width());
        if let Some(part) = &self.numeric {
            part.add(unit, sign, numeric);
        }
        if let Some(part) = &self.counts {
            part.add(unit, sign, counts);
        }
    }

    /// Brings the densities of a cluster up to date with its sums.
    #[inline]
    pub fn settle(&self, record: &mut [f64]) {
        let n = record[0];
        if let Some(part) = &self.numeric {
            part.settle(n, &mut record[1..=part.width()]);
        }
    }

    /// Log predictive density of a unit given a settled cluster that does not hold it.
    #[inline]
    pub fn log_predictive(&self, unit: usize, record: &[f64]) -> f64 {
        let mut log = 0.0;
        if let Some(part) = &self.numeric {
            log += part.log_predictive(unit, self.numeric_part(record));
        }
        if let Some(part) = &self.counts {
            log += part.log_predictive(unit, self.counts_part(record));
        }
        log
    }

    /// Log predictive density of a unit given an empty cluster.
    #[inline]
    pub fn log_alone(&self, unit: usize) -> f64 {
        self.alone[unit]
    }

    /// Log marginal likelihood of a settled cluster.
    pub fn log_marginal(&self, record: &[f64]) -> f64 {
        let mut log = 0.0;
        if let Some(part) = &self.numeric {
            log += part.log_marginal(record[0], self.numeric_part(record));
        }
        if let Some(part) = &self.counts {
            log += part.log_marginal(self.counts_part(record));
        }
        log
    }

    /// Log density of α and a partition into settled clusters, components integrated out.
    pub fn log_density<'a>(
        &self,
        alpha: f64,
        clusters: impl Iterator<Item = &'a [f64]> + Clone,
    ) -> f64 {
        let marginals: f64 = clusters
            .clone()
            .map(|record| self.log_marginal(record))
            .sum();
        let prior = log_partition(alpha, clusters.map(|record| record[0]));
        self.alpha.log_density(alpha) + prior + marginals
    }

    /// Log predictive density of a unit that has no cluster yet, given α and the settled clusters of all others: that of numeric columns as
    /// they are, not as they were centred and scaled.
    pub fn log_next<'a>(
        &self,
        unit: usize,
        alpha: f64,
        clusters: impl Iterator<Item = &'a [f64]>,
    ) -> f64 {
        let mut sum = LogSum::of(alpha.ln() + self.log_alone(unit));
        let mut total = alpha;
        for record in clusters {
            sum.add(record[0].ln() + self.log_predictive(unit, record));
            total += record[0];
        }
        sum.value() - total.ln() - self.numeric.as_ref().map_or(0.0, Numeric::log_scale)
    }

    /// Writes the reported quantities into `out` (Q): `sizes` of clusters in descending order, `held_out` the mean over units
    /// held out.
    pub fn report(
        &self,
        alpha: f64,
        sizes: &[f64],
        log_density: f64,
        held_out: f64,
        out: &mut [f64],
    ) {
        let n = self.num_units as f64;
        let share = |k: usize| sizes.get(k).map_or(0.0, |size| size / n);
        let entropy = sizes.iter().map(|size| -size / n * (size / n).ln()).sum();
        let alpha = matches!(self.alpha, AlphaPrior::Gamma { .. }).then_some(alpha);
        let held_out = (self.held_out > 0).then_some(held_out);
        let values = [sizes.len() as f64]
            .into_iter()
            .chain(alpha)
            .chain([entropy, log_density])
            .chain((0..NUM_WEIGHTS).map(share))
            .chain(held_out);
        for (out, value) in out.iter_mut().zip(values) {
            *out = value;
        }
    }
}

/// The logarithm of a sum of exponentials, term by term.
#[derive(Clone, Copy, Debug)]
pub struct LogSum {
    largest: f64,
    sum: f64,
}

impl LogSum {
    /// Of one term.
    pub fn of(log: f64) -> Self {
        Self {
            largest: log,
            sum: 1.0,
        }
    }

    /// Adds e^`log`.
    pub fn add(&mut self, log: f64) {
        if log <= self.largest {
            self.sum += (log - self.largest).exp();
        } else {
            self.sum = self.sum * (self.largest - log).exp() + 1.0;
            self.largest = log;
        }
    }

    /// The logarithm.
    pub fn value(&self) -> f64 {
        self.largest + self.sum.ln()
    }
}
