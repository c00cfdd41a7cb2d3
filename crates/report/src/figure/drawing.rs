//! What a figure is drawn of: lines, areas, dots and words at their places in points, which files of every kind are written from.

use super::ink::Ink;
use super::layout::SMALL;

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

/// A part of a drawing; the later ones lie on top. Paths are in the notation of SVG.
#[derive(Clone, Debug, PartialEq)]
pub enum Element {
    /// A line along a path.
    Line {
        /// Where.
        path: String,
        /// Colour of the line.
        ink: Ink,
        /// Thickness of the line.
        thickness: f64,
        /// Lengths of dashes and gaps; empty for a solid line.
        dash: String,
    },
    /// The area within a path.
    Area {
        /// Edge of the area.
        path: String,
        /// Colour of the area.
        ink: Ink,
        /// 1 where nothing shows through.
        opacity: f64,
    },
    /// A rectangle: left, top, width, height.
    Rectangle {
        /// Where.
        at: [f64; 4],
        /// Colour of the rectangle.
        ink: Ink,
        /// 1 where nothing shows through.
        opacity: f64,
    },
    /// Filled circles: place and radius of each.
    Dots {
        /// Where, and how large.
        dots: Vec<([f64; 2], f64)>,
        /// Colour of the circles.
        ink: Ink,
        /// Of each; where many lie over each other it is darker.
        opacity: f64,
    },
    /// A circle that is empty inside.
    Ring {
        /// Middle of the circle.
        at: [f64; 2],
        /// Radius of the circle.
        radius: f64,
        /// Colour of the circle.
        ink: Ink,
    },
    /// Words on the line through a place.
    Words {
        /// The place.
        at: [f64; 2],
        /// The words.
        words: String,
        /// Colour of the words.
        ink: Ink,
        /// Size of the words.
        size: f64,
        /// Which end of them the place is.
        anchor: Anchor,
    },
    /// What follows shows only within a rectangle.
    Clip {
        /// Left, top, width, height.
        at: [f64; 4],
        /// Tells it from the others.
        id: String,
    },
    /// The end of that.
    EndClip,
}

/// Thickness of a ring.
pub const RING: f64 = 1.1;

/// The elements of a picture.
#[derive(Debug, Default)]
pub struct Drawing {
    /// In the order in which they are drawn.
    pub elements: Vec<Element>,
}

/// A length or a place: hundredths of a point are finer than anything prints.
pub fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0" } else { text }.to_owned()
}

impl Drawing {
    /// A line along `path`.
    pub fn path(&mut self, path: &str, ink: Ink, thickness: f64, dash: &str) {
        let (path, dash) = (path.to_owned(), dash.to_owned());
        self.elements.push(Element::Line {
            path,
            ink,
            thickness,
            dash,
        });
    }

    /// The area within `path`.
    pub fn area(&mut self, path: &str, ink: Ink, opacity: f64) {
        let path = path.to_owned();
        self.elements.push(Element::Area { path, ink, opacity });
    }

    /// A rectangle: left, top, width, height.
    pub fn rectangle(&mut self, at: [f64; 4], ink: Ink, opacity: f64) {
        self.elements.push(Element::Rectangle { at, ink, opacity });
    }

    /// Filled circles: place and radius of each.
    pub fn dots(&mut self, dots: impl Iterator<Item = ([f64; 2], f64)>, ink: Ink, opacity: f64) {
        let dots = dots.collect();
        self.elements.push(Element::Dots { dots, ink, opacity });
    }

    /// A circle that is empty inside.
    pub fn ring(&mut self, at: [f64; 2], radius: f64, ink: Ink) {
        self.elements.push(Element::Ring { at, radius, ink });
    }

    /// Small words on the line through `at`.
    pub fn text(&mut self, at: [f64; 2], words: &str, ink: Ink, anchor: Anchor) {
        self.text_of(at, words, (ink, SMALL), anchor);
    }

    /// Words of any size on the line through `at`.
    pub fn text_of(&mut self, at: [f64; 2], words: &str, (ink, size): (Ink, f64), anchor: Anchor) {
        self.elements.push(Element::Words {
            at,
            words: words.to_owned(),
            ink,
            size,
            anchor,
        });
    }
}
