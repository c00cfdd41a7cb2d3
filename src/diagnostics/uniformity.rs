//! Whether the rank statistics of simulation-based calibration are uniform.
//!
//! With parameters drawn from the prior and data simulated from them, the rank of the true value among L independent
//! posterior draws is uniform on 0…L if model, simulation and sampler agree (Talts, Betancourt, Simpson, Vehtari and Gelman
//! 2018). Two tests: Pearson's χ² on a histogram, and the largest departure of the empirical distribution function from
//! the binomial bands around it (Säilynoja, Bürkner and Vehtari 2022, doi 10.1007/s11222-022-10090-6), which also sees small
//! shifts. The null distribution of the latter is simulated for ranks, so that it holds for any number of draws.

use rand::RngExt as _;
use statrs::distribution::{ChiSquared, ContinuousCDF as _};
use statrs::function::factorial::ln_binomial;

use crate::base::rng::{Purpose, stream};

/// Simulated sets of uniform ranks: p-values are multiples of 1/2001.
const REPLICATES: usize = 2000;
/// Most bars of a histogram.
const MOST_BINS: usize = 20;
/// Relative difference of equal tail probabilities.
const ROUNDING: f64 = 1e-9;
/// Ranks that a bar of the χ² test is expected to have at least.
const EXPECTED: usize = 5;

/// What the ranks of one quantity say.
#[derive(Clone, Debug, PartialEq)]
pub struct Uniformity {
    /// Ranks per bar, from small to large.
    pub histogram: Vec<usize>,
    /// Pearson's χ² of the histogram, and its p-value; `None` with fewer than two bars.
    pub chi_squared: Option<(f64, f64)>,
    /// p-value of the test on the empirical distribution function.
    pub p_ecdf: f64,
}

/// Heights as a line of bars, the highest of them full; empty where nothing is.
pub fn bars(heights: &[f64]) -> String {
    let highest = heights.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let full = (BARS.len() - 1) as f64;
    // What is there is seen.
    let height = |h: f64| (full * h / highest).ceil().clamp(0.0, full) as usize;
    heights.iter().map(|&h| BARS[height(h)]).collect()
}

/// Bars of a line of text, from empty to full.
const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

impl Uniformity {
    /// The histogram as a line of bars; one that is flat is half as high as a bar can be.
    pub fn bars(&self) -> String {
        let total: usize = self.histogram.iter().sum();
        let mean = total as f64 / self.histogram.len().max(1) as f64;
        let full = (BARS.len() - 1) as f64;
        let height = |&count: &usize| (0.5 * full * count as f64 / mean).round().min(full) as usize;
        self.histogram
            .iter()
            .map(|count| BARS[height(count)])
            .collect()
    }
}

/// The tests for n ranks from 0 to L.
pub struct RankTest {
    num_ranks: usize,
    num_draws: usize,
    num_bins: usize,
    /// L × (n + 1): twice the smaller tail probability of a count of ranks below k = 1…L.
    tails: Vec<f64>,
    /// The test statistic of uniform ranks, in order.
    null: Vec<f64>,
}

impl RankTest {
    /// For `num_ranks` ≥ 1 ranks among `num_draws` ≥ 1 draws. The seed is that of the null distribution.
    pub fn new(num_ranks: usize, num_draws: usize, seed: u64) -> Self {
        let n = num_ranks as u64;
        let mut tails = Vec::with_capacity(num_draws * (num_ranks + 1));
        for k in 1..=num_draws {
            let z = k as f64 / (num_draws + 1) as f64;
            let pmf: Vec<f64> = (0..=n)
                .map(|r| {
                    (ln_binomial(n, r) + r as f64 * z.ln() + (n - r) as f64 * (-z).ln_1p()).exp()
                })
                .collect();
            let mut below = 0.0;
            for p in pmf {
                let (at_most, at_least) = (below + p, 1.0 - below);
                tails.push((2.0 * at_most.min(at_least)).clamp(0.0, 1.0));
                below += p;
            }
        }
        let mut test = Self {
            num_ranks,
            num_draws,
            num_bins: num_bins(num_ranks, num_draws),
            tails,
            null: Vec::with_capacity(REPLICATES),
        };
        let mut rng = stream(seed, 0, Purpose::Diagnostics);
        let mut counts = vec![0; num_draws + 1];
        for _ in 0..REPLICATES {
            counts.fill(0);
            for _ in 0..num_ranks {
                counts[rng.random_range(0..=num_draws)] += 1;
            }
            test.null.push(test.statistic(&counts));
        }
        test.null.sort_unstable_by(f64::total_cmp);
        test
    }

    /// The smallest tail probability of the empirical distribution function, given the counts of ranks 0…L.
    fn statistic(&self, counts: &[usize]) -> f64 {
        let mut below = 0;
        let mut least = 1.0_f64;
        for (count, tails) in counts
            .iter()
            .zip(self.tails.chunks_exact(self.num_ranks + 1))
        {
            below += count;
            least = least.min(tails[below]);
        }
        least
    }

    /// Tests ranks, as many as were promised, each at most L.
    pub fn of(&self, ranks: &[u32]) -> Uniformity {
        let mut counts = vec![0; self.num_draws + 1];
        for &rank in ranks {
            counts[(rank as usize).min(self.num_draws)] += 1;
        }
        let per_bin = (self.num_draws + 1) / self.num_bins;
        let histogram: Vec<usize> = counts
            .chunks(per_bin)
            .map(|counts| counts.iter().sum())
            .collect();
        let chi_squared = (self.num_bins > 1).then(|| {
            let expected = self.num_ranks as f64 / self.num_bins as f64;
            let value: f64 = histogram
                .iter()
                .map(|&count| (count as f64 - expected).powi(2) / expected)
                .sum();
            let p = ChiSquared::new((self.num_bins - 1) as f64)
                .map_or(f64::NAN, |distribution| distribution.sf(value));
            (value, p)
        });
        let observed = self.statistic(&counts);
        // The two tails of a symmetric case differ by rounding only, and are equally extreme.
        let as_extreme = self
            .null
            .partition_point(|&null| null <= observed * (1.0 + ROUNDING));
        Uniformity {
            histogram,
            chi_squared,
            p_ecdf: (1 + as_extreme) as f64 / (1 + REPLICATES) as f64,
        }
    }
}

/// The most bars of equal width that leave enough ranks for each.
fn num_bins(num_ranks: usize, num_draws: usize) -> usize {
    let values = num_draws + 1;
    (1..=MOST_BINS.min(values))
        .rev()
        .find(|bins| values.is_multiple_of(*bins) && num_ranks >= EXPECTED * bins)
        .unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uniform(seed: u64, n: usize, draws: u32) -> Vec<u32> {
        let mut rng = stream(seed, 1, Purpose::Data);
        (0..n).map(|_| rng.random_range(0..=draws)).collect()
    }

    #[test]
    fn p_values_of_uniform_ranks_are_uniform() {
        let test = RankTest::new(60, 19, 1);
        const SETS: u64 = 400;
        let (mut ecdf, mut chi) = (0, 0);
        for seed in 0..SETS {
            let said = test.of(&uniform(seed, 60, 19));
            ecdf += u32::from(said.p_ecdf <= 0.1);
            chi += u32::from(said.chi_squared.unwrap().1 <= 0.1);
        }
        // 40 are expected, with a standard deviation of 6.
        assert!((20..=60).contains(&ecdf), "{ecdf}");
        assert!((20..=60).contains(&chi), "{chi}");
    }

    #[test]
    fn shifts_and_wrong_widths_are_seen() {
        let test = RankTest::new(100, 99, 1);
        let ranks = uniform(5, 100, 99);
        assert!(test.of(&ranks).p_ecdf > 0.05);
        let low: Vec<u32> = ranks.iter().map(|rank| rank * 2 / 3).collect();
        let narrow: Vec<u32> = ranks.iter().map(|rank| 30 + rank * 2 / 5).collect();
        let wide: Vec<u32> = ranks
            .iter()
            .map(|rank| {
                if rank % 2 == 0 {
                    rank / 5
                } else {
                    99 - rank / 5
                }
            })
            .collect();
        for wrong in [low, narrow, wide] {
            let said = test.of(&wrong);
            assert!(said.p_ecdf < 0.001, "{said:?}");
            assert!(said.chi_squared.unwrap().1 < 0.001, "{said:?}");
        }
    }

    /// Against the definition: n = 3 ranks, L = 1 draw, counts below 1 are Binomial(3, 1/2).
    #[test]
    fn the_smallest_case_is_that_of_the_binomial_distribution() {
        let test = RankTest::new(3, 1, 1);
        let expected = [0.25, 1.0, 1.0, 0.25];
        for (tail, expected) in test.tails.iter().zip(expected) {
            assert!((tail - expected).abs() < 1e-12, "{:?}", test.tails);
        }
        // All on one side: 2 of 8 equally likely cases.
        assert!((test.of(&[0, 0, 0]).p_ecdf - 0.25).abs() < 0.05);
        assert!((test.of(&[0, 1, 0]).p_ecdf - 1.0).abs() < 1e-12);
    }
}
