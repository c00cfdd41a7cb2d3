//! A file with lines of another length than its header: the place in the file, and what can be done about it.

use eframe::egui::{Align, Layout, Rect, Role, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};

use super::menu;
use super::page::plain_line;
use crate::app::DataCommand;
use crate::ui::outbox::Outbox;
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::{Button, inset, list_card, number, paint, sentence, sentence_line};
use ergodic_data::{ImportOptions, RaggedLines, RaggedRows};

/// Delimiters that can be chosen instead.
const DELIMITERS: [(char, &str); 4] = [
    (',', "comma ,"),
    (';', "semicolon ;"),
    ('\t', "tab"),
    ('|', "bar |"),
];

/// The lines around the first of another length, the part that is too much underlined.
pub fn place_ui(ui: &mut Ui, lines: &RaggedLines) {
    let t = tokens();
    card(ui, "In the file", |ui| {
        for excerpt in &lines.excerpt {
            let p = Palette::of(ui);
            let size = vec2(ui.available_width(), t.size.row_tree);
            let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
            response.widget_info(|| {
                let words = format!("Line {}: {}", excerpt.line, excerpt.text);
                WidgetInfo::labeled(Role::Label, true, words)
            });
            if excerpt.surplus.is_some() {
                ui.painter().rect_filled(rect, 0.0, p.bg_active);
            }
            let y = rect.center().y;
            let number = number::integer(excerpt.line);
            let galley = plain_line(ui, &number, Text::Number, p.text_secondary, NUMBER);
            paint::left_center(ui.painter(), rect.left() + t.space.x3, y, galley);
            let left = rect.left() + t.space.x3 + NUMBER;
            let room = rect.right() - t.space.x3 - left;
            let (head, tail) = excerpt
                .text
                .split_at(excerpt.surplus.unwrap_or(excerpt.text.len()));
            let galley = plain_line(ui, head, Text::Code, p.text_primary, room);
            let end = paint::left_center(ui.painter(), left, y, galley).right();
            if !tail.is_empty() && end < left + room {
                let galley = plain_line(ui, tail, Text::Code, p.bad, left + room - end);
                let wrong = paint::left_center(ui.painter(), end, y, galley);
                ui.painter()
                    .hline(wrong.x_range(), wrong.bottom(), Stroke::new(2.0, p.bad));
            }
        }
    });
}

/// Width of the numbers of lines.
const NUMBER: f32 = 64.0;

/// What can be done, one row each with its button, the best first.
pub fn quick_fixes_ui(ui: &mut Ui, lines: &RaggedLines, options: &ImportOptions, out: &mut Outbox) {
    let all = lines.num_longer + lines.num_shorter;
    let count = |n: usize| number::integer(n as u64);
    let plural = |n: usize| if n == 1 { "line" } else { "lines" };
    card(ui, "What should happen", |ui| {
        if lines.num_shorter == 0 {
            let what = format!(
                "{} {} keep everything; they are listed among the remarks.",
                count(lines.num_longer),
                plural(lines.num_longer)
            );
            row_ui(
                ui,
                "Join the extra parts into the last column",
                &what,
                |ui| {
                    join_ui(ui, options, true, out);
                },
            );
        }
        let title = format!("Skip the {} {}", count(all), plural(all));
        let what = format!(
            "{} rows stay. How many were left out is said among the remarks.",
            count(lines.num_rows)
        );
        row_ui(ui, &title, &what, |ui| {
            skip_ui(ui, options, lines.num_shorter > 0, out);
        });
        row_ui(
            ui,
            "Choose another delimiter",
            "The values may be separated by something else.",
            |ui| change_ui(ui, options, out),
        );
    });
}

/// Ways out for ragged lines as buttons in a line.
pub fn acts_ui(ui: &mut Ui, lines: &RaggedLines, options: &ImportOptions, out: &mut Outbox) {
    if lines.num_shorter == 0 {
        join_ui(ui, options, false, out);
    }
    skip_ui(ui, options, false, out);
    change_ui(ui, options, out);
}

fn join_ui(ui: &mut Ui, options: &ImportOptions, main: bool, out: &mut Outbox) {
    let text = "Read the file with the values that are too many joined into the last column";
    rule_ui(ui, ("Join", text), RaggedRows::Join, options, main, out);
}

fn skip_ui(ui: &mut Ui, options: &ImportOptions, main: bool, out: &mut Outbox) {
    let text = "Read the file without the lines of another length";
    rule_ui(ui, ("Skip", text), RaggedRows::Skip, options, main, out);
}

fn rule_ui(
    ui: &mut Ui,
    (word, text): (&str, &str),
    rule: RaggedRows,
    options: &ImportOptions,
    main: bool,
    out: &mut Outbox,
) {
    let button = if main {
        Button::new(word).primary()
    } else {
        Button::new(word)
    };
    if ui.add(button).on_hover_text(text).clicked() {
        out.send(DataCommand::ReadAgain(ImportOptions {
            ragged: Some(rule),
            ..options.clone()
        }));
    }
}

fn change_ui(ui: &mut Ui, options: &ImportOptions, out: &mut Outbox) {
    let button = ui.add(Button::new("Change"));
    menu::menu(&button, menu::NORMAL, |ui| {
        for (mark, word) in DELIMITERS {
            if menu::item(ui, word, "", options.delimiter == Some(mark)).clicked() {
                out.send(DataCommand::ReadAgain(ImportOptions {
                    delimiter: Some(mark),
                    ..options.clone()
                }));
            }
        }
    });
}

/// A card with a head.
fn card(ui: &mut Ui, title: &str, contents: impl FnOnce(&mut Ui)) {
    let t = tokens();
    let p = Palette::of(ui);
    list_card(ui, |ui| {
        let size = vec2(ui.available_width(), t.size.tab_strip);
        let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
        response.widget_info(|| WidgetInfo::labeled(Role::Heading, true, title));
        ui.painter()
            .rect_filled(rect.shrink(1.0), t.radius.card, p.bg_strip);
        let galley = plain_line(ui, title, Text::Label, p.text_primary, rect.width());
        let x = rect.left() + t.space.x3;
        paint::left_center(ui.painter(), x, rect.center().y, galley);
        contents(ui);
    });
}

/// Title and sentence at the left, a control at the right.
fn row_ui(ui: &mut Ui, title: &str, what: &str, control: impl FnOnce(&mut Ui)) {
    let t = tokens();
    let row = inset(ui, [t.space.x3, t.space.x2], |ui| {
        ui.horizontal(|ui| {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                control(ui);
                ui.with_layout(Layout::top_down(Align::Min), |ui| {
                    ui.spacing_mut().item_spacing.y = 2.0;
                    sentence_line(ui, title, Text::Body, false);
                    sentence(ui, what, Text::Caption);
                });
            });
        });
    });
    let rect = row.response.rect;
    let line = Rect::from_min_max(rect.left_top(), pos2(rect.right(), rect.top() + 1.0));
    paint::hair_below(ui, line);
}
