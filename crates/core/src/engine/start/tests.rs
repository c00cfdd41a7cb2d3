use super::*;
use crate::design::{MemoryColumns, Values};
use crate::engine::Sampling as _;
use crate::fit::Fit;
use crate::models::{NoPriorDraws, density_of};
use crate::samplers::Nuts;

fn columns(named: &[(&str, Vec<f64>)]) -> MemoryColumns {
    let named = named.iter();
    let named = named.map(|(name, values)| ((*name).to_owned(), Values::Numbers(values.clone())));
    MemoryColumns::new("waves", named.collect()).unwrap()
}

/// A plan of four chains of a logistic regression of two predictors.
fn plan(start: &str) -> crate::fit::FitPlan {
    let wave = |k: f64| {
        (0..60)
            .map(|i| (f64::from(i) * k).sin())
            .collect::<Vec<f64>>()
    };
    let (x, z) = (wave(0.7), wave(1.9));
    let y = x
        .iter()
        .zip(wave(2.3))
        .map(|(x, noise)| f64::from(u8::from(x + noise > 0.0)));
    let columns = columns(&[("y", y.collect()), ("x", x), ("z", z)]);
    let fit = Fit::of_columns("logistic", "y ~ x + z", &columns).unwrap();
    fit.start_from(start.parse().unwrap()).plan().unwrap()
}

/// Where chain `chain` starts, on the scale of the results, by name.
fn reported(plan: &crate::fit::FitPlan, chain: usize) -> BTreeMap<String, f64> {
    let u = plan.start_position(chain).unwrap();
    let params = plan.model().params();
    let mut theta = vec![0.0; params.len()];
    plan.model().constrain(&u, &mut theta);
    let names = params.iter().map(|param| param.name.to_string());
    names.zip(theta).collect()
}

#[test]
fn texts_are_read_and_written_back() {
    for text in [
        "mode",
        "prior",
        "b[age]=1, intercept=-0.25; b[plan=pro]=1e-7, b=0",
        "runs/a",
    ] {
        let start: Start = text.parse().unwrap();
        assert_eq!(start.to_string().parse::<Start>().unwrap(), start, "{text}");
    }
    let start: Start = "Sigma[a,b]=0.5,x=2;x=3".parse().unwrap();
    let set = |pairs: &[(&str, f64)]| -> Assignments {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| ((*name).to_owned(), *value))
            .collect()
    };
    let sets = vec![set(&[("Sigma[a,b]", 0.5), ("x", 2.0)]), set(&[("x", 3.0)])];
    assert_eq!(start, Start::Values(sets));
    assert_eq!("  ".parse::<Start>(), Err(StartTextError::Empty));
    for wrong in ["x=", "=1", "x=one", "x=1, y", "x=inf"] {
        let refused = wrong.parse::<Start>();
        assert!(
            matches!(refused, Err(StartTextError::Assignment(_))),
            "{wrong}: {refused:?}"
        );
    }
}

#[test]
fn given_values_hold_on_the_scale_of_the_results_and_the_others_are_around_the_mode() {
    let usual = plan("mode");
    let given = plan("b[x]=1.5, intercept=-2");
    for chain in 0..4 {
        let (at, around) = (reported(&given, chain), reported(&usual, chain));
        assert!((at["b[x]"] - 1.5).abs() < 1e-12, "{at:?}");
        assert!((at["b[Intercept]"] + 2.0).abs() < 1e-12, "{at:?}");
        assert!(
            (at["b[z]"] - around["b[z]"]).abs() < 1e-12,
            "{at:?} {around:?}"
        );
    }
    // A class, overruled for one of it; the intercept is no slope.
    let classes = plan("b=0, b[z]=3");
    let at = reported(&classes, 0);
    assert!(
        at["b[x]"].abs() < 1e-12 && (at["b[z]"] - 3.0).abs() < 1e-12,
        "{at:?}"
    );
    let around = reported(&usual, 0)["b[Intercept]"];
    assert!(
        (at["b[Intercept]"] - around).abs() < 1e-12,
        "{at:?} {around}"
    );
    // One set per chain.
    let each = plan("b[x]=0; b[x]=1; b[x]=2; b[x]=3");
    for chain in 0..4 {
        let at = reported(&each, chain)["b[x]"];
        assert!((at - chain as f64).abs() < 1e-12, "{chain}: {at}");
    }
}

#[test]
fn draws_of_the_prior_differ_by_chain_and_repeat_by_seed() {
    let (a, b) = (plan("prior"), plan("prior"));
    let position = |plan: &crate::fit::FitPlan, chain| plan.start_position(chain).unwrap();
    assert_eq!(position(&a, 0), position(&b, 0));
    assert_ne!(position(&a, 0), position(&a, 1));
    // Coordinates are coefficients of standardised predictors.
    assert_eq!(a.model().params()[1].prior.as_str(), "normal(0, 10)");
    let far = (0..200).map(|chain| position(&a, chain)[1]);
    let mean_square = far.map(|u| u * u).sum::<f64>() / 200.0;
    // A mean of 200 squares of this normal has a standard error of 100 / 10.
    assert!((mean_square - 100.0).abs() < 40.0, "{mean_square}");
}

#[test]
fn chains_go_on_from_the_last_draws_of_another_run() {
    let first = Fit::of_model(std::sync::Arc::clone(plan("mode").model()));
    let first = first.sampler::<Nuts>().draws(50).run().unwrap();
    let lists: Vec<&DrawList> = first.view().usable().map(|it| &it.draws.draws).collect();
    let names = first.variables();
    let mut run = RunSection {
        start: Start::Run("first".to_owned()),
        ..RunSection::default()
    };
    let own = plan("mode");
    let at = |run: &RunSection, chain| position(own.model().as_ref(), run, chain, Vec::new);
    assert_eq!(at(&run, 0), Err(StartError::NotRead("first".to_owned())));
    run.start_draws = last_draws(&names, &lists);
    for chain in 0..4 {
        let mut theta = vec![0.0; names.len()];
        own.model().constrain(&at(&run, chain).unwrap(), &mut theta);
        for (j, value) in theta.iter().enumerate() {
            let last = lists[chain].value(lists[chain].len() - 1, j);
            assert!((value - last).abs() < 1e-9, "{chain} {j}: {value} {last}");
        }
    }
    run.chains = 5;
    assert!(matches!(
        at(&run, 4),
        Err(StartError::Chains {
            has: 4,
            chains: 5,
            ..
        })
    ));
    let mut other = run.clone();
    other.start_draws.insert("b[w]".to_owned(), vec![0.0; 4]);
    let told = at(&other, 0).unwrap_err().to_string();
    assert!(
        told.contains("it has `b[w]`, which this model has not"),
        "{told}"
    );
    run.start_draws.remove("b[x]");
    let told = at(&run, 0).unwrap_err().to_string();
    assert!(told.contains("it has no `b[x]`"), "{told}");
}

#[test]
fn what_cannot_be_is_refused_with_the_reason() {
    let told = |start: &str| plan(start).start_position(0).unwrap_err().to_string();
    let unknown = told("b[w]=1");
    assert!(
        unknown.contains("no parameter `b[w]`") && unknown.contains("b[x]"),
        "{unknown}"
    );
    // A density of one's own has no prior to draw from.
    let own = density_of(1, |u: &[f64], grad: &mut [f64]| {
        grad[0] = -u[0];
        -0.5 * u[0] * u[0]
    });
    let own = Fit::new(own).start_from(Start::Prior).plan().unwrap();
    let refused = own.start_position(0).unwrap_err();
    assert_eq!(refused, StartError::NoPrior(NoPriorDraws::NotSaid));
    // A scale below 0 has no coordinates.
    let y: Vec<f64> = (0..40).map(|i| f64::from(i * i % 7)).collect();
    let columns = columns(&[("y", y), ("x", (0..40).map(f64::from).collect())]);
    let fit = Fit::of_columns("linear", "y ~ x", &columns).unwrap();
    let fit = fit.start_from("sigma=-1".parse().unwrap()).plan().unwrap();
    let refused = fit.start_position(0).unwrap_err();
    assert!(
        matches!(&refused, StartError::Impossible { name, .. } if name == "sigma"),
        "{refused}"
    );
}

#[test]
fn the_usual_start_is_two_standard_deviations_around_the_mode_and_the_spread_scales_it() {
    let plan = plan("mode");
    let centre = plan.centre().unwrap();
    let from_mode = |spread: f64| -> Vec<f64> {
        let u = super::super::chain::dispersed_start(
            plan.model().as_ref(),
            Some(centre),
            spread,
            (1, 0),
        );
        u.iter().zip(&centre.u).map(|(u, mode)| u - mode).collect()
    };
    assert_eq!(plan.start_position(0).unwrap(), plan.around_mode(0));
    for (far, near) in from_mode(6.0).iter().zip(from_mode(SPREAD)) {
        assert!((far - 3.0 * near).abs() < 1e-12, "{far} {near}");
    }
}
