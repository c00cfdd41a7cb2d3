//! Reading the response of a formula out of a table: outcomes, successes among trials, numbers, counts and categories.

use super::model_frame::FrameReader;
use super::ordered_levels;
use super::response::{
    MAX_CATEGORIES, MAX_LEVELS, OutcomeLevels, ResponseInfo, ResponseKind, ResponseUse,
    binary_levels, fits,
};
use crate::design::columns::Columns;
use crate::design::error::{
    BadLevel, BadNumber, DesignError, LevelCount, Misplaced, NumberAt, Place, TooLarge, Unvarying,
};
use crate::formula::{Response, Trials};

/// Values of a response that are counted before it is refused.
pub(super) const MOST_COUNTED: usize = 1000;

impl FrameReader<'_> {
    /// y, trials, and what to say about them.
    #[expect(
        clippy::type_complexity,
        reason = "the three parts of one answer, used once"
    )]
    pub fn response(
        &self,
        rows: &[u32],
    ) -> Result<(Vec<f64>, Option<Vec<f64>>, ResponseInfo), DesignError> {
        let wanted = self.frame.response_use;
        let response = match (&self.frame.formula.response, wanted) {
            (None, ResponseUse::Absent) => {
                let info = ResponseInfo {
                    name: String::new(),
                    kind: ResponseKind::Absent,
                    counts: Vec::new(),
                };
                return Ok((Vec::new(), None, info));
            }
            (Some(response), ResponseUse::Absent) => {
                return Err(Misplaced::Outcome(response.label()).into());
            }
            (None, _) => return Err(Misplaced::NoOutcome.into()),
            (Some(response), _) => response,
        };
        let (name, col) = (&response.column, self.col(&response.column)?);
        if let Some(function) = response.function
            && wanted != ResponseUse::Number
        {
            return Err(Misplaced::Function(function, name.clone(), wanted).into());
        }
        if response.ordered && wanted != ResponseUse::Ordered {
            return Err(DesignError::Ordered { name: name.clone() });
        }
        match wanted {
            ResponseUse::Categories => {
                let (y, info) = self.categories(response, col, rows)?;
                return Ok((y, None, info));
            }
            ResponseUse::Ordered | ResponseUse::Unordered => {
                let (y, info) = self.leveled(response, col, rows)?;
                return Ok((y, None, info));
            }
            ResponseUse::Number | ResponseUse::Count => {
                let (y, info) = self.measured(response, col, rows)?;
                return Ok((y, None, info));
            }
            ResponseUse::Outcome | ResponseUse::Absent => {}
        }
        let Some(trials) = &response.trials else {
            if self.table.few_levels(col, MOST_COUNTED).is_none() {
                return Err(LevelCount::YesNo(name.clone(), None).into());
            }
            let labels = self.table.labels(col);
            let (success, failure) = binary_levels(
                self.table,
                col,
                &labels,
                rows,
                self.frame.success.as_deref(),
                !self.frame.formula.groups.is_empty(),
            )?;
            let y: Vec<f64> = rows
                .iter()
                .map(|&row| f64::from(u8::from(labels.codes[row as usize] as usize == success)))
                .collect();
            let successes = y.iter().filter(|&&value| value == 1.0).count();
            let (success, failure) = (
                labels.levels[success].clone(),
                labels.levels[failure].clone(),
            );
            let counts = vec![
                (failure.clone(), y.len() - successes),
                (success.clone(), successes),
            ];
            let kind = ResponseKind::Binary { success, failure };
            return Ok((
                y,
                None,
                ResponseInfo {
                    name: name.clone(),
                    kind,
                    counts,
                },
            ));
        };
        let y = self.numbers(col, rows, "outcome")?;
        let read = |name: &str, part| Ok(self.numbers(self.col(name)?, rows, part)?);
        let trials = num_trials(self.table, response, trials, rows, read)?;
        check_successes(self.table, name, rows, &y, &trials)?;
        let (successes, total) = (y.iter().sum::<f64>(), trials.iter().sum::<f64>());
        let counts = vec![
            ("failures".to_owned(), (total - successes) as usize),
            ("successes".to_owned(), successes as usize),
        ];
        if successes == 0.0 || successes == total {
            return Err(Unvarying::Successes(name.clone(), successes, total).into());
        }
        Ok((
            y,
            Some(trials),
            ResponseInfo {
                name: name.clone(),
                kind: ResponseKind::Successes,
                counts,
            },
        ))
    }

    /// Numbers or counts, and what to say about them.
    fn measured(
        &self,
        response: &Response,
        col: usize,
        rows: &[u32],
    ) -> Result<(Vec<f64>, ResponseInfo), DesignError> {
        let name = &response.column;
        if response.trials.is_some() {
            return Err(Misplaced::Trials(name.clone(), self.frame.response_use).into());
        }
        let label = response.label();
        let mut y = (self.numbers(col, rows, "outcome"))
            .map_err(|text| self.levels_instead(response, col).unwrap_or(text.into()))?;
        if let Some(function) = response.function {
            for (y, &row) in y.iter_mut().zip(rows) {
                let value = function.at(*y);
                if !value.is_finite() {
                    let number = NumberAt::new(name, *y, Place::of(self.table, row));
                    let of = format!("`{name}`");
                    return Err(BadNumber::Domain(number, function, label, of).into());
                }
                *y = value;
            }
        }
        let wanted = self.frame.response_use;
        check_numbers(self.table, name, rows, &y, wanted)?;
        let least = y.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = y.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if least == largest && (wanted == ResponseUse::Number || largest == 0.0) {
            return Err(Unvarying::Outcome(label, least.to_string(), rows.len()).into());
        }
        let total: f64 = y.iter().sum();
        let kind = if wanted == ResponseUse::Count {
            ResponseKind::Count { total, largest }
        } else {
            let n = y.len() as f64;
            let mean = total / n;
            let squares: f64 = y.iter().map(|value| (value - mean).powi(2)).sum();
            TooLarge::check(squares, "outcome", &label, || [least, largest])?;
            ResponseKind::Number {
                mean,
                sd: (squares / (n - 1.0)).sqrt(),
                range: [least, largest],
                function: (response.function).map(|function| (function, response.column.clone())),
            }
        };
        let info = ResponseInfo {
            name: label,
            kind,
            counts: Vec::new(),
        };
        Ok((y, info))
    }

    /// Why an outcome that holds text is no number, where it has so few values that they look like levels.
    fn levels_instead(&self, response: &Response, col: usize) -> Option<DesignError> {
        let levels = self.table.few_levels(col, MAX_LEVELS)?;
        let looks_leveled = levels.len() > 1 && response.function.is_none();
        looks_leveled.then(|| {
            DesignError::Levels(OutcomeLevels {
                name: response.column.clone(),
                levels,
                wanted: self.frame.response_use,
                has_groups: !self.frame.formula.groups.is_empty(),
            })
        })
    }

    /// Places of levels from 1, with or without an order, and what to say about them.
    fn leveled(
        &self,
        response: &Response,
        col: usize,
        rows: &[u32],
    ) -> Result<(Vec<f64>, ResponseInfo), DesignError> {
        let name = &response.column;
        let wanted = self.frame.response_use;
        if response.trials.is_some() {
            return Err(Misplaced::Trials(name.clone(), wanted).into());
        }
        let count = |found| LevelCount::Outcome(name.clone(), wanted, found);
        if self.table.few_levels(col, MOST_COUNTED).is_none() {
            return Err(count(None).into());
        }
        let labels = self.table.labels(col);
        let mut used = vec![0_usize; labels.levels.len()];
        for &row in rows {
            used[labels.codes[row as usize] as usize] += 1;
        }
        // Levels of rows that are left out or held out count, too, so that fits to parts of a table agree on what levels there are.
        let levels = self.order_of(name, &labels.levels)?;
        if !(3..=MAX_LEVELS).contains(&levels.len()) {
            return Err(count(Some(levels.len())).into());
        }
        let place = |level: &str| levels.iter().position(|it| it == level);
        let mut counts: Vec<(String, usize)> =
            levels.iter().map(|level| (level.clone(), 0)).collect();
        let mut code_of = vec![f64::NAN; labels.levels.len()];
        for ((code, name), used) in code_of.iter_mut().zip(&labels.levels).zip(used) {
            if let Some(place) = place(name) {
                *code = (place + 1) as f64;
                counts[place].1 = used;
            }
        }
        let y = (rows.iter())
            .map(|&row| code_of[labels.codes[row as usize] as usize])
            .collect();
        let info = ResponseInfo {
            name: name.clone(),
            kind: match wanted == ResponseUse::Ordered {
                true => ResponseKind::Ordered { levels },
                false => ResponseKind::Unordered { levels },
            },
            counts,
        };
        Ok((y, info))
    }

    /// The levels in their order: as the user names them, or as they say themselves. Where they need none, those that do not say it
    /// stay as they are in the table.
    fn order_of(&self, name: &str, seen: &[String]) -> Result<Vec<String>, BadLevel> {
        let wanted = self.frame.response_use;
        let named = &self.frame.levels;
        if named.is_empty() {
            let Some(places) = ordered_levels::order(seen) else {
                return match wanted == ResponseUse::Ordered {
                    true => Err(BadLevel::NoOrder(name.to_owned(), seen.to_vec())),
                    false => Ok(seen.to_vec()),
                };
            };
            return Ok(places
                .into_iter()
                .map(|place| seen[place].clone())
                .collect());
        }
        if let Some(other) = seen.iter().find(|level| !named.contains(level)) {
            let (name, other) = (name.to_owned(), other.clone());
            return Err(BadLevel::Unnamed(name, other, named.clone(), wanted));
        }
        let mut levels: Vec<String> = Vec::new();
        for level in named {
            if levels.contains(level) {
                return Err(BadLevel::Twice(name.to_owned(), level.clone(), wanted));
            }
            levels.push(level.clone());
        }
        Ok(levels)
    }

    /// Codes of categories, and what to say about them.
    fn categories(
        &self,
        response: &Response,
        col: usize,
        rows: &[u32],
    ) -> Result<(Vec<f64>, ResponseInfo), DesignError> {
        let name = &response.column;
        if response.trials.is_some() {
            return Err(Misplaced::Trials(name.clone(), self.frame.response_use).into());
        }
        if self.table.few_levels(col, MAX_CATEGORIES).is_none() {
            return Err(LevelCount::ManyCategories(name.clone()).into());
        }
        let labels = self.table.labels(col);
        let mut levels: Vec<String> = Vec::new();
        let mut code_of = vec![f64::NAN; labels.levels.len()];
        let mut used = vec![false; labels.levels.len()];
        for &row in rows {
            used[labels.codes[row as usize] as usize] = true;
        }
        for (level, _) in used.iter().enumerate().filter(|(_, used)| **used) {
            code_of[level] = levels.len() as f64;
            levels.push(labels.levels[level].clone());
        }
        for level in &self.frame.levels {
            if !levels.contains(level) {
                levels.push(level.clone());
            }
        }
        if levels.len() < 2 || levels.len() > MAX_CATEGORIES {
            return Err(LevelCount::Categories(name.clone(), levels.len()).into());
        }
        let y: Vec<f64> = rows
            .iter()
            .map(|&row| code_of[labels.codes[row as usize] as usize])
            .collect();
        let weights = match &response.weights {
            Some(weights) => self.weights(weights, rows)?,
            None => vec![1.0; rows.len()],
        };
        let mut totals = vec![0.0; levels.len()];
        for (&code, weight) in y.iter().zip(weights) {
            totals[code as usize] += weight;
        }
        let counts = levels
            .iter()
            .cloned()
            .zip(totals.iter().map(|total| total.round() as usize))
            .collect();
        let info = ResponseInfo {
            name: name.clone(),
            kind: ResponseKind::Categories { levels },
            counts,
        };
        Ok((y, info))
    }
}

/// Refuses numbers of successes among `trials` that cannot be; missing ones (NaN) may stand.
pub(super) fn check_successes(
    table: &dyn Columns,
    name: &str,
    rows: &[u32],
    successes: &[f64],
    trials: &[f64],
) -> Result<(), BadNumber> {
    for ((&row, &successes), &count) in rows.iter().zip(successes).zip(trials) {
        if successes.fract().abs() > 0.0 || successes < 0.0 || successes > count {
            let successes = NumberAt::new(name, successes, Place::of(table, row));
            return Err(BadNumber::Successes(successes, count));
        }
    }
    Ok(())
}

/// Refuses outcomes that a response of this use cannot have; missing ones (NaN) may stand.
pub(super) fn check_numbers(
    table: &dyn Columns,
    name: &str,
    rows: &[u32],
    y: &[f64],
    wanted: ResponseUse,
) -> Result<(), BadNumber> {
    let bad = |value: &f64| !value.is_nan() && !fits(*value, wanted);
    match y.iter().position(bad) {
        None => Ok(()),
        Some(i) => {
            let count = NumberAt::new(name, y[i], Place::of(table, rows[i]));
            Err(BadNumber::Count(count))
        }
    }
}

/// Numbers of trials of `rows`, whole and at least 1; `read` reads a column of numbers that has a part in it.
pub(super) fn num_trials(
    table: &dyn Columns,
    response: &Response,
    trials: &Trials,
    rows: &[u32],
    read: impl Fn(&str, &'static str) -> Result<Vec<f64>, DesignError>,
) -> Result<Vec<f64>, DesignError> {
    let number =
        |name: &str, value, i: usize| NumberAt::new(name, value, Place::of(table, rows[i]));
    match trials {
        Trials::Constant(count) => Ok(vec![*count as f64; rows.len()]),
        Trials::Column(column) => {
            let trials = read(column, "number of trials")?;
            let bad = |count: &f64| count.fract() != 0.0 || *count < 1.0;
            match trials.iter().position(bad) {
                None => Ok(trials),
                Some(i) => Err(BadNumber::Trials(number(column, trials[i], i)).into()),
            }
        }
        Trials::Failures(column) => {
            let successes = read(&response.column, "number of successes")?;
            let failures = read(column, "number of failures")?;
            let bad = |count: &f64| count.fract() != 0.0 || *count < 0.0;
            for (name, counts) in [(&response.column, &successes), (column, &failures)] {
                if let Some(i) = counts.iter().position(bad) {
                    let count = number(name, counts[i], i);
                    return Err(BadNumber::SuccessesOrFailures(count).into());
                }
            }
            let sums: Vec<f64> = successes
                .iter()
                .zip(&failures)
                .map(|(a, b)| a + b)
                .collect();
            match sums.iter().position(|&sum| sum == 0.0) {
                None => Ok(sums),
                Some(i) => {
                    let successes = response.column.clone();
                    Err(BadNumber::NoTrials(number(column, 0.0, i), successes).into())
                }
            }
        }
    }
}
