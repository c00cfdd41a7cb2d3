//! Chains, warm-up, draws, seed and when to stop.

use eframe::egui::{Align, Layout, Sense, Ui, vec2};

use super::start::start_ui;
use crate::app::{AppState, Depth, DraftChange};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::{self, Button, Field, NumberField, Segments, number, paint};
use ergodic_analysis::Recipe;
use ergodic_core::engine::stages::MOST_DRAWS;
use ergodic_core::engine::{DEFAULT_DRAWS, MAX_CHAINS, PRECISION_DRAWS, RunSection, keep};
use ergodic_core::samplers;
use ergodic_diagnostics::zero_variance::Order;
use ergodic_diagnostics::{ADVISED_CHAINS, ESS_PER_CHAIN, RHAT_LIMIT};

/// Width of the labels.
const LABEL: f32 = 190.0;
/// Width of a field of a number.
const FIELD: f32 = 110.0;
/// Width of a field of names or values.
const TYPED: f32 = 320.0;
/// Most draws that the form takes; memory ends sooner.
const MAX_DRAWS: f64 = 1e9;
/// Largest seed that a number field shows exactly.
const MAX_SEED: f64 = 9_007_199_254_740_991.0;
/// Time limit that is proposed, in seconds.
const FIRST_LIMIT: f64 = 60.0;

/// Chains from which starting points may be shared: two groups of four.
const MANY_CHAINS: usize = 8;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    Draws,
    Time,
    Precision,
}

impl Stop {
    fn of(run: &RunSection) -> Self {
        if run.precision().is_some() {
            Self::Precision
        } else if run.max_seconds.is_some() {
            Self::Time
        } else {
            Self::Draws
        }
    }
}

/// Shows the section.
pub fn run_control_ui(ui: &mut Ui, state: &AppState, recipe: &Recipe, out: &mut Outbox) {
    let t = tokens();
    widgets::heading(ui, "Run");
    let mut run = recipe.run.clone();
    widgets::card(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = t.space.x2;
        let chains =
            format!("{ADVISED_CHAINS} or more, so that disagreement shows; each is a thread");
        row_ui(ui, "Chains", &chains, |ui| {
            let mut value = run.chains as f64;
            if field(ui, "Chains", &mut value, 1.0, MAX_CHAINS as f64) {
                run.chains = value as usize;
            }
        });
        if run.chains >= MANY_CHAINS || run.superchains.is_some() {
            superchains_ui(ui, &mut run);
        }
        warmup_ui(ui, recipe, &mut run);
        stop_ui(ui, &mut run);
        if state.preferences.depth != Depth::Verdict {
            let entry = samplers::find(&recipe.sampler.id);
            let decides = entry.is_some_and(|entry| entry.spec.decides_warmup);
            start_ui(ui, state, decides, (&mut run, out));
            keep_ui(ui, &mut run, out);
            zero_variance_ui(ui, &mut run);
        }
        row_ui(
            ui,
            "Seed",
            "The same seed gives the same draws, bit for bit",
            |ui| {
                let mut value = run.seed as f64;
                if field(ui, "Seed", &mut value, 0.0, MAX_SEED) {
                    run.seed = value as u64;
                }
                if ui
                    .add(Button::new("New seed").icon(icons::ARROWS_CLOCKWISE))
                    .clicked()
                {
                    out.send(DraftChange::NewSeed);
                }
            },
        );
    });
    if run != recipe.run {
        out.send(change_to(run));
    }
}

/// The change of the draft to `run`. A run section that was stopped early replays its draws; changing it makes a new run.
pub(super) fn change_to(mut run: RunSection) -> DraftChange {
    run.draws_of_chains = None;
    run.warmup_of_chains = None;
    DraftChange::Run(run)
}

/// Which reported quantities draws are kept of.
fn keep_ui(ui: &mut Ui, run: &mut RunSection, out: &mut Outbox) {
    let hint = "`all`, or names and patterns such as b[*], sigma. Of the others means and standard deviations are accumulated, which takes \
                neither memory nor disk. Press Enter to apply";
    row_ui(ui, "Keep draws of", hint, |ui| {
        let error = |text: &str| keep::check(text).err().map(|error| error.to_string());
        let take = |text: &str, run: &mut RunSection| text.trim().clone_into(&mut run.keep);
        let now = run.keep.clone();
        typed_field(ui, ("Keep draws of", &now), error, take, (run, out));
    });
}

/// What is being typed into a field, or could not be used.
#[derive(Clone)]
struct Typed {
    text: String,
    /// The text of the run when it was typed.
    in_place_of: String,
}

/// A field of code called `label` that shows `now` until something else is typed, and why that cannot be used: what `error` says.
/// `take` puts text that can be used into `run` once the field is left.
pub(super) fn typed_field(
    ui: &mut Ui,
    (label, now): (&str, &str),
    error: impl Fn(&str) -> Option<String>,
    take: impl Fn(&str, &mut RunSection),
    (run, out): (&mut RunSection, &mut Outbox),
) {
    let id = ui.make_persistent_id(("typed", label));
    let typed = ui.data(|data| data.get_temp::<Typed>(id));
    // What was typed for another run is none of this one.
    let typed = typed.filter(|typed| typed.in_place_of == now);
    let mut text = typed.map_or_else(|| now.to_owned(), |typed| typed.text);
    let why = error(&text);
    let field = Field::new(label, &mut text)
        .label_hidden()
        .mono()
        .error(why.as_deref())
        .width(TYPED)
        .show(ui);
    // Text that cannot be used stays, with the reason below it.
    let is_usable = error(&text).is_none();
    let is_over = field.response.lost_focus() && is_usable;
    if field.restored || is_over {
        ui.data_mut(|data| data.remove::<Typed>(id));
    } else if field.response.changed() {
        let in_place_of = now.to_owned();
        let typed = Typed {
            text: text.clone(),
            in_place_of,
        };
        ui.data_mut(|data| data.insert_temp(id, typed));
    }
    if field.committed && is_over {
        take(&text, run);
    } else if field.response.has_focus() && is_usable && text != now {
        let mut typed = run.clone();
        take(&text, &mut typed);
        out.typed(change_to(typed), false);
    }
}

/// A label, controls, and a hint below them.
pub(super) fn row_ui(ui: &mut Ui, label: &str, hint: &str, controls: impl FnOnce(&mut Ui)) {
    let t = tokens();
    let colors = Palette::of(ui);
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = t.space.x3;
        let (rect, _) = ui.allocate_exact_size(vec2(LABEL, t.size.field), Sense::hover());
        let galley = paint::line(ui, label, Text::Label, colors.text_primary, LABEL);
        paint::left_center(ui.painter(), rect.left(), rect.center().y, galley);
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = t.space.x1;
            ui.allocate_ui_with_layout(
                vec2(ui.available_width(), t.size.field),
                Layout::left_to_right(Align::Center),
                |ui| {
                    ui.spacing_mut().item_spacing.x = t.space.x2;
                    controls(ui);
                },
            );
            if !hint.is_empty() {
                let width = ui.available_width();
                let galley =
                    paint::paragraph(ui, hint, Text::Caption, colors.text_secondary, width);
                ui.add(eframe::egui::Label::new(galley));
            }
        });
    });
}

fn field(ui: &mut Ui, label: &str, value: &mut f64, low: f64, high: f64) -> bool {
    NumberField::new(label, value, low..=high)
        .integer()
        .without_slider()
        .field_width(FIELD)
        .label_hidden()
        .show(ui)
}

/// Whether chains begin in groups, in as many as make groups of about as many chains.
fn superchains_ui(ui: &mut Ui, run: &mut RunSection) {
    let hint = match run.superchains {
        Some(groups) => format!(
            "{groups} groups of {} chains begin at one point each, and nested R-hat judges them: for many short chains",
            run.chains / groups.max(1)
        ),
        None => "Each chain begins at a point of its own".to_owned(),
    };
    row_ui(ui, "Starting points", &hint, |ui| {
        let mut shared = run.superchains.is_some();
        let choice = Segments::new("Starting points", &mut shared)
            .option(false, "Each its own")
            .option(true, "Shared by groups")
            .show(ui);
        if choice.changed() {
            run.superchains = shared.then(|| square_root_of(run.chains));
        }
        if let Some(groups) = run.superchains {
            let mut value = groups as f64;
            let most = (run.chains / 2).max(2) as f64;
            if field(ui, "Groups of chains", &mut value, 2.0, most) {
                run.superchains = Some(value as usize);
            }
        }
    });
    // Groups of equal size: the next number that divides, where chains or groups have been changed.
    run.superchains = run.superchains.map(|groups| {
        let wanted = groups.clamp(2, run.chains.max(2));
        let divides = |groups: &usize| run.chains.is_multiple_of(*groups);
        (wanted..=run.chains.max(2)).find(divides).unwrap_or(2)
    });
}

/// The largest number of groups that divides `chains` and has no fewer chains in a group than there are groups; 2 at least.
fn square_root_of(chains: usize) -> usize {
    let fits = |groups: &usize| chains.is_multiple_of(*groups) && groups * groups <= chains;
    (2..=chains).filter(fits).max().unwrap_or(2)
}

/// Whether means and standard deviations are corrected by control variates while the run goes on.
fn zero_variance_ui(ui: &mut Ui, run: &mut RunSection) {
    let hint = match run.zero_variance {
        None => {
            "Linear and quadratic control variates need the gradient at every draw, a pass over all rows for most samplers"
        }
        Some(Order::Linear) => {
            "Exact for means of a normal posterior; gradients are kept with the draws"
        }
        Some(Order::Quadratic) => {
            "Exact also for its variances, with many draws for the number of parameters; gradients are kept with the draws"
        }
    };
    row_ui(ui, "Estimates", hint, |ui| {
        Segments::new("Estimates by control variates", &mut run.zero_variance)
            .option(None, "Plain")
            .option(Some(Order::Linear), "Linear")
            .option(Some(Order::Quadratic), "Quadratic")
            .show(ui);
    });
}

fn warmup_ui(ui: &mut Ui, recipe: &Recipe, run: &mut RunSection) {
    let spec = samplers::find(&recipe.sampler.id).map(|entry| &entry.spec);
    let hint = match spec {
        Some(spec) if spec.decides_warmup => format!(
            "{} decides itself when its warm-up ends, after {} iterations at most",
            spec.title,
            number::integer(spec.default_warmup)
        ),
        Some(spec) => format!(
            "{} iterations unless you say otherwise; they are not part of any result",
            number::integer(spec.default_warmup)
        ),
        None => "As long as the chosen sampler needs".to_owned(),
    };
    row_ui(ui, "Warm-up", &hint, |ui| {
        let mut fixed = run.warmup.is_some();
        let choice = Segments::new("Warm-up", &mut fixed)
            .option(false, "Auto")
            .option(true, "Fixed")
            .show(ui);
        if choice.changed() {
            run.warmup = fixed.then(|| spec.map_or(1000, |spec| spec.default_warmup));
        }
        if let Some(length) = run.warmup {
            let mut value = length as f64;
            if field(ui, "Iterations of warm-up", &mut value, 0.0, MAX_DRAWS) {
                run.warmup = Some(value as u64);
            }
        }
    });
}

fn stop_ui(ui: &mut Ui, run: &mut RunSection) {
    let mut stop = Stop::of(run);
    row_ui(ui, "Stop after", "", |ui| {
        let choice = Segments::new("Stop after", &mut stop)
            .option(Stop::Draws, "Draws")
            .option(Stop::Time, "Time")
            .option(Stop::Precision, "Precision")
            .show(ui);
        if choice.changed() {
            // The room that a precision was given is not wanted without it.
            if run.precision().is_some() && run.draws == PRECISION_DRAWS {
                run.draws = DEFAULT_DRAWS;
            }
            run.max_seconds = None;
            run.target_ess = None;
            run.target_rhat = None;
            run.until_precise = stop == Stop::Draws;
            match stop {
                Stop::Draws => {}
                Stop::Time => run.max_seconds = Some(FIRST_LIMIT),
                Stop::Precision => {
                    run.target_ess = Some(ESS_PER_CHAIN * run.chains as f64);
                    run.target_rhat = Some(RHAT_LIMIT);
                    run.leave_room();
                }
            }
        }
    });
    let (label, hint) = match stop {
        Stop::Draws => ("Draws", "Kept draws of each chain"),
        Stop::Time => (
            "Draws at most",
            "Kept draws of each chain, should there be time left",
        ),
        Stop::Precision => (
            "Draws at most",
            "Kept draws of each chain, should it not be precise enough before; the end says so",
        ),
    };
    row_ui(ui, label, hint, |ui| {
        let mut value = run.draws as f64;
        if field(ui, label, &mut value, 1.0, MAX_DRAWS) {
            run.draws = value as u64;
        }
    });
    if stop == Stop::Draws {
        let hint = if run.draws < DEFAULT_DRAWS {
            format!(
                "Runs of fewer than {} draws end there",
                number::integer(DEFAULT_DRAWS)
            )
        } else {
            format!(
                "Where draws are cheap: until every R-hat is at most {RHAT_LIMIT} and every effective sample size at least \
                 {}, or {} draws per chain are made",
                number::integer((ESS_PER_CHAIN * run.chains as f64) as u64),
                number::integer(MOST_DRAWS)
            )
        };
        row_ui(ui, "If not precise then", &hint, |ui| {
            Segments::new("If not precise then", &mut run.until_precise)
                .option(true, "Go on")
                .option(false, "Stop")
                .show(ui);
        });
    }
    if let Some(seconds) = run.max_seconds {
        row_ui(
            ui,
            "Seconds",
            "From the start of the chains, pauses excluded; what was drawn is kept",
            |ui| {
                let mut value = seconds;
                if field(ui, "Seconds", &mut value, 1.0, 1e7) {
                    run.max_seconds = Some(value);
                }
            },
        );
    }
    if stop == Stop::Precision {
        row_ui(
            ui,
            "Effective draws",
            "Of every parameter, in the bulk and in the tails, all chains together",
            |ui| {
                let mut value = run.target_ess.unwrap_or(ESS_PER_CHAIN * run.chains as f64);
                if field(ui, "Effective draws", &mut value, 1.0, MAX_DRAWS) {
                    run.target_ess = Some(value);
                    run.leave_room();
                }
            },
        );
        row_ui(
            ui,
            "R-hat at most",
            "1.01 is advised (Vehtari et al. 2021)",
            |ui| {
                let mut value = run.target_rhat.unwrap_or(RHAT_LIMIT);
                if NumberField::new("R-hat at most", &mut value, 1.0001..=2.0)
                    .without_slider()
                    .field_width(FIELD)
                    .label_hidden()
                    .show(ui)
                {
                    run.target_rhat = Some(value);
                }
            },
        );
    }
}
