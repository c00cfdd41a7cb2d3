//! Gradients of the log posterior at kept draws, where a run keeps them ([`super::RunSection::zero_variance`]): further information columns, so
//! that they travel, are saved and are continued with the draws that they belong to. Means and standard deviations are then corrected by
//! control variates (Mira, Solgi and Imparato 2013) without a pass over the rows after the run, and while it goes on.

use super::sampling::Sampling;
use ergodic_base::draws::DrawList;
use ergodic_diagnostics::zero_variance::{
    Corrected, Gradients, Order, Points, ZeroVarianceError, correct,
};

/// Begins the name of an information column with a component of the gradient.
const COLUMN: &str = "gradient[";

/// Name of the information column with component `j` (0-based) of the gradient in unconstrained coordinates.
pub(super) fn column(j: usize) -> String {
    format!("{COLUMN}{}]", j + 1)
}

/// Whether `name` is that of an information column with a component of the gradient.
pub fn is_gradient(name: &str) -> bool {
    name.starts_with(COLUMN)
}

/// The first `draws` draws of each of `chains` in unconstrained coordinates with the gradients that stand in their information columns
/// `info`, one list per chain; `None` where `job` keeps none or they are not there.
pub fn points(
    job: &dyn Sampling,
    chains: &[&DrawList],
    info: &[&DrawList],
    draws: usize,
) -> Option<Vec<Points>> {
    job.run_section().zero_variance?;
    // Positions are functions of all quantities.
    job.keep().is_all().then_some(())?;
    let (first, dim, width) = (
        job.sampler().spec.info.len(),
        job.model().dim(),
        job.num_info(),
    );
    let is_there = |info: &&DrawList| info.width() == width && info.len() >= draws;
    if info.len() != chains.len() || !info.iter().all(is_there) {
        return None;
    }
    let of_chain = |(chain, info): (&&DrawList, &&DrawList)| {
        let mut points = Points {
            positions: vec![0.0; draws * dim],
            gradients: vec![0.0; draws * dim],
        };
        let mut theta = vec![0.0; chain.width()];
        for (i, u) in points.positions.chunks_exact_mut(dim).enumerate() {
            for (j, theta) in theta.iter_mut().enumerate() {
                *theta = chain.value(i, j);
            }
            job.model().unconstrain(&theta, u);
        }
        for (i, grad) in points.gradients.chunks_exact_mut(dim).enumerate() {
            for (j, grad) in grad.iter_mut().enumerate() {
                *grad = info.value(i, first + j);
            }
        }
        points
    };
    Some(chains.iter().zip(info).map(of_chain).collect())
}

/// The draws of `chains` corrected by control variates of `order` from exact gradients at their `points`, with `weights` (one vector per
/// chain, or empty).
///
/// # Errors
/// Those of [`correct`].
pub fn corrected(
    job: &dyn Sampling,
    chains: &[&DrawList],
    weights: &[Vec<f64>],
    points: &[Points],
    order: Order,
) -> Result<Corrected, ZeroVarianceError> {
    let (names, dim) = (job.variables(), job.model().dim());
    Ok(Corrected {
        gradients: Gradients::Exact,
        estimates: correct(&names, chains, weights, points, dim, order)?,
    })
}
