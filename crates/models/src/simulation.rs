//! Data made by a model: parameters from the prior, rows for them.

use super::Rows;
use ergodic_base::rng::ChainRng;

/// Why a model without [`Simulation`] makes no data, in words that can follow "template `id` cannot, because ".
pub const NO_SIMULATION: &str = "the model does not say how to draw from its prior";

/// The view of a model that makes data by its prior.
pub trait Simulation: Send + Sync {
    /// Numbers per row: 1, the response; without a response the columns of the row, C.
    fn values_per_row(&self) -> usize;
    /// Draws a position from the prior, and all rows of the design for it (N×C): responses without scaling or, where there is no
    /// response, rows as they are in the data, numeric columns and then positions of the levels of categorical ones.
    ///
    /// # Errors
    /// Why it cannot be done, in words that can follow "template `id` cannot, because ".
    fn draw_all(
        &self,
        rng: &mut ChainRng,
        u: &mut [f64],
        values: &mut [f64],
    ) -> Result<(), &'static str>;
}

/// The view of a model that draws from its prior, and rows for what it drew.
pub trait PriorDraws: Simulation {
    /// Draws a position from the prior.
    ///
    /// # Errors
    /// As for [`Simulation::draw_all`].
    fn draw_prior(&self, rng: &mut ChainRng, u: &mut [f64]) -> Result<(), &'static str>;
    /// Simulated responses for `rows` (B), or rows where there is no response (B×C), given `u`.
    fn simulate(&self, u: &[f64], rows: Rows<'_>, rng: &mut ChainRng, values: &mut [f64]);
    /// See [`Simulation::values_per_row`].
    fn width(&self) -> usize {
        1
    }
}

impl<T: PriorDraws> Simulation for T {
    fn values_per_row(&self) -> usize {
        self.width()
    }

    fn draw_all(
        &self,
        rng: &mut ChainRng,
        u: &mut [f64],
        values: &mut [f64],
    ) -> Result<(), &'static str> {
        self.draw_prior(rng, u)?;
        self.simulate(u, Rows::All, rng, values);
        Ok(())
    }
}
