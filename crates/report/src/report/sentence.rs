//! A sentence for each coefficient, as a paper has it.

use super::Part;
use super::estimates::Column;
use ergodic_diagnostics::SummaryRow;

/// What a row says, in a sentence with its period: the parameter, whose name may have backticks, and the rest. `None` where the draws
/// have no quantiles.
pub fn of((row, meaning): &(SummaryRow, Option<String>)) -> Option<[Part; 2]> {
    row.q5.and(row.q95).and(row.q50)?;
    let meaning = meaning.as_ref();
    let meaning = meaning.map_or_else(String::new, |text| format!(" ({text})"));
    let text = |column: Column| column.text(row);
    let rest = format!(
        "{meaning}: posterior median {}, 90\u{a0}% interval from {} to {}.",
        text(Column::Median),
        text(Column::Q5),
        text(Column::Q95)
    );
    Some([Part::Name(row.variable.to_string()), Part::Words(rest)])
}
