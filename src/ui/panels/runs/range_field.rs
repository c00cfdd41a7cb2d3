//! A field for a range of values that count as none, which belongs to a run.

use eframe::egui::Ui;

use crate::ui::widgets::Field;
use ergodic_base::numerals;
use ergodic_base::shown::capitalised;

/// Width of the field.
pub(super) const WIDTH: f32 = 150.0;

/// What is typed, and what is wrong with it.
#[derive(Default)]
pub(super) struct RangeField {
    /// The run and its range that the text was written for.
    of: (Option<u64>, Option<[f64; 2]>),
    text: String,
    error: Option<String>,
}

impl RangeField {
    /// Shows the range of the run `id`, of which `words` are name, hint and help. The range of the run is another when Enter is pressed on a
    /// text that can be read; none where the text is empty.
    pub fn show(
        &mut self,
        ui: &mut Ui,
        [name, hint, help]: [&str; 3],
        id: u64,
        range: &mut Option<[f64; 2]>,
    ) {
        if self.of != (Some(id), *range) {
            self.of = (Some(id), *range);
            self.text = match range {
                Some([from, to]) => format!("{from}, {to}"),
                None => String::new(),
            };
            self.error = None;
        }
        let field = Field::new(name, &mut self.text)
            .label_hidden()
            .hint(hint)
            .error(self.error.as_deref())
            .width(WIDTH)
            .show(ui);
        let is_wrong = self.error.is_some();
        if field.committed || (is_wrong && (field.response.changed() || field.restored)) {
            let read = match self.text.trim() {
                "" => Ok(None),
                text => numerals::range(text).map(Some),
            };
            self.error = read.err().map(capitalised);
            if let (true, Ok(read)) = (field.committed, read) {
                // What was typed stays as it is.
                self.of.1 = read;
                *range = read;
            }
        }
        field.response.on_hover_text(help);
    }
}
