//! How often every count occurs, beside how often the model expects it.
//!
//! Drawn on the scale of square roots, where deviations of rare and of frequent counts are as easily seen (Kleiber and Zeileis 2016).

use super::Band;
use super::cells::Counts;

/// Rows with a count, or with one of several counts that stand together.
#[derive(Clone, Debug, PartialEq)]
pub struct CountBar {
    /// Least and largest count; the last bar, of all that are larger than any observed, has no largest.
    pub from: f64,
    /// See [`Self::from`].
    pub to: Option<f64>,
    /// The level of which `from` is the place, where outcomes are ordered levels.
    pub level: Option<String>,
    /// Rows observed.
    pub observed: f64,
    /// Rows expected: the mean over replicated data sets.
    pub expected: f64,
    /// Rows in replicated data sets.
    pub replicated: Band,
}

impl CountBar {
    /// Counts of the bar: "3", "4 to 7", "above 46"; or its level.
    pub fn label(&self) -> String {
        if let Some(level) = &self.level {
            return level.clone();
        }
        match self.to {
            Some(to) if to == self.from => format!("{to}"),
            Some(to) => format!("{} to {to}", self.from),
            None => format!("above {}", self.from - 1.0),
        }
    }
}

/// Observed and expected frequencies of counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Rootogram {
    /// Ascending.
    pub bars: Vec<CountBar>,
}

impl Rootogram {
    /// The rootogram of counts, or of ordered `levels`.
    pub(super) fn of(observed: &[f64], counts: &Counts, levels: &[String]) -> Self {
        let cells = counts.cells;
        let own = cells.count(observed);
        // No count lies below the first cell, and no level above the last.
        let above = usize::from(levels.is_empty());
        let bars = (1..=cells.count + above).map(|place| {
            let (expected, replicated) = counts.band(|set| f64::from(set[place]));
            CountBar {
                from: cells.edge(place - 1),
                to: (place <= cells.count).then(|| cells.edge(place) - 1.0),
                level: levels.get(place - 1).cloned(),
                observed: own[place],
                expected,
                replicated,
            }
        });
        Self {
            bars: bars.collect(),
        }
    }

    /// How many frequencies lie outside their intervals, in one sentence.
    pub(super) fn summary(&self) -> String {
        let outside = |bar: &&CountBar| !bar.replicated.holds(bar.observed);
        let outside = self.bars.iter().filter(outside).count();
        let of = match self.bars.iter().all(|bar| bar.level.is_some()) {
            true => "levels",
            false => "counts",
        };
        format!(
            "{outside} of {} frequencies of {of} lie outside their 90 % intervals",
            self.bars.len()
        )
    }
}
