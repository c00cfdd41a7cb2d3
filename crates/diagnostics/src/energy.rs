//! Energies of Hamiltonian Monte Carlo: does drawing new momenta carry a chain to all energies of the posterior?
//!
//! Between two draws the energy changes only by the new momentum. Where such changes are small against the spread of energies, as with
//! heavy tails, a chain walks through its energies step by step and is late to the tails (Betancourt 2016, arXiv 1604.00695).

use super::density::density;
use super::moments::{mean_of, sum};
use super::{Estimate, Missing};

/// Smallest estimated Bayesian fraction of missing information that is fine, as in Stan.
pub const EBFMI_LIMIT: f64 = 0.3;

/// Estimated Bayesian fraction of missing information of one chain: Σ (E_n - E_{n-1})² / Σ (E_n - mean)² over the energies of its
/// draws, in order. 2 where the energies of draws are independent, near 0 where each is close to the one before.
///
/// Missing with fewer than 3 draws, and where energies are constant or not finite.
pub fn ebfmi(energies: &[f64]) -> Estimate {
    if energies.len() < 3 {
        return Err(Missing::TooFew);
    }
    if energies.iter().any(|energy| !energy.is_finite()) {
        return Err(Missing::NotFinite);
    }
    if energies.iter().all(|&energy| energy == energies[0]) {
        return Err(Missing::Constant);
    }
    let mean = mean_of(energies);
    let spread = sum(energies, |energy| (energy - mean) * (energy - mean));
    let steps = sum(&transitions(energies), |step| step * step);
    Ok(steps / spread)
}

/// How the energy changes from each draw to the next: one number less than there are energies.
pub fn transitions(energies: &[f64]) -> Vec<f64> {
    let pairs = energies.iter().zip(energies.iter().skip(1));
    pairs.map(|(before, after)| after - before).collect()
}

/// What the energies of all chains look like.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Energies {
    /// Density of the energy less its mean in each chain: places and heights.
    pub marginal: Vec<[f64; 2]>,
    /// Density of its changes from draw to draw.
    pub transitions: Vec<[f64; 2]>,
    /// Estimated Bayesian fraction of missing information of each chain.
    pub ebfmi: Vec<Option<f64>>,
}

impl Energies {
    /// Of the energies of the draws of each chain, in order.
    ///
    /// # Errors
    /// There is no density of them.
    pub fn of(mut chains: Vec<Vec<f64>>) -> Result<Self, Missing> {
        let ebfmi = chains.iter().map(|chain| ebfmi(chain).ok()).collect();
        let changes: Vec<Vec<f64>> = chains.iter().map(|it| transitions(it)).collect();
        for chain in &mut chains {
            let mean = mean_of(chain);
            chain.iter_mut().for_each(|energy| *energy -= mean);
        }
        let curve = |parts: &[Vec<f64>]| {
            let parts: Vec<&[f64]> = parts.iter().map(Vec::as_slice).collect();
            let curve = density(&parts, &[], None)?;
            let pairs = curve.x.iter().zip(&curve.y);
            Ok(pairs.map(|(&x, &y)| [x, y]).collect())
        };
        Ok(Self {
            marginal: curve(&chains)?,
            transitions: curve(&changes)?,
            ebfmi,
        })
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt as _;
    use rand_distr::StandardNormal;

    use super::*;
    use ergodic_base::{Purpose, stream};

    /// Of an autoregression with coefficient ρ it is 2 (1 - ρ).
    #[test]
    fn it_is_the_von_neumann_ratio() {
        for rho in [0.0_f64, 0.5, 0.95] {
            let mut rng = stream(3, 0, Purpose::Diagnostics);
            let mut x = 0.0;
            let energies: Vec<f64> = (0..100_000)
                .map(|_| {
                    x = rho * x + (1.0 - rho * rho).sqrt() * rng.sample::<f64, _>(StandardNormal);
                    1e4 + x
                })
                .collect();
            let found = ebfmi(&energies).unwrap();
            let expected = 2.0 * (1.0 - rho);
            // The lag-one correlation of 100,000 draws is known to sqrt((1 - rho²) / 100,000).
            let error = 2.0 * ((1.0 - rho * rho) / 1e5).sqrt();
            assert!((found - expected).abs() < 4.0 * error, "{rho}: {found}");
        }
    }

    #[test]
    fn why_there_is_none() {
        assert_eq!(ebfmi(&[1.0, 2.0]), Err(Missing::TooFew));
        assert_eq!(ebfmi(&[1.0; 9]), Err(Missing::Constant));
        assert_eq!(ebfmi(&[1.0, f64::NAN, 2.0]), Err(Missing::NotFinite));
        assert_eq!(transitions(&[1.0, 4.0, 2.0]), [3.0, -2.0]);
        assert_eq!(transitions(&[]), [0.0; 0]);
    }
}
