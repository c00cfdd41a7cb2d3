//! The chains of a run: how far and how fast each is.

use eframe::egui::{Rect, ScrollArea, Ui, vec2};

use super::words;
use crate::app::RunEntry;
use crate::ui::icons;
use crate::ui::theme::{Palette, VerdictKind, tokens};
use crate::ui::widgets::{ChainRow, Tab, chain_heads, number, paint};
use ergodic_core::engine::{ChainState, RunView};

/// Share of the others' iterations below which a chain is marked.
const BEHIND: f64 = 0.9;

/// Shows the strip and one row per chain.
pub fn chains_ui(ui: &mut Ui, entry: &RunEntry, view: &RunView) {
    let t = tokens();
    let colors = Palette::of(ui);
    ui.spacing_mut().item_spacing = vec2(0.0, 0.0);
    let area = ui.available_rect_before_wrap();
    let strip = Rect::from_min_size(area.min, vec2(area.width(), t.size.tab_strip));
    ui.painter().rect_filled(strip, 0.0, colors.bg_strip);
    paint::hair_below(ui, strip);
    ui.horizontal(|ui| {
        ui.add(
            Tab::new("Chains", true)
                .icon(icons::LIST_NUMBERS)
                .count(view.chains.len())
                .fill(colors.bg_surface),
        );
    });
    chain_heads(ui, strip);
    if ui.available_height() < t.size.row_table {
        return;
    }
    let warmup = words::warmup_iterations(entry, view);
    let mut all: Vec<usize> = view
        .usable()
        .map(|chain| chain.draws.warmup.len() + chain.draws.draws.len())
        .collect();
    all.sort_unstable();
    let median = all.get(all.len() / 2).copied().unwrap_or(0);
    ScrollArea::vertical()
        .auto_shrink([false, false])
        .min_scrolled_height(0.0)
        .show_rows(ui, t.size.row_table, view.chains.len(), |ui, range| {
            ui.spacing_mut().item_spacing.y = 0.0;
            for index in range {
                let chain = &view.chains[index];
                let drawn = chain.draws.draws.len() as u64;
                let made = chain.draws.warmup.len() as u64 + drawn;
                let wanted = entry.run().map_or(drawn, |run| run.draws_wanted(index));
                let finished = matches!(chain.state, ChainState::Finished | ChainState::Failed(_));
                let lag;
                let trouble = match &chain.state {
                    ChainState::Failed(reason) => Some((VerdictKind::Bad, reason.as_str())),
                    ChainState::Warmup | ChainState::Drawing
                        if (made as f64) < BEHIND * median as f64 =>
                    {
                        lag = format!(
                            "behind: iteration {}, the others {}",
                            number::integer(made),
                            number::integer(median as u64)
                        );
                        Some((VerdictKind::Watch, lag.as_str()))
                    }
                    _ => None,
                };
                let left = warmup.max(chain.draws.warmup.len() as u64) + wanted;
                let waits = finished || chain.state == ChainState::Paused;
                let left_secs = (!waits && chain.rate > 0.0)
                    .then(|| left.saturating_sub(made) as f64 / chain.rate);
                let rate = match chain.state {
                    _ if finished && chain.draw_secs > 0.0 => Some(drawn as f64 / chain.draw_secs),
                    ChainState::Paused => None,
                    _ => Some(chain.rate),
                };
                let response = ChainRow {
                    chain: index,
                    done: if finished && trouble.is_none() && !words::ended_in_warmup(view) {
                        1.0
                    } else {
                        (made as f32 / left.max(1) as f32).min(1.0)
                    },
                    draws: drawn,
                    rate,
                    left_secs,
                    trouble,
                }
                .show(ui);
                let state = match &chain.state {
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
                };
                response.on_hover_text(match trouble {
                    Some((VerdictKind::Watch, words)) => format!("Chain {}: {words}", index + 1),
                    _ => format!("Chain {}: {state}", index + 1),
                });
            }
        });
}
