//! The bottom panel: messages, and the command line that makes the same run.

use eframe::egui::{Frame, Margin, Rect, ScrollArea, Ui, vec2};

use super::words;
use crate::app::entry::Saved;
use crate::app::fixes::quick_fix;
use crate::app::quick_fixes::QuickFix;
use crate::app::{AppState, Command, PathCommand, Product, RunEntry};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::theme::{Palette, Text, VerdictKind, tokens};
use crate::ui::widgets::{self, Button, Field, MessageRow, Tab, paint};
use ergodic_base::{Severity, Warning};
use ergodic_diagnostics::Verdict;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Page {
    #[default]
    Messages,
    CommandLine,
}

/// What the panel keeps.
#[derive(Default)]
pub struct BottomView {
    page: Page,
    recipe_path: Option<String>,
}

/// Whether something is worth showing even to those who want only the verdict.
pub fn has_warnings(state: &AppState, entry: &RunEntry) -> bool {
    let bad = |warning: &Warning| warning.severity != Severity::Info;
    // While draws come, the verdict says that they are not there yet; that is no news.
    let report = entry.report().filter(|_| !entry.is_active());
    state.messages.iter().any(|it| bad(&it.warning))
        || report.is_some_and(|report| report.warnings.iter().any(bad))
        || entry
            .view()
            .is_some_and(|view| view.log.iter().any(|line| bad(&line.warning)))
}

/// A line of the list.
struct Line<'a> {
    time: String,
    warning: &'a Warning,
    count: usize,
    fix: Option<QuickFix>,
}

/// Shows the panel.
pub fn bottom_ui(
    ui: &mut Ui,
    state: &AppState,
    entry: &RunEntry,
    view: &mut BottomView,
    out: &mut Outbox,
) {
    let t = tokens();
    let colors = Palette::of(ui);
    ui.spacing_mut().item_spacing = vec2(0.0, 0.0);
    let run = entry.view();
    // Newest first; the window's own messages have no place on the run's clock and come first.
    let mut lines: Vec<Line<'_>> = state
        .messages
        .iter()
        .rev()
        .map(|message| Line {
            time: String::new(),
            warning: &message.warning,
            count: message.count,
            fix: None,
        })
        .collect();
    let report = entry.report();
    if let Some(report) = &report {
        lines.extend(report.warnings.iter().map(|warning| Line {
            time: String::new(),
            warning,
            count: 1,
            fix: quick_fix(entry, warning),
        }));
    }
    if let Some(run) = &run {
        lines.extend(run.log.iter().rev().map(|entry| Line {
            time: clock(entry.at_secs),
            warning: &entry.warning,
            count: entry.count as usize,
            fix: None,
        }));
    }
    let area = ui.available_rect_before_wrap();
    let strip = Rect::from_min_size(area.min, vec2(area.width(), t.size.tab_strip));
    ui.painter().rect_filled(strip, 0.0, colors.bg_strip);
    paint::hair_below(ui, strip);
    ui.horizontal(|ui| {
        for (page, word, icon) in [
            (Page::Messages, "Messages", icons::BELL),
            (Page::CommandLine, "Command line", icons::TERMINAL),
        ] {
            let mut tab = Tab::new(word, view.page == page)
                .icon(icon)
                .fill(colors.bg_surface);
            if page == Page::Messages && !lines.is_empty() {
                tab = tab.count(lines.len());
            }
            if ui.add(tab).clicked() {
                view.page = page;
            }
        }
    });
    if ui.available_height() < t.size.row_table {
        return;
    }
    match view.page {
        Page::Messages => {
            let verdict = (report.as_ref()).map_or(Verdict::TooEarly, |report| report.verdict);
            let is_stale = words::stale_reason(state, entry).is_some();
            for command in messages_ui(ui, &lines, verdict, is_stale) {
                out.send(command);
            }
        }
        Page::CommandLine => command_line_ui(ui, state, entry, view, out),
    }
}

/// Shows the lines beside a verdict; what the quick fixes that were clicked do.
fn messages_ui(ui: &mut Ui, lines: &[Line<'_>], verdict: Verdict, is_stale: bool) -> Vec<Command> {
    let mut clicked = Vec::new();
    if lines.is_empty() {
        Frame::NONE
            .inner_margin(Margin::symmetric(12, 8))
            .show(ui, |ui| {
                let text = match verdict {
                    Verdict::Good if !is_stale => {
                        "No messages: nothing about this run needs your attention"
                    }
                    Verdict::TooEarly => "No messages yet",
                    _ => "No messages",
                };
                widgets::hint(ui, text);
            });
        return clicked;
    }
    ScrollArea::vertical()
        .auto_shrink([false, false])
        .min_scrolled_height(0.0)
        .show_rows(ui, tokens().size.row_table, lines.len(), |ui, range| {
            ui.spacing_mut().item_spacing.y = 0.0;
            for line in &lines[range] {
                let text = match line.fix {
                    Some(_) => line.warning.message.clone(),
                    None => line.warning.to_string(),
                };
                let shown = MessageRow {
                    kind: match line.warning.severity {
                        Severity::Info => None,
                        Severity::Watch => Some(VerdictKind::Watch),
                        Severity::Bad => Some(VerdictKind::Bad),
                    },
                    time: &line.time,
                    text: &text,
                    count: line.count,
                    fix: line.fix.as_ref().map(|fix| fix.label.as_str()),
                    resolved: false,
                }
                .show(ui);
                if let Some(fix) = line.fix.as_ref().filter(|_| shown.fix) {
                    clicked.extend(fix.commands.iter().cloned());
                }
            }
        });
    clicked
}

/// Time since the start of the run: 0:07, 12:40, 1:02:03.
fn clock(secs: f64) -> String {
    let secs = secs.max(0.0) as u64;
    let (hours, minutes, seconds) = (secs / 3600, secs / 60 % 60, secs % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes}:{seconds:02}")
    }
}

fn command_line_ui(
    ui: &mut Ui,
    state: &AppState,
    entry: &RunEntry,
    view: &mut BottomView,
    out: &mut Outbox,
) {
    let t = tokens();
    let colors = Palette::of(ui);
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        Frame::NONE.inner_margin(Margin::symmetric(12, 8)).show(ui, |ui| {
            ui.spacing_mut().item_spacing = vec2(t.space.x2, t.space.x1);
            let (command, _) = words::command_line(entry);
            ui.horizontal(|ui| {
                ui.label(Text::Code.rich(&command, colors.text_primary));
                if ui.add(Button::icon_only(icons::COPY, "Copy the command line").small()).clicked() {
                    ui.ctx().copy_text(command.clone());
                }
            });
            let saved = match &entry.saved {
                Saved::No if entry.is_active() => {
                    "Draws are kept in a folder while the run goes on; the command line makes the same draws, bit for bit"
                        .to_owned()
                }
                Saved::No => "The run is not saved yet".to_owned(),
                Saved::Writing => "The run is being saved".to_owned(),
                Saved::At(folder) => format!("Saved in {}", folder.display()),
                Saved::Failed(why) => format!("{why}; export the draws to another place"),
            };
            widgets::hint(ui, &saved);
            ui.horizontal(|ui| {
                let path = view.recipe_path.get_or_insert_with(|| "recipe.toml".to_owned());
                Field::new("Path of the recipe", path)
                    .label_hidden()
                    .mono()
                    .width(220.0)
                    .show(ui);
                let (able, why) = if state.document.is_none() {
                    (false, "There is no draft; use this run's recipe first")
                } else if path.trim().is_empty() {
                    (false, "Type where the recipe is to go")
                } else {
                    (true, "")
                };
                let save = ui.add_enabled(able, Button::new("Save recipe").icon(icons::FLOPPY_DISK));
                if save
                    .on_hover_text("Writes the draft, so that the command line can run it")
                    .on_disabled_hover_text(why)
                    .clicked()
                {
                    out.send(PathCommand::Write(Product::Recipe, path.trim().into()));
                }
                let pick = ui.add_enabled(
                    state.document.is_some(),
                    Button::new("Choose a location…").icon(icons::FOLDER_OPEN),
                );
                if pick
                    .on_disabled_hover_text("There is no draft; use this run's recipe first")
                    .clicked()
                {
                    out.send(PathCommand::Pick(Product::Recipe));
                }
            });
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nothing needs attention only where nothing is wrong.
    #[test]
    fn an_empty_list_says_nothing_that_the_badge_denies() {
        use egui_kittest::kittest::Queryable as _;
        for (verdict, is_stale) in [
            (Verdict::Good, false),
            (Verdict::Good, true),
            (Verdict::Watch, false),
            (Verdict::Bad, false),
            (Verdict::TooEarly, false),
            (Verdict::NotCertified, false),
        ] {
            let mut harness = crate::ui::testing::harness([600.0, 80.0], (), move |ui, ()| {
                messages_ui(ui, &[], verdict, is_stale);
            });
            harness.run();
            let calm = harness
                .query_by_label_contains("nothing about this run")
                .is_some();
            let expected = verdict == Verdict::Good && !is_stale;
            assert_eq!(calm, expected, "{verdict:?}, stale {is_stale}");
        }
    }

    #[test]
    fn times_are_those_of_a_clock() {
        assert_eq!(
            [0.4, 67.0, 760.9, 3723.0].map(clock),
            ["0:00", "1:07", "12:40", "1:02:03"]
        );
    }
}
