//! How the draws of each chain spread over the ranks of all.

use super::{FigureEntry, Takes, Trouble, WEIGHTED, chain_name, title, trouble};
use crate::Chains;
use crate::figure::{Axis, Bars, Figure, Ink, Panel, Rule};
use ergodic_diagnostics::rank_counts;

pub const ENTRY: FigureEntry = FigureEntry {
    id: "ranks",
    title: "Ranks",
    about: "How the draws of each chain spread over the ranks of all: even bars mean chains that agree",
    takes: Takes::of(1, 12, 4),
    make,
    ..FigureEntry::ORDINARY
};

/// Bars of a chain, as many as in the window.
const BINS: usize = 20;
/// Most chains beside each other.
const ACROSS: usize = 4;

fn make(chains: &Chains<'_>, parameters: &[usize]) -> Result<Figure, Trouble> {
    let mut figure = Figure::new(ENTRY.id, title("Ranks", "Ranks", chains, parameters));
    let count = chains.numbers().len();
    // Lines of about one length.
    figure.columns = count.div_ceil(count.div_ceil(ACROSS));
    figure.panel_height = 46.0;
    let total = (chains.shortest() * count) as f64;
    let edges: Vec<f64> = (0..=BINS)
        .map(|bin| total * bin as f64 / BINS as f64)
        .collect();
    for &parameter in parameters {
        let columns = chains.columns(parameter);
        let parts: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        let counts = rank_counts(&parts, chains.weights(), BINS).map_err(trouble(parameter))?;
        let highest = counts.iter().flatten().copied().fold(0.0, f64::max);
        for (heights, &number) in counts.into_iter().zip(chains.numbers()) {
            let expected = heights.iter().sum::<f64>() / BINS as f64;
            // The first panel of a parameter has its name, which may reach over the others.
            let is_first = number == chains.numbers()[0];
            let name = if is_first {
                chains.names()[parameter].as_str()
            } else {
                ""
            };
            let mut panel = Panel::new(
                name,
                Axis::numbers("rank", (0.0, total)),
                Axis::numbers(chain_name(number), (0.0, 1.08 * highest.max(expected))),
            );
            let bars = Bars {
                edges: edges.clone(),
                heights,
            };
            panel.add(chain_name(number), Ink::Chain(number), bars);
            panel.add("expected", Ink::Threshold, Rule::Across(expected));
            figure.panels.push(Some(panel));
        }
        while !figure.panels.len().is_multiple_of(figure.columns) {
            figure.panels.push(None);
        }
    }
    figure.note("Dashed lines are at the height of even bars");
    if !chains.weights().is_empty() {
        figure.note(WEIGHTED);
    }
    Ok(figure)
}
