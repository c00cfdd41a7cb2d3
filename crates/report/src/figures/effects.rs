//! The expected outcome along each predictor, over what was observed.

use super::predictive::{broken, discs, thick};
use super::{FigureEntry, Trouble, columns_for, intervals, roomy};
use crate::figure::{Axis, Band, Figure, Ink, Key, Line, Panel, Sign, Swatch};
use crate::{Chains, Needs};
use ergodic_analysis::effects::{Conditional, Curve, Place};

pub const ENTRY: FigureEntry = FigureEntry {
    id: "effects",
    title: "Effects",
    about: "The expected outcome along each predictor with its 90 % band, others held typical, over what was observed",
    needs: Needs::Curves,
    make,
    ..FigureEntry::ORDINARY
};

/// Least height of a panel in points.
const HEIGHT: f64 = 110.0;
/// What is drawn of the model and of the data.
const EXPECTED: &str = "expected";
const OBSERVED: &str = "observed";

fn make(chains: &Chains<'_>, _parameters: &[usize]) -> Result<Figure, Trouble> {
    let curves = chains
        .inputs()
        .map_or(&[][..], |inputs| inputs.curves.as_slice());
    let first = curves.first().ok_or(Trouble::Nothing(
        "the model has no predictors whose effects could be told",
    ))?;
    let title = format!("Expected {} by each predictor", first.quantity);
    let mut figure = Figure::new(ENTRY.id, title);
    figure.legend = vec![Key::new(EXPECTED, Ink::Posterior, Swatch::Dense)];
    if curves.iter().any(|along| !along.observed.is_empty()) {
        let observed = match first.is_share() {
            true => "observed share of rows near each other",
            false => OBSERVED,
        };
        let swatch = Swatch::Point(Sign::Disc);
        figure.legend.push(Key::new(observed, Ink::Muted, swatch));
    }
    figure.panel_height = HEIGHT;
    figure.note("Areas and thick lines are 90 % intervals");
    let all = chains.inputs().map_or(0, |inputs| inputs.predictors);
    if curves.len() < all {
        let note = format!("The first {} of {all} predictors are drawn", curves.len());
        figure.note(note);
    }
    for along in curves {
        for curve in &along.curves {
            let is_of_levels = matches!(
                curve.points.first().map(|point| &point.at),
                Some(Place::Level(_))
            );
            let panel = match is_of_levels {
                true => levels(along, curve),
                false => numbers(along, curve),
            };
            if is_of_levels {
                let rows = intervals::ROW * curve.points.len() as f64;
                figure.panel_height = figure.panel_height.max(rows);
            }
            figure.panels.push(Some(panel));
        }
        for remark in &along.remarks {
            let note = format!("Along `{}`: {remark}", along.predictor);
            figure.note(note);
        }
    }
    figure.columns = columns_for(figure.panels.len());
    Ok(figure)
}

/// A panel of a curve, called after its level where levels have no order.
fn empty(along: &Conditional, curve: &Curve) -> Panel {
    let hidden = || Axis::hidden((0.0, 1.0));
    let title = match &curve.level {
        Some(level) => format!("{}: {level}", along.predictor),
        None => along.predictor.clone(),
    };
    Panel::new(title, hidden(), hidden())
}

fn numbers(along: &Conditional, curve: &Curve) -> Panel {
    let mut panel = empty(along, curve);
    let at = |place: &Place| match place {
        Place::Number(x) => *x,
        Place::Level(_) => f64::NAN,
    };
    let numbers = curve.points.iter().map(|point| {
        let [low, high] = point.value.interval;
        [at(&point.at), point.value.mean(), low, high]
    });
    let finite = |numbers: &[f64; 4]| numbers.iter().all(|number| number.is_finite());
    let numbers: Vec<[f64; 4]> = numbers.filter(finite).collect();
    let band = numbers.iter().map(|&[x, _, low, high]| [x, low, high]);
    let band = Band {
        points: band.collect(),
    };
    panel.add("90 % band", Ink::Band, band);
    if !along.observed.is_empty() {
        panel.add(OBSERVED, Ink::Muted, discs(along.observed.clone()));
    }
    let line = numbers.iter().map(|&[x, mean, ..]| [x, mean]).collect();
    panel.add(EXPECTED, Ink::Posterior, Line::curve(line, 1.5));
    let extent = panel.extent();
    panel.x = Axis::numbers("", roomy(extent.x));
    panel.y = Axis::numbers("", roomy(extent.y));
    panel
}

fn levels(along: &Conditional, curve: &Curve) -> Panel {
    let mut panel = empty(along, curve);
    let row = |k: usize| k as f64 + 0.5;
    let points = || curve.points.iter().enumerate();
    let ranges = points().flat_map(|(k, it)| broken(it.value.interval.map(|end| [end, row(k)])));
    panel.add("90 % interval", Ink::Band, thick(ranges.collect()));
    if !along.observed.is_empty() {
        // Of levels the first number is the place.
        let seen = along.observed.iter().map(|&[k, y]| [y, k + 0.5]);
        panel.add(OBSERVED, Ink::Muted, discs(seen.collect()));
    }
    let means = points().map(|(k, it)| [it.value.mean(), row(k)]);
    panel.add(EXPECTED, Ink::Posterior, discs(means.collect()));
    panel.y = Axis::rows(points().map(|(_, it)| it.at.label()).collect());
    panel.x = Axis::numbers("", roomy(panel.extent().x));
    panel
}
