//! A model written down: what it says in words and other notations, what it reports, and which rows it uses. No mode is sought
//! and nothing is drawn.

use crate::templates;
use std::path::Path;
use std::sync::Arc;

use super::job::{self, JobError, load_data};
use super::recipe::Recipe;
use ergodic_base::Control;
use ergodic_core::design::{Columns as _, Design};
use ergodic_core::formula::term_label;
use ergodic_core::models::translation::{Context, Translation};
use ergodic_core::models::{ModelError, ParamInfo};
use ergodic_data::Table;

/// A model with the data that it is of.
#[derive(Clone, Debug)]
pub struct Description {
    /// The formula in the notation of brms and lme4, without terms that the data leave out.
    pub formula: String,
    /// The model in other notations, or why it cannot be written down.
    pub translation: Result<Translation, ModelError>,
    /// Quantities that the model reports.
    pub params: Vec<ParamInfo>,
    /// Columns of the table.
    pub columns: usize,
    /// Missing values per used column that has any; a row may count several times.
    pub dropped: Vec<(String, usize)>,
    /// Terms of the formula that are the same in all rows.
    pub left_out: Vec<String>,
}

impl Description {
    /// The description of a recipe and its data.
    ///
    /// # Errors
    /// The recipe and the data do not make a model.
    pub fn of(recipe: &Recipe, table: &Table) -> Result<Self, JobError> {
        let entry = templates::find(&recipe.model.template)?;
        let frame = job::model_frame(recipe, table)?;
        let (design, _remarks) = Design::build(table, &frame)?;
        let options = job::model_options(recipe)?;
        let design = Arc::new(design);
        let model = job::build_model(entry, &design, &options)?;
        let formula = design.formula_of(&frame.formula);
        let left_out = design.left_out.iter().map(|term| term_label(term));
        Ok(Self {
            translation: (entry.translate)(&Context {
                design: &design,
                formula: &formula,
                options: &options,
                params: model.params(),
            }),
            formula: formula.to_string(),
            params: model.params().to_vec(),
            columns: table.columns().len(),
            dropped: design.dropped.clone(),
            left_out: left_out.collect(),
        })
    }

    /// Of a recipe that stands in `folder`, whose data are read.
    ///
    /// # Errors
    /// The data cannot be read or are others now, or somebody cancelled.
    pub fn read(recipe: &Recipe, folder: &Path, control: &Control) -> Result<Self, JobError> {
        control.enter("reading the data");
        let loaded = load_data(recipe, folder, control)?;
        control.check(JobError::Cancelled)?;
        control.enter("describing the model");
        Self::of(recipe, &loaded.table)
    }
}
