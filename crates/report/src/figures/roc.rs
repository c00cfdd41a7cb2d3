//! The receiver operating characteristic of rows that were held out.

use super::{FigureEntry, Trouble, roomy};
use crate::figure::{Axis, Figure, Ink, Key, Line, POINTS_PER_MM, Panel, Swatch};
use crate::{Chains, Needs};
use ergodic_analysis::predict::scores::PredictionScores;
use ergodic_base::numerals::fixed;

pub const ENTRY: FigureEntry = FigureEntry {
    id: "roc",
    title: "ROC curve",
    about: "Share of yes found against share of no taken for yes, of the rows held out",
    needs: Needs::Scores,
    make,
    ..FigureEntry::ORDINARY
};

/// Width in millimetres: a column of a page.
const WIDTH_MM: f64 = 85.0;
/// Height of the frame over the width of the figure: about a square.
const HEIGHT: f64 = 0.8;

/// The scores of the rows held out.
pub(super) fn scores<'a>(chains: &Chains<'a>) -> Result<&'a PredictionScores, Trouble> {
    let scores = chains.inputs().and_then(|inputs| inputs.scores.as_ref());
    scores.ok_or(Trouble::Nothing("no rows were scored"))
}

fn make(chains: &Chains<'_>, _parameters: &[usize]) -> Result<Figure, Trouble> {
    let scores = scores(chains)?;
    let roc = scores.roc.as_ref().ok_or(Trouble::Nothing(
        "there is a curve of outcomes that are yes or no where both are among the rows held out",
    ))?;
    let title = format!("ROC curve of {}, rows held out", scores.response.name);
    let mut figure = Figure::new(ENTRY.id, title);
    figure.width_mm = WIDTH_MM;
    figure.panel_height = HEIGHT * WIDTH_MM * POINTS_PER_MM;
    let range = roomy((0.0, 1.0));
    let mut panel = Panel::new(
        "",
        Axis::numbers("share of no called yes", range),
        Axis::numbers("share of yes called yes", range),
    );
    let guesses = Line::curve(vec![[0.0, 0.0], [1.0, 1.0]], 0.8);
    panel.add("guesses", Ink::Threshold, guesses);
    let points = roc.points.iter();
    let points = points.map(|it| [it.false_positives, it.true_positives]);
    panel.add(
        "ROC curve",
        Ink::Posterior,
        Line::curve(points.collect(), 1.5),
    );
    figure.panels.push(Some(panel));
    figure.legend = vec![
        Key::new("ROC curve", Ink::Posterior, Swatch::Curve),
        Key::new("guesses", Ink::Threshold, Swatch::Curve),
    ];
    let error = roc
        .area
        .se
        .map_or(String::new(), |se| format!(" (SE {})", fixed(se, 3)));
    figure.note(format!(
        "The area under the curve is {}{error}",
        fixed(roc.area.value, 3)
    ));
    Ok(figure)
}
