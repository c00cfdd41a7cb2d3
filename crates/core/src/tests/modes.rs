//! Modes of regressions, and what is remarked there.

use std::sync::Arc;

use rand_distr::Distribution as _;

use crate::design::{Design, ResponseUse};
use crate::estimators::find_mode;
use crate::models::{Model, ModelOptions, find};
use crate::testing::regressions::{NUM_OBS, Shape, measured_design};
use crate::testing::{built_by, table_of};
use ergodic_base::{Control, Purpose, Reporter, stream};

/// Standardised predictors and default priors.
fn standardized() -> ModelOptions {
    ModelOptions {
        standardize: true,
        ..ModelOptions::default()
    }
}

fn model_of(template: &str, design: Design, options: &ModelOptions) -> Arc<dyn Model> {
    (find(template).unwrap().build)(Arc::new(design), options).unwrap()
}

/// A start far from the mode: the expected count of the first steps is beyond all numbers.
#[test]
fn the_mode_is_found_for_counts_of_any_size() {
    for size in [1.0, 1e3, 1e6, 1e9] {
        let table = table_of(vec![
            (
                "y",
                (0..40)
                    .map(|i| (size * (2.0 + f64::from(i % 5))).floor())
                    .collect(),
            ),
            ("x", (0..40).map(|i| f64::from(i % 7)).collect()),
        ]);
        let model = built_by(
            "poisson",
            &table,
            "y ~ x",
            ResponseUse::Count,
            &standardized(),
        )
        .unwrap();
        let mode = find_mode(model.as_ref(), &Control::default()).unwrap();
        // At the mode of an almost flat prior expected and observed totals agree.
        assert!(
            (mode.centre.u[0] - (size * 4.0).ln()).abs() < 0.05,
            "{size}: {:?}",
            mode.centre.u
        );
    }
}

#[test]
fn counts_that_vary_too_much_are_remarked() {
    let mut rng = stream(65, 0, Purpose::Data);
    for (spread, remarked) in [(0.0, false), (0.9, true)] {
        let mut design = measured_design(true, Shape::default(), NUM_OBS);
        for y in &mut design.y {
            let noise: f64 = rand_distr::StandardNormal.sample(&mut rng);
            let mean = (1.5 + spread * noise).exp();
            *y = rand_distr::Poisson::new(mean).unwrap().sample(&mut rng);
        }
        let model = model_of("poisson", design, &standardized());
        let mode = find_mode(model.as_ref(), &Control::default()).unwrap();
        let mut reporter = Reporter::default();
        model.remark(&mode.centre.u, &mut reporter);
        assert_eq!(
            reporter.warnings.len(),
            usize::from(remarked),
            "{:?}",
            reporter.warnings
        );
        if remarked {
            let warning = &reporter.warnings[0];
            assert!(
                warning.message.starts_with("The counts `y` vary "),
                "{}",
                warning.message
            );
            assert!(format!("{warning:?}").contains("negative-binomial"));
        }
    }
}

/// Without settings priors do no harm, even on the raw scale far from 0.
#[test]
fn default_priors_on_the_raw_scale_are_as_wide_as_on_the_standardised_one() {
    let design = measured_design(false, Shape::default(), 203);
    let mut modes = Vec::new();
    for standardize in [true, false] {
        let options = ModelOptions {
            standardize,
            ..ModelOptions::default()
        };
        let model = model_of("linear", design.clone(), &options);
        let mode = find_mode(model.as_ref(), &Control::default()).unwrap();
        let mut theta = vec![0.0; 5];
        model.constrain(&mode.centre.u, &mut theta);
        modes.push((theta, mode.centre.sds()));
    }
    for j in 0..5 {
        let close = (modes[0].0[j] / modes[1].0[j] - 1.0).abs();
        assert!(close < 1e-3, "{modes:?}");
    }
}

#[test]
fn one_wild_value_hardly_moves_the_fit() {
    let mut design = measured_design(false, Shape::default(), 200);
    let slope_of = |design: &Design| {
        let model = model_of("student", design.clone(), &standardized());
        let mode = find_mode(model.as_ref(), &Control::default()).unwrap();
        let mut theta = vec![0.0; 6];
        model.constrain(&mode.centre.u, &mut theta);
        (
            theta[1],
            mode.centre.sds()[1] * theta[4] / mode.centre.u[4].exp() / design.raw_scale[1],
        )
    };
    let (before, _) = slope_of(&design);
    design.y[0] += 60.0;
    let (after, sd) = slope_of(&design);
    assert!((after - before).abs() < 0.5 * sd, "{before} {after} {sd}");
}
