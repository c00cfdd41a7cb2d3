//! Predictions against closed forms, importance-free sums, and `predict` of lme4.

mod network;
mod own;

use std::collections::BTreeMap;
use std::path::PathBuf;

use rand_distr::{Distribution as _, StandardNormal};
use statrs::distribution::{ContinuousCDF as _, Normal};

use super::plug_in::predict_file;
use super::*;
use crate::likelihood::{LikelihoodOptions, fit};
use crate::recipe::Scale;
use ergodic_base::{Control, Purpose, stream};
use ergodic_core::families::Family;
use ergodic_data::{Loaded, samples};

fn reference() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference/lme4")
}

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

fn predict(
    fitted: &Fitted,
    draws: &[&DrawList],
    weights: &[Vec<f64>],
    new: Option<&Table>,
    options: PredictOptions,
) -> Result<Predictions, PredictError> {
    fitted.predict(draws, weights, new, options, &Control::default())
}

/// A linear model of ten rows; draws of its reported `b[Intercept], b[x], sigma` are up to the test.
fn line() -> (tempfile::TempDir, Fitted) {
    let rows: String = (0..10)
        .map(|i| format!("{i},{}\n", 2 * i + i % 3))
        .collect();
    let (folder, path) = file(&format!("x,y\n{rows}"));
    let recipe = Recipe::new(path.to_str().unwrap(), "linear", "y ~ x");
    (folder, fitted(&recipe))
}

/// b ~ N((1, 2), diag(0.5², 0.3²)) and σ = 1.5 give normal expectations and normal outcomes.
#[test]
fn a_known_normal_posterior_gives_the_closed_form() {
    const DRAWS: usize = 40_000;
    let (_folder, fitted) = line();
    let mut rng = stream(3, 0, Purpose::Noise);
    let draws: Vec<Vec<f64>> = (0..DRAWS)
        .map(|_| {
            let [a, b]: [f64; 2] = std::array::from_fn(|_| StandardNormal.sample(&mut rng));
            vec![1.0 + 0.5 * a, 2.0 + 0.3 * b, 1.5]
        })
        .collect();
    let (first, second) = draws.split_at(DRAWS / 4);
    let chains = [list(first), list(second)];
    let options = PredictOptions {
        draws: DRAWS,
        ..PredictOptions::default()
    };
    let made = predict(&fitted, &[&chains[0], &chains[1]], &[], None, options).unwrap();
    assert_eq!(
        (made.draws, made.rows.len(), made.whole),
        ((DRAWS, DRAWS), 10, false)
    );
    assert_eq!(made.quantity, "mean of y");
    let n = DRAWS as f64;
    let z = Normal::standard().inverse_cdf(0.95);
    // The standard error of a normal 95 % quantile in standard deviations.
    let at_quantile =
        (0.05_f64 * 0.95).sqrt() / ((-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt());
    for row in &made.rows {
        let x = f64::from(row.row);
        let (mean, sd) = (1.0 + 2.0 * x, (0.25 + 0.09 * x * x).sqrt());
        let spread = (sd * sd + 2.25).sqrt();
        let error = 4.5 / n.sqrt();
        assert!((row.mean - mean).abs() < error * sd);
        assert!((row.sd - sd).abs() < error * sd);
        for (k, sign) in [-1.0, 1.0].into_iter().enumerate() {
            assert!((row.expected[k] - mean - sign * z * sd).abs() < error * at_quantile * sd);
            let outcome = mean + sign * z * spread;
            assert!((row.outcome[k] - outcome).abs() < error * at_quantile * spread);
        }
        assert_eq!(row.observed, 2.0 * x + x % 3.0);
    }
}

/// What is predicted of y by a model of log(y) is what a model of a column of logarithms predicts, taken back: draws, quantiles,
/// and what was observed as it is.
#[test]
fn a_function_of_the_response_is_taken_back() {
    type Function = fn(f64) -> f64;
    let back: [(&str, Function, Function); 5] = [
        ("log", f64::ln, f64::exp),
        ("log2", f64::log2, f64::exp2),
        ("log10", f64::log10, |z| 10_f64.powf(z)),
        ("log1p", f64::ln_1p, f64::exp_m1),
        ("sqrt", f64::sqrt, |z| z.max(0.0).powi(2)),
    ];
    for (name, forth, back) in back {
        let rows: String = (0..10)
            .map(|i| {
                let y = 0.5 + f64::from(i % 4) + 0.3 * f64::from(i);
                format!("{i},{y},{}\n", forth(y))
            })
            .collect();
        let (_folder, path) = file(&format!("x,y,z\n{rows}"));
        let model = |formula: &str| fitted(&Recipe::new(path.to_str().unwrap(), "linear", formula));
        // Of 21 draws 5 % and 95 % are draws themselves, so quantiles need no interpolation.
        let draws: Vec<Vec<f64>> = (0..21)
            .map(|i| {
                vec![
                    0.1 * f64::from(i % 7),
                    0.02 * f64::from(i),
                    0.1 + 0.01 * f64::from(i),
                ]
            })
            .collect();
        let draws = list(&draws);
        let options = PredictOptions::default();
        let of = |formula: &str| predict(&model(formula), &[&draws], &[], None, options).unwrap();
        let (direct, taken) = (of("z ~ x"), of(&format!("{name}(y) ~ x")));
        assert_eq!(taken.quantity, "median of y");
        assert!(taken.remarks()[0].starts_with(&format!("The model explains {name}(y);")));
        for (direct, taken) in direct.rows.iter().zip(&taken.rows) {
            for (a, b) in direct
                .expected
                .iter()
                .chain(&direct.outcome)
                .zip(taken.expected.iter().chain(&taken.outcome))
            {
                assert!(
                    (back(*a) - b).abs() < 1e-12 * (1.0 + b.abs()),
                    "{name}: {a} {b}"
                );
            }
            assert!((back(direct.observed) - taken.observed).abs() < 1e-12);
            let x = f64::from(taken.row);
            let medians = (0..21).map(|s| back(draws.value(s, 0) + draws.value(s, 1) * x));
            assert!((medians.sum::<f64>() / 21.0 - taken.mean).abs() < 1e-12);
        }
        assert_eq!(direct.coverage(), taken.coverage());
    }
}

/// All ways to write successes among trials are one model.
#[test]
fn successes_and_trials_may_be_written_as_r_does() {
    let rows: String = (0..12)
        .map(|i| format!("{i},{},{},{}\n", i % 5, 6 - i % 5 + i % 3, 6 + i % 3))
        .collect();
    let (_folder, path) = file(&format!("x,hit,miss,n\n{rows}"));
    let of = |response: &str| {
        let formula = format!("{response} ~ x");
        let fitted = fitted(&Recipe::new(path.to_str().unwrap(), "logistic", &formula));
        let draws = list(&[vec![-1.0, 0.1], vec![-0.5, 0.05], vec![0.2, -0.1]]);
        predict(&fitted, &[&draws], &[], None, PredictOptions::default())
            .unwrap()
            .rows
    };
    let rows = of("hit | trials(n)");
    for response in ["cbind(hit, miss)", "cbind(hit, n - hit)", "hit/n"] {
        assert_eq!(of(response), rows, "{response}");
    }
}

/// Numbers as categories keep their levels in new rows, and may be numbers beside that.
#[test]
fn categories_of_numbers_are_predicted_in_new_rows() {
    let rows: String = (0..12).map(|i| format!("{},{}\n", i % 3, i)).collect();
    let (_folder, path) = file(&format!("k,y\n{rows}"));
    let recipe = Recipe::new(path.to_str().unwrap(), "linear", "y ~ factor(k) + I(k > 1)");
    let fitted = fitted(&recipe);
    let draws = list(&[vec![1.0, 10.0, 100.0, 1000.0, 1e-9]]);
    let (_other, new) = file("k\n2\n0\n1\n");
    let new = fitted.read(&new, &Control::default()).unwrap();
    let made = predict(
        &fitted,
        &[&draws],
        &[],
        Some(&new),
        PredictOptions::default(),
    )
    .unwrap();
    let means: Vec<f64> = made.rows.iter().map(|row| row.mean).collect();
    assert_eq!(means, [1101.0, 1.0, 11.0]);
}

#[test]
fn weights_count_also_where_they_are_negative() {
    let (_folder, fitted) = line();
    let draws = list(&[0.0, 1.0, 2.0, 4.0].map(|a| vec![a, 0.0, 1e-9]));
    let with = |weights: [f64; 4]| {
        predict(
            &fitted,
            &[&draws],
            &[weights.to_vec()],
            None,
            PredictOptions::default(),
        )
    };
    let row = with([1.0, 3.0, 1.0, 0.0]).unwrap().rows[0];
    assert!((row.mean - 1.0).abs() < 1e-12);
    // The middle of nine draws where one of four counts −1.
    let many: Vec<Vec<f64>> = (0..900)
        .map(|i| vec![f64::from(i % 9), 0.0, 1e-9])
        .collect();
    let weights: Vec<f64> = (0..900)
        .map(|i| if i % 9 == 8 { -0.1 } else { 1.0 })
        .collect();
    let expected: f64 = (0..8).map(f64::from).sum::<f64>() - 0.8;
    let many = list(&many);
    let made = predict(
        &fitted,
        &[&many],
        &[weights],
        None,
        PredictOptions::default(),
    )
    .unwrap();
    assert!((made.rows[0].mean - expected / 7.9).abs() < 1e-9);
    assert!(
        made.rows[0].expected[1] < 7.5,
        "the negative draw is cut off"
    );
    let refused = with([1.0, -1.0, 1.0, -1.0]).unwrap_err().to_string();
    assert!(refused.contains("not positive beyond doubt"), "{refused}");
    // Thinning keeps the weight of each draw.
    let thinned = PredictOptions {
        draws: 2,
        ..PredictOptions::default()
    };
    let made = predict(
        &fitted,
        &[&draws],
        &[vec![1.0, 0.0, 3.0, 0.0]],
        None,
        thinned,
    )
    .unwrap();
    assert_eq!(made.draws, (2, 4));
    assert!((made.rows[0].mean - 1.5).abs() < 1e-12, "draws 0 and 2");
    assert!(made.remarks()[0].contains("2 of 4 draws"));
}

#[test]
fn rows_without_a_value_are_left_out_and_unknown_levels_refused() {
    let (_data, path) = file("x,f,y\n1,a,0\n2,b,3\n3,a,2\n4,b,5\n5,a,4\n6,b,8\n");
    let recipe = Recipe::new(path.to_str().unwrap(), "poisson", "y ~ x + f");
    let fitted = fitted(&recipe);
    let draws = list(&[vec![0.1, 0.2, 0.3], vec![0.1, 0.2, 0.3]]);
    let control = Control::default();
    let (_new, rows) = file("x,f\n1,b\n,b\n2,\n0,a\n");
    let table = fitted.read(&rows, &control).unwrap();
    let made = predict(
        &fitted,
        &[&draws],
        &[],
        Some(&table),
        PredictOptions::default(),
    )
    .unwrap();
    let means: Vec<(u32, f64)> = made.rows.iter().map(|row| (row.row, row.mean)).collect();
    assert_eq!((means[0].0, means[1].0, means.len()), (0, 3, 2));
    assert!(
        (means[0].1 - 0.6_f64.exp()).abs() < 1e-12 && (means[1].1 - 0.1_f64.exp()).abs() < 1e-12
    );
    assert_eq!(
        made.remarks(),
        ["2 rows of 4 left out: 1 without `x`, 1 without `f`"]
    );
    assert!(made.rows[0].observed.is_nan() && made.coverage() == (0, 0));
    let (_bad, bad) = file("x,f\n1,c\n2,a\n");
    let table = fitted.read(&bad, &control).unwrap();
    let error = predict(
        &fitted,
        &[&draws],
        &[],
        Some(&table),
        PredictOptions::default(),
    );
    let text = error.unwrap_err().to_string();
    assert!(
        text.contains("`f` is `c` in line 2") && text.contains("`a`, `b`"),
        "{text}"
    );
}

/// The table of the fit had no missing value, so that its recipe names no code of one; `NA` stays a level where it was one.
#[test]
fn usual_codes_among_numbers_of_new_rows_are_missing_values() {
    for (level, code) in [("a", "NA"), ("NA", ".")] {
        let (_data, path) = file(&format!(
            "x,f,y\n1,{level},0\n2,b,3\n3,{level},2\n4,b,5\n5,{level},4\n6,b,8\n"
        ));
        let mut recipe = Recipe::new(path.to_str().unwrap(), "poisson", "y ~ x + f");
        recipe.data.import.missing = Some(Vec::new());
        let fitted = fitted(&recipe);
        let draws = list(&[vec![0.1, 0.2, 0.3], vec![0.1, 0.2, 0.3]]);
        let (_new, rows) = file(&format!("x,f\n{code},b\n1,b\n0,{level}\n"));
        let table = fitted.read(&rows, &Control::default()).unwrap();
        let options = PredictOptions::default();
        let made = predict(&fitted, &[&draws], &[], Some(&table), options).unwrap();
        let rows: Vec<u32> = made.rows.iter().map(|row| row.row).collect();
        assert_eq!(rows, [1, 2]);
        assert!((made.rows[0].mean - 0.6_f64.exp()).abs() < 1e-12);
        assert!((made.rows[1].mean - 0.1_f64.exp()).abs() < 1e-12);
        assert_eq!(made.remarks(), ["1 row of 3 left out: 1 without `x`"]);
    }
}

/// The data of a run folder that was moved: the sentence says which recipe names them.
#[test]
fn data_of_a_moved_run_are_named_in_its_recipe() {
    let folder = tempfile::tempdir().unwrap();
    let recipe = Recipe::new("gone.csv", "linear", "y ~ x");
    let refused = || {
        let opened = Fitted::open(&recipe, folder.path(), &Control::default());
        opened.err().unwrap().to_string()
    };
    assert!(refused().contains("check the path"), "{}", refused());
    std::fs::write(folder.path().join("recipe.toml"), recipe.to_toml()).unwrap();
    let said = refused();
    let path = folder.path().join("recipe.toml").display().to_string();
    assert!(
        said.contains(&format!("as `source` in section `[data]` of {path}: ")),
        "{said}"
    );
}

/// Ids as other programs write them where one is missing, `1.0`: the file of the fit predicts what the rows of the fit do.
#[test]
fn groups_that_are_numbers_are_known_however_they_are_written() {
    let rows = (1..=6).flat_map(|g| (1..=4).map(move |i| format!("{g}.0,{}\n", g * 10 + i)));
    let (_data, path) = file(&format!("g,y\n{}", rows.collect::<String>()));
    let recipe = Recipe::new(path.to_str().unwrap(), "mixed", "y ~ (1 | g)");
    let fitted = fitted(&recipe);
    let mut params = fitted.model.params().iter();
    let place = params.position(|param| param.name == *"r[g,3,Intercept]");
    let mut theta = vec![0.5; fitted.model.params().len()];
    theta[place.unwrap()] = 4.0;
    let draws = list(&[theta.clone(), theta]);
    let options = PredictOptions::default();
    let own = predict(&fitted, &[&draws], &[], None, options).unwrap();
    let table = fitted.read(&path, &Control::default()).unwrap();
    let again = predict(&fitted, &[&draws], &[], Some(&table), options).unwrap();
    assert!(again.new_groups.is_empty(), "{:?}", again.new_groups);
    let means = |made: &Predictions| made.rows.iter().map(|row| row.mean).collect::<Vec<_>>();
    assert_eq!(means(&own), means(&again));
    assert!((own.rows[8].mean - own.rows[0].mean - 3.5).abs() < 1e-12);
}

/// One draw with known effects: rows of known groups follow them; those of a new group vary by Σ, alike within the group.
#[test]
fn new_groups_come_from_the_population() {
    let source = reference().join("slopes.csv");
    let mut recipe = Recipe::new(
        source.to_str().unwrap(),
        "mixed",
        "y ~ day + (day | subject)",
    );
    for scale in [Scale::Original, Scale::Standardised] {
        recipe.report.scale = scale;
        let fitted = fitted(&recipe);
        let names: Vec<String> = fitted
            .model
            .params()
            .iter()
            .map(|p| p.name.to_string())
            .collect();
        let at = |name: &str| names.iter().position(|n| n == name).unwrap();
        // Raw values to reported ones through the model's own coordinates would test nothing; the standardised scale is
        // checked against the original one by its units.
        let (y_sd, day_sd) = match scale {
            Scale::Original => (1.0, 1.0),
            Scale::Standardised => spread(&source),
        };
        let mut theta = vec![0.0; names.len()];
        theta[at("sigma")] = 1e-6 / y_sd;
        theta[at("sd[subject,Intercept]")] = 20.0 / y_sd;
        theta[at("sd[subject,day]")] = 5.0 * day_sd / y_sd;
        theta[at("cor[subject,Intercept,day]")] = 0.6;
        theta[at("r[subject,s01,Intercept]")] = 10.0 / y_sd;
        theta[at("r[subject,s01,day]")] = -2.0 * day_sd / y_sd;
        theta[at("b[day]")] = 10.0 * day_sd / y_sd;
        let draws = list(&vec![theta; 4000]);
        let options = PredictOptions {
            draws: 4000,
            ..PredictOptions::default()
        };
        let (_new, rows) = file("subject,day\ns01,0\ns01,3\nzz,3\nzz,3\n");
        let table = fitted.read(&rows, &Control::default()).unwrap();
        let with = predict(&fitted, &[&draws], &[], Some(&table), options).unwrap();
        let without = PredictOptions {
            with_groups: false,
            ..options
        };
        let without = predict(&fitted, &[&draws], &[], Some(&table), without).unwrap();
        let [a, b, c, d] = with.rows[..] else {
            panic!("four rows");
        };
        assert!((a.mean - without.rows[0].mean - 10.0).abs() < 1e-6);
        assert!((b.mean - without.rows[1].mean - (10.0 - 6.0)).abs() < 1e-6);
        assert!((without.rows[1].mean - without.rows[0].mean - 30.0).abs() < 1e-6);
        // var(r_0 + 3 r_1) = 400 + 9·25 + 6·0.6·100.
        let sd = 985.0_f64.sqrt();
        assert!((c.mean - without.rows[2].mean).abs() < 4.5 * sd / 4000.0_f64.sqrt());
        assert!(
            (c.sd / sd - 1.0).abs() < 4.5 / 8000.0_f64.sqrt(),
            "{} {sd}",
            c.sd
        );
        assert_eq!((c.mean, c.sd), (d.mean, d.sd), "one group, one effect");
        assert!(c.new_group && !a.new_group && b.sd < 1e-6);
        assert_eq!(with.new_groups, [new_groups("subject", 1, 2)]);
        assert!(with.remarks()[0].contains("drawn from the population"));
        assert!(without.new_groups.is_empty() && without.remarks()[0].contains("average group"));
    }
}

fn new_groups(grouping: &str, groups: usize, rows: usize) -> UnknownGroups {
    let grouping = grouping.to_owned();
    UnknownGroups {
        grouping,
        groups,
        rows,
    }
}

/// Two groupings whose new groups have different rows, under linear predictors and under a model that reads the rows itself.
#[test]
fn new_groups_are_counted_by_grouping() {
    let rows = (0..60).map(|k| {
        let (user, item) = (k % 12, k / 12);
        let rating =
            3.0 + 0.5 * f64::from(user % 3) - 0.4 * f64::from(item % 2) + 0.01 * f64::from(k % 7);
        format!("u{user},i{item},{rating}\n")
    });
    let (_data, path) = file(&format!("user,item,rating\n{}", rows.collect::<String>()));
    let formula = "rating ~ (1 | user) + (1 | item)";
    let (_new, rows) = file("user,item,rating\nu0,i0,3\nzz,i0,3\nzz,i1,3\nu1,new,3\n");
    for template in ["mixed", "factorization"] {
        let recipe = Recipe::new(path.to_str().unwrap(), template, formula);
        let fitted = fitted(&recipe);
        let theta = vec![0.5; fitted.model.params().len()];
        let draws = list(&vec![theta; 40]);
        let table = fitted.read(&rows, &Control::default()).unwrap();
        let options = PredictOptions::default();
        let made = predict(&fitted, &[&draws], &[], Some(&table), options).unwrap();
        let are_new = made.rows.iter().map(|row| row.new_group);
        assert_eq!(
            are_new.collect::<Vec<_>>(),
            [false, true, true, true],
            "{template}"
        );
        let by_grouping = [new_groups("user", 1, 2), new_groups("item", 1, 1)];
        assert_eq!(made.new_groups, by_grouping, "{template}");
        let told = made.remarks();
        for part in [
            "1 group of `user` not in the fit (2 rows)",
            "1 group of `item` not in the fit (1 row)",
        ] {
            assert!(
                told.iter().any(|it| it.starts_with(part)),
                "{template}: {told:?}"
            );
        }
    }
}

/// Standard deviations (divisor n) of `y` and of `day`; group effects are reported per standard deviation about 0.
fn spread(source: &Path) -> (f64, f64) {
    let table = load(source, &ImportOptions::default(), &Control::default())
        .unwrap()
        .table;
    let sd = |name: &str| {
        let values = table.numbers(table.index_of(name, "").unwrap()).unwrap();
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt()
    };
    (sd("y"), sd("day"))
}

/// Every regression has draws whose expected outcomes agree with what the model itself simulates.
#[test]
fn all_templates_predict_what_they_simulate() {
    const SIMULATIONS: usize = 3000;
    let set = |name: &str| {
        reference()
            .join(format!("{name}.csv"))
            .display()
            .to_string()
    };
    let churn = "sample:churn".to_owned();
    for (template, source, formula, family) in [
        ("logistic", churn, "churned ~ age + plan", None),
        ("logistic", set("binomial"), "r | trials(n) ~ x", None),
        ("linear", set("unbalanced"), "y ~ x*f", None),
        ("student", set("unbalanced"), "y ~ 0 + x + f", None),
        ("poisson", set("counts"), "y ~ x + offset(log(e))", None),
        (
            "negative-binomial",
            set("counts"),
            "y ~ x + offset(log(e))",
            None,
        ),
        ("hierarchical", set("binary"), "y ~ x + (1 + x | g)", None),
        (
            "mixed",
            set("crossed"),
            "y ~ x + (1 + x | subject) + (1 | item)",
            None,
        ),
        (
            "mixed",
            set("counts"),
            "y ~ x + (1 | g)",
            Some("negative_binomial"),
        ),
    ] {
        for scale in [Scale::Original, Scale::Standardised] {
            let mut recipe = Recipe::new(&source, template, formula);
            recipe.report.scale = scale;
            if let Some(family) = family {
                recipe = recipe.changed(&[format!("model.family={family}")]).unwrap();
            }
            let fitted = fitted(&recipe);
            let model = &fitted.model;
            let mut rng = stream(5, 0, Purpose::Init);
            let mut u = vec![0.0; model.dim()];
            model.density().unwrap().init(&mut rng, &mut u);
            u.iter_mut().for_each(|u| *u *= 0.3);
            let mut theta = vec![0.0; model.params().len()];
            model.constrain(&u, &mut theta);
            let draws = list(&[theta.clone(), theta]);
            let made = predict(&fitted, &[&draws], &[], None, PredictOptions::default()).unwrap();
            // The design's rows are shuffled; those of predictions are in the order of the file.
            let loaded = load_any(&source);
            let frame = job::model_frame(&recipe, &loaded.table).unwrap();
            let (design, _) = Design::build(&loaded.table, &frame).unwrap();
            let rows: Vec<u32> = (0..4).collect();
            let (mut sums, mut squares) = ([0.0; 4], [0.0; 4]);
            let mut y = [0.0; 4];
            for _ in 0..SIMULATIONS {
                model.prior_draws().unwrap().simulate(
                    &u,
                    ergodic_core::models::Rows::Pick(&rows),
                    &mut rng,
                    &mut y,
                );
                for k in 0..4 {
                    let share = y[k] / design.trials.as_ref().map_or(1.0, |trials| trials[k]);
                    sums[k] += share;
                    squares[k] += share * share;
                }
            }
            for k in 0..4 {
                let row = made
                    .rows
                    .iter()
                    .find(|row| row.row == design.row[k])
                    .unwrap();
                let n = SIMULATIONS as f64;
                let mean = sums[k] / n;
                let error = ((squares[k] / n - mean * mean) / n).sqrt();
                assert!(
                    (row.mean - mean).abs() < 4.5 * error + 1e-9,
                    "{template} {formula} {scale:?}: {} for {mean} ± {error}",
                    row.mean
                );
                assert!(
                    row.sd < 1e-9 * (1.0 + row.mean.abs()),
                    "both draws are the same"
                );
            }
        }
    }
}

fn load_any(source: &str) -> Loaded {
    let (options, control) = (ImportOptions::default(), Control::default());
    match source.strip_prefix("sample:") {
        Some(id) => samples::load(id, &options, &control).unwrap(),
        None => load(Path::new(source), &options, &control).unwrap(),
    }
}

#[test]
fn models_without_an_outcome_predict_nothing() {
    let recipe = Recipe::new("sample:churn", "dp-mixture", "~ age");
    let error = Fitted::open(&recipe, Path::new(""), &Control::default());
    let text = error.err().unwrap().to_string();
    assert!(text.contains("explains no outcome"), "{text}");
}

#[test]
fn threads_and_the_other_rows_change_nothing() {
    let recipe = Recipe::new("sample:churn", "logistic", "churned ~ age");
    let fitted = fitted(&recipe);
    let draws = list(
        &(0..50)
            .map(|i| vec![-1.0 + 0.01 * f64::from(i), 0.02])
            .collect::<Vec<_>>(),
    );
    let options = PredictOptions::default();
    let all = predict(&fitted, &[&draws], &[], None, options).unwrap();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    let one = pool.install(|| predict(&fitted, &[&draws], &[], None, options).unwrap());
    assert_eq!(all.rows, one.rows);
    let (inside, observed) = all.coverage();
    assert!(observed == all.rows.len() && inside <= observed);
    let control = Control::default();
    control.cancel();
    let cancelled = fitted.predict(&[&draws], &[], None, options, &control);
    assert!(matches!(cancelled, Err(PredictError::Cancelled)));
}

/// `predict(fit, new, re.form = NA / NULL, type = "response", allow.new.levels = TRUE)` of lme4, from
/// `tests/reference/predictions.R`.
#[test]
fn plug_in_predictions_are_those_of_lme4() {
    let text = std::fs::read_to_string(reference().join("predictions.csv")).unwrap();
    let mut expected: BTreeMap<&str, Vec<[f64; 2]>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        let value = |k: usize| cells[k].parse::<f64>().unwrap();
        expected
            .entry(cells[0])
            .or_default()
            .push([value(2), value(3)]);
    }
    for (id, formula, family, reml) in [
        (
            "unbalanced:reml",
            "y ~ x + f + (1 | g)",
            Family::Gaussian,
            true,
        ),
        (
            "unbalanced:spline",
            "y ~ ns(x, 3) + f + (1 | g)",
            Family::Gaussian,
            true,
        ),
        (
            "slopes:reml",
            "y ~ day + (day | subject)",
            Family::Gaussian,
            true,
        ),
        (
            "crossed:ml",
            "y ~ x + (1 + x | subject) + (1 | item)",
            Family::Gaussian,
            false,
        ),
        (
            "binary:laplace",
            "y ~ x + (1 | g)",
            Family::Bernoulli,
            false,
        ),
        (
            "counts:laplace",
            "y ~ x + offset(log(e)) + (1 | g)",
            Family::Poisson,
            false,
        ),
    ] {
        let set = id.split(':').next().unwrap();
        let source = reference().join(format!("{set}.csv"));
        let recipe = Recipe::new(source.to_str().unwrap(), "mixed", formula);
        let options = LikelihoodOptions {
            family,
            reml,
            ..LikelihoodOptions::default()
        };
        let control = Control::default();
        let done = fit(&recipe, Path::new(""), None, &options, &control).unwrap();
        let new = reference().join(format!("new_{set}.csv"));
        let made = predict_file(&done, &new, &Control::default()).unwrap();
        let expected = &expected[id];
        assert_eq!(made.rows.len(), expected.len());
        for (row, [fixed, with]) in made.rows.iter().zip(expected) {
            for (here, there) in [(row.fixed, fixed), (row.with_groups, with)] {
                assert!(
                    (here - there).abs() < 1e-5 * there.abs(),
                    "{id} row {}: {here} here, {there} there",
                    row.row + 1
                );
            }
        }
        assert!(made.remarks[0].contains("not in the fit: their effects are 0"));
    }
}
