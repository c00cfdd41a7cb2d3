//! Against the formulas of the source written out for one row, and networks as large as that of the source.

use super::*;
use crate::testing::networks::{design, options};
use ergodic_base::settings::Value;
use ergodic_base::{Purpose, stream};

const DATA: &str = "y,x,z\nred,1.5,-20\nblue,0.5,10\nnone,-2,0\nblue,3.5,40\nred,0,-5\nred,1,17\n";

/// log p of a row by equations (4.6.2) and (4.6.3) of the source, with names for indices, in a network with these
/// numbers of `hidden` units in layers one after the other.
fn by_the_source(
    model: &dyn Model,
    (theta, hidden, tanh): (&[f64], &[usize], bool),
    x: &[f64; 2],
    level: &str,
) -> f64 {
    let value = |name: String| {
        let at = model.params().iter().position(|it| it.name == *name);
        theta[at.unwrap_or_else(|| panic!("{name}"))]
    };
    let softmax = |z: &[f64]| -> Vec<f64> {
        let total: f64 = z.iter().map(|z| z.exp()).sum();
        z.iter().map(|z| z.exp() / total).collect()
    };
    let pass = |sums: Vec<f64>| match tanh {
        true => sums.iter().map(|z| z.tanh()).collect(),
        false => softmax(&sums),
    };
    let sum = |l: usize| {
        value(format!("hidden_weight[{l},Intercept]"))
            + x[0] * value(format!("hidden_weight[{l},x]"))
            + x[1] * value(format!("hidden_weight[{l},z]"))
    };
    let mut units = pass((1..=hidden[0]).map(sum).collect());
    for (layer, &count) in (2..).zip(&hidden[1..]) {
        let sum = |unit: usize| {
            let from = (1..).zip(&units);
            let from = from.map(|(m, h)| h * value(format!("hidden_weight[{layer}:{unit},{m}]")));
            value(format!("hidden_weight[{layer}:{unit},Intercept]")) + from.sum::<f64>()
        };
        units = pass((1..=count).map(sum).collect());
    }
    let levels = ["blue", "none", "red"];
    let scores = levels.map(|k| {
        let from = (1..).zip(&units);
        let from = from.map(|(m, h)| h * value(format!("output_weight[{k},{m}]")));
        value(format!("output_weight[{k},Intercept]")) + from.sum::<f64>()
    });
    let at = levels.iter().position(|k| *k == level).unwrap();
    softmax(&scores)[at].ln()
}

/// Rows of a model at a draw of its prior by what samplers use and by what predictions are made of, from columns as they are, against
/// [`by_the_source`].
fn check_rows(options: &ModelOptions, hidden: &[usize], seed: u64) -> Arc<dyn Model> {
    let design = Arc::new(design(DATA, "y ~ x + z"));
    let model = NeuralNet::build(Arc::clone(&design), options).unwrap();
    let tanh = options.settings.get("activation") == Some(&Value::Text("tanh".to_owned()));
    let mut rng = stream(seed, 0, Purpose::Data);
    let mut u = vec![0.0; model.dim()];
    let prior = model.prior_draws().unwrap();
    prior.draw_prior(&mut rng, &mut u).unwrap();
    let mut theta = u.clone();
    model.constrain(&u, &mut theta);
    let rows = model.rows().unwrap();
    let mut found = vec![0.0; 6];
    rows.pointwise(&u, Rows::All, &mut rows.scratch(), &mut found);
    let point = model.predicts().unwrap().point(&theta).unwrap();
    let layer = point.layer.as_ref().unwrap();
    assert_eq!(layer.num_units(), hidden[0]);
    let levels = Unordered::new(3);
    for (i, found) in found.iter().enumerate() {
        let line = DATA.lines().nth(1 + design.row[i] as usize).unwrap();
        let cells: Vec<&str> = line.split(',').collect();
        let raw: [f64; 2] = [cells[1].parse().unwrap(), cells[2].parse().unwrap()];
        let x = match options.standardize {
            true => [design.x[[i, 1]], design.x[[i, 2]]],
            false => raw,
        };
        let expected = by_the_source(model.as_ref(), (&theta, hidden, tanh), &x, cells[0]);
        let near = |a: f64| (a - expected).abs() < 1e-11 * expected.abs().max(1.0);
        assert!(near(*found), "{hidden:?} {i}: {found} {expected}");
        let mut units: Vec<f64> = (point.coefficients.chunks_exact(3))
            .map(|b| b[0] + b[1] * raw[0] + b[2] * raw[1])
            .collect();
        let mut z = [0.0; 2];
        layer.predictors(&mut units, &mut z);
        let predicted = levels.log_p(&z, design.y[i]);
        assert!(near(predicted), "{hidden:?} {i}: {predicted} {expected}");
    }
    model
}

#[test]
fn rows_are_as_likely_as_the_source_says() {
    for (activation, standardize) in [("softmax", false), ("tanh", false), ("softmax", true)] {
        let model = check_rows(&options(2, activation, standardize), &[2], 5);
        assert_eq!(model.dim(), 2 * 3 + 3 * 3 + 4);
    }
}

/// Options of a network with three, four and two hidden units in layers one after the other.
fn three_layers(activation: &str, standardize: bool) -> ModelOptions {
    let mut options = options(3, activation, standardize);
    let layers = Value::Text("4, 2".to_owned());
    options.settings.set("further_layers", layers);
    options
}

#[test]
fn layers_pass_on_what_those_before_them_do() {
    for (activation, standardize) in [("softmax", true), ("tanh", false), ("tanh", true)] {
        let model = check_rows(&three_layers(activation, standardize), &[3, 4, 2], 6);
        let weights = 3 * 3 + 4 * 4 + 2 * 5 + 3 * 3;
        assert_eq!(model.dim(), weights + 8);
        let names: Vec<&str> = model.params()[weights..]
            .iter()
            .map(|it| it.name.as_str())
            .collect();
        assert_eq!(
            names,
            [
                "precision[hidden_bias]",
                "precision[hidden]",
                "precision[hidden_bias:2]",
                "precision[hidden:2]",
                "precision[hidden_bias:3]",
                "precision[hidden:3]",
                "precision[output_bias]",
                "precision[output]"
            ]
        );
    }
}

/// Rows beyond one tile, whose gradients are those of differences, and the sums of the scores of single rows.
#[test]
fn gradients_of_layers_are_those_of_differences() {
    let mut text = "y,x,z\n".to_owned();
    for i in 0..TILE_ROWS + 6 {
        let (x, z) = ((0.7 * i as f64).sin(), (1.3 * i as f64).cos());
        text.push_str(&format!("{},{x},{z}\n", ["red", "blue", "none"][i * 5 % 3]));
    }
    let design = Arc::new(design(&text, "y ~ x + z"));
    for activation in ["softmax", "tanh"] {
        let model = NeuralNet::build(Arc::clone(&design), &three_layers(activation, true)).unwrap();
        let density = model.density().unwrap();
        let mut rng = stream(7, 0, Purpose::Data);
        let mut u = vec![0.0; model.dim()];
        density.init(&mut rng, &mut u);
        let mut grad = vec![0.0; u.len()];
        density.log_density(&u, &mut grad);
        let mut other = vec![0.0; u.len()];
        for j in 0..u.len() {
            let step = 1e-5;
            let mut at = u.clone();
            let mut value = |to: f64| {
                at[j] = to;
                density.log_density(&at, &mut other)
            };
            let numeric = (value(u[j] + step) - value(u[j] - step)) / (2.0 * step);
            let scale = grad[j].abs().max(1.0);
            assert!(
                (grad[j] - numeric).abs() < 1e-6 * scale,
                "{activation}, {}: {} {numeric}",
                model.params()[j].name,
                grad[j]
            );
        }
        let rows = model.rows().unwrap();
        let (mut of_rows, mut scratch) = (vec![0.0; u.len()], rows.scratch());
        rows.log_lik(&u, Rows::All, &mut scratch, &mut of_rows);
        let mut scores = vec![0.0; rows.num_obs() * u.len()];
        rows.scores(&u, Rows::All, &mut scratch, &mut scores);
        for (j, whole) in of_rows.iter().enumerate() {
            let sum: f64 = scores.iter().skip(j).step_by(u.len()).sum();
            assert!((whole - sum).abs() < 1e-10 * whole.abs().max(1.0), "{j}");
        }
    }
}

#[test]
fn layers_are_typed_as_numbers_and_others_refused() {
    let design = Arc::new(design(DATA, "y ~ x + z"));
    let build = |value: Value| {
        let mut options = options(3, "tanh", true);
        options.settings.set("further_layers", value);
        NeuralNet::build(Arc::clone(&design), &options).map(|model| model.dim())
    };
    assert_eq!(build(Value::Text("none".to_owned())).unwrap(), 9 + 12 + 4);
    assert_eq!(build(Value::Int(2)).unwrap(), 9 + 8 + 9 + 6);
    for text in [
        "",
        "2,",
        "0",
        "2; 3",
        "a",
        "-1",
        "1,1,1,1,1,1,1,1,1,1",
        "20000",
    ] {
        let error = build(Value::Text(text.to_owned())).err().unwrap();
        assert!(error.to_string().contains("such as `8, 4`"), "{error}");
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
