//! What a certificate costs as the table grows, counted in passes over its rows.

use super::certificates::{checked, job_of};
use super::{BenchOptions, BenchTable, Cell, Plot};
use crate::error::BenchError;
use ergodic_analysis::bias_check::{checked_draws, control_job, control_title, finished};
use ergodic_base::Control;

/// Rows of the tables.
const ROWS: [usize; 4] = [10_000, 100_000, 1_000_000, 10_000_000];
/// Tables of the quick version.
const QUICK: usize = 2;
/// Columns, the constant included.
const COLUMNS: usize = 4;
/// The sampler that is certified: the one for tall data.
const SAMPLER: &str = "sgld-cv";

/// Runs the experiment; the quick version ends at 100,000 rows.
///
/// # Errors
/// A run cannot be prepared.
pub fn run(options: &BenchOptions) -> Result<BenchTable, BenchError> {
    let count = options.sized(QUICK, ROWS.len());
    let rows = ROWS[..count].iter().map(|rows| row(*rows, options.seed));
    Ok(BenchTable {
        columns: vec![
            "rows",
            "verdict",
            "control",
            "run_passes",
            "control_announced",
            "control_passes",
            "score_passes",
            "half_step_passes",
            "certificate_passes",
        ],
        rows: rows.collect::<Result<_, _>>()?,
        notes: vec![format!(
            "logistic regressions of {COLUMNS} coefficients by {SAMPLER}; passes: gradients of rows over rows, besides the search \
             for the mode, which the run has made"
        )],
        plots: vec![
            Plot::lines(
                "rows",
                &[
                    "run_passes",
                    "control_passes",
                    "score_passes",
                    "half_step_passes",
                ],
            )
            .named("passes over the rows")
            .log_x()
            .log_y(),
        ],
        ..BenchTable::default()
    })
}

fn row(rows: usize, seed: u64) -> Result<Vec<Cell>, BenchError> {
    let mut job = job_of(&format!("{rows}x{COLUMNS}"), seed, SAMPLER, None)?;
    job.recipe.run.draws = checked_draws(&job);
    let announced = job.control().and_then(|control| control.passes);
    let title = control_title(&job);
    let control = finished(control_job(&job, None)?, &Control::default())?;
    let run = finished(job, &Control::default())?;
    let report = checked(&run, &control)?;
    let of_run: u64 = run
        .view()
        .chains
        .iter()
        .map(|chain| chain.datum_grads)
        .sum();
    let passes = report.bias.as_ref().map(|bias| bias.evidence.passes);
    let passes = passes.unwrap_or_default();
    Ok(vec![
        Cell::Count(rows as u64),
        Cell::Text(report.verdict.word().to_owned()),
        Cell::Text(title.to_owned()),
        Cell::Number(of_run as f64 / rows as f64),
        Cell::Number(announced.unwrap_or(f64::NAN)),
        Cell::Number(passes.control),
        Cell::Number(passes.discrepancies),
        Cell::Number(passes.half_step),
        Cell::Number(passes.total()),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts of rows are exact, so that small tables say what a large one costs: the control makes a pass per chain and looks at rows
    /// whose number does not grow, scores take rows by the draw, and the run at half the step keeps to four passes.
    #[test]
    #[ignore = "long: run by .ci/long"]
    fn a_certificate_of_ten_million_rows_takes_less_than_ten_passes() {
        let options = BenchOptions {
            seed: 1,
            quick: true,
            ..BenchOptions::default()
        };
        let table = run(&options).unwrap();
        crate::problem::testing::check_plots(&table);
        let number = |row: &[Cell], name: &str| {
            let column = table.columns.iter().position(|it| *it == name).unwrap();
            match &row[column] {
                Cell::Number(value) => *value,
                Cell::Count(count) => *count as f64,
                Cell::Text(text) => panic!("{text}"),
            }
        };
        // Rows besides the first passes of the four chains of the control, and rows of scores.
        let beyond = |row: &[Cell]| {
            assert_eq!(row[2], Cell::Text("Zig-zag".to_owned()));
            let rows = number(row, "rows");
            let control = number(row, "control_passes");
            assert!(control <= number(row, "control_announced"), "{row:?}");
            assert!(control >= 4.0, "{row:?}");
            [rows * (control - 4.0), rows * number(row, "score_passes")]
        };
        let [few, many] = [0, 1].map(|k| beyond(&table.rows[k]));
        assert!(many[0] <= 1.5 * few[0], "{few:?} {many:?}");
        assert!(many[1] <= 1.5 * few[1], "{few:?} {many:?}");
        let tall = 1e7;
        // Of the run at half the step no more than four passes are made where rows are many.
        let predicted = 4.0 + many[0] / tall + many[1] / tall + 4.0;
        assert!(predicted < 10.0, "{predicted}");
    }
}
