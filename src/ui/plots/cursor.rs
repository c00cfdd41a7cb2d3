//! The keyboard's cursor of a plot: arrows move it, Page Up and Page Down zoom around it, Home and End go to the ends,
//! Escape takes it away.

use eframe::egui::{EventFilter, Id, Key, Modifiers, Response, Ui};

use super::axes::Axes;

/// Steps that Shift moves at once.
const STRIDE: f64 = 10.0;
/// Factor by which Page Up shows less.
const ZOOM: f64 = 2.0;
/// Steps in what shows, where the data have none.
const STEPS: f64 = 100.0;

/// What becomes of the range of x.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Zoom {
    /// To the given range.
    To(f64, f64),
    /// The whole again.
    Reset,
}

/// What the keys did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Moved {
    /// Where the cursor stands.
    pub at: Option<f64>,
    /// The new range, if it changes.
    pub zoom: Option<Zoom>,
}

#[derive(Clone, Copy)]
struct Kept {
    at: Option<f64>,
    focused: bool,
}

/// Reads the keys meant for the plot that has the focus.
pub(super) fn read(ui: &Ui, axes: &Axes<'_>, visible: (f64, f64)) -> Moved {
    let kept = ui.data(|data| data.get_temp::<Kept>(axes.id));
    let Some(Kept { at, focused: true }) = kept else {
        return Moved {
            at: kept.and_then(|kept| kept.at),
            zoom: None,
        };
    };
    let mut moved = Moved { at, zoom: None };
    ui.input_mut(|input| {
        let mut act = |modifiers, key| {
            for _ in 0..input.count_and_consume_key(modifiers, key) {
                moved = step(moved, key, modifiers == Modifiers::SHIFT, axes, visible);
            }
        };
        for key in [Key::ArrowLeft, Key::ArrowRight] {
            // Combinations first: egui takes a plain key for any.
            act(Modifiers::SHIFT, key);
            act(Modifiers::NONE, key);
        }
        for key in [Key::Home, Key::End, Key::PageUp, Key::PageDown, Key::Escape] {
            act(Modifiers::NONE, key);
        }
    });
    moved
}

/// Remembers the cursor, and asks for arrows while the plot has the focus.
pub(super) fn keep(ui: &Ui, id: Id, response: &Response, at: Option<f64>) {
    let focused = response.has_focus();
    if focused {
        let filter = EventFilter {
            horizontal_arrows: true,
            escape: at.is_some(),
            ..EventFilter::default()
        };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
    }
    ui.data_mut(|data| data.insert_temp(id, Kept { at, focused }));
}

fn step(moved: Moved, key: Key, shift: bool, axes: &Axes<'_>, visible: (f64, f64)) -> Moved {
    let visible = match moved.zoom {
        Some(Zoom::To(low, high)) => (low, high),
        _ => visible,
    };
    let width = visible.1 - visible.0;
    let grid = if axes.step > 0.0 {
        axes.step
    } else {
        width / STEPS
    };
    let stride = if shift { STRIDE * grid } else { grid };
    let middle = visible.0 + width / 2.0;
    let snap = |x: f64| {
        if axes.step > 0.0 {
            (x / axes.step).round() * axes.step
        } else {
            x
        }
    };
    let at = moved.at.unwrap_or(middle);
    let (low, high) = axes.x;
    match key {
        Key::ArrowLeft | Key::ArrowRight => {
            let sign = if key == Key::ArrowLeft { -1.0 } else { 1.0 };
            let at = snap((at + sign * stride).clamp(low, high));
            // What the cursor reads out stays in sight.
            let zoom = if at < visible.0 {
                Some(Zoom::To(at, at + width))
            } else if at > visible.1 {
                Some(Zoom::To(at - width, at))
            } else {
                moved.zoom
            };
            Moved { at: Some(at), zoom }
        }
        Key::Home => Moved {
            at: Some(snap(visible.0.max(low))),
            ..moved
        },
        Key::End => Moved {
            at: Some(snap(visible.1.min(high))),
            ..moved
        },
        Key::PageUp => Moved {
            at: Some(at),
            zoom: Some(Zoom::To(
                at - (at - visible.0) / ZOOM,
                at + (visible.1 - at) / ZOOM,
            )),
        },
        Key::PageDown => {
            let wider = (at - (at - visible.0) * ZOOM, at + (visible.1 - at) * ZOOM);
            Moved {
                at: Some(at),
                zoom: Some(if wider.0 <= low && wider.1 >= high {
                    Zoom::Reset
                } else {
                    Zoom::To(wider.0.max(low), wider.1.min(high))
                }),
            }
        }
        _ => Moved {
            at: None,
            zoom: Some(Zoom::Reset),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::plots::axes::show;
    use crate::ui::testing::harness;
    use crate::ui::theme::Palette;
    use eframe::egui::accesskit::Role;
    use egui_kittest::kittest::Queryable as _;

    #[test]
    fn arrows_move_the_cursor_page_keys_zoom_around_it_and_escape_ends_it() {
        let mut harness = harness([400.0, 200.0], (None, (0.0, 0.0)), |ui, seen| {
            let mut axes = Axes::new(Id::unique("plot"), "a plot", (0.0, 10.0), (0.0, 1.0));
            axes.step = 1.0;
            let shown = show(ui, Palette::of(ui), &axes, 180.0, |_plot| {});
            let bounds = shown.transform.bounds();
            *seen = (
                shown.hover.map(|point| point.x),
                (bounds.min()[0], bounds.max()[0]),
            );
        });
        harness.run_steps(2);
        assert_eq!(harness.state().0, None);
        harness.get_by_role_and_label(Role::Image, "a plot").focus();
        harness.run_steps(2);
        let mut press = |key| {
            harness.key_press(key);
            harness.run_steps(3);
            *harness.state()
        };
        assert_eq!(press(Key::ArrowRight).0, Some(6.0));
        assert_eq!(press(Key::ArrowLeft).0, Some(5.0));
        assert_eq!(press(Key::Home).0, Some(0.0));
        assert_eq!(press(Key::ArrowLeft).0, Some(0.0));
        assert_eq!(press(Key::End).0, Some(10.0));
        let (at, (low, high)) = press(Key::PageUp);
        assert_eq!(at, Some(10.0));
        assert!(
            (low - 5.0).abs() < 1e-6 && (high - 10.0).abs() < 1e-6,
            "{low} to {high}"
        );
        for _ in 0..6 {
            press(Key::ArrowLeft);
        }
        let (at, (low, high)) = press(Key::ArrowLeft);
        assert_eq!(at, Some(3.0));
        assert!(
            low <= 3.0 && high - low < 5.1,
            "the cursor stays in sight: {low} to {high}"
        );
        let (_, (low, high)) = press(Key::PageDown);
        assert!(high - low > 6.9, "{low} to {high}");
        let (at, (low, high)) = press(Key::Escape);
        assert_eq!((at, low, high), (None, 0.0, 10.0));
    }
}
