//! How the step that a sampler adapts to its target acceptance falls as the number of parameters d grows.
//!
//! Source: Dang, Quiroz, Kohn, Tran and Villani (2019), section 6.7 and figure 7: linear regression with known noise, N(0, 5² I) priors,
//! 10,000 rows, d = 2, 4, …, 256. HMC-ECS keeps the step of Hamiltonian dynamics, O(d^(−1/4)), which is longer than the O(d^(−1/3)) of
//! Langevin dynamics. With the second order its expansions are exact, with the first the rows of a subsample are as many as make the
//! variance about 1. HMC, MALA and Metropolis stand beside it on a normal target of the same dimension: MALA's Langevin step falls as
//! d^(−1/3), the scale of Metropolis as d^(−1/2).
//!
//! Rates are those of many dimensions: slopes are fitted from d = 16 on.

use std::fmt::Write as _;

use rand_distr::{Distribution as _, StandardNormal};

use super::problem::{Problem, info, log_slope, row, table};
use super::{BenchOptions, BenchTable, Finding, Plot};
use crate::error::BenchError;
use ergodic_analysis::Run;
use ergodic_base::{Purpose, stream};
use ergodic_core::samplers::{ACCEPT, LOG_LIK_VARIANCE, STEP_SIZE};
use ergodic_data::Table;
use ergodic_diagnostics::quantiles;

/// Terms of a sum that are written one after the other.
const MOST_TERMS: usize = 64;
/// Rows, and in the quick version.
const ROWS: [usize; 2] = [10_000, 1_000];
/// Numbers of parameters.
const DIMENSIONS: [usize; 8] = [2, 4, 8, 16, 32, 64, 128, 256];
/// The most of them that each is tried with in the quick version, and the least that slopes are fitted to.
const QUICK_MOST: usize = 64;
const LEAST: usize = 16;
/// Draws per chain.
const DRAWS: u64 = 300;

struct Entrant {
    name: &'static str,
    variant: &'static str,
    /// Whether the sampler is run on the regression.
    on_rows: bool,
    /// The rate at which its step falls by theory.
    theory: f64,
}

/// HMC-ECS with trajectories of the source's length, 1.2.
const ENTRANTS: [Entrant; 5] = [
    Entrant {
        name: "hmc-ecs, order 2",
        variant: "hmc-ecs:scheme=iid:trajectory=1.2",
        on_rows: true,
        theory: -0.25,
    },
    Entrant {
        name: "hmc-ecs, order 1",
        variant: "hmc-ecs:scheme=iid:trajectory=1.2:order=1",
        on_rows: true,
        theory: -0.25,
    },
    Entrant {
        name: "hmc",
        variant: "hmc:metric=diagonal",
        on_rows: false,
        theory: -0.25,
    },
    Entrant {
        name: "mala",
        variant: "mala:steps_per_draw=1",
        on_rows: false,
        theory: -1.0 / 3.0,
    },
    Entrant {
        name: "metropolis",
        variant: "metropolis",
        on_rows: false,
        theory: -0.5,
    },
];

/// Farthest that a slope may be from theory: the steps of HMC-ECS are 1.2/L with a whole number L, and those of others are adapted to within
/// a few per cent.
const CLOSE: f64 = 0.1;

/// Runs the experiment.
///
/// # Errors
/// A run cannot be prepared.
pub fn run(options: &BenchOptions) -> Result<BenchTable, BenchError> {
    let most = options.sized(QUICK_MOST, usize::MAX);
    let dimensions: Vec<usize> = DIMENSIONS.into_iter().filter(|d| *d <= most).collect();
    let mut rows = Vec::new();
    let mut points = vec![Vec::new(); ENTRANTS.len()];
    for &d in &dimensions {
        let regression = regression(d, options)?;
        let normal = Problem::without_data(
            &format!("parameters\n b: vector({d}) ~ normal(0, 1)"),
            options.seed,
        )?;
        for (entrant, points) in ENTRANTS.iter().zip(&mut points) {
            let problem = if entrant.on_rows {
                &regression
            } else {
                &normal
            };
            let run = problem.run(entrant.variant, |run| run.draws = DRAWS)?;
            let [step, accept, variance] =
                [STEP_SIZE, ACCEPT, LOG_LIK_VARIANCE].map(|it| middle(&run, it));
            let summary = run.report();
            let ess = summary.summary.iter().filter_map(|row| row.ess_bulk);
            let count = (DRAWS as usize * run.view().chains.len()) as f64;
            let mut factors: Vec<f64> = ess.map(|ess| count / ess).collect();
            let inefficiency = quantiles::of_unsorted(&mut factors, 0.5);
            rows.push(row(
                &[entrant.name],
                &[d as f64, step, accept, inefficiency, variance],
            ));
            if d >= LEAST {
                points.push((d as f64, step));
            }
        }
    }
    let slopes: Vec<f64> = points.iter().map(|points| log_slope(points)).collect();
    let is_close = |k: usize| (slopes[k] - ENTRANTS[k].theory).abs() < CLOSE;
    let all: Vec<String> = (ENTRANTS.iter().zip(&slopes))
        .map(|(it, slope)| format!("{} {slope:.2} (theory {:.2})", it.name, it.theory))
        .collect();
    Ok(BenchTable {
        columns: vec![
            "sampler",
            "parameters",
            "step",
            "accept",
            "inefficiency",
            "log_lik_variance",
        ],
        rows,
        notes: vec![format!(
            "step: as adapted in units in which standard deviations are 1, of mala Langevin time, of metropolis the scale of proposals; \
             inefficiency: median over parameters of draws per effective draw; {} rows; rates: {}",
            ROWS[usize::from(options.quick)],
            all.join(", ")
        )],
        findings: vec![Finding {
            claim: "the step of HMC-ECS falls as that of HMC, d^(−1/4), slower than that of Langevin dynamics, d^(−1/3)",
            reproduced: [0, 1, 2].into_iter().all(is_close) && slopes[0] > slopes[3],
            because: format!(
                "from {LEAST} parameters on the rates are {:.2} and {:.2} with expansions of order 2 and 1, {:.2} of HMC and {:.2} of MALA",
                slopes[0], slopes[1], slopes[2], slopes[3]
            ),
        }],
        plots: vec![
            Plot::lines("parameters", &["step"])
                .by(&["sampler"])
                .log_x()
                .log_y(),
        ],
        ..BenchTable::default()
    })
}

/// The mean of an information column over the kept draws, NaN where there is none.
fn middle(run: &Run, column: &str) -> f64 {
    let values = info(run, column).concat();
    values.iter().sum::<f64>() / values.len() as f64
}

/// y = x'b + noise of variance 1, without intercept, b ~ N(0, 5²).
fn regression(d: usize, options: &BenchOptions) -> Result<Problem, BenchError> {
    let mut text = "parameters\n".to_owned();
    // Writing to a string does not fail.
    let mut line = |written: String| if writeln!(text, "{written}").is_err() {};
    (1..=d).for_each(|j| line(format!(" b{j} ~ normal(0, 5)")));
    let terms: Vec<String> = (1..=d).map(|j| format!("b{j} * x{j}")).collect();
    // In parts: operations nest no deeper than 200 in models as text.
    let parts: Vec<String> = match terms.len() <= MOST_TERMS {
        true => terms,
        false => terms
            .chunks(MOST_TERMS)
            .map(|part| format!("({})", part.join(" + ")))
            .collect(),
    };
    line(format!("rows\n y ~ normal({}, 1)", parts.join(" + ")));
    Problem::of_text(&text, data(d, options)?, options.seed)
}

fn data(d: usize, options: &BenchOptions) -> Result<Table, BenchError> {
    let mut rng = stream(options.seed, d, Purpose::Data);
    let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
    let count = ROWS[usize::from(options.quick)];
    let mut y: Vec<f64> = (0..count).map(|_| normal()).collect();
    let mut columns = Vec::new();
    for j in 1..=d {
        let (b, x) = (normal(), (0..count).map(|_| normal()).collect::<Vec<_>>());
        y.iter_mut().zip(&x).for_each(|(y, x)| *y += b * x);
        columns.push((format!("x{j}"), x));
    }
    columns.push(("y".to_owned(), y));
    table("regression", columns)
}

#[cfg(test)]
mod tests {
    use super::super::problem::testing::quick;
    use super::*;

    #[test]
    #[ignore = "long: run by .ci/long"]
    fn subsamples_keep_the_steps_of_hamiltonian_dynamics() {
        let table = quick(run);
        assert!(table.findings[0].reproduced);
    }
}
