//! Whether a column can take a role, and what would help if it cannot.

use super::roles::{Conversion, Refusal, Role};
use super::sniff::ColumnKindOverride;
use super::table::Table;
use ergodic_base::numerals::{plural, thousands};
use ergodic_core::design::lump_levels::TOP;
use ergodic_core::design::terms::MAX_LEVELS;
use ergodic_core::design::{
    ColumnInfo, ColumnKind, Columns as _, MAX_CATEGORIES, MAX_LEVELS as MOST_LEVELS, ResponseUse,
    fits,
};
use ergodic_core::formula::quote_name;

/// Values listed and counted when a response is refused.
const MOST_COUNTED: usize = 20;

/// Whether a column holds numbers.
pub(super) fn is_number(table: &Table, column: &str) -> bool {
    table
        .column(column)
        .is_some_and(|info| info.kind == ColumnKind::Number)
}

/// Whether `column` can take `role`, alone: a numeric response with more than two values is refused although it
/// may become a count once trials are named.
pub fn check_role(table: &Table, column: &str, role: Role) -> Result<(), Refusal> {
    let refuse = |reason: String, conversion| Err(Refusal { reason, conversion });
    let col = match table.index_of(column, "The role") {
        Ok(col) => col,
        Err(error) => return refuse(error.to_string(), None),
    };
    let info = &table.columns()[col];
    let named = quote_name(column);
    if role != Role::Ignore && info.num_missing == table.num_rows() {
        return refuse(
            format!(
                "Column {named} has no values, so it cannot be {}",
                role.with_article()
            ),
            None,
        );
    }
    match role {
        Role::Ignore | Role::Group => Ok(()),
        Role::Response => check_response(table, col, &named),
        Role::Predictor => check_predictor(table, col, &named),
        Role::Offset | Role::Weight | Role::Trials => {
            let Some(values) = table.numbers(col) else {
                return refuse_text(info, &named, role, table, col);
            };
            let present = || {
                values
                    .iter()
                    .copied()
                    .enumerate()
                    .filter(|(_, value)| !value.is_nan())
            };
            let bad = match role {
                Role::Weight => present().find(|(_, value)| *value < 0.0),
                Role::Trials => present().find(|(_, value)| *value < 1.0 || value.fract() != 0.0),
                _ => None,
            };
            let Some((row, value)) = bad else {
                return Ok(());
            };
            let wanted = if role == Role::Weight {
                "not negative"
            } else {
                "whole and at least 1"
            };
            refuse(
                format!(
                    "Column {named} is {value} in {}, but {} must be {wanted}",
                    table.place(row),
                    role_plural(role)
                ),
                Some(Conversion::UseAs(Role::Predictor)),
            )
        }
    }
}

fn role_plural(role: Role) -> &'static str {
    match role {
        Role::Offset => "offsets",
        Role::Weight => "weights",
        Role::Response => "outcomes of this model",
        _ => "numbers of trials",
    }
}

fn refuse_text(
    info: &ColumnInfo,
    named: &str,
    role: Role,
    table: &Table,
    col: usize,
) -> Result<(), Refusal> {
    let bad = table.texts(col).into_iter().flatten().flatten();
    let bad: Vec<&str> = bad.filter(|text| text.parse::<f64>().is_err()).collect();
    let what = if info.kind == ColumnKind::Date {
        "dates"
    } else {
        "text"
    };
    let known = table.num_rows() - info.num_missing;
    let lost = match bad.first() {
        // Nothing would be left of it.
        Some(_) if bad.len() == known => "; none of its values is one".to_owned(),
        Some(first) => format!(
            "; as a number {} of {} values such as `{first}` would be missing",
            thousands(bad.len() as u64),
            thousands(known as u64)
        ),
        None => "; it can be imported as a number without loss".to_owned(),
    };
    let helps = bad.len() < known;
    Err(Refusal {
        reason: format!(
            "Column {named} holds {what}, but {} must be numbers{lost}",
            role_plural(role)
        ),
        conversion: helps.then_some(Conversion::Import(ColumnKindOverride::Number)),
    })
}

fn check_response(table: &Table, col: usize, named: &str) -> Result<(), Refusal> {
    let levels = table.few_levels(col, MOST_COUNTED);
    let values = match &levels {
        Some(levels) if levels.len() == 2 => return Ok(()),
        Some(levels) => {
            let shown: Vec<String> = levels
                .iter()
                .take(5)
                .map(|level| format!("`{level}`"))
                .collect();
            let rest = if levels.len() > 5 { ", …" } else { "" };
            format!(
                "{} ({}{rest})",
                plural(levels.len(), "value"),
                shown.join(", ")
            )
        }
        None => format!("more than {MOST_COUNTED} values"),
    };
    let is_count = table.numbers(col).is_some_and(|values| {
        values
            .iter()
            .all(|value| value.is_nan() || (*value >= 0.0 && value.fract() == 0.0))
    });
    let is_single = levels.is_some_and(|levels| levels.len() == 1);
    let help = if is_count && !is_single {
        "if it counts successes, name the number of trials first"
    } else {
        "choose a column with two"
    };
    Err(Refusal {
        reason: format!("Column {named} has {values}, but a yes-no outcome has two; {help}"),
        conversion: Some(Conversion::UseAs(Role::Predictor)),
    })
}

/// Whether the values of `column` can be a response of numbers, or of counts.
pub(super) fn check_number(
    table: &Table,
    column: &str,
    wanted: ResponseUse,
) -> Result<(), Refusal> {
    let named = quote_name(column);
    let refuse = |reason: String, conversion| Err(Refusal { reason, conversion });
    let col = match table.index_of(column, "The role") {
        Ok(col) => col,
        Err(error) => return refuse(error.to_string(), None),
    };
    let Some(values) = table.numbers(col) else {
        return refuse_text(&table.columns()[col], &named, Role::Response, table, col);
    };
    let mut present = values
        .iter()
        .enumerate()
        .filter(|(_, value)| !value.is_nan())
        .peekable();
    if present.peek().is_none() {
        return refuse(
            format!("Column {named} has no values, so it cannot be the outcome"),
            None,
        );
    }
    let bad = present.find(|(_, value)| !fits(**value, wanted));
    match bad {
        None => Ok(()),
        Some((row, value)) => refuse(
            format!(
                "Column {named} is {value} in {}, but an outcome of counts must be whole numbers from 0",
                table.place(row)
            ),
            Some(Conversion::UseAs(Role::Predictor)),
        ),
    }
}

/// A refusal that no conversion mends.
fn refuse<T>(reason: String) -> Result<T, Refusal> {
    Err(Refusal {
        reason,
        conversion: None,
    })
}

/// Levels of a column; `None` if it has more than `most`.
fn levels_of(table: &Table, column: &str, most: usize) -> Result<Option<usize>, Refusal> {
    match table.index_of(column, "The role") {
        Ok(col) => Ok(table.few_levels(col, most).map(|levels| levels.len())),
        Err(error) => refuse(error.to_string()),
    }
}

/// Whether the values of `column` can be the categories of a response.
pub(super) fn check_categories(table: &Table, column: &str) -> Result<(), Refusal> {
    let named = quote_name(column);
    match levels_of(table, column, MAX_CATEGORIES)? {
        None => refuse(format!(
            "Column {named} has more than the {MAX_CATEGORIES} values that categories may have; choose a column with fewer"
        )),
        Some(0) => refuse(format!(
            "Column {named} has no values, so it cannot be the outcome"
        )),
        Some(_) => Ok(()),
    }
}

/// Whether a column can have the levels of an outcome; whether their order is known, where they need one, shows where the design is
/// made, for it can be named.
pub(super) fn check_levels(
    table: &Table,
    column: &str,
    wanted: ResponseUse,
) -> Result<(), Refusal> {
    let named = quote_name(column);
    let (which, merge) = match wanted {
        ResponseUse::Ordered => ("an ordered outcome", "neighbouring"),
        _ => ("an outcome of levels", "rare"),
    };
    match levels_of(table, column, MOST_LEVELS)? {
        None => refuse(format!(
            "Column {named} has more than the {MOST_LEVELS} levels that {which} may have; choose a template for numbers, or merge \
             {merge} levels in a new column"
        )),
        Some(count) if count < 3 => refuse(format!(
            "Column {named} has {}, and {which} needs at least 3",
            plural(count, "level")
        )),
        Some(_) => Ok(()),
    }
}

fn check_predictor(table: &Table, col: usize, named: &str) -> Result<(), Refusal> {
    let info = &table.columns()[col];
    let refuse = |reason, conversion| {
        Err(Refusal {
            reason,
            conversion: Some(conversion),
        })
    };
    match info.kind {
        ColumnKind::Number => Ok(()),
        ColumnKind::Date => refuse(
            format!("Column {named} holds dates, which are neither numbers nor categories"),
            Conversion::TreatAsCategorical,
        ),
        ColumnKind::Text => {
            if table.few_levels(col, MAX_LEVELS).is_some() {
                return Ok(());
            }
            refuse(
                format!(
                    "Column {named} has more than the {MAX_LEVELS} different texts that a categorical predictor may have; use it as a \
                     group, or merge rare values into one"
                ),
                Conversion::KeepTop(TOP),
            )
        }
    }
}
