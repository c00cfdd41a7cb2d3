//! A model of a table without an outcome, and one chain of a sampler on it, step by step.

use std::sync::Arc;

use ergodic_analysis::JobError;
use ergodic_base::rng::Streams;
use ergodic_base::settings::Settings;
use ergodic_core::design::matrix::{Design, ModelFrame};
use ergodic_core::design::response::ResponseUse;
use ergodic_core::formula::Formula;
use ergodic_core::models::{self, Model, ModelOptions};
use ergodic_core::oracle::Oracle;
use ergodic_core::samplers::{self, ChoiceError, Kernel, KernelError, Phase, Target, Tick};
use ergodic_data::table::Table;

/// The model of a table by a template, rows shuffled with the same seed always.
pub fn model(
    table: &Table,
    (template, settings): (&str, &Settings),
    formula: &str,
    priors: Vec<(String, String)>,
) -> Result<Arc<dyn Model>, JobError> {
    let formula: Formula = formula
        .parse()
        .map_err(ergodic_core::design::DesignError::from)?;
    let frame = ModelFrame {
        response_use: ResponseUse::Absent,
        ..ModelFrame::new(formula)
    };
    let (design, _report) = Design::build(table, &frame)?;
    let entry = models::find(template)?;
    let options = ModelOptions {
        settings: entry.resolve(settings)?,
        standardize: true,
        priors,
        ..ModelOptions::default()
    };
    Ok((entry.build)(Arc::new(design), &options)?)
}

/// A chain that starts as its sampler says.
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
    /// Chain `number` of a seed.
    pub fn start(
        id: &str,
        settings: &Settings,
        model: &Arc<dyn Model>,
        (seed, number): (u64, usize),
    ) -> Result<Self, JobError> {
        let entry = samplers::find(id)
            .ok_or_else(|| JobError::Impossible(format!("There is no sampler `{id}`")))?;
        let target = Target::new(model, None);
        let mut oracle = Oracle::new(Arc::clone(model), None, false, Arc::default());
        let mut streams = Streams::new(seed, number);
        let u = vec![f64::NAN; model.dim()];
        let kernel =
            (entry.build)(settings, &target, &u, &mut oracle, &mut streams).map_err(|error| {
                match error {
                    KernelError::Setting(error) => JobError::from(error),
                    KernelError::Unsuitable(error) => ChoiceError::from(error).into(),
                    error => failed(entry.spec.id, &error),
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
    pub fn draw(&mut self) -> Result<(), JobError> {
        let at = Tick {
            iter: self.iter,
            phase: Phase::Draw,
        };
        for _ in 0..self.kernel.steps_per_draw() {
            (self.kernel)
                .step(at, &mut self.oracle, &mut self.streams, &mut self.info)
                .map_err(|error| failed(self.id, &error.into()))?;
        }
        self.iter += 1;
        Ok(())
    }
}

fn failed(id: &str, error: &KernelError) -> JobError {
    JobError::Impossible(format!("Sampler `{id}` failed: {error}"))
}
