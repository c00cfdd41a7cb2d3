//! How much draws of each chain depend on those before them.

use super::{FigureEntry, Takes, Trouble, chain_keys, chain_name, columns_for, title, trouble};
use crate::Chains;
use crate::figure::{Axis, Band, Figure, Ink, Line, Panel, Rule, Swatch};
use ergodic_diagnostics::quantiles::NORMAL_95;
use ergodic_diagnostics::weights::influence;
use ergodic_diagnostics::{Missing, autocorrelation};

pub const ENTRY: FigureEntry = FigureEntry {
    id: "autocorrelation",
    title: "Autocorrelation",
    about: "How much draws of each chain depend on those before them, against the lag",
    takes: Takes::of(1, 24, 6),
    make,
    ..FigureEntry::ORDINARY
};

/// Lags, as many as in the window.
const MAX_LAG: usize = 50;

fn make(chains: &Chains<'_>, parameters: &[usize]) -> Result<Figure, Trouble> {
    let named = title("Autocorrelation", "Autocorrelations", chains, parameters);
    let mut figure = Figure::new(ENTRY.id, named);
    figure.columns = columns_for(parameters.len());
    figure.panel_height = 72.0;
    figure.legend = chain_keys(chains, Swatch::Curve);
    let half = NORMAL_95 / (chains.shortest().max(1) as f64).sqrt();
    for &parameter in parameters {
        let mut columns = chains.columns(parameter);
        if !chains.weights().is_empty() {
            columns = influence(&columns, chains.weights()).map_err(trouble(parameter))?;
        }
        let x = Axis::numbers("lag, draws", (0.0, MAX_LAG as f64));
        let name = chains.names()[parameter].as_str();
        let mut panel = Panel::new(name, x, Axis::hidden((0.0, 1.0)));
        let area = [0.0, MAX_LAG as f64].map(|lag| [lag, -half, half]).to_vec();
        panel.add("chance", Ink::Band, Band { points: area });
        panel.add("zero", Ink::Axis, Rule::Across(0.0));
        let mut why = None;
        for (column, &number) in columns.iter().zip(chains.numbers()) {
            match autocorrelation(column, MAX_LAG) {
                Ok(values) => {
                    let points = values.iter().enumerate();
                    let points = points.map(|(lag, &value)| [lag as f64, value]).collect();
                    let line = Line::curve(points, 1.0);
                    panel.add(chain_name(number), Ink::Chain(number), line);
                }
                Err(missing) => why = Some(missing),
            }
        }
        if panel.marks.len() == 2 {
            return Err(trouble(parameter)(why.unwrap_or(Missing::TooFew)));
        }
        let low = panel.extent().y.0.min(-0.1);
        panel.y = Axis::numbers("", ((1.1 * low).max(-1.0), 1.02));
        figure.panels.push(Some(panel));
    }
    figure.note("Between the edges of the band lie 95 % of the values of independent draws");
    if !chains.weights().is_empty() {
        figure.note("Draws have weights: shown is their influence on the mean");
    }
    Ok(figure)
}
