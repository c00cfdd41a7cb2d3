//! The likelihood-ratio test beside a likelihood fit: the model of the run against one with fewer or more terms.

use eframe::egui::{Ui, vec2};

use crate::app::likelihood::simpler_formulas;
use crate::app::{Analysis, Question, RunEntry};
use crate::ui::outbox::Outbox;
use crate::ui::tasks;
use crate::ui::theme::{Text, tokens};
use crate::ui::widgets::{self, Button, Chip, Field, number};
use ergodic_analysis::likelihood_ratio::{LikelihoodRatio, Side};
use ergodic_core::formula::Formula;

/// Width of the field for a formula.
const FIELD: f32 = 260.0;

/// What the test keeps for itself.
#[derive(Default)]
pub(super) struct RatioView {
    /// The run that the rest is of.
    of: Option<u64>,
    /// The formula as it is typed.
    typed: String,
    /// Why the formula cannot be read.
    error: Option<String>,
    /// The formula that was asked about last.
    asked: String,
    /// Formulas that lack one term, with what they lack.
    simpler: Vec<(String, String)>,
}

impl RatioView {
    fn ask(&mut self, id: u64, formula: &str, out: &mut Outbox) {
        formula.clone_into(&mut self.asked);
        out.send(Question::TestAgainst(id, formula.to_owned()));
    }
}

/// Shows what the model can be tested against, and what the last test said.
pub(super) fn ratio_ui(ui: &mut Ui, entry: &RunEntry, view: &mut RatioView, out: &mut Outbox) {
    let t = tokens();
    if view.of != Some(entry.id) {
        *view = RatioView {
            of: Some(entry.id),
            simpler: simpler_formulas(entry),
            ..RatioView::default()
        };
    }
    widgets::inset(ui, [t.space.x3, t.space.x1], |ui| {
        ui.spacing_mut().item_spacing = vec2(t.space.x1, t.space.x1);
        ui.horizontal_wrapped(|ui| {
            widgets::sentence(ui, "Likelihood-ratio test without", Text::Caption);
            let simpler = std::mem::take(&mut view.simpler);
            for (lacks, formula) in &simpler {
                let chip = Chip::toggle(lacks, view.asked == *formula)
                    .named("Test against the model without");
                if ui.add(chip).on_hover_text(formula).clicked() {
                    view.ask(entry.id, formula, out);
                }
            }
            view.simpler = simpler;
            let field = Field::new("Formula to test against", &mut view.typed)
                .label_hidden()
                .hint("or against a formula, then Enter")
                .mono()
                .error(view.error.as_deref())
                .width(FIELD)
                .show(ui);
            if field.committed && !view.typed.trim().is_empty() {
                match view.typed.parse::<Formula>() {
                    Ok(_) => {
                        view.error = None;
                        let formula = view.typed.trim().to_owned();
                        view.ask(entry.id, &formula, out);
                    }
                    Err(why) => view.error = Some(why.to_string()),
                }
            }
        });
        let task = &entry.likelihood_ratio;
        if let Some(going) = task.working() {
            ui.horizontal(|ui| {
                widgets::sentence_line(ui, &tasks::words(going, None), Text::Caption, true);
                if ui.add(Button::new("Cancel").small()).clicked() {
                    out.send(Question::Cancel(entry.id, Analysis::LikelihoodRatio));
                }
            });
            ui.ctx()
                .request_repaint_after(super::super::page::PROGRESS_TIME);
        } else if let Some(why) = task.refusal() {
            widgets::sentence(ui, why, Text::Number);
        } else if let Some(ratio) = task.done() {
            done_ui(ui, ratio);
        }
    });
}

fn done_ui(ui: &mut Ui, ratio: &LikelihoodRatio) {
    widgets::sentence(ui, &ratio.sentence(), Text::Number);
    for side in [&ratio.smaller, &ratio.larger] {
        widgets::hint(ui, &side_in_words(side));
    }
}

fn side_in_words(side: &Side) -> String {
    format!(
        "`{}`: {} parameters, log likelihood {}, AIC {}, BIC {}",
        side.formula,
        side.parameters,
        number::fixed(side.log_lik, 3),
        number::fixed(side.aic, 2),
        number::fixed(side.bic, 2)
    )
}

#[cfg(test)]
mod tests {
    use eframe::egui::accesskit::Role;
    use eframe::egui::{Key, vec2};
    use egui_kittest::kittest::Queryable as _;

    use crate::app::testing::Session;
    use crate::app::{DraftChange, Question};
    use crate::ui::panels::runs::runs_ui;
    use crate::ui::testing::page_harness;

    #[test]
    fn a_mixed_model_is_tested_against_one_without_a_term_and_against_a_typed_one() {
        let mut session = Session::with_draft("reaction");
        let formula = "reaction ~ day + (1 + day | driver)";
        session.send(DraftChange::Formula(formula.to_owned()));
        session.send(DraftChange::Template("mixed".to_owned()));
        session.run(2, 50, 100);
        let mut harness = page_harness(session, runs_ui);
        harness.set_size(vec2(1600.0, 1000.0));
        harness.run_steps(3);
        harness
            .get_by_role_and_label(Role::Tab, "Likelihood")
            .click();
        harness.run_steps(3);
        harness.get_by_label("Fit by likelihood").click();
        harness.run_steps(4);
        harness
            .get_by_label("Test against the model without: day by driver")
            .click();
        harness.run_steps(4);
        let tested = |harness: &egui_kittest::Harness<'_, _>| {
            let shown: &crate::ui::testing::Shown<_> = harness.state();
            let entry = shown.session.state.selected().unwrap();
            let task = &entry.likelihood_ratio;
            task.done()
                .cloned()
                .unwrap_or_else(|| panic!("{:?}", task.refusal()))
        };
        let slopes = tested(&harness);
        // Slopes that vary are a variance and a correlation.
        assert_eq!((slopes.df, slopes.at_edge), (2, true));
        assert!(
            slopes.statistic > 10.0 && slopes.p_value < 0.01,
            "{slopes:?}"
        );
        assert_eq!(slopes.larger.formula, formula);
        harness.get_by_label_contains("twice the logarithm of the likelihood ratio is");
        let field = harness.get_by_label("Formula to test against");
        field.focus();
        harness.run_steps(2);
        harness
            .get_by_label("Formula to test against")
            .type_text("reaction ~ 1 + (1 + day | driver)");
        harness.run_steps(2);
        harness.key_press(Key::Enter);
        harness.run_steps(4);
        let typed = tested(&harness);
        assert_eq!((typed.df, typed.at_edge), (1, false));
        assert!(typed.p_value < 0.001, "{typed:?}");
        // A model beside it is refused in a sentence.
        let id = harness.state().session.state.selected().unwrap().id;
        let same = Question::TestAgainst(id, formula.to_owned());
        harness.state_mut().session.send(same);
        harness.run_steps(3);
        harness.get_by_label("The models have the same terms, so there is nothing to compare");
    }
}
