//! Quantities whose draws are not kept: means and standard deviations that were accumulated while the chains ran.

use eframe::egui::Ui;

use super::pane::{Home, Pane};
use super::panes::{PaneViews, Variable};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::theme::{Text, tokens};
use crate::ui::widgets::table::{Cell, Column, Table, Tone};
use crate::ui::widgets::{self, number};
use ergodic_core::engine::keep::KEY;
use ergodic_diagnostics::estimates::Estimate;
use ergodic_diagnostics::sentence::rhat_text;

/// Widths of a name at least, and of a number.
const NAME: f32 = 160.0;
const NUMBER: f32 = 84.0;

/// Nothing is kept between frames.
#[derive(Default)]
pub(super) struct Unkept;

impl Pane for Unkept {
    const ID: &'static str = "unkept";
    const TITLE: &'static str = "Not kept";
    const ICON: char = icons::TABLE;
    const ABOUT: &'static str =
        "Means and standard deviations of quantities whose draws are not kept";
    const HOME: Home = Home::Above;

    fn shows(of: &Variable<'_>) -> Result<(), &'static str> {
        match of.report.estimates.is_empty() {
            false => Ok(()),
            true => Err("The run keeps the draws of all quantities (run.keep)"),
        }
    }

    fn ui(&mut self, ui: &mut Ui, of: &Variable<'_>, _views: &mut PaneViews, _out: &mut Outbox) {
        let estimates = &of.report.estimates;
        if estimates.is_empty() {
            let text = "The run keeps the draws of all quantities";
            widgets::empty_state(ui, icons::TABLE, text, None);
            return;
        }
        estimates_ui(ui, estimates);
    }
}

/// One row per quantity.
fn estimates_ui(ui: &mut Ui, all: &[Estimate]) {
    let t = tokens();
    widgets::inset(ui, [t.space.x3, t.space.x1], |ui| {
        let text = format!(
            "Accumulated without draws ({KEY}): no quantiles, effective sample sizes or split R-hat, and no verdict"
        );
        widgets::sentence_line(ui, &text, Text::Caption, true);
    });
    let text = |value: Option<f64>, text: fn(f64) -> String| {
        Cell::number(
            value.map_or(number::NOT_AVAILABLE.to_owned(), text),
            Tone::Primary,
        )
    };
    let mean = move |k: usize| {
        let Estimate { mean, sd, .. } = all[k];
        // Without a standard deviation, three significant digits.
        let digits = |mean| number::to_sd_digits(mean, sd.unwrap_or(f64::NAN));
        let shown = mean.map_or(number::NOT_AVAILABLE.to_owned(), digits);
        Cell::number(shown, Tone::Primary)
    };
    let order = |value: Option<f64>| value.unwrap_or(f64::NAN);
    Table::new("unkept", "Quantities whose draws are not kept", all.len())
        .inset(t.space.x2)
        .column(
            Column::new("variable", NAME, |k| {
                Cell::text(all[k].variable.to_string(), Tone::Primary)
            })
            .fills(),
        )
        .column(Column::number("mean", NUMBER, mean).by(move |k| order(all[k].mean)))
        .column(
            Column::number("sd", NUMBER, move |k| text(all[k].sd, number::sd))
                .by(move |k| order(all[k].sd)),
        )
        .column(Column::number("draws", NUMBER, |k| {
            Cell::number(number::integer(all[k].draws), Tone::Secondary)
        }))
        .column(
            Column::number("R-hat, whole chains", 1.6 * NUMBER, move |k| {
                text(all[k].rhat_unsplit, rhat_text)
            })
            .by(move |k| order(all[k].rhat_unsplit)),
        )
        .show(ui);
}

#[cfg(test)]
mod tests {
    use eframe::egui::accesskit::Role;
    use egui_kittest::kittest::{NodeT as _, Queryable as _};

    use super::estimates_ui;
    use crate::app::testing::Session;
    use crate::app::{DraftChange, RunCommand};
    use crate::ui::panels::runs::runs_ui;
    use crate::ui::testing::{harness, page_harness};
    use crate::ui::widgets::number;
    use ergodic_base::ParamId;
    use ergodic_core::engine::RunSection;
    use ergodic_diagnostics::estimates::Estimate;

    #[test]
    fn quantities_whose_draws_are_not_kept_are_listed() {
        let mut session = Session::with_draft("churn");
        session.send(DraftChange::Formula("churned ~ age + plan".to_owned()));
        session.send(DraftChange::Run(RunSection {
            chains: 2,
            draws: 60,
            keep: "b[age]".to_owned(),
            ..RunSection::default()
        }));
        session.send(RunCommand::Start);
        session.wait_for_runs();
        let entry = session.state.selected().unwrap();
        assert_eq!(entry.variables(), ["b[age]"]);
        let report = entry.report().unwrap();
        assert_eq!(report.summary.len(), 1);
        let estimates = report.estimates.clone();
        assert!(
            estimates
                .iter()
                .all(|it| it.draws == 120 && it.mean.is_some())
        );
        let (model, place) = entry.reported(0).unwrap();
        assert_eq!(model.params()[place].name, "b[age]");
        let mut harness = page_harness(session, runs_ui);
        harness.run_steps(3);
        harness
            .get_all_by_label("Not kept")
            .find(|node| node.accesskit_node().role() == Role::Tab)
            .unwrap()
            .click();
        harness.run_steps(3);
        let cells: Vec<String> = harness
            .get_all_by_role(Role::Cell)
            .filter_map(|node| {
                let node = node.accesskit_node();
                node.label().or_else(|| node.value())
            })
            .collect();
        let name = estimates[0].variable.as_str();
        assert!(cells.iter().any(|cell| cell == name), "{name}: {cells:?}");
        // A mean is as precise as the second digit of its standard deviation.
        let mean = number::to_sd_digits(estimates[0].mean.unwrap(), estimates[0].sd.unwrap());
        assert!(cells.contains(&mean), "{mean}: {cells:?}");
    }

    #[test]
    fn a_mean_far_from_zero_has_the_digits_of_its_standard_deviation() {
        let estimate = |name: &str, mean: f64, sd: Option<f64>| Estimate {
            variable: ParamId::named(name),
            mean: Some(mean),
            sd,
            draws: 2000,
            rhat_unsplit: None,
        };
        let all = [
            estimate("a", 1234.5678, Some(0.52)),
            estimate("c", 8765.4321, None),
        ];
        let mut harness = harness([800.0, 300.0], (), move |ui, ()| estimates_ui(ui, &all));
        harness.run_steps(2);
        let cells: Vec<String> = harness
            .get_all_by_role(Role::Cell)
            .filter_map(|node| {
                let node = node.accesskit_node();
                node.label().or_else(|| node.value())
            })
            .collect();
        // Two significant digits, as standard deviations have, would be 1200 and 8800.
        for text in [number::fixed(1234.57, 2), number::fixed(8770.0, 0)] {
            assert!(cells.contains(&text), "{text}: {cells:?}");
        }
    }
}
