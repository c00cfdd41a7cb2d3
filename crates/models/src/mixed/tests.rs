//! Maps, correlations, priors and shares of variance, and what is refused. References are in `samplers/tests/mixed.rs`.

use crate::conformance::{add_group_terms, add_intercepts, add_slopes, some_working_rows};
use crate::design::ResponseUse;
use crate::testing::regressions::{NUM_OBS, Shape, measured_design};
use crate::testing::tables::{load_csv, reference};
use crate::testing::{built, log_lik, table_of};
use ergodic_base::settings::{Settings, Value};
use ergodic_base::{ParamId, Purpose, stream};

use super::*;

fn options(settings: &[(&str, &str)], priors: &[(&str, &str)]) -> ModelOptions {
    let mut all = Settings::default();
    for (key, value) in settings {
        all.set(key, Value::Text((*value).to_owned()));
    }
    ModelOptions {
        settings: all,
        priors: priors
            .iter()
            .map(|&(key, text)| (key.into(), text.into()))
            .collect(),
        standardize: true,
        ..ModelOptions::default()
    }
}

fn crossed(options: &ModelOptions) -> Arc<dyn Model> {
    let mut design = measured_design(false, Shape::default(), NUM_OBS);
    add_group_terms(&mut design, true);
    Mixed::build(Arc::new(design), options).unwrap()
}

#[test]
fn names_are_those_of_the_field_and_blocks_are_by_factor() {
    let model = crossed(&options(&[], &[]));
    let names: Vec<&str> = model.params().iter().map(|p| p.name.as_str()).collect();
    assert_eq!(
        names[4..15],
        [
            "sigma",
            "sd[school,Intercept]",
            "sd[school,age]",
            "sd[school,income]",
            "cor[school,Intercept,age]",
            "cor[school,Intercept,income]",
            "cor[school,age,income]",
            "sd[year,Intercept]",
            "sd[year,age]",
            "r[school,0,Intercept]",
            "r[school,0,age]"
        ]
    );
    let blocks: Vec<ParamId> = model.blocks().into_iter().map(|block| block.name).collect();
    assert_eq!(blocks, ["b", "scales", "r[school]", "r[year]"]);
}

/// Non-centred coordinates drawn from their prior give effects with the covariance that the reported numbers say.
#[test]
fn effects_have_the_reported_standard_deviations_and_correlations() {
    let model = crossed(&options(&[], &[]));
    let dim = model.dim();
    let mut rng = stream(67, 0, Purpose::Data);
    let mut u = vec![0.0; dim];
    for u in &mut u {
        *u = rng.random_range(-0.8..0.8);
    }
    let mut theta = vec![0.0; model.params().len()];
    let first = model.blocks()[2].coordinates.start;
    let rounds = 20_000;
    let mut moments = [[0.0; 3]; 3];
    for _ in 0..rounds {
        for u in &mut u[first..first + 3] {
            *u = rand_distr::Distribution::sample(&rand_distr::StandardNormal, &mut rng);
        }
        model.constrain(&u, &mut theta);
        let r = &theta[13..16];
        for a in 0..3 {
            for b in 0..3 {
                moments[a][b] += r[a] * r[b] / f64::from(rounds);
            }
        }
    }
    for (m, (j, k)) in [(1, 0), (2, 0), (2, 1)].into_iter().enumerate() {
        let correlation = moments[j][k] / (moments[j][j] * moments[k][k]).sqrt();
        let expected = theta[8 + m];
        let error = (1.0 - expected * expected) / f64::from(rounds).sqrt();
        assert!(
            (correlation - expected).abs() < 4.0 * error,
            "{correlation} {expected}"
        );
    }
    for j in 0..3 {
        let ratio = moments[j][j].sqrt() / theta[5 + j];
        assert!(
            (ratio - 1.0).abs() < 4.0 / (2.0 * f64::from(rounds)).sqrt(),
            "{j} {ratio}"
        );
    }
}

/// The density of each correlation under LKJ, against the partial correlations integrated by Monte Carlo.
#[test]
fn correlations_have_the_prior_that_is_shown() {
    let model = crossed(&options(&[], &[("cor", "lkj(1.5)")]));
    let mut rng = stream(68, 0, Purpose::Data);
    let mut theta = vec![0.0; model.params().len()];
    let rounds = 20_000;
    let mut inside = [0.0; 3];
    for _ in 0..rounds {
        let mut u = vec![0.0; model.dim()];
        // c = atanh(2 B − 1) with B ~ beta(a, a): a = 2 for the first column, 1.5 for the second.
        for (m, a) in [2.0, 2.0, 1.5].into_iter().enumerate() {
            let beta = rand_distr::Beta::new(a, a).unwrap();
            let y: f64 = 2.0 * rand_distr::Distribution::sample(&beta, &mut rng) - 1.0;
            u[8 + m] = y.atanh();
        }
        model.constrain(&u, &mut theta);
        for m in 0..3 {
            inside[m] += f64::from(u8::from(theta[8 + m].abs() < 0.4)) / f64::from(rounds);
        }
    }
    for (m, found) in inside.into_iter().enumerate() {
        let step = 0.8 / 4000.0;
        let expected: f64 = (0..4000)
            .map(|i| {
                model
                    .prior_density(8 + m, -0.4 + (f64::from(i) + 0.5) * step)
                    .unwrap()
                    * step
            })
            .sum();
        let error = (expected * (1.0 - expected) / f64::from(rounds)).sqrt();
        assert!(
            (found - expected).abs() < 4.0 * error,
            "{m}: {found} {expected}"
        );
    }
}

/// All parametrisations are one posterior: their log densities differ by the Jacobian of r = D L z only, in the groups whose
/// effects are sampled as they are.
#[test]
fn parametrisations_agree_up_to_their_jacobian() {
    let centred = options(&[("parametrisation", "centred")], &[]);
    agrees_with_non_centred(&centred, [4.0, 3.0]);
    let some = ModelOptions {
        well_known: vec![vec![true, false, true, true], vec![true, true, false]],
        ..options(&[("parametrisation", "auto")], &[])
    };
    agrees_with_non_centred(&some, [3.0, 2.0]);
}

/// `groups` are sampled as they are: schools, years.
#[track_caller]
fn agrees_with_non_centred(options_of_other: &ModelOptions, groups: [f64; 2]) {
    let free = crossed(&options(&[("parametrisation", "non-centred")], &[]));
    let centred = crossed(options_of_other);
    let mut rng = stream(69, 0, Purpose::Data);
    let dim = free.dim();
    let first = free.blocks()[2].coordinates.start;
    let mut grad = vec![0.0; dim];
    let mut differences = Vec::new();
    for _ in 0..5 {
        let u: Vec<f64> = (0..dim).map(|_| rng.random_range(-1.0..1.0)).collect();
        let mut theta = vec![0.0; free.params().len()];
        free.constrain(&u, &mut theta);
        let mut v = vec![0.0; dim];
        centred.unconstrain(&theta, &mut v);
        // log |∂r/∂z| is the sum of log sd and log L_jj over these groups.
        let [schools, years] = groups;
        let log_sds: f64 =
            schools * u[5..8].iter().sum::<f64>() + years * u[11..13].iter().sum::<f64>();
        let log_factor: f64 = schools * u[8..11].iter().map(|c| -c.cosh().ln()).sum::<f64>();
        let density = |model: &dyn Model, u: &[f64], grad: &mut [f64]| {
            model.density().unwrap().log_density(u, grad)
        };
        let a = density(free.as_ref(), &u, &mut grad);
        let b = density(centred.as_ref(), &v, &mut grad);
        differences.push(a - (b + log_sds + log_factor));
        let mut back = vec![0.0; theta.len()];
        centred.constrain(&v, &mut back);
        for (there, back) in theta.iter().zip(&back) {
            assert!(
                (there - back).abs() < 1e-9 * (1.0 + there.abs()),
                "{there} {back}"
            );
        }
        assert!(first > 0);
    }
    for difference in &differences {
        assert!(
            (difference - differences[0]).abs() < 1e-8,
            "{differences:?}"
        );
    }
}

/// Waves along x, with noise.
fn waves(n: usize) -> Design {
    let x: Vec<f64> = (0..n)
        .map(|i| 6.0 * (i as f64 * 0.618_034).fract())
        .collect();
    let mut rng = stream(70, 0, Purpose::Data);
    let y = x.iter().map(|x| {
        let noise: f64 = rng.sample(rand_distr::StandardNormal);
        10.0 + 4.0 * x.sin() + x + noise
    });
    let table = table_of(vec![("y", y.collect()), ("x", x.clone())]);
    let frame = crate::design::ModelFrame {
        response_use: ResponseUse::Number,
        ..crate::design::ModelFrame::new("y ~ s(x, k = 8)".parse().unwrap())
    };
    Design::build(&table, &frame).unwrap().0
}

/// Given the spreads the posterior of a normal outcome is normal: its mean by the closed form of ridge regression, with columns as they
/// are and penalties put together by hand, is where the gradient vanishes, and log densities fall off from there by half the quadratic
/// form of its precision.
#[test]
fn given_the_spreads_the_posterior_of_a_curve_is_ridge_regression() {
    let design = Arc::new(waves(90));
    for standardize in [true, false] {
        let mut options = options(
            &[],
            &[("b", "normal(0, 3)"), ("intercept", "normal(9, 40)")],
        );
        options.standardize = standardize;
        let model = Mixed::build(Arc::clone(&design), &options).unwrap();
        let names: Vec<&str> = model.params().iter().map(|p| p.name.as_str()).collect();
        let bends = (1..=6).map(|j| format!("bend[s(x),{j}]"));
        let expected: Vec<String> = ["b[Intercept]", "b[s(x)]"]
            .map(str::to_owned)
            .into_iter()
            .chain(bends)
            .chain(["sigma", "sd[s(x)]"].map(str::to_owned))
            .collect();
        assert_eq!(names, expected);
        let blocks: Vec<ParamId> = model.blocks().into_iter().map(|block| block.name).collect();
        assert_eq!(blocks, ["b", "bend[s(x)]", "scales"]);

        let (sigma, sd) = (1.1, 2.3);
        let [centre, scale] = design.response_units();
        let (n, p) = (design.num_obs(), design.num_columns());
        // Coefficients of centred columns, as they are scaled inside; precisions of their priors on that scale.
        let mut precision = vec![0.0; p];
        let mut target = vec![0.0; p];
        for j in 0..p {
            let (x_scale, x_centre) = (design.raw_scale[j], design.raw_center[j]);
            let unit = scale / x_scale;
            let (mean, prior_sd) = match j {
                0 if standardize => (9.0, 40.0),
                0 => (0.0, f64::INFINITY),
                1 if standardize => (0.0, 3.0),
                1 => (0.0, 3.0 / unit),
                _ => (0.0, sd / unit),
            };
            precision[j] = 1.0 / (prior_sd * prior_sd);
            target[j] = mean * precision[j];
            assert!(j < 2 || x_centre == 0.0);
        }
        let mut a = vec![0.0; p * p];
        let noise = (scale / sigma).powi(2);
        for j in 0..p {
            a[j * p + j] += precision[j];
            for k in 0..p {
                let sum: f64 = (0..n).map(|i| design.x[[i, j]] * design.x[[i, k]]).sum();
                a[j * p + k] += noise * sum;
            }
            let y = |i: usize| (design.y[i] - centre) / scale;
            target[j] += noise * (0..n).map(|i| design.x[[i, j]] * y(i)).sum::<f64>();
        }
        if !standardize {
            // normal(9, 40) holds for the intercept at x = 0: a row of its own.
            let row: Vec<f64> = (0..p)
                .map(|j| match j {
                    0 => scale,
                    j => -scale * design.raw_center[j] / design.raw_scale[j],
                })
                .collect();
            for j in 0..p {
                for k in 0..p {
                    a[j * p + k] += row[j] * row[k] / 1600.0;
                }
                target[j] += row[j] * (9.0 - centre) / 1600.0;
            }
        }
        let factor = ergodic_base::linalg::Cholesky::of(&a, p).unwrap();
        let mut mean = target;
        factor.solve(&mut mean);

        // The same in the model's coordinates.
        let raw: Vec<f64> = (0..p)
            .map(|j| mean[j] * scale / design.raw_scale[j])
            .collect();
        let mut theta = raw.clone();
        theta[0] =
            centre + scale * mean[0] - (1..p).map(|j| raw[j] * design.raw_center[j]).sum::<f64>();
        theta.extend([sigma, sd]);
        let mut u = vec![0.0; model.dim()];
        model.unconstrain(&theta, &mut u);
        let density = model.density().unwrap();
        let mut grad = vec![0.0; model.dim()];
        let top = density.log_density(&u, &mut grad);
        for (j, slope) in grad[..p].iter().enumerate() {
            assert!(slope.abs() < 1e-7, "{standardize} {j}: {slope}");
        }
        let step: Vec<f64> = (0..p)
            .map(|j| 0.01 * f64::from(j as u32 + 1).sin())
            .collect();
        let mut there = u.clone();
        for j in 0..p {
            // Own coordinates of what bends are in units of sd.
            let own = match j {
                0 | 1 => 1.0,
                _ => scale / (sd * design.raw_scale[j]),
            };
            there[j] += step[j] * own;
        }
        let fall = top - density.log_density(&there, &mut grad);
        let half = 0.5 * ergodic_base::linalg::quadratic_form(&a, &step);
        assert!(
            (fall / half - 1.0).abs() < 1e-7,
            "{standardize}: {fall} {half}"
        );
    }
}

/// Templates whose coefficients have no spread in common, samplers that draw coefficients one by one, and priors of what there is not.
#[test]
fn what_has_no_curves_refuses_them() {
    let design = Arc::new(waves(90));
    let linear = crate::find("linear").unwrap();
    let error = (linear.build)(Arc::clone(&design), &ModelOptions::default())
        .err()
        .unwrap();
    assert!(
        error.to_string().contains(
            "has no smooth curves, but the formula has `s(x, k = 8)`; choose template `mixed`"
        ),
        "{error}"
    );
    let mixed = crate::find("mixed").unwrap();
    let set = |prior: (&str, &str)| (mixed.build)(Arc::clone(&design), &options(&[], &[prior]));
    let model = set(("sd[s(x)]", "exponential(2)")).unwrap();
    assert_eq!(model.params()[9].prior.as_str(), "exponential(2)");
    for key in ["bend[s(x),1]", "sd[x]", "cor"] {
        assert!(set((key, "normal(0, 1)")).is_err(), "{key}");
    }
}

/// Coordinates that follow the parabolas of rows, against the posterior in non-centred ones and the determinant of the map
/// between them by differences.
#[test]
fn coordinates_by_parabolas_are_the_same_posterior() {
    let crossed = |design: &mut Design| add_group_terms(design, true);
    let additions: [fn(&mut Design); 3] = [add_intercepts, add_slopes, crossed];
    for add in additions {
        let mut design = measured_design(false, Shape::default(), NUM_OBS);
        add(&mut design);
        whitening_keeps_the_posterior(&Arc::new(design));
    }
}

fn whitening_keeps_the_posterior(design: &Arc<Design>) {
    let build = |options: &ModelOptions| Mixed::build(Arc::clone(design), options).unwrap();
    let free = build(&options(&[("parametrisation", "non-centred")], &[]));
    let white = build(&ModelOptions {
        working: Some(Arc::new(some_working_rows(NUM_OBS))),
        ..options(&[("parametrisation", "auto")], &[])
    });
    let views = [&free, &white].map(|model| model.mixed_effects().unwrap().is_whitened());
    assert_eq!(views, [false, true]);
    let dim = free.dim();
    assert_eq!(dim, white.dim());
    let mut rng = stream(71, 0, Purpose::Data);
    let to_white = |u: &[f64]| {
        let (mut theta, mut v) = (vec![0.0; free.params().len()], vec![0.0; dim]);
        free.constrain(u, &mut theta);
        white.unconstrain(&theta, &mut v);
        let mut back = vec![0.0; theta.len()];
        white.constrain(&v, &mut back);
        for (there, back) in theta.iter().zip(&back) {
            assert!((there - back).abs() < 1e-9 * (1.0 + there.abs()));
        }
        v
    };
    let mut grad = vec![0.0; dim];
    let mut density =
        |model: &dyn Model, u: &[f64]| model.density().unwrap().log_density(u, &mut grad);
    let mut differences = Vec::new();
    for _ in 0..4 {
        let mut u: Vec<f64> = (0..dim).map(|_| rng.random_range(-1.0..1.0)).collect();
        let v = to_white(&u);
        let mut slopes = vec![0.0; dim * dim];
        for j in 0..dim {
            let centre = u[j];
            u[j] = centre + 1e-5;
            let above = to_white(&u);
            u[j] = centre - 1e-5;
            let below = to_white(&u);
            u[j] = centre;
            for i in 0..dim {
                slopes[i * dim + j] = (above[i] - below[i]) / 2e-5;
            }
        }
        let log_det = log_abs_det(&mut slopes, dim);
        assert!(log_det.abs() > 0.1, "{log_det}");
        differences.push(density(free.as_ref(), &u) - density(white.as_ref(), &v) - log_det);
    }
    for difference in &differences {
        assert!(
            (difference - differences[0]).abs() < 1e-6,
            "{differences:?}"
        );
    }
}

fn log_abs_det(a: &mut [f64], dim: usize) -> f64 {
    let mut sum = 0.0;
    for k in 0..dim {
        let size = |i: usize| a[i * dim + k].abs();
        let pivot = (k..dim)
            .max_by(|&i, &j| size(i).total_cmp(&size(j)))
            .unwrap();
        for j in 0..dim {
            a.swap(k * dim + j, pivot * dim + j);
        }
        sum += a[k * dim + k].abs().ln();
        for i in k + 1..dim {
            let factor = a[i * dim + k] / a[k * dim + k];
            for j in k..dim {
                a[i * dim + j] -= factor * a[k * dim + j];
            }
        }
    }
    sum
}

/// With a normal likelihood whose parabolas are right, and terms that are nested, with columns that are orthogonal within
/// the finer one's groups, coordinates of effects are independent and normal whatever the standard deviations and correlations
/// are: the density does not fall off but by half their squares.
#[test]
fn coordinates_by_parabolas_are_white_where_these_are_right() {
    for formula in [
        "y ~ 1 + (1 | school) + (1 | class)",
        "y ~ 1 + (w | class)",
        "y ~ 1 + (w || class)",
        "y ~ 1 + x + w + (x + w | school)",
        "y ~ 1 + x + (x | school) + (x || class)",
        "y ~ 1 + x + (x | school) + (1 | class)",
    ] {
        is_white_where_parabolas_are_right(formula);
    }
}

#[track_caller]
fn is_white_where_parabolas_are_right(formula: &str) {
    let n = 48;
    let table = table_of(vec![
        ("y", (0..n).map(|i| f64::from(i * i % 17)).collect()),
        ("w", (0..n).map(|i| f64::from(i * i % 11)).collect()),
        ("x", (0..n).map(|i| f64::from(1 - i / 6 % 2 * 2)).collect()),
        ("class", (0..n).map(|i| f64::from(i % 6)).collect()),
        ("school", (0..n).map(|i| f64::from(i % 6 / 2)).collect()),
    ]);
    let plain = options(&[("parametrisation", "non-centred")], &[]);
    let of_rows = built::<Mixed>(&table, formula, ResponseUse::Number, &plain).unwrap();
    let view = of_rows.mixed_effects().unwrap();
    // At sigma = 1.
    let normal: Vec<[f64; 2]> = (0..n as usize).filter_map(|i| view.normal_row(i)).collect();
    let working = WorkingRows {
        weights: normal.iter().map(|row| row[1]).collect(),
        scores: normal.iter().map(|row| row[0] * row[1]).collect(),
    };
    let white = ModelOptions {
        working: Some(Arc::new(working)),
        ..options(&[("parametrisation", "auto")], &[])
    };
    let model = built::<Mixed>(&table, formula, ResponseUse::Number, &white).unwrap();
    let dim = model.dim();
    let blocks = model.blocks();
    let scales = blocks[1].coordinates.clone();
    let mut rng = stream(72, 0, Purpose::Data);
    for scale in [-6.0, -1.0, 0.5, 3.0] {
        let mut u: Vec<f64> = (0..dim).map(|_| rng.random_range(-2.0..2.0)).collect();
        for (k, j) in scales.clone().enumerate() {
            u[j] = [0.0, scale, -0.5 * scale, 0.4 * scale][k.min(3)];
        }
        let (mut slopes, mut of_lik) = (vec![0.0; dim], vec![0.0; dim]);
        let rows = model.rows().unwrap();
        rows.log_prior(&u, &mut slopes);
        rows.log_lik(&u, Rows::All, &mut rows.scratch(), &mut of_lik);
        for k in scales.end..dim {
            let slope = slopes[k] + of_lik[k];
            assert!(
                (slope + u[k]).abs() < 1e-7,
                "{formula}, {scale}: {slope} at {}",
                u[k]
            );
        }
    }
}

/// Coordinates by parabolas pay where rows share their groups, or where few columns have effects.
#[test]
fn designs_of_many_cells_do_not_suit_whitening() {
    let with = |crossed: bool, slopes: usize, n: usize| {
        let mut design = measured_design(false, Shape::default(), n);
        add_intercepts(&mut design);
        if crossed {
            // Every row is a cell of its own.
            design.groups[0].index = (0..n as u32).collect();
        }
        design.group_terms[0].z = ndarray::Array2::from_shape_fn((n, 1 + slopes), |(i, j)| {
            ((i + 1) as f64).powi(j as i32)
        });
        suits_whitening(&design)
    };
    assert!(with(false, 0, 60) && with(false, 1, 60) && with(false, 3, 400));
    assert!(with(true, 0, 60) && with(true, 1, 60));
    assert!(!with(true, 2, 60));
    assert!(!with(true, 0, 20_000));
    let mut ungrouped = measured_design(false, Shape::default(), 60);
    ungrouped.group_terms.clear();
    assert!(!suits_whitening(&ungrouped));
}

#[test]
fn curvature_of_the_prior_agrees_with_finite_differences() {
    for parametrisation in ["non-centred", "centred", "auto"] {
        let model = crossed(&ModelOptions {
            well_known: vec![vec![true, false, true, true], vec![true, true, false]],
            ..options(
                &[("parametrisation", parametrisation)],
                &[("b", "normal(0.3, 2)"), ("cor", "lkj(2)")],
            )
        });
        let dim = model.dim();
        let mut rng = stream(70, 0, Purpose::Data);
        let mut u: Vec<f64> = (0..dim).map(|_| rng.random_range(-0.7..0.7)).collect();
        let mut hessian = vec![0.0; dim * dim];
        model
            .rows()
            .unwrap()
            .add_neg_hessian_log_prior(&u, &mut hessian);
        let (mut above, mut below) = (vec![0.0; dim], vec![0.0; dim]);
        for j in 0..dim {
            let centre = u[j];
            u[j] = centre + 1e-5;
            model.rows().unwrap().log_prior(&u, &mut above);
            u[j] = centre - 1e-5;
            model.rows().unwrap().log_prior(&u, &mut below);
            u[j] = centre;
            for i in 0..dim {
                let expected = (below[i] - above[i]) / 2e-5;
                let found = hessian[i * dim + j];
                assert!(
                    (found - expected).abs() < 1e-5 * (1.0 + expected.abs()),
                    "{i} {j}"
                );
            }
        }
    }
}

#[test]
fn large_models_say_that_curvature_is_too_dear() {
    let n = 1000;
    let table = table_of(vec![
        ("y", (0..n).map(|i| f64::from(i % 13)).collect()),
        ("g", (0..n).map(|i| f64::from(i % 390)).collect()),
    ]);
    let small = options(&[], &[]);
    let has_dense_curvature = |formula: &str| {
        let model = built::<Mixed>(&table, formula, ResponseUse::Number, &small).unwrap();
        model.density().unwrap().has_dense_curvature()
    };
    assert!(has_dense_curvature("y ~ 1 + (1 | g)"));
    assert!(!has_dense_curvature("y ~ 1 + (1 | g) + (1 | g:y)"));
}

#[test]
fn what_does_not_fit_is_refused_in_one_sentence() {
    let table = table_of(vec![
        ("y", (0..12).map(|i| f64::from(i % 5)).collect()),
        ("k", (0..12).map(|i| f64::from(i % 2)).collect()),
        ("g", (0..12).map(|i| f64::from(i % 3)).collect()),
    ]);
    let refuse = |formula: &str, use_: ResponseUse, family: &str, priors: &[(&str, &str)]| {
        built::<Mixed>(
            &table,
            formula,
            use_,
            &options(&[("family", family)], priors),
        )
        .err()
        .unwrap()
    };
    assert_eq!(
        refuse(
            "k | trials(3) ~ 1 + (1 | g)",
            ResponseUse::Outcome,
            "bernoulli",
            &[]
        ),
        "The outcome `k` has successes among trials; set model.family = \"binomial\""
    );
    assert_eq!(
        refuse("k ~ 1 + (1 | g)", ResponseUse::Outcome, "binomial", &[]),
        "The outcome `k` has no number of trials; set model.family = \"bernoulli\""
    );
    assert_eq!(
        refuse(
            "y ~ 1 + (1 | g)",
            ResponseUse::Count,
            "poisson",
            &[("sigma", "exponential(1)")]
        ),
        "There is no parameter `sigma` to set a prior for; there are intercept, b, sd, b[Intercept], sd[g,Intercept]"
    );
    let message = refuse(
        "y ~ k + (k | g)",
        ResponseUse::Number,
        "gaussian",
        &[("cor", "lkj(0)")],
    );
    assert_eq!(
        message,
        "Prior `lkj(0)` needs arguments above 0; write lkj(eta) with eta above 0"
    );
}

/// With flat priors and without groups the posterior is the likelihood, whose maximum R's
/// `glm(family = Gamma(link = "log"))` and `gamma.shape` find in `gamma.R`.
#[test]
fn the_mode_of_a_gamma_model_is_that_of_glm() {
    let text = std::fs::read_to_string(reference("gamma_r.csv")).unwrap();
    let expected = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap()[1..].parse::<f64>().unwrap()
    };
    let table = load_csv(&reference("gamma_data.csv"));
    let flat = [("intercept", "flat"), ("b", "flat"), ("shape", "flat")];
    let options = options(&[("family", "gamma")], &flat);
    let model = built::<Mixed>(&table, "y ~ x", ResponseUse::Number, &options).unwrap();
    let theta = ["intercept", "x", "shape"].map(|name| expected(&format!("glm:{name}")));
    let (mut u, mut grad) = (vec![0.0; 3], vec![0.0; 3]);
    model.unconstrain(&theta, &mut u);
    let value = log_lik(model.as_ref(), &u, &mut grad);
    assert!((value - expected("glm:log_lik")).abs() < 1e-8, "{value}");
    assert!(grad.iter().all(|slope| slope.abs() < 1e-6), "{grad:?}");
    let mut hessian = vec![0.0; 9];
    model.rows().unwrap().add_neg_hessian_log_lik(
        &u,
        Rows::All,
        &mut model.rows().unwrap().scratch(),
        &mut hessian,
    );
    assert!(ergodic_base::linalg::Cholesky::of(&hessian, 3).is_ok());
}

/// Modes of families are those of `lm`, `survreg` and glmmTMB in `families.R`, of searches in `zero_inflated.R`, and of `survreg` of
/// censored outcomes in `censoring.R`.
#[test]
fn the_modes_of_families_are_those_of_r() {
    for (file, family, parameters) in [
        ("families", "lognormal", &["sigma"][..]),
        ("families", "weibull", &["shape"]),
        ("families", "beta", &["phi"]),
        ("zero_inflated", "zero_inflated_poisson", &["zi"]),
        (
            "zero_inflated",
            "zero_inflated_negative_binomial",
            &["shape", "zi"],
        ),
        ("zero_inflated", "student", &["sigma", "nu"]),
        ("censoring", "lognormal", &["sigma"]),
        ("censoring", "weibull", &["shape"]),
    ] {
        let text = std::fs::read_to_string(reference(&format!("{file}_r.csv"))).unwrap();
        let table = load_csv(&reference(&format!("{file}_data.csv")));
        let expected = |name: &str| {
            let name = format!("{family}:plain:{name},");
            let line = text.lines().find_map(|line| line.strip_prefix(&*name));
            line.unwrap().parse::<f64>().unwrap()
        };
        let uniform = |name: &str| if name == "zi" { "beta(1, 1)" } else { "flat" };
        let mut priors = vec![("intercept", "flat"), ("b", "flat")];
        priors.extend(parameters.iter().map(|name| (*name, uniform(name))));
        let options = options(&[("family", family)], &priors);
        let formula = match file {
            "censoring" => format!("{family} | cens(s_{family}) ~ x"),
            _ => format!("{family} ~ x"),
        };
        let response = Family::find(family).unwrap().definition().response;
        let model = built::<Mixed>(&table, &formula, response, &options).unwrap();
        let mut theta = ["intercept", "x"].map(expected).to_vec();
        theta.extend(parameters.iter().map(|name| match file {
            "families" | "censoring" => expected("parameter"),
            _ => expected(name),
        }));
        let (mut u, mut grad) = (vec![0.0; theta.len()], vec![0.0; theta.len()]);
        model.unconstrain(&theta, &mut u);
        let value = log_lik(model.as_ref(), &u, &mut grad);
        assert!(
            (value - expected("log_lik")).abs() < 1e-8,
            "{family} {value}"
        );
        // Searches by values end where those no longer change; survreg and lm know the slopes.
        let near = match family {
            "lognormal" | "weibull" => 1e-6,
            _ => 1e-3,
        };
        assert!(
            grad.iter().all(|slope| slope.abs() < near),
            "{family} {grad:?}"
        );
    }
}

#[test]
fn a_beta_outcome_is_between_zero_and_one() {
    let table = table_of(vec![
        ("y", vec![0.1, 0.2, 1.0, 0.3, 0.5]),
        ("x", vec![1.0, 2.0, 4.0, 3.0, 6.0]),
    ]);
    let family = options(&[("family", "beta")], &[]);
    let refused = built::<Mixed>(&table, "y ~ x", ResponseUse::Number, &family);
    let sentence = refused.err().unwrap();
    assert!(
        sentence.starts_with(
            "The outcome `y` is 1 in row 3, and outcomes of the family beta are above 0 and below 1; write percentages as shares"
        ),
        "{sentence}"
    );
}

#[test]
fn a_gamma_outcome_is_positive() {
    let table = table_of(vec![
        ("y", vec![1.0, 0.0, 2.0, 3.0, 0.5]),
        ("x", vec![1.0, 2.0, 4.0, 3.0, 6.0]),
    ]);
    let refused = built::<Mixed>(
        &table,
        "y ~ x",
        ResponseUse::Number,
        &options(&[("family", "gamma")], &[]),
    );
    let sentence = refused.err().unwrap();
    assert!(
        sentence.starts_with(
            "The outcome `y` is 0 in row 2, and outcomes of the family gamma are above 0"
        ),
        "{sentence}"
    );
}
