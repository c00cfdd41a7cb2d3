//! A slider: a rail, what is below the value in the accent, a round handle, named stops.

use std::ops::RangeInclusive;

use eframe::egui::accesskit::{Action, ActionData};
use eframe::egui::{EventFilter, Key, Rect, Response, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};

use super::paint;
use crate::ui::theme::{Palette, Text, tokens};

/// Radius of the handle.
const HANDLE: f32 = 7.0;

/// A slider over a finite range. Arrow keys move it by one step.
#[must_use = "call show"]
pub struct Slider<'a> {
    name: &'a str,
    value: &'a mut f64,
    range: RangeInclusive<f64>,
    logarithmic: bool,
    integer: bool,
    stops: &'a [(f64, &'a str)],
    width: f32,
}

impl<'a> Slider<'a> {
    /// A slider named `name` for screen readers. A value outside the range is shown at the nearer end and kept.
    pub fn new(name: &'a str, value: &'a mut f64, range: RangeInclusive<f64>) -> Self {
        Self {
            name,
            value,
            range,
            logarithmic: false,
            integer: false,
            stops: &[],
            width: 120.0,
        }
    }

    /// Moves over orders of magnitude; both ends must be positive.
    pub fn logarithmic(self, logarithmic: bool) -> Self {
        Self {
            logarithmic,
            ..self
        }
    }

    /// Only whole numbers.
    pub fn integer(self, integer: bool) -> Self {
        Self { integer, ..self }
    }

    /// Named places below the rail; the slider then knows only these.
    pub fn stops(self, stops: &'a [(f64, &'a str)]) -> Self {
        Self { stops, ..self }
    }

    /// Width of the whole slider.
    pub fn width(self, width: f32) -> Self {
        Self { width, ..self }
    }

    /// Shows the slider; `changed()` says whether the value is another one now.
    pub fn show(self, ui: &mut Ui) -> Response {
        let t = tokens();
        let p = Palette::of(ui);
        let scale = Scale {
            from: *self.range.start(),
            to: *self.range.end(),
            logarithmic: self.logarithmic,
        };
        let words = if self.stops.is_empty() {
            0.0
        } else {
            t.text.caption.line
        };
        let (outer, mut response) = ui.allocate_exact_size(
            vec2(self.width, t.size.button + words),
            Sense::click_and_drag(),
        );
        let rail = Rect::from_min_max(
            pos2(outer.left() + HANDLE + 1.0, outer.top()),
            pos2(outer.right() - HANDLE - 1.0, outer.top() + t.size.button),
        );

        let mut next = *self.value;
        if (response.dragged() || response.clicked())
            && let Some(pos) = response.interact_pointer_pos()
        {
            next = self.settle(
                scale.value(f64::from((pos.x - rail.left()) / rail.width())),
                &scale,
            );
        }
        next = self.moved_by_keys(ui, &response, next, &scale);
        if next != *self.value {
            *self.value = next;
            response.mark_changed();
        }

        let value = *self.value;
        response.widget_info(|| WidgetInfo::slider(ui.is_enabled(), value, self.name));
        ui.ctx().accesskit_node_builder(response.id, |node| {
            node.set_min_numeric_value(scale.from);
            node.set_max_numeric_value(scale.to);
            for action in [Action::Increment, Action::Decrement, Action::SetValue] {
                node.add_action(action);
            }
            if let Some((_, word)) = self.stops.iter().find(|(stop, _)| *stop == value) {
                node.set_value(*word);
            }
        });

        let painter = ui.painter();
        let y = rail.center().y;
        let at = |value: f64| rail.left() + scale.share(value) as f32 * rail.width();
        let x = at(value);
        painter.hline(rail.x_range(), y, Stroke::new(2.0, p.border_strong));
        painter.hline(rail.left()..=x, y, Stroke::new(2.0, p.accent));
        for &(stop, word) in self.stops {
            let stop_x = at(stop);
            painter.vline(
                stop_x,
                y - 5.0..=y + 5.0,
                Stroke::new(
                    1.0,
                    if stop <= value {
                        p.accent
                    } else {
                        p.border_strong
                    },
                ),
            );
            let color = if stop == value {
                p.text_primary
            } else {
                p.text_secondary
            };
            let galley = paint::line(ui, word, Text::Caption, color, f32::INFINITY);
            let left = (stop_x - galley.size().x / 2.0).clamp(
                outer.left(),
                (outer.right() - galley.size().x).max(outer.left()),
            );
            paint::left_center(painter, left, rail.bottom() + words / 2.0 - 2.0, galley);
        }
        let fill = if response.is_pointer_button_down_on() || response.hovered() {
            p.bg_hover
        } else {
            p.bg_surface
        };
        painter.circle(pos2(x, y), HANDLE - 1.0, fill, Stroke::new(2.0, p.accent));
        let handle = Rect::from_center_size(pos2(x, y), vec2(2.0 * HANDLE, 2.0 * HANDLE));
        paint::focus_ring(ui, &response, handle, HANDLE);
        response
    }

    fn moved_by_keys(&self, ui: &Ui, response: &Response, value: f64, scale: &Scale) -> f64 {
        let id = response.id;
        let mut steps = ui.input(|input| {
            input.num_accesskit_action_requests(id, Action::Increment) as f64
                - input.num_accesskit_action_requests(id, Action::Decrement) as f64
        });
        let set = ui.input(|input| {
            input
                .accesskit_action_requests(id, Action::SetValue)
                .find_map(|request| match request.data {
                    Some(ActionData::NumericValue(value)) => Some(value),
                    _ => None,
                })
        });
        if let Some(value) = set {
            return self.settle(value.clamp(scale.from, scale.to), scale);
        }
        if response.has_focus() {
            let filter = EventFilter {
                horizontal_arrows: true,
                ..EventFilter::default()
            };
            ui.memory_mut(|memory| memory.set_focus_lock_filter(id, filter));
            steps += ui.input(|input| {
                let times = |key| input.num_presses(key) as f64;
                times(Key::ArrowRight) - times(Key::ArrowLeft)
                    + 10.0 * (times(Key::PageUp) - times(Key::PageDown))
            });
        }
        if steps == 0.0 {
            return value;
        }
        if !self.stops.is_empty() {
            let mut order: Vec<f64> = self.stops.iter().map(|stop| stop.0).collect();
            order.sort_by(f64::total_cmp);
            let here = order
                .iter()
                .position(|stop| *stop >= value)
                .unwrap_or(order.len() - 1);
            let there = (here as f64 + steps).clamp(0.0, (order.len() - 1) as f64);
            return order[there as usize];
        }
        if self.integer {
            return (value + steps).clamp(scale.from, scale.to).round();
        }
        self.settle(scale.value(scale.share(value) + steps / 100.0), scale)
    }

    /// The value that a place on the rail stands for.
    fn settle(&self, value: f64, scale: &Scale) -> f64 {
        if let Some(&(stop, _)) = self.stops.iter().min_by(|a, b| {
            scale
                .distance(a.0, value)
                .total_cmp(&scale.distance(b.0, value))
        }) {
            return stop;
        }
        if self.integer {
            return value.round().clamp(scale.from, scale.to);
        }
        // Three significant digits, so that the field beside the slider stays readable.
        format!("{value:.2e}")
            .parse()
            .unwrap_or(value)
            .clamp(scale.from, scale.to)
    }
}

struct Scale {
    from: f64,
    to: f64,
    logarithmic: bool,
}

impl Scale {
    /// Where `value` stands on the rail, 0 to 1.
    fn share(&self, value: f64) -> f64 {
        let share = if self.logarithmic {
            (value / self.from).ln() / (self.to / self.from).ln()
        } else {
            (value - self.from) / (self.to - self.from)
        };
        if share.is_finite() {
            share.clamp(0.0, 1.0)
        } else {
            0.0
        }
    }

    fn value(&self, share: f64) -> f64 {
        let share = share.clamp(0.0, 1.0);
        if self.logarithmic {
            self.from * (self.to / self.from).powf(share)
        } else {
            self.from + share * (self.to - self.from)
        }
    }

    fn distance(&self, a: f64, b: f64) -> f64 {
        (self.share(a) - self.share(b)).abs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::harness;
    use egui_kittest::kittest::Queryable as _;

    const STOPS: [(f64, &str); 3] = [(0.25, "cautious"), (1.0, "default"), (4.0, "vague")];

    #[test]
    fn arrows_go_from_stop_to_stop_and_not_beyond() {
        let mut harness = harness([300.0, 100.0], 1.0, |ui, value| {
            Slider::new("How strong should priors be", value, 0.25..=4.0)
                .logarithmic(true)
                .stops(&STOPS)
                .show(ui);
        });
        harness.get_by_label("How strong should priors be").focus();
        harness.run();
        for expected in [4.0, 4.0] {
            harness.key_press(Key::ArrowRight);
            harness.run();
            assert_eq!(*harness.state(), expected);
        }
        assert_eq!(
            harness
                .get_by_label("How strong should priors be")
                .value()
                .as_deref(),
            Some("vague")
        );
    }

    #[test]
    fn a_click_goes_to_the_place_it_hit() {
        let mut harness = harness([300.0, 100.0], 1.0, |ui, value| {
            Slider::new("Chains", value, 0.0..=10.0)
                .integer(true)
                .width(216.0)
                .show(ui);
        });
        let rect = harness.get_by_label("Chains").rect();
        let target = pos2(rect.left() + 8.0 + 0.7 * 200.0, rect.center().y);
        harness.drag_at(target);
        harness.run();
        harness.drop_at(target);
        harness.run();
        assert_eq!(*harness.state(), 7.0);
    }

    #[test]
    fn a_screen_reader_can_step_it() {
        let mut harness = harness([300.0, 100.0], 3.0, |ui, value| {
            Slider::new("Chains", value, 1.0..=64.0)
                .integer(true)
                .show(ui);
        });
        harness.get_by_label("Chains").increment_accesskit();
        harness.run();
        assert_eq!(*harness.state(), 4.0);
    }

    #[test]
    fn the_scale_is_its_own_inverse() {
        for logarithmic in [false, true] {
            let scale = Scale {
                from: 0.001,
                to: 100.0,
                logarithmic,
            };
            for value in [0.001, 0.5, 3.0, 100.0] {
                assert!((scale.value(scale.share(value)) - value).abs() < 1e-9 * value);
            }
            assert_eq!(scale.share(1e9), 1.0);
            assert_eq!(scale.share(f64::NAN), 0.0);
        }
    }
}
