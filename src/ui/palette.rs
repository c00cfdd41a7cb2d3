//! The command palette: type a few letters of what you want.

use eframe::egui::{self, Align2, Key, Modifiers, Ui, vec2};

use super::outbox::Outbox;
use super::panels::Views;
use super::shortcuts::{self, Act};
use super::theme::{Palette as Colors, Text};
use super::widgets::{Field, key_cap};
use crate::app::{AppState, Command, Depth, Page, Theme};
use crate::data::roles::Role;
use crate::diagnostics::zero_variance::Order;
use crate::engine::anchor_check;

/// What a row of the palette does.
enum Deed {
    Act(Act),
    Send(Command),
}

/// The palette's own state.
#[derive(Debug, Default)]
pub struct PaletteView {
    open: bool,
    query: String,
    chosen: usize,
}

impl PaletteView {
    /// Opens or closes it.
    pub fn toggle(&mut self) {
        *self = Self {
            open: !self.open,
            ..Self::default()
        };
    }
}

/// Everything the palette offers now.
fn deeds(state: &AppState) -> Vec<(String, Deed)> {
    let mut rows: Vec<(String, Deed)> = vec![
        ("Open a file…".to_owned(), Deed::Act(Act::Open)),
        ("Run the model".to_owned(), Deed::Act(Act::Run)),
        ("Save the project".to_owned(), Deed::Act(Act::Save)),
        ("Save the project as…".to_owned(), Deed::Act(Act::SaveAs)),
        ("New project".to_owned(), Deed::Send(Command::NewProject)),
        (
            "Save the draft as a recipe…".to_owned(),
            Deed::Act(Act::SaveRecipe),
        ),
        (
            "Stop the run and keep its draws".to_owned(),
            Deed::Act(Act::Stop),
        ),
        (
            "Pause or resume the run".to_owned(),
            Deed::Act(Act::PauseResume),
        ),
        ("Export draws…".to_owned(), Deed::Act(Act::Export)),
        ("Undo".to_owned(), Deed::Act(Act::Undo)),
        ("Redo".to_owned(), Deed::Act(Act::Redo)),
        (
            "Compare samplers by running them".to_owned(),
            Deed::Send(Command::CompareSamplers),
        ),
        ("New seed".to_owned(), Deed::Send(Command::NewSeed)),
        ("Close the data".to_owned(), Deed::Send(Command::CloseData)),
        (
            "Theme: as the system".to_owned(),
            Deed::Send(Command::SetTheme(Theme::System)),
        ),
        (
            "Theme: light".to_owned(),
            Deed::Send(Command::SetTheme(Theme::Light)),
        ),
        (
            "Theme: dark".to_owned(),
            Deed::Send(Command::SetTheme(Theme::Dark)),
        ),
        (
            "Theme: high contrast".to_owned(),
            Deed::Send(Command::SetTheme(Theme::HighContrast)),
        ),
        (
            "Numbers: decimal comma".to_owned(),
            Deed::Send(Command::SetDecimalComma(true)),
        ),
        (
            "Numbers: decimal point".to_owned(),
            Deed::Send(Command::SetDecimalComma(false)),
        ),
        (
            "Reset the layout of the panels".to_owned(),
            Deed::Act(Act::ResetLayout),
        ),
        (
            "Show only the verdict".to_owned(),
            Deed::Act(Act::Depth(Depth::Verdict)),
        ),
        (
            "Show the standard view".to_owned(),
            Deed::Act(Act::Depth(Depth::Standard)),
        ),
        (
            "Show everything".to_owned(),
            Deed::Act(Act::Depth(Depth::Everything)),
        ),
    ];
    rows.extend(Page::STEPS.iter().map(|&page| {
        (
            format!("Go to {}", page.label()),
            Deed::Act(Act::GoTo(page)),
        )
    }));
    if let Some(data) = &state.data {
        rows.push((
            "Import: use the table".to_owned(),
            Deed::Send(Command::AcceptImport),
        ));
        if state.document.is_some() {
            for column in data.loaded.table.names() {
                for role in [Role::Response, Role::Predictor] {
                    rows.push((
                        format!("Use {column} as {}", role.label()),
                        Deed::Send(Command::AssignRole(column.to_owned(), role)),
                    ));
                }
                rows.push((
                    format!("Leave {column} out of the model"),
                    Deed::Send(Command::RemoveRole(column.to_owned())),
                ));
            }
        }
    }
    if let Some(entry) = state.selected() {
        let id = entry.id;
        if entry
            .report()
            .is_some_and(|report| report.warnings.iter().any(|w| w.code == anchor_check::CODE))
        {
            rows.push((
                "Refresh the anchor from this run's mean".to_owned(),
                Deed::Send(Command::RefreshAnchor(id)),
            ));
        }
        if entry.is_warming_up() {
            rows.push((
                "End the warm-up of all chains now".to_owned(),
                Deed::Send(Command::Freeze(id)),
            ));
        }
        for draws in [1_000_u64, 10_000, 100_000] {
            let text = format!("Add {},000 draws per chain", draws / 1000);
            rows.push((text, Deed::Send(Command::AddDraws(id, draws))));
        }
        for (order, words) in [
            (
                Some(Order::Linear),
                "Correct estimates by linear control variates",
            ),
            (
                Some(Order::Quadratic),
                "Correct estimates by quadratic control variates",
            ),
            (None, "Show plain estimates"),
        ] {
            let text = words.to_owned();
            rows.push((text, Deed::Send(Command::Correct(id, order))));
        }
        for format in crate::export::FORMATS {
            rows.push((
                format!("Export {}…", format.title),
                Deed::Send(Command::PickExport(id, format.id)),
            ));
        }
    }
    for sample in crate::data::samples::all() {
        rows.push((
            format!("Open example: {}", sample.title),
            Deed::Send(Command::OpenSample(sample.id.to_owned())),
        ));
    }
    rows
}

/// Draws the palette if it is open.
pub fn palette_ui(ui: &mut Ui, state: &AppState, views: &mut Views, out: &mut Outbox) {
    if !views.palette.open {
        return;
    }
    if ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape)) {
        views.palette.toggle();
        return;
    }
    let query = views.palette.query.to_lowercase();
    let rows: Vec<(String, Deed)> = deeds(state)
        .into_iter()
        .filter(|(text, _)| {
            query
                .split_whitespace()
                .all(|word| text.to_lowercase().contains(word))
        })
        .collect();
    let down = ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::ArrowDown));
    let up = ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::ArrowUp));
    let view = &mut views.palette;
    view.chosen = (view.chosen + usize::from(down))
        .saturating_sub(usize::from(up))
        .min(rows.len().saturating_sub(1));
    let mut done = ui
        .input_mut(|input| input.consume_key(Modifiers::NONE, Key::Enter))
        .then_some(view.chosen);
    let colors = Colors::of(ui);
    egui::Window::new("Command palette")
        .title_bar(false)
        .resizable(false)
        .anchor(Align2::CENTER_TOP, vec2(0.0, 48.0))
        .fixed_size(vec2(480.0, 360.0))
        .show(ui.ctx(), |ui| {
            let field = Field::new("Command", &mut view.query)
                .label_hidden()
                .hint("Type a command")
                .width(456.0)
                .show(ui);
            field.response.request_focus();
            egui::ScrollArea::vertical()
                .max_height(320.0)
                .auto_shrink([false, true])
                .show(ui, |ui| {
                    for (index, (text, deed)) in rows.iter().enumerate() {
                        ui.horizontal(|ui| {
                            let response = ui.selectable_label(
                                index == view.chosen,
                                Text::Body.rich(text, colors.text_primary),
                            );
                            if response.clicked() {
                                done = Some(index);
                            }
                            if let Deed::Act(act) = deed
                                && let Some(keys) = shortcuts::keys(*act)
                            {
                                ui.with_layout(
                                    egui::Layout::right_to_left(egui::Align::Center),
                                    |ui| key_cap(ui, &keys),
                                );
                            }
                        });
                    }
                });
        });
    if let Some(index) = done {
        views.palette = PaletteView::default();
        match rows.into_iter().nth(index) {
            Some((_, Deed::Act(act))) => shortcuts::perform(act, state, views, out),
            Some((_, Deed::Send(command))) => out.send(command),
            None => {}
        }
    }
}
