use statrs::distribution::{Continuous as _, StudentsT};

use super::*;
use crate::design::{MemoryColumns, ModelFrame, Values};
use crate::testing::mixtures::{counts, names, numeric, partitions, posterior, records, small};
use ergodic_base::settings::{Settings, Value};

const ALPHA: AlphaPrior = AlphaPrior::Constant(0.7);

fn assert_near(found: f64, expected: f64, what: &str) {
    assert!(
        (found - expected).abs() < 1e-10 * expected.abs().max(1.0),
        "{what}: {found} against {expected}"
    );
}

#[test]
fn marginal_likelihoods_are_products_of_predictive_densities() {
    for (words, mixture) in small(6, ALPHA) {
        let mut record = vec![0.0; mixture.width()];
        mixture.settle(&mut record);
        let mut sum = 0.0;
        for unit in [3, 0, 5, 1, 2, 4] {
            assert_near(
                mixture.log_alone(unit),
                mixture.log_marginal(&records(&mixture, &single(unit))[1]),
                words,
            );
            sum += mixture.log_predictive(unit, &record);
            mixture.add(unit, &mut record);
            mixture.settle(&mut record);
            assert_near(mixture.log_marginal(&record), sum, words);
        }
        // Taking units out again leads back.
        for unit in 0..5 {
            mixture.remove(unit, &mut record);
        }
        mixture.settle(&mut record);
        assert_near(mixture.log_marginal(&record), mixture.log_alone(5), words);
    }
}

/// A unit alone, all others together.
fn single(unit: usize) -> Vec<u32> {
    let mut labels = vec![0; 6];
    labels[unit] = 1;
    labels
}

#[test]
fn one_column_has_the_textbook_student_t_predictive_density() {
    for diagonal in [false, true] {
        let rows: [&[f64]; 4] = [&[0.3], &[-1.1], &[0.7], &[2.0]];
        let part = Some(numeric(&rows, diagonal));
        let mixture = Mixture::new(names(4), 0, part, None, ALPHA);
        let records = records(&mixture, &[0, 0, 0, 1]);
        let (kappa, df, psi) = (0.2 + 3.0, 3.0 + 3.0, 3.0 * 0.36);
        let sum: f64 = 0.3 - 1.1 + 0.7;
        let squares: f64 = 0.09 + 1.21 + 0.49;
        let mean = sum / kappa;
        let spread = psi + squares - kappa * mean * mean;
        let scale = (spread * (kappa + 1.0) / (kappa * df)).sqrt();
        let expected = StudentsT::new(mean, scale, df).unwrap().ln_pdf(2.0);
        assert_near(
            mixture.log_predictive(3, &records[0]),
            expected,
            "predictive",
        );
    }
}

/// tests/reference/mixture.py
#[test]
fn two_columns_and_items_agree_with_scipy() {
    let text = include_str!("../../../../tests/reference/mixture.json");
    let reference: serde_json::Value = serde_json::from_str(text).unwrap();
    let number = |key: &str| reference[key].as_f64().unwrap();
    let all = small(6, ALPHA);
    let labels = [0, 1, 0, 0, 1, 0];
    for (words, mixture) in &all {
        if let Some(expected) = reference.get(*words) {
            let records = records(mixture, &labels);
            for (record, expected) in records.iter().zip(expected.as_array().unwrap()) {
                assert_near(
                    mixture.log_marginal(record),
                    expected.as_f64().unwrap(),
                    words,
                );
            }
        }
    }
    let records = records(&all[1].1, &labels);
    assert_near(
        all[1].1.log_predictive(1, &records[0]),
        number("full_predictive"),
        "full",
    );
}

#[test]
fn probabilities_of_partitions_sum_to_one() {
    let all = partitions(6);
    assert_eq!(all.len(), 203, "the Bell number");
    for alpha in [0.1, 1.0, 30.0] {
        let mixture = Mixture::new(names(6), 0, None, None, AlphaPrior::Constant(alpha));
        let total: f64 = all
            .iter()
            .map(|labels| {
                let records = records(&mixture, labels);
                let slices = records.iter().map(Vec::as_slice);
                mixture.log_density(alpha, slices).exp()
            })
            .sum();
        assert_near(total, 1.0, "total");
    }
    // The Chinese restaurant: a seventh unit joins K clusters.
    let mixture = Mixture::new(names(7), 1, None, None, AlphaPrior::Constant(2.0));
    assert_eq!((mixture.num_units(), mixture.num_held_out()), (6, 1));
    let gamma = Mixture::new(
        names(3),
        0,
        None,
        None,
        AlphaPrior::Gamma {
            shape: 2.0,
            rate: 4.0,
        },
    );
    let total: f64 = posterior(&gamma, &partitions(3)).iter().sum();
    assert_near(total, 1.0, "posterior");
}

#[test]
fn a_next_unit_is_predicted_by_all_clusters_and_a_new_one() {
    for (words, mixture) in small(6, ALPHA) {
        let records = records(&mixture, &[0, 0, 1, 1, 0, 2]);
        // Unit 5 stands alone: take it out, and predict it from the others.
        let slices = || records[..2].iter().map(Vec::as_slice);
        let mut expected = 0.7 * mixture.log_alone(5).exp();
        for record in slices() {
            expected += record[0] * mixture.log_predictive(5, record).exp();
        }
        let found = mixture.log_next(5, 0.7, slices());
        assert_near(found, (expected / 5.7).ln(), words);
    }
}

/// A density of x is 1000 times that of 1000 x, whatever a mixture makes of columns inside.
#[test]
fn densities_of_next_units_are_those_of_columns_as_they_are() {
    for diagonal in [false, true] {
        let rows: [&[f64]; 4] = [&[0.3, 1.0], &[-1.1, 0.2], &[0.7, -0.4], &[2.0, 0.1]];
        let log_next = |scale: [f64; 2]| {
            let mut part = numeric(&rows, diagonal);
            part.scale.copy_from_slice(&scale);
            let mixture = Mixture::new(names(4), 1, Some(part), None, ALPHA);
            let records = records(&mixture, &[0, 0, 1]);
            mixture.log_next(3, 0.7, records.iter().map(Vec::as_slice))
        };
        let expected = log_next([1.0, 1.0]) - 1000.0_f64.ln() - 0.5_f64.ln();
        assert_near(log_next([1000.0, 0.5]), expected, "log_next");
    }
}

#[test]
fn rare_items_and_many_of_them_do_not_underflow() {
    let many: Vec<u32> = (0..900).map(|k| k % 300).collect();
    let part = Some(counts(&[300], 1e-3, &[&many, &[0]]));
    let mixture = Mixture::new(names(2), 0, None, part, ALPHA);
    let records = records(&mixture, &[0, 1]);
    let alone = mixture.log_alone(0);
    assert!(alone.is_finite() && alone < -2000.0);
    assert_near(mixture.log_marginal(&records[0]), alone, "many items");
}

fn table() -> MemoryColumns {
    let text =
        |words: &[&str]| Values::Texts(words.iter().map(|w| Some((*w).to_owned())).collect());
    let columns = vec![
        ("x", Values::Numbers(vec![1.0, 2.0, 3.0, 4.0, 5.0, 9.0])),
        ("y", Values::Numbers(vec![1.5, 0.0, 2.0, -4.0, 5.0, 1.0])),
        ("one", Values::Numbers(vec![3.0; 6])),
        ("same", text(&["a"; 6])),
        ("colour", text(&["r", "g", "r", "b", "g", "r"])),
        ("user", text(&["u", "v", "u", "u", "v", "w"])),
        ("only", text(&["k"; 6])),
    ];
    let columns = columns
        .into_iter()
        .map(|(n, v)| (n.to_owned(), v))
        .collect();
    MemoryColumns::new("t", columns).unwrap()
}

fn build(
    formula: &str,
    settings: &[(&str, Value)],
    prior: (&str, &str),
) -> Result<Arc<dyn Model>, String> {
    let frame = ModelFrame {
        response_use: ResponseUse::Absent,
        ..ModelFrame::new(formula.parse().unwrap())
    };
    let (design, _) = Design::build(&table(), &frame).map_err(|error| error.to_string())?;
    let mut options = ModelOptions {
        standardize: true,
        ..ModelOptions::default()
    };
    let mut given = Settings::default();
    for (key, value) in settings {
        given.set(key, value.clone());
    }
    options.settings = crate::find("dp-mixture").unwrap().resolve(&given).unwrap();
    if !prior.0.is_empty() {
        options
            .priors
            .push((prior.0.to_owned(), prior.1.to_owned()));
    }
    DpMixture::build(Arc::new(design), &options).map_err(|error| error.to_string())
}

#[test]
fn wide_and_long_tables_become_units() {
    let model = build("~ x + y + colour", &[], ("", "")).unwrap();
    let mixture = model.partition().unwrap();
    assert_eq!(mixture.num_units(), 6);
    let part = mixture.numeric.as_ref().unwrap();
    assert!(!part.is_diagonal());
    for (unit, name) in mixture.unit_names.iter().enumerate() {
        let row: usize = name.parse().unwrap();
        let x = part.unit(unit)[0] * part.scale[0] + part.center[0];
        assert_near(x, [1.0, 2.0, 3.0, 4.0, 5.0, 9.0][row - 1], "x");
        let colours = mixture.counts.as_ref().unwrap();
        let colour = colours.unit(unit)[0].item as usize;
        assert_eq!(
            colours.blocks[0].levels[colour],
            ["r", "g", "r", "b", "g", "r"][row - 1]
        );
    }
    let names: Vec<&str> = model.params().iter().map(|p| p.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "k_active",
            "alpha",
            "entropy",
            "log_density",
            "weight[1]",
            "weight[2]",
            "weight[3]",
            "weight[4]",
            "weight[5]"
        ]
    );
    assert!(model.density().is_none());

    let model = build(
        "~ colour + (1 | user)",
        &[("held_out", Value::Real(0.34))],
        ("alpha", "constant(1)"),
    );
    let model = model.unwrap();
    let mixture = model.partition().unwrap();
    assert_eq!((mixture.num_units(), mixture.num_held_out()), (2, 1));
    let seen: u64 = (0..3)
        .map(|unit| mixture.counts.as_ref().unwrap().observations(unit))
        .sum();
    assert_eq!(seen, 6);
    let counts = mixture.counts.as_ref().unwrap();
    assert_eq!(model.rows_held_out() as u64, counts.observations(2));
    let names: Vec<&str> = model.params().iter().map(|p| p.name.as_str()).collect();
    assert!(names.contains(&"held_out") && !names.contains(&"alpha"));
    let wide = build(
        "~ x + y",
        &[("covariance", Value::Text("diagonal".into()))],
        ("numeric", "niw(1, 2, 3)"),
    );
    assert!(
        wide.unwrap()
            .partition()
            .unwrap()
            .numeric
            .as_ref()
            .unwrap()
            .is_diagonal()
    );
}

/// Numbers beside items are taken for counts by who writes them, and numbers with decimals are no names of items.
#[test]
fn numbers_in_long_data_are_remarked_upon() {
    for (formula, column) in [
        ("~ colour + x + (1 | user)", Some("x")),
        ("~ y + (1 | user)", Some("y")),
        ("~ x + (1 | user)", None),
        ("~ x + y + colour", None),
    ] {
        let mut reporter = Reporter::default();
        let model = build(formula, &[], ("", "")).unwrap();
        model.remark_on_data(&mut reporter);
        let found: Vec<&str> = (reporter.warnings.iter())
            .map(|warning| warning.message.as_str())
            .collect();
        let expected = column.map(|column| {
            format!("`{column}` holds numbers and is read as 6 categories, as every column of long data is")
        });
        assert_eq!(found, Vec::from_iter(expected.as_deref()), "{formula}");
    }
}

#[test]
fn what_cannot_be_clustered_is_refused_in_words() {
    for (formula, sentence) in [
        ("~ 1", "Template `dp-mixture` needs columns to cluster by"),
        ("~ x + one", "Column `one` has the single value `3`"),
        ("~ x + same", "Column `same` has the single value `a`"),
        (
            "~ colour + (1 | only)",
            "Clustering needs at least two units and there is 1 of 1",
        ),
        (
            "~ colour + (1 + x | user)",
            "Template `dp-mixture` has no effects that vary by group; write `(1 | user)`",
        ),
        (
            "~ colour + (1 | user) + (1 | x)",
            "Template `dp-mixture` takes one group",
        ),
        (
            "~ x + offset(y)",
            "Template `dp-mixture` has no linear predictor",
        ),
        ("x ~ y", "The formula has the outcome `x`"),
    ] {
        let error = build(formula, &[], ("", "")).map(|_| ()).unwrap_err();
        assert!(error.starts_with(sentence), "{formula}: {error}");
    }
    for (prior, sentence) in [
        (
            ("alpha", "gamma(2)"),
            "Prior `gamma(2)` is not understood; write gamma(shape, rate) or constant(value)",
        ),
        (
            ("numeric", "niw(0, 1, 1)"),
            "Prior `niw(0, 1, 1)` needs arguments above 0; write niw(kappa, df, scale)",
        ),
        (
            ("probabilities", "beta(1)"),
            "Prior `beta(1)` is not understood; write dirichlet(a)",
        ),
        (("b", "normal(0, 1)"), "There is no parameter `b`"),
    ] {
        let error = build("~ x", &[], prior).map(|_| ()).unwrap_err();
        assert!(error.starts_with(sentence), "{prior:?}: {error}");
    }
    let check = DpMixture::SPEC.priors.check;
    assert!(
        check("gamma(1, 1)").is_ok()
            && check("dirichlet(1)").is_ok()
            && check("niw(1,2,3)").is_ok()
    );
    assert!(check("normal(0, 1)").is_err());
}

/// A column with as many values as rows is an identifier.
#[test]
fn a_column_with_a_hundred_thousand_levels_is_refused() {
    let texts = (0..100_000).map(|k| Some(format!("id{k}"))).collect();
    let table = MemoryColumns::new("t", vec![("id".to_owned(), Values::Texts(texts))]).unwrap();
    let frame = ModelFrame {
        response_use: ResponseUse::Absent,
        ..ModelFrame::new("~ id".parse().unwrap())
    };
    let error = Design::build(&table, &frame).unwrap_err().to_string();
    assert!(
        error.starts_with("The predictor `id` has 100000 different values"),
        "{error}"
    );
}

/// Values that lose their last digit when they are centred and scaled and taken back.
#[test]
fn the_profile_of_equal_units_is_their_value_as_it_was_written() {
    let values = [-1.0, 0.1, 5.3, -77.7, 1e6 + 0.25, 3e-5];
    for diagonal in [true, false] {
        for (center, scale) in [
            (0.123_456_789, 1.7),
            (-31.4, 0.3),
            (5.01, 1e-3),
            (2e5, 777.7),
        ] {
            let rows: Vec<[f64; 2]> = (values.iter())
                .map(|value| [0.3, (value - center) / scale])
                .collect();
            let rows: Vec<&[f64]> = rows.iter().map(<[f64; 2]>::as_slice).collect();
            let mut columns = numeric(&rows, diagonal);
            columns.center[1] = center;
            columns.scale[1] = scale;
            let mixture = Mixture::new(
                names(values.len()),
                0,
                Some(columns),
                None,
                AlphaPrior::Constant(1.0),
            );
            let part = mixture.numeric.as_ref().unwrap();
            for (unit, value) in values.into_iter().enumerate() {
                for copies in [1, 3, 7] {
                    let mut record = vec![0.0; mixture.width()];
                    for _ in 0..copies {
                        mixture.add(unit, &mut record);
                    }
                    let n = record[0];
                    let found = part.profile(1, n, mixture.numeric_part(&record));
                    // Beside a far centre a small value has fewer digits.
                    if center.abs() <= 1e3 * value.abs() {
                        assert_eq!(found, [value, 0.0], "{center} {scale} {copies}");
                    } else {
                        assert!((found[0] - value).abs() < 1e-12 * center.abs());
                        assert_eq!(found[1], 0.0);
                    }
                }
            }
        }
    }
}
