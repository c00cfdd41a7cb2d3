//! A few words of which exactly one holds: steps, depth, Follow or Whole run.

use eframe::egui::{
    EventFilter, Key, Rect, Response, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2,
};

use super::paint;
use crate::ui::theme::{Palette, Text, tokens};

struct Segment<'a, T> {
    value: T,
    word: &'a str,
    refusal: Option<&'a str>,
    hint: Option<&'a str>,
}

/// A segmented control over `value`. One Tab stop; arrow keys move the choice.
///
/// ```text
/// Segments::new("Depth", &mut depth).option(Depth::Verdict, "Verdict").option(Depth::All, "Everything").show(ui);
/// ```
#[must_use = "call show"]
pub struct Segments<'a, T> {
    name: &'a str,
    value: &'a mut T,
    options: Vec<Segment<'a, T>>,
    wraps: bool,
}

impl<'a, T: Copy + PartialEq> Segments<'a, T> {
    /// A control named `name` for screen readers.
    pub fn new(name: &'a str, value: &'a mut T) -> Self {
        Self {
            name,
            value,
            options: Vec::new(),
            wraps: false,
        }
    }

    /// Goes on below where the words need more than the available width, instead of running out of sight.
    pub fn wrapping(self) -> Self {
        Self {
            wraps: true,
            ..self
        }
    }

    /// Adds a word.
    pub fn option(self, value: T, word: &'a str) -> Self {
        self.option_unless(value, word, None)
    }

    /// Adds a word that cannot be chosen while `refusal` says why.
    pub fn option_unless(mut self, value: T, word: &'a str, refusal: Option<&'a str>) -> Self {
        self.options.push(Segment {
            value,
            word,
            refusal,
            hint: None,
        });
        self
    }

    /// Adds a word with what the pointer is told about it, such as the code that recipes have for it.
    pub fn option_with(mut self, value: T, word: &'a str, hint: &'a str) -> Self {
        self = self.option(value, word);
        if let Some(option) = self.options.last_mut() {
            option.hint = Some(hint);
        }
        self
    }

    /// Shows the segments; `changed()` says whether the value is another one now.
    pub fn show(self, ui: &mut Ui) -> Response {
        let Self {
            name,
            value,
            options,
            wraps,
        } = self;
        let t = tokens();
        let p = Palette::of(ui);
        let pad = t.space.x2;
        // Both weights are measured, so that choosing a word moves nothing.
        let widths: Vec<f32> = options
            .iter()
            .map(|option| {
                let wide = paint::line(ui, option.word, Text::Label, p.text_primary, f32::INFINITY)
                    .size()
                    .x;
                let thin =
                    paint::line(ui, option.word, Text::Number, p.text_primary, f32::INFINITY)
                        .size()
                        .x;
                (wide.max(thin) + 2.0 * pad).ceil()
            })
            .collect();
        let room = match wraps {
            true => ui.available_width() - 4.0,
            false => f32::INFINITY,
        };
        let places = places(&widths, room);
        let across = (places.iter().zip(&widths))
            .map(|((x, _), width)| x + width)
            .fold(0.0, f32::max);
        let lines = places.last().map_or(1, |(_, line)| line + 1);
        let size = vec2(across + 4.0, t.size.segment * lines as f32);
        let (rect, mut response) = ui.allocate_exact_size(size, Sense::hover());
        response.widget_info(|| WidgetInfo::labeled(Role::RadioGroup, ui.is_enabled(), name));
        let edge = Stroke::new(t.stroke.hair, p.border_button);
        ui.painter()
            .rect(rect, t.radius.button, p.bg_strip, edge, StrokeKind::Inside);

        let chosen = options.iter().position(|option| option.value == *value);
        let mut next = chosen;
        let mut parts = Vec::with_capacity(options.len());
        for (i, (option, width)) in options.iter().zip(&widths).enumerate() {
            let (x, line) = places[i];
            let top = rect.top() + t.size.segment * line as f32;
            let part = Rect::from_min_max(
                pos2(rect.left() + 2.0 + x, top + 2.0),
                pos2(rect.left() + 2.0 + x + width, top + t.size.segment - 2.0),
            );
            let enabled = ui.is_enabled() && option.refusal.is_none();
            // Only the chosen word takes the keyboard: one Tab stop.
            let focusable = Some(i) == chosen || (chosen.is_none() && i == 0);
            let sense = match (enabled, focusable) {
                (false, _) => Sense::hover(),
                (true, true) => Sense::click(),
                (true, false) => Sense::CLICK,
            };
            let mut answer = ui.interact(part.expand2(vec2(0.0, 2.0)), response.id.with(i), sense);
            let selected = Some(i) == chosen;
            answer.widget_info(|| {
                WidgetInfo::selected(Role::RadioButton, enabled, selected, option.word)
            });
            if answer.clicked() {
                next = Some(i);
            }
            if selected {
                ui.painter().rect(
                    part,
                    t.radius.control,
                    p.bg_surface,
                    edge,
                    StrokeKind::Inside,
                );
            } else if answer.hovered() && enabled {
                ui.painter().rect_filled(part, t.radius.control, p.bg_hover);
            }
            let (role, color) = match (enabled || !ui.is_enabled(), selected) {
                (false, _) => (Text::Number, p.text_disabled),
                (true, true) => (Text::Label, p.text_primary),
                (true, false) => (Text::Number, p.text_secondary),
            };
            paint::centered(
                ui.painter(),
                part,
                paint::line(ui, option.word, role, color, f32::INFINITY),
            );
            if let Some(refusal) = option.refusal.or(option.hint) {
                answer = answer.on_hover_text(refusal);
            }
            paint::focus_ring(ui, &answer, part, t.radius.control);
            parts.push(answer);
        }

        if let Some(at) = chosen
            && parts[at].has_focus()
        {
            let filter = EventFilter {
                horizontal_arrows: true,
                ..EventFilter::default()
            };
            ui.memory_mut(|memory| memory.set_focus_lock_filter(parts[at].id, filter));
            let step = ui.input(|input| {
                i32::from(input.key_pressed(Key::ArrowRight))
                    - i32::from(input.key_pressed(Key::ArrowLeft))
            });
            let allowed = |i: &usize| options[*i].refusal.is_none();
            next = match step {
                1 => (at + 1..options.len()).find(allowed).or(next),
                -1 => (0..at).rev().find(allowed).or(next),
                _ => next,
            };
            if let Some(i) = next
                && i != at
            {
                parts[i].request_focus();
            }
        }
        if next != chosen
            && let Some(i) = next
        {
            *value = options[i].value;
            response.mark_changed();
        }
        response
    }
}

/// Where words of these widths begin in lines of `room` points: the distance from the left, and the line.
fn places(widths: &[f32], room: f32) -> Vec<(f32, usize)> {
    let (mut x, mut line) = (0.0_f32, 0_usize);
    let places = widths.iter().map(|width| {
        if x > 0.0 && x + width > room {
            (x, line) = (0.0, line + 1);
        }
        let place = (x, line);
        x += width;
        place
    });
    places.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::harness;
    use egui_kittest::kittest::Queryable as _;

    fn control(ui: &mut Ui, (value, changes): &mut (u8, u32)) {
        let response = Segments::new("Depth", value)
            .option(0, "Verdict")
            .option(1, "Standard")
            .option_unless(2, "Report", Some("There is no run yet"))
            .option(3, "Everything")
            .show(ui);
        *changes += u32::from(response.changed());
    }

    #[test]
    fn a_click_chooses_once() {
        let mut harness = harness([400.0, 60.0], (1, 0), control);
        harness.get_by_label("Verdict").click();
        harness.run();
        assert_eq!(*harness.state(), (0, 1));
        harness.get_by_label("Verdict").click();
        harness.run();
        assert_eq!(*harness.state(), (0, 1));
    }

    #[test]
    fn arrows_move_the_choice_and_skip_what_is_refused() {
        let mut harness = harness([400.0, 60.0], (1, 0), control);
        harness.get_by_label("Standard").focus();
        harness.run();
        harness.key_press(Key::ArrowRight);
        harness.run();
        assert_eq!(harness.state().0, 3);
        harness.key_press(Key::ArrowRight);
        harness.run();
        assert_eq!(harness.state().0, 3);
        harness.key_press(Key::ArrowLeft);
        harness.run();
        harness.key_press(Key::ArrowLeft);
        harness.run();
        assert_eq!(harness.state().0, 0);
    }

    #[test]
    fn words_that_do_not_fit_go_on_below() {
        let mut harness = harness([160.0, 120.0], 0, |ui, value: &mut u8| {
            Segments::new("Depth", value)
                .option(0, "Verdict")
                .option(1, "Standard")
                .option(2, "Everything")
                .wrapping()
                .show(ui);
        });
        let last = harness.get_by_label("Everything").rect();
        assert!(last.right() <= 160.0, "{last:?}");
        assert!(last.top() > harness.get_by_label("Verdict").rect().bottom() - 1.0);
        harness.get_by_label("Everything").click();
        harness.run();
        assert_eq!(*harness.state(), 2);
    }

    #[test]
    fn a_refused_word_cannot_be_chosen_and_says_why() {
        let mut harness = harness([400.0, 60.0], (1, 0), control);
        harness.get_by_label("Report").click();
        harness.run();
        assert_eq!(harness.state().0, 1);
        harness.get_by_label("Report").hover();
        harness.run_steps(60);
        assert!(harness.query_by_label("There is no run yet").is_some());
    }
}
