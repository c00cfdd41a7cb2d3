//! The menus that give columns their roles, with reasons where one cannot be given.

use eframe::egui::{Align, Layout, Response, Ui, WidgetInfo};

use super::roles::{Context, change_roles};
use crate::app::{DraftChange, DraftCommand};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::panels::menu;
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::Button;
use ergodic_core::design::{Columns as _, ResponseUse};
use ergodic_core::formula::Factor;
use ergodic_data::{Conversion, Refusal, Role};

/// Most predictors whose pairs a menu lists.
const MOST_PAIRED: usize = 8;

/// The head of a role with the menu that adds a column to it.
pub fn head_ui(ui: &mut Ui, title: &str, role: Option<Role>, cx: &mut Context<'_>) {
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
            if role == Role::Predictor {
                interactions_ui(ui, cx);
            }
        });
    });
}

/// The button whose menu lets the effects of two predictors depend on each other.
fn interactions_ui(ui: &mut Ui, cx: &mut Context<'_>) {
    let roles = &cx.document.roles;
    let count = roles.predictors.len();
    if roles.response_use == ResponseUse::Absent || !(2..=MOST_PAIRED).contains(&count) {
        return;
    }
    let pairs = ui.add(Button::icon_only(icons::INTERSECT, "Add an interaction").small());
    menu::form(&pairs, menu::NORMAL, |ui| {
        menu::note(ui, "The effect of one depends on the other");
        // Smooth curves have no interactions.
        let all = cx.document.roles.predictors.iter();
        let crossed: Vec<&Factor> = all.filter(|factor| !factor.is_smooth()).collect();
        for (i, first) in crossed.iter().enumerate() {
            for second in &crossed[i + 1..] {
                pair_ui(ui, cx, first, second);
            }
        }
    });
}

/// A row that adds the interaction of two predictors, or takes it out.
fn pair_ui(ui: &mut Ui, cx: &mut Context<'_>, first: &Factor, second: &Factor) {
    let is_pair =
        |term: &Vec<Factor>| term.len() == 2 && term.contains(first) && term.contains(second);
    let there = cx.document.roles.interactions.iter().any(is_pair);
    let words = format!("`{} × {}`", first.label(), second.label());
    if menu::item(ui, &words, "", there).clicked() {
        change_roles(cx, |roles| {
            if there {
                roles.interactions.retain(|term| !is_pair(term));
            } else {
                roles.interactions.push(vec![first.clone(), second.clone()]);
            }
        });
    }
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
            cx.out.send(DraftChange::Assign(name, role));
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
pub fn role_menu(button: &Response, cx: &mut Context<'_>, name: &str) {
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
                    cx.out.send(DraftChange::Remove(name.to_owned()));
                }
                continue;
            }
            match cx.view.refusal(cx.data, cx.document, name, role) {
                None => {
                    if menu::item(ui, role.label(), "", false).clicked() {
                        cx.out.send(DraftChange::Assign(name.to_owned(), role));
                    }
                }
                Some(refusal) => refused_ui(ui, cx.out, role.label(), name, role, &now, &refusal),
            }
        }
        let roles = &cx.document.roles;
        let own = (roles.predictors.iter()).find(|factor| factor.column() == name);
        let others = roles.predictors.len().saturating_sub(1);
        if let Some(own) = own
            && roles.response_use != ResponseUse::Absent
            && (1..=2 * MOST_PAIRED).contains(&others)
        {
            menu::separator(ui);
            menu::note(ui, "Its effect depends on");
            for other in roles.predictors.iter().filter(|other| *other != own) {
                pair_ui(ui, cx, own, other);
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
            let command = DraftCommand::Convert(name.to_owned(), conversion.clone(), role);
            out.send(command);
        }
    });
    ui.add_space(t.space.x1);
}
