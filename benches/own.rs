//! What a gradient costs of a model written as text, as a multiple of the template's: logistic rows, all in order and in
//! minibatches of 500. `cargo bench --bench own`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ergodic_core::design::matrix::Predictor;
use ergodic_core::models::{Model, RowLikelihood, Rows};
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
fn main() {
    println!(
        "{:>8} {:>12} {:>14} {:>14} {:>6}",
        "columns", "rows", "template ns", "as text ns", "ratio"
    );
    let picks: Vec<u32> = (0..BATCH as u32).map(|k| k * 7919 % ROWS as u32).collect();
    for columns in [3, 10, 50] {
        let data = of_shape(ROWS, columns);
        let own = own(&data);
        let template = case::Case::new(data, "logistic").model;
        for (what, rows, count) in [
            ("all", Rows::All, ROWS),
            ("minibatch", Rows::Pick(&picks), BATCH),
        ] {
            let per_row = |model: &Arc<dyn Model>| {
                let rows_of = model.rows().expect("rows of data");
                time(rows_of, rows).as_secs_f64() * 1e9 / count as f64
            };
            let (theirs, ours) = (per_row(&template), per_row(&own));
            println!(
                "{columns:>8} {what:>12} {theirs:>14.2} {ours:>14.2} {:>6.2}",
                ours / theirs
            );
        }
    }
}
