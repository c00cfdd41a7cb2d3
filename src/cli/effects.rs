//! `effects`: how the expected outcome differs by predictors, and expressions of parameters, from a finished run.

use std::sync::Arc;

use super::args::{ChangeShown, EffectsArgs, EffectsUsed, OthersHeld};
use super::results::{decimals, significant};
use super::{Failure, output, progress, results};
use ergodic_analysis::effects::{
    Conditional, Contrast, Derived, Effect, Effects, EffectsError, EffectsOptions, Others, Ratio,
    expressions,
};
use ergodic_base::Control;
use ergodic_base::numerals::{decimals_by_error, fixed};
use ergodic_diagnostics::sentence::rhat_text;
use ergodic_export::effects::{self as files, Answers};
use ergodic_export::{Results, RunFolder, check_place};

/// Ratios of coefficients printed; files and `--json` have all.
const RATIOS_PRINTED: usize = 50;
/// Sentences printed of a predictor.
const SENTENCES_PRINTED: usize = 20;

/// Computes and prints.
pub fn effects(args: &EffectsArgs) -> Result<(), Failure> {
    if let Some(path) = &args.out {
        check_place(path, [&args.run]).map_err(Failure::request)?;
    }
    let folder = RunFolder::open(&args.run).map_err(Failure::request)?;
    let results = results::to_compute_from(&folder)?;
    let answers = run(args, &folder, &results)?;
    if let Some(path) = &args.out {
        files::save(&answers, path).map_err(Failure::run)?;
    }
    if args.json {
        let mut json = files::to_json(&answers);
        results::add_verdict(&mut json, results.manifest.as_ref());
        output::json(&json)?;
    } else {
        let mut parts: Vec<String> = Vec::new();
        parts.extend(answers.effects.as_ref().map(|effects| text(effects, args)));
        parts.extend(answers.along.iter().map(along_text));
        if !answers.expressions.is_empty() {
            parts.push(expressions_text(&answers, args));
        }
        output::result(&parts.join("\n"));
    }
    let of_effects = answers.effects.iter().flat_map(|effects| &effects.remarks);
    let mut told: Vec<&String> = Vec::new();
    for remark in of_effects.chain(answers.along.iter().flat_map(|along| &along.remarks)) {
        if !told.contains(&remark) {
            output::note(remark);
            told.push(remark);
        }
    }
    Ok(())
}

/// The expected outcome along a predictor.
fn along_text(along: &Conditional) -> String {
    let mut header = vec![along.predictor.as_str()];
    header.extend(along.by.as_deref());
    let has_levels = along.curves.iter().any(|curve| curve.level.is_some());
    header.extend(has_levels.then_some("level"));
    header.extend(ESTIMATES.iter().chain(&DIAGNOSTICS));
    let mut rows: Vec<Vec<String>> = Vec::new();
    for curve in &along.curves {
        for point in &curve.points {
            let mut cells = vec![point.at.label()];
            cells.extend(curve.by.clone());
            cells.extend(curve.level.clone());
            cells.extend(estimates(&point.value));
            cells.extend(diagnostics(&point.value));
            rows.push(cells);
        }
    }
    let title = format!("Expected {} along {}\n", along.quantity, along.predictor);
    title + &output::table(&header, &rows)
}

fn expressions_text(answers: &Answers, args: &EffectsArgs) -> String {
    let rows: Vec<Vec<String>> = (answers.expressions.iter())
        .map(|expression| {
            let mut cells = vec![expression.text.clone()];
            cells.extend(numbers(&expression.value));
            cells
        })
        .collect();
    let mut header = vec!["expression"];
    header.extend(numbers_header(args.rope.is_some()));
    output::table(&header, &rows)
}

/// Sentences, then tables.
fn text(effects: &Effects, args: &EffectsArgs) -> String {
    let shown = |effect: &&Effect| match (&effect.contrast, args.change) {
        (Contrast::Levels { .. }, _) => true,
        (_, ChangeShown::Readable) => effects.is_told(effect),
        (contrast, ChangeShown::Slope) => *contrast == Contrast::Slope,
        (contrast, ChangeShown::Unit) => *contrast == Contrast::Unit,
        (contrast, ChangeShown::Sd) => matches!(contrast, Contrast::Sd(_)),
    };
    let mut text = String::new();
    for predictor in effects.predictors() {
        let of = |effect: &&Effect| effect.predictor == predictor;
        let told: Vec<&Effect> = (effects.effects.iter().filter(shown).filter(of)).collect();
        for effect in told.iter().take(SENTENCES_PRINTED) {
            text.push_str(&effects.sentence(effect));
            text.push('\n');
        }
        if told.len() > SENTENCES_PRINTED {
            let more = told.len() - SENTENCES_PRINTED;
            text.push_str(&format!("and {more} more of {predictor}, in the table\n"));
        }
    }
    let has_by = effects.effects.iter().any(|effect| effect.by.is_some());
    let rows: Vec<Vec<String>> = (effects.effects.iter().filter(shown))
        .map(|effect| {
            let mut cells = vec![effect.predictor.clone(), effect.contrast.label()];
            if has_by {
                let by = effect.by.as_ref();
                cells.push(by.map_or(String::new(), |(name, value)| format!("{name}={value}")));
            }
            cells.extend(effect.level.clone());
            cells.extend(numbers(&effect.value));
            cells
        })
        .collect();
    let names = numbers_header(effects.options.rope.is_some());
    let mut header = vec!["predictor", "contrast"];
    header.extend(has_by.then_some("by"));
    let has_levels = effects.effects.iter().any(|effect| effect.level.is_some());
    header.extend(has_levels.then_some("level"));
    header.extend(&names);
    text.push_str(&format!("\nDifference in the {}\n", effects.quantity));
    text.push_str(&output::table(&header, &rows));
    if let Some(ratio) = effects.ratio
        && !effects.ratios.is_empty()
    {
        let rows: Vec<Vec<String>> = (effects.ratios.iter().take(RATIOS_PRINTED))
            .map(|ratio| ratio_cells(ratio).to_vec())
            .collect();
        text.push_str(&format!("\nWith a term higher: {ratio}, median\n"));
        text.push_str(&output::table(&RATIO_HEADER, &rows));
        if effects.ratios.len() > rows.len() {
            let more = effects.ratios.len() - rows.len();
            text.push_str(&format!("and {more} more; --json and --out have all\n"));
        }
    }
    text
}

/// Columns of what the draws say of a number, and of what their chains say of that.
const ESTIMATES: [&str; 5] = ["mean", "mcse_mean", "sd", "lower", "upper"];
const DIAGNOSTICS: [&str; 3] = ["ess_bulk", "ess_tail", "rhat"];

/// Columns of the table of ratios. A ratio has heavy tails, so that its draws may have no mean: the median stands for it.
const RATIO_HEADER: [&str; 9] = [
    "term",
    "change",
    "median",
    "lower",
    "upper",
    "p_above_1",
    "ess_bulk",
    "ess_tail",
    "rhat",
];

fn ratio_cells(ratio: &Ratio) -> [String; 9] {
    let value = &ratio.value;
    let [low, high] = value.interval.map(|end| significant(Some(end), 3));
    let [bulk, tail, rhat] = diagnostics(value);
    [
        ratio.term.clone(),
        ratio.contrast.label(),
        significant(value.summary.q50, 3),
        low,
        high,
        fixed(value.above, 3),
        bulk,
        tail,
        rhat,
    ]
}

fn numbers_header(has_rope: bool) -> Vec<&'static str> {
    let mut names = ESTIMATES.to_vec();
    names.push("p_above_0");
    names.extend(has_rope.then_some("in_rope"));
    names.extend(DIAGNOSTICS);
    names
}

fn numbers(value: &Derived) -> Vec<String> {
    let mut cells = estimates(value).to_vec();
    cells.push(fixed(value.above, 3));
    cells.extend(value.in_rope.map(|share| fixed(share, 3)));
    cells.extend(diagnostics(value));
    cells
}

/// Digits by Monte Carlo error, as in summaries.
fn estimates(value: &Derived) -> [String; 5] {
    let summary = &value.summary;
    let by_error = |number: f64| decimals(Some(number), decimals_by_error(summary.mcse_mean));
    [
        by_error(value.mean()),
        significant(summary.mcse_mean, 2),
        significant(summary.sd, 3),
        by_error(value.interval[0]),
        by_error(value.interval[1]),
    ]
}

fn diagnostics(value: &Derived) -> [String; 3] {
    let summary = &value.summary;
    let missing = summary
        .missing
        .map_or("NA".to_owned(), |missing| missing.to_string());
    [
        decimals(summary.ess_bulk.map(f64::floor), 0),
        decimals(summary.ess_tail.map(f64::floor), 0),
        summary.rhat.map_or(missing, rhat_text),
    ]
}

/// Computes on a thread of its own, so that Ctrl-C ends the work.
fn run(args: &EffectsArgs, folder: &RunFolder, results: &Results) -> Result<Answers, Failure> {
    let options = EffectsOptions {
        with_groups: args.effects == EffectsUsed::With,
        interval: args.interval,
        rope: args.rope,
        draws: args.draws,
        of: args.of.clone(),
        pairs: args.contrasts.clone(),
        all_pairs: false,
        by: args.by.clone(),
        at: args.at.clone(),
    };
    let control = Control::default();
    let others = match args.others {
        OthersHeld::Typical => Others::Typical,
        OthersHeld::Rows => Others::Rows,
    };
    // Effects are what is asked where nothing else is. Expressions need neither the data nor a model that explains an outcome.
    let is_asked = !(args.expression.is_empty() && args.along.is_empty());
    let alone = is_asked
        && args.of.is_empty()
        && args.contrasts.is_empty()
        && (!args.along.is_empty() || (args.by.is_none() && args.at.is_empty()));
    let work = || -> Result<Answers, EffectsError> {
        let (draws, weights) = results.usable();
        let mut answers = Answers::default();
        if !args.expression.is_empty() {
            let (texts, names) = (&args.expression, &results.variables);
            answers.expressions = expressions(texts, names, &draws, &weights, &options)?;
        }
        if alone && args.along.is_empty() {
            return Ok(answers);
        }
        let fitted = folder.fitted(results, &control)?;
        for name in &args.along {
            let how = (others, args.places);
            let found = fitted.along((&draws, &weights), name, how, &options, &control)?;
            answers.along.push(found);
        }
        if let Some(by) = args
            .by
            .as_ref()
            .filter(|by| !alone && fitted.is_grouping(by))
        {
            let options = EffectsOptions {
                by: None,
                ..options.clone()
            };
            let how = (others, args.places);
            let found = fitted.along((&draws, &weights), by, how, &options, &control)?;
            answers.along.push(found);
        }
        if !alone {
            match fitted.effects(&draws, &weights, &options, &control) {
                Ok(effects) => answers.effects = Some(Arc::new(effects)),
                // Of groups alone what is expected in each is the answer.
                Err(EffectsError::NoPredictors) if !answers.along.is_empty() => {}
                Err(EffectsError::NoPredictors) if !fitted.groupings().is_empty() => {
                    for group in &fitted.groupings() {
                        let (lists, how) = ((&*draws, &*weights), (others, args.places));
                        let found = fitted.along(lists, group, how, &options, &control)?;
                        answers.along.push(found);
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(answers)
    };
    progress::over_rows("effects", "averaged", &control, work)
}
