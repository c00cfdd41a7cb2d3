//! Nested R-hat of many short chains.

use super::Pooled;
use super::weighted::Part;
use crate::moments::{Moments, mean_and_variance};
use crate::{Estimate, Missing};

impl Pooled {
    /// Nested R-hat of `superchains` groups of neighbouring chains; see [`crate::rhat::rhat_nested`].
    pub fn rhat_nested(&self, superchains: usize) -> Estimate {
        if let Some(why) = self.defect() {
            return Err(why);
        }
        let chains = self.tables.num_chains;
        if superchains < 2 || !chains.is_multiple_of(superchains) {
            return Err(Missing::TooFew);
        }
        let n = self.tables.draws_per_chain;
        let of_chains = self.chains().enumerate().map(|(index, chain)| {
            if let Some(v) = self.weights() {
                let part = Part::of(chain, &v[index * n..(index + 1) * n])?;
                return Ok((part.mean, part.variance));
            }
            let (mean, square) = mean_and_variance(chain);
            // One draw has no variance within its chain.
            Ok((mean, square * n as f64 / (n.max(2) - 1) as f64))
        });
        let of_chains: Vec<(f64, f64)> = of_chains.collect::<Result<_, _>>()?;
        let (mut means, mut within) = (Moments::default(), 0.0);
        for group in of_chains.chunks(chains / superchains) {
            let mut of_group = Moments::default();
            let mut variance = 0.0;
            for &(mean, square) in group {
                of_group.add(mean);
                variance += square;
            }
            within += variance / of_group.count;
            if group.len() > 1 {
                within += of_group.variance();
            }
            means.add(of_group.mean());
        }
        within /= means.count;
        if within < 0.0 {
            return Err(Missing::Weights);
        }
        let rhat = (1.0 + means.variance() / within).sqrt();
        if rhat.is_nan() {
            Err(Missing::NotFinite)
        } else {
            Ok(rhat)
        }
    }
}
