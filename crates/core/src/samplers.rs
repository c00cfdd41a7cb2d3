//! Samplers: one file each, in the folder of its kind, such as `langevin`, `momentum` or `full_data`. To add one:
//!
//! 1. Write `samplers/langevin/my_sampler.rs`, or a file in the folder that suits: a unit struct that implements
//!    [`Sampler`], its settings, each declared once by [`ergodic_base::settings!`], what they come to (`Config`), and its
//!    `State`. The header gives the reference, the update in our step-size convention beside the source's, the meaning and
//!    default of each setting, the cost per step in row gradients, the bias, and when not to use it.
//! 2. Add `pub mod my_sampler;` to `samplers/langevin.rs` and `SamplerEntry::of::<MySampler>(),` to [`REGISTRY`]
//!    (`samplers/registry.rs`).
//! 3. Run `cargo test conformance`: same seed same bits, saving and restoring, no allocation, settings, NaN gradients
//!    and a Gaussian target are covered at once.
//!
//! **Step size.** `step_size` is Langevin time h in θ' = θ + h M ∇log π + sqrt(2h) M^{1/2} ξ for every sampler, with
//! M = H⁻¹ (the curvature at the mode) where a preconditioner is on, so that h has no unit and 1 is one Newton step.
//! Only Hamiltonian samplers keep the leapfrog step ε that everybody knows them by; for them h = ε²/2 (`full_data::hamiltonian`).
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

use crate::models::{Block, Hierarchy, MixedEffects, Model, RowLikelihood, SimplexCounts};
use crate::oracle::{Centre, Oracle, RowNoise, Scheme, StepError};
use ergodic_base::settings::{Declared, Field, SettingError};
use ergodic_base::{ChainRng, Streams};
use ergodic_diagnostics::Remedy;

#[cfg(test)]
mod autoregressive;
mod block_steps;
mod choice;
pub mod cir;
#[cfg(test)]
mod conformance;
pub mod divide;
mod entry;
mod fisher_scoring;
pub(crate) mod full_data;
mod gibbs;
#[cfg(test)]
mod golden_draws;
mod groups;
mod info;
mod kernel;
mod langevin;
mod minibatch_settings;
mod momentum;
pub(crate) mod named_blocks;
pub mod names;
mod output;
mod partition;
mod piecewise;
mod process;
pub mod recommend;
mod registry;
mod schedule;
mod simplex;
mod subsampling;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod topics;
mod unsuitable;
mod written;

pub use choice::ChoiceError;
pub use divide::DivideAndConquer;
pub use entry::SamplerEntry;
use entry::{Build, Resolve, bound, resolve};
#[cfg(test)]
pub(crate) use entry::{configure, configured};
pub use full_data::hamiltonian::{MAX_ENERGY_ERROR, Trajectory};
pub use full_data::hmc::Hmc;
pub use full_data::mala::{Mala, Ula};
pub use full_data::metropolis::Metropolis;
pub use full_data::nuts::Nuts;
pub use full_data::slice::Slice;
pub use gibbs::Gibbs;
pub use info::{
    ACCEPT, ACCEPT_ROWS, CRITERION, DIVERGENT, ENERGY, EVALUATIONS, InfoColumn, LOG_DENSITY,
    LOG_LIK_VARIANCE, N_LEAPFROG, ROWS_SHARE, SIGN, STEP_SIZE, TREE_DEPTH, WEIGHT, energy_column,
    weight_column,
};
pub(crate) use info::{COMBINE_ACCEPT, NOISE_SHARE, SHARD_RHAT, TEMPERATURE};
pub(crate) use kernel::ConditionalKernel;
pub use kernel::{Kernel, KernelError};
pub use langevin::sgld::{Sgld, SgldCv};
pub use minibatch_settings::larger_than_table;
pub use momentum::sghmc::{Sghmc, SghmcCv};
pub(crate) use output::TOPIC_SHARES;
pub use output::{
    CLUSTERS, CRITERION_OF_COMPONENTS, HELD_OUT, Output, OutputSpec, SHARD_MOMENTS, TOPICS,
    WORDS_HELD_OUT,
};
pub use piecewise::bouncy_particle::BouncyParticle;
pub use piecewise::zig_zag::ZigZag;
pub use registry::{REGISTRY, find};
pub use schedule::{Schedule, tempered};
pub use subsampling::hmc_ecs::HmcEcs;
pub use subsampling::hmc_ecs_signed::HmcEcsSigned;
pub use topics::topics_control::excess_of_minibatches;
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
    /// The posterior's mode, if one was found, with the model that it is of.
    mode: Option<(Arc<dyn Model>, Arc<Centre>)>,
}

impl Target {
    /// Whether the posterior's mode is known.
    pub fn has_mode(&self) -> bool {
        self.mode.is_some()
    }

    /// # Errors
    /// No mode is known, which the sampler with the id `sampler` needs; `instead` says what to do.
    pub(crate) fn require_mode(
        &self,
        sampler: &'static str,
        instead: &'static str,
    ) -> Result<(), SettingError> {
        match self.mode {
            Some(_) => Ok(()),
            None => Err(SettingError::no_mode(sampler, instead)),
        }
    }

    /// What minibatches add to gradients at the mode, if one was found. The first who asks about a mode waits while it is measured.
    pub fn noise(&self) -> Option<&RowNoise> {
        let (model, centre) = self.mode.as_ref()?;
        Some(centre.noise(model.rows()))
    }

    /// ρ, see [`RowNoise::ratio`].
    pub fn noise_ratio(&self) -> Option<f64> {
        Some(self.noise()?.ratio)
    }

    /// κ, see [`RowNoise::difference_rows`].
    pub fn difference_rows(&self) -> Option<f64> {
        Some(self.noise()?.difference_rows)
    }

    /// κ of gradients centred at the mode whose minibatches are drawn by `scheme`.
    pub(crate) fn centred_rows(&self, scheme: Scheme) -> Option<f64> {
        self.noise()?.centred_rows(scheme)
    }

    /// See [`Centre::curvature_range`].
    pub fn curvature_range(&self) -> Option<(f64, f64)> {
        let (_model, centre) = self.mode.as_ref()?;
        Some(centre.curvature_range)
    }

    /// See [`Centre::scaled_condition`].
    pub fn scaled_condition(&self) -> Option<f64> {
        let (_model, centre) = self.mode.as_ref()?;
        Some(centre.scaled_condition)
    }

    /// Gradients of single rows that an exact pass over all of them is worth: N, unless the model knows less.
    pub(crate) fn rows_of_pass(&self) -> f64 {
        let rows = self.model.as_ref().and_then(|model| model.rows());
        let sums = rows.filter(|rows| rows.cost_of_all() < rows.num_obs());
        sums.map_or(self.num_obs, RowLikelihood::cost_of_all) as f64
    }

    /// What `model` and its `centre` tell.
    pub fn new(model: &Arc<dyn Model>, centre: Option<&Arc<Centre>>) -> Self {
        let mode = centre.map(|centre| (Arc::clone(model), Arc::clone(centre)));
        Self {
            model: Some(Arc::clone(model)),
            num_obs: model.num_obs(),
            dim: model.dim(),
            mode,
        }
    }

    /// What the model and the centre of `oracle` tell.
    fn of(oracle: &Oracle) -> Self {
        Self::new(oracle.shared_model(), oracle.centre())
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
    /// What makes the bias smaller, where that is known.
    pub remedy: Option<Remedy>,
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
        remedy: None,
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
    /// Whether the sampler was made for probabilities near 0, where other approximations fail: what is recommended there.
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
    /// Refuses a posterior on which a step would cost more than one that looks at all rows, as measured around its mode `centre`.
    ///
    /// # Errors
    /// What it would cost, and what to do instead.
    fn affords(
        _config: &Self::Config,
        _model: &dyn Model,
        _centre: &Centre,
    ) -> Result<(), Unsuitable> {
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

/// Follows a trajectory of a number of leapfrog steps with fresh momentum; the state changes in its working memory alone.
pub type Follow<C, S> =
    fn(&C, &mut S, usize, &mut Oracle, &mut ChainRng) -> Result<Trajectory, StepError>;

/// A sampler whose target may change between its steps, as that of a block does in Gibbs sampling.
pub trait Conditional: Sampler {
    /// Computes again what is remembered about the density at the present position, after the target has changed.
    ///
    /// # Errors
    /// [`StepError::NonFinite`] where the new target is not finite at the position, [`StepError::Interrupted`].
    fn refresh(state: &mut Self::State, oracle: &mut Oracle) -> Result<(), StepError>;
}
