//! OSGFS beside random-walk Metropolis on logistic regressions of three sets of data.
//!
//! Source: El Hanchi (2018), section 3.1 and figure 1: N(0, 100 I) priors, draws projected on the largest and the smallest principal
//! component of the posterior with ellipses at three standard deviations, which agree by eye. Minibatches are those of the source. With
//! `--data` the rows are those of that file, whose last column is the outcome; without it they are simulated, of the number of rows and
//! predictors of the source's sets. Metropolis makes fewer draws than the 100,000 of the source, each of which is a pass over all rows.

use super::problem::{Problem, draws, ess, passes, row};
use super::tall::{Shape, Tall};
use super::{BenchOptions, BenchTable, Finding, Plot};
use crate::error::BenchError;
use ergodic_analysis::Run;
use ergodic_base::linalg::{dot, quadratic_form, symmetric_eigen};
use ergodic_core::design::Columns as _;
use ergodic_core::models::DefaultPriors;

/// A set of data of the source.
struct Set {
    name: &'static str,
    rows: usize,
    predictors: usize,
    /// Rows of a minibatch, and OSGFS draws of all chains.
    batch: usize,
    draws: u64,
}

const SETS: [Set; 3] = [
    Set {
        name: "Skin Segmentation",
        rows: 245_057,
        predictors: 3,
        batch: 10_000,
        draws: 100_000,
    },
    Set {
        name: "Cod RNA",
        rows: 488_566,
        predictors: 8,
        batch: 10_000,
        draws: 100_000,
    },
    Set {
        name: "Run or Walk",
        rows: 88_589,
        predictors: 6,
        batch: 1_000,
        draws: 10_000,
    },
];

/// The set of the quick version.
const QUICK: Set = Set {
    name: "small",
    rows: 10_000,
    predictors: 3,
    batch: 400,
    draws: 20_000,
};

/// The set of a file, whose rows and minibatches are what they are.
const FILE: Set = Set {
    name: "the file",
    rows: 0,
    predictors: 0,
    batch: 0,
    draws: 100_000,
};

/// Rows of a file for each row of a minibatch, which has at most as many as the source takes.
const SHARE: usize = 25;
const MOST_BATCH: usize = 10_000;

/// Draws of Metropolis of all chains, and in the quick version.
const METROPOLIS: [u64; 2] = [20_000, 8_000];
/// Largest error of a half-axis of the ellipse, as a share, and largest shift of its middle, in standard deviations, that no eye sees.
const ALIKE: f64 = 0.15;
/// Passes over the rows below which an effective draw cannot be said to cost a pass.
const PASS: f64 = 0.5;

/// Runs the experiment.
///
/// # Errors
/// The file cannot be read or a run cannot be prepared.
pub fn run(options: &BenchOptions) -> Result<BenchTable, BenchError> {
    let quick = usize::from(options.quick);
    let mut rows = Vec::new();
    let mut worst = 0.0_f64;
    let mut costs = Vec::new();
    let mut cheapest = f64::INFINITY;
    let mut source = String::new();
    let sets: &[Set] = match (options.data.is_some(), options.quick) {
        (true, _) => &[FILE],
        (false, true) => &[QUICK],
        (false, false) => &SETS,
    };
    for set in sets {
        let shape = Shape {
            rows: set.rows,
            numbers: set.predictors,
            flags: 0,
            intercept: -0.5,
        };
        let tall = Tall::of(options, shape)?;
        let count = tall.table.num_rows();
        let batch = match set.batch {
            0 => (count / SHARE).clamp(50, MOST_BATCH),
            batch => batch,
        };
        source = tall.source;
        let names = ("logistic", tall.formula.as_str());
        let problem = Problem::new(names, tall.table, options.seed, |recipe| {
            recipe.set_default_priors(DefaultPriors::Papers);
        })?;
        let chains = problem.job().recipe.run.chains as u64;
        let metropolis = problem.run("metropolis:steps_per_draw=1", |run| {
            run.draws = METROPOLIS[quick] / chains;
        })?;
        let variant = format!("osgfs:batch={batch}:steps_per_draw=1");
        let osgfs = problem.run(&variant, |run| run.draws = set.draws / chains)?;
        let truth = Ellipse::of(&metropolis);
        let (shift, ratios) = truth.compare(&osgfs);
        let cost = [&metropolis, &osgfs].map(|run| passes(run) / truth.ess(run));
        rows.push(row(
            &[set.name],
            &[
                count as f64,
                batch as f64,
                shift,
                ratios[0],
                ratios[1],
                cost[0],
                cost[1],
            ],
        ));
        worst = ratios
            .iter()
            .map(|ratio| (ratio - 1.0).abs())
            .fold(worst.max(shift), f64::max);
        cheapest = cheapest.min(cost[1]);
        costs.push(format!("{:.2} and {:.2}", cost[1], cost[0]));
    }
    Ok(BenchTable {
        columns: vec![
            "data",
            "rows",
            "batch",
            "shift_sd",
            "ratio_largest",
            "ratio_smallest",
            "passes_per_ess_metropolis",
            "passes_per_ess_osgfs",
        ],
        rows,
        notes: vec![format!(
            "{source}; shift_sd: distance of the middles along the largest and the smallest principal component, in standard deviations, the \
             larger one; ratio: half-axes of the ellipse of OSGFS over those of Metropolis; passes over the rows per effective draw along the \
             worse of both components, warm-up included"
        )],
        findings: vec![
            Finding {
                claim: "draws of OSGFS and of Metropolis have the same ellipses along the largest and the smallest principal component",
                reproduced: worst < ALIKE,
                because: format!(
                    "middles and half-axes differ by at most {worst:.2} standard deviations, and what the eye sees begins at {ALIKE}"
                ),
            },
            Finding {
                claim: "OSGFS is optimal among samplers of continuous time, which would mean that draws cost a minibatch and not the data",
                reproduced: cheapest < PASS,
                because: format!(
                    "an effective draw takes {} passes over the rows by OSGFS and Metropolis: with k = 4|S|/(N + |S|) draws have the \
                     autocorrelation time N/|S|, which is one pass whatever the minibatch",
                    costs.join("; ")
                ),
            },
        ],
        plots: vec![
            Plot::points("data", &["ratio_largest", "ratio_smallest"]).named("ratio of half-axes"),
            Plot::points(
                "data",
                &["passes_per_ess_metropolis", "passes_per_ess_osgfs"],
            )
            .named("passes per effective draw")
            .log_y(),
        ],
        ..BenchTable::default()
    })
}

/// Mean, and the largest and smallest principal component of draws.
struct Ellipse {
    names: Vec<String>,
    mean: Vec<f64>,
    /// The largest and the smallest, with their standard deviations.
    axes: [(Vec<f64>, f64); 2],
}

fn columns(run: &Run, names: &[String]) -> Vec<Vec<Vec<f64>>> {
    names.iter().map(|name| draws(run, name)).collect()
}

/// Mean (D) and covariance (D×D).
fn moments(columns: &[Vec<Vec<f64>>]) -> (Vec<f64>, Vec<f64>) {
    let all: Vec<Vec<f64>> = columns.iter().map(|chains| chains.concat()).collect();
    let count = all[0].len() as f64;
    let mean: Vec<f64> = all
        .iter()
        .map(|it| it.iter().sum::<f64>() / count)
        .collect();
    let mut covariance = Vec::with_capacity(all.len() * all.len());
    for (a, mean_a) in all.iter().zip(&mean) {
        for (b, mean_b) in all.iter().zip(&mean) {
            let products = a.iter().zip(b).map(|(a, b)| (a - mean_a) * (b - mean_b));
            covariance.push(products.sum::<f64>() / (count - 1.0));
        }
    }
    (mean, covariance)
}

impl Ellipse {
    fn of(run: &Run) -> Self {
        let names = run.job().model.params().iter();
        let names: Vec<String> = names.map(|param| param.name.to_string()).collect();
        let (mean, covariance) = moments(&columns(run, &names));
        let dim = mean.len();
        // Ascending eigenvalues; a covariance of draws is finite.
        let (values, vectors) = symmetric_eigen(&covariance, dim).unwrap_or_default();
        let axis = |k: usize| {
            let vector = vectors.chunks_exact(dim).nth(k);
            let value = values.get(k).copied().unwrap_or(f64::NAN);
            (vector.map_or_else(Vec::new, <[f64]>::to_vec), value.sqrt())
        };
        Self {
            names,
            mean,
            axes: [axis(dim - 1), axis(0)],
        }
    }

    /// The larger shift of the middle along both axes, and ratios of half-axes.
    fn compare(&self, run: &Run) -> (f64, [f64; 2]) {
        let (mean, covariance) = moments(&columns(run, &self.names));
        let gap: Vec<f64> = mean.iter().zip(&self.mean).map(|(a, b)| a - b).collect();
        let shifts = self
            .axes
            .iter()
            .map(|(axis, sd)| (dot(axis, &gap) / sd).abs());
        let ratios = [0, 1].map(|k: usize| {
            let (axis, sd) = &self.axes[k];
            quadratic_form(&covariance, axis).sqrt() / sd
        });
        (shifts.fold(0.0, f64::max), ratios)
    }

    /// The smaller effective sample size along both axes.
    fn ess(&self, run: &Run) -> f64 {
        let columns = columns(run, &self.names);
        let along = |axis: &[f64]| -> f64 {
            let chains = 0..columns[0].len();
            let projected: Vec<Vec<f64>> = chains
                .map(|chain| {
                    let length = columns[0][chain].len();
                    let at = |i: usize| -> f64 {
                        let parts = columns.iter().zip(axis);
                        parts.map(|(column, a)| a * column[chain][i]).sum()
                    };
                    (0..length).map(at).collect()
                })
                .collect();
            ess(&projected)
        };
        let sizes = self.axes.iter().map(|(axis, _)| along(axis));
        sizes.fold(f64::INFINITY, f64::min)
    }
}

#[cfg(test)]
mod tests {
    use super::super::problem::testing::{number, quick};
    use super::*;

    #[test]
    fn ellipses_agree_and_an_effective_draw_costs_a_pass() {
        let table = quick(run);
        assert!(table.findings[0].reproduced);
        // One pass by theory; the burn-in and an effective sample size known to a tenth are on top.
        let cost = number(&table, &["small"], "passes_per_ess_osgfs");
        assert!((0.6..2.0).contains(&cost), "{cost}");
    }
}
