//! Intervals of many parameters under each other.

use super::{Compares, FigureEntry, Takes, Trouble, WEIGHTED, in_rows, title, trouble};
use crate::Chains;
use crate::figure::{Figure, Interval, Intervals};
use ergodic_diagnostics::quantiles;

pub const ENTRY: FigureEntry = FigureEntry {
    id: "intervals",
    title: "Intervals",
    about: "Medians with 50 % and 90 % intervals, one row per parameter; the coefficients where none is named",
    takes: Takes::of(1, 200, 40),
    compares: Compares::Values,
    make,
    ..FigureEntry::ORDINARY
};

/// Height of a row in points.
pub(super) const ROW: f64 = 13.0;
/// Ends of the 50 % and of the 90 % interval, and the median.
const PROBS: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

fn make(chains: &Chains<'_>, parameters: &[usize]) -> Result<Figure, Trouble> {
    let rows = parameters.iter().map(|&parameter| {
        let name = chains.names()[parameter].to_string();
        interval(chains, parameter, name)
    });
    let rows = rows.collect::<Result<Vec<Interval>, Trouble>>()?;
    let names = rows.iter().map(|row| row.name.clone()).collect();
    let (one, many) = ("Median and intervals", "Medians and intervals");
    let mut figure = Figure::new(ENTRY.id, title(one, many, chains, parameters));
    figure.panel_height = ROW * rows.len() as f64 + 4.0;
    let centre = "median";
    let intervals = ("posterior", Intervals { rows, centre });
    let panel = in_rows("", names, ("zero", 0.0), intervals);
    figure.panels.push(Some(panel));
    figure.notes.extend(notes(chains));
    Ok(figure)
}

/// Median and intervals of a parameter, in a row called `name`.
pub(super) fn interval(
    chains: &Chains<'_>,
    parameter: usize,
    name: String,
) -> Result<Interval, Trouble> {
    let weights: Vec<&[f64]> = chains.weights().iter().map(Vec::as_slice).collect();
    let columns = chains.columns(parameter);
    let parts: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    let [low, left, centre, right, high] =
        quantiles::weighted(&parts, &weights, PROBS).map_err(trouble(parameter))?;
    Ok(Interval {
        name,
        inner: [left, right],
        outer: [low, high],
        centre,
    })
}

/// What must be known to read intervals.
pub(super) fn notes(chains: &Chains<'_>) -> impl Iterator<Item = String> {
    let marks = "Circles are medians, thick lines 50 % and thin lines 90 % intervals";
    let weighted = (!chains.weights().is_empty()).then_some(WEIGHTED);
    std::iter::once(marks).chain(weighted).map(str::to_owned)
}
