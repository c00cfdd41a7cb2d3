//! Rows without a single linear predictor: a regression with unknown spread, levels without an order, effects of groups.

use std::sync::Arc;

use rand::RngExt as _;
use rand_distr::{Distribution as _, StandardNormal};
use statrs::function::gamma::ln_gamma;

use crate::design::{MemoryColumns, ResponseUse, Values};
use crate::estimators::find_mode;
use crate::models::{Model, ModelOptions, Rows, add_differences};
use crate::oracle::{Centre, Oracle};
use crate::samplers::StateVisitor;
use crate::samplers::full_data::hamiltonian::LogDensity as _;
use crate::samplers::subsampling::energy_conserving::estimate::{
    EstimatedPosterior, Estimator, Expansion, Subsample,
};
use crate::samplers::testing::{
    Chain, Run, assert_moments_known_to, assert_restored, exact_oracle, logistic_with_centre, mean,
    weighted_estimate,
};
use crate::samplers::tests::regression::reported_by;
use crate::testing::{built_by, table_of};
use ergodic_base::linalg::Cholesky;
use ergodic_base::settings::{Settings, Value};
use ergodic_base::{Control, Purpose, stream};

/// All samplers that estimate the likelihood from a subsample.
const IDS: [&str; 4] = ["hmc-ecs", "nuts-ecs", "hmc-ecs-signed", "pseudo-marginal"];

/// A model with its mode.
type Centred = (Arc<dyn Model>, Arc<Centre>);

fn centred(model: Arc<dyn Model>) -> Centred {
    assert!(model.linear_rows().is_none());
    let mode = find_mode(model.as_ref(), &Control::default()).unwrap();
    (model, Arc::new(mode.centre))
}

fn normals(count: usize, seed: u64) -> Vec<f64> {
    let mut rng = stream(seed, 0, Purpose::Data);
    (0..count)
        .map(|_| StandardNormal.sample(&mut rng))
        .collect()
}

fn line() -> (Arc<dyn Model>, [Vec<f64>; 2]) {
    line_of(300)
}

/// y ~ x with priors flat in both coefficients and σ, and its columns.
fn line_of(rows: usize) -> (Arc<dyn Model>, [Vec<f64>; 2]) {
    let (x, noise) = (normals(rows, 1), normals(rows, 2));
    let y: Vec<f64> = x
        .iter()
        .zip(&noise)
        .map(|(x, e)| 2.0 + 0.5 * x + 0.8 * e)
        .collect();
    let options = ModelOptions {
        priors: ["intercept", "b", "sigma"]
            .map(|key| (key.into(), "flat".into()))
            .into(),
        ..ModelOptions::default()
    };
    let table = table_of(vec![("x", x.clone()), ("y", y.clone())]);
    let model = built_by("linear", &table, "y ~ x", ResponseUse::Number, &options).unwrap();
    (model, [x, y])
}

/// Three levels without an order of 500 rows.
fn levels() -> Arc<dyn Model> {
    let x = normals(500, 3);
    let mut rng = stream(4, 0, Purpose::Data);
    let level = |x: &f64| {
        let odds = [1.0, (0.4 + 0.7 * x).exp(), (-0.2 - 0.5 * x).exp()];
        let mut left = rng.random::<f64>() * odds.iter().sum::<f64>();
        let chosen = odds.iter().position(|odds| {
            left -= odds;
            left < 0.0
        });
        Some(["a", "b", "c"][chosen.unwrap_or(0)].to_owned())
    };
    let y = Values::Texts(x.iter().map(level).collect());
    let columns = vec![("y".to_owned(), y), ("x".to_owned(), Values::Numbers(x))];
    let table = MemoryColumns::new("t", columns).unwrap();
    let options = ModelOptions::default();
    let (template, formula) = ("multinomial", "y ~ x");
    built_by(template, &table, formula, ResponseUse::Unordered, &options).unwrap()
}

/// Six groups of 100 rows around a line, with effects as they are, around the mean of draws by NUTS: their density has no bound where
/// the spread of groups vanishes, and what is a mode of it depends on where a search starts.
fn groups() -> Centred {
    let (x, noise, shifts) = (normals(600, 5), normals(600, 6), normals(6, 7));
    let g: Vec<f64> = (0..600).map(|i| f64::from(i % 6)).collect();
    let y = (0..600).map(|i| 0.5 + shifts[i % 6] + 0.7 * x[i] + 0.8 * noise[i]);
    let table = table_of(vec![("y", y.collect()), ("x", x), ("g", g)]);
    let mut settings = Settings::default();
    settings.set("parametrisation", Value::Text("centred".to_owned()));
    let options = ModelOptions {
        settings,
        ..ModelOptions::default()
    };
    let formula = "y ~ x + (1 | g)";
    let model = built_by("mixed", &table, formula, ResponseUse::Number, &options).unwrap();
    assert!(model.linear_rows().is_none());
    let chain = Run::new("nuts").go(exact_oracle(Arc::clone(&model), None), 500, 500);
    let u: Vec<f64> = (0..model.dim())
        .map(|j| mean(&chain.coordinate(j)))
        .collect();
    let centre = Centre::at(model.density().unwrap(), &u).unwrap();
    (model, Arc::new(centre))
}

fn each_model(mut visit: impl FnMut(&str, &Centred)) {
    visit("line", &centred(line().0));
    visit("levels", &centred(levels()));
    visit("groups", &groups());
}

/// `by` standard deviations of the posterior away from the centre, to alternate sides.
fn away(centre: &Centre, by: f64) -> Vec<f64> {
    let sides = [1.0, -1.0].into_iter().cycle();
    let steps = centre.sds().into_iter().zip(sides);
    let moved = centre.u.iter().zip(steps);
    moved.map(|(u, (sd, side))| u + by * side * sd).collect()
}

#[test]
fn gradients_of_estimates_are_their_finite_differences() {
    let block_poisson = Estimator::BlockPoisson {
        batch: 5,
        factors: 8.0,
        shift: -9.0,
    };
    each_model(|what, (model, centre)| {
        let rows = model.rows().unwrap();
        for estimator in [Estimator::Difference { rows: 90 }, block_poisson] {
            for order in 0..=2 {
                let mut scratch = rows.scratch();
                let mut expansion = Expansion::new(order, true, rows, centre);
                let mut rng = stream(5, 0, Purpose::Batch);
                let mut subsample =
                    Subsample::draw(estimator, 2, &expansion, rows, &mut scratch, &mut rng);
                let (expansion, subsample) = (&mut expansion, &mut subsample);
                let mut posterior =
                    EstimatedPosterior::new(rows, expansion, subsample, &mut scratch);
                let u = away(centre, 0.8);
                let mut grad = vec![0.0; u.len()];
                posterior.log_density(&u, &mut grad).unwrap();
                let largest = grad.iter().fold(1.0, |most: f64, g| most.max(g.abs()));
                let mut unused = grad.clone();
                for j in 0..u.len() {
                    let step = 1e-5;
                    let mut at = |step: f64| {
                        let mut moved = u.clone();
                        moved[j] += step;
                        posterior.log_density(&moved, &mut unused).unwrap()
                    };
                    let slope = (at(step) - at(-step)) / (2.0 * step);
                    assert!(
                        (grad[j] - slope).abs() < 1e-4 * largest,
                        "{what}, {estimator:?}, order {order}: {} {slope}",
                        grad[j]
                    );
                }
            }
        }
    });
}

/// Weighed differences of `rows` at `u`, one by one.
fn differences(
    (model, centre): &Centred,
    (order, weighted): (usize, bool),
    u: &[f64],
    rows: std::ops::Range<u32>,
) -> Vec<f64> {
    let density = model.rows().unwrap();
    let mut scratch = density.scratch();
    let expansion = Expansion::new(order, weighted, density, centre);
    let one = Estimator::Difference { rows: 1 };
    let mut rng = stream(1, 0, Purpose::Batch);
    let mut subsample = Subsample::draw(one, 1, &expansion, density, &mut scratch, &mut rng);
    let num_obs = density.num_obs();
    let difference = |row| {
        subsample.set_rows(&[row]);
        subsample.expand(0..1, &expansion, density, &mut scratch);
        subsample.evaluate(0..1, u, &expansion, density, &mut scratch);
        subsample.estimate(0..1, num_obs).log / num_obs as f64
    };
    rows.map(difference).collect()
}

/// Differences of single rows, whose curvature is a difference of scores, and the expansion of all rows, whose curvature is the model's,
/// add up to the log likelihood.
#[test]
fn expansions_and_differences_add_up_to_the_log_likelihood() {
    each_model(|what, target| {
        let (model, centre) = target;
        let rows = model.rows().unwrap();
        let mut grad = vec![0.0; model.dim()];
        let mut log_lik = |u: &[f64]| rows.log_lik(u, Rows::All, &mut rows.scratch(), &mut grad);
        let u = away(centre, 1.5);
        let expected = log_lik(&u) - log_lik(&centre.u);
        for order in 0..=2 {
            let mut expansion = Expansion::new(order, false, rows, centre);
            let expanded = expansion.sum(&u, &mut vec![0.0; u.len()]);
            let all = 0..rows.num_obs() as u32;
            let rest = differences(target, (order, false), &u, all);
            let found = expanded + rest.iter().sum::<f64>();
            assert!(
                (found - expected).abs() < 1e-4,
                "{what}, order {order}: {found} {expected}"
            );
        }
    });
}

#[test]
fn differences_are_of_the_order_after_the_expansion() {
    each_model(|what, target| {
        for order in 0..=2 {
            let size = |by: f64| {
                let u = away(&target.1, by);
                let of_rows = differences(target, (order, false), &u, 0..60);
                of_rows.iter().map(|d| d * d).sum::<f64>().sqrt()
            };
            assert_eq!(size(0.0), 0.0, "{what}");
            let ratio = size(0.1) / size(0.05);
            let expected = f64::powi(2.0, order as i32 + 1);
            assert!(
                (ratio / expected - 1.0).abs() < 0.1,
                "{what}, order {order}: {ratio}"
            );
        }
    });
}

/// Six rows of 2,000 have a level of their own, whose coefficient they alone tell: they are drawn often, and weigh less.
#[test]
fn rows_that_depart_are_drawn_often() {
    let x: Vec<f64> = (0..2000).map(|i| f64::from(u8::from(i < 6))).collect();
    let y = normals(2000, 8);
    let table = table_of(vec![("x", x), ("y", y)]);
    let options = ModelOptions::default();
    let model = built_by("linear", &table, "y ~ x", ResponseUse::Number, &options).unwrap();
    let target = centred(model);
    let rows = target.0.rows().unwrap();
    let u = away(&target.1, 1.5);
    for (order, gain) in [(1, 3.0), (2, 10.0)] {
        let chances = target.1.difference_chances(rows, order).unwrap();
        let plain = differences(&target, (order, false), &u, 0..2000);
        let weighed = differences(&target, (order, true), &u, 0..2000);
        // Mean and variance of 2,000 times a difference over the choice of its row.
        let moments = |of_rows: &[f64], chance: &dyn Fn(usize) -> f64| {
            let (mut total, mut mean, mut square) = (0.0, 0.0, 0.0);
            for (row, d) in of_rows.iter().enumerate() {
                let p = chance(row);
                total += p;
                mean += p * 2000.0 * d;
                square += p * (2000.0 * d).powi(2);
            }
            assert!((total - 1.0).abs() < 1e-9, "{total}");
            (mean, square - mean * mean)
        };
        let (expected, plain_variance) = moments(&plain, &|_row| 1.0 / 2000.0);
        let chance = |row: usize| 1.0 / (2000.0 * chances.weight(row as u32));
        let (found, variance) = moments(&weighed, &chance);
        assert!(
            (found / expected - 1.0).abs() < 1e-6,
            "order {order}: {found} {expected}"
        );
        assert!(
            gain * variance < plain_variance,
            "order {order}: {variance} {plain_variance}"
        );
    }
}

/// Under flat priors the slope is Student-t with n − 3 degrees of freedom around the least squares, and σ² inverse χ² with as many.
#[test]
fn a_line_with_unknown_spread_has_its_closed_form() {
    let (model, [x, y]) = line();
    let n = x.len() as f64;
    let (mx, my) = (mean(&x), mean(&y));
    let sxx: f64 = x.iter().map(|x| (x - mx).powi(2)).sum();
    let sxy: f64 = x.iter().zip(&y).map(|(x, y)| (x - mx) * (y - my)).sum();
    let slope = sxy / sxx;
    let residual = |(x, y): (&f64, &f64)| (y - my - slope * (x - mx)).powi(2);
    let rss: f64 = x.iter().zip(&y).map(residual).sum();
    let df = n - 3.0;
    let variance = rss / (df - 2.0);
    let sigma = (0.5 * rss).sqrt() * (ln_gamma(0.5 * (df - 1.0)) - ln_gamma(0.5 * df)).exp();
    for id in IDS {
        let draws = if id == "pseudo-marginal" {
            20_000
        } else {
            3000
        };
        // Signs are all but never negative here, so that draws may count the same.
        let chains = reported_by(&Run::new(id), &model, 4, draws);
        let series = |j: usize| -> Vec<Vec<f64>> {
            let of_chain = chains.iter().map(|chain| chain[j].clone());
            of_chain.collect()
        };
        let exact = [(slope, variance / sxx), (sigma, variance - sigma * sigma)];
        for (j, (mean, variance)) in [1, 2].into_iter().zip(exact) {
            let what = format!("{id}, {}", model.params()[j].name);
            assert_moments_known_to(0.15, &what, &series(j), mean, variance);
        }
    }
}

fn chains(run: &Run, (model, centre): &Centred, draws: usize) -> Vec<Chain> {
    let oracle = || exact_oracle(Arc::clone(model), Some(Arc::clone(centre)));
    (1..=4)
        .map(|seed| run.clone().seed(seed).go(oracle(), 500, draws))
        .collect()
}

/// Means and variances of coordinates agree with those of NUTS over all rows.
fn assert_as_nuts(what: &str, target: &Centred, runs: &[Run]) {
    let exact = chains(&Run::new("nuts"), target, 2500);
    for run in runs {
        let found = chains(run, target, 2500);
        for j in 0..target.0.dim() {
            let centre = target.1.u[j];
            let sd = target.1.sds()[j];
            for (power, largest) in [(1, 0.2 * sd), (2, 0.3 * sd * sd)] {
                let moment = |chains: &[Chain]| {
                    let values = |chain: &Chain| -> Vec<f64> {
                        let series = chain.coordinate(j);
                        series.iter().map(|u| (u - centre).powi(power)).collect()
                    };
                    let all: Vec<Vec<f64>> = chains.iter().map(values).collect();
                    let weights: Vec<Vec<f64>> = chains.iter().map(Chain::weights).collect();
                    weighted_estimate(&all, &weights)
                };
                let (expected, error) = moment(&exact);
                let (found, own) = moment(&found);
                let allowed = 4.0 * error.hypot(own);
                assert!(
                    (found - expected).abs() < allowed,
                    "{what}, {}, {j}, power {power}: {found} {own}, {expected} {error}",
                    run.id()
                );
                assert!(
                    allowed < largest.max(0.3 * expected.abs()),
                    "{what}: {allowed}"
                );
            }
        }
    }
}

#[test]
fn levels_have_the_moments_of_nuts() {
    assert_as_nuts("levels", &centred(levels()), &[Run::new("hmc-ecs")]);
}

#[test]
#[ignore = "long: run by .ci/long"]
fn levels_have_the_moments_of_nuts_by_other_samplers() {
    let second = Run::new("nuts-ecs").set("order", Value::Int(2));
    assert_as_nuts(
        "levels",
        &centred(levels()),
        &[Run::new("hmc-ecs-signed"), second],
    );
}

#[test]
#[ignore = "long: run by .ci/long"]
fn groups_have_the_moments_of_nuts() {
    let second = Run::new("hmc-ecs").set("order", Value::Int(2));
    let runs = [second, Run::new("nuts-ecs")];
    assert_as_nuts("groups", &groups(), &runs);
}

/// Of first order where an estimate is good enough without the second derivatives that cost three times as much, of second order where it
/// is not; always of second order where these cost nothing.
#[test]
fn the_order_is_that_which_costs_least() {
    let [short, line] = [60, 300].map(|rows| centred(line_of(rows).0));
    let variance = |run: Run| run.set("variance", Value::Real(1e-3));
    for id in ["hmc-ecs", "nuts-ecs", "pseudo-marginal"] {
        let columns = crate::samplers::find(id).unwrap().spec.info;
        let at = columns
            .iter()
            .position(|it| it.name == crate::samplers::subsampling::energy_conserving::ORDER.name);
        let order = |run: Run, (model, centre): &Centred| {
            let oracle = exact_oracle(Arc::clone(model), Some(Arc::clone(centre)));
            run.go(oracle, 5, 5).info(at.unwrap())
        };
        let run = || Run::new(id);
        assert_eq!(order(run(), &short), [1.0; 5], "{id}");
        // So few rows of second order are needed here that they cost less.
        assert_eq!(order(run(), &line), [2.0; 5], "{id}");
        assert_eq!(order(variance(run()), &line), [2.0; 5], "{id}");
        let few = variance(run()).set("batch", Value::Int(100));
        assert_eq!(order(few, &line), [2.0; 5], "{id}");
        let crude = run().set("order", Value::Int(0));
        assert_eq!(order(crude, &line), [0.0; 5], "{id}");
        assert_eq!(order(run(), &logistic_with_centre()), [2.0; 5], "{id}");
    }
}

/// Few rows of first order, whose curvature differs from that of all rows and from one subsample to the next.
fn few_rows(id: &'static str) -> Run {
    let run = Run::new(id).set("order", Value::Int(1));
    let run = run.set("metric_rows", Value::Text("subsample".to_owned()));
    run.set("batch", Value::Int(60))
        .set("blocks", Value::Int(2))
}

/// The metric of each draw is the curvature of the estimate from its subsample at the centre, by differences of its gradient.
#[test]
fn metrics_are_those_of_subsamples() {
    each_model(|what, (model, centre)| {
        let rows = model.rows().unwrap();
        let oracle = exact_oracle(Arc::clone(model), Some(Arc::clone(centre)));
        let mut session = few_rows("hmc-ecs").start(oracle);
        let (dim, mut metrics) = (model.dim(), Vec::new());
        for _ in 0..3 {
            session.draw().unwrap();
            let mut kept = Kept::default();
            session.kernel.visit(&mut kept);
            let estimator = Estimator::Difference { rows: 60 };
            let mut scratch = rows.scratch();
            let mut expansion = Expansion::new(1, true, rows, centre);
            let mut rng = stream(1, 0, Purpose::Batch);
            let mut subsample =
                Subsample::draw(estimator, 1, &expansion, rows, &mut scratch, &mut rng);
            let picks: Vec<u32> = kept.picks[..60].iter().map(|row| *row as u32).collect();
            subsample.set_rows(&picks);
            subsample.expand(0..60, &expansion, rows, &mut scratch);
            let (at, memory) = (&mut expansion, &mut subsample);
            let mut posterior = EstimatedPosterior::new(rows, at, memory, &mut scratch);
            let mut hessian = vec![0.0; dim * dim];
            let (mut u, mut sides) = (centre.u.clone(), vec![0.0; 2 * dim]);
            add_differences(&mut u, &mut sides, &mut hessian, |u, grad| {
                posterior.log_density(u, grad).unwrap();
            });
            let inverse = Cholesky::of(&hessian, dim).unwrap().inverse();
            for (k, (found, expected)) in kept.metric.iter().zip(&inverse).enumerate() {
                let scale = (inverse[k / dim * (dim + 1)] * inverse[k % dim * (dim + 1)]).sqrt();
                assert!(
                    (found - expected).abs() < 1e-4 * scale,
                    "{what}, {k}: {found} {expected}"
                );
            }
            metrics.push(kept.metric);
        }
        assert!(
            metrics[0] != metrics[2],
            "{what}: the subsample did not change"
        );
    });
}

/// Reads rows and inverse metric of a state.
#[derive(Default)]
struct Kept {
    picks: Vec<f64>,
    metric: Vec<f64>,
}

impl StateVisitor for Kept {
    fn slice(&mut self, name: &'static str, values: &mut [f64]) {
        match name {
            "subsample" => self.picks = values.to_vec(),
            "inverse_metric" => self.metric = values.to_vec(),
            _ => {}
        }
    }
    fn counter(&mut self, _name: &'static str, _value: &mut u64) {}
}

/// A metric that follows the subsample leaves the target as it is.
#[test]
fn metrics_of_subsamples_leave_the_posterior_invariant() {
    let metric = Value::Text("subsample".to_owned());
    let runs = ["hmc-ecs", "nuts-ecs"].map(|id| {
        let run = Run::new(id).set("order", Value::Int(1));
        run.set("metric_rows", metric.clone())
    });
    assert_as_nuts("levels", &centred(levels()), &runs);
}

const WARMUP: u64 = 120;

#[test]
fn chains_are_restored_bit_for_bit_and_do_not_allocate() {
    let targets = [centred(line().0), centred(levels())];
    for (model, centre) in &targets {
        let oracle = || -> Oracle { exact_oracle(Arc::clone(model), Some(Arc::clone(centre))) };
        for id in IDS {
            let run = Run::new(id);
            let run = match id {
                "pseudo-marginal" => run,
                "hmc-ecs" => run
                    .set("order", Value::Int(2))
                    .set("renew_every", Value::Int(50)),
                _ => run.set("renew_every", Value::Int(50)),
            };
            // Around the move of the expansion, and at the end of warm-up.
            assert_restored(&run, oracle, WARMUP, &[20, 49, 50, WARMUP]);
        }
    }
}

#[test]
fn a_subsample_too_large_for_memory_is_refused() {
    let (model, _centre) = centred(line().0);
    let many = Estimator::Difference { rows: 1 << 28 };
    let refused = Subsample::check_size(many, 1, model.rows().unwrap());
    let said = refused.unwrap_err().to_string();
    assert!(said.contains("`batch`") && said.contains("GiB"), "{said}");
    let few = Estimator::Difference { rows: 1000 };
    Subsample::check_size(few, 10, model.rows().unwrap()).unwrap();
}
