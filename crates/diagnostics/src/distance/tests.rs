//! Numbers of SciPy, and normal posteriors whose distances have closed forms.

use serde::Deserialize;
use statrs::function::erf::erf;

use super::*;
use crate::kolmogorov::distance_between;
use crate::testing::normals;

#[derive(Deserialize)]
struct Case {
    name: String,
    one: Vec<Vec<f64>>,
    one_weights: Vec<f64>,
    other: Vec<Vec<f64>>,
    other_weights: Vec<f64>,
    ks: Vec<f64>,
    energy: f64,
    energy_share: f64,
    rosenblatt: f64,
    wasserstein: f64,
    wasserstein_means: f64,
    divergence: Option<[f64; 2]>,
}

fn list(rows: &[Vec<f64>]) -> DrawList {
    let mut list = DrawList::new(rows[0].len());
    rows.iter().for_each(|row| list.push(row));
    list
}

#[test]
fn distances_are_those_of_scipy() {
    let text = include_str!("../../../../tests/reference/distance.json");
    let cases: Vec<Case> = serde_json::from_str(text).unwrap();
    for case in cases {
        let near = |found: f64, expected: f64, what: &str| {
            let error = (found - expected).abs();
            assert!(error < 1e-9, "{} {what}: {found} for {expected}", case.name);
        };
        let (one, other) = (list(&case.one), list(&case.other));
        let columns: Vec<usize> = (0..one.width()).collect();
        let weights = [
            vec![case.one_weights.clone()],
            vec![case.other_weights.clone()],
        ];
        for (&j, expected) in columns.iter().zip(&case.ks) {
            let found = distance_between(
                (&one.column(j), &case.one_weights),
                (&other.column(j), &case.other_weights),
            );
            near(found.unwrap(), *expected, "Kolmogorov-Smirnov");
        }
        let clouds = [
            Cloud::of(&[&one], &weights[0], &columns).unwrap(),
            Cloud::of(&[&other], &weights[1], &columns).unwrap(),
        ];
        let apart = compare(&clouds[0], &clouds[1]).unwrap();
        assert_eq!(apart.dim, columns.len());
        assert_eq!(apart.paired, [case.one.len(), case.other.len()]);
        let found = apart.distances;
        near(found.energy, case.energy, "energy");
        near(found.energy_share, case.energy_share, "energy share");
        near(found.rosenblatt.unwrap(), case.rosenblatt, "Rosenblatt");
        near(found.wasserstein, case.wasserstein, "Wasserstein");
        near(found.wasserstein_means, case.wasserstein_means, "of means");
        if let Some([from, to]) = case.divergence {
            let divergence = found.divergence.unwrap();
            near(divergence[0], from, "divergence");
            near(divergence[1], to, "divergence back");
        }
    }
}

pub(super) fn cloud(chains: &[DrawList], weights: &[Vec<f64>]) -> Cloud {
    let lists: Vec<&DrawList> = chains.iter().collect();
    let columns: Vec<usize> = (0..chains[0].width()).collect();
    Cloud::of(&lists, weights, &columns).unwrap()
}

/// Mean over repeats and its standard error.
fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

fn assert_within(values: &[f64], expected: f64, errors: f64, what: &str) {
    let (mean, error) = mean_and_error(values);
    assert!(
        (mean - expected).abs() < errors * error,
        "{what}: {mean} ± {error} for {expected}"
    );
}

/// Distances between normals `shift` standard deviations apart of which one is `spread` times as wide, beside a column that is the
/// same in both.
fn repeated(seed: u64, draws: usize, shift: f64, spread: f64) -> Vec<Distances> {
    (0..16)
        .map(|k| {
            // Units that differ.
            let one = normals(seed + k, draws, &[(10.0, 3.0), (0.0, 0.1)]);
            let columns = [(10.0 + 3.0 * shift, 3.0 * spread), (0.0, 0.1)];
            let other = normals(seed + 100 + k, draws, &columns);
            let apart = compare(&cloud(&one, &[]), &cloud(&other, &[]));
            apart.unwrap().distances
        })
        .collect()
}

#[test]
fn the_divergence_of_normals_is_half_the_square_of_their_shift() {
    let found = repeated(100, 250, 0.5, 1.0);
    for way in [0, 1] {
        let values: Vec<f64> = found.iter().map(|it| it.divergence.unwrap()[way]).collect();
        let (mean, error) = mean_and_error(&values);
        // It falls short by up to a tenth at a thousand draws.
        assert!(
            mean < 0.125 + 4.0 * error && mean > 0.9 * 0.125 - 4.0 * error && error < 0.015,
            "{way}: {mean} ± {error}"
        );
    }
}

#[test]
fn the_wasserstein_distance_of_normals_is_that_of_means_and_roots_of_covariances() {
    let (shift, spread, draws) = (0.8_f64, 1.5_f64, 200);
    let found = repeated(300, draws, shift, spread);
    let squares: Vec<f64> = found.iter().map(|it| it.wasserstein.powi(2)).collect();
    let (mean, error) = mean_and_error(&squares);
    let expected = shift * shift + (spread - 1.0).powi(2);
    // Errors of two means and two standard deviations per column add their variances.
    let variance = spread * spread;
    let bias = 1.5 * (1.0 + variance + 2.0) / (4 * draws) as f64;
    assert!(
        (mean - bias - expected).abs() < 4.0 * error,
        "{mean} ± {error} for {expected} + {bias}"
    );
}

#[test]
fn the_energy_distance_of_normals_has_a_closed_form() {
    const DRAWS: usize = 125;
    let (shift, spread) = (0.5_f64, 2.0_f64);
    let found: Vec<f64> = (0..40)
        .map(|k| {
            let one = normals(300 + k, DRAWS, &[(1.0, 1.0)]);
            let other = normals(400 + k, DRAWS, &[(1.0 + shift, spread)]);
            // In the units that both were made in: the sd of the sample would add an error that is common to all pairs.
            let (one, other) = (cloud(&one, &[]), cloud(&other, &[]));
            energy(&one, &other).0
        })
        .collect();
    let sigma = (1.0 + spread * spread).sqrt();
    let pi = std::f64::consts::PI;
    let folded = sigma * (2.0 / pi).sqrt() * (-shift * shift / (2.0 * sigma * sigma)).exp()
        + shift * erf(shift / (sigma * std::f64::consts::SQRT_2));
    let within = (1.0 + spread) * 2.0 / pi.sqrt();
    // Draws are paired with themselves as well, at distance 0.
    let expected = 2.0 * folded - within * (1.0 - 1.0 / (4 * DRAWS) as f64);
    assert_within(&found, expected, 4.0, "energy");
}

#[test]
fn equal_draws_are_at_distance_zero_also_where_chains_stand_still() {
    let mut chains = normals(7, 300, &[(0.0, 1.0), (5.0, 2.0)]);
    // Every third draw is the one before, as of a sampler that rejects.
    for chain in &mut chains {
        let mut again = DrawList::new(2);
        for i in 0..chain.len() {
            let i = if i % 3 == 2 { i - 1 } else { i };
            again.push(&[chain.value(i, 0), chain.value(i, 1)]);
        }
        *chain = again;
    }
    let one = cloud(&chains, &[]);
    let apart = compare(&one, &one.clone()).unwrap();
    let found = apart.distances;
    assert_eq!((found.energy, found.divergence), (0.0, Some([0.0; 2])));
    assert!(found.wasserstein < 1e-6, "{found:?}");
    assert_eq!((found.sliced, found.rosenblatt), (Some(0.0), Some(0.0)));
    assert!(apart.halves.unwrap().energy > 0.0);
}

#[test]
fn runs_of_one_posterior_differ_as_their_halves_do_and_others_more() {
    let one = cloud(&normals(11, 500, &[(0.0, 1.0); 3]), &[]);
    let same = cloud(&normals(12, 500, &[(0.0, 1.0); 3]), &[]);
    let apart = compare(&one, &same).unwrap();
    let (found, halves) = (apart.distances, apart.halves.unwrap());
    assert_eq!((apart.dim, apart.paired), (3, [1000, 1000]));
    assert!(found.energy < halves.energy, "{apart:?}");
    assert!(found.wasserstein < halves.wasserstein, "{apart:?}");
    let other = cloud(
        &normals(13, 500, &[(0.5, 1.0), (0.0, 1.0), (0.0, 1.0)]),
        &[],
    );
    let apart = compare(&one, &other).unwrap();
    let (found, halves) = (apart.distances, apart.halves.unwrap());
    assert!(found.energy > 3.0 * halves.energy, "{apart:?}");
    assert!(found.wasserstein > 2.0 * halves.wasserstein, "{apart:?}");
    let divergence = [found, halves].map(|it| it.divergence.unwrap()[0]);
    assert!(divergence[0] > divergence[1], "{apart:?}");
}

#[test]
fn weights_turn_one_posterior_into_another() {
    // Draws of normal(0, 1) with the weights of normal(0.5, 1).
    let chains = normals(21, 1000, &[(0.0, 1.0), (0.0, 1.0)]);
    let weight = |chain: &DrawList| -> Vec<f64> {
        let x = chain.column(0).into_iter();
        x.map(|x| (0.5 * x - 0.125).exp()).collect()
    };
    let weights: Vec<Vec<f64>> = chains.iter().map(weight).collect();
    let plain = cloud(&normals(22, 1000, &[(0.5, 1.0), (0.0, 1.0)]), &[]);
    let with = compare(&plain, &cloud(&chains, &weights)).unwrap();
    let without = compare(&plain, &cloud(&chains, &[])).unwrap();
    let halves = with.halves.unwrap();
    assert!(with.distances.energy < halves.energy, "{with:?}");
    assert!(with.distances.wasserstein < halves.wasserstein, "{with:?}");
    let [near, far] = [&with, &without].map(|it| it.distances.divergence.unwrap()[0]);
    assert!(
        near.abs() < 0.06 && (far - 0.125).abs() < 0.06,
        "{near} {far}"
    );
    assert!((without.distances.wasserstein - 0.5).abs() < 0.08);
    // Signed weights have means and pairs, but no density.
    let mut signed = weights;
    signed[0][3] *= -1.0;
    let signed = compare(&plain, &cloud(&chains, &signed)).unwrap();
    assert_eq!(signed.distances.divergence, None);
    assert!(signed.distances.wasserstein.is_finite());
    let of_laws = (signed.distances.sliced, signed.distances.rosenblatt);
    assert_eq!(of_laws, (None, None));
}

#[test]
fn sums_of_others_and_constants_are_known_for_what_they_are() {
    // Shares that add up to 1 lie on a plane.
    let shares = |seed: u64| -> Vec<DrawList> {
        normals(seed, 300, &[(0.3, 0.05)])
            .iter()
            .map(|chain| {
                let rows = chain.column(0).into_iter().map(|x| vec![x, 1.0 - x]);
                list(&rows.collect::<Vec<_>>())
            })
            .collect()
    };
    let apart = compare(&cloud(&shares(1), &[]), &cloud(&shares(2), &[])).unwrap();
    let [from, to] = apart.distances.divergence.unwrap();
    assert!(from.abs() < 0.1 && to.abs() < 0.1, "{apart:?}");
    let still = &normals(1, 50, &[(1.0, 0.0)])[0];
    assert_eq!(
        Cloud::of(&[still], &[], &[0]).unwrap_err(),
        Missing::Constant
    );
    let lists = normals(1, 1, &[(0.0, 1.0)]);
    assert_eq!(
        Cloud::of(&[&lists[0]], &[], &[0]).unwrap_err(),
        Missing::TooFew
    );
    let broken = list(&[vec![1.0], vec![f64::NAN]]);
    assert_eq!(
        Cloud::of(&[&broken], &[], &[0]).unwrap_err(),
        Missing::NotFinite
    );
}
