//! What a design is made from: named columns of numbers or texts, wherever they are kept.

use std::collections::{BTreeSet, HashMap};

use super::error::{BadRows, DesignError, name_hint};

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnKind {
    /// Numbers.
    Number,
    /// Text: categories, identifiers, words.
    Text,
    /// ISO dates, kept as text.
    Date,
}

/// Name and kind of a column, and what is missing in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnInfo {
    /// Unique name.
    pub name: String,
    /// Kind of the values.
    pub kind: ColumnKind,
    /// Why the column was given this kind, one clause: "all 1000 values are numbers".
    pub reason: String,
    /// Rows without a value.
    pub num_missing: usize,
    /// First row without a value, 0-based.
    pub first_missing: Option<usize>,
}

/// Values of a column as levels: sorted distinct labels and one code per row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    /// Distinct labels; in numeric order if all are numbers, otherwise alphabetical.
    pub levels: Vec<String>,
    /// Index into `levels` per row; [`Labels::MISSING`] where there is no value.
    pub codes: Vec<u32>,
}

impl Labels {
    /// Code of a missing value.
    pub const MISSING: u32 = u32::MAX;

    /// The labels with those that are numbers in their shortest form, as those of a column of numbers are: `1.0` and `1` are one.
    #[must_use]
    pub(crate) fn with_numbers_in_short(self) -> Self {
        let mut levels: Vec<String> = Vec::with_capacity(self.levels.len());
        let mut places: HashMap<String, u32> = HashMap::new();
        let code_of: Vec<u32> = (self.levels.into_iter())
            .map(|level| {
                let number = level.parse::<f64>().ok().filter(|it| it.is_finite());
                let level = number.map_or(level, number_label);
                *places.entry(level).or_insert_with_key(|level| {
                    levels.push(level.clone());
                    levels.len() as u32 - 1
                })
            })
            .collect();
        let code = |code: u32| code_of.get(code as usize).copied().unwrap_or(Self::MISSING);
        Self {
            codes: self.codes.into_iter().map(code).collect(),
            levels,
        }
    }
}

/// A number in its shortest form; -0 is 0.
fn number_label(number: f64) -> String {
    (number + 0.0).to_string()
}

/// Values for a column made in memory.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Numbers, NaN where missing.
    Numbers(Vec<f64>),
    /// Texts, `None` where missing.
    Texts(Vec<Option<String>>),
}

/// N rows of named columns: what formulas and roles are read against.
pub trait Columns {
    /// Short name of the whole, for sentences: a file name without its folder.
    fn name(&self) -> &str;
    /// N, the number of rows.
    fn num_rows(&self) -> usize;
    /// Names and kinds in order.
    fn columns(&self) -> &[ColumnInfo];
    /// Position of the column of this name.
    fn position(&self, name: &str) -> Option<usize>;
    /// Numbers of column `col`, N long, NaN where missing; `None` if it does not hold numbers.
    fn numbers(&self, col: usize) -> Option<&[f64]>;
    /// Texts of column `col`, N long, `None` where missing; `None` if it holds numbers.
    fn texts(&self, col: usize) -> Option<Box<dyn Iterator<Item = Option<&str>> + '_>>;

    /// Where `row` stands, for sentences: "line 57" of a text file, "row 57" otherwise.
    fn place(&self, row: usize) -> String {
        format!("row {}", row + 1)
    }

    /// Column names in order.
    fn names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(self.columns().iter().map(|column| column.name.as_str()))
    }

    /// The column of this name.
    fn column(&self, name: &str) -> Option<&ColumnInfo> {
        self.position(name).map(|at| &self.columns()[at])
    }

    /// Position of the column of this name. `place` begins the sentence of a refusal: "The formula".
    ///
    /// # Errors
    /// There is no such column; the nearest name is named.
    fn index_of(&self, name: &str, place: &str) -> Result<usize, DesignError> {
        self.position(name)
            .ok_or_else(|| DesignError::UnknownColumn {
                place: place.to_owned(),
                column: name.to_owned(),
                hint: name_hint(name, self.names()),
            })
    }

    /// Column `col` as levels, numbers written in their shortest form. Panics if `col` is out of range.
    fn labels(&self, col: usize) -> Labels {
        match self.numbers(col) {
            Some(numbers) => number_labels(numbers),
            None => text_labels(self.texts(col).into_iter().flatten()),
        }
    }

    /// The levels of column `col`, as [`Self::labels`] has them, if there are at most `most`; quick for columns with many
    /// values.
    fn few_levels(&self, col: usize, most: usize) -> Option<Vec<String>> {
        match self.numbers(col) {
            Some(numbers) => {
                let values = few_numbers(numbers, most)?;
                Some(number_labels(&values).levels)
            }
            None => {
                let distinct = few(self.texts(col)?.flatten(), most)?;
                Some(text_labels(distinct.into_iter().map(Some)).levels)
            }
        }
    }
}

impl Values {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(values) => values.len(),
            Self::Texts(values) => values.len(),
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many are missing, and the first that is.
    pub fn missing(&self) -> (usize, Option<usize>) {
        fn count(missing: impl Iterator<Item = bool>) -> (usize, Option<usize>) {
            let mut rows = missing
                .enumerate()
                .filter(|(_, missing)| *missing)
                .map(|(row, _)| row);
            let first = rows.next();
            (rows.count() + usize::from(first.is_some()), first)
        }
        match self {
            Self::Numbers(values) => count(values.iter().map(|value| value.is_nan())),
            Self::Texts(values) => count(values.iter().map(Option::is_none)),
        }
    }
}

/// Columns made in memory: simulated data, or those of another program.
#[derive(Clone, Debug)]
pub struct MemoryColumns {
    name: String,
    infos: Vec<ColumnInfo>,
    values: Vec<Values>,
    /// Where the column of a name stands: wide formulas ask for thousands.
    places: HashMap<String, usize>,
    num_rows: usize,
}

impl MemoryColumns {
    /// Columns of equal length.
    ///
    /// # Errors
    /// Columns of different lengths, no row, a name used twice.
    pub fn new(name: &str, columns: Vec<(String, Values)>) -> Result<Self, DesignError> {
        let num_rows = columns.first().map_or(0, |(_, values)| values.len());
        if num_rows == 0 {
            return Err(BadRows::None(name.to_owned()).into());
        }
        let mut places = HashMap::new();
        for (at, (column, values)) in columns.iter().enumerate() {
            let (table, column) = (name.to_owned(), column.clone());
            if values.len() != num_rows {
                return Err(BadRows::Length {
                    table,
                    column,
                    values: values.len(),
                    first: num_rows,
                }
                .into());
            }
            if places.insert(column.clone(), at).is_some() {
                return Err(BadRows::Twice(table, column).into());
            }
        }
        let (infos, values) = columns
            .into_iter()
            .map(|(name, values)| (ColumnInfo::of_values(name, &values), values))
            .unzip();
        Ok(Self {
            name: name.to_owned(),
            infos,
            values,
            places,
            num_rows,
        })
    }
}

impl ColumnInfo {
    /// The description of a column made in memory.
    pub fn of_values(name: String, values: &Values) -> Self {
        let (kind, reason) = match values {
            Values::Numbers(_) => (ColumnKind::Number, "made of numbers"),
            Values::Texts(_) => (ColumnKind::Text, "made of text"),
        };
        let (num_missing, first_missing) = values.missing();
        Self {
            name,
            kind,
            reason: reason.to_owned(),
            num_missing,
            first_missing,
        }
    }
}

impl Columns for MemoryColumns {
    fn name(&self) -> &str {
        &self.name
    }

    fn num_rows(&self) -> usize {
        self.num_rows
    }

    fn columns(&self) -> &[ColumnInfo] {
        &self.infos
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    fn numbers(&self, col: usize) -> Option<&[f64]> {
        match self.values.get(col)? {
            Values::Numbers(values) => Some(values),
            Values::Texts(_) => None,
        }
    }

    fn texts(&self, col: usize) -> Option<Box<dyn Iterator<Item = Option<&str>> + '_>> {
        match self.values.get(col)? {
            Values::Numbers(_) => None,
            Values::Texts(values) => Some(Box::new(values.iter().map(Option::as_deref))),
        }
    }
}

/// Distinct values, `None` if there are more than `most`.
fn few<T: Ord>(values: impl Iterator<Item = T>, most: usize) -> Option<BTreeSet<T>> {
    let mut distinct = BTreeSet::new();
    for value in values {
        if distinct.insert(value) && distinct.len() > most {
            return None;
        }
    }
    Some(distinct)
}

/// Distinct numbers in no order, `None` if there are more than `most`. NaN is none of them; -0 and 0 are one.
fn few_numbers(numbers: &[f64], most: usize) -> Option<Vec<f64>> {
    /// Numbers looked at together: a few cache lines.
    const AT_ONCE: usize = 256;
    let mut distinct: BTreeSet<u64> = BTreeSet::new();
    // Outcomes often have two values, for which no set need be asked.
    let mut first_two = [f64::NAN; 2];
    for some in numbers.chunks(AT_ONCE) {
        let is_known = |x: f64| (x == first_two[0]) | (x == first_two[1]) | x.is_nan();
        if some.iter().fold(true, |all, &x| all & is_known(x)) {
            continue;
        }
        for &x in some.iter().filter(|x| !x.is_nan()) {
            // Adding 0 makes -0 and 0 one value.
            if distinct.insert((x + 0.0).to_bits()) {
                if distinct.len() > most {
                    return None;
                }
                if let Some(place) = first_two.get_mut(distinct.len() - 1) {
                    *place = x;
                }
            }
        }
    }
    Some(distinct.into_iter().map(f64::from_bits).collect())
}

/// Levels of numbers, in numeric order.
pub(crate) fn number_labels(numbers: &[f64]) -> Labels {
    /// Distinct values up to which it takes less time to find them one by one than to sort all.
    const FEW: usize = 100;
    let values = || numbers.iter().copied().filter(|value| !value.is_nan());
    let mut distinct = few_numbers(numbers, FEW).unwrap_or_else(|| values().collect());
    distinct.sort_unstable_by(f64::total_cmp);
    // -0 and 0 are one value.
    distinct.dedup_by(|a, b| a == b);
    let code = |value: f64| distinct.partition_point(|level| *level < value) as u32;
    let codes = numbers
        .iter()
        .map(|&value| {
            if value.is_nan() {
                Labels::MISSING
            } else {
                code(value)
            }
        })
        .collect();
    Labels {
        levels: distinct.iter().copied().map(number_label).collect(),
        codes,
    }
}

/// Levels of texts: numeric order if all are numbers, otherwise alphabetical.
fn text_labels<'a>(texts: impl Iterator<Item = Option<&'a str>>) -> Labels {
    let mut index: HashMap<&str, u32> = HashMap::new();
    let mut seen: Vec<&str> = Vec::new();
    let mut codes: Vec<u32> = texts
        .map(|text| {
            text.map_or(Labels::MISSING, |text| {
                *index.entry(text).or_insert_with(|| {
                    seen.push(text);
                    seen.len() as u32 - 1
                })
            })
        })
        .collect();
    let mut order: Vec<u32> = (0..seen.len() as u32).collect();
    let numbers: Option<Vec<f64>> = seen
        .iter()
        .map(|text| text.parse().ok().filter(|value: &f64| value.is_finite()))
        .collect();
    match numbers {
        Some(numbers) => order.sort_by(|&a, &b| {
            let (a, b) = (a as usize, b as usize);
            numbers[a]
                .total_cmp(&numbers[b])
                .then_with(|| seen[a].cmp(seen[b]))
        }),
        None => order.sort_by_key(|&level| seen[level as usize]),
    }
    let mut rank = vec![0_u32; seen.len()];
    for (position, &level) in order.iter().enumerate() {
        rank[level as usize] = position as u32;
    }
    for code in codes.iter_mut().filter(|code| **code != Labels::MISSING) {
        *code = rank[*code as usize];
    }
    Labels {
        levels: order
            .iter()
            .map(|&level| seen[level as usize].to_owned())
            .collect(),
        codes,
    }
}
