//! `tune`: step sizes tried side by side by short runs; the best is printed as the setting to use.

use serde_json::json;

use super::args::TuneArgs;
use super::{Failure, fit, output, progress};
use ergodic_analysis::tuning::{self, Fate, KEY, Tuning};
use ergodic_analysis::{Job, JobError};
use ergodic_base::Control;
use ergodic_base::settings::Value;

/// Tunes.
pub fn tune(args: &TuneArgs) -> Result<(), Failure> {
    args.model.keeps_nothing("tune")?;
    let fit::Request {
        mut recipe,
        folder,
        loaded,
    } = fit::recipe_of(&args.model)?;
    recipe.sampler.settings.unset(KEY);
    let job =
        Job::prepare(&recipe, &folder, loaded, &Control::default()).map_err(Failure::request)?;
    let control = Control::default();
    output::note(&format!("Trying step sizes of {}", job.sampler.spec.id));
    let tuning = progress::work(
        "tuning",
        &control,
        || tuning::tune(&job, &control),
        |share| share.map(|share| format!("{:.0} % done", 100.0 * share)),
        |error, _interrupted| match error {
            JobError::Cancelled => Failure::interrupted("Interrupted; tuning keeps nothing"),
            error => Failure::request(error),
        },
    )?;
    if args.model.json {
        output::result(&(to_json(&tuning).map_err(Failure::run)? + "\n"));
    } else {
        output::result(&table(&tuning, job.sampler.spec.id));
    }
    Ok(())
}

fn to_json(tuning: &Tuning) -> serde_json::Result<String> {
    let trials: Vec<_> = tuning
        .trials
        .iter()
        .map(|trial| {
            json!({
                "step_size": trial.value,
                "squared_stein_discrepancies": trial.discrepancies,
                "outcome": trial.fate.to_string(),
            })
        })
        .collect();
    serde_json::to_string_pretty(&json!({
        "trials": trials,
        "chosen": tuning.chosen,
        "default": tuning.default,
    }))
}

fn table(tuning: &Tuning, sampler: &str) -> String {
    let rows: Vec<Vec<String>> = (tuning.trials.iter())
        .map(|trial| {
            let rounds = trial.discrepancies.iter();
            let rounds: Vec<String> = rounds.map(|value| format!("{value:.3e}")).collect();
            let mark = if trial.value == tuning.default {
                ", the default"
            } else {
                ""
            };
            vec![
                format!("{:.5}", trial.value),
                rounds.join("  "),
                format!("{}{mark}", trial.fate),
            ]
        })
        .collect();
    let header = ["step size", "squared Stein discrepancy by round", "outcome"];
    let mut text = output::table(&header, &rows);
    let best = tuning
        .trials
        .iter()
        .find(|trial| trial.fate == Fate::Chosen);
    if let Some(best) = best {
        let value = Value::Real(best.value);
        text.push_str(&format!(
            "Use it with --sampler {sampler} --set sampler.{KEY}={value}\n"
        ));
    }
    text
}
