//! Functions in formulas against the model matrices of R; `tests/reference/formulas/formulas.R` makes them.

#![expect(
    clippy::unwrap_used,
    reason = "a damaged reference file is a failed test"
)]

use std::collections::BTreeMap;
use std::path::PathBuf;

use ergodic_base::Control;
use ergodic_core::design::{Columns as _, Design, ModelFrame, ResponseUse};
use ergodic_core::formula::Factor;
use ergodic_data::{ImportOptions, Table, load};

/// Of a column's largest absolute value. R solves for orthogonal polynomials by Householder's reflections of a
/// Vandermonde matrix, which costs digits in higher degrees.
const TOLERANCE: f64 = 1e-9;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference/formulas")
}

fn table(file: &str) -> Table {
    load(
        &folder().join(file),
        &ImportOptions::default(),
        &Control::default(),
    )
    .unwrap()
    .table
}

/// Columns in R's order by formula: (name, values).
fn reference(file: &str) -> BTreeMap<String, Vec<(String, Vec<f64>)>> {
    let text = std::fs::read_to_string(folder().join(file)).unwrap();
    let mut found: BTreeMap<String, Vec<(String, Vec<f64>)>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        // "formula","column",row,value
        let mut quoted = line[1..].split("\",\"");
        let formula = quoted.next().unwrap();
        let (column, rest) = quoted.next().unwrap().split_once("\",").unwrap();
        let value: f64 = rest.split_once(',').unwrap().1.parse().unwrap();
        let columns = found.entry(formula.to_owned()).or_default();
        match columns.last_mut() {
            Some((name, values)) if name == column => values.push(value),
            _ => columns.push((column.to_owned(), vec![value])),
        }
    }
    found
}

/// A column's name without what R adds to conditions and to categories of numbers.
fn plain(name: &str) -> String {
    let name = name.replace(")TRUE", ")");
    let name = name.replace("as.factor(k)", "k=");
    name.replace("factor(k)", "k=")
}

fn assert_near(got: &[f64], expected: &[f64], what: &str) {
    assert_eq!(got.len(), expected.len(), "{what}");
    let largest = expected.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    for (a, b) in got.iter().zip(expected) {
        assert!(
            (a - b).abs() <= TOLERANCE * largest,
            "{what}: {a} against {b}"
        );
    }
}

/// The raw columns but the intercept, in the order of the file.
fn raw_columns(design: &Design) -> Vec<Vec<f64>> {
    (1..design.num_columns())
        .map(|j| {
            let mut column = vec![0.0; design.num_obs()];
            for (i, &row) in design.row.iter().enumerate() {
                column[row as usize] =
                    design.x[[i, j]] * design.raw_scale[j] + design.raw_center[j];
            }
            column
        })
        .collect()
}

fn design(formula: &str) -> Design {
    let frame = ModelFrame {
        response_use: ResponseUse::Number,
        ..ModelFrame::new(format!("y ~ {formula}").parse().unwrap())
    };
    Design::build(&table("data.csv"), &frame).unwrap().0
}

#[test]
fn columns_and_their_names_are_those_of_r() {
    for (formula, columns) in reference("matrix.csv") {
        let design = design(&formula);
        let names: Vec<String> = columns
            .iter()
            // R writes `fb` for the level b of f, and `TRUE` behind a condition.
            .map(|(name, _)| {
                let name = plain(name);
                let parts = name.split(':').map(|part| match part {
                    "fa" | "fb" | "fc" => format!("f={}", &part[1..]),
                    _ => part.to_owned(),
                });
                parts.collect::<Vec<_>>().join(":")
            })
            .collect();
        assert_eq!(design.terms[1..], names, "{formula}");
        for (got, (name, expected)) in raw_columns(&design).iter().zip(&columns) {
            assert_near(got, expected, &format!("{formula}, {name}"));
        }
    }
}

#[test]
fn transformations_are_kept_for_new_data() {
    let new = table("new.csv");
    let mut compared = 0;
    for (formula, columns) in reference("predict.csv") {
        let design = design(&formula);
        for transform in &design.transforms {
            let label = transform.factor.label();
            let column = new
                .names()
                .position(|name| name == transform.factor.column());
            let values = new.numbers(column.unwrap()).unwrap();
            let mut out = vec![0.0; transform.num_columns()];
            for j in 0..out.len() {
                let name = match out.len() {
                    1 => label.clone(),
                    _ => format!("{label}{}", j + 1),
                };
                let Some((_, expected)) = columns.iter().find(|(column, _)| plain(column) == name)
                else {
                    continue;
                };
                let got: Vec<f64> = values
                    .iter()
                    .map(|&x| {
                        transform.evaluate(x, &mut out);
                        out[j]
                    })
                    .collect();
                assert_near(&got, expected, &format!("{formula}, {name}"));
                compared += 1;
            }
        }
    }
    assert!(compared > 60, "{compared} columns");
}

/// The additive spline logistic regression of the literature on bankruptcy: 8 covariates with 10 B-splines each.
#[test]
fn an_additive_spline_model_has_81_columns() {
    let n = 400;
    let columns = (0..9).map(|j| {
        let values = (0..n).map(|i| f64::sin((i * (j + 3)) as f64 * 0.37) * (j + 1) as f64);
        match j {
            0 => ("y".to_owned(), values.map(|v| f64::from(v > 0.3)).collect()),
            _ => (format!("x{j}"), values.collect::<Vec<f64>>()),
        }
    });
    let columns =
        columns.map(|(name, values)| (name, ergodic_core::design::Values::Numbers(values)));
    let table = Table::from_columns("t", columns.collect()).unwrap();
    let terms: Vec<String> = (1..9).map(|j| format!("bs(x{j}, df = 10)")).collect();
    let formula = format!("y ~ {}", terms.join(" + ")).parse().unwrap();
    let (design, _) = Design::build(&table, &ModelFrame::new(formula)).unwrap();
    assert_eq!(design.num_columns(), 81);
    assert_eq!(design.terms[80], "bs(x8, 10)10");
    assert_eq!(design.transforms.len(), 8);
    assert_eq!(
        design.transforms[3].factor,
        Factor::Call(
            ergodic_core::formula::Function::BSpline { df: 10, degree: 3 },
            Box::new(Factor::Column("x4".to_owned())),
        )
    );
    assert_eq!(design.transforms[3].interior_knots().len(), 7);
    // B-splines sum to 1, so without the first one they sum to at most 1.
    for j in 0..8 {
        for i in 0..n {
            let sum: f64 = (1 + 10 * j..11 + 10 * j)
                .map(|c| design.x[[i, c]] * design.raw_scale[c] + design.raw_center[c])
                .sum();
            assert!((-1e-9..=1.0 + 1e-9).contains(&sum), "{sum}");
        }
    }
}

#[test]
fn refusals_name_the_function_the_column_and_the_row() {
    let table = table("data.csv");
    for (formula, sentence) in [
        (
            "y ~ log(k)",
            "log(k) needs values above 0, but `k` is 0 in line",
        ),
        (
            "y ~ sqrt(scale(x))",
            "sqrt(scale(x)) needs values of at least 0, but scale(x) is -0.",
        ),
        (
            "y ~ log(f)",
            "log(f) needs numbers, but `f` holds text or dates",
        ),
        (
            "y ~ poly(k, 12)",
            "poly(k, 12) needs at least 13 different values, but `k` has 10; lower the degree",
        ),
        (
            "y ~ bs(k, 300)",
            "bs(k, 300) needs at least 301 different values, but `k` has 10; lower the degrees of freedom",
        ),
        (
            "y ~ ns(k, 9)",
            "Knots of ns(k, 9) fall together, because too many values of `k` are equal",
        ),
        (
            "y ~ exp(I(z^3))",
            "exp(I(z^3)) needs values below 709, but I(z^3) is ",
        ),
        (
            "y ~ x + log(q)",
            "The formula names the column `q`, which the table does not have",
        ),
        ("y ~ x + offset(log(k))", "log(k) needs values above 0"),
    ] {
        let frame = ModelFrame {
            response_use: ResponseUse::Number,
            ..ModelFrame::new(formula.parse().unwrap())
        };
        let error = Design::build(&table, &frame).unwrap_err().to_string();
        assert!(error.starts_with(sentence), "{formula}: {error}");
    }
}
