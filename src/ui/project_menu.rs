//! The project's menu in the top bar, and the question about unsaved changes.

use std::path::Path;

use eframe::egui::{Id, Modal, Ui};

use super::actions::{self, ACTIONS, Action, ActionEntry, Group};
use super::icons;
use super::outbox::Outbox;
use super::panels::{Views, menu};
use super::theme::{Text, tokens};
use super::widgets::{Button, dialog_frame, heading, sentence};
use crate::app::project::Then;
use crate::app::{AppState, DataCommand, ProjectCommand};
use ergodic_core::design::Columns as _;

/// Width of the menu and of the question.
const MENU_WIDTH: f32 = 300.0;
const QUESTION_WIDTH: f32 = 420.0;
/// Recent files in the menu.
const RECENT: usize = 6;
/// Characters of the name in the bar.
const NAME: usize = 28;

/// Name of the project, else of the data; a dot marks unsaved changes of a project.
pub fn title(state: &AppState) -> String {
    let name = state.project_name().or_else(|| {
        let data = state.data.as_ref()?;
        Some(data.loaded.table.name().to_owned())
    });
    let mut name = name.unwrap_or_else(|| "Ergodic".to_owned());
    if name.chars().count() > NAME {
        name = name.chars().take(NAME - 1).collect();
        name.push('…');
    }
    if state.project.is_some() && state.has_unsaved_changes() {
        name.push_str(" •");
    }
    name
}

/// Draws the button with the menu behind it.
pub fn project_menu_ui(ui: &mut Ui, state: &AppState, views: &mut Views, out: &mut Outbox) {
    let name = title(state);
    let button = ui
        .add(Button::new(&name).quiet().trailing(icons::CARET_DOWN))
        .on_hover_text("Project: open, save, recent");
    menu::menu(&button, MENU_WIDTH, |ui| {
        let is_here = |it: &&ActionEntry| it.group == Group::Project || it.action == Action::Help;
        for entry in ACTIONS.iter().filter(is_here) {
            let mut row = menu::item(ui, entry.text, &entry.keys(), false);
            if !entry.about.is_empty() {
                row = row.on_hover_text(entry.about);
            }
            if row.clicked() {
                actions::perform(entry.action, state, views, out);
            }
        }
        let recent = &state.preferences.recent;
        if !recent.is_empty() {
            menu::separator(ui);
        }
        for path in recent.iter().take(RECENT) {
            let name = path
                .file_name()
                .unwrap_or(path.as_os_str())
                .to_string_lossy();
            let folder = path.parent().unwrap_or(Path::new("")).display().to_string();
            if menu::item(ui, &format!("Open `{name}`"), "", false)
                .on_hover_text(folder)
                .clicked()
            {
                out.send(DataCommand::Open(path.clone()));
            }
        }
    });
}

/// Asks what becomes of unsaved changes and running chains, where somebody wants to leave them.
pub fn question_ui(ui: &Ui, state: &AppState, out: &mut Outbox) {
    let Some(then) = &state.asking else { return };
    let t = tokens();
    let unsaved = state.has_unsaved_changes();
    let active = state.active_runs();
    let act = match then {
        Then::Quit => "close the window",
        Then::Open(_) => "open the other project",
        Then::New => "start a new project",
    };
    let stop = if active > 1 {
        "Stop the runs"
    } else {
        "Stop the run"
    };
    let shown = Modal::new(Id::unique("unsaved"))
        .frame(dialog_frame(ui))
        .show(ui.ctx(), |ui| {
            ui.set_width(QUESTION_WIDTH);
            ui.spacing_mut().item_spacing.y = t.space.x2;
            let name = state.project_name();
            heading(
                ui,
                &match (&name, unsaved) {
                    (Some(name), true) => format!("Save changes to `{name}`?"),
                    (None, true) => "Save changes to this project?".to_owned(),
                    _ => format!("{stop} and {act}?"),
                },
            );
            let text = match (active, name.is_none() && state.made_runs() > 0) {
                (0, true) => {
                    "Finished runs stay in their folders; without saving, open them from Recent"
                }
                (0, false) => "Finished runs stay in their folders whatever you choose",
                _ => "Running chains stop; their draws so far are kept in the run folder",
            };
            sentence(ui, text, Text::Body);
            ui.add_space(t.space.x2);
            ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = t.space.x2;
                if unsaved {
                    let save = ui.add(Button::new("Save").primary().icon(icons::FLOPPY_DISK));
                    // Enter saves, unless another button of the question was gone to.
                    let focused = ui.memory(|memory| memory.focused());
                    let focused = focused.and_then(|id| ui.ctx().read_response(id));
                    if focused.is_none_or(|response| response.layer_id != ui.layer_id()) {
                        save.request_focus();
                    }
                    if save.clicked() {
                        out.send(ProjectCommand::Answer { save: true });
                    }
                    if ui.add(Button::new("Do not save").danger()).clicked() {
                        out.send(ProjectCommand::Answer { save: false });
                    }
                } else if ui.add(Button::new(stop).danger()).clicked() {
                    out.send(ProjectCommand::Answer { save: false });
                }
                if ui.add(Button::new("Cancel")).clicked() {
                    out.send(ProjectCommand::CancelQuestion);
                }
            });
        });
    if shown.should_close() {
        out.send(ProjectCommand::CancelQuestion);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::Session;
    use crate::app::{DraftChange, RunCommand};
    use crate::ui::testing::page_harness;
    use egui_kittest::kittest::Queryable as _;
    use ergodic_core::engine::RunSection;

    #[test]
    fn enter_answers_with_the_main_button() {
        let mut session = Session::with_draft("churn");
        session.send(DraftChange::Formula("churned ~ age".to_owned()));
        session.send(ProjectCommand::New);
        let mut harness = page_harness(session, |ui, state, (): &mut (), out| {
            question_ui(ui, state, out);
        });
        harness.run_steps(3);
        harness.key_press(eframe::egui::Key::Enter);
        harness.run_steps(3);
        assert_eq!(
            harness.state().sent,
            [ProjectCommand::Answer { save: true }.into()]
        );
    }

    #[test]
    fn the_question_says_in_plain_words_what_becomes_of_runs() {
        let mut session = Session::with_draft("churn");
        session.send(DraftChange::Run(RunSection {
            chains: 1,
            draws: 1_000_000,
            ..RunSection::default()
        }));
        session.state.history = Default::default();
        session.send(RunCommand::Start);
        session.send(ProjectCommand::New);
        let mut harness = page_harness(session, |ui, state, (): &mut (), out| {
            question_ui(ui, state, out);
        });
        harness.run_steps(3);
        harness.get_by_label("Stop the run and start a new project?");
        harness.get_by_label("Running chains stop; their draws so far are kept in the run folder");
        let session = &mut harness.state_mut().session;
        let id = session.state.runs[0].id;
        session.send(RunCommand::Stop(id));
        session.wait_for_runs();
        harness.run_steps(3);
        harness.get_by_label("Save changes to this project?");
        harness.get_by_label(
            "Finished runs stay in their folders; without saving, open them from Recent",
        );
        harness.get_by_label("Do not save").click();
        harness.run_steps(3);
        assert!(harness.state().session.state.runs.is_empty());
    }
}
