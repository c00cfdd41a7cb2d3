//! The bar over a run: verdict, sentence, controls, and the progress line below it.

use eframe::egui::{self, Align, Frame, Layout, Margin, Panel, Popup, Response, Ui, vec2};

use super::export_menu::{ExportView, export_ui};
use super::words;
use crate::app::entry::RunPhase;
use crate::app::running::{controls_at_hand, draws_before_check};
use crate::app::{AppState, Depth, RunCommand, RunEntry, resuming};
use crate::ui::outbox::Outbox;
use crate::ui::panels::menu;
use crate::ui::theme::{Palette, Text, VerdictKind, tokens};
use crate::ui::widgets::{self, Button, Progress, number, paint};
use crate::ui::{icons, landmarks};
use ergodic_base::numerals::thousands;
use ergodic_core::engine::{RunState, StopReason};

/// Draws that the menu offers to add.
pub(super) const MORE: [u64; 3] = [500, 1000, 5000];
/// Width of the window below which buttons are icons.
const NARROW: f32 = 1100.0;

/// Shows the bar and the progress line.
pub fn run_bar_ui(
    ui: &mut Ui,
    state: &AppState,
    entry: &RunEntry,
    (export, held): (&mut ExportView, &mut Held),
    out: &mut Outbox,
) {
    let t = tokens();
    let colors = Palette::of(ui);
    let narrow = ui.available_width() < NARROW;
    Panel::top("run-bar")
        .exact_size(t.size.run_bar)
        .show_separator_line(false)
        .frame(
            Frame::NONE
                .fill(colors.bg_panel)
                .inner_margin(Margin::symmetric(12, 0)),
        )
        .show(ui, |ui| {
            landmarks::mark(ui, "Run");
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                ui.spacing_mut().item_spacing.x = t.space.x2;
                buttons_ui(ui, state, entry, export, out, narrow);
                ui.add_space(t.space.x2);
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    words_ui(ui, state, entry, held);
                });
            });
        });
    let progress = entry.view().map_or(
        Progress {
            warmup: 0.0,
            done: 0.0,
        },
        |view| words::progress(entry, &view),
    );
    Panel::top("run-progress")
        .exact_size(t.size.progress_line)
        .show_separator_line(false)
        .frame(Frame::NONE)
        .show(ui, |ui| {
            widgets::progress_line(ui, progress);
        });
}

/// The verdict on screen: a word stays for a while before it changes, except to bad, so that it can be read.
#[derive(Default)]
pub struct Held {
    now: Option<(u64, VerdictKind, String)>,
    since: f64,
}

/// Seconds that a verdict stays.
const HOLD_SECS: f64 = 2.0;

impl Held {
    /// What to show of run `id` at `time`, whose verdict is `kind` with `sentence`; `ended` runs have their last word at
    /// once. The third value is how long something else is kept back, if it is.
    fn show(
        &mut self,
        id: u64,
        (kind, sentence): (VerdictKind, String),
        ended: bool,
        time: f64,
    ) -> (VerdictKind, String, Option<f64>) {
        let passed = time - self.since;
        if let Some((run, word, old)) = &self.now
            && *run == id
            && *word != kind
            && kind != VerdictKind::Bad
            && !ended
            && (0.0..HOLD_SECS).contains(&passed)
        {
            return (*word, old.clone(), Some(HOLD_SECS - passed));
        }
        if self
            .now
            .as_ref()
            .is_none_or(|(run, word, _)| *run != id || *word != kind)
        {
            self.since = time;
        }
        self.now = Some((id, kind, sentence.clone()));
        (kind, sentence, None)
    }
}

fn words_ui(ui: &mut Ui, state: &AppState, entry: &RunEntry, held: &mut Held) {
    let t = tokens();
    let sentence = match &entry.phase {
        RunPhase::Preparing(control) => match control.stage().as_ref() {
            "" => "Preparing the run".to_owned(),
            stage => format!("Preparing: {stage}"),
        },
        RunPhase::Refused(_) => "The run could not be started".to_owned(),
        _ => entry
            .report()
            .map(|report| report.sentence.clone())
            .unwrap_or_default(),
    };
    let time = ui.input(|input| input.time);
    let verdict = (words::run_kind(entry), sentence);
    let (kind, sentence, kept_back) = held.show(entry.id, verdict, !entry.is_active(), time);
    if let Some(secs) = kept_back {
        ui.ctx()
            .request_repaint_after(std::time::Duration::from_secs_f64(secs));
    }
    let stale = words::stale_reason(state, entry);
    let sentence = match stale {
        Some(reason) => {
            let was = format!(
                "It was {}. {}",
                Palette::of(ui).verdict(kind).word,
                sentence
            );
            let tip = format!("Stale: {reason}. {}", paint::words(&was));
            widgets::badge_with(ui, VerdictKind::TooEarly, "Stale").on_hover_text(tip);
            format!("These results are out of date: {reason}")
        }
        None => {
            widgets::badge(ui, kind);
            sentence
        }
    };
    let caption = caption(entry);
    let quiet = state.preferences.depth == Depth::Verdict || caption.is_empty();
    ui.add_space(t.space.x1);
    let room = ui.available_size();
    ui.allocate_ui_with_layout(room, Layout::top_down(Align::Min), |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        let lines = t.text.verdict.line + if quiet { 0.0 } else { t.text.caption.line };
        ui.add_space(((room.y - lines) / 2.0).max(0.0).floor());
        widgets::sentence_line(ui, &sentence, Text::Verdict, false);
        if !quiet {
            widgets::sentence_line(ui, &caption, Text::Caption, true);
        }
    });
}

/// Draws, chains, stop rule, approximation.
fn caption(entry: &RunEntry) -> String {
    let Some(view) = entry.view() else {
        return match &entry.phase {
            RunPhase::Refused(reason) => reason.clone(),
            _ => "Cancel keeps the draft; nothing has been drawn yet".to_owned(),
        };
    };
    let mut parts = Vec::new();
    if let Some(control) = &entry.resuming {
        parts.push(match control.stage().as_ref() {
            "" => "Making the run ready to go on".to_owned(),
            stage => format!("Making the run ready to go on: {stage}"),
        });
    }
    let chains = view.chains.len();
    let plural = if chains == 1 { "chain" } else { "chains" };
    let drawn = number::integer(view.draws_per_chain() as u64);
    let most = view.usable().map(|chain| chain.draws.draws.len()).max();
    let most = number::integer(most.unwrap_or(0) as u64);
    let lengths = if most == drawn {
        drawn.clone()
    } else {
        format!("{drawn} to {most}")
    };
    match view.state {
        RunState::Finished(reason) if words::ended_in_warmup(&view) => {
            parts.push(format!(
                "Stopped during warm-up: no draws, {chains} {plural}, {}",
                number::duration(words::took(&view))
            ));
            parts.extend(reason.sentence_without_draws().map(str::to_owned));
        }
        RunState::Finished(reason) => {
            parts.push(format!(
                "Finished, {chains} {plural} of {lengths} draws in {}",
                number::duration(words::took(&view))
            ));
            parts.push(reason.sentence().to_owned());
        }
        RunState::Stopping => parts.push("Stopping: each chain ends its present draw".to_owned()),
        RunState::Paused | RunState::Running => {
            let word = if view.state == RunState::Paused {
                "Paused at draw"
            } else {
                "Draw"
            };
            let draws = words::draws_wanted(entry, &view);
            let wanted = number::integer(draws);
            if view.draws_per_chain() == 0 {
                let word = if view.state == RunState::Paused {
                    "Paused during warm-up"
                } else {
                    "Warming up"
                };
                parts.push(format!("{word}, then {wanted} draws, {chains} {plural}"));
            } else {
                parts.push(format!("{word} {drawn} of {wanted}, {chains} {plural}"));
            }
            let eta = entry.report().and_then(|report| report.eta_secs);
            if let Some(eta) = eta.filter(|_| view.state == RunState::Running) {
                parts.push(format!("{} left", number::about(eta)));
            }
            if let Some(run) = entry.run() {
                parts.push(words::stop_rule(run, draws));
            }
        }
    }
    if let Some(done) = words::control_progress(entry) {
        let left = words::control_left(entry).map_or_else(String::new, |secs| {
            format!(", {} left", number::about(secs))
        });
        parts.push(format!(
            "bias check: {} as control, {:.0}%{left}",
            words::control(entry),
            100.0 * f64::from(done)
        ));
    } else if let Some(spec) = entry.sampler()
        && spec.bias.is_some()
    {
        let checked = entry.saved_bias_check().is_some()
            || entry.report().is_some_and(|report| report.bias.is_some());
        parts.push(format!(
            "{} is approximate{}",
            spec.title,
            if checked {
                ", its bias was checked"
            } else {
                ": mixing says nothing about its bias"
            }
        ));
    }
    parts.join(" · ")
}

/// Buttons from right to left.
fn buttons_ui(
    ui: &mut Ui,
    state: &AppState,
    entry: &RunEntry,
    export: &mut ExportView,
    out: &mut Outbox,
    narrow: bool,
) {
    let simple = state.preferences.depth == Depth::Verdict;
    let id = entry.id;
    if let RunPhase::Preparing(_) = entry.phase {
        if ui.add(Button::new("Cancel").icon(icons::X)).clicked() {
            out.send(RunCommand::Stop(id));
        }
        return;
    }
    let Some(view) = entry.view() else { return };
    let active = entry.is_active();
    let has_draws = view
        .chains
        .iter()
        .any(|chain| !chain.draws.draws.is_empty());
    if !simple || !active {
        let button = ui.add_enabled(has_draws, button("Export", icons::EXPORT, narrow).caret());
        let button = button.on_disabled_hover_text("There are no draws to export yet");
        Popup::menu(&button)
            .close_behavior(egui::PopupCloseBehavior::CloseOnClickOutside)
            .width(360.0)
            .show(|ui| export_ui(ui, (state, entry), export, out));
    }
    if !simple {
        let refusal = resuming::refusal(entry);
        let more = button("Add draws", icons::PLUS, narrow).caret();
        let more = ui.add_enabled(refusal.is_none(), more);
        let more = more.on_disabled_hover_text(refusal.unwrap_or_default());
        Popup::menu(&more).show(|ui| {
            ui.set_min_width(150.0);
            for draws in MORE {
                let label = format!("{} per chain", number::integer(draws));
                if ui.add(Button::new(&label).quiet()).clicked() {
                    out.send(RunCommand::AddDraws(id, draws));
                    ui.close();
                }
            }
        });
    }
    continue_button_ui(ui, entry, out);
    bias_button_ui(ui, (state, entry), out, narrow);
    if active {
        let stopping = view.state == RunState::Stopping;
        let stop = ui.add_enabled(
            !stopping,
            Button::new("Stop and keep").icon_fill(icons::STOP),
        );
        if stop
            .on_hover_text("End the run and keep every draw (Ctrl .)")
            .on_disabled_hover_text("The chains are ending their present draws")
            .clicked()
        {
            out.send(RunCommand::Stop(id));
        }
        if !simple {
            let (label, icon, command) = if view.state == RunState::Paused {
                ("Resume", icons::PLAY, RunCommand::Resume(id))
            } else {
                ("Pause", icons::PAUSE, RunCommand::Pause(id))
            };
            let pause = ui.add_enabled(!stopping, Button::new(label).icon_fill(icon));
            if pause
                .on_hover_text("Chains wait and keep their place (Space)")
                .on_disabled_hover_text("The run is ending")
                .clicked()
            {
                out.send(command);
            }
        }
        // Outermost, so that no other button moves under the pointer when warm-up ends.
        if !simple && entry.is_warming_up() {
            let end = ui.add_enabled(
                !stopping,
                button("End warm-up", icons::CARET_DOUBLE_RIGHT, narrow),
            );
            if end
                .on_hover_text("All chains stop adapting now, keep what they have learnt, and draw; the recipe records when")
                .on_disabled_hover_text("The run is ending")
                .clicked()
            {
                out.send(RunCommand::Freeze(id));
            }
        }
    }
}

fn bias_button_ui(
    ui: &mut Ui,
    (state, entry): (&AppState, &RunEntry),
    out: &mut Outbox,
    narrow: bool,
) {
    if entry.sampler().is_none_or(|spec| spec.bias.is_none()) {
        return;
    }
    if let Some(done) = words::control_progress(entry) {
        if ui
            .add(Button::new("Stop the check").icon_fill(icons::STOP))
            .clicked()
        {
            out.send(RunCommand::Stop(entry.id));
        }
        let (rect, response) = ui.allocate_exact_size(vec2(64.0, 4.0), egui::Sense::hover());
        response.widget_info(|| {
            egui::WidgetInfo::labeled(egui::Role::ProgressIndicator, true, "Bias check")
        });
        widgets::progress::bar(ui, rect, done, Palette::of(ui).accent);
        return;
    }
    let checked = entry.report().is_some_and(|report| report.bias.is_some());
    let why = resuming::check_refusal(entry);
    let able = why.is_none();
    let mut check = button(
        if checked { "Check again" } else { "Check bias" },
        icons::SCALES,
        narrow,
    );
    if able && !checked {
        check = check.primary();
    }
    let at_hand: Vec<&RunEntry> = if able {
        controls_at_hand(state, entry).collect()
    } else {
        Vec::new()
    };
    if !at_hand.is_empty() {
        let check = ui.add(check.caret());
        control_menu_ui(&check, entry, &at_hand, out);
        return;
    }
    let first = match draws_before_check(entry) {
        0 => String::new(),
        more => format!(
            "Makes {} more draws per chain, which the check needs, then ",
            thousands(more)
        ),
    };
    if ui
        .add_enabled(able, check)
        .on_hover_text(format!(
            "{first}{} {}{}, which is exact, on the same model and compares means, standard deviations and quantiles",
            if first.is_empty() { "Runs" } else { "runs" },
            words::control(entry),
            words::check_cost_in_brackets(entry)
        ))
        .on_disabled_hover_text(why.unwrap_or_default())
        .clicked()
    {
        out.send(RunCommand::CheckBias(entry.id));
    }
}

/// Lets a reopened run go on, or gives that up while its data are read.
fn continue_button_ui(ui: &mut Ui, entry: &RunEntry, out: &mut Outbox) {
    if entry.resuming.is_some() {
        if ui.add(Button::new("Cancel").icon(icons::X)).clicked() {
            out.send(RunCommand::Stop(entry.id));
        }
        return;
    }
    if entry.run().is_some() || resuming::refusal(entry).is_some() {
        return;
    }
    let cut_short = entry
        .view()
        .is_some_and(|view| view.state == RunState::Finished(StopReason::CutShort));
    let tip = if cut_short {
        "Makes the draws that were planned, from where the run was cut short"
    } else if entry.has_unmet_rule() {
        "Goes on until the run is as precise as it was asked to be, at most for as many draws as were planned, without new warm-up"
    } else {
        "Makes as many draws again, without new warm-up"
    };
    let go_on = Button::new("Continue").icon_fill(icons::PLAY);
    if ui.add(go_on).on_hover_text(tip).clicked() {
        out.send(RunCommand::Continue(entry.id));
    }
}

/// Which run is the control: one that is there, or a new one.
fn control_menu_ui(button: &Response, entry: &RunEntry, at_hand: &[&RunEntry], out: &mut Outbox) {
    menu::menu(button, menu::NORMAL, |ui| {
        for other in at_hand.iter().rev() {
            let text = format!("Compare with {}", other.title());
            let title = other.sampler().map_or("", |spec| spec.title);
            let row = menu::item(ui, &text, title, false);
            let tip = "It is exact, and of the same model, priors and data: nothing has to be run";
            if row.on_hover_text(tip).clicked() {
                out.send(RunCommand::CheckBiasAgainst(entry.id, other.id));
            }
        }
        let text = format!("Run {} as a new control", words::control(entry));
        let row = menu::item(ui, &text, "", false);
        if row.on_hover_text(words::check_cost(entry)).clicked() {
            out.send(RunCommand::CheckBias(entry.id));
        }
    });
}

fn button(label: &str, icon: char, narrow: bool) -> Button<'_> {
    if narrow {
        Button::icon_only(icon, label)
    } else {
        Button::new(label).icon(icon)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_ended_before_its_first_draw_speaks_of_none() {
        for reason in [StopReason::User, StopReason::Time, StopReason::CutShort] {
            let said = reason.sentence_without_draws().unwrap_or_default();
            assert!(!said.contains("draws"), "{said}");
        }
    }

    #[test]
    fn a_verdict_stays_two_seconds_except_before_bad_and_at_the_end() {
        let mut held = Held::default();
        let mut show = |run, kind, ended, time| {
            let (kind, _, kept_back) = held.show(run, (kind, String::new()), ended, time);
            (kind, kept_back)
        };
        use VerdictKind::{Bad, Good, Watch};
        assert_eq!(show(1, Watch, false, 10.0), (Watch, None));
        assert_eq!(show(1, Good, false, 10.5), (Watch, Some(1.5)));
        assert_eq!(show(1, Good, false, 12.0), (Good, None));
        assert_eq!(show(1, Bad, false, 12.1), (Bad, None));
        assert_eq!(
            show(1, Watch, false, 12.2),
            (Bad, Some(2.0 - (12.2 - 12.1)))
        );
        assert_eq!(show(1, Watch, true, 12.3), (Watch, None));
        assert_eq!(show(2, Good, false, 12.4), (Good, None));
    }
}
