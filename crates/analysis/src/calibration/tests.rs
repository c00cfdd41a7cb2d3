//! Calibration of every template that can be simulated, and of posteriors that are wrong on purpose.

use super::*;
use ergodic_base::Control;
use ergodic_base::settings::{Default, Kind, Value};
use ergodic_core::models::REGISTRY;

const EXTENT: Extent = Extent {
    simulations: 60,
    draws: 19,
};

const FEWER: Extent = Extent {
    simulations: 40,
    draws: 9,
};

/// What is run before a release: errors of a tenth are found here, of a third above.
const LONG: Extent = Extent {
    simulations: 1000,
    draws: 99,
};

fn recipe(template: &str) -> Recipe {
    let mut recipe = Recipe::new("built-in", template, "");
    recipe.run.seed = 11;
    recipe.run.warmup = Some(200);
    recipe
}

fn job(recipe: &Recipe) -> Result<Job, JobError> {
    built_in_job(recipe, &Control::default())
}

fn run(job: &Job) -> Result<Calibration, JobError> {
    // Effects of groups make chains slow.
    let extent = match job.design.group_terms.first() {
        Some(_) if job.model.density().is_some() => FEWER,
        _ => EXTENT,
    };
    calibrate(job, &Settings::default(), extent, &Control::default())
}

/// A template on the built-in data with changes of its recipe.
struct Case {
    template: &'static str,
    changes: &'static [&'static str],
}

impl Case {
    fn job(&self) -> Job {
        let changes: Vec<String> = self.changes.iter().map(|&it| it.to_owned()).collect();
        job(&recipe(self.template).changed(&changes).unwrap()).unwrap()
    }

    fn is_calibrated(&self) {
        self.agrees(&run(&self.job()).unwrap());
    }

    fn is_calibrated_over(&self, extent: Extent) {
        let control = Control::default();
        self.agrees(&calibrate(&self.job(), &Settings::default(), extent, &control).unwrap());
    }

    fn agrees(&self, found: &Calibration) {
        let id = self.template;
        assert!(found.failures.is_empty(), "{id}: {:?}", found.failures);
        assert!(found.ranks[0].len() >= FEWER.simulations);
        // Seeds are fixed, so that this holds always or never; chance alone fails one quantity in a thousand.
        for (name, test) in found.variables.iter().zip(&found.tests) {
            assert!(test.p_ecdf > 0.001, "{name}: {test:?}");
        }
    }

    /// Data are simulated under the case's prior and fitted under another: the ranks must say so.
    fn is_found_out_with(&self, key: &str, prior: &str) {
        let mut wrong = self.job();
        // The data still come from the model that the job was prepared with.
        wrong.recipe.priors.insert(key.to_owned(), prior.to_owned());
        let found = run(&wrong).unwrap();
        assert!(found.p_value().unwrap() < 0.01, "{key}: {found:?}");
    }
}

/// One test per case, and the list of all of them.
macro_rules! cases {
    ($($name:ident: $template:literal $changes:expr;)*) => {
        $(
            #[test]
            fn $name() {
                let case = Case { template: $template, changes: &$changes };
                case.is_calibrated();
            }
        )*
        const CASES: &[Case] = &[$(Case { template: $template, changes: &$changes }),*];

        /// Calibration with enough simulations to see a factor of 1.1 in a standard deviation.
        mod long {
            use super::*;
            $(
                #[test]
                #[ignore = "long: run by .ci/long"]
                fn $name() {
                    let case = Case { template: $template, changes: &$changes };
                    case.is_calibrated_over(LONG);
                }
            )*
        }
    };
}

// Priors are such that responses are not all certain, huge or 0; none are given where the defaults, whose units are those of
// the response that the simulations start from, are.
cases! {
    logistic: "logistic" ["priors.b=normal(0, 1)", "priors.intercept=normal(0, 1)"];
    poisson: "poisson" ["priors.b=normal(0, 1)", "priors.intercept=normal(0, 1)"];
    negative_binomial: "negative-binomial" ["priors.b=normal(0, 1)", "priors.intercept=normal(0, 1)"];
    linear: "linear" [];
    student: "student" [];
    // Cuts so wide apart that a level has no rows have posteriors with tails that chains explore slowly.
    ordered: "ordered" ["priors.b=normal(0, 1)", "priors.cut=normal(0, 1.5)"];
    multinomial: "multinomial" ["priors.b=normal(0, 1)", "priors.intercept=normal(0, 1)"];
    hierarchical: "hierarchical" ["priors.mu=normal(0, Sigma/1)", "priors.Sigma=inv_wishart(5, 2)"];
    // Correlated effects of groups, sampled in the way that mixes where they are as large as that.
    mixed: "mixed" [
        "priors.b=normal(0, 1)", "priors.sd=lognormal(-0.7, 0.4)", "priors.cor=lkj(2)", "priors.sigma=lognormal(0, 0.3)",
        "model.parametrisation=non-centred"
    ];
    mixed_centred: "mixed" [
        "priors.b=normal(0, 1)", "priors.sd=lognormal(0.5, 0.3)", "priors.cor=lkj(2)", "priors.sigma=lognormal(-2, 0.3)",
        "model.parametrisation=centred"
    ];
    mixed_bernoulli: "mixed" [
        "model.family=bernoulli", "priors.b=normal(0, 1)", "priors.intercept=normal(0, 1)", "priors.sd=lognormal(-0.7, 0.4)"
    ];
    mixed_binomial: "mixed" [
        "model.family=binomial", "priors.b=normal(0, 1)", "priors.intercept=normal(0, 1)", "priors.sd=lognormal(-0.7, 0.4)"
    ];
    mixed_poisson: "mixed" [
        "model.family=poisson", "priors.b=normal(0, 1)", "priors.intercept=normal(0, 1)", "priors.sd=lognormal(-0.7, 0.4)"
    ];
    mixed_negative_binomial: "mixed" [
        "model.family=negative_binomial", "priors.b=normal(0, 1)", "priors.intercept=normal(0, 1)",
        "priors.sd=lognormal(-0.7, 0.4)", "priors.shape=lognormal(1, 0.5)"
    ];
    mixed_gamma: "mixed" [
        "model.family=gamma", "priors.b=normal(0, 1)", "priors.intercept=normal(0, 1)", "priors.sd=lognormal(-0.7, 0.4)",
        "priors.shape=lognormal(1, 0.5)"
    ];
    mixed_lognormal: "mixed" [
        "model.family=lognormal", "priors.b=normal(0, 1)", "priors.intercept=normal(0, 1)", "priors.sd=lognormal(-0.7, 0.4)",
        "priors.sigma=lognormal(-1, 0.5)"
    ];
    mixed_weibull: "mixed" [
        "model.family=weibull", "priors.b=normal(0, 1)", "priors.intercept=normal(0, 1)", "priors.sd=lognormal(-0.7, 0.4)",
        "priors.shape=lognormal(0.5, 0.5)"
    ];
    mixed_beta: "mixed" [
        "model.family=beta", "priors.b=normal(0, 1)", "priors.intercept=normal(0, 1)", "priors.sd=lognormal(-0.7, 0.4)",
        "priors.phi=lognormal(2, 0.5)"
    ];
    mixed_zero_inflated_poisson: "mixed" [
        "model.family=zero_inflated_poisson", "priors.b=normal(0, 1)", "priors.intercept=normal(0, 1)",
        "priors.sd=lognormal(-0.7, 0.4)", "priors.zi=beta(2, 5)"
    ];
    mixed_zero_inflated_negative_binomial: "mixed" [
        "model.family=zero_inflated_negative_binomial", "priors.b=normal(0, 1)", "priors.intercept=normal(1, 1)",
        "priors.sd=lognormal(-0.7, 0.4)", "priors.shape=lognormal(1, 0.5)", "priors.zi=beta(2, 5)"
    ];
    mixed_gaussian_se: "mixed" [
        "model.family=gaussian_se", "priors.b=normal(0, 1)", "priors.sd=lognormal(-0.7, 0.4)"
    ];
    mixed_weibull_censored: "mixed" [
        "model.formula=x2 | cens(d) ~ x1 + (1 | g)", "model.family=weibull", "priors.b=normal(0, 1)",
        "priors.intercept=normal(1, 1)", "priors.sd=lognormal(-0.7, 0.4)", "priors.shape=lognormal(0.5, 0.4)"
    ];
    mixed_lognormal_censored: "mixed" [
        "model.formula=x2 | cens(d) ~ x1 + (1 | g)", "model.family=lognormal", "priors.b=normal(0, 1)",
        "priors.intercept=normal(1, 1)", "priors.sd=lognormal(-0.7, 0.4)", "priors.sigma=lognormal(0, 0.4)"
    ];
    mixed_ordered: "mixed" [
        "model.family=ordered", "priors.b=normal(0, 1)", "priors.cut=normal(0, 1.5)", "priors.sd=lognormal(-0.7, 0.4)"
    ];
    mixed_student: "mixed" [
        "model.family=student", "priors.b=normal(0, 1)", "priors.sd=lognormal(-0.7, 0.4)", "priors.sigma=lognormal(0, 0.3)"
    ];
    // Smooth curves, alone and beside groups.
    mixed_curve: "mixed" [
        "model.formula=x1 ~ c + s(x2, k = 6)", "priors.b=normal(0, 1)", "priors.sd=lognormal(-0.7, 0.4)",
        "priors.sigma=lognormal(0, 0.3)"
    ];
    mixed_curve_poisson: "mixed" [
        "model.formula=k ~ s(x1, k = 5) + (1 | g)", "model.family=poisson", "priors.b=normal(0, 1)",
        "priors.intercept=normal(0, 1)", "priors.sd=lognormal(-0.7, 0.4)"
    ];
    // Partitions of rows, in units of the data, and of users by their items.
    clusters_of_numbers: "dp-mixture" [];
    clusters_of_categories: "dp-mixture" ["model.formula=~ c + y"];
    clusters_of_numbers_and_categories: "dp-mixture" ["model.formula=~ c + x1 + y", "model.covariance=diagonal"];
    clusters_of_users: "dp-mixture" ["model.formula=~ c + (1 | g)"];
    clusters_by_slices: "dp-mixture" ["model.formula=~ c + x1", "sampler.id=dp-slice"];
    topics_of_documents: "topics" ["model.topics=2"];
    // Noise as large as this leaves both signs of a factor one mode, which chains cross.
    ratings: "factorization" [
        "model.factors=1", "model.precision=0.4", "priors.user=gamma(4, 4)", "priors.item=constant(1)",
        "priors.user_factor=constant(2)", "priors.item_factor=gamma(4, 2)"
    ];
    categorical: "categorical" [];
    normal_mean: "normal-mean" [];
    normal_gamma: "normal-gamma" [];
    // Its curved posterior has two ends, between which chains seldom cross where they are far apart.
    warped_gaussian: "warped-gaussian" ["model.prior_variance=0.25", "model.variance=10"];
    // Clusters that are apart give two modes, which no chain visits evenly: with a variance of 30 ranks of 1,000 simulations say so.
    gaussian_mixture: "gaussian-mixture" ["model.variance=100"];
}

/// Nobody adds a template or a family without a case above or a reason here.
#[test]
fn every_template_has_a_case_or_says_why_not() {
    for entry in REGISTRY {
        let id = entry.spec.id;
        let cases = || CASES.iter().filter(|case| case.template == id);
        if id == "multivariate-t" {
            let error = job(&recipe(id)).and_then(|job| run(&job)).unwrap_err();
            assert!(error.to_string().contains("because its prior is flat"));
            assert!(matches!(
                error,
                JobError::Calibration(NotCalibrated::Prior(_, NoPriorDraws::Flat))
            ));
            continue;
        }
        if id == "neural-net" {
            // Hidden units can change places and signs: no short chain visits the equal copies of its mode, and ranks need all of them.
            continue;
        }
        assert!(cases().next().is_some(), "{id}");
        let fields = entry.spec.fields.iter();
        for field in fields.filter(|field| field.key == "family") {
            let Kind::Choice(families) = field.kind else {
                panic!("{id}: {field:?}");
            };
            for family in families {
                let set = format!("model.family={family}");
                let of_family = |case: &Case| {
                    let mut changes = case.changes.iter();
                    match field.default {
                        Some(Default::Text(default)) if default == *family => {
                            changes.all(|it| !it.starts_with("model.family="))
                        }
                        _ => changes.any(|it| **it == set),
                    }
                };
                assert!(cases().any(of_family), "{id}: {family}");
            }
        }
    }
}

/// Priors that are half or double as wide as those that the data come from, and more.
#[test]
fn wrong_priors_are_found_out() {
    let case = |template| {
        let mut cases = CASES.iter().filter(move |case| case.template == template);
        move |change: &str| {
            cases
                .find(|case| change.is_empty() || case.changes.contains(&change))
                .unwrap()
        }
    };
    case("poisson")("").is_found_out_with("b", "normal(0, 0.2)");
    case("logistic")("").is_found_out_with("b", "normal(0, 0.2)");
    case("hierarchical")("").is_found_out_with("Sigma", "inv_wishart(5, 20)");
    case("mixed")("model.family=poisson").is_found_out_with("sd", "lognormal(0.7, 0.4)");
    case("categorical")("").is_found_out_with("probabilities", "dirichlet(30)");
}

#[test]
fn wrong_priors_of_clusters_are_found_out() {
    let case = |formula: &str| {
        let cases = CASES.iter().filter(|case| case.template == "dp-mixture");
        let mut with = cases.filter(|case| case.changes.first() == Some(&formula));
        with.next().unwrap()
    };
    case("model.formula=~ c + y").is_found_out_with("alpha", "gamma(40, 4)");
    case("model.formula=~ c + (1 | g)").is_found_out_with("probabilities", "dirichlet(0.02)");
    case("model.formula=~ c + x1 + y").is_found_out_with("numeric", "niw(0.1, 3, 0.1)");
}

#[test]
fn wrong_priors_of_topics_are_found_out() {
    let mut cases = CASES.iter().filter(|case| case.template == "topics");
    cases
        .next()
        .unwrap()
        .is_found_out_with("beta", "dirichlet(5)");
}

#[test]
fn units_that_are_held_out_cannot_be_simulated() {
    let changes = ["model.held_out=0.3".to_owned()];
    let held_out = recipe("dp-mixture").changed(&changes).unwrap();
    let error = job(&held_out).and_then(|job| run(&job)).unwrap_err();
    assert!(
        error.to_string().contains("leave out model.held_out"),
        "{error}"
    );
}

/// Without this the default priors would follow every simulated response, and none would be the one drawn from.
#[test]
fn units_of_the_response_stay_those_of_the_data() {
    for standardize in [true, false] {
        let mut recipe = recipe("linear");
        recipe.model.standardize = standardize;
        let job = job(&recipe).unwrap();
        assert!(units(&job).unwrap().contains("`x1`"));
        let mut rng = stream(5, 0, Purpose::Data);
        let (_truth, model) = simulated_model(&job, &mut rng).unwrap();
        assert_eq!(model.params(), job.model.params());
        let found = run(&job).unwrap();
        assert!(found.p_value().unwrap() > 0.01, "{found:?}");
    }
}

/// Data simulated with one prior or variance and fitted with another: the ranks must say so.
#[test]
fn a_wrong_model_is_found_out() {
    for (key, value) in [
        ("prior_variance", 0.05),
        ("variance", 3.0),
        ("prior_mean", 100.0),
    ] {
        let mut right = job(&recipe("normal-mean")).unwrap();
        // The data still come from the model that the job was prepared with.
        right.recipe.model.settings.set(key, Value::Real(value));
        let found = run(&right).unwrap();
        assert!(found.p_value().unwrap() < 0.01, "{key}: {found:?}");
        assert!(found.sentence().starts_with("Not calibrated"));
    }
}

/// Langevin steps without correction are biased when they are large; the ranks see it, and with Metropolis' correction
/// there is nothing to see.
#[test]
fn a_biased_sampler_is_found_out() {
    for (sampler, fails) in [("ula", true), ("mala", false)] {
        let mut recipe = recipe("normal-mean");
        sampler.clone_into(&mut recipe.sampler.id);
        let job = job(&recipe).unwrap();
        let mut given = Settings::default();
        given.set("step_size", Value::Real(1.2));
        let extent = Extent {
            simulations: 150,
            draws: 39,
        };
        let found = calibrate(&job, &given, extent, &Control::default()).unwrap();
        assert_eq!(
            found.p_value().unwrap() < LEVEL,
            fails,
            "{sampler}: {found:?}"
        );
    }
}

#[test]
fn ties_are_broken_evenly_and_cancelling_keeps_what_is_done() {
    let mut rng = stream(3, 0, Purpose::Data);
    let mut counts = [0; 3];
    for _ in 0..3000 {
        counts[rank(1.0, [0.0, 1.0, 1.0].iter(), &mut rng) as usize - 1] += 1;
    }
    assert!(
        counts.iter().all(|count| (900..1100).contains(count)),
        "{counts:?}"
    );
    let control = Control::default();
    control.cancel();
    let job = job(&recipe("normal-mean")).unwrap();
    let found = calibrate(&job, &Settings::default(), EXTENT, &control).unwrap();
    assert_eq!(found.p_value(), None);
    assert!(found.sentence().starts_with("No simulation worked"));
}

fn of_ranks(ranks: &[u32], quantities: usize, draws: usize) -> Calibration {
    let test = RankTest::new(ranks.len(), draws);
    Calibration {
        variables: (0..quantities).map(|k| format!("b[{k}]").into()).collect(),
        ranks: vec![ranks.to_vec(); quantities],
        tests: vec![test.of(ranks); quantities],
        resolution: test.resolution(LEVEL / quantities as f64),
        units: None,
        draws,
        thin: 1.0,
        short: 0,
        failures: Vec::new(),
    }
}

/// However many quantities there are, ranks that are all the same are not uniform.
#[test]
fn many_quantities_can_fail() {
    for quantities in [1, 21, 400] {
        let worst = of_ranks(&[0; 100], quantities, 99);
        assert!(worst.has_failed(), "{quantities}: {}", worst.sentence());
        assert!(
            worst.sentence().starts_with("Not calibrated"),
            "{}",
            worst.sentence()
        );
    }
}

#[test]
fn the_sentence_says_what_would_have_shown() {
    let even: Vec<u32> = (0..100).collect();
    let found = of_ranks(&even, 3, 99);
    let text = found.sentence();
    assert!(!found.has_failed() && !text.contains("uniform"), "{text}");
    assert!(
        text.contains("in 100 simulations of 3 quantities"),
        "{text}"
    );
    assert!(text.contains(" % too narrow, or off by 0."), "{text}");
    let few = of_ranks(&[2, 7], 3, 9).sentence();
    assert!(few.contains("could not show any error"), "{few}");
}

/// A posterior a fifth too narrow: with this extent it is found, with that of the cases above it would rarely be.
#[test]
fn a_posterior_a_fifth_too_narrow_is_found_out() {
    let mut wrong = job(&recipe("normal-mean")).unwrap();
    // The variance of a row is 1, and the prior says little beside 40 rows: the posterior's is in proportion to theirs.
    let settings = &mut wrong.recipe.model.settings;
    settings.set("variance", Value::Real(0.64));
    let found = calibrate(&wrong, &Settings::default(), LONG, &Control::default()).unwrap();
    assert!(found.has_failed(), "{}", found.sentence());
}
