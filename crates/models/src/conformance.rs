//! Every registered template on designs of every shape: gradients, sums over rows, transforms, curvature.

use std::array;
use std::sync::Arc;

use rand::RngExt as _;
use rand_distr::StandardNormal;

use super::{
    LinearRows, LogDensity as _, Model, ModelEntry, ModelOptions, Posterior, REGISTRY, RoundTrip,
    RowLikelihood, Rows, Shard, moments_of_scores,
};
use crate::allocations::count_during;
use crate::design::{Design, ResponseKind};
use crate::numerics::elementary::LANES;
use ergodic_base::linalg::axpy;
use ergodic_base::{Purpose, stream};

mod cases;
mod options;
mod priors;

use cases::cases;
pub(crate) use cases::{
    add_group_terms, add_intercepts, add_slopes, categorical_design, censor, design_of,
    example_design, grouped_design, hierarchical_options, some_working_rows,
};

/// Calls `check` for every case of all templates with a density, which is one of rows.
fn for_each_density(check: impl Fn(&dyn Model, &dyn RowLikelihood, &str)) {
    for_each_model(|_entry, model, what| {
        if let Posterior::Density(density) = model.posterior() {
            check(model, density.rows().expect("rows of data"), what);
        }
    });
}

/// Calls `check` for every case of all templates.
fn for_each_model(check: impl Fn(&ModelEntry, &dyn Model, &str)) {
    for entry in REGISTRY {
        for (words, design, options) in cases(entry) {
            let design = Arc::new(design);
            for options in &options {
                let model = build(entry, &design, options);
                let scales = (options.standardize, options.report_standardized);
                check(
                    entry,
                    model.as_ref(),
                    &format!("{} {words} {:?} {scales:?}", entry.spec.id, options.priors),
                );
            }
        }
    }
}

fn build(entry: &ModelEntry, design: &Arc<Design>, options: &ModelOptions) -> Arc<dyn Model> {
    (entry.build)(Arc::clone(design), options).unwrap()
}

/// Some positions: near zero, where priors have kinks beside them, and far out. Among many coordinates are logarithms of
/// scales that multiply others, so there far out is nearer.
fn positions(dim: usize) -> Vec<Vec<f64>> {
    let mut rng = stream(62, 0, Purpose::Data);
    let widths = if dim > 8 {
        [0.1, 0.4, 0.7]
    } else {
        [0.1, 1.0, 3.0]
    };
    widths
        .iter()
        .map(|scale| {
            (0..dim)
                .map(|_| scale * rng.sample::<f64, _>(StandardNormal))
                .collect()
        })
        .collect()
}

fn assert_near(got: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    let scale = expected.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
    for (a, b) in got.iter().zip(expected) {
        assert!(
            (a - b).abs() <= tolerance * scale,
            "{what}: {got:?} against {expected:?}"
        );
    }
}

/// Central differences of `f` with a step that balances truncation and rounding.
fn slopes(u: &[f64], mut f: impl FnMut(&[f64]) -> f64) -> Vec<f64> {
    slopes_of_all(u, 1, |u, out| out[0] = f(u)).concat()
}

/// Central differences of `len` numbers at once, which `f` adds to zeros; a row for each coordinate.
fn slopes_of_all(u: &[f64], len: usize, mut f: impl FnMut(&[f64], &mut [f64])) -> Vec<Vec<f64>> {
    let step = 1e-5;
    let mut at = u.to_vec();
    let mut slopes = |j: usize| {
        let mut side = |to: f64| {
            at[j] = to;
            let mut out = vec![0.0; len];
            f(&at, &mut out);
            out
        };
        let (above, below) = (side(u[j] + step), side(u[j] - step));
        at[j] = u[j];
        let pairs = above.iter().zip(&below);
        pairs.map(|(a, b)| (a - b) / (2.0 * step)).collect()
    };
    (0..u.len()).map(&mut slopes).collect()
}

#[test]
fn gradients_agree_with_finite_differences() {
    for_each_density(|model, density, what| {
        let dim = model.dim();
        let mut scratch = density.scratch();
        for u in positions(dim) {
            let mut grad = vec![0.0; dim];
            let mut ignored = vec![0.0; dim];
            density.log_prior(&u, &mut grad);
            let numeric = slopes(&u, |u| density.log_prior(u, &mut ignored));
            assert_near(&grad, &numeric, 1e-6, &format!("prior, {what}"));

            grad.fill(0.0);
            density.log_lik(&u, Rows::All, &mut scratch, &mut grad);
            let numeric = slopes(&u, |u| {
                density.log_lik(u, Rows::All, &mut scratch, &mut ignored)
            });
            assert_near(&grad, &numeric, 1e-6, &format!("likelihood, {what}"));
        }
    });
}

#[test]
fn templates_say_whether_their_models_explain_rows() {
    for entry in REGISTRY {
        for (words, design, options) in cases(entry) {
            let model = build(entry, &Arc::new(design), &options[0]);
            let explains = model.predicts().is_some() || model.observation().is_some();
            let said = entry.predicts(&options[0].settings);
            assert_eq!(said, explains, "{} {words}", entry.spec.id);
        }
    }
}

/// Each with its share of the prior, shards make up the model: log density, gradient, curvature, and rows wherever they stand.
#[test]
fn shards_multiply_to_the_posterior() {
    for entry in REGISTRY {
        for (words, design, options) in cases(entry) {
            let model = build(entry, &Arc::new(design), &options[0]);
            let Some(whole) = model.rows() else { continue };
            let (what, dim) = (format!("{} {words}", entry.spec.id), model.dim());
            for count in [1, 3, 7]
                .into_iter()
                .filter(|&count| count <= whole.num_obs())
            {
                for u in positions(dim) {
                    let (mut value, mut rows) = (0.0, 0);
                    let (mut grad, mut own) = (vec![0.0; dim], vec![0.0; dim]);
                    let mut hessian = vec![0.0; dim * dim];
                    let of_prior = whole.log_prior(&u, &mut own);
                    for index in 0..count {
                        let shard = Shard::of(&model, index, count).unwrap();
                        let share = shard.log_prior(&u, &mut own);
                        assert_near(&[share * count as f64], &[of_prior], 1e-12, &what);
                        value += shard.log_density(&u, &mut own);
                        axpy(1.0, &own, &mut grad);
                        shard.add_neg_hessian(&u, &mut hessian);
                        rows += shard.num_obs();
                        assert_eq!(shard.names().len(), dim);
                    }
                    assert_eq!(rows, whole.num_obs());
                    let mut expected = vec![0.0; dim];
                    let all = whole.log_density(&u, &mut expected);
                    assert_near(&[value], &[all], 1e-9, &what);
                    assert_near(&grad, &expected, 1e-9, &what);
                    let mut expected = vec![0.0; dim * dim];
                    whole.add_neg_hessian(&u, &mut expected);
                    assert_near(&hessian, &expected, 1e-9, &what);
                }
            }
            if whole.num_obs() < 7 {
                continue;
            }
            let shard = Shard::of(&model, 1, 2).unwrap();
            let (first, u) = (whole.num_obs() / 2, &positions(dim)[0]);
            let places = [2, 0, 2];
            let picked = places.map(|place| first as u32 + place);
            let span = |start| Rows::Span { start, len: 2 };
            for (own, among_all) in [
                (Rows::Pick(&places), Rows::Pick(&picked)),
                (span(1), span(first + 1)),
            ] {
                let len = own.len(0);
                let [mut found, mut expected] = [(); 2].map(|()| vec![0.0; len * dim]);
                shard.scores(u, own, &mut shard.scratch(), &mut found);
                whole.scores(u, among_all, &mut whole.scratch(), &mut expected);
                assert_eq!(found, expected, "{what}");
                let [mut found, mut expected] = [(); 2].map(|()| vec![0.0; len]);
                shard.pointwise(u, own, &mut shard.scratch(), &mut found);
                whole.pointwise(u, among_all, &mut whole.scratch(), &mut expected);
                assert_eq!(found, expected, "{what}");
                // Differences from another point, which the whole model may compute in a way of its own.
                let centre = shard.centre_rows(&positions(dim)[1]);
                let (mut found, mut each) = (vec![0.5; dim], vec![0.0; len * dim]);
                shard.grad_difference(u, own, &centre, &mut shard.scratch(), &mut found);
                shard.score_differences(u, own, &centre, &mut shard.scratch(), &mut each);
                let centre = whole.centre_rows(&positions(dim)[1]);
                let mut expected = vec![0.5; dim];
                whole.grad_difference(u, among_all, &centre, &mut whole.scratch(), &mut expected);
                assert_near(&found, &expected, 1e-9, &what);
                for score in each.chunks_exact(dim) {
                    axpy(-1.0, score, &mut found);
                }
                assert_near(&found, &vec![0.5; dim], 1e-9, &what);
                let moments = |rows: &dyn RowLikelihood, taken| {
                    let [mut sum, mut products] = [dim, dim * dim].map(|len| vec![0.5; len]);
                    let (mut scratch, mut scores) = (rows.scratch(), Vec::new());
                    let products_of = &mut products;
                    rows.score_moments(u, taken, &mut scratch, &mut scores, &mut sum, products_of);
                    (sum, products)
                };
                assert_eq!(moments(&shard, own), moments(whole, among_all), "{what}");
                let (Some(of_shard), Some(linear)) = (shard.linear_rows(), whole.linear_rows())
                else {
                    assert_eq!(shard.linear_rows().is_some(), whole.linear_rows().is_some());
                    continue;
                };
                let [mut found, mut expected] = [(); 2].map(|()| vec![[0.0; 3]; len]);
                of_shard.row_terms(u, own, &mut shard.scratch(), &mut found);
                linear.row_terms(u, among_all, &mut whole.scratch(), &mut expected);
                assert_eq!(found, expected, "{what}");
                let [mut found, mut expected] = [(); 2].map(|()| vec![0.0; len]);
                of_shard.slopes(u, own, &mut shard.scratch(), &mut found);
                linear.slopes(u, among_all, &mut whole.scratch(), &mut expected);
                assert_eq!(found, expected, "{what}");
                let [mut curved, mut curved_expected] = [(); 2].map(|()| vec![0.0; len]);
                of_shard.curvatures(u, own, &mut shard.scratch(), &mut curved);
                linear.curvatures(u, among_all, &mut whole.scratch(), &mut curved_expected);
                assert_eq!(curved, curved_expected, "{what}");
                let [mut sum, mut sum_expected] = [(); 2].map(|()| vec![0.5; dim]);
                of_shard.add_weighted_covariates(own, &found, &mut sum);
                linear.add_weighted_covariates(among_all, &expected, &mut sum_expected);
                assert_near(&sum, &sum_expected, 1e-12, &what);
                for k in 0..len {
                    let (row, place) = (own.get(k), among_all.get(k));
                    let z = of_shard.predictor(row, u);
                    assert_eq!(z, linear.predictor(place, u), "{what}");
                    assert_eq!(
                        of_shard.derivatives(row, z),
                        linear.derivatives(place, z),
                        "{what}"
                    );
                    let bounds = |rows: &dyn LinearRows, row| {
                        let [least, most] = rows.curvature_range(row);
                        [least, most, rows.slope_bound(row), rows.third_bound(row)]
                    };
                    assert_eq!(bounds(of_shard, row), bounds(linear, place), "{what}");
                }
            }
            assert!(Shard::of(&model, 0, whole.num_obs() + 1).is_none());
        }
    }
}

#[test]
fn curvature_of_the_likelihood_agrees_with_finite_differences_of_the_gradient() {
    for_each_density(|model, density, what| {
        let dim = model.dim();
        let mut scratch = density.scratch();
        let u = &positions(dim)[1];
        let mut hessian = vec![0.0; dim * dim];
        density.add_neg_hessian_log_lik(u, Rows::All, &mut scratch, &mut hessian);
        let mut slopes = slopes_of_all(u, dim, |u, out| {
            density.grad_log_lik(u, Rows::All, &mut scratch, out);
        });
        for (curvature, numeric) in hessian.chunks_exact(dim).zip(&mut slopes) {
            numeric.iter_mut().for_each(|slope| *slope = -*slope);
            assert_near(curvature, numeric, 1e-6, what);
        }
    });
}

/// Where the prior is smooth and log-concave; elsewhere the curvature is a documented stand-in. Templates whose parameters have no
/// priors of these forms compare the curvature of their own in their own files.
#[test]
fn curvature_of_normal_priors_agrees_with_finite_differences_of_the_gradient() {
    for entry in REGISTRY {
        let takes =
            |wanted: &str| (entry.spec.priors.classes.iter()).any(|(key, _)| *key == wanted);
        if !takes("b") || !takes("intercept") {
            continue;
        }
        for (words, design, options) in cases(entry) {
            let design = Arc::new(design);
            for given in &options {
                let mut priors = vec![("b".to_owned(), "normal(0.3, 2)".to_owned())];
                // Ordered levels have cut points in place of an intercept.
                let is_ordered = matches!(design.response.kind, ResponseKind::Ordered { .. });
                if design.has_intercept && !is_ordered {
                    priors.push(("intercept".to_owned(), "student_t(4, 0, 50)".to_owned()));
                }
                let options = ModelOptions {
                    priors,
                    ..given.clone()
                };
                let model = build(entry, &design, &options);
                let density = model.rows().unwrap();
                let dim = density.dim();
                // Small, so that the Student-t intercept on the raw scale stays where it is log-concave.
                let u: Vec<f64> = positions(dim)[0].iter().map(|u| 0.1 * u).collect();
                let mut hessian = vec![0.0; dim * dim];
                density.add_neg_hessian_log_prior(&u, &mut hessian);
                let mut slopes = slopes_of_all(&u, dim, |u, out| {
                    density.log_prior(u, out);
                });
                let what = format!("{} {words} {}", entry.spec.id, options.standardize);
                for (curvature, numeric) in hessian.chunks_exact(dim).zip(&mut slopes) {
                    numeric.iter_mut().for_each(|slope| *slope = -*slope);
                    assert_near(curvature, numeric, 1e-6, &what);
                }
            }
        }
    }
}

#[test]
fn sums_over_rows_scores_and_single_values_agree() {
    for_each_density(|model, density, what| {
        let (dim, n) = (model.dim(), model.num_obs());
        let mut scratch = density.scratch();
        let u = &positions(dim)[1];
        let mut total = vec![0.0; dim];
        let value = density.log_lik(u, Rows::All, &mut scratch, &mut total);

        // Without the value, the same gradient.
        let mut grad = vec![0.0; dim];
        density.grad_log_lik(u, Rows::All, &mut scratch, &mut grad);
        assert_near(&grad, &total, 1e-13, what);

        // Spans of odd lengths, blocks and picks, added up.
        let picks: Vec<u32> = (120..n as u32).rev().collect();
        let parts = [
            Rows::Span { start: 0, len: 1 },
            Rows::Span { start: 1, len: 61 },
            Rows::Span { start: 62, len: 42 },
            Rows::Blocks(&[14, 13]),
            Rows::Pick(&picks),
        ];
        let (mut part_value, mut part_grad) = (0.0, vec![0.0; dim]);
        grad.fill(0.0);
        for rows in parts {
            part_value += density.log_lik(u, rows, &mut scratch, &mut part_grad);
            density.grad_log_lik(u, rows, &mut scratch, &mut grad);
        }
        assert_near(&[part_value], &[value], 1e-12, what);
        assert_near(&part_grad, &total, 1e-12, what);
        assert_near(&grad, &total, 1e-12, what);

        let mut pointwise = vec![0.0; n];
        density.pointwise(u, Rows::All, &mut scratch, &mut pointwise);
        assert_near(&[pointwise.iter().sum()], &[value], 1e-12, what);

        // A row given twice counts twice.
        let rows = [5_u32, 17, 5, 200, 0, 3, 3, 8, 9];
        let mut scores = vec![0.0; rows.len() * dim];
        density.scores(u, Rows::Pick(&rows), &mut scratch, &mut scores);
        let mut sum = vec![0.0; dim];
        for score in scores.chunks_exact(dim) {
            for (sum, score) in sum.iter_mut().zip(score) {
                *sum += score;
            }
        }
        grad.fill(0.0);
        density.grad_log_lik(u, Rows::Pick(&rows), &mut scratch, &mut grad);
        assert_near(&grad, &sum, 1e-12, what);
    });
}

#[test]
fn moments_of_scores_are_those_of_the_scores() {
    for_each_density(|model, density, what| {
        let dim = model.dim();
        let (mut scratch, mut memory) = (density.scratch(), Vec::new());
        let u = &positions(dim)[1];
        let picks: Vec<u32> = (0..72).map(|k| k * 37 % 200).chain(80..109).collect();
        let span = Rows::Span { start: 5, len: 60 };
        let blocks = Rows::Blocks(&[20, 3, 0, 3, 11]);
        for rows in [Rows::Pick(&picks), blocks, span, Rows::All] {
            let mut moments = [(); 2].map(|()| (vec![0.5; dim], vec![0.25; dim * dim]));
            let [(sum, products), (own_sum, own_products)] = &mut moments;
            let s = &mut scratch;
            moments_of_scores(density, u, rows, s, &mut memory, sum, products);
            density.score_moments(u, rows, s, &mut memory, own_sum, own_products);
            assert_near(own_sum, sum, 1e-12, what);
            assert_near(own_products, products, 1e-12, what);
        }
    });
}

#[test]
fn differences_from_an_centre_are_differences_of_gradients() {
    for_each_density(|model, density, what| {
        let dim = model.dim();
        let mut scratch = density.scratch();
        let at = positions(dim);
        let centre = density.centre_rows(&at[0]);
        let rows = [7_u32, 1, 202, 7, 90, 91, 92, 93, 94, 95];
        let pick = Rows::Pick(&rows);
        let (mut here, mut there, mut difference) =
            (vec![0.0; dim], vec![0.0; dim], vec![0.0; dim]);
        density.grad_log_lik(&at[1], pick, &mut scratch, &mut here);
        density.grad_log_lik(&at[0], pick, &mut scratch, &mut there);
        for (here, there) in here.iter_mut().zip(&there) {
            *here -= there;
        }
        density.grad_difference(&at[1], pick, &centre, &mut scratch, &mut difference);
        assert_near(&difference, &here, 1e-12, what);

        let mut scores = vec![0.0; rows.len() * dim];
        density.score_differences(&at[1], pick, &centre, &mut scratch, &mut scores);
        for j in 0..dim {
            let sum: f64 = scores.iter().skip(j).step_by(dim).sum();
            assert_near(&[sum], &here[j..=j], 1e-12, what);
        }
        difference.fill(0.0);
        density.grad_difference(&at[0], Rows::All, &centre, &mut scratch, &mut difference);
        assert!(
            difference.iter().all(|d| d.abs() < 1e-10),
            "{what}: {difference:?}"
        );
    });
}

#[test]
fn transforms_are_inverse_to_each_other() {
    for_each_model(|entry, model, what| {
        let mut theta = vec![0.0; model.params().len()];
        let mut again = theta.clone();
        let mut back = vec![0.0; model.dim()];
        let RoundTrip { near, far, .. } = entry.round_trip;
        for (u, tolerance) in positions(model.dim()).iter().zip([near, near, far]) {
            model.constrain(u, &mut theta);
            model.unconstrain(&theta, &mut back);
            model.constrain(&back, &mut again);
            assert_near(&again, &theta, 1e-11, what);
            assert_near(&back, u, tolerance, what);
        }
    });
}

#[test]
fn a_transform_that_loses_digits_says_why() {
    for entry in REGISTRY {
        let RoundTrip { near, far, reason } = entry.round_trip;
        let exact = near <= RoundTrip::EXACT.near && far <= RoundTrip::EXACT.far;
        assert_eq!(exact, reason.is_empty(), "{}", entry.spec.id);
    }
}

#[test]
fn blocks_hold_every_coordinate_once() {
    for_each_density(|model, _density, what| {
        let mut next = 0;
        for block in model.blocks() {
            assert_eq!(block.coordinates.start, next, "{what}: {}", block.name);
            assert!(!block.coordinates.is_empty() && !block.name.is_empty());
            next = block.coordinates.end;
        }
        assert_eq!(next, model.dim(), "{what}");
        // The same by name.
        let parts = crate::parts(model);
        let covered: Vec<usize> = parts.iter().flat_map(|it| it.coordinates.clone()).collect();
        assert_eq!(covered, (0..model.dim()).collect::<Vec<_>>(), "{what}");
    });
}

#[test]
fn passes_over_rows_do_not_allocate() {
    let picks: Vec<u32> = (0..50).map(|k| k * 4).collect();
    for_each_density(|model, density, what| {
        let dim = model.dim();
        let mut scratch = density.scratch();
        let at = positions(dim);
        let centre = density.centre_rows(&at[0]);
        let (mut grad, mut hessian) = (vec![0.0; dim], vec![0.0; dim * dim]);
        let mut theta = vec![0.0; model.params().len()];
        let mut scores = vec![0.0; picks.len() * dim];
        let mut memory = Vec::new();
        let pick = Rows::Pick(&picks);
        let mut pass = || {
            let s = &mut scratch;
            density.log_prior(&at[1], &mut grad);
            density.log_lik(&at[1], Rows::All, s, &mut grad);
            density.grad_log_lik(&at[1], pick, s, &mut grad);
            density.grad_difference(&at[1], pick, &centre, s, &mut grad);
            density.scores(&at[1], pick, s, &mut scores);
            density.score_differences(&at[1], pick, &centre, s, &mut scores);
            density.score_moments(&at[1], pick, s, &mut memory, &mut grad, &mut hessian);
            density.add_neg_hessian_log_lik(&at[1], pick, s, &mut hessian);
            density.add_neg_hessian_log_prior(&at[1], &mut hessian);
            model.constrain(&at[1], &mut theta);
        };
        // Memory that a model keeps grows in the first pass.
        pass();
        let count = count_during(pass);
        assert_eq!(count, 0, "{what}");
    });
}

#[test]
fn linear_rows_say_what_the_passes_say() {
    for_each_density(|model, density, what| {
        let Some(linear) = density.linear_rows() else {
            return;
        };
        let dim = model.dim();
        let mut scratch = density.scratch();
        for u in positions(dim) {
            for row in 0..20_u32 {
                let pick = Rows::Pick(std::slice::from_ref(&row));
                let (mut value, mut score) = ([0.0], vec![0.0; dim]);
                density.pointwise(&u, pick, &mut scratch, &mut value);
                density.scores(&u, pick, &mut scratch, &mut score);
                let mut hessian = vec![0.0; dim * dim];
                density.add_neg_hessian_log_lik(&u, pick, &mut scratch, &mut hessian);
                let row = row as usize;
                let [log_p, slope, second] = linear.derivatives(row, linear.predictor(row, &u));
                let a = linear.covariates(row).to_vec();
                assert_near(&[log_p], &value, 1e-12, what);
                let expected: Vec<f64> = a.iter().map(|a| slope * a).collect();
                assert_near(&expected, &score, 1e-12, what);
                assert_near(
                    &[-second * a[0] * a[dim - 1]],
                    &hessian[dim - 1..dim],
                    1e-12,
                    what,
                );
                assert!(slope.abs() <= linear.slope_bound(row), "{what}, row {row}");
                assert!(
                    second.abs() <= linear.curvature_bound(row),
                    "{what}, row {row}"
                );
                let mut terms = [[0.0; 3]];
                linear.row_terms(&u, pick, &mut scratch, &mut terms);
                assert_near(
                    &terms[0],
                    &[linear.predictor(row, &u), log_p, slope],
                    1e-12,
                    what,
                );
                let [least, most] = linear.curvature_range(row);
                let mut before: Option<(f64, f64)> = None;
                for z in [-3.0, -1.4, -1.3, -0.2, 0.0, 0.1, 1.3, 1.4, 5.0] {
                    let [_, slope, second] = linear.derivatives(row, z);
                    assert!(least <= -second && -second <= most, "{what}, row {row}");
                    if let Some((z_before, second_before)) = before {
                        let rise = (second - second_before).abs();
                        let allowed = linear.third_bound(row) * (z - z_before);
                        assert!(rise <= allowed, "{what}, row {row}");
                    }
                    before = Some((z, second));
                    assert!(slope.abs() <= linear.slope_bound(row), "{what}, row {row}");
                    assert!(
                        second.abs() <= linear.curvature_bound(row),
                        "{what}, row {row}"
                    );
                }
            }
            // Many rows at once, in tiles and a rest: each row as when it is alone, and their sum.
            let picks: Vec<u32> = (0..21).map(|k| k * 7 % 20).collect();
            let mut terms = [[0.0; 3]; 21];
            linear.row_terms(&u, Rows::Pick(&picks), &mut scratch, &mut terms);
            let mut alone = [[0.0; 3]];
            for (pick, terms) in picks.iter().zip(&terms) {
                let pick = Rows::Pick(std::slice::from_ref(pick));
                linear.row_terms(&u, pick, &mut scratch, &mut alone);
                assert_eq!(alone[0], *terms, "{what}");
            }
            let mut curvatures = [0.0; 21];
            linear.curvatures(&u, Rows::Pick(&picks), &mut scratch, &mut curvatures);
            for ((&pick, [z, ..]), curvature) in picks.iter().zip(&terms).zip(curvatures) {
                let [_, _, second] = linear.derivatives(pick as usize, *z);
                assert_eq!(-second, curvature, "{what}");
            }
            // Neighbours at several places each: every one as when it is alone.
            let at = |row: usize, k: usize| terms[row][0] + 0.3 * k as f64 - 1.0;
            let z: [[f64; LANES]; 5] = array::from_fn(|i| array::from_fn(|k| at(3 + i, k)));
            let mut found = [[[0.0; LANES]; 3]; 5];
            linear.derivatives_at(3, &z, &mut found);
            for (i, k) in (0..5).flat_map(|i| (0..LANES).map(move |k| (i, k))) {
                let alone = linear.derivatives(3 + i, z[i][k]);
                assert_eq!(found[i].map(|lane| lane[k]), alone, "{what}");
            }
            let slopes = terms.map(|[_z, _value, slope]| slope);
            let (mut sum, mut expected) = (vec![0.5; dim], vec![0.5; dim]);
            linear.add_weighted_covariates(Rows::Pick(&picks), &slopes, &mut sum);
            density.grad_log_lik(&u, Rows::Pick(&picks), &mut scratch, &mut expected);
            assert_near(&sum, &expected, 1e-12, what);
        }
    });
}

#[test]
fn prior_rows_say_what_the_prior_says() {
    use super::LinearRows as _;
    for_each_density(|model, density, what| {
        let Some(rows) = density.prior_rows() else {
            return;
        };
        let dim = model.dim();
        for u in positions(dim) {
            let mut grad = vec![0.0; dim];
            let value = density.log_prior(&u, &mut grad);
            let (mut sum, mut slopes) = (0.0, vec![0.0; dim]);
            for row in 0..rows.count() {
                let [log_p, slope, _second] = rows.derivatives(row, rows.predictor(row, &u));
                sum += log_p;
                for (total, t) in slopes.iter_mut().zip(rows.row(row)) {
                    *total += slope * t;
                }
            }
            assert_near(&[sum], &[value], 1e-12, what);
            assert_near(&slopes, &grad, 1e-12, what);
        }
    });
}
