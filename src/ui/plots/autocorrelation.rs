//! Autocorrelation of each chain against the lag.

use eframe::egui::{Rect, Shape, Stroke, Ui, pos2};

use super::axes::{Axes, Shown, show};
use super::data_table::{PlotData, chain_heads, data_table_ui};
use super::legend::ChainFilter;
use super::marks::{Marks, chain_curves};
use crate::ui::theme::{Palette, tokens};

/// Autocorrelations by chain; entry k is that of lag k, so entry 0 is 1.
#[derive(Clone, Copy, Debug)]
pub struct AutocorrelationData<'a> {
    /// One list per chain.
    pub chains: &'a [Vec<f64>],
    /// Half width of the band in which an uncorrelated chain would lie, such as 1.96/√draws.
    pub band: Option<f64>,
    /// One sentence for screen readers.
    pub summary: &'a str,
}

/// Shows the curves over the available width, `height` points high.
pub fn autocorrelation_ui(
    ui: &mut Ui,
    p: &Palette,
    data: AutocorrelationData<'_>,
    filter: &ChainFilter,
    height: f32,
) -> Shown {
    let t = tokens();
    let lags = data
        .chains
        .iter()
        .map(Vec::len)
        .max()
        .unwrap_or(0)
        .saturating_sub(1)
        .max(1);
    let lowest = data
        .chains
        .iter()
        .flatten()
        .copied()
        .filter(|value| value.is_finite())
        .fold(-0.1, f64::min);
    let range = ((lowest * 1.1).max(-1.0), 1.02);
    let mut axes = Axes::new(
        ui.make_persistent_id("autocorrelation"),
        data.summary,
        (0.0, lags as f64),
        range,
    );
    axes.x_title = "lag, draws";
    axes.step = 1.0;
    let curves: Vec<Vec<[f64; 2]>> = data
        .chains
        .iter()
        .map(|chain| {
            chain
                .iter()
                .enumerate()
                .map(|(lag, &value)| [lag as f64, value])
                .collect()
        })
        .collect();
    let (band, zero) = (p.band, Stroke::new(t.stroke.hair, p.axis));
    let shown = show(ui, p, &axes, height, |plot_ui| {
        plot_ui.add(Marks::new(
            move |_ui: &Ui, transform, shapes: &mut Vec<Shape>| {
                let frame = *transform.frame();
                let y = |value: f64| transform.position_from_point_y(value);
                if let Some(half) = data.band {
                    let rect = Rect::from_min_max(
                        pos2(frame.left(), y(half)),
                        pos2(frame.right(), y(-half)),
                    );
                    shapes.push(Shape::rect_filled(rect, 0.0, band));
                }
                shapes.push(Shape::hline(frame.x_range(), y(0.0).floor() + 0.5, zero));
                chain_curves(&curves, filter, p, transform, shapes);
            },
        ));
    });
    data_table_ui(ui, &shown.response, data.summary, || {
        let heads = chain_heads("lag", data.chains.len());
        PlotData::new(heads, lags + 1, |lag, column| match column.checked_sub(1) {
            None => lag as f64,
            Some(chain) => data.chains[chain].get(lag).copied().unwrap_or(f64::NAN),
        })
    });
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::harness;
    use egui_kittest::kittest::Queryable as _;

    #[test]
    fn it_is_named_and_takes_empty_and_odd_chains() {
        let chains = vec![
            (0..40).map(|lag| 0.9_f64.powi(lag)).collect(),
            vec![],
            vec![1.0, f64::NAN, -0.3],
        ];
        let mut harness = harness([500.0, 300.0], (), move |ui, ()| {
            let p = Palette::of(ui);
            let data = AutocorrelationData {
                chains: &chains,
                band: Some(0.06),
                summary: "Autocorrelation of b[age]",
            };
            autocorrelation_ui(ui, p, data, &ChainFilter::default(), 240.0);
        });
        harness.run();
        harness.get_by_label("Autocorrelation of b[age]");
    }
}
