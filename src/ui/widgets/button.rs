//! Buttons: one filled for the main act of a screen, framed ones, quiet ones.

use eframe::egui::{
    Color32, Response, Role, Sense, Stroke, StrokeKind, Ui, Widget, WidgetInfo, vec2,
};

use super::paint;
use crate::ui::icons;
use crate::ui::theme::{Palette, Text, tokens};

#[derive(Clone, Copy, PartialEq)]
enum Look {
    Framed,
    Primary,
    Quiet,
    Danger,
}

/// A button. Its label is a verb and an object: "Add draws".
///
/// ```text
/// if ui.add(Button::new("Pause").icon_fill(icons::PAUSE)).clicked() { … }
/// ui.add_enabled(ready, Button::new("Import 10 000 rows").primary()).on_disabled_hover_text(reason);
/// ```
#[must_use = "add it with ui.add"]
pub struct Button<'a> {
    label: &'a str,
    look: Look,
    icon: Option<(char, bool)>,
    trailing: Option<char>,
    key: Option<&'a str>,
    small: bool,
    icon_only: bool,
    min_width: f32,
    max_width: f32,
}

impl<'a> Button<'a> {
    /// A framed button, 28 high.
    pub fn new(label: &'a str) -> Self {
        Self {
            label,
            look: Look::Framed,
            icon: None,
            trailing: None,
            key: None,
            small: false,
            icon_only: false,
            min_width: 0.0,
            max_width: f32::INFINITY,
        }
    }

    /// A quiet button that shows only an icon; `label` is its name and its tooltip.
    pub fn icon_only(icon: char, label: &'a str) -> Self {
        Self {
            icon: Some((icon, false)),
            icon_only: true,
            look: Look::Quiet,
            ..Self::new(label)
        }
    }

    /// Filled with the accent; at most one on a screen, never on Stop.
    pub fn primary(self) -> Self {
        Self {
            look: Look::Primary,
            ..self
        }
    }

    /// Without a frame.
    pub fn quiet(self) -> Self {
        Self {
            look: Look::Quiet,
            ..self
        }
    }

    /// Red text; only in confirmations.
    pub fn danger(self) -> Self {
        Self {
            look: Look::Danger,
            ..self
        }
    }

    /// An outline icon before the label.
    pub fn icon(self, icon: char) -> Self {
        Self {
            icon: Some((icon, false)),
            ..self
        }
    }

    /// A filled icon before the label.
    pub fn icon_fill(self, icon: char) -> Self {
        Self {
            icon: Some((icon, true)),
            ..self
        }
    }

    /// A caret after the label: the button opens a menu.
    pub fn caret(self) -> Self {
        Self {
            trailing: Some(icons::CARET_DOWN),
            ..self
        }
    }

    /// An icon after the label, such as an arrow to the next step.
    pub fn trailing(self, icon: char) -> Self {
        Self {
            trailing: Some(icon),
            ..self
        }
    }

    /// The shortcut, shown after the label.
    pub fn key(self, key: &'a str) -> Self {
        Self {
            key: Some(key),
            ..self
        }
    }

    /// 24 high, for rows.
    pub fn small(self) -> Self {
        Self {
            small: true,
            ..self
        }
    }

    /// At least this wide, so that buttons in a column line up.
    pub fn min_width(self, width: f32) -> Self {
        Self {
            min_width: width,
            ..self
        }
    }

    /// At most this wide: a longer label is cut and becomes the tooltip too.
    pub fn max_width(self, width: f32) -> Self {
        Self {
            max_width: width,
            ..self
        }
    }
}

impl Widget for Button<'_> {
    fn ui(self, ui: &mut Ui) -> Response {
        let t = tokens();
        let p = Palette::of(ui);
        let height = if self.small {
            t.size.button_small
        } else {
            t.size.button
        };
        let pad = if self.small { t.space.x2 } else { 10.0 };
        let icon_size = if self.small {
            t.icon.small
        } else {
            t.icon.medium
        };
        let gap = 6.0;
        let role = if self.small {
            Text::Label
        } else {
            Text::Button
        };
        // Colours depend on the state, which is known after allocation: lay out with a placeholder.
        let text = (!self.icon_only).then(|| {
            paint::line(
                ui,
                self.label,
                role,
                Color32::PLACEHOLDER,
                self.max_width - 2.0 * pad,
            )
        });
        let cut = text.as_ref().is_some_and(|galley| galley.elided);
        let key = self.key.map(|key| {
            paint::line(
                ui,
                key,
                Text::CodeSmall,
                Color32::PLACEHOLDER,
                f32::INFINITY,
            )
        });
        let width = if self.icon_only {
            height
        } else {
            let mut parts: Vec<f32> = Vec::new();
            parts.extend(self.icon.map(|_| icon_size));
            parts.extend(text.as_ref().map(|galley| galley.size().x));
            parts.extend(key.as_ref().map(|galley| galley.size().x));
            parts.extend(self.trailing.map(|_| t.icon.small));
            parts.iter().sum::<f32>() + gap * (parts.len().saturating_sub(1)) as f32
        };
        let outer = if self.icon_only {
            width
        } else {
            (width + 2.0 * pad).max(self.min_width)
        };
        let (rect, response) = ui.allocate_exact_size(vec2(outer.ceil(), height), Sense::click());
        response.widget_info(|| WidgetInfo::labeled(Role::Button, ui.is_enabled(), self.label));
        if !ui.is_rect_visible(rect) {
            return response;
        }
        let pressed = response.is_pointer_button_down_on();
        let hovered = response.hovered();
        let (fill, edge, color) = match self.look {
            Look::Primary => {
                let fill = if hovered || pressed {
                    p.accent_hover
                } else {
                    p.accent
                };
                (fill, fill, p.text_on_accent)
            }
            look => {
                let fill = match (pressed, hovered, look) {
                    (true, _, _) => p.bg_active,
                    (_, true, _) => p.bg_hover,
                    (_, _, Look::Quiet) => Color32::TRANSPARENT,
                    _ => p.bg_surface,
                };
                let edge = if look == Look::Quiet {
                    Color32::TRANSPARENT
                } else {
                    p.border_button
                };
                (
                    fill,
                    edge,
                    if look == Look::Danger {
                        p.bad
                    } else {
                        p.text_primary
                    },
                )
            }
        };
        let painter = ui.painter();
        painter.rect(
            rect,
            t.radius.button,
            fill,
            Stroke::new(t.stroke.hair, edge),
            StrokeKind::Inside,
        );
        let y = rect.center().y;
        if self.icon_only {
            if let Some((icon, filled)) = self.icon {
                let color = if hovered {
                    p.text_primary
                } else {
                    p.text_secondary
                };
                icons::paint(painter, rect.center(), icon, icon_size, filled, color);
            }
        } else {
            let mut x = rect.center().x - width / 2.0;
            if let Some((icon, filled)) = self.icon {
                icons::paint(
                    painter,
                    eframe::egui::pos2(x + icon_size / 2.0, y),
                    icon,
                    icon_size,
                    filled,
                    color,
                );
                x += icon_size + gap;
            }
            if let Some(galley) = text {
                let size = galley.size();
                painter.galley_with_override_text_color(
                    eframe::egui::pos2(x, (y - size.y / 2.0).round()),
                    galley,
                    color,
                );
                x += size.x + gap;
            }
            if let Some(galley) = key {
                let size = galley.size();
                let pos = eframe::egui::pos2(x, (y - size.y / 2.0).round());
                painter.galley_with_override_text_color(pos, galley, color.gamma_multiply(0.8));
                x += size.x + gap;
            }
            if let Some(icon) = self.trailing {
                let small = if icon == icons::CARET_DOWN {
                    t.icon.tiny + 2.0
                } else {
                    t.icon.small
                };
                icons::paint(
                    painter,
                    eframe::egui::pos2(x + t.icon.small / 2.0, y),
                    icon,
                    small,
                    false,
                    color,
                );
            }
        }
        paint::focus_ring(ui, &response, rect, t.radius.button);
        if self.icon_only || cut {
            response.on_hover_text(self.label)
        } else {
            response
        }
    }
}

/// A link: text that does something, at the right end of a row or in a sentence.
pub fn link(ui: &mut Ui, text: &str) -> Response {
    let t = tokens();
    let p = Palette::of(ui);
    let galley = paint::line(ui, text, Text::Number, p.link, ui.available_width());
    let height = t.size.min_target;
    let (rect, response) = ui.allocate_exact_size(vec2(galley.size().x, height), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Link, ui.is_enabled(), text));
    let painted = paint::left_center(ui.painter(), rect.left(), rect.center().y, galley);
    if response.hovered() {
        ui.painter().hline(
            painted.x_range(),
            painted.bottom() - 2.0,
            Stroke::new(1.0, p.link),
        );
    }
    paint::focus_ring(ui, &response, painted, t.radius.small);
    response.on_hover_cursor(eframe::egui::CursorIcon::PointingHand)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::harness;
    use eframe::egui::Key;
    use egui_kittest::kittest::Queryable as _;

    #[test]
    fn a_button_acts_on_click_and_on_enter() {
        let mut harness = harness([300.0, 100.0], 0, |ui, count| {
            if ui
                .add(Button::new("Add draws").icon(icons::PLUS).caret())
                .clicked()
            {
                *count += 1;
            }
        });
        harness.get_by_label("Add draws").click();
        harness.run();
        assert_eq!(*harness.state(), 1);
        harness.get_by_label("Add draws").focus();
        harness.run();
        harness.key_press(Key::Enter);
        harness.run();
        assert_eq!(*harness.state(), 2);
    }

    #[test]
    fn buttons_have_the_heights_of_the_design() {
        let harness = harness([300.0, 100.0], (), |ui, ()| {
            ui.add(Button::new("Large").primary());
            ui.add(Button::new("Small").small());
            ui.add(Button::icon_only(icons::PLUS, "Add"));
        });
        assert_eq!(harness.get_by_label("Large").rect().height(), 28.0);
        assert_eq!(harness.get_by_label("Small").rect().height(), 24.0);
        assert_eq!(harness.get_by_label("Add").rect().size(), vec2(28.0, 28.0));
    }

    #[test]
    fn a_disabled_button_does_nothing_and_says_why() {
        let mut harness = harness([300.0, 100.0], 0, |ui, count| {
            let button = ui.add_enabled(false, Button::new("Import").primary());
            if button
                .on_disabled_hover_text("Choose an outcome first")
                .clicked()
            {
                *count += 1;
            }
        });
        harness.get_by_label("Import").click();
        harness.run();
        assert_eq!(*harness.state(), 0);
        harness.get_by_label("Import").hover();
        harness.run_steps(60);
        assert!(harness.query_by_label("Choose an outcome first").is_some());
    }

    #[test]
    fn a_link_is_a_link_and_clicks() {
        let mut harness = harness([300.0, 100.0], false, |ui, clicked| {
            *clicked |= link(ui, "Show rows").clicked();
        });
        harness
            .get_by_role_and_label(Role::Link, "Show rows")
            .click();
        harness.run();
        assert!(*harness.state());
    }
}
