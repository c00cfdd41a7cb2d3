//! Against the formulas of the source written out for one row, and networks as large as that of the source.

use super::*;
use crate::testing::networks::{design, options};
use ergodic_base::rng::{Purpose, stream};

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
