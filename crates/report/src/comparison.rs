//! Densities of several samplers on one model over each other.

use ergodic_analysis::comparison::{Measured, Row};
use ergodic_base::ParamId;

use super::ReportError;
use super::figure::{Axis, Figure, Ink, Key, Line, Panel, Swatch};

/// Curves that can be told apart by colour and dash.
const CURVES: usize = 8;
/// Parameters shown: more do not fit on a page.
const PANELS: usize = 12;

/// Title of axes whose numbers are not those that runs report.
const STANDARDISED: &str = "standardised scale";

/// The densities of the first parameters, called `names`, by each sampler of `rows` that was measured. `scale` says on which scale
/// they are, where it is not that of the columns ([`ergodic_analysis::comparison::scale`]).
///
/// # Errors
/// None was, or no parameter varies.
pub fn density_overlay(
    rows: &[Row],
    names: &[ParamId],
    scale: Option<&str>,
) -> Result<Figure, ReportError> {
    let measured: Vec<(String, &Measured)> = rows
        .iter()
        .filter_map(|row| Some((row.variant.to_string(), row.outcome.as_ref().ok()?)))
        .collect();
    let shown = &measured[..measured.len().min(CURVES)];
    let on_scale = scale.map_or_else(String::new, |scale| format!(", {scale}"));
    let title = format!("Posterior densities by sampler{on_scale}");
    let mut figure = Figure::new("densities", title);
    figure.panel_height = 80.0;
    for (k, name) in names.iter().enumerate() {
        let curves = || shown.iter().map(|(title, it)| (title, it.curves.get(k)));
        let points = || curves().filter_map(|(_, curve)| curve).flatten();
        let low = points().map(|it| it[0]).fold(f64::INFINITY, f64::min);
        let high = points().map(|it| it[0]).fold(f64::NEG_INFINITY, f64::max);
        if low >= high || figure.panels.len() == PANELS {
            continue;
        }
        let mut panel = Panel::new(
            name.as_str(),
            Axis::numbers(scale.map_or("", |_| STANDARDISED), (low, high)),
            Axis::hidden((0.0, 1.0)),
        );
        for (index, (title, curve)) in curves().enumerate() {
            if let Some(points) = curve.filter(|points| !points.is_empty()) {
                let line = Line::curve(points.clone(), 1.0);
                panel.add(title, Ink::Chain(index), line);
            }
        }
        panel.y.range = (0.0, 1.05 * panel.extent().y.1);
        figure.panels.push(Some(panel));
    }
    if figure.panels.is_empty() {
        return Err(ReportError::NoDraws);
    }
    figure.columns = figure.panels.len().min(2);
    for (index, (title, _)) in shown.iter().enumerate() {
        figure
            .legend
            .push(Key::new(title, Ink::Chain(index), Swatch::Curve));
    }
    if measured.len() > CURVES {
        figure.note(format!(
            "The first {CURVES} of {} samplers are drawn; name those to be drawn with --samplers",
            measured.len()
        ));
    }
    if names.len() > PANELS {
        figure.note(format!(
            "The first {PANELS} of {} parameters are drawn",
            names.len()
        ));
    }
    Ok(figure)
}
