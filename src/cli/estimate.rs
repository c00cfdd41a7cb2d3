//! `estimate`: a regression by likelihood, with effects of groups as lme4 fits it.

use std::path::{Path, PathBuf};

use super::source::{Source, check_alone};
use super::{Failure, fit, output, progress, results};
use ergodic_analysis::likelihood::{self, LikelihoodError, LikelihoodFit, LikelihoodOptions};
use ergodic_analysis::likelihood_ratio::{LikelihoodRatio, likelihood_ratio};
use ergodic_analysis::predict::plug_in::{self, PlugIn};
use ergodic_analysis::{ComparedRow, Recipe, compared_rows, templates};
use ergodic_base::numerals::{self, fixed};
use ergodic_base::{Class, Control, ParamId, Severity};
use ergodic_core::estimators::mixed::{
    Fineness, FixedEffect, GroupEffects, MixedError, MixedFit, VarianceComponent,
};
use ergodic_core::families::{FAMILY_CHOICES, Family};
use ergodic_core::formula::Formula;
use ergodic_core::models::names;
use ergodic_diagnostics::quantiles::NORMAL_95;
use ergodic_export::{RunFolder, check_place, likelihood as files};
use ergodic_report::{PictureFormat, group_intervals, save_figure};

/// Rows of predictions printed.
const ROWS_PRINTED: usize = 10;

/// `estimate`.
#[derive(Debug, clap::Parser)]
#[command(args_override_self = true, allow_negative_numbers = true)]
pub struct EstimateArgs {
    /// Data file or sample:NAME to fit; or a recipe or run folder, whose data and formula to fit
    #[arg(value_name = "FILE", conflicts_with_all = ["data", "compare_with", "beside"], value_parser = Source::parser())]
    pub source: Option<Source>,
    /// Run folder whose data and formula to fit, and whose posterior to show beside the estimates
    #[arg(long, value_name = "DIR", conflicts_with_all = ["data", "formula"])]
    pub compare_with: Option<PathBuf>,
    /// Former name of `--compare-with`
    #[arg(long, hide = true, value_name = "DIR", conflicts_with_all = ["data", "formula", "compare_with"])]
    pub beside: Option<PathBuf>,
    /// Data file with rows to predict, with and without group effects
    #[arg(long, value_name = "FILE")]
    pub predict: Option<PathBuf>,
    /// Data file or sample:NAME, another way to write FILE
    #[arg(long, value_name = "FILE")]
    pub data: Option<String>,
    /// Model formula, such as 'y ~ x' or 'y ~ x + (1 + x | group)'
    #[arg(long)]
    pub formula: Option<String>,
    /// Response family
    #[arg(long, help = format!("{FAMILY_CHOICES}; without it the recipe's, or gaussian"))]
    pub family: Option<String>,
    /// profile, em or squarem for gaussian outcomes, laplace, aghq, ghq, monte-carlo, em-aghq, em-laplace or mcem for others;
    /// auto: profile or laplace
    #[arg(long, default_value = "auto")]
    pub method: String,
    /// Restricted maximum likelihood: the default for gaussian outcomes, except by em and squarem
    #[arg(long, conflicts_with = "ml")]
    pub reml: bool,
    /// Maximum likelihood, to compare models with different predictors
    #[arg(long)]
    pub ml: bool,
    /// Formula of a model with fewer or more terms: compare both by their likelihood ratio; implies --ml
    #[arg(long, value_name = "FORMULA", conflicts_with = "reml")]
    pub against: Option<String>,
    /// Nodes of aghq, ghq and em-aghq in the direction of each effect: N effects per group take nodes^N points, at most 20,000
    #[arg(long, default_value_t = Fineness::default().nodes)]
    pub nodes: usize,
    /// Draws of monte-carlo for each group
    #[arg(long, default_value_t = Fineness::default().draws)]
    pub draws: usize,
    /// Group effects to print per group term, the clearest first
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub effects: usize,
    /// Change a recipe entry, such as model.success=yes
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// New folder for fit.json, effects.csv, fitted.csv, and predictions.csv with --predict; in effects.csv names that begin as a
    /// formula of spreadsheets have an apostrophe before them
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// File for a picture of the effects of groups with their intervals: .svg, .png or .csv
    #[arg(long, value_name = "PATH")]
    pub plot: Option<PathBuf>,
    /// Print fit.json instead of tables
    #[arg(long)]
    pub json: bool,
}

/// Whether an outcome is a number with a spread to be estimated; so is one whose formula cannot be read, which is refused later.
fn varies_freely(formula: &str) -> bool {
    let response = formula.parse::<Formula>().ok().and_then(|it| it.response);
    response.is_none_or(|it| it.se.is_none() && !it.ordered)
}

/// Fits and prints.
pub fn estimate(args: &EstimateArgs) -> Result<(), Failure> {
    let compared = args.compare_with.as_deref().or(args.beside.as_deref());
    if args.beside.is_some() {
        output::note("`--beside` is called `--compare-with` now");
    }
    let (recipe, folder) = recipe_of(args, compared)?;
    if templates::is_text(&recipe.model.template) {
        return Err(Failure::request(
            "Estimates by likelihood are of regressions with a formula, and this is a model as text; name its data with --formula 'y ~ x', \
             or fit it with `ergodic fit`",
        ));
    }
    let mut options = LikelihoodOptions::of(&recipe);
    if let Some(family) = &args.family {
        options.family = Family::named(family).map_err(Failure::request)?;
    }
    args.method.clone_into(&mut options.method);
    options.fineness = Fineness {
        nodes: args.nodes,
        draws: args.draws,
    };
    let gaussian = options.family == Family::Gaussian;
    if args.reml && !(gaussian && varies_freely(&recipe.model.formula)) {
        return Err(Failure::request(
            "REML is for Gaussian outcomes whose standard errors are not given; leave --reml out",
        ));
    }
    let em = ["em", "squarem"].contains(&options.method.as_str());
    // EM maximises the likelihood; asking for it asks for ML, unless REML is asked for too, which is refused below.
    options.reml = gaussian && !args.ml && args.against.is_none() && (args.reml || !em);
    if let Some(out) = &args.out {
        RunFolder::check(out).map_err(Failure::request)?;
    }
    if let Some(path) = &args.plot {
        PictureFormat::of(path).map_err(Failure::request)?;
        check_place(path, args.predict.iter()).map_err(Failure::request)?;
    }
    let done = run(&recipe, &folder, &options)?;
    let ratio = match &args.against {
        Some(formula) => {
            let mut other = recipe.clone();
            other.model.formula.clone_from(formula);
            fit::check_formula(formula)?;
            let other = run(&other, &folder, &options)?;
            Some(likelihood_ratio(&done, &other).map_err(Failure::request)?)
        }
        None => None,
    };
    let comparison = match compared {
        Some(run) => Some(compare(&done, &recipe, run)?),
        None => None,
    };
    let predicted = match &args.predict {
        Some(path) => Some(
            plug_in::predict_file(&done, path, &Control::default()).map_err(Failure::request)?,
        ),
        None => None,
    };
    if args.json {
        let mut json = files::to_json(&done);
        if let Some(rows) = &comparison {
            // Under the word that programs know it by.
            json["beside"] = rows.iter().map(files::compared_json).collect();
        }
        if let Some(predicted) = &predicted {
            json["predictions"] = files::plug_in_json(predicted);
        }
        if let Some(ratio) = &ratio {
            json["likelihood_ratio"] = serde_json::to_value(ratio).map_err(Failure::run)?;
        }
        output::json(&json)?;
    } else {
        output::result(&plain(&done, args.effects));
        if let Some(ratio) = &ratio {
            output::result(&ratio_table(ratio));
        }
        if let Some(rows) = &comparison {
            output::result(&comparison_table(rows, args.effects));
        }
        if let Some(predicted) = &predicted {
            output::result(&predictions_table(predicted));
        }
    }
    for remark in predicted.iter().flat_map(|predicted| &predicted.remarks) {
        output::note(remark);
    }
    for warning in &done.warnings {
        if warning.severity != Severity::Info {
            output::note(&format!("warning: {warning}"));
        }
    }
    if let Some(path) = &args.plot {
        let figure = group_intervals(&done.fit).ok_or_else(|| {
            Failure::request(
                "The model has no effects that vary by group, so there is no picture of them; leave --plot out",
            )
        })?;
        output::note(&save_figure(&figure, path).map_err(Failure::run)?);
    }
    if let Some(out) = &args.out {
        files::save(&done, out).map_err(Failure::run)?;
        if let Some(predicted) = &predicted {
            files::save_predictions(predicted, out).map_err(Failure::run)?;
        }
        output::note(&format!("Fit: {}", out.display()));
    }
    Ok(())
}

/// The recipe that `args` name or make, and where it stands; that of the run that is `compared`, if there is one.
fn recipe_of(args: &EstimateArgs, compared: Option<&Path>) -> Result<(Recipe, PathBuf), Failure> {
    if let Some(Source::Recipe(path)) = &args.source {
        check_alone(path, &[("--formula", args.formula.is_some())])?;
        return fit::read_recipe(path, &args.set);
    }
    if let Some(path) = compared {
        let folder = RunFolder::open(path).map_err(Failure::request)?;
        let recipe = folder.recipe().map_err(Failure::request)?;
        return Ok((
            recipe.changed(&args.set).map_err(Failure::request)?,
            path.to_owned(),
        ));
    }
    let data = Source::data_or(args.source.as_ref(), args.data.as_deref());
    let (Some(data), Some(formula)) = (data, &args.formula) else {
        return Err(Failure::request(
            "Nothing to fit: name a data file with --formula 'y ~ x + (1 | group)', a recipe, or a run with --compare-with",
        ));
    };
    // Of the template only the family is used.
    let recipe = Recipe::new(data, names::LINEAR, formula);
    Ok((
        recipe.changed(&args.set).map_err(Failure::request)?,
        PathBuf::from("."),
    ))
}

/// Fits on a thread of its own, so that Ctrl-C ends the work between two evaluations.
fn run(
    recipe: &Recipe,
    folder: &Path,
    options: &LikelihoodOptions,
) -> Result<LikelihoodFit, Failure> {
    let control = Control::default();
    let work = || likelihood::fit(recipe, folder, None, options, &control);
    progress::work(
        "fit",
        &control,
        work,
        |_share| None,
        |error, interrupted| match error {
            error if interrupted => Failure::interrupted(error.to_string()),
            LikelihoodError::Fit(MixedError::Failed(_)) => Failure::run(error),
            error => Failure::request(error),
        },
    )
}

/// The tables of a fit, as lme4 orders them.
fn plain(done: &LikelihoodFit, most_effects: usize) -> String {
    let fit = &done.fit;
    let mut text = format!(
        "{}\n{} by {} ({}), {} rows{}\n",
        done.recipe.model.formula,
        fit.family.id(),
        fit.method.spec().title,
        fit.criterion,
        fit.num_obs,
        fit.components
            .iter()
            .map(|c| format!(", {} {}", c.num_groups, c.group))
            .collect::<String>()
    );
    text.push_str(&format!(
        "log likelihood {}{}, deviance {}, AIC {}, BIC {}, {} parameters\n\n",
        fixed(fit.log_lik, 3),
        fit.log_lik_error.map_or_else(String::new, |error| format!(
            " (Monte Carlo se {})",
            numerals::significant(error, 2)
        )),
        fixed(fit.deviance(), 3),
        fixed(fit.aic, 2),
        fixed(fit.bic, 2),
        fit.num_params
    ));
    for (title, effects) in [("fixed effect", &fit.fixed), ("cut point", &fit.cuts)] {
        if !effects.is_empty() {
            text.push_str(&fixed_table(title, effects, fit.sigma.is_some()));
            text.push('\n');
        }
    }
    if !(fit.components.is_empty() && fit.curves.is_empty()) || fit.sigma.is_some() {
        text.push_str(&variance_table(fit));
    }
    // The table has the residual of a Gaussian outcome.
    if fit.sigma.is_none() {
        for (one, value) in fit.parameters() {
            text.push_str(&format!("{} {}\n", one.name, significant(value)));
        }
    }
    if let Some(sentence) = fit.monte_carlo_sentence() {
        text.push_str(&format!("{sentence}\n"));
    }
    for effects in &fit.effects {
        text.push_str(&effects_table(effects, most_effects));
    }
    text.push_str(&format!(
        "\n{} iterations, {} evaluations of the likelihood, {} s\n",
        fit.iterations,
        fit.evaluations,
        fixed(done.seconds, 2)
    ));
    text
}

fn fixed_table(title: &str, effects: &[FixedEffect], gaussian: bool) -> String {
    let rows: Vec<Vec<String>> = effects
        .iter()
        .map(|effect| {
            vec![
                effect.name.clone(),
                significant(effect.estimate),
                significant(effect.se),
                fixed(effect.z(), 2),
                effect.df.map_or_else(|| "NA".to_owned(), |df| fixed(df, 1)),
                numerals::significant(effect.p_value(), 3),
                significant(effect.estimate - NORMAL_95 * effect.se),
                significant(effect.estimate + NORMAL_95 * effect.se),
            ]
        })
        .collect();
    let ratio = if gaussian { "t" } else { "z" };
    output::table(
        &[title, "estimate", "se", ratio, "df", "p", "q2.5", "q97.5"],
        &rows,
    )
}

/// Two models and their likelihood ratio.
fn ratio_table(ratio: &LikelihoodRatio) -> String {
    let cells: Vec<Vec<String>> = [&ratio.smaller, &ratio.larger]
        .into_iter()
        .map(|side| {
            vec![
                side.formula.clone(),
                side.parameters.to_string(),
                fixed(side.log_lik, 3),
                fixed(side.aic, 2),
                fixed(side.bic, 2),
            ]
        })
        .collect();
    let header = ["model", "parameters", "log likelihood", "AIC", "BIC"];
    format!("\n{}{}\n", output::table(&header, &cells), ratio.sentence())
}

fn variance_table(fit: &MixedFit) -> String {
    let mut rows = Vec::new();
    for component in &fit.components {
        for (i, name) in component.names.iter().enumerate() {
            rows.push(vec![
                component.group.clone(),
                name.clone(),
                significant(component.sd[i] * component.sd[i]),
                significant(component.sd[i]),
                correlations(component, i),
                match component.icc {
                    Some(icc) if i == 0 => fixed(icc, 3),
                    _ => String::new(),
                },
            ]);
        }
    }
    for curve in &fit.curves {
        rows.push(vec![
            curve.name.clone(),
            "around its line".to_owned(),
            significant(curve.sd * curve.sd),
            significant(curve.sd),
            String::new(),
            String::new(),
        ]);
    }
    if let Some(sigma) = fit.sigma {
        rows.push(vec![
            "residual".to_owned(),
            String::new(),
            significant(sigma * sigma),
            significant(sigma),
            String::new(),
            String::new(),
        ]);
    }
    output::table(
        &["group", "effect", "variance", "sd", "correlation", "icc"],
        &rows,
    )
}

fn correlations(component: &VarianceComponent, i: usize) -> String {
    if !component.correlated {
        return String::new();
    }
    let q = component.names.len();
    (0..i)
        .map(|j| fixed(component.correlation[i * q + j], 3))
        .collect::<Vec<_>>()
        .join(" ")
}

/// The groups with the largest effects relative to their uncertainty.
fn effects_table(effects: &GroupEffects, most: usize) -> String {
    if most == 0 {
        return String::new();
    }
    let q = effects.names.len();
    let ratio = |k: usize| (effects.mode[k] / effects.sd[k]).abs();
    let mut order: Vec<usize> = (0..effects.mode.len()).collect();
    order.sort_by(|a, b| ratio(*b).total_cmp(&ratio(*a)));
    let rows: Vec<Vec<String>> = order
        .iter()
        .take(most)
        .map(|&k| {
            vec![
                effects.levels[k / q].clone(),
                effects.names[k % q].clone(),
                significant(effects.mode[k]),
                significant(effects.sd[k]),
            ]
        })
        .collect();
    let left = effects.mode.len().saturating_sub(most);
    let more = match left {
        0 => String::new(),
        left => format!("and {left} more; --out writes all\n"),
    };
    format!(
        "\n{}{more}",
        output::table(&[&effects.group, "effect", "mode", "sd"], &rows)
    )
}

fn compare(
    done: &LikelihoodFit,
    recipe: &Recipe,
    path: &Path,
) -> Result<Vec<ComparedRow>, Failure> {
    let results = results::read(path)?;
    compared_rows(done, recipe, &results.summary).map_err(Failure::request)
}

/// Estimates beside the posterior; of group effects those that differ most.
fn comparison_table(rows: &[ComparedRow], most_effects: usize) -> String {
    let (mut effects, mut shown): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row.of_group);
    let size = |row: &ComparedRow| row.difference().abs();
    effects.sort_by(|a, b| size(b).total_cmp(&size(a)));
    let left = effects.len().saturating_sub(most_effects);
    shown.extend(effects.into_iter().take(most_effects));
    let cells: Vec<Vec<String>> = shown
        .iter()
        .map(|row| {
            let missing = || "NA".to_owned();
            let [low, high] = row.interval().unwrap_or([f64::NAN; 2]);
            vec![
                row.variable.to_string(),
                significant(row.estimate),
                row.se.map_or_else(missing, significant),
                significant(low),
                significant(high),
                significant(row.mean),
                significant(row.sd),
                significant(row.posterior[0]),
                significant(row.posterior[1]),
                fixed(row.difference(), 2),
            ]
        })
        .collect();
    let header = [
        "variable",
        "estimate",
        "se",
        "q5",
        "q95",
        "mean",
        "sd",
        "q5",
        "q95",
        "difference",
    ];
    let more = match left {
        0 => String::new(),
        left => format!("and {left} group effects that differ less\n"),
    };
    format!(
        "\nLikelihood and posterior, 90 % intervals; difference in posterior sd\n{}{more}",
        output::table(&header, &cells)
    )
}

/// The first rows predicted.
fn predictions_table(predicted: &PlugIn) -> String {
    let rows: Vec<Vec<String>> = predicted
        .rows
        .iter()
        .take(ROWS_PRINTED)
        .enumerate()
        .map(|(i, row)| {
            let chances = predicted.chances.get(i).into_iter().flatten();
            let numbers = [row.fixed, row.with_groups].into_iter();
            let numbers = numbers.chain(chances.copied()).map(significant);
            std::iter::once((row.row + 1).to_string())
                .chain(numbers)
                .collect()
        })
        .collect();
    let more = match predicted.rows.len() - rows.len() {
        0 => String::new(),
        more => format!("and {more} more; --out writes all\n"),
    };
    let chances: Vec<String> = (predicted.levels.iter())
        .map(|level| ParamId::of(Class::Probability, [level]).to_string())
        .collect();
    let mut header = vec!["row", "fitted_fixed", "fitted"];
    header.extend(chances.iter().map(String::as_str));
    format!("\n{}{more}", output::table(&header, &rows))
}

/// A number of a fit: five significant digits.
pub(super) fn significant(value: f64) -> String {
    numerals::significant(value, 5)
}
