//! The frame of every plot: margins, ticks, gridlines, the hover line, zoom and pan.
//!
//! The plot itself comes from `egui_plot`; axes are painted here, because ours are quieter: a bottom line with
//! short ticks, horizontal gridlines, the axis title at the right end of the tick labels.

use eframe::egui::{
    Color32, Id, Margin, Rect, Response, Role, Sense, Shape, Stroke, Ui, UiBuilder, WidgetInfo,
    pos2, vec2,
};
use egui_plot::{Plot, PlotMemory, PlotPoint, PlotTransform, PlotUi};

use super::cursor::{self, Zoom};
use super::marks::Marks;
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::{number, paint};
use ergodic_base::ticks::Ticks;
pub use ergodic_base::ticks::padded;

/// How the y axis is labelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum YAxis {
    /// No labels and no gridlines: densities.
    None,
    /// Equal steps.
    Linear,
    /// y is the decimal logarithm of the value; labels are powers of ten.
    Log,
}

/// Width of a title that leaves room for labels beside it in the narrowest pane.
const WIDEST_TITLE: f32 = 160.0;
/// Height that a title takes below the labels.
const TITLE_LINE: f32 = 16.0;

/// What the frame of a plot needs to know.
#[derive(Clone, Debug)]
pub struct Axes<'a> {
    /// Tells plots of one window apart.
    pub id: Id,
    /// One sentence that says what the plot shows, for screen readers.
    pub summary: &'a str,
    /// Range of x until the user zooms.
    pub x: (f64, f64),
    /// Range of y until the user zooms.
    pub y: (f64, f64),
    /// Title of the x axis; without one the axis has no title.
    pub x_title: &'a str,
    /// Title of the y axis, above its upper end; without one the axis has no title.
    pub y_title: &'a str,
    /// Whether the x axis has labels.
    pub x_labels: bool,
    /// How the y axis is labelled.
    pub y_axis: YAxis,
    /// Part of the x axis that is warm-up.
    pub warmup: Option<(f64, f64)>,
    /// Plots of one group share their hover line and their x range.
    pub link: Option<Id>,
    /// Space around the data.
    pub margin: Margin,
    /// Whether the title of the x axis has a line of its own in any case.
    pub title_line: bool,
    /// Distance between values of x that the keyboard's cursor stops at; 0 for a hundredth of what shows.
    pub step: f64,
}

impl<'a> Axes<'a> {
    /// Axes over `x` and `y` with the usual margins.
    pub fn new(id: Id, summary: &'a str, x: (f64, f64), y: (f64, f64)) -> Self {
        Self {
            id,
            summary,
            x: proper(x),
            y: proper(y),
            x_title: "",
            y_title: "",
            x_labels: true,
            y_axis: YAxis::Linear,
            warmup: None,
            link: None,
            margin: Margin {
                left: 44,
                right: 16,
                top: 8,
                bottom: 28,
            },
            title_line: false,
            step: 0.0,
        }
    }

    /// Makes room at the right or below so that the data area in the rest of `ui` is a square. Returns the height to show
    /// the plot with.
    pub fn square(&mut self, ui: &Ui) -> f32 {
        let size = ui.available_size() - self.margin.sum() - vec2(0.0, self.titles(ui));
        let side = size.min_elem().max(1.0);
        self.margin.right = (f32::from(self.margin.right) + size.x - side).min(127.0) as i8;
        ui.available_height() - (size.y - side)
    }

    /// Height that titles take beyond the margins.
    fn titles(&self, ui: &Ui) -> f32 {
        let lines = u8::from(self.title_below(ui)) + u8::from(!self.y_title.is_empty());
        f32::from(lines) * TITLE_LINE
    }

    /// The range of x that shows: the asked one, or what the user zoomed to.
    pub fn visible_x(&self, ui: &Ui) -> (f64, f64) {
        match PlotMemory::load(ui.ctx(), self.id) {
            Some(memory) if !memory.auto_bounds.x => {
                (memory.bounds().min()[0], memory.bounds().max()[0])
            }
            _ => self.x,
        }
    }

    /// Whether the title is so long that it would hide labels and needs a line of its own.
    fn title_below(&self, ui: &Ui) -> bool {
        if self.title_line {
            return true;
        }
        let color = Palette::of(ui).text_secondary;
        let title = paint::line(ui, self.x_title, Text::Caption, color, f32::INFINITY);
        self.x_labels && title.size().x > WIDEST_TITLE
    }

    /// Width of the data area in a frame as wide as the rest of `ui`.
    pub fn plot_width(&self, ui: &Ui) -> f32 {
        (ui.available_width() - self.margin.sum().x).max(1.0)
    }
}

/// What a shown plot tells.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The plot's response.
    pub response: Response,
    /// From values to points on the screen.
    pub transform: PlotTransform,
    /// Where the pointer is, in values, else where the keyboard's cursor stands.
    pub hover: Option<PlotPoint>,
}

/// Shows a plot over all of the available width and `height` points, filled by `build`.
pub fn show<'a>(
    ui: &mut Ui,
    p: &Palette,
    axes: &Axes<'_>,
    height: f32,
    build: impl FnOnce(&mut PlotUi<'a>) + 'a,
) -> Shown {
    let t = tokens();
    let width = ui.available_width();
    let (outer, _) = ui.allocate_exact_size(vec2(width, height), Sense::hover());
    let mut inner = outer - axes.margin;
    if axes.title_below(ui) {
        inner.max.y -= TITLE_LINE;
    }
    if !axes.y_title.is_empty() {
        inner.min.y += TITLE_LINE;
    }
    let inner = Rect::from_min_max(inner.min, inner.max.max(inner.min + vec2(1.0, 1.0)));

    let y_target = (inner.height() / 18.0).clamp(2.0, 5.0) as usize;
    let (grid, warmup_fill, edge) = (p.grid, p.warmup, p.threshold);
    let (y_axis, warmup) = (axes.y_axis, axes.warmup);
    let backdrop = Marks::new(move |_ui, transform, shapes| {
        let frame = *transform.frame();
        if let Some((from, to)) = warmup {
            let (left, right) = (
                transform.position_from_point_x(from),
                transform.position_from_point_x(to),
            );
            let rect = Rect::from_min_max(pos2(left, frame.top()), pos2(right, frame.bottom()))
                .intersect(frame);
            if rect.width() > 0.0 {
                shapes.push(Shape::rect_filled(rect, 0.0, warmup_fill));
            }
        }
        for (value, _) in y_ticks(transform, y_axis, y_target) {
            let y = crisp(transform.position_from_point_y(value));
            shapes.push(Shape::hline(frame.x_range(), y, Stroke::new(1.0, grid)));
        }
        if let Some((_, to)) = warmup {
            let x = crisp(transform.position_from_point_x(to));
            let line = vec![pos2(x, frame.top()), pos2(x, frame.bottom())];
            paint::dashed(
                line,
                Stroke::new(t.stroke.threshold, edge),
                &t.dash.warmup_edge,
                shapes,
            );
        }
    });

    let mut child = ui.new_child(UiBuilder::new().max_rect(inner).id_salt(axes.id));
    let pan = ui.input(|input| input.modifiers.shift);
    let mut plot = Plot::new("plot")
        .id(axes.id)
        .width(inner.width())
        .height(inner.height())
        .min_size(vec2(1.0, 1.0))
        .show_background(false)
        .show_axes(false)
        .show_grid(false)
        .show_x(true)
        .show_y(false)
        .cursor_color(p.axis)
        .set_margin_fraction(vec2(0.0, 0.0))
        .include_x(axes.x.0)
        .include_x(axes.x.1)
        .include_y(axes.y.0)
        .include_y(axes.y.1)
        .allow_scroll(false)
        .allow_zoom([true, false])
        .allow_axis_zoom_drag(false)
        .allow_drag(pan)
        .allow_boxed_zoom(!pan)
        .boxed_zoom_pointer_button(eframe::egui::PointerButton::Primary);
    if let Some(group) = axes.link {
        plot = plot
            .link_cursor(group, [true, false])
            .link_axis(group.with("x"), [true, false]);
    }
    let moved = cursor::read(ui, axes, axes.visible_x(ui));
    let shown = plot.show(&mut child, move |plot_ui| {
        match moved.zoom {
            Some(Zoom::To(low, high)) => plot_ui.set_plot_bounds_x(low..=high),
            Some(Zoom::Reset) => plot_ui.set_auto_bounds([true, true]),
            None => {}
        }
        plot_ui.add(backdrop);
        build(plot_ui);
    });
    cursor::keep(ui, axes.id, &shown.response, moved.at);
    shown
        .response
        .widget_info(|| WidgetInfo::labeled(Role::Image, true, axes.summary));
    paint_axes(ui, p, axes, outer, &shown.transform, y_target);
    paint::focus_ring_inside(ui, &shown.response, outer);
    let hover = shown
        .response
        .hover_pos()
        .map(|pos| shown.transform.value_from_position(pos))
        .or_else(|| {
            let x = moved.at.filter(|_| shown.response.has_focus())?;
            let place = shown.transform.position_from_point_x(x);
            let frame = *shown.transform.frame();
            if frame.x_range().contains(place) {
                let stroke = Stroke::new(t.stroke.hair, p.accent);
                ui.painter().vline(crisp(place), frame.y_range(), stroke);
            }
            Some(PlotPoint::new(x, shown.transform.bounds().center().y))
        });
    Shown {
        response: shown.response,
        transform: shown.transform,
        hover,
    }
}

fn paint_axes(
    ui: &Ui,
    p: &Palette,
    axes: &Axes<'_>,
    outer: Rect,
    transform: &PlotTransform,
    y_target: usize,
) {
    let frame = *transform.frame();
    let painter = ui.painter();
    let axis = Stroke::new(tokens().stroke.hair, p.axis);
    let bottom = crisp(frame.bottom());
    painter.hline(frame.x_range(), bottom, axis);
    let label = |text: &str| paint::line(ui, text, Text::Caption, p.text_secondary, f32::INFINITY);
    if !axes.y_title.is_empty() {
        let y = outer.top() + 0.5 * TITLE_LINE + 2.0;
        paint::left_center(painter, outer.left() + 8.0, y, label(axes.y_title));
    }
    for (value, text) in y_ticks(transform, axes.y_axis, y_target) {
        let text = label(&text);
        // The uppermost stays below the edge of the plot, over which a heading may stand.
        let highest = frame.top() + 0.5 * text.size().y;
        let y = transform.position_from_point_y(value).max(highest);
        paint::right_center(painter, frame.left() - 7.0, y, text);
    }
    if !axes.x_labels {
        return;
    }
    let text_y = bottom + 4.0 + 9.0;
    let mut limit = outer.right();
    if !axes.x_title.is_empty() {
        let title = label(axes.x_title);
        if axes.title_below(ui) {
            // One that is longer than the plot is wide keeps its beginning.
            let right = frame.right().max(outer.left() + 8.0 + title.size().x);
            paint::right_center(painter, right, text_y + TITLE_LINE, title);
        } else {
            limit = paint::right_center(painter, frame.right(), text_y, title).left() - 6.0;
        }
    }
    let bounds = transform.bounds();
    let target = x_target(frame.width());
    for (value, text) in linear_ticks(bounds.min()[0], bounds.max()[0], target) {
        let x = crisp(transform.position_from_point_x(value));
        painter.vline(x, bottom..=bottom + 4.0, axis);
        let galley = label(&text);
        let left = (x - galley.size().x / 2.0).max(outer.left() + 2.0);
        // A label that would run into the title or out of the pane is left out; its tick stays.
        if left + galley.size().x <= limit {
            paint::left_center(painter, left, text_y, galley);
        }
    }
}

/// Puts a one-point line on a pixel, so that it is not two grey ones.
fn crisp(x: f32) -> f32 {
    x.floor() + 0.5
}

/// Most ticks of an axis n points wide: a label and a gap have 50.
pub fn x_target(width: f32) -> usize {
    (width / 50.0).clamp(2.0, 6.0) as usize
}

fn y_ticks(transform: &PlotTransform, axis: YAxis, target: usize) -> Vec<(f64, String)> {
    let bounds = transform.bounds();
    let (low, high) = (bounds.min()[1], bounds.max()[1]);
    match axis {
        YAxis::None => Vec::new(),
        YAxis::Linear => linear_ticks(low, high, target),
        YAxis::Log => log_ticks(low, high, target),
    }
}

/// At most `max_ticks` ticks at multiples of 1, 2 or 5 times a power of ten, with their labels.
pub fn linear_ticks(low: f64, high: f64, max_ticks: usize) -> Vec<(f64, String)> {
    let Ticks { step, at } = Ticks::between(low, high, max_ticks);
    at.into_iter()
        .map(|value| {
            let label = if value == 0.0 {
                "0".to_owned()
            } else {
                number::tick(value, step)
            };
            (value, label)
        })
        .collect()
}

/// Ticks at powers of ten between 10^`low` and 10^`high`, at most about `target`; position is the exponent.
pub fn log_ticks(low: f64, high: f64, target: usize) -> Vec<(f64, String)> {
    if !(low.is_finite() && high.is_finite() && high > low) {
        return Vec::new();
    }
    let (first, last) = (low.ceil() as i64, high.floor() as i64);
    let step = ((last - first + 1).max(1) as usize).div_ceil(target.max(1)) as i64;
    (first..=last)
        .filter(|exponent| exponent.rem_euclid(step) == 0)
        .map(|exponent| {
            (
                exponent as f64,
                number::log_tick(10_f64.powi(exponent as i32)),
            )
        })
        .collect()
}

/// A range that has some width, whatever comes in.
fn proper((low, high): (f64, f64)) -> (f64, f64) {
    match (low.is_finite(), high.is_finite()) {
        (true, true) if high > low => (low, high),
        (true, _) => {
            let pad = if low == 0.0 { 1.0 } else { low.abs() * 0.1 };
            (low - pad, low + pad)
        }
        _ => (0.0, 1.0),
    }
}

/// Ends of the finite ones of `values`, with `share` of their distance added at both ends.
pub fn range(values: impl Iterator<Item = f64>, share: f64) -> (f64, f64) {
    let finite = values.filter(|value| value.is_finite());
    let ends = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    padded(ends, share)
}

/// A colour with an opacity from the design tokens.
pub fn faded(color: Color32, alpha: f32) -> Color32 {
    color.gamma_multiply(alpha)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(ticks: &[(f64, String)]) -> Vec<String> {
        ticks
            .iter()
            .map(|(_, label)| {
                label
                    .replace(number::NARROW, " ")
                    .replace(number::MINUS, "-")
            })
            .collect()
    }

    #[test]
    fn ticks_are_round_numbers_inside_the_range() {
        assert_eq!(
            labels(&linear_ticks(0.0, 0.65, 4)),
            ["0", "0.2", "0.4", "0.6"]
        );
        assert_eq!(
            labels(&linear_ticks(0.0, 1111.0, 6)),
            ["0", "200", "400", "600", "800", "1 000"]
        );
        assert_eq!(
            labels(&linear_ticks(-0.46, -0.2, 5)),
            ["-0.4", "-0.3", "-0.2"]
        );
        assert_eq!(labels(&linear_ticks(1.0, 1.1, 3)), ["1.00", "1.05", "1.10"]);
    }

    #[test]
    fn degenerate_ranges_have_no_ticks() {
        assert!(linear_ticks(1.0, 1.0, 4).is_empty());
        assert!(linear_ticks(f64::NAN, 1.0, 4).is_empty());
        assert!(linear_ticks(1.0, 1.0 + 1e-16, 4).is_empty());
        assert!(linear_ticks(0.0, f64::INFINITY, 4).is_empty());
        assert!(log_ticks(2.0, 1.0, 4).is_empty());
    }

    #[test]
    fn log_ticks_are_powers_of_ten() {
        assert_eq!(labels(&log_ticks(-0.5, 1.5, 4)), ["1", "10"]);
        assert_eq!(
            labels(&log_ticks(-2.0, 9.0, 4)),
            ["1", "1 000", "1e6", "1e9"]
        );
    }

    #[test]
    fn any_range_becomes_one_with_width() {
        assert_eq!(proper((2.0, 2.0)), (1.8, 2.2));
        assert_eq!(proper((0.0, 0.0)), (-1.0, 1.0));
        assert_eq!(proper((f64::NAN, 3.0)), (0.0, 1.0));
        assert_eq!(proper((1.0, 3.0)), (1.0, 3.0));
    }

    proptest! {
        #[test]
        fn a_range_has_a_handful_of_ticks(low in -1e9_f64..1e9, log_span in -4.0_f64..9.0, target in 2_usize..7) {
            let high = low + 10_f64.powf(log_span);
            let ticks = linear_ticks(low, high, target);
            prop_assert!(ticks.len() <= target, "{} ticks for {target}", ticks.len());
            prop_assert!(!ticks.is_empty());
            prop_assert!(ticks.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 != pair[1].1));
            let slack = (high - low) * 1e-6;
            prop_assert!(ticks.iter().all(|(value, _)| *value >= low - slack && *value <= high + slack));
        }
    }
}
