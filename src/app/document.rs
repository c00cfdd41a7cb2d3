//! The draft: the recipe being written, and the roles of columns as the other view of its formula. Undoable.

use ergodic_analysis::ModelSection;
use ergodic_analysis::{Recipe, templates};
use ergodic_base::settings::{Settings, Value};
use ergodic_core::design::ResponseUse;
use ergodic_core::formula::{Formula, Trials, quote_name};
use ergodic_core::models::{default_priors, names};
use ergodic_data::Roles;
use ergodic_language::Own;

/// The undoable part of the state.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// What a run would be started with.
    pub recipe: Recipe,
    /// The roles that the last valid formula gives.
    pub roles: Roles,
    /// Why the formula as typed is not valid, if it is not.
    pub formula_error: Option<String>,
    /// The roles that a model as text took the place of, for a template that follows it.
    roles_before_text: Option<Roles>,
}

impl Document {
    /// A draft for a data source, with no model yet.
    pub fn new(source: &str, template: &str) -> Self {
        Self {
            recipe: Recipe::new(source, template, ""),
            roles: Roles::default(),
            formula_error: None,
            roles_before_text: None,
        }
    }

    /// A draft that continues a recipe.
    pub fn of_recipe(recipe: Recipe) -> Self {
        let mut document = Self {
            roles: Roles::default(),
            formula_error: None,
            roles_before_text: None,
            recipe,
        };
        let text = document.recipe.model.formula.clone();
        document.set_formula(&text);
        document
    }

    /// Whether the model is written as text, which then says the formula.
    pub fn is_text(&self) -> bool {
        self.recipe.model.template == Own::ID
    }

    /// Takes a formula as typed; the roles follow if it is valid. A model that is written as text has the formula of that text.
    pub fn set_formula(&mut self, text: &str) {
        let own = self
            .is_text()
            .then(|| Own::program(&self.recipe.model.settings));
        let text = match own {
            None => text.to_owned(),
            Some(Ok(program)) => program.formula(),
            Some(Err(error)) => {
                self.formula_error = Some(error.to_string());
                return;
            }
        };
        self.take_formula(&text);
    }

    fn take_formula(&mut self, text: &str) {
        text.clone_into(&mut self.recipe.model.formula);
        match text.parse::<Formula>() {
            Ok(formula) => {
                self.roles = Roles {
                    success: self.recipe.model.success.clone(),
                    response_use: response_use(&self.recipe.model),
                    ..Roles::from_formula(&formula)
                };
                self.formula_error = None;
            }
            Err(error) => self.formula_error = Some(error.to_string()),
        }
    }

    /// Takes a template. What it cannot have is taken out of the formula, and where everything varies by group the fixed
    /// part has all that did; priors belong to the parameters of the old one.
    pub fn set_template(&mut self, id: String) {
        if self.recipe.model.template == id {
            return;
        }
        let before = self.clone();
        self.recipe.model.template = id;
        self.recipe.model.settings = Settings::default();
        self.recipe
            .priors
            .retain(|key, _| key == default_priors::KEY);
        if self.is_text() {
            return self.begin_text(&before, None);
        }
        self.roles_before_text = None;
        let response_use = response_use(&self.recipe.model);
        let mut roles = match before.is_text() {
            true => before.roles_after_text(),
            false => before.roles,
        };
        // Another family is chosen before its outcome has known errors or is censored.
        (roles.se, roles.cens) = (None, None);
        match response_use {
            ResponseUse::Categories => {
                roles = Roles {
                    response: roles.response,
                    weights: roles.weights,
                    ..Roles::default()
                };
            }
            ResponseUse::Number
            | ResponseUse::Count
            | ResponseUse::Ordered
            | ResponseUse::Unordered => roles.trials = None,
            ResponseUse::Absent => {
                roles.response = None;
                (roles.trials, roles.weights, roles.offsets) = (None, None, Vec::new());
            }
            ResponseUse::Outcome => {}
        }
        roles.response_use = response_use;
        if self.all_vary()
            && let Some(mut formula) = roles.to_formula()
        {
            formula.gather();
            roles = Roles {
                success: roles.success,
                response_use,
                ..Roles::from_formula(&formula)
            };
        }
        self.set_roles(roles);
    }

    /// Takes a setting of the template, or its default.
    pub fn set_model_setting(&mut self, key: &str, value: Option<Value>) {
        match value {
            Some(value) => self.recipe.model.settings.set(key, value),
            None => self.recipe.model.settings.unset(key),
        }
        if self.is_text() {
            return self.set_formula("");
        }
        self.roles.response_use = response_use(&self.recipe.model);
    }

    /// Keeps a number of the most frequent values of a predictor, or all.
    pub fn set_top_levels(&mut self, column: &str, top: Option<usize>) {
        let kept = &mut self.recipe.model.top_levels;
        match top {
            Some(top) => kept.insert(column.to_owned(), top),
            None => kept.remove(column),
        };
    }

    /// Writes a text to begin with for the outcome of the draft `before`, as its template takes it; `yes` is the word for the value
    /// of an outcome of words whose chance is told.
    pub(super) fn begin_text(&mut self, before: &Self, yes: Option<&str>) {
        let template = &before.recipe.model.template;
        let first = Value::Text(first_text(&before.roles, template, yes));
        self.recipe.model.settings.set(Own::PROGRAM, first);
        self.roles_before_text = Some(before.roles.clone());
        self.set_formula("");
    }

    /// The roles for a template that takes the place of a text: those of before the text if they have its outcome, else the outcome
    /// and the other columns that the text names.
    fn roles_after_text(self) -> Roles {
        let Ok(program) = Own::program(&self.recipe.model.settings) else {
            return self.roles_before_text.unwrap_or(self.roles);
        };
        let outcome = program.outcome_column();
        let has_outcome = |roles: &Roles| {
            roles.response.is_some() && (outcome.is_none() || outcome == roles.response.as_deref())
        };
        if let Some(roles) = self.roles_before_text.filter(has_outcome) {
            return roles;
        }
        let Some(outcome) = outcome else {
            return self.roles;
        };
        let names = program.columns().iter().map(|column| column.name.as_str());
        let others: Vec<String> = names.filter(|it| *it != outcome).map(quote_name).collect();
        let terms = if others.is_empty() {
            "1".to_owned()
        } else {
            others.join(" + ")
        };
        let formula = format!("{} ~ {terms}", quote_name(outcome)).parse::<Formula>();
        formula.map_or(self.roles, |formula| Roles::from_formula(&formula))
    }

    /// Takes roles; the formula follows, and its group terms name what they must under this template.
    pub fn set_roles(&mut self, mut roles: Roles) {
        if self.is_text() {
            // Clicks cannot write the text.
            return self.set_formula("");
        }
        let formula = roles.to_formula().map(|mut formula| {
            if self.all_vary() {
                formula.vary_all();
                roles.groups.clone_from(&formula.groups);
            }
            formula.to_string()
        });
        self.recipe.model.formula = formula.unwrap_or_default();
        self.roles = roles;
        self.formula_error = None;
    }

    /// Whether all coefficients vary by group under the template.
    fn all_vary(&self) -> bool {
        templates::find(&self.recipe.model.template).is_ok_and(|entry| entry.all_vary)
    }

    /// Whether there is a valid model to run.
    pub fn is_runnable(&self) -> bool {
        self.formula_error.is_none() && !self.recipe.model.formula.is_empty()
    }
}

/// A text to begin with: how the outcome varies around a mean.
fn first_text(roles: &Roles, before: &str, yes: Option<&str>) -> String {
    let Some(outcome) = &roles.response else {
        return "parameters\n  a ~ normal(0, 1)\n".to_owned();
    };
    let outcome = quote_name(outcome);
    if let Some(Trials::Column(trials)) = &roles.trials {
        let trials = quote_name(trials);
        return format!(
            "parameters\n  a ~ normal(0, 2.5)\nrows\n  {outcome} ~ binomial_logit({trials}, a)\n"
        );
    }
    match (yes, before) {
        (Some(yes), _) => format!(
            "parameters\n  a ~ normal(0, 2.5)\nrows\n  ({outcome} == \"{yes}\") ~ bernoulli_logit(a)\n"
        ),
        (None, names::LOGISTIC | names::HIERARCHICAL) => {
            format!("parameters\n  a ~ normal(0, 2.5)\nrows\n  {outcome} ~ bernoulli_logit(a)\n")
        }
        (None, names::POISSON | names::NEGATIVE_BINOMIAL) => {
            format!("parameters\n  a ~ normal(0, 10)\nrows\n  {outcome} ~ poisson_log(a)\n")
        }
        _ => format!(
            "parameters\n  a ~ normal(0, 10)\n  s ~ half_normal(10)\nrows\n  {outcome} ~ normal(a, s)\n"
        ),
    }
}

/// How the template reads its response.
fn response_use(model: &ModelSection) -> ResponseUse {
    templates::find(&model.template).map_or_else(
        |_unknown| ResponseUse::default(),
        |entry| entry.response_use(&model.settings),
    )
}

/// The draft with what came before and what was taken back.
#[derive(Clone, Debug, Default)]
pub struct History {
    past: Vec<Document>,
    future: Vec<Document>,
}

/// Steps that can be taken back.
const MAX_STEPS: usize = 200;

impl History {
    /// Notes the draft as it was before a change.
    pub fn note(&mut self, before: Document) {
        self.future.clear();
        if self.past.len() == MAX_STEPS {
            self.past.remove(0);
        }
        self.past.push(before);
    }

    /// Takes back the last change of `document`; false if there is none.
    pub fn undo(&mut self, document: &mut Document) -> bool {
        let Some(before) = self.past.pop() else {
            return false;
        };
        self.future.push(std::mem::replace(document, before));
        true
    }

    /// Makes the last change taken back again; false if there is none.
    pub fn redo(&mut self, document: &mut Document) -> bool {
        let Some(after) = self.future.pop() else {
            return false;
        };
        self.past.push(std::mem::replace(document, after));
        true
    }

    /// Changes that can be taken back.
    pub fn steps(&self) -> usize {
        self.past.len()
    }

    /// Whether there is something to take back.
    pub fn can_undo(&self) -> bool {
        !self.past.is_empty()
    }

    /// Whether something was taken back.
    pub fn can_redo(&self) -> bool {
        !self.future.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_after_a_text_has_the_roles_of_before_it() {
        let mut document = Document::new("visits.csv", names::LOGISTIC);
        document.set_formula("churned ~ age + plan");
        document.set_template(Own::ID.to_owned());
        assert_eq!(document.recipe.model.formula, "~ churned");
        document.set_template(names::LINEAR.to_owned());
        assert_eq!(document.recipe.model.formula, "churned ~ age + plan");
        assert_eq!(document.formula_error, None);
    }

    #[test]
    fn a_template_after_a_text_alone_explains_the_outcome_of_the_text() {
        for (rows, wanted) in [
            (
                "(churned == \"yes\") ~ bernoulli_logit(a + age)",
                "churned ~ age",
            ),
            ("age ~ normal(a, 1)", "age ~ 1"),
        ] {
            let mut recipe = Recipe::new("visits.csv", Own::ID, "");
            let text = format!("parameters\n  a ~ normal(0, 1)\nrows\n  {rows}\n");
            recipe.model.settings.set(Own::PROGRAM, Value::Text(text));
            let mut document = Document::of_recipe(recipe);
            document.set_template(names::LINEAR.to_owned());
            assert_eq!(document.recipe.model.formula, wanted);
        }
    }
}
