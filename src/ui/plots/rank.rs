//! Rank histograms: how the draws of each chain spread over the ranks of all chains.

use eframe::egui::{Rect, Role, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};

use super::axes::faded;
use super::data_table::{PlotData, chain_heads, picture_table_ui};
use super::legend::ChainFilter;
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::{number, paint};

/// Counts of ranks, one list per chain, each over the same bins from the lowest rank to the highest.
#[derive(Clone, Copy, Debug)]
pub struct RankData<'a> {
    /// Counts by chain and bin.
    pub counts: &'a [Vec<u32>],
    /// The parameter, for screen readers.
    pub name: &'a str,
}

/// Shows one histogram per chain, up to four beside each other, together `height` points high. A chain that mixes
/// has bars of about one height, the dashed line.
pub fn rank_ui(ui: &mut Ui, p: &Palette, data: RankData<'_>, filter: &ChainFilter, height: f32) {
    let t = tokens();
    let shown: Vec<usize> = (0..data.counts.len())
        .filter(|&chain| filter.shows(chain))
        .collect();
    let across = shown.len().clamp(1, 4);
    let down = shown.len().div_ceil(across).max(1);
    let (outer, whole) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::hover());
    let inset = outer.shrink2(vec2(t.space.x4, t.space.x2));
    let cell = vec2(inset.width() / across as f32, inset.height() / down as f32);
    let highest = shown
        .iter()
        .flat_map(|&chain| &data.counts[chain])
        .copied()
        .max()
        .unwrap_or(0)
        .max(1);
    for (i, &chain) in shown.iter().enumerate() {
        let min = inset.min + vec2((i % across) as f32 * cell.x, (i / across) as f32 * cell.y);
        let rect = Rect::from_min_size(min, cell).shrink2(vec2(t.space.x2, 0.0));
        one(ui, p, data, chain, highest, rect);
    }
    let title = format!("Ranks of {}", data.name);
    picture_table_ui(ui, (outer, whole.id), &title, || {
        let heads = chain_heads("bin", data.counts.len());
        let bins = data.counts.iter().map(Vec::len).max();
        PlotData::new(heads, bins.unwrap_or(0), |bin, column| {
            match column.checked_sub(1) {
                None => (bin + 1) as f64,
                Some(chain) => data.counts[chain]
                    .get(bin)
                    .map_or(f64::NAN, |&count| count.into()),
            }
        })
    });
}

fn one(ui: &mut Ui, p: &Palette, data: RankData<'_>, chain: usize, highest: u32, rect: Rect) {
    let t = tokens();
    let counts = &data.counts[chain];
    let total: u32 = counts.iter().sum();
    let expected = f64::from(total) / counts.len().max(1) as f64;
    let response = ui.interact(rect, ui.make_persistent_id(("rank", chain)), Sense::hover());
    response.widget_info(|| {
        let name = data.name;
        let label = format!(
            "Ranks of {name} in chain {}: {total} draws over {} bins",
            chain + 1,
            counts.len()
        );
        WidgetInfo::labeled(Role::Image, true, label)
    });
    let head = Rect::from_min_size(rect.min, vec2(rect.width(), 20.0));
    let swatch = Rect::from_min_size(head.min, vec2(18.0, head.height()));
    paint::chain_swatch(ui, swatch, chain);
    let word = paint::line(
        ui,
        &format!("chain {}", chain + 1),
        Text::Caption,
        p.text_secondary,
        rect.width(),
    );
    paint::left_center(ui.painter(), swatch.right() + 5.0, head.center().y, word);

    let plot = Rect::from_min_max(
        pos2(rect.left(), head.bottom() + 4.0),
        pos2(rect.right(), rect.bottom() - 18.0),
    );
    if plot.height() < 4.0 || counts.is_empty() {
        return;
    }
    let scale = plot.height() / (highest as f32 * 1.05);
    let step = plot.width() / counts.len() as f32;
    let gap = if step >= 3.0 { 1.0 } else { 0.0 };
    let fill = faded(p.chain(chain), t.alpha.histogram);
    let mut hovered = None;
    for (bin, &count) in counts.iter().enumerate() {
        let left = plot.left() + bin as f32 * step;
        let bar = Rect::from_min_max(
            pos2(left, plot.bottom() - count as f32 * scale),
            pos2(left + step - gap, plot.bottom()),
        );
        ui.painter().rect_filled(bar, 0.0, fill);
        if response
            .hover_pos()
            .is_some_and(|pos| pos.x >= left && pos.x < left + step)
        {
            hovered = Some((bin, count));
        }
    }
    let axis = Stroke::new(t.stroke.hair, p.axis);
    ui.painter()
        .hline(plot.x_range(), plot.bottom().floor() + 0.5, axis);
    let y = plot.bottom() - expected as f32 * scale;
    let mut shapes = Vec::new();
    let stroke = Stroke::new(t.stroke.threshold, p.threshold);
    paint::dashed(
        vec![pos2(plot.left(), y), pos2(plot.right(), y)],
        stroke,
        &t.dash.threshold,
        &mut shapes,
    );
    ui.painter().extend(shapes);
    for (text, right) in [("low ranks", false), ("high", true)] {
        let galley = paint::line(ui, text, Text::Caption, p.text_secondary, plot.width());
        let y = plot.bottom() + 10.0;
        if right {
            paint::right_center(ui.painter(), plot.right(), y, galley);
        } else {
            paint::left_center(ui.painter(), plot.left(), y, galley);
        }
    }
    if let Some((bin, count)) = hovered {
        let text = format!(
            "bin {} of {}: {count} draws, {} expected",
            bin + 1,
            counts.len(),
            number::fixed(expected, 0)
        );
        response.on_hover_text_at_pointer(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::{harness, press_t_over};
    use egui_kittest::kittest::Queryable as _;

    #[test]
    fn every_shown_chain_has_its_histogram() {
        let counts: Vec<Vec<u32>> = (0..5)
            .map(|chain| (0..20).map(|bin| 40 + (bin * 7 + chain) % 11).collect())
            .collect();
        let mut harness = harness([700.0, 300.0], ChainFilter::default(), move |ui, filter| {
            let p = Palette::of(ui);
            rank_ui(
                ui,
                p,
                RankData {
                    counts: &counts,
                    name: "b[age]",
                },
                filter,
                260.0,
            );
        });
        harness.run();
        harness.get_by_label_contains("Ranks of b[age] in chain 5");
        press_t_over(&mut harness, "Ranks of b[age]");
        // The third bin of the first chain.
        harness.get_by_label("chain 5");
        harness.get_all_by_label("43").next().unwrap();
        harness.state_mut().click(0);
        harness.run();
        assert!(harness.query_by_label_contains("in chain 5").is_none());
    }

    #[test]
    fn no_draws_are_no_trouble() {
        let mut harness = harness([300.0, 300.0], (), |ui, ()| {
            let p = Palette::of(ui);
            rank_ui(
                ui,
                p,
                RankData {
                    counts: &[],
                    name: "x",
                },
                &ChainFilter::default(),
                100.0,
            );
            rank_ui(
                ui,
                p,
                RankData {
                    counts: &[vec![], vec![0; 4]],
                    name: "x",
                },
                &ChainFilter::default(),
                100.0,
            );
        });
        harness.run();
    }
}
