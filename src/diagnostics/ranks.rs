//! Rank histograms: how the ranks of each chain among all draws are spread. Even bars mean chains that agree.

use super::Missing;

/// Counts of the pooled ranks of each chain in `bins` equal intervals: chains × bins. Every chain's counts sum to
/// its length (cut to the shortest); ties get their average rank.
pub fn rank_counts(chains: &[&[f64]], bins: usize) -> Result<Vec<Vec<usize>>, Missing> {
    let draws = chains.iter().map(|chain| chain.len()).min().unwrap_or(0);
    if draws == 0 || bins == 0 {
        return Err(Missing::TooFew);
    }
    let mut pooled: Vec<(f64, usize)> = chains
        .iter()
        .enumerate()
        .flat_map(|(c, chain)| chain[..draws].iter().map(move |&x| (x, c)))
        .collect();
    if pooled.iter().any(|(x, _)| !x.is_finite()) {
        return Err(Missing::NotFinite);
    }
    pooled.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut counts = vec![vec![0; bins]; chains.len()];
    let total = pooled.len() as f64;
    let mut rank = 0.0;
    for tied in pooled.chunk_by(|a, b| a.0 == b.0) {
        // The middle of the tied ranks, each rank r standing for (r - 1/2) / S.
        let place = (rank + 0.5 * tied.len() as f64) / total;
        let bin = ((place * bins as f64) as usize).min(bins - 1);
        for &(_, chain) in tied {
            counts[chain][bin] += 1;
        }
        rank += tied.len() as f64;
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
            rank_counts(&[&even, &odd], 10).unwrap(),
            vec![vec![10; 10]; 2]
        );
    }

    #[test]
    fn separate_chains_fill_their_own_half() {
        let low: Vec<f64> = (0..40).map(f64::from).collect();
        let high: Vec<f64> = (40..80).map(f64::from).collect();
        assert_eq!(
            rank_counts(&[&low, &high], 2).unwrap(),
            vec![vec![40, 0], vec![0, 40]]
        );
    }

    proptest! {
        #[test]
        fn every_draw_is_counted_once(values in prop::collection::vec(0_u8..6, 2..60), bins in 1_usize..12) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let (a, b) = values.split_at(values.len() / 2);
            let counts = rank_counts(&[a, b], bins).unwrap();
            for chain in counts {
                prop_assert_eq!(chain.iter().sum::<usize>(), values.len() / 2);
            }
        }
    }
}
