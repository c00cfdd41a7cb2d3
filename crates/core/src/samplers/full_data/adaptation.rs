//! Warm-up of Hamiltonian samplers as in Stan: dual averaging of the step size, and the metric from windows of draws.
//!
//! References: Hoffman and Gelman (2014), The No-U-Turn Sampler, section 3.2 (dual averaging); Stan Reference Manual,
//! chapter "MCMC sampling", section "Automatic parameter tuning" (windows and regularisation).
//!
//! | iterations of 1000 | step size | metric |
//! |---|---|---|
//! | 0 to 74 | dual averaging | kept |
//! | 75 to 949 in windows of 25, 50, 100, 200, 500 | the same, started anew after each window | replaced at the end of each window |
//! | 950 to 999 | the same | kept |
//!
//! Afterwards the step size is the average that dual averaging recommends, and nothing changes any more. Warm-ups of
//! less than 150 iterations are divided 15 % : 75 % : 10 % with one window; below 20 the metric is kept.

use crate::samplers::StateVisitor;

const INIT_BUFFER: u64 = 75;
const TERM_BUFFER: u64 = 50;
const BASE_WINDOW: u64 = 25;
/// Below this many iterations of warm-up the metric is kept (Stan's limit): too few draws to learn it from.
const SHORTEST_WARMUP: u64 = 20;
/// Draws that the shrinkage target counts for (Stan's 5).
const SHRINKAGE_DRAWS: f64 = 5.0;
/// Stan's target is this times the identity.
const SHRINKAGE_SCALE: f64 = 1e-3;

/// Nesterov's dual averaging of log ε towards a target acceptance probability.
#[derive(Clone, Debug)]
pub struct DualAveraging {
    target: f64,
    /// log ε is drawn towards this: log of ten times the step size at the last restart.
    mu: f64,
    /// Averaged shortfall of acceptance.
    shortfall: f64,
    /// Averaged log ε.
    average: f64,
    count: u64,
}

impl DualAveraging {
    const GAMMA: f64 = 0.05;
    const T0: f64 = 10.0;
    const KAPPA: f64 = 0.75;
    /// The first trials start at ten times the step size and swing widely; their average can be so long that a chain
    /// never moves (Stan uses it all the same, after a warm-up of 25 iterations for instance). From here on they weigh
    /// less than 5 %.
    const SHORTEST: u64 = 10;

    /// Aims at acceptance probability `target`, starting from `step_size`.
    pub fn new(target: f64, step_size: f64) -> Self {
        let mut new = Self {
            target,
            mu: 0.0,
            shortfall: 0.0,
            average: 0.0,
            count: 0,
        };
        new.restart(step_size);
        new
    }

    /// Forgets everything and starts from `step_size`.
    pub fn restart(&mut self, step_size: f64) {
        self.mu = (10.0 * step_size).ln();
        self.shortfall = 0.0;
        self.average = 0.0;
        self.count = 0;
    }

    /// The next step size to try after a transition with mean acceptance probability `accept`.
    pub fn learn(&mut self, accept: f64) -> f64 {
        self.count += 1;
        let count = self.count as f64;
        let eta = 1.0 / (count + Self::T0);
        self.shortfall = (1.0 - eta) * self.shortfall + eta * (self.target - accept.min(1.0));
        let log_step = self.mu - self.shortfall * count.sqrt() / Self::GAMMA;
        let weight = count.powf(-Self::KAPPA);
        self.average = (1.0 - weight) * self.average + weight * log_step;
        log_step.exp()
    }

    /// The step size to keep: the average; where fewer than [`Self::SHORTEST`] transitions followed the last restart,
    /// half of the step size it started from, because the search for that one may end just beyond what is accepted.
    pub fn averaged(&self) -> f64 {
        if self.count < Self::SHORTEST {
            0.05 * self.mu.exp()
        } else {
            self.average.exp()
        }
    }

    /// Visits every number.
    pub fn visit(&mut self, visitor: &mut dyn StateVisitor) {
        visitor.scalar("dual_averaging_mu", &mut self.mu);
        visitor.scalar("dual_averaging_shortfall", &mut self.shortfall);
        visitor.scalar("dual_averaging_average", &mut self.average);
        visitor.counter("dual_averaging_count", &mut self.count);
    }
}

/// Which iterations of a warm-up the metric is learnt from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    /// First iteration of the first window.
    start: u64,
    /// Iteration after the last window.
    end: u64,
    /// Length of the first window; each later one is twice as long.
    base: u64,
}

impl Windows {
    /// Windows of a warm-up of `length` iterations, or of one without planned end; `None` if it is too short.
    pub fn of(length: Option<u64>) -> Option<Self> {
        let Some(length) = length else {
            return Some(Self {
                start: INIT_BUFFER,
                end: u64::MAX / 8,
                base: BASE_WINDOW,
            });
        };
        if length < SHORTEST_WARMUP {
            return None;
        }
        if length < INIT_BUFFER + BASE_WINDOW + TERM_BUFFER {
            // 15 %, 75 %, 10 %: one window.
            let (start, term) = (length * 15 / 100, length / 10);
            return Some(Self {
                start,
                end: length - term,
                base: length - term - start,
            });
        }
        Some(Self {
            start: INIT_BUFFER,
            end: length - TERM_BUFFER,
            base: BASE_WINDOW,
        })
    }

    /// Whether the draw of iteration `iter` of the warm-up counts.
    pub fn contains(&self, iter: u64) -> bool {
        (self.start..self.end).contains(&iter)
    }

    /// Whether a window ends with iteration `iter` of the warm-up. A window after which the next one would not fit
    /// is stretched to the end.
    pub fn ends_at(&self, iter: u64) -> bool {
        let last = self.end - 1;
        let mut size = self.base;
        let mut boundary = self.start + size - 1;
        while boundary < iter && boundary < last {
            size *= 2;
            boundary += size;
            if boundary != last && boundary + 2 * size >= self.end {
                boundary = last;
            }
        }
        boundary == iter
    }
}

/// Running covariance of draws, or variances only (Welford's recursion).
#[derive(Clone, Debug)]
pub struct RunningCovariance {
    count: u64,
    mean: Vec<f64>,
    /// Sums of squares, D; or of products, row-major D×D of which the lower triangle is kept.
    sums: Vec<f64>,
    deviation: Vec<f64>,
}

impl RunningCovariance {
    /// Memory for D dimensions.
    pub fn new(dim: usize, dense: bool) -> Self {
        Self {
            count: 0,
            mean: vec![0.0; dim],
            sums: vec![0.0; if dense { dim * dim } else { dim }],
            deviation: vec![0.0; dim],
        }
    }

    fn is_dense(&self) -> bool {
        self.sums.len() > self.mean.len()
    }

    /// Forgets all draws.
    pub fn restart(&mut self) {
        self.count = 0;
        self.mean.fill(0.0);
        self.sums.fill(0.0);
    }

    /// Adds a draw (D).
    pub fn add(&mut self, draw: &[f64]) {
        let dim = draw.len();
        self.count += 1;
        for j in 0..dim {
            self.deviation[j] = draw[j] - self.mean[j];
            self.mean[j] += self.deviation[j] / self.count as f64;
        }
        let dense = self.is_dense();
        for i in 0..dim {
            let after = draw[i] - self.mean[i];
            if dense {
                for j in 0..=i {
                    self.sums[i * dim + j] += after * self.deviation[j];
                }
            } else {
                self.sums[i] += after * self.deviation[i];
            }
        }
    }

    /// Writes the regularised covariance n/(n + n₀) S + n₀/(n + n₀) T (D×D), or its diagonal, into `out`; S is the
    /// sample covariance of the n draws.
    ///
    /// Without `start`, T = 0.001 I and n₀ = 5: Stan's rule. With `start`, the D×D covariance of the starting metric,
    /// T is that matrix: few draws then keep a guess of the right scale and correlation instead of losing it to 0.001
    /// times identity. For a full matrix n₀ = 5 + D, because D more draws are needed before the smallest eigenvalues
    /// of S mean anything.
    pub fn regularised(&self, start: Option<&[f64]>, out: &mut [f64]) {
        let dim = self.mean.len();
        let dense = self.is_dense();
        let mut prior_draws = SHRINKAGE_DRAWS;
        if dense && start.is_some() {
            prior_draws += dim as f64;
        }
        let count = self.count as f64;
        let weight = prior_draws / (count + prior_draws);
        let scale = (1.0 - weight) / (count - 1.0).max(1.0);
        let target = |i: usize, j: usize| match start {
            Some(covariance) => covariance[i * dim + j],
            None if i == j => SHRINKAGE_SCALE,
            None => 0.0,
        };
        for i in 0..dim {
            if !dense {
                out[i] = scale * self.sums[i] + weight * target(i, i);
                continue;
            }
            for j in 0..=i {
                let value = scale * self.sums[i * dim + j] + weight * target(i, j);
                out[i * dim + j] = value;
                out[j * dim + i] = value;
            }
        }
    }

    /// Visits every number.
    pub fn visit(&mut self, visitor: &mut dyn StateVisitor) {
        visitor.counter("window_draws", &mut self.count);
        visitor.slice("window_mean", &mut self.mean);
        visitor.slice("window_sums", &mut self.sums);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(length: u64) -> Vec<u64> {
        let windows = Windows::of(Some(length)).unwrap();
        (0..length).filter(|&i| windows.ends_at(i)).collect()
    }

    /// The boundaries that Stan prints for these lengths.
    #[test]
    fn windows_double_and_the_last_is_stretched() {
        assert_eq!(ends(1000), [99, 149, 249, 449, 949]);
        assert_eq!(ends(500), [99, 149, 249, 449]);
        assert_eq!(ends(300), [99, 149, 249]);
        assert_eq!(ends(150), [99]);
        assert_eq!(ends(149), [134]);
        assert_eq!(ends(20), [17]);
        assert_eq!(Windows::of(Some(19)), None);
        let open = Windows::of(None).unwrap();
        let found: Vec<u64> = (0..2000).filter(|&i| open.ends_at(i)).collect();
        assert_eq!(found, [99, 149, 249, 449, 849, 1649]);
        assert!(!open.contains(74) && open.contains(75) && open.contains(1_000_000));
        let short = Windows::of(Some(100)).unwrap();
        assert!(!short.contains(14) && short.contains(15));
        assert!(short.contains(89) && !short.contains(90));
    }

    #[test]
    fn dual_averaging_finds_the_step_with_the_target_acceptance() {
        // Acceptance falls as exp(-ε): the target 0.8 is reached at ε = -log 0.8.
        let mut averaging = DualAveraging::new(0.8, 3.0);
        assert!((averaging.averaged() - 1.5).abs() < 1e-12);
        let mut step: f64 = 3.0;
        for _ in 0..2000 {
            step = averaging.learn((-step).exp());
        }
        let expected = -(0.8_f64.ln());
        let found = averaging.averaged();
        assert!((found / expected - 1.0).abs() < 0.02, "{found} {expected}");
    }

    #[test]
    fn the_running_covariance_equals_two_passes() {
        let draws = [[1.0, 2.0], [0.5, -1.0], [3.0, 0.25], [-2.0, 4.0]];
        let mean = [0.625, 1.3125];
        let second = |i: usize, j: usize| {
            draws
                .iter()
                .map(|d| (d[i] - mean[i]) * (d[j] - mean[j]))
                .sum::<f64>()
                / 3.0
        };
        let (mut dense, mut diagonal) = (
            RunningCovariance::new(2, true),
            RunningCovariance::new(2, false),
        );
        for draw in &draws {
            dense.add(draw);
            diagonal.add(draw);
        }
        let mut out = [0.0; 4];
        dense.regularised(None, &mut out);
        for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let ridge = if i == j { 1e-3 * 5.0 / 9.0 } else { 0.0 };
            assert!((out[2 * i + j] - (4.0 / 9.0 * second(i, j) + ridge)).abs() < 1e-14);
        }
        let start = [4.0, 1.0, 1.0, 9.0];
        dense.regularised(Some(&start), &mut out);
        for (i, j) in [(0, 0), (0, 1), (1, 1)] {
            let expected = 4.0 / 11.0 * second(i, j) + 7.0 / 11.0 * start[2 * i + j];
            assert!((out[2 * i + j] - expected).abs() < 1e-14);
        }
        let mut variances = [0.0; 2];
        diagonal.regularised(Some(&start), &mut variances);
        for j in 0..2 {
            let expected = 4.0 / 9.0 * second(j, j) + 5.0 / 9.0 * start[3 * j];
            assert!((variances[j] - expected).abs() < 1e-14);
        }
    }
}
