//! What a job tells of a run before it: its memory, its steps, and where its chains start.

use crate::Recipe;
use crate::remark::Remark;
use ergodic_base::Warning;
use ergodic_core::engine::Start;
use ergodic_core::engine::start::SPREAD;
use ergodic_core::estimators::ModeError;
use ergodic_core::samplers::SamplerEntry;

/// What to tell of a run whose draws fill a good part of an ordinary machine's memory.
pub(super) fn large_draws(recipe: &Recipe, kept: usize, dim: usize) -> Option<Warning> {
    const GIGABYTE: f64 = 1e9;
    let gradients = recipe.run.zero_variance.map_or(0, |_order| dim);
    let numbers = recipe.run.chains as f64 * recipe.run.draws as f64 * (kept + gradients) as f64;
    let bytes = size_of::<f64>() as f64 * numbers;
    (bytes >= GIGABYTE).then(|| {
        Warning::from(Remark::LargeDraws {
            kept,
            gigabytes: bytes / GIGABYTE,
            with_gradients: gradients > 0,
        })
    })
}

/// What to tell of a posterior whose mode is not known, of a model of `rows` rows; chains start `around`.
pub(super) fn without_mode(why: &ModeError, rows: usize, around: &'static str) -> Warning {
    Warning::from(match why {
        ModeError::TooMany(dim) => Remark::TooLargeForCurvature {
            dim: *dim,
            rows,
            around,
        },
        ModeError::NoneSought => Remark::NoModeSought { around },
        error => Remark::NoMode {
            why: error.to_string(),
            around,
        },
    })
}

/// What to tell of steps that a user gave where nothing is known of scales.
pub(super) fn raw_steps(sampler: &SamplerEntry) -> Warning {
    Warning::from(Remark::RawSteps {
        sampler: sampler.spec.title,
        centred_at_start: sampler.spec.centres_at_start,
    })
}

/// What to tell of chains that start where they are to arrive, before a sampler that ends its warm-up when they have.
pub(super) fn near_start(recipe: &Recipe, sampler: &SamplerEntry) -> Option<Warning> {
    let run = &recipe.run;
    let is_near = match run.start {
        Start::Mode => run.start_spread < SPREAD,
        Start::Run(_) => true,
        Start::Prior | Start::Values(_) => false,
    };
    (is_near && sampler.spec.decides_warmup && run.warmup.is_none()).then(|| {
        let sampler = sampler.spec.title;
        Warning::from(Remark::NearStart { sampler })
    })
}
