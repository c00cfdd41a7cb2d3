//! What is to be known before a table is used: what was converted, what is missing, what is left aside, each with what can
//! be done about it.

use eframe::egui::{Frame, Margin, Panel, ScrollArea, Ui};

use crate::app::{DataCommand, DataState};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::panels::page::remark;
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::{Button, heading, hint, number, sentence};
use ergodic_base::{Severity, Warning};
use ergodic_core::design::{ColumnKind, Columns as _};
use ergodic_data::{ColumnKindOverride, ImportOptions, ProfileKind, Remark};

/// Bytes of the fingerprint shown, as hexadecimal digits.
const FINGERPRINT_DIGITS: usize = 16;
/// Columns that are named; of more the number is said.
const NAMED: usize = 4;

/// Shows the panel; `go_to` gets the cell that somebody asks for.
pub fn remarks_ui(
    ui: &mut Ui,
    data: &DataState,
    go_to: &mut Option<(usize, usize)>,
    out: &mut Outbox,
) {
    let t = tokens();
    Panel::bottom("fingerprint")
        .show_separator_line(false)
        // Apart from the remarks that scroll above it.
        .frame(Frame::NONE.inner_margin(Margin {
            top: t.space.x2 as i8,
            ..Margin::ZERO
        }))
        .show(ui, |ui| fingerprint_ui(ui, data));
    ScrollArea::vertical()
        .auto_shrink([false, false])
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = t.space.x3;
            heading(ui, "Before you import");
            let warnings = &data.loaded.reporter.warnings;
            let worst = warnings.iter().position(|w| w.severity != Severity::Info);
            for (i, warning) in warnings.iter().enumerate() {
                if i > 0 {
                    ui.separator();
                }
                // The first that may change a result stands out.
                let fill = match worst == Some(i) {
                    true => Palette::of(ui).watch_soft,
                    false => eframe::egui::Color32::TRANSPARENT,
                };
                let inset = if worst == Some(i) { t.space.x2 } else { 0.0 };
                Frame::NONE
                    .fill(fill)
                    .corner_radius(t.radius.control)
                    .inner_margin(Margin::same(inset as i8))
                    .show(ui, |ui| {
                        ui.spacing_mut().item_spacing.y = t.space.x2;
                        remark(ui, warning);
                        acts_ui(ui, data, warning, out);
                    });
            }
            let missing = missing_ui(ui, data, !warnings.is_empty(), go_to, out);
            if warnings.is_empty() && !missing {
                sentence(
                    ui,
                    "Nothing was renamed, converted or treated as missing",
                    Text::Body,
                );
            }
            identifiers_ui(ui, data);
        });
}

/// What can be done about a remark, as buttons.
fn acts_ui(ui: &mut Ui, data: &DataState, warning: &Warning, out: &mut Outbox) {
    let Some((word, options)) = act(data, warning) else {
        return;
    };
    if ui.add(Button::new(&word).small()).clicked() {
        out.send(DataCommand::SetImport(options));
    }
}

/// The word of the button for a remark, and how it reads the file again.
fn act(data: &DataState, warning: &Warning) -> Option<(String, ImportOptions)> {
    let mut options = data.options.clone();
    let mut kind = |column: &str, kind: ColumnKindOverride, word: &str| {
        let now = options.column_types.insert(column.to_owned(), kind);
        (now != Some(kind)).then(|| word.to_owned())
    };
    let is_number = |name: &str| {
        let mut columns = data.loaded.table.columns().iter();
        columns.any(|column| column.kind == ColumnKind::Number && column.name == name)
    };
    let word = match warning.remark::<Remark>()? {
        Remark::NearlyNumeric { column, .. }
        | Remark::LargeIntegers { column, .. }
        | Remark::Rounded { column, .. }
        | Remark::LeadingZeros { column, .. }
        | Remark::TypedLargeIntegers { column }
        | Remark::Infinite { column, .. }
        | Remark::TypedInfinite { column, .. }
        | Remark::Overflow { column, .. }
        | Remark::Texts { column, .. } => {
            if is_number(column) {
                kind(column, ColumnKindOverride::Category, "Read as categories")?
            } else {
                kind(column, ColumnKindOverride::Number, "Read as numbers")?
            }
        }
        Remark::DecimalComma { .. } => {
            options.decimal = Some('.');
            "Read the comma as thousands".to_owned()
        }
        Remark::MaybeMissing { code, .. } => {
            let codes = options
                .missing
                .get_or_insert_with(|| data.loaded.guesses.missing.value.clone());
            codes.push(code.clone());
            format!("Treat {code} as missing")
        }
        Remark::Encoding { .. }
        | Remark::NoHeader { .. }
        | Remark::EmptyName { .. }
        | Remark::DuplicateName { .. }
        | Remark::Joined { .. }
        | Remark::Skipped { .. }
        | Remark::Blanks { .. }
        | Remark::Unsupported { .. }
        | Remark::NoValues { .. }
        | Remark::TypedNan { .. } => return None,
    };
    Some((word, options))
}

/// Cells that count as missing because of their text; whether there are any.
fn missing_ui(
    ui: &mut Ui,
    data: &DataState,
    below: bool,
    go_to: &mut Option<(usize, usize)>,
    out: &mut Outbox,
) -> bool {
    let table = &data.loaded.table;
    let columns: Vec<usize> = (0..table.columns().len())
        .filter(|&col| table.columns()[col].num_missing > 0)
        .collect();
    let Some(&first) = columns.first() else {
        return false;
    };
    if below {
        ui.separator();
    }
    let count: usize = columns
        .iter()
        .map(|&col| table.columns()[col].num_missing)
        .sum();
    let codes = &data.loaded.guesses.missing.value;
    let named: Vec<String> = codes.iter().map(|code| format!("`{code}`")).collect();
    let read = match named.as_slice() {
        [] => "empty".to_owned(),
        named => format!("empty or {}", named.join(", ")),
    };
    let one = count == 1;
    let head = format!(
        "{} {} {read}",
        number::integer(count as u64),
        if one { "cell is" } else { "cells are" }
    );
    sentence(ui, &head, Text::Body);
    let names: Vec<String> = columns
        .iter()
        .take(NAMED)
        .map(|&col| format!("`{}`", table.columns()[col].name))
        .collect();
    let more = columns.len().saturating_sub(NAMED);
    let more = if more > 0 {
        format!(" and {more} more columns")
    } else {
        String::new()
    };
    hint(
        ui,
        &format!(
            "In {}{more}. Treated as missing: models that use the column leave these rows out",
            names.join(", ")
        ),
    );
    ui.horizontal_wrapped(|ui| {
        if !codes.is_empty() {
            let keep = ui
                .add(Button::new("Keep as text").small())
                .on_hover_text("Read these words as values; only empty cells are missing then");
            if keep.clicked() {
                out.send(DataCommand::SetImport(ImportOptions {
                    missing: Some(Vec::new()),
                    ..data.options.clone()
                }));
            }
        }
        let word = if one { "Go to row" } else { "Go to rows" };
        if ui
            .add(Button::new(word).icon(icons::ARROW_RIGHT).small())
            .on_hover_text("Show the first of them")
            .clicked()
        {
            let row = (0..table.num_rows()).find(|&row| table.is_missing(row, first));
            *go_to = row.map(|row| (row, first));
        }
    });
    true
}

/// Columns that differ in every row cannot explain anything: said before someone wonders where they are.
fn identifiers_ui(ui: &mut Ui, data: &DataState) {
    let Some(profiles) = &data.profiles else {
        ui.separator();
        hint(ui, "Profiling columns…");
        return;
    };
    let names: Vec<String> = profiles
        .iter()
        .filter(|profile| profile.kind == ProfileKind::Identifier)
        .map(|profile| format!("`{}`", profile.name))
        .collect();
    if names.is_empty() {
        return;
    }
    ui.separator();
    let (verb, stay) = if names.len() == 1 {
        ("differs", "It stays")
    } else {
        ("differ", "They stay")
    };
    sentence(
        ui,
        &format!("{} {verb} in every row", names.join(", ")),
        Text::Body,
    );
    hint(
        ui,
        &format!("{stay} in the table and out of the first model"),
    );
}

fn fingerprint_ui(ui: &mut Ui, data: &DataState) {
    let p = Palette::of(ui);
    let full = data.loaded.table.fingerprint();
    hint(ui, "Fingerprint");
    let digits: Vec<char> = full.chars().take(FINGERPRINT_DIGITS).collect();
    let text: Vec<String> = digits.chunks(4).map(|four| four.iter().collect()).collect();
    ui.horizontal(|ui| {
        ui.label(Text::Code.rich(text.join(" "), p.text_primary))
            .on_hover_text(format!("SHA-256 of the file: {full}"));
        let copy = Button::icon_only(icons::COPY, "Copy the whole fingerprint").small();
        if ui.add(copy).clicked() {
            ui.ctx().copy_text(full.to_owned());
        }
    });
}
