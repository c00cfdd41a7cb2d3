//! How well a finished run predicts rows that it has not seen, and how it compares with other runs of the same rows.

use std::sync::Arc;

use eframe::egui::{ScrollArea, Shape, Stroke, Ui, vec2};

use super::kfold::{FORMULA, FoldsView, folds_ui};
use super::pane::{Home, Pane};
use super::panes::{PaneViews, Variable};
use super::words;
use crate::app::scoring::{is_tall, refusal};
use crate::app::{Analysis, AppState, Question, RunEntry, ViewCommand};
use crate::ui::outbox::Outbox;
use crate::ui::plots::axes::{self, Axes, padded};
use crate::ui::plots::data_table::{PlotData, data_table_ui};
use crate::ui::plots::legend::{DOT, Sign, legend_line};
use crate::ui::plots::marks::{self, Marks};
use crate::ui::theme::{Palette, Text, VerdictKind, tokens};
use crate::ui::widgets::table::{Cell, Column, Table, Tone};
use crate::ui::widgets::{self, Button, number};
use crate::ui::{icons, tasks};
use ergodic_analysis::loo::subsample::Subsampled;
use ergodic_analysis::loo::{Comparison, CrossValidation, check_comparable, compare};
use ergodic_diagnostics::loo::{Total, VERY_BAD};

/// What stands above the scores, and above the way to them.
const HEADING: &str = "How well rows that were left out are predicted";
/// Height of the picture of Pareto k.
const PICTURE: f32 = 200.0;
/// Radius of a point among many.
const SMALL_DOT: f32 = 1.75;
/// Rows listed.
const LISTED: usize = 100;

/// What the pane keeps: what is made of scores once, because that takes as long as there are rows.
#[derive(Default)]
pub(super) struct LooView {
    /// Runs and addresses of their scores that the rest was made of.
    made_of: Vec<(u64, usize)>,
    /// Row, counted from 1, and Pareto k of the points drawn.
    points: Vec<[f64; 2]>,
    /// Rows, 0-based, whose Pareto k is not good, the largest first.
    doubtful: Vec<(u32, f64)>,
    /// The runs compared, by name, this one first, and how they compare.
    comparison: Option<(Vec<Compared>, Comparison)>,
    /// Why other runs are not among them.
    refusals: Vec<String>,
    /// Cross-validation by fits without parts of the rows.
    folds: FoldsView,
}

/// A run that is compared.
struct Compared {
    name: String,
    formula: String,
}

impl Pane for LooView {
    const ID: &'static str = "loo";
    const TITLE: &'static str = "LOO";
    const ICON: char = icons::INTERSECT;
    const ABOUT: &'static str =
        "How well rows that were left out are predicted, and how runs compare";
    const HOME: Home = Home::Above;

    fn shows(of: &Variable<'_>) -> Result<(), &'static str> {
        if of.entry.has_row_densities() {
            Ok(())
        } else {
            Err(
                "No row can be left out of these draws: they are of no model that says how rows follow from parameters, or \
                 their model is not known",
            )
        }
    }

    fn ui(&mut self, ui: &mut Ui, of: &Variable<'_>, _views: &mut PaneViews, out: &mut Outbox) {
        loo_pane(ui, of.state, of.entry, self, out);
    }
}

fn loo_pane(ui: &mut Ui, state: &AppState, entry: &RunEntry, view: &mut LooView, out: &mut Outbox) {
    let is_going = entry.scores.working().is_some() || entry.sampled_scores.working().is_some();
    match (entry.scores.done(), entry.sampled_scores.done()) {
        (Some(done), _) if !is_going => {
            view.update(state, entry, done);
            done_ui(ui, state, entry, (done.as_ref(), view), out);
        }
        (_, Some(done)) if !is_going => {
            sampled_ui(ui, state, entry, (done.as_ref(), view), out);
        }
        _ => match refusal(entry) {
            Some(why) if !is_going && entry.folded.is_idle() => {
                widgets::empty_state(ui, icons::INTERSECT, why, None);
            }
            why => unscored_ui(ui, state, entry, (why, view), out),
        },
    }
}

/// The way to scores, or how far they are, and beside it the way to those by fits without parts of the rows.
fn unscored_ui(
    ui: &mut Ui,
    state: &AppState,
    entry: &RunEntry,
    (refusal, view): (Option<&str>, &mut LooView),
    out: &mut Outbox,
) {
    let t = tokens();
    let scroll = ScrollArea::vertical().auto_shrink([false, false]);
    scroll.show(ui, |ui| {
        widgets::inset(ui, [t.space.x4, t.space.x3], |ui| {
            ui.spacing_mut().item_spacing.y = t.space.x2;
            widgets::heading(ui, HEADING);
            let going = entry.scores.working();
            if let Some(going) = going.or(entry.sampled_scores.working()) {
                widgets::hint(ui, &tasks::words(going, state.tasks.secs_left(going)));
                if ui.add(Button::new("Cancel").small()).clicked() {
                    out.send(Question::Cancel(entry.id, Analysis::Scores));
                }
                ui.ctx()
                    .request_repaint_after(super::super::page::PROGRESS_TIME);
            } else {
                let failed = entry.scores.refusal().or(entry.sampled_scores.refusal());
                let text = failed.or(refusal).unwrap_or(
                    "How well would this model predict rows that it has not seen? Leave-one-out cross-validation estimates this from the \
                     draws at hand, without another run, and compares runs of the same rows",
                );
                widgets::sentence(ui, text, Text::Body);
                let word = match failed {
                    Some(_) => "Try again",
                    None => "Run leave-one-out",
                };
                if refusal.is_none() && ui.add(Button::new(word).small()).clicked() {
                    out.send(match is_tall(entry) {
                        true => Question::ScoreSample(entry.id),
                        false => Question::Score(entry.id),
                    });
                }
            }
            ui.add_space(t.space.x2);
            folds_ui(ui, state, entry, &mut view.folds, out);
        });
    });
}

/// What a sample of the rows of a tall table says, and the way to all of them.
fn sampled_ui(
    ui: &mut Ui,
    state: &AppState,
    entry: &RunEntry,
    (done, view): (&Subsampled, &mut LooView),
    out: &mut Outbox,
) {
    let t = tokens();
    let scroll = ScrollArea::vertical().auto_shrink([false, false]);
    scroll.show(ui, |ui| {
        widgets::inset(ui, [t.space.x4, t.space.x3], |ui| {
            ui.spacing_mut().item_spacing.y = t.space.x2;
            widgets::heading(ui, HEADING);
            let rows = [("elpd_loo", done.elpd), ("p_loo", done.p)];
            let value = |value: f64, tone: Tone| Cell::number(number::fixed(value, 1), tone);
            Table::new(
                "loo sample",
                "Scores of the run from a sample of its rows",
                rows.len(),
            )
            .whole()
            .column(Column::names(ui, "", rows.len(), |k| rows[k].0))
            .column(Column::number("estimate", 100.0, |k| {
                value(rows[k].1.estimate, Tone::Primary)
            }))
            .column(Column::number("se", 84.0, |k| {
                value(rows[k].1.se, Tone::Secondary)
            }))
            .column(
                Column::number("se of sample", 100.0, |k| {
                    value(rows[k].1.se_of_sample, Tone::Secondary)
                })
                .help("The part of the error that comes from the choice of the rows"),
            )
            .show(ui);
            widgets::sentence(ui, &done.sentence(), Text::Body);
            let all = Button::new("Leave all rows out").small();
            if ui
                .add(all)
                .on_hover_text("One row after the other: minutes")
                .clicked()
            {
                out.send(Question::Score(entry.id));
            }
            ui.add_space(t.space.x2);
            folds_ui(ui, state, entry, &mut view.folds, out);
        });
    });
}

/// Finished runs of the same data as `entry` whose rows can be left out as well.
fn others<'a>(state: &'a AppState, entry: &'a RunEntry) -> impl Iterator<Item = &'a RunEntry> {
    let fingerprint = entry.data_fingerprint();
    state.runs.iter().filter(move |other| {
        other.id != entry.id && other.data_fingerprint() == fingerprint && refusal(other).is_none()
    })
}

impl LooView {
    /// Makes what is shown of scores, unless that was done.
    fn update(&mut self, state: &AppState, entry: &RunEntry, done: &Arc<CrossValidation>) {
        let scored = others(state, entry).filter_map(|other| Some((other, other.scores.done()?)));
        let all: Vec<(&RunEntry, &Arc<CrossValidation>)> =
            std::iter::once((entry, done)).chain(scored).collect();
        let made_of: Vec<(u64, usize)> = all
            .iter()
            .map(|(entry, scores)| (entry.id, Arc::as_ptr(scores) as usize))
            .collect();
        if made_of == self.made_of {
            return;
        }
        *self = Self {
            made_of,
            points: done.points(),
            doubtful: done.doubtful(),
            comparison: None,
            refusals: Vec::new(),
            folds: std::mem::take(&mut self.folds),
        };
        let mut formulas = vec![entry.formula().to_owned()];
        let mut runs: Vec<(String, &CrossValidation)> = vec![(entry.title(), done.as_ref())];
        for (other, scores) in &all[1..] {
            let title = other.title();
            let names = [runs[0].0.as_str(), title.as_str()];
            match check_comparable(names, [&done.observed, &scores.observed]) {
                Ok(()) => {
                    formulas.push(other.formula().to_owned());
                    runs.push((title, scores.as_ref()));
                }
                Err(why) => self.refusals.push(why.to_string()),
            }
        }
        if runs.len() > 1
            && let Ok(comparison) = compare(&runs)
        {
            let names = runs.into_iter().map(|(name, _)| name);
            let compared = names.zip(formulas);
            let compared = compared.map(|(name, formula)| Compared { name, formula });
            self.comparison = Some((compared.collect(), comparison));
        }
    }
}

fn done_ui(
    ui: &mut Ui,
    state: &AppState,
    entry: &RunEntry,
    (done, view): (&CrossValidation, &mut LooView),
    out: &mut Outbox,
) {
    let t = tokens();
    ScrollArea::vertical()
        .auto_shrink([false, false])
        .show(ui, |ui| {
            widgets::inset(ui, [t.space.x4, t.space.x3], |ui| {
                ui.spacing_mut().item_spacing.y = t.space.x2;
                widgets::heading(ui, HEADING);
                totals_ui(ui, done);
                widgets::sentence(ui, &done.reliability(), Text::Body);
                doubt_ui(ui, entry, (done, &view.doubtful), out);
                for remark in done.remarks() {
                    widgets::hint(ui, &remark);
                }
                ui.add_space(t.space.x2);
                comparison_ui(ui, state, entry, view, out);
                ui.add_space(t.space.x2);
                folds_ui(ui, state, entry, &mut view.folds, out);
                ui.add_space(t.space.x2);
                points_ui(ui, entry.id, done, &view.points);
                doubtful_ui(ui, state, entry, &view.doubtful, out);
            });
        });
}

/// Offers moved draws, and fits without each of the rows, for rows that weights cannot score.
fn doubt_ui(
    ui: &mut Ui,
    entry: &RunEntry,
    (done, doubtful): (&CrossValidation, &[(u32, f64)]),
    out: &mut Outbox,
) {
    let keeps_rows_out = entry.holds_out();
    if doubtful.is_empty() {
        return;
    }
    let word = match doubtful.len() {
        1 => "Fit again without that row".to_owned(),
        count => format!("Fit again without each of {count} rows"),
    };
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = tokens().space.x2;
        let match_moments = Button::new("Match moments").small();
        let button = ui
            .add_enabled(done.can_match_moments(), match_moments)
            .on_hover_text(
                "Moves the draws towards the posterior without each of these rows and scores it by them, without another run",
            )
            .on_disabled_hover_text(match done.weighted {
                true => "Draws that have weights cannot be moved",
                false => "Draws were moved for these rows, and that was not enough",
            });
        if button.clicked() {
            out.send(Question::MatchMoments(entry.id));
        }
        let button = ui
            .add_enabled(!keeps_rows_out, Button::new(&word).small())
            .on_hover_text(format!(
                "{}; the scores of these rows are then exact",
                words::time_of_fits(entry, doubtful.len())
            ))
            .on_disabled_hover_text("The run keeps rows out of its fit already");
        if button.clicked() {
            out.send(Question::Refit(entry.id));
        }
    });
    if let Some(why) = entry.scores.refusal() {
        widgets::hint(ui, why);
    }
}

/// Sums over rows.
fn totals_ui(ui: &mut Ui, done: &CrossValidation) {
    let loo = &done.loo;
    let rows: [(&str, &str, Total); 5] = [
        (
            "elpd_loo",
            "expected log predictive density; higher is better",
            loo.elpd(),
        ),
        ("p_loo", "effective number of parameters", loo.p()),
        (
            "looic",
            "−2 elpd_loo, on the scale of deviances",
            loo.looic(),
        ),
        (
            "elpd_waic",
            "the same by WAIC, which is less robust",
            loo.elpd_waic(),
        ),
        (
            "p_waic",
            "effective number of parameters by WAIC",
            loo.p_waic(),
        ),
    ];
    let value = |value: f64| Cell::number(number::fixed(value, 1), Tone::Primary);
    Table::new("loo totals", "Scores of the run", rows.len())
        .whole()
        .column(Column::names(ui, "", rows.len(), |k| rows[k].0))
        .column(Column::number("estimate", 84.0, |k| {
            value(rows[k].2.estimate)
        }))
        .column(Column::number("se", 68.0, |k| {
            Cell::number(number::fixed(rows[k].2.se, 1), Tone::Secondary)
        }))
        .gap(tokens().space.x3)
        .column(Column::new("", 240.0, |k| Cell::text(rows[k].1, Tone::Faint)).fills())
        .show(ui);
    if let Some(error) = loo.mcse() {
        let text = format!("Monte Carlo error of elpd_loo: {}", number::fixed(error, 2));
        widgets::hint(ui, &text);
    }
}

/// The run beside others of the same rows.
fn comparison_ui(
    ui: &mut Ui,
    state: &AppState,
    entry: &RunEntry,
    view: &LooView,
    out: &mut Outbox,
) {
    widgets::heading(ui, "Compared with other runs of the same rows");
    if let Some((names, comparison)) = &view.comparison {
        let models = &comparison.models;
        let number = |value: f64, tone: Tone| Cell::number(number::fixed(value, 1), tone);
        Table::new("loo comparison", "Runs by elpd_loo", models.len())
            .whole()
            .column(Column::names(ui, "run", models.len(), |k| {
                &names[models[k].index].name
            }))
            .column(Column::number("elpd_loo", 84.0, |k| {
                number(models[k].elpd.estimate, Tone::Primary)
            }))
            .column(Column::number("p_loo", 68.0, |k| {
                number(models[k].p.estimate, Tone::Secondary)
            }))
            .column(Column::number("difference", 84.0, |k| {
                number(models[k].difference.estimate, Tone::Primary)
            }))
            .column(Column::number("se", 68.0, |k| {
                number(models[k].difference.se, Tone::Secondary)
            }))
            .column(
                Column::number("stacking weight", 116.0, |k| {
                    Cell::number(number::fixed(models[k].weight, 2), Tone::Secondary)
                })
                .help("Share in the mixture of these models that predicts best"),
            )
            .gap(tokens().space.x3)
            .column(
                Column::new("model", FORMULA, |k| {
                    Cell::text(names[models[k].index].formula.as_str(), Tone::Faint)
                })
                .fills(),
            )
            .show(ui);
        for sentence in &comparison.sentences {
            widgets::sentence(ui, sentence, Text::Body);
        }
        for remark in &comparison.remarks {
            widgets::hint(ui, remark);
        }
    }
    for why in &view.refusals {
        widgets::hint(ui, why);
    }
    let mut waiting = others(state, entry).filter(|other| other.scores.done().is_none());
    let mut any = view.comparison.is_some() || !view.refusals.is_empty();
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = tokens().space.x2;
        for other in &mut waiting {
            any = true;
            let word = format!("Compare with {}", other.title());
            let able = other.scores.working().is_none();
            let button = ui
                .add_enabled(able, Button::new(&word).small())
                .on_hover_text("Leaves the rows of that run out as well")
                .on_disabled_hover_text("Its rows are being left out");
            if button.clicked() {
                out.send(Question::Score(other.id));
            }
            if let Some(why) = other.scores.refusal() {
                widgets::hint(ui, why);
            }
        }
    });
    if !any {
        widgets::hint(
            ui,
            "There is no other finished run of these data; change the model, run it, and both stand here side by side",
        );
    }
}

/// Pareto k by row, those that are not good in colours of their own.
fn points_ui(ui: &mut Ui, id: u64, done: &CrossValidation, points: &[[f64; 2]]) {
    let t = tokens();
    let p = Palette::of(ui);
    let limit = done.loo.threshold();
    widgets::heading(ui, "Pareto k of each row");
    let drawn = if points.len() < done.loo.rows.len() {
        format!(
            "; {} of {} rows are drawn",
            number::integer(points.len() as u64),
            number::integer(done.loo.rows.len() as u64)
        )
    } else {
        String::new()
    };
    widgets::hint(
        ui,
        &format!(
            "How much the posterior changes when a row is left out: up to {} its draws can tell{drawn}",
            number::fixed(limit, 2)
        ),
    );
    legend_line(
        ui,
        &[
            (Sign::Dot(p.posterior), "good"),
            (Sign::Dot(p.watch), "bad"),
            (Sign::Dot(p.bad), "very bad"),
        ],
    );
    let ends = |j: usize, first: [f64; 2]| {
        let values = points.iter().map(|point| point[j]);
        values.fold((first[0], first[1]), |(low, high), v| {
            (low.min(v), high.max(v))
        })
    };
    let last = done
        .observed
        .rows
        .last()
        .map_or(1.0, |row| f64::from(*row) + 1.0);
    let x = padded(ends(0, [1.0, last]), 0.02);
    let y = padded(ends(1, [0.0, VERY_BAD]), 0.05);
    let summary = format!(
        "Pareto k of {} rows, {} of them not good",
        number::integer(done.loo.rows.len() as u64),
        number::integer(done.loo.doubtful().len() as u64)
    );
    let axes = Axes {
        x_title: "row",
        y_title: "Pareto k",
        ..Axes::new(ui.make_persistent_id(("loo", id)), &summary, x, y)
    };
    let all = points.to_vec();
    let many = points.len() > 300;
    let (good, watch, bad) = (
        axes::faded(p.posterior, if many { 0.45 } else { 0.8 }),
        p.watch,
        p.bad,
    );
    let (edge, width) = (p.threshold, t.stroke.threshold);
    let shown = axes::show(ui, p, &axes, PICTURE, move |plot| {
        plot.add(Marks::new(move |_ui, transform, shapes| {
            let frame = *transform.frame();
            for limit in [limit, VERY_BAD] {
                let y = transform.position_from_point_y(limit);
                shapes.push(Shape::hline(frame.x_range(), y, Stroke::new(width, edge)));
            }
            for [row, k] in &all {
                let place = marks::at(transform, *row, *k);
                let (color, radius) = if *k <= limit {
                    (good, SMALL_DOT)
                } else if *k <= VERY_BAD {
                    (watch, DOT)
                } else {
                    (bad, DOT)
                };
                shapes.push(Shape::circle_filled(place, radius, color));
            }
        }));
    });
    data_table_ui(ui, &shown.response, &summary, || {
        PlotData::new(["row", "Pareto k"], points.len(), |row, column| {
            points[row][column]
        })
    });
    if let Some(at) = shown.hover {
        let place = shown.transform.position_from_point(&at);
        let far = |point: &[f64; 2]| {
            let [x, y] = *point;
            let there = marks::at(&shown.transform, x, y);
            there.distance_sq(place)
        };
        let nearest = points.iter().min_by(|a, b| far(a).total_cmp(&far(b)));
        if let Some([row, k]) = nearest {
            shown.response.on_hover_text(format!(
                "Row {}: Pareto k {}",
                number::integer(*row as u64),
                number::fixed(*k, 2)
            ));
        }
    }
}

/// The rows whose Pareto k is not good, each with the way to its place in the data.
fn doubtful_ui(
    ui: &mut Ui,
    state: &AppState,
    entry: &RunEntry,
    doubtful: &[(u32, f64)],
    out: &mut Outbox,
) {
    if doubtful.is_empty() {
        return;
    }
    let open = state.data.as_ref();
    let open = open.map(|data| data.loaded.table.fingerprint());
    let is_there = open.is_some() && open == entry.data_fingerprint();
    let count = doubtful.len().min(LISTED);
    let shown = Table::new("loo rows", "Rows whose Pareto k is not good", count)
        .whole()
        .column(Column::number("row", 84.0, |k| {
            Cell::number(number::integer(u64::from(doubtful[k].0) + 1), Tone::Primary)
        }))
        .column(Column::number("Pareto k", 84.0, |k| {
            let tone = if doubtful[k].1 > VERY_BAD {
                Tone::Past(VerdictKind::Bad)
            } else {
                Tone::Past(VerdictKind::Watch)
            };
            Cell::number(number::fixed(doubtful[k].1, 2), tone)
        }))
        .gap(tokens().space.x3)
        .column(Column::new("", 112.0, |_| {
            Cell::button("Show the row", is_there)
        }))
        .show(ui);
    if let Some(k) = shown.pressed {
        out.send(ViewCommand::ShowRow(doubtful[k].0 as usize));
    }
    let more = doubtful.len() - count;
    if more > 0 {
        let text = format!("and {} more", number::integer(more as u64));
        widgets::hint(ui, &text);
    }
    ui.allocate_space(vec2(0.0, tokens().space.x2));
}

#[cfg(test)]
mod tests;
