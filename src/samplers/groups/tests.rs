//! The samplers that go group by group: against the prior, joint sampling, and an independent program.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::base::settings::Value;
use crate::engine::job::{Job, PrepareControl};
use crate::engine::recipe::{Recipe, Scale};
use crate::models::Model;
use crate::oracle::{Anchor, Oracle};
use crate::samplers::testing::{
    Chain, Groups, Run, anchored_groups, assert_moments, estimate, exact_oracle, mean, sd,
};

/// Reported quantities, draws by draw, of each chain.
fn reported(model: &dyn Model, chain: &Chain) -> Vec<Vec<f64>> {
    let count = model.params().len();
    let mut values = vec![0.0; count];
    let mut columns = vec![Vec::new(); count];
    for u in chain.draws.chunks_exact(chain.dim) {
        model.constrain(u, &mut values);
        for (column, value) in columns.iter_mut().zip(&values) {
            column.push(*value);
        }
    }
    columns
}

/// By quantity, then by chain.
fn run(
    run: &Run,
    (model, anchor): (&Arc<dyn Model>, Option<&Arc<Anchor>>),
    warmup: u64,
    draws: usize,
) -> Vec<Vec<Vec<f64>>> {
    let mut all = vec![Vec::new(); model.params().len()];
    for seed in 1..=4 {
        let oracle = exact_oracle(Arc::clone(model), anchor.map(Arc::clone));
        let chain = run.clone().seed(seed).go(oracle, warmup, draws);
        for (all, one) in all.iter_mut().zip(reported(model.as_ref(), &chain)) {
            all.push(one);
        }
    }
    all
}

fn exact_runs() -> Vec<Run> {
    ["independence", "nuts", "hmc"]
        .map(|word| Run::new("gibbs-groups").set("update", Value::Text(word.to_owned())))
        .into()
}

/// Rows of weight 0 say nothing: μ, Σ and θ have the closed moments of their prior, whichever way they are sampled.
#[test]
fn without_information_draws_are_those_of_the_prior() {
    let (dof, lambda, scale) = (12.0, 0.5, 4.0);
    let per_sigma = scale / (dof - 3.0);
    let covariance = |k: usize| match k {
        2 | 4 => (per_sigma, {
            let (p, phi) = (2.0, scale);
            2.0 * phi * phi / ((dof - p - 1.0_f64).powi(2) * (dof - p - 3.0))
        }),
        3 => (0.0, {
            let p = 2.0;
            (dof - p - 1.0) * scale * scale
                / ((dof - p) * (dof - p - 1.0_f64).powi(2) * (dof - p - 3.0))
        }),
        0 | 1 => (0.7, per_sigma / lambda),
        _ => (0.7, per_sigma * (1.0 + 1.0 / lambda)),
    };
    let mut runs: Vec<(Run, &'static str)> = ["noncentred", "centred"]
        .map(|word| (Run::new("nuts"), word))
        .into();
    runs.extend(exact_runs().into_iter().map(|run| (run, "noncentred")));
    // A conditional without rows is normal, for which these approximations are exact.
    runs.push((Run::new("gibbs-gaussian"), "centred"));
    runs.push((Run::new("gibbs-osgfs"), "noncentred"));
    for (chosen, parametrisation) in runs {
        let model = Groups {
            weight: 0.0,
            parametrisation,
            mu: "normal(0.7, Sigma/0.5)",
            ..Groups::of(&[3, 0])
        }
        .model();
        let draws = run(&chosen, (&model, None), 500, 5000);
        for (k, chains) in draws.iter().enumerate() {
            let (mean, variance) = covariance(k);
            let what = format!(
                "{} {parametrisation} {}",
                chosen.id(),
                model.params()[k].name
            );
            assert_moments(&what, chains, mean, variance);
        }
    }
}

#[test]
fn group_by_group_agrees_with_joint_sampling() {
    let target = Groups::of(&[40, 10, 1, 0, 12]).anchored();
    let (model, anchor) = (&target.0, Some(&target.1));
    let second_moments = |draws: &[Vec<Vec<f64>>]| -> Vec<[(f64, f64); 2]> {
        draws
            .iter()
            .map(|chains| {
                let squares: Vec<Vec<f64>> = chains
                    .iter()
                    .map(|chain| chain.iter().map(|v| v * v).collect())
                    .collect();
                [estimate(chains), estimate(&squares)]
            })
            .collect()
    };
    let joint = second_moments(&run(&Run::new("nuts"), (model, anchor), 500, 4000));
    for chosen in exact_runs() {
        let found = second_moments(&run(&chosen, (model, anchor), 300, 4000));
        for (k, (found, joint)) in found.iter().zip(&joint).enumerate() {
            for (found, joint) in found.iter().zip(joint) {
                let error = found.1.hypot(joint.1);
                assert!(
                    (found.0 - joint.0).abs() < 4.5 * error,
                    "{} {:?}: {found:?} against {joint:?}",
                    model.params()[k].name,
                    chosen.settings()
                );
            }
        }
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    let (model, anchor) = anchored_groups();
    let mut runs = exact_runs();
    runs.push(Run::new("gibbs-gaussian"));
    runs.push(Run::new("gibbs-osgfs").set("batch", Value::Int(5)));
    for chosen in runs {
        let trace = |parallel| {
            let oracle = Oracle::new(
                Arc::clone(&model),
                Some(Arc::clone(&anchor)),
                parallel,
                Arc::default(),
            );
            let chain = chosen.go(oracle, 40, 40);
            chain.draws.iter().map(|v| v.to_bits()).collect::<Vec<_>>()
        };
        assert_eq!(trace(false), trace(true), "{}", chosen.id());
    }
}

/// Of many rows per group the normal approximation is nearly exact, and OSGFS with minibatches of 40 of 400 rows as well.
#[test]
fn approximations_are_near_the_exact_sampler_where_groups_are_large() {
    let target = Groups {
        sigma: "inv_wishart(12, 8)",
        parametrisation: "centred",
        ..Groups::of(&[400, 400, 400, 400, 0])
    }
    .anchored();
    let pooled = |run_: &Run, draws| -> Vec<[f64; 2]> {
        run(run_, (&target.0, Some(&target.1)), 200, draws)
            .into_iter()
            .map(|chains| chains.concat())
            .map(|all| [mean(&all), sd(&all)])
            .collect()
    };
    let exact = pooled(&Run::new("gibbs-groups"), 1200);
    let approximate = [
        (Run::new("gibbs-gaussian"), 1200),
        (Run::new("gibbs-osgfs").set("batch", Value::Int(40)), 10_000),
    ];
    for (chosen, draws) in approximate {
        for (k, (found, exact)) in pooled(&chosen, draws).iter().zip(&exact).enumerate() {
            let name = &target.0.params()[k].name;
            let shift = (found[0] - exact[0]) / exact[1];
            let ratio = found[1] / exact[1];
            assert!(shift.abs() < 0.1, "{} {name}: {shift}", chosen.id());
            assert!((ratio - 1.0).abs() < 0.1, "{} {name}: {ratio}", chosen.id());
        }
    }
}

/// The posterior of tests/reference/hierarchical by numpyro, from the file to the reports.
#[test]
fn samplers_agree_with_numpyro() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference/hierarchical");
    let text = std::fs::read_to_string(folder.join("posterior.json")).unwrap();
    let reference: BTreeMap<String, BTreeMap<String, f64>> = serde_json::from_str(&text).unwrap();
    let formula = "cured ~ dose + age + (1 + dose + age | clinic)";
    let mut recipe = Recipe::new("clinics.csv", "hierarchical", formula);
    recipe.report.scale = Scale::Standardised;
    let job = Job::prepare(&recipe, &folder, None, &PrepareControl::default()).unwrap();
    assert_eq!(job.model.params().len(), reference.len());
    let samplers = [
        (Run::new("nuts"), 4000, [0.05, 0.05]),
        (Run::new("gibbs-groups"), 8000, [0.05, 0.05]),
        (Run::new("gibbs-osgfs"), 8000, [0.1, 0.1]),
    ];
    for (chosen, draws, [most_shift, most_ratio]) in samplers {
        let draws = run(&chosen, (&job.model, job.anchor.as_ref()), 500, draws);
        for (param, chains) in job.model.params().iter().zip(draws) {
            let expected = &reference[&param.name];
            let all = chains.concat();
            let shift = (mean(&all) - expected["mean"]) / expected["sd"];
            let ratio = sd(&all) / expected["sd"];
            let what = format!("{} {}", chosen.id(), param.name);
            println!("{what}: {shift:.3} {ratio:.3}");
            assert!(shift.abs() < most_shift, "{what}: {shift} sd");
            assert!((ratio - 1.0).abs() < most_ratio, "{what}: sd ratio {ratio}");
        }
    }
}
