//! The model as text, with colours, and what is wrong with it marked where it stands.

use std::sync::{Arc, Weak};

use eframe::egui::text::{CCursor, CCursorRange, LayoutJob, TextFormat};
use eframe::egui::{
    Align, Button, Color32, EventFilter, Id, Key, Layout, Modifiers, Role, Stroke, TextEdit, Ui,
    WidgetInfo,
};

use super::gallery::gallery_ui;
use super::translation::framed;
use crate::app::{DataState, Document, DraftChange, ModelCheck};
use crate::ui::outbox::Outbox;
use crate::ui::panels::page::severity_icon;
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::{self, hint};
use ergodic_base::Severity;
use ergodic_base::settings::Value;
use ergodic_base::shown::capitalised;
use ergodic_core::design::Columns as _;
use ergodic_data::Loaded;
use ergodic_language::{KnownColumns, Own, Program, ProgramError, Word, complete, highlight};

/// Lines that show at least.
const ROWS: usize = 14;
/// Rows of which categories are read while one types: each column that is new takes a pass over them, some ten milliseconds.
const MOST_ROWS: usize = 1_000_000;
/// Ways on from a word that are offered.
const WAYS: usize = 10;

/// What the editor keeps.
#[derive(Default)]
pub struct ProgramView {
    pub(super) text: String,
    /// The draft's text that `text` was last set from.
    shown: String,
    /// Characters before the cursor.
    cursor: usize,
    /// Whether the pointer is at a way on, for which the editor gives up the keyboard.
    is_completing: bool,
    checked: Checked,
}

impl ProgramView {
    /// What is wrong with a text that is typed and not yet in the draft.
    pub(super) fn error(&mut self, data: &DataState, document: &Document) -> Option<ProgramError> {
        let is_typed = self.text != self.shown;
        let error = is_typed.then(|| self.checked.error(&self.text, data, document));
        error.flatten()
    }
}

/// The text that was checked last and what is wrong with it, for there is a frame many times a second.
#[derive(Default)]
struct Checked {
    /// The table that it was checked against.
    table: Weak<Loaded>,
    known: KnownColumns,
    last: Option<(String, bool, Option<ProgramError>)>,
    /// The last text without errors in the notation of papers, which stays while the next one is typed.
    equation: String,
}

impl Checked {
    /// What is wrong with a text, as far as kinds and categories of the columns of the table can tell.
    fn error(&mut self, text: &str, data: &DataState, document: &Document) -> Option<ProgramError> {
        let table = Arc::downgrade(&data.loaded);
        if !self.table.ptr_eq(&table) {
            *self = Self {
                table,
                ..Self::default()
            };
        }
        let model = &document.recipe.model;
        // Elsewhere the rows of the model may have other categories than those of the table, or reading these would be felt.
        let has_all = model.hold_out.is_none()
            && model.top_levels.is_empty()
            && data.loaded.table.num_rows() <= MOST_ROWS;
        if let Some((checked, had_all, error)) = &self.last
            && checked == text
            && *had_all == has_all
        {
            return error.clone();
        }
        let read = Program::parse(text);
        let checked = read.and_then(|program| {
            match has_all {
                true => program.check(&data.loaded.table, &mut self.known)?,
                false => program.check_columns(&data.loaded.table)?,
            }
            Ok(program.equation(None))
        });
        let error = match checked {
            Ok(equation) => {
                self.equation = equation;
                None
            }
            Err(error) => Some(error),
        };
        self.last = Some((text.to_owned(), has_all, error.clone()));
        error
    }
}

/// Draws the editor, in its first line `beside` at the right. The draft takes the text when the editor is left, and before anything runs
/// or is saved. Returns whether the text is that of the draft and nothing is wrong with it as far as the editor can tell.
pub fn program_ui(
    ui: &mut Ui,
    data: &DataState,
    document: &Document,
    check: Option<&ModelCheck>,
    view: &mut ProgramView,
    out: &mut Outbox,
    beside: impl FnOnce(&mut Ui, &mut Outbox),
) -> bool {
    let p = Palette::of(ui);
    let drafted = document.recipe.model.settings.text(Own::PROGRAM);
    let drafted = drafted.unwrap_or_default();
    if drafted != view.shown {
        drafted.clone_into(&mut view.shown);
        drafted.clone_into(&mut view.text);
    }
    let example = ui.horizontal(|ui| {
        let label = ui.label(Text::Label.rich("Model as text", p.text_primary));
        label.widget_info(|| WidgetInfo::labeled(Role::Heading, true, "Model as text"));
        let example = gallery_ui(ui, data);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| beside(ui, out));
        example
    });
    if let Some(example) = example.inner {
        // What was typed was drafted when the menu took the keyboard, or is drafted now, so that it can be brought back.
        if view.text != view.shown {
            out.send(change_of(&view.text));
        }
        example.clone_into(&mut view.text);
        out.send(change_of(example));
    }
    let error = view.checked.error(&view.text, data, document);
    let mut layout = |ui: &Ui, text: &dyn eframe::egui::TextBuffer, width: f32| {
        let mut job = colored(text.as_str(), error.as_ref(), p);
        job.wrap.max_width = width;
        ui.fonts_mut(|fonts| fonts.layout_job(job))
    };
    let editor = TextEdit::multiline(&mut view.text)
        .code_editor()
        // Tab leads on to the next control, as everywhere; where words are offered it takes the first.
        .lock_focus(false)
        .desired_rows(ROWS)
        .desired_width(f32::INFINITY)
        .layouter(&mut layout)
        .show(ui);
    let response = editor.response.response;
    if let Some(cursor) = editor.cursor_range.filter(|_| response.has_focus()) {
        view.cursor = cursor.primary.index.0;
    }
    let is_open = response.has_focus() || view.is_completing;
    view.is_completing = false;
    if is_open {
        complete_ui(ui, data, response.id, view);
    }
    response
        .widget_info(|| WidgetInfo::labeled(Role::MultilineTextInput, true, "Text of the model"));
    if view.text != view.shown {
        out.typed(change_of(&view.text), response.lost_focus());
    }
    ui.add_space(tokens().space.x1);
    let is_drafted = view.text == view.shown;
    let checked = check
        .filter(|_| is_drafted)
        .and_then(|check| check.error.clone());
    let is_sound = is_drafted && error.is_none();
    match error.map(|error| error.to_string()).or(checked) {
        Some(sentence) => {
            ui.horizontal_top(|ui| {
                severity_icon(ui, Severity::Bad);
                widgets::sentence(ui, &sentence, Text::Body);
            });
        }
        None if !is_drafted => {
            hint(
                ui,
                "The draft takes the text when the editor is left, and before a run or a save",
            );
        }
        None => {
            if let Some(check) = check.filter(|_| !document.recipe.is_without_data()) {
                hint(ui, &capitalised(&check.response));
            }
        }
    }
    if !view.checked.equation.is_empty() {
        ui.add_space(tokens().space.x1);
        let label = ui.label(Text::Label.rich("Equation", p.text_primary));
        label.widget_info(|| WidgetInfo::labeled(Role::Heading, true, "Equation of the text"));
        framed(ui, &view.checked.equation, Text::CodeSmall);
    }
    is_sound
}

/// What gives the draft a text.
fn change_of(text: &str) -> DraftChange {
    let text = Value::Text(text.to_owned());
    DraftChange::ModelSetting(Own::PROGRAM.to_owned(), Some(text))
}

/// Whether the first of the words that are offered is taken by Tab, which leads out of the editor while there are none.
fn takes_first(ui: &Ui, editor: Id) -> bool {
    let is_back = ui.input(|input| input.modifiers.shift);
    if is_back || !ui.memory(|memory| memory.has_focus(editor)) {
        return false;
    }
    let filter = EventFilter {
        tab: true,
        horizontal_arrows: true,
        vertical_arrows: true,
        escape: false,
    };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(editor, filter));
    ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Tab))
}

/// Ways on from the word before the cursor: one that is chosen takes its place.
fn complete_ui(ui: &mut Ui, data: &DataState, editor: Id, view: &mut ProgramView) {
    let byte = |text: &str, cursor: usize| {
        let found = text.char_indices().nth(cursor);
        found.map_or(text.len(), |(at, _)| at)
    };
    let columns: Vec<&str> = data.loaded.table.names().collect();
    let at = byte(&view.text, view.cursor);
    let Some(found) = complete(&view.text, at, &columns) else {
        return;
    };
    let takes_first = takes_first(ui, editor);
    ui.horizontal_wrapped(|ui| {
        let p = Palette::of(ui);
        for (k, word) in found.words.iter().take(WAYS).enumerate() {
            let button = Button::new(Text::Code.rich(word, p.link)).frame(false);
            let button = ui.add(button);
            // The editor has lost the keyboard by the time a button is released.
            view.is_completing |= button.is_pointer_button_down_on() || button.hovered();
            if button.clicked() || (takes_first && k == 0) {
                view.text.replace_range(found.range.clone(), word);
                let end = view.text[..found.range.start + word.len()].chars().count();
                view.cursor = end;
                let mut state = TextEdit::load_state(ui.ctx(), editor).unwrap_or_default();
                let cursor = CCursorRange::one(CCursor::new(end));
                state.cursor.set_char_range(Some(cursor));
                TextEdit::store_state(ui.ctx(), editor, state);
                ui.memory_mut(|memory| memory.request_focus(editor));
            }
        }
        ui.label(Text::Caption.rich("Tab takes the first", p.text_secondary));
    });
}

/// The text with colours; what is wrong is underlined.
fn colored(text: &str, error: Option<&ProgramError>, p: &Palette) -> LayoutJob {
    let mark = error.map(|error| error.bytes_in(text)).unwrap_or_default();
    let mut job = LayoutJob::default();
    for (span, word) in highlight(text) {
        let color: Color32 = match word {
            Word::Section => p.accent,
            Word::Function => p.link,
            Word::Number | Word::Text => p.posterior,
            Word::Comment => p.text_secondary,
            Word::Other => p.text_primary,
        };
        // A piece comes apart where the mark begins or ends.
        let cuts = [span.start, mark.start, mark.end, span.end];
        let mut cuts = cuts.map(|at| at.clamp(span.start, span.end));
        cuts.sort_unstable();
        for ends in cuts.windows(2).filter(|ends| ends[0] < ends[1]) {
            let is_wrong = mark.start <= ends[0] && ends[1] <= mark.end;
            job.append(
                &text[ends[0]..ends[1]],
                0.0,
                TextFormat {
                    font_id: Text::Code.font(),
                    color,
                    underline: if is_wrong {
                        Stroke::new(1.5, p.bad)
                    } else {
                        Stroke::NONE
                    },
                    ..TextFormat::default()
                },
            );
        }
    }
    job
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::Session;

    /// The pieces of a text that are underlined, and those of one colour.
    fn pieces(text: &str, error: Option<&ProgramError>, color: Color32) -> [Vec<String>; 2] {
        let job = colored(text, error, Palette::light());
        assert_eq!(job.text, text);
        let of = |is: &dyn Fn(&TextFormat) -> bool| -> Vec<String> {
            let sections = job.sections.iter().filter(|it| is(&it.format));
            sections
                .map(|it| job.text[it.byte_range.start.0..it.byte_range.end.0].to_owned())
                .collect()
        };
        let p = Palette::light();
        [
            of(&|format| format.underline.color == p.bad),
            of(&|format| format.color == color),
        ]
    }

    #[test]
    fn what_is_wrong_is_underlined_as_one_types_and_the_rest_keeps_its_colours() {
        let session = Session::with_draft("churn");
        let data = session.state.data.as_ref().unwrap();
        let document = session.state.document.as_ref().unwrap();
        let mut checked = Checked::default();
        let section = Palette::light().accent;
        for (rows, meant) in [
            ("age ~ normal(a, 1)", None),
            ("age ~ norml(a, 1)", Some("norml")),
            ("age ~ normal(sqr(a), 1)", Some("sqr")),
            ("age ~ normal(a, 1, 2)", Some("normal(a, 1, 2)")),
            ("age ~ normal(w, 1)", Some("w")),
            ("agee ~ normal(a, 1)", Some("agee")),
            ("age ~ normal(a $ 1, 1)", Some("$")),
            (
                "(region == \"nowhere\") ~ bernoulli_logit(a)",
                Some("\"nowhere\""),
            ),
        ] {
            let text = format!(
                "parameters\n  a ~ normal(0, 10)\n  w: vector(3) ~ normal(0, 1)\nrows\n  {rows}\nreport\n  b = a\n"
            );
            // Twice, for the second time it is remembered.
            for _ in 0..2 {
                let error = checked.error(&text, data, document);
                let [underlined, sections] = pieces(&text, error.as_ref(), section);
                assert_eq!(underlined.concat(), meant.unwrap_or_default(), "{rows}");
                for word in ["parameters", "rows", "report"] {
                    assert!(sections.iter().any(|it| it == word), "{rows}: {word}");
                }
            }
        }
    }
}
