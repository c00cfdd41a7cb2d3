//! The model page: what explains what, in roles, in words and as a formula, and what is believed beforehand.

use eframe::egui::{
    Align, CentralPanel, Frame, Layout, Margin, Panel, Rect, ScrollArea, Sense, Ui, vec2,
};
use ergodic_analysis::templates;

use super::page::{page_head, problem_banner, remark, severity_icon};
use crate::app::prior_preview::PriorPreview;
use crate::app::{
    AppState, Command, DataState, Depth, Document, DraftChange, DraftCommand, ModelCheck, Page,
    PathCommand, QuickFix, RunCommand,
};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::panels::menu;
use crate::ui::panels::sampler::form::{FormView, Owner, Usual, setting_ui};
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::button::link;
use crate::ui::widgets::{
    Button, Chip, Field, empty_state, heading, hint, inset, number, paint, sentence,
};
use ergodic_base::Severity;
use ergodic_core::design::{Columns as _, ResponseUse};

mod cards;
mod drag;
mod gallery;
mod groups;
mod prior_preview;
mod priors;
mod program;
mod question;
mod role_menus;
mod roles;
mod translation;
mod words;

/// Width of the panel with the roles.
const ROLES_WIDTH: f32 = 264.0;
/// Width of the panel with the response and the remarks.
const REMARKS_WIDTH: f32 = 288.0;

/// What the page keeps for itself.
#[derive(Default)]
pub struct ModelView {
    translation: translation::TranslationView,
    formula: String,
    /// The draft's formula that `formula` was last set from.
    shown: String,
    priors: priors::PriorsView,
    program: program::ProgramView,
    question: question::QuestionView,
    roles: roles::RolesView,
    settings: FormView,
    /// Whether the sentence about the model names all predictors, however many.
    all_words: bool,
}

impl ModelView {
    /// What is wrong with a formula that is typed and not yet in the draft.
    fn formula_error(&self) -> Option<String> {
        let is_typed = self.formula != self.shown;
        let read = is_typed.then(|| self.formula.parse::<ergodic_core::formula::Formula>());
        Some(read?.err()?.to_string())
    }
}

/// Draws the page.
pub fn model_ui(ui: &mut Ui, state: &AppState, view: &mut ModelView, out: &mut Outbox) {
    let t = tokens();
    let p = Palette::of(ui);
    problem_banner(ui, state, out);
    let (Some(data), Some(document)) = (&state.data, &state.document) else {
        CentralPanel::default()
            .frame(Frame::NONE.fill(p.bg_app))
            .show(ui, |ui| {
                let (text, act) = if state.data.is_some() {
                    ("Import the table, then choose an outcome", "Go to the data")
                } else {
                    ("Open a table, then choose an outcome", "Open data")
                };
                if empty_state(ui, icons::FUNCTION, text, Some(act)) {
                    out.send(if state.data.is_some() {
                        Command::GoTo(Page::Data)
                    } else {
                        PathCommand::PickOpen.into()
                    });
                }
            });
        return;
    };
    if document.recipe.model.formula != view.shown {
        view.shown.clone_from(&document.recipe.model.formula);
        view.formula.clone_from(&view.shown);
    }
    let check = state.check.as_deref();
    let typed_error = if document.is_text() {
        let error = view.program.error(data, document);
        error.map(|error| error.to_string())
    } else {
        view.formula_error()
    };
    let is_wrong = typed_error.is_some();
    head_ui(ui, state, (document, check), typed_error, out);
    let side = |margin: i8| {
        Frame::NONE
            .fill(p.bg_panel)
            .inner_margin(Margin::symmetric(margin, 0))
    };
    Panel::left("roles")
        .exact_size(ROLES_WIDTH)
        .frame(side(0))
        .show(ui, |ui| {
            let guessed = !state.history.can_undo();
            roles::roles_ui(ui, data, document, check, &mut view.roles, (guessed, out));
        });
    Panel::right("model-remarks")
        .exact_size(REMARKS_WIDTH)
        .frame(side(0))
        .show(ui, |ui| {
            let shown = (check, state.preview.as_ref());
            remarks_ui(ui, document, shown, out);
        });
    let is_open = asks(document);
    CentralPanel::default()
        .frame(Frame::NONE.fill(p.bg_surface))
        .show(ui, |ui| {
            ScrollArea::vertical()
                .auto_shrink([false, false])
                .show(ui, |ui| {
                    ui.spacing_mut().item_spacing.y = 0.0;
                    Frame::NONE
                        .inner_margin(Margin::same(t.space.x4 as i8))
                        .show(ui, |ui| {
                            center_ui(ui, state, data, document, check, view, out);
                            if !is_open && !document.is_text() {
                                settings_ui(ui, document, check, &mut view.settings, out);
                            }
                        });
                    if is_open {
                        return;
                    }
                    if !document.is_text() {
                        priors::priors_ui(ui, state, document, check, &mut view.priors, out);
                    }
                    // Translations are of the draft, which does not have a wrong text yet.
                    if state.preferences.depth == Depth::Verdict || document.is_text() && is_wrong {
                        return;
                    }
                    Frame::NONE
                        .inner_margin(Margin::same(t.space.x4 as i8))
                        .show(ui, |ui| {
                            translation::translation_ui(ui, document, check, &mut view.translation);
                        });
                });
        });
}

/// Whether nobody has said yet what is explained.
fn asks(document: &Document) -> bool {
    let roles = &document.roles;
    roles.response.is_none()
        && roles.response_use != ResponseUse::Absent
        && document.formula_error.is_none()
}

/// Why the draft cannot be run, if it cannot.
fn obstacle(state: &AppState, document: &Document, check: Option<&ModelCheck>) -> Option<String> {
    if let Some(error) = &document.formula_error {
        return Some(error.clone());
    }
    if document.recipe.model.formula.is_empty() {
        return Some("Choose what is to be explained first".to_owned());
    }
    if state.loading.is_some() {
        return Some("Wait until the file is read".to_owned());
    }
    check.and_then(|check| check.error.clone())
}

fn head_ui(
    ui: &mut Ui,
    state: &AppState,
    (document, check): (&Document, Option<&ModelCheck>),
    typed_error: Option<String>,
    out: &mut Outbox,
) {
    let template = &document.recipe.model.template;
    let spec = templates::find(template).map(|entry| &entry.spec);
    let (title, about) = spec.map_or((template.as_str(), ""), |spec| (spec.title, spec.about));
    let facts = match check {
        _ if asks(document) => "The outcome decides the kind of model".to_owned(),
        Some(check) if check.error.is_none() && document.recipe.is_without_data() => {
            format!("No data needed · {about}")
        }
        Some(check) if check.error.is_none() => {
            let (used, total) = check.rows;
            let about = match &check.chosen {
                Some(reason) => format!("Chosen because {reason}"),
                None => about.to_owned(),
            };
            format!(
                "{} of {} rows used · {about}",
                number::integer(used as u64),
                number::integer(total as u64)
            )
        }
        Some(_) => format!("Not complete yet · {about}"),
        None => about.to_owned(),
    };
    let title = if asks(document) { "Model" } else { title };
    page_head(ui, icons::FUNCTION, title, &facts, |ui| {
        let obstacle = typed_error.or_else(|| obstacle(state, document, check));
        let why = obstacle.as_deref().unwrap_or_default();
        let next = Button::new("Choose sampler")
            .primary()
            .trailing(icons::ARROW_RIGHT);
        if ui
            .add_enabled(obstacle.is_none(), next)
            .on_disabled_hover_text(why)
            .clicked()
        {
            out.send(Command::GoTo(Page::Sampler));
        }
        let run = Button::new("Run").icon_fill(icons::PLAY);
        if ui
            .add_enabled(obstacle.is_none(), run)
            .on_hover_text("Run with the sampler and settings of the draft (Ctrl Enter)")
            .on_disabled_hover_text(why)
            .clicked()
        {
            out.send(RunCommand::Start);
        }
        ui.add_space(tokens().space.x2);
        let redo = Button::icon_only(icons::ARROW_CLOCKWISE, "Redo");
        if ui
            .add_enabled(state.history.can_redo(), redo)
            .on_disabled_hover_text("Nothing was taken back")
            .clicked()
        {
            out.send(DraftCommand::Redo);
        }
        let undo = Button::icon_only(icons::ARROW_COUNTER_CLOCKWISE, "Undo");
        if ui
            .add_enabled(state.history.can_undo(), undo)
            .on_disabled_hover_text("Nothing was changed yet")
            .clicked()
        {
            out.send(DraftCommand::Undo);
        }
    });
}

fn center_ui(
    ui: &mut Ui,
    state: &AppState,
    data: &DataState,
    document: &Document,
    check: Option<&ModelCheck>,
    view: &mut ModelView,
    out: &mut Outbox,
) {
    let t = tokens();
    let p = Palette::of(ui);
    ui.spacing_mut().item_spacing.y = t.space.x2;
    let is_open = asks(document);
    if document.is_text() {
        let beside = |ui: &mut Ui, out: &mut Outbox| template_ui(ui, document, out);
        let program = &mut view.program;
        let is_sound = program::program_ui(ui, data, document, check, program, out, beside);
        // What is wrong stands below the text, and is mended there; what is known of a text says nothing of the next one.
        let has_rows = !document.recipe.is_without_data();
        if is_sound && has_rows && check.is_none_or(|check| check.error.is_none()) {
            state_ui(ui, state, data, document, check, out);
        }
        return;
    }
    if is_open {
        question::question_ui(ui, data, &mut view.question, out);
        ui.add_space(t.space.x2);
        question::or_ui(ui, |ui| template_ui(ui, document, out));
    } else {
        ui.horizontal(|ui| {
            let label = ui.label(Text::Label.rich("Model in words", p.text_primary));
            label.widget_info(|| {
                eframe::egui::WidgetInfo::labeled(
                    eframe::egui::Role::Heading,
                    true,
                    "Model in words",
                )
            });
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                template_ui(ui, document, out);
            });
        });
        words_ui(ui, document, check, &mut view.all_words);
    }
    let typed = view.formula_error();
    let error = match &typed {
        Some(error) => Some(error.as_str()),
        None if view.formula == view.shown => document.formula_error.as_deref(),
        None => None,
    };
    let field = Field::new("Formula", &mut view.formula)
        .label_hidden()
        .hint("outcome ~ predictor + predictor")
        .icon(icons::FUNCTION)
        .mono()
        .error(error)
        .width(ui.available_width())
        .show(ui);
    if view.formula != view.shown {
        let change = DraftChange::Formula(view.formula.clone());
        out.typed(change, field.committed || field.restored);
    }
    if !is_open {
        state_ui(ui, state, data, document, check, out);
    }
}

/// The draft as sentences; of very many predictors only the first few, until all are asked for.
fn words_ui(ui: &mut Ui, document: &Document, check: Option<&ModelCheck>, all: &mut bool) {
    let roles = &document.roles;
    let count = roles.predictors.len() + roles.interactions.len();
    let most = if *all { usize::MAX } else { words::MOST_NAMED };
    let text = words::in_words(document, check, most);
    if count <= words::MOST_NAMED + 1 {
        sentence(ui, &text, Text::Body);
        return;
    }
    // However long, the formula stays in sight.
    ScrollArea::vertical()
        .id_salt("all words")
        .max_height(8.0 * Text::Body.line())
        .show(ui, |ui| sentence(ui, &text, Text::Body));
    let word = if *all {
        "Name only the first".to_owned()
    } else {
        format!("Name all {}", number::integer(count as u64))
    };
    if link(ui, &word).clicked() {
        *all = !*all;
    }
}

/// The chip that names the template, with the others in its menu.
fn template_ui(ui: &mut Ui, document: &Document, out: &mut Outbox) {
    let chosen = &document.recipe.model.template;
    let title = templates::find(chosen).map_or(chosen.as_str(), |entry| entry.spec.title);
    let chip = ui
        .add(Chip::choice(title).named("Template"))
        .on_hover_text("The kind of model");
    menu::menu(&chip, menu::WIDE, |ui| {
        let mut group = "";
        for entry in templates::all() {
            if entry.group != group {
                if !group.is_empty() {
                    ui.add_space(tokens().space.x1);
                }
                menu::note(ui, entry.group);
                group = entry.group;
            }
            let is_chosen = entry.spec.id == chosen;
            let item = menu::item(ui, entry.spec.title, "", is_chosen);
            if item.on_hover_text(entry.spec.about).clicked() && !is_chosen {
                out.send(DraftChange::Template(entry.spec.id.to_owned()));
            }
        }
    });
}

/// The template's own settings, if it has any.
fn settings_ui(
    ui: &mut Ui,
    document: &Document,
    check: Option<&ModelCheck>,
    view: &mut FormView,
    out: &mut Outbox,
) {
    let model = &document.recipe.model;
    let Ok(entry) = templates::find(&model.template) else {
        return;
    };
    // What the outcome asks for is the default that it makes sense to go back to.
    let family = check.and_then(|check| check.family.as_ref());
    let owner = Owner {
        id: entry.spec.id,
        section: "model",
        settings: &model.settings,
        send: DraftChange::ModelSetting,
        refuse: &|_| None,
        usual: family.map(|(family, why)| Usual {
            key: "family",
            value: family.id().into(),
            why: why.clone(),
        }),
    };
    let shown = (entry.spec.fields.iter())
        .filter(|field| field.is_shown(owner.settings, entry.spec.fields));
    for field in shown {
        setting_ui(ui, &owner, field, view, out);
    }
}

/// One line below the formula: being checked, refused, or what is used.
fn state_ui(
    ui: &mut Ui,
    state: &AppState,
    data: &DataState,
    document: &Document,
    check: Option<&ModelCheck>,
    out: &mut Outbox,
) {
    let t = tokens();
    let p = Palette::of(ui);
    if document.formula_error.is_some() {
        // The sentence stands below the field.
        return;
    }
    few_rows_ui(ui, data, document);
    let Some(check) = check.filter(|_| state.checking.is_none()) else {
        hint(ui, "The model is being checked");
        return;
    };
    ui.horizontal_top(|ui| match &check.error {
        Some(error) => {
            // A draft without an outcome is not wrong, only not complete.
            let begun = !document.recipe.model.formula.is_empty();
            let severity = if begun { Severity::Bad } else { Severity::Info };
            severity_icon(ui, severity);
            sentence(ui, error, Text::Body);
        }
        None => {
            let (icon, color, words) = match check.warnings.len() {
                0 => (icons::CHECK_CIRCLE, p.good, String::new()),
                1 => (
                    icons::INFO,
                    p.text_secondary,
                    "; one remark at the right".to_owned(),
                ),
                n => (
                    icons::INFO,
                    p.text_secondary,
                    format!("; {n} remarks at the right"),
                ),
            };
            let (rect, _) =
                ui.allocate_exact_size(vec2(t.icon.medium, Text::Body.line()), Sense::hover());
            let filled = check.warnings.is_empty();
            icons::paint(
                ui.painter(),
                rect.center(),
                icon,
                t.icon.small,
                filled,
                color,
            );
            sentence(
                ui,
                &format!("{}{words}", words::rows_used(check)),
                Text::Number,
            );
        }
    });
    quick_fixes_ui(ui, &check.ways_out, out);
}

/// Says at once, without waiting for the check, that there are more coefficients than rows.
fn few_rows_ui(ui: &mut Ui, data: &DataState, document: &Document) {
    let roles = &document.roles;
    let rows = data.loaded.table.num_rows();
    // Categories have more than one each.
    let count = roles.predictors.len() + roles.interactions.len() + usize::from(roles.intercept);
    if roles.response.is_none() || count <= rows {
        return;
    }
    ui.horizontal_top(|ui| {
        severity_icon(ui, Severity::Watch);
        let text = format!(
            "{} coefficients but only {} rows, so the prior decides about many of them",
            number::integer(count as u64),
            number::integer(rows as u64)
        );
        sentence(ui, &text, Text::Body);
    });
}

/// Buttons that do what a sentence above them advises.
fn quick_fixes_ui(ui: &mut Ui, fixes: &[QuickFix], out: &mut Outbox) {
    if fixes.is_empty() {
        return;
    }
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.y = tokens().space.x2;
        let width = ui.max_rect().width();
        for fix in fixes {
            let button = Button::new(&fix.label).small().max_width(width);
            if ui.add(button).clicked() {
                for command in &fix.commands {
                    out.send(command.clone());
                }
            }
        }
    });
}

/// The right panel: what the priors expect, how often each value of the response occurs, and the remarks.
fn remarks_ui(
    ui: &mut Ui,
    document: &Document,
    shown: (Option<&ModelCheck>, Option<&PriorPreview>),
    out: &mut Outbox,
) {
    let t = tokens();
    ScrollArea::vertical()
        .auto_shrink([false, false])
        .show(ui, |ui| {
            // The inset is inside, so that the scroll bar stands in it and not over the ends of lines.
            inset(ui, [t.space.x4, 0.0], |ui| {
                remarks_inside(ui, document, shown, out);
            });
        });
}

fn remarks_inside(
    ui: &mut Ui,
    document: &Document,
    (check, preview): (Option<&ModelCheck>, Option<&PriorPreview>),
    out: &mut Outbox,
) {
    let t = tokens();
    ui.spacing_mut().item_spacing.y = t.space.x3;
    ui.add_space(t.space.x3);
    let Some(check) = check else {
        heading(ui, "Outcome");
        hint(ui, "It is described here once the model is checked");
        return;
    };
    prior_preview::prior_preview_ui(ui, check, preview, out);
    if !check.response_levels.is_empty() {
        ui.separator();
        heading(ui, "Outcome");
        response_ui(ui, check);
    }
    let is_clear = check.error.is_none() && check.warnings.is_empty();
    if is_clear && document.recipe.is_without_data() {
        return;
    }
    ui.separator();
    heading(ui, "Remarks");
    for (i, warning) in check.warnings.iter().enumerate() {
        if i > 0 {
            ui.separator();
        }
        remark(ui, warning);
        quick_fixes_ui(ui, check.quick_fixes.get(i).map_or(&[], Vec::as_slice), out);
    }
    if check.error.is_some() {
        hint(ui, "The data are checked once the model is complete");
    } else if is_clear {
        ui.horizontal_top(|ui| {
            let p = Palette::of(ui);
            let size = vec2(t.icon.medium, Text::Body.line());
            let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
            let (painter, center) = (ui.painter(), rect.center());
            icons::paint(
                painter,
                center,
                icons::CHECK_CIRCLE,
                t.icon.small,
                true,
                p.good,
            );
            let text = "No constant, separating or nearly redundant predictor was found";
            sentence(ui, text, Text::Body);
        });
    }
    ui.add_space(t.space.x4);
}

/// A bar per value of the response, success in the accent.
fn response_ui(ui: &mut Ui, check: &ModelCheck) {
    let t = tokens();
    let p = Palette::of(ui);
    let total: usize = check.response_levels.iter().map(|(_, count)| count).sum();
    let last = check.response_levels.len() - 1;
    for (i, (level, count)) in check.response_levels.iter().enumerate().rev() {
        let share = *count as f64 / total.max(1) as f64;
        let height = Text::Number.line() + t.space.x1 + 6.0;
        let (rect, response) =
            ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::hover());
        let success = i == last && check.has_success;
        let word = if success {
            format!("`{level}` (success)")
        } else {
            format!("`{level}`")
        };
        let fact = format!(
            "{} · {}",
            number::integer(*count as u64),
            number::percent(share, total as u64)
        );
        response.widget_info(|| {
            let label = format!("{}: {fact}", paint::words(&word));
            eframe::egui::WidgetInfo::labeled(eframe::egui::Role::Label, true, label)
        });
        let y = rect.top() + Text::Number.line() / 2.0;
        let fact = paint::line(ui, &fact, Text::Number, p.text_secondary, rect.width());
        let right = paint::right_center(ui.painter(), rect.right(), y, fact).left();
        let room = right - rect.left() - t.space.x2;
        let word = paint::line(ui, &word, Text::Number, p.text_primary, room);
        paint::left_center(ui.painter(), rect.left(), y, word);
        let bar = Rect::from_min_max(rect.left_bottom() - vec2(0.0, 6.0), rect.right_bottom());
        let color = if success { p.accent } else { p.border_strong };
        crate::ui::widgets::progress::bar(ui, bar, share as f32, color);
    }
    ui.with_layout(Layout::top_down(Align::Min), |ui| {
        hint(ui, &format!("{} in all", number::integer(total as u64)));
    });
}

#[cfg(test)]
mod tests;
