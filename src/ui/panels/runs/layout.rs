//! The dock's arrangement as projects keep it, and back.

use eframe::egui::Id;
use egui_tiles::{Container, Linear, LinearDir, Tabs, Tile, TileId, Tiles, Tree};

use super::dock::Pane;
use ergodic_export::project::PaneLayout;

/// Shares of a line are kept to a thousandth.
const SHARE_UNIT: f64 = 1000.0;

/// What `tree` looks like; `None` if it is empty.
pub(super) fn layout_of(tree: &Tree<Pane>) -> Option<PaneLayout> {
    part(tree, tree.root()?)
}

fn part(tree: &Tree<Pane>, id: TileId) -> Option<PaneLayout> {
    let container = match tree.tiles.get(id)? {
        Tile::Pane(pane) => return Some(PaneLayout::Pane(pane.key())),
        Tile::Container(container) => container,
    };
    let children: Vec<TileId> = container.children().copied().collect();
    let parts = || {
        children
            .iter()
            .filter_map(|&child| part(tree, child))
            .collect()
    };
    Some(match container {
        Container::Tabs(tabs) => PaneLayout::Tabs {
            front: children
                .iter()
                .position(|child| tabs.active == Some(*child))
                .unwrap_or_default(),
            parts: parts(),
        },
        Container::Linear(linear) => {
            let all: f32 = children.iter().map(|&child| linear.shares[child]).sum();
            let share = |&child: &TileId| {
                let share = f64::from(linear.shares[child] / all);
                (share * SHARE_UNIT).round() / SHARE_UNIT
            };
            let (shares, parts) = (children.iter().map(share).collect(), parts());
            match linear.dir {
                LinearDir::Horizontal => PaneLayout::Row { shares, parts },
                LinearDir::Vertical => PaneLayout::Column { shares, parts },
            }
        }
        Container::Grid(_) => PaneLayout::Row {
            shares: vec![1.0; children.len()],
            parts: parts(),
        },
    })
}

/// The tree called `id` that looks like `layout`, with every one of `panes`: those that the layout does not know are tabs
/// beside the first. `None` if nothing of the layout is known.
pub(super) fn tree_of(layout: &PaneLayout, id: Id, panes: &[Pane]) -> Option<Tree<Pane>> {
    let mut tiles = Tiles::default();
    let mut left: Vec<Pane> = panes.to_vec();
    let mut first = None;
    let root = tile(layout, &mut tiles, &mut left, &mut first)?;
    let extra: Vec<TileId> = left
        .into_iter()
        .map(|pane| tiles.insert_pane(pane))
        .collect();
    if let Some(Tile::Container(Container::Tabs(tabs))) = first.and_then(|id| tiles.get_mut(id)) {
        extra.iter().for_each(|&child| tabs.add_child(child));
        return Some(Tree::new(id, root, tiles));
    }
    // A layout without tabs: everything unknown gets some of its own.
    let root = if extra.is_empty() {
        root
    } else {
        let beside = tiles.insert_tab_tile(extra);
        tiles.insert_vertical_tile(vec![root, beside])
    };
    Some(Tree::new(id, root, tiles))
}

fn tile(
    layout: &PaneLayout,
    tiles: &mut Tiles<Pane>,
    left: &mut Vec<Pane>,
    first: &mut Option<TileId>,
) -> Option<TileId> {
    match layout {
        PaneLayout::Pane(name) => {
            let at = left.iter().position(|pane| pane.key() == *name)?;
            Some(tiles.insert_pane(left.remove(at)))
        }
        PaneLayout::Tabs { front, parts } => {
            let made: Vec<Option<TileId>> = parts
                .iter()
                .map(|part| tile(part, tiles, left, first))
                .collect();
            let children: Vec<TileId> = made.iter().flatten().copied().collect();
            if children.is_empty() {
                return None;
            }
            let mut tabs = Tabs::new(children);
            if let Some(Some(child)) = made.get(*front) {
                tabs.set_active(*child);
            }
            let id = tiles.insert_new(Tile::Container(Container::Tabs(tabs)));
            first.get_or_insert(id);
            Some(id)
        }
        PaneLayout::Row { shares, parts } | PaneLayout::Column { shares, parts } => {
            let mut children = Vec::new();
            let mut kept = Vec::new();
            for (k, part) in parts.iter().enumerate() {
                if let Some(child) = tile(part, tiles, left, first) {
                    children.push(child);
                    kept.push(shares.get(k).copied().unwrap_or(1.0));
                }
            }
            if children.len() < 2 {
                return children.pop();
            }
            let dir = match layout {
                PaneLayout::Row { .. } => LinearDir::Horizontal,
                _ => LinearDir::Vertical,
            };
            let mut linear = Linear::new(dir, children.clone());
            for (child, share) in children.into_iter().zip(kept) {
                if share > 0.0 {
                    linear.shares.set_share(child, share as f32);
                }
            }
            Some(tiles.insert_new(Tile::Container(Container::Linear(linear))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pane(name: &str) -> PaneLayout {
        PaneLayout::Pane(name.to_owned())
    }

    fn tabs(front: usize, names: &[&str]) -> PaneLayout {
        PaneLayout::Tabs {
            front,
            parts: names.iter().map(|name| pane(name)).collect(),
        }
    }

    #[test]
    fn a_layout_comes_back_as_it_was() {
        let layout = PaneLayout::Column {
            shares: vec![0.25, 0.75],
            parts: vec![
                tabs(1, &["trace", "rank"]),
                PaneLayout::Row {
                    shares: vec![0.6, 0.4],
                    parts: vec![tabs(0, &["density"]), tabs(0, &["convergence"])],
                },
            ],
        };
        let panes = [Pane::Trace, Pane::Rank, Pane::Density, Pane::Convergence];
        let tree = tree_of(&layout, Id::unique("t"), &panes).unwrap();
        assert_eq!(layout_of(&tree), Some(layout.clone()));
        // Through the text of a project file.
        let text = toml::to_string(&layout).unwrap();
        assert_eq!(toml::from_str::<PaneLayout>(&text).unwrap(), layout);
    }

    #[test]
    fn panes_that_a_layout_does_not_know_join_its_first_tabs() {
        let layout = PaneLayout::Row {
            shares: vec![0.5, 0.5],
            parts: vec![tabs(0, &["trace", "nonsense"]), tabs(0, &["gone"])],
        };
        let tree = tree_of(&layout, Id::unique("t"), &[Pane::Trace, Pane::Rank]).unwrap();
        assert_eq!(layout_of(&tree), Some(tabs(0, &["trace", "rank"])));
        assert!(tree_of(&pane("gone"), Id::unique("t"), &[Pane::Trace]).is_none());
    }
}
