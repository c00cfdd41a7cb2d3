//! The likelihood fit of a run's data and formula beside its posterior.

use eframe::egui::{
    Align, Layout, Rect, Role, ScrollArea, Sense, Stroke, Ui, WidgetInfo, pos2, vec2,
};

use super::likelihood_ratio::{RatioView, ratio_ui};
use super::pane::{Home, Pane};
use super::panes::{PaneViews, Variable};
use super::tree::recipe_of;
use crate::app::{Analysis, PathCommand, Product, Question, RunEntry};
use crate::ui::outbox::Outbox;
use crate::ui::panels::likelihood_method::MethodChoice;
use crate::ui::plots::legend::{Sign, legend_line};
use crate::ui::theme::{Palette, Text, VerdictKind, tokens};
use crate::ui::widgets::table::{Cell, Column, Table, Tone};
use crate::ui::widgets::{self, Button, number};
use crate::ui::{icons, tasks};
use ergodic_analysis::likelihood::{LikelihoodFit, has_fit};
use ergodic_analysis::{ComparedRow, NotComparable, compared_rows};
use ergodic_base::numerals::plural;
use ergodic_core::engine::Report;

/// Posterior standard deviations between estimate and mean from which a difference stands out.
const FAR: f64 = 1.0;
/// Least width of the picture of both intervals.
const PICTURE: f32 = 120.0;
/// Most of what is left of the height that the choice of a method takes.
const METHODS_SHARE: f32 = 0.5;

/// What the pane keeps: the rows of a fit and a report, and what is tested.
pub(super) struct LikelihoodComparison {
    /// Addresses that tell whether `rows` are of the same fit and report.
    made_of: Option<(usize, u64)>,
    rows: Result<Vec<ComparedRow>, NotComparable>,
    ratio: RatioView,
    method: MethodChoice,
    /// Whether other methods and remarks are shown: there is little room for the table.
    more: bool,
}

impl Default for LikelihoodComparison {
    fn default() -> Self {
        Self {
            made_of: None,
            rows: Ok(Vec::new()),
            ratio: RatioView::default(),
            method: MethodChoice::default(),
            more: false,
        }
    }
}

impl Pane for LikelihoodComparison {
    const ID: &'static str = "likelihood";
    const TITLE: &'static str = "Likelihood";
    const ICON: char = icons::CHART_LINE_UP;
    const ABOUT: &'static str =
        "A likelihood fit of the same model beside the posterior, and likelihood-ratio tests";
    const HOME: Home = Home::Above;

    fn shows(of: &Variable<'_>) -> Result<(), &'static str> {
        if recipe_of(of.entry).map_or(of.has_groups(), has_fit) {
            Ok(())
        } else {
            Err(
                "Likelihood fits stand beside regressions, with or without effects that vary by group; this model is none",
            )
        }
    }

    fn ui(&mut self, ui: &mut Ui, of: &Variable<'_>, _views: &mut PaneViews, out: &mut Outbox) {
        let changes = of.entry.version() + of.key.version;
        likelihood_comparison_pane(ui, of.entry, (of.report, changes), self, out);
    }
}

fn likelihood_comparison_pane(
    ui: &mut Ui,
    entry: &RunEntry,
    (report, version): (&Report, u64),
    view: &mut LikelihoodComparison,
    out: &mut Outbox,
) {
    if let Some(going) = entry.fitting.working() {
        let text = tasks::words(going, None);
        if widgets::empty_state(ui, icons::HOURGLASS_MEDIUM, &text, Some("Cancel")) {
            out.send(Question::Cancel(entry.id, Analysis::LikelihoodFit));
        }
        ui.ctx()
            .request_repaint_after(super::super::page::PROGRESS_TIME);
    } else if let Some(done) = entry.fitting.done() {
        let made_of = (std::sync::Arc::as_ptr(done) as usize, version);
        if view.made_of != Some(made_of) {
            view.made_of = Some(made_of);
            view.rows = compared_rows(done, &done.recipe, &report.summary);
        }
        head_ui(ui, entry.id, done, &mut view.more, out);
        if let Some(why) = entry.fitting.refusal() {
            refusal_ui(ui, why);
        }
        if view.more {
            // In a low pane the methods leave room for the table.
            let most = ui.available_height() * METHODS_SHARE;
            ScrollArea::vertical()
                .max_height(most)
                .auto_shrink([false, true])
                .show(ui, |ui| {
                    method_ui(ui, entry.id, done, &mut view.method, out);
                });
        }
        ratio_ui(ui, entry, &mut view.ratio, out);
        match &view.rows {
            Ok(rows) => rows_ui(ui, rows),
            Err(why) => {
                widgets::empty_state(ui, icons::TABLE, &why.to_string(), None);
            }
        }
    } else {
        let text = "A fit by maximum likelihood, without priors and chains, as lm, glm, polr and lme4 make it, to set beside this \
                    posterior";
        let (text, act) = match entry.fitting.refusal() {
            Some(why) => (why, "Try again"),
            None => (text, "Fit by likelihood"),
        };
        if widgets::empty_state(ui, icons::CHART_LINE_UP, text, Some(act)) {
            out.send(Question::Estimate(entry.id, None));
        }
    }
}

fn head_ui(ui: &mut Ui, id: u64, done: &LikelihoodFit, more: &mut bool, out: &mut Outbox) {
    let t = tokens();
    let p = Palette::of(ui);
    widgets::inset(ui, [t.space.x3, t.space.x1], |ui| {
        ui.spacing_mut().item_spacing = vec2(t.space.x3, t.space.x1);
        ui.horizontal(|ui| {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let export = Button::new("Export").small().icon(icons::EXPORT);
                let clicked = ui
                    .add(export)
                    .on_hover_text("The likelihood fit as fit.json, effects.csv and fitted.csv in a new folder")
                    .clicked();
                if clicked {
                    out.send(PathCommand::Pick(Product::Fit(Some(id))));
                }
                let has_methods = !done.fit.components.is_empty();
                let remarks = done.fit.warnings.len();
                let label = match (has_methods, remarks) {
                    (false, _) => plural(remarks, "remark"),
                    (true, 0) => "Other methods".to_owned(),
                    (true, _) => format!("Other methods, {}", plural(remarks, "remark")),
                };
                if has_methods || remarks > 0 {
                    let button = Button::new(&label).small().quiet().caret();
                    *more ^= ui.add(button).clicked();
                }
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    let fit = &done.fit;
                    let title = fit.method.spec().title;
                    let how = if title == fit.criterion {
                        title.to_owned()
                    } else {
                        format!("{title} ({})", fit.criterion)
                    };
                    let error = fit.log_lik_error.map_or_else(String::new, |error| {
                        format!(" (Monte Carlo se {})", number::significant(error, 2))
                    });
                    let text = format!(
                        "{how} and posterior; log likelihood {}{error}, AIC {}; difference in posterior sd",
                        number::fixed(fit.log_lik, 2),
                        number::fixed(fit.aic, 1)
                    );
                    widgets::sentence_line(ui, &text, Text::Caption, true);
                });
            });
        });
        let line = |color| Sign::Line(Stroke::new(t.stroke.interval_50, color), &[]);
        let entries = [
            (line(p.accent), "likelihood, 90%"),
            (line(p.posterior), "posterior, 90%"),
        ];
        legend_line(ui, &entries);
    });
}

/// Why another fit was not made, above the one that was.
fn refusal_ui(ui: &mut Ui, why: &str) {
    let t = tokens();
    widgets::inset(ui, [t.space.x3, t.space.x1], |ui| {
        widgets::sentence(ui, &format!("Not fitted again: {why}"), Text::Caption);
    });
}

/// Other methods for models with effects of groups, and what is to know about the fit that is shown.
fn method_ui(
    ui: &mut Ui,
    id: u64,
    done: &LikelihoodFit,
    method: &mut MethodChoice,
    out: &mut Outbox,
) {
    let t = tokens();
    widgets::inset(ui, [t.space.x3, t.space.x1], |ui| {
        if !done.fit.components.is_empty() {
            ui.horizontal_wrapped(|ui| {
                ui.spacing_mut().item_spacing = vec2(t.space.x3, t.space.x1);
                let mut options = done.options.clone();
                method.show(ui, done.fit.curves.is_empty(), &mut options);
                let again = Button::new("Fit again").small();
                if ui.add(again).clicked() {
                    out.send(Question::Estimate(id, Some(options)));
                }
            });
        }
        for warning in &done.fit.warnings {
            widgets::sentence(ui, &warning.to_string(), Text::Caption);
        }
    });
}

fn rows_ui(ui: &mut Ui, rows: &[ComparedRow]) {
    let t = tokens();
    let value = |value: f64, row: &ComparedRow| number::to_sd_digits(value, row.sd);
    let main = |head, of: fn(&ComparedRow) -> f64| {
        Column::number(head, 84.0, move |k| {
            Cell::number(value(of(&rows[k]), &rows[k]), Tone::Primary)
        })
        .by(move |k| of(&rows[k]))
    };
    let sd =
        |value: Option<f64>| Cell::number(value.map_or(String::new(), number::sd), Tone::Secondary);
    Table::new(
        "likelihood comparison",
        "Likelihood fit and posterior",
        rows.len(),
    )
    .inset(t.space.x2)
    .column(Column::names(ui, "parameter", rows.len(), |k| {
        rows[k].variable.as_str()
    }))
    .column(main("estimate", |row| row.estimate))
    .column(
        Column::number("se", 68.0, move |k| sd(rows[k].se)).by(|k| rows[k].se.unwrap_or(f64::NAN)),
    )
    .column(main("mean", |row| row.mean))
    .column(Column::number("sd", 68.0, move |k| sd(Some(rows[k].sd))).by(|k| rows[k].sd))
    .column(Column::number("90% interval", 132.0, move |k| {
        let [low, high] = rows[k].posterior.map(|end| value(end, &rows[k]));
        Cell::number(format!("{low} to {high}"), Tone::Secondary)
    }))
    .column(
        Column::number("difference", 84.0, |k| {
            let difference = rows[k].difference();
            let tone = if difference.abs() > FAR {
                Tone::Past(VerdictKind::Watch)
            } else {
                Tone::Secondary
            };
            Cell::number(number::signed(difference, 2), tone)
        })
        .by(|k| rows[k].difference()),
    )
    .column(
        Column::new("", PICTURE, |k| {
            Cell::drawn(move |ui| interval_cell(ui, &rows[k]))
        })
        .fills(),
    )
    .show(ui);
}

/// Both intervals over each other, each with its centre, on an axis of their own.
fn interval_cell(ui: &mut Ui, row: &ComparedRow) {
    let t = tokens();
    let p = Palette::of(ui);
    let rect = ui.max_rect().shrink2(vec2(t.space.x3, 0.0));
    let (_, response) = ui.allocate_exact_size(ui.max_rect().size(), Sense::hover());
    let likelihood = row.interval();
    let words = format!(
        "{}: likelihood {}{}, posterior {} from {} to {}",
        row.variable,
        number::significant(row.estimate, 3),
        likelihood.map_or(String::new(), |[low, high]| format!(
            " from {} to {}",
            number::significant(low, 3),
            number::significant(high, 3)
        )),
        number::significant(row.mean, 3),
        number::significant(row.posterior[0], 3),
        number::significant(row.posterior[1], 3),
    );
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &words));
    let ends = likelihood.unwrap_or([row.estimate; 2]);
    let low = row.posterior[0].min(ends[0]);
    let high = row.posterior[1].max(ends[1]);
    if high.is_nan() || high <= low || rect.width() < 8.0 {
        return;
    }
    let x = |value: f64| rect.left() + ((value - low) / (high - low)) as f32 * rect.width();
    let place = |share: f32| rect.top() + share * rect.height();
    let bar = |[from, to]: [f64; 2], center: f64, y: f32, color| {
        let line = Rect::from_min_max(pos2(x(from), y), pos2(x(to), y));
        ui.painter()
            .hline(line.x_range(), y, Stroke::new(t.stroke.interval_90, color));
        ui.painter().circle_filled(pos2(x(center), y), 3.0, color);
    };
    bar(ends, row.estimate, place(0.32), p.accent);
    bar(row.posterior, row.mean, place(0.68), p.posterior);
    response.on_hover_text(words);
}

#[cfg(test)]
mod tests {
    use egui_kittest::kittest::{NodeT as _, Queryable as _};

    use super::*;
    use crate::app::testing::Session;
    use crate::ui::panels::runs::runs_ui;
    use crate::ui::testing::page_harness;

    /// Without groups, too: coefficients of `glm` beside those of a posterior, and a test of one of them.
    #[test]
    fn a_plain_regression_is_compared_with_its_likelihood_fit() {
        let (session, id) = Session::with_run("churn");
        let mut harness = page_harness(session, runs_ui);
        harness.run_steps(3);
        harness
            .get_by_role_and_label(Role::Tab, "Likelihood")
            .click();
        harness.run_steps(3);
        harness.get_by_label("Fit by likelihood").click();
        harness.run_steps(4);
        assert!(harness.state().has_sent(Question::Estimate(id, None)));
        let cells: Vec<String> = (harness.get_all_by_role(Role::Cell))
            .filter_map(|node| {
                let node = node.accesskit_node();
                node.label().or_else(|| node.value())
            })
            .collect();
        let entry = harness.state().session.state.selected().unwrap();
        let fit = &entry.fitting.done().unwrap().fit;
        assert!(fit.components.is_empty());
        for effect in &fit.fixed {
            let name = format!("b[{}]", effect.name);
            assert!(cells.contains(&name), "{name}: {cells:?}");
        }
        harness.get_by_label_contains("Likelihood-ratio test without");
    }
}
