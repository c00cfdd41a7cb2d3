//! Grouping factors: contrasts of groups, effects and expected outcomes in each.

use super::*;

/// A mixed model of the thirty rows, its draws, and what they have of a parameter.
fn mixed() -> (tempfile::TempDir, Fitted, Vec<Vec<f64>>) {
    let (folder, source) = rows();
    let fitted = fitted(&Recipe::new(&source, "mixed", "y ~ x + (1 + x | g)"));
    let draws = some(fitted.model.params().len(), 80);
    (folder, fitted, draws)
}

fn column(fitted: &Fitted, draws: &[Vec<f64>], name: &str) -> Vec<f64> {
    let mut params = fitted.model.params().iter();
    let place = params
        .position(|param| param.name.as_str() == name)
        .unwrap();
    draws.iter().map(|draw| draw[place]).collect()
}

fn mean_x() -> f64 {
    (0..30).map(|i| 0.5 + f64::from(i * 7 % 11)).sum::<f64>() / 30.0
}

#[test]
fn groups_are_compared_as_levels_are() {
    let (_folder, fitted, draws) = mixed();
    let of = |name: &str| column(&fitted, &draws, name);
    let options = EffectsOptions {
        pairs: vec!["g".to_owned()],
        ..EffectsOptions::default()
    };
    let made = effects(&fitted, &[&list(&draws)], &options);
    assert_eq!(made.effects.len(), 1);
    let value = found(&made, "g", "v - u");
    let [u, v] = ["u", "v"].map(|g| {
        let (level, slope) = (
            of(&format!("r[g,{g},Intercept]")),
            of(&format!("r[g,{g},x]")),
        );
        let pairs = level.iter().zip(&slope);
        pairs.map(|(a, b)| a + b * mean_x()).collect::<Vec<f64>>()
    });
    let apart: Vec<f64> = v.iter().zip(&u).map(|(v, u)| v - u).collect();
    assert!((value.mean() - apart.iter().sum::<f64>() / 80.0).abs() < 1e-11);
    let above = apart.iter().filter(|it| **it > 0.0).count();
    assert!((value.above - above as f64 / 80.0).abs() < 1e-12);
    assert!(
        (made.sentence(&made.effects[0])).starts_with("With g v instead of u, the mean of y is")
    );
    // Nobody asked for them: predictors alone.
    let plain = effects(&fitted, &[&list(&draws)], &EffectsOptions::default());
    assert_eq!(plain.predictors(), ["x"]);
}

#[test]
fn all_pairs_of_levels_are_those_of_each_predictor_beside_all_other_effects() {
    let (_folder, source) = rows();
    let recipe = Recipe::new(&source, "mixed", "y ~ x + f + (1 | g)");
    let fitted = fitted(&recipe);
    let draws = list(&some(fitted.model.params().len(), 80));
    let options = EffectsOptions {
        all_pairs: true,
        ..EffectsOptions::default()
    };
    let made = effects(&fitted, &[&draws], &options);
    // Groups are no levels of a predictor.
    assert_eq!(made.predictors(), ["x", "f"]);
    let of_f: Vec<String> = (made.effects.iter())
        .filter(|it| it.predictor == "f")
        .map(|it| it.contrast.label())
        .collect();
    assert_eq!(of_f, ["b - a", "c - a", "c - b"]);
    let by_name = EffectsOptions {
        pairs: vec!["f".to_owned()],
        ..EffectsOptions::default()
    };
    let by_name = effects(&fitted, &[&draws], &by_name);
    for pair in &of_f {
        assert_eq!(found(&made, "f", pair), found(&by_name, "f", pair));
    }
}

#[test]
fn each_group_has_effects_and_an_expected_outcome() {
    let (_folder, fitted, draws) = mixed();
    let of = |name: &str| column(&fitted, &draws, name);
    let chain = list(&draws);
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
    let options = EffectsOptions {
        by: Some("g".to_owned()),
        ..EffectsOptions::default()
    };
    let made = effects(&fitted, &[&chain], &options);
    for g in ["u", "v"] {
        let is_here = |it: &&Effect| {
            it.contrast == Contrast::Slope && it.by == Some(("g".to_owned(), g.to_owned()))
        };
        let slope = made.effects.iter().find(is_here).unwrap().value.mean();
        let expected = mean(of("b[x]")) + mean(of(&format!("r[g,{g},x]")));
        assert!((slope - expected).abs() < 1e-9, "{g}: {slope} {expected}");
    }
    let along = |name: &str, options: &EffectsOptions| {
        let how = (Others::Typical, 3);
        let control = Control::default();
        fitted.along((&[&chain], &[]), name, how, options, &control)
    };
    let at = |g: &str, x: f64| {
        let effect = |term: &str| mean(of(&format!("r[g,{g},{term}]")));
        mean(of("b[Intercept]")) + effect("Intercept") + x * (mean(of("b[x]")) + effect("x"))
    };
    let groups = along("g", &EffectsOptions::default()).unwrap();
    assert_eq!(groups.curves[0].points.len(), 2);
    for (point, g) in groups.curves[0].points.iter().zip(["u", "v"]) {
        let (here, expected) = (point.value.mean(), at(g, mean_x()));
        assert!((here - expected).abs() < 1e-9, "{g}: {here} {expected}");
    }
    assert!(
        !groups.remarks[0].contains("average group"),
        "{:?}",
        groups.remarks
    );
    // Means of the rows of each group stand behind.
    assert_eq!(groups.observed.len(), 2);
    let curves = along("x", &options).unwrap().curves;
    for (curve, g) in curves.iter().zip(["u", "v"]) {
        assert_eq!(curve.by.as_deref(), Some(g));
        let (here, expected) = (curve.points[2].value.mean(), at(g, 10.5));
        assert!((here - expected).abs() < 1e-9, "{g}: {here} {expected}");
    }
}

#[test]
fn what_grouping_factors_cannot_be_asked_is_refused() {
    let (_folder, fitted, draws) = mixed();
    let chain = list(&draws);
    let group = || vec!["g".to_owned()];
    for (options, said) in [
        (
            EffectsOptions {
                of: group(),
                ..EffectsOptions::default()
            },
            "`g` is a grouping factor; compare its groups by --contrasts g",
        ),
        (
            EffectsOptions {
                pairs: group(),
                with_groups: false,
                ..EffectsOptions::default()
            },
            "all groups of `g` are the same",
        ),
        (
            EffectsOptions {
                at: vec![("g".to_owned(), "w".to_owned())],
                ..EffectsOptions::default()
            },
            "`g` cannot be set to `w`",
        ),
    ] {
        let refused = fitted.effects(&[&chain], &[], &options, &Control::default());
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains(said), "{refused}");
    }
}

/// Schools that are of one type each: with all rows of one type, half of the schools would be groups that the fit did not have.
#[test]
fn nested_groups_are_average_where_a_change_would_make_new_ones() {
    let mut text = "type,sch,year,y\n".to_owned();
    for i in 0..48_u32 {
        let (kind, school, year) = (["pri", "pub"][i as usize / 24], i / 8, 1 + i % 4);
        text.push_str(&format!("{kind},s{school},{year},{}\n", i * 7 % 13));
    }
    let (_folder, path) = file(&text);
    let source = path.display().to_string();
    for (formula, predictor, groups) in [
        ("y ~ type + (1 | type/sch)", "type", "type:sch"),
        ("y ~ year + (1 | sch:year)", "year", "sch:year"),
    ] {
        let fitted = fitted(&Recipe::new(&source, "mixed", formula));
        let draws = some(fitted.model.params().len(), 80);
        let of = |name: &str| column(&fitted, &draws, name).iter().sum::<f64>() / 80.0;
        let made = effects(&fitted, &[&list(&draws)], &EffectsOptions::default());
        let expected = match predictor {
            "type" => vec![(
                "pub - pri",
                of("b[type=pub]") + of("r[type,pub,Intercept]") - of("r[type,pri,Intercept]"),
            )],
            _ => vec![("slope", of("b[year]")), ("1 more", of("b[year]"))],
        };
        for (contrast, value) in expected {
            let here = found(&made, predictor, contrast).mean();
            assert!((here - value).abs() < 1e-9, "{contrast}: {here} {value}");
        }
        let said = format!("every row is in an average group of `{groups}`");
        let count = made.remarks.iter().filter(|it| it.contains(&said)).count();
        assert_eq!(count, 1, "{:?}", made.remarks);
    }
    // Where each group occurs with every value nothing is left out: the groups differ.
    let fitted = fitted(&Recipe::new(
        &source,
        "mixed",
        "y ~ factor(year) + (1 | sch:year)",
    ));
    let draws = some(fitted.model.params().len(), 80);
    let made = effects(&fitted, &[&list(&draws)], &EffectsOptions::default());
    assert!(!made.remarks.iter().any(|it| it.contains("average group")));
    let of = |name: &str| column(&fitted, &draws, name).iter().sum::<f64>() / 80.0;
    let in_year = |year: usize| {
        let groups = (0..6).map(|school| of(&format!("r[sch:year,s{school}:{year},Intercept]")));
        groups.sum::<f64>() / 6.0
    };
    let expected = of("b[year=2]") + in_year(2) - in_year(1);
    let here = found(&made, "year", "2 - 1").mean();
    assert!((here - expected).abs() < 1e-11, "{here} {expected}");
}

#[test]
fn a_ratio_is_of_the_predictors_that_its_term_is_made_of() {
    let (_folder, source) = rows();
    let fitted = fitted(&Recipe::new(&source, "logistic", "b ~ x*f"));
    let made = effects(&fitted, &[&list(&some(6, 40))], &EffectsOptions::default());
    let alone = |name: &str| {
        let of = made.ratios.iter().filter(|it| it.predictors == [name]);
        of.count()
    };
    assert_eq!((alone("x"), alone("f")), (1, 2));
    let both = made.ratios.iter().filter(|it| it.predictors == ["x", "f"]);
    assert_eq!(both.count(), 2);
}
