//! How R-hat developed over the draws.

use std::time::Duration;

use super::{FigureEntry, Takes, Trouble, columns_for, title, trouble};
use crate::Chains;
use crate::figure::{Axis, Figure, Ink, Line, Panel, Rule, Text};
use ergodic_base::draws::DrawList;
use ergodic_diagnostics::running::{Point, Running};
use ergodic_diagnostics::{Missing, RHAT_LIMIT, SummaryRow};

pub const ENTRY: FigureEntry = FigureEntry {
    id: "convergence",
    title: "Convergence",
    about: "How R-hat developed over the draws, against the limit of 1.01",
    takes: Takes::of(1, 24, 6),
    make,
    ..FigureEntry::ORDINARY
};

/// No haste: the history of the parameters of one figure.
const ALL: Duration = Duration::MAX;
/// Highest R-hat above 1 that is drawn, in limits: the beginning of a run would hide its end.
const HIGHEST: f64 = 10.0;

fn make(chains: &Chains<'_>, parameters: &[usize]) -> Result<Figure, Trouble> {
    let named = title(
        "R-hat against the draws",
        "R-hat against the draws",
        chains,
        parameters,
    );
    let mut figure = Figure::new(ENTRY.id, named);
    figure.columns = columns_for(parameters.len());
    figure.panel_height = 72.0;
    let running = running(chains, parameters);
    let draws = chains.shortest();
    for (index, &parameter) in parameters.iter().enumerate() {
        let points = course(
            chains,
            (&running, index, parameter),
            (|point| point.rhat, |row| row.rhat),
        );
        let highest = points
            .iter()
            .map(|point| point[1])
            .fold(RHAT_LIMIT, f64::max);
        if points.is_empty() || !highest.is_finite() {
            let row = chains.summary(parameter).and_then(|row| row.missing);
            return Err(trouble(parameter)(row.unwrap_or(Missing::TooFew)));
        }
        let top = (HIGHEST * (RHAT_LIMIT - 1.0)).min(1.1 * (highest - 1.0));
        let last = points.last().map_or(1.0, |point| point[1]);
        let top = 1.0 + top.max(1.5 * (RHAT_LIMIT - 1.0)).max(1.1 * (last - 1.0));
        let lowest = points.iter().map(|point| point[1]).fold(1.0, f64::min);
        let name = chains.names()[parameter].as_str();
        let mut panel = Panel::new(
            name,
            Axis::numbers("draws per chain", (0.0, draws as f64)),
            // R-hat may come out a little below 1.
            Axis::numbers("", (lowest - 0.06 * (top - lowest), top)),
        );
        panel.add("limit", Ink::Threshold, Rule::Across(RHAT_LIMIT));
        let words = Text {
            at: [0.0, RHAT_LIMIT],
            words: format!("limit {RHAT_LIMIT}"),
        };
        panel.add("limit", Ink::Muted, words);
        panel.add("R-hat", Ink::Posterior, Line::curve(points, 1.2));
        figure.panels.push(Some(panel));
    }
    figure.note("Curves begin after 100 draws per chain, and the dashed line is the limit");
    Ok(figure)
}

/// How measures of these parameters developed over the draws.
pub(super) fn running(chains: &Chains<'_>, parameters: &[usize]) -> Running {
    let lists: Vec<DrawList> = chains
        .lists()
        .iter()
        .map(|list| narrowed(list, parameters))
        .collect();
    let lists: Vec<&DrawList> = lists.iter().collect();
    let mut running = Running::new(parameters.len());
    while running.update(&lists, chains.weights(), ALL) {}
    running
}

/// A measure of one parameter in the past and now.
pub(super) type Measure = (fn(&Point) -> Option<f64>, fn(&SummaryRow) -> Option<f64>);

/// The curve of a measure of one parameter, at `index` of those that `running` is of: the history of `past`, which has points at growing
/// distances and ends with what the summary says `now`.
pub(super) fn course(
    chains: &Chains<'_>,
    (running, index, parameter): (&Running, usize, usize),
    (past, now): Measure,
) -> Vec<[f64; 2]> {
    let draws = chains.shortest();
    let points = running.points(index).iter();
    let points = points.filter(|point| point.draws < draws);
    let points = points.filter_map(|point| Some([point.draws as f64, past(point)?]));
    let now = chains.summary(parameter).and_then(now);
    points.chain(now.map(|it| [draws as f64, it])).collect()
}

/// The draws of these parameters alone.
fn narrowed(list: &DrawList, parameters: &[usize]) -> DrawList {
    let columns: Vec<Vec<f64>> = parameters
        .iter()
        .map(|&parameter| list.column(parameter))
        .collect();
    let mut narrow = DrawList::new(parameters.len());
    let mut row = vec![0.0; parameters.len()];
    for draw in 0..list.len() {
        for (value, column) in row.iter_mut().zip(&columns) {
            *value = column[draw];
        }
        narrow.push(&row);
    }
    narrow
}
