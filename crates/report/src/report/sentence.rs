//! A sentence for each coefficient, as a paper has it.

use super::estimates::Column;
use ergodic_diagnostics::SummaryRow;

/// What a row says, in a sentence with its period; names stand between backticks. `None` where the draws have no quantiles.
pub fn of(row: &SummaryRow, meaning: Option<&str>) -> Option<String> {
    row.q5.and(row.q95).and(row.q50)?;
    let meaning = meaning.map_or_else(String::new, |text| format!(" ({text})"));
    let text = |column: Column| column.text(row);
    Some(format!(
        "`{}`{meaning}: posterior median {}, 90\u{a0}% interval from {} to {}.",
        row.variable,
        text(Column::Median),
        text(Column::Q5),
        text(Column::Q95)
    ))
}
