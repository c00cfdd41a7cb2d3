//! New rows coded as those of a design were: with its levels, knots, means and groups.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ndarray::Array2;

use super::censoring::Censoring;
use super::columns::ColumnKind;
use super::matrix::Design;
use super::model_frame::{FrameReader, ModelFrame, Predictors, check_errors, complete_rows};
use super::observation::{ObservationModel, ObservationRows};
use super::response::ResponseKind;
use super::response_columns::num_trials;
use super::terms::Predictor;
use super::transform::Transform;
use crate::design::Columns;
use crate::design::error::{BadNumber, DesignError, NotNumbers, NumberAt, Place, Unmade};
use crate::formula::{Factor, Formula, Trials};

mod compared;
mod known;
mod observed;
mod read;

pub use compared::{ComparedRows, UnknownLevels};
pub use known::GroupColumn;

/// How the rows of a design were coded.
#[derive(Clone, Debug)]
pub struct Coding {
    frame: ModelFrame,
    /// Levels and position of the reference per categorical predictor.
    categories: BTreeMap<Factor, (Vec<String>, usize)>,
    /// Columns that are categories in whatever file they come: numbers that `factor(x)` names are numbers as well.
    categorical: Vec<String>,
    /// Columns that held numbers: a group that was `1` is `1.0` in another file as well.
    numbers: BTreeSet<String>,
    transforms: Vec<Transform>,
    /// Columns of each grouping, and their values in each group.
    groups: Vec<(Vec<String>, Vec<Vec<String>>)>,
    response: ResponseKind,
    /// The model that reads columns instead of one linear predictor, where it does.
    observation: Option<Arc<dyn ObservationModel>>,
}

/// A column of the data that rows are coded from, and what it may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodedColumn {
    /// Name of the column.
    pub name: String,
    /// Levels of the fit and the position of the reference, where it is a category; `None` where it is a number.
    pub levels: Option<(Vec<String>, usize)>,
    /// Whether coefficients of the population belong to it, or only effects that vary by group.
    pub is_fixed: bool,
}

/// Rows to predict: n of them, columns as they are.
#[derive(Clone, Debug)]
pub struct NewRows {
    /// Row of the table, 0-based, ascending (n).
    pub row: Vec<u32>,
    /// Rows of the table.
    pub rows_total: usize,
    /// Missing values per used column that has any.
    pub dropped: Vec<(String, usize)>,
    /// n × P, row-major, the first column 1 where there is an intercept.
    pub x: Array2<f64>,
    /// Sum of the offset terms (n).
    pub offset: Option<Vec<f64>>,
    /// Numbers of trials (n).
    pub trials: Option<Vec<f64>>,
    /// Known standard errors of the responses (n).
    pub se: Option<Vec<f64>>,
    /// Columns of the outcome in which some of these rows, which have no outcome then, have levels that the fit did not have.
    pub unknown_outcomes: Vec<UnknownLevels>,
    /// One per grouping.
    pub groups: Vec<NewGroups>,
    /// Grouping and columns (n × q) of each group term.
    pub terms: Vec<(usize, Array2<f64>)>,
    /// Observed responses as designs hold them (n), NaN where there is none or it is not known how far it was seen; `None` without such a
    /// column.
    pub observed: Option<Vec<f64>>,
    /// How far observed responses were seen (n), where the formula has a column of that.
    pub censoring: Option<Vec<Censoring>>,
    /// The rows as a model reads them that asks for columns; `x` and the like are empty then.
    pub read: Option<Arc<dyn ObservationRows>>,
}

impl NewRows {
    /// See [`Design::known`].
    pub fn known(&self, i: usize) -> f64 {
        if let Some(statuses) = &self.censoring {
            return statuses[i].known();
        }
        let known = self.trials.as_ref().or(self.se.as_ref());
        known.map_or(1.0, |known| known[i])
    }

    /// The response of row `i` where it was seen, and otherwise NaN.
    pub fn seen(&self, i: usize) -> f64 {
        let statuses = self.censoring.as_ref();
        match (&self.observed, statuses.map(|statuses| statuses[i])) {
            (Some(observed), None | Some(Censoring::Seen)) => observed[i],
            _ => f64::NAN,
        }
    }

    /// Groupings with groups that the fit did not have.
    pub fn new_groups(&self) -> Vec<UnknownGroups> {
        let groups = self.groups.iter().filter(|group| !group.unknown.is_empty());
        let counted = groups.map(|group| UnknownGroups {
            grouping: group.name.clone(),
            groups: group.unknown.len(),
            rows: (0..group.index.len()).filter(|&i| group.is_new(i)).count(),
        });
        counted.collect()
    }

    /// Whether row `i` is of a group that the fit did not have, in some grouping.
    pub fn is_in_new_group(&self, i: usize) -> bool {
        self.groups.iter().any(|group| group.is_new(i))
    }
}

/// How much of a table is of groups that the fit did not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownGroups {
    /// Grouping columns joined by `:`.
    pub grouping: String,
    /// Number of such groups.
    pub groups: usize,
    /// Number of their rows.
    pub rows: usize,
}

/// Rows by group.
#[derive(Clone, Debug)]
pub struct NewGroups {
    /// Grouping columns joined by `:`.
    pub name: String,
    /// Groups of the fit.
    pub num_known: usize,
    /// Names of groups that the fit did not have.
    pub unknown: Vec<String>,
    /// Group of each row (n): of the fit, or from `num_known` on one of `unknown`.
    pub index: Vec<u32>,
}

impl NewGroups {
    /// Whether row `i` is of a group that the fit did not have.
    fn is_new(&self, i: usize) -> bool {
        self.index[i] as usize >= self.num_known
    }
}

impl Coding {
    /// How `design` was made of `table` by `frame`.
    ///
    /// # Errors
    /// As those of the design.
    pub fn of(
        table: &dyn Columns,
        frame: &ModelFrame,
        design: &Design,
    ) -> Result<Self, DesignError> {
        let frame = &ModelFrame {
            formula: design.formula_of(&frame.formula),
            ..frame.clone()
        };
        let reader = FrameReader { table, frame };
        let mut categories = BTreeMap::new();
        let mut categorical: Vec<String> = Vec::new();
        for factor in reader.factors() {
            if !reader.is_category(factor) || categories.contains_key(factor) {
                continue;
            }
            let name = factor.column();
            if reader.is_categorical(name) && !categorical.iter().any(|known| known == name) {
                categorical.push(name.to_owned());
            }
            if let Predictor::Categorical {
                levels, reference, ..
            } = reader.category(name, &design.row)?.0
            {
                categories.insert(factor.clone(), (levels, reference));
            }
        }
        let mut groups = Vec::new();
        for columns in reader.groupings() {
            groups.push((columns.clone(), reader.levels(columns, &design.row)?.0));
        }
        // What is a number in another file stays the category that it was.
        let mut frame = frame.clone();
        frame.categorical = categorical.iter().cloned().collect();
        let is_number = |name: &&str| {
            let column = table.column(name);
            column.is_some_and(|column| column.kind == ColumnKind::Number)
        };
        let named = frame.formula.columns().into_iter();
        let numbers = named.filter(is_number).map(str::to_owned).collect();
        Ok(Self {
            frame,
            categories,
            categorical,
            numbers,
            transforms: design.transforms.clone(),
            groups,
            response: design.response.kind.clone(),
            observation: None,
        })
    }

    /// Columns of text that were read as categories.
    pub fn categorical(&self) -> impl Iterator<Item = &str> {
        let groups = self.groups.iter().flat_map(|(columns, _)| columns);
        let names = self.categorical.iter().chain(groups).map(String::as_str);
        names.filter(|name| !self.numbers.contains(*name))
    }

    /// Columns that held numbers, ascending by name.
    pub fn numeric(&self) -> impl Iterator<Item = &str> {
        self.numbers.iter().map(String::as_str)
    }

    /// The formula, without terms that were left out.
    pub fn formula(&self) -> &Formula {
        &self.frame.formula
    }

    /// The predictors in the order of the formula, each column once; one that is a number and a category is a category. Columns
    /// that a model reads without expecting other outcomes for them are none.
    pub fn coded_columns(&self) -> Vec<CodedColumn> {
        let formula = &self.frame.formula;
        let fixed = formula.terms.iter().flatten().map(|factor| (factor, true));
        let varying = formula.groups.iter().flat_map(|group| &group.terms);
        let varying = varying.flatten().map(|factor| (factor, false));
        let mut found: Vec<CodedColumn> = Vec::new();
        for (factor, is_fixed) in fixed.chain(varying) {
            if !self.is_predictor(factor.column()) {
                continue;
            }
            let levels = self.categories.get(factor);
            match found.iter_mut().find(|known| known.name == factor.column()) {
                Some(known) => known.levels = known.levels.take().or_else(|| levels.cloned()),
                None => found.push(CodedColumn {
                    name: factor.column().to_owned(),
                    levels: levels.cloned(),
                    is_fixed,
                }),
            }
        }
        found
    }

    /// Codes the rows of `table`: those listed, ascending and without missing values, or all that have a value in every
    /// column needed; columns of groups are needed `with_groups`.
    ///
    /// # Errors
    /// Columns that are not there or of another kind, levels that no row of the fit has, values outside the domain of a
    /// function, no complete row.
    pub fn code(
        &self,
        table: &dyn Columns,
        rows: Option<Vec<u32>>,
        with_groups: bool,
    ) -> Result<NewRows, DesignError> {
        let frame = &self.frame;
        let reader = FrameReader { table, frame };
        let (rows, dropped) = match rows {
            Some(rows) => (rows, Vec::new()),
            None => complete_rows(table, &self.columns(table, with_groups)?, &[])?,
        };
        if let Some(model) = &self.observation {
            let read = self.read(model, table, &rows)?;
            let groups = self.groups.iter();
            let groups =
                groups.map(|(columns, levels)| self.new_groups(table, columns, levels, &rows));
            return Ok(NewRows {
                rows_total: table.num_rows(),
                dropped,
                x: Array2::zeros((rows.len(), 0)),
                offset: None,
                observed: Some(read.observed().to_vec()),
                censoring: None,
                trials: read.trials().map(<[f64]>::to_vec),
                se: None,
                unknown_outcomes: self.unknown_outcomes(table, &rows),
                groups: groups.collect::<Result<_, _>>()?,
                terms: Vec::new(),
                row: rows,
                read: Some(read),
            });
        }
        let predictors = self.predictors(&reader, &rows, with_groups)?;
        let formula = &frame.formula;
        let order: Vec<u32> = (0..rows.len() as u32).collect();
        let columns = |terms, intercept| -> Result<Array2<f64>, DesignError> {
            let raw = reader.columns_of_terms(terms, intercept, &predictors)?;
            let first = usize::from(intercept);
            let mut x = Array2::ones((order.len(), first + raw.len()));
            for (j, column) in raw.iter().enumerate() {
                for (i, value) in column.values.iter().enumerate() {
                    x[[i, first + j]] = *value;
                }
            }
            Ok(x)
        };
        let x = columns(&formula.terms, formula.intercept)?;
        let mut groups = Vec::new();
        let mut terms = Vec::new();
        if with_groups {
            for (columns, levels) in &self.groups {
                groups.push(self.new_groups(table, columns, levels, &rows)?);
            }
            for term in &formula.groups {
                let mut known = self.groups.iter();
                let factor = known.position(|(columns, _)| *columns == term.group);
                let z = columns(&term.terms, term.intercept)?;
                terms.push((factor.unwrap_or_default(), z));
            }
        }
        let trials = self.trials(&reader, &rows)?;
        let response = formula.response.as_ref();
        let se = response.and_then(|response| response.se.as_deref());
        let se = se
            .map(|name| {
                let errors = numbers(table, name, &rows)?;
                check_errors(table, name, &rows, &errors)?;
                Ok::<_, DesignError>(errors)
            })
            .transpose()?;
        let (observed, censoring) = self.observed(table, &rows, trials.as_deref())?;
        Ok(NewRows {
            rows_total: table.num_rows(),
            dropped,
            x,
            offset: self.offset(&reader, &rows)?,
            observed,
            censoring,
            trials,
            se,
            unknown_outcomes: self.unknown_outcomes(table, &rows),
            groups,
            terms,
            row: rows,
            read: None,
        })
    }

    /// Positions of the columns that predictions need.
    fn columns(&self, table: &dyn Columns, with_groups: bool) -> Result<Vec<usize>, DesignError> {
        let formula = &self.frame.formula;
        let fixed = formula.terms.iter().flatten().map(Factor::column);
        let mut names: Vec<&str> = fixed.filter(|name| !self.is_outcome(name)).collect();
        names.extend(formula.offsets.iter().map(Factor::column));
        names.extend((formula.response.as_ref()).and_then(|r| r.se.as_deref()));
        let trials = formula.response.as_ref().and_then(|r| r.trials.as_ref());
        names.extend(trials.and_then(Trials::column));
        if let Some(Trials::Failures(_)) = trials {
            // The number of trials is the sum of both.
            names.extend(
                formula
                    .response
                    .as_ref()
                    .map(|response| response.column.as_str()),
            );
        }
        // Models that read columns read those of groups too.
        if with_groups || self.observation.is_some() {
            for group in &formula.groups {
                names.extend(group.terms.iter().flatten().map(Factor::column));
                names.extend(group.group.iter().map(String::as_str));
            }
        }
        let mut columns = Vec::new();
        for name in names {
            let col = table.index_of(name, "The formula")?;
            if !columns.contains(&col) {
                columns.push(col);
            }
        }
        Ok(columns)
    }

    fn predictors(
        &self,
        reader: &FrameReader<'_>,
        rows: &[u32],
        with_groups: bool,
    ) -> Result<Predictors, DesignError> {
        let formula = &self.frame.formula;
        let fixed = formula.terms.iter().flatten();
        let varying = formula.groups.iter().filter(|_| with_groups);
        let varying = varying.flat_map(|group| group.terms.iter().flatten());
        let mut predictors = Predictors::new();
        for factor in fixed.chain(varying) {
            if predictors.contains_key(factor) {
                continue;
            }
            let predictor = match factor {
                Factor::Column(name) | Factor::Category(name) => {
                    match self.categories.get(factor) {
                        Some(known) => {
                            let merges = reader.frame.top_levels.contains_key(name);
                            self.category(reader.table, name, known, merges, rows)?
                        }
                        None => Predictor::Numeric(numbers(reader.table, name, rows)?),
                    }
                }
                Factor::Call(..) => Predictor::Function(self.call(reader.table, factor, rows)?),
            };
            predictors.insert(factor.clone(), predictor);
        }
        Ok(predictors)
    }

    /// The columns of a function of a column, as it was fitted.
    fn call(
        &self,
        table: &dyn Columns,
        factor: &Factor,
        rows: &[u32],
    ) -> Result<Vec<Vec<f64>>, DesignError> {
        let values = numbers(table, factor.column(), rows)?;
        let Some(transform) = self.transforms.iter().find(|known| known.factor == *factor) else {
            return Err(Unmade::NotFitted(factor.clone()).into());
        };
        let mut out = vec![0.0; transform.num_columns()];
        let mut columns = vec![Vec::with_capacity(rows.len()); out.len()];
        for (x, &row) in values.iter().zip(rows) {
            transform.evaluate(*x, &mut out);
            if !out.iter().all(|value| value.is_finite()) {
                let number = NumberAt::new(factor.column(), *x, Place::of(table, row));
                return Err(BadNumber::Undefined(number, factor.clone()).into());
            }
            columns.iter_mut().zip(&out).for_each(|(c, v)| c.push(*v));
        }
        Ok(columns)
    }

    fn offset(
        &self,
        reader: &FrameReader<'_>,
        rows: &[u32],
    ) -> Result<Option<Vec<f64>>, DesignError> {
        let mut total: Option<Vec<f64>> = None;
        for offset in &self.frame.formula.offsets {
            let values = match offset {
                Factor::Column(name) | Factor::Category(name) => numbers(reader.table, name, rows)?,
                Factor::Call(..) => self.call(reader.table, offset, rows)?.swap_remove(0),
            };
            match &mut total {
                None => total = Some(values),
                Some(total) => total.iter_mut().zip(&values).for_each(|(sum, v)| *sum += v),
            }
        }
        Ok(total)
    }

    fn trials(
        &self,
        reader: &FrameReader<'_>,
        rows: &[u32],
    ) -> Result<Option<Vec<f64>>, DesignError> {
        let Some(response) = &self.frame.formula.response else {
            return Ok(None);
        };
        let read = |name: &str, _part| numbers(reader.table, name, rows);
        let trials = response.trials.as_ref();
        trials
            .map(|trials| num_trials(reader.table, response, trials, rows, read))
            .transpose()
    }
}

/// A numeric column at `rows`.
fn numbers(table: &dyn Columns, name: &str, rows: &[u32]) -> Result<Vec<f64>, DesignError> {
    let numbers = table
        .numbers(table.index_of(name, "The formula")?)
        .ok_or_else(|| NotNumbers::New(name.to_owned(), table.name().to_owned()))?;
    Ok(rows.iter().map(|&row| numbers[row as usize]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::columns::{MemoryColumns, Values};
    use crate::design::lump_levels::OTHER;
    use crate::design::response::ResponseUse;

    fn table(rows: &[(&str, f64, &str, &str)]) -> MemoryColumns {
        let text = |pick: fn(&(&str, f64, &str, &str)) -> String| {
            let some = |cell: String| (!cell.is_empty()).then_some(cell);
            Values::Texts(rows.iter().map(|row| some(pick(row))).collect())
        };
        MemoryColumns::new(
            "new",
            vec![
                ("y".to_owned(), text(|row| row.0.to_owned())),
                (
                    "x".to_owned(),
                    Values::Numbers(rows.iter().map(|row| row.1).collect()),
                ),
                ("f".to_owned(), text(|row| row.2.to_owned())),
                ("g".to_owned(), text(|row| row.3.to_owned())),
            ],
        )
        .unwrap()
    }

    fn fitted() -> (MemoryColumns, ModelFrame, Design, Coding) {
        let table = table(&[
            ("yes", 1.0, "b", "u"),
            ("no", 2.0, "a", "u"),
            ("no", 4.0, "c", "v"),
            ("yes", 8.0, "a", "v"),
            ("no", 16.0, "b", "w"),
            // Not in the fit: neither is its level.
            ("", 3.0, "z", "u"),
        ]);
        let mut frame = ModelFrame::new(
            "y ~ ns(x, 2)*f + offset(log(x)) + (1 + x | g)"
                .parse()
                .unwrap(),
        );
        frame.response_use = ResponseUse::Outcome;
        let (design, _) = Design::build(&table, &frame).unwrap();
        let coding = Coding::of(&table, &frame, &design).unwrap();
        (table, frame, design, coding)
    }

    #[test]
    fn the_rows_of_the_fit_are_coded_as_the_design_has_them() {
        let (table, _, design, coding) = fitted();
        let mut rows = design.row.clone();
        rows.sort_unstable();
        let new = coding.code(&table, Some(rows), true).unwrap();
        assert_eq!(new.row, [0, 1, 2, 3, 4]);
        for (i, &row) in design.row.iter().enumerate() {
            let k = row as usize;
            for j in 0..design.num_columns() {
                let raw = design.x[[i, j]] * design.raw_scale[j] + design.raw_center[j];
                assert!((new.x[[k, j]] - raw).abs() < 1e-12, "{row} {j}");
            }
            let term = &design.group_terms[0];
            for j in 0..2 {
                let raw = term.z[[i, j]] * term.scale[j];
                assert!((new.terms[0].1[[k, j]] - raw).abs() < 1e-12);
            }
            assert_eq!(new.groups[0].index[k], design.groups[0].index[i]);
            let offset = |values: &Option<Vec<f64>>, i: usize| values.as_ref().unwrap()[i];
            assert_eq!(offset(&new.offset, k), offset(&design.offset, i));
            assert_eq!(offset(&new.observed, k), design.y[i]);
        }
    }

    #[test]
    fn new_rows_are_coded_alone_as_beside_the_others() {
        let (_, _, design, coding) = fitted();
        let one = table(&[("", 2.0, "a", "new"), ("no", f64::NAN, "a", "u")]);
        let new = coding.code(&one, None, true).unwrap();
        assert_eq!((new.row.as_slice(), new.rows_total), ([0].as_slice(), 2));
        assert_eq!(new.dropped, [("x".to_owned(), 1)]);
        let i = design.row.iter().position(|row| *row == 1).unwrap();
        for j in 0..design.num_columns() {
            let raw = design.x[[i, j]] * design.raw_scale[j] + design.raw_center[j];
            assert!((new.x[[0, j]] - raw).abs() < 1e-12, "{j}");
        }
        assert_eq!(new.groups[0].unknown, ["new"]);
        assert_eq!(new.groups[0].index, [3]);
        assert!(new.observed.unwrap()[0].is_nan());
        // Without groups neither their column nor those that vary by them are looked at.
        assert!(coding.code(&one, None, false).unwrap().terms.is_empty());
    }

    #[test]
    fn rows_are_compared_whose_outcome_and_levels_the_fit_has() {
        let (_, mut frame, _, coding) = fitted();
        let new = table(&[
            ("yes", 1.0, "a", "u"),
            ("", 2.0, "a", "u"),
            ("no", f64::NAN, "a", "u"),
            ("no", 4.0, "d", "new"),
            ("maybe", 5.0, "b", "u"),
            ("no", 6.0, "c", "new"),
            ("yes", 7.0, "d", "u"),
        ]);
        let compared = coding.compared_rows(&new, None).unwrap();
        assert_eq!(compared.rows, [0, 5]);
        let counts = |pairs: &[(&str, usize)]| -> Vec<(String, usize)> {
            pairs
                .iter()
                .map(|(name, count)| ((*name).to_owned(), *count))
                .collect()
        };
        assert_eq!(compared.missing, counts(&[("x", 1), ("y", 1)]));
        let unknown = |name: &str, rows, level: &str| (name.to_owned(), rows, level.to_owned());
        assert_eq!(
            compared.unknown,
            [unknown("f", 2, "d"), unknown("y", 1, "maybe")]
        );
        assert_eq!(compared.weights, None);
        assert!(coding.code(&new, Some(compared.rows), true).is_ok());
        // Among some of the rows.
        let compared = coding.compared_rows(&new, Some(&[1, 3, 5])).unwrap();
        assert_eq!(
            (compared.rows, compared.missing),
            (vec![5], counts(&[("y", 1)]))
        );
        // Weights count with the outcome.
        frame.formula = "y | weights(x) ~ f".parse().unwrap();
        let (table, _, _, _) = fitted();
        let (design, _) = Design::build(&table, &frame).unwrap();
        let coding = Coding::of(&table, &frame, &design).unwrap();
        let compared = coding.compared_rows(&new, None).unwrap();
        assert_eq!(
            (compared.rows, compared.weights),
            (vec![0, 5], Some(vec![1.0, 6.0]))
        );
    }

    #[test]
    fn rows_with_another_level_of_an_ordered_outcome_are_not_compared() {
        let rows = |levels: &[&'static str]| {
            let row = |(i, level): (usize, &&'static str)| (*level, i as f64, "a", "u");
            table(&levels.iter().enumerate().map(row).collect::<Vec<_>>())
        };
        let old = rows(&["low", "high", "medium", "low", "high"]);
        let mut frame = ModelFrame::new("ordered(y) ~ x".parse().unwrap());
        frame.response_use = ResponseUse::Ordered;
        let (design, _) = Design::build(&old, &frame).unwrap();
        let coding = Coding::of(&old, &frame, &design).unwrap();
        let new = rows(&["high", "higher", "low"]);
        let compared = coding.compared_rows(&new, None).unwrap();
        assert_eq!(compared.rows, [0, 2]);
        let unknown = [("y".to_owned(), 1, "higher".to_owned())];
        assert_eq!(compared.unknown, unknown);
    }

    #[test]
    fn rare_and_unknown_levels_are_one_where_they_were_merged() {
        let (table, mut frame, _, _) = fitted();
        frame.top_levels.insert("f".to_owned(), 1);
        frame.references.insert("f".to_owned(), "c".to_owned());
        frame.formula = "y ~ f".parse().unwrap();
        let (design, report) = Design::build(&table, &frame).unwrap();
        // `a` and `b` have two rows each; `c` is one of the others and stays the reference.
        assert_eq!(design.terms, ["Intercept", "f=a"]);
        assert_eq!(
            design.reference_levels,
            [("f".to_owned(), OTHER.to_owned())]
        );
        assert!(report.warnings.iter().any(|it| it.code == "merged-levels"));
        // Of numbers there are no levels to keep.
        frame.formula = "y ~ x + f".parse().unwrap();
        frame.references.insert("x".to_owned(), "3".to_owned());
        let (_, report) = Design::build(&table, &frame).unwrap();
        let unused = report
            .warnings
            .iter()
            .find(|it| it.code == "unused-setting");
        assert_eq!(
            unused.unwrap().message,
            "`model.reference.x` does nothing, because `x` is taken as a number"
        );
        frame.references.remove("x");
        frame.formula = "y ~ f".parse().unwrap();
        let coding = Coding::of(&table, &frame, &design).unwrap();
        let new = self::table(&[
            ("", 1.0, "new", "u"),
            ("", 1.0, "a", "u"),
            ("", 1.0, "b", "u"),
        ]);
        let new = coding.code(&new, None, true).unwrap();
        assert_eq!(new.x.column(1).to_vec(), [0.0, 1.0, 0.0]);
    }

    #[test]
    fn what_the_fit_does_not_know_is_refused_by_name() {
        let (_, _, _, coding) = fitted();
        let refused = |table: &dyn Columns| coding.code(table, None, true).unwrap_err().to_string();
        let text = refused(&table(&[("yes", 1.0, "a", "u"), ("no", 2.0, "d", "u")]));
        assert!(text.contains("`f` is `d` in row 2"), "{text}");
        let text = refused(&table(&[("yes", -1.0, "a", "u"), ("no", 2.0, "a", "u")]));
        assert!(
            text.contains("log(x) has no value where `x` is -1"),
            "{text}"
        );
        let texts = |cells: [&str; 2]| Values::Texts(cells.map(|c| Some(c.to_owned())).to_vec());
        let columns = vec![
            ("x".to_owned(), texts(["1", "two"])),
            ("f".to_owned(), texts(["a", "a"])),
        ];
        let other = MemoryColumns::new("other", columns).unwrap();
        let refused = |groups| coding.code(&other, None, groups).unwrap_err().to_string();
        assert!(refused(true).contains("names the column `g`"));
        assert!(refused(false).contains("`x` of other holds text"));
    }

    #[test]
    fn groups_and_terms_that_would_read_alike_are_told_apart() {
        let numbers = |values: [i32; 8]| Values::Numbers(values.map(f64::from).to_vec());
        let texts = |cells: [&str; 8]| Values::Texts(cells.map(|c| Some(c.to_owned())).to_vec());
        let table = |a: [&str; 8]| {
            let columns = [
                ("y", numbers([0, 1, 0, 1, 1, 0, 1, 0])),
                ("Intercept", numbers([3, 1, 4, 1, 5, 9, 2, 6])),
                ("a", texts(a)),
                ("b", texts(["p", "z", "y:z", "y:z", "z", "p", "z", "p"])),
                ("f", texts(["r", "u", "u:b=z", "r", "u", "u:b=z", "r", "u"])),
            ];
            let columns = columns.map(|(name, values)| (name.to_owned(), values));
            MemoryColumns::new("t", columns.into()).unwrap()
        };
        let frame = ModelFrame::new("y ~ Intercept + f*b + (1 | a:b)".parse().unwrap());
        let fitted = table(["q", "x:y", "x", "x", "x:y", "q", "q", "q"]);
        let (design, _) = Design::build(&fitted, &frame).unwrap();
        let is = |name: &str| design.terms.iter().filter(|term| **term == *name).count();
        assert_eq!([is("Intercept"), is("`Intercept`"), is("f=u")], [1, 1, 1]);
        // A level of `f`, and a level of `f` with one of `b`.
        assert_eq!([is("`f`=`u:b=z`"), is("`f`=`u`:`b`=`z`")], [1, 1]);
        let mut levels = design.groups[0].levels.clone();
        levels.sort();
        assert_eq!(levels, ["`x:y`:`z`", "`x`:`y:z`", "q:p", "q:z"]);
        // New rows are in the groups of their values.
        let coding = Coding::of(&fitted, &frame, &design).unwrap();
        let new = coding.code(&fitted, None, true).unwrap();
        for (i, &row) in design.row.iter().enumerate() {
            assert_eq!(new.groups[0].index[row as usize], design.groups[0].index[i]);
        }
        // Values that only read like those of a group of the fit are a group that the fit does not have.
        let one = table(["q", "x:y", "q", "q", "x:y", "q", "q", "q"]);
        let (design, _) = Design::build(&one, &frame).unwrap();
        assert!(design.groups[0].levels.contains(&"x:y:z".to_owned()));
        let coding = Coding::of(&one, &frame, &design).unwrap();
        let new = coding.code(&fitted, None, true).unwrap();
        assert_eq!(new.groups[0].unknown, ["x:y:z"]);
    }

    /// Trials are the sum of both columns in new rows too, where both are counts.
    #[test]
    fn successes_and_failures_of_new_rows_are_counts() {
        let of = |r: [f64; 3], s: [f64; 3]| {
            let columns = [("r", r), ("s", s), ("x", [1.0, 2.0, 4.0])];
            let columns =
                columns.map(|(name, values)| (name.to_owned(), Values::Numbers(values.into())));
            MemoryColumns::new("t", columns.into()).unwrap()
        };
        let table = of([1.0, 2.0, 0.0], [3.0, 0.0, 5.0]);
        let frame = ModelFrame::new("cbind(r, s) ~ x".parse().unwrap());
        let (design, _) = Design::build(&table, &frame).unwrap();
        let coding = Coding::of(&table, &frame, &design).unwrap();
        let new = coding.code(&table, None, true).unwrap();
        assert_eq!(new.trials.unwrap(), [4.0, 2.0, 5.0]);
        for (r, s, said) in [
            ([1.0, -1.0, 0.0], [3.0, 3.0, 5.0], "`r` is -1 in row 2"),
            ([1.0, 1.0, 0.0], [0.5, 3.0, 5.0], "`s` is 0.5 in row 1"),
            ([1.0, 1.0, 0.0], [3.0, 3.0, 0.0], "both 0 in row 3"),
        ] {
            let error = coding.code(&of(r, s), None, true).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
