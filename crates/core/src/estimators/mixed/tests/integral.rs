//! Integrals over the effects of groups against closed forms, fine grids, and maxima that R finds.

use super::{close, general, with_nodes};
use crate::design::{Design, ModelFrame};
use crate::estimators::mixed::integral::Integral;
use crate::estimators::mixed::laplace::Laplace;
use crate::estimators::mixed::testing::numbers;
use crate::estimators::mixed::*;
use crate::families::Family;
use crate::testing::tables::{load_csv, reference};
use ergodic_base::Control;
use ergodic_base::linalg::{Cholesky, dot};
use ergodic_base::numerals::thousands;

/// Numbers with known standard errors, under a formula whose only grouping factor has `effects` effects per group.
fn with_errors(set: &str, formula: &str, effects: usize) -> MixedData {
    let mut data = numbers(set, formula);
    let n = data.num_obs();
    let mean = data.y.iter().sum::<f64>() / n as f64;
    let squares: f64 = data.y.iter().map(|y| (y - mean).powi(2)).sum();
    let sd = (squares / n as f64).sqrt();
    data.y.iter_mut().for_each(|y| *y = (*y - mean) / sd);
    data.known = Some((0..n).map(|row| 0.3 + 0.1 * (row % 4) as f64).collect());
    let widths = data.terms.iter().map(RandomTerm::width);
    assert_eq!(widths.sum::<usize>(), effects);
    data
}

/// The deviance of a normal response with known errors: y_g ~ N(X_g β, Z_g ΛΛ' Z_g' + S_g).
fn normal_deviance(data: &MixedData, laplace: &Laplace<'_>) -> f64 {
    let (term, lambda) = (&data.terms[0], &laplace.lambda[0]);
    let q = term.width();
    let mut deviance = 0.0;
    for group in 0..term.levels.len() {
        let rows: Vec<usize> = (0..data.num_obs())
            .filter(|&row| term.index[row] as usize == group)
            .collect();
        let n = rows.len();
        let scaled: Vec<Vec<f64>> = (rows.iter())
            .map(|&row| {
                let z = term.row(row);
                (0..q)
                    .map(|j| (j..q).map(|i| z[i] * lambda[i * q + j]).sum())
                    .collect()
            })
            .collect();
        let mut covariance = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                covariance[i * n + j] = dot(&scaled[i], &scaled[j]);
            }
            covariance[i * n + i] += data.known(rows[i]).powi(2);
        }
        let mut rest: Vec<f64> = (rows.iter())
            .map(|&row| data.y[row] - laplace.base[row])
            .collect();
        let factor = Cholesky::of(&covariance, n).unwrap();
        factor.solve_lower(&mut rest);
        deviance += n as f64 * std::f64::consts::TAU.ln() + factor.log_det() + dot(&rest, &rest);
    }
    deviance
}

/// The deviance by the trapezoidal rule on a grid of step 0.1 over ±8 standard deviations of two effects.
fn fine_deviance(data: &MixedData, laplace: &Laplace<'_>) -> f64 {
    let (term, lambda) = (&data.terms[0], &laplace.lambda[0]);
    let step = 0.1;
    let axis: Vec<f64> = (-80..=80).map(|k| step * f64::from(k)).collect();
    let mut log_lik = 0.0;
    for group in 0..term.levels.len() {
        let rows: Vec<usize> = (0..data.num_obs())
            .filter(|&row| term.index[row] as usize == group)
            .collect();
        let mut terms = Vec::new();
        for &first in &axis {
            for &second in &axis {
                let b = [lambda[0] * first, lambda[2] * first + lambda[3] * second];
                let log_p: f64 = (rows.iter())
                    .map(|&row| {
                        let eta = laplace.base[row] + dot(term.row(row), &b);
                        let (y, known, weight) = laplace.row(row);
                        let outcome = &laplace.outcome;
                        weight * (outcome.at(eta, y, known).log_p + outcome.constant(y, known))
                    })
                    .sum();
                terms.push(log_p - 0.5 * (first * first + second * second));
            }
        }
        let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = terms.iter().map(|term| (term - largest).exp()).sum();
        log_lik += largest + (sum * step * step / std::f64::consts::TAU).ln();
    }
    -2.0 * log_lik
}

fn draws(draws: usize) -> Fineness {
    Fineness {
        draws,
        ..Fineness::default()
    }
}

/// Deviance by a method, and its Monte Carlo error.
fn deviance(
    laplace: &mut Laplace<'_>,
    at: &[f64],
    method: Method,
    fineness: Fineness,
) -> (f64, Option<f64>) {
    let mut integral = Integral::new(laplace, method, fineness).unwrap();
    let value = integral.deviance(at, &Control::default()).unwrap();
    (value, integral.error().map(|error| 2.0 * error))
}

fn some_parameters(laplace: &Laplace<'_>) -> Vec<f64> {
    let free = laplace.shape.len();
    let mut at: Vec<f64> = (0..laplace.dim())
        .map(|k| 0.3 + 0.2 * (1.3 * k as f64).cos())
        .collect();
    for k in laplace.shape.diagonal() {
        at[k] += 0.3;
    }
    assert!(free > 0);
    at
}

#[test]
fn integrals_of_normal_responses_are_the_closed_form() {
    for (set, formula, effects) in [
        ("slopes", "y ~ day + (1 | subject)", 1),
        ("slopes", "y ~ day + (day | subject)", 2),
        ("slopes", "y ~ day + (day || subject)", 2),
        ("unbalanced", "y ~ x + f + (f | g)", 3),
    ] {
        let data = with_errors(set, formula, effects);
        let mut laplace = Laplace::new(&data, Family::GaussianSe).unwrap();
        let at = some_parameters(&laplace);
        let by_laplace = laplace.deviance(&at, &Control::default()).unwrap();
        let exact = normal_deviance(&data, &laplace);
        close(formula, by_laplace, exact, 1e-10);
        for nodes in [1, 2, 7] {
            let (adaptive, error) = deviance(&mut laplace, &at, Method::Aghq, with_nodes(nodes));
            close(formula, adaptive, exact, 1e-10);
            assert_eq!(error, None);
        }
        let (drawn, error) = deviance(&mut laplace, &at, Method::MonteCarlo, draws(2_000));
        let error = error.unwrap();
        println!(
            "{formula}: drawn off by {:.2e}, error {error:.2e}",
            drawn - exact
        );
        assert!((drawn - exact).abs() < 4.0 * error && error < 0.2 && error > 0.001);
        // Plain nodes are near enough to each other only where groups know little of their effects beside how much these vary.
        let free = laplace.shape.len();
        let mut flat = at.clone();
        flat[..free].iter_mut().for_each(|it| *it *= 0.2);
        let nodes = if effects == 3 { 27 } else { 80 };
        let (plain, _) = deviance(&mut laplace, &flat, Method::Ghq, with_nodes(nodes));
        let (few, _) = deviance(&mut laplace, &flat, Method::Ghq, with_nodes(3));
        let exact = normal_deviance(&data, &laplace);
        let (error, worse) = ((plain - exact).abs(), (few - exact).abs());
        println!("{formula}: plain off by {error:.2e}, with 3 nodes by {worse:.2e}");
        assert!(error < 1e-4 && worse > 20.0 * error);
    }
}

#[test]
fn integrals_over_two_effects_are_those_of_a_fine_grid() {
    for (set, formula, family) in [
        (
            "counts",
            "y ~ x + offset(log(e)) + (x | g)",
            Family::Poisson,
        ),
        ("binary", "y ~ x + (x | g)", Family::Bernoulli),
        (
            "counts",
            "y | weights(e) ~ x + (x | g)",
            Family::NegativeBinomial,
        ),
    ] {
        let data = general(set, formula, family);
        let mut laplace = Laplace::new(&data, family).unwrap();
        let at = some_parameters(&laplace);
        let by_laplace = laplace.deviance(&at, &Control::default()).unwrap();
        let exact = fine_deviance(&data, &laplace);
        let (one, _) = deviance(&mut laplace, &at, Method::Aghq, with_nodes(1));
        close(formula, one, by_laplace, 1e-10);
        let (many, _) = deviance(&mut laplace, &at, Method::Aghq, with_nodes(25));
        println!(
            "{formula}: Laplace off by {:.2e}, 25 nodes by {:.2e}",
            by_laplace - exact,
            many - exact
        );
        assert!((by_laplace - exact).abs() > 0.01);
        assert!((many - exact).abs() < 1e-6);
        let (drawn, error) = deviance(&mut laplace, &at, Method::MonteCarlo, draws(2_000));
        let error = error.unwrap();
        println!(
            "{formula}: drawn off by {:.2e}, error {error:.2e}",
            drawn - exact
        );
        assert!((drawn - exact).abs() < 4.0 * error && error < 0.2 && error > 0.001);
        let free = laplace.shape.len();
        let mut flat = at.clone();
        flat[..free].iter_mut().for_each(|it| *it *= 0.2);
        let (adaptive, _) = deviance(&mut laplace, &flat, Method::Aghq, with_nodes(25));
        let (plain, _) = deviance(&mut laplace, &flat, Method::Ghq, with_nodes(60));
        println!("{formula}: plain off by {:.2e}", plain - adaptive);
        assert!((plain - adaptive).abs() < 1e-5);
    }
}

/// Errors of the log likelihood that are stated are those that there are: their ratios have a mean square of about 1.
#[test]
fn monte_carlo_errors_are_as_large_as_stated() {
    let mut data = general("binary", "y ~ x + (x | g)", Family::Bernoulli);
    // A prime number of groups, one of them without rows.
    data.terms[0].levels.push("none".to_owned());
    let levels = data.terms[0].levels.len() as u32;
    assert_eq!(levels, 31);
    let (mut squares, rounds) = (0.0, 30);
    for _ in 0..rounds {
        // Another stream for every group.
        let index = data.terms[0].index.iter_mut();
        index.for_each(|level| *level = (*level + 7) % levels);
        let mut laplace = Laplace::new(&data, Family::Bernoulli).unwrap();
        let at = some_parameters(&laplace);
        let (exact, _) = deviance(&mut laplace, &at, Method::Aghq, with_nodes(31));
        let (drawn, error) = deviance(&mut laplace, &at, Method::MonteCarlo, draws(200));
        squares += ((drawn - exact) / error.unwrap()).powi(2);
    }
    let mean = squares / f64::from(rounds);
    println!("mean square {mean}");
    assert!((0.5..1.7).contains(&mean));
}

#[test]
fn terms_of_one_factor_are_integrated_together() {
    let of = |formula: &str| general("counts", formula, Family::Poisson);
    let together = of("y ~ x + offset(log(e)) + (x || g)");
    let apart = of("y ~ x + offset(log(e)) + (1 | g) + (0 + x | g)");
    let at = [0.6, 0.4, 0.5, 0.3];
    for method in [Method::Aghq, Method::Ghq, Method::MonteCarlo] {
        let mut one = Laplace::new(&together, Family::Poisson).unwrap();
        let mut two = Laplace::new(&apart, Family::Poisson).unwrap();
        let (a, _) = deviance(&mut one, &at, method, with_nodes(7));
        let (b, _) = deviance(&mut two, &at, method, with_nodes(7));
        close(method.spec().id, a, b, 1e-12);
    }
}

fn read(set: &str) -> Vec<(String, f64)> {
    let text = std::fs::read_to_string(reference("integrals_r.csv")).unwrap();
    let own = text.lines().filter_map(|line| {
        let (name, value) = line.strip_prefix(set)?.strip_prefix(':')?.split_once(',')?;
        Some((name.to_owned(), value.parse().unwrap()))
    });
    own.collect()
}

/// What R's files know of a fit, by their names.
fn known(fit: &MixedFit) -> Vec<(String, f64)> {
    let name = |name: &str| name.to_lowercase();
    let mut out = vec![("log_lik".to_owned(), fit.log_lik)];
    for effect in &fit.fixed {
        out.push((name(&effect.name), effect.estimate));
        out.push((format!("{}_se", name(&effect.name)), effect.se));
    }
    for component in &fit.components {
        let sds = component.names.iter().zip(&component.sd);
        out.extend(sds.map(|(effect, sd)| (format!("sd_{}", name(effect)), *sd)));
        if let [_, _, correlation, _] = component.correlation[..] {
            out.push(("correlation".to_owned(), correlation));
        }
    }
    out
}

/// Largest difference from R's numbers, relative to 1 or the number.
fn compare_with_r(set: &str, fit: &MixedFit) -> f64 {
    let known = known(fit);
    let there = read(set);
    assert!(!there.is_empty());
    let errors = there.iter().map(|(name, there)| {
        let here = known.iter().find(|(other, _)| other == name);
        let here = here.unwrap_or_else(|| panic!("{name} of {known:?}")).1;
        println!(
            "{set} {}: {name} {here} here, {there} there",
            fit.method.spec().id
        );
        (here - there).abs() / there.abs().max(1.0)
    });
    errors.fold(0.0, f64::max)
}

/// The data of a set that R fits.
fn of_r(set: &str, formula: &str, family: Family) -> MixedData {
    if set == "counts" {
        return general(set, formula, family);
    }
    let table = load_csv(&reference(&format!("integrals_{set}.csv")));
    let frame = ModelFrame {
        response_use: family.definition().response,
        ..ModelFrame::new(formula.parse().unwrap())
    };
    Design::build(&table, &frame).unwrap().0.into()
}

const TWO_EFFECTS: [(&str, &str, Family); 2] = [
    (
        "counts",
        "y ~ x + offset(log(e)) + (x | g)",
        Family::Poisson,
    ),
    ("binary", "y ~ x + (x | g)", Family::Bernoulli),
];

#[test]
fn fits_with_two_effects_are_the_maxima_that_r_finds() {
    for (set, formula, family) in TWO_EFFECTS {
        let data = of_r(set, formula, family);
        let by = |method, fineness| {
            fit_generalised(&data, family, method, fineness, &Control::default()).unwrap()
        };
        let fit = by(Method::Aghq, with_nodes(21));
        assert!(compare_with_r(set, &fit) < 1e-5);
        assert!(fit.warnings.is_empty(), "{:?}", fit.warnings);
        assert!(
            fit.criterion
                .ends_with("with 21 nodes for each of 2 effects")
        );
    }
}

#[test]
#[ignore = "long: run by .ci/long"]
fn other_methods_find_the_maxima_with_two_effects() {
    for (set, formula, family) in TWO_EFFECTS {
        let data = of_r(set, formula, family);
        let by = |method, fineness| {
            fit_generalised(&data, family, method, fineness, &Control::default()).unwrap()
        };
        let em = by(Method::EmAghq, with_nodes(21));
        assert!(compare_with_r(set, &em) < 1e-5);
        for pair in em.course.windows(2) {
            assert!(pair[1] <= pair[0] + 1e-7, "the deviance rose: {pair:?}");
        }
        // Groups know their effects on counts more closely than nodes lie together.
        let plain = by(Method::Ghq, with_nodes(64));
        let narrow = plain.warnings.iter().any(|it| it.code == "narrow-effects");
        assert_eq!(narrow, set == "counts", "{:?}", plain.warnings);
        assert!(narrow || compare_with_r(set, &plain) < 1e-4);
        let fit = by(Method::Aghq, with_nodes(21));
        let drawn = by(Method::MonteCarlo, draws(4_000));
        let error = drawn.log_lik_error.unwrap();
        assert!((drawn.log_lik - fit.log_lik).abs() < 4.0 * error && error < 0.1);
        for (a, b) in drawn.fixed.iter().zip(&fit.fixed) {
            let gap = (a.estimate - b.estimate) / b.se;
            println!("{set}: drawn {} off by {gap:.3} se", a.name);
            assert!(gap.abs() < 0.05);
        }
    }
}

/// Cattle herds of Lesnoff et al. (2004), by lme4 with 25 nodes.
#[test]
fn cattle_herds_are_those_of_lme4() {
    let table = load_csv(&reference("integrals_cbpp.csv"));
    let family = Family::Binomial;
    let frame = ModelFrame {
        response_use: family.definition().response,
        categorical: ["period", "herd"].map(str::to_owned).into(),
        ..ModelFrame::new(
            "incidence | trials(size) ~ period + (1 | herd)"
                .parse()
                .unwrap(),
        )
    };
    let data = MixedData::from(Design::build(&table, &frame).unwrap().0);
    for method in [Method::Aghq, Method::EmAghq, Method::Ghq] {
        let fineness = with_nodes(if method == Method::Ghq { 100 } else { 25 });
        let mut fit =
            fit_generalised(&data, family, method, fineness, &Control::default()).unwrap();
        for effect in &mut fit.fixed {
            effect.name = effect.name.replace('=', "");
        }
        assert!(compare_with_r("cbpp", &fit) < 3e-5, "{method:?}");
    }
}

/// Every method on normal responses with known errors, whose likelihood is a closed form.
#[test]
fn all_methods_agree_on_normal_responses() {
    let data = with_errors("slopes", "y ~ day + (day | subject)", 2);
    let by = |method, fineness| {
        fit_generalised(
            &data,
            Family::GaussianSe,
            method,
            fineness,
            &Control::default(),
        )
        .unwrap()
    };
    let exact = by(Method::Laplace, Fineness::default());
    // Nodes about the mode of a normal density integrate it exactly, few of them too.
    for (method, tolerance, nodes) in [
        (Method::Aghq, 1e-6, 7),
        (Method::EmAghq, 1e-6, 7),
        (Method::EmLaplace, 1e-6, 7),
        (Method::Ghq, 1e-3, 50),
        (Method::MonteCarlo, 0.02, 7),
    ] {
        let fit = by(
            method,
            Fineness {
                nodes,
                draws: 1_000,
            },
        );
        for ((name, here), (_, there)) in known(&fit).into_iter().zip(known(&exact)) {
            assert!(
                (here - there).abs() < tolerance * there.abs().max(1.0),
                "{method:?} {name}"
            );
        }
    }
}

/// Estimates of one fit are those of another.
fn agree(what: &str, one: &MixedFit, other: &MixedFit, tolerance: f64) {
    for ((name, here), (_, there)) in known(one).into_iter().zip(known(other)) {
        println!("{name} {here} {there}");
        assert!(
            (here - there).abs() < tolerance * there.abs().max(1.0),
            "{what} {name}"
        );
    }
    for (here, there) in one.auxiliaries.iter().zip(&other.auxiliaries) {
        println!("{here} {there}");
        assert!(
            (here - there).abs() < tolerance * there.abs().max(1.0),
            "{what}"
        );
    }
}

/// EM arrives where quadrature does, whatever parameters the family has.
#[test]
fn em_arrives_where_quadrature_does() {
    for (set, formula, family) in [
        (
            "counts",
            "y ~ x + offset(log(e)) + (1 | g)",
            Family::NegativeBinomial,
        ),
        ("counts", "y ~ x + (1 | g)", Family::ZeroInflatedPoisson),
        ("binary", "y ~ x + (x || g)", Family::Bernoulli),
    ] {
        let data = of_r(set, formula, family);
        let by = |method| {
            fit_generalised(
                &data,
                family,
                method,
                Fineness::default(),
                &Control::default(),
            )
            .unwrap()
        };
        let (direct, em) = (by(Method::Aghq), by(Method::EmAghq));
        println!(
            "{formula}: {} evaluations, {} of EM, {:?}",
            direct.evaluations, em.evaluations, em.warnings
        );
        agree(formula, &em, &direct, 1e-4);
    }
}

/// By Laplace's approximation EM arrives where its likelihood is largest, whatever the group terms are.
#[test]
fn em_by_laplace_arrives_where_laplace_does() {
    for (set, formula, family) in [
        ("binary", "y ~ x + (1 | g) + (1 | h)", Family::Bernoulli),
        (
            "counts",
            "y ~ x + offset(log(e)) + (x | g)",
            Family::Poisson,
        ),
        (
            "counts",
            "y ~ x + offset(log(e)) + (1 | g)",
            Family::NegativeBinomial,
        ),
        ("counts", "y ~ x + (1 | g)", Family::ZeroInflatedPoisson),
    ] {
        let data = general(set, formula, family);
        let by = |method| {
            let control = Control::default();
            fit_generalised(&data, family, method, Fineness::default(), &control).unwrap()
        };
        let (direct, em) = (by(Method::Laplace), by(Method::EmLaplace));
        println!(
            "{formula}: {} evaluations, {} of EM, {:?}",
            direct.evaluations, em.evaluations, em.warnings
        );
        agree(formula, &em, &direct, 1e-4);
        assert!(em.deviance() >= direct.deviance() - 1e-7);
    }
}

/// A shape that runs away is held at its bound, and the rest still arrives.
#[test]
fn em_goes_on_beside_a_parameter_at_its_bound() {
    let family = Family::NegativeBinomial;
    let data = general("counts", "y ~ x + offset(log(e)) + (x || g)", family);
    let by = |method| {
        let control = Control::default();
        fit_generalised(&data, family, method, Fineness::default(), &control).unwrap()
    };
    let (direct, em) = (by(Method::Laplace), by(Method::EmLaplace));
    println!(
        "{} {}, {:?} {:?}",
        direct.log_lik, em.log_lik, direct.auxiliaries, em.auxiliaries
    );
    assert!(em.warnings.iter().any(|it| it.code == "no-overdispersion"));
    assert!((em.log_lik - direct.log_lik).abs() < 0.01);
    for (here, there) in em.fixed.iter().zip(&direct.fixed) {
        assert!((here.estimate - there.estimate).abs() < 0.01 * there.se);
    }
}

#[test]
fn integrals_that_cannot_be_made_are_refused_in_one_sentence() {
    let refusal = |data: &MixedData, family, method, fineness| {
        fit_generalised(data, family, method, fineness, &Control::default())
            .unwrap_err()
            .to_string()
    };
    let crossed = general("binary", "y ~ x + (1 | g) + (1 | h)", Family::Bernoulli);
    for method in [
        Method::Aghq,
        Method::Ghq,
        Method::MonteCarlo,
        Method::EmAghq,
    ] {
        let said = refusal(&crossed, Family::Bernoulli, method, Fineness::default());
        let start = format!(
            "{} integrates over the effects of one group at a time",
            method.spec().title
        );
        assert!(said.starts_with(&start), "{said}");
        assert!(
            said.contains("groups of `g` and of `h` meet in rows"),
            "{said}"
        );
    }
    let plain = general("binary", "y ~ x", Family::Bernoulli);
    for method in [Method::EmAghq, Method::EmLaplace, Method::MonteCarlo] {
        let said = refusal(&plain, Family::Bernoulli, method, Fineness::default());
        assert!(said.starts_with("The formula has no group term"), "{said}");
    }
    let wide = with_errors("unbalanced", "y ~ x + f + (x + f | g)", 4);
    let said = refusal(&wide, Family::GaussianSe, Method::Aghq, with_nodes(15));
    let start = format!(
        "15 nodes for each of 4 effects are {} points per group, more than the {} allowed; take at most 11 nodes",
        thousands(50_625),
        thousands(20_000)
    );
    assert!(said.starts_with(&start), "{said}");
    let one = general("binary", "y ~ x + (1 | g)", Family::Bernoulli);
    for nodes in [0, 101] {
        let said = refusal(&one, Family::Bernoulli, Method::Ghq, with_nodes(nodes));
        assert_eq!(
            said,
            format!("The number of quadrature nodes must be from 1 to 100, not {nodes}")
        );
    }
    let said = refusal(&one, Family::Bernoulli, Method::MonteCarlo, draws(3));
    let most = thousands(1_000_000);
    assert_eq!(
        said,
        format!("The number of draws must be from 20 to {most}, not 3")
    );
    let said = refusal(&one, Family::Bernoulli, Method::Em, Fineness::default());
    assert!(said.starts_with("EM is for Gaussian outcomes"), "{said}");
}
