//! Metric and step size of the samplers that move by leapfrog steps over all rows: their settings and their warm-up.
//!
//! What happens in warm-up and when is described in [`crate::samplers::full_data::adaptation`]; the pieces are in [`crate::samplers::full_data::hamiltonian`].

use crate::oracle::{Oracle, StepError};
use crate::samplers::full_data::adaptation::{DualAveraging, RunningCovariance, Windows};
use crate::samplers::full_data::hamiltonian::{
    Metric, MetricKind, Place, Point, Trajectory, energy_errors, first_step_size,
};
use crate::samplers::recommend::dense_pays;
use crate::samplers::{Phase, StateVisitor, Target, Tick};
use ergodic_base::ChainRng;
use ergodic_base::settings::{Field, SettingError};

/// Where the search for the first step size starts: the right order for a target scaled by its metric.
const FIRST_TRIAL: f64 = 1.0;
/// The setting `target_accept`.
pub(in crate::samplers) const TARGET_ACCEPT: Field = Field::real("Target acceptance", 0.05, 0.999, Some(0.8))
    .help(
        "Mean acceptance probability that the step size is adapted to (adapt_delta in Stan); nearer to 1 means \
         smaller steps and fewer divergences",
    )
    .why("Stan's default, near the cheapest for most targets");

ergodic_base::choice! {
    /// Inverse mass matrix before the first window of warm-up.
    pub enum StartMetric {
        /// H⁻¹ at the mode.
        Curvature = "curvature",
        /// The identity, as in Stan.
        Identity = "identity",
    }
}

ergodic_base::settings! {
    /// Settings of samplers that move by leapfrog steps, with a sampler's own `O`.
    pub struct LeapfrogSettings<O> {
        metric: Option<MetricKind> = MetricKind::field("Metric", None)
            .help("Inverse mass matrix: scales only (diagonal), or scales and correlations (dense)")
            .why(
                "dense up to 100 dimensions, where it costs little and removes correlation; above where the curvature at the mode \
                 shows so much correlation that it pays",
            );
        start_metric: Option<StartMetric> = StartMetric::field("First metric", None)
            .help(
                "Inverse mass matrix before the first window of warm-up: posterior covariance guessed from the curvature at \
                 the mode, or identity as in Stan",
            )
            .why("curvature where a mode was found, because warm-up then starts at the right scale; else identity");
        target_accept: f64 = TARGET_ACCEPT;
        pub own: O;
        step_size: Option<f64> = Field::real("Step size", 1e-9, 1e3, None)
            .help("Leapfrog step in units of the metric; a number fixes it, auto adapts it in warm-up")
            .why("adapted to the target acceptance");
    }
}

/// What to adapt and to what.
#[derive(Clone, Copy, Debug)]
pub(in crate::samplers) struct Plan {
    /// Which entries of the metric are free.
    pub metric: MetricKind,
    /// Whether the metric starts from H⁻¹ at the mode, and shrinks to it, instead of the identity.
    pub from_curvature: bool,
    /// Whether the windows of warm-up replace the metric.
    pub learns_metric: bool,
    /// Goal of dual averaging.
    pub target_accept: f64,
    /// ε where it is fixed.
    pub step_size: Option<f64>,
    /// Steps per draw, in which the length of a warm-up is told.
    pub steps_per_draw: u64,
}

impl Plan {
    /// Settles the metrics; a step size that is not given stays "auto", for warm-up.
    ///
    /// # Errors
    /// The curvature is asked for and no mode was found.
    pub fn settle<O>(
        settings: &mut LeapfrogSettings<O>,
        target: &Target,
    ) -> Result<Self, SettingError> {
        let has_mode = target.has_mode();
        let start = *settings.start_metric.get_or_insert(if has_mode {
            StartMetric::Curvature
        } else {
            StartMetric::Identity
        });
        if start == StartMetric::Curvature && !has_mode {
            return Err(SettingError::unfit(
                "start_metric",
                "cannot be `curvature` because no mode was found; choose identity or auto",
            ));
        }
        let metric = *settings.metric.get_or_insert_with(|| {
            if dense_pays(target) {
                MetricKind::Dense
            } else {
                MetricKind::Diagonal
            }
        });
        Ok(Self {
            metric,
            from_curvature: start == StartMetric::Curvature,
            learns_metric: true,
            target_accept: settings.target_accept,
            step_size: settings.step_size,
            steps_per_draw: 1,
        })
    }

    /// The covariance that the metric starts from and shrinks to, if it is not the identity.
    fn start_covariance<'a>(&self, oracle: &'a Oracle) -> Option<&'a [f64]> {
        let centre = oracle.centre().filter(|_centre| self.from_curvature)?;
        Some(&centre.covariance)
    }
}

/// A position, the metric and step size in use there, and what is known of better ones.
pub(in crate::samplers) struct Tuned {
    /// The position.
    pub place: Place,
    /// The metric in use.
    pub metric: Metric,
    /// ε in use.
    pub step_size: f64,
    averaging: DualAveraging,
    window: RunningCovariance,
    /// Steps of warm-up done.
    warmup_iter: u64,
    /// 1 once warm-up is over.
    frozen: u64,
}

impl Tuned {
    /// Before the first step from `u0`; `spare` is working memory.
    ///
    /// # Errors
    /// Those of [`Place::start`]; [`StepError::NotPositiveDefinite`] for the curvature, [`StepError::NonFinite`] when no step size is
    /// short enough, [`StepError::Interrupted`].
    pub fn start(
        plan: &Plan,
        u0: &[f64],
        oracle: &mut Oracle,
        rng: &mut ChainRng,
        spare: &mut Point,
    ) -> Result<Self, StepError> {
        let place = Place::start(u0, oracle)?;
        let dim = u0.len();
        let metric = match plan.start_covariance(oracle) {
            Some(covariance) => Metric::from_covariance(plan.metric, covariance, dim)
                .map_err(|_not_positive| not_positive_definite(0))?,
            None => Metric::identity(plan.metric, dim),
        };
        let step_size = match plan.step_size {
            Some(step_size) => step_size,
            None => first_step_size(FIRST_TRIAL, &place, &metric, oracle, rng, spare)?,
        };
        let window_dim = if plan.learns_metric { dim } else { 0 };
        Ok(Self {
            place,
            metric,
            step_size,
            averaging: DualAveraging::new(plan.target_accept, step_size),
            window: RunningCovariance::new(window_dim, plan.metric == MetricKind::Dense),
            warmup_iter: 0,
            frozen: 0,
        })
    }

    /// To be called before each step: ends the adaptation, once, when warm-up is over.
    pub fn settle(&mut self, plan: &Plan, at: Tick) {
        if at.phase == Phase::Draw && self.frozen == 0 {
            self.frozen = 1;
            if plan.step_size.is_none() {
                self.step_size = self.averaging.averaged();
            }
        }
    }

    /// To be called after each step: what Stan does then in warm-up. `accept` is the acceptance probability of the step. True if
    /// the metric was replaced.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn learn(
        &mut self,
        plan: &Plan,
        at: Tick,
        accept: f64,
        oracle: &mut Oracle,
        rng: &mut ChainRng,
        spare: &mut Point,
    ) -> Result<bool, StepError> {
        let (0, Phase::Warmup { length }) = (self.frozen, at.phase) else {
            return Ok(false);
        };
        let length = length.map(|length| length * plan.steps_per_draw);
        if plan.step_size.is_none() {
            self.step_size = self.averaging.learn(accept);
        }
        let warmup_iter = self.warmup_iter;
        self.warmup_iter += 1;
        let windows = Windows::of(length).filter(|windows| windows.contains(warmup_iter));
        let Some(windows) = windows.filter(|_windows| plan.learns_metric) else {
            return Ok(false);
        };
        self.window.add(&self.place.u);
        if !windows.ends_at(warmup_iter) {
            return Ok(false);
        }
        let window = &mut self.window;
        let start = plan.start_covariance(oracle);
        self.metric
            .replace_inverse(|inverse| window.regularised(start, inverse))
            .map_err(|_not_positive| not_positive_definite(at.iter))?;
        window.restart();
        if plan.step_size.is_none() {
            let (place, metric) = (&self.place, &self.metric);
            self.step_size = first_step_size(self.step_size, place, metric, oracle, rng, spare)?;
            self.averaging.restart(self.step_size);
        }
        Ok(true)
    }

    /// Follows a trajectory of a number of steps of this size from the position with fresh momentum; `spare` is working memory.
    ///
    /// # Errors
    /// [`StepError::Interrupted`].
    pub fn follow(
        &self,
        (steps, step_size): (usize, f64),
        oracle: &mut Oracle,
        rng: &mut ChainRng,
        spare: &mut Point,
    ) -> Result<Trajectory, StepError> {
        spare.launch(&self.place, &self.metric, rng);
        let along = (steps, step_size);
        Ok(Trajectory {
            step_size,
            errors: energy_errors(spare, &self.metric, along, oracle, |_point| {})?,
            of_all_rows: None,
        })
    }

    /// Visits every number.
    pub fn visit(&mut self, visitor: &mut dyn StateVisitor) {
        self.place.visit(visitor);
        self.metric.visit(visitor);
        visitor.scalar("step_size", &mut self.step_size);
        self.averaging.visit(visitor);
        self.window.visit(visitor);
        visitor.counter("warmup_iter", &mut self.warmup_iter);
        visitor.counter("frozen", &mut self.frozen);
    }
}

fn not_positive_definite(iter: u64) -> StepError {
    StepError::not_positive("the metric", iter)
}
