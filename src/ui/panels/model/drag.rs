//! Columns dragged from one role to another. Whatever a drag does, menus and the palette do as well.

use eframe::egui::{
    CursorIcon, DragAndDrop, Id, PopupAnchor, Rect, Sense, Stroke, StrokeKind, Tooltip, Ui,
    UiBuilder,
};

use super::roles::Context;
use crate::app::DraftChange;
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::{hint, sentence};
use ergodic_data::{Refusal, Role};

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
        && !is_going_on(ui)
    {
        DragAndDrop::set_payload(ui.ctx(), Dragged(column.to_owned()));
    }
}

/// Whether a column is being dragged.
pub fn is_going_on(ui: &Ui) -> bool {
    DragAndDrop::has_payload_of_type::<Dragged>(ui.ctx())
}

/// The dragged column beside the pointer, and what a drop there does or why it does nothing.
pub fn preview(ui: &Ui, answer: Option<&Result<Role, Refusal>>) {
    let Some(dragged) = DragAndDrop::payload::<Dragged>(ui.ctx()) else {
        return;
    };
    ui.ctx().set_cursor_icon(CursorIcon::Grabbing);
    let id = Id::unique("dragged column");
    Tooltip::always_open(ui.ctx().clone(), ui.layer_id(), id, PopupAnchor::Pointer)
        .gap(tokens().space.x3)
        .show(|ui| {
            sentence(ui, &format!("`{}`", dragged.0), Text::Body);
            match answer {
                Some(Ok(Role::Ignore)) => hint(ui, "becomes not used"),
                Some(Ok(role)) => hint(ui, &format!("becomes {}", role.label())),
                Some(Err(refusal)) => hint(ui, &format!("Not possible: {refusal}")),
                None => hint(ui, "drop it on a role"),
            };
        });
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
    let refused = (role != Role::Ignore)
        .then(|| cx.view.refusal(cx.data, cx.document, column, role))
        .flatten();
    let p = Palette::of(ui);
    let color = if refused.is_some() { p.bad } else { p.accent };
    cx.answer = Some(refused.map_or(Ok(role), Err));
    let t = tokens();
    ui.painter().rect_stroke(
        place.shrink(t.space.x1),
        t.radius.button,
        Stroke::new(t.stroke.focus, color),
        StrokeKind::Inside,
    );
    if response.dnd_release_payload::<Dragged>().is_some() {
        cx.out.send(match role {
            Role::Ignore => DraftChange::Remove(column.clone()),
            // A refused role has its reason and what would help said.
            role => DraftChange::Assign(column.clone(), role),
        });
    }
}
