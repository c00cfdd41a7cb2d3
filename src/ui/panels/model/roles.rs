//! The columns by role: what is explained, by what, and what is left out; each with the menu that changes it.

use std::collections::HashMap;

use eframe::egui::{
    Align, Frame, Layout, Margin, Response, ScrollArea, Sense, Stroke, Ui, WidgetInfo, vec2,
};

use super::words;
use crate::app::{Command, DataState, Document, ModelCheck};
use crate::data::formula::{Elementwise, Factor, Function, Trials, quote_term};
use crate::data::profile::Profile;
use crate::data::rare::OTHER;
use crate::data::response::ResponseUse;
use crate::data::roles::{Conversion, Refusal, Role, Roles};
use crate::data::terms::MAX_LEVELS;
use crate::data::{ColumnInfo, ColumnKind};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::panels::{columns, menu};
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::{Button, Chip, Field, TreeRow, hint, number, paint, sentence_line};

/// Levels that a menu lists; a predictor may not have more anyway.
const MAX_LISTED: usize = 200;
/// Numbers of frequent values that can be kept.
const TOPS: [usize; 5] = [5, 10, 20, 50, 100];

/// What was found out about columns, so that open menus do not look through the table in every frame.
#[derive(Default)]
pub struct RolesView {
    /// Table and formula that the rest is about.
    about: (String, String),
    refusals: HashMap<(String, u8), Option<Refusal>>,
    levels: HashMap<String, Vec<String>>,
}

impl RolesView {
    fn refresh(&mut self, data: &DataState, document: &Document) {
        let about = (
            data.loaded.table.fingerprint().to_owned(),
            document.recipe.model.formula.clone(),
        );
        if self.about != about {
            *self = Self {
                about,
                ..Self::default()
            };
        }
    }

    /// Why the column cannot take the role now, if it cannot.
    fn refusal(
        &mut self,
        data: &DataState,
        document: &Document,
        column: &str,
        role: Role,
    ) -> Option<Refusal> {
        self.refusals
            .entry((column.to_owned(), role as u8))
            .or_insert_with(|| {
                let mut roles = document.roles.clone();
                roles.assign(&data.loaded.table, column, role).err()
            })
            .clone()
    }

    fn levels(&mut self, data: &DataState, column: &str) -> &[String] {
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

/// What the functions below need of the page.
struct Context<'a> {
    data: &'a DataState,
    document: &'a Document,
    check: Option<&'a ModelCheck>,
    view: &'a mut RolesView,
    out: &'a mut Outbox,
}

impl<'a> Context<'a> {
    fn column(&self, name: &str) -> (Option<&'a ColumnInfo>, Option<&'a Profile>) {
        let columns = self.data.loaded.table.columns();
        let at = columns.iter().position(|info| info.name == name);
        let profile = at.and_then(|at| self.data.profiles.as_ref()?.get(at));
        (at.map(|at| &columns[at]), profile)
    }

    fn icon(&self, name: &str) -> char {
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
    out: &mut Outbox,
) {
    let t = tokens();
    view.refresh(data, document);
    let mut cx = Context {
        data,
        document,
        check,
        view,
        out,
    };
    ScrollArea::vertical()
        .auto_shrink([false, false])
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = t.space.x1;
            ui.add_space(t.space.x1);
            outcome_ui(ui, &mut cx);
            predictors_ui(ui, &mut cx);
            groups_ui(ui, &mut cx);
            others_ui(ui, &mut cx);
            unused_ui(ui, &mut cx);
            ui.add_space(t.space.x4);
        });
}

fn outcome_ui(ui: &mut Ui, cx: &mut Context<'_>) {
    let roles = &cx.document.roles;
    if roles.response_use == ResponseUse::Absent {
        return;
    }
    head_ui(ui, "Outcome", Some(Role::Response), cx);
    let roles = &cx.document.roles;
    let Some(response) = roles.response.clone() else {
        note_ui(ui, "Choose the column to be explained");
        return;
    };
    card_ui(ui, cx, &response, |ui, cx| {
        success_ui(ui, cx);
    });
    if let Some(trials) = &roles.trials {
        head_ui(ui, "Trials", Some(Role::Trials), cx);
        match trials {
            Trials::Column(name) => card_ui(ui, cx, name, |ui, _| {
                hint(ui, "how often each row was tried");
            }),
            Trials::Constant(count) => {
                note_ui(ui, &format!("{} in every row", number::integer(*count)));
            }
        }
    }
}

/// The chip that names the success level, with the counts of all levels in its menu.
fn success_ui(ui: &mut Ui, cx: &mut Context<'_>) {
    let Some(check) = cx.check.filter(|check| !check.response.is_empty()) else {
        hint(ui, "its levels are not known yet");
        return;
    };
    if check.categories {
        hint(ui, &check.response);
        levels_ui(ui, cx);
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
                cx.out.send(Command::SetSuccess(level.clone()));
            }
        }
    });
}

/// The chip of categories without rows, with a field for them in its menu.
fn levels_ui(ui: &mut Ui, cx: &mut Context<'_>) {
    let declared = &cx.document.recipe.model.levels;
    let word = match declared.len() {
        0 => "name unseen categories".to_owned(),
        1 => "1 category named".to_owned(),
        count => format!("{count} categories named"),
    };
    let chip = ui
        .add(Chip::choice(&word).named("Unseen categories"))
        .on_hover_text("Categories that could occur but have no row; they get a probability too");
    menu::form(&chip, menu::WIDE, |ui| {
        menu::note(ui, "Categories without rows, comma separated");
        let id = ui.scope_id().with("unseen categories");
        let mut text = ui
            .data_mut(|data| data.get_temp::<String>(id))
            .unwrap_or_else(|| declared.join(", "));
        let field = Field::new("Categories without rows", &mut text)
            .label_hidden()
            .width(ui.available_width())
            .show(ui);
        if field.committed {
            let levels = text.split(',').map(|level| level.trim().to_owned());
            let levels = levels.filter(|level| !level.is_empty()).collect();
            cx.out.send(Command::SetLevels(levels));
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
    head_ui(ui, "Predictors", Some(Role::Predictor), cx);
    let roles = &cx.document.roles;
    if roles.predictors.is_empty() && roles.interactions.is_empty() {
        let text = match cx.document.roles.response_use {
            _ if !roles.groups.is_empty() => "None beside the effects of groups",
            ResponseUse::Number => "None: the mean is the same in all rows",
            ResponseUse::Count => "None: the expected count is the same in all rows",
            ResponseUse::Absent => "Choose the columns that take part",
            _ => "None: the chance is the same in all rows",
        };
        note_ui(ui, text);
    }
    for (i, factor) in roles.predictors.iter().enumerate() {
        if let Some(name) = factor.as_column() {
            card_ui(ui, cx, name, |ui, cx| {
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
    for (i, term) in roles.interactions.iter().enumerate() {
        frame(ui, |ui| {
            if term_ui(ui, icons::INTERSECT, term) {
                change_roles(cx, |roles| {
                    roles.interactions.remove(i);
                });
            }
        });
    }
}

/// Asks for the formula of changed roles.
fn change_roles(cx: &mut Context<'_>, change: impl FnOnce(&mut Roles)) {
    let mut roles = cx.document.roles.clone();
    change(&mut roles);
    if let Some(formula) = roles.to_formula() {
        cx.out.send(Command::SetFormula(formula.to_string()));
    }
}

/// A line with a term that is not a plain column and the button that removes it; whether that was clicked.
fn term_ui(ui: &mut Ui, icon: char, term: &[Factor]) -> bool {
    let mut removed = false;
    ui.horizontal(|ui| {
        let p = Palette::of(ui);
        icons::icon_ui(ui, icon, tokens().icon.small, false, p.text_secondary);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let remove = format!("Remove {}", quote_term(term));
            let button = Button::icon_only(icons::X, &remove).small();
            removed = ui.add(button).clicked();
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let names: Vec<String> = term.iter().map(Factor::label).collect();
                sentence_line(ui, &format!("`{}`", names.join(" × ")), Text::Body, false);
            });
        });
    });
    removed
}

/// The chip that says how the number in predictor `i` enters the model.
fn shape_ui(ui: &mut Ui, cx: &mut Context<'_>, i: usize) {
    /// Degrees of freedom of a curve that is not asked for exactly.
    const CURVE: u32 = 4;
    let Some(factor) = cx.document.roles.predictors.get(i) else {
        return;
    };
    let column = Factor::Column(factor.column().to_owned());
    let shapes = [
        ("as it is", None),
        ("logarithm", Some(Function::Elementwise(Elementwise::Log))),
        (
            "parabola",
            Some(Function::Poly {
                degree: 2,
                raw: false,
            }),
        ),
        ("smooth curve", Some(Function::Natural { df: CURVE })),
    ]
    .map(|(word, function)| {
        let factor = match function {
            None => column.clone(),
            Some(function) => Factor::Call(function, Box::new(column.clone())),
        };
        (word, factor)
    });
    let word = shapes
        .iter()
        .find(|(_, shape)| shape == factor)
        .map_or("as written", |(word, _)| word);
    let label = format!("Shape of {}", factor.column());
    let chip = ui
        .add(Chip::choice(word).named(&label))
        .on_hover_text("How its effect may bend; the formula takes other functions too");
    menu::menu(&chip, menu::NORMAL, |ui| {
        for (word, shape) in &shapes {
            let chosen = shape == factor;
            if menu::item(ui, word, &shape.to_string(), chosen).clicked() && !chosen {
                change_roles(cx, |roles| roles.predictors[i] = shape.clone());
            }
        }
    });
}

/// How many of a predictor's most frequent values are kept, where there are many.
fn top_levels_ui(ui: &mut Ui, cx: &mut Context<'_>, name: &str) {
    let all = cx.column(name).1.map_or(0, |profile| profile.num_distinct);
    let now = cx.document.recipe.model.top_levels.get(name).copied();
    let choices: Vec<usize> = TOPS.into_iter().filter(|top| top + 1 < all).collect();
    if choices.is_empty() && now.is_none() {
        return;
    }
    let word = |top: Option<usize>| match top {
        Some(top) => format!("top {top}"),
        None => format!("all {} values", number::integer(all as u64)),
    };
    let label = format!("Values of {name} that are kept");
    let about = format!("The most frequent values are kept; all others become one value `{OTHER}`");
    let chip = ui
        .add(Chip::choice(&word(now)).named(&label))
        .on_hover_text(&about);
    menu::menu(&chip, menu::NORMAL, |ui| {
        menu::note(ui, &about);
        let choices = choices.iter().copied().map(Some);
        // More values than a predictor may have can only be merged.
        for top in choices.chain((all <= MAX_LEVELS).then_some(None)) {
            if menu::item(ui, &word(top), "", top == now).clicked() && top != now {
                cx.out.send(Command::SetTopLevels(name.to_owned(), top));
            }
        }
    });
}

/// Below a column that is predictor `i`: its reference level, or whether a number is a category and how it enters.
fn predictor_ui(ui: &mut Ui, cx: &mut Context<'_>, i: usize, name: &str) {
    let (info, profile) = cx.column(name);
    let Some(info) = info else {
        hint(ui, "the data have no such column");
        return;
    };
    let categorical = cx.document.recipe.model.categorical.contains(name);
    let reference = cx.check.and_then(|check| {
        let found = check.references.iter().find(|(column, _)| column == name);
        found.map(|(_, level)| level.clone())
    });
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.y = tokens().space.x1;
        if let Some(reference) = &reference {
            let word = format!("against {reference}");
            let label = format!("Reference level of {name}");
            let chip = ui
                .add(Chip::choice(&word).named(&label))
                .on_hover_text("The level that all others are compared with");
            menu::menu(&chip, menu::NORMAL, |ui| {
                menu::note(ui, "The level that all others are compared with");
                for level in cx.view.levels(cx.data, name) {
                    let chosen = level == reference;
                    if menu::item(ui, level, "", chosen).clicked() && !chosen {
                        let command = Command::SetReference(name.to_owned(), level.clone());
                        cx.out.send(command);
                    }
                }
            });
        }
        if reference.is_some() {
            top_levels_ui(ui, cx, name);
        }
        if info.kind == ColumnKind::Number {
            let chip = ui
                .add(Chip::toggle("as categories", categorical))
                .on_hover_text("On: every value has its own effect. Off: one slope for the number");
            ui.ctx().accesskit_node_builder(chip.id, |node| {
                node.set_label(format!("Treat {name} as categories"));
            });
            if chip.clicked() {
                let command = Command::SetCategorical(name.to_owned(), !categorical);
                cx.out.send(command);
            }
            if !categorical {
                shape_ui(ui, cx, i);
            }
        }
        if reference.is_none() && info.kind != ColumnKind::Number {
            hint(ui, &columns::fact(info, profile));
        }
    });
}

fn groups_ui(ui: &mut Ui, cx: &mut Context<'_>) {
    head_ui(ui, "Groups", Some(Role::Group), cx);
    let roles = &cx.document.roles;
    for group in &roles.groups {
        for name in &group.group {
            card_ui(ui, cx, name, |ui, cx| {
                let levels = cx.column(name).1.map_or(0, |profile| profile.num_distinct);
                let own = if group.intercept { "own base rate" } else { "" };
                let effects = words::effects(roles, group);
                // "own base rate and effects of …", or "own effects of …" without a base rate.
                let what = match own {
                    "" => effects.trim_start_matches(" and its ").to_owned(),
                    own => format!("{own}{}", effects.replace(" its own", "")),
                };
                hint(
                    ui,
                    &format!("{} groups, {what}", number::integer(levels as u64)),
                );
            });
        }
    }
}

/// Offsets and weights: rare, so their heads show with their menus and without an empty sentence.
fn others_ui(ui: &mut Ui, cx: &mut Context<'_>) {
    let roles = &cx.document.roles;
    if roles.response_use == ResponseUse::Absent {
        return;
    }
    head_ui(ui, "Weights", Some(Role::Weight), cx);
    if let Some(name) = &roles.weights {
        card_ui(ui, cx, name, |ui, _| {
            hint(ui, "how often each row counts");
        });
    }
    head_ui(ui, "Offset", Some(Role::Offset), cx);
    for offset in &roles.offsets {
        card_ui(ui, cx, offset.column(), |ui, _| {
            match offset {
                Factor::Column(_) => hint(ui, "added with coefficient 1"),
                Factor::Call(..) => hint(ui, &format!("`{offset}` is added with coefficient 1")),
            };
        });
    }
    if roles.trials.is_none() && roles.response_use == ResponseUse::Outcome {
        head_ui(ui, "Trials", Some(Role::Trials), cx);
    }
}

fn unused_ui(ui: &mut Ui, cx: &mut Context<'_>) {
    let table = &cx.data.loaded.table;
    let unused: Vec<String> = cx
        .document
        .roles
        .ignored(table)
        .into_iter()
        .map(str::to_owned)
        .collect();
    if unused.is_empty() {
        return;
    }
    head_ui(ui, "Not used", None, cx);
    ui.spacing_mut().item_spacing.y = 0.0;
    for name in unused {
        let (info, profile) = cx.column(&name);
        let Some(info) = info else { continue };
        let fact = if info.num_missing > 0 {
            columns::missing(info)
        } else {
            columns::kind_word(info, profile)
        };
        let row = TreeRow::new(&name)
            .mono()
            .icon(columns::icon(info, profile))
            .fact(&fact)
            .show(ui);
        role_menu(&row, cx, &name);
    }
}

/// The head of a role with the menu that adds a column to it.
fn head_ui(ui: &mut Ui, title: &str, role: Option<Role>, cx: &mut Context<'_>) {
    let t = tokens();
    let p = Palette::of(ui);
    ui.horizontal(|ui| {
        ui.set_height(t.size.section_head);
        ui.add_space(t.space.x3);
        let label = ui.label(Text::CaptionStrong.rich(title, p.text_secondary));
        label.widget_info(|| WidgetInfo::labeled(eframe::egui::Role::Heading, true, title));
        let Some(role) = role else { return };
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.add_space(t.space.x1);
            let name = format!("Add to {title}");
            let add = ui.add(Button::icon_only(icons::PLUS, &name).small());
            menu::menu(&add, menu::WIDE, |ui| add_menu(ui, cx, role));
        });
    });
}

/// Columns that can take the role, then those that cannot, with the reasons and what would help.
fn add_menu(ui: &mut Ui, cx: &mut Context<'_>, role: Role) {
    let names: Vec<String> = cx
        .data
        .loaded
        .table
        .names()
        .filter(|name| !cx.document.roles.of(name).contains(&role))
        .map(str::to_owned)
        .collect();
    let mut refused = Vec::new();
    let mut any = false;
    for name in names {
        if let Some(refusal) = cx.view.refusal(cx.data, cx.document, &name, role) {
            refused.push((name, refusal));
            continue;
        }
        any = true;
        let now = cx.document.roles.of(&name)[0];
        let fact = if now == Role::Ignore {
            String::new()
        } else {
            format!("now {}", now.label())
        };
        if menu::item(ui, &format!("`{name}`"), &fact, false).clicked() {
            cx.out.send(Command::AssignRole(name, role));
        }
    }
    if !refused.is_empty() {
        if any {
            menu::separator(ui);
        }
        for (name, refusal) in &refused {
            let now = cx.document.roles.of(name);
            refused_ui(ui, cx.out, &format!("`{name}`"), name, role, &now, refusal);
        }
    } else if !any {
        menu::note(ui, "All columns already have this role");
    }
}

/// All roles of one column.
fn role_menu(button: &Response, cx: &mut Context<'_>, name: &str) {
    menu::menu(button, menu::WIDE, |ui| {
        menu::note(ui, &format!("Role of `{name}`"));
        let now = cx.document.roles.of(name);
        for role in Role::ALL {
            let chosen = now.contains(&role);
            if chosen {
                menu::item(ui, role.label(), "", true);
                continue;
            }
            if role == Role::Ignore {
                if menu::item(ui, "not used", "", false).clicked() {
                    cx.out.send(Command::RemoveRole(name.to_owned()));
                }
                continue;
            }
            match cx.view.refusal(cx.data, cx.document, name, role) {
                None => {
                    if menu::item(ui, role.label(), "", false).clicked() {
                        cx.out.send(Command::AssignRole(name.to_owned(), role));
                    }
                }
                Some(refusal) => refused_ui(ui, cx.out, role.label(), name, role, &now, &refusal),
            }
        }
    });
}

/// A role that cannot be taken: the reason, and what would make it possible.
fn refused_ui(
    ui: &mut Ui,
    out: &mut Outbox,
    text: &str,
    name: &str,
    role: Role,
    now: &[Role],
    refusal: &Refusal,
) {
    menu::refused(ui, text, &refusal.reason);
    // To use a column as what it is already would be no help.
    let already = |conversion: &&Conversion| matches!(conversion, Conversion::UseAs(role) if now.contains(role));
    let Some(conversion) = refusal
        .conversion
        .as_ref()
        .filter(|conversion| !already(conversion))
    else {
        return;
    };
    let t = tokens();
    ui.horizontal(|ui| {
        ui.add_space(t.space.x6);
        let word = conversion.offer(name);
        if ui.add(Button::new(&word).small()).clicked() {
            let command = Command::Convert(name.to_owned(), conversion.clone(), role);
            out.send(command);
        }
    });
    ui.add_space(t.space.x1);
}

/// A column with a role: icon, name, menu, remove, and what the role adds below.
fn card_ui(
    ui: &mut Ui,
    cx: &mut Context<'_>,
    name: &str,
    below: impl FnOnce(&mut Ui, &mut Context<'_>),
) {
    let t = tokens();
    frame(ui, |ui| {
        ui.horizontal(|ui| {
            let p = Palette::of(ui);
            icons::icon_ui(ui, cx.icon(name), t.icon.small, false, p.text_secondary);
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                ui.spacing_mut().item_spacing.x = 0.0;
                let remove = format!("Remove {name}");
                if ui
                    .add(Button::icon_only(icons::X, &remove).small())
                    .clicked()
                {
                    cx.out.send(Command::RemoveRole(name.to_owned()));
                }
                let label = format!("Role of {name}");
                let change = ui.add(Button::icon_only(icons::DOTS_THREE, &label).small());
                role_menu(&change, cx, name);
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    sentence_line(ui, &format!("`{name}`"), Text::Body, false);
                    range_ui(ui, cx, name);
                });
            });
        });
        ui.horizontal(|ui| {
            ui.add_space(t.icon.small);
            ui.vertical(|ui| below(ui, cx));
        });
    });
}

/// The range of a numeric predictor at the right end of its line, where the name leaves room for all of it.
fn range_ui(ui: &mut Ui, cx: &Context<'_>, name: &str) {
    let (Some(info), profile) = cx.column(name) else {
        return;
    };
    if info.kind != ColumnKind::Number || cx.document.roles.of(name) != [Role::Predictor] {
        return;
    }
    let p = Palette::of(ui);
    let fact = columns::fact(info, profile);
    let galley = paint::line(ui, &fact, Text::Caption, p.text_secondary, f32::INFINITY);
    let room = ui.available_rect_before_wrap();
    if galley.size().x > room.width() - tokens().space.x1 {
        return;
    }
    let right = room.right() - tokens().space.x1;
    let at = paint::right_center(ui.painter(), right, room.center().y, galley);
    let response = ui.interact(at, ui.scope_id().with(("range", name)), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(eframe::egui::Role::Label, true, &fact));
}

fn frame(ui: &mut Ui, contents: impl FnOnce(&mut Ui)) {
    let t = tokens();
    let p = Palette::of(ui);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        ui.add_space(t.space.x3);
        Frame::NONE
            .fill(p.bg_surface)
            .stroke(Stroke::new(t.stroke.hair, p.border_subtle))
            .corner_radius(t.radius.button)
            .inner_margin(Margin {
                left: t.space.x2 as i8,
                right: t.space.x1 as i8,
                top: 3,
                bottom: t.space.x2 as i8 - 2,
            })
            .show(ui, |ui| {
                let inside = t.space.x2 + t.space.x1 + t.space.x3;
                ui.set_width(ui.available_width() - inside + t.space.x2 + t.space.x1);
                ui.vertical(|ui| {
                    ui.spacing_mut().item_spacing = vec2(t.space.x2, 0.0);
                    ui.spacing_mut().interact_size.y = t.size.chip;
                    contents(ui);
                });
            });
    });
}

fn note_ui(ui: &mut Ui, text: &str) {
    let t = tokens();
    let p = Palette::of(ui);
    let width = ui.available_width() - 2.0 * t.space.x3;
    let galley = paint::paragraph(ui, text, Text::Caption, p.text_secondary, width);
    let size = vec2(ui.available_width(), galley.size().y + t.space.x1);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(eframe::egui::Role::Label, true, text));
    let at = rect.min + vec2(t.space.x3, 0.0);
    ui.painter().galley(at, galley, p.text_secondary);
}
