//! The criterion by which OSGFS ends its burn-in, on and off, from far starts.
//!
//! Source: El Hanchi (2018), section 3.1 and figure 2: the same start, 10,000 iterations with and without criterion (17); with it the
//! algorithm "determines the right burn-in" and collects draws of the posterior only. The picture has no numbers, and the start is not
//! printed; here chains start 50 posterior standard deviations around the mode. All three forms of the criterion stand in the table.

use super::certificates::job_of;
use super::problem::{row, truth_at_mode};
use super::{BenchOptions, BenchTable, Finding, Plot};
use crate::error::BenchError;
use ergodic_analysis::bias_check::finished;
use ergodic_analysis::comparison::{Variant, measure};
use ergodic_base::Control;

/// The table, and in the quick version.
const TABLES: [&str; 2] = ["100000x10", "20000x4"];
/// Draws of a chain that are kept: the iterations of the source, without its burn-in.
const ITERATIONS: u64 = 10_000;
/// Posterior standard deviations around the mode where chains start.
const START: f64 = 50.0;

/// Runs the experiment.
///
/// # Errors
/// A run cannot be prepared.
pub fn run(options: &BenchOptions) -> Result<BenchTable, BenchError> {
    let job = job_of(
        TABLES[usize::from(options.quick)],
        options.seed,
        "nuts",
        None,
    )?;
    let truth = truth_at_mode(&job)?;
    let mut rows = Vec::new();
    let mut found = Vec::new();
    for (criterion, setting, is_on) in [
        ("none", "paper", false),
        ("paper", "paper", true),
        ("corrected", "corrected", true),
        ("joint", "joint", true),
    ] {
        let variant: Variant = format!("osgfs:steps_per_draw=1:criterion={setting}").parse()?;
        let mut job = job.with_settings(variant.entry.spec.id, variant.settings)?;
        let section = &mut job.recipe.run;
        section.warmup = (!is_on).then_some(0);
        section.start_spread = START;
        section.draws = ITERATIONS;
        let run = finished(job, &Control::default())?;
        let view = run.view();
        let ends = view.chains.iter().filter_map(|chain| chain.warmup_end);
        let burn_in = ends.max().unwrap_or(0) as f64;
        let numbers = measure(&run, &truth).map_or([f64::NAN; 4], |it| {
            [it.mean_shift, it.sd_ratio.0, it.sd_ratio.1, it.rhat]
        });
        rows.push(row(
            &[criterion],
            &[&[burn_in], numbers.as_slice()].concat(),
        ));
        found.push((burn_in, numbers));
    }
    let (without, with) = (&found[0].1, &found[1].1);
    Ok(BenchTable {
        columns: vec![
            "criterion",
            "burn_in",
            "mean_shift_sd",
            "sd_ratio_least",
            "sd_ratio_most",
            "rhat",
        ],
        rows,
        notes: vec![format!(
            "logistic regression of {}, OSGFS with default settings, four chains that start {START} posterior standard deviations around \
             the mode; burn_in: iterations of the chain that took longest; {ITERATIONS} draws are kept; shifts and ratios against the quadratic \
             approximation",
            TABLES[usize::from(options.quick)]
        )],
        findings: vec![Finding {
            claim: "conditioning on criterion (17) determines the right burn-in, so that only draws of the posterior are collected",
            reproduced: with[2] < 1.1 && without[2] > with[2] + 0.2,
            because: format!(
                "standard deviations are up to {:.2} times the true ones without the criterion and {:.2} times with it, which ended the \
                 burn-in after at most {} iterations",
                without[2], with[2], found[1].0
            ),
        }],
        plots: vec![
            Plot::points("criterion", &["sd_ratio_least", "sd_ratio_most"])
                .named("ratio of standard deviations"),
            Plot::points("criterion", &["mean_shift_sd"]),
        ],
        ..BenchTable::default()
    })
}

#[cfg(test)]
mod tests {
    use super::super::problem::testing::{number, quick};
    use super::*;

    /// 10,000 draws of which one in 25 counts, in four chains, know a standard deviation to two per cent.
    #[test]
    fn the_criterion_leaves_out_the_way_from_far_starts() {
        let table = quick(run);
        assert!(table.findings[0].reproduced);
        for criterion in ["paper", "corrected", "joint"] {
            assert!(
                number(&table, &[criterion], "sd_ratio_most") < 1.1,
                "{criterion}"
            );
        }
    }
}
