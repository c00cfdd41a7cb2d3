//! Groups of rows: columns offered as groups, and what differs between the groups of the model.

use eframe::egui::Ui;
use ergodic_analysis::templates;

use super::cards::{card_ui, frame};
use super::role_menus::head_ui;
use super::roles::{Context, change_roles};
use super::words;
use crate::app::DraftChange;
use crate::ui::panels::menu;
use crate::ui::theme::{Text, tokens};
use crate::ui::widgets::{Button, Chip, hint, number, sentence};
use ergodic_core::design::{Columns as _, ResponseUse};
use ergodic_core::formula::{Factor, GroupTerm, Term};
use ergodic_data::Role;

/// Most columns that are offered as groups at once.
const MOST_OFFERED: usize = 3;

/// Draws the groups of the model, then the columns that could be groups.
pub fn groups_ui(ui: &mut Ui, cx: &mut Context<'_>) {
    head_ui(ui, "Groups", Some(Role::Group), cx);
    let roles = &cx.document.roles;
    for (i, group) in roles.groups.iter().enumerate() {
        for name in &group.group {
            card_ui(ui, cx, "group", name, |ui, cx| {
                let levels = cx.column(name).1.map_or(0, |profile| profile.num_distinct);
                hint(ui, &format!("{} groups", number::integer(levels as u64)));
                differs_ui(ui, cx, i, group);
            });
        }
    }
    offers_ui(ui, cx);
}

/// The chip that says what differs between groups; its menu lets more or less differ.
fn differs_ui(ui: &mut Ui, cx: &mut Context<'_>, at: usize, group: &GroupTerm) {
    let roles = &cx.document.roles;
    let base = if roles.response_use == ResponseUse::Number {
        "average"
    } else {
        "base rate"
    };
    let own = if group.intercept {
        format!("own {base}")
    } else {
        String::new()
    };
    let effects = words::effects(roles, group);
    // "own base rate and effects of …", or "own effects of …" without a base rate.
    let what = match own.as_str() {
        "" => effects.trim_start_matches(" and its ").to_owned(),
        own => format!("{own}{}", effects.replace(" its own", "")),
    };
    let template = templates::find(&cx.document.recipe.model.template);
    if template.is_ok_and(|entry| entry.all_vary) {
        hint(ui, &what);
        return;
    }
    let label = format!("What differs by {}", group.group.join(" and "));
    let plain = what.replace('`', "");
    let chip = ui
        .add(Chip::choice(&plain).named(&label))
        .on_hover_text("What every group has of its own");
    // A smooth curve is the same in all groups.
    let others = roles.predictors.iter().filter(|factor| !factor.is_smooth());
    let terms: Vec<Term> = (others.map(|factor| vec![factor.clone()]))
        .chain(roles.interactions.iter().cloned())
        .collect();
    menu::form(&chip, menu::NORMAL, |ui| {
        menu::note(ui, "What every group has of its own");
        // A group without anything of its own would be none.
        let alone = group.terms.is_empty();
        if menu::item(ui, base, "", group.intercept).clicked() && !(alone && group.intercept) {
            change_roles(cx, |roles| {
                roles.groups[at].intercept = !group.intercept;
            });
        }
        for term in &terms {
            let names: Vec<String> = term.iter().map(Factor::label).collect();
            let varies = group.terms.contains(term);
            let item = menu::item(
                ui,
                &format!("effect of `{}`", names.join(" × ")),
                "",
                varies,
            );
            if item.clicked() && !(varies && !group.intercept && group.terms.len() == 1) {
                change_roles(cx, |roles| {
                    let own = &mut roles.groups[at].terms;
                    if varies {
                        own.retain(|other| other != term);
                    } else {
                        own.push(term.clone());
                    }
                });
            }
        }
    });
}

/// Columns that say which group a row belongs to and are not used yet: shall they differ?
fn offers_ui(ui: &mut Ui, cx: &mut Context<'_>) {
    let roles = &cx.document.roles;
    if roles.response.is_none() || roles.response_use == ResponseUse::Categories {
        return;
    }
    let offered: Vec<(String, usize)> = (cx.data.suggestions.groups().into_iter())
        .filter(|(name, _)| roles.of(name) == [Role::Ignore] && !cx.view.declined.contains(*name))
        .take(MOST_OFFERED)
        .map(|(name, levels)| (name.to_owned(), levels))
        .collect();
    for (name, levels) in offered {
        frame(ui, |ui| {
            ui.spacing_mut().item_spacing.y = tokens().space.x1;
            sentence(ui, &question(&name), Text::Body);
            let rows = cx.data.loaded.table.num_rows() / levels;
            hint(
                ui,
                &format!(
                    "{} groups of about {} rows each",
                    number::integer(levels as u64),
                    number::integer(rows as u64)
                ),
            );
            ui.horizontal(|ui| {
                let mut answer = |label: &str| {
                    let button = ui.add(Button::new(label).small());
                    ui.ctx().accesskit_node_builder(button.id, |node| {
                        node.set_label(format!("{label}: {}", question(&name).replace('`', "")));
                    });
                    button.clicked()
                };
                if answer("Yes") {
                    cx.out.send(DraftChange::Assign(name.clone(), Role::Group));
                }
                if answer("No") {
                    cx.view.declined.insert(name.clone());
                }
            });
        });
    }
}

/// Letters of the shortest name that is read as a word: `g` and `id` are abbreviations.
const SHORTEST_WORD: usize = 3;

/// "Let counties differ?", or "Let the groups of `county_idx` differ?" where the name is no word.
fn question(name: &str) -> String {
    let is_word = name.len() >= SHORTEST_WORD
        && name.chars().all(|c| c.is_ascii_lowercase())
        && !name.ends_with('s');
    let plural = match name.strip_suffix('y') {
        _ if !is_word => None,
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => Some(format!("{stem}ies")),
        _ if name.ends_with("ch") || name.ends_with('x') => Some(format!("{name}es")),
        _ => Some(format!("{name}s")),
    };
    match plural {
        Some(plural) => format!("Let {plural} differ?"),
        None => format!("Let the groups of `{name}` differ?"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_name_groups_in_the_plural() {
        for (name, expected) in [
            ("county", "Let counties differ?"),
            ("school", "Let schools differ?"),
            ("batch", "Let batches differ?"),
            ("day", "Let days differ?"),
            ("g", "Let the groups of `g` differ?"),
            ("county_idx", "Let the groups of `county_idx` differ?"),
            ("Site", "Let the groups of `Site` differ?"),
        ] {
            assert_eq!(question(name), expected);
        }
    }
}
