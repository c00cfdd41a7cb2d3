//! The data of a plot as a table: the key T opens and closes it while the plot has the focus or the pointer.

use eframe::egui::{Id, Key, Modifiers, Rect, Response, Role, Sense, Ui, WidgetInfo, Window, vec2};

use crate::ui::widgets::table::{Cell, Column, Table, Tone};
use crate::ui::widgets::{number, paint};

/// Width of a column, and columns that the window shows at first.
const WIDTH: f32 = 96.0;
const AT_FIRST: usize = 6;
/// Height of the window at first, and the width that it has beside its columns.
const HEIGHT: f32 = 320.0;
const MARGIN: f32 = 32.0;

/// What a plot shows, as columns of numbers.
pub struct PlotData<'a> {
    heads: Vec<String>,
    rows: usize,
    value: Box<dyn Fn(usize, usize) -> f64 + 'a>,
    names: Option<(&'a str, Vec<&'a str>)>,
}

impl<'a> PlotData<'a> {
    /// Columns called `heads` over n rows; `value` says the number of a row in a column, which is not a number where there
    /// is none.
    pub fn new(
        heads: impl IntoIterator<Item = impl Into<String>>,
        rows: usize,
        value: impl Fn(usize, usize) -> f64 + 'a,
    ) -> Self {
        Self {
            heads: heads.into_iter().map(Into::into).collect(),
            rows,
            value: Box::new(value),
            names: None,
        }
    }

    /// Puts a column of the rows' names before the others.
    pub fn named(mut self, head: &'a str, names: Vec<&'a str>) -> Self {
        self.names = Some((head, names));
        self
    }
}

/// Heads of a column `x` and of one column for each of `chains`.
pub fn chain_heads(x: &str, chains: usize) -> Vec<String> {
    let chains = (1..=chains).map(|chain| format!("chain {chain}"));
    std::iter::once(x.to_owned()).chain(chains).collect()
}

/// Lets the keyboard and T reach a picture over `rect` that is painted by hand. `title` says what it shows.
pub fn picture_table_ui<'a>(
    ui: &Ui,
    (rect, id): (Rect, Id),
    title: &str,
    data: impl FnOnce() -> PlotData<'a>,
) {
    let picture = ui.interact(rect, id, Sense::focusable_noninteractive());
    picture.widget_info(|| WidgetInfo::labeled(Role::Image, true, title));
    paint::focus_ring_inside(ui, &picture, rect);
    data_table_ui(ui, &picture, title, data);
}

/// Shows the table of `plot` while it is open. `title` says what the plot shows.
pub fn data_table_ui<'a>(
    ui: &Ui,
    plot: &Response,
    title: &str,
    data: impl FnOnce() -> PlotData<'a>,
) {
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
        let columns = data.heads.len() + usize::from(data.names.is_some());
        Window::new(title)
            .id(id)
            .open(&mut open)
            .collapsible(false)
            // Beside the plot, so that both are seen.
            .default_pos(plot.rect.right_top())
            .default_size([columns.min(AT_FIRST) as f32 * WIDTH + MARGIN, HEIGHT])
            .show(ui.ctx(), |ui| {
                let mut table = Table::new("plot", title, data.rows);
                if let Some((head, names)) = &data.names {
                    let names = Column::names(ui, head, data.rows, |row| names[row]);
                    table = table.column(names.stays(true));
                }
                for (at, head) in data.heads.iter().enumerate() {
                    let value = &data.value;
                    let cell = move |row: usize| Cell::number(words(value(row, at)), Tone::Primary);
                    let stays = at == 0 && data.names.is_none();
                    table = table.column(Column::number(head, WIDTH, cell).stays(stays));
                }
                ui.set_min_size(vec2(2.0 * WIDTH, 2.0 * WIDTH));
                table.show(ui);
            });
    }
    if open != was_open {
        ui.data_mut(|data| data.insert_temp(id, open));
    }
}

/// A number of the data: whole ones are counts and have no digits that could be wrong.
fn words(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e9 {
        number::fixed(value, 0)
    } else {
        number::significant(value, 5)
    }
}

#[cfg(test)]
mod tests {
    use egui_kittest::kittest::Queryable as _;

    use super::*;
    use crate::ui::plots::{AutocorrelationData, ChainFilter, autocorrelation_ui};
    use crate::ui::testing::{harness, press_t_over};
    use crate::ui::theme::Palette;

    #[test]
    fn counts_have_no_digits_that_could_be_wrong() {
        assert_eq!(words(12_345.0), number::integer(12_345));
        assert_eq!(words(0.5), "0.50000");
        assert_eq!(words(f64::NAN), number::NOT_AVAILABLE);
        assert_eq!(words(f64::INFINITY), number::NOT_AVAILABLE);
    }

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
        press_t_over(&mut harness, "Autocorrelation of b[age]");
        harness.get_by_label("chain 2");
        harness.get_by_label("0.25000");
        harness.get_by_label("n/a");
    }
}
