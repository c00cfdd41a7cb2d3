//! Enumeration of subsamples, finite differences, and a logistic posterior whose moments are known from a grid.

use std::sync::{Arc, OnceLock};

use rand_distr::StandardNormal;
use statrs::function::factorial::ln_factorial;

use super::calibration::Spread;
use super::estimate::{Estimate, Estimator};
use super::*;
use crate::design::ResponseUse;
use crate::estimators::find_mode;
use crate::models::{Model, ModelOptions};
use crate::oracle::Centre;
use crate::samplers::Unsuitable;
use crate::samplers::testing::{
    Chain, Density, KNOWN_TO, Run, Session, assert_restored, assert_weighted_moments, exact_oracle,
    logistic_with_centre, mean, sd, small_logistic, weighted_estimate,
};
use crate::samplers::tests::regression::reported_by;
use crate::testing::{built_by, table_of};
use ergodic_base::linalg::quadratic_form;
use ergodic_base::settings::{Settings, Value};
use ergodic_base::{Control, Purpose, stream};

mod cost;
mod general_rows;
mod pseudo_marginal;
mod renewal;

const ACCEPT_AT: usize = 0;
const ACCEPT_ROWS_AT: usize = 1;
const STEP_AT: usize = 2;
const LEAPFROG_AT: usize = 3;
const VARIANCE_AT: usize = 4;
const ROWS_AT: usize = 5;
const SIGN_AT: usize = 7;

const BLOCK_POISSON: Estimator = Estimator::BlockPoisson {
    batch: 5,
    factors: 8.0,
    shift: -9.0,
};

fn target() -> &'static (Arc<dyn Model>, Arc<Centre>) {
    static TARGET: OnceLock<(Arc<dyn Model>, Arc<Centre>)> = OnceLock::new();
    TARGET.get_or_init(logistic_with_centre)
}

fn oracle() -> Oracle {
    let (model, centre) = target();
    exact_oracle(Arc::clone(model), Some(Arc::clone(centre)))
}

/// Calls `visit` with each of the `values.len()`^`count` sequences of `count` values.
fn each_sequence(values: &[f64], count: u32, mut visit: impl FnMut(&[f64])) {
    let mut sequence = vec![0.0; count as usize];
    for index in 0..values.len().pow(count) {
        let mut rest = index;
        for slot in &mut sequence {
            *slot = values[rest % values.len()];
            rest /= values.len();
        }
        visit(&sequence);
    }
}

#[test]
fn the_difference_estimator_is_unbiased_over_all_subsamples() {
    let d = [0.02, -0.01, 0.05, 0.0, 0.013];
    let (n, m) = (5.0, 4);
    let total: f64 = d.iter().sum();
    let variance_of_one: f64 = d.iter().map(|d| (n * d - total).powi(2)).sum::<f64>() / n;
    let estimator = Estimator::Difference { rows: 4 };
    let (mut sum, mut variance, mut corrected, mut plain, mut count) = (0.0, 0.0, 0.0, 0.0, 0.0);
    each_sequence(&d, m, |d| {
        let estimate = estimator.estimate(d, n);
        sum += estimate.log + 0.5 * estimate.variance;
        variance += estimate.variance;
        corrected += (estimate.log - total).exp() - 1.0;
        plain += (estimate.log + 0.5 * estimate.variance - total).exp() - 1.0;
        count += 1.0;
    });
    assert!((sum / count - total).abs() < 1e-14);
    let sigma_2 = variance_of_one / f64::from(m);
    assert!((variance / count / sigma_2 - 1.0).abs() < 1e-12);
    // The likelihood itself: biased by σ²/2 without the correction. With it, third moments leave a hundredth of that; a
    // variance estimated with the divisor m² would leave a quarter.
    assert!((plain / count / (0.5 * sigma_2) - 1.0).abs() < 0.1);
    assert!((corrected / count).abs() < 0.02 * 0.5 * sigma_2);
}

#[test]
fn the_block_poisson_estimator_is_unbiased_for_any_shift() {
    // Poisson probabilities times the average over all minibatches of one row, up to nine of them.
    let d = [0.4, -0.2, 0.15];
    let total: f64 = d.iter().sum();
    let factors = 0.8;
    for shift in [-0.8, 0.3, -2.0] {
        let estimator = Estimator::BlockPoisson {
            batch: 1,
            factors,
            shift,
        };
        let mut expectation = 0.0;
        let mut negative = 0;
        for count in 0..=9_u32 {
            let log_probability =
                f64::from(count) * f64::ln(factors) - factors - ln_factorial(u64::from(count));
            let (mut sum, mut sequences) = (0.0, 0.0);
            each_sequence(&d, count, |d| {
                let Estimate { log, sign, .. } = estimator.estimate(d, 3.0);
                sum += sign * log.exp();
                negative += u32::from(sign < 0.0);
                sequences += 1.0;
            });
            expectation += log_probability.exp() * sum / sequences;
        }
        // What ten and more minibatches add.
        let tail = 1e-3;
        assert!(
            (expectation / total.exp() - 1.0).abs() < tail,
            "{shift}: {expectation} {}",
            total.exp()
        );
        // The least factor is (3·(−0.2) − a)/λ.
        assert_eq!(negative > 0, shift > -0.6);
    }
}

/// All that an [`EstimatedPosterior`] borrows.
struct Parts {
    expansion: Expansion,
    subsample: Subsample,
    scratch: Scratch,
}

fn parts(order: usize, estimator: Estimator, blocks: usize, seed: u64) -> Parts {
    let (model, centre) = target();
    let mut scratch = model.rows().unwrap().scratch();
    let expansion = Expansion::new(order, false, model.rows().unwrap(), centre);
    let subsample = Subsample::draw(
        estimator,
        blocks,
        &expansion,
        model.rows().unwrap(),
        &mut scratch,
        &mut stream(seed, 0, Purpose::Batch),
    );
    Parts {
        expansion,
        subsample,
        scratch,
    }
}

impl Parts {
    fn posterior(&mut self) -> EstimatedPosterior<'_> {
        let model = target().0.as_ref();
        EstimatedPosterior::new(
            model.rows().unwrap(),
            &mut self.expansion,
            &mut self.subsample,
            &mut self.scratch,
        )
    }

    fn log_density(&mut self, u: &[f64], grad: &mut [f64]) -> f64 {
        self.posterior().log_density(u, grad).unwrap()
    }
}

#[test]
fn gradients_of_estimates_are_their_finite_differences() {
    let u = [0.9, 1.1];
    for estimator in [Estimator::Difference { rows: 7 }, BLOCK_POISSON] {
        for order in 0..=2 {
            let mut parts = parts(order, estimator, 1, 5);
            let mut grad = [0.0; 2];
            parts.log_density(&u, &mut grad);
            for j in 0..2 {
                let mut at = |step: f64| {
                    let mut moved = u;
                    moved[j] += step;
                    parts.log_density(&moved, &mut [0.0; 2])
                };
                let step = 1e-5;
                let slope = (at(step) - at(-step)) / (2.0 * step);
                assert!(
                    (grad[j] - slope).abs() < 1e-6 * slope.abs().max(1.0),
                    "{estimator:?}, order {order}: {} {slope}",
                    grad[j]
                );
            }
        }
    }
}

#[test]
fn all_rows_once_give_the_exact_density() {
    // A minibatch estimate is linear in the differences: its average over single rows is exact, for each order.
    let (model, centre) = target();
    let exact = |u: &[f64]| {
        let mut grad = [0.0; 2];
        let mut scratch = model.rows().unwrap().scratch();
        model.rows().unwrap().log_prior(u, &mut grad)
            + model
                .rows()
                .unwrap()
                .log_lik(u, Rows::All, &mut scratch, &mut grad)
    };
    let u = [0.4, 1.5];
    for order in 0..=2 {
        let mut parts = parts(order, Estimator::Difference { rows: 1 }, 1, 1);
        let rows = model.rows().unwrap();
        let mut total = rows.log_prior(&u, &mut [0.0; 2]);
        total += parts.expansion.sum(&u, &mut [0.0; 2]);
        for row in 0..40_u32 {
            parts.subsample.set_rows(&[row]);
            let Parts {
                expansion,
                subsample,
                scratch,
            } = &mut parts;
            subsample.expand(0..1, expansion, rows, scratch);
            subsample.evaluate(0..1, &u, expansion, rows, scratch);
            total += subsample.estimate(0..1, 40).log / 40.0;
        }
        let at_centre = {
            let mut grad = [0.0; 2];
            let mut scratch = model.rows().unwrap().scratch();
            model
                .rows()
                .unwrap()
                .log_lik(&centre.u, Rows::All, &mut scratch, &mut grad)
        };
        assert!((total + at_centre - exact(&u)).abs() < 1e-10, "{order}");
    }
}

#[test]
fn higher_orders_leave_less_noise() {
    let (model, centre) = target();
    let one_row = [0, 1, 2].map(|order| {
        let rows = model.rows().unwrap();
        let expansion = Expansion::new(order, false, rows, centre);
        Spread::measure(&expansion, centre, rows, &mut rows.scratch()).one_row()
    });
    assert!(
        one_row[0] > 10.0 * one_row[1] && one_row[1] > 3.0 * one_row[2],
        "{one_row:?}"
    );
}

/// 2,000 rows of which six have a level of their own: they alone tell of its coefficient, and not much.
pub(super) fn rare_level() -> (Arc<dyn Model>, Arc<Centre>) {
    let x: Vec<f64> = (0..2000).map(|i| f64::from(u8::from(i < 6))).collect();
    let y: Vec<f64> = (0..2000)
        .map(|i| f64::from(u8::from(i % 3 == 0 || i == 1)))
        .collect();
    let model = small_logistic(&x, &y, 2.5);
    let mode = find_mode(model.as_ref(), &Control::default()).unwrap();
    (model, Arc::new(mode.centre))
}

#[test]
fn chances_of_rows_are_root_mean_squares_of_their_differences() {
    let (model, centre) = rare_level();
    let linear = model.linear_rows().unwrap();
    for order in 0..=2 {
        let table = centre
            .difference_chances(model.rows().unwrap(), order)
            .unwrap();
        // E d² over z ~ N(ẑ, a'H⁻¹a) by the trapezoidal rule.
        let root_mean_square = |row: usize| {
            let a = linear.covariates(row).to_vec();
            let sd = quadratic_form(&centre.covariance, &a).sqrt();
            let z = linear.predictor(row, &centre.u);
            let mut terms = linear.derivatives(row, z);
            terms[order + 1..].fill(0.0);
            let [value, first, second] = terms;
            let nodes = (-160..=160).map(|k| f64::from(k) / 20.0);
            let square = nodes.map(|x| {
                let step = sd * x;
                let d = linear.derivatives(row, z + step)[0]
                    - value
                    - (first + 0.5 * second * step) * step;
                d * d * (-0.5 * x * x).exp() / (20.0 * (2.0 * std::f64::consts::PI).sqrt())
            });
            square.sum::<f64>().sqrt()
        };
        let masses: Vec<f64> = (0..2000).map(root_mean_square).collect();
        let total: f64 = masses.iter().sum();
        for row in [0, 1, 5, 6, 7, 1999] {
            let expected = 0.99 * masses[row] / total + 0.01 / 2000.0;
            let found = 1.0 / (2000.0 * table.weight(row as u32));
            assert!(
                (found / expected - 1.0).abs() < 0.01,
                "order {order}, row {row}: {found} {expected}"
            );
        }
    }
}

#[test]
fn unequal_chances_leave_sums_as_they_are_and_their_variance_small() {
    let (model, centre) = rare_level();
    let density = model.rows().unwrap();
    let mut scratch = density.scratch();
    let u = [centre.u[0] + 0.05, centre.u[1] - 1.2];
    for order in 0..=2 {
        let table = centre
            .difference_chances(model.rows().unwrap(), order)
            .unwrap();
        // Mean and variance of N times a weighed difference over the choice of its row.
        let mut moments = |weighted: bool| {
            let expansion = Expansion::new(order, weighted, density, &centre);
            let mut rng = stream(1, 0, Purpose::Batch);
            let estimator = Estimator::Difference { rows: 1 };
            let mut rows =
                Subsample::draw(estimator, 1, &expansion, density, &mut scratch, &mut rng);
            let (mut mean, mut square) = (0.0, 0.0);
            for row in 0..2000 {
                rows.set_rows(&[row]);
                rows.expand(0..1, &expansion, density, &mut scratch);
                rows.evaluate(0..1, &u, &expansion, density, &mut scratch);
                let estimate = rows.estimate(0..1, 2000).log;
                let chance = if weighted {
                    1.0 / (2000.0 * table.weight(row))
                } else {
                    1.0 / 2000.0
                };
                mean += chance * estimate;
                square += chance * estimate * estimate;
            }
            (mean, square - mean * mean)
        };
        let (plain, plain_variance) = moments(false);
        let (weighted, variance) = moments(true);
        assert!(
            (weighted / plain - 1.0).abs() < 1e-9,
            "order {order}: {weighted} {plain}"
        );
        // With order zero differences are signed and of all rows: unequal chances gain less.
        let gain = [1.5, 10.0, 100.0][order];
        assert!(
            gain * variance < plain_variance,
            "order {order}: {variance} {plain_variance}"
        );
    }
}

/// Few rows carry the differences: rows with equal chances would need hundreds of factors, and thousands of rows.
#[test]
fn rare_levels_need_few_rows_where_they_are_drawn_often() {
    let (model, centre) = rare_level();
    let oracle = || exact_oracle(Arc::clone(&model), Some(Arc::clone(&centre)));
    let share = |id, scheme: &str| {
        let run = Run::new(id)
            .set("scheme", Value::Text(scheme.to_owned()))
            .set("variance", Value::Real(1e-3));
        mean(&run.go(oracle(), 20, 20).info(ROWS_AT))
    };
    for id in ["hmc-ecs", "nuts-ecs", "hmc-ecs-signed"] {
        let (iid, differences) = (share(id, "iid"), share(id, "differences"));
        assert!(4.0 * differences < iid, "{id}: {differences} {iid}");
    }
    let chain = Run::new("hmc-ecs-signed").go(oracle(), 300, 2000);
    let signs = mean(&chain.info(SIGN_AT));
    assert!(signs > 0.97, "{signs}");
}

#[test]
fn differences_are_of_the_order_after_the_expansion() {
    // d_i is the remainder of the expansion of order k: twice as far from û it is 2^{k+1} times as large.
    let (model, centre) = target();
    let rows = model.rows().unwrap();
    for order in 0..=2 {
        let mut parts = parts(order, Estimator::Difference { rows: 1 }, 1, 1);
        parts.subsample.set_rows(&[3]);
        let Parts {
            expansion,
            subsample,
            scratch,
        } = &mut parts;
        subsample.expand(0..1, expansion, rows, scratch);
        let mut difference = |step: f64| {
            let u = [centre.u[0] + 0.3 * step, centre.u[1] - step];
            subsample.evaluate(0..1, &u, expansion, rows, scratch);
            subsample.estimate(0..1, 40).log
        };
        assert_eq!(difference(0.0), 0.0);
        let ratio = difference(0.02) / difference(0.01);
        let expected = f64::powi(2.0, order as i32 + 1);
        assert!((ratio / expected - 1.0).abs() < 0.03, "{order}: {ratio}");
    }
}

#[test]
fn estimates_before_and_after_a_new_block_correlate_by_one_minus_its_share() {
    for (estimator, tolerance) in [
        (Estimator::Difference { rows: 100 }, 0.03),
        (
            Estimator::BlockPoisson {
                batch: 3,
                factors: 100.0,
                shift: -100.0,
            },
            0.03,
        ),
    ] {
        for blocks in [1, 2, 5] {
            let mut parts = parts(1, estimator, blocks, 3);
            let (model, _centre) = target();
            let rows = model.rows().unwrap();
            let mut rng = stream(4, 0, Purpose::Batch);
            let u = [0.5, 1.0];
            let mut series = Vec::new();
            for _ in 0..5000 {
                let Parts {
                    expansion,
                    subsample,
                    scratch,
                } = &mut parts;
                assert!(subsample.propose(expansion, rows, scratch, &mut rng));
                subsample.accept();
                subsample.evaluate(subsample.current(), &u, expansion, rows, scratch);
                series.push(subsample.estimate(subsample.current(), 40).log);
            }
            let centre = mean(&series);
            let product = |lag: usize| -> f64 {
                let pairs = series.iter().zip(&series[lag..]);
                let sum: f64 = pairs.map(|(a, b)| (a - centre) * (b - centre)).sum();
                sum / series.len() as f64
            };
            let correlation = product(1) / product(0);
            let expected = 1.0 - 1.0 / blocks as f64;
            assert!(
                (correlation - expected).abs() < tolerance,
                "{estimator:?}, {blocks} blocks: {correlation}"
            );
            // The estimate's own variance agrees with what it reports: exactly for Poisson, up to (m − 1)/m else.
            let reported = {
                let subsample = &parts.subsample;
                subsample.estimate(subsample.current(), 40).variance
            };
            assert!((reported / product(0)).ln().abs() < 0.8, "{reported}");
        }
    }
}

#[test]
fn rejected_blocks_take_turns_and_accepted_ones_replace_the_oldest() {
    let mut parts = parts(2, Estimator::Difference { rows: 6 }, 3, 9);
    let rows = target().0.rows().unwrap();
    parts.subsample.set_rows(&[1, 2, 3, 4, 5, 6]);
    let mut rng = stream(4, 0, Purpose::Batch);
    let Parts {
        expansion,
        subsample,
        scratch,
    } = &mut parts;
    subsample.propose(expansion, rows, scratch, &mut rng);
    subsample.reject();
    assert_eq!(subsample.rows(), [3, 4, 5, 6, 1, 2]);
    subsample.propose(expansion, rows, scratch, &mut rng);
    subsample.accept();
    assert_eq!(subsample.rows()[..4], [5, 6, 1, 2]);
    assert_eq!(subsample.len(), 6);
}

/// Means and variances of the posterior from a grid of ±9 posterior standard deviations.
fn truth() -> &'static [(f64, f64); 2] {
    static TRUTH: OnceLock<[(f64, f64); 2]> = OnceLock::new();
    TRUTH.get_or_init(|| {
        const POINTS: i32 = 150;
        let (model, centre) = target();
        let mut scratch = model.rows().unwrap().scratch();
        let mut density = |u: &[f64]| {
            let mut grad = [0.0; 2];
            model.rows().unwrap().log_prior(u, &mut grad)
                + model
                    .rows()
                    .unwrap()
                    .log_lik(u, Rows::All, &mut scratch, &mut grad)
        };
        let peak = density(&centre.u);
        let sds = centre.sds();
        let (mut total, mut first, mut second) = (0.0, [0.0; 2], [0.0; 2]);
        for i in -POINTS..=POINTS {
            for k in -POINTS..=POINTS {
                let step = 9.0 / f64::from(POINTS);
                let u = [
                    centre.u[0] + sds[0] * step * f64::from(i),
                    centre.u[1] + sds[1] * step * f64::from(k),
                ];
                let weight = (density(&u) - peak).exp();
                total += weight;
                for j in 0..2 {
                    first[j] += weight * u[j];
                    second[j] += weight * u[j] * u[j];
                }
            }
        }
        [0, 1].map(|j| {
            let mean = first[j] / total;
            (mean, second[j] / total - mean * mean)
        })
    })
}

fn chains(run: &Run, draws: usize) -> Vec<Chain> {
    (1..=4)
        .map(|seed| run.clone().seed(seed).go(oracle(), 500, draws))
        .collect()
}

fn assert_exact(what: &str, chains: &[Chain]) {
    let weights: Vec<Vec<f64>> = chains.iter().map(Chain::weights).collect();
    for (j, &(mean, variance)) in truth().iter().enumerate() {
        let series: Vec<Vec<f64>> = chains.iter().map(|chain| chain.coordinate(j)).collect();
        let draws = (series.as_slice(), weights.as_slice());
        assert_weighted_moments(KNOWN_TO, &format!("{what} {j}"), draws, mean, variance);
    }
}

/// Largest deviation of means and variances from the truth, in standard errors, with all draws counting the same.
fn worst_unweighted(chains: &[Chain]) -> f64 {
    let mut worst = 0.0_f64;
    for (j, &(true_mean, true_variance)) in truth().iter().enumerate() {
        let series: Vec<Vec<f64>> = chains.iter().map(|chain| chain.coordinate(j)).collect();
        let squares: Vec<Vec<f64>> = series
            .iter()
            .map(|chain| chain.iter().map(|u| (u - true_mean).powi(2)).collect())
            .collect();
        let ones: Vec<Vec<f64>> = series.iter().map(|chain| vec![1.0; chain.len()]).collect();
        for (values, expected) in [(series, true_mean), (squares, true_variance)] {
            let (found, mcse) = weighted_estimate(&values, &ones);
            worst = worst.max((found - expected).abs() / mcse);
        }
    }
    worst
}

#[test]
fn default_settings_find_the_moments_of_a_skewed_posterior() {
    for id in ["hmc-ecs", "hmc-ecs-signed", "nuts-ecs"] {
        let chains = chains(&Run::new(id), 3000);
        assert_exact(id, &chains);
        let accept = mean(&chains[0].info(ACCEPT_AT));
        let accept_rows = mean(&chains[0].info(ACCEPT_ROWS_AT));
        assert!(accept > 0.7, "{id}: {accept}");
        assert!(accept_rows > 0.8, "{id}: {accept_rows}");
    }
}

#[test]
fn signs_make_exact_what_noise_would_bias() {
    // So few rows that their noise matters: the perturbed posterior is off by many standard errors, and what the signed
    // sampler visits has negative signs, but its averages are right.
    let few = |id| {
        let run = Run::new(id).set("batch", Value::Int(2));
        let run = run.set("trajectory", Value::Real(1.2));
        run.set("scheme", Value::Text("iid".to_owned()))
    };
    let perturbed = chains(&few("hmc-ecs").set("blocks", Value::Int(1)), 3000);
    let off = worst_unweighted(&perturbed);
    assert!(off > 12.0, "{off}");
    let signed = chains(&few("hmc-ecs-signed").set("factors", Value::Int(1)), 40_000);
    // An estimate is off by about half a unit of the log likelihood.
    let variances: Vec<f64> = (signed.iter())
        .map(|chain| mean(&chain.info(VARIANCE_AT)))
        .collect();
    assert!(mean(&variances) > 0.2, "{variances:?}");
    let signs: Vec<f64> = signed
        .iter()
        .flat_map(|chain| chain.info(SIGN_AT))
        .collect();
    assert!(signs.iter().all(|sign| sign.abs() == 1.0));
    let average = mean(&signs);
    assert!(average > 0.9 && average < 0.998, "{average}");
    assert_exact("signed", &signed);
}

/// What the description of the perturbed samplers says of their bias: 40 normal predictors, few rows, equal chances, against NUTS.
#[test]
#[ignore = "long: run by .ci/long"]
fn few_rows_leave_standard_deviations_nearly_as_they_are() {
    for (num_obs, most) in [(600, 0.01), (2000, 0.003)] {
        let mut rng = stream(4, 0, Purpose::Data);
        let names: Vec<String> = (0..40).map(|j| format!("x{j}")).collect();
        let mut columns: Vec<Vec<f64>> = Vec::new();
        let mut eta = vec![0.0; num_obs];
        for _ in &names {
            let b: f64 = 0.3 * rng.sample::<f64, _>(StandardNormal);
            let x: Vec<f64> = (0..num_obs).map(|_| rng.sample(StandardNormal)).collect();
            for (eta, x) in eta.iter_mut().zip(&x) {
                *eta += b * x;
            }
            columns.push(x);
        }
        let chance = |eta: f64| 1.0 / (1.0 + (-eta).exp());
        let y = eta
            .iter()
            .map(|&eta| f64::from(u8::from(rng.random::<f64>() < chance(eta))));
        let mut table = vec![("y", y.collect())];
        table.extend(names.iter().map(String::as_str).zip(columns));
        let formula = format!("y ~ {}", names.join(" + "));
        let options = ModelOptions::default();
        let model = built_by(
            "logistic",
            &table_of(table),
            &formula,
            ResponseUse::Outcome,
            &options,
        );
        let model = model.unwrap();
        let nuts = reported_by(&Run::new("nuts"), &model, 4, 4000);
        let few = Run::new("hmc-ecs").set("scheme", Value::Text("iid".to_owned()));
        let few = reported_by(&few.set("batch", Value::Int(100)), &model, 4, 20_000);
        let moments = |draws: &[Vec<Vec<f64>>], j: usize| {
            let all: Vec<f64> = draws.iter().flat_map(|chain| chain[j].clone()).collect();
            (mean(&all), sd(&all))
        };
        let off: Vec<(f64, f64)> = (0..41)
            .map(|j| {
                let (exact, found) = (moments(&nuts, j), moments(&few, j));
                ((found.0 - exact.0) / exact.1, found.1 / exact.1 - 1.0)
            })
            .collect();
        let ratios: Vec<f64> = off.iter().map(|it| it.1).collect();
        let shift = off.iter().map(|it| it.0.abs()).fold(0.0, f64::max);
        let (ratio, error) = (mean(&ratios), sd(&ratios) / 41.0_f64.sqrt());
        println!(
            "{num_obs} rows: sds off by {ratio:.4} ± {error:.4}, means by {shift:.3} sd at most"
        );
        assert!(
            ratio.abs() < most + 3.0 * error && shift < 0.1,
            "{ratio} {shift}"
        );
    }
}

#[test]
fn trajectories_have_the_length_asked_for() {
    for (id, length) in [("hmc-ecs", 1.2), ("hmc-ecs-signed", 2.5)] {
        let chain = Run::new(id)
            .set("trajectory", Value::Real(length))
            .set("step_size", Value::Real(0.35))
            .go(oracle(), 10, 10);
        let steps = chain.info(LEAPFROG_AT);
        assert_eq!(steps[0], (length / 0.35).ceil());
        assert!((chain.info(STEP_AT)[0] * steps[0] - length).abs() < 1e-12);
    }
}

/// An oracle whose centre stands two posterior standard deviations off the mode.
fn displaced_oracle() -> Oracle {
    let (model, centre) = target();
    let u: Vec<f64> = centre
        .u
        .iter()
        .zip(centre.sds())
        .map(|(u, sd)| u + 2.0 * sd)
        .collect();
    let centre = Arc::new(Centre::at(model.density().unwrap(), &u).unwrap());
    exact_oracle(Arc::clone(model), Some(centre))
}

const WARMUP: u64 = 240;

#[test]
fn the_expansion_follows_a_chain_that_is_displaced() {
    let (_model, centre) = target();
    for (mut session, moves) in [(displaced_oracle(), true), (oracle(), false)]
        .map(|(oracle, moves)| (Run::new("hmc-ecs").start(oracle), moves))
    {
        let point = |session: &mut Session| {
            let mut point = Named("expansion_point", Vec::new());
            session.kernel.visit(&mut point);
            point.1
        };
        let first = point(&mut session);
        let mut variance = [0.0; 2];
        while session.iter < WARMUP {
            session.warm_up(WARMUP).unwrap();
            variance[usize::from(session.iter > WARMUP / 2)] += session.info[VARIANCE_AT];
            if session.iter < WARMUP / 2 {
                assert_eq!(point(&mut session), first);
            }
        }
        let last = point(&mut session);
        assert_eq!(last != first, moves);
        for j in 0..2 {
            let distance = (last[j] - centre.u[j]).abs() / centre.sds()[j];
            assert!(distance < 0.5, "{distance}");
        }
        if moves {
            assert!(variance[1] < 0.5 * variance[0], "{variance:?}");
        }
    }
}

/// Reads one part of a state.
struct Named(&'static str, Vec<f64>);

impl StateVisitor for Named {
    fn slice(&mut self, name: &'static str, values: &mut [f64]) {
        if name == self.0 {
            self.1 = values.to_vec();
        }
    }
    fn counter(&mut self, _name: &'static str, _value: &mut u64) {}
}

#[test]
fn moving_the_expansion_is_restored_bit_for_bit_and_does_not_allocate() {
    // Before the sums, within them, just before and just after the move, at the end.
    let marks = [20, 90, WARMUP / 2 - 1, WARMUP / 2, WARMUP];
    for id in ["hmc-ecs", "hmc-ecs-signed", "nuts-ecs"] {
        assert_restored(&Run::new(id), displaced_oracle, WARMUP, &marks);
    }
}

#[test]
fn a_density_that_is_not_finite_ends_in_an_error() {
    for id in ["hmc-ecs", "hmc-ecs-signed", "nuts-ecs"] {
        let entry = crate::samplers::find(id).unwrap();
        for bad in [f64::NAN, f64::INFINITY, 1e200] {
            let (mut oracle, mut streams) = (oracle(), Streams::new(1, 0));
            let target = crate::samplers::testing::target_of(&oracle);
            let settings = Settings::default();
            let mut kernel =
                (entry.build)(&settings, &target, &[bad, 0.0], &mut oracle, &mut streams).unwrap();
            let at = Tick {
                iter: 7,
                phase: Phase::Draw,
            };
            let mut info = vec![0.0; entry.spec.info.len()];
            let outcome = kernel.step(at, &mut oracle, &mut streams, &mut info);
            assert!(
                matches!(outcome, Err(StepError::NonFinite { iter: 7, .. })),
                "{id} {bad}: {outcome:?}"
            );
        }
    }
}

#[test]
fn models_and_targets_that_do_not_fit_are_refused_in_words() {
    let (model, centre) = crate::samplers::testing::gaussian_with_centre(20, 2, 1);
    let without_rows = Density::model(2, |_u, grad| {
        grad.fill(0.0);
        0.0
    });
    for id in ["hmc-ecs", "hmc-ecs-signed", "nuts-ecs"] {
        let entry = crate::samplers::find(id).unwrap();
        let refusal = (entry.suits)(without_rows.as_ref()).unwrap_err();
        assert_eq!(refusal.reason, Unsuitable::NoRows);
        assert!((entry.suits)(target().0.as_ref()).is_ok());
        let with_mode = Target::new(&model, Some(&centre));
        assert!((entry.resolve)(&Settings::default(), &with_mode).is_ok());
        let without = Target::new(&model, None);
        let error = (entry.resolve)(&Settings::default(), &without).unwrap_err();
        assert!(matches!(error, SettingError::NoMode { sampler, .. } if sampler == id));
        // One row tells no variance, which the signed sampler does not need; and there are no more than all rows.
        let mut settings = Settings::default();
        settings.set("batch", Value::Int(1));
        let one = (entry.resolve)(&settings, &with_mode);
        assert_eq!(one.is_ok(), id == "hmc-ecs-signed");
        settings.set("batch", Value::Int(21));
        assert!((entry.resolve)(&settings, &with_mode).is_err());
    }
}
