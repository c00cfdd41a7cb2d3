//! Columns of new rows in the levels and the groups of the fit.

use std::collections::{BTreeSet, HashMap};

use super::super::columns::{ColumnKind, Labels};
use super::super::lump_levels::OTHER;
use super::super::response::ResponseKind;
use super::super::terms::Predictor;
use super::{Coding, NewGroups};
use crate::design::Columns;
use crate::design::error::{BadLevel, DesignError, Place};

/// A column that names groups, alone or together with others.
#[derive(Clone, Debug)]
pub struct GroupColumn {
    /// All columns of the grouping.
    pub group: Vec<String>,
    /// Name of the column.
    pub name: String,
    /// Values of the column in the groups of the fit.
    pub values: BTreeSet<String>,
    /// Whether the fit has a group for each of these values with all that the other columns have.
    pub is_crossed: bool,
}

impl Coding {
    /// The columns of all groupings.
    pub fn group_columns(&self) -> Vec<GroupColumn> {
        let mut found = Vec::new();
        for (group, levels) in &self.groups {
            for (at, name) in group.iter().enumerate() {
                let values: BTreeSet<String> =
                    levels.iter().map(|parts| parts[at].clone()).collect();
                let others: BTreeSet<(&[String], &[String])> = (levels.iter())
                    .map(|parts| (&parts[..at], &parts[at + 1..]))
                    .collect();
                found.push(GroupColumn {
                    group: group.clone(),
                    name: name.clone(),
                    is_crossed: levels.len() == values.len() * others.len(),
                    values,
                });
            }
        }
        found
    }

    /// A column as levels; one that held numbers in the fit has numbers as there, however they are written.
    pub(super) fn labels(&self, table: &dyn Columns, name: &str) -> Result<Labels, DesignError> {
        let col = table.index_of(name, "The formula")?;
        let labels = table.labels(col);
        let is_text = table.columns()[col].kind != ColumnKind::Number;
        Ok(match is_text && self.numbers.contains(name) {
            true => labels.with_numbers_in_short(),
            false => labels,
        })
    }

    /// Whether a text is a level of the fit: of a predictor, of a group or of the outcome.
    pub fn is_level(&self, text: &str) -> bool {
        let is_it = |level: &String| level == text;
        let outcome = match &self.response {
            ResponseKind::Binary { success, failure } => is_it(success) || is_it(failure),
            ResponseKind::Ordered { levels } | ResponseKind::Unordered { levels } => {
                levels.iter().any(is_it)
            }
            _ => false,
        };
        let mut categories = self.categories.values();
        let mut groups = self.groups.iter().flat_map(|(_, levels)| levels.iter());
        outcome
            || categories.any(|(levels, _)| levels.iter().any(is_it))
            || groups.any(|parts| parts.iter().any(is_it))
    }

    /// A categorical column at `rows` in the levels of the fit; a level that the fit did not keep is a rare one where it `merges`.
    pub(super) fn category(
        &self,
        table: &dyn Columns,
        name: &str,
        (levels, reference): &(Vec<String>, usize),
        merges: bool,
        rows: &[u32],
    ) -> Result<Predictor, DesignError> {
        let labels = self.labels(table, name)?;
        let place = |label: &str| levels.iter().position(|level| level == label);
        let rare = merges.then(|| place(OTHER)).flatten();
        let code_of: Vec<Option<usize>> = labels
            .levels
            .iter()
            .map(|label| place(label).or(rare))
            .collect();
        let code = |&row: &u32| {
            let label = labels.codes[row as usize] as usize;
            code_of[label].map(|code| code as u32).ok_or_else(|| {
                let (name, level) = (name.to_owned(), labels.levels[label].clone());
                BadLevel::New(name, level, Place::of(table, row), levels.clone())
            })
        };
        Ok(Predictor::Categorical {
            codes: rows.iter().map(code).collect::<Result<_, _>>()?,
            levels: levels.clone(),
            reference: *reference,
        })
    }

    /// Groups of `rows`, known and new.
    pub(super) fn new_groups(
        &self,
        table: &dyn Columns,
        columns: &[String],
        levels: &[Vec<String>],
        rows: &[u32],
    ) -> Result<NewGroups, DesignError> {
        let labels: Vec<Labels> = columns
            .iter()
            .map(|name| self.labels(table, name))
            .collect::<Result<_, DesignError>>()?;
        let known: HashMap<&[String], u32> = levels.iter().map(Vec::as_slice).zip(0..).collect();
        let mut unknown: Vec<String> = Vec::new();
        let mut group_of: HashMap<Vec<u32>, u32> = HashMap::new();
        let mut index = Vec::with_capacity(rows.len());
        for &row in rows {
            let codes = labels.iter().map(|labels| labels.codes[row as usize]);
            let key: Vec<u32> = codes.collect();
            let group = *group_of.entry(key).or_insert_with_key(|key| {
                let parts = key.iter().zip(&labels);
                let parts: Vec<String> = parts
                    .map(|(&code, labels)| labels.levels[code as usize].clone())
                    .collect();
                known.get(parts.as_slice()).copied().unwrap_or_else(|| {
                    unknown.push(parts.join(":"));
                    (levels.len() + unknown.len() - 1) as u32
                })
            });
            index.push(group);
        }
        Ok(NewGroups {
            name: columns.join(":"),
            num_known: levels.len(),
            unknown,
            index,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::design::Design;
    use crate::design::coding::Coding;
    use crate::design::columns::{MemoryColumns, Values};
    use crate::design::model_frame::ModelFrame;
    use crate::design::response::ResponseUse;

    /// Ids that were numbers in the fit, written with a point and among words: the same group and level.
    #[test]
    fn numbers_are_the_levels_of_the_fit_however_they_are_written() {
        let table = |g: Values, k: Values| {
            let y = Values::Numbers(vec![1.0, 2.0, 4.0, 3.0, 5.0, 9.0]);
            let columns = [("y", y), ("g", g), ("k", k)];
            let columns = columns.map(|(name, values)| (name.to_owned(), values));
            MemoryColumns::new("t", columns.into()).unwrap()
        };
        let numbers = |values: [f64; 6]| Values::Numbers(values.into());
        let texts = |values: [&str; 6]| Values::Texts(values.map(|it| Some(it.to_owned())).into());
        let mut frame = ModelFrame::new("y ~ k + (1 | g)".parse().unwrap());
        frame.categorical = ["k".to_owned()].into();
        frame.response_use = ResponseUse::Number;
        let ones = [1.0, 1.0, 2.0, 2.0, 10.0, 10.0];
        let twos = [1.0, 2.0, 1.0, 2.0, 1.0, 2.0];
        let fitted = table(numbers(ones), numbers(twos));
        let (design, _) = Design::build(&fitted, &frame).unwrap();
        let coding = Coding::of(&fitted, &frame, &design).unwrap();
        assert_eq!(coding.categorical().count(), 0);
        assert_eq!(coding.numeric().collect::<Vec<_>>(), ["g", "k", "y"]);
        let as_written = coding.code(&fitted, None, true).unwrap();
        let new = table(
            texts(["1.0", "1", "2.0", "2.00", "new", "10.0"]),
            texts(["1.0", "2.0", "1", "2", "1.0", "2.0"]),
        );
        let new = coding.code(&new, None, true).unwrap();
        assert_eq!(new.x, as_written.x);
        assert_eq!(new.groups[0].unknown, ["new"]);
        for row in [0, 1, 2, 3, 5] {
            let (here, there) = (&new.groups[0].index, &as_written.groups[0].index);
            assert_eq!(here[row], there[row], "row {row}");
        }
        // A group that no file writes twice in the same way is one.
        let new = table(texts(["7.0", "7", "1", "1", "1", "a"]), numbers([1.0; 6]));
        let new = coding.code(&new, None, true).unwrap();
        assert_eq!(new.groups[0].unknown, ["7", "a"]);
        // Words stay as they are.
        let words = ["01", "01", "1", "1", "1.0", "1.0"];
        let fitted = table(texts(words), numbers(twos));
        let (design, _) = Design::build(&fitted, &frame).unwrap();
        let coding = Coding::of(&fitted, &frame, &design).unwrap();
        assert_eq!(coding.categorical().collect::<Vec<_>>(), ["g"]);
        let new = coding.code(&fitted, None, true).unwrap();
        assert_eq!(new.groups[0].num_known, 3);
        assert!(coding.is_level("01") && coding.is_level("2") && !coding.is_level("NA"));
    }
}
