//! Minibatch samplers with their defaults on a logistic posterior of moderate size, against its moments by importance
//! sampling from the quadratic approximation.

use std::sync::{Arc, OnceLock};

use ndarray::Array2;
use rand::RngExt as _;
use rand_distr::StandardNormal;

use crate::design::ResponseKind;
use crate::estimators::find_mode;
use crate::models::{Model, ModelOptions, Rows, find};
use crate::oracle::{Centre, Estimator, Oracle, Scheme};
use crate::samplers::autoregressive::{Chain, Moments};
use crate::samplers::fisher_scoring::osgfs::Osgfs;
use crate::samplers::fisher_scoring::osgfs_cv::OsgfsCv;
use crate::samplers::full_data::hmc::Hmc;
use crate::samplers::full_data::mala::{Mala, Ula};
use crate::samplers::langevin::psgld::Psgld;
use crate::samplers::langevin::saga::SagaLd;
use crate::samplers::langevin::sgld::{Sgld, SgldCv};
use crate::samplers::langevin::sgrld::Sgrld;
use crate::samplers::langevin::svrg::SvrgLd;
use crate::samplers::momentum::sghmc::{Sghmc, SghmcCv};
use crate::samplers::momentum::sgnht::{Sgnht, SgnhtCv};
use crate::samplers::subsampling::hmc_ecs::HmcEcs;
use crate::samplers::subsampling::nuts_ecs::NutsEcs;
use crate::samplers::{Phase, Sampler};
use crate::testing::plain_design;
use ergodic_base::linalg::{axpy, quadratic_form};
use ergodic_base::settings::{Settings, Value};
use ergodic_base::{Control, Purpose, stream};

const NUM_OBS: usize = 2000;
const DIM: usize = 3;

/// A model, its mode, and its true moments.
struct Posterior {
    model: Arc<dyn Model>,
    centre: Arc<Centre>,
    means: Vec<f64>,
    sds: Vec<f64>,
}

/// Two correlated skewed predictors and an outcome of about one in five.
fn posterior() -> Posterior {
    let mut rng = stream(71, 0, Purpose::Data);
    let mut x = Array2::<f64>::ones((NUM_OBS, DIM));
    let mut y = Vec::with_capacity(NUM_OBS);
    for mut row in x.rows_mut() {
        let (a, b): (f64, f64) = (rng.sample(StandardNormal), rng.sample(StandardNormal));
        row[1] = (0.5 * a).exp() - 1.13;
        row[2] = 0.6 * a + 0.8 * b;
        let z = -1.6 + 0.9 * row[1] - 0.7 * row[2];
        y.push(f64::from(u8::from(
            rng.random::<f64>() < 1.0 / (1.0 + (-z).exp()),
        )));
    }
    posterior_of(x, y, 6000)
}

/// The posterior of a logistic regression with an intercept as first column of `x`; its moments from `points` points.
fn posterior_of(x: Array2<f64>, y: Vec<f64>, points: u32) -> Posterior {
    let design = plain_design(x, y, ResponseKind::Successes);
    let options = ModelOptions {
        standardize: true,
        ..ModelOptions::default()
    };
    let model = (find("logistic").unwrap().build)(Arc::new(design), &options).unwrap();
    let mode = find_mode(model.as_ref(), &Control::default()).unwrap();
    let (means, sds) = truth(model.as_ref(), &mode.centre, points);
    Posterior {
        model,
        centre: Arc::new(mode.centre),
        means,
        sds,
    }
}

/// Made once: the truth takes a while.
fn shared() -> &'static Posterior {
    static SHARED: OnceLock<Posterior> = OnceLock::new();
    SHARED.get_or_init(posterior)
}

/// Posterior means and standard deviations: self-normalised importance sampling, proposal a little wider than the
/// quadratic approximation; errors are about 1/sqrt(`points`) standard deviations.
fn truth(model: &dyn Model, centre: &Centre, points: u32) -> (Vec<f64>, Vec<f64>) {
    const WIDEN: f64 = 1.1;
    let dim = model.dim();
    let mut rng = stream(72, 0, Purpose::Data);
    let mut scratch = model.rows().unwrap().scratch();
    let mut grad = vec![0.0; dim];
    let mut log_density = |u: &[f64]| {
        let value = model.rows().unwrap().log_prior(u, &mut grad);
        value
            + model
                .rows()
                .unwrap()
                .log_lik(u, Rows::All, &mut scratch, &mut grad)
    };
    let peak = log_density(&centre.u);
    let (mut total, mut first, mut second) = (0.0, vec![0.0; dim], vec![0.0; dim]);
    let mut squares = 0.0;
    for _ in 0..points {
        let mut u: Vec<f64> = (0..dim)
            .map(|_| WIDEN * rng.sample::<f64, _>(StandardNormal))
            .collect();
        centre.factor.solve_lower_transpose(&mut u);
        let log_proposal = -0.5 * quadratic_form(&centre.hessian, &u) / (WIDEN * WIDEN);
        axpy(1.0, &centre.u, &mut u);
        let weight = (log_density(&u) - peak - log_proposal).exp();
        total += weight;
        squares += weight * weight;
        for j in 0..dim {
            first[j] += weight * u[j];
            second[j] += weight * u[j] * u[j];
        }
    }
    assert!(
        total * total / squares > 0.75 * f64::from(points),
        "the proposal covers the posterior"
    );
    let means: Vec<f64> = first.iter().map(|sum| sum / total).collect();
    let sds = (0..dim)
        .map(|j| (second[j] / total - means[j] * means[j]).sqrt())
        .collect();
    (means, sds)
}

/// Of one coefficient: shift of the mean in posterior standard deviations and ratio of standard deviations, each with its
/// standard error.
#[derive(Debug)]
struct Bias {
    mean: f64,
    mean_error: f64,
    ratio: f64,
    ratio_error: f64,
    correlation: f64,
}

/// Runs `S` with `settings`, all others at their defaults, from two standard deviations off the mode.
fn bias<S: Sampler>(
    posterior: &Posterior,
    settings: &Settings,
    count: usize,
    seed: u64,
) -> Vec<Bias> {
    let Posterior {
        model,
        centre,
        means,
        sds,
    } = posterior;
    let start: Vec<f64> = centre
        .u
        .iter()
        .zip(centre.sds())
        .map(|(u, sd)| u + 2.0 * sd)
        .collect();
    let mut chain = Chain::<S>::start(
        Arc::clone(model),
        Some(Arc::clone(centre)),
        settings,
        &start,
        seed,
    );
    let steps = S::steps_per_draw(&chain.config);
    let draws = chain.draws(40 * steps as usize, count, steps);
    draws
        .iter()
        .zip(means.iter().zip(sds))
        .map(|(draws, (mean, sd))| {
            let moments = Moments::of(draws);
            let phi = moments.correlation.max(0.0);
            Bias {
                mean: (moments.mean - mean) / sd,
                mean_error: ((1.0 + phi) / (1.0 - phi) / moments.count).sqrt(),
                ratio: moments.variance.sqrt() / sd,
                ratio_error: ((1.0 + phi * phi) / (1.0 - phi * phi) / (2.0 * moments.count)).sqrt(),
                correlation: phi,
            }
        })
        .collect()
}

/// Compares 2,500 draws with the truth.
fn check<S: Sampler>(mean_tolerance: f64, sd_ratio: std::ops::RangeInclusive<f64>) {
    check_with::<S>(&[], mean_tolerance, sd_ratio);
}

/// The same with settings.
fn check_with<S: Sampler>(
    set: &[(&str, i64)],
    mean_tolerance: f64,
    sd_ratio: std::ops::RangeInclusive<f64>,
) {
    let id = S::SPEC.id;
    let mut settings = Settings::default();
    for (key, value) in set {
        settings.set(key, Value::Int(*value));
    }
    for (j, bias) in bias::<S>(shared(), &settings, 2500, 73).iter().enumerate() {
        assert!(bias.correlation < 0.7, "{id} {j}: {bias:?}");
        assert!(
            bias.mean.abs() < mean_tolerance + 3.0 * bias.mean_error,
            "{id} {j}: {bias:?}"
        );
        let slack = 3.0 * bias.ratio_error;
        assert!(
            bias.ratio > sd_ratio.start() - slack && bias.ratio < sd_ratio.end() + slack,
            "{id} {j}: {bias:?}"
        );
    }
}

#[test]
fn sgld_cv_is_right_by_default() {
    check::<SgldCv>(0.03, 0.98..=1.05);
}

#[test]
fn sghmc_is_right_by_default() {
    check::<SghmcCv>(0.03, 0.98..=1.02);
    check::<Sghmc>(0.03, 0.98..=1.02);
}

#[test]
fn sgnht_is_right_by_default() {
    check::<SgnhtCv>(0.03, 0.98..=1.02);
    check::<Sgnht>(0.03, 0.98..=1.02);
}

/// Control variates of the second order (Dang et al. 2019, section 2.2).
#[test]
fn expansions_of_the_second_order_are_right() {
    check_with::<SgldCv>(&[("order", 2)], 0.03, 0.98..=1.05);
}

#[test]
#[ignore = "long: run by .ci/long"]
fn expansions_of_the_second_order_are_right_with_momentum() {
    check_with::<SghmcCv>(&[("order", 2)], 0.03, 0.98..=1.02);
    check_with::<SgnhtCv>(&[("order", 2)], 0.03, 0.98..=1.02);
}

/// Gradients that are compared with linear expansions of rows have the exact gradient as their mean, and less noise.
#[test]
fn expansions_of_the_second_order_are_unbiased_and_calmer() {
    let Posterior { model, centre, .. } = shared();
    let mut u = centre.u.clone();
    u.iter_mut().zip(centre.sds()).for_each(|(u, sd)| *u += sd);
    let noise = |second_order: bool| {
        let mut oracle = Oracle::new(
            Arc::clone(model),
            Some(Arc::clone(centre)),
            false,
            Arc::default(),
        );
        oracle.set_estimator(Estimator::ControlVariate, 40, Scheme::Iid);
        if second_order {
            oracle.expand_to_second_order();
        }
        let mut rng = stream(77, 0, Purpose::Batch);
        let (mut exact, mut estimate) = ([0.0; DIM], [0.0; DIM]);
        oracle.exact(&u, &mut exact).unwrap();
        let mut errors: [Vec<f64>; DIM] = Default::default();
        for _ in 0..20_000 {
            oracle.grad(&u, &mut rng, &mut estimate);
            axpy(-1.0, &exact, &mut estimate);
            centre.factor.solve_lower(&mut estimate);
            for (errors, error) in errors.iter_mut().zip(&estimate) {
                errors.push(*error);
            }
        }
        errors.map(|errors| Moments::of(&errors))
    };
    let (first, second) = (noise(false), noise(true));
    for (first, second) in first.iter().zip(&second) {
        assert!(second.mean.abs() < 4.0 * (second.variance / second.count).sqrt());
        assert!(
            second.variance < 0.2 * first.variance,
            "{second:?} {first:?}"
        );
    }
}

#[test]
fn osgfs_with_a_short_memory_is_as_good() {
    check_with::<Osgfs>(&[("memory", 2000)], 0.1, 0.90..=1.10);
}

#[test]
fn samplers_centred_at_older_positions_are_right_by_default() {
    check::<SagaLd>(0.03, 0.98..=1.05);
    check::<SvrgLd>(0.03, 0.98..=1.05);
}

#[test]
fn sgrld_is_right_by_default() {
    check::<Sgrld>(0.03, 0.98..=1.05);
}

#[test]
fn osgfs_cv_is_right_by_default() {
    check::<OsgfsCv>(0.05, 0.95..=1.05);
}

#[test]
fn full_data_samplers_are_right_after_the_shortest_of_warmups() {
    check::<Hmc>(0.02, 0.99..=1.01);
    check::<Mala>(0.02, 0.99..=1.01);
}

#[test]
fn ula_has_the_bias_it_tells_of() {
    check::<Ula>(0.02, 1.0..=1.04);
}

#[test]
fn energy_conserving_samplers_are_right_by_default() {
    // The truth itself is known to 0.013.
    check::<HmcEcs>(0.02, 0.98..=1.02);
    check::<NutsEcs>(0.02, 0.98..=1.02);
}

#[test]
fn plain_samplers_have_the_bias_they_tell_of() {
    check::<Sgld>(0.05, 1.0..=1.10);
    check::<Psgld>(0.05, 1.0..=1.10);
    check::<Osgfs>(0.1, 0.90..=1.10);
}

/// The noise that `sgld-cv` and `osgfs-cv` reckon with, measured at the mode, is the noise of centred gradients along a
/// chain: the sum over whitened directions agrees.
#[test]
fn noise_measured_at_the_mode_is_that_of_a_chain() {
    let Posterior { model, centre, .. } = shared();
    let batch = 40;
    let mut chain = Chain::<OsgfsCv>::start(
        Arc::clone(model),
        Some(Arc::clone(centre)),
        &Settings::default(),
        &centre.u,
        74,
    );
    let mut oracle = Oracle::new(
        Arc::clone(model),
        Some(Arc::clone(centre)),
        false,
        Arc::default(),
    );
    oracle.set_estimator(Estimator::ControlVariate, batch, Scheme::Iid);
    let mut rng = stream(75, 0, Purpose::Batch);
    let (mut exact, mut estimate) = ([0.0; DIM], [0.0; DIM]);
    let mut total = Vec::new();
    for _ in 0..3000 {
        let u = chain.step(Phase::Draw).to_vec();
        oracle.exact(&u, &mut exact).unwrap();
        oracle.grad(&u, &mut rng, &mut estimate);
        axpy(-1.0, &exact, &mut estimate);
        centre.factor.solve_lower(&mut estimate);
        total.push(batch as f64 * estimate.iter().map(|e| e * e).sum::<f64>());
    }
    let noise = centre.noise(model.rows());
    let predicted: f64 = (0..DIM).map(|j| noise.differences[j * DIM + j]).sum();
    let got = Moments::of(&total);
    // Draws of the chain are correlated by one half: three times the error of independent ones.
    let error = 3.0 * (got.variance / got.count).sqrt();
    assert!(
        (got.mean - predicted).abs() < 0.1 * predicted + error && error < 0.15 * predicted,
        "{} ± {error}, predicted {predicted}",
        got.mean
    );
    assert!(noise.difference_rows <= predicted * (1.0 + 1e-12));
}

/// The biases that the samplers' descriptions state, on this posterior and on one of 100,000 rows and ten columns.
#[test]
#[ignore = "a measurement of minutes, for descriptions and the benchmarks page"]
fn measured_biases() {
    fn report<S: Sampler>(what: &str, posterior: &Posterior, draws: usize, seed: u64) {
        let found = bias::<S>(posterior, &Settings::default(), draws, seed);
        let count = found.len() as f64;
        let shift = found.iter().map(|b| b.mean.abs()).fold(0.0, f64::max);
        let ratios = || found.iter().map(|b| b.ratio);
        let (low, high) = (
            ratios().fold(f64::MAX, f64::min),
            ratios().fold(0.0, f64::max),
        );
        eprintln!(
            "{what} {}: largest mean shift {shift:.3} ± {:.3}, sd ratio {low:.3} to {high:.3}, mean {:.3} ± {:.3}",
            S::SPEC.id,
            found[0].mean_error,
            ratios().sum::<f64>() / count,
            found[0].ratio_error
        );
    }
    fn report_all(what: &str, posterior: &Posterior, draws: usize) {
        report::<SgldCv>(what, posterior, draws, 81);
        report::<SagaLd>(what, posterior, draws, 82);
        report::<SvrgLd>(what, posterior, draws, 83);
        report::<Sgrld>(what, posterior, draws, 84);
        report::<Psgld>(what, posterior, draws, 85);
        report::<Sgld>(what, posterior, draws, 86);
    }
    let exact = truth(shared().model.as_ref(), &shared().centre, 100_000);
    let small = Posterior {
        model: Arc::clone(&shared().model),
        centre: Arc::clone(&shared().centre),
        means: exact.0,
        sds: exact.1,
    };
    report_all("N 2,000, D 3", &small, 20_000);
    let (n, dim) = (100_000, 10);
    let mut rng = stream(76, 0, Purpose::Data);
    let mut x = Array2::<f64>::ones((n, dim));
    let mut y = Vec::with_capacity(n);
    for mut row in x.rows_mut() {
        let mut z = -1.0;
        for j in 1..dim {
            let before = if j == 1 { 0.0 } else { row[j - 1] };
            row[j] = 0.5 * before + rng.sample::<f64, _>(StandardNormal);
            z += (0.1 * j as f64 - 0.5) * row[j];
        }
        let success = rng.random::<f64>() < 1.0 / (1.0 + (-z).exp());
        y.push(f64::from(u8::from(success)));
    }
    report_all("N 100,000, D 10", &posterior_of(x, y, 20_000), 2_000);
}
