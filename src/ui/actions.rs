//! Everything that a key, a menu or the command palette can ask for, declared once: menus, palette, keyboard and help are made
//! from [`ACTIONS`]; the palette also offers panes, pictures and formats, each from its own list. A new action is a line in the list;
//! where its command depends on what is open, also a variant and what it does in [`perform`].

use eframe::egui::{Key, KeyboardShortcut, Modifiers};

use super::icons;
use super::outbox::Outbox;
use super::panels::Views;
use super::panels::runs::PaneEntry;
use super::theme;
use crate::app::{
    AppState, Command, DataCommand, Depth, DraftChange, DraftCommand, Page, PathCommand,
    Preference, Product, ProjectCommand, RunCommand, Theme,
};
use ergodic_core::engine::RunState;

/// What can be asked for whatever is open.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// Send a command that is the same whatever is open.
    Send(&'static Command),
    /// Read the open data file again, as it is now.
    ReadAgain,
    /// Pause or resume the run shown.
    PauseResume,
    /// Stop the run shown and keep its draws.
    Stop,
    /// Export the draws of the run shown.
    Export,
    /// Save a report of the run shown.
    Report,
    /// Bring a pane of the run shown to the front; [`super::panels::runs::PANES`] lists these.
    Pane(&'static PaneEntry),
    /// Filter the variables of the table.
    FilterVariables,
    /// Show or hide the panel at the left.
    LeftPanel,
    /// Show or hide the panel at the bottom.
    BottomPanel,
    /// Give the focus to the next panel, or to the one before.
    Panel(bool),
    /// Put all panels back to where they were at first.
    ResetLayout,
    /// Make everything larger, smaller, or normal.
    Zoom(i8),
    /// Open the command palette.
    Palette,
    /// Show all keys and actions.
    Help,
}

/// Where an action stands in menus and in the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Files: the project's menu.
    Project,
    /// The draft.
    Model,
    /// Runs.
    Run,
    /// What is shown, and how.
    View,
}

impl Group {
    /// One word.
    pub fn title(self) -> &'static str {
        match self {
            Self::Project => "Project",
            Self::Model => "Model",
            Self::Run => "Run",
            Self::View => "View",
        }
    }
}

/// An action with its words, icon and keys.
pub struct ActionEntry {
    /// What the action does.
    pub action: Action,
    /// Where it stands.
    pub group: Group,
    /// Words of the action.
    pub text: &'static str,
    /// What else is to be known, in a few words: a tooltip, and what the palette finds it by.
    pub about: &'static str,
    /// Icon of the action.
    pub icon: char,
    shortcuts: &'static [KeyboardShortcut],
}

impl ActionEntry {
    /// All its keys, as people write them.
    pub fn keys(&self) -> String {
        let keys = self.shortcuts.iter().map(|shortcut| written(*shortcut));
        keys.collect::<Vec<_>>().join(", ")
    }

    /// Whether the palette offers it: not what it is itself, nor what moves the focus that it has.
    pub fn is_offered(&self) -> bool {
        !matches!(self.action, Action::Palette | Action::Panel(_))
    }
}

const CTRL: Modifiers = Modifiers::COMMAND;
const CTRL_SHIFT: Modifiers = Modifiers::COMMAND.plus(Modifiers::SHIFT);
const CTRL_ALT: Modifiers = Modifiers::COMMAND.plus(Modifiers::ALT);

const fn ctrl(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(CTRL, key)
}

const fn plain(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::NONE, key)
}

const fn entry(
    group: Group,
    action: Action,
    icon: char,
    shortcuts: &'static [KeyboardShortcut],
    text: &'static str,
    about: &'static str,
) -> ActionEntry {
    ActionEntry {
        action,
        group,
        text,
        about,
        icon,
        shortcuts,
    }
}

/// All actions but those of panes, in the order of menus and palette.
#[rustfmt::skip]
pub static ACTIONS: &[ActionEntry] = &[
    entry(Group::Project, Action::Send(&Command::Path(PathCommand::PickOpen)), icons::FOLDER_OPEN, &[ctrl(Key::O)], "Open a file…", "Data, a project, a recipe, a run folder or draws"),
    entry(Group::Project, Action::Send(&Command::Path(PathCommand::TypeOpen)), icons::FOLDER_OPEN, &[], "Open: type a path…", ""),
    entry(Group::Model, Action::Send(&Command::Run(RunCommand::Start)), icons::PLAY, &[ctrl(Key::Enter)], "Run the model", ""),
    entry(Group::Project, Action::Send(&Command::Project(ProjectCommand::Save)), icons::FLOPPY_DISK, &[ctrl(Key::S)], "Save the project", ""),
    entry(Group::Project, Action::Send(&Command::Path(PathCommand::Pick(Product::Project))), icons::FLOPPY_DISK, &[KeyboardShortcut::new(CTRL_SHIFT, Key::S)], "Save the project as…", ""),
    entry(Group::Project, Action::Send(&Command::Path(PathCommand::Type(Product::Project))), icons::FLOPPY_DISK, &[], "Save the project: type a path…", ""),
    entry(Group::Project, Action::Send(&Command::Path(PathCommand::Pick(Product::Recipe))), icons::FILE_CODE, &[], "Save the draft as a recipe…", "For the command line, or for another day"),
    entry(Group::Project, Action::Send(&Command::Project(ProjectCommand::New)), icons::FILE, &[], "New project", ""),
    entry(Group::Run, Action::Stop, icons::STOP, &[ctrl(Key::Period)], "Stop the run and keep its draws", ""),
    entry(Group::Run, Action::PauseResume, icons::PAUSE, &[plain(PAUSE)], "Pause or resume the run", ""),
    entry(Group::Run, Action::Export, icons::EXPORT, &[ctrl(Key::E)], "Export draws…", "As CSV"),
    entry(Group::Run, Action::Report, icons::FILE, &[], "Save a report…", "One page with results, model, methods and pictures"),
    entry(Group::Model, Action::Send(&Command::Draft(DraftCommand::Undo)), icons::ARROW_COUNTER_CLOCKWISE, &[ctrl(Key::Z)], "Undo", "Takes back the last change of the model"),
    entry(Group::Model, Action::Send(&Command::Draft(DraftCommand::Redo)), icons::ARROW_CLOCKWISE, &[KeyboardShortcut::new(CTRL_SHIFT, Key::Z), ctrl(Key::Y)], "Redo", ""),
    entry(Group::Model, Action::Send(&Command::GoTo(Page::Compare)), icons::SCALES, &[], "Compare samplers by running them…", ""),
    entry(Group::Model, Action::Send(&Command::Change(DraftChange::NewSeed)), icons::HASH, &[], "New seed", ""),
    entry(Group::Project, Action::ReadAgain, icons::ARROWS_CLOCKWISE, &[], "Read the data file again", "As it is now, in the same way; the draft stays"),
    entry(Group::Project, Action::Send(&Command::Data(DataCommand::Close)), icons::X, &[], "Close the data", ""),
    entry(Group::Run, Action::Send(&Command::Data(DataCommand::RunLesson)), icons::INFO, &[], "See what a bad run looks like", ""),
    entry(Group::View, Action::Send(&Command::Prefer(Preference::Theme(Theme::System))), icons::CIRCLE_HALF, &[], "Theme: as the system", ""),
    entry(Group::View, Action::Send(&Command::Prefer(Preference::Theme(Theme::Light))), icons::CIRCLE_HALF, &[], "Theme: light", ""),
    entry(Group::View, Action::Send(&Command::Prefer(Preference::Theme(Theme::Dark))), icons::CIRCLE_HALF, &[], "Theme: dark", ""),
    entry(Group::View, Action::Send(&Command::Prefer(Preference::Theme(Theme::HighContrast))), icons::CIRCLE_HALF, &[], "Theme: high contrast", ""),
    entry(Group::View, Action::Send(&Command::Prefer(Preference::DecimalComma(true))), icons::HASH, &[], "Numbers: decimal comma", ""),
    entry(Group::View, Action::Send(&Command::Prefer(Preference::DecimalComma(false))), icons::HASH, &[], "Numbers: decimal point", ""),
    entry(Group::View, Action::Send(&Command::Prefer(Preference::MoreColumns(true))), icons::TABLE, &[], "Summary: more columns", "Errors and effective sample sizes of sd and quantiles, inefficiency, each chain"),
    entry(Group::View, Action::Send(&Command::Prefer(Preference::MoreColumns(false))), icons::TABLE, &[], "Summary: usual columns", ""),
    entry(Group::View, Action::ResetLayout, icons::GRID_FOUR, &[], "Reset the layout of the panels", ""),
    entry(Group::View, Action::Send(&Command::Prefer(Preference::Depth(Depth::Verdict))), icons::SEAL_CHECK, &[KeyboardShortcut::new(CTRL_ALT, Key::Num1)], "Show only the verdict", ""),
    entry(Group::View, Action::Send(&Command::Prefer(Preference::Depth(Depth::Standard))), icons::SEAL_CHECK, &[KeyboardShortcut::new(CTRL_ALT, Key::Num2)], "Show the standard view", ""),
    entry(Group::View, Action::Send(&Command::Prefer(Preference::Depth(Depth::Everything))), icons::SEAL_CHECK, &[KeyboardShortcut::new(CTRL_ALT, Key::Num3)], "Show everything", ""),
    entry(Group::View, Action::FilterVariables, icons::FUNNEL, &[ctrl(Key::F)], "Filter the parameters", ""),
    entry(Group::View, Action::LeftPanel, icons::TABLE, &[ctrl(Key::B)], "Show or hide the panel at the left", "Of the page of runs"),
    entry(Group::View, Action::BottomPanel, icons::TABLE, &[ctrl(Key::J)], "Show or hide the panel at the bottom", "Of the page of runs"),
    entry(Group::View, Action::Panel(true), icons::ARROW_RIGHT, &[plain(Key::F6)], "Go to the next panel", ""),
    entry(Group::View, Action::Panel(false), icons::ARROW_LEFT, &[KeyboardShortcut::new(Modifiers::SHIFT, Key::F6)], "Go to the panel before", ""),
    entry(Group::View, Action::Zoom(1), icons::MAGNIFYING_GLASS, &[ctrl(Key::Plus), ctrl(Key::Equals)], "Larger", "Text and everything else"),
    entry(Group::View, Action::Zoom(-1), icons::MAGNIFYING_GLASS, &[ctrl(Key::Minus)], "Smaller", "Text and everything else"),
    entry(Group::View, Action::Zoom(0), icons::MAGNIFYING_GLASS, &[ctrl(Key::Num0)], "Normal size", "Text and everything else"),
    entry(Group::View, Action::Send(&Command::GoTo(Page::Data)), icons::TABLE, &[ctrl(Key::Num1)], "Go to Data", ""),
    entry(Group::View, Action::Send(&Command::GoTo(Page::Model)), icons::FUNCTION, &[ctrl(Key::Num2)], "Go to Model", ""),
    entry(Group::View, Action::Send(&Command::GoTo(Page::Sampler)), icons::SLIDERS_HORIZONTAL, &[ctrl(Key::Num3)], "Go to Sampler", "Settings, trials of step sizes, calibration by simulation, search for the mode"),
    entry(Group::View, Action::Send(&Command::GoTo(Page::Runs)), icons::CHART_LINE, &[ctrl(Key::Num4)], "Go to Runs", ""),
    entry(Group::View, Action::Palette, icons::MAGNIFYING_GLASS, &[ctrl(Key::P)], "Search or run a command", ""),
    entry(Group::View, Action::Help, icons::QUESTION, &[plain(Key::F1)], "Help: keys and actions", "All shortcuts of the keyboard"),
];

/// The key that pauses and resumes where nothing has the focus: buttons and fields take it first.
pub const PAUSE: Key = Key::Space;

/// All shortcuts with their actions. Longer combinations come first, because egui accepts extra modifiers.
pub fn shortcuts() -> Vec<(KeyboardShortcut, Action)> {
    let mut all: Vec<(KeyboardShortcut, Action)> = (ACTIONS.iter())
        .flat_map(|entry| entry.shortcuts.iter().map(|keys| (*keys, entry.action)))
        .collect();
    let held = |Modifiers {
                    alt,
                    shift,
                    command,
                    ..
                }: Modifiers| {
        [alt, shift, command]
            .into_iter()
            .filter(|held| *held)
            .count()
    };
    all.sort_by_key(|(keys, _)| std::cmp::Reverse(held(keys.modifiers)));
    all
}

/// The first keys of an action, as people write them.
pub fn keys(action: Action) -> Option<String> {
    let entry = ACTIONS.iter().find(|entry| entry.action == action)?;
    entry.shortcuts.first().map(|shortcut| written(*shortcut))
}

fn written(shortcut: KeyboardShortcut) -> String {
    let modifiers = shortcut.modifiers;
    let mut text = String::new();
    for (held, word) in [
        (modifiers.command, "Ctrl "),
        (modifiers.alt, "Alt "),
        (modifiers.shift, "Shift "),
    ] {
        if held {
            text.push_str(word);
        }
    }
    text + shortcut.logical_key.symbol_or_name()
}

/// Does what `action` means for the present state.
pub fn perform(action: Action, state: &AppState, views: &mut Views, out: &mut Outbox) {
    let run = state.selected();
    // Where there is no run, the page of runs says so and how one is started.
    let needs_run = matches!(
        action,
        Action::Stop | Action::Export | Action::Report | Action::FilterVariables
    );
    if needs_run && run.is_none() {
        out.send(Command::GoTo(Page::Runs));
        return;
    }
    match action {
        Action::Send(command) => out.send(command.clone()),
        Action::ReadAgain => out.send(match &state.data {
            Some(data) => DataCommand::SetImport(data.options.clone()).into(),
            // Which says that there are none.
            None => Command::GoTo(Page::Data),
        }),
        Action::PauseResume => {
            if let Some(entry) = run
                && let Some(view) = entry.view()
            {
                match view.state {
                    RunState::Running => out.send(RunCommand::Pause(entry.id)),
                    RunState::Paused => out.send(RunCommand::Resume(entry.id)),
                    RunState::Stopping | RunState::Finished(_) => {}
                }
            }
        }
        Action::Stop => {
            if let Some(entry) = run {
                out.send(RunCommand::Stop(entry.id));
            }
        }
        Action::Export => {
            if let Some(entry) = run {
                out.send(PathCommand::Pick(Product::Results(entry.id, "draws-csv")));
            }
        }
        Action::Report => {
            if let Some(entry) = run {
                let format = ergodic_report::report::FORMATS[0].id;
                out.send(PathCommand::Pick(Product::Report(entry.id, format)));
            }
        }
        Action::Pane(pane) => {
            out.send(Command::GoTo(Page::Runs));
            if state.preferences.depth == Depth::Verdict {
                out.send(Preference::Depth(Depth::Standard));
            }
            views.runs.show_pane(pane);
        }
        Action::FilterVariables => views.runs.filter_variables(),
        Action::LeftPanel => views.runs.toggle_left(),
        Action::BottomPanel => views.runs.toggle_bottom(),
        // Needs the keyboard's focus, which only the reader of the keyboard has.
        Action::Panel(_) => {}
        Action::ResetLayout => views.runs.reset_layout(),
        Action::Zoom(0) => out.send(Preference::Zoom(1.0)),
        Action::Zoom(step) => {
            let zoom = theme::zoom_step(state.preferences.zoom, step > 0);
            out.send(Preference::Zoom(zoom));
        }
        Action::Palette => views.palette.toggle(),
        Action::Help => views.help = !views.help,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::Session;
    use ergodic_core::design::Columns as _;

    #[test]
    fn no_two_actions_share_a_key_or_their_words() {
        for (i, (shortcut, action)) in shortcuts().iter().enumerate() {
            for (other, other_action) in &shortcuts()[i + 1..] {
                assert!(shortcut != other, "{action:?} and {other_action:?}");
            }
        }
        for (i, one) in ACTIONS.iter().enumerate() {
            assert!(
                !one.text.is_empty() && !one.text.ends_with('.'),
                "{}",
                one.text
            );
            for other in &ACTIONS[i + 1..] {
                assert!(
                    one.action != other.action && one.text != other.text,
                    "{}",
                    one.text
                );
            }
        }
        assert_eq!(
            keys(Action::Send(&Command::Path(PathCommand::PickOpen))).unwrap(),
            "Ctrl O"
        );
        assert_eq!(keys(Action::PauseResume).unwrap(), "Space");
        assert_eq!(
            keys(Action::Send(&Command::Change(DraftChange::NewSeed))),
            None
        );
    }

    #[test]
    fn what_needs_a_run_leads_to_the_page_that_says_that_there_is_none() {
        let state = AppState::default();
        for action in [Action::Stop, Action::Report, Action::FilterVariables] {
            let mut out = Outbox::default();
            perform(action, &state, &mut Views::default(), &mut out);
            assert_eq!(out.take(), [Command::GoTo(Page::Runs)], "{action:?}");
        }
    }

    #[test]
    fn a_file_that_has_changed_is_read_again_and_the_draft_stays() {
        let folder = tempfile::tempdir().unwrap();
        let text = "y,x\n0,1\n1,2\n0,3\n1,4\n";
        let mut session = Session::with_file(&folder, "t.csv", text);
        session.send(DataCommand::AcceptImport);
        let formula = DraftChange::Formula("y ~ x".to_owned());
        session.send(formula);
        std::fs::write(folder.path().join("t.csv"), format!("{text}0,5\n")).unwrap();
        let mut out = Outbox::default();
        let mut views = Views::default();
        perform(Action::ReadAgain, &session.state, &mut views, &mut out);
        for command in out.take() {
            session.send(command);
        }
        let table = &session.state.data.as_ref().unwrap().loaded.table;
        assert_eq!(table.num_rows(), 5);
        let document = session.state.document.as_ref().unwrap();
        assert_eq!(document.recipe.model.formula, "y ~ x");
        perform(
            Action::ReadAgain,
            &AppState::default(),
            &mut views,
            &mut out,
        );
        assert_eq!(out.take(), [Command::GoTo(Page::Data)]);
    }

    #[test]
    fn longer_combinations_are_read_first() {
        let all = shortcuts();
        let place = |action| all.iter().position(|(_, other)| *other == action).unwrap();
        assert!(
            place(Action::Send(&Command::Path(PathCommand::Pick(
                Product::Project
            )))) < place(Action::Send(&Command::Project(ProjectCommand::Save)))
        );
        assert!(place(Action::Panel(false)) < place(Action::Panel(true)));
    }
}
