//! What pages share: their head, a file being read, and a file that could not be read.

use std::sync::Arc;
use std::time::Duration;

use eframe::egui::text::{LayoutJob, TextWrapping};
use eframe::egui::{
    Align, Color32, Frame, Galley, Layout, Margin, Panel, Rect, Role, Sense, Stroke, Ui, UiBuilder,
    WidgetInfo, vec2,
};

use super::ragged;
use crate::app::state::{FileProblem, Loading};
use crate::app::{AppState, DataCommand, NoticeCommand, PathCommand};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::theme::{Palette, Text, VerdictKind, tokens};
use crate::ui::widgets::badge::paint_verdict;
use crate::ui::widgets::{
    Button, heading, hint, number, progress, sentence, sentence_line, surface,
};
use ergodic_base::shown::capitalised;
use ergodic_base::{Severity, Warning};

/// A file that is being read shows its progress this often.
pub const PROGRESS_TIME: Duration = Duration::from_millis(100);

/// The head of a page: icon, title, one line of facts, and at the right end the acts, the main one first.
pub fn page_head(ui: &mut Ui, icon: char, title: &str, facts: &str, acts: impl FnOnce(&mut Ui)) {
    let t = tokens();
    let p = Palette::of(ui);
    Panel::top("page-head")
        .exact_size(t.size.run_bar)
        .frame(
            Frame::NONE
                .fill(p.bg_panel)
                .inner_margin(Margin::symmetric(t.space.x4 as i8, 0)),
        )
        .show(ui, |ui| {
            ui.horizontal_centered(|ui| {
                icons::icon_ui(ui, icon, t.icon.large, false, p.accent);
                ui.add_space(t.space.x1);
                let rest = ui.available_rect_before_wrap();
                let mut right = ui.new_child(
                    UiBuilder::new()
                        .max_rect(rest)
                        .layout(Layout::right_to_left(Align::Center)),
                );
                acts(&mut right);
                let left = right.min_rect().left().min(rest.right()) - t.space.x4;
                let top = rest.center().y - 19.0;
                let words = Rect::from_min_max(
                    eframe::egui::pos2(rest.left(), top),
                    eframe::egui::pos2(left.max(rest.left()), rest.bottom()),
                );
                ui.scope_builder(
                    UiBuilder::new()
                        .max_rect(words)
                        .layout(Layout::top_down(Align::Min)),
                    |ui| {
                        ui.spacing_mut().item_spacing.y = 2.0;
                        sentence_line(ui, title, Text::Heading, false);
                        sentence_line(ui, facts, Text::Caption, true);
                    },
                );
                ui.advance_cursor_after_rect(rest);
            });
        });
}

/// A column of `width` points in the middle of what is left, or all of it where that is narrower.
pub fn middle_column(ui: &mut Ui, width: f32, contents: impl FnOnce(&mut Ui)) {
    let t = tokens();
    let room = ui.available_width() - 2.0 * t.space.x4;
    let width = width.min(room);
    let inset = t.space.x4 + ((room - width) / 2.0).max(0.0);
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        ui.add_space(inset.round());
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.x = t.space.x2;
            ui.set_width(width);
            contents(ui);
        });
    });
}

/// Progress of a file being read, with the button that stops it.
pub fn loading_ui(ui: &mut Ui, loading: &Loading, out: &mut Outbox) {
    let t = tokens();
    let share = loading.control.fraction();
    let rows = loading.control.counted();
    ui.ctx().request_repaint_after(PROGRESS_TIME);
    surface(ui)
        .inner_margin(Margin::symmetric(t.space.x4 as i8, t.space.x3 as i8))
        .show(ui, |ui| {
            ui.horizontal(|ui| {
                let text = format!("Reading `{}`", loading.name);
                ui.vertical(|ui| {
                    ui.set_width(ui.available_width() - 90.0);
                    sentence_line(ui, &text, Text::Button, false);
                    let facts = match share {
                        Some(share) => format!(
                            "{} rows so far · {}",
                            number::integer(rows),
                            number::percent(share, 1)
                        ),
                        None => "Opening the file".to_owned(),
                    };
                    sentence_line(ui, &facts, Text::Caption, true);
                });
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    if ui.add(Button::new("Cancel")).clicked() {
                        out.send(DataCommand::CancelLoad);
                    }
                });
            });
            share_read_ui(ui, 4.0, share.unwrap_or(0.0));
        });
}

/// The bar of a file being read, of which a share has been.
fn share_read_ui(ui: &mut Ui, height: f32, share: f64) {
    let size = vec2(ui.available_width(), height);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    response.widget_info(|| {
        let name = "Share of the file read";
        let mut info = WidgetInfo::labeled(Role::ProgressIndicator, true, name);
        info.value = Some(share);
        info
    });
    progress::bar(ui, rect, share as f32, Palette::of(ui).accent);
}

/// A strip over a page that shows other things, in a soft colour.
pub(super) fn strip(
    ui: &mut Ui,
    id: &'static str,
    fill: Color32,
    inset: f32,
    contents: impl FnOnce(&mut Ui),
) {
    let inset = Margin::symmetric(tokens().space.x4 as i8, inset as i8);
    Panel::top(id)
        .frame(Frame::NONE.fill(fill).inner_margin(inset))
        .show(ui, contents);
}

/// Progress of reading in one strip over a page that shows other things: a file or results being read.
pub fn reading_strip_ui(ui: &mut Ui, state: &AppState, out: &mut Outbox) {
    let (text, share) = match (&state.loading, state.opening.last()) {
        (Some(loading), _) => {
            let rows = number::integer(loading.control.counted());
            let share = loading.control.fraction().unwrap_or(0.0);
            let percent = number::percent(share, 1);
            let text = format!(
                "Reading `{}` · {rows} rows so far · {percent}",
                loading.name
            );
            (text, share)
        }
        (None, Some(opening)) => {
            let share = opening.control.fraction().unwrap_or(0.0);
            let percent = number::percent(share, 1);
            let text = format!("Opening the run `{}` · {percent}", opening.name);
            (text, share)
        }
        (None, None) => return,
    };
    let t = tokens();
    let p = Palette::of(ui);
    ui.ctx().request_repaint_after(PROGRESS_TIME);
    strip(ui, "reading", p.accent_soft, t.space.x1, |ui| {
        ui.horizontal(|ui| {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                if ui.add(Button::new("Cancel").small()).clicked() {
                    out.send(DataCommand::CancelLoad);
                }
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    sentence_line(ui, &text, Text::Body, false);
                });
            });
        });
        share_read_ui(ui, t.size.progress_line, share);
    });
}

/// What is wrong with a file and what can be done, as a block of a page.
pub fn problem_ui(ui: &mut Ui, problem: &FileProblem, out: &mut Outbox) {
    let t = tokens();
    let p = Palette::of(ui);
    let (what, advice) = split(&problem.message);
    Frame::NONE
        .fill(p.bg_surface)
        .stroke(Stroke::new(t.stroke.hair, p.bad))
        .corner_radius(t.radius.card)
        .inner_margin(Margin::same(t.space.x4 as i8))
        .show(ui, |ui| {
            ui.horizontal_top(|ui| {
                icons::icon_ui(ui, icons::X_CIRCLE, t.icon.large, true, p.bad);
                ui.vertical(|ui| {
                    ui.set_width(ui.available_width());
                    ui.spacing_mut().item_spacing.y = t.space.x2;
                    heading(ui, what);
                    if !advice.is_empty() {
                        sentence(ui, &capitalised(advice), Text::Body);
                    }
                    if let Some(path) = &problem.path {
                        hint(ui, &format!("`{}`", path.display()));
                    }
                    if let Some((lines, options)) = &problem.ragged {
                        ragged::place_ui(ui, lines);
                        ragged::quick_fixes_ui(ui, lines, options, out);
                    }
                    ui.add_space(t.space.x1);
                    problem_acts(ui, problem, false, out);
                });
            });
        });
}

/// The file's problem in one strip at the top of a page that shows other things.
pub fn problem_banner(ui: &mut Ui, state: &AppState, out: &mut Outbox) {
    let Some(problem) = &state.problem else {
        return;
    };
    let t = tokens();
    let p = Palette::of(ui);
    strip(ui, "problem", p.bad_soft, t.space.x2, |ui| {
        ui.horizontal_top(|ui| {
            icons::icon_ui(ui, icons::X_CIRCLE, t.icon.medium, true, p.bad);
            ui.vertical(|ui| {
                sentence(ui, &problem.message, Text::Body);
                let path = problem.path.as_ref().map(|path| path.display().to_string());
                if let Some(path) = path.filter(|path| !problem.message.contains(path.as_str())) {
                    hint(ui, &format!("`{path}`"));
                }
                problem_acts(ui, problem, true, out);
            });
        });
    });
}

/// Buttons below a problem; with `quick_fixes` also those that a page has room to explain.
fn problem_acts(ui: &mut Ui, problem: &FileProblem, quick_fixes: bool, out: &mut Outbox) {
    ui.horizontal(|ui| {
        if let Some((lines, options)) = problem.ragged.as_ref().filter(|_| quick_fixes) {
            ragged::acts_ui(ui, lines, options, out);
        }
        if ui
            .add(Button::new("Open another file").icon(icons::FOLDER_OPEN))
            .clicked()
        {
            out.send(PathCommand::PickOpen);
        }
        if let Some(path) = &problem.path
            && ui
                .add(Button::new("Try again").icon(icons::ARROW_CLOCKWISE))
                .on_hover_text("Read the file again, after it was corrected")
                .clicked()
        {
            out.send(DataCommand::Open(path.clone()));
        }
        if ui.add(Button::new("Dismiss").quiet()).clicked() {
            out.send(NoticeCommand::DismissProblem);
        }
        hint(ui, "Your other data and runs are untouched");
    });
}

/// What happened, and what to do about it, of a sentence that has both.
fn split(message: &str) -> (&str, &str) {
    message.split_once("; ").unwrap_or((message, ""))
}

/// `text` on one line exactly as it is, cut at `width`: backticks stay.
pub fn plain_line(ui: &Ui, text: &str, role: Text, color: Color32, width: f32) -> Arc<Galley> {
    let mut job = LayoutJob::simple_singleline(text.to_owned(), role.font(), color);
    job.wrap = TextWrapping::truncate_at_width(width);
    ui.painter().layout_job(job)
}

/// A remark: icon, sentence, and what to do about it below.
pub fn remark(ui: &mut Ui, warning: &Warning) {
    let t = tokens();
    ui.horizontal_top(|ui| {
        severity_icon(ui, warning.severity);
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = t.space.x1;
            sentence(ui, &warning.message, Text::Body);
            if let Some(advice) = &warning.advice {
                hint(ui, &capitalised(advice));
            }
        });
    });
}

/// The icon of a severity, as high as a line of text.
pub fn severity_icon(ui: &mut Ui, severity: Severity) {
    let t = tokens();
    let p = Palette::of(ui);
    let (rect, _) = ui.allocate_exact_size(vec2(t.icon.medium, Text::Body.line()), Sense::hover());
    match severity {
        Severity::Info => {
            let (painter, center) = (ui.painter(), rect.center());
            icons::paint(
                painter,
                center,
                icons::INFO,
                t.icon.small,
                false,
                p.text_secondary,
            );
        }
        Severity::Watch => paint_verdict(ui, rect, VerdictKind::Watch),
        Severity::Bad => paint_verdict(ui, rect, VerdictKind::Bad),
    }
}
