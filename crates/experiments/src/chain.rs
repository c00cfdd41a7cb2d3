//! A model of a table, and one chain of a sampler on a model, step by step.

use std::sync::Arc;

use crate::error::BenchError;
use ergodic_base::Streams;
use ergodic_base::settings::Settings;
use ergodic_core::design::{Coding, Design, ModelFrame};
use ergodic_core::formula::Formula;
use ergodic_core::models::{self, Model, ModelOptions};
use ergodic_core::oracle::Oracle;
use ergodic_core::samplers::{self, ChoiceError, Kernel, KernelError, Phase, Target, Tick};
use ergodic_data::Table;

/// The model of a table by a template, rows shuffled with the same seed always.
pub fn model(
    table: &Table,
    template: (&str, &Settings),
    formula: &str,
    priors: Vec<(String, String)>,
) -> Result<Arc<dyn Model>, BenchError> {
    Ok(model_and_coding(table, template, formula, priors)?.0)
}

/// The model, and how rows of other tables are coded for it.
pub fn model_and_coding(
    table: &Table,
    (template, settings): (&str, &Settings),
    formula: &str,
    priors: Vec<(String, String)>,
) -> Result<(Arc<dyn Model>, Coding), BenchError> {
    let formula: Formula = formula
        .parse()
        .map_err(ergodic_core::design::DesignError::from)?;
    let entry = models::find(template)?;
    let frame = ModelFrame {
        response_use: entry.response_use(settings),
        ..ModelFrame::new(formula)
    };
    let (design, _report) = Design::build(table, &frame)?;
    let options = ModelOptions {
        settings: entry.resolve(settings)?,
        standardize: true,
        priors,
        ..ModelOptions::default()
    };
    let coding = Coding::of(table, &frame, &design)?;
    let model = (entry.build)(Arc::new(design), &options)?;
    let coding = match model.observation() {
        Some(observation) => coding.for_observation(observation),
        None => coding,
    };
    Ok((model, coding))
}

/// A chain.
pub struct Chain {
    id: &'static str,
    /// The sampler and its state.
    pub kernel: Box<dyn Kernel>,
    oracle: Oracle,
    streams: Streams,
    info: Vec<f64>,
    iter: u64,
}

impl Chain {
    /// Chain `number` of a seed, of a sampler that chooses its start itself.
    pub fn start(
        id: &str,
        settings: &Settings,
        model: &Arc<dyn Model>,
        key: (u64, usize),
    ) -> Result<Self, BenchError> {
        Self::start_at(id, settings, model, key, &vec![f64::NAN; model.dim()])
    }

    /// Chain `number` of a seed, from the position `u` (D).
    pub fn start_at(
        id: &str,
        settings: &Settings,
        model: &Arc<dyn Model>,
        (seed, number): (u64, usize),
        u: &[f64],
    ) -> Result<Self, BenchError> {
        let none = || BenchError::NoSampler(id.to_owned());
        let entry = samplers::find(id).ok_or_else(none)?;
        let target = Target::new(model, None);
        let mut oracle = Oracle::new(Arc::clone(model), None, false, Arc::default());
        let mut streams = Streams::new(seed, number);
        let kernel =
            (entry.build)(settings, &target, u, &mut oracle, &mut streams).map_err(|error| {
                match error {
                    KernelError::Setting(error) => BenchError::from(error),
                    KernelError::Unsuitable(error) => ChoiceError::from(error).into(),
                    error => BenchError::Failed(entry.spec.id, error),
                }
            })?;
        Ok(Self {
            id: entry.spec.id,
            kernel,
            oracle,
            streams,
            info: vec![0.0; entry.spec.info.len()],
            iter: 0,
        })
    }

    /// One draw.
    pub fn draw(&mut self) -> Result<(), BenchError> {
        self.advance(Phase::Draw)
    }

    /// One draw in warm-up.
    pub fn warm_up(&mut self) -> Result<(), BenchError> {
        self.advance(Phase::Warmup { length: None })
    }

    /// Gradients of single rows computed so far.
    pub fn datum_grads(&self) -> u64 {
        self.oracle.datum_grads
    }

    fn advance(&mut self, phase: Phase) -> Result<(), BenchError> {
        let at = Tick {
            iter: self.iter,
            phase,
        };
        for _ in 0..self.kernel.steps_per_draw() {
            (self.kernel)
                .step(at, &mut self.oracle, &mut self.streams, &mut self.info)
                .map_err(|error| BenchError::Failed(self.id, error.into()))?;
        }
        self.iter += 1;
        Ok(())
    }
}
