//! What all stochastic optimisers share: minibatches, the schedule of the learning rate, the convergence trace.
//!
//! All climb the log posterior by steps of the mean gradient ḡ = (1/N) [∇log p(θ) + (N/B) Σ ∇log p(y_i|θ)] of a minibatch,
//! so that a learning rate means the same for any number of rows. By default it stays for the first half of the steps and then falls
//! to zero in proportion to the steps left; `schedule = power` makes step k, 0-based, a (1 + k/offset)^(−exponent) instead, as the
//! sources do: 1/(m k) of Baker (2018), lemma 3.3.9, is a = 1/m, offset 1, exponent 1. Where the search ends is off by the noise of the last minibatches: about
//! sqrt(N/B) times a few per cent of a posterior standard deviation, which is why the end is checked and by default
//! finished by Newton.

use std::sync::Arc;

use super::mode::{ModeError, Objective, tick};
use super::registry::OptimiserSpec;
use super::trace::Recorder;
use crate::models::{Model, Rows};
use crate::oracle::{Minibatch, Scheme};
use ergodic_base::linalg::{axpy, symmetric_eigen};
use ergodic_base::settings::{Declared, Field, SettingError, Settings};
use ergodic_base::{ChainRng, Control, Streams};

/// Share of the rows in a default minibatch, and its limits.
const BATCH_SHARE: usize = 10;
const BATCH_RANGE: (usize, usize) = (50, 1000);
/// Points of the convergence trace, each one pass over all rows.
const TRACE_POINTS: u64 = 30;
/// Rows from which the curvature at the start is estimated.
const CURVATURE_ROWS: usize = 20_000;
/// Default learning rate of plain gradient steps, in units of the inverse of the largest curvature: half of what still
/// decreases a quadratic monotonically.
const RATE_BY_CURVATURE: f64 = 0.5;

ergodic_base::choice! {
    /// How the learning rate changes.
    pub enum Schedule {
        /// Not in the first half of the steps; to zero, in proportion to the steps left, in the second.
        Late = "late",
        /// By a power of the step.
        Power = "power",
    }
}

ergodic_base::settings! {
    /// Settings of [`Schedule::Power`].
    pub struct Power {
        decay_offset: f64 = Field::real("Decay offset", 1.0, 1e15, Some(1.0))
            .help("o of a (1 + k/o)^(-b) at step k; without effect where `schedule` is late")
            .why("1 makes it a k^(-b)");
        decay_exponent: f64 = Field::real("Decay exponent", 0.0, 1.0, Some(1.0))
            .help("b of a (1 + k/o)^(-b); above 1/2 and at most 1, steps reach the mode in the end; without effect where `schedule` is late")
            .why("the fastest for strongly concave densities, with a = 1/m where m is the least curvature (Baker 2018, lemma 3.3.9)");
    }
}

ergodic_base::settings! {
    /// Settings of stochastic optimisers, with one's own `O`.
    pub struct StochasticSettings<O> {
        steps: u64 = Field::int("Steps", 1, 1_000_000_000, Some(3000))
            .help("Minibatch steps, of which each moves the parameters by one estimate of the gradient")
            .why("forgets the start at the default learning rate");
        batch: Option<usize> = Field::int("Rows per step", 1, 1_000_000_000, None)
            .help("Rows in a minibatch, each row once per pass: more rows give less noise per step and cost more")
            .why("a tenth of the rows, 50 to 1000");
        own: O;
        schedule: Schedule = Schedule::field("Learning rates", Some(Schedule::Late))
            .help("late: it stays for the first half of the steps and falls to zero in the second; power: a (1 + k/o)^(-b) at step k")
            .why("far starts are left fast, and the noise of the last minibatches fades");
        power: Power;
        polish: bool = Field::bool("Finish by Newton", true)
            .help(
                "Go on with Newton from where the optimiser stopped; without it, an end that is more than 0.1 posterior standard \
                 deviations from the mode is refused",
            )
            .why("a few passes give control variates the exact mode");
    }
}

/// Learning rate of plain gradient steps.
pub(super) const RATE: Field = Field::real("Learning rate", 0.0, 1e9, None)
    .help("a in θ' = θ + a ḡ with the mean gradient ḡ of one row")
    .why("half the inverse of the largest curvature per row at the start");

/// Learning rate of optimisers that divide by the size of the gradient: a is about the change of a parameter in one step.
pub(super) const SCALED_RATE: Field = Field::real("Learning rate", 0.0, 1e9, Some(0.02))
    .help("a: about how far a standardised coefficient moves in one step")
    .why("reaches coefficients of size 10 in 500 steps");

/// The moment of a step.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// 1 for the first step.
    pub step: u64,
    /// Share of the learning rate in force, by the schedule.
    pub share: f64,
    /// Whether this is the first half.
    pub exploring: bool,
}

/// What an optimiser does with a gradient, with what it remembers.
pub trait Update: Send {
    /// Moves `u` (D) by the estimate `grad` (D) of the gradient of the log posterior, divided by N.
    fn step(&mut self, at: Moment, u: &mut [f64], grad: &[f64], noise: &mut ChainRng);
}

/// A stochastic optimiser.
pub trait Optimiser: Update + Sized + 'static {
    /// Description of the optimiser.
    const SPEC: OptimiserSpec;
    /// Settings of its own.
    type Own: Declared + Send + Sync;
    /// Settles what `own` leaves open.
    fn settle(_own: &mut Self::Own, _model: &dyn Model) {}
    /// At the start, with settled settings, for `num_obs` rows and `dim` parameters.
    fn new(own: &Self::Own, num_obs: usize, dim: usize) -> Self;
}

/// A search with all its settings.
pub trait Search: Send + Sync {
    /// Number of steps.
    fn steps(&self) -> u64;
    /// Rows per step.
    fn batch(&self) -> usize;
    /// Whether Newton is to finish.
    fn wants_polish(&self) -> bool;
    /// Of step `step`, 1 for the first.
    fn moment(&self, step: u64) -> Moment;
    /// The optimiser at the start, for `num_obs` rows and `dim` parameters.
    fn start(&self, num_obs: usize, dim: usize) -> Box<dyn Update>;
}

/// The settings of the search by `U`.
struct Settled<U: Optimiser> {
    settings: StochasticSettings<U::Own>,
    batch: usize,
}

impl<U: Optimiser> Search for Settled<U> {
    fn steps(&self) -> u64 {
        self.settings.steps
    }
    fn batch(&self) -> usize {
        self.batch
    }
    fn wants_polish(&self) -> bool {
        self.settings.polish
    }
    fn moment(&self, step: u64) -> Moment {
        let StochasticSettings {
            schedule,
            power,
            steps,
            ..
        } = &self.settings;
        moment(*schedule, power, step, *steps)
    }
    fn start(&self, num_obs: usize, dim: usize) -> Box<dyn Update> {
        Box::new(U::new(&self.settings.own, num_obs, dim))
    }
}

pub(super) type Planner =
    fn(&Settings, &dyn Model) -> Result<(Arc<dyn Search>, Settings), SettingError>;

/// Reads the settings of `U` and settles them for `model`: the search that they make, and their values.
pub(super) fn plan<U: Optimiser>(
    given: &Settings,
    model: &dyn Model,
) -> Result<(Arc<dyn Search>, Settings), SettingError> {
    let mut settings = StochasticSettings::<U::Own>::read(given)?;
    let (least, most) = BATCH_RANGE;
    let default_batch = (model.num_obs() / BATCH_SHARE).clamp(least, most);
    let batch = *(settings.batch).get_or_insert(default_batch.min(model.num_obs().max(1)));
    U::settle(&mut settings.own, model);
    let mut values = Vec::new();
    settings.write(&mut values);
    let mut all = Settings::default();
    for (key, value) in values {
        all.set(key, value);
    }
    Ok((Arc::new(Settled::<U> { settings, batch }), all))
}

/// Default learning rate of plain gradient steps.
pub(super) fn plain_rate(model: &dyn Model) -> f64 {
    RATE_BY_CURVATURE / largest_curvature(model)
}

/// Largest curvature of the log posterior at u = 0, per row.
fn largest_curvature(model: &dyn Model) -> f64 {
    let Some(density) = model.density().filter(|it| it.has_dense_curvature()) else {
        return 1.0;
    };
    let (dim, num_obs) = (model.dim(), model.num_obs().max(1));
    let rows = Rows::Span {
        start: 0,
        len: num_obs.min(CURVATURE_ROWS).min(model.num_obs()),
    };
    let mut hessian = vec![0.0; dim * dim];
    let objective = Objective::new(density, rows);
    objective.neg_hessian(&vec![0.0; dim], &mut hessian);
    let largest = symmetric_eigen(&hessian, dim).map(|(values, _vectors)| {
        let size = |value: &f64| value.abs();
        values.iter().map(size).fold(0.0, f64::max)
    });
    largest
        .map(|value| value / num_obs as f64)
        .filter(|value| value.is_finite() && *value > 0.0)
        .unwrap_or(1.0)
}

/// Climbs from `u`, in place; returns the number of steps.
pub(super) fn maximise(
    objective: Objective<'_>,
    u: &mut [f64],
    search: &dyn Search,
    control: &Control,
    recorder: &mut Recorder,
) -> Result<u64, ModeError> {
    let model = (objective.density.rows()).ok_or(ModeError::NotFound(
        "the method follows gradients of rows of data, and this density has none",
    ))?;
    let (dim, num_obs) = (u.len(), model.num_obs().max(1));
    let (steps, batch) = (search.steps(), search.batch());
    let mut update = search.start(model.num_obs(), dim);
    let every = steps.div_ceil(TRACE_POINTS);
    let mut minibatch = Minibatch::new(model.num_obs(), batch, Scheme::Epoch);
    // The mode is a property of model and data, not of a run: its seed is none of theirs.
    let mut streams = Streams::new(0, 0);
    let mut scratch = model.scratch();
    let (mut grad, mut work) = (vec![0.0; dim], vec![0.0; dim]);
    for step in 1..=steps {
        control.check(ModeError::Cancelled)?;
        if (step - 1).is_multiple_of(every) {
            tick(control)?;
            let value = objective.value(u, &mut grad, &mut work);
            recorder.spend(objective.num_rows());
            recorder.note(value, &grad);
        }
        let rows = minibatch.draw(&mut streams.batch);
        let len = rows.len(num_obs);
        recorder.spend(len);
        model.log_prior(u, &mut grad);
        work.fill(0.0);
        model.grad_log_lik(u, rows, &mut scratch, &mut work);
        axpy(num_obs as f64 / len as f64, &work, &mut grad);
        for grad in &mut grad {
            *grad /= num_obs as f64;
        }
        update.step(search.moment(step), u, &grad, &mut streams.noise);
        if u.iter().any(|u| !u.is_finite()) {
            return Err(ModeError::NotFound(
                "its steps grew without bound; try a smaller mode.learning_rate",
            ));
        }
    }
    Ok(steps)
}

/// The moment of step `step` of `steps`.
pub(super) fn moment(schedule: Schedule, power: &Power, step: u64, steps: u64) -> Moment {
    let half = steps / 2;
    let exploring = step <= half;
    let share = match schedule {
        Schedule::Power => {
            (1.0 + (step - 1) as f64 / power.decay_offset).powf(-power.decay_exponent)
        }
        Schedule::Late if exploring => 1.0,
        Schedule::Late => (steps - step + 1) as f64 / (steps - half) as f64,
    };
    Moment {
        step,
        share,
        exploring,
    }
}
