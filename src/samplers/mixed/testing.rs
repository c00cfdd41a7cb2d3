//! Small mixed models for the tests of samplers.

use std::sync::{Arc, OnceLock};

use rand_distr::{Distribution as _, StandardNormal};

use crate::base::rng::{Purpose, stream};
use crate::base::settings::{Settings, Value};
use crate::data::response::ResponseUse;
use crate::estimators::{ModeControl, find_mode};
use crate::models::mixed::Mixed;
use crate::models::testing::{built, table_of};
use crate::models::{Model, ModelOptions};
use crate::oracle::Anchor;

/// A mixed model with correlated slopes by one grouping and intercepts by another that is nested in it: 5 groups of 12 rows,
/// each of 3 classes.
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
                let row = [
                    f64::from(g),
                    f64::from(3 * g + class),
                    3.0 + 2.0 * x,
                    y,
                    a + 0.2 * e,
                ];
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

/// Such a posterior of a normal response, with its mode.
pub fn anchored_mixed() -> (Arc<dyn Model>, Arc<Anchor>) {
    static ONCE: OnceLock<(Arc<dyn Model>, Arc<Anchor>)> = OnceLock::new();
    ONCE.get_or_init(|| {
        let model = nested_mixed("gaussian", &[], true);
        let mode = find_mode(model.as_ref(), &ModeControl::default()).unwrap();
        (model, Arc::new(mode.anchor))
    })
    .clone()
}
