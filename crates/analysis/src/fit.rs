//! A formula and a table, fitted in one line.

use std::path::Path;
use std::sync::Arc;

use super::choice::{NoTemplate, choose};
use super::job::{Job, JobError};
use super::recipe::Recipe;
use ergodic_base::{Control, Reporter};
use ergodic_core::design::DesignError;
use ergodic_core::fit::{FitError, Fitted};
use ergodic_data::{Guesses, Loaded, Table};

/// Why a formula could not be fitted to a table.
#[derive(Debug, thiserror::Error)]
pub enum FormulaFitError {
    /// The formula.
    #[error(transparent)]
    Formula(#[from] DesignError),
    /// No template explains such an outcome.
    #[error(transparent)]
    NoTemplate(#[from] NoTemplate),
    /// The model or the data.
    #[error(transparent)]
    Job(#[from] JobError),
    /// The chains.
    #[error(transparent)]
    Chains(#[from] FitError),
}

/// Fits `formula` to `table`: the template that suits the outcome, default priors, the recommended sampler, four chains, and as
/// many draws as it takes to be precise where that is cheap. The same numbers as `ergodic fit --formula` gives.
///
/// # Errors
/// A formula that is not understood, an outcome that no template explains, or chains that all failed.
pub fn fit(formula: &str, table: &Table) -> Result<Fitted<Job>, FormulaFitError> {
    let parsed = formula.parse().map_err(DesignError::from)?;
    let choice = choose(table, &parsed, &Default::default())?;
    let mut recipe = Recipe::new(table.source(), choice.template, formula);
    for (key, value) in choice.settings {
        recipe.model.settings.set(key, value.into());
    }
    let loaded = Loaded {
        table: table.clone(),
        guesses: Guesses::typed_file("the program that made it"),
        reporter: Reporter::default(),
    };
    let loaded = Some(Arc::new(loaded));
    let job = Job::prepare(&recipe, Path::new(""), loaded, &Control::default())?;
    Ok(Fitted::of_job(Arc::new(job), None)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ergodic_core::engine::Sampling as _;
    use ergodic_data::{ImportOptions, samples};
    use ergodic_diagnostics::Verdict;

    #[test]
    fn a_formula_with_groups_is_fitted_in_one_line() {
        let options = ImportOptions::default();
        let loaded = samples::load_source("sample:schools", &options, &Control::default());
        let table = loaded.unwrap().table;
        let fitted = fit("passed ~ hours + (1 | school)", &table).unwrap();
        assert_eq!(fitted.verdict(), Verdict::Good);
        assert_eq!(fitted.job().recipe.model.template, "mixed");
        assert!(
            fitted
                .job()
                .variables()
                .contains(&"sd[school,Intercept]".into())
        );
        let slope = fitted.draws("b[hours]").unwrap();
        assert_eq!(slope.nrows(), 4);
        let refused = fit("passed ~ ours", &table).err().unwrap().to_string();
        assert!(
            refused.contains("`ours`") && refused.contains("`hours`"),
            "{refused}"
        );
        let refused = fit("school ~ hours + (1 | passed)", &table);
        let refused = refused.err().unwrap();
        assert!(
            matches!(refused, FormulaFitError::NoTemplate(_)),
            "{refused}"
        );
    }
}
