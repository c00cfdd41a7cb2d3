//! Hamiltonian Monte Carlo on subsamples with worse and worse control variates.
//!
//! Source: Dang, Quiroz, Kohn, Tran and Villani (2019), section 6.8 and figures 8 and 9: log likelihoods of rows are compared with
//! their Taylor expansions of order 2, 1 and 0. First order "survives" a large variance of the estimated log likelihood and is very
//! accurate, order 0 is too crude. Rows are drawn with equal chances, as there, and as many for all orders; the source's data are its
//! bankruptcy data, here a logistic regression whose posterior is normal to within a few hundredths of a standard deviation, so that its
//! quadratic approximation is the truth.

use super::certificates::job_of;
use super::problem::{info, row, truth_at_mode};
use super::{BenchOptions, BenchTable, Finding, Plot};
use crate::error::BenchError;
use ergodic_analysis::bias_check::finished;
use ergodic_analysis::comparison::{Variant, measure};
use ergodic_base::Control;
use ergodic_core::samplers::LOG_LIK_VARIANCE;
use ergodic_diagnostics::quantiles;

/// The table, and in the quick version.
const TABLES: [&str; 2] = ["100000x10", "20000x4"];
/// Rows of a subsample.
const BATCH: usize = 500;
/// Draws per chain, and in the quick version.
const DRAWS: [u64; 2] = [2_000, 500];
/// Largest shift of a mean, in standard deviations, and largest error of a standard deviation, as a share, of an accurate run.
const ACCURATE: f64 = 0.15;

/// Runs the experiment.
///
/// # Errors
/// A run cannot be prepared.
pub fn run(options: &BenchOptions) -> Result<BenchTable, BenchError> {
    let quick = usize::from(options.quick);
    let job = job_of(TABLES[quick], options.seed, "nuts", None)?;
    let truth = truth_at_mode(&job)?;
    let mut rows = Vec::new();
    let mut found = Vec::new();
    for order in [2, 1, 0] {
        // Trajectories of the source's length.
        let variant = format!("hmc-ecs:order={order}:batch={BATCH}:scheme=iid:trajectory=1.2");
        let variant: Variant = (variant.parse())?;
        let mut job = job.with_settings(variant.entry.spec.id, variant.settings)?;
        job.recipe.run.draws = DRAWS[quick];
        let run = finished(job, &Control::default())?;
        let variances = info(&run, LOG_LIK_VARIANCE).concat();
        let variance = quantiles::median(&[&variances]).unwrap_or(f64::NAN);
        let measured = measure(&run, &truth);
        let numbers = measured.map_or([f64::NAN; 6], |it| {
            [
                it.accept_rows.unwrap_or(f64::NAN),
                it.accept.unwrap_or(f64::NAN),
                it.mean_shift,
                it.sd_ratio.0,
                it.sd_ratio.1,
                it.inefficiency,
            ]
        });
        let numbers = [&[order as f64, variance], numbers.as_slice()].concat();
        rows.push(row(&[], &numbers));
        found.push(numbers);
    }
    let is_accurate = |k: usize| {
        let numbers = &found[k];
        let [shift, low, high] = [numbers[4], numbers[5], numbers[6]];
        shift < ACCURATE && low > 1.0 - ACCURATE && high < 1.0 + ACCURATE
    };
    Ok(BenchTable {
        columns: vec![
            "order",
            "variance",
            "accept_rows",
            "accept",
            "mean_shift_sd",
            "sd_ratio_least",
            "sd_ratio_most",
            "inefficiency",
        ],
        rows,
        notes: vec![format!(
            "logistic regression of {}, subsamples of {BATCH} rows with equal chances; variance: median over draws of the estimated \
             variance of the log likelihood's estimate; accept_rows: of new rows; shifts and ratios against the quadratic approximation",
            TABLES[quick]
        )],
        findings: vec![
            Finding {
                claim: "control variates of the first order are very accurate though their variance is larger",
                reproduced: is_accurate(1) && found[1][1] > found[0][1],
                because: format!(
                    "variance {:.2e} with order 1 and {:.2e} with order 2; means are within {:.2} and {:.2} standard deviations of the truth",
                    found[1][1], found[0][1], found[1][4], found[0][4]
                ),
            },
            Finding {
                claim: "control variates of order 0 are too crude",
                reproduced: !is_accurate(2),
                because: format!(
                    "variance {:.0}, new rows are accepted {:.1} times in 100, means are {:.2} standard deviations off and standard \
                     deviations between {:.2} and {:.2} of the true ones",
                    found[2][1],
                    100.0 * found[2][2],
                    found[2][4],
                    found[2][5],
                    found[2][6]
                ),
            },
        ],
        plots: vec![
            Plot::points("order", &["variance"]).log_y(),
            Plot::points("order", &["mean_shift_sd"]),
            Plot::points("order", &["inefficiency"]),
        ],
        ..BenchTable::default()
    })
}

#[cfg(test)]
mod tests {
    use super::super::Cell;
    use super::super::problem::testing::quick;
    use super::*;

    #[test]
    fn expansions_of_order_zero_are_too_crude() {
        let table = quick(run);
        assert!(table.findings.iter().all(|it| it.reproduced));
        let column = |k: usize| -> Vec<f64> {
            let numbers = table.rows.iter().map(|row| match row[k] {
                Cell::Number(number) => number,
                _ => f64::NAN,
            });
            numbers.collect()
        };
        // Each order less adds orders of magnitude to the variance.
        let variance = column(1);
        assert!(variance[1] > 10.0 * variance[0] && variance[2] > 10.0 * variance[1]);
        let accept = column(2);
        assert!(accept[2] < 0.5 * accept[0], "{accept:?}");
    }
}
