//! `export`, results as they are read, and the summary table of every command.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use super::args::{ControlVariates, ExportArgs, ExtraArgs};
use super::{Failure, output};
use ergodic_analysis::predict::INTERVAL;
use ergodic_analysis::predict::log_lik::LogLik;
use ergodic_analysis::zero_variance::zero_variance;
use ergodic_analysis::{BayesFactor, Job, Sensitivity};
use ergodic_base::draws::DrawList;
use ergodic_base::numerals::{self, decimals_by_error};
use ergodic_base::{Control, ParamId};
use ergodic_core::engine::found::clusters::Clusters;
use ergodic_core::engine::found::topics::TopWords;
use ergodic_core::engine::keep::KEY;
use ergodic_data::Bounded;
use ergodic_diagnostics::SummaryRow;
use ergodic_diagnostics::estimates::Estimate;
use ergodic_diagnostics::extra::{Extra, Extras, Measure};
use ergodic_diagnostics::power_scaling::{Diagnosis, SensitivityRow};
use ergodic_diagnostics::sentence::rhat_text;
use ergodic_diagnostics::zero_variance::ZeroVariance;
use ergodic_export::{ExportError, Manifest, Needs, Results, RunFolder, draws_csv, summary};
use ergodic_report::report::{Column, head, sections};

/// Adds estimates corrected by control variates, if asked for.
pub(super) fn correct(
    folder: &RunFolder,
    results: &mut Results,
    degree: Option<ControlVariates>,
) -> Result<(), Failure> {
    let Some(degree) = degree else {
        return Ok(());
    };
    let recipe = folder.recipe().map_err(Failure::request)?;
    results
        .check_all_kept("Control variates need")
        .map_err(Failure::request)?;
    let job = Job::prepare(&recipe, folder.path(), None, &Control::default())
        .map_err(Failure::request)?;
    let (lists, weights) = results.usable();
    let of_chains = results.working();
    let of_chains = of_chains
        .iter()
        .filter_map(|&chain| results.info.get(chain));
    let info: Vec<&DrawList> = of_chains.collect();
    let control = Control::default();
    let corrected = zero_variance(&job, &lists, &info, &weights, degree.into(), &control)
        .map_err(Failure::request)?;
    output::note(&corrected.sentence());
    results.corrected = Some(Arc::new(corrected));
    Ok(())
}

/// The groups that chains of a run began in, if they did and the recipe is there.
pub(super) fn superchains_of(folder: &RunFolder) -> Option<u64> {
    let recipe = folder.recipe().ok()?;
    recipe.run.superchains.map(|groups| groups as u64)
}

/// Adds further columns, if asked for; `of_run` are the groups that the chains of the run began in.
pub(super) fn add_extras(
    results: &mut Results,
    args: &ExtraArgs,
    of_run: Option<u64>,
) -> Result<(), Failure> {
    let wanted = args.wanted(of_run);
    let superchains = args.superchains.or(of_run);
    if wanted.contains(&Extra::RhatNested) {
        let chains = results.usable().0.len() as u64;
        match superchains {
            None => {
                return Err(Failure::request(
                    "Nested R-hat needs groups of chains that began at the same points; say how many with --superchains",
                ));
            }
            Some(groups) if !chains.is_multiple_of(groups) => {
                return Err(Failure::request(format!(
                    "{chains} chains do not make {groups} groups of equal size; choose --superchains so that it divides their number"
                )));
            }
            Some(_) => {}
        }
    }
    let interval = args.interval.unwrap_or(INTERVAL);
    if !(interval > 0.0 && interval < 1.0) {
        return Err(Failure::request(format!(
            "--interval takes a probability between 0 and 1, not {interval}"
        )));
    }
    if !wanted.is_empty() {
        let groups = superchains.map(|groups| groups as usize);
        results.add_extras(&wanted, groups, (interval, args.rope));
    }
    Ok(())
}

/// Adds the further columns of the summary of a run whose chains began in `of_run` groups, if they did: those that were asked for, and
/// nested R-hat where the verdict is its.
pub(super) fn add_extras_of_run(
    results: &mut Results,
    args: &ExtraArgs,
    of_run: Option<u64>,
) -> Result<(), Failure> {
    let mut args = args.clone();
    // The verdict on chains that began in groups, of which none failed, is that of nested R-hat; plain R-hat is larger where chains are short.
    let chains = results.draws.len();
    let are_whole = results.usable().0.len() == chains;
    if of_run.is_some_and(|groups| are_whole && (chains as u64).is_multiple_of(groups)) {
        args.columns.push(Extra::RhatNested.word().to_owned());
    }
    add_extras(results, &args, of_run)
}

/// As [`of_folder`], for a command that computes something else from the draws: a verdict that is not good goes to standard error.
pub(super) fn to_compute_from(folder: &RunFolder) -> Result<Results, Failure> {
    let results = of_folder(folder)?;
    if let Some(caution) = results.manifest.as_ref().and_then(Manifest::caution) {
        output::note(&format!("{}: {caution}", folder.path().display()));
    }
    Ok(results)
}

/// Adds the verdict on a run to the JSON `of` what was computed from it, by the names of `run.json`.
pub(super) fn add_verdict(of: &mut serde_json::Value, manifest: Option<&Manifest>) {
    of["verdict"] = serde_json::json!(manifest.map(|it| it.verdict));
    of["verdict_sentence"] = serde_json::json!(manifest.map(|it| &it.verdict_sentence));
}

/// Bytes of draws that may come from what is no file.
const UNASKED_BYTES: u64 = 256_000_000;

/// The results of the run folder `path`; what there is to know about its files goes to standard error.
pub(super) fn read(path: &Path) -> Result<Results, Failure> {
    RunFolder::open(path)
        .map_err(Failure::request)
        .and_then(|folder| of_folder(&folder))
}

/// The results of a run folder, or of a file of draws.
pub(super) fn any(path: &Path) -> Result<Results, Failure> {
    match path.is_file() {
        true => read_draws(path).map(Results::of_draws),
        false => read(path),
    }
}

/// The results of an open folder; what there is to know about its files goes to standard error.
pub(super) fn of_folder(folder: &RunFolder) -> Result<Results, Failure> {
    let results = folder.results().map_err(Failure::request)?;
    for remark in &results.remarks {
        output::note(&format!("note: {remark}"));
    }
    Ok(results)
}

pub(super) fn read_draws(path: &Path) -> Result<draws_csv::ReadDraws, Failure> {
    let file = std::fs::File::open(path).map_err(|error| {
        Failure::request(ExportError::at("The draws cannot be read", error, path))
    })?;
    // A file says how long it is; a device or a pipe may never end.
    let most = file
        .metadata()
        .map_or(0, |about| about.len())
        .max(UNASKED_BYTES);
    let file = Bounded::new(
        file,
        most,
        "and is no file of a known size; save the draws as a file first",
    );
    draws_csv::read(std::io::BufReader::new(file))
        .map_err(|error| Failure::request(ExportError::Draws(error, path.to_owned())))
}

/// The log likelihood of each row at all draws of a run.
fn log_lik(folder: &RunFolder, results: &Results) -> Result<LogLik, Box<dyn Error>> {
    let control = Control::default();
    let fitted = folder.fitted(results, &control)?;
    let (draws, weights) = results.usable();
    Ok(fitted.log_lik(&draws, &weights, usize::MAX, &control)?)
}

/// Writes a run folder's results in another format.
pub fn export(args: &ExportArgs) -> Result<(), Failure> {
    let format = ergodic_export::find(&args.format).map_err(Failure::request)?;
    let of_summaries = (args.zero_variance.map(|_| "--zero-variance")).or(args.extras.given());
    if let Some(flag) = of_summaries.filter(|_| !format.is_summary) {
        let summaries = ergodic_export::FORMATS.iter().filter(|it| it.is_summary);
        let summaries: Vec<&str> = summaries.map(|it| it.id).collect();
        return Err(Failure::request(format!(
            "{flag} adds to a summary, and `{}` has none: leave it out, or write {}",
            format.id,
            summaries.join(" or ")
        )));
    }
    if let Some(path) = &args.out {
        ergodic_export::check_place(path, [&args.folder]).map_err(Failure::request)?;
    }
    let folder = RunFolder::open(&args.folder).map_err(Failure::request)?;
    let mut results = of_folder(&folder)?;
    if matches!(format.needs, Needs::LogLik) {
        let log_lik = log_lik(&folder, &results).map_err(Failure::request)?;
        results.log_lik = Some(Arc::new(log_lik));
    }
    format.check(&results).map_err(Failure::request)?;
    if format.id == "partition"
        && let (Some(clusters), Some(manifest)) =
            (results.found.get::<Clusters>(), &results.manifest)
        && clusters.units.len() == manifest.rows_used
        && manifest.rows_used < manifest.rows_total
    {
        output::note(&format!(
            "note: {} of {} rows lack a value that the model uses and are in no cluster",
            manifest.rows_total - manifest.rows_used,
            manifest.rows_total
        ));
    }
    correct(&folder, &mut results, args.zero_variance)?;
    add_extras(&mut results, &args.extras, superchains_of(&folder))?;
    match &args.out {
        Some(path) => ergodic_export::write(format, &results, path).map_err(Failure::run),
        None => {
            let mut bytes = Vec::new();
            (format.write)(&results, &mut bytes).map_err(Failure::run)?;
            output::data(&bytes);
            Ok(())
        }
    }
}

/// Prints a summary as a table or as `summary.json`.
pub fn print(results: &Results, json: bool) -> Result<(), Failure> {
    if json {
        let mut bytes = Vec::new();
        summary::write_json(results, &mut bytes).map_err(Failure::run)?;
        output::json_text(&String::from_utf8_lossy(&bytes));
    } else {
        output::result(&summary_text(results));
        if let Some(corrected) = &results.corrected {
            output::result("\n");
            output::result(&corrected_table(&corrected.estimates));
        }
        if let Some(extras) = &results.extras {
            output::result("\n");
            output::result(&extras_table(&results.variables, extras));
            output::result(&inefficiency_text(results));
        }
        if let Some(sensitivity) = &results.sensitivity {
            output::result("\n");
            output::result(&sensitivity_table(sensitivity));
        }
        if let Some(factors) = &results.bayes_factors {
            output::result("\n");
            output::result(&bayes_factors_table(factors));
        }
        if let Some(clusters) = results.found.get() {
            output::result(&clusters_text(&clusters));
        }
        if let Some(topics) = results.found.get() {
            output::result(&topics_text(&topics));
        }
    }
    Ok(())
}

/// Topics whose words are printed.
const TOPICS_PRINTED: usize = 50;

/// The most probable words of topics.
fn topics_text(topics: &TopWords) -> String {
    let rows: Vec<Vec<String>> = (topics.topics.iter().take(TOPICS_PRINTED).enumerate())
        .map(|(k, topic)| {
            vec![
                (k + 1).to_string(),
                format!("{:.3}", topic.share),
                topic.sentence(),
            ]
        })
        .collect();
    let more = match topics.topics.len() - rows.len() {
        0 => String::new(),
        more => format!("and {more} smaller ones\n"),
    };
    format!(
        "\nTopics of {} at the newest draw of chain {}; numbers of topics differ between chains\n{}{more}",
        ergodic_base::numerals::plural(topics.documents, "document"),
        topics.chain,
        output::table(&["topic", "share", "words"], &rows)
    )
}

/// Clusters whose profiles are printed.
const CLUSTERS_PRINTED: usize = 20;

/// The point partition: sizes and profiles.
fn clusters_text(clusters: &Clusters) -> String {
    let total = clusters.partition.len();
    let rows: Vec<Vec<String>> = clusters
        .profiles
        .iter()
        .take(CLUSTERS_PRINTED)
        .enumerate()
        .map(|(k, profile)| {
            vec![
                (k + 1).to_string(),
                profile.size.to_string(),
                format!("{:.3}", profile.size as f64 / total as f64),
                profile.sentence(),
            ]
        })
        .collect();
    let more = clusters.profiles.len() - rows.len();
    let more = match more {
        0 => String::new(),
        more => format!("and {more} smaller ones\n"),
    };
    let cut_short = if clusters.has_profiles() {
        String::new()
    } else {
        format!(
            "The run was cut short: these are the {total} units whose clusters were kept, and profiles come with `ergodic resume`\n"
        )
    };
    format!(
        "\nPoint partition: {}, mean variation of information {:.3} from {} draws\n{cut_short}{}{more}",
        ergodic_base::numerals::plural(clusters.profiles.len(), "cluster"),
        clusters.distance,
        clusters.draws,
        output::table(&["cluster", "units", "share", "profile"], &rows)
    )
}

/// Bayes factors as text, with their Monte Carlo errors or why there is none.
fn bayes_factors_table(factors: &[BayesFactor]) -> String {
    let cells: Vec<Vec<String>> = (factors.iter())
        .map(|row| {
            let says = row
                .missing
                .map_or(row.words().to_owned(), |why| why.to_string());
            vec![
                row.variable.to_string(),
                significant(row.factor(), 3),
                significant(row.factor_mcse(), 2),
                significant(row.log_factor, 3),
                significant(row.mcse, 2),
                says,
            ]
        })
        .collect();
    let header = [
        "not 0 against 0",
        "bayes_factor",
        "mcse",
        "log",
        "mcse_log",
        "evidence",
    ];
    output::table(&header, &cells)
}

/// Sensitivities as text; those of effects of groups, of which there may be thousands, where something is to be said.
fn sensitivity_table(sensitivity: &Sensitivity) -> String {
    let shown =
        |row: &&SensitivityRow| !row.variable.is_varying() || row.diagnosis != Diagnosis::None;
    let cells: Vec<Vec<String>> = (sensitivity.rows.iter().filter(shown))
        .map(|row| {
            vec![
                row.variable.to_string(),
                format!("{:.3}", row.prior),
                format!("{:.3}", row.likelihood),
                row.diagnosis.words().to_owned(),
            ]
        })
        .collect();
    output::table(&["variable", "prior", "likelihood", "diagnosis"], &cells)
}

/// Further columns as text, of the variables that the summary prints.
fn extras_table(variables: &[ParamId], extras: &Extras) -> String {
    let names: Vec<String> = extras.columns.iter().map(|column| column.name()).collect();
    let header: Vec<&str> = ["variable"]
        .into_iter()
        .chain(names.iter().map(String::as_str))
        .collect();
    let mut is_printed = printed();
    let cells: Vec<Vec<String>> = (variables.iter().zip(&extras.rows))
        .filter(|(variable, _)| is_printed(variable))
        .map(|(variable, row)| {
            let numbers = extras.columns.iter().zip(row);
            let numbers = numbers.map(|(column, value)| extra_text(column.extra, *value));
            [variable.to_string()].into_iter().chain(numbers).collect()
        })
        .collect();
    output::table(&header, &cells)
}

/// A number of a further column, with as many digits as the same measure has in the summary.
fn extra_text(extra: Extra, value: Option<f64>) -> String {
    match extra.measure() {
        Measure::Size => decimals(value.map(f64::floor), 0),
        Measure::Error | Measure::Time => significant(value, 2),
        Measure::Quantile => significant(value, 4),
        Measure::Probability => decimals(value, 3),
        Measure::Estimate | Measure::Factor => significant(value, 3),
        Measure::Rhat => value.map_or("NA".to_owned(), rhat_text),
    }
}

/// Draws and seconds per effective draw over all variables, and the fractions of missing information, in a sentence each.
fn inefficiency_text(results: &Results) -> String {
    let mut text = String::new();
    if let Some(found) = results.inefficiency() {
        text += &format!("\n{}\n", found.lines().join("\n"));
    }
    let fractions = results.ebfmi();
    if !fractions.is_empty() {
        let each = fractions.iter().map(|fraction| significant(*fraction, 2));
        text += &format!(
            "E-BFMI of each chain: {}\n",
            each.collect::<Vec<_>>().join(", ")
        );
    }
    text
}

/// Estimates corrected by control variates as text; `gain` is how many times as many draws they are worth.
fn corrected_table(corrected: &ZeroVariance) -> String {
    let header = [
        "variable",
        "zv_mean",
        "zv_mcse_mean",
        "gain",
        "zv_sd",
        "zv_mcse_sd",
        "gain_sd",
    ];
    let cells: Vec<Vec<String>> = corrected
        .rows
        .iter()
        .map(|row| {
            vec![
                row.variable.to_string(),
                decimals(row.mean, decimals_by_error(row.mcse_mean)),
                significant(row.mcse_mean, 2),
                gain(row.gain),
                decimals(row.sd, decimals_by_error(row.mcse_sd)),
                significant(row.mcse_sd, 2),
                gain(row.gain_sd),
            ]
        })
        .collect();
    output::table(&header, &cells)
}

/// Two digits up to a million, beyond which nothing but rounding is left.
fn gain(value: Option<f64>) -> String {
    match value {
        Some(gain) if gain > 1e6 => ">1e6".to_owned(),
        Some(gain) if gain >= 100.0 => format!("{gain:.0}"),
        other => significant(other, 2),
    }
}

/// Effects of groups that are printed; files and `--json` have all.
const EFFECTS_PRINTED: usize = 100;

/// Tells of one variable after the other whether it is printed: effects of groups are until there are too many.
fn printed() -> impl FnMut(&ParamId) -> bool {
    let mut effects = 0;
    move |variable| {
        effects += usize::from(variable.is_varying());
        !variable.is_varying() || effects <= EFFECTS_PRINTED
    }
}

/// The summary as text: what was fitted, and the rows under what they are of, with the first effects of groups where there are many.
fn summary_text(results: &Results) -> String {
    let mut text = results.manifest.as_ref().map_or(String::new(), |manifest| {
        head(manifest, &results.variables).join("\n") + "\n\n"
    });
    let template = results.manifest.as_ref().map(|it| it.template.as_str());
    let template = template.unwrap_or_default();
    let sections = sections(&results.summary, &[], template, EFFECTS_PRINTED);
    for section in &sections {
        // A model of one kind of parameter needs no heading.
        if sections.len() > 1 {
            text.push_str(&format!("{}\n", section.title));
        }
        let rows: Vec<SummaryRow> = section.rows.iter().map(|(row, _)| row.clone()).collect();
        text.push_str(&summary_table(&rows));
        if section.more > 0 {
            text.push_str(&format!(
                "and {} more {}; summary.csv and --json have all\n",
                section.more,
                section.title.to_lowercase()
            ));
        }
        if sections.len() > 1 {
            text.push('\n');
        }
    }
    text.push_str(&not_kept_text(&results.estimates));
    let noise = results.manifest.as_ref().and_then(|it| it.gradient_noise);
    if let Some(noise) = noise {
        text.push_str(&format!("{}\n", noise.sentence()));
    }
    text
}

/// Quantities that are printed whose draws were not kept.
const NOT_KEPT_PRINTED: usize = 40;

/// What is known of quantities whose draws were not kept; nothing where all were.
fn not_kept_text(estimates: &[Estimate]) -> String {
    if estimates.is_empty() {
        return String::new();
    }
    let cells: Vec<Vec<String>> = (estimates.iter().take(NOT_KEPT_PRINTED))
        .map(|row| {
            // As far as the second digit of the standard deviation.
            let mean = match (row.mean, row.sd) {
                (Some(mean), Some(sd)) if sd > 0.0 => {
                    numerals::fixed(mean, decimals_by_error(Some(sd)))
                }
                (mean, _) => significant(mean, 3),
            };
            vec![
                row.variable.to_string(),
                mean,
                significant(row.sd, 3),
                row.draws.to_string(),
                row.rhat_unsplit.map_or("NA".to_owned(), rhat_text),
            ]
        })
        .collect();
    let more = match estimates.len() - cells.len() {
        0 => String::new(),
        more => format!("and {more} more; summary.csv and --json have all\n"),
    };
    format!(
        "\nDraws not kept ({KEY}): quantiles, effective sample sizes, Monte Carlo errors and R-hat of split chains are not available\n{}{more}",
        output::table(&["variable", "mean", "sd", "draws", "rhat_unsplit"], &cells)
    )
}

/// The summary as text, with the numbers of a report.
pub fn summary_table(rows: &[SummaryRow]) -> String {
    let mut header = vec!["variable"];
    header.extend(Column::ALL.map(Column::key));
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let mut cells = vec![row.variable.to_string()];
            cells.extend(Column::ALL.map(|column| column.text(row)));
            cells
        })
        .collect();
    output::table(&header, &cells)
}

pub(super) fn decimals(value: Option<f64>, decimals: usize) -> String {
    numerals::fixed(value.unwrap_or(f64::NAN), decimals)
}

pub(super) fn significant(value: Option<f64>, digits: usize) -> String {
    numerals::significant(value.unwrap_or(f64::NAN), digits)
}
