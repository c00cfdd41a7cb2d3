//! The model as text, with colours, and what is wrong with it marked where it stands.

use eframe::egui::text::{LayoutJob, TextFormat};
use eframe::egui::{Color32, Role, Stroke, TextEdit, Ui, WidgetInfo};

use crate::app::{Command, DataState, Document, ModelCheck};
use crate::ui::outbox::Outbox;
use crate::ui::panels::page::severity_icon;
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::{self, hint};
use ergodic_base::reporter::Severity;
use ergodic_base::settings::Value;
use ergodic_language::{Own, Program, ProgramError, Word, highlight};

/// Lines that show at least.
const ROWS: usize = 14;

/// What the editor keeps.
#[derive(Default)]
pub struct ProgramView {
    pub(super) text: String,
    /// The draft's text that `text` was last set from.
    shown: String,
}

/// What is wrong with a text that the columns of the table can tell.
fn error_of(text: &str, data: &DataState) -> Option<ProgramError> {
    let read = Program::parse(text);
    read.and_then(|program| program.check_columns(&data.loaded.table))
        .err()
}

/// Draws the editor. The draft takes the text when the editor is left.
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
    let response = ui.add(
        TextEdit::multiline(&mut view.text)
            .code_editor()
            .desired_rows(ROWS)
            .desired_width(f32::INFINITY)
            .layouter(&mut layout),
    );
    response
        .widget_info(|| WidgetInfo::labeled(Role::MultilineTextInput, true, "Text of the model"));
    if response.lost_focus() && view.text != view.shown {
        let text = Value::Text(view.text.clone());
        out.send(Command::SetModelSetting(
            Own::PROGRAM.to_owned(),
            Some(text),
        ));
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
            hint(ui, "The draft takes the text when the editor is left");
        }
        None => {
            if let Some(check) = check {
                hint(ui, &check.response);
            }
        }
    }
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
