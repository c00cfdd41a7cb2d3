//! `compare`: every sampler that suits a model, or those named with settings of their own, beside NUTS, or for mixtures
//! beside collapsed Gibbs: bias and cost.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::{Value as Json, json};

use super::args::{CompareArgs, Reference};
use super::source::Source;
use super::{Failure, fit, output, results};
use ergodic_analysis::comparison::{self, Measured, Row, Spread, Variant, Yardstick, unit_of_cost};
use ergodic_analysis::{Job, Run, Scale};
use ergodic_base::Control;
use ergodic_base::numerals::{fixed, significant};
use ergodic_core::engine::Sampling as _;
use ergodic_core::samplers;
use ergodic_export::RunFolder;
use ergodic_report::{PictureFormat, density_overlay, save_figure};

/// Compares samplers.
pub fn compare(args: &CompareArgs) -> Result<(), Failure> {
    let variants = chosen(&args.samplers)?;
    if let Some(path) = &args.densities {
        PictureFormat::of(path).map_err(Failure::request)?;
        ergodic_export::check_place(path, inputs(args)).map_err(Failure::request)?;
    }
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
        let settings = job.recipe.sampler.settings.iter();
        let settings: Vec<String> = settings
            .map(|(key, value)| format!("{key} = {value}"))
            .collect();
        let settings = match settings.as_slice() {
            [] => String::new(),
            some => format!(" ({})", some.join(", ")),
        };
        output::note(&format!("Running {}{settings}", job.sampler.spec.title));
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
        &variants,
        yardstick,
        run,
        |_failure| interrupted.load(Ordering::Relaxed),
        |failure| failure.message,
        |row| rows.push(row),
    )?;
    let num_obs = job.model.num_obs();
    if args.model.json {
        let all: Vec<Json> = rows
            .iter()
            .map(|row| to_json(row, num_obs, &rows))
            .collect();
        output::json(&all)?;
    } else {
        output::result(&table(&rows, num_obs));
    }
    if let Some(path) = &args.densities {
        let names = job.variables();
        let figure =
            density_overlay(&rows, &names, comparison::scale(&job)).map_err(Failure::request)?;
        let caption = save_figure(&figure, path).map_err(Failure::run)?;
        output::note(&caption);
    }
    if rows.iter().all(|row| row.outcome.is_err()) {
        return Err(Failure::request(
            "None of these samplers could be run; the table says why of each",
        ));
    }
    Ok(())
}

/// Files and run folders that a comparison reads.
fn inputs(args: &CompareArgs) -> Vec<&Path> {
    let model = &args.model;
    let paths = [&model.model, &model.centre_from];
    let mut inputs: Vec<&Path> = paths.into_iter().flatten().map(PathBuf::as_path).collect();
    inputs.extend(model.source.as_ref().map(Source::path));
    inputs.extend(model.data.iter().chain(&model.start).map(Path::new));
    if let Reference::Run(folder) = &args.reference {
        inputs.push(folder);
    }
    inputs
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
            if model.source.is_none() && model.data.is_none() {
                model.source = Some(Source::Recipe(path.join("recipe.toml")));
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
fn chosen(texts: &[String]) -> Result<Vec<Variant>, Failure> {
    if texts.is_empty() {
        return Ok(samplers::REGISTRY.iter().map(Variant::from).collect());
    }
    let read = |text: &String| text.parse().map_err(Failure::request);
    texts.iter().map(read).collect()
}

fn to_json(row: &Row, num_obs: usize, rows: &[Row]) -> Json {
    let name = row.variant.to_string();
    let spread = |it: Spread| json!({"min": it.min, "median": it.median, "max": it.max});
    match &row.outcome {
        Err(reason) => json!({"sampler": name, "exact": row.exact(), "not_run": reason}),
        Ok(m) => {
            let unit = unit_of_cost(rows);
            let relative = unit.and_then(|(_, unit)| m.relative_to(unit));
            json!({
                "sampler": name,
                "exact": row.exact(),
                "seconds": m.seconds,
                "mean_shift_sd": m.mean_shift,
                "sd_ratio": [m.sd_ratio.0, m.sd_ratio.1],
                "rhat": m.rhat,
                "ess_bulk": m.ess,
                "inefficiency": m.inefficiency,
                "passes_per_ess": m.rows_per_ess / num_obs as f64,
                "relative_cost": relative.map(|it| spread(it.whole)),
                "relative_cost_after_warmup": relative.map(|it| spread(it.after_warmup)),
                "relative_to": unit.map(|(variant, _)| variant.to_string()),
                "rows_share": m.rows_share,
                "accept": m.accept,
                "accept_rows": m.accept_rows,
                "positive": m.positive,
            })
        }
    }
}

/// The tables for people: bias and cost, and costs relative to those of one sampler ([`unit_of_cost`]). Reasons of samplers that
/// did not run stand below them.
fn table(rows: &[Row], num_obs: usize) -> String {
    let header = [
        "sampler",
        "seconds",
        "mean shift",
        "sd ratio",
        "R-hat",
        "ESS",
        "IF",
        "passes/ESS",
        "rows, %",
        "accept",
        "accept rows",
        "sign",
    ];
    let (mut lines, mut refused) = (Vec::new(), String::new());
    for row in rows {
        match &row.outcome {
            Err(reason) => refused.push_str(&format!("{}: {reason}\n", row.variant)),
            Ok(measured) => lines.push(line(row, measured, num_obs)),
        }
    }
    let mut text = output::table(&header, &lines);
    text.push_str(&refused);
    text.push_str(
        "mean shift: worst parameter, in posterior standard deviations from the reference; IF: draws per effective draw; passes: log \
         densities and gradients of all rows; accept rows: acceptance of new rows that stand for all; ~: approximate\n",
    );
    text.push_str(&relative_table(rows));
    text
}

/// Relative computational times.
fn relative_table(rows: &[Row]) -> String {
    let Some((variant, unit)) = unit_of_cost(rows) else {
        return String::new();
    };
    let header = [
        "sampler",
        "min",
        "median",
        "max",
        "min, draws",
        "median, draws",
        "max, draws",
    ];
    let line = |row: &Row| {
        let relative = row.outcome.as_ref().ok()?.relative_to(unit)?;
        let mut cells = vec![name(row)];
        for Spread { min, median, max } in [relative.whole, relative.after_warmup] {
            cells.extend([min, median, max].map(|it| significant(it, 3)));
        }
        Some(cells)
    };
    let lines: Vec<Vec<String>> = rows.iter().filter_map(line).collect();
    format!(
        "\nRelative computational time: passes per effective draw as a multiple of those of {variant}, over parameters; whole runs, and the \
         draws after the warm-up alone\n{}",
        output::table(&header, &lines)
    )
}

/// The sampler, marked if it is approximate.
fn name(row: &Row) -> String {
    let mark = if row.exact() { "" } else { " ~" };
    format!("{}{mark}", row.variant)
}

/// One row.
fn line(row: &Row, m: &Measured, num_obs: usize) -> Vec<String> {
    let share = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |v| fixed(v, 3));
    vec![
        name(row),
        fixed(m.seconds, 2),
        fixed(m.mean_shift, 3),
        format!("{} to {}", fixed(m.sd_ratio.0, 3), fixed(m.sd_ratio.1, 3)),
        fixed(m.rhat, 4),
        fixed(m.ess, 0),
        fixed(m.inefficiency, 1),
        fixed(m.rows_per_ess / num_obs as f64, 4),
        fixed(100.0 * m.rows_share, 3),
        share(m.accept),
        share(m.accept_rows),
        share(m.positive),
    ]
}
