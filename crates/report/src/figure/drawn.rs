//! Exactly what a figure draws, as a table.

use std::io::{self, Write};

use super::Figure;
use ergodic_export::number::or_na;
use ergodic_export::spreadsheet::inert;

/// One thing that is drawn: a point, or from one place to another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawn {
    /// Name of the thing, where the series does not say.
    pub label: String,
    /// Place or beginning from left to right, NaN for what goes all the way.
    pub x: f64,
    /// Place or beginning upwards, NaN for what goes all the way.
    pub y: f64,
    /// End from left to right, if it differs from the beginning.
    pub x_to: Option<f64>,
    /// End upwards, if it differs from the beginning.
    pub y_to: Option<f64>,
    /// Area over the usual one, if that differs.
    pub size: Option<f64>,
}

impl Drawn {
    /// A point.
    pub fn at(x: f64, y: f64) -> Self {
        Self {
            x,
            y,
            ..Self::default()
        }
    }
}

/// Column names, in order.
pub const COLUMNS: [&str; 9] = [
    "panel", "series", "mark", "label", "x", "y", "x_to", "y_to", "size",
];

/// Writes one row for each thing drawn, with all digits; `NA` where there is none. Names that begin as a formula of spreadsheets
/// have an apostrophe before them.
///
/// # Errors
/// The writer fails.
pub fn write_csv(figure: &Figure, out: &mut dyn Write) -> io::Result<()> {
    let mut out = csv::WriterBuilder::new().from_writer(out);
    out.write_record(COLUMNS)?;
    for panel in figure.panels.iter().flatten() {
        for mark in &panel.marks {
            let mut written = Ok(());
            mark.shape.drawn(&mut |drawn| {
                let number = |value: f64| or_na(Some(value).filter(|value| !value.is_nan()));
                let texts = [&panel.title, &mark.series].map(|text| inert(text).into_owned());
                let [panel, series] = texts;
                let label = inert(&drawn.label).into_owned();
                let kind = mark.shape.kind().to_owned();
                let (x, y) = (number(drawn.x), number(drawn.y));
                let more = [drawn.x_to, drawn.y_to, drawn.size].map(or_na);
                let [x_to, y_to, size] = more;
                let row = [panel, series, kind, label, x, y, x_to, y_to, size];
                if written.is_ok() {
                    written = out.write_record(row);
                }
            });
            written?;
        }
    }
    out.flush()
}
