//! Columns dragged from one role to another. Whatever a drag does, menus and the palette do as well.

use eframe::egui::{
    self, DragAndDrop, Id, LayerId, Order, Rect, Sense, Stroke, StrokeKind, Ui, UiBuilder, vec2,
};

use super::roles::Context;
use crate::app::Command;
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::paint;
use ergodic_data::roles::Role;

/// The column under the pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dragged(pub String);

/// Draws `contents` so that they can be dragged as `column`; buttons in them still take clicks. `place` tells apart what shows
/// the same column.
pub fn source(ui: &mut Ui, place: &str, column: &str, contents: impl FnOnce(&mut Ui)) {
    // Not a place to tab to: menus do the same for the keyboard.
    let builder = UiBuilder::new()
        .id_salt(("drag", place, column))
        .sense(Sense::DRAG);
    let response = ui.scope_builder(builder, contents).response;
    // A press on a button inside is no drag until the pointer has moved.
    if response.dragged()
        && ui.input(|input| input.pointer.is_decidedly_dragging())
        && let Some(at) = ui.ctx().pointer_interact_pos()
    {
        if !DragAndDrop::has_payload_of_type::<Dragged>(ui.ctx()) {
            DragAndDrop::set_payload(ui.ctx(), Dragged(column.to_owned()));
        }
        ghost(ui, column, at);
    }
}

/// The name of the dragged column beside the pointer.
fn ghost(ui: &Ui, column: &str, at: egui::Pos2) {
    let t = tokens();
    let p = Palette::of(ui);
    let layer = LayerId::new(Order::Tooltip, Id::unique("dragged column"));
    let painter = ui.ctx().layer_painter(layer);
    let name = paint::line(
        ui,
        &format!("`{column}`"),
        Text::Body,
        p.text_primary,
        240.0,
    );
    let inset = vec2(t.space.x2, t.space.x1);
    let place = Rect::from_min_size(at + vec2(t.space.x3, t.space.x2), name.size() + 2.0 * inset);
    let stroke = Stroke::new(t.stroke.hair, p.accent);
    painter.rect(
        place,
        t.radius.button,
        p.bg_surface,
        stroke,
        StrokeKind::Inside,
    );
    painter.galley(place.min + inset, name, p.text_primary);
}

/// Draws `contents` as the place of `role`, or of columns that are not used: a column dropped there takes it.
pub fn zone(
    ui: &mut Ui,
    cx: &mut Context<'_>,
    role: Role,
    contents: impl FnOnce(&mut Ui, &mut Context<'_>),
) {
    let top = ui.cursor().top();
    contents(ui, cx);
    let Some(dragged) = DragAndDrop::payload::<Dragged>(ui.ctx()) else {
        return;
    };
    let place = Rect::from_x_y_ranges(ui.max_rect().x_range(), top..=ui.cursor().top());
    let response = ui.interact(
        place,
        ui.scope_id().with(("zone", role as u8)),
        Sense::hover(),
    );
    let column = &dragged.0;
    if cx.document.roles.of(column).contains(&role) {
        return;
    }
    if !response.contains_pointer() {
        return;
    }
    let refused = cx
        .view
        .refusal(cx.data, cx.document, column, role)
        .is_some();
    let p = Palette::of(ui);
    let color = if refused { p.bad } else { p.accent };
    let t = tokens();
    ui.painter().rect_stroke(
        place.shrink(t.space.x1),
        t.radius.button,
        Stroke::new(t.stroke.focus, color),
        StrokeKind::Inside,
    );
    if response.dnd_release_payload::<Dragged>().is_some() {
        cx.out.send(match role {
            Role::Ignore => Command::RemoveRole(column.clone()),
            // A refused role has its reason and what would help said.
            role => Command::AssignRole(column.clone(), role),
        });
    }
}
