//! The left panel: data, model and runs.

use ergodic_analysis::templates;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use eframe::egui::{Galley, Role as AccessRole, ScrollArea, Ui, WidgetInfo, vec2};

use super::words;
use crate::app::entry::RunPhase;
use crate::app::{AppState, Command, Page, PathCommand, RunCommand, RunEntry, ViewCommand};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::panels::columns;
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::{Button, TreeRow, number, paint, section_head};
use ergodic_analysis::Recipe;
use ergodic_core::design::{ColumnInfo, Columns as _};
use ergodic_core::engine::RunState;
use ergodic_core::formula::Formula;
use ergodic_data::{Profile, Role, Roles, Table};

/// Columns shown before the rest is folded into one row.
const COLUMNS: usize = 8;

/// Shows the panel.
pub fn tree_ui(ui: &mut Ui, state: &AppState, entry: &RunEntry, out: &mut Outbox) {
    ui.spacing_mut().item_spacing.y = 0.0;
    ScrollArea::vertical()
        .auto_shrink([false, false])
        .show(ui, |ui| {
            // The list of runs stays where it is whichever run is shown: under the longest description.
            let mine = height(ui, state, entry);
            let longest = state.runs.iter().map(|entry| height(ui, state, entry));
            let room = longest.fold(mine, f32::max) - mine;
            data_ui(ui, state, entry, out);
            line(ui);
            model_ui(ui, entry, out);
            ui.add_space(room);
            line(ui);
            runs_ui(ui, state, out);
        });
}

/// Height of what stands above the list of runs for `entry`.
fn height(ui: &Ui, state: &AppState, entry: &RunEntry) -> f32 {
    let t = tokens();
    // Of the data: the table, its columns and the row of those that are hidden.
    let columns = table_of(state, entry).map_or(0, |table| table.columns().len());
    let of_data = 1 + columns.min(COLUMNS) + usize::from(columns > COLUMNS);
    let (of_model, formula) = match recipe_of(entry) {
        Some(recipe) => {
            let formula = formula_of(recipe).map_or(0.0, |formula| {
                formula_galley(ui, formula).size().y + t.space.x1
            });
            (3, formula)
        }
        None => (1, 0.0),
    };
    (of_data + of_model) as f32 * t.size.row_tree + formula
}

fn line(ui: &mut Ui) {
    let (rect, _) = ui.allocate_exact_size(
        vec2(ui.available_width(), tokens().space.x2),
        eframe::egui::Sense::hover(),
    );
    paint::hair_below(ui, rect);
}

/// The recipe that shows what was run: complete for live runs.
pub(super) fn recipe_of(entry: &RunEntry) -> Option<&Recipe> {
    entry.job().map(|job| &job.recipe).or(entry.recipe.as_ref())
}

/// The open table, if it comes from where that of the run came from.
fn open_of<'a>(state: &'a AppState, entry: &RunEntry) -> Option<&'a Table> {
    let mine = recipe_of(entry).map(|recipe| recipe.data.source.as_str());
    let open = state.data.as_ref();
    let open = open.filter(|data| mine.is_none_or(|source| data.source == source));
    open.map(|data| &data.loaded.table)
}

/// The table that a run is of, if it is in memory.
fn table_of<'a>(state: &'a AppState, entry: &'a RunEntry) -> Option<&'a Table> {
    if recipe_of(entry).is_some_and(Recipe::is_without_data) {
        return None;
    }
    let fingerprint = entry.data_fingerprint();
    let is_same = |open: &&Table| fingerprint.is_none_or(|mine| mine == open.fingerprint());
    let open = open_of(state, entry).filter(is_same);
    entry.job().map(|job| job.table.as_ref()).or(open)
}

fn data_ui(ui: &mut Ui, state: &AppState, entry: &RunEntry, out: &mut Outbox) {
    if section_head(ui, "Data", Some((icons::PLUS, "Open data"))) {
        out.send(PathCommand::PickOpen);
    }
    if recipe_of(entry).is_some_and(Recipe::is_without_data) {
        TreeRow::new("none needed").icon(icons::TABLE).show(ui);
        return;
    }
    let Some(table) = table_of(state, entry) else {
        let source = recipe_of(entry).map(|recipe| recipe.data.source.as_str());
        let source = source.unwrap_or("Draws from a file");
        // Of a path the end tells, which a narrow row would cut off.
        let name = Path::new(source)
            .file_name()
            .map_or(source.into(), OsStr::to_string_lossy);
        let fact = match open_of(state, entry) {
            Some(_) => "changed since",
            None => "not open",
        };
        TreeRow::new(&name)
            .icon(icons::TABLE)
            .fact(fact)
            .show(ui)
            .on_hover_text(source);
        return;
    };
    let shape = format!(
        "{} × {}",
        number::integer(table.num_rows() as u64),
        table.columns().len()
    );
    if TreeRow::new(table.name())
        .icon(icons::TABLE)
        .fact(&shape)
        .show(ui)
        .clicked()
        && state.data.is_some()
    {
        out.send(Command::GoTo(Page::Data));
    }
    let roles = recipe_of(entry)
        .and_then(|recipe| recipe.model.formula.parse::<Formula>().ok())
        .map(|formula| Roles::from_formula(&formula))
        .unwrap_or_default();
    columns_ui(ui, state, table, &roles);
}

/// The profile of a column of `table`, if these are the open data.
fn profile_of<'a>(state: &'a AppState, table: &Table, column: &ColumnInfo) -> Option<&'a Profile> {
    let data = state.data.as_ref()?;
    let open = &data.loaded.table;
    let is_it = |it: &ColumnInfo| it.name == column.name && it.kind == column.kind;
    let at = open.columns().iter().position(is_it)?;
    let profile = data.profiles.as_ref()?.get(at);
    profile.filter(|_| open.fingerprint() == table.fingerprint())
}

fn columns_ui(ui: &mut Ui, state: &AppState, table: &Table, roles: &Roles) {
    // Columns of the model come first: those are what the page is about.
    let used = |name: &str| roles.of(name) != [Role::Ignore];
    let (mut columns, unused): (Vec<_>, Vec<_>) = table
        .columns()
        .iter()
        .partition(|column| used(&column.name));
    let room = COLUMNS.saturating_sub(columns.len());
    columns.extend(unused.iter().take(room));
    let hidden = table.columns().len() - columns.len().min(COLUMNS);
    for column in columns.iter().take(COLUMNS) {
        let words: Vec<&str> = roles
            .of(&column.name)
            .into_iter()
            .filter(|role| !matches!(role, Role::Ignore | Role::Predictor))
            .map(Role::label)
            .collect();
        let icon = columns::icon(column, profile_of(state, table, column));
        let unused = !used(&column.name);
        let fact = if unused {
            "not used".to_owned()
        } else {
            words.join(", ")
        };
        TreeRow::new(&column.name)
            .icon(icon)
            .mono()
            .level(1)
            .fact(&fact)
            .show(ui);
    }
    if hidden > 0 {
        let plural = if hidden == 1 { "column" } else { "columns" };
        let text = format!("{hidden} more {plural}");
        let names: Vec<&str> = table
            .names()
            .filter(|name| !columns.iter().take(COLUMNS).any(|c| c.name == **name))
            .collect();
        TreeRow::new(&text)
            .icon(icons::DOTS_THREE)
            .level(1)
            .show(ui)
            .on_hover_text(names.join(", "));
    }
}

fn model_ui(ui: &mut Ui, entry: &RunEntry, out: &mut Outbox) {
    section_head(ui, "Model", None);
    let Some(recipe) = recipe_of(entry) else {
        TreeRow::new("not known").icon(icons::FUNCTION).show(ui);
        return;
    };
    let title = title_of(recipe);
    if (TreeRow::new(&title).icon(icons::FUNCTION).show(ui))
        .on_hover_text(&title)
        .clicked()
    {
        out.send(Command::GoTo(Page::Model));
    }
    if let Some(formula) = formula_of(recipe) {
        formula_ui(ui, formula);
    }
    let fact = match recipe.own_priors().count() {
        _ if templates::is_text(&recipe.model.template) => "in the text".to_owned(),
        0 => recipe.default_priors().source().to_string(),
        set => format!("{set} set"),
    };
    if TreeRow::new("Priors")
        .icon(icons::SLIDERS_HORIZONTAL)
        .level(1)
        .fact(&fact)
        .show(ui)
        .clicked()
    {
        out.send(Command::GoTo(Page::Model));
    }
    let sampler = entry.sampler().map_or("auto", |spec| spec.title);
    let row = TreeRow::new("Sampler")
        .icon(icons::WAVEFORM)
        .level(1)
        .fact(sampler)
        .show(ui);
    let row = match entry.job() {
        Some(job) => row.on_hover_text(&job.sampler_reason),
        None => row,
    };
    if row.clicked() {
        out.send(Command::GoTo(Page::Sampler));
    }
}

/// What a model is called, as above its summary.
fn title_of(recipe: &Recipe) -> String {
    let model = &recipe.model;
    let family = templates::chosen_family(&model.template, &model.settings);
    templates::model_in_words(&model.template, family, &model.formula)
}

/// The formula, which says nothing of a text that needs no data.
fn formula_of(recipe: &Recipe) -> Option<&str> {
    (!recipe.is_without_data()).then_some(recipe.model.formula.as_str())
}

/// How far in a formula stands.
fn formula_left() -> f32 {
    let t = tokens();
    t.space.x3 + t.icon.small + 6.0
}

/// A formula on at most four lines.
fn formula_galley(ui: &Ui, formula: &str) -> Arc<Galley> {
    let colors = Palette::of(ui);
    let width = (ui.available_width() - formula_left() - tokens().space.x2).max(20.0);
    let mut job = eframe::egui::text::LayoutJob::simple(
        formula.to_owned(),
        Text::CodeSmall.font(),
        colors.text_secondary,
        width,
    );
    job.wrap.max_rows = 4;
    ui.painter().layout_job(job)
}

fn formula_ui(ui: &mut Ui, formula: &str) {
    let t = tokens();
    let colors = Palette::of(ui);
    let left = formula_left();
    let galley = formula_galley(ui, formula);
    let cut = galley.elided;
    let (rect, response) = ui.allocate_exact_size(
        vec2(ui.available_width(), galley.size().y + t.space.x1),
        eframe::egui::Sense::hover(),
    );
    response.widget_info(|| WidgetInfo::labeled(AccessRole::Label, true, formula));
    ui.painter()
        .galley(rect.min + vec2(left, 0.0), galley, colors.text_secondary);
    if cut {
        response.on_hover_text(formula);
    }
}

fn runs_ui(ui: &mut Ui, state: &AppState, out: &mut Outbox) {
    let can_run = state.document.is_some();
    let act = can_run.then_some((icons::PLAY, "Run the model (Ctrl Enter)"));
    if section_head(ui, "Runs", act) {
        out.send(RunCommand::Start);
    }
    for entry in state.runs.iter().rev() {
        run_row_ui(ui, state, entry, out);
    }
}

fn run_row_ui(ui: &mut Ui, state: &AppState, entry: &RunEntry, out: &mut Outbox) {
    let title = entry.title();
    let sampler = entry.sampler().map_or("auto", |spec| spec.title);
    let view = entry.view();
    let stale = words::stale_reason(state, entry);
    let mut row = TreeRow::new(&title)
        .detail(sampler)
        .selected(state.selected_run == Some(entry.id));
    row = if stale.is_some() {
        row.icon(icons::CLOCK)
    } else {
        row.verdict(words::run_kind(entry))
    };
    let took;
    if stale.is_some() {
        row = row.fact("stale");
    } else if view.as_ref().is_some_and(|it| it.state == RunState::Paused) {
        row = row.fact("paused");
    } else if view.as_ref().is_some_and(|it| words::ended_in_warmup(it)) {
        row = row.fact("no draws");
    } else if entry.is_active() {
        let done = view
            .as_ref()
            .map_or(0.0, |view| words::progress(entry, view).done);
        row = row.progress(done);
    } else if let RunPhase::Refused(_) = entry.phase {
        row = row.fact("refused");
    } else if let Some(view) = &view {
        let secs = words::took(view);
        took = number::duration(secs);
        if secs > 0.0 {
            row = row.fact(&took);
        }
    }
    let response = row.show(ui);
    let mut tip = entry
        .report()
        .map(|report| paint::words(&report.sentence))
        .unwrap_or_default();
    if let RunPhase::Refused(reason) = &entry.phase {
        tip.clone_from(reason);
    }
    if let Some(stale) = stale {
        tip = format!("Stale: {stale}. {tip}");
    }
    // Runs are told apart by what they fit.
    if let Some(recipe) = recipe_of(entry) {
        let model = title_of(recipe);
        let model = formula_of(recipe).map_or(model.clone(), |it| format!("{model}: {it}"));
        tip = format!("{model}\n{tip}");
    }
    if let Some(note) = &entry.label.note {
        tip = format!("{note}\n{tip}");
    }
    let response = if tip.is_empty() {
        response
    } else {
        response.on_hover_text(tip)
    };
    if response.clicked() {
        out.send(ViewCommand::SelectRun(entry.id));
    }
    response.context_menu(|ui| {
        ui.set_min_width(170.0);
        let known = entry.recipe.is_some();
        if ui
            .add_enabled(known, Button::new("Use these settings").quiet())
            .on_hover_text("A draft like this run, to change and to run again")
            .on_disabled_hover_text("Draws from a file have no recipe")
            .clicked()
        {
            out.send(RunCommand::UseRecipe(entry.id));
            ui.close();
        }
        if ui
            .add(Button::new("Name and note").quiet())
            .on_hover_text("Both are kept with the project")
            .clicked()
        {
            out.send(RunCommand::AskName(Some(entry.id)));
            ui.close();
        }
        let idle = !entry.is_active();
        if ui
            .add_enabled(idle, Button::new("Remove from project").quiet())
            .on_hover_text("Its folder stays, and Ctrl Z brings it back")
            .on_disabled_hover_text("Stop the run first")
            .clicked()
        {
            out.send(RunCommand::Remove(entry.id));
            ui.close();
        }
    });
}

#[cfg(test)]
mod tests {
    use crate::app::testing::Session;
    use crate::app::{Command, DataCommand, DraftChange, Page};
    use crate::ui::panels::runs::runs_ui;
    use crate::ui::testing::page_harness;
    use egui_kittest::kittest::Queryable as _;
    use ergodic_base::settings::Value;

    #[test]
    fn a_model_is_called_by_its_family() {
        let mut session = Session::with_draft("schools");
        let family = Some(Value::Text("bernoulli".to_owned()));
        for change in [
            DraftChange::Template("mixed".to_owned()),
            DraftChange::ModelSetting("family".to_owned(), family),
            DraftChange::Formula("passed ~ hours + (1 | school)".to_owned()),
        ] {
            session.send(change);
        }
        session.run(1, 20, 30);
        session.send(Command::GoTo(Page::Runs));
        let mut harness = page_harness(session, runs_ui);
        harness.run_steps(3);
        harness.get_by_label("Logistic mixed model");
        assert!(harness.query_by_label("Mixed model").is_none());
    }

    #[test]
    fn a_model_without_data_has_neither_data_nor_formula() {
        let mut session = Session::default();
        session.send(DataCommand::BeginWithoutData);
        session.send(DataCommand::AcceptImport);
        session.run(1, 20, 30);
        session.send(Command::GoTo(Page::Runs));
        let mut harness = page_harness(session, runs_ui);
        harness.run_steps(3);
        harness.get_by_label("none needed");
        harness.get_by_label("Model as text");
        for words in ["not open", "1 × 1", "~ 1"] {
            assert!(harness.query_by_label(words).is_none(), "{words}");
        }
    }
}
