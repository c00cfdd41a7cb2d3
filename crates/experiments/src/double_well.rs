//! Optimisers that start in the higher of two wells: which of them get to the deeper one.
//!
//! Source: Chen (2016), slides on Santa: U(θ) = (θ+4)(θ+1)(θ−1)(θ−3)/14 + 1/2, whose deeper well is near −2.9 and whose higher one
//! near 2.2, and a picture of one run each of RMSprop and Santa. Here a parameter has [`COPIES`] coordinates, each in a well of its
//! own: RMSprop and Santa move every coordinate by itself, with noise of its own, so that one search is as many runs.

use super::problem::row;
use super::{BenchOptions, BenchTable, Finding, Plot};
use crate::error::BenchError;
use ergodic_base::Control;
use ergodic_base::settings::{Settings, Value};
use ergodic_core::estimators::{Plan, find_mode_by};
use ergodic_language::Program;

/// Runs of each optimiser.
const COPIES: usize = 40;
/// Start of the runs: in the higher well, up the slope to the deeper one.
const START: f64 = 1.8;
/// Steps of a search.
const STEPS: i64 = 20_000;

/// Share of searches that must have left the well before that counts as an ability.
const ESCAPED: f64 = 0.25;

/// Optimisers with their learning rates: those with which each falls into a well within the first tenth of the steps. Santa cools
/// slowly, as β = t^0.1: with one row the noise of the exploration is that of U itself.
const ENTRANTS: [(&str, &[(&str, f64)]); 5] = [
    ("sgd", &[("learning_rate", 0.01)]),
    ("sgd-m", &[("learning_rate", 0.01)]),
    ("adam", &[("learning_rate", 0.01)]),
    ("rmsprop", &[("learning_rate", 0.01)]),
    ("santa", &[("learning_rate", 0.01), ("annealing", 0.1)]),
];

/// Runs the experiment, which is quick.
///
/// # Errors
/// A search fails.
pub fn run(_options: &BenchOptions) -> Result<BenchTable, BenchError> {
    let text = format!(
        "parameters\n x: vector({COPIES})\nrows\n sum(-((x + 4) * (x + 1) * (x - 1) * (x - 3) / 14 + 0.5))"
    );
    let model = Program::parse(&text)?.model_of(&[], 1)?;
    let mut rows = Vec::new();
    for (method, numbers) in ENTRANTS {
        let mut settings = Settings::default();
        for (key, value) in numbers {
            settings.set(key, Value::Real(*value));
        }
        settings.set("steps", Value::Int(STEPS));
        let mut plan = Plan::new(method, &settings, model.as_ref())?;
        plan.start = Some(vec![START; COPIES]);
        let found = find_mode_by(model.as_ref(), &plan, &Control::default());
        let ends = found.map_err(BenchError::unknown)?;
        let ends = ends.centre.u;
        let share = |is: &dyn Fn(f64) -> bool| {
            ends.iter().filter(|x| is(**x)).count() as f64 / COPIES as f64
        };
        let mean = ends.iter().map(|x| potential(*x)).sum::<f64>() / COPIES as f64;
        let numbers = [share(&|x| x < 0.0), share(&|x| x > 0.0), mean];
        rows.push((method, numbers));
    }
    let of = |method: &str| {
        let found = rows.iter().find(|(name, _)| *name == method);
        found.map_or(f64::NAN, |(_, numbers)| numbers[0])
    };
    let (stuck, escaped) = (of("rmsprop"), of("santa"));
    Ok(BenchTable {
        columns: vec!["optimiser", "deeper_well", "higher_well", "mean_potential"],
        rows: rows
            .iter()
            .map(|(name, numbers)| row(&[*name], numbers))
            .collect(),
        notes: vec![format!(
            "Shares of {COPIES} searches of {STEPS} steps from {START}, in the higher well; the potential is −2.94 at the bottom of the \
             deeper well and −0.86 at that of the higher one; each search ends with steps of Newton"
        )],
        findings: vec![Finding {
            claim: "RMSprop gets stuck in the local mode where it starts, and Santa is able to jump out of it",
            reproduced: stuck == 0.0 && escaped > ESCAPED,
            because: format!(
                "of {COPIES} searches RMSprop left the higher well in {:.0} % and Santa in {:.0} %",
                100.0 * stuck,
                100.0 * escaped
            ),
        }],
        plots: vec![
            Plot::points("optimiser", &["deeper_well", "higher_well"]).named("share of searches"),
        ],
        ..BenchTable::default()
    })
}

fn potential(x: f64) -> f64 {
    (x + 4.0) * (x + 1.0) * (x - 1.0) * (x - 3.0) / 14.0 + 0.5
}

#[cfg(test)]
mod tests {
    use super::super::problem::testing::{number, quick};
    use super::*;

    /// An independent program found seven of eight runs of Santa, from a start nearer to the bottom, in the deeper well. Others leave
    /// no well without noise.
    #[test]
    fn santa_leaves_the_well_that_holds_the_others() {
        let table = quick(run);
        for (method, _) in ENTRANTS {
            let deeper = number(&table, &[method], "deeper_well");
            assert!(
                if method == "santa" {
                    deeper > ESCAPED
                } else {
                    deeper == 0.0
                },
                "{method}: {deeper}"
            );
        }
        assert!(table.findings[0].reproduced);
    }
}
