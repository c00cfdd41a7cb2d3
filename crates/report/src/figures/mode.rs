//! How the mode was found.

use super::{FigureEntry, Trouble};
use crate::figure::{Axis, Figure, Ink, Line, Panel, Rule, Text};
use crate::{Chains, Needs};
use ergodic_base::numerals::significant;
use ergodic_core::estimators::{GOOD_ENOUGH, Search};

pub const ENTRY: FigureEntry = FigureEntry {
    id: "mode",
    title: "Mode search",
    about: "How the maximum of the posterior was found: the norm of the gradient and the log density below the mode, against passes over the \
            data",
    needs: Needs::Search,
    make,
    ..FigureEntry::ORDINARY
};

/// Smallest value on the logarithmic axes: below it is rounding.
const FLOOR: f64 = 1e-8;
/// Room above the largest value and below the smallest one, as a factor.
const ROOM: f64 = 1.5;

fn make(chains: &Chains<'_>, _parameters: &[usize]) -> Result<Figure, Trouble> {
    let search = chains.search().filter(|search| !search.trace.is_empty());
    let search = search.ok_or(Trouble::Nothing(
        "the mode of the posterior was not found, or nothing was recorded about its search",
    ))?;
    let mut figure = Figure::new(ENTRY.id, "Search for the mode of the posterior".to_owned());
    figure.columns = 2;
    figure.panel_height = 110.0;
    let [gradient, gap] = search.courses(FLOOR);
    for (title, course, limit) in [
        ("gradient in posterior sd", gradient, GOOD_ENOUGH),
        ("nats below the mode", gap, Search::GAP),
    ] {
        let values = || course.iter().map(|point| point[1]).chain([limit]);
        let [low, high] = [
            values().fold(f64::INFINITY, f64::min) / ROOM,
            values().fold(0.0, f64::max) * ROOM,
        ];
        let mut panel = Panel::new(
            title,
            Axis::numbers("passes over the data", (0.0, search.passes)),
            Axis::logarithmic("", (low, high)),
        );
        panel.add("limit", Ink::Threshold, Rule::Across(limit));
        let words = Text {
            at: [0.0, limit],
            words: format!("limit {}", significant(limit, 1)),
        };
        panel.add("limit", Ink::Muted, words);
        panel.add(title, Ink::Posterior, Line::curve(course, 1.2));
        figure.panels.push(Some(panel));
    }
    figure.note(search.sentence());
    figure.note("Dashed lines are limits below which the distance from the mode no longer matters");
    Ok(figure)
}
