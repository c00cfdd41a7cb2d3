//! The keyboard: one table of shortcuts, which the palette and tooltips read too.

use eframe::egui::{self, Event, Key, KeyboardShortcut, Modifiers};

use super::command_palette::is_typed;
use super::outbox::Outbox;
use super::panels::Views;
use super::panels::runs::PaneEntry;
use super::{landmarks, theme};
use crate::app::{AppState, Command, Depth, Page};

/// What a shortcut does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Open the command palette.
    Palette,
    /// Open a file.
    Open,
    /// Start a run of the draft.
    Run,
    /// Pause or resume the run shown.
    PauseResume,
    /// Stop the run shown and keep its draws.
    Stop,
    /// Export the draws of the run shown.
    Export,
    /// Save the project.
    Save,
    /// Save the project elsewhere.
    SaveAs,
    /// Save the draft as a recipe.
    SaveRecipe,
    /// Take back the last change of the draft.
    Undo,
    /// Make it again.
    Redo,
    /// Show or hide the panel at the left.
    LeftPanel,
    /// Show or hide the panel at the bottom.
    BottomPanel,
    /// Filter the variables of the table.
    FilterVariables,
    /// Give the focus to the next panel, or to the one before.
    Panel(bool),
    /// Put all panels back to where they were at first.
    ResetLayout,
    /// Bring a pane of the run shown to the front.
    Pane(&'static PaneEntry),
    /// Show a page.
    GoTo(Page),
    /// Show more or less.
    Depth(Depth),
    /// Make everything larger, smaller, or normal.
    Zoom(i8),
}

const CTRL: Modifiers = Modifiers::COMMAND;
const CTRL_SHIFT: Modifiers = Modifiers::COMMAND.plus(Modifiers::SHIFT);
const CTRL_ALT: Modifiers = Modifiers::COMMAND.plus(Modifiers::ALT);

/// All shortcuts. Longer combinations come first, because egui accepts extra modifiers.
pub const TABLE: &[(KeyboardShortcut, Act)] = &[
    (KeyboardShortcut::new(CTRL_SHIFT, Key::Z), Act::Redo),
    (KeyboardShortcut::new(CTRL_SHIFT, Key::S), Act::SaveAs),
    (
        KeyboardShortcut::new(CTRL_ALT, Key::Num1),
        Act::Depth(Depth::Verdict),
    ),
    (
        KeyboardShortcut::new(CTRL_ALT, Key::Num2),
        Act::Depth(Depth::Standard),
    ),
    (
        KeyboardShortcut::new(CTRL_ALT, Key::Num3),
        Act::Depth(Depth::Everything),
    ),
    (KeyboardShortcut::new(CTRL, Key::P), Act::Palette),
    (KeyboardShortcut::new(CTRL, Key::O), Act::Open),
    (KeyboardShortcut::new(CTRL, Key::Enter), Act::Run),
    (KeyboardShortcut::new(CTRL, Key::Period), Act::Stop),
    (KeyboardShortcut::new(CTRL, Key::E), Act::Export),
    (KeyboardShortcut::new(CTRL, Key::S), Act::Save),
    (KeyboardShortcut::new(CTRL, Key::Z), Act::Undo),
    (KeyboardShortcut::new(CTRL, Key::Y), Act::Redo),
    (
        KeyboardShortcut::new(CTRL, Key::Num1),
        Act::GoTo(Page::Data),
    ),
    (
        KeyboardShortcut::new(CTRL, Key::Num2),
        Act::GoTo(Page::Model),
    ),
    (
        KeyboardShortcut::new(CTRL, Key::Num3),
        Act::GoTo(Page::Sampler),
    ),
    (
        KeyboardShortcut::new(CTRL, Key::Num4),
        Act::GoTo(Page::Runs),
    ),
    (KeyboardShortcut::new(CTRL, Key::B), Act::LeftPanel),
    (KeyboardShortcut::new(CTRL, Key::J), Act::BottomPanel),
    (KeyboardShortcut::new(CTRL, Key::F), Act::FilterVariables),
    (
        KeyboardShortcut::new(Modifiers::SHIFT, Key::F6),
        Act::Panel(false),
    ),
    (
        KeyboardShortcut::new(Modifiers::NONE, Key::F6),
        Act::Panel(true),
    ),
    (KeyboardShortcut::new(CTRL, Key::Plus), Act::Zoom(1)),
    (KeyboardShortcut::new(CTRL, Key::Equals), Act::Zoom(1)),
    (KeyboardShortcut::new(CTRL, Key::Minus), Act::Zoom(-1)),
    (KeyboardShortcut::new(CTRL, Key::Num0), Act::Zoom(0)),
];

/// The key that pauses and resumes where nothing has the focus: it is not in the table, because buttons and fields take it
/// first.
const PAUSE: Key = Key::Space;

/// The keys of an act, as people write them.
pub fn keys(act: Act) -> Option<String> {
    if act == Act::PauseResume {
        return Some(PAUSE.name().to_owned());
    }
    let (shortcut, _) = TABLE.iter().find(|(_, known)| *known == act)?;
    let mut text = String::new();
    let modifiers = shortcut.modifiers;
    for (held, word) in [
        (modifiers.command, "Ctrl "),
        (modifiers.alt, "Alt "),
        (modifiers.shift, "Shift "),
    ] {
        if held {
            text.push_str(word);
        }
    }
    text.push_str(shortcut.logical_key.symbol_or_name());
    Some(text)
}

/// Reads the keyboard and sends what was asked for. While the palette or a question is open, keys are for it.
pub fn read(ctx: &egui::Context, state: &AppState, views: &mut Views, out: &mut Outbox) {
    let stops = landmarks::take(ctx);
    let asked = state.asking.is_some() || state.typing.is_some();
    if !asked && !views.palette.is_open() {
        open_palette(ctx, views);
    }
    let free = !asked && !views.palette.is_open();
    for (shortcut, act) in TABLE {
        let closes = *act == Act::Palette && !asked;
        if !free && !closes && !matches!(act, Act::Zoom(_)) {
            continue;
        }
        if !ctx.input_mut(|input| input.consume_shortcut(shortcut)) {
            continue;
        }
        match act {
            Act::Panel(forward) => landmarks::go(ctx, &stops, *forward),
            _ => perform(*act, state, views, out),
        }
    }
    // Space pauses only where nothing else takes it.
    if free
        && ctx.memory(|memory| memory.focused().is_none())
        && state.page == Page::Runs
        && ctx.input_mut(|input| input.consume_key(Modifiers::NONE, PAUSE))
    {
        perform(Act::PauseResume, state, views, out);
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
    TABLE.iter().any(|(shortcut, act)| {
        *act == Act::Palette
            && shortcut.logical_key == *key
            && modifiers.matches_logically(shortcut.modifiers)
    })
}

/// Does what `act` means for the present state.
pub fn perform(act: Act, state: &AppState, views: &mut Views, out: &mut Outbox) {
    use ergodic_core::engine::RunState;
    let run = state.selected();
    match act {
        Act::Palette => views.palette.toggle(),
        Act::Open => out.send(Command::PickOpen),
        Act::Run => out.send(Command::StartRun),
        Act::PauseResume => {
            if let Some(entry) = run
                && let Some(view) = entry.view()
            {
                match view.state {
                    RunState::Running => out.send(Command::Pause(entry.id)),
                    RunState::Paused => out.send(Command::Resume(entry.id)),
                    RunState::Stopping | RunState::Finished(_) => {}
                }
            }
        }
        Act::Stop => {
            if let Some(entry) = run {
                out.send(Command::Stop(entry.id));
            }
        }
        Act::Export => {
            if let Some(entry) = run {
                out.send(Command::PickExport(entry.id, "draws-csv"));
            }
        }
        Act::Save => out.send(Command::SaveProject),
        Act::SaveAs => out.send(Command::PickSaveProject),
        Act::SaveRecipe => out.send(Command::PickSaveRecipe),
        Act::LeftPanel => views.runs.toggle_left(),
        Act::BottomPanel => views.runs.toggle_bottom(),
        Act::FilterVariables => views.runs.filter_variables(),
        // Needs the keyboard's focus, which only the reader of the keyboard has.
        Act::Panel(_) => {}
        Act::ResetLayout => views.runs.reset_layout(),
        Act::Pane(pane) => {
            out.send(Command::GoTo(Page::Runs));
            if state.preferences.depth == Depth::Verdict {
                out.send(Command::SetDepth(Depth::Standard));
            }
            views.runs.show_pane(pane);
        }
        Act::Undo => out.send(Command::Undo),
        Act::Redo => out.send(Command::Redo),
        Act::GoTo(page) => out.send(Command::GoTo(page)),
        Act::Depth(depth) => out.send(Command::SetDepth(depth)),
        Act::Zoom(0) => out.send(Command::SetZoom(1.0)),
        Act::Zoom(step) => out.send(Command::SetZoom(theme::zoom_step(
            state.preferences.zoom,
            step > 0,
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_acts_share_a_key() {
        for (i, (shortcut, act)) in TABLE.iter().enumerate() {
            for (other, other_act) in &TABLE[i + 1..] {
                assert!(shortcut != other, "{act:?} and {other_act:?}");
            }
        }
        assert_eq!(keys(Act::Open).unwrap(), "Ctrl O");
    }
}
