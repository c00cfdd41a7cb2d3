//! Every method on normal subposteriors, whose product is known.

use super::*;
use crate::samplers::testing::{mean, sd};
use ergodic_base::{Purpose, stream};

const DIM: usize = 2;
/// Draws of each shard.
const DRAWS: usize = 2000;
/// Times that draws are made and combined anew.
const TIMES: u64 = 25;

/// Means and covariances of three shards that overlap, with unequal shapes.
const SHARDS: [([f64; 2], [f64; 4]); 3] = [
    ([0.4, -0.3], [1.0, 0.5, 0.5, 2.0]),
    ([-0.5, 0.2], [1.5, -0.4, -0.4, 0.8]),
    ([0.1, 0.3], [0.9, 0.0, 0.0, 1.2]),
];

/// A method with default settings.
pub(super) fn combination(method: Combine) -> Combination {
    Combination {
        method,
        bandwidth: 1.0,
        sweeps: 10,
        accept: 0.1,
    }
}

/// Independent draws of every shard.
fn draws(rng: &mut ChainRng, count: usize) -> Vec<Vec<f64>> {
    let of_shard = |(mean, covariance): &([f64; 2], [f64; 4])| {
        let factor = Cholesky::of(covariance, DIM).unwrap();
        let (mut z, mut draw) = ([0.0; DIM], [0.0; DIM]);
        let mut draws = Vec::new();
        for _ in 0..count {
            fill_with_normals(rng, &mut z);
            factor.lower_mul(&z, &mut draw);
            axpy(1.0, mean, &mut draw);
            draws.extend(draw);
        }
        draws
    };
    SHARDS.iter().map(of_shard).collect()
}

/// Mean and covariance of the product of normal densities with these covariances and the means of the shards.
fn product(covariances: &[Vec<f64>]) -> ([f64; 2], Vec<f64>) {
    let (mut precision, mut mean) = (vec![0.0; 4], [0.0; DIM]);
    for ((own, _), covariance) in SHARDS.iter().zip(covariances) {
        let inverse = Cholesky::of(covariance, DIM).unwrap().inverse();
        axpy(1.0, &inverse, &mut precision);
        add_product(&inverse, own, &mut mean);
    }
    let factor = Cholesky::of(&precision, DIM).unwrap();
    factor.solve(&mut mean);
    (mean, factor.inverse())
}

/// Mean (2) and covariance (3 entries) of what each of many repetitions gives, one list per number.
fn found(method: Combine) -> Vec<Vec<f64>> {
    let mut combiner = Combiner::new(&combination(method), SHARDS.len(), DIM, DRAWS);
    let mut numbers = vec![Vec::new(); 5];
    for time in 0..TIMES {
        let mut rng = stream(time, 0, Purpose::Data);
        let draws = draws(&mut rng, DRAWS);
        let mut out = vec![0.0; DRAWS * DIM];
        let combined = combiner.combine(|s| &draws[s], &mut rng, &mut out).unwrap();
        assert!((0.99..1.02).contains(&combined.rhat), "{combined:?}");
        let mut moments = Moments::empty(DIM);
        moments.estimate(&out).unwrap();
        let [a, b, _, d] = moments.covariance[..] else {
            panic!("two dimensions");
        };
        let all = [moments.mean[0], moments.mean[1], a, b, d];
        for (list, number) in numbers.iter_mut().zip(all) {
            list.push(number);
        }
    }
    numbers
}

/// Within four standard errors of the mean over repetitions, which see the error of the draws of shards too.
fn assert_found(method: Combine, (centre, covariance): &([f64; 2], Vec<f64>)) {
    let expected = [
        centre[0],
        centre[1],
        covariance[0],
        covariance[1],
        covariance[3],
    ];
    for (k, (numbers, expected)) in found(method).iter().zip(expected).enumerate() {
        let (found, mcse) = (mean(numbers), sd(numbers) / (TIMES as f64).sqrt());
        let what = format!(
            "{} {k}: {found} against {expected}, mcse {mcse}",
            method.word()
        );
        assert!((found - expected).abs() < 4.0 * mcse, "{what}");
        assert!(mcse < 0.02, "{what}");
    }
}

/// The covariances of the shards, plus `share` of their average.
fn widened(share: f64) -> Vec<Vec<f64>> {
    let average = |k: usize| SHARDS.iter().map(|it| it.1[k]).sum::<f64>() / SHARDS.len() as f64;
    let one = |(_, covariance): &([f64; 2], [f64; 4])| {
        let entries = covariance.iter().enumerate();
        entries.map(|(k, v)| v + share * average(k)).collect()
    };
    SHARDS.iter().map(one).collect()
}

#[test]
fn rules_for_normal_densities_give_their_product() {
    for method in [Combine::Consensus, Combine::Normal, Combine::Weierstrass] {
        assert_found(method, &product(&widened(0.0)));
    }
}

/// Where the normal approximation is right the correction is 1, however wide its kernels are.
#[test]
fn the_semiparametric_product_of_normal_densities_is_theirs() {
    assert_found(Combine::Semiparametric, &product(&widened(0.0)));
}

/// A kernel density estimate is wider than its density by the variance of the kernel: the product is that of the wider ones.
#[test]
fn the_nonparametric_product_is_that_of_densities_widened_by_the_kernel() {
    let variance = (4.0 / (4.0 * DRAWS as f64)).powf(2.0 / 6.0);
    assert!(variance > 0.05);
    assert_found(Combine::Nonparametric, &product(&widened(variance)));
}

/// A pair of draws that agree is worth more than a pair that does not: the product of two densities of two peaks each, of which
/// one is common, has one peak, which averages of all pairs do not see.
#[test]
fn only_draws_that_lie_close_together_are_combined() {
    let count = 1000;
    // In turns of `turn` draws, so that pairs of draws are of all four combinations of peaks.
    let peaks = |other: f64, turn: usize, rng: &mut ChainRng| -> Vec<f64> {
        let draws = (0..count).map(|i| {
            let z: f64 = StandardNormal.sample(rng);
            z + if (i / turn).is_multiple_of(2) {
                0.0
            } else {
                other
            }
        });
        draws.collect()
    };
    let mut rng = stream(1, 0, Purpose::Data);
    let draws = [peaks(-12.0, 1, &mut rng), peaks(12.0, 2, &mut rng)];
    for (method, low, high) in [
        (Combine::Weierstrass, 0.9, 1.0),
        // Its kernels are 1.6 wide, a quarter of the distance of both peaks, so that the product has the standard deviation 1.35.
        (Combine::Nonparametric, 0.96, 0.985),
        // A quarter of the pairs is of the common peak, and another one averages the others.
        (Combine::Consensus, 0.45, 0.55),
    ] {
        let mut combiner = Combiner::new(&combination(method), 2, 1, count);
        let mut out = vec![0.0; count];
        combiner.combine(|s| &draws[s], &mut rng, &mut out).unwrap();
        let near = out.iter().filter(|u| u.abs() < 3.0).count() as f64 / count as f64;
        assert!((low..=high).contains(&near), "{}: {near}", method.word());
    }
}

#[test]
fn draws_that_stand_still_are_refused() {
    for &word in Combine::WORDS {
        let method = Combine::from_word(word).unwrap();
        let mut combiner = Combiner::new(&combination(method), 2, DIM, 10);
        let mut rng = stream(1, 0, Purpose::Data);
        let still = vec![1.0; 10 * DIM];
        let mut out = vec![0.0; 10 * DIM];
        assert!(
            combiner.combine(|_| &still, &mut rng, &mut out).is_err(),
            "{word}"
        );
    }
}
