//! The expected outcome along a predictor: with all else typical, or averaged over the rows of the data.

use super::averages::{Ask, averages};
use super::derived::Layout;
use super::what_if::{Change, Rows, To};
use super::words::{self, is_share};
use super::{Derived, EffectsError, EffectsOptions, find, is_zero_or_one, mean};
use crate::predict::{self, Fitted};
use ergodic_base::draws::DrawList;
use ergodic_base::numerals::brief;
use ergodic_base::{Control, ParamId};
use ergodic_core::design::{CodedColumn, ResponseInfo, ResponseKind};

/// Groups of rows whose observed shares stand behind a curve, at most, and rows in each at least.
const GROUPS: usize = 20;
const LEAST_ROWS: usize = 10;
/// Predictors with a curve where nobody asked for all of them: more than anybody looks through.
pub const MOST_CURVES: usize = 40;
/// Places along a predictor that is a number: a smooth curve.
const PLACES: usize = 41;
/// Observed outcomes behind a curve, at most.
const POINTS: usize = 1000;

/// What the other predictors are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Others {
    /// Numbers at their mean, categories at their most frequent level, in an average group.
    #[default]
    Typical,
    /// What each row has; outcomes are averaged over the rows.
    Rows,
}

/// A place along a predictor.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// A number.
    Number(f64),
    /// A level.
    Level(String),
}

impl Place {
    /// In few digits.
    pub fn label(&self) -> String {
        match self {
            Self::Number(x) => brief(*x),
            Self::Level(level) => level.clone(),
        }
    }
}

/// The expected outcome at a place.
#[derive(Clone, Debug, PartialEq)]
pub struct CurvePoint {
    /// Where.
    pub at: Place,
    /// The expected outcome.
    pub value: Derived,
}

/// The expected outcome at all places.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The value of the column that is set, where one is: each curve has another.
    pub by: Option<String>,
    /// The level whose probability is expected, where levels have no order: each curve has another.
    pub level: Option<String>,
    /// From the smallest to the largest; levels in their order.
    pub points: Vec<CurvePoint>,
}

/// The expected outcome along a predictor.
#[derive(Clone, Debug)]
pub struct Conditional {
    /// What is expected, in words.
    pub quantity: String,
    /// The response.
    pub response: ResponseInfo,
    /// Name of the column.
    pub predictor: String,
    /// Name of the column that differs between the curves.
    pub by: Option<String>,
    /// What the others are.
    pub others: Others,
    /// One curve, or one for each value of the column that is set and each level without an order.
    pub curves: Vec<Curve>,
    /// What was observed, place and outcome: of shares, those of groups of rows near each other; of levels, means by level, whose
    /// places are the positions of the levels.
    pub observed: Vec<[f64; 2]>,
    /// What to know.
    pub remarks: Vec<String>,
}

impl Conditional {
    /// Whether outcomes are shares of successes.
    pub fn is_share(&self) -> bool {
        is_share(&self.response)
    }
}

impl Fitted {
    /// Names of the columns that the model explains the outcome by.
    pub fn predictors(&self) -> Vec<String> {
        let columns = self.coding.coded_columns().into_iter();
        columns.map(|column| column.name).collect()
    }

    /// The expected outcome along each of `predictors` with all else typical; along the one that `options` set, as it is.
    ///
    /// # Errors
    /// As those of [`Self::effects`].
    pub fn along_each(
        &self,
        draws: (&[&DrawList], &[Vec<f64>]),
        predictors: &[impl AsRef<str>],
        options: &EffectsOptions,
        control: &Control,
    ) -> Result<Vec<Conditional>, EffectsError> {
        let how = (Others::Typical, PLACES);
        let plain = EffectsOptions {
            by: None,
            ..options.clone()
        };
        let along = |name: &str| {
            let is_set = options.by.as_deref() == Some(name);
            let options = if is_set { &plain } else { options };
            self.along(draws, name, how, options, control)
        };
        (predictors.iter())
            .map(|name| along(name.as_ref()))
            .collect()
    }

    /// The expected outcome along `predictor` at `points` places, evenly spaced over its range; at all levels of a category.
    /// What `options` set or repeat holds here too.
    ///
    /// # Errors
    /// As those of [`Self::effects`].
    pub fn along(
        &self,
        (draws, weights): (&[&DrawList], &[Vec<f64>]),
        predictor: &str,
        (others, points): (Others, usize),
        options: &EffectsOptions,
        control: &Control,
    ) -> Result<Conditional, EffectsError> {
        options.check()?;
        self.has_effects()?;
        let columns = self.columns_with_groups();
        self.check_groupings(Some(predictor), options)?;
        let column = find(predictor, &columns)?;
        let all = Rows::new(&self.coding, &self.table, &self.rows, false)?;
        let places = places(column, &all, points);
        let settings = self.settings(&columns, &all, options)?;
        let mut at = match others {
            Others::Typical => self.typical(&all),
            Others::Rows => Vec::new(),
        };
        for (name, value) in &options.at {
            at.push(self.change(name, value, &columns)?);
        }
        let of_groups = |name: &&str| self.is_grouping(name) && options.with_groups;
        let set = options.at.iter().map(|(name, _)| name).chain(&options.by);
        let set = set.map(String::as_str).chain([predictor]);
        let in_groups: Vec<String> = set.filter(of_groups).map(str::to_owned).collect();
        let rows = match others {
            Others::Typical => Rows::new(&self.coding, &self.table, &self.rows[..1], false)?
                .in_groups_of(in_groups.clone()),
            Others::Rows => Rows::new(&self.coding, &self.table, &self.rows, options.with_groups)?,
        };
        let asks: Vec<Ask> = (places.iter())
            .map(|place| {
                let to = match place {
                    Place::Number(x) => To::Number(*x),
                    Place::Level(level) => To::Level(level.clone()),
                };
                Ask::Expected(vec![Change::new(predictor, to)])
            })
            .collect();
        let evaluations = rows.len() * (asks.len() + 1) * settings.len();
        let most = self.most_draws(draws, evaluations, options, control)?;
        let layout = Layout::of(draws, weights, most);
        let posterior = self.posterior_of(draws, weights, &layout.places(draws), control)?;
        let row_weights = match others {
            Others::Typical => None,
            Others::Rows => self.row_weights.as_deref(),
        };
        let mut curves = Vec::new();
        let mut changed: Vec<Change> = asks.iter().flat_map(Ask::changes).collect();
        for by in &settings {
            let mut changes = at.clone();
            changes.extend(by.as_ref().map(|(_, change)| change.clone()));
            changed.extend_from_slice(&changes);
            control.enter("following the expected outcome");
            let made = averages(&posterior, (&rows, &changes), row_weights, &asks, control)?;
            let made = made
                .into_iter()
                .collect::<Result<Vec<Vec<Vec<f64>>>, EffectsError>>()?;
            for k in 0..made.first().map_or(0, Vec::len) {
                let named: Vec<(ParamId, Vec<f64>)> = (made.iter().zip(&places))
                    .map(|(values, at)| (ParamId::named(&at.label()), values[k].clone()))
                    .collect();
                let derived = layout.derive(&named, 0.0, options);
                let derived = derived.ok_or(EffectsError::Weights)?.into_iter();
                let points = places.iter().cloned().zip(derived);
                curves.push(Curve {
                    by: by.as_ref().map(|(value, _)| value.clone()),
                    level: self.level_asked(k),
                    points: points.map(|(at, value)| CurvePoint { at, value }).collect(),
                });
            }
        }
        let mut remarks: Vec<String> = predict::taken_back(&self.response).into_iter().collect();
        if others == Others::Typical {
            remarks.extend(self.held(&at, predictor, options, &in_groups));
        }
        remarks.extend(rows.remarks(changed.iter()));
        remarks.extend(self.groups_left_out(options));
        Ok(Conditional {
            quantity: words::quantity(&self.response),
            response: self.response.clone(),
            predictor: predictor.to_owned(),
            by: options.by.clone(),
            others,
            curves,
            observed: self.observed(&places, &all, predictor)?,
            remarks,
        })
    }

    /// All columns that rows are coded from at their typical value.
    fn typical(&self, rows: &Rows<'_>) -> Vec<Change> {
        let columns = self.coding.coded_columns();
        let mut changes = Vec::new();
        for column in &columns {
            let to = match &column.levels {
                Some((levels, _)) => rows.most_frequent(&column.name, levels).map(To::Level),
                None => rows.numbers(&column.name, &[]).map(|numbers| {
                    // Half of a yes is no row anybody has seen.
                    let mean = centre(&numbers);
                    To::Number(if is_zero_or_one(&numbers) {
                        mean.round()
                    } else {
                        mean
                    })
                }),
            };
            changes.extend(to.map(|to| Change::new(&column.name, to)));
        }
        for offset in &self.coding.formula().offsets {
            let name = offset.column();
            if !columns.iter().any(|column| column.name == name) {
                let numbers = rows.numbers(name, &[]);
                changes.extend(numbers.map(|all| Change::new(name, To::Number(centre(&all)))));
            }
        }
        changes
    }

    /// In one sentence, what the others are.
    fn held(
        &self,
        at: &[Change],
        predictor: &str,
        options: &EffectsOptions,
        in_groups: &[String],
    ) -> Option<String> {
        let is_other = |name: &str| name != predictor && options.by.as_deref() != Some(name);
        let mut names: Vec<&str> = Vec::new();
        for change in at {
            if is_other(&change.column) && !names.contains(&change.column.as_str()) {
                names.push(&change.column);
            }
        }
        let value = |name: &str| {
            let change = at.iter().rev().find(|change| change.column == name)?;
            Some(match &change.to {
                To::Number(x) => format!("{name} {}", brief(*x)),
                To::Level(level) => format!("{name} {level}"),
                To::Numbers(_) => return None,
            })
        };
        let held: Vec<String> = names.into_iter().filter_map(value).collect();
        let is_set = |group: &[String]| matches!(group, [column] if in_groups.contains(column));
        let mut terms = self.coding.formula().groups.iter();
        let group = if !self.has_groups || terms.all(|term| is_set(&term.group)) {
            ""
        } else if in_groups.is_empty() {
            " in an average group"
        } else {
            " in an average group of the others"
        };
        match held.is_empty() {
            true if group.is_empty() => None,
            true => Some(format!("Expected{group}")),
            false => Some(format!("With {}{group}", held.join(", "))),
        }
    }

    /// What was observed, to stand behind curves; nothing of levels without an order, of which each curve is about one.
    fn observed(
        &self,
        places: &[Place],
        rows: &Rows<'_>,
        predictor: &str,
    ) -> Result<Vec<[f64; 2]>, EffectsError> {
        let coded = rows.coded(0..rows.len(), &[])?;
        let is_unordered = matches!(self.response.kind, ResponseKind::Unordered { .. });
        if coded.observed.is_none() || is_unordered {
            return Ok(Vec::new());
        }
        let observed: Vec<f64> = (0..rows.len()).map(|i| coded.seen(i)).collect();
        let trials = |i: usize| coded.trials.as_ref().map_or(1.0, |trials| trials[i]);
        let known = (0..rows.len()).filter(|&i| observed[i].is_finite());
        if let Some(Place::Level(_)) = places.first() {
            let level = |place: &Place| match place {
                Place::Level(level) => level.clone(),
                Place::Number(x) => x.to_string(),
            };
            let levels: Vec<String> = places.iter().map(level).collect();
            let of_rows = rows.places(predictor, &levels);
            let mut sums = vec![[0.0; 2]; levels.len()];
            for i in known {
                if let Some(k) = of_rows[i] {
                    sums[k][0] += observed[i];
                    sums[k][1] += trials(i);
                }
            }
            let means = sums.iter().enumerate().filter(|(_, [_, n])| *n > 0.0);
            return Ok(means.map(|(k, [sum, n])| [k as f64, sum / n]).collect());
        }
        let x = rows.numbers(predictor, &[]).unwrap_or_default();
        let mut known: Vec<usize> = known.filter(|&i| x[i].is_finite()).collect();
        if !is_share(&self.response) {
            let stride = known.len().div_ceil(POINTS).max(1);
            return Ok((known.iter().step_by(stride))
                .map(|&i| [x[i], observed[i]])
                .collect());
        }
        known.sort_by(|a, b| x[*a].total_cmp(&x[*b]));
        let groups = (known.len() / LEAST_ROWS).clamp(1, GROUPS);
        let group = |k: usize| {
            let rows = &known[k * known.len() / groups..(k + 1) * known.len() / groups];
            let sum = |of: &dyn Fn(usize) -> f64| rows.iter().map(|&i| of(i)).sum::<f64>();
            let middle = sum(&|i| x[i]) / rows.len() as f64;
            [middle, sum(&|i| observed[i]) / sum(&trials)]
        };
        Ok((0..groups)
            .map(group)
            .filter(|[x, _]| x.is_finite())
            .collect())
    }
}

/// The mean of numbers, and 0 where it is no more than the rounding of numbers that cancel: nobody wants to read that a centred
/// column is held at 9e-19.
fn centre(numbers: &[f64]) -> f64 {
    let mean = mean(numbers);
    let largest = numbers.iter().fold(0.0, |max: f64, x| max.max(x.abs()));
    if mean.abs() > numbers.len() as f64 * f64::EPSILON * largest {
        mean
    } else {
        0.0
    }
}

/// Places along a column: over its range, or its levels.
fn places(column: &CodedColumn, rows: &Rows<'_>, points: usize) -> Vec<Place> {
    if let Some((levels, _)) = &column.levels {
        return levels.iter().cloned().map(Place::Level).collect();
    }
    let numbers = rows.numbers(&column.name, &[]).unwrap_or_default();
    if is_zero_or_one(&numbers) {
        return ["0", "1"]
            .map(|level| Place::Level(level.to_owned()))
            .into();
    }
    let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let high = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let steps = points.max(2) - 1;
    let at = |k: usize| match k {
        // The ends are in the domain of all functions of the column; sums of steps may not be.
        0 => low,
        k if k == steps => high,
        k => low + (high - low) * k as f64 / steps as f64,
    };
    (0..=steps).map(|k| Place::Number(at(k))).collect()
}

#[cfg(test)]
mod tests {
    use super::centre;

    #[test]
    fn the_mean_of_numbers_that_cancel_is_zero() {
        let numbers = [0.1, 0.2, -0.3];
        assert!(numbers.iter().sum::<f64>() != 0.0);
        assert_eq!(centre(&numbers), 0.0);
        assert_eq!(centre(&[1.0, 2.0, 6.0]), 3.0);
        assert_eq!(centre(&[1e-30, 3e-30]), 2e-30);
    }
}
