//! A line of the message list: when, what, and the quick fix.

use eframe::egui::{Rect, Response, Role, Sense, Ui, UiBuilder, WidgetInfo, pos2, vec2};

use super::badge::paint_verdict;
use super::{button, paint};
use crate::ui::icons;
use crate::ui::theme::{Palette, Text, VerdictKind, tokens};

/// A message. Identifiers between backticks are set in mono.
#[derive(Clone, Copy, Debug)]
pub struct MessageRow<'a> {
    /// How serious the message is; `None` for plain information.
    pub kind: Option<VerdictKind>,
    /// Clock time.
    pub time: &'a str,
    /// One sentence.
    pub text: &'a str,
    /// How often the same cause came up.
    pub count: usize,
    /// What the link at the right end does, if there is a quick fix.
    pub fix: Option<&'a str>,
    /// Whether the message stopped being true.
    pub resolved: bool,
}

/// What was clicked in a message row.
pub struct MessageResponse {
    /// The row itself; its tooltip is the full text.
    pub response: Response,
    /// Whether the quick fix was clicked.
    pub fix: bool,
}

impl MessageRow<'_> {
    /// Shows the row over the full width, 24 high.
    pub fn show(self, ui: &mut Ui) -> MessageResponse {
        let t = tokens();
        let p = Palette::of(ui);
        let (rect, response) =
            ui.allocate_exact_size(vec2(ui.available_width(), t.size.row_table), Sense::hover());
        let mut tail = if self.count > 1 {
            format!(" ({} times)", super::number::integer(self.count as u64))
        } else {
            String::new()
        };
        if self.resolved {
            tail.push_str(", resolved");
        }
        let text = format!("{}{tail}", self.text);
        response.widget_info(|| {
            let kind = self.kind.map_or("Note", |kind| p.verdict(kind).word);
            WidgetInfo::labeled(
                Role::ListItem,
                true,
                format!("{kind}, {}: {}", self.time, paint::words(&text)),
            )
        });
        let y = rect.center().y;
        let mut x = rect.left() + t.space.x3;
        let icon = Rect::from_center_size(
            pos2(x + t.icon.small / 2.0, y),
            vec2(t.icon.small, t.icon.small),
        );
        match (self.kind, self.resolved) {
            (Some(kind), false) => paint_verdict(ui, icon, kind),
            (Some(_), true) => {
                icons::paint(
                    ui.painter(),
                    icon.center(),
                    icons::CHECK,
                    t.icon.small,
                    false,
                    p.text_secondary,
                );
            }
            (None, _) => {
                icons::paint(
                    ui.painter(),
                    icon.center(),
                    icons::INFO,
                    t.icon.small,
                    false,
                    p.text_secondary,
                );
            }
        }
        x += t.icon.small + t.space.x2;
        let time = paint::line(ui, self.time, Text::Number, p.text_secondary, f32::INFINITY);
        x = paint::left_center(ui.painter(), x, y, time).right() + t.space.x3;
        let mut right = rect.right() - t.space.x3;
        let mut clicked = false;
        if let Some(fix) = self.fix.filter(|_| !self.resolved) {
            let width = paint::line(ui, fix, Text::Number, p.link, f32::INFINITY)
                .size()
                .x;
            let place = Rect::from_min_max(
                pos2((right - width).max(x), rect.top()),
                pos2(right, rect.bottom()),
            );
            let mut child = ui.new_child(UiBuilder::new().max_rect(place).id_salt("fix"));
            clicked = button::link(&mut child, fix).clicked();
            right = place.left() - t.space.x2;
        }
        let color = if self.resolved {
            p.text_secondary
        } else {
            p.text_primary
        };
        let galley = paint::line(ui, &text, Text::Number, color, (right - x).max(0.0));
        let cut = galley.elided;
        paint::left_center(ui.painter(), x, y, galley);
        let response = if cut {
            response.on_hover_text(paint::hover_words(&text))
        } else {
            response
        };
        MessageResponse {
            response,
            fix: clicked,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::harness;
    use egui_kittest::kittest::Queryable as _;

    #[test]
    fn the_fix_is_a_link_of_its_own() {
        let mut harness = harness([500.0, 60.0], 0, |ui, clicks| {
            let row = MessageRow {
                kind: Some(VerdictKind::Watch),
                time: "14:28:41",
                text: "`b[age]` mixes slowly",
                count: 3,
                fix: Some("Try a batch of 1000"),
                resolved: false,
            };
            *clicks += i32::from(row.show(ui).fix);
        });
        harness.get_by_label("Watch, 14:28:41: b[age] mixes slowly (3 times)");
        harness.get_by_label("Try a batch of 1000").click();
        harness.run();
        assert_eq!(*harness.state(), 1);
    }

    #[test]
    fn a_resolved_message_offers_nothing() {
        let harness = harness([500.0, 60.0], (), |ui, ()| {
            let row = MessageRow {
                kind: Some(VerdictKind::Bad),
                time: "14:28:41",
                text: "Chain 3 is stuck",
                count: 1,
                fix: Some("Show"),
                resolved: true,
            };
            row.show(ui);
        });
        assert!(harness.query_by_label("Show").is_none());
        harness.get_by_label("Bad, 14:28:41: Chain 3 is stuck, resolved");
    }
}
