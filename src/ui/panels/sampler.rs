//! The sampler page: which sampler, its settings, and how long it runs.

use eframe::egui::{Frame, Margin, Panel, ScrollArea, Ui};

use super::page::page_head;
use crate::app::{AppState, Command, Depth, Page, RunCommand};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::theme::{Palette, tokens};
use crate::ui::widgets::{self, Button};
use ergodic_analysis::AUTO;
use ergodic_core::samplers;

mod calibration;
mod cards;
pub(in crate::ui::panels) mod form;
mod hold_out;
mod likelihood;
mod mode;
mod run_control;
mod start;
mod storage;
#[cfg(test)]
mod tests;
mod trials;

/// Width of the list of samplers.
const LIST: f32 = 392.0;

/// What the page keeps for itself.
#[derive(Default)]
pub struct SamplerView {
    form: form::FormView,
    list: cards::ListView,
    likelihood: likelihood::LikelihoodView,
}

/// Draws the page.
pub fn sampler_ui(ui: &mut Ui, state: &AppState, view: &mut SamplerView, out: &mut Outbox) {
    let t = tokens();
    let colors = Palette::of(ui);
    ui.spacing_mut().item_spacing.y = 0.0;
    super::page::problem_banner(ui, state, out);
    let Some(document) = &state.document else {
        let text = "Samplers are chosen for a model: open data and choose an outcome first";
        if widgets::empty_state(ui, icons::SLIDERS_HORIZONTAL, text, Some("Open data")) {
            out.send(Command::GoTo(if state.data.is_some() {
                Page::Data
            } else {
                Page::Start
            }));
        }
        return;
    };
    let recipe = &document.recipe;
    head_ui(ui, state, out);
    let list = LIST.min(ui.available_width() * 0.42);
    Panel::left("sampler-list")
        .exact_size(list)
        .frame(Frame::NONE.fill(colors.bg_panel))
        .show(ui, |ui| {
            ScrollArea::vertical()
                .auto_shrink([false, false])
                .show(ui, |ui| {
                    Frame::NONE
                        .inner_margin(Margin::same(t.space.x3 as i8))
                        .show(ui, |ui| {
                            cards::cards_ui(ui, state, recipe, &mut view.list, out);
                        });
                });
        });
    Frame::NONE.fill(colors.bg_app).show(ui, |ui| {
        ui.set_min_size(ui.available_size());
        ScrollArea::vertical()
            .auto_shrink([false, false])
            .show(ui, |ui| {
                Frame::NONE
                    .inner_margin(Margin::same(t.space.x4 as i8))
                    .show(ui, |ui| {
                        ui.set_max_width(t.size.reading_column);
                        ui.spacing_mut().item_spacing.y = t.space.x2;
                        run_control::run_control_ui(ui, state, recipe, out);
                        // What a first run does not need shows from the standard view on.
                        if state.preferences.depth == Depth::Verdict {
                            return;
                        }
                        hold_out::hold_out_ui(ui, state, recipe, out);
                        ui.add_space(t.space.x2);
                        match samplers::find(&recipe.sampler.id) {
                            Some(entry) => {
                                form::form_ui(ui, entry, state, recipe, &mut view.form, out);
                                ui.add_space(t.space.x2);
                                trials::trials_ui(ui, state, entry, recipe, out);
                            }
                            None => auto_ui(ui, state),
                        }
                        ui.add_space(t.space.x2);
                        calibration::calibration_ui(ui, state, recipe, out);
                        ui.add_space(t.space.x2);
                        mode::mode_ui(ui, recipe, &mut view.form, out);
                        storage::storage_ui(ui, state, recipe, out);
                        ui.add_space(t.space.x2);
                        likelihood::likelihood_ui(ui, state, recipe, &mut view.likelihood, out);
                    });
            });
    });
}

/// The page head: what this page decides, and the way on.
fn head_ui(ui: &mut Ui, state: &AppState, out: &mut Outbox) {
    let facts = reason(state);
    page_head(
        ui,
        icons::SLIDERS_HORIZONTAL,
        "Choose a sampler",
        &facts,
        |ui| {
            let refusal = refusal(state);
            let run = Button::new("Run")
                .icon_fill(icons::PLAY)
                .key("Ctrl Enter")
                .primary();
            let response = ui.add_enabled(refusal.is_none(), run);
            if response
                .on_disabled_hover_text(refusal.unwrap_or_default())
                .on_hover_text("Start the chains (Ctrl Enter)")
                .clicked()
            {
                out.send(RunCommand::Start);
            }
        },
    );
}

/// Why the draft cannot be run, if it cannot.
fn refusal(state: &AppState) -> Option<String> {
    let document = state.document.as_ref()?;
    if let Some(error) = &document.formula_error {
        return Some(error.clone());
    }
    if !document.is_runnable() {
        return Some("Choose an outcome and predictors on the model page first".to_owned());
    }
    state.check.as_ref().and_then(|check| check.error.clone())
}

/// What is chosen, and why.
fn reason(state: &AppState) -> String {
    if let Some(refusal) = refusal(state) {
        return refusal;
    }
    let Some(document) = &state.document else {
        return String::new();
    };
    let id = &document.recipe.sampler.id;
    match samplers::find(id) {
        Some(entry) => format!("{}: {}", entry.spec.title, entry.spec.about),
        None if id == AUTO => format!(
            "Chosen for you: {}",
            cards::auto_reason(state, &document.recipe)
        ),
        None => format!("There is no sampler `{id}`; choose one of the list"),
    }
}

/// What `auto` means, where the form of a sampler would stand.
fn auto_ui(ui: &mut Ui, state: &AppState) {
    widgets::heading(ui, "Settings");
    let title = state
        .document
        .as_ref()
        .and_then(|document| cards::advice(state, &document.recipe))
        .and_then(|advice| samplers::find(advice.sampler))
        .map(|entry| entry.spec.title);
    let text = match title {
        Some(title) => format!(
            "{title} and its settings are chosen when the run starts; the run's recipe records them. Choose {title} in the \
             list to see and change them."
        ),
        None => "The sampler and its settings are chosen when the run starts; the run's recipe records them.".to_owned(),
    };
    widgets::hint(ui, &text);
}
