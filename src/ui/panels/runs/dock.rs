//! The dock in the middle: panes that can be dragged, split and put behind each other.

use eframe::egui::style::ScrollAnimation;
use eframe::egui::{
    self, Color32, Id, Response, Sense, Stroke, Style, Ui, Visuals, WidgetText, vec2,
};
use egui_tiles::{
    Behavior, Container, EditAction, Linear, LinearDir, ResizeState, SimplificationOptions,
    TabState, Tabs, Tile, TileId, Tiles, Tree, UiResponse,
};

use super::PANES;
use super::answers::Answers;
use super::layout::{layout_of, tree_of};
use super::pane::{Home, Kept, Pane as _, PaneEntry, find};
use super::panes::{Bias, Density, PaneViews, Rank, Trace, Variable};
use super::summary::SummaryView;
use crate::app::{AppState, Depth, RunEntry, ViewCommand};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::panels::menu::{NORMAL, item, menu};
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::{self, Button, Tab, paint};
use ergodic_export::project::PaneLayout;

/// Name of the menu of a strip whose tabs have no room.
const ALL_TABS: &str = "All tabs of this strip";

/// Share of the middle that answers about the outcome take, where only the verdict and what follows from it is shown.
const OUTCOME: f32 = 0.6;

/// A pane in a tree.
pub(super) type Listed = &'static PaneEntry;

/// Layout and what panes keep.
#[derive(Default)]
pub struct DockView {
    tree: Option<Tree<Listed>>,
    /// Where there is no room for the panel at the right, its table is a tab.
    narrow_tree: Option<Tree<Listed>>,
    kept: Kept,
    views: PaneViews,
    /// The run shown last, and whether it had ended.
    seen: Option<(u64, bool)>,
    /// The pane that is to come to the front.
    wanted: Option<Listed>,
    /// A pane that somebody asked for and the run for which they did: its tab is there even if it has nothing to show.
    asked: Option<(u64, Listed)>,
    /// The run whose bias tab was brought to the front.
    shown_bias: Option<u64>,
    /// The arrangement that the state and the tree agreed on last.
    agreed: Option<PaneLayout>,
    /// The arrangement is to be forgotten.
    forget: bool,
    /// Panes in front.
    fronts: Vec<Listed>,
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

    /// Brings a pane to the front, where it is a tab.
    pub fn show(&mut self, pane: Listed) {
        self.wanted = Some(pane);
    }

    /// What the table keeps, which the panel at the right shows too.
    pub fn summary(&mut self) -> &mut SummaryView {
        &mut self.views.summary
    }
}

fn layout(narrow: bool) -> Tree<Listed> {
    let mut tiles = Tiles::default();
    let mut tabs = |homes: &[Home]| {
        let panes = PANES.iter().filter(|pane| homes.contains(&pane.home));
        let children: Vec<TileId> = panes.map(|pane| tiles.insert_pane(pane)).collect();
        tiles.insert_tab_tile(children)
    };
    let above: &[Home] = if narrow {
        &[Home::Above, Home::Narrow]
    } else {
        &[Home::Above]
    };
    let (above, left, right) = (tabs(above), tabs(&[Home::Left]), tabs(&[Home::Right]));
    let mut pair = |dir: LinearDir, children: [TileId; 2], share: f32| {
        let linear = Linear::new_binary(dir, children, share);
        tiles.insert_new(Tile::Container(Container::Linear(linear)))
    };
    let low = pair(LinearDir::Horizontal, [left, right], 0.46);
    let root = pair(LinearDir::Vertical, [above, low], 0.5);
    Tree::new(tree_id(narrow), root, tiles)
}

fn tree_id(narrow: bool) -> Id {
    Id::unique(("runs dock", narrow))
}

/// Brings the pane called `id` to the front of its tabs, if the tree has it.
fn to_front(tree: &mut Tree<Listed>, id: &str) -> bool {
    tree.make_active(|_, tile| matches!(tile, Tile::Pane(pane) if pane.id == id))
}

/// Shows the dock, or a single density for those who want only the verdict.
pub fn dock_ui(
    ui: &mut Ui,
    state: &AppState,
    entry: &RunEntry,
    view: &mut DockView,
    narrow: bool,
    out: &mut Outbox,
) {
    let (Some(run), Some(report)) = (entry.view(), entry.report()) else {
        return;
    };
    let names = entry.variables();
    let Some(of) = Variable::new(state, entry, (&run, &report), &names) else {
        return;
    };
    let mut panes = Panes {
        of: &of,
        kept: &mut view.kept,
        views: &mut view.views,
        out,
        edited: false,
        drawn: Vec::new(),
        before: view.fronts.clone(),
        chosen: None,
    };
    if state.preferences.depth == Depth::Verdict {
        let area = ui.available_rect_before_wrap();
        let id = if report.bias.is_some() || entry.control.is_some() {
            Bias::ID
        } else {
            Density::ID
        };
        // What the model says of its outcome comes before what it says of a parameter.
        let tells = !entry.is_active() && entry.can_predict() && !entry.explains_nothing();
        let (above, below) = area.split_top_bottom_at_fraction(if tells { OUTCOME } else { 0.0 });
        for (id, area) in [(Answers::ID, above), (id, below)] {
            if area.height() == 0.0 {
                continue;
            }
            ui.scope_builder(egui::UiBuilder::new().max_rect(area), |ui| {
                ui.set_clip_rect(area.intersect(ui.clip_rect()));
                if let Some(pane) = find(id) {
                    panes.show(ui, pane);
                }
            });
        }
        if tells {
            paint::hair_below(ui, above);
        }
        return;
    }
    if std::mem::take(&mut view.forget) && view.agreed.take().is_some() {
        panes.out.send(ViewCommand::KeepPanes(None));
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
            kept.and_then(|kept| tree_of(kept, tree_id(false), &wide()))
                .unwrap_or_else(|| layout(false))
        })
    };
    // What was in front stays in front when the window becomes narrow or wide.
    if view.was_narrow != narrow {
        view.was_narrow = narrow;
        for pane in &view.fronts {
            to_front(tree, pane.id);
        }
    }
    if let Some(pane) = view.wanted.take() {
        view.asked = Some((entry.id, pane));
        panes.edited = to_front(tree, pane.id);
    }
    // Tabs that say nothing about this model stay away, but for one that somebody asks for.
    let shown: Vec<(TileId, bool)> = tree
        .tiles
        .iter()
        .filter_map(|(&id, tile)| match tile {
            Tile::Pane(pane) => Some((id, *pane)),
            Tile::Container(_) => None,
        })
        .map(|(id, pane)| {
            let asked = view.asked == Some((entry.id, pane));
            (id, asked || pane.shows(&of).is_ok())
        })
        .collect();
    for (id, shown) in shown {
        tree.set_visible(id, shown);
    }
    // The trace is for live runs; a finished one says what it found, or how its chains agree where it explains no outcome.
    let now = (entry.id, run.is_finished());
    if view.seen != Some(now) {
        let front = match now.1 {
            true if entry.can_predict() => Answers::ID,
            true => Rank::ID,
            false => Trace::ID,
        };
        // Only where one of these is in front already: somebody who looks at something else goes on doing so.
        let active = tree.active_tiles();
        let shown = |id: &TileId| match tree.tiles.get(*id) {
            Some(Tile::Pane(pane)) => [Answers::ID, Trace::ID, Rank::ID].contains(&pane.id),
            _ => false,
        };
        let is_asked_for = view.asked.is_some_and(|(run, _)| run == entry.id);
        if !is_asked_for && active.iter().any(shown) {
            to_front(tree, front);
        }
        view.seen = Some(now);
    }
    // A check that someone asked for is what they want to see.
    if entry.control.is_some() && view.shown_bias != Some(entry.id) {
        view.shown_bias = Some(entry.id);
        to_front(tree, Bias::ID);
    } else if entry.control.is_none() && report.bias.is_none() {
        view.shown_bias = None;
    }
    tree.ui(&mut panes, ui);
    if let Some(pane) = panes.chosen {
        panes.edited |= to_front(tree, pane.id);
    }
    view.fronts = fronts(tree);
    if panes.edited && !narrow {
        let now = layout_of(tree);
        if now != view.agreed {
            view.agreed.clone_from(&now);
            panes.out.send(ViewCommand::KeepPanes(now));
        }
    }
    if (view.asked).is_some_and(|(_, pane)| !view.fronts.contains(&pane)) {
        view.asked = None;
    }
    for pane in PANES.iter().filter(|pane| !panes.drawn.contains(pane)) {
        panes.kept.of(pane).unseen(&of, panes.out);
    }
}

/// All that the dock has where there is room for the panel at the right.
fn wide() -> Vec<Listed> {
    PANES.iter().filter(|pane| pane.is_wide()).collect()
}

/// The panes that are shown.
fn fronts(tree: &Tree<Listed>) -> Vec<Listed> {
    let active = tree.active_tiles();
    let pane = |id: TileId| tree.tiles.get_pane(&id).copied();
    active.into_iter().filter_map(pane).collect()
}

struct Panes<'a> {
    of: &'a Variable<'a>,
    kept: &'a mut Kept,
    views: &'a mut PaneViews,
    out: &'a mut Outbox,
    /// Somebody moved, resized or chose a pane.
    edited: bool,
    /// Panes that were drawn in this frame.
    drawn: Vec<Listed>,
    /// Panes that were in front in the frame before.
    before: Vec<Listed>,
    /// A pane that somebody chose from the menu of a strip.
    chosen: Option<Listed>,
}

impl Panes<'_> {
    fn show(&mut self, ui: &mut Ui, pane: Listed) {
        let colors = Palette::of(ui);
        ui.painter().rect_filled(ui.max_rect(), 0.0, colors.plot_bg);
        ui.spacing_mut().item_spacing.y = 0.0;
        self.drawn.push(pane);
        if let Err(why) = pane.shows(self.of) {
            widgets::empty_state(ui, pane.icon, why, None);
            return;
        }
        let kept = self.kept.of(pane);
        kept.ui(ui, self.of, self.views, self.out);
    }

    /// All tabs of a strip that has no room for them, as a menu.
    fn hidden_tabs_ui(&mut self, ui: &mut Ui, listed: impl Iterator<Item = Listed>, front: Listed) {
        let button = ui.add(
            Button::icon_only(icons::CARET_DOWN, ALL_TABS)
                .quiet()
                .small(),
        );
        menu(&button.on_hover_text(ALL_TABS), NORMAL, |ui| {
            for pane in listed {
                if item(ui, pane.title, "", pane == front).clicked() {
                    self.chosen = Some(pane);
                }
            }
        });
    }
}

impl Behavior<Listed> for Panes<'_> {
    fn pane_ui(&mut self, ui: &mut Ui, _tile: TileId, pane: &mut Listed) -> UiResponse {
        self.show(ui, pane);
        UiResponse::None
    }

    fn tab_title_for_pane(&mut self, pane: &Listed) -> WidgetText {
        Text::Label.rich(pane.title, Color32::PLACEHOLDER).into()
    }

    fn tab_ui(
        &mut self,
        tiles: &mut Tiles<Listed>,
        ui: &mut Ui,
        id: Id,
        tile: TileId,
        tab: &TabState,
    ) -> Response {
        let Some(pane) = tiles.get_pane(&tile).copied() else {
            return ui.allocate_response(vec2(0.0, 0.0), Sense::hover());
        };
        let mut look = Tab::new(pane.title, tab.active);
        if tab.active {
            look = look.icon(pane.icon);
        }
        let shown = ui.add(look);
        if tab.active && !self.before.contains(&pane) {
            // It may have come to the front by other ways than a click on it.
            shown.scroll_to_me_animation(None, ScrollAnimation::none());
        }
        // The dock finds a dragged tab by this id; the tab's own response keeps keyboard and screen reader.
        // It is no stop of its own for the keyboard.
        let dragged = ui.interact(shown.rect, id, Sense::CLICK | Sense::DRAG);
        dragged.union(shown).on_hover_text(pane.about)
    }

    fn top_bar_right_ui(
        &mut self,
        tiles: &Tiles<Listed>,
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
                .map(|it| Tab::width(ui, it.title, **it == *pane))
                .sum();
            ui.add_space(tokens().space.x3);
            let kept = self.kept.of(pane);
            kept.strip_ui(ui, self.of, self.views, width);
            if width > ui.available_width() {
                let listed = (tabs.children.iter())
                    .filter(|tile| tiles.is_visible(**tile))
                    .filter_map(|tile| tiles.get_pane(tile).copied());
                self.hidden_tabs_ui(ui, listed, pane);
            }
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
