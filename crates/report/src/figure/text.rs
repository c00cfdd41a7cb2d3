//! Words at a place of a panel.

use super::drawing::{Anchor, Drawing};
use super::drawn::Drawn;
use super::ink::Ink;
use super::place::Place;
use super::shape::{Extent, Shape};

/// Words that begin at a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// Where.
    pub at: [f64; 2],
    /// What is written.
    pub words: String,
}

/// Distance from the place, in points.
const GAP: f64 = 2.5;

impl Shape for Text {
    fn kind(&self) -> &'static str {
        "text"
    }

    fn extent(&self) -> Extent {
        Extent::NONE
    }

    fn draw(&self, ink: Ink, place: &Place, out: &mut Drawing) {
        let [x, y] = [place.at_x(self.at[0]) + GAP, place.at_y(self.at[1]) - GAP];
        out.text([x, y], &self.words, ink, Anchor::Start);
    }

    fn drawn(&self, out: &mut dyn FnMut(Drawn)) {
        out(Drawn {
            label: self.words.clone(),
            ..Drawn::at(self.at[0], self.at[1])
        });
    }
}
