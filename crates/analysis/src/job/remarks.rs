//! What a job tells of a run before it: its memory, its steps, and where its chains start.

use crate::Recipe;
use ergodic_base::numerals::thousands;
use ergodic_base::reporter::{Severity, Warning};
use ergodic_core::engine::Start;
use ergodic_core::engine::start::SPREAD;
use ergodic_core::samplers::SamplerEntry;

/// What to tell of a run whose draws fill a good part of an ordinary machine's memory.
pub(super) fn large_draws(recipe: &Recipe, kept: usize, dim: usize) -> Option<Warning> {
    const GIGABYTE: f64 = 1e9;
    let gradients = recipe.run.zero_variance.map_or(0, |_order| dim);
    let numbers = recipe.run.chains as f64 * recipe.run.draws as f64 * (kept + gradients) as f64;
    let bytes = size_of::<f64>() as f64 * numbers;
    (bytes >= GIGABYTE).then(|| {
        let (what, way_out) = match gradients {
            0 => ("draws", "what to keep draws of (run.keep)"),
            _ => ("draws and gradients", "no corrections while the run goes on (run.zero_variance)"),
        };
        let text = format!(
            "The {what} of {} quantities will take {:.1} GB of memory; choose fewer draws or chains, steps further apart, or {way_out}",
            thousands(kept as u64),
            bytes / GIGABYTE
        );
        Warning::new(Severity::Watch, "large-draws", text)
    })
}

/// What to tell of steps that a user gave where nothing is known of scales.
pub(super) fn raw_steps(sampler: &SamplerEntry) -> Warning {
    let centre = if sampler.spec.centres_at_start {
        "; gradients are centred where each chain starts, and get noisier the farther it goes from there"
    } else {
        ""
    };
    let text = format!(
        "Steps of {} are in the model's own coordinates: without the curvature at the mode nothing says which steps are stable, how far the \
         noise of gradients widens the posterior, or how slow its slowest direction is; compare with half the step size{centre}",
        sampler.spec.title
    );
    Warning::new(Severity::Watch, "raw-steps", text)
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
        let text = format!(
            "{} ends its warm-up when it finds that chains have arrived, which tells nothing of chains that start where they are to \
             be; start them far away (run.start_spread = 10) or fix the length of the warm-up (run.warmup)",
            sampler.spec.title
        );
        Warning::new(Severity::Watch, "near-start", text)
    })
}
