//! Legends outside the data: chains with their dash, lines with their words.

use eframe::egui::{Color32, Rect, Response, Role, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};

use crate::ui::theme::{Palette, Text, chain_dash, tokens};
use crate::ui::widgets::paint;

/// Width of a piece of line in a legend.
const SWATCH: f32 = 18.0;

/// Radius of a round mark, in legends and in plots of few.
pub const DOT: f32 = 4.0;

/// Which chains a group of plots shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChainFilter {
    isolated: Option<usize>,
    hidden: Vec<usize>,
}

impl ChainFilter {
    /// Whether `chain` (0-based) is drawn.
    pub fn shows(&self, chain: usize) -> bool {
        match self.isolated {
            Some(only) => only == chain,
            None => !self.hidden.contains(&chain),
        }
    }

    /// Shows only `chain`, or all again if it was alone. A hidden chain comes back.
    pub fn click(&mut self, chain: usize) {
        if self.hidden.contains(&chain) {
            self.hidden.retain(|&other| other != chain);
        } else if self.isolated == Some(chain) {
            self.isolated = None;
        } else {
            self.isolated = Some(chain);
        }
    }

    /// Hides `chain`; the click before this one is taken back.
    pub fn double_click(&mut self, chain: usize) {
        self.isolated = None;
        if !self.hidden.contains(&chain) {
            self.hidden.push(chain);
        }
    }
}

/// The chains with colour, dash and number. A click isolates, a double click hides, a click on a hidden one restores.
pub fn chain_legend(ui: &mut Ui, num_chains: usize, filter: &mut ChainFilter) {
    let t = tokens();
    let p = Palette::of(ui);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = t.space.x2;
        let word = paint::line(ui, "chain", Text::Caption, p.text_secondary, f32::INFINITY);
        let (rect, _) =
            ui.allocate_exact_size(vec2(word.size().x, t.size.min_target), Sense::hover());
        paint::left_center(ui.painter(), rect.left(), rect.center().y, word);
        for chain in 0..num_chains {
            let shown = filter.shows(chain);
            let color = if shown {
                p.text_primary
            } else {
                p.text_disabled
            };
            let text = paint::line(
                ui,
                &(chain + 1).to_string(),
                Text::Number,
                color,
                f32::INFINITY,
            );
            let size = vec2(SWATCH + 5.0 + text.size().x, t.size.min_target);
            let (rect, response) = ui.allocate_exact_size(size, Sense::click());
            let name = format!("Chain {}", chain + 1);
            response.widget_info(|| WidgetInfo::selected(Role::Button, true, shown, &name));
            let line = Rect::from_min_size(rect.min, vec2(SWATCH, rect.height()));
            let stroke = if shown {
                p.chain(chain)
            } else {
                p.text_disabled
            };
            paint::swatch(
                ui.painter(),
                line,
                Stroke::new(2.0, stroke),
                chain_dash(chain),
            );
            paint::left_center(ui.painter(), line.right() + 5.0, rect.center().y, text);
            paint::focus_ring(ui, &response, rect, t.radius.small);
            if response.double_clicked() {
                filter.double_click(chain);
            } else if response.clicked() {
                filter.click(chain);
            }
            response.on_hover_text("Click to see it alone, double-click to hide it");
        }
    });
}

/// How a legend entry is drawn.
#[derive(Clone, Copy, Debug)]
pub enum Sign<'a> {
    /// A line with a dash pattern.
    Line(Stroke, &'a [f32]),
    /// A filled area.
    Area(Color32),
    /// A round mark.
    Dot(Color32),
}

/// One entry of a legend: a sign and its words.
pub fn entry(ui: &mut Ui, sign: Sign<'_>, words: &str) -> Response {
    let t = tokens();
    let color = Palette::of(ui).text_secondary;
    let text = paint::line(ui, words, Text::Caption, color, f32::INFINITY);
    let width = match sign {
        Sign::Line(..) => SWATCH,
        Sign::Area(_) => 12.0,
        Sign::Dot(_) => 2.0 * DOT,
    };
    let size = vec2(width + 5.0 + text.size().x, t.size.min_target);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, words));
    let place = Rect::from_min_size(rect.min, vec2(width, rect.height()));
    match sign {
        Sign::Line(stroke, dash) => paint::swatch(ui.painter(), place, stroke, dash),
        Sign::Area(fill) => {
            ui.painter().rect_filled(
                Rect::from_center_size(place.center(), vec2(width, 12.0)),
                0.0,
                fill,
            );
        }
        Sign::Dot(fill) => {
            ui.painter().circle_filled(place.center(), DOT, fill);
        }
    }
    paint::left_center(ui.painter(), place.right() + 5.0, rect.center().y, text);
    response
}

/// A line of legend entries over a plot, 24 high, starting at the pane's inset. Returns the place right of them.
pub fn legend_line(ui: &mut Ui, entries: &[(Sign<'_>, &str)]) -> Rect {
    let t = tokens();
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = t.space.x3;
        ui.add_space(t.space.x3);
        for (sign, words) in entries {
            entry(ui, *sign, words);
        }
        let rest = ui.available_rect_before_wrap();
        Rect::from_min_max(rest.min, pos2(rest.right(), rest.top() + t.size.min_target))
    })
    .inner
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::harness;
    use egui_kittest::kittest::Queryable as _;

    #[test]
    fn clicks_isolate_hide_and_restore() {
        let mut filter = ChainFilter::default();
        filter.click(1);
        assert_eq!([filter.shows(0), filter.shows(1)], [false, true]);
        filter.click(1);
        assert!(filter.shows(0) && filter.shows(1));
        filter.click(2);
        filter.double_click(2);
        assert_eq!([filter.shows(0), filter.shows(2)], [true, false]);
        filter.click(2);
        assert!(filter.shows(2) && filter.shows(0));
    }

    #[test]
    fn the_legend_is_a_row_of_named_switches() {
        let mut harness = harness([400.0, 60.0], ChainFilter::default(), |ui, filter| {
            chain_legend(ui, 4, filter);
        });
        harness.get_by_label("Chain 3").click();
        harness.run();
        assert!(harness.state().shows(2) && !harness.state().shows(0));
    }
}
