//! Against the formulas of the source written out for one row, and networks as large as that of the source.

use super::*;
use crate::design::matrix::ModelFrame;
use crate::design::testing::read_csv;
use crate::engine::chain::dispersed_start;
use crate::estimators::{Plan, ascend, find_mode};
use crate::oracle::Oracle;
use crate::samplers;
use crate::synthetic;
use ergodic_base::control::Control;
use ergodic_base::rng::{Purpose, Streams, stream};
use ergodic_base::settings::{Settings, Value};

fn settings(units: i64, activation: &str) -> Settings {
    let mut settings = Settings::default();
    settings.set("hidden_units", Value::Int(units));
    settings.set("activation", Value::Text(activation.to_owned()));
    settings
}

fn options(units: i64, activation: &str, standardize: bool) -> ModelOptions {
    ModelOptions {
        settings: settings(units, activation),
        standardize,
        ..ModelOptions::default()
    }
}

fn design(data: &str, formula: &str) -> Design {
    let frame = ModelFrame {
        response_use: ResponseUse::Unordered,
        ..ModelFrame::new(formula.parse().unwrap())
    };
    Design::build(&read_csv(data), &frame).unwrap().0
}

const DATA: &str = "y,x,z\nred,1.5,-20\nblue,0.5,10\nnone,-2,0\nblue,3.5,40\nred,0,-5\nred,1,17\n";

/// log p of a row by equations (4.6.2) and (4.6.3) of the source, with names for indices.
fn by_the_source(model: &dyn Model, theta: &[f64], x: &[f64; 2], level: &str, tanh: bool) -> f64 {
    let value = |name: &str| {
        let at = model.params().iter().position(|it| it.name == *name);
        theta[at.unwrap_or_else(|| panic!("{name}"))]
    };
    let softmax = |z: &[f64]| -> Vec<f64> {
        let total: f64 = z.iter().map(|z| z.exp()).sum();
        z.iter().map(|z| z.exp() / total).collect()
    };
    let sums: Vec<f64> = (1..=2)
        .map(|l| {
            value(&format!("hidden_weight[{l},Intercept]"))
                + x[0] * value(&format!("hidden_weight[{l},x]"))
                + x[1] * value(&format!("hidden_weight[{l},z]"))
        })
        .collect();
    let units = match tanh {
        true => sums.iter().map(|z| z.tanh()).collect(),
        false => softmax(&sums),
    };
    let levels = ["blue", "none", "red"];
    let scores = levels.map(|k| {
        value(&format!("output_weight[{k},Intercept]"))
            + units[0] * value(&format!("output_weight[{k},1]"))
            + units[1] * value(&format!("output_weight[{k},2]"))
    });
    let at = levels.iter().position(|k| *k == level).unwrap();
    softmax(&scores)[at].ln()
}

#[test]
fn rows_are_as_likely_as_the_source_says() {
    let design = Arc::new(design(DATA, "y ~ x + z"));
    for (activation, standardize) in [("softmax", false), ("tanh", false), ("softmax", true)] {
        let model =
            NeuralNet::build(Arc::clone(&design), &options(2, activation, standardize)).unwrap();
        assert_eq!(model.dim(), 2 * 3 + 3 * 3 + 4);
        let mut rng = stream(5, 0, Purpose::Data);
        let mut u = vec![0.0; model.dim()];
        model
            .prior_draws()
            .unwrap()
            .draw_prior(&mut rng, &mut u)
            .unwrap();
        let mut theta = u.clone();
        model.constrain(&u, &mut theta);
        let rows = model.rows().unwrap();
        let mut found = vec![0.0; 6];
        rows.pointwise(&u, Rows::All, &mut rows.scratch(), &mut found);
        // The same by what predictions are made of, from columns as they are.
        let point = model.predicts().unwrap().point(&theta).unwrap();
        let layer = point.layer.as_ref().unwrap();
        let levels = Unordered::new(3);
        for (i, found) in found.iter().enumerate() {
            let line = DATA.lines().nth(1 + design.row[i] as usize).unwrap();
            let cells: Vec<&str> = line.split(',').collect();
            let raw: [f64; 2] = [cells[1].parse().unwrap(), cells[2].parse().unwrap()];
            let x = match standardize {
                true => [design.x[[i, 1]], design.x[[i, 2]]],
                false => raw,
            };
            let expected =
                by_the_source(model.as_ref(), &theta, &x, cells[0], activation == "tanh");
            let near = |a: f64| (a - expected).abs() < 1e-11 * expected.abs().max(1.0);
            assert!(near(*found), "{activation} {i}: {found} {expected}");
            let mut units: Vec<f64> = (point.coefficients.chunks_exact(3))
                .map(|b| b[0] + b[1] * raw[0] + b[2] * raw[1])
                .collect();
            let mut z = [0.0; 2];
            layer.predictors(&mut units, &mut z);
            let predicted = levels.log_p(&z, design.y[i]);
            assert!(near(predicted), "{activation} {i}: {predicted} {expected}");
        }
    }
}

#[test]
fn what_it_is_not_made_for_is_refused_with_a_way_out() {
    let build = |formula: &str, priors: &[(&str, &str)]| {
        let options = ModelOptions {
            priors: (priors.iter())
                .map(|(key, text)| ((*key).to_owned(), (*text).to_owned()))
                .collect(),
            ..options(2, "softmax", true)
        };
        let built = NeuralNet::build(Arc::new(design(DATA, formula)), &options);
        built.err().unwrap().to_string()
    };
    assert!(build("y ~ x + offset(z)", &[]).contains("takes no offset"));
    assert!(build("y ~ x + (1 | z)", &[]).contains("vary by group"));
    assert!(build("y ~ x", &[("b", "normal(0, 1)")]).contains("precision[hidden]"));
    assert!(build("y ~ x", &[("precision", "normal(1, 1)")]).contains("positive"));
}

/// Rings around the origin, which no sum of terms tells apart: by chance a third is right.
fn rings(rows: usize) -> Design {
    let mut text = "y,x,z\n".to_owned();
    let mut rng = stream(9, 0, Purpose::Data);
    for i in 0..rows {
        let [noise, turn]: [f64; 2] = [(); 2].map(|()| StandardNormal.sample(&mut rng));
        let radius = (i % 3) as f64 + 0.5 + 0.1 * noise;
        text.push_str(&format!(
            "{},{},{}\n",
            ["in", "mid", "out"][i % 3],
            radius * (4.0 * turn).cos(),
            radius * (4.0 * turn).sin()
        ));
    }
    design(&text, "y ~ x + z")
}

#[test]
fn a_climb_learns_what_no_sum_of_terms_tells() {
    let design = Arc::new(rings(600));
    for activation in ["softmax", "tanh"] {
        let model = NeuralNet::build(Arc::clone(&design), &options(12, activation, true)).unwrap();
        assert!(find_mode(model.as_ref(), &Control::default()).is_err());
        let mut u = dispersed_start(model.as_ref(), None, 2.0, (1, 0));
        ascend(model.as_ref(), &Plan::auto(), &mut u, &Control::default()).unwrap();
        let rows = model.rows().unwrap();
        let mut found = vec![0.0; 600];
        rows.pointwise(&u, Rows::All, &mut rows.scratch(), &mut found);
        let loss = -found.iter().sum::<f64>() / 600.0;
        // ln 3 is 1.10.
        assert!(loss < 0.2, "{activation}: {loss}");
    }
}

/// As many weights as the source has for images of digits: nothing that grows with their square fits into memory.
#[test]
fn a_network_of_eighty_thousand_weights_is_sampled() {
    let made = synthetic::logistic(130, 785, 4, 0.2);
    let mut design = rings(130);
    design.x = ndarray::Array2::from_shape_vec((130, 785), made.x).unwrap();
    design.x.column_mut(0).fill(1.0);
    design.raw_center = vec![0.0; 785];
    design.raw_scale = vec![1.0; 785];
    design.terms = (0..785).map(|j| format!("x{j}").as_str().into()).collect();
    let model = NeuralNet::build(Arc::new(design), &options(100, "softmax", true)).unwrap();
    assert_eq!(model.dim(), 785 * 100 + 101 * 3 + 4);
    for id in ["sgld", "sghmc", "sgnht", "psgld", "svrg-ld"] {
        let entry = samplers::find(id).unwrap();
        let mut given = Settings::default();
        given.set("step_size", Value::Real(1e-6));
        given.set("batch", Value::Int(32));
        let u = dispersed_start(model.as_ref(), None, 2.0, (1, 0));
        let target = samplers::Target::new(&model, None);
        let settled = entry.settle(&given, model.as_ref(), &target, None);
        let settled = settled.unwrap_or_else(|error| panic!("{id}: {error}"));
        let mut oracle = Oracle::new(Arc::clone(&model), None, false, Control::default().flag());
        let mut streams = Streams::new(1, 0);
        let mut kernel = (entry.build)(&settled, &target, &u, &mut oracle, &mut streams).unwrap();
        let mut info = vec![0.0; entry.spec.info.len()];
        for iter in 0..2 {
            let tick = samplers::Tick {
                iter,
                phase: samplers::Phase::Draw,
            };
            kernel
                .step(tick, &mut oracle, &mut streams, &mut info)
                .unwrap();
        }
        assert!(kernel.position().iter().all(|u| u.is_finite()), "{id}");
        assert!(kernel.position() != u.as_slice(), "{id}");
    }
}
