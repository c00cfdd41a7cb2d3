//! Which template explains the response of a formula, from what the column holds.

use std::collections::BTreeSet;

use ergodic_core::design::{ColumnKind, Columns as _, DesignError, Labels, MAX_LEVELS};
use ergodic_core::families::Family;
use ergodic_core::formula::{Formula, quote_name};
use ergodic_core::models::names;
use ergodic_data::Table;
use ergodic_data::suggest::{NoOutcome, OutcomeKind, outcome_of};

/// A template that fits a formula, with the settings that make it fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Template id.
    pub template: &'static str,
    /// Settings of the template besides defaults: key and value.
    pub settings: Vec<(&'static str, &'static str)>,
    /// The family that template `mixed` has for such a response, if it has one.
    pub family: Option<Family>,
    /// Why, as what can follow "because".
    pub reason: String,
}

/// Why no template explains the response of a formula.
#[derive(Debug, thiserror::Error)]
pub enum NoTemplate {
    /// The table has no such column.
    #[error(transparent)]
    Column(#[from] DesignError),
    /// The column cannot be an outcome.
    #[error(transparent)]
    Outcome(#[from] NoOutcome),
    /// Categories that other columns are to explain.
    #[error(
        "Column {name} has {levels} categories{why} and no template explains {which}; {instead}"
    )]
    Categories {
        /// Column, as in a formula.
        name: String,
        /// How many.
        levels: usize,
        /// Why the column is taken as categories, between commas, or nothing.
        why: String,
        /// Which categories no template explains.
        which: String,
        /// What to do.
        instead: String,
    },
}

/// The template for `formula`; numeric columns among `categorical` are taken as categories.
///
/// Two values are an outcome, texts that say their order ordered levels, other texts levels without one, whole numbers that begin at 0 or 1 counts, other numbers and
/// ratings are measured; counts that
/// scatter far more than a Poisson distribution are negative binomial, censored outcomes are survival times, and effects that vary by group,
/// smooth curves, known standard errors, or censoring make it a mixed model.
///
/// # Errors
/// There is no such column, it cannot be explained, or it has categories and there are groups, or predictors of too many.
pub fn choose(
    table: &Table,
    formula: &Formula,
    categorical: &BTreeSet<String>,
) -> Result<Choice, NoTemplate> {
    let Some(response) = &formula.response else {
        return Ok(Choice {
            template: names::DP_MIXTURE,
            settings: Vec::new(),
            family: None,
            reason: "the formula has no outcome".to_owned(),
        });
    };
    let name = &response.column;
    let (template, family, mut reason) = if response.trials.is_some() {
        let reason = format!("`{name}` counts successes among trials");
        (names::LOGISTIC, Some(Family::Binomial), reason)
    } else if response.ordered {
        let reason = format!("the formula says that `{name}` has levels with an order");
        (names::ORDERED, Some(Family::Ordered), reason)
    } else if response.se.is_some() {
        let reason = format!("the standard errors of `{}` are known", response.label());
        (names::MIXED, Some(Family::GaussianSe), reason)
    } else if let Some(cens) = &response.cens {
        let reason = format!("`{cens}` says which of `{name}` are censored");
        (names::MIXED, Some(Family::Weibull), reason)
    } else if response.function.is_some() {
        let reason = format!("`{}` is a number", response.label());
        (names::LINEAR, Some(Family::Gaussian), reason)
    } else {
        let col = table.index_of(name, "The formula")?;
        let mut kind = outcome_of(table, col, categorical.contains(name))?;
        if let OutcomeKind::Count { dispersion } = &mut kind {
            // Rates, and counts within groups, may scatter less than all counts together.
            if formula.offsets.is_empty() {
                *dispersion = dispersion.min(within_groups(table, col, formula));
            } else {
                *dispersion = 1.0;
            }
        }
        let curves = formula.smooths().count();
        let explained = !(formula.terms.is_empty() && formula.groups.is_empty());
        if let OutcomeKind::Categories(levels) = kind
            && explained
            && (levels > MAX_LEVELS || !formula.groups.is_empty() || curves > 0)
        {
            let info = &table.columns()[col];
            let why = match info.kind {
                ColumnKind::Text => format!(", because {},", info.reason),
                _ => String::new(),
            };
            let name = quote_name(name);
            let (which, instead) = match levels > MAX_LEVELS {
                true => (
                    format!("more than {MAX_LEVELS} by other columns"),
                    format!(
                        "write `{name} ~ 1` for their shares, merge rare ones in a new column, or choose an outcome of numbers or of \
                         two values"
                    ),
                ),
                false if formula.groups.is_empty() => (
                    "categories by smooth curves".to_owned(),
                    "write a spline such as `ns(x, 4)` instead, or choose an outcome of numbers or of two values".to_owned(),
                ),
                false => (
                    "categories by effects of groups".to_owned(),
                    "take the groups as predictors or leave them out, or choose an outcome of numbers or of two values"
                        .to_owned(),
                ),
            };
            return Err(NoTemplate::Categories {
                name,
                levels,
                why,
                which,
                instead,
            });
        }
        // Shares of levels that nothing explains need no order and no predictors.
        match kind {
            OutcomeKind::Levels(levels) if !explained => kind = OutcomeKind::Categories(levels),
            _ => {}
        }
        let (template, family) = match kind {
            OutcomeKind::Categories(_) if !explained => (names::CATEGORICAL, None),
            _ => template_of(&kind),
        };
        (template, family, kind.reason(name))
    };
    let mut groups: Vec<String> = (formula.groups.iter())
        .map(|group| format!("`{}`", group.group.join(":")))
        .collect();
    let mut seen = BTreeSet::new();
    groups.retain(|group| seen.insert(group.clone()));
    let curves: Vec<String> = formula.smooths().map(|it| format!("`{it}`")).collect();
    if groups.is_empty() && curves.is_empty() && template != names::MIXED {
        return Ok(Choice {
            template,
            settings: Vec::new(),
            family,
            reason,
        });
    }
    if !groups.is_empty() {
        reason.push_str(&format!(" and effects vary by {}", groups.join(", ")));
    }
    match curves.as_slice() {
        [] => {}
        [one] => reason.push_str(&format!(" and {one} is a smooth curve")),
        many => reason.push_str(&format!(" and {} are smooth curves", many.join(", "))),
    }
    Ok(Choice {
        template: names::MIXED,
        settings: family
            .map(|family| ("family", family.id()))
            .into_iter()
            .collect(),
        family,
        reason,
    })
}

/// The template that explains outcomes of this kind by other columns, and the family of mixed models that does, if there is one.
pub fn template_of(kind: &OutcomeKind) -> (&'static str, Option<Family>) {
    match kind {
        OutcomeKind::TwoValues => (names::LOGISTIC, Some(Family::Bernoulli)),
        OutcomeKind::Count { .. } if kind.is_overdispersed() => {
            (names::NEGATIVE_BINOMIAL, Some(Family::NegativeBinomial))
        }
        OutcomeKind::Count { .. } => (names::POISSON, Some(Family::Poisson)),
        OutcomeKind::Number(_) | OutcomeKind::Rating(_) => (names::LINEAR, Some(Family::Gaussian)),
        OutcomeKind::Levels(_) => (names::ORDERED, Some(Family::Ordered)),
        OutcomeKind::Categories(levels) if *levels <= MAX_LEVELS => (names::MULTINOMIAL, None),
        OutcomeKind::Categories(_) => (names::CATEGORICAL, None),
    }
}

/// Variance over mean of counts within the groups of the first single grouping column, pooled; infinite where there is none.
fn within_groups(table: &Table, col: usize, formula: &Formula) -> f64 {
    let single = formula
        .groups
        .iter()
        .find_map(|group| match group.group.as_slice() {
            [name] => table.position(name),
            _ => None,
        });
    let (Some(by), Some(counts)) = (single, table.numbers(col)) else {
        return f64::INFINITY;
    };
    let labels = table.labels(by);
    // Rows, sum and sum of squares per group.
    let mut sums = vec![[0.0; 3]; labels.levels.len()];
    for (count, &code) in counts.iter().zip(&labels.codes) {
        if code != Labels::MISSING && !count.is_nan() {
            let [rows, sum, squares] = &mut sums[code as usize];
            *rows += 1.0;
            *sum += count;
            *squares += count * count;
        }
    }
    // Each group is weighted by its degrees of freedom; groups of zeros say nothing.
    let (mut dispersion, mut freedom) = (0.0, 0.0);
    for [rows, sum, squares] in sums {
        if rows > 1.0 && sum > 0.0 {
            dispersion += (squares - sum * sum / rows) / (sum / rows);
            freedom += rows - 1.0;
        }
    }
    if freedom > 0.0 {
        dispersion / freedom
    } else {
        f64::INFINITY
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ergodic_core::design::Values;

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
                ("wild".into(), numbers([0.0, 3.0, 90.0, 60.0])),
                ("steps".into(), numbers([50.0, 1.0, 9.0, 52.0])),
                ("pain".into(), texts(["mild", "none", "severe", "mild"])),
            ],
        )
        .unwrap();
        let chosen = |formula: &str, categorical: &[&str]| {
            let categorical = categorical.iter().map(|name| (*name).to_owned()).collect();
            let choice = choose(&table, &formula.parse().unwrap(), &categorical).ok()?;
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
            ("cbind(calls, grade) ~ 1", Some("logistic")),
            ("calls/grade ~ 1", Some("logistic")),
            ("log(calls) ~ price", Some("linear")),
            ("sqrt(grade) ~ (1 | plan)", Some("mixed gaussian")),
            ("plan ~ 1", Some("categorical")),
            ("plan ~ price", Some("multinomial")),
            ("plan ~ (1 | ill)", None),
            ("plan | weights(calls) ~ price + ill", Some("multinomial")),
            ("same ~ price", None),
            ("nothing ~ price", None),
            ("pain ~ price", Some("ordered")),
            ("pain ~ (1 | plan)", Some("mixed ordered")),
            ("pain ~ 1", Some("categorical")),
            ("ordered(grade) ~ price", Some("ordered")),
            ("ordered(pain) ~ 1", Some("ordered")),
            ("ordered(plan) ~ price + (1 | ill)", Some("mixed ordered")),
            ("price | se(grade) ~ calls", Some("mixed gaussian_se")),
            ("price | se(grade) ~ (1 | plan)", Some("mixed gaussian_se")),
            ("log(price) | se(grade) ~ 1", Some("mixed gaussian_se")),
            ("price | cens(ill) ~ calls", Some("mixed weibull")),
            ("price | cens(ill) ~ (1 | plan)", Some("mixed weibull")),
            ("wild ~ price", Some("negative-binomial")),
            ("wild ~ price + (1 | plan)", Some("mixed negative_binomial")),
            ("wild ~ price + offset(calls)", Some("poisson")),
            // Within groups these counts are alike.
            ("steps ~ price", Some("negative-binomial")),
            ("steps ~ (1 | plan)", Some("mixed poisson")),
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
        assert_eq!(
            chosen("grade ~ price", &["grade"]).as_deref(),
            Some("multinomial")
        );
    }
}
