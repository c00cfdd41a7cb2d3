//! Changes of the draft, each of which can be taken back.

use super::checking::request_check;
use super::command::Command;
use super::document::Document;
use super::state::AppState;
use super::tasks::Effects;
use super::update::update;
use crate::base::settings::Value;
use crate::data::formula::{Factor, Formula};
use crate::data::roles::{Conversion, Role, expand_dot};
use crate::data::table::Table;
use crate::models;
use crate::models::choice::choose;

/// A command that changes the document, and therefore can be taken back.
pub(super) enum DocumentChange {
    Formula(String),
    Assign(String, Role),
    Remove(String),
    Success(String),
    Levels(Vec<String>),
    Reference(String, String),
    Categorical(String, bool),
    TopLevels(String, Option<usize>),
    Standardize(bool),
    Scale(crate::engine::recipe::Scale),
    Prior(String, Option<String>),
    Template(String),
    ModelSetting(String, Option<crate::base::settings::Value>),
    Sampler(String),
    Setting(String, Option<crate::base::settings::Value>),
    Method(String),
    MethodSetting(String, Option<crate::base::settings::Value>),
    Run(crate::engine::recipe::RunSection),
    NewSeed,
}

impl DocumentChange {
    pub(super) fn of(command: &Command) -> Option<Self> {
        Some(match command.clone() {
            Command::SetFormula(text) => Self::Formula(text),
            Command::AssignRole(column, role) => Self::Assign(column, role),
            Command::RemoveRole(column) => Self::Remove(column),
            Command::SetSuccess(level) => Self::Success(level),
            Command::SetLevels(levels) => Self::Levels(levels),
            Command::SetReference(column, level) => Self::Reference(column, level),
            Command::SetCategorical(column, on) => Self::Categorical(column, on),
            Command::SetTopLevels(column, top) => Self::TopLevels(column, top),
            Command::SetStandardize(on) => Self::Standardize(on),
            Command::SetScale(scale) => Self::Scale(scale),
            Command::SetPrior(key, text) => Self::Prior(key, text),
            Command::SetTemplate(id) => Self::Template(id),
            Command::SetModelSetting(key, value) => Self::ModelSetting(key, value),
            Command::SetSampler(id) => Self::Sampler(id),
            Command::SetSetting(key, value) => Self::Setting(key, value),
            Command::SetMethod(id) => Self::Method(id),
            Command::SetMethodSetting(key, value) => Self::MethodSetting(key, value),
            Command::SetRun(run) => Self::Run(run),
            Command::NewSeed => Self::NewSeed,
            _ => return None,
        })
    }
}

/// The draft with the first template that can explain `column`, and that template's title.
fn with_fitting_template(
    document: &Document,
    table: &Table,
    column: &str,
) -> Option<(Document, &'static str)> {
    // The template of mixed models explains all of them by its setting `family`, which is the user's choice.
    if document.recipe.model.template == "mixed" {
        return None;
    }
    let mut wanted = document.roles.clone();
    wanted.remove(column);
    wanted.response = Some(column.to_owned());
    let choice = choose(
        table,
        &wanted.to_formula()?,
        &document.recipe.model.categorical,
    )?;
    let entry = models::find(choice.template).ok()?;
    let mut fitting = document.clone();
    fitting.set_template(entry.spec.id.to_owned());
    for (key, value) in choice.settings {
        fitting.set_model_setting(key, Some(Value::Text(value.to_owned())));
    }
    let mut roles = fitting.roles.clone();
    roles.assign(table, column, Role::Response).ok()?;
    fitting.set_roles(roles);
    Some((fitting, entry.spec.title))
}

pub(super) fn change_document(state: &mut AppState, change: DocumentChange, fx: &mut dyn Effects) {
    let Some(before) = state.document.clone() else {
        return;
    };
    let mut document = before.clone();
    let recipe = &mut document.recipe;
    match change {
        DocumentChange::Formula(text) => {
            document.set_formula(&text);
            // Roles and terms show what `.` stands for.
            let expanded = text.parse::<Formula>().ok().zip(state.data.as_ref());
            if let Some((mut formula, data)) = expanded {
                let written = formula.clone();
                expand_dot(&mut formula, &data.loaded.table);
                if formula != written {
                    document.set_formula(&formula.to_string());
                }
            }
        }
        DocumentChange::Assign(column, role) => {
            let Some(data) = &state.data else { return };
            let mut roles = document.roles.clone();
            match roles.assign(&data.loaded.table, &column, role) {
                Ok(()) => document.set_roles(roles),
                Err(refusal) => {
                    let table = &data.loaded.table;
                    let fitting = (role == Role::Response)
                        .then(|| with_fitting_template(&document, table, &column))
                        .flatten();
                    let Some((fitting, title)) = fitting else {
                        // To use a column as what it is already would be no help.
                        let now = document.roles.of(&column);
                        let help = refusal.conversion.filter(|conversion| {
                            !matches!(conversion, Conversion::UseAs(role) if now.contains(role))
                        });
                        state.say(refusal.reason, true);
                        if let Some(conversion) = help {
                            let words = conversion.offer(&column);
                            state.offer(words, Command::Convert(column, conversion, role));
                        }
                        return;
                    };
                    document = fitting;
                    state.say(
                        format!(
                            "The template is now {title}, which explains columns such as `{column}`"
                        ),
                        false,
                    );
                }
            }
        }
        DocumentChange::Remove(column) => {
            let mut roles = document.roles.clone();
            roles.remove(&column);
            document.set_roles(roles);
        }
        DocumentChange::Success(level) => {
            document.roles.success = Some(level.clone());
            recipe.model.success = Some(level);
        }
        DocumentChange::Levels(levels) => recipe.model.levels = levels,
        DocumentChange::Reference(column, level) => {
            recipe.model.reference.insert(column, level);
        }
        DocumentChange::Categorical(column, on) => {
            if on {
                recipe.model.categorical.insert(column);
            } else {
                recipe.model.categorical.remove(&column);
            }
        }
        DocumentChange::TopLevels(column, top) => document.set_top_levels(&column, top),
        DocumentChange::Standardize(on) => recipe.model.standardize = on,
        DocumentChange::Scale(scale) => recipe.report.scale = scale,
        DocumentChange::Prior(key, Some(text)) => {
            recipe.priors.insert(key, text);
        }
        DocumentChange::Prior(key, None) => {
            recipe.priors.remove(&key);
        }
        DocumentChange::Template(id) => document.set_template(id),
        DocumentChange::ModelSetting(key, value) => document.set_model_setting(&key, value),
        DocumentChange::Sampler(id) => {
            if recipe.sampler.id != id {
                // Settings belong to a sampler; those of another would be refused.
                recipe.sampler.settings = Default::default();
                recipe.run.warmup = None;
            }
            recipe.sampler.id = id;
        }
        DocumentChange::Setting(key, Some(value)) => recipe.sampler.settings.set(&key, value),
        DocumentChange::Setting(key, None) => recipe.sampler.settings.unset(&key),
        DocumentChange::Method(id) => {
            if recipe.mode.method != id {
                recipe.mode.settings = Default::default();
            }
            recipe.mode.method = id;
        }
        DocumentChange::MethodSetting(key, Some(value)) => recipe.mode.settings.set(&key, value),
        DocumentChange::MethodSetting(key, None) => recipe.mode.settings.unset(&key),
        DocumentChange::Run(run) => recipe.run = run,
        DocumentChange::NewSeed => {
            // A step of SplitMix64: far from the old seed and the same every time, so that a session can be repeated.
            let mut z = recipe.run.seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            // Eight digits are enough to differ and short enough to read out.
            recipe.run.seed = (z ^ (z >> 31)) % 100_000_000;
        }
    }
    if document != before {
        let model_changed = document.recipe.model != before.recipe.model
            || document.recipe.priors != before.recipe.priors
            || document.recipe.report != before.recipe.report;
        state.history.note(before);
        state.document = Some(document);
        if model_changed {
            request_check(state, fx);
        }
    }
}

pub(super) fn convert(
    state: &mut AppState,
    column: &str,
    conversion: &Conversion,
    role: Role,
    fx: &mut dyn Effects,
) {
    match conversion {
        Conversion::Import(kind) => {
            let Some(data) = &state.data else { return };
            let mut options = data.options.clone();
            options.column_types.insert(column.to_owned(), *kind);
            // The role is given once the column has been read with its new type.
            state.pending_role = Some((column.to_owned(), role));
            update(state, Command::SetImport(options), fx);
        }
        Conversion::TreatAsCategorical | Conversion::KeepTop(_) => {
            let Some(before) = state.document.clone() else {
                return;
            };
            let mut document = before.clone();
            if let Conversion::KeepTop(top) = conversion {
                document.set_top_levels(column, Some(*top));
            } else {
                document.recipe.model.categorical.insert(column.to_owned());
            }
            let mut roles = document.roles.clone();
            roles.remove(column);
            // Categories can be a predictor whatever the column holds, which is what the offer was about.
            roles.predictors.push(Factor::Column(column.to_owned()));
            document.set_roles(roles);
            state.history.note(before);
            state.document = Some(document);
            request_check(state, fx);
        }
        Conversion::UseAs(other) => {
            update(state, Command::AssignRole(column.to_owned(), *other), fx);
        }
    }
}

pub(super) fn step(state: &mut AppState, back: bool, fx: &mut dyn Effects) {
    let Some(document) = &mut state.document else {
        return;
    };
    let moved = if back {
        state.history.undo(document)
    } else {
        state.history.redo(document)
    };
    if moved {
        request_check(state, fx);
    }
}
