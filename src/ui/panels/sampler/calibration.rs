//! Calibration by simulation: the button, its progress, and the ranks.

use eframe::egui::{CornerRadius, Grid, Rect, Sense, Ui, pos2, vec2};

use crate::app::calibrating::{Calibrated, EXTENT};
use crate::app::{AppState, Command};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::{self, Button};
use ergodic_analysis::Recipe;

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
        if let Some(task) = &state.calibrating {
            ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = t.space.x2;
                let stop = Button::new("Stop simulating").icon(icons::X);
                if ui.add(stop).clicked() {
                    out.send(Command::CancelCalibration);
                }
                widgets::hint(ui, &task.progress());
            });
            ui.ctx()
                .request_repaint_after(super::super::page::PROGRESS_TIME);
        } else if ui
            .add(Button::new("Calibrate").icon(icons::SCALES))
            .clicked()
        {
            out.send(Command::Calibrate);
        }
        let calibrated = state.calibrated.as_ref();
        if let Some(calibrated) = calibrated.filter(|calibrated| calibrated.recipe == *recipe) {
            table_ui(ui, calibrated);
        }
    });
}

fn table_ui(ui: &mut Ui, calibrated: &Calibrated) {
    let p = Palette::of(ui);
    let t = tokens();
    let calibration = &calibrated.calibration;
    widgets::hint(ui, &calibration.sentence());
    if let Some(units) = &calibration.units {
        widgets::hint(ui, units);
    }
    if calibration.short > 0 {
        let text = format!(
            "{} simulations have fewer effective draws than are ranked, which bends ranks",
            calibration.short
        );
        widgets::hint(ui, &text);
    }
    Grid::new("calibration")
        .num_columns(3)
        .spacing([t.space.x4, t.space.x1])
        .show(ui, |ui| {
            for head in ["parameter", "p", "ranks, low to high"] {
                ui.label(Text::Caption.rich(head, p.text_secondary));
            }
            ui.end_row();
            for (name, test) in calibration.variables.iter().zip(&calibration.tests) {
                ui.label(Text::CodeSmall.rich(name, p.text_primary));
                ui.label(Text::Number.rich(format!("{:.3}", test.p_ecdf), p.text_primary));
                histogram_ui(ui, &test.histogram);
                ui.end_row();
            }
        });
}

/// Bars of equal width; the line in the middle is where even ranks would reach.
fn histogram_ui(ui: &mut Ui, histogram: &[usize]) {
    let t = tokens();
    let p = Palette::of(ui);
    let (bar, height) = (t.space.x2, t.space.x4);
    let size = vec2(bar * histogram.len() as f32, height);
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    let mean = histogram.iter().sum::<usize>() as f32 / histogram.len().max(1) as f32;
    for (k, &count) in histogram.iter().enumerate() {
        let top = rect.bottom() - height * (0.5 * count as f32 / mean).min(1.0);
        let left = rect.left() + bar * k as f32;
        let filled = Rect::from_min_max(pos2(left, top), pos2(left + bar - 1.0, rect.bottom()));
        ui.painter()
            .rect_filled(filled, CornerRadius::ZERO, p.text_secondary);
    }
    let middle = rect.center().y;
    let line = Rect::from_min_max(pos2(rect.left(), middle), pos2(rect.right(), middle + 1.0));
    ui.painter()
        .rect_filled(line, CornerRadius::ZERO, p.text_primary);
}
