//! Columns that have a role, as cards: how they enter the model, and what can be changed about that.

use eframe::egui::{Align, Frame, Layout, Margin, Sense, Stroke, Ui, WidgetInfo, vec2};

use super::drag;
use super::role_menus::role_menu;
use super::roles::{Context, change_roles};
use crate::app::DraftChange;
use crate::ui::icons;
use crate::ui::panels::{columns, menu};
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::{Button, Chip, column_name, hint, number, paint, sentence_line};
use ergodic_core::design::lump_levels::OTHER;
use ergodic_core::design::terms::MAX_LEVELS;
use ergodic_core::design::{ColumnKind, ResponseUse};
use ergodic_core::formula::{Elementwise, Factor, Function, SMOOTH_K, quote_term};
use ergodic_core::models::names;
use ergodic_data::Role;

/// Numbers of frequent values that can be kept.
const TOPS: [usize; 5] = [5, 10, 20, 50, 100];

/// A line with a term that is not a plain column and the button that removes it; whether that was clicked.
pub fn term_ui(ui: &mut Ui, icon: char, term: &[Factor]) -> bool {
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
pub fn shape_ui(ui: &mut Ui, cx: &mut Context<'_>, i: usize) {
    /// Degrees of freedom of a curve that is not asked for exactly.
    const CURVE: u32 = 4;
    /// Different values from which a curve whose wiggliness is estimated has something to go by.
    const LEAST_SMOOTH: u32 = 5;
    let Some(factor) = cx.document.roles.predictors.get(i) else {
        return;
    };
    let column = Factor::Column(factor.column().to_owned());
    let distinct = cx
        .column(factor.column())
        .1
        .map_or(0, |profile| profile.num_distinct);
    // As wide a basis as the values allow, up to the usual one; models without an outcome, or of levels without an order, have no curves.
    let k = (SMOOTH_K as usize).min(distinct) as u32;
    let has_curves = !matches!(
        cx.document.roles.response_use,
        ResponseUse::Absent | ResponseUse::Unordered | ResponseUse::Categories
    );
    let smooth = k >= LEAST_SMOOTH && has_curves;
    let shapes = [
        (names::LINEAR, None),
        ("logarithm", Some(Function::Elementwise(Elementwise::Log))),
        (
            "quadratic",
            Some(Function::Poly {
                degree: 2,
                raw: false,
            }),
        ),
        ("spline", Some(Function::Natural { df: CURVE })),
        ("smooth curve", Some(Function::Smooth { k })),
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
    let shapes: Vec<_> = (shapes.iter())
        .filter(|(_, shape)| smooth || !shape.is_smooth())
        .collect();
    let label = format!("Shape of {}", factor.column());
    let chip = ui
        .add(Chip::choice(word).named(&label))
        .on_hover_text("How its effect may bend; the formula takes other functions too");
    menu::menu(&chip, menu::NORMAL, |ui| {
        for (word, shape) in shapes.iter().copied() {
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
                cx.out.send(DraftChange::TopLevels(name.to_owned(), top));
            }
        }
    });
}

/// Below a column that is predictor `i`: its reference level, or whether a number is a category and how it enters.
pub fn predictor_ui(ui: &mut Ui, cx: &mut Context<'_>, i: usize, name: &str) {
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
                        let command = DraftChange::Reference(name.to_owned(), level.clone());
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
                let command = DraftChange::Categorical(name.to_owned(), !categorical);
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
/// A column with a role: icon, name, menu, remove, and what the role adds below.
/// `place` names its section.
pub fn card_ui(
    ui: &mut Ui,
    cx: &mut Context<'_>,
    place: &str,
    name: &str,
    below: impl FnOnce(&mut Ui, &mut Context<'_>),
) {
    drag::source(ui, place, name, |ui| {
        frame(ui, |ui| inside_ui(ui, cx, name, below));
    });
}

fn inside_ui(
    ui: &mut Ui,
    cx: &mut Context<'_>,
    name: &str,
    below: impl FnOnce(&mut Ui, &mut Context<'_>),
) {
    let t = tokens();
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
                cx.out.send(DraftChange::Remove(name.to_owned()));
            }
            let label = format!("Role of {name}");
            let change = ui.add(Button::icon_only(icons::DOTS_THREE, &label).small());
            role_menu(&change, cx, name);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                column_name(ui, name, Text::Body);
                range_ui(ui, cx, name);
            });
        });
    });
    ui.horizontal(|ui| {
        ui.add_space(t.icon.small);
        ui.vertical(|ui| below(ui, cx));
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

/// A card in the panel.
pub fn frame(ui: &mut Ui, contents: impl FnOnce(&mut Ui)) {
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

/// A sentence below the head of a section.
pub fn note_ui(ui: &mut Ui, text: &str) {
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
