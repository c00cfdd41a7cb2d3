//! How much noise minibatches add to gradients, plain and with control variates.
//!
//! The gradient of a minibatch is that of all rows plus noise ξ of mean 0. L⁻¹ξ, with H = L L' the curvature of the log posterior at
//! its mode, has no units: over a normal posterior L⁻¹ times the gradient of all rows has variance 1 in each of D directions, D in
//! sum. The second moment E‖L⁻¹ξ‖² (that of Lemma 3.3.3 of Baker 2018, relative to the curvature) is the trace of the covariance of
//! L⁻¹ξ. Of plain gradients it is measured at the mode, with control variates, whose noise is 0 there, at typical distances from it.

use serde::{Deserialize, Serialize};

use super::centre::{Centre, largest_eigenvalue};
use super::minibatch::Scheme;
use crate::models::RowLikelihood;
use ergodic_base::numerals::plural;
use ergodic_base::numerals::{significant, thousands};

/// The size of noise: numbers of the covariance of L⁻¹ξ.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoiseSize {
    /// Trace: the second moment, over all directions.
    pub trace: f64,
    /// Largest eigenvalue: the variance in the noisiest direction.
    pub largest: f64,
}

/// The noise of both kinds of gradients from minibatches of one size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GradientNoise {
    /// Rows per minibatch.
    pub batch: usize,
    /// D: what the variances of the gradient of all rows sum to.
    pub dim: usize,
    /// Of plain gradients.
    pub plain: NoiseSize,
    /// Of gradients with control variates at the mode.
    pub control_variates: NoiseSize,
    /// Order of the expansions that these compare rows with.
    pub order: usize,
}

impl Centre {
    /// The noise of gradients from minibatches of `batch` rows chosen by `scheme`, with control variates of `order`. `factor` is v
    /// where their estimates have covariance v N C, with C that of one row's score. `None` where numbers are not finite, and where
    /// a minibatch has all rows and there is no noise.
    pub fn gradient_noise(
        &self,
        model: &dyn RowLikelihood,
        (batch, factor): (usize, f64),
        (scheme, order): (Scheme, usize),
    ) -> Option<GradientNoise> {
        let dim = self.u.len();
        let noise = self.noise(Some(model));
        let centred = match order {
            2 => self.second_order_noise(model),
            _ => noise.centred(scheme),
        };
        let size = |noise: &[f64], factor: f64| -> Option<NoiseSize> {
            let trace: f64 = noise.iter().step_by(dim + 1).sum();
            let size = NoiseSize {
                trace: factor * trace,
                largest: factor * largest_eigenvalue(noise, dim)?.max(0.0),
            };
            (size.trace.is_finite() && size.largest.is_finite()).then_some(size)
        };
        let plain = size(&noise.scores, factor).filter(|size| size.trace > 0.0)?;
        Some(GradientNoise {
            batch,
            dim,
            plain,
            // Theirs is N² L⁻¹ C_Δ L⁻ᵀ.
            control_variates: size(centred, factor / model.num_obs() as f64)?,
            order,
        })
    }
}

impl GradientNoise {
    /// The units of a [`NoiseSize`].
    pub const UNITS: &'static str =
        "variances of the gradient of all rows over the posterior, 1 in each direction";

    /// What control variates leave of the plain gradients' second moment.
    pub fn share(&self) -> f64 {
        self.control_variates.trace / self.plain.trace
    }

    /// What the noise is of: "Gradient noise of 100 rows".
    pub fn title(&self) -> String {
        format!("Gradient noise of {} rows", thousands(self.batch as u64))
    }

    /// What is compared, and how large each is.
    pub fn sizes(&self) -> [(&'static str, NoiseSize); 2] {
        let centred = match self.order {
            2 => "with control variates of second order",
            _ => "with control variates",
        };
        [("plain", self.plain), (centred, self.control_variates)]
    }

    /// Both sizes in one sentence without its period.
    pub fn sentence(&self) -> String {
        let sizes = self.sizes().map(|(name, size)| {
            let [trace, largest] = [size.trace, size.largest].map(|it| significant(it, 2));
            format!("{name} {trace} and {largest}")
        });
        format!(
            "{}, summed over {} and in the noisiest: {} ({} %), in {}",
            self.title(),
            plural(self.dim, "direction"),
            sizes.join(", "),
            significant(100.0 * self.share(), 2),
            Self::UNITS
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::GaussianRows;

    #[test]
    fn plain_noise_of_a_gaussian_is_that_of_its_rows_and_control_variates_leave_none() {
        let model = GaussianRows::simulated(20_000, 3, 8);
        let centre = Centre::at(&model, &model.posterior_mean()).unwrap();
        let of = |batch: usize| {
            let factor = 20_000.0 / batch as f64;
            let found = centre.gradient_noise(&model, (batch, factor), (Scheme::Iid, 1));
            found.unwrap()
        };
        let noise = of(200);
        // A well-specified model: N C = H, so that the covariance is N/B times the identity.
        assert!((noise.plain.trace / 300.0 - 1.0).abs() < 0.05, "{noise:?}");
        assert!((noise.plain.largest / 100.0 - 1.0).abs() < 0.05);
        assert!(noise.control_variates.trace < 1e-6 && noise.share() < 1e-8);
        assert!((of(100).plain.trace / noise.plain.trace - 2.0).abs() < 1e-12);
        let said = noise.sentence();
        let words =
            "Gradient noise of 200 rows, summed over 3 directions and in the noisiest: plain ";
        assert!(said.starts_with(words), "{said}");
        // All rows at once have no noise.
        let all = centre.gradient_noise(&model, (20_000, 0.0), (Scheme::Iid, 1));
        assert_eq!(all, None);
    }
}
