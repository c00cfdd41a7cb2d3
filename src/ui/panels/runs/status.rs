//! The line at the bottom of the window: seed, sampler, equal command line; rate and passes over the data.

use eframe::egui::{Align, Frame, Layout, Margin, Panel, Role, Sense, Ui, WidgetInfo, vec2};

use super::words;
use crate::app::RunEntry;
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::{number, paint};
use ergodic_base::settings::Value;
use ergodic_core::engine::ChainState;

/// Shows the line.
pub fn status_ui(ui: &mut Ui, entry: &RunEntry) {
    let t = tokens();
    let colors = Palette::of(ui);
    Panel::bottom("runs-status")
        .exact_size(t.size.status_bar)
        .frame(
            Frame::NONE
                .fill(colors.bg_panel)
                .inner_margin(Margin::symmetric(12, 0)),
        )
        .show(ui, |ui| {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                ui.spacing_mut().item_spacing.x = t.space.x4;
                for words in right_words(entry) {
                    fact(ui, &words, Text::Caption);
                }
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    ui.spacing_mut().item_spacing.x = t.space.x4;
                    left_ui(ui, entry);
                });
            });
        });
}

fn left_ui(ui: &mut Ui, entry: &RunEntry) {
    if let Some(seed) = seed(entry) {
        fact(ui, &format!("Seed {seed}"), Text::Caption);
    }
    let sampler = sampler_words(entry);
    if !sampler.is_empty() {
        fact(ui, &sampler, Text::Caption);
    }
    let (command, exists) = words::command_line(entry);
    let color = Palette::of(ui).text_secondary;
    let galley = paint::line(ui, &command, Text::CodeSmall, color, ui.available_width());
    let size = vec2(galley.size().x, tokens().size.status_bar);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("Copy: {command}")));
    paint::left_center(ui.painter(), rect.left(), rect.center().y, galley);
    paint::focus_ring_inside(ui, &response, rect);
    let hint = if exists {
        "The same run on the command line; click to copy"
    } else {
        "The same run on the command line, once the recipe is saved as recipe.toml; click to copy"
    };
    if response.on_hover_text(hint).clicked() {
        ui.ctx().copy_text(command);
    }
}

fn fact(ui: &mut Ui, words: &str, role: Text) {
    let color = Palette::of(ui).text_secondary;
    let galley = paint::line(ui, words, role, color, ui.available_width());
    let size = vec2(galley.size().x, tokens().size.status_bar);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, words));
    paint::left_center(ui.painter(), rect.left(), rect.center().y, galley);
}

fn seed(entry: &RunEntry) -> Option<u64> {
    entry
        .job()
        .map(|job| job.recipe.run.seed)
        .or_else(|| entry.recipe.as_ref().map(|recipe| recipe.run.seed))
}

/// The sampler with the settings that matter most, such as "SGLD-CV, batch 500, step 0.03".
fn sampler_words(entry: &RunEntry) -> String {
    let Some(spec) = entry.sampler() else {
        return String::new();
    };
    let recipe = entry.job().map(|job| &job.recipe).or(entry.recipe.as_ref());
    let mut text = spec.title.to_owned();
    for (key, word) in [
        ("batch", "batch"),
        ("step_size", "step"),
        ("target_accept", "target"),
    ] {
        let value = recipe.and_then(|recipe| recipe.sampler.settings.get(key));
        let value = match value {
            Some(Value::Int(number)) if *number >= 0 => number::integer(number.unsigned_abs()),
            Some(Value::Real(number)) => number::significant(*number, 2),
            _ => continue,
        };
        text.push_str(&format!(", {word} {value}"));
    }
    text
}

/// From right to left: passes over the data or, where there are none, gradients; draws per second.
fn right_words(entry: &RunEntry) -> Vec<String> {
    let Some(view) = entry.view() else {
        return Vec::new();
    };
    let mut words = Vec::new();
    let grads: u64 = view.chains.iter().map(|chain| chain.datum_grads).sum();
    if let Some(job) = entry.job() {
        let passes = grads as f64 / job.model.num_obs().max(1) as f64;
        let unit = match job.recipe.is_without_data() {
            true => "gradients",
            false => "passes over the data",
        };
        words.push(format!("{} {unit}", amount(passes)));
    }
    let rate = if view.is_finished() {
        let secs = view
            .chains
            .iter()
            .map(|chain| chain.draw_secs)
            .fold(0.0, f64::max);
        let draws: usize = view
            .chains
            .iter()
            .map(|chain| chain.draws.draws.len())
            .sum();
        (secs > 0.0).then_some(draws as f64 / secs)
    } else {
        let moving = (view.chains.iter()).filter(|chain| chain.state != ChainState::Paused);
        Some(moving.map(|chain| chain.rate).sum())
    };
    if let Some(rate) = rate.filter(|rate| *rate > 0.0) {
        words.push(format!("{} draws/s", amount(rate)));
    }
    words
}

fn amount(amount: f64) -> String {
    if amount >= 100.0 {
        number::integer(amount.round() as u64)
    } else {
        number::significant(amount, 2)
    }
}
