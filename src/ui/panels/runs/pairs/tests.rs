//! The pane over draws made for it.

use std::fmt::Write as _;
use std::sync::Arc;

use eframe::egui::accesskit::{Role, Toggled};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use super::*;
use crate::app::ViewCommand;
use crate::app::entry::RunPhase;
use crate::app::testing::Session;
use crate::ui::panels::runs::{RunsView, runs_ui};
use crate::ui::testing::{Shown, page_harness, press_t_over};
use ergodic_base::draws::ChainDraws;
use ergodic_core::samplers::DIVERGENT;

/// A number between 0 and 1 of a draw; mixed thoroughly, so that those with different salt are independent.
fn hash(chain: usize, i: u32, salt: u32) -> f64 {
    let mut z = i ^ (salt << 20) ^ ((chain as u32) << 24);
    for factor in [0x9e37_79b9_u32, 0x85eb_ca6b, 0xc2b2_ae35] {
        z = (z ^ (z >> 15)).wrapping_mul(factor);
    }
    f64::from(z ^ (z >> 16)) / f64::from(u32::MAX)
}

/// Draws of another program: `b` follows `a` closely, `c` turns away from it loosely, `flat` does not vary.
fn session(chains: usize, draws: u32, divergent: impl Fn(usize, u32) -> bool) -> Session {
    let mut text = String::from(".chain,.iteration,.draw,c,a,b,flat\n");
    let mut lists: Vec<ChainDraws> = Vec::new();
    for chain in 0..chains {
        let mut list = ChainDraws::new(4, 1);
        for i in 0..draws {
            let hash = |salt: u32| hash(chain, i, salt);
            let (a, noise, more) = (hash(0), hash(1), hash(2));
            let row = [noise - 0.4 * a, a, a + 0.3 * more, 3.0];
            list.draws.push(&row);
            list.info.push(&[f64::from(u8::from(divergent(chain, i)))]);
            // The file stands for a run; its draws are replaced by all of these.
            if i < 50 {
                let [c, a, b, flat] = row;
                let number = 1 + i + 50 * chain as u32;
                writeln!(text, "{},{},{number},{c},{a},{b},{flat}", chain + 1, i + 1).unwrap();
            }
        }
        lists.push(list);
    }
    let folder = tempfile::tempdir().unwrap();
    let mut session = Session::with_file(&folder, "draws.csv", &text);
    let entry = session.state.runs.last_mut().unwrap();
    let RunPhase::Read(read) = &mut entry.phase else {
        panic!("draws were read");
    };
    assert_eq!(read.variables, ["c", "a", "b", "flat"]);
    read.info_names = vec![DIVERGENT.to_owned()];
    let view = Arc::make_mut(&mut read.view);
    for (chain, list) in view.chains.iter_mut().zip(lists) {
        chain.draws = list;
    }
    session
}

type Page = Harness<'static, Shown<RunsView>>;

fn page(mut session: Session) -> Page {
    session.send(ViewCommand::SelectVariable(1));
    page_as_it_opens(session)
}

fn page_as_it_opens(session: Session) -> Page {
    let mut harness = page_harness(session, runs_ui);
    harness.run_steps(3);
    harness.get_by_role_and_label(Role::Tab, "Pairs").click();
    harness.run_steps(3);
    harness
}

/// The cell that is marked.
fn marked(harness: &Page) -> Vec<String> {
    harness
        .get_all_by_role(Role::Button)
        .filter(|node| node.accesskit_node().toggled() == Some(Toggled::True))
        .filter_map(|node| node.accesskit_node().label())
        .filter(|label| label.contains(", correlation "))
        .collect()
}

#[test]
fn the_selected_parameter_stands_against_the_one_that_goes_with_it_most() {
    let mut harness = page(session(2, 400, |_, _| false));
    harness.get_by_label("Draws of a against b: 800 shown, 0 divergent transitions");
    assert!(harness.query_by_label("0 divergent transitions").is_none());
    // 1 / √1.09 but for chance, the same in both places.
    let found = marked(&harness);
    assert_eq!(found.len(), 1);
    let words = found[0].strip_prefix("b against a, ").unwrap();
    assert!(
        ["0.95", "0.96"].contains(&words.trim_start_matches("correlation ")),
        "{words}"
    );
    let contours = "contours hold 50% and 90% of them";
    harness.get_by_label(&format!("{words} · {contours}"));
    // A line around half of the draws and one around most of them, each closed.
    let closed = |harness: &Page| {
        let shapes = &harness.output().shapes;
        let of_region = |shape: &Shape| {
            matches!(shape, Shape::Path(path)
                if path.points.len() > 40 && path.points.first() == path.points.last())
        };
        shapes.iter().filter(|it| of_region(&it.shape)).count()
    };
    assert!(closed(&harness) >= 2);
    // Another pair by a click on its small picture.
    let cell = harness.get_by_label_contains("a against c, correlation");
    cell.click();
    harness.run_steps(3);
    assert_eq!(
        harness.state().sent.last(),
        Some(&ViewCommand::SelectVariable(1).into())
    );
    harness.get_by_label("Draws of a against c: 800 shown, 0 divergent transitions");
    // The selection of other panes is the one here, and the partner stays.
    let session = &mut harness.state_mut().session;
    session.send(ViewCommand::SelectVariable(2));
    harness.run_steps(3);
    harness.get_by_label("Draws of b against c: 800 shown, 0 divergent transitions");
    // What does not vary has no correlation and no axis to divide by.
    harness
        .state_mut()
        .session
        .send(ViewCommand::SelectVariable(3));
    harness.run_steps(3);
    harness.get_by_label("no correlation: one of the two does not vary");
    assert_eq!(closed(&harness), 0);
}

#[test]
fn divergent_transitions_have_a_sign_of_their_own() {
    let mut harness = page(session(2, 400, |chain, i| chain == 1 && i % 100 == 99));
    // The line with proposed pairs takes room from the table of correlations.
    harness.set_size(vec2(1280.0, 1000.0));
    harness.run_steps(3);
    harness.get_by_label("4 divergent transitions");
    let picture = "Draws of a against b: 800 shown, 4 divergent transitions";
    press_t_over(&mut harness, picture);
    harness.get_by_label("divergent");
    harness.key_press(eframe::egui::Key::T);
    harness.run_steps(3);
    press_t_over(&mut harness, "Correlations");
    harness.get_by_role_and_label(Role::ColumnHeader, "flat");
    harness.key_press(eframe::egui::Key::T);
    harness.run_steps(3);
    // The strokes of four crosses, and of the one before their number.
    let crosses = |harness: &Page| {
        let shapes = &harness.output().shapes;
        let of_cross = |shape: &Shape| {
            matches!(shape, Shape::LineSegment { points, .. }
                if ((points[1] - points[0]).abs() - vec2(2.0 * CROSS, 2.0 * CROSS)).length() < 1e-3)
        };
        shapes.iter().filter(|it| of_cross(&it.shape)).count()
    };
    assert_eq!(crosses(&harness), 10);
    // Those of a hidden chain go with it.
    let chain = harness.get_by_role_and_label(Role::Button, "Chain 1");
    chain.click();
    harness.run_steps(3);
    assert_eq!(crosses(&harness), 2);
}

/// A funnel: `flat` is the scale of `b`, and some transitions to a small scale diverge; `c` and `a` have nothing to do with it.
fn funnel() -> Session {
    let mut session = session(2, 400, |_, _| false);
    let entry = session.state.runs.last_mut().unwrap();
    let RunPhase::Read(read) = &mut entry.phase else {
        panic!("draws were read");
    };
    let view = Arc::make_mut(&mut read.view);
    for (number, chain) in view.chains.iter_mut().enumerate() {
        let mut list = ChainDraws::new(4, 1);
        for i in 0..400 {
            let [c, a, b, depth] = [0, 1, 2, 3].map(|salt| hash(number, i, salt));
            let scale = (6.0 * depth).exp();
            list.draws.push(&[c, a, scale * (b - 0.5), scale]);
            list.info
                .push(&[f64::from(u8::from(depth < 0.2 && i % 3 == 0))]);
        }
        chain.draws = list;
    }
    session
}

#[test]
fn the_worst_pairs_are_proposed_where_transitions_diverge() {
    let mut harness = page_as_it_opens(funnel());
    // Nobody has chosen a parameter, and the first is `c`.
    harness.get_by_label_contains("Draws of flat against b: ");
    let proposed = |harness: &Page| -> Vec<(String, bool)> {
        harness
            .get_all_by_role(Role::Button)
            .map(|node| node.accesskit_node())
            .filter_map(|node| Some((node.label()?, node.toggled() == Some(Toggled::True))))
            .filter_map(|(label, on)| Some((label.strip_prefix("Worst pair: ")?.to_owned(), on)))
            .collect()
    };
    let found = proposed(&harness);
    assert_eq!(found.len(), 3, "{found:?}");
    assert_eq!(found[0], ("flat × b".to_owned(), true));
    let (second, other) = (&found[1].0, found[1].0.strip_prefix("flat × ").unwrap());
    assert!(!found[1].1 && ["a", "c"].contains(&other), "{found:?}");
    harness
        .get_by_role_and_label(Role::Button, &format!("Worst pair: {second}"))
        .click();
    harness.run_steps(3);
    let sent = &harness.state().sent;
    assert_eq!(sent.last(), Some(&ViewCommand::SelectVariable(3).into()));
    harness.get_by_label_contains(&format!("Draws of flat against {other}: "));
    assert!(proposed(&harness)[1].1);
    // The choice of another parameter goes first.
    let shown = &mut harness.state_mut().session;
    shown.send(ViewCommand::SelectVariable(2));
    harness.run_steps(3);
    harness.get_by_label_contains(&format!("Draws of b against {other}: "));
    let harness = page(funnel());
    harness.get_by_label_contains("Draws of a against ");
    // Where nothing diverges nothing is proposed.
    let harness = page_as_it_opens(session(2, 400, |_, _| false));
    harness.get_by_label_contains("Draws of c against ");
    assert!(harness.query_by_label_contains("Worst pair").is_none());
}

#[test]
fn names_of_proposed_pairs_are_whole_where_there_is_room() {
    let mut session = funnel();
    let entry = session.state.runs.last_mut().unwrap();
    let RunPhase::Read(read) = &mut entry.phase else {
        panic!("draws were read");
    };
    read.variables[3] = "log_scale_of_effects".into();
    let harness = page_as_it_opens(session);
    for other in ["a", "b", "c"] {
        let name = format!("Worst pair: log_scale_of_effects × {other}");
        harness.get_by_role_and_label(Role::Button, &name);
    }
}

#[test]
fn many_draws_are_thinned_and_none_of_few_divergent_ones_is_lost() {
    let harness = page(session(4, 16_000, |chain, i| chain == 2 && i % 1000 == 7));
    harness.get_by_label("16 divergent transitions");
    harness.get_by_label_contains(&format!("of {} draws", number::integer(63_984)));
    let dots = (harness.output().shapes.iter())
        .filter(|it| matches!(&it.shape, Shape::Circle(circle) if circle.radius == DOT))
        .count();
    assert!((3_000..=MOST).contains(&dots), "{dots}");
}

#[test]
fn a_single_parameter_has_no_pairs_and_says_so_to_those_who_ask() {
    let folder = tempfile::tempdir().unwrap();
    let rows = (0..40).map(|i| format!("1,{},{},{}\n", i + 1, i + 1, i % 7));
    let text = format!(
        ".chain,.iteration,.draw,x\n{}",
        rows.collect::<Vec<_>>().concat()
    );
    let session = Session::with_file(&folder, "draws.csv", &text);
    let mut harness = page_harness(session, runs_ui);
    harness.run_steps(3);
    let tab = |harness: &Page| {
        harness
            .query_by_role_and_label(Role::Tab, "Pairs")
            .is_some()
    };
    assert!(!tab(&harness));
    let pane = super::super::pane::find(Pairs::ID).unwrap();
    harness.state_mut().view.show_pane(pane);
    harness.run_steps(3);
    assert!(tab(&harness));
    harness.get_by_label("A pair needs two parameters, and this run has one");
    harness.get_by_role_and_label(Role::Tab, "Rank").click();
    harness.run_steps(3);
    assert!(!tab(&harness));
}

#[test]
fn draws_that_are_not_finite_have_no_place() {
    let mut session = session(1, 60, |_, _| false);
    let entry = session.state.runs.last_mut().unwrap();
    let RunPhase::Read(read) = &mut entry.phase else {
        panic!("draws were read");
    };
    let mut draws = DrawList::new(4);
    for _ in 0..60 {
        draws.push(&[f64::NAN, f64::NAN, 1.0, f64::INFINITY]);
    }
    Arc::make_mut(&mut read.view).chains[0].draws.draws = draws;
    let harness = page(session);
    harness.get_by_label("No draw of this pair is finite, so there is no picture of it");
}

#[test]
fn correlations_are_weighted() {
    let (x, y) = ([0.0, 1.0, 5.0, 0.0], [0.0, 1.0, 0.0, 5.0]);
    let of_two = correlation(&x, &y, Some(&[1.0, 1.0, 0.0, 0.0])).unwrap();
    assert!((of_two - 1.0).abs() < 1e-12, "{of_two}");
    let plain = correlation(&x, &y, None).unwrap();
    // Sums of squares 17 and of products -8, by hand.
    assert!((plain + 8.0 / 17.0).abs() < 1e-12, "{plain}");
    assert_eq!(correlation(&[2.0; 3], &[1.0, 2.0, 3.0], None), None);
    assert_eq!(correlation(&[0.1; 3], &[1.0, 2.0, 4.0], None), None);
    assert_eq!(correlation(&[f64::NAN, 1.0], &[1.0, 2.0], None), None);
}
