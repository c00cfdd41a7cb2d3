//! Fits of families against those of other programs and against closed forms.

use super::{close, general, with_nodes};
use crate::design::{Design, ModelFrame, ResponseUse};
use crate::estimators::mixed::*;
use crate::families::{Family, Outcome};
use crate::testing::table_of;
use crate::testing::tables::{load_csv, reference};
use ergodic_base::Control;

/// Against the likelihood that scipy integrates and maximises in `gamma.py`, and glmmTMB's Laplace approximation in `gamma.R`.
#[test]
fn gamma_fits_are_the_maxima_that_scipy_and_glmmtmb_find() {
    let table = load_csv(&reference("gamma_data.csv"));
    let frame = ModelFrame {
        response_use: Family::Gamma.definition().response,
        ..ModelFrame::new("y ~ x + (1 | g)".parse().unwrap())
    };
    let data = MixedData::from(Design::build(&table, &frame).unwrap().0);
    for (method, nodes, file, set) in [
        (Method::Aghq, 25, "gamma.csv", "mixed"),
        (Method::Laplace, 1, "gamma_r.csv", "laplace"),
    ] {
        let text = std::fs::read_to_string(reference(file)).unwrap();
        let fit = fit_generalised(
            &data,
            Family::Gamma,
            method,
            with_nodes(nodes),
            &Control::default(),
        )
        .unwrap();
        for (here, name) in [
            (fit.fixed[0].estimate, "intercept"),
            (fit.fixed[1].estimate, "x"),
            (fit.components[0].sd[0], "sd"),
            (fit.auxiliaries[0], "shape"),
            (fit.log_lik, "log_lik"),
        ] {
            let name = format!("{set}:{name},");
            let there = text.lines().find_map(|line| line.strip_prefix(&*name));
            let there: f64 = there.unwrap().parse().unwrap();
            assert!(
                (here - there).abs() < 1e-5 * there.abs(),
                "{name} {here} here, {there} there"
            );
        }
        assert!(fit.warnings.is_empty(), "{:?}", fit.warnings);
    }
}

/// Against the likelihood itself and glmmTMB's Laplace approximation, from `families.R`, `zero_inflated.R` and `censoring.R`.
#[test]
fn fits_of_families_are_the_maxima_that_r_finds() {
    let (poisson, overdispersed) = (
        Family::ZeroInflatedPoisson,
        Family::ZeroInflatedNegativeBinomial,
    );
    for (file, family, method, nodes, set) in [
        ("families", Family::Lognormal, Method::Laplace, 1, "mixed"),
        ("families", Family::Lognormal, Method::Aghq, 9, "mixed"),
        ("families", Family::Weibull, Method::Aghq, 25, "mixed"),
        ("families", Family::Beta, Method::Aghq, 25, "mixed"),
        ("families", Family::Beta, Method::Laplace, 1, "laplace"),
        ("zero_inflated", poisson, Method::Aghq, 25, "mixed"),
        ("zero_inflated", poisson, Method::Laplace, 1, "laplace"),
        ("zero_inflated", overdispersed, Method::Aghq, 25, "mixed"),
        (
            "zero_inflated",
            overdispersed,
            Method::Laplace,
            1,
            "laplace",
        ),
        ("zero_inflated", Family::Student, Method::Aghq, 25, "mixed"),
        ("censoring", Family::Lognormal, Method::Aghq, 25, "mixed"),
        ("censoring", Family::Weibull, Method::Aghq, 25, "mixed"),
    ] {
        let text = std::fs::read_to_string(reference(&format!("{file}_r.csv"))).unwrap();
        let table = load_csv(&reference(&format!("{file}_data.csv")));
        let (response, id) = (family.definition().response, family.id());
        let censored = match file {
            "censoring" => format!(" | cens(s_{id})"),
            _ => String::new(),
        };
        let formula = format!("{id}{censored} ~ x + (1 | g)");
        let frame = ModelFrame {
            response_use: response,
            ..ModelFrame::new(formula.parse().unwrap())
        };
        let data = MixedData::from(Design::build(&table, &frame).unwrap().0);
        let fit = fit_generalised(
            &data,
            family,
            method,
            with_nodes(nodes),
            &Control::default(),
        )
        .unwrap();
        let own = fit.parameters().map(|(one, value)| match file {
            // All of one parameter.
            "families" | "censoring" => (value, "parameter"),
            _ => (value, one.name),
        });
        let known = [
            (fit.fixed[0].estimate, "intercept"),
            (fit.fixed[1].estimate, "x"),
            (fit.log_lik, "log_lik"),
        ];
        let sd = fit.components.iter().map(|it| (it.sd[0], "sd"));
        for (here, name) in known.into_iter().chain(sd).chain(own) {
            let name = format!("{}:{set}:{name},", family.id());
            let there = text.lines().find_map(|line| line.strip_prefix(&*name));
            let there: f64 = there.unwrap().parse().unwrap();
            assert!(
                (here - there).abs() < 1e-5 * there.abs(),
                "{name} {here} here, {there} there"
            );
        }
        assert!(fit.warnings.is_empty(), "{:?}", fit.warnings);
    }
}

/// The share of a group in the variance of the logarithm is that of a normal model of it.
#[test]
fn shares_of_variance_of_lognormal_responses_are_those_of_their_logarithms() {
    let table = load_csv(&reference("families_data.csv"));
    let of = |formula: &str| {
        let frame = ModelFrame {
            response_use: ResponseUse::Number,
            ..ModelFrame::new(formula.parse().unwrap())
        };
        MixedData::from(Design::build(&table, &frame).unwrap().0)
    };
    let control = Control::default();
    let data = of("lognormal ~ x + (1 | g)");
    let fit = fit_generalised(
        &data,
        Family::Lognormal,
        Method::Laplace,
        Fineness::default(),
        &control,
    )
    .unwrap();
    let logs = of("log(lognormal) ~ x + (1 | g)");
    let expected = fit_gaussian(&logs, Method::Profile, Criterion::Ml, &control).unwrap();
    let [here, there] = [&fit, &expected].map(|fit| fit.components[0].icc.unwrap());
    close("icc", here, there, 1e-5);
}

#[test]
fn counts_without_extra_zeros_say_so() {
    let family = Family::ZeroInflatedPoisson;
    let mut data = general("counts", "y ~ x + offset(log(e)) + (1 | g)", family);
    data.y.iter_mut().for_each(|y| *y = y.max(1.0));
    let fit = fit_generalised(
        &data,
        family,
        Method::Laplace,
        Fineness::default(),
        &Control::default(),
    )
    .unwrap();
    assert!(fit.warnings.iter().any(|w| w.code == "no-extra-zeros"));
    let plain = fit_generalised(
        &data,
        Family::Poisson,
        Method::Laplace,
        Fineness::default(),
        &Control::default(),
    );
    // The chance of an extra zero is not quite 0.
    close("log_lik", fit.log_lik, plain.unwrap().log_lik, 1e-4);
}

/// Three estimates in a group each: with τ² the variance between groups the likelihood is that of normal numbers with variances
/// s² + τ², which are maximised here by search.
#[test]
fn estimates_with_known_errors_are_pooled_as_in_a_meta_analysis() {
    // Rubin (1981): coaching in eight schools, ten times as large.
    let y = [28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0].map(|y| 10.0 * y);
    let se = [15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0].map(|s| 2.0 * s);
    let table = table_of(vec![
        ("y", y.to_vec()),
        ("s", se.to_vec()),
        ("school", (0..8).map(f64::from).collect()),
    ]);
    let frame = ModelFrame {
        response_use: ResponseUse::Number,
        ..ModelFrame::new("y | se(s) ~ 1 + (1 | school)".parse().unwrap())
    };
    let data = MixedData::from(Design::build(&table, &frame).unwrap().0);
    let control = Control::default();
    let fit = fit_generalised(
        &data,
        Family::GaussianSe,
        Method::Laplace,
        Fineness::default(),
        &control,
    )
    .unwrap();
    // The best mean and the log likelihood of a spread τ.
    let at = |tau: f64| {
        let weights = se.map(|s| 1.0 / (s * s + tau * tau));
        let total: f64 = weights.iter().sum();
        let mean = weights.iter().zip(y).map(|(w, y)| w * y).sum::<f64>() / total;
        let log_lik: f64 = weights
            .iter()
            .zip(y)
            .map(|(w, y)| 0.5 * (w / std::f64::consts::TAU).ln() - 0.5 * w * (y - mean).powi(2))
            .sum();
        (log_lik, mean, total)
    };
    let tau = fit.components[0].sd[0];
    let (log_lik, mean, _total) = at(tau);
    assert!(tau > 10.0, "{tau}");
    close("log_lik", fit.log_lik, log_lik, 1e-10);
    close("mean", fit.fixed[0].estimate, mean, 1e-6);
    for away in [0.9, 0.99, 1.01, 1.1] {
        assert!(at(tau * away).0 < log_lik, "{away}");
    }
    assert!(fit.sigma.is_none() && fit.auxiliaries.is_empty());
}

/// The data of a file of `tests/reference` for a family.
fn of_file(file: &str, formula: &str, family: Family) -> MixedData {
    let frame = ModelFrame {
        response_use: family.definition().response,
        ..ModelFrame::new(formula.parse().unwrap())
    };
    let table = load_csv(&reference(file));
    Design::build(&table, &frame).unwrap().0.into()
}

/// Estimates and standard errors of `fit` against those of `set` in `likelihood_r.csv`, relative to the standard errors; R's
/// log likelihood is that of `there`.
fn compare_with_r(fit: &MixedFit, set: &str, there: &str) {
    let text = std::fs::read_to_string(reference("likelihood_r.csv")).unwrap();
    let number = |name: &str| -> f64 {
        let line = format!("{set}:{name},");
        let value = text.lines().find_map(|it| it.strip_prefix(&*line));
        value.unwrap_or_else(|| panic!("{line}")).parse().unwrap()
    };
    for effect in fit.fixed.iter().chain(&fit.cuts) {
        let name = match effect.name.as_str() {
            "Intercept" => "(Intercept)",
            other => other,
        };
        let (value, se) = (number(name), number(&format!("{name}:se")));
        let apart = (effect.estimate - value).abs() / se;
        assert!(apart < 1e-4, "{set} {name}: {} {value}", effect.estimate);
        close(name, effect.se, se, 2e-5);
    }
    for component in &fit.components {
        close("sd", component.sd[0], number("sd"), 2e-5);
    }
    if let Some(sigma) = fit.sigma.filter(|_| there == "reml") {
        close("sigma", sigma, number("sigma"), 1e-10);
        close("p", fit.fixed[1].p_value(), number("p"), 1e-6);
        close("df", fit.fixed[1].df.unwrap(), number("df"), 1e-12);
    }
    let log_lik = number(there);
    assert!(
        (fit.log_lik - log_lik).abs() < 1e-6,
        "{set}: {} {log_lik}",
        fit.log_lik
    );
    assert!(fit.warnings.is_empty(), "{:?}", fit.warnings);
}

/// Without group terms the likelihood is exact: those of lm, glm and MASS::polr in `likelihood.R`.
#[test]
fn regressions_without_groups_are_those_of_lm_glm_and_polr() {
    let control = Control::default();
    for (file, formula, family, set, num_params) in [
        (
            "ordered_data.csv",
            "rating ~ x + w",
            Family::Ordered,
            "ordered",
            5,
        ),
        ("lme4/binary.csv", "y ~ x", Family::Bernoulli, "binary", 2),
        (
            "lme4/counts.csv",
            "y ~ x + offset(log(e))",
            Family::Poisson,
            "counts",
            2,
        ),
    ] {
        let data = of_file(file, formula, family);
        let fit = fit_generalised(
            &data,
            family,
            Method::Laplace,
            Fineness::default(),
            &control,
        )
        .unwrap();
        compare_with_r(&fit, set, "log_lik");
        assert_eq!(fit.num_params, num_params);
        let refused = fit_generalised(&data, family, Method::Mcem, Fineness::default(), &control)
            .unwrap_err();
        assert!(
            refused
                .to_string()
                .starts_with("The formula has no group term"),
            "{refused}"
        );
    }
    let data = of_file("lme4/unbalanced.csv", "y ~ x", Family::Gaussian);
    for (criterion, there) in [(Criterion::Ml, "log_lik"), (Criterion::Reml, "reml")] {
        let mut fit = fit_gaussian(&data, Method::Profile, criterion, &control).unwrap();
        if criterion == Criterion::Ml {
            // R's standard errors are those of the variance without bias.
            let degrees = 105.0_f64 / 107.0;
            fit.fixed.iter_mut().for_each(|it| it.se /= degrees.sqrt());
        }
        compare_with_r(&fit, "linear", there);
    }
}

/// Against the likelihood itself and Laplace's approximation of it, by R's hand in `likelihood.R`.
#[test]
fn ordered_levels_with_group_effects_have_the_maxima_that_r_finds() {
    let family = Family::Ordered;
    let data = of_file(
        "ordinal_data.csv",
        "rating ~ temp + contact + (1 | judge)",
        family,
    );
    let control = Control::default();
    for (method, nodes, set) in [
        (Method::Aghq, 25, "judges"),
        (Method::Laplace, 1, "judges_laplace"),
    ] {
        let fit = fit_generalised(&data, family, method, with_nodes(nodes), &control).unwrap();
        compare_with_r(&fit, set, "log_lik");
        // Predictors and cut points are those of the rows: chances at the estimates sum to the likelihood's parts.
        let coefficients = fit.coefficients();
        assert_eq!(coefficients.len(), data.num_columns());
        assert_eq!(coefficients[0], -fit.cuts[0].estimate);
        let Outcome::Ordered(levels) = fit.outcome() else {
            panic!("levels");
        };
        for (gap, pair) in levels.cuts().windows(2).zip(fit.cuts.windows(2)) {
            close(
                "gap",
                gap[1] - gap[0],
                pair[1].estimate - pair[0].estimate,
                1e-12,
            );
        }
    }
    let refused =
        fit_generalised(&data, family, Method::Mcem, Fineness::default(), &control).unwrap_err();
    assert!(
        refused
            .to_string()
            .starts_with("Monte Carlo EM has no cut points"),
        "{refused}"
    );
    let mut missing = data;
    missing.y.iter_mut().for_each(|y| *y = y.min(4.0));
    let refused = fit_generalised(
        &missing,
        family,
        Method::Laplace,
        Fineness::default(),
        &control,
    )
    .unwrap_err();
    assert!(
        refused
            .to_string()
            .starts_with("No row has the level `5` of `rating`"),
        "{refused}"
    );
}
