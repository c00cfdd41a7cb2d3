//! Topics of documents: their shares and most probable words.

use eframe::egui::Ui;

use super::pane::{Home, Pane};
use super::panes::{PaneViews, Variable};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::theme::{Text, tokens};
use crate::ui::widgets::table::{Cell, Column, Table, Tone};
use crate::ui::widgets::{self, number};
use ergodic_base::numerals::plural;
use ergodic_core::engine::found::topics::TopWords;

/// Widths of a topic's number, of its share, and of its words at least.
const NUMBER: f32 = 48.0;
const SHARE: f32 = 60.0;
const WORDS: f32 = 240.0;

/// Nothing is kept between frames.
#[derive(Default)]
pub(super) struct TopicsView;

impl Pane for TopicsView {
    const ID: &'static str = "topics";
    const TITLE: &'static str = "Topics";
    const ICON: char = icons::TABLE;
    const ABOUT: &'static str = "Topics of documents: their shares and most probable words";
    const HOME: Home = Home::Above;

    fn shows(of: &Variable<'_>) -> Result<(), &'static str> {
        match of.finds::<TopWords>() {
            true => Ok(()),
            false => Err("Only documents have topics; this model finds none"),
        }
    }

    fn ui(&mut self, ui: &mut Ui, of: &Variable<'_>, _views: &mut PaneViews, _out: &mut Outbox) {
        match of.report.found.get() {
            Some(topics) => topics_ui(ui, &topics),
            None => {
                let text =
                    "Topics of documents appear here with the first draws; other models have none";
                widgets::empty_state(ui, icons::TABLE, text, None);
            }
        }
    }
}

/// One row per topic.
fn topics_ui(ui: &mut Ui, topics: &TopWords) {
    let t = tokens();
    widgets::inset(ui, [t.space.x3, t.space.x1], |ui| {
        let text = format!(
            "Most probable words in {} at the newest draw of chain {}; numbers of topics differ between chains",
            plural(topics.documents, "document"),
            topics.chain
        );
        widgets::sentence_line(ui, &text, Text::Caption, true);
    });
    let all = &topics.topics;
    Table::new("topics", "Topics", all.len())
        .inset(t.space.x2)
        .column(Column::number("topic", NUMBER, |k| {
            Cell::number(number::integer(k as u64 + 1), Tone::Secondary)
        }))
        .column(
            Column::number("share", SHARE, |k| {
                Cell::number(
                    format!("{}%", number::fixed(100.0 * all[k].share, 1)),
                    Tone::Primary,
                )
            })
            .by(|k| all[k].share),
        )
        .gap(t.space.x2)
        .column(
            Column::new("words", WORDS, |k| {
                Cell::text(all[k].sentence(), Tone::Primary)
            })
            .fills(),
        )
        .show(ui);
}

#[cfg(test)]
mod tests {
    use eframe::egui::accesskit::Role;
    use egui_kittest::kittest::{NodeT as _, Queryable as _};

    use super::TopWords;
    use crate::app::DraftChange;
    use crate::app::testing::Session;
    use crate::ui::panels::runs::runs_ui;
    use crate::ui::testing::page_harness;

    #[test]
    fn topics_are_listed_by_their_words() {
        let mut session = Session::with_draft("churn");
        session.send(DraftChange::Template("topics".to_owned()));
        session.send(DraftChange::Formula("~ plan + (1 | region)".to_owned()));
        session.run(2, 20, 60);
        let entry = session.state.selected().unwrap();
        let found = &entry.report().unwrap().found;
        let topics = found.get::<TopWords>().unwrap();
        assert_eq!(topics.topics.len(), 10);
        let mut harness = page_harness(session, runs_ui);
        harness.run_steps(3);
        harness
            .get_all_by_label("Topics")
            .find(|node| node.accesskit_node().role() == Role::Tab)
            .unwrap()
            .click();
        harness.run_steps(3);
        harness.get_by_role_and_label(Role::ColumnHeader, "words");
        let cells = harness.get_all_by_role(Role::Cell);
        let words = topics.topics[0].sentence();
        let is_there = cells
            .filter_map(|node| {
                let node = node.accesskit_node();
                node.label().or_else(|| node.value())
            })
            .any(|text| text == words);
        assert!(is_there, "{words}");
    }
}
