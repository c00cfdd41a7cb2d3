//! Changes of the draft, each of which can be taken back.

use std::collections::BTreeMap;

use super::advising::advise;
use super::checking::request_check;
use super::command::Act;
use super::document::Document;
use super::draft_change::DraftChange;
use super::opening::DataCommand;
use super::outcome;
use super::state::{AppState, ModelCheck};
use super::tasks::Effects;
use super::update::update;
use super::{calibrating, comparing, likelihood, prior_preview, removing, trials};
use ergodic_analysis::comparison::Variant;
use ergodic_analysis::likelihood::LikelihoodOptions;
use ergodic_core::design::Columns as _;
use ergodic_core::formula::{Factor, Formula};
use ergodic_data::suggest::Suggestions;
use ergodic_data::{Conversion, Role, Roles, Table, expand_dot};

/// What is done with the draft besides changing it.
#[derive(Clone, Debug, PartialEq)]
pub enum DraftCommand {
    /// Do what a refused role offered, then give the role.
    Convert(String, Conversion, Role),
    /// Take back the last change of the draft.
    Undo,
    /// Make it again.
    Redo,
    /// Look at what a prior being typed expects, by class or parameter, or no longer.
    PreviewPrior(Option<(String, String)>),
    /// Find the mode of the draft's posterior and rank all samplers for it.
    Advise,
    /// Stop doing that.
    CancelAdvice,
    /// Run these samplers on the draft's model, one after the other, and compare bias and cost.
    CompareSamplers(Vec<Variant>),
    /// Stop doing that; finished rows stay.
    CancelComparison,
    /// Try step sizes of the draft's sampler and set the best.
    RunTrials,
    /// Stop doing that.
    CancelTrials,
    /// Calibrate the draft's model and sampler by simulation.
    Calibrate,
    /// Stop doing that, and show what is done.
    CancelCalibration,
    /// Fit the draft's mixed model by likelihood.
    Estimate(LikelihoodOptions),
    /// Stop doing that.
    CancelEstimate,
}

impl Act for DraftCommand {
    fn apply(self, state: &mut AppState, fx: &mut dyn Effects) {
        match self {
            Self::Convert(column, conversion, role) => {
                convert(state, &column, &conversion, role, fx);
            }
            Self::Undo if removing::is_next_to_undo(state) => removing::undo(state),
            Self::Undo => step(state, true, fx),
            Self::Redo => step(state, false, fx),
            Self::PreviewPrior(prior) => prior_preview::preview(state, prior, fx),
            Self::Advise => advise(state, fx),
            Self::CancelAdvice => state.advice.cancel(),
            Self::CompareSamplers(variants) => comparing::compare(state, variants, fx),
            Self::CancelComparison => comparing::cancel(state),
            Self::RunTrials => trials::start(state, fx),
            Self::CancelTrials => state.tuned.cancel(),
            Self::Calibrate => calibrating::start(state, fx),
            Self::CancelCalibration => calibrating::stop(state),
            Self::Estimate(options) => likelihood::start(state, options, fx),
            Self::CancelEstimate => state.estimated.cancel(),
        }
    }

    fn takes_what_is_typed(&self) -> bool {
        !matches!(self, Self::PreviewPrior(_))
    }
}

impl Act for DraftChange {
    fn apply(self, state: &mut AppState, fx: &mut dyn Effects) {
        change_document(state, self, fx);
    }
}

/// Gives the draft `roles`; where its groups, curves or trials are others, the template follows, and the sentence says so.
fn give_roles(document: &mut Document, roles: Roles, table: &Table) -> Option<String> {
    let same = document.roles.groups.is_empty() == roles.groups.is_empty()
        && document.roles.has_curves() == roles.has_curves()
        && document.roles.trials == roles.trials;
    if same || roles.response.is_none() {
        document.set_roles(roles);
        return None;
    }
    outcome::take(document, roles, table)
}

/// What stands around the draft when it is changed.
#[derive(Clone, Copy)]
pub(super) struct Surroundings<'a> {
    /// The table, and what its columns could be; none while no data are open.
    pub data: Option<(&'a Table, &'a Suggestions)>,
    /// The newest check of the draft.
    pub check: Option<&'a ModelCheck>,
}

/// A draft after a change, and what the user is told about it.
pub(super) struct Changed {
    pub document: Document,
    /// Which template is new and why, if one is that was not asked for.
    pub said: Option<String>,
}

/// Why a draft cannot be changed so.
pub(super) struct Refused {
    reason: String,
    /// What would help: a column, how to convert it, and the role it then has.
    help: Option<(String, Conversion, Role)>,
}

/// Rows in which the commonest word is looked for: a click cannot wait for ten million.
const LOOKED_AT: usize = 10_000;

/// The word of an outcome of words whose chance a text begins with: the one that counts as success, as the check of the draft knows
/// it, else the commonest.
fn first_word<'a>(around: Surroundings<'a>, document: &Document) -> Option<&'a str> {
    let (table, _) = around.data?;
    let at = table.position(document.roles.response.as_ref()?)?;
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    // A text of the model has no way to write a quotation mark.
    let words = table.texts(at)?.take(LOOKED_AT).flatten();
    for word in words.filter(|word| !word.contains('"')) {
        *counts.entry(word).or_default() += 1;
    }
    let success = (around.check.filter(|check| check.has_success))
        .and_then(|check| check.response_levels.last())
        .map(|(word, _)| word.as_str());
    success
        .filter(|word| counts.contains_key(word))
        .or_else(|| Some(*counts.iter().max_by_key(|(_, count)| **count)?.0))
}

/// The draft `before` after `change`. A click is this, and so is every quick fix that is tried before it is offered.
pub(super) fn changed(
    before: &Document,
    change: DraftChange,
    around: Surroundings<'_>,
) -> Result<Changed, Refused> {
    let mut document = before.clone();
    let mut said = None;
    let recipe = &mut document.recipe;
    match change {
        DraftChange::Formula(text) => {
            document.set_formula(&text);
            // Roles and terms show what `.` stands for.
            let expanded = text.parse::<Formula>().ok().zip(around.data);
            if let Some((mut formula, (table, _))) = expanded {
                let written = formula.clone();
                expand_dot(&mut formula, table);
                if formula != written {
                    document.set_formula(&formula.to_string());
                }
            }
            // The first outcome decides the template, also where it is typed.
            if before.recipe.model.formula.is_empty()
                && before.recipe.model.template == outcome::FIRST_TEMPLATE
                && document.formula_error.is_none()
                && let Some((table, _)) = around.data
            {
                let typed = document.recipe.model.formula.clone();
                document = before.clone();
                outcome::take_formula(&mut document, &typed, table);
            } else if before.roles.has_curves() != document.roles.has_curves()
                && document.roles.response.is_some()
                && document.formula_error.is_none()
                && let Some((table, _)) = around.data
            {
                // Few templates have smooth curves: the template follows them, and back.
                let (typed, roles) = (
                    document.recipe.model.formula.clone(),
                    document.roles.clone(),
                );
                document = before.clone();
                said = outcome::take(&mut document, roles, table);
                document.set_formula(&typed);
            }
        }
        DraftChange::Assign(column, role) => {
            if let Some((table, suggestions)) = around.data {
                let mut roles = document.roles.clone();
                let taken = if role == Role::Response {
                    outcome::explain(&document, suggestions, table, &column)
                } else {
                    roles.assign(table, &column, role).map(|()| {
                        let mut document = document.clone();
                        let said = give_roles(&mut document, roles, table);
                        (document, said)
                    })
                };
                let (taken, why) = taken.map_err(|refusal| {
                    // To use a column as what it is already would be no help.
                    let now = document.roles.of(&column);
                    let help = refusal.conversion.filter(|conversion| {
                        !matches!(conversion, Conversion::UseAs(role) if now.contains(role))
                    });
                    Refused {
                        reason: refusal.reason,
                        help: help.map(|conversion| (column, conversion, role)),
                    }
                })?;
                // A first outcome brings its template without a word: the page says why it was chosen.
                let first = role == Role::Response && before.recipe.model.formula.is_empty();
                (document, said) = (taken, why.filter(|_| !first));
            }
        }
        DraftChange::Remove(column) => {
            let mut roles = document.roles.clone();
            roles.remove(&column);
            match around.data {
                Some((table, _)) => said = give_roles(&mut document, roles, table),
                None => document.set_roles(roles),
            }
        }
        DraftChange::NoOutcome => {
            if let Some((_, suggestions)) = around.data {
                document = outcome::explain_nothing(&document, suggestions);
            }
        }
        DraftChange::AllPredictors => {
            if let Some((_, suggestions)) = around.data {
                let mut roles = document.roles.clone();
                let outcome = roles.response.clone();
                for name in suggestions.explaining(outcome.as_deref()) {
                    if roles.of(name) == [Role::Ignore] {
                        roles.predictors.push(Factor::Column(name.to_owned()));
                    }
                }
                document.set_roles(roles);
            }
        }
        DraftChange::Success(level) => {
            document.roles.success = Some(level.clone());
            recipe.model.success = Some(level);
        }
        DraftChange::Levels(levels) => recipe.model.levels = levels,
        DraftChange::Reference(column, level) => {
            recipe.model.reference.insert(column, level);
        }
        DraftChange::Categorical(column, on) => {
            if on {
                recipe.model.categorical.insert(column);
            } else {
                recipe.model.categorical.remove(&column);
            }
        }
        DraftChange::TopLevels(column, top) => document.set_top_levels(&column, top),
        DraftChange::Standardize(on) => recipe.model.standardize = on,
        DraftChange::Scale(scale) => recipe.report.scale = scale,
        DraftChange::Storage(storage) => recipe.data.storage = storage,
        DraftChange::HoldOut(rows) => recipe.model.hold_out = rows,
        DraftChange::Prior(key, Some(text)) => {
            recipe.priors.insert(key, text);
        }
        DraftChange::Prior(key, None) => {
            recipe.priors.remove(&key);
        }
        DraftChange::Template(id) => {
            document.set_template(id);
            if document.is_text() && !before.is_text() {
                document.begin_text(before, first_word(around, before));
            }
        }
        DraftChange::ModelSetting(key, value) => document.set_model_setting(&key, value),
        DraftChange::Sampler(id) => {
            if recipe.sampler.id != id {
                // Settings belong to a sampler; those of another would be refused.
                recipe.sampler.settings = Default::default();
                recipe.run.warmup = None;
            }
            recipe.sampler.id = id;
        }
        DraftChange::Variant(variant) => {
            variant.entry.spec.id.clone_into(&mut recipe.sampler.id);
            recipe.sampler.settings = variant.settings;
            recipe.run.warmup = None;
        }
        DraftChange::Setting(key, Some(value)) => recipe.sampler.settings.set(&key, value),
        DraftChange::Setting(key, None) => recipe.sampler.settings.unset(&key),
        DraftChange::Method(id) => {
            if recipe.mode.method != id {
                recipe.mode.settings = Default::default();
            }
            recipe.mode.method = id;
        }
        DraftChange::MethodSetting(key, Some(value)) => recipe.mode.settings.set(&key, value),
        DraftChange::MethodSetting(key, None) => recipe.mode.settings.unset(&key),
        DraftChange::Run(run) => recipe.run = run,
        DraftChange::NewSeed => {
            // A step of SplitMix64: far from the old seed and the same every time, so that a session can be repeated.
            let mut z = recipe.run.seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            // Eight digits are enough to differ and short enough to read out.
            recipe.run.seed = (z ^ (z >> 31)) % 100_000_000;
        }
    }
    Ok(Changed { document, said })
}

pub(super) fn change_document(state: &mut AppState, change: DraftChange, fx: &mut dyn Effects) {
    let Some(before) = state.document.clone() else {
        return;
    };
    let around = Surroundings {
        data: (state.data.as_ref()).map(|data| (&data.loaded.table, &*data.suggestions)),
        check: state.check.as_deref(),
    };
    let Changed { document, said } = match changed(&before, change, around) {
        Ok(changed) => changed,
        Err(refused) => {
            state.refuse(refused.reason);
            if let Some((column, conversion, role)) = refused.help {
                let words = conversion.offer(&column);
                state.offer(words, DraftCommand::Convert(column, conversion, role));
            }
            return;
        }
    };
    if let Some(said) = said {
        state.say(said, false);
    }
    if document != before {
        let model_changed = document.recipe.model != before.recipe.model
            || document.recipe.priors != before.recipe.priors
            || document.recipe.data.storage != before.recipe.data.storage
            || document.recipe.report != before.recipe.report;
        state.history.note(before);
        state.document = Some(document);
        if model_changed {
            request_check(state, fx);
        }
    }
}

fn convert(
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
            update(state, DataCommand::SetImport(options), fx);
            // The role is given once the column has been read with its new type.
            state.pending_role = Some((column.to_owned(), role));
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
            let change = DraftChange::Assign(column.to_owned(), *other);
            change_document(state, change, fx);
        }
    }
}

fn step(state: &mut AppState, back: bool, fx: &mut dyn Effects) {
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
