//! Effective sample sizes: across the distribution, and how they grew with the draws.

use super::convergence::{course, running};
use super::{FigureEntry, Takes, Trouble, roomy, title, trouble};
use crate::Chains;
use crate::figure::{Axis, Figure, Ink, Key, Line, Panel, Rule, Swatch};
use ergodic_diagnostics::{Across, INTERVALS, Limits};

pub const ENTRY: FigureEntry = FigureEntry {
    id: "ess",
    title: "ESS",
    about: "Effective sample sizes of quantiles and of small intervals, and those of bulk and tails against the draws",
    takes: Takes::of(1, 12, 4),
    make,
    ..FigureEntry::ORDINARY
};

fn make(chains: &Chains<'_>, parameters: &[usize]) -> Result<Figure, Trouble> {
    let one = "Effective sample sizes";
    let mut figure = Figure::new(ENTRY.id, title(one, one, chains, parameters));
    figure.columns = 2;
    figure.panel_height = 80.0;
    let limit = Limits::of(chains.numbers().len()).ess();
    let weights: Vec<&[f64]> = chains.weights().iter().map(Vec::as_slice).collect();
    let history = running(chains, parameters);
    for (index, &parameter) in parameters.iter().enumerate() {
        let columns = chains.columns(parameter);
        let parts: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        let across = Across::of(&parts, &weights).map_err(trouble(parameter))?;
        let points = |sizes: &[Option<f64>], first: f64| -> Vec<[f64; 2]> {
            let sizes = sizes.iter().enumerate();
            let place = |k: usize| (k as f64 + first) / INTERVALS as f64;
            sizes
                .map(|(k, size)| [place(k), size.unwrap_or(f64::NAN)])
                .collect()
        };
        let name = chains.names()[parameter].as_str();
        // Of intervals the middle.
        let by_quantile = [
            ("quantiles", Ink::Posterior, points(&across.quantiles, 1.0)),
            (
                "intervals of 5 %",
                Ink::Chain(1),
                points(&across.local, 0.5),
            ),
        ];
        let probability = panel(name, ("probability below", (0.0, 1.0)), limit, by_quantile);
        let of = (&history, index, parameter);
        let by_draws = [
            (
                "bulk",
                Ink::Posterior,
                course(chains, of, (|point| point.ess_bulk, |row| row.ess_bulk)),
            ),
            (
                "tails",
                Ink::Chain(1),
                course(chains, of, (|point| point.ess_tail, |row| row.ess_tail)),
            ),
        ];
        let draws = (0.0, chains.shortest() as f64);
        let grown = panel(name, ("draws per chain", draws), limit, by_draws);
        figure.panels.extend([Some(probability), Some(grown)]);
    }
    figure.legend = vec![
        Key::new("quantiles; bulk", Ink::Posterior, Swatch::Curve),
        Key::new("intervals of 5 %; tails", Ink::Chain(1), Swatch::Curve),
    ];
    figure.note(format!(
        "The dashed line is 100 for each chain, {limit:.0}; curves against the draws begin after 100 per chain"
    ));
    Ok(figure)
}

fn panel(
    name: &str,
    (x, range): (&str, (f64, f64)),
    limit: f64,
    curves: [(&str, Ink, Vec<[f64; 2]>); 2],
) -> Panel {
    let mut panel = Panel::new(name, Axis::numbers(x, range), Axis::hidden((0.0, 1.0)));
    panel.add("limit", Ink::Threshold, Rule::Across(limit));
    for (series, ink, points) in curves {
        panel.add(series, ink, Line::curve(points, 1.2));
    }
    let top = panel.extent().y.1.max(limit);
    panel.y = Axis::numbers("", (0.0, roomy((0.0, top)).1));
    panel
}
