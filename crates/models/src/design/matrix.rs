//! The design: a plain row-major matrix with response, trials, weights and offset, ready for a model.
//!
//! Columns are centred and scaled for sampling ([`Scaling`] takes coefficients back to the columns as they
//! are), rows are shuffled once, because files are often sorted by label, and [`Design::row`] keeps where each
//! came from. Rows with a missing value in a used column are left out and counted per column.

use ndarray::{Array2, s};

use super::censoring::Censoring;
use super::design_term::DesignTerm;
use super::lump_levels::MergedLevels;
use super::response::{ResponseInfo, ResponseKind};
use super::terms::RawColumn;
use super::transform::Transform;
use crate::formula::{Formula, Term};
use ergodic_base::INTERCEPT;

pub use super::model_frame::ModelFrame;
pub use super::scaling::Scaling;
pub use super::terms::Predictor;

/// Rows by group, for group terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupFactor {
    /// Grouping columns joined by `:`.
    pub name: String,
    /// Names of the groups.
    pub levels: Vec<String>,
    /// Position in `levels` per design row, n long.
    pub index: Vec<u32>,
}

/// The columns that vary by group in one group term.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupDesign {
    /// Position in [`Design::groups`] of the grouping.
    pub factor: usize,
    /// q names: `Intercept`, `age`.
    pub names: Vec<String>,
    /// n × q, row-major: raw values divided by `scale`, NOT centred, because centring would change a model whose effects
    /// are independent.
    pub z: Array2<f64>,
    /// q scales: 1 for the intercept, the standard deviation of a column, or 1 for a constant one.
    pub scale: Vec<f64>,
    /// Whether the effects of a group are correlated (`|`) or independent (`||`).
    pub correlated: bool,
}

impl GroupDesign {
    /// The design of a group term from its raw columns, rows in `order`.
    pub(super) fn new(
        factor: usize,
        intercept: bool,
        correlated: bool,
        raw: &[RawColumn<'_>],
        order: &[u32],
    ) -> Self {
        let first = usize::from(intercept);
        let mut names = vec![INTERCEPT.to_owned(); first];
        let mut scale = vec![1.0; first];
        let mut z = Array2::ones((order.len(), first + raw.len()));
        for (j, column) in raw.iter().enumerate() {
            let width = width_of(mean_and_sd(&column.values));
            for (i, &from) in order.iter().enumerate() {
                z[[i, first + j]] = column.values[from as usize] / width;
            }
            scale.push(width);
            names.push(column.term.to_string());
        }
        Self {
            factor,
            names,
            z,
            scale,
            correlated,
        }
    }
}

/// Data as models read them: n rows used, P columns.
#[derive(Clone, Debug)]
pub struct Design {
    /// n × P, row-major. Sampling-space columns: the intercept is 1, every other column is centred (if there
    /// is an intercept) and scaled to population standard deviation 1.
    pub x: Array2<f64>,
    /// P centres; `x = (raw - center) / scale`. 0 for the intercept.
    pub raw_center: Vec<f64>,
    /// P scales, 1 for the intercept and for constant columns.
    pub raw_scale: Vec<f64>,
    /// P names, reported as `b[term]`: `Intercept`, `age`, `region=north`, `age:income`.
    pub terms: Vec<DesignTerm>,
    /// Whether the first column is the intercept.
    pub has_intercept: bool,
    /// n responses: 0 or 1, a count of successes, the position of a category, the place of an ordered level from 1, a number or a count
    /// as it is; empty where
    /// the formula has no response.
    pub y: Vec<f64>,
    /// n numbers of trials, if `y` is a count.
    pub trials: Option<Vec<f64>>,
    /// n weights of rows.
    pub weights: Option<Vec<f64>>,
    /// n known standard errors of the responses.
    pub se: Option<Vec<f64>>,
    /// How far each of n responses was seen.
    pub censoring: Option<Vec<Censoring>>,
    /// n offsets on the link scale, the sum of all offset terms.
    pub offset: Option<Vec<f64>>,
    /// Data row of each design row, 0-based.
    pub row: Vec<u32>,
    /// Name, success level and counts.
    pub response: ResponseInfo,
    /// Reference level of each categorical predictor that has one.
    pub reference_levels: Vec<(String, String)>,
    /// Columns whose rare levels were merged into one.
    pub merged: Vec<MergedLevels>,
    /// Rows of the table that are not held out.
    pub rows_total: usize,
    /// Rows of the table that the frame holds out.
    pub held_out: usize,
    /// n.
    pub rows_used: usize,
    /// Missing values per used column that has any, in order of use; a row may count several times.
    pub dropped: Vec<(String, usize)>,
    /// Groupings of the formula's group terms, each once.
    pub groups: Vec<GroupFactor>,
    /// The formula's group terms.
    pub group_terms: Vec<GroupDesign>,
    /// The formula's columns as they are, where it has no response; `x` then holds the intercept only.
    pub columns: Vec<(String, Predictor)>,
    /// Terms of the formula that were left out, because they are the same in all rows.
    pub left_out: Vec<Term>,
    /// Functions of columns in the formula, each once, with what they computed from the rows used.
    pub transforms: Vec<Transform>,
    /// Whether priors hold for standardised predictors.
    pub standardize: bool,
    /// Mean and standard deviation to measure the response in, or each numeric column where there is no response, if they are
    /// not its own ([`Self::with_simulated`]).
    pub fixed_units: Option<Vec<[f64; 2]>>,
}

impl Design {
    /// The formula that this is the design of, of the one it was made by: without what was left out.
    pub fn formula_of(&self, formula: &Formula) -> Formula {
        formula.without(&self.left_out)
    }

    /// n, the number of rows used.
    pub fn num_obs(&self) -> usize {
        self.x.nrows()
    }

    /// P, the number of columns.
    pub fn num_columns(&self) -> usize {
        self.x.ncols()
    }

    /// Mean and standard deviation (divisor n) of the response less its offset: the units of numbers. Of counts the logarithm of
    /// the mean per exposure, and 1.
    pub fn response_units(&self) -> [f64; 2] {
        let own = || {
            if matches!(self.response.kind, ResponseKind::Count { .. }) {
                return [self.log_rate(), 1.0];
            }
            let less = |(i, y): (usize, &f64)| y - self.offset.as_ref().map_or(0.0, |o| o[i]);
            let values: Vec<f64> = self.y.iter().enumerate().map(less).collect();
            let (mean, sd) = mean_and_sd(&values);
            [mean, sd]
        };
        let fixed = self.fixed_units.as_ref().and_then(|units| units.first());
        fixed.copied().unwrap_or_else(own)
    }

    /// What is known of the response of row `i` besides: its number of trials, its standard error, or how far it was seen
    /// ([`Censoring::known`]); 1 where there is nothing.
    pub fn known(&self, i: usize) -> f64 {
        if let Some(statuses) = &self.censoring {
            return statuses[i].known();
        }
        let known = self.trials.as_ref().or(self.se.as_ref());
        known.map_or(1.0, |known| known[i])
    }

    /// The logarithm of the sum of counts over that of exp(offset), rows times their weights. Half a count more makes it finite
    /// where all counts are 0, and is of no consequence elsewhere.
    fn log_rate(&self) -> f64 {
        let offsets = self.offset.as_deref().unwrap_or_default();
        let largest = offsets.iter().copied().reduce(f64::max).unwrap_or(0.0);
        let (mut counts, mut exposure) = (0.5, 0.0);
        for (i, y) in self.y.iter().enumerate() {
            let weight = self.weights.as_ref().map_or(1.0, |weights| weights[i]);
            let offset = offsets.get(i).copied().unwrap_or(0.0);
            counts += weight * y;
            exposure += weight * (offset - largest).exp();
        }
        let rate = f64::ln(counts / exposure) - largest;
        if rate.is_finite() { rate } else { 0.0 }
    }

    /// The units of the response, or of the numeric columns where there is none.
    fn units(&self) -> Vec<[f64; 2]> {
        if self.response.kind != ResponseKind::Absent {
            return vec![self.response_units()];
        }
        let numeric = self.columns.iter().filter_map(|(_, column)| match column {
            Predictor::Numeric(values) => Some(mean_and_sd(values).into()),
            _ => None,
        });
        self.fixed_units
            .clone()
            .unwrap_or_else(|| numeric.collect())
    }

    /// The design with simulated responses, or without a response with simulated rows, row-major: numeric columns, then
    /// positions of the levels of categorical ones. Units stay those of this design, so that priors that are set in them do too.
    /// Where a response is censored, a simulated one is so beyond the same value; where one was seen, all are.
    #[must_use]
    pub fn with_simulated(&self, values: Vec<f64>) -> Self {
        let mut design = self.clone();
        design.fixed_units = Some(self.units());
        if self.response.kind != ResponseKind::Absent {
            if let Some(statuses) = &self.censoring {
                (design.y, design.censoring) = censored_again(&self.y, statuses, values);
            } else {
                design.y = values;
            }
            return design;
        }
        let (mut numeric, mut codes) = (Vec::new(), Vec::new());
        for (_, column) in &mut design.columns {
            match column {
                Predictor::Numeric(column) => numeric.push(column),
                Predictor::Categorical { codes: column, .. } => codes.push(column),
                Predictor::Function(_) => {}
            }
        }
        let width = (numeric.len() + codes.len()).max(1);
        for (i, row) in values.chunks_exact(width).enumerate() {
            let (numbers, levels) = row.split_at(numeric.len());
            for (column, value) in numeric.iter_mut().zip(numbers) {
                column[i] = *value;
            }
            for (column, level) in codes.iter_mut().zip(levels) {
                column[i] = *level as u32;
            }
        }
        design
    }

    /// The first `len` rows, standardised as they are here and in the same units, with all groups.
    #[must_use]
    pub fn head(&self, len: usize) -> Self {
        let len = len.min(self.num_obs());
        let first: Vec<u32> = (0..len as u32).collect();
        let of = |values: &[f64]| values[..len.min(values.len())].to_vec();
        let rows = |matrix: &Array2<f64>| matrix.slice(s![..len, ..]).to_owned();
        Self {
            x: rows(&self.x),
            y: of(&self.y),
            trials: self.trials.as_deref().map(of),
            weights: self.weights.as_deref().map(of),
            se: self.se.as_deref().map(of),
            censoring: self.censoring.as_ref().map(|it| it[..len].to_vec()),
            offset: self.offset.as_deref().map(of),
            row: self.row[..len].to_vec(),
            groups: (self.groups.iter())
                .map(|group| GroupFactor {
                    name: group.name.clone(),
                    levels: group.levels.clone(),
                    index: group.index[..len].to_vec(),
                })
                .collect(),
            group_terms: (self.group_terms.iter())
                .map(|term| GroupDesign {
                    z: rows(&term.z),
                    names: term.names.clone(),
                    scale: term.scale.clone(),
                    ..*term
                })
                .collect(),
            columns: (self.columns.iter())
                .map(|(name, column)| (name.clone(), column.clone().in_order(&first)))
                .collect(),
            fixed_units: Some(self.units()),
            raw_center: self.raw_center.clone(),
            raw_scale: self.raw_scale.clone(),
            terms: self.terms.clone(),
            response: self.response.clone(),
            reference_levels: self.reference_levels.clone(),
            merged: self.merged.clone(),
            dropped: self.dropped.clone(),
            left_out: self.left_out.clone(),
            transforms: self.transforms.clone(),
            ..*self
        }
    }

    /// The map between sampling-space and raw coefficients.
    pub fn scaling(&self) -> Scaling {
        Scaling {
            center: self.raw_center.clone(),
            scale: self.raw_scale.clone(),
            has_intercept: self.has_intercept,
        }
    }
}

/// Mean and population standard deviation, by two passes.
pub(super) fn mean_and_sd(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values
        .iter()
        .map(|value| (value - mean).powi(2))
        .sum::<f64>()
        / n;
    (mean, variance.sqrt())
}

/// What a column is divided by. A constant column cannot be scaled; it stays and the checks name it.
pub(super) fn width_of((mean, sd): (f64, f64)) -> f64 {
    if sd > 1e-14 * mean.abs() { sd } else { 1.0 }
}

/// Simulated responses as they are seen where those of a row that is censored are seen up to its value of `y`.
fn censored_again(
    y: &[f64],
    statuses: &[Censoring],
    simulated: Vec<f64>,
) -> (Vec<f64>, Option<Vec<Censoring>>) {
    let seen = y.iter().zip(statuses).zip(simulated);
    let seen = seen.map(|((&end, &status), value)| match status {
        Censoring::Right if value > end => (end, status),
        Censoring::Left if value < end => (end, status),
        _ => (value, Censoring::Seen),
    });
    let (values, statuses): (Vec<f64>, Vec<Censoring>) = seen.unzip();
    (values, Some(statuses))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simulated_responses_are_censored_where_the_rows_are() {
        use Censoring::{Left, Right, Seen};
        let (y, statuses) = ([2.0, 2.0, 2.0, 2.0, 2.0], [Right, Right, Left, Left, Seen]);
        let (values, seen) = censored_again(&y, &statuses, vec![3.0, 1.0, 1.0, 3.0, 9.0]);
        assert_eq!(values, [2.0, 1.0, 2.0, 3.0, 9.0]);
        assert_eq!(seen, Some(vec![Right, Seen, Left, Seen, Seen]));
    }
}
