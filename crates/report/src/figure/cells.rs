//! A matrix of shares as shaded cells.

use super::drawing::{Drawing, number};
use super::drawn::Drawn;
use super::ink::Ink;
use super::place::Place;
use super::shape::{Extent, Shape};

/// A square matrix of shares between 0, which leaves a cell empty, and 1. The first row lies at y from 0 to 1, the first column at x from
/// 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Cells {
    /// What rows and columns are called, for the table of what is drawn.
    pub names: Vec<String>,
    /// Row by row, as many in each as there are names.
    pub shares: Vec<f64>,
}

/// Shades that are told apart: cells of one shade are one area, without seams between them.
const SHADES: usize = 20;

impl Cells {
    fn side(&self) -> usize {
        self.names.len()
    }

    fn share(&self, row: usize, column: usize) -> f64 {
        let share = self.shares.get(row * self.side() + column);
        share.copied().unwrap_or(f64::NAN)
    }

    /// From 0, empty, to [`SHADES`].
    fn shade(&self, row: usize, column: usize) -> usize {
        // What is not a number is empty too.
        (self.share(row, column).clamp(0.0, 1.0) * SHADES as f64).round() as usize
    }
}

impl Shape for Cells {
    fn kind(&self) -> &'static str {
        "cell"
    }

    fn extent(&self) -> Extent {
        let side = self.side() as f64;
        Extent::of([[0.0, 0.0], [side, side]])
    }

    fn draw(&self, ink: Ink, place: &Place, out: &mut Drawing) {
        let side = self.side();
        for shade in 1..=SHADES {
            let mut path = String::new();
            for row in 0..side {
                let [top, bottom] = [row, row + 1].map(|y| number(place.at_y(y as f64)));
                let mut column = 0;
                while column < side {
                    let first = column;
                    while column < side && self.shade(row, column) == shade {
                        column += 1;
                    }
                    if column > first {
                        let [left, right] = [first, column].map(|x| number(place.at_x(x as f64)));
                        path.push_str(&format!(
                            "M{left} {top}L{right} {top}L{right} {bottom}L{left} {bottom}Z"
                        ));
                    } else {
                        column += 1;
                    }
                }
            }
            if !path.is_empty() {
                out.area(&path, ink, shade as f64 / SHADES as f64);
            }
        }
    }

    fn drawn(&self, out: &mut dyn FnMut(Drawn)) {
        for (row, name) in self.names.iter().enumerate() {
            for (column, other) in self.names.iter().enumerate() {
                let (x, y) = (column as f64, row as f64);
                out(Drawn {
                    label: format!("{name} and {other}"),
                    x_to: Some(x + 1.0),
                    y_to: Some(y + 1.0),
                    size: Some(self.share(row, column)),
                    ..Drawn::at(x, y)
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::drawing::Element;
    use super::*;

    #[test]
    fn cells_of_one_shade_are_one_area_and_empty_ones_are_none() {
        let cells = Cells {
            names: ["a", "b"].map(str::to_owned).to_vec(),
            shares: vec![1.0, 1.0, 0.0, 0.5],
        };
        let place = Place {
            left: 0.0,
            top: 0.0,
            width: 20.0,
            height: 20.0,
            x: (0.0, 2.0),
            y: (2.0, 0.0),
            logarithmic: [false; 2],
        };
        let mut out = Drawing::default();
        cells.draw(Ink::Posterior, &place, &mut out);
        let areas: Vec<(&str, f64)> = (out.elements.iter())
            .filter_map(|element| match element {
                Element::Area { path, opacity, .. } => Some((path.as_str(), *opacity)),
                _ => None,
            })
            .collect();
        // The first row is at the top, in one piece.
        let expected = [
            ("M10 10L20 10L20 20L10 20Z", 0.5),
            ("M0 0L20 0L20 10L0 10Z", 1.0),
        ];
        assert_eq!(areas, expected);
        let mut drawn = Vec::new();
        cells.drawn(&mut |it| drawn.push((it.label, it.size)));
        assert_eq!(drawn[2], ("b and a".to_owned(), Some(0.0)));
    }
}
