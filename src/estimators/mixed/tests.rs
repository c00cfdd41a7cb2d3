//! Agreement with lme4, with each other, and with derivatives by differences.

use super::profile::Profile;
use super::testing::{Reference, all_designs, numbers};
use super::*;

/// |a − b| within `relative` of the larger, or of 1.
fn close(what: &str, a: f64, b: f64, relative: f64) {
    let scale = a.abs().max(b.abs());
    assert!(
        (a - b).abs() <= relative * scale || (a - b).abs() < 1e-7,
        "{what}: {a} here, {b} there"
    );
}

/// Every number of a fit against lme4's. Five digits; effects to 1e-5 of the effects' own standard deviation.
fn compare(id: &str, fit: &MixedFit, reference: &Reference) {
    let get = |quantity: &str, name: &str| reference.get(id, quantity, name);
    for (j, effect) in fit.fixed.iter().enumerate() {
        let position = (j + 1).to_string();
        // Coefficients near 0 are judged by their standard errors.
        let there = get("fixef", &position);
        assert!(
            (effect.estimate - there).abs() < 1e-5 * (there.abs() + effect.se),
            "{id} {}: {} here, {there} there",
            effect.name,
            effect.estimate
        );
        close(&format!("{id} se"), effect.se, get("se", &position), 1e-5);
    }
    for component in &fit.components {
        let q = component.names.len();
        for (i, name) in component.names.iter().enumerate() {
            let key = format!("{}|{name}", component.group);
            close(
                &format!("{id} sd {key}"),
                component.sd[i],
                get("sd", &key),
                1e-5,
            );
            for j in 0..i {
                if component.correlated {
                    let key = format!("{}|{}|{name}", component.group, component.names[j]);
                    close(
                        &format!("{id} cor {key}"),
                        component.correlation[i * q + j],
                        get("cor", &key),
                        1e-5,
                    );
                }
            }
        }
    }
    if let Some(sigma) = fit.sigma {
        close(&format!("{id} sigma"), sigma, get("sigma", ""), 1e-5);
    }
    close(
        &format!("{id} loglik"),
        fit.log_lik,
        get("loglik", ""),
        1e-8,
    );
    close(
        &format!("{id} criterion"),
        fit.deviance(),
        get("criterion", ""),
        1e-8,
    );
    close(&format!("{id} aic"), fit.aic, get("aic", ""), 1e-8);
    close(&format!("{id} bic"), fit.bic, get("bic", ""), 1e-8);
    for (effects, component) in fit.effects.iter().zip(&fit.components) {
        let q = effects.names.len();
        for (g, level) in effects.levels.iter().enumerate() {
            for (j, name) in effects.names.iter().enumerate() {
                let key = format!("{}|{level}|{name}", effects.group);
                let there = get("ranef", &key);
                let here = effects.mode[g * q + j];
                assert!(
                    (here - there).abs() <= 2e-5 * component.sd[j].max(1e-6),
                    "{id} {key}: {here} here, {there} there"
                );
                close(
                    &format!("{id} condsd {key}"),
                    effects.sd[g * q + j],
                    get("condsd", &key),
                    2e-5,
                );
            }
        }
    }
}

const LINEAR: &[(&str, &str, &str)] = &[
    ("balanced", "balanced", "y ~ x + (1 | g)"),
    ("unbalanced", "unbalanced", "y ~ x + f + (1 | g)"),
    ("weighted", "unbalanced", "y | weights(w) ~ x + f + (1 | g)"),
    ("crossed", "crossed", "y ~ x + (1 | subject) + (1 | item)"),
    (
        "crossed-slope",
        "crossed",
        "y ~ x + (1 + x | subject) + (1 | item)",
    ),
    ("nested", "nested", "y ~ x + (1 | school/class)"),
    ("slopes", "slopes", "y ~ day + (day | subject)"),
    ("independent", "slopes", "y ~ day + (day || subject)"),
    ("none", "none", "y ~ x + (1 | g)"),
];

#[test]
fn linear_fits_agree_with_lme4_to_five_digits() {
    let reference = Reference::read();
    for (id, set, formula) in LINEAR {
        let data = numbers(set, formula);
        for (criterion, name) in [(Criterion::Ml, "ml"), (Criterion::Reml, "reml")] {
            let control = MixedControl::default();
            let fit = fit_gaussian(&data, Method::Profile, criterion, &control).unwrap();
            compare(&format!("{id}:{name}"), &fit, &reference);
            assert_eq!(fit.is_singular(), *id == "none", "{id}: {:?}", fit.warnings);
            assert!(fit.evaluations < 60, "{id}: {}", fit.evaluations);
        }
    }
}

#[test]
fn em_and_squarem_arrive_where_the_profiled_likelihood_does_and_never_fall() {
    for (id, set, formula) in LINEAR {
        // At the edge EM only creeps towards it.
        if *id == "none" {
            continue;
        }
        let data = numbers(set, formula);
        let fit = |method| {
            let control = MixedControl::default();
            fit_gaussian(&data, method, Criterion::Ml, &control).unwrap()
        };
        let (profile, em, squarem) = (fit(Method::Profile), fit(Method::Em), fit(Method::Squarem));
        for other in [&em, &squarem] {
            close(id, other.log_lik, profile.log_lik, 1e-9);
            for (a, b) in other.fixed.iter().zip(&profile.fixed) {
                assert!((a.estimate - b.estimate).abs() < 1e-6 * (b.estimate.abs() + b.se));
            }
            close(
                &format!("{id} sigma"),
                other.sigma.unwrap(),
                profile.sigma.unwrap(),
                1e-6,
            );
            for pair in other.course.windows(2) {
                assert!(
                    pair[1] <= pair[0] + 1e-11 * pair[0].abs(),
                    "{id}: the deviance rose from {} to {}",
                    pair[0],
                    pair[1]
                );
            }
        }
        assert!(
            squarem.iterations <= em.iterations,
            "{id}: {} against {}",
            squarem.iterations,
            em.iterations
        );
    }
}

#[test]
fn the_gradient_of_the_profiled_deviance_is_that_of_differences() {
    for data in all_designs() {
        for criterion in [Criterion::Ml, Criterion::Reml] {
            let control = MixedControl::default();
            let mut profile = Profile::new(&data, criterion, &control).unwrap();
            let dim = profile.shape.len();
            let theta: Vec<f64> = (0..dim)
                .map(|k| 0.5 + 0.3 * (1.7 * k as f64).sin())
                .collect();
            let mut grad = vec![0.0; dim];
            profile.deviance_and_gradient(&theta, &mut grad);
            for k in 0..dim {
                let mut at = |h: f64| {
                    let mut moved = theta.clone();
                    moved[k] += h;
                    profile.deviance(&moved)
                };
                let h = 1e-4;
                let central = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
                assert!(
                    (grad[k] - central).abs() < 1e-6 * (1.0 + central.abs()),
                    "{criterion:?} {k}: {} against {central}",
                    grad[k]
                );
            }
        }
    }
}

#[test]
fn what_cannot_be_fitted_is_refused_in_one_sentence() {
    let refusal = |data: &MixedData, method, criterion| {
        fit_gaussian(data, method, criterion, &MixedControl::default())
            .unwrap_err()
            .to_string()
    };
    let ml = |data: &MixedData| refusal(data, Method::Profile, Criterion::Ml);
    let good = || numbers("balanced", "y ~ x + (1 + x | g)");

    let mut one_group = good();
    one_group.terms[0].levels.truncate(1);
    one_group.terms[0].index.fill(0);
    assert!(
        ml(&one_group)
            .starts_with("All rows have the same value of `g`, so nothing can vary by it")
    );

    let mut level_slope = good();
    for row in 0..level_slope.num_obs() {
        level_slope.terms[0].z[2 * row + 1] = f64::from(level_slope.terms[0].index[row]);
    }
    assert!(ml(&level_slope).starts_with("`x` has a single value within every group of `g`"));

    let mut many = good();
    let n = many.num_obs() as u32;
    many.terms[0].levels = (0..n).map(|k| k.to_string()).collect();
    many.terms[0].index = (0..n).collect();
    many.terms[0].names.truncate(1);
    many.terms[0].scale.truncate(1);
    many.terms[0].z = vec![1.0; n as usize];
    assert!(ml(&many).starts_with("(Intercept | g) has 96 effects for 96 rows"));

    let mut constant = good();
    for row in 0..constant.num_obs() {
        constant.y[row] = f64::from(constant.terms[0].index[row]);
    }
    assert!(ml(&constant).starts_with("The response `y` is constant within every group of `g`"));

    let mut dependent = good();
    for row in 0..dependent.num_obs() {
        dependent.x[2 * row + 1] = 2.0;
    }
    assert!(ml(&dependent).starts_with("The column `x` is a combination of the columns before it"));

    let mut alone = good();
    alone.terms.clear();
    assert!(ml(&alone).starts_with("The formula has no group term"));

    assert!(
        refusal(&good(), Method::Em, Criterion::Reml)
            .starts_with("EM maximises the likelihood, not the restricted one")
    );
    let control = MixedControl::default();
    control.cancel.store(true, Ordering::Relaxed);
    let cancelled = fit_gaussian(&good(), Method::Profile, Criterion::Ml, &control);
    assert_eq!(cancelled.unwrap_err(), MixedError::Cancelled);
}
