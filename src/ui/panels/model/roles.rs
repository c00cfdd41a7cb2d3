//! The columns by role: what is explained, by what, and what is left out; each with the menu that changes it.

use std::collections::{BTreeSet, HashMap};

use eframe::egui::{ScrollArea, Ui};

use super::cards::{card_ui, frame, note_ui, predictor_ui, shape_ui, term_ui};
use super::drag;
use super::groups::groups_ui;
use super::role_menus::{head_ui, role_menu};
use crate::app::{DataState, Document, DraftChange, ModelCheck, outcome};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::panels::{columns, menu};
use crate::ui::theme::tokens;
use crate::ui::widgets::button::link;
use crate::ui::widgets::{Button, Chip, Field, TreeRow, hint, number};
use ergodic_analysis::ModelSection;
use ergodic_core::design::{ColumnInfo, Columns as _, ResponseUse};
use ergodic_core::formula::{Factor, Formula, Trials};
use ergodic_data::suggest::Part;
use ergodic_data::{Profile, Refusal, Role, Roles};
use ergodic_language::Own;

/// Levels that a menu lists; a predictor may not have more anyway.
const MAX_LISTED: usize = 200;
/// Cards of predictors, and rows of columns without a role, that show before somebody asks for all.
const MOST_SHOWN: usize = 40;

/// What was found out about columns, so that open menus do not look through the table in every frame.
#[derive(Default)]
pub struct RolesView {
    /// Table, model and roles that refusals are about: all that decides who may have which role. Without an outcome roles
    /// are not in the model's formula.
    about: (String, ModelSection, Roles),
    refusals: HashMap<(String, u8), Option<Refusal>>,
    levels: HashMap<String, Vec<String>>,
    unused: Vec<String>,
    /// Columns that a model as text names.
    named: BTreeSet<String>,
    /// Columns of this table that shall not be groups.
    pub(super) declined: BTreeSet<String>,
    /// Whether all predictors and all other columns show, however many.
    all_shown: bool,
}

impl RolesView {
    fn refresh(&mut self, data: &DataState, document: &Document) {
        let fingerprint = data.loaded.table.fingerprint();
        let (model, roles) = (&document.recipe.model, &document.roles);
        if self.about.0 == fingerprint && self.about.1 == *model && self.about.2 == *roles {
            return;
        }
        let kept = if self.about.0 == fingerprint {
            std::mem::take(&mut self.declined)
        } else {
            BTreeSet::new()
        };
        let table = &data.loaded.table;
        *self = Self {
            about: (fingerprint.to_owned(), model.clone(), roles.clone()),
            unused: (roles.ignored(table).into_iter())
                .map(str::to_owned)
                .collect(),
            named: match document.is_text() {
                true => named_by_text(data, model),
                false => BTreeSet::new(),
            },
            declined: kept,
            all_shown: self.all_shown,
            ..Self::default()
        };
    }

    /// Why the column cannot take the role now, if it cannot. An outcome brings its template along, so that only columns
    /// that no template can explain are refused.
    pub(super) fn refusal(
        &mut self,
        data: &DataState,
        document: &Document,
        column: &str,
        role: Role,
    ) -> Option<Refusal> {
        self.refusals
            .entry((column.to_owned(), role as u8))
            .or_insert_with(|| {
                let table = &data.loaded.table;
                if role == Role::Response {
                    return outcome::refusal(document, &data.suggestions, table, column);
                }
                let mut roles = document.roles.clone();
                roles.assign(table, column, role).err()
            })
            .clone()
    }

    pub(super) fn levels(&mut self, data: &DataState, column: &str) -> &[String] {
        self.levels.entry(column.to_owned()).or_insert_with(|| {
            let table = &data.loaded.table;
            table
                .index_of(column, "The predictor")
                .ok()
                .and_then(|col| table.few_levels(col, MAX_LISTED))
                .unwrap_or_default()
        })
    }
}

/// What the panel's parts need of the page.
pub(super) struct Context<'a> {
    pub data: &'a DataState,
    pub document: &'a Document,
    pub check: Option<&'a ModelCheck>,
    pub view: &'a mut RolesView,
    pub out: &'a mut Outbox,
    /// Nothing was changed yet: the outcome is a guess.
    pub guessed: bool,
    /// What dropping the dragged column where it is does, or why it does nothing.
    pub answer: Option<Result<Role, Refusal>>,
}

impl<'a> Context<'a> {
    pub fn column(&self, name: &str) -> (Option<&'a ColumnInfo>, Option<&'a Profile>) {
        let columns = self.data.loaded.table.columns();
        let at = columns.iter().position(|info| info.name == name);
        let profile = at.and_then(|at| self.data.profiles.as_ref()?.get(at));
        (at.map(|at| &columns[at]), profile)
    }

    pub fn icon(&self, name: &str) -> char {
        match self.column(name) {
            (Some(info), profile) => columns::icon(info, profile),
            (None, _) => icons::QUESTION,
        }
    }
}

/// Draws the panel.
pub fn roles_ui(
    ui: &mut Ui,
    data: &DataState,
    document: &Document,
    check: Option<&ModelCheck>,
    view: &mut RolesView,
    (guessed, out): (bool, &mut Outbox),
) {
    let t = tokens();
    view.refresh(data, document);
    let mut cx = Context {
        data,
        document,
        check,
        view,
        out,
        guessed,
        answer: None,
    };
    ScrollArea::vertical()
        .auto_shrink([false, false])
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = t.space.x1;
            ui.add_space(t.space.x1);
            if document.is_text() {
                text_columns_ui(ui, &mut cx);
                return;
            }
            drag::zone(ui, &mut cx, Role::Response, outcome_ui);
            drag::zone(ui, &mut cx, Role::Predictor, predictors_ui);
            drag::zone(ui, &mut cx, Role::Group, groups_ui);
            others_ui(ui, &mut cx);
            drag::zone(ui, &mut cx, Role::Ignore, unused_ui);
            ui.add_space(t.space.x4);
        });
    drag::preview(ui, cx.answer.as_ref());
}

/// The columns that a model as text names. Patterns choose among the columns of the table; a text with a fault has the columns that
/// it had before.
fn named_by_text(data: &DataState, model: &ModelSection) -> BTreeSet<String> {
    let columns =
        Own::program(&model.settings).and_then(|program| program.columns_for(&data.loaded.table));
    match (columns, model.formula.parse::<Formula>()) {
        (Ok(columns), _) => columns.into_iter().collect(),
        (Err(_), Ok(formula)) => formula.columns().into_iter().map(str::to_owned).collect(),
        (Err(_), Err(_)) => BTreeSet::new(),
    }
}

/// The columns that a model as text names, and the others: only the text gives them roles.
fn text_columns_ui(ui: &mut Ui, cx: &mut Context<'_>) {
    if cx.document.recipe.is_without_data() {
        head_ui(ui, "Columns", None, cx);
        note_ui(
            ui,
            "None: this model needs no data. Open a table to use its columns in the text",
        );
        return;
    }
    let all = cx.data.loaded.table.names();
    let all: Vec<String> = all.map(str::to_owned).collect();
    let most = match cx.view.all_shown {
        true => usize::MAX,
        false => MOST_SHOWN,
    };
    for (title, is_named) in [("Named by the text", true), ("Not used", false)] {
        let shown: Vec<&String> = all
            .iter()
            .filter(|name| cx.view.named.contains(*name) == is_named)
            .collect();
        if shown.is_empty() && !is_named {
            continue;
        }
        head_ui(ui, title, None, cx);
        if shown.is_empty() {
            note_ui(ui, "No columns; write their names in the text");
        }
        for name in shown.iter().take(most) {
            let (info, profile) = cx.column(name);
            let Some(info) = info else { continue };
            TreeRow::new(name)
                .mono()
                .icon(columns::icon(info, profile))
                .fact(&columns::kind_word(info, profile))
                .show(ui);
        }
        more_ui(ui, cx, shown.len(), "columns");
    }
}

fn outcome_ui(ui: &mut Ui, cx: &mut Context<'_>) {
    head_ui(ui, "Outcome", Some(Role::Response), cx);
    let roles = &cx.document.roles;
    if roles.response_use == ResponseUse::Absent {
        note_ui(ui, "Nothing: the model looks for rows that are alike");
        return;
    }
    let Some(response) = roles.response.clone() else {
        note_ui(ui, "Choose the column to be explained");
        return;
    };
    let label = roles.response_function.map(|_| roles.response_label());
    card_ui(ui, cx, "outcome", &response, |ui, cx| {
        if let Some(label) = label {
            hint(ui, &format!("explained as `{label}`"));
        }
        success_ui(ui, cx);
        guess_ui(ui, cx, &response);
    });
    if let Some(trials) = &roles.trials {
        head_ui(ui, "Trials", Some(Role::Trials), cx);
        match trials {
            Trials::Column(name) => card_ui(ui, cx, "trials", name, |ui, _| {
                hint(ui, "how often each row was tried");
            }),
            Trials::Failures(name) => card_ui(ui, cx, "failures", name, |ui, _| {
                hint(ui, "failures: with the successes they are the trials");
            }),
            Trials::Constant(count) => {
                note_ui(ui, &format!("{} in every row", number::integer(*count)));
            }
        }
    }
}

/// Where the outcome was guessed and nothing was changed since: what it was guessed from, and the way to another.
fn guess_ui(ui: &mut Ui, cx: &mut Context<'_>, response: &str) {
    let guess = cx.data.suggestions.guess.as_ref();
    let Some(guess) = guess.filter(|guess| cx.guessed && guess.sure && guess.column == response)
    else {
        return;
    };
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = tokens().space.x1;
        hint(ui, &format!("Guessed {};", guess.from));
        if link(ui, "change it").clicked() {
            cx.out.send(DraftChange::Remove(response.to_owned()));
        }
    });
}

/// The chip that names the success level, with the counts of all levels in its menu.
fn success_ui(ui: &mut Ui, cx: &mut Context<'_>) {
    let words = match cx.document.roles.response_use {
        ResponseUse::Ordered => Some(&ORDER),
        ResponseUse::Unordered => Some(&REFERENCE),
        _ => None,
    };
    if let Some(words) = words {
        // The order can be named before it is known.
        if let Some(check) = cx.check.filter(|check| !check.response.is_empty()) {
            hint(ui, &check.response);
        }
        levels_ui(ui, cx, words);
        return;
    }
    let Some(check) = cx.check.filter(|check| !check.response.is_empty()) else {
        // A model of numbers or counts has no levels to wait for.
        let response_use = cx.document.roles.response_use;
        if !matches!(response_use, ResponseUse::Number | ResponseUse::Count) {
            hint(ui, "its levels are not known yet");
        }
        return;
    };
    if check.categories {
        hint(ui, &check.response);
        levels_ui(ui, cx, &UNSEEN);
        return;
    }
    let measured = matches!(
        cx.document.roles.response_use,
        ResponseUse::Number | ResponseUse::Count
    );
    if measured || cx.document.roles.trials.is_some() {
        hint(ui, &check.response);
        return;
    }
    let Some((success, count)) = check.response_levels.last() else {
        return;
    };
    let total: usize = check.response_levels.iter().map(|(_, count)| count).sum();
    let word = format!(
        "{success}, {} of {}",
        number::integer(*count as u64),
        number::integer(total as u64)
    );
    let chip = ui
        .add(Chip::choice(&word).named("Success"))
        .on_hover_text("The value that counts as success; its chance is what the model explains");
    menu::menu(&chip, menu::NORMAL, |ui| {
        menu::note(ui, "Which value counts as success");
        for (level, count) in &check.response_levels {
            let fact = number::integer(*count as u64);
            let chosen = level == success;
            if menu::item(ui, level, &fact, chosen).clicked() && !chosen {
                cx.out.send(DraftChange::Success(level.clone()));
            }
        }
    });
}

/// Words for the chip of levels that are named.
struct LevelWords {
    none: &'static str,
    one: &'static str,
    /// What follows their number.
    many: &'static str,
    name: &'static str,
    help: &'static str,
    field: &'static str,
}

/// Categories without rows.
const UNSEEN: LevelWords = LevelWords {
    none: "name unseen categories",
    one: "1 category named",
    many: "categories named",
    name: "Unseen categories",
    help: "Categories that could occur but have no row; they get a probability too",
    field: "Categories without rows",
};

/// Ordered levels, all of them.
const ORDER: LevelWords = LevelWords {
    none: "name the order",
    one: "1 level named",
    many: "levels in order",
    name: "Order of levels",
    help: "All levels from lowest to highest, where they do not say their order themselves",
    field: "Levels from lowest to highest",
};

/// Levels without an order, all of them.
const REFERENCE: LevelWords = LevelWords {
    none: "choose the reference",
    one: "1 level named",
    many: "levels named",
    name: "Reference level",
    help: "All levels, first the one that the others are compared with",
    field: "Levels, the reference first",
};

/// The chip of levels that are named, with a field for them in its menu.
fn levels_ui(ui: &mut Ui, cx: &mut Context<'_>, words: &LevelWords) {
    let declared = &cx.document.recipe.model.levels;
    let word = match declared.len() {
        0 => words.none.to_owned(),
        1 => words.one.to_owned(),
        count => format!("{count} {}", words.many),
    };
    let chip = ui
        .add(Chip::choice(&word).named(words.name))
        .on_hover_text(words.help);
    menu::form(&chip, menu::WIDE, |ui| {
        menu::note(ui, &format!("{}, comma separated", words.field));
        let id = ui.scope_id().with(words.name);
        let mut text = ui
            .data_mut(|data| data.get_temp::<String>(id))
            .unwrap_or_else(|| declared.join(", "));
        let field = Field::new(words.field, &mut text)
            .label_hidden()
            .width(ui.available_width())
            .show(ui);
        let levels = text.split(',').map(|level| level.trim().to_owned());
        let levels: Vec<String> = levels.filter(|level| !level.is_empty()).collect();
        if field.committed || (field.response.has_focus() && levels != *declared) {
            let change = DraftChange::Levels(levels);
            cx.out.typed(change, field.committed);
        }
        if field.committed {
            ui.data_mut(|data| data.remove::<String>(id));
            ui.close();
        } else {
            ui.data_mut(|data| data.insert_temp(id, text));
        }
    });
}

fn predictors_ui(ui: &mut Ui, cx: &mut Context<'_>) {
    if cx.document.roles.response_use == ResponseUse::Categories {
        return;
    }
    // Where no outcome is explained, nothing predicts one.
    let title = match cx.document.roles.response_use {
        ResponseUse::Absent => "Columns",
        _ => "Predictors",
    };
    head_ui(ui, title, Some(Role::Predictor), cx);
    let roles = &cx.document.roles;
    if roles.predictors.is_empty() && roles.interactions.is_empty() {
        let text = match cx.document.roles.response_use {
            ResponseUse::Outcome if roles.response.is_none() => "They follow from the outcome",
            _ if !roles.groups.is_empty() => "None beside the effects of groups",
            ResponseUse::Number => "None: the mean is the same in all rows",
            ResponseUse::Count => "None: the expected count is the same in all rows",
            ResponseUse::Ordered | ResponseUse::Unordered => {
                "None: the chances of levels are the same in all rows"
            }
            ResponseUse::Absent => "Choose the columns that take part",
            _ => "None: the chance is the same in all rows",
        };
        note_ui(ui, text);
    }
    let most = if cx.view.all_shown {
        usize::MAX
    } else {
        MOST_SHOWN
    };
    for (i, factor) in roles.predictors.iter().enumerate().take(most) {
        if let Some(name) = factor.as_column() {
            card_ui(ui, cx, "predictor", name, |ui, cx| {
                predictor_ui(ui, cx, i, name);
            });
            continue;
        }
        frame(ui, |ui| {
            let icon = cx.icon(factor.column());
            if term_ui(ui, icon, std::slice::from_ref(factor)) {
                change_roles(cx, |roles| {
                    roles.predictors.remove(i);
                });
            }
            ui.horizontal_wrapped(|ui| shape_ui(ui, cx, i));
        });
    }
    more_ui(ui, cx, roles.predictors.len(), "predictors");
    for (i, term) in roles.interactions.iter().enumerate() {
        frame(ui, |ui| {
            if term_ui(ui, icons::INTERSECT, term) {
                change_roles(cx, |roles| {
                    roles.interactions.remove(i);
                });
            }
        });
    }
    all_ui(ui, cx);
}

/// The link that shows the rest of a long list.
fn more_ui(ui: &mut Ui, cx: &mut Context<'_>, count: usize, what: &str) {
    if cx.view.all_shown || count <= MOST_SHOWN {
        return;
    }
    let more = number::integer((count - MOST_SHOWN) as u64);
    ui.horizontal(|ui| {
        ui.add_space(tokens().space.x3);
        if link(ui, &format!("and {more} more {what}")).clicked() {
            cx.view.all_shown = true;
        }
    });
}

/// The button that takes all columns that could explain the outcome, where none was taken by itself.
fn all_ui(ui: &mut Ui, cx: &mut Context<'_>) {
    let roles = &cx.document.roles;
    if roles.response.is_none() && roles.response_use != ResponseUse::Absent
        || !roles.predictors.is_empty()
    {
        return;
    }
    let unused = cx.data.suggestions.explaining(roles.response.as_deref());
    let count = unused
        .iter()
        .filter(|name| roles.of(name) == [Role::Ignore])
        .count();
    if count < 2 {
        return;
    }
    ui.horizontal(|ui| {
        ui.add_space(tokens().space.x3);
        let label = format!("Add all {} columns", number::integer(count as u64));
        if ui
            .add(Button::new(&label).small().icon(icons::PLUS))
            .clicked()
        {
            cx.out.send(DraftChange::AllPredictors);
        }
    });
}

/// Asks for the formula of changed roles.
pub(super) fn change_roles(cx: &mut Context<'_>, change: impl FnOnce(&mut Roles)) {
    let mut roles = cx.document.roles.clone();
    change(&mut roles);
    if let Some(formula) = roles.to_formula() {
        cx.out.send(DraftChange::Formula(formula.to_string()));
    }
}

/// Offsets and weights: rare, so their heads show with their menus and without an empty sentence.
fn others_ui(ui: &mut Ui, cx: &mut Context<'_>) {
    let roles = &cx.document.roles;
    if roles.response_use == ResponseUse::Absent {
        return;
    }
    drag::zone(ui, cx, Role::Weight, |ui, cx| {
        head_ui(ui, "Weights", Some(Role::Weight), cx);
        if let Some(name) = &cx.document.roles.weights {
            card_ui(ui, cx, "weight", name, |ui, _| {
                hint(ui, "how often each row counts");
            });
        }
    });
    drag::zone(ui, cx, Role::Offset, |ui, cx| {
        head_ui(ui, "Offset", Some(Role::Offset), cx);
        for offset in &cx.document.roles.offsets {
            card_ui(ui, cx, "offset", offset.column(), |ui, _| {
                match offset {
                    Factor::Column(_) | Factor::Category(_) => hint(ui, "added with coefficient 1"),
                    Factor::Call(..) => {
                        hint(ui, &format!("`{offset}` is added with coefficient 1"))
                    }
                };
            });
        }
    });
    let roles = &cx.document.roles;
    if roles.trials.is_none() && roles.response_use == ResponseUse::Outcome {
        drag::zone(ui, cx, Role::Trials, |ui, cx| {
            head_ui(ui, "Trials", Some(Role::Trials), cx);
        });
    }
}

fn unused_ui(ui: &mut Ui, cx: &mut Context<'_>) {
    let most = if cx.view.all_shown {
        usize::MAX
    } else {
        MOST_SHOWN
    };
    let count = cx.view.unused.len();
    // While a column is dragged there is a place to leave it out.
    if count == 0 && !drag::is_going_on(ui) {
        return;
    }
    let unused: Vec<String> = cx.view.unused.iter().take(most).cloned().collect();
    head_ui(ui, "Not used", None, cx);
    ui.spacing_mut().item_spacing.y = 0.0;
    for name in unused {
        let (info, profile) = cx.column(&name);
        let Some(info) = info else { continue };
        let part = cx.data.suggestions.offer(&name).map(|offer| &offer.part);
        let (fact, why) = match part {
            Some(Part::Aside(word, why)) => ((*word).to_owned(), format!("Left out: {why}")),
            _ if info.num_missing > 0 => (columns::missing(info), String::new()),
            _ => (columns::kind_word(info, profile), String::new()),
        };
        drag::source(ui, "unused", &name, |ui| {
            let mut row = TreeRow::new(&name)
                .mono()
                .icon(columns::icon(info, profile))
                .fact(&fact)
                .show(ui);
            if !why.is_empty() {
                row = row.on_hover_text(why.replace('`', ""));
            }
            role_menu(&row, cx, &name);
        });
    }
    more_ui(ui, cx, count, "columns");
}
