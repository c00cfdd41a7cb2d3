//! Intervals of many parameters under each other.

use super::{Compares, FigureEntry, Takes, Trouble, roomy, trouble};
use crate::figure::{Axis, Figure, Ink, Interval, Intervals, Panel, Rule};
use crate::{Chains, Needs};
use ergodic_diagnostics::quantiles;

pub const ENTRY: FigureEntry = FigureEntry {
    id: "intervals",
    title: "Intervals",
    about: "Medians with 50 % and 90 % intervals, one row per parameter; the coefficients where none is named",
    takes: Takes {
        least: 1,
        most: 200,
        unasked: 40,
    },
    needs: Needs::Draws,
    compares: Compares::Values,
    make,
};

/// Height of a row in points.
const ROW: f64 = 13.0;
/// Ends of the 50 % and of the 90 % interval, and the median.
const PROBS: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

fn make(chains: &Chains<'_>, parameters: &[usize]) -> Result<Figure, Trouble> {
    let weights: Vec<&[f64]> = chains.weights().iter().map(Vec::as_slice).collect();
    let mut rows = Vec::with_capacity(parameters.len());
    for &parameter in parameters {
        let columns = chains.columns(parameter);
        let parts: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        let [low, left, centre, right, high] =
            quantiles::weighted(&parts, &weights, PROBS).map_err(trouble(parameter))?;
        rows.push(Interval {
            name: chains.names()[parameter].to_string(),
            inner: [left, right],
            outer: [low, high],
            centre,
        });
    }
    let names = rows.iter().map(|row| row.name.clone()).collect();
    let title = match parameters {
        [one] => format!("Median and intervals of `{}`", chains.names()[*one]),
        all => format!("Medians and intervals of {} parameters", all.len()),
    };
    let mut figure = Figure::new(ENTRY.id, title);
    figure.panel_height = ROW * rows.len() as f64 + 4.0;
    let mut panel = Panel::new("", Axis::hidden((0.0, 1.0)), Axis::rows(names));
    panel.add("zero", Ink::Threshold, Rule::Up(0.0));
    panel.add("posterior", Ink::Posterior, Intervals { rows });
    panel.x = Axis::numbers("", roomy(panel.extent().x));
    figure.panels.push(Some(panel));
    figure
        .notes
        .push("Circles are medians, thick lines 50 % and thin lines 90 % intervals".to_owned());
    if !weights.is_empty() {
        figure
            .notes
            .push("Each draw counts as much as its weight".to_owned());
    }
    Ok(figure)
}
