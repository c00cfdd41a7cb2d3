//! The settings `batch` and `scheme` that all minibatch samplers share.

use super::langevin::{centred_batch, plain_batch};
use super::recommend::Traits;
use super::{SamplerSpec, Target};
use crate::oracle::minibatch::BLOCK_ROWS;
use crate::oracle::{Estimator, Scheme};
use ergodic_base::settings::{Declared, Field, SettingError};

/// Rows per gradient.
pub const BATCH: Field = Field::int("Rows per step", 1, 1_000_000_000, None)
    .help("Rows in a minibatch, |S| or n in the papers: more rows give less gradient noise per step and cost more")
    .why("chosen from the number of rows so that a step stays cheap");

/// Words of schemes that give every row the same chance.
const EQUAL_CHANCES: &[&str] = Scheme::WORDS.split_at(4).0;

/// How rows are chosen.
pub const SCHEME: Field = Field::choice("Choice of rows", EQUAL_CHANCES, Some(Scheme::Iid.word()))
    .help(
        "iid: independent rows with replacement, as the variance formulas assume; blocks: random blocks of 8 rows; \
         spans: one random stretch; epoch: every row once per pass",
    )
    .why("the papers' formulas hold exactly");

/// Choice of rows for gradients centred at the mode, whose rows need not have equal chances.
pub const CENTRED_SCHEME: Field = Scheme::field("Choice of rows", None)
    .help(
        "iid: independent rows with replacement, as the variance formulas assume; blocks: random blocks of 8 rows; \
         spans: one random stretch; epoch: every row once per pass; lipschitz: independent rows, the likelier the more their \
         gradients can change, for data in which few rows weigh a lot",
    )
    .why("iid, but lipschitz where that makes gradients at least four times calmer, as with rare levels");

/// Gain in variance from which unequal chances are worth their cost: scores of rows one by one, and 20 bytes per row.
const WORTH_CHANCES: f64 = 4.0;

/// Batch and scheme in force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MinibatchSettings {
    /// Rows per gradient.
    pub batch: usize,
    /// How they are chosen.
    pub scheme: Scheme,
}

ergodic_base::settings! {
    /// Minibatches for plain gradients.
    pub struct PlainRows {
        batch: Option<usize> = BATCH;
        scheme: Scheme = SCHEME;
    }
}

ergodic_base::settings! {
    /// Minibatches for gradients centred at the mode.
    pub struct CentredRows {
        batch: Option<usize> = BATCH;
        scheme: Option<Scheme> = CENTRED_SCHEME;
    }
}

/// What tells samplers apart that share their code and differ in their minibatches.
pub trait Described {
    /// See [`super::Sampler::SPEC`].
    const DESCRIPTION: SamplerSpec;
    /// See [`super::Sampler::ADVICE`].
    const FOR_ADVISER: Traits = Traits::ORDINARY;
}

/// Minibatches for one kind of gradients.
pub trait Rows: Declared + 'static {
    /// The kind.
    const ESTIMATOR: Estimator;

    /// The minibatches for `target`.
    ///
    /// # Errors
    /// Unequal chances of rows were asked for, and the model tells none.
    fn settle(&mut self, target: &Target) -> Result<MinibatchSettings, SettingError>;
}

impl Rows for PlainRows {
    const ESTIMATOR: Estimator = Estimator::Plain;

    fn settle(&mut self, target: &Target) -> Result<MinibatchSettings, SettingError> {
        Ok(self.settle_with(target, plain_batch(target.num_obs)))
    }
}

impl PlainRows {
    /// The minibatches for `target`, of `default_batch` rows where the user chose none.
    pub fn settle_with(&mut self, target: &Target, default_batch: usize) -> MinibatchSettings {
        MinibatchSettings::settle(&mut self.batch, self.scheme, target, default_batch)
    }
}

impl Rows for CentredRows {
    const ESTIMATOR: Estimator = Estimator::ControlVariate;

    fn settle(&mut self, target: &Target) -> Result<MinibatchSettings, SettingError> {
        MinibatchSettings::settle_centred(&mut self.batch, &mut self.scheme, target)
    }
}

impl MinibatchSettings {
    /// Settles `batch`, `default_batch` rows where the user chose none.
    pub fn settle(
        batch: &mut Option<usize>,
        scheme: Scheme,
        target: &Target,
        default_batch: usize,
    ) -> Self {
        let mut rows = batch
            .unwrap_or(default_batch)
            .clamp(1, target.num_obs.max(1));
        if scheme == Scheme::Blocks {
            rows = rows.next_multiple_of(BLOCK_ROWS);
        }
        *batch = Some(rows);
        Self {
            batch: rows,
            scheme,
        }
    }

    /// Settles `batch` and `scheme` for gradients centred at the mode, whose default batch follows from κ.
    ///
    /// # Errors
    /// See [`Rows::settle`].
    pub fn settle_centred(
        batch: &mut Option<usize>,
        scheme: &mut Option<Scheme>,
        target: &Target,
    ) -> Result<Self, SettingError> {
        let known = target.weighted_difference_rows.zip(target.difference_rows);
        let calmer = known.is_some_and(|(weighted, plain)| WORTH_CHANCES * weighted < plain);
        let scheme = *scheme.get_or_insert(if calmer {
            Scheme::Lipschitz
        } else {
            Scheme::Iid
        });
        if scheme == Scheme::Lipschitz && target.weighted_difference_rows.is_none() {
            return Err(SettingError::unfit(
                "scheme",
                "takes lipschitz only for a likelihood with one linear predictor per row and bounded curvature, as in logistic \
                 regression, whose mode was found",
            ));
        }
        let rows = target.centred_rows(scheme);
        let default_batch = rows.map_or_else(|| plain_batch(target.num_obs), centred_batch);
        Ok(Self::settle(batch, scheme, target, default_batch))
    }

    /// v such that the estimate N/B Σ s_i has covariance v N C, where C is the covariance of one row's s_i: N/B for
    /// independent rows (of s_i/(N p_i) where chances differ), N/B − 1 for a stretch of rows without repeats, 0 where all rows are used at once.
    pub fn noise_factor(&self, num_obs: usize) -> f64 {
        let factor = num_obs as f64 / self.batch as f64;
        match self.scheme {
            Scheme::Blocks => factor,
            Scheme::Iid | Scheme::Lipschitz if self.batch < num_obs => factor,
            Scheme::Iid | Scheme::Lipschitz => 0.0,
            Scheme::Spans | Scheme::Epoch => (factor - 1.0).max(0.0),
        }
    }
}
