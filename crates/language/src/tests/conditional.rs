//! Conditionals of known form: which are found, that they have it, and that Gibbs sampling draws from them.

use super::*;
use ergodic_core::Fit;
use ergodic_core::models::{Form, KnownConditional};

const NORMAL: Form = Form::Normal;
const GAMMA: Form = Form::LogGamma { power: 1.0 };

fn columns() -> Vec<(String, Predictor)> {
    vec![
        numbers("x", &[0.4, 2.0, -1.0, 1.3, 0.2, -0.7]),
        numbers("y", &[1.2, 0.3, 2.5, 0.9, 4.0, 1.7]),
        numbers("count", &[2.0, 0.0, 1.0, 4.0, 3.0, 1.0]),
        group("plan", &["a", "b"], &[0, 1, 1, 0, 1, 0]),
    ]
}

/// The form of each parameter that has one, and whether it is independent of the others.
type Found = &'static [(&'static str, Form, bool)];

/// Texts and what is found in them.
fn cases() -> Vec<(&'static str, Found)> {
    vec![
        // One parameter, all families.
        (
            "mu ~ normal(0, 3)\nrows\n y ~ normal(mu, 2)",
            &[("mu", NORMAL, true)],
        ),
        (
            "b ~ normal(0, 3)\nrows\n y ~ normal(1 + b * x, 2)",
            &[("b", NORMAL, true)],
        ),
        (
            "rate ~ gamma(2, 1)\nrows\n count ~ poisson(rate)",
            &[("rate", GAMMA, true)],
        ),
        (
            "rate ~ gamma(2, 1)\nrows\n count ~ poisson(rate * y)",
            &[("rate", GAMMA, true)],
        ),
        (
            "rate ~ exponential(2)\nrows\n y ~ exponential(rate)",
            &[("rate", GAMMA, true)],
        ),
        (
            "tau ~ gamma(2, 1)\nrows\n y ~ normal(1, 1 / sqrt(tau))",
            &[("tau", GAMMA, true)],
        ),
        (
            "sigma: positive\nrows\n y ~ normal(1, sigma)\ntarget\n -3 * log(sigma) - 2 / sigma^2",
            &[("sigma", Form::LogGamma { power: -2.0 }, true)],
        ),
        (
            "v ~ inv_gamma(2, 1)\nrows\n y ~ normal(1, sqrt(v))",
            &[("v", Form::LogGamma { power: -1.0 }, true)],
        ),
        (
            "scale: positive\nrows\n y ~ weibull(1.5, scale)\ntarget\n -3 * log(scale) - 2 * scale^(-1.5)",
            &[("scale", Form::LogGamma { power: -1.5 }, true)],
        ),
        // λ^(−1/3) to the power 3 is 1/λ up to rounding.
        (
            "lambda ~ gamma(2, 1)\nrows\n y ~ weibull(3, lambda^(-1/3))",
            &[("lambda", GAMMA, true)],
        ),
        (
            "m ~ lognormal(0, 1)\nrows\n y ~ lognormal(log(m), 0.5)",
            &[("m", NORMAL, true)],
        ),
        (
            "z: real\nrows\n count ~ poisson_log(z)\ntarget\n z - exp(z)",
            &[("z", GAMMA, true)],
        ),
        (
            "s: real in (0.5, inf)\nrows\n y ~ exponential(s - 0.5)\ntarget\n -s",
            &[("s", GAMMA, true)],
        ),
        (
            "b ~ inv_gamma(2, 1)\nrows\n y ~ laplace(0, b)",
            &[("b", Form::LogGamma { power: -1.0 }, true)],
        ),
        // Several, independent by rows or as factors of one row.
        (
            "rate[plan] ~ gamma(2, 1)\nrows\n count ~ poisson(rate[plan])",
            &[("rate", GAMMA, true)],
        ),
        (
            "mu ~ normal(0, 3)\n rate ~ gamma(2, 1)\nrows\n y ~ normal(mu, 2)\n count ~ poisson(rate)",
            &[("mu", NORMAL, true), ("rate", GAMMA, true)],
        ),
        (
            "mu ~ normal(0, 3)\n w ~ beta(2, 2)\nrows\n y ~ normal(mu, where(x > 0, 1, 2))",
            &[("mu", NORMAL, true)],
        ),
        // Given the others only.
        (
            "mu ~ normal(0, 3)\n tau ~ gamma(2, 1)\nrows\n y ~ normal(mu, 1 / sqrt(tau))",
            &[("mu", NORMAL, false), ("tau", GAMMA, false)],
        ),
        (
            "m ~ normal(0, 3)\n theta[plan] ~ normal(m, 2)\nrows\n y ~ normal(theta[plan], 1)",
            &[("m", NORMAL, false), ("theta", NORMAL, false)],
        ),
        (
            "b: vector(2) ~ normal(0, 3)\nrows\n y ~ normal(b[1] + b[2] * x, 2)",
            &[("b", NORMAL, false)],
        ),
        (
            "b ~ normal(0, 3)\n s ~ half_cauchy(1)\nrows\n y ~ normal(b, s)",
            &[("b", NORMAL, false)],
        ),
        (
            "r ~ gamma(2, 1)\n t ~ gamma(3, 1)\nrows\n count ~ poisson(r * t)",
            &[("r", GAMMA, false), ("t", GAMMA, false)],
        ),
        (
            "c: vector(20) ~ normal(0, 1)\nrows\n y ~ normal(c[3], 1)",
            &[("c", NORMAL, true)],
        ),
        // None: another prior, another link, bounds, other powers, a difference that is not the same element.
        ("mu ~ student_t(4, 0, 3)\nrows\n y ~ normal(mu, 2)", &[]),
        ("mu ~ normal(0, 3)\nrows\n y ~ student_t(4, mu, 2)", &[]),
        (
            "mu: positive ~ half_normal(3)\nrows\n y ~ normal(mu, 2)",
            &[],
        ),
        ("p ~ beta(1, 1)\nrows\n (y > 1) ~ bernoulli(p)", &[]),
        ("rate ~ half_normal(2)\nrows\n count ~ poisson(rate)", &[]),
        ("z ~ normal(0, 1)\nrows\n count ~ poisson_log(z)", &[]),
        ("k ~ gamma(2, 1)\nrows\n y ~ weibull(k, 2)", &[]),
        ("s ~ gamma(2, 1)\nrows\n y ~ weibull(1.5, s)", &[]),
        ("s ~ inv_gamma(2, 1)\nrows\n y ~ weibull(x^2 + 1, s)", &[]),
        (
            "z: vector(2) ~ normal(0, 1)\nrows\n y ~ normal(exp(z[1] - z[2]), 1)",
            &[],
        ),
        (
            "r: vector(2) ~ gamma(2, 1)\nrows\n count ~ poisson(r[1] * r[2])",
            &[],
        ),
        (
            "r[plan] ~ gamma(2, 1)\nrows\n count ~ poisson(r[plan] / r[1])",
            &[],
        ),
    ]
}

fn written(body: &str) -> String {
    format!("parameters\n {body}\n")
}

#[test]
fn forms_are_found_where_they_are() {
    for (body, wanted) in cases() {
        let model = model(&written(body), &columns());
        let blocks = model.blocks();
        let known = model.known_conditionals();
        let name = |one: &KnownConditional| {
            let block = blocks.iter().find(|it| it.coordinates == one.coordinates);
            block
                .unwrap_or_else(|| panic!("{body}: {one:?}"))
                .name
                .to_string()
        };
        let found: Vec<_> = known
            .iter()
            .map(|one| (name(one), one.independent))
            .collect();
        let names: Vec<_> = wanted
            .iter()
            .map(|(name, _, alone)| ((*name).to_owned(), *alone))
            .collect();
        assert_eq!(found, names, "{body}");
        for (one, (_, form, _)) in known.iter().zip(wanted) {
            match (one.form, *form) {
                (Form::LogGamma { power }, Form::LogGamma { power: wanted }) => {
                    assert!((power - wanted).abs() < 1e-9, "{body}: {power}");
                }
                (found, wanted) => assert_eq!(found, wanted, "{body}"),
            }
        }
    }
}

/// Slopes along one coordinate at five places are those of a form that two of them tell; independent coordinates do not notice that
/// others are elsewhere, in any row.
#[test]
fn densities_have_the_forms_that_are_found() {
    let with_columns = cases()
        .into_iter()
        .map(|(body, _)| (written(body), columns()));
    let others = programs()
        .into_iter()
        .map(|(text, columns)| (text.to_owned(), columns));
    let mut count = 0;
    for (text, columns) in with_columns.chain(others) {
        let model = model(&text, &columns);
        let mut u = position(model.dim(), 3);
        for known in model.known_conditionals() {
            for j in known.coordinates.clone() {
                let middle = u[j];
                let mut slope = |at: f64| {
                    u[j] = at;
                    density(model.as_ref(), &u).1[j]
                };
                let (here, beside) = (slope(middle), slope(middle + 0.3));
                for step in [-0.7, 0.1, 0.9] {
                    let share = match known.form {
                        Form::Normal => step / 0.3,
                        Form::LogGamma { power } => {
                            (power * step).exp_m1() / (power * 0.3).exp_m1()
                        }
                    };
                    let wanted = here + share * (beside - here);
                    near(&[slope(middle + step)], &[wanted], 1e-9, &text);
                }
                u[j] = middle;
                count += 1;
            }
            let (true, Some(rows)) = (known.independent, model.rows()) else {
                continue;
            };
            let elsewhere = position(model.dim(), 9);
            for j in known.coordinates.clone() {
                let mut moved = elsewhere.clone();
                moved[j] = u[j];
                for row in 0..6 {
                    let of_row = [row];
                    let score = |u: &[f64]| {
                        let mut grad = vec![0.0; u.len()];
                        rows.grad_log_lik(u, Rows::Pick(&of_row), &mut rows.scratch(), &mut grad);
                        grad[j]
                    };
                    near(&[score(&u)], &[score(&moved)], 1e-12, &text);
                }
            }
        }
    }
    assert!(count > 30, "{count}");
}

/// The posterior of a normal mean and precision by exact draws of each given the other, against that by NUTS.
#[test]
fn gibbs_draws_from_conditionals_of_texts() {
    let text = "parameters\n mu ~ normal(0, 3)\n tau ~ gamma(2, 1)\nrows\n y ~ normal(mu, 1 / sqrt(tau))\n";
    let model = model(text, &columns());
    let fit = || Fit::of_model(Arc::clone(&model)).chains(4).draws(2000);
    let gibbs = fit()
        .sampler_called("gibbs")
        .unwrap()
        .set("blocks", "mu: conjugate; tau: conjugate");
    let (gibbs, nuts) = (gibbs.run().unwrap(), fit().run().unwrap());
    for (a, b) in gibbs.summary().rows().iter().zip(nuts.summary().rows()) {
        let allowed = 4.0 * a.mcse_mean.unwrap().hypot(b.mcse_mean.unwrap());
        let (found, wanted, sd) = (a.mean.unwrap(), b.mean.unwrap(), b.sd.unwrap());
        assert!(
            (found - wanted).abs() < allowed,
            "{found} {wanted} ± {allowed}"
        );
        assert!(allowed < 0.15 * sd, "{allowed} {sd}");
        let ess = a.ess_tail.unwrap().min(b.ess_tail.unwrap());
        assert!((a.sd.unwrap() / sd - 1.0).abs() < 4.0 * (2.0 / ess).sqrt());
    }
    let refused = fit()
        .sampler_called("gibbs")
        .unwrap()
        .set("blocks", "mu, tau: conjugate")
        .run();
    let Err(refused) = refused else {
        panic!("a block of both has no known form");
    };
    assert!(
        refused.to_string().contains("conditional distribution"),
        "{refused}"
    );
}

/// A number of very many products is not taken apart, and one of many elements of a vector is few.
#[test]
fn large_programs_are_read_in_bounds() {
    let declared = |k: usize| format!(" a{k} ~ normal(0, 1)\n");
    let terms = |count: usize| {
        let names: Vec<String> = (0..count).map(|k| format!("a{k}")).collect();
        format!("sum([{}])", names.join(", "))
    };
    for (count, found) in [(12, 12), (400, 0)] {
        let declarations: String = (0..count).map(declared).collect();
        let text = format!(
            "parameters\n{declarations}rows\n y ~ normal({}, 1)\n",
            terms(count)
        );
        let known = model(&text, &columns()).known_conditionals();
        assert_eq!(known.len(), found, "{count}");
        assert!(known.iter().all(|one| !one.independent));
    }
    let text = "parameters\n b: vector(500) ~ normal(0, 1)\nrows\n y ~ normal(x * sum(b), 1)\n";
    let known = model(text, &columns()).known_conditionals();
    assert_eq!((known.len(), known[0].form), (1, NORMAL));
}
