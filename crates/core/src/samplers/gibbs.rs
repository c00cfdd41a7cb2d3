//! Gibbs sampling by blocks: each block of coordinates is updated by a sampler of its own while the others stand still.
//!
//! References: Geman and Geman (1984); Baker (2018), section 2.2.2 (systematic and random scan), and section 4.7, which asks for
//! samplers that can be composed; Tierney (1994) for Metropolis steps within.
//!
//! **One step.** For each block b in order, or as many times for a block drawn at random: the kernel of b makes its steps for one draw on π(u_b | u_{−b}), which is the
//! posterior as a function of u_b alone ([`crate::oracle::BlockView`]). Each kernel leaves its conditional unchanged, so
//! the sweep leaves the posterior unchanged. Kernels are those of the registry, with their defaults: they see a target of
//! fewer dimensions, adapt to it in warm-up, and know of its curvature H_bb at the mode.
//!
//! | setting | meaning | default |
//! |---|---|---|
//! | `blocks` | model: as the model declares ([`crate::models::Model::blocks`]); single: one coordinate each; one: all together; or names of parameters with a sampler each ([`super::named_blocks`]) | model |
//! | `kernel` | sampler of blocks of several coordinates for which `blocks` names none | nuts |
//! | `single_kernel` | the same of one coordinate | slice |
//! | `scan` | systematic: every block once, in order; random: as many blocks drawn with equal chances, some twice and some not at all. In warm-up every block is visited, so that all kernels adapt | systematic |
//!
//! Where a block's distribution given the others has a known form ([`crate::models::KnownConditional`]), `conjugate` draws from it exactly.
//! `gibbs-stochastic` also lets blocks be moved by gradients of minibatches, which Baker's section 4.7 asks for; each block has
//! minibatches and steps of its own.
//!
//! **Cost.** For each block one pass over N rows, because the others have moved, and those of its kernel. **Bias.** None.
//! **Not for** blocks that depend strongly on each other, which then move slowly, nor where one kernel can move all
//! coordinates at once: it is for models whose parts want different samplers.

use std::marker::PhantomData;

use rand::RngExt as _;

use super::block_steps::BlockSteps;
use super::langevin::sgld::{Sgld, SgldCv};
use super::minibatch_settings::{CentredRows, Described};
use super::momentum::sghmc::{Sghmc, SghmcCv};
use super::named_blocks::{Chosen, Division, Notation};
use super::recommend::{Standing, Traits};
use super::{
    ACCEPT, Build, Conditional, ConditionalKernel, DIVERGENT, Hmc, InfoColumn, KernelError,
    LOG_DENSITY, Mala, Metropolis, Nuts, Phase, Resolve, Sampler, SamplerFamily, SamplerSpec,
    Slice, StateVisitor, Target, Tick, bound, resolve, written,
};
use crate::models::{Block, Model, form_of, parts};
use crate::oracle::{BlockView, Oracle, StepError};
use ergodic_base::Streams;
use ergodic_base::settings::{Declared, Field, SettingError, Settings};
use ergodic_diagnostics::Remedy;

mod known_form;

use known_form::KnownForm;

/// Makes [`PartSampler`] of the sampler types of each kind, and their lists; refuses to compile where one is of another kind.
macro_rules! part_samplers {
    (exact: $($exact:ident),+; minibatch: $($minibatch:ident),+; known form: $known:ident) => {
        ergodic_base::choice! {
            /// Samplers of a part of a problem, a block of parameters or a shard of the rows: exact ones whose defaults suit every
            /// target, then ones with gradients of minibatches, then exact draws of conditionals, which few blocks have.
            pub enum PartSampler {
                $(#[doc = concat!("[`", stringify!($exact), "`].")] $exact = $exact::SPEC.id,)+
                $(#[doc = concat!("[`", stringify!($minibatch), "`].")] $minibatch = $minibatch::SPEC.id,)+
                #[doc = concat!("[`", stringify!($known), "`].")]
                $known = $known::SPEC.id,
            }
        }

        /// Words of exact samplers of every target.
        const EXACT: &[&str] = &[$($exact::SPEC.id),+];
        /// Words of all samplers of every target.
        pub(super) const GENERAL: &[&str] = &[$($exact::SPEC.id,)+ $($minibatch::SPEC.id),+];

        const _: () = {
            $(assert!($exact::SPEC.bias.is_none() && !$exact::SPEC.minibatch);)+
            $(assert!($minibatch::SPEC.minibatch);)+
        };

        impl PartSampler {
            fn entry(self) -> BlockEntry {
                match self {
                    $(Self::$exact => BlockEntry::of::<$exact>(),)+
                    $(Self::$minibatch => BlockEntry::of::<$minibatch>(),)+
                    Self::$known => BlockEntry::of::<$known>(),
                }
            }
        }
    };
}

part_samplers! {
    exact: Nuts, Hmc, Mala, Slice, Metropolis;
    minibatch: Sgld, SgldCv, Sghmc, SghmcCv;
    known form: KnownForm
}

/// What a block needs of its sampler.
struct BlockEntry {
    info: &'static [InfoColumn],
    is_stochastic: bool,
    resolve: Resolve,
    build: Build<dyn ConditionalKernel>,
}

impl BlockEntry {
    const fn of<S: Conditional>() -> Self {
        Self {
            info: S::SPEC.info,
            is_stochastic: S::SPEC.minibatch,
            resolve: resolve::<S>,
            build: |settings, target, u0, oracle, streams| {
                Ok(Box::new(bound::<S>(settings, target, u0, oracle, streams)?))
            },
        }
    }
}

impl PartSampler {
    /// Whether the sampler sees minibatches.
    fn is_stochastic(self) -> bool {
        self.entry().is_stochastic
    }
}

/// The sampler of a block, and its settings that are not left to defaults: `sgld(batch=200, step_size=0.1)`.
#[derive(Clone, Debug, PartialEq)]
pub struct ChosenKernel {
    sampler: PartSampler,
    settings: Settings,
}

impl From<PartSampler> for ChosenKernel {
    fn from(sampler: PartSampler) -> Self {
        Self {
            sampler,
            settings: Settings::default(),
        }
    }
}

impl ChosenKernel {
    fn read(text: &str) -> Option<Self> {
        let (word, settings) = written::read(text)?;
        let sampler = PartSampler::from_word(word)?;
        Some(Self { sampler, settings })
    }
}

/// Blocks with an exact sampler each.
const EXACT_BLOCKS: Notation<ChosenKernel> = Notation {
    key: "blocks",
    thing: "a sampler",
    example: "b[*]: hmc",
    known: || format!("one of the samplers {}, conjugate", EXACT.join(", ")),
    read: |text| ChosenKernel::read(text).filter(|kernel| !kernel.sampler.is_stochastic()),
};

/// Blocks with a sampler each, of minibatches or exact.
const BLOCKS: Notation<ChosenKernel> = Notation {
    example: "b[*]: sgld(batch=200, step_size=0.1)",
    known: || {
        format!(
            "one of the samplers {}, with settings as in sgld(batch=200, step_size=0.1)",
            PartSampler::WORDS.join(", ")
        )
    },
    read: ChosenKernel::read,
    ..EXACT_BLOCKS
};

ergodic_base::choice! {
    /// Which parameters are updated together, where they are not named.
    pub enum Together {
        /// Blocks that the model declares.
        Model = "model",
        /// Each parameter alone.
        Single = "single",
        /// All parameters at once.
        One = "one",
    }
}

ergodic_base::choice! {
    /// In which order blocks are updated.
    pub enum Scan {
        /// In that of the list.
        Systematic = "systematic",
        /// Each drawn at random, with equal chances.
        Random = "random",
    }
}

ergodic_base::settings! {
    /// Settings of samplers by blocks, with that of the sampler of blocks `K`.
    pub struct GibbsSettings<K> {
        blocks: String = Field::text(
            "Blocks",
            Together::WORDS,
            "b[Intercept]: slice; b[*]: hmc",
            Together::Model.word(),
        )
        .help(
            "Which parameters are updated together: as the model declares (model), each alone (single), all (one), or as \
             written: blocks between semicolons, names between commas, * for any characters, the sampler after a colon, with \
             settings in parentheses; what is not named is a last block. Where the conditional distribution of a block is \
             known, the sampler may be `conjugate`",
        )
        .why("the model knows which parameters belong together");
        kernels: K;
        single_kernel: PartSampler = Field::choice("Sampler of single parameters", EXACT, Some(PartSampler::Slice.word()))
            .help("Sampler, with its default settings, of each block of one parameter that names none")
            .why("one dimension needs no gradient, and slices no step size");
        scan: Scan = Scan::field("Order of blocks", Some(Scan::Systematic))
            .help("systematic: every block once per draw, in order; random: as many blocks, each drawn with equal chances, once warmed up")
            .why("leaves no block out, and so forgets faster as a rule");
    }
}

ergodic_base::settings! {
    /// The sampler of blocks where all are exact.
    pub struct ExactKernels {
        kernel: PartSampler = Field::choice("Sampler of blocks", EXACT, Some(PartSampler::Nuts.word()))
            .help("Sampler, with its default settings, of each block of several parameters that names none")
            .why("adapts the length of its trajectories to conditionals that change shape");
    }
}

ergodic_base::settings! {
    /// The sampler of blocks where some see minibatches.
    pub struct StochasticKernels {
        kernel: PartSampler = Field::choice("Sampler of blocks", GENERAL, Some(PartSampler::SgldCv.word()))
            .help("Sampler, with its default settings, of each block of several parameters that names none")
            .why("gradients centred at the mode have little noise");
    }
}

/// What tells samplers by blocks apart: the samplers that blocks may have.
pub trait Kernels: Declared + Described + 'static {
    /// How blocks are named.
    const NOTATION: Notation<ChosenKernel>;
    /// The sampler of blocks of several parameters that name none.
    fn kernel(&self) -> PartSampler;
}

impl Kernels for ExactKernels {
    const NOTATION: Notation<ChosenKernel> = EXACT_BLOCKS;
    fn kernel(&self) -> PartSampler {
        self.kernel
    }
}

impl Kernels for StochasticKernels {
    const NOTATION: Notation<ChosenKernel> = BLOCKS;
    fn kernel(&self) -> PartSampler {
        self.kernel
    }
}

const INFO: &[InfoColumn] = &[
    InfoColumn::new(
        ACCEPT,
        "Mean acceptance probability over the blocks whose sampler accepts or rejects",
    ),
    InfoColumn::new(DIVERGENT, "1 where a trajectory of a block diverged"),
    // Last: of a draw by minibatches it is not known.
    InfoColumn::LOG_DENSITY,
];

/// The sampler `gibbs`.
pub type Gibbs = ByBlocks<ExactKernels>;

/// The sampler `gibbs-stochastic`.
pub type GibbsStochastic = ByBlocks<StochasticKernels>;

/// `gibbs` and `gibbs-stochastic`, which differ in the samplers `K` that blocks may have.
pub struct ByBlocks<K>(PhantomData<fn() -> K>);

/// Settings in force.
#[derive(Clone, Debug)]
pub struct Config {
    blocks: Blocks,
    kernel: PartSampler,
    single_kernel: PartSampler,
    scan: Scan,
}

/// Which parameters are updated together.
#[derive(Clone, Debug)]
enum Blocks {
    /// By a word.
    Word(Together),
    /// Blocks that a text names: as written, and what was read.
    Chosen(String, Vec<Chosen<ChosenKernel>>),
}

/// A block at work.
struct Part {
    view: BlockView,
    kernel: Box<dyn ConditionalKernel>,
    is_stochastic: bool,
    /// Working memory: information columns of the kernel, and where some of them are.
    info: Vec<f64>,
    accept: Option<usize>,
    divergent: Option<usize>,
    log_density: Option<usize>,
}

/// State of [`Gibbs`].
pub struct State {
    u: Vec<f64>,
    parts: Vec<Part>,
}

impl Described for ExactKernels {
    const FOR_ADVISER: Traits = Traits::FULL_DATA;
    const DESCRIPTION: SamplerSpec = SamplerSpec {
        id: "gibbs",
        family: SamplerFamily::FullData,
        title: "Gibbs by blocks",
        about: "Updates one block of parameters after the other, each by a sampler of its own: exact, for models with parts",
        cite: "Geman and Geman 1984, IEEE TPAMI 6; Tierney 1994, Annals of Statistics 22",
        formula: "for each block b: u_b ~ K_b(u_b, · | u_{-b}), K_b leaves π(u_b | u_{-b}) unchanged",
        fields: <GibbsSettings<Self>>::FIELDS,
        info: INFO,
        bias: None,
        default_warmup: 1000,
        ..SamplerSpec::ORDINARY
    };
}

impl Described for StochasticKernels {
    const FOR_ADVISER: Traits = Traits::ORDINARY.standing(Standing::Comparison);
    const DESCRIPTION: SamplerSpec = SamplerSpec {
        id: "gibbs-stochastic",
        family: SamplerFamily::Langevin,
        title: "Stochastic gradients within Gibbs",
        about: "Updates one block of parameters after the other, some by gradients of minibatches, others by exact samplers",
        cite: "Baker 2018, Lancaster University, section 4.7; Geman and Geman 1984, IEEE TPAMI 6",
        formula: "for each block b: u_b ~ K_b(u_b, · | u_{-b}), K_b leaves π(u_b | u_{-b}) unchanged, exactly or nearly so",
        fields: <GibbsSettings<Self>>::FIELDS,
        info: INFO.split_at(2).0,
        needs_mode: true,
        minibatch: true,
        remedy: Some(Remedy::SmallerStepInBlocks),
        bias: Some(
            "Conditional standard deviations of the blocks with minibatches come out too large as those samplers alone make them: by \
             about 2 % at the default step with control variates, 5 % without",
        ),
        ..ExactKernels::DESCRIPTION
    };
}

impl<K: Kernels> Sampler for ByBlocks<K> {
    type Settings = GibbsSettings<K>;
    type Config = Config;
    type State = State;

    const SPEC: SamplerSpec = K::DESCRIPTION;
    const ADVICE: Traits = K::FOR_ADVISER;

    fn configure(settings: &mut Self::Settings, target: &Target) -> Result<Config, SettingError> {
        let text = &settings.blocks;
        let blocks = match Together::from_word(text) {
            Some(word) => Blocks::Word(word),
            None if text.contains(':') => {
                let chosen = K::NOTATION.read(text)?;
                for one in &chosen {
                    one.thing().check(target)?;
                }
                if let Some(model) = &target.model {
                    check_known_forms(
                        &K::NOTATION.divide(&chosen, &parts(model.as_ref()))?,
                        model.as_ref(),
                    )?;
                }
                Blocks::Chosen(text.clone(), chosen)
            }
            // What is no word and has no colon is a word mistyped.
            None => {
                return Err(SettingError::Value {
                    key: "blocks".to_owned(),
                    takes: format!(
                        "{}, or blocks such as `b[Intercept]: slice; b[*]: hmc`",
                        Together::WORDS.join(", ")
                    ),
                    value: text.clone(),
                });
            }
        };
        let kernel = settings.kernels.kernel();
        ChosenKernel::from(kernel).check(target)?;
        Ok(Config {
            blocks,
            kernel,
            single_kernel: settings.single_kernel,
            scan: settings.scan,
        })
    }

    fn check(config: &Config, parts: &[Block]) -> Result<(), SettingError> {
        match &config.blocks {
            Blocks::Word(_) => Ok(()),
            Blocks::Chosen(_, chosen) => BLOCKS.divide(chosen, parts).map(|_| ()),
        }
    }

    fn init(
        config: &Config,
        u0: &[f64],
        oracle: &mut Oracle,
        streams: &mut Streams,
    ) -> Result<State, StepError> {
        let parts = divide(&config.blocks, oracle)
            .into_iter()
            .map(|(coordinates, kernel)| {
                let by_size = || match coordinates.len() {
                    1 => config.single_kernel.into(),
                    _ => config.kernel.into(),
                };
                let kernel = kernel.unwrap_or_else(by_size);
                Part::new(&kernel, coordinates, u0, oracle, streams)
            })
            .collect::<Result<_, _>>()?;
        Ok(State {
            u: u0.to_vec(),
            parts,
        })
    }

    fn step(
        config: &Config,
        at: Tick,
        state: &mut State,
        oracle: &mut Oracle,
        streams: &mut Streams,
        info: &mut [f64],
    ) -> Result<(), StepError> {
        let (mut sum_accept, mut accepting) = (0.0, 0.0);
        let (mut divergent, mut log_density) = (0.0, f64::NAN);
        let is_random = config.scan == Scan::Random && at.phase == Phase::Draw;
        let count = state.parts.len();
        for k in 0..count {
            let k = if is_random {
                streams.noise.random_range(0..count)
            } else {
                k
            };
            let part = &mut state.parts[k];
            part.update(at, &mut state.u, oracle, streams)?;
            let column = |k: Option<usize>| k.map(|k| part.info[k]);
            if let Some(accept) = column(part.accept) {
                sum_accept += accept;
                accepting += 1.0;
            }
            divergent = column(part.divergent).map_or(divergent, |value| value.max(divergent));
            // A conditional density is the joint one: the last block's is that of the draw.
            log_density = column(part.log_density).unwrap_or(log_density);
        }
        let columns = [sum_accept / accepting, divergent, log_density];
        info.copy_from_slice(&columns[..info.len()]);
        Ok(())
    }

    fn position(state: &State) -> &[f64] {
        &state.u
    }

    fn visit(state: &mut State, visitor: &mut dyn StateVisitor) {
        visitor.slice("position", &mut state.u);
        for part in &mut state.parts {
            part.kernel.visit(visitor);
            if let (true, Some(rows)) = (part.is_stochastic, part.view.minibatch_mut()) {
                for position in rows.position_mut() {
                    visitor.counter("minibatch", position);
                }
            }
        }
    }
}

impl ChosenKernel {
    /// # Errors
    /// A setting that the sampler does not have or that does not suit the target, which then suits no block of it either; one that speaks of
    /// all coordinates of the model, of which the sampler sees some.
    fn check(&self, target: &Target) -> Result<(), SettingError> {
        if BlockSteps::are_given(&self.settings) {
            return Err(SettingError::unfit(
                "blocks",
                "gives a block `block_steps`, which are for a whole model: name more blocks, each with a `step_size` of its own",
            ));
        }
        let is_second_order = || CentredRows::read(&self.settings).is_ok_and(|it| it.order == 2);
        if self.sampler == PartSampler::SghmcCv && is_second_order() {
            return Err(SettingError::unfit(
                "blocks",
                "asks `sghmc-cv` for `order=2`, whose noise is not known within a block: leave `order` out or take `sgld-cv`",
            ));
        }
        (self.sampler.entry().resolve)(&self.settings, target).map(|_in_force| ())
    }
}

/// # Errors
/// A block whose conditional is to be drawn from has none of known form.
fn check_known_forms(
    division: &[Division<ChosenKernel>],
    model: &dyn Model,
) -> Result<(), SettingError> {
    let known = model.known_conditionals();
    for (coordinates, kernel) in division {
        let drawn = (kernel.as_ref()).is_some_and(|one| one.sampler == PartSampler::KnownForm);
        if drawn && form_of(coordinates, &known).is_none() {
            let names: Vec<String> = (parts(model).iter())
                .filter(|part| part.coordinates.clone().any(|j| coordinates.contains(&j)))
                .map(|part| format!("`{}`", part.name))
                .collect();
            return Err(SettingError::unfit(
                "blocks",
                format!(
                    "asks for draws of {} from its conditional distribution, which is not known for this model and its priors; name \
                     another sampler, such as nuts",
                    names.join(", ")
                ),
            ));
        }
    }
    Ok(())
}

/// The blocks in force.
fn divide(blocks: &Blocks, oracle: &Oracle) -> Vec<Division<ChosenKernel>> {
    let dim = oracle.dim();
    match blocks {
        Blocks::Word(Together::Single) => (0..dim).map(|j| (vec![j], None)).collect(),
        Blocks::Word(Together::One) => vec![((0..dim).collect(), None)],
        Blocks::Word(Together::Model) => {
            let blocks = oracle.model().blocks().into_iter();
            blocks
                .map(|block| (block.coordinates.collect(), None))
                .collect()
        }
        Blocks::Chosen(written, chosen) => match BLOCKS.divide(chosen, &parts(oracle.model())) {
            Ok(blocks) => blocks,
            Err(error) => unreachable!("`check` has let `{written}` pass, but {error}"),
        },
    }
}

impl Part {
    /// The kernel of the block `coordinates` at those of `u0`.
    fn new(
        chosen: &ChosenKernel,
        coordinates: Vec<usize>,
        u0: &[f64],
        oracle: &mut Oracle,
        streams: &mut Streams,
    ) -> Result<Self, StepError> {
        let start: Vec<f64> = coordinates.iter().map(|&j| u0[j]).collect();
        let mut view = oracle.block_view(coordinates, u0)?;
        let entry = chosen.sampler.entry();
        let kernel = oracle.within(&mut view, |oracle| {
            let target = Target {
                dim: oracle.dim(),
                ..Target::of(oracle)
            };
            (entry.build)(&chosen.settings, &target, &start, oracle, streams)
        });
        let kernel = kernel.map_err(|error| match error {
            KernelError::Start(error) => error,
            KernelError::Setting(error) => StepError::Setting(error),
            error @ (KernelError::Unsuitable(_) | KernelError::Checkpoint) => {
                unreachable!("samplers of blocks suit every density, but {error}")
            }
        })?;
        let column = |name| entry.info.iter().position(|column| column.name == name);
        Ok(Self {
            view,
            kernel,
            is_stochastic: entry.is_stochastic,
            info: vec![f64::NAN; entry.info.len()],
            accept: column(ACCEPT),
            divergent: column(DIVERGENT),
            log_density: column(LOG_DENSITY),
        })
    }

    /// Updates the block's coordinates of `u`.
    fn update(
        &mut self,
        at: Tick,
        u: &mut [f64],
        oracle: &mut Oracle,
        streams: &mut Streams,
    ) -> Result<(), StepError> {
        let Self {
            view, kernel, info, ..
        } = self;
        view.stand_at(u);
        oracle.within(view, |oracle| {
            kernel.refresh(oracle)?;
            for _ in 0..kernel.steps_per_draw() {
                kernel.step(at, oracle, streams, info)?;
            }
            Ok(())
        })?;
        for (&j, &value) in view.coordinates().iter().zip(kernel.position()) {
            u[j] = value;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
