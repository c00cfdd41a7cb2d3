//! The keyboard: reads the shortcuts that [`super::actions`] declares.

use eframe::egui::{self, Event};

use super::actions::{Action, perform, shortcuts};
use super::command_palette::is_typed;
use super::landmarks;
use super::outbox::Outbox;
use super::panels::Views;
use crate::app::{AppState, Page};

/// Reads the keyboard and sends what was asked for. While the palette or a question is open, keys are for it.
pub fn read(ctx: &egui::Context, state: &AppState, views: &mut Views, out: &mut Outbox) {
    let stops = landmarks::take(ctx);
    let asked = state.asking.is_some() || state.typing.is_some();
    if !asked && !views.help && !views.palette.is_open() {
        open_palette(ctx, views);
    }
    let (palette, help) = (views.palette.is_open(), views.help);
    for (shortcut, action) in shortcuts() {
        let is_for_us = match action {
            Action::Zoom(_) => true,
            // What opened something closes it.
            Action::Palette => !asked && !help,
            Action::Help => !asked && !palette,
            // Space pauses only where nothing else takes it.
            Action::PauseResume => {
                !asked
                    && !palette
                    && !help
                    && state.page == Page::Runs
                    && ctx.memory(|memory| memory.focused().is_none())
            }
            _ => !asked && !palette && !help,
        };
        if !is_for_us || !ctx.input_mut(|input| input.consume_shortcut(&shortcut)) {
            continue;
        }
        match action {
            Action::Panel(forward) => landmarks::go(ctx, &stops, forward),
            _ => perform(action, state, views, out),
        }
    }
}

/// Opens the palette if its key was pressed. What was typed after that in the same frame, as slow frames bring it, is for
/// the palette and for nothing else.
fn open_palette(ctx: &egui::Context, views: &mut Views) {
    let typed = ctx.input_mut(|input| {
        let at = input.events.iter().position(opens_palette)?;
        let later = input.events.split_off(at + 1);
        input.events.pop();
        let (typed, others): (Vec<Event>, Vec<Event>) = later.into_iter().partition(is_typed);
        input.events.extend(others);
        Some(typed)
    });
    if let Some(typed) = typed {
        // A menu would stay above it.
        egui::Popup::close_all(ctx);
        views.palette.open_with(typed);
    }
}

fn opens_palette(event: &Event) -> bool {
    let Event::Key {
        key,
        pressed: true,
        modifiers,
        ..
    } = event
    else {
        return false;
    };
    shortcuts().iter().any(|(shortcut, action)| {
        *action == Action::Palette
            && shortcut.logical_key == *key
            && modifiers.matches_logically(shortcut.modifiers)
    })
}
