//! The Kolmogorov-Smirnov distance.

/// Largest distance between the empirical distribution of `probabilities` and the uniform one on (0, 1); sorts them. Of
/// values F(x) with the distribution function F of a target it is the distance of the x from the target; 1 without values
/// or if one is not a number.
pub fn distance_from_uniform(probabilities: &mut [f64]) -> f64 {
    if probabilities.is_empty() || probabilities.iter().any(|p| p.is_nan()) {
        return 1.0;
    }
    probabilities.sort_unstable_by(f64::total_cmp);
    let n = probabilities.len() as f64;
    let gaps = probabilities.iter().enumerate().map(|(i, &p)| {
        let (below, above) = (i as f64 / n, (i + 1) as f64 / n);
        (p - below).abs().max((above - p).abs())
    });
    gaps.fold(0.0, f64::max)
}

/// The chance that the distance of `count` independent uniform values from the uniform distribution is at least `distance`:
/// the limit 2 Σ (−1)^(k−1) exp(−2 k² x²) of Kolmogorov (1933) at x = (√n + 0.12 + 0.11/√n) D, a correction for small n by
/// Stephens (1970), which is good to two digits from n = 5 on.
pub fn p_value(distance: f64, count: usize) -> f64 {
    let root = (count as f64).sqrt();
    let x = (root + 0.12 + 0.11 / root) * distance;
    if x.is_nan() || x < CERTAIN {
        return 1.0;
    }
    let terms = (1..=TERMS).map(|k| {
        let sign = if k % 2 == 1 { 1.0 } else { -1.0 };
        sign * (-2.0 * f64::from(k * k) * x * x).exp()
    });
    (2.0 * terms.sum::<f64>()).clamp(0.0, 1.0)
}

/// Below this x the p-value is 1 to nine digits, and the sum converges slowly.
const CERTAIN: f64 = 0.25;
/// Terms of the sum: at the smallest x the next one is below 1e-21.
const TERMS: i32 = 19;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_of_small_samples() {
        assert_eq!(distance_from_uniform(&mut [0.5]), 0.5);
        assert!((distance_from_uniform(&mut [0.9, 0.8, 0.1]) - 7.0 / 15.0).abs() < 1e-15);
        assert_eq!(distance_from_uniform(&mut []), 1.0);
        assert_eq!(distance_from_uniform(&mut [0.2, f64::NAN]), 1.0);
    }

    #[test]
    fn p_values_are_those_of_tables() {
        // Critical values of D: n = 10, 20 and 40 (Massey 1951), and 1.3581 of the limit.
        for (count, critical) in [(10, 0.410), (20, 0.294), (40, 0.210), (100, 0.134)] {
            let p = p_value(critical, count);
            assert!((p - 0.05).abs() < 0.003, "{count}: {p}");
        }
        assert!((p_value(1.3581 / 1e4, 100_000_000) - 0.05).abs() < 1e-4);
        assert_eq!(p_value(0.01, 10), 1.0);
        assert!(p_value(0.9, 50) < 1e-20);
        assert!(p_value(f64::NAN, 5) == 1.0);
    }
}
