//! Where chains start.

use eframe::egui::Ui;

use super::run_control::{row_ui, typed_field};
use crate::app::AppState;
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::panels::menu;
use crate::ui::widgets::{Button, NumberField, Segments};
use ergodic_core::engine::RunSection;
use ergodic_core::engine::start::{MOST_SPREAD, SPREAD, Start};

/// Width of the field of a number.
const FIELD: f32 = 110.0;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Mode,
    Prior,
    Values,
    Run,
}

/// Shows the rows, which change `run`.
pub(super) fn start_ui(
    ui: &mut Ui,
    state: &AppState,
    decides_warmup: bool,
    (run, out): (&mut RunSection, &mut Outbox),
) {
    let mut way = match run.start {
        Start::Mode => Way::Mode,
        Start::Prior => Way::Prior,
        Start::Values(_) => Way::Values,
        Start::Run(_) => Way::Run,
    };
    let others = runs(state);
    let hint = match way {
        Way::Mode if decides_warmup => {
            "Posterior standard deviations around the mode. This sampler ends its warm-up when chains have arrived, which it can \
             only see of those that start far away: 10 or more"
        }
        Way::Mode => "Posterior standard deviations around the mode, or around each mode in turn",
        Way::Prior => "Each chain at a draw of the prior",
        Way::Values => "Where you say; parameters that you do not name start around the mode",
        Way::Run => "At the last draws of another run of the same parameters, chain by chain",
    };
    row_ui(ui, "Chains start", hint, |ui| {
        let mut segments = Segments::new("Chains start", &mut way)
            .option(Way::Mode, "Mode")
            .option(Way::Prior, "Prior")
            .option(Way::Values, "Values");
        if way_of_run(&others, &run.start) {
            segments = segments.option(Way::Run, "A run");
        }
        let changed = segments.show(ui).changed();
        if run.start.is_mode() {
            spread_ui(ui, run);
        }
        if changed {
            run.start_draws.clear();
            run.start = match way {
                Way::Mode => Start::Mode,
                Way::Prior => Start::Prior,
                Way::Values => Start::Values(vec![vec![(first_name(state), 0.0)]]),
                Way::Run => match others.first() {
                    Some((_, path)) => Start::Run(path.clone()),
                    None => Start::Mode,
                },
            };
        }
    });
    match &run.start {
        Start::Values(_) => values_ui(ui, run, out),
        Start::Run(path) => {
            let title = others.iter().find(|(_, other)| other == path);
            let word = title.map_or(path.as_str(), |(title, _)| title).to_owned();
            row_ui(ui, "Run", "", |ui| {
                let button = ui.add(Button::new(&word).icon(icons::CARET_DOWN));
                menu::menu(&button, menu::NORMAL, |ui| {
                    for (title, path) in &others {
                        if menu::item(ui, title, "", *title == word).clicked() {
                            run.start = Start::Run(path.clone());
                            run.start_draws.clear();
                        }
                    }
                });
            });
        }
        Start::Mode | Start::Prior => {}
    }
}

/// The field of how far from the mode.
fn spread_ui(ui: &mut Ui, run: &mut RunSection) {
    let mut spread = run.start_spread;
    let range = SPREAD / 20.0..=MOST_SPREAD;
    let field = NumberField::new("Spread of starts", &mut spread, range)
        .without_slider()
        .field_width(FIELD)
        .unit("sd")
        .label_hidden();
    if field.show(ui) {
        run.start_spread = spread;
    }
}

/// Whether there is a run to start from, or one is named.
fn way_of_run(others: &[(String, String)], start: &Start) -> bool {
    !others.is_empty() || matches!(start, Start::Run(_))
}

/// The finished runs that have a folder: title and path, the newest first.
fn runs(state: &AppState) -> Vec<(String, String)> {
    let ended = state.runs.iter().rev().filter(|entry| !entry.is_active());
    let with_folder = ended.filter_map(|entry| {
        let path = entry.folder.as_ref()?.path();
        Some((entry.title(), path.to_str()?.to_owned()))
    });
    with_folder.collect()
}

/// A parameter of the draft to begin with.
fn first_name(state: &AppState) -> String {
    let params = state.check.as_ref().map(|check| check.params.as_slice());
    let first = params.and_then(|params| params.first());
    first.map_or_else(|| "intercept".to_owned(), |param| param.name.to_string())
}

fn values_ui(ui: &mut Ui, run: &mut RunSection, out: &mut Outbox) {
    let hint = "NAME=NUMBER with commas between, on the scale of the results; `;` stands between the values of each chain. `b` \
                means all coefficients. Press Enter to apply";
    row_ui(ui, "Values", hint, |ui| {
        let chains = run.chains;
        let error = |text: &str| match text.parse::<Start>() {
            Ok(Start::Values(sets)) if sets.len() > 1 && sets.len() != chains => Some(format!(
                "One set for all chains, or one for each of {chains}"
            )),
            Ok(Start::Values(_)) => None,
            Ok(_) => Some("Write values such as b[age]=1, intercept=0".to_owned()),
            Err(error) => Some(error.to_string()),
        };
        let take = |text: &str, run: &mut RunSection| {
            if let Ok(start) = text.parse::<Start>() {
                run.start = start;
            }
        };
        let now = run.start.to_string();
        typed_field(ui, ("Values", &now), error, take, (run, out));
    });
}
