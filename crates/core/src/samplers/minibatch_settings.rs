//! The settings `batch` and `scheme` that all minibatch samplers share.

use super::langevin::{centred_batch, plain_batch};
use super::recommend::Traits;
use super::{NOISE_SHARE, SamplerSpec, StateVisitor, Target};
use crate::models::{BLOCK_ROWS, Model};
use crate::oracle::{Centre, Estimator, GradientNoise, Oracle, Scheme, StepError};
use ergodic_base::Warning;
use ergodic_base::settings::{Declared, Field, Kind, Setting, SettingError, Settings, Value};

/// Key of [`BATCH`] among the settings of samplers.
const BATCH_KEY: &str = "batch";
/// Rows per gradient.
pub const BATCH: Field = Field::rows("Rows per step")
    .help(
        "Rows in a minibatch, |S| or n in the papers: more rows give less gradient noise per step and cost more; a number below 1 \
         is a share of all rows, as minibatchSize = 0.01 in the R package sgmcmc",
    )
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

ergodic_base::remarks! {
    /// What is remarkable about the size of minibatches.
    pub enum Remark {
        /// More rows were asked for than there are.
        AllRows {
            /// Rows of a minibatch that were asked for.
            asked: i64,
            /// Rows of the table.
            num_obs: usize,
        }
        Info "batch-of-all-rows" (
            "Setting `sampler.batch` asks for {asked} rows and the table has {num_obs}: a minibatch has as many rows as the table"
        ) advice ("Lower `sampler.batch`, or take a sampler of all rows such as `nuts`, which is exact");
    }
}

/// What to say of the minibatches that `given` asks for, of a table with `num_obs` rows.
pub fn larger_than_table(given: &Settings, num_obs: usize) -> Option<Warning> {
    let asked = given.int(BATCH_KEY)?;
    (asked > num_obs as i64).then(|| Remark::AllRows { asked, num_obs }.into())
}

/// A size of minibatches as a user gives it: rows, or below 1 a share of all rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size(f64);

impl Size {
    /// A size of `rows` rows.
    pub fn rows(rows: usize) -> Self {
        Self(rows as f64)
    }

    /// The rows of a table with `num_obs`, one at least; not more than it has.
    pub fn of(self, num_obs: usize) -> usize {
        let rows = if self.0 < 1.0 {
            self.0 * num_obs as f64
        } else {
            self.0
        };
        (rows.round() as usize).clamp(1, num_obs.max(1))
    }
}

impl Setting for Size {
    const KIND: Kind = Kind::Rows;

    fn from_value(value: &Value) -> Option<Self> {
        f64::from_value(value).map(Self)
    }

    fn to_value(&self) -> Value {
        if self.0.fract() == 0.0 {
            Value::Int(self.0 as i64)
        } else {
            Value::Real(self.0)
        }
    }
}

/// Batch and scheme in force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MinibatchSettings {
    /// Rows per gradient.
    pub batch: usize,
    /// How rows are chosen.
    pub scheme: Scheme,
    /// Whether gradients centred at the mode are compared with linear expansions there.
    pub second_order: bool,
}

ergodic_base::settings! {
    /// Minibatches for plain gradients.
    pub struct PlainRows {
        batch: Option<Size> = BATCH;
        scheme: Scheme = SCHEME;
    }
}

ergodic_base::settings! {
    /// Minibatches for gradients centred at the mode.
    pub struct CentredRows {
        batch: Option<Size> = BATCH;
        scheme: Option<Scheme> = CENTRED_SCHEME;
        pub order: usize = Field::int("Order of control variates", 1, 2, Some(1))
            .help(
                "1: a row's gradient is compared with that at the mode, or where a chain starts if no mode is known; 2: with its linear \
                 expansion at the mode, as in SGLD-1 and SG-HMC-1 of Dang et al. (2019), which leaves less noise and costs about twice as much",
            )
            .why("the bias of a step is small already");
    }
}

/// Where a chain centres its gradients (D) if that is not the mode: where it started.
#[derive(Clone, Debug)]
pub struct OwnCentre(Option<Vec<f64>>);

impl OwnCentre {
    /// That of a chain that starts at `u0` (D) with gradients of this kind, which minibatches of `oracle` make.
    ///
    /// # Errors
    /// Gradients are to be centred, and the model has no rows.
    pub fn of_start(
        u0: &[f64],
        estimator: Estimator,
        oracle: &mut Oracle,
    ) -> Result<Self, StepError> {
        let is_own = estimator == Estimator::ControlVariate && oracle.centre().is_none();
        let centre = Self(is_own.then(|| u0.to_vec()));
        centre.hold(oracle)?;
        Ok(centre)
    }

    /// Has `oracle` centre gradients there, before an estimate: a chain that goes on from a checkpoint began elsewhere. Costs a pass over the
    /// rows where they were centred elsewhere.
    ///
    /// # Errors
    /// The model has no rows.
    pub fn hold(&self, oracle: &mut Oracle) -> Result<(), StepError> {
        match &self.0 {
            Some(centre) => oracle.centre_at(centre),
            None => Ok(()),
        }
    }

    /// Visits every number.
    pub fn visit(&mut self, visitor: &mut dyn StateVisitor) {
        if let Some(centre) = &mut self.0 {
            visitor.slice("centre", centre);
        }
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
    /// Unequal chances of rows were asked for, and the model tells none; or control variates of second order, and no mode was found.
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
        let second_order = self.order == 2;
        if second_order {
            if target.model.is_some() && !target.has_mode() {
                return Err(SettingError::unfit(
                    "order",
                    "= 2 needs the curvature at the posterior mode, and none is known; set `order` to 1, which needs gradients alone",
                ));
            }
            let scheme = *self.scheme.get_or_insert(Scheme::Iid);
            if scheme == Scheme::Lipschitz {
                return Err(SettingError::unfit(
                    "scheme",
                    "= lipschitz goes with gradients of first order; set `order` to 1, or choose iid",
                ));
            }
        }
        let settled = MinibatchSettings::settle_centred(&mut self.batch, &mut self.scheme, target)?;
        Ok(MinibatchSettings {
            second_order,
            ..settled
        })
    }
}

impl SamplerSpec {
    /// The noise of gradients from minibatches of the sampler's `settings`, once these are settled, both plain and with control
    /// variates; `None` of samplers whose steps have no such noise.
    pub fn gradient_noise(
        &self,
        settings: &Settings,
        model: &dyn Model,
        centre: &Centre,
    ) -> Option<GradientNoise> {
        let has_noise = self.info.iter().any(|column| column.name == NOISE_SHARE);
        let rows = model.rows().filter(|_| has_noise)?;
        let minibatch = MinibatchSettings::named(settings, rows.num_obs())?;
        centre.gradient_noise(
            rows,
            (minibatch.batch, minibatch.noise_factor(rows.num_obs())),
            (minibatch.scheme, 1 + usize::from(minibatch.second_order)),
        )
    }
}

impl MinibatchSettings {
    /// The minibatches that the settled `settings` of a sampler name; `None` where these have no batch.
    fn named(settings: &Settings, num_obs: usize) -> Option<Self> {
        let rows = CentredRows::read(settings).ok()?;
        Some(Self {
            batch: rows.batch?.of(num_obs),
            scheme: rows.scheme.unwrap_or(Scheme::Iid),
            second_order: rows.order == 2,
        })
    }

    /// Settles `batch`, `default_batch` rows where the user chose none.
    pub fn settle(
        batch: &mut Option<Size>,
        scheme: Scheme,
        target: &Target,
        default_batch: usize,
    ) -> Self {
        let mut rows = batch
            .unwrap_or(Size::rows(default_batch))
            .of(target.num_obs);
        if scheme == Scheme::Blocks {
            rows = rows.next_multiple_of(BLOCK_ROWS);
        }
        *batch = Some(Size::rows(rows));
        Self {
            batch: rows,
            scheme,
            second_order: false,
        }
    }

    /// Makes them those of an `oracle` with gradients of this kind.
    pub fn install(&self, estimator: Estimator, oracle: &mut Oracle) {
        oracle.set_estimator(estimator, self.batch, self.scheme);
        if self.second_order {
            oracle.expand_to_second_order();
        }
    }

    /// Settles `batch` and `scheme` for gradients centred at the mode, whose default batch follows from κ.
    ///
    /// # Errors
    /// See [`Rows::settle`].
    pub fn settle_centred(
        batch: &mut Option<Size>,
        scheme: &mut Option<Scheme>,
        target: &Target,
    ) -> Result<Self, SettingError> {
        let weighted = target.centred_rows(Scheme::Lipschitz);
        let calmer = (weighted.zip(target.difference_rows()))
            .is_some_and(|(weighted, plain)| WORTH_CHANCES * weighted < plain);
        let scheme = *scheme.get_or_insert(if calmer {
            Scheme::Lipschitz
        } else {
            Scheme::Iid
        });
        if scheme == Scheme::Lipschitz && weighted.is_none() {
            return Err(SettingError::unfit(
                "scheme",
                "takes lipschitz only for a likelihood with one linear predictor per row and bounded curvature, as in logistic \
                 regression, whose mode was found",
            ));
        }
        let rows = target.centred_rows(scheme);
        let default_batch = rows.map_or_else(|| Ok(plain_batch(target.num_obs)), centred_batch)?;
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
