//! Networks with a hidden layer: scores of rows by hand, and runs from starts that chains climb to.

use std::path::Path;

use crate::effects::EffectsOptions;
use crate::predict::scores::Measure;
use crate::predict::*;
use crate::{Job, Run};
use ergodic_base::settings::Value;

/// A recipe for a network of two hidden units, with a file whose rows are split.
fn recipe(folder: &Path) -> Recipe {
    let text = "r,x,split\nred,0,train\nblue,1,train\ngreen,2,train\nblue,0,train\ngreen,1,train\nred,2,train\nred,-2,test\n\
                green,1,test\nblue,0.5,test\ngreen,3,test\n";
    let path = folder.join("levels.csv");
    std::fs::write(&path, text).unwrap();
    let mut recipe = Recipe::new(path.to_str().unwrap(), "neural-net", "r ~ x");
    recipe.model.settings.set("hidden_units", Value::Int(2));
    recipe.model.hold_out = Some("split=test".parse().unwrap());
    recipe
}

/// Chances of blue, green and red at `x` in a draw.
fn chances(draw: &[f64; 17], x: f64) -> [f64; 3] {
    // Inputs are standardised by the rows of the fit.
    let z = (x - 1.0) / (2.0_f64 / 3.0).sqrt();
    let units = [0, 1].map(|l| (draw[l] + z * draw[2 + l]).exp());
    let total: f64 = units.iter().sum();
    let scores = [0, 1, 2].map(|k| {
        let weighted = units[0] * draw[7 + k] + units[1] * draw[10 + k];
        (draw[4 + k] + weighted / total).exp()
    });
    scores.map(|score| score / scores.iter().sum::<f64>())
}

#[test]
fn rows_held_out_have_the_loss_of_their_chances() {
    let folder = tempfile::tempdir().unwrap();
    let control = Control::default();
    let fitted = Fitted::open(&recipe(folder.path()), Path::new(""), &control).unwrap();
    let draws: [[f64; 17]; 2] = [3, 5].map(|step| {
        std::array::from_fn(|j| match j {
            13.. => 1.0 + j as f64,
            _ => 0.4 * ((j * step) % 7) as f64 - 1.1,
        })
    });
    let mut list = DrawList::new(17);
    draws.iter().for_each(|draw| list.push(draw));
    let found = fitted
        .scores(&[&list], &[], None, usize::MAX, &control)
        .unwrap();
    let rows = [(-2.0, 2), (1.0, 1), (0.5, 0), (3.0, 1)];
    let (mut loss, mut wrong) = (0.0, 0.0);
    for (x, level) in rows {
        let of = draws.each_ref().map(|draw| chances(draw, x));
        let mean: [f64; 3] = std::array::from_fn(|k| 0.5 * (of[0][k] + of[1][k]));
        let called = (0..3).max_by(|&a, &b| mean[a].total_cmp(&mean[b])).unwrap();
        loss -= mean[level].ln() / 4.0;
        wrong += f64::from(called != level) / 4.0;
    }
    let value = |measure| found.score(measure).unwrap().value;
    assert!((value(Measure::LogLoss) - loss).abs() < 1e-12, "{loss}");
    assert!((value(Measure::ErrorRate) - wrong).abs() < 1e-12, "{wrong}");
    let refused = fitted.effects(&[&list], &[], &EffectsOptions::default(), &control);
    let told = refused.unwrap_err().to_string();
    assert!(told.contains("act together"), "{told}");
}

#[test]
fn runs_start_where_chains_climbed_and_are_not_judged_by_weights() {
    let folder = tempfile::tempdir().unwrap();
    let mut recipe = recipe(folder.path());
    recipe.sampler.id = "sgld".to_owned();
    recipe.sampler.settings.set("step_size", Value::Real(0.01));
    (recipe.run.draws, recipe.run.until_precise) = (200, false);
    let job = Job::prepare(&recipe, Path::new(""), None, &Control::default()).unwrap();
    assert!(job.centre.is_none());
    let said = |code: &str| job.warnings.iter().any(|warning| warning.code == code);
    assert!(said("labels-switch") && said("no-curvature"));
    use ergodic_core::engine::Sampling as _;
    let [first, second] = [0, 1].map(|chain| job.start_position(chain).unwrap());
    assert_ne!(first, second);
    let density = job.model.density().unwrap();
    let mut grad = vec![0.0; job.model.dim()];
    let climbed = density.log_density(&first, &mut grad);
    // Near a peak: a random place has a steep gradient.
    assert!(
        climbed.is_finite() && grad.iter().all(|g| g.abs() < 1.0),
        "{grad:?}"
    );
    let mut run = Run::start(Arc::new(job), None, None).unwrap();
    run.join();
    let report = run.report();
    let deciding = |row: &&ergodic_diagnostics::SummaryRow| (report.limits.decides)(row);
    let names: Vec<&str> = (report.summary.iter().filter(deciding))
        .map(|row| row.variable.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "precision[hidden_bias]",
            "precision[hidden]",
            "precision[output_bias]",
            "precision[output]"
        ]
    );
}

/// Where gradients are to be centred at the start, chains climb first, also where the model does not ask for it.
#[test]
fn chains_climb_to_where_their_gradients_are_centred() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = "user,item,rating\n".to_owned();
    for k in 0..60 {
        let (user, item) = (k % 12, k / 12);
        let rating = 3.0 + 0.5 * f64::from(user % 3) - 0.4 * f64::from(item % 2);
        text.push_str(&format!("u{user},i{item},{rating}\n"));
    }
    let path = folder.path().join("ratings.csv");
    std::fs::write(&path, text).unwrap();
    let formula = "rating ~ (1 | user) + (1 | item)";
    let mut recipe = Recipe::new(path.to_str().unwrap(), "factorization", formula);
    recipe.model.settings.set("factors", Value::Int(2));
    recipe.sampler.settings.set("step_size", Value::Real(1e-4));
    (recipe.run.draws, recipe.run.until_precise) = (50, false);
    use ergodic_core::engine::Sampling as _;
    let log_densities = |sampler: &str| {
        let mut recipe = recipe.clone();
        recipe.sampler.id = sampler.to_owned();
        let job = Job::prepare(&recipe, Path::new(""), None, &Control::default()).unwrap();
        let density = job.model.density().unwrap();
        let mut grad = vec![0.0; job.model.dim()];
        let found = [0, 1].map(|chain| {
            let start = job.start_position(chain).unwrap();
            density.log_density(&start, &mut grad)
        });
        (job, found)
    };
    let (_plain, random) = log_densities("sghmc");
    for sampler in ["sgld-cv", "sghmc-cv", "sgnht-cv"] {
        let (job, climbed) = log_densities(sampler);
        for (climbed, random) in climbed.into_iter().zip(random) {
            assert!(climbed > random + 1.0, "{sampler}: {climbed} {random}");
        }
        let said = |words: &str| job.warnings.iter().any(|it| it.message.contains(words));
        assert!(said("climbed by minibatches") && said("centred where each chain starts"));
        let mut run = Run::start(Arc::new(job), None, None).unwrap();
        run.join();
        let view = run.view();
        for chain in &view.chains {
            assert_eq!(chain.draws.draws.len(), 50, "{sampler}: {:?}", chain.state);
        }
    }
}
