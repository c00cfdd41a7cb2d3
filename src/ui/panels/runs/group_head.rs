//! The heads of groups in the summary table.

use std::sync::Arc;

use eframe::egui::{Galley, Rangef, Role, Sense, Ui, WidgetInfo};

use super::folding::Item;
use crate::ui::icons;
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::table::name_chars;
use crate::ui::widgets::{name, number, paint};
use ergodic_base::ParamId;

/// The row of a vector: its pattern, and which of how many variables its numbers are of.
#[derive(Clone, Copy)]
pub struct GroupHead<'a> {
    /// Pattern of the members' names.
    name: &'a ParamId,
    /// Number of members.
    count: usize,
    /// Whether the members follow.
    open: bool,
    /// Whether the worst member comes first.
    is_worst: bool,
}

impl<'a> GroupHead<'a> {
    /// The head that an item is, if it is one.
    pub fn of(item: &'a Item, is_worst: bool) -> Option<Self> {
        let Item::Group {
            name,
            members,
            open,
            ..
        } = item
        else {
            return None;
        };
        Some(Self {
            name,
            count: members.len(),
            open: *open,
            is_worst,
        })
    }

    fn which(&self) -> String {
        let which = if self.is_worst { "worst" } else { "first" };
        format!("{which} of {}", number::integer(self.count as u64))
    }

    /// Caret and pattern; the words of the row take what they need beyond the `words_width` points that they have.
    pub fn name_ui(&self, ui: &mut Ui, words_width: f32) {
        let t = tokens();
        let p = Palette::of(ui);
        let rect = ui.max_rect();
        let (_, response) = ui.allocate_exact_size(rect.size(), Sense::hover());
        response.widget_info(|| {
            let state = if self.open { "unfolded" } else { "folded" };
            let words = format!("{} · {}, {state}", self.name, self.which());
            WidgetInfo::labeled(Role::Label, true, words)
        });
        let icon = if self.open {
            icons::CARET_DOWN
        } else {
            icons::CARET_RIGHT
        };
        let (x, y) = (rect.left() + t.icon.tiny, rect.center().y);
        let center = eframe::egui::pos2(x, y);
        icons::paint(
            ui.painter(),
            center,
            icon,
            t.icon.tiny,
            false,
            p.text_secondary,
        );
        let left = rect.left() + 2.0 * t.icon.tiny;
        let words = self.words(ui).size().x + t.space.x2;
        let room = rect.right() - left - (words - words_width).max(0.0);
        let name = name::fit(
            &name::shorten(self.name, name_chars(ui, room)),
            name_chars(ui, room),
        );
        let galley = paint::line(ui, &name, Text::Code, p.text_primary, f32::INFINITY);
        paint::left_center(ui.painter(), left, y, galley);
        response.on_hover_text(format!("{}: click to unfold or fold", self.name));
    }

    /// "worst of 85", to the right end of its cell and as far to the left as it needs.
    pub fn words_ui(&self, ui: &mut Ui) {
        let rect = ui.max_rect();
        ui.allocate_exact_size(rect.size(), Sense::hover());
        let (right, y) = (rect.right() - tokens().space.x1, rect.center().y);
        let words = self.words(ui);
        // The cell clips what the words need beyond it; the cell before it is theirs as well.
        let left = rect.left().min(right - words.size().x);
        let painter = paint::across_cells(ui, Rangef::new(left, rect.right()));
        paint::right_center(&painter, right, y, words);
    }

    fn words(&self, ui: &Ui) -> Arc<Galley> {
        let color = Palette::of(ui).text_secondary;
        paint::line(ui, &self.which(), Text::Caption, color, f32::INFINITY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::harness;
    use eframe::egui::{Rect, Shape, UiBuilder, pos2, vec2};

    #[test]
    fn the_words_of_a_group_are_whole_in_a_narrow_cell() {
        let mut harness = harness([300.0, 60.0], (), |ui, ()| {
            let cell = Rect::from_min_size(pos2(200.0, 10.0), vec2(30.0, 24.0));
            ui.scope_builder(UiBuilder::new().max_rect(cell), |ui| {
                ui.set_clip_rect(cell);
                let name = "b[*]".into();
                let group = GroupHead {
                    name: &name,
                    count: 88,
                    open: false,
                    is_worst: true,
                };
                group.words_ui(ui);
            });
        });
        harness.run();
        let shapes = &harness.output().shapes;
        let words = shapes.iter().find_map(|clipped| match &clipped.shape {
            Shape::Text(text) if text.galley.text() == "worst of 88" => {
                Some((clipped.clip_rect, text.visual_bounding_rect()))
            }
            _ => None,
        });
        let (clip, rect) = words.unwrap();
        assert!(
            rect.width() > 30.0 && clip.left() <= rect.left(),
            "{clip} {rect}"
        );
        assert!(clip.right() >= rect.right(), "{clip} {rect}");
    }
}
