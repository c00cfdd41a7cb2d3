//! For tests: steps a sampler and compares its draws with a first-order autoregressive process, which every Langevin
//! sampler is on a Gaussian posterior, within errors known in closed form.

use crate::samplers::configure;
use std::sync::Arc;

use super::{Phase, Sampler, Target, Tick};
use crate::models::Model;
use crate::oracle::{Centre, Oracle};
use ergodic_base::Streams;
use ergodic_base::settings::{Settings, Value};

/// Settings from pairs.
pub fn settings(pairs: &[(&str, Value)]) -> Settings {
    let mut settings = Settings::default();
    for (key, value) in pairs {
        settings.set(key, value.clone());
    }
    settings
}

/// A sampler at work, one step at a time.
pub struct Chain<S: Sampler> {
    /// Settings in force.
    pub config: S::Config,
    /// The sampler's state.
    pub state: S::State,
    /// The chain's view of the model.
    pub oracle: Oracle,
    /// Information columns of the last step.
    pub info: Vec<f64>,
    streams: Streams,
    iter: u64,
}

impl<S: Sampler> Chain<S> {
    /// At `u0`, with the centre where the sampler needs one.
    pub fn start(
        model: Arc<dyn Model>,
        centre: Option<Arc<Centre>>,
        settings: &Settings,
        u0: &[f64],
        seed: u64,
    ) -> Self {
        settings.check("the sampler", S::SPEC.fields).unwrap();
        let target = Target::new(&model, centre.as_ref());
        let config = configure::<S>(settings, &target).unwrap();
        let mut oracle = Oracle::new(model, centre, false, Arc::default());
        let mut streams = Streams::new(seed, 0);
        let state = S::init(&config, u0, &mut oracle, &mut streams).unwrap();
        Self {
            config,
            state,
            oracle,
            info: vec![f64::NAN; S::SPEC.info.len()],
            streams,
            iter: 0,
        }
    }

    /// One kernel step.
    pub fn step(&mut self, phase: Phase) -> &[f64] {
        let at = Tick {
            iter: self.iter,
            phase,
        };
        S::step(
            &self.config,
            at,
            &mut self.state,
            &mut self.oracle,
            &mut self.streams,
            &mut self.info,
        )
        .unwrap();
        self.iter += 1;
        S::position(&self.state)
    }

    /// `warmup` steps thrown away, then `draws` positions `thin` steps apart, one vector per coordinate.
    pub fn draws(&mut self, warmup: usize, draws: usize, thin: u64) -> Vec<Vec<f64>> {
        for _ in 0..warmup {
            self.step(Phase::Warmup { length: None });
        }
        let mut columns = vec![Vec::with_capacity(draws); S::position(&self.state).len()];
        for _ in 0..draws {
            for _ in 0..thin {
                self.step(Phase::Draw);
            }
            for (column, &value) in columns.iter_mut().zip(S::position(&self.state)) {
                column.push(value);
            }
        }
        columns
    }
}

/// Mean, variance and lag-one correlation of one coordinate.
#[derive(Clone, Copy, Debug)]
pub struct Moments {
    /// Mean.
    pub mean: f64,
    /// Population variance.
    pub variance: f64,
    /// Lag-one autocorrelation.
    pub correlation: f64,
    /// Number of values.
    pub count: f64,
}

impl Moments {
    /// Of a series.
    pub fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
        let lagged: f64 = values
            .windows(2)
            .map(|pair| (pair[0] - mean) * (pair[1] - mean))
            .sum();
        Self {
            mean,
            variance,
            correlation: lagged / (count * variance),
            count,
        }
    }

    /// Asserts mean, variance and lag-one correlation of a first-order autoregressive process, each within four of its
    /// standard errors, which are known in closed form.
    pub fn assert_autoregressive(&self, mean: f64, variance: f64, correlation: f64, what: &str) {
        let phi2 = correlation * correlation;
        let n = self.count;
        let mean_error = (variance * (1.0 + correlation) / (1.0 - correlation) / n).sqrt();
        let variance_error = (2.0 * (1.0 + phi2) / ((1.0 - phi2) * n)).sqrt();
        let correlation_error = ((1.0 - phi2) / n).sqrt();
        let z = [
            (self.mean - mean) / mean_error,
            (self.variance / variance - 1.0) / variance_error,
            (self.correlation - correlation) / correlation_error,
        ];
        assert!(
            z.iter().all(|z| z.abs() < 4.0),
            "{what}: z scores of mean, variance, correlation {z:?}; {self:?} against {mean}, {variance}, {correlation}"
        );
    }
}
