//! NUTS against closed forms, a grid, and what is known of Stan's behaviour.

use crate::samplers::{Phase, configure, configured};
use std::sync::Arc;

use super::*;
use crate::estimators::find_mode;
use crate::oracle::Centre;
use crate::samplers::testing::{
    Chain, Density, Run, assert_moments, correlated, exact_oracle, gaussian_with_centre,
    grid_moments, mean, sd, small_logistic,
};
use ergodic_base::settings::{Settings, Value};
use ergodic_base::{Control, Purpose, stream};

const ACCEPT_AT: usize = 0;
const STEP_SIZE_AT: usize = 1;
const DEPTH_AT: usize = 2;
const LEAPFROG_AT: usize = 3;
const DIVERGENT_AT: usize = 4;
const ENERGY_AT: usize = 5;
const LOG_DENSITY_AT: usize = 6;

/// Covariance with sds 1, 2, …, D and correlation ρ^|i−j|.
fn autoregressive(dim: usize, rho: f64) -> Vec<f64> {
    let mut covariance = vec![0.0; dim * dim];
    for i in 0..dim {
        for j in 0..dim {
            let sds = (i + 1) as f64 * (j + 1) as f64;
            covariance[i * dim + j] = sds * rho.powi((i as i32 - j as i32).abs());
        }
    }
    covariance
}

fn text(word: &str) -> Value {
    Value::Text(word.to_owned())
}

fn effective_draws(chain: &Chain, j: usize) -> f64 {
    (sd(&chain.coordinate(j)) / chain.mcse(j)).powi(2)
}

#[test]
fn a_correlated_gaussian_has_the_right_moments_under_both_metrics() {
    let dim = 10;
    let covariance = autoregressive(dim, 0.7);
    let model = correlated(&covariance, dim);
    for metric in ["dense", "diagonal"] {
        let chains: Vec<Chain> = (1..=4)
            .map(|seed| {
                Run::new("nuts").set("metric", text(metric)).seed(seed).go(
                    exact_oracle(Arc::clone(&model), None),
                    1000,
                    3000,
                )
            })
            .collect();
        for j in 0..dim {
            let series: Vec<Vec<f64>> = chains.iter().map(|c| c.coordinate(j)).collect();
            assert_moments(
                &format!("{metric} {j}"),
                &series,
                0.0,
                covariance[j * dim + j],
            );
        }
        // Covariance of neighbours, not only margins.
        let products: Vec<Vec<f64>> = chains
            .iter()
            .map(|c| {
                let (a, b) = (c.coordinate(8), c.coordinate(9));
                a.iter().zip(&b).map(|(a, b)| a * b).collect()
            })
            .collect();
        let (found, mcse) = crate::samplers::testing::estimate(&products);
        assert!((found - covariance[8 * dim + 9]).abs() < 4.0 * mcse);
        for chain in &chains {
            assert_eq!(mean(&chain.info(DIVERGENT_AT)), 0.0);
            for j in 0..dim {
                let effective = effective_draws(chain, j);
                assert!(effective > 600.0, "{metric} {j}: {effective}");
            }
            // Whitened by its metric the target is N(0, I) in 10 dimensions: 3 or 7 steps.
            let steps = mean(&chain.info(LEAPFROG_AT));
            let most = if metric == "dense" { 8.0 } else { 20.0 };
            assert!((2.5..most).contains(&steps), "{metric}: {steps}");
        }
    }
}

#[test]
fn the_step_size_reaches_the_target_acceptance_and_freezes() {
    let (model, centre) = gaussian_with_centre(40, 10, 3);
    for target in [0.65, 0.8, 0.95] {
        let chains: Vec<Chain> = (1..=4)
            .map(|seed| {
                Run::new("nuts")
                    .set("target_accept", Value::Real(target))
                    .seed(seed)
                    .go(
                        exact_oracle(Arc::clone(&model), Some(Arc::clone(&centre))),
                        1000,
                        1000,
                    )
            })
            .collect();
        let accept = chains.iter().map(|c| mean(&c.info(ACCEPT_AT))).sum::<f64>() / 4.0;
        // Frozen at the average of log ε, which does not swing into the range of poor acceptance any more, the sampler
        // accepts more than the target, as Stan does: 0.87 to 0.9 for 0.8.
        assert!(
            accept > target - 0.05 && accept < target + 0.6 * (1.0 - target),
            "{accept} {target}"
        );
        let last_window = |c: &Chain| mean(&c.warmup_info(ACCEPT_AT)[500..949]);
        let accept = chains.iter().map(last_window).sum::<f64>() / 4.0;
        assert!((accept - target).abs() < 0.03, "{accept} {target}");
        for chain in &chains {
            let sizes = chain.info(STEP_SIZE_AT);
            assert!(sizes.iter().all(|&size| size == sizes[0]));
            let warmup = chain.warmup_info(STEP_SIZE_AT);
            assert!(warmup[998] != warmup[999]);
        }
    }
}

#[test]
fn warmups_of_any_length_leave_a_chain_that_moves() {
    let (model, centre) = gaussian_with_centre(40, 3, 3);
    for start in ["curvature", "identity"] {
        for length in [0, 1, 5, 19, 20, 25, 40, 75, 100, 149, 150] {
            for seed in 1..=4 {
                let oracle = exact_oracle(Arc::clone(&model), Some(Arc::clone(&centre)));
                let run = Run::new("nuts").set("start_metric", text(start)).seed(seed);
                let chain = run.go(oracle, length, 100);
                let accept = mean(&chain.info(ACCEPT_AT));
                let least = if length < 100 { 0.2 } else { 0.5 };
                assert!(accept > least, "{start}, {length}: {accept}");
                let steps = mean(&chain.info(LEAPFROG_AT));
                assert!(steps < 100.0, "{start}, {length}: {steps}");
            }
        }
    }
}

#[test]
fn a_skewed_logistic_posterior_agrees_with_numerical_integration() {
    // Eight rows, one failure: skewed enough that mode and mean differ by half a standard deviation.
    let x = [-1.5, -1.0, -0.5, -0.2, 0.3, 0.6, 1.0, 1.3];
    let y = [0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
    let model = small_logistic(&x, &y, 2.5);
    let mode = find_mode(model.as_ref(), &Control::default()).unwrap();
    let centre = Arc::new(mode.centre);
    let [x, y, xx, yy, xy] = grid_moments(model.as_ref(), [centre.u[0], centre.u[1]], [12.0, 12.0]);
    assert!((x - centre.u[0]).abs() > 0.2 * xx.sqrt());
    for start in ["curvature", "identity"] {
        let chains: Vec<Chain> = (1..=4)
            .map(|seed| {
                Run::new("nuts")
                    .set("start_metric", text(start))
                    .seed(seed)
                    .go(
                        exact_oracle(Arc::clone(&model), Some(Arc::clone(&centre))),
                        600,
                        5000,
                    )
            })
            .collect();
        let series =
            |j: usize| -> Vec<Vec<f64>> { chains.iter().map(|c| c.coordinate(j)).collect() };
        assert_moments("intercept", &series(0), x, xx);
        assert_moments("slope", &series(1), y, yy);
        let products: Vec<Vec<f64>> = series(0)
            .iter()
            .zip(series(1))
            .map(|(a, b)| a.iter().zip(b).map(|(a, b)| (a - x) * (b - y)).collect())
            .collect();
        let (found, mcse) = crate::samplers::testing::estimate(&products);
        assert!((found - xy).abs() < 4.0 * mcse, "{found} {xy} {mcse}");
    }
}

#[test]
fn heavy_tails_are_sampled_without_bias() {
    // Student t with 10 degrees of freedom: mean 0, variance 10/8, P(|x| > 2.2281) = 0.05.
    let df = 10.0;
    let model = Density::model(1, move |u, grad| {
        grad[0] = -(df + 1.0) * u[0] / (df + u[0] * u[0]);
        -0.5 * (df + 1.0) * (u[0] * u[0] / df).ln_1p()
    });
    let chains: Vec<Vec<f64>> = (1..=4)
        .map(|seed| {
            Run::new("nuts")
                .seed(seed)
                .go(exact_oracle(Arc::clone(&model), None), 500, 5000)
                .coordinate(0)
        })
        .collect();
    assert_moments("t(10)", &chains, 0.0, df / (df - 2.0));
    let tails: Vec<Vec<f64>> = chains
        .iter()
        .map(|c| {
            c.iter()
                .map(|x| f64::from(u8::from(x.abs() > 2.228_139)))
                .collect()
        })
        .collect();
    let (found, mcse) = crate::samplers::testing::estimate(&tails);
    assert!((found - 0.05).abs() < 4.0 * mcse, "{found} {mcse}");
}

#[test]
fn curvature_start_saves_warmup_work() {
    // Posterior sds from 1 to 0.01: an identity start needs hundreds of steps, the curvature start a handful.
    let dim = 20;
    let precision: Vec<f64> = (0..dim)
        .map(|j| 10_f64.powf(4.0 * j as f64 / (dim - 1) as f64))
        .collect();
    let model = Density::model(dim, move |u, grad| {
        for j in 0..u.len() {
            grad[j] = -precision[j] * u[j];
        }
        0.5 * u.iter().zip(&*grad).map(|(u, g)| u * g).sum::<f64>()
    });
    let centre = Arc::new(Centre::at(model.density().unwrap(), &vec![0.0; dim]).unwrap());
    let steps = |start: &str| {
        let run = Run::new("nuts").set("start_metric", text(start));
        let oracle = exact_oracle(Arc::clone(&model), Some(Arc::clone(&centre)));
        let chain = run.go(oracle, 300, 300);
        (
            mean(&chain.warmup_info(LEAPFROG_AT)),
            mean(&chain.info(LEAPFROG_AT)),
        )
    };
    let (warmup, drawing) = steps("curvature");
    assert!(warmup < 12.0, "{warmup}");
    assert!(drawing < 8.0, "{drawing}");
    assert!(steps("identity").0 > 3.0 * warmup);
}

#[test]
fn a_wall_of_curvature_is_reported_as_divergence() {
    // Inside |u| < 1 the density is flat, outside it falls as exp(-1e6 (|u| - 1)²): a step fixed at the inner scale
    // gains more than 1000 in energy whenever it crosses.
    let model = Density::model(1, |u, grad| {
        let over = (u[0].abs() - 1.0).max(0.0);
        grad[0] = -2e6 * over * u[0].signum();
        -1e6 * over * over
    });
    let chain =
        Run::new("nuts")
            .set("step_size", Value::Real(0.5))
            .go(exact_oracle(model, None), 0, 500);
    let divergent = mean(&chain.info(DIVERGENT_AT));
    assert!(divergent > 0.5, "{divergent}");
    assert!(chain.draws.iter().all(|u| u.abs() < 1.1));
}

#[test]
fn a_region_without_density_is_never_entered() {
    // Exponential(1): undefined (NaN) for negative u. Its mean is 1 and its variance 1.
    let model = Density::model(1, |u, grad| {
        grad[0] = -1.0;
        if u[0] > 0.0 { -u[0] } else { f64::NAN }
    });
    let chains: Vec<Vec<f64>> = (1..=4)
        .map(|seed| {
            let mut oracle = exact_oracle(Arc::clone(&model), None);
            let mut streams = Streams::new(seed, 0);
            let target = crate::samplers::testing::target_of(&oracle);
            let mut settings = Settings::default();
            settings.set("step_size", Value::Real(0.3));
            let config = configure::<Nuts>(&settings, &target).unwrap();
            let mut state = Nuts::init(&config, &[0.5], &mut oracle, &mut streams).unwrap();
            let mut info = [0.0; 7];
            (0..32_000)
                .map(|iter| {
                    let at = Tick {
                        iter,
                        phase: Phase::Draw,
                    };
                    Nuts::step(
                        &config,
                        at,
                        &mut state,
                        &mut oracle,
                        &mut streams,
                        &mut info,
                    )
                    .unwrap();
                    Nuts::position(&state)[0]
                })
                .collect()
        })
        .collect();
    assert!(chains.iter().flatten().all(|&u| u > 0.0));
    assert_moments("exponential", &chains, 1.0, 1.0);
}

#[test]
fn trajectories_end_at_the_u_turn() {
    // On N(0, I₂) with a small fixed step a trajectory of half a period, π/ε steps, is where a U-turn happens; doubling
    // stops between that and twice it.
    let model = correlated(&[1.0, 0.0, 0.0, 1.0], 2);
    let step_size = 0.02;
    let chain = Run::new("nuts")
        .set("step_size", Value::Real(step_size))
        .set("metric", text("diagonal"))
        .go(exact_oracle(model, None), 0, 1000);
    let steps = chain.info(LEAPFROG_AT);
    let half_period = std::f64::consts::PI / step_size;
    let longest = steps.iter().copied().fold(0.0, f64::max);
    assert!(longest < 4.0 * half_period, "{longest}");
    let average = mean(&steps);
    assert!(
        (0.5 * half_period..2.0 * half_period).contains(&average),
        "{average} {half_period}"
    );
    assert!(mean(&chain.info(ACCEPT_AT)) > 0.999);
}

#[test]
fn depth_is_limited_and_information_is_consistent() {
    let (model, centre) = gaussian_with_centre(30, 3, 4);
    let mut oracle = exact_oracle(Arc::clone(&model), Some(Arc::clone(&centre)));
    let run = Run::new("nuts")
        .set("step_size", Value::Real(1e-3))
        .set("max_depth", Value::Int(3));
    let chain = run.go(
        exact_oracle(Arc::clone(&model), Some(Arc::clone(&centre))),
        0,
        50,
    );
    assert!(chain.info(DEPTH_AT).iter().all(|&depth| depth == 3.0));
    assert!(chain.info(LEAPFROG_AT).iter().all(|&steps| steps == 7.0));

    let chain = Run::new("nuts").go(exact_oracle(Arc::clone(&model), Some(centre)), 200, 200);
    let (energy, log_density) = (chain.info(ENERGY_AT), chain.info(LOG_DENSITY_AT));
    let mut grad = [0.0; 3];
    let mut kinetic = Vec::new();
    for (k, u) in chain.draws.chunks_exact(3).enumerate() {
        let exact = oracle.exact(u, &mut grad).unwrap();
        assert!((exact - log_density[k]).abs() < 1e-9 * exact.abs());
        kinetic.push(energy[k] + log_density[k]);
    }
    // Kinetic energy is half a chi-square with D degrees of freedom: mean 1.5, sd sqrt(1.5).
    assert!(kinetic.iter().all(|&k| k > 0.0));
    assert!((mean(&kinetic) - 1.5).abs() < 5.0 * (1.5_f64 / 200.0).sqrt());
}

#[test]
fn an_interrupted_step_leaves_the_position_as_it_was() {
    let (model, centre) = gaussian_with_centre(30, 3, 4);
    let interrupt = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let oracle = Oracle::new(model, Some(centre), false, Arc::clone(&interrupt));
    let mut session = Run::new("nuts").start(oracle);
    let before = session.kernel.position().to_vec();
    interrupt.store(true, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(session.warm_up(100), Err(StepError::Interrupted));
    assert_eq!(session.kernel.position(), before);
}

#[test]
fn curvature_without_a_mode_is_refused_by_name() {
    let (model, _centre) = gaussian_with_centre(10, 2, 1);
    let target = Target::new(&model, None);
    let mut settings = Settings::default();
    settings.set("start_metric", text("curvature"));
    let error = configure::<Nuts>(&settings, &target).unwrap_err();
    assert!(error.to_string().contains("start_metric"));
    settings.set("start_metric", text("auto"));
    let resolved = configured::<Nuts>(&settings, &target).unwrap().1;
    assert_eq!(resolved[1], ("start_metric", text("identity")));
}

#[test]
fn the_dense_metric_is_the_default_only_in_moderate_dimension() {
    let (model, centre) = gaussian_with_centre(10, 2, 1);
    for (dim, word) in [(100, "dense"), (101, "diagonal")] {
        let target = Target {
            dim,
            ..Target::new(&model, Some(&centre))
        };
        let resolved = configured::<Nuts>(&Settings::default(), &target).unwrap().1;
        assert_eq!(resolved[0], ("metric", text(word)));
        assert_eq!(resolved[1], ("start_metric", text("curvature")));
    }
}

#[test]
fn starting_positions_do_not_matter() {
    // From 1000 posterior standard deviations away, without a mode to help.
    let (model, _centre) = gaussian_with_centre(100, 2, 9);
    let mut oracle = exact_oracle(model, None);
    let mut streams = Streams::new(1, 0);
    let target = crate::samplers::testing::target_of(&oracle);
    let config = configure::<Nuts>(&Settings::default(), &target).unwrap();
    let mut u0 = vec![0.0; 2];
    let density = oracle.model().density().unwrap();
    density.init(&mut stream(1, 0, Purpose::Init), &mut u0);
    for u in &mut u0 {
        *u += 100.0;
    }
    let mut state = Nuts::init(&config, &u0, &mut oracle, &mut streams).unwrap();
    let mut info = [0.0; 7];
    for iter in 0..150 {
        let at = Tick {
            iter,
            phase: Phase::Warmup { length: Some(150) },
        };
        Nuts::step(
            &config,
            at,
            &mut state,
            &mut oracle,
            &mut streams,
            &mut info,
        )
        .unwrap();
    }
    let position = Nuts::position(&state);
    assert!((position[0] - 0.1).abs() < 1.0 && (position[1] - 0.2).abs() < 1.0);
}
