//! Bayes factors of "a coefficient is not 0" against "it is 0", from one run, by the Savage-Dickey ratio: the prior density at 0 over
//! the posterior density there (Dickey 1971, Annals of Mathematical Statistics 42; Wagenmakers, Lodewyckx, Kuriyal and Grasman
//! 2010, Cognitive Psychology 60).
//!
//! The prior density is exact ([`ergodic_core::models::Model::prior_density`]). The posterior's is estimated from the draws
//! ([`ergodic_diagnostics::local_density`]), and its Monte Carlo error is that of the logarithm of the factor. The ratio is right
//! where the priors of the other parameters do not depend on the coefficient, as of all coefficients of predictors. It is not so of
//! `b[Intercept]` where that is reported at predictors of 0 and its prior is set at average predictors: the two differ by the sum of coefficients
//! times means, so that these depend on it a priori, and the factor is that against a model whose other coefficients have the prior
//! that they have given that it is 0.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use ergodic_base::draws::DrawList;
use ergodic_base::{Class, ParamId};
use ergodic_core::models::{Model, PriorOf};
use ergodic_diagnostics::weights::matter;
use ergodic_diagnostics::{Missing, ess_mean, log_density_at};

/// A parameter that could be 0 has a prior on both sides of it, this far from it.
const NEAR_ZERO: f64 = 1e-9;

/// Why a run has no Bayes factors.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BayesFactorError {
    /// The draws are not of this model.
    #[error("The draws are not those of the recipe's model: their variables differ")]
    Variables,
    /// The draws have weights.
    #[error(
        "The density at 0 is estimated from equal draws, and these have weights; run a sampler whose draws have none"
    )]
    Weighted,
    /// Nothing can be 0.
    #[error("The model has no coefficient that could be 0")]
    NoCoefficient,
}

/// Why a coefficient has no Bayes factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum NoFactor {
    /// A flat prior has no density.
    #[error("its prior is flat, and against a flat prior 0 always wins; give it a proper one")]
    Flat,
    /// The prior on the reported scale is not known in closed form.
    #[error("its prior has no closed form on the scale it is reported on")]
    NotKnown,
    /// Too few draws near 0.
    #[error(
        "too few draws lie near 0 to tell the density there: it is far outside of the posterior"
    )]
    FarOut,
    /// The draws have no density.
    #[error("its draws are constant or not finite")]
    NoDensity,
}

/// The evidence about one coefficient.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BayesFactor {
    /// The coefficient.
    pub variable: ParamId,
    /// Prior density at 0, per unit of the coefficient.
    pub prior: Option<f64>,
    /// Posterior density there.
    pub posterior: Option<f64>,
    /// Natural logarithm of the factor of "not 0" against "0".
    pub log_factor: Option<f64>,
    /// Monte Carlo standard error of the factor.
    pub mcse: Option<f64>,
    /// Why there is none.
    pub missing: Option<NoFactor>,
}

impl BayesFactor {
    /// The factor of "not 0" against "0".
    pub fn factor(&self) -> Option<f64> {
        self.log_factor.map(f64::exp)
    }

    /// The factor's own Monte Carlo standard error, to first order.
    pub fn factor_mcse(&self) -> Option<f64> {
        Some(self.factor()? * self.mcse?)
    }

    /// The factor in a few words: the steps of Jeffreys (1961), Theory of Probability, appendix B. Empty without a factor.
    pub fn words(&self) -> &'static str {
        let Some(log_factor) = self.log_factor else {
            return "";
        };
        let strength = log_factor.abs();
        let [anecdotal, moderate, strong] = [3.0_f64, 10.0, 100.0].map(f64::ln);
        match (log_factor > 0.0, strength) {
            (_, s) if s < anecdotal => "hardly tells",
            (true, s) if s < moderate => "moderate, against 0",
            (true, s) if s < strong => "strong, against 0",
            (true, _) => "decisive, against 0",
            (false, s) if s < moderate => "moderate, for 0",
            (false, s) if s < strong => "strong, for 0",
            (false, _) => "decisive, for 0",
        }
    }
}

/// Bayes factors of the coefficients of `model`, from the draws `lists` of its chains (one list per chain, as wide as the model
/// reports quantities) and their `weights`.
///
/// # Errors
/// The draws are of another model or have weights, or no parameter could be 0.
pub fn bayes_factors(
    model: &dyn Model,
    lists: &[&DrawList],
    weights: &[Vec<f64>],
) -> Result<Vec<BayesFactor>, BayesFactorError> {
    let params = model.params();
    if lists.iter().any(|list| list.width() != params.len()) {
        return Err(BayesFactorError::Variables);
    }
    if matter(weights) {
        return Err(BayesFactorError::Weighted);
    }
    // The mean of a factor that may turn is 0 whatever the data.
    let can_be_zero = |j: usize| {
        if params[j].name.is_exchangeable() {
            return false;
        }
        let densities = [-NEAR_ZERO, NEAR_ZERO].map(|x| model.prior_density(j, x));
        match params[j].name.class() {
            Class::Coefficient | Class::LevelCoefficient | Class::Mean => true,
            Class::Other => densities
                .iter()
                .all(|it| it.is_some_and(|density| density > 0.0)),
            _ => false,
        }
    };
    let named: Vec<usize> = (0..params.len()).filter(|&j| can_be_zero(j)).collect();
    if named.is_empty() {
        return Err(BayesFactorError::NoCoefficient);
    }
    let of = |&j: &usize| {
        let mut found = BayesFactor {
            variable: params[j].name.clone(),
            prior: model.prior_density(j, 0.0).filter(|density| *density > 0.0),
            posterior: None,
            log_factor: None,
            mcse: None,
            missing: None,
        };
        let Some(prior) = found.prior else {
            let is_flat = params[j].prior == PriorOf::Flat;
            found.missing = Some(if is_flat {
                NoFactor::Flat
            } else {
                NoFactor::NotKnown
            });
            return found;
        };
        let columns: Vec<Vec<f64>> = lists.iter().map(|list| list.column(j)).collect();
        let slices: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        match ess_mean(&slices).and_then(|ess| log_density_at(&slices, 0.0, ess)) {
            Ok(density) => {
                found.posterior = Some(density.value.exp());
                found.log_factor = Some(prior.ln() - density.value);
                found.mcse = Some(density.mcse);
            }
            Err(Missing::TooFew) => found.missing = Some(NoFactor::FarOut),
            Err(_) => found.missing = Some(NoFactor::NoDensity),
        }
        found
    };
    Ok(named.par_iter().map(of).collect())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{Job, Recipe};
    use ergodic_base::Control;
    use ergodic_core::engine::Sampling as _;
    use ergodic_core::fit::Fitted;

    /// The factors of a NUTS run of `recipe` on a table in `folder`.
    fn factors(folder: &Path, recipe: &Recipe) -> Vec<BayesFactor> {
        let control = Control::default();
        let job = Job::prepare(recipe, folder, None, &control).unwrap();
        let fitted = Fitted::of_job(std::sync::Arc::new(job.clone()), None).unwrap();
        let lists: Vec<&DrawList> = fitted.view().usable().map(|it| &it.draws.draws).collect();
        bayes_factors(job.model().as_ref(), &lists, &[]).unwrap()
    }

    /// Numbers of known variance around a mean with a normal prior: the posterior is normal, and the factor is in closed form.
    #[test]
    fn a_conjugate_normal_mean_has_the_factor_of_its_closed_form() {
        let folder = tempfile::tempdir().unwrap();
        // Means of 0.0, 0.4 and 0.8 posterior standard deviations' worth: for 0, undecided, and against it.
        for shift in [0.0, 0.35, 0.7] {
            let wave = |i: i32| f64::from(i % 5 - 2) / 2.0_f64.sqrt();
            let y: Vec<f64> = (0..20).map(|i| shift + wave(i)).collect();
            let text: String = y.iter().map(|y| format!("{y}\n")).collect();
            std::fs::write(folder.path().join("y.csv"), format!("y\n{text}")).unwrap();
            let mut recipe = Recipe::new("y.csv", "normal-mean", "y ~ 1");
            recipe.sampler.id = "nuts".to_owned();
            (recipe.run.draws, recipe.run.until_precise) = (4000, false);
            let found = factors(folder.path(), &recipe);
            let [found] = found.as_slice() else {
                panic!("{found:?}");
            };
            // Of 20 numbers with variance 1 under the prior N(0, 10) the posterior has precision 20.1.
            let (prior, posterior) = (10.0_f64, 1.0 / 20.1_f64);
            let mean = posterior * y.iter().sum::<f64>();
            let log_normal = |mean: f64, variance: f64| {
                -0.5 * (std::f64::consts::TAU * variance).ln() - 0.5 * mean * mean / variance
            };
            let exact = log_normal(0.0, prior) - log_normal(mean, posterior);
            let (log_factor, mcse) = (found.log_factor.unwrap(), found.mcse.unwrap());
            assert!((log_factor - exact).abs() < 4.0 * mcse, "{found:?} {exact}");
            // Three standard deviations out only a few draws in a thousand tell the density.
            let bound = if mean * mean < 4.0 * posterior {
                0.05
            } else {
                0.2
            };
            assert!(mcse < bound, "{found:?}");
        }
    }

    /// Rows of a reference file below its header.
    fn table(file: &str) -> Vec<Vec<String>> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/reference/");
        let text = std::fs::read_to_string(format!("{folder}{file}")).unwrap();
        let cells = |line: &str| line.split(',').map(str::to_owned).collect();
        text.lines().skip(1).map(cells).collect()
    }

    /// Numbers of SciPy and ArviZ, by `tests/reference/bayes_factor.py`: for 0 and against it, of slow, skewed and antithetic draws.
    #[test]
    fn factors_of_given_draws_are_those_of_another_program() {
        let folder = tempfile::tempdir().unwrap();
        let rows =
            (0..12).map(|i| format!("{},{},{},{}\n", i * 5 % 7, i % 4, i * 3 % 5, i * i % 7));
        let text: String = rows.collect();
        std::fs::write(folder.path().join("t.csv"), format!("y,x,z,w\n{text}")).unwrap();
        let mut recipe = Recipe::new("t.csv", "linear", "y ~ x + z + w");
        recipe.model.standardize = false;
        for (name, prior) in [
            ("b[x]", "normal(0.3, 2)"),
            ("b[z]", "student_t(4, -0.2, 1.5)"),
            ("b[w]", "cauchy(-0.5, 0.4)"),
        ] {
            recipe.priors.insert(name.to_owned(), prior.to_owned());
        }
        let job = Job::prepare(&recipe, folder.path(), None, &Control::default()).unwrap();
        let model = job.model();
        let params = model.params();
        let places = ["b[x]", "b[z]", "b[w]"]
            .map(|name| params.iter().position(|it| it.name == *name).unwrap());
        let mut chains = vec![DrawList::new(params.len()); 4];
        for row in table("bayes_factor_draws.csv") {
            let mut draw = vec![1.0; params.len()];
            for (place, cell) in places.into_iter().zip(&row[1..]) {
                draw[place] = cell.parse().unwrap();
            }
            chains[row[0].parse::<usize>().unwrap()].push(&draw);
        }
        let lists: Vec<&DrawList> = chains.iter().collect();
        let found = bayes_factors(model.as_ref(), &lists, &[]).unwrap();
        let known = table("bayes_factor.csv");
        assert_eq!(known.len(), places.len());
        for row in &known {
            let of = found.iter().find(|it| it.variable == *row[0]).unwrap();
            let numbers = [of.prior, of.posterior, of.log_factor, of.mcse];
            for (found, expected) in numbers.into_iter().zip(&row[1..]) {
                let (found, expected): (f64, f64) = (found.unwrap(), expected.parse().unwrap());
                let error = (found / expected - 1.0).abs();
                assert!(error < 1e-8, "{row:?}: {found} for {expected}");
            }
        }
        // Weights that are all alike change nothing, and others are refused.
        let mut weights: Vec<Vec<f64>> = lists.iter().map(|list| vec![1.0; list.len()]).collect();
        let alike = bayes_factors(model.as_ref(), &lists, &weights);
        assert_eq!(alike.unwrap(), found);
        weights[2][7] = 3.0;
        let refused = bayes_factors(model.as_ref(), &lists, &weights);
        assert_eq!(refused, Err(BayesFactorError::Weighted));
    }

    /// A factor of ratings may turn, so that only what users and items add to the mean can be told from 0.
    #[test]
    fn single_factors_of_ratings_are_not_asked_about() {
        let folder = tempfile::tempdir().unwrap();
        let rows = (0..24).map(|i| format!("u{},i{},{}\n", i % 4, i / 4, i * 7 % 5));
        let text: String = rows.collect();
        std::fs::write(folder.path().join("r.csv"), format!("u,i,r\n{text}")).unwrap();
        let recipe = Recipe::new("r.csv", "factorization", "r ~ (1 | u) + (1 | i)");
        let job = Job::prepare(&recipe, folder.path(), None, &Control::default()).unwrap();
        let model = job.model();
        let (factors, others): (Vec<_>, Vec<_>) =
            (model.params().iter().map(|it| it.name.clone())).partition(ParamId::is_exchangeable);
        // Four users and six items.
        assert_eq!(others.len(), 10);
        assert!(!factors.is_empty());
        let width = model.params().len();
        let mut list = DrawList::new(width);
        for k in 0..200 {
            let draw = (0..width).map(|j| (f64::from(k) * 1.7 + j as f64).sin());
            list.push(&draw.collect::<Vec<_>>());
        }
        let found = bayes_factors(model.as_ref(), &[&list], &[]).unwrap();
        let found: Vec<ParamId> = found.into_iter().map(|it| it.variable).collect();
        assert_eq!(found, others);
    }

    #[test]
    fn flat_priors_and_far_zeros_are_refused_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let rows = (0..80).map(|i| {
            let (x, z) = (f64::from(i % 9) - 4.0, f64::from(i * i % 7) - 3.0);
            format!("{},{x},{z}\n", 5.0 * x + 0.1 * f64::from(i * 7 % 11))
        });
        let text: String = rows.collect();
        std::fs::write(folder.path().join("t.csv"), format!("y,x,z\n{text}")).unwrap();
        let mut recipe = Recipe::new("t.csv", "linear", "y ~ x + z");
        recipe.sampler.id = "nuts".to_owned();
        (recipe.run.draws, recipe.run.until_precise) = (500, false);
        recipe.priors.insert("b[z]".to_owned(), "flat".to_owned());
        let found = factors(folder.path(), &recipe);
        let missing = |name: &str| {
            found
                .iter()
                .find(|it| it.variable == *name)
                .unwrap()
                .missing
        };
        assert_eq!(missing("b[z]"), Some(NoFactor::Flat));
        assert_eq!(missing("b[x]"), Some(NoFactor::FarOut));
        // A scale cannot be 0 and is not asked about.
        assert!(found.iter().all(|it| it.variable != *"sigma"), "{found:?}");
    }
}
