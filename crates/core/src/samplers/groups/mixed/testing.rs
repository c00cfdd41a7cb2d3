//! Small mixed models for the tests of samplers, and comparisons of moments.

use std::sync::Arc;

use rand_distr::{Distribution as _, StandardNormal};

use crate::design::ResponseUse;
use crate::models::mixed::Mixed;
use crate::models::{Model, ModelOptions};
use crate::samplers::testing::estimate;
use crate::testing::{built, table_of};
use ergodic_base::settings::{Settings, Value};
use ergodic_base::{Purpose, stream};

/// A mixed model with correlated slopes by one grouping and intercepts by another that is nested in it: 5 groups of 12
/// rows, each of 3 classes.
pub fn nested_mixed(family: &str, priors: &[(&str, &str)], standardize: bool) -> Arc<dyn Model> {
    let mut rng = stream(78, 0, Purpose::Data);
    let mut columns = [const { Vec::new() }; 5];
    for g in 0..5 {
        let [a, b]: [f64; 2] = std::array::from_fn(|_| StandardNormal.sample(&mut rng));
        for class in 0..3 {
            let c: f64 = StandardNormal.sample(&mut rng);
            for _ in 0..4 {
                let [x, e]: [f64; 2] = std::array::from_fn(|_| StandardNormal.sample(&mut rng));
                let eta = 0.5 + 0.6 * a + 0.4 * c + (0.7 + 0.5 * b) * x;
                let y = match family {
                    "gaussian" => 40.0 + 5.0 * (eta + 0.5 * e),
                    "bernoulli" => f64::from(u8::from(eta + e > 0.0)),
                    _ => (eta + 0.3 * e).exp().round(),
                };
                let row = [f64::from(g), f64::from(3 * g + class), 3.0 + 2.0 * x, y, a];
                for (column, value) in columns.iter_mut().zip(row) {
                    column.push(value);
                }
            }
        }
    }
    let names = ["g", "h", "x", "y", "w"];
    let table = table_of(names.into_iter().zip(columns).collect());
    let mut settings = Settings::default();
    settings.set("family", Value::Text(family.to_owned()));
    let options = ModelOptions {
        settings,
        priors: priors
            .iter()
            .map(|&(key, text)| (key.into(), text.into()))
            .collect(),
        standardize,
        ..ModelOptions::default()
    };
    let response = match family {
        "gaussian" => ResponseUse::Number,
        "bernoulli" => ResponseUse::Outcome,
        _ => ResponseUse::Count,
    };
    built::<Mixed>(
        &table,
        "y ~ x + w + (1 + x | g) + (1 | h)",
        response,
        &options,
    )
    .unwrap()
}

/// What four standard errors of a mean may be at most, in standard deviations, and those of a standard deviation as a share of
/// it: chains that drift have errors that would excuse anything.
const LARGEST_ERRORS: [f64; 2] = [0.25, 0.35];

/// Mean and standard deviation with their standard errors.
pub struct Moments {
    pub mean: (f64, f64),
    pub sd: (f64, f64),
}

impl Moments {
    /// Of the draws of several chains.
    pub fn of(chains: &[Vec<f64>]) -> Self {
        let mean = estimate(chains);
        let squares: Vec<Vec<f64>> = chains
            .iter()
            .map(|chain| chain.iter().map(|v| (v - mean.0).powi(2)).collect())
            .collect();
        let (variance, error) = estimate(&squares);
        let sd = variance.sqrt();
        Self {
            mean,
            sd: (sd, 0.5 * error / sd),
        }
    }

    /// Within `shift` standard deviations and `ratio` of the standard deviation, and four standard errors.
    pub fn assert_near(&self, other: &Self, shift: f64, ratio: f64, what: &str) {
        let unit = other.sd.0;
        let error = 4.0 * self.mean.1.hypot(other.mean.1) / unit;
        let found = (self.mean.0 - other.mean.0) / unit;
        assert!(
            found.abs() < shift + error && error < LARGEST_ERRORS[0],
            "{what}: shift {found}, error {error}"
        );
        let error = 4.0 * self.sd.1.hypot(other.sd.1) / unit;
        let found = self.sd.0 / unit - 1.0;
        assert!(
            found.abs() < ratio + error && error < LARGEST_ERRORS[1],
            "{what}: sd {found}, error {error}"
        );
    }
}
