//! The view of a model that predicts new rows from one linear predictor.

use crate::families::Outcome;

/// A draw on the scale of the data: with columns x as they are, the linear predictor of a row is x'b + offset + Σ_t z_t'r_t of
/// its groups.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Coefficients b (P), of groups their population's.
    pub coefficients: Vec<f64>,
    /// Around the linear predictor.
    pub outcome: Outcome,
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
