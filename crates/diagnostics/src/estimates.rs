//! What is known of quantities whose draws were not kept: means and standard deviations from the moments of chains.

use serde::{Deserialize, Serialize};

use super::weights;
use ergodic_base::{ParamId, RunningMoments};

/// What moments say of one quantity. Quantiles, effective sample sizes and the R-hat of split and ranked chains need draws.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Name of the reported quantity.
    pub variable: ParamId,
    /// Mean over all draws.
    pub mean: Option<f64>,
    /// Standard deviation, divisor n - 1.
    pub sd: Option<f64>,
    /// Draws of all chains, n.
    pub draws: u64,
    /// R-hat of whole chains: see [`rhat_unsplit`].
    pub rhat_unsplit: Option<f64>,
}

/// The estimates of `names` from `chains`, the moments of each working chain, whose draws have `weights`: one vector per chain, or
/// none. Chains count with all of their draws, also where one is ahead; those without draws do not count.
///
/// Weighted draws have m = Σ w x / Σ w and sd² = n / (n - 1) Σ w (x - m)² / Σ w, as in [`super::weights`], and no R-hat.
pub fn estimates(
    names: &[ParamId],
    chains: &[&RunningMoments],
    weights: &[Vec<f64>],
) -> Vec<Estimate> {
    let chains: Vec<&RunningMoments> = (chains.iter().copied())
        .filter(|chain| chain.width() == names.len() && chain.draws() > 0)
        .collect();
    let draws: u64 = chains.iter().map(|chain| chain.draws()).sum();
    let weight: f64 = chains.iter().map(|chain| chain.weight()).sum();
    let shortest = weights.iter().map(Vec::len).min().unwrap_or(0);
    let relative = weights::relative(weights, shortest);
    let (plain, usable) = (relative.is_none(), !matches!(relative, Some(Err(_))));
    let finite = |x: f64| Some(x).filter(|x| usable && x.is_finite());
    let of = |(j, variable): (usize, &ParamId)| {
        // About the mean of a chain, so that what stands still does so to the last digit.
        let about = chains.first().map_or(f64::NAN, |chain| chain.mean(j));
        let parts = chains.iter();
        let parts = parts.map(|chain| chain.weight() / weight * (chain.mean(j) - about));
        let mean = about + parts.sum::<f64>();
        let scatter = chains.iter().map(|chain| {
            let away = chain.mean(j) - mean;
            chain.scatter(j) + chain.weight() * away * away
        });
        let n = draws as f64;
        let variance = scatter.sum::<f64>() / weight * (n / (n - 1.0));
        Estimate {
            variable: variable.clone(),
            mean: finite(mean).filter(|_| draws > 0),
            // Rounding may leave less than nothing of a quantity that stands still.
            sd: finite(variance.max(0.0).sqrt()).filter(|_| draws > 1 && !variance.is_nan()),
            draws,
            rhat_unsplit: rhat_unsplit(&chains, j).filter(|_| plain),
        }
    };
    names.iter().enumerate().map(of).collect()
}

/// R-hat of quantity `j` by the means and variances of whole chains, neither split nor ranked (Gelman and Rubin 1992, without their
/// correction for degrees of freedom): sqrt(((n - 1) / n W + B / n) / W), where W is the mean of the variances of chains, B / n the
/// variance of their means, and n the draws of the shortest. It does not see chains that drift together. `None` for a single chain, and
/// where nothing moves or something is not finite.
pub fn rhat_unsplit(chains: &[&RunningMoments], j: usize) -> Option<f64> {
    let n = chains.iter().map(|chain| chain.draws()).min()? as f64;
    let m = chains.len() as f64;
    if n < 2.0 || m < 2.0 {
        return None;
    }
    let variance = |chain: &&RunningMoments| chain.scatter(j) / (chain.draws() as f64 - 1.0);
    let within = chains.iter().map(variance).sum::<f64>() / m;
    let mean = chains.iter().map(|chain| chain.mean(j)).sum::<f64>() / m;
    let squares = chains.iter().map(|chain| (chain.mean(j) - mean).powi(2));
    let between = squares.sum::<f64>() / (m - 1.0);
    let rhat = ((n - 1.0) / n + between / within).sqrt();
    (within > 0.0 && rhat.is_finite()).then_some(rhat)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summarise;
    use ergodic_base::draws::DrawList;
    use ergodic_base::{Purpose, stream};
    use rand::RngExt as _;
    use rand_distr::StandardNormal;

    /// Draws of two quantities, the second far from zero, of chains of these lengths, and their moments with `weights`.
    fn chains(lengths: &[usize], weights: &[Vec<f64>]) -> (Vec<DrawList>, Vec<RunningMoments>) {
        let chain = |(chain, &length): (usize, &usize)| {
            let mut rng = stream(8, chain, Purpose::Diagnostics);
            let (mut list, mut moments) = (DrawList::new(2), RunningMoments::default());
            for i in 0..length {
                let z: [f64; 2] = [rng.sample(StandardNormal), rng.sample(StandardNormal)];
                let row = [z[0] + 0.1 * chain as f64, 500.0 + 3.0 * z[1]];
                list.push(&row);
                let weight = weights.get(chain).map_or(1.0, |weights| weights[i]);
                moments.add(row.into_iter(), weight);
            }
            (list, moments)
        };
        lengths.iter().enumerate().map(chain).unzip()
    }

    fn moments_of(draws: &[f64]) -> RunningMoments {
        let mut moments = RunningMoments::default();
        for &x in draws {
            moments.add([x].into_iter(), 1.0);
        }
        moments
    }

    fn is_close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-12 * b.abs().max(1.0)
    }

    #[test]
    fn estimates_are_those_of_the_draws() {
        let names: Vec<ParamId> = vec!["x".into(), "y".into()];
        let weights: Vec<Vec<f64>> = (0..3)
            .map(|chain| {
                (0..400)
                    .map(|i| f64::from((i * 7 + chain) % 5) + 0.5)
                    .collect()
            })
            .collect();
        for weights in [Vec::new(), weights] {
            let (lists, moments) = chains(&[400; 3], &weights);
            let lists: Vec<&DrawList> = lists.iter().collect();
            let moments: Vec<&RunningMoments> = moments.iter().collect();
            let rows = summarise(&names, &lists, &weights, 0.0);
            let found = estimates(&names, &moments, &weights);
            for (row, found) in rows.iter().zip(&found) {
                assert_eq!((&found.variable, found.draws), (&row.variable, 1200));
                assert!(
                    is_close(found.mean.unwrap(), row.mean.unwrap()),
                    "{found:?}"
                );
                assert!(is_close(found.sd.unwrap(), row.sd.unwrap()), "{found:?}");
                assert_eq!(found.rhat_unsplit.is_some(), weights.is_empty());
            }
        }
    }

    #[test]
    fn rhat_of_whole_chains_follows_its_definition() {
        // Means 1 and 3, variances 1 and 1: B/n = 2, W = 1, n = 3.
        let chain = |from: f64| moments_of(&[from, from + 1.0, from + 2.0]);
        let (one, two) = (chain(0.0), chain(2.0));
        let rhat = rhat_unsplit(&[&one, &two], 0).unwrap();
        assert!((rhat - (2.0_f64 / 3.0 + 2.0).sqrt()).abs() < 1e-14);
        assert_eq!(rhat_unsplit(&[&one], 0), None);
        let still = moments_of(&[0.3; 4]);
        assert_eq!(rhat_unsplit(&[&still, &still], 0), None);
        let names: Vec<ParamId> = vec!["x".into()];
        let found = &estimates(&names, &[&still; 3], &[])[0];
        assert_eq!(
            (found.mean, found.sd, found.draws),
            (Some(0.3), Some(0.0), 12)
        );
    }

    #[test]
    fn what_is_not_known_is_left_out() {
        let names: Vec<ParamId> = vec!["x".into()];
        let none = RunningMoments::default();
        let found = &estimates(&names, &[&none, &none], &[])[0];
        assert_eq!((found.mean, found.sd, found.draws), (None, None, 0));
        let broken = moments_of(&[1.0, f64::NAN, 2.0]);
        let found = &estimates(&names, &[&broken], &[])[0];
        assert_eq!(
            (found.mean, found.sd, found.rhat_unsplit),
            (None, None, None)
        );
        // Weights that cancel leave no average.
        let mut signed = RunningMoments::default();
        let weights = vec![vec![1.0, -1.0, 1.0, -1.0]];
        for (i, weight) in weights[0].iter().enumerate() {
            signed.add([i as f64].into_iter(), *weight);
        }
        let found = &estimates(&names, &[&signed], &weights)[0];
        assert_eq!((found.mean, found.sd), (None, None));
    }
}
