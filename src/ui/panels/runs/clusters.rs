//! Clusters of a mixture: profiles of the point partition, how often units were together, where they lie, and where a
//! further unit would lie.

use std::sync::Arc;

use eframe::egui::{
    Color32, ColorImage, Margin, Mesh, Pos2, Rect, Role, ScrollArea, Sense, Shape, Stroke,
    TextureHandle, TextureOptions, Ui, UiBuilder, WidgetInfo, pos2, vec2,
};

use super::pane::{Home, Pane};
use super::panes::{PaneViews, Variable};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::plots::axes::{self, Axes, YAxis, faded};
use crate::ui::plots::data_table::{PlotData, data_table_ui};
use crate::ui::plots::legend::{Sign, legend_line};
use crate::ui::plots::marks::{self, Marks};
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::table::{Cell, Column, Table, Tone};
use crate::ui::widgets::{self, Segments, number, paint, spark};
use ergodic_base::numerals::plural;
use ergodic_core::engine::found::clusters::predictive::Predictive;
use ergodic_core::engine::found::clusters::{Clusters, Pairs, Scatter};
use ergodic_core::engine::{Report, RunView};

/// Widths of a cluster's number, of its size and share, and of its profile at least.
const NUMBER: f32 = 48.0;
const SIZE: f32 = 52.0;
const PROFILE: f32 = 240.0;
/// Clusters whose profiles are listed.
const LISTED: usize = 100;
/// Width from which pictures stand beside the profiles.
const ROOMY: f32 = 720.0;

/// Least height of one of several predictive densities.
const CURVE_HEIGHT: f32 = 130.0;

/// What a narrow pane shows.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Part {
    #[default]
    Profiles,
    Together,
    Scatter,
    Curves,
}

/// What is chosen, and the matrix of common clusters as a picture, made once for each state of the run and theme.
#[derive(Default)]
pub(super) struct ClustersView {
    part: Part,
    made: Option<(Arc<Clusters>, Color32, TextureHandle)>,
}

impl Pane for ClustersView {
    const ID: &'static str = "clusters";
    const TITLE: &'static str = "Clusters";
    const ICON: char = icons::CHART_SCATTER;
    const ABOUT: &'static str =
        "Clusters of a mixture: profiles, how often units were together, where they lie";
    const HOME: Home = Home::Above;

    fn shows(of: &Variable<'_>) -> Result<(), &'static str> {
        match of.finds::<Clusters>() {
            true => Ok(()),
            false => Err("Only mixtures have clusters; this model is none"),
        }
    }

    fn ui(&mut self, ui: &mut Ui, of: &Variable<'_>, _views: &mut PaneViews, _out: &mut Outbox) {
        clusters_pane(ui, of.entry.id, of.run, of.report, self);
    }
}

fn clusters_pane(ui: &mut Ui, id: u64, run: &RunView, report: &Report, view: &mut ClustersView) {
    let Some(clusters) = &report.found.get::<Clusters>() else {
        let waits = run
            .chains
            .iter()
            .any(|chain| !chain.draws.labels.is_empty());
        let text = if waits {
            "Clusters appear with the next diagnostics"
        } else {
            "Clusters of a mixture appear here with its first draws; other models have none"
        };
        widgets::empty_state(ui, icons::CHART_SCATTER, text, None);
        return;
    };
    let t = tokens();
    widgets::inset(ui, [t.space.x3, t.space.x1], |ui| {
        let missing = if clusters.has_profiles() {
            ""
        } else {
            "; profiles come when the run is continued"
        };
        let text = format!(
            "Point partition: {}, mean variation of information {} from {}{missing}",
            plural(clusters.profiles.len(), "cluster"),
            number::significant(clusters.distance, 2),
            plural(clusters.draws, "draw")
        );
        widgets::sentence_line(ui, &text, Text::Caption, true);
    });
    if ui.available_width() < ROOMY {
        one_part_ui(ui, id, clusters, view);
        return;
    }
    let area = ui.available_rect_before_wrap();
    let has_curves = !clusters.densities.is_empty();
    let pictures = [true, clusters.scatter.is_some(), has_curves];
    let pictures = pictures.into_iter().filter(|there| *there).count() as f32;
    // Two pictures leave the profiles two fifths, three a third.
    let side = area
        .height()
        .min(area.width() * if pictures > 2.0 { 0.22 } else { 0.3 });
    let left = Rect::from_min_max(
        area.min,
        pos2(area.right() - pictures * side, area.bottom()),
    );
    ui.scope_builder(UiBuilder::new().max_rect(left), |ui| {
        profiles_ui(ui, clusters);
    });
    let place = |k: f32| {
        Rect::from_min_size(
            pos2(left.right() + k * side, area.top()),
            vec2(side, area.height()),
        )
    };
    pairs_ui(ui, place(0.0), clusters, view);
    if let Some(scatter) = &clusters.scatter {
        let builder = UiBuilder::new().max_rect(place(1.0));
        ui.scope_builder(builder, |ui| {
            scatter_ui(ui, id, scatter, clusters);
        });
    }
    if has_curves {
        let builder = UiBuilder::new().max_rect(place(pictures - 1.0));
        ui.scope_builder(builder, |ui| curves_ui(ui, id, &clusters.densities));
    }
}

/// One thing at a time, where there is no room for more.
fn one_part_ui(ui: &mut Ui, id: u64, clusters: &Arc<Clusters>, view: &mut ClustersView) {
    let parts = [
        (Part::Profiles, "Profiles", true),
        (Part::Together, "Together", true),
        (Part::Scatter, "Scatter", clusters.scatter.is_some()),
        (Part::Curves, "Predictive", !clusters.densities.is_empty()),
    ];
    let there = |part: Part| {
        parts
            .iter()
            .any(|(other, _, there)| *other == part && *there)
    };
    if !there(view.part) {
        view.part = Part::Profiles;
    }
    let t = tokens();
    widgets::inset(ui, [t.space.x3, t.space.x1], |ui| {
        let mut segments = Segments::new("What of the clusters", &mut view.part);
        for (part, word, _) in parts.into_iter().filter(|(.., there)| *there) {
            segments = segments.option(part, word);
        }
        segments.show(ui);
    });
    match (view.part, &clusters.scatter) {
        (Part::Together, _) => {
            let place = ui.available_rect_before_wrap();
            pairs_ui(ui, place.shrink2(vec2(t.space.x3, 0.0)), clusters, view);
        }
        (Part::Scatter, Some(scatter)) => scatter_ui(ui, id, scatter, clusters),
        (Part::Curves, _) => curves_ui(ui, id, &clusters.densities),
        _ => profiles_ui(ui, clusters),
    }
}

/// Histogram and predictive density of each numeric column, one under the other.
fn curves_ui(ui: &mut Ui, id: u64, densities: &[Predictive]) {
    let t = tokens();
    let p = Palette::of(ui);
    let bars = faded(p.text_secondary, t.alpha.area_interval * 1.5);
    let band = faded(p.accent, t.alpha.area_interval * 1.5);
    let line = Stroke::new(t.stroke.curve_pooled, p.posterior);
    ui.spacing_mut().item_spacing.y = 0.0;
    legend_line(
        ui,
        &[
            (Sign::Area(bars), "data"),
            (Sign::Line(line, &[]), "predictive"),
            (Sign::Area(band), "90%"),
        ],
    );
    // One fills the place, more are scrolled through.
    let height = ui.available_height();
    let height = if densities.len() > 1 {
        height.min(CURVE_HEIGHT.max(0.5 * height))
    } else {
        height
    };
    ScrollArea::vertical()
        .id_salt("curves")
        .auto_shrink([false, false])
        .show(ui, |ui| {
            for density in densities {
                curve_ui(ui, id, density, height, (bars, band, line));
            }
        });
}

fn curve_ui(
    ui: &mut Ui,
    id: u64,
    density: &Predictive,
    height: f32,
    (bars, band, line): (Color32, Color32, Stroke),
) {
    let summary = format!(
        "Predictive density of {} with its 90% band over the data's histogram",
        density.column
    );
    let top = (density.high.iter().chain(&density.heights)).fold(0.0_f64, |top, &y| top.max(y));
    let ends = [density.x.first(), density.x.last()].map(|x| x.copied().unwrap_or_default());
    let axes = Axes {
        x_title: &density.column,
        y_axis: YAxis::None,
        margin: Margin {
            left: 10,
            right: 10,
            top: 6,
            bottom: 28,
        },
        ..Axes::new(
            ui.make_persistent_id(("predictive", id, &density.column)),
            &summary,
            (ends[0], ends[1]),
            (0.0, if top > 0.0 { 1.06 * top } else { 1.0 }),
        )
    };
    let colors = Palette::of(ui);
    let shown = axes::show(ui, colors, &axes, height, move |plot| {
        plot.add(Marks::new(move |_ui, transform, shapes| {
            let at = |x: f64, y: f64| marks::at(transform, x, y);
            for (edges, &y) in density.edges.windows(2).zip(&density.heights) {
                let bar = Rect::from_two_pos(at(edges[0], 0.0), at(edges[1], y));
                shapes.push(Shape::rect_filled(bar, 0.0, bars));
            }
            let points = |y: &[f64]| -> Vec<Pos2> {
                density.x.iter().zip(y).map(|(&x, &y)| at(x, y)).collect()
            };
            let (low, high) = (points(&density.low), points(&density.high));
            shapes.push(spark::between(&low, &high, band));
            shapes.push(Shape::line(points(&density.mean), line));
        }));
    });
    data_table_ui(ui, &shown.response, &summary, || {
        let heads = [&density.column, "predictive", "5%", "95%", "data"];
        PlotData::new(heads, density.x.len(), |row, column| {
            let x = density.x[row];
            let bar = density.edges.partition_point(|edge| *edge <= x);
            let height = bar.checked_sub(1).and_then(|bar| density.heights.get(bar));
            match column {
                0 => x,
                1 => density.mean[row],
                2 => density.low[row],
                3 => density.high[row],
                _ => height.copied().unwrap_or(0.0),
            }
        })
    });
}

/// One row per cluster: its colour and number, size, share and profile.
fn profiles_ui(ui: &mut Ui, clusters: &Clusters) {
    let profiles = &clusters.profiles;
    let share = |k: usize| profiles[k].size as f64 / clusters.partition.len() as f64;
    Table::new("profiles", "Clusters", profiles.len().min(LISTED))
        .inset(tokens().space.x2)
        .column(Column::number("cluster", NUMBER, |k| {
            Cell::drawn(move |ui| cluster_ui(ui, k))
        }))
        .column(
            Column::number("units", SIZE, |k| {
                Cell::number(number::integer(profiles[k].size as u64), Tone::Primary)
            })
            .by(|k| profiles[k].size as f64),
        )
        .column(
            Column::number("share", SIZE, move |k| {
                Cell::number(
                    format!("{}%", number::fixed(100.0 * share(k), 1)),
                    Tone::Primary,
                )
            })
            .by(share),
        )
        .gap(tokens().space.x2)
        .column(
            Column::new("profile", PROFILE, |k| {
                Cell::text(profiles[k].sentence(), Tone::Secondary)
            })
            .fills(),
        )
        .show(ui);
}

/// The colour of a cluster and its number.
fn cluster_ui(ui: &mut Ui, k: usize) {
    let t = tokens();
    let p = Palette::of(ui);
    let (rect, response) = ui.allocate_exact_size(ui.max_rect().size(), Sense::hover());
    let words = format!("Cluster {}", k + 1);
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &words));
    let y = rect.center().y;
    let dot = pos2(rect.left() + t.space.x1 + 4.0, y);
    ui.painter().circle_filled(dot, 4.0, p.chain(k));
    let head = (k + 1).to_string();
    let head = paint::line(ui, &head, Text::NumberStrong, p.text_primary, rect.width());
    paint::right_center(ui.painter(), rect.right() - t.space.x1, y, head);
}

/// Shares of common clusters as a square picture in `place`, units in the order of the point partition, with a scale that
/// says which colour means how often.
fn pairs_ui(ui: &mut Ui, place: Rect, clusters: &Arc<Clusters>, view: &mut ClustersView) {
    let t = tokens();
    let colors = Palette::of(ui);
    let same = view.made.as_ref().is_some_and(|(of, background, _)| {
        Arc::ptr_eq(of, clusters) && *background == colors.plot_bg
    });
    if !same {
        let image = picture(&clusters.pairs, colors);
        let texture = ui
            .ctx()
            .load_texture("common clusters", image, TextureOptions::LINEAR);
        view.made = Some((Arc::clone(clusters), colors.plot_bg, texture));
    }
    let Some((_, _, texture)) = &view.made else {
        return;
    };
    let caption = 20.0;
    let room = place.size() - vec2(t.space.x4, caption + t.space.x2);
    // Rows and columns are the same units.
    let size = vec2(1.0, 1.0) * room.min_elem();
    if size.x < 20.0 {
        return;
    }
    let matrix = Rect::from_min_size(place.min, size);
    let whole = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
    ui.painter()
        .image(texture.id(), matrix, whole, Color32::WHITE);
    ui.painter().rect_stroke(
        matrix,
        0.0,
        Stroke::new(t.stroke.hair, colors.axis),
        eframe::egui::StrokeKind::Inside,
    );
    scale_ui(
        ui,
        pos2(matrix.left(), matrix.bottom() + 0.5 * caption),
        room.x,
    );
    let response = ui.interact(
        matrix,
        ui.make_persistent_id("common clusters"),
        Sense::focusable_noninteractive(),
    );
    paint::focus_ring_inside(ui, &response, matrix);
    let pairs = &clusters.pairs;
    let n = pairs.units.len();
    let words = format!("How often {n} units were together, by cluster");
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, words.clone()));
    let name = |k: usize| &clusters.units[pairs.units[k] as usize];
    data_table_ui(ui, &response, &words, || {
        let names: Vec<&str> = (0..n).map(|k| name(k).as_str()).collect();
        PlotData::new(names.clone(), n, |i, j| f64::from(pairs.shares[i * n + j]))
            .named("unit", names)
    });
    if let Some(at) = response.hover_pos() {
        let cell = |share: f32| ((share * n as f32) as usize).min(n - 1);
        let from = at - matrix.min;
        let (i, j) = (cell(from.y / size.y), cell(from.x / size.x));
        let share = number::fixed(100.0 * f64::from(pairs.shares[i * n + j]), 0);
        response.on_hover_text(format!(
            "{} and {}: together in {share}% of draws",
            name(i),
            name(j)
        ));
    }
}

/// Which colour of the matrix means how often: true in every theme, because it shows the colours themselves.
fn scale_ui(ui: &Ui, from: Pos2, room: f32) {
    let colors = Palette::of(ui);
    let gap = tokens().space.x2;
    let word = |text: &str, x: f32, room: f32| {
        let galley = paint::line(
            ui,
            text,
            Text::Caption,
            colors.text_secondary,
            room.max(0.0),
        );
        paint::left_center(ui.painter(), x, from.y, galley).right()
    };
    let x = word("in one cluster: never", from.x, room) + gap;
    let bar = Rect::from_min_max(pos2(x, from.y - 5.0), pos2(x + SCALE, from.y + 5.0));
    if bar.right() > from.x + room {
        return;
    }
    let mut mesh = Mesh::default();
    for (corner, share) in [
        (bar.left_top(), 0.0),
        (bar.right_top(), 1.0),
        (bar.right_bottom(), 1.0),
        (bar.left_bottom(), 0.0),
    ] {
        mesh.colored_vertex(corner, shade(colors, share));
    }
    mesh.add_triangle(0, 1, 2);
    mesh.add_triangle(0, 2, 3);
    ui.painter().add(Shape::mesh(mesh));
    let stroke = Stroke::new(tokens().stroke.hair, colors.axis);
    ui.painter()
        .rect_stroke(bar, 0.0, stroke, eframe::egui::StrokeKind::Outside);
    let x = word(
        "always",
        bar.right() + gap,
        from.x + room - bar.right() - gap,
    ) + 2.0 * gap;
    // A part of them would say nothing.
    let rest = "units in the order of clusters";
    let color = colors.text_secondary;
    let needed = paint::line(ui, rest, Text::Caption, color, f32::INFINITY)
        .size()
        .x;
    if needed <= from.x + room - x {
        word(rest, x, needed);
    }
}

/// Length of the scale of colours.
const SCALE: f32 = 48.0;

/// The colour of two units that were together in this share of draws.
fn shade(colors: &Palette, share: f32) -> Color32 {
    colors.plot_bg.lerp_to_gamma(colors.posterior, share)
}

fn picture(pairs: &Pairs, colors: &Palette) -> ColorImage {
    let n = pairs.units.len();
    let pixels = pairs
        .shares
        .iter()
        .map(|&share| shade(colors, share))
        .collect();
    ColorImage::new([n, n], pixels)
}

/// The first two numeric columns, units in the colour of their cluster.
fn scatter_ui(ui: &mut Ui, id: u64, scatter: &Scatter, clusters: &Clusters) {
    let colors = Palette::of(ui);
    let range = |j: usize| {
        let values = scatter.points.iter().map(|point| point[j]);
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        let room = 0.04 * (high - low);
        (low - room, high + room)
    };
    let [x_name, y_name] = &scatter.columns;
    let summary = format!("{y_name} against {x_name}, coloured by cluster");
    let axes = Axes {
        x_title: x_name,
        y_title: y_name,
        ..Axes::new(
            ui.make_persistent_id(("clusters", id)),
            &summary,
            range(0),
            range(1),
        )
    };
    let cluster = |unit: u32| clusters.partition[unit as usize] as usize;
    let points: Vec<([f64; 2], Color32)> = scatter
        .points
        .iter()
        .zip(&scatter.units)
        .map(|(&point, &unit)| (point, colors.chain(cluster(unit))))
        .collect();
    let height = ui.available_height();
    let shown = axes::show(ui, colors, &axes, height, move |plot| {
        plot.add(Marks::new(move |_ui, transform, shapes| {
            for ([x, y], color) in &points {
                let at = marks::at(transform, *x, *y);
                shapes.push(Shape::circle_filled(at, 2.0, *color));
            }
        }));
    });
    data_table_ui(ui, &shown.response, &summary, || {
        let names = scatter.units.iter();
        let names = names.map(|&unit| clusters.units[unit as usize].as_str());
        let heads = ["cluster", x_name, y_name];
        PlotData::new(heads, scatter.points.len(), |row, column| {
            let [x, y] = scatter.points[row];
            [(cluster(scatter.units[row]) + 1) as f64, x, y][column]
        })
        .named("unit", names.collect())
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::harness;

    #[test]
    fn the_scale_of_a_matrix_shows_the_colours_of_the_theme() {
        for colors in [Palette::light(), Palette::dark(), Palette::high_contrast()] {
            assert_eq!(shade(colors, 0.0), colors.plot_bg);
            assert_eq!(shade(colors, 1.0), colors.posterior);
        }
        let mut harness = harness([500.0, 60.0], None, |ui, ends| {
            let colors = Palette::of(ui);
            *ends = Some([colors.plot_bg, colors.posterior]);
            scale_ui(ui, pos2(10.0, 30.0), 480.0);
        });
        harness.run();
        let ends = harness.state().unwrap();
        let painted = harness
            .output()
            .shapes
            .iter()
            .any(|clipped| match &clipped.shape {
                Shape::Mesh(mesh) => ends
                    .iter()
                    .all(|end| mesh.vertices.iter().any(|vertex| vertex.color == *end)),
                _ => false,
            });
        assert!(painted, "the scale holds both ends");
    }
}
