//! Closed forms, grids, bounds that lie, and what tall data cost.

use std::sync::Arc;

use ndarray::Array2;
use rand::RngExt as _;
use rand_distr::StandardNormal;

use super::super::autoregressive::Moments;
use super::super::piecewise::bouncy_particle::BouncyParticle;
use super::super::piecewise::zig_zag::ZigZag;
use super::super::testing::{
    Run, assert_moments, assert_moments_known_to, exact_oracle, mean, small_logistic,
};
use super::*;
use crate::design::{Design, ResponseKind};
use crate::estimators::find_mode;
use crate::models::{
    CentreRows, Covariates, LinearRows, LogDensity, MAX_DENSE_DIM, ModelOptions, ParamInfo,
    Posterior, Prior, PriorRows, RowLikelihood, Rows, Scratch, find, sum_of_rows,
};
use crate::oracle::Centre;
use crate::testing::plain_design;
use ergodic_base::linalg::Cholesky;
use ergodic_base::settings::Value;
use ergodic_base::{Control, Purpose, RngMark, stream};

const IDS: [&str; 2] = ["zig-zag", "bouncy-particle"];
const CONTROLS: [&str; 2] = ["curvature", "gradient"];

/// What a row's log likelihood is as a function of z: value and two derivatives.
type RowFn = fn(usize, f64) -> [f64; 3];

/// A posterior made of any rows.
struct RowModel {
    params: Vec<ParamInfo>,
    covariates: Vec<f64>,
    row: RowFn,
    slope_bound: f64,
    curvature_bound: f64,
    prior: PriorRows,
}

impl RowModel {
    fn new(num_obs: usize, prior: &[&str], row: RowFn, bounds: [f64; 2]) -> Self {
        let dim = prior.len();
        let mut rng = stream(81, 0, Purpose::Data);
        let covariates = (0..num_obs * dim)
            .map(|k| {
                let x: f64 = rng.sample(StandardNormal);
                if k % dim == 0 { 1.0 } else { x + 0.5 }
            })
            .collect();
        let priors = prior.iter().map(|text| Prior::parse(text).unwrap());
        Self {
            params: (0..dim)
                .map(|j| ParamInfo {
                    name: format!("u[{j}]").into(),
                    meaning: String::new(),
                    prior: prior[j].into(),
                    prior_source: "".into(),
                })
                .collect(),
            covariates,
            row,
            slope_bound: bounds[0],
            curvature_bound: bounds[1],
            prior: PriorRows::independent(priors.collect()),
        }
    }

    /// The oracle with its centre at `u`.
    fn oracle(self, u: &[f64]) -> Oracle {
        let centre = Arc::new(Centre::at(&self, u).unwrap());
        exact_oracle(Arc::new(self), Some(centre))
    }

    fn of_row(&self, row: usize) -> &[f64] {
        &self.covariates[row * self.dim()..][..self.dim()]
    }

    fn each(&self, u: &[f64], rows: Rows<'_>, mut visit: impl FnMut(usize, &[f64], [f64; 3])) {
        for k in 0..rows.len(self.num_obs()) {
            let row = rows.get(k);
            let terms = self.derivatives(row, self.predictor(row, u));
            visit(k, self.of_row(row), terms);
        }
    }
}

impl LinearRows for RowModel {
    fn covariates(&self, row: usize) -> Covariates<'_> {
        Covariates::Double(self.of_row(row))
    }
    fn predictor(&self, row: usize, u: &[f64]) -> f64 {
        dot(self.of_row(row), u)
    }
    fn derivatives(&self, row: usize, z: f64) -> [f64; 3] {
        (self.row)(row, z)
    }
    fn slope_bound(&self, _row: usize) -> f64 {
        self.slope_bound
    }
    fn curvature_bound(&self, _row: usize) -> f64 {
        self.curvature_bound
    }
}

impl Model for RowModel {
    fn params(&self) -> &[ParamInfo] {
        &self.params
    }
    fn posterior(&self) -> Posterior<'_> {
        Posterior::Density(self)
    }
}

impl LogDensity for RowModel {
    fn dim(&self) -> usize {
        self.params.len()
    }
    fn log_density(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        sum_of_rows(self, u, grad)
    }
    fn init(&self, _rng: &mut ChainRng, u: &mut [f64]) {
        u.fill(0.0);
    }
    fn rows(&self) -> Option<&dyn RowLikelihood> {
        Some(self)
    }
}

impl RowLikelihood for RowModel {
    fn linear_rows(&self) -> Option<&dyn LinearRows> {
        Some(self)
    }
    fn prior_rows(&self) -> Option<&PriorRows> {
        Some(&self.prior)
    }
    fn num_obs(&self) -> usize {
        self.covariates.len() / self.dim()
    }
    fn scratch(&self) -> Scratch {
        Scratch::default()
    }
    fn log_prior(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        grad.fill(0.0);
        let mut sum = 0.0;
        for k in 0..u.len() {
            let [value, slope, _] = self.prior.derivatives(k, self.prior.predictor(k, u));
            sum += value;
            axpy(slope, self.prior.row(k), grad);
        }
        sum
    }
    fn log_lik(&self, u: &[f64], rows: Rows<'_>, _: &mut Scratch, grad: &mut [f64]) -> f64 {
        let mut sum = 0.0;
        self.each(u, rows, |_, a, [value, slope, _]| {
            sum += value;
            axpy(slope, a, grad);
        });
        sum
    }
    fn pointwise(&self, u: &[f64], rows: Rows<'_>, _: &mut Scratch, out: &mut [f64]) {
        self.each(u, rows, |k, _, [value, ..]| out[k] = value);
    }
    fn scores(&self, u: &[f64], rows: Rows<'_>, _: &mut Scratch, out: &mut [f64]) {
        let dim = u.len();
        out.fill(0.0);
        self.each(u, rows, |k, a, [_, slope, _]| {
            axpy(slope, a, &mut out[k * dim..(k + 1) * dim]);
        });
    }
    fn grad_difference(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        centre: &CentreRows,
        s: &mut Scratch,
        grad: &mut [f64],
    ) {
        let mut at_centre = vec![0.0; u.len()];
        self.log_lik(&centre.u, rows, s, &mut at_centre);
        self.log_lik(u, rows, s, grad);
        axpy(-1.0, &at_centre, grad);
    }
    fn score_differences(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        centre: &CentreRows,
        s: &mut Scratch,
        out: &mut [f64],
    ) {
        let mut at_centre = vec![0.0; out.len()];
        self.scores(&centre.u, rows, s, &mut at_centre);
        self.scores(u, rows, s, out);
        axpy(-1.0, &at_centre, out);
    }
    fn add_neg_hessian_log_lik(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        _: &mut Scratch,
        hessian: &mut [f64],
    ) {
        let dim = u.len();
        self.each(u, rows, |_, a, [_, _, second]| {
            for (line, a_i) in hessian.chunks_exact_mut(dim).zip(a) {
                axpy(-second * a_i, a, line);
            }
        });
    }
    fn add_neg_hessian_log_prior(&self, u: &[f64], hessian: &mut [f64]) {
        let dim = u.len();
        for k in 0..dim {
            let prior = Prior::parse(self.params[k].prior.as_str()).unwrap();
            hessian[k * dim + k] += prior.curvature(u[k]);
        }
    }
}

/// log N(y_i | z, 1) with y_i between −2 and 2.
fn normal_row(row: usize, z: f64) -> [f64; 3] {
    let residual = response(row) - z;
    [-0.5 * residual * residual, residual, -1.0]
}

fn response(row: usize) -> f64 {
    (row * 7 % 41) as f64 / 10.0 - 2.0
}

/// Four chains of `id` at `oracle`, by coordinate.
fn chains(run: &Run, oracle: impl Fn() -> Oracle, draws: usize) -> Vec<Vec<Vec<f64>>> {
    let runs: Vec<_> = (1..=4)
        .map(|seed| run.clone().seed(seed).go(oracle(), 100, draws))
        .collect();
    (0..oracle().dim())
        .map(|j| runs.iter().map(|chain| chain.coordinate(j)).collect())
        .collect()
}

fn run_of(id: &'static str, control: &str) -> Run {
    Run::new(id).set("control_variates", Value::Text(control.to_owned()))
}

/// Linear regression with known variance has a normal posterior; the centre is off the mode, which must not matter.
#[test]
fn a_correlated_normal_posterior_is_found_wherever_the_centre_is() {
    let make = || {
        RowModel::new(
            30,
            &["normal(1, 2)", "normal(0, 0.5)", "normal(0, 1)"],
            normal_row,
            [f64::INFINITY, 1.0],
        )
    };
    let model = make();
    let (dim, mut scratch) = (model.dim(), model.rows().unwrap().scratch());
    let zero = vec![0.0; dim];
    let mut hessian = vec![0.0; dim * dim];
    model
        .rows()
        .unwrap()
        .add_neg_hessian_log_lik(&zero, Rows::All, &mut scratch, &mut hessian);
    model
        .rows()
        .unwrap()
        .add_neg_hessian_log_prior(&zero, &mut hessian);
    let mut true_mean = zero.clone();
    let mut from_rows = zero.clone();
    model.rows().unwrap().log_prior(&zero, &mut true_mean);
    model
        .rows()
        .unwrap()
        .log_lik(&zero, Rows::All, &mut scratch, &mut from_rows);
    axpy(1.0, &from_rows, &mut true_mean);
    let factor = Cholesky::of(&hessian, dim).unwrap();
    factor.solve(&mut true_mean);
    let covariance = factor.inverse();
    for id in IDS {
        for control in CONTROLS {
            for shift in [0.0, 0.3] {
                let centre: Vec<f64> = true_mean.iter().map(|mean| mean + shift).collect();
                let series = chains(&run_of(id, control), || make().oracle(&centre), 2500);
                for j in 0..dim {
                    let what = format!("{id}, {control}, {shift}, {j}");
                    let variance = covariance[j * dim + j];
                    assert_moments(&what, &series[j], true_mean[j], variance);
                }
            }
        }
    }
}

/// Means and variances of a posterior of two parameters, by a grid over seven standard deviations.
fn grid_moments(model: &dyn Model, centre: &Centre) -> [(f64, f64); 2] {
    const HALF: i32 = 110;
    const STEP: f64 = 7.0 / HALF as f64;
    let mut scratch = model.rows().unwrap().scratch();
    let mut grad = [0.0; 2];
    let mut log_density = |u: &[f64]| {
        model.rows().unwrap().log_prior(u, &mut grad)
            + model
                .rows()
                .unwrap()
                .log_lik(u, Rows::All, &mut scratch, &mut grad)
    };
    let peak = log_density(&centre.u);
    let mut sums = [0.0; 5];
    for i in -HALF..=HALF {
        for k in -HALF..=HALF {
            let mut u = [f64::from(i) * STEP, f64::from(k) * STEP];
            centre.factor.solve_lower_transpose(&mut u);
            axpy(1.0, &centre.u, &mut u);
            let weight = (log_density(&u) - peak).exp();
            for (sum, x) in sums
                .iter_mut()
                .zip([1.0, u[0], u[1], u[0] * u[0], u[1] * u[1]])
            {
                *sum += weight * x;
            }
        }
    }
    [0, 1].map(|j| {
        let mean = sums[1 + j] / sums[0];
        (mean, sums[3 + j] / sums[0] - mean * mean)
    })
}

fn check_against_grid(what: &str, model: &Arc<dyn Model>, centre: &Arc<Centre>) {
    let truth = grid_moments(model.as_ref(), centre);
    for id in IDS {
        for control in CONTROLS {
            let oracle = || exact_oracle(Arc::clone(model), Some(Arc::clone(centre)));
            let series = chains(&run_of(id, control), oracle, 5000);
            for j in 0..2 {
                let what = format!("{what}: {id}, {control}, {j}");
                // Student-t priors leave heavy tails.
                assert_moments_known_to(0.2, &what, &series[j], truth[j].0, truth[j].1);
            }
        }
    }
}

/// A binomial regression of a few rows with trials, weights and offsets.
fn weighted_logistic(prior: &str, standardize: bool) -> Arc<dyn Model> {
    let n = 12_usize;
    let x: Vec<f64> = (0..n).map(|i| (i as f64 - 5.5) / 3.0).collect();
    let columns = x.iter().flat_map(|&x| [1.0, x]).collect();
    let columns = Array2::from_shape_vec((n, 2), columns).unwrap();
    let y = (0..n).map(|i| (i * 5 % 3) as f64).collect();
    let design = Design {
        raw_center: vec![0.0, 2.0],
        raw_scale: vec![1.0, 0.5],
        trials: Some((0..n).map(|i| (2 + i % 3) as f64).collect()),
        weights: Some((0..n).map(|i| 0.25 + (i % 4) as f64 / 2.0).collect()),
        offset: Some((0..n).map(|i| (i % 5) as f64 / 4.0 - 0.5).collect()),
        standardize,
        ..plain_design(columns, y, ResponseKind::Successes)
    };
    let options = ModelOptions {
        priors: vec![
            ("intercept".into(), prior.into()),
            ("b".into(), prior.into()),
        ],
        standardize,
        ..ModelOptions::default()
    };
    (find("logistic").unwrap().build)(Arc::new(design), &options).unwrap()
}

#[test]
fn weights_trials_and_offsets_with_every_prior_agree_with_a_grid() {
    for (prior, standardize) in [
        ("normal(0, 1)", true),
        ("flat", true),
        ("laplace(0.1, 0.4)", true),
        ("student_t(2, 0, 0.3)", true),
        ("laplace(0, 0.5)", false),
    ] {
        let model = weighted_logistic(prior, standardize);
        let mode = find_mode(model.as_ref(), &Control::default()).unwrap();
        check_against_grid(
            &format!("{prior}, {standardize}"),
            &model,
            &Arc::new(mode.centre),
        );
    }
}

/// −|z − y|: a slope that jumps, so that only the bound of power 0 is there.
fn kinked_row(row: usize, z: f64) -> [f64; 3] {
    let d = z - response(row);
    [-d.abs(), -d.signum(), 0.0]
}

#[test]
fn rows_without_a_curvature_are_sampled_by_the_bound_on_their_slope() {
    let make = || {
        RowModel::new(
            9,
            &["normal(0, 1)", "normal(0, 1)"],
            kinked_row,
            [1.0, f64::INFINITY],
        )
    };
    let centre = Arc::new(Centre::at(&make(), &[0.1, -0.1]).unwrap());
    let model: Arc<dyn Model> = Arc::new(make());
    check_against_grid("kinked rows", &model, &centre);
}

#[test]
fn a_bound_that_does_not_hold_ends_the_chain() {
    for id in IDS {
        for control in CONTROLS {
            // The curvature z² is 0 at the centre, where nothing is wrong yet, and soon above its bound.
            let lying = RowModel::new(
                30,
                &["normal(0, 1)", "normal(0, 1)"],
                |_, z| [-z.powi(4) / 12.0, -z.powi(3) / 3.0, -z * z],
                [f64::INFINITY, 0.02],
            );
            let mut session = run_of(id, control).start(lying.oracle(&[0.0, 0.0]));
            let outcome = (0..2000).find_map(|_| session.draw().err());
            assert!(
                matches!(outcome, Some(StepError::BoundExceeded { .. })),
                "{id}, {control}: {outcome:?}"
            );
        }
        // At the centre itself.
        let lying = RowModel::new(5, &["normal(0, 1)"], normal_row, [f64::INFINITY, 0.5]);
        let Err(error) = Run::new(id).try_start(lying.oracle(&[0.0])) else {
            panic!("{id} started");
        };
        assert!(error.to_string().contains("exceeded its bound"), "{error}");
    }
}

#[test]
fn models_without_bounds_are_refused_in_words() {
    let exponential = RowModel::new(
        5,
        &["flat"],
        |_, z| [-z.exp(), -z.exp(), -z.exp()],
        [f64::INFINITY, f64::INFINITY],
    );
    // One parameter more than matrices of curvature are made of.
    let wide = RowModel::new(
        2,
        &["normal(0, 1)"; MAX_DENSE_DIM + 1],
        |_, z| [-0.5 * z * z, -z, -1.0],
        [f64::INFINITY, 1.0],
    );
    for suits in [ZigZag::suits, BouncyParticle::suits] {
        assert_eq!(suits(&exponential), Err(Unsuitable::UnboundedRows));
        let dim = MAX_DENSE_DIM + 1;
        assert_eq!(suits(&wide), Err(Unsuitable::NoCurvature { dim }));
        let (gaussian, _) = super::super::testing::gaussian_with_centre(10, 2, 1);
        let refused = suits(gaussian.as_ref());
        assert_eq!(refused, Err(Unsuitable::NoLinearPredictor));
        assert!(suits(weighted_logistic("flat", false).as_ref()).is_ok());
    }
}

#[test]
fn arrival_times_invert_the_integral_of_the_rate() {
    let mut rng = stream(82, 0, Purpose::Noise);
    for (a, b) in [
        (1.0, 0.0),
        (0.5, 2.0),
        (-3.0, 0.7),
        (2.0, -0.3),
        (0.0, 1.0),
        (0.1, -4.0),
        (-1.0, -1.0),
        (0.0, 0.0),
    ] {
        for _ in 0..200 {
            let wait: f64 = Exp1.sample(&mut RngMark::of(&rng).restore().unwrap());
            let time = first_arrival(a, b, &mut rng);
            // ∫ (a + b s)⁺ ds, which ends at the zero of a falling rate.
            let integral = |t: f64| {
                let (from, to) = if b > 0.0 {
                    ((-a / b).max(0.0), t)
                } else if b < 0.0 {
                    (0.0, t.min((-a / b).max(0.0)))
                } else {
                    (0.0, t)
                };
                if b == 0.0 && a <= 0.0 || to <= from {
                    0.0
                } else {
                    a * (to - from) + 0.5 * b * (to * to - from * from)
                }
            };
            if time.is_finite() {
                assert!((integral(time) - wait).abs() < 1e-9 * (1.0 + wait + a * a));
            } else {
                assert!(integral(1e9) <= wait, "{a} {b}");
            }
        }
    }
}

/// Sixteen times the rows, a quarter of the looks at rows: the sum of second-order bounds falls as N^{-1/2}.
#[test]
fn tall_data_cost_fewer_rows_per_draw() {
    let looks = |n: usize, id: &'static str| {
        let x: Vec<f64> = (0..n).map(|i| i as f64 / n as f64 - 0.5).collect();
        let y: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i % 3 == 0))).collect();
        let model = small_logistic(&x, &y, 2.5);
        let mode = find_mode(model.as_ref(), &Control::default()).unwrap();
        let chain = Run::new(id).go(exact_oracle(model, Some(Arc::new(mode.centre))), 20, 2000);
        n as f64 * mean(&chain.info(2))
    };
    for id in IDS {
        let ratio = looks(500, id) / looks(8000, id);
        assert!((ratio / 4.0).ln().abs() < 0.2, "{id}: {ratio}");
    }
}

/// Draws at the default time are worth keeping: position and distance from the mode have forgotten about half of
/// what they were.
#[test]
fn draws_are_worth_keeping() {
    for id in IDS {
        for dim in [1, 3, 8] {
            let make = || {
                let prior = vec!["normal(0, 1)"; dim];
                RowModel::new(60, &prior, normal_row, [f64::INFINITY, 1.0])
            };
            let centre = find_mode(&make(), &Control::default()).unwrap().centre;
            let chain = Run::new(id).go(make().oracle(&centre.u), 20, 2500);
            let (mut first, mut distance) = (Vec::new(), Vec::new());
            let (mut away, mut v) = (vec![0.0; dim], vec![0.0; dim]);
            for draw in chain.draws.chunks_exact(dim) {
                away.copy_from_slice(draw);
                axpy(-1.0, &centre.u, &mut away);
                centre.factor.lower_transpose_mul(&away, &mut v);
                first.push(v[0]);
                distance.push(dot(&v, &v));
            }
            for series in [first, distance] {
                let correlation = Moments::of(&series).correlation;
                assert!(correlation < 0.55, "{id}, {dim}: {correlation}");
            }
        }
    }
}
