//! Predicted against observed outcomes.

use super::predictive::{broken, discs, thick};
use super::{FigureEntry, Trouble, columns_for, roomy};
use crate::figure::{
    Axis, Extent, Figure, Ink, Key, Line, POINTS_PER_MM, Panel, Points, Sign, Swatch,
};
use crate::{Chains, Needs};
use ergodic_analysis::predict::picture::Picture;
use ergodic_base::numerals::thousands;

pub const ENTRY: FigureEntry = FigureEntry {
    id: "predictions",
    title: "Predictions",
    about: "Predicted against observed outcomes of the rows of the fit: of yes or no and of levels the observed share of groups of rows with \
            its 90 % range if the model is right, of numbers each row",
    needs: Needs::Predictions,
    make,
    ..FigureEntry::ORDINARY
};

/// Most levels that have a panel of their own.
const MOST_LEVELS: usize = 11;
/// Width in millimetres of a panel that stands alone: a column of a page.
const ALONE_MM: f64 = 85.0;
/// Height of the frame over the width of the figure: about a square.
const HEIGHT: f64 = 0.8;
/// Names of what is drawn.
const OBSERVED: &str = "observed";
const EXPECTED: &str = "as predicted";

fn make(chains: &Chains<'_>, _parameters: &[usize]) -> Result<Figure, Trouble> {
    let found = chains
        .inputs()
        .and_then(|inputs| inputs.predictions.as_ref());
    let found = found.ok_or(Trouble::Nothing("no rows were predicted"))?;
    let response = &found.response.name;
    let mut figure = Figure::new(
        ENTRY.id,
        format!("Predicted against observed outcomes of {response}"),
    );
    let whole = Picture::of(found);
    figure
        .panels
        .extend(panel("", &found.quantity, &whole).map(Some));
    let levels = found.response.levels();
    for (place, level) in levels.iter().enumerate().take(MOST_LEVELS) {
        let picture = Picture::of_level(found, place);
        let quantity = format!("probability that {response} is {level}");
        figure
            .panels
            .extend(panel(level, &quantity, &picture).map(Some));
    }
    if figure.panels.is_empty() {
        return Err(Trouble::Nothing(
            "no outcome was observed to compare predictions with",
        ));
    }
    figure.columns = columns_for(figure.panels.len());
    if figure.panels.len() == 1 {
        figure.width_mm = ALONE_MM;
    }
    figure.panel_height = HEIGHT * ALONE_MM * POINTS_PER_MM;
    figure.legend = vec![
        Key::new(OBSERVED, Ink::Posterior, Swatch::Point(Sign::Disc)),
        Key::new(EXPECTED, Ink::Threshold, Swatch::Curve),
    ];
    figure.notes.extend(found.agreement(&whole));
    match &whole {
        Picture::Shares(_) => figure.note(
            "Dots are observed shares of groups of rows, thick lines their central 90 % if the model is right",
        ),
        Picture::Points(points) if points.len() < found.coverage().1 => {
            let [drawn, rows] = [points.len(), found.coverage().1];
            figure.note(format!(
                "{} of {} rows are drawn",
                thousands(drawn as u64),
                thousands(rows as u64)
            ));
        }
        Picture::Points(_) => {}
    }
    if levels.len() > MOST_LEVELS {
        figure.note(format!(
            "Of {} levels the first {MOST_LEVELS} have a panel",
            levels.len()
        ));
    }
    figure.notes.extend(found.remarks());
    Ok(figure)
}

/// A panel of `quantity`; `None` where nothing was observed.
fn panel(title: &str, quantity: &str, picture: &Picture) -> Option<Panel> {
    let x_title = format!("predicted {quantity}");
    let diagonal = |(low, high): (f64, f64)| Line::curve(vec![[low, low], [high, high]], 0.8);
    match picture {
        Picture::Shares(bins) => {
            let at: Vec<[f64; 2]> = (bins.iter())
                .map(|bin| [bin.predicted, bin.observed])
                .collect();
            let ranges = bins
                .iter()
                .flat_map(|bin| broken(bin.range.map(|end| [bin.predicted, end])));
            let ranges: Vec<[f64; 2]> = ranges.collect();
            // One range for both axes.
            let both = at.iter().chain(&ranges).flatten();
            let range = Extent::of(both.map(|&value| [value, value])).x;
            if at.is_empty() {
                return None;
            }
            let range = roomy(range);
            let axis = |words: &str| Axis::numbers(words, range);
            let mut panel = Panel::new(title, axis(&x_title), axis("observed share"));
            panel.add("90 % range", Ink::Band, thick(ranges));
            panel.add(EXPECTED, Ink::Threshold, diagonal(range));
            panel.add(OBSERVED, Ink::Posterior, discs(at));
            Some(panel)
        }
        Picture::Points(points) => {
            if points.is_empty() {
                return None;
            }
            let Extent { x, y } = Extent::of(points.iter().copied());
            let mut panel = Panel::new(
                title,
                Axis::numbers(x_title, roomy(x)),
                Axis::numbers("observed", roomy(y)),
            );
            // Both have it where both ranges meet.
            let shared = (x.0.max(y.0), x.1.min(y.1));
            if shared.0 < shared.1 {
                panel.add(EXPECTED, Ink::Threshold, diagonal(shared));
            }
            let dots = Points::alike(points.clone(), Sign::Dot);
            panel.add(OBSERVED, Ink::Posterior, dots);
            Some(panel)
        }
    }
}
