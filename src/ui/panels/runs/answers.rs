//! What a finished run says of the outcome: one sentence and one picture per predictor.

use std::collections::BTreeSet;

use eframe::egui::{ScrollArea, Shape, Stroke, Ui};

use super::answer_lines::{probability_line, ratio_line};
use super::answers_asked::{AskedView, ask_expressions_ui, asked_ui, expressions_ui};
use super::asked::Asked;
use super::pane::{Home, Pane};
use super::panes::{PaneViews, Variable};
use crate::app::answering::OfOutcome;
use crate::app::{Analysis, Command, Page, Question};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::plots::axes::{self, Axes};
use crate::ui::plots::data_table::{PlotData, data_table_ui};
use crate::ui::plots::legend::{Sign, legend_line};
use crate::ui::plots::marks::{self, Marks};
use crate::ui::plots::{IntervalRow, interval_ui};
use crate::ui::theme::{Palette, Text, VerdictKind, tokens};
use crate::ui::widgets::{self, Button, number, verdict_icon};
use ergodic_analysis::effects::{Conditional, Curve, Effect, Place, Ratio};
use ergodic_base::ParamId;
use ergodic_base::numerals::plural;
use ergodic_diagnostics::Verdict;

/// Height of a curve with its axes.
const CURVE: f32 = 200.0;
/// Radius of an observed outcome.
const SMALL_DOT: f32 = 2.0;
/// Sentences of one predictor, at most: levels of a long list are read off the picture.
const SENTENCES: usize = 6;

/// Effects on the scale of the outcome.
#[derive(Default)]
pub(super) struct Answers {
    /// Predictors of runs all of whose levels show.
    opened: BTreeSet<(u64, String)>,
    /// What is typed above the answers.
    asked: AskedView,
}

impl Pane for Answers {
    const ID: &'static str = "answers";
    const TITLE: &'static str = "Answers";
    const ICON: char = icons::CHART_LINE;
    const ABOUT: &'static str = "How the outcome differs by each predictor, on its own scale, and expressions of parameters";
    const HOME: Home = Home::Above;

    fn ui(&mut self, ui: &mut Ui, of: &Variable<'_>, _views: &mut PaneViews, out: &mut Outbox) {
        answers_pane(ui, of, self, out);
    }

    fn unseen(&mut self, of: &Variable<'_>, out: &mut Outbox) {
        if of.entry.answered.working().is_some() {
            out.send(Question::Cancel(of.entry.id, Analysis::Answers));
        }
    }
}

/// Shows the pane; what it shows is made in the background as long as it is in front.
fn answers_pane(ui: &mut Ui, of: &Variable<'_>, view: &mut Answers, out: &mut Outbox) {
    let entry = of.entry;
    let asked = Asked {
        entry,
        task: &entry.answered,
        done: match entry.answered.working() {
            Some(_) => entry.earlier_answers(),
            None => entry.answers(),
        },
        later: match entry.can_predict() {
            true => "Answers on the scale of the outcome appear here when the run has ended",
            false => "Expressions of parameters are computed here when the run has ended",
        },
        icon: Answers::ICON,
        ask: Question::FindAnswers(entry.id),
    };
    let mut wanted = None;
    let mut way_out = None;
    asked.show(ui, out, |ui, done| {
        ScrollArea::vertical()
            .id_salt(("answers", entry.id))
            .auto_shrink([false, false])
            .show(ui, |ui| {
                let asked = match &done.outcome {
                    Ok(told) => asked_ui(ui, entry, told, &mut view.asked),
                    Err(why) => {
                        way_out = no_outcome_ui(ui, of, why);
                        ask_expressions_ui(ui, entry, &mut view.asked)
                    }
                };
                wanted = asked.or(expressions_ui(ui, entry, done));
                if let Ok(told) = &done.outcome {
                    cards_ui(ui, of, told, &mut view.opened);
                }
            });
    });
    let asked = wanted.map(|asked| Question::AskAnswers(entry.id, asked).into());
    if let Some(command) = way_out.or(asked) {
        out.send(command);
    }
}

/// Says why nothing is told of an outcome. Returns the command of what leads on, if that was clicked.
fn no_outcome_ui(ui: &mut Ui, of: &Variable<'_>, why: &str) -> Option<Command> {
    let t = tokens();
    let entry = of.entry;
    let way_out = match (entry.can_predict(), entry.explains_nothing()) {
        (true, true) => Some(("Choose predictors", Command::GoTo(Page::Model))),
        // Data may be there again.
        (true, false) => Some((
            "Try again",
            Question::AskAnswers(entry.id, entry.answers_asked.clone()).into(),
        )),
        (false, _) => None,
    };
    let shown = widgets::inset(ui, [t.space.x4, t.space.x3], |ui| {
        ui.spacing_mut().item_spacing.y = t.space.x2;
        if let Some((kind, text)) = doubts(of) {
            doubt_ui(ui, kind, &text);
        }
        widgets::sentence(ui, why, Text::Body);
        let clicked = way_out
            .as_ref()
            .is_some_and(|(words, _)| ui.add(Button::new(words).small()).clicked());
        widgets::hint(
            ui,
            "Expressions of parameters can still be computed from the draws, each with its interval, R-hat and effective sample sizes",
        );
        clicked
    });
    way_out.filter(|_| shown.inner).map(|(_, command)| command)
}

fn doubt_ui(ui: &mut Ui, kind: VerdictKind, text: &str) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = tokens().space.x1;
        verdict_icon(ui, kind);
        widgets::sentence(ui, text, Text::Number);
    });
}

/// What stands above answers that are not to be trusted as they are.
fn doubts(of: &Variable<'_>) -> Option<(VerdictKind, String)> {
    if of.report.verdict == Verdict::Bad {
        let text = "The draws of this run are not usable, so neither are these answers";
        return Some((VerdictKind::Bad, text.to_owned()));
    }
    let spec = of.entry.sampler().filter(|spec| spec.bias.is_some())?;
    let why = match &of.report.bias {
        None if of.entry.saved_bias_check().is_some() => match of.report.verdict {
            Verdict::Good => return None,
            _ => "the check of its bias did not clear every parameter",
        },
        None => "its bias was not checked",
        Some(bias) => {
            let is_good = |verdict| verdict == Verdict::Good;
            if bias.rows.iter().all(|row| is_good(row.verdict)) {
                return None;
            }
            "the check of its bias did not clear every parameter"
        }
    };
    Some((
        VerdictKind::NotCertified,
        format!(
            "{} is approximate and {why}: these answers are not certified",
            spec.title
        ),
    ))
}

fn cards_ui(
    ui: &mut Ui,
    of: &Variable<'_>,
    done: &OfOutcome,
    opened: &mut BTreeSet<(u64, String)>,
) {
    let t = tokens();
    let effects = &done.effects;
    let doubts = doubts(of);
    let mut remarks = effects.remarks.clone();
    let of_groups = done.groups.iter().flat_map(|groups| &groups.remarks);
    for remark in of_groups {
        if !remarks.contains(remark) {
            remarks.push(remark.clone());
        }
    }
    let cards = done
        .groups
        .iter()
        .map(|groups| (groups, groups.predictors()));
    let all: Vec<&str> = done.told.iter().map(String::as_str).collect();
    let cards = cards.chain([(effects, all)]);
    if doubts.is_some() || !remarks.is_empty() {
        widgets::inset(ui, [t.space.x4, t.space.x3], |ui| {
            ui.spacing_mut().item_spacing.y = t.space.x1;
            if let Some((kind, text)) = doubts {
                doubt_ui(ui, kind, &text);
            }
            for remark in &remarks {
                widgets::hint(ui, remark);
            }
        });
    }
    for (effects, names) in cards {
        for predictor in names {
            let told = effects
                .effects
                .iter()
                .filter(|effect| effect.predictor == predictor && effects.is_told(effect));
            let told: Vec<&Effect> = told.collect();
            let ratios = effects.ratios.iter();
            let ratios = ratios.filter(|it| it.predictors.iter().any(|name| name == predictor));
            let ratios: Vec<&Ratio> = ratios.collect();
            let curve = done
                .curves
                .iter()
                .find(|curve| curve.predictor == predictor);
            let key = (of.entry.id, predictor.to_owned());
            let most = match opened.contains(&key) {
                true => usize::MAX,
                false => SENTENCES,
            };
            ui.push_id(("answer", predictor), |ui| {
                widgets::inset(ui, [t.space.x4, t.space.x3], |ui| {
                    ui.spacing_mut().item_spacing.y = t.space.x1;
                    widgets::heading(ui, predictor);
                    for effect in told.iter().take(most) {
                        widgets::sentence(ui, &effects.sentence(effect), Text::Body);
                        let rope = effects.options.rope;
                        widgets::hint(ui, &probability_line(&effect.value, rope));
                    }
                    for ratio in ratios.iter().take(most) {
                        let kind = effects.ratio.unwrap_or("ratio");
                        widgets::hint(ui, &ratio_line(kind, ratio, effects.options.interval));
                    }
                    let left_out = [told.len(), ratios.len()].map(|all| all.saturating_sub(most));
                    if left_out[0] + left_out[1] > 0 {
                        let more = plural(left_out[0] + left_out[1], "more sentence");
                        if widgets::link(ui, &format!("and {more}")).clicked() {
                            opened.insert(key);
                        }
                    }
                    for remark in curve.iter().flat_map(|curve| &curve.remarks) {
                        if !remarks.contains(remark) {
                            widgets::hint(ui, remark);
                        }
                    }
                });
                if let Some(curve) = curve {
                    picture_ui(ui, curve, most);
                }
            });
        }
    }
    if let Some(r2) = &done.r2 {
        widgets::inset(ui, [t.space.x4, t.space.x3], |ui| {
            ui.spacing_mut().item_spacing.y = t.space.x1;
            widgets::heading(ui, "How much is explained");
            for sentence in r2.sentences() {
                widgets::sentence(ui, &sentence, Text::Body);
            }
        });
    }
}

/// Curves: one, or those of all levels without an order, at each of the first `most` values of the column that is set.
fn picture_ui(ui: &mut Ui, along: &Conditional, most: usize) {
    let mut values: Vec<&str> = Vec::new();
    for (k, curve) in along.curves.iter().enumerate() {
        if let (Some(name), Some(value)) = (&along.by, &curve.by)
            && values.last() != Some(&value.as_str())
        {
            if values.len() == most {
                return;
            }
            values.push(value);
            let t = tokens();
            widgets::inset(ui, [t.space.x4, t.space.x1], |ui| {
                widgets::hint(ui, &format!("Where {name} is {value}"));
            });
        }
        ui.push_id(k, |ui| match curve.points.first().map(|point| &point.at) {
            Some(Place::Number(_)) => curve_ui(ui, along, curve),
            Some(Place::Level(_)) => levels_ui(ui, along, curve),
            None => {}
        });
    }
}

/// Expected outcomes of levels with their intervals.
fn levels_ui(ui: &mut Ui, along: &Conditional, curve: &Curve) {
    let rows: Vec<IntervalRow> = (curve.points.iter())
        .map(|point| {
            let [low, high] = point.value.interval;
            let sd = point.value.summary.sd.unwrap_or(f64::NAN);
            IntervalRow {
                name: ParamId::named(&point.at.label()),
                center: point.value.mean(),
                inner: None,
                outer: (low, high),
                verdict: None,
                value: number::to_sd_digits(point.value.mean(), sd),
            }
        })
        .collect();
    let title = format!("expected {}, 90% intervals", along.quantity_of(curve));
    interval_ui(ui, Palette::of(ui), &rows, None, &title);
}

/// The expected outcome along a number, its band, and what was observed.
fn curve_ui(ui: &mut Ui, along: &Conditional, curve: &Curve) {
    let t = tokens();
    let p = Palette::of(ui);
    let quantity = along.quantity_of(curve);
    let line: Vec<[f64; 4]> = (curve.points.iter())
        .filter_map(|point| match point.at {
            Place::Number(x) => {
                let [low, high] = point.value.interval;
                Some([x, point.value.mean(), low, high])
            }
            Place::Level(_) => None,
        })
        .filter(|numbers| numbers.iter().all(|number| number.is_finite()))
        .collect();
    let x = axes::range(line.iter().map(|at| at[0]), 0.02);
    let observed = along.observed.clone();
    let y = axes::range(
        (line.iter().flat_map(|at| [at[1], at[2], at[3]])).chain(observed.iter().map(|at| at[1])),
        0.05,
    );
    let summary = format!("Expected {quantity} along {}", along.predictor);
    let mut axes = Axes {
        x_title: &along.predictor,
        y_title: &quantity,
        ..Axes::new(ui.make_persistent_id("curve"), &summary, x, y)
    };
    axes.title_line = true;
    let band = axes::faded(p.accent, 0.25);
    let stroke = Stroke::new(t.stroke.curve_pooled, p.accent);
    let dot = axes::faded(p.posterior, if observed.len() > 100 { 0.45 } else { 0.8 });
    let words = if along.is_share() {
        "observed share of rows near each other"
    } else {
        "observed"
    };
    let signs = [
        (Sign::Line(stroke, &[]), "expected"),
        (Sign::Area(band), "90% band"),
        (Sign::Dot(dot), words),
    ];
    let shown = if observed.is_empty() { 2 } else { 3 };
    legend_line(ui, &signs[..shown]);
    let drawn = line.clone();
    let shown = axes::show(ui, p, &axes, CURVE, move |plot| {
        plot.add(Marks::new(move |_ui, transform, shapes| {
            let at = |x: f64, y: f64| marks::at(transform, x, y);
            for &[x, y] in &observed {
                shapes.push(Shape::circle_filled(at(x, y), SMALL_DOT, dot));
            }
            let ends = drawn
                .iter()
                .map(|&[x, _, low, high]| [at(x, low), at(x, high)]);
            shapes.push(marks::band(ends, band));
            let middle: Vec<[f64; 2]> = drawn.iter().map(|&[x, y, ..]| [x, y]).collect();
            marks::curve(&middle, stroke, &[], f64::INFINITY, transform, shapes);
        }));
    });
    data_table_ui(ui, &shown.response, &summary, || {
        PlotData::new(
            [along.predictor.as_str(), "expected", "5%", "95%"],
            line.len(),
            |row, column| line[row][column],
        )
    });
}

#[cfg(test)]
mod tests {
    use eframe::egui::accesskit::{Role, Toggled};
    use eframe::egui::{Key, vec2};
    use egui_kittest::Harness;
    use egui_kittest::kittest::{NodeT as _, Queryable as _};

    use crate::app::answering::AnswersAsked;
    use crate::app::testing::Session;
    use crate::app::{Command, DraftChange, Page, Question};
    use crate::ui::panels::runs::{RunsView, runs_ui};
    use crate::ui::testing::{Shown, page_harness, press_t_over};

    /// The page, high enough for a card, with a run of `sampler` that has ended.
    fn page(sampler: &str) -> Harness<'static, Shown<RunsView>> {
        let mut session = Session::with_draft("churn");
        session.send(DraftChange::Formula("churned ~ age + plan".to_owned()));
        session.send(DraftChange::Sampler(sampler.to_owned()));
        session.run(2, 100, 120);
        let mut harness = page_harness(session, runs_ui);
        harness.set_size(vec2(1280.0, 2000.0));
        harness.run_steps(4);
        harness
    }

    fn says(harness: &Harness<'_, Shown<RunsView>>, text: &str) -> bool {
        harness.query_all_by_label_contains(text).next().is_some()
    }

    #[test]
    fn a_finished_run_answers_with_a_sentence_and_a_picture_per_predictor() {
        let mut harness = page("nuts");
        let tab = harness.get_by_role_and_label(Role::Tab, "Answers");
        assert_eq!(tab.accesskit_node().toggled(), Some(Toggled::True));
        let entry = harness.state().session.state.selected().unwrap();
        let answers = entry.answers().unwrap().outcome.as_ref().unwrap();
        assert_eq!(answers.effects.predictors(), ["age", "plan"]);
        assert_eq!(answers.curves.len(), 2);
        let r2 = answers.r2.as_ref().unwrap();
        assert!(0.0 < r2.interval[0] && r2.interval[1] < 0.5, "{r2:?}");
        assert!(says(&harness, "Bayesian R² of churned: 0."));
        let told = "With age one unit higher, the probability that churned is yes is on average";
        assert!(says(&harness, told));
        assert!(says(&harness, "instead of basic"));
        let found = |command: &&Command| matches!(command, Command::Ask(Question::FindAnswers(_)));
        assert_eq!(harness.state().sent.iter().filter(found).count(), 1);
        let picture = "Expected probability that churned is yes along age";
        press_t_over(&mut harness, picture);
        harness.get_by_role_and_label(Role::ColumnHeader, "expected");
        let rows = harness.get_all_by_role(Role::ListItem);
        let labels: Vec<String> = rows
            .filter_map(|row| row.accesskit_node().label())
            .filter(|label| label.starts_with("basic: "))
            .collect();
        assert_eq!(labels.len(), 1, "levels stand with their intervals");
        // An exact sampler has nothing to certify.
        assert!(!says(&harness, "not certified"));
    }

    #[test]
    fn an_outcome_without_predictors_leads_to_where_they_are_chosen() {
        for change in [
            DraftChange::Formula("churned ~ 1".to_owned()),
            // A text begins with the outcome alone.
            DraftChange::Template("own".to_owned()),
        ] {
            let mut session = Session::with_draft("churn");
            session.send(change);
            session.run(1, 20, 30);
            let mut harness = page_harness(session, runs_ui);
            harness.run_steps(4);
            assert!(harness.query_by_label("Try again").is_none());
            harness.get_by_label_contains("so there are no effects to report");
            harness.get_by_label("An expression of parameters");
            harness.get_by_label("Choose predictors").click();
            harness.run_steps(2);
            let to_model = Command::GoTo(Page::Model);
            assert!(harness.state().has_sent(to_model));
        }
    }

    #[test]
    fn groups_are_compared_by_a_switch() {
        let mut session = Session::with_draft("schools");
        session.send(DraftChange::Template("mixed".to_owned()));
        session.send(DraftChange::ModelSetting(
            "family".to_owned(),
            Some(ergodic_base::settings::Value::Text("bernoulli".to_owned())),
        ));
        session.send(DraftChange::Formula(
            "passed ~ hours + (1 | school)".to_owned(),
        ));
        session.run(2, 100, 120);
        let mut harness = page_harness(session, runs_ui);
        harness.set_size(vec2(1280.0, 2000.0));
        harness.run_steps(4);
        assert!(!says(&harness, "With school S02 instead of S01"));
        // The column that is set keeps its picture, and its line in the menu.
        let heading = |harness: &Harness<'_, Shown<RunsView>>| {
            let found = harness.query_by_role_and_label(Role::Heading, "hours");
            found.is_some()
                && says(
                    harness,
                    "Expected probability that passed is yes along hours",
                )
        };
        assert!(heading(&harness));
        let entry = harness.state().session.state.selected().unwrap();
        let (id, asked) = (entry.id, entry.answers_asked.clone());
        let by = AnswersAsked {
            by: Some("hours".to_owned()),
            ..asked.clone()
        };
        let session = &mut harness.state_mut().session;
        session.send(Question::AskAnswers(id, by));
        harness.run_steps(4);
        assert!(heading(&harness));
        let chip = "Values that effects are told at";
        harness.get_by_label_contains(chip).click();
        harness.run_steps(3);
        harness.get_by_label("At low, middle and high hours");
        harness.get_by_label("At each value of school");
        harness.key_press(Key::Escape);
        harness.run_steps(3);
        let session = &mut harness.state_mut().session;
        session.send(Question::AskAnswers(id, asked));
        harness.run_steps(4);
        harness.get_by_label("Compare groups of school").click();
        harness.run_steps(4);
        assert!(says(&harness, "With school S02 instead of S01"));
        assert!(!says(&harness, "With school S12 instead of S11"));
        harness.get_by_label("and 60 more sentences").click();
        harness.run_steps(4);
        assert!(says(&harness, "With school S12 instead of S11"));
    }

    #[test]
    fn earlier_answers_stay_below_the_progress_of_the_next() {
        let mut harness = page("nuts");
        let asked = |text: &str| AnswersAsked {
            expressions: vec![text.to_owned()],
            ..AnswersAsked::default()
        };
        let id = harness.state().session.state.selected().unwrap().id;
        let session = &mut harness.state_mut().session;
        session.send(Question::AskAnswers(id, asked("exp(b[age])")));
        let work = session.begin(Question::AskAnswers(id, asked("2 * b[age]")));
        harness.run_steps(4);
        assert!(says(&harness, "Starting"));
        assert!(says(&harness, "exp(b[age])") && !says(&harness, "2 * b[age]"));
        assert!(
            harness
                .query_by_role_and_label(Role::Heading, "age")
                .is_some()
        );
        // What was asked before is there at once when it is asked again.
        let session = &mut harness.state_mut().session;
        assert!((session.begin(Question::AskAnswers(id, asked("exp(b[age])")))).is_empty());
        for work in work {
            session.end(work());
        }
        harness.run_steps(4);
        assert!(!says(&harness, "Starting"));
        assert!(says(&harness, "exp(b[age])") && !says(&harness, "2 * b[age]"));
    }

    #[test]
    fn answers_of_an_approximate_run_say_that_they_are_not_certified() {
        let harness = page("sgld-cv");
        let is_told = says(&harness, "these answers are not certified");
        assert!(is_told || says(&harness, "neither are these answers"));
    }
}
