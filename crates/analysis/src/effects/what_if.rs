//! Rows of the data with some columns changed: what if everybody were a year older?

use std::ops::Range;
use std::sync::Arc;

use super::EffectsError;
use ergodic_core::design::lump_levels::OTHER;
use ergodic_core::design::{
    Coding, ColumnInfo, Columns, DesignError, GroupColumn, Labels, MemoryColumns, NewGroups,
    NewRows, Values,
};
use ergodic_core::formula::{Elementwise, Factor, Function, Operator};
use ergodic_data::Table;

/// Share of a column's spread that numbers are moved by for a slope: at the cube root of the rounding error of numbers the errors
/// of rounding and of the third derivative are the same in order (Press, Teukolsky, Vetterling, Flannery 2007, section 5.7).
const STEP: f64 = 6.055e-6;

/// What becomes of a column.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum To {
    /// One level in all rows.
    Level(String),
    /// One number in all rows.
    Number(f64),
    /// In each row its own number, one per row of the data.
    Numbers(Arc<[f64]>),
}

/// A change of one column.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Change {
    pub column: String,
    pub to: To,
}

impl Change {
    pub fn new(column: &str, to: To) -> Self {
        Self {
            column: column.to_owned(),
            to,
        }
    }
}

/// Whether a column of groups that becomes `to` makes groups that the fit did not have, or would at another of its values: groups with
/// effects at one value and without them at another cannot be compared.
fn breaks(column: &GroupColumn, to: &To) -> bool {
    match to {
        To::Numbers(_) => true,
        To::Number(_) => {
            let is_two = column
                .values
                .iter()
                .all(|value| value == "0" || value == "1");
            !(is_two && column.is_crossed)
        }
        To::Level(level) => column.values.contains(level) && !column.is_crossed,
    }
}

enum Held {
    Numbers(Vec<f64>),
    Labels(Labels),
}

/// The rows of the fit in the columns that the formula names.
pub(super) struct Rows<'a> {
    coding: &'a Coding,
    table: &'a Table,
    rows: &'a [u32],
    columns: Vec<(String, Held)>,
    with_groups: bool,
    /// Columns of groups; none of a model that reads columns itself, whose effects of groups cannot be left out.
    group_columns: Vec<GroupColumn>,
    /// Grouping factors whose effects count, where those of others are left out; `None`: all.
    groupings: Option<Vec<String>>,
}

impl<'a> Rows<'a> {
    /// The `rows` of `table` that `coding` codes.
    pub fn new(
        coding: &'a Coding,
        table: &'a Table,
        rows: &'a [u32],
        with_groups: bool,
    ) -> Result<Self, DesignError> {
        let mut columns = Vec::new();
        for name in coding.formula().columns() {
            let col = table.index_of(name, "The formula")?;
            let held = match table.numbers(col) {
                Some(all) => Held::Numbers(rows.iter().map(|&row| all[row as usize]).collect()),
                None => {
                    let Labels { levels, codes } = table.labels(col);
                    Held::Labels(Labels {
                        codes: rows.iter().map(|&row| codes[row as usize]).collect(),
                        levels,
                    })
                }
            };
            columns.push((name.to_owned(), held));
        }
        Ok(Self {
            coding,
            table,
            rows,
            columns,
            with_groups,
            group_columns: match coding.reads_columns() {
                true => Vec::new(),
                false => coding.group_columns(),
            },
            groupings: None,
        })
    }

    /// With the effects of these grouping factors alone, in an average group of all others.
    pub fn in_groups_of(self, groupings: Vec<String>) -> Self {
        Self {
            with_groups: !groupings.is_empty(),
            groupings: Some(groupings),
            ..self
        }
    }

    /// Whether the effects of a grouping factor count.
    fn counts(&self, grouping: &[String]) -> bool {
        let named = self.groupings.as_ref();
        named.is_none_or(|named| matches!(grouping, [column] if named.contains(column)))
    }

    /// Groupings, columns joined by `:`, whose effects would count but for `change`: it makes groups that the fit did not have, so
    /// that every row is in an average group of them.
    pub fn left_out<'b>(&'b self, change: &'b Change) -> impl Iterator<Item = String> + 'b {
        let columns = self.group_columns.iter();
        let breaking = columns.filter(|it| it.name == change.column && breaks(it, &change.to));
        breaking
            .filter(|it| self.with_groups && self.counts(&it.group))
            .map(|it| it.group.join(":"))
    }

    /// What to know about groupings that `changes` leave out, a sentence for each column and grouping.
    pub fn remarks<'b>(&self, changes: impl Iterator<Item = &'b Change>) -> Vec<String> {
        let mut said = Vec::new();
        for change in changes {
            for group in self.left_out(change) {
                let column = &change.column;
                let text = format!(
                    "Where `{column}` is changed every row is in an average group of `{group}`, because the fit has not all of these \
                     groups with every value of `{column}`"
                );
                if !said.contains(&text) {
                    said.push(text);
                }
            }
        }
        said
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The numbers of a column after `changes`, one per row; `None` where it holds text.
    pub fn numbers(&self, name: &str, changes: &[Change]) -> Option<Vec<f64>> {
        let (_, held) = self.columns.iter().find(|(column, _)| column == name)?;
        let change = changes.iter().rev().find(|change| change.column == name);
        match (change.map(|change| &change.to), held) {
            (Some(To::Number(value)), _) => Some(vec![*value; self.len()]),
            (Some(To::Numbers(values)), _) => Some(values.to_vec()),
            (_, Held::Numbers(values)) => Some(values.clone()),
            (_, Held::Labels(_)) => None,
        }
    }

    /// The place among `levels` of each row's value of a column; rare levels that were merged have that of the level that they are now.
    pub fn places(&self, name: &str, levels: &[String]) -> Vec<Option<usize>> {
        let Some(col) = self.table.position(name) else {
            return vec![None; self.len()];
        };
        let labels = self.table.labels(col);
        let place = |label: &str| levels.iter().position(|level| level == label);
        let rare = place(OTHER);
        let known = labels.levels.iter().map(|label| place(label).or(rare));
        let known: Vec<Option<usize>> = known.collect();
        let code = |&row: &u32| labels.codes[row as usize] as usize;
        let of = |row| known.get(code(row)).copied().flatten();
        self.rows.iter().map(of).collect()
    }

    /// The most frequent of a column's `levels`, the first of those that are equally frequent.
    pub fn most_frequent(&self, name: &str, levels: &[String]) -> Option<String> {
        let mut counts = vec![0_usize; levels.len()];
        for place in self.places(name, levels).into_iter().flatten() {
            counts[place] += 1;
        }
        let most = counts.iter().max()?;
        let first = counts.iter().position(|count| count == most)?;
        levels.get(first).cloned()
    }

    /// The rows of `range` as they would be coded after `changes`.
    pub fn coded(&self, range: Range<usize>, changes: &[Change]) -> Result<NewRows, EffectsError> {
        let mut columns = Vec::with_capacity(self.columns.len());
        for (name, held) in &self.columns {
            let change = changes.iter().rev().find(|change| change.column == *name);
            let values = match (change.map(|change| &change.to), held) {
                (Some(To::Level(level)), _) => level_values(level, held, range.len()),
                (Some(To::Number(value)), _) => Values::Numbers(vec![*value; range.len()]),
                (Some(To::Numbers(values)), _) => Values::Numbers(values[range.clone()].to_vec()),
                (_, Held::Numbers(values)) => Values::Numbers(values[range.clone()].to_vec()),
                (_, Held::Labels(labels)) => {
                    let text = |code: &u32| labels.levels.get(*code as usize).cloned();
                    Values::Texts(labels.codes[range.clone()].iter().map(text).collect())
                }
            };
            columns.push((name.clone(), values));
        }
        let tile = Tile {
            columns: MemoryColumns::new(self.table.name(), columns)?,
            table: self.table,
            rows: &self.rows[range.clone()],
        };
        let all = (0..range.len() as u32).collect();
        let mut coded = self.coding.code(&tile, Some(all), self.with_groups)?;
        let terms = &self.coding.formula().groups;
        let left_out: Vec<String> = (changes.iter())
            .flat_map(|change| self.left_out(change))
            .collect();
        let counts = |group: &[String]| self.counts(group) && !left_out.contains(&group.join(":"));
        for ((_, z), term) in coded.terms.iter_mut().zip(terms) {
            if !counts(&term.group) {
                z.fill(0.0);
            }
        }
        // Only a changed grouping can have a group that the fit did not have.
        let counts = |name: &str| {
            let mut known = terms.iter().filter(|term| term.group.join(":") == name);
            known.any(|term| counts(&term.group))
        };
        let unknown = |group: &&NewGroups| !group.unknown.is_empty() && counts(&group.name);
        if let Some(group) = coded.groups.iter().find(unknown) {
            let (group, count) = (group.name.clone(), group.unknown.len());
            return Err(EffectsError::NewGroups { group, count });
        }
        Ok(coded)
    }
}

/// A level in every row: as a number where the column holds numbers, so that functions of it follow.
fn level_values(level: &str, held: &Held, rows: usize) -> Values {
    match (held, level.parse::<f64>()) {
        (Held::Numbers(_), Ok(number)) => Values::Numbers(vec![number; rows]),
        _ => Values::Texts(vec![Some(level.to_owned()); rows]),
    }
}

/// Some rows of a table, whose places are those in the table.
struct Tile<'a> {
    columns: MemoryColumns,
    table: &'a Table,
    rows: &'a [u32],
}

impl Columns for Tile<'_> {
    fn name(&self) -> &str {
        self.columns.name()
    }

    fn num_rows(&self) -> usize {
        self.columns.num_rows()
    }

    fn columns(&self) -> &[ColumnInfo] {
        self.columns.columns()
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.columns.position(name)
    }

    fn numbers(&self, col: usize) -> Option<&[f64]> {
        self.columns.numbers(col)
    }

    fn texts(&self, col: usize) -> Option<Box<dyn Iterator<Item = Option<&str>> + '_>> {
        self.columns.texts(col)
    }

    fn place(&self, row: usize) -> String {
        self.table.place(self.rows[row] as usize)
    }
}

/// The numbers of a column a little below and a little above `values`, whose spread is `sd`; closer where a function in
/// `factors` has no value beyond.
pub(super) fn ends<'a>(
    values: &[f64],
    sd: f64,
    factors: &(impl Iterator<Item = &'a Factor> + Clone),
) -> [Arc<[f64]>; 2] {
    let step = |&x: &f64| {
        let spread = if sd > 0.0 { sd } else { x.abs().max(1.0) };
        let rooms = factors.clone().map(|factor| room(factor, x));
        let room = rooms.filter(|room| *room > 0.0).fold(spread, f64::min);
        STEP * room
    };
    [-1.0, 1.0].map(|sign| values.iter().map(|x| x + sign * step(x)).collect())
}

/// How far `x` is from where a function in `factor` ends, infinite where none does.
fn room(factor: &Factor, x: f64) -> f64 {
    let Factor::Call(function, of) = factor else {
        return f64::INFINITY;
    };
    let edge = match function {
        Function::Elementwise(function) => match function {
            Elementwise::Log | Elementwise::Log2 | Elementwise::Log10 | Elementwise::Sqrt => 0.0,
            Elementwise::Log1p => -1.0,
            Elementwise::Exp | Elementwise::Abs => f64::INFINITY,
        },
        _ => f64::INFINITY,
    };
    let own = line(of).map_or(f64::INFINITY, |[slope, level]| {
        ((slope * x + level - edge) / slope).abs()
    });
    own.min(room(of, x))
}

/// Slope and level of a factor that is a straight line in its column.
fn line(factor: &Factor) -> Option<[f64; 2]> {
    match factor {
        Factor::Column(_) | Factor::Category(_) => Some([1.0, 0.0]),
        Factor::Call(Function::Inside { operator, value }, of) => {
            let ([slope, level], c) = (line(of)?, value.value());
            match operator {
                Operator::Plus => Some([slope, level + c]),
                Operator::Minus => Some([slope, level - c]),
                Operator::Times if c != 0.0 => Some([slope * c, level * c]),
                Operator::Divide => Some([slope / c, level / c]),
                _ => None,
            }
        }
        Factor::Call(..) => None,
    }
}
