//! Names of parameters at the left of a plot whose rows they are.

use eframe::egui::Ui;

use super::axes::Shown;
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::table::{name_chars, name_width};
use crate::ui::widgets::{name, paint};
use ergodic_base::ParamId;

/// Points that names have at most, less than a margin of the axes can be.
const WIDEST: f32 = 110.0;
/// Points from name to name at least.
const LEAST_ROW: f32 = 14.0;

/// Names of rows, the first at the top.
pub struct RowNames {
    short: Vec<String>,
    /// Margin of the axes that has room for them.
    pub margin: i8,
}

impl RowNames {
    /// Of rows called `names`, cut to a third of the width.
    pub fn new(ui: &Ui, names: &[&ParamId]) -> Self {
        let room = (ui.available_width() / 3.0).min(WIDEST);
        let short = name::short_names(names, name_chars(ui, room));
        let longest = short.iter().map(|name| name.chars().count()).max();
        let margin = (name_width(ui, longest.unwrap_or(0)) + tokens().space.x2) as i8;
        Self { short, margin }
    }

    /// Where the row numbered `row` stands on the y axis of a plot of `rows` rows.
    pub fn place(rows: usize, row: usize) -> f64 {
        (rows - 1 - row) as f64
    }

    /// The range of the y axis of a plot of `rows` rows.
    pub fn range(rows: usize) -> (f64, f64) {
        (-0.5, rows as f64 - 0.5)
    }

    /// Paints the names beside a plot; where rows are lower than a line of text, only every second, third or later one has its name.
    pub fn paint(&self, ui: &Ui, p: &Palette, shown: &Shown) {
        let frame = *shown.transform.frame();
        let rows = self.short.len();
        let step = (LEAST_ROW * rows as f32 / frame.height().max(1.0))
            .ceil()
            .max(1.0) as usize;
        for (row, name) in self.short.iter().enumerate().step_by(step) {
            let y = shown
                .transform
                .position_from_point_y(Self::place(rows, row));
            let text = paint::line(ui, name, Text::CodeSmall, p.text_secondary, f32::INFINITY);
            paint::right_center(ui.painter(), frame.left() - tokens().space.x2, y, text);
        }
    }
}
