//! Agreement with lme4, with each other, and with derivatives by differences.

mod curve;
mod family;
mod integral;

use super::integral::Integral;
use super::laplace::Laplace;
use super::profile::Profile;
use super::testing::{Reference, all_designs, data, numbers};
use super::*;
use crate::families::Family;
use ergodic_base::Control;

/// |a − b| within `relative` of the larger, or of 1.
pub(super) fn close(what: &str, a: f64, b: f64, relative: f64) {
    let scale = a.abs().max(b.abs());
    assert!(
        (a - b).abs() <= relative * scale || (a - b).abs() < 1e-7,
        "{what}: {a} here, {b} there"
    );
}

/// So many nodes of quadrature.
pub(super) fn with_nodes(nodes: usize) -> Fineness {
    Fineness {
        nodes,
        ..Fineness::default()
    }
}

/// Every number of a fit against lme4's. Five digits; effects to 1e-5 of the effects' own standard deviation.
/// With several nodes lme4 takes the log likelihood of the saturated model off, here `saturated`.
fn compare(id: &str, fit: &MixedFit, reference: &Reference, saturated: f64) {
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
        fit.log_lik - saturated,
        get("loglik", ""),
        1e-8,
    );
    close(
        &format!("{id} criterion"),
        fit.deviance() + 2.0 * saturated,
        get("criterion", ""),
        1e-8,
    );
    let (aic, bic) = (fit.aic + 2.0 * saturated, fit.bic + 2.0 * saturated);
    close(&format!("{id} aic"), aic, get("aic", ""), 1e-8);
    close(&format!("{id} bic"), bic, get("bic", ""), 1e-8);
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

/// lme4 takes weights as precisions, which are only relative: those of mean 1 are counts that add up to the rows. Its σ is
/// larger by the root of the mean weight c, and its log likelihood smaller by half of n log c − Σ log w.
fn with_precisions(mut data: MixedData) -> (MixedData, f64, f64) {
    let Some(weights) = &mut data.weights else {
        return (data, 1.0, 0.0);
    };
    let n = weights.len() as f64;
    let mean = weights.iter().sum::<f64>() / n;
    let logs: f64 = weights.iter().map(|w| w.ln()).sum();
    for weight in weights.iter_mut() {
        *weight /= mean;
    }
    (data, mean.sqrt(), 0.5 * (n * mean.ln() - logs))
}

/// `data` with weights 1, 2, 3 and the same with rows repeated as often.
fn weighted_and_repeated(mut data: MixedData) -> [MixedData; 2] {
    let (n, p) = (data.num_obs(), data.num_columns());
    let weights: Vec<f64> = (0..n).map(|row| 1.0 + (row % 3) as f64).collect();
    let repeated: Vec<usize> = (0..n)
        .flat_map(|row| std::iter::repeat_n(row, weights[row] as usize))
        .collect();
    let mut many = data.clone();
    many.y = repeated.iter().map(|&row| data.y[row]).collect();
    many.x = (repeated.iter())
        .flat_map(|&row| data.x[row * p..(row + 1) * p].iter().copied())
        .collect();
    for term in &mut many.terms {
        let own = term.clone();
        term.index = repeated.iter().map(|&row| own.index[row]).collect();
        term.z = (repeated.iter())
            .flat_map(|&row| own.row(row).iter().copied())
            .collect();
    }
    data.weights = Some(weights);
    [data, many]
}

#[track_caller]
fn are_the_same_fit(a: &MixedFit, b: &MixedFit) {
    close("log likelihood", a.log_lik, b.log_lik, 1e-9);
    close("bic", a.bic, b.bic, 1e-9);
    assert_eq!(a.sigma.is_some(), b.sigma.is_some());
    if let (Some(a), Some(b)) = (a.sigma, b.sigma) {
        close("sigma", a, b, 1e-6);
    }
    for (a, b) in a.components.iter().zip(&b.components) {
        for (a, b) in a.sd.iter().zip(&b.sd) {
            close("sd", *a, *b, 1e-5);
        }
        assert_eq!(a.icc.is_some(), b.icc.is_some());
        if let (Some(a), Some(b)) = (a.icc, b.icc) {
            close("share of the variance", a, b, 1e-5);
        }
    }
    for (a, b) in a.fixed.iter().zip(&b.fixed) {
        close(&a.name, a.estimate, b.estimate, 1e-6);
        close(&a.name, a.se, b.se, 1e-6);
    }
}

/// A row of weight 3 is three rows.
#[test]
fn weights_are_counts() {
    let control = Control::default();
    for (set, formula) in [
        ("unbalanced", "y ~ x + f + (1 | g)"),
        ("slopes", "y ~ day + (day | subject)"),
    ] {
        let [once, many] = weighted_and_repeated(numbers(set, formula));
        for (method, criterion) in [
            (Method::Profile, Criterion::Ml),
            (Method::Profile, Criterion::Reml),
            (Method::Em, Criterion::Ml),
        ] {
            let fit = |data| fit_gaussian(data, method, criterion, &control).unwrap();
            are_the_same_fit(&fit(&once), &fit(&many));
        }
    }
    let [mut once, many] =
        weighted_and_repeated(general("counts", "y ~ x + (1 | g)", Family::Poisson));
    let fit = |data| {
        fit_generalised(
            data,
            Family::Poisson,
            Method::Laplace,
            Fineness::default(),
            &control,
        )
        .unwrap()
    };
    are_the_same_fit(&fit(&once), &fit(&many));
    // Weights that add up to less than the fixed effects leave nothing for the variances.
    once.weights = Some(vec![0.01; once.num_obs()]);
    let refused = fit_gaussian(&once, Method::Profile, Criterion::Reml, &control).unwrap_err();
    assert!(
        refused.to_string().starts_with("The weights add up to "),
        "{refused}"
    );
}

#[test]
fn linear_fits_agree_with_lme4_to_five_digits() {
    let reference = Reference::read();
    for (id, set, formula) in LINEAR {
        let data = numbers(set, formula);
        for (criterion, name) in [(Criterion::Ml, "ml"), (Criterion::Reml, "reml")] {
            let control = Control::default();
            let (data, factor, constant) = with_precisions(data.clone());
            let mut fit = fit_gaussian(&data, Method::Profile, criterion, &control).unwrap();
            fit.sigma = fit.sigma.map(|sigma| sigma * factor);
            compare(&format!("{id}:{name}"), &fit, &reference, constant);
            assert_eq!(fit.is_singular(), *id == "none", "{id}: {:?}", fit.warnings);
            assert!(fit.evaluations < 60, "{id}: {}", fit.evaluations);
        }
    }
}

#[test]
fn em_and_squarem_arrive_where_the_profiled_likelihood_does_and_never_fall() {
    let (mut plain, mut accelerated) = (0, 0);
    for (id, set, formula) in LINEAR {
        // At the edge EM only creeps towards it.
        if *id == "none" {
            continue;
        }
        let data = numbers(set, formula);
        let fit = |method| {
            let control = Control::default();
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
        plain += em.iterations;
        accelerated += squarem.iterations;
    }
    assert!(
        5 * accelerated < plain,
        "{accelerated} accelerated steps, {plain} plain ones"
    );
}

#[test]
fn the_gradient_of_the_profiled_deviance_is_that_of_differences() {
    for data in all_designs() {
        for criterion in [Criterion::Ml, Criterion::Reml] {
            let control = Control::default();
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
        fit_gaussian(data, method, criterion, &Control::default())
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
    assert!(ml(&constant).starts_with("The outcome `y` is constant within every group of `g`"));

    let mut dependent = good();
    for row in 0..dependent.num_obs() {
        dependent.x[2 * row + 1] = 2.0;
    }
    assert!(ml(&dependent).starts_with("The column `x` is a combination of the columns before it"));

    let mut alone = good();
    alone.terms.clear();
    assert!(
        refusal(&alone, Method::Em, Criterion::Ml)
            .starts_with("The formula has no group term, which EM is about")
    );

    assert!(
        refusal(&good(), Method::Em, Criterion::Reml)
            .starts_with("EM maximises the likelihood, not the restricted one")
    );
    let control = Control::default();
    control.cancel();
    let cancelled = fit_gaussian(&good(), Method::Profile, Criterion::Ml, &control);
    assert_eq!(cancelled.unwrap_err(), MixedError::Cancelled);
}

const GENERAL: &[(&str, &str, &str, Family, usize)] = &[
    (
        "binomial",
        "binomial",
        "r | trials(n) ~ x + (1 | g)",
        Family::Binomial,
        9,
    ),
    ("binary", "binary", "y ~ x + (1 | g)", Family::Bernoulli, 9),
    (
        "counts",
        "counts",
        "y ~ x + offset(log(e)) + (1 | g)",
        Family::Poisson,
        9,
    ),
    (
        "binary-crossed",
        "binary",
        "y ~ x + (1 | g) + (1 | h)",
        Family::Bernoulli,
        0,
    ),
    (
        "counts-slope",
        "counts",
        "y ~ x + offset(log(e)) + (x | g)",
        Family::Poisson,
        0,
    ),
    (
        "counts-independent",
        "counts",
        "y ~ x + offset(log(e)) + (x || g)",
        Family::Poisson,
        0,
    ),
];

pub(super) fn general(set: &str, formula: &str, family: Family) -> MixedData {
    data(set, formula, family.definition().response)
}

/// The log likelihood of a model with a parameter for every row.
fn saturated(data: &MixedData, family: Family) -> f64 {
    (0..data.num_obs())
        .map(|row| {
            let (y, trials) = (data.y[row], data.known(row));
            let log = |x: f64| if x > 0.0 { x.ln() } else { 0.0 };
            let log_p = match family {
                Family::Poisson => y * log(y) - y,
                _ => y * log(y / trials) + (trials - y) * log(1.0 - y / trials),
            };
            log_p + family.outcome().constant(y, trials)
        })
        .sum()
}

#[test]
fn generalised_fits_agree_with_glmer_to_five_digits() {
    let reference = Reference::read();
    for (id, set, formula, family, nodes) in GENERAL {
        let data = general(set, formula, *family);
        let control = Control::default();
        let fit = fit_generalised(
            &data,
            *family,
            Method::Laplace,
            Fineness::default(),
            &control,
        )
        .unwrap();
        compare(&format!("{id}:laplace"), &fit, &reference, 0.0);
        assert!(fit.warnings.is_empty(), "{id}: {:?}", fit.warnings);
        if *nodes > 0 {
            let control = Control::default();
            let fit = fit_generalised(&data, *family, Method::Aghq, with_nodes(*nodes), &control)
                .unwrap();
            compare(
                &format!("{id}:aghq9"),
                &fit,
                &reference,
                saturated(&data, *family),
            );
        }
    }
}

#[test]
fn the_gradient_of_laplaces_deviance_is_that_of_differences() {
    let shape = Family::NegativeBinomial;
    let cases = GENERAL
        .iter()
        .map(|(_, set, formula, family, _)| (*set, *formula, *family))
        .chain([
            ("counts", "y ~ x + offset(log(e)) + (x | g)", shape),
            ("counts", "y | weights(e) ~ x + (1 | g)", shape),
            ("counts", "y ~ x + offset(log(e)) + (x | g)", Family::Gamma),
            ("counts", "y ~ x + (x | g)", Family::Lognormal),
            (
                "counts",
                "y ~ x + offset(log(e)) + (x | g)",
                Family::Weibull,
            ),
            ("counts", "y ~ x + (x | g)", Family::Beta),
            (
                "counts",
                "y ~ x + offset(log(e)) + (x | g)",
                Family::ZeroInflatedPoisson,
            ),
            (
                "counts",
                "y ~ x + offset(log(e)) + (x | g)",
                Family::ZeroInflatedNegativeBinomial,
            ),
            ("counts", "y ~ x + (x | g)", Family::Student),
        ]);
    for (set, formula, family) in cases {
        let mut data = general(set, formula, family);
        if !family.definition().is_whole {
            data.y.iter_mut().for_each(|y| *y += 0.5);
        }
        if family == Family::Beta {
            data.y.iter_mut().for_each(|y| *y /= 1.0 + *y);
        }
        let control = Control::default();
        let mut laplace = Laplace::new(&data, family).unwrap();
        let at: Vec<f64> = (0..laplace.dim())
            .map(|k| 0.3 + 0.2 * (1.3 * k as f64).cos())
            .collect();
        let mut grad = vec![0.0; at.len()];
        laplace
            .deviance_and_gradient(&at, &mut grad, &control)
            .unwrap();
        for k in 0..at.len() {
            let mut value = |h: f64| {
                let mut moved = at.clone();
                moved[k] += h;
                laplace.deviance(&moved, &control).unwrap()
            };
            let h = 1e-3;
            let near = value(h) - value(-h);
            let far = value(2.0 * h) - value(-2.0 * h);
            let central = (8.0 * near - far) / (12.0 * h);
            assert!(
                (grad[k] - central).abs() < 1e-6 * (1.0 + central.abs()),
                "{formula} {family:?} {k}: {} against {central}",
                grad[k]
            );
        }
    }
}

/// The likelihood of every group by the trapezoidal rule over ±12 standard deviations, against many nodes and one.
#[test]
fn quadrature_finds_the_integral_that_laplace_approximates() {
    for family in [Family::Poisson, Family::NegativeBinomial] {
        let data = general("counts", "y ~ x + offset(log(e)) + (1 | g)", family);
        let control = Control::default();
        let mut laplace = Laplace::new(&data, family).unwrap();
        let mut at = vec![0.7, 0.5, 0.4];
        at.resize(laplace.dim(), 0.4);
        let approximate = laplace.deviance(&at, &control).unwrap();
        let mut quadrature = Integral::new(&mut laplace, Method::Aghq, with_nodes(1)).unwrap();
        let one = quadrature.deviance(&at, &control).unwrap();
        assert!((one - approximate).abs() < 1e-9 * approximate);
        let mut quadrature = Integral::new(&mut laplace, Method::Aghq, with_nodes(25)).unwrap();
        let many = quadrature.deviance(&at, &control).unwrap();

        let term = &data.terms[0];
        let (step, mut log_lik) = (0.01, 0.0);
        for group in 0..term.levels.len() {
            let rows: Vec<usize> = (0..data.num_obs())
                .filter(|&row| term.index[row] as usize == group)
                .collect();
            let sum: f64 = (-1200..=1200)
                .map(|k| {
                    let u = f64::from(k) * step;
                    let log_p: f64 = rows
                        .iter()
                        .map(|&row| {
                            let eta = laplace.base[row] + 0.7 * u;
                            let y = data.y[row];
                            laplace.outcome.at(eta, y, 1.0).log_p + laplace.outcome.constant(y, 1.0)
                        })
                        .sum();
                    (log_p - 0.5 * u * u).exp()
                })
                .sum();
            log_lik += (sum * step / std::f64::consts::TAU.sqrt()).ln();
        }
        assert!(
            (many + 2.0 * log_lik).abs() < 1e-8 * many,
            "{many} {}",
            -2.0 * log_lik
        );
        let error = (approximate - many).abs();
        assert!(error > 1e-4 && error < 1.0, "{family:?}: {error}");
    }
}

#[test]
fn the_negative_binomial_finds_overdispersion_and_says_when_there_is_none() {
    let family = Family::NegativeBinomial;
    let mut data = general("counts", "y ~ x + offset(log(e)) + (1 | g)", family);
    let fit = |data: &MixedData, family| {
        fit_generalised(
            data,
            family,
            Method::Laplace,
            Fineness::default(),
            &Control::default(),
        )
        .unwrap()
    };
    // Slopes that vary and are not modelled make these counts a little overdispersed.
    let (poisson, spread) = (fit(&data, Family::Poisson), fit(&data, family));
    assert!(spread.log_lik > poisson.log_lik + 1.0);
    assert!(spread.auxiliaries[0] < 100.0);
    // Counts equal to their rounded means vary less than Poisson counts.
    for row in 0..data.num_obs() {
        let offset = data.offset.as_ref().unwrap()[row];
        data.y[row] = (offset + 1.0 + 0.3 * data.row(row)[1]).exp().round();
    }
    let even = fit(&data, family);
    assert!(
        even.warnings.iter().any(|w| w.code == "no-overdispersion"),
        "{:?}",
        even.auxiliaries
    );
}

/// Without fixed effects the mean of a balanced design is 0 and the estimates have closed forms: with m rows in each of
/// k groups σ² = SSW/(k(m − 1)) and σ² + mσ_b² = SSB/k, by ML and by REML alike.
#[test]
fn a_balanced_design_without_fixed_effects_has_the_closed_form() {
    let mut data = numbers("balanced", "y ~ x + (1 | g)");
    data.x.clear();
    data.columns.clear();
    data.scaling.center.clear();
    data.scaling.scale.clear();
    data.scaling.has_intercept = false;
    let mean = data.y.iter().sum::<f64>() / data.num_obs() as f64;
    for y in &mut data.y {
        *y -= mean;
    }
    let (k, m) = (12, 8.0);
    let mut sums = vec![0.0; k];
    for (y, &g) in data.y.iter().zip(&data.terms[0].index) {
        sums[g as usize] += y;
    }
    let between: f64 = sums.iter().map(|sum| sum * sum / m).sum();
    let within = data.y.iter().map(|y| y * y).sum::<f64>() - between;
    let variance = within / (k as f64 * (m - 1.0));
    let sd = ((between / k as f64 - variance) / m).sqrt();
    for criterion in [Criterion::Ml, Criterion::Reml] {
        let control = Control::default();
        let fit = fit_gaussian(&data, Method::Profile, criterion, &control).unwrap();
        close("sigma", fit.sigma.unwrap(), variance.sqrt(), 1e-8);
        close("sd", fit.components[0].sd[0], sd, 1e-7);
        let share = sd * sd / (sd * sd + variance);
        close("icc", fit.components[0].icc.unwrap(), share, 1e-7);
    }
}

/// One varying intercept against quadrature, several effects against Laplace's approximation: within a fraction of a
/// standard error and the stated Monte Carlo errors.
#[test]
fn monte_carlo_em_is_near_quadrature_and_laplace() {
    for (id, set, formula, family, nodes) in GENERAL {
        let data = general(set, formula, *family);
        let by = |method| {
            fit_generalised(
                &data,
                *family,
                method,
                Fineness::default(),
                &Control::default(),
            )
            .unwrap()
        };
        let other = by(if *nodes > 0 {
            Method::Aghq
        } else {
            Method::Laplace
        });
        let fit = by(Method::Mcem);
        let errors = fit.monte_carlo.as_ref().unwrap();
        println!(
            "{id}: {} iterations, {} evaluations, {}",
            fit.iterations, fit.evaluations, other.evaluations
        );
        for ((here, there), error) in fit.fixed.iter().zip(&other.fixed).zip(&errors.fixed) {
            let gap = here.estimate - there.estimate;
            println!(
                "  {}: off by {} se, error {} se",
                here.name,
                gap / there.se,
                error / there.se
            );
            assert!(
                gap.abs() < 0.1 * there.se + 4.0 * error,
                "{id} {}",
                here.name
            );
            assert!(*error < 0.1 * there.se, "{id} {}", here.name);
        }
        for (t, (here, there)) in fit.components.iter().zip(&other.components).enumerate() {
            for (i, (a, b)) in here.sd.iter().zip(&there.sd).enumerate() {
                let error = errors.sd[t][i];
                println!("  sd {}: {a} {b}, error {error}", here.names[i]);
                assert!(
                    (a - b).abs() < 0.05 * b + 4.0 * error,
                    "{id} sd {a} {b} {error}"
                );
            }
        }
    }
}
