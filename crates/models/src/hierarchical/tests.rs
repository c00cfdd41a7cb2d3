//! The prior against its closed forms, scales, refusals.

use std::sync::Arc;

use rand::RngExt as _;
use rand_distr::StandardNormal;

use super::*;
use crate::conformance::{grouped_design, hierarchical_options};
use crate::testing::log_lik;
use crate::testing::regressions::Shape;
use crate::{Shard, find};
use ergodic_base::linalg::quadratic_form;
use ergodic_base::{Purpose, stream};

fn model(design: Design, options: &ModelOptions) -> Arc<dyn Model> {
    (find("hierarchical").unwrap().build)(Arc::new(design), options).unwrap()
}

/// A small design: two terms, so that the whole prior can be written out.
fn two_terms(num_obs: usize) -> Design {
    let mut design = grouped_design(Shape::default(), num_obs);
    design.x = design.x.slice(ndarray::s![.., ..2]).to_owned();
    design.terms.truncate(2);
    design.raw_center.truncate(2);
    design.raw_scale.truncate(2);
    design.group_terms[0].names.truncate(2);
    design
}

fn position(dim: usize, seed: u64) -> Vec<f64> {
    let mut rng = stream(seed, 0, Purpose::Data);
    (0..dim)
        .map(|_| 0.6 * rng.sample::<f64, _>(StandardNormal))
        .collect()
}

/// log |det A| by elimination.
fn log_abs_det(mut a: Vec<Vec<f64>>) -> f64 {
    let dim = a.len();
    let mut sum = 0.0;
    for k in 0..dim {
        let pivot = (k..dim)
            .max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs()))
            .unwrap();
        a.swap(k, pivot);
        sum += a[k][k].abs().ln();
        for i in k + 1..dim {
            let factor = a[i][k] / a[k][k];
            for j in k..dim {
                a[i][j] -= factor * a[k][j];
            }
        }
    }
    sum
}

/// log |∂(μ, Σ, θ)/∂u| by finite differences of the reported quantities.
fn log_volume(model: &dyn Model, u: &[f64]) -> f64 {
    let dim = u.len();
    let at = |u: &[f64]| {
        let mut out = vec![0.0; dim];
        model.constrain(u, &mut out);
        out
    };
    let step = 1e-5;
    let columns = (0..dim)
        .map(|j| {
            let (mut above, mut below) = (u.to_vec(), u.to_vec());
            above[j] += step;
            below[j] -= step;
            let (above, below) = (at(&above), at(&below));
            let slopes = above.iter().zip(&below);
            slopes.map(|(a, b)| (a - b) / (2.0 * step)).collect()
        })
        .collect();
    log_abs_det(columns)
}

/// Written out from the textbook densities of (μ, Σ, θ), with the prior on the scale of the reports.
fn textbook(values: &[f64], niw: &NormalInverseWishart) -> f64 {
    let sigma = [values[2], values[3], values[3], values[4]];
    let factor = Cholesky::of(&sigma, 2).unwrap();
    let inverse = factor.inverse();
    let trace: f64 = niw.scale.iter().zip(&inverse).map(|(a, b)| a * b).sum();
    let mut value = -0.5 * (niw.dof + 3.0) * factor.log_det() - 0.5 * trace;
    let normal = |x: &[f64], m: &[f64], strength: f64| {
        let d = [x[0] - m[0], x[1] - m[1]];
        -0.5 * factor.log_det() - 0.5 * strength * quadratic_form(&inverse, &d)
    };
    let mu = &values[..2];
    value += normal(mu, &niw.mean, niw.strength);
    for theta in values[5..].chunks_exact(2) {
        value += normal(theta, mu, 1.0);
    }
    value
}

#[test]
fn the_prior_is_the_textbook_one_with_the_volume_of_the_coordinates() {
    for options in hierarchical_options() {
        let mut options = options;
        options.priors.retain(|(key, _)| key != "mu[dose]");
        if !options.priors.is_empty() {
            options.priors.push(("mu[age]".into(), "normal(-1)".into()));
        }
        let model = model(two_terms(40), &options);
        let chosen = options::choose(&two_terms(40), &options).unwrap();
        let scaling = two_terms(40).scaling();
        let (_, reported) = options::on_both_scales(&chosen, &scaling, &options);
        let dim = model.dim();
        let (mut grad, mut values) = (vec![0.0; dim], vec![0.0; dim]);
        // Equal but for one constant.
        let constants: Vec<f64> = (1..6)
            .map(|seed| {
                let u = position(dim, seed);
                model.constrain(&u, &mut values);
                let expected = textbook(&values, &reported) + log_volume(model.as_ref(), &u);
                let constant = model.rows().unwrap().log_prior(&u, &mut grad) - expected;
                // The S-th root of a shard.
                for count in [2, 7] {
                    let shard = Shard::of(&model, 1, count).unwrap();
                    let mut share = vec![0.0; dim];
                    let root = shard.log_prior(&u, &mut share);
                    assert!((count as f64 * root - expected - constant).abs() < 1e-9);
                    for (share, slope) in share.iter().zip(&grad) {
                        assert!((count as f64 * share - slope).abs() < 1e-9 * slope.abs().max(1.0));
                    }
                }
                constant
            })
            .collect();
        for constant in &constants {
            assert!((constant - constants[0]).abs() < 1e-6, "{constants:?}");
        }
    }
}

#[test]
fn curvature_of_the_prior_agrees_with_finite_differences_of_the_gradient() {
    for options in hierarchical_options() {
        let model = model(grouped_design(Shape::default(), 60), &options);
        let dim = model.dim();
        let u = position(dim, 3);
        let mut hessian = vec![0.0; dim * dim];
        model
            .rows()
            .unwrap()
            .add_neg_hessian_log_prior(&u, &mut hessian);
        let (mut above, mut below) = (vec![0.0; dim], vec![0.0; dim]);
        let step = 1e-5;
        let mut moved = u.clone();
        for j in 0..dim {
            moved[j] = u[j] + step;
            model.rows().unwrap().log_prior(&moved, &mut above);
            moved[j] = u[j] - step;
            model.rows().unwrap().log_prior(&moved, &mut below);
            moved[j] = u[j];
            for i in 0..dim {
                let numeric = -(above[i] - below[i]) / (2.0 * step);
                let exact = hessian[i * dim + j];
                assert!(
                    (exact - numeric).abs() < 1e-5 * numeric.abs().max(1.0),
                    "{:?} {i} {j}: {exact} against {numeric}",
                    options.settings
                );
            }
        }
    }
}

#[test]
fn both_parametrisations_and_the_view_describe_one_posterior() {
    let design = || grouped_design(Shape::default(), 120);
    let options = hierarchical_options();
    let (centred, other) = (model(design(), &options[0]), model(design(), &options[4]));
    let dim = centred.dim();
    let (mut a, mut b) = (vec![0.0; dim], vec![0.0; dim]);
    for seed in 1..4 {
        let u = position(dim, seed);
        centred.constrain(&u, &mut a);
        let mut v = vec![0.0; dim];
        other.unconstrain(&a, &mut v);
        other.constrain(&v, &mut b);
        for (a, b) in a.iter().zip(&b) {
            assert!((a - b).abs() < 1e-9 * a.abs().max(1.0), "{a} {b}");
        }
        let mut unused = vec![0.0; dim];
        let here = log_lik(centred.as_ref(), &u, &mut unused);
        let there = log_lik(other.as_ref(), &v, &mut unused);
        assert!((here - there).abs() < 1e-9 * here.abs());

        // The view: groups alone add up to the whole, and positions survive reading and writing.
        for (model, u) in [(&centred, &u), (&other, &v)] {
            let view = model.hierarchy().unwrap();
            let (p, groups) = (view.num_terms(), view.num_groups());
            let (mut mu, mut lower) = (vec![0.0; p], vec![0.0; p * p]);
            let mut theta = vec![0.0; p * groups];
            view.read(u, &mut mu, &mut lower, &mut theta);
            let mut back = vec![0.0; dim];
            view.write(&mu, &lower, &theta, &mut back);
            for (a, b) in u.iter().zip(&back) {
                assert!((a - b).abs() < 1e-12, "{a} {b}");
            }
            let mut sum = 0.0;
            let mut scratch = view.group_scratch();
            for (g, theta) in theta.chunks_exact(p).enumerate() {
                let rows = view.group_rows(g);
                let places = Rows::Span {
                    start: rows.start,
                    len: rows.len(),
                };
                sum += view.group_log_lik(theta, places, &mut scratch, &mut vec![0.0; p]);
            }
            assert!((sum - here).abs() < 1e-9 * here.abs());
        }
    }
    let sizes: Vec<usize> = (0..6)
        .map(|g| centred.hierarchy().unwrap().group_rows(g).len())
        .collect();
    assert_eq!(sizes.iter().sum::<usize>(), 120);
    assert_eq!((sizes[2], sizes[4]), (0, 1));
}

#[test]
fn reports_are_on_the_scale_of_the_columns() {
    let design = grouped_design(Shape::default(), 50);
    let scaling = design.scaling();
    let options = hierarchical_options();
    let on_scale = |report_standardized| {
        let options = ModelOptions {
            report_standardized,
            ..options[4].clone()
        };
        model(grouped_design(Shape::default(), 50), &options)
    };
    let (standard, raw) = (on_scale(true), on_scale(false));
    let (p, dim) = (4, raw.dim());
    let u = position(dim, 9);
    let (mut a, mut b) = (vec![0.0; dim], vec![0.0; dim]);
    standard.constrain(&u, &mut a);
    raw.constrain(&u, &mut b);
    // The linear map, column by column.
    let map: Vec<Vec<f64>> = (0..p)
        .map(|j| {
            let (mut unit, mut column) = (vec![0.0; p], vec![0.0; p]);
            unit[j] = 1.0;
            scaling.to_raw(&unit, &mut column);
            column
        })
        .collect();
    let square = |values: &[f64]| {
        let mut out = vec![vec![0.0; p]; p];
        for (value, (i, j)) in values[p..].iter().zip(options::upper_triangle(p)) {
            out[i][j] = *value;
            out[j][i] = *value;
        }
        out
    };
    let (sigma, reported) = (square(&a), square(&b));
    for i in 0..p {
        for j in 0..p {
            let expected: f64 = (0..p)
                .flat_map(|k| (0..p).map(move |l| (k, l)))
                .map(|(k, l)| map[k][i] * sigma[k][l] * map[l][j])
                .sum();
            let tolerance = 1e-10 * (reported[i][i] * reported[j][j]).sqrt();
            assert!((reported[i][j] - expected).abs() < tolerance);
        }
    }
    for k in [0, 14, 18] {
        let mut expected = vec![0.0; p];
        scaling.to_raw(&a[k..k + p], &mut expected);
        for (a, b) in expected.iter().zip(&b[k..k + p]) {
            assert!((a - b).abs() < 1e-10 * a.abs().max(1.0));
        }
    }
    let names: Vec<&str> = raw.params().iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names.len(), dim);
    assert_eq!(names[..2], ["mu[Intercept]", "mu[age]"]);
    assert_eq!(
        names[4..6],
        ["Sigma[Intercept,Intercept]", "Sigma[Intercept,age]"]
    );
    assert_eq!(names[14], "theta[s1,Intercept]");
    assert_eq!(names[dim - 1], "theta[s6,dose]");
}

/// Trapezoidal integral of a marginal prior density of the model.
#[test]
fn marginal_prior_densities_integrate_to_one() {
    let options = ModelOptions {
        priors: vec![("Sigma".into(), "inv_wishart(9, 2)".into())],
        standardize: true,
        report_standardized: true,
        ..ModelOptions::default()
    };
    let model = model(grouped_design(Shape::default(), 50), &options);
    for (index, half_width) in [(0, 400.0), (4, 60.0), (14, 400.0)] {
        let points = 200_000;
        let step = 2.0 * half_width / f64::from(points);
        let integral: f64 = (0..points)
            .map(|k| model.prior_density(index, (f64::from(k) + 0.5) * step - half_width))
            .map(|density| density.unwrap() * step)
            .sum();
        assert!((integral - 1.0).abs() < 1e-3, "{index}: {integral}");
    }
    assert_eq!(model.prior_density(5, 0.1), None);
}

#[test]
fn the_parametrisation_follows_the_rows_per_group() {
    // Both scales are standardised, so in the centred model u is what is reported.
    let options = ModelOptions {
        report_standardized: true,
        standardize: true,
        ..ModelOptions::default()
    };
    for (num_obs, centred) in [(200, false), (2000, true)] {
        let model = model(grouped_design(Shape::default(), num_obs), &options);
        let u = position(model.dim(), 1);
        let mut values = vec![0.0; model.dim()];
        model.constrain(&u, &mut values);
        assert_eq!(values[14..] == u[14..], centred);
    }
}

#[test]
fn refusals_say_what_to_write() {
    let build = |design: Design, priors: &[(&str, &str)]| {
        let options = ModelOptions {
            priors: priors
                .iter()
                .map(|&(key, text)| (key.to_owned(), text.to_owned()))
                .collect(),
            ..ModelOptions::default()
        };
        let built = (find("hierarchical").unwrap().build)(Arc::new(design), &options);
        built
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    };
    let design = || grouped_design(Shape::default(), 30);
    let mut none = design();
    none.group_terms.clear();
    assert!(build(none, &[]).contains("needs a group"));
    let mut independent = design();
    independent.group_terms[0].correlated = false;
    assert!(build(independent, &[]).contains("write `|` instead of `||` before `school`"));
    let mut short = design();
    short.group_terms[0].names.truncate(2);
    assert!(build(short, &[]).contains("but `income`, `dose` not by `school`"));
    let mut long = design();
    long.group_terms[0].names.push("height".to_owned());
    assert!(build(long, &[]).contains("`height` varies by `school` without one"));
    for (key, text, part) in [
        ("b", "normal(0, Sigma/1)", "there are mu, mu[Intercept]"),
        ("mu", "normal(0, 10)", "not a share of Sigma"),
        ("mu", "normal(0, Sigma/0)", "positive lambda"),
        ("mu[age]", "normal(0, Sigma/1)", "all means share one, 0.01"),
        ("mu[age]", "inv_wishart(9, 1)", "not one for `mu[age]`"),
        (
            "Sigma",
            "inv_wishart(2, 1)",
            "more than 3 degrees of freedom",
        ),
        ("Sigma", "inv_wishart(8, 1, 2)", "has 2 scales for 4 terms"),
        ("Sigma", "inv_wishart(8, -1)", "arguments above 0"),
        ("Sigma", "lkj(2)", "is not understood"),
    ] {
        let error = build(design(), &[(key, text)]);
        assert!(error.contains(part), "{key} = {text}: {error}");
    }
    assert_eq!(
        build(design(), &[("Sigma", "inv_wishart(8, 1, 2, 3, 4)")]),
        ""
    );
    assert_eq!(build(design(), &[("mu[age]", "normal(2, Sigma/0.01)")]), "");
}
