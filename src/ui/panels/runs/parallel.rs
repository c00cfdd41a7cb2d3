//! The pane of parallel coordinates: draws as lines over parameters, those after divergent transitions marked.

use eframe::egui::{Stroke, Ui};

use super::curves::{Key, Memo};
use super::pane::{Home, Pane};
use super::panes::{PaneViews, Variable, name_line, paint_words};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::plots::RowNames;
use crate::ui::plots::axes::{self, Axes, YAxis, faded, padded};
use crate::ui::plots::data_table::{PlotData, data_table_ui};
use crate::ui::plots::marks::{self, Marks};
use crate::ui::theme::{Palette, tokens};
use crate::ui::widgets::{self, number};
use ergodic_base::draws::DrawList;
use ergodic_base::numerals::plural;
use ergodic_base::{Class, ParamId};
use ergodic_core::samplers::DIVERGENT;
use ergodic_diagnostics::joint::{Parallel, Trouble};

/// Most parameters: more cannot be told apart.
const MOST: usize = 30;
/// Lines of each kind: more are one area.
const LINES: usize = 300;

/// Parameters whose draws are not all the same.
fn moving(of: &Variable<'_>) -> impl Iterator<Item = usize> + Clone {
    let moves = move |index: &usize| {
        let row = of.report.summary.get(*index);
        row.is_none_or(|row| row.missing.is_none())
    };
    (0..of.names.len()).filter(moves)
}

/// "30 of 60 parameters", where a joint picture of `shown` parameters is not of all.
pub(super) fn cut(of: &Variable<'_>, shown: usize) -> Option<String> {
    let all = moving(of).count();
    (shown < all).then(|| format!("{shown} of {}", plural(all, "parameter")))
}

/// The parameters that a joint picture shows: all, or where there are too many those that are no effects of groups, the first of them.
pub(super) fn shown(of: &Variable<'_>, most: usize) -> Vec<usize> {
    let all = moving(of);
    let is_main = |index: &usize| {
        !matches!(
            of.names[*index].class(),
            Class::Effect | Class::GroupCoefficient
        )
    };
    let main: Vec<usize> = all.clone().filter(is_main).collect();
    let mut shown = if main.len() < 2 || of.names.len() <= most {
        all.collect()
    } else {
        main
    };
    shown.truncate(most);
    shown
}

/// Parameters with the lines over them, or why there are none.
type Drawn = (Vec<usize>, Result<Parallel, Trouble>);

/// Draws as lines.
#[derive(Default)]
pub(super) struct ParallelPane {
    lines: Memo<Option<Drawn>>,
}

impl Pane for ParallelPane {
    const ID: &'static str = "parallel";
    const TITLE: &'static str = "Parallel";
    const ICON: char = icons::CHART_LINE;
    const ABOUT: &'static str =
        "Each draw as a line over the parameters, at most 30; those that diverged stand out";
    const HOME: Home = Home::Left;

    fn shows(of: &Variable<'_>) -> Result<(), &'static str> {
        if of.names.len() > 1 {
            Ok(())
        } else {
            Err("Lines over parameters need two of them, and this run has one")
        }
    }

    fn ui(&mut self, ui: &mut Ui, of: &Variable<'_>, _views: &mut PaneViews, _out: &mut Outbox) {
        if !of.has_draws(ui, 20) {
            return;
        }
        // The same whichever variable is selected.
        let key = Key {
            variable: 0,
            ..of.key
        };
        let found = self.lines.get(ui, key, || {
            let parameters = shown(of, MOST);
            let lines = lines(of, &parameters);
            Some((parameters, lines))
        });
        match found {
            Some((parameters, Ok(lines))) => lines_ui(ui, of, parameters, lines),
            Some((parameters, Err(trouble))) => {
                let name = parameters
                    .get(trouble.place)
                    .map_or("", |&it| &of.names[it]);
                let text = format!(
                    "There is no picture: the draws of {name} are {}",
                    trouble.missing
                );
                widgets::empty_state(ui, Self::ICON, &text, None);
            }
            None => {}
        }
    }
}

fn lines(of: &Variable<'_>, parameters: &[usize]) -> Result<Parallel, Trouble> {
    let names = of.entry.info_names();
    let column = names.iter().position(|name| name == DIVERGENT);
    let lists: Vec<&DrawList> = of.run.usable().map(|chain| &chain.draws.draws).collect();
    let flags = column.map(|column| -> Vec<Vec<bool>> {
        let chains = of.run.usable().map(|chain| chain.draws.info.column(column));
        chains
            .map(|values| values.iter().map(|&value| value > 0.0).collect())
            .collect()
    });
    Parallel::of(&lists, parameters, flags.as_deref(), LINES)
}

fn lines_ui(ui: &mut Ui, of: &Variable<'_>, parameters: &[usize], lines: &Parallel) {
    let t = tokens();
    let p = Palette::of(ui);
    let mut words = format!(
        "{} of {}",
        plural(lines.plain.len() + lines.divergent.len(), "draw"),
        number::integer(of.run.usable().map(|it| it.draws.draws.len() as u64).sum()),
    );
    // Samplers without trajectories cannot diverge.
    if of.entry.info_names().iter().any(|name| name == DIVERGENT) {
        let divergent = plural(lines.divergences, "divergent transition");
        words = format!("{words}, {divergent}");
    }
    if let Some(cut) = cut(of, parameters.len()) {
        words = format!("{cut}, {words}");
    }
    let head = name_line(ui);
    paint_words(ui, head, "draws", &words, None);
    let values = || {
        lines
            .plain
            .iter()
            .chain(&lines.divergent)
            .flatten()
            .copied()
    };
    let rows = parameters.len();
    let summary = format!("Draws as lines over {}: {words}", plural(rows, "parameter"));
    let ends = values().fold((0.0_f64, 0.0_f64), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    let ids: Vec<&ParamId> = parameters.iter().map(|&index| &of.names[index]).collect();
    let row_names = RowNames::new(ui, &ids);
    let mut axes = Axes {
        x_title: "standard deviations from the mean",
        y_axis: YAxis::None,
        title_line: true,
        ..Axes::new(
            ui.make_persistent_id(("parallel", of.key.run)),
            &summary,
            padded(ends, 0.04),
            RowNames::range(rows),
        )
    };
    axes.margin.left = row_names.margin;
    let height = ui.available_height();
    let plain = Stroke::new(t.stroke.hair, faded(p.accent, 0.25));
    let bad = Stroke::new(t.stroke.curve_selected, p.bad);
    let shown = axes::show(ui, p, &axes, height, move |plot| {
        plot.add(Marks::new(move |_ui, transform, shapes| {
            for (lines, stroke) in [(&lines.plain, plain), (&lines.divergent, bad)] {
                for line in lines {
                    let points = line.iter().enumerate();
                    let place = |(row, &value): (usize, &f64)| [value, RowNames::place(rows, row)];
                    let points: Vec<[f64; 2]> = points.map(place).collect();
                    marks::curve(&points, stroke, &[], f64::INFINITY, transform, shapes);
                }
            }
        }));
    });
    row_names.paint(ui, p, &shown);
    data_table_ui(ui, &shown.response, &summary, || {
        let heads = std::iter::once("divergent").chain(ids.iter().map(|id| id.as_str()));
        let plain = lines.plain.len();
        PlotData::new(heads, plain + lines.divergent.len(), move |row, column| {
            let (line, divergent) = match row.checked_sub(plain) {
                None => (&lines.plain[row], 0.0),
                Some(row) => (&lines.divergent[row], 1.0),
            };
            column.checked_sub(1).map_or(divergent, |place| line[place])
        })
    });
}

#[cfg(test)]
mod tests {
    use eframe::egui::accesskit::Role;
    use egui_kittest::kittest::Queryable as _;

    use crate::app::testing::Session;
    use crate::app::{DataCommand, DraftChange};
    use crate::ui::panels::runs::runs_ui;
    use crate::ui::testing::{page_harness, press_t_over};

    #[test]
    fn lines_over_some_of_the_parameters_say_so() {
        let names: Vec<String> = (1..=31).map(|j| format!("x{j}")).collect();
        let mut text = format!("y,{}\n", names.join(","));
        let mut noise = 1_u32;
        for _ in 0..60 {
            let values: Vec<String> = (0..32)
                .map(|_| {
                    noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    ((noise >> 16) % 101).to_string()
                })
                .collect();
            text.push_str(&format!("{}\n", values.join(",")));
        }
        let folder = tempfile::tempdir().unwrap();
        let mut session = Session::with_file(&folder, "wide.csv", &text);
        session.send(DataCommand::AcceptImport);
        session.send(DraftChange::Template("linear".to_owned()));
        let formula = format!("y ~ {}", names.join(" + "));
        session.send(DraftChange::Formula(formula));
        session.run(1, 20, 30);
        let mut harness = page_harness(session, runs_ui);
        harness.set_size(eframe::egui::vec2(1920.0, 1200.0));
        harness.run_steps(3);
        harness.get_by_role_and_label(Role::Tab, "Parallel").click();
        harness.run_steps(4);
        // An intercept, 31 slopes and a standard deviation.
        let said = harness
            .query_all_by_label_contains("lines over 30 parameters: 30 of 33 parameters, ")
            .next();
        assert!(said.is_some());
    }

    #[test]
    fn both_joint_pictures_show_the_draws_of_a_run_and_their_tables() {
        let (session, _) = Session::with_run("churn");
        let mut harness = page_harness(session, runs_ui);
        harness.set_size(eframe::egui::vec2(1920.0, 1200.0));
        harness.run_steps(3);
        harness.get_by_role_and_label(Role::Tab, "Parallel").click();
        harness.run_steps(4);
        let lines = harness
            .query_all_by_label_contains("Draws as lines over")
            .next();
        assert!(lines.is_some());
        // The sampler can diverge, and the words say whether it did.
        assert!(
            harness
                .query_all_by_label_contains("divergent transition")
                .next()
                .is_some()
        );
        harness
            .get_by_role_and_label(Role::Tab, "Components")
            .click();
        harness.run_steps(4);
        let name = "Draws on the largest and the smallest principal component";
        press_t_over(&mut harness, name);
        harness.get_by_role_and_label(Role::ColumnHeader, "smallest");
    }
}
