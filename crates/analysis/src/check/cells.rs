//! How often values fall into cells of equal width, for each of many data sets.

use super::Band;

/// Most values of a count with a cell of their own; wider cells hold several.
const VALUES: usize = 60;
/// Cells of numbers: enough for a smooth distribution function, and divisible into bars of many widths.
pub(super) const NUMBERS: usize = 120;
/// What is shown on either side of the observed numbers, as a share of their range.
const MARGIN: f64 = 0.15;

/// Cells of equal width; what lies outside is counted too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cells {
    /// Lower end of the first.
    pub(super) low: f64,
    /// Of each.
    pub(super) width: f64,
    /// How many.
    pub(super) count: usize,
}

impl Cells {
    /// Whole numbers from 0 to the largest of `observed`, or several in a cell.
    pub(super) fn of_counts(observed: &[f64]) -> Self {
        let values = observed.iter().copied().fold(0.0, f64::max) + 1.0;
        let width = (values / VALUES as f64).ceil();
        Self {
            low: 0.0,
            width,
            count: (values / width).ceil() as usize,
        }
    }

    /// One for each of `count` ordered levels.
    pub(super) fn of_levels(count: usize) -> Self {
        Self {
            low: 1.0,
            width: 1.0,
            count,
        }
    }

    /// The range of `observed` and a margin.
    pub(super) fn of_numbers(observed: &[f64]) -> Self {
        let least = observed.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = observed.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let margin = MARGIN * (largest - least).max(f64::MIN_POSITIVE);
        Self {
            low: least - margin,
            width: (largest - least + 2.0 * margin) / NUMBERS as f64,
            count: NUMBERS,
        }
    }

    /// 0 below the cells, then one each, then what is above or no number.
    pub(super) fn place(&self, value: f64) -> usize {
        if value < self.low {
            return 0;
        }
        let place = (value - self.low) / self.width;
        // No number is no less than the count either.
        if place < self.count as f64 {
            place as usize + 1
        } else {
            self.count + 1
        }
    }

    /// Lower end of a cell.
    pub(super) fn edge(&self, cell: usize) -> f64 {
        self.low + cell as f64 * self.width
    }

    /// Values of each place.
    pub(super) fn count(&self, values: &[f64]) -> Vec<f64> {
        let mut counts = vec![0.0; self.count + 2];
        for &value in values {
            counts[self.place(value)] += 1.0;
        }
        counts
    }
}

/// Counts of each place for data sets that are evenly spaced among all.
pub(super) struct Counts {
    pub(super) cells: Cells,
    stride: usize,
    /// Data sets × places.
    counts: Vec<u32>,
}

impl Counts {
    /// For at most `most` of `sets` data sets.
    pub(super) fn new(cells: Cells, sets: usize, most: usize) -> Self {
        let stride = sets.div_ceil(most).max(1);
        Self {
            cells,
            stride,
            counts: vec![0; sets.div_ceil(stride) * (cells.count + 2)],
        }
    }

    /// Adds the value of one row in all data sets.
    pub(super) fn add(&mut self, values: &[f64]) {
        let places = self.cells.count + 2;
        let values = values.iter().step_by(self.stride);
        for (counts, value) in self.counts.chunks_exact_mut(places).zip(values) {
            counts[self.cells.place(*value)] += 1;
        }
    }

    /// Adds those of other rows.
    pub(super) fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
    }

    /// Data sets counted.
    pub(super) fn sets(&self) -> usize {
        self.counts.len() / (self.cells.count + 2)
    }

    /// What `number` makes of the counts of each data set.
    pub(super) fn each(&self, number: impl Fn(&[u32]) -> f64) -> Vec<f64> {
        let sets = self.counts.chunks_exact(self.cells.count + 2);
        sets.map(number).collect()
    }

    /// The mean over data sets of what `number` makes of each, and its band.
    pub(super) fn band(&self, number: impl Fn(&[u32]) -> f64) -> (f64, Band) {
        let mut values = self.each(number);
        let mean = values.iter().sum::<f64>() / self.sets() as f64;
        (mean, Band::of(&mut values))
    }
}
