//! Models of synthetic data at their mode, for benchmarks of single steps and passes.

use std::sync::{Arc, OnceLock};

use ergodic_base::settings::{Settings, Value};
use ergodic_base::{ChainRng, Control, Purpose, Streams, stream};
use ergodic_core::design::{Design, ResponseInfo, ResponseKind};
use ergodic_core::estimators::find_mode;
use ergodic_core::models::{Model, ModelOptions, find};
use ergodic_core::oracle::{Centre, Oracle};
use ergodic_core::samplers::{self, Kernel, Target};
use ergodic_core::synthetic::Synthetic;
use ndarray::Array2;
use rand_distr::{Distribution as _, Poisson, StandardNormal};

/// A model, and its mode once it was asked for.
pub struct Case {
    pub model: Arc<dyn Model>,
    centre: OnceLock<Arc<Centre>>,
}

impl Case {
    /// Template `template` for the columns of `data`; what the labels are to other templates: numbers around the linear predictor,
    /// or counts that vary more than Poisson counts.
    pub fn new(data: Synthetic, template: &str) -> Self {
        let (n, d) = (data.y.len(), data.theta.len());
        let (y, kind) = response(&data, template);
        let design = Design {
            x: Array2::from_shape_vec((n, d), data.x).expect("rows times columns numbers"),
            // The columns as they are: scaling would change the arithmetic that is measured.
            raw_center: vec![0.0; d],
            raw_scale: vec![1.0; d],
            terms: (0..d)
                .map(|j| {
                    if j == 0 {
                        "Intercept".into()
                    } else {
                        format!("x{j}").into()
                    }
                })
                .collect(),
            has_intercept: true,
            y,
            trials: None,
            weights: None,
            se: None,
            censoring: None,
            offset: None,
            row: (0..n as u32).collect(),
            response: ResponseInfo {
                name: "y".to_owned(),
                kind,
                counts: Vec::new(),
            },
            reference_levels: Vec::new(),
            merged: Vec::new(),
            rows_total: n,
            rows_used: n,
            held_out: 0,
            dropped: Vec::new(),
            groups: Vec::new(),
            group_terms: Vec::new(),
            columns: Vec::new(),
            left_out: Vec::new(),
            transforms: Vec::new(),
            standardize: true,
            fixed_units: None,
        };
        let options = ModelOptions {
            standardize: true,
            ..ModelOptions::default()
        };
        let template = find(template).expect("the template is registered");
        Self {
            model: (template.build)(Arc::new(design), &options).expect("the design is valid"),
            centre: OnceLock::new(),
        }
    }

    /// The mode and the curvature there.
    pub fn centre(&self) -> &Arc<Centre> {
        self.centre.get_or_init(|| {
            let mode = find_mode(self.model.as_ref(), &Control::default());
            Arc::new(mode.expect("the mode exists").centre)
        })
    }

    /// A view of the rows; one thread.
    pub fn oracle(&self, centre: Option<Arc<Centre>>) -> Oracle {
        Oracle::new(Arc::clone(&self.model), centre, false, Arc::default())
    }

    /// Sampler `id` at the mode: the kernel, its view and random numbers, and how many numbers a step tells.
    pub fn kernel(
        &self,
        id: &str,
        pairs: &[(&str, Value)],
    ) -> (Box<dyn Kernel>, Oracle, Streams, usize) {
        let mut settings = Settings::default();
        for (key, value) in pairs {
            settings.set(key, value.clone());
        }
        let entry = samplers::find(id).expect("the sampler is registered");
        let centre = self.centre();
        let target = Target::new(&self.model, Some(centre));
        let (mut oracle, mut streams) = (self.oracle(Some(Arc::clone(centre))), Streams::new(1, 0));
        let kernel = (entry.build)(&settings, &target, &centre.u, &mut oracle, &mut streams)
            .expect("the settings are valid");
        (kernel, oracle, streams, entry.spec.info.len())
    }
}

fn response(data: &Synthetic, template: &str) -> (Vec<f64>, ResponseKind) {
    let mut rng = stream(1, 0, Purpose::Data);
    let rows = data.x.chunks_exact(data.theta.len());
    // A quarter of the log odds: counts stay small.
    let predictors = rows.map(|row| {
        let eta: f64 = row
            .iter()
            .zip(&data.theta)
            .map(|(x, theta)| x * theta)
            .sum();
        0.25 * eta
    });
    let noise = |rng: &mut ChainRng| -> f64 { StandardNormal.sample(rng) };
    match template {
        "linear" | "student" => {
            let y: Vec<f64> = predictors.map(|eta| eta + noise(&mut rng)).collect();
            let (mean, sd) = moments(&y);
            let range = [
                y.iter().copied().fold(f64::INFINITY, f64::min),
                y.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            ];
            let kind = ResponseKind::Number {
                mean,
                sd,
                range,
                function: None,
            };
            (y, kind)
        }
        "poisson" | "negative-binomial" => {
            let y: Vec<f64> = predictors
                .map(|eta| {
                    let mean = (eta + 0.5 * noise(&mut rng)).exp();
                    Poisson::new(mean).map_or(0.0, |poisson| poisson.sample(&mut rng))
                })
                .collect();
            let kind = ResponseKind::Count {
                total: y.iter().sum(),
                largest: y.iter().copied().fold(0.0, f64::max),
            };
            (y, kind)
        }
        _ => (data.y.clone(), ResponseKind::Successes),
    }
}

/// Mean and standard deviation (divisor n − 1).
fn moments(y: &[f64]) -> (f64, f64) {
    let n = y.len() as f64;
    let mean = y.iter().sum::<f64>() / n;
    let square = y.iter().map(|y| (y - mean).powi(2)).sum::<f64>();
    (mean, (square / (n - 1.0)).sqrt())
}
