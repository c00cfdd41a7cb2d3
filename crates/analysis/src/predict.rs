//! Predictions of a run: expected outcomes and outcomes of rows, old and new, over the posterior's draws.
//!
//! For draw s and row i the linear predictor is η_si = x_i'b_s + o_i + Σ_t z_ti'r_ts[g_t(i)], the expected outcome
//! E(y_i | s) follows from it, and an outcome y_si is drawn around it. Means, standard deviations and intervals are those over
//! draws, each with its weight. Rows are taken one at a time, so memory grows with rows and with draws, not with their product.
//!
//! Where the model explains a function of a column, such as log(y), both are taken back to y draw by draw. The function grows, so
//! quantiles stay quantiles; means do not stay means, and what is expected is the median outcome, whose draws are those of
//! exp(η) for log(y), instead of a mean that would need the tails of the noise.
//!
//! A level without an order has no mean: what is expected is the probability of the level that is most probable in the row, averaged
//! over draws, and nothing is said of intervals of outcomes.
//!
//! With group effects, a group that the fit did not have gets effects from N(0, Σ_s), the same in all its rows; without them
//! every row is one of an average group, r = 0.
//!
//! Noise has a stream per row of the table and per new group, so threads change nothing.

use crate::templates;
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;

use super::job::{self, Job, JobError};
use super::prior_predictive::{PreviewRows, PriorPredictive};
use super::recipe::Recipe;
use ergodic_base::draws::DrawList;
use ergodic_base::numerals::{plural, thousands};
use ergodic_base::{Class, Control, ParamId};
use ergodic_core::design::{
    Coding, ColumnKind, Columns as _, Design, DesignError, DesignTerm, ResponseInfo, ResponseKind,
    UnknownGroups, UnknownLevels,
};
use ergodic_core::engine::keep::{Keep, NotKept};
use ergodic_core::models::predicts::Point;
use ergodic_core::models::{Model, Predicts};
use ergodic_data::{ColumnKindOverride, DataError, ImportOptions, Table, load};
use ergodic_diagnostics::weights;
use ergodic_language::Own;
use posterior::Rule;

pub mod log_lik;
pub mod loo_r2;
pub mod picture;
pub mod plug_in;
mod posterior;
pub mod r2;
pub mod scores;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub(super) use posterior::{Around, Linear, Posterior, Work, chance_of};

/// The remark that only some of all draws are used, where that is so.
pub(crate) fn thinned((used, all): (usize, usize)) -> Option<String> {
    let [some, of] = [used, all].map(|draws| thousands(draws as u64));
    (used < all).then(|| format!("From {some} of {of} draws, evenly spaced"))
}

/// Default of draws used: their Monte Carlo error is 3 % of a posterior standard deviation.
pub const DRAWS: usize = 1000;
/// Default probability in intervals.
pub const INTERVAL: f64 = 0.9;
/// Rows between two looks at the control.
const TILE: usize = 64;

/// What to predict.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictOptions {
    /// With the effects of each row's group, or for an average group.
    pub with_groups: bool,
    /// Probability in intervals.
    pub interval: f64,
    /// Most draws used.
    pub draws: usize,
}

impl Default for PredictOptions {
    fn default() -> Self {
        Self {
            with_groups: true,
            interval: INTERVAL,
            draws: DRAWS,
        }
    }
}

/// The prediction of one row. Of successes among trials, expectations are shares and outcomes are counts; of levels without an order
/// the probability of the most probable level is expected.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RowPrediction {
    /// Row of the table, 0-based.
    pub row: u32,
    /// Posterior mean of the expected outcome; of the median outcome where the response is a function of a column.
    pub mean: f64,
    /// Posterior standard deviation of the expected outcome.
    pub sd: f64,
    /// Interval of the expected outcome.
    pub expected: [f64; 2],
    /// Interval of an outcome; NaN of levels without an order.
    pub outcome: [f64; 2],
    /// The outcome observed, NaN where there is none or it is censored.
    pub observed: f64,
    /// Trials; 1 where there are none.
    pub trials: f64,
    /// Whether the row's group is new in some grouping.
    pub new_group: bool,
}

/// Predictions of the rows of a table.
#[derive(Clone, Debug)]
pub struct Predictions {
    /// What is expected, in words: "mean of weight".
    pub quantity: String,
    /// The response.
    pub response: ResponseInfo,
    /// Whether outcomes are whole numbers.
    pub whole: bool,
    /// Options that were asked for.
    pub options: PredictOptions,
    /// Draws used, and draws there are.
    pub draws: (usize, usize),
    /// Rows of the table, and missing values per column of those left out.
    pub rows_total: usize,
    /// See [`Self::rows_total`].
    pub dropped: Vec<(String, usize)>,
    /// Columns of the outcome with levels that the fit did not have.
    pub unknown_outcomes: Vec<UnknownLevels>,
    /// Whether the model has groups.
    pub has_groups: bool,
    /// Groupings with groups that the fit did not have.
    pub new_groups: Vec<UnknownGroups>,
    /// Ascending by row.
    pub rows: Vec<RowPrediction>,
    /// Posterior mean of the probability of each level, per row; of outcomes without levels none.
    pub chances: Vec<Vec<f64>>,
}

impl Predictions {
    /// The place of the most probable level of the `place`-th row, from 1; `None` where levels have an order or there are none.
    pub fn called(&self, place: usize) -> Option<f64> {
        let is_unordered = matches!(self.response.kind, ResponseKind::Unordered { .. });
        let chances = self.chances.get(place).filter(|_| is_unordered)?;
        Some(most_probable(chances))
    }

    /// Rows whose observed outcome is in its interval, or of levels without an order is the most probable one, and rows with an
    /// observed outcome.
    pub fn coverage(&self) -> (usize, usize) {
        let observed = || self.rows.iter().filter(|row| row.observed.is_finite());
        if let ResponseKind::Unordered { .. } = self.response.kind {
            let rows = self.rows.iter().enumerate();
            let right = rows.filter(|(place, row)| self.called(*place) == Some(row.observed));
            return (right.count(), observed().count());
        }
        let inside =
            |row: &&RowPrediction| (row.outcome[0]..=row.outcome[1]).contains(&row.observed);
        (observed().filter(inside).count(), observed().count())
    }

    /// What to know about these predictions: rows left out, draws used, groups that are new.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks: Vec<String> = taken_back(&self.response).into_iter().collect();
        let left_out = self.rows_total - self.rows.len();
        if left_out > 0 {
            let missing: Vec<String> = self
                .dropped
                .iter()
                .map(|(name, count)| format!("{count} without `{name}`"))
                .collect();
            let why = if missing.is_empty() {
                "as in the fit".to_owned()
            } else {
                missing.join(", ")
            };
            remarks.push(format!(
                "{} of {} left out: {why}",
                plural(left_out, "row"),
                self.rows_total
            ));
        }
        for unknown in &self.unknown_outcomes {
            remarks.push(format!(
                "{} whose `{}` is `{}` or another value that no row of the fit has: it is taken as missing",
                plural(unknown.rows, "row"),
                unknown.column,
                unknown.example
            ));
        }
        remarks.extend(thinned(self.draws));
        let with = self.options.with_groups;
        if self.has_groups && !with {
            remarks.push("Without group effects: every row as in an average group".to_owned());
        }
        for new in &self.new_groups {
            remarks.push(format!(
                "{} of `{}` not in the fit ({}): their effects are drawn from the population of groups",
                plural(new.groups, "group"),
                new.grouping,
                plural(new.rows, "row")
            ));
        }
        remarks
    }
}

/// Why there are no predictions: one sentence.
#[derive(Debug, thiserror::Error)]
pub enum PredictError {
    /// Somebody cancelled.
    #[error("The predictions were cancelled")]
    Cancelled,
    /// The model, the recipe or its data.
    #[error(transparent)]
    Job(#[from] JobError),
    /// The rows.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Rows that cannot be coded as those of the fit were.
    #[error(transparent)]
    Design(#[from] DesignError),
    /// The draws or the options.
    #[error("{0}")]
    Refused(String),
}

/// A fitted model without its draws.
pub struct Fitted {
    pub(super) model: Arc<dyn Model>,
    pub(super) coding: Coding,
    pub(super) table: Arc<Table>,
    /// Rows of the fit, ascending.
    pub(super) rows: Vec<u32>,
    /// Rows kept out of the fit, ascending.
    held_out: Vec<u32>,
    /// Weight of each of these rows, where the formula has weights.
    pub(super) row_weights: Option<Vec<f64>>,
    /// The columns of the design.
    pub(super) terms: Vec<DesignTerm>,
    pub(super) response: ResponseInfo,
    pub(super) has_groups: bool,
    pub(super) recipe: Recipe,
    seed: u64,
}

impl Fitted {
    fn new(
        recipe: &Recipe,
        table: Arc<Table>,
        design: &Design,
        model: Arc<dyn Model>,
    ) -> Result<Self, PredictError> {
        let observation = model.observation();
        if model.predicts().is_none() && observation.is_none() {
            return Err(PredictError::Refused(
                match recipe.model.template.as_str() {
                    Own::ID => "This model has no section `rows`, so there are no rows to predict, to score or to leave out"
                        .to_owned(),
                    template => format!(
                        "Template `{template}` explains no outcome, so there is nothing to predict; predictions are for regressions and \
                     models with groups"
                    ),
                },
            ));
        }
        let mut order: Vec<usize> = (0..design.row.len()).collect();
        order.sort_unstable_by_key(|&i| design.row[i]);
        let weights = design.weights.as_ref();
        let frame = job::model_frame(recipe, &table)?;
        let coding = Coding::of(table.as_ref(), &frame, design)?;
        let (coding, response) = match observation {
            Some(observation) => (
                coding.for_observation(observation),
                observation.response().clone(),
            ),
            None => (coding, design.response.clone()),
        };
        Ok(Self {
            terms: design.terms.clone(),
            coding,
            held_out: frame.held_out,
            rows: order.iter().map(|&i| design.row[i]).collect(),
            row_weights: weights.map(|weights| order.iter().map(|&i| weights[i]).collect()),
            response,
            has_groups: !design.group_terms.is_empty(),
            recipe: recipe.clone(),
            seed: recipe.run.seed,
            table,
            model,
        })
    }

    /// The model of a job.
    ///
    /// # Errors
    /// It predicts nothing.
    pub fn of(job: &Job) -> Result<Self, PredictError> {
        let table = Arc::clone(&job.table);
        Self::new(&job.recipe, table, &job.design, Arc::clone(&job.model))
    }

    /// The model of `recipe`, which stands in `folder`.
    ///
    /// # Errors
    /// Whatever makes the recipe or its data unusable; it predicts nothing.
    pub fn open(recipe: &Recipe, folder: &Path, control: &Control) -> Result<Self, PredictError> {
        let loaded = job::load_data(recipe, folder, control)?;
        let table = Arc::new(loaded.table);
        let (design, _) = Design::build(table.as_ref(), &job::model_frame(recipe, &table)?)?;
        let design = Arc::new(design);
        let entry = templates::find(&recipe.model.template).map_err(JobError::from)?;
        let options = job::model_options(recipe)?;
        let model = (entry.build)(Arc::clone(&design), &options).map_err(JobError::from)?;
        Self::new(recipe, table, &design, model)
    }

    /// Refuses a model that expects no outcome.
    pub(super) fn expects_an_outcome(&self) -> Result<(), PredictError> {
        match self.model.observation().and_then(|it| it.refusal()) {
            Some(why) => Err(PredictError::Refused(why.to_owned())),
            None => Ok(()),
        }
    }

    /// Refuses a model whose predictors act on the outcome together, in ways that no effect of one of them tells.
    pub(super) fn has_effects(&self) -> Result<(), PredictError> {
        let mut params = self.model.params().iter();
        match params.any(|param| param.name.class() == Class::HiddenWeight) {
            false => self.expects_an_outcome(),
            true => Err(PredictError::Refused(
                "The predictors of a network act together, so that none has an effect of its own; compare predictions of rows that differ \
                 in it"
                    .to_owned(),
            )),
        }
    }

    /// Reads a file of new rows.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(&self, path: &Path, control: &Control) -> Result<Table, PredictError> {
        read_rows(path, &self.coding, &self.recipe.data.import, control)
    }

    /// What the priors of the model expect of its rows.
    ///
    /// # Errors
    /// The prior cannot be drawn from; the work was cancelled.
    pub fn prior_predictive(&self, control: &Control) -> Result<PriorPredictive, JobError> {
        let frame = job::model_frame(&self.recipe, &self.table)?;
        let (design, _) = Design::build(self.table.as_ref(), &frame)?;
        PreviewRows::new(&design, self.model.observation()).expect(&self.recipe, control)
    }

    /// Predicts the rows of the fit, or of `new`, from `draws` of reported quantities (one list per chain) with `weights`
    /// (one vector per chain, or empty).
    ///
    /// # Errors
    /// The work was cancelled; the draws are of other variables, or too few; rows that the model cannot code.
    pub fn predict(
        &self,
        draws: &[&DrawList],
        weights: &[Vec<f64>],
        new: Option<&Table>,
        options: PredictOptions,
        control: &Control,
    ) -> Result<Predictions, PredictError> {
        if !(options.interval > 0.0 && options.interval < 1.0) {
            return Err(PredictError::Refused(format!(
                "The interval must be a probability between 0 and 1, not {}",
                options.interval
            )));
        }
        self.expects_an_outcome()?;
        let rows = match new {
            Some(table) => self.coding.code(table, None, options.with_groups)?,
            None => {
                let rows = Some(self.rows.clone());
                self.coding
                    .code(self.table.as_ref(), rows, options.with_groups)?
            }
        };
        let all: usize = draws.iter().map(|chain| chain.len()).sum();
        let posterior = self.posterior(draws, weights, options.draws, control)?;
        control.enter("predicting rows");
        control.expect(rows.row.len() as u64);
        let mut predicted = vec![RowPrediction::default(); rows.row.len()];
        predicted.par_chunks_mut(TILE).enumerate().for_each_init(
            || Work::new(posterior.len()),
            |work, (t, tile)| {
                if control.is_cancelled() {
                    return;
                }
                for (k, row) in tile.iter_mut().enumerate() {
                    let i = t * TILE + k;
                    *row = posterior.predict(&rows, i, self.seed, options.interval, work);
                }
                control.advance(tile.len() as u64);
            },
        );
        let levels = self.response.levels();
        let chances: Vec<Vec<f64>> = match levels.len() {
            0 => Vec::new(),
            count => (0..rows.row.len())
                .into_par_iter()
                .map_init(
                    || Work::new(posterior.len()),
                    |work, i| {
                        if control.is_cancelled() {
                            return Vec::new();
                        }
                        posterior.chances(&rows, i, self.seed, count, work)
                    },
                )
                .collect(),
        };
        if control.is_cancelled() {
            return Err(PredictError::Cancelled);
        }
        Ok(Predictions {
            quantity: quantity(&self.response),
            response: self.response.clone(),
            whole: posterior.is_whole,
            options,
            draws: (posterior.len(), all),
            rows_total: rows.rows_total,
            dropped: rows.dropped.clone(),
            unknown_outcomes: rows.unknown_outcomes.clone(),
            has_groups: self.has_groups,
            new_groups: rows.new_groups(),
            rows: predicted,
            chances,
        })
    }

    /// At most `most` draws, evenly spaced.
    fn posterior(
        &self,
        draws: &[&DrawList],
        weights: &[Vec<f64>],
        most: usize,
        control: &Control,
    ) -> Result<Posterior, PredictError> {
        let places: Vec<(usize, usize)> = (0..draws.len())
            .flat_map(|chain| (0..draws[chain].len()).map(move |i| (chain, i)))
            .collect();
        let used = most.min(places.len());
        let places: Vec<(usize, usize)> =
            (0..used).map(|k| places[k * places.len() / used]).collect();
        self.posterior_of(draws, weights, &places, control)
    }

    /// Which reported quantities the columns of `draws` are: all, or those that the recipe keeps.
    fn columns_of(&self, draws: &[&DrawList]) -> Result<Keep, PredictError> {
        let params = self.model.params();
        let are = |keep: &Keep| {
            let width = keep.kept().len();
            draws.iter().all(|chain| chain.width() == width)
        };
        let all = Keep::all(params.len());
        let of_recipe = || Keep::of(&self.recipe.run.keep, params).ok().filter(are);
        let found = if are(&all) { Some(all) } else { of_recipe() };
        found.ok_or_else(|| {
            let text = "The draws are not those of the recipe's model: their variables differ";
            PredictError::Refused(text.to_owned())
        })
    }

    /// The model of `recipe`, which stands in `folder`, of whose reported quantities `variables` there are draws.
    ///
    /// # Errors
    /// As [`Self::open`]; one of the variables is not the model's.
    pub fn of_draws(
        recipe: &Recipe,
        folder: &Path,
        variables: &[ParamId],
        control: &Control,
    ) -> Result<Self, PredictError> {
        let fitted = Self::open(recipe, folder, control)?;
        let own: HashSet<&ParamId> = fitted.model.params().iter().map(|it| &it.name).collect();
        match variables.iter().find(|name| !own.contains(name)) {
            None => Ok(fitted),
            Some(name) => Err(PredictError::Refused(format!(
                "The run has draws of `{name}`, which the model of its recipe does not have: the recipe was changed after the run; put it \
                 back as it was, or fit the changed one"
            ))),
        }
    }

    /// Whether what is predicted does not depend on the quantities that are not kept: a point of the model is the same whatever they
    /// are, or they are no parameters. `theta` has the others at a draw.
    fn reads_only(&self, keep: &Keep, theta: &mut [f64]) -> bool {
        if let Some(model) = self.model.predicts() {
            let mut at = |value: f64| {
                keep.unkept().iter().for_each(|&j| theta[j] = value);
                model.point(theta)
            };
            let [one, other] = UNKEPT.map(&mut at);
            return one.is_some() && one == other;
        }
        let parameters = self.model.observation().map_or(0, |it| it.num_parameters());
        keep.unkept().iter().all(|&j| j >= parameters)
    }

    /// The draws at `places`: chain and draw of each.
    pub(super) fn posterior_of(
        &self,
        draws: &[&DrawList],
        weights: &[Vec<f64>],
        places: &[(usize, usize)],
        control: &Control,
    ) -> Result<Posterior, PredictError> {
        let refuse = |text: &str| Err(PredictError::Refused(text.to_owned()));
        let width = self.model.params().len();
        let keep = self.columns_of(draws)?;
        let used = places.len();
        if used == 0 {
            return refuse("There are no draws to predict from");
        }
        let mut theta = vec![UNKEPT[0]; width];
        if !keep.is_all() {
            let (chain, i) = places[0];
            for (column, &j) in keep.kept().iter().enumerate() {
                theta[j] = draws[chain].value(i, column);
            }
            // A draw that is not finite is refused below, with its reason.
            let is_finite = theta.iter().all(|value| value.is_finite());
            if is_finite && !self.reads_only(&keep, &mut theta) {
                return refuse(
                    &NotKept("Predictions, checks, scores and effects need").to_string(),
                );
            }
        }
        let mut rule = match (self.model.predicts(), self.model.observation()) {
            (Some(model), _) => Gathered::Points(model, Vec::with_capacity(used)),
            (None, Some(_)) => Gathered::Numbers(vec![Vec::with_capacity(used); width]),
            (None, None) => return refuse("This model predicts nothing"),
        };
        let mut thinned = Vec::with_capacity(if weights.is_empty() { 0 } else { used });
        let mut lengths = vec![0; draws.len()];
        for &(chain, i) in places {
            if control.is_cancelled() {
                return Err(PredictError::Cancelled);
            }
            lengths[chain] += 1;
            for (column, &j) in keep.kept().iter().enumerate() {
                theta[j] = draws[chain].value(i, column);
            }
            match &mut rule {
                Gathered::Points(model, points) => match model.point(&theta) {
                    Some(point) => points.push(point),
                    None => return refuse("A draw is no draw of the recipe's model"),
                },
                Gathered::Numbers(numbers) => {
                    let each = numbers.iter_mut().zip(&theta);
                    each.for_each(|(numbers, value)| numbers.push(*value));
                }
            }
            if let Some(weights) = weights.get(chain) {
                thinned.push(weights.get(i).copied().unwrap_or(f64::NAN));
            }
        }
        let weights = match weights::relative(&[thinned], if weights.is_empty() { 0 } else { used })
        {
            None => None,
            Some(Ok(weights)) => Some(weights),
            Some(Err(_)) => {
                return refuse(
                    "The sum of the draws' weights is not positive beyond doubt, so no average over them can be trusted; \
                     draw more",
                );
            }
        };
        let (rule, is_whole) = match (rule, self.model.observation()) {
            (Gathered::Numbers(numbers), Some(model)) => {
                (Rule::Read(model.prepare(numbers)), model.is_whole())
            }
            (Gathered::Points(_, points), _) => {
                let linear = Linear::of(&points);
                let is_whole = linear.is_whole();
                (Rule::Linear(linear), is_whole)
            }
            (Gathered::Numbers(_), None) => return refuse("This model predicts nothing"),
        };
        Ok(Posterior {
            rule,
            is_whole,
            len: used,
            chains: lengths,
            weights,
            function: self.response.kind.function(),
        })
    }
}

/// Values in the place of quantities whose draws are not kept, which nothing may depend on: ones that scales, shares and correlations can
/// have.
const UNKEPT: [f64; 2] = [0.3, 0.7];

/// Draws as they are gathered: on the scale of the data, or of each reported quantity.
enum Gathered<'a> {
    Points(&'a dyn Predicts, Vec<Point>),
    Numbers(Vec<Vec<f64>>),
}

/// Reads new rows: columns of text that were categories in the fit are read as categories, and what the user said about a column
/// of the fit holds for that of the same name. Texts such as `NA` among what the fit has as numbers mean "missing", whether or not
/// its own table had any.
pub(super) fn read_rows(
    path: &Path,
    coding: &Coding,
    import: &ImportOptions,
    control: &Control,
) -> Result<Table, PredictError> {
    let mut options = ImportOptions {
        missing: import.missing.clone(),
        max_gigabytes: import.max_gigabytes,
        ..ImportOptions::default()
    };
    let read = load(path, &options, control)?.table;
    if !read.is_text() {
        return Ok(read);
    }
    let is_number = |name: &str| {
        let column = read.column(name);
        column.map(|column| column.kind == ColumnKind::Number)
    };
    let as_first_read = options.clone();
    options.column_types = import.column_types.clone();
    for name in coding.categorical() {
        if is_number(name) == Some(true) {
            let name = name.to_owned();
            options
                .column_types
                .entry(name)
                .or_insert(ColumnKindOverride::Category);
        }
    }
    options
        .column_types
        .retain(|name, _| read.column(name).is_some());
    if coding.numeric().any(|name| is_number(name) == Some(false)) {
        options.add_usual_missing(|text| coding.is_level(text));
    }
    if options == as_first_read {
        return Ok(read);
    }
    Ok(load(path, &options, control)?.table)
}

/// What is expected, in words.
pub(super) fn quantity(response: &ResponseInfo) -> String {
    let name = &response.name;
    match &response.kind {
        ResponseKind::Binary { success, .. } => format!("probability that {name} is {success}"),
        ResponseKind::Successes => format!("share of successes {name}"),
        ResponseKind::Ordered { levels } => match levels.as_slice() {
            // Ratings from 1 count themselves.
            [first, ..] if first == "1" => format!("mean level of {name}"),
            [first, .., last] => {
                format!(
                    "mean level of {name} ({first} is 1, {last} is {})",
                    levels.len()
                )
            }
            _ => format!("mean level of {name}"),
        },
        ResponseKind::Unordered { .. } => format!("probability of the most probable {name}"),
        ResponseKind::Number {
            function: Some(_), ..
        } => format!("median of {}", response.column()),
        _ => format!("mean of {name}"),
    }
}

/// What to know about predictions of a response that is a function of a column.
pub(super) fn taken_back(response: &ResponseInfo) -> Option<String> {
    response.kind.function()?;
    Some(format!(
        "The model explains {}; predictions are taken back to {}, where they are medians instead of means",
        response.name,
        response.column()
    ))
}

/// The place of the largest chance, from 1, of several the lowest; NaN of none.
fn most_probable(chances: &[f64]) -> f64 {
    let mut best = (f64::NAN, f64::NEG_INFINITY);
    for (place, &chance) in (1_u32..).zip(chances) {
        if chance > best.1 {
            best = (f64::from(place), chance);
        }
    }
    best.0
}
