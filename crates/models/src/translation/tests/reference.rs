//! Stan programs against Stan itself: the programs in `tests/reference/translation` are those that are shown, and
//! `translation.py` had Stan compute their densities from data that it prepared on its own.

use std::fs;
use std::path::PathBuf;

use super::super::super::{Model, Rows};
use super::*;
use ergodic_base::param::Class;

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
    let family = |family: &str| vec![("family", text(family))];
    vec![
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
        Case {
            settings: family("negative_binomial"),
            ..case(
                "mixed_counts",
                "mixed",
                "count ~ x + (1 + x || school) + offset(log(n))",
            )
        },
        Case {
            settings: family("binomial"),
            priors: &[("sd", "half_normal(1)")],
            standardize: false,
            ..case(
                "mixed_binomial_raw",
                "mixed",
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
    ]
}

/// Our coordinates of Stan's unconstrained ones.
fn coordinates(case: &Case, model: &dyn Model, stan: &[f64]) -> Vec<f64> {
    if case.name == "categorical" {
        // Stan's sticks are even where its coordinates are 0.
        let left = |k: usize| ((stan.len() - k) as f64).ln();
        return (0..stan.len()).map(|k| stan[k] - left(k)).collect();
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
    let first = model
        .params()
        .iter()
        .position(|param| param.name.class() == Class::Effect);
    model.unconstrain(&reported, &mut u);
    // Effects in units of their standard deviation have none.
    if let Some(first) = first {
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
    let mut compared = 0;
    for case in cases() {
        let name = &case.name;
        let (_, model) = case.described(&data);
        if model.density().is_none() {
            continue;
        }
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
                (apart - constant).abs() < 1e-9 * theirs.abs().max(100.0),
                "{name}: {ours} and {theirs}, apart by {apart} instead of {constant}"
            );
            compared += 1;
        }
        assert!(first.is_some(), "{name} has no densities");
    }
    assert_eq!(compared, 19 * 5);
}
