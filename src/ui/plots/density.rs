//! The density of one parameter: all chains, each chain, the prior, the 90% interval.

use std::sync::Arc;

use eframe::egui::{Galley, Margin, Shape, Stroke, Ui, pos2};

use super::axes::{Axes, Shown, YAxis, faded, show};
use super::data_table::{PlotData, chain_heads, data_table_ui};
use super::legend::{ChainFilter, Sign, legend_line};
use super::marks::{Marks, area_between, chain_curves, curve};
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::paint;

/// What a density plot shows. Curves are pairs of value and density, in order of the value.
#[derive(Clone, Copy, Debug)]
pub struct DensityData<'a> {
    /// All chains together.
    pub pooled: &'a [[f64; 2]],
    /// Each chain.
    pub chains: &'a [Vec<[f64; 2]>],
    /// The prior, if it has a density in this parameter.
    pub prior: Option<&'a [[f64; 2]]>,
    /// The 90% interval.
    pub interval: Option<(f64, f64)>,
    /// The posterior where it is known in closed form.
    pub exact: Option<&'a [[f64; 2]]>,
    /// Whether the curves are bars of width 1 about whole numbers.
    pub are_bars: bool,
    /// The median.
    pub median: Option<f64>,
    /// One sentence for screen readers.
    pub summary: &'a str,
}

impl DensityData<'_> {
    /// Range of x: where the pooled curve is visibly above zero.
    fn x_range(&self) -> (f64, f64) {
        let highest = peak(self.pooled);
        let mut seen = self
            .pooled
            .iter()
            .filter(|[x, y]| x.is_finite() && *y >= 1e-3 * highest)
            .map(|point| point[0]);
        let first = seen.next().unwrap_or(0.0);
        let last = seen.next_back().unwrap_or(first + 1.0);
        let pad = (last - first) * 0.02;
        (first - pad, last + pad)
    }

    /// What is filled of the curve: the interval, or all of the bars that it reaches into.
    fn filled(&self) -> Option<(f64, f64)> {
        let (low, high) = self.interval?;
        Some(match self.are_bars {
            true => (low.floor() - 0.5, high.ceil() + 0.5),
            false => (low, high),
        })
    }

    /// Highest density of pooled and chain curves.
    fn top(&self) -> f64 {
        self.chains
            .iter()
            .map(|chain| peak(chain))
            .fold(peak(self.pooled), f64::max)
    }

    /// Whether the prior is so low in the window that its curve would lie on the axis, or is not in it at all.
    pub fn prior_is_flat(&self) -> bool {
        let Some(prior) = self.prior else {
            return false;
        };
        let (from, to) = self.x_range();
        let inside: Vec<[f64; 2]> = prior
            .iter()
            .copied()
            .filter(|[x, _]| *x >= from && *x <= to)
            .collect();
        // A window narrower than the steps of the prior's curve sees it as a straight line at that height.
        let height = if inside.is_empty() {
            height_at(prior, f64::midpoint(from, to))
        } else {
            peak(&inside)
        };
        height < 0.01 * self.top()
    }
}

/// What is said of a prior whose curve would lie on the axis, from many words to few.
const FLAT: [&str; 2] = ["prior is flatter than this window", "prior is flatter"];

/// The first of `words` that fits into `room` points whole.
fn widest(ui: &Ui, p: &Palette, words: &[&str], room: f32) -> Option<Arc<Galley>> {
    words
        .iter()
        .map(|words| paint::line(ui, words, Text::Caption, p.text_secondary, f32::INFINITY))
        .find(|galley| galley.size().x <= room)
}

fn peak(points: &[[f64; 2]]) -> f64 {
    points
        .iter()
        .map(|point| point[1])
        .filter(|y| y.is_finite())
        .fold(0.0, f64::max)
}

fn height_at(points: &[[f64; 2]], x: f64) -> f64 {
    points
        .windows(2)
        .find(|pair| pair[0][0] <= x && x <= pair[1][0] && pair[1][0] > pair[0][0])
        .map_or(0.0, |pair| {
            let share = (x - pair[0][0]) / (pair[1][0] - pair[0][0]);
            pair[0][1] + share * (pair[1][1] - pair[0][1])
        })
}

/// Shows legend and plot over the available width, together `height` points high.
pub fn density_ui(
    ui: &mut Ui,
    p: &Palette,
    data: DensityData<'_>,
    filter: &ChainFilter,
    height: f32,
) -> Shown {
    let t = tokens();
    let pooled = Stroke::new(t.stroke.curve_pooled, p.posterior);
    let prior = Stroke::new(t.stroke.prior, p.prior);
    let exact = Stroke::new(t.stroke.curve_pooled, p.threshold);
    let fill = faded(p.accent, t.alpha.area_interval);
    let mut entries = vec![(Sign::Line(pooled, &[]), "all chains")];
    if data.prior.is_some() {
        entries.push((Sign::Line(prior, &t.dash.prior), "prior"));
    }
    if data.exact.is_some() {
        entries.push((Sign::Line(exact, &t.dash.warmup_edge), "exact"));
    }
    if data.interval.is_some() {
        entries.push((
            Sign::Area(faded(p.accent, t.alpha.area_interval * 1.5)),
            "90% interval",
        ));
    }
    ui.spacing_mut().item_spacing.y = 0.0;
    let rest = legend_line(ui, &entries);
    if data.prior_is_flat() {
        let room = rest.width() - t.space.x3;
        if let Some(note) = widest(ui, p, &FLAT, room) {
            paint::right_center(
                ui.painter(),
                rest.right() - t.space.x3,
                rest.center().y,
                note,
            );
        }
    }

    let top = data.top();
    let range = (0.0, if top > 0.0 { top * 1.06 } else { 1.0 });
    let mut axes = Axes::new(
        ui.make_persistent_id("density"),
        data.summary,
        data.x_range(),
        range,
    );
    axes.y_axis = YAxis::None;
    axes.margin = Margin {
        left: 14,
        right: 14,
        top: 8,
        bottom: 28,
    };
    let background = p.plot_bg;
    let shown = show(
        ui,
        p,
        &axes,
        (height - t.size.min_target).max(40.0),
        |plot_ui| {
            plot_ui.add(Marks::new(
                move |_ui: &Ui, transform, shapes: &mut Vec<Shape>| {
                    let frame = *transform.frame();
                    if let Some(filled) = data.filled() {
                        area_between(data.pooled, filled, fill, transform, shapes);
                    }
                    if let Some(points) = data.prior {
                        curve(
                            points,
                            prior,
                            &t.dash.prior,
                            f64::INFINITY,
                            transform,
                            shapes,
                        );
                    }
                    chain_curves(data.chains, filter, p, transform, shapes);
                    curve(data.pooled, pooled, &[], f64::INFINITY, transform, shapes);
                    if let Some(points) = data.exact {
                        let dash = &t.dash.warmup_edge;
                        curve(points, exact, dash, f64::INFINITY, transform, shapes);
                    }
                    let y = frame.bottom() - 6.0;
                    if let Some((low, high)) = data.interval {
                        let x = |value: f64| transform.position_from_point_x(value);
                        shapes.push(Shape::hline(
                            x(low)..=x(high),
                            y,
                            Stroke::new(t.stroke.interval_density, pooled.color),
                        ));
                    }
                    if let Some(median) = data.median {
                        let center = pos2(transform.position_from_point_x(median), y);
                        shapes.push(Shape::circle_filled(center, 4.5, pooled.color));
                        shapes.push(Shape::circle_filled(center, 2.5, background));
                    }
                },
            ));
        },
    );
    data_table_ui(ui, &shown.response, data.summary, || {
        let mut heads = chain_heads("value", data.chains.len());
        heads.extend(["all chains", "prior"].map(str::to_owned));
        heads.extend(data.exact.map(|_known| "exact".to_owned()));
        let curves: Vec<&[[f64; 2]]> = (data.chains.iter().map(Vec::as_slice))
            .chain([data.pooled, data.prior.unwrap_or_default()])
            .chain(data.exact)
            .collect();
        PlotData::new(heads, data.pooled.len(), move |row, column| {
            match column.checked_sub(1) {
                None => data.pooled[row][0],
                Some(curve) => curves[curve].get(row).map_or(f64::NAN, |point| point[1]),
            }
        })
    });
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::harness;
    use egui_kittest::kittest::Queryable as _;

    fn normal(mean: f64, sd: f64) -> Vec<[f64; 2]> {
        (-50..=50)
            .map(|i| {
                let z = f64::from(i) / 10.0;
                [
                    mean + sd * z,
                    (-0.5 * z * z).exp() / (sd * (2.0 * std::f64::consts::PI).sqrt()),
                ]
            })
            .collect()
    }

    fn data<'a>(pooled: &'a [[f64; 2]], prior: &'a [[f64; 2]]) -> DensityData<'a> {
        DensityData {
            pooled,
            chains: &[],
            prior: Some(prior),
            exact: None,
            interval: Some((-1.6, 1.6)),
            are_bars: false,
            median: Some(0.0),
            summary: "Density of b[age]",
        }
    }

    #[test]
    fn bars_are_filled_as_a_whole() {
        let curve = normal(0.0, 1.0);
        let smooth = data(&curve, &curve);
        assert_eq!(smooth.filled(), Some((-1.6, 1.6)));
        let bars = DensityData {
            interval: Some((1.0, 4.0)),
            are_bars: true,
            ..smooth
        };
        assert_eq!(bars.filled(), Some((0.5, 4.5)));
    }

    #[test]
    fn the_window_is_where_the_density_is() {
        let pooled = normal(3.0, 0.5);
        let prior = normal(0.0, 10.0);
        let (low, high) = data(&pooled, &prior).x_range();
        // A normal density is a thousandth of its peak 3.72 sd from the mean.
        assert!(
            (1.0..1.25).contains(&low) && (4.75..5.0).contains(&high),
            "{low} to {high}"
        );
    }

    #[test]
    fn a_prior_that_cannot_be_seen_is_said_to_be_flat() {
        let pooled = normal(0.0, 1.0);
        let (wide, near) = (normal(0.0, 1000.0), normal(0.0, 2.0));
        assert!(data(&pooled, &wide).prior_is_flat());
        assert!(!data(&pooled, &near).prior_is_flat());
        let away = normal(500.0, 1.0);
        assert!(data(&pooled, &away).prior_is_flat());
    }

    #[test]
    fn a_note_is_shortened_or_left_out_and_never_cut() {
        let mut harness = harness([320.0, 100.0], (), |ui, ()| {
            let p = Palette::of(ui);
            let fits = |room: f32| widest(ui, p, &FLAT, room).map(|note| note.job.text.clone());
            assert_eq!(fits(400.0).as_deref(), Some(FLAT[0]));
            assert_eq!(fits(120.0).as_deref(), Some(FLAT[1]));
            assert_eq!(fits(20.0), None);
        });
        harness.run();
    }

    #[test]
    fn legend_and_plot_are_named() {
        let pooled = normal(0.0, 1.0);
        let prior = normal(0.0, 2.0);
        let mut harness = harness([320.0, 260.0], (), move |ui, ()| {
            let p = Palette::of(ui);
            density_ui(ui, p, data(&pooled, &prior), &ChainFilter::default(), 240.0);
        });
        harness.run();
        for name in ["all chains", "prior", "90% interval", "Density of b[age]"] {
            harness.get_by_label(name);
        }
    }

    #[test]
    fn no_curve_and_a_constant_are_no_trouble() {
        let mut harness = harness([320.0, 500.0], (), move |ui, ()| {
            let p = Palette::of(ui);
            let nothing = DensityData {
                prior: None,
                interval: None,
                median: None,
                ..data(&[], &[])
            };
            ui.push_id(1, |ui| {
                density_ui(ui, p, nothing, &ChainFilter::default(), 200.0)
            });
            let constant = DensityData {
                interval: Some((2.0, 2.0)),
                ..data(&[[2.0, 1.0]], &[])
            };
            ui.push_id(2, |ui| {
                density_ui(ui, p, constant, &ChainFilter::default(), 200.0)
            });
        });
        harness.run();
    }
}
