//! Data made by a model: parameters from the prior, rows for them.

use super::Rows;
use ergodic_base::ChainRng;

/// Why nothing is drawn from a prior, or no rows are made by it, in words that can follow "because".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoPriorDraws {
    /// The model has no view that draws.
    #[error("the model does not say how to draw from its prior")]
    NotSaid,
    /// A model as text has no rows.
    #[error("the model has no section `rows` that they would come from")]
    NoRows,
    /// The whole prior is flat.
    #[error("its prior is flat, and a flat prior cannot be drawn from")]
    Flat,
    /// One of the priors is flat.
    #[error("it has a flat prior, and a flat prior cannot be drawn from")]
    HasFlat,
    /// A gamma distribution does not exist.
    #[error("the shape and the rate of its prior are out of range")]
    Gamma,
    /// The distribution of a precision does not exist.
    #[error("the numbers of the prior of a precision are out of range")]
    Precision,
    /// The distribution of a covariance does not exist.
    #[error("the scale of its prior of Sigma is not positive definite")]
    Covariance,
    /// The distributions of a mixture do not exist.
    #[error("its prior cannot be drawn from")]
    Mixture,
    /// Units of a mixture take no part in the fit.
    #[error("rows are simulated only where no unit is held out; leave out model.held_out")]
    UnitsHeldOut,
    /// Documents take no part in the fit.
    #[error("words are simulated only where no document is held out; leave out model.held_out")]
    DocumentsHeldOut,
    /// A row stands for several words.
    #[error("a row that counts a word several times is several words; give each a row of its own")]
    CountedWords,
    /// The section `target` of a model as text may belong to prior or likelihood.
    #[error("its section `target` has a part in the prior")]
    Target,
    /// A parameter of a model as text without a prior.
    #[error("its parameter `{0}` has no prior")]
    Missing(String),
    /// A parameter of a model as text whose prior cannot be drawn before itself.
    #[error("the prior of its parameter `{0}` depends on itself")]
    Circular(String),
    /// Ascending numbers of a model as text that sorting would not give their distribution.
    #[error("its ascending numbers `{0}` have different priors")]
    Ascending(String),
    /// A distribution of models as text without a way to draw.
    #[error("nobody has said how `{0}` is drawn")]
    Distribution(&'static str),
    /// Nothing was found within the bounds of several parameters.
    #[error("the bounds of its parameters leave hardly anything of the prior")]
    Bounds,
    /// Nothing was found within the bounds of a parameter.
    #[error("the bounds of its parameter `{0}` leave hardly anything of the prior")]
    BoundsOf(String),
}

/// The view of a model that makes data by its prior.
pub trait Simulation: Send + Sync {
    /// Numbers per row: 1, the response; without a response the columns of the row, C.
    fn values_per_row(&self) -> usize;
    /// Draws a position from the prior, and all rows of the design for it (N×C): responses without scaling or, where there is no
    /// response, rows as they are in the data, numeric columns and then positions of the levels of categorical ones.
    ///
    /// # Errors
    /// Why it cannot be done.
    fn draw_all(
        &self,
        rng: &mut ChainRng,
        u: &mut [f64],
        values: &mut [f64],
    ) -> Result<(), NoPriorDraws>;
}

/// The view of a model that draws from its prior, and rows for what it drew.
pub trait PriorDraws: Simulation {
    /// Draws a position from the prior.
    ///
    /// # Errors
    /// As for [`Simulation::draw_all`].
    fn draw_prior(&self, rng: &mut ChainRng, u: &mut [f64]) -> Result<(), NoPriorDraws>;
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
    ) -> Result<(), NoPriorDraws> {
        self.draw_prior(rng, u)?;
        self.simulate(u, Rows::All, rng, values);
        Ok(())
    }
}
