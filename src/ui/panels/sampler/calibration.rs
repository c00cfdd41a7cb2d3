//! Calibration by simulation: the button, its progress, and the ranks.

use eframe::egui::{CornerRadius, Rect, Role, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};

use crate::app::calibrating::{Calibrated, EXTENT};
use crate::app::draft_pictures::DraftPicture;
use crate::app::{AppState, DraftCommand};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::panels::draft_picture;
use crate::ui::plots::data_table::{PlotData, data_table_ui};
use crate::ui::tasks;
use crate::ui::theme::{Palette, Text, VerdictKind, tokens};
use crate::ui::widgets::table::{Cell, Column, Table, Tone};
use crate::ui::widgets::{self, Button, number};
use ergodic_analysis::Recipe;
use ergodic_analysis::calibration::LEVEL;

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
                    out.send(DraftCommand::CancelCalibration);
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
            out.send(DraftCommand::Calibrate);
        }
        let calibrated = state.calibrated.done();
        if let Some(calibrated) = calibrated.filter(|calibrated| calibrated.recipe == *recipe) {
            table_ui(ui, calibrated);
            draft_picture::save_ui(ui, DraftPicture::Ranks, out);
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
    let tone = |p: f64| {
        if p * (tests.len() as f64) < LEVEL {
            Tone::Past(VerdictKind::Bad)
        } else {
            Tone::Secondary
        }
    };
    let name = |k: usize| calibration.variables[k].as_str();
    Table::new("calibration", "Ranks of true values", tests.len())
        .whole()
        .column(Column::names(ui, "parameter", tests.len(), name))
        .column(
            Column::number("p", P_WIDTH, |k| {
                Cell::number(number::fixed(tests[k].p_ecdf, 3), tone(tests[k].p_ecdf))
            })
            .by(|k| tests[k].p_ecdf),
        )
        .gap(t.space.x4)
        .column(
            Column::new("ranks, low to high", 0.0, move |k| {
                Cell::drawn(move |ui| histogram_ui(ui, name(k), &tests[k].histogram))
            })
            .fills(),
        )
        .show(ui);
}

/// Bars of equal width; the line in the middle is where even ranks would reach.
fn histogram_ui(ui: &mut Ui, name: &str, histogram: &[usize]) {
    let t = tokens();
    let p = Palette::of(ui);
    let place = ui.max_rect().shrink2(vec2(t.space.x1, 3.0));
    let width = place.width().min(BARS_MOST);
    let rect = Rect::from_min_size(place.min, vec2(width, place.height()));
    let (_, response) = ui.allocate_exact_size(ui.max_rect().size(), Sense::hover());
    let title = format!("Ranks of {name}");
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &title));
    data_table_ui(ui, &response, &title, || {
        PlotData::new(["bin", "simulations"], histogram.len(), |bin, column| {
            [bin + 1, histogram[bin]][column] as f64
        })
    });
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
