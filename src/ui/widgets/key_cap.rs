//! A key of the keyboard, in menus and tooltips.

use eframe::egui::{Response, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo, vec2};

use super::paint;
use crate::ui::theme::{Palette, Text, tokens};

/// A key or a combination, such as "Ctrl P".
pub fn key_cap(ui: &mut Ui, keys: &str) -> Response {
    let t = tokens();
    let p = Palette::of(ui);
    let galley = paint::line(ui, keys, Text::CodeSmall, p.text_secondary, f32::INFINITY);
    let size = vec2(galley.size().x + 2.0 * t.space.x1, 18.0);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, keys));
    let edge = Stroke::new(t.stroke.hair, p.border_subtle);
    ui.painter()
        .rect_stroke(rect, t.radius.small, edge, StrokeKind::Inside);
    paint::centered(ui.painter(), rect, galley);
    response
}
