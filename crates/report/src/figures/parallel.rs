//! Draws as lines over many parameters.

use super::{Compares, FigureEntry, Takes, Trouble, UNWEIGHTED, roomy};
use crate::Chains;
use crate::figure::{Axis, Figure, Ink, Key, Line, Panel, Swatch};
use ergodic_diagnostics::joint::Parallel;

pub const ENTRY: FigureEntry = FigureEntry {
    id: "parallel",
    title: "Parallel coordinates",
    about: "Draws as lines over parameters, in standard deviations; divergent transitions stand out",
    takes: Takes::of(2, 60, 20),
    compares: Compares::Draws,
    make,
    ..FigureEntry::ORDINARY
};

/// Lines of each kind: more are one area.
const MOST: usize = 200;
/// Height of a parameter in points.
const ROW: f64 = 16.0;
/// Least height of the picture in points.
const LEAST: f64 = 110.0;

fn make(chains: &Chains<'_>, parameters: &[usize]) -> Result<Figure, Trouble> {
    let divergent = chains.divergent();
    let found = Parallel::of(chains.lists(), parameters, divergent.as_deref(), MOST);
    let found = found.map_err(|it| Trouble::Draws {
        parameter: parameters[it.place],
        missing: it.missing,
    })?;
    let title = format!("Draws of {} parameters as lines", parameters.len());
    let mut figure = Figure::new(ENTRY.id, title);
    figure.panel_height = (ROW * parameters.len() as f64).max(LEAST);
    let names = parameters
        .iter()
        .map(|&parameter| chains.names()[parameter].to_string());
    let mut panel = Panel::new("", Axis::hidden((0.0, 1.0)), Axis::rows(names.collect()));
    for (words, ink, lines) in [
        ("draws", Ink::Chain(0), &found.plain),
        ("divergent", Ink::Bad, &found.divergent),
    ] {
        if lines.is_empty() {
            continue;
        }
        for values in lines {
            let points = values.iter().enumerate();
            let points = points.map(|(k, &value)| [value, k as f64 + 0.5]);
            let line = Line {
                points: points.collect(),
                thickness: 0.35,
                dashed: false,
            };
            panel.add(words, ink, line);
        }
        figure.legend.push(Key::new(words, ink, Swatch::Dense));
    }
    panel.x = Axis::numbers("standard deviations from the mean", roomy(panel.extent().x));
    figure.panels.push(Some(panel));
    figure.note(match found.divergences {
        0 => format!("{} draws, evenly spaced", found.plain.len()),
        all => format!(
            "{} draws, evenly spaced, and {} of {all} that ended divergent transitions",
            found.plain.len(),
            found.divergent.len()
        ),
    });
    if !chains.weights().is_empty() {
        figure.note(UNWEIGHTED);
    }
    Ok(figure)
}
