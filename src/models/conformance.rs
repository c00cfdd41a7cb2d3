//! Every registered template on designs of every shape: gradients, sums over rows, transforms, curvature.

use std::sync::Arc;

use ndarray::Array2;
use rand::RngExt as _;
use rand_distr::{Binomial, Distribution as _, Poisson, StandardNormal};

use super::{EXAMPLES, Model, ModelEntry, ModelOptions, REGISTRY, Rows};
use crate::base::allocations::count_during;
use crate::base::rng::{Purpose, stream};
use crate::base::settings::{Kind, Settings, Value};
use crate::data::design::{Design, GroupDesign, GroupFactor, Predictor};
use crate::data::response::{ResponseInfo, ResponseKind, ResponseUse};

/// What a test design has besides covariates and a response.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shape {
    pub trials: bool,
    pub weights: bool,
    pub offset: bool,
    pub no_intercept: bool,
}

/// Rows of the test designs: not a multiple of the rows handled together.
pub(super) const NUM_OBS: usize = 203;

/// A design with three predictors on odd scales, responses drawn from a logistic model.
pub(super) fn design(shape: Shape, num_obs: usize) -> Design {
    let mut rng = stream(61, 0, Purpose::Data);
    let first = usize::from(!shape.no_intercept);
    let columns = 3 + first;
    let (center, scale) = ([2.0, -30.0, 0.5], [0.5, 12.0, 1e-2]);
    let mut x = Array2::<f64>::ones((num_obs, columns));
    let (mut y, mut trials, mut weights, mut offset) = (vec![], vec![], vec![], vec![]);
    for mut row in x.rows_mut() {
        let mut z = -0.3;
        for j in first..columns {
            row[j] = rng.sample(StandardNormal);
            z += 0.6 * row[j];
        }
        let o = if shape.offset {
            rng.random_range(-1.0..1.0)
        } else {
            0.0
        };
        let n: u32 = if shape.trials {
            rng.random_range(1..9)
        } else {
            1
        };
        let p = 1.0 / (1.0 + f64::exp(-z - o));
        y.push(Binomial::new(u64::from(n), p).unwrap().sample(&mut rng) as f64);
        trials.push(f64::from(n));
        weights.push(rng.random_range(0.0..3.0));
        offset.push(o);
    }
    let terms = ["Intercept", "age", "income", "dose"];
    let raw = |values: [f64; 3], intercept: f64| {
        let mut out = if first == 1 { vec![intercept] } else { vec![] };
        out.extend(values);
        out
    };
    Design {
        x,
        // Without an intercept columns are scaled but not centred.
        raw_center: raw(if first == 1 { center } else { [0.0; 3] }, 0.0),
        raw_scale: raw(scale, 1.0),
        terms: terms[1 - first..]
            .iter()
            .map(|&term| term.to_owned())
            .collect(),
        has_intercept: first == 1,
        y,
        trials: shape.trials.then_some(trials),
        weights: shape.weights.then_some(weights),
        offset: shape.offset.then_some(offset),
        row: (0..num_obs as u32).collect(),
        response: ResponseInfo {
            name: "y".to_owned(),
            kind: ResponseKind::Successes,
            counts: Vec::new(),
        },
        reference_levels: Vec::new(),
        rows_total: num_obs,
        rows_used: num_obs,
        dropped: Vec::new(),
        groups: Vec::new(),
        group_terms: Vec::new(),
        columns: Vec::new(),
        transforms: Vec::new(),
        standardize: true,
    }
}

/// The same with a response of numbers on an odd scale, or of overdispersed counts.
pub(super) fn measured_design(counts: bool, shape: Shape, num_obs: usize) -> Design {
    let mut design = design(shape, num_obs);
    let mut rng = stream(64, 0, Purpose::Data);
    let first = usize::from(design.has_intercept);
    let mut y = Vec::with_capacity(num_obs);
    for (i, x) in design.x.rows().into_iter().enumerate() {
        let slopes: f64 = x.iter().skip(first).map(|x| 0.4 * x).sum();
        let noise: f64 = rng.sample(StandardNormal);
        y.push(if counts {
            let offset = design.offset.as_ref().map_or(0.0, |offset| offset[i]);
            Poisson::new((1.2 + slopes + offset + 0.7 * noise).exp())
                .unwrap()
                .sample(&mut rng)
        } else {
            2.4 + 0.3 * (slopes + noise)
        });
    }
    let total: f64 = y.iter().sum();
    let largest = y.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    design.response.kind = if counts {
        ResponseKind::Count { total, largest }
    } else {
        ResponseKind::Number {
            mean: total / num_obs as f64,
            sd: 0.3,
            range: [0.0, largest],
        }
    };
    design.y = y;
    design
}

/// Options of every kind: prior families, scale of priors, scale of reports.
pub(super) fn all_options() -> Vec<ModelOptions> {
    let priors = |texts: &[(&str, &str)]| {
        texts
            .iter()
            .map(|&(class, text)| (class.to_owned(), text.to_owned()))
            .collect::<Vec<_>>()
    };
    let mut options = Vec::new();
    for (standardize, report_standardized) in
        [(true, false), (false, false), (true, true), (false, true)]
    {
        for priors in [
            priors(&[]),
            priors(&[
                ("b", "student_t(3, 0.1, 2.5)"),
                ("intercept", "normal(1, 2)"),
            ]),
            priors(&[("b", "laplace(0, 0.7)"), ("intercept", "cauchy(0, 3)")]),
            priors(&[("b", "flat"), ("intercept", "student_t(4, -1, 1)")]),
        ] {
            options.push(ModelOptions {
                priors,
                standardize,
                report_standardized,
                ..ModelOptions::default()
            });
        }
    }
    options
}

/// A response of five categories, one of them never seen, without predictors.
pub(super) fn categorical_design(weighted: bool, num_obs: usize) -> Design {
    let mut rng = stream(63, 0, Purpose::Data);
    let levels: Vec<String> = ["a", "b", "c", "d", "e"].map(str::to_owned).to_vec();
    let y = (0..num_obs)
        .map(|_| [0.0, 0.0, 0.0, 3.0, 1.0, 4.0][rng.random_range(0..6)])
        .collect();
    let shape = Shape {
        weights: weighted,
        ..Shape::default()
    };
    Design {
        x: Array2::ones((num_obs, 1)),
        raw_center: vec![0.0],
        raw_scale: vec![1.0],
        terms: vec!["Intercept".to_owned()],
        y,
        response: ResponseInfo {
            name: "y".to_owned(),
            kind: ResponseKind::Categories { levels },
            counts: Vec::new(),
        },
        ..design(shape, num_obs)
    }
}

/// Rows for the small examples: a numeric response, or two columns without one, from two clusters with far values.
pub(super) fn example_design(response_use: ResponseUse, weighted: bool, num_obs: usize) -> Design {
    let mut rng = stream(64, 0, Purpose::Data);
    let mut value = || {
        let cluster = if rng.random::<bool>() { -1.0 } else { 1.5 };
        let noise: f64 = rng.sample(StandardNormal);
        cluster + noise + 0.3 * noise.powi(3)
    };
    let y: Vec<f64> = (0..num_obs).map(|_| value()).collect();
    let absent = response_use == ResponseUse::Absent;
    let mut column = || (0..num_obs).map(|_| value()).collect();
    let columns: Vec<(String, Predictor)> = ["x1", "x2"]
        .iter()
        .filter(|_| absent)
        .map(|name| ((*name).to_owned(), Predictor::Numeric(column())))
        .collect();
    let kind = if absent {
        ResponseKind::Absent
    } else {
        ResponseKind::Number {
            mean: 0.0,
            sd: 1.0,
            range: [-9.0, 9.0],
        }
    };
    let shape = Shape {
        weights: weighted,
        ..Shape::default()
    };
    Design {
        x: Array2::ones((num_obs, 1)),
        raw_center: vec![0.0],
        raw_scale: vec![1.0],
        terms: vec!["Intercept".to_owned()],
        columns,
        y: if absent { Vec::new() } else { y },
        response: ResponseInfo {
            name: "x".to_owned(),
            kind,
            counts: Vec::new(),
        },
        ..design(shape, num_obs)
    }
}

/// Default settings and other ones.
fn example_options(entry: &ModelEntry) -> Vec<ModelOptions> {
    let mut other = Settings::default();
    for field in entry.spec.fields {
        let value = match field.kind {
            Kind::Choice(words) => Value::Text(words[words.len() - 1].to_owned()),
            _ => Value::Real(0.7),
        };
        other.set(field.key, value);
    }
    [Settings::default(), other]
        .map(|settings| ModelOptions {
            settings: entry.resolve(&settings).unwrap(),
            ..ModelOptions::default()
        })
        .into()
}

/// Designs with words for them, and the options that the template takes for each.
fn cases(entry: &ModelEntry) -> Vec<(String, Design, Vec<ModelOptions>)> {
    if entry.spec.id == "mixed" {
        return mixed_cases();
    }
    let (designs, options) = combinations(entry);
    designs
        .into_iter()
        .map(|(words, design)| (words, design, options.clone()))
        .collect()
}

/// Every family with group terms of every kind, in both parametrisations.
fn mixed_cases() -> Vec<(String, Design, Vec<ModelOptions>)> {
    let families = [
        ("gaussian", ResponseUse::Number, false),
        ("bernoulli", ResponseUse::Outcome, false),
        ("binomial", ResponseUse::Outcome, true),
        ("poisson", ResponseUse::Count, false),
        ("negative_binomial", ResponseUse::Count, false),
    ];
    let priors = [
        vec![],
        vec![
            ("b", "student_t(3, 0.1, 2.5)"),
            ("sd", "exponential(0.7)"),
            ("cor", "lkj(2.5)"),
        ],
    ];
    let mut cases = Vec::new();
    for (family, response, trials) in families {
        let shape = Shape {
            trials,
            offset: trials,
            weights: !trials,
            no_intercept: false,
        };
        for crossed in [false, true] {
            let mut design = regression_design(response, shape);
            add_group_terms(&mut design, crossed);
            let mut options = Vec::new();
            for (k, priors) in priors.iter().enumerate() {
                for parametrisation in ["non-centred", "centred"] {
                    let mut settings = Settings::default();
                    settings.set("family", Value::Text(family.to_owned()));
                    settings.set("parametrisation", Value::Text(parametrisation.to_owned()));
                    options.push(ModelOptions {
                        settings,
                        priors: priors
                            .iter()
                            .filter(|(key, _)| crossed || *key != "cor")
                            .map(|&(key, text)| (key.to_owned(), text.to_owned()))
                            .collect(),
                        standardize: k == 0,
                        report_standardized: k == 1,
                    });
                }
            }
            cases.push((format!("{family}, crossed: {crossed}"), design, options));
        }
    }
    cases
}

/// Intercepts of five groups; or, `crossed`, three correlated effects of four groups and two independent ones of three.
pub(super) fn add_group_terms(design: &mut Design, crossed: bool) {
    let n = design.num_obs();
    let groups: &[(&str, u32, usize, bool)] = if crossed {
        &[("school", 4, 3, true), ("year", 3, 2, false)]
    } else {
        &[("school", 5, 1, true)]
    };
    for (factor, &(name, levels, effects, correlated)) in groups.iter().enumerate() {
        design.groups.push(GroupFactor {
            name: name.to_owned(),
            levels: (0..levels).map(|level| level.to_string()).collect(),
            index: (0..n as u32)
                .map(|i| (i * 7 + i / (3 + factor as u32)) % levels)
                .collect(),
        });
        let names = ["Intercept", "age", "income"][..effects].iter();
        design.group_terms.push(GroupDesign {
            factor,
            names: names.map(|&name| name.to_owned()).collect(),
            z: Array2::from_shape_fn((n, effects), |(i, j)| design.x[[i, j]] + f64::from(j as u8)),
            scale: [1.0, 0.5, 12.0][..effects].to_vec(),
            correlated,
        });
    }
}

/// A number and a category for each row, without a response.
fn clustered_design(num_obs: usize) -> Design {
    let plain = design(Shape::default(), num_obs);
    let numbers = plain.x.column(1).to_vec();
    let codes = plain.y.iter().map(|&y| y as u32).collect();
    let levels = ["no", "yes"].map(str::to_owned).to_vec();
    let category = Predictor::Categorical {
        levels,
        codes,
        reference: 0,
    };
    Design {
        columns: vec![
            ("age".to_owned(), Predictor::Numeric(numbers)),
            ("smokes".to_owned(), category),
        ],
        y: Vec::new(),
        ..plain
    }
}

/// The design of [`design`] with all terms varying by group: six groups, one of a single row, one of failures only, and
/// one without rows.
pub(super) fn grouped_design(shape: Shape, num_obs: usize) -> Design {
    let mut rng = stream(64, 0, Purpose::Data);
    let mut grouped = design(shape, num_obs);
    let mut index: Vec<u32> = (0..num_obs)
        .map(|_| [0, 0, 0, 1, 1, 3][rng.random_range(0..6)])
        .collect();
    for i in 0..num_obs / 10 {
        index[10 * i] = 5;
        grouped.y[10 * i] = 0.0;
    }
    index[num_obs / 2] = 4;
    grouped.groups = vec![GroupFactor {
        name: "school".to_owned(),
        levels: (1..=6).map(|level| format!("s{level}")).collect(),
        index,
    }];
    grouped.group_terms = vec![GroupDesign {
        factor: 0,
        names: grouped.terms.clone(),
        z: grouped.x.clone(),
        scale: grouped.raw_scale.clone(),
        correlated: true,
    }];
    grouped
}

/// Options of the hierarchical template: both parametrisations, scales of priors and of reports.
pub(super) fn hierarchical_options() -> Vec<ModelOptions> {
    let own = [
        ("mu", "normal(0.5, Sigma/0.3)"),
        ("mu[dose]", "normal(-1)"),
        ("Sigma", "inv_wishart(7.5, 0.4)"),
    ];
    let own: Vec<(String, String)> = own
        .iter()
        .map(|&(key, text)| (key.to_owned(), text.to_owned()))
        .collect();
    let mut options = Vec::new();
    for word in ["centred", "noncentred"] {
        let mut settings = Settings::default();
        settings.set("parametrisation", Value::Text(word.to_owned()));
        for (standardize, report_standardized) in [(true, false), (false, true)] {
            for priors in [Vec::new(), own.clone()] {
                options.push(ModelOptions {
                    settings: settings.clone(),
                    priors,
                    standardize,
                    report_standardized,
                });
            }
        }
    }
    options
}

/// Designs and options of which the template takes all combinations, with words for them.
fn combinations(entry: &ModelEntry) -> (Vec<(String, Design)>, Vec<ModelOptions>) {
    if entry.group == EXAMPLES {
        let response_use = entry.response_use(&Settings::default());
        let designs = [false, true].map(|weighted| {
            let design = example_design(response_use, weighted, NUM_OBS);
            (format!("weighted: {weighted}"), design)
        });
        return (designs.into(), example_options(entry));
    }
    if entry.response_use(&Settings::default()) == ResponseUse::Absent {
        let design = clustered_design(NUM_OBS);
        return (
            vec![("columns".to_owned(), design)],
            vec![ModelOptions::default()],
        );
    }
    if entry.spec.id == "hierarchical" {
        let designs = [
            Shape::default(),
            Shape {
                trials: true,
                weights: true,
                offset: true,
                no_intercept: false,
            },
            Shape {
                no_intercept: true,
                ..Shape::default()
            },
        ]
        .map(|shape| (format!("{shape:?}"), grouped_design(shape, NUM_OBS)));
        return (designs.into(), hierarchical_options());
    }
    if entry.response_use(&Settings::default()) == ResponseUse::Categories {
        let designs = [false, true]
            .map(|weighted| {
                let design = categorical_design(weighted, NUM_OBS);
                (format!("weighted: {weighted}"), design)
            })
            .into();
        let own = [
            ("probabilities", "dirichlet(2)"),
            ("p[c]", "dirichlet(0.01)"),
        ];
        let own = own.map(|(key, text)| (key.to_owned(), text.to_owned()));
        let options = [Vec::new(), own.to_vec()].map(|priors| ModelOptions {
            priors,
            ..ModelOptions::default()
        });
        return (designs, options.into());
    }
    let plain = Shape::default();
    let shapes = [
        plain,
        Shape {
            trials: true,
            ..plain
        },
        Shape {
            trials: true,
            weights: true,
            offset: true,
            no_intercept: false,
        },
        Shape {
            offset: true,
            no_intercept: true,
            ..plain
        },
        Shape {
            no_intercept: true,
            ..plain
        },
    ];
    let response = entry.response_use(&Settings::default());
    let designs = shapes
        .into_iter()
        .filter(|shape| response == ResponseUse::Outcome || !shape.trials || shape.weights)
        .map(|shape| (format!("{shape:?}"), regression_design(response, shape)))
        .collect();
    (designs, options_of(entry))
}

/// A design for a template that reads its response as `response`.
fn regression_design(response: ResponseUse, shape: Shape) -> Design {
    let without_trials = Shape {
        trials: false,
        ..shape
    };
    match response {
        ResponseUse::Number => measured_design(false, without_trials, NUM_OBS),
        ResponseUse::Count => measured_design(true, without_trials, NUM_OBS),
        _ => design(shape, NUM_OBS),
    }
}

/// All options, with priors of the template's positive parameters and its settings.
fn options_of(entry: &ModelEntry) -> Vec<ModelOptions> {
    let positive = [
        "exponential(0.7)",
        "lognormal(0.3, 1.5)",
        "gamma(2, 0.1)",
        "half_normal(3)",
    ];
    let mut options = all_options();
    for (k, options) in options.iter_mut().enumerate() {
        // Every fourth has the defaults.
        for (class, _words) in entry
            .spec
            .priors
            .classes
            .iter()
            .skip(2)
            .filter(|_| k % 4 > 0)
        {
            let text = positive[k % positive.len()].to_owned();
            options.priors.push(((*class).to_owned(), text));
        }
    }
    if entry.spec.id == "student" {
        let mut fixed = options[1].clone();
        fixed.settings.set("nu", Value::Real(4.5));
        fixed.priors.retain(|(key, _)| key != "nu");
        options.push(fixed);
    }
    options
}

/// Calls `check` for every template with a density, design and options.
fn for_each_model(check: impl Fn(&dyn Model, &str)) {
    for_each_registered(|model, what| {
        if model.has_density() {
            check(model, what);
        }
    });
}

/// The same for all templates.
fn for_each_registered(check: impl Fn(&dyn Model, &str)) {
    for entry in REGISTRY {
        for (words, design, options) in cases(entry) {
            let design = Arc::new(design);
            for options in &options {
                let model = build(entry, &design, options);
                let scales = (options.standardize, options.report_standardized);
                check(
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
    let step = 1e-5;
    let mut at = u.to_vec();
    (0..u.len())
        .map(|j| {
            at[j] = u[j] + step;
            let above = f(&at);
            at[j] = u[j] - step;
            let below = f(&at);
            at[j] = u[j];
            (above - below) / (2.0 * step)
        })
        .collect()
}

#[test]
fn gradients_agree_with_finite_differences() {
    for_each_model(|model, what| {
        let dim = model.dim();
        let mut scratch = model.scratch();
        for u in positions(dim) {
            let mut grad = vec![0.0; dim];
            let mut ignored = vec![0.0; dim];
            model.log_prior(&u, &mut grad);
            let numeric = slopes(&u, |u| model.log_prior(u, &mut ignored));
            assert_near(&grad, &numeric, 1e-6, &format!("prior, {what}"));

            grad.fill(0.0);
            model.log_lik(&u, Rows::All, &mut scratch, &mut grad);
            let numeric = slopes(&u, |u| {
                model.log_lik(u, Rows::All, &mut scratch, &mut ignored)
            });
            assert_near(&grad, &numeric, 1e-6, &format!("likelihood, {what}"));
        }
    });
}

#[test]
fn curvature_of_the_likelihood_agrees_with_finite_differences_of_the_gradient() {
    for_each_model(|model, what| {
        let dim = model.dim();
        let mut scratch = model.scratch();
        let u = &positions(dim)[1];
        let mut hessian = vec![0.0; dim * dim];
        model.add_neg_hessian_log_lik(u, Rows::All, &mut scratch, &mut hessian);
        let mut grad = vec![0.0; dim];
        for i in 0..dim {
            let numeric = slopes(u, |u| {
                grad.fill(0.0);
                model.grad_log_lik(u, Rows::All, &mut scratch, &mut grad);
                -grad[i]
            });
            assert_near(&hessian[i * dim..(i + 1) * dim], &numeric, 1e-6, what);
        }
    });
}

/// Where the prior is smooth and log-concave; elsewhere the curvature is a documented stand-in.
#[test]
fn curvature_of_normal_priors_agrees_with_finite_differences_of_the_gradient() {
    for entry in REGISTRY {
        let response = entry.response_use(&Settings::default());
        // Other templates compare the curvature of their own priors in their own files.
        let own = matches!(response, ResponseUse::Categories | ResponseUse::Absent);
        if own || entry.group == EXAMPLES || matches!(entry.spec.id, "mixed" | "hierarchical") {
            continue;
        }
        for no_intercept in [false, true] {
            let shape = Shape {
                no_intercept,
                ..Shape::default()
            };
            let design = Arc::new(regression_design(response, shape));
            for standardize in [true, false] {
                let mut priors = vec![("b".to_owned(), "normal(0.3, 2)".to_owned())];
                if !no_intercept {
                    priors.push(("intercept".to_owned(), "student_t(4, 0, 50)".to_owned()));
                }
                let options = ModelOptions {
                    priors,
                    standardize,
                    ..ModelOptions::default()
                };
                let model = build(entry, &design, &options);
                let dim = model.dim();
                // Small, so that the Student-t intercept on the raw scale stays where it is log-concave.
                let u: Vec<f64> = positions(dim)[0].iter().map(|u| 0.1 * u).collect();
                let mut hessian = vec![0.0; dim * dim];
                model.add_neg_hessian_log_prior(&u, &mut hessian);
                let mut grad = vec![0.0; dim];
                for i in 0..dim {
                    let numeric = slopes(&u, |u| {
                        model.log_prior(u, &mut grad);
                        -grad[i]
                    });
                    let row = &hessian[i * dim..(i + 1) * dim];
                    assert_near(
                        row,
                        &numeric,
                        1e-6,
                        &format!("{standardize} {no_intercept}"),
                    );
                }
            }
        }
    }
}

#[test]
fn sums_over_rows_scores_and_single_values_agree() {
    for_each_model(|model, what| {
        let (dim, n) = (model.dim(), model.num_obs());
        let mut scratch = model.scratch();
        let u = &positions(dim)[1];
        let mut total = vec![0.0; dim];
        let value = model.log_lik(u, Rows::All, &mut scratch, &mut total);

        // Without the value, the same gradient.
        let mut grad = vec![0.0; dim];
        model.grad_log_lik(u, Rows::All, &mut scratch, &mut grad);
        assert_near(&grad, &total, 1e-13, what);

        // Spans of odd lengths and picks, added up.
        let picks: Vec<u32> = (100..n as u32).rev().collect();
        let parts = [
            Rows::Span { start: 0, len: 1 },
            Rows::Span { start: 1, len: 61 },
            Rows::Span { start: 62, len: 38 },
            Rows::Pick(&picks),
        ];
        let (mut part_value, mut part_grad) = (0.0, vec![0.0; dim]);
        grad.fill(0.0);
        for rows in parts {
            part_value += model.log_lik(u, rows, &mut scratch, &mut part_grad);
            model.grad_log_lik(u, rows, &mut scratch, &mut grad);
        }
        assert_near(&[part_value], &[value], 1e-12, what);
        assert_near(&part_grad, &total, 1e-12, what);
        assert_near(&grad, &total, 1e-12, what);

        let mut pointwise = vec![0.0; n];
        model.pointwise(u, Rows::All, &mut scratch, &mut pointwise);
        assert_near(&[pointwise.iter().sum()], &[value], 1e-12, what);

        // A row given twice counts twice.
        let rows = [5_u32, 17, 5, 200, 0, 3, 3, 8, 9];
        let mut scores = vec![0.0; rows.len() * dim];
        model.scores(u, Rows::Pick(&rows), &mut scratch, &mut scores);
        let mut sum = vec![0.0; dim];
        for score in scores.chunks_exact(dim) {
            for (sum, score) in sum.iter_mut().zip(score) {
                *sum += score;
            }
        }
        grad.fill(0.0);
        model.grad_log_lik(u, Rows::Pick(&rows), &mut scratch, &mut grad);
        assert_near(&grad, &sum, 1e-12, what);
    });
}

#[test]
fn differences_from_an_anchor_are_differences_of_gradients() {
    for_each_model(|model, what| {
        let dim = model.dim();
        let mut scratch = model.scratch();
        let at = positions(dim);
        let anchor = model.anchor_rows(&at[0]);
        let rows = [7_u32, 1, 202, 7, 90, 91, 92, 93, 94, 95];
        let pick = Rows::Pick(&rows);
        let (mut here, mut there, mut difference) =
            (vec![0.0; dim], vec![0.0; dim], vec![0.0; dim]);
        model.grad_log_lik(&at[1], pick, &mut scratch, &mut here);
        model.grad_log_lik(&at[0], pick, &mut scratch, &mut there);
        for (here, there) in here.iter_mut().zip(&there) {
            *here -= there;
        }
        model.grad_difference(&at[1], pick, &anchor, &mut scratch, &mut difference);
        assert_near(&difference, &here, 1e-12, what);

        let mut scores = vec![0.0; rows.len() * dim];
        model.score_differences(&at[1], pick, &anchor, &mut scratch, &mut scores);
        for j in 0..dim {
            let sum: f64 = scores.iter().skip(j).step_by(dim).sum();
            assert_near(&[sum], &here[j..=j], 1e-12, what);
        }
        difference.fill(0.0);
        model.grad_difference(&at[0], Rows::All, &anchor, &mut scratch, &mut difference);
        assert!(
            difference.iter().all(|d| d.abs() < 1e-10),
            "{what}: {difference:?}"
        );
    });
}

#[test]
fn transforms_are_inverse_to_each_other() {
    for_each_model(|model, what| {
        let mut theta = vec![0.0; model.params().len()];
        let mut again = theta.clone();
        let mut back = vec![0.0; model.dim()];
        for (k, u) in positions(model.dim()).iter().enumerate() {
            model.constrain(u, &mut theta);
            model.unconstrain(&theta, &mut back);
            model.constrain(&back, &mut again);
            assert_near(&again, &theta, 1e-11, what);
            // A covariance loses digits of its factor, by its condition number: far out nearly all of them.
            // Correlations near ±1 say little about their coordinates.
            match (model.hierarchy().is_some(), k) {
                _ if what.starts_with("mixed") => assert_near(&back, u, 1e-6, what),
                (false, _) => assert_near(&back, u, 1e-12, what),
                (true, 0 | 1) => assert_near(&back, u, 1e-9, what),
                (true, _) => {}
            }
        }
    });
}

#[test]
fn models_without_a_density_say_so() {
    for_each_registered(|model, what| {
        if model.has_density() {
            return;
        }
        let dim = model.dim();
        assert_eq!(dim, model.params().len(), "{what}");
        let (mut grad, mut scratch) = (vec![0.0; dim], model.scratch());
        let u: Vec<f64> = (0..dim).map(|j| j as f64).collect();
        assert!(model.log_prior(&u, &mut grad).is_nan(), "{what}");
        let value = model.log_lik(&u, Rows::All, &mut scratch, &mut grad);
        assert!(value.is_nan() && grad.iter().all(|g| g.is_nan()), "{what}");
        let (mut theta, mut back) = (vec![0.0; dim], vec![0.0; dim]);
        model.constrain(&u, &mut theta);
        model.unconstrain(&theta, &mut back);
        assert_eq!((&theta, &back), (&u, &u), "{what}");
    });
}

#[test]
fn blocks_hold_every_coordinate_once() {
    for_each_model(|model, what| {
        let mut next = 0;
        for block in model.blocks() {
            assert_eq!(block.coordinates.start, next, "{what}: {}", block.name);
            assert!(!block.coordinates.is_empty() && !block.name.is_empty());
            next = block.coordinates.end;
        }
        assert_eq!(next, model.dim(), "{what}");
    });
}

#[test]
fn passes_over_rows_do_not_allocate() {
    let picks: Vec<u32> = (0..50).map(|k| k * 4).collect();
    for_each_model(|model, what| {
        let dim = model.dim();
        let mut scratch = model.scratch();
        let at = positions(dim);
        let anchor = model.anchor_rows(&at[0]);
        let (mut grad, mut hessian) = (vec![0.0; dim], vec![0.0; dim * dim]);
        let mut theta = vec![0.0; model.params().len()];
        let mut scores = vec![0.0; picks.len() * dim];
        let pick = Rows::Pick(&picks);
        let count = count_during(|| {
            let s = &mut scratch;
            model.log_prior(&at[1], &mut grad);
            model.log_lik(&at[1], Rows::All, s, &mut grad);
            model.grad_log_lik(&at[1], pick, s, &mut grad);
            model.grad_difference(&at[1], pick, &anchor, s, &mut grad);
            model.scores(&at[1], pick, s, &mut scores);
            model.score_differences(&at[1], pick, &anchor, s, &mut scores);
            model.add_neg_hessian_log_lik(&at[1], pick, s, &mut hessian);
            model.add_neg_hessian_log_prior(&at[1], &mut hessian);
            model.constrain(&at[1], &mut theta);
        });
        assert_eq!(count, 0, "{what}");
    });
}

#[test]
fn linear_rows_say_what_the_passes_say() {
    for_each_model(|model, what| {
        let Some(linear) = model.linear_rows() else {
            return;
        };
        let dim = model.dim();
        let mut scratch = model.scratch();
        for u in positions(dim) {
            for row in 0..20_u32 {
                let pick = Rows::Pick(std::slice::from_ref(&row));
                let (mut value, mut score) = ([0.0], vec![0.0; dim]);
                model.pointwise(&u, pick, &mut scratch, &mut value);
                model.scores(&u, pick, &mut scratch, &mut score);
                let mut hessian = vec![0.0; dim * dim];
                model.add_neg_hessian_log_lik(&u, pick, &mut scratch, &mut hessian);
                let row = row as usize;
                let [log_p, slope, second] = linear.derivatives(row, linear.predictor(row, &u));
                let a = linear.covariates(row);
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
            let slopes = terms.map(|[_z, _value, slope]| slope);
            let (mut sum, mut expected) = (vec![0.5; dim], vec![0.5; dim]);
            linear.add_weighted_covariates(Rows::Pick(&picks), &slopes, &mut sum);
            model.grad_log_lik(&u, Rows::Pick(&picks), &mut scratch, &mut expected);
            assert_near(&sum, &expected, 1e-12, what);
        }
    });
}

#[test]
fn prior_rows_say_what_the_prior_says() {
    use super::LinearRows as _;
    for_each_model(|model, what| {
        let Some(rows) = model.prior_rows() else {
            return;
        };
        let dim = model.dim();
        for u in positions(dim) {
            let mut grad = vec![0.0; dim];
            let value = model.log_prior(&u, &mut grad);
            let (mut sum, mut slopes) = (0.0, vec![0.0; dim]);
            for row in 0..rows.count() {
                let [log_p, slope, _second] = rows.derivatives(row, rows.predictor(row, &u));
                sum += log_p;
                for (total, t) in slopes.iter_mut().zip(rows.covariates(row)) {
                    *total += slope * t;
                }
            }
            assert_near(&[sum], &[value], 1e-12, what);
            assert_near(&slopes, &grad, 1e-12, what);
        }
    });
}
