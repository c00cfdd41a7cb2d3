//! The dialog for the name and the note of a run.

use eframe::egui::{Id, Key, Modal, Ui};

use super::icons;
use super::outbox::Outbox;
use super::theme::tokens;
use super::widgets::{Button, Field, dialog_frame, heading};
use crate::app::{AppState, RunCommand};

/// Width of the dialog.
const WIDTH: f32 = 420.0;

/// What the dialog keeps.
#[derive(Debug, Default)]
pub struct RunNameView {
    /// The run that the texts are of.
    of: Option<u64>,
    name: String,
    note: String,
}

/// Shows the dialog while a run is being named.
pub fn run_name_ui(ui: &Ui, state: &AppState, view: &mut RunNameView, out: &mut Outbox) {
    let Some(entry) = state.naming.and_then(|id| state.run(id)) else {
        view.of = None;
        return;
    };
    if view.of != Some(entry.id) {
        *view = RunNameView {
            of: Some(entry.id),
            name: entry.label.name.clone().unwrap_or_default(),
            note: entry.label.note.clone().unwrap_or_default(),
        };
    }
    let t = tokens();
    let shown = Modal::new(Id::unique("run name"))
        .frame(dialog_frame(ui))
        .show(ui.ctx(), |ui| {
            ui.set_width(WIDTH);
            ui.spacing_mut().item_spacing.y = t.space.x2;
            heading(ui, &format!("Name and note of Run {}", entry.number));
            // Before the fields, which give their focus away with Enter.
            let entered = ui.input(|input| input.key_pressed(Key::Enter));
            Field::new("Name", &mut view.name).focused().show(ui);
            Field::new("Note", &mut view.note).show(ui);
            ui.add_space(t.space.x1);
            ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = t.space.x2;
                let keep = Button::new("Keep").primary().icon(icons::CHECK);
                if entered || ui.add(keep).clicked() {
                    let (name, note) = (view.name.clone(), view.note.clone());
                    out.send(RunCommand::Name(entry.id, name, note));
                }
                if ui.add(Button::new("Cancel")).clicked() {
                    out.send(RunCommand::AskName(None));
                }
            });
        });
    if shown.should_close() {
        out.send(RunCommand::AskName(None));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::Session;
    use crate::ui::testing::page_harness;
    use egui_kittest::kittest::Queryable as _;

    #[test]
    fn a_run_is_named_by_enter_and_left_as_it_was_by_escape() {
        let (mut session, id) = Session::with_run("churn");
        session.send(RunCommand::AskName(Some(id)));
        let mut harness = page_harness(session, |ui, state, view: &mut RunNameView, out| {
            run_name_ui(ui, state, view, out);
        });
        harness.run_steps(3);
        harness.get_by_label("Name and note of Run 1");
        harness.state_mut().view.name = "pilot".to_owned();
        harness.key_press(Key::Enter);
        harness.run_steps(3);
        let state = &mut harness.state_mut().session;
        assert_eq!(state.state.runs[0].title(), "Run 1 (pilot)");
        assert_eq!(state.state.naming, None);
        state.send(RunCommand::AskName(Some(id)));
        harness.run_steps(3);
        assert_eq!(harness.state().view.name, "pilot");
        harness.state_mut().view.name = "other".to_owned();
        harness.key_press(Key::Escape);
        harness.run_steps(3);
        let state = &harness.state().session.state;
        assert_eq!(state.runs[0].title(), "Run 1 (pilot)");
        assert_eq!(state.naming, None);
    }
}
