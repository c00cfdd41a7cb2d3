//! What some pictures show besides the draws of a run: found with its model and data, or another run.

use super::ReportError;
use ergodic_analysis::JobError;
use ergodic_analysis::check::{Check, CheckError, Resolution};
use ergodic_analysis::effects::{Conditional, EffectsError, EffectsOptions, MOST_CURVES};
use ergodic_analysis::likelihood::{LikelihoodFit, fit_again};
use ergodic_analysis::loo::{CrossValidation, LooError, cross_validate};
use ergodic_analysis::predict::scores::{PredictionScores, ScoresError};
use ergodic_analysis::predict::{Fitted, PredictError, PredictOptions, Predictions};
use ergodic_analysis::prior_predictive::PriorPredictive;
use ergodic_base::Control;
use ergodic_base::draws::DrawList;
use ergodic_base::names::nearest;
use ergodic_core::engine::gradients::is_gradient;
use ergodic_core::engine::trajectories::{FromChain, TrajectoryError};
use ergodic_export::{Results, TrajectoriesError, scores};

/// What a figure is drawn of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Draws, and what was found of them when the run ended.
    Draws,
    /// What the sampler reports with each draw.
    Info,
    /// Predictive checks.
    Check,
    /// Scores of rows that were held out.
    Scores,
    /// How the mode was found.
    Search,
    /// Trajectories from where the chains ended.
    Trajectories,
    /// The expected outcome along each predictor.
    Curves,
    /// Leave-one-out cross-validation.
    Loo,
    /// What the priors expect.
    Prior,
    /// The model fitted again by likelihood.
    Likelihood,
    /// Predictions of the rows of the fit.
    Predictions,
}

/// Another run beside the one that a picture is of.
#[derive(Clone, Debug)]
pub struct OtherRun<'a> {
    /// What the run and the other one are called.
    pub names: [String; 2],
    /// The other one.
    pub results: &'a Results,
}

/// Reads the model of a run with its data.
pub type ReadModel<'a> = &'a (dyn Fn(&Control) -> Result<Fitted, PredictError> + 'a);

/// Follows trajectories from where the chains of a run ended.
pub type FollowChains<'a> =
    &'a (dyn Fn(&Control) -> Result<Vec<FromChain>, TrajectoriesError> + 'a);

/// Ways to the model of a run, none for draws of other origin, how checks are asked for, and columns of the sampler.
#[derive(Clone, Copy, Default)]
pub struct Access<'a> {
    /// To the model with its data.
    pub model: Option<ReadModel<'a>>,
    /// To trajectories.
    pub trajectories: Option<FollowChains<'a>>,
    /// Bins that checks divide numbers in; as many as suit the rows where `None`.
    pub bins: Option<usize>,
    /// Columns of the sampler; all but components of gradients where there are none.
    pub columns: &'a [String],
}

/// Most panels of columns of the sampler where none is named.
const MOST_COLUMNS: usize = 24;

/// Positions of the information columns that a figure of them shows.
fn info(results: &Results, wanted: &[String]) -> Result<Vec<usize>, ReportError> {
    let names = &results.info_names;
    if wanted.is_empty() {
        let own = (0..names.len()).filter(|&column| !is_gradient(&names[column]));
        return Ok(own.take(MOST_COLUMNS).collect());
    }
    let place = |name: &String| {
        let found = names.iter().position(|it| it == name);
        found.ok_or_else(|| ReportError::UnknownColumn {
            name: name.clone(),
            nearest: nearest(name, names.iter().map(String::as_str)).map(str::to_owned),
            known: names
                .iter()
                .filter(|it| !is_gradient(it))
                .cloned()
                .collect::<Vec<_>>()
                .join(", "),
        })
    };
    wanted.iter().map(place).collect()
}

/// What some figures are drawn of besides draws.
#[derive(Debug, Default)]
pub struct FigureInputs<'a> {
    /// Predictive checks.
    pub check: Option<Check>,
    /// Scores of rows that were held out.
    pub scores: Option<PredictionScores>,
    /// Trajectories by chain.
    pub trajectories: Option<Vec<FromChain>>,
    /// Positions of columns of the sampler.
    pub info: Vec<usize>,
    /// The expected outcome along each predictor.
    pub curves: Vec<Conditional>,
    /// How many predictors there are: of very many the first have curves.
    pub predictors: usize,
    /// Leave-one-out cross-validation.
    pub loo: Option<CrossValidation>,
    /// What the priors expect.
    pub prior: Option<PriorPredictive>,
    /// The model fitted by likelihood.
    pub likelihood: Option<LikelihoodFit>,
    /// Predictions of the rows of the fit.
    pub predictions: Option<Predictions>,
    /// Another run.
    pub other: Option<OtherRun<'a>>,
}

impl<'a> FigureInputs<'a> {
    /// What a figure called `figure` needs, from `results` and the model that `access` leads to, which draws of other origin have not.
    ///
    /// # Errors
    /// There is no model, the data cannot be read, the sampler follows no trajectories or has no such column, or somebody cancelled.
    pub fn find(
        (figure, needs): (&'static str, Needs),
        (results, other): (&Results, Option<OtherRun<'a>>),
        access: Access<'_>,
        control: &Control,
    ) -> Result<Self, ReportError> {
        let mut inputs = Self {
            other,
            ..Self::default()
        };
        if matches!(needs, Needs::Draws | Needs::Search) {
            return Ok(inputs);
        }
        if needs == Needs::Info {
            inputs.info = info(results, access.columns)?;
            return Ok(inputs);
        }
        let unknown = || ReportError::Unsuitable {
            figure,
            why: "it needs the model and its data, which draws of other origin have not".to_owned(),
        };
        if needs == Needs::Trajectories {
            let follow = access.trajectories.ok_or_else(unknown)?;
            let found = follow(control).map_err(|error| match error {
                TrajectoriesError::Trajectory(why @ TrajectoryError::Sampler(_)) => {
                    ReportError::Unsuitable {
                        figure,
                        why: why.to_string(),
                    }
                }
                error if error.is_cancelled() => ReportError::Cancelled,
                error => ReportError::Trajectories(Box::new(error)),
            });
            inputs.trajectories = Some(found?);
            return Ok(inputs);
        }
        let read = access.model.ok_or_else(unknown)?;
        let fitted = read(control).map_err(ScoresError::from)?;
        let (draws, weights) = results.usable();
        match needs {
            Needs::Draws | Needs::Search | Needs::Info | Needs::Trajectories => {}
            Needs::Check => {
                let resolution = Resolution {
                    bins: access.bins,
                    ..Resolution::default()
                };
                inputs.check = Some(fitted.check(&draws, &weights, resolution, control)?);
            }
            Needs::Scores => {
                let mut found = fitted.scores(&draws, &weights, None, usize::MAX, control)?;
                found.time(&scores::times(results));
                inputs.scores = Some(found);
            }
            Needs::Curves => {
                let draws = (draws.as_slice(), weights.as_slice());
                let found = Self::of_curves(&fitted, draws, MOST_CURVES, control)?;
                (inputs.curves, inputs.predictors) = (found.curves, found.predictors);
            }
            Needs::Loo => {
                let draws = (draws.as_slice(), weights.as_slice());
                let manifest = results.manifest.as_ref();
                let approximation = manifest.and_then(|it| it.approximation.clone());
                let found = cross_validate(&fitted, draws, usize::MAX, approximation, control)?;
                inputs.loo = Some(match manifest {
                    Some(it) => found.of_run(it.verdict, &it.verdict_sentence),
                    None => found,
                });
            }
            Needs::Predictions => {
                let options = PredictOptions::default();
                let found = fitted.predict(&draws, &weights, None, options, control);
                inputs.predictions = Some(found.map_err(ScoresError::from)?);
            }
            Needs::Likelihood => {
                let found = fit_again(&fitted, control);
                control.check(ReportError::Cancelled)?;
                inputs.likelihood = Some(found.map_err(|error| ReportError::Unsuitable {
                    figure,
                    why: error.to_string(),
                })?);
            }
            Needs::Prior => inputs.prior = Some(fitted.prior_predictive(control)?),
        }
        Ok(inputs)
    }

    /// The expected outcome along the first `most` predictors.
    ///
    /// # Errors
    /// The model explains no outcome, or somebody cancelled.
    pub(crate) fn of_curves(
        fitted: &Fitted,
        draws: (&[&DrawList], &[Vec<f64>]),
        most: usize,
        control: &Control,
    ) -> Result<Self, EffectsError> {
        let predictors = fitted.predictors();
        let first = &predictors[..predictors.len().min(most)];
        Ok(Self {
            curves: fitted.along_each(draws, first, &EffectsOptions::default(), control)?,
            predictors: predictors.len(),
            ..Self::default()
        })
    }
}

/// Turns errors of what figures are drawn of into those of reports.
macro_rules! report_errors {
    ($($error:ident => $variant:ident),+ $(,)?) => {$(
        impl From<$error> for ReportError {
            fn from(error: $error) -> Self {
                match error {
                    $error::Cancelled => Self::Cancelled,
                    other => Self::$variant(Box::new(other)),
                }
            }
        }
    )+};
}

report_errors! {
    EffectsError => Effects,
    LooError => Loo,
    JobError => Prior,
    CheckError => Check,
    ScoresError => Scores,
}
