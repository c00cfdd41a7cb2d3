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
}
