//! Verdicts of samplers, and the page over comparisons.

use super::*;
use crate::app::testing::Session;
use crate::app::{DataCommand, DraftCommand};
use crate::ui::testing::{Shown, page_harness};
use crate::ui::widgets::paint;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

fn row(sampler: &'static str, mean_shift: f64, rows_per_ess: f64) -> Row {
    Row {
        variant: sampler.parse().unwrap(),
        outcome: Ok(Measured {
            seconds: 1.0,
            mean_shift,
            sd_ratio: (0.9, 1.1),
            rhat: 1.002,
            ess: 900.0,
            inefficiency: 2.0,
            rows_per_ess,
            rows_share: 1.0,
            costs: vec![Some([rows_per_ess; 2])],
            accept: None,
            accept_rows: None,
            positive: None,
            curves: [].into(),
        }),
    }
}

#[test]
fn samplers_are_judged_by_shift_and_by_width() {
    assert_eq!(kind_of(&row("sgld", 0.6, 10.0)), VerdictKind::NotCertified);
    assert_eq!(kind_of(&row("nuts", 0.0, 50.0)), VerdictKind::Good);
    // Too narrow is as far off as shifted.
    let mut narrow = row("sghmc", 0.0, 90.0);
    if let Ok(measured) = &mut narrow.outcome {
        measured.sd_ratio = (0.98, 1.24);
        assert!(is_scaled(measured) && !is_shifted(measured));
    }
    assert_eq!(kind_of(&narrow), VerdictKind::NotCertified);
}

#[test]
fn costs_of_five_digits_fit_into_their_column() {
    page_harness(
        Session::default(),
        |ui, _state, _view: &mut CompareView, _out| {
            let costs = [20_000.0, 25_000.0, 30_000.0].map(|cost| number::significant(cost, 2));
            let color = Palette::of(ui).text_secondary;
            let words = paint::line(ui, &costs.join(" / "), Text::Number, color, f32::INFINITY);
            assert!(words.size().x + 2.0 * tokens().space.x1 <= RELATIVE);
        },
    );
}

#[test]
fn densities_say_on_which_scale_they_are() {
    let mut measured = row("nuts", 0.0, 50.0);
    if let Ok(measured) = &mut measured.outcome {
        measured.curves = [vec![[-1.0, 0.0], [-0.5, 1.0], [0.0, 0.0]]].into();
    }
    let compared = Compared {
        num_obs: 9,
        names: vec!["b[age]".into()],
        scale: Some("on the scale of standardised predictors"),
    };
    let mut harness = page_harness(
        Session::default(),
        move |ui, _state, view: &mut CompareView, _out| {
            let rows = std::slice::from_ref(&measured);
            densities_ui(ui, rows, &compared, &mut view.parameter);
        },
    );
    harness.run_steps(2);
    harness.get_by_label("Densities on the scale of standardised predictors");
}

#[test]
fn without_data_the_page_leads_to_where_they_are_opened() {
    let mut harness = page_harness(Session::default(), compare_ui);
    harness.run_steps(2);
    harness.get_by_label("Open data").click();
    harness.run_steps(2);
    let to_start = Command::GoTo(Page::Start);
    assert!(harness.state().has_sent(to_start));
}

#[test]
fn a_comparison_runs_the_samplers_that_suit_and_shows_them() {
    let mut session = Session::with_sample("fish");
    session.send(DataCommand::AcceptImport);
    session.send(DraftChange::Run(ergodic_core::engine::RunSection {
        chains: 2,
        warmup: Some(20),
        draws: 60,
        ..Default::default()
    }));
    session.send(Command::GoTo(Page::Compare));
    // Nothing runs before it was said what, how often and for how long.
    let mut harness = page_harness(session, compare_ui);
    harness.run_steps(3);
    assert!(harness.state().session.state.comparison.is_none());
    let all = comparing::suitable(&harness.state().session.state).count();
    assert!(all > 4);
    let chosen = |harness: &Harness<'_, Shown<CompareView>>| {
        let run = harness.query_all_by_label_contains("Run ");
        let words = run
            .filter_map(|node| node.accesskit_node().label())
            .collect::<Vec<_>>();
        words.iter().find_map(|text| {
            text.strip_prefix("Run ")?
                .split(' ')
                .next()?
                .parse::<usize>()
                .ok()
        })
    };
    let before = chosen(&harness).unwrap();
    harness.get_by_label_contains("by the size of the data and the cores of this machine");
    let state = &harness.state().session.state;
    let left_out = comparing::suitable(state).find(|entry| {
        comparing::reference(state) != Some(entry.spec.id) && !entry.spec.negative_control
    });
    let spec = &left_out.unwrap().spec;
    let words = match spec.bias {
        Some(_) => format!("{}, approximate", spec.title),
        None => spec.title.to_owned(),
    };
    harness.get_by_label(&words).click();
    harness.run_steps(3);
    assert_eq!(chosen(&harness), Some(before - 1));
    harness.get_by_label("Only the reference").click();
    harness.run_steps(3);
    let reference = comparing::reference(&harness.state().session.state);
    assert_eq!(chosen(&harness), Some(usize::from(reference.is_some())));
    harness.get_by_label("Usual choice").click();
    harness.run_steps(3);
    assert_eq!(chosen(&harness), Some(before));
    let suitable = comparing::suitable(&harness.state().session.state);
    let mut kept: Vec<Variant> = suitable.map(Variant::from).take(2).collect();
    kept.push("metropolis:step_scale=0.5".parse().unwrap());
    let mut session = std::mem::take(&mut harness.state_mut().session);
    session.send(DraftCommand::CompareSamplers(kept.clone()));
    let comparison = session.state.comparison.as_ref().unwrap();
    let rows = comparison.rows();
    let run: Vec<&Variant> = rows.iter().map(|row| &row.variant).collect();
    assert_eq!(run, kept.iter().collect::<Vec<_>>());
    assert_eq!(session.state.page, Page::Compare);
    let comparison = session.state.comparison.as_ref().unwrap();
    assert_eq!(comparison.problem, None);
    assert!(comparison.working.is_none());
    let rows = comparison.rows();
    assert!(rows.len() >= 2, "{rows:?}");
    let first = rows.iter().find(|row| row.outcome.is_ok()).unwrap();
    let title = first.variant.title();
    let mut harness = page_harness(session, compare_ui);
    harness.run_steps(3);
    // In the table and above its density.
    assert!(harness.get_all_by_label(&title).count() >= 1);
    harness.get_by_label_contains("Densities of ");
    // Fish have no predictors, whose scale would be told.
    harness.get_by_label("Densities");
    harness.get_by_label("mean shift").click();
    harness.run_steps(3);
    harness.get_by_label("mean shift, ascending");
    // Where there is no room for all columns, some are shown when somebody asks for them.
    assert!(harness.query_by_label("rows, %").is_none());
    harness.get_by_label("More columns").click();
    harness.run_steps(3);
    assert!(harness.state().view.more);
    harness.set_size([2.0 * ALL_COLUMNS, 760.0].into());
    harness.run_steps(3);
    assert!(harness.query_by_label("More columns").is_none());
    for head in ["after warm-up", "rows, %", "accept", "accept rows", "sign"] {
        harness.get_by_label(head);
    }
    let rows = harness.state().session.state.comparison.as_ref().unwrap();
    let rows = rows.rows();
    let (_, unit) = unit_of_cost(&rows).unwrap();
    let measured = rows.iter().filter_map(|row| row.outcome.as_ref().ok());
    let mut accepts = 0;
    for m in measured {
        let relative = m.relative_to(unit).map(|it| multiples(it.after_warmup));
        let accept = m.accept.map(|it| number::fixed(it, 3));
        accepts += usize::from(accept.is_some());
        let share = Some(number::significant(100.0 * m.rows_share, 3));
        for words in [relative, share, accept].iter().flatten() {
            assert!(harness.query_all_by_label(words).count() >= 1, "{words}");
        }
    }
    assert!(accepts > 0);
    let uses: Vec<_> = harness.get_all_by_label("Use").collect();
    assert!(!uses.is_empty());
    uses[0].click();
    harness.run_steps(3);
    assert!(matches!(
        harness.state().sent.last(),
        Some(Command::Change(DraftChange::Variant(_)))
    ));
}

/// Of the smallest window, bars above and below the page take 64 points.
#[test]
fn the_button_below_all_samplers_is_in_sight() {
    let mut session = Session::with_draft("churn");
    session.send(Command::GoTo(Page::Compare));
    let mut harness = page_harness(session, compare_ui);
    harness.run_steps(3);
    let count = comparing::suitable(&harness.state().session.state);
    let count = count.filter(|it| !it.spec.negative_control).count();
    let words = format!("Run {count} samplers");
    let button = harness.get_by_label(&words);
    assert!(
        button.rect().bottom() <= 800.0 - 64.0,
        "{:?}",
        button.rect()
    );
}

#[test]
fn shares_that_a_sampler_does_not_have_are_no_numbers() {
    let mut signed = row("hmc-ecs-signed", 0.0, 50.0);
    if let Ok(measured) = &mut signed.outcome {
        measured.accept_rows = Some(0.625);
        measured.positive = Some(0.975);
    }
    let refused = Row {
        outcome: Err("No rows".to_owned()),
        ..signed.clone()
    };
    let rows = [signed, refused];
    let runs = Runs { rows: &rows };
    assert_eq!(runs.share(0, |m| m.positive), Some(0.975));
    assert_eq!(runs.share(0, |m| m.accept_rows), Some(0.625));
    assert_eq!(runs.share(0, |m| m.accept), None);
    assert_eq!(runs.share(1, |m| m.positive), None);
    let mut harness = page_harness(
        Session::default(),
        move |ui, _state, _view: &mut CompareView, _out| {
            let table = Table::new("further", "Further columns", rows.len()).whole();
            further_columns(table, Runs { rows: &rows }).show(ui);
        },
    );
    harness.run_steps(2);
    for words in ["sign", "0.975", "accept rows", "0.625"] {
        assert!(harness.query_all_by_label(words).count() >= 1, "{words}");
    }
}
