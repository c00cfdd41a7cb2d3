//! Divide and conquer against closed forms and against exact samplers, where it is right and where it is not.

use std::sync::Arc;

use ndarray::Array2;

use super::*;
use crate::design::ResponseKind;
use crate::models::ModelOptions;
use crate::samplers::testing::{
    Chain, Run, assert_goes_on, assert_moments, estimate, exact_oracle, gaussian_with_centre, mean,
    sd, small_logistic,
};
use crate::testing::{GaussianRows, plain_design};
use ergodic_base::settings::Value;
use ergodic_base::{Purpose, stream};

fn text(word: &str) -> Value {
    Value::Text(word.to_owned())
}

/// Four chains; shards give `batch` draws at a time, as many as the batches have that standard errors are made of.
fn chains(model: &Arc<dyn Model>, centre: &Arc<Centre>, run: &Run, batch: usize) -> Vec<Chain> {
    let run = run.clone().set("shard_draws", Value::Int(batch as i64));
    (1..=4)
        .map(|seed| {
            let oracle = exact_oracle(Arc::clone(model), Some(Arc::clone(centre)));
            run.clone().seed(seed).go(oracle, 1000, 25 * batch)
        })
        .collect()
}

fn series(chains: &[Chain], j: usize) -> Vec<Vec<f64>> {
    chains.iter().map(|chain| chain.coordinate(j)).collect()
}

/// All that suit rows and a density take the place of the sampler of shards, and leave the posterior of a linear model where it is.
#[test]
fn every_sampler_of_rows_can_sample_shards() {
    let (model, centre) = gaussian_with_centre(400, 2, 1);
    let shard = shard(&model, 0, 4).unwrap();
    let mut taken = Vec::new();
    for entry in registry::REGISTRY {
        let id = entry.spec.id;
        if (entry.suits)(shard.as_ref()).is_err() {
            continue;
        }
        let run = Run::new("divide-and-conquer").set("kernel", text(id));
        let target = Target::new(&model, Some(&centre));
        let mut settings = Settings::default();
        settings.set("kernel", text(id));
        let divide = registry::find("divide-and-conquer").unwrap();
        if let Err(error) = (divide.resolve)(&settings, &target) {
            let error = error.to_string();
            let weighted = entry.spec.info.iter().any(|column| column.name == SIGN);
            assert!(weighted || id == "divide-and-conquer", "{id}: {error}");
            continue;
        }
        let run = run.set("shards", Value::Int(4));
        let oracle = || exact_oracle(Arc::clone(&model), Some(Arc::clone(&centre)));
        let chain = run.clone().go(oracle(), 400, 200);
        let found = chain.coordinate(0);
        assert!(found.iter().all(|u| u.is_finite()), "{id}");
        // All that shards know must be in checkpoints, in warm-up and after it.
        assert_goes_on(&run, oracle, 60, &[30, 62]);
        taken.push(id);
    }
    for id in GENERAL {
        assert!(taken.contains(id), "{id}");
    }
    assert!(taken.len() >= 24, "{taken:?}");
}

/// Samplers with settings of their own: a step of the shards, rows of a minibatch, and a sampler that bounds rows one by one.
#[test]
fn samplers_of_shards_take_settings() {
    let rows = GaussianRows::simulated(400, 2, 1);
    let (means, variances) = (rows.posterior_mean(), rows.posterior_variance());
    let centre = Arc::new(Centre::at(&rows, &means).unwrap());
    let model: Arc<dyn Model> = Arc::new(rows);
    let kernels = [
        "sgld-cv(batch=50, step_size=0.05)",
        "hmc(length=1.2)",
        "sgnht(batch=50)",
    ];
    for kernel in kernels {
        let run = Run::new("divide-and-conquer")
            .set("shards", Value::Int(4))
            .set("kernel", text(kernel));
        let chains = chains(&model, &centre, &run, 400);
        for j in 0..2 {
            let found = series(&chains, j);
            let (mean, mcse) = estimate(&found);
            let sd = variances[j].sqrt();
            assert!(
                (mean - means[j]).abs() < 4.0 * mcse,
                "{kernel}, {j}: {mean}"
            );
            let ratio = crate::samplers::testing::sd(&found.concat()) / sd;
            assert!((0.9..1.15).contains(&ratio), "{kernel}, {j}: {ratio}");
        }
    }
}

/// The subposteriors of a normal mean with known variance are normal, whatever their number.
#[test]
fn a_normal_mean_is_found_by_rules_for_normal_densities() {
    let rows = GaussianRows::simulated(200, 2, 1);
    let (means, variances) = (rows.posterior_mean(), rows.posterior_variance());
    let centre = Arc::new(Centre::at(&rows, &means).unwrap());
    let model: Arc<dyn Model> = Arc::new(rows);
    for shards in [1, 4] {
        for method in ["consensus", "normal", "weierstrass"] {
            let run = Run::new("divide-and-conquer")
                .set("shards", Value::Int(shards))
                .set("combine", text(method));
            let chains = chains(&model, &centre, &run, 400);
            for j in 0..2 {
                let what = format!("{method} of {shards}, {j}");
                let found = series(&chains, j);
                if method == "normal" && shards > 1 {
                    // Of 400 draws the inverse of a covariance is on average (M − 1)/(M − D − 2) times too large.
                    let factor = (400.0 - 4.0) / 399.0;
                    assert_moments(&what, &found, means[j], factor * variances[j]);
                } else {
                    assert_moments(&what, &found, means[j], variances[j]);
                }
            }
        }
    }
}

/// 2000 rows in four shards: subposteriors are near normal, and consensus is off by a tenth of a standard deviation at most.
#[test]
fn consensus_is_close_for_a_logistic_regression() {
    let mut rng = stream(5, 0, Purpose::Data);
    let (x, y): (Vec<f64>, Vec<f64>) = (0..2000)
        .map(|_| {
            let x: f64 = rng.random_range(-1.0..1.0);
            let chance = 1.0 / (1.0 + (0.3 - 0.8 * x).exp());
            (x, f64::from(u8::from(rng.random::<f64>() < chance)))
        })
        .unzip();
    let model = small_logistic(&x, &y, 2.5);
    let mode = crate::estimators::find_mode(model.as_ref(), &Control::default()).unwrap();
    let centre = Arc::new(mode.centre);
    let exact: Vec<Chain> = (1..=4)
        .map(|seed| {
            let oracle = exact_oracle(Arc::clone(&model), Some(Arc::clone(&centre)));
            Run::new("nuts").seed(seed).go(oracle, 500, 5000)
        })
        .collect();
    let run = Run::new("divide-and-conquer").set("shards", Value::Int(4));
    let found = chains(&model, &centre, &run, 400);
    for j in 0..2 {
        let (truth, error) = estimate(&series(&exact, j));
        let (mean_found, mcse) = estimate(&series(&found, j));
        let spread = sd(&series(&exact, j).concat());
        let shift = (mean_found - truth).abs() / spread;
        let known_to = 4.0 * mcse.hypot(error) / spread;
        assert!(
            shift < 0.1 + known_to && known_to < 0.1,
            "{j}: {shift}, {known_to}"
        );
        let ratio = sd(&series(&found, j).concat()) / spread;
        assert!((0.93..1.07).contains(&ratio), "{j}: {ratio}");
    }
}

/// Coefficients that the rows do not need lie at the kink of their prior in every shard. Modes are found there, without which gradients of
/// minibatches have no centre.
#[test]
fn modes_of_shards_lie_at_the_kinks_of_their_priors() {
    const ROWS: usize = 800;
    const DIM: usize = 4;
    let made = crate::synthetic::logistic(ROWS, DIM, 3, 0.0);
    let x = Array2::from_shape_vec((ROWS, DIM), made.x).unwrap();
    // Chance makes slopes of 7 to 9 in a shard, and its kinks are 12.5 steep.
    let mut rng = stream(6, 0, Purpose::Data);
    let y = (0..ROWS).map(|_| f64::from(u8::from(rng.random::<bool>())));
    let design = plain_design(x, y.collect(), crate::testing::binary());
    let options = ModelOptions {
        priors: vec![("b".into(), "laplace(0, 0.02)".into())],
        standardize: true,
        ..ModelOptions::default()
    };
    let template = crate::models::find("logistic").unwrap();
    let model = (template.build)(Arc::new(design), &options).unwrap();
    let mode = crate::estimators::find_mode(model.as_ref(), &Control::default()).unwrap();
    let centre = Arc::new(mode.centre);
    let mut oracle = exact_oracle(Arc::clone(&model), Some(Arc::clone(&centre)));
    let mut at_kink = 0;
    for (index, found) in centres(4, &mut oracle).unwrap().into_iter().enumerate() {
        let found = found.unwrap();
        let shard = shard(&model, index, 4).unwrap();
        let mut unused = [0.0; DIM];
        let mut value = |u: &[f64]| shard.density().unwrap().log_density(u, &mut unused);
        let peak = value(&found.u);
        for (j, sd) in found.sds().into_iter().enumerate() {
            for step in [-0.1, 0.1] {
                let mut beside = found.u.clone();
                beside[j] += step * sd;
                assert!(value(&beside) < peak, "shard {index}, {j}, {step}");
            }
            at_kink += usize::from(j > 0 && found.u[j].abs() < 1e-3);
        }
    }
    assert!((6..=12).contains(&at_kink), "{at_kink}");
    let run = Run::new("divide-and-conquer")
        .set("shards", Value::Int(4))
        .set("kernel", text("sgld-cv"));
    let chain = run.go(oracle, 200, 200);
    assert!(chain.draws.iter().all(|u| u.is_finite()));
}

/// Draws of shards are the same whatever becomes of them, so that methods are compared on the same ones.
#[test]
fn the_method_changes_no_draw_of_a_shard() {
    let (model, centre) = gaussian_with_centre(100, 2, 1);
    let rhat = |method: &str| {
        let run = Run::new("divide-and-conquer").set("combine", text(method));
        let oracle = exact_oracle(Arc::clone(&model), Some(Arc::clone(&centre)));
        run.go(oracle, 300, 400).info(0)
    };
    let first = rhat("consensus");
    assert!(first.iter().all(|rhat| (0.9..1.2).contains(rhat)));
    // 150 draws make a batch: three values in 400 draws.
    assert_eq!(
        (first[0] == first[149], first[0] == first[150]),
        (true, false)
    );
    for method in ["normal", "nonparametric", "semiparametric", "weierstrass"] {
        assert_eq!(rhat(method), first, "{method}");
    }
}

/// A warm-up that is too short is no reason to combine noise: the first batch is made at the first draw.
#[test]
fn a_batch_has_a_least_size() {
    let (model, centre) = gaussian_with_centre(100, 2, 1);
    let oracle = || exact_oracle(Arc::clone(&model), Some(Arc::clone(&centre)));
    let rhat = Run::new("divide-and-conquer").go(oracle(), 20, 201).info(0);
    assert_eq!((rhat[0] == rhat[99], rhat[99] == rhat[100]), (true, false));
}

/// A draw of every shard takes as many gradients of rows as one of all rows.
#[test]
fn rows_of_all_shards_are_counted() {
    let (model, centre) = gaussian_with_centre(100, 2, 1);
    let rows = |run: Run| {
        let oracle = exact_oracle(Arc::clone(&model), Some(Arc::clone(&centre)));
        let mut session = run.start(oracle);
        session.advance(1000).unwrap();
        let before = session.oracle.datum_grads;
        session.advance(1000).unwrap();
        session.oracle.datum_grads - before
    };
    let divided = Run::new("divide-and-conquer").set("kernel", text("mala"));
    let whole = rows(Run::new("mala"));
    assert!(whole > 0);
    assert_eq!(rows(divided), whole);
}

/// Two arms of a curved posterior: averages of draws of all shards lie between them, where the posterior has nothing.
#[test]
fn consensus_of_a_posterior_with_two_modes_lies_between_them() {
    let y: Vec<f64> = (0..100)
        .map(|i| 4.0 + 4.0 * (f64::from(i * 37 % 100) / 100.0 - 0.5))
        .collect();
    let kind = ResponseKind::Number {
        mean: 4.0,
        sd: 1.0,
        range: [2.0, 6.0],
        function: None,
    };
    let design = plain_design(Array2::ones((y.len(), 1)), y, kind);
    let template = crate::models::find("warped-gaussian").unwrap();
    let model = (template.build)(Arc::new(design), &ModelOptions::default()).unwrap();
    let oracle = || exact_oracle(Arc::clone(&model), None);
    let run = Run::new("divide-and-conquer").set("shards", Value::Int(20));
    let draws = run.go(oracle(), 1000, 1000);
    let second: Vec<f64> = draws.coordinate(1).iter().map(|u| u.abs()).collect();
    // θ_1 + θ_2² = 4 with θ_1 near 0: the arms are at ±2 or nearer, and NUTS on all rows stays on one.
    let exact: Vec<f64> = Run::new("nuts").go(oracle(), 500, 1000).coordinate(1);
    let exact: Vec<f64> = exact.iter().map(|u| u.abs()).collect();
    assert!(mean(&exact) > 1.5, "{}", mean(&exact));
    assert!(mean(&second) < 1.0, "{}", mean(&second));
}

#[test]
fn settings_that_do_not_go_together_are_refused() {
    let (model, centre) = gaussian_with_centre(50, 2, 1);
    let entry = registry::find("divide-and-conquer").unwrap();
    let refused = |key: &str, value: Value, centre: Option<&Arc<Centre>>| {
        let mut settings = Settings::default();
        settings.set(key, value);
        let target = Target::new(&model, centre);
        (entry.resolve)(&settings, &target)
            .map(|_| ())
            .map_err(|error| error.to_string())
    };
    let centre = Some(&centre);
    let error = refused("shards", Value::Int(51), centre).unwrap_err();
    assert!(
        error.contains("must not exceed the number of rows, which is 50"),
        "{error}"
    );
    assert_eq!(refused("shards", Value::Int(50), centre), Ok(()));
    let error = refused("kernel", text("sgld-cv"), None).unwrap_err();
    assert!(
        error.contains("`sgld-cv` needs the posterior mode"),
        "{error}"
    );
    assert_eq!(refused("kernel", text("sgld-cv"), centre), Ok(()));
    for (kernel, said) in [
        ("nutz", "takes a sampler such as nuts"),
        ("sgld(batch=10", "takes a sampler such as nuts"),
        ("sgld(rows=10)", "no setting `rows`"),
        ("sgld(schedule=decreasing)", "have weights"),
        ("divide-and-conquer", "divide its rows again"),
        ("scir", "no shard takes"),
        ("zig-zag", "no shard takes"),
    ] {
        let error = refused("kernel", text(kernel), centre).unwrap_err();
        assert!(error.contains(said), "{kernel}: {error}");
    }
    let error = refused("shard_draws", Value::Int(99), centre).unwrap_err();
    assert!(error.contains("shard_draws"), "{error}");
}
