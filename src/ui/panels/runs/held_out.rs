//! How good a finished run's predictions are of the rows that it holds out.

use std::sync::Arc;
use std::time::Duration;

use eframe::egui::{ScrollArea, Stroke, Ui};

use super::asked::Asked;
use super::pane::{Home, Pane};
use super::panes::{PaneViews, Variable};
use crate::app::held_out::HeldOutScores;
use crate::app::{Analysis, Question};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::plots::axes::{self, Axes};
use crate::ui::plots::data_table::{PlotData, data_table_ui};
use crate::ui::plots::legend::{Sign, legend_line};
use crate::ui::plots::marks::{self, Marks};
use crate::ui::theme::{Palette, Text, VerdictKind, tokens};
use crate::ui::widgets::table::{Cell, Column, Table, Tone};
use crate::ui::widgets::{self, Segments, number, verdict_icon};
use ergodic_analysis::loo::unusable_runs;
use ergodic_analysis::predict::scores::{
    CoursePoint, Measure, PredictionScores, ScoresCompared, compare,
};
use ergodic_diagnostics::Verdict;
use ergodic_diagnostics::scores::Score;

/// Height of a picture with its axes.
const PICTURE: f32 = 240.0;
/// Decimals of scores.
const DECIMALS: i32 = 4;

/// Scores of rows held out.
#[derive(Default)]
pub(super) struct HeldOutView {
    by_seconds: bool,
    /// The runs that had scores when it was last seen which of them score the same rows, the one that is shown first.
    scored: Vec<ScoredRun>,
    /// Those of them that score the same rows, the one that is shown first.
    runs: Vec<ScoredRun>,
    /// How these compare, where there are several.
    compared: Option<ScoresCompared>,
}

/// A run that has been scored by rows held out.
#[derive(Clone)]
struct ScoredRun {
    title: String,
    is_unusable: bool,
    done: Arc<HeldOutScores>,
}

impl ScoredRun {
    /// Whether nothing has changed since `before`.
    fn is_still(&self, before: &Self) -> bool {
        self.title == before.title
            && self.is_unusable == before.is_unusable
            && Arc::ptr_eq(&self.done, &before.done)
    }
}

impl HeldOutView {
    /// Finds the runs that score the rows of the one that is shown, and how they compare; as that looks at all rows, only where a run
    /// has other scores than before.
    fn update(&mut self, of: &Variable<'_>) {
        let others = of.state.runs.iter().filter(|run| run.id != of.entry.id);
        let all = std::iter::once(of.entry).chain(others);
        let scored: Vec<ScoredRun> = all
            .filter_map(|run| {
                let done = Arc::clone(run.held_out_scores_so_far()?);
                let report = run.report();
                Some(ScoredRun {
                    title: run.title(),
                    is_unusable: report.is_some_and(|report| is_unusable(report.verdict)),
                    done,
                })
            })
            .collect();
        let are_still = scored.len() == self.scored.len()
            && (scored.iter().zip(&self.scored)).all(|(run, before)| run.is_still(before));
        if are_still {
            return;
        }
        self.runs = match scored.first() {
            Some(own) => (scored.iter())
                .filter(|run| run.done.scores.has_the_rows_of(&own.done.scores))
                .cloned()
                .collect(),
            None => Vec::new(),
        };
        let runs: Vec<(String, &PredictionScores)> = (self.runs.iter())
            .map(|run| (run.title.clone(), &run.done.scores))
            .collect();
        self.compared = compare(&runs);
        self.scored = scored;
    }
}

impl Pane for HeldOutView {
    const ID: &'static str = "held-out";
    const TITLE: &'static str = "Scores";
    const ICON: char = icons::CHART_LINE;
    const ABOUT: &'static str = "How well rows are predicted that the fit does not know";
    const HOME: Home = Home::Above;

    fn shows(of: &Variable<'_>) -> Result<(), &'static str> {
        if of.entry.holds_out() && of.entry.can_predict() {
            Ok(())
        } else {
            Err(
                "The run holds no rows out to score it by; choose some under Rows held out on the sampler page, and run it again",
            )
        }
    }

    fn ui(&mut self, ui: &mut Ui, of: &Variable<'_>, _views: &mut PaneViews, out: &mut Outbox) {
        held_out_pane(ui, of, self, out);
    }

    fn unseen(&mut self, of: &Variable<'_>, out: &mut Outbox) {
        if of.entry.held_out.working().is_some() {
            out.send(Question::Cancel(of.entry.id, Analysis::HeldOutScores));
        }
    }
}

/// Shows the pane; what it shows is made in the background as long as it is in front.
fn held_out_pane(ui: &mut Ui, of: &Variable<'_>, view: &mut HeldOutView, out: &mut Outbox) {
    let entry = of.entry;
    view.update(of);
    if entry.is_active() {
        along_the_way_ui(ui, of, view, out);
        return;
    }
    let asked = Asked {
        entry,
        task: &entry.held_out,
        done: entry.held_out_scores(),
        later: "Scores of the rows held out appear here when the run has ended",
        icon: HeldOutView::ICON,
        ask: Question::ScoreHeldOut(entry.id),
    };
    asked.show(ui, out, |ui, done| {
        ScrollArea::vertical()
            .id_salt(("held out", entry.id))
            .auto_shrink([false, false])
            .show(ui, |ui| done_ui(ui, of, &done.scores, view));
    });
}

/// What there is while the run goes on: scores by the draws of a few seconds ago.
fn along_the_way_ui(ui: &mut Ui, of: &Variable<'_>, view: &mut HeldOutView, out: &mut Outbox) {
    let entry = of.entry;
    match entry.scored_again_in() {
        Some(Duration::ZERO) => out.send(Question::ScoreHeldOut(entry.id)),
        Some(wait) => ui.ctx().request_repaint_after(wait),
        None => {}
    }
    let Some(done) = entry.held_out_scores_so_far() else {
        let refusal = entry.held_out.refusal();
        let text =
            refusal.unwrap_or("Scores of the rows held out appear here with the first draws");
        widgets::empty_state(ui, icons::HOURGLASS_MEDIUM, text, None);
        return;
    };
    ScrollArea::vertical()
        .id_salt(("held out", entry.id))
        .auto_shrink([false, false])
        .show(ui, |ui| {
            let t = tokens();
            widgets::inset(ui, [t.space.x4, t.space.x1], |ui| {
                let draws = number::integer(done.draws as u64);
                let text =
                    format!("By the first {draws} draws; the run goes on, and so do these scores");
                widgets::hint(ui, &text);
            });
            done_ui(ui, of, &done.scores, view);
        });
}

fn done_ui(ui: &mut Ui, of: &Variable<'_>, scores: &PredictionScores, view: &mut HeldOutView) {
    let t = tokens();
    widgets::inset(ui, [t.space.x4, t.space.x3], |ui| {
        ui.spacing_mut().item_spacing.y = t.space.x1;
        widgets::heading(
            ui,
            &format!(
                "How well {} rows are predicted that the fit does not know",
                number::integer(scores.rows.len() as u64)
            ),
        );
        if of.report.verdict == Verdict::Bad {
            ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = t.space.x1;
                verdict_icon(ui, VerdictKind::Bad);
                let text = "The draws of this run are not usable, so neither are these scores";
                widgets::sentence(ui, text, Text::Number);
            });
        }
        for remark in scores.remarks() {
            widgets::hint(ui, &remark);
        }
        ui.add_space(t.space.x2);
        measures_ui(ui, &scores.measures);
        compared_ui(ui, scores, view);
    });
    if let Some(roc) = &scores.roc {
        let points = roc.points.iter();
        let points = points.map(|it| [it.false_positives, it.true_positives]);
        Curve {
            name: "ROC curve",
            titles: ["share of no called yes", "share of yes called yes"],
            points: points.collect(),
            guess: Some([[0.0, 0.0], [1.0, 1.0]]),
            others: Vec::new(),
        }
        .show(ui);
    }
    course_ui(ui, scores, view);
}

fn is_unusable(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Bad | Verdict::TooEarly)
}

/// How much better the best of the runs that score the same rows predicts them than each of the others, in words.
fn compared_ui(ui: &mut Ui, scores: &PredictionScores, view: &HeldOutView) {
    let Some(compared) = &view.compared else {
        return;
    };
    ui.add_space(tokens().space.x2);
    widgets::hint(
        ui,
        &format!(
            "Log predictive density of {} rows together",
            number::integer(scores.rows.len() as u64)
        ),
    );
    for behind in &compared.behind {
        widgets::sentence(ui, &behind.sentence, Text::Body);
    }
    let unusable = view.runs.iter().filter(|run| run.is_unusable);
    let unusable: Vec<&str> = unusable.map(|run| run.title.as_str()).collect();
    if let Some(text) = unusable_runs(&unusable) {
        widgets::hint(ui, &text);
    }
    for remark in &compared.remarks {
        widgets::hint(ui, remark);
    }
}

fn measures_ui(ui: &mut Ui, measures: &[(Measure, Score)]) {
    Table::new("held out scores", "Scores of rows held out", measures.len())
        .whole()
        .column(Column::names(ui, "", measures.len(), |k| {
            measures[k].0.name()
        }))
        .column(Column::number("score", 84.0, |k| {
            Cell::number(number::fixed(measures[k].1.value, DECIMALS), Tone::Primary)
        }))
        .column(Column::number("se", 68.0, |k| {
            let se = measures[k].1.se;
            let text = se.map_or_else(
                || number::NOT_AVAILABLE.to_owned(),
                |se| number::fixed(se, DECIMALS),
            );
            Cell::number(text, Tone::Secondary)
        }))
        .gap(tokens().space.x3)
        .column(
            Column::new("", 240.0, |k| {
                Cell::text(measures[k].0.about(), Tone::Faint)
            })
            .fills(),
        )
        .show(ui);
}

/// How the log loss, or the log density, came to be what it is.
fn course_ui(ui: &mut Ui, scores: &PredictionScores, view: &mut HeldOutView) {
    let t = tokens();
    let timed = scores.course.iter().all(|point| point.seconds.is_some());
    let by_seconds = timed && view.by_seconds;
    widgets::inset(ui, [t.space.x4, 0.0], |ui| {
        ui.spacing_mut().item_spacing.y = t.space.x1;
        ui.add_space(t.space.x2);
        if timed {
            Segments::new("Along what", &mut view.by_seconds)
                .option(false, "Draws")
                .option(true, "Seconds")
                .show(ui);
        }
        let text = "By the average over all draws made until then, of all chains";
        widgets::hint(ui, text);
    });
    let (what, sign) = scores.course_measure();
    let (x_title, name) = match by_seconds {
        true => (
            "seconds, warm-up included",
            format!("Course of the {what} by seconds"),
        ),
        false => (
            "draws of each chain",
            format!("Course of the {what} by draws"),
        ),
    };
    let points = |course: &[CoursePoint]| -> Vec<[f64; 2]> {
        let x = |point: &CoursePoint| match by_seconds {
            true => point.seconds.unwrap_or(f64::NAN),
            false => point.draws as f64,
        };
        course
            .iter()
            .map(|point| [x(point), sign * point.lpd])
            .collect()
    };
    // The first is the run itself.
    let others =
        (view.runs.iter().skip(1)).map(|run| (run.title.as_str(), points(&run.done.scores.course)));
    Curve {
        name: &name,
        titles: [x_title, what],
        points: points(&scores.course),
        guess: None,
        others: others.collect(),
    }
    .show(ui);
}

/// A line through points, beside what guesses would give.
struct Curve<'a> {
    name: &'a str,
    /// Of x and y.
    titles: [&'a str; 2],
    points: Vec<[f64; 2]>,
    guess: Option<[[f64; 2]; 2]>,
    /// Lines of other runs.
    others: Vec<(&'a str, Vec<[f64; 2]>)>,
}

impl Curve<'_> {
    fn show(self, ui: &mut Ui) {
        let t = tokens();
        let p = Palette::of(ui);
        let of_others = || self.others.iter().flat_map(|(_, points)| points);
        let own = || self.points.iter().chain(self.guess.iter().flatten());
        let all = || {
            own()
                .chain(of_others())
                .filter(|point| point[0].is_finite())
        };
        let x = axes::range(all().map(|point| point[0]), 0.02);
        let y = axes::range(all().map(|point| point[1]), 0.05);
        let [x_title, y_title] = self.titles;
        let mut axes = Axes {
            x_title,
            y_title,
            ..Axes::new(ui.make_persistent_id(self.name), self.name, x, y)
        };
        axes.title_line = true;
        let line = Stroke::new(t.stroke.curve_pooled, p.posterior);
        let guesses = Stroke::new(t.stroke.threshold, p.threshold);
        let mut signs = vec![(Sign::Line(line, &[]), y_title)];
        if self.guess.is_some() {
            signs.push((Sign::Line(guesses, &t.dash.prior), "guesses"));
        }
        let stroke = |k: usize| Stroke::new(t.stroke.curve_selected, p.chain(k));
        for (k, (title, _)) in self.others.iter().enumerate() {
            signs.push((Sign::Line(stroke(k), &[]), *title));
        }
        legend_line(ui, &signs);
        let strokes: Vec<Stroke> = (0..self.others.len()).map(stroke).collect();
        let others = &self.others;
        let drawn = self.points.clone();
        let guess = self.guess;
        let shown = axes::show(ui, p, &axes, PICTURE, move |plot| {
            plot.add(Marks::new(move |_ui, transform, shapes| {
                if let Some(ends) = &guess {
                    let dash = &t.dash.prior;
                    marks::curve(ends, guesses, dash, f64::INFINITY, transform, shapes);
                }
                for ((_, points), stroke) in others.iter().zip(&strokes) {
                    marks::curve(points, *stroke, &[], f64::INFINITY, transform, shapes);
                }
                marks::curve(&drawn, line, &[], f64::INFINITY, transform, shapes);
            }));
        });
        data_table_ui(ui, &shown.response, self.name, || {
            PlotData::new(self.titles, self.points.len(), |row, column| {
                self.points[row][column]
            })
        });
    }
}

#[cfg(test)]
mod tests {
    use eframe::egui::accesskit::Role;
    use eframe::egui::vec2;
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable as _;

    use crate::app::testing::Session;
    use crate::app::{Command, DraftChange, Question, RunCommand};
    use crate::ui::panels::runs::{RunsView, runs_ui};
    use crate::ui::testing::{Shown, page_harness, press_t_over};
    use ergodic_analysis::hold_out::HoldOut;

    fn session(template: &str, formula: &str, hold_out: Option<HoldOut>) -> Session {
        let mut session = Session::with_draft("churn");
        session.send(DraftChange::Formula(formula.to_owned()));
        session.send(DraftChange::Template(template.to_owned()));
        session.send(DraftChange::HoldOut(hold_out));
        session.run(2, 100, 100);
        session
    }

    /// The page with the pane in front, wide enough for its tab and high enough for its pictures, after a run that holds a fifth of the rows out.
    fn page(template: &str, formula: &str) -> Harness<'static, Shown<RunsView>> {
        let session = session(template, formula, Some(HoldOut::Share(0.2)));
        let mut harness = page_harness(session, runs_ui);
        harness.set_size(vec2(1920.0, 1800.0));
        harness.run_steps(3);
        harness.get_by_role_and_label(Role::Tab, "Scores").click();
        harness.run_steps(4);
        harness
    }

    fn says(harness: &Harness<'_, Shown<RunsView>>, text: &str) -> bool {
        harness.query_all_by_label_contains(text).next().is_some()
    }

    #[test]
    fn yes_or_no_has_its_curve_and_its_log_loss() {
        let mut harness = page("logistic", "churned ~ age + plan");
        assert!(says(&harness, "How well 200 rows are predicted"));
        for name in ["log loss", "Brier score", "AUC", "error rate"] {
            harness.get_by_role_and_label(Role::Cell, name);
        }
        press_t_over(&mut harness, "ROC curve");
        harness.get_by_role_and_label(Role::ColumnHeader, "share of yes called yes");
        assert!(says(&harness, "Course of the log loss by draws"));
        harness
            .get_by_role_and_label(Role::RadioButton, "Seconds")
            .click();
        harness.run_steps(3);
        assert!(says(&harness, "Course of the log loss by seconds"));
        let sent = harness.state().sent.iter();
        let asked =
            sent.filter(|command| matches!(command, Command::Ask(Question::ScoreHeldOut(_))));
        assert_eq!(asked.count(), 1);
    }

    #[test]
    fn numbers_have_errors_and_coverage() {
        let harness = page("linear", "age ~ plan");
        for name in ["log density", "RMSE", "MAE"] {
            harness.get_by_role_and_label(Role::Cell, name);
        }
        assert!(says(&harness, "share of outcomes inside their 90"));
        assert!(says(&harness, "Course of the log density by draws"));
        assert!(!says(&harness, "ROC curve"));
    }

    #[test]
    fn runs_of_the_same_rows_are_compared_in_words() {
        let mut session = session("logistic", "churned ~ age", Some(HoldOut::Share(0.2)));
        let first = session.state.runs[0].id;
        session.send(Question::ScoreHeldOut(first));
        session.send(DraftChange::Formula("churned ~ age + plan".to_owned()));
        session.send(RunCommand::Start);
        session.wait_for_runs();
        let titles: Vec<String> = session.state.runs.iter().map(|run| run.title()).collect();
        let mut harness = page_harness(session, runs_ui);
        harness.set_size(vec2(1920.0, 1800.0));
        harness.run_steps(3);
        harness.get_by_role_and_label(Role::Tab, "Scores").click();
        harness.run_steps(4);
        assert!(says(
            &harness,
            "Log predictive density of 200 rows together"
        ));
        let runs = &harness.state().session.state.runs;
        let scores: Vec<_> = (titles.iter().zip(runs))
            .map(|(title, run)| (title.clone(), &run.held_out_scores().unwrap().scores))
            .collect();
        let compared = ergodic_analysis::predict::scores::compare(&scores).unwrap();
        assert!(says(&harness, &compared.behind[0].sentence));
    }

    #[test]
    fn a_run_of_all_rows_has_no_scores() {
        let session = session("logistic", "churned ~ age", None);
        let mut harness = page_harness(session, runs_ui);
        harness.run_steps(3);
        assert!(
            harness
                .query_by_role_and_label(Role::Tab, "Scores")
                .is_none()
        );
    }
}
