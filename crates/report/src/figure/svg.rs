//! Figures as SVG 1.1: lengths in points, words as text in whatever the viewer has for sans-serif, no scripts, nothing to load.

use super::Figure;
use super::compose::compose;
use super::drawing::{Anchor, Element, RING, number};
use super::ink::Ink;
use crate::xml::escape;

impl Anchor {
    fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }
}

impl Element {
    /// The element, or where one begins or ends.
    fn to_svg(&self) -> String {
        match self {
            Self::Line {
                path,
                ink,
                thickness,
                dash,
            } => {
                let dash = match dash.as_str() {
                    "" => String::new(),
                    dash => format!(" stroke-dasharray=\"{dash}\""),
                };
                format!(
                    "<path class=\"s-{}\" d=\"{path}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{dash}/>\n",
                    ink.class(),
                    ink.on_paper(),
                    number(*thickness)
                )
            }
            Self::Area { path, ink, opacity } => {
                format!("<path {} d=\"{path}\"/>\n", fill(*ink, *opacity))
            }
            Self::Rectangle { at, ink, opacity } => {
                let [x, y, width, height] = at.map(number);
                format!(
                    "<rect {} x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>\n",
                    fill(*ink, *opacity)
                )
            }
            Self::Dots { dots, ink, opacity } => {
                let mut text = format!("<g {}>\n", fill(*ink, *opacity));
                for (at, radius) in dots {
                    let ([x, y], radius) = (at.map(number), number(*radius));
                    text.push_str(&format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>\n"));
                }
                text + "</g>\n"
            }
            Self::Ring { at, radius, ink } => {
                let ([x, y], radius) = (at.map(number), number(*radius));
                format!(
                    "<circle class=\"f-paper s-{}\" cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{}\" stroke=\"{}\" \
                     stroke-width=\"{}\"/>\n",
                    ink.class(),
                    Ink::Paper.on_paper(),
                    ink.on_paper(),
                    number(RING)
                )
            }
            Self::Words {
                at,
                words,
                ink,
                size,
                anchor,
            } => {
                let [x, y] = at.map(number);
                format!(
                    "<text {} x=\"{x}\" y=\"{y}\" font-size=\"{}\" text-anchor=\"{}\">{}</text>\n",
                    fill(*ink, 1.0),
                    number(*size),
                    anchor.word(),
                    escape(words)
                )
            }
            Self::Clip { at, id } => {
                let [left, top, wide, high] = at.map(number);
                format!(
                    "<clipPath id=\"{id}\"><rect x=\"{left}\" y=\"{top}\" width=\"{wide}\" height=\"{high}\"/></clipPath>\n\
                     <g clip-path=\"url(#{id})\" stroke-linejoin=\"round\">\n"
                )
            }
            Self::EndClip => "</g>\n".to_owned(),
        }
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
    let (drawing, [width, height]) = compose(figure);
    let body: String = drawing.elements.iter().map(Element::to_svg).collect();
    let height_mm = figure.width_mm * height / width;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{}mm\" height=\"{}mm\" viewBox=\"0 0 {} {}\" \
         font-family=\"sans-serif\">\n<title>{}</title>\n<desc>{}</desc>\n{body}</svg>\n",
        number(figure.width_mm),
        number(height_mm),
        number(width),
        number(height),
        escape(&figure.title.replace('`', "")),
        escape(&figure.caption().replace('`', "")),
    )
}
