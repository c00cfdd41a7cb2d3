//! The making of a design: predictors, response and groups of complete rows, shuffled, centred and scaled.

use ndarray::{Array2, Axis};
use rand::seq::SliceRandom as _;
use rayon::prelude::*;

use super::censoring;
use super::columns::Columns;
use super::design_term::DesignTerm;
use super::error::{DesignError, TooLarge};
use super::matrix::{Design, GroupFactor, mean_and_sd, width_of};
use super::model_frame::{FrameReader, ModelFrame, complete_rows};
use super::remark::Remark;
use super::response::ResponseUse;
use super::terms::RawColumn;
use crate::formula::{Formula, Term};
use crate::numerics::pages::ROWS_AT_ONCE;
use ergodic_base::{Purpose, Reporter, stream};

impl Design {
    /// Makes the design of `frame` from `table`. The report names left-out rows and reference levels.
    /// Errors: unknown columns, columns that cannot play their part, a response that is not binary or a valid
    /// count, no complete row.
    pub fn build(table: &dyn Columns, frame: &ModelFrame) -> Result<(Self, Reporter), DesignError> {
        let formula = &frame.formula;
        let mut reporter = Reporter::default();
        let source = FrameReader { table, frame };
        let used_columns: Vec<usize> = formula
            .columns()
            .iter()
            .map(|name| table.index_of(name, "The formula"))
            .collect::<Result<_, _>>()?;
        source.check_kinds()?;
        let (rows, dropped) = complete_rows(table, &used_columns, &frame.held_out)?;
        let rows_total = table.num_rows() - frame.held_out.len();
        if !frame.held_out.is_empty() {
            reporter.report(Remark::HeldOut {
                held_out: frame.held_out.len(),
                rows: table.num_rows(),
            });
        }
        if rows.len() < rows_total {
            let outcome = (formula.response.as_ref()).map(|response| &response.column);
            reporter.report(Remark::MissingValues {
                used: rows.len(),
                rows: rows_total,
                missing: dropped.clone(),
                dispensable: dispensable(formula, &dropped),
                outcome_only: dropped.iter().all(|(name, _)| Some(name) == outcome),
            });
        }

        let mut transforms = Vec::new();
        let mut merged = Vec::new();
        let predictors = source.predictors(&rows, &mut transforms, &mut merged)?;
        if frame.response_use != ResponseUse::Absent {
            let constant = source.constant_terms(&predictors);
            if !constant.is_empty() {
                return Self::without(table, frame, constant, rows.len());
            }
        }
        source.report_levels(&predictors, &merged, rows.len(), &mut reporter);
        let (raw, plain) = if frame.response_use == ResponseUse::Absent {
            (Vec::new(), source.plain_columns(&predictors)?)
        } else {
            (source.raw_columns(&predictors)?, Vec::new())
        };
        let (y, trials, response) = source.response(&rows)?;
        let weights = formula
            .response
            .as_ref()
            .and_then(|response| response.weights.as_deref())
            .map(|name| source.weights(name, &rows))
            .transpose()?;
        let se = (formula.response.as_ref())
            .and_then(|response| response.se.as_deref())
            .map(|name| source.standard_errors(name, &rows))
            .transpose()?;
        let censored_by = (formula.response.as_ref()).and_then(|it| it.cens.as_deref());
        let statuses = censored_by
            .map(|name| source.censoring(name, &rows))
            .transpose()?;
        if let (Some(column), Some(statuses)) = (censored_by, &statuses) {
            let [right, left] = censoring::counts(statuses);
            reporter.report(Remark::Censored {
                column: column.to_owned(),
                right,
                left,
                rows: rows.len(),
                written: censoring::written(table, column),
            });
        }
        let offset = source.offset(&rows, &mut transforms)?;
        let groups = source.groups(&rows)?;

        // Everything above is in the order of the file; `order` says which file position each design row has.
        let mut order: Vec<u32> = (0..rows.len() as u32).collect();
        order.shuffle(&mut stream(frame.shuffle_seed, 0, Purpose::Data));
        let pick = |values: Vec<f64>| -> Vec<f64> {
            let any = !values.is_empty();
            let order = order.iter().filter(|_| any);
            order.map(|&i| values[i as usize]).collect()
        };

        let group_terms = source.group_terms(&predictors, &order)?;
        let scaled = scale_columns(&raw, formula.intercept, &order)?;
        Ok((
            Self {
                x: scaled.x,
                raw_center: scaled.center,
                raw_scale: scaled.scale,
                terms: scaled.terms,
                has_intercept: formula.intercept,
                y: pick(y),
                trials: trials.map(pick),
                weights: weights.map(pick),
                se: se.map(pick),
                censoring: statuses
                    .map(|of_file| order.iter().map(|&i| of_file[i as usize]).collect()),
                offset: offset.map(pick),
                row: order.iter().map(|&i| rows[i as usize]).collect(),
                response,
                reference_levels: source.reference_levels(&predictors),
                merged,
                rows_total,
                held_out: frame.held_out.len(),
                rows_used: rows.len(),
                dropped,
                groups: groups
                    .into_iter()
                    .map(|group| GroupFactor {
                        index: order.iter().map(|&i| group.index[i as usize]).collect(),
                        ..group
                    })
                    .collect(),
                group_terms,
                columns: plain
                    .into_iter()
                    .map(|(name, column)| (name, column.in_order(&order)))
                    .collect(),
                left_out: Vec::new(),
                transforms,
                standardize: frame.standardize,
                fixed_units: None,
            },
            reporter,
        ))
    }

    /// The design without terms that are the same in all of `num_rows` rows used, each with what it is.
    fn without(
        table: &dyn Columns,
        frame: &ModelFrame,
        constant: Vec<(Term, String)>,
        num_rows: usize,
    ) -> Result<(Self, Reporter), DesignError> {
        let (left_out, values): (Vec<Term>, Vec<String>) = constant.into_iter().unzip();
        let smaller = ModelFrame {
            formula: frame.formula.without(&left_out),
            ..frame.clone()
        };
        let (mut design, mut reporter) = Self::build(table, &smaller)?;
        for (term, value) in left_out.iter().zip(values) {
            reporter.report(Remark::ConstantLeftOut {
                term: term.clone(),
                value,
                rows: num_rows,
            });
        }
        design.left_out.extend(left_out);
        Ok((design, reporter))
    }
}

/// Of the columns with missing values the one that most rows lack among predictors and groups.
fn dispensable(formula: &Formula, missing: &[(String, usize)]) -> Option<String> {
    let needed = Formula {
        terms: Vec::new(),
        groups: Vec::new(),
        left_out: Vec::new(),
        ..formula.clone()
    };
    let needed = needed.columns();
    let others = missing
        .iter()
        .filter(|(name, _)| !needed.contains(&name.as_str()));
    others
        .max_by_key(|(_, count)| *count)
        .map(|(name, _)| name.clone())
}

struct ScaledColumns {
    x: Array2<f64>,
    center: Vec<f64>,
    scale: Vec<f64>,
    terms: Vec<DesignTerm>,
}

fn scale_columns(
    raw: &[RawColumn<'_>],
    intercept: bool,
    order: &[u32],
) -> Result<ScaledColumns, TooLarge> {
    let (n, first) = (order.len(), usize::from(intercept));
    let p = raw.len() + first;
    let (mut center, mut scale) = (vec![0.0; first], vec![1.0; first]);
    let mut terms = vec![DesignTerm::intercept(); first];
    let known: Vec<_> = raw
        .par_iter()
        .map(|column| mean_and_sd(&column.values))
        .collect();
    for (column, (mean, sd)) in raw.iter().zip(known) {
        TooLarge::check(sd, "predictor", &column.term, || extremes(&column.values))?;
        // What bends a curve is centred already, all but rounding.
        let centred = column.term.bend().is_none();
        center.push(if intercept && centred { mean } else { 0.0 });
        scale.push(width_of((mean, sd)));
        terms.push(column.term.clone());
    }
    // Zeros are not written: each thread is the first to touch what it fills.
    let mut x = Array2::<f64>::zeros((n, p));
    x.axis_chunks_iter_mut(Axis(0), ROWS_AT_ONCE)
        .into_par_iter()
        .zip(order.par_chunks(ROWS_AT_ONCE))
        .for_each(|(mut rows, order)| {
            let mut columns = rows.columns_mut().into_iter();
            (columns.by_ref().take(first)).for_each(|mut ones| ones.fill(1.0));
            let scaled = raw.iter().zip(&center[first..]).zip(&scale[first..]);
            for (mut x, ((column, shift), width)) in columns.zip(scaled) {
                let values: &[f64] = &column.values;
                for (x, &from) in x.iter_mut().zip(order) {
                    *x = (values[from as usize] - shift) / width;
                }
            }
        });
    Ok(ScaledColumns {
        x,
        center,
        scale,
        terms,
    })
}

/// The smallest and the largest value.
fn extremes(values: &[f64]) -> [f64; 2] {
    [
        values.iter().copied().fold(f64::INFINITY, f64::min),
        values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    ]
}

#[cfg(test)]
mod tests;
