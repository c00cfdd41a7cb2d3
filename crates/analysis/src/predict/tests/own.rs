//! Models as text against the templates that say the same, from the same draws.

use std::path::Path;

use crate::check::Resolution;
use crate::effects::{EffectsOptions, Others};
use crate::hold_out::HoldOut;
use crate::predict::scores::Measure;
use crate::predict::*;
use ergodic_base::settings::Value;
use ergodic_base::{Purpose, stream};
use rand::RngExt as _;
use rand_distr::StandardNormal;

/// A table of numbers, categories and outcomes of every kind, 80 rows.
fn table() -> (tempfile::TempDir, String) {
    let mut text = "x,f,y,k,s,n,churned,z,level\n".to_owned();
    for i in 0..80_u32 {
        let x = 0.25 * f64::from(i * 7 % 17) - 1.5;
        let f = ["a", "b", "c"][i as usize % 3];
        let y = 1.0 + 0.5 * x + 0.3 * f64::from(i * 5 % 7) - 0.9;
        let n = 2 + i % 4;
        text.push_str(&format!(
            "{x},{f},{y},{},{},{n},{},{},{}\n",
            i * i % 5,
            (i * 3 % 7).min(n),
            if i * 5 % 11 < 4 { "yes" } else { "no" },
            (0.2 * y).exp(),
            1 + i * 3 % 4
        ));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.csv");
    std::fs::write(&path, text).unwrap();
    (folder, path.display().to_string())
}

/// A pair that says the same with the same parameters in the same order: a template with its formula and changes, and a text.
struct Pair {
    template: &'static str,
    formula: &'static str,
    changes: &'static [&'static str],
    text: &'static str,
    /// What each quantity is made of a standard normal number.
    draw: fn(usize, f64) -> f64,
}

const PAIRS: &[Pair] = &[
    Pair {
        template: "logistic",
        formula: "churned ~ x + f",
        changes: &[],
        text: "parameters\n a ~ normal(0, 2)\n b ~ normal(0, 2)\n c: vector(2) ~ normal(0, 2)\nrows\n (churned == \"yes\") ~ bernoulli_logit(a + b * x + c[1] * (f == \"b\") + c[2] * (f == \"c\"))\n",
        draw: |_j, z| 0.5 * z,
    },
    Pair {
        template: "logistic",
        formula: "s | trials(n) ~ x",
        changes: &[],
        text: "parameters\n a ~ normal(0, 2)\n b ~ normal(0, 2)\nrows\n s ~ binomial_logit(n, a + b * x)\n",
        draw: |_j, z| 0.5 * z,
    },
    Pair {
        template: "linear",
        formula: "y ~ x + f",
        changes: &[],
        text: "parameters\n a ~ normal(0, 2)\n b ~ normal(0, 2)\n c: vector(2) ~ normal(0, 2)\n s ~ gamma(2, 1)\nrows\n y ~ normal(a + b * x + c[1] * (f == \"b\") + c[2] * (f == \"c\"), s)\n",
        draw: |j, z| if j == 4 { (0.2 * z).exp() } else { 0.5 * z },
    },
    Pair {
        template: "linear",
        formula: "log(z) ~ x",
        changes: &[],
        text: "parameters\n a ~ normal(0, 2)\n b ~ normal(0, 2)\n s ~ gamma(2, 1)\nrows\n log(z) ~ normal(a + b * x, s)\n",
        draw: |j, z| if j == 2 { (0.2 * z).exp() } else { 0.3 * z },
    },
    Pair {
        template: "poisson",
        formula: "k ~ x + f",
        changes: &[],
        text: "parameters\n a ~ normal(0, 2)\n b ~ normal(0, 2)\n c: vector(2) ~ normal(0, 2)\nrows\n k ~ poisson_log(a + b * x + c[1] * (f == \"b\") + c[2] * (f == \"c\"))\n",
        draw: |_j, z| 0.4 * z,
    },
    Pair {
        template: "poisson",
        formula: "k ~ x + y",
        changes: &[],
        text: "data\n v: vector = [x, y*]\nparameters\n a ~ normal(0, 2)\n w: vector(length(v)) ~ normal(0, 2)\nrows\n k ~ poisson_log(a + dot(w, v))\n",
        draw: |_j, z| 0.4 * z,
    },
    Pair {
        template: "negative-binomial",
        formula: "k ~ x",
        changes: &[],
        text: "parameters\n a ~ normal(0, 2)\n b ~ normal(0, 2)\n shape ~ gamma(2, 1)\nrows\n k ~ neg_binomial_2_log(a + b * x, shape)\n",
        draw: |j, z| if j == 2 { z.exp() } else { 0.4 * z },
    },
    Pair {
        template: "student",
        formula: "y ~ x",
        changes: &[],
        text: "parameters\n a ~ normal(0, 2)\n b ~ normal(0, 2)\n s ~ gamma(2, 1)\n nu in (1, inf)\nrows\n y ~ student_t(nu, a + b * x, s)\n",
        draw: |j, z| match j {
            2 => (0.2 * z).exp(),
            3 => 3.0 + z * z,
            _ => 0.5 * z,
        },
    },
];

impl Pair {
    fn recipes(&self, path: &str) -> [Recipe; 2] {
        let mut template = Recipe::new(path, self.template, self.formula);
        let changes: Vec<String> = self.changes.iter().map(|it| (*it).to_owned()).collect();
        template = template.changed(&changes).unwrap();
        let mut own = Recipe::new(path, Own::ID, "");
        let text = Value::Text(self.text.to_owned());
        own.model.settings.set(Own::PROGRAM, text);
        [template, own]
    }

    fn fitted(&self, path: &str) -> [Fitted; 2] {
        self.recipes(path)
            .map(|recipe| Fitted::open(&recipe, Path::new(""), &Control::default()).unwrap())
    }

    /// Draws of both models' quantities, of which the second may have more that are reported.
    fn draws(&self, of: &[Fitted; 2], count: usize) -> DrawList {
        let width = of[0].model.params().len();
        assert_eq!(width, of[1].model.params().len(), "{}", self.template);
        let mut rng = stream(12, 0, Purpose::Noise);
        let mut list = DrawList::new(width);
        for _ in 0..count {
            let row: Vec<f64> = (0..width)
                .map(|j| (self.draw)(j, rng.sample(StandardNormal)))
                .collect();
            list.push(&row);
        }
        list
    }
}

fn near(got: f64, wanted: f64, tolerance: f64, what: &str) {
    let same = (got - wanted).abs() <= tolerance * wanted.abs().max(1.0);
    assert!(same, "{what}: {got} against {wanted}");
}

const CONTROL: fn() -> Control = Control::default;

#[test]
fn rows_are_as_likely_and_scores_the_same() {
    let (_folder, path) = table();
    for pair in PAIRS {
        let of = pair.fitted(&path);
        let draws = pair.draws(&of, 200);
        let values = of.each_ref().map(|fitted| {
            let log_lik = fitted
                .log_lik(&[&draws], &[], usize::MAX, &CONTROL())
                .unwrap();
            let mut values = vec![0.0; log_lik.num_rows() * 200];
            log_lik.tile(0, 200, &mut values);
            values
        });
        assert_eq!(values[0].len(), 80 * 200);
        for (template, own) in values[0].iter().zip(&values[1]) {
            near(*own, *template, 1e-8, pair.template);
        }
        let found = of.each_ref().map(|fitted| {
            crate::loo::cross_validate(fitted, (&[&draws], &[]), usize::MAX, None, &CONTROL())
                .unwrap()
        });
        let [template, own] = found;
        near(
            own.loo.elpd().estimate,
            template.loo.elpd().estimate,
            1e-8,
            pair.template,
        );
        near(
            own.loo.elpd().se,
            template.loo.elpd().se,
            1e-8,
            pair.template,
        );
        // They may be compared: outcomes are the same, whoever reads them.
        let runs = [("one".to_owned(), &template), ("two".to_owned(), &own)];
        let compared = crate::loo::compare(&runs).unwrap();
        near(compared.models[1].difference.estimate, 0.0, 1e-7, "elpd");
        let [template, own] = of.each_ref().map(|it| &it.response);
        assert_eq!(template.name, own.name);
        assert_eq!(template.counts, own.counts);
        assert_eq!(quantity(template), quantity(own));
    }
}

#[test]
fn predictions_are_the_same_but_for_noise() {
    let (_folder, path) = table();
    for pair in PAIRS {
        let of = pair.fitted(&path);
        let draws = pair.draws(&of, 4000);
        let options = PredictOptions {
            draws: 4000,
            ..PredictOptions::default()
        };
        let [template, own] = of.each_ref().map(|fitted| {
            fitted
                .predict(&[&draws], &[], None, options, &CONTROL())
                .unwrap()
        });
        assert_eq!(template.quantity, own.quantity);
        assert_eq!(template.whole, own.whole);
        for (a, b) in template.rows.iter().zip(&own.rows) {
            near(b.mean, a.mean, 1e-10, pair.template);
            near(b.sd, a.sd, 1e-9, pair.template);
            near(b.expected[1], a.expected[1], 1e-9, pair.template);
            assert_eq!(
                (a.row, a.observed, a.trials),
                (b.row, b.observed, b.trials),
                "{}",
                pair.template
            );
            // Ends of intervals by simulation, of 4,000 draws each.
            let width = (a.outcome[1] - a.outcome[0]).max(1.0);
            for k in 0..2 {
                let apart = (b.outcome[k] - a.outcome[k]).abs();
                assert!(
                    apart < 0.15 * width + f64::from(u8::from(a.observed.fract() == 0.0)),
                    "{}: {:?} {:?}",
                    pair.template,
                    a.outcome,
                    b.outcome
                );
            }
        }
    }
}

/// exp(y) is lognormal where y is normal: medians, intervals and densities of y are the same.
#[test]
fn outcomes_within_exp_are_taken_back() {
    let (_folder, path) = table();
    let start = "parameters\n a ~ normal(0, 2)\n b ~ normal(0, 2)\n s ~ gamma(2, 1)\nrows\n";
    let [plain, within] = [
        "y ~ normal(a + b * x, s)",
        "exp(y) ~ lognormal(a + b * x, s)",
    ]
    .map(|line| {
        let mut recipe = Recipe::new(&path, Own::ID, "");
        let text = Value::Text(format!("{start} {line}\n"));
        recipe.model.settings.set(Own::PROGRAM, text);
        Fitted::open(&recipe, Path::new(""), &CONTROL()).unwrap()
    });
    let mut draws = DrawList::new(3);
    for i in 0..400 {
        let part = f64::from(i) / 400.0;
        draws.push(&[1.0 + 0.2 * part, 0.5 - 0.1 * part, 0.6 + 0.1 * part]);
    }
    let of = [&plain, &within].map(|fitted| {
        let options = PredictOptions::default();
        let predicted = fitted.predict(&[&draws], &[], None, options, &CONTROL());
        let log_lik = fitted.log_lik(&[&draws], &[], usize::MAX, &CONTROL());
        let (predicted, log_lik) = (predicted.unwrap(), log_lik.unwrap());
        let mut values = vec![0.0; log_lik.num_rows() * 400];
        log_lik.tile(0, 400, &mut values);
        (predicted, values)
    });
    let [(plain, of_plain), (within, of_within)] = of;
    assert_eq!(within.quantity, "median of y");
    for (a, b) in plain.rows.iter().zip(&within.rows) {
        near(b.mean, a.mean, 1e-10, "mean");
        near(b.expected[0], a.expected[0], 1e-10, "interval");
        near(b.observed, a.observed, 1e-12, "observed");
        // The same draws of noise, of which both are made.
        near(b.outcome[0], a.outcome[0], 1e-10, "outcome");
        near(b.outcome[1], a.outcome[1], 1e-10, "outcome");
    }
    for (a, b) in of_plain.iter().zip(&of_within) {
        near(*b, *a, 1e-8, "log density");
    }
}

/// A new row of which no finite number comes is named by its line in the file.
#[test]
fn a_new_row_that_a_text_cannot_read_is_named() {
    let (folder, path) = table();
    let mut recipe = Recipe::new(&path, Own::ID, "");
    let text = "parameters\n a ~ normal(0, 1)\nrows\n k ~ poisson_log(a + log(n))\n".to_owned();
    recipe.model.settings.set(Own::PROGRAM, Value::Text(text));
    let fitted = Fitted::open(&recipe, Path::new(""), &CONTROL()).unwrap();
    let mut draws = DrawList::new(1);
    (0..50).for_each(|i| draws.push(&[0.01 * f64::from(i)]));
    let path = folder.path().join("new.csv");
    std::fs::write(&path, "n,k\n3,1\n0,2\n").unwrap();
    let new = fitted.read(&path, &CONTROL()).unwrap();
    let options = PredictOptions::default();
    let refused = fitted.predict(&[&draws], &[], Some(&new), options, &CONTROL());
    let why = refused.unwrap_err().to_string();
    assert!(why.contains("but this is -inf in line 3"), "{why}");
}

/// Rows of another file are predicted by the names of their columns, with or without the outcome; categories that the fit does not
/// know are refused.
#[test]
fn new_rows_are_predicted_by_the_names_of_their_columns() {
    let (folder, path) = table();
    let pair = &PAIRS[0];
    let of = pair.fitted(&path);
    let draws = pair.draws(&of, 50);
    let predict = |fitted: &Fitted, text: &str| {
        let path = folder.path().join("new.csv");
        std::fs::write(&path, text).unwrap();
        let new = fitted.read(&path, &CONTROL()).unwrap();
        let options = PredictOptions::default();
        fitted.predict(&[&draws], &[], Some(&new), options, &CONTROL())
    };
    for text in [
        "f,x\nc,0.5\na,-1\n,2\nb,3\n",
        "x,churned,f\n0.5,yes,c\n-1,,a\n2,no,\n3,maybe,b\n",
    ] {
        let [template, own] = of.each_ref().map(|fitted| predict(fitted, text).unwrap());
        assert_eq!((own.rows.len(), own.rows_total), (3, 4));
        assert_eq!(own.dropped, template.dropped);
        for (a, b) in template.rows.iter().zip(&own.rows) {
            near(b.mean, a.mean, 1e-10, text);
            assert_eq!(a.row, b.row);
            assert_eq!(a.observed.to_bits(), b.observed.to_bits(), "{text}");
        }
    }
    for fitted in &of {
        let told = predict(fitted, "x,churned,f\n0.5,yes,c\n2,no,a\n3,maybe,b\n");
        let remarks = told.unwrap().remarks();
        assert!(
            remarks.iter().any(|remark| remark
                == "1 row whose `churned` is `maybe` or another value that no row of the fit has: it is taken as missing"),
            "{remarks:?}"
        );
    }
    let why = predict(&of[1], "f,x\nd,0.5\n").unwrap_err().to_string();
    assert!(why.contains("`f` is `d`"), "{why}");
    let why = predict(&of[1], "f\na\n").unwrap_err().to_string();
    assert!(why.contains("`x`"), "{why}");
}

#[test]
fn effects_are_the_same() {
    let (_folder, path) = table();
    for pair in PAIRS {
        let of = pair.fitted(&path);
        let draws = pair.draws(&of, 300);
        let options = EffectsOptions::default();
        let [template, own] = of.each_ref().map(|fitted| {
            fitted
                .effects(&[&draws], &[], &options, &CONTROL())
                .unwrap()
        });
        assert_eq!(
            template.effects.len(),
            own.effects.len(),
            "{}",
            pair.template
        );
        for (a, b) in template.effects.iter().zip(&own.effects) {
            assert_eq!((&a.predictor, &a.contrast), (&b.predictor, &b.contrast));
            let what = format!("{} {} {:?}", pair.template, a.predictor, a.contrast);
            near(b.value.mean(), a.value.mean(), 1e-7, &what);
        }
        let along = of.each_ref().map(|fitted| {
            let how = (Others::Rows, 5);
            fitted
                .along((&[&draws], &[]), "x", how, &options, &CONTROL())
                .unwrap()
        });
        let [template, own] = along;
        assert_eq!(template.observed, own.observed);
        for (a, b) in template.curves[0].points.iter().zip(&own.curves[0].points) {
            near(b.value.mean(), a.value.mean(), 1e-9, "along x");
        }
    }
}

#[test]
fn rows_held_out_are_scored_the_same() {
    let (_folder, path) = table();
    for pair in PAIRS {
        let of = pair.recipes(&path).map(|mut recipe| {
            recipe.model.hold_out = Some(HoldOut::Rows((1..=20).collect()));
            Fitted::open(&recipe, Path::new(""), &Control::default()).unwrap()
        });
        let draws = pair.draws(&of, 400);
        let [template, own] = of.each_ref().map(|fitted| {
            fitted
                .scores(&[&draws], &[], None, usize::MAX, &CONTROL())
                .unwrap()
        });
        assert_eq!((template.rows.len(), own.rows.len()), (20, 20));
        for ((measure, a), (same, b)) in template.measures.iter().zip(&own.measures) {
            assert_eq!(measure, same);
            // Shares inside of intervals are by simulation.
            if !matches!(measure, Measure::Coverage(_)) {
                near(b.value, a.value, 1e-8, pair.template);
            }
        }
    }
}

/// Data that the model makes look like the data to the same degree.
#[test]
fn checks_agree_within_noise() {
    let (_folder, path) = table();
    for pair in PAIRS {
        let of = pair.fitted(&path);
        let draws = pair.draws(&of, 1000);
        let [template, own] = of.each_ref().map(|fitted| {
            fitted
                .check(&[&draws], &[], Resolution::default(), &CONTROL())
                .unwrap()
        });
        assert_eq!(template.statistics.len(), own.statistics.len());
        for (a, b) in template.statistics.iter().zip(&own.statistics) {
            near(b.observed, a.observed, 1e-10, pair.template);
            // Two simulations of 1,000 data sets each.
            let error = (2.0 * a.at_least.clamp(0.01, 0.99) * (1.0 - a.at_least.clamp(0.01, 0.99))
                / 1000.0)
                .sqrt();
            assert!(
                (a.at_least - b.at_least).abs() < 4.0 * error,
                "{}: {} {}",
                pair.template,
                a.at_least,
                b.at_least
            );
        }
        assert_eq!(template.residuals.len(), own.residuals.len());
    }
}

/// Summands of the rows are densities of rows, but no outcomes.
#[test]
fn rows_without_an_outcome_can_be_left_out_and_not_predicted() {
    let (_folder, path) = table();
    let mut recipe = Recipe::new(path.as_str(), Own::ID, "");
    let text =
        "parameters\n a ~ normal(0, 2)\nrows\n where(k > 0, poisson_log_lpmf(k, a), -exp(a))\n";
    recipe
        .model
        .settings
        .set(Own::PROGRAM, Value::Text(text.to_owned()));
    let fitted = Fitted::open(&recipe, Path::new(""), &Control::default()).unwrap();
    let mut draws = DrawList::new(1);
    (0..100).for_each(|s| draws.push(&[0.01 * f64::from(s)]));
    let found = crate::loo::cross_validate(&fitted, (&[&draws], &[]), usize::MAX, None, &CONTROL())
        .unwrap();
    assert!(found.loo.elpd().estimate.is_finite());
    let runs = [("one".to_owned(), &found), ("two".to_owned(), &found)];
    let why = crate::loo::compare(&runs).unwrap_err().to_string();
    assert!(why.contains("what they score is not known"), "{why}");
    let refused = fitted.predict(&[&draws], &[], None, PredictOptions::default(), &CONTROL());
    let why = refused.unwrap_err().to_string();
    assert!(why.contains("no line `outcome ~ distribution(…)`"), "{why}");
}
