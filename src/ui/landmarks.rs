//! The parts of a page as stops of F6, each with a name that screen readers tell.

use eframe::egui::{Context, Id, Rect, Role, Sense, Ui, WidgetInfo};

use super::widgets::paint;

/// A part of the page.
#[derive(Clone, Copy, Debug)]
pub struct Stop {
    id: Id,
    rect: Rect,
}

fn key() -> Id {
    Id::unique("parts of the page")
}

/// Marks what `ui` covers as the part called `name`. To be called before its contents, so that Tab goes on with them.
pub fn mark(ui: &Ui, name: &str) {
    let id = Id::unique(("part of the page", name));
    let rect = ui.max_rect();
    let response = ui.interact(rect, id, Sense::focusable_noninteractive());
    response.widget_info(|| WidgetInfo::labeled(Role::Region, true, name));
    paint::focus_ring_above(ui, &response, rect);
    ui.data_mut(|data| {
        data.get_temp_mut_or_default::<Vec<Stop>>(key())
            .push(Stop { id, rect });
    });
}

/// The parts of the frame before, in order; those of this frame come to an empty list.
pub fn take(ctx: &Context) -> Vec<Stop> {
    ctx.data_mut(|data| data.remove_temp(key()).unwrap_or_default())
}

/// Gives the focus to the part after the one that has it, or to the one before.
pub fn go(ctx: &Context, stops: &[Stop], forward: bool) {
    let Some(last) = stops.len().checked_sub(1) else {
        return;
    };
    let focused = ctx.memory(|memory| memory.focused());
    let here = focused.and_then(|id| {
        let stop = stops.iter().position(|stop| stop.id == id);
        stop.or_else(|| {
            let at = ctx.read_response(id)?.rect.center();
            stops.iter().rposition(|stop| stop.rect.contains(at))
        })
    });
    let next = match (here, forward) {
        (None, true) => 0,
        (None, false) => last,
        (Some(here), true) if here == last => 0,
        (Some(here), true) => here + 1,
        (Some(0), false) => last,
        (Some(here), false) => here - 1,
    };
    ctx.memory_mut(|memory| memory.request_focus(stops[next].id));
}
