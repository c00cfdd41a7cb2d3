use super::*;
use crate::ui::testing::harness;
use crate::ui::theme::VerdictKind;
use egui_kittest::Harness;
use egui_kittest::kittest::{AccessKitNode as AccessNode, NodeT as _, Queryable as _};

const NAMES: [&str; 4] = ["b[age]", "b[sex]", "a", "c"];
const VALUES: [f64; 4] = [3.0, f64::NAN, 1.0, 2.0];

#[derive(Default)]
struct State {
    chosen: Option<usize>,
    pressed: Option<usize>,
}

fn show(ui: &mut Ui, state: &mut State) {
    let p = Palette::of(ui);
    let shown = Table::new("test", "Four numbers", NAMES.len())
        .column(Column::new("", 24.0, |_| Cell::verdict(p, VerdictKind::Watch)).stays(true))
        .column(Column::names(ui, "variable", 4, |k| NAMES[k]).stays(true))
        .column(
            Column::number("R-hat", 80.0, |k| {
                Cell::number(number::fixed(VALUES[k], 3), Tone::Primary)
            })
            .by(|k| VALUES[k]),
        )
        .column(Column::new("", 60.0, |k| Cell::button("Use", k != 1)))
        .show(ui);
    state.chosen = shown.chosen.or(state.chosen);
    state.pressed = shown.pressed.or(state.pressed);
}

fn window() -> Harness<'static, State> {
    let mut harness = harness([400.0, 200.0], State::default(), show);
    harness.run();
    harness
}

fn names(harness: &Harness<'_, State>) -> Vec<String> {
    let mut cells: Vec<(f32, String)> = harness
        .get_all_by_role(Role::Cell)
        .filter_map(|cell| Some((cell.rect().top(), cell.accesskit_node().label()?)))
        .filter(|(_, label)| NAMES.contains(&label.as_str()))
        .collect();
    cells.sort_by(|a, b| a.0.total_cmp(&b.0));
    cells.into_iter().map(|(_, label)| label).collect()
}

#[test]
fn a_head_sorts_and_says_in_which_order_and_what_is_missing_stands_last() {
    let mut harness = window();
    assert_eq!(names(&harness), NAMES);
    harness.get_by_label("R-hat").click();
    harness.run();
    harness.get_by_label("R-hat, ascending");
    assert_eq!(names(&harness), ["a", "c", "b[age]", "b[sex]"]);
    harness.get_by_label("R-hat, ascending").click();
    harness.run();
    assert_eq!(names(&harness), ["b[age]", "c", "a", "b[sex]"]);
    harness.get_by_label("R-hat, descending").click();
    harness.run();
    harness.get_by_label("variable").click();
    harness.run();
    assert_eq!(names(&harness), ["a", "b[age]", "b[sex]", "c"]);
    // A row is known by its index, whatever the order.
    harness.get_by_label("3.000").click();
    harness.run();
    assert_eq!(harness.state().chosen, Some(0));
}

#[test]
fn a_click_on_any_cell_chooses_the_row_and_keys_go_on_from_there() {
    let mut harness = window();
    harness.get_by_label("1.000").click();
    harness.run();
    assert_eq!(harness.state().chosen, Some(2));
    for (key, row) in [
        (Key::ArrowDown, 3),
        (Key::ArrowDown, 3),
        (Key::Home, 0),
        (Key::PageDown, 3),
        (Key::ArrowUp, 2),
    ] {
        harness.key_press(key);
        harness.run();
        assert_eq!(harness.state().chosen, Some(row), "{key:?}");
    }
    harness.get_all_by_label("Use").next().unwrap().click();
    harness.run();
    assert_eq!(harness.state().pressed, Some(0));
}

#[test]
fn screen_readers_find_a_table_with_rows_and_cells() {
    let mut harness = window();
    harness.get_by_label("1.000").click();
    harness.run();
    let table = harness.get_by_role_and_label(Role::Table, "Four numbers");
    let table = table.accesskit_node();
    let read = harness.get_by_role_and_label(Role::Cell, "a");
    assert!(read.accesskit_node().is_focused());
    assert_eq!(table.data().row_count(), Some(5));
    assert_eq!(table.data().column_count(), Some(4));
    fn rows<'n>(node: AccessNode<'n>, found: &mut Vec<AccessNode<'n>>) {
        for child in node.children() {
            if child.role() == Role::Row {
                found.push(child);
            } else {
                rows(child, found);
            }
        }
    }
    let mut found = Vec::new();
    rows(table, &mut found);
    assert_eq!(found.len(), 5, "heads and rows");
    let chosen: Vec<_> = found
        .iter()
        .filter(|row| row.data().is_selected() == Some(true))
        .collect();
    assert_eq!(chosen.len(), 1);
    assert_eq!(chosen[0].data().row_index(), Some(3));
    let cells = chosen[0]
        .children()
        .filter(|cell| cell.role() == Role::Cell);
    let columns: Vec<_> = cells.map(|cell| cell.data().column_index()).collect();
    assert_eq!(columns, [Some(0), Some(1), Some(2), Some(3)]);
}

#[test]
fn headings_stand_between_rows_and_nobody_chooses_them() {
    let show = |ui: &mut Ui, state: &mut State| {
        let shown = Table::new("test", "Three numbers", 4)
            .headings(|k| (k == 0).then_some("Slopes"))
            .column(Column::names(ui, "variable", 4, |k| NAMES[k]))
            .show(ui);
        state.chosen = shown.chosen.or(state.chosen);
    };
    let mut harness = harness([400.0, 200.0], State::default(), show);
    harness.run();
    assert_eq!(names(&harness), NAMES[1..]);
    harness
        .get_by_role_and_label(Role::RowHeader, "Slopes")
        .click();
    harness.run();
    assert_eq!(harness.state().chosen, None);
    harness.get_by_label(NAMES[2]).click();
    harness.run();
    for (key, row) in [
        (Key::Home, 1),
        (Key::ArrowUp, 1),
        (Key::PageUp, 1),
        (Key::End, 3),
    ] {
        harness.key_press(key);
        harness.run();
        assert_eq!(harness.state().chosen, Some(row), "{key:?}");
    }
}

#[test]
fn the_rows_are_copied_in_their_order() {
    let mut harness = window();
    harness.get_by_label("R-hat").click();
    harness.run();
    harness.get_by_label("a").click();
    harness.run();
    harness.event(Event::Copy);
    harness.step();
    let copied = harness
        .output()
        .platform_output
        .commands
        .iter()
        .find_map(|it| match it {
            eframe::egui::OutputCommand::CopyText(text) => Some(text.clone()),
            _ => None,
        });
    let lines: Vec<&str> = copied.as_deref().unwrap().lines().collect();
    assert_eq!(
        lines,
        [
            "variable\tR-hat",
            "a\t1.000",
            "c\t2.000",
            "b[age]\t3.000",
            "b[sex]\tn/a"
        ]
    );
}

#[test]
fn columns_that_stay_do_so_while_others_are_scrolled() {
    let mut harness = harness([170.0, 120.0], State::default(), show);
    harness.run();
    let before = harness.get_by_label("3.000").rect();
    let name = harness.get_by_label("b[age]").rect();
    harness.hover_at(name.center());
    harness.event(Event::MouseWheel {
        unit: eframe::egui::MouseWheelUnit::Point,
        delta: vec2(-60.0, 0.0),
        modifiers: Modifiers::NONE,
        phase: eframe::egui::TouchPhase::Move,
        source: eframe::egui::MouseWheelSource::Unknown,
    });
    harness.run_steps(30);
    assert_eq!(harness.get_by_label("b[age]").rect(), name);
    let after = harness.get_by_label("3.000").rect();
    assert!(after.right() < before.right() - 20.0, "{after} {before}");
    let head = harness.get_by_label("R-hat").rect();
    assert_eq!(head.right(), after.right());
}

#[test]
fn numbers_end_at_the_same_place() {
    let harness = window();
    let a = harness.get_by_label("1.000").rect();
    let b = harness.get_by_label("2.000").rect();
    assert_eq!(a.right(), b.right());
    assert_eq!(a.height(), 24.0);
}
