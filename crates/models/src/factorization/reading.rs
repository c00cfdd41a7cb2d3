//! From a design to ratings.

use super::TEMPLATE;
use crate::ModelError;
use crate::design::{Design, ResponseKind};
use ergodic_base::INTERCEPT;

/// Ratings of items by users.
pub(super) struct Table {
    /// Columns of users and of items.
    pub names: [String; 2],
    /// Users and items.
    pub levels: [Vec<String>; 2],
    /// User and item of each row.
    index: [Vec<u32>; 2],
    /// N ratings.
    pub y: Vec<f64>,
    weights: Option<Vec<f64>>,
    /// m.
    pub mean: f64,
}

fn unfit(why: impl Into<String>) -> ModelError {
    ModelError::unfit(TEMPLATE, why)
}

impl Table {
    /// The ratings of a design.
    ///
    /// # Errors
    /// Anything but a number explained by two groupings alone.
    pub fn read(design: &Design) -> Result<Self, ModelError> {
        let [first, second] = design.group_terms.as_slice() else {
            return Err(unfit(format!(
                "needs two groupings, users and items, and the formula has {}; write `rating ~ (1 | user) + (1 | item)`",
                design.group_terms.len()
            )));
        };
        if !matches!(design.response.kind, ResponseKind::Number { .. }) {
            return Err(unfit("needs a numeric outcome"));
        }
        if let ResponseKind::Number {
            function: Some(_), ..
        } = design.response.kind
        {
            return Err(unfit(format!(
                "explains the outcome as it is; make a column of `{}`",
                design.response.name
            )));
        }
        let groups = [first, second].map(|term| &design.groups[term.factor]);
        for (term, group) in [first, second].into_iter().zip(groups) {
            if term.names != [INTERCEPT] {
                return Err(unfit(format!(
                    "has no slopes that vary by group; write `(1 | {})`",
                    group.name
                )));
            }
        }
        if first.factor == second.factor {
            return Err(unfit(format!(
                "needs two groupings that differ, and the formula has `{}` twice; write users and items",
                groups[0].name
            )));
        }
        let columns = usize::from(design.has_intercept);
        if let Some(term) = design.terms.get(columns) {
            return Err(unfit(format!(
                "has no predictors besides users and items; leave `{}` out",
                String::from(term)
            )));
        }
        if design.offset.is_some() {
            return Err(unfit("takes no offsets; leave `offset(…)` out"));
        }
        Ok(Self {
            names: groups.map(|group| group.name.clone()),
            levels: groups.map(|group| group.levels.clone()),
            index: groups.map(|group| group.index.clone()),
            y: design.y.clone(),
            weights: design.weights.clone(),
            mean: if design.has_intercept {
                design.response_units()[0]
            } else {
                0.0
            },
        })
    }

    /// User and item of a row.
    #[inline]
    pub fn groups_of(&self, row: usize) -> [usize; 2] {
        [self.index[0][row] as usize, self.index[1][row] as usize]
    }

    /// How much a row counts.
    #[inline]
    pub fn weight(&self, row: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[row])
    }
}
