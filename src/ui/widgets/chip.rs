//! Chips: small facts, switches and values that open an editor.

use eframe::egui::{
    Color32, Response, Role, Sense, Stroke, StrokeKind, Ui, Widget, WidgetInfo, pos2, vec2,
};

use super::paint;
use crate::ui::icons;
use crate::ui::theme::{Palette, Text, tokens};

#[derive(Clone, Copy, PartialEq)]
enum Look {
    Fact,
    Toggle(bool),
    Editable(char),
}

/// A chip, 22 high.
#[must_use = "add it with ui.add"]
pub struct Chip<'a> {
    text: &'a str,
    name: Option<&'a str>,
    icon: Option<char>,
    look: Look,
}

impl<'a> Chip<'a> {
    /// A fact: it does nothing.
    pub fn fact(text: &'a str) -> Self {
        Self {
            text,
            name: None,
            icon: None,
            look: Look::Fact,
        }
    }

    /// A switch that is on or off; the caller flips it on click.
    pub fn toggle(text: &'a str, on: bool) -> Self {
        Self {
            look: Look::Toggle(on),
            ..Self::fact(text)
        }
    }

    /// A value with a caret: a click opens a list.
    pub fn choice(text: &'a str) -> Self {
        Self {
            look: Look::Editable(icons::CARET_DOWN),
            ..Self::fact(text)
        }
    }

    /// A value with a pencil: a click opens an editor.
    pub fn edit(text: &'a str) -> Self {
        Self {
            look: Look::Editable(icons::PENCIL_SIMPLE),
            ..Self::fact(text)
        }
    }

    /// An icon before the text.
    pub fn icon(self, icon: char) -> Self {
        Self {
            icon: Some(icon),
            ..self
        }
    }

    /// What the chip is about, for screen readers: "Delimiter" for a chip that reads "semicolon ;".
    pub fn named(self, name: &'a str) -> Self {
        Self {
            name: Some(name),
            ..self
        }
    }

    /// How wide the chip will be.
    pub fn width(&self, ui: &Ui) -> f32 {
        let p = Palette::of(ui);
        let text = paint::line(ui, self.text, Text::Number, p.text_primary, f32::INFINITY);
        self.around(text.size().x)
    }

    /// The width of a chip with a text of this width.
    fn around(&self, text: f32) -> f32 {
        let t = tokens();
        let beside = t.space.x1 + t.icon.small;
        let before = self.icon.map_or(0.0, |_| beside);
        let after = match self.look {
            Look::Editable(_) => beside,
            _ => 0.0,
        };
        (2.0 * t.space.x2 + before + text + after).ceil()
    }
}

impl Widget for Chip<'_> {
    fn ui(self, ui: &mut Ui) -> Response {
        let t = tokens();
        let p = Palette::of(ui);
        let on = self.look == Look::Toggle(true);
        let color = if on { p.accent } else { p.text_primary };
        let text = paint::line(ui, self.text, Text::Number, color, f32::INFINITY);
        let icon_size = t.icon.small;
        let (pad, gap) = (t.space.x2, t.space.x1);
        let sense = if self.look == Look::Fact {
            Sense::hover()
        } else {
            Sense::click()
        };
        let size = vec2(self.around(text.size().x), t.size.chip);
        let (rect, response) = ui.allocate_exact_size(size, sense);
        response.widget_info(|| {
            let role = if self.look == Look::Fact {
                Role::Label
            } else {
                Role::Button
            };
            let label = self.name.map_or(self.text.to_owned(), |name| {
                format!("{name}: {}", self.text)
            });
            let mut info = WidgetInfo::labeled(role, ui.is_enabled(), label);
            if let Look::Toggle(on) = self.look {
                info.selected = Some(on);
            }
            info
        });
        let painter = ui.painter();
        let (rest, edge) = match self.look {
            Look::Editable(_) => (p.bg_surface, p.border_strong),
            Look::Toggle(true) => (p.accent_soft, Color32::TRANSPARENT),
            Look::Toggle(false) => (p.bg_strip, p.border_button),
            _ => (p.bg_strip, Color32::TRANSPARENT),
        };
        let fill = match self.look {
            Look::Fact => rest,
            _ if response.is_pointer_button_down_on() => p.bg_active,
            _ if response.hovered() => p.bg_hover,
            _ => rest,
        };
        painter.rect(
            rect,
            t.radius.control,
            fill,
            Stroke::new(t.stroke.hair, edge),
            StrokeKind::Inside,
        );
        let y = rect.center().y;
        let mut x = rect.left() + pad;
        if let Some(icon) = self.icon {
            icons::paint(
                painter,
                pos2(x + icon_size / 2.0, y),
                icon,
                icon_size,
                false,
                color,
            );
            x += icon_size + gap;
        }
        let width = text.size().x;
        paint::left_center(painter, x, y, text);
        if let Look::Editable(icon) = self.look {
            let center = pos2(x + width + gap + t.icon.small / 2.0, y);
            icons::paint(
                painter,
                center,
                icon,
                t.icon.tiny + 2.0,
                false,
                p.text_secondary,
            );
        }
        paint::focus_ring(ui, &response, rect, t.radius.control);
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::harness;
    use egui_kittest::kittest::Queryable as _;

    #[test]
    fn a_toggle_reports_its_state_and_a_fact_is_inert() {
        let mut harness = harness([300.0, 100.0], (false, 0), |ui, (on, facts)| {
            if ui
                .add(Chip::toggle("Worst first", *on).icon(icons::ARROW_DOWN))
                .clicked()
            {
                *on = !*on;
            }
            *facts += i32::from(
                ui.add(Chip::fact("Priors per standard deviation"))
                    .clicked(),
            );
        });
        harness.get_by_label("Worst first").click();
        harness.run();
        harness
            .get_by_label("Priors per standard deviation")
            .click();
        harness.run();
        assert_eq!(*harness.state(), (true, 0));
    }

    #[test]
    fn a_choice_says_what_it_is_about() {
        let mut harness = harness([300.0, 100.0], 0, |ui, opened| {
            *opened += i32::from(
                ui.add(Chip::choice("semicolon ;").named("Delimiter"))
                    .clicked(),
            );
        });
        harness.get_by_label("Delimiter: semicolon ;").click();
        harness.run();
        assert_eq!(*harness.state(), 1);
    }
}
