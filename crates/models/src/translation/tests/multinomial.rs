//! Multinomial regressions against Stan: `tests/reference/multinomial.R` had it compute the densities of the programs in
//! `tests/reference/multinomial`.

use std::fs;

use super::super::super::Rows;
use super::*;
use crate::testing::tables::reference;

#[test]
fn stan_gives_multinomial_programs_the_densities_of_the_models() {
    let read = |name: &str| fs::read_to_string(reference(name)).unwrap();
    let (data, expected) = (read("multinomial_data.csv"), read("multinomial_r.csv"));
    let value = |name: &str| -> Option<f64> {
        let line = expected
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{name},")));
        line.map(|value| value.parse().unwrap())
    };
    let all = "party ~ age + income + region";
    let weighted = "party | weights(n) ~ age + income + region";
    let from_red = ["red", "none", "blue", "green"];
    for (name, formula, levels, priors, standardize) in [
        (
            "plain",
            all,
            &[][..],
            &[("b", "normal(0, 2.5)"), ("intercept", "normal(0, 2.5)")][..],
            true,
        ),
        (
            "raw",
            weighted,
            &from_red,
            &[("b", "normal(0, 1)"), ("intercept", "student_t(3, 0, 2)")],
            false,
        ),
        (
            "through_0",
            "party ~ 0 + age + income",
            &[],
            &[
                ("b", "normal(0, 2.5)"),
                ("logit[red,age]", "normal(0.3, 0.7)"),
            ],
            true,
        ),
    ] {
        let (all, model) = described_with_levels(
            &data,
            ("multinomial", formula, levels),
            priors,
            &[],
            standardize,
        );
        let program = all.stan.unwrap();
        assert_eq!(
            program,
            read(&format!("multinomial/{name}.stan")),
            "{name} has changed: run multinomial.R"
        );
        let rows = model.rows().unwrap();
        let (mut scratch, mut grad) = (rows.scratch(), vec![0.0; model.dim()]);
        let mut first = None;
        for i in 1..=3 {
            let theirs = value(&format!("{name}:density:{i}")).unwrap();
            let stan: Vec<f64> = (1..=model.dim())
                .map(|j| value(&format!("{name}:u:{i}:{j}")).unwrap())
                .collect();
            assert!(value(&format!("{name}:u:{i}:{}", model.dim() + 1)).is_none());
            let mut u = stan.clone();
            if !standardize {
                model.unconstrain(&stan, &mut u);
            }
            let ours = rows.log_prior(&u, &mut grad)
                + rows.log_lik(&u, Rows::All, &mut scratch, &mut grad);
            let apart = ours - theirs;
            let constant = *first.get_or_insert(apart);
            assert!(
                (apart - constant).abs() < 1e-10 * theirs.abs().max(100.0),
                "{name}: {ours} and {theirs}, apart by {apart} instead of {constant}"
            );
        }
    }
}

#[test]
fn brms_has_the_priors_of_each_level() {
    let data = fs::read_to_string(reference("multinomial_data.csv")).unwrap();
    let priors = [("b", "normal(0, 1)"), ("logit[red,age]", "flat")];
    let all = |standardize| {
        let from = ("multinomial", "party ~ age", &[][..]);
        described_with_levels(&data, from, &priors, &[], standardize).0
    };
    let code = all(true).brms.unwrap();
    has(
        &code,
        &[
            "data$party <- factor(data$party, levels = c(\"blue\", \"green\", \"none\", \"red\"))",
            "party ~ age,",
            "data = data, family = categorical(),",
            "set_prior(\"normal(0, 10)\", class = \"Intercept\", dpar = \"mugreen\"),",
            "set_prior(\"normal(0, 10)\", class = \"Intercept\", dpar = \"mured\")",
        ],
    );
    assert!(
        !code.contains("class = \"b\", coef = \"age\", dpar = \"mured\""),
        "{code}"
    );
    let raw = all(false).brms.unwrap();
    has(
        &raw,
        &[
            "party ~ 0 + Intercept + age,",
            "set_prior(\"normal(0, 1)\", class = \"b\", coef = \"age\", dpar = \"mugreen\"),",
        ],
    );
    let told = all(true);
    let words = "The log odds of each level of `party` against `blue`, the reference, are a sum: an intercept, and a coefficient times `age`.";
    assert!(told.words.starts_with(words), "{}", told.words);
    has(
        &told.equation,
        &[
            "log(p[i,k] / p[i,blue]) = logit[k,Intercept] + logit[k,age] × age[i]",
            "logit[green,age] × sd(age) ~ normal(0, 1)",
            "logit[red,age] has a flat prior",
        ],
    );
}
