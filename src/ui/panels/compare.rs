//! Samplers side by side on the draft's model: bias against an exact run, and what an effective draw costs.

use std::cmp::Ordering;

use eframe::egui::{CentralPanel, Frame, Margin, ScrollArea, Ui};
use egui_extras::Column as Col;

use super::page::{page_head, problem_banner};
use crate::app::comparing::Comparison;
use crate::app::{AppState, Command, Page};
use crate::diagnostics::verdict::RHAT_LIMIT;
use crate::engine::comparison::{Measured, NUTS, Row, unit_of_cost};
use crate::samplers;
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::theme::{Palette, Text, VerdictKind, tokens};
use crate::ui::widgets::table::{
    Side, Tone, head_cell, number_cell, table, text_cell, verdict_cell,
};
use crate::ui::widgets::{self, Button, number, progress};

/// Shift of a mean, in posterior standard deviations, that a bias check lets pass.
const SHIFT_LIMIT: f64 = crate::diagnostics::bias::TOLERANCE;

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
            Self::Inefficiency => "Draws that one effective draw of the worst variable takes",
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
            Self::Rhat => m.rhat.is_nan() || m.rhat > RHAT_LIMIT,
            _ => false,
        }
    }
}

/// What the page keeps for itself.
#[derive(Default)]
pub struct CompareView {
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
    head_ui(ui, state, comparison, out);
    CentralPanel::default()
        .frame(Frame::NONE.fill(p.bg_app))
        .show(ui, |ui| match comparison {
            None => {
                let text = "Every sampler that suits the model is run with its default settings, and an exact one as the \
                            reference: NUTS, or collapsed Gibbs for mixtures";
                if widgets::empty_state(ui, icons::SCALES, text, Some("Compare samplers")) {
                    out.send(Command::CompareSamplers);
                }
            }
            Some(comparison) => body_ui(ui, state, comparison, view, out),
        });
}

fn head_ui(ui: &mut Ui, state: &AppState, comparison: Option<&Comparison>, out: &mut Outbox) {
    let draft = state.document.as_ref().map(|document| &document.recipe);
    let facts = match comparison {
        None => "Bias and cost of every sampler that suits the draft's model".to_owned(),
        Some(comparison) if comparison.working => comparison.control.progress().0,
        Some(comparison) => {
            let done = comparison.control.rows().len();
            let end = if comparison.control.is_cancelled() {
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
    let working = comparison.is_some_and(|comparison| comparison.working);
    page_head(ui, icons::SCALES, "Samplers side by side", &facts, |ui| {
        ui.spacing_mut().item_spacing.x = tokens().space.x2;
        if working {
            if ui.add(Button::new("Cancel").icon(icons::X)).clicked() {
                out.send(Command::CancelComparison);
            }
        } else if comparison.is_some() {
            let again = Button::new("Compare again").icon(icons::ARROW_CLOCKWISE);
            if ui.add_enabled(draft.is_some(), again).clicked() {
                out.send(Command::CompareSamplers);
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
    let mut rows = comparison.control.rows();
    view.arrange(&mut rows);
    if comparison.working {
        let (_, share) = comparison.control.progress();
        let (rect, response) = ui.allocate_exact_size(
            eframe::egui::vec2(ui.available_width(), 3.0),
            eframe::egui::Sense::hover(),
        );
        response.widget_info(|| {
            let role = eframe::egui::Role::ProgressIndicator;
            let mut info =
                eframe::egui::WidgetInfo::labeled(role, true, "Share of the comparison done");
            info.value = Some(f64::from(share));
            info
        });
        progress::bar(ui, rect, share, p.accent);
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
                     Shift and ratio are those of the worst variable, against NUTS (mixtures: collapsed Gibbs); they carry \
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
                                if index == 0 {
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

/// A sentence over the cells of a row without numbers.
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
    let (_, response) = ui.allocate_exact_size(rect.size(), eframe::egui::Sense::hover());
    response.widget_info(|| {
        eframe::egui::WidgetInfo::labeled(
            eframe::egui::Role::Cell,
            true,
            widgets::paint::words(text),
        )
    });
    let painter = ui.painter().with_clip_rect(eframe::egui::Rect::EVERYTHING);
    widgets::paint::left_center(&painter, rect.left() + t.space.x2, rect.center().y, galley);
    response.on_hover_text(widgets::paint::words(text));
}

/// The verdict on a row: exact samplers are good once they mix, approximate ones once they are close.
fn kind_of(row: &Row) -> VerdictKind {
    match &row.outcome {
        Err(_) => VerdictKind::Bad,
        Ok(measured) if Column::Rhat.is_past(measured) => VerdictKind::Watch,
        Ok(measured) if Column::Shift.is_past(measured) && row.exact => VerdictKind::Watch,
        Ok(measured) if Column::Shift.is_past(measured) => VerdictKind::NotCertified,
        Ok(_) => VerdictKind::Good,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::Session;
    use crate::ui::testing::page_harness;
    use egui_kittest::kittest::Queryable as _;

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
    }

    #[test]
    fn a_comparison_runs_the_samplers_that_suit_and_shows_them() {
        let mut session = Session::with_sample("fish");
        session.send(Command::AcceptImport);
        session.send(Command::SetRun(crate::engine::recipe::RunSection {
            chains: 2,
            warmup: Some(20),
            draws: 60,
            ..Default::default()
        }));
        session.send(Command::CompareSamplers);
        assert_eq!(session.state.page, Page::Compare);
        let comparison = session.state.comparison.clone().unwrap();
        assert_eq!(comparison.problem, None);
        assert!(!comparison.working);
        let rows = comparison.control.rows();
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
