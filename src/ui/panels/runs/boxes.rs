//! The pane of box plots: the selected parameter among those of its kind.

use eframe::egui::{Rect, Shape, Stroke, StrokeKind, Ui, pos2};

use super::curves::{self, Key, Memo};
use super::pane::{Home, Pane};
use super::panes::{PaneViews, Variable, name_line, paint_words};
use crate::ui::outbox::Outbox;
use crate::ui::plots::RowNames;
use crate::ui::plots::axes::{self, Axes, YAxis, faded, padded};
use crate::ui::plots::data_table::{PlotData, data_table_ui};
use crate::ui::plots::marks::Marks;
use crate::ui::theme::{Palette, tokens};
use crate::ui::{icons, widgets};
use ergodic_base::ParamId;
use ergodic_base::numerals::plural;
use ergodic_diagnostics::{BoxPlot, Missing};

/// Box plots beside each other at most.
const MOST: usize = 30;
/// Most points of half the height of a box, and its share of half a row.
const HALF: f32 = 9.0;
const SHARE: f32 = 0.6;
/// Radius of a draw beyond the whiskers.
const DOT: f32 = 1.5;
const WORDS: &str = "whiskers reach the farthest draws within 1.5 interquartile ranges of the box";

/// The parameters that the pane shows: those of the kind of the selected one, intercepts only beside an intercept. Of many, those
/// that stand near it.
fn shown(of: &Variable<'_>) -> Vec<usize> {
    let is_intercept = |name: &ParamId| name.is_intercept();
    let with_intercept = is_intercept(of.name);
    let is_of_kind = |index: &usize| {
        let name = &of.names[*index];
        name.class() == of.name.class() && (with_intercept || !is_intercept(name))
    };
    let all: Vec<usize> = (0..of.names.len()).filter(is_of_kind).collect();
    let place = all.iter().position(|&index| index == of.index);
    let page = place.unwrap_or(0) / MOST;
    all.into_iter().skip(page * MOST).take(MOST).collect()
}

/// A parameter with its box plot.
type Row = (usize, BoxPlot);

/// Box plots of parameters.
#[derive(Default)]
pub(super) struct Boxes {
    rows: Memo<Option<Result<Vec<Row>, Missing>>>,
}

impl Pane for Boxes {
    const ID: &'static str = "boxes";
    const TITLE: &'static str = "Boxes";
    const ICON: char = icons::CHART_BAR_HORIZONTAL;
    const ABOUT: &'static str = "Box plots of the selected parameter and others of its kind";
    const HOME: Home = Home::Left;

    fn ui(&mut self, ui: &mut Ui, of: &Variable<'_>, _views: &mut PaneViews, _out: &mut Outbox) {
        if !of.has_draws(ui, 20) {
            return;
        }
        let parameters = shown(of);
        // The same for all parameters of a picture.
        let first = parameters.first().copied().unwrap_or_default();
        let key = Key {
            variable: first * (of.names.len() + 1) + parameters.len(),
            ..of.key
        };
        let rows = self.rows.get(ui, key, || {
            let row =
                |variable: usize| Ok((variable, curves::box_plot(of.entry, of.run, variable)?));
            Some(parameters.into_iter().map(row).collect())
        });
        match rows {
            Some(Ok(rows)) => boxes_ui(ui, of, rows),
            Some(Err(missing)) => {
                let text = format!("There is no picture: draws are {missing}");
                widgets::empty_state(ui, Self::ICON, &text, None);
            }
            None => {}
        }
    }
}

fn boxes_ui(ui: &mut Ui, of: &Variable<'_>, rows: &[Row]) {
    let t = tokens();
    let p = Palette::of(ui);
    let head = name_line(ui);
    paint_words(ui, head, "draws", WORDS, None);
    let count = rows.len();
    let names: Vec<&ParamId> = rows.iter().map(|(index, _)| &of.names[*index]).collect();
    let row_names = RowNames::new(ui, &names);
    let summary = format!("Box plots of {}", plural(count, "parameter"));
    let values = rows
        .iter()
        .flat_map(|(_, it)| it.whiskers.iter().chain(&it.outside));
    let ends = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(*value), high.max(*value))
    });
    let mut axes = Axes {
        y_axis: YAxis::None,
        ..Axes::new(
            ui.make_persistent_id(("boxes", of.key.run)),
            &summary,
            padded(ends, 0.04),
            RowNames::range(count),
        )
    };
    axes.margin.left = row_names.margin;
    let height = ui.available_height();
    let zero = Stroke::new(t.stroke.hair, p.axis);
    let color = |index: usize| match index == of.index {
        true => p.accent,
        false => p.posterior,
    };
    let shown = axes::show(ui, p, &axes, height, move |plot| {
        plot.add(Marks::new(move |_ui, transform, shapes| {
            let frame = *transform.frame();
            let at = |x: f64| transform.position_from_point_x(x);
            shapes.push(Shape::vline(at(0.0), frame.y_range(), zero));
            let half = (SHARE * 0.5 * frame.height() / count as f32).min(HALF);
            for (row, (index, plot)) in rows.iter().enumerate() {
                let y = transform.position_from_point_y(RowNames::place(count, row));
                let line = Stroke::new(t.stroke.curve_chain, color(*index));
                let [left, median, right] = plot.quartiles.map(at);
                let [from, to] = plot.whiskers.map(at);
                shapes.push(Shape::hline(from..=left, y, line));
                shapes.push(Shape::hline(right..=to, y, line));
                for end in [from, to] {
                    shapes.push(Shape::vline(end, y - 0.5 * half..=y + 0.5 * half, line));
                }
                let frame = Rect::from_min_max(pos2(left, y - half), pos2(right, y + half));
                shapes.push(Shape::rect_stroke(frame, 0.0, line, StrokeKind::Middle));
                let thick = Stroke::new(t.stroke.curve_pooled, line.color);
                shapes.push(Shape::vline(median, y - half..=y + half, thick));
                for &value in &plot.outside {
                    let dot = pos2(at(value), y);
                    shapes.push(Shape::circle_filled(dot, DOT, faded(line.color, 0.5)));
                }
            }
        }));
    });
    row_names.paint(ui, p, &shown);
    data_table_ui(ui, &shown.response, &summary, || {
        let heads = ["whisker", "25%", "50%", "75%", "whisker to", "beyond"];
        let names = names.iter().map(|name| name.as_str()).collect();
        PlotData::new(heads, count, |row, column| {
            let it = &rows[row].1;
            let [from, to] = it.whiskers;
            let [low, median, high] = it.quartiles;
            [from, low, median, high, to, it.num_outside as f64][column]
        })
        .named("parameter", names)
    });
}

#[cfg(test)]
mod tests {
    use eframe::egui::accesskit::Role;
    use eframe::egui::vec2;
    use egui_kittest::kittest::Queryable as _;

    use super::*;
    use crate::app::ViewCommand;
    use crate::app::testing::Session;
    use crate::ui::panels::runs::{RunsView, pane, runs_ui};
    use crate::ui::testing::{page_harness, press_t_over};

    #[test]
    fn coefficients_stand_beside_each_other_without_the_intercept() {
        let (mut session, _) = Session::with_run("churn");
        let names = session.state.selected().unwrap().variables().to_vec();
        let of_kind = |name: &&ParamId| name.class() == names[0].class();
        let all = names.iter().filter(of_kind).count();
        let intercept = names.iter().position(|name| name.is_intercept());
        assert_eq!(intercept, Some(0));
        session.send(ViewCommand::SelectVariable(1));
        let mut harness = page_harness::<RunsView>(session, runs_ui);
        harness.set_size(vec2(1920.0, 1200.0));
        harness.run_steps(3);
        let boxes = pane::find(Boxes::ID).unwrap();
        harness.state_mut().view.show_pane(boxes);
        harness.run_steps(3);
        let slopes = format!("Box plots of {}", plural(all - 1, "parameter"));
        press_t_over(&mut harness, &slopes);
        harness.get_by_role_and_label(Role::ColumnHeader, "whisker to");
        harness.key_press(eframe::egui::Key::T);
        harness.run_steps(3);
        harness
            .state_mut()
            .session
            .send(ViewCommand::SelectVariable(0));
        harness.run_steps(3);
        harness.get_by_label(&format!("Box plots of {}", plural(all, "parameter")));
    }
}
