//! Metropolis-Hastings beside Hamiltonian Monte Carlo on nine normal components.
//!
//! Source: Chen (2016), slide "Demo: MH vs. HMC" (a demonstration by Broderick and Duvenaud): successive draws joined by lines. No
//! numbers are printed, nor how far apart the components are; here they stand on a 3 × 3 grid, 2.5 apart with standard deviation
//! 0.5, so that the density between neighbours is a twentieth of that at their centres.
//!
//! All chains start in one corner. Draws cost differently, so that distances and effective draws are also counted per evaluation of
//! the density with its gradient.

use super::problem::{Problem, at, draws, ess, passes, row};
use super::{BenchOptions, BenchTable, Finding, Plot};
use crate::error::BenchError;

/// Distance of neighbouring components.
const APART: f64 = 2.5;
/// Standard deviation of a component.
const SD: f64 = 0.5;
/// Draws per chain, and in the quick version.
const DRAWS: [u64; 2] = [50_000, 5_000];
/// The samplers; every step of Metropolis is a draw.
const ENTRANTS: [&str; 3] = ["metropolis:steps_per_draw=1", "hmc", "nuts"];

/// Runs the experiment.
///
/// # Errors
/// A run cannot be prepared.
pub fn run(options: &BenchOptions) -> Result<BenchTable, BenchError> {
    let mixture = |name: &str| {
        let parts = [-APART, 0.0, APART].map(|at| format!("normal_lpdf({name}, {at}, {SD})"));
        format!(" log_sum_exp({})\n", parts.join(", "))
    };
    let text = format!(
        "parameters\n x: real\n y: real\ntarget\n{}{}",
        mixture("x"),
        mixture("y")
    );
    let problem = Problem::without_data(&text, options.seed)?;
    let mut rows = Vec::new();
    for variant in ENTRANTS {
        let run = problem.run(variant, |run| {
            run.draws = DRAWS[usize::from(options.quick)];
            run.start = at(&[("x", -APART), ("y", -APART)]);
        })?;
        let [x, y] = ["x", "y"].map(|name| draws(&run, name));
        let view = run.view();
        let iterations: u64 = view.chains.iter().map(|chain| chain.iterations).sum();
        let per_draw = passes(&run) / iterations as f64;
        let count = x.iter().map(Vec::len).sum::<usize>() as f64;
        let least = ess(&x).min(ess(&y));
        let name = variant.split(':').next().unwrap_or(variant);
        let jump = mean_jump(&x, &y);
        let numbers = [
            per_draw,
            jump,
            jump / per_draw,
            changes(&x, &y),
            largest_error(&x, &y),
            1000.0 * least / count,
            1000.0 * least / (count * per_draw),
        ];
        rows.push((name, numbers));
    }
    let [metropolis, hmc, _nuts] = [0, 1, 2].map(|k: usize| rows[k].1);
    Ok(BenchTable {
        columns: vec![
            "sampler",
            "evaluations_per_draw",
            "distance",
            "distance_per_evaluation",
            "other_component",
            "share_error",
            "ess_per_1000_draws",
            "ess_per_1000_evaluations",
        ],
        rows: rows
            .iter()
            .map(|(name, numbers)| row(&[*name], numbers))
            .collect(),
        notes: vec![
            "distance: mean distance of successive draws; other_component: share of draws in another component than the one before; \
             share_error: largest difference of a component's share of draws from 1/9; effective draws of the worse coordinate"
                .to_owned(),
        ],
        findings: vec![
            Finding {
                claim: "successive draws of HMC lie farther apart than those of Metropolis-Hastings (a picture, without numbers)",
                reproduced: hmc[1] > metropolis[1],
                because: format!(
                    "mean distances are {:.2} and {:.2}; but {:.0} % of the draws of HMC and {:.0} % of those of Metropolis are in another \
                     component than the one before",
                    hmc[1],
                    metropolis[1],
                    100.0 * hmc[3],
                    100.0 * metropolis[3]
                ),
            },
            Finding {
                claim: "HMC moves among the components at less cost, which the picture suggests and the source does not count",
                reproduced: hmc[6] > metropolis[6],
                because: format!(
                    "a thousand evaluations make {:.1} effective draws with HMC, whose draws cost {:.1} of them, and {:.1} with Metropolis; \
                     gradients do not tell where other components are",
                    hmc[6], hmc[0], metropolis[6]
                ),
            },
        ],
        plots: vec![
            Plot::points("sampler", &["distance"]),
            Plot::points("sampler", &["distance_per_evaluation"]),
        ],
        ..BenchTable::default()
    })
}

/// The component of a coordinate: 0, 1 or 2.
fn component(x: f64) -> usize {
    (x / APART + 1.5).clamp(0.0, 2.5) as usize
}

fn pairs<'a>(
    x: &'a [Vec<f64>],
    y: &'a [Vec<f64>],
) -> impl Iterator<Item = ([f64; 2], [f64; 2])> + 'a {
    let chains = x.iter().zip(y);
    chains.flat_map(|(x, y)| {
        let ends = x.windows(2).zip(y.windows(2));
        ends.map(|(x, y)| ([x[0], y[0]], [x[1], y[1]]))
    })
}

fn mean_jump(x: &[Vec<f64>], y: &[Vec<f64>]) -> f64 {
    let distances = pairs(x, y).map(|(a, b)| (a[0] - b[0]).hypot(a[1] - b[1]));
    distances.sum::<f64>() / pairs(x, y).count() as f64
}

fn changes(x: &[Vec<f64>], y: &[Vec<f64>]) -> f64 {
    let changed = pairs(x, y).filter(|(a, b)| a.map(component) != b.map(component));
    changed.count() as f64 / pairs(x, y).count() as f64
}

fn largest_error(x: &[Vec<f64>], y: &[Vec<f64>]) -> f64 {
    let mut counts = [0.0_f64; 9];
    for (x, y) in x.iter().flatten().zip(y.iter().flatten()) {
        counts[3 * component(*x) + component(*y)] += 1.0;
    }
    let total: f64 = counts.iter().sum();
    let errors = counts.iter().map(|count| (count / total - 1.0 / 9.0).abs());
    errors.fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::super::problem::testing::{number, quick};
    use super::*;

    /// Draws of HMC are farther apart, and dearer; all find all components with about their shares.
    #[test]
    #[ignore = "long: run by .ci/long"]
    fn draws_of_hmc_are_farther_apart() {
        let table = quick(run);
        assert!(table.findings[0].reproduced);
        let of = |sampler, column| number(&table, &[sampler], column);
        assert!(of("hmc", "distance") > 1.2 * of("metropolis", "distance"));
        assert!(of("hmc", "evaluations_per_draw") > 3.0);
        for sampler in ["metropolis", "hmc", "nuts"] {
            // 20,000 draws, of which one in fifty counts, know a share to 0.016.
            assert!(of(sampler, "share_error") < 0.07, "{sampler}");
        }
    }
}
