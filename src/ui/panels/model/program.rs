//! The model as text, with colours, and what is wrong with it marked where it stands.

use eframe::egui::text::{CCursor, CCursorRange, LayoutJob, TextFormat};
use eframe::egui::{
    Button, Color32, EventFilter, Id, Key, Modifiers, Role, Stroke, TextEdit, Ui, WidgetInfo,
};

use crate::app::{Command, DataState, Document, DraftChange, ModelCheck};
use crate::ui::outbox::Outbox;
use crate::ui::panels::page::severity_icon;
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::{self, hint};
use ergodic_base::reporter::Severity;
use ergodic_base::settings::Value;
use ergodic_core::design::Columns as _;
use ergodic_language::{Own, Program, ProgramError, Word, complete, highlight};

/// Lines that show at least.
const ROWS: usize = 14;
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
}

impl ProgramView {
    /// What is wrong with a text that is typed and not yet in the draft.
    pub(super) fn error(&self, data: &DataState) -> Option<ProgramError> {
        let is_typed = self.text != self.shown;
        is_typed.then(|| error_of(&self.text, data)).flatten()
    }
}

/// What is wrong with a text that the columns of the table can tell.
fn error_of(text: &str, data: &DataState) -> Option<ProgramError> {
    let read = Program::parse(text);
    read.and_then(|program| program.check_columns(&data.loaded.table))
        .err()
}

/// Draws the editor. The draft takes the text when the editor is left, and before anything runs or is saved.
pub fn program_ui(
    ui: &mut Ui,
    data: &DataState,
    document: &Document,
    check: Option<&ModelCheck>,
    view: &mut ProgramView,
    out: &mut Outbox,
) {
    let p = Palette::of(ui);
    let drafted = document.recipe.model.settings.text(Own::PROGRAM);
    let drafted = drafted.unwrap_or_default();
    if drafted != view.shown {
        drafted.clone_into(&mut view.shown);
        drafted.clone_into(&mut view.text);
    }
    let label = ui.label(Text::Label.rich("Model as text", p.text_primary));
    label.widget_info(|| WidgetInfo::labeled(Role::Heading, true, "Model as text"));
    let error = error_of(&view.text, data);
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
        let text = Value::Text(view.text.clone());
        let change = DraftChange::ModelSetting(Own::PROGRAM.to_owned(), Some(text));
        out.typed(Command::Draft(change), response.lost_focus());
    }
    ui.add_space(tokens().space.x1);
    let is_drafted = view.text == view.shown;
    let checked = check
        .filter(|_| is_drafted)
        .and_then(|check| check.error.clone());
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
            if let Some(check) = check {
                hint(ui, &check.response);
            }
        }
    }
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
