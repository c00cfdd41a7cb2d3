//! The templates written in the language: the same densities, and the same posteriors.

use super::*;
use ergodic_core::Fit;
use ergodic_core::design::{Design, MemoryColumns, ModelFrame, ResponseUse, Values};
use ergodic_core::models::{self, ModelOptions};
use rand_distr::{Distribution as _, Poisson, StandardNormal};

const ROWS: usize = 240;

/// Two predictors, a group, and outcomes of every kind that depend on them.
fn table() -> MemoryColumns {
    let mut rng = ergodic_base::stream(11, 0, ergodic_base::Purpose::Data);
    let levels = ["a", "b", "c", "d", "e"];
    let mut columns: Vec<(String, Vec<f64>)> = ["age", "fee", "yes", "size", "count", "level"]
        .iter()
        .map(|name| ((*name).to_owned(), Vec::new()))
        .collect();
    let mut groups = Vec::new();
    for row in 0..ROWS {
        let group = row * 7 % 5;
        let age: f64 = 3.0 + 2.0 * rng.sample::<f64, _>(StandardNormal);
        let fee: f64 = rng.sample(StandardNormal);
        let z = -0.9 + 0.3 * age - 0.7 * fee;
        let noise: f64 = rng.sample(StandardNormal);
        let effect = [0.8, -0.3, 0.1, 1.1, -1.2][group];
        let count: f64 = Poisson::new((0.4 * z).exp()).unwrap().sample(&mut rng);
        let yes = f64::from(u8::from(rng.random::<f64>() < 1.0 / (1.0 + (-z).exp())));
        let values = [
            age,
            fee,
            yes,
            2.0 + z + 0.8 * noise,
            count,
            z + effect + noise,
        ];
        for ((_, column), value) in columns.iter_mut().zip(values) {
            column.push(value);
        }
        groups.push(Some(levels[group].to_owned()));
    }
    let mut all: Vec<(String, Values)> = (columns.into_iter())
        .map(|(name, values)| (name, Values::Numbers(values)))
        .collect();
    all.push(("group".to_owned(), Values::Texts(groups)));
    MemoryColumns::new("t", all).unwrap()
}

/// A template's model and the same one as text, with the names that a quantity has in both.
struct Pair {
    template: Arc<dyn Model>,
    own: Arc<dyn Model>,
    names: Vec<(String, String)>,
}

/// Keys and what they are set to.
type Words<'a> = &'a [(&'a str, &'a str)];

fn pair(
    (template, formula): (&str, &str),
    (settings, priors): (Words<'_>, Words<'_>),
    text: &str,
    names: &[(&str, &str)],
) -> Pair {
    let table = table();
    let entry = models::find(template).unwrap();
    let mut given = ergodic_base::settings::Settings::default();
    for (key, value) in settings {
        given.set(key, (*value).into());
    }
    let settings = entry.resolve(&given).unwrap();
    let frame = ModelFrame {
        response_use: (entry.spec.response)(&settings),
        ..ModelFrame::new(formula.parse().unwrap())
    };
    let (design, _) = Design::build(&table, &frame).unwrap();
    let options = ModelOptions {
        settings,
        priors: (priors.iter())
            .map(|(key, text)| ((*key).to_owned(), (*text).to_owned()))
            .collect(),
        standardize: false,
        ..ModelOptions::default()
    };
    let template = (entry.build)(Arc::new(design), &options).unwrap();
    let program = Program::parse(text).unwrap();
    program.check_columns(&table).unwrap();
    let frame = ModelFrame {
        response_use: ResponseUse::Absent,
        ..ModelFrame::new(program.formula().parse().unwrap())
    };
    let (design, _) = Design::build(&table, &frame).unwrap();
    let names = names
        .iter()
        .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()));
    Pair {
        template,
        own: program.model(&design).unwrap(),
        names: names.collect(),
    }
}

fn pairs() -> Vec<Pair> {
    let regression = [("a", "b[Intercept]"), ("b", "b[age]"), ("c", "b[fee]")];
    let with_sigma = [regression.as_slice(), &[("sigma", "sigma")]].concat();
    let mut mixed: Vec<(String, String)> = vec![
        ("a".to_owned(), "b[Intercept]".to_owned()),
        ("b".to_owned(), "b[age]".to_owned()),
        ("tau".to_owned(), "sd[group,Intercept]".to_owned()),
        ("sigma".to_owned(), "sigma".to_owned()),
    ];
    for level in ["a", "b", "c", "d", "e"] {
        mixed.push((
            format!("effect[{level}]"),
            format!("r[group,{level},Intercept]"),
        ));
    }
    let mixed: Vec<(&str, &str)> = mixed
        .iter()
        .map(|(a, b)| (a.as_str(), b.as_str()))
        .collect();
    let priors = [("intercept", "normal(0.5, 2)"), ("b", "normal(0, 1.5)")];
    let with_scale = [priors.as_slice(), &[("sigma", "exponential(1)")]].concat();
    let with_groups = [with_scale.as_slice(), &[("sd", "half_student_t(3, 0, 2)")]].concat();
    vec![
        pair(
            ("logistic", "yes ~ age + fee"),
            (&[], &priors),
            "parameters\n a ~ normal(0.5, 2)\n b ~ normal(0, 1.5)\n c ~ normal(0, 1.5)\nrows\n yes ~ bernoulli_logit(a + b * age + c * fee)",
            &regression,
        ),
        pair(
            ("linear", "size ~ age + fee"),
            (&[], &with_scale),
            "parameters\n a ~ normal(0.5, 2)\n b ~ normal(0, 1.5)\n c ~ normal(0, 1.5)\n sigma ~ exponential(1)\nrows\n size ~ normal(a + b * age + c * fee, sigma)",
            &with_sigma,
        ),
        pair(
            ("poisson", "count ~ age + fee"),
            (&[], &priors),
            "parameters\n a ~ normal(0.5, 2)\n b ~ normal(0, 1.5)\n c ~ normal(0, 1.5)\nrows\n count ~ poisson_log(a + b * age + c * fee)",
            &regression,
        ),
        pair(
            ("mixed", "level ~ age + (1 | group)"),
            (&[("parametrisation", "centred")], &with_groups),
            "parameters\n a ~ normal(0.5, 2)\n b ~ normal(0, 1.5)\n tau ~ half_student_t(3, 0, 2)\n effect[group] ~ normal(0, tau)\n sigma ~ exponential(1)\nrows\n level ~ normal(a + b * age + effect[group], sigma)",
            &mixed,
        ),
    ]
}

fn at(model: &dyn Model, name: &str) -> usize {
    let found = model.params().iter().position(|it| it.name == *name);
    found.unwrap_or_else(|| panic!("{name} among {:?}", model.params()))
}

/// Up to a constant: both are functions of the same coordinates but for shifts and factors.
#[test]
fn densities_are_those_of_the_templates() {
    for Pair {
        template,
        own,
        names,
    } in pairs()
    {
        let mut first = None;
        for seed in 0..12 {
            let u = position(template.dim(), seed);
            let mut theta = vec![0.0; template.params().len()];
            template.constrain(&u, &mut theta);
            let mut of_own = vec![0.0; own.params().len()];
            for (ours, theirs) in &names {
                of_own[at(own.as_ref(), ours)] = theta[at(template.as_ref(), theirs)];
            }
            let mut position = vec![0.0; own.dim()];
            own.unconstrain(&of_own, &mut position);
            let difference = density(template.as_ref(), &u).0 - density(own.as_ref(), &position).0;
            let scale = density(own.as_ref(), &position).0.abs();
            let first = *first.get_or_insert(difference);
            assert!(
                (difference - first).abs() < 1e-10 * scale.max(1.0),
                "{:?}: {difference} and {first}",
                names[0]
            );
        }
    }
}

#[test]
fn posteriors_are_those_of_the_templates() {
    for Pair {
        template,
        own,
        names,
    } in pairs()
    {
        let fit = |model| Fit::of_model(model).chains(4).draws(1000).run().unwrap();
        let (theirs, ours) = (fit(template), fit(own));
        for (own, other) in &names {
            let row = |fit: &ergodic_core::Fitted<_>, name: &str| {
                let summary = fit.summary();
                let row = summary.rows().iter().find(|row| row.variable == *name);
                let row = row.unwrap();
                (row.mean.unwrap(), row.mcse_mean.unwrap(), row.rhat.unwrap())
            };
            let ((a, of_a, rhat), (b, of_b, _)) = (row(&ours, own), row(&theirs, other));
            let error = of_a.hypot(of_b);
            assert!(
                (a - b).abs() < 4.0 * error,
                "{own}: {a} and {b}, error {error}"
            );
            assert!(rhat < 1.02, "{own}: {rhat}");
        }
    }
}

const SCHOOLS: &str = include_str!("../../../../examples/models/eight_schools.model");
const EFFECTS: [f64; 8] = [28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0];
const ERRORS: [f64; 8] = [15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0];

/// Of the eight schools: mu and tau by quadrature, the effects integrated out.
fn schools_means() -> [f64; 2] {
    let (mut total, mut sums) = (0.0, [0.0; 2]);
    for i in 0..4000 {
        // τ = tan grid over the half line.
        let angle = (f64::from(i) + 0.5) / 4000.0 * std::f64::consts::FRAC_PI_2;
        let tau = 5.0 * angle.tan();
        let slope = 1.0 / angle.cos().powi(2);
        let prior = slope / (1.0 + (tau / 5.0).powi(2));
        // Given τ, y_j ~ N(μ, σ_j² + τ²) and μ ~ N(0, 5²): normal.
        let (mut precision, mut weighted) = (1.0 / 25.0, 0.0);
        let mut log = 0.0;
        for (y, sigma) in EFFECTS.iter().zip(ERRORS) {
            let variance = sigma * sigma + tau * tau;
            precision += 1.0 / variance;
            weighted += y / variance;
            log -= 0.5 * variance.ln() + 0.5 * y * y / variance;
        }
        let mean = weighted / precision;
        let weight = prior * (log + 0.5 * weighted * mean - 0.5 * precision.ln()).exp();
        total += weight;
        sums[0] += weight * mean;
        sums[1] += weight * tau;
    }
    sums.map(|sum| sum / total)
}

#[test]
fn eight_schools_have_their_posterior() {
    let model = model(SCHOOLS, &[]);
    let fit = Fit::of_model(model).chains(4).draws(2000).run().unwrap();
    let wanted = schools_means();
    // Of the literature: posteriordb gives 4.4 and 3.6.
    assert!(
        (wanted[0] - 4.4).abs() < 0.1 && (wanted[1] - 3.6).abs() < 0.1,
        "{wanted:?}"
    );
    for (name, wanted) in ["mu", "tau"].iter().zip(wanted) {
        let summary = fit.summary();
        let row = summary
            .rows()
            .iter()
            .find(|row| row.variable == **name)
            .unwrap();
        let (mean, error) = (row.mean.unwrap(), row.mcse_mean.unwrap());
        assert!(
            (mean - wanted).abs() < 4.0 * error,
            "{name}: {mean} ± {error} and {wanted}"
        );
    }
}

#[test]
fn every_model_of_the_gallery_is_one() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/models");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let program = Program::parse(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        if !program.needs_no_data() {
            continue;
        }
        let model = model(&text, &[]);
        let u = position(model.dim(), 4);
        let (value, grad) = density(model.as_ref(), &u);
        assert!(value.is_finite(), "{path:?}");
        let numeric = slopes(&u, |u| density(model.as_ref(), u).0);
        near(&grad, &numeric, 1e-6, &format!("{path:?}"));
        seen += 1;
    }
    assert!(seen >= 5, "{seen}");
}

/// Minibatches, control variates, random walks, energy-conserving subsampling and zig-zag take the logistic rows.
#[test]
fn samplers_take_what_the_structure_allows() {
    let own = pairs().swap_remove(0).own;
    for sampler in [
        "sgld",
        "sgld-cv",
        "mala",
        "hmc",
        "hmc-ecs",
        "zig-zag",
        "metropolis",
        "slice",
    ] {
        let entry = ergodic_core::samplers::find(sampler).unwrap();
        let suits =
            ergodic_core::estimators::find_mode(own.as_ref(), &ergodic_base::Control::default());
        let mode = suits.unwrap();
        let target = ergodic_core::samplers::Target::new(&own, Some(&Arc::new(mode.centre)));
        let settings = entry.settle(
            &ergodic_base::settings::Settings::default(),
            own.as_ref(),
            &target,
            None,
        );
        assert!(settings.is_ok(), "{sampler}: {:?}", settings.err());
    }
}
