//! Samplers side by side on the draft's model: bias against an exact run, and what an effective draw costs.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use eframe::egui::{CentralPanel, Checkbox, Frame, Margin, ScrollArea, Ui};
use egui_extras::Column as Col;

use super::page::{middle_column, page_head, problem_banner};
use crate::app::comparing::{self, Comparison};
use crate::app::{AppState, Command, Page};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::tasks;
use crate::ui::theme::{Palette, Text, VerdictKind, tokens};
use crate::ui::widgets::table::{
    Side, Tone, head_cell, number_cell, table, text_cell, verdict_cell,
};
use crate::ui::widgets::{self, Button, number, progress};
use ergodic_analysis::comparison::{Measured, NUTS, Row, unit_of_cost};
use ergodic_core::samplers::{self, SamplerEntry, SamplerSpec, recommend};
use ergodic_diagnostics::verdict::RHAT_LIMIT;

/// What other samplers take of the time of NUTS, at least and at most, as a rule.
const LEAST: f64 = 0.2;
const MOST: f64 = 3.0;
/// Shift of a mean, in posterior standard deviations, and distance of a ratio of standard deviations from 1, that a bias check
/// lets pass.
const SHIFT_LIMIT: f64 = ergodic_diagnostics::bias::TOLERANCE;

/// A column after icon and sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Shift,
    SdRatio,
    Rhat,
    Ess,
    Inefficiency,
    Cost,
    Relative,
    Seconds,
}

const COLUMNS: [Column; 8] = [
    Column::Shift,
    Column::SdRatio,
    Column::Rhat,
    Column::Ess,
    Column::Inefficiency,
    Column::Cost,
    Column::Relative,
    Column::Seconds,
];

impl Column {
    fn head(self) -> &'static str {
        match self {
            Self::Shift => "mean shift",
            Self::SdRatio => "sd ratio",
            Self::Rhat => "R-hat",
            Self::Ess => "ESS",
            Self::Inefficiency => "draws/ESS",
            Self::Cost => "passes/ESS",
            Self::Relative => "relative cost",
            Self::Seconds => "time",
        }
    }

    fn help(self) -> &'static str {
        match self {
            Self::Shift => {
                "Largest distance of a posterior mean from the reference, in posterior standard deviations"
            }
            Self::SdRatio => {
                "Smallest and largest ratio of a posterior standard deviation to the reference's"
            }
            Self::Rhat => "Largest R-hat; want at most 1.01",
            Self::Ess => "Smallest bulk effective sample size",
            Self::Inefficiency => "Draws that one effective draw of the worst parameter takes",
            Self::Cost => {
                "Passes over the data per effective draw, warm-up included: does not depend on the machine"
            }
            Self::Relative => {
                "The same as a multiple of that of HMC-ECS, where that was run, else of the cheapest sampler's"
            }
            Self::Seconds => "Time of the run, warm-up included",
        }
    }

    fn width(self) -> f32 {
        match self {
            Self::SdRatio => 128.0,
            Self::Relative => 96.0,
            _ => 84.0,
        }
    }

    /// What the column is sorted by, the better the smaller.
    fn key(self, m: &Measured) -> f64 {
        match self {
            Self::Shift => m.mean_shift,
            // A ratio of 0.5 is as far off as one of 2.
            Self::SdRatio => m.sd_ratio.0.ln().abs().max(m.sd_ratio.1.ln().abs()),
            Self::Rhat => m.rhat,
            Self::Ess => -m.ess,
            Self::Inefficiency => m.inefficiency,
            Self::Cost | Self::Relative => m.rows_per_ess,
            Self::Seconds => m.seconds,
        }
    }

    fn text(self, m: &Measured, num_obs: Option<usize>, unit: f64) -> String {
        match self {
            Self::Shift => number::fixed(m.mean_shift, 3),
            Self::SdRatio => format!(
                "{} to {}",
                number::fixed(m.sd_ratio.0, 3),
                number::fixed(m.sd_ratio.1, 3)
            ),
            Self::Rhat => number::rhat(m.rhat),
            Self::Ess => number::ess(m.ess),
            Self::Inefficiency => number::significant(m.inefficiency, 3),
            Self::Cost => num_obs.map_or(number::NOT_AVAILABLE.to_owned(), |rows| {
                number::significant(m.rows_per_ess / rows as f64, 3)
            }),
            Self::Relative => format!("× {}", number::significant(m.rows_per_ess / unit, 3)),
            Self::Seconds => number::duration(m.seconds),
        }
    }

    fn is_past(self, m: &Measured) -> bool {
        match self {
            // Not a number is past every limit.
            Self::Shift => m.mean_shift.is_nan() || m.mean_shift > SHIFT_LIMIT,
            Self::SdRatio => {
                let inside = 1.0 - SHIFT_LIMIT..=1.0 + SHIFT_LIMIT;
                !inside.contains(&m.sd_ratio.0) || !inside.contains(&m.sd_ratio.1)
            }
            Self::Rhat => m.rhat.is_nan() || m.rhat > RHAT_LIMIT,
            _ => false,
        }
    }
}

/// What the page keeps for itself.
#[derive(Default)]
pub struct CompareView {
    /// Samplers that were left out of the next comparison, or taken in although they are there to be seen failing.
    turned: BTreeSet<&'static str>,
    /// Samplers are being chosen although there is a comparison.
    choosing: bool,
    /// The column and whether the order is turned round; without one, the order of the list of samplers.
    sort: Option<(Column, bool)>,
}

impl CompareView {
    fn click(&mut self, column: Column) {
        self.sort = match self.sort {
            Some((old, false)) if old == column => Some((column, true)),
            Some((old, true)) if old == column => None,
            _ => Some((column, false)),
        };
    }

    /// Rows in order; those that were not run stand last.
    fn arrange(&self, rows: &mut [Row]) {
        let Some((column, turned)) = self.sort else {
            rows.sort_by_key(|row| row.outcome.is_err());
            return;
        };
        rows.sort_by(|a, b| match (&a.outcome, &b.outcome) {
            (Ok(a), Ok(b)) => {
                let order = column.key(a).total_cmp(&column.key(b));
                if turned { order.reverse() } else { order }
            }
            (Ok(_), Err(_)) => Ordering::Less,
            (Err(_), Ok(_)) => Ordering::Greater,
            (Err(_), Err(_)) => Ordering::Equal,
        });
    }
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
            None => {
                ScrollArea::vertical()
                    .auto_shrink([false, false])
                    .show(ui, |ui| {
                        ui.add_space(tokens().space.x6);
                        middle_column(ui, tokens().size.reading_column, |ui| {
                            choice_ui(ui, state, view, out);
                        });
                    });
            }
            Some(comparison) => body_ui(ui, state, comparison, view, out),
        });
}

/// Which samplers are to be run, how many runs that are, and how long they take.
fn choice_ui(ui: &mut Ui, state: &AppState, view: &mut CompareView, out: &mut Outbox) {
    let t = tokens();
    ui.spacing_mut().item_spacing.y = t.space.x2;
    let able = state
        .document
        .as_ref()
        .is_some_and(|document| document.is_runnable());
    if !able {
        let text = "Samplers are compared on a model: choose an outcome and predictors first";
        widgets::sentence(ui, text, Text::Body);
        return;
    }
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
    widgets::heading(ui, "Choose samplers to run");
    widgets::sentence(
        ui,
        "Each is run once with its default settings and the draft's chains and draws, one after the other, and compared with \
         an exact one.",
        Text::Body,
    );
    ui.add_space(t.space.x1);
    // In two columns, so that the button below them is in sight.
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
    widgets::sentence(ui, &effort(state, ids.len()), Text::Body);
    let words = match ids.len() {
        1 => "Run 1 sampler".to_owned(),
        count => format!("Run {count} samplers"),
    };
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = t.space.x2;
        let run = ui.add_enabled(
            !ids.is_empty(),
            Button::new(&words).icon_fill(icons::PLAY).primary(),
        );
        if run.clicked() {
            view.choosing = false;
            out.send(Command::CompareSamplers(ids));
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

/// How long so many runs take, from the size of the data and the cores of this machine.
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
        "{runs} {plural}, {} to {} in all: {} for a run of NUTS by the size of the data and the cores of this machine, and as \
         a rule a fifth to three times of that for the others.",
        number::about(all * LEAST),
        number::about(all * MOST).trim_start_matches("about "),
        number::about(nuts),
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
                out.send(Command::CancelComparison);
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
    view.arrange(&mut rows);
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
            ScrollArea::both().auto_shrink([false, false]).show(ui, |ui| {
                Frame::NONE.fill(p.bg_surface).show(ui, |ui| {
                    table_ui(ui, state, comparison, &rows, view, out);
                });
                ui.add_space(t.space.x2);
                widgets::hint(
                    ui,
                    "All samplers ran with their default settings and the draft's chains, draws and seed, one after the other. \
                     Shift and ratio are those of the worst parameter, against NUTS (mixtures: collapsed Gibbs); they carry \
                     the Monte Carlo error of both runs.",
                );
            });
        });
}

fn table_ui(
    ui: &mut Ui,
    state: &AppState,
    comparison: &Comparison,
    rows: &[Row],
    view: &mut CompareView,
    out: &mut Outbox,
) {
    let t = tokens();
    let unit = unit_of_cost(rows);
    let unit_cost = unit.map_or(f64::NAN, |(_, cost)| cost);
    let chosen = state
        .document
        .as_ref()
        .map(|document| document.recipe.sampler.id.as_str());
    // Rows of the data are known to the design before the comparison has ended.
    let num_obs = comparison
        .num_obs
        .or(state.check.as_ref().map(|check| check.rows.0));
    let mut builder = table(ui).column(Col::exact(32.0)).column(Col::exact(210.0));
    for column in COLUMNS {
        builder = builder.column(Col::exact(column.width()));
    }
    builder
        .column(Col::remainder().at_least(96.0))
        .header(t.size.row_table, |mut head| {
            head.col(|ui| {
                head_cell(ui, "", Side::Left, None);
            });
            head.col(|ui| {
                head_cell(ui, "sampler", Side::Left, None);
            });
            for column in COLUMNS {
                head.col(|ui| {
                    let sorted = view
                        .sort
                        .filter(|(by, _)| *by == column)
                        .map(|(_, turned)| !turned);
                    let response = head_cell(ui, column.head(), Side::Right, sorted)
                        .on_hover_text(column.help());
                    if response.clicked() {
                        view.click(column);
                    }
                });
            }
            head.col(|ui| {
                head_cell(ui, "", Side::Left, None);
            });
        })
        .body(|body| {
            body.rows(t.size.row_table_roomy, rows.len(), |mut line| {
                let row = &rows[line.index()];
                line.set_selected(chosen == Some(row.sampler));
                let title =
                    samplers::find(row.sampler).map_or(row.sampler, |entry| entry.spec.title);
                line.col(|ui| {
                    verdict_cell(ui, kind_of(row));
                });
                line.col(|ui| {
                    text_cell(ui, title, Tone::Primary);
                });
                let is_reference = is_reference(row, rows);
                match &row.outcome {
                    Ok(measured) => {
                        for column in COLUMNS {
                            line.col(|ui| {
                                let tone = if column.is_past(measured) {
                                    Tone::Past(VerdictKind::Watch)
                                } else if column == Column::Shift {
                                    Tone::Primary
                                } else {
                                    Tone::Secondary
                                };
                                // What is compared with itself has no shift.
                                let text = if is_reference && column == Column::Shift {
                                    "reference".to_owned()
                                } else if is_reference && column == Column::SdRatio {
                                    String::new()
                                } else {
                                    column.text(measured, num_obs, unit_cost)
                                };
                                number_cell(ui, &text, tone);
                            });
                        }
                    }
                    Err(reason) => {
                        let text = format!("Not run: {reason}");
                        for index in 0..COLUMNS.len() {
                            line.col(|ui| {
                                // In the last cell: each paints its own ground over what stands there before.
                                if index + 1 == COLUMNS.len() {
                                    reason_ui(ui, &text);
                                }
                            });
                        }
                    }
                }
                line.col(|ui| {
                    ui.add_space(t.space.x2);
                    let able =
                        row.outcome.is_ok() && chosen.is_some() && chosen != Some(row.sampler);
                    let name = format!("Use {title}");
                    if ui
                        .add_enabled(able, Button::new("Use").small())
                        .on_hover_text(name)
                        .clicked()
                    {
                        out.send(Command::SetSampler(row.sampler.to_owned()));
                    }
                });
            });
        });
}

/// Whether a row is the run that all others are compared with.
fn is_reference(row: &Row, rows: &[Row]) -> bool {
    let same = |measured: &Measured| measured.mean_shift == 0.0 && measured.sd_ratio == (1.0, 1.0);
    let has_nuts = rows.iter().any(|row| row.sampler == NUTS);
    row.outcome.as_ref().is_ok_and(same) && (row.sampler == NUTS || !has_nuts)
}

/// A sentence over the cells of a row without numbers, from the last of them.
fn reason_ui(ui: &mut Ui, text: &str) {
    let t = tokens();
    let p = Palette::of(ui);
    let rect = ui.max_rect();
    let width: f32 = COLUMNS.iter().map(|column| column.width()).sum();
    let galley = widgets::paint::line(
        ui,
        text,
        Text::Caption,
        p.text_secondary,
        width - t.space.x4,
    );
    let left = rect.right() - width;
    let whole = eframe::egui::Rect::from_x_y_ranges(left..=rect.right(), rect.y_range());
    ui.allocate_exact_size(rect.size(), eframe::egui::Sense::hover());
    let response = ui.interact(
        whole,
        ui.scope_id().with("reason"),
        eframe::egui::Sense::hover(),
    );
    response.widget_info(|| {
        eframe::egui::WidgetInfo::labeled(
            eframe::egui::Role::Cell,
            true,
            widgets::paint::words(text),
        )
    });
    let painter = widgets::paint::across_cells(ui, whole.x_range());
    widgets::paint::left_center(&painter, left + t.space.x2, rect.center().y, galley);
    response.on_hover_text(widgets::paint::words(text));
}

/// The verdict on a row: exact samplers are good once they mix, approximate ones once they are close.
fn kind_of(row: &Row) -> VerdictKind {
    match &row.outcome {
        Err(_) => VerdictKind::Bad,
        Ok(measured) if Column::Rhat.is_past(measured) => VerdictKind::Watch,
        Ok(measured) => {
            match Column::Shift.is_past(measured) || Column::SdRatio.is_past(measured) {
                true if row.exact => VerdictKind::Watch,
                true => VerdictKind::NotCertified,
                false => VerdictKind::Good,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::Session;
    use crate::ui::testing::{Shown, page_harness};
    use egui_kittest::Harness;
    use egui_kittest::kittest::{NodeT as _, Queryable as _};

    fn row(sampler: &'static str, mean_shift: f64, rows_per_ess: f64) -> Row {
        Row {
            sampler,
            exact: sampler == "nuts",
            outcome: Ok(Measured {
                seconds: 1.0,
                mean_shift,
                sd_ratio: (0.9, 1.1),
                rhat: 1.002,
                ess: 900.0,
                inefficiency: 2.0,
                rows_per_ess,
                rows_share: 1.0,
                accept: None,
                positive: None,
            }),
        }
    }

    #[test]
    fn rows_are_sorted_by_what_is_clicked_and_those_without_numbers_stand_last() {
        let failed = Row {
            sampler: "slice",
            exact: true,
            outcome: Err("every chain failed".to_owned()),
        };
        let rows = [
            failed,
            row("nuts", 0.0, 50.0),
            row("sgld", 0.6, 10.0),
            row("hmc", 0.1, 90.0),
        ];
        let mut view = CompareView::default();
        let order = |view: &CompareView| {
            let mut rows = rows.to_vec();
            view.arrange(&mut rows);
            rows.iter().map(|row| row.sampler).collect::<Vec<_>>()
        };
        assert_eq!(order(&view), ["nuts", "sgld", "hmc", "slice"]);
        view.click(Column::Cost);
        assert_eq!(order(&view), ["sgld", "nuts", "hmc", "slice"]);
        view.click(Column::Cost);
        assert_eq!(order(&view), ["hmc", "nuts", "sgld", "slice"]);
        view.click(Column::Shift);
        assert_eq!(order(&view), ["nuts", "hmc", "sgld", "slice"]);
        assert_eq!(kind_of(&rows[2]), VerdictKind::NotCertified);
        assert_eq!(kind_of(&rows[1]), VerdictKind::Good);
        // Too narrow is as far off as shifted.
        let mut narrow = rows[3].clone();
        if let Ok(measured) = &mut narrow.outcome {
            measured.mean_shift = 0.0;
            measured.sd_ratio = (0.98, 1.24);
            assert!(Column::SdRatio.is_past(measured));
        }
        assert_eq!(kind_of(&narrow), VerdictKind::NotCertified);
    }

    #[test]
    fn a_comparison_runs_the_samplers_that_suit_and_shows_them() {
        let mut session = Session::with_sample("fish");
        session.send(Command::AcceptImport);
        session.send(Command::SetRun(
            ergodic_core::engine::run_section::RunSection {
                chains: 2,
                warmup: Some(20),
                draws: 60,
                ..Default::default()
            },
        ));
        session.send(Command::GoTo(Page::Compare));
        // Nothing runs before it was said what, how often and for how long.
        let mut harness = page_harness(session, compare_ui);
        harness.run_steps(3);
        assert!(harness.state().session.state.comparison.is_none());
        let all = comparing::suitable(&harness.state().session.state).count();
        assert!(all > 4);
        let chosen = |harness: &Harness<'_, Shown<CompareView>>| {
            let run = harness.query_all_by_label_contains("Run ");
            let words = run
                .filter_map(|node| node.accesskit_node().label())
                .collect::<Vec<_>>();
            words.iter().find_map(|text| {
                text.strip_prefix("Run ")?
                    .split(' ')
                    .next()?
                    .parse::<usize>()
                    .ok()
            })
        };
        let before = chosen(&harness).unwrap();
        harness.get_by_label_contains("by the size of the data and the cores of this machine");
        let state = &harness.state().session.state;
        let left_out = comparing::suitable(state).find(|entry| {
            comparing::reference(state) != Some(entry.spec.id) && !entry.spec.negative_control
        });
        let spec = &left_out.unwrap().spec;
        let words = match spec.bias {
            Some(_) => format!("{}, approximate", spec.title),
            None => spec.title.to_owned(),
        };
        harness.get_by_label(&words).click();
        harness.run_steps(3);
        assert_eq!(chosen(&harness), Some(before - 1));
        let suitable = comparing::suitable(&harness.state().session.state);
        let kept: Vec<&str> = suitable.map(|entry| entry.spec.id).take(3).collect();
        let mut session = std::mem::take(&mut harness.state_mut().session);
        session.send(Command::CompareSamplers(kept.clone()));
        let comparison = session.state.comparison.as_ref().unwrap();
        let run: Vec<&str> = comparison.rows().iter().map(|row| row.sampler).collect();
        assert_eq!(run.len(), 3);
        assert!(run.iter().all(|id| kept.contains(id)), "{run:?}");
        assert_eq!(session.state.page, Page::Compare);
        let comparison = session.state.comparison.as_ref().unwrap();
        assert_eq!(comparison.problem, None);
        assert!(comparison.working.is_none());
        let rows = comparison.rows();
        assert!(rows.len() >= 2, "{rows:?}");
        let first = rows.iter().find(|row| row.outcome.is_ok()).unwrap().sampler;
        let title = samplers::find(first).unwrap().spec.title;
        let mut harness = page_harness(session, compare_ui);
        harness.run_steps(3);
        harness.get_by_label(title);
        harness.get_by_label("mean shift").click();
        harness.run_steps(3);
        harness.get_by_label("mean shift, ascending");
        let uses: Vec<_> = harness.get_all_by_label("Use").collect();
        assert!(!uses.is_empty());
        uses[0].click();
        harness.run_steps(3);
        assert!(matches!(
            harness.state().sent.last(),
            Some(Command::SetSampler(_))
        ));
    }
}
