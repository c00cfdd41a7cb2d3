//! The progress line across the window, and the short bar in rows.

use eframe::egui::{Color32, Rect, Response, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use crate::ui::theme::{Palette, tokens};

/// How far a run is: both shares of the whole, 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// Share of the whole that is warm-up.
    pub warmup: f32,
    /// Share of the whole that is done, warm-up included.
    pub done: f32,
}

/// The progress line: warm-up part grey, draws in the accent, over the full width.
pub fn progress_line(ui: &mut Ui, progress: Progress) -> Response {
    let p = Palette::of(ui);
    let size = vec2(ui.available_width(), tokens().size.progress_line);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let done = progress.done.clamp(0.0, 1.0);
    let warmup = progress.warmup.clamp(0.0, 1.0);
    response.widget_info(|| {
        let mut info = WidgetInfo::labeled(Role::ProgressIndicator, true, "Progress of the run");
        info.value = Some(f64::from(done));
        info
    });
    fill(ui, rect, 0.0, 1.0, p.bg_active);
    fill(ui, rect, 0.0, done.min(warmup), p.border_strong);
    fill(ui, rect, warmup, done, p.accent);
    response
}

/// A short bar with round ends: `done` of its width in `color`.
pub fn bar(ui: &Ui, rect: Rect, done: f32, color: Color32) {
    let p = Palette::of(ui);
    let radius = rect.height() / 2.0;
    ui.painter().rect_filled(rect, radius, p.bg_active);
    let width = rect.width() * done.clamp(0.0, 1.0);
    if width > 0.0 {
        let filled = Rect::from_min_size(rect.min, vec2(width.max(rect.height()), rect.height()));
        ui.painter().rect_filled(filled, radius, color);
    }
}

fn fill(ui: &Ui, rect: Rect, from: f32, to: f32, color: Color32) {
    if to > from {
        let at = |share: f32| rect.left() + share * rect.width();
        let part = Rect::from_min_max(pos2(at(from), rect.top()), pos2(at(to), rect.bottom()));
        ui.painter().rect_filled(part, 0.0, color);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::harness;
    use egui_kittest::kittest::{NodeT as _, Queryable as _};

    #[test]
    fn the_line_is_three_points_high_and_tells_its_value() {
        let harness = harness([300.0, 100.0], (), |ui, ()| {
            progress_line(
                ui,
                Progress {
                    warmup: 0.22,
                    done: 0.49,
                },
            );
        });
        let node = harness.get_by_label("Progress of the run");
        assert_eq!(node.rect().height(), 3.0);
        assert!((node.accesskit_node().numeric_value().unwrap() - 0.49).abs() < 1e-6);
    }
}
