//! Prior sensitivity of a finished run by power scaling: log prior and log likelihood at its draws, then
//! [`ergodic_diagnostics::power_scaling`].
//!
//! Both are computed again from the draws, so that runs keep nothing for it. The prior is that of the parameters which have one
//! of their own ([`ergodic_core::models::Model::log_prior_density`]); effects of groups are part of the model, as in the source. Of
//! long runs on long tables every n-th draw is used.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::job::Job;
use ergodic_base::Control;
use ergodic_base::draws::DrawList;
use ergodic_base::names::listed;
use ergodic_core::engine::Sampling as _;
use ergodic_core::engine::keep::NotKept;
use ergodic_core::models::Rows;
use ergodic_diagnostics::power_scaling::{Diagnosis, PowerScaling, SensitivityRow};
use ergodic_diagnostics::psis::LIMIT;
use ergodic_diagnostics::weights::matter;

/// Rows that are affordable in all: some ten seconds of one core.
const ROWS: u64 = 1_000_000_000;
/// Draws that are used at least.
const LEAST_DRAWS: u64 = 400;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SensitivityError {
    /// Somebody cancelled.
    #[error("Measuring prior sensitivity was cancelled")]
    Cancelled,
    /// The draws are not of this model.
    #[error("The draws are not those of the recipe's model: their variables differ")]
    Variables,
    /// Draws of some parameters were not kept.
    #[error("{}", NotKept("Prior and likelihood at the draws need"))]
    NotKept,
    /// Nothing to scale.
    #[error(
        "Power scaling needs the density of prior and likelihood, which a model of clusters does not have"
    )]
    NoDensity,
    /// No rows, whose density is the likelihood.
    #[error(
        "Power scaling needs rows of data, whose density is the likelihood, and this model has none"
    )]
    NoRows,
    /// Prior and likelihood are one.
    #[error(
        "Power scaling needs the prior apart from the likelihood, which this model does not say; of a model as text, the section `target` \
         may belong to either"
    )]
    NotApart,
    /// The draws have weights already and would be weighted twice.
    #[error(
        "Power scaling weighs draws, and these have weights already; run a sampler whose draws have none"
    )]
    Weighted,
    /// Too little to fit a tail to.
    #[error("There are {0} draws, too few to tell; power scaling needs at least {LEAST_DRAWS}")]
    TooFew(usize),
    /// Log prior or log likelihood.
    #[error(
        "At draw {0} the density of prior or likelihood is not a finite number, so draws cannot be weighted by it"
    )]
    NotFinite(usize),
}

/// How much the posterior depends on prior and likelihood.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sensitivity {
    /// One per reported quantity.
    pub rows: Vec<SensitivityRow>,
    /// Draws used.
    pub draws: usize,
    /// Pareto k̂ of the weights by powers of the prior; `None` where it is not finite: the prior is flat, or the tail too short.
    pub prior_k: Option<f64>,
    /// Pareto k̂ of the weights by powers of the likelihood; `None` as for the prior.
    pub likelihood_k: Option<f64>,
    /// Whether some weights cannot be trusted.
    pub unreliable: bool,
}

impl Sensitivity {
    /// The sensitivity in one sentence.
    pub fn sentence(&self) -> String {
        if self.unreliable {
            return format!(
                "Some weights of the power-scaled draws are too uneven to be trusted (Pareto k above {LIMIT}); more draws may help"
            );
        }
        // Effects of groups follow their scales, which are listed.
        let names = |diagnosis: Diagnosis| -> Vec<&str> {
            self.rows
                .iter()
                .filter(|row| row.diagnosis == diagnosis && !row.variable.is_varying())
                .map(|row| row.variable.as_str())
                .collect()
        };
        let (conflict, strong) = (names(Diagnosis::Conflict), names(Diagnosis::StrongPrior));
        let mut parts = Vec::new();
        if !conflict.is_empty() {
            parts.push(format!(
                "prior and data may disagree about {}",
                quoted(&conflict)
            ));
        }
        if !strong.is_empty() {
            parts.push(format!(
                "the prior says more than the data about {}",
                quoted(&strong)
            ));
        }
        match parts.is_empty() {
            true => "The prior hardly moves any parameter: all sensitivities to it are below 0.05"
                .to_owned(),
            false => {
                let text = parts.join("; ");
                let mut letters = text.chars();
                letters.next().map_or(String::new(), |first| {
                    first.to_uppercase().to_string() + letters.as_str()
                })
            }
        }
    }
}

/// Names in a sentence.
fn quoted(names: &[&str]) -> String {
    const MOST: usize = 4;
    listed(names.iter().map(|name| format!("`{name}`")), MOST)
}

/// Power-scales prior and likelihood of `job` at the kept draws `chains`, whose `weights` must be equal.
///
/// # Errors
/// See [`SensitivityError`].
pub fn sensitivity(
    job: &Job,
    chains: &[&DrawList],
    weights: &[Vec<f64>],
    control: &Control,
) -> Result<Sensitivity, SensitivityError> {
    let model = &job.model;
    if model.density().is_none() {
        return Err(SensitivityError::NoDensity);
    }
    let rows = model.rows().ok_or(SensitivityError::NoRows)?;
    let at_zero = vec![0.0; model.dim()];
    if rows.log_prior_density(&at_zero).is_none() {
        return Err(SensitivityError::NotApart);
    }
    if matter(weights) {
        return Err(SensitivityError::Weighted);
    }
    if !job.keep().is_all() {
        return Err(SensitivityError::NotKept);
    }
    let names = job.variables();
    if chains.iter().any(|chain| chain.width() != names.len()) {
        return Err(SensitivityError::Variables);
    }
    let total: u64 = chains.iter().map(|chain| chain.len() as u64).sum();
    if total < LEAST_DRAWS {
        return Err(SensitivityError::TooFew(total as usize));
    }
    let affordable = (ROWS / model.num_obs().max(1) as u64).max(LEAST_DRAWS);
    let step = total.div_ceil(affordable).max(1) as usize;
    control.enter("computing prior and likelihood at the draws");
    control.expect(total.div_ceil(step as u64));
    let parts = chains
        .par_iter()
        .map(|list| densities(job, list, step, control))
        .collect::<Result<Vec<_>, SensitivityError>>()?;
    let log_prior: Vec<f64> = parts
        .iter()
        .flat_map(|part| part.0.iter().copied())
        .collect();
    let log_lik: Vec<f64> = parts
        .iter()
        .flat_map(|part| part.1.iter().copied())
        .collect();
    let wrong = log_prior
        .iter()
        .zip(&log_lik)
        .position(|(a, b)| !(a + b).is_finite());
    if let Some(draw) = wrong {
        return Err(SensitivityError::NotFinite(draw + 1));
    }
    let mut scaling = PowerScaling::new(&log_prior, &log_lik);
    let mut column = Vec::new();
    let rows = names
        .iter()
        .enumerate()
        .map(|(j, name)| {
            column.clear();
            for list in chains {
                column.extend((0..list.len()).step_by(step).map(|i| list.value(i, j)));
            }
            scaling.of(name.clone(), &column)
        })
        .collect();
    let finite = |k: f64| k.is_finite().then_some(k);
    Ok(Sensitivity {
        rows,
        draws: log_prior.len(),
        prior_k: finite(scaling.prior.k),
        likelihood_k: finite(scaling.likelihood.k),
        unreliable: scaling.prior.is_unreliable() || scaling.likelihood.is_unreliable(),
    })
}

/// Log prior and log likelihood at every `step`-th draw of a chain.
fn densities(
    job: &Job,
    list: &DrawList,
    step: usize,
    control: &Control,
) -> Result<(Vec<f64>, Vec<f64>), SensitivityError> {
    let model = job.model.as_ref();
    let mut theta = vec![0.0; list.width()];
    let (mut u, mut grad) = (vec![0.0; model.dim()], vec![0.0; model.dim()]);
    let density = model.rows().ok_or(SensitivityError::NoRows)?;
    let mut scratch = density.scratch();
    let (mut log_prior, mut log_lik) = (Vec::new(), Vec::new());
    for i in (0..list.len()).step_by(step) {
        control.check(SensitivityError::Cancelled)?;
        for (j, theta) in theta.iter_mut().enumerate() {
            *theta = list.value(i, j);
        }
        model.unconstrain(&theta, &mut u);
        log_prior.push(
            density
                .log_prior_density(&u)
                .ok_or(SensitivityError::NotApart)?,
        );
        log_lik.push(density.log_lik(&u, Rows::All, &mut scratch, &mut grad));
        control.advance(1);
    }
    Ok((log_prior, log_lik))
}

#[cfg(test)]
mod tests;
