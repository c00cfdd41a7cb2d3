//! Figures: panels with axes and marks in the units of the data, written as SVG or as a table of what is drawn.
//!
//! A new kind of mark is a file here that implements [`Shape`].

mod axis;
mod band;
mod bars;
mod boxes;
mod cells;
mod compose;
mod drawing;
pub mod drawn;
mod ink;
mod intervals;
mod layout;
mod line;
mod panel;
mod place;
pub mod png;
mod points;
mod rule;
mod shape;
mod spans;
pub mod svg;
mod text;
mod width;

pub use axis::{Axis, AxisKind};
pub use band::Band;
pub use bars::Bars;
pub use boxes::Boxes;
pub use cells::Cells;
pub use drawing::{Anchor, Drawing, Element};
pub use drawn::Drawn;
pub use ink::Ink;
pub(crate) use ink::{dark_style, page_color};
pub use intervals::{Interval, Intervals};
pub use line::Line;
pub use panel::{Mark, Panel};
pub use place::Place;
pub use points::{Points, Sign};
pub use rule::Rule;
pub use shape::{Extent, Shape};
pub use spans::Spans;
pub use text::Text;

/// Points in a millimetre: a point is 1/72 inch.
pub(crate) const POINTS_PER_MM: f64 = 72.0 / 25.4;
/// Default width of a figure in millimetres: the text of a page of A4.
pub(crate) const WIDTH_MM: f64 = 170.0;

/// What stands before the words of a legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swatch {
    /// A line, with the dash of its colour.
    Curve,
    /// A line without a dash.
    Dense,
    /// A point.
    Point(Sign),
}

/// A part of the legend.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// What the sign stands for.
    pub words: String,
    /// Colour of the sign.
    pub ink: Ink,
    /// How the sign is drawn.
    pub swatch: Swatch,
}

impl Key {
    /// A sign of this colour, and the words that it stands for.
    pub fn new(words: impl Into<String>, ink: Ink, swatch: Swatch) -> Self {
        Self {
            words: words.into(),
            ink,
            swatch,
        }
    }
}

/// A picture.
#[derive(Debug)]
pub struct Figure {
    /// Identifier of what it shows, such as `trace`.
    pub id: &'static str,
    /// What the figure shows, as a caption begins: "Trace of `b[age]`".
    pub title: String,
    /// What else must be known to read it: one sentence each.
    pub notes: Vec<String>,
    /// Width in millimetres.
    pub width_mm: f64,
    /// Height of each panel's frame in points.
    pub panel_height: f64,
    /// Panels beside each other.
    pub columns: usize,
    /// Row by row; `None` leaves a place free.
    pub panels: Vec<Option<Panel>>,
    /// The legend; empty where titles say all.
    pub legend: Vec<Key>,
}

impl Figure {
    /// A figure of one column, without panels.
    pub fn new(id: &'static str, title: String) -> Self {
        Self {
            id,
            title,
            notes: Vec::new(),
            width_mm: WIDTH_MM,
            panel_height: 90.0,
            columns: 1,
            panels: Vec::new(),
            legend: Vec::new(),
        }
    }

    /// Adds a sentence on how to read it.
    pub fn note(&mut self, sentence: impl Into<String>) {
        self.notes.push(sentence.into());
    }

    /// A vector picture as a file of its own, in the colours of the light theme.
    pub fn to_svg(&self) -> String {
        svg::write(self)
    }

    /// A picture of dots as a file of its own, in the colours of the light theme, for [`png::DOTS_PER_INCH`].
    ///
    /// # Errors
    /// It has more dots than a picture can have.
    pub fn to_png(&self) -> std::io::Result<Vec<u8>> {
        png::write(self, png::DOTS_PER_INCH)
    }

    /// A caption: title and notes, in sentences. Names stand between backticks.
    pub fn caption(&self) -> String {
        let mut text = format!("{}.", self.title);
        for note in &self.notes {
            text.push_str(&format!(" {note}."));
        }
        text
    }
}
