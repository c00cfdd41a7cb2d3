//! Samplers side by side on the draft's model: bias against an exact run, and what an effective draw costs.

use std::collections::BTreeSet;

use eframe::egui::{CentralPanel, Checkbox, Frame, Margin, ScrollArea, Ui};

use super::page::{middle_column, page_head, problem_banner};
use crate::app::comparing::{self, Compared, Comparison};
use crate::app::draft_pictures::DraftPicture;
use crate::app::{AppState, Command, DraftChange, DraftCommand, Page};
use crate::ui::outbox::Outbox;
use crate::ui::panels::{draft_picture, menu};
use crate::ui::plots::overlay::{OverlaidCurve, overlay_ui};
use crate::ui::theme::{Palette, Text, VerdictKind, tokens};
use crate::ui::widgets::table::{Cell, Column, Table, Tone};
use crate::ui::widgets::{self, Button, Field, number, progress};
use crate::ui::{icons, tasks};
use ergodic_analysis::comparison::{Measured, Row, Spread, Variant, VariantError, unit_of_cost};
use ergodic_core::samplers::names::NUTS;
use ergodic_core::samplers::{SamplerEntry, SamplerSpec, recommend};
use ergodic_diagnostics::RHAT_LIMIT;

#[cfg(test)]
mod tests;

/// What other samplers take of the time of NUTS, at least and at most, as a rule.
const LEAST: f64 = 0.2;
const MOST: f64 = 3.0;
/// Shift of a mean, in posterior standard deviations, and distance of a ratio of standard deviations from 1, that a bias check
/// lets pass.
const SHIFT_LIMIT: f64 = ergodic_diagnostics::bias::TOLERANCE;

/// Whether a run is too far from the reference in its means, or in its standard deviations. Not a number is past every limit.
fn is_shifted(m: &Measured) -> bool {
    m.mean_shift.is_nan() || m.mean_shift > SHIFT_LIMIT
}

fn is_scaled(m: &Measured) -> bool {
    let inside = 1.0 - SHIFT_LIMIT..=1.0 + SHIFT_LIMIT;
    !inside.contains(&m.sd_ratio.0) || !inside.contains(&m.sd_ratio.1)
}

fn is_mixing_badly(m: &Measured) -> bool {
    m.rhat.is_nan() || m.rhat > RHAT_LIMIT
}

/// What the page keeps for itself.
#[derive(Default)]
pub struct CompareView {
    /// Samplers that were left out of the next comparison, or taken in although they are there to be seen failing.
    turned: BTreeSet<&'static str>,
    /// Samplers with settings of their own, as they are typed.
    variants: String,
    /// Samplers are being chosen although there is a comparison.
    choosing: bool,
    /// The parameter whose densities are shown.
    parameter: usize,
    /// Further columns are shown where there is no room for all without scrolling.
    more: bool,
}

/// Draws the page.
pub fn compare_ui(ui: &mut Ui, state: &AppState, view: &mut CompareView, out: &mut Outbox) {
    let p = Palette::of(ui);
    problem_banner(ui, state, out);
    let comparison = state.comparison.as_ref();
    let comparison = comparison.filter(|it| it.working.is_some() || !view.choosing);
    head_ui(ui, state, comparison, view, out);
    CentralPanel::default()
        .frame(Frame::NONE.fill(p.bg_app))
        .show(ui, |ui| match comparison {
            None if !is_able(state) => {
                let (words, command) = match state.data {
                    None => ("Open data", Command::GoTo(Page::Start)),
                    Some(_) => ("Go to Model", Command::GoTo(Page::Model)),
                };
                let text =
                    "Samplers are compared on a model: choose an outcome and predictors first";
                if widgets::empty_state(ui, icons::SLIDERS_HORIZONTAL, text, Some(words)) {
                    out.send(command);
                }
            }
            None => {
                ScrollArea::vertical()
                    .auto_shrink([false, false])
                    .show(ui, |ui| {
                        ui.add_space(tokens().space.x4);
                        middle_column(ui, tokens().size.reading_column, |ui| {
                            choice_ui(ui, state, view, out);
                        });
                    });
            }
            Some(comparison) => body_ui(ui, state, comparison, view, out),
        });
}

/// Whether there is a model that samplers can be compared on.
fn is_able(state: &AppState) -> bool {
    let document = state.document.as_ref();
    document.is_some_and(|document| document.is_runnable())
}

/// Which samplers are to be run, how many runs that are, and how long they take.
fn choice_ui(ui: &mut Ui, state: &AppState, view: &mut CompareView, out: &mut Outbox) {
    let t = tokens();
    ui.spacing_mut().item_spacing.y = t.space.x2;
    let reference = comparing::reference(state);
    let all: Vec<&SamplerEntry> = comparing::suitable(state).collect();
    let ids: Vec<&'static str> = all
        .iter()
        .map(|entry| &entry.spec)
        .filter(|spec| {
            reference == Some(spec.id) || spec.negative_control == view.turned.contains(spec.id)
        })
        .map(|spec| spec.id)
        .collect();
    // What takes little height leaves the button below the boxes in sight.
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = t.space.x2;
        widgets::heading(ui, "Choose samplers to run");
        ui.add_space(t.space.x2);
        if ui
            .add(Button::new("Usual choice").small())
            .on_hover_text("All but those that are there to be seen failing")
            .clicked()
        {
            view.turned.clear();
        }
        if ui
            .add(Button::new("Only the reference").small())
            .on_hover_text("To take a few, or only those with settings of their own below")
            .clicked()
        {
            let usual = all.iter().map(|entry| &entry.spec);
            let usual = usual.filter(|spec| !spec.negative_control && reference != Some(spec.id));
            view.turned = usual.map(|spec| spec.id).collect();
        }
    });
    widgets::sentence(
        ui,
        "Each runs once with its default settings and the draft's chains, one after the other, and is compared with an exact one.",
        Text::Body,
    );
    ui.columns(2, |columns| {
        for (ui, half) in columns
            .iter_mut()
            .zip(all.chunks(all.len().div_ceil(2).max(1)))
        {
            ui.spacing_mut().item_spacing.y = 0.0;
            for entry in half {
                box_ui(ui, &entry.spec, reference, &ids, view);
            }
        }
    });
    ui.add_space(t.space.x2);
    let typed = typed_variants(&view.variants);
    let error = typed.as_ref().err().cloned();
    Field::new("And these, with settings of their own", &mut view.variants)
        .hint("hmc-ecs:order=1, sgld:batch=100:scheme=blocks")
        .mono()
        .error(error.as_deref())
        .show(ui);
    ui.add_space(t.space.x2);
    let mut chosen: Vec<Variant> = ids.iter().filter_map(|id| id.parse().ok()).collect();
    let is_sound = typed.is_ok();
    chosen.extend(typed.unwrap_or_default());
    widgets::sentence(ui, &effort(state, chosen.len()), Text::Body);
    let words = match chosen.len() {
        1 => "Run 1 sampler".to_owned(),
        count => format!("Run {count} samplers"),
    };
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = t.space.x2;
        let run = ui.add_enabled(
            !chosen.is_empty() && is_sound,
            Button::new(&words).icon_fill(icons::PLAY).primary(),
        );
        if run.clicked() {
            view.choosing = false;
            out.send(DraftCommand::CompareSamplers(chosen));
        }
        if state.comparison.is_some()
            && ui
                .add(Button::new("Show the last comparison").quiet())
                .clicked()
        {
            view.choosing = false;
        }
    });
}

/// The variants in a text that separates them by commas.
fn typed_variants(text: &str) -> Result<Vec<Variant>, String> {
    let parts = text.split(',').map(str::trim).filter(|it| !it.is_empty());
    parts
        .map(|part| {
            part.parse()
                .map_err(|error: VariantError| error.to_string())
        })
        .collect()
}

/// The box of one sampler.
fn box_ui(
    ui: &mut Ui,
    spec: &SamplerSpec,
    reference: Option<&str>,
    ids: &[&str],
    view: &mut CompareView,
) {
    let is_reference = reference == Some(spec.id);
    let mut on = ids.contains(&spec.id);
    let words = match (is_reference, spec.bias.is_some()) {
        (true, _) => format!("{}, the reference", spec.title),
        (false, true) => format!("{}, approximate", spec.title),
        (false, false) => spec.title.to_owned(),
    };
    let answer = ui
        .add_enabled(!is_reference, Checkbox::new(&mut on, words))
        .on_hover_text(spec.about)
        .on_disabled_hover_text("The others are compared with it");
    if answer.changed() && !view.turned.remove(spec.id) {
        view.turned.insert(spec.id);
    }
}

/// How long n runs take, from the size of the data and the cores of this machine.
fn effort(state: &AppState, runs: usize) -> String {
    let plural = if runs == 1 { "run" } else { "runs" };
    let check = state.check.as_ref().filter(|check| check.error.is_none());
    let Some(check) = check else {
        return format!("{runs} {plural}.");
    };
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let nuts = recommend::nuts_secs_on(check.rows.0, check.params.len(), cores).max(1.0);
    let all = nuts * runs as f64;
    format!(
        "{runs} {plural}, {} to {} in all by the size of the data and the cores of this machine: {} for NUTS, others as a rule a fifth \
         to three times that.",
        number::about(all * LEAST),
        number::about(all * MOST).trim_start_matches("about "),
        number::about(nuts).trim_start_matches("about "),
    )
}

fn head_ui(
    ui: &mut Ui,
    state: &AppState,
    comparison: Option<&Comparison>,
    view: &mut CompareView,
    out: &mut Outbox,
) {
    let draft = state.document.as_ref().map(|document| &document.recipe);
    let facts = match comparison {
        None => "Bias and cost of every sampler that suits the draft's model".to_owned(),
        Some(Comparison {
            working: Some(going),
            ..
        }) => tasks::words(going, state.tasks.secs_left(going)),
        Some(comparison) => {
            let done = comparison.rows().len();
            let end = if comparison.is_cancelled {
                ", cancelled"
            } else {
                ""
            };
            let stale =
                draft.is_none_or(|draft| !comparison.recipe.gives_the_same_results_as(draft));
            let stale = if stale {
                ", stale: the draft has changed since"
            } else {
                ""
            };
            format!(
                "`{}`, {done} samplers{end}{stale}",
                comparison.recipe.model.formula
            )
        }
    };
    let working = comparison.is_some_and(|comparison| comparison.working.is_some());
    page_head(ui, icons::SCALES, "Samplers side by side", &facts, |ui| {
        ui.spacing_mut().item_spacing.x = tokens().space.x2;
        if working {
            if ui.add(Button::new("Cancel").icon(icons::X)).clicked() {
                out.send(DraftCommand::CancelComparison);
            }
        } else if comparison.is_some() {
            let again = Button::new("Compare again").icon(icons::ARROW_CLOCKWISE);
            if ui.add_enabled(draft.is_some(), again).clicked() {
                view.choosing = true;
            }
        }
        let back = Button::new("Sampler page").icon(icons::ARROW_LEFT).quiet();
        if ui.add_enabled(draft.is_some(), back).clicked() {
            out.send(Command::GoTo(Page::Sampler));
        }
    });
}

fn body_ui(
    ui: &mut Ui,
    state: &AppState,
    comparison: &Comparison,
    view: &mut CompareView,
    out: &mut Outbox,
) {
    let t = tokens();
    let p = Palette::of(ui);
    let mut rows = comparison.rows();
    rows.sort_by_key(|row| row.outcome.is_err());
    if let Some(going) = &comparison.working {
        let share = going.fraction().unwrap_or(0.0);
        let (rect, response) = ui.allocate_exact_size(
            eframe::egui::vec2(ui.available_width(), 3.0),
            eframe::egui::Sense::hover(),
        );
        response.widget_info(|| {
            let role = eframe::egui::Role::ProgressIndicator;
            let mut info =
                eframe::egui::WidgetInfo::labeled(role, true, "Share of the comparison done");
            info.value = Some(share);
            info
        });
        progress::bar(ui, rect, share as f32, p.accent);
        ui.ctx()
            .request_repaint_after(std::time::Duration::from_millis(200));
    }
    Frame::NONE
        .inner_margin(Margin::same(t.space.x4 as i8))
        .show(ui, |ui| {
            if let Some(problem) = &comparison.problem {
                widgets::sentence(ui, problem, Text::Body);
                ui.add_space(t.space.x2);
            }
            ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
                let has_room = ui.available_width() >= ALL_COLUMNS;
                if !has_room {
                    ui.checkbox(&mut view.more, "More columns").on_hover_text(
                        "Relative cost after the warm-up, rows that a step uses, acceptance rates and shares of signs",
                    );
                    ui.add_space(t.space.x1);
                }
                let shows_all = has_room || view.more;
                Frame::NONE.fill(p.bg_surface).show(ui, |ui| {
                    table_ui(ui, state, (comparison, &rows), shows_all, out);
                });
                ui.add_space(t.space.x2);
                let reference = rows.iter().find(|row| is_reference(row, &rows));
                let reference = reference.map_or("the exact one", |row| row.variant.entry.spec.title);
                let text = format!(
                    "All samplers ran one after the other with the draft's chains and seed and, unless their names say otherwise, \
                     default settings. Shift and ratio are those of the worst parameter against {reference}, and carry the Monte Carlo \
                     error of both runs."
                );
                widgets::hint(ui, &text);
                if let Some(compared) = &comparison.facts {
                    densities_ui(ui, &rows, compared, &mut view.parameter);
                    if rows.iter().any(|row| row.outcome.is_ok()) {
                        draft_picture::save_ui(ui, DraftPicture::Densities, out);
                    }
                }
            });
        });
}

fn table_ui(
    ui: &mut Ui,
    state: &AppState,
    (comparison, rows): (&Comparison, &[Row]),
    shows_all: bool,
    out: &mut Outbox,
) {
    let t = tokens();
    let p = Palette::of(ui);
    let unit = unit_of_cost(rows).map(|(_, unit)| unit);
    let chosen = state.document.as_ref().map(|it| &it.recipe.sampler);
    // Rows of the data are known to the design before the comparison has ended.
    let num_obs = comparison
        .facts
        .as_ref()
        .map(|compared| compared.num_obs)
        .or(state.check.as_ref().map(|check| check.rows.0));
    let titles: Vec<String> = rows.iter().map(|row| row.variant.title()).collect();
    let title = |k: usize| titles[k].as_str();
    let measured = Runs { rows };
    let plain = |text: String| Cell::number(text, Tone::Secondary);
    let significant = |value: f64| Cell::number(number::significant(value, 3), Tone::Secondary);
    let mut table = Table::new("samplers", "Samplers side by side", rows.len())
        .whole()
        .row_height(t.size.row_table_roomy)
        .column(Column::new("", VERDICT, |k| Cell::verdict(p, kind_of(&rows[k]))).stays(true))
        .column(
            Column::new("sampler", SAMPLER, move |k| Cell::text(title(k), Tone::Primary)).by_text(title).stays(true),
        )
        .column(
            Column::number("mean shift", NUMBER, |k| match &rows[k].outcome {
                Err(reason) => Cell::across(format!("Not run: {reason}"), NUMBERS),
                Ok(_) if is_reference(&rows[k], rows) => Cell::number("reference", Tone::Primary),
                Ok(m) => Cell::number(number::fixed(m.mean_shift, 3), tone(is_shifted(m), Tone::Primary)),
            })
            .help("Largest distance of a posterior mean from the reference, in posterior standard deviations")
            .by(|k| rows[k].outcome.as_ref().map_or(f64::NAN, |m| m.mean_shift)),
        )
        .column(measured.column(("sd ratio", WIDE, "Smallest and largest ratio of a posterior standard deviation to the reference's"), |m| m.sd_ratio.0.ln().abs().max(m.sd_ratio.1.ln().abs()), move |row, m| {
                    // What is compared with itself has no ratio.
                    if is_reference(row, rows) {
                        return Cell::empty();
                    }
                    let [low, high] = [m.sd_ratio.0, m.sd_ratio.1].map(|ratio| number::fixed(ratio, 3));
                    Cell::number(format!("{low} to {high}"), tone(is_scaled(m), Tone::Secondary))
                }))
        .column(measured.column(("R-hat", NUMBER, "Largest R-hat; want at most 1.01"), |m| m.rhat, |_, m| {
                    Cell::number(number::rhat(m.rhat), tone(is_mixing_badly(m), Tone::Secondary))
                }))
        .column(measured.column(("ESS", NUMBER, "Smallest bulk effective sample size"), |m| m.ess, move |_, m| plain(number::ess(m.ess))))
        .column(measured.column(("draws/ESS", NUMBER, "Draws that one effective draw of the worst parameter takes"), |m| m.inefficiency, move |_, m| significant(m.inefficiency)))
        .column(measured.column(("passes/ESS", NUMBER, "Passes over the data per effective draw, warm-up included: does not depend on the machine"), |m| m.rows_per_ess, move |_, m| {
                    significant(num_obs.map_or(f64::NAN, |rows| m.rows_per_ess / rows as f64))
                }))
        .column(measured.column(("relative cost", RELATIVE, "Passes per effective draw as a multiple of those of HMC-ECS, where that was run, else of the cheapest sampler: the least, the median and the largest over parameters"), |m| m.rows_per_ess, move |_, m| {
                    let Some(relative) = unit.and_then(|unit| m.relative_to(unit)) else {
                        return Cell::empty();
                    };
                    let after = format!("After the warm-up: {}", multiples(relative.after_warmup));
                    plain(multiples(relative.whole)).hover(after)
                }));
    if shows_all {
        table = table.column(after_warmup_column(measured, unit));
    }
    table = table.column(measured.column(
        ("time", NUMBER, "Time of the run, warm-up included"),
        |m| m.seconds,
        move |_, m| plain(number::duration(m.seconds)),
    ));
    if shows_all {
        table = further_columns(table, measured);
    }
    let shown = table
        .column(
            Column::new("", USE, move |k| {
                let row = &rows[k].variant;
                if chosen
                    .is_some_and(|it| it.id == row.entry.spec.id && it.settings == row.settings)
                {
                    return Cell::text("in use", Tone::Secondary);
                }
                let able = rows[k].outcome.is_ok() && chosen.is_some();
                Cell::button("Use", able).hover(format!("Use {}", title(k)))
            })
            .fills(),
        )
        .show(ui);
    if let Some(row) = shown.pressed {
        out.send(DraftChange::Variant(rows[row].variant.clone()));
    }
}

/// Relative costs after the warm-up.
fn after_warmup_column<'a>(measured: Runs<'a>, unit: Option<&'a Measured>) -> Column<'a> {
    let after_warmup = move |k: usize| -> Option<Spread> {
        let measured = measured.rows[k].outcome.as_ref().ok()?;
        Some(measured.relative_to(unit?)?.after_warmup)
    };
    Column::number("after warm-up", RELATIVE, move |k| {
        after_warmup(k).map_or(Cell::empty(), |it| {
            Cell::number(multiples(it), Tone::Secondary)
        })
    })
    .help("Relative cost of the draws after the warm-up alone: the least, the median and the largest over parameters")
    .by(move |k| after_warmup(k).map_or(f64::NAN, |it| it.median))
}

/// With the columns that `ergodic compare` prints too: rows that a step uses, and, where a sampler has them, acceptance rates and shares
/// of signs.
fn further_columns<'a>(mut table: Table<'a>, measured: Runs<'a>) -> Table<'a> {
    table = table.column(measured.column(
        (
            "rows, %",
            NUMBER,
            "Share of the rows that a step uses, in percent",
        ),
        |m| m.rows_share,
        |_, m| {
            Cell::number(
                number::significant(100.0 * m.rows_share, 3),
                Tone::Secondary,
            )
        },
    ));
    type Share = fn(&Measured) -> Option<f64>;
    let shares: [(&str, &str, Share); 3] = [
        (
            "accept",
            "Mean acceptance probability of parameters, of samplers that report one",
            |m| m.accept,
        ),
        (
            "accept rows",
            "Mean acceptance probability of new rows that stand for all, of samplers that move them",
            |m| m.accept_rows,
        ),
        (
            "sign",
            "Share of draws with positive sign, of samplers with signed weights",
            |m| m.positive,
        ),
    ];
    for (head, help, share) in shares {
        let key = move |k: usize| measured.share(k, share);
        let cell = move |k: usize| {
            key(k).map_or(Cell::empty(), |it| {
                Cell::number(number::fixed(it, 3), Tone::Secondary)
            })
        };
        let column = Column::number(head, NUMBER, cell).help(help);
        table = table.column(column.by(move |k| key(k).unwrap_or(f64::NAN)));
    }
    table
}

/// The least, the median and the largest of multiples.
fn multiples(it: Spread) -> String {
    let all = [it.min, it.median, it.max].map(|ratio| number::significant(ratio, 2));
    all.join(" / ")
}

/// Densities of one parameter by all samplers that were measured, as many as can be told apart.
fn densities_ui(ui: &mut Ui, rows: &[Row], compared: &Compared, parameter: &mut usize) {
    let mut measured: Vec<&Row> = rows.iter().filter(|row| row.outcome.is_ok()).collect();
    // Those with settings of their own were asked for by name.
    measured.sort_by_key(|row| (!is_reference(row, rows), row.variant.settings.is_empty()));
    let measured = measured.into_iter().filter_map(|row| {
        let measured = row.outcome.as_ref().ok()?;
        Some((row.variant.title(), measured))
    });
    let measured: Vec<(String, &Measured)> = measured.collect();
    let shown = &measured[..measured.len().min(OVERLAID)];
    let Some((_, first)) = shown.first() else {
        return;
    };
    let names = &compared.names[..compared.names.len().min(first.curves.len())];
    *parameter = (*parameter).min(names.len().saturating_sub(1));
    let Some(name) = names.get(*parameter) else {
        return;
    };
    ui.add_space(tokens().space.x4);
    let scale = (compared.scale).map_or_else(String::new, |scale| format!(" {scale}"));
    widgets::heading(ui, &format!("Densities{scale}"));
    ui.add_space(tokens().space.x1);
    let button = ui.add(Button::new(name.as_str()).small().caret());
    menu::menu(&button, menu::NORMAL, |ui| {
        for (k, name) in names.iter().enumerate() {
            if menu::item(ui, name.as_str(), "", k == *parameter).clicked() {
                *parameter = k;
            }
        }
    });
    button.on_hover_text("The parameter whose densities are shown");
    if measured.len() > shown.len() {
        let text = format!(
            "{} of {} samplers: the reference, those with settings of their own, then others from the top",
            shown.len(),
            measured.len()
        );
        widgets::hint(ui, &text);
    }
    let curves: Vec<OverlaidCurve<'_>> = (shown.iter().enumerate())
        .filter_map(|(sign, (title, measured))| {
            let points = measured.curves.get(*parameter)?;
            Some(OverlaidCurve {
                title,
                points,
                sign,
            })
        })
        .collect();
    let id = ui.make_persistent_id("densities of samplers");
    overlay_ui(ui, id, names[*parameter].as_str(), &curves, DENSITIES);
}

/// Curves that can be told apart by colour and dash.
const OVERLAID: usize = 8;
/// Height of the densities.
const DENSITIES: f32 = 220.0;

/// Widths of numbers, of two of them, and of multiples; then of all together.
const NUMBER: f32 = 84.0;
const WIDE: f32 = 128.0;
const RELATIVE: f32 = 192.0;
const NUMBERS: f32 = 6.0 * NUMBER + WIDE + RELATIVE;
/// Widths of the verdict, of the name of a sampler, and of the button that takes it.
const VERDICT: f32 = 32.0;
const SAMPLER: f32 = 210.0;
const USE: f32 = 96.0;
/// Width of a table with all columns.
const ALL_COLUMNS: f32 = VERDICT + SAMPLER + NUMBERS + RELATIVE + 4.0 * NUMBER + USE;

fn tone(is_past: bool, otherwise: Tone) -> Tone {
    if is_past {
        Tone::Past(VerdictKind::Watch)
    } else {
        otherwise
    }
}

/// Rows, of which those that were not run have no numbers.
#[derive(Clone, Copy)]
struct Runs<'a> {
    rows: &'a [Row],
}

impl<'a> Runs<'a> {
    /// A share that not every sampler has; none of row `k` where that was not run.
    fn share(self, k: usize, of: fn(&Measured) -> Option<f64>) -> Option<f64> {
        self.rows[k].outcome.as_ref().ok().and_then(of)
    }

    /// A column with its head, width and tooltip, what it is sorted by, and its cells.
    fn column(
        self,
        (head, width, help): (&'a str, f32, &'a str),
        key: fn(&Measured) -> f64,
        cell: impl Fn(&'a Row, &'a Measured) -> Cell<'a> + 'a,
    ) -> Column<'a> {
        let measured = move |k: usize| self.rows[k].outcome.as_ref();
        Column::number(head, width, move |k| {
            measured(k).map_or(Cell::empty(), |measured| cell(&self.rows[k], measured))
        })
        .help(help)
        .by(move |k| measured(k).map_or(f64::NAN, key))
    }
}

/// Whether a row is the run that all others are compared with.
fn is_reference(row: &Row, rows: &[Row]) -> bool {
    let same = |measured: &Measured| measured.mean_shift == 0.0 && measured.sd_ratio == (1.0, 1.0);
    let has_nuts = rows.iter().any(|row| row.sampler() == NUTS);
    row.outcome.as_ref().is_ok_and(same) && (row.sampler() == NUTS || !has_nuts)
}

/// The verdict on a row: exact samplers are good once they mix, approximate ones once they are close.
fn kind_of(row: &Row) -> VerdictKind {
    match &row.outcome {
        Err(_) => VerdictKind::Bad,
        Ok(measured) if is_mixing_badly(measured) => VerdictKind::Watch,
        Ok(measured) => match is_shifted(measured) || is_scaled(measured) {
            true if row.exact() => VerdictKind::Watch,
            true => VerdictKind::NotCertified,
            false => VerdictKind::Good,
        },
    }
}
