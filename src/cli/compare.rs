//! `compare`: every sampler that suits a model with its default settings, beside NUTS, or for mixtures
//! beside collapsed Gibbs: bias and cost.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::{Value as Json, json};

use super::args::{CompareArgs, Reference};
use super::{Failure, fit, output, results};
use ergodic_analysis::comparison::{self, Measured, Row, Yardstick};
use ergodic_analysis::recipe::Scale;
use ergodic_analysis::{Job, Run};
use ergodic_base::control::Control;
use ergodic_base::numerals::fixed;
use ergodic_core::samplers::{self, SamplerEntry};
use ergodic_export::RunFolder;

/// Compares samplers.
pub fn compare(args: &CompareArgs) -> Result<(), Failure> {
    let entries = chosen(&args.samplers)?;
    let (request, yardstick) = subject(args)?;
    let (folder, loaded) = (request.folder, request.loaded);
    let control = Control::default();
    let job = comparison::job(request.recipe, |recipe| {
        Job::prepare(recipe, &folder, loaded.clone(), &control)
    })
    .map_err(Failure::request)?;
    let interrupted = fit::interrupt_flag();
    let run = |mut job: Job| -> Result<Run, Failure> {
        job.recipe.run.max_seconds = args.model.max_seconds;
        let id = job.sampler.spec.id;
        output::note(&format!("Running {id} with its default settings"));
        let (run, _) = fit::watch(&Arc::new(job), None, None, &interrupted)?;
        if interrupted.load(Ordering::Relaxed) {
            return Err(Failure::interrupted(
                "Interrupted; a comparison keeps nothing",
            ));
        }
        Ok(run)
    };
    let mut rows = Vec::new();
    comparison::compare(
        &job,
        &entries,
        yardstick,
        run,
        |_failure| interrupted.load(Ordering::Relaxed),
        |failure| failure.message,
        |row| rows.push(row),
    )?;
    let num_obs = job.model.num_obs();
    if args.model.json {
        let unit = comparison::unit_of_cost(&rows);
        let all: Vec<Json> = rows.iter().map(|row| to_json(row, num_obs, unit)).collect();
        let text = serde_json::to_string_pretty(&all).map_err(Failure::run)?;
        output::json(&(text + "\n"));
    } else {
        output::result(&table(&rows, num_obs));
    }
    Ok(())
}

/// The model with its data, and what samplers are compared with.
fn subject(args: &CompareArgs) -> Result<(fit::Request, Yardstick), Failure> {
    // Shifts in posterior standard deviations do not depend on the scale, but the intercept of raw predictors is a
    // difference of large numbers, whose errors would be those of all slopes.
    let mut scale = Scale::Standardised;
    let mut model = args.model.clone();
    if model.sampler.is_some() {
        return Err(Failure::request(
            "A comparison has several samplers: name them with --samplers, not --sampler",
        ));
    }
    model.keeps_nothing("compare")?;
    let yardstick = match &args.reference {
        Reference::Nuts => Yardstick::Nuts,
        Reference::Quadratic => Yardstick::Quadratic,
        Reference::Run(path) => {
            let folder = RunFolder::open(path).map_err(|error| {
                Failure::request(format!(
                    "A reference is `nuts`, `quadratic` or a run folder. {error}"
                ))
            })?;
            scale = folder.recipe().map_err(Failure::request)?.report.scale;
            if model.recipe.is_none() && model.data.is_none() {
                model.recipe = Some(path.join("recipe.toml"));
            }
            let results = results::of_folder(&folder)?;
            Yardstick::Summary(results.summary)
        }
    };
    let mut request = fit::recipe_of(&model)?;
    request.recipe.report.scale = scale;
    Ok((request, yardstick))
}

/// The samplers asked for, or all.
fn chosen(ids: &[String]) -> Result<Vec<&'static SamplerEntry>, Failure> {
    if ids.is_empty() {
        return Ok(samplers::REGISTRY.iter().collect());
    }
    ids.iter()
        .map(|id| {
            samplers::find(id).ok_or_else(|| {
                Failure::request(format!(
                    "There is no sampler `{id}`; `ergodic list samplers` shows them"
                ))
            })
        })
        .collect()
}

fn to_json(row: &Row, num_obs: usize, unit: Option<(&str, f64)>) -> Json {
    match &row.outcome {
        Err(reason) => json!({"sampler": row.sampler, "exact": row.exact, "not_run": reason}),
        Ok(m) => json!({
            "sampler": row.sampler,
            "exact": row.exact,
            "seconds": m.seconds,
            "mean_shift_sd": m.mean_shift,
            "sd_ratio": [m.sd_ratio.0, m.sd_ratio.1],
            "rhat": m.rhat,
            "ess_bulk": m.ess,
            "inefficiency": m.inefficiency,
            "passes_per_ess": m.rows_per_ess / num_obs as f64,
            "relative_cost": unit.map(|(_, cost)| m.rows_per_ess / cost),
            "relative_to": unit.map(|(id, _)| id),
            "rows_share": m.rows_share,
            "accept": m.accept,
            "positive": m.positive,
        }),
    }
}

/// The table for people; costs are relative to those of one sampler ([`comparison::unit_of_cost`]). Reasons of samplers that
/// did not run stand below it.
fn table(rows: &[Row], num_obs: usize) -> String {
    let (unit, cost) = comparison::unit_of_cost(rows).unwrap_or(("none", f64::NAN));
    let relative = format!("x {unit}");
    let header = [
        "sampler",
        "seconds",
        "mean shift",
        "sd ratio",
        "R-hat",
        "ESS",
        "IF",
        "passes/ESS",
        &relative,
        "rows, %",
        "accept",
        "sign",
    ];
    let (mut lines, mut refused) = (Vec::new(), String::new());
    for row in rows {
        match &row.outcome {
            Err(reason) => refused.push_str(&format!("{}: {reason}\n", row.sampler)),
            Ok(measured) => lines.push(line(row, measured, num_obs, cost)),
        }
    }
    let table = output::table(&header, &lines);
    format!(
        "{table}{refused}mean shift: worst parameter, in posterior standard deviations from the reference; IF: draws per effective \
         draw; passes: log densities and gradients of all rows; x {unit}: passes/ESS as a multiple of that sampler's\n",
    )
}

/// One row; `unit` is the cost that others are related to.
fn line(row: &Row, m: &Measured, num_obs: usize, unit: f64) -> Vec<String> {
    let share = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |v| fixed(v, 3));
    let name = if row.exact {
        row.sampler.to_owned()
    } else {
        format!("{} ~", row.sampler)
    };
    vec![
        name,
        fixed(m.seconds, 2),
        fixed(m.mean_shift, 3),
        format!("{} to {}", fixed(m.sd_ratio.0, 3), fixed(m.sd_ratio.1, 3)),
        fixed(m.rhat, 4),
        fixed(m.ess, 0),
        fixed(m.inefficiency, 1),
        fixed(m.rows_per_ess / num_obs as f64, 4),
        fixed(m.rows_per_ess / unit, 1),
        fixed(100.0 * m.rows_share, 3),
        share(m.accept),
        share(m.positive),
    ]
}
