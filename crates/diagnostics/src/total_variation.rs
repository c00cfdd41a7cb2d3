//! The total variation distance of two samples of one quantity: the largest difference of the probabilities that both give to a set of
//! values, ½ ∫ |p − q|, from 0 for equal laws to 1 for laws that have no value in common.
//!
//! It is that of a histogram: values of both samples together, each sample with half of the weight, are cut into bins of equal weight
//! ([`bins`] of them), and the distance is ½ Σ |P_j − Q_j| over the shares of the samples in them. Bins of equal weight are the same for
//! every increasing function of the quantity, as the distance is.
//!
//! Two errors are left. Differences of both signs within a bin cancel, so that the distance falls short where the densities cross, by
//! about 1/k² for k bins. And it is positive by chance: for equal laws and n independent draws of each it is √((k − 1)/πn) on average, as
//! the k differences are half-normal then. What chance does is read off both samples, as in [`super::distance`]:
//! the first half of each chain against the second, and every second chain against the others.

use super::Missing;
use super::kolmogorov::steps;

/// The distance of two samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TotalVariation {
    /// The distance.
    pub value: f64,
    /// The largest distance between halves of one sample: what chance alone does, with half of the draws. `None` where no sample can be
    /// split.
    pub halves: Option<f64>,
}

/// Bins for samples of which the smaller is worth this many independent draws: their cube root, the rate of histograms of least squared
/// error (Scott 1979), made even, so that densities that cross in the middle cross between two bins.
pub fn bins(draws: f64) -> usize {
    2 * (0.5 * draws.max(1.0).cbrt()).ceil() as usize
}

/// Draws of chains of one length, and their weights, one vector per chain or none.
pub type Sample<'a> = (&'a [Vec<f64>], &'a [Vec<f64>]);

/// The distance of two samples, with `bins` bins for them and for their halves.
///
/// # Errors
/// A sample without draws, values that are not finite, weights that are negative, cancel or are not one per draw.
pub fn compare(one: Sample<'_>, other: Sample<'_>, bins: usize) -> Result<TotalVariation, Missing> {
    let all = |sample| part(sample, |_chain, _draw| true);
    let value = distance(&all(one), &all(other), bins)?;
    let ways: [fn(usize, f64) -> bool; 2] = [|_, draw| draw < 0.5, |chain, _| chain % 2 == 0];
    let mut halves: Option<f64> = None;
    for sample in [one, other] {
        for way in ways {
            let [half, rest] =
                [true, false].map(|side| part(sample, |chain, draw| way(chain, draw) == side));
            // One chain has no others.
            if let Ok(found) = distance(&half, &rest, bins) {
                halves = Some(halves.map_or(found, |so_far| so_far.max(found)));
            }
        }
    }
    Ok(TotalVariation { value, halves })
}

/// Values with their weights.
type Values = (Vec<f64>, Vec<f64>);

/// Draws that `takes` by chain and place within it, from 0 to 1.
fn part((chains, weights): Sample<'_>, takes: impl Fn(usize, f64) -> bool) -> Values {
    let (mut values, mut kept) = (Vec::new(), Vec::new());
    for (k, chain) in chains.iter().enumerate() {
        for (i, &value) in chain.iter().enumerate() {
            if takes(k, i as f64 / chain.len() as f64) {
                values.push(value);
                kept.extend(weights.get(k).and_then(|of_chain| of_chain.get(i)));
            }
        }
    }
    (values, kept)
}

fn distance(one: &Values, other: &Values, bins: usize) -> Result<f64, Missing> {
    // Shares of a sample with negative weights are no probabilities.
    if one.1.iter().chain(&other.1).any(|&weight| weight < 0.0) {
        return Err(Missing::Weights);
    }
    let [one, other] = [steps((&one.0, &one.1))?, steps((&other.0, &other.1))?];
    let side = |steps: Vec<(f64, f64)>, sign: f64| {
        (steps.into_iter()).map(move |(value, share)| (value, share, sign))
    };
    let mut pooled: Vec<(f64, f64, f64)> = side(one, 1.0).chain(side(other, -1.0)).collect();
    pooled.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut differences = vec![0.0; bins];
    let mut below = 0.0;
    // Equal values are in one bin, that of the middle of their weight.
    for same in pooled.chunk_by(|a, b| a.0 == b.0) {
        let share: f64 = same.iter().map(|it| it.1).sum();
        let middle = 0.5 * (below + 0.5 * share);
        let bin = ((middle * bins as f64) as usize).min(bins - 1);
        differences[bin] += same.iter().map(|it| it.2 * it.1).sum::<f64>();
        below += share;
    }
    Ok(0.5 * differences.iter().map(|it| it.abs()).sum::<f64>())
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{PI, SQRT_2};

    use rand_distr::{Distribution as _, StandardNormal};
    use statrs::function::erf::erfc;

    use super::*;
    use crate::quantiles::normal;
    use ergodic_base::{Purpose, stream};

    fn normal_cdf(x: f64) -> f64 {
        0.5 * erfc(-x / SQRT_2)
    }

    /// Quantiles of a normal distribution, evenly spaced in probability: a sample without noise.
    fn even(count: usize, mean: f64, sd: f64) -> Vec<Vec<f64>> {
        let quantile = |i: usize| mean + sd * normal((i as f64 + 0.5) / count as f64);
        vec![(0..count).map(quantile).collect()]
    }

    fn drawn(seed: u64, draws: usize, mean: f64) -> Vec<Vec<f64>> {
        let chain = |chain| {
            let mut rng = stream(seed, chain, Purpose::Diagnostics);
            let mut draw = || -> f64 { StandardNormal.sample(&mut rng) };
            (0..draws).map(|_| mean + draw()).collect()
        };
        (0..4).map(chain).collect()
    }

    fn between(one: &[Vec<f64>], other: &[Vec<f64>], bins: usize) -> TotalVariation {
        compare((one, &[]), (other, &[]), bins).unwrap()
    }

    #[test]
    fn normals_are_as_far_apart_as_their_closed_form() {
        let count = 20_000;
        let one = even(count, 0.0, 1.0);
        for shift in [0.0_f64, 0.1, 0.5, 1.0, 3.0] {
            let exact = 2.0 * normal_cdf(0.5 * shift) - 1.0;
            let found = between(&one, &even(count, shift, 1.0), bins(4_000.0)).value;
            assert!((found - exact).abs() < 1e-3, "{shift}: {found} {exact}");
        }
        // Densities of two widths cross at ±x, within two bins, where a little cancels.
        let width = 1.5_f64;
        let x = (2.0 * width.ln() * width * width / (width * width - 1.0)).sqrt();
        let exact = 2.0 * (normal_cdf(x) - normal_cdf(x / width));
        let found = between(&one, &even(count, 0.0, width), 50).value;
        assert!(
            found < exact + 1e-3 && found > exact - 2e-3,
            "{found} {exact}"
        );
    }

    #[test]
    fn draws_are_as_far_apart_as_their_laws_and_chance_is_what_halves_show() {
        let draws = 1_000;
        let (one, other) = (drawn(1, draws, 0.0), drawn(2, draws, 1.0));
        let bins = bins(4_000.0);
        assert_eq!(bins, 16);
        let exact = 2.0 * normal_cdf(0.5) - 1.0;
        let found = between(&one, &other, bins);
        // The share of a run above the middle has the variance p (1 − p)/n; bins on one side of it have one sign.
        let above = normal_cdf(0.5);
        let error = (2.0 * above * (1.0 - above) / 4_000.0_f64).sqrt();
        assert!(
            (found.value - exact).abs() < 4.0 * error,
            "{found:?} {exact}"
        );
        // Of equal laws the distance is what chance makes of it, on average over runs.
        let chance = |n: f64| ((bins as f64 - 1.0) / (PI * n)).sqrt();
        let runs: Vec<Vec<Vec<f64>>> = (10..50).map(|seed| drawn(seed, draws, 0.0)).collect();
        let pairs: Vec<TotalVariation> = (runs.chunks(2))
            .map(|pair| between(&pair[0], &pair[1], bins))
            .collect();
        let mean = pairs.iter().map(|it| it.value).sum::<f64>() / pairs.len() as f64;
        // Half-normal differences of 16 bins vary by √(1 − 2/π)/√(2/π)/4 of their mean, 0.19, and 20 pairs by a root of 20 less.
        let error = 0.19 * chance(4_000.0) / 20.0_f64.sqrt();
        assert!(
            (mean - chance(4_000.0)).abs() < 4.0 * error,
            "{mean} {}",
            chance(4_000.0)
        );
        // The largest of four halves is above their mean and not far above.
        let halves = pairs.iter().map(|it| it.halves.unwrap());
        let halves = halves.sum::<f64>() / pairs.len() as f64;
        assert!(
            halves > chance(2_000.0) && halves < 1.5 * chance(2_000.0),
            "{halves}"
        );
    }

    #[test]
    fn units_and_increasing_functions_change_nothing_and_values_that_repeat_are_whole() {
        let (one, other) = (drawn(3, 200, 0.0), drawn(4, 200, 0.4));
        let found = between(&one, &other, 10);
        let exp = |chains: &[Vec<f64>]| -> Vec<Vec<f64>> {
            let chains = chains.iter();
            chains
                .map(|it| it.iter().map(|x| (2.0 * x).exp()).collect())
                .collect()
        };
        assert_eq!(between(&exp(&one), &exp(&other), 10), found);
        assert_eq!(between(&one, &one, 10).value, 0.0);
        // Shares 1/2, 1/2 and 0 against 1/4, 1/4 and 1/2.
        let discrete = |values: &[f64]| vec![values.to_vec()];
        let found = between(&discrete(&[0.0, 1.0]), &discrete(&[0.0, 1.0, 2.0, 2.0]), 8);
        assert!((found.value - 0.5).abs() < 1e-15, "{found:?}");
        let apart = between(&discrete(&[1.0, 1.0]), &discrete(&[2.0, 2.0]), 2);
        assert_eq!((apart.value, apart.halves), (1.0, Some(0.0)));
    }

    /// A case of `tests/reference/total_variation.py`.
    #[derive(serde::Deserialize)]
    struct Case {
        name: String,
        one: Vec<Vec<f64>>,
        other: Vec<Vec<f64>>,
        weights: [Vec<Vec<f64>>; 2],
        bins: usize,
        value: f64,
        halves: f64,
    }

    #[test]
    fn distances_are_those_of_exact_fractions() {
        let text = include_str!("../../../tests/reference/total_variation.json");
        let cases: Vec<Case> = serde_json::from_str(text).unwrap();
        assert_eq!(cases.len(), 10);
        for case in &cases {
            let [one, other] = &case.weights;
            let found = compare((&case.one, one), (&case.other, other), case.bins).unwrap();
            for (found, expected) in [
                (found.value, case.value),
                (found.halves.unwrap(), case.halves),
            ] {
                let error = (found - expected).abs();
                assert!(error < 1e-12, "{}: {found} {expected}", case.name);
            }
        }
    }

    /// Weights that turn normal(0, 1) into normal(0.5, 1).
    #[test]
    fn weights_count_and_negative_ones_have_no_distance() {
        let one = even(20_000, 0.0, 1.0);
        let weights: Vec<Vec<f64>> = vec![one[0].iter().map(|x| (0.5 * x).exp()).collect()];
        let exact = 2.0 * normal_cdf(0.25) - 1.0;
        let found = compare((&one, &[]), (&one, &weights), 16).unwrap();
        assert!((found.value - exact).abs() < 1e-3, "{found:?} {exact}");
        let same = compare((&even(20_000, 0.5, 1.0), &[]), (&one, &weights), 16).unwrap();
        assert!(same.value < 1e-3, "{same:?}");
        let signed: Vec<Vec<f64>> = vec![vec![2.0, -1.0]];
        let two = vec![vec![1.0, 2.0]];
        assert_eq!(
            compare((&two, &signed), (&two, &[]), 2),
            Err(Missing::Weights)
        );
        assert_eq!(compare((&[], &[]), (&two, &[]), 2), Err(Missing::TooFew));
        let broken = vec![vec![f64::NAN, 2.0]];
        assert_eq!(
            compare((&broken, &[]), (&two, &[]), 2),
            Err(Missing::NotFinite)
        );
    }
}
