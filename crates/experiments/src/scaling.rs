//! What an effective draw costs as the table grows: rows touched per effective draw of the worst parameter, and the bias.
//!
//! With control variates the gradient noise falls with the posterior's width, so that a fixed minibatch gives a fixed
//! accuracy (Baker 2018, section 3.2: the cost of SGLD-CV does not grow with N once the mode is known; that of SGLD grows like
//! N).

use std::path::Path;

use super::problem::truth_at_mode;
use super::{BenchOptions, BenchTable, Cell, Plot};
use crate::error::BenchError;
use ergodic_analysis::bias_check::finished;
use ergodic_analysis::comparison::{Measured, measure};
use ergodic_analysis::{Job, Recipe, SAMPLE_PREFIX, Scale};
use ergodic_base::Control;
use ergodic_core::models::DefaultPriors;
use ergodic_data::samples;
use ergodic_data::synthetic::PREFIX;

/// Columns of the tables, the intercept included.
const COLUMNS: usize = 10;
/// Rows of the tables.
const SIZES: [usize; 4] = [10_000, 100_000, 1_000_000, 10_000_000];
/// Rows of the small version.
const QUICK_SIZES: [usize; 2] = [1_000, 10_000];
/// By how many times fewer rows are the most that a sampler is tried with there.
const QUICK_SHARE: usize = 100;
/// Samplers and the most rows that they are tried with: beyond, a run takes hours.
const ENTRANTS: [(&str, usize); 5] = [
    ("sgld-cv", 10_000_000),
    ("osgfs-cv", 10_000_000),
    ("hmc-ecs", 10_000_000),
    ("sgld", 1_000_000),
    ("hmc", 100_000),
];
/// Draws per chain: enough for an effective sample size to within a tenth.
const DRAWS: u64 = 500;

/// Runs the experiment.
///
/// # Errors
/// A run cannot be prepared.
pub fn run(options: &BenchOptions) -> Result<BenchTable, BenchError> {
    let (sizes, fewer) = options.sized((&QUICK_SIZES[..], QUICK_SHARE), (&SIZES[..], 1));
    let mut rows = Vec::new();
    for &num_obs in sizes {
        let name = format!("{PREFIX}{num_obs}x{COLUMNS}");
        let formula = samples::formula(&name).unwrap_or_default();
        let mut recipe = Recipe::new(&format!("{SAMPLE_PREFIX}{name}"), "logistic", &formula);
        recipe.set_default_priors(DefaultPriors::Papers);
        recipe.run.seed = options.seed;
        recipe.report.scale = Scale::Standardised;
        let job = Job::prepare(&recipe, Path::new("."), None, &Control::default())?;
        let truth = truth_at_mode(&job)?;
        let entrants = ENTRANTS.iter().filter(|(_, most)| num_obs <= *most / fewer);
        for &(id, _most) in entrants {
            let mut job = job.with_sampler(id)?;
            job.recipe.run.draws = DRAWS;
            let run = finished(job, &Control::default())?;
            rows.push(row(num_obs, id, measure(&run, &truth)));
        }
    }
    Ok(BenchTable {
        columns: vec!["rows", "sampler", "rows_per_ess", "mean_shift_sd", "sd_ratio_least", "sd_ratio_most", "rhat"],
        rows,
        notes: vec![
            "rows_per_ess: gradients and densities of single rows per effective draw of the worst parameter, warm-up included; \
             shifts and ratios against the quadratic approximation at the mode"
                .to_owned(),
            format!("logistic regression, {COLUMNS} coefficients, default settings, four chains of {DRAWS} draws"),
        ],
        plots: vec![Plot::lines("rows", &["rows_per_ess"]).by(&["sampler"]).log_x().log_y()],
        ..BenchTable::default()
    })
}

fn row(num_obs: usize, id: &str, outcome: Option<Measured>) -> Vec<Cell> {
    let mut cells = vec![Cell::Count(num_obs as u64), Cell::Text(id.to_owned())];
    let numbers = outcome.map_or([f64::NAN; 5], |m| {
        [
            m.rows_per_ess,
            m.mean_shift,
            m.sd_ratio.0,
            m.sd_ratio.1,
            m.rhat,
        ]
    });
    cells.extend(numbers.map(Cell::Number));
    cells
}

#[cfg(test)]
mod tests {
    use super::super::problem::testing::{number, quick_without_claims};
    use super::*;

    /// With ten times the rows an effective draw of SGLD touches about ten times as many, one of SGLD-CV hardly more.
    #[test]
    #[ignore = "long: run by .ci/long"]
    fn the_cost_grows_without_control_variates_alone() {
        let table = quick_without_claims(run);
        // Plain HMC is tried with the fewest rows alone.
        assert_eq!(table.rows.len(), 2 * ENTRANTS.len() - 1);
        for row in &table.rows {
            let [size, id] = [0, 1].map(|k| row[k].plain());
            let of = |column| number(&table, &[&size, &id], column);
            assert!(of("rows_per_ess") > 0.0 && of("rows_per_ess").is_finite());
            assert!(of("sd_ratio_least") <= of("sd_ratio_most"));
            // Of posteriors that are nearly normal every sampler knows means and standard deviations.
            assert!(of("mean_shift_sd") < 0.5, "{size} {id}");
            assert!(of("rhat") < 1.1, "{size} {id}");
        }
        let growth = |id: &str| {
            let [few, many] =
                QUICK_SIZES.map(|size| number(&table, &[&size.to_string(), id], "rows_per_ess"));
            many / few
        };
        let [plain, centred] = ["sgld", "sgld-cv"].map(growth);
        assert!(centred < 0.5 * plain, "{plain} {centred}");
    }
}
