//! Effects against closed forms, predictions of changed files, and plain R from the same draws.

use std::path::{Path, PathBuf};

use super::*;
use crate::recipe::Recipe;
use ergodic_base::special::logistic;
use ergodic_base::{Purpose, stream};

mod groups;

fn fitted(recipe: &Recipe) -> Fitted {
    Fitted::open(recipe, Path::new(""), &Control::default()).unwrap()
}

fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.csv");
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

fn list(rows: &[Vec<f64>]) -> DrawList {
    let mut list = DrawList::new(rows[0].len());
    rows.iter().for_each(|row| list.push(row));
    list
}

fn effects(fitted: &Fitted, draws: &[&DrawList], options: &EffectsOptions) -> Effects {
    let control = Control::default();
    fitted.effects(draws, &[], options, &control).unwrap()
}

fn found<'a>(effects: &'a Effects, predictor: &str, contrast: &str) -> &'a Derived {
    let mut of = effects.effects.iter();
    let same = |it: &&Effect| it.predictor == predictor && it.contrast.label() == contrast;
    &of.find(same).unwrap().value
}

/// Thirty rows of a number, three levels and outcomes of every kind.
fn rows() -> (tempfile::TempDir, String) {
    let mut text = "x,f,g,w,y,b,k,l,s\n".to_owned();
    for i in 0..30_u32 {
        let x = 0.5 + f64::from(i * 7 % 11);
        let (f, g) = (["a", "b", "c"][i as usize % 3], ["u", "v"][i as usize / 15]);
        let y = 1.0 + x + f64::from(i % 4);
        text.push_str(&format!(
            "{x},{f},{g},{},{y},{},{},{},{}\n",
            1 + i % 2,
            i * 3 % 5 % 2,
            i % 6,
            y,
            0.05 + 0.9 * f64::from(i * 7 % 30) / 30.0
        ));
    }
    let (folder, path) = file(&text);
    (folder, path.display().to_string())
}

/// Draws that differ from one another in every parameter.
fn some(width: usize, count: usize) -> Vec<Vec<f64>> {
    let value = |i: usize, j: usize| 0.2 * ((i * (j + 3) * 7919 % 101) as f64 / 101.0 - 0.4);
    let row = |i| (0..width).map(|j| value(i, j)).collect();
    (1..=count).map(row).collect()
}

#[test]
fn with_an_identity_link_effects_are_coefficients() {
    let (_folder, source) = rows();
    let fitted = fitted(&Recipe::new(&source, "linear", "y ~ x + f"));
    // Intercept, x, f=b, f=c, sigma.
    let mut draws = some(5, 80);
    draws.iter_mut().for_each(|draw| draw[4] = 1.0);
    let chains = draws.chunks(40).map(list).collect::<Vec<_>>();
    let lists: Vec<&DrawList> = chains.iter().collect();
    let made = effects(&fitted, &lists, &EffectsOptions::default());
    assert_eq!((made.rows, made.draws), (30, (80, 80)));
    let mean = |j: usize| draws.iter().map(|draw| draw[j]).sum::<f64>() / 80.0;
    let x: Vec<f64> = (0..30).map(|i| 0.5 + f64::from(i * 7 % 11)).collect();
    for (predictor, contrast, expected) in [
        ("x", "slope", mean(1)),
        ("x", "1 more", mean(1)),
        ("x", "1 sd more", mean(1) * sd(&x)),
        ("f", "b - a", mean(2)),
        ("f", "c - a", mean(3)),
    ] {
        let value = found(&made, predictor, contrast);
        assert!(
            (value.mean() - expected).abs() < 1e-12,
            "{predictor} {contrast}"
        );
    }
    let above = draws.iter().filter(|draw| draw[1] > 0.0).count() as f64 / 80.0;
    assert_eq!(found(&made, "x", "slope").above, above);
    assert_eq!(made.effects.len(), 5, "no pair with the reference itself");
    assert!(
        made.ratios.is_empty(),
        "coefficients of an identity link are no ratios"
    );
    // What is derived has the diagnostics that its parameter has.
    let columns: Vec<ParamId> = (0..5).map(|j| ParamId::named(&j.to_string())).collect();
    let summary = ergodic_diagnostics::summarise(&columns, &lists, &[], 0.0);
    let (here, there) = (&found(&made, "x", "slope").summary, &summary[1]);
    for (a, b) in [
        (here.rhat, there.rhat),
        (here.ess_bulk, there.ess_bulk),
        (here.mcse_mean, there.mcse_mean),
    ] {
        assert!((a.unwrap() / b.unwrap() - 1.0).abs() < 1e-6, "{a:?} {b:?}");
    }
}

#[test]
fn with_a_logit_link_the_slope_is_the_mean_of_p_times_q_times_b() {
    let (_folder, source) = rows();
    let fitted = fitted(&Recipe::new(&source, "logistic", "b ~ x"));
    let draws = some(2, 40);
    let list = list(&draws);
    let rope = Some([-0.01, 0.02]);
    let options = EffectsOptions {
        rope,
        ..EffectsOptions::default()
    };
    let made = effects(&fitted, &[&list], &options);
    let x: Vec<f64> = (0..30).map(|i| 0.5 + f64::from(i * 7 % 11)).collect();
    let slope = |draw: &Vec<f64>| {
        let p = |x: &f64| logistic(draw[0] + draw[1] * x);
        x.iter().map(|x| p(x) * (1.0 - p(x)) * draw[1]).sum::<f64>() / 30.0
    };
    let slopes: Vec<f64> = draws.iter().map(slope).collect();
    let value = found(&made, "x", "slope");
    assert!((value.mean() - slopes.iter().sum::<f64>() / 40.0).abs() < 1e-11);
    let inside = slopes
        .iter()
        .filter(|s| (-0.01..=0.02).contains(*s))
        .count();
    assert_eq!(value.in_rope, Some(inside as f64 / 40.0));
    // exp of each draw, not of the mean.
    let ratio = draws.iter().map(|draw| draw[1].exp()).sum::<f64>() / 40.0;
    assert_eq!((made.ratio, made.ratios.len()), (Some("odds ratio"), 1));
    assert_eq!(made.ratios[0].term, "x");
    assert!((made.ratios[0].value.mean() - ratio).abs() < 1e-12);
    assert_eq!(
        made.ratios[0].value.above, value.above,
        "above one where the slope is above zero"
    );
}

/// Levels without an order: averages over rows and draws of chances by hand, of one level after the other.
#[test]
fn levels_without_an_order_have_the_effects_of_their_chances() {
    type OfRow<'a> = dyn Fn(&[f64], f64, f64) -> [f64; 3] + 'a;
    let (_folder, source) = rows();
    let fitted = fitted(&Recipe::new(
        &source,
        "multinomial",
        "f | weights(w) ~ x + g",
    ));
    // Of b and of c: intercept, x, g=v.
    let draws = some(6, 40);
    let chain = list(&draws);
    let made = effects(&fitted, &[&chain], &EffectsOptions::default());
    assert_eq!(made.quantity, "probability of each f");
    assert!(made.is_share());
    let chances = |draw: &[f64], x: f64, v: f64| -> [f64; 3] {
        let z = |k: usize| draw[3 * k] + draw[3 * k + 1] * x + draw[3 * k + 2] * v;
        let all = [0.0, z(0), z(1)].map(f64::exp);
        all.map(|e| e / all.iter().sum::<f64>())
    };
    let data: Vec<(f64, f64, f64)> = (0..30_u32)
        .map(|i| {
            let v = f64::from(u8::from(i >= 15));
            (0.5 + f64::from(i * 7 % 11), v, f64::from(1 + i % 2))
        })
        .collect();
    let mean = |of: &OfRow<'_>| -> [f64; 3] {
        let mut sum = [0.0; 3];
        for draw in &draws {
            for &(x, v, w) in &data {
                let add = of(draw, x, v);
                (0..3).for_each(|k| sum[k] += w * add[k]);
            }
        }
        let total = draws.len() as f64 * data.iter().map(|(.., w)| w).sum::<f64>();
        sum.map(|it| it / total)
    };
    let less = |a: [f64; 3], b: [f64; 3]| [0, 1, 2].map(|k| a[k] - b[k]);
    let unit = mean(&|d, x, v| less(chances(d, x + 1.0, v), chances(d, x, v)));
    let pair = mean(&|d, x, _| less(chances(d, x, 1.0), chances(d, x, 0.0)));
    let slope = mean(&|d, x, v| {
        let p = chances(d, x, v);
        let b = [0.0, d[1], d[4]];
        let middle: f64 = (0..3).map(|k| p[k] * b[k]).sum();
        [0, 1, 2].map(|k| p[k] * (b[k] - middle))
    });
    for (predictor, contrast, expected) in [
        ("x", "1 more", unit),
        ("g", "v - u", pair),
        ("x", "slope", slope),
    ] {
        for (level, expected) in ["a", "b", "c"].iter().zip(expected) {
            let mut all = made.effects.iter();
            let effect = all.find(|it| {
                it.predictor == predictor
                    && it.contrast.label() == contrast
                    && it.level.as_deref() == Some(*level)
            });
            let value = effect.unwrap().value.mean();
            assert!(
                (value - expected).abs() < 1e-8,
                "{contrast} {level}: {value} {expected}"
            );
        }
    }
    let told = made.effects.iter().find(|it| made.is_told(it)).unwrap();
    let sentence = made.sentence(told);
    assert!(
        sentence.starts_with("With x one unit higher, the probability that f is a is on average"),
        "{sentence}"
    );
    assert_eq!(made.ratio, Some("odds ratio against the reference"));
    let ratio = made.ratios.iter().find(|it| it.term == "c: x").unwrap();
    let expected = draws.iter().map(|d| d[4].exp()).sum::<f64>() / draws.len() as f64;
    assert!((ratio.value.mean() - expected).abs() < 1e-12);
    assert_eq!(made.ratios.len(), 4);

    // Along a predictor: a curve for each level, which together make 1 everywhere.
    let control = Control::default();
    let options = EffectsOptions::default();
    let how = (Others::Rows, 4);
    let along = fitted.along((&[&chain], &[]), "x", how, &options, &control);
    let along = along.unwrap();
    assert_eq!(along.curves.len(), 3);
    assert_eq!(
        along.quantity_of(&along.curves[1]),
        "probability that f is b"
    );
    assert_eq!(along.observed, Vec::<[f64; 2]>::new());
    for k in 0..4 {
        let Place::Number(x) = along.curves[0].points[k].at else {
            panic!("numbers");
        };
        let expected = mean(&|d, _, v| chances(d, x, v));
        let found = [0, 1, 2].map(|level| along.curves[level].points[k].value.mean());
        assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-10, "{found} {expected}");
        }
    }
}

#[test]
fn functions_interactions_and_groups_follow_the_column() {
    let (folder, source) = rows();
    for (template, formula) in [
        ("poisson", "k ~ log(x)*f + offset(log(x))"),
        ("logistic", "b ~ ns(x, 3) + x:f"),
        ("gamma", "y ~ poly(x, 2) + factor(k)"),
        ("lognormal", "y ~ poly(x, 2) + factor(k)"),
        ("weibull", "y ~ sqrt(x) + f"),
        ("beta", "s ~ x*f"),
        ("student", "y ~ poly(x, 2) + f"),
        ("zero_inflated_poisson", "k ~ log(x)*f"),
        ("zero_inflated_negative_binomial", "k ~ sqrt(x) + f"),
        ("linear", "log(l) ~ sqrt(x)*f"),
        ("mixed", "y ~ x + (1 + x | g)"),
        ("hierarchical", "b ~ x + (1 + x | g)"),
    ] {
        let mut recipe = Recipe::new(&source, template, formula);
        if ergodic_core::models::find(template).is_err() {
            recipe = Recipe::new(&source, "mixed", &format!("{formula} + (1 | g)"));
            recipe = recipe
                .changed(&[format!("model.family={template}")])
                .unwrap();
        }
        let fitted = fitted(&recipe);
        // Where chains begin: a draw that is one of this model.
        let model = &fitted.model;
        let mut u = vec![0.0; model.dim()];
        let mut rng = stream(5, 0, Purpose::Init);
        model.density().unwrap().init(&mut rng, &mut u);
        u.iter_mut().for_each(|u| *u *= 0.3);
        let mut theta = vec![0.0; model.params().len()];
        model.constrain(&u, &mut theta);
        let draws = list(&[theta.clone(), theta]);
        let made = effects(&fitted, &[&draws], &EffectsOptions::default());
        let text = std::fs::read_to_string(&source).unwrap();
        let mut lines = text.lines();
        let mut more = lines.next().unwrap().to_owned() + "\n";
        for line in lines {
            let (x, rest) = line.split_once(',').unwrap();
            more.push_str(&format!("{},{rest}\n", x.parse::<f64>().unwrap() + 1.0));
        }
        let path = folder.path().join("more.csv");
        std::fs::write(&path, more).unwrap();
        let table = fitted.read(&path, &Control::default()).unwrap();
        let predicted = |new| {
            let options = predict::PredictOptions::default();
            let control = Control::default();
            let made = fitted.predict(&[&draws], &[], new, options, &control);
            let rows = made.unwrap().rows;
            rows.iter().map(|row| row.mean).sum::<f64>() / rows.len() as f64
        };
        let expected = predicted(Some(&table)) - predicted(None);
        let here = found(&made, "x", "1 more").mean();
        let scale = predicted(None).abs();
        assert!(
            (here - expected).abs() < 1e-11 * scale,
            "{formula}: {here} {expected}"
        );
        assert!(expected.abs() > 1e-4 * scale, "{formula} says something");
    }
}

/// Slopes against differences of effects: that of ε more, divided by ε, comes near as ε falls.
#[test]
fn slopes_are_those_of_functions_up_to_the_edge_of_their_domain() {
    let (_folder, path) = file("x,y\n0.000001,1\n0.5,0\n1,1\n4,0\n2000,1\n30,0\n7,1\n12,0\n");
    let source = path.display().to_string();
    let x = [0.000_001, 0.5, 1.0, 4.0, 2000.0, 30.0, 7.0, 12.0];
    for (formula, slope) in [
        ("y ~ log(x)", (|x: f64| 1.0 / x) as fn(f64) -> f64),
        ("y ~ sqrt(I(x*2))", |x| 1.0 / (2.0 * x).sqrt()),
        ("y ~ log1p(x)", |x| 1.0 / (1.0 + x)),
        ("y ~ log(I(x/10))", |x| 1.0 / x),
    ] {
        let fitted = fitted(&Recipe::new(&source, "linear", formula));
        let draws = list(&vec![vec![0.0, 1.0, 1.0]; 4]);
        let made = effects(&fitted, &[&draws], &EffectsOptions::default());
        let expected = x.iter().map(|x| slope(*x)).sum::<f64>() / 8.0;
        let here = found(&made, "x", "slope").mean();
        assert!(
            (here / expected - 1.0).abs() < 1e-9,
            "{formula}: {here} {expected}"
        );
    }
    // At the edge itself there is no slope; the other effects are there.
    let (_folder, path) = file("x,y\n0,1\n1,0\n2,1\n5,0\n7,1\n12,0\n");
    let fitted = fitted(&Recipe::new(
        &path.display().to_string(),
        "linear",
        "y ~ sqrt(x)",
    ));
    let draws = list(&vec![vec![0.0, 1.0, 1.0]; 4]);
    let made = effects(&fitted, &[&draws], &EffectsOptions::default());
    assert!(
        made.effects
            .iter()
            .all(|effect| effect.contrast != Contrast::Slope)
    );
    assert!(found(&made, "x", "1 more").mean() > 0.0);
    assert!(
        made.remarks[0].starts_with("`x`: the slope cannot be told"),
        "{:?}",
        made.remarks
    );
}

#[test]
fn weights_of_rows_and_of_draws_count() {
    let (_folder, source) = rows();
    let of = |formula: &str| fitted(&Recipe::new(&source, "poisson", formula));
    let draws = some(2, 40);
    let list = list(&draws);
    let made = effects(
        &of("k | weights(w) ~ x"),
        &[&list],
        &EffectsOptions::default(),
    );
    // Rows of weight 2 stand twice in the sum.
    let rows = (0..30).map(|i| (0.5 + f64::from(i * 7 % 11), f64::from(1 + i % 2)));
    let slope = |draw: &Vec<f64>| {
        let sum = rows
            .clone()
            .map(|(x, w)| w * (draw[0] + draw[1] * x).exp() * draw[1]);
        sum.sum::<f64>() / 45.0
    };
    let expected = draws.iter().map(slope).sum::<f64>() / 40.0;
    let here = found(&made, "x", "slope").mean();
    assert!((here - expected).abs() < 1e-11 && made.remarks[0].contains("weight"));
    let weights: Vec<f64> = (0..40).map(|i| f64::from(1 + i % 3)).collect();
    let control = Control::default();
    let options = EffectsOptions::default();
    let made = of("k | weights(w) ~ x").effects(
        &[&list],
        std::slice::from_ref(&weights),
        &options,
        &control,
    );
    let weighted = draws.iter().zip(&weights).map(|(draw, w)| w * slope(draw));
    let expected = weighted.sum::<f64>() / weights.iter().sum::<f64>();
    assert!((found(&made.unwrap(), "x", "slope").mean() - expected).abs() < 1e-11);
    let cancel: Vec<f64> = (0..40).map(|i| f64::from(i % 2) - 0.5).collect();
    let refused = of("k ~ x").effects(&[&list], &[cancel], &options, &control);
    assert!(
        refused
            .unwrap_err()
            .to_string()
            .contains("not positive beyond doubt")
    );
}

#[test]
fn pairs_settings_and_refusals() {
    let (_folder, source) = rows();
    let fitted = fitted(&Recipe::new(&source, "logistic", "b ~ x*f"));
    let draws = list(&some(6, 40));
    let with = |change: &dyn Fn(&mut EffectsOptions)| {
        let mut options = EffectsOptions::default();
        change(&mut options);
        fitted.effects(&[&draws], &[], &options, &Control::default())
    };
    let pairs = with(&|it| it.pairs = vec!["f".to_owned()]).unwrap();
    let labels: Vec<String> = pairs.effects.iter().map(|it| it.contrast.label()).collect();
    assert_eq!(labels, ["b - a", "c - a", "c - b"]);
    let mean = |k: usize| pairs.effects[k].value.mean();
    assert!((mean(1) - mean(0) - mean(2)).abs() < 1e-14);
    let by = with(&|it| (it.of, it.by) = (vec!["x".to_owned()], Some("f".to_owned()))).unwrap();
    let at = with(&|it| it.at = vec![("f".to_owned(), "c".to_owned())]).unwrap();
    let of_c = by.effects.iter().find(|it| {
        it.contrast == Contrast::Slope && it.by == Some(("f".to_owned(), "c".to_owned()))
    });
    assert_eq!(by.effects.len(), 9);
    assert_eq!(of_c.unwrap().value, *found(&at, "x", "slope"));
    assert!(
        by.sentence(&by.effects[1])
            .contains("where f is a, the probability that b is 1")
    );
    // A number that is set: one unit more is more than that.
    let set = with(&|it| it.at = vec![("x".to_owned(), "3".to_owned())]).unwrap();
    assert!(found(&set, "x", "1 more").mean().is_finite());
    for (change, said) in [
        (
            (|it| it.of = vec!["xx".to_owned()]) as fn(&mut EffectsOptions),
            "`xx` is no predictor of this model; did you mean `x`?",
        ),
        (
            |it| it.pairs = vec!["x".to_owned()],
            "is a number and has no levels",
        ),
        (
            |it| it.at = vec![("f".to_owned(), "d".to_owned())],
            "`f` cannot be set to `d`: it can be `a`, `b` and `c`",
        ),
        (
            |it| it.at = vec![("x".to_owned(), "d".to_owned())],
            "it is a number",
        ),
        (
            |it| (it.of, it.by) = (vec!["f".to_owned()], Some("f".to_owned())),
            "`f` cannot be compared while --by sets it; set another column, or compare another",
        ),
        (
            |it| (it.pairs, it.by) = (vec!["f".to_owned()], Some("f".to_owned())),
            "`f` cannot be compared while --by sets it",
        ),
        (
            |it| (it.of, it.by) = (vec!["x".to_owned()], Some("x".to_owned())),
            "`x` cannot be compared while --by sets it",
        ),
        (
            |it| {
                it.of = vec!["f".to_owned()];
                it.at = vec![("f".to_owned(), "b".to_owned())];
            },
            "`f` cannot be compared while --at sets it",
        ),
        (|it| it.interval = 1.0, "between 0 and 1"),
        (|it| it.rope = Some([1.0, 0.0]), "begin below its end"),
    ] {
        let error = with(&change).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

/// Of a column that does not vary one unit is told, for a standard deviation of it is none.
#[test]
fn one_unit_is_told_of_what_does_not_vary() {
    for (sd, unit) in [(0.0, true), (1e-3, false), (2.0, true), (1e3, false)] {
        assert_eq!(words::is_readable(sd), unit, "{sd}");
    }
}

#[test]
fn threads_change_nothing_and_the_work_can_be_cancelled() {
    let (_folder, source) = rows();
    let fitted = fitted(&Recipe::new(&source, "poisson", "k ~ x*f"));
    let draws = list(&some(6, 700));
    let options = EffectsOptions::default();
    let all = effects(&fitted, &[&draws], &options);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    let one = pool.install(|| effects(&fitted, &[&draws], &options));
    assert_eq!((&all.effects, &all.ratios), (&one.effects, &one.ratios));
    let control = Control::default();
    control.cancel();
    let cancelled = fitted.effects(&[&draws], &[], &options, &control);
    assert!(cancelled.unwrap_err().to_string().contains("cancelled"));
}

#[test]
fn sentences_have_the_unit_and_the_digits_that_are_known() {
    let (_folder, source) = rows();
    let fitted = fitted(&Recipe::new(&source, "logistic", "b ~ x + f"));
    // More than half a standard deviation above nothing, but not so far that its interval leaves it out.
    let mut draws = some(4, 4000);
    draws.iter_mut().for_each(|draw| draw[1] += 0.05);
    let draws = list(&draws);
    let made = effects(&fitted, &[&draws], &EffectsOptions::default());
    let told: Vec<String> = (made.effects.iter())
        .filter(|effect| made.is_told(effect))
        .map(|effect| made.sentence(effect))
        .collect();
    assert_eq!(told.len(), 3, "{told:?}");
    assert_eq!(
        told[0],
        "With x one unit higher, the probability that b is 1 is on average 1.5 percentage points higher (90 % interval -0.5 to 3.0), so the direction is open"
    );
    assert!(
        told[1].starts_with("With f b instead of a, "),
        "{}",
        told[1]
    );
}

#[test]
fn what_rounds_to_nothing_is_about_the_same() {
    let (_folder, source) = rows();
    let fitted = fitted(&Recipe::new(&source, "linear", "y ~ x"));
    // A mean of a hundredth of the spread.
    let slope = |i: usize| 0.0001 + if i.is_multiple_of(2) { 0.01 } else { -0.01 };
    let draws: Vec<Vec<f64>> = (0..40).map(|i| vec![1.0, slope(i), 1.0]).collect();
    let made = effects(&fitted, &[&list(&draws)], &EffectsOptions::default());
    let unit = (made.effects.iter()).find(|effect| effect.contrast == Contrast::Unit);
    assert_eq!(
        made.sentence(unit.unwrap()),
        "With x one unit higher, the mean of y is on average about the same (90 % interval -0.010 to 0.010), so the direction is open"
    );
}

/// The model of `tests/reference/effects/data.csv` and the draws of `effects.R`, in the order of its parameters.
fn reference(template: &str, formula: &str) -> (Fitted, Vec<DrawList>) {
    let source = folder().join("data.csv").display().to_string();
    let fitted = fitted(&Recipe::new(&source, template, formula));
    let text = std::fs::read_to_string(folder().join(format!("draws_{template}.csv"))).unwrap();
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let place = |name: &str| names.iter().position(|it| *it == name).unwrap();
    let params = fitted.model.params().iter();
    let order: Vec<usize> = params.map(|it| place(it.name.as_str())).collect();
    assert_eq!(order.len(), names.len());
    let draws: Vec<Vec<f64>> = lines
        .map(|line| {
            let all: Vec<f64> = line
                .split(',')
                .map(|it| it.trim().parse().unwrap())
                .collect();
            order.iter().map(|&j| all[j]).collect()
        })
        .collect();
    let chains = draws.chunks(60).map(list).collect();
    (fitted, chains)
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference/effects")
}

const MODELS: [(&str, &str); 2] = [
    ("logistic", "y ~ x*f + log(z) + t"),
    ("poisson", "k ~ x*z + f + offset(log(e))"),
];

fn near(here: f64, there: &str) -> bool {
    let there: f64 = there.parse().unwrap();
    (here - there).abs() < 1e-8 * there.abs().max(1e-3)
}

/// Expected outcomes along predictors, with the others typical and averaged over the rows, as `effects.R` has them.
#[test]
fn expected_outcomes_along_a_predictor_are_those_of_plain_r() {
    let reference_file = std::fs::read_to_string(folder().join("along.csv")).unwrap();
    let mut compared = 0;
    for (template, formula) in MODELS {
        let (fitted, chains) = reference(template, formula);
        let lists: Vec<&DrawList> = chains.iter().collect();
        for line in reference_file.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').map(str::trim).collect();
            let [model, predictor, others, by] = [0, 1, 2, 3].map(|k| cells[k]);
            if model != template {
                continue;
            }
            let others = match others {
                "rows" => Others::Rows,
                _ => Others::Typical,
            };
            let options = EffectsOptions {
                by: (!by.is_empty()).then(|| "f".to_owned()),
                ..EffectsOptions::default()
            };
            let control = Control::default();
            let how = (others, 5);
            let made = fitted.along((&lists, &[]), predictor, how, &options, &control);
            let made = made.unwrap();
            let curve = made
                .curves
                .iter()
                .find(|curve| curve.by.as_deref().unwrap_or("") == by);
            let is_here = |point: &&CurvePoint| match point.at {
                Place::Number(x) => near(x, cells[4]),
                Place::Level(_) => false,
            };
            let value = &curve.unwrap().points.iter().find(is_here).unwrap().value;
            let here = [
                value.mean(),
                value.summary.sd.unwrap(),
                value.interval[0],
                value.summary.q50.unwrap(),
                value.interval[1],
            ];
            for (k, here) in here.into_iter().enumerate() {
                assert!(near(here, cells[5 + k]), "{line}: {here}");
            }
            compared += 1;
        }
    }
    assert_eq!(compared, reference_file.lines().count() - 1);
}

#[test]
fn along_a_predictor_the_others_are_said_and_what_was_observed_stands_behind() {
    let (_folder, source) = rows();
    let fitted = fitted(&Recipe::new(&source, "mixed", "y ~ x + f + (1 | g)"));
    let draws = list(&some(fitted.model.params().len(), 40));
    let along = |name: &str| {
        let (options, control) = (EffectsOptions::default(), Control::default());
        let how = (Others::Typical, 3);
        fitted.along((&[&draws], &[]), name, how, &options, &control)
    };
    let x = along("x").unwrap();
    let places: Vec<String> = x.curves[0]
        .points
        .iter()
        .map(|point| point.at.label())
        .collect();
    assert_eq!(places, ["0.5", "5.5", "10.5"]);
    assert_eq!(x.remarks, ["With f a in an average group"]);
    assert_eq!(x.observed.len(), 30);
    assert_eq!(x.observed[1], [7.5, 9.5]);
    let f = along("f").unwrap();
    assert_eq!(f.curves[0].points.len(), 3);
    assert!(f.remarks[0].starts_with("With x 5."), "{:?}", f.remarks);
    let mean = (0..30)
        .step_by(3)
        .map(|i| 1.5 + f64::from(i * 7 % 11) + f64::from(i % 4))
        .sum::<f64>()
        / 10.0;
    assert!((f.observed[0][1] - mean).abs() < 1e-12 && f.observed.len() == 3);
    assert!(along("w").unwrap_err().to_string().contains("no predictor"));
}

/// A wave with noise and groups, sampled: along x the expected outcome follows the wave, which lies in the band as often as it
/// should, and beyond the data it goes on as a straight line.
#[test]
fn a_smooth_curve_covers_the_wave_that_it_came_from() {
    use rand::RngExt as _;
    let wave = |x: f64| 3.0 + 1.5 * x.sin();
    let mut rng = stream(31, 0, Purpose::Data);
    let mut text = "y,x,z,g\n".to_owned();
    for i in 0..240_u32 {
        let mut normal = || -> f64 { rng.sample(rand_distr::StandardNormal) };
        let (x, z) = (
            2.0 * std::f64::consts::PI * (f64::from(i) * 0.618_034).fract(),
            normal(),
        );
        // Groups that add up to nothing.
        let group = [0.5, -0.5, 0.8, -0.8, 0.0, 0.0][i as usize % 6];
        text.push_str(&format!(
            "{},{x},{z},g{}\n",
            wave(x) + 0.4 * z + group + 0.6 * normal(),
            i % 6
        ));
    }
    let (_folder, path) = file(&text);
    let source = path.display().to_string();
    let mut recipe = Recipe::new(&source, "mixed", "y ~ z + s(x) + (1 | g)");
    (recipe.run.draws, recipe.run.until_precise) = (500, false);
    let control = Control::default();
    let job = crate::Job::prepare(&recipe, Path::new(""), None, &control).unwrap();
    assert_eq!(job.sampler.spec.id, "nuts");
    let mut run = crate::Run::start(std::sync::Arc::new(job), None, None).unwrap();
    run.join();
    let view = run.view();
    let lists: Vec<&DrawList> = view.usable().map(|chain| &chain.draws.draws).collect();
    assert_eq!(lists.len(), 4);
    let fitted = fitted(&recipe);
    let options = EffectsOptions::default();
    let along = fitted.along(
        (&lists, &[]),
        "x",
        (Others::Typical, 41),
        &options,
        &control,
    );
    let along = along.unwrap();
    let points = &along.curves[0].points;
    let mean_z = {
        let rows = text.lines().skip(1);
        let z = rows.map(|row| row.split(',').nth(2).unwrap().parse::<f64>().unwrap());
        z.sum::<f64>() / 240.0
    };
    let (mut inside, mut squares) = (0, 0.0);
    for point in points {
        let Place::Number(x) = point.at else {
            panic!("{:?}", point.at);
        };
        let expected = wave(x) + 0.4 * mean_z;
        let [low, high] = point.value.interval;
        inside += usize::from((low..=high).contains(&expected));
        squares += (point.value.mean() - expected).powi(2);
        // Without a curve the wave of height 1.5 is missed by 1.
        assert!(high - low < 2.5, "{low} to {high} at {x}");
    }
    // Bands of 95 % of places near each other are in or out together: of 41 most are in.
    assert!(inside >= 35, "{inside}");
    let error = (squares / points.len() as f64).sqrt();
    assert!(error < 0.3, "{error}");
    let summary = ergodic_diagnostics::summarise(
        &fitted
            .model
            .params()
            .iter()
            .map(|param| param.name.clone())
            .collect::<Vec<_>>(),
        &lists,
        &[],
        0.0,
    );
    let of = |name: &str| summary.iter().find(|row| row.variable == *name).unwrap();
    assert!(of("sd[s(x)]").rhat.unwrap() < 1.05);
    // Twice the sd of the wave around its line is 1.4 or so.
    let sd = of("sd[s(x)]").mean.unwrap();
    assert!((0.4..4.0).contains(&sd), "{sd}");
}

/// Numbers of `tests/reference/effects/effects.R`, from the draws that it wrote.
#[test]
fn effects_are_those_of_plain_r_from_the_same_draws() {
    let reference_file = std::fs::read_to_string(folder().join("effects.csv")).unwrap();
    let mut compared = 0;
    for (template, formula) in MODELS {
        let (fitted, chains) = reference(template, formula);
        let lists: Vec<&DrawList> = chains.iter().collect();
        let options = |by: Option<&str>| EffectsOptions {
            pairs: vec!["f".to_owned()],
            of: vec!["x".to_owned(), "z".to_owned()]
                .into_iter()
                .chain((template == "logistic").then(|| "t".to_owned()))
                .collect(),
            by: by.map(str::to_owned),
            ..EffectsOptions::default()
        };
        let plain = effects(&fitted, &lists, &options(None));
        let by_f = effects(&fitted, &lists, &options(Some("f")));
        for line in reference_file.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').map(str::trim).collect();
            let [model, predictor, contrast, by] = [0, 1, 2, 3].map(|k| cells[k]);
            if model != template {
                continue;
            }
            let mut all = plain.effects.iter().chain(&by_f.effects);
            let effect = all.find(|it| {
                let set = it
                    .by
                    .as_ref()
                    .map(|(name, value)| format!("{name}={value}"));
                it.predictor == predictor
                    && it.contrast.label() == contrast
                    && set.unwrap_or_default() == by
            });
            let value = &effect.unwrap().value;
            let here = [
                value.mean(),
                value.summary.sd.unwrap(),
                value.interval[0],
                value.summary.q50.unwrap(),
                value.interval[1],
                value.above,
            ];
            for (k, here) in here.into_iter().enumerate() {
                assert!(near(here, cells[4 + k]), "{line}: {here}");
            }
            compared += 1;
        }
    }
    assert_eq!(compared, reference_file.lines().count() - 1);
}
