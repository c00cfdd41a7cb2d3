//! Pointwise log likelihoods against those of the models themselves, and against densities of another library.

use std::path::PathBuf;

use rand::RngExt as _;
use rand_distr::StandardNormal;
use statrs::distribution::{
    Binomial, Continuous as _, Discrete as _, Gamma, LogNormal, NegativeBinomial, Normal, Poisson,
    StudentsT,
};

use super::*;
use crate::Recipe;
use crate::calibration::built_in_job;
use ergodic_base::{Purpose, stream};
use ergodic_core::families::Family;
use ergodic_core::models::{REGISTRY, Rows};

const NONE: &[Vec<f64>] = &[];

fn list(rows: &[Vec<f64>]) -> DrawList {
    let mut list = DrawList::new(rows[0].len());
    rows.iter().for_each(|row| list.push(row));
    list
}

/// n × S.
fn all(fitted: &Fitted, draws: &DrawList) -> Vec<Vec<f64>> {
    let log_lik = fitted
        .log_lik(&[draws], NONE, usize::MAX, &Control::default())
        .unwrap();
    let mut values = vec![0.0; log_lik.num_rows() * log_lik.num_draws()];
    log_lik.tile(0, log_lik.num_draws(), &mut values);
    let rows = values.chunks_exact(log_lik.num_draws());
    let rows: Vec<Vec<f64>> = rows.map(<[f64]>::to_vec).collect();
    // One row, and a stretch of draws, say the same.
    let mut part = vec![0.0; log_lik.num_draws() - 1];
    for (i, row) in rows.iter().enumerate() {
        log_lik.row(i, 1, &mut part);
        assert_eq!(part, row[1..]);
    }
    rows
}

/// Every template that predicts, and every family of mixed models: from one draw to another the sum over rows changes as the
/// likelihood that the samplers see.
#[test]
fn rows_sum_to_the_likelihood_of_every_model_that_predicts() {
    let mut recipes: Vec<Recipe> = (REGISTRY.iter())
        .map(|entry| Recipe::new("built-in", entry.spec.id, ""))
        .collect();
    recipes.extend(Family::IDS.iter().map(|family| {
        let changes = [format!("model.family={family}")];
        Recipe::new("built-in", "mixed", "")
            .changed(&changes)
            .unwrap()
    }));
    recipes.extend(["lognormal", "weibull"].map(|family| {
        let changes = [format!("model.family={family}")];
        let formula = "x2 | cens(d) ~ x1 + (1 | g)";
        Recipe::new("built-in", "mixed", formula)
            .changed(&changes)
            .unwrap()
    }));
    let mut seen = Vec::new();
    for recipe in recipes {
        let job = built_in_job(&recipe, &Control::default()).unwrap();
        let Ok(fitted) = Fitted::of(&job) else {
            continue;
        };
        let model = &job.model;
        let rows = model.rows().unwrap();
        let mut rng = stream(5, 0, Purpose::Noise);
        let (mut scratch, mut gradient) = (rows.scratch(), vec![0.0; model.dim()]);
        let (mut draws, mut expected) = (Vec::new(), Vec::new());
        for _ in 0..4 {
            let u: Vec<f64> = (0..model.dim())
                .map(|_| 0.4 * rng.sample::<f64, _>(StandardNormal))
                .collect();
            let mut theta = vec![0.0; model.params().len()];
            model.constrain(&u, &mut theta);
            expected.push(rows.log_lik(&u, Rows::All, &mut scratch, &mut gradient));
            draws.push(theta);
        }
        let found = all(&fitted, &list(&draws));
        assert_eq!(found.len(), job.design.rows_used);
        let total = |s: usize| found.iter().map(|row| row[s]).sum::<f64>();
        for s in 1..draws.len() {
            let (ours, theirs) = (total(s) - total(0), expected[s] - expected[0]);
            assert!(
                (ours - theirs).abs() < 1e-8 * expected[s].abs().max(1.0),
                "{} {:?}: {ours} {theirs}",
                recipe.model.template,
                recipe.model.settings
            );
        }
        seen.push(recipe.model.template);
    }
    for template in [
        "logistic",
        "linear",
        "student",
        "poisson",
        "negative-binomial",
        "hierarchical",
        "mixed",
    ] {
        assert!(seen.iter().any(|seen| seen == template), "{template}");
    }
    assert!(seen.len() >= 9 + Family::IDS.len(), "{seen:?}");
}

fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.csv");
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

/// The values at these draws, n × S, of a model of x and y = 1..6 in a file with more columns.
fn of(template: &str, formula: &str, draws: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let rows: String = (1..7)
        .map(|i| format!("{i},{},{},{}\n", 1 + i * i % 5, 9 + i % 2, 1 + i % 3))
        .collect();
    let (_folder, path) = file(&format!("x,y,n,w\n{rows}"));
    let recipe = Recipe::new(path.to_str().unwrap(), template, formula);
    let fitted = Fitted::open(&recipe, std::path::Path::new(""), &Control::default()).unwrap();
    all(&fitted, &list(draws))
}

fn y(x: usize) -> f64 {
    (1 + x * x % 5) as f64
}

/// Values must be those of `expected`, a function of the draw, its linear predictor, y, and x.
fn assert_densities(
    found: &[Vec<f64>],
    draws: &[Vec<f64>],
    what: &str,
    expected: impl Fn(&[f64], f64, f64, usize) -> f64,
) {
    assert_eq!(found.len(), 6);
    for (i, row) in found.iter().enumerate() {
        let x = i + 1;
        for (draw, value) in draws.iter().zip(row) {
            let z = draw[0] + draw[1] * x as f64;
            let expected = expected(draw, z, y(x), x);
            assert!(
                (value - expected).abs() < 1e-10 * expected.abs().max(1.0),
                "{what} at {x}: {value} {expected}"
            );
        }
    }
}

#[test]
fn densities_are_whole_with_all_their_constants() {
    let two = [vec![0.3, 0.2], vec![-0.2, 0.35]];
    let three = [vec![0.3, 0.2, 0.8], vec![-0.2, 0.35, 2.5]];
    let four = [vec![0.3, 0.2, 0.8, 4.0], vec![-0.2, 0.35, 2.5, 17.0]];
    let normal = |draw: &[f64], z: f64| Normal::new(z, draw[2]).unwrap();
    assert_densities(
        &of("linear", "y ~ x", &three),
        &three,
        "normal",
        |d, z, y, _| normal(d, z).ln_pdf(y),
    );
    assert_densities(&of("student", "y ~ x", &four), &four, "t", |d, z, y, _| {
        StudentsT::new(z, d[2], d[3]).unwrap().ln_pdf(y)
    });
    assert_densities(
        &of("poisson", "y ~ x", &two),
        &two,
        "Poisson",
        |_, z, y, _| Poisson::new(z.exp()).unwrap().ln_pmf(y as u64),
    );
    let found = of("negative-binomial", "y ~ x", &three);
    assert_densities(&found, &three, "negative binomial", |d, z, y, _| {
        let p = d[2] / (d[2] + z.exp());
        NegativeBinomial::new(d[2], p).unwrap().ln_pmf(y as u64)
    });
    let found = of("logistic", "y | trials(n) ~ x", &two);
    assert_densities(&found, &two, "successes", |_, z, y, x| {
        let n = (9 + x % 2) as u64;
        Binomial::new(1.0 / (1.0 + (-z).exp()), n)
            .unwrap()
            .ln_pmf(y as u64)
    });
    // A row of weight w counts as w rows.
    let found = of("linear", "y | weights(w) ~ x", &three);
    assert_densities(&found, &three, "weights", |d, z, y, x| {
        (1 + x % 3) as f64 * normal(d, z).ln_pdf(y)
    });
}

/// The density of y under a model of f(y) is that of f(y) times the slope of f.
#[test]
fn densities_of_a_function_of_the_outcome_are_taken_back_to_the_outcome() {
    let three = [vec![0.3, 0.2, 0.8], vec![-0.2, 0.35, 2.5]];
    let found = of("linear", "log(y) ~ x", &three);
    assert_densities(&found, &three, "log", |d, z, y, _| {
        LogNormal::new(z, d[2]).unwrap().ln_pdf(y)
    });
    type Function = fn(f64) -> f64;
    let others: [(&str, Function, Function); 4] = [
        ("log2", f64::log2, |y| 1.0 / (y * std::f64::consts::LN_2)),
        ("log10", f64::log10, |y| 1.0 / (y * std::f64::consts::LN_10)),
        ("log1p", f64::ln_1p, |y| 1.0 / (1.0 + y)),
        ("sqrt", f64::sqrt, |y| 0.5 / y.sqrt()),
    ];
    for (name, function, slope) in others {
        let found = of("linear", &format!("{name}(y) ~ x"), &three);
        assert_densities(&found, &three, name, |d, z, y, _| {
            Normal::new(z, d[2]).unwrap().ln_pdf(function(y)) + slope(y).ln()
        });
    }
    let (_folder, path) = file("x,y\n1,4\n2,0\n3,9\n4,2\n");
    let recipe = Recipe::new(path.to_str().unwrap(), "linear", "sqrt(y) ~ x");
    let control = Control::default();
    let fitted = Fitted::open(&recipe, std::path::Path::new(""), &control).unwrap();
    let refused = fitted.log_lik(&[&list(&three)], NONE, 10, &control);
    let text = refused.unwrap_err().to_string();
    assert!(text.contains("`y` is 0 in line 3"), "{text}");
}

#[test]
fn gamma_rows_of_a_mixed_model_follow_their_groups() {
    let rows: String = (0..12)
        .map(|i| format!("{},{},{}\n", i % 3, 1 + i % 4, 0.5 + f64::from(i % 5)))
        .collect();
    let (_folder, path) = file(&format!("g,x,y\n{rows}"));
    let recipe = Recipe::new(path.to_str().unwrap(), "mixed", "y ~ x + (1 | g)");
    let recipe = recipe.changed(&["model.family=gamma".to_owned()]).unwrap();
    let fitted = Fitted::open(&recipe, std::path::Path::new(""), &Control::default()).unwrap();
    let params = fitted.model.params();
    let at = |name: &str| params.iter().position(|p| p.name.as_str() == name).unwrap();
    let mut draw = vec![0.1; params.len()];
    let shape = params
        .iter()
        .position(|p| p.name.as_str().contains("shape"))
        .unwrap();
    (draw[at("b[Intercept]")], draw[at("b[x]")], draw[shape]) = (0.4, -0.1, 3.0);
    let effects: Vec<usize> = (0..params.len())
        .filter(|&j| params[j].name.group_effect().is_some())
        .collect();
    assert_eq!(effects.len(), 3);
    for (k, &j) in effects.iter().enumerate() {
        draw[j] = 0.2 * k as f64 - 0.3;
    }
    let found = all(&fitted, &list(&[draw.clone(), draw]));
    for (i, row) in found.iter().enumerate() {
        let z = 0.4 - 0.1 * (1 + i % 4) as f64 + 0.2 * (i % 3) as f64 - 0.3;
        let expected = Gamma::new(3.0, 3.0 / z.exp())
            .unwrap()
            .ln_pdf(0.5 + (i % 5) as f64);
        assert!((row[0] - expected).abs() < 1e-10, "{} {expected}", row[0]);
    }
}
