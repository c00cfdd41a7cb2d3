//! Descriptions of small designs, read line by line.

use super::super::{ModelOptions, REGISTRY};
use super::{super as models, *};
use crate::design::{ModelFrame, ResponseUse};
use crate::testing::tables::read_csv;
use ergodic_base::settings::{Settings, Value};

mod multinomial;
mod ordinal;
mod reference;

const SMALL: &str =
    "y,x,plan,n,e\nno,1,a,2,0.5\nyes,3,b,4,1\nno,5,a,3,2\nyes,7,b,2,1\nno,9,a,5,1\nyes,2,a,1,4\n";

/// A model of `data` and how it is written down; `settings` are those of the template.
fn described(
    data: &str,
    template: &str,
    formula: &str,
    priors: &[(&str, &str)],
    settings: &[(&str, Value)],
    standardize: bool,
) -> (Translation, std::sync::Arc<dyn models::Model>) {
    described_with_levels(
        data,
        (template, formula, &[]),
        priors,
        settings,
        standardize,
    )
}

/// A model described where levels of the outcome are named.
fn described_with_levels(
    data: &str,
    (template, formula, levels): (&str, &str, &[&str]),
    priors: &[(&str, &str)],
    settings: &[(&str, Value)],
    standardize: bool,
) -> (Translation, std::sync::Arc<dyn models::Model>) {
    let table = read_csv(data);
    let entry = models::find(template).unwrap();
    let formula: Formula = formula.parse().unwrap();
    let mut given = Settings::default();
    for (key, value) in settings {
        given.set(key, value.clone());
    }
    let settings = entry.resolve(&given).unwrap();
    let frame = ModelFrame {
        formula: formula.clone(),
        response_use: (entry.spec.response)(&settings),
        success: None,
        levels: levels.iter().map(|level| (*level).to_owned()).collect(),
        references: Default::default(),
        top_levels: Default::default(),
        categorical: Default::default(),
        standardize,
        shuffle_seed: 1,
        held_out: Vec::new(),
    };
    let (design, _) = Design::build(&table, &frame).unwrap();
    let options = ModelOptions {
        priors: priors
            .iter()
            .map(|(key, text)| ((*key).to_owned(), (*text).to_owned()))
            .collect(),
        standardize,
        settings,
        ..ModelOptions::default()
    };
    let design = std::sync::Arc::new(design);
    let model = (entry.build)(std::sync::Arc::clone(&design), &options).unwrap();
    let all = (entry.translate)(&Context {
        design: &design,
        formula: &formula,
        options: &options,
        params: model.params(),
    });
    (all.unwrap(), model)
}

/// Coordinates of a model of ordered levels at those of its Stan program: there cut points stand before coefficients, here the first of
/// them with the other sign, and the logarithms of gaps behind coefficients. Scales and effects follow.
fn with_cut_points(stan: &[f64], cuts: usize, coefficients: usize) -> Vec<f64> {
    let (cuts, rest) = stan.split_at(cuts);
    let (coefficients, rest) = rest.split_at(coefficients);
    [&[-cuts[0]], coefficients, &cuts[1..], rest].concat()
}

fn describe(
    template: &str,
    formula: &str,
    priors: &[(&str, &str)],
    standardize: bool,
) -> Translation {
    described(SMALL, template, formula, priors, &[], standardize).0
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
fn every_template_is_described() {
    for entry in REGISTRY {
        let id = entry.spec.id;
        let formula = match (id, entry.response_use(&Settings::default())) {
            ("mixed", _) => "n ~ x + (1 + x | plan)",
            ("hierarchical", _) => "y ~ x + (1 + x | plan)",
            ("topics", _) => "~ plan + (1 | y)",
            ("factorization", _) => "n ~ (1 | plan) + (1 | y)",
            (_, ResponseUse::Outcome) => "y ~ x + plan",
            (_, ResponseUse::Categories) => "plan ~ 1",
            (_, ResponseUse::Absent) => "~ x + e",
            _ if entry.group == models::EXAMPLES => "x ~ 1",
            _ => "n ~ x + plan",
        };
        let all = describe(id, formula, &[], true);
        assert!(
            all.words.ends_with('.') && all.words.len() > 100,
            "{id}: {}",
            all.words
        );
        assert!(!all.words.contains("  "), "{id}: {}", all.words);
        assert!(
            all.equation.ends_with("i = 1 … 6"),
            "{id}: {}",
            all.equation
        );
        let stan = all.stan.unwrap();
        let blocks: Vec<&str> = stan
            .lines()
            .filter(|line| !line.starts_with([' ', '/', '}']))
            .collect();
        assert!(
            blocks.contains(&"data {") && blocks.contains(&"model {"),
            "{id}: {stan}"
        );
        match all.brms {
            Ok(code) => assert!(code.contains("fit <- brm("), "{id}: {code}"),
            Err(why) => {
                let why = why.to_string();
                assert!(why.contains("brms") && why.len() > 40, "{id}: {why}");
            }
        }
    }
}

#[test]
fn equations_of_mixtures_have_a_known_concentration_and_their_own_spreads() {
    for (covariance, theta) in [
        ("diagonal", "theta[i] = (mean, variance)[i] ~ G"),
        ("full", "theta[i] = (mean, Sigma)[i] ~ G"),
    ] {
        let settings = [("covariance", Value::Text(covariance.to_owned()))];
        let priors = [("alpha", "constant(1.5)")];
        let (all, _) = described(SMALL, "dp-mixture", "~ x + e", &priors, &settings, true);
        has(&all.equation, &["alpha = 1.5", theta]);
    }
}

/// Means and standard deviations of ratings are read by people, so that they have few digits.
#[test]
fn ratings_are_told_with_few_digits() {
    // Of n, 17/6; the known precision is 3.
    let all = describe("factorization", "n ~ (1 | plan) + (1 | y)", &[], true);
    for words in [
        " its mean 2.833,",
        "precision 3 (standard deviation 0.5774)",
    ] {
        assert!(all.words.contains(words), "{}", all.words);
    }
}

/// The means over groups are one vector: their covariance is a share of that between groups.
#[test]
fn means_over_groups_have_one_relation() {
    for (priors, expected) in [
        (
            &[][..],
            "mu ~ multi_normal(0, Sigma/0.01), mu = (mu[Intercept], mu[x])",
        ),
        (
            &[("mu[x]", "normal(1.5)")],
            "mu ~ multi_normal((0, 1.5), Sigma/0.01), mu = (mu[Intercept], mu[x])",
        ),
    ] {
        let all = describe("hierarchical", "y ~ x + (1 + x | plan)", priors, true);
        has(&all.equation, &[expected]);
        assert!(!all.equation.contains("mu[x] ~"), "{}", all.equation);
    }
}

/// Rows of units that a mixture holds out are not told of as used.
#[test]
fn rows_that_a_mixture_holds_out_are_not_used() {
    let settings = [("held_out", Value::Real(0.34))];
    let (all, _) = described(SMALL, "dp-mixture", "~ x + e", &[], &settings, true);
    for sentence in [
        "The 4 rows fall into clusters",
        " 2 more are held out to see how well they are predicted.",
        " All 4 rows that are not among the 2 held out are used.",
    ] {
        assert!(all.words.contains(sentence), "{}", all.words);
    }
}

/// The lines of an equation that say what columns are centred and scaled.
fn scaling_lines(all: &Translation) -> Vec<&str> {
    let lines = all.equation.lines();
    lines.filter(|line| line.starts_with("with ")).collect()
}

#[test]
fn equations_of_networks_say_that_inputs_are_scaled() {
    let data = "r,x\nred,0\nblue,1\ngreen,2\nblue,0\ngreen,1\nred,2\n";
    let scaled = "with predictors centred and scaled to standard deviation 1";
    for (formula, standardize, expected) in [
        ("r ~ x", true, &[scaled][..]),
        ("r ~ x", false, &[]),
        ("r ~ 1", true, &[]),
    ] {
        let (all, _) = described(data, "neural-net", formula, &[], &[], standardize);
        assert_eq!(scaling_lines(&all), expected, "{formula} {standardize}");
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
    let same = "y,x,c\n1.5,1,4\n2,3,4\n4,5,4\n3,2,4\n";
    let (all, _) = described(same, "linear", "y ~ x + c", &[], &[], true);
    let said = "All 4 rows are used. `c` is the same in all of them and left out of the model.";
    assert!(all.words.ends_with(said), "{}", all.words);
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
    assert!(all.brms.unwrap_err().to_string().contains("Dirichlet"));
}

#[test]
fn a_response_of_numbers_is_standardised_in_stan_and_its_priors_stretched_in_brms() {
    let priors = [("sigma", "half_normal(2)"), ("b", "flat")];
    let all = describe("linear", "n ~ x + offset(e)", &priors, true);
    let stan = all.stan.unwrap();
    // n less e is 1.5, 3, 1, 1, 4, -3.
    let mean = 1.25_f64;
    let sd = ((2.25 + 9.0 + 1.0 + 1.0 + 16.0 + 9.0) / 6.0 - mean * mean).sqrt();
    let found = |start: &str| {
        let line = stan
            .lines()
            .find_map(|line| line.trim().strip_prefix(start));
        line.unwrap().trim_end_matches(';').parse::<f64>().unwrap()
    };
    assert!((found("real y_centre = ") - mean).abs() < 1e-12);
    assert!((found("real y_scale = ") - sd).abs() < 1e-12);
    has(
        &stan,
        &[
            "// mean and population standard deviation of y - offset_",
            "vector[N] eta = y_centre + y_scale * (alpha + z * beta) + offset_;",
            "real<lower=0> sigma_std;  // residual scale, in y_scale",
            "sigma_std ~ normal(0, 2);",
            "y ~ normal(eta, y_scale * sigma_std);",
            "real b_Intercept = y_centre + y_scale * alpha - centre * b;  // at x = 0",
            "real sigma = y_scale * sigma_std;",
        ],
    );
    has(
        &all.equation,
        &[
            "n[i] ~ normal(eta[i], sigma)",
            "b[x] has a flat prior",
            "sigma / sd(n − offset) ~ half_normal(2)",
        ],
    );
    let brms = all.brms.unwrap();
    let value = |start: &str| {
        let at = brms.find(start).unwrap() + start.len();
        let end = brms[at..].find(')').unwrap();
        brms[at..at + end].parse::<f64>().unwrap()
    };
    assert!(
        (value("set_prior(\"normal(0, ") - 2.0 * sd).abs() < 1e-12,
        "{brms}"
    );
    assert!(
        (value(&format!(
            "set_prior(\"normal({}, ",
            number(found("real y_centre = "))
        )) - 10.0 * sd)
            .abs()
            < 1e-12
    );
}

#[test]
fn groups_are_a_cholesky_factor_in_stan_and_lkj_in_brms() {
    let priors = [("cor", "lkj(3)"), ("sd[plan,x]", "flat")];
    let family = [("family", Value::Text("poisson".to_owned()))];
    let (all, _) = described(
        SMALL,
        "mixed",
        "n ~ x + (1 + x | plan)",
        &priors,
        &family,
        true,
    );
    has(
        &all.stan.unwrap(),
        &[
            "vector<lower=0>[2] tau_1;  // standard deviations between groups",
            "cholesky_factor_corr[2] L_1;",
            "tau_1[1] ~ student_t(3, 0, 2.5);",
            "// tau_1[2]: flat",
            "L_1 ~ lkj_corr_cholesky(3);",
            "vector[N] eta = alpha + z * beta + rows_dot_product(ws_1, effect_1[group_1]);",
            "y ~ poisson_log(eta);",
        ],
    );
    has(
        &all.brms.unwrap(),
        &[
            "n ~ x + (1 + x | plan),",
            "set_prior(\"student_t(3, 0, 2.5)\", class = \"sd\", group = \"plan\", coef = \"Intercept\"),",
            "set_prior(\"\", class = \"sd\"),",
            "set_prior(\"lkj(3)\", class = \"cor\", group = \"plan\")",
        ],
    );
    assert!(
        all.words.contains(
            "Between the 2 groups of `plan` the intercept and the coefficient of `x` vary normally"
        ),
        "{}",
        all.words
    );
    has(
        &all.equation,
        &[
            "r[plan,g] ~ multi_normal(0, D R D), D = diag(sd[plan]), R = cor[plan], for all groups g of plan",
            "sd[plan,x] has a flat prior",
            "cor[plan] ~ lkj(3)",
        ],
    );
}

/// A grouping that is called as its groups usually are has another letter for these.
#[test]
fn the_letter_of_a_group_is_not_the_name_of_the_grouping() {
    let data = SMALL.replacen("plan", "g", 1);
    for (template, formula, line) in [
        (
            "mixed",
            "n ~ x + (1 | g)",
            "r[g,j,Intercept] ~ normal(0, sd[g,Intercept]) for all groups j of g",
        ),
        (
            "hierarchical",
            "y ~ x + (1 + x | g)",
            "theta[j] ~ multi_normal(mu, Sigma) for all groups j of g",
        ),
    ] {
        let (all, _) = described(&data, template, formula, &[], &[], true);
        has(&all.equation, &[line]);
    }
}

#[test]
fn a_gamma_response_has_shape_and_rate_in_stan_and_shape_in_brms() {
    let family = [("family", Value::Text("gamma".to_owned()))];
    let (all, _) = described(
        SMALL,
        "mixed",
        "n | weights(e) ~ x + (1 | plan)",
        &[],
        &family,
        true,
    );
    has(
        &all.stan.unwrap(),
        &[
            "vector<lower=0>[N] y;  // n",
            "real<lower=0> shape;  // shape of the gamma distribution",
            "shape ~ lognormal(2, 2);",
            "target += weight[i] * gamma_lpdf(y[i] | shape, shape * exp(-eta[i]));",
        ],
    );
    has(
        &all.brms.unwrap(),
        &[
            "data = data, family = Gamma(link = \"log\"),",
            "set_prior(\"lognormal(2, 2)\", class = \"shape\"),",
        ],
    );
    assert!(
        all.words
            .contains("`n` has a gamma distribution, whose variance is mean²/`shape`."),
        "{}",
        all.words
    );
}

#[test]
fn lognormal_weibull_and_beta_responses_are_those_of_stan_and_brms() {
    for (family, response, statement, parameter, brms) in [
        (
            "lognormal",
            "n",
            "y ~ lognormal(eta, sigma);",
            "sigma",
            "lognormal()",
        ),
        (
            "weibull",
            "n",
            "y ~ weibull(shape, exp(eta - lgamma(1 + 1 / shape)));",
            "shape",
            "weibull()",
        ),
        (
            "beta",
            "share",
            "y ~ beta_proportion(inv_logit(eta), phi);",
            "phi",
            "Beta()",
        ),
    ] {
        let settings = [("family", Value::Text(family.to_owned()))];
        let formula = format!("{response} ~ x + (1 | plan)");
        let shares: String = SMALL
            .lines()
            .enumerate()
            .map(|(i, line)| match i {
                0 => format!("{line},share\n"),
                i => format!("{line},{}\n", 0.1 + 0.8 / (1.0 + i as f64)),
            })
            .collect();
        let (all, _) = described(&shares, "mixed", &formula, &[], &settings, true);
        let (stan, brms_code) = (all.stan.unwrap(), all.brms.unwrap());
        has(&stan, &[statement]);
        assert!(
            stan.contains(&format!("real<lower=0> {parameter};  // ")),
            "{stan}"
        );
        for part in [
            format!("family = {brms},"),
            format!("class = \"{parameter}\""),
        ] {
            assert!(brms_code.contains(&part), "{brms_code}");
        }
    }
}

#[test]
fn censored_rows_are_a_function_of_stan_and_an_addition_of_brms() {
    let data: String = SMALL
        .lines()
        .zip(["d", "0", "1", "0", "-1", "0", "1"])
        .map(|(line, status)| format!("{line},{status}\n"))
        .collect();
    for (family, arguments) in [
        (
            "weibull",
            "shape, exp(eta[i] - lgamma(1 + 1 / shape)), status[i]",
        ),
        ("lognormal", "eta[i], sigma, status[i]"),
    ] {
        let settings = [("family", Value::Text(family.to_owned()))];
        let formula = "n | cens(d) ~ x + (1 | plan)";
        let (all, _) = described(&data, "mixed", formula, &[], &settings, true);
        let (stan, brms) = (all.stan.unwrap(), all.brms.unwrap());
        has(
            &stan,
            &[
                &format!("real {family}_censored_lpdf(real y, real a, real b, int status) {{"),
                &format!("return {family}_lccdf(y | a, b);"),
                &format!("return {family}_lcdf(y | a, b);"),
                "array[N] int<lower=-1, upper=1> status;  // 0: y was seen; 1: it is larger; -1: it is smaller",
                &format!("target += {family}_censored_lpdf(y[i] | {arguments});"),
            ],
        );
        for part in ["n | cens(d) ~", &format!("family = {family}()")] {
            assert!(brms.contains(part), "{brms}");
        }
        assert!(!brms.contains("library(splines)"), "{brms}");
        assert!(
            all.words.contains("A censored row says only"),
            "{}",
            all.words
        );
    }
}

#[test]
fn priors_are_moved_and_named() {
    assert_eq!(moved("normal(1, 10)", 0.25, 0.0), "normal(0.25, 2.5)");
    assert_eq!(moved("laplace(0, 1)", 2.0, 3.0), "double_exponential(3, 2)");
    assert_eq!(
        moved("student_t(3, 0, 2.5)", 0.5, 0.0),
        "student_t(3, 0, 1.25)"
    );
    assert_eq!(
        stretched("half_student_t(3, 0, 2)", 2.0),
        "student_t(3, 0, 4)"
    );
    assert_eq!(stretched("exponential(1)", 2.0), "exponential(0.5)");
    assert_eq!(stan_text("half_cauchy(2)"), "student_t(1, 0, 2)");
    assert_eq!(
        brms_name("plan=plus:age"),
        ("planplus:age".to_owned(), true)
    );
    assert_eq!(brms_name("log(x)"), ("logx".to_owned(), false));
}

#[test]
fn zero_inflated_counts_are_a_function_of_stan_and_a_family_of_brms() {
    for (family, declared, statement, brms) in [
        (
            "zero_inflated_poisson",
            "real zero_inflated_poisson_log_lpmf(int y, real eta, real zi) {",
            "target += zero_inflated_poisson_log_lpmf(y[i] | eta[i], zi);",
            "zero_inflated_poisson()",
        ),
        (
            "zero_inflated_negative_binomial",
            "real zero_inflated_neg_binomial_2_log_lpmf(int y, real eta, real shape, real zi) {",
            "target += zero_inflated_neg_binomial_2_log_lpmf(y[i] | eta[i], shape, zi);",
            "zero_inflated_negbinomial()",
        ),
    ] {
        let settings = [("family", Value::Text(family.to_owned()))];
        let (all, _) = described(SMALL, "mixed", "n ~ x + (1 | plan)", &[], &settings, true);
        let (stan, brms_code) = (all.stan.unwrap(), all.brms.unwrap());
        let real = "real<lower=0, upper=1> zi;  // chance of an extra zero";
        has(
            &stan,
            &["functions {", declared, real, "zi ~ beta(1, 1);", statement],
        );
        for part in [
            &*format!("family = {brms},"),
            "set_prior(\"beta(1, 1)\", class = \"zi\")",
        ] {
            assert!(brms_code.contains(part), "{brms_code}");
        }
        assert!(
            all.words.contains("With chance `zi` `n` is 0"),
            "{}",
            all.words
        );
    }
}
