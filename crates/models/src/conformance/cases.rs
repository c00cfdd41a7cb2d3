//! Designs and options that templates are tried with.

use std::sync::Arc;

use ndarray::{Array2, s};
use rand::RngExt as _;
use rand_distr::StandardNormal;

use super::options::{example_options, options_of};
use crate::design::censoring::Censoring;
use crate::design::design_term::{DesignTerm, TermPart};
use crate::design::{
    Design, GroupDesign, GroupFactor, Predictor, ResponseInfo, ResponseKind, ResponseUse,
};
use crate::families::{Family, Link};
use crate::formula::{Factor, Function};

use crate::mixed::WorkingRows;
use crate::testing::regressions::{NUM_OBS, Shape, design, measured_design};
use crate::{DefaultPriors, EXAMPLES, ModelEntry, ModelOptions, Storage};
use ergodic_base::settings::{Settings, Value};
use ergodic_base::{Purpose, stream};

/// A response of five ordered levels, of which counts are the places.
fn ordered_design(shape: Shape, num_obs: usize) -> Design {
    let mut design = measured_design(true, shape, num_obs);
    let levels = ["none", "low", "mid", "high", "top"].map(str::to_owned);
    for y in &mut design.y {
        *y = (*y + 1.0).min(levels.len() as f64);
    }
    design.response.kind = ResponseKind::Ordered {
        levels: levels.to_vec(),
    };
    design
}

/// A response of four levels without an order, of which the first is that of the rows with one of the counts.
fn unordered_design(shape: Shape, num_obs: usize) -> Design {
    // One linear predictor has an offset, several have none.
    let shape = Shape {
        offset: false,
        ..shape
    };
    let mut design = measured_design(true, shape, num_obs);
    let levels = ["red", "green", "blue", "none"].map(str::to_owned);
    for y in &mut design.y {
        *y = [2.0, 1.0, 4.0, 3.0][(*y as usize).min(3)];
    }
    design.response.kind = ResponseKind::Unordered {
        levels: levels.to_vec(),
    };
    design
}

/// A response of five categories, one of them never seen, without predictors.
pub fn categorical_design(weighted: bool, num_obs: usize) -> Design {
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
        terms: vec!["Intercept".into()],
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
pub fn example_design(response_use: ResponseUse, weighted: bool, num_obs: usize) -> Design {
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
            function: None,
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
        terms: vec!["Intercept".into()],
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

/// Designs with words for them, and the options that the template takes for each.
pub(super) fn cases(entry: &ModelEntry) -> Vec<(String, Design, Vec<ModelOptions>)> {
    if entry.spec.id == "mixed" {
        return mixed_cases();
    }
    let (designs, mut options) = combinations(entry);
    let others = (entry.storage.iter()).filter(|storage| !storage.is_default());
    let others = others.map(|&storage| ModelOptions {
        storage,
        ..options[0].clone()
    });
    options.extend(others.collect::<Vec<_>>());
    designs
        .into_iter()
        .map(|(words, design)| (words, design, options.clone()))
        .collect()
}

/// Every family with group terms of every kind: no group, all and some of them sampled as they are, and all of them as the
/// parabolas of rows tell.
fn mixed_cases() -> Vec<(String, Design, Vec<ModelOptions>)> {
    let priors = [
        vec![],
        vec![
            ("b", "student_t(3, 0.1, 2.5)"),
            ("sd", "exponential(0.7)"),
            ("cor", "lkj(2.5)"),
        ],
    ];
    let mut cases = Vec::new();
    for &family in Family::ALL {
        let trials = family == Family::Binomial;
        let shape = Shape {
            trials,
            offset: trials,
            weights: !trials,
            no_intercept: false,
        };
        for crossed in [false, true] {
            let mut design = design_of(family, shape, NUM_OBS);
            add_group_terms(&mut design, crossed);
            let mut options = Vec::new();
            for (k, priors) in priors.iter().enumerate() {
                for parametrisation in ["non-centred", "centred", "auto"] {
                    let mut settings = Settings::default();
                    settings.set("family", Value::Text(family.id().to_owned()));
                    settings.set("parametrisation", Value::Text(parametrisation.to_owned()));
                    options.push(ModelOptions {
                        defaults: DefaultPriors::default(),
                        settings,
                        priors: priors
                            .iter()
                            .filter(|(key, _)| crossed || *key != "cor")
                            .map(|&(key, text)| (key.to_owned(), text.to_owned()))
                            .collect(),
                        standardize: k == 0,
                        report_standardized: k == 1,
                        well_known: design
                            .groups
                            .iter()
                            .map(|group| (0..group.levels.len()).map(|g| g % 3 != 1).collect())
                            .collect(),
                        working: None,
                        storage: Storage::F64,
                    });
                }
            }
            cases.push((
                format!("{}, crossed: {crossed}", family.id()),
                design,
                options,
            ));
        }
        for (name, add) in [
            ("intercepts", add_intercepts as fn(&mut Design)),
            ("slopes", add_slopes),
        ] {
            let mut design = design_of(family, shape, NUM_OBS);
            add(&mut design);
            let mut settings = Settings::default();
            settings.set("family", Value::Text(family.id().to_owned()));
            settings.set("parametrisation", Value::Text("auto".to_owned()));
            let options = ModelOptions {
                settings,
                standardize: true,
                working: Some(Arc::new(some_working_rows(design.num_obs()))),
                ..ModelOptions::default()
            };
            let name = format!("{}, parabolas of {name}", family.id());
            cases.push((name, design, vec![options]));
        }
    }
    cases.extend(curve_cases());
    cases
}

/// A smooth curve alone in every family; beside effects of groups that are centred, all and some of them, and beside such as
/// parabolas of rows tell, for some.
fn curve_cases() -> Vec<(String, Design, Vec<ModelOptions>)> {
    let mut cases = Vec::new();
    for &family in Family::ALL {
        let shape = Shape {
            trials: family == Family::Binomial,
            ..Shape::default()
        };
        let mut design = design_of(family, shape, NUM_OBS);
        add_curve(&mut design);
        let mut settings = Settings::default();
        settings.set("family", Value::Text(family.id().to_owned()));
        settings.set("parametrisation", Value::Text("auto".to_owned()));
        let plain = ModelOptions {
            settings,
            ..ModelOptions::default()
        };
        let others = ModelOptions {
            standardize: !plain.standardize,
            report_standardized: !plain.report_standardized,
            priors: [("sd", "exponential(0.7)")]
                .map(|(key, text)| (key.to_owned(), text.to_owned()))
                .into(),
            ..plain.clone()
        };
        if [Family::Gaussian, Family::Poisson, Family::Ordered].contains(&family) {
            let mut grouped = design.clone();
            add_group_terms(&mut grouped, true);
            let groups = grouped.groups.iter();
            let known = |levels: usize| (0..levels).map(|g| g % 3 != 1).collect();
            let centred = ModelOptions {
                well_known: groups.map(|group| known(group.levels.len())).collect(),
                ..others.clone()
            };
            let name = format!("{}, curve and groups", family.id());
            cases.push((name, grouped, vec![centred]));
            let mut grouped = design.clone();
            add_intercepts(&mut grouped);
            let by_parabolas = ModelOptions {
                working: Some(Arc::new(some_working_rows(grouped.num_obs()))),
                ..plain.clone()
            };
            let name = format!("{}, curve and parabolas of intercepts", family.id());
            cases.push((name, grouped, vec![by_parabolas]));
        }
        cases.push((
            format!("{}, curve", family.id()),
            design,
            vec![plain, others],
        ));
    }
    cases
}

/// What bends a curve along the first predictor: three columns more.
pub fn add_curve(design: &mut Design) {
    let factor = Factor::Call(
        Function::Smooth { k: 5 },
        Box::new(Factor::Column("age".to_owned())),
    );
    let (n, p) = (design.num_obs(), design.num_columns());
    let mut x = Array2::zeros((n, p + 3));
    x.slice_mut(s![.., ..p]).assign(&design.x);
    for (j, scale) in [0.08, 0.04, 0.01].into_iter().enumerate() {
        for i in 0..n {
            x[[i, p + j]] = (f64::from(j as u32 + 1) * 1.3 * design.x[[i, 1]]).cos();
        }
        design.raw_center.push(0.0);
        design.raw_scale.push(scale);
        design.terms.push(DesignTerm::of(vec![TermPart {
            factor: factor.clone(),
            level: None,
            number: Some(j + 1),
        }]));
    }
    design.x = x;
}

/// Rows of most different weights, one without any.
pub fn some_working_rows(n: usize) -> WorkingRows {
    let weights: Vec<f64> = (0..n)
        .map(|i| [0.0, 0.3, 1.1, 7.0][i % 4] * (1.0 + i as f64 / n as f64))
        .collect();
    let response = |i: usize| (i as f64 * 0.7).sin();
    WorkingRows {
        scores: (0..n).map(|i| weights[i] * response(i)).collect(),
        weights,
    }
}

/// Intercepts of two classes in each of four schools, of these, and of three years across them.
pub fn add_intercepts(design: &mut Design) {
    let n = design.num_obs();
    let class = |i: u32| (i * 5 + i / 9) % 8;
    let index_of = |factor: usize, i: u32| match factor {
        0 => class(i) / 2,
        1 => class(i),
        _ => (i * 7 + i / 4) % 3,
    };
    let groups = [("school", 4), ("class", 8), ("year", 3)];
    for (factor, (name, levels)) in groups.into_iter().enumerate() {
        design.groups.push(GroupFactor {
            name: name.to_owned(),
            levels: (0..levels).map(|level| level.to_string()).collect(),
            index: (0..n as u32).map(|i| index_of(factor, i)).collect(),
        });
        design.group_terms.push(GroupDesign {
            factor,
            names: vec!["Intercept".to_owned()],
            z: Array2::from_elem((n, 1), 1.0),
            scale: vec![1.0],
            correlated: true,
        });
    }
}

/// Adds intercepts and slopes: correlated with the intercepts of schools, independent of those of classes.
pub fn add_slopes(design: &mut Design) {
    add_intercepts(design);
    let n = design.num_obs();
    for (t, term) in design.group_terms[..2].iter_mut().enumerate() {
        term.names.push("age".to_owned());
        term.z = Array2::from_shape_fn((n, 2), |(i, j)| match j {
            0 => 1.0,
            _ => design.x[[i, 1]] + 0.3,
        });
        term.scale.push(0.5);
        term.correlated = t == 0;
    }
}

/// Intercepts of five groups; or, `crossed`, three correlated effects of four groups and two independent ones of three.
pub fn add_group_terms(design: &mut Design, crossed: bool) {
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
pub(super) fn clustered_design(num_obs: usize) -> Design {
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
pub fn grouped_design(shape: Shape, num_obs: usize) -> Design {
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
        names: grouped.terms.iter().map(String::from).collect(),
        z: grouped.x.clone(),
        scale: grouped.raw_scale.clone(),
        correlated: true,
    }];
    grouped
}

/// Options of the hierarchical template: both parametrisations, scales of priors and of reports.
pub fn hierarchical_options() -> Vec<ModelOptions> {
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
    for word in ["centred", "non-centred"] {
        let mut settings = Settings::default();
        settings.set("parametrisation", Value::Text(word.to_owned()));
        for (standardize, report_standardized) in [(true, false), (false, true)] {
            for priors in [Vec::new(), own.clone()] {
                options.push(ModelOptions {
                    defaults: DefaultPriors::default(),
                    settings: settings.clone(),
                    priors,
                    standardize,
                    report_standardized,
                    ..ModelOptions::default()
                });
            }
        }
    }
    options
}

/// Designs and options of which the template takes all combinations, with words for them.
pub(super) fn combinations(entry: &ModelEntry) -> (Vec<(String, Design)>, Vec<ModelOptions>) {
    if entry.group == EXAMPLES {
        let response_use = entry.response_use(&Settings::default());
        let designs = [false, true].map(|weighted| {
            let design = example_design(response_use, weighted, NUM_OBS);
            (format!("weighted: {weighted}"), design)
        });
        return (designs.into(), example_options(entry));
    }
    if entry.response_use(&Settings::default()) == ResponseUse::Absent {
        let mut design = clustered_design(NUM_OBS);
        if entry.spec.id == "topics" {
            // Its documents are the groups, its words the categories.
            design.columns.remove(0);
            add_group_terms(&mut design, false);
        }
        return (
            vec![("columns".to_owned(), design)],
            vec![ModelOptions::default()],
        );
    }
    if entry.spec.id == "factorization" {
        return crate::testing::factorization::cases(NUM_OBS as u32);
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
        .filter(|shape| response != ResponseUse::Ordered || !shape.no_intercept)
        .map(|shape| (format!("{shape:?}"), regression_design(response, shape)))
        .collect();
    (designs, options_of(entry))
}

/// A design for a template that reads its response as `response`.
pub(super) fn regression_design(response: ResponseUse, shape: Shape) -> Design {
    sized_design(response, shape, NUM_OBS)
}

fn sized_design(response: ResponseUse, shape: Shape, rows: usize) -> Design {
    let without_trials = Shape {
        trials: false,
        ..shape
    };
    match response {
        ResponseUse::Number => measured_design(false, without_trials, rows),
        ResponseUse::Count => measured_design(true, without_trials, rows),
        ResponseUse::Ordered => ordered_design(without_trials, rows),
        ResponseUse::Unordered => unordered_design(without_trials, rows),
        _ => design(shape, rows),
    }
}

/// The design of [`regression_design`] with responses that `family` can have, in `rows` rows.
pub(in super::super) fn design_of(family: Family, shape: Shape, rows: usize) -> Design {
    let definition = family.definition();
    let mut design = sized_design(definition.response, shape, rows);
    if definition.link == Link::Logit && !definition.is_whole {
        design.y.iter_mut().for_each(|y| *y /= 1.0 + *y);
    }
    if family == Family::GaussianSe {
        design.se = Some((0..rows).map(|i| 0.1 + 0.02 * (i % 7) as f64).collect());
    }
    design
}

/// Some rows of a design of positive numbers known only to be larger, some to be smaller.
pub(in super::super) fn censor(design: &mut Design) {
    use Censoring::{Left, Right, Seen};
    let statuses = [Seen, Right, Seen, Left, Right].into_iter().cycle();
    design.censoring = Some(statuses.take(design.y.len()).collect());
}
