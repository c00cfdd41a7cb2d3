//! Blocks moved by gradients of minibatches, and blocks drawn from conditionals of known form.

use std::sync::Arc;

use crate::oracle::Centre;
use crate::samplers::autoregressive::Moments;
use crate::samplers::gibbs::*;
use crate::samplers::testing::{
    Chain, Run, assert_moments, exact_oracle, grid_moments, logistic_with_centre,
};
use crate::testing::GaussianRows;
use ergodic_base::settings::Value;

fn blocks(id: &'static str, text: &str) -> Run {
    Run::new(id).set("blocks", Value::Text(text.to_owned()))
}

/// Four chains of `run`.
fn chains(
    run: &Run,
    model: &Arc<dyn Model>,
    centre: Option<&Arc<Centre>>,
    draws: usize,
) -> Vec<Chain> {
    (1..=4)
        .map(|seed| {
            let oracle = exact_oracle(Arc::clone(model), centre.cloned());
            run.clone().seed(seed).go(oracle, 300, draws)
        })
        .collect()
}

fn series(chains: &[Chain], j: usize) -> Vec<Vec<f64>> {
    chains.iter().map(|chain| chain.coordinate(j)).collect()
}

#[test]
fn blocks_have_steps_and_minibatches_of_their_own() {
    // Scores do not depend on the position but for a constant: gradient noise has the same variance everywhere, and each
    // coordinate is a first-order autoregression whose stationary variance is known.
    let rows = GaussianRows::simulated(200, 3, 4);
    let (mean, variance) = (rows.posterior_mean(), rows.posterior_variance());
    let scores = rows.score_variance();
    let centre = Arc::new(Centre::at(&rows, &mean).unwrap());
    let model: Arc<dyn Model> = Arc::new(rows);
    let names: Vec<String> = (parts(model.as_ref()).iter())
        .map(|part| part.name.to_string())
        .collect();
    let (steps, batches) = ([0.5, 0.2], [20.0, 50.0]);
    let text = format!(
        "{}: sgld(step_size={}, batch={}, steps_per_draw=3); {}: sgld(step_size={}, batch={}, steps_per_draw=8); *: slice",
        names[0], steps[0], batches[0], names[1], steps[1], batches[1],
    );
    let run = blocks("gibbs-stochastic", &text);
    let chains = chains(&run, &model, Some(&centre), 20_000);
    for j in 0..2 {
        // Of the whitened gradient.
        let noise = 200.0_f64.powi(2) / batches[j] * scores[j] * variance[j];
        let inflation = (1.0 + 0.5 * steps[j] * noise) / (1.0 - 0.5 * steps[j]);
        assert!(inflation > 1.2, "nothing to be seen: {inflation}");
        let what = format!("coordinate {j}");
        assert_moments(&what, &series(&chains, j), mean[j], variance[j] * inflation);
    }
    assert_moments("sliced", &series(&chains, 2), mean[2], variance[2]);
}

#[test]
fn small_steps_in_blocks_lead_to_the_posterior() {
    let (model, centre) = logistic_with_centre();
    let [x, y, xx, yy, _] = grid_moments(model.as_ref(), [centre.u[0], centre.u[1]], [4.0, 5.0]);
    // What a step of 0.02 adds to a variance is below what that number of draws can tell.
    for kernel in ["sgld", "sgld-cv", "sghmc-cv"] {
        let names = parts(model.as_ref());
        let step = if kernel == "sghmc-cv" { 0.1 } else { 0.02 };
        let text = format!(
            "{}: {kernel}(step_size={step}, batch=40, scheme=epoch, steps_per_draw=60); *: slice",
            names[0].name
        );
        let run = blocks("gibbs-stochastic", &text);
        let chains = chains(&run, &model, Some(&centre), 2500);
        assert_moments(kernel, &series(&chains, 0), x, xx);
        assert_moments(kernel, &series(&chains, 1), y, yy);
    }
}

#[test]
fn samplers_of_blocks_have_settings_in_parentheses() {
    let kernel = ChosenKernel::read("sgld-cv (batch=200, step_size=0.02)").unwrap();
    assert_eq!(kernel.sampler, PartSampler::SgldCv);
    assert_eq!(kernel.settings.int("batch"), Some(200));
    assert_eq!(kernel.settings.real("step_size"), Some(0.02));
    assert_eq!(
        ChosenKernel::read("conjugate()"),
        Some(PartSampler::KnownForm.into())
    );
    for wrong in ["sgld(batch)", "sgld(batch=2", "gibbs", ""] {
        assert_eq!(ChosenKernel::read(wrong), None, "{wrong}");
    }
}

#[test]
fn gibbs_refuses_what_is_not_exact_or_not_known() {
    let (model, centre) = logistic_with_centre();
    let refused = |id, text: &str| {
        let oracle = exact_oracle(Arc::clone(&model), Some(Arc::clone(&centre)));
        let started = blocks(id, text).try_start(oracle);
        started.err().expect("refused").to_string()
    };
    assert!(refused("gibbs", "*: sgld").contains("metropolis, conjugate, not `*: sgld`"));
    let unknown = refused("gibbs", "*: conjugate");
    assert!(
        unknown.contains("which is not known for this model"),
        "{unknown}"
    );
    let setting = refused("gibbs-stochastic", "*: sgld(bach=3)");
    assert!(setting.contains("`bach`"), "{setting}");
    assert!(refused("gibbs-stochastic", "*: sgld(step_size=3)").contains('3'));
    let steps = "*: sgld(block_steps=gradient, step_size=0.01)";
    assert!(refused("gibbs-stochastic", steps).contains("which are for a whole model"));
    let order = refused("gibbs-stochastic", "*: sghmc-cv(order=2)");
    assert!(order.contains("not known within a block"), "{order}");
}

#[test]
fn draws_of_conditionals_have_the_marginals_of_mean_and_precision() {
    let x = [1.9, -0.3, 0.8, 2.4, 1.1, 0.2, 3.0, 1.6, -1.2, 0.9, 1.4, 2.2];
    let model = crate::samplers::tests::examples::model("normal-gamma", &[], &[&x]);
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    let squares: f64 = x.iter().map(|x| (x - mean).powi(2)).sum();
    let shape = 5.0 + n / 2.0;
    let rate = 1.0 + 0.5 * squares + n * mean * mean / (2.0 * (n + 1.0));
    let run = blocks("gibbs", "mu: conjugate; tau: conjugate");
    let chains = chains(&run, &model, None, 5000);
    let variance = rate / ((shape - 1.0) * (n + 1.0));
    assert_moments("mu", &series(&chains, 0), mean * n / (n + 1.0), variance);
    let precision: Vec<Vec<f64>> = (series(&chains, 1).iter())
        .map(|chain| chain.iter().map(|u| u.exp()).collect())
        .collect();
    assert_moments("tau", &precision, shape / rate, shape / (rate * rate));
    // Draws of conditionals forget where they began: given τ nothing of the last μ is left, and the two are uncorrelated.
    let correlation = Moments::of(&chains[0].coordinate(0)).correlation;
    assert!(correlation.abs() < 0.06, "{correlation}");
    // The density that is reported is that of the draw, though it was not evaluated there.
    let mut exact = exact_oracle(model, None);
    let mut grad = [0.0; 2];
    for (u, found) in chains[0]
        .draws
        .chunks_exact(2)
        .zip(chains[0].info(2))
        .take(50)
    {
        let expected = exact.exact(u, &mut grad).unwrap();
        assert!(
            (expected - found).abs() < 1e-8 * expected.abs(),
            "{expected} {found}"
        );
    }
}

#[test]
fn coefficients_of_a_linear_model_are_drawn_from_their_conditional() {
    use crate::design::{MemoryColumns, Values};
    let x = [
        0.3, -1.2, 0.8, 1.9, -0.4, 0.1, 1.1, -0.7, 0.6, -1.5, 0.2, 1.4,
    ];
    let y = [1.0, -0.9, 2.2, 3.1, 0.4, 0.2, 2.7, 0.3, 1.1, -1.9, 1.3, 2.4];
    let columns = vec![
        ("y".to_owned(), Values::Numbers(y.to_vec())),
        ("x".to_owned(), Values::Numbers(x.to_vec())),
    ];
    let table = MemoryColumns::new("t", columns).unwrap();
    let entry = crate::models::find("linear").unwrap();
    let options = crate::models::ModelOptions::default();
    let frame = crate::design::ModelFrame {
        response_use: entry.response_use(&options.settings),
        ..crate::design::ModelFrame::new("y ~ x".parse().unwrap())
    };
    let (design, _) = crate::design::Design::build(&table, &frame).unwrap();
    let model = (entry.build)(Arc::new(design), &options).unwrap();
    let by_conditionals = blocks("gibbs", "b[*]: conjugate; sigma: slice");
    let ours = chains(&by_conditionals, &model, None, 5000);
    let nuts = chains(&Run::new("nuts"), &model, None, 5000);
    for j in 0..3 {
        let (found, error) = crate::samplers::testing::estimate(&series(&ours, j));
        let (expected, other) = crate::samplers::testing::estimate(&series(&nuts, j));
        let allowed = 4.0 * error.hypot(other);
        assert!(
            (found - expected).abs() < allowed,
            "{j}: {found} {expected} {allowed}"
        );
        let squares = |chains: &[Chain]| -> Vec<Vec<f64>> {
            let of = |chain: Vec<f64>| chain.iter().map(|u| (u - expected).powi(2)).collect();
            series(chains, j).into_iter().map(of).collect()
        };
        let (found, error) = crate::samplers::testing::estimate(&squares(&ours));
        let (expected, other) = crate::samplers::testing::estimate(&squares(&nuts));
        let allowed = 4.0 * error.hypot(other);
        assert!(
            (found - expected).abs() < allowed,
            "{j}: {found} {expected} {allowed}"
        );
        assert!(allowed < 0.2 * expected, "{j}: {allowed} of {expected}");
    }
}
