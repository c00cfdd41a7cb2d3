//! Rank histograms: how the ranks of each chain among all draws are spread. Even bars mean chains that agree.

use rand::seq::SliceRandom as _;

use super::Missing;
use super::weights::relative;
use ergodic_base::{Purpose, stream};

/// Counts of the pooled ranks of each chain in `bins` equal intervals: chains × bins. Every chain's counts sum to
/// its length (cut to the shortest).
///
/// Ties are ranked in random order, so that counts and other discrete variables, and draws that repeat after a rejection,
/// have bars as even as continuous ones (Säilynoja, Bürkner, Vehtari 2022, doi 10.1007/s11222-022-10090-6). The order comes
/// from a fixed stream: the same draws give the same counts.
///
/// With `weights` (one slice per chain, or none) a draw counts as much as its share of all weights, and its rank is that
/// of the weights below it; bins in which negative weights prevail are empty.
pub fn rank_counts(
    chains: &[&[f64]],
    weights: &[Vec<f64>],
    bins: usize,
) -> Result<Vec<Vec<f64>>, Missing> {
    let draws = chains.iter().map(|chain| chain.len()).min().unwrap_or(0);
    if draws == 0 || bins == 0 {
        return Err(Missing::TooFew);
    }
    let relative = relative(weights, draws).transpose()?;
    let weight = |position: usize| relative.as_ref().map_or(1.0, |v| v[position]);
    let mut pooled: Vec<(f64, usize)> = chains
        .iter()
        .enumerate()
        .flat_map(|(c, chain)| {
            let first = c * draws;
            chain[..draws]
                .iter()
                .enumerate()
                .map(move |(i, &x)| (x, first + i))
        })
        .collect();
    if pooled.iter().any(|(x, _)| !x.is_finite()) {
        return Err(Missing::NotFinite);
    }
    pooled.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut counts = vec![vec![0.0; bins]; chains.len()];
    let total = pooled.len() as f64;
    let mut rng = stream(0, 0, Purpose::Diagnostics);
    for tied in pooled.chunk_by_mut(|a, b| a.0 == b.0) {
        if tied.len() > 1 {
            // Sorting leaves ties in any order: chance begins with theirs in the chains.
            tied.sort_unstable_by_key(|&(_, position)| position);
            tied.shuffle(&mut rng);
        }
    }
    let mut rank = 0.0;
    for &(_, position) in &pooled {
        let own = weight(position);
        // Rank r stands for (r - 1/2) / S.
        let place = (rank + 0.5 * own) / total;
        let bin = ((place * bins as f64) as usize).min(bins - 1);
        counts[position / draws][bin] += own;
        rank += own;
    }
    for count in counts.iter_mut().flatten() {
        *count = count.max(0.0);
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn interleaved_chains_have_even_bars() {
        let even: Vec<f64> = (0..100).map(|i| f64::from(2 * i)).collect();
        let odd: Vec<f64> = (0..100).map(|i| f64::from(2 * i + 1)).collect();
        assert_eq!(
            rank_counts(&[&even, &odd], &[], 10).unwrap(),
            vec![vec![10.0; 10]; 2]
        );
    }

    #[test]
    fn separate_chains_fill_their_own_half() {
        let low: Vec<f64> = (0..40).map(f64::from).collect();
        let high: Vec<f64> = (40..80).map(f64::from).collect();
        assert_eq!(
            rank_counts(&[&low, &high], &[], 2).unwrap(),
            vec![vec![40.0, 0.0], vec![0.0, 40.0]]
        );
    }

    #[test]
    fn a_weighted_draw_counts_as_often_as_it_weighs() {
        // Chain 1 holds every value twice where chain 2 holds it once with weight 2.
        let (once, twice) = ([1.0, 3.0, 5.0, 7.0], [0.0, 2.0, 4.0, 6.0]);
        let weights = [vec![0.5; 4], vec![1.5; 4]];
        let counts = rank_counts(&[&once, &twice], &weights, 4).unwrap();
        assert_eq!(counts, [vec![0.5; 4], vec![1.5; 4]]);
        let uneven = rank_counts(&[&[0.0, 1.0]], &[vec![3.0, 1.0]], 4).unwrap();
        assert_eq!(uneven, [[0.0, 1.5, 0.0, 0.5]]);
    }

    #[test]
    fn ties_are_broken_at_random_and_always_alike() {
        // Numbers of clusters: four values only, the same for both chains.
        let chain = |shift: usize| -> Vec<f64> {
            (0..4000).map(|i| ((i * 7 + shift) % 4) as f64).collect()
        };
        let (a, b) = (chain(0), chain(1));
        let counts = rank_counts(&[&a, &b], &[], 20).unwrap();
        assert_eq!(counts, rank_counts(&[&a, &b], &[], 20).unwrap());
        // A bin holds 200 of a chain's draws, of which about half of 400 ranks are its own: sd at most 10.
        for count in counts.iter().flatten() {
            assert!((count - 200.0).abs() < 50.0, "{counts:?}");
        }
    }

    proptest! {
        #[test]
        fn every_draw_is_counted_once(values in prop::collection::vec(0_u8..6, 2..60), bins in 1_usize..12) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let (a, b) = values.split_at(values.len() / 2);
            let counts = rank_counts(&[a, b], &[], bins).unwrap();
            for chain in counts {
                prop_assert_eq!(chain.iter().sum::<f64>(), (values.len() / 2) as f64);
            }
        }
    }
}
