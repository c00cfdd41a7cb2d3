//! The dock in the middle: panes that can be dragged, split and put behind each other.

use eframe::egui::{
    self, Align, Color32, Id, Layout, Response, Sense, Stroke, Style, Ui, Visuals, WidgetText, vec2,
};
use egui_tiles::{
    Behavior, Container, EditAction, Linear, LinearDir, ResizeState, SimplificationOptions,
    TabState, Tabs, Tile, TileId, Tiles, Tree, UiResponse,
};

use super::layout::{layout_of, tree_of};
use super::panes::{PaneViews, pane_ui};
use super::summary::{SummaryView, summary_body_ui};
use crate::app::entry::Predicted;
use crate::app::{AppState, Command, Depth, RunEntry};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::plots::legend::{Sign, entry as legend_entry};
use crate::ui::plots::{TraceSpan, chain_legend};
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::{Segments, Tab, paint};
use ergodic_core::engine::{Report, RunView};
use ergodic_core::models::effect_of;
use ergodic_export::project::PaneLayout;

/// What a pane shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pane {
    /// Draws against iterations.
    Trace,
    /// Rank histograms.
    Rank,
    /// Autocorrelation.
    Autocorrelation,
    /// Posterior density.
    Density,
    /// Measures of convergence.
    Convergence,
    /// Comparison with a control run.
    Bias,
    /// What the sampler reports.
    Info,
    /// Effects of groups beside each other.
    Groups,
    /// How much the prior matters.
    Prior,
    /// How the mode was found.
    Peak,
    /// Clusters of a mixture.
    Clusters,
    /// Predicted against observed outcomes.
    Predictions,
    /// The likelihood fit beside the posterior.
    Beside,
    /// The table, where there is no room for the panel at the right.
    Summary,
}

impl Pane {
    /// Panes of the dock where there is room for the panel at the right.
    const WIDE: [Self; 13] = [
        Self::Trace,
        Self::Rank,
        Self::Autocorrelation,
        Self::Clusters,
        Self::Predictions,
        Self::Beside,
        Self::Density,
        Self::Groups,
        Self::Convergence,
        Self::Bias,
        Self::Prior,
        Self::Info,
        Self::Peak,
    ];

    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Trace => "Trace",
            Self::Rank => "Rank",
            Self::Autocorrelation => "Autocorrelation",
            Self::Density => "Density",
            Self::Convergence => "Convergence",
            Self::Bias => "Bias",
            Self::Info => "Sampler",
            Self::Groups => "Groups",
            Self::Prior => "Prior",
            Self::Peak => "Mode",
            Self::Clusters => "Clusters",
            Self::Predictions => "Predictions",
            Self::Beside => "Likelihood",
            Self::Summary => "Summary",
        }
    }

    /// Name of the pane in projects, which stays what it is.
    pub(super) fn key(self) -> String {
        match self {
            Self::Peak => "peak".to_owned(),
            other => other.label().to_lowercase(),
        }
    }

    fn icon(self) -> char {
        match self {
            Self::Trace => icons::WAVEFORM,
            Self::Rank => icons::CHART_BAR,
            Self::Autocorrelation => icons::CHART_LINE,
            Self::Density => icons::CHART_LINE,
            Self::Convergence => icons::CHART_LINE_UP,
            Self::Bias => icons::SEAL_QUESTION,
            Self::Info => icons::GAUGE,
            Self::Groups => icons::CHART_BAR_HORIZONTAL,
            Self::Prior => icons::SCALES,
            Self::Peak => icons::CHART_LINE_UP,
            Self::Clusters => icons::CHART_SCATTER,
            Self::Predictions => icons::CHART_SCATTER,
            Self::Beside => icons::CHART_LINE_UP,
            Self::Summary => icons::TABLE,
        }
    }
}

/// Layout and what panes keep.
#[derive(Default)]
pub struct DockView {
    tree: Option<Tree<Pane>>,
    /// Where there is no room for the panel at the right, its table is a tab.
    narrow_tree: Option<Tree<Pane>>,
    panes: PaneViews,
    /// The run shown last, and whether it had ended.
    seen: Option<(u64, bool)>,
    /// The table is to come to the front.
    show_summary: bool,
    /// The run whose bias tab was brought to the front.
    shown_bias: Option<u64>,
    /// The arrangement that the state and the tree agreed on last.
    agreed: Option<PaneLayout>,
    /// The arrangement is to be forgotten.
    forget: bool,
    /// Panes in front.
    fronts: Vec<Pane>,
    /// Whether there was no room for the panel at the right.
    was_narrow: bool,
}

impl DockView {
    /// Forgets what was moved.
    pub fn reset(&mut self) {
        self.tree = None;
        self.narrow_tree = None;
        self.seen = None;
        self.forget = true;
    }

    /// Brings the table to the front, where it is a tab.
    pub fn show_summary(&mut self) {
        self.show_summary = true;
    }
}

fn layout(with_summary: bool) -> Tree<Pane> {
    let mut tiles = Tiles::default();
    let mut tabs = |panes: &[Pane]| {
        let children: Vec<TileId> = panes.iter().map(|pane| tiles.insert_pane(*pane)).collect();
        tiles.insert_tab_tile(children)
    };
    let mut first = vec![
        Pane::Trace,
        Pane::Rank,
        Pane::Autocorrelation,
        Pane::Clusters,
        Pane::Predictions,
        Pane::Beside,
    ];
    if with_summary {
        first.push(Pane::Summary);
    }
    let top = tabs(&first);
    let left = tabs(&[Pane::Density, Pane::Groups]);
    let right = tabs(&[
        Pane::Convergence,
        Pane::Bias,
        Pane::Prior,
        Pane::Info,
        Pane::Peak,
    ]);
    let mut pair = |dir: LinearDir, children: [TileId; 2], share: f32| {
        let linear = Linear::new_binary(dir, children, share);
        tiles.insert_new(Tile::Container(Container::Linear(linear)))
    };
    let low = pair(LinearDir::Horizontal, [left, right], 0.46);
    let root = pair(LinearDir::Vertical, [top, low], 0.5);
    Tree::new(tree_id(with_summary), root, tiles)
}

fn tree_id(with_summary: bool) -> Id {
    Id::unique(("runs dock", with_summary))
}

/// Shows the dock, or a single density for those who want only the verdict.
pub fn dock_ui(
    ui: &mut Ui,
    state: &AppState,
    entry: &RunEntry,
    (view, summary): (&mut DockView, &mut SummaryView),
    narrow: bool,
    out: &mut Outbox,
) {
    let (Some(run), Some(report)) = (entry.view(), entry.report()) else {
        return;
    };
    let mut panes = Panes {
        state,
        entry,
        run: &run,
        report: &report,
        views: &mut view.panes,
        summary,
        out,
        edited: false,
        predicting: false,
    };
    if state.preferences.depth == Depth::Verdict {
        let area = ui.available_rect_before_wrap();
        let pane = if report.bias.is_some() || entry.control.is_some() {
            Pane::Bias
        } else {
            Pane::Density
        };
        ui.scope_builder(egui::UiBuilder::new().max_rect(area), |ui| {
            panes.show(ui, pane);
        });
        return;
    }
    if std::mem::take(&mut view.forget) && view.agreed.take().is_some() {
        panes.out.send(Command::KeepPanes(None));
    } else if view.agreed != state.panes {
        // A project was opened or closed.
        view.agreed.clone_from(&state.panes);
        view.tree = None;
    }
    let tree = if narrow {
        view.narrow_tree.get_or_insert_with(|| layout(true))
    } else {
        let kept = state.panes.as_ref();
        view.tree.get_or_insert_with(|| {
            kept.and_then(|kept| tree_of(kept, tree_id(false), &Pane::WIDE))
                .unwrap_or_else(|| layout(false))
        })
    };
    // What was in front stays in front when the window becomes narrow or wide.
    if view.was_narrow != narrow {
        view.was_narrow = narrow;
        for pane in view.fronts.iter().copied() {
            tree.make_active(|_, tile| matches!(tile, Tile::Pane(it) if *it == pane));
        }
    }
    // Tabs that say nothing about this model stay away.
    let clusters = report.clusters.is_some()
        || entry
            .job()
            .is_some_and(|job| job.model.partition().is_some());
    let groups = report
        .summary
        .iter()
        .any(|row| effect_of(&row.variable).is_some());
    let predicts = entry.can_predict();
    let optional: Vec<(TileId, bool)> = tree
        .tiles
        .iter()
        .filter_map(|(&id, tile)| match tile {
            Tile::Pane(Pane::Clusters) => Some((id, clusters)),
            Tile::Pane(Pane::Groups | Pane::Beside) => Some((id, groups)),
            Tile::Pane(Pane::Predictions) => Some((id, predicts)),
            _ => None,
        })
        .collect();
    for (id, shown) in optional {
        tree.set_visible(id, shown);
    }
    // The trace is for live runs; what a finished one says is in ranks and densities.
    let now = (entry.id, run.is_finished());
    if view.seen != Some(now) {
        let front = if now.1 { Pane::Rank } else { Pane::Trace };
        let top = [Pane::Trace, Pane::Rank];
        // Only where one of the two is in front already: somebody who looks at something else goes on doing so.
        let active = tree.active_tiles();
        let shown = |id: &TileId| match tree.tiles.get(*id) {
            Some(Tile::Pane(pane)) => top.contains(pane),
            _ => false,
        };
        if active.iter().any(shown) {
            tree.make_active(|_, tile| matches!(tile, Tile::Pane(pane) if *pane == front));
        }
        view.seen = Some(now);
    }
    if std::mem::take(&mut view.show_summary) {
        tree.make_active(|_, tile| matches!(tile, Tile::Pane(Pane::Summary)));
    }
    // A check that someone asked for is what they want to see.
    if entry.control.is_some() && view.shown_bias != Some(entry.id) {
        view.shown_bias = Some(entry.id);
        tree.make_active(|_, tile| matches!(tile, Tile::Pane(Pane::Bias)));
    } else if entry.control.is_none() && report.bias.is_none() {
        view.shown_bias = None;
    }
    tree.ui(&mut panes, ui);
    view.fronts = fronts(tree);
    if panes.edited && !narrow {
        let now = layout_of(tree);
        if now != view.agreed {
            view.agreed.clone_from(&now);
            panes.out.send(Command::KeepPanes(now));
        }
    }
    // Nobody looks at what is being made.
    if !panes.predicting && matches!(entry.predicted, Predicted::Working(..)) {
        panes.out.send(Command::CancelPredict(entry.id));
    }
}

/// The panes that are shown.
fn fronts(tree: &Tree<Pane>) -> Vec<Pane> {
    let active = tree.active_tiles();
    let pane = |id: TileId| tree.tiles.get_pane(&id).copied();
    active.into_iter().filter_map(pane).collect()
}

struct Panes<'a> {
    state: &'a AppState,
    entry: &'a RunEntry,
    run: &'a RunView,
    report: &'a Report,
    views: &'a mut PaneViews,
    summary: &'a mut SummaryView,
    out: &'a mut Outbox,
    /// Somebody moved, resized or chose a pane.
    edited: bool,
    /// Predictions are shown.
    predicting: bool,
}

impl Panes<'_> {
    fn show(&mut self, ui: &mut Ui, pane: Pane) {
        let colors = Palette::of(ui);
        ui.painter().rect_filled(ui.max_rect(), 0.0, colors.plot_bg);
        if pane == Pane::Summary {
            let (state, entry, report) = (self.state, self.entry, self.report);
            summary_body_ui(ui, state, entry, report, self.summary, self.out);
            return;
        }
        self.predicting |= pane == Pane::Predictions;
        pane_ui(
            ui,
            pane,
            (self.state, self.entry),
            (self.run, self.report),
            self.views,
            self.out,
        );
    }

    /// What stands at the right end of a strip whose tabs take `tabs` points.
    fn trailing_ui(&mut self, ui: &mut Ui, pane: Pane, tabs: f32) {
        let t = tokens();
        let chains = self.run.chains.len();
        ui.add_space(t.space.x3);
        match pane {
            Pane::Trace => {
                Segments::new("Span of the trace", &mut self.views.span)
                    .option(TraceSpan::Follow, "Follow")
                    .option(TraceSpan::Whole, "Whole run")
                    .show(ui);
                ui.add_space(t.space.x2);
                legend_ui(ui, chains, tabs, self.views);
            }
            Pane::Rank | Pane::Autocorrelation => legend_ui(ui, chains, tabs, self.views),
            Pane::Convergence if ui.available_width() > 420.0 => {
                let colors = Palette::of(ui);
                ui.spacing_mut().item_spacing.x = t.space.x3;
                let others = Stroke::new(1.0, colors.text_disabled);
                legend_entry(ui, Sign::Line(others, &[]), "others");
                let selected = Stroke::new(t.stroke.curve_selected, colors.accent);
                legend_entry(ui, Sign::Line(selected, &[]), "selected");
            }
            Pane::Density
            | Pane::Convergence
            | Pane::Bias
            | Pane::Info
            | Pane::Groups
            | Pane::Prior
            | Pane::Peak
            | Pane::Clusters
            | Pane::Predictions
            | Pane::Beside
            | Pane::Summary => {}
        }
    }
}

/// The legend of chains from left to right, whatever the direction around it; left out where the tabs need the room, as the
/// list of chains shows the same signs.
fn legend_ui(ui: &mut Ui, chains: usize, tabs: f32, views: &mut PaneViews) {
    let width = 36.0 + 40.0 * chains as f32;
    if ui.available_width() < width + tabs {
        return;
    }
    ui.allocate_ui_with_layout(
        vec2(width, tokens().size.tab_strip),
        Layout::left_to_right(Align::Center),
        |ui| chain_legend(ui, chains, &mut views.filter),
    );
}

impl Behavior<Pane> for Panes<'_> {
    fn pane_ui(&mut self, ui: &mut Ui, _tile: TileId, pane: &mut Pane) -> UiResponse {
        self.show(ui, *pane);
        UiResponse::None
    }

    fn tab_title_for_pane(&mut self, pane: &Pane) -> WidgetText {
        Text::Label.rich(pane.label(), Color32::PLACEHOLDER).into()
    }

    fn tab_ui(
        &mut self,
        tiles: &mut Tiles<Pane>,
        ui: &mut Ui,
        id: Id,
        tile: TileId,
        tab: &TabState,
    ) -> Response {
        let Some(pane) = tiles.get_pane(&tile).copied() else {
            return ui.allocate_response(vec2(0.0, 0.0), Sense::hover());
        };
        let mut look = Tab::new(pane.label(), tab.active);
        if tab.active {
            look = look.icon(pane.icon());
        }
        let shown = ui.add(look);
        // The dock finds a dragged tab by this id; the tab's own response keeps keyboard and screen reader.
        // It is no stop of its own for the keyboard.
        let dragged = ui.interact(shown.rect, id, Sense::CLICK | Sense::DRAG);
        dragged.union(shown)
    }

    fn top_bar_right_ui(
        &mut self,
        tiles: &Tiles<Pane>,
        ui: &mut Ui,
        _tile: TileId,
        tabs: &Tabs,
        _scroll: &mut f32,
    ) {
        let strip = ui.max_rect();
        paint::hair_below(ui, strip);
        // The arrows of the library, which come after this, look like quiet buttons.
        let widgets = &mut ui.visuals_mut().widgets;
        for look in [
            &mut widgets.inactive,
            &mut widgets.hovered,
            &mut widgets.active,
        ] {
            look.bg_stroke = Stroke::NONE;
        }
        widgets.inactive.weak_bg_fill = Color32::TRANSPARENT;
        if let Some(pane) = tabs.active.and_then(|tile| tiles.get_pane(&tile)).copied() {
            let shown = tabs.children.iter().filter(|tile| tiles.is_visible(**tile));
            let width: f32 = shown
                .filter_map(|tile| tiles.get_pane(tile))
                .map(|it| Tab::width(ui, it.label(), *it == pane))
                .sum();
            self.trailing_ui(ui, pane, width);
        }
    }

    fn on_edit(&mut self, _action: EditAction) {
        self.edited = true;
    }

    fn tab_bar_height(&self, _style: &Style) -> f32 {
        tokens().size.tab_strip
    }

    fn gap_width(&self, _style: &Style) -> f32 {
        1.0
    }

    fn min_size(&self) -> f32 {
        120.0
    }

    fn simplification_options(&self) -> SimplificationOptions {
        SimplificationOptions {
            all_panes_must_have_tabs: true,
            ..SimplificationOptions::default()
        }
    }

    fn tab_bar_color(&self, visuals: &Visuals) -> Color32 {
        colors_of(visuals).bg_strip
    }

    fn resize_stroke(&self, style: &Style, resize: ResizeState) -> Stroke {
        let colors = colors_of(&style.visuals);
        match resize {
            ResizeState::Idle => Stroke::new(1.0, colors.border_subtle),
            ResizeState::Hovering => Stroke::new(2.0, colors.accent),
            ResizeState::Dragging => Stroke::new(2.0, colors.accent_hover),
        }
    }
}

/// The palette of a style, where there is no context to ask.
fn colors_of(visuals: &Visuals) -> &'static Palette {
    [Palette::light(), Palette::dark(), Palette::high_contrast()]
        .into_iter()
        .find(|colors| colors.bg_panel == visuals.panel_fill)
        .unwrap_or(if visuals.dark_mode {
            Palette::dark()
        } else {
            Palette::light()
        })
}
