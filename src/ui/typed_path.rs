//! Typing a path in the window: for systems without file dialogs, and for those who would rather type.

use std::path::{Path, PathBuf};

use eframe::egui::{Id, Key, Modal, Ui};

use super::icons;
use super::outbox::Outbox;
use super::panels::start::clean_path;
use super::theme::{Text, tokens};
use super::widgets::{Button, Field, dialog_frame, heading, sentence};
use crate::app::project::file_of;
use crate::app::state::Typing;
use crate::app::{AppState, PathCommand, Pick, Product};

/// Width of the question.
const WIDTH: f32 = 560.0;

/// What the question keeps.
#[derive(Debug, Default)]
pub struct TypedPathView {
    /// What the text was proposed for.
    purpose: Option<Pick>,
    text: String,
    /// Why the text cannot be used, or a path that exists and is replaced by a second Enter.
    refusal: Option<Refusal>,
}

#[derive(Debug)]
enum Refusal {
    /// Nothing is there to open.
    Missing(PathBuf),
    /// Something is there already.
    Exists(PathBuf),
}

impl Refusal {
    fn words(&self) -> &'static str {
        match self {
            Self::Missing(_) => "There is no such file or folder; correct the path",
            Self::Exists(_) => "A file of that name is there; press Enter again to replace it",
        }
    }

    fn path(&self) -> &Path {
        match self {
            Self::Missing(path) | Self::Exists(path) => path,
        }
    }
}

fn title(purpose: &Pick) -> String {
    match purpose {
        Pick::Open => "Open a file or folder".to_owned(),
        Pick::Save(product @ (Product::Picture(..) | Product::DraftPicture(_)), _) => format!(
            "{}: .svg, .png, or .csv for a table of what is drawn",
            product.title()
        ),
        Pick::Save(product, _) => product.title().to_owned(),
    }
}

/// Shows the question while it is asked.
pub fn typed_path_ui(ui: &Ui, state: &AppState, view: &mut TypedPathView, out: &mut Outbox) {
    let Some(typing) = &state.typing else {
        view.purpose = None;
        return;
    };
    if view.purpose.as_ref() != Some(&typing.purpose) {
        *view = TypedPathView {
            purpose: Some(typing.purpose.clone()),
            text: proposed(typing),
            refusal: None,
        };
    }
    let t = tokens();
    let shown = Modal::new(Id::unique("typed path"))
        .frame(dialog_frame(ui))
        .show(ui.ctx(), |ui| {
            ui.set_width(WIDTH);
            ui.spacing_mut().item_spacing.y = t.space.x2;
            heading(ui, &title(&typing.purpose));
            if typing.no_dialog {
                let text = "This system has no file dialog: type the path here.";
                sentence(ui, text, Text::Body);
            }
            let path = named(&view.text, typing);
            let refused = view
                .refusal
                .as_ref()
                .filter(|it| path.as_deref() == Some(it.path()));
            let replaces = matches!(refused, Some(Refusal::Exists(_)));
            let words = refused.map(Refusal::words);
            // Before the field, which gives its focus away with Enter.
            let entered = ui.input(|input| input.key_pressed(Key::Enter));
            let field = Field::new("Path", &mut view.text).mono().error(words);
            field.focused().show(ui);
            // With what was typed in this frame.
            let path = named(&view.text, typing);
            ui.add_space(t.space.x1);
            ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = t.space.x2;
                let accept = match (&typing.purpose, replaces) {
                    (Pick::Open, _) => Button::new("Open").primary().icon(icons::FOLDER_OPEN),
                    (_, true) => Button::new("Replace").danger(),
                    (Pick::Save(Product::Project | Product::Recipe, _), _) => {
                        Button::new("Save").primary().icon(icons::FLOPPY_DISK)
                    }
                    _ => Button::new("Export").primary().icon(icons::EXPORT),
                };
                let accept = ui
                    .add_enabled(path.is_some(), accept)
                    .on_disabled_hover_text("Type a path first");
                if (entered || accept.clicked())
                    && let Some(path) = path
                {
                    use_path(path, &typing.purpose, view, out);
                }
                if ui.add(Button::new("Cancel")).clicked() {
                    out.send(PathCommand::Cancel);
                }
            });
        });
    if shown.should_close() {
        out.send(PathCommand::Cancel);
    }
}

/// The path that a text names, if it names one. A whole path that was pasted behind the proposed one takes its place, unless both
/// together are there: two separators are one.
fn named(text: &str, typing: &Typing) -> Option<PathBuf> {
    let pasted = text.strip_prefix(&proposed(typing)).filter(|rest| {
        let rest = rest.trim().trim_start_matches(['"', '\'']);
        Path::new(rest).is_absolute() || ["~/", "file://"].iter().any(|it| rest.starts_with(it))
    });
    let pasted = pasted.filter(|_| !Path::new(text.trim()).exists());
    let path = clean_path(pasted.unwrap_or(text))?;
    let path = std::path::absolute(&path).unwrap_or(path);
    Some(match typing.purpose {
        Pick::Save(Product::Project, _) => file_of(&path),
        _ => path,
    })
}

/// The proposed path; of a folder with the separator, so that a name can be typed at once.
fn proposed(typing: &Typing) -> String {
    let text = typing.proposed.display().to_string();
    let is_folder = typing.purpose == Pick::Open && !text.ends_with(std::path::MAIN_SEPARATOR);
    if is_folder {
        text + std::path::MAIN_SEPARATOR_STR
    } else {
        text
    }
}

/// Sends the path, unless there is nothing to open or something that would be replaced and nobody was asked.
fn use_path(path: PathBuf, purpose: &Pick, view: &mut TypedPathView, out: &mut Outbox) {
    let asked = matches!(&view.refusal, Some(Refusal::Exists(known)) if *known == path);
    view.refusal = match purpose {
        Pick::Open if !path.exists() => Some(Refusal::Missing(path)),
        Pick::Open => {
            out.send(PathCommand::Typed(path));
            None
        }
        _ if path.is_file() && !asked => Some(Refusal::Exists(path)),
        _ => {
            out.send(PathCommand::Typed(path));
            None
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::Session;
    use crate::ui::testing::{Shown, page_harness};
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable as _;

    fn typing(asked: PathCommand) -> Harness<'static, Shown<TypedPathView>> {
        let mut session = Session::with_draft("churn");
        session.send(asked);
        page_harness(session, |ui, state, view: &mut TypedPathView, out| {
            typed_path_ui(ui, state, view, out);
        })
    }

    #[test]
    fn enter_opens_what_was_typed_and_says_what_is_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        let mut harness = typing(PathCommand::TypeOpen);
        harness.run_steps(3);
        harness.state_mut().view.text = path.display().to_string();
        harness.key_press(Key::Enter);
        harness.run_steps(3);
        harness.get_by_label("There is no such file or folder; correct the path");
        assert!(harness.state().session.state.typing.is_some());
        std::fs::write(&path, "y,x\n0,1\n1,2\n").unwrap();
        harness.key_press(Key::Enter);
        harness.run_steps(3);
        assert!(harness.state().has_sent(PathCommand::Typed(path)));
        assert_eq!(harness.state().session.state.typing, None);
    }

    #[test]
    fn a_whole_path_behind_the_proposed_one_takes_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        std::fs::write(&path, "y,x\n0,1\n1,2\n").unwrap();
        let mut harness = typing(PathCommand::TypeOpen);
        harness.run_steps(3);
        let text = &mut harness.state_mut().view.text;
        text.push_str(&format!("\"{}\"", path.display()));
        harness.key_press(Key::Enter);
        harness.run_steps(3);
        assert!(harness.state().has_sent(PathCommand::Typed(path)));
    }

    #[test]
    fn two_separators_behind_the_proposed_folder_are_one() {
        let mut harness = typing(PathCommand::TypeOpen);
        harness.run_steps(3);
        let folder = harness
            .state()
            .session
            .state
            .typing
            .clone()
            .unwrap()
            .proposed;
        let name = std::fs::read_dir(&folder).unwrap().next().unwrap();
        let name = name.unwrap().file_name().into_string().unwrap();
        let text = &mut harness.state_mut().view.text;
        text.push_str(&format!("/{name}"));
        harness.key_press(Key::Enter);
        harness.run_steps(3);
        let path = PathCommand::Typed(folder.join(name));
        assert!(harness.state().has_sent(path.clone()), "{path:?}");
    }

    #[test]
    fn a_file_that_is_there_is_replaced_only_when_asked_twice() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("recipe.toml");
        std::fs::write(&path, "mine").unwrap();
        let mut harness = typing(PathCommand::Type(Product::Recipe));
        harness.run_steps(3);
        harness.state_mut().view.text = path.display().to_string();
        harness.key_press(Key::Enter);
        harness.run_steps(3);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
        harness.get_by_label("Replace").click();
        harness.run_steps(3);
        assert!(std::fs::read_to_string(&path).unwrap().contains("churn"));
    }

    #[test]
    fn escape_leaves_everything_as_it_was() {
        let mut harness = typing(PathCommand::TypeOpen);
        harness.run_steps(3);
        harness.key_press(Key::Escape);
        harness.run_steps(3);
        assert_eq!(harness.state().session.state.typing, None);
    }
}
