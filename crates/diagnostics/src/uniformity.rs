//! Whether the rank statistics of simulation-based calibration are uniform.
//!
//! With parameters drawn from the prior and data simulated from them, the rank of the true value among L independent
//! posterior draws is uniform on 0…L if model, simulation and sampler agree (Talts, Betancourt, Simpson, Vehtari and Gelman
//! 2018). Two tests: Pearson's χ² on a histogram, and the largest departure of the empirical distribution function from
//! the binomial bands around it (Säilynoja, Bürkner and Vehtari 2022, doi 10.1007/s11222-022-10090-6), which also sees small
//! shifts. The p-value of the latter is exact for any number of draws, however small it is, so that it can be corrected for
//! any number of quantities; the same sum says how large an error would have been found.

use statrs::distribution::{ChiSquared, ContinuousCDF as _, Normal};
use statrs::function::factorial::{ln_binomial, ln_factorial};

/// Most bars of a histogram.
const MOST_BINS: usize = 20;
/// Relative difference of equal tail probabilities.
const ROUNDING: f64 = 1e-9;
/// Ranks that a bar of the χ² test is expected to have at least.
const EXPECTED: usize = 5;
/// Chance with which an error must be found to count as one that would have shown.
const SURE: f64 = 0.95;
/// Chances of counts below this are left out where a chance is wanted to some digits only.
const NEGLIGIBLE: f64 = 1e-20;
/// Halvings of an interval: to a millionth of it.
const HALVINGS: usize = 20;
/// The smallest ratio of standard deviations and the largest shift that errors are looked for at.
const NARROWEST: f64 = 0.02;
const FARTHEST: f64 = 5.0;

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

/// The smallest errors of a normal posterior that the test would find in one quantity, with a chance of 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resolution {
    /// Standard deviation over the right one: posteriors as narrow as this are found.
    pub width: f64,
    /// Shift of the mean, in standard deviations.
    pub shift: f64,
}

/// The tests for n ranks from 0 to L.
pub struct RankTest {
    num_ranks: usize,
    num_draws: usize,
    num_bins: usize,
    /// L × (n + 1): twice the smaller tail probability of a count of ranks below k = 1…L.
    tails: Vec<f64>,
    /// ln 0! … ln n!
    ln_factorials: Vec<f64>,
}

impl RankTest {
    /// For `num_ranks` ≥ 1 ranks among `num_draws` ≥ 1 draws.
    pub fn new(num_ranks: usize, num_draws: usize) -> Self {
        let n = num_ranks as u64;
        let mut tails = Vec::with_capacity(num_draws * (num_ranks + 1));
        for k in 1..=num_draws {
            let z = k as f64 / (num_draws + 1) as f64;
            let pmf: Vec<f64> = (0..=n)
                .map(|r| {
                    (ln_binomial(n, r) + r as f64 * z.ln() + (n - r) as f64 * (-z).ln_1p()).exp()
                })
                .collect();
            // Each tail is summed from its own end, so that the smallest are as precise as the others.
            let mut at_least = pmf.clone();
            for r in (0..num_ranks).rev() {
                at_least[r] += at_least[r + 1];
            }
            let mut at_most = 0.0;
            for (p, at_least) in pmf.into_iter().zip(at_least) {
                at_most += p;
                tails.push((2.0 * at_least.min(at_most)).clamp(0.0, 1.0));
            }
        }
        Self {
            num_ranks,
            num_draws,
            num_bins: num_bins(num_ranks, num_draws),
            tails,
            ln_factorials: (0..=n).map(ln_factorial).collect(),
        }
    }

    /// The chance that the smallest tail probability of ranks, which have the `chances` of 0…L each, is at most
    /// `threshold`. Counts of cells are independent Poisson numbers given their sum, so that one sum over cells holds all
    /// paths of the distribution function; only paths that leave the bands are added up, so that nothing cancels. Counts of
    /// one cell that are less likely than `least` are left out.
    fn chance_of(&self, threshold: f64, chances: &[f64], least: f64) -> f64 {
        let n = self.num_ranks;
        let poisson = |count: usize, mean: f64| match (count, mean > 0.0) {
            (0, false) => 1.0,
            (_, false) => 0.0,
            _ => (count as f64 * mean.ln() - mean - self.ln_factorials[count]).exp(),
        };
        let mut within = vec![0.0; n + 1];
        let mut next = vec![0.0; n + 1];
        let (mut low, mut high) = (0, 0);
        within[0] = 1.0;
        let (mut outside, mut left) = (0.0, 1.0);
        for (chance, tails) in chances.iter().zip(self.tails.chunks_exact(n + 1)) {
            left -= chance;
            let mean = n as f64 * chance;
            let step: Vec<f64> = (0..=n)
                .map(|count| (count, poisson(count, mean)))
                .take_while(|&(count, p)| p > least || (count as f64) < mean)
                .map(|(_, p)| p)
                .collect();
            let rest: Vec<f64> = (tails.iter().enumerate())
                .map(|(below, &tail)| match tail > threshold {
                    true => 0.0,
                    false => poisson(n - below, n as f64 * left),
                })
                .collect();
            next.fill(0.0);
            for below in low..=high {
                let here = within[below];
                if here == 0.0 {
                    continue;
                }
                for (more, p) in step.iter().enumerate().take(n + 1 - below) {
                    let after = below + more;
                    if tails[after] > threshold {
                        next[after] += here * p;
                    } else {
                        outside += here * p * rest[after];
                    }
                }
            }
            std::mem::swap(&mut within, &mut next);
            let inside = |count: &usize| within[*count] > 0.0;
            let Some(first) = (0..=n).find(inside) else {
                break;
            };
            (low, high) = (first, (0..=n).rev().find(inside).unwrap_or(first));
        }
        (outside / poisson(n, n as f64)).clamp(f64::MIN_POSITIVE, 1.0)
    }

    /// The chance that uniform ranks have a statistic at most this.
    fn p_value(&self, statistic: f64) -> f64 {
        let values = self.num_draws + 1;
        let even = vec![1.0 / values as f64; values];
        // The two tails of a symmetric case differ by rounding only, and are equally extreme.
        self.chance_of(statistic * (1.0 + ROUNDING), &even, 0.0)
    }

    /// The smallest errors that a test at `level` would find with a chance of 95 %; `None` if there are too few ranks to
    /// find even the largest.
    pub fn resolution(&self, level: f64) -> Option<Resolution> {
        // Between a bound on the p-value, the sum over all bands, and everything.
        let (mut low, mut high) = ((level / self.num_draws as f64).ln(), 0.0);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if self.p_value(f64::exp(middle)) <= level {
                low = middle;
            } else {
                high = middle;
            }
        }
        let critical = low.exp();
        let is_found = |width: f64, shift: f64| {
            let chances = rank_chances(self.num_draws, width, shift);
            self.chance_of(critical, &chances, NEGLIGIBLE) >= SURE
        };
        let smallest = |found: f64, right: f64, is_found: &dyn Fn(f64) -> bool| {
            let (mut found, mut missed) = (found, right);
            if !is_found(found) {
                return None;
            }
            for _ in 0..HALVINGS / 2 {
                let middle = 0.5 * (found + missed);
                if is_found(middle) {
                    found = middle;
                } else {
                    missed = middle;
                }
            }
            Some(found)
        };
        Some(Resolution {
            width: smallest(NARROWEST, 1.0, &|width| is_found(width, 0.0))?,
            shift: smallest(FARTHEST, 0.0, &|shift| is_found(1.0, shift))?,
        })
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
        Uniformity {
            histogram,
            chi_squared,
            p_ecdf: self.p_value(self.statistic(&counts)),
        }
    }
}

/// Chances of the ranks 0…L of a true value among `num_draws` draws of a normal posterior whose standard deviation is
/// `width` times the right one and whose mean is off by `shift` right standard deviations.
fn rank_chances(num_draws: usize, width: f64, shift: f64) -> Vec<f64> {
    /// Nodes of the trapezoidal rule, to either side: its error is below 1e-12 for anything this smooth.
    const NODES: i32 = 200;
    const STEP: f64 = 0.04;
    let normal = Normal::standard();
    let draws = num_draws as u64;
    let mut chances = vec![0.0; num_draws + 1];
    // 0 ln 0 = 0
    let power = |count: u64, p: f64| match count {
        0 => 0.0,
        _ => count as f64 * p.ln(),
    };
    for node in -NODES..=NODES {
        let z = STEP * f64::from(node);
        let weight = (-0.5 * z * z).exp();
        let at = (z - shift) / width;
        let (below, above) = (normal.cdf(at), normal.cdf(-at));
        for (rank, chance) in (0..=draws).zip(&mut chances) {
            let ln = ln_binomial(draws, rank) + power(rank, below) + power(draws - rank, above);
            *chance += weight * ln.exp();
        }
    }
    let total: f64 = chances.iter().sum();
    for chance in &mut chances {
        *chance /= total;
    }
    chances
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
    use rand::RngExt as _;
    use rand_distr::StandardNormal;

    use super::*;
    use ergodic_base::{Purpose, stream};

    fn uniform(seed: u64, n: usize, draws: u32) -> Vec<u32> {
        let mut rng = stream(seed, 1, Purpose::Data);
        (0..n).map(|_| rng.random_range(0..=draws)).collect()
    }

    #[test]
    fn p_values_of_uniform_ranks_are_uniform() {
        let test = RankTest::new(60, 19);
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
        let test = RankTest::new(100, 99);
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
        let test = RankTest::new(3, 1);
        let expected = [0.25, 1.0, 1.0, 0.25];
        for (tail, expected) in test.tails.iter().zip(expected) {
            assert!((tail - expected).abs() < 1e-12, "{:?}", test.tails);
        }
        // All on one side: 2 of 8 equally likely cases.
        assert!((test.of(&[0, 0, 0]).p_ecdf - 0.25).abs() < 1e-12);
        assert!((test.of(&[0, 1, 0]).p_ecdf - 1.0).abs() < 1e-12);
    }

    /// Against all 3⁴ equally likely sets of n = 4 ranks among L = 2 draws.
    #[test]
    fn p_values_are_those_of_counting_all_cases() {
        let test = RankTest::new(4, 2);
        let sets: Vec<[u32; 4]> = (0..81_u32)
            .map(|set| [set % 3, set / 3 % 3, set / 9 % 3, set / 27])
            .collect();
        let statistic = |ranks: &[u32; 4]| {
            let mut counts = vec![0; 3];
            for &rank in ranks {
                counts[rank as usize] += 1;
            }
            test.statistic(&counts)
        };
        for set in &sets {
            let limit = statistic(set) * (1.0 + 1e-9);
            let as_extreme = sets.iter().filter(|it| statistic(it) <= limit).count();
            let expected = as_extreme as f64 / 81.0;
            assert!((test.of(set).p_ecdf - expected).abs() < 1e-12, "{set:?}");
        }
    }

    /// Ranks that are all the same have the chance of two sets of (L + 1)ⁿ, far below what could be simulated.
    #[test]
    fn p_values_have_no_floor() {
        let test = RankTest::new(100, 99);
        for rank in [0, 99] {
            let p = test.of(&[rank; 100]).p_ecdf;
            assert!((p / 2e-200 - 1.0).abs() < 1e-6, "{p:e}");
        }
        assert!(RankTest::new(1000, 99).of(&[0; 1000]).p_ecdf < 1e-300);
    }

    /// Ranks of a normal posterior that is narrow or shifted by as much as the resolution says are found as often as it
    /// says, and those of one that is half as wrong are not.
    #[test]
    fn errors_of_the_size_of_the_resolution_are_found_nineteen_times_of_twenty() {
        const SETS: u64 = 400;
        let (ranks, draws, level) = (100, 99, 0.01 / 3.0);
        let test = RankTest::new(ranks, draws);
        let resolution = test.resolution(level).unwrap();
        let found = |width: f64, shift: f64| {
            let is_found = |seed: &u64| {
                let mut rng = stream(*seed, 2, Purpose::Data);
                let set: Vec<u32> = (0..ranks)
                    .map(|_| {
                        let truth: f64 = rng.sample(StandardNormal);
                        let below = (0..draws).filter(|_| {
                            shift + width * rng.sample::<f64, _>(StandardNormal) < truth
                        });
                        below.count() as u32
                    })
                    .collect();
                test.of(&set).p_ecdf <= level
            };
            (0..SETS).filter(is_found).count()
        };
        // 380 are expected, with a standard deviation of 4.4.
        for (width, shift) in [(resolution.width, 0.0), (1.0, resolution.shift)] {
            let found = found(width, shift);
            assert!((362..=398).contains(&found), "{resolution:?}: {found}");
        }
        assert!(found(0.5 + 0.5 * resolution.width, 0.0) < 200);
        assert!(found(1.0, 0.5 * resolution.shift) < 200);
    }

    #[test]
    fn more_simulations_find_smaller_errors_and_a_handful_finds_none() {
        let width = |ranks, draws, quantities: f64| {
            let found = RankTest::new(ranks, draws).resolution(0.01 / quantities);
            found.map(|found| found.width)
        };
        let (few, many) = (width(100, 99, 3.0).unwrap(), width(1000, 99, 3.0).unwrap());
        assert!((0.5..0.7).contains(&few), "{few}");
        assert!((0.8..0.9).contains(&many), "{many}");
        assert!(width(100, 99, 17.0).unwrap() < few);
        assert_eq!(width(2, 9, 17.0), None);
    }
}
