//! Samplers: one file each. To add one:
//!
//! 1. Write `samplers/my_sampler.rs`: a unit struct that implements [`Sampler`], its settings, each declared once by
//!    [`ergodic_base::settings!`], what they come to (`Config`), and its `State`. The header gives the reference, the update
//!    in our step-size convention beside the source's, the meaning and default of each setting, the cost per step in row
//!    gradients, the bias, and when not to use it.
//! 2. Add `mod my_sampler;` here and `SamplerEntry::of::<my_sampler::MySampler>(),` to [`REGISTRY`].
//! 3. Run `cargo test conformance`: same seed same bits, saving and restoring, no allocation, settings, NaN gradients
//!    and a Gaussian target are covered at once.
//!
//! **Step size.** `step_size` is Langevin time h in θ' = θ + h M ∇log π + sqrt(2h) M^{1/2} ξ for every sampler, with
//! M = H⁻¹ (the curvature at the mode) where a preconditioner is on, so that h has no unit and 1 is one Newton step.
//! Only Hamiltonian samplers keep the leapfrog step ε that everybody knows them by; for them h = ε²/2 ([`hamiltonian`]).
//! Steps of the sources in ours:
//!
//! | source | its step | ours |
//! |---|---|---|
//! | SGLD (Welling and Teh 2011), the R package `sgmcmc` | ε in θ' = θ + (ε/2) ∇ + N(0, ε) | h = ε/2 |
//! | Fisher scoring (Ahn et al. 2012) | k in D = (k/2) H⁻¹, Δθ = D ∇ + N(0, 2D − …) | h = k/2 in units of H⁻¹ |
//! | SGD with momentum | ε, α in ν' = (1 − α) ν + ε ∇ + N(0, 2αε), θ' = θ + ν | step sqrt(ε), friction α/sqrt(ε) |
//! | mass m, friction c | θ' = θ + ε p/m, p' = p + ε ∇ − ε c p/m + N(0, 2cε) | step ε, friction c/m, θ in units of m^{-1/2} |
//!
//! Samplers with momentum take dθ = r dt, dr = ∇log π dt − γ r dt + sqrt(2γ) dW with step ε and friction γ; entirely renewed
//! momentum makes the Langevin step h = ε²/2.

use std::sync::Arc;

use crate::models::{Block, Hierarchy, MixedEffects, Model, SimplexCounts, parts};
use crate::oracle::{Centre, Oracle, Scheme, StepError};
use ergodic_base::rng::{ChainRng, Streams};
use ergodic_base::settings::{Declared, Field, SettingError, Settings, Value};

#[cfg(test)]
mod autoregressive;
mod block_steps;
#[cfg(test)]
mod centred_tests;
mod choice;
pub mod cir;
#[cfg(test)]
mod conformance;
pub mod divide;
#[cfg(test)]
mod examples_tests;
mod fisher_scoring;
pub(crate) mod full_data;
#[cfg(test)]
mod full_data_tests;
mod gibbs;
#[cfg(test)]
mod golden_draws;
mod groups;
mod langevin;
#[cfg(test)]
mod logistic_tests;
mod minibatch_settings;
#[cfg(test)]
mod mixed_tests;
mod momentum;
pub(crate) mod named_blocks;
pub mod names;
mod partition;
mod piecewise;
mod process;
pub mod recommend;
mod registry;
#[cfg(test)]
mod regression_tests;
mod schedule;
mod simplex;
mod subsampling;
#[cfg(test)]
pub(crate) mod testing;
mod topics;
mod unsuitable;

pub use choice::ChoiceError;
pub use divide::DivideAndConquer;
pub use full_data::hamiltonian::{MAX_ENERGY_ERROR, Trajectory};
pub use full_data::hmc::Hmc;
pub use full_data::mala::{Mala, Ula};
pub use full_data::metropolis::Metropolis;
pub use full_data::nuts::Nuts;
pub use full_data::slice::Slice;
pub use gibbs::Gibbs;
pub use langevin::sgld::{Sgld, SgldCv};
pub use momentum::sghmc::{Sghmc, SghmcCv};
pub use piecewise::bouncy_particle::BouncyParticle;
pub use piecewise::zig_zag::ZigZag;
pub use registry::{REGISTRY, find};
pub use schedule::Schedule;
pub use subsampling::hmc_ecs::HmcEcs;
pub use subsampling::hmc_ecs_signed::HmcEcsSigned;
pub use unsuitable::{Refusal, Unsuitable};

/// Where a chain is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Adapting; of `length` iterations if that is fixed, otherwise until the sampler is ready.
    Warmup {
        /// Planned iterations of warm-up.
        length: Option<u64>,
    },
    /// Keeping draws; nothing adapts any more.
    Draw,
}

/// The time of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tick {
    /// Iteration since the start of the chain, 0-based, warm-up included.
    pub iter: u64,
    /// Phase.
    pub phase: Phase,
}

/// What is known about the target when settings are resolved.
#[derive(Clone, std::default::Default)]
pub struct Target {
    /// The model, if it is known, whose views tell of its structure.
    pub model: Option<Arc<dyn Model>>,
    /// N.
    pub num_obs: usize,
    /// D.
    pub dim: usize,
    /// ρ of the centre (see [`crate::oracle::Centre::noise_ratio`]), if a mode was found.
    pub noise_ratio: Option<f64>,
    /// See [`crate::oracle::Centre::difference_rows`]; present with `noise_ratio`.
    pub difference_rows: Option<f64>,
    /// See [`crate::oracle::Centre::curvature_range`]; present with `noise_ratio`.
    pub curvature_range: Option<(f64, f64)>,
    /// See [`crate::oracle::Centre::weighted_difference_rows`].
    pub weighted_difference_rows: Option<f64>,
    /// See [`crate::oracle::Centre::rms_condition`]; present with `noise_ratio`.
    pub rms_condition: Option<f64>,
    /// See [`crate::oracle::Centre::scaled_condition`]; present with `noise_ratio`.
    pub scaled_condition: Option<f64>,
}

impl Target {
    /// κ of gradients centred at the mode whose minibatches are drawn by `scheme`.
    pub(crate) fn centred_rows(&self, scheme: Scheme) -> Option<f64> {
        match scheme {
            Scheme::Lipschitz => self.weighted_difference_rows,
            _ => self.difference_rows,
        }
    }

    /// What `model` and its `centre` tell.
    pub fn new(model: &Arc<dyn Model>, centre: Option<&Centre>) -> Self {
        Self {
            model: Some(Arc::clone(model)),
            num_obs: model.num_obs(),
            dim: model.dim(),
            noise_ratio: centre.map(|centre| centre.noise_ratio),
            difference_rows: centre.map(|centre| centre.difference_rows),
            curvature_range: centre.map(|centre| centre.curvature_range),
            weighted_difference_rows: centre.and_then(|centre| centre.weighted_difference_rows),
            rms_condition: centre.map(|centre| centre.rms_condition),
            scaled_condition: centre.map(|centre| centre.scaled_condition),
        }
    }

    /// What the model and the centre of `oracle` tell.
    fn of(oracle: &Oracle) -> Self {
        Self::new(oracle.shared_model(), oracle.centre().map(Arc::as_ref))
    }

    /// See [`Model::simplex`].
    pub fn simplex(&self) -> Option<&dyn SimplexCounts> {
        self.model.as_ref()?.simplex()
    }

    /// See [`Model::hierarchy`].
    pub fn hierarchy(&self) -> Option<&dyn Hierarchy> {
        self.model.as_ref()?.hierarchy()
    }

    /// See [`Model::mixed_effects`]; `None` without group terms.
    pub fn mixed_effects(&self) -> Option<&dyn MixedEffects> {
        let view = self.model.as_ref()?.mixed_effects()?;
        (!view.terms().is_empty()).then_some(view)
    }
}

/// One column of information that a sampler reports with each draw. NaN means "not defined here".
#[derive(Clone, Copy, Debug)]
pub struct InfoColumn {
    /// Name in files and panels.
    pub name: &'static str,
    /// What the column says.
    pub help: &'static str,
}

impl InfoColumn {
    /// [`LOG_DENSITY`] of the posterior.
    const LOG_DENSITY: Self = Self {
        name: LOG_DENSITY,
        help: "Log posterior of the draw up to a constant",
    };
    /// [`N_LEAPFROG`] of one trajectory.
    const N_LEAPFROG: Self = Self {
        name: N_LEAPFROG,
        help: "Leapfrog steps of the trajectory",
    };
    /// [`DIVERGENT`] of one trajectory.
    const DIVERGENT: Self = Self {
        name: DIVERGENT,
        help: "1 where the energy rose by more than 1000: the step is too long for the curvature met there",
    };
    /// [`ENERGY`] of a trajectory's end.
    const ENERGY: Self = Self {
        name: ENERGY,
        help: "Energy of the draw: minus log density plus kinetic energy",
    };
    /// [`TREE_DEPTH`].
    const TREE_DEPTH: Self = Self {
        name: TREE_DEPTH,
        help: "Doublings of the trajectory",
    };
}

/// Name of the information column that is 1 where a transition diverged.
pub const DIVERGENT: &str = "divergent";
/// Name of the information column with the acceptance probability of the transition.
pub const ACCEPT: &str = "accept_stat";
/// Name of the information column with the acceptance probability of a change of the rows that stand for all.
pub const ACCEPT_ROWS: &str = "accept_rows";
/// Name of the information column with the step size in use.
pub const STEP_SIZE: &str = "step_size";
/// Name of the information column with the share of gradient noise in all noise of a step, 0 to 1.
pub(crate) const NOISE_SHARE: &str = "noise_share";
/// Name of the information column with the log posterior of the draw.
pub const LOG_DENSITY: &str = "log_density";
/// Name of the information column with the energy (Hamiltonian) of the draw.
pub const ENERGY: &str = "energy";
/// Name of the information column with the doublings of a NUTS trajectory.
pub const TREE_DEPTH: &str = "tree_depth";
/// Name of the information column with the leapfrog steps of a transition.
pub const N_LEAPFROG: &str = "n_leapfrog";
/// Name of the information column with the density evaluations of a step.
pub const EVALUATIONS: &str = "evaluations";
/// Name of the information column with the largest ratio of the OSGFS criterion (17) over components.
pub const CRITERION: &str = "criterion";
/// Name of the information column with the weight of the draw in every average; it may be negative (signed estimators).
/// Without the column, or where all weights are equal, averages are plain.
pub const WEIGHT: &str = "weight";

/// Which of the information columns called `names` holds weights, if any.
pub fn weight_column<N: AsRef<str>>(names: &[N]) -> Option<usize> {
    names.iter().position(|name| name.as_ref() == WEIGHT)
}

/// Which of the information columns called `names` holds the energies of transitions that keep the exact posterior, if any: those of
/// samplers that report its log density too. Estimates from subsets of rows move an energy in ways of their own.
pub fn energy_column<N: AsRef<str>>(names: &[N]) -> Option<usize> {
    let find = |wanted| names.iter().position(|name| name.as_ref() == wanted);
    find(LOG_DENSITY).and(find(ENERGY))
}

/// Name of the information column with the potential temperature of a thermostat, 1 on target.
pub(crate) const TEMPERATURE: &str = "temperature";
/// Name of the information column with the rows used by a step, as a share of all rows.
pub const ROWS_SHARE: &str = "rows_share";
/// Name of the information column with the largest split R-hat of the draws of any shard.
pub(crate) const SHARD_RHAT: &str = "shard_rhat";
/// Name of the information column with the share of proposals accepted where draws of shards were combined.
pub(crate) const COMBINE_ACCEPT: &str = "combine_accept";
/// Name of the information column with the estimated variance of the estimate of the log likelihood.
pub const LOG_LIK_VARIANCE: &str = "log_lik_variance";
/// Name of the information column with the sign of the estimate of the likelihood.
pub const SIGN: &str = "sign";

/// A vector that a sampler makes beside its position and information columns. A run carries it under its name and knows no
/// more of it: of numbers the newest vector, of labels a thinned list with the draws they belong to.
#[derive(Clone, Copy, Debug)]
pub struct OutputSpec {
    /// Name by which the vector is found.
    pub name: &'static str,
    /// What the vector says.
    pub help: &'static str,
}

/// The value of an output of a sampler.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Output<'a> {
    /// Numbers.
    Numbers(&'a [f64]),
    /// One label per unit. Which units share one counts, not which label it is.
    Labels(&'a [u32]),
}

impl<'a> dyn Kernel + 'a {
    /// The output called `name`, where the sampler makes one.
    pub fn output_called(&self, name: &str) -> Option<Output<'_>> {
        let k = self.outputs().iter().position(|spec| spec.name == name)?;
        Some(self.output(k))
    }

    /// The labels that the sampler gives to units, where it does.
    pub fn labels(&self) -> Option<&[u32]> {
        let mut outputs = (0..self.outputs().len()).map(|k| self.output(k));
        outputs.find_map(|output| match output {
            Output::Labels(labels) => Some(labels),
            Output::Numbers(_) => None,
        })
    }
}

/// Name of the output with the ratio of the OSGFS criterion (17) of each component of u, limit 1.
pub const CRITERION_OF_COMPONENTS: &str = "criterion_of_components";
/// Name of the output with what the draws of each shard come to that were last combined: their number, and for each shard the mean
/// and the variance of every coordinate.
pub const SHARD_MOMENTS: &str = "shard_moments";
/// Name of the output with the cluster of each unit.
pub const CLUSTERS: &str = "clusters";
/// Name of the output with the log predictive density of each unit held out.
pub const HELD_OUT: &str = "held_out";

/// Name of the output with the probability of each word in each topic (V×K), K of a word beside each other.
pub const TOPICS: &str = "topics";
/// Name of the output with the share of words that each topic has (K).
pub(crate) const TOPIC_SHARES: &str = "topic_shares";
/// Name of the output with the log probability of each different word scored of the documents held out.
pub const WORDS_HELD_OUT: &str = "words_held_out";

/// How samplers are grouped where people choose one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SamplerFamily {
    /// Every step looks at all rows.
    FullData,
    /// Stochastic gradients and injected noise.
    Langevin,
    /// Stochastic gradients with momentum, friction or a thermostat.
    Momentum,
    /// Noise shaped by the Fisher information.
    FisherScoring,
    /// Hamiltonian trajectories over subsets of rows with a corrected estimate of the likelihood.
    SubsamplingHmc,
    /// Straight flight between random events.
    PiecewiseDeterministic,
    /// Parts of the rows sampled apart, whose draws are combined.
    DivideAndConquer,
    /// Made for probabilities of categories.
    Simplex,
    /// Made for rows in groups, whose coefficients it draws group by group.
    Groups,
    /// Made for mixtures, whose number of components varies.
    Mixture,
    /// Made for topics of documents.
    Topics,
}

impl SamplerFamily {
    /// All groups, in the order of lists.
    pub const ALL: [Self; 11] = [
        Self::FullData,
        Self::Langevin,
        Self::Momentum,
        Self::FisherScoring,
        Self::SubsamplingHmc,
        Self::PiecewiseDeterministic,
        Self::DivideAndConquer,
        Self::Simplex,
        Self::Groups,
        Self::Mixture,
        Self::Topics,
    ];

    /// A few words.
    pub fn title(self) -> &'static str {
        match self {
            Self::FullData => "All rows at every step",
            Self::Langevin => "Stochastic gradient Langevin",
            Self::Momentum => "Stochastic gradient with momentum",
            Self::FisherScoring => "Stochastic gradient Fisher scoring",
            Self::SubsamplingHmc => "Subsampling Hamiltonian Monte Carlo",
            Self::PiecewiseDeterministic => "Piecewise deterministic",
            Self::DivideAndConquer => "Divide and conquer",
            Self::Simplex => "Probabilities of categories",
            Self::Groups => "Rows in groups",
            Self::Mixture => "Mixtures",
            Self::Topics => "Topics",
        }
    }
}

/// What a sampler is, for lists, forms and checks.
#[derive(Clone, Copy, Debug)]
pub struct SamplerSpec {
    /// Identifier in recipes and on the command line.
    pub id: &'static str,
    /// SamplerFamily of the sampler, its group in lists.
    pub family: SamplerFamily,
    /// Name for people.
    pub title: &'static str,
    /// One sentence: what it does and what it is for.
    pub about: &'static str,
    /// Where the sampler comes from.
    pub cite: &'static str,
    /// The update in plain text, our convention.
    pub formula: &'static str,
    /// Settings of the sampler.
    pub fields: &'static [Field],
    /// Information columns of the sampler.
    pub info: &'static [InfoColumn],
    /// Whether the sampler needs the mode and its curvature.
    pub needs_mode: bool,
    /// Whether the sampler does without the mode where a user gives its steps, in the model's own coordinates.
    pub own_steps: bool,
    /// Whether the sampler centres its gradients at the mode and, without one, where a chain starts: chains should then start where the
    /// density is high, and an optimiser climbs there first.
    pub centres_at_start: bool,
    /// Whether the sampler uses minibatches instead of all rows.
    pub minibatch: bool,
    /// Why draws are not exactly from the posterior; `None` for exact samplers.
    pub bias: Option<&'static str>,
    /// The order p of the bias where it is C h^p to first order in a setting `step_size` h and is gone at step 0.
    pub bias_order: Option<i32>,
    /// Default iterations of warm-up; for samplers that decide themselves, the most.
    pub default_warmup: u64,
    /// Whether the sampler decides itself when the warm-up ends ([`Sampler::ready`]).
    pub decides_warmup: bool,
    /// Whether the sampler does not sample the posterior at all and is there to be seen failing.
    pub negative_control: bool,
}

impl SamplerSpec {
    /// What goes without saying: all rows, no mode, a warm-up of planned length. The rest each sampler says itself.
    pub const ORDINARY: Self = Self {
        id: "",
        family: SamplerFamily::FullData,
        title: "",
        about: "",
        cite: "",
        formula: "",
        fields: &[],
        info: &[],
        needs_mode: false,
        own_steps: false,
        centres_at_start: false,
        minibatch: false,
        bias: None,
        bias_order: None,
        default_warmup: 1000,
        decides_warmup: false,
        negative_control: false,
    };
}

/// Reads or writes every number of a state, once, in a fixed order: saving, restoring and inspecting are one function.
pub trait StateVisitor {
    /// Numbers of fixed count.
    fn slice(&mut self, name: &'static str, values: &mut [f64]);
    /// One number.
    fn scalar(&mut self, name: &'static str, value: &mut f64) {
        self.slice(name, std::slice::from_mut(value));
    }
    /// A counter.
    fn counter(&mut self, name: &'static str, value: &mut u64);
}

/// What a contributor writes: free functions on plain structs.
pub trait Sampler: Send + Sync + 'static {
    /// Settings, declared by [`ergodic_base::settings!`]; their fields are [`SamplerSpec::fields`].
    type Settings: Declared;
    /// What the settings come to for a target, valid by construction.
    type Config: Clone + Send + Sync + 'static;
    /// Exactly what the next step needs.
    type State: Send + 'static;
    /// Description of the sampler.
    const SPEC: SamplerSpec;
    /// Whether the sampler was made for probabilities near 0, where other approximations fail ([`suits`]).
    const ON_SIMPLEX: bool = false;
    /// Whether the sampler needs a density on u, as all do but those for models without one ([`crate::models::Posterior::Partition`]).
    const NEEDS_DENSITY: bool = true;
    /// Whether the sampler needs a density that is made of rows of data, as those of minibatches do but for the ones that take the exact
    /// gradient of a density without rows for an estimate free of noise.
    const NEEDS_ROWS: bool = Self::SPEC.minibatch;
    /// Vectors that it makes beside its position and [`SamplerSpec::info`]; at most one of labels.
    const OUTPUTS: &'static [OutputSpec] = &[];
    /// What the adviser must know beyond that, where the ordinary does not fit.
    const ADVICE: recommend::Traits = recommend::Traits::ORDINARY;

    /// Whether the sampler can sample this model at all.
    ///
    /// # Errors
    /// What is in the way.
    fn suits(_model: &dyn Model) -> Result<(), Unsuitable> {
        Ok(())
    }
    /// Settles for this target what `settings` leave open, by writing it into them, and checks them against one another.
    ///
    /// # Errors
    /// Settings that do not go together or do not suit the target.
    fn configure(
        settings: &mut Self::Settings,
        target: &Target,
    ) -> Result<Self::Config, SettingError>;
    /// Refuses settings that name what a model does not have; `parts` are its coordinates by name ([`crate::models::parts`]).
    ///
    /// # Errors
    /// What is named in vain, and what there is.
    fn check(_config: &Self::Config, _parts: &[Block]) -> Result<(), SettingError> {
        Ok(())
    }
    /// Kernel steps per recorded iteration.
    fn steps_per_draw(_config: &Self::Config) -> u64 {
        1
    }
    /// The state at `u0`.
    fn init(
        config: &Self::Config,
        u0: &[f64],
        oracle: &mut Oracle,
        streams: &mut Streams,
    ) -> Result<Self::State, StepError>;
    /// Advances by one step; writes one number per [`SamplerSpec::info`] into `info`. Must not allocate, print, look at
    /// a clock, or use random numbers from elsewhere.
    fn step(
        config: &Self::Config,
        at: Tick,
        state: &mut Self::State,
        oracle: &mut Oracle,
        streams: &mut Streams,
        info: &mut [f64],
    ) -> Result<(), StepError>;
    /// The present position (D).
    fn position(state: &Self::State) -> &[f64];
    /// ∇ log π over all rows at the present position (D), where the state has it anyway.
    fn gradient(_state: &Self::State) -> Option<&[f64]> {
        None
    }
    /// Whether warm-up may end, for samplers that decide it themselves.
    fn ready(_state: &Self::State) -> bool {
        false
    }
    /// Output `k` of [`Self::OUTPUTS`] as it is now.
    fn output(_state: &Self::State, _k: usize) -> Output<'_> {
        Output::Numbers(&[])
    }
    /// Visits every number of the state.
    fn visit(state: &mut Self::State, visitor: &mut dyn StateVisitor);
    /// Follows a leapfrog trajectory from the present position, for samplers whose transitions do.
    const FOLLOW: Option<Follow<Self::Config, Self::State>> = None;
}

/// Follows a trajectory of so many leapfrog steps with fresh momentum; the state changes in its working memory alone.
pub type Follow<C, S> =
    fn(&C, &mut S, usize, &mut Oracle, &mut ChainRng) -> Result<Trajectory, StepError>;

/// A sampler whose target may change between its steps, as that of a block does in Gibbs sampling.
pub trait Conditional: Sampler {
    /// Computes again what is remembered about the present position, after the target has changed.
    ///
    /// # Errors
    /// [`StepError::NonFinite`] where the new target is not finite at the position, [`StepError::Interrupted`].
    fn refresh(state: &mut Self::State, oracle: &mut Oracle) -> Result<(), StepError>;
}

/// A sampler bound to its settings and state: what the engine holds.
pub trait Kernel: Send {
    /// See [`Sampler::step`].
    fn step(
        &mut self,
        at: Tick,
        o: &mut Oracle,
        r: &mut Streams,
        info: &mut [f64],
    ) -> Result<(), StepError>;
    /// See [`Sampler::steps_per_draw`].
    fn steps_per_draw(&self) -> u64;
    /// See [`Sampler::position`].
    fn position(&self) -> &[f64];
    /// See [`Sampler::gradient`].
    fn gradient(&self) -> Option<&[f64]>;
    /// See [`Sampler::ready`].
    fn ready(&self) -> bool;
    /// See [`Sampler::OUTPUTS`].
    fn outputs(&self) -> &'static [OutputSpec];
    /// See [`Sampler::output`].
    fn output(&self, k: usize) -> Output<'_>;
    /// See [`Sampler::visit`].
    fn visit(&mut self, visitor: &mut dyn StateVisitor);
    /// See [`Sampler::FOLLOW`]; `None` for samplers that follow no trajectory.
    fn follow(
        &mut self,
        steps: usize,
        o: &mut Oracle,
        rng: &mut ChainRng,
    ) -> Option<Result<Trajectory, StepError>>;
}

/// A [`Kernel`] of a [`Conditional`] sampler.
pub(crate) trait ConditionalKernel: Kernel {
    /// See [`Conditional::refresh`].
    ///
    /// # Errors
    /// See there.
    fn refresh(&mut self, oracle: &mut Oracle) -> Result<(), StepError>;
}

struct Bound<S: Sampler> {
    config: S::Config,
    state: S::State,
}

impl<S: Sampler> Kernel for Bound<S> {
    fn step(
        &mut self,
        at: Tick,
        o: &mut Oracle,
        r: &mut Streams,
        info: &mut [f64],
    ) -> Result<(), StepError> {
        S::step(&self.config, at, &mut self.state, o, r, info)
    }
    fn steps_per_draw(&self) -> u64 {
        S::steps_per_draw(&self.config)
    }
    fn position(&self) -> &[f64] {
        S::position(&self.state)
    }
    fn gradient(&self) -> Option<&[f64]> {
        S::gradient(&self.state)
    }
    fn ready(&self) -> bool {
        S::ready(&self.state)
    }
    fn outputs(&self) -> &'static [OutputSpec] {
        S::OUTPUTS
    }
    fn output(&self, k: usize) -> Output<'_> {
        S::output(&self.state, k)
    }
    fn visit(&mut self, visitor: &mut dyn StateVisitor) {
        S::visit(&mut self.state, visitor);
    }
    fn follow(
        &mut self,
        steps: usize,
        o: &mut Oracle,
        rng: &mut ChainRng,
    ) -> Option<Result<Trajectory, StepError>> {
        S::FOLLOW.map(|follow| follow(&self.config, &mut self.state, steps, o, rng))
    }
}

impl<S: Conditional> ConditionalKernel for Bound<S> {
    fn refresh(&mut self, oracle: &mut Oracle) -> Result<(), StepError> {
        S::refresh(&mut self.state, oracle)
    }
}

/// Why a kernel could not be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum KernelError {
    /// The model is not for this sampler.
    #[error(transparent)]
    Unsuitable(#[from] Refusal),
    /// A checkpoint of another sampler, or of other settings.
    #[error("the checkpoint does not fit this sampler and its settings")]
    Checkpoint,
    /// A setting was refused.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// The start failed.
    #[error(transparent)]
    Start(#[from] StepError),
}

#[cfg(test)]
pub(crate) fn configure<S: Sampler>(
    settings: &Settings,
    target: &Target,
) -> Result<S::Config, SettingError> {
    Ok(configured::<S>(settings, target)?.0)
}

type Build<K = dyn Kernel> =
    fn(&Settings, &Target, &[f64], &mut Oracle, &mut Streams) -> Result<Box<K>, KernelError>;

type ValuesInForce = Vec<(&'static str, Value)>;

type Resolve = fn(&Settings, &Target) -> Result<ValuesInForce, SettingError>;

type Check = fn(&Settings, &Target, &[Block]) -> Result<(), SettingError>;

/// A registered sampler.
pub struct SamplerEntry {
    /// Description of the sampler.
    pub spec: SamplerSpec,
    /// See [`Sampler::ADVICE`].
    pub advice: recommend::Traits,
    /// See [`Sampler::OUTPUTS`].
    pub outputs: &'static [OutputSpec],
    /// See [`Sampler::suits`].
    pub suits: fn(&dyn Model) -> Result<(), Refusal>,
    /// Makes a kernel that stands at the given position.
    pub build: Build,
    /// The settings in force for a target, without starting anything.
    pub resolve: Resolve,
    /// See [`Sampler::check`].
    pub check: Check,
    /// Whether the sampler has trajectories to follow ([`Sampler::FOLLOW`]).
    pub follows: bool,
}

impl SamplerEntry {
    /// The entry of sampler `S`.
    pub const fn of<S: Sampler>() -> Self {
        Self {
            spec: S::SPEC,
            suits: suits::<S>,
            advice: S::ADVICE,
            outputs: S::OUTPUTS,
            build: build::<S>,
            resolve: resolve::<S>,
            check: check::<S>,
            follows: S::FOLLOW.is_some(),
        }
    }

    /// Whether the sampler makes the output called `name`.
    pub fn makes(&self, name: &str) -> bool {
        self.outputs.iter().any(|spec| spec.name == name)
    }
}

/// What the sampler itself says; that nearly all need a density; and that approximations take a posterior to be near
/// normal, which that of a rare category is not.
fn suits<S: Sampler>(model: &dyn Model) -> Result<(), Refusal> {
    let checked = if S::NEEDS_DENSITY && model.density().is_none() {
        Err(Unsuitable::NoDensity)
    } else if S::NEEDS_DENSITY && S::NEEDS_ROWS && model.rows().is_none() {
        Err(Unsuitable::NoRows)
    } else if S::SPEC.bias.is_some() && !S::ON_SIMPLEX {
        S::suits(model).and_then(|()| simplex::refuse_sparse(model))
    } else {
        S::suits(model)
    };
    let sampler = S::SPEC.id;
    checked.map_err(|reason| Refusal { sampler, reason })
}

fn owner<S: Sampler>() -> String {
    format!("Sampler `{}`", S::SPEC.id)
}

/// What `settings` come to for `target`, and all settings with the values in force.
pub(crate) fn configured<S: Sampler>(
    settings: &Settings,
    target: &Target,
) -> Result<(S::Config, ValuesInForce), SettingError> {
    settings.check(&owner::<S>(), S::SPEC.fields)?;
    let mut settings = S::Settings::read(settings)?;
    let config = S::configure(&mut settings, target)?;
    let mut values = Vec::new();
    settings.write(&mut values);
    Ok((config, values))
}

fn build<S: Sampler>(
    settings: &Settings,
    target: &Target,
    u0: &[f64],
    oracle: &mut Oracle,
    streams: &mut Streams,
) -> Result<Box<dyn Kernel>, KernelError> {
    Ok(Box::new(bound::<S>(settings, target, u0, oracle, streams)?))
}

fn bound<S: Sampler>(
    settings: &Settings,
    target: &Target,
    u0: &[f64],
    oracle: &mut Oracle,
    streams: &mut Streams,
) -> Result<Bound<S>, KernelError> {
    suits::<S>(oracle.model())?;
    let (config, _values) = configured::<S>(settings, target)?;
    S::check(&config, &parts(oracle.model()))?;
    let state = S::init(&config, u0, oracle, streams)?;
    Ok(Bound { config, state })
}

fn resolve<S: Sampler>(
    settings: &Settings,
    target: &Target,
) -> Result<Vec<(&'static str, Value)>, SettingError> {
    Ok(configured::<S>(settings, target)?.1)
}

fn check<S: Sampler>(
    settings: &Settings,
    target: &Target,
    parts: &[Block],
) -> Result<(), SettingError> {
    S::check(&configured::<S>(settings, target)?.0, parts)
}
