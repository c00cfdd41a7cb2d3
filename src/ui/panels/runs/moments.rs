//! Posterior means and standard deviations of one run against those of another, in the tab of comparisons.

use eframe::egui::{Color32, Shape, Stroke, Ui};

use super::panes::Variable;
use crate::app::comparing_runs::Compared;
use crate::app::reporting::Picture;
use crate::app::{PathCommand, Product};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::plots::axes::{self, Axes};
use crate::ui::plots::data_table::{PlotData, data_table_ui};
use crate::ui::plots::legend::{DOT, Sign, legend_line};
use crate::ui::plots::marks::{self, Marks};
use crate::ui::theme::{Palette, tokens};
use crate::ui::widgets::{self, Button};
use ergodic_analysis::run_comparison::ParameterRow;

/// Height of a picture with its axes.
const PICTURE: f32 = 260.0;

/// A number of a parameter in the first or the second run.
type Moment = fn(&ParameterRow, usize) -> Option<f64>;

/// What is compared.
const MOMENTS: [(&str, Moment); 2] = [
    ("means", |row, run| row.means[run]),
    ("standard deviations", |row, run| row.sds[run]),
];

/// A parameter at its place.
struct Point<'a> {
    name: &'a str,
    at: [f64; 2],
    color: Color32,
    /// Whether the parameter is the one selected.
    is_chosen: bool,
}

/// Both pictures beside each other, and a button that saves them.
pub(super) fn moments_ui(ui: &mut Ui, of: &Variable<'_>, done: &Compared, out: &mut Outbox) {
    let p = Palette::of(ui);
    let rows = &done.found.parameters;
    if rows.is_empty() {
        return;
    }
    widgets::heading(ui, "Means and standard deviations against each other");
    legend_line(
        ui,
        &[
            (Sign::Dot(p.posterior), "parameters"),
            (Sign::Dot(p.watch), "that differ beyond Monte Carlo error"),
            (Sign::Dot(p.accent), "the one selected"),
            (
                Sign::Line(same(p), &tokens().dash.prior),
                "the same in both",
            ),
        ],
    );
    ui.columns(MOMENTS.len(), |columns| {
        for (ui, (name, moment)) in columns.iter_mut().zip(MOMENTS) {
            let points = rows.iter().filter_map(|row| {
                let is_chosen = row.variable == *of.name;
                let color = match row.change {
                    _ if is_chosen => p.accent,
                    Some(_) => p.watch,
                    None => p.posterior,
                };
                Some(Point {
                    name: row.variable.as_str(),
                    at: [moment(row, 0)?, moment(row, 1)?],
                    color,
                    is_chosen,
                })
            });
            let points: Vec<Point<'_>> = points.collect();
            scatter_ui(ui, p, (name, &done.found.names), &points);
        }
    });
    let save = Button::new("Save as a picture…")
        .small()
        .icon(icons::CHART_LINE);
    if ui.add(save).clicked() {
        let picture = Picture {
            figure: "moments",
            variable: of.index,
        };
        out.send(PathCommand::Pick(Product::Picture(of.entry.id, picture)));
    }
}

/// The line on which both runs have the same.
fn same(p: &Palette) -> Stroke {
    Stroke::new(tokens().stroke.threshold, p.threshold)
}

/// Parameters in the first run and in the second, called `runs`, over one range of both axes.
fn scatter_ui(ui: &mut Ui, p: &Palette, (name, runs): (&str, &[String; 2]), points: &[Point<'_>]) {
    let numbers = points.iter().flat_map(|point| point.at);
    let (low, high) = axes::range(numbers, 0.04);
    let [one, other] = runs;
    let summary = format!("Posterior {name} in {other} against those in {one}");
    let x_title = format!("{name}, {one}");
    let y_title = format!("{name}, {other}");
    let mut axes = Axes {
        x_title: &x_title,
        y_title: &y_title,
        ..Axes::new(
            ui.make_persistent_id(("moments", name)),
            &summary,
            (low, high),
            (low, high),
        )
    };
    axes.title_line = true;
    let line = same(p);
    let shown = axes::show(ui, p, &axes, PICTURE, |plot| {
        plot.add(Marks::new(move |_ui, transform, shapes| {
            let ends = [[low, low], [high, high]];
            let dash = &tokens().dash.prior;
            marks::curve(&ends, line, dash, f64::INFINITY, transform, shapes);
            // The selected one lies over the others.
            let mut order: Vec<&Point<'_>> = points.iter().collect();
            order.sort_by_key(|point| point.is_chosen);
            for point in order {
                let at = marks::at(transform, point.at[0], point.at[1]);
                let radius = if point.is_chosen { DOT } else { 0.6 * DOT };
                shapes.push(Shape::circle_filled(at, radius, point.color));
            }
        }));
    });
    data_table_ui(ui, &shown.response, &summary, || {
        let names = points.iter().map(|point| point.name).collect();
        PlotData::new(runs.clone(), points.len(), |row, run| points[row].at[run])
            .named("parameter", names)
    });
}
