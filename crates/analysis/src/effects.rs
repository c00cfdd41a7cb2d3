//! Answers on the scale of the outcome: how the expected outcome differs where a predictor differs.
//!
//! Rows of the data are coded again with a column changed, so interactions and functions of columns follow. For draw s the average
//! marginal effect of a number x is Σ_i w_i ∂E(y_i | s)/∂x_i / Σ_i w_i, that of one unit more Σ_i w_i (E(y_i | x_i + 1, s) − E(y_i | x_i, s))
//! / Σ_i w_i, and the contrast of two levels likewise with all rows at one level and at the other; w are the weights of rows, 1 where
//! the formula has none. A column of 0 and 1 has two levels. Where the model explains a function of the outcome, such as log(y),
//! medians of y stand for means ([`crate::predict`]). Of successes among trials what is expected is their share.
//!
//! As in the R package marginaleffects (Arel-Bundock, Greifer, Heiss 2024, doi 10.18637/jss.v111.i09), effects are averages over the
//! data first and over the posterior then.

use std::collections::BTreeMap;
use std::sync::Arc;

use ergodic_base::draws::DrawList;
use ergodic_base::names::listed;
use ergodic_base::numerals::{brief, plural};
use ergodic_base::{Control, ParamId};
use ergodic_core::design::{CodedColumn, ResponseInfo, ResponseKind, name_hint};

use crate::predict::{self, Fitted, INTERVAL};
use averages::{Ask, Expectation, averages};
use derived::Layout;
use what_if::{Change, Rows, To, ends};

mod averages;
mod conditional;
mod derived;
mod error;
mod expression;
mod groups;
mod ratios;
#[cfg(test)]
mod tests;
mod what_if;
mod words;

pub use conditional::{Conditional, Curve, CurvePoint, MOST_CURVES, Others, Place};
pub use derived::Derived;
pub use error::EffectsError;
pub use expression::{ExpressionError, ExpressionValue, check_expression, expressions};
pub use ratios::Ratio;

/// Expected outcomes that are affordable in all where the user sets no number of draws: about a minute of one core.
const EVALUATIONS: usize = 4_000_000_000;
/// Parameters of all draws that are held at once, at most: 400 MB.
const VALUES: usize = 50_000_000;
/// Draws that are used at least, if there are as many.
const LEAST_DRAWS: usize = 400;
/// Levels of a predictor that nobody asked for by name, and groups of a grouping factor, at most.
const LEVELS: usize = 50;
/// Levels that a refusal names.
const LEVELS_NAMED: usize = 12;

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectsOptions {
    /// With the effects of each row's group, or for an average group.
    pub with_groups: bool,
    /// Probability in intervals.
    pub interval: f64,
    /// What counts as no effect: from, to.
    pub rope: Option<[f64; 2]>,
    /// Most draws used; `None`: all, fewer where rows are many.
    pub draws: Option<usize>,
    /// Predictors; all if empty.
    pub of: Vec<String>,
    /// Predictors with levels of which all pairs are compared, not each level with the reference.
    pub pairs: Vec<String>,
    /// Whether all pairs are compared of every predictor with levels, as far as its levels are shown.
    pub all_pairs: bool,
    /// Each effect with this column set to each of its levels in all rows; a number: one standard deviation below its mean, at
    /// it, and above.
    pub by: Option<String>,
    /// Columns set to a value in all rows.
    pub at: Vec<(String, String)>,
}

impl Default for EffectsOptions {
    fn default() -> Self {
        Self {
            with_groups: true,
            interval: INTERVAL,
            rope: None,
            draws: None,
            of: Vec::new(),
            pairs: Vec::new(),
            all_pairs: false,
            by: None,
            at: Vec::new(),
        }
    }
}

/// What is compared.
#[derive(Clone, Debug, PartialEq)]
pub enum Contrast {
    /// The slope: what changes per unit at the margin.
    Slope,
    /// One unit more than each row has.
    Unit,
    /// One standard deviation of the column (divisor n − 1), which it holds, more than each row has.
    Sd(f64),
    /// All rows at one level with all rows at another.
    Levels {
        /// The level.
        level: String,
        /// The level it is compared with.
        reference: String,
    },
}

impl Contrast {
    /// In few words: `slope`, `1 more`, `1 sd more`, `pro - basic`.
    pub fn label(&self) -> String {
        match self {
            Self::Slope => "slope".to_owned(),
            Self::Unit => "1 more".to_owned(),
            Self::Sd(_) => "1 sd more".to_owned(),
            Self::Levels { level, reference } => format!("{level} - {reference}"),
        }
    }
}

/// How the expected outcome differs by a predictor.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// Name of the column.
    pub predictor: String,
    /// What is compared.
    pub contrast: Contrast,
    /// The column that is set in all rows, and its value.
    pub by: Option<(String, String)>,
    /// The level whose probability it is about, where levels have no order.
    pub level: Option<String>,
    /// The difference in the expected outcome.
    pub value: Derived,
}

/// Answers of a run.
#[derive(Clone, Debug)]
pub struct Effects {
    /// What is expected, in words: "probability that churned is yes".
    pub quantity: String,
    /// The response.
    pub response: ResponseInfo,
    /// What was asked.
    pub options: EffectsOptions,
    /// Draws used, and draws there are.
    pub draws: (usize, usize),
    /// Rows averaged over.
    pub rows: usize,
    /// Effects, predictor by predictor.
    pub effects: Vec<Effect>,
    /// What ratios are: "odds ratio"; `None` where coefficients are none.
    pub ratio: Option<&'static str>,
    /// Ratios of the coefficients, those of the intercept left out.
    pub ratios: Vec<Ratio>,
    /// What to know.
    pub remarks: Vec<String>,
    /// Standard deviation (divisor n − 1) of each predictor that is a number.
    spreads: BTreeMap<String, f64>,
}

/// An effect of a predictor in each draw, which is not summarised yet.
struct Found {
    predictor: String,
    contrast: Contrast,
    by: Option<(String, String)>,
    level: Option<String>,
    values: Vec<f64>,
}

/// What is known of a predictor.
struct Asked<'a> {
    column: &'a CodedColumn,
    /// Levels and the reference; of numbers that are 0 or 1 these.
    levels: Option<(Vec<String>, usize)>,
    /// Standard deviation of a number.
    sd: f64,
}

impl Asked<'_> {
    /// Refuses a predictor that was asked for by name while it is set in all rows; of a number that `at` sets, one unit more is more than
    /// that.
    fn check_is_free(&self, options: &EffectsOptions) -> Result<(), EffectsError> {
        let name = &self.column.name;
        let is_named = options.of.contains(name) || options.pairs.contains(name);
        let is_at = options.at.iter().any(|(set, _)| set == name) && self.levels.is_some();
        let set_by = match (options.by.as_ref() == Some(name), is_at) {
            (true, _) if is_named => "--by",
            (_, true) if is_named => "--at",
            _ => return Ok(()),
        };
        Err(EffectsError::Set(name.clone(), set_by))
    }
}

impl Fitted {
    /// Effects of predictors on the expected outcome, from `draws` of reported quantities (one list per chain) with `weights` (one
    /// vector per chain, or empty).
    ///
    /// # Errors
    /// The work was cancelled; the draws are of other variables, or too few; a name or a value that the model does not have.
    pub fn effects(
        &self,
        draws: &[&DrawList],
        weights: &[Vec<f64>],
        options: &EffectsOptions,
        control: &Control,
    ) -> Result<Effects, EffectsError> {
        options.check()?;
        self.has_effects()?;
        let rows = Rows::new(&self.coding, &self.table, &self.rows, options.with_groups)?;
        let columns = self.columns_with_groups();
        self.check_groupings(None, options)?;
        let mut remarks: Vec<String> = predict::taken_back(&self.response).into_iter().collect();
        let asked = self.asked(&columns, &rows, options)?;
        if asked.is_empty() && self.coding.coded_columns().is_empty() {
            return Err(EffectsError::NoPredictors);
        }
        let at = (options.at.iter())
            .map(|(name, value)| self.change(name, value, &columns))
            .collect::<Result<Vec<_>, _>>()?;
        let settings = self.settings(&columns, &rows, options)?;
        // Of several that were named the others are told.
        if let [only] = asked.as_slice() {
            only.check_is_free(options)?;
        }
        let evaluations = evaluations(&rows, &asked) * settings.len();
        let most = self.most_draws(draws, evaluations, options, control)?;
        let layout = Layout::of(draws, weights, most);
        let posterior = self.posterior_of(draws, weights, &layout.places(draws), control)?;
        let row_weights = self.row_weights.as_deref();
        let mut found: Vec<Found> = Vec::new();
        let mut changed: Vec<Change> = Vec::new();
        for by in &settings {
            let mut changes = at.clone();
            changes.extend(by.as_ref().map(|(_, change)| change.clone()));
            let set = by
                .as_ref()
                .map(|(value, change)| (change.column.clone(), value.clone()));
            let mut plan = Plan::default();
            for it in &asked {
                if set
                    .as_ref()
                    .is_some_and(|(name, _)| *name == it.column.name)
                {
                    continue;
                }
                plan.add(it, &rows, &changes, self, options);
            }
            changed.extend_from_slice(&changes);
            changed.extend(plan.asks.iter().flat_map(Ask::changes));
            control.enter("averaging over rows");
            let made = averages(
                &posterior,
                (&rows, &changes),
                row_weights,
                &plan.asks,
                control,
            )?;
            for Wanted {
                predictor,
                contrast,
                minus,
                plus,
            } in plan.wanted
            {
                let value = |k: usize| made[k].as_ref();
                let pair = match minus {
                    Some(minus) => {
                        value(plus).and_then(|plus| value(minus).map(|minus| (plus, Some(minus))))
                    }
                    None => value(plus).map(|plus| (plus, None)),
                };
                match pair {
                    Err(why) => remarks.push(format!(
                        "`{predictor}`: {} cannot be told: {why}",
                        words::noun(&contrast)
                    )),
                    Ok((plus, minus)) => {
                        // One of what is expected, or one of each level.
                        for (k, plus) in plus.iter().enumerate() {
                            let values = match minus {
                                Some(minus) => {
                                    plus.iter().zip(&minus[k]).map(|(a, b)| a - b).collect()
                                }
                                None => plus.clone(),
                            };
                            found.push(Found {
                                predictor: predictor.clone(),
                                contrast: contrast.clone(),
                                by: set.clone(),
                                level: self.level_asked(k),
                                values,
                            });
                        }
                    }
                }
            }
        }
        remarks.extend(rows.remarks(changed.iter()));
        // Predictor by predictor, each at all values of what is set.
        found.sort_by_key(|it| {
            let mut places = asked.iter();
            places.position(|asked| asked.column.name == it.predictor)
        });
        control.enter("summarising effects");
        let named: Vec<(ParamId, Vec<f64>)> = (found.iter_mut())
            .map(|it| {
                (
                    ParamId::named(&it.predictor),
                    std::mem::take(&mut it.values),
                )
            })
            .collect();
        let derived = layout
            .derive(&named, 0.0, options)
            .ok_or(EffectsError::Weights)?;
        let effects = found.into_iter().zip(derived);
        let effects = effects.map(|(it, value)| Effect {
            predictor: it.predictor,
            contrast: it.contrast,
            by: it.by,
            level: it.level,
            value,
        });
        let effects = effects.collect();
        let ratio = ratios::kind(&self.response, &posterior);
        let ratios = if ratio.is_some() {
            self.ratios(&posterior, &layout, (&rows, &asked), options, control)?
        } else {
            Vec::new()
        };
        control.check(EffectsError::Cancelled)?;
        remarks.extend(self.remarks(&layout, &asked, options));
        Ok(Effects {
            quantity: words::quantity(&self.response),
            response: self.response.clone(),
            options: options.clone(),
            draws: (layout.len(), layout.all),
            rows: rows.len(),
            effects,
            ratio,
            ratios,
            remarks,
            spreads: (asked.iter().filter(|it| it.levels.is_none()))
                .map(|it| (it.column.name.clone(), it.sd))
                .collect(),
        })
    }

    /// Whether the effects of all predictors take no more than about a minute of one core; with very many rows and predictors they take
    /// longer from any number of draws.
    ///
    /// # Errors
    /// The model explains no outcome, or has no predictors; rows that cannot be coded.
    pub fn are_effects_quick(&self, options: &EffectsOptions) -> Result<bool, EffectsError> {
        self.has_effects()?;
        let rows = Rows::new(&self.coding, &self.table, &self.rows, options.with_groups)?;
        let columns = self.columns_with_groups();
        let asked = self.asked(&columns, &rows, options)?;
        if asked.is_empty() {
            return Err(EffectsError::NoPredictors);
        }
        Ok(evaluations(&rows, &asked) <= EVALUATIONS / LEAST_DRAWS)
    }

    /// The level that the `k`-th of several answers is about.
    fn level_asked(&self, k: usize) -> Option<String> {
        match &self.response.kind {
            ResponseKind::Unordered { levels } => levels.get(k).cloned(),
            _ => None,
        }
    }

    /// Most draws to use where `evaluations` expected outcomes are asked of each: what the user says, or what is affordable.
    fn most_draws(
        &self,
        draws: &[&DrawList],
        evaluations: usize,
        options: &EffectsOptions,
        control: &Control,
    ) -> Result<usize, EffectsError> {
        let first = draws.iter().position(|chain| !chain.is_empty());
        let (None, Some(first)) = (options.draws, first) else {
            return Ok(options.draws.unwrap_or(LEAST_DRAWS));
        };
        let held = VALUES / self.model.params().len().max(1);
        let one = self.posterior_of(draws, &[], &[(first, 0)], control)?;
        let predictors = one.linear().map_or(1, predict::Linear::num_predictors);
        // Of an expected outcome that is the linear predictor each draw is asked once, however many rows there are.
        let affordable = if Expectation::of(&one).is_some_and(Expectation::is_linear) {
            usize::MAX
        } else {
            EVALUATIONS / (evaluations * predictors).max(1)
        };
        Ok(affordable.min(held).max(LEAST_DRAWS))
    }

    /// The predictors that are asked for.
    fn asked<'a>(
        &self,
        columns: &'a [CodedColumn],
        rows: &Rows<'_>,
        options: &EffectsOptions,
    ) -> Result<Vec<Asked<'a>>, EffectsError> {
        let find = |name: &String| find(name, columns);
        let named = options
            .of
            .iter()
            .chain(&options.pairs)
            .map(find)
            .collect::<Result<Vec<_>, _>>()?;
        let wanted = |column: &&CodedColumn| {
            // What varies by groups alone is nothing in an average group.
            let varies =
                (column.is_fixed || options.with_groups) && !self.is_grouping(&column.name);
            named.iter().any(|it| it.name == column.name) || (named.is_empty() && varies)
        };
        let mut asked = Vec::new();
        for column in columns.iter().filter(wanted) {
            let numbers = rows.numbers(&column.name, &[]).unwrap_or_default();
            let is_two = column.levels.is_none() && is_zero_or_one(&numbers);
            let levels = column
                .levels
                .clone()
                .or_else(|| is_two.then(|| (vec!["0".to_owned(), "1".to_owned()], 0)));
            if levels.is_none() && options.pairs.contains(&column.name) {
                return Err(EffectsError::NoLevels(column.name.clone()));
            }
            let sd = if levels.is_none() {
                sd(&numbers)
            } else {
                f64::NAN
            };
            asked.push(Asked { column, levels, sd });
        }
        Ok(asked)
    }

    /// A column set to a value in all rows.
    fn change(
        &self,
        name: &str,
        value: &str,
        columns: &[CodedColumn],
    ) -> Result<Change, EffectsError> {
        let refuse = |why: String| EffectsError::NoValue {
            column: name.to_owned(),
            value: value.to_owned(),
            why,
        };
        let formula = self.coding.formula();
        let is_offset = formula.offsets.iter().any(|offset| offset.column() == name);
        let number = || {
            value
                .parse::<f64>()
                .ok()
                .filter(|number| number.is_finite())
        };
        let levels = match find(name, columns) {
            Ok(column) => column.levels.as_ref(),
            Err(_) if is_offset => None,
            // Of several that name a group together.
            Err(_)
                if formula
                    .groups
                    .iter()
                    .any(|group| group.group.iter().any(|it| it == name)) =>
            {
                return Ok(Change::new(name, To::Level(value.to_owned())));
            }
            Err(error) => return Err(error),
        };
        match levels {
            None => match number() {
                Some(number) => Ok(Change::new(name, To::Number(number))),
                None => Err(refuse("it is a number in this model".to_owned())),
            },
            Some((levels, _)) if levels.iter().any(|level| level == value) => {
                Ok(Change::new(name, To::Level(value.to_owned())))
            }
            Some((levels, _)) => {
                let known = levels.iter().map(|level| format!("`{level}`"));
                Err(refuse(format!("it can be {}", listed(known, LEVELS_NAMED))))
            }
        }
    }

    /// What `--by` sets, each with its value as text; one `None` without it.
    fn settings(
        &self,
        columns: &[CodedColumn],
        rows: &Rows<'_>,
        options: &EffectsOptions,
    ) -> Result<Vec<Option<(String, Change)>>, EffectsError> {
        let Some(by) = &options.by else {
            return Ok(vec![None]);
        };
        let column = find(by, columns)?;
        let numbers = rows.numbers(by, &[]).unwrap_or_default();
        if column.levels.is_none() && !is_zero_or_one(&numbers) {
            let (mean, sd) = (mean(&numbers), sd(&numbers));
            let at = [mean - sd, mean, mean + sd];
            return Ok(at
                .map(|x| Some((brief(x), Change::new(by, To::Number(x)))))
                .into());
        }
        let two = || vec!["0".to_owned(), "1".to_owned()];
        let levels = column
            .levels
            .as_ref()
            .map_or_else(two, |(levels, _)| levels.clone());
        let most = match self.is_grouping(by) {
            true => LEVELS,
            false => usize::MAX,
        };
        let set = levels.into_iter().take(most).map(|level| {
            let change = self.change(by, &level, columns)?;
            Ok(Some((level, change)))
        });
        set.collect()
    }

    /// Names of the predictors that have no levels, numbers other than 0 and 1: what is told by one of them is told one standard
    /// deviation below its mean, at it, and above.
    ///
    /// # Errors
    /// Rows that cannot be coded.
    pub fn without_levels(&self) -> Result<Vec<String>, EffectsError> {
        let rows = Rows::new(&self.coding, &self.table, &self.rows, false)?;
        let mut columns = self.coding.coded_columns();
        columns.retain(|column| {
            let numbers = rows.numbers(&column.name, &[]).unwrap_or_default();
            column.levels.is_none() && !is_zero_or_one(&numbers)
        });
        Ok(columns.into_iter().map(|column| column.name).collect())
    }

    /// Says that a grouping factor that `--by` names has more groups than are told.
    fn groups_left_out(&self, options: &EffectsOptions) -> Option<String> {
        let by = options.by.as_ref().filter(|by| self.is_grouping(by))?;
        let columns = self.columns_with_groups();
        let column = columns.iter().find(|column| column.name == *by)?;
        let (groups, _) = column.levels.as_ref()?;
        (groups.len() > LEVELS).then(|| {
            format!(
                "`{by}` has {}, of which the first {LEVELS} are shown here",
                plural(groups.len(), "group")
            )
        })
    }

    fn remarks(
        &self,
        layout: &Layout,
        asked: &[Asked<'_>],
        options: &EffectsOptions,
    ) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.row_weights.is_some() {
            remarks.push("Each row counts as often as its weight says".to_owned());
        }
        remarks.extend(predict::thinned((layout.len(), layout.all)));
        if self.has_groups && !options.with_groups {
            remarks.push("Without group effects: every row as in an average group".to_owned());
        }
        remarks.extend(self.groups_left_out(options));
        for it in asked {
            let count = it.levels.as_ref().map_or(0, |(levels, _)| levels.len());
            if count > LEVELS && self.is_grouping(&it.column.name) {
                remarks.push(format!(
                    "`{}` has {}, of which the first {LEVELS} are compared; an expression of their effects compares any two",
                    it.column.name,
                    plural(count, "group")
                ));
            } else if count > LEVELS && options.of.is_empty() && options.pairs.is_empty() {
                remarks.push(format!(
                    "`{}` has {}, of which the first {LEVELS} are compared; ask for it by name to see all",
                    it.column.name,
                    plural(count, "level")
                ));
            }
        }
        remarks
    }
}

/// Expected outcomes that are asked of a draw for the effects of these predictors.
fn evaluations(rows: &Rows<'_>, asked: &[Asked<'_>]) -> usize {
    let questions = asked.iter();
    let questions = questions.map(|it| it.levels.as_ref().map_or(3, |(levels, _)| levels.len()));
    rows.len() * (questions.sum::<usize>() + 1)
}

/// Questions to the data, and what their answers are for.
#[derive(Default)]
struct Plan {
    asks: Vec<Ask>,
    wanted: Vec<Wanted>,
    /// The question for the rows as they are.
    base: Option<usize>,
}

/// An effect from answers: one, or the difference of two.
struct Wanted {
    predictor: String,
    contrast: Contrast,
    minus: Option<usize>,
    plus: usize,
}

impl Plan {
    fn ask(&mut self, ask: Ask) -> usize {
        self.asks.push(ask);
        self.asks.len() - 1
    }

    /// Asks for the effects of a predictor in rows after `changes`.
    fn add(
        &mut self,
        it: &Asked<'_>,
        rows: &Rows<'_>,
        changes: &[Change],
        of: &Fitted,
        options: &EffectsOptions,
    ) {
        let name = &it.column.name;
        let want = |contrast, minus, plus| Wanted {
            predictor: name.clone(),
            contrast,
            minus,
            plus,
        };
        let Some((levels, reference)) = &it.levels else {
            let values = rows.numbers(name, changes).unwrap_or_default();
            let formula = of.coding.formula();
            let terms = formula
                .terms
                .iter()
                .chain(formula.groups.iter().flat_map(|group| &group.terms));
            let factors = terms
                .flatten()
                .chain(&formula.offsets)
                .filter(|factor| factor.column() == name);
            let ends = ends(&values, it.sd, &factors);
            let slope = self.ask(Ask::Slope {
                column: name.clone(),
                ends,
            });
            self.wanted.push(want(Contrast::Slope, None, slope));
            let as_it_is = Change::new(name, To::Numbers(values.as_slice().into()));
            let base = if rows.left_out(&as_it_is).next().is_some() {
                // What it is compared with is without the effects of these groups too.
                self.ask(Ask::Expected(vec![as_it_is]))
            } else {
                let base = self
                    .base
                    .unwrap_or_else(|| self.ask(Ask::Expected(Vec::new())));
                self.base = Some(base);
                base
            };
            for contrast in [Contrast::Unit, Contrast::Sd(it.sd)] {
                let by = match contrast {
                    Contrast::Sd(sd) => sd,
                    _ => 1.0,
                };
                let moved: Arc<[f64]> = values.iter().map(|x| x + by).collect();
                let more = self.ask(Ask::Expected(vec![Change::new(name, To::Numbers(moved))]));
                self.wanted.push(want(contrast, Some(base), more));
            }
            return;
        };
        let by_name = options.of.contains(name) || options.pairs.contains(name);
        let most = if by_name && !of.is_grouping(name) {
            usize::MAX
        } else {
            LEVELS
        };
        let shown: Vec<usize> = (0..levels.len())
            .filter(|&k| k < most || k == *reference)
            .collect();
        let places: Vec<usize> = (shown.iter())
            .map(|&k| {
                let to = match it.column.levels {
                    Some(_) => To::Level(levels[k].clone()),
                    None => To::Number(k as f64),
                };
                self.ask(Ask::Expected(vec![Change::new(name, to)]))
            })
            .collect();
        let contrast = |a: usize, b: usize| Contrast::Levels {
            level: levels[shown[b]].clone(),
            reference: levels[shown[a]].clone(),
        };
        let all_pairs =
            options.pairs.contains(name) || (options.all_pairs && !of.is_grouping(name));
        for a in 0..shown.len() {
            let against = |b: &usize| {
                if all_pairs {
                    *b > a
                } else {
                    shown[a] == *reference && *b != a
                }
            };
            for b in (0..shown.len()).filter(against) {
                self.wanted
                    .push(want(contrast(a, b), Some(places[a]), places[b]));
            }
        }
    }
}

impl EffectsOptions {
    fn check(&self) -> Result<(), EffectsError> {
        if !(self.interval > 0.0 && self.interval < 1.0) {
            return Err(EffectsError::Interval(self.interval));
        }
        match self.rope {
            Some([low, high]) if low >= high || low.is_nan() || high.is_nan() => {
                Err(EffectsError::Rope(low, high))
            }
            _ => Ok(()),
        }
    }
}

fn find<'a>(name: &str, columns: &'a [CodedColumn]) -> Result<&'a CodedColumn, EffectsError> {
    let found = columns.iter().find(|column| column.name == name);
    found.ok_or_else(|| EffectsError::NoPredictor {
        name: name.to_owned(),
        hint: name_hint(name, columns.iter().map(|column| column.name.as_str())),
    })
}

fn is_zero_or_one(numbers: &[f64]) -> bool {
    !numbers.is_empty() && numbers.iter().all(|x| *x == 0.0 || *x == 1.0)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Standard deviation, divisor n − 1; 0 of one value.
fn sd(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
    (squares / (values.len().max(2) - 1) as f64).sqrt()
}
