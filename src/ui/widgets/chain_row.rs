//! A chain's row: its sign, how far it is, how fast it goes.

use eframe::egui::{Rect, Response, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use super::{number, paint, progress};
use crate::ui::theme::{Palette, Text, VerdictKind, tokens};

/// Widths of the three columns at the right end of a chain row; heads above the rows use them too.
pub const CHAIN_COLUMNS: [f32; 3] = [56.0, 58.0, 50.0];

/// What a chain row shows.
#[derive(Clone, Copy, Debug)]
pub struct ChainRow<'a> {
    /// Chain, 0-based.
    pub chain: usize,
    /// Share done, 0 to 1, warm-up included.
    pub done: f32,
    /// Draws so far.
    pub draws: u64,
    /// Draws per second, unless it stands still.
    pub rate: Option<f64>,
    /// Seconds left, if they can be told.
    pub left_secs: Option<f64>,
    /// What is wrong with the chain, if anything: it is behind (watch) or failed (bad).
    pub trouble: Option<(VerdictKind, &'a str)>,
}

impl ChainRow<'_> {
    /// Shows it over the full width, 24 high.
    pub fn show(self, ui: &mut Ui) -> Response {
        let t = tokens();
        let p = Palette::of(ui);
        let (rect, response) =
            ui.allocate_exact_size(vec2(ui.available_width(), t.size.row_table), Sense::hover());
        let draws = number::integer(self.draws);
        let rate = self.rate.map_or_else(|| "no rate".to_owned(), number::rate);
        let left = self
            .left_secs
            .map_or_else(|| "–".to_owned(), number::duration);
        response.widget_info(|| {
            let trouble = self
                .trouble
                .map_or(String::new(), |(_, why)| format!(", {why}"));
            let label = format!(
                "Chain {}: {draws} draws, {rate}, {left} left{trouble}",
                self.chain + 1
            );
            WidgetInfo::labeled(Role::ListItem, true, label)
        });
        let y = rect.center().y;
        let mut x = rect.left() + t.space.x3;
        let swatch = Rect::from_min_max(pos2(x, rect.top()), pos2(x + 22.0, rect.bottom()));
        paint::chain_swatch(ui, swatch, self.chain);
        x = swatch.right() + t.space.x2;
        // Before a chain draws it has no number of draws to mark: its own number is marked then.
        let marked = |here: bool| match self.trouble {
            Some((kind, _)) if here => (Text::NumberStrong, p.verdict(kind).color),
            _ => (Text::Number, p.text_primary),
        };
        let (role, color) = marked(self.draws == 0);
        let number = (self.chain + 1).to_string();
        let label = paint::line(ui, &number, role, color, f32::INFINITY);
        x = paint::left_center(ui.painter(), x, y, label)
            .right()
            .max(x + 14.0)
            + t.space.x1;
        let mut right = rect.right() - t.space.x3;
        let (draws_role, draws_color) = match self.draws {
            0 => (Text::Number, p.text_secondary),
            _ => marked(true),
        };
        // What is read out is whole; what is seen must fit, because a part of a number is another number.
        let few = number::short(self.draws as f64);
        let slow = self.rate.map_or_else(|| "–".to_owned(), number::short_rate);
        let soon = self
            .left_secs
            .map_or_else(|| "–".to_owned(), number::short_duration);
        for (text, width, role, color) in [
            (&soon, CHAIN_COLUMNS[2], Text::Number, p.text_secondary),
            (&slow, CHAIN_COLUMNS[1], Text::Number, p.text_secondary),
            (&few, CHAIN_COLUMNS[0], draws_role, draws_color),
        ] {
            paint::right_center(
                ui.painter(),
                right,
                y,
                paint::line(ui, text, role, color, f32::INFINITY),
            );
            right -= width;
        }
        if right - x > 16.0 {
            let bar = Rect::from_min_max(pos2(x, y - 2.0), pos2(right - t.space.x1, y + 2.0));
            progress::bar(ui, bar, self.done, p.chain(self.chain));
        }
        match self.trouble {
            Some((_, why)) => response.on_hover_text(why),
            None => response,
        }
    }
}

/// The heads over the columns of chain rows, painted at the right end of `rect` (a tab strip).
pub fn chain_heads(ui: &Ui, rect: Rect) {
    let t = tokens();
    let color = Palette::of(ui).text_secondary;
    let mut right = rect.right() - t.space.x3;
    for (word, width) in ["draws", "rate", "left"]
        .into_iter()
        .zip(CHAIN_COLUMNS)
        .rev()
    {
        paint::right_center(
            ui.painter(),
            right,
            rect.center().y,
            paint::line(ui, word, Text::Caption, color, width),
        );
        right -= width;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::harness;
    use egui_kittest::kittest::Queryable as _;

    #[test]
    fn a_chain_reads_as_one_sentence() {
        let harness = harness([364.0, 60.0], (), |ui, ()| {
            let row = ChainRow {
                chain: 2,
                done: 0.3,
                draws: 548,
                rate: Some(19.2),
                left_secs: None,
                trouble: Some((VerdictKind::Watch, "behind the others")),
            };
            row.show(ui);
        });
        harness.get_by_label("Chain 3: 548 draws, 19.2/s, – left, behind the others");
    }

    #[test]
    fn a_chain_that_stands_still_has_no_rate() {
        let harness = harness([364.0, 60.0], (), |ui, ()| {
            let row = ChainRow {
                chain: 0,
                done: 0.3,
                draws: 548,
                rate: None,
                left_secs: None,
                trouble: None,
            };
            row.show(ui);
        });
        harness.get_by_label("Chain 1: 548 draws, no rate, – left");
    }

    #[test]
    fn draws_rate_and_time_left_never_touch() {
        let harness = harness([364.0, 60.0], (), |ui, ()| {
            let wide = |text: &str| {
                let color = Palette::of(ui).text_primary;
                let galley = paint::line(ui, text, Text::NumberStrong, color, f32::INFINITY);
                galley.size().x
            };
            let gap = 4.0;
            let secs = [
                0.4, 9.9, 89.0, 3000.0, 22_260.0, 35_900.0, 170_000.0, 9e5, 9e8,
            ];
            for secs in secs {
                let text = number::short_duration(secs);
                assert!(wide(&text) + gap <= CHAIN_COLUMNS[2], "{text}");
            }
            for rate in [
                0.0, 1e-4, 0.004, 0.09, 0.4, 3.333, 55.5, 9_999.0, 87_654.0, 3.3e6,
            ] {
                let text = number::short_rate(rate);
                assert!(wide(&text) + gap <= CHAIN_COLUMNS[1], "{text}");
            }
            for draws in [0.0, 99_999.0, 123_456.0, 9.9e8] {
                let text = number::short(draws);
                assert!(wide(&text) + gap <= CHAIN_COLUMNS[0], "{text}");
            }
        });
        drop(harness);
    }
}
