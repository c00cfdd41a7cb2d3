//! Which template explains the response of a formula, from what the column holds.

use std::collections::BTreeSet;

use crate::data::formula::Formula;
use crate::data::table::{ColumnKind, Table};

/// A template that fits a formula, with the settings that make it fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Template id.
    pub template: &'static str,
    /// Settings of the template besides defaults: key and value.
    pub settings: Vec<(&'static str, &'static str)>,
    /// Why, as what can follow "because".
    pub reason: String,
}

/// What a response is.
enum Outcome {
    Binary,
    Successes,
    Count,
    Number,
    Categories(usize),
}

/// The template for `formula`; numeric columns among `categorical` are taken as categories. `None` where no template
/// explains such a column, or the column cannot be explained at all: templates say why.
///
/// Two values are an outcome, whole numbers that begin at 0 or 1 counts, other numbers are measured; effects that vary by
/// group make it a mixed model.
pub fn choose(table: &Table, formula: &Formula, categorical: &BTreeSet<String>) -> Option<Choice> {
    let Some(response) = &formula.response else {
        return Some(Choice {
            template: "dp-mixture",
            settings: Vec::new(),
            reason: "the formula has no response".to_owned(),
        });
    };
    let name = &response.column;
    let outcome = match response.trials {
        Some(_) => Outcome::Successes,
        None => outcome_of(table, name, categorical.contains(name))?,
    };
    let mut reason = match outcome {
        Outcome::Binary => format!("`{name}` has two values"),
        Outcome::Successes => format!("`{name}` counts successes among trials"),
        Outcome::Count => format!("`{name}` holds whole numbers that begin at 0 or 1"),
        Outcome::Number => format!("`{name}` holds numbers"),
        Outcome::Categories(levels) => format!("`{name}` has {levels} categories"),
    };
    let mut groups: Vec<String> = (formula.groups.iter())
        .map(|group| format!("`{}`", group.group.join(":")))
        .collect();
    let mut seen = BTreeSet::new();
    groups.retain(|group| seen.insert(group.clone()));
    if groups.is_empty() {
        let template = match outcome {
            Outcome::Binary | Outcome::Successes => "logistic",
            Outcome::Count => "poisson",
            Outcome::Number => "linear",
            Outcome::Categories(_) if formula.terms.is_empty() => "categorical",
            Outcome::Categories(_) => return None,
        };
        return Some(Choice {
            template,
            settings: Vec::new(),
            reason,
        });
    }
    let family = match outcome {
        Outcome::Binary => "bernoulli",
        Outcome::Successes => "binomial",
        Outcome::Count => "poisson",
        Outcome::Number => "gaussian",
        Outcome::Categories(_) => return None,
    };
    reason.push_str(&format!(" and effects vary by {}", groups.join(", ")));
    Some(Choice {
        template: "mixed",
        settings: vec![("family", family)],
        reason,
    })
}

fn outcome_of(table: &Table, name: &str, categorical: bool) -> Option<Outcome> {
    let col = (table.columns().iter()).position(|info| info.name == name)?;
    let is_number = table.columns()[col].kind == ColumnKind::Number && !categorical;
    let levels = table.few_levels(col, crate::data::response::MAX_CATEGORIES);
    match levels.map(|levels| levels.len()) {
        Some(0 | 1) => return None,
        Some(2) => return Some(Outcome::Binary),
        Some(count) if !is_number => return Some(Outcome::Categories(count)),
        _ if !is_number => return None,
        _ => {}
    }
    let numbers = table.numbers(col)?;
    let present = || numbers.iter().copied().filter(|value| !value.is_nan());
    let least = present().fold(f64::INFINITY, f64::min);
    let whole = present().all(|value| value.fract() == 0.0);
    Some(if whole && (least == 0.0 || least == 1.0) {
        Outcome::Count
    } else {
        Outcome::Number
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::table::Values;

    #[test]
    fn the_outcome_and_the_groups_decide() {
        let texts = |cells: [&str; 4]| {
            Values::Texts(cells.iter().map(|cell| Some((*cell).to_owned())).collect())
        };
        let numbers = |values: [f64; 4]| Values::Numbers(values.to_vec());
        let table = Table::from_columns(
            "t",
            vec![
                ("ill".into(), texts(["yes", "no", "no", "yes"])),
                ("plan".into(), texts(["a", "b", "c", "a"])),
                ("same".into(), texts(["a", "a", "a", "a"])),
                ("calls".into(), numbers([0.0, 3.0, 1.0, f64::NAN])),
                ("price".into(), numbers([99.0, 130.0, 120.0, 80.0])),
                ("below".into(), numbers([-1.0, 0.0, 2.0, 1.0])),
                ("grade".into(), numbers([1.0, 2.0, 3.0, 1.0])),
            ],
        )
        .unwrap();
        let chosen = |formula: &str, categorical: &[&str]| {
            let categorical = categorical.iter().map(|name| (*name).to_owned()).collect();
            let choice = choose(&table, &formula.parse().unwrap(), &categorical)?;
            let family = choice.settings.first().map_or("", |(_, family)| *family);
            Some(
                format!("{} {family}", choice.template)
                    .trim_end()
                    .to_owned(),
            )
        };
        for (formula, expected) in [
            ("ill ~ price", Some("logistic")),
            ("calls ~ price", Some("poisson")),
            ("price ~ calls", Some("linear")),
            ("below ~ 1", Some("linear")),
            ("calls | trials(9) ~ 1", Some("logistic")),
            ("plan ~ 1", Some("categorical")),
            ("plan ~ price", None),
            ("same ~ price", None),
            ("nothing ~ price", None),
            ("~ price + calls", Some("dp-mixture")),
            ("ill ~ price + (1 | plan)", Some("mixed bernoulli")),
            ("calls | trials(9) ~ (1 | plan)", Some("mixed binomial")),
            ("calls ~ (1 | plan)", Some("mixed poisson")),
            ("price ~ (1 | plan)", Some("mixed gaussian")),
        ] {
            assert_eq!(chosen(formula, &[]).as_deref(), expected, "{formula}");
        }
        assert_eq!(
            chosen("grade ~ 1", &["grade"]).as_deref(),
            Some("categorical")
        );
    }
}
