//! Painting that the widgets share: text on one line, the focus ring, hair lines, swatches.

use std::borrow::Cow;
use std::sync::Arc;

use eframe::egui::text::{LayoutJob, TextFormat, TextWrapping};
use eframe::egui::{
    Color32, Galley, LayerId, Order, Painter, Pos2, Rangef, Rect, Response, Shape, Stroke,
    StrokeKind, Ui, pos2, vec2,
};

use super::number::{MINUS, NARROW};
use crate::ui::theme::{Palette, Text, chain_dash, tokens};

/// `text` on one line, cut with an ellipsis at `max_width`.
///
/// Parts between backticks are identifiers: they are set in mono, without the backticks.
pub fn line(ui: &Ui, text: &str, role: Text, color: Color32, max_width: f32) -> Arc<Galley> {
    let mut job = job(text, role, color);
    job.wrap = TextWrapping {
        max_width,
        max_rows: 1,
        break_anywhere: true,
        ..TextWrapping::default()
    };
    ui.painter().layout_job(job)
}

/// `text` over as many lines as `max_width` needs; backticks as in [`line()`].
pub fn paragraph(ui: &Ui, text: &str, role: Text, color: Color32, max_width: f32) -> Arc<Galley> {
    // Lines are broken at every space but this one, also within numbers.
    let mut job = job(&text.replace(NARROW, "\u{a0}"), role, color);
    job.wrap.max_width = max_width;
    ui.painter().layout_job(job)
}

/// The layout of `text`, with identifiers between backticks in mono.
pub fn job(text: &str, role: Text, color: Color32) -> LayoutJob {
    let mut job = LayoutJob::default();
    let mono = match role {
        Text::Caption | Text::CaptionStrong => Text::CodeSmall,
        _ => Text::Code,
    };
    let mono_font = || match role {
        // An identifier in a heading keeps the heading's size, a little smaller because mono looks larger.
        Text::Verdict | Text::Heading | Text::Title => {
            eframe::egui::FontId::new(role.font().size - 2.0, Text::Code.font().family)
        }
        _ => mono.font(),
    };
    for (i, part) in text.split('`').enumerate() {
        if part.is_empty() {
            continue;
        }
        let code = i % 2 == 1 || matches!(role, Text::Code | Text::CodeSmall);
        let font_id = if i % 2 == 1 { mono_font() } else { role.font() };
        let part = if code { part.into() } else { typeset(part) };
        job.append(
            &part,
            0.0,
            TextFormat {
                font_id,
                color,
                line_height: Some(role.line()),
                valign: eframe::egui::Align::Center,
                ..TextFormat::default()
            },
        );
    }
    job
}

/// Prose of the engine as the screen writes it: the minus sign of numbers, and per cent without the space that would let
/// the sign fall to the next line.
fn typeset(text: &str) -> Cow<'_, str> {
    if !text.contains(" %") && !text.contains('-') {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 4);
    let mut chars = text.chars().peekable();
    let mut before = ' ';
    while let Some(one) = chars.next() {
        let next = chars.peek().copied().unwrap_or(' ');
        match one {
            ' ' if next == '%' && before.is_ascii_digit() => {}
            '-' if next.is_ascii_digit() && matches!(before, ' ' | '(') => out.push(MINUS),
            _ => out.push(one),
        }
        before = one;
    }
    out.into()
}

/// The plain words of a text with backticks, for screen readers.
pub fn words(text: &str) -> String {
    text.replace('`', "")
}

/// A text with backticks as tooltips write it.
pub fn hover_words(text: &str) -> String {
    typeset(&words(text)).into_owned()
}

/// Paints `galley` with its left edge at `x`, centred on `y`. Returns the rectangle it covers.
pub fn left_center(painter: &Painter, x: f32, y: f32, galley: Arc<Galley>) -> Rect {
    let pos = pos2(x, (y - galley.size().y / 2.0).round());
    let rect = Rect::from_min_size(pos, galley.size());
    painter.galley(pos, galley, Color32::PLACEHOLDER);
    rect
}

/// Paints `galley` with its right edge at `x`, centred on `y`. Returns the rectangle it covers.
pub fn right_center(painter: &Painter, x: f32, y: f32, galley: Arc<Galley>) -> Rect {
    let left = x - galley.size().x;
    left_center(painter, left, y, galley)
}

/// A painter for words in a cell that need the cells before it: what clips the cell clips them above and below only.
pub fn across_cells(ui: &Ui, x: Rangef) -> Painter {
    let mut painter = ui.painter().clone();
    painter.set_clip_rect(Rect::from_x_y_ranges(x, ui.clip_rect().y_range()));
    painter
}

/// Paints `galley` centred in `rect`.
pub fn centered(painter: &Painter, rect: Rect, galley: Arc<Galley>) {
    left_center(
        painter,
        rect.center().x - galley.size().x / 2.0,
        rect.center().y,
        galley,
    );
}

/// The ring around a control that has the keyboard: 2 points wide, 1 point outside.
pub fn focus_ring(ui: &Ui, response: &Response, rect: Rect, radius: f32) {
    if response.has_focus() {
        let stroke = Stroke::new(tokens().stroke.focus, Palette::of(ui).focus_ring);
        ui.painter()
            .rect_stroke(rect.expand(1.0), radius + 1.0, stroke, StrokeKind::Outside);
    }
}

/// The ring of a row that reaches its neighbours: inside, so that it is not cut off.
pub fn focus_ring_inside(ui: &Ui, response: &Response, rect: Rect) {
    if response.has_focus() {
        let stroke = Stroke::new(tokens().stroke.focus, Palette::of(ui).focus_ring);
        ui.painter()
            .rect_stroke(rect, 0.0, stroke, StrokeKind::Inside);
    }
}

/// A focus ring over everything that is painted there later.
pub fn focus_ring_above(ui: &Ui, response: &Response, rect: Rect) {
    if !response.has_focus() {
        return;
    }
    let t = tokens();
    let p = Palette::of(ui);
    let layer = LayerId::new(Order::Foreground, response.id);
    let painter = ui.ctx().layer_painter(layer).with_clip_rect(ui.clip_rect());
    let stroke = Stroke::new(t.stroke.focus, p.focus_ring);
    painter.rect_stroke(rect, 0.0, stroke, StrokeKind::Inside);
}

/// A separator of one point at the lower edge of `rect`.
pub fn hair_below(ui: &Ui, rect: Rect) {
    let stroke = Stroke::new(tokens().stroke.hair, Palette::of(ui).border_subtle);
    ui.painter()
        .hline(rect.x_range(), rect.bottom() - stroke.width / 2.0, stroke);
}

/// A line through `points` with a dash pattern (on and off lengths; empty is solid).
pub fn dashed(points: Vec<Pos2>, stroke: Stroke, dash: &[f32], shapes: &mut Vec<Shape>) {
    if dash.len() < 2 {
        shapes.push(Shape::line(points, stroke));
        return;
    }
    let on: Vec<f32> = dash.iter().step_by(2).copied().collect();
    let off: Vec<f32> = dash.iter().skip(1).step_by(2).copied().collect();
    shapes.extend(Shape::dashed_line_with_offset(
        &points, stroke, &on, &off, 0.0,
    ));
}

/// The sign of a chain in legends and rows: its colour and its dash, over the width of `rect`.
pub fn chain_swatch(ui: &Ui, rect: Rect, chain: usize) {
    swatch(
        ui.painter(),
        rect,
        Stroke::new(2.0, Palette::of(ui).chain(chain)),
        chain_dash(chain),
    );
}

/// A piece of a line in the middle of `rect`, as it looks in the plot.
pub fn swatch(painter: &Painter, rect: Rect, stroke: Stroke, dash: &[f32]) {
    let y = rect.center().y;
    let mut shapes = Vec::new();
    dashed(
        vec![pos2(rect.left(), y), pos2(rect.right(), y)],
        stroke,
        dash,
        &mut shapes,
    );
    painter
        .with_clip_rect(rect.expand2(vec2(0.5, 2.0)))
        .extend(shapes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_gets_the_signs_of_the_screen_and_code_stays() {
        assert_eq!(
            typeset("between -3 and 26 % (-0.5 to 1 %)"),
            "between \u{2212}3 and 26% (\u{2212}0.5 to 1%)"
        );
        for same in [
            "control-variate",
            "2020-11-05",
            "% of rows",
            "1 - 1/G",
            "a - b",
        ] {
            assert_eq!(typeset(same), same);
        }
        let job = job("`x -1` is -1", Text::Body, Color32::BLACK);
        assert_eq!(job.text, "x -1 is \u{2212}1");
    }
}
