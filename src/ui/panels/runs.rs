//! The runs page: what a run says while it goes on and after it.

use eframe::egui::{Frame, Panel, Ui};

use self::pane::Pane as _;
pub use self::pane::PaneEntry;
use self::summary::Summary;
use super::page::problem_banner;
use crate::app::entry::RunPhase;
use crate::app::{AppState, Command, Depth, Page, RunCommand, RunEntry, ViewCommand};
use crate::ui::outbox::Outbox;
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::{self, Button, number};
use crate::ui::{icons, landmarks};

mod answer_lines;
mod answers;
mod answers_asked;
mod asked;
mod bottom;
mod boxes;
mod chains;
mod check;
mod clusters;
mod compare;
mod components;
mod curves;
mod dock;
mod effects;
mod energy;
mod export_menu;
mod folding;
mod group_head;
mod held_out;
mod info;
mod kfold;
mod layout;
mod lesson;
mod likelihood_comparison;
mod likelihood_ratio;
mod loo;
mod mode;
mod moments;
mod pairs;
mod pane;
mod panes;
mod parallel;
mod predictions;
mod prior_sensitivity;
mod range_field;
mod run_bar;
mod selected;
mod sizes;
mod status;
mod summary;
mod summary_columns;
mod table_layout;
#[cfg(test)]
mod tests;
mod topics;
mod trajectories;
mod tree;
mod unkept;
mod words;

/// All panes, in the order of their tabs. A new one is a file that implements [`pane::Pane`], its `mod` above, and its line
/// here.
pub static PANES: &[PaneEntry] = &[
    PaneEntry::of::<answers::Answers>(),
    PaneEntry::of::<panes::Trace>(),
    PaneEntry::of::<panes::Rank>(),
    PaneEntry::of::<panes::Autocorrelation>(),
    PaneEntry::of::<sizes::Sizes>(),
    PaneEntry::of::<pairs::Pairs>(),
    PaneEntry::of::<clusters::ClustersView>(),
    PaneEntry::of::<topics::TopicsView>(),
    PaneEntry::of::<unkept::Unkept>(),
    PaneEntry::of::<predictions::PredictionsView>(),
    PaneEntry::of::<check::CheckPane>(),
    PaneEntry::of::<likelihood_comparison::LikelihoodComparison>(),
    PaneEntry::of::<loo::LooView>(),
    PaneEntry::of::<compare::CompareView>(),
    PaneEntry::of::<held_out::HeldOutView>(),
    PaneEntry::of::<summary::Summary>(),
    PaneEntry::of::<panes::Density>(),
    PaneEntry::of::<effects::Groups>(),
    PaneEntry::of::<parallel::ParallelPane>(),
    PaneEntry::of::<components::ComponentsPane>(),
    PaneEntry::of::<boxes::Boxes>(),
    PaneEntry::of::<panes::Convergence>(),
    PaneEntry::of::<panes::Bias>(),
    PaneEntry::of::<prior_sensitivity::PriorSensitivity>(),
    PaneEntry::of::<energy::Energy>(),
    PaneEntry::of::<trajectories::Trajectories>(),
    PaneEntry::of::<info::Info>(),
    PaneEntry::of::<mode::Mode>(),
];

/// Height below which the bottom panel is only its tab strip.
const LOW: f32 = 660.0;
/// Width below which the left panel is a rail.
const NARROW: f32 = 1000.0;
/// Width below which the panel at the right is a tab of the dock, and a rail.
const TIGHT: f32 = 1080.0;
/// Width of a rail.
const RAIL: f32 = 32.0;

/// What the page keeps for itself.
#[derive(Default)]
pub struct RunsView {
    dock: dock::DockView,
    bottom: bottom::BottomView,
    export: export_menu::ExportView,
    held: run_bar::Held,
    /// Counts resets, so that panels forget their sizes.
    layout: u32,
    /// Height of the bottom panel, so that the chains beside it stand on one line with it.
    bottom_height: f32,
    /// Somebody folded the panel at the left, or the one at the bottom.
    left_folded: bool,
    bottom_folded: bool,
}

impl RunsView {
    /// Puts panels, panes and tabs back to where they were at first.
    pub fn reset_layout(&mut self) {
        self.layout += 1;
        self.bottom_height = 0.0;
        self.left_folded = false;
        self.bottom_folded = false;
        self.dock.reset();
    }

    /// Folds the panel at the left, or unfolds it.
    pub fn toggle_left(&mut self) {
        self.left_folded = !self.left_folded;
    }

    /// Folds the panel at the bottom to its tabs, or unfolds it.
    pub fn toggle_bottom(&mut self) {
        self.bottom_folded = !self.bottom_folded;
    }

    /// Gives the focus to the filter of the table.
    pub fn filter_variables(&mut self) {
        self.show_summary();
        self.dock.summary().look_for();
    }

    /// Brings a pane to the front.
    pub fn show_pane(&mut self, pane: &'static PaneEntry) {
        self.dock.show(pane);
    }

    fn show_summary(&mut self) {
        if let Some(pane) = pane::find(Summary::ID) {
            self.dock.show(pane);
        }
    }
}

/// Draws the page.
pub fn runs_ui(ui: &mut Ui, state: &AppState, view: &mut RunsView, out: &mut Outbox) {
    let t = tokens();
    let colors = Palette::of(ui);
    ui.spacing_mut().item_spacing.y = 0.0;
    let screen = ui.max_rect().size();
    let wide = screen.x >= t.panel.wide_from;
    problem_banner(ui, state, out);
    let Some(entry) = state.selected() else {
        no_run_ui(ui, state, out);
        return;
    };
    run_bar::run_bar_ui(ui, state, entry, (&mut view.export, &mut view.held), out);
    status::status_ui(ui, entry);
    lesson::lesson_ui(ui, state, entry, out);
    let size = |panel: &crate::ui::theme::tokens::PanelSize| {
        if wide {
            panel.default_wide
        } else {
            panel.default
        }
    };
    // A panel remembers its size by its name, and narrow and wide windows have sizes of their own.
    let salt = (if wide { "wide" } else { "narrow" }, view.layout);
    let tight = screen.x < TIGHT && state.preferences.depth != Depth::Verdict;
    if screen.x < NARROW || view.left_folded {
        Panel::left("runs-rail")
            .exact_size(RAIL)
            .frame(Frame::NONE.fill(colors.bg_panel))
            .show(ui, |ui| {
                landmarks::mark(ui, "Data, model and runs");
                left_rail_ui(ui, state, out);
            });
    } else {
        Panel::left(("runs-tree", salt))
            .resizable(true)
            .default_size(size(&t.panel.left))
            .size_range(t.panel.left.min..=t.panel.left.max)
            .frame(Frame::NONE.fill(colors.bg_panel))
            .show(ui, |ui| {
                landmarks::mark(ui, "Data, model and runs");
                tree::tree_ui(ui, state, entry, out);
            });
    }
    if let RunPhase::Refused(reason) = &entry.phase {
        refused_ui(ui, entry, reason, out);
        return;
    }
    if view.bottom_height == 0.0 {
        view.bottom_height = size(&t.panel.bottom);
    }
    let low = screen.y < LOW || view.bottom_folded;
    let bottom_height = if low {
        t.size.tab_strip
    } else {
        view.bottom_height
    };
    if tight {
        Panel::right("runs-right-rail")
            .exact_size(RAIL)
            .frame(Frame::NONE.fill(colors.bg_panel))
            .show(ui, |ui| {
                ui.add_space(t.space.x1);
                let button = Button::icon_only(icons::TABLE, "Show the summary table").small();
                if ui.add(button).clicked() {
                    view.show_summary();
                }
            });
    } else {
        right_panel_ui(
            ui,
            state,
            entry,
            view,
            (salt, size(&t.panel.right)),
            bottom_height,
            out,
        );
    }
    if state.preferences.depth != Depth::Verdict || bottom::has_warnings(state, entry) {
        let panel = if low {
            // Of its own name: the height of the whole panel is not forgotten.
            Panel::bottom(("runs-bottom-strip", salt)).exact_size(t.size.tab_strip)
        } else {
            Panel::bottom(("runs-bottom", salt))
                .resizable(true)
                .default_size(size(&t.panel.bottom))
                .size_range(t.panel.bottom.min..=t.panel.bottom.max)
        };
        let panel = panel.frame(Frame::NONE.fill(colors.bg_surface));
        let shown = panel.show(ui, |ui| {
            ui.set_min_size(ui.available_size());
            landmarks::mark(ui, "Messages");
            bottom::bottom_ui(ui, state, entry, &mut view.bottom, out);
        });
        if !low {
            view.bottom_height = shown.response.rect.height();
        }
    }
    Frame::NONE.fill(colors.plot_bg).show(ui, |ui| {
        ui.set_min_size(ui.available_size());
        landmarks::mark(ui, "Plots");
        if entry.view().is_none() {
            widgets::empty_state(
                ui,
                icons::WAVEFORM,
                "Traces appear here as soon as the chains start",
                None,
            );
        } else {
            dock::dock_ui(ui, state, entry, &mut view.dock, tight, out);
        }
    });
}

/// The panel at the right: chains, table, selected variable.
fn right_panel_ui(
    ui: &mut Ui,
    state: &AppState,
    entry: &RunEntry,
    view: &mut RunsView,
    (salt, width): ((&str, u32), f32),
    bottom_height: f32,
    out: &mut Outbox,
) {
    let t = tokens();
    Panel::right(("runs-right", salt))
        .resizable(true)
        .default_size(width)
        .size_range(t.panel.right.min..=t.panel.right.max)
        .frame(Frame::NONE.fill(Palette::of(ui).bg_surface))
        .show(ui, |ui| {
            // A panel that is not filled would shrink to its contents.
            ui.set_min_size(ui.available_size());
            landmarks::mark(ui, "Summary, parameter and chains");
            right_ui(ui, state, entry, view, out, bottom_height);
        });
}

/// What the left panel leads to, where there is no room for it.
fn left_rail_ui(ui: &mut Ui, state: &AppState, out: &mut Outbox) {
    let t = tokens();
    ui.add_space(t.space.x1);
    ui.spacing_mut().item_spacing.y = t.space.x1;
    for (icon, label, page, able) in [
        (icons::TABLE, "Data", Page::Data, state.data.is_some()),
        (
            icons::FUNCTION,
            "Model",
            Page::Model,
            state.document.is_some(),
        ),
    ] {
        if ui
            .add_enabled(able, Button::icon_only(icon, label).small())
            .clicked()
        {
            out.send(Command::GoTo(page));
        }
    }
    let runs = ui.add(Button::icon_only(icons::LIST_NUMBERS, "Runs").small());
    super::menu::menu(&runs, 220.0, |ui| {
        for entry in state.runs.iter().rev() {
            let sampler = entry.sampler().map_or("auto", |spec| spec.title);
            let chosen = state.selected_run == Some(entry.id);
            if super::menu::item(ui, &entry.title(), sampler, chosen).clicked() {
                out.send(ViewCommand::SelectRun(entry.id));
            }
        }
    });
}

fn right_ui(
    ui: &mut Ui,
    state: &AppState,
    entry: &RunEntry,
    view: &mut RunsView,
    out: &mut Outbox,
    chains_height: f32,
) {
    let (Some(run), Some(report)) = (entry.view(), entry.report()) else {
        widgets::empty_state(
            ui,
            icons::TABLE,
            "The summary appears after the warm-up",
            None,
        );
        return;
    };
    ui.spacing_mut().item_spacing.y = 0.0;
    if state.preferences.depth != Depth::Verdict {
        Panel::bottom("runs-chains")
            .exact_size(chains_height)
            .frame(Frame::NONE)
            .show(ui, |ui| chains::chains_ui(ui, entry, &run));
    }
    Panel::bottom("runs-selected")
        .exact_size(selected::HEIGHT)
        .frame(Frame::NONE)
        .show(ui, |ui| {
            selected::selected_ui(ui, entry, &report, state.selected_variable);
        });
    summary::summary_ui(ui, state, entry, &report, view.dock.summary(), out);
}

fn no_run_ui(ui: &mut Ui, state: &AppState, out: &mut Outbox) {
    let opening = match state.runs_being_opened() {
        0 => None,
        1 => Some("Opening 1 run…".to_owned()),
        count => Some(format!("Opening {count} runs…")),
    };
    if let Some(words) = opening {
        let words = format!("{words} {}", number::percent(state.share_opened(), 1));
        widgets::empty_state(ui, icons::HOURGLASS_MEDIUM, &words, None);
        return;
    }
    let (sentence, act, command) = if state.document.is_some() {
        (
            "Runs appear here; start one with the model and sampler as they are",
            "Run the model",
            RunCommand::Start.into(),
        )
    } else {
        (
            "Runs appear here once there are data and a model",
            "Open data",
            Command::GoTo(Page::Start),
        )
    };
    if widgets::empty_state(ui, icons::WAVEFORM, sentence, Some(act)) {
        out.send(command);
    }
}

/// Why a run could not be started, what is safe, and where to change it.
fn refused_ui(ui: &mut Ui, entry: &RunEntry, reason: &str, out: &mut Outbox) {
    let t = tokens();
    let width = ui.available_width().min(t.size.reading_column);
    ui.add_space(t.space.x12);
    ui.horizontal(|ui| {
        ui.add_space(((ui.available_width() - width) / 2.0).max(t.space.x4));
        ui.vertical(|ui| {
            ui.set_width(width - t.space.x8);
            ui.spacing_mut().item_spacing.y = t.space.x2;
            let title = format!("{} could not be started", entry.title());
            widgets::heading(ui, &title);
            widgets::sentence(ui, reason, Text::Body);
            widgets::hint(
                ui,
                "Nothing was drawn and nothing was lost: data and draft are as they were.",
            );
            ui.add_space(t.space.x2);
            ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = t.space.x2;
                if ui
                    .add(
                        Button::new("Change the model")
                            .icon(icons::FUNCTION)
                            .primary(),
                    )
                    .clicked()
                {
                    out.send(Command::GoTo(Page::Model));
                }
                if ui
                    .add(Button::new("Change the sampler").icon(icons::SLIDERS_HORIZONTAL))
                    .clicked()
                {
                    out.send(Command::GoTo(Page::Sampler));
                }
                if ui
                    .add(
                        Button::new("Remove from project")
                            .icon(icons::TRASH)
                            .quiet(),
                    )
                    .clicked()
                {
                    out.send(RunCommand::Remove(entry.id));
                }
            });
        });
    });
}
