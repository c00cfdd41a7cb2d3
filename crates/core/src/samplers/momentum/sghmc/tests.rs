//! Defaults end to end, and refusals.

use crate::samplers::configure;
use std::sync::Arc;

use super::*;
use crate::oracle::Centre;
use crate::samplers::autoregressive::{Chain, Moments, settings};
use crate::samplers::testing::{assert_moments_known_to, known_target};
use crate::testing::GaussianRows;
use ergodic_base::settings::{Settings, Value};

/// Defaults on a normal posterior: the right variance, since the noise is constant and measured there, and draws correlated by
/// 3 e⁻².
#[test]
fn defaults_give_the_right_variance_and_useful_draws() {
    let model = Arc::new(GaussianRows::balanced(2000, 2, 46));
    let centre = Arc::new(Centre::at(model.as_ref(), &model.posterior_mean()).unwrap());
    let start = model.posterior_mean();
    let none = Settings::default();
    let mut plain = Chain::<Sghmc>::start(model.clone(), Some(centre.clone()), &none, &start, 8);
    let steps = Sghmc::steps_per_draw(&plain.config);
    let draws = plain.draws(200, 4000, steps);
    let mut centred = Chain::<SghmcCv>::start(model.clone(), Some(centre), &none, &start, 9);
    let steps_centred = SghmcCv::steps_per_draw(&centred.config);
    assert_eq!((centred.config.dynamics.step, steps_centred), (0.5, 4));
    let draws_centred = centred.draws(200, 20_000, steps_centred);
    for (name, draws) in [("plain", draws), ("centred", draws_centred)] {
        for j in 0..2 {
            let (mean, variance) = (model.posterior_mean()[j], model.posterior_variance()[j]);
            // A draw of the plain sampler takes many steps.
            let series = std::slice::from_ref(&draws[j]);
            assert_moments_known_to(0.15, name, series, mean, variance);
            let correlation = Moments::of(&draws[j]).correlation;
            assert!((0.3..0.5).contains(&correlation), "{name}: {correlation}");
        }
    }
    assert!(
        plain.info[1] > 0.1 && plain.info[1] <= 0.4,
        "{:?}",
        plain.info
    );
    assert!(centred.info[1] < 1e-20, "{:?}", centred.info);
}

#[test]
fn unusable_settings_are_refused_in_one_sentence() {
    let known = known_target(100_000, 3, 5.0, (10.0, 1000.0));
    let refusal = |pairs: &[(&str, Value)], target: &Target| {
        configure::<Sghmc>(&settings(pairs), target)
            .unwrap_err()
            .to_string()
    };
    let word = |word: &str| Value::Text(word.to_owned());
    let message = refusal(&[("step_size", Value::Real(2.5))], &known);
    assert!(message.contains("below 2 "), "{message}");
    let euler = [
        ("step_size", Value::Real(0.9)),
        ("friction", Value::Real(2.0)),
        ("integrator", word("euler")),
    ];
    let message = refusal(&euler, &known);
    assert!(message.contains("below 0.828"), "{message}");
    let hot = [
        ("step_size", Value::Real(0.1)),
        ("friction", Value::Real(2.0)),
    ];
    let message = refusal(&hot, &known);
    assert!(message.contains("gradient noise exceeds"), "{message}");
    let uncorrected = [
        hot[0].clone(),
        hot[1].clone(),
        ("friction_correction", word("off")),
    ];
    assert!(configure::<Sghmc>(&settings(&uncorrected), &known).is_ok());
    // Without a given friction there is one that does.
    assert!(
        configure::<Sghmc>(&settings(&hot[..1]), &known)
            .unwrap()
            .friction
            > 10.0
    );
    let one_row = [
        ("friction_correction", word("running")),
        ("batch", Value::Int(1)),
    ];
    assert!(refusal(&one_row, &known).contains("at least 2 rows"));
    let unknown = Target {
        mode: None,
        ..known
    };
    assert!(refusal(&[], &unknown).contains("`sghmc` needs the posterior mode"));
}
