//! What pictures of predictive checks share: observed numbers at places, over what the model says of them.

use super::{Trouble, columns_for, roomy};
use crate::Chains;
use crate::figure::{Axis, Band, Figure, Ink, Key, Line, Panel, Points, Sign, Swatch};
use ergodic_analysis::check::Check;
use ergodic_analysis::check::drawing::{Drawing, Look};
use ergodic_analysis::check::residuals::Residuals;
use ergodic_core::design::ResponseKind;

/// Why there is no picture of what needs outcomes that are numbers, have an order, and were seen to their end.
pub(super) fn missing(check: &Check) -> Trouble {
    Trouble::Nothing(match check.response.kind {
        ResponseKind::Unordered { .. } => {
            "levels of the outcome have no order; `rootogram` shows how often each occurs"
        }
        _ => "some outcomes are censored; `survival` shows the share of them above each value",
    })
}

/// Height of a picture in points.
const HEIGHT: f64 = 170.0;
/// Height of a panel of a column, at least, and of a level in it.
const COLUMN_HEIGHT: f64 = 100.0;
const ROW: f64 = 11.0;
/// Thickness of ranges, in points.
const RANGE: f64 = 3.0;

/// The predictive checks of the run.
pub(super) fn check<'a>(chains: &Chains<'a>) -> Result<&'a Check, Trouble> {
    let check = chains.inputs().and_then(|inputs| inputs.check.as_ref());
    check.ok_or(Trouble::Nothing("the model was not checked"))
}

/// A picture of its own.
pub(super) fn figure(id: &'static str, drawing: &Drawing) -> Figure {
    let mut figure = Figure::new(id, drawing.name.clone());
    figure.panel_height = HEIGHT;
    figure.legend = legend(drawing);
    figure.panels.push(Some(panel(drawing)));
    let range = match drawing.look {
        Look::Curve => "The area is the central 90 % of what the model expects at each place",
        Look::Dots => "Thick lines are the central 90 % of what the model expects",
    };
    figure.note(range);
    figure
}

/// A picture with a panel for each column that residuals were looked at along; `drawn` says what is in it.
pub(super) fn by_column(
    (id, title): (&'static str, String),
    check: &Check,
    drawn: impl Fn(&Residuals) -> Option<Drawing>,
) -> Figure {
    let mut figure = Figure::new(id, title);
    figure.columns = columns_for(check.residuals.len());
    figure.panel_height = COLUMN_HEIGHT;
    for residuals in &check.residuals {
        let Some(drawing) = drawn(residuals) else {
            continue;
        };
        if let Some(levels) = &drawing.levels {
            let rows = ROW * levels.len() as f64;
            figure.panel_height = figure.panel_height.max(rows);
        }
        let mut panel = panel(&drawing);
        panel.title = format!("{}, {}", residuals.along.name(), residuals.p_in_words());
        figure.panels.push(Some(panel));
        figure.legend = legend(&drawing);
    }
    figure
}

/// What the marks mean.
pub(super) fn legend(drawing: &Drawing) -> Vec<Key> {
    let observed = match drawing.look {
        Look::Curve => Swatch::Dense,
        Look::Dots => Swatch::Point(Sign::Disc),
    };
    vec![
        Key::new("observed", Ink::Posterior, observed),
        Key::new(drawing.middle, Ink::Threshold, Swatch::Curve),
    ]
}

/// A panel without a title.
pub(super) fn panel(drawing: &Drawing) -> Panel {
    let places = &drawing.places;
    let hidden = || Axis::hidden((0.0, 1.0));
    if let Some(levels) = &drawing.levels {
        let row = |k: usize| k as f64 + 0.5;
        let mut panel = Panel::new("", hidden(), Axis::rows(levels.clone()));
        let numbered = || places.iter().enumerate();
        let ranges = numbered().flat_map(|(k, it)| broken(it.ends.map(|end| [end, row(k)])));
        panel.add("90 % range", Ink::Band, thick(ranges.collect()));
        let middles = numbered()
            .flat_map(|(k, it)| broken([[it.middle, row(k) - 0.3], [it.middle, row(k) + 0.3]]));
        panel.add(
            drawing.middle,
            Ink::Threshold,
            Line::dense(middles.collect()),
        );
        let dots = numbered().map(|(k, it)| [it.observed, row(k)]);
        panel.add("observed", Ink::Posterior, discs(dots.collect()));
        panel.x = Axis::numbers(drawing.y_title, roomy(panel.extent().x));
        return panel;
    }
    let mut panel = Panel::new("", hidden(), hidden());
    let points = |number: usize| -> Vec<[f64; 2]> {
        let numbers = places.iter().map(|it| it.numbers());
        numbers
            .map(|numbers| [numbers[0], numbers[number]])
            .collect()
    };
    match drawing.look {
        Look::Curve => {
            let band = places.iter().map(|it| [it.x, it.ends[0], it.ends[1]]);
            let band = Band {
                points: band.collect(),
            };
            panel.add("90 % band", Ink::Band, band);
            panel.add(drawing.middle, Ink::Threshold, Line::curve(points(2), 0.8));
            panel.add("observed", Ink::Posterior, Line::curve(points(1), 1.5));
        }
        Look::Dots => {
            let ranges = places
                .iter()
                .flat_map(|it| broken(it.ends.map(|end| [it.x, end])));
            panel.add("90 % range", Ink::Band, thick(ranges.collect()));
            panel.add(drawing.middle, Ink::Threshold, Line::curve(points(2), 0.8));
            panel.add("observed", Ink::Posterior, discs(points(1)));
        }
    }
    let extent = panel.extent();
    let [x, y] = drawing.axes([roomy(extent.x), roomy(extent.y)]);
    panel.x = Axis::numbers(drawing.x_title.as_str(), x);
    panel.y = Axis::numbers(drawing.y_title, y);
    panel
}

/// Two ends of a line, after which it breaks.
pub(super) fn broken([from, to]: [[f64; 2]; 2]) -> [[f64; 2]; 3] {
    [from, to, [f64::NAN, f64::NAN]]
}

pub(super) fn thick(points: Vec<[f64; 2]>) -> Line {
    Line {
        points,
        thickness: RANGE,
        dashed: false,
    }
}

pub(super) fn discs(at: Vec<[f64; 2]>) -> Points {
    Points::alike(at, Sign::Disc)
}
