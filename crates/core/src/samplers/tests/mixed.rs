//! Template `mixed` sampled by NUTS, against posteriors of numpyro for the same data (`tests/reference/mixed.py`).

use std::path::Path;
use std::sync::Arc;

use super::regression::{read, reported_by};
use crate::design::ResponseUse;
use crate::models::mixed::Mixed;
use crate::models::{Model, ModelOptions};
use crate::samplers::groups::mixed::testing::Moments;
use crate::samplers::testing::{Run, assert_moments_near};
use crate::testing::tables::{load_csv, reference};
use crate::testing::{built, table_of};
use ergodic_base::settings::{Settings, Value};

/// A posterior that numpyro sampled too.
#[derive(Clone, Copy)]
struct Posterior {
    /// What the reference calls it.
    name: &'static str,
    family: &'static str,
    formula: &'static str,
    response: ResponseUse,
    priors: &'static [(&'static str, &'static str)],
    standardize: bool,
}

const GAUSSIAN: Posterior = Posterior {
    name: "gaussian",
    family: "gaussian",
    formula: "reaction ~ x + (1 + x | g)",
    response: ResponseUse::Number,
    priors: &[],
    standardize: true,
};
const BERNOULLI: Posterior = Posterior {
    name: "bernoulli",
    family: "bernoulli",
    formula: "ill ~ x + (1 | g)",
    response: ResponseUse::Outcome,
    priors: &[],
    standardize: true,
};
const POISSON: Posterior = Posterior {
    name: "poisson",
    family: "poisson",
    formula: "calls ~ x + (1 | g) + (1 | h)",
    response: ResponseUse::Count,
    priors: &[],
    standardize: true,
};
/// Counts that vary more, with correlated slopes.
const NEGATIVE_BINOMIAL: Posterior = Posterior {
    name: "negative_binomial",
    family: "negative_binomial",
    formula: "visits ~ x + (1 + x | g)",
    response: ResponseUse::Count,
    priors: &[],
    standardize: true,
};
/// Nested groups and priors other than the defaults.
const SCALED: Posterior = Posterior {
    name: "scaled",
    family: "gaussian",
    formula: "y ~ x + w + (1 + x | g) + (1 | h)",
    response: ResponseUse::Number,
    priors: &[
        ("intercept", "normal(0, 1)"),
        ("b", "laplace(0.1, 0.05)"),
        ("sd", "exponential(3)"),
        ("cor", "lkj(2.5)"),
        ("sigma", "lognormal(-1, 0.3)"),
    ],
    standardize: true,
};
/// Data and reference: 12 groups of 8 rows.
const SMALL: &str = "mixed";
/// 10 groups of 300 rows.
const TALL: &str = "mixed_tall";
/// 10 groups of counts, crossed with 5 others.
const TALL_COUNTS: &str = "mixed_counts";
/// 6 groups of 3 classes of 5 rows.
const NESTED: &str = "mixed_nested";

/// Of a reference: model, variable, mean, its error, sd.
type Row = (String, String, f64, f64, f64);

/// A file of tests/reference.
fn file(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

impl Posterior {
    fn model(self, set: &str) -> Arc<dyn Model> {
        let data = file(&format!("{set}_data.csv"));
        let (names, rows) = read(&data);
        // Names of groups end in their numbers.
        let column = |j: usize| {
            let number = |row: &Vec<&str>| row[j].trim_start_matches('g').parse().unwrap();
            rows.iter().map(number).collect()
        };
        let columns = names.into_iter().enumerate();
        let table = table_of(columns.map(|(j, name)| (name, column(j))).collect());
        let mut settings = Settings::default();
        settings.set("family", Value::Text(self.family.to_owned()));
        let options = ModelOptions {
            settings,
            priors: self
                .priors
                .iter()
                .map(|&(key, text)| (key.into(), text.into()))
                .collect(),
            standardize: self.standardize,
            ..ModelOptions::default()
        };
        built::<Mixed>(&table, self.formula, self.response, &options).unwrap()
    }

    /// Place among the model's quantities, name, mean, its error, and sd, of every row of the reference.
    fn expected(self, model: &dyn Model, set: &str) -> Vec<(usize, String, [f64; 3])> {
        let text = file(&format!("{set}.csv"));
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let rows = reader.deserialize::<Row>().map(Result::unwrap);
        let found: Vec<_> = rows
            .filter(|row| row.0 == self.name)
            .map(|(_, name, mean, error, sd)| {
                let j = model.params().iter().position(|param| param.name == name);
                let j = j.unwrap_or_else(|| panic!("{} has no {name}", self.name));
                (j, name, [mean, error, sd])
            })
            .collect();
        assert!(found.len() > 4);
        found
    }

    /// Within Monte Carlo errors.
    fn agrees(self, run: &Run, set: &str, chains: u64, draws: usize) {
        let model = self.model(set);
        let draws = reported_by(run, &model, chains, draws);
        for (j, name, [mean, error, sd]) in self.expected(model.as_ref(), set) {
            let series: Vec<Vec<f64>> = draws.iter().map(|chain| chain[j].clone()).collect();
            let what = format!("{} {} {name}", run.id(), self.name);
            assert_moments_near(&what, &series, mean, error, sd);
        }
    }

    /// Means within `bound` standard deviations and standard deviations within that share, Monte Carlo errors apart.
    fn is_near(self, run: &Run, set: &str, draws: usize, bound: f64) {
        let model = self.model(set);
        let found = reported_by(run, &model, 2, draws);
        for (j, name, [mean, error, sd]) in self.expected(model.as_ref(), set) {
            let series: Vec<Vec<f64>> = found.iter().map(|chain| chain[j].clone()).collect();
            let expected = Moments {
                mean: (mean, error),
                sd: (sd, error),
            };
            let what = format!("{} {} {name}", run.id(), self.name);
            Moments::of(&series).assert_near(&expected, bound, bound, &what);
        }
    }

    /// Fails unless moments are within `bound`, with so many draws that Monte Carlo errors do not matter; prints the largest
    /// deviations.
    fn is_within(self, run: &Run, set: &str, draws: usize, bound: f64) {
        let model = self.model(set);
        let found = reported_by(run, &model, 4, draws);
        let (mut shifts, mut ratios) = (Vec::new(), Vec::new());
        for (j, name, [mean, _error, sd]) in self.expected(model.as_ref(), set) {
            let series: Vec<Vec<f64>> = found.iter().map(|chain| chain[j].clone()).collect();
            let moments = Moments::of(&series);
            shifts.push(((moments.mean.0 - mean) / sd, name.clone()));
            ratios.push((moments.sd.0 / sd - 1.0, name));
        }
        for (what, mut values) in [("mean", shifts), ("sd", ratios)] {
            values.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
            let (largest, name) = &values[0];
            let (id, family) = (run.id(), self.name);
            println!("{id}, {family}: {what} of {name} off by {largest:.4}");
            assert!(
                largest.abs() < bound,
                "{id} {family} {what} {name} {largest}"
            );
        }
    }
}

#[test]
fn correlated_slopes_of_a_gaussian_response_are_those_of_numpyro() {
    GAUSSIAN.agrees(&Run::new("nuts"), SMALL, 2, 1500);
    GAUSSIAN.agrees(&Run::new("gibbs-mixed"), SMALL, 2, 5000);
}

/// The conditional distributions of lognormal rows are those of their logarithms: both samplers know the posterior.
#[test]
#[ignore = "long: run by .ci/long"]
fn gibbs_draws_lognormal_rows_as_nuts_does() {
    let posterior = Posterior {
        name: "lognormal",
        family: "lognormal",
        formula: "lognormal ~ x + (1 + x | g)",
        response: ResponseUse::Number,
        priors: &[],
        standardize: true,
    };
    let model = posterior.model("families");
    let [nuts, gibbs] = [("nuts", 5000), ("gibbs-mixed", 8000)]
        .map(|(id, draws)| reported_by(&Run::new(id), &model, 2, draws));
    for (j, param) in model.params().iter().enumerate() {
        let of = |draws: &[Vec<Vec<f64>>]| -> Vec<Vec<f64>> {
            draws.iter().map(|chain| chain[j].clone()).collect()
        };
        let Moments { mean, sd } = Moments::of(&of(&nuts));
        assert_moments_near(&param.name, &of(&gibbs), mean.0, mean.1, sd.0);
    }
}

/// Against the posterior that `censoring.R` integrates on a grid.
#[test]
fn posteriors_of_censored_outcomes_are_those_of_a_grid() {
    let table = load_csv(&reference("censoring_data.csv"));
    let text = file("censoring_r.csv");
    for (family, parameter) in [("weibull", "shape"), ("lognormal", "sigma")] {
        let mut settings = Settings::default();
        settings.set("family", Value::Text(family.to_owned()));
        let priors = [
            ("intercept", "normal(0, 2.5)"),
            (parameter, "lognormal(0.5, 1)"),
        ];
        let options = ModelOptions {
            settings,
            priors: priors
                .iter()
                .map(|&(key, text)| (key.into(), text.into()))
                .collect(),
            ..ModelOptions::default()
        };
        let formula = format!("{family} | cens(s_{family}) ~ 1");
        let model = built::<Mixed>(&table, &formula, ResponseUse::Number, &options).unwrap();
        let draws = reported_by(&Run::new("nuts"), &model, 2, 3000);
        for (j, name) in ["intercept", "parameter"].into_iter().enumerate() {
            let expected = |end: &str| {
                let name = format!("{family}:posterior:{name}{end},");
                let line = text.lines().find_map(|line| line.strip_prefix(&*name));
                line.unwrap().parse::<f64>().unwrap()
            };
            let of: Vec<Vec<f64>> = draws.iter().map(|chain| chain[j].clone()).collect();
            let name = &model.params()[j].name;
            assert_moments_near(name, &of, expected(""), 0.0, expected("_sd"));
        }
    }
}

#[test]
fn intercepts_of_a_yes_no_response_are_those_of_numpyro() {
    // Effects of groups that are all yes have heavy tails: their variances need many draws.
    BERNOULLI.agrees(&Run::new("nuts"), SMALL, 2, 12_000);
}

#[test]
#[ignore = "long: run by .ci/long"]
fn crossed_intercepts_of_counts_are_those_of_numpyro() {
    // The spread of five groups has a heavy tail too.
    POISSON.agrees(&Run::new("nuts"), SMALL, 2, 12_000);
}

/// Groups of many rows, by minibatches of their rows.
#[test]
fn fisher_scoring_within_gibbs_is_near_numpyro() {
    for posterior in [GAUSSIAN, BERNOULLI] {
        let run = Run::new("gibbs-mixed-osgfs");
        posterior.is_near(&run, TALL, 2500, 0.1);
    }
}

#[test]
fn fisher_scoring_within_gibbs_is_near_numpyro_for_poisson_counts() {
    POISSON.is_near(&Run::new("gibbs-mixed-osgfs"), TALL_COUNTS, 2500, 0.1);
}

#[test]
fn fisher_scoring_within_gibbs_is_near_numpyro_for_negative_binomial_counts() {
    NEGATIVE_BINOMIAL.is_near(&Run::new("gibbs-mixed-osgfs"), TALL_COUNTS, 2500, 0.1);
}

/// What is required of exact samplers: means within 0.05 standard deviations, standard deviations within 5 %, with so many
/// draws that Monte Carlo errors are small against that.
mod within_five_percent_of_numpyro {
    use super::*;

    #[test]
    #[ignore = "long: run by .ci/long"]
    fn nuts_for_numbers() {
        GAUSSIAN.is_within(&Run::new("nuts"), SMALL, 3000, 0.05);
    }

    #[test]
    fn gibbs_for_numbers() {
        GAUSSIAN.is_within(&Run::new("gibbs-mixed"), SMALL, 12_000, 0.05);
    }

    #[test]
    #[ignore = "long: run by .ci/long"]
    fn nuts_for_two_values() {
        BERNOULLI.is_within(&Run::new("nuts"), SMALL, 3000, 0.05);
    }

    #[test]
    #[ignore = "long: run by .ci/long"]
    fn nuts_for_counts() {
        POISSON.is_within(&Run::new("nuts"), SMALL, 3000, 0.05);
    }
}

/// Exact samplers within 0.05 standard deviations and 5 %, OSGFS within Gibbs within 0.1 and 10 %. Measured, largest over
/// all quantities, mean in standard deviations and standard deviation: `gibbs-mixed` 0.012 and 0.8 % for groups of 8 rows,
/// 0.011 and 3.5 % for groups of 300.
#[test]
#[ignore = "long: run by .ci/long"]
fn long_chains_agree_with_numpyro_to_five_percent() {
    GAUSSIAN.is_within(&Run::new("gibbs-mixed"), SMALL, 40_000, 0.05);
    GAUSSIAN.is_within(&Run::new("gibbs-mixed"), TALL, 40_000, 0.05);
    SCALED.is_within(&Run::new("gibbs-mixed"), NESTED, 40_000, 0.05);
    for posterior in [GAUSSIAN, BERNOULLI] {
        posterior.is_within(&Run::new("gibbs-mixed-osgfs"), TALL, 60_000, 0.1);
    }
    for posterior in [POISSON, NEGATIVE_BINOMIAL] {
        posterior.is_within(&Run::new("gibbs-mixed-osgfs"), TALL_COUNTS, 60_000, 0.1);
        posterior.is_within(&Run::new("nuts"), TALL_COUNTS, 3000, 0.05);
    }
}

/// Whatever priors are set, wherever they hold: nested groups, correlated slopes.
#[test]
fn gibbs_under_other_priors_is_that_of_numpyro() {
    SCALED.agrees(&Run::new("gibbs-mixed"), NESTED, 2, 6000);
}
