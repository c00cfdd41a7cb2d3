//! Likelihood fits of mixed models: from a recipe's data and formula to estimates, without priors, chains or draws.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::job::{self, JobError};
use super::recipe::Recipe;
use ergodic_base::reporter::{Severity, Warning};
use ergodic_core::design::checks;
use ergodic_core::design::coding::Coding;
use ergodic_core::design::matrix::Design;
use ergodic_core::design::response::{ResponseInfo, ResponseUse};
use ergodic_core::estimators::mixed::fit::METHODS;
use ergodic_core::estimators::mixed::{
    Criterion, Family, Method, MixedControl, MixedData, MixedError, MixedFit, fit_gaussian,
    fit_generalised,
};
use ergodic_data::load::{LoadControl, Loaded};

/// Method that is left to the program.
pub const AUTO: &str = "auto";
/// Families, with the words for them.
pub const FAMILIES: &[(&str, &str)] = &[
    ("gaussian", "numbers with normal residuals"),
    ("bernoulli", "yes or no, or successes among trials"),
    ("binomial", "the same"),
    ("poisson", "counts"),
    ("negative_binomial", "counts that vary more than Poisson's"),
];
/// Quadrature nodes where none are asked for; lme4's users take 9 to 25.
pub const NODES: usize = 15;

/// What to fit besides data and formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LikelihoodOptions {
    /// One of [`FAMILIES`].
    pub family: String,
    /// One of [`METHODS`], or [`AUTO`].
    pub method: String,
    /// Restricted maximum likelihood instead of maximum likelihood; Gaussian responses only.
    pub reml: bool,
    /// Quadrature nodes.
    pub nodes: usize,
}

impl Default for LikelihoodOptions {
    /// Gaussian by REML, as lme4.
    fn default() -> Self {
        Self {
            family: FAMILIES[0].0.to_owned(),
            method: AUTO.to_owned(),
            reml: true,
            nodes: NODES,
        }
    }
}

impl LikelihoodOptions {
    /// The options for a recipe: the family of its template, everything else at its default.
    pub fn of(recipe: &Recipe) -> Self {
        let mut options = Self::default();
        let template = recipe.model.template.as_str();
        let family = match template {
            "logistic" | "hierarchical" => "bernoulli",
            _ => recipe.model.settings.text("family").unwrap_or(template),
        };
        if FAMILIES.iter().any(|(id, _)| *id == family) {
            family.clone_into(&mut options.family);
        }
        options
    }
}

/// Watches and cancels a likelihood fit.
#[derive(Debug, Default)]
pub struct LikelihoodControl {
    /// Of reading the file.
    pub load: LoadControl,
    /// Of the fit.
    pub fit: MixedControl,
}

impl LikelihoodControl {
    /// Ends the work soon.
    pub fn cancel(&self) {
        self.load.cancel();
        self.fit.cancel.store(true, Ordering::Relaxed);
    }

    /// Evaluations of the likelihood so far.
    pub fn evaluations(&self) -> u64 {
        self.fit.evaluations.load(Ordering::Relaxed)
    }
}

/// A finished likelihood fit.
#[derive(Clone, Debug)]
pub struct LikelihoodFit {
    /// The recipe whose data and formula were fitted.
    pub recipe: Recipe,
    /// What was asked for.
    pub options: LikelihoodOptions,
    /// Estimates.
    pub fit: MixedFit,
    /// Data row of each row that was used, 0-based.
    pub row: Vec<u32>,
    /// How rows were coded, to code new ones.
    pub coding: Coding,
    /// The response.
    pub response: ResponseInfo,
    /// Remarks on data and fit.
    pub warnings: Vec<Warning>,
    /// Seconds of the fit, without reading.
    pub seconds: f64,
}

/// Fits the model of `recipe`, which stands in `folder`. `loaded` are its data if they are already in memory.
///
/// # Errors
/// One sentence for whatever makes the request impossible.
pub fn fit(
    recipe: &Recipe,
    folder: &Path,
    loaded: Option<&Loaded>,
    options: &LikelihoodOptions,
    control: &LikelihoodControl,
) -> Result<LikelihoodFit, LikelihoodError> {
    let response_use = response_use(&options.family)?;
    let method = method(options)?;
    let read;
    let loaded = match loaded {
        Some(loaded) => loaded,
        None => {
            read = job::load_data(recipe, folder, &control.load)?;
            &read
        }
    };
    let mut frame = job::model_frame(recipe, &loaded.table)?;
    frame.response_use = response_use;
    let (design, reporter) = Design::build(&loaded.table, &frame).map_err(JobError::from)?;
    let mut warnings: Vec<Warning> = loaded.reporter.warnings.clone();
    warnings.extend(reporter.warnings);
    let about_data = checks::check(&design).warnings;
    warnings.extend(
        about_data
            .into_iter()
            .filter(|w| w.severity != Severity::Info),
    );
    let coding = Coding::of(&loaded.table, &frame, &design).map_err(JobError::from)?;
    let row = design.row.clone();
    let response = design.response.clone();
    warnings.extend(about_density(&design));
    let family = family(&options.family, design.trials.is_some());
    let data = MixedData::from(design);
    let start = Instant::now();
    let fit = match family {
        None => {
            let criterion = if options.reml {
                Criterion::Reml
            } else {
                Criterion::Ml
            };
            fit_gaussian(&data, method, criterion, &control.fit)?
        }
        Some(family) => fit_generalised(&data, family, method, options.nodes, &control.fit)?,
    };
    warnings.extend(fit.warnings.iter().cloned());
    Ok(LikelihoodFit {
        recipe: recipe.clone(),
        options: options.clone(),
        fit,
        row,
        coding,
        response,
        warnings,
        seconds: start.elapsed().as_secs_f64(),
    })
}

/// What to add before likelihoods of different functions of one column are compared.
fn about_density(design: &Design) -> Option<Warning> {
    let response = &design.response;
    let function = response.kind.function()?;
    let slopes = design
        .y
        .iter()
        .map(|&y| function.slope_at(function.inverse(y)).ln());
    let sum: f64 = slopes.sum();
    let column = response.column();
    let add = if sum.is_finite() {
        format!(
            "add {sum:.3} to the log likelihood, the sum over rows of the logarithm of d{}/d{column}",
            response.name
        )
    } else {
        format!("a model of {column} has no such density here")
    };
    Some(Warning::new(
        Severity::Info,
        "density-of-function",
        format!(
            "Log likelihood, AIC and BIC are those of {}: to compare with models of {column} itself or of another function of it, \
             {add}",
            response.name
        ),
    ))
}

/// Why a likelihood fit could not be made.
#[derive(Debug, thiserror::Error)]
pub enum LikelihoodError {
    /// Data, recipe or formula.
    #[error(transparent)]
    Job(#[from] JobError),
    /// The fit.
    #[error(transparent)]
    Fit(#[from] MixedError),
    /// An option.
    #[error("{0}")]
    Option(String),
}

fn response_use(family: &str) -> Result<ResponseUse, LikelihoodError> {
    match family {
        "gaussian" => Ok(ResponseUse::Number),
        "bernoulli" | "binomial" => Ok(ResponseUse::Outcome),
        "poisson" | "negative_binomial" => Ok(ResponseUse::Count),
        _ => {
            let known: Vec<&str> = FAMILIES.iter().map(|(id, _)| *id).collect();
            Err(LikelihoodError::Option(format!(
                "There is no family `{family}`; there are {}",
                known.join(", ")
            )))
        }
    }
}

/// The family that is not Gaussian; yes-no responses and successes among trials are told apart by the data.
pub(super) fn family(id: &str, has_trials: bool) -> Option<Family> {
    match id {
        "bernoulli" | "binomial" if has_trials => Some(Family::Binomial),
        "bernoulli" | "binomial" => Some(Family::Bernoulli),
        "poisson" => Some(Family::Poisson),
        "negative_binomial" => Some(Family::NegativeBinomial { log_shape: 0.0 }),
        _ => None,
    }
}

fn method(options: &LikelihoodOptions) -> Result<Method, LikelihoodError> {
    if options.method == AUTO {
        return Ok(if options.family == "gaussian" {
            Method::Profile
        } else {
            Method::Laplace
        });
    }
    Method::find(&options.method).ok_or_else(|| {
        let known: Vec<&str> = METHODS.iter().map(|spec| spec.id).collect();
        LikelihoodError::Option(format!(
            "There is no method `{}`; there are auto, {}",
            options.method,
            known.join(", ")
        ))
    })
}
