//! Sums, means and variances of slices.

/// Running mean and variance of a few numbers (half-chain means).
#[derive(Default)]
pub(super) struct Moments {
    pub count: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    pub fn add(&mut self, x: f64) {
        self.count += 1.0;
        let before = x - self.mean;
        self.mean += before / self.count;
        self.squares += before * (x - self.mean);
    }

    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// With divisor count - 1.
    pub fn variance(&self) -> f64 {
        self.squares / (self.count - 1.0)
    }
}

/// Mean, and variance with divisor n; a slice that stands still has variance zero exactly.
pub(super) fn mean_and_variance(x: &[f64]) -> (f64, f64) {
    if x.iter().all(|&v| v == x[0]) {
        return (x[0], 0.0);
    }
    let mean = mean_of(x);
    (mean, sum(x, |v| (v - mean) * (v - mean)) / x.len() as f64)
}

/// Sum of f(x) in eight interleaved parts: quicker and more exact than one after the other.
pub(super) fn sum(x: &[f64], f: impl Fn(f64) -> f64) -> f64 {
    let mut parts = [0.0; 8];
    let blocks = x.chunks_exact(8);
    let rest = blocks.remainder();
    for block in blocks {
        for (part, &x) in parts.iter_mut().zip(block) {
            *part += f(x);
        }
    }
    for (part, &x) in parts.iter_mut().zip(rest) {
        *part += f(x);
    }
    parts.iter().sum()
}

/// The smallest and the largest; NaN counts as neither.
pub(super) fn range(x: &[f64]) -> [f64; 2] {
    // Eight interleaved parts, as in [`sum`].
    let (mut least, mut greatest) = ([f64::INFINITY; 8], [f64::NEG_INFINITY; 8]);
    let (blocks, rest) = x.as_chunks::<8>();
    let mut last = [f64::NAN; 8];
    last[..rest.len()].copy_from_slice(rest);
    for block in blocks.iter().chain([&last]) {
        for k in 0..8 {
            let x = block[k];
            least[k] = if x < least[k] { x } else { least[k] };
            greatest[k] = if x > greatest[k] { x } else { greatest[k] };
        }
    }
    [
        least.into_iter().fold(f64::INFINITY, f64::min),
        greatest.into_iter().fold(f64::NEG_INFINITY, f64::max),
    ]
}

/// Mean, with a second pass for draws that are far from zero compared with their spread.
pub(super) fn mean_of(x: &[f64]) -> f64 {
    let n = x.len() as f64;
    let first = sum(x, |x| x) / n;
    first + sum(x, |x| x - first) / n
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_far_from_zero_keep_their_digits() {
        let x: Vec<f64> = (0..21).map(|i| 1e9 + f64::from(i % 3)).collect();
        let (mean, variance) = mean_and_variance(&x);
        assert_eq!(mean, 1e9 + 1.0);
        assert!((variance - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!(mean_and_variance(&[0.1; 7]), (0.1, 0.0));
    }

    #[test]
    fn the_range_is_that_of_all_numbers() {
        let x: Vec<f64> = (0..21).map(|i| f64::from(i * 8 % 21) - 3.0).collect();
        assert_eq!(range(&x), [-3.0, 17.0]);
        assert_eq!(range(&[f64::NAN, 2.0]), [2.0, 2.0]);
        assert_eq!(range(&[]), [f64::INFINITY, f64::NEG_INFINITY]);
    }

    #[test]
    fn running_moments_are_those_of_the_numbers() {
        let mut moments = Moments::default();
        for x in [1.0, 2.0, 4.0, 5.0] {
            moments.add(x);
        }
        assert!((moments.variance() - 10.0 / 3.0).abs() < 1e-14);
        assert_eq!(moments.count, 4.0);
    }
}
