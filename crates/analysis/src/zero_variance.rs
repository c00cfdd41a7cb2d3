//! Zero-variance control variates for a finished run: gradients at its draws, then the regression of
//! [`ergodic_diagnostics::zero_variance`].
//!
//! Gradients that the run has kept with its draws are taken as they are ([`ergodic_core::engine::gradients`]). Otherwise they are computed
//! again from the draws, so that any sampler's output will do and runs need keep nothing for it: exactly where that is affordable, else
//! from minibatches around the centre with the oracle's control variates.

use std::sync::Arc;

use rayon::prelude::*;

use super::job::{Job, JobError};
use ergodic_base::draws::DrawList;
use ergodic_base::settings::SettingError;
use ergodic_base::{Control, Purpose, stream};
use ergodic_core::engine::keep::{Keep, NotKept};
use ergodic_core::engine::{Sampling as _, gradients};
use ergodic_core::models::Model;
use ergodic_core::oracle::{Estimator, Oracle, Scheme};
pub use ergodic_diagnostics::zero_variance::{Corrected, Gradients};
use ergodic_diagnostics::zero_variance::{Order, Points, ZeroVarianceError, correct};

/// Gradients of single rows that are affordable in all: some ten seconds of one core.
const EXACT_ROWS: u64 = 1_000_000_000;
/// Rows of all minibatches together, where exact gradients are not: rows picked at random cost several times as much.
const ESTIMATED_ROWS: u64 = 100_000_000;
/// Smallest minibatch: below this the noise of the gradients leaves little to gain.
const MIN_BATCH: u64 = 256;

/// Why there is no correction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CorrectError {
    /// Somebody cancelled.
    #[error("The control variates were cancelled")]
    Cancelled,
    /// The draws are not of this model.
    #[error("The draws are not those of the recipe's model: their variables differ")]
    Variables,
    /// Draws of some parameters were not kept.
    #[error("{}", NotKept("Control variates need"))]
    NotKept,
    /// No density to take a gradient of.
    #[error(
        "Control variates need the gradient of a density, which a model of clusters does not have"
    )]
    NoDensity,
    /// The regression is not possible.
    #[error(transparent)]
    Regression(#[from] ZeroVarianceError),
}

/// Whether a run can correct its estimates while it goes on.
///
/// # Errors
/// There is no gradient, there would be too many, or draws of some parameters are not to be kept.
pub(crate) fn check(order: Option<Order>, model: &dyn Model, keep: &Keep) -> Result<(), JobError> {
    let Some(order) = order else {
        return Ok(());
    };
    let problem = if model.density().is_none() {
        "needs the gradient of a density, which this model does not have; leave it out"
    } else if !keep.is_all() {
        "needs draws of all quantities; leave it out, or let `run.keep` be all"
    } else {
        return Ok(order.check(model.dim())?);
    };
    Err(SettingError::unfit("run.zero_variance", problem).into())
}

/// Corrects the kept draws `chains` of `job`, with `weights` (one vector per chain, or empty). `info` are the information columns of these
/// draws, with the gradients where the run has kept them, or empty. Chains of unequal length are cut to the shortest.
///
/// # Errors
/// The work was cancelled, the draws are of other variables, or see [`correct`].
pub fn zero_variance(
    job: &Job,
    chains: &[&DrawList],
    info: &[&DrawList],
    weights: &[Vec<f64>],
    order: Order,
    control: &Control,
) -> Result<Corrected, CorrectError> {
    if job.model.density().is_none() {
        return Err(CorrectError::NoDensity);
    }
    if !job.keep().is_all() {
        return Err(CorrectError::NotKept);
    }
    let names = job.variables();
    if chains.iter().any(|chain| chain.width() != names.len()) {
        return Err(CorrectError::Variables);
    }
    let draws = chains.iter().map(|chain| chain.len()).min().unwrap_or(0);
    let total = (draws * chains.len()) as u64;
    if let Some(points) = gradients::points(job, chains, info, draws) {
        return Ok(gradients::corrected(job, chains, weights, &points, order)?);
    }
    control.enter("computing gradients at the draws");
    control.expect(total);
    let gradients = affordable(job.model.num_obs() as u64, total);
    let points = chains
        .par_iter()
        .enumerate()
        .map(|(chain, list)| points_of(job, (chain, list), draws, gradients, control))
        .collect::<Result<Vec<Points>, CorrectError>>()?;
    let dim = job.model.dim();
    let estimates = correct(&names, chains, weights, &points, dim, order)?;
    control.check(CorrectError::Cancelled)?;
    Ok(Corrected {
        gradients,
        estimates,
    })
}

/// Exact gradients at `draws` draws of a model with `rows` rows, or minibatches.
fn affordable(rows: u64, draws: u64) -> Gradients {
    if rows.saturating_mul(draws) <= EXACT_ROWS {
        return Gradients::Exact;
    }
    let batch = (ESTIMATED_ROWS / draws).max(MIN_BATCH);
    if batch >= rows {
        Gradients::Exact
    } else {
        Gradients::Estimated {
            rows: batch as usize,
        }
    }
}

/// Positions and gradients of the first `draws` draws `list` of chain `chain`, in unconstrained coordinates.
///
/// # Errors
/// Somebody cancelled.
pub fn points_of(
    job: &Job,
    (chain, list): (usize, &DrawList),
    draws: usize,
    gradients: Gradients,
    control: &Control,
) -> Result<Points, CorrectError> {
    let dim = job.model.dim();
    let (model, centre) = (Arc::clone(&job.model), job.centre.clone());
    let mut oracle = Oracle::new(model, centre, true, control.flag());
    if let Gradients::Estimated { rows } = gradients {
        oracle.set_estimator(Estimator::ControlVariate, rows, Scheme::Iid);
    }
    let mut rng = stream(job.recipe.run.seed, chain, Purpose::Diagnostics);
    let mut points = Points {
        positions: vec![0.0; draws * dim],
        gradients: vec![0.0; draws * dim],
    };
    let mut theta = vec![0.0; list.width()];
    for i in 0..draws {
        for (j, theta) in theta.iter_mut().enumerate() {
            *theta = list.value(i, j);
        }
        let at = i * dim..(i + 1) * dim;
        let u = &mut points.positions[at.clone()];
        let grad = &mut points.gradients[at];
        job.model.unconstrain(&theta, u);
        match gradients {
            Gradients::Exact => {
                oracle
                    .exact(u, grad)
                    .map_err(|_stop| CorrectError::Cancelled)?;
            }
            Gradients::Estimated { .. } => oracle.grad(u, &mut rng, grad),
        }
        control.check(CorrectError::Cancelled)?;
        control.advance(1);
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Recipe;
    use rand::RngExt as _;
    use rand_distr::StandardNormal;

    fn job() -> Job {
        let mut recipe = Recipe::new("sample:churn", "logistic", "churned ~ age + plan");
        "nuts".clone_into(&mut recipe.sampler.id);
        Job::prepare(&recipe, std::path::Path::new(""), None, &Control::default()).unwrap()
    }

    /// Independent draws of the normal approximation at the mode, as reported quantities.
    fn draws_of(job: &Job, draws: usize) -> DrawList {
        let centre = job.centre.as_ref().unwrap();
        let dim = job.model.dim();
        let mut rng = stream(3, 0, Purpose::Diagnostics);
        let mut list = DrawList::new(job.variables().len());
        let mut theta = vec![0.0; list.width()];
        for _ in 0..draws {
            let mut u: Vec<f64> = (0..dim).map(|_| rng.sample(StandardNormal)).collect();
            centre.factor.solve_lower_transpose(&mut u);
            for (u, mode) in u.iter_mut().zip(&centre.u) {
                *u += mode;
            }
            job.model.constrain(&u, &mut theta);
            list.push(&theta);
        }
        list
    }

    #[test]
    fn estimated_gradients_are_unbiased_and_at_the_same_places() {
        let (job, control) = (job(), Control::default());
        let draws = 3000;
        let list = draws_of(&job, draws);
        let points = |gradients| points_of(&job, (0, &list), draws, gradients, &control).unwrap();
        let exact = points(Gradients::Exact);
        let estimated = points(Gradients::Estimated { rows: 64 });
        assert_eq!(exact.positions, estimated.positions);
        assert_eq!(control.progress().0, 2 * draws as u64);
        let dim = job.model.dim();
        for j in 0..dim {
            let error = |i: usize| estimated.gradients[i * dim + j] - exact.gradients[i * dim + j];
            let mean = (0..draws).map(error).sum::<f64>() / draws as f64;
            let square = (0..draws).map(|i| error(i).powi(2)).sum::<f64>() / draws as f64;
            assert!(
                mean.abs() < 4.0 * (square / draws as f64).sqrt(),
                "{j}: {mean}"
            );
            assert!(square > 0.0);
        }
    }

    #[test]
    fn a_cancelled_correction_ends_and_foreign_draws_are_refused() {
        let (job, control) = (job(), Control::default());
        let list = draws_of(&job, 100);
        let other = DrawList::new(list.width() + 1);
        let correct = |list: &DrawList, control: &Control| {
            zero_variance(&job, &[list], &[], &[], Order::Linear, control)
        };
        assert_eq!(correct(&other, &control), Err(CorrectError::Variables));
        let corrected = correct(&list, &control).unwrap();
        assert_eq!(corrected.gradients, Gradients::Exact);
        assert_eq!(control.fraction(), Some(1.0));
        control.cancel();
        assert_eq!(correct(&list, &control), Err(CorrectError::Cancelled));
    }

    #[test]
    fn gradients_are_exact_while_that_is_affordable() {
        assert_eq!(affordable(1000, 4000), Gradients::Exact);
        assert_eq!(affordable(250_000, 4000), Gradients::Exact);
        let estimated = Gradients::Estimated { rows: 25_000 };
        assert_eq!(affordable(5_000_000, 4000), estimated);
        let least = Gradients::Estimated { rows: 256 };
        assert_eq!(affordable(5_000, 4_000_000), least);
        assert_eq!(affordable(250, 40_000_000), Gradients::Exact);
    }
}
