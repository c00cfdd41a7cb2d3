//! The last stochastic gradients of a chain and their mean, for a convergence criterion that costs O(D) a step.

/// A window of the last `len` gradients with their running sum. No allocation after [`Self::new`].
#[derive(Clone, Debug, PartialEq)]
pub struct GradWindow {
    dim: usize,
    len: usize,
    /// Gradients seen since the start.
    seen: u64,
    /// len×D; gradient number i stands in row i mod `len`.
    ring: Vec<f64>,
    sum: Vec<f64>,
}

impl GradWindow {
    /// An empty window for gradients of length `dim`; `len` is at least 1.
    pub fn new(dim: usize, len: usize) -> Self {
        let len = len.max(1);
        Self {
            dim,
            len,
            seen: 0,
            ring: vec![0.0; dim * len],
            sum: vec![0.0; dim],
        }
    }

    /// Adds a gradient of length D and drops the oldest one once the window is full.
    pub fn push(&mut self, grad: &[f64]) {
        let row = (self.seen % self.len as u64) as usize;
        let old = &mut self.ring[row * self.dim..(row + 1) * self.dim];
        // A value that is not finite leaves with its gradient, which no subtraction can do.
        let mut again = row + 1 == self.len;
        for ((sum, old), &new) in self.sum.iter_mut().zip(old).zip(grad) {
            again |= !old.is_finite();
            *sum += new - *old;
            *old = new;
        }
        self.seen += 1;
        if again {
            self.sum_again();
        }
    }

    /// Whether `len` gradients have been seen.
    pub fn is_full(&self) -> bool {
        self.seen >= self.len as u64
    }

    /// Gradients the window holds when full.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Writes |mean_j| / (b sqrt(variance_j)) for every component, so that the limit of the criterion is 1, and
    /// gives whether the window is full and no component exceeds it.
    ///
    /// `variance` is the variance of the mean over the window. A component that is
    /// zero throughout has ratio 0; one with a mean but no variance, or NaN, never passes.
    pub fn ratios(&self, variance: &[f64], b: f64, out: &mut [f64]) -> bool {
        let held = self.seen.min(self.len as u64).max(1) as f64;
        let mut passed = self.is_full();
        for ((out, &sum), &variance) in out.iter_mut().zip(&self.sum).zip(variance) {
            let mean = (sum / held).abs();
            *out = if mean == 0.0 {
                0.0
            } else {
                mean / (b * variance.sqrt())
            };
            // A ratio that is not a number is not within the limit.
            passed &= *out <= 1.0;
        }
        passed
    }

    /// Writes the mean of the gradients held to `out` (D).
    pub fn mean(&self, out: &mut [f64]) {
        let held = self.seen.min(self.len as u64).max(1) as f64;
        for (out, sum) in out.iter_mut().zip(&self.sum) {
            *out = sum / held;
        }
    }

    /// Ring, sum and number of gradients seen, to visit every number of a sampler's state: written back, they
    /// continue bit for bit.
    pub fn parts_mut(&mut self) -> (&mut [f64], &mut [f64], &mut u64) {
        (&mut self.ring, &mut self.sum, &mut self.seen)
    }

    /// Builds the sum from the stored gradients. Done once per turn of the ring, so that rounding errors do not pile up.
    fn sum_again(&mut self) {
        self.sum.fill(0.0);
        for grad in self.ring.chunks_exact(self.dim.max(1)) {
            for (sum, &g) in self.sum.iter_mut().zip(grad) {
                *sum += g;
            }
        }
    }
}

/// Variance of the mean of `len` consecutive gradients at stationarity, relative to that of independent ones.
///
/// For a Gaussian target with curvature H, gradient noise of variance V = vH (`noise` is v) and preconditioner
/// D = k/(2H), the chain is θ' = φθ + …, φ = 1 - k/2, with stationary variance 1/H, and
/// Cov(Y_i, Y_{i+j}) = (φ - kv/2) φ^(j-1) H: mostly negative. In a direction that is turned by t against another one
/// (`numerics::fisher_step`) φ = 1 − (k/2)(1 + it), k becomes k (1 + it), and the covariance is the real part.
pub fn variance_ratio(len: usize, k: f64, noise: f64, turn: f64) -> f64 {
    let n = len as f64;
    if turn == 0.0 {
        let phi = 1.0 - k / 2.0;
        // Σ (n − j) φ^(j−1) over the lags j from 1 to n − 1.
        let total = (n * (1.0 - phi) - (1.0 - phi.powf(n))) / (1.0 - phi).powi(2);
        return 1.0 + 2.0 / n * total * (phi - k * noise / 2.0) / (1.0 + noise);
    }
    let times = |a: [f64; 2], b: [f64; 2]| [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]];
    let phi = [1.0 - k / 2.0, -k / 2.0 * turn];
    // φ^(j−1) (φ − (1 − φ) v) at lag j.
    let mut power = [phi[0] - (1.0 - phi[0]) * noise, phi[1] + phi[1] * noise];
    let mut total = 0.0;
    for lag in 1..len {
        total += (len - lag) as f64 * power[0];
        power = times(power, phi);
    }
    1.0 + 2.0 / n * total / (1.0 + noise)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gradient(i: u32) -> [f64; 2] {
        [f64::from(i * i % 17) - 3.3, 1e6 + 0.1 * f64::from(i)]
    }

    #[test]
    fn the_mean_is_that_of_the_last_gradients() {
        let mut window = GradWindow::new(2, 5);
        let mut ratios = [0.0; 2];
        for i in 0..23 {
            assert_eq!(window.is_full(), i >= 5);
            window.push(&gradient(i));
            let first = i.saturating_sub(4);
            let count = f64::from(i + 1 - first);
            window.ratios(&[1.0, 4.0], 0.5, &mut ratios);
            for j in 0..2 {
                let mean = (first..=i).map(|i| gradient(i)[j]).sum::<f64>() / count;
                let expected = mean.abs() / (0.5 * [1.0, 2.0][j]);
                assert!((ratios[j] - expected).abs() <= 1e-9 * expected.max(1.0));
            }
        }
    }

    #[test]
    fn a_restored_window_continues() {
        let mut window = GradWindow::new(2, 4);
        for i in 0..6 {
            window.push(&gradient(i));
        }
        let mut restored = GradWindow::new(2, 4);
        let (ring, sum, seen) = window.parts_mut();
        let (own_ring, own_sum, own_seen) = restored.parts_mut();
        own_ring.copy_from_slice(ring);
        own_sum.copy_from_slice(sum);
        *own_seen = *seen;
        let (mut a, mut b) = ([0.0; 2], [0.0; 2]);
        for i in 6..14 {
            window.push(&gradient(i));
            restored.push(&gradient(i));
            window.ratios(&[1.0; 2], 1.0, &mut a);
            restored.ratios(&[1.0; 2], 1.0, &mut b);
            assert_eq!(a, b);
        }
    }

    #[test]
    fn an_incomplete_window_and_nan_do_not_pass() {
        let mut window = GradWindow::new(1, 2);
        let mut out = [0.0];
        window.push(&[0.0]);
        assert!(!window.ratios(&[1.0], 1.0, &mut out));
        window.push(&[0.5]);
        assert!(window.ratios(&[1.0], 1.0, &mut out));
        assert!(!window.ratios(&[0.0], 1.0, &mut out));
        window.push(&[f64::NAN]);
        assert!(!window.ratios(&[1.0], 1.0, &mut out));
        // The NaN leaves with its gradient.
        window.push(&[0.1]);
        window.push(&[0.1]);
        assert!(window.ratios(&[1.0], 1.0, &mut out));
    }
}
