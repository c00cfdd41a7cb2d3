//! Against R, and what is read as an ordered outcome.

use super::*;
use crate::DefaultPriors;
use crate::design::ModelFrame;
use crate::testing::log_lik;
use crate::testing::tables::{read_csv, reference};

fn options(priors: &[(&str, &str)]) -> ModelOptions {
    ModelOptions {
        priors: (priors.iter())
            .map(|(key, text)| ((*key).to_owned(), (*text).to_owned()))
            .collect(),
        standardize: true,
        defaults: DefaultPriors::WeaklyInformative,
        ..ModelOptions::default()
    }
}

fn read(data: &str, formula: &str, levels: &[&str]) -> Result<Design, String> {
    let frame = ModelFrame {
        response_use: ResponseUse::Ordered,
        levels: levels.iter().map(|level| (*level).to_owned()).collect(),
        ..ModelFrame::new(formula.parse().map_err(|error| format!("{error}"))?)
    };
    let built = Design::build(&read_csv(data), &frame);
    built
        .map(|(design, _)| design)
        .map_err(|error| error.to_string())
}

/// `polr` of MASS, from `ordered.R`: its estimates are where the gradient of the likelihood is 0.
#[test]
fn the_maximum_of_the_likelihood_is_that_of_polr() {
    let text = |name: &str| std::fs::read_to_string(reference(name)).unwrap();
    let expected = text("ordered_r.csv");
    let value = |name: &str| -> f64 {
        let line = expected
            .lines()
            .find_map(|line| line.strip_prefix(&format!("polr:{name},")));
        line.unwrap().parse().unwrap()
    };
    let design = read(&text("ordered_data.csv"), "rating ~ x + w", &[]).unwrap();
    let flat = options(&[("b", "flat"), ("cut", "flat")]);
    let model = Ordered::build(Arc::new(design), &flat).unwrap();
    let names: Vec<&str> = model
        .params()
        .iter()
        .map(|param| param.name.as_str())
        .collect();
    assert_eq!(names, ["b[x]", "b[w]", "cut[1|2]", "cut[2|3]", "cut[3|4]"]);
    let theta = ["x", "w", "c[1]", "c[2]", "c[3]"].map(value);
    let (mut u, mut back, mut grad) = ([0.0; 5], [0.0; 5], [0.0; 5]);
    model.unconstrain(&theta, &mut u);
    model.constrain(&u, &mut back);
    for (a, b) in theta.iter().zip(back) {
        assert!((a - b).abs() < 1e-12, "{a} {b}");
    }
    let log_p = log_lik(model.as_ref(), &u, &mut grad);
    assert!((log_p - value("log_lik")).abs() < 1e-9, "{log_p}");
    assert!(grad.iter().all(|slope| slope.abs() < 1e-5), "{grad:?}");
}

#[test]
fn levels_are_read_in_their_order_and_what_has_none_is_refused() {
    let places = |data: &str, levels: &[&str]| {
        read(data, "y ~ x", levels).map(|design| {
            let mut rows: Vec<(u32, f64)> = design
                .row
                .iter()
                .copied()
                .zip(design.y.iter().copied())
                .collect();
            rows.sort_by_key(|(row, _)| *row);
            let y: Vec<f64> = rows.into_iter().map(|(_, y)| y).collect();
            (design.response.levels().join(" < "), y)
        })
    };
    let of = |order: &str, y: &[f64]| Ok((order.to_owned(), y.to_vec()));
    let words = "y,x\nhigh,1\nlow,2\nmedium,4\nlow,3\n";
    assert_eq!(
        places(words, &[]),
        of("low < medium < high", &[3.0, 1.0, 2.0, 1.0])
    );
    assert_eq!(
        places("y,x\n10,1\n0,2\n2,4\n2,3\n", &[]),
        of("0 < 2 < 10", &[3.0, 1.0, 2.0, 2.0])
    );
    // The other way round, and with a level that no row has.
    assert_eq!(
        places(words, &["high", "medium", "low", "none"]),
        of("high < medium < low < none", &[1.0, 3.0, 2.0, 3.0])
    );
    let colours = "y,x\nred,1\nblue,2\ngreen,4\nred,3\n";
    let many: String = (0..40).map(|k| format!("{},{k}\n", k % 21)).collect();
    for (data, formula, levels, part) in [
        (
            colours,
            "y ~ x",
            &[][..],
            "have no order that is known; write them from lowest to highest, as in model.levels = [\"blue\", \"green\", \"red\"]",
        ),
        (
            colours,
            "y ~ x",
            &["red", "blue"][..],
            "has the level `green`, which is not among",
        ),
        (
            words,
            "y ~ x",
            &["low", "low", "medium", "high"],
            "is named twice",
        ),
        (
            "y,x\n1,1\n2,2\n1,4\n",
            "y ~ x",
            &[],
            "has 2 levels, and the family ordered takes 3 to 20",
        ),
        (&format!("y,x\n{many}"), "y ~ x", &[], "has 21 levels, and"),
        (
            words,
            "y | trials(3) ~ x",
            &[],
            "which has no number of trials",
        ),
    ] {
        let said = read(data, formula, levels).unwrap_err();
        assert!(said.contains(part), "{said}");
    }
    let design = read(words, "y ~ 0 + x", &[]).unwrap();
    let refused = Ordered::build(Arc::new(design), &options(&[]))
        .err()
        .unwrap()
        .to_string();
    assert!(refused.contains("needs the intercept"), "{refused}");
}

#[test]
fn cut_points_have_one_prior_together_and_the_intercept_none() {
    let design = Arc::new(read("y,x\n1,1\n2,2\n3,4\n2,3\n", "y ~ x", &[]).unwrap());
    let refused = |key: &str| {
        let options = options(&[(key, "normal(0, 1)")]);
        Ordered::build(Arc::clone(&design), &options)
            .err()
            .unwrap()
            .to_string()
    };
    for key in ["intercept", "cut[1|2]", "b[Intercept]"] {
        let said = refused(key);
        assert!(said.ends_with("there are b, cut, b[x]"), "{said}");
    }
    let model = Ordered::build(Arc::clone(&design), &options(&[])).unwrap();
    let priors: Vec<&str> = model
        .params()
        .iter()
        .map(|param| param.prior.as_str())
        .collect();
    assert_eq!(
        priors,
        [
            "normal(0, 2.5)",
            "student_t(3, 0, 2.5)",
            "student_t(3, 0, 2.5)"
        ]
    );
}

#[test]
fn formulas_say_that_levels_are_ordered() {
    let formula: crate::formula::Formula = "ordered(y) | weights(w) ~ x".parse().unwrap();
    let written = formula.to_string();
    assert!(
        written.starts_with("ordered(y) | weights(w) ~"),
        "{written}"
    );
    assert_eq!(written.parse(), Ok(formula));
    let refused = "ordered(y, 3) ~ x"
        .parse::<crate::formula::Formula>()
        .unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("`ordered()` of an outcome takes one column")
    );
}
