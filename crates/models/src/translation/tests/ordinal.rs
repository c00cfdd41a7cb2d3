//! Ordinal regressions against Stan: `tests/reference/ordinal.R` had it compute the densities of the programs in
//! `tests/reference/ordinal`.

use std::fs;

use super::super::super::Rows;
use super::*;
use crate::testing::tables::reference;

/// Levels of the outcome, and columns.
const LEVELS: usize = 5;
const SLOPES: usize = 2;

#[test]
fn stan_gives_ordinal_programs_the_densities_of_the_models() {
    let read = |name: &str| fs::read_to_string(reference(name)).unwrap();
    let (data, expected) = (read("ordinal_data.csv"), read("ordinal_r.csv"));
    let value = |name: &str| -> Option<f64> {
        let line = expected
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{name},")));
        line.map(|value| value.parse().unwrap())
    };
    let text = |value: &str| Value::Text(value.to_owned());
    let mixed = [
        ("family", text("ordered")),
        ("parametrisation", text("non-centred")),
    ];
    for (name, template, formula, settings, standardize) in [
        ("plain", "ordered", "rating ~ temp + contact", &[][..], true),
        ("raw", "ordered", "taste ~ temp + contact", &[], false),
        (
            "mixed",
            "mixed",
            "rating ~ temp + contact + (1 | judge)",
            &mixed,
            true,
        ),
    ] {
        // The defaults, which this function leaves to others.
        let priors = match standardize {
            true => [("cut", "student_t(3, 0, 2.5)"), ("b", "normal(0, 2.5)")],
            false => [("cut", "student_t(3, 0, 4.33)"), ("b", "normal(0, 5)")],
        };
        let (all, model) = described(&data, template, formula, &priors, settings, standardize);
        let program = all.stan.unwrap();
        assert_eq!(
            program,
            read(&format!("ordinal/{name}.stan")),
            "{name} has changed: run ordinal.R"
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
            let mut u = vec![0.0; model.dim()];
            if standardize {
                u = with_cut_points(&stan, LEVELS - 1, SLOPES);
            } else {
                let (cuts, slopes) = stan.split_at(LEVELS - 1);
                let mut theta = slopes.to_vec();
                theta.push(cuts[0]);
                for gap in &cuts[1..] {
                    theta.push(theta[theta.len() - 1] + gap.exp());
                }
                model.unconstrain(&theta, &mut u);
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
fn brms_has_the_same_priors_of_cut_points() {
    let data = fs::read_to_string(reference("ordinal_data.csv")).unwrap();
    let formula = "ordered(taste) ~ temp + (1 | judge)";
    let family = [("family", Value::Text("ordered".to_owned()))];
    let priors = [("cut", "normal(0, 3)")];
    let all = |standardize| described(&data, "mixed", formula, &priors, &family, standardize).0;
    let code = all(true).brms.unwrap();
    has(
        &code,
        &[
            "data$taste <- factor(data$taste, levels = c(\"poor\", \"fair\", \"good\", \"very good\", \"excellent\"), ordered = TRUE)",
            "taste ~ temp + (1 | judge),",
            "data = data, family = cumulative(\"logit\"),",
            "set_prior(\"normal(0, 3)\", class = \"Intercept\"),",
        ],
    );
    let raw = all(false).brms.unwrap();
    has(&raw, &["bf(taste ~ temp + (1 | judge), center = FALSE),"]);
    let words = all(true).words;
    assert!(
        words.contains("normal(0, 3) for cut points (each, in order, at average predictors)"),
        "{words}"
    );
}
