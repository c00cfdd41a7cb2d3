//! Rows whose observed outcomes predictions can be compared with: those kept out of a fit, or of another table.

use super::super::lump_levels::OTHER;
use super::super::model_frame::{FrameReader, rows_with_values};
use super::super::response::ResponseKind;
use super::Coding;
use crate::design::Columns;
use crate::design::error::DesignError;

/// Rows whose observed outcomes predictions can be compared with.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedRows {
    /// Rows of the table (0-based, ascending) that have a value in every column of the model, and in no category a level that
    /// the fit did not have.
    pub rows: Vec<u32>,
    /// Weights of these rows, where the model has weights.
    pub weights: Option<Vec<f64>>,
    /// Missing values per column that has any; a row may count several times.
    pub missing: Vec<(String, usize)>,
    /// Columns with levels that the fit did not have: how many rows with values have one, and one of these levels.
    pub unknown: Vec<(String, usize, String)>,
}

/// Levels of a column of new rows that the fit did not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownLevels {
    /// Name of the column.
    pub column: String,
    /// One of the levels.
    pub example: String,
    /// Rows that have one.
    pub rows: usize,
}

impl Coding {
    /// Columns of the outcome that are categories, with the levels that the fit had.
    fn levels_of_outcomes(&self) -> Vec<(&str, Vec<String>)> {
        let read = self.categories.iter();
        let read = read.filter(|(factor, _)| self.is_outcome(factor.column()));
        let read = read.map(|(factor, (levels, _))| (factor.column(), levels.clone()));
        read.chain(self.levels_of_outcome()).collect()
    }

    /// The column of the formula's outcome with the levels that the fit had, where it has levels.
    fn levels_of_outcome(&self) -> Option<(&str, Vec<String>)> {
        let levels = match &self.response {
            ResponseKind::Binary { success, failure } => vec![success.clone(), failure.clone()],
            ResponseKind::Ordered { levels } | ResponseKind::Unordered { levels } => levels.clone(),
            ResponseKind::Successes
            | ResponseKind::Categories { .. }
            | ResponseKind::Number { .. }
            | ResponseKind::Count { .. }
            | ResponseKind::Absent => return None,
        };
        let response = self.frame.formula.response.as_ref()?;
        Some((response.column.as_str(), levels))
    }

    /// Columns of the outcome in which some of `rows` have a level that the fit did not have.
    pub(super) fn unknown_outcomes(&self, table: &dyn Columns, rows: &[u32]) -> Vec<UnknownLevels> {
        let mut unknown = Vec::new();
        for (name, levels) in self.levels_of_outcomes() {
            let Some(col) = table.position(name) else {
                continue;
            };
            let labels = table.labels(col);
            // A missing value has no level.
            let of_row = |row: &u32| {
                labels
                    .levels
                    .get(*labels.codes.get(*row as usize)? as usize)
            };
            let others = rows.iter().filter_map(of_row);
            let mut others = others.filter(|level| !levels.contains(level));
            if let Some(example) = others.next() {
                unknown.push(UnknownLevels {
                    column: name.to_owned(),
                    example: example.clone(),
                    rows: 1 + others.count(),
                });
            }
        }
        unknown
    }

    /// The rows of `table`, or of those `among` its rows, that predictions with effects of groups can be compared with.
    ///
    /// # Errors
    /// Columns that are not there, the outcome and weights among them; weights that no row can have.
    pub fn compared_rows(
        &self,
        table: &dyn Columns,
        among: Option<&[u32]>,
    ) -> Result<ComparedRows, DesignError> {
        let mut used = vec![among.is_none(); table.num_rows()];
        for &row in among.unwrap_or_default() {
            used[row as usize] = true;
        }
        let formula = &self.frame.formula;
        let mut columns = self.columns(table, true)?;
        let response = formula.response.as_ref();
        let weights = response.and_then(|response| response.weights.as_deref());
        let outcome = response.map(|response| response.column.as_str());
        let cens = response.and_then(|response| response.cens.as_deref());
        let model = self.observation.as_ref();
        let read = model.into_iter().flat_map(|model| model.outcome_columns());
        let read = read.map(String::as_str);
        for name in outcome.into_iter().chain(weights).chain(cens).chain(read) {
            let col = table.index_of(name, "The formula")?;
            if !columns.contains(&col) {
                columns.push(col);
            }
        }
        let (mut rows, missing) = rows_with_values(table, &columns, &used);
        let mut unknown = Vec::new();
        let known = self
            .categories
            .iter()
            .map(|(factor, (levels, _))| (factor.column(), levels.clone()));
        for (name, levels) in known.chain(self.levels_of_outcome()) {
            // Where rare levels were merged, one that the fit did not have is one of the others.
            let is_merged = self.frame.top_levels.contains_key(name);
            if is_merged && levels.iter().any(|it| it == OTHER) {
                continue;
            }
            let labels = self.labels(table, name)?;
            let is_known: Vec<bool> = labels.levels.iter().map(|it| levels.contains(it)).collect();
            let has = |row: &u32| is_known[labels.codes[*row as usize] as usize];
            let Some(example) = rows.iter().find(|row| !has(row)) else {
                continue;
            };
            let example = labels.levels[labels.codes[*example as usize] as usize].clone();
            let before = rows.len();
            rows.retain(has);
            unknown.push((name.to_owned(), before - rows.len(), example));
        }
        let reader = FrameReader {
            table,
            frame: &self.frame,
        };
        let weights = weights.filter(|_| !rows.is_empty());
        Ok(ComparedRows {
            weights: weights
                .map(|name| reader.weights(name, &rows))
                .transpose()?,
            rows,
            missing,
            unknown,
        })
    }
}
