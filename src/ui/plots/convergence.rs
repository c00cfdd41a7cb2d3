//! How the measures of convergence develop: one row each, one x axis, the selected variable among the others.

use eframe::egui::{Color32, Id, Margin, Rect, Shape, Stroke, Ui, pos2};

use super::axes::{Axes, YAxis, faded, linear_ticks, log_ticks, show};
use super::data_table::{PlotData, data_table_ui};
use super::marks::{self, Marks, curve};
use crate::ui::theme::{Palette, Text, VerdictKind, tokens};
use crate::ui::widgets::{number, paint};

/// Height of the words above each row.
const HEAD: f32 = 18.0;
/// Least room left and right of the plots: panes beside each other have their axes in the same place.
const MARGINS: (f32, f32) = (44.0, 56.0);
/// Most that the frame of a plot takes.
const MARGIN_MOST: f32 = 120.0;

/// On which side of its limit a measure is fine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wants {
    /// At most the limit.
    AtMost,
    /// At least the limit.
    AtLeast,
}

/// One measure. Curves are pairs of iteration and value, from where the measure is defined.
#[derive(Clone, Debug)]
pub struct ConvergenceRow<'a> {
    /// Name of the criterion: "R-hat".
    pub title: &'a str,
    /// What is wanted, in words: "want at most 1.01".
    pub want: String,
    /// The limit.
    pub limit: f64,
    /// The fine side of the limit.
    pub wants: Wants,
    /// Lowest value of the axis; on a logarithmic axis the data decide.
    pub floor: f64,
    /// Whether the axis is logarithmic.
    pub log: bool,
    /// The selected variable.
    pub selected: &'a [[f64; 2]],
    /// Curves of all other variables.
    pub others: &'a [Vec<[f64; 2]>],
    /// How the current value reads.
    pub format: fn(f64) -> String,
    /// Colour of a current value past its limit.
    pub past: VerdictKind,
    /// The current value itself where the curve ends at the edge of what a logarithmic axis can show.
    pub exact: Option<f64>,
}

impl<'a> ConvergenceRow<'a> {
    /// R-hat against `limit`, such as 1.01.
    pub fn rhat(selected: &'a [[f64; 2]], others: &'a [Vec<[f64; 2]>], limit: f64) -> Self {
        Self {
            title: "R-hat",
            want: format!("want at most {}", number::fixed(limit, 2)),
            limit,
            wants: Wants::AtMost,
            floor: 1.0,
            log: false,
            selected,
            others,
            format: number::rhat,
            past: VerdictKind::Watch,
            exact: None,
        }
    }

    /// An effective sample size named `title` against `limit`, such as 400.
    pub fn ess(
        title: &'a str,
        selected: &'a [[f64; 2]],
        others: &'a [Vec<[f64; 2]>],
        limit: f64,
    ) -> Self {
        Self {
            title,
            want: format!("want at least {}", number::ess(limit)),
            limit,
            wants: Wants::AtLeast,
            floor: 0.0,
            log: false,
            selected,
            others,
            format: number::ess,
            past: VerdictKind::Watch,
            exact: None,
        }
    }

    /// Nested R-hat of many short chains against `limit`.
    pub fn rhat_nested(selected: &'a [[f64; 2]], others: &'a [Vec<[f64; 2]>], limit: f64) -> Self {
        Self {
            title: "Nested R-hat",
            ..Self::rhat(selected, others, limit)
        }
    }

    /// The Monte Carlo error as a share of the posterior sd, against `limit`, such as 0.05.
    pub fn mcse(selected: &'a [[f64; 2]], others: &'a [Vec<[f64; 2]>], limit: f64) -> Self {
        Self {
            title: "MCSE, in sd",
            want: format!("want at most {}", number::significant(limit, 1)),
            limit,
            wants: Wants::AtMost,
            floor: 0.0,
            log: false,
            selected,
            others,
            format: number::sd,
            past: VerdictKind::Watch,
            exact: None,
        }
    }

    /// The start criterion of OSGFS on a logarithmic axis; its limit is 1.
    pub fn osgfs_criterion(selected: &'a [[f64; 2]], others: &'a [Vec<[f64; 2]>]) -> Self {
        Self {
            title: "OSGFS criterion",
            want: "want at most 1".to_owned(),
            limit: 1.0,
            wants: Wants::AtMost,
            floor: 0.0,
            log: true,
            selected,
            others,
            format: |value| number::significant(value, 2),
            past: VerdictKind::Watch,
            exact: None,
        }
    }

    /// The latest value of the selected variable.
    pub fn current(&self) -> Option<f64> {
        self.exact
            .or_else(|| self.selected.last().map(|point| point[1]))
            .filter(|value| value.is_finite())
    }

    /// Room that the words left and right of the plot need.
    fn margins(&self, ui: &Ui) -> (f32, f32) {
        let wide = |text: &str, role| {
            let line = paint::line(ui, text, role, Color32::WHITE, f32::INFINITY);
            line.size().x
        };
        let (low, high) = self.y_range();
        let ticks = |count| {
            if self.log {
                log_ticks(low, high, count)
            } else {
                linear_ticks(low, high, count)
            }
        };
        let labels = ticks(2).into_iter().chain(ticks(5));
        let left = labels.map(|(_, text)| wide(&text, Text::Caption));
        let value = self.current().map(self.format).unwrap_or_default();
        (
            left.fold(0.0, f32::max) + 11.0,
            wide(&value, Text::NumberStrong) + 13.0,
        )
    }

    /// Whether the latest value is past the limit.
    pub fn is_past(&self) -> bool {
        self.current().is_some_and(|value| match self.wants {
            Wants::AtMost => value > self.limit,
            Wants::AtLeast => value < self.limit,
        })
    }

    /// Range of the axis, in logarithms if it is logarithmic. It always holds the limit and the latest value;
    /// earlier values off the scale are not drawn.
    fn y_range(&self) -> (f64, f64) {
        let current = self.current().unwrap_or(self.limit);
        if self.log {
            let values = || {
                self.selected
                    .iter()
                    .map(|point| point[1])
                    .filter(|v| v.is_finite() && *v > 0.0)
            };
            let low = values().fold(self.limit, f64::min);
            let high = values().fold(self.limit, f64::max);
            return (low.log10().min(-0.3) - 0.1, high.log10().max(1.0) + 0.1);
        }
        let above = |value: f64| value - self.floor;
        let top = match self.wants {
            Wants::AtMost => {
                (10.0 * above(self.limit)).min((5.0 * above(self.limit)).max(1.25 * above(current)))
            }
            Wants::AtLeast => (2.2 * above(self.limit)).max(1.1 * above(current)),
        };
        let top = top.max(1.1 * above(current));
        // A measure may come out below what it tends to, as R-hat does: it is drawn inside all the same.
        let room = match self.floor {
            0.0 => 0.0,
            floor => (0.06 * top).max(1.5 * (floor - current)),
        };
        (self.floor - room, self.floor + top)
    }
}

/// Range of the shared x axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConvergenceSpan {
    /// Iterations of warm-up.
    pub warmup: f64,
    /// All iterations so far, warm-up included.
    pub end: f64,
    /// What the axis counts: "iteration".
    pub x_title: &'static str,
}

/// Shows the rows one above the other over the available width, together `height` points high.
pub fn convergence_ui(
    ui: &mut Ui,
    p: &Palette,
    rows: &[ConvergenceRow<'_>],
    span: ConvergenceSpan,
    link: Option<Id>,
    height: f32,
) {
    ui.spacing_mut().item_spacing.y = 0.0;
    let bottom = 28.0;
    let each = ((height - bottom) / rows.len().max(1) as f32).max(HEAD + 24.0);
    let link = link.unwrap_or_else(|| ui.make_persistent_id("convergence x"));
    // The rows share their x axis, so all have the margins of the widest words.
    let margins = rows
        .iter()
        .map(|row| row.margins(ui))
        .fold(MARGINS, |(left, right), (a, b)| (left.max(a), right.max(b)));
    for (i, row) in rows.iter().enumerate() {
        let last = i + 1 == rows.len();
        row_ui(
            ui,
            p,
            row,
            span,
            link,
            (each + if last { bottom } else { 0.0 }, last),
            margins,
        );
    }
}

fn row_ui(
    ui: &mut Ui,
    p: &Palette,
    row: &ConvergenceRow<'_>,
    span: ConvergenceSpan,
    link: Id,
    (height, last): (f32, bool),
    (left, right): (f32, f32),
) {
    let t = tokens();
    let (head, _) = ui.allocate_exact_size(
        eframe::egui::vec2(ui.available_width(), HEAD),
        eframe::egui::Sense::hover(),
    );
    let title = paint::line(ui, row.title, Text::Label, p.text_primary, f32::INFINITY);
    let x = paint::left_center(
        ui.painter(),
        head.left() + t.space.x2,
        head.center().y,
        title,
    )
    .right();
    let want = paint::line(
        ui,
        &row.want,
        Text::Caption,
        p.text_secondary,
        (head.right() - x - 16.0).max(0.0),
    );
    paint::left_center(ui.painter(), x + t.space.x2, head.center().y, want);

    let current = row.current();
    let value = current.map_or(number::NOT_AVAILABLE.to_owned(), row.format);
    let past = row.is_past();
    let summary = format!(
        "{}: {value}, {}{}",
        row.title,
        row.want,
        if past { ", past it" } else { "" }
    );
    let range = row.y_range();
    let mut axes = Axes::new(
        ui.make_persistent_id(("convergence", row.title)),
        &summary,
        (0.0, span.end.max(1.0)),
        range,
    );
    axes.y_axis = if row.log { YAxis::Log } else { YAxis::Linear };
    axes.x_labels = last;
    axes.x_title = if last { span.x_title } else { "" };
    axes.link = Some(link);
    axes.warmup = (span.warmup > 0.0).then_some((0.0, span.warmup.min(span.end)));
    axes.margin = Margin {
        left: left.ceil().min(MARGIN_MOST) as i8,
        right: right.ceil().min(MARGIN_MOST) as i8,
        top: 2,
        bottom: if last { 28 } else { 6 },
    };

    let scaled = |points: &[[f64; 2]]| -> Vec<[f64; 2]> {
        if row.log {
            points.iter().map(|&[x, y]| [x, y.log10()]).collect()
        } else {
            points.to_vec()
        }
    };
    let selected = scaled(row.selected);
    let others: Vec<Vec<[f64; 2]>> = row.others.iter().map(|points| scaled(points)).collect();
    let limit = if row.log {
        row.limit.log10()
    } else {
        row.limit
    };
    let own = Stroke::new(t.stroke.curve_selected, p.accent);
    let other = Stroke::new(t.stroke.curve_other, faded(p.prior, t.alpha.curve_other));
    let threshold = Stroke::new(t.stroke.threshold, p.threshold);
    let end = selected
        .last()
        .copied()
        .filter(|point| point[1].is_finite());
    let shown = show(ui, p, &axes, height - HEAD, move |plot_ui| {
        plot_ui.add(Marks::new(
            move |_ui: &Ui, transform, shapes: &mut Vec<Shape>| {
                let frame = *transform.frame();
                let top = transform.bounds().max()[1];
                for points in &others {
                    curve(points, other, &[], top, transform, shapes);
                }
                let y = transform.position_from_point_y(limit).floor() + 0.5;
                let line = vec![pos2(frame.left(), y), pos2(frame.right(), y)];
                paint::dashed(line, threshold, &t.dash.threshold, shapes);
                curve(&selected, own, &[], top, transform, shapes);
            },
        ));
    });
    data_table_ui(ui, &shown.response, row.title, || {
        let points = row.selected;
        PlotData::new([span.x_title, row.title], points.len(), |at, column| {
            points[at][column]
        })
    });
    let frame: Rect = *shown.transform.frame();
    if let Some([x, y]) = end {
        let at = marks::at(&shown.transform, x, y);
        if frame.expand(1.0).contains(at) {
            ui.painter().circle_filled(at, 3.0, p.accent);
        }
        let y = at.y.clamp(frame.top() + 6.0, frame.bottom() - 4.0);
        let (role, color) = if past {
            (Text::NumberStrong, p.verdict(row.past).color)
        } else {
            (Text::Number, p.text_primary)
        };
        paint::left_center(
            ui.painter(),
            frame.right() + 9.0,
            y,
            paint::line(ui, &value, role, color, f32::INFINITY),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::harness;
    use egui_kittest::kittest::Queryable as _;

    #[test]
    fn the_axis_holds_limit_and_current_value() {
        for value in [1.0, 1.005, 1.017, 1.08, 1.5, 4.0] {
            let points = [[200.0, 9.0], [300.0, value]];
            let row = ConvergenceRow::rhat(&points, &[], 1.01);
            let (low, high) = row.y_range();
            assert!(
                low < 1.0 && 1.0 - low < 0.1 * (high - low) && high >= value && high > 1.01,
                "{value}: {low} to {high}"
            );
            assert_eq!(row.is_past(), value > 1.01);
        }
        let points = [[300.0, 0.9994]];
        let (low, high) = ConvergenceRow::rhat(&points, &[], 1.01).y_range();
        assert!(low < 0.9993 && low > 0.99 && high > 1.01, "{low} to {high}");
        let points = [[300.0, 140.0]];
        let row = ConvergenceRow::ess("ESS, bulk", &points, &[], 400.0);
        assert!(row.is_past() && row.y_range().1 > 800.0);
        let points = [[10.0, 30.0], [300.0, 0.77]];
        let (low, high) = ConvergenceRow::osgfs_criterion(&points, &[]).y_range();
        assert!(low < 0.77_f64.log10() && high > 30_f64.log10());
    }

    #[test]
    fn a_measure_that_is_not_defined_yet_is_not_past_its_limit() {
        let row = ConvergenceRow::rhat(&[], &[], 1.01);
        assert_eq!((row.current(), row.is_past()), (None, false));
        let points = [[300.0, f64::NAN]];
        assert_eq!(ConvergenceRow::rhat(&points, &[], 1.01).current(), None);
    }

    #[test]
    fn margins_hold_labels_and_value_whole() {
        let mut harness = harness([400.0, 300.0], (), |ui, ()| {
            let small = [[300.0, 1240.0]];
            let large = [[100_000.0, 106_242.0]];
            let few = ConvergenceRow::ess("ESS, bulk", &small, &[], 400.0).margins(ui);
            let row = ConvergenceRow::ess("ESS, bulk", &large, &[], 400.0);
            let many = row.margins(ui);
            assert!(many.0 > few.0 && many.1 > few.1, "{few:?}, {many:?}");
            let wide = |text: &str, role| {
                paint::line(ui, text, role, Color32::WHITE, f32::INFINITY)
                    .size()
                    .x
            };
            assert!(many.0 >= 7.0 + wide(&number::ess(100_000.0), Text::Caption));
            assert!(many.1 >= 9.0 + wide(&number::ess(106_242.0), Text::NumberStrong));
        });
        harness.run();
    }

    #[test]
    fn a_value_below_the_axis_is_said_as_it_is() {
        let points = [[0.0, 1.0], [5.0, 1e-8]];
        let mut row = ConvergenceRow::osgfs_criterion(&points, &[]);
        let range = row.y_range();
        row.exact = Some(5.5e-16);
        assert_eq!((row.current(), row.y_range()), (Some(5.5e-16), range));
    }

    #[test]
    fn rows_say_their_value() {
        let points = vec![[600.0, 1.08], [1100.0, 1.017]];
        let ess = vec![[600.0, 80.0], [1100.0, 1240.0]];
        let others = vec![points.clone(), vec![[600.0, f64::NAN], [700.0, 1.01]]];
        let mut harness = harness([400.0, 300.0], (), move |ui, ()| {
            let p = Palette::of(ui);
            let rows = [
                ConvergenceRow::rhat(&points, &others, 1.01),
                ConvergenceRow::ess("ESS, bulk", &ess, &[], 400.0),
                ConvergenceRow::osgfs_criterion(&[], &[]),
            ];
            let span = ConvergenceSpan {
                warmup: 500.0,
                end: 1100.0,
                x_title: "iteration",
            };
            convergence_ui(ui, p, &rows, span, None, 260.0);
        });
        harness.run();
        harness.get_by_label("R-hat: 1.017, want at most 1.01, past it");
        harness.get_by_label("ESS, bulk: 1\u{202f}240, want at least 400");
        harness.get_by_label("OSGFS criterion: n/a, want at most 1");
    }
}
