//! What is to be modelled, and reading it out of a table in the order of the file.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use ergodic_base::Reporter;
use ergodic_base::names::told_apart;

use super::censoring::{self, Censoring};
use super::columns::{ColumnKind, Labels};
use super::design_term::in_backticks;
use super::lump_levels::{self, MergedLevels, OTHER};
use super::matrix::{GroupDesign, GroupFactor};
use super::remark::Remark;
use super::response::ResponseUse;
use super::terms::{
    MAX_ITEMS, MAX_LEVELS, Predictor, RawColumn, categorical, check_width, columns_of, contrasts,
    num_columns,
};
use super::transform::Transform;
use crate::design::columns::Columns;
use crate::design::error::{
    BadNumber, BadRows, DesignError, Misplaced, NotNumbers, NumberAt, Place, TooLarge, Unvarying,
};
use crate::formula::{Factor, Formula, Term};

/// A predictor with this many levels of fewer than [`FEW_ROWS`] rows each leaves much to the prior.
const MANY_RARE: usize = 20;
/// See [`MANY_RARE`].
const FEW_ROWS: usize = 5;

/// What is to be modelled: the formula and how its columns are read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelFrame {
    /// Response and terms.
    pub formula: Formula,
    /// How the response is read.
    #[serde(default)]
    pub response_use: ResponseUse,
    /// Response value that counts as success; `None`: 1, true, yes, or the second level.
    #[serde(default)]
    pub success: Option<String>,
    /// Categories of the response that may have no rows; those of the rows need not be named.
    #[serde(default)]
    pub levels: Vec<String>,
    /// Reference level per categorical predictor; absent: the first in order.
    #[serde(default)]
    pub references: BTreeMap<String, String>,
    /// Numeric columns to be treated as categorical.
    #[serde(default)]
    pub categorical: BTreeSet<String>,
    /// Most frequent levels that are kept, per categorical predictor; the others become one. Absent: all.
    #[serde(default)]
    pub top_levels: BTreeMap<String, usize>,
    /// Whether priors hold for standardised predictors; kept for the model, the design is the same.
    pub standardize: bool,
    /// Seed of the one shuffle of rows.
    pub shuffle_seed: u64,
    /// Rows of the table (0-based, ascending) that the design is made without, as if the table did not have them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held_out: Vec<u32>,
}

impl ModelFrame {
    /// The frame of a formula with every choice at its default.
    pub fn new(formula: Formula) -> Self {
        Self {
            formula,
            response_use: ResponseUse::Outcome,
            success: None,
            levels: Vec::new(),
            references: BTreeMap::new(),
            categorical: BTreeSet::new(),
            top_levels: BTreeMap::new(),
            standardize: true,
            shuffle_seed: 0,
            held_out: Vec::new(),
        }
    }
}

/// Rows without a missing value in `columns`, and the missing values per column.
pub(super) type CompleteRows = (Vec<u32>, Vec<(String, usize)>);

/// Rows (0-based) without those `held_out` that have a value in each of `columns`, in order; an error if there is none.
pub(super) fn complete_rows(
    table: &dyn Columns,
    columns: &[usize],
    held_out: &[u32],
) -> Result<CompleteRows, DesignError> {
    if u32::try_from(table.num_rows()).is_err() {
        return Err(BadRows::Many(table.name().to_owned()).into());
    }
    let mut used = vec![true; table.num_rows()];
    held_out.iter().for_each(|&row| used[row as usize] = false);
    let (rows, dropped) = rows_with_values(table, columns, &used);
    if rows.is_empty() {
        if dropped.is_empty() && !held_out.is_empty() {
            return Err(BadRows::HeldOut.into());
        }
        let (held_out, all) = (held_out.len(), table.num_rows());
        return Err(BadRows::Incomplete {
            rows: all - held_out,
            held_out,
            missing: dropped,
        }
        .into());
    }
    Ok((rows, dropped))
}

/// The rows among those `used` (one per row of the table) that have a value in each of `columns`, in order.
pub(super) fn rows_with_values(
    table: &dyn Columns,
    columns: &[usize],
    used: &[bool],
) -> CompleteRows {
    let mut complete = used.to_vec();
    let mut dropped = Vec::new();
    for &col in columns {
        let info = &table.columns()[col];
        if info.num_missing == 0 {
            continue;
        }
        let has_value: Vec<bool> = if let Some(numbers) = table.numbers(col) {
            numbers.iter().map(|value| !value.is_nan()).collect()
        } else if let Some(texts) = table.texts(col) {
            texts.map(|text| text.is_some()).collect()
        } else {
            continue;
        };
        let lacking = used.iter().zip(&has_value);
        let missing = lacking.filter(|(used, has)| **used && !**has).count();
        if missing > 0 {
            dropped.push((info.name.clone(), missing));
            let rows = complete.iter_mut().zip(&has_value);
            rows.for_each(|(keep, has)| *keep &= has);
        }
    }
    let rows = complete.iter().zip(0..);
    let rows = rows.filter(|(keep, _)| **keep).map(|(_, row)| row);
    (rows.collect(), dropped)
}

/// Predictors by the factor that names them.
pub(super) type Predictors = BTreeMap<Factor, Predictor>;

/// A table and what is asked of it.
pub(super) struct FrameReader<'a> {
    pub table: &'a dyn Columns,
    pub frame: &'a ModelFrame,
}

impl<'a> FrameReader<'a> {
    pub fn col(&self, name: &str) -> Result<usize, DesignError> {
        self.table.index_of(name, "The formula")
    }

    /// Factors of population-level and group-level terms, with repeats.
    pub fn factors(&self) -> impl Iterator<Item = &Factor> {
        let formula = &self.frame.formula;
        let groups = formula.groups.iter().flat_map(|group| &group.terms);
        formula.terms.iter().chain(groups).flatten()
    }

    /// Whether rows are items of the units that the group term names, as in `~ page + (1 | user)`.
    fn is_long(&self) -> bool {
        self.frame.response_use == ResponseUse::Absent && !self.frame.formula.groups.is_empty()
    }

    pub fn is_categorical(&self, name: &str) -> bool {
        self.is_long()
            || self.frame.categorical.contains(name)
            || self
                .table
                .column(name)
                .is_some_and(|column| column.kind != ColumnKind::Number)
    }

    /// Whether `factor` has levels.
    pub fn is_category(&self, factor: &Factor) -> bool {
        match factor {
            Factor::Column(name) => self.is_categorical(name),
            Factor::Category(_) => true,
            Factor::Call(..) => false,
        }
    }

    /// Refuses columns whose kind does not fit their part, before anything large is made.
    pub fn check_kinds(&self) -> Result<(), DesignError> {
        for factor in self.factors() {
            let name = factor.column();
            let info = &self.table.columns()[self.col(name)?];
            if matches!(factor, Factor::Category(_))
                && self.is_categorical(name)
                && self.factors().any(|other| other.as_column() == Some(name))
            {
                return Err(Misplaced::Category(factor.clone()).into());
            }
            if factor.as_column().is_none() {
                continue;
            }
            if info.kind == ColumnKind::Date && !self.frame.categorical.contains(name) {
                return Err(NotNumbers::Dates(name.to_owned()).into());
            }
        }
        let names = self
            .frame
            .references
            .keys()
            .map(|name| (name, "A reference level"));
        let categorical = self.frame.categorical.iter();
        let merged = self.frame.top_levels.keys();
        for (name, place) in names
            .chain(categorical.map(|name| (name, "The list of categorical columns")))
            .chain(merged.map(|name| (name, "The number of levels to keep")))
        {
            self.table.index_of(name, place)?;
        }
        Ok(())
    }

    /// The column `name` as levels, rare ones among `rows` merged where the frame says so.
    pub fn labels(
        &self,
        name: &str,
        rows: &[u32],
    ) -> Result<(Labels, Option<MergedLevels>), DesignError> {
        let labels = self.table.labels(self.col(name)?);
        let top = self.frame.top_levels.get(name);
        Ok(
            match top.and_then(|&top| lump_levels::merge(name, &labels, rows, top)) {
                Some((labels, merged)) => (labels, Some(merged)),
                None => (labels, None),
            },
        )
    }

    /// Levels, codes and reference level of the categorical predictor `name` at `rows`.
    pub fn category(
        &self,
        name: &str,
        rows: &[u32],
    ) -> Result<(Predictor, Option<MergedLevels>), DesignError> {
        let most = if self.frame.response_use == ResponseUse::Absent {
            MAX_ITEMS
        } else {
            MAX_LEVELS
        };
        let (labels, merged) = self.labels(name, rows)?;
        let mut reference = self.frame.references.get(name).map(String::as_str);
        // A reference level that was merged is still the one that others are compared with.
        if merged.is_some() && reference.is_some_and(|it| labels.levels.iter().all(|l| l != it)) {
            reference = Some(OTHER);
        }
        Ok((categorical(name, &labels, rows, reference, most)?, merged))
    }

    /// Each factor once, restricted to `rows`; what functions computed from the rows is added to `transforms`, columns whose
    /// levels were merged to `merged`.
    pub fn predictors(
        &self,
        rows: &[u32],
        transforms: &mut Vec<Transform>,
        merged: &mut Vec<MergedLevels>,
    ) -> Result<Predictors, DesignError> {
        let mut predictors = Predictors::new();
        for factor in self.factors() {
            if predictors.contains_key(factor) {
                continue;
            }
            let predictor = match factor {
                Factor::Column(name) | Factor::Category(name) if self.is_category(factor) => {
                    let (predictor, rare) = self.category(name, rows)?;
                    merged.extend(rare);
                    predictor
                }
                Factor::Column(name) | Factor::Category(name) => {
                    Predictor::Numeric(self.numbers(self.col(name)?, rows, "predictor")?)
                }
                Factor::Call(..) => Predictor::Function(self.call(factor, rows, transforms)?),
            };
            predictors.insert(factor.clone(), predictor);
        }
        Ok(predictors)
    }

    /// The columns of a function of a column.
    fn call(
        &self,
        factor: &Factor,
        rows: &[u32],
        transforms: &mut Vec<Transform>,
    ) -> Result<Vec<Vec<f64>>, DesignError> {
        let Some(numbers) = self.table.numbers(self.col(factor.column())?) else {
            return Err(NotNumbers::Argument(factor.clone()).into());
        };
        let values = rows.iter().map(|&row| numbers[row as usize]).collect();
        let place = |i: usize| Place::of(self.table, rows[i]);
        let (transform, columns) = Transform::fit(factor, values, &place)?;
        if transforms.iter().all(|known| known.factor != *factor) {
            transforms.push(transform);
        }
        Ok(columns)
    }

    pub fn numbers(
        &self,
        col: usize,
        rows: &[u32],
        part: &'static str,
    ) -> Result<Vec<f64>, NotNumbers> {
        let text = || NotNumbers::Text(part, self.table.columns()[col].name.clone());
        let numbers = self.table.numbers(col).ok_or_else(text)?;
        // Where no row is left out there is nothing to pick.
        if rows.len() == numbers.len() && rows.iter().copied().eq(0..rows.len() as u32) {
            return Ok(numbers.to_vec());
        }
        Ok(rows.iter().map(|&row| numbers[row as usize]).collect())
    }

    /// Terms that say nothing, with what they are in all rows used: population-level terms whose columns of numbers are the same beside
    /// the intercept, or 0 without one, and terms anywhere that have no column because a category has a single level.
    pub fn constant_terms(&self, predictors: &Predictors) -> Vec<(Term, String)> {
        let formula = &self.frame.formula;
        let constant = |term: &Term| {
            let factors: Vec<&Predictor> = term.iter().map(|factor| &predictors[factor]).collect();
            let is_category = |it: &&Predictor| matches!(it, Predictor::Categorical { .. });
            if factors.iter().any(is_category) {
                return None;
            }
            let same = |values: &[f64]| {
                let first = values
                    .first()
                    .filter(|&&it| formula.intercept || it == 0.0)?;
                values.iter().all(|it| it == first).then_some(*first)
            };
            if let [Predictor::Numeric(values)] = factors.as_slice() {
                return same(values).map(|number| number.to_string());
            }
            let columns = columns_of(term, &factors, &vec![true; factors.len()]);
            let numbers = columns.iter().map(|column| same(&column.values));
            let numbers: Vec<f64> = numbers.collect::<Option<_>>()?;
            numbers.first().map(f64::to_string)
        };
        let mut found: Vec<(Term, String)> = Vec::new();
        let terms = formula.terms.iter();
        found.extend(terms.filter_map(|term| Some((term.clone(), constant(term)?))));
        let everywhere = std::iter::once((&formula.terms, formula.intercept));
        let by_group = formula.groups.iter().map(|it| (&it.terms, it.intercept));
        for (terms, intercept) in everywhere.chain(by_group) {
            let empty = self.terms_without_columns(terms, intercept, predictors);
            let new = empty.filter(|(term, _)| !found.iter().any(|(other, _)| other == term));
            found.extend(new.collect::<Vec<_>>());
        }
        found
    }

    /// Members of `terms` that give no column, because a category that stands for differences from its reference has no other level; each
    /// with what it is.
    fn terms_without_columns<'t>(
        &self,
        terms: &'t [Term],
        intercept: bool,
        predictors: &'t Predictors,
    ) -> impl Iterator<Item = (Term, String)> + use<'t> {
        let coded = contrasts(terms, intercept, |factor| self.is_category(factor));
        terms.iter().zip(coded).filter_map(|(term, contrasts)| {
            let mut coded = term.iter().zip(contrasts);
            let (factor, level) =
                coded.find_map(|(factor, is_contrast)| match &predictors[factor] {
                    Predictor::Categorical { levels, .. } if is_contrast && levels.len() == 1 => {
                        Some((factor, in_backticks(&levels[0])))
                    }
                    _ => None,
                })?;
            let said = match term.as_slice() {
                [_] => level,
                _ => format!("the same as without `{factor}`, which is {level}"),
            };
            Some((term.clone(), said))
        })
    }

    pub fn raw_columns<'p>(
        &self,
        predictors: &'p Predictors,
    ) -> Result<Vec<RawColumn<'p>>, DesignError> {
        let formula = &self.frame.formula;
        self.columns_of_terms(&formula.terms, formula.intercept, predictors)
    }

    /// The columns of the formula as they are.
    pub fn plain_columns(
        &self,
        predictors: &Predictors,
    ) -> Result<Vec<(String, Predictor)>, DesignError> {
        let mut columns = Vec::new();
        for term in &self.frame.formula.terms {
            let [factor] = term.as_slice() else {
                return Err(Misplaced::Interaction(term.clone()).into());
            };
            match &predictors[factor] {
                function @ Predictor::Function(_) => {
                    let made = columns_of(term, &[function], &[false]);
                    columns.extend(made.into_iter().map(|column| {
                        (
                            column.term.to_string(),
                            Predictor::Numeric(column.values.into_owned()),
                        )
                    }));
                }
                plain => columns.push((factor.column().to_owned(), plain.clone())),
            }
        }
        Ok(columns)
    }

    /// The columns of `terms`, coded beside an intercept or without one.
    pub fn columns_of_terms<'p>(
        &self,
        terms: &[Term],
        intercept: bool,
        predictors: &'p Predictors,
    ) -> Result<Vec<RawColumn<'p>>, DesignError> {
        let coded = contrasts(terms, intercept, |factor| self.is_category(factor));
        let mut columns = Vec::new();
        for (term, contrasts) in terms.iter().zip(&coded) {
            let parts: Vec<&Predictor> = term.iter().map(|factor| &predictors[factor]).collect();
            check_width(term, num_columns(&parts, contrasts))?;
            columns.extend(columns_of(term, &parts, contrasts));
        }
        // What bends smooth curves comes after everything else: their coefficients have priors of another kind.
        columns.sort_by_key(|column| column.term.bend().is_some());
        if let Some(column) = columns
            .iter()
            .find(|column| column.values.iter().any(|value| !value.is_finite()))
        {
            return Err(TooLarge::Product(column.term.to_string()).into());
        }
        let plain = columns.iter().map(|column| column.term.to_string());
        let names = told_apart(plain.collect(), |k| columns[k].term.quoted());
        let named = columns.into_iter().zip(names);
        Ok(named
            .map(|(column, name)| RawColumn {
                term: column.term.called(name),
                ..column
            })
            .collect())
    }

    /// Says which settings of levels are of predictors that are numbers.
    fn report_unused(&self, predictors: &Predictors, reporter: &mut Reporter) {
        let of_references = self.frame.references.keys().map(|name| ("reference", name));
        let of_levels = self.frame.top_levels.keys();
        for (key, name) in of_references.chain(of_levels.map(|name| ("top_levels", name))) {
            let has_levels = |(_, predictor): (&Factor, &Predictor)| {
                matches!(predictor, Predictor::Categorical { .. })
            };
            let mut of_column = predictors.iter().filter(|(it, _)| it.column() == name);
            let groups = &self.frame.formula.groups;
            let Some(first) = of_column.next() else {
                continue;
            };
            if has_levels(first)
                || of_column.any(has_levels)
                || groups.iter().any(|group| group.group.contains(name))
            {
                continue;
            }
            let column = name.clone();
            reporter.report(Remark::UnusedSetting { key, column });
        }
    }

    /// Says what was merged, and which predictors have many levels of few rows.
    pub fn report_levels(
        &self,
        predictors: &Predictors,
        merged: &[MergedLevels],
        num_rows: usize,
        reporter: &mut Reporter,
    ) {
        for levels in merged {
            reporter.report(Remark::MergedLevels {
                levels: levels.clone(),
                rows: num_rows,
            });
        }
        self.report_unused(predictors, reporter);
        if self.frame.response_use == ResponseUse::Absent {
            return;
        }
        for (factor, predictor) in predictors {
            let Predictor::Categorical { levels, codes, .. } = predictor else {
                continue;
            };
            let mut counts = vec![0; levels.len()];
            for &code in codes {
                counts[code as usize] += 1;
            }
            let rare = counts.iter().filter(|&&count| count < FEW_ROWS).count();
            if rare < MANY_RARE {
                continue;
            }
            reporter.report(Remark::RareLevels {
                column: factor.column().to_owned(),
                levels: levels.len(),
                rare,
                fewest_rows: FEW_ROWS,
            });
        }
    }

    pub fn reference_levels(&self, predictors: &Predictors) -> Vec<(String, String)> {
        let mut found: Vec<(String, String)> = Vec::new();
        for factor in self.factors() {
            if let Predictor::Categorical {
                levels, reference, ..
            } = &predictors[factor]
                && !found.iter().any(|(other, _)| other == factor.column())
            {
                found.push((factor.column().to_owned(), levels[*reference].clone()));
            }
        }
        found
    }

    pub fn weights(&self, name: &str, rows: &[u32]) -> Result<Vec<f64>, DesignError> {
        let weights = self.numbers(self.col(name)?, rows, "weight")?;
        if let Some(i) = weights.iter().position(|&weight| weight < 0.0) {
            let weight = NumberAt::new(name, weights[i], Place::of(self.table, rows[i]));
            return Err(BadNumber::Weight(weight).into());
        }
        if weights.iter().all(|&weight| weight == 0.0) {
            return Err(Unvarying::Weights(name.to_owned()).into());
        }
        Ok(weights)
    }

    /// Standard errors of the response, all above 0.
    pub fn standard_errors(&self, name: &str, rows: &[u32]) -> Result<Vec<f64>, DesignError> {
        if self.frame.response_use != ResponseUse::Number {
            return Err(Misplaced::StandardErrors(name.to_owned()).into());
        }
        let errors = self.numbers(self.col(name)?, rows, "standard error")?;
        check_errors(self.table, name, rows, &errors)?;
        Ok(errors)
    }

    /// How far responses were seen, some of them whole.
    pub fn censoring(&self, name: &str, rows: &[u32]) -> Result<Vec<Censoring>, DesignError> {
        if self.frame.response_use != ResponseUse::Number {
            return Err(Misplaced::Censoring(name.to_owned()).into());
        }
        // Rows without a status are left out before.
        let statuses = censoring::statuses(self.table, name, rows)?;
        let statuses: Vec<Censoring> = statuses.into_iter().flatten().collect();
        if !statuses.contains(&Censoring::Seen) {
            return Err(Unvarying::Censored(name.to_owned()).into());
        }
        Ok(statuses)
    }

    pub fn offset(
        &self,
        rows: &[u32],
        transforms: &mut Vec<Transform>,
    ) -> Result<Option<Vec<f64>>, DesignError> {
        let mut total: Option<Vec<f64>> = None;
        for offset in &self.frame.formula.offsets {
            let values = match offset {
                Factor::Column(name) | Factor::Category(name) => {
                    self.numbers(self.col(name)?, rows, "offset")?
                }
                // The formula's reader takes only functions of one column here.
                Factor::Call(..) => self.call(offset, rows, transforms)?.swap_remove(0),
            };
            match &mut total {
                None => total = Some(values),
                Some(total) => total
                    .iter_mut()
                    .zip(&values)
                    .for_each(|(sum, value)| *sum += value),
            }
        }
        Ok(total)
    }

    /// The columns of group terms, and the place in [`Self::groupings`] of what each varies by.
    pub fn group_terms(
        &self,
        predictors: &Predictors,
        order: &[u32],
    ) -> Result<Vec<GroupDesign>, DesignError> {
        let formula = &self.frame.formula;
        let groupings = self.groupings();
        let mut designs = Vec::with_capacity(formula.groups.len());
        for group in &formula.groups {
            let raw = self.columns_of_terms(&group.terms, group.intercept, predictors)?;
            let factor = groupings
                .iter()
                .position(|columns| **columns == group.group);
            designs.push(GroupDesign::new(
                factor.unwrap_or_default(),
                group.intercept,
                group.correlated,
                &raw,
                order,
            ));
        }
        Ok(designs)
    }

    /// The columns of each grouping of the formula, each grouping once.
    pub fn groupings(&self) -> Vec<&'a Vec<String>> {
        let mut distinct: Vec<&Vec<String>> = Vec::new();
        for group in &self.frame.formula.groups {
            if !distinct.contains(&&group.group) {
                distinct.push(&group.group);
            }
        }
        distinct
    }

    pub fn groups(&self, rows: &[u32]) -> Result<Vec<GroupFactor>, DesignError> {
        let groupings = self.groupings();
        let plain = groupings.iter().map(|columns| columns.join(":"));
        let names = told_apart(plain.collect(), |k| crossed(groupings[k]));
        let named = groupings.iter().zip(names);
        named
            .map(|(columns, name)| {
                let (levels, index) = self.levels(columns, rows)?;
                let plain = levels.iter().map(|level| level.join(":"));
                Ok(GroupFactor {
                    name,
                    levels: told_apart(plain.collect(), |k| crossed(&levels[k])),
                    index,
                })
            })
            .collect()
    }

    /// The combinations of values that the `columns` of a grouping have in `rows`, and the place of each row's.
    pub fn levels(
        &self,
        columns: &[String],
        rows: &[u32],
    ) -> Result<(Vec<Vec<String>>, Vec<u32>), DesignError> {
        let labels: Vec<Labels> = columns
            .iter()
            .map(|name| Ok(self.table.labels(self.col(name)?)))
            .collect::<Result<_, DesignError>>()?;
        let key = |row: u32| -> Vec<u32> {
            labels
                .iter()
                .map(|labels| labels.codes[row as usize])
                .collect()
        };
        let mut index_of: BTreeMap<Vec<u32>, u32> = rows.iter().map(|&row| (key(row), 0)).collect();
        let mut levels = Vec::with_capacity(index_of.len());
        for (position, (codes, index)) in index_of.iter_mut().enumerate() {
            *index = position as u32;
            let parts = codes.iter().zip(&labels);
            levels.push(
                parts
                    .map(|(&code, labels)| labels.levels[code as usize].clone())
                    .collect(),
            );
        }
        let index = rows.iter().map(|&row| index_of[&key(row)]).collect();
        Ok((levels, index))
    }
}

/// Names of columns, or values of them, that cannot be mistaken for others where they are joined.
fn crossed(parts: &[String]) -> String {
    let parts: Vec<String> = parts.iter().map(|part| in_backticks(part)).collect();
    parts.join(":")
}

/// Refuses standard errors that are not above 0.
pub(super) fn check_errors(
    table: &dyn Columns,
    name: &str,
    rows: &[u32],
    errors: &[f64],
) -> Result<(), BadNumber> {
    match errors.iter().position(|&error| error <= 0.0) {
        None => Ok(()),
        Some(i) => {
            let error = NumberAt::new(name, errors[i], Place::of(table, rows[i]));
            Err(BadNumber::StandardError(error))
        }
    }
}
