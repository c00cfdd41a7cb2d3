//! Descriptions of small designs, read line by line.

use super::super::{self as models, ModelOptions, REGISTRY};
use super::*;
use crate::data::design::ModelFrame;
use crate::data::load::{LoadControl, load};
use crate::data::sniff::ImportOptions;

/// Templates that other hands have not described yet: none of those that are.
const NOT_YET: &[&str] = &[
    "linear",
    "poisson",
    "negative-binomial",
    "student",
    "mixed",
    "hierarchical",
    "dp-mixture",
    "gaussian-mixture",
    "multivariate-t",
    "normal-gamma",
    "normal-mean",
    "warped-gaussian",
];

fn describe(
    template: &str,
    formula: &str,
    priors: &[(&str, &str)],
    standardize: bool,
) -> Elsewhere {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    let text = "y,x,plan,n,e\nno,1,a,2,0.5\nyes,3,b,4,1\nno,5,a,3,2\nyes,7,b,2,1\nno,9,a,5,1\nyes,2,a,1,4\n";
    std::fs::write(&path, text).unwrap();
    let loaded = load(&path, &ImportOptions::default(), &LoadControl::default()).unwrap();
    let entry = models::find(template).unwrap();
    let formula: Formula = formula.parse().unwrap();
    let frame = ModelFrame {
        formula: formula.clone(),
        response_use: entry.response_use(&Default::default()),
        success: None,
        levels: Vec::new(),
        references: Default::default(),
        categorical: Default::default(),
        standardize,
        shuffle_seed: 1,
    };
    let (design, _) = Design::build(&loaded.table, &frame).unwrap();
    let options = ModelOptions {
        priors: priors
            .iter()
            .map(|(key, text)| ((*key).to_owned(), (*text).to_owned()))
            .collect(),
        standardize,
        settings: entry.resolve(&Default::default()).unwrap(),
        ..ModelOptions::default()
    };
    let design = std::sync::Arc::new(design);
    let model = (entry.build)(std::sync::Arc::clone(&design), &options).unwrap();
    (entry.elsewhere)(&Context {
        design: &design,
        formula: &formula,
        options: &options,
        params: model.params(),
    })
    .unwrap()
}

fn has(text: &str, lines: &[&str]) {
    for line in lines {
        assert!(
            text.lines().any(|found| found.trim() == *line),
            "`{line}` is not in\n{text}"
        );
    }
}

#[test]
fn every_template_is_described_or_known_to_lack_it() {
    for entry in REGISTRY {
        let id = entry.spec.id;
        if NOT_YET.contains(&id) {
            continue;
        }
        let formula = if id == "categorical" {
            "plan ~ 1"
        } else {
            "y ~ x"
        };
        let all = describe(id, formula, &[], true);
        assert!(all.words.ends_with('.'), "{id}");
        assert!(!all.equation.is_empty(), "{id}");
        assert!(
            all.stan.is_ok() || all.stan.as_ref().unwrap_err().len() > 10,
            "{id}"
        );
    }
}

#[test]
fn priors_of_standardised_predictors_hold_for_z_in_stan_and_are_divided_in_brms() {
    let all = describe(
        "logistic",
        "y ~ x + plan",
        &[("b[x]", "laplace(1, 2)")],
        true,
    );
    let stan = all.stan.unwrap();
    // x has mean 4.5 and population variance (12.25 + 2.25 + 0.25 + 6.25 + 20.25 + 6.25)/6.
    let sd = (47.5_f64 / 6.0).sqrt();
    has(
        &stan,
        &[
            "matrix[N, 2] x;  // x, plan=b",
            "array[N] int<lower=0, upper=1> y;  // 1 where y is yes",
            &format!(
                "row_vector[2] scale = [{}, {}];",
                number(sd),
                number((2.0_f64 / 9.0).sqrt())
            ),
            "matrix[N, 2] z = (x - rep_matrix(centre, N)) ./ rep_matrix(scale, N);",
            "vector[N] eta = alpha + z * beta;",
            "alpha ~ normal(0, 10);",
            "beta[1] ~ double_exponential(1, 2);",
            "beta[2] ~ normal(0, 10);",
            "y ~ bernoulli_logit(eta);",
            "vector[2] b = beta ./ scale';  // per unit of the columns of x",
            "real b_Intercept = alpha - centre * b;  // at x = 0",
        ],
    );
    let brms = all.brms.unwrap();
    has(
        &brms,
        &[
            "data$y <- as.integer(data$y == \"yes\")",
            "data$plan <- relevel(factor(data$plan), ref = \"a\")",
            "y ~ x + plan,",
            "data = data, family = bernoulli(),",
            "set_prior(\"normal(0, 10)\", class = \"Intercept\"),",
            &format!(
                "set_prior(\"double_exponential({}, {})\", class = \"b\", coef = \"x\"),",
                number(1.0 / sd),
                number(2.0 / sd)
            ),
        ],
    );
    assert!(brms.contains("coef = \"planb\""), "{brms}");
    assert!(
        all.equation.contains("b[x] × sd(x) ~ laplace(1, 2)"),
        "{}",
        all.equation
    );
}

#[test]
fn raw_priors_flat_priors_trials_weights_and_offsets_are_said() {
    let all = describe(
        "logistic",
        "n | trials(8) + weights(e) ~ x + offset(e)",
        &[("b", "flat")],
        false,
    );
    let stan = all.stan.unwrap();
    has(
        &stan,
        &[
            "array[N] int<lower=0> y;  // successes: n",
            "array[N] int<lower=1> trials;",
            "vector[N] eta = alpha + x * beta + offset_;",
            "// beta: flat",
            "target += weight[i] * binomial_logit_lpmf(y[i] | trials[i], eta[i]);",
            "real b_Intercept = alpha;  // at x = 0",
        ],
    );
    assert!(!stan.contains("transformed data"));
    let brms = all.brms.unwrap();
    assert!(brms.contains("~ 0 + Intercept + x"), "{brms}");
    assert!(
        brms.contains("class = \"b\", coef = \"Intercept\""),
        "{brms}"
    );
    assert!(!brms.contains("coef = \"x\""), "{brms}");
    assert!(brms.contains("family = binomial()"), "{brms}");
}

#[test]
fn an_intercept_alone_and_no_intercept_are_programs_too() {
    let alone = describe("logistic", "y ~ 1", &[], true).stan.unwrap();
    has(
        &alone,
        &[
            "vector[N] eta = rep_vector(alpha, N);",
            "real b_Intercept = alpha;  // at x = 0",
        ],
    );
    assert!(!alone.contains("beta") && !alone.contains("matrix"));
    let none = describe("logistic", "y ~ 0 + x", &[], true).stan.unwrap();
    assert!(!none.contains("alpha"), "{none}");
    has(
        &none,
        &["row_vector[1] centre = [0];", "vector[N] eta = z * beta;"],
    );
}

#[test]
fn probabilities_of_categories_are_a_dirichlet_in_stan_and_not_in_brms() {
    let all = describe("categorical", "plan ~ 1", &[("p[b]", "dirichlet(2)")], true);
    has(
        &all.stan.unwrap(),
        &[
            "array[2] int<lower=0> n;  // rows of a, b",
            "p ~ dirichlet([0.1, 2]');",
            "n ~ multinomial(p);",
        ],
    );
    assert!(all.brms.unwrap_err().contains("Dirichlet"));
}

#[test]
fn priors_are_divided_and_named() {
    assert_eq!(divided("normal(1, 10)", 4.0), "normal(0.25, 2.5)");
    assert_eq!(
        divided("student_t(3, 0, 2.5)", 2.0),
        "student_t(3, 0, 1.25)"
    );
    assert_eq!(divided("flat", 2.0), "flat");
    assert_eq!(
        brms_name("plan=plus:age"),
        ("planplus:age".to_owned(), true)
    );
    assert_eq!(brms_name("log(x)"), ("logx".to_owned(), false));
}
