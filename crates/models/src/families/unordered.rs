//! Levels 1 … K without an order: Pr(y = k) = e^{z_k} / Σ_j e^{z_j}, where z_1 = 0 and every other level has a linear predictor of its
//! own, its log odds against the first (the softmax).
//!
//! Other families have one linear predictor; this one is no [`super::Family`] therefore, and only its own template has it.

use rand::RngExt as _;

use crate::design::MAX_LEVELS;
use ergodic_base::ChainRng;

/// Most linear predictors of a row.
pub const MAX_PREDICTORS: usize = MAX_LEVELS - 1;

/// One of K levels given K − 1 linear predictors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unordered {
    num_levels: usize,
}

impl Unordered {
    /// One of `num_levels` levels, at most [`MAX_LEVELS`].
    pub fn new(num_levels: usize) -> Self {
        debug_assert!(num_levels <= MAX_LEVELS);
        Self { num_levels }
    }

    /// K.
    pub fn num_levels(self) -> usize {
        self.num_levels
    }

    /// K − 1.
    pub fn num_predictors(self) -> usize {
        self.num_levels - 1
    }

    /// Turns the linear predictors of all levels but the first into their probabilities; the logarithm of what these would sum to if
    /// that of the first were 1.
    pub fn chances(self, z: &mut [f64]) -> f64 {
        let largest = z.iter().copied().fold(0.0, f64::max);
        let mut total = (-largest).exp();
        for z in &mut *z {
            *z = (*z - largest).exp();
            total += *z;
        }
        let share = 1.0 / total;
        z.iter_mut().for_each(|p| *p *= share);
        largest + total.ln()
    }

    /// The log probability of level `y`, from 1, at these linear predictors; −∞ of what is no level.
    pub fn log_p(self, z: &[f64], y: f64) -> f64 {
        let place = y as usize;
        if y.fract() != 0.0 || !(1..=self.num_levels).contains(&place) {
            return f64::NEG_INFINITY;
        }
        let largest = z.iter().copied().fold(0.0, f64::max);
        let total: f64 = z.iter().map(|z| (z - largest).exp()).sum();
        let own = if place == 1 { 0.0 } else { z[place - 2] };
        own - largest - (total + (-largest).exp()).ln()
    }

    /// A level, from 1, at probabilities of all but the first ([`Self::chances`]).
    pub fn draw(self, chances: &[f64], rng: &mut ChainRng) -> f64 {
        let mut rest: f64 = rng.random();
        for (place, chance) in (2_u32..).zip(chances) {
            rest -= chance;
            if rest < 0.0 {
                return f64::from(place);
            }
        }
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ergodic_base::{Purpose, stream};

    #[test]
    fn chances_are_shares_of_exponentials_and_levels_are_drawn_with_them() {
        let levels = Unordered::new(4);
        let z = [0.3, -1.2, 2.0];
        let total = 1.0 + z.iter().map(|z: &f64| z.exp()).sum::<f64>();
        let mut chances = z;
        let log_total = levels.chances(&mut chances);
        assert!((log_total - total.ln()).abs() < 1e-14);
        let all = [1.0 / total, chances[0], chances[1], chances[2]];
        assert!((all.iter().sum::<f64>() - 1.0).abs() < 1e-14);
        for (k, chance) in all.iter().enumerate() {
            let log_p = levels.log_p(&z, (k + 1) as f64);
            assert!((log_p - chance.ln()).abs() < 1e-14, "{k}");
        }
        let mut rng = stream(7, 0, Purpose::Data);
        let mut counts = [0.0; 4];
        let draws = 40_000.0;
        for _ in 0..40_000 {
            counts[levels.draw(&chances, &mut rng) as usize - 1] += 1.0;
        }
        for (count, p) in counts.iter().zip(all) {
            let error = (p * (1.0 - p) / draws).sqrt();
            assert!((count / draws - p).abs() < 4.0 * error, "{counts:?}");
        }
    }

    #[test]
    fn far_out_nothing_overflows() {
        let levels = Unordered::new(3);
        let mut chances = [900.0, -900.0];
        assert!((levels.chances(&mut chances) - 900.0).abs() < 1e-9);
        assert_eq!(chances, [1.0, 0.0]);
        assert!((levels.log_p(&[900.0, -900.0], 1.0) + 900.0).abs() < 1e-9);
        assert!((levels.log_p(&[-900.0, -800.0], 2.0) + 900.0).abs() < 1e-9);
        for y in [0.0, 4.0, 1.5] {
            assert_eq!(levels.log_p(&[0.0, 0.0], y), f64::NEG_INFINITY);
        }
    }
}
