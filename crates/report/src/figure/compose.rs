//! A figure as a drawing: its panels with axes, marks and legend at their places.

use super::axis::AxisKind;
use super::drawing::{Anchor, Drawing, Element, number};
use super::ink::Ink;
use super::layout::{LABEL_GAP, Layout, SMALL, SWATCH, SWATCH_GAP, TICK, TITLE, x_most, y_most};
use super::place::Place;
use super::points::Points;
use super::shape::Shape as _;
use super::width::{fitted, width};
use super::{Figure, Key, Panel, Swatch};

/// Thickness of axes and of lines behind the marks.
const HAIR: f64 = 0.6;
/// Letters stand this much of their size below their middle.
const BASELINE: f64 = 0.36;

/// The drawing of a figure, and its width and height in points.
pub fn compose(figure: &Figure) -> (Drawing, [f64; 2]) {
    let layout = Layout::of(figure);
    let [width, height] = layout.size;
    let mut out = Drawing::default();
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
    (out, layout.size)
}

/// What stands before the words of a key, whose line is at `y`.
fn swatch(key: &Key, [x, y]: [f64; 2], out: &mut Drawing) {
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
    let neighbours = k + 1..row_end.min(figure.panels.len());
    let is_free = |at: &usize| {
        figure.panels[*at]
            .as_ref()
            .is_none_or(|panel| panel.title.is_empty())
    };
    let last = neighbours.take_while(is_free).last();
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
    out: &mut Drawing,
) {
    let rows = matches!(panel.y.kind, AxisKind::Rows(_));
    let y_labels = panel.y.labels(y_most(place.height));
    for (value, _) in y_labels.iter().filter(|_| !rows) {
        let y = number(place.at_y(*value));
        let path = format!("M{} {y}H{}", number(place.left), number(place.right()));
        out.path(&path, Ink::Grid, HAIR, "");
    }
    out.elements.push(Element::Clip {
        at: [place.left, place.top, place.width, place.height],
        id: clip.to_owned(),
    });
    for mark in &panel.marks {
        mark.shape.draw(mark.ink, place, out);
    }
    out.elements.push(Element::EndClip);
    axes(panel, place, (&y_labels, layout, title_room), out);
}

fn axes(
    panel: &Panel,
    place: &Place,
    (y_labels, layout, title_room): (&[(f64, String)], &Layout, f64),
    out: &mut Drawing,
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
