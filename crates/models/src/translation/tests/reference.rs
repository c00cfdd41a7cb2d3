//! Stan programs against Stan itself: the programs in `tests/reference/translation` are those that are shown, and
//! `translation.py` had Stan compute their densities from data that it prepared on its own.

use std::fs;
use std::path::PathBuf;

use super::super::super::{Model, Rows};
use super::*;
use crate::families::Family;
use ergodic_base::Class;

/// Points that `translation.py` takes for each model.
const POINTS: usize = 5;
/// Templates whose programs other tests compare.
const ELSEWHERE: [&str; 1] = ["multinomial"];

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference/translation")
}

fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

struct Case {
    name: &'static str,
    template: &'static str,
    formula: &'static str,
    priors: &'static [(&'static str, &'static str)],
    settings: Vec<(&'static str, Value)>,
    standardize: bool,
}

impl Case {
    /// The model in other notations, and itself.
    fn described(&self, data: &str) -> (Translation, std::sync::Arc<dyn Model>) {
        let Self {
            template, formula, ..
        } = self;
        let (priors, settings) = (self.priors, &self.settings);
        described(data, template, formula, priors, settings, self.standardize)
    }
}

fn case(name: &'static str, template: &'static str, formula: &'static str) -> Case {
    Case {
        name,
        template,
        formula,
        priors: &[],
        settings: Vec::new(),
        standardize: true,
    }
}

fn cases() -> Vec<Case> {
    let mut cases = vec![
        Case {
            priors: &[
                ("b[x]", "laplace(1, 2)"),
                ("intercept", "student_t(4, 1, 3)"),
            ],
            ..case("logistic", "logistic", "bin ~ x + plan")
        },
        Case {
            standardize: false,
            ..case(
                "binomial_raw",
                "logistic",
                "succ | trials(n) + weights(w) ~ x + offset(e)",
            )
        },
        case("linear", "linear", "y ~ x + plan + offset(e)"),
        Case {
            standardize: false,
            ..case("linear_raw", "linear", "y ~ x + plan")
        },
        Case {
            priors: &[("sigma", "inv_gamma(2, 1)")],
            ..case(
                "linear_through_origin",
                "linear",
                "y | weights(w) ~ 0 + x + z",
            )
        },
        case("student", "student", "y ~ x + plan"),
        Case {
            settings: vec![("nu", Value::Real(4.0))],
            priors: &[("sigma", "half_cauchy(2)")],
            ..case("student_nu", "student", "y | weights(w) ~ x")
        },
        case("poisson", "poisson", "count ~ x + plan + offset(log(n))"),
        case(
            "negative_binomial",
            "negative-binomial",
            "count | weights(w) ~ x + z",
        ),
        Case {
            priors: &[("cor", "lkj(2)"), ("sd[school,x]", "exponential(1)")],
            ..case(
                "mixed",
                "mixed",
                "y ~ x + z + (1 + x + z | school) + (1 | class)",
            )
        },
        mixed(
            "mixed_counts",
            "negative_binomial",
            "count ~ x + (1 + x || school) + offset(log(n))",
        ),
        Case {
            priors: &[("sd", "half_normal(1)")],
            standardize: false,
            ..mixed(
                "mixed_binomial_raw",
                "binomial",
                "succ | trials(n) ~ x + (0 + x | school)",
            )
        },
        Case {
            settings: vec![("parametrisation", text("non-centred"))],
            priors: &[("Sigma", "inv_wishart(5, 1, 2)")],
            ..case("hierarchical", "hierarchical", "bin ~ x + (1 + x | school)")
        },
        Case {
            priors: &[("p[b]", "dirichlet(2)")],
            ..case("categorical", "categorical", "plan ~ 1")
        },
        case("normal_mean", "normal-mean", "x | weights(w) ~ 1"),
        case("normal_gamma", "normal-gamma", "x ~ 1"),
        Case {
            settings: vec![
                ("correlation", Value::Real(0.3)),
                ("scale", Value::Real(2.0)),
            ],
            ..case("multivariate_t", "multivariate-t", "~ x + z")
        },
        case("warped_gaussian", "warped-gaussian", "z ~ 1"),
        Case {
            settings: vec![("parameters", text("shift"))],
            ..case("gaussian_mixture", "gaussian-mixture", "~ x + z")
        },
        // Without densities of its own: only the programs are compared.
        case("dp_mixture", "dp-mixture", "~ x + z + plan"),
        Case {
            settings: vec![("covariance", text("diagonal"))],
            priors: &[("alpha", "constant(1)")],
            ..case("dp_mixture_diagonal", "dp-mixture", "~ x + z")
        },
        case("dp_mixture_items", "dp-mixture", "~ plan + (1 | school)"),
        case("topics", "topics", "~ plan + (1 | school)"),
    ];
    cases.extend(cases_of_families());
    cases.extend(cases_of_curves_and_networks());
    cases
}

/// A mixed model of a family.
fn mixed(name: &'static str, family: &str, formula: &'static str) -> Case {
    Case {
        settings: vec![("family", text(family))],
        ..case(name, "mixed", formula)
    }
}

/// Families that have no template of their own.
fn cases_of_families() -> Vec<Case> {
    vec![
        mixed("bernoulli_groups", "bernoulli", "bin ~ x + (1 | school)"),
        mixed(
            "poisson_groups",
            "poisson",
            "count | weights(w) ~ x + (1 | school)",
        ),
        Case {
            priors: &[("nu", "gamma(3, 0.2)")],
            ..mixed("student_groups", "student", "y ~ x + (1 | school)")
        },
        mixed(
            "known_errors",
            "gaussian_se",
            "y | se(se) ~ 1 + (1 | school)",
        ),
        Case {
            standardize: false,
            ..mixed(
                "known_errors_raw",
                "gaussian_se",
                "y | se(se) + weights(w) ~ x + z",
            )
        },
        mixed("gamma", "gamma", "hours ~ x + plan + offset(e)"),
        Case {
            priors: &[("shape", "gamma(2, 0.1)")],
            standardize: false,
            ..mixed(
                "gamma_raw",
                "gamma",
                "hours | weights(w) ~ x + (1 | school)",
            )
        },
        Case {
            priors: &[("sigma", "half_cauchy(1)")],
            ..mixed("lognormal", "lognormal", "hours ~ x + z")
        },
        mixed(
            "lognormal_censored",
            "lognormal",
            "hours | cens(seen) ~ x + (1 | school)",
        ),
        mixed("weibull", "weibull", "hours ~ x + plan"),
        Case {
            standardize: false,
            ..mixed(
                "weibull_censored_raw",
                "weibull",
                "hours | cens(seen) + weights(w) ~ x + plan",
            )
        },
        mixed("beta", "beta", "share ~ x + plan + (1 | school)"),
        Case {
            priors: &[("phi", "exponential(0.1)")],
            standardize: false,
            ..mixed("beta_raw", "beta", "share | weights(w) ~ x + z")
        },
        mixed(
            "zero_inflated_poisson",
            "zero_inflated_poisson",
            "count ~ x + plan + offset(log(n))",
        ),
        Case {
            priors: &[("zi", "beta(2, 5)")],
            ..mixed(
                "zero_inflated_negative_binomial",
                "zero_inflated_negative_binomial",
                "count | weights(w) ~ x + (1 | school)",
            )
        },
        case(
            "ordered_weighted",
            "ordered",
            "rating | weights(w) ~ x + plan + offset(e)",
        ),
    ]
}

/// Models whose parameters have an order that nothing but the density shows.
fn cases_of_curves_and_networks() -> Vec<Case> {
    vec![
        mixed(
            "ordered_curve",
            "ordered",
            "rating ~ s(x, k = 5) + (1 | school)",
        ),
        case("curve", "mixed", "y ~ s(x) + z"),
        Case {
            priors: &[("sd[s(z)]", "exponential(2)")],
            standardize: false,
            ..mixed(
                "curves_raw",
                "negative_binomial",
                "count | weights(w) ~ s(x, k = 5) + s(z, k = 6) + (1 | school)",
            )
        },
        Case {
            settings: vec![("parametrisation", text("non-centred"))],
            ..case(
                "hierarchical_trials",
                "hierarchical",
                "succ | trials(n) + weights(w) ~ x + z + offset(e) + (1 + x + z | school)",
            )
        },
        Case {
            settings: vec![("hidden_units", Value::Int(3))],
            ..case("neural_net", "neural-net", "plan ~ x + z")
        },
        Case {
            settings: vec![
                ("hidden_units", Value::Int(3)),
                ("further_layers", text("2")),
                ("activation", text("tanh")),
            ],
            priors: &[("precision[hidden:2]", "lognormal(0, 0.5)")],
            standardize: false,
            ..case(
                "neural_net_layers",
                "neural-net",
                "plan | weights(w) ~ 0 + x + z",
            )
        },
        Case {
            settings: vec![("factors", Value::Int(2))],
            ..case(
                "factorization",
                "factorization",
                "y ~ (1 | school) + (1 | class)",
            )
        },
        Case {
            settings: vec![("factors", Value::Int(1)), ("precision", Value::Real(0.5))],
            priors: &[("user", "constant(2)"), ("item_factor", "gamma(2, 1)")],
            ..case(
                "factorization_known",
                "factorization",
                "y | weights(w) ~ 0 + (1 | school) + (1 | class)",
            )
        },
    ]
}

/// Our coordinates of Stan's unconstrained ones.
fn coordinates(case: &Case, model: &dyn Model, stan: &[f64]) -> Vec<f64> {
    if case.name == "categorical" {
        // Stan's sticks are even where its coordinates are 0.
        let left = |k: usize| ((stan.len() - k) as f64).ln();
        return (0..stan.len()).map(|k| stan[k] - left(k)).collect();
    }
    let params = model.params();
    let first = |class| params.iter().position(|param| param.name.class() == class);
    if let Some(coefficients) = first(Class::CutPoint) {
        assert!(case.standardize, "{} needs units of its own", case.name);
        let cuts = params
            .iter()
            .filter(|param| param.name.class() == Class::CutPoint);
        return with_cut_points(stan, cuts.count(), coefficients);
    }
    let mut u = stan.to_vec();
    if case.standardize {
        return u;
    }
    // Stan's are those of the columns as they are, and so are ours where they are reported.
    let mut reported = vec![0.0; model.params().len()];
    model.constrain(&u, &mut reported);
    for (param, value) in model.params().iter().zip(&mut reported) {
        let class = param.name.word();
        let at = model
            .params()
            .iter()
            .position(|other| other.name == param.name)
            .unwrap();
        match class {
            "b" => *value = stan[at],
            "sigma" | "sd" => *value = stan[at].exp(),
            _ => {}
        }
    }
    model.unconstrain(&reported, &mut u);
    // What is in units of its standard deviation has none: what bends curves, and effects.
    for (j, param) in params.iter().enumerate() {
        if param.name.class() == Class::Bend {
            u[j] = stan[j];
        }
    }
    if let Some(first) = first(Class::Effect) {
        u[first..].copy_from_slice(&stan[first..]);
    }
    u
}

#[test]
fn programs_are_those_of_the_references() {
    let data = fs::read_to_string(folder().join("data.csv")).unwrap();
    let update = std::env::var_os("ERGODIC_UPDATE_STAN").is_some();
    for case in cases() {
        let name = &case.name;
        let (all, _) = case.described(&data);
        for (ending, code) in [("stan", all.stan), ("R", all.brms)] {
            let path = folder().join(format!("{name}.{ending}"));
            let Ok(code) = code else {
                assert!(!path.exists(), "{name}: brms cannot say it any more");
                continue;
            };
            if update {
                fs::write(&path, &code).unwrap();
            }
            let expected = fs::read_to_string(&path).unwrap_or_default();
            assert!(
                code == expected,
                "{name}.{ending} has changed: set ERGODIC_UPDATE_STAN, then run translation.py and translation.R\n{code}"
            );
        }
    }
}

#[test]
fn stan_gives_the_programs_the_densities_of_the_models() {
    let data = fs::read_to_string(folder().join("data.csv")).unwrap();
    let densities = fs::read_to_string(folder().join("densities.csv")).unwrap();
    for case in cases() {
        let name = &case.name;
        let (_, model) = case.described(&data);
        if model.density().is_none() {
            continue;
        }
        let mut compared = 0;
        let (mut scratch, mut grad) = (model.rows().unwrap().scratch(), vec![0.0; model.dim()]);
        let mut first = None;
        for line in densities.lines() {
            let mut fields = line.split(',');
            if fields.next() != Some(*name) {
                continue;
            }
            let mut numbers = fields.map(|field| field.parse::<f64>().unwrap());
            let theirs = numbers.next().unwrap();
            let u = coordinates(&case, model.as_ref(), &numbers.collect::<Vec<_>>());
            assert_eq!(u.len(), model.dim(), "{name}");
            let ours = model.rows().unwrap().log_prior(&u, &mut grad)
                + model
                    .rows()
                    .unwrap()
                    .log_lik(&u, Rows::All, &mut scratch, &mut grad);
            let apart = ours - theirs;
            let constant = *first.get_or_insert(apart);
            assert!(
                (apart - constant).abs() < 1e-10 * theirs.abs().max(100.0),
                "{name}: {ours} and {theirs}, apart by {apart} instead of {constant}"
            );
            compared += 1;
        }
        assert_eq!(compared, POINTS, "{name}");
    }
}

#[test]
fn all_templates_and_families_are_compared_with_stan() {
    let cases = cases();
    let templates: Vec<&str> = cases.iter().map(|case| case.template).collect();
    for entry in REGISTRY {
        let id = entry.spec.id;
        assert!(templates.contains(&id) || ELSEWHERE.contains(&id), "{id}");
    }
    let family_of = |case: &Case| {
        let mut given = Settings::default();
        for (key, value) in &case.settings {
            given.set(key, value.clone());
        }
        (models::find(case.template).unwrap().family)(&given)
    };
    for family in Family::ALL {
        let mut of_family = cases.iter().filter(|case| family_of(case) == Some(*family));
        let is_censored = |case: &Case| case.formula.contains("cens(");
        let has_case = match family.takes_censoring() {
            true => of_family.clone().any(is_censored) && of_family.any(|case| !is_censored(case)),
            false => of_family.next().is_some(),
        };
        assert!(has_case, "{family:?}");
    }
}
