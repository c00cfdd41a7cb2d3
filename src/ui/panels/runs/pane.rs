//! What a pane of the dock is.

use std::collections::BTreeMap;

use eframe::egui::Ui;

use super::PANES;
use super::panes::{PaneViews, Variable};
use crate::ui::outbox::Outbox;

/// Where a pane opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// The tabs above, over the whole width.
    Above,
    /// The tabs below at the left.
    Left,
    /// The tabs below at the right.
    Right,
    /// The tabs above, where there is no room for the panel at the right.
    Narrow,
}

/// A pane: what the dock knows of it, what it keeps between frames (`Self`), and how it is drawn.
///
/// One file implements this and is listed in [`PANES`]: tabs, saved layouts, the command palette and the tests of all panes
/// follow from there.
pub trait Pane: Default + 'static {
    /// Name in saved layouts. It never changes, whatever the title becomes.
    const ID: &'static str;
    /// The tab's word.
    const TITLE: &'static str;
    /// The tab's icon.
    const ICON: char;
    /// What the pane shows, in a few words that stand alone: the tab's tooltip.
    const ABOUT: &'static str;
    /// Where the pane opens.
    const HOME: Home;

    /// Whether there is something to show of this run, now or later. A pane without keeps its tab away, and says why where
    /// somebody asks for it all the same.
    ///
    /// # Errors
    /// Why there is nothing to show: one sentence without its period.
    fn shows(_of: &Variable<'_>) -> Result<(), &'static str> {
        Ok(())
    }

    /// Draws the pane.
    fn ui(&mut self, ui: &mut Ui, of: &Variable<'_>, views: &mut PaneViews, out: &mut Outbox);

    /// Draws what stands at the right end of the strip of tabs, which take `tabs` points of it, while the pane is in front.
    fn strip_ui(&mut self, _ui: &mut Ui, _of: &Variable<'_>, _views: &mut PaneViews, _tabs: f32) {}

    /// Ends what goes on only for those who look: called in every frame in which the pane is not drawn.
    fn unseen(&mut self, _of: &Variable<'_>, _out: &mut Outbox) {}
}

/// A pane of whatever type.
pub(super) trait AnyPane {
    fn ui(&mut self, ui: &mut Ui, of: &Variable<'_>, views: &mut PaneViews, out: &mut Outbox);
    fn strip_ui(&mut self, ui: &mut Ui, of: &Variable<'_>, views: &mut PaneViews, tabs: f32);
    fn unseen(&mut self, of: &Variable<'_>, out: &mut Outbox);
}

impl<P: Pane> AnyPane for P {
    fn ui(&mut self, ui: &mut Ui, of: &Variable<'_>, views: &mut PaneViews, out: &mut Outbox) {
        Pane::ui(self, ui, of, views, out);
    }

    fn strip_ui(&mut self, ui: &mut Ui, of: &Variable<'_>, views: &mut PaneViews, tabs: f32) {
        Pane::strip_ui(self, ui, of, views, tabs);
    }

    fn unseen(&mut self, of: &Variable<'_>, out: &mut Outbox) {
        Pane::unseen(self, of, out);
    }
}

type Shows = fn(&Variable<'_>) -> Result<(), &'static str>;

/// A pane as the registry lists it.
#[derive(Debug)]
pub struct PaneEntry {
    /// Name in saved layouts.
    pub id: &'static str,
    /// The tab's word.
    pub title: &'static str,
    /// The tab's icon.
    pub icon: char,
    /// What the pane shows.
    pub about: &'static str,
    /// Where the pane opens.
    pub home: Home,
    shows: Shows,
    make: fn() -> Box<dyn AnyPane>,
}

impl PaneEntry {
    /// The entry of a pane.
    pub const fn of<P: Pane>() -> Self {
        Self {
            id: P::ID,
            title: P::TITLE,
            icon: P::ICON,
            about: P::ABOUT,
            home: P::HOME,
            shows: P::shows,
            make: || Box::<P>::default(),
        }
    }

    /// Whether there is something to show of a run.
    ///
    /// # Errors
    /// Why there is not.
    pub fn shows(&self, of: &Variable<'_>) -> Result<(), &'static str> {
        (self.shows)(of)
    }

    /// Whether the pane is there in a window that is wide enough for the panel at the right.
    pub fn is_wide(&self) -> bool {
        self.home != Home::Narrow
    }
}

/// The id is what tells panes apart.
impl PartialEq for PaneEntry {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for PaneEntry {}

/// The pane called `id`.
pub fn find(id: &str) -> Option<&'static PaneEntry> {
    PANES.iter().find(|pane| pane.id == id)
}

/// What panes keep between frames.
#[derive(Default)]
pub(super) struct Kept(BTreeMap<&'static str, Box<dyn AnyPane>>);

impl Kept {
    /// What one pane keeps.
    pub fn of(&mut self, pane: &'static PaneEntry) -> &mut dyn AnyPane {
        self.0.entry(pane.id).or_insert_with(pane.make).as_mut()
    }
}

#[cfg(test)]
mod tests {
    use eframe::egui::accesskit::{Role, Toggled};
    use egui_kittest::Harness;
    use egui_kittest::kittest::{NodeT as _, Queryable as _};

    use super::*;
    use crate::app::testing::Session;
    use crate::ui::panels::runs::{RunsView, runs_ui};
    use crate::ui::testing::{Shown, page_harness};

    #[test]
    fn panes_differ_in_name_and_word() {
        for (k, pane) in PANES.iter().enumerate() {
            let plain = |c: char| c.is_ascii_lowercase() || c == '-';
            assert!(
                !pane.id.is_empty() && pane.id.chars().all(plain),
                "{}",
                pane.id
            );
            assert!(
                !pane.title.is_empty() && !pane.about.is_empty(),
                "{}",
                pane.id
            );
            assert!(!pane.about.ends_with('.'), "{}", pane.about);
            assert_eq!(find(pane.id).map(|found| found.title), Some(pane.title));
            for other in &PANES[k + 1..] {
                assert!(pane != other && pane.title != other.title, "{}", pane.id);
            }
        }
    }

    #[test]
    fn every_group_of_tabs_has_a_pane_that_is_always_there() {
        for home in [Home::Above, Home::Left, Home::Right] {
            assert!(PANES.iter().any(|pane| pane.home == home), "{home:?}");
        }
    }

    /// Whatever is listed has a tab if it has something to show, and draws itself without a word of protest.
    #[test]
    fn every_listed_pane_comes_to_the_front_and_shows_itself_or_why_not() {
        let mut session = Session::with_draft("churn");
        session.run(2, 100, 120);
        let mut harness = page_harness(session, runs_ui);
        harness.run_steps(3);
        let tabs = |harness: &Harness<'_, Shown<RunsView>>, title: &str| {
            let tabs = harness.query_all_by_role(Role::Tab);
            tabs.filter(|tab| tab.accesskit_node().label().as_deref() == Some(title))
                .map(|tab| tab.accesskit_node().toggled() == Some(Toggled::True))
                .collect::<Vec<bool>>()
        };
        let mut away = Vec::new();
        for pane in PANES.iter().filter(|pane| pane.is_wide()) {
            let is_away = tabs(&harness, pane.title).is_empty();
            harness.state_mut().view.show_pane(pane);
            harness.run_steps(3);
            assert_eq!(tabs(&harness, pane.title), [true], "{}", pane.id);
            if is_away {
                away.push(pane.id);
            }
            if pane.id == "groups" {
                harness.get_by_label("This model has no effects that vary by group");
            }
        }
        assert_eq!(away, ["clusters", "topics", "unkept", "held-out", "groups"]);
    }
}
