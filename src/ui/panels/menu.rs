//! Menus of the pages: rows with a tick, a fact and the reason where a row cannot be chosen.

use eframe::egui::{
    Frame, Popup, PopupCloseBehavior, Response, Role, ScrollArea, Sense, Ui, WidgetInfo, pos2, vec2,
};

use crate::ui::icons;
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::paint;

/// Width of menus whose rows carry reasons.
pub const WIDE: f32 = 320.0;
/// Width of plain menus.
pub const NORMAL: f32 = 220.0;
/// Height from which a menu scrolls.
const MAX_HEIGHT: f32 = 420.0;

/// A menu that opens below `button`; a click on a row closes it.
pub fn menu(button: &Response, width: f32, contents: impl FnOnce(&mut Ui)) {
    show(button, width, PopupCloseBehavior::CloseOnClick, contents);
}

/// A menu with fields in it: only a click outside closes it, or the caller with [`Ui::close`].
pub fn form(button: &Response, width: f32, contents: impl FnOnce(&mut Ui)) {
    show(
        button,
        width,
        PopupCloseBehavior::CloseOnClickOutside,
        contents,
    );
}

fn show(
    button: &Response,
    width: f32,
    behavior: PopupCloseBehavior,
    contents: impl FnOnce(&mut Ui),
) {
    Popup::menu(button)
        .close_behavior(behavior)
        .width(width)
        .frame(Frame::popup(&button.ctx.global_style()).inner_margin(tokens().space.x1))
        .show(|ui| {
            ui.set_min_width(width);
            ui.set_max_width(width);
            ScrollArea::vertical()
                .max_height(MAX_HEIGHT)
                .show(ui, |ui| {
                    ui.set_min_width(width);
                    ui.spacing_mut().item_spacing.y = 0.0;
                    contents(ui);
                });
        });
}

/// A row: `chosen` has a tick, `fact` stands at the right end.
pub fn item(ui: &mut Ui, text: &str, fact: &str, chosen: bool) -> Response {
    let t = tokens();
    let p = Palette::of(ui);
    let size = vec2(ui.available_width(), t.size.row_tree);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| {
        WidgetInfo::selected(Role::MenuItem, ui.is_enabled(), chosen, paint::words(text))
    });
    if response.hovered() && ui.is_enabled() {
        ui.painter().rect_filled(rect, t.radius.control, p.bg_hover);
    }
    let y = rect.center().y;
    if chosen {
        let center = pos2(rect.left() + t.space.x2 + t.icon.tiny / 2.0, y);
        icons::paint(
            ui.painter(),
            center,
            icons::CHECK,
            t.icon.small,
            false,
            p.accent,
        );
    }
    let mut right = rect.right() - t.space.x2;
    if !fact.is_empty() {
        let fact = paint::line(
            ui,
            fact,
            Text::Caption,
            p.text_secondary,
            rect.width() / 2.0,
        );
        right = paint::right_center(ui.painter(), right, y, fact).left() - t.space.x2;
    }
    let left = rect.left() + t.space.x6;
    let text = paint::line(
        ui,
        text,
        Text::Body,
        p.text_primary,
        (right - left).max(0.0),
    );
    paint::left_center(ui.painter(), left, y, text);
    paint::focus_ring_inside(ui, &response, rect);
    response
}

/// A row that cannot be chosen, with the reason below it.
pub fn refused(ui: &mut Ui, text: &str, reason: &str) {
    ui.add_enabled_ui(false, |ui| {
        item(ui, text, "", false).on_disabled_hover_text(paint::words(reason))
    });
    note(ui, reason);
}

/// A sentence in a menu, as far in as the rows' words.
pub fn note(ui: &mut Ui, text: &str) {
    let t = tokens();
    let p = Palette::of(ui);
    let width = ui.available_width() - t.space.x6 - t.space.x2;
    let galley = paint::paragraph(ui, text, Text::Caption, p.text_secondary, width);
    let size = vec2(ui.available_width(), galley.size().y + t.space.x1);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, paint::words(text)));
    let at = pos2(rect.left() + t.space.x6, rect.top());
    ui.painter().galley(at, galley, p.text_secondary);
}

/// A hair line between groups of rows.
pub fn separator(ui: &mut Ui) {
    let p = Palette::of(ui);
    let size = vec2(ui.available_width(), tokens().space.x2 + 1.0);
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    let stroke = eframe::egui::Stroke::new(tokens().stroke.hair, p.border_subtle);
    ui.painter().hline(rect.x_range(), rect.center().y, stroke);
}
