//! Whether chains agree about each shard that divide and conquer samples: combined draws can agree where those of shards do not.

use serde::{Deserialize, Serialize};

use super::Summary;
use crate::engine::{RunView, Sampling};
use crate::samplers::SHARD_MOMENTS;
use ergodic_base::Warning;
use ergodic_diagnostics::{Finding, SummaryRow, Verdict};

/// R-hat from which chains disagree about a shard. Batches are of some hundred draws, whose own R-hat comes to 1.02 by chance.
const LIMIT: f64 = 1.05;

ergodic_base::remarks! {
    /// What is remarkable about shards.
    pub enum Remark {
        /// Chains sample a shard of the rows differently.
        Disagree {
            /// Which, from 1.
            shard: usize,
            /// The largest R-hat of its coordinates.
            rhat: f64,
        }
        Watch "shards-disagree" (
            "The chains disagree about shard {shard} of the rows (R-hat {rhat:.2}), so that what is combined from it is not its \
             subposterior"
        ) advice ("Allow more draws per shard (`sampler.shard_draws`) and a longer warm-up, or divide the rows into fewer shards");
    }
}

/// The shard that chains disagree most about.
#[derive(Debug, Serialize, Deserialize)]
pub struct Disagreement {
    /// Which, from 1.
    shard: usize,
    /// The largest R-hat of its coordinates.
    rhat: f64,
}

impl Summary for Disagreement {
    const OUTPUT: &'static str = SHARD_MOMENTS;

    fn of(job: &dyn Sampling, view: &RunView) -> Option<Self> {
        let chains: Vec<&[f64]> = view
            .usable()
            .map(|chain| chain.numbers_called(SHARD_MOMENTS))
            .collect();
        let (shard, rhat) =
            largest(&chains, job.model().dim()).filter(|(_, rhat)| *rhat > LIMIT)?;
        Some(Self { shard, rhat })
    }

    fn finding(&self, _rows: &[SummaryRow], _chains: usize) -> Option<Finding> {
        let &Self { shard, rhat } = self;
        Some(Finding::new(
            Verdict::Watch,
            &format!("chains disagree about shard {shard} (R-hat {rhat:.2})"),
            Some("more draws per shard, or fewer shards"),
            Some(Warning::from(Remark::Disagree { shard, rhat })),
        ))
    }
}

/// The shard (1-based) with the largest R-hat of a coordinate between chains, and that R-hat. `chains` are the output
/// [`SHARD_MOMENTS`] of each chain for `dim` coordinates; `None` with fewer than two chains that have one.
fn largest(chains: &[&[f64]], dim: usize) -> Option<(usize, f64)> {
    let made: Vec<(&f64, &[f64])> = chains.iter().filter_map(|it| it.split_first()).collect();
    let draws = made.iter().map(|(draws, _)| **draws).reduce(f64::min)?;
    let width = made.iter().map(|(_, moments)| moments.len()).min()?;
    let count = made.len() as f64;
    if made.len() < 2 || draws < 2.0 {
        return None;
    }
    let mean = |at: usize| made.iter().map(|(_, moments)| moments[at]).sum::<f64>() / count;
    let of_shard = |shard: usize| {
        let of_coordinate = |j: usize| {
            let at = 2 * dim * shard + j;
            let centre = mean(at);
            let gaps = made
                .iter()
                .map(|(_, moments)| (moments[at] - centre).powi(2));
            let (between, within) = (gaps.sum::<f64>() / (count - 1.0), mean(at + dim));
            // Gelman et al. (2013), equation 11.4, with the variance of means as B/n.
            ((draws - 1.0) / draws + between / within).sqrt()
        };
        (shard + 1, (0..dim).map(of_coordinate).fold(0.0, f64::max))
    };
    (0..width / (2 * dim))
        .map(of_shard)
        .max_by(|a, b| a.1.total_cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shard_that_chains_disagree_about_is_named() {
        // 100 draws; two shards of one coordinate: mean and variance.
        let one = [100.0, 0.0, 1.0, 3.0, 4.0];
        let other = [100.0, 0.1, 1.0, 5.0, 4.0];
        let (shard, rhat) = largest(&[&one, &other], 1).unwrap();
        // Variance 2 of the means 3 and 5 beside 4 within.
        assert_eq!((shard, rhat), (2, (0.99_f64 + 0.5).sqrt()));
        assert_eq!(largest(&[&one, &[]], 1), None);
        let (_, rhat) = largest(&[&one, &one], 1).unwrap();
        assert!(rhat < 1.0);
    }
}
