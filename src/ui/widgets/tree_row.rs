//! A row of the left panel: a column, a parameter, a run.

use eframe::egui::{Rect, Response, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use super::badge::paint_verdict;
use super::table::name_room;
use super::{name, paint, progress};
use crate::ui::icons;
use crate::ui::theme::{Palette, Text, VerdictKind, tokens};

/// A row with an icon, a name and a fact at the right end.
#[must_use = "call show"]
pub struct TreeRow<'a> {
    name: &'a str,
    icon: Option<char>,
    verdict: Option<VerdictKind>,
    mono: bool,
    detail: &'a str,
    fact: &'a str,
    progress: Option<f32>,
    level: usize,
    open: Option<bool>,
    selected: bool,
}

impl<'a> TreeRow<'a> {
    /// A row that reads `name`.
    pub fn new(name: &'a str) -> Self {
        Self {
            name,
            icon: None,
            verdict: None,
            mono: false,
            detail: "",
            fact: "",
            progress: None,
            level: 0,
            open: None,
            selected: false,
        }
    }

    /// The icon of the row's type.
    pub fn icon(self, icon: char) -> Self {
        Self {
            icon: Some(icon),
            ..self
        }
    }

    /// A verdict in place of the icon, for runs.
    pub fn verdict(self, kind: VerdictKind) -> Self {
        Self {
            verdict: Some(kind),
            ..self
        }
    }

    /// The name is one of the user's: mono.
    pub fn mono(self) -> Self {
        Self { mono: true, ..self }
    }

    /// Words after the name, in caption: the sampler of a run.
    pub fn detail(self, detail: &'a str) -> Self {
        Self { detail, ..self }
    }

    /// A fact at the right end, in caption.
    pub fn fact(self, fact: &'a str) -> Self {
        Self { fact, ..self }
    }

    /// A short progress bar at the right end, 0 to 1, in place of the fact.
    pub fn progress(self, done: f32) -> Self {
        Self {
            progress: Some(done),
            ..self
        }
    }

    /// Depth in the tree.
    pub fn level(self, level: usize) -> Self {
        Self { level, ..self }
    }

    /// A caret that says whether the rows below belong to it and show.
    pub fn open(self, open: bool) -> Self {
        Self {
            open: Some(open),
            ..self
        }
    }

    /// Whether the row is the selected one.
    pub fn selected(self, selected: bool) -> Self {
        Self { selected, ..self }
    }

    /// Shows the row over the full width, 26 high.
    pub fn show(self, ui: &mut Ui) -> Response {
        let t = tokens();
        let p = Palette::of(ui);
        let (rect, response) =
            ui.allocate_exact_size(vec2(ui.available_width(), t.size.row_tree), Sense::click());
        response.widget_info(|| {
            let mut label = self.name.to_owned();
            for part in [self.detail, self.fact] {
                if !part.is_empty() {
                    label = format!("{label}, {part}");
                }
            }
            if let Some(kind) = self.verdict {
                label = format!("{label}, {}", p.verdict(kind).word);
            }
            WidgetInfo::selected(Role::TreeItem, ui.is_enabled(), self.selected, label)
        });
        if let Some(open) = self.open {
            ui.ctx()
                .accesskit_node_builder(response.id, |node| node.set_expanded(open));
        }
        if self.selected {
            ui.painter().rect_filled(rect, 0.0, p.selection_bg);
        } else if response.hovered() {
            ui.painter().rect_filled(rect, 0.0, p.bg_hover);
        }
        let y = rect.center().y;
        let mut x = rect.left() + t.space.x3 + self.level as f32 * t.space.x4;
        let mut right = rect.right() - t.space.x3;
        let role = match (self.mono, self.verdict) {
            (true, _) => Text::Code,
            (false, Some(_)) => Text::Button,
            (false, None) => Text::Body,
        };
        if let Some(done) = self.progress {
            let bar = Rect::from_min_max(pos2(right - 36.0, y - 2.0), pos2(right, y + 2.0));
            progress::bar(ui, bar, done, p.accent);
            right = bar.left() - t.space.x2;
        } else if !self.fact.is_empty() {
            // A fact gives way to the name before it, but for a name too long for both.
            let name = paint::line(ui, self.name, role, p.text_primary, f32::INFINITY);
            let taken = x + t.icon.small + 6.0 + name.size().x + t.space.x2;
            let room = (right - taken).clamp(rect.width() / 4.0, rect.width() / 2.0);
            let fact = paint::line(ui, self.fact, Text::Caption, p.text_secondary, room);
            right = paint::right_center(ui.painter(), right, y, fact).left() - t.space.x2;
        }
        if let Some(open) = self.open {
            let icon = if open {
                icons::CARET_DOWN
            } else {
                icons::CARET_RIGHT
            };
            icons::paint(
                ui.painter(),
                pos2(x + 5.0, y),
                icon,
                t.icon.tiny,
                false,
                p.text_secondary,
            );
            x += t.icon.tiny + t.space.x1;
        }
        let icon_rect = Rect::from_center_size(
            pos2(x + t.icon.small / 2.0, y),
            vec2(t.icon.small, t.icon.small),
        );
        if let Some(kind) = self.verdict {
            paint_verdict(ui, icon_rect, kind);
        } else if let Some(icon) = self.icon {
            icons::paint(
                ui.painter(),
                icon_rect.center(),
                icon,
                t.icon.small,
                false,
                p.text_secondary,
            );
        }
        if self.icon.is_some() || self.verdict.is_some() {
            x += t.icon.small + 6.0;
        }
        let room = (right - x).max(0.0);
        // Names of columns differ in their ends.
        let shown = match self.mono {
            true => name::fit(self.name, name_room(ui, room)),
            false => self.name.to_owned(),
        };
        let name = paint::line(ui, &shown, role, p.text_primary, room);
        let cut = name.elided || shown != self.name;
        x = paint::left_center(ui.painter(), x, y, name).right() + 6.0;
        if !self.detail.is_empty() && right > x {
            let detail = paint::line(ui, self.detail, Text::Caption, p.text_secondary, right - x);
            paint::left_center(ui.painter(), x, y, detail);
        }
        paint::focus_ring_inside(ui, &response, rect);
        if cut {
            response.on_hover_text(self.name)
        } else {
            response
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::harness;
    use eframe::egui::Key;
    use egui_kittest::kittest::Queryable as _;

    #[test]
    fn a_row_is_chosen_by_click_and_by_keyboard() {
        let mut harness = harness([224.0, 200.0], 0_usize, |ui, chosen| {
            for (i, name) in ["age", "income"].iter().enumerate() {
                if TreeRow::new(name)
                    .icon(icons::HASH)
                    .mono()
                    .selected(*chosen == i)
                    .show(ui)
                    .clicked()
                {
                    *chosen = i;
                }
            }
        });
        harness.get_by_label("income").click();
        harness.run();
        assert_eq!(*harness.state(), 1);
        harness.get_by_label("age").focus();
        harness.run();
        harness.key_press(Key::Enter);
        harness.run();
        assert_eq!(*harness.state(), 0);
    }

    #[test]
    fn a_run_row_reads_its_verdict() {
        let harness = harness([224.0, 60.0], (), |ui, ()| {
            TreeRow::new("Run 2")
                .verdict(VerdictKind::NotCertified)
                .detail("SGLD-CV")
                .fact("14:02")
                .show(ui);
        });
        let row = harness.get_by_label("Run 2, SGLD-CV, 14:02, Not certified");
        assert_eq!(row.rect().height(), 26.0);
    }
}
