//! The settings `batch` and `scheme` that all minibatch samplers share.

use super::Target;
use super::langevin::{centred_batch, plain_batch};
use crate::oracle::minibatch::BLOCK_ROWS;
use crate::oracle::{Estimator, Scheme};
use ergodic_base::settings::{Default, Field, Kind, SettingError, Settings, Value};

/// Rows per gradient.
pub const BATCH: Field = Field {
    key: "batch",
    label: "Rows per step",
    help: "Rows in a minibatch, |S| or n in the papers: more rows give less gradient noise per step and cost more",
    kind: Kind::Int {
        min: 1,
        max: 1_000_000_000,
    },
    default: None,
    why: "chosen from the number of rows so that a step stays cheap",
};

/// How rows are chosen.
pub const SCHEME: Field = Field {
    key: "scheme",
    label: "Choice of rows",
    help: "iid: independent rows with replacement, as the variance formulas assume; blocks: random blocks of 8 rows; \
           spans: one random stretch; epoch: every row once per pass",
    kind: Kind::Choice(Scheme::WORDS),
    default: Some(Default::Text("iid")),
    why: "the papers' formulas hold exactly",
};

/// Choice of rows for gradients centred at the mode, whose rows need not have equal chances.
pub const CENTRED_SCHEME: Field = Field {
    help: "iid: independent rows with replacement, as the variance formulas assume; blocks: random blocks of 8 rows; \
           spans: one random stretch; epoch: every row once per pass; lipschitz: independent rows, the likelier the more their \
           gradients can change, for data in which few rows weigh a lot",
    kind: Kind::Choice(Scheme::CENTRED_WORDS),
    default: None,
    why: "iid, but lipschitz where that makes gradients at least four times calmer, as with rare levels",
    ..SCHEME
};

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

impl MinibatchSettings {
    /// From settings, with `default_batch` rows where the user chose none.
    pub fn read(settings: &Settings, target: &Target, default_batch: usize) -> Self {
        let scheme = Scheme::from_word(settings.text("scheme").unwrap_or("iid"));
        Self::with_scheme(scheme, settings, target, default_batch)
    }

    /// From settings, for gradients centred at the mode ([`CENTRED_SCHEME`]), whose default batch follows from κ.
    ///
    /// # Errors
    /// Unequal chances of rows were asked for, and the model tells none.
    pub fn read_centred(settings: &Settings, target: &Target) -> Result<Self, SettingError> {
        let known = target.weighted_difference_rows.zip(target.difference_rows);
        let scheme = match (settings.text("scheme"), known) {
            (Some(word), _) => Scheme::from_word(word),
            (None, Some((weighted, plain))) if WORTH_CHANCES * weighted < plain => {
                Scheme::Lipschitz
            }
            (None, _) => Scheme::Iid,
        };
        if scheme == Scheme::Lipschitz && target.weighted_difference_rows.is_none() {
            return Err(SettingError::unfit(
                "scheme",
                "takes lipschitz only for a likelihood with one linear predictor per row and bounded curvature, as in logistic \
                 regression, whose mode was found",
            ));
        }
        let rows = target.centred_rows(scheme);
        let batch = rows.map_or_else(|| plain_batch(target.num_obs), centred_batch);
        Ok(Self::with_scheme(scheme, settings, target, batch))
    }

    /// [`Self::read_centred`] or, for plain estimates, [`Self::read`].
    ///
    /// # Errors
    /// See [`Self::read_centred`].
    pub fn read_for(
        estimator: Estimator,
        settings: &Settings,
        target: &Target,
    ) -> Result<Self, SettingError> {
        match estimator {
            Estimator::Plain => Ok(Self::read(settings, target, plain_batch(target.num_obs))),
            Estimator::ControlVariate => Self::read_centred(settings, target),
        }
    }

    fn with_scheme(
        scheme: Scheme,
        settings: &Settings,
        target: &Target,
        default_batch: usize,
    ) -> Self {
        let mut batch = settings
            .int("batch")
            .map_or(default_batch, |batch| batch as usize)
            .clamp(1, target.num_obs.max(1));
        if scheme == Scheme::Blocks {
            batch = batch.next_multiple_of(BLOCK_ROWS);
        }
        Self { batch, scheme }
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

    /// For the manifest.
    pub fn resolved(&self) -> [(&'static str, Value); 2] {
        [
            ("batch", Value::Int(self.batch as i64)),
            ("scheme", Value::Text(self.scheme.word().to_owned())),
        ]
    }
}
