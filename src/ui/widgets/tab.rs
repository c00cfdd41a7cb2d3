//! One tab of a tab strip.

use eframe::egui::{Color32, Response, Role, Sense, Ui, Widget, WidgetInfo, pos2, vec2};

use super::paint;
use crate::ui::icons;
use crate::ui::theme::{Palette, Text, tokens};

/// A tab, 32 high; the strip behind it is the caller's.
#[must_use = "add it with ui.add"]
pub struct Tab<'a> {
    word: &'a str,
    icon: Option<char>,
    count: Option<usize>,
    selected: bool,
    fill: Option<Color32>,
}

impl<'a> Tab<'a> {
    /// A tab that says `word`.
    pub fn new(word: &'a str, selected: bool) -> Self {
        Self {
            word,
            icon: None,
            count: None,
            selected,
            fill: None,
        }
    }

    /// An icon before the word of the selected tab.
    pub fn icon(self, icon: char) -> Self {
        Self {
            icon: Some(icon),
            ..self
        }
    }

    /// How many things the tab holds.
    pub fn count(self, count: usize) -> Self {
        Self {
            count: Some(count),
            ..self
        }
    }

    /// Fill of the selected tab: that of the pane below; the plot background otherwise.
    pub fn fill(self, fill: Color32) -> Self {
        Self {
            fill: Some(fill),
            ..self
        }
    }
}

/// Space at both ends of a tab, and between its parts.
const PAD: f32 = 10.0;
const GAP: f32 = 6.0;

impl Tab<'_> {
    /// Width of a tab that says `word`, with an icon before it or not.
    pub fn width(ui: &Ui, word: &str, icon: bool) -> f32 {
        let color = Palette::of(ui).text_primary;
        let word = paint::line(ui, word, Text::Label, color, f32::INFINITY);
        let icon = if icon { tokens().icon.small + GAP } else { 0.0 };
        (2.0 * PAD + icon + word.size().x).ceil()
    }
}

impl Widget for Tab<'_> {
    fn ui(self, ui: &mut Ui) -> Response {
        let t = tokens();
        let p = Palette::of(ui);
        let color = if self.selected {
            p.text_primary
        } else {
            p.text_secondary
        };
        let word = paint::line(ui, self.word, Text::Label, color, f32::INFINITY);
        let count = self.count.map(|count| {
            let text = super::number::integer(count as u64);
            paint::line(ui, &text, Text::Number, p.text_secondary, f32::INFINITY)
        });
        let tail = count.as_ref().map_or(0.0, |galley| GAP + galley.size().x);
        let width = Self::width(ui, self.word, self.icon.is_some()) + tail.ceil();
        let size = vec2(width, t.size.tab_strip);
        let (rect, response) = ui.allocate_exact_size(size, Sense::click());
        response.widget_info(|| {
            WidgetInfo::selected(Role::Tab, ui.is_enabled(), self.selected, self.word)
        });
        if self.selected {
            ui.painter()
                .rect_filled(rect, 0.0, self.fill.unwrap_or(p.plot_bg));
        } else if response.hovered() {
            ui.painter().rect_filled(rect, 0.0, p.bg_hover);
        }
        let y = rect.center().y;
        let mut x = rect.left() + PAD;
        if let Some(icon) = self.icon {
            icons::paint(
                ui.painter(),
                pos2(x + t.icon.small / 2.0, y),
                icon,
                t.icon.small,
                false,
                color,
            );
            x += t.icon.small + GAP;
        }
        x += word.size().x;
        paint::right_center(ui.painter(), x, y, word);
        if let Some(count) = count {
            paint::left_center(ui.painter(), x + GAP, y, count);
        }
        paint::focus_ring_inside(ui, &response, rect);
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::harness;
    use egui_kittest::kittest::Queryable as _;

    #[test]
    fn a_tab_is_chosen_by_click() {
        let mut harness = harness([400.0, 60.0], 0_usize, |ui, chosen| {
            ui.horizontal(|ui| {
                for (i, word) in ["Messages", "Tasks"].iter().enumerate() {
                    if ui.add(Tab::new(word, *chosen == i).count(i + 1)).clicked() {
                        *chosen = i;
                    }
                }
            });
        });
        harness.get_by_role_and_label(Role::Tab, "Tasks").click();
        harness.run();
        assert_eq!(*harness.state(), 1);
        assert_eq!(harness.get_by_label("Tasks").rect().height(), 32.0);
    }
}
