//! What can be asked above the answers of a run, beside the effects of its predictors.

use eframe::egui::Ui;

use super::super::menu;
use super::answer_lines::{diagnostics_line, expression_line};
use super::range_field::{self, RangeField};
use crate::app::RunEntry;
use crate::app::answering::{Answered, AnswersAsked, OfOutcome};
use crate::ui::theme::{Text, tokens};
use crate::ui::widgets::{self, Chip, Field, number};
use ergodic_analysis::effects::{MOST_CURVES, check_expression};
use ergodic_base::{Class, ParamId};

/// Least and largest width of the field for an expression.
const EXPRESSION: f32 = 208.0;
const LONG_EXPRESSION: f32 = 420.0;

/// What is typed, and what is wrong with it.
#[derive(Default)]
pub(super) struct AskedView {
    /// The run that the rest is of.
    of: Option<u64>,
    expression: String,
    expression_error: Option<String>,
    range: RangeField,
}

/// Groups and levels compared with each other, everything at each value of a column, expressions, a range of no difference, pictures of
/// all predictors. What is asked from now on, if that changed.
pub(super) fn asked_ui(
    ui: &mut Ui,
    entry: &RunEntry,
    told: &OfOutcome,
    view: &mut AskedView,
) -> Option<AnswersAsked> {
    let t = tokens();
    let compared = told.effects.predictors();
    let mut asked = entry.answers_asked.clone();
    let left_out = match asked.all_pictures {
        true => 0,
        false => told.told.len().saturating_sub(MOST_CURVES),
    };
    widgets::inset(ui, [t.space.x4, t.space.x2], |ui| {
        ui.horizontal_wrapped(|ui| {
            for name in &told.groupings {
                let is_on = asked.groups.contains(name);
                // Some are compared anyway where there is nothing else; where one is set in all rows, its groups do not differ.
                let is_anyway = compared.contains(&name.as_str()) && !is_on;
                if is_anyway || asked.by.as_ref() == Some(name) {
                    continue;
                }
                let label = format!("Compare groups of {name}");
                if ui.add(Chip::toggle(&label, is_on)).clicked() {
                    if is_on {
                        asked.groups.retain(|group| group != name);
                    } else {
                        asked.groups.push(name.clone());
                    }
                }
            }
            if asked.all_levels || told.has_pairs() {
                let chip = Chip::toggle("Compare all levels", asked.all_levels);
                if ui.add(chip).clicked() {
                    asked.all_levels = !asked.all_levels;
                }
            }
            let at_values_of = |name: &String| match told.without_levels.contains(name) {
                true => format!("At low, middle and high {name}"),
                false => format!("At each value of {name}"),
            };
            let by = asked.by.as_ref();
            let label = by.map_or_else(|| "On the whole".to_owned(), at_values_of);
            let chip = ui.add(Chip::choice(&label).named("Values that effects are told at"));
            menu::menu(&chip, menu::NORMAL, |ui| {
                if menu::item(ui, "On the whole", "", asked.by.is_none()).clicked() {
                    asked.by = None;
                }
                let others = told.groupings.iter();
                let others = others.filter(|name| !told.told.contains(name));
                for name in told.told.iter().chain(others) {
                    let is_on = asked.by.as_ref() == Some(name);
                    if menu::item(ui, &at_values_of(name), "", is_on).clicked() {
                        asked.by = Some(name.clone());
                    }
                }
            });
            fields_ui(ui, entry, view, &mut asked);
        });
        if left_out > 0 {
            ui.horizontal_wrapped(|ui| {
                let all = number::integer(told.told.len() as u64);
                let words = format!("The first {MOST_CURVES} of {all} predictors have pictures");
                widgets::hint(ui, &words);
                if widgets::link(ui, "Show all pictures").clicked() {
                    asked.all_pictures = true;
                }
            });
        }
    });
    (asked != entry.answers_asked).then_some(asked)
}

/// The fields alone, where nothing is told of an outcome. What is asked from now on, if that changed.
pub(super) fn ask_expressions_ui(
    ui: &mut Ui,
    entry: &RunEntry,
    view: &mut AskedView,
) -> Option<AnswersAsked> {
    let t = tokens();
    let mut asked = entry.answers_asked.clone();
    widgets::inset(ui, [t.space.x4, t.space.x2], |ui| {
        ui.horizontal_wrapped(|ui| fields_ui(ui, entry, view, &mut asked));
    });
    (asked != entry.answers_asked).then_some(asked)
}

/// An expression of a parameter of the run: a coefficient, where there are some, else the first.
fn example(names: &[ParamId]) -> String {
    let is_slope = |name: &&ParamId| name.class() == Class::Coefficient && !name.is_intercept();
    let name = names.iter().find(is_slope).or_else(|| names.first());
    name.map_or_else(String::new, |name| format!("such as exp({name})"))
}

/// Fields for an expression and for a range of no difference; what can be read when Enter is pressed is `asked`.
fn fields_ui(ui: &mut Ui, entry: &RunEntry, view: &mut AskedView, asked: &mut AnswersAsked) {
    if view.of != Some(entry.id) {
        *view = AskedView {
            of: Some(entry.id),
            ..AskedView::default()
        };
    }
    let names = entry.variables();
    let example = example(&names);
    // In the rest of the line, before the range.
    let behind = ui.spacing().item_spacing.x + range_field::WIDTH;
    let rest = ui.available_size_before_wrap().x - behind;
    let width = rest.clamp(EXPRESSION, LONG_EXPRESSION);
    let field = Field::new("An expression of parameters", &mut view.expression)
        .label_hidden()
        .hint(&example)
        .mono()
        .error(view.expression_error.as_deref())
        .width(width)
        .show(ui);
    let text = view.expression.trim();
    let is_wrong = view.expression_error.is_some();
    if field.committed || (is_wrong && (field.response.changed() || field.restored)) {
        let read = match text {
            "" => Ok(()),
            _ => check_expression(text, &names),
        };
        view.expression_error = read.err().map(|why| why.to_string());
    }
    if field.committed && view.expression_error.is_none() && !text.is_empty() {
        if !asked.expressions.iter().any(|it| it == text) {
            asked.expressions.push(text.to_owned());
        }
        view.expression.clear();
    }
    field.response.on_hover_text(
        "Parameters as the summary names them, numbers, + - * / ^, exp, log, sqrt, abs, invlogit and logit, then Enter",
    );
    let words = [
        "Differences that count as none",
        "counts as 0: from, to",
        "How probable it is that a difference lies between two numbers, such as -0.05, 0.05, then Enter; of probabilities 0.05 is \
         5 percentage points",
    ];
    view.range.show(ui, words, entry.id, &mut asked.rope);
}

/// What the draws say of expressions. What is asked from now on, where one is taken away.
pub(super) fn expressions_ui(
    ui: &mut Ui,
    entry: &RunEntry,
    done: &Answered,
) -> Option<AnswersAsked> {
    if done.expressions.is_empty() {
        return None;
    }
    let t = tokens();
    let options = done.asked.options();
    let mut wanted = None;
    widgets::inset(ui, [t.space.x4, t.space.x2], |ui| {
        ui.spacing_mut().item_spacing.y = t.space.x1;
        widgets::heading(ui, "Expressions");
        for (k, expression) in done.expressions.iter().enumerate() {
            ui.push_id(("expression", k), |ui| {
                let line = expression_line(expression, options.interval);
                widgets::sentence(ui, &line, Text::Body);
                widgets::hint(ui, &diagnostics_line(&expression.value, options.rope));
                if widgets::link(ui, &format!("Remove {}", expression.text)).clicked() {
                    let mut asked = entry.answers_asked.clone();
                    asked.expressions.retain(|text| *text != expression.text);
                    wanted = Some(asked).filter(|asked| *asked != entry.answers_asked);
                }
            });
        }
    });
    wanted
}

#[cfg(test)]
mod tests {
    use eframe::egui::{Key, Modifiers, vec2};
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable as _;

    use crate::app::testing::Session;
    use crate::app::{Command, DraftChange, Question};
    use crate::ui::panels::runs::answer_lines::{
        diagnostics_line, expression_line, probability_line, ratio_line,
    };
    use crate::ui::panels::runs::pane::find;
    use crate::ui::panels::runs::{RunsView, runs_ui};
    use crate::ui::testing::{Shown, page_harness};
    use crate::ui::widgets::paint;
    use ergodic_base::settings::Value;

    const EXPRESSION: &str = "An expression of parameters";
    const RANGE: &str = "Differences that count as none";

    fn page(formula: &str) -> Harness<'static, Shown<RunsView>> {
        let mut session = Session::with_draft("churn");
        session.send(DraftChange::Formula(formula.to_owned()));
        session.run(2, 100, 120);
        page_of(session)
    }

    fn page_of(session: Session) -> Harness<'static, Shown<RunsView>> {
        let mut harness = page_harness(session, runs_ui);
        harness.set_size(vec2(1280.0, 2400.0));
        harness.run_steps(4);
        harness
    }

    fn count(harness: &Harness<'_, Shown<RunsView>>, text: &str) -> usize {
        harness.query_all_by_label_contains(text).count()
    }

    fn says(harness: &Harness<'_, Shown<RunsView>>, text: &str) -> bool {
        count(harness, &paint::words(text)) > 0
    }

    fn enter(harness: &mut Harness<'_, Shown<RunsView>>, field: &str, text: &str) {
        harness.get_by_label(field).focus();
        harness.run_steps(2);
        harness.key_press_modifiers(Modifiers::COMMAND, Key::A);
        harness.run_steps(2);
        harness.get_by_label(field).type_text(text);
        harness.run_steps(2);
        harness.key_press(Key::Enter);
        harness.run_steps(4);
    }

    /// How often answers were asked for with more than before.
    fn times_asked(harness: &Harness<'_, Shown<RunsView>>) -> usize {
        let sent = harness.state().sent.iter();
        sent.filter(|it| matches!(it, Command::Ask(Question::AskAnswers(..))))
            .count()
    }

    #[test]
    fn all_levels_are_compared_by_a_switch_with_probabilities_and_ratios_below() {
        let mut harness = page("churned ~ age + plan");
        // Two levels against the reference.
        assert_eq!(count(&harness, " instead of "), 2);
        harness.get_by_label("Compare all levels").click();
        harness.run_steps(4);
        assert_eq!(count(&harness, " instead of "), 3);
        assert_eq!(count(&harness, "With age one unit higher"), 1);
        let entry = harness.state().session.state.selected().unwrap();
        let effects = &entry.answers().unwrap().outcome.as_ref().unwrap().effects;
        let told = effects.effects.iter().filter(|it| effects.is_told(it));
        for effect in told {
            assert!(says(&harness, &probability_line(&effect.value, None)));
        }
        assert_eq!(effects.ratios.len(), 3);
        for ratio in &effects.ratios {
            assert!(says(&harness, &ratio_line("odds ratio", ratio, 0.9)));
        }
        harness.get_by_label("Compare all levels").click();
        harness.run_steps(4);
        assert_eq!(count(&harness, " instead of "), 2);
    }

    #[test]
    fn where_no_predictor_has_levels_none_are_offered_for_comparison() {
        let harness = page("churned ~ age");
        assert!(says(&harness, "With age "));
        assert!(harness.query_by_label("Compare all levels").is_none());
    }

    #[test]
    fn an_expression_stands_with_its_diagnostics_or_says_why_it_cannot_be_read() {
        let mut harness = page("churned ~ age");
        enter(&mut harness, EXPRESSION, "exp(10*b[agee])");
        assert!(says(
            &harness,
            "The expression cannot be read at character 8"
        ));
        assert_eq!(times_asked(&harness), 0);
        enter(&mut harness, EXPRESSION, "exp(10*b[age])");
        assert!(!says(&harness, "The expression cannot be read"));
        assert_eq!(times_asked(&harness), 1);
        let entry = harness.state().session.state.selected().unwrap();
        let answers = entry.answers().unwrap();
        let found = &answers.expressions[0];
        assert_eq!(found.text, "exp(10*b[age])");
        assert!(says(&harness, &expression_line(found, 0.9)));
        assert!(says(&harness, &diagnostics_line(&found.value, None)));
        // What was known of the outcome stays.
        assert!(says(&harness, "With age "));
        harness.get_by_label("Remove exp(10*b[age])").click();
        harness.run_steps(4);
        assert!(!says(&harness, "Expressions"));
        assert!(says(&harness, "With age "));
    }

    /// Whatever the model: a text without rows, a mean, clusters, groups alone.
    #[test]
    fn every_run_computes_expressions() {
        let without_rows = "parameters\n  m ~ normal(0, 1)\n  s: positive ~ exponential(1)\n";
        let page = |changes: Vec<DraftChange>| {
            let mut session = Session::with_draft("churn");
            for change in changes {
                session.send(change);
            }
            session.run(2, 60, 60);
            page_of(session)
        };
        let program = (
            "program".to_owned(),
            Some(Value::Text(without_rows.to_owned())),
        );
        let template = |id: &str| DraftChange::Template(id.to_owned());
        let formula = |text: &str| DraftChange::Formula(text.to_owned());
        let own = vec![
            template("own"),
            DraftChange::ModelSetting(program.0, program.1),
        ];
        for (changes, variable, is_told) in [
            (own, "s", false),
            (
                vec![template("normal-mean"), formula("age ~ 1")],
                "theta",
                false,
            ),
            (
                vec![template("dp-mixture"), formula("~ age + plan")],
                "alpha",
                false,
            ),
            (
                vec![template("mixed"), formula("age ~ 1 + (1 | plan)")],
                "sigma",
                true,
            ),
        ] {
            let mut harness = page(changes);
            harness.state_mut().view.show_pane(find("answers").unwrap());
            harness.run_steps(4);
            assert_eq!(says(&harness, "there are no effects to report"), !is_told);
            let names = harness
                .state()
                .session
                .state
                .selected()
                .unwrap()
                .variables();
            assert!(names.iter().any(|it| it == variable), "{names:?}");
            let text = format!("log({variable})");
            enter(&mut harness, EXPRESSION, &text);
            let entry = harness.state().session.state.selected().unwrap();
            let answers = entry.answers().unwrap();
            assert_eq!(answers.outcome.is_ok(), is_told);
            let found = &answers.expressions[0];
            assert!(found.value.summary.mean.unwrap().is_finite());
            assert!(says(&harness, &expression_line(found, 0.9)));
            assert!(says(&harness, &diagnostics_line(&found.value, None)));
        }
    }

    #[test]
    fn a_range_of_no_difference_adds_its_probability_or_says_what_to_write() {
        let mut harness = page("churned ~ age");
        enter(&mut harness, RANGE, "0.1");
        harness.get_by_label("Write two numbers, such as -0.05,0.05");
        assert_eq!(times_asked(&harness), 0);
        enter(&mut harness, RANGE, "-0.01, 0.01");
        let rope = Some([-0.01, 0.01]);
        let entry = harness.state().session.state.selected().unwrap();
        let effects = &entry.answers().unwrap().outcome.as_ref().unwrap().effects;
        assert_eq!(effects.options.rope, rope);
        let told = effects.effects.iter().find(|it| effects.is_told(it));
        let line = probability_line(&told.unwrap().value, rope);
        assert!(line.contains("P(\u{2212}0.01 to 0.01) "), "{line}");
        assert!(says(&harness, &line));
        enter(&mut harness, RANGE, " ");
        assert!(!says(&harness, " to 0.01) "));
    }
}
