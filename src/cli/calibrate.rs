//! `calibrate`: simulation-based calibration of a template and a sampler, as a table of tests with small histograms.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::args::CalibrateArgs;
use super::{Failure, fit, output, progress};
use ergodic_analysis::calibration::{Calibration, Extent, built_in_job, calibrate as run, units};
use ergodic_analysis::{Job, Recipe, SAMPLE_PREFIX, templates};
use ergodic_base::Control;
use ergodic_data::samples;
use ergodic_export::check_place;
use ergodic_report::{PictureFormat, calibration_ranks, save_figure};

/// Calibrates.
pub fn calibrate(args: &CalibrateArgs) -> Result<(), Failure> {
    if let Some(path) = &args.plot {
        PictureFormat::of(path).map_err(Failure::request)?;
        check_place(path, args.data.iter()).map_err(Failure::request)?;
    }
    let (given, job) = job_of(args)?;
    let extent = Extent {
        simulations: args.simulations,
        draws: args.draws,
    };
    let control = Control::default();
    output::note(&format!(
        "Calibrating {} with {} on {}, {} rows: {} simulations, ranks among {} draws",
        job.recipe.model.template,
        job.sampler.spec.id,
        job.recipe.model.formula,
        job.design.num_obs(),
        extent.simulations,
        extent.draws
    ));
    if let Some(units) = units(&job) {
        output::note(&units);
    }
    let calibration = progress::work(
        "calibration",
        &control,
        || run(&job, &given.sampler.settings, extent, &control),
        |_share| {
            let (done, all) = control.progress();
            (done > 0).then(|| format!("{done} of {all} simulations"))
        },
        |error, _interrupted| Failure::request(error),
    )?;
    if args.json {
        output::json(&to_json(&calibration, &job))?;
    } else {
        output::result(&table(&calibration));
    }
    for (reason, times) in &calibration.failures {
        output::note(&format!(
            "warning: {times} simulations failed and are missing among the ranks: {reason}"
        ));
    }
    if calibration.short > 0 {
        output::note(&format!(
            "warning: {} simulations have fewer effective draws than the {} that are ranked, which bends ranks; choose a sampler that mixes \
             better, or fewer draws",
            calibration.short, calibration.draws
        ));
    }
    if let Some(path) = &args.plot {
        let figure = calibration_ranks(&calibration).map_err(Failure::request)?;
        output::note(&save_figure(&figure, path).map_err(Failure::run)?);
    }
    output::note(&calibration.sentence());
    if control.is_cancelled() {
        return Err(Failure::interrupted(
            "Interrupted; the numbers are those of the simulations that were done",
        ));
    }
    Ok(())
}

/// The recipe as it was asked for, and its job.
fn job_of(args: &CalibrateArgs) -> Result<(Recipe, Job), Failure> {
    if templates::is_text(&args.template) {
        return Err(Failure::request(
            "Models as text cannot be calibrated by simulation yet; name another template",
        ));
    }
    let control = Control::default();
    let formula = match (&args.data, &args.formula) {
        (_, Some(formula)) => formula.clone(),
        (Some(data), None) => data
            .strip_prefix(SAMPLE_PREFIX)
            .and_then(samples::formula)
            .ok_or_else(|| Failure::request("There is no model: add --formula 'y ~ x'"))?,
        (None, None) => String::new(),
    };
    fit::check_formula(&formula).or_else(|failure| match formula.as_str() {
        "" => Ok(()),
        _ => Err(failure),
    })?;
    let source = args.data.as_deref().unwrap_or("built-in");
    let mut changes: Vec<String> = Vec::new();
    changes.extend(args.sampler.iter().map(|id| format!("sampler.id={id}")));
    changes.extend(args.seed.map(|seed| format!("run.seed={seed}")));
    changes.extend(args.set.iter().cloned());
    let recipe = Recipe::new(source, &args.template, &formula)
        .changed(&changes)
        .map_err(Failure::request)?;
    let folder = PathBuf::from(".");
    let job = match args.data {
        Some(_) => Job::prepare(&recipe, Path::new(&folder), None, &control),
        None => built_in_job(&recipe, &control),
    };
    Ok((recipe, job.map_err(Failure::request)?))
}

fn table(calibration: &Calibration) -> String {
    let rows: Vec<Vec<String>> = calibration
        .variables
        .iter()
        .zip(&calibration.tests)
        .map(|(name, test)| {
            let (value, p) = match test.chi_squared {
                Some((value, p)) => (format!("{value:.1}"), format!("{p:.3}")),
                None => ("-".to_owned(), "-".to_owned()),
            };
            vec![
                name.to_string(),
                format!("{:.4}", test.p_ecdf),
                value,
                p,
                test.bars(),
            ]
        })
        .collect();
    output::table(&["variable", "p (ECDF)", "chi-square", "p", "ranks"], &rows)
}

fn to_json(calibration: &Calibration, job: &Job) -> serde_json::Value {
    let tested = calibration.variables.iter().zip(&calibration.tests);
    let variables: Vec<_> = tested
        .zip(&calibration.ranks)
        .map(|((name, test), ranks)| {
            json!({
                "variable": name,
                "p_ecdf": test.p_ecdf,
                "chi_squared": test.chi_squared.map(|(value, _)| value),
                "p_chi_squared": test.chi_squared.map(|(_, p)| p),
                "histogram": test.histogram,
                "ranks": ranks,
            })
        })
        .collect();
    json!({
        "template": job.recipe.model.template,
        "sampler": job.sampler.spec.id,
        "formula": job.recipe.model.formula,
        "units": calibration.units,
        "draws": calibration.draws,
        "thin": calibration.thin,
        "short": calibration.short,
        "failures": calibration.failures.iter().map(|(reason, times)| json!({"reason": reason, "times": times})).collect::<Vec<_>>(),
        "p_value": calibration.p_value(),
        "verdict": calibration.sentence(),
        "variables": variables,
    })
}
