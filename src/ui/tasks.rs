//! What goes on in the background: the words for it, and the list of everything that does.

use eframe::egui::{Popup, PopupCloseBehavior, Sense, Ui, vec2};

use super::icons;
use super::outbox::Outbox;
use super::panels::page::PROGRESS_TIME;
use super::theme::{Palette, Text, tokens};
use super::widgets::{Button, number, progress, sentence_line};
use crate::app::tasks::Running;
use crate::app::{AppState, NoticeCommand};
use ergodic_base::Control;
use std::time::Duration;

/// Work that ends sooner needs no words.
const UNTOLD: Duration = Duration::from_millis(500);
/// Width of the list.
const WIDTH: f32 = 360.0;

/// What work does now, how far it is, and how long that still takes.
pub fn words(control: &Control, secs_left: Option<f64>) -> String {
    let stage = control.stage();
    let mut letters = stage.chars();
    let mut text: String = match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => return "Starting".to_owned(),
    };
    match (control.fraction(), control.counted()) {
        (Some(share), _) => text += &format!(", {}", number::percent(share, 1)),
        (None, 0) => {}
        (None, counted) => text += &format!(", {}", number::integer(counted)),
    }
    text + &left(secs_left)
}

/// ", about 5 s left", once that can be told.
pub fn left(secs: Option<f64>) -> String {
    secs.map_or_else(String::new, |secs| {
        format!(", {} left", number::about(secs))
    })
}

/// The button that says how much goes on, and opens the list of it; nothing while nothing does.
pub fn tasks_ui(ui: &mut Ui, state: &AppState, out: &mut Outbox) {
    let running = state.tasks.running().iter();
    let shown: Vec<&Running> = running.filter(|task| task.elapsed() >= UNTOLD).collect();
    if shown.is_empty() {
        return;
    }
    ui.ctx().request_repaint_after(PROGRESS_TIME);
    let text = match shown.len() {
        1 => "1 task".to_owned(),
        count => format!("{count} tasks"),
    };
    let button = ui.add(
        Button::new(&text)
            .icon(icons::HOURGLASS_MEDIUM)
            .small()
            .quiet(),
    );
    Popup::menu(&button.on_hover_text("What goes on in the background"))
        .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
        .width(WIDTH)
        .show(|ui| {
            ui.spacing_mut().item_spacing.y = tokens().space.x2;
            for task in shown {
                task_ui(ui, task, out);
            }
        });
}

fn task_ui(ui: &mut Ui, task: &Running, out: &mut Outbox) {
    let control = task.control();
    ui.horizontal(|ui| {
        ui.vertical(|ui| {
            ui.set_width(WIDTH - 90.0);
            sentence_line(ui, &task.title, Text::Body, false);
            let facts = if control.is_cancelled() {
                "Stopping".to_owned()
            } else {
                words(control, task.secs_left())
            };
            sentence_line(ui, &facts, Text::Caption, true);
        });
        let can = task.can_be_cancelled && !control.is_cancelled();
        let cancel = ui.add_enabled(can, Button::new("Cancel").small());
        if cancel
            .on_disabled_hover_text("What is being saved arrives in any case")
            .clicked()
        {
            out.send(NoticeCommand::CancelTask(task.id));
        }
    });
    if let Some(share) = control.fraction() {
        let size = vec2(ui.available_width(), tokens().size.progress_line);
        let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
        progress::bar(ui, rect, share as f32, Palette::of(ui).accent);
    }
}

#[cfg(test)]
mod tests {
    use egui_kittest::kittest::Queryable as _;

    use super::*;
    use crate::app::DraftCommand;
    use crate::app::testing::Session;
    use crate::ui::shell::window_ui;
    use crate::ui::testing::page_harness;

    #[test]
    fn what_goes_on_is_listed_on_every_page_and_can_be_cancelled_there() {
        let mut session = Session::with_draft("churn");
        let work = session.begin(DraftCommand::Advise).remove(0);
        let id = session.state.tasks.running()[0].id;
        let mut harness = page_harness(session, window_ui);
        std::thread::sleep(UNTOLD);
        harness.run_steps(2);
        harness.get_by_label("1 task").click();
        harness.run_steps(3);
        harness.get_by_label("Ranking samplers");
        harness.get_by_label("Starting");
        let cancel: Vec<_> = harness.query_all_by_label("Cancel").collect();
        // The page has a button of its own, below the list.
        cancel[cancel.len() - 1].click();
        harness.run_steps(3);
        assert!(harness.state().has_sent(NoticeCommand::CancelTask(id)));
        harness.get_by_label("Stopping");
        harness.state_mut().session.end(work());
        harness.run_steps(3);
        assert!(harness.query_by_label("1 task").is_none());
        assert!(harness.state().session.state.advice.is_idle());
    }

    #[test]
    fn words_say_what_is_done_how_far_and_how_long() {
        let control = Control::default();
        assert_eq!(words(&control, None), "Starting");
        control.enter("running trials");
        assert_eq!(words(&control, None), "Running trials");
        control.count(3);
        assert_eq!(words(&control, None), "Running trials, 3");
        control.expect(4);
        control.advance(1);
        let all = words(&control, Some(90.0));
        assert!(
            all.starts_with("Running trials, 25") && all.ends_with(" left"),
            "{all}"
        );
    }
}
