//! Time to draw one frame of the runs page with four chains of 100,000 draws, without the graphics driver.

use std::path::Path;
use std::time::{Duration, Instant};

use divan::Bencher;
use eframe::egui;
use egui_kittest::Harness;
use ergodic::app::{DataCommand, DraftChange, RunCommand};
use ergodic::ui::App;

mod support;

/// Draws per chain.
fn draws() -> u64 {
    match support::is_test() {
        true => 500,
        false => 100_000,
    }
}

fn main() {
    divan::main();
}

/// A window with a finished run.
fn window() -> Harness<'static, Option<App>> {
    let mut harness = Harness::builder()
        .with_size([1280.0, 800.0])
        .build_ui_state(
            |ui: &mut egui::Ui, app: &mut Option<App>| {
                let app = app.get_or_insert_with(|| App::new(ui.ctx(), None));
                app.logic(&ui.ctx().clone());
                app.window_ui(ui);
            },
            None,
        );
    let folder = tempfile::tempdir().expect("a temporary folder").keep();
    std::env::set_current_dir(&folder).expect("the folder exists");
    harness.step();
    let app = harness
        .state_mut()
        .as_mut()
        .expect("made by the first frame");
    app.send(DataCommand::OpenSample("churn".to_owned()));
    step_until(&mut harness, |app| {
        app.state.data.is_some() && app.state.loading.is_none()
    });
    let app = harness
        .state_mut()
        .as_mut()
        .expect("made by the first frame");
    app.send(DataCommand::AcceptImport);
    app.send(DraftChange::Sampler("sgld-cv".to_owned()));
    app.send(DraftChange::Setting(
        "steps_per_draw".to_owned(),
        Some(ergodic_base::settings::Value::Int(1)),
    ));
    let mut run = app
        .state
        .document
        .as_ref()
        .expect("accepted")
        .recipe
        .run
        .clone();
    run.draws = draws();
    app.send(DraftChange::Run(run));
    app.send(RunCommand::Start);
    step_until(&mut harness, |app| {
        app.state.selected().is_some_and(|entry| {
            !entry.is_active() && matches!(entry.saved, ergodic::app::entry::Saved::At(_))
        })
    });
    assert!(Path::new("runs").exists());
    harness
}

fn step_until(harness: &mut Harness<'static, Option<App>>, done: impl Fn(&App) -> bool) {
    let begun = Instant::now();
    loop {
        harness.step();
        if harness.state().as_ref().is_some_and(&done) {
            return;
        }
        assert!(
            begun.elapsed() < Duration::from_secs(300),
            "the window hangs"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[divan::bench(sample_count = 50)]
fn runs_page_4x100000(bencher: Bencher<'_, '_>) {
    let mut harness = window();
    bencher.bench_local(|| harness.step());
}
