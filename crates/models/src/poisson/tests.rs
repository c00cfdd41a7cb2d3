//! Against closed forms, and what is remarked and refused.

use crate::design::ResponseUse;
use crate::design::{MemoryColumns, Values};
use crate::testing::regressions::{Shape, measured_design};
use crate::testing::{built, pointwise, table_of};
use crate::{DefaultPriors, Rows};

use super::*;

fn options(priors: &[(&str, &str)]) -> ModelOptions {
    ModelOptions {
        priors: priors.iter().map(|&(k, v)| (k.into(), v.into())).collect(),
        standardize: true,
        ..ModelOptions::default()
    }
}

/// Under a flat prior of the intercept the posterior of the rate is Gamma(Σ y, Σ exposure).
#[test]
fn an_intercept_alone_is_the_logarithm_of_a_gamma_variable() {
    let (y, exposure) = (vec![3.0, 0.0, 7.0, 2.0], vec![1.5, 0.5, 4.0, 1.0]);
    let (shape, rate) = (12.0, 7.0_f64);
    let table = table_of(vec![("y", y), ("e", exposure)]);
    let options = options(&[("intercept", "flat")]);
    let model =
        built::<Poisson>(&table, "y ~ offset(log(e))", ResponseUse::Count, &options).unwrap();
    let mut scratch = model.rows().unwrap().scratch();
    let mut log_density = |u: f64| {
        let mut grad = [0.0];
        model.rows().unwrap().log_prior(&[u], &mut grad)
            + model
                .rows()
                .unwrap()
                .log_lik(&[u], Rows::All, &mut scratch, &mut grad)
    };
    // The log density of log λ up to a constant.
    let expected = |u: f64| shape * u - rate * u.exp();
    let constant = log_density(0.0) - expected(0.0);
    for u in [-3.0, -0.4, 0.7, 1.9, 30.0] {
        let (found, expected) = (log_density(u), expected(u) + constant);
        assert!(
            (found - expected).abs() < 1e-12 * expected.abs(),
            "{u}: {found} {expected}"
        );
    }
}

#[test]
fn values_per_row_are_logarithms_of_probabilities() {
    let shape = Shape {
        offset: true,
        ..Shape::default()
    };
    let design = Arc::new(measured_design(true, shape, 60));
    let model = Poisson::build(Arc::clone(&design), &ModelOptions::default()).unwrap();
    let u = [0.4, -0.2, 0.3, 0.1];
    let values = pointwise(model.as_ref(), &u);
    for (i, value) in values.iter().enumerate() {
        let z: f64 = design.x.row(i).iter().zip(&u).map(|(x, u)| x * u).sum();
        let mean = (z + design.offset.as_ref().unwrap()[i]).exp();
        // The product μ^y e^(−μ)/y!, factor by factor.
        let mut chance = (-mean).exp();
        for k in 1..=design.y[i] as u32 {
            chance *= mean / f64::from(k);
        }
        assert!((value - chance.ln()).abs() < 1e-10 * chance.ln().abs().max(1.0));
    }
}

#[test]
fn what_are_not_counts_is_refused_in_one_sentence() {
    let table = table_of(vec![
        ("zero", vec![0.0; 3]),
        ("negative", vec![1.0, -2.0, 0.0]),
        ("half", vec![1.0, 2.0, 0.5]),
    ]);
    let refuse = |formula: &str| {
        built::<Poisson>(&table, formula, ResponseUse::Count, &options(&[]))
            .err()
            .unwrap()
    };
    for (formula, sentence) in [
        (
            "zero ~ 1",
            "The outcome `zero` has the single value `0` in all 3 rows used, so there is nothing to explain; choose another outcome",
        ),
        (
            "negative ~ 1",
            "The outcome `negative` must be a whole number from 0, but it is -2 in row 2; choose template `linear` if it is no \
             count, or correct that row",
        ),
        (
            "half ~ 1",
            "The outcome `half` must be a whole number from 0, but it is 0.5 in row 3; choose template `linear` if it is no \
             count, or correct that row",
        ),
    ] {
        assert_eq!(refuse(formula), sentence);
    }
}

/// The centre of the default prior moves with the unit of the exposure, so that the rates do not depend on it.
#[test]
fn default_priors_follow_the_unit_of_the_exposure() {
    let prior_of = |unit: f64, defaults: DefaultPriors, standardize: bool| {
        let values = |of: &dyn Fn(usize) -> f64| Values::Numbers((0..50).map(of).collect());
        let columns = vec![
            ("n".to_owned(), values(&|i| ((i * 7) % 5) as f64)),
            ("x".to_owned(), values(&|i| 100.0 + (i % 9) as f64)),
            ("time".to_owned(), values(&|i| unit * (1 + i % 4) as f64)),
        ];
        let options = ModelOptions {
            defaults,
            standardize,
            ..options(&[])
        };
        let model = built::<Poisson>(
            &MemoryColumns::new("t", columns).unwrap(),
            "n ~ x + offset(log(time))",
            ResponseUse::Count,
            &options,
        );
        let params = model.unwrap().params().to_vec();
        [0, 1].map(|j| params[j].prior.to_string())
    };
    let weak = DefaultPriors::WeaklyInformative;
    // 100 counts in 123 units of time; log(100.5/123) = -0.20, and log 1000 = 6.91.
    let [intercept, slope] = prior_of(1.0, weak, true);
    assert_eq!(
        (intercept.as_str(), slope.as_str()),
        ("normal(-0.2, 2.5)", "normal(0, 2.5)")
    );
    assert_eq!(prior_of(1000.0, weak, true)[0], "normal(-7.11, 2.5)");
    // Per unit of x, whose standard deviation is 2.56 and mean 103.8.
    let [intercept, slope] = prior_of(1.0, weak, false);
    assert_eq!(
        (intercept.as_str(), slope.as_str()),
        ("normal(0, 101)", "normal(0, 0.976)")
    );
    let papers = DefaultPriors::Papers;
    for standardize in [true, false] {
        let priors = prior_of(1000.0, papers, standardize);
        assert_eq!(priors, ["normal(0, 10)", "normal(0, 10)"]);
    }
}
