//! What the reported parameters of a job are measured in.

use super::Job;
use crate::templates;
use ergodic_base::Class;
use ergodic_core::design::ResponseKind;

impl Job {
    /// Whether parameters are reported that belong to predictors, so that they differ between predictors as they are and standardised
    /// ones.
    pub fn reports_predictors(&self) -> bool {
        let of_predictors = |class| {
            matches!(
                class,
                Class::Coefficient
                    | Class::LevelCoefficient
                    | Class::Mean
                    | Class::GroupCoefficient
            )
        };
        // In a text names such as `b` and `mu` say nothing of predictors.
        !templates::is_text(&self.recipe.model.template)
            && self.model.simplex().is_none()
            && (self.model.params().iter()).any(|param| of_predictors(param.name.class()))
    }

    /// Whether weights of a network are reported, which are those of predictors as the model takes them.
    pub fn reports_weights(&self) -> bool {
        !templates::is_text(&self.recipe.model.template)
            && (self.model.params().iter()).any(|it| it.name.class() == Class::HiddenWeight)
    }

    /// Whether the parameters of predictors are in units of the outcome: it is a number, explained without a link.
    pub fn reports_units_of_outcome(&self) -> bool {
        matches!(self.design.response.kind, ResponseKind::Number { .. }) && !self.has_link()
    }
}
