//! `summarise`: the summary of a run, of several, of a project, or of draws of other origin.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::args::SummariseArgs;
use super::results::{
    add_extras, add_extras_of_run, correct, of_folder, print, read_draws, superchains_of,
};
use super::{Failure, output};
use ergodic_analysis::{Job, bayes_factors, sensitivity};
use ergodic_base::Control;
use ergodic_base::draws::DrawList;
use ergodic_export::label::Label;
use ergodic_export::project::{EXTENSION, Project};
use ergodic_export::{Results, RunFolder, draws_csv, summary};

/// Prints summaries of run folders and files of draws, one each. Several files without a folder are the chains of one run.
pub fn summarise(args: &SummariseArgs) -> Result<(), Failure> {
    match args.sources.as_slice() {
        [file] if file.extension().is_some_and(|end| end == EXTENSION) => {
            summarise_project(file, args)
        }
        [source] => {
            let results = asked(source, args)?;
            tell_weights(&results);
            if !args.json {
                output::result(&verdict_line(&results));
            }
            print(&results, args.json)
        }
        several if several.iter().any(|source| source.is_dir()) => summarise_each(args),
        several => {
            let results = of_draws(pooled(several)?, args)?;
            output::note(&format!(
                "The {} files are summarised as chains of one run",
                several.len()
            ));
            tell_weights(&results);
            print(&results, args.json)
        }
    }
}

/// Says that draws are weighted, where they are.
fn tell_weights(results: &Results) {
    if results.is_weighted() {
        output::note("Draws are weighted: every number is that of the weighted draws");
    }
}

/// Prints a summary of each source under its name: runs are not pooled, for they may be of different posteriors.
fn summarise_each(args: &SummariseArgs) -> Result<(), Failure> {
    let mut list: Vec<serde_json::Value> = Vec::new();
    for (index, source) in args.sources.iter().enumerate() {
        let results = asked(source, args)?;
        tell_weights(&results);
        let place = source.display().to_string();
        if args.json {
            let mut value = to_json(&results)?;
            value["folder"] = place.into();
            list.push(value);
            continue;
        }
        let gap = if index == 0 { "" } else { "\n" };
        output::result(&format!("{gap}{place}\n{}", verdict_line(&results)));
        print(&results, false)?;
    }
    if args.json {
        output::json(&list)?;
    }
    Ok(())
}

/// The verdict on a run as a line; nothing for draws of other origin.
fn verdict_line(results: &Results) -> String {
    let manifest = results.manifest.iter();
    let line = manifest.map(|manifest| format!("{}\n", manifest.verdict_sentence));
    line.collect()
}

/// `summary.json` as a value.
fn to_json(results: &Results) -> Result<serde_json::Value, Failure> {
    let mut bytes = Vec::new();
    summary::write_json(results, &mut bytes).map_err(Failure::run)?;
    serde_json::from_slice(&bytes).map_err(Failure::run)
}

/// The results of a run folder or a file of draws, with what was asked for.
fn asked(source: &Path, args: &SummariseArgs) -> Result<Results, Failure> {
    match source.is_dir() {
        true => of_run(&RunFolder::open(source).map_err(Failure::request)?, args),
        false => of_draws(read_draws(source)?, args),
    }
}

/// The results of a run folder, with what was asked for.
fn of_run(folder: &RunFolder, args: &SummariseArgs) -> Result<Results, Failure> {
    let mut results = of_folder(folder)?;
    correct(folder, &mut results, args.zero_variance)?;
    power_scale(folder, &mut results, args.sensitivity)?;
    add_bayes_factors(folder, &mut results, args.bayes_factor)?;
    add_extras_of_run(&mut results, &args.extras, superchains_of(folder))?;
    Ok(results)
}

/// The results of draws without a model, with what was asked for.
fn of_draws(read: draws_csv::ReadDraws, args: &SummariseArgs) -> Result<Results, Failure> {
    let refusals = [
        (
            args.bayes_factor,
            "Bayes factors need a run folder: its recipe gives the priors",
        ),
        (
            args.sensitivity,
            "Power scaling needs a run folder: its recipe and data give prior and likelihood",
        ),
        (
            args.zero_variance.is_some(),
            "Control variates need a run folder: its recipe and data give the gradients",
        ),
    ];
    if let Some((_, why)) = refusals.iter().find(|(is_asked, _)| *is_asked) {
        return Err(Failure::request(why));
    }
    let mut results = Results::of_draws(read);
    add_extras(&mut results, &args.extras, None)?;
    Ok(results)
}

/// Draws of several files as chains of one run.
fn pooled(files: &[PathBuf]) -> Result<draws_csv::ReadDraws, Failure> {
    let mut all: Option<draws_csv::ReadDraws> = None;
    for path in files {
        let read = read_draws(path)?;
        match &mut all {
            None => all = Some(read),
            Some(all) => {
                if !all.add(read) {
                    return Err(Failure::request(format!(
                        "The files have different variables or weights and cannot be chains of one run: {}",
                        path.display()
                    )));
                }
            }
        }
    }
    all.ok_or_else(|| Failure::request("Nothing to summarise"))
}

/// Prints summaries of all runs of a project. Nothing is computed that the folders do not say.
fn summarise_project(file: &Path, args: &SummariseArgs) -> Result<(), Failure> {
    let project = Project::read(file).map_err(Failure::request)?;
    if project.runs.is_empty() {
        return Err(Failure::request(format!(
            "The project has no runs to summarise: {}",
            file.display()
        )));
    }
    let mut list: Vec<serde_json::Value> = Vec::new();
    let mut missing = None;
    for (index, run) in project.runs.iter().enumerate() {
        let results = match run.path.is_file() {
            true => asked(&run.path, args),
            false => (project.folder(index).map_err(Failure::request))
                .and_then(|folder| of_run(&folder, args)),
        };
        let results = match results {
            Ok(results) => results,
            Err(failure) => {
                output::error(&failure.message);
                missing = Some(failure);
                continue;
            }
        };
        let stale = project.is_stale(index);
        // As in the window, what the folder says comes first.
        let label = Label::read(&run.path).unwrap_or_else(|| Label {
            name: run.name.clone(),
            note: run.note.clone(),
        });
        if args.json {
            let mut value = to_json(&results)?;
            value["number"] = run.number.into();
            value["name"] = label.name.into();
            value["note"] = label.note.into();
            value["folder"] = run.path.display().to_string().into();
            value["stale"] = stale.into();
            list.push(value);
            continue;
        }
        let sampler = results
            .manifest
            .as_ref()
            .map_or("", |manifest| &manifest.sampler);
        let words = if stale {
            "; stale: the draft has changed since"
        } else {
            ""
        };
        let gap = if index == 0 { "" } else { "\n" };
        let name = label.name.iter().map(|name| format!(" ({name})"));
        output::result(&format!(
            "{gap}Run {}{}: {sampler}, {}{words}\n",
            run.number,
            name.collect::<String>(),
            run.path.display()
        ));
        output::result(&verdict_line(&results));
        print(&results, false)?;
    }
    if args.json {
        output::json(&list)?;
    }
    match missing {
        Some(_) => Err(Failure::request(
            "Some runs of the project could not be summarised",
        )),
        None => Ok(()),
    }
}

/// Adds sensitivities to prior and likelihood, if asked for.
fn power_scale(folder: &RunFolder, results: &mut Results, wanted: bool) -> Result<(), Failure> {
    if !wanted {
        return Ok(());
    }
    let recipe = folder.recipe().map_err(Failure::request)?;
    let job = Job::prepare(&recipe, folder.path(), None, &Control::default())
        .map_err(Failure::request)?;
    let lists: Vec<&DrawList> = results.draws.iter().collect();
    let control = Control::default();
    let found =
        sensitivity(&job, &lists, &results.weights(), &control).map_err(Failure::request)?;
    output::note(&found.sentence());
    results.sensitivity = Some(Arc::new(found));
    Ok(())
}

/// Adds Bayes factors of coefficients against 0, if asked for.
fn add_bayes_factors(
    folder: &RunFolder,
    results: &mut Results,
    wanted: bool,
) -> Result<(), Failure> {
    if !wanted {
        return Ok(());
    }
    let recipe = folder.recipe().map_err(Failure::request)?;
    results
        .check_all_kept("Bayes factors need")
        .map_err(Failure::request)?;
    let job = Job::prepare(&recipe, folder.path(), None, &Control::default())
        .map_err(Failure::request)?;
    let (lists, weights) = results.usable();
    let found = bayes_factors(job.model.as_ref(), &lists, &weights).map_err(Failure::request)?;
    results.bayes_factors = Some(Arc::new(found));
    Ok(())
}
