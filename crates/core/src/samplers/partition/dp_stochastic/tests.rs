use super::*;
use crate::samplers::find;
use crate::samplers::partition::tests::{assert_frequencies, small_items};
use crate::samplers::testing::{Run, exact_oracle, suitable_target};
use ergodic_base::settings::Value;

/// Labels after each of `draws` iterations with all units in the minibatch.
fn visited(
    id: &'static str,
    mixture: &Mixture,
    seed: u64,
    step: f64,
    draws: usize,
) -> Vec<Vec<u32>> {
    let run = Run::new(id)
        .seed(seed)
        .set("batch", Value::Int(mixture.num_units() as i64))
        .set("step_size", Value::Real(step))
        .set("stick_step", Value::Real(step))
        .set("steps_per_draw", Value::Int(1));
    let mut session = run.start(exact_oracle(mixture.clone().into_model(), None));
    for _ in 0..100 {
        session.warm_up(100).unwrap();
    }
    (0..draws)
        .map(|_| {
            session.draw().unwrap();
            session.kernel.labels().unwrap().to_vec()
        })
        .collect()
}

/// Without noise of minibatches transitions of any length leave the posterior unchanged.
#[test]
fn scir_with_all_units_is_exact() {
    let priors = [
        AlphaPrior::Constant(0.8),
        AlphaPrior::Gamma {
            shape: 2.0,
            rate: 1.5,
        },
    ];
    for prior in priors {
        let mixture = small_items(5, prior);
        let chains: Vec<_> = (1..=2)
            .map(|seed| visited("dp-scir", &mixture, seed, 0.7, 25_000))
            .collect();
        assert_frequencies(&format!("dp-scir {prior:?}"), &mixture, &chains);
    }
}

/// SGRLD is right only in the limit of small steps, and far from 0.
#[test]
fn both_agree_on_the_number_of_clusters_where_probabilities_are_not_small() {
    let mixture = small_items(5, AlphaPrior::Constant(0.8));
    let mean = |id| {
        let chain = visited(id, &mixture, 1, 0.05, 60_000);
        let clusters = chain
            .iter()
            .map(|labels| f64::from(labels.iter().max().unwrap() + 1));
        clusters.sum::<f64>() / chain.len() as f64
    };
    let (scir, sgrld) = (mean("dp-scir"), mean("dp-sgrld"));
    assert!((scir - sgrld).abs() < 0.12, "{scir} {sgrld}");
}

#[test]
fn numeric_columns_are_refused_with_a_reason() {
    let (model, _) = suitable_target(find("dp-gibbs").unwrap());
    assert!(model.partition().unwrap().numeric.is_some());
    for id in ["dp-scir", "dp-sgrld"] {
        let refusal = (find(id).unwrap().suits)(model.as_ref()).unwrap_err();
        assert_eq!(refusal.reason, Unsuitable::NumericColumns);
    }
    let (other, _) = suitable_target(find("nuts").unwrap());
    for id in ["dp-gibbs", "dp-slice", "dp-scir", "dp-sgrld"] {
        let refusal = (find(id).unwrap().suits)(other.as_ref()).unwrap_err();
        assert_eq!(refusal.reason, Unsuitable::NoClusters);
    }
}

/// Both steps fall as h (1 + m/τ)^(−κ) over minibatches, those of warm-up included, and nothing falls by default.
#[test]
fn steps_decay_by_the_formula_of_the_source() {
    let mixture = small_items(5, AlphaPrior::Constant(0.8));
    for power in [0.0, 0.5] {
        for id in ["dp-scir", "dp-sgrld"] {
            let run = Run::new(id)
                .set("step_size", Value::Real(0.3))
                .set("decay_offset", Value::Real(8.0))
                .set("decay_exponent", Value::Real(power))
                .set("steps_per_draw", Value::Int(3));
            let mut session = run.start(exact_oracle(mixture.clone().into_model(), None));
            let mut last = Vec::new();
            for _ in 0..3 {
                session.warm_up(3).unwrap();
                last.push(session.info[1]);
            }
            for _ in 0..6 {
                session.draw().unwrap();
                last.push(session.info[1]);
            }
            // Minibatches 8 and 26 are the last of the third and of the ninth iteration.
            for (iteration, minibatch) in [(2, 8.0_f64), (8, 26.0)] {
                let expected = 0.3 * (1.0 + minibatch / 8.0).powf(-power);
                let found = last[iteration];
                assert!((found - expected).abs() < 1e-12, "{id} {power}: {last:?}");
            }
        }
    }
}
