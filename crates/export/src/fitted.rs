//! The model of a run again, for answers from its draws.

use super::{Results, RunFolder};
use ergodic_analysis::predict::{Fitted, PredictError};
use ergodic_base::Control;

impl RunFolder {
    /// The model that the draws of `results`, those of this folder, were made with, from its recipe and its data.
    ///
    /// # Errors
    /// Whatever makes the recipe or its data unusable; they are not those of the draws any more; the model predicts nothing.
    pub fn fitted(&self, results: &Results, control: &Control) -> Result<Fitted, PredictError> {
        let recipe = self.recipe();
        let mut recipe = recipe.map_err(|error| PredictError::Refused(error.to_string()))?;
        // The recipe may have been changed since, what the draws were made with cannot.
        let made_with = (results.manifest.as_ref()).map(|it| it.data_fingerprint.as_str());
        if let Some(fingerprint) = made_with.filter(|it| !it.is_empty()) {
            recipe.data.fingerprint = Some(fingerprint.to_owned());
        }
        Fitted::of_draws(&recipe, self.path(), &results.variables, control)
    }
}
