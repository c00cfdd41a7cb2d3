//! Posterior means and standard deviations of one run against those of another (as Dang et al. 2019 compare HMC-ECS with HMC).

use std::collections::BTreeMap;

use super::{Compares, FigureEntry, OtherShown, Takes, Trouble, roomy};
use crate::Chains;
use crate::figure::{Axis, Extent, Figure, Ink, Key, Line, Panel, Points, Sign, Swatch};
use ergodic_base::ParamId;
use ergodic_base::numerals::thousands;
use ergodic_diagnostics::SummaryRow;

/// Most parameters that are drawn.
const MOST: usize = 100_000;
/// Height of a panel in points: about a square beside another one.
const HEIGHT: f64 = 190.0;

pub const ENTRY: FigureEntry = FigureEntry {
    id: "moments",
    title: "Moments of two runs",
    about: "Posterior means and standard deviations of all parameters of a run against those of another run (--with, or that of the tab \
            Compare), with the line on which both are the same",
    takes: Takes::of(1, MOST, MOST),
    other: OtherShown::Always,
    compares: Compares::Draws,
    make,
    ..FigureEntry::ORDINARY
};

/// A number of a parameter that is compared.
type Moment = fn(&SummaryRow) -> Option<f64>;

const MOMENTS: [(&str, Moment); 2] = [
    ("Posterior means", |row| row.mean),
    ("Posterior standard deviations", |row| row.sd),
];

fn make(chains: &Chains<'_>, parameters: &[usize]) -> Result<Figure, Trouble> {
    let other = chains.inputs().and_then(|inputs| inputs.other.as_ref());
    let other_run = other.ok_or(Trouble::Nothing(
        "it compares with another run: name one by --with, or choose one in the tab Compare",
    ))?;
    let other = Chains::of(other_run.results)
        .map_err(|_no_draws| Trouble::Nothing("the other run has no draws"))?;
    let places: BTreeMap<&ParamId, usize> = other.names().iter().zip(0..).collect();
    let rows: Vec<[&SummaryRow; 2]> = (parameters.iter())
        .filter_map(|&own| {
            let theirs = places.get(&chains.names()[own])?;
            Some([chains.summary(own)?, other.summary(*theirs)?])
        })
        .collect();
    let mut figure = Figure::new(
        ENTRY.id,
        "Posterior means and standard deviations of two runs".to_owned(),
    );
    figure.columns = MOMENTS.len();
    figure.panel_height = HEIGHT;
    let mut drawn = 0;
    for (title, moment) in MOMENTS {
        let points = rows.iter();
        let points = points.filter_map(|[own, theirs]| Some([moment(own)?, moment(theirs)?]));
        let at: Vec<[f64; 2]> = points.collect();
        if at.is_empty() {
            return Err(Trouble::Nothing(
                "no parameter of both runs has a mean and a standard deviation",
            ));
        }
        drawn = drawn.max(at.len());
        // One range for both axes.
        let both = Extent::of(at.iter().flat_map(|&[x, y]| [[x, x], [y, y]]));
        let (low, high) = roomy(both.x);
        let axis = |words: &str| Axis::numbers(words, (low, high));
        let mut panel = Panel::new(title, axis(&other_run.names[0]), axis(&other_run.names[1]));
        let same = Line::curve(vec![[low, low], [high, high]], 0.8);
        panel.add("the same", Ink::Threshold, same);
        let discs = Points::alike(at, Sign::Disc);
        panel.add("parameters", Ink::Posterior, discs);
        figure.panels.push(Some(panel));
    }
    figure.legend = vec![
        Key::new("parameters", Ink::Posterior, Swatch::Point(Sign::Disc)),
        Key::new("the same", Ink::Threshold, Swatch::Curve),
    ];
    figure.note(format!(
        "Points are parameters of both runs, {} of them",
        thousands(drawn as u64)
    ));
    Ok(figure)
}
