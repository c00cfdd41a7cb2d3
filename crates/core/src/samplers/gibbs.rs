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
//! | `blocks` | model: as the model declares ([`crate::models::Model::blocks`]); single: one coordinate each; one: all together; or names of parameters with a sampler each ([`blocks`]) | model |
//! | `kernel` | sampler of blocks of several coordinates for which `blocks` names none | nuts |
//! | `single_kernel` | the same of one coordinate | slice |
//! | `scan` | systematic: every block once, in order; random: as many blocks drawn with equal chances, some twice and some not at all. In warm-up every block is visited, so that all kernels adapt | systematic |
//!
//! **Cost.** For each block one pass over N rows, because the others have moved, and those of its kernel. **Bias.** None.
//! **Not for** blocks that depend strongly on each other, which then move slowly, nor where one kernel can move all
//! coordinates at once: it is for models whose parts want different samplers.

use rand::RngExt as _;

use super::{
    ACCEPT, Build, Conditional, ConditionalKernel, DIVERGENT, Family, Hmc, InfoColumn, KernelError,
    LOG_DENSITY, Mala, Metropolis, Nuts, Phase, Sampler, SamplerSpec, Slice, StateVisitor, Target,
    Tick, bound,
};
use crate::models::{Block, parts};
use crate::oracle::{BlockView, Oracle, StepError};
use ergodic_base::rng::Streams;
use ergodic_base::settings::{Declared as _, Field, SettingError, Settings};

pub(crate) mod blocks;

use blocks::{Chosen, Division};

ergodic_base::choice! {
    /// Samplers that blocks may use: exact ones whose defaults suit every target.
    pub enum BlockSampler {
        /// The No-U-Turn sampler.
        Nuts = "nuts",
        /// Hamiltonian Monte Carlo.
        Hmc = "hmc",
        /// Adjusted Langevin steps.
        Mala = "mala",
        /// Slice sampling.
        Slice = "slice",
        /// Random-walk Metropolis.
        Metropolis = "metropolis",
    }
}

/// What a block needs of its sampler.
struct BlockEntry {
    info: &'static [InfoColumn],
    build: Build<dyn ConditionalKernel>,
}

impl BlockEntry {
    const fn of<S: Conditional>() -> Self {
        Self {
            info: S::SPEC.info,
            build: |settings, target, u0, oracle, streams| {
                Ok(Box::new(bound::<S>(settings, target, u0, oracle, streams)?))
            },
        }
    }
}

impl BlockSampler {
    fn entry(self) -> BlockEntry {
        match self {
            Self::Nuts => BlockEntry::of::<Nuts>(),
            Self::Hmc => BlockEntry::of::<Hmc>(),
            Self::Mala => BlockEntry::of::<Mala>(),
            Self::Slice => BlockEntry::of::<Slice>(),
            Self::Metropolis => BlockEntry::of::<Metropolis>(),
        }
    }
}

ergodic_base::choice! {
    /// Which parameters are updated together, where they are not named.
    pub enum Together {
        /// As the model declares.
        Model = "model",
        /// Each alone.
        Single = "single",
        /// All.
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
    /// Settings of [`Gibbs`].
    pub struct GibbsSettings {
        blocks: String = Field::text(
            "Blocks",
            Together::WORDS,
            "b[Intercept]: slice; b[*]: hmc",
            Together::Model.word(),
        )
        .help(
            "Which parameters are updated together: as the model declares (model), each alone (single), all (one), or as \
             written: blocks between semicolons, names between commas, * for any characters, the sampler after a colon; \
             what is not named is a last block",
        )
        .why("the model knows which parameters belong together");
        kernel: BlockSampler = BlockSampler::field("Sampler of blocks", Some(BlockSampler::Nuts))
            .help("Sampler, with its default settings, of each block of several parameters that names none")
            .why("adapts the length of its trajectories to conditionals that change shape");
        single_kernel: BlockSampler = BlockSampler::field("Sampler of single parameters", Some(BlockSampler::Slice))
            .help("Sampler, with its default settings, of each block of one parameter that names none")
            .why("one dimension needs no gradient, and slices no step size");
        scan: Scan = Scan::field("Order of blocks", Some(Scan::Systematic))
            .help("systematic: every block once per draw, in order; random: as many blocks, each drawn with equal chances, once warmed up")
            .why("leaves no block out, and so forgets faster as a rule");
    }
}

const INFO: &[InfoColumn] = &[
    InfoColumn {
        name: ACCEPT,
        help: "Mean acceptance probability over the blocks whose sampler accepts or rejects",
    },
    InfoColumn {
        name: DIVERGENT,
        help: "1 where a trajectory of a block diverged",
    },
    InfoColumn::LOG_DENSITY,
];

/// The sampler `gibbs`.
pub struct Gibbs;

/// Settings in force.
#[derive(Clone, Debug)]
pub struct Config {
    blocks: Blocks,
    kernel: BlockSampler,
    single_kernel: BlockSampler,
    scan: Scan,
}

/// Which parameters are updated together.
#[derive(Clone, Debug)]
enum Blocks {
    /// By a word.
    Word(Together),
    /// As written, and what was read.
    Chosen(String, Vec<Chosen>),
}

/// A block at work.
struct Part {
    view: BlockView,
    kernel: Box<dyn ConditionalKernel>,
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

impl Sampler for Gibbs {
    type Settings = GibbsSettings;
    type Config = Config;
    type State = State;

    const SPEC: SamplerSpec = SamplerSpec {
        id: "gibbs",
        family: Family::FullData,
        title: "Gibbs by blocks",
        about: "Updates one block of parameters after the other, each by a sampler of its own: exact, for models with parts",
        cite: "Geman and Geman 1984, IEEE TPAMI 6; Tierney 1994, Annals of Statistics 22",
        formula: "for each block b: u_b ~ K_b(u_b, · | u_{-b}), K_b leaves π(u_b | u_{-b}) unchanged",
        fields: GibbsSettings::FIELDS,
        info: INFO,
        bias: None,
        default_warmup: 1000,
        ..SamplerSpec::ORDINARY
    };

    fn configure(settings: &mut GibbsSettings, _target: &Target) -> Result<Config, SettingError> {
        let text = &settings.blocks;
        let blocks = match Together::from_word(text) {
            Some(word) => Blocks::Word(word),
            None if text.contains(':') => Blocks::Chosen(text.clone(), blocks::read(text)?),
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
        Ok(Config {
            blocks,
            kernel: settings.kernel,
            single_kernel: settings.single_kernel,
            scan: settings.scan,
        })
    }

    fn check(config: &Config, parts: &[Block]) -> Result<(), SettingError> {
        match &config.blocks {
            Blocks::Word(_) => Ok(()),
            Blocks::Chosen(_, chosen) => blocks::divide(chosen, parts).map(|_| ()),
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
                let kernel = kernel.unwrap_or(match coordinates.len() {
                    1 => config.single_kernel,
                    _ => config.kernel,
                });
                Part::new(kernel, coordinates, u0, oracle, streams)
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
        info.copy_from_slice(&[sum_accept / accepting, divergent, log_density]);
        Ok(())
    }

    fn position(state: &State) -> &[f64] {
        &state.u
    }

    fn visit(state: &mut State, visitor: &mut dyn StateVisitor) {
        visitor.slice("position", &mut state.u);
        for part in &mut state.parts {
            part.kernel.visit(visitor);
        }
    }
}

/// The blocks in force.
fn divide(blocks: &Blocks, oracle: &Oracle) -> Vec<Division> {
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
        Blocks::Chosen(written, chosen) => match blocks::divide(chosen, &parts(oracle.model())) {
            Ok(blocks) => blocks,
            Err(error) => unreachable!("`check` has let `{written}` pass, but {error}"),
        },
    }
}

impl Part {
    /// The kernel of the block `coordinates` at those of `u0`.
    fn new(
        sampler: BlockSampler,
        coordinates: Vec<usize>,
        u0: &[f64],
        oracle: &mut Oracle,
        streams: &mut Streams,
    ) -> Result<Self, StepError> {
        let start: Vec<f64> = coordinates.iter().map(|&j| u0[j]).collect();
        let mut view = oracle.block_view(coordinates, u0)?;
        let entry = sampler.entry();
        let kernel = oracle.within(&mut view, |oracle| {
            let target = Target {
                dim: oracle.dim(),
                ..Target::of(oracle)
            };
            (entry.build)(&Settings::default(), &target, &start, oracle, streams)
        });
        let kernel = kernel.map_err(|error| match error {
            KernelError::Start(error) => error,
            error => {
                unreachable!("the defaults of block samplers suit every target, but {error}")
            }
        })?;
        let column = |name| entry.info.iter().position(|column| column.name == name);
        Ok(Self {
            view,
            kernel,
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
