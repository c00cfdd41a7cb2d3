//! The design: a plain row-major matrix with response, trials, weights and offset, ready for a model.
//!
//! Columns are centred and scaled for sampling ([`Scaling`] takes coefficients back to the columns as they
//! are), rows are shuffled once, because files are often sorted by label, and [`Design::row`] keeps where each
//! came from. Rows with a missing value in a used column are left out and counted per column.

use ndarray::{Array2, s};
use rand::seq::SliceRandom as _;

use crate::design::Columns;
use ergodic_base::reporter::{Reporter, Severity, Warning};
use ergodic_base::rng::{Purpose, stream};

use super::columns::every;
use super::lump_levels::MergedLevels;
use super::model_frame::{FrameReader, complete_rows, report_dropped};
use super::response::{ResponseInfo, ResponseKind, ResponseUse};
use super::terms::RawColumn;
use super::transform::Transform;
use crate::design::error::DesignError;
use crate::formula::{Formula, Term, term_label};

pub use super::model_frame::ModelFrame;
pub use super::scaling::Scaling;
pub use super::terms::Predictor;

/// Rows by group, for group terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupFactor {
    /// Grouping columns joined by `:`.
    pub name: String,
    /// Names of the groups.
    pub levels: Vec<String>,
    /// Position in `levels` per design row, n long.
    pub index: Vec<u32>,
}

/// The columns that vary by group in one group term.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupDesign {
    /// Position in [`Design::groups`] of the grouping.
    pub factor: usize,
    /// q names: `Intercept`, `age`.
    pub names: Vec<String>,
    /// n × q, row-major: raw values divided by `scale`, NOT centred, because centring would change a model whose effects
    /// are independent.
    pub z: Array2<f64>,
    /// q scales: 1 for the intercept, the standard deviation of a column, or 1 for a constant one.
    pub scale: Vec<f64>,
    /// Whether the effects of a group are correlated (`|`) or independent (`||`).
    pub correlated: bool,
}

impl GroupDesign {
    /// The design of a group term from its raw columns, rows in `order`.
    pub(super) fn new(
        factor: usize,
        intercept: bool,
        correlated: bool,
        raw: &[RawColumn],
        order: &[u32],
    ) -> Self {
        let first = usize::from(intercept);
        let mut names = vec!["Intercept".to_owned(); first];
        let mut scale = vec![1.0; first];
        let mut z = Array2::ones((order.len(), first + raw.len()));
        for (j, column) in raw.iter().enumerate() {
            let width = width_of(mean_and_sd(&column.values));
            for (i, &from) in order.iter().enumerate() {
                z[[i, first + j]] = column.values[from as usize] / width;
            }
            scale.push(width);
            names.push(column.name.clone());
        }
        Self {
            factor,
            names,
            z,
            scale,
            correlated,
        }
    }
}

/// Data as models read them: n rows used, P columns.
#[derive(Clone, Debug)]
pub struct Design {
    /// n × P, row-major. Sampling-space columns: the intercept is 1, every other column is centred (if there
    /// is an intercept) and scaled to population standard deviation 1.
    pub x: Array2<f64>,
    /// P centres; `x = (raw - center) / scale`. 0 for the intercept.
    pub raw_center: Vec<f64>,
    /// P scales, 1 for the intercept and for constant columns.
    pub raw_scale: Vec<f64>,
    /// P names, reported as `b[term]`: `Intercept`, `age`, `region=north`, `age:income`.
    pub terms: Vec<String>,
    /// Whether the first column is the intercept.
    pub has_intercept: bool,
    /// n responses: 0 or 1, a count of successes, the position of a category, a number or a count as it is; empty where
    /// the formula has no response.
    pub y: Vec<f64>,
    /// n numbers of trials, if `y` is a count.
    pub trials: Option<Vec<f64>>,
    /// n weights of rows.
    pub weights: Option<Vec<f64>>,
    /// n offsets on the link scale, the sum of all offset terms.
    pub offset: Option<Vec<f64>>,
    /// Data row of each design row, 0-based.
    pub row: Vec<u32>,
    /// Name, success level and counts.
    pub response: ResponseInfo,
    /// Reference level of each categorical predictor that has one.
    pub reference_levels: Vec<(String, String)>,
    /// Columns whose rare levels were merged into one.
    pub merged: Vec<MergedLevels>,
    /// Rows of the table.
    pub rows_total: usize,
    /// n.
    pub rows_used: usize,
    /// Missing values per used column that has any, in order of use; a row may count several times.
    pub dropped: Vec<(String, usize)>,
    /// Groupings of the formula's group terms, each once.
    pub groups: Vec<GroupFactor>,
    /// The formula's group terms.
    pub group_terms: Vec<GroupDesign>,
    /// The formula's columns as they are, where it has no response; `x` then holds the intercept only.
    pub columns: Vec<(String, Predictor)>,
    /// Terms of the formula that were left out, because they are the same in all rows.
    pub left_out: Vec<Term>,
    /// Functions of columns in the formula, each once, with what they computed from the rows used.
    pub transforms: Vec<Transform>,
    /// Whether priors hold for standardised predictors.
    pub standardize: bool,
    /// Mean and standard deviation to measure the response in, or each numeric column where there is no response, if they are
    /// not its own ([`Self::with_simulated`]).
    pub fixed_units: Option<Vec<[f64; 2]>>,
}

impl Design {
    /// Makes the design of `frame` from `table`. The report names left-out rows and reference levels.
    /// Errors: unknown columns, columns that cannot play their part, a response that is not binary or a valid
    /// count, no complete row.
    pub fn build(table: &dyn Columns, frame: &ModelFrame) -> Result<(Self, Reporter), DesignError> {
        let formula = &frame.formula;
        let mut reporter = Reporter::default();
        let source = FrameReader { table, frame };
        let used_columns: Vec<usize> = formula
            .columns()
            .iter()
            .map(|name| table.index_of(name, "The formula"))
            .collect::<Result<_, _>>()?;
        source.check_kinds()?;
        let (rows, dropped) = complete_rows(table, &used_columns)?;
        report_dropped(table.num_rows(), rows.len(), &dropped, &mut reporter);

        let mut transforms = Vec::new();
        let mut merged = Vec::new();
        let predictors = source.predictors(&rows, &mut transforms, &mut merged)?;
        if frame.response_use != ResponseUse::Absent {
            let constant = source.constant_terms(&predictors);
            if !constant.is_empty() {
                return Self::without(table, frame, constant, rows.len());
            }
        }
        source.report_levels(&predictors, &merged, rows.len(), &mut reporter);
        let (raw, plain) = if frame.response_use == ResponseUse::Absent {
            (Vec::new(), source.plain_columns(&predictors)?)
        } else {
            (source.raw_columns(&predictors)?, Vec::new())
        };
        let (y, trials, response) = source.response(&rows)?;
        let weights = formula
            .response
            .as_ref()
            .and_then(|response| response.weights.as_deref())
            .map(|name| source.weights(name, &rows))
            .transpose()?;
        let offset = source.offset(&rows, &mut transforms)?;
        let groups = source.groups(&rows)?;

        // Everything above is in the order of the file; `order` says which file position each design row has.
        let mut order: Vec<u32> = (0..rows.len() as u32).collect();
        order.shuffle(&mut stream(frame.shuffle_seed, 0, Purpose::Data));
        let pick = |values: Vec<f64>| -> Vec<f64> {
            let any = !values.is_empty();
            let order = order.iter().filter(|_| any);
            order.map(|&i| values[i as usize]).collect()
        };

        let group_terms = source.group_terms(&groups, &predictors, &order)?;
        let scaled = scale_columns(&raw, formula.intercept, &order)?;
        Ok((
            Self {
                x: scaled.x,
                raw_center: scaled.center,
                raw_scale: scaled.scale,
                terms: scaled.terms,
                has_intercept: formula.intercept,
                y: pick(y),
                trials: trials.map(pick),
                weights: weights.map(pick),
                offset: offset.map(pick),
                row: order.iter().map(|&i| rows[i as usize]).collect(),
                response,
                reference_levels: source.reference_levels(&predictors),
                merged,
                rows_total: table.num_rows(),
                rows_used: rows.len(),
                dropped,
                groups: groups
                    .into_iter()
                    .map(|group| GroupFactor {
                        index: order.iter().map(|&i| group.index[i as usize]).collect(),
                        ..group
                    })
                    .collect(),
                group_terms,
                columns: plain
                    .into_iter()
                    .map(|(name, column)| (name, column.in_order(&order)))
                    .collect(),
                left_out: Vec::new(),
                transforms,
                standardize: frame.standardize,
                fixed_units: None,
            },
            reporter,
        ))
    }

    /// The design without terms that are the same in all of `num_rows` rows used.
    fn without(
        table: &dyn Columns,
        frame: &ModelFrame,
        constant: Vec<(Term, f64)>,
        num_rows: usize,
    ) -> Result<(Self, Reporter), DesignError> {
        let (left_out, values): (Vec<Term>, Vec<f64>) = constant.into_iter().unzip();
        let smaller = ModelFrame {
            formula: frame.formula.without(&left_out),
            ..frame.clone()
        };
        let (mut design, mut reporter) = Self::build(table, &smaller)?;
        for (term, value) in left_out.iter().zip(values) {
            let name = term_label(term);
            let message = format!(
                "`{name}` is {value} in {}, so it carries no information and is left out of the model",
                every(num_rows, "row")
            );
            reporter.report(
                Warning::new(Severity::Info, "constant-column", message)
                    .about(name)
                    .with_remedy("Leave it out of the formula too"),
            );
        }
        design.left_out.extend(left_out);
        Ok((design, reporter))
    }

    /// The formula that this is the design of, of the one it was made by: without what was left out.
    pub fn formula_of(&self, formula: &Formula) -> Formula {
        formula.without(&self.left_out)
    }

    /// n, the number of rows used.
    pub fn num_obs(&self) -> usize {
        self.x.nrows()
    }

    /// P, the number of columns.
    pub fn num_columns(&self) -> usize {
        self.x.ncols()
    }

    /// Mean and standard deviation (divisor n) of the response less its offset: the units of numbers. Of counts the logarithm of
    /// the mean per exposure, and 1.
    pub fn response_units(&self) -> [f64; 2] {
        let own = || {
            if matches!(self.response.kind, ResponseKind::Count { .. }) {
                return [self.log_rate(), 1.0];
            }
            let less = |(i, y): (usize, &f64)| y - self.offset.as_ref().map_or(0.0, |o| o[i]);
            let values: Vec<f64> = self.y.iter().enumerate().map(less).collect();
            let (mean, sd) = mean_and_sd(&values);
            [mean, sd]
        };
        let fixed = self.fixed_units.as_ref().and_then(|units| units.first());
        fixed.copied().unwrap_or_else(own)
    }

    /// The logarithm of the sum of counts over that of exp(offset), rows times their weights. Half a count more makes it finite
    /// where all counts are 0, and is of no consequence elsewhere.
    fn log_rate(&self) -> f64 {
        let offsets = self.offset.as_deref().unwrap_or_default();
        let largest = offsets.iter().copied().reduce(f64::max).unwrap_or(0.0);
        let (mut counts, mut exposure) = (0.5, 0.0);
        for (i, y) in self.y.iter().enumerate() {
            let weight = self.weights.as_ref().map_or(1.0, |weights| weights[i]);
            let offset = offsets.get(i).copied().unwrap_or(0.0);
            counts += weight * y;
            exposure += weight * (offset - largest).exp();
        }
        let rate = f64::ln(counts / exposure) - largest;
        if rate.is_finite() { rate } else { 0.0 }
    }

    /// The units of the response, or of the numeric columns where there is none.
    fn units(&self) -> Vec<[f64; 2]> {
        if self.response.kind != ResponseKind::Absent {
            return vec![self.response_units()];
        }
        let numeric = self.columns.iter().filter_map(|(_, column)| match column {
            Predictor::Numeric(values) => Some(mean_and_sd(values).into()),
            _ => None,
        });
        self.fixed_units
            .clone()
            .unwrap_or_else(|| numeric.collect())
    }

    /// This design with simulated responses, or without a response with simulated rows, row-major: numeric columns, then
    /// positions of the levels of categorical ones. Units stay those of this design, so that priors that are set in them do too.
    #[must_use]
    pub fn with_simulated(&self, values: Vec<f64>) -> Self {
        let mut design = self.clone();
        design.fixed_units = Some(self.units());
        if self.response.kind != ResponseKind::Absent {
            design.y = values;
            return design;
        }
        let (mut numeric, mut codes) = (Vec::new(), Vec::new());
        for (_, column) in &mut design.columns {
            match column {
                Predictor::Numeric(column) => numeric.push(column),
                Predictor::Categorical { codes: column, .. } => codes.push(column),
                Predictor::Function(_) => {}
            }
        }
        let width = (numeric.len() + codes.len()).max(1);
        for (i, row) in values.chunks_exact(width).enumerate() {
            let (numbers, levels) = row.split_at(numeric.len());
            for (column, value) in numeric.iter_mut().zip(numbers) {
                column[i] = *value;
            }
            for (column, level) in codes.iter_mut().zip(levels) {
                column[i] = *level as u32;
            }
        }
        design
    }

    /// The first `len` rows, standardised as they are here and in the same units, with all groups.
    #[must_use]
    pub fn head(&self, len: usize) -> Self {
        let len = len.min(self.num_obs());
        let first: Vec<u32> = (0..len as u32).collect();
        let of = |values: &[f64]| values[..len.min(values.len())].to_vec();
        let rows = |matrix: &Array2<f64>| matrix.slice(s![..len, ..]).to_owned();
        Self {
            x: rows(&self.x),
            y: of(&self.y),
            trials: self.trials.as_deref().map(of),
            weights: self.weights.as_deref().map(of),
            offset: self.offset.as_deref().map(of),
            row: self.row[..len].to_vec(),
            groups: (self.groups.iter())
                .map(|group| GroupFactor {
                    name: group.name.clone(),
                    levels: group.levels.clone(),
                    index: group.index[..len].to_vec(),
                })
                .collect(),
            group_terms: (self.group_terms.iter())
                .map(|term| GroupDesign {
                    z: rows(&term.z),
                    names: term.names.clone(),
                    scale: term.scale.clone(),
                    ..*term
                })
                .collect(),
            columns: (self.columns.iter())
                .map(|(name, column)| (name.clone(), column.clone().in_order(&first)))
                .collect(),
            fixed_units: Some(self.units()),
            raw_center: self.raw_center.clone(),
            raw_scale: self.raw_scale.clone(),
            terms: self.terms.clone(),
            response: self.response.clone(),
            reference_levels: self.reference_levels.clone(),
            merged: self.merged.clone(),
            dropped: self.dropped.clone(),
            left_out: self.left_out.clone(),
            transforms: self.transforms.clone(),
            ..*self
        }
    }

    /// The map between sampling-space and raw coefficients.
    pub fn scaling(&self) -> Scaling {
        Scaling {
            center: self.raw_center.clone(),
            scale: self.raw_scale.clone(),
            has_intercept: self.has_intercept,
        }
    }
}

struct ScaledColumns {
    x: Array2<f64>,
    center: Vec<f64>,
    scale: Vec<f64>,
    terms: Vec<String>,
}

fn scale_columns(
    raw: &[RawColumn],
    intercept: bool,
    order: &[u32],
) -> Result<ScaledColumns, DesignError> {
    let (n, first) = (order.len(), usize::from(intercept));
    let p = raw.len() + first;
    let mut x = Array2::<f64>::ones((n, p));
    let (mut center, mut scale) = (vec![0.0; first], vec![1.0; first]);
    let mut terms: Vec<String> = if intercept {
        vec!["Intercept".to_owned()]
    } else {
        Vec::new()
    };
    for (j, column) in raw.iter().enumerate() {
        let (mean, sd) = mean_and_sd(&column.values);
        let ends = extremes(&column.values);
        DesignError::check_width(sd, "predictor", &column.name, ends)?;
        let shift = if intercept { mean } else { 0.0 };
        let width = width_of((mean, sd));
        for (i, &from) in order.iter().enumerate() {
            x[[i, first + j]] = (column.values[from as usize] - shift) / width;
        }
        center.push(shift);
        scale.push(width);
        terms.push(column.name.clone());
    }
    Ok(ScaledColumns {
        x,
        center,
        scale,
        terms,
    })
}

/// The smallest and the largest value.
fn extremes(values: &[f64]) -> [f64; 2] {
    [
        values.iter().copied().fold(f64::INFINITY, f64::min),
        values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    ]
}

/// What a column is divided by. A constant column cannot be scaled; it stays and the checks name it.
fn width_of((mean, sd): (f64, f64)) -> f64 {
    if sd > 1e-14 * mean.abs() { sd } else { 1.0 }
}

/// Mean and population standard deviation, by two passes.
fn mean_and_sd(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values
        .iter()
        .map(|value| (value - mean).powi(2))
        .sum::<f64>()
        / n;
    (mean, variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::columns::{MemoryColumns, Values};

    fn texts(cells: &[&str]) -> Values {
        Values::Texts(
            cells
                .iter()
                .map(|cell| (!cell.is_empty()).then(|| (*cell).to_owned()))
                .collect(),
        )
    }

    fn table() -> MemoryColumns {
        let columns = vec![
            ("y", texts(&["yes", "no", "no", "yes", "no", "yes"])),
            (
                "x",
                Values::Numbers(vec![1.0, 2.0, 3.0, 4.0, 5.0, f64::NAN]),
            ),
            ("f", texts(&["b", "a", "c", "a", "b", "c"])),
            ("n", Values::Numbers(vec![3.0, 1.0, 2.0, 5.0, 4.0, 1.0])),
            ("k", Values::Numbers(vec![0.0, 1.0, 2.0, 2.0, 4.0, 1.0])),
            ("empty", Values::Numbers(vec![f64::NAN; 6])),
            ("day", texts(&["d", "", "d", "d", "d", "d"])),
        ];
        MemoryColumns::new(
            "t",
            columns
                .into_iter()
                .map(|(name, values)| (name.to_owned(), values))
                .collect(),
        )
        .unwrap()
    }

    fn build(formula: &str) -> Result<(Design, Reporter), DesignError> {
        Design::build(&table(), &ModelFrame::new(formula.parse().unwrap()))
    }

    /// Raw value of column `j` for data row `row`.
    fn raw(design: &Design, row: u32, j: usize) -> f64 {
        let i = design.row.iter().position(|r| *r == row).unwrap();
        design.x[[i, j]] * design.raw_scale[j] + design.raw_center[j]
    }

    #[test]
    fn rows_are_dropped_shuffled_and_traceable() {
        let (design, reporter) = build("y ~ x + f").unwrap();
        assert_eq!(design.terms, ["Intercept", "x", "f=b", "f=c"]);
        assert_eq!((design.rows_total, design.rows_used), (6, 5));
        assert_eq!(design.dropped, [("x".to_owned(), 1)]);
        assert_eq!(
            reporter.warnings[0].message,
            "Using 5 of 6 rows; 1 has no `x`"
        );
        let mut rows = design.row.clone();
        assert_ne!(rows, [0, 1, 2, 3, 4], "the shuffle moves rows");
        rows.sort_unstable();
        assert_eq!(rows, [0, 1, 2, 3, 4]);
        for (row, (x, f)) in [(1.0, "b"), (2.0, "a"), (3.0, "c"), (4.0, "a"), (5.0, "b")]
            .into_iter()
            .enumerate()
        {
            assert!((raw(&design, row as u32, 1) - x).abs() < 1e-12);
            assert!((raw(&design, row as u32, 2) - f64::from(u8::from(f == "b"))).abs() < 1e-12);
        }
        let successes: Vec<u32> = design
            .row
            .iter()
            .zip(&design.y)
            .filter(|(_, y)| **y == 1.0)
            .map(|(r, _)| *r)
            .collect();
        assert!(successes.iter().all(|row| [0, 3].contains(row)) && successes.len() == 2);
        assert_eq!(design.response.sentence(), "success = yes, 2 of 5");
        assert_eq!(design.reference_levels, [("f".to_owned(), "a".to_owned())]);
        assert!(design.x.is_standard_layout());
    }

    #[test]
    fn columns_have_mean_zero_and_unit_population_sd() {
        let (design, _) = build("y ~ x*f").unwrap();
        assert_eq!(
            design.terms,
            ["Intercept", "x", "f=b", "f=c", "x:f=b", "x:f=c"]
        );
        let n = design.num_obs() as f64;
        for j in 1..design.num_columns() {
            let column = design.x.column(j);
            assert!(column.sum().abs() < 1e-12 && (column.dot(&column) / n - 1.0).abs() < 1e-12);
        }
        assert!(design.x.column(0).iter().all(|value| *value == 1.0));
    }

    #[test]
    fn without_an_intercept_columns_keep_their_centre_and_the_first_factor_all_levels() {
        let (design, _) = build("y ~ 0 + f + x").unwrap();
        assert_eq!(design.terms, ["f=a", "f=b", "f=c", "x"]);
        assert_eq!(design.raw_center, [0.0; 4]);
        assert!((raw(&design, 4, 3) - 5.0).abs() < 1e-12);
        assert!((design.raw_scale[3] - 2.0_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn reference_success_and_categorical_numbers_can_be_chosen() {
        let mut frame = ModelFrame::new("y ~ f + k".parse().unwrap());
        frame.references.insert("f".into(), "c".into());
        frame.success = Some("no".into());
        frame.categorical.insert("k".into());
        let (design, _) = Design::build(&table(), &frame).unwrap();
        assert_eq!(
            design.terms,
            ["Intercept", "f=a", "f=b", "k=1", "k=2", "k=4"]
        );
        assert_eq!(design.response.sentence(), "success = no, 3 of 6");
        frame.references.insert("f".into(), "z".into());
        let error = Design::build(&table(), &frame).unwrap_err().to_string();
        assert_eq!(
            error,
            "The reference level `z` is not a value of `f`, which has `a`, `b`, `c`; choose one of these"
        );
    }

    #[test]
    fn counts_offsets_weights_and_groups_are_read() {
        let (design, _) =
            build("k | trials(7) + weights(n) ~ x + offset(log(n)) + (1 | f) + (1 | f:y)").unwrap();
        assert_eq!(design.trials, Some(vec![7.0; 5]));
        for (i, &row) in design.row.iter().enumerate() {
            let n = [3.0, 1.0, 2.0, 5.0, 4.0][row as usize];
            assert_eq!(design.weights.as_ref().unwrap()[i], n);
            assert_eq!(design.offset.as_ref().unwrap()[i], f64::ln(n));
            let group = &design.groups[1];
            assert_eq!(
                group.levels[group.index[i] as usize],
                ["b:yes", "a:no", "c:no", "a:yes", "b:no"][row as usize]
            );
        }
        assert_eq!(design.groups[0].levels, ["a", "b", "c"]);
        assert_eq!(design.response.sentence(), "9 successes in 35 trials");
        let error = build("n | trials(k) ~ f").unwrap_err().to_string();
        assert_eq!(
            error,
            "The number of trials `k` must be whole and at least 1, but it is 0 in row 1; correct that row or choose another column"
        );
    }

    #[test]
    fn numbers_counts_and_formulas_without_a_response_are_read() {
        let read = |formula: &str, response_use| {
            let frame = ModelFrame {
                response_use,
                ..ModelFrame::new(formula.parse().unwrap())
            };
            Design::build(&table(), &frame).map(|(design, _)| design)
        };
        let design = read("x ~ f", ResponseUse::Number).unwrap();
        for (&y, &row) in design.y.iter().zip(&design.row) {
            assert_eq!(y, [1.0, 2.0, 3.0, 4.0, 5.0][row as usize]);
        }
        assert_eq!(design.response.sentence(), "mean 3, sd 1.581, from 1 to 5");
        let design = read("k ~ f", ResponseUse::Count).unwrap();
        assert_eq!(design.response.sentence(), "counts from 0 to 4, 10 in all");
        let design = read("~ x + f", ResponseUse::Absent).unwrap();
        assert_eq!((design.y.len(), design.num_obs()), (0, 5));
        assert_eq!(design.num_columns(), 1);
        let [
            (x, Predictor::Numeric(values)),
            (f, Predictor::Categorical { codes, .. }),
        ] = &design.columns[..]
        else {
            panic!("a number and a category");
        };
        assert_eq!((x.as_str(), f.as_str()), ("x", "f"));
        for (i, &row) in design.row.iter().enumerate() {
            assert_eq!(values[i], f64::from(row) + 1.0);
            assert_eq!(codes[i], [1, 0, 2, 0, 1][row as usize]);
        }
        // Rows of long data are items, whatever their type.
        let design = read("~ x + (1 | f)", ResponseUse::Absent).unwrap();
        assert!(
            matches!(&design.columns[..], [(_, Predictor::Categorical { levels, .. })] if levels.len() == 5)
        );
        for (formula, response_use, sentence) in [
            ("f ~ x", ResponseUse::Number, "The outcome `f` holds text"),
            (
                "x | trials(3) ~ f",
                ResponseUse::Count,
                "The outcome `x` is not a number of successes",
            ),
            (
                "x ~ f",
                ResponseUse::Absent,
                "The formula has the outcome `x` but this model explains none",
            ),
            ("~ x", ResponseUse::Number, "The formula has no outcome"),
            (
                "~ x + x:f",
                ResponseUse::Absent,
                "The term x:f is an interaction",
            ),
        ] {
            let error = read(formula, response_use).unwrap_err().to_string();
            assert!(error.starts_with(sentence), "{formula}: {error}");
        }
        let table =
            MemoryColumns::new("t", vec![("c".into(), Values::Numbers(vec![1.0, -2.0]))]).unwrap();
        let frame = ModelFrame {
            response_use: ResponseUse::Count,
            ..ModelFrame::new("c ~ 1".parse().unwrap())
        };
        assert_eq!(
            Design::build(&table, &frame).unwrap_err().to_string(),
            "The outcome `c` must be a whole number from 0, but it is -2 in row 2; choose template `linear` if it is no count, \
             or correct that row"
        );
    }

    #[test]
    fn group_terms_have_columns_that_are_scaled_but_not_centred() {
        let (design, _) = build("y ~ x + (1 + x | f) + (0 + n || day) + (0 + f | day)").unwrap();
        let [slopes, alone, levels] = &design.group_terms[..] else {
            panic!("three group terms");
        };
        assert_eq!(slopes.names, ["Intercept", "x"]);
        assert!(slopes.correlated && !alone.correlated);
        assert_eq!((slopes.factor, alone.factor, levels.factor), (0, 1, 1));
        assert_eq!(levels.names, ["f=a", "f=b", "f=c"]);
        for (i, &row) in design.row.iter().enumerate() {
            assert_eq!(slopes.z[[i, 0]], 1.0);
            let x = [1.0, 2.0, 3.0, 4.0, 5.0][row as usize];
            assert!((slopes.z[[i, 1]] * slopes.scale[1] - x).abs() < 1e-12);
            let n = [3.0, 1.0, 2.0, 5.0, 4.0][row as usize];
            assert!((alone.z[[i, 0]] * alone.scale[0] - n).abs() < 1e-12);
        }
    }

    #[test]
    fn refusals_name_the_column_and_what_to_do() {
        for (formula, sentence) in [
            (
                "y ~ z",
                "The formula names the column `z`, which the table does not have; it has `y`, `x`",
            ),
            (
                "f ~ x",
                "The outcome `f` has 3 different values (`a`, `b`, `c`) but a yes-no model needs exactly two",
            ),
            (
                "day ~ x",
                "The outcome `day` has the single value `d` in all 4 rows used",
            ),
            (
                "y ~ empty",
                "None of the 6 rows has a value in every used column (6 have no `empty`)",
            ),
            ("y | weights(f) ~ x", "The weight `f` holds text"),
            (
                "k | trials(3) ~ x",
                "The outcome `k` must be a whole number from 0 to 3, the number of trials, but it is 4 in row 5",
            ),
            (
                "y ~ x + offset(log(k))",
                "log(k) needs values above 0, but `k` is 0 in row 1",
            ),
        ] {
            let error = build(formula).unwrap_err().to_string();
            assert!(error.starts_with(sentence), "{formula}: {error}");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_order_and_another_seed_another() {
        let order = |seed| {
            let frame = ModelFrame {
                shuffle_seed: seed,
                ..ModelFrame::new("y ~ f".parse().unwrap())
            };
            Design::build(&table(), &frame).unwrap().0.row
        };
        assert_eq!(order(1), order(1));
        assert!((0..9).any(|seed| order(seed) != order(1)));
    }

    #[test]
    fn constant_predictors_are_left_out_as_r_does() {
        let mut columns = Vec::new();
        for (name, values) in [
            ("y", [0.0, 1.0, 0.0, 1.0]),
            ("x", [1.0, 2.0, 4.0, 3.0]),
            ("d", [7.0; 4]),
            ("zero", [0.0; 4]),
        ] {
            columns.push((name.to_owned(), Values::Numbers(values.to_vec())));
        }
        let group = ["a", "a", "b", "b"].map(|level| Some(level.to_owned()));
        columns.push(("g".to_owned(), Values::Texts(group.to_vec())));
        let table = MemoryColumns::new("t", columns).unwrap();
        let built = |formula: &str| {
            let frame = ModelFrame::new(formula.parse().unwrap());
            let (design, reporter) = Design::build(&table, &frame).unwrap();
            let codes: Vec<String> = reporter.warnings.iter().map(|it| it.code.clone()).collect();
            let formula = design.formula_of(&frame.formula).to_string();
            (design.terms.join(" "), formula, codes.join(" "), reporter)
        };
        let (terms, formula, codes, reporter) = built("y ~ d + x + log(d):zero + (1 + d | g)");
        assert_eq!(terms, "Intercept x");
        assert_eq!(formula, "y ~ x + (1 | g)");
        assert_eq!(codes, "constant-column constant-column");
        assert_eq!(
            reporter.warnings[0].message,
            "`d` is 7 in all 4 rows, so it carries no information and is left out of the model"
        );
        assert_eq!(reporter.warnings[0].subject.as_deref(), Some("d"));
        let (terms, formula, ..) = built("y ~ d");
        assert_eq!((terms.as_str(), formula.as_str()), ("Intercept", "y ~ 1"));
        // It takes the place of an intercept that is not there.
        let (terms, _, codes, _) = built("y ~ 0 + d + x + zero");
        assert_eq!((terms.as_str(), codes.as_str()), ("d x", "constant-column"));
    }
}
