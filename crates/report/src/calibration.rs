//! Ranks of true values of simulation-based calibration.

use super::ReportError;
use super::figure::{Axis, Bars, Figure, Ink, Panel, Rule};
use ergodic_analysis::calibration::Calibration;

/// What the figure is called.
const ID: &str = "calibration-ranks";
/// Quantities shown, those with the smallest p-values: more do not fit on a page.
const PANELS: usize = 24;
/// Panels beside each other.
const COLUMNS: usize = 3;

/// A histogram for each quantity of the ranks of its true values among posterior draws, the least even first; the dashed line is where
/// even ranks would reach.
///
/// # Errors
/// No simulation worked.
pub fn calibration_ranks(calibration: &Calibration) -> Result<Figure, ReportError> {
    let tests = &calibration.tests;
    let mut order: Vec<usize> = (0..tests.len()).collect();
    order.sort_by(|&a, &b| tests[a].p_ecdf.total_cmp(&tests[b].p_ecdf));
    if order.is_empty() {
        return Err(ReportError::Unsuitable {
            figure: ID,
            why: "no simulation worked".to_owned(),
        });
    }
    let mut figure = Figure::new(ID, "Ranks of true values".to_owned());
    figure.columns = order.len().min(COLUMNS);
    figure.panel_height = 72.0;
    for &quantity in order.iter().take(PANELS) {
        let histogram = &tests[quantity].histogram;
        let bins = histogram.len().max(1) as f64;
        let heights: Vec<f64> = histogram.iter().map(|&count| count as f64).collect();
        let even = heights.iter().sum::<f64>() / bins;
        let top = 1.1 * heights.iter().copied().fold(even, f64::max);
        let mut panel = Panel::new(
            format!(
                "{}: p = {:.3}",
                calibration.variables[quantity], tests[quantity].p_ecdf
            ),
            Axis::numbers("rank, as a share", (0.0, 1.0)),
            Axis::numbers("", (0.0, top)),
        );
        let edges = (0..=histogram.len()).map(|k| k as f64 / bins).collect();
        panel.add("simulations", Ink::Posterior, Bars { edges, heights });
        panel.add("even ranks", Ink::Threshold, Rule::Across(even));
        figure.panels.push(Some(panel));
    }
    figure.note(format!(
        "Ranks of true values among {} posterior draws; bars count simulations, and even ranks would reach the dashed line",
        calibration.draws
    ));
    if order.len() > PANELS {
        figure.note(format!(
            "Of {} quantities the {PANELS} with the least even ranks are drawn",
            order.len()
        ));
    }
    figure.note(calibration.sentence());
    Ok(figure)
}
