//! Predicted against observed outcomes of a finished run.

use std::sync::Arc;

use eframe::egui::{Align, Color32, Layout, Rect, Shape, Stroke, Ui, UiBuilder, vec2};

use super::asked::Asked;
use super::pane::{Home, Pane};
use super::panes::{PaneViews, Variable};
use crate::app::entry::Prediction;
use crate::app::{Analysis, PathCommand, Product, Question, RunEntry};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::plots::axes::{self, Axes};
use crate::ui::plots::data_table::{PlotData, data_table_ui};
use crate::ui::plots::legend::{DOT, Sign, entry as legend_entry, legend_line};
use crate::ui::plots::marks::{self, Marks};
use crate::ui::theme::{Palette, Text, VerdictKind, tokens};
use crate::ui::widgets::{self, Button, Segments, number, verdict_icon};
use ergodic_analysis::predict::picture::{Picture, ShareBin};
use ergodic_core::design::ResponseKind;
use ergodic_diagnostics::Verdict;

/// Radius of a point among many.
const SMALL_DOT: f32 = 1.75;

/// What the pane keeps.
#[derive(Default)]
pub(super) struct PredictionsView {
    without_groups: bool,
    /// The level whose chance is shown, from 1; 0 for the mean level, or for the most probable one where levels have no order.
    level: usize,
}

impl Pane for PredictionsView {
    const ID: &'static str = "predictions";
    const TITLE: &'static str = "Predictions";
    const ICON: char = icons::CHART_SCATTER;
    const ABOUT: &'static str = "Predicted against observed outcomes";
    const HOME: Home = Home::Above;

    fn shows(of: &Variable<'_>) -> Result<(), &'static str> {
        if of.entry.can_predict() {
            Ok(())
        } else {
            Err(
                "Nothing can be predicted from these draws: they are of no model that says how rows follow from parameters, or \
                 their model is not known",
            )
        }
    }

    fn ui(&mut self, ui: &mut Ui, of: &Variable<'_>, _views: &mut PaneViews, out: &mut Outbox) {
        predictions_pane(ui, of.entry, self, out);
    }

    fn unseen(&mut self, of: &Variable<'_>, out: &mut Outbox) {
        if of.entry.predicted.working().is_some() {
            out.send(Question::Cancel(of.entry.id, Analysis::Predictions));
        }
    }
}

/// Shows the pane; what it shows is made in the background as long as it is in front.
fn predictions_pane(ui: &mut Ui, entry: &RunEntry, view: &mut PredictionsView, out: &mut Outbox) {
    let has_groups = entry
        .variables()
        .iter()
        .any(|name| name.group_effect().is_some());
    let with_groups = !(has_groups && view.without_groups);
    let done = entry.predictions(with_groups);
    let asked = Asked {
        entry,
        task: &entry.predicted,
        done,
        later: "Predictions of the rows appear here when the run has ended",
        icon: PredictionsView::ICON,
        ask: Question::Predict(entry.id, with_groups),
    };
    if !entry.is_active() {
        head_ui(ui, entry, (has_groups, done), view, out);
        let is_other = entry.predicts_with_groups != with_groups;
        if done.is_none() && entry.predicted.working().is_some() && is_other {
            out.send(Question::Predict(entry.id, with_groups));
        }
    }
    let level = view.level;
    asked.show(ui, out, |ui, done| picture_ui(ui, entry.id, (done, level)));
}

/// What stands above the picture: which predictions, their export, and what to know of them.
fn head_ui(
    ui: &mut Ui,
    entry: &RunEntry,
    (has_groups, done): (bool, Option<&Arc<Prediction>>),
    view: &mut PredictionsView,
    out: &mut Outbox,
) {
    let t = tokens();
    widgets::inset(ui, [t.space.x3, t.space.x1], |ui| {
        ui.spacing_mut().item_spacing = vec2(t.space.x3, t.space.x1);
        ui.horizontal(|ui| {
            if has_groups {
                Segments::new("Effects of groups", &mut view.without_groups)
                    .option(false, "With group effects")
                    .option(true, "Without")
                    .show(ui);
            }
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let export = Button::new("Export").small().icon(icons::EXPORT);
                let clicked = ui
                    .add_enabled(done.is_some(), export)
                    .on_hover_text("Means and intervals of all rows as CSV")
                    .on_disabled_hover_text("The predictions are not there yet")
                    .clicked();
                if clicked {
                    out.send(PathCommand::Pick(Product::Predictions(entry.id)));
                }
                let remarks = done.map(|done| done.remarks.join("; ")).unwrap_or_default();
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    widgets::sentence_line(ui, &remarks, Text::Caption, true);
                });
            });
        });
        if let Some(done) = done.filter(|done| !done.levels.is_empty()) {
            let levels = done.predictions.response.levels();
            view.level = view.level.min(levels.len());
            ui.horizontal_wrapped(|ui| {
                let of_all = match done.predictions.response.kind {
                    ResponseKind::Unordered { .. } => "Most probable",
                    _ => "Mean level",
                };
                let mut segments =
                    Segments::new("What is predicted", &mut view.level).option(0, of_all);
                for (place, level) in levels.iter().enumerate() {
                    segments = segments.option(place + 1, level);
                }
                segments.show(ui);
            });
        }
        if let Some(warning) = unusable(entry) {
            ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = t.space.x1;
                verdict_icon(ui, VerdictKind::Bad);
                widgets::sentence(ui, warning, Text::Number);
            });
        }
        // The answer may take two lines in a narrow pane; beside a square it has a place of its own.
        let shown = done.map(|done| shown(done, view.level));
        if let Some((Picture::Points(_), Some(sentence))) = shown {
            widgets::sentence(ui, sentence, Text::Number);
        }
    });
}

/// The picture of what is expected, or of the `level`-th level from 1, and how it agrees with what was observed.
fn shown(done: &Prediction, level: usize) -> (&Picture, Option<&str>) {
    let of_level = level
        .checked_sub(1)
        .and_then(|place| done.levels.get(place));
    match of_level {
        Some((picture, agreement)) => (picture, agreement.as_deref()),
        None => (&done.picture, done.agreement.as_deref()),
    }
}

/// What is said above predictions from draws that are of no use.
fn unusable(entry: &RunEntry) -> Option<&'static str> {
    let verdict = entry.report()?.verdict;
    (verdict == Verdict::Bad)
        .then_some("The draws of this run are not usable, so neither are these predictions")
}

fn picture_ui(ui: &mut Ui, id: u64, (done, level): (&Prediction, usize)) {
    let predictions = &done.predictions;
    let (picture, agreement) = shown(done, level);
    let name = level
        .checked_sub(1)
        .and_then(|place| predictions.response.levels().get(place));
    let quantity = match name {
        Some(name) => format!("probability that {} is {name}", predictions.response.name),
        None => predictions.quantity.clone(),
    };
    match picture {
        Picture::Shares(bins) if bins.is_empty() => nothing_ui(ui),
        Picture::Points(points) if points.is_empty() => nothing_ui(ui),
        Picture::Shares(bins) => {
            shares_ui(ui, id, &quantity, agreement.unwrap_or_default(), bins);
        }
        Picture::Points(points) => {
            let observed = predictions.coverage().1;
            let which = if points.len() < observed {
                format!(
                    "; {} of {} rows",
                    number::integer(points.len() as u64),
                    number::integer(observed as u64)
                )
            } else {
                String::new()
            };
            let title = format!("predicted {quantity}{which}");
            points_ui(ui, id, &title, points);
        }
    }
}

fn nothing_ui(ui: &mut Ui) {
    let text = "No outcome was observed to compare predictions with";
    widgets::empty_state(ui, icons::CHART_SCATTER, text, None);
}

/// The bars behind the points: marks that are read one by one, so stronger than the fill of a band.
fn band_color(p: &Palette) -> Color32 {
    axes::faded(p.accent, 0.4)
}

/// Observed shares of groups of rows against predicted ones: a square with equal axes, its sentence and legend beside it
/// where there is room, else above.
fn shares_ui(ui: &mut Ui, id: u64, quantity: &str, sentence: &str, bins: &[ShareBin]) {
    let t = tokens();
    let p = Palette::of(ui);
    let line = Stroke::new(t.stroke.interval_50, band_color(p));
    let entries = [
        (Sign::Dot(p.posterior), "observed share of a group of rows"),
        (Sign::Line(line, &[]), "90% band if the model is right"),
    ];
    let area = ui.available_rect_before_wrap();
    // The axes take more beside the square than above and below it.
    let side = (area.height() + SQUARE_EXTRA).min(area.width());
    let left = Rect::from_min_size(area.min, vec2(side, area.height()));
    let words = Rect::from_min_max(left.right_top() + vec2(t.space.x3, t.space.x2), area.max);
    if words.width() >= WORDS_LEAST {
        ui.scope_builder(UiBuilder::new().max_rect(words), |ui| {
            ui.spacing_mut().item_spacing.y = t.space.x2;
            ui.set_width(words.width() - t.space.x3);
            widgets::sentence(ui, sentence, Text::Body);
            for (sign, words) in entries {
                legend_entry(ui, sign, words);
            }
        });
        ui.scope_builder(UiBuilder::new().max_rect(left), |ui| {
            square_ui(ui, id, quantity, bins);
        });
        ui.advance_cursor_after_rect(area);
        return;
    }
    widgets::inset(ui, [t.space.x3, 0.0], |ui| {
        widgets::sentence(ui, sentence, Text::Number);
    });
    legend_line(ui, &entries);
    let rest = ui.available_rect_before_wrap();
    let side = (rest.height() + SQUARE_EXTRA).min(rest.width());
    let place = Rect::from_min_size(rest.min, vec2(side, rest.height()));
    ui.scope_builder(UiBuilder::new().max_rect(place), |ui| {
        square_ui(ui, id, quantity, bins);
    });
}

/// What axes and titles take of the width of a square picture beyond what they take of its height.
const SQUARE_EXTRA: f32 = 8.0;
/// Least width for words beside a square.
const WORDS_LEAST: f32 = 180.0;

/// The square of [`shares_ui`].
fn square_ui(ui: &mut Ui, id: u64, quantity: &str, bins: &[ShareBin]) {
    let t = tokens();
    let p = Palette::of(ui);
    let values = bins
        .iter()
        .flat_map(|bin| [bin.predicted, bin.observed, bin.range[0], bin.range[1]]);
    let (low, high) = axes::range(values, 0.05);
    let title = format!("predicted {quantity}");
    let summary = format!(
        "Observed shares against the predicted {quantity} in {} groups of rows",
        bins.len()
    );
    let mut axes = Axes {
        x_title: &title,
        y_title: "observed share",
        ..Axes::new(
            ui.make_persistent_id(("predictions", id)),
            &summary,
            (low, high),
            (low, high),
        )
    };
    // A title of its own line leaves all ticks to the axis; both axes have one length.
    axes.title_line = true;
    let height = axes.square(ui);
    let bins = bins.to_vec();
    let drawn = bins.clone();
    let (dot, band, axis, hair) = (p.posterior, band_color(p), p.axis, t.stroke.hair);
    let thick = t.stroke.interval_50 * 2.0;
    let shown = axes::show(ui, p, &axes, height, move |plot| {
        plot.add(Marks::new(move |_ui, transform, shapes| {
            let at = |x: f64, y: f64| marks::at(transform, x, y);
            for bin in &drawn {
                let ends = [
                    at(bin.predicted, bin.range[0]),
                    at(bin.predicted, bin.range[1]),
                ];
                shapes.push(Shape::line_segment(ends, Stroke::new(thick, band)));
            }
            let ends = [at(low, low), at(high, high)];
            shapes.push(Shape::line_segment(ends, Stroke::new(hair, axis)));
            for bin in &drawn {
                let place = at(bin.predicted, bin.observed);
                shapes.push(Shape::circle_filled(place, DOT, dot));
            }
        }));
    });
    data_table_ui(ui, &shown.response, &summary, || {
        let heads = ["rows", "predicted", "observed", "5%", "95%"];
        PlotData::new(heads, bins.len(), |row, column| {
            let bin = &bins[row];
            let [low, high] = bin.range;
            [bin.rows as f64, bin.predicted, bin.observed, low, high][column]
        })
    });
    if let Some(point) = shown.hover {
        let distance = |bin: &&ShareBin| (bin.predicted - point.x).abs();
        let nearest = bins
            .iter()
            .min_by(|a, b| distance(a).total_cmp(&distance(b)));
        if let Some(bin) = nearest {
            let percent = |share: f64| number::fixed(100.0 * share, 1);
            shown.response.on_hover_text(format!(
                "{} rows: predicted {}%, observed {}%; 90% band {}% to {}% if the model is right",
                number::integer(bin.rows as u64),
                percent(bin.predicted),
                percent(bin.observed),
                percent(bin.range[0]),
                percent(bin.range[1])
            ));
        }
    }
}

/// Observed outcomes against predicted means.
fn points_ui(ui: &mut Ui, id: u64, title: &str, points: &[[f64; 2]]) {
    let t = tokens();
    let p = Palette::of(ui);
    let x = axes::range(points.iter().map(|point| point[0]), 0.05);
    let y = axes::range(points.iter().map(|point| point[1]), 0.05);
    let summary = format!(
        "Observed outcomes against predicted ones, {} rows",
        points.len()
    );
    let axes = Axes {
        x_title: title,
        y_title: "observed",
        ..Axes::new(ui.make_persistent_id(("predictions", id)), &summary, x, y)
    };
    let height = ui.available_height();
    let drawn = points.to_vec();
    // Where points lie over each other their number shows.
    let alpha = if points.len() > 300 { 0.45 } else { 0.8 };
    let dot = axes::faded(p.posterior, alpha);
    let (axis, hair) = (p.axis, t.stroke.hair);
    let shown = axes::show(ui, p, &axes, height, move |plot| {
        plot.add(Marks::new(move |_ui, transform, shapes| {
            let at = |[x, y]: [f64; 2]| marks::at(transform, x, y);
            let (low, high) = (x.0.max(y.0), x.1.min(y.1));
            if low < high {
                let ends = [at([low, low]), at([high, high])];
                shapes.push(Shape::line_segment(ends, Stroke::new(hair, axis)));
            }
            for point in &drawn {
                shapes.push(Shape::circle_filled(at(*point), SMALL_DOT, dot));
            }
        }));
    });
    data_table_ui(ui, &shown.response, &summary, || {
        PlotData::new(["predicted", "observed"], points.len(), |row, column| {
            points[row][column]
        })
    });
}

#[cfg(test)]
mod tests {
    use eframe::egui::accesskit::Role;
    use egui_kittest::kittest::Queryable as _;

    use super::*;
    use crate::app::testing::Session;
    use crate::app::{DataCommand, DraftChange, RunCommand};
    use crate::ui::panels::runs::runs_ui;
    use crate::ui::testing::page_harness;
    use ergodic_core::engine::RunSection;

    /// The chance of each level is compared with how often it was observed, beside the mean level.
    #[test]
    fn a_run_of_levels_predicts_the_chance_of_each() {
        let folder = tempfile::tempdir().unwrap();
        let level = |i: usize| ["low", "mid", "high"][(i * 7 % 5 + i % 4) / 3];
        let rows = (0..120).map(|i| format!("{},{}\n", level(i), i % 4));
        let text = rows.fold("size,x\n".to_owned(), |text, row| text + &row);
        let mut session = Session::with_file(&folder, "sizes.csv", &text);
        session.send(DataCommand::AcceptImport);
        session.send(DraftChange::Template("ordered".to_owned()));
        session.send(DraftChange::Formula("size ~ x".to_owned()));
        session.send(DraftChange::Run(RunSection {
            chains: 1,
            warmup: Some(100),
            draws: 100,
            ..RunSection::default()
        }));
        session.send(RunCommand::Start);
        session.wait_for_runs();
        let id = session.state.selected().unwrap().id;
        let mut harness = page_harness(session, runs_ui);
        harness.run_steps(3);
        harness
            .get_by_role_and_label(Role::Tab, "Predictions")
            .click();
        harness.run_steps(4);
        assert!(harness.state().has_sent(Question::Predict(id, true)));
        harness.get_by_label_contains("observed outcomes lie inside their 90");
        for level in ["low", "mid", "high"] {
            harness
                .get_by_role_and_label(Role::RadioButton, level)
                .click();
            harness.run_steps(4);
            harness.get_by_label(&format!(
                "Observed shares against the predicted probability that size is {level} in 10 groups of rows"
            ));
            harness.get_by_label_contains("groups lie inside the");
        }
        let entry = harness.state().session.state.selected().unwrap();
        let done = entry.predictions(true).unwrap();
        let Picture::Shares(bins) = &done.levels[1].0 else {
            panic!("shares");
        };
        // The bins are those of the chances in files.
        let rows: usize = bins.iter().map(|bin| bin.rows).sum();
        let predicted: f64 = bins.iter().map(|bin| bin.predicted * bin.rows as f64).sum();
        let chances: f64 = done.predictions.chances.iter().map(|row| row[1]).sum();
        let observed: f64 = bins.iter().map(|bin| bin.observed * bin.rows as f64).sum();
        assert_eq!(
            (rows, observed),
            (120, (0..120).filter(|&i| level(i) == "mid").count() as f64)
        );
        assert!((predicted - chances).abs() < 1e-9, "{predicted} {chances}");
    }
}
