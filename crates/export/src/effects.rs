//! Effects of predictors, and expressions of reported quantities, as files.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value as Json, json};

use ergodic_base::{Class, ParamId};

use super::number::{or_na, shortest};
use super::spreadsheet::inert;
use super::{ExportError, write_file};
use ergodic_analysis::effects::{
    Conditional, Curve, CurvePoint, Derived, Effects, ExpressionValue, Place,
};

/// The columns of a table of effects; `NA` stands where there is no number.
const HEADER: [&str; 15] = [
    "quantity",
    "predictor",
    "contrast",
    "by",
    "mean",
    "median",
    "sd",
    "lower",
    "upper",
    "p_above",
    "in_rope",
    "mcse_mean",
    "ess_bulk",
    "ess_tail",
    "rhat",
];

/// What a run was asked.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    /// Effects of predictors, where they were asked for.
    pub effects: Option<Arc<Effects>>,
    /// Expected outcomes along predictors.
    pub along: Vec<Conditional>,
    /// Expressions of reported quantities.
    pub expressions: Vec<ExpressionValue>,
}

/// A line of the table: what it is, of what, and its number.
struct Line<'a> {
    quantity: Cow<'a, str>,
    predictor: &'a str,
    contrast: String,
    by: String,
    value: &'a Derived,
}

fn lines(answers: &Answers) -> Vec<Line<'_>> {
    let expressions = answers.expressions.iter().map(|expression| Line {
        quantity: Cow::Borrowed("expression"),
        predictor: &expression.text,
        contrast: String::new(),
        by: String::new(),
        value: &expression.value,
    });
    let effects = answers
        .effects
        .iter()
        .flat_map(|effects| effect_lines(effects));
    let along = answers.along.iter().flat_map(along_lines);
    effects.chain(along).chain(expressions).collect()
}

/// Expected outcomes, with the place where a contrast has what it compares.
fn along_lines(along: &Conditional) -> impl Iterator<Item = Line<'_>> {
    along.curves.iter().flat_map(move |curve| {
        let set = along.by.as_ref().zip(curve.by.as_ref());
        let by = set.map_or(String::new(), |(name, value)| format!("{name}={value}"));
        curve.points.iter().map(move |point| Line {
            quantity: of_level(["expected", "expected"], curve.level.as_ref()),
            predictor: &along.predictor,
            contrast: match &point.at {
                Place::Number(x) => shortest(*x),
                Place::Level(level) => level.clone(),
            },
            by: by.clone(),
            value: &point.value,
        })
    })
}

fn effect_lines(effects: &Effects) -> Vec<Line<'_>> {
    let told = effects.effects.iter().map(|effect| Line {
        quantity: of_level(["effect", "effect on"], effect.level.as_ref()),
        predictor: &effect.predictor,
        contrast: effect.contrast.label(),
        by: by(effect.by.as_ref()),
        value: &effect.value,
    });
    let ratios = effects.ratios.iter().map(|ratio| Line {
        quantity: Cow::Borrowed(effects.ratio.unwrap_or_default()),
        predictor: &ratio.term,
        contrast: ratio.contrast.label(),
        by: String::new(),
        value: &ratio.value,
    });
    told.chain(ratios).collect()
}

/// A quantity of the outcome, or of the probability of a level, each in its words: `effect`, `effect on p[red]`.
fn of_level<'a>([of_outcome, of_chance]: [&'a str; 2], level: Option<&String>) -> Cow<'a, str> {
    match level {
        None => Cow::Borrowed(of_outcome),
        Some(level) => {
            let chance = ParamId::of(Class::Probability, [level]);
            Cow::Owned(format!("{of_chance} {chance}"))
        }
    }
}

/// What is set in all rows: `plan=pro`.
fn by(set: Option<&(String, String)>) -> String {
    set.map(|(column, value)| format!("{column}={value}"))
        .unwrap_or_default()
}

/// One line per effect and expression, in CSV.
///
/// # Errors
/// Those of `out`.
pub fn write_csv(answers: &Answers, out: &mut dyn Write) -> io::Result<()> {
    let mut out = csv::Writer::from_writer(out);
    out.write_record(HEADER)?;
    for line in lines(answers) {
        let summary = &line.value.summary;
        let [low, high] = line.value.interval.map(finite);
        let numbers = [
            summary.mean,
            summary.q50,
            summary.sd,
            low,
            high,
            Some(line.value.above),
            line.value.in_rope,
            summary.mcse_mean,
            summary.ess_bulk,
            summary.ess_tail,
            summary.rhat,
        ];
        let texts = [
            line.quantity.as_ref(),
            line.predictor,
            &line.contrast,
            &line.by,
        ]
        .map(inert);
        let numbers = numbers.map(|number| Cow::Owned(or_na(number)));
        out.write_record(texts.iter().chain(&numbers).map(Cow::as_ref))?;
    }
    out.flush()
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// Writes the table to `path`.
///
/// # Errors
/// The path cannot be written.
pub fn save(answers: &Answers, path: &Path) -> Result<(), ExportError> {
    write_file("The effects could not be written", path, |out| {
        write_csv(answers, out)
    })
}

/// Everything; numbers that are not finite are null.
pub fn to_json(answers: &Answers) -> Json {
    let mut json = match &answers.effects {
        Some(effects) => effects_json(effects),
        None => json!({}),
    };
    let told = answers.expressions.iter().map(|expression| {
        let mut line = json!({ "expression": expression.text });
        add(&mut line, &expression.value);
        line
    });
    json["expressions"] = told.collect();
    json["along"] = answers.along.iter().map(along_json).collect();
    json
}

fn along_json(along: &Conditional) -> Json {
    let curve = |curve: &Curve| {
        let point = |point: &CurvePoint| {
            let mut line = match &point.at {
                Place::Number(x) => json!({ "at": x }),
                Place::Level(level) => json!({ "at": level }),
            };
            add(&mut line, &point.value);
            line
        };
        let set = along.by.as_ref().zip(curve.by.as_ref());
        json!({
            "by": set.map(|(name, value)| json!({ name: value })),
            "level": curve.level,
            "points": curve.points.iter().map(point).collect::<Vec<_>>(),
        })
    };
    json!({
        "quantity": along.quantity,
        "predictor": along.predictor,
        "remarks": along.remarks,
        "curves": along.curves.iter().map(curve).collect::<Vec<_>>(),
    })
}

fn effects_json(effects: &Effects) -> Json {
    let told: Vec<Json> = (effects.effects.iter())
        .map(|effect| {
            let mut line = json!({
                "predictor": effect.predictor,
                "contrast": effect.contrast.label(),
                "by": effect.by.as_ref().map(|(column, value)| json!({ column: value })),
                "level": effect.level,
                "sentence": effects.sentence(effect),
                "told": effects.is_told(effect),
            });
            add(&mut line, &effect.value);
            line
        })
        .collect();
    let ratios: Vec<Json> = (effects.ratios.iter())
        .map(|ratio| {
            let mut line = json!({ "term": ratio.term, "contrast": ratio.contrast.label() });
            add(&mut line, &ratio.value);
            line
        })
        .collect();
    json!({
        "quantity": effects.quantity,
        "response": effects.response.column(),
        "group_effects": effects.options.with_groups,
        "interval": effects.options.interval,
        "rope": effects.options.rope,
        "draws_used": effects.draws.0,
        "draws": effects.draws.1,
        "rows": effects.rows,
        "remarks": effects.remarks,
        "effects": told,
        "ratio": effects.ratio,
        "ratios": ratios,
    })
}

/// Adds the numbers of a derived quantity to an object.
fn add(line: &mut Json, value: &Derived) {
    let summary = &value.summary;
    let [low, high] = value.interval;
    line["mean"] = json!(summary.mean);
    line["median"] = json!(summary.q50);
    line["sd"] = json!(summary.sd);
    line["lower"] = json!(low);
    line["upper"] = json!(high);
    line["p_above"] = json!(value.above);
    line["in_rope"] = json!(value.in_rope);
    line["mcse_mean"] = json!(summary.mcse_mean);
    line["ess_bulk"] = json!(summary.ess_bulk);
    line["ess_tail"] = json!(summary.ess_tail);
    line["rhat"] = json!(summary.rhat);
}
