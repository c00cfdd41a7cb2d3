//! What the priors expect in outcome units, before any outcome has been seen: a picture and a sentence per response.

use eframe::egui::{Color32, Pos2, Rect, Role, Sense, Shape, Stroke, Ui, WidgetInfo, pos2, vec2};

use crate::app::ModelCheck;
use crate::app::draft_pictures::DraftPicture;
use crate::app::prior_preview::PriorPreview;
use crate::ui::outbox::Outbox;
use crate::ui::panels::draft_picture;
use crate::ui::plots::axes::{faded, linear_ticks, log_ticks};
use crate::ui::plots::data_table::{PlotData, picture_table_ui};
use crate::ui::plots::legend::{Sign, entry as legend_entry};
use crate::ui::theme::{Palette, Text, VerdictKind, tokens};
use crate::ui::widgets::spark::area;
use crate::ui::widgets::{badge_with, heading, hint, number, paint, sentence};
use ergodic_analysis::prior_predictive::{
    Category, Cells, Expected, Outcomes, Plausibility, PriorPredictive,
};

/// Height of a picture with its axis.
const HEIGHT: f32 = 112.0;
/// Height of a row of a category.
const ROW: f32 = 22.0;
/// Categories that are shown; the sentence is about the commonest.
const MOST_ROWS: usize = 16;

/// Shows the section: what the prior being typed expects, or those of the draft.
pub fn prior_preview_ui(
    ui: &mut Ui,
    check: &ModelCheck,
    preview: Option<&PriorPreview>,
    out: &mut Outbox,
) {
    heading(ui, "Before seeing outcomes");
    if let Some((preview, expected)) = preview.and_then(|p| Some((p, p.expected.as_deref()?))) {
        hint(
            ui,
            &format!("If the prior of `{}` were {}", preview.key, preview.text),
        );
        expected_ui(ui, expected);
        draft_picture::save_ui(ui, DraftPicture::Priors, out);
        return;
    }
    match &check.expected {
        Some(Ok(expected)) => {
            expected_ui(ui, expected);
            draft_picture::save_ui(ui, DraftPicture::Priors, out);
        }
        Some(Err(why)) => {
            hint(ui, why);
        }
        None => {
            hint(
                ui,
                "What the priors expect appears here once the model is complete",
            );
        }
    }
}

fn expected_ui(ui: &mut Ui, expected: &PriorPredictive) {
    for one in &expected.outcomes {
        let (kind, word) = match one.plausibility {
            Plausibility::Plausible => (VerdictKind::Good, one.plausibility.word()),
            Plausibility::VeryWide | Plausibility::UnlikeTheData => {
                (VerdictKind::Watch, one.plausibility.word())
            }
        };
        badge_with(ui, kind, word);
        sentence(ui, &one.sentence, Text::Body);
        picture_ui(ui, one);
        if let Some(together) = (one.together.as_ref()).filter(|it| !it.sentence.is_empty()) {
            sentence(ui, &together.sentence, Text::Body);
        }
    }
    let which = if expected.one_by_one {
        ", each with average predictors but one,"
    } else {
        ""
    };
    hint(
        ui,
        &format!(
            "Outcomes of {} rows{which} from {} draws of the priors; the data are shown for comparison only",
            number::integer(expected.rows as u64),
            number::integer(expected.draws as u64)
        ),
    );
}

fn picture_ui(ui: &mut Ui, expected: &Expected) {
    match &expected.outcomes {
        Outcomes::Success {
            success,
            shares,
            chances,
            trials,
        } => {
            let name = &expected.name;
            let (share, chance) = match trials {
                true => (
                    format!("Share of trials that are successes ({name})"),
                    "Chance of a trial in a single row",
                ),
                false => (
                    format!("Share of rows where {name} = {}", success.name),
                    "Chance of a single row",
                ),
            };
            cells_ui(ui, shares, Some(success.data), &share);
            cells_ui(ui, chances, None, chance);
        }
        Outcomes::Numbers { cells, .. } => cells_ui(ui, cells, None, &expected.name),
        Outcomes::Categories { levels } => levels_ui(ui, levels),
    }
}

/// The prior's heights, dashed as priors are everywhere; the data in the accent. Each is as high as the picture.
fn cells_ui(ui: &mut Ui, cells: &Cells, mark: Option<f64>, caption: &str) {
    let t = tokens();
    let p = Palette::of(ui);
    let prior = Stroke::new(t.stroke.prior, p.prior);
    let data = Stroke::new(t.stroke.curve_selected, p.accent);
    let is_share = mark.is_some() || (cells.from, cells.to) == (0.0, 1.0);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = t.space.x3;
        ui.label(Text::Caption.rich(caption, p.text_secondary));
        legend_entry(ui, Sign::Line(prior, &t.dash.prior), "prior");
        if !cells.data.is_empty() {
            legend_entry(ui, Sign::Line(data, &[]), "data");
        }
    });
    let (outer, response) =
        ui.allocate_exact_size(vec2(ui.available_width(), HEIGHT), Sense::hover());
    let title = format!("What the prior expects: {caption}");
    picture_table_ui(ui, (outer, response.id), &title, || table(cells));
    let head = if mark.is_some() {
        Text::Caption.line()
    } else {
        0.0
    };
    let foot = Text::Caption.line() + t.space.x1;
    let frame = Rect::from_min_max(
        outer.min + vec2(t.space.x2, head),
        outer.max - vec2(t.space.x3, foot),
    );
    let x = |value: f64| {
        frame.left() + ((value - cells.from) / (cells.to - cells.from)) as f32 * frame.width()
    };
    let painter = ui.painter();
    let mut shapes = Vec::new();
    let outline = outline(&cells.prior, frame);
    shapes.push(area(
        &outline,
        frame.bottom(),
        faded(p.prior, t.alpha.histogram * 0.4),
    ));
    paint::dashed(outline, prior, &t.dash.prior, &mut shapes);
    if !cells.data.is_empty() {
        shapes.push(Shape::line(self::outline(&cells.data, frame), data));
    }
    painter.extend(shapes);
    painter.hline(
        frame.x_range(),
        frame.bottom(),
        Stroke::new(t.stroke.hair, p.axis),
    );
    let count = 4;
    let ticks = match cells.logarithmic {
        true => log_ticks(cells.from, cells.to, count),
        false => linear_ticks(cells.from, cells.to, count),
    };
    for (value, label) in ticks {
        let label = if is_share {
            number::percent(value, 1)
        } else {
            label
        };
        axis_label(ui, frame, x(value), &label, p.text_secondary);
    }
    if let Some(share) = mark {
        let at = x(share);
        ui.painter().vline(at, frame.y_range(), data);
        let words = format!("your data: {}", number::percent(share, 10_000));
        let galley = paint::line(ui, &words, Text::Caption, p.accent, frame.width());
        let left = (at - galley.size().x / 2.0)
            .min(outer.right() - galley.size().x)
            .max(outer.left());
        paint::left_center(ui.painter(), left, outer.top() + head / 2.0, galley);
    }
}

fn table(cells: &Cells) -> PlotData<'_> {
    let count = cells.prior.len();
    let edge = move |k: usize| {
        let at = cells.from + (cells.to - cells.from) * k as f64 / count as f64;
        if cells.logarithmic {
            10_f64.powf(at) - 1.0
        } else {
            at
        }
    };
    let mut heads = vec!["from", "to", "prior"];
    if !cells.data.is_empty() {
        heads.push("data");
    }
    PlotData::new(heads, count, move |row, column| match column {
        0 | 1 => edge(row + column),
        2 => cells.prior[row],
        _ => cells.data[row],
    })
}

/// A label centred below `at`, inside the picture.
fn axis_label(ui: &Ui, frame: Rect, at: f32, label: &str, color: Color32) {
    let t = tokens();
    let galley = paint::line(ui, label, Text::Caption, color, frame.width());
    let half = galley.size().x / 2.0;
    let (least, most) = (frame.left() - t.space.x2, frame.right() + t.space.x3);
    let left = (at - half).min(most - 2.0 * half).max(least);
    let tick = Stroke::new(t.stroke.hair, Palette::of(ui).axis);
    ui.painter()
        .vline(at, frame.bottom()..=frame.bottom() + 3.0, tick);
    let y = frame.bottom() + t.space.x1 + Text::Caption.line() / 2.0;
    paint::left_center(ui.painter(), left, y, galley);
}

/// Steps along the heights, the highest at the top.
fn outline(heights: &[f64], frame: Rect) -> Vec<Pos2> {
    let highest = heights.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let step = frame.width() / heights.len().max(1) as f32;
    let y = |height: f64| frame.bottom() - (height / highest) as f32 * (frame.height() - 2.0);
    let mut points = vec![frame.left_bottom()];
    for (k, &height) in heights.iter().enumerate() {
        let left = frame.left() + k as f32 * step;
        points.extend([pos2(left, y(height)), pos2(left + step, y(height))]);
    }
    points.push(frame.right_bottom());
    points
}

/// Per category the interval that holds nine in ten shares under the prior, its median, and the share in the data.
fn levels_ui(ui: &mut Ui, levels: &[Category]) {
    let t = tokens();
    let p = Palette::of(ui);
    ui.label(Text::Caption.rich(
        "Nine in ten shares that the prior expects, with those of the data",
        p.text_secondary,
    ));
    let name_width = ui.available_width() * 0.3;
    let height = ROW * levels.len().min(MOST_ROWS) as f32;
    let rows = Rect::from_min_size(
        ui.available_rect_before_wrap().min,
        vec2(ui.available_width(), height),
    );
    let id = ui.make_persistent_id("levels");
    picture_table_ui(ui, (rows, id), "Shares that the prior expects", || {
        let names = levels.iter().map(|level| level.name.as_str()).collect();
        let heads = ["5%", "median", "95%", "data"];
        PlotData::new(heads, levels.len(), |row, column| {
            let [low, middle, high] = levels[row].interval;
            [low, middle, high, levels[row].data][column]
        })
        .named("category", names)
    });
    let gap = ui.spacing().item_spacing.y;
    ui.spacing_mut().item_spacing.y = 0.0;
    for level in levels.iter().take(MOST_ROWS) {
        let size = vec2(ui.available_width(), ROW);
        let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
        let [low, middle, high] = level.interval.map(|share| number::percent(share, 1));
        let words = format!(
            "{}: {low} to {high}, typically {middle}; data {}",
            level.name,
            number::percent(level.data, 10_000)
        );
        response.widget_info(|| WidgetInfo::labeled(Role::Image, true, words.clone()));
        response.on_hover_text(words.clone());
        let y = rect.center().y;
        let name = paint::line(ui, &level.name, Text::Caption, p.text_secondary, name_width);
        paint::left_center(ui.painter(), rect.left(), y, name);
        let from = rect.left() + name_width + t.space.x2;
        let x = |share: f64| from + share as f32 * (rect.right() - t.space.x3 - from);
        let [low, middle, high] = level.interval.map(x);
        let painter = ui.painter();
        painter.hline(low..=high, y, Stroke::new(t.stroke.interval_90, p.prior));
        painter.vline(
            middle,
            y - 4.0..=y + 4.0,
            Stroke::new(t.stroke.prior, p.prior),
        );
        painter.circle_filled(pos2(x(level.data), y), 3.5, p.accent);
    }
    shares_axis(ui, name_width);
    ui.spacing_mut().item_spacing.y = gap;
    if levels.len() > MOST_ROWS {
        hint(ui, &format!("and {} more", levels.len() - MOST_ROWS));
    }
}

/// The axis below the intervals of shares.
fn shares_axis(ui: &mut Ui, name_width: f32) {
    let t = tokens();
    let p = Palette::of(ui);
    let height = Text::Caption.line() + t.space.x2;
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::hover());
    let left = rect.left() + name_width + t.space.x2;
    let right = rect.right() - t.space.x3;
    let line = Rect::from_min_max(pos2(left, rect.top()), pos2(right, rect.top()));
    ui.painter().hline(
        line.x_range(),
        line.bottom(),
        Stroke::new(t.stroke.hair, p.axis),
    );
    for share in [0.0, 0.5, 1.0] {
        let at = left + share * (right - left);
        let label = number::percent(f64::from(share), 1);
        axis_label(ui, line, at, &label, p.text_secondary);
    }
}
