//! A step size for each block of coordinates, for samplers of stochastic gradients that scale directions by nothing else.
//!
//! Coordinate j moves by c_j h ĝ_j + sqrt(2 c_j h T) ξ_j: a step h c_j of its own, which is the same as the preconditioner M = diag(c).
//! Of dynamics with momentum the steps are in time, so that coordinate j moves by c_j ε: the mass matrix diag(1/c²).
//!
//! | `block_steps` | c of the coordinates of block b |
//! |---|---|
//! | equal | 1 |
//! | gradient | 1/√S_b, S_b the mean of |ĝ_b|²/d_b over the steps of the warm-up (Baker 2018, appendix A.3) |
//! | `b[*]: 0.1; sigma: 2` | as written ([`super::named_blocks`]), 1 where nothing is |
//!
//! Baker's recursion S_k = (1/k)(|ĝ_k|²/d − S_{k−1}) is read as that of a mean, S_k = S_{k−1} + (1/k)(|ĝ_k|²/d − S_{k−1}). Ours
//! ends with the warm-up, after which steps are fixed: a step that depends on the gradient it is used with has a bias of its own.
//! Without a warm-up S is that of the first step. Blocks are the model's ([`crate::models::Model::blocks`]).

use super::named_blocks::{Chosen, Notation};
use super::{Phase, StateVisitor, Tick};
use crate::models::{Block, Model, parts};
use ergodic_base::linalg::dot;
use ergodic_base::settings::{Field, SettingError, Settings};

/// Key of the setting.
const KEY: &str = "block_steps";
/// All have one step.
const EQUAL: &str = "equal";
/// By the size of gradients.
const GRADIENT: &str = "gradient";
/// Factors of the step beyond which something is mistyped.
const FACTORS: std::ops::RangeInclusive<f64> = 1e-12..=1e12;

/// Steps of blocks by gradients or as written.
pub const BLOCK_STEPS: Field = Field::text("Steps of blocks", &[EQUAL, GRADIENT], EXAMPLE, EQUAL)
    .help(
        "equal: `step_size` is that of all parameters; gradient: of each block of the model it is divided by the root mean square of its \
         gradients in warm-up, as for matrix factorisation in Baker (2018), appendix A.3; or factors of it, as written: blocks between \
         semicolons, names between commas, * for any characters, the factor after a colon. All but equal need a `step_size` and no \
         other preconditioner",
    )
    .why("one step is easier to choose");

/// Steps of blocks as written, in time.
pub const BLOCK_TIMES: Field = Field::text("Steps of blocks", &[EQUAL], EXAMPLE, EQUAL)
    .help(
        "equal: `step_size` is that of all parameters; or factors of it, as written: blocks between semicolons, names between commas, \
         * for any characters, the factor after a colon. These need a `step_size` and `mass` = identity",
    )
    .why("one step is easier to choose");

const EXAMPLE: &str = "b[*]: 0.1; sigma: 2";

const NOTATION: Notation<f64> = Notation {
    key: KEY,
    thing: "a factor",
    example: EXAMPLE,
    known: || format!("a factor from {:e} to {:e}", FACTORS.start(), FACTORS.end()),
    read: |text| text.parse().ok().filter(|factor| FACTORS.contains(factor)),
};

/// The setting, read.
#[derive(Clone, Debug, PartialEq)]
pub enum BlockSteps {
    /// One step for all.
    Equal,
    /// By the size of gradients.
    Gradient,
    /// Factors by name.
    Written(Vec<Chosen<f64>>),
}

impl BlockSteps {
    /// Reads the setting.
    ///
    /// # Errors
    /// The text is no word of `words` and no list of blocks.
    pub fn read(text: &str, field: &Field) -> Result<Self, SettingError> {
        let is_word = matches!(field.kind, ergodic_base::settings::Kind::Text { words, .. } if words.contains(&text));
        match text {
            EQUAL => Ok(Self::Equal),
            GRADIENT if is_word => Ok(Self::Gradient),
            _ if text.contains(':') => Ok(Self::Written(NOTATION.read(text)?)),
            // What is no word and has no colon is a word mistyped.
            _ => Err(SettingError::Value {
                key: KEY.to_owned(),
                takes: field.kind.to_string(),
                value: text.to_owned(),
            }),
        }
    }

    /// Whether settings give blocks steps of their own, which nobody has read yet.
    pub fn are_given(settings: &Settings) -> bool {
        settings.text(KEY).is_some_and(|text| text != EQUAL)
    }

    /// Whether blocks have steps of their own.
    pub fn differ(&self) -> bool {
        *self != Self::Equal
    }

    /// Refuses steps of blocks beside `other`, which scales directions too, and without a step that they are factors of.
    ///
    /// # Errors
    /// What to set instead.
    pub fn check_alone(&self, other: Option<&str>, step: Option<f64>) -> Result<(), SettingError> {
        match (self.differ(), other, step) {
            (true, Some(other), _) => Err(SettingError::unfit(
                KEY,
                format!("scales steps, as {other} does; choose one of both"),
            )),
            (true, None, None) => Err(SettingError::unfit(
                KEY,
                "other than equal needs a `step_size` of yours, of which it makes those of blocks",
            )),
            _ => Ok(()),
        }
    }

    /// Refuses names that a model with these `parts` does not have.
    ///
    /// # Errors
    /// What is named in vain, and what there is.
    pub fn check(&self, parts: &[Block]) -> Result<(), SettingError> {
        match self {
            Self::Equal | Self::Gradient => Ok(()),
            Self::Written(chosen) => NOTATION.divide(chosen, parts).map(|_blocks| ()),
        }
    }

    /// c of every coordinate of `model` (D), 1 where it is not known beforehand.
    pub fn factors(&self, model: &dyn Model) -> Vec<f64> {
        let mut factors = vec![1.0; model.dim()];
        if let Self::Written(chosen) = self {
            // What `check` would refuse is not reached here.
            let blocks = NOTATION.divide(chosen, &parts(model)).unwrap_or_default();
            for (coordinates, factor) in blocks {
                for j in coordinates {
                    factors[j] = factor.unwrap_or(1.0);
                }
            }
        }
        factors
    }
}

/// The steps of blocks of a chain.
#[derive(Clone, Debug)]
pub struct Scales {
    /// c per coordinate (D).
    factors: Vec<f64>,
    /// Blocks whose c follows from gradients.
    blocks: Vec<Block>,
    /// S per block.
    squares: Vec<f64>,
    /// Steps that S is the mean of.
    count: u64,
}

impl Scales {
    /// Before the first step; `None` where all steps are equal.
    pub fn of(steps: &BlockSteps, model: &dyn Model) -> Option<Self> {
        let blocks = match steps {
            BlockSteps::Equal => return None,
            BlockSteps::Written(_) => Vec::new(),
            BlockSteps::Gradient => model.blocks(),
        };
        Some(Self {
            factors: steps.factors(model),
            squares: vec![0.0; blocks.len()],
            blocks,
            count: 0,
        })
    }

    /// c of every coordinate, after a look at the gradient (D) of the step at `at`.
    pub fn at(&mut self, at: Tick, grad: &[f64]) -> &[f64] {
        let adapts = matches!(at.phase, Phase::Warmup { .. }) || self.count == 0;
        if adapts {
            self.count += 1;
            for (block, square) in self.blocks.iter().zip(&mut self.squares) {
                let own = &grad[block.coordinates.clone()];
                *square += (dot(own, own) / own.len() as f64 - *square) / self.count as f64;
                // Where gradients are 0 there is no scale.
                let factor = if *square > 0.0 {
                    square.sqrt().recip()
                } else {
                    1.0
                };
                self.factors[block.coordinates.clone()].fill(factor);
            }
        }
        &self.factors
    }

    /// Visits every number.
    pub fn visit(&mut self, visitor: &mut dyn StateVisitor) {
        visitor.slice("block_factors", &mut self.factors);
        visitor.slice("block_squares", &mut self.squares);
        visitor.counter("block_count", &mut self.count);
    }
}

#[cfg(test)]
mod tests;
