//! The chains of a run: how far and how fast each is.

use eframe::egui::{Rect, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use super::words;
use crate::app::RunEntry;
use crate::ui::icons;
use crate::ui::theme::{Palette, Text, VerdictKind, tokens};
use crate::ui::widgets::table::{Cell, Column, Table, Tone};
use crate::ui::widgets::{Tab, number, paint, progress};
use ergodic_core::engine::{ChainState, ChainView, RunView};

/// Share of the others' iterations below which a chain is marked.
const BEHIND: f64 = 0.9;
/// Width of a chain's sign and number; the tab above reaches beyond it.
const CHAIN: f32 = 58.0;
/// Widths of draws, rate, and time left.
const FACTS: [f32; 3] = [56.0, 58.0, 50.0];

/// What the list says of a chain.
struct Row {
    /// Share done, 0 to 1, warm-up included.
    done: f32,
    draws: u64,
    /// Draws per second, unless it stands still.
    rate: Option<f64>,
    /// Seconds left, if they can be told.
    left_secs: Option<f64>,
    /// Whether the chain is behind (watch) or failed (bad).
    trouble: Option<VerdictKind>,
    /// What the chain does, or what is wrong.
    state: String,
}

impl Row {
    fn new(entry: &RunEntry, view: &RunView, index: usize, (warmup, median): (u64, usize)) -> Self {
        let chain = &view.chains[index];
        let draws = chain.draws.draws.len() as u64;
        let made = chain.draws.warmup.len() as u64 + draws;
        let wanted = entry.run().map_or(draws, |run| run.draws_wanted(index));
        let finished = matches!(chain.state, ChainState::Finished | ChainState::Failed(_));
        let is_behind = matches!(chain.state, ChainState::Warmup | ChainState::Drawing)
            && (made as f64) < BEHIND * median as f64;
        let (trouble, state) = match &chain.state {
            ChainState::Failed(reason) => (Some(VerdictKind::Bad), reason.clone()),
            _ if is_behind => {
                let (made, others) = (number::integer(made), number::integer(median as u64));
                let words = format!("behind: iteration {made}, the others {others}");
                (Some(VerdictKind::Watch), words)
            }
            _ => (None, state_words(chain)),
        };
        let left = warmup.max(chain.draws.warmup.len() as u64) + wanted;
        let waits = finished || chain.state == ChainState::Paused;
        Self {
            done: if finished && trouble.is_none() && !words::ended_in_warmup(view) {
                1.0
            } else {
                (made as f32 / left.max(1) as f32).min(1.0)
            },
            draws,
            rate: match chain.state {
                _ if finished && chain.draw_secs > 0.0 => Some(draws as f64 / chain.draw_secs),
                ChainState::Paused => None,
                _ => Some(chain.rate),
            },
            left_secs: (!waits && chain.rate > 0.0)
                .then(|| left.saturating_sub(made) as f64 / chain.rate),
            trouble,
            state,
        }
    }
}

fn state_words(chain: &ChainView) -> String {
    match &chain.state {
        ChainState::Starting => "starting".to_owned(),
        ChainState::Warmup => format!(
            "warming up, iteration {}",
            number::integer(chain.draws.warmup.len() as u64)
        ),
        ChainState::Drawing => "drawing".to_owned(),
        ChainState::Paused => "paused".to_owned(),
        ChainState::Finished => format!(
            "finished; warm-up {}, draws {}",
            number::duration(chain.warmup_secs),
            number::duration(chain.draw_secs)
        ),
        ChainState::Failed(reason) => reason.clone(),
    }
}

/// Shows a tab and one row per chain.
pub fn chains_ui(ui: &mut Ui, entry: &RunEntry, view: &RunView) {
    let t = tokens();
    let colors = Palette::of(ui);
    ui.spacing_mut().item_spacing = vec2(0.0, 0.0);
    let strip = Rect::from_min_size(
        ui.available_rect_before_wrap().min,
        vec2(ui.available_width(), t.size.tab_strip),
    );
    ui.painter().rect_filled(strip, 0.0, colors.bg_strip);
    paint::hair_below(ui, strip);
    let warmup = words::warmup_iterations(entry, view);
    let mut all: Vec<usize> = view
        .usable()
        .map(|chain| chain.draws.warmup.len() + chain.draws.draws.len())
        .collect();
    all.sort_unstable();
    let median = all.get(all.len() / 2).copied().unwrap_or(0);
    let rows: Vec<Row> = (0..view.chains.len())
        .map(|index| Row::new(entry, view, index, (warmup, median)))
        .collect();
    table_ui(ui, &rows);
}

fn table_ui(ui: &mut Ui, rows: &[Row]) {
    let heads = ["", "", "draws", "rate", "left"];
    let head = |ui: &mut Ui, at: usize| {
        let p = Palette::of(ui);
        if at == 0 {
            let tab = Tab::new("Chains", true).icon(icons::LIST_NUMBERS);
            ui.add(tab.count(rows.len()).fill(p.bg_surface));
            return;
        }
        let place = ui.max_rect();
        let word = paint::line(
            ui,
            heads[at],
            Text::Caption,
            p.text_secondary,
            place.width(),
        );
        let right = place.right() - tokens().space.x1;
        paint::right_center(ui.painter(), right, place.center().y, word);
    };
    let explained =
        |cell: Cell<'static>, k: usize| cell.hover(format!("Chain {}: {}", k + 1, rows[k].state));
    // What is seen must fit, because a part of a number is another number.
    let fact = |at: usize, text: fn(&Row) -> String| {
        Column::number(heads[at], FACTS[at - 2], move |k| {
            let tone = match rows[k].trouble {
                Some(kind) if at == 2 && rows[k].draws > 0 => Tone::Past(kind),
                None if at == 2 && rows[k].draws > 0 => Tone::Primary,
                _ => Tone::Secondary,
            };
            explained(Cell::number(text(&rows[k]), tone), k)
        })
    };
    Table::new("chains", "Chains", rows.len())
        .heads(tokens().size.tab_strip, head)
        .column(Column::new(heads[0], CHAIN, |k| {
            Cell::drawn(move |ui| chain_ui(ui, k, &rows[k]))
        }))
        .column(
            Column::new(heads[1], 0.0, |k| {
                Cell::drawn(move |ui| bar_ui(ui, k, rows[k].done))
            })
            .fills(),
        )
        .column(fact(2, |row| number::short(row.draws as f64)))
        .column(fact(3, |row| {
            row.rate.map_or_else(missing, number::short_rate)
        }))
        .column(fact(4, |row| {
            row.left_secs.map_or_else(missing, number::short_duration)
        }))
        .show(ui);
}

/// What stands where a number is not known.
fn missing() -> String {
    "–".to_owned()
}

/// The sign of a chain and its number, which is marked as long as it has no draws to mark.
fn chain_ui(ui: &mut Ui, chain: usize, row: &Row) {
    let t = tokens();
    let p = Palette::of(ui);
    let words = format!("Chain {}: {}", chain + 1, row.state);
    let (rect, response) = ui.allocate_exact_size(ui.max_rect().size(), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, paint::words(&words)));
    let left = rect.left() + t.space.x3;
    let swatch = Rect::from_min_max(pos2(left, rect.top()), pos2(left + 22.0, rect.bottom()));
    paint::chain_swatch(ui, swatch, chain);
    let (role, color) = match row.trouble {
        Some(kind) if row.draws == 0 => (Text::NumberStrong, p.verdict(kind).color),
        _ => (Text::Number, p.text_primary),
    };
    let number = paint::line(ui, &(chain + 1).to_string(), role, color, f32::INFINITY);
    let left = swatch.right() + t.space.x2;
    paint::left_center(ui.painter(), left, rect.center().y, number);
    response.on_hover_text(words);
}

fn bar_ui(ui: &Ui, chain: usize, done: f32) {
    let place = ui.max_rect();
    if place.width() > 16.0 {
        let bar = Rect::from_center_size(place.center(), vec2(place.width() - 8.0, 4.0));
        progress::bar(ui, bar, done, Palette::of(ui).chain(chain));
    }
}

#[cfg(test)]
mod tests {
    use egui_kittest::kittest::Queryable as _;

    use super::*;
    use crate::ui::testing::harness;

    #[test]
    fn a_chain_that_stands_still_has_no_rate_and_one_that_is_behind_says_so() {
        let row = |rate, state: &str| Row {
            done: 0.3,
            draws: 548,
            rate,
            left_secs: None,
            trouble: rate.map(|_| VerdictKind::Watch),
            state: state.to_owned(),
        };
        let rows = [row(None, "paused"), row(Some(19.2), "behind the others")];
        let harness = harness([364.0, 100.0], (), |ui, ()| table_ui(ui, &rows));
        harness.get_by_label("Chain 1: paused");
        harness.get_by_label("Chain 2: behind the others");
        harness.get_by_label("19.2/s");
        // The rate of the first, and what is left of both.
        assert_eq!(harness.get_all_by_label("–").count(), 3);
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
                assert!(wide(&text) + gap <= FACTS[2], "{text}");
            }
            for rate in [
                0.0, 1e-4, 0.004, 0.09, 0.4, 3.333, 55.5, 9_999.0, 87_654.0, 3.3e6,
            ] {
                let text = number::short_rate(rate);
                assert!(wide(&text) + gap <= FACTS[1], "{text}");
            }
            for draws in [0.0, 99_999.0, 123_456.0, 9.9e8] {
                let text = number::short(draws);
                assert!(wide(&text) + gap <= FACTS[0], "{text}");
            }
        });
        drop(harness);
    }
}
