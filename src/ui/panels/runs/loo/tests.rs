//! The pane over real runs of the bundled data.

use eframe::egui::accesskit::Role;
use eframe::egui::vec2;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::app::testing::Session;
use crate::app::{DataCommand, DraftChange, Page, Question, RunCommand, ViewCommand};
use crate::ui::panels::runs::loo::LooView;
use crate::ui::panels::runs::pane::{Pane as _, find};
use crate::ui::panels::runs::{RunsView, runs_ui};
use crate::ui::testing::{Shown, page_harness};
use crate::ui::widgets::number;
use ergodic_analysis::bias_check::finished as finished_run;
use ergodic_analysis::predict::scores::{compare, folds};
use ergodic_base::Control;
use ergodic_core::engine::RunSection;
use ergodic_export::RunFolder;

/// A session with finished runs of these formulas, the last one shown.
fn finished(formulas: &[&str]) -> Session {
    let mut session = Session::with_draft("churn");
    session.send(DraftChange::Run(RunSection {
        chains: 2,
        warmup: Some(100),
        draws: 120,
        ..RunSection::default()
    }));
    for formula in formulas {
        session.send(DraftChange::Formula((*formula).to_owned()));
        session.send(RunCommand::Start);
        session.wait_for_runs();
    }
    session
}

fn page(session: Session) -> Harness<'static, Shown<RunsView>> {
    let mut harness = page_harness(session, runs_ui);
    harness.run_steps(3);
    harness
        .state_mut()
        .view
        .show_pane(find(LooView::ID).unwrap());
    harness.run_steps(3);
    harness
}

#[test]
fn rows_are_left_out_when_asked_for_and_runs_are_compared() {
    let mut harness = page(finished(&["churned ~ age", "churned ~ age + plan"]));
    let ids: Vec<u64> = (harness.state().session.state.runs.iter())
        .map(|entry| entry.id)
        .collect();
    harness.get_by_label("Run leave-one-out").click_accesskit();
    harness.run_steps(4);
    assert!(harness.state().has_sent(Question::Score(ids[1])));
    let scores = harness.state().session.state.runs[1].scores.done().cloned();
    let scores = scores.unwrap();
    assert_eq!(scores.loo.rows.len(), 1000);
    harness.get_by_label("How well rows that were left out are predicted");
    harness.get_by_role_and_label(Role::Cell, "elpd_loo");
    harness.get_by_label(&scores.reliability());

    harness.get_by_label("Compare with Run 1").click_accesskit();
    harness.run_steps(4);
    assert!(harness.state().has_sent(Question::Score(ids[0])));
    harness.get_by_label_contains(" predicts better than ");
    assert!(harness.query_by_label("Compare with Run 1").is_none());
    let picture = format!(
        "Pareto k of {} rows, {} of them not good",
        number::integer(1000),
        scores.loo.doubtful().len()
    );
    harness.get_by_label(&picture);
    // More draws make the scores old.
    let session = &mut harness.state_mut().session;
    session.send(RunCommand::AddDraws(ids[1], 50));
    assert!(session.state.runs[1].scores.is_idle());
    session.wait_for_runs();
}

/// The numbers are those of `ergodic score --folds`, which makes them of the recipe in the folder, too.
#[test]
fn runs_are_cross_validated_in_parts_and_compared() {
    let mut session = finished(&["churned ~ age", "churned ~ age + plan"]);
    let ids: Vec<u64> = session.state.runs.iter().map(|entry| entry.id).collect();
    session.send(Question::ScoreInFolds(ids[0], 10));
    let mut harness = page(session);
    // Beside the way to scores from the draws, which need not be there.
    harness.get_by_label("Run leave-one-out");
    assert!(harness.state().session.state.runs[1].scores.is_idle());
    // So that nothing has to be scrolled to.
    harness.set_size(vec2(1600.0, 2400.0));
    harness.run_steps(3);
    assert!(harness.query_by_label_contains("elpd_kfold").is_none());
    harness.get_by_label("Run K-fold").click_accesskit();
    harness.run_steps(4);
    let shown = harness.state();
    assert!(shown.has_sent(Question::ScoreInFolds(ids[1], 10)));
    let entry = &shown.session.state.runs[1];
    let done = entry.folded.done().unwrap();
    assert_eq!((done.folds, done.scores.rows.len()), (10, 1000));
    let elpd = done.scores.elpd();
    let place = entry.place().unwrap();
    let folder = RunFolder::open(place).unwrap();
    let recipe = folder.recipe().unwrap();
    let control = Control::default();
    for number in [1, 10] {
        let job = folds::job_without(&recipe, place, None, (number, 10), &control).unwrap();
        let run = finished_run(job, &control).unwrap();
        let part = folds::score(run.job(), &run.view(), usize::MAX, &control).unwrap();
        for row in &part.rows {
            let all = done.scores.rows.iter();
            let found = all.filter(|it| it.row == row.row).map(|it| it.lpd);
            assert_eq!(found.collect::<Vec<f64>>(), [row.lpd]);
        }
    }
    harness.get_by_role_and_label(Role::ColumnHeader, "elpd_kfold");
    let told = number::fixed(elpd.estimate, 1);
    let labels: Vec<String> = (harness.query_all_by_role(Role::Cell))
        .filter_map(|cell| cell.accesskit_node().label())
        .collect();
    assert!(labels.contains(&told), "{told}: {labels:?}");
    let [one, other] = [0, 1].map(|k| {
        let entry = &harness.state().session.state.runs[k];
        (entry.title(), entry.folded.done().unwrap().clone())
    });
    let runs = [(other.0, &other.1.scores), (one.0, &one.1.scores)];
    let compared = compare(&runs).unwrap();
    harness.get_by_label(&compared.behind[0].sentence);
    // They stay beside the scores from the draws.
    let session = &mut harness.state_mut().session;
    session.send(Question::Score(ids[1]));
    harness.run_steps(4);
    harness.get_by_role_and_label(Role::Cell, "elpd_loo");
    harness.get_by_role_and_label(Role::ColumnHeader, "elpd_kfold");
}

#[test]
fn runs_of_other_outcomes_are_not_compared_and_say_why() {
    let mut session = finished(&["churned ~ age"]);
    session.send(DraftChange::Formula("age ~ plan".to_owned()));
    session.send(DraftChange::Template("linear".to_owned()));
    session.send(RunCommand::Start);
    session.wait_for_runs();
    for id in [1, 2] {
        session.send(Question::Score(id));
    }
    let harness = page(session);
    harness.get_by_label_contains("explain different outcomes");
}

#[test]
fn a_row_is_shown_on_the_data_page() {
    let mut session = finished(&["churned ~ age"]);
    session.send(ViewCommand::ShowRow(41));
    assert_eq!(session.state.page, Page::Data);
    assert_eq!(session.state.row_asked, Some((1, 41)));
    session.send(ViewCommand::ShowRow(41));
    assert_eq!(session.state.row_asked, Some((2, 41)));
}

/// A finished run of a straight line with an outlier at its end, whose rows are scored, and some are doubtful.
fn with_outlier() -> (Session, u64, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..14)
        .map(|i| format!("{i},{}\n", [0.3, -0.2, 0.1][i % 3] + 0.5 * i as f64))
        .collect();
    // An outlier at the end of the line.
    let text = format!("x,y\n{rows}14,17\n");
    let mut session = Session::with_file(&folder, "rows.csv", &text);
    session.send(DataCommand::AcceptImport);
    session.send(DraftChange::Formula("y ~ x".to_owned()));
    session.send(DraftChange::Template("linear".to_owned()));
    session.send(DraftChange::Run(RunSection {
        chains: 2,
        warmup: Some(200),
        draws: 200,
        ..RunSection::default()
    }));
    session.send(RunCommand::Start);
    session.wait_for_runs();
    let id = session.state.runs[0].id;
    session.send(Question::Score(id));
    let scores = session.state.runs[0].scores.done().unwrap();
    assert!(!scores.doubtful().is_empty());
    (session, id, folder)
}

/// Draws are moved for rows that weights cannot score, once.
#[test]
fn moments_are_matched_for_rows_with_bad_weights() {
    let (session, id, _folder) = with_outlier();
    let before = session.state.runs[0].scores.done().unwrap().clone();
    let mut harness = page(session);
    harness.get_by_label("Match moments").click_accesskit();
    harness.run_steps(4);
    assert!(harness.state().has_sent(Question::MatchMoments(id)));
    let session = &harness.state().session;
    let after = session.state.runs[0].scores.done().unwrap();
    assert!(!after.can_match_moments() && after.refitted.is_empty());
    let rows = before.observed.rows.iter();
    for ((row, was), is) in rows.zip(&before.loo.rows).zip(&after.loo.rows) {
        assert_eq!(after.matched.contains(row), is.k < was.k, "{row}");
        assert!(is.k <= was.k);
    }
}

/// A row that weights cannot score is scored by a fit without it.
#[test]
fn rows_with_bad_weights_are_fitted_again() {
    let (session, id, _folder) = with_outlier();
    let before = session.state.runs[0].scores.done().unwrap().clone();
    let mut harness = page(session);
    let word = match before.doubtful().len() {
        1 => "Fit again without that row".to_owned(),
        count => format!("Fit again without each of {count} rows"),
    };
    harness.get_by_label(&word).click_accesskit();
    harness.run_steps(4);
    assert!(harness.state().has_sent(Question::Refit(id)));
    let session = &harness.state().session;
    let after = session.state.runs[0].scores.done().unwrap();
    // So far out that no draw of a fit without it expects anything like it.
    assert!(
        after
            .doubtful()
            .iter()
            .all(|(row, _)| after.refitted.contains(row))
    );
    harness.get_by_label_contains("Hardly a draw of these fits expects");
    assert_eq!(after.refitted.len(), before.doubtful().len());
    harness.get_by_label_contains("scored by a fit without");
}

/// A sample says what all rows would, and leads to all of them.
#[test]
fn a_sample_of_rows_is_shown_with_both_errors() {
    let mut session = finished(&["churned ~ age"]);
    let id = session.state.runs[0].id;
    session.send(Question::ScoreSample(id));
    let sampled = session.state.runs[0].sampled_scores.done().unwrap();
    assert_eq!((sampled.rows.len(), sampled.rows_total), (1000, 1000));
    let mut harness = page(session);
    harness.get_by_role_and_label(Role::ColumnHeader, "se of sample");
    harness.get_by_label("Leave all rows out").click_accesskit();
    harness.run_steps(4);
    assert!(harness.state().has_sent(Question::Score(id)));
}
