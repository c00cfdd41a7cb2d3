//! Closed forms of mean and variance, and agreement with independent draws.

use std::sync::Arc;

use super::*;
use crate::samplers::testing::{
    KNOWN_TO, Run, assert_moments, assert_moments_known_to, assert_weighted_moments,
    categorical_with_centre, estimate, exact_oracle, target_of,
};
use crate::samplers::{REGISTRY, find};
use crate::testing::GaussianRows;
use ergodic_base::settings::{Settings, Value};

const COUNTS: [usize; 4] = [80, 15, 5, 0];
const ALPHA: f64 = 0.1;

/// Logarithms of weights.
struct Read(Vec<f64>);

impl StateVisitor for Read {
    fn slice(&mut self, name: &'static str, values: &mut [f64]) {
        if name == "log_weights" {
            self.0 = values.to_vec();
        }
    }
    fn counter(&mut self, _name: &'static str, _value: &mut u64) {}
}

/// Weights θ (not probabilities) over `draws` steps of size `h` with `batch` rows, after `warmup` steps; by category.
fn weights(id: &'static str, h: f64, batch: i64, warmup: usize, draws: usize) -> Vec<Vec<f64>> {
    let (model, centre) = categorical_with_centre(&COUNTS);
    let mut session = Run::new(id)
        .set("step_size", Value::Real(h))
        .set("batch", Value::Int(batch))
        .set("steps_per_draw", Value::Int(1))
        .start(exact_oracle(model, Some(centre)));
    let mut found = vec![Vec::with_capacity(draws); COUNTS.len()];
    for k in 0..warmup + draws {
        session.draw().unwrap();
        let mut read = Read(Vec::new());
        session.kernel.visit(&mut read);
        if k >= warmup {
            for (series, log) in found.iter_mut().zip(&read.0) {
                series.push(log.exp());
            }
        }
    }
    found
}

/// Variance of Ĉ_j for `batch` independent rows.
fn estimate_variance(count: usize, batch: f64) -> f64 {
    let n = COUNTS.iter().sum::<usize>() as f64;
    let p = count as f64 / n;
    n * n / batch * p * (1.0 - p)
}

/// Squares of Gamma numbers of small shape have heavy tails: what their variance is known to from 40,000 draws.
fn known_to(count: usize) -> f64 {
    match count {
        0 => 0.65,
        1..10 => 0.25,
        _ => 0.1,
    }
}

/// Stationary mean a and variance a + tanh(h/2) Var[â], and exactly Gamma where a category was never seen.
#[test]
fn plain_weights_have_the_closed_form_moments() {
    for (h, batch) in [(1.0, 10), (0.2, 5), (0.5, 100)] {
        let found = weights("scir", h, batch, 100, 40_000);
        for (series, &count) in found.iter().zip(&COUNTS) {
            let a = ALPHA + count as f64;
            let noise = if batch == 100 {
                0.0
            } else {
                estimate_variance(count, batch as f64)
            };
            let variance = a + ((1.0 - f64::exp(-h)) / (1.0 + f64::exp(-h))) * noise;
            let what = format!("h {h}, {batch} rows, count {count}");
            assert_moments_known_to(
                known_to(count),
                &what,
                std::slice::from_ref(series),
                a,
                variance,
            );
        }
    }
    // The number of the running experiment: category 1 of N = 1000, 10 rows, h = 1.
    let inflated = 800.1 + Plain::excess(1.0, 16_000.0 / 800.1) * 800.1;
    assert!((inflated - 8194.0).abs() < 1.0, "{inflated}");
}

/// The moments of the file's header, the expectations over Ĉ ~ (N/B) Binomial(B, p) summed exactly.
#[test]
fn centred_weights_have_the_closed_form_moments() {
    for (h, batch) in [(1.0, 10_u64), (0.2, 5)] {
        let found = weights("scir-cv", h, batch as i64, 100, 40_000);
        for (series, &count) in found.iter().zip(&COUNTS) {
            let (n, a) = (100.0, ALPHA + count as f64);
            let p = count as f64 / n;
            let (mut top, mut decay, mut chance) = (0.0, 0.0, (1.0 - p).powi(batch as i32));
            for k in 0..=batch {
                let rate = (ALPHA + n / batch as f64 * k as f64) / a;
                let e = (-2.0 * rate * h).exp();
                top += chance * (1.0 - e) / rate;
                decay += chance * e;
                chance *= (batch - k) as f64 / (k + 1) as f64 * p / (1.0 - p);
            }
            let variance = a * top / (1.0 - decay);
            let what = format!("h {h}, {batch} rows, count {count}");
            assert_moments_known_to(
                known_to(count),
                &what,
                std::slice::from_ref(series),
                a,
                variance,
            );
            // The predicted inflation is right to first order, where it is small.
            let predicted = Centred::excess(h, estimate_variance(count, batch as f64) / (a * a));
            if predicted < 0.05 {
                assert!((variance / a - 1.0 - predicted).abs() < 0.3 * predicted + 1e-12);
            }
        }
    }
}

/// Probabilities are inflated by tanh(h/2) N/B at most, whatever their number; with many rows per category by just that.
#[test]
fn probabilities_are_inflated_as_predicted() {
    let (model, centre) = categorical_with_centre(&[500, 500]);
    let (h, batch) = (0.05, 100.0);
    let chains: Vec<Vec<f64>> = (1..=4)
        .map(|seed| {
            let run = Run::new("scir")
                .seed(seed)
                .set("step_size", Value::Real(h))
                .set("batch", Value::Int(batch as i64))
                .set("steps_per_draw", Value::Int(4));
            let oracle = exact_oracle(Arc::clone(&model), Some(Arc::clone(&centre)));
            let chain = run.go(oracle, 100, 15_000);
            chain
                .coordinate(0)
                .iter()
                .map(|u| 1.0 / (1.0 + (-u).exp()))
                .collect()
        })
        .collect();
    // Beta(500.1, 500.1).
    let exact = 0.25 / 1001.2;
    let predicted = exact * (1.0 + Plain::excess(h, 1000.0 / batch));
    assert!(predicted > 1.2 * exact);
    assert_moments("p", &chains, 0.5, predicted);
}

#[test]
fn default_steps_have_the_predicted_inflation() {
    let (model, centre) = categorical_with_centre(&[700, 200, 90, 10, 0]);
    let oracle = exact_oracle(model, Some(centre));
    let target = target_of(&oracle);
    for id in ["scir", "scir-cv"] {
        let share = |batch: i64| {
            let run = Run::new(id).set("batch", Value::Int(batch));
            let mut session = run.start(exact_oracle(
                categorical_with_centre(&[700, 200, 90, 10, 0]).0,
                None,
            ));
            session.draw().unwrap();
            session.info[1]
        };
        // 4 % of the variance; none where all rows are used.
        assert!(
            (0.02..=EXCESS / (1.0 + EXCESS) + 1e-12).contains(&share(10)),
            "{id}"
        );
        assert_eq!(share(1000), 0.0, "{id}");
        let resolved = (find(id).unwrap().resolve)(&Settings::default(), &target).unwrap();
        assert_eq!(resolved[0].0, "step_size");
    }
    let noise = CountNoise::of(&target).unwrap();
    assert!(noise.of_counts < 1.0 && noise.of_rates < noise.of_counts);
}

/// Mean and variance must be those of independent draws: for exact samplers within Monte Carlo error, for these
/// approximations within what they say, 4 % of the variance.
#[test]
fn draws_agree_with_conjugate_ones() {
    let (model, centre) = categorical_with_centre(&[60, 25, 14, 1, 0]);
    // Per category of interest and chain: the probability, and the logarithm of the one never seen.
    let series = |id: &'static str, draws: usize| -> [Vec<Vec<f64>>; 3] {
        let mut found = [Vec::new(), Vec::new(), Vec::new()];
        for seed in 1..=4 {
            let oracle = exact_oracle(Arc::clone(&model), Some(Arc::clone(&centre)));
            let run = Run::new(id).seed(seed);
            let run = if id.starts_with("scir") {
                run.set("batch", Value::Int(50))
            } else {
                run
            };
            let chain = run.go(oracle, find(id).unwrap().spec.default_warmup, draws);
            let mut log_p = [0.0; 5];
            let mut columns = [Vec::new(), Vec::new(), Vec::new()];
            for u in chain.draws.chunks_exact(4) {
                let view = model.simplex().unwrap();
                view.log_probabilities(u, &mut log_p);
                columns[0].push(log_p[0].exp());
                columns[1].push(log_p[3].exp());
                columns[2].push(log_p[4]);
            }
            for (found, column) in found.iter_mut().zip(columns) {
                found.push(column);
            }
        }
        found
    };
    let squares = |series: &[Vec<f64>], centre: f64| -> Vec<Vec<f64>> {
        let square = |chain: &Vec<f64>| chain.iter().map(|x| (x - centre).powi(2)).collect();
        series.iter().map(square).collect()
    };
    let reference = series("conjugate", 5000);
    for id in ["nuts", "metropolis", "scir", "scir-cv"] {
        let found = series(id, if id == "metropolis" { 6000 } else { 1500 });
        for (j, (found, reference)) in found.iter().zip(&reference).enumerate() {
            let (mean, mean_error) = estimate(reference);
            let (variance, variance_error) = estimate(&squares(reference, mean));
            let (m, error) = estimate(found);
            let allowed = 4.0 * error.hypot(mean_error);
            let what = format!("{id} {j}");
            assert!(
                (m - mean).abs() < allowed,
                "{what}: mean {m} against {mean} ± {allowed}"
            );
            let (v, error) = estimate(&squares(found, mean));
            let inflation = if id.starts_with("scir") {
                EXCESS * variance
            } else {
                0.0
            };
            let allowed = 4.0 * error.hypot(variance_error) + inflation;
            assert!(
                (v - variance).abs() < allowed,
                "{what}: variance {v} against {variance} ± {allowed}"
            );
            assert!(allowed < 0.5 * variance, "{what}: too few draws to tell");
        }
    }
}

/// Every exact sampler that takes the model finds the beta distribution of the first probability.
#[test]
fn exact_samplers_agree_on_frequent_categories() {
    let (model, centre) = categorical_with_centre(&[60, 25, 15]);
    let (a, total) = (60.1, 100.3);
    let (mean, variance) = (a / total, a * (total - a) / (total * total * (total + 1.0)));
    let exact = REGISTRY
        .iter()
        .filter(|entry| entry.spec.bias.is_none() && (entry.suits)(model.as_ref()).is_ok());
    for entry in exact {
        let (chains, weights): (Vec<Vec<f64>>, Vec<Vec<f64>>) = (1..=4)
            .map(|seed| {
                let oracle = exact_oracle(Arc::clone(&model), Some(Arc::clone(&centre)));
                let run = Run::new(entry.spec.id).seed(seed);
                let chain = run.go(oracle, entry.spec.default_warmup, 3500);
                let u = chain.coordinate(0);
                let p = u.iter().map(|u| 1.0 / (1.0 + (-u).exp())).collect();
                (p, chain.weights())
            })
            .unzip();
        let draws = (chains.as_slice(), weights.as_slice());
        assert_weighted_moments(KNOWN_TO, entry.spec.id, draws, mean, variance);
    }
}

#[test]
fn models_without_the_view_and_sparse_ones_are_refused_with_a_reason() {
    let gaussian = GaussianRows::simulated(50, 2, 1);
    let (sparse, _) = categorical_with_centre(&[60, 25, 14, 1, 0]);
    let (dense, _) = categorical_with_centre(&[60, 25, 15]);
    for entry in REGISTRY {
        let id = entry.spec.id;
        let made_for_it = ["conjugate", "scir", "scir-cv", "sgrld-simplex"].contains(&id);
        if made_for_it {
            let refusal = (entry.suits)(&gaussian).unwrap_err();
            assert_eq!(refusal.reason, Unsuitable::NoSimplex);
            (entry.suits)(sparse.as_ref()).unwrap();
        } else if entry.spec.bias.is_some() {
            let refusal = (entry.suits)(sparse.as_ref()).unwrap_err();
            assert_eq!(refusal.sampler, id);
        }
    }
    let sgld = find("sgld").unwrap();
    let refusal = (sgld.suits)(sparse.as_ref()).unwrap_err();
    let (rare, categories) = (2, 5);
    assert_eq!(
        refusal.reason,
        Unsuitable::RareCategories { rare, categories }
    );
    assert!(
        refusal
            .to_string()
            .contains("2 of the 5 categories have fewer than 10 observations")
    );
    (sgld.suits)(dense.as_ref()).unwrap();
}

/// Given Ĉ drawn anew at each step, a weight's mean moves by m' = e^{−h} m + (1 − e^{−h}) a and its variance by
/// v' = e^{−2h} v + (1 − e^{−h})² (a + Var Ĉ) + 2 e^{−h} (1 − e^{−h}) m, so that the weighted mean of (θ − a)² over a chain with decreasing
/// steps is known.
#[test]
fn decreasing_steps_have_their_closed_form_variance() {
    let (h, batch, steps, chains) = (0.8, 20, 120_u32, 1500);
    let (model, centre) = categorical_with_centre(&COUNTS);
    let weight = |k: u32| (1.0 + f64::from(k) / 5.0).powf(-0.6);
    let mut differences = vec![Vec::new(); 3];
    for seed in 1..=chains {
        let mut session = Run::new("scir")
            .seed(seed)
            .set("step_size", Value::Real(h))
            .set("batch", Value::Int(batch))
            .set("steps_per_draw", Value::Int(1))
            .set("schedule", Value::Text("decreasing".into()))
            .set("decay_offset", Value::Real(5.0))
            .set("decay_exponent", Value::Real(0.6))
            .start(exact_oracle(Arc::clone(&model), Some(Arc::clone(&centre))));
        let read = |session: &mut crate::samplers::testing::Session| {
            let mut read = Read(Vec::new());
            session.kernel.visit(&mut read);
            read.0
        };
        let mut mean: Vec<f64> = read(&mut session).iter().map(|log| log.exp()).collect();
        let mut variance = [0.0; 4];
        let (mut found, mut expected, mut total) = ([0.0; 4], [0.0; 4], 0.0);
        for k in 0..steps {
            session.draw().unwrap();
            let now = read(&mut session);
            let step = h * weight(k);
            assert!((session.info[0] - step).abs() < 1e-12);
            assert!((session.info[2] - weight(k)).abs() < 1e-12);
            let (kept, lost) = ((-step).exp(), -(-step).exp_m1());
            total += weight(k);
            for j in 0..4 {
                let a = ALPHA + COUNTS[j] as f64;
                let noise = estimate_variance(COUNTS[j], batch as f64);
                variance[j] = kept * kept * variance[j]
                    + lost * lost * (a + noise)
                    + 2.0 * kept * lost * mean[j];
                mean[j] = kept * mean[j] + lost * a;
                expected[j] += weight(k) * (variance[j] + (mean[j] - a).powi(2));
                found[j] += weight(k) * (now[j].exp() - a).powi(2);
            }
        }
        // Squares of the category never seen have tails too heavy for a mean.
        for j in 0..3 {
            let a = ALPHA + COUNTS[j] as f64;
            differences[j].push((found[j] - expected[j]) / (total * a));
        }
    }
    for (j, series) in differences.iter().enumerate() {
        let count = series.len() as f64;
        let mean = series.iter().sum::<f64>() / count;
        let variance = series.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let error = (variance / count).sqrt();
        assert!(
            mean.abs() < 4.0 * error && error < 0.1,
            "{j}: {mean} ± {error}"
        );
    }
}

/// The steps of `sgrld-simplex` fall by the same formula.
#[test]
fn langevin_steps_on_the_simplex_fall_and_weigh_their_draws() {
    let (model, centre) = categorical_with_centre(&COUNTS);
    let mut session = Run::new("sgrld-simplex")
        .set("step_size", Value::Real(0.4))
        .set("steps_per_draw", Value::Int(1))
        .set("schedule", Value::Text("decreasing".into()))
        .set("decay_offset", Value::Real(3.0))
        .set("decay_exponent", Value::Real(0.5))
        .start(exact_oracle(model, Some(centre)));
    for k in 0..20 {
        session.draw().unwrap();
        let weight = (1.0 + f64::from(k) / 3.0).powf(-0.5);
        assert!((session.info[0] - 0.4 * weight).abs() < 1e-12);
        assert!((session.info[2] - weight).abs() < 1e-12);
    }
}
