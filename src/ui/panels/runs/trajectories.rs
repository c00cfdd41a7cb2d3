//! The pane of trajectories: how the energy changes along leapfrog steps from where the chains of a finished run ended.

use eframe::egui::{Shape, Stroke, Ui};

use super::asked::Asked;
use super::pane::{Home, Pane};
use super::panes::{PaneViews, Variable, legend_ui, name_line, paint_words};
use crate::app::following::Followed;
use crate::app::{Analysis, Question};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::plots::ChainFilter;
use crate::ui::plots::axes::{self, Axes};
use crate::ui::plots::data_table::{PlotData, data_table_ui};
use crate::ui::plots::marks::{self, Marks};
use crate::ui::theme::{Palette, tokens};
use crate::ui::widgets::{Segments, inset, number};
use ergodic_core::engine::trajectories::{FromChain, STEPS};
use ergodic_core::samplers::{MAX_ENERGY_ERROR, Trajectory};

/// Energies along trajectories.
#[derive(Default)]
pub(super) struct Trajectories {
    /// Of a sampler that follows an estimate, the energy with all rows is shown.
    with_all_rows: bool,
}

impl Pane for Trajectories {
    const ID: &'static str = "trajectories";
    const TITLE: &'static str = "Trajectories";
    const ICON: char = icons::CHART_LINE_UP;
    const ABOUT: &'static str = "Energy errors along leapfrog steps from where the chains ended";
    const HOME: Home = Home::Right;

    fn shows(of: &Variable<'_>) -> Result<(), &'static str> {
        if of.entry.has_trajectories() {
            Ok(())
        } else {
            Err(
                "This sampler follows no trajectories; HMC and NUTS do, and those with energy conserving subsampling",
            )
        }
    }

    fn ui(&mut self, ui: &mut Ui, of: &Variable<'_>, views: &mut PaneViews, out: &mut Outbox) {
        let entry = of.entry;
        let asked = Asked {
            entry,
            task: &entry.followed,
            done: entry.trajectories(),
            later: "Energies along trajectories appear here when the run has ended",
            icon: Self::ICON,
            ask: Question::FollowTrajectories(entry.id),
        };
        asked.show(ui, out, |ui, done| {
            picture_ui(ui, of, done, &mut self.with_all_rows, &views.filter);
        });
    }

    fn strip_ui(&mut self, ui: &mut Ui, of: &Variable<'_>, views: &mut PaneViews, tabs: f32) {
        legend_ui(ui, of, tabs, views);
    }

    fn unseen(&mut self, of: &Variable<'_>, out: &mut Outbox) {
        if of.entry.followed.working().is_some() {
            out.send(Question::Cancel(of.entry.id, Analysis::Trajectories));
        }
    }
}

/// The largest error of all chains, and what is too much.
fn words(done: &Followed) -> String {
    let largest = done.chains.iter().map(FromChain::largest);
    format!(
        "largest error {}; a rise of more than {} is a divergence",
        number::significant(largest.fold(0.0, f64::max), 3),
        number::fixed(MAX_ENERGY_ERROR, 0)
    )
}

/// What the picture shows, in one sentence.
fn summary(done: &Followed) -> String {
    format!(
        "Energy errors along {STEPS} leapfrog steps: {}",
        words(done)
    )
}

fn picture_ui(
    ui: &mut Ui,
    of: &Variable<'_>,
    done: &Followed,
    with_all_rows: &mut bool,
    filter: &ChainFilter,
) {
    let t = tokens();
    let p = Palette::of(ui);
    let words = words(done);
    let line = name_line(ui);
    paint_words(ui, line, "energy", &words, None);
    let all = || done.chains.iter().flat_map(|it| &it.trajectories);
    if all().any(|it| it.of_all_rows.is_some()) {
        inset(ui, [t.space.x3, t.space.x1], |ui| {
            Segments::new("Energy", with_all_rows)
                .option(false, "From the subsample")
                .option(true, "With all rows")
                .show(ui);
        });
    }
    let with_all_rows = *with_all_rows;
    let errors = move |it: &Trajectory| -> Vec<f64> {
        let exact = it.of_all_rows.as_ref().filter(|_| with_all_rows);
        exact.unwrap_or(&it.errors).clone()
    };
    // One curve for each chain, broken between its trajectories.
    let mut curves: Vec<Vec<[f64; 2]>> = vec![Vec::new(); of.run.chains.len()];
    let mut rows: Vec<[f64; 4]> = Vec::new();
    for it in &done.chains {
        let Some(curve) = curves.get_mut(it.chain) else {
            continue;
        };
        for (momentum, trajectory) in it.trajectories.iter().enumerate() {
            for (step, error) in errors(trajectory).into_iter().enumerate() {
                curve.push([step as f64, error]);
                let [chain, momentum] = [it.chain, momentum].map(|place| (place + 1) as f64);
                rows.push([chain, momentum, step as f64, error]);
            }
            curve.push([f64::NAN; 2]);
        }
    }
    let summary = summary(done);
    let axes = Axes {
        x_title: "leapfrog step",
        y_title: "energy error",
        ..Axes::new(
            ui.make_persistent_id(("trajectories", of.key.run)),
            &summary,
            (0.0, STEPS as f64),
            axes::range(rows.iter().map(|row| row[3]), 0.05),
        )
    };
    let height = ui.available_height();
    let zero = Stroke::new(t.stroke.hair, p.axis);
    let shown = axes::show(ui, p, &axes, height, move |plot| {
        plot.add(Marks::new(move |_ui, transform, shapes| {
            let y = transform.position_from_point_y(0.0).floor() + 0.5;
            shapes.push(Shape::hline(transform.frame().x_range(), y, zero));
            marks::chain_curves(&curves, filter, p, transform, shapes);
        }));
    });
    data_table_ui(ui, &shown.response, &summary, || {
        let heads = ["chain", "momentum", "leapfrog step", "energy error"];
        PlotData::new(heads, rows.len(), |row, column| rows[row][column])
    });
}

#[cfg(test)]
mod tests {
    use eframe::egui::accesskit::Role;
    use egui_kittest::kittest::Queryable as _;

    use super::*;
    use crate::app::testing::Session;
    use crate::app::{DataCommand, ViewCommand};
    use crate::ui::panels::runs::{RunsView, pane, runs_ui};
    use crate::ui::testing::{page_harness, press_t_over};

    /// A run of the sampler here, and as it is read again from its folder.
    #[test]
    fn energies_are_followed_when_somebody_looks() {
        let mut session = Session::with_draft("churn");
        session.run(2, 80, 60);
        let place = session.state.runs[0].place().unwrap().to_owned();
        session.send(DataCommand::Open(place));
        let ids: Vec<u64> = session.state.runs.iter().map(|run| run.id).collect();
        assert_eq!(ids.len(), 2);
        let mut harness = page_harness::<RunsView>(session, runs_ui);
        harness.run_steps(3);
        for &id in &ids {
            harness.state_mut().session.send(ViewCommand::SelectRun(id));
            let pane = pane::find(Trajectories::ID).unwrap();
            harness.state_mut().view.show_pane(pane);
            harness.run_steps(4);
            let asked = harness.state().has_sent(Question::FollowTrajectories(id));
            assert!(asked, "{id}");
            let run = harness.state().session.state.run(id).unwrap();
            assert_eq!(run.trajectories().unwrap().chains.len(), 2, "{id}");
        }
        let run = harness.state().session.state.run(ids[1]).unwrap();
        let summary = summary(run.trajectories().unwrap());
        press_t_over(&mut harness, &summary);
        harness.get_by_role_and_label(Role::ColumnHeader, "momentum");
        // The same chains stand at the same places in memory and in the folder.
        let [one, two] = [ids[0], ids[1]].map(|id| {
            let state = &harness.state().session.state;
            state
                .run(id)
                .unwrap()
                .trajectories()
                .unwrap()
                .chains
                .clone()
        });
        assert_eq!(one, two);
    }
}
