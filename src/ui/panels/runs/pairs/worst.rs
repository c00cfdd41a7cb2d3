//! Pairs that are proposed because they go along with divergent transitions.

use eframe::egui::{Align, Layout, Rect, Ui, UiBuilder, pos2};

use crate::ui::panels::runs::panes::Variable;
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::name::longest_names;
use crate::ui::widgets::{Chip, number, paint};
use ergodic_base::ParamId;
use ergodic_base::draws::DrawList;
use ergodic_core::samplers::DIVERGENT;
use ergodic_diagnostics::{DivergentPair, worst_pairs};

/// Pairs that are proposed.
const PROPOSED: usize = 3;
/// Fewest letters of a name.
const SHORTEST: usize = 8;

/// The column that says which draws ended a divergent transition.
pub(super) fn divergent_column(of: &Variable<'_>) -> Option<usize> {
    let names = of.entry.info_names();
    names.iter().position(|name| name == DIVERGENT)
}

/// Chain and number of the draws that ended divergent transitions.
pub(super) fn divergent_draws(of: &Variable<'_>) -> Vec<(usize, usize)> {
    let mut divergent = Vec::new();
    let Some(column) = divergent_column(of) else {
        return divergent;
    };
    for (chain, view) in of.run.chains.iter().enumerate() {
        let mut first = 0;
        for chunk in view.draws.info.chunks() {
            // A chunk without a divergence is passed over unread.
            if chunk.extremes(column) != (0.0, 0.0) {
                let values = chunk.column(column).iter().enumerate();
                let found = values.filter(|(_, value)| **value != 0.0);
                divergent.extend(found.map(|(k, _)| (chain, first + k)));
            }
            first += chunk.len();
        }
    }
    divergent
}

/// The pairs that go most along with divergent transitions.
pub(super) fn worst(of: &Variable<'_>) -> Vec<DivergentPair> {
    let chains = of.run.chains.iter();
    let draws: Vec<&DrawList> = chains.map(|chain| &chain.draws.draws).collect();
    worst_pairs(&draws, &divergent_draws(of), PROPOSED)
}

/// The line with the proposed pairs, those that have room. Returns the one that somebody chose.
pub(super) fn worst_ui(
    ui: &mut Ui,
    rect: Rect,
    of: &Variable<'_>,
    x: usize,
    worst: &[DivergentPair],
) -> Option<DivergentPair> {
    let t = tokens();
    let p = Palette::of(ui);
    let left = rect.left() + t.space.x3;
    let word = paint::line(
        ui,
        "Worst pairs:",
        Text::Caption,
        p.text_secondary,
        rect.width(),
    );
    let word = paint::left_center(ui.painter(), left, rect.center().y, word);
    let min = pos2(word.right() + t.space.x2, rect.top());
    let rest = Rect::from_min_max(min, pos2(rect.right() - t.space.x3, rect.bottom()));
    let mut places: Vec<usize> = worst.iter().flat_map(|pair| pair.parameters).collect();
    places.sort_unstable();
    places.dedup();
    let names: Vec<&ParamId> = places.iter().map(|&it| &of.names[it]).collect();
    let text = |pair: &DivergentPair, short: &[String]| -> String {
        let called = |it: usize| -> &str {
            let place = places.binary_search(&it);
            place.map_or(of.names[it].as_str(), |place| &short[place])
        };
        let [first, second] = pair.parameters;
        format!("{} × {}", called(first), called(second))
    };
    let width = |ui: &Ui, text: &str| Chip::toggle(text, false).width(ui) + t.space.x2;
    // A chip has no space behind it where it is the last.
    let room = rest.width() + t.space.x2;
    let short = longest_names(&names, SHORTEST, |short| {
        let widths = worst.iter().map(|pair| width(ui, &text(pair, short)));
        widths.sum::<f32>() <= room
    });
    let mut chosen = None;
    let builder = UiBuilder::new()
        .max_rect(rest)
        .layout(Layout::left_to_right(Align::Center));
    ui.scope_builder(builder, |ui| {
        ui.spacing_mut().item_spacing.x = t.space.x2;
        for (place, pair) in worst.iter().enumerate() {
            let [first, second] = pair.parameters;
            let text = text(pair, &short);
            if place > 0 && ui.available_width() + t.space.x2 < width(ui, &text) {
                break;
            }
            let is_shown = [[first, second], [second, first]].contains(&[of.index, x]);
            let chip = ui.add(Chip::toggle(&text, is_shown).named("Worst pair"));
            let [far, near] = pair.distances.map(|it| number::fixed(it, 2));
            let about = format!(
                "{} and {} go along with divergent transitions more than other pairs: draws that end such transitions differ from the \
                 others by a Kolmogorov-Smirnov distance of {far} and of {near}",
                of.names[first], of.names[second]
            );
            if chip.on_hover_text(about).clicked() {
                chosen = Some(*pair);
            }
        }
    });
    chosen
}
