//! Vectors of columns against the same models written out column by column.

use super::*;
use crate::{Word, complete, highlight};
use ergodic_core::design::{MemoryColumns, Values};

/// Ten columns x1 to x10, of which the table has the last first, a column of counts, yes or no, and categories; 90 rows.
fn table() -> Vec<(String, Predictor)> {
    let n = 90;
    let at = |k: usize| (k as f64 * 0.7).sin();
    let mut columns: Vec<(String, Predictor)> = Vec::new();
    for j in (1..=10).rev() {
        let values: Vec<f64> = (0..n).map(|k| at(k * j + 3 * j)).collect();
        columns.push(numbers(&format!("x{j}"), &values));
    }
    let yes: Vec<f64> = (0..n)
        .map(|k| f64::from(u8::from(at(5 * k) > 0.1)))
        .collect();
    let count: Vec<f64> = (0..n).map(|k| (3.0 + 3.0 * at(2 * k)).floor()).collect();
    let plan: Vec<u32> = (0..n as u32).map(|k| k * 5 % 3).collect();
    columns.push(numbers("yes", &yes));
    columns.push(numbers(
        "no",
        &yes.iter().map(|x| 1.0 - x).collect::<Vec<_>>(),
    ));
    columns.push(numbers("count", &count));
    columns.push(group("plan", &["a", "b", "c"], &plan));
    columns
}

/// A model with a vector of columns, and the same one without.
const PAIRS: &[(&str, &str)] = &[
    (
        "data
           x: vector = x1..x10
         parameters
           a ~ normal(0, 1)
           w: vector(length(x)) ~ normal(0, 2)
         rows
           yes ~ bernoulli_logit(a + dot(w, x))",
        "parameters
           a ~ normal(0, 1)
           w: vector(10) ~ normal(0, 2)
         rows
           yes ~ bernoulli_logit(a + dot(w, [x1, x2, x3, x4, x5, x6, x7, x8, x9, x10]))",
    ),
    (
        "data
           x = [x7, x1..x2, x1*0]
         parameters
           s ~ half_normal(1)
           w[plan]: vector(length(x)) ~ normal(0, s)
         rows
           z = dot(w[plan], x) + x[2] * length(x)
           count ~ poisson_log(z - mean(x))",
        "parameters
           s ~ half_normal(1)
           w[plan]: vector(4) ~ normal(0, s)
         rows
           z = dot(w[plan], [x7, x1, x2, x10]) + x1 * 4
           count ~ poisson_log(z - mean([x7, x1, x2, x10]))",
    ),
    (
        "data
           x: vector = x*
           y: vector = [yes, no]
         parameters
           w: matrix(2, length(x)) ~ student_t(4, 0, 1)
           m: vector(length(y)) ~ beta(1, 1)
         rows
           hidden = tanh([dot(w[1], x), dot(w[2], square(x) - 1)])
           sum(bernoulli_lpmf(y, m))
           x ~ normal(0.5 * w[1], 2 + hidden[1] * hidden[2])",
        "parameters
           w: matrix(2, 10) ~ student_t(4, 0, 1)
           m: vector(2) ~ beta(1, 1)
         rows
           all = [x1, x2, x3, x4, x5, x6, x7, x8, x9, x10]
           hidden = tanh([dot(w[1], all), dot(w[2], square(all) - 1)])
           sum(bernoulli_lpmf([yes, no], m))
           all ~ normal(0.5 * w[1], 2 + hidden[1] * hidden[2])",
    ),
];

#[test]
fn a_vector_is_its_columns() {
    let columns = table();
    for (short, long) in PAIRS {
        let (short, long) = (model(short, &columns), model(long, &columns));
        assert_eq!(short.dim(), long.dim());
        for seed in 0..5 {
            let u = position(short.dim(), seed);
            let (value, grad) = density(short.as_ref(), &u);
            let (other, of_other) = density(long.as_ref(), &u);
            assert!(value.is_finite());
            near(&[value], &[other], 1e-13, "value");
            near(&grad, &of_other, 1e-13, "gradient");
        }
        assert_eq!(short.linear_rows().is_some(), long.linear_rows().is_some());
        assert_eq!(short.prior_rows().is_some(), long.prior_rows().is_some());
    }
    // Parameters are called by the columns.
    let model = model(PAIRS[1].0, &columns);
    let names: Vec<&str> = model.params().iter().map(|it| &*it.name).collect();
    assert_eq!(
        names[..5],
        ["s", "w[a,x7]", "w[a,x1]", "w[a,x2]", "w[a,x10]"]
    );
    assert_eq!(
        model.params()[1].meaning,
        "parameter of the model, one per plan and x"
    );
}

#[test]
fn a_dot_of_columns_is_a_linear_predictor() {
    let columns = table();
    let model = model(PAIRS[0].0, &columns);
    let view = model.linear_rows().unwrap();
    assert_eq!(model.prior_rows().unwrap().count(), 11);
    for row in [0, 17, 89] {
        let covariates = view.covariates(row).to_vec();
        assert_eq!(covariates[0], 1.0);
        for (j, found) in covariates[1..].iter().enumerate() {
            let name = format!("x{}", j + 1);
            let (_, column) = columns.iter().find(|(column, _)| *column == name).unwrap();
            assert!(matches!(column, Predictor::Numeric(values) if values[row] == *found));
        }
    }
}

#[test]
fn errors_of_vectors_say_where() {
    let columns = table();
    let rest =
        "parameters\n w: vector(length(x)) ~ normal(0, 1)\nrows\n yes ~ bernoulli_logit(dot(w, x))";
    for (data, wanted) in [
        (
            "x: vector = [x1, x22]",
            "2:19: The data have no column `x22`; did you mean `x2`?",
        ),
        (
            "x: vector = x9..x11",
            "2:14: The data have no column `x11`; did you mean `x1`?",
        ),
        (
            "x: vector = [x1, px_*]",
            "2:19: The data have no column whose name is like `px_*`",
        ),
        (
            "x: vector = [x1, plan]",
            "2:19: `plan` holds text, but the columns of a vector are numbers; choose columns without it",
        ),
        (
            "x: vector = [x1, 2]",
            "2:19: Expected a column, a range such as pixel1..pixel9, or a pattern such as px_*, found `2`",
        ),
        (
            "x: vector = [x1, x1*]",
            "2:19: `x1` is in this vector already; name it once",
        ),
        (
            "x: vector = [x1, y*]",
            "2:19: `y*` chooses `yes`, which is the outcome; choose columns without it",
        ),
        (
            "x: vector = x3..x1",
            "2:14: The range ends at `x1` and never gets there from `x3`",
        ),
        (
            "x: vector = yes..no",
            "2:14: `yes` and `no` are no ends of a range, which differ in the number that ends them, as in pixel1..pixel9",
        ),
        (
            "x: vector = x1..x20000",
            "2:14: A vector has at most 10000 columns, but here are more",
        ),
        (
            "x: vector = []",
            "2:15: Expected a column, a range such as pixel1..pixel9, or a pattern such as px_*, found `]`",
        ),
        (
            "x: matrix = x*",
            "2:5: Expected `vector`, which is what columns make, found `matrix`",
        ),
        (
            "x ~ normal(0, 1)",
            "2:4: Expected `=` and columns, as in x: vector = [age, fee], found `~`",
        ),
        (
            "x: vector = x*\n x: vector = x1",
            "3:2: There is a `x` already; choose another name",
        ),
        (
            "v: vector = x*",
            "6:31: There is no parameter, definition or column `x`",
        ),
    ] {
        let found = refusal(&format!("data\n {data}\n{rest}"), &columns);
        assert!(found.starts_with(wanted), "{data}: {found}");
    }
    let sized =
        "parameters\n w: vector(length(yes)) ~ normal(0, 1)\nrows\n yes ~ bernoulli_logit(w[1])";
    assert_eq!(
        refusal(sized, &columns),
        "2:19: `yes` is no vector of the section `data`, whose length could be a size"
    );
    for (rows, wanted) in [
        (
            "yes ~ bernoulli_logit(a * x)",
            "6:24: This is a vector of 10, but what has the distribution is a number",
        ),
        (
            "yes ~ bernoulli_logit(a * x[plan])",
            "6:30: `plan` has 3 categories, but what it indexes has 10 elements",
        ),
        (
            "yes ~ bernoulli_logit(a * v[plan])",
            "6:28: `v` is a vector of columns, whose index is a number",
        ),
        (
            "yes ~ bernoulli_logit(a * x[11])",
            "6:30: The index 11 is not one of 1 to 10",
        ),
        (
            "yes ~ bernoulli_logit(dot(x, [a, a]))",
            "6:24: `dot` takes two vectors of one length, but a vector of 10 and a vector of 2 are given",
        ),
        (
            "yes ~ bernoulli_logit(a)\ntarget\n a * sum(x)",
            "8:10: `x` is a vector of columns, which have values in the section `rows` alone",
        ),
        (
            "yes ~ bernoulli_logit(a * length(a))",
            "6:35: `length` is of a vector, but this is a number",
        ),
        (
            "yes ~ bernoulli_logit(a * x1 + b[x1])\nreport\n b = [a, a]",
            "6:35: `x1` is used as categories here and as a number elsewhere; a column is one or the other",
        ),
    ] {
        let text = format!(
            "data\n x: vector = x*\n v: vector = [x1, x2, x3]\nparameters\n a ~ normal(0, 1)\nrows\n {rows}"
        );
        // The line of the rows is the seventh.
        let (line, rest) = wanted.split_once(':').unwrap();
        let wanted = format!("{}:{rest}", line.parse::<usize>().unwrap() + 1);
        assert_eq!(refusal(&text, &columns), wanted, "{rows}");
    }
}

#[test]
fn a_table_says_what_a_vector_chooses() {
    let number = |name: &str| (name.to_owned(), Values::Numbers(vec![1.0, 2.0]));
    let table = MemoryColumns::new(
        "t",
        vec![
            number("px_10"),
            number("px_9"),
            ("px_name".to_owned(), Values::Texts(vec![None, None])),
            number("y"),
        ],
    )
    .unwrap();
    let program = |columns: &str| {
        let text = format!(
            "data\n px: vector = {columns}\nparameters\n w: vector(length(px)) ~ normal(0, 1)\nrows\n y ~ normal(dot(w, px), 1)"
        );
        Program::parse(&text).unwrap()
    };
    let ranged = program("px_9..px_10");
    assert_eq!(ranged.formula(), "~ px_9 + px_10 + y");
    assert_eq!(ranged.formula_for(&table).unwrap(), ranged.formula());
    assert!(ranged.check_columns(&table).is_ok());
    // What a pattern chooses is not known without the table.
    let pattern = program("px_*0");
    assert_eq!(pattern.formula(), "~ y");
    assert_eq!(pattern.formula_for(&table).unwrap(), "~ px_10 + y");
    assert_eq!(pattern.columns_for(&table).unwrap(), ["px_10", "y"]);
    assert!(!pattern.needs_no_data());
    let why = program("px_*").check_columns(&table).unwrap_err();
    assert_eq!((why.line, why.column, why.width), (2, 15, 4));
    assert!(why.message.starts_with("`px_name` holds text"), "{why}");
    assert!(program("qx_*").formula_for(&table).is_err());
}

#[test]
fn a_pattern_does_not_choose_the_outcome() {
    let number = |name: &str| (name.to_owned(), Values::Numbers(vec![1.0, 2.0]));
    let table = MemoryColumns::new("t", vec![number("x"), number("x2"), number("y")]).unwrap();
    let check = |columns: &str, line: &str| {
        let text = format!(
            "data\n x: vector = {columns}\nparameters\n w: vector(length(x)) ~ normal(0, 1)\nrows\n {line}"
        );
        Program::parse(&text).unwrap().check_columns(&table)
    };
    let regression = "y ~ normal(dot(w, x), 1)";
    for line in [regression, "log(y) ~ normal(dot(w, x), 1)"] {
        let why = check("*", line).unwrap_err();
        assert_eq!((why.line, why.column, why.width), (2, 14, 1));
        let wanted = "`*` chooses `y`, which is the outcome; choose columns without it";
        assert_eq!(why.message, wanted);
    }
    assert!(check("x*", regression).is_ok());
    // By its name, or as outcome with all others.
    assert!(check("[x, y]", regression).is_ok());
    assert!(check("*", "x ~ normal(w, 1)").is_ok());
}

#[test]
fn new_rows_have_their_columns_by_name() {
    let columns = table();
    let model = model(PAIRS[0].0, &columns);
    let observation = model.observation().unwrap();
    assert!(observation.refusal().is_none());
    let names: Vec<String> = (1..=10).map(|j| format!("x{j}")).collect();
    assert_eq!(observation.predictors(), names);
    // Columns in another order, more of them, and no outcome.
    let mut fresh: Vec<(String, Predictor)> = (1..=10)
        .map(|j| numbers(&format!("x{j}"), &[f64::from(j), 0.5]))
        .collect();
    fresh.push(numbers("yes", &[0.0, 0.0]));
    fresh.push(numbers("x11", &[9.0, 9.0]));
    let rows = observation.code(&fresh, &[false, false]).unwrap();
    // The coefficients are 0, 0.01, …, 0.1.
    let draws: Vec<Vec<f64>> = (0..model.params().len())
        .map(|j| vec![0.01 * j as f64])
        .collect();
    let draws = observation.prepare(draws);
    let mut out = vec![0.0; rows.width()];
    rows.distribution(0, &draws, 0, &mut out);
    let z: f64 = (1..=10).map(|j| 0.01 * f64::from(j * j)).sum();
    near(&out[..1], &[1.0 / (1.0 + (-z).exp())], 1e-12, "chance");
    fresh.remove(3);
    let why = observation.code(&fresh, &[false, false]).unwrap_err();
    assert!(why.message.contains("`x4`"), "{why}");
}

#[test]
fn stan_has_a_vector_as_a_matrix_of_rows_and_columns() {
    let columns = table();
    let stan = |text: &str| {
        let program = Program::parse(text).unwrap();
        let stan = program.stan_of(&columns, 90);
        stan.unwrap_or_else(|error| panic!("{error}\n{}", error.excerpt()))
    };
    assert_eq!(
        stan(PAIRS[0].0).trim_end(),
        "data {
  int<lower=1> N;  // rows
  int<lower=1> K_x;
  array[N] int<lower=0, upper=1> yes;
  matrix[N, K_x] x;  // x1, x2, x3, x4, x5, x6, x7, x8, x9, x10
}
parameters {
  real a;
  vector[K_x] w;
}
model {
  a ~ normal(0.0, 1.0);
  w ~ normal(0.0, 2.0);
  for (n in 1:N) {
    yes[n] ~ bernoulli_logit(a + dot_product(w, x[n]));
  }
}"
    );
    let grouped = stan(PAIRS[1].0);
    for line in [
        "array[K_plan] vector[K_x] w;",
        "matrix[N, K_x] x;  // x7, x1, x2, x10",
        "real z = dot_product(w[plan[n]], x[n]) + x[n, 2] * 4.0;",
        "count[n] ~ poisson_log(z - mean(x[n]));",
    ] {
        assert!(grouped.contains(line), "{line} in {grouped}");
    }
    // Counts are whole numbers, of which no products of vectors are made.
    let outcomes = stan(PAIRS[2].0);
    for line in [
        "array[N, K_y] int<lower=0, upper=1> y;  // yes, no",
        "array[2] vector[K_x] w;",
        "vector<lower=0.0, upper=1.0>[K_y] m;",
        "target += sum({bernoulli_lpmf(y[n, 1] | m[1]), bernoulli_lpmf(y[n, 2] | m[2])});",
        "x[n, i] ~ normal(0.5 * w[1, i], ",
    ] {
        assert!(outcomes.contains(line), "{line} in {outcomes}");
    }
}

#[test]
fn the_window_shows_a_vector_as_it_is_written() {
    let text = "data # of the table\n  x: vector = [age, px_*]\nparameters\n  w: vector(length(x)) ~ normal(0, 1)\nrows\n  y ~ normal(dot(w, x), 1)\n";
    let program = Program::parse(text).unwrap();
    let equation = program.equation(None);
    assert_eq!(
        equation.lines().next(),
        Some("x[i] = [age[i], columns px_*]")
    );
    let sections: Vec<&str> = (highlight(text).into_iter())
        .filter(|(_, word)| *word == Word::Section)
        .map(|(span, _)| &text[span.start..span.end])
        .collect();
    assert_eq!(sections, ["data", "parameters", "rows"]);
    let begun = "data\n  x: vector = ag..agen";
    let offered = complete(begun, 21, &["age", "fee"]).unwrap();
    assert_eq!(offered.words, ["age", "agen"]);
    let offered = complete("parameters\n  w: vector(len", 26, &[]).unwrap();
    assert_eq!(offered.words, ["length("]);
}

/// A sum over a long vector does not recurse as deep as that is long.
#[test]
fn long_vectors_do_not_overflow_the_stack() {
    let count = 6000;
    let mut columns: Vec<(String, Predictor)> = (1..=count)
        .map(|j| numbers(&format!("x{j}"), &[f64::from(j) / 6000.0, 1.0]))
        .collect();
    columns.push(numbers("y", &[0.25, 0.5]));
    let text = "data\n x: vector = x*\nparameters\n a ~ normal(0, 1)\n w: vector(length(x)) ~ normal(0, 1)\nrows\n size = mean(x) + max(x) + 2 * min(x) + log_sum_exp(x)\n y ~ normal(a * size + dot(w, x), 1)";
    let model = model(text, &columns);
    assert!(model.linear_rows().is_some());
    let mut u = vec![0.0; model.dim()];
    (u[0], u[6000]) = (3.0, -1.0);
    let view = model.linear_rows().unwrap();
    // The outcome without its mean; the mean of 1/6000, …, 1 is 6001/12000, and the largest comes last.
    let total: f64 = (1..=count)
        .map(|j| (f64::from(j) / 6000.0 - 1.0).exp())
        .sum();
    let sizes = [
        6001.0 / 12000.0 + 1.0 + 2.0 / 6000.0 + (1.0 + total.ln()),
        1.0 + 1.0 + 2.0 + (1.0 + 6000.0_f64.ln()),
    ];
    near(
        &[view.predictor(0, &u), view.predictor(1, &u)],
        &[0.25 - (3.0 * sizes[0] - 1.0), 0.5 - (3.0 * sizes[1] - 1.0)],
        1e-11,
        "predictors",
    );
}
