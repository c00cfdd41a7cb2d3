//! What is around every page: top bar, toasts, status line, and which page is shown.

use eframe::egui::{self, Align, Frame, Layout, Margin, Panel, Ui};

use super::actions::{self, Action};
use super::command_palette::palette_ui;
use super::help::help_ui;
use super::outbox::Outbox;
use super::panels::page::reading_strip_ui;
use super::panels::{Views, compare, data, model, runs, sampler, start};
use super::project_menu::{project_menu_ui, question_ui};
use super::run_name::run_name_ui;
use super::tasks::tasks_ui;
use super::theme::{Palette, Text, tokens};
use super::typed_path::typed_path_ui;
use super::widgets::{Button, Segments, paint};
use super::{icons, landmarks};
use crate::app::{AppState, Command, Depth, NoticeCommand, Page, PathCommand, Preference, Theme};

/// Width below which steps show no words for depth and search.
const NARROW: f32 = 1200.0;

/// Draws the whole window.
pub fn window_ui(ui: &mut Ui, state: &AppState, views: &mut Views, out: &mut Outbox) {
    // What is below a dialog does not see the pointer: a tooltip that is shown there would stay, above the dialog.
    let is_below = ui.memory(|memory| memory.top_modal_layer().is_some());
    let pointer = is_below.then(|| ui.input_mut(|input| std::mem::take(&mut input.pointer)));
    pages_ui(ui, state, views, out);
    if let Some(pointer) = pointer {
        ui.input_mut(|input| input.pointer = pointer);
    }
    help_ui(ui, &mut views.help);
    question_ui(ui, state, out);
    run_name_ui(ui, state, &mut views.run_name, out);
    typed_path_ui(ui, state, &mut views.typed_path, out);
    toast_ui(ui, state, out);
}

/// The top bar, the page and the command palette.
fn pages_ui(ui: &mut Ui, state: &AppState, views: &mut Views, out: &mut Outbox) {
    let t = tokens();
    let colors = Palette::of(ui);
    let bar = Frame::NONE
        .fill(colors.bg_panel)
        .inner_margin(Margin::symmetric(12, 0));
    Panel::top("top-bar")
        .exact_size(t.size.top_bar)
        .frame(bar)
        .show(ui, |ui| {
            landmarks::mark(ui, "Top bar");
            top_bar_ui(ui, state, views, out);
        });
    // Below every page, so that none has holes.
    ui.painter()
        .rect_filled(ui.available_rect_before_wrap(), 0.0, colors.bg_app);
    // Start and data page have a place of their own for a file being read.
    let has_place = matches!(state.page, Page::Start | Page::Data) && state.loading.is_some();
    if !has_place {
        reading_strip_ui(ui, state, out);
    }
    // The page of runs says there what belongs to the run shown.
    if state.page != Page::Runs {
        status_ui(ui);
    }
    match state.page {
        Page::Start => start::start_ui(ui, state, &mut views.start, out),
        Page::Data => data::data_ui(ui, state, &mut views.data, out),
        Page::Model => model::model_ui(ui, state, &mut views.model, out),
        Page::Sampler => sampler::sampler_ui(ui, state, &mut views.sampler, out),
        Page::Compare => compare::compare_ui(ui, state, &mut views.compare, out),
        Page::Runs => runs::runs_ui(ui, state, &mut views.runs, out),
    }
    palette_ui(ui, state, views, out);
}

/// The line at the bottom of pages that are not about one run.
fn status_ui(ui: &mut Ui) {
    let colors = Palette::of(ui);
    let frame = Frame::NONE
        .fill(colors.bg_panel)
        .inner_margin(Margin::symmetric(12, 0));
    Panel::bottom("status")
        .exact_size(tokens().size.status_bar)
        .frame(frame)
        .show(ui, |ui| {
            ui.horizontal_centered(|ui| {
                let words = |text: &str| Text::Caption.rich(text, colors.text_secondary);
                ui.label(words("Nothing leaves this computer"));
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    ui.label(words(concat!("Ergodic ", env!("CARGO_PKG_VERSION"))));
                });
            });
        });
}

fn top_bar_ui(ui: &mut Ui, state: &AppState, views: &mut Views, out: &mut Outbox) {
    let colors = Palette::of(ui);
    let narrow = ui.available_width() < NARROW;
    ui.horizontal_centered(|ui| {
        ui.label(icons::icon_fill(icons::WAVEFORM, 20.0).color(colors.accent));
        project_menu_ui(ui, state, views, out);
        ui.add_space(8.0);
        // The comparison of samplers is part of their step.
        let mut page = match state.page {
            Page::Compare => Page::Sampler,
            page => page,
        };
        let no_data = state.data.is_none().then_some("Open data first");
        let no_model = state
            .document
            .is_none()
            .then_some("Use the data first: Import");
        let no_runs = state.runs.is_empty().then_some("There are no runs yet");
        let steps = Segments::new("Steps", &mut page)
            .option_unless(Page::Data, Page::Data.label(), no_data)
            .option_unless(Page::Model, Page::Model.label(), no_model)
            .option_unless(Page::Sampler, Page::Sampler.label(), no_model)
            .option_unless(Page::Runs, Page::Runs.label(), no_runs)
            .show(ui);
        if steps.changed() {
            out.send(Command::GoTo(page));
        }
        tasks_ui(ui, state, out);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let (theme, word) = next_theme(ui, state.preferences.theme);
            if ui
                .add(Button::icon_only(icons::CIRCLE_HALF, "Theme").quiet())
                .on_hover_text(word)
                .clicked()
            {
                out.send(Preference::Theme(theme));
            }
            let mut depth = state.preferences.depth;
            let depths = Segments::new("Depth", &mut depth)
                .option(Depth::Verdict, "Verdict")
                .option(Depth::Standard, "Standard")
                .option(Depth::Everything, "Everything")
                .show(ui);
            if depths.changed() {
                out.send(Preference::Depth(depth));
            }
            let search = if narrow {
                Button::icon_only(icons::MAGNIFYING_GLASS, "Search commands")
            } else {
                Button::new("Search or run…")
                    .icon(icons::MAGNIFYING_GLASS)
                    .key("Ctrl P")
            };
            if ui.add(search).clicked() {
                views.palette.toggle();
            }
            let open = ui.add(Button::icon_only(icons::FOLDER_OPEN, "Open").quiet());
            if open
                .on_hover_text(
                    actions::keys(Action::Send(&Command::Path(PathCommand::PickOpen)))
                        .unwrap_or_default(),
                )
                .clicked()
            {
                out.send(PathCommand::PickOpen);
            }
        });
    });
}

/// The theme that a click brings, and words for it.
fn next_theme(ui: &Ui, theme: Theme) -> (Theme, &'static str) {
    match theme {
        Theme::System if ui.visuals().dark_mode => (Theme::Light, "Light theme"),
        Theme::System | Theme::Light => (Theme::Dark, "Dark theme"),
        Theme::Dark => (Theme::HighContrast, "High contrast"),
        Theme::HighContrast => (Theme::Light, "Light theme"),
    }
}

/// Seconds that an error stays, which can be read again among the messages, and what something can be done about.
const ERROR_SECS: f64 = 10.0;

fn toast_ui(ui: &Ui, state: &AppState, out: &mut Outbox) {
    let Some(toast) = &state.toast else { return };
    let colors = Palette::of(ui);
    let id = egui::Id::unique(("toast", toast.serial));
    let now = ui.input(|input| input.time);
    let shown = ui.data_mut(|data| *data.get_temp_mut_or_insert_with(id, || now));
    let stay = if toast.is_error || toast.act.is_some() {
        ERROR_SECS
    } else {
        f64::from(tokens().motion.toast_stay)
    };
    let left = shown + stay - now;
    if left > 0.0 {
        ui.ctx()
            .request_repaint_after(std::time::Duration::from_secs_f64(left));
    }
    let area = egui::Area::new(egui::Id::unique("toast"))
        .anchor(egui::Align2::CENTER_BOTTOM, [0.0, -36.0])
        .order(egui::Order::Foreground)
        .show(ui.ctx(), |ui| {
            Frame::popup(ui.style())
                .inner_margin(Margin::symmetric(12, 8))
                .show(ui, |ui| {
                    ui.set_max_width(520.0);
                    ui.horizontal(|ui| {
                        let (icon, color) = match (toast.is_error, &toast.act) {
                            (true, _) => (icons::WARNING_CIRCLE, colors.bad),
                            // Something waits to be done.
                            (false, Some(_)) => (icons::INFO, colors.link),
                            (false, None) => (icons::CHECK_CIRCLE, colors.good),
                        };
                        ui.label(icons::icon_fill(icon, 16.0).color(color));
                        let text = paint::job(&toast.text, Text::Body, colors.text_primary);
                        ui.add(egui::Label::new(text).wrap());
                        if ui
                            .add(Button::icon_only(icons::X, "Dismiss").quiet().small())
                            .clicked()
                        {
                            out.send(NoticeCommand::DismissToast);
                        }
                    });
                    if let Some((words, command)) = &toast.act
                        && ui.add(Button::new(words).small()).clicked()
                    {
                        out.send(NoticeCommand::DismissToast);
                        out.send(command.clone());
                    }
                });
        });
    // It does not leave from under the pointer.
    if left <= 0.0 && !area.response.contains_pointer() {
        out.send(NoticeCommand::DismissToast);
    }
}

#[cfg(test)]
mod tests {
    use eframe::egui::{Shape, pos2};
    use egui_kittest::kittest::Queryable as _;

    use super::*;
    use crate::app::testing::Session;
    use crate::app::{DataCommand, DraftChange, DraftCommand};
    use crate::ui::testing::page_harness;
    use ergodic_data::{ColumnKindOverride, Conversion, Role};

    #[test]
    fn every_page_has_one_status_line() {
        let mut session = Session::with_draft("churn");
        for page in [Page::Start, Page::Data, Page::Model, Page::Sampler] {
            session.send(Command::GoTo(page));
            let mut harness = page_harness(session, window_ui);
            harness.run_steps(3);
            let line = harness.get_by_label("Nothing leaves this computer");
            assert!(line.rect().bottom() <= 760.0 && line.rect().top() > 730.0);
            session = std::mem::take(&mut harness.state_mut().session);
        }
    }

    #[test]
    fn no_page_without_data_has_holes() {
        for page in [
            Page::Start,
            Page::Data,
            Page::Model,
            Page::Sampler,
            Page::Compare,
            Page::Runs,
        ] {
            let mut session = Session::default();
            session.send(Command::GoTo(page));
            let mut harness = page_harness(session, window_ui);
            harness.run_steps(3);
            let corner = pos2(1270.0, 750.0);
            let filled = harness.output().shapes.iter().any(|clipped| {
                clipped.clip_rect.contains(corner)
                    && matches!(&clipped.shape, Shape::Rect(rect)
                        if rect.rect.contains(corner) && rect.fill.is_opaque())
            });
            assert!(filled, "{page:?}");
        }
    }

    #[test]
    fn a_refused_role_offers_its_conversion_and_leaves_by_itself_or_with_the_page() {
        let folder = tempfile::tempdir().unwrap();
        let text = "y,x,word\n0,1,7\n1,2,b\n0,3,b\n1,4,a\n0,5,c\n1,6,c\n";
        let mut session = Session::with_file(&folder, "s.csv", text);
        session.send(DataCommand::AcceptImport);
        session.send(Command::GoTo(Page::Model));
        let refused = DraftChange::Assign("word".to_owned(), Role::Weight);
        session.send(refused.clone());
        assert!(session.state.toast.is_some());
        session.send(Command::GoTo(Page::Sampler));
        assert_eq!(session.state.toast, None);
        session.send(refused);
        let mut harness = page_harness(session, window_ui);
        harness.run_steps(3);
        harness.get_by_label("Read word as numbers").click();
        harness.run_steps(3);
        let number = Conversion::Import(ColumnKindOverride::Number);
        let sent = &harness.state().sent;
        assert!(
            sent.contains(&DraftCommand::Convert("word".to_owned(), number, Role::Weight).into()),
            "{sent:?}"
        );
        harness
            .state_mut()
            .session
            .state
            .say("The disk is full", true);
        harness.run_steps(3);
        assert!(harness.state().session.state.toast.is_some());
        harness.run_steps(60);
        assert_eq!(harness.state().session.state.toast, None);
    }
}
