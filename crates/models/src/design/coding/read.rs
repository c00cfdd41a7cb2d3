//! New rows as a model reads them that asks for columns instead of one linear predictor.

use std::sync::Arc;

use super::super::model_frame::FrameReader;
use super::super::observation::{ObservationModel, ObservationRows};
use super::super::terms::Predictor;
use super::{Coding, numbers};
use crate::design::columns::Columns;
use crate::design::error::{DesignError, Place};

impl Coding {
    /// The coding for a model that reads the columns themselves.
    #[must_use]
    pub fn for_observation(mut self, model: &Arc<dyn ObservationModel>) -> Self {
        self.response = model.response().kind.clone();
        self.observation = Some(Arc::clone(model));
        self
    }

    /// Whether the model reads columns itself, instead of linear predictors and groups.
    pub fn reads_columns(&self) -> bool {
        self.observation.is_some()
    }

    /// Whether `name` is a column that is read for the outcome alone.
    pub(super) fn is_outcome(&self, name: &str) -> bool {
        let model = self.observation.as_ref();
        model.is_some_and(|model| model.outcome_columns().iter().any(|it| it == name))
    }

    /// Whether the expected outcome may depend on the column `name` of the formula.
    pub(super) fn is_predictor(&self, name: &str) -> bool {
        let model = self.observation.as_ref();
        model.is_none_or(|model| model.predictors().iter().any(|it| it == name))
    }

    /// `rows` of `table` as `model` reads them.
    pub(super) fn read(
        &self,
        model: &Arc<dyn ObservationModel>,
        table: &dyn Columns,
        rows: &[u32],
    ) -> Result<Arc<dyn ObservationRows>, DesignError> {
        let reader = FrameReader {
            table,
            frame: &self.frame,
        };
        let mut has_outcome = vec![true; rows.len()];
        let mut columns: Vec<(String, Predictor)> = Vec::new();
        for factor in reader.factors() {
            let name = factor.column();
            let known = self.categories.get(factor);
            let values = match known {
                _ if self.is_outcome(name) => {
                    outcome_column(table, name, known, rows, &mut has_outcome)
                }
                Some(known) => {
                    let merges = self.frame.top_levels.contains_key(name);
                    self.category(table, name, known, merges, rows)?
                }
                None => Predictor::Numeric(numbers(table, name, rows)?),
            };
            columns.push((name.to_owned(), values));
        }
        for (names, levels) in &self.groups {
            let group = self.new_groups(table, names, levels, rows)?;
            let values = Predictor::Categorical {
                codes: group.index,
                levels: levels.iter().map(|level| level.join(":")).collect(),
                reference: 0,
            };
            columns.push((group.name, values));
        }
        if let Some(response) = &self.frame.formula.response {
            let name = &response.column;
            let values = outcome_column(table, name, None, rows, &mut has_outcome);
            columns.push((name.clone(), values));
        }
        model.code(&columns, &has_outcome).map_err(|error| {
            let row = error.row.and_then(|row| rows.get(row));
            DesignError::Read(error, row.map(|&row| Place::of(table, row)))
        })
    }
}

/// A column of the outcome; rows where it has no value that the fit knows have no outcome.
fn outcome_column(
    table: &dyn Columns,
    name: &str,
    known: Option<&(Vec<String>, usize)>,
    rows: &[u32],
    has_outcome: &mut [bool],
) -> Predictor {
    let col = table.position(name);
    let Some((levels, reference)) = known else {
        let all = col.and_then(|col| table.numbers(col));
        let value = |row: &u32| {
            let value = all.and_then(|all| all.get(*row as usize));
            value.copied().unwrap_or(f64::NAN)
        };
        let values: Vec<f64> = rows.iter().map(value).collect();
        for (has, value) in has_outcome.iter_mut().zip(&values) {
            *has &= value.is_finite();
        }
        return Predictor::Numeric(values);
    };
    let labels = col.map(|col| table.labels(col));
    let places: Vec<Option<usize>> = labels.as_ref().map_or_else(Vec::new, |labels| {
        let place = |label: &String| levels.iter().position(|level| level == label);
        labels.levels.iter().map(place).collect()
    });
    let code = |row: &u32| {
        let code = labels.as_ref()?.codes.get(*row as usize)?;
        places.get(*code as usize).copied()?
    };
    let codes: Vec<Option<usize>> = rows.iter().map(code).collect();
    for (has, code) in has_outcome.iter_mut().zip(&codes) {
        *has &= code.is_some();
    }
    Predictor::Categorical {
        codes: codes
            .into_iter()
            .map(|code| code.unwrap_or_default() as u32)
            .collect(),
        levels: levels.clone(),
        reference: *reference,
    }
}
