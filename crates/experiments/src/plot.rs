//! What of a table is drawn: a picture as the source has one, in columns alone.

/// How the rows of a curve are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlotMark {
    /// A line through points, in the order of the rows.
    Lines,
    /// Points alone.
    Points,
}

/// A picture of a table: which columns are drawn, and how. Rows without a number are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plot {
    /// The further table that is drawn; the first table if absent.
    pub table: Option<&'static str>,
    /// Column from left to right. Where it holds words, each is a row of the picture, and numbers go from left to right.
    pub x: &'static str,
    /// Columns of numbers, a curve each.
    pub y: Vec<&'static str>,
    /// Name of the axis of numbers, where that of the first column would not say it.
    pub y_title: Option<&'static str>,
    /// Columns of the least and the greatest number around that of the first column.
    pub ends: Option<[&'static str; 2]>,
    /// Columns that tell curves apart.
    pub curves: Vec<&'static str>,
    /// Whether the axes of `x` and of `y` are logarithmic.
    pub logarithmic: [bool; 2],
    /// How a curve is drawn.
    pub mark: PlotMark,
}

impl Plot {
    /// Lines through the numbers of these columns.
    pub fn lines(x: &'static str, y: &[&'static str]) -> Self {
        Self {
            table: None,
            x,
            y: y.to_vec(),
            y_title: None,
            ends: None,
            curves: Vec::new(),
            logarithmic: [false; 2],
            mark: PlotMark::Lines,
        }
    }

    /// Points at the numbers of these columns.
    pub fn points(x: &'static str, y: &[&'static str]) -> Self {
        Self {
            mark: PlotMark::Points,
            ..Self::lines(x, y)
        }
    }

    /// The same of a further table.
    #[must_use]
    pub fn of(self, table: &'static str) -> Self {
        Self {
            table: Some(table),
            ..self
        }
    }

    /// A curve for each value of these columns together.
    #[must_use]
    pub fn by(self, curves: &[&'static str]) -> Self {
        Self {
            curves: curves.to_vec(),
            ..self
        }
    }

    /// With the columns of the least and the greatest number.
    #[must_use]
    pub fn between(self, least: &'static str, greatest: &'static str) -> Self {
        Self {
            ends: Some([least, greatest]),
            ..self
        }
    }

    /// With a name of the axis of numbers.
    #[must_use]
    pub fn named(self, title: &'static str) -> Self {
        Self {
            y_title: Some(title),
            ..self
        }
    }

    /// With a logarithmic axis of `x`.
    #[must_use]
    pub fn log_x(mut self) -> Self {
        self.logarithmic[0] = true;
        self
    }

    /// With a logarithmic axis of numbers.
    #[must_use]
    pub fn log_y(mut self) -> Self {
        self.logarithmic[1] = true;
        self
    }

    /// All columns that it names.
    pub fn columns(&self) -> impl Iterator<Item = &'static str> {
        let ends = self.ends.iter().flatten();
        let named = self.y.iter().chain(ends).chain(&self.curves);
        std::iter::once(self.x).chain(named.copied())
    }
}
