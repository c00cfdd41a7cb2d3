//! Figures as SVG 1.1: lengths in points, words as text in whatever the viewer has for sans-serif, no scripts, nothing to load.

use super::axis::AxisKind;
use super::ink::Ink;
use super::layout::{LABEL_GAP, Layout, SMALL, SWATCH, SWATCH_GAP, TICK, TITLE, x_most, y_most};
use super::place::Place;
use super::points::Points;
use super::shape::Shape as _;
use super::width::{fitted, width};
use super::{Figure, Key, Panel, Swatch};
use crate::xml::escape;

/// Which end of a text its place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The left end.
    Start,
    /// The middle.
    Middle,
    /// The right end.
    End,
}

impl Anchor {
    fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }
}

/// Thickness of axes and of lines behind the marks.
const HAIR: f64 = 0.6;
/// Letters stand this much of their size below their middle.
const BASELINE: f64 = 0.36;

/// The elements of a picture.
#[derive(Debug, Default)]
pub struct Svg {
    body: String,
}

/// A length or a place: hundredths of a point are finer than anything prints.
pub fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0" } else { text }.to_owned()
}

impl Svg {
    /// A line along `path`.
    pub fn path(&mut self, path: &str, ink: Ink, thickness: f64, dash: &str) {
        let dash = match dash {
            "" => String::new(),
            dash => format!(" stroke-dasharray=\"{dash}\""),
        };
        self.body.push_str(&format!(
            "<path class=\"s-{}\" d=\"{path}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{dash}/>\n",
            ink.class(),
            ink.on_paper(),
            number(thickness)
        ));
    }

    /// The area within `path`.
    pub fn area(&mut self, path: &str, ink: Ink, opacity: f64) {
        let fill = fill(ink, opacity);
        self.body
            .push_str(&format!("<path {fill} d=\"{path}\"/>\n"));
    }

    /// A rectangle: left, top, width, height.
    pub fn rectangle(&mut self, at: [f64; 4], ink: Ink, opacity: f64) {
        let [x, y, width, height] = at.map(number);
        let fill = fill(ink, opacity);
        self.body.push_str(&format!(
            "<rect {fill} x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>\n"
        ));
    }

    /// Filled circles: place and radius of each.
    pub fn dots(&mut self, dots: impl Iterator<Item = ([f64; 2], f64)>, ink: Ink, opacity: f64) {
        self.body.push_str(&format!("<g {}>\n", fill(ink, opacity)));
        for (at, radius) in dots {
            let ([x, y], radius) = (at.map(number), number(radius));
            self.body
                .push_str(&format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>\n"));
        }
        self.body.push_str("</g>\n");
    }

    /// A circle that is empty inside.
    pub fn ring(&mut self, at: [f64; 2], radius: f64, ink: Ink) {
        let ([x, y], radius) = (at.map(number), number(radius));
        self.body.push_str(&format!(
            "<circle class=\"f-paper s-{}\" cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{}\" stroke=\"{}\" stroke-width=\"1.1\"/>\n",
            ink.class(),
            Ink::Paper.on_paper(),
            ink.on_paper()
        ));
    }

    /// Small words on the line through `at`.
    pub fn text(&mut self, at: [f64; 2], words: &str, ink: Ink, anchor: Anchor) {
        self.text_of(at, words, (ink, SMALL), anchor);
    }

    fn text_of(&mut self, at: [f64; 2], words: &str, (ink, size): (Ink, f64), anchor: Anchor) {
        let [x, y] = at.map(number);
        self.body.push_str(&format!(
            "<text {} x=\"{x}\" y=\"{y}\" font-size=\"{}\" text-anchor=\"{}\">{}</text>\n",
            fill(ink, 1.0),
            number(size),
            anchor.word(),
            escape(words)
        ));
    }
}

fn fill(ink: Ink, opacity: f64) -> String {
    let opacity = if opacity < 1.0 {
        format!(" fill-opacity=\"{}\"", number(opacity))
    } else {
        String::new()
    };
    format!(
        "class=\"f-{}\" fill=\"{}\"{opacity}",
        ink.class(),
        ink.on_paper()
    )
}

/// The picture as a file of its own.
pub fn write(figure: &Figure) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}",
        element(figure)
    )
}

/// The picture as an element of a page. Identifiers in it begin with the figure's, so that a page may have several figures.
pub fn element(figure: &Figure) -> String {
    let layout = Layout::of(figure);
    let [width, height] = layout.size;
    let mut out = Svg::default();
    out.rectangle([0.0, 0.0, width, height], Ink::Paper, 1.0);
    for (key, &[x, y]) in figure.legend.iter().zip(&layout.keys) {
        swatch(key, [x, y], &mut out);
        let at = [x + SWATCH + SWATCH_GAP, y + BASELINE * SMALL];
        out.text(at, &key.words, Ink::Muted, Anchor::Start);
    }
    let panels = figure.panels.iter().zip(&layout.frames).enumerate();
    for (k, (panel, place)) in panels {
        if let (Some(panel), Some(place)) = (panel, place) {
            let clip = format!("{}-{k}", figure.id);
            let room = title_end(figure, &layout, k) - place.left;
            draw(panel, place, (&clip, &layout, room), &mut out);
        }
    }
    let height_mm = figure.width_mm * height / width;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{}mm\" height=\"{}mm\" viewBox=\"0 0 {} {}\" \
         font-family=\"sans-serif\">\n<title>{}</title>\n<desc>{}</desc>\n{}</svg>\n",
        number(figure.width_mm),
        number(height_mm),
        number(width),
        number(height),
        escape(&figure.title.replace('`', "")),
        escape(&figure.caption().replace('`', "")),
        out.body
    )
}

/// What stands before the words of a key, whose line is at `y`.
fn swatch(key: &Key, [x, y]: [f64; 2], out: &mut Svg) {
    let dash = match key.swatch {
        Swatch::Curve => key.ink.dash(),
        Swatch::Dense => "",
        Swatch::Point(sign) => {
            let place = Place::of_one([x + 0.7 * SWATCH, y]);
            let points = Points {
                at: vec![[0.5, 0.5]],
                // Without others under it a dot needs more area to be seen.
                sizes: vec![2.5],
                sign,
            };
            points.draw(key.ink, &place, out);
            return;
        }
    };
    let path = format!("M{} {}h{SWATCH}", number(x), number(y));
    out.path(&path, key.ink, 1.4, dash);
}

/// Right end of what the title of panel `k` may take: the panels beside it that have none belong to it.
fn title_end(figure: &Figure, layout: &Layout, k: usize) -> f64 {
    let row_end = (k / figure.columns + 1) * figure.columns;
    let beside = k + 1..row_end.min(figure.panels.len());
    let is_free = |at: &usize| {
        figure.panels[*at]
            .as_ref()
            .is_none_or(|panel| panel.title.is_empty())
    };
    let last = beside.take_while(is_free).last();
    let ends = [last, Some(k)]
        .into_iter()
        .flatten()
        .filter_map(|at| layout.frames[at]);
    ends.map(|place| place.right()).fold(0.0, f64::max)
}

fn draw(
    panel: &Panel,
    place: &Place,
    (clip, layout, title_room): (&str, &Layout, f64),
    out: &mut Svg,
) {
    let rows = matches!(panel.y.kind, AxisKind::Rows(_));
    let y_labels = panel.y.labels(y_most(place.height));
    for (value, _) in y_labels.iter().filter(|_| !rows) {
        let y = number(place.at_y(*value));
        let path = format!("M{} {y}H{}", number(place.left), number(place.right()));
        out.path(&path, Ink::Grid, HAIR, "");
    }
    let [left, top] = [place.left, place.top].map(number);
    let [wide, high] = [place.width, place.height].map(number);
    out.body.push_str(&format!(
        "<clipPath id=\"{clip}\"><rect x=\"{left}\" y=\"{top}\" width=\"{wide}\" height=\"{high}\"/></clipPath>\n\
         <g clip-path=\"url(#{clip})\" stroke-linejoin=\"round\">\n"
    ));
    for mark in &panel.marks {
        mark.shape.draw(mark.ink, place, out);
    }
    out.body.push_str("</g>\n");
    axes(panel, place, (&y_labels, layout, title_room), out);
}

fn axes(
    panel: &Panel,
    place: &Place,
    (y_labels, layout, title_room): (&[(f64, String)], &Layout, f64),
    out: &mut Svg,
) {
    let bottom = place.bottom();
    let path = format!(
        "M{} {}H{}",
        number(place.left),
        number(bottom),
        number(place.right())
    );
    out.path(&path, Ink::Axis, HAIR, "");
    for (value, text) in y_labels {
        let at = [
            place.left - TICK - LABEL_GAP,
            place.at_y(*value) + BASELINE * SMALL,
        ];
        let text = fitted(text, SMALL, layout.name_room);
        out.text(at, &text, Ink::Muted, Anchor::End);
    }
    let label_y = bottom + TICK + LABEL_GAP + 0.75 * SMALL;
    let mut free = f64::NEG_INFINITY;
    for (value, text) in panel.x.labels(x_most(place.width)) {
        let x = place.at_x(value);
        let tick = format!("M{} {}v{TICK}", number(x), number(bottom));
        out.path(&tick, Ink::Axis, HAIR, "");
        let half = width(&text, SMALL) / 2.0;
        if x - half > free {
            free = x + half;
            out.text([x, label_y], &text, Ink::Muted, Anchor::Middle);
        }
    }
    let mut above = place.top - 4.0;
    if !panel.y.title.is_empty() {
        let title = fitted(&panel.y.title, SMALL, place.width);
        out.text([place.left, above], &title, Ink::Muted, Anchor::Start);
        above -= 10.0;
    }
    if !panel.title.is_empty() {
        let title = fitted(&panel.title, TITLE, title_room);
        out.text_of(
            [place.left, above],
            &title,
            (Ink::Text, TITLE),
            Anchor::Start,
        );
    }
    if !panel.x.title.is_empty() {
        let title = fitted(&panel.x.title, SMALL, place.width);
        let at = [place.left + place.width / 2.0, label_y + 10.0];
        out.text(at, &title, Ink::Muted, Anchor::Middle);
    }
}
