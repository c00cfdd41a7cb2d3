//! The distribution of observed numbers over those of replicated data: distribution function and histogram.

use super::Band;
use super::cells::{Counts, NUMBERS};
use ergodic_base::numerals::fixed;
use ergodic_diagnostics::quantiles;

/// Cells of a bar: divisors of the number of cells, so that bars are 5 to 40.
const CELLS_OF_A_BAR: [usize; 9] = [3, 4, 5, 6, 8, 10, 12, 15, 24];

/// The distribution function at one place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EcdfPoint {
    /// Where.
    pub at: f64,
    /// Share of observed outcomes below.
    pub observed: f64,
    /// Share of replicated outcomes below.
    pub replicated: Band,
}

/// A bar of a histogram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DensityBar {
    /// Lower and upper end of the bar.
    pub ends: [f64; 2],
    /// Share of observed outcomes over the bar's width.
    pub observed: f64,
    /// Share of replicated outcomes over the bar's width.
    pub replicated: Band,
}

/// Observed numbers over replicated ones; bands hold at each place by itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Overlay {
    /// Ascending.
    pub ecdf: Vec<EcdfPoint>,
    /// Ascending and without gaps.
    pub density: Vec<DensityBar>,
}

impl Overlay {
    pub(super) fn of(observed: &[f64], counts: &Counts) -> Self {
        let (cells, rows) = (counts.cells, observed.len() as f64);
        let own = cells.count(observed);
        let ecdf = (0..=cells.count).map(|edge| {
            let share = |sum: f64| sum / rows;
            EcdfPoint {
                at: cells.edge(edge),
                observed: share(own[..=edge].iter().sum()),
                replicated: counts
                    .band(|set| share(set[..=edge].iter().map(|&n| f64::from(n)).sum()))
                    .1,
            }
        });
        let together = cells_of_a_bar(observed, cells.width);
        let density = (0..NUMBERS / together).map(|bar| {
            let places = 1 + bar * together..1 + (bar + 1) * together;
            let width = together as f64 * cells.width;
            let height = |sum: f64| sum / (rows * width);
            DensityBar {
                ends: [cells.edge(bar * together), cells.edge((bar + 1) * together)],
                observed: height(own[places.clone()].iter().sum()),
                replicated: counts
                    .band(|set| {
                        let sum = set[places.clone()].iter().map(|&n| f64::from(n)).sum();
                        height(sum)
                    })
                    .1,
            }
        });
        Self {
            ecdf: ecdf.collect(),
            density: density.collect(),
        }
    }

    /// How much of the observed distribution function lies outside the band, in one sentence.
    pub(super) fn summary(&self, column: &str) -> String {
        let outside = |point: &&EcdfPoint| !point.replicated.holds(point.observed);
        let outside = self.ecdf.iter().filter(outside).count();
        format!(
            "Outside the pointwise 90 % band: {} % of the distribution function of {column}",
            fixed(100.0 * outside as f64 / self.ecdf.len() as f64, 0)
        )
    }
}

/// Cells of width `cell` in a bar by the rule of Freedman and Diaconis (1981), 2 IQR / n^(1/3), rounded up.
fn cells_of_a_bar(observed: &[f64], cell: f64) -> usize {
    let mut sorted = observed.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let range = quantiles::of_sorted(&sorted, 0.75) - quantiles::of_sorted(&sorted, 0.25);
    let width = 2.0 * range / (sorted.len() as f64).cbrt();
    let wide = CELLS_OF_A_BAR
        .into_iter()
        .find(|&cells| cells as f64 * cell >= width);
    wide.unwrap_or(CELLS_OF_A_BAR[CELLS_OF_A_BAR.len() - 1])
}
