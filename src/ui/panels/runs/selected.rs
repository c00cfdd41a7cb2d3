//! The card of the selected variable: the same five rows for every sampler.

use std::sync::Arc;

use eframe::egui::{Align, Frame, Layout, Margin, Rect, Role, Sense, Ui, WidgetInfo, pos2};

use crate::app::RunEntry;
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::{name, number, paint, value_row};
use ergodic_analysis::Job;
use ergodic_base::ParamId;
use ergodic_core::engine::Report;
use ergodic_core::models::PriorSource;
use ergodic_diagnostics::sentence::about;
use ergodic_diagnostics::{Precision, RHAT_LIMIT, SummaryRow};

/// Height of the card.
pub const HEIGHT: f32 = 156.0;

/// Shows the card.
pub fn selected_ui(ui: &mut Ui, entry: &RunEntry, report: &Report, index: usize) {
    let t = tokens();
    let colors = Palette::of(ui);
    let Some(row) = report.summary.get(index) else {
        return;
    };
    Frame::NONE
        .inner_margin(Margin::symmetric(12, 6))
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            ui.set_width(ui.available_width());
            let head = ui.allocate_ui_with_layout(
                eframe::egui::vec2(ui.available_width(), 24.0),
                Layout::left_to_right(Align::Center),
                |ui| {
                    ui.label(Text::Label.rich("Selected", colors.text_primary));
                    ui.available_rect_before_wrap()
                },
            );
            let rest = head.inner;
            let place = Rect::from_min_max(pos2(rest.left(), rest.top()), rest.right_bottom());
            let shown = name::shorten(&row.variable, 38);
            let galley = paint::line(ui, &shown, Text::Code, colors.text_primary, place.width());
            paint::right_center(
                ui.painter(),
                place.right(),
                head.response.rect.center().y,
                galley,
            );
            let (prior, source) = prior(entry, &row.variable);
            let rows = rows(report, row, (prior, source.to_string()));
            let unit = source.place;
            for (label, value, why) in rows {
                let response = value_row(ui, label, &value);
                if !why.is_empty() {
                    response.on_hover_text(why);
                }
            }
            // The coefficient above is on another scale than its prior, perhaps.
            let size = eframe::egui::vec2(ui.available_width(), Text::Caption.line());
            let (place, response) = ui.allocate_exact_size(size, Sense::hover());
            if !unit.is_empty() {
                response
                    .widget_info(|| WidgetInfo::labeled(Role::Label, true, paint::words(&unit)));
                let galley = paint::line(
                    ui,
                    &unit,
                    Text::Caption,
                    colors.text_secondary,
                    place.width(),
                );
                paint::right_center(ui.painter(), place.right(), place.center().y, galley);
            }
            ui.add_space(t.space.x1);
        });
}

/// Label, value and what the value means; the prior is given with where it comes from.
fn rows(
    report: &Report,
    row: &SummaryRow,
    (prior, source): (String, String),
) -> [(&'static str, String, String); 5] {
    let missing = row
        .missing
        .map_or(number::NOT_AVAILABLE.to_owned(), |why| why.to_string());
    let mcse = row.mcse_mean.unwrap_or(f64::NAN);
    let estimate = |value: f64| number::estimate(value, mcse);
    let interval = match (row.q50, row.q5, row.q95) {
        (Some(median), Some(low), Some(high)) => format!(
            "{}, {} to {}",
            estimate(median),
            estimate(low),
            estimate(high)
        ),
        _ => missing.clone(),
    };
    let mean = match (row.mean, row.mcse_mean) {
        (Some(mean), Some(mcse)) => number::with_error(mean, mcse),
        (Some(mean), None) => estimate(mean),
        _ => missing.clone(),
    };
    let ess = match (row.ess_bulk, row.ess_bulk_per_s) {
        (Some(ess), Some(rate)) => format!("{}, {}", number::ess(ess), number::rate(rate)),
        (Some(ess), None) => number::ess(ess),
        _ => missing,
    };
    let wanted = report.limits.ess();
    let precision = Precision {
        ess: Some(wanted),
        rhat: RHAT_LIMIT,
    };
    let needed = match precision.draws_needed(std::slice::from_ref(row), report.draws_per_chain) {
        Some(0) => "none".to_owned(),
        Some(draws) => format!("about {} per chain", about(draws)),
        None => number::NOT_AVAILABLE.to_owned(),
    };
    [
        (
            "median, 90% interval",
            interval,
            "5%, 50% and 95% quantiles of all chains' draws".to_owned(),
        ),
        (
            "mean ± MCSE",
            mean,
            "MCSE: standard error of the mean from the finite number of draws".to_owned(),
        ),
        (
            "ESS bulk, per second",
            ess,
            "Independent draws that would be as good, and how many of them a second of sampling makes"
                .to_owned(),
        ),
        (
            "draws still needed",
            needed,
            format!(
                "Until R-hat is at most {} and bulk and tail ESS at least {}",
                number::fixed(RHAT_LIMIT, 2),
                number::ess(wanted)
            ),
        ),
        ("prior", prior, source),
    ]
}

fn prior(entry: &RunEntry, name: &ParamId) -> (String, PriorSource) {
    let param = |job: &Arc<Job>| {
        let mut params = job.model.params().iter();
        params.find(|param| param.name == *name).cloned()
    };
    if let Some(param) = entry.job().and_then(param) {
        return (format!("`{}`", param.prior), param.prior_source);
    }
    if let crate::app::entry::RunPhase::Read(read) = &entry.phase
        && let Some((_, prior, source)) = read.manifest.as_ref().and_then(|manifest| {
            manifest
                .priors
                .iter()
                .find(|(known, ..)| name.as_str() == known)
        })
    {
        return (format!("`{prior}`"), source.clone());
    }
    (
        number::NOT_AVAILABLE.to_owned(),
        "The file of draws does not say".into(),
    )
}
