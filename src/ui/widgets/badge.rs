//! Verdicts: icon, word and colour together.

use eframe::egui::{Rect, Response, Role, Sense, Ui, Vec2, WidgetInfo, pos2, vec2};

use super::paint;
use crate::ui::icons;
use crate::ui::theme::{Palette, Text, VerdictKind, tokens};

/// A verdict badge with the verdict's own word.
pub fn badge(ui: &mut Ui, kind: VerdictKind) -> Response {
    let word = Palette::of(ui).verdict(kind).word;
    badge_with(ui, kind, word)
}

/// A verdict badge with another word, such as "Plausible".
pub fn badge_with(ui: &mut Ui, kind: VerdictKind, word: &str) -> Response {
    let t = tokens();
    let look = Palette::of(ui).verdict(kind);
    let text = paint::line(ui, word, Text::Label, look.color, f32::INFINITY);
    let (left, right, gap) = (5.0, 7.0, t.space.x1);
    let size = vec2(
        (left + t.icon.small + gap + text.size().x + right).ceil(),
        t.size.badge,
    );
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, word));
    ui.painter().rect_filled(rect, t.radius.control, look.soft);
    let y = rect.center().y;
    let center = pos2(rect.left() + left + t.icon.small / 2.0, y);
    icons::paint(
        ui.painter(),
        center,
        look.icon,
        t.icon.small,
        look.filled,
        look.color,
    );
    paint::left_center(
        ui.painter(),
        rect.left() + left + t.icon.small + gap,
        y,
        text,
    );
    response
}

/// The verdict's icon alone, for rows; the word is its name and its tooltip.
pub fn verdict_icon(ui: &mut Ui, kind: VerdictKind) -> Response {
    let look = Palette::of(ui).verdict(kind);
    let size = tokens().icon.small;
    let (rect, response) = ui.allocate_exact_size(Vec2::splat(size), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, look.word));
    paint_verdict(ui, rect, kind);
    response.on_hover_text(look.word)
}

/// Paints the verdict's icon in the middle of `rect`.
pub fn paint_verdict(ui: &Ui, rect: Rect, kind: VerdictKind) {
    let look = Palette::of(ui).verdict(kind);
    icons::paint(
        ui.painter(),
        rect.center(),
        look.icon,
        tokens().icon.small,
        look.filled,
        look.color,
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::harness;
    use egui_kittest::kittest::Queryable as _;

    #[test]
    fn every_verdict_is_readable_as_a_word() {
        let kinds = [
            (VerdictKind::Good, "Good"),
            (VerdictKind::Watch, "Watch"),
            (VerdictKind::Bad, "Bad"),
            (VerdictKind::TooEarly, "Too early"),
            (VerdictKind::NotCertified, "Not certified"),
        ];
        let harness = harness([400.0, 300.0], (), move |ui, ()| {
            for (kind, _) in kinds {
                badge(ui, kind);
            }
            verdict_icon(ui, VerdictKind::MixingOnly);
        });
        for (_, word) in kinds {
            assert_eq!(harness.get_by_label(word).rect().height(), 20.0);
        }
        harness.get_by_label("Mixing fine, bias not checked");
    }
}
