//! A run beside another one of the project: settings that differ, shifts, densities, joint distances.

use std::sync::Arc;

use eframe::egui::{ScrollArea, Ui};

use super::curves::{self, Densities, Key, Memo};
use super::moments::moments_ui;
use super::pane::{Home, Pane};
use super::panes::{PaneViews, Variable};
use crate::app::comparing_runs::{Compared, others, refusal};
use crate::app::{Analysis, Question, RunCommand, RunEntry, ViewCommand, scoring};
use crate::ui::outbox::Outbox;
use crate::ui::plots::overlay::{OverlaidCurve, overlay_ui};
use crate::ui::theme::{Text, VerdictKind, tokens};
use crate::ui::widgets::table::{Cell, Column, Table, Tone};
use crate::ui::widgets::{self, Button, Chip, number};
use crate::ui::{icons, tasks};
use ergodic_analysis::loo::{CrossValidation, compare};
use ergodic_analysis::run_comparison::ParameterRow;
use ergodic_analysis::run_comparison::RunComparison;

/// Height of the densities.
const PICTURE: f32 = 220.0;
/// Parameters of one run that are named.
const NAMED: usize = 12;
/// Chains whose colours and dashes the first and the second run have.
const SIGNS: [usize; 2] = [1, 0];

/// What the pane keeps.
#[derive(Default)]
pub(super) struct CompareView {
    /// The run that `other` was chosen for.
    of: Option<u64>,
    /// The run compared with.
    other: Option<u64>,
    /// Densities of the selected parameter in both runs.
    densities: [Memo<Densities>; 2],
    /// Addresses of the scores that the sentences are of, and these.
    scores: Option<([usize; 2], Vec<String>)>,
}

impl Pane for CompareView {
    const ID: &'static str = "compare";
    const TITLE: &'static str = "Compare";
    const ICON: char = icons::CIRCLE_HALF;
    const ABOUT: &'static str = "This run beside another: settings, shifts and densities";
    const HOME: Home = Home::Above;

    fn ui(&mut self, ui: &mut Ui, of: &Variable<'_>, _views: &mut PaneViews, out: &mut Outbox) {
        compare_pane(ui, of, self, out);
    }
}

fn compare_pane(ui: &mut Ui, of: &Variable<'_>, view: &mut CompareView, out: &mut Outbox) {
    let entry = of.entry;
    if let Some(why) = refusal(entry) {
        widgets::empty_state(ui, icons::HOURGLASS_MEDIUM, why, None);
        return;
    }
    let all: Vec<&RunEntry> = others(of.state, entry).collect();
    if all.is_empty() {
        let text = "There is no other finished run in this project; use these settings, change something, run it, and both stand \
                    here side by side";
        let known = entry.recipe.is_some().then_some("Use these settings");
        if widgets::empty_state(ui, icons::CIRCLE_HALF, text, known) {
            out.send(RunCommand::UseRecipe(entry.id));
        }
        return;
    }
    let t = tokens();
    ScrollArea::vertical()
        .id_salt(("compare", entry.id))
        .auto_shrink([false, false])
        .show(ui, |ui| {
            widgets::inset(ui, [t.space.x4, t.space.x3], |ui| {
                ui.spacing_mut().item_spacing.y = t.space.x2;
                choice_ui(ui, entry, &all, view, out);
                let chosen = all.iter().find(|other| Some(other.id) == view.other);
                if let Some(other) = chosen {
                    chosen_ui(ui, of, other, view, out);
                }
            });
        });
}

/// The runs that this one can be compared with.
fn choice_ui(
    ui: &mut Ui,
    entry: &RunEntry,
    all: &[&RunEntry],
    view: &mut CompareView,
    out: &mut Outbox,
) {
    let t = tokens();
    // Each run keeps what it was compared with last.
    if view.of != Some(entry.id) {
        view.of = Some(entry.id);
        view.other = entry.compared.done().map(|done| done.with);
    }
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = t.space.x2;
        for other in all {
            let is_chosen = view.other == Some(other.id);
            let words = format!("Compare with {}", other.title());
            let chip = Chip::toggle(&words, is_chosen);
            if ui.add(chip).clicked() && !is_chosen {
                view.other = Some(other.id);
                out.send(Question::Compare(entry.id, other.id));
            }
        }
    });
    if view.other.is_none() {
        widgets::hint(
            ui,
            "What differs in settings, by how many posterior standard deviations parameters move, and whether Monte Carlo error \
             explains it",
        );
    }
}

fn chosen_ui(
    ui: &mut Ui,
    of: &Variable<'_>,
    other: &RunEntry,
    view: &mut CompareView,
    out: &mut Outbox,
) {
    let entry = of.entry;
    if let Some(done) = entry.compared_with(other) {
        done_ui(ui, of, other, done, view, out);
    } else if let Some(going) = entry.compared.working() {
        let text = tasks::words(going, of.state.tasks.secs_left(going));
        if widgets::empty_state(ui, icons::HOURGLASS_MEDIUM, &text, Some("Cancel")) {
            out.send(Question::Cancel(entry.id, Analysis::Comparison));
        }
        ui.ctx()
            .request_repaint_after(super::super::page::PROGRESS_TIME);
    } else {
        let text = entry.compared.refusal();
        let text = text.unwrap_or("The runs have other draws than when they were compared");
        if widgets::empty_state(ui, icons::CIRCLE_HALF, text, Some("Compare again")) {
            out.send(Question::Compare(entry.id, other.id));
        }
    }
}

fn done_ui(
    ui: &mut Ui,
    of: &Variable<'_>,
    other: &RunEntry,
    done: &Compared,
    view: &mut CompareView,
    out: &mut Outbox,
) {
    let t = tokens();
    let found = &done.found;
    widgets::heading(ui, &found.sentence());
    widgets::sentence(ui, &found.subject, Text::Body);
    settings_ui(ui, done);
    ui.add_space(t.space.x2);
    parameters_ui(ui, of, done, out);
    widgets::hint(ui, &found.level());
    for (k, names) in found.only.iter().enumerate() {
        if !names.is_empty() {
            let shown: Vec<&str> = names.iter().take(NAMED).map(|name| name.as_str()).collect();
            let more = match names.len() - shown.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let text = format!(
                "Draws only in {}: {}{more}",
                found.names[k],
                shown.join(", ")
            );
            widgets::hint(ui, &text);
        }
    }
    ui.add_space(t.space.x2);
    moments_ui(ui, of, done, out);
    ui.add_space(t.space.x2);
    densities_ui(ui, of, other, view);
    ui.add_space(t.space.x2);
    distances_ui(ui, done);
    ui.add_space(t.space.x2);
    scores_ui(ui, [of.entry, other], found, view, out);
    for remark in &found.remarks {
        widgets::hint(ui, remark);
    }
}

fn settings_ui(ui: &mut Ui, done: &Compared) {
    let found = &done.found;
    let Some(settings) = &found.settings else {
        return;
    };
    if settings.is_empty() {
        widgets::hint(ui, "No setting differs");
        return;
    }
    let value = |k: usize, run: usize| match &settings[k].values[run] {
        Some(text) => Cell::text(text.as_str(), Tone::Primary),
        None => Cell::text("not set", Tone::Faint),
    };
    Table::new("settings", "Settings that differ", settings.len())
        .whole()
        .column(Column::names(ui, "setting", settings.len(), |k| {
            settings[k].key.as_str()
        }))
        .column(Column::new(&found.names[0], 240.0, move |k| value(k, 0)))
        .column(Column::new(&found.names[1], 240.0, move |k| value(k, 1)).fills())
        .show(ui);
}

/// Parameters, those that change most first; a click selects one for the whole page.
fn parameters_ui(ui: &mut Ui, of: &Variable<'_>, done: &Compared, out: &mut Outbox) {
    let rows: Vec<&ParameterRow> = (done.order.iter())
        .map(|&k| &done.found.parameters[k])
        .collect();
    if rows.is_empty() {
        return;
    }
    let rows = &rows;
    let names = &done.found.names;
    let mean = |run: usize| {
        move |k: usize| match (rows[k].means[run], rows[k].sds[run]) {
            (Some(mean), Some(sd)) => Cell::number(number::to_sd_digits(mean, sd), Tone::Primary),
            _ => Cell::empty(),
        }
    };
    let sd = |run: usize| {
        move |k: usize| {
            let sd = rows[k].sds[run].map_or(String::new(), number::sd);
            Cell::number(sd, Tone::Secondary)
        }
    };
    let fixed = |value: Option<f64>| {
        let text = value.map_or(String::new(), |value| number::fixed(value, 3));
        Cell::number(text, Tone::Secondary)
    };
    let shift = |k: usize| rows[k].shift.map_or(f64::NAN, |shift| shift.value);
    let variation = |k: usize| rows[k].total_variation.map(|it| it.value);
    let heads = names
        .each_ref()
        .map(|name| [format!("mean, {name}"), format!("sd, {name}")]);
    let chosen = rows.iter().position(|row| row.variable == *of.name);
    let shown = Table::new("shifts", "Shifts of the parameters", rows.len())
        .whole()
        .chosen(chosen)
        .column(Column::names(ui, "parameter", rows.len(), |k| {
            rows[k].variable.as_str()
        }))
        .column(Column::number(&heads[0][0], 116.0, mean(0)))
        .column(Column::number(&heads[0][1], 92.0, sd(0)))
        .column(Column::number(&heads[1][0], 116.0, mean(1)))
        .column(Column::number(&heads[1][1], 92.0, sd(1)))
        .column(
            Column::number("shift, sd", 84.0, move |k| {
                let Some(shift) = rows[k].shift else {
                    return Cell::empty();
                };
                let tone = match rows[k].change {
                    Some(_) => Tone::Past(VerdictKind::Watch),
                    None => Tone::Secondary,
                };
                Cell::number(number::signed(shift.value, 2), tone)
            })
            .help("Mean of the second run less that of the first, in standard deviations of the first")
            .by(move |k| shift(k).abs()),
        )
        .column(
            Column::number("± MCSE", 76.0, move |k| fixed(rows[k].shift.map(|it| it.error())))
                .help("Monte Carlo standard error of the shift"),
        )
        .column(
            Column::number("sd ratio", 76.0, move |k| fixed(rows[k].sd_ratio.map(|it| it.value)))
                .by(move |k| rows[k].sd_ratio.map_or(f64::NAN, |it| it.value.ln().abs())),
        )
        .column(
            Column::number("KS", 68.0, move |k| fixed(rows[k].ks))
                .help("Kolmogorov-Smirnov distance: largest difference of the probabilities of being below a value")
                .by(move |k| rows[k].ks.unwrap_or(f64::NAN)),
        )
        .column(
            Column::number("TV", 68.0, move |k| fixed(variation(k)))
                .help("Total variation distance: largest difference of the probabilities of being in a set of values")
                .by(move |k| variation(k).unwrap_or(f64::NAN)),
        )
        .column(
            Column::number("TV halves", 84.0, move |k| {
                fixed(rows[k].total_variation.and_then(|it| it.halves))
            })
            .help("The largest between halves of one of the runs: what chance does with half of the draws"),
        )
        .show(ui);
    let index = shown.chosen.and_then(|k| {
        let name = &rows[k].variable;
        of.names.iter().position(|it| it == name)
    });
    if let Some(index) = index {
        out.send(ViewCommand::SelectVariable(index));
    }
}

/// Densities of the selected parameter in both runs over each other.
fn densities_ui(ui: &mut Ui, of: &Variable<'_>, other: &RunEntry, view: &mut CompareView) {
    let name = of.name.as_str();
    let variables = other.variables();
    let place = variables.iter().position(|it| it == of.name);
    let (Some(place), Some(run)) = (place, other.view()) else {
        widgets::hint(ui, &format!("{} has no {name}", other.title()));
        return;
    };
    let draws = run
        .chains
        .iter()
        .map(|chain| chain.draws.draws.len() as u64);
    let key = Key {
        run: other.id,
        variable: place,
        version: draws.sum(),
    };
    let [own, others] = &mut view.densities;
    let own = own.get(ui, of.key, || curves::densities(of.entry, of.run, of.index));
    let others = others.get(ui, key, || curves::densities(other, &run, place));
    if own.pooled.is_empty() && others.pooled.is_empty() {
        widgets::hint(ui, &format!("{name} has no density in either run"));
        return;
    }
    let titles = [of.entry.title(), other.title()];
    widgets::heading(ui, &format!("Densities of {name}"));
    let curves = [own.pooled.as_slice(), others.pooled.as_slice()];
    let curves: [OverlaidCurve<'_>; 2] = std::array::from_fn(|run| OverlaidCurve {
        title: &titles[run],
        points: curves[run],
        sign: SIGNS[run],
    });
    let id = ui.make_persistent_id(("compared", of.entry.id));
    overlay_ui(ui, id, name, &curves, PICTURE);
}

/// Distances between the posteriors as a whole.
fn distances_ui(ui: &mut Ui, done: &Compared) {
    let rows = &done.distances;
    match &done.found.joint {
        Err(why) => {
            widgets::hint(ui, &why.to_string());
            return;
        }
        Ok(apart) => {
            let text = format!(
                "How far apart both posteriors are as a whole, from {} parameters",
                apart.dim
            );
            widgets::heading(ui, &text);
        }
    }
    let value = |value: f64, tone: Tone| Cell::number(number::significant(value, 2), tone);
    Table::new("distances", "Joint distances", rows.len())
        .whole()
        .column(Column::names(ui, "", rows.len(), |k| rows[k].name.as_str()))
        .column(Column::number("distance", 84.0, |k| {
            value(rows[k].value, Tone::Primary)
        }))
        .column(
            Column::number("halves", 84.0, |k| match rows[k].chance {
                Some(chance) => value(chance, Tone::Secondary),
                None => Cell::empty(),
            })
            .help("The largest between halves of one of the runs: what chance does with half of the draws"),
        )
        .gap(tokens().space.x3)
        .column(
            Column::new("", 320.0, |k| Cell::text(rows[k].meaning.as_str(), Tone::Faint)).fills(),
        )
        .show(ui);
}

/// How well both predict rows that were left out, once both have been scored.
fn scores_ui(
    ui: &mut Ui,
    runs: [&RunEntry; 2],
    found: &RunComparison,
    view: &mut CompareView,
    out: &mut Outbox,
) {
    if runs.iter().any(|run| scoring::refusal(run).is_some()) {
        return;
    }
    if found.has_one_posterior {
        widgets::hint(
            ui,
            "Both are runs of one model of the same data, which predict equally well up to Monte Carlo error",
        );
        return;
    }
    let [Some(one), Some(other)] = runs.map(|run| run.scores.done()) else {
        let waiting = runs.iter().any(|run| run.scores.working().is_some());
        let button = Button::new("Leave rows out of both").small();
        let response = ui
            .add_enabled(!waiting, button)
            .on_hover_text("Says which of the two predicts rows better that it has not seen")
            .on_disabled_hover_text("Rows are being left out");
        if response.clicked() {
            for run in runs.iter().filter(|run| run.scores.done().is_none()) {
                out.send(Question::Score(run.id));
            }
        }
        for why in runs.iter().filter_map(|run| run.scores.refusal()) {
            widgets::hint(ui, why);
        }
        return;
    };
    let made_of = [one, other].map(|scores| Arc::as_ptr(scores) as usize);
    if view.scores.as_ref().is_none_or(|(of, _)| *of != made_of) {
        let named: [(String, &CrossValidation); 2] = [
            (runs[0].title(), one.as_ref()),
            (runs[1].title(), other.as_ref()),
        ];
        let sentences = match compare(&named) {
            Ok(found) => found.sentences.into_iter().chain(found.remarks).collect(),
            Err(why) => vec![why.to_string()],
        };
        view.scores = Some((made_of, sentences));
    }
    for sentence in view.scores.iter().flat_map(|(_, sentences)| sentences) {
        widgets::sentence(ui, sentence, Text::Body);
    }
}

#[cfg(test)]
mod tests {
    use eframe::egui::accesskit::Role;
    use eframe::egui::vec2;
    use egui_kittest::kittest::Queryable as _;

    use crate::app::reporting::Picture;
    use crate::app::testing::Session;
    use crate::app::{DraftChange, PathCommand, Product, Question, RunCommand, ViewCommand};
    use crate::ui::panels::runs::runs_ui;
    use crate::ui::testing::{page_harness, press_t_over};

    #[test]
    fn two_runs_are_compared() {
        let mut session = Session::with_draft("churn");
        session.run(2, 100, 200);
        let mut harness = page_harness(session, runs_ui);
        harness.run_steps(3);
        // Its tab has no room in the strip: the menu at the end has all.
        let menus = harness.get_all_by_label("All tabs of this strip");
        let above = menus.min_by(|a, b| a.rect().top().total_cmp(&b.rect().top()));
        above.unwrap().click();
        harness.run_steps(2);
        harness
            .get_by_role_and_label(Role::MenuItem, "Compare")
            .click();
        harness.run_steps(3);
        harness.get_by_label_contains("There is no other finished run");
        let mut session = std::mem::take(&mut harness.state_mut().session);
        session.send(DraftChange::Prior(
            "b".to_owned(),
            Some("normal(0, 0.05)".to_owned()),
        ));
        session.send(RunCommand::Start);
        session.wait_for_runs();
        harness.state_mut().session = session;
        harness.run_steps(3);
        let ids: Vec<u64> = (harness.state().session.state.runs.iter())
            .map(|entry| entry.id)
            .collect();
        harness.get_by_label("Compare with Run 1").click_accesskit();
        harness.run_steps(4);
        let state = harness.state();
        assert!(state.has_sent(Question::Compare(ids[1], ids[0])));
        let [one, two] = [&state.session.state.runs[0], &state.session.state.runs[1]];
        let done = two.compared_with(one).unwrap().clone();
        // Screen readers hear no backticks.
        harness.get_by_label(&done.found.sentence().replace('`', ""));
        harness.get_by_label("Same data and model, other priors");
        harness.get_by_role_and_label(Role::Cell, "priors.b");
        let first = done.found.parameters[done.order[0]].variable.clone();
        assert!(done.found.sentence().contains(first.as_str()));
        // A parameter of the table is selected for the page, and its densities are drawn.
        let index = two.variables().iter().position(|it| *it == first).unwrap();
        harness
            .state_mut()
            .session
            .send(ViewCommand::SelectVariable(index));
        harness.run_steps(3);
        harness.get_by_label(&format!("Densities of {first} in Run 2 and Run 1"));
        // Means and standard deviations of all parameters are drawn against each other, and saved as a picture.
        harness.set_size(vec2(1280.0, 2400.0));
        harness.run_steps(3);
        harness.get_by_label("Posterior standard deviations in Run 1 against those in Run 2");
        press_t_over(
            &mut harness,
            "Posterior means in Run 1 against those in Run 2",
        );
        // Beside the column of settings.
        let heads = harness.query_all_by_role_and_label(Role::ColumnHeader, "Run 1");
        assert_eq!(heads.count(), 2);
        harness.get_by_label("Save as a picture…").click_accesskit();
        harness.run_steps(2);
        let picture = Picture {
            figure: "moments",
            variable: index,
        };
        let state = harness.state_mut();
        assert!(state.has_sent(PathCommand::Pick(Product::Picture(ids[1], picture))));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("moments.csv");
        let save = PathCommand::Write(Product::Picture(ids[1], picture), path.clone());
        state.session.send(save);
        let drawn = std::fs::read_to_string(path).unwrap();
        let points = drawn.lines().filter(|line| line.contains(",parameters,"));
        assert_eq!(points.count(), 2 * done.found.parameters.len());
        harness.get_by_role_and_label(Role::ColumnHeader, "TV");
        harness.get_by_role_and_label(Role::ColumnHeader, "TV halves");
        harness.get_by_role_and_label(Role::Cell, "energy distance");
        harness
            .get_by_label("Leave rows out of both")
            .click_accesskit();
        harness.run_steps(4);
        harness.get_by_label_contains(" predicts better than ");
    }
}
