//! The view of a model that predicts new rows from one linear predictor.

use crate::families::Outcome;
use crate::families::unordered::Unordered;

/// How an outcome follows from the linear predictors of its row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// It is around one.
    One(Outcome),
    /// It is a level, and each but the first has one.
    Levels(Unordered),
}

impl Law {
    /// Linear predictors of a row, L.
    pub fn num_predictors(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Levels(levels) => levels.num_predictors(),
        }
    }
}

/// A draw on the scale of the data: with columns x as they are, the linear predictor of a row is x'b + offset + Σ_t z_t'r_t of
/// its groups.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Coefficients b (P), of groups their population's; of several linear predictors those of one after the other (L × P).
    pub coefficients: Vec<f64>,
    /// What follows from the linear predictors.
    pub law: Law,
    /// One per group term of the design.
    pub terms: Vec<PointTerm>,
}

/// The effects of one group term in a draw.
#[derive(Clone, Debug, PartialEq)]
pub struct PointTerm {
    /// Deviations of groups from the population, groups × q, row-major.
    pub effects: Vec<f64>,
    /// L with LL' their covariance, q × q, row-major.
    pub factor: Vec<f64>,
}

/// The view of a model that predicts outcomes of new rows from one linear predictor.
pub trait Predicts {
    /// A draw from its reported quantities (Q); `None` where these are no draw of this model.
    fn point(&self, theta: &[f64]) -> Option<Point>;
}
