//! The window: the only layer that names egui. Panels are functions of the state that send commands.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use eframe::egui::{self, Event, Ui};

use crate::app::tasks::Work;
use crate::app::{
    AppState, Command, DataCommand, Effects, Pick, Preferences, ProjectCommand, RunCommand,
    ViewCommand, update,
};
use ergodic_base::{Severity, Warning};

mod actions;
pub mod command_palette;
mod dialogs;
mod help;
pub mod icons;
mod landmarks;
mod model_commands;
pub mod outbox;
pub mod panels;
pub mod plots;
mod project_menu;
mod run_name;
pub mod shell;
mod shortcuts;
mod system_fonts;
pub mod tasks;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
pub mod theme;
mod typed_path;
pub mod widgets;

use outbox::Outbox;
use panels::Views;

/// Time per frame that outcomes of tasks may take; what is left waits for the next frame.
const OUTCOME_TIME: Duration = Duration::from_millis(10);
/// Elapsed times and estimates on screen are refreshed this often while something runs.
const CLOCK_TIME: Duration = Duration::from_secs(1);

/// Opens the window and returns when it is closed. `file` is opened at once; `demo` fits the bundled data set.
///
/// # Errors
/// There is no display, or no graphics driver: one sentence.
pub fn run(file: Option<PathBuf>, demo: bool) -> Result<(), String> {
    let options = eframe::NativeOptions {
        viewport: egui::ViewportBuilder::default()
            .with_title("Ergodic")
            .with_app_id("ergodic")
            .with_inner_size([1280.0, 800.0])
            .with_min_inner_size([960.0, 600.0])
            .with_drag_and_drop(true),
        renderer: eframe::Renderer::Glow,
        ..Default::default()
    };
    let start = move |cc: &eframe::CreationContext<'_>| {
        let mut app = App::new(&cc.egui_ctx, Preferences::path());
        app.begin(file, demo);
        Ok(Box::new(app) as Box<dyn eframe::App>)
    };
    eframe::run_native("Ergodic", options, Box::new(start)).map_err(|error| {
        let text = error.to_string();
        // The libraries' own words name their source files; users need to know what is missing.
        let reason = if text.contains("DISPLAY") || text.contains("Wayland") {
            "there is no display".to_owned()
        } else if text.contains("Glutin") || text.contains("OpenGL") {
            "there is no OpenGL driver that can draw it".to_owned()
        } else {
            text
        };
        format!("The window could not be opened: {reason}")
    })
}

/// The window's state and its background work.
pub struct App {
    /// What is open, drafted and running.
    pub state: AppState,
    /// What panels keep for themselves.
    pub views: Views,
    fx: Fx,
    fonts: system_fonts::SystemFonts,
    preferences_path: Option<PathBuf>,
    written: Preferences,
    title: String,
    /// What stood typed in fields in the newest frame and is not in the draft.
    typed: Vec<Command>,
}

struct Fx {
    tasks: crate::app::tasks::Threads,
}

impl Effects for Fx {
    fn spawn(&mut self, name: &str, work: Work) {
        self.tasks.spawn(name, work);
    }

    fn pick(&mut self, purpose: Pick) {
        self.tasks.spawn(
            "file-dialog",
            Box::new(move || dialogs::pick(purpose).into()),
        );
    }

    fn waker(&self) -> Arc<dyn Fn() + Send + Sync> {
        self.tasks.waker()
    }
}

impl App {
    /// A window with nothing open. Preferences are read from and written to `preferences_path`, if given.
    pub fn new(ctx: &egui::Context, preferences_path: Option<PathBuf>) -> Self {
        theme::install(ctx);
        let preferences = preferences_path
            .as_deref()
            .map(Preferences::read)
            .unwrap_or_default();
        let waker = ctx.clone();
        let mut state = AppState::default();
        state.preferences = preferences.clone();
        let app = Self {
            state,
            views: Views::default(),
            fx: Fx {
                tasks: crate::app::tasks::Threads::new(Arc::new(move || waker.request_repaint())),
            },
            fonts: system_fonts::SystemFonts::install(ctx),
            preferences_path,
            written: preferences,
            title: String::new(),
            typed: Vec::new(),
        };
        app.apply_preferences(ctx);
        app
    }

    /// Opens what the command line named.
    pub fn begin(&mut self, file: Option<PathBuf>, demo: bool) {
        if let Some(file) = file {
            self.send(DataCommand::Open(file));
        } else if demo {
            self.views.demo = true;
            self.send(DataCommand::OpenSample("churn".to_owned()));
        }
        // The start page also comes when a file could not be opened, or later.
        self.send(ViewCommand::DrawExamples);
    }

    /// Applies a command at once.
    pub fn send(&mut self, command: impl Into<Command>) {
        update::update(&mut self.state, command, &mut self.fx);
    }

    /// Applies what stands typed in fields, and then a command that comes from outside the window.
    fn send_from_outside(&mut self, command: impl Into<Command>) {
        for typed in std::mem::take(&mut self.typed) {
            self.send(typed);
        }
        self.send(command);
    }

    /// Work that does not draw: outcomes of tasks, runs that ended, preferences.
    pub fn logic(&mut self, ctx: &egui::Context) {
        let begun = Instant::now();
        while let Some(outcome) = self.fx.tasks.poll() {
            outcome(&mut self.state, &mut self.fx);
            if begun.elapsed() > OUTCOME_TIME {
                ctx.request_repaint();
                break;
            }
        }
        update::tick(&mut self.state, &mut self.fx);
        let comes_back = |event: &Event| matches!(event, Event::WindowFocused(true));
        if ctx.input(|input| input.events.iter().any(comes_back)) {
            self.send(DataCommand::LookAtFile);
        }
        for advice in self.fonts.take_advice() {
            self.state
                .note(Warning::new(Severity::Info, "no-font", advice.to_owned()));
            self.state.say(advice, false);
        }
        if self.views.demo && self.state.loading.is_none() && self.state.data.is_some() {
            self.views.demo = false;
            self.send(DataCommand::AcceptImport);
            self.send(RunCommand::Start);
        }
        let dropped: Vec<PathBuf> = ctx.input(|input| {
            input
                .raw
                .dropped_files
                .iter()
                .map(|file| file.path().to_owned())
                .collect()
        });
        for path in dropped {
            self.send_from_outside(DataCommand::Open(path));
        }
        self.close_or_ask(ctx);
        if self.state.is_busy() {
            ctx.request_repaint_after(CLOCK_TIME);
        }
        self.keep_preferences(ctx);
    }

    /// Asks before changes or running chains are lost; names the window after what is open.
    fn close_or_ask(&mut self, ctx: &egui::Context) {
        use egui::ViewportCommand;
        if ctx.input(|input| input.viewport().close_requested()) && !self.state.closing {
            self.send_from_outside(ProjectCommand::Quit);
            if !self.state.closing {
                ctx.send_viewport_cmd(ViewportCommand::CancelClose);
            }
        } else if self.state.closing {
            ctx.send_viewport_cmd(ViewportCommand::Close);
        }
        let title = match project_menu::title(&self.state) {
            name if name == "Ergodic" => name,
            name => format!("{name} - Ergodic"),
        };
        if title != self.title {
            ctx.send_viewport_cmd(ViewportCommand::Title(title.clone()));
            self.title = title;
        }
    }

    /// Draws the window and applies what was clicked.
    pub fn window_ui(&mut self, ui: &mut Ui) {
        // Screen readers name the window after its root.
        let title = &self.title;
        ui.ctx()
            .accesskit_node_builder(egui::accesskit_root_id(), |node| {
                node.set_label(title.as_str());
            });
        let mut out = Outbox::default();
        shortcuts::read(ui.ctx(), &self.state, &mut self.views, &mut out);
        shell::window_ui(ui, &self.state, &mut self.views, &mut out);
        for command in out.take() {
            self.send(command);
        }
        self.typed = out.take_typed();
    }

    fn apply_preferences(&self, ctx: &egui::Context) {
        use crate::app::Theme;
        use theme::ThemeChoice;
        let choice = match self.state.preferences.theme {
            Theme::System => ThemeChoice::System,
            Theme::Light => ThemeChoice::Light,
            Theme::Dark => ThemeChoice::Dark,
            Theme::HighContrast => ThemeChoice::HighContrast,
        };
        if theme::choice(ctx) != choice {
            theme::set(ctx, choice);
        }
        widgets::number::set_decimal_comma(self.state.preferences.decimal_comma);
        let zoom = self.state.preferences.zoom;
        if (ctx.zoom_factor() - zoom).abs() > 1e-3 {
            ctx.set_zoom_factor(zoom);
        }
    }

    fn keep_preferences(&mut self, ctx: &egui::Context) {
        self.apply_preferences(ctx);
        if self.state.preferences == self.written {
            return;
        }
        self.written = self.state.preferences.clone();
        if let Some(path) = &self.preferences_path
            && let Err(error) = self.written.write(path)
        {
            let text = format!(
                "Preferences could not be saved ({error}): {}",
                path.display()
            );
            self.preferences_path = None;
            self.state.say(text, true);
        }
    }
}

impl eframe::App for App {
    fn logic(&mut self, ctx: &egui::Context, _frame: &mut eframe::Frame) {
        Self::logic(self, ctx);
    }

    fn ui(&mut self, ui: &mut Ui, _frame: &mut eframe::Frame) {
        self.window_ui(ui);
    }
}
