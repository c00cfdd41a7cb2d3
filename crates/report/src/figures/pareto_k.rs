//! How much each row changes the posterior.

use super::predictive::discs;
use super::{FigureEntry, Trouble, roomy};
use crate::figure::{Axis, Figure, Ink, Key, Panel, Rule, Sign, Swatch};
use crate::{Chains, Needs};
use ergodic_base::numerals::{fixed, thousands};
use ergodic_diagnostics::loo::VERY_BAD;

pub const ENTRY: FigureEntry = FigureEntry {
    id: "pareto-k",
    title: "Pareto k",
    about: "Pareto k of each row: how much the posterior changes when it is left out",
    needs: Needs::Loo,
    make,
    ..FigureEntry::ORDINARY
};

/// Names of what is drawn.
const GOOD: &str = "good";
const BAD: &str = "not good";

fn make(chains: &Chains<'_>, _parameters: &[usize]) -> Result<Figure, Trouble> {
    let found = chains.inputs().and_then(|inputs| inputs.loo.as_ref());
    let found = found.ok_or(Trouble::Nothing("no rows were left out"))?;
    let limit = found.loo.threshold();
    let all = found.points();
    let drawn = all.len();
    let (good, bad): (Vec<_>, Vec<_>) = all.into_iter().partition(|point| point[1] <= limit);
    let title = format!("Pareto k of each row of {}", found.observed.column);
    let mut figure = Figure::new(ENTRY.id, title);
    figure.panel_height = 170.0;
    let mut panel = Panel::new("", Axis::hidden((0.0, 1.0)), Axis::hidden((0.0, 1.0)));
    panel.add("limit", Ink::Threshold, Rule::Across(limit));
    let has_very_bad = bad.iter().any(|point| point[1] > VERY_BAD);
    if has_very_bad {
        panel.add("very bad from here", Ink::Muted, Rule::Across(VERY_BAD));
    }
    for (words, ink, points) in [(GOOD, Ink::Posterior, good), (BAD, Ink::Bad, bad)] {
        if !points.is_empty() {
            figure
                .legend
                .push(Key::new(words, ink, Swatch::Point(Sign::Disc)));
            panel.add(words, ink, discs(points));
        }
    }
    let extent = panel.extent();
    panel.x = Axis::numbers("row of the data", roomy(extent.x));
    let range = (extent.y.0.min(0.0), extent.y.1.max(limit));
    panel.y = Axis::numbers("Pareto k", roomy(range));
    figure.panels.push(Some(panel));
    figure.note(format!(
        "The dashed line is {}. {}",
        fixed(limit, 2),
        found.reliability()
    ));
    let rows = found.loo.rows.len();
    if drawn < rows {
        let [drawn, rows] = [drawn, rows].map(|count| thousands(count as u64));
        figure.note(format!("{drawn} of {rows} rows are drawn"));
    }
    Ok(figure)
}
