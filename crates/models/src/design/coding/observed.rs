//! Observed responses of rows that are coded as a design was.

use super::super::censoring::{self, Censoring};
use super::super::response::ResponseKind;
use super::super::response_columns::{check_numbers, check_successes};
use super::Coding;
use crate::design::columns::Columns;
use crate::design::error::DesignError;

impl Coding {
    /// Observed responses, and how far they were seen.
    #[expect(
        clippy::type_complexity,
        reason = "the two parts of one answer, used once"
    )]
    pub(super) fn observed(
        &self,
        table: &dyn Columns,
        rows: &[u32],
        trials: Option<&[f64]>,
    ) -> Result<(Option<Vec<f64>>, Option<Vec<Censoring>>), DesignError> {
        let observed = self.responses(table, rows, trials)?;
        let response = self.frame.formula.response.as_ref();
        let Some(name) = response.and_then(|response| response.cens.as_deref()) else {
            return Ok((observed, None));
        };
        let Some(mut observed) = observed.filter(|_| table.position(name).is_some()) else {
            return Ok((None, None));
        };
        let statuses = censoring::statuses(table, name, rows)?;
        let known = observed.iter_mut().zip(statuses).map(|(y, status)| {
            status.unwrap_or_else(|| {
                *y = f64::NAN;
                Censoring::Seen
            })
        });
        let known = known.collect();
        Ok((Some(observed), Some(known)))
    }

    /// Responses of `rows`, where the table has them; those that cannot be are refused.
    fn responses(
        &self,
        table: &dyn Columns,
        rows: &[u32],
        trials: Option<&[f64]>,
    ) -> Result<Option<Vec<f64>>, DesignError> {
        let Some(response) = &self.frame.formula.response else {
            return Ok(None);
        };
        let name = &response.column;
        let Some(col) = table.names().position(|column| column == name) else {
            return Ok(None);
        };
        match &self.response {
            ResponseKind::Binary { success, failure } => {
                let labels = table.labels(col);
                let value = |level: &String| match level {
                    level if level == success => 1.0,
                    level if level == failure => 0.0,
                    _ => f64::NAN,
                };
                let values: Vec<f64> = labels.levels.iter().map(value).collect();
                let at = |&row: &u32| {
                    let code = labels.codes[row as usize];
                    values.get(code as usize).copied().unwrap_or(f64::NAN)
                };
                Ok(Some(rows.iter().map(at).collect()))
            }
            ResponseKind::Ordered { levels } | ResponseKind::Unordered { levels } => {
                let labels = table.labels(col);
                let place = |level: &String| {
                    let place = levels.iter().position(|it| it == level);
                    place.map_or(f64::NAN, |place| (place + 1) as f64)
                };
                let values: Vec<f64> = labels.levels.iter().map(place).collect();
                let at = |&row: &u32| {
                    let code = labels.codes[row as usize];
                    values.get(code as usize).copied().unwrap_or(f64::NAN)
                };
                Ok(Some(rows.iter().map(at).collect()))
            }
            _ => {
                let Some(numbers) = table.numbers(col) else {
                    return Ok(None);
                };
                let y: Vec<f64> = rows.iter().map(|&row| numbers[row as usize]).collect();
                match trials {
                    Some(trials) => check_successes(table, name, rows, &y, trials)?,
                    None => check_numbers(table, name, rows, &y, self.frame.response_use)?,
                }
                Ok(Some(y))
            }
        }
    }
}
