//! The Kolmogorov-Smirnov distance.

use super::Missing;

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

/// Largest distance between the distribution functions of two samples, each the weight of all draws up to a value. Draws come with
/// one weight each, or with none.
///
/// # Errors
/// A sample without draws, values that are not finite, weights that cancel or are not one per draw.
pub fn distance_between(one: (&[f64], &[f64]), other: (&[f64], &[f64])) -> Result<f64, Missing> {
    let [one, other] = [steps(one)?, steps(other)?];
    let (mut i, mut j, mut largest) = (0, 0, 0.0_f64);
    let (mut below, mut below_other) = (0.0, 0.0);
    while i < one.len() || j < other.len() {
        let next = |steps: &[(f64, f64)], at: usize| steps.get(at).map_or(f64::INFINITY, |it| it.0);
        let x = next(&one, i).min(next(&other, j));
        // Both functions after all draws at this value: ties are no distance.
        while i < one.len() && one[i].0 == x {
            below += one[i].1;
            i += 1;
        }
        while j < other.len() && other[j].0 == x {
            below_other += other[j].1;
            j += 1;
        }
        largest = largest.max((below - below_other).abs());
    }
    Ok(largest)
}

/// Values in ascending order, each with its share of the weight.
pub(crate) fn steps((values, weights): (&[f64], &[f64])) -> Result<Vec<(f64, f64)>, Missing> {
    if values.is_empty() {
        return Err(Missing::TooFew);
    }
    if values.iter().any(|x| !x.is_finite()) {
        return Err(Missing::NotFinite);
    }
    let total: f64 = match weights.len() {
        0 => values.len() as f64,
        count if count == values.len() => weights.iter().sum(),
        _ => return Err(Missing::Weights),
    };
    if !(total.is_finite() && total > 0.0) {
        return Err(Missing::Weights);
    }
    let weight = |i: usize| weights.get(i).copied().unwrap_or(1.0) / total;
    let mut steps: Vec<(f64, f64)> = values
        .iter()
        .enumerate()
        .map(|(i, &x)| (x, weight(i)))
        .collect();
    // Equal values keep their order, so that their weights are added in the same order always.
    steps.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok(steps)
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
    fn samples_are_as_far_apart_as_their_distribution_functions() {
        let far = |one: (&[f64], &[f64]), other| distance_between(one, other);
        // Ties are steps of both functions at once.
        assert_eq!(far((&[1.0, 2.0], &[]), (&[2.0, 1.0], &[])), Ok(0.0));
        assert_eq!(far((&[1.0, 2.0], &[]), (&[2.0, 3.0], &[])), Ok(0.5));
        assert_eq!(far((&[1.0, 2.0], &[1.0, 3.0]), (&[2.0], &[])), Ok(0.25));
        assert_eq!(far((&[], &[]), (&[2.0], &[])), Err(Missing::TooFew));
        assert_eq!(far((&[1.0], &[0.0]), (&[2.0], &[])), Err(Missing::Weights));
        let broken = far((&[f64::NAN], &[]), (&[2.0], &[]));
        assert_eq!(broken, Err(Missing::NotFinite));
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
