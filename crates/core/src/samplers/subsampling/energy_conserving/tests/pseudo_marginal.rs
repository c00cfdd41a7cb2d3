//! Block pseudo-marginal Metropolis beside trajectories on the same estimates.

use super::{assert_exact, chains, truth};
use crate::samplers::testing::{Chain, Run, mean, weighted_estimate};
use ergodic_base::settings::Value;

/// A random walk on the same estimates has the target of trajectories: the posterior at default settings, and with estimates whose noise
/// matters, all of them new in each step or a few, the same perturbed one.
#[test]
fn pseudo_marginal_metropolis_has_the_target_of_trajectories() {
    assert_exact("default", &chains(&Run::new("pseudo-marginal"), 12_000));
    // What expansions of order one leave is never positive, so that its noise makes no mass far away.
    let noisy = |id, blocks| {
        let run = Run::new(id).set("order", Value::Int(1));
        let run = run.set("scheme", Value::Text("iid".to_owned()));
        run.set("batch", Value::Int(8))
            .set("blocks", Value::Int(blocks))
    };
    let moments = |chains: &[Chain], j: usize, power: i32| {
        let centre = truth()[j].0;
        let values: Vec<Vec<f64>> = chains
            .iter()
            .map(|chain| {
                let series = chain.coordinate(j);
                series.iter().map(|u| (u - centre).powi(power)).collect()
            })
            .collect();
        let ones: Vec<Vec<f64>> = values.iter().map(|chain| vec![1.0; chain.len()]).collect();
        weighted_estimate(&values, &ones)
    };
    let trajectories = chains(&noisy("hmc-ecs", 1), 20_000);
    for blocks in [1, 4] {
        let walk = chains(&noisy("pseudo-marginal", blocks), 40_000);
        let variance = mean(&walk[0].info(2));
        assert!(
            variance > 0.08,
            "{variance}: the noise would not be noticed"
        );
        for (j, power) in [(0, 1), (1, 1), (0, 2), (1, 2)] {
            let (expected, error) = moments(&trajectories, j, power);
            let (found, own) = moments(&walk, j, power);
            let off = (found - expected) / error.hypot(own);
            assert!(
                off.abs() < 4.0,
                "{blocks} blocks, {j}, {power}: {found} {own}, {expected} {error}"
            );
        }
    }
}
