//! The dock's arrangement as projects keep it, and back.

use eframe::egui::Id;
use egui_tiles::{Container, Linear, LinearDir, Tabs, Tile, TileId, Tiles, Tree};

use super::dock::Listed;
use ergodic_export::project::PaneLayout;

/// Shares of a line are kept to a thousandth.
const SHARE_UNIT: f64 = 1000.0;

/// What `tree` looks like; `None` if it is empty.
pub(super) fn layout_of(tree: &Tree<Listed>) -> Option<PaneLayout> {
    part(tree, tree.root()?)
}

fn part(tree: &Tree<Listed>, id: TileId) -> Option<PaneLayout> {
    let container = match tree.tiles.get(id)? {
        Tile::Pane(pane) => return Some(PaneLayout::Pane(pane.id.to_owned())),
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
pub(super) fn tree_of(layout: &PaneLayout, id: Id, panes: &[Listed]) -> Option<Tree<Listed>> {
    let mut tiles = Tiles::default();
    let mut left: Vec<Listed> = panes.to_vec();
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
        let tabs = tiles.insert_tab_tile(extra);
        tiles.insert_vertical_tile(vec![root, tabs])
    };
    Some(Tree::new(id, root, tiles))
}

fn tile(
    layout: &PaneLayout,
    tiles: &mut Tiles<Listed>,
    left: &mut Vec<Listed>,
    first: &mut Option<TileId>,
) -> Option<TileId> {
    match layout {
        PaneLayout::Pane(name) => {
            let at = left.iter().position(|pane| pane.id == *name)?;
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
    use crate::ui::panels::runs::PANES;
    use crate::ui::panels::runs::pane::find;

    fn pane(name: &str) -> PaneLayout {
        PaneLayout::Pane(name.to_owned())
    }

    fn tabs(front: usize, names: &[&str]) -> PaneLayout {
        PaneLayout::Tabs {
            front,
            parts: names.iter().map(|name| pane(name)).collect(),
        }
    }

    fn listed(ids: &[&str]) -> Vec<Listed> {
        ids.iter().map(|id| find(id).unwrap()).collect()
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
        let panes = listed(&["trace", "rank", "density", "convergence"]);
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
        let tree = tree_of(&layout, Id::unique("t"), &listed(&["trace", "rank"])).unwrap();
        assert_eq!(layout_of(&tree), Some(tabs(0, &["trace", "rank"])));
        assert!(tree_of(&pane("gone"), Id::unique("t"), &listed(&["trace"])).is_none());
    }

    /// As the first version with panes wrote them, by the words of their tabs in lower case.
    const OLD: &str = r#"
        [column]
        shares = [0.55, 0.45]

        [[column.parts]]
        [column.parts.tabs]
        front = 4
        parts = [
            { pane = "trace" }, { pane = "rank" }, { pane = "autocorrelation" }, { pane = "clusters" },
            { pane = "predictions" }, { pane = "likelihood" },
        ]

        [[column.parts]]
        [column.parts.row]
        shares = [0.3, 0.7]
        parts = [
            { tabs = { front = 1, parts = [{ pane = "density" }, { pane = "groups" }] } },
            { tabs = { front = 3, parts = [
                { pane = "convergence" }, { pane = "bias" }, { pane = "prior" }, { pane = "sampler" }, { pane = "peak" },
            ] } },
        ]
    "#;

    #[test]
    fn a_layout_of_the_first_version_opens_with_all_of_its_panes_where_they_were() {
        let layout: PaneLayout = toml::from_str(OLD).unwrap();
        let all: Vec<Listed> = PANES.iter().filter(|pane| pane.is_wide()).collect();
        let tree = tree_of(&layout, Id::unique("t"), &all).unwrap();
        let PaneLayout::Column { shares, mut parts } = layout_of(&tree).unwrap() else {
            panic!("a column");
        };
        assert_eq!(shares, [0.55, 0.45]);
        let PaneLayout::Column {
            parts: mut written, ..
        } = layout
        else {
            panic!("a column");
        };
        // Below nothing changed; above, panes that are newer come after those that were there.
        assert_eq!(parts.pop(), written.pop());
        let (Some(PaneLayout::Tabs { front, parts }), Some(PaneLayout::Tabs { parts: old, .. })) =
            (parts.pop(), written.pop())
        else {
            panic!("tabs");
        };
        assert_eq!(front, 4);
        assert_eq!(parts[..old.len()], old);
        let known = |part: &PaneLayout| matches!(part, PaneLayout::Pane(id) if find(id).is_some());
        assert!(
            parts.len() > old.len() && parts.iter().all(known),
            "{parts:?}"
        );
    }

    #[test]
    fn a_layout_of_all_panes_comes_back() {
        let all: Vec<Listed> = PANES.iter().collect();
        let ids: Vec<&str> = all.iter().map(|pane| pane.id).collect();
        let layout = tabs(2, &ids);
        let tree = tree_of(&layout, Id::unique("t"), &all).unwrap();
        assert_eq!(layout_of(&tree), Some(layout));
    }
}
