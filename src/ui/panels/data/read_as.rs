//! The strip that says how a file was read, and the menus that read it otherwise.

use eframe::egui::{Align, Frame, Layout, Margin, Panel, Response, Ui};

use crate::app::{DataCommand, DataState};
use crate::ui::outbox::Outbox;
use crate::ui::panels::menu;
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::{Button, Chip, Field, link};
use ergodic_data::{Guess, ImportOptions};

/// Height of the strip.
const STRIP_HEIGHT: f32 = 44.0;

const DELIMITERS: [char; 5] = [',', ';', '\t', '|', ' '];
const DECIMALS: [char; 2] = ['.', ','];
/// Encodings that files of our users have; others are read by the recipe.
const ENCODINGS: [&str; 5] = [
    "utf-8",
    "windows-1252",
    "utf-16le",
    "utf-16be",
    "windows-1251",
];

/// What is being typed.
#[derive(Default)]
pub struct ReadAsView {
    codes: Option<String>,
}

/// Draws the strip.
pub fn read_as_ui(ui: &mut Ui, data: &DataState, view: &mut ReadAsView, out: &mut Outbox) {
    let t = tokens();
    let p = Palette::of(ui);
    Panel::top("read-as")
        .exact_size(STRIP_HEIGHT)
        .frame(
            Frame::NONE
                .fill(p.bg_panel)
                .inner_margin(Margin::symmetric(t.space.x4 as i8, 0)),
        )
        .show(ui, |ui| {
            ui.horizontal_centered(|ui| {
                ui.label(Text::Label.rich("Read as", p.text_primary));
                ui.add_space(t.space.x2);
                if data.loaded.table.is_text() {
                    chips_ui(ui, data, view, out);
                } else {
                    let text = "The file itself states its types; nothing was guessed";
                    ui.label(Text::Number.rich(text, p.text_secondary));
                }
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    let changed = data.options != ImportOptions::default();
                    let reset = ui
                        .add_enabled_ui(changed, |ui| link(ui, "Reset guesses"))
                        .inner
                        .on_hover_text("Read the file again with everything guessed")
                        .on_disabled_hover_text("Everything is as it was guessed");
                    if reset.clicked() {
                        out.send(DataCommand::SetImport(ImportOptions::default()));
                    }
                });
            });
        });
}

fn chips_ui(ui: &mut Ui, data: &DataState, view: &mut ReadAsView, out: &mut Outbox) {
    let guesses = &data.loaded.guesses;
    let mut send = |change: &dyn Fn(&mut ImportOptions)| {
        let mut options = data.options.clone();
        change(&mut options);
        out.send(DataCommand::SetImport(options));
    };

    let now = guesses.delimiter.value;
    let chip = chip(ui, "Delimiter", &delimiter_word(now), &guesses.delimiter);
    menu::menu(&chip, menu::NORMAL, |ui| {
        guessed(ui, guesses.delimiter.given, || {
            send(&|options| options.delimiter = None);
        });
        for &mark in &DELIMITERS {
            if menu::item(ui, &delimiter_word(mark), "", now == mark).clicked() {
                send(&|options| options.delimiter = Some(mark));
            }
        }
    });

    let now = guesses.decimal.value;
    let chip = self::chip(ui, "Decimal mark", &decimal_word(now), &guesses.decimal);
    menu::menu(&chip, menu::NORMAL, |ui| {
        guessed(ui, guesses.decimal.given, || {
            send(&|options| options.decimal = None);
        });
        for &mark in &DECIMALS {
            if menu::item(ui, &decimal_word(mark), "", now == mark).clicked() {
                send(&|options| options.decimal = Some(mark));
            }
        }
    });

    let now = guesses.encoding.value.as_str();
    let chip = self::chip(ui, "Encoding", &now.to_uppercase(), &guesses.encoding);
    menu::menu(&chip, menu::NORMAL, |ui| {
        guessed(ui, guesses.encoding.given, || {
            send(&|options| options.encoding = None);
        });
        let other = (!ENCODINGS.iter().any(|name| name.eq_ignore_ascii_case(now))).then_some(now);
        for name in ENCODINGS.into_iter().chain(other) {
            let chosen = name.eq_ignore_ascii_case(now);
            if menu::item(ui, &name.to_uppercase(), "", chosen).clicked() {
                send(&|options| options.encoding = Some(name.to_owned()));
            }
        }
    });

    let now = guesses.header.value;
    let chip = self::chip(ui, "Header", header_word(now), &guesses.header);
    menu::menu(&chip, menu::NORMAL, |ui| {
        guessed(ui, guesses.header.given, || {
            send(&|options| options.header = None);
        });
        for header in [true, false] {
            if menu::item(ui, header_word(header), "", now == header).clicked() {
                send(&|options| options.header = Some(header));
            }
        }
    });

    missing_ui(ui, data, view, out);
}

/// The list of codes for "no value" cannot be chosen from a menu: it is typed.
fn missing_ui(ui: &mut Ui, data: &DataState, view: &mut ReadAsView, out: &mut Outbox) {
    let t = tokens();
    let guess = &data.loaded.guesses.missing;
    let codes = guess.value.join(", ");
    let word = if codes.is_empty() {
        "empty".to_owned()
    } else {
        format!("empty, {codes}")
    };
    let chip = chip(ui, "Missing", &word, guess);
    if chip.clicked() {
        view.codes = Some(codes);
    }
    let mut send = |missing: Option<Vec<String>>| {
        out.send(DataCommand::SetImport(ImportOptions {
            missing,
            ..data.options.clone()
        }));
    };
    menu::form(&chip, menu::WIDE, |ui| {
        let codes = view.codes.get_or_insert_default();
        eframe::egui::Frame::NONE
            .inner_margin(Margin::same(t.space.x2 as i8))
            .show(ui, |ui| {
                ui.spacing_mut().item_spacing.y = t.space.x2;
                let field = Field::new("Codes, with commas between", codes)
                    .hint("NA, n/a, -9")
                    .mono()
                    .width(ui.available_width() - 2.0)
                    .show(ui);
                let text = "Cells that are one of these, or empty, count as missing; \
                            the text stays as written";
                crate::ui::widgets::hint(ui, text);
                ui.horizontal(|ui| {
                    let read = ui.add(Button::new("Read again").small()).clicked();
                    let entered = field.response.lost_focus()
                        && ui.input(|input| input.key_pressed(eframe::egui::Key::Enter));
                    if read || entered {
                        send(Some(split_codes(codes)));
                        ui.close();
                    }
                    let guess_again = ui
                        .add_enabled(guess.given, Button::new("Guess").quiet().small())
                        .on_disabled_hover_text("The codes are as they were guessed");
                    if guess_again.clicked() {
                        send(None);
                        ui.close();
                    }
                });
            });
    });
}

/// The codes between commas, each once.
fn split_codes(text: &str) -> Vec<String> {
    let mut codes: Vec<String> = Vec::new();
    for code in text.split(',').map(str::trim) {
        if !code.is_empty() && !codes.iter().any(|known| known == code) {
            codes.push(code.to_owned());
        }
    }
    codes
}

fn chip<T>(ui: &mut Ui, name: &str, word: &str, guess: &Guess<T>) -> Response {
    let p = Palette::of(ui);
    ui.label(Text::Number.rich(name, p.text_secondary));
    let response = ui.add(Chip::choice(word).named(name));
    let reason = if guess.given {
        format!("{name}: {}", guess.reason)
    } else {
        format!("{name}: guessed, {}", guess.reason)
    };
    ui.add_space(tokens().space.x2);
    response.on_hover_text(reason)
}

fn guessed(ui: &mut Ui, given: bool, act: impl FnOnce()) {
    if menu::item(ui, "Guess", "", !given).clicked() && given {
        act();
    }
    menu::separator(ui);
}

fn delimiter_word(mark: char) -> String {
    match mark {
        ',' => "comma ,".to_owned(),
        ';' => "semicolon ;".to_owned(),
        '\t' => "tab".to_owned(),
        '|' => "bar |".to_owned(),
        ' ' => "space".to_owned(),
        other => other.to_string(),
    }
}

fn decimal_word(mark: char) -> String {
    match mark {
        '.' => "point .".to_owned(),
        _ => "comma ,".to_owned(),
    }
}

fn header_word(header: bool) -> &'static str {
    if header { "first row" } else { "none" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_split_trimmed_and_kept_once() {
        assert_eq!(split_codes(" NA, n/a ,,NA, -9"), ["NA", "n/a", "-9"]);
        assert!(split_codes(" , ").is_empty());
    }
}
