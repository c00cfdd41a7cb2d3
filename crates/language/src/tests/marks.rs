//! Where an editor marks what is wrong with a text, before there are rows.

use super::*;
use crate::KnownColumns;
use ergodic_core::design::{MemoryColumns, Values};

fn table() -> MemoryColumns {
    let texts = |all: &[&str]| {
        let text = |it: &&str| (*it != "-").then(|| (*it).to_owned());
        Values::Texts(all.iter().map(text).collect())
    };
    let columns = vec![
        ("y".to_owned(), Values::Numbers(vec![0.0, 1.0, 1.0, 2.0])),
        ("x1".to_owned(), Values::Numbers(vec![0.5, -1.0, 0.0, 3.0])),
        (
            "x2".to_owned(),
            Values::Numbers(vec![0.5, -1.0, f64::NAN, 3.0]),
        ),
        ("g".to_owned(), texts(&["a", "b", "c", "a"])),
        ("h".to_owned(), texts(&["u", "-", "v", "v"])),
    ];
    MemoryColumns::new("the table", columns).unwrap()
}

/// What is wrong with a text, and what is marked of it.
fn marked(text: &str, known: &mut KnownColumns) -> Option<(String, String)> {
    let checked = Program::parse(text).and_then(|program| program.check(&table(), known));
    let error = checked.err()?;
    let meant = text[error.bytes_in(text)].to_owned();
    Some((meant, error.message))
}

#[test]
fn what_is_wrong_is_marked_at_its_place() {
    let cases = [
        (
            "a ~ norml(0, 1)",
            "",
            "norml",
            "There is no distribution `norml`",
        ),
        (
            "a ~ normal(0)",
            "",
            "normal(0)",
            "`normal` takes 2 parameters",
        ),
        (
            "a ~ normal(0, 1)\n b = sqr(a)",
            "",
            "sqr",
            "There is no function `sqr`",
        ),
        (
            "a ~ normal(0, 1)",
            "y ~ normal(exp(a, 2), 1)",
            "exp(a, 2)",
            "`exp` takes 1 argument, but 2 are given",
        ),
        (
            "a ~ normal(0, 1)",
            "y ~ normal(a, 1, 2)",
            "normal(a, 1, 2)",
            "`normal` takes 2 parameters",
        ),
        (
            "a: vector(3) ~ normal(0, 1)",
            "y ~ normal(a, 1)",
            "a",
            "This is a vector of 3",
        ),
        (
            "a: vector(3) ~ normal(0, 1)",
            "y ~ normal(dot(a, [x1, y]), 1)",
            "dot(a, [x1, y])",
            "`dot` takes two vectors of one length",
        ),
        (
            "a: vector(2) ~ normal(0, 1)",
            "y ~ normal(a[g], 1)",
            "g",
            "`g` has 3 categories, but what it indexes has 2 elements",
        ),
        (
            "a ~ normal(0, 1)",
            "y ~ normal(a * (g == \"d\"), 1)",
            "\"d\"",
            "`g` is never \"d\"",
        ),
        (
            "a ~ normal(0, 1)",
            "y ~ normal(a + z, 1)",
            "z",
            "There is no parameter, definition or column `z`",
        ),
        (
            "a ~ normal(0, 1)",
            "y ~ normal(a, 1)\n sum(a)",
            "a",
            "A vector is needed here",
        ),
    ];
    let mut known = KnownColumns::default();
    for (parameters, rows, meant, message) in cases {
        let rows = match rows {
            "" => String::new(),
            rows => format!("rows\n {rows}\n"),
        };
        let text = format!("parameters\n é ~ normal(0, 1)\n {parameters}\n{rows}");
        let (found, why) = marked(&text, &mut known).unwrap_or_else(|| panic!("{text}"));
        assert!(why.starts_with(message), "{text}: {why}");
        assert_eq!(found, meant, "{text}");
    }
}

/// Rows decide nothing but which categories there are: those that miss a value are left out, as in a design.
#[test]
fn shapes_are_those_of_the_rows_that_are_read() {
    let mut known = KnownColumns::default();
    let by = |size: usize, column: &str, more: &str| {
        format!(
            "parameters\n a: vector({size}) ~ normal(0, 1)\nrows\n y ~ normal(a[{column}]{more}, 1)\n"
        )
    };
    assert_eq!(marked(&by(3, "g", ""), &mut known), None);
    // Where x2 is missing is the only row of category c.
    assert_eq!(marked(&by(2, "g", " + x2"), &mut known), None);
    assert!(marked(&by(3, "g", " + x2"), &mut known).is_some());
    assert_eq!(marked(&by(2, "h", ""), &mut known), None);
    // Of b and c either misses something.
    let both = by(1, "g", " + x2 * (h == \"u\")");
    assert_eq!(marked(&both, &mut known), None);
    // Values that a distribution does not have are found once rows are read.
    let values = "parameters\n a ~ normal(0, 1)\nrows\n y ~ bernoulli_logit(a)\n";
    assert_eq!(marked(values, &mut known), None);
}

/// A text that makes a model is marked nowhere, whether columns are known from texts before or not.
#[test]
fn models_are_marked_nowhere() {
    let texts = [
        "parameters\n a ~ normal(0, 1)\n",
        "data\n x: vector = x*\nparameters\n w: vector(length(x)) ~ normal(0, 1)\n b[g] ~ normal(0, 1)\nrows\n y ~ normal(dot(w, x) + b[g], 1)\nreport\n largest = max(w)\n",
        "parameters\n b[g] ~ normal(0, 1)\nrows\n y ~ poisson_log(b[g])\n",
        "parameters\n n = 3\n p: simplex(n) ~ dirichlet([1, 2, 3])\nrows\n log(p[1] * exp(-y))\n",
    ];
    let mut known = KnownColumns::default();
    for text in texts.iter().chain(texts.iter().rev()) {
        assert_eq!(marked(text, &mut known), None, "{text}");
    }
}
