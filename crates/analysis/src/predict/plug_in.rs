//! Predictions of a likelihood fit: its estimates plugged into the model, as `predict` of lme4 makes them.

use std::path::Path;

use super::{PredictError, read_rows};
use crate::likelihood::LikelihoodFit;
use ergodic_base::Control;
use ergodic_base::numerals::plural;
use ergodic_core::families::Outcome;
use ergodic_data::Table;

/// The expected outcome of a row: of successes among trials their share; of ordered levels the mean of their places; the median where the response is a function of a
/// column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlugInRow {
    /// Row of the table, 0-based.
    pub row: u32,
    /// From fixed effects alone.
    pub fixed: f64,
    /// With the modes of group effects; those of a new group are 0.
    pub with_groups: f64,
}

/// Expected outcomes of the rows of a table.
#[derive(Clone, Debug)]
pub struct PlugIn {
    /// Ascending by row.
    pub rows: Vec<PlugInRow>,
    /// Names of ordered levels; of other outcomes none.
    pub levels: Vec<String>,
    /// Chance of each level with the modes of group effects, per row; of outcomes without ordered levels none.
    pub chances: Vec<Vec<f64>>,
    /// What to know about the predictions.
    pub remarks: Vec<String>,
}

/// Reads a file of new rows and predicts them.
///
/// # Errors
/// The file cannot be read, or has rows that the model cannot code.
pub fn predict_file(
    done: &LikelihoodFit,
    path: &Path,
    control: &Control,
) -> Result<PlugIn, PredictError> {
    let import = &done.recipe.data.import;
    let table = read_rows(path, &done.coding, import, control)?;
    predict(done, &table)
}

/// Predicts the rows of `table`.
///
/// # Errors
/// Rows that the model cannot code.
pub fn predict(done: &LikelihoodFit, table: &Table) -> Result<PlugIn, PredictError> {
    let fit = &done.fit;
    let new = done.coding.code(table, None, true)?;
    let function = done.response.kind.function();
    let outcome = fit.outcome();
    let expected = |eta: f64| {
        let mean = outcome.mean(eta);
        function.map_or(mean, |function| function.inverse(mean))
    };
    let coefficients = fit.coefficients();
    let (mut rows, mut chances) = (Vec::with_capacity(new.row.len()), Vec::new());
    for (i, &row) in new.row.iter().enumerate() {
        let mut eta = new.offset.as_ref().map_or(0.0, |offset| offset[i]);
        for (x, coefficient) in new.x.row(i).iter().zip(&coefficients) {
            eta += x * coefficient;
        }
        let fixed = expected(eta);
        for ((factor, z), effects) in new.terms.iter().zip(&fit.effects) {
            let group = new.groups[*factor].index[i] as usize;
            if group < new.groups[*factor].num_known {
                let q = effects.names.len();
                let modes = &effects.mode[group * q..][..q];
                eta += z.row(i).iter().zip(modes).map(|(z, r)| z * r).sum::<f64>();
            }
        }
        let with_groups = expected(eta);
        if let Outcome::Ordered(levels) = outcome {
            chances.push(levels.chances(eta).collect());
        }
        rows.push(PlugInRow {
            row,
            fixed,
            with_groups,
        });
    }
    let mut remarks: Vec<String> = super::taken_back(&done.response).into_iter().collect();
    if new.row.len() < new.rows_total {
        let missing: Vec<String> = new
            .dropped
            .iter()
            .map(|(name, count)| format!("{count} without `{name}`"))
            .collect();
        let left_out = plural(new.rows_total - new.row.len(), "row");
        remarks.push(format!(
            "{left_out} of {} left out: {}",
            new.rows_total,
            missing.join(", ")
        ));
    }
    for group in new.groups.iter().filter(|group| !group.unknown.is_empty()) {
        remarks.push(format!(
            "{} of `{}` not in the fit: their effects are 0, those of an average group",
            plural(group.unknown.len(), "group"),
            group.name
        ));
    }
    Ok(PlugIn {
        rows,
        levels: done.response.levels().to_vec(),
        chances,
        remarks,
    })
}
