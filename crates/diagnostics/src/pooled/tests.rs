use proptest::prelude::*;

use super::*;

/// Average ranks among the split draws by counting, the slow and obvious way; the middle draw of odd chains is out.
fn slow_scores(chains: &[Vec<f64>], transform: impl Fn(f64) -> f64) -> Vec<Vec<f64>> {
    let halves: Vec<Vec<f64>> = chains
        .iter()
        .flat_map(|chain| {
            let half = chain.len() / 2;
            [chain[..half].to_vec(), chain[chain.len() - half..].to_vec()]
        })
        .map(|half| half.into_iter().map(&transform).collect())
        .collect();
    let all: Vec<f64> = halves.concat();
    let score = |x: &f64| {
        let below = all.iter().filter(|&y| y < x).count() as f64;
        let equal = all.iter().filter(|&y| y == x).count() as f64;
        normal_score(below + 0.5 * (equal + 1.0), all.len())
    };
    halves
        .iter()
        .map(|half| half.iter().map(score).collect())
        .collect()
}

fn slices(chains: &[Vec<f64>]) -> Vec<&[f64]> {
    chains.iter().map(Vec::as_slice).collect()
}

fn views(chains: &[Vec<f64>], view: View) -> (Result<(), Missing>, Vec<Vec<f64>>) {
    let mut pooled = Pooled::of(&slices(chains));
    let filled = pooled.fill(view);
    (filled, pooled.halves().map(<[f64]>::to_vec).collect())
}

fn assert_close(found: &[Vec<f64>], expected: &[Vec<f64>]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.concat().iter().zip(expected.concat()) {
        assert!(
            (found - expected).abs() < 1e-12,
            "{found} against {expected}"
        );
    }
}

/// Chains of equal length with few distinct values (ties) or many.
fn chains() -> impl Strategy<Value = Vec<Vec<f64>>> {
    (
        1_usize..4,
        4_usize..40,
        prop::sample::select(vec![3_i32, 20, 1_000_000]),
    )
        .prop_flat_map(|(chains, draws, levels)| {
            let value = (-levels..levels).prop_map(|x| f64::from(x) / 7.0);
            prop::collection::vec(prop::collection::vec(value, draws), chains)
        })
}

proptest! {
    #[test]
    fn ranks_with_ties_are_those_of_counting(chains in chains()) {
        let (filled, found) = views(&chains, View::Bulk);
        if filled.is_ok() {
            assert_close(&found, &slow_scores(&chains, |x| x));
        }
        let mut pooled = Pooled::of(&slices(&chains));
        let median = pooled.median().unwrap();
        let (filled, found) = views(&chains, View::Folded);
        if filled.is_ok() {
            assert_close(&found, &slow_scores(&chains, |x| (x - median).abs()));
        }
    }

    #[test]
    fn shifts_and_scales_by_powers_of_two_change_no_ess(chains in chains(), power in -20_i32..20) {
        let scaled: Vec<Vec<f64>> =
            chains.iter().map(|chain| chain.iter().map(|x| x * 2.0_f64.powi(power)).collect()).collect();
        for view in [View::Raw, View::Bulk, View::Folded, View::Below(0.3)] {
            let a = Pooled::of(&slices(&chains)).ess(view);
            let b = Pooled::of(&slices(&scaled)).ess(view);
            match (a, b) {
                (Ok(a), Ok(b)) => prop_assert!((a - b).abs() <= 1e-9 * a),
                (a, b) => prop_assert_eq!(a, b),
            }
        }
    }
}

#[test]
fn normal_quantiles_agree_with_r() {
    let text = include_str!("../../../../tests/reference/posterior.csv");
    let mut compared = 0;
    for line in text.lines().filter_map(|line| line.strip_prefix("qnorm,")) {
        let (p, expected) = line.split_once(',').unwrap();
        let (p, expected): (f64, f64) = (p.parse().unwrap(), expected.parse().unwrap());
        assert!(
            (quantiles::normal(p) - expected).abs() <= 1e-14 * expected.abs(),
            "{p}: {}",
            quantiles::normal(p)
        );
        compared += 1;
    }
    assert!(compared > 15);
}

#[test]
fn the_autocovariance_of_two_chains_is_the_average_of_sums_over_pairs() {
    for half in [13, 200] {
        let chain = |seed: usize| -> Vec<f64> {
            (0..2 * half)
                .map(|i| ((i * i * seed + 5 * i) % 19) as f64)
                .collect()
        };
        let chains = [chain(3), chain(7)];
        let mut pooled = Pooled::of(&slices(&chains));
        pooled.fill(View::Raw).unwrap();
        let halves: Vec<&[f64]> = chains
            .iter()
            .flat_map(|chain| [&chain[..half], &chain[half..]])
            .collect();
        let n = half as f64;
        for (reach, at_least) in [(Reach::Near, LEAST_NEAR.min(half)), (Reach::Full, half)] {
            let tables = Arc::clone(&pooled.tables);
            let plan = tables.plan(reach);
            let mut buffers = plan.buffers();
            pooled.average_autocovariance(plan, &mut buffers);
            let lags = half.min(plan.len() - half + 1);
            assert!(lags >= at_least);
            for lag in 0..lags {
                let of_half = |half: &&[f64]| {
                    let mean = half.iter().sum::<f64>() / n;
                    let pairs = half.iter().zip(&half[lag..]);
                    pairs.map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>() / n
                };
                let expected = halves.iter().map(of_half).sum::<f64>() / 4.0;
                let found = buffers.real[lag];
                assert!(
                    (found - expected).abs() < 1e-12,
                    "{reach:?} lag {lag}: {found} against {expected}"
                );
            }
        }
    }
}

#[test]
fn near_lags_give_the_effective_size_of_all_lags_or_say_that_they_do_not_reach() {
    // A walk that is drawn to zero with this coefficient; whole numbers of a small generator for its steps.
    let chain = |coefficient: f64, mut seed: u32| -> Vec<f64> {
        let mut x = 0.0;
        let step = |_| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            x = coefficient * x + f64::from(seed >> 8) - f64::from(1_u32 << 23);
            x
        };
        (0..2000).map(step).collect()
    };
    for (coefficient, reaches) in [(0.0, true), (0.8, true), (0.999, false)] {
        let chains = [chain(coefficient, 1), chain(coefficient, 2)];
        let mut pooled = Pooled::of(&slices(&chains));
        pooled.fill(View::Raw).unwrap();
        let full = pooled.ess_within(Reach::Full).unwrap();
        let near = pooled.ess_within(Reach::Near);
        assert_eq!(near.is_some(), reaches, "{coefficient}");
        assert!((near.unwrap_or(full) / full - 1.0).abs() < 1e-12);
        assert_eq!(pooled.ess(View::Raw), Ok(near.unwrap_or(full)));
    }
}

#[test]
fn why_there_is_no_value() {
    let nan = [1.0, 2.0, f64::NAN, 4.0, 5.0, 6.0, 7.0, 8.0];
    assert_eq!(Pooled::of(&[&nan]).ess(View::Raw), Err(Missing::NotFinite));
    assert_eq!(Pooled::of(&[&nan]).mean(), Err(Missing::NotFinite));
    assert_eq!(Pooled::of(&[&nan]).defect(), Some(Missing::NotFinite));
    assert_eq!(
        Pooled::of(&[&[1.0; 20]]).ess(View::Raw),
        Err(Missing::Constant)
    );
    assert_eq!(
        Pooled::of(&[&[1.0; 20]]).ess(View::Below(0.05)),
        Err(Missing::Constant)
    );
    assert_eq!(Pooled::of(&[&[1.0; 20]]).sd(), Ok(0.0));
    assert_eq!(
        Pooled::of(&[&[1.0, 2.0, 3.0]]).split_rhat(View::Bulk),
        Err(Missing::TooFew)
    );
    assert_eq!(
        Pooled::of(&[&[1.0, 2.0, 3.0, 1.0, 2.0]]).ess(View::Bulk),
        Err(Missing::TooFew)
    );
    assert_eq!(Pooled::of(&[]).mean(), Err(Missing::TooFew));
    assert_eq!(Pooled::of(&[&[], &[1.0]]).median(), Err(Missing::TooFew));
    // A range that overflows.
    let wide: Vec<f64> = (0..12)
        .map(|i| if i % 3 == 0 { f64::MAX } else { -f64::MAX })
        .collect();
    assert_eq!(Pooled::of(&[&wide]).ess(View::Raw), Err(Missing::NotFinite));
    assert!(Pooled::of(&[&wide]).ess(View::Bulk).is_ok());
    assert_eq!(Pooled::of(&[&wide]).sd(), Err(Missing::NotFinite));
}

#[test]
fn longer_chains_are_cut_to_the_shortest() {
    let long: Vec<f64> = (0..40).map(|i| f64::from(i * i % 13)).collect();
    let short = &long[3..30];
    let cut = Pooled::of(&[&long[..27], short]).ess(View::Bulk).unwrap();
    assert_eq!(Pooled::of(&[&long, short]).ess(View::Bulk), Ok(cut));
}
