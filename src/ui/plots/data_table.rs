//! The data of a plot as a table: the key T opens and closes it while the plot has the focus or the pointer.

use eframe::egui::{Key, Modifiers, Ui, Window, vec2};

use super::Shown;
use crate::ui::widgets::number;
use crate::ui::widgets::table::{Cell, Column, Table, Tone};

/// Width of a column.
const WIDTH: f32 = 96.0;
/// Height of the window at first, and the width that it has beside its columns.
const HEIGHT: f32 = 320.0;
const MARGIN: f32 = 32.0;

/// What a plot shows, as columns of numbers.
pub struct PlotData<'a> {
    /// Heads of the columns.
    pub heads: Vec<String>,
    /// Number of rows.
    pub rows: usize,
    /// The number of a row in a column; not a number where there is none.
    pub value: Box<dyn Fn(usize, usize) -> f64 + 'a>,
}

/// Heads of a column `x` and of one column for each of `chains`.
pub fn chain_heads(x: &str, chains: usize) -> Vec<String> {
    let chains = (1..=chains).map(|chain| format!("chain {chain}"));
    std::iter::once(x.to_owned()).chain(chains).collect()
}

/// Shows the table of the plot `shown` while it is open. `title` says what the plot shows.
pub fn data_table_ui<'a>(ui: &Ui, shown: &Shown, title: &str, data: impl FnOnce() -> PlotData<'a>) {
    let plot = &shown.response;
    let id = plot.id.with("data table");
    let was_open = ui.data(|data| data.get_temp(id)).unwrap_or(false);
    let mut open = was_open;
    // A letter that is being typed elsewhere is not for the plot under the pointer.
    let focused = ui.memory(|memory| memory.focused());
    let is_meant = plot.has_focus() || (focused.is_none() && plot.contains_pointer());
    if is_meant && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::T)) {
        open = !open;
    }
    if open {
        let data = data();
        Window::new(title)
            .id(id)
            .open(&mut open)
            .collapsible(false)
            // Beside the plot, so that both are seen.
            .default_pos(plot.rect.right_top())
            .default_size([data.heads.len() as f32 * WIDTH + MARGIN, HEIGHT])
            .show(ui.ctx(), |ui| {
                let mut table = Table::new("plot", title, data.rows);
                for (at, head) in data.heads.iter().enumerate() {
                    let value = &data.value;
                    let cell = move |row: usize| {
                        Cell::number(number::significant(value(row, at), 5), Tone::Primary)
                    };
                    table = table.column(Column::number(head, WIDTH, cell).stays(at == 0));
                }
                ui.set_min_size(vec2(2.0 * WIDTH, 2.0 * WIDTH));
                table.show(ui);
            });
    }
    if open != was_open {
        ui.data_mut(|data| data.insert_temp(id, open));
    }
}

#[cfg(test)]
mod tests {
    use egui_kittest::kittest::Queryable as _;

    use super::*;
    use crate::ui::plots::{AutocorrelationData, ChainFilter, autocorrelation_ui};
    use crate::ui::testing::harness;
    use crate::ui::theme::Palette;

    #[test]
    fn t_opens_the_data_of_the_plot_under_the_pointer() {
        let chains = vec![vec![1.0, 0.5, 0.25], vec![1.0, -0.125]];
        let mut harness = harness([800.0, 600.0], (), move |ui, ()| {
            let data = AutocorrelationData {
                chains: &chains,
                band: None,
                summary: "Autocorrelation of b[age]",
            };
            autocorrelation_ui(ui, Palette::of(ui), data, &ChainFilter::default(), 200.0);
        });
        harness.run_steps(3);
        harness.key_press(Key::T);
        harness.run_steps(3);
        assert!(harness.query_by_label("chain 2").is_none());
        let plot = harness.get_by_label("Autocorrelation of b[age]").rect();
        harness.hover_at(plot.center());
        harness.run_steps(2);
        harness.key_press(Key::T);
        harness.run_steps(3);
        harness.get_by_label("chain 2");
        harness.get_by_label("0.25000");
        harness.get_by_label("n/a");
    }
}
