//! Draws of each chain in their order.

use super::{
    FigureEntry, Takes, Trouble, UNWEIGHTED, chain_keys, chain_name, columns_for, roomy, title,
    trouble,
};
use crate::Chains;
use crate::figure::{Axis, Figure, Ink, Line, POINTS_PER_MM, Panel, Points, Sign, Swatch};
use crate::thin::extremes;
use ergodic_diagnostics::Missing;

pub const ENTRY: FigureEntry = FigureEntry {
    id: "trace",
    title: "Trace",
    about: "Draws of each chain in their order: chains that mix look alike and go nowhere",
    takes: Takes::of(1, 24, 6),
    make,
    ..FigureEntry::ORDINARY
};

/// Columns of a thinned trace per point of its width: half of what a printer with 300 dots per inch tells apart.
pub(super) const COLUMNS_PER_POINT: f64 = 2.0;

fn make(chains: &Chains<'_>, parameters: &[usize]) -> Result<Figure, Trouble> {
    let mut figure = Figure::new(ENTRY.id, title("Trace", "Traces", chains, parameters));
    figure.columns = columns_for(parameters.len());
    figure.panel_height = 72.0;
    figure.legend = chain_keys(chains, Swatch::Dense);
    let width = figure.width_mm * POINTS_PER_MM / figure.columns as f64;
    let columns = (width * COLUMNS_PER_POINT) as usize;
    let (mut any_start, mut far) = (false, false);
    for &parameter in parameters {
        let all = chains.columns(parameter);
        let mut panel = in_order(chains, chains.names()[parameter].as_str(), &all, columns);
        let range = panel.extent().y;
        if !range.0.is_finite() {
            return Err(trouble(parameter)(Missing::NotFinite));
        }
        panel.y = Axis::numbers("", roomy(range));
        let (low, high) = panel.y.range;
        let starts = chains.starts(parameter).into_iter().zip(chains.numbers());
        let starts = starts.filter_map(|(start, number)| Some((start?, number)));
        for (start, &number) in starts.filter(|(start, _)| start.is_finite()) {
            // A far start would leave no room for the draws.
            let at = vec![[0.0, start.clamp(low, high)]];
            any_start = true;
            far |= start < low || start > high;
            let start = Points::alike(at, Sign::Triangle);
            let series = format!("start of {}", chain_name(number));
            panel.add(series, Ink::Chain(number), start);
        }
        figure.panels.push(Some(panel));
    }
    if any_start {
        let mut note = "Triangles mark where chains started, before their warm-up".to_owned();
        if far {
            note.push_str(", those at an edge farther out");
        }
        figure.note(note);
    }
    if chains.longest() > 2 * columns {
        figure.note(format!(
            "Of each of {columns} columns the smallest and the largest draw are drawn"
        ));
    }
    if !chains.weights().is_empty() {
        figure.note(UNWEIGHTED);
    }
    Ok(figure)
}

/// A panel of the values of each chain in the order of its draws, two in each of `columns` columns at most.
pub(super) fn in_order(
    chains: &Chains<'_>,
    name: &str,
    values: &[Vec<f64>],
    columns: usize,
) -> Panel {
    let x = Axis::numbers("draw", (0.0, chains.longest() as f64));
    let mut panel = Panel::new(name, x, Axis::hidden((0.0, 1.0)));
    for (values, &number) in values.iter().zip(chains.numbers()) {
        let mut line = extremes(values, columns);
        for point in &mut line {
            // Draws count from 1.
            point[0] += 1.0;
        }
        panel.add(chain_name(number), Ink::Chain(number), Line::dense(line));
    }
    panel
}
