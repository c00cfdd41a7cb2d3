//! The outcome decides the template: what a draft becomes when its outcome or its groups change.

use super::document::Document;
use ergodic_analysis::choice::{Choice, choose};
use ergodic_analysis::{Recipe, templates};
use ergodic_base::settings::Value;
use ergodic_core::design::{ColumnKind, Columns as _, ResponseUse};
use ergodic_core::families::Family;
use ergodic_core::formula::{Factor, Formula};
use ergodic_core::models::{self, names};
use ergodic_data::suggest::{Suggestions, outcome_of};
use ergodic_data::{ColumnKindOverride, Conversion, Refusal, Roles, Table};

/// Template of a draft without outcome.
pub(super) const FIRST_TEMPLATE: &str = names::LOGISTIC;

/// Why `column` cannot be the outcome whatever the template, if it cannot.
pub fn refusal(
    document: &Document,
    suggestions: &Suggestions,
    table: &Table,
    column: &str,
) -> Option<Refusal> {
    let refuse = |reason: String, conversion| Some(Refusal { reason, conversion });
    let col = match table.index_of(column, "The outcome") {
        Ok(col) => col,
        Err(error) => return refuse(error.to_string(), None),
    };
    if document.roles.trials.is_some() && table.columns()[col].kind == ColumnKind::Number {
        return None;
    }
    let categorical = document.recipe.model.categorical.contains(column);
    let reason = if categorical {
        outcome_of(table, col, true).err()?.to_string()
    } else {
        // Known since the table was read.
        let offer = suggestions.offers.get(col)?;
        offer.outcome.as_ref().err()?.to_string()
    };
    // Texts that are mostly numbers can be read as such.
    let texts = table.texts(col).into_iter().flatten().flatten();
    let (mut read, mut all) = (0_usize, 0_usize);
    for text in texts {
        all += 1;
        read += usize::from(text.trim().parse::<f64>().is_ok());
    }
    let numbers = all > 0 && 2 * read > all && table.columns()[col].kind == ColumnKind::Text;
    refuse(
        reason,
        numbers.then_some(Conversion::Import(ColumnKindOverride::Number)),
    )
}

/// The draft with `column` as its outcome, under the template for it. Predictors that were only suggested follow the outcome.
/// The second value says which template is new and why, if one is.
///
/// # Errors
/// The column cannot be explained at all.
pub(super) fn explain(
    document: &Document,
    suggestions: &Suggestions,
    table: &Table,
    column: &str,
) -> Result<(Document, Option<String>), Refusal> {
    if let Some(refusal) = refusal(document, suggestions, table, column) {
        return Err(refusal);
    }
    let mut roles = document.roles.clone();
    let first = roles.response.is_none();
    if suggestions.made(&roles) && (first || !roles.predictors.is_empty()) {
        roles.predictors = suggestions.roles(Some(column)).predictors;
    }
    roles.remove(column);
    roles.response = Some(column.to_owned());
    roles.success = None;
    let mut changed = document.clone();
    changed.recipe.model.success = None;
    changed.recipe.model.levels.clear();
    let said = take(&mut changed, roles, table);
    Ok((changed, said))
}

/// The draft of a model that explains no column and looks for groups of rows that are alike.
pub(super) fn explain_nothing(document: &Document, suggestions: &Suggestions) -> Document {
    let mut changed = document.clone();
    changed.recipe.model.success = None;
    changed.recipe.model.levels.clear();
    let mut roles = document.roles.clone();
    if suggestions.made(&roles) {
        roles.predictors = suggestions.roles(None).predictors;
    }
    changed.set_template(names::DP_MIXTURE.to_owned());
    changed.set_roles(Roles {
        predictors: roles.predictors,
        response_use: ResponseUse::Absent,
        ..Roles::default()
    });
    changed
}

/// Gives the draft `roles`, and the template that fits them where the one it has only fitted those it had, or cannot have
/// these. Says which template is new and why, if one is.
pub(super) fn take(document: &mut Document, mut roles: Roles, table: &Table) -> Option<String> {
    let categorical = document.recipe.model.categorical.clone();
    let choose = |formula: &Formula| choose(table, formula, &categorical).ok();
    // A formula of the roles alone, whatever the template can have.
    roles.response_use = ResponseUse::Outcome;
    let wanted = roles.to_formula();
    let choice = wanted.as_ref().and_then(|formula| {
        choose(formula).or_else(|| {
            // Without what the outcome cannot have: groups and smooth curves, or all that explains it.
            let mut bare = formula.clone();
            bare.groups.clear();
            bare.terms
                .retain(|term| !term.iter().any(Factor::is_smooth));
            let without_groups = choose(&bare);
            without_groups.or_else(|| {
                bare.terms.clear();
                choose(&bare)
            })
        })
    });
    let Some(choice) = choice else {
        roles.response_use = document.roles.response_use;
        document.set_roles(roles);
        return None;
    };
    let now = document.recipe.model.template.clone();
    let fitted = match document.recipe.model.formula.parse::<Formula>() {
        Ok(formula) => choose(&formula).is_some_and(|choice| choice.template == now),
        Err(_none_yet) => now == FIRST_TEMPLATE,
    };
    let (template, settings) = if fitted {
        (choice.template, choice.settings.clone())
    } else {
        match kept(document, &choice, &roles) {
            Kept::Template => (now.as_str(), Vec::new()),
            Kept::Family(family) => (names::MIXED, vec![("family", family.id())]),
            Kept::No => (choice.template, choice.settings.clone()),
        }
    };
    let is_new = template != now;
    document.set_template(template.to_owned());
    for (key, value) in settings {
        document.set_model_setting(key, Some(Value::Text(value.to_owned())));
    }
    let response_use = document.roles.response_use;
    if response_use == ResponseUse::Categories {
        roles = Roles {
            response: roles.response,
            weights: roles.weights,
            ..Roles::default()
        };
    }
    if matches!(
        response_use,
        ResponseUse::Number | ResponseUse::Count | ResponseUse::Ordered | ResponseUse::Unordered
    ) {
        roles.trials = None;
    }
    roles.response_use = response_use;
    document.set_roles(roles);
    let title = templates::find(template).ok()?.spec.title;
    is_new.then(|| format!("The template is now {title}, because {}", choice.reason))
}

/// Gives a draft without outcome the formula that was typed, and the template for it.
pub(super) fn take_formula(document: &mut Document, text: &str, table: &Table) {
    let chosen = (text.parse::<Formula>().ok())
        .and_then(|formula| choose(table, &formula, &document.recipe.model.categorical).ok());
    if let Some(choice) = chosen {
        document.set_template(choice.template.to_owned());
        for (key, value) in choice.settings {
            document.set_model_setting(key, Some(Value::Text(value.to_owned())));
        }
    }
    document.set_formula(text);
}

/// What of a template that somebody chose stays when the outcome is one of another template.
enum Kept {
    /// The whole template: it reads the outcome in the same way.
    Template,
    /// A mixed model stays one, with the family of the outcome.
    Family(Family),
    /// Nothing.
    No,
}

fn kept(document: &Document, choice: &Choice, roles: &Roles) -> Kept {
    let model = &document.recipe.model;
    let (Ok(entry), Ok(other)) = (
        templates::find(&model.template),
        templates::find(choice.template),
    ) else {
        return Kept::No;
    };
    let mut settings = ergodic_base::settings::Settings::default();
    for &(key, value) in &choice.settings {
        settings.set(key, Value::Text(value.to_owned()));
    }
    let takes_groups = entry.group == models::GROUPS;
    if entry.group != models::EXAMPLES
        && (takes_groups || roles.groups.is_empty())
        && (model.template == names::MIXED || !roles.has_curves())
        && entry.response_use(&model.settings) == other.response_use(&settings)
    {
        return Kept::Template;
    }
    match choice.family {
        Some(family) if model.template == names::MIXED => Kept::Family(family),
        _ => Kept::No,
    }
}

/// Why the draft's template is the one for its outcome, as what follows "because"; `None` if another would be chosen.
pub(super) fn because(document: &Document, table: &Table) -> Option<String> {
    let model = &document.recipe.model;
    let formula = model.formula.parse::<Formula>().ok()?;
    let choice = choose(table, &formula, &model.categorical).ok()?;
    (formula.response.is_some() && choice.template == model.template).then_some(choice.reason)
}

/// The family that a mixed model of the recipe's outcome has, and why, as what follows "because"; `None` under other templates.
pub(super) fn family(recipe: &Recipe, table: &Table) -> Option<(Family, String)> {
    let model = &recipe.model;
    if model.template != names::MIXED {
        return None;
    }
    let formula = model.formula.parse::<Formula>().ok()?;
    let choice = choose(table, &formula, &model.categorical).ok()?;
    Some((choice.family?, choice.reason))
}

#[cfg(test)]
mod tests {
    use crate::app::DraftChange;
    use crate::app::testing::Session;

    /// Templates of single outcomes have no curves, so the template follows one that is typed or clicked, and goes back without it.
    #[test]
    fn a_smooth_curve_brings_a_template_that_has_it() {
        let mut session = Session::with_draft("churn");
        let mut template_of = |formula: &str| {
            session.send(DraftChange::Formula(formula.to_owned()));
            let document = session.state.document.clone().unwrap();
            assert_eq!(document.recipe.model.formula, formula);
            let family = document.recipe.model.settings.text("family");
            (
                document.recipe.model.template.clone(),
                family.map(str::to_owned),
            )
        };
        let mixed = || ("mixed".to_owned(), Some("bernoulli".to_owned()));
        assert_eq!(template_of("churned ~ age").0, "logistic");
        assert_eq!(template_of("churned ~ s(age, k = 5)"), mixed());
        assert_eq!(template_of("churned ~ s(age) + plan"), mixed());
        assert_eq!(template_of("churned ~ age + plan").0, "logistic");
    }
}
