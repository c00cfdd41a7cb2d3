//! What a gradient costs of a model written as text, as a multiple of the template's: logistic rows of plain columns, with slopes
//! by a category, with an offset, and with intercepts of many groups, all in order and in minibatches of 500. `cargo bench --bench own`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ergodic_core::design::{Design, MemoryColumns, ModelFrame, Predictor, ResponseUse, Values};
use ergodic_core::models::{Model, ModelOptions, RowLikelihood, Rows, find};
use ergodic_core::synthetic::{Synthetic, of_shape};
use ergodic_language::Program;

#[path = "support/case.rs"]
#[expect(dead_code, reason = "steps are for another benchmark")]
mod case;
mod support;

/// Rows of a table that fits into the caches of a usual processor, so that arithmetic is measured and not memory.
const ROWS: usize = 20_000;
/// Rows of a minibatch.
const BATCH: usize = 500;
/// Passes of each model, of which the shortest counts.
const PASSES: usize = 200;

fn own(data: &Synthetic) -> Arc<dyn Model> {
    let columns = data.theta.len();
    let mut table = vec![("y".to_owned(), Predictor::Numeric(data.y.clone()))];
    let mut predictor = "a".to_owned();
    let mut parameters = "parameters\n a ~ normal(0, 10)\n".to_owned();
    for j in 1..columns {
        let values = data.x.iter().skip(j).step_by(columns).copied();
        table.push((format!("x{j}"), Predictor::Numeric(values.collect())));
        predictor.push_str(&format!(" + b{j} * x{j}"));
        parameters.push_str(&format!(" b{j} ~ normal(0, 2.5)\n"));
    }
    let text = format!("{parameters}rows\n y ~ bernoulli_logit({predictor})\n");
    let program = Program::parse(&text).expect("the program is right");
    program
        .model_of(&table, data.y.len())
        .expect("the columns are there")
}

/// Template, formula and text of models with categories.
const CATEGORIES: [(&str, &str, &str); 3] = [
    (
        "logistic",
        "y ~ region + plan:age + plan:fee",
        "parameters
           a ~ normal(0, 10)
           s ~ half_student_t(3, 0, 2.5)
           b[region] ~ normal(0, s)
           w: matrix(3, 2) ~ normal(0, 1)
         rows
           y ~ bernoulli_logit(a + b[region] + dot(w[plan], [age, fee]))",
    ),
    (
        "logistic",
        "y ~ region + plan:age + plan:fee + offset(known)",
        "parameters
           a ~ normal(0, 10)
           b[region] ~ normal(0, 1)
           w: matrix(3, 2) ~ normal(0, 1)
         rows
           y ~ bernoulli_logit(a + b[region] + dot(w[plan], [age, fee]) + known)",
    ),
    (
        "mixed",
        "y ~ age + (1 | shop)",
        "parameters
           a ~ normal(0, 10)
           b ~ normal(0, 1)
           s ~ half_student_t(3, 0, 2.5)
           c[shop] ~ normal(0, s)
         rows
           y ~ bernoulli_logit(a + b * age + c[shop])",
    ),
];

/// Yes or no beside two numbers, an offset, four regions, three plans and fifty shops.
fn table() -> MemoryColumns {
    let data = of_shape(ROWS, 4);
    let column = |j: usize| Values::Numbers(data.x.iter().skip(j).step_by(4).copied().collect());
    // Neighbouring rows have other categories, in no short cycle of all.
    let category = |step: usize, count: usize| {
        let level = |row: usize| Some(format!("level{}", (row * step + row / 97) % count));
        Values::Texts((0..ROWS).map(level).collect())
    };
    let columns = [
        ("y", Values::Numbers(data.y.clone())),
        ("age", column(1)),
        ("fee", column(2)),
        ("known", column(3)),
        ("region", category(7, 4)),
        ("plan", category(5, 3)),
        ("shop", category(31, 50)),
    ];
    let columns = columns.map(|(name, values)| (name.to_owned(), values));
    MemoryColumns::new("rows", columns.into()).expect("the columns are as long as each other")
}

/// The template's model of a formula, and the model of a text.
fn with_categories(
    table: &MemoryColumns,
    (template, formula, text): (&str, &str, &str),
) -> [Arc<dyn Model>; 2] {
    let entry = find(template).expect("the template is registered");
    let mut given = ergodic_base::settings::Settings::default();
    if template == "mixed" {
        given.set("family", "bernoulli".into());
    }
    let settings = entry.resolve(&given).expect("the settings are valid");
    let design = |formula: &str, response_use: ResponseUse| {
        let frame = ModelFrame {
            response_use,
            ..ModelFrame::new(formula.parse().expect("the formula is right"))
        };
        Design::build(table, &frame)
            .expect("the columns are there")
            .0
    };
    let of_template = design(formula, (entry.spec.response)(&settings));
    let options = ModelOptions {
        settings,
        ..ModelOptions::default()
    };
    let theirs = (entry.build)(Arc::new(of_template), &options).expect("the design is valid");
    let program = Program::parse(text).expect("the program is right");
    let of_text = design(&program.formula(), ResponseUse::Absent);
    let ours = program.model(&of_text).expect("the columns are there");
    [theirs, ours]
}

/// The shortest time of a pass over `rows`.
fn time(model: &dyn RowLikelihood, rows: Rows<'_>) -> Duration {
    let u = vec![0.1; model.dim()];
    let (mut grad, mut scratch) = (vec![0.0; u.len()], model.scratch());
    let mut best = Duration::MAX;
    let passes = if support::is_test() { 2 } else { PASSES };
    for _ in 0..passes {
        let start = Instant::now();
        std::hint::black_box(model.log_lik(&u, rows, &mut scratch, &mut grad));
        best = best.min(start.elapsed());
    }
    best
}

#[expect(
    clippy::print_stdout,
    reason = "a benchmark reports on standard output"
)]
fn compare(what: &str, [template, own]: [&Arc<dyn Model>; 2], picks: &[u32]) {
    for (which, rows, count) in [
        ("all", Rows::All, ROWS),
        ("minibatch", Rows::Pick(picks), BATCH),
    ] {
        let per_row = |model: &Arc<dyn Model>| {
            let rows_of = model.rows().expect("rows of data");
            time(rows_of, rows).as_secs_f64() * 1e9 / count as f64
        };
        let (theirs, ours) = (per_row(template), per_row(own));
        println!(
            "{what:<48} {which:>10} {theirs:>12.2} {ours:>11.2} {:>6.2}",
            ours / theirs
        );
    }
}

#[expect(
    clippy::print_stdout,
    reason = "a benchmark reports on standard output"
)]
fn main() {
    println!(
        "{:<48} {:>10} {:>12} {:>11} {:>6}",
        "model", "rows", "template ns", "as text ns", "ratio"
    );
    let picks: Vec<u32> = (0..BATCH as u32).map(|k| k * 7919 % ROWS as u32).collect();
    for columns in [3, 10, 50] {
        let data = of_shape(ROWS, columns);
        let own = own(&data);
        let template = case::Case::new(data, "logistic").model;
        compare(&format!("{columns} columns"), [&template, &own], &picks);
    }
    let table = table();
    for case in CATEGORIES {
        let [template, own] = with_categories(&table, case);
        compare(case.1, [&template, &own], &picks);
    }
}
