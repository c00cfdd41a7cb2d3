//! Likelihood fits of regressions, plain or with effects of groups: from a recipe's data and formula to estimates, without priors, chains or draws.

use crate::templates;
use std::path::Path;
use std::time::Instant;

use super::job::{self, JobError};
use super::predict::Fitted;
use super::recipe::Recipe;
use super::remark::Remark;
use ergodic_base::{Control, Severity, Warning};
use ergodic_core::design::{
    self, Coding, Design, DesignError, OutcomeLevels, ResponseInfo, ResponseUse, checks,
};
use ergodic_core::estimators::mixed::{
    Criterion, Fineness, METHODS, Method, MixedData, MixedError, MixedFit, fit_gaussian,
    fit_generalised,
};
use ergodic_core::families::{Family, FamilyError};
use ergodic_core::formula::Formula;
use ergodic_core::models::names;
use ergodic_data::{Loaded, Table};

/// Method that is left to the program.
pub const AUTO: &str = "auto";

/// What to fit besides data and formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LikelihoodOptions {
    /// How the response is distributed.
    pub family: Family,
    /// One of [`METHODS`], or [`AUTO`].
    pub method: String,
    /// Restricted maximum likelihood instead of maximum likelihood; Gaussian responses only.
    pub reml: bool,
    /// Nodes and draws of integrals.
    pub fineness: Fineness,
}

impl Default for LikelihoodOptions {
    /// Gaussian by REML, as lme4.
    fn default() -> Self {
        Self {
            family: Family::Gaussian,
            method: AUTO.to_owned(),
            reml: true,
            fineness: Fineness::default(),
        }
    }
}

/// The family of a recipe's template, if it has one.
fn family_of(recipe: &Recipe) -> Option<Family> {
    let entry = templates::find(&recipe.model.template).ok()?;
    (entry.family)(&recipe.model.settings)
}

/// Whether the model of a recipe has a likelihood fit: one of a response family, with a formula that can be read.
pub fn has_fit(recipe: &Recipe) -> bool {
    family_of(recipe).is_some() && recipe.model.formula.parse::<Formula>().is_ok()
}

impl LikelihoodOptions {
    /// The options for a recipe: the family of its template, everything else at its default.
    pub fn of(recipe: &Recipe) -> Self {
        let mut options = Self::default();
        if let Some(family) = family_of(recipe) {
            options.family = family;
        }
        options
    }
}

/// A finished likelihood fit.
#[derive(Clone, Debug)]
pub struct LikelihoodFit {
    /// The recipe whose data and formula were fitted.
    pub recipe: Recipe,
    /// Options that were asked for.
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
    control: &Control,
) -> Result<LikelihoodFit, LikelihoodError> {
    // An unknown name needs no data to be refused.
    method(options, options.family)?;
    let read;
    let loaded = match loaded {
        Some(loaded) => loaded,
        None => {
            read = job::load_data(recipe, folder, control)?;
            &read
        }
    };
    let about = |columns: &[&str]| loaded.warnings_about(columns);
    fit_table(recipe, &loaded.table, about, options, control)
}

/// Fits the model of a run again, by likelihood, with the default options.
///
/// # Errors
/// The model has no likelihood fit, or it failed.
pub fn fit_again(fitted: &Fitted, control: &Control) -> Result<LikelihoodFit, LikelihoodError> {
    let recipe = &fitted.recipe;
    if !has_fit(recipe) {
        return Err(LikelihoodError::Option(format!(
            "Models of template `{}` have no likelihood fit",
            recipe.model.template
        )));
    }
    let options = LikelihoodOptions::of(recipe);
    fit_table(recipe, &fitted.table, |_| Vec::new(), &options, control)
}

/// Fits the model of `recipe` to a table; `about` says what there is to remark on some of its columns.
fn fit_table(
    recipe: &Recipe,
    table: &Table,
    about: impl FnOnce(&[&str]) -> Vec<Warning>,
    options: &LikelihoodOptions,
    control: &Control,
) -> Result<LikelihoodFit, LikelihoodError> {
    let mut frame = job::model_frame(recipe, table)?;
    let asked = of_formula(options.family, &frame.formula);
    frame.response_use = asked.definition().response;
    let built = Design::build(table, &frame);
    let (design, reporter) = built.map_err(|error| refused(error, asked))?;
    let mut warnings = about(&frame.formula.columns());
    warnings.extend(reporter.warnings);
    let about_data = checks::check(&design).warnings;
    warnings.extend(
        about_data
            .into_iter()
            .filter(|w| w.severity != Severity::Info)
            .map(without_prior),
    );
    let coding = Coding::of(table, &frame, &design).map_err(JobError::from)?;
    let row = design.row.clone();
    let response = design.response.clone();
    warnings.extend(about_density(&design));
    let family = told_apart(asked, &design);
    if design.se.is_some() && family != Family::GaussianSe {
        return Err(LikelihoodError::Option(format!(
            "The family {} takes no standard errors of `{}`; leave `se()` out, or choose the family {}",
            family.id(),
            design.response.name,
            Family::GaussianSe.id()
        )));
    }
    if design.censoring.is_some() && !family.takes_censoring() {
        return Err(FamilyError::Censored {
            response: design.response.name,
            family: family.id(),
        }
        .into());
    }
    (family.definition().check)(&design)?;
    let method = method(options, family)?;
    let data = MixedData::from(design);
    let start = Instant::now();
    let fit = match family {
        Family::Gaussian => {
            let criterion = if options.reml {
                Criterion::Reml
            } else {
                Criterion::Ml
            };
            fit_gaussian(&data, method, criterion, control)?
        }
        family => fit_generalised(&data, family, method, options.fineness, control)?,
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

/// The family of the outcome where `family` is the usual one: levels with an order are what the formula says.
fn of_formula(family: Family, formula: &Formula) -> Family {
    let is_ordered = formula.response.as_ref().is_some_and(|it| it.ordered);
    match family {
        Family::Gaussian if is_ordered => Family::Ordered,
        other => other,
    }
}

/// Why there is no design: where an outcome has levels, with families instead of templates.
fn refused(error: DesignError, family: Family) -> LikelihoodError {
    match error {
        DesignError::Levels(outcome) => LikelihoodError::Levels { outcome, family },
        DesignError::Ordered { name } => LikelihoodError::Ordered { name, family },
        other => JobError::from(other).into(),
    }
}

/// A remark on data, with advice for a fit that has no priors.
fn without_prior(mut warning: Warning) -> Warning {
    let separates = matches!(
        warning.remark(),
        Some(
            design::Remark::ValueSeparates { .. }
                | design::Remark::CutSeparates { .. }
                | design::Remark::LevelsSeparate { .. }
                | design::Remark::TogetherSeparate { .. }
        )
    );
    if separates {
        warning.advice = Some(
            "The likelihood has no maximum in the coefficients that are named, so their estimates and standard errors mean nothing; join \
             rare levels, leave these terms out, or fit the model with priors"
                .to_owned(),
        );
    }
    warning
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
    Some(Warning::from(Remark::DensityOfFunction {
        response: response.name.clone(),
        column: column.to_owned(),
        added: Some(sum).filter(|sum| sum.is_finite()),
    }))
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
    /// A response that the family cannot have.
    #[error(transparent)]
    Family(#[from] FamilyError),
    /// An outcome of levels, which the family does not explain.
    #[error(
        "{} but the family {} explains {}; {}choose {}",
        outcome.found(),
        family.id(),
        outcome.explained(),
        for_counts(outcome),
        for_levels(outcome)
    )]
    Levels {
        /// The outcome.
        outcome: OutcomeLevels,
        /// The family.
        family: Family,
    },
    /// Levels whose order the formula speaks of, which the family does not explain.
    #[error(
        "The outcome `ordered({name})` has levels with an order, which the family {} does not explain; choose the family {}, or write \
         `{name}` alone",
        family.id(),
        Family::Ordered.id()
    )]
    Ordered {
        /// Column of the outcome.
        name: String,
        /// The family.
        family: Family,
    },
    /// An option.
    #[error("{0}")]
    Option(String),
}

/// What levels lack that are successes among trials: none unless they are whole numbers under a family of two values.
fn for_counts(outcome: &OutcomeLevels) -> String {
    let is_count = |level: &String| level.parse::<u64>().is_ok();
    match outcome.wanted {
        ResponseUse::Number | ResponseUse::Count => String::new(),
        _ if !outcome.levels.iter().all(is_count) => String::new(),
        _ => format!(
            "if it counts successes, name the number of trials as `{name} | trials(n)` or the failures as `cbind({name}, failures)`, \
             otherwise ",
            name = outcome.name
        ),
    }
}

/// What fits levels by likelihood, and what samples those that nothing fits.
fn for_levels(outcome: &OutcomeLevels) -> String {
    if outcome.levels.len() <= 2 {
        return format!(
            "the family {}, for which model.success names the value that counts",
            Family::Bernoulli.id()
        );
    }
    let ordered = format!(
        "the family {}, with model.levels from lowest to highest; levels without an order have no likelihood fit",
        Family::Ordered.id()
    );
    match outcome.has_groups {
        true => ordered,
        false => format!(
            "{ordered}, but a posterior by template `{}`",
            names::MULTINOMIAL
        ),
    }
}

/// The family with yes-no responses and successes among trials, numbers and those with known errors told apart by the data.
pub(super) fn told_apart(family: Family, design: &Design) -> Family {
    match family {
        Family::Bernoulli | Family::Binomial if design.trials.is_some() => Family::Binomial,
        Family::Bernoulli | Family::Binomial => Family::Bernoulli,
        Family::Gaussian if design.se.is_some() => Family::GaussianSe,
        other => other,
    }
}

fn method(options: &LikelihoodOptions, family: Family) -> Result<Method, LikelihoodError> {
    if options.method == AUTO {
        return Ok(if family == Family::Gaussian {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// With the families that do, and words that `estimate` takes.
    #[test]
    fn levels_that_a_family_does_not_explain_are_refused_with_families_that_do() {
        let refused = |formula: &str, family: Family| {
            let recipe = Recipe::new("sample:churn", names::LINEAR, formula);
            let options = LikelihoodOptions {
                family,
                reml: false,
                ..LikelihoodOptions::default()
            };
            let done = fit(&recipe, Path::new(""), None, &options, &Control::default());
            done.unwrap_err().to_string()
        };
        assert_eq!(
            refused("churned ~ age", Family::Gaussian),
            "The outcome `churned` has 2 different values (`no`, `yes`) but the family gaussian explains numbers; choose the family \
             bernoulli, for which model.success names the value that counts"
        );
        let ordered = "choose the family ordered, with model.levels from lowest to highest; levels without an order have no likelihood fit";
        for (family, explained) in [
            (Family::Gaussian, "numbers"),
            (Family::Poisson, "counts"),
            (Family::Bernoulli, "two values"),
        ] {
            assert_eq!(
                refused("plan ~ age", family),
                format!(
                    "The outcome `plan` has 3 different values (`basic`, `plus`, `pro`) but the family {} explains {explained}; \
                     {ordered}, but a posterior by template `multinomial`",
                    family.id()
                )
            );
        }
        let grouped = refused("plan ~ age + (1 | churned)", Family::Gaussian);
        assert!(grouped.ends_with(ordered), "{grouped}");
        // What looks like numbers with a function, or has very many values, is text by mistake.
        let text = refused("log(plan) ~ age", Family::Gaussian);
        assert!(text.contains("holds text; give the column"), "{text}");
    }

    /// `ordered(y)` says the family, as `se(s)` does; another one that is asked for is refused with a word that `estimate` takes.
    #[test]
    fn levels_that_the_formula_orders_are_of_the_family_ordered() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        let rows: String = (0..40)
            .map(|i| format!("{},{}\n", i * 3 % 10, 1 + i * 7 % 4))
            .collect();
        std::fs::write(&path, format!("x,y\n{rows}")).unwrap();
        let recipe = Recipe::new(path.to_str().unwrap(), names::LINEAR, "ordered(y) ~ x");
        let fitted = |family: Family| {
            let options = LikelihoodOptions {
                family,
                reml: false,
                ..LikelihoodOptions::default()
            };
            fit(&recipe, Path::new(""), None, &options, &Control::default())
        };
        let [usual, named] = [Family::Gaussian, Family::Ordered].map(|it| fitted(it).unwrap().fit);
        assert_eq!(usual.family, Family::Ordered);
        assert_eq!(usual.log_lik, named.log_lik);
        assert_eq!(
            fitted(Family::Poisson).unwrap_err().to_string(),
            "The outcome `ordered(y)` has levels with an order, which the family poisson does not explain; choose the family ordered, or \
             write `y` alone"
        );
    }

    #[test]
    fn successes_without_their_trials_are_told_how_to_name_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        let rows: String = (0..20).map(|i| format!("{i},{}\n", i * 7 % 5)).collect();
        std::fs::write(&path, format!("x,r\n{rows}")).unwrap();
        let recipe = Recipe::new(path.to_str().unwrap(), names::LINEAR, "r ~ x");
        for family in [Family::Bernoulli, Family::Binomial] {
            let options = LikelihoodOptions {
                family,
                reml: false,
                ..LikelihoodOptions::default()
            };
            let done = fit(&recipe, Path::new(""), None, &options, &Control::default());
            let said = done.unwrap_err().to_string();
            assert!(
                said.contains(
                    "explains two values; if it counts successes, name the number of trials as `r | trials(n)` or the failures as \
                     `cbind(r, failures)`, otherwise choose the family ordered"
                ),
                "{said}"
            );
        }
    }

    /// All outcomes above 4 are yes: without priors nothing bounds the slope.
    #[test]
    fn separated_outcomes_are_told_to_have_no_maximum() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        let rows: String = (0..10)
            .map(|i| format!("{i},{}\n", ["no", "yes"][usize::from(i > 4)]))
            .collect();
        std::fs::write(&path, format!("x,y\n{rows}")).unwrap();
        let recipe = Recipe::new(path.to_str().unwrap(), "logistic", "y ~ x");
        let options = LikelihoodOptions::of(&recipe);
        let done = fit(&recipe, Path::new(""), None, &options, &Control::default()).unwrap();
        let mut warnings = done.warnings.iter();
        let about = warnings.find(|it| it.code == "separation" && it.severity == Severity::Watch);
        let advice = about.unwrap().advice.as_deref().unwrap();
        assert!(
            advice.starts_with("The likelihood has no maximum"),
            "{advice}"
        );
    }
}
