//! SGLD with control variates beside NUTS as the rows grow: how far each is from the posterior, and what it costs.
//!
//! Source: Baker (2018), section 4.2 and figure 4.2.1: the mean of normal numbers with a N(0, 10) prior, N from 1,000 to 1,000,000; steps,
//! minibatches and 1,000 iterations are those of the authors' script. In the source the run time of Stan grows quickly and that of
//! `sgldcv` slowly, and the Kullback-Leibler divergence of `sgldcv` is poor for small N and reasonable for large N. Times here are counted in
//! gradients of rows, which do not depend on the machine. The posterior is normal and known.
//!
//! The script's step ε is h = ε/2, so that a chain travels 1000 ε N/2 units of Langevin time: 15 with 1,000 rows and 150 with 1,000,000.
//! Beside it stands the default step.

use rand_distr::{Distribution as _, StandardNormal};

use super::problem::{Problem, draws, mean_and_sd, row, table};
use super::{BenchOptions, BenchTable, Finding, Plot};
use crate::error::BenchError;
use ergodic_analysis::Run;
use ergodic_base::{Purpose, stream};
use ergodic_core::models::Marginal;

/// Numbers of rows with the step ε of the script.
const SIZES: [(usize, f64); 4] = [
    (1_000, 3e-5),
    (10_000, 7e-6),
    (100_000, 3e-6),
    (1_000_000, 3e-7),
];
/// Rows of a minibatch, and iterations.
const BATCH: usize = 1_000;
const DRAWS: u64 = 1_000;
/// Chains, each a repetition.
const CHAINS: usize = 5;

/// Runs the experiment; the quick version has the two smallest tables.
///
/// # Errors
/// A run cannot be prepared.
pub fn run(options: &BenchOptions) -> Result<BenchTable, BenchError> {
    let sizes = options.sized(&SIZES[..2], &SIZES[..]);
    let mut rows = Vec::new();
    let mut found = Vec::new();
    for &(count, step) in sizes {
        let mut rng = stream(options.seed, count, Purpose::Data);
        let x = (0..count)
            .map(|_| StandardNormal.sample(&mut rng))
            .collect();
        let data = table("normal", vec![("x".to_owned(), x)])?;
        let problem = Problem::new(("normal-mean", "x ~ 1"), data, options.seed, |_recipe| {})?;
        let Some(Marginal::Normal { mean, sd }) = problem.job().model.marginal(0) else {
            return Err(BenchError::Lacking("The posterior is not known"));
        };
        let entrants = [
            (
                "sgld-cv, the script's step",
                format!(
                    "sgld-cv:precondition=none:batch={BATCH}:steps_per_draw=1:step_size={}",
                    0.5 * step
                ),
            ),
            (
                "sgld-cv, default step",
                format!("sgld-cv:batch={BATCH}:steps_per_draw=1"),
            ),
            ("nuts", "nuts".to_owned()),
        ];
        let mut of_size = Vec::new();
        for (name, variant) in entrants {
            let run = problem.run(&variant, |run| {
                run.chains = CHAINS;
                run.draws = DRAWS;
                if name != "nuts" {
                    run.warmup = Some(0);
                    // At the centre, but for rounding.
                    run.start_spread = 1e-6;
                }
            })?;
            let divergence = divergence(&run, mean, sd);
            let view = run.view();
            let gradients: u64 = view.chains.iter().map(|chain| chain.datum_grads).sum();
            let gradients = gradients as f64 / CHAINS as f64;
            rows.push(row(
                &[name],
                &[count as f64, divergence, gradients, view.elapsed_secs],
            ));
            of_size.push((divergence, gradients));
        }
        found.push(of_size);
    }
    let (first, last) = (&found[0], &found[found.len() - 1]);
    let growth = |k: usize| last[k].1 / first[k].1;
    Ok(BenchTable {
        columns: vec!["sampler", "rows", "kl", "gradients", "seconds"],
        rows,
        notes: vec![format!(
            "kl: Kullback-Leibler divergence of the posterior from the normal distribution with mean and standard deviation of a chain's draws, \
             mean over {CHAINS} chains of {DRAWS} draws; gradients of rows of one chain, warm-up included; seconds of all"
        )],
        findings: vec![
            Finding {
                claim: "the cost of an exact sampler grows rapidly with the number of rows, that of SGLD with control variates slowly",
                reproduced: growth(2) > 5.0 * growth(0),
                because: format!(
                    "from {} to {} rows gradients of rows are {:.0} times as many with NUTS and {:.1} times with SGLD-CV",
                    sizes[0].0,
                    sizes[sizes.len() - 1].0,
                    growth(2),
                    growth(0)
                ),
            },
            Finding {
                claim: "the divergence of SGLD with control variates is poor with few rows and reasonable with many",
                reproduced: first[0].0 > 2.0 * last[0].0,
                because: format!(
                    "with the script's steps it is {:.3} with the fewest rows and {:.3} with the most, but with the default step {:.3} and {:.3}: \
                     the script's step makes a chain of the smallest table travel a tenth of the way, which says nothing of the method",
                    first[0].0, last[0].0, first[1].0, last[1].0
                ),
            },
        ],
        plots: vec![
            Plot::lines("rows", &["gradients"])
                .by(&["sampler"])
                .log_x()
                .log_y(),
            Plot::lines("rows", &["kl"]).by(&["sampler"]).log_x(),
        ],
        ..BenchTable::default()
    })
}

/// KL(N(m, s²) ‖ N(m̂, ŝ²)) of the moments of each chain, averaged.
fn divergence(run: &Run, mean: f64, sd: f64) -> f64 {
    let chains = draws(run, "theta");
    let each = chains.iter().map(|chain| {
        let [m, s] = mean_and_sd(chain);
        (s / sd).ln() + (sd * sd + (m - mean).powi(2)) / (2.0 * s * s) - 0.5
    });
    each.sum::<f64>() / chains.len() as f64
}

#[cfg(test)]
mod tests {
    use super::super::problem::testing::quick;
    use super::*;

    #[test]
    fn control_variates_cost_the_same_for_all_sizes() {
        let table = quick(run);
        assert!(table.findings[0].reproduced);
    }
}
