//! Box plots of many parameters under each other.

use super::{Compares, FigureEntry, Takes, Trouble, WEIGHTED, in_rows, title, trouble};
use crate::Chains;
use crate::figure::{Boxes, Figure};
use ergodic_diagnostics::BoxPlot;

pub const ENTRY: FigureEntry = FigureEntry {
    id: "boxes",
    title: "Box plots",
    about: "Medians, quartiles, and whiskers to the farthest draws within 1.5 interquartile ranges, one row per parameter; the coefficients \
            where none is named",
    takes: Takes::of(1, 200, 40),
    compares: Compares::Values,
    make,
    ..FigureEntry::ORDINARY
};

/// Height of a row in points.
const ROW: f64 = 14.0;

fn make(chains: &Chains<'_>, parameters: &[usize]) -> Result<Figure, Trouble> {
    let weights: Vec<&[f64]> = chains.weights().iter().map(Vec::as_slice).collect();
    let mut rows = Vec::with_capacity(parameters.len());
    for &parameter in parameters {
        let columns = chains.columns(parameter);
        let parts: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        let plot = BoxPlot::of(&parts, &weights).map_err(trouble(parameter))?;
        rows.push((chains.names()[parameter].to_string(), plot));
    }
    let names = rows.iter().map(|(name, _)| name.clone()).collect();
    let named = title("Box plot", "Box plots", chains, parameters);
    let mut figure = Figure::new(ENTRY.id, named);
    figure.panel_height = ROW * rows.len() as f64 + 4.0;
    figure.note(
        "Boxes reach from quartile to quartile with a line at the median, whiskers to the farthest draws within 1.5 interquartile ranges of \
         the box, and dots are draws beyond",
    );
    let is_thinned = |(_, it): &(String, BoxPlot)| it.outside.len() < it.num_outside;
    if rows.iter().any(is_thinned) {
        figure.note("Where many draws lie beyond the whiskers, some of them are drawn");
    }
    let panel = in_rows("", names, ("zero", 0.0), ("posterior", Boxes { rows }));
    figure.panels.push(Some(panel));
    if !weights.is_empty() {
        figure.note(WEIGHTED);
    }
    Ok(figure)
}
