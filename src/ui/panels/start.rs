//! The start page: open a file, try an example, go on with a recent file.

use ergodic_analysis::templates;
use std::path::{Path, PathBuf};

use eframe::egui::{
    Align, CentralPanel, Frame, Key, Layout, Margin, Rect, Role, ScrollArea, Sense, Shape, Stroke,
    StrokeKind, Ui, UiBuilder, WidgetInfo, pos2, vec2,
};

use super::page::{loading_ui, middle_column, problem_ui};
use crate::app::examples::Example;
use crate::app::{AppState, DataCommand, PathCommand};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::button::link;
use crate::ui::widgets::{Button, Field, heading, list_card, number, paint, sentence_line};
use ergodic_data::PUBLIC_SETS;
use ergodic_data::samples::{self, Sample};

/// Height of an example's card.
const CARD_HEIGHT: f32 = 136.0;
/// Width of a card below which there is one less in a row.
const CARD_WIDTH: f32 = 190.0;
/// Height of the picture in it.
const PICTURE: f32 = 36.0;

/// What the page keeps for itself.
#[derive(Default)]
pub struct StartView {
    path: String,
}

/// Draws the page.
pub fn start_ui(ui: &mut Ui, state: &AppState, view: &mut StartView, out: &mut Outbox) {
    let t = tokens();
    let p = Palette::of(ui);
    CentralPanel::default()
        .frame(Frame::NONE.fill(p.bg_app))
        .show(ui, |ui| {
            ScrollArea::vertical()
                .auto_shrink([false, false])
                .show(ui, |ui| {
                    let spare = ui.available_height() - 640.0;
                    ui.add_space((spare / 2.0).clamp(t.space.x6, 2.0 * t.space.x12));
                    middle_column(ui, t.size.reading_column, |ui| {
                        column_ui(ui, state, view, out);
                    });
                    ui.add_space(t.space.x8);
                });
        });
}

fn column_ui(ui: &mut Ui, state: &AppState, view: &mut StartView, out: &mut Outbox) {
    let t = tokens();
    ui.spacing_mut().item_spacing.y = t.space.x1;
    let p = Palette::of(ui);
    let title = ui.label(Text::Title.rich("Start with a table", p.text_primary));
    title.widget_info(|| WidgetInfo::labeled(Role::Heading, true, "Start with a table"));
    ui.label(Text::Body.rich(
        "Drop a file anywhere in this window, or try an example that runs in seconds",
        p.text_secondary,
    ));
    ui.add_space(t.space.x4);
    if let Some(loading) = &state.loading {
        loading_ui(ui, loading, out);
        ui.add_space(t.space.x4);
    }
    if let Some(problem) = &state.problem {
        problem_ui(ui, problem, out);
        ui.add_space(t.space.x4);
    }
    drop_zone_ui(ui, view, out);
    ui.add_space(t.space.x4);
    ui.horizontal(|ui| {
        section(ui, "Examples");
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if link(ui, "See what a bad run looks like").clicked() {
                out.send(DataCommand::RunLesson);
            }
            ui.add_space(t.space.x4);
            let without = link(ui, "Model without data");
            if without
                .on_hover_text("Write down a model that needs no table, such as a density")
                .clicked()
            {
                out.send(DataCommand::BeginWithoutData);
            }
        });
    });
    examples_ui(
        ui,
        state.examples.as_deref().map_or(&[], Vec::as_slice),
        out,
    );
    if !state.preferences.recent.is_empty() {
        ui.add_space(t.space.x4);
        section(ui, "Recent");
        recent_ui(ui, &state.preferences.recent, out);
    }
    ui.add_space(t.space.x4);
    section(ui, "Public data sets");
    public_ui(ui);
}

/// Public data sets: the program fetches nothing, so what is needed to do so is copied.
fn public_ui(ui: &mut Ui) {
    let t = tokens();
    list_card(ui, |ui| {
        for set in PUBLIC_SETS {
            let inner = Frame::NONE.inner_margin(Margin::symmetric(t.space.x3 as i8, 0));
            let shown = inner.show(ui, |ui| {
                ui.horizontal(|ui| {
                    ui.spacing_mut().item_spacing.x = t.space.x4;
                    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                        let command = link(ui, "Copy command").on_hover_text(set.command);
                        name_link(&command, "command", set.title);
                        if command.clicked() {
                            ui.ctx().copy_text(set.command.to_owned());
                        }
                        let address = link(ui, "Copy address").on_hover_text(set.address);
                        name_link(&address, "address", set.title);
                        if address.clicked() {
                            ui.ctx().copy_text(set.address.to_owned());
                        }
                        let rows = format!("{} rows", number::integer(set.rows as u64));
                        sentence_line(ui, &rows, Text::Caption, true);
                        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                            sentence_line(ui, set.title, Text::Body, false);
                            sentence_line(ui, set.subject, Text::Caption, true);
                        });
                    });
                });
            });
            shown
                .response
                .on_hover_text(format!("{}. File: {}", set.about, set.file));
        }
    });
}

/// Links of one wording are told apart by what they copy.
fn name_link(response: &eframe::egui::Response, what: &str, title: &str) {
    let name = format!("Copy the {what} of {title}");
    response.widget_info(|| WidgetInfo::labeled(Role::Link, true, &name));
}

fn section(ui: &mut Ui, title: &str) {
    let p = Palette::of(ui);
    let label = ui.label(Text::Label.rich(title, p.text_primary));
    label.widget_info(|| WidgetInfo::labeled(Role::Heading, true, title));
    ui.add_space(tokens().space.x1);
}

/// The dashed frame: what can be opened, the button, and the path for systems without dialogs.
fn drop_zone_ui(ui: &mut Ui, view: &mut StartView, out: &mut Outbox) {
    let t = tokens();
    let p = Palette::of(ui);
    let dropping = ui.input(|input| !input.raw.hovered_files.is_empty());
    let shown = Frame::NONE
        .fill(if dropping {
            p.accent_soft
        } else {
            p.bg_surface
        })
        .corner_radius(t.radius.card)
        .inner_margin(Margin::same(t.space.x6 as i8))
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = t.space.x1;
            ui.horizontal(|ui| {
                icons::icon_ui(ui, icons::TABLE, t.icon.hero, false, p.accent);
                ui.add_space(t.space.x2);
                let button = 170.0;
                ui.vertical(|ui| {
                    ui.set_width(ui.available_width() - button);
                    heading(ui, "Open data");
                    let what = "CSV, TSV, text, LIBSVM or Parquet, also packed with gzip, bzip2 or \
                                Zstandard; projects, recipes, run folders and tables of draws as well";
                    ui.add(
                        eframe::egui::Label::new(Text::Body.rich(what, p.text_secondary)).wrap(),
                    );
                });
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    let open = Button::new("Open data")
                        .primary()
                        .icon(icons::FOLDER_OPEN)
                        .key("Ctrl O");
                    if ui.add(open).clicked() {
                        out.send(PathCommand::PickOpen);
                    }
                });
            });
            ui.add_space(t.space.x3);
            path_ui(ui, view, out);
        });
    let rect = shown.response.rect.shrink(0.5);
    let stroke = Stroke::new(
        if dropping {
            t.stroke.focus
        } else {
            t.stroke.hair
        },
        if dropping { p.accent } else { p.border_strong },
    );
    let corners = [
        rect.left_top(),
        rect.right_top(),
        rect.right_bottom(),
        rect.left_bottom(),
        rect.left_top(),
    ];
    ui.painter()
        .extend(Shape::dashed_line(&corners, stroke, 4.0, 3.0));
}

fn path_ui(ui: &mut Ui, view: &mut StartView, out: &mut Outbox) {
    let t = tokens();
    ui.horizontal(|ui| {
        let load = 64.0;
        let field = Field::new("Path of a file or folder", &mut view.path)
            .label_hidden()
            .hint("or type a path, such as /home/me/study.csv")
            .icon(icons::FILE)
            .mono()
            .width(ui.available_width() - load - t.space.x2)
            .show(ui);
        let entered =
            field.response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
        let path = clean_path(&view.path);
        let button = ui
            .add_enabled(path.is_some(), Button::new("Load").min_width(load))
            .on_disabled_hover_text("Type the path of a file first");
        if (entered || button.clicked())
            && let Some(path) = path
        {
            out.send(DataCommand::Open(path));
        }
    });
}

/// A path as typed or pasted: without quotes and the sign of a file address, `~` as the home folder.
pub fn clean_path(text: &str) -> Option<PathBuf> {
    let text = text.trim().trim_matches(['"', '\'']);
    let text = text.strip_prefix("file://").unwrap_or(text);
    if text.is_empty() {
        return None;
    }
    if let Some(rest) = text.strip_prefix("~/")
        && let Some(home) = std::env::home_dir()
    {
        return Some(home.join(rest));
    }
    Some(PathBuf::from(text))
}

fn examples_ui(ui: &mut Ui, pictures: &[Example], out: &mut Outbox) {
    let t = tokens();
    let gap = t.space.x4;
    let samples = samples::all();
    let most =
        (((ui.available_width() + gap) / (CARD_WIDTH + gap)) as usize).clamp(1, samples.len());
    // No card stands alone in the last row where fewer columns help against it.
    let columns = (1..=most)
        .rev()
        .find(|&columns| columns <= 2 || samples.len() % columns != 1)
        .unwrap_or(1);
    let width = (ui.available_width() - gap * (columns - 1) as f32) / columns as f32;
    for row in samples.chunks(columns) {
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = gap;
            for sample in row {
                let picture = pictures.iter().find(|picture| picture.id == sample.id);
                if example_ui(ui, sample, picture, width).clicked() {
                    out.send(DataCommand::OpenSample(sample.id.to_owned()));
                }
            }
        });
        ui.add_space(gap);
    }
}

/// A card that opens one bundled data set: a picture, the question, the kind of model, rows and rough time.
fn example_ui(
    ui: &mut Ui,
    sample: &Sample,
    picture: Option<&Example>,
    width: f32,
) -> eframe::egui::Response {
    let t = tokens();
    let p = Palette::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(width, CARD_HEIGHT), Sense::click());
    let name = format!("Example {}: {}", sample.id, sample.title);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, ui.is_enabled(), &name));
    let fill = if response.is_pointer_button_down_on() {
        p.bg_active
    } else if response.hovered() {
        p.bg_hover
    } else {
        p.bg_surface
    };
    ui.painter().rect(
        rect,
        t.radius.card,
        fill,
        Stroke::new(t.stroke.hair, p.border_button),
        StrokeKind::Inside,
    );
    let inner = rect.shrink(t.space.x3);
    let mut child = ui.new_child(
        UiBuilder::new()
            .max_rect(inner)
            .layout(Layout::top_down(Align::Min)),
    );
    child.spacing_mut().item_spacing.y = t.space.x1;
    child.set_clip_rect(rect.intersect(ui.clip_rect()));
    child.add_space(PICTURE + t.space.x1);
    sentence_line(&mut child, sample.title, Text::Button, false);
    let template = sample.info.suggestion.template;
    let model = templates::find(template).map_or(template, |entry| entry.spec.title);
    sentence_line(&mut child, model, Text::Caption, true);
    let y = inner.bottom() - Text::Caption.line() / 2.0;
    let rows = format!("{} rows", number::integer(sample.info.rows as u64));
    let time = number::about(f64::from(sample.info.suggestion.seconds));
    let left = paint::line(ui, &rows, Text::Caption, p.text_secondary, inner.width());
    let right = paint::line(ui, &time, Text::Caption, p.text_secondary, inner.width());
    paint::left_center(ui.painter(), inner.left(), y, left);
    paint::right_center(ui.painter(), inner.right(), y, right);
    if let Some(picture) = picture {
        let place = Rect::from_min_size(inner.min, vec2(inner.width(), PICTURE));
        picture_ui(ui, place, picture);
    }
    paint::focus_ring(ui, &response, rect, t.radius.card);
    response.on_hover_text(sample.info.description)
}

/// Bars of a column of the data set, rows with a success darker at the foot of each.
fn picture_ui(ui: &mut Ui, place: Rect, picture: &Example) {
    let p = Palette::of(ui);
    let words = format!("Picture: {}", picture.words);
    let response = ui.interact(place, ui.make_persistent_id(picture.id), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &words));
    let highest = picture.bars.iter().map(|bar| bar[0] + bar[1]);
    let highest = highest.fold(0.0, f64::max);
    let step = place.width() / picture.bars.len().max(1) as f32;
    let gap = if step >= 3.0 { 1.0 } else { 0.0 };
    let color = p.posterior.gamma_multiply(tokens().alpha.histogram);
    for (i, [success, rest]) in picture.bars.iter().enumerate() {
        let left = place.left() + i as f32 * step;
        let y = |count: f64| place.bottom() - (count / highest) as f32 * place.height();
        let bar = |from: f64, to: f64| {
            Rect::from_min_max(pos2(left, y(to)), pos2(left + step - gap, y(from)))
        };
        let painter = ui.painter();
        painter.rect_filled(
            bar(*success, success + rest),
            0.0,
            color.gamma_multiply(0.35),
        );
        painter.rect_filled(bar(0.0, *success), 0.0, color);
    }
    let hair = Stroke::new(tokens().stroke.hair, p.axis);
    ui.painter().hline(place.x_range(), place.bottom(), hair);
}

fn recent_ui(ui: &mut Ui, recent: &[PathBuf], out: &mut Outbox) {
    list_card(ui, |ui| {
        for (i, path) in recent.iter().enumerate() {
            if recent_row(ui, path, i + 1 == recent.len()).clicked() {
                out.send(DataCommand::Open(path.clone()));
            }
        }
    });
}

fn recent_row(ui: &mut Ui, path: &Path, last: bool) -> eframe::egui::Response {
    let t = tokens();
    let p = Palette::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 34.0), Sense::click());
    let name = path
        .file_name()
        .unwrap_or(path.as_os_str())
        .to_string_lossy();
    let folder = path.parent().unwrap_or(Path::new("")).display().to_string();
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("Open {name}")));
    if response.hovered() {
        ui.painter().rect_filled(rect, t.radius.card, p.bg_hover);
    }
    if !last {
        paint::hair_below(ui, rect);
    }
    let y = rect.center().y;
    let icon = match path.extension().and_then(|end| end.to_str()) {
        Some("csv" | "tsv" | "txt" | "gz" | "bz2" | "zst") => icons::FILE_CSV,
        Some("toml") => icons::FILE_CODE,
        Some("ergodic") => icons::FOLDER_OPEN,
        Some("parquet") => icons::TABLE,
        _ => icons::FILE,
    };
    let x = rect.left() + t.space.x3;
    let center = pos2(x + t.icon.medium / 2.0, y);
    icons::paint(
        ui.painter(),
        center,
        icon,
        t.icon.medium,
        false,
        p.text_secondary,
    );
    let left = x + t.icon.medium + t.space.x2;
    let half = Rect::from_min_max(pos2(left, rect.top()), rect.right_bottom());
    let galley = paint::line(ui, &name, Text::Button, p.text_primary, half.width() / 2.0);
    let end = paint::left_center(ui.painter(), left, y, galley).right();
    let right = rect.right() - t.space.x3;
    let room = right - end - t.space.x4;
    let galley = paint::line(ui, &folder, Text::Caption, p.text_secondary, room.max(0.0));
    paint::right_center(ui.painter(), right, y, galley);
    paint::focus_ring_inside(ui, &response, rect);
    response.on_hover_text(path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::Session;
    use crate::app::{Page, RunCommand, ViewCommand};
    use crate::ui::testing::page_harness;
    use egui_kittest::kittest::{NodeT as _, Queryable as _};

    #[test]
    fn an_example_opens_its_data() {
        let mut harness = page_harness(Session::default(), start_ui);
        harness.get_by_label_contains("Example churn").click();
        harness.run();
        let shown = harness.state();
        assert_eq!(
            shown.sent,
            [DataCommand::OpenSample("churn".to_owned()).into()]
        );
        assert_eq!(shown.session.state.page, Page::Data);
    }

    #[test]
    fn a_model_without_data_begins_as_text() {
        let mut harness = page_harness(Session::default(), start_ui);
        harness.get_by_label("Model without data").click();
        harness.run();
        let shown = harness.state();
        assert_eq!(shown.sent, [DataCommand::BeginWithoutData.into()]);
        let state = &shown.session.state;
        assert_eq!(state.page, Page::Model);
        let document = state.document.as_ref().unwrap();
        assert!(document.is_text());
        assert_eq!(document.recipe.data.source, "sample:none");
        let check = state.check.as_ref().unwrap();
        assert_eq!(check.error, None);
    }

    #[test]
    fn examples_have_pictures_once_they_are_drawn() {
        let mut session = Session::default();
        session.send(ViewCommand::DrawExamples);
        let harness = page_harness(session, start_ui);
        harness.get_by_label("Picture: churned by age");
        harness.get_by_label("Picture: counts of species");
        harness.get_by_label("Picture: values of reaction");
    }

    #[test]
    fn cards_name_the_kind_of_model_and_the_time_and_no_file() {
        let harness = page_harness(Session::default(), start_ui);
        for title in [
            "Hierarchical logistic regression",
            "Mixed model",
            "Dirichlet-process mixture",
        ] {
            assert!(
                harness.query_all_by_label_contains(title).next().is_some(),
                "{title}"
            );
        }
        assert!(harness.query_by_label("churn").is_none());
    }

    #[test]
    fn a_bad_run_is_one_click_away_and_says_what_to_look_at() {
        let mut harness = page_harness(Session::default(), start_ui);
        harness
            .get_by_label("See what a bad run looks like")
            .click();
        harness.run();
        let session = &mut harness.state_mut().session;
        assert_eq!(session.state.page, Page::Runs);
        session.wait_for_runs();
        let entry = &session.state.runs[0];
        assert_eq!(
            entry.report().unwrap().verdict,
            ergodic_diagnostics::Verdict::Bad
        );
        let session = std::mem::take(session);
        let mut harness = page_harness(session, crate::ui::panels::runs::runs_ui);
        harness.run_steps(3);
        harness.get_by_label_contains("This run is bad on purpose");
        let tab = Role::Tab;
        harness.get_by_role_and_label(tab, "Predictions").click();
        harness.run_steps(4);
        harness.get_by_label_contains("so neither are these predictions");
        harness.get_by_label("Run it again with auto").click();
        harness.run_steps(3);
        assert!(harness.state().has_sent(RunCommand::Start));
    }

    #[test]
    fn a_typed_path_is_opened_by_enter_and_a_bad_file_is_explained() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bad.csv");
        std::fs::write(&path, "a,b\n1,2\n3\n").unwrap();
        let mut harness = page_harness(Session::default(), start_ui);
        assert!(harness.get_by_label("Load").accesskit_node().is_disabled());
        harness.get_by_label("Path of a file or folder").focus();
        harness.run();
        harness
            .get_by_label("Path of a file or folder")
            .type_text(path.to_str().unwrap());
        harness.run();
        harness.key_press(Key::Enter);
        harness.run();
        assert_eq!(
            harness.state().sent,
            [DataCommand::Open(path.clone()).into()]
        );
        harness.get_by_label_contains("Line 3 has 1 value, the header has 2");
        std::fs::write(&path, "a,b\n1,2\n3,4\n").unwrap();
        harness.get_by_label("Try again").click();
        harness.run();
        assert!(harness.state().session.state.data.is_some());
        assert!(harness.state().session.state.problem.is_none());
    }

    #[test]
    fn the_main_button_asks_for_a_file() {
        let mut harness = page_harness(Session::default(), start_ui);
        assert!(harness.query_by_label("Recent").is_none());
        harness
            .get_all_by_label("Open data")
            .find(|node| node.accesskit_node().role() == eframe::egui::accesskit::Role::Button)
            .unwrap()
            .click();
        harness.run();
        assert_eq!(harness.state().sent, [PathCommand::PickOpen.into()]);
    }

    #[test]
    fn recent_files_are_opened_by_a_click() {
        let folder = tempfile::tempdir().unwrap();
        let mut session = Session::with_file(&folder, "small.csv", "a,b\n1,2\n3,4\n");
        session.send(DataCommand::Close);
        let mut harness = page_harness(session, start_ui);
        harness.get_by_label("Open small.csv").click();
        harness.run();
        assert_eq!(
            harness.state().sent,
            [DataCommand::Open(folder.path().join("small.csv")).into()]
        );
    }

    #[test]
    fn public_data_sets_can_be_found_by_what_is_copied() {
        let mut harness = page_harness(Session::default(), start_ui);
        for set in PUBLIC_SETS {
            for what in ["address", "command"] {
                harness.get_by_label(&format!("Copy the {what} of {}", set.title));
            }
        }
        let name = format!("Copy the address of {}", PUBLIC_SETS[0].title);
        harness.get_by_label(&name).scroll_to_me();
        harness.run();
        harness.get_by_label(&name).click();
        harness.step();
        let copied = harness.output().platform_output.commands.iter().any(|it| {
            matches!(it, eframe::egui::OutputCommand::CopyText(text) if text == PUBLIC_SETS[0].address)
        });
        assert!(copied);
    }

    #[test]
    fn pasted_paths_lose_their_quotes() {
        assert_eq!(clean_path(" \"/a b/c.csv\" "), Some("/a b/c.csv".into()));
        assert_eq!(clean_path("file:///a.csv"), Some("/a.csv".into()));
        assert_eq!(clean_path("  "), None);
    }
}
