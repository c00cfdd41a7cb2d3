use proptest::prelude::*;
use rand_distr::StandardNormal;
use statrs::function::erf::erfc;

use super::super::density::{density, histogram};
use super::super::findings::{VerdictInputs, judge};
use super::super::mcse::{pooled_mcse_mean, pooled_mcse_sd};
use super::super::pooled::{Pooled, View};
use super::super::ranks::rank_counts;
use super::super::rhat::pooled_rhat;
use super::super::running::Running;
use super::super::verdict::Verdict;
use super::super::{SummaryRow, bias, summarise};
use super::*;
use ergodic_base::draws::DrawList;
use ergodic_base::{Purpose, stream};

/// Chains of draws and chains of weights.
type Weighted = (Vec<Vec<f64>>, Vec<Vec<f64>>);

/// Draws x ~ N(0, 1.5²), autocorrelated by `phi`, weighted towards N(1/2, 1): mean 1/2, sd 1.
fn importance(seed: u64, chains: usize, draws: usize, phi: f64) -> Weighted {
    let weight = |x: f64| (-0.5 * (x - 0.5).powi(2) + 0.5 * (x / 1.5).powi(2)).exp();
    let chain = |chain| {
        let mut rng = stream(seed, chain, Purpose::Diagnostics);
        let mut normal = || rng.sample::<f64, _>(StandardNormal);
        let mut x = normal();
        let mut next = || {
            x = phi * x + (1.0 - phi * phi).sqrt() * normal();
            1.5 * x
        };
        (0..draws).map(|_| next()).collect::<Vec<f64>>()
    };
    let x: Vec<Vec<f64>> = (0..chains).map(chain).collect();
    let w = x.iter().map(|x| x.iter().map(|&x| weight(x)).collect());
    let w = w.collect();
    (x, w)
}

/// Signed draws of the density 1.5 φ(x) - 0.5 φ((x - 1) / 0.8) / 0.8: mean -1/2, variance 0.43. Three of four draws have
/// the sign +, so that the plain mean is 1/4.
fn signed(seed: u64, chains: usize, draws: usize) -> Weighted {
    let chain = |chain| {
        let mut rng = stream(seed, chain, Purpose::Diagnostics);
        let mut draw = || {
            let z: f64 = rng.sample(StandardNormal);
            if rng.random::<f64>() < 0.75 {
                (z, 1.0)
            } else {
                (1.0 + 0.8 * z, -1.0)
            }
        };
        (0..draws).map(|_| draw()).unzip()
    };
    (0..chains).map(chain).unzip()
}

fn signed_cdf(x: f64) -> f64 {
    let normal = |x: f64| 0.5 * erfc(-x / std::f64::consts::SQRT_2);
    1.5 * normal(x) - 0.5 * normal((x - 1.0) / 0.8)
}

fn slices(chains: &[Vec<f64>]) -> Vec<&[f64]> {
    chains.iter().map(Vec::as_slice).collect()
}

fn pooled((x, w): &Weighted) -> Pooled {
    Pooled::weighted(&slices(x), &slices(w))
}

fn lists(chains: &[Vec<f64>]) -> Vec<DrawList> {
    let list = |chain: &Vec<f64>| {
        let mut list = DrawList::new(1);
        chain.iter().for_each(|&x| list.push(&[x]));
        list
    };
    chains.iter().map(list).collect()
}

fn summary(x: &[Vec<f64>], w: &[Vec<f64>]) -> SummaryRow {
    let lists = lists(x);
    let lists: Vec<&DrawList> = lists.iter().collect();
    summarise(&["x".into()], &lists, w, 2.0).remove(0)
}

#[test]
fn independent_weighted_draws_have_the_moments_and_errors_of_their_target() {
    let sample = importance(1, 4, 10_000, 0.0);
    let row = summary(&sample.0, &sample.1);
    // E[v² (x - m)²] for this target and proposal, by quadrature.
    let squared = quadrature(|x| {
        let (target, proposal) = (normal(x, 0.5, 1.0), normal(x, 0.0, 1.5));
        target * target / proposal * (x - 0.5).powi(2)
    });
    let mcse = (squared / 40_000.0).sqrt();
    assert!((row.mcse_mean.unwrap() / mcse - 1.0).abs() < 0.1, "{row:?}");
    assert!((row.mean.unwrap() - 0.5).abs() < 4.0 * mcse);
    assert!((row.sd.unwrap() - 1.0).abs() < 0.02);
    assert!((row.mad.unwrap() - 1.0).abs() < 0.03);
    for (quantile, z) in [(row.q5, -1.645), (row.q50, 0.0), (row.q95, 1.645)] {
        assert!((quantile.unwrap() - 0.5 - z).abs() < 0.05, "{row:?}");
    }
    // An effective sample size is that of plain draws of the target with the same error.
    let mut pooled = pooled(&sample);
    let ess = pooled.ess(View::Raw).unwrap();
    assert!((ess * mcse * mcse - 1.0).abs() < 0.2, "{ess}");
    // The normal scores of a normal target are its standardised draws.
    let bulk = row.ess_bulk.unwrap();
    assert!((bulk * mcse * mcse - 1.0).abs() < 0.2, "{bulk}");
    assert!((row.rhat.unwrap() - 1.0).abs() < 0.003);
    assert_eq!(row.missing, None);
    // The plain summary of the same draws is about the proposal.
    let plain = summary(&sample.0, &[]);
    assert!(plain.mean.unwrap().abs() < 0.05 && plain.sd.unwrap() > 1.4);
}

fn normal(x: f64, mean: f64, sd: f64) -> f64 {
    (-0.5 * ((x - mean) / sd).powi(2)).exp() / (sd * std::f64::consts::TAU.sqrt())
}

fn quadrature(f: impl Fn(f64) -> f64) -> f64 {
    (-12_000..12_000)
        .map(|i| f(f64::from(i) / 1000.0) / 1000.0)
        .sum()
}

#[test]
fn equal_weights_change_no_bit() {
    let (x, _) = importance(2, 3, 501, 0.6);
    for weight in [1.0, 0.1, -2.0] {
        let w = vec![vec![weight; 501]; 3];
        assert!(!matter(&w));
        assert_eq!(summary(&x, &w), summary(&x, &[]));
        let (lists, mut with, mut without) = (lists(&x), Running::new(1), Running::new(1));
        let lists: Vec<&DrawList> = lists.iter().collect();
        let long = std::time::Duration::from_secs(600);
        with.update(&lists, &w, long);
        without.update(&lists, &[], long);
        assert_eq!(with.points(0), without.points(0));
        let (parts, weights) = (slices(&x), slices(&w));
        assert_eq!(density(&parts, &weights, None), density(&parts, &[], None));
        assert_eq!(
            histogram(&parts, &weights, None),
            histogram(&parts, &[], None)
        );
        assert_eq!(rank_counts(&parts, &w, 20), rank_counts(&parts, &[], 20));
        assert_eq!(influence(&x, &w).unwrap(), x);
        let names = ["x".into()];
        assert_eq!(
            bias::compare(&names, (&lists, &[]), (&lists, &w)),
            bias::compare(&names, (&lists, &[]), (&lists, &[]))
        );
    }
}

/// As good as equal: the definitions must meet those of plain draws, not only resemble them.
#[test]
fn definitions_are_continuous_in_the_weights() {
    for draws in [500, 501] {
        let (x, _) = importance(3, 4, draws, 0.5);
        let w: Vec<Vec<f64>> = (0..4)
            .map(|c| {
                (0..draws)
                    .map(|i| 1.0 + 1e-9 * ((i * 7 + c) % 5) as f64)
                    .collect()
            })
            .collect();
        let (nearly, plain) = (summary(&x, &w), summary(&x, &[]));
        let close = |a: Option<f64>, b: Option<f64>, tolerance: f64| {
            let (a, b) = (a.unwrap(), b.unwrap());
            assert!((a / b - 1.0).abs() < tolerance, "{a} against {b}");
        };
        close(nearly.mean, plain.mean, 1e-6);
        close(nearly.sd, plain.sd, 1e-6);
        close(nearly.mcse_mean, plain.mcse_mean, 1e-6);
        // Ranks are among all draws instead of the split ones, and quantiles of type 5 instead of 7.
        let loose = if draws == 500 { 1e-6 } else { 2e-3 };
        close(nearly.rhat, plain.rhat, loose);
        close(nearly.ess_bulk, plain.ess_bulk, 10.0 * loose);
        close(nearly.ess_tail, plain.ess_tail, 0.05);
        close(nearly.q5, plain.q5, 0.01);
        close(nearly.mad, plain.mad, 0.01);
    }
}

#[test]
fn a_draw_of_weight_three_is_three_draws() {
    let x: Vec<f64> = (0..40).map(|i| ((i * 17) % 40) as f64).collect();
    let w: Vec<f64> = (0..40).map(|i| f64::from(1 + i % 3)).collect();
    let repeated: Vec<f64> = x
        .iter()
        .zip(&w)
        .flat_map(|(&x, &w)| vec![x; w as usize])
        .collect();
    let mut weighted = Pooled::weighted(&[&x], &[&w]);
    let mut plain = Pooled::of(&[&repeated]);
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-10, "{a} against {b}");
    close(weighted.mean().unwrap(), plain.mean().unwrap());
    close(weighted.central_moment(2), plain.central_moment(2));
    close(weighted.central_moment(4), plain.central_moment(4));
    for p in [0.1, 0.37, 0.5, 0.9] {
        let (a, b) = (weighted.quantile(p).unwrap(), plain.quantile(p).unwrap());
        assert!((a - b).abs() <= 1.0, "{p}: {a} against {b}");
    }
}

/// Share of `seeds` in which the truth lies within 1.96 standard errors.
fn coverage(seeds: u64, mut estimate: impl FnMut(u64) -> (f64, f64), truth: f64) -> f64 {
    let inside = (0..seeds).filter(|&seed| {
        let (value, error) = estimate(seed);
        (value - truth).abs() < 1.96 * error
    });
    inside.count() as f64 / seeds as f64
}

#[test]
fn errors_of_importance_sampling_cover_as_they_should() {
    // 400 seeds: the share itself has a standard error of 1.1 %; autocorrelated, heavy weights cost a little.
    for (phi, draws, low) in [(0.0, 500, 0.915), (0.7, 1000, 0.90)] {
        let of_mean = |seed| {
            let mut pooled = pooled(&importance(100 + seed, 2, draws, phi));
            (
                pooled.mean().unwrap(),
                pooled_mcse_mean(&mut pooled).unwrap(),
            )
        };
        let share = coverage(400, of_mean, 0.5);
        assert!(share > low && share < 0.985, "{phi}: mean {share}");
        let of_sd = |seed| {
            let mut pooled = pooled(&importance(100 + seed, 2, draws, phi));
            (pooled.sd().unwrap(), pooled_mcse_sd(&mut pooled).unwrap())
        };
        let share = coverage(200, of_sd, 1.0);
        assert!(share > low - 0.03, "{phi}: sd {share}");
    }
}

#[test]
fn signs_turn_a_wrong_mean_into_the_right_one() {
    let sample = signed(5, 4, 10_000);
    let row = summary(&sample.0, &sample.1);
    let mcse = (6.64_f64 / 40_000.0).sqrt();
    assert!((row.mcse_mean.unwrap() / mcse - 1.0).abs() < 0.1, "{row:?}");
    assert!((row.mean.unwrap() + 0.5).abs() < 4.0 * mcse, "{row:?}");
    assert!((row.sd.unwrap().powi(2) - 0.43).abs() < 0.06, "{row:?}");
    for (quantile, p) in [(row.q5, 0.05), (row.q50, 0.5), (row.q95, 0.95)] {
        assert!((signed_cdf(quantile.unwrap()) - p).abs() < 0.03, "{row:?}");
    }
    assert!(row.rhat.unwrap() < 1.01, "{row:?}");
    let ess = pooled(&sample).ess(View::Raw).unwrap();
    assert!((ess * 6.64 / 0.43 / 40_000.0 - 1.0).abs() < 0.25, "{ess}");
    let plain = summary(&sample.0, &[]);
    assert!((plain.mean.unwrap() - 0.25).abs() < 0.03);
    assert!((plain.mean.unwrap() + 0.5).abs() > 50.0 * plain.mcse_mean.unwrap());
    let of_mean = |seed| {
        let mut pooled = pooled(&signed(500 + seed, 2, 1000));
        (
            pooled.mean().unwrap(),
            pooled_mcse_mean(&mut pooled).unwrap(),
        )
    };
    let share = coverage(300, of_mean, -0.5);
    assert!(share > 0.91 && share < 0.985, "{share}");
}

#[test]
fn rhat_compares_weighted_chains() {
    // Every chain has another proposal, N(c / 2, 1), and weights that bring it back to N(0, 1).
    let (mut x, mut w) = (Vec::new(), Vec::new());
    for c in 0..4 {
        let mut rng = stream(6, c, Purpose::Diagnostics);
        let centre = 0.5 * (c as f64 - 1.5);
        let draws: Vec<f64> = (0..4000)
            .map(|_| centre + rng.sample::<f64, _>(StandardNormal))
            .collect();
        w.push(
            draws
                .iter()
                .map(|x| (centre * centre / 2.0 - centre * x).exp())
                .collect(),
        );
        x.push(draws);
    }
    assert!(summary(&x, &[]).rhat.unwrap() > 1.05);
    let row = summary(&x, &w);
    assert!(row.rhat.unwrap() < 1.005, "{row:?}");
    assert!(row.mean.unwrap().abs() < 4.0 * row.mcse_mean.unwrap());
    // The same draws in every chain, weighted towards different places.
    let (same, _) = importance(7, 1, 4000, 0.0);
    let tilt = |shift: f64| {
        same[0]
            .iter()
            .map(|x| (shift * x).exp())
            .collect::<Vec<f64>>()
    };
    let tilted = vec![tilt(0.3), tilt(-0.3)];
    assert!(
        summary(&[same[0].clone(), same[0].clone()], &tilted)
            .rhat
            .unwrap()
            > 1.05
    );
}

#[test]
fn running_curves_end_at_the_weighted_summary() {
    let (x, w) = importance(8, 4, 100, 0.3);
    let lists = lists(&x);
    let lists: Vec<&DrawList> = lists.iter().collect();
    let mut running = Running::new(1);
    running.update(&lists, &w, std::time::Duration::from_secs(600));
    let (point, row) = (running.points(0)[0], summary(&x, &w));
    assert_eq!(
        (point.rhat, point.ess_bulk, point.ess_tail, point.mcse_mean),
        (row.rhat, row.ess_bulk, row.ess_tail, row.mcse_mean)
    );
}

#[test]
fn a_bias_check_sees_through_the_weights() {
    let (exact, _) = {
        let chain = |c| {
            let mut rng = stream(9, c, Purpose::Diagnostics);
            (0..8000)
                .map(|_| 0.5 + rng.sample::<f64, _>(StandardNormal))
                .collect()
        };
        ((0..4).map(chain).collect::<Vec<Vec<f64>>>(), ())
    };
    let (x, w) = importance(10, 4, 16_000, 0.0);
    let (exact, x) = (lists(&exact), lists(&x));
    let (exact, x): (Vec<&DrawList>, Vec<&DrawList>) = (exact.iter().collect(), x.iter().collect());
    let names = ["x".into()];
    let weighted = bias::compare(&names, (&exact, &[]), (&x, &w));
    assert_eq!(weighted.verdict, Verdict::Good, "{weighted:?}");
    let plain = bias::compare(&names, (&exact, &[]), (&x, &[]));
    assert_eq!(plain.verdict, Verdict::NotCertified);
}

#[test]
fn densities_and_histograms_follow_the_weights() {
    let (x, w) = importance(11, 2, 20_000, 0.0);
    let (parts, weights) = (slices(&x), slices(&w));
    let curve = density(&parts, &weights, None).unwrap();
    assert_eq!(curve.clipped, 0.0);
    for (&x, &y) in curve.x.iter().zip(&curve.y) {
        assert!((y - normal(x, 0.5, 1.0)).abs() < 0.03, "{x}: {y}");
    }
    let bars = histogram(&parts, &weights, None).unwrap();
    assert!((bars.counts.iter().sum::<f64>() - 40_000.0).abs() < 1e-6);
    // φ(x) less its middle half: the density falls below zero around 0.
    let mut x = vec![Vec::new(); 2];
    let mut rng = stream(12, 0, Purpose::Diagnostics);
    for _ in 0..4000 {
        let z: f64 = rng.sample(StandardNormal);
        // Both signs in either chain: chains of one sign each would have mixed badly, and count as cancelled.
        for chain in &mut x {
            chain.extend([z, 0.25 * z]);
        }
    }
    let w = vec![[2.0, -1.0].repeat(4000); 2];
    let curve = density(&slices(&x), &slices(&w), None).unwrap();
    let area: f64 = curve.y.iter().sum::<f64>() * (curve.x[1] - curve.x[0]);
    assert!(curve.clipped > 0.01 && (area - curve.clipped - 1.0).abs() < 0.01);
    assert!(curve.y.iter().all(|&y| y >= 0.0));
    let bars = histogram(&slices(&x), &slices(&w), Some(30)).unwrap();
    assert!(bars.counts.iter().all(|&count| count >= 0.0));
}

#[test]
fn weights_that_cancel_are_refused_everywhere() {
    let (x, _) = importance(13, 2, 500, 0.0);
    let alternating = vec![
        (0..500)
            .map(|i| f64::from(1 - 2 * (i % 2)))
            .collect::<Vec<f64>>();
        2
    ];
    let broken = vec![vec![f64::NAN; 500]; 2];
    let short = vec![vec![1.0; 400]; 2];
    for w in [alternating, broken, short] {
        let row = summary(&x, &w);
        assert_eq!(
            (row.mean, row.rhat, row.missing),
            (None, None, Some(Missing::Weights))
        );
        assert_eq!(
            density(&slices(&x), &slices(&w), None),
            Err(Missing::Weights)
        );
        assert_eq!(influence(&x, &w), Err(Missing::Weights));
        let said = judge(&VerdictInputs::of(&[row], 500, 2));
        let (verdict, sentence) = (said.verdict, said.sentence);
        assert_eq!(verdict, Verdict::Bad);
        assert!(sentence.contains("weights"), "{sentence}");
    }
}

/// A sign that stays for two hundred draws is one of few: the mean is four standard errors of independent signs from zero,
/// and less than one of its own.
#[test]
fn signs_that_stay_for_long_are_not_as_many_as_draws() {
    let weights = |stay: usize| -> Vec<Vec<f64>> {
        let sign = |chain: usize, draw: usize| {
            let place = (draw / stay).wrapping_mul(7919) + 13 * chain;
            if place % 20 < 9 { -1.0 } else { 1.0 }
        };
        (0..4)
            .map(|chain| (0..2000).map(|draw| sign(chain, draw)).collect())
            .collect()
    };
    assert!(relative(&weights(1), 2000).unwrap().is_ok());
    assert_eq!(relative(&weights(200), 2000), Some(Err(Missing::Weights)));
}

proptest! {
    #[test]
    fn quantiles_rise_and_rhat_does_not_care_for_the_scale_of_weights(
        cells in prop::collection::vec((-50_i32..50, -1_i32..9), 20..80),
        power in -9_i32..9,
    ) {
        let x: Vec<f64> = cells.iter().map(|(x, _)| f64::from(*x)).collect();
        let w: Vec<f64> = cells.iter().map(|(_, w)| f64::from(*w)).collect();
        let mut pooled = Pooled::weighted(&[&x], &[&w]);
        let places: Vec<f64> = (0..=20)
            .filter_map(|i| pooled.quantile(f64::from(i) / 20.0).ok())
            .collect();
        prop_assert!(places.is_sorted());
        let scaled: Vec<f64> = w.iter().map(|w| w * 2.0_f64.powi(power)).collect();
        let mut other = Pooled::weighted(&[&x], &[&scaled]);
        prop_assert_eq!(pooled_rhat(&mut pooled), pooled_rhat(&mut other));
        prop_assert_eq!(pooled.ess(View::Bulk), other.ess(View::Bulk));
    }
}

#[test]
fn the_shortest_interval_of_weighted_draws_holds_its_share_of_the_weight() {
    let (sorted, rising) = ([0.0, 1.0, 2.0, 3.0, 10.0], [0.1, 0.3, 0.5, 0.7, 0.9]);
    assert_eq!(shortest(&sorted, &rising, 0.6), [0.0, 3.0]);
    assert_eq!(shortest(&sorted, &rising, 0.95), [0.0, 10.0]);
    assert_eq!(shortest(&[2.0], &[0.5], 0.5), [2.0, 2.0]);

    // An exponential distribution by draws of one that is twice as wide: 80 % lie between 0 and -log 0.2.
    let n = 20_000;
    let draws: Vec<f64> = (0..n)
        .map(|i| -2.0 * (1.0 - (f64::from(i) + 0.5) / f64::from(n)).ln())
        .collect();
    let mean = 0.5;
    let relative: Vec<f64> = draws.iter().map(|x| (-x / 2.0).exp() / mean).collect();
    let order: Vec<u32> = (0..n as u32).collect();
    let mut rising = Vec::new();
    cdf(&relative, &order, &mut rising);
    let [low, high] = shortest(&draws, &rising, 0.8);
    assert!(
        low < 0.005 && (high + 0.2f64.ln()).abs() < 0.005,
        "{low} {high}"
    );
}
