//! What the pictures of predictive checks show: observed numbers at places, over what the model says of them.
//!
//! The window and files draw the same.

use super::overlay::Overlay;
use super::pit::{Pit, STEPS};
use super::residuals::{Along, Residuals};
use super::rootogram::Rootogram;
use super::{Band, Check, Picture};
use ergodic_base::shown::capitalised;
use ergodic_diagnostics::quantiles::NORMAL_90;

/// How observed numbers are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// A line over a band.
    Curve,
    /// Dots over intervals.
    Dots,
}

/// Observed numbers at one place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Where.
    pub x: f64,
    /// What was observed.
    pub observed: f64,
    /// What the model expects.
    pub middle: f64,
    /// The range that the model expects: 5 % on either side are outside.
    pub ends: [f64; 2],
}

impl Place {
    fn new(x: f64, observed: f64, middle: f64, band: Band) -> Self {
        Self {
            x,
            observed,
            middle,
            ends: [band.lower, band.upper],
        }
    }

    /// Place, observed, expected, and the ends of the range.
    pub fn numbers(&self) -> [f64; 5] {
        let [lower, upper] = self.ends;
        [self.x, self.observed, self.middle, lower, upper]
    }
}

/// A picture of a predictive check.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    /// What the picture shows.
    pub name: String,
    /// What stands from left to right.
    pub x_title: String,
    /// What stands from bottom to top.
    pub y_title: &'static str,
    /// What is expected.
    pub middle: &'static str,
    /// How the picture is drawn.
    pub look: Look,
    /// Names of the places, where they are levels and not numbers.
    pub levels: Option<Vec<String>>,
    /// From left to right.
    pub places: Vec<Place>,
}

impl Drawing {
    /// The ends of the axes of x and y where they would be these with some room: those of a curve from 0 on begin there, that of y
    /// unless something lies below.
    pub fn axes(&self, [mut x, mut y]: [(f64, f64); 2]) -> [(f64, f64); 2] {
        let is_from_zero = self.places.first().is_some_and(|first| first.x == 0.0);
        if self.look == Look::Curve && is_from_zero {
            x.0 = x.0.max(0.0);
            let mut numbers = self.places.iter().flat_map(|it| {
                let [_x, numbers @ ..] = it.numbers();
                numbers
            });
            if !numbers.any(|y| y < 0.0) {
                y.0 = y.0.max(0.0);
            }
        }
        [x, y]
    }
}

impl Check {
    /// The distribution function of numbers.
    pub fn ecdf_drawn(&self) -> Option<Drawing> {
        match &self.picture {
            Picture::Overlay(overlay) => Some(overlay.ecdf_drawn(self.response.column())),
            _ => None,
        }
    }

    /// The density of numbers.
    pub fn density_drawn(&self) -> Option<Drawing> {
        match &self.picture {
            Picture::Overlay(overlay) => Some(overlay.density_drawn(self.response.column())),
            _ => None,
        }
    }

    /// The share of censored numbers above each value.
    pub fn survival_drawn(&self) -> Option<Drawing> {
        let Picture::Survival(survival) = &self.picture else {
            return None;
        };
        let column = self.response.column();
        Some(Drawing {
            name: format!(
                "{} of {column}, observed and replicated",
                capitalised(survival.curve())
            ),
            x_title: column.to_owned(),
            y_title: "share above",
            middle: "replicated",
            look: Look::Curve,
            levels: None,
            places: (survival.points.iter())
                .map(|it| Place::new(it.at, it.observed, it.replicated.median, it.replicated))
                .collect(),
        })
    }

    /// Frequencies of counts.
    pub fn rootogram_drawn(&self) -> Option<Drawing> {
        match &self.picture {
            Picture::Rootogram(rootogram) => Some(rootogram.drawn(self.response.column())),
            _ => None,
        }
    }

    /// Calibration of probabilities.
    pub fn calibration_drawn(&self) -> Option<Drawing> {
        let Picture::Calibration(calibration) = &self.picture else {
            return None;
        };
        let points = calibration.points.iter();
        Some(Drawing {
            name: "Observed shares along predicted probabilities".to_owned(),
            x_title: "predicted probability".to_owned(),
            y_title: "observed share",
            middle: "if calibrated",
            look: Look::Curve,
            levels: None,
            places: points
                .map(|it| Place::new(it.predicted, it.observed, it.predicted, it.consistent))
                .collect(),
        })
    }

    /// Mean residuals along one of the columns.
    pub fn residuals_drawn(&self, residuals: &Residuals) -> Drawing {
        let outcome = &self.response.name;
        let along = residuals.along.words();
        let means = residuals.means.iter();
        let levels: Option<Vec<String>> = means.clone().map(|mean| mean.level.clone()).collect();
        Drawing {
            name: format!("Mean residuals of {outcome} along {along}"),
            x_title: match &residuals.along {
                Along::Expected => format!("expected {outcome}"),
                other => other.name().to_owned(),
            },
            y_title: "mean residual",
            middle: "replicated",
            look: Look::Dots,
            levels,
            places: means
                .map(|it| Place::new(it.at, it.observed, it.replicated.median, it.replicated))
                .collect(),
        }
    }

    /// Realised shares along one of the columns over predicted probabilities; `None` of outcomes that are not yes or no.
    pub fn shares_drawn(&self, residuals: &Residuals) -> Option<Drawing> {
        if !self.is_of_shares() {
            return None;
        }
        let drawing = self.residuals_drawn(residuals);
        let along = residuals.along.words();
        Some(Drawing {
            name: format!("Realised shares of {} along {along}", self.response.name),
            x_title: match &residuals.along {
                Along::Expected => "mean predicted probability".to_owned(),
                _ => drawing.x_title,
            },
            y_title: "share",
            middle: "predicted",
            places: (residuals.means.iter())
                .map(|it| Place::new(it.at, it.share(), it.expected, it.shares()))
                .collect(),
            ..drawing
        })
    }
}

impl Overlay {
    fn ecdf_drawn(&self, column: &str) -> Drawing {
        Drawing {
            name: format!("Distribution function of {column}, observed and replicated"),
            x_title: column.to_owned(),
            y_title: "share below",
            middle: "replicated",
            look: Look::Curve,
            levels: None,
            places: (self.ecdf.iter())
                .map(|it| Place::new(it.at, it.observed, it.replicated.median, it.replicated))
                .collect(),
        }
    }

    fn density_drawn(&self, column: &str) -> Drawing {
        let place = |it: &super::overlay::DensityBar| {
            let middle = 0.5 * (it.ends[0] + it.ends[1]);
            Place::new(middle, it.observed, it.replicated.median, it.replicated)
        };
        Drawing {
            name: format!("Density of {column}, observed and replicated"),
            x_title: column.to_owned(),
            y_title: "density",
            middle: "replicated",
            look: Look::Curve,
            levels: None,
            places: self.density.iter().map(place).collect(),
        }
    }
}

impl Rootogram {
    fn drawn(&self, column: &str) -> Drawing {
        let root = |band: Band| Band {
            lower: band.lower.sqrt(),
            median: band.median.sqrt(),
            upper: band.upper.sqrt(),
        };
        Drawing {
            name: format!("Square roots of how often each {column} occurs"),
            x_title: column.to_owned(),
            y_title: "root of rows",
            middle: "expected",
            look: Look::Dots,
            levels: self.bars.iter().map(|bar| bar.level.clone()).collect(),
            places: (self.bars.iter())
                .map(|it| {
                    let (observed, expected) = (it.observed.sqrt(), it.expected.sqrt());
                    Place::new(it.from, observed, expected, root(it.replicated))
                })
                .collect(),
        }
    }
}

impl Pit {
    /// The distribution function of transforms less that of uniform values.
    pub fn drawn(&self) -> Drawing {
        let n = self.values.len() as f64;
        let place = |(k, below): (usize, &f64)| {
            let x = k as f64 / STEPS as f64;
            let half = NORMAL_90 * (x * (1.0 - x) / n).sqrt();
            let band = Band {
                lower: -half,
                median: 0.0,
                upper: half,
            };
            Place::new(x, below - x, 0.0, band)
        };
        Drawing {
            name: "LOO-PIT: distribution function less that of uniform values".to_owned(),
            x_title: "place of an outcome in its predictive distribution".to_owned(),
            y_title: "difference",
            middle: "if uniform",
            look: Look::Curve,
            levels: None,
            places: self.curve.iter().enumerate().map(place).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_begins_at_zero_unless_something_lies_below() {
        let drawing = |look, lower| Drawing {
            name: String::new(),
            x_title: String::new(),
            y_title: "",
            middle: "",
            look,
            levels: None,
            places: vec![Place {
                x: 0.0,
                observed: 0.2,
                middle: 0.1,
                ends: [lower, 0.3],
            }],
        };
        let begins = |drawing: Drawing| drawing.axes([(-0.5, 1.0); 2]).map(|(begin, _)| begin);
        assert_eq!(begins(drawing(Look::Curve, 0.0)), [0.0, 0.0]);
        assert_eq!(begins(drawing(Look::Curve, -0.1)), [0.0, -0.5]);
        assert_eq!(begins(drawing(Look::Dots, 0.0)), [-0.5, -0.5]);
    }
}
