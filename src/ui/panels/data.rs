//! The data page: how a file was read, what is in it, and what was remarked, before it is used.

use std::path::PathBuf;

use eframe::egui::{CentralPanel, Frame, Key, Margin, Panel, Ui};

use super::page::{loading_ui, page_head, problem_banner};
use crate::app::{AppState, Command, DataCommand, DataState, Page, PathCommand};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::theme::{Palette, tokens};
use crate::ui::widgets::{Button, empty_state, number};
use ergodic_core::design::Columns as _;
use ergodic_data::samples;

mod preview;
mod read_as;
mod remarks;

/// Width of the panel with the remarks.
const REMARKS_WIDTH: f32 = 264.0;

/// What the page keeps for itself.
#[derive(Default)]
pub struct DataView {
    read_as: read_as::ReadAsView,
    /// Size of the file at this path, asked of the system once.
    size: Option<(Option<PathBuf>, String, Option<u64>)>,
    /// A cell, row and column, that the preview is to bring into sight.
    go_to: Option<(usize, usize)>,
    /// Rows asked for elsewhere that were shown.
    asked: u64,
    /// The table whose Import button was given the keyboard.
    focused: Option<String>,
}

/// Draws the page.
pub fn data_ui(ui: &mut Ui, state: &AppState, view: &mut DataView, out: &mut Outbox) {
    let t = tokens();
    let p = Palette::of(ui);
    problem_banner(ui, state, out);
    if let Some(loading) = &state.loading {
        Panel::top("loading")
            .frame(
                Frame::NONE
                    .fill(p.bg_app)
                    .inner_margin(Margin::same(t.space.x3 as i8)),
            )
            .show(ui, |ui| loading_ui(ui, loading, out));
    }
    let Some(data) = &state.data else {
        CentralPanel::default()
            .frame(Frame::NONE.fill(p.bg_app))
            .show(ui, |ui| {
                let text = "The table and how it was read appear here once a file is open";
                if empty_state(ui, icons::TABLE, text, Some("Open data")) {
                    out.send(PathCommand::PickOpen);
                }
            });
        return;
    };
    if let Some((times, row)) = state.row_asked.filter(|(times, _)| *times != view.asked) {
        view.asked = times;
        view.go_to = Some((row, 0));
    }
    head_ui(ui, state, data, view, out);
    read_as::read_as_ui(ui, data, &mut view.read_as, out);
    Panel::right("remarks")
        .exact_size(REMARKS_WIDTH)
        .frame(
            Frame::NONE
                .fill(p.bg_panel)
                .inner_margin(Margin::same(t.space.x4 as i8)),
        )
        .show(ui, |ui| remarks::remarks_ui(ui, data, &mut view.go_to, out));
    CentralPanel::default()
        .frame(
            Frame::NONE
                .fill(p.bg_app)
                .inner_margin(Margin::same(t.space.x4 as i8)),
        )
        .show(ui, |ui| {
            preview::preview_ui(ui, data, view.go_to.take(), out);
        });
}

fn head_ui(ui: &mut Ui, state: &AppState, data: &DataState, view: &mut DataView, out: &mut Outbox) {
    let table = &data.loaded.table;
    let rows = number::integer(table.num_rows() as u64);
    let size = file_size(data, view)
        .map_or_else(String::new, |size| format!("{} · ", number::bytes(size)));
    let facts = format!(
        "{size}{rows} rows × {} columns · read in {} · every cell kept as written",
        table.columns().len(),
        read_time(data.read_secs)
    );
    let icon = if table.is_text() {
        icons::FILE_CSV
    } else {
        icons::TABLE
    };
    page_head(ui, icon, table.name(), &facts, |ui| {
        let import = format!("Import {rows} rows");
        let (word, why) = if state.document.is_some() {
            ("Continue to the model", "The table is in use")
        } else {
            (import.as_str(), "Use the table and go on to the model")
        };
        let wait = state.loading.is_some();
        let accept = ui
            .add_enabled(
                !wait,
                Button::new(word).primary().trailing(icons::ARROW_RIGHT),
            )
            .on_hover_text(why)
            .on_disabled_hover_text("Wait until the file is read, or cancel reading");
        // Enter imports a table that has just been read, unless something else has the keyboard.
        let is_new = view.focused.as_deref() != Some(table.fingerprint());
        let is_asked = state.asking.is_some() || state.typing.is_some();
        let is_free = !is_asked && ui.memory(|memory| memory.focused().is_none());
        if state.document.is_none() && !wait && is_new && is_free {
            accept.request_focus();
            view.focused = Some(table.fingerprint().to_owned());
        }
        let enter = is_free && ui.input(|input| input.key_pressed(Key::Enter));
        if accept.clicked() || (enter && !wait && state.document.is_none()) {
            out.send(if state.document.is_some() {
                Command::GoTo(Page::Model)
            } else {
                DataCommand::AcceptImport.into()
            });
        }
        let close = if state.document.is_some() {
            "Close data"
        } else {
            "Cancel"
        };
        if ui
            .add(Button::new(close).quiet())
            .on_hover_text("Close the table; the file and all runs stay")
            .clicked()
        {
            out.send(DataCommand::Close);
        }
    });
}

fn file_size(data: &DataState, view: &mut DataView) -> Option<u64> {
    let known = view
        .size
        .as_ref()
        .is_some_and(|(path, source, _)| *path == data.path && *source == data.source);
    if !known {
        let size = match &data.path {
            Some(path) => std::fs::metadata(path).ok().map(|about| about.len()),
            None => data
                .source
                .strip_prefix(samples::PREFIX)
                .and_then(samples::find)
                .map(|sample| sample.bytes.len() as u64),
        };
        view.size = Some((data.path.clone(), data.source.clone(), size));
    }
    view.size.as_ref().and_then(|(_, _, size)| *size)
}

/// Milliseconds below a second: reading is quick, and "0 s" would say nothing.
fn read_time(secs: f64) -> String {
    if secs < 1.0 {
        let ms = (secs * 1000.0).ceil().max(1.0);
        format!("{}{}ms", number::fixed(ms, 0), number::NARROW)
    } else {
        number::duration(secs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::Session;
    use crate::ui::testing::page_harness;
    use egui_kittest::kittest::Queryable as _;
    use ergodic_data::{ColumnKindOverride, ImportOptions};

    #[test]
    fn importing_goes_on_to_the_model() {
        let mut harness = page_harness(Session::with_sample("churn"), data_ui);
        harness.get_by_label_contains("Import ").click();
        harness.run();
        assert_eq!(harness.state().sent, [DataCommand::AcceptImport.into()]);
        assert_eq!(harness.state().session.state.page, Page::Model);
    }

    #[test]
    fn a_delimiter_chosen_from_the_menu_reads_the_file_again() {
        let folder = tempfile::tempdir().unwrap();
        let session = Session::with_file(&folder, "s.csv", "a;b\n1;2\n3;4\n");
        let mut harness = page_harness(session, data_ui);
        harness.get_by_label("Delimiter: semicolon ;").click();
        harness.run();
        harness.get_by_label("comma ,").click();
        harness.run();
        let wanted = ImportOptions {
            delimiter: Some(','),
            ..ImportOptions::default()
        };
        assert_eq!(
            harness.state().sent,
            [DataCommand::SetImport(wanted).into()]
        );
        let data = harness.state().session.state.data.as_ref().unwrap();
        assert_eq!(data.loaded.table.columns().len(), 1);
        harness.get_by_label("Reset guesses").click();
        harness.run();
        let data = harness.state().session.state.data.as_ref().unwrap();
        assert_eq!(data.loaded.table.columns().len(), 2);
    }

    #[test]
    fn a_column_is_read_as_categories_from_its_chip() {
        let folder = tempfile::tempdir().unwrap();
        let session = Session::with_file(&folder, "s.csv", "a,b\n1,2\n3,4\n5,6\n");
        let mut harness = page_harness(session, data_ui);
        harness.get_by_label("Kind of b: whole").click();
        harness.run();
        harness.get_by_label("Categories").click();
        harness.run();
        let Some(Command::Data(DataCommand::SetImport(options))) = harness.state().sent.first()
        else {
            panic!("{:?}", harness.state().sent);
        };
        assert_eq!(
            options.column_types.get("b"),
            Some(&ColumnKindOverride::Category)
        );
    }

    #[test]
    fn missing_codes_are_typed_with_commas() {
        let folder = tempfile::tempdir().unwrap();
        let session = Session::with_file(&folder, "s.csv", "a,b\n1,2\n-9,4\n5,6\n");
        let mut harness = page_harness(session, data_ui);
        harness.get_by_label_contains("Missing: ").click();
        harness.run();
        harness.get_by_label("Codes, with commas between").focus();
        harness.run();
        harness
            .get_by_label("Codes, with commas between")
            .type_text("-9, none");
        harness.run();
        harness.get_by_label("Read again").click();
        harness.run();
        let data = harness.state().session.state.data.as_ref().unwrap();
        assert_eq!(
            data.options.missing,
            Some(vec!["-9".to_owned(), "none".to_owned()])
        );
        assert_eq!(data.loaded.table.columns()[0].num_missing, 1);
    }

    #[test]
    fn without_data_the_page_says_what_appears_here() {
        let mut harness = page_harness(Session::default(), data_ui);
        harness.get_by_label("Open data").click();
        harness.run();
        assert_eq!(harness.state().sent, [PathCommand::PickOpen.into()]);
    }

    #[test]
    fn enter_imports_because_the_button_has_the_keyboard() {
        let mut harness = page_harness(Session::with_sample("churn"), data_ui);
        harness.run();
        harness.key_press(Key::Enter);
        harness.run();
        assert_eq!(harness.state().sent, [DataCommand::AcceptImport.into()]);
    }

    #[test]
    fn enter_is_not_for_the_table_while_a_question_is_asked() {
        let mut session = Session::with_sample("churn");
        session.state.asking = Some(crate::app::project::Then::New);
        let mut harness = page_harness(session, data_ui);
        harness.run();
        harness.key_press(Key::Enter);
        harness.run();
        assert_eq!(harness.state().sent, []);
    }

    #[test]
    fn remarks_have_buttons_that_do_what_they_say() {
        let folder = tempfile::tempdir().unwrap();
        let mut text = "a,b\n".to_owned();
        for i in 0..200 {
            let b = if i == 150 {
                "NA".to_owned()
            } else {
                i.to_string()
            };
            text.push_str(&format!("0{i},{b}\n"));
        }
        let session = Session::with_file(&folder, "s.csv", &text);
        let mut harness = page_harness(session, data_ui);
        harness.run();
        harness.get_by_label("Go to row").click();
        harness.run_steps(8);
        harness.get_by_label("NA");
        harness.get_by_label("Read as numbers").click();
        harness.run();
        let Some(Command::Data(DataCommand::SetImport(options))) = harness.state().sent.last()
        else {
            panic!("{:?}", harness.state().sent);
        };
        assert_eq!(options.column_types["a"], ColumnKindOverride::Number);
        harness.get_by_label("Keep as text").click();
        harness.run();
        let Some(Command::Data(DataCommand::SetImport(options))) = harness.state().sent.last()
        else {
            panic!("{:?}", harness.state().sent);
        };
        assert_eq!(options.missing.as_deref(), Some(&[][..]));
    }

    #[test]
    fn a_ragged_file_is_joined_or_skipped_from_where_it_was_refused() {
        let folder = tempfile::tempdir().unwrap();
        let text = "a;b;note\n1;2;fine\n3;4;asked; then left; angry\n5;6;\n";
        for (word, rows, last) in [("Join", 3, "asked; then left; angry"), ("Skip", 2, "")] {
            let session = Session::with_file(&folder, "s.csv", text);
            let mut harness = page_harness(session, data_ui);
            harness.get_by_label_contains("Line 3 has 5 values, the header has 3");
            harness.get_by_label(word).click();
            harness.run();
            assert!(matches!(
                harness.state().sent[..],
                [Command::Data(DataCommand::ReadAgain(_))]
            ));
            let data = harness.state().session.state.data.as_ref().unwrap();
            assert_eq!(data.loaded.table.num_rows(), rows);
            assert_eq!(data.loaded.table.cell_text(1, 2), last);
            // How it was read stays with the draft, and is said.
            harness.get_by_label_contains("the first is line 3");
            harness.state_mut().session.send(DataCommand::AcceptImport);
            let document = harness.state().session.state.document.as_ref().unwrap();
            assert!(document.recipe.data.import.ragged.is_some());
        }
    }

    #[test]
    fn a_problem_shows_above_the_table_that_stays() {
        let mut session = Session::with_sample("churn");
        session.send(DataCommand::Open("/no/such/file.csv".into()));
        let harness = page_harness(session, data_ui);
        harness.get_by_label_contains("The data file does not exist");
        harness.get_by_label("churn.csv");
    }
}
