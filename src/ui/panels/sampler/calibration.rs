//! Calibration by simulation: the button, its progress, and the ranks.

use eframe::egui::{CornerRadius, Rect, Role, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};
use egui_extras::Column;

use crate::app::calibrating::{Calibrated, EXTENT};
use crate::app::{AppState, Command};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::tasks;
use crate::ui::theme::{Palette, Text, VerdictKind, tokens};
use crate::ui::widgets::table::{Side, Tone, head_cell, name_cell, name_width, number_cell, table};
use crate::ui::widgets::{self, Button, number};
use ergodic_analysis::Recipe;
use ergodic_analysis::calibration::LEVEL;

/// Width of names, at least and at most; longer ones are cut.
const NAMES_LEAST: f32 = 96.0;
const NAMES_MOST: f32 = 280.0;
/// Width of a p-value.
const P_WIDTH: f32 = 64.0;
/// Most width of a row of bars.
const BARS_MOST: f32 = 320.0;

/// Shows the section.
pub fn calibration_ui(ui: &mut Ui, state: &AppState, recipe: &Recipe, out: &mut Outbox) {
    let t = tokens();
    widgets::heading(ui, "Calibrate by simulation");
    widgets::card(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = t.space.x3;
        widgets::hint(
            ui,
            &format!(
                "Draws parameters from the prior, simulates outcomes from them and fits them, {} times. If model and \
                 sampler are right, true values rank evenly among posterior draws",
                EXTENT.simulations
            ),
        );
        if let Some(going) = state.calibrated.working() {
            ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = t.space.x2;
                let stop = Button::new("Stop simulating").icon(icons::X);
                if ui.add(stop).clicked() {
                    out.send(Command::CancelCalibration);
                }
                let text = match going.progress() {
                    (0, _) => tasks::words(going, None),
                    (done, all) => {
                        let left = tasks::left(state.tasks.secs_left(going));
                        format!("{done} of {all} simulations{left}")
                    }
                };
                widgets::hint(ui, &text);
            });
            ui.ctx()
                .request_repaint_after(super::super::page::PROGRESS_TIME);
        } else if ui
            .add(Button::new("Calibrate").icon(icons::SCALES))
            .clicked()
        {
            out.send(Command::Calibrate);
        }
        let calibrated = state.calibrated.done();
        if let Some(calibrated) = calibrated.filter(|calibrated| calibrated.recipe == *recipe) {
            table_ui(ui, calibrated);
        }
    });
}

fn table_ui(ui: &mut Ui, calibrated: &Calibrated) {
    let t = tokens();
    let calibration = &calibrated.calibration;
    widgets::sentence(ui, &calibration.sentence(), Text::Body);
    if let Some(units) = &calibration.units {
        widgets::hint(ui, units);
    }
    if calibration.short > 0 {
        let text = format!(
            "{} simulations have fewer effective draws than are ranked, which bends ranks",
            number::integer(calibration.short as u64)
        );
        widgets::hint(ui, &text);
    }
    let tests = &calibration.tests;
    let longest = calibration
        .variables
        .iter()
        .map(|name| name.chars().count());
    let names = name_width(ui, longest.max().unwrap_or(0)).clamp(NAMES_LEAST, NAMES_MOST);
    table(ui)
        .id_salt("calibration")
        .vscroll(false)
        .sense(Sense::hover())
        .column(Column::exact(names))
        .column(Column::exact(P_WIDTH))
        .column(Column::exact(t.space.x4))
        .column(Column::remainder())
        .header(t.size.row_table, |mut row| {
            for (head, side) in [
                ("parameter", Side::Left),
                ("p", Side::Right),
                ("", Side::Left),
                ("ranks, low to high", Side::Left),
            ] {
                row.col(|ui| {
                    head_cell(ui, head, side, None);
                });
            }
        })
        .body(|body| {
            body.rows(t.size.row_table, tests.len(), |mut row| {
                let (name, test) = (&calibration.variables[row.index()], &tests[row.index()]);
                row.col(|ui| {
                    name_cell(ui, name, name);
                });
                let tone = if test.p_ecdf * (tests.len() as f64) < LEVEL {
                    Tone::Past(VerdictKind::Bad)
                } else {
                    Tone::Secondary
                };
                row.col(|ui| {
                    number_cell(ui, &number::fixed(test.p_ecdf, 3), tone);
                });
                row.col(|_ui| {});
                row.col(|ui| histogram_ui(ui, name, &test.histogram));
            });
        });
}

/// Bars of equal width; the line in the middle is where even ranks would reach.
fn histogram_ui(ui: &mut Ui, name: &str, histogram: &[usize]) {
    let t = tokens();
    let p = Palette::of(ui);
    let place = ui.max_rect().shrink2(vec2(t.space.x1, 3.0));
    let width = place.width().min(BARS_MOST);
    let rect = Rect::from_min_size(place.min, vec2(width, place.height()));
    let (_, response) = ui.allocate_exact_size(ui.max_rect().size(), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, format!("Ranks of {name}")));
    let bar = rect.width() / histogram.len().max(1) as f32;
    let mean = histogram.iter().sum::<usize>() as f32 / histogram.len().max(1) as f32;
    for (k, &count) in histogram.iter().enumerate() {
        let top = rect.bottom() - rect.height() * (0.5 * count as f32 / mean).min(1.0);
        let left = rect.left() + bar * k as f32;
        let filled = Rect::from_min_max(pos2(left, top), pos2(left + bar - 1.0, rect.bottom()));
        ui.painter()
            .rect_filled(filled, CornerRadius::ZERO, p.text_secondary);
    }
    ui.painter().hline(
        rect.x_range(),
        rect.center().y,
        Stroke::new(t.stroke.hair, p.text_primary),
    );
}
