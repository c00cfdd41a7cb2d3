//! HMC on subsamples beside its rivals: relative computational time.
//!
//! Source: Dang, Quiroz, Kohn, Tran and Villani (2019), section 6 with tables 1 to 4: logistic regressions of HIGGS (11 million rows, 29
//! columns with the intercept) and of Swedish bankruptcies (4.7 million firm-years, 81 columns of splines, not public). Times are numbers
//! of densities and gradients of single rows per effective draw, by parameter, over those of the perturbed HMC-ECS; the source counts
//! training and warm-up of its own samplers and not those of SGLD and SG-HMC, and so is it here. With `--data` the rows are those of that
//! file, whose last column is the outcome; without it there are fewer rows than in the source, simulated.
//!
//! Rivals have control variates at the mode of all rows, and their steps by default, where the source has trial and error.

use super::problem::{Problem, row};
use super::tall::{Shape, Tall};
use super::{BenchOptions, BenchTable, Finding};
use ergodic_analysis::JobError;
use ergodic_analysis::comparison::{Measured, measure};
use ergodic_core::design::Columns as _;
use ergodic_core::formula::quote_name;
use ergodic_diagnostics::quantiles;

/// Samplers; the second is the unit of cost, the first the truth.
const SAMPLERS: [&str; 7] = [
    "hmc",
    "hmc-ecs",
    "hmc-ecs-signed",
    "sghmc",
    "sghmc-cv",
    "sgld",
    "sgld-cv",
];
/// Draws per chain, and in the quick version, of samplers whose draws are cheap, and of those that take passes over many rows.
const DRAWS: [u64; 2] = [1_000, 250];
const DEAR_DRAWS: [u64; 2] = [150, 250];
const DEAR: [&str; 3] = ["hmc", "sghmc", "sgld"];
/// Warm-up of HMC with all rows.
const WARMUP: u64 = 200;
/// What HMC with all rows costs at least where subsamples cost a small part of it.
const CHEAP: f64 = 5.0;
/// Largest error of a standard deviation, as a share, and shift of a mean in standard deviations, of an accurate run.
const ACCURATE: f64 = 0.15;

/// What is little more: the source's larger median and as much again.
const LITTLE: f64 = 3.0;

/// Many rows of few columns.
///
/// # Errors
/// The file cannot be read or a run cannot be prepared.
pub fn higgs(options: &BenchOptions) -> Result<BenchTable, JobError> {
    let shape = Shape {
        rows: if options.quick { 10_000 } else { 500_000 },
        numbers: if options.quick { 5 } else { 28 },
        flags: 0,
        intercept: 0.0,
    };
    let tall = Tall::of(options, shape)?;
    let formula = tall.formula.clone();
    bench(tall, &formula, options)
}

/// A rare outcome and splines of every column.
///
/// # Errors
/// The file cannot be read or a run cannot be prepared.
pub fn bankruptcy(options: &BenchOptions) -> Result<BenchTable, JobError> {
    /// Functions of a spline, as in the source.
    const FUNCTIONS: usize = 10;
    const QUICK_FUNCTIONS: usize = 4;
    let shape = Shape {
        rows: if options.quick { 10_000 } else { 200_000 },
        numbers: if options.quick { 2 } else { 8 },
        flags: 0,
        // One row in a hundred.
        intercept: -5.0,
    };
    let tall = Tall::of(options, shape)?;
    let functions = if options.quick {
        QUICK_FUNCTIONS
    } else {
        FUNCTIONS
    };
    let mut names: Vec<String> = tall.table.names().map(quote_name).collect();
    let outcome = names.pop().unwrap_or_default();
    let splines: Vec<String> = names
        .iter()
        .map(|name| format!("bs({name}, {functions})"))
        .collect();
    let formula = format!("{outcome} ~ {}", splines.join(" + "));
    bench(tall, &formula, options)
}

fn bench(tall: Tall, formula: &str, options: &BenchOptions) -> Result<BenchTable, JobError> {
    let quick = usize::from(options.quick);
    let count = tall.table.num_rows();
    let problem = Problem::new(
        ("logistic", formula),
        tall.table,
        options.seed,
        |_recipe| {},
    )?;
    let mut truth = None;
    let mut found: Vec<(&str, Option<Measured>)> = Vec::new();
    for id in SAMPLERS {
        let run = problem.run(id, |run| {
            let draws = if DEAR.contains(&id) {
                DEAR_DRAWS
            } else {
                DRAWS
            };
            run.draws = draws[quick];
            if id == "hmc" {
                run.warmup = Some(WARMUP);
            }
        })?;
        let truth = truth.get_or_insert_with(|| run.report().summary.clone());
        found.push((id, measure(&run, truth)));
    }
    let unit = found[1].1.as_ref();
    let costs: Vec<[f64; 3]> = found
        .iter()
        .map(|(id, measured)| relative(measured.as_ref(), unit, !id.contains("hmc-ecs")))
        .collect();
    let rows = found.iter().zip(&costs).map(|((id, measured), cost)| {
        let numbers = measured.as_ref().map_or([f64::NAN; 7], |it| {
            [
                it.mean_shift,
                it.sd_ratio.0,
                it.sd_ratio.1,
                it.accept.unwrap_or(f64::NAN),
                it.accept_rows.unwrap_or(f64::NAN),
                it.inefficiency,
                100.0 * it.rows_share,
            ]
        });
        row(&[*id], &[cost.as_slice(), &numbers].concat())
    });
    let place = |id: &str| SAMPLERS.iter().position(|it| *it == id).unwrap_or(0);
    let median = |id: &str| costs[place(id)][1];
    let error = |id: &str| {
        found[place(id)].1.as_ref().map_or(f64::NAN, |it| {
            let low = 1.0 - it.sd_ratio.0;
            it.mean_shift.max(low).max(it.sd_ratio.1 - 1.0)
        })
    };
    Ok(BenchTable {
        columns: vec![
            "sampler",
            "rct_min",
            "rct_median",
            "rct_max",
            "mean_shift_sd",
            "sd_ratio_least",
            "sd_ratio_most",
            "accept",
            "accept_rows",
            "inefficiency",
            "rows_percent",
        ],
        rows: rows.collect(),
        notes: vec![format!(
            "{count} rows: {}; rct: densities and gradients of rows per effective draw of a parameter over those of hmc-ecs, least, median and \
             largest over parameters, with the warm-up of hmc-ecs and hmc-ecs-signed only; shifts and ratios against hmc; rows_percent: \
             of the rows, used by a step",
            tall.source
        )],
        findings: vec![
            Finding {
                claim: "HMC-ECS is as accurate as HMC on all rows at a small part of its cost",
                reproduced: error("hmc-ecs") < ACCURATE && median("hmc") > CHEAP,
                because: format!(
                    "means and standard deviations are off by at most {:.2}, and HMC costs {:.0} times as much (the source: 642.8 and 478.7 \
                     with more rows, in proportion to which this grows)",
                    error("hmc-ecs"),
                    median("hmc")
                ),
            },
            Finding {
                claim: "the signed variant costs little more than the perturbed one: 1.15 and 1.6 times, in the median",
                reproduced: median("hmc-ecs-signed") < LITTLE,
                because: signed(
                    found[place("hmc-ecs-signed")].1.as_ref(),
                    median("hmc-ecs-signed"),
                ),
            },
            Finding {
                claim: "SG-HMC and SGLD with control variates cost more than HMC-ECS: 3 and 12 times and more, in the median",
                reproduced: median("sghmc-cv") > 1.0 && median("sgld-cv") > 1.0,
                because: format!(
                    "{:.2} and {:.2} times, the warm-up of both left out; steps by default, chosen from the predicted bias, are longer than \
                     those that the source found by trial and error",
                    median("sghmc-cv"),
                    median("sgld-cv")
                ),
            },
            Finding {
                claim: "SGLD is biased, with control variates and without",
                reproduced: error("sgld") > ACCURATE && error("sgld-cv") > ACCURATE,
                because: format!(
                    "means and standard deviations are off by at most {:.2} with control variates and {:.2} without, at steps that are chosen \
                     by the bias they bring",
                    error("sgld-cv"),
                    error("sgld")
                ),
            },
        ],
        ..BenchTable::default()
    })
}

/// What the signed variant costs, or why it costs more than can be said.
fn signed(measured: Option<&Measured>, median: f64) -> String {
    let positive = measured.and_then(|it| it.positive).unwrap_or(f64::NAN);
    let signs = 100.0 * positive;
    match median.is_nan() {
        true => format!(
            "{signs:.0} % of its draws have positive weights, so that these cancel and leave no estimate: differences of rows are too large \
             here for the minibatches that it takes by default"
        ),
        false => format!(
            "it costs {median:.2} times as much, and {signs:.0} % of its draws have positive weights"
        ),
    }
}

/// The least, the median and the largest cost of a parameter over that of `unit`, of the draws alone where `is_rival`.
fn relative(measured: Option<&Measured>, unit: Option<&Measured>, is_rival: bool) -> [f64; 3] {
    let (Some(measured), Some(unit)) = (measured, unit) else {
        return [f64::NAN; 3];
    };
    let pairs = measured.costs.iter().zip(&unit.costs);
    let mut ratios: Vec<f64> = pairs
        .filter_map(|(own, unit)| {
            let own = (*own)?;
            Some(if is_rival { own[1] } else { own[0] } / (*unit)?[0])
        })
        .collect();
    let middle = quantiles::of_unsorted(&mut ratios, 0.5);
    let least = ratios.iter().copied().fold(f64::NAN, f64::min);
    [
        least,
        middle,
        ratios.iter().copied().fold(f64::NAN, f64::max),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::problem::testing::quick;
    use super::*;

    #[test]
    fn subsamples_are_as_accurate_as_all_rows_and_cheaper() {
        let table = quick(higgs);
        assert!(table.findings[0].reproduced);
    }

    #[test]
    fn splines_of_rare_outcomes_are_sampled_from_subsamples() {
        let table = quick(bankruptcy);
        assert_eq!(table.rows.len(), SAMPLERS.len());
    }
}
