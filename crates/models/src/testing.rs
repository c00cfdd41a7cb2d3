//! Models, designs and tables for tests, of this crate and of those that include this file in theirs.

use std::sync::Arc;

use ndarray::Array2;

use crate::design::{
    Columns, Design, MemoryColumns, ModelFrame, ResponseInfo, ResponseKind, ResponseUse, Values,
};
use crate::models::{Model, ModelOptions, Rows, Template, find};

#[path = "testing/factorization.rs"]
pub mod factorization;
#[path = "testing/mixtures.rs"]
pub mod mixtures;
#[path = "testing/networks.rs"]
pub mod networks;
#[path = "testing/regressions.rs"]
pub mod regressions;
#[path = "testing/tables.rs"]
pub mod tables;
#[path = "testing/topics.rs"]
pub mod topics;

/// A design of the columns `x` as they are, the first an intercept, and of responses `y` of this kind.
pub fn plain_design(x: Array2<f64>, y: Vec<f64>, kind: ResponseKind) -> Design {
    let (num_obs, columns) = x.dim();
    let term = |j| match j {
        0 => "Intercept".into(),
        1 => "x".into(),
        _ => format!("x{j}").into(),
    };
    Design {
        x,
        raw_center: vec![0.0; columns],
        raw_scale: vec![1.0; columns],
        terms: (0..columns).map(term).collect(),
        has_intercept: true,
        y,
        trials: None,
        weights: None,
        se: None,
        censoring: None,
        offset: None,
        row: (0..num_obs as u32).collect(),
        response: ResponseInfo {
            name: "y".to_owned(),
            kind,
            counts: Vec::new(),
        },
        reference_levels: Vec::new(),
        merged: Vec::new(),
        rows_total: num_obs,
        held_out: 0,
        rows_used: num_obs,
        dropped: Vec::new(),
        groups: Vec::new(),
        group_terms: Vec::new(),
        columns: Vec::new(),
        left_out: Vec::new(),
        transforms: Vec::new(),
        standardize: true,
        fixed_units: None,
    }
}

/// The log likelihood of all rows at `u`; ADDS its gradient to `grad`.
pub fn log_lik(model: &dyn Model, u: &[f64], grad: &mut [f64]) -> f64 {
    let rows = model.rows().unwrap();
    rows.log_lik(u, Rows::All, &mut rows.scratch(), grad)
}

/// The log likelihood of each row at `u`.
pub fn pointwise(model: &dyn Model, u: &[f64]) -> Vec<f64> {
    let rows = model.rows().unwrap();
    let mut values = vec![0.0; rows.num_obs()];
    rows.pointwise(u, Rows::All, &mut rows.scratch(), &mut values);
    values
}

/// A table of columns of numbers.
pub fn table_of(columns: Vec<(&str, Vec<f64>)>) -> MemoryColumns {
    let columns = columns
        .into_iter()
        .map(|(name, values)| (name.to_owned(), Values::Numbers(values)))
        .collect();
    MemoryColumns::new("t", columns).unwrap()
}

/// The model of template `T` for `formula` on `table`, or the sentence that refuses it.
pub fn built<T: Template>(
    table: &dyn Columns,
    formula: &str,
    response_use: ResponseUse,
    options: &ModelOptions,
) -> Result<Arc<dyn Model>, String> {
    built_by(T::SPEC.id, table, formula, response_use, options)
}

/// The model of the template named `template` for `formula` on `table`, or the sentence that refuses it.
pub fn built_by(
    template: &str,
    table: &dyn Columns,
    formula: &str,
    response_use: ResponseUse,
    options: &ModelOptions,
) -> Result<Arc<dyn Model>, String> {
    let frame = ModelFrame {
        response_use,
        ..ModelFrame::new(formula.parse().unwrap())
    };
    let (design, _) = Design::build(table, &frame).map_err(|error| error.to_string())?;
    (find(template).unwrap().build)(Arc::new(design), options).map_err(|error| error.to_string())
}
