//! `effects`: how the expected outcome differs by predictors, and expressions of parameters, from a finished run.

use std::sync::Arc;

use super::args::{ChangeShown, EffectsArgs, EffectsUsed};
use super::results::{decimals, digits, significant};
use super::{Failure, output, progress, results};
use ergodic_analysis::effects::{
    Contrast, Derived, Effect, Effects, EffectsError, EffectsOptions, expressions,
};
use ergodic_analysis::predict::Fitted;
use ergodic_base::control::Control;
use ergodic_base::numerals::fixed;
use ergodic_diagnostics::sentence::rhat_text;
use ergodic_export::effects::{self as files, Answers};
use ergodic_export::{RunFolder, check_place};

/// Ratios of coefficients printed; files and `--json` have all.
const RATIOS_PRINTED: usize = 50;

/// Computes and prints.
pub fn effects(args: &EffectsArgs) -> Result<(), Failure> {
    if let Some(path) = &args.out {
        check_place(path).map_err(Failure::request)?;
    }
    let answers = run(args)?;
    if let Some(path) = &args.out {
        files::save(&answers, path).map_err(Failure::run)?;
    }
    if args.json {
        let json = files::to_json(&answers);
        let text = serde_json::to_string_pretty(&json).map_err(Failure::run)?;
        output::json(&(text + "\n"));
    } else {
        let mut parts: Vec<String> = Vec::new();
        parts.extend(answers.effects.as_ref().map(|effects| text(effects, args)));
        if !answers.expressions.is_empty() {
            parts.push(expressions_text(&answers, args));
        }
        output::result(&parts.join("\n"));
    }
    for remark in answers.effects.iter().flat_map(|effects| &effects.remarks) {
        output::note(remark);
    }
    Ok(())
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
    let mut text = String::new();
    for effect in effects
        .effects
        .iter()
        .filter(|effect| effects.is_told(effect))
    {
        text.push_str(&effects.sentence(effect));
        text.push('\n');
    }
    let shown = |effect: &&Effect| match &effect.contrast {
        Contrast::Slope => args.change == ChangeShown::Slope,
        Contrast::Unit => args.change == ChangeShown::Unit,
        Contrast::Sd(_) => args.change == ChangeShown::Sd,
        Contrast::Levels { .. } => true,
    };
    let has_by = effects.effects.iter().any(|effect| effect.by.is_some());
    let rows: Vec<Vec<String>> = (effects.effects.iter().filter(shown))
        .map(|effect| {
            let mut cells = vec![effect.predictor.clone(), effect.contrast.label()];
            if has_by {
                let by = effect.by.as_ref();
                cells.push(by.map_or(String::new(), |(name, value)| format!("{name}={value}")));
            }
            cells.extend(numbers(&effect.value));
            cells
        })
        .collect();
    let names = numbers_header(effects.options.rope.is_some());
    let mut header = vec!["predictor", "contrast"];
    header.extend(has_by.then_some("by"));
    header.extend(&names);
    text.push_str(&format!("\nDifference in the {}\n", effects.quantity));
    text.push_str(&output::table(&header, &rows));
    if let Some(ratio) = effects.ratio
        && !effects.ratios.is_empty()
    {
        let rows: Vec<Vec<String>> = (effects.ratios.iter().take(RATIOS_PRINTED))
            .map(|ratio| {
                let mut cells = vec![ratio.term.clone()];
                cells.extend(numbers(&ratio.value));
                cells
            })
            .collect();
        let mut header = vec!["term"];
        header.extend(names.iter().filter(|name| **name != "in_rope"));
        if let Some(k) = header.iter().position(|name| *name == "p_above_0") {
            header[k] = "p_above_1";
        }
        text.push_str(&format!("\nOne unit more of a term: {ratio}\n"));
        text.push_str(&output::table(&header, &rows));
        if effects.ratios.len() > rows.len() {
            let more = effects.ratios.len() - rows.len();
            text.push_str(&format!("and {more} more; --json and --out have all\n"));
        }
    }
    text
}

fn numbers_header(has_rope: bool) -> Vec<&'static str> {
    let mut names = vec!["mean", "mcse_mean", "sd", "lower", "upper", "p_above_0"];
    names.extend(has_rope.then_some("in_rope"));
    names.extend(["ess_bulk", "ess_tail", "rhat"]);
    names
}

/// Digits by Monte Carlo error, as in summaries.
fn numbers(value: &Derived) -> Vec<String> {
    let summary = &value.summary;
    let by_error = |number: f64| decimals(Some(number), digits(summary.mcse_mean));
    let mut cells = vec![
        by_error(value.mean()),
        significant(summary.mcse_mean, 2),
        significant(summary.sd, 3),
        by_error(value.interval[0]),
        by_error(value.interval[1]),
        fixed(value.above, 3),
    ];
    cells.extend(value.in_rope.map(|share| fixed(share, 3)));
    let missing = summary
        .missing
        .map_or("NA".to_owned(), |missing| missing.to_string());
    cells.extend([
        decimals(summary.ess_bulk.map(f64::floor), 0),
        decimals(summary.ess_tail.map(f64::floor), 0),
        summary.rhat.map_or(missing, rhat_text),
    ]);
    cells
}

/// Computes on a thread of its own, so that Ctrl-C ends the work.
fn run(args: &EffectsArgs) -> Result<Answers, Failure> {
    let folder = RunFolder::open(&args.run).map_err(Failure::request)?;
    let recipe = folder.recipe().map_err(Failure::request)?;
    let results = results::of_folder(&folder)?;
    let options = EffectsOptions {
        with_groups: args.effects == EffectsUsed::With,
        interval: args.interval,
        rope: args.rope,
        draws: args.draws,
        of: args.of.clone(),
        pairs: args.contrasts.clone(),
        by: args.by.clone(),
        at: args.at.clone(),
    };
    let control = Control::default();
    // Expressions alone need neither the data nor a model that explains an outcome.
    let alone = !args.expression.is_empty()
        && args.of.is_empty()
        && args.contrasts.is_empty()
        && args.by.is_none()
        && args.at.is_empty();
    let work = || -> Result<Answers, EffectsError> {
        let (draws, weights) = results.usable();
        let mut answers = Answers::default();
        if !args.expression.is_empty() {
            let (texts, names) = (&args.expression, &results.variables);
            answers.expressions = expressions(texts, names, &draws, &weights, &options)?;
        }
        if !alone {
            let fitted = Fitted::open(&recipe, folder.path(), &control)?;
            let effects = fitted.effects(&draws, &weights, &options, &control)?;
            answers.effects = Some(Arc::new(effects));
        }
        Ok(answers)
    };
    let tell = |done: Option<f64>| {
        let rows = done.map(|done| format!("{:.0} % of rows averaged", 100.0 * done));
        Some(rows.unwrap_or_else(|| "Reading data and draws".to_owned()))
    };
    progress::work("effects", &control, work, tell, |error, interrupted| {
        if interrupted {
            Failure::interrupted(error.to_string())
        } else {
            Failure::request(error)
        }
    })
}
