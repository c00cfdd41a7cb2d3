//! A panel: two axes and what is drawn between them.

use super::axis::Axis;
use super::ink::Ink;
use super::shape::{Extent, Shape};

/// Something drawn, with its colour and the name of what it is.
#[derive(Debug)]
pub struct Mark {
    /// What the mark shows, such as `chain 1`.
    pub series: String,
    /// Colour of the mark.
    pub ink: Ink,
    /// What is drawn.
    pub shape: Box<dyn Shape>,
}

/// Two axes and marks, the last on top.
#[derive(Debug)]
pub struct Panel {
    /// What the panel is of, above the frame; empty where the figure's title says it.
    pub title: String,
    /// From left to right.
    pub x: Axis,
    /// From bottom to top.
    pub y: Axis,
    /// What is drawn.
    pub marks: Vec<Mark>,
}

impl Panel {
    /// A panel without marks.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self {
            title: title.into(),
            x,
            y,
            marks: Vec::new(),
        }
    }

    /// Draws `shape` over what is there.
    pub fn add(&mut self, series: impl Into<String>, ink: Ink, shape: impl Shape + 'static) {
        self.marks.push(Mark {
            series: series.into(),
            ink,
            shape: Box::new(shape),
        });
    }

    /// How far all marks reach.
    pub fn extent(&self) -> Extent {
        let extents = self.marks.iter().map(|mark| mark.shape.extent());
        extents.fold(Extent::NONE, Extent::and)
    }
}
