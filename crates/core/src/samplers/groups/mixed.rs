//! Gibbs sampling of mixed models block by block: what `gibbs-mixed` and `gibbs-mixed-osgfs` share.
//!
//! With the view [`MixedEffects`]: scales of a term (sds and correlations) depend on the rows only through its effects,
//! so slices along each coordinate cost no pass over rows. Effects are kept as they are, r_t[g]; the coordinates in
//! which the model holds them are written at the end of a step.

use crate::samplers::Unsuitable;
use rand::RngExt as _;
use rand_distr::{ChiSquared, Distribution as _, StandardNormal};

use crate::models::mixed::{GroupTerm, Lower, MAX_CORRELATIONS, MAX_EFFECTS, MixedEffects};
use crate::models::{Model, Prior};
use crate::oracle::{Oracle, StepError};
use crate::samplers::full_data::slice::slice_along;
use ergodic_base::ChainRng;

pub(in crate::samplers) mod marginal;
pub(in crate::samplers) mod nesting;
pub(in crate::samplers) mod shifts;
pub(in crate::samplers) mod statistics;
#[cfg(test)]
pub(in crate::samplers) mod testing;
#[cfg(test)]
mod tests;

/// First width of slices along logarithms of scales and transformed correlations: the size of their priors. Wider than
/// a posterior costs two or three evaluations more, without any pass over rows.
const WIDTH: f64 = 1.0;
/// Coordinates of the scales of a term, at most.
const MAX_SCALES: usize = MAX_EFFECTS + MAX_CORRELATIONS;

/// Refuses models without the view, and those whose coefficients do not all have priors of their own.
pub(in crate::samplers) fn suits(model: &dyn Model) -> Result<&dyn MixedEffects, Unsuitable> {
    let view = model.mixed_effects().ok_or(Unsuitable::NoMixedEffects)?;
    if view.has_cut_points() {
        return Err(Unsuitable::CutPoints);
    }
    if view.has_curves() {
        return Err(Unsuitable::Curves);
    }
    Ok(view)
}

/// The view; refused before by [`suits`] where there is none.
pub(in crate::samplers) fn view(oracle: &Oracle) -> Result<&dyn MixedEffects, StepError> {
    oracle.model().mixed_effects().ok_or(NO_EFFECTS)
}

/// What [`suits`] refuses.
pub(in crate::samplers) const NO_EFFECTS: StepError = StepError::Lacks("effects of groups");

/// M with Σ = M M', its inverse and Σ⁻¹ of a term (q×q each).
pub(in crate::samplers) struct Spread {
    pub lower: Lower,
    pub inverse: Lower,
    pub precision: Lower,
    /// log det M.
    log_det: f64,
}

impl Spread {
    /// At the coordinates `scales` of `term`.
    pub fn at(term: &GroupTerm, scales: &[f64]) -> Self {
        let q = term.width();
        let (sds, mut lower) = term.factor(scales);
        let mut inverse = [[0.0; MAX_EFFECTS]; MAX_EFFECTS];
        let mut log_det = 0.0;
        for i in 0..q {
            for entry in &mut lower[i][..=i] {
                *entry *= sds[i];
            }
            log_det += lower[i][i].ln();
            inverse[i][i] = 1.0 / lower[i][i];
            for j in 0..i {
                let sum: f64 = (j..i).map(|k| lower[i][k] * inverse[k][j]).sum();
                inverse[i][j] = -sum * inverse[i][i];
            }
        }
        let mut precision = [[0.0; MAX_EFFECTS]; MAX_EFFECTS];
        for i in 0..q {
            for j in 0..q {
                precision[i][j] = (i.max(j)..q).map(|k| inverse[k][i] * inverse[k][j]).sum();
            }
        }
        Self {
            lower,
            inverse,
            precision,
            log_det,
        }
    }
}

/// Σ_g r_g r_g' of the effects of a term.
pub(in crate::samplers) fn scatter(term: &GroupTerm, effects: &[f64]) -> Lower {
    let q = term.width();
    let mut out = [[0.0; MAX_EFFECTS]; MAX_EFFECTS];
    for r in effects[term.start..][..term.effects.len()].chunks_exact(q) {
        for i in 0..q {
            for j in 0..q {
                out[i][j] += r[i] * r[j];
            }
        }
    }
    out
}

/// Draws the scales of `term` given its effects, coordinate by coordinate: exact for whatever priors they have.
pub(in crate::samplers) fn draw_scales(
    term: &GroupTerm,
    effects: &[f64],
    scales: &mut [f64],
    rng: &mut ChainRng,
) -> Result<(), StepError> {
    let scatter = scatter(term, effects);
    let (q, groups) = (term.width(), term.levels.len() as f64);
    slice_each(scales, rng, |scales| {
        let spread = Spread::at(term, scales);
        let mut squares = 0.0;
        for (i, row) in spread.precision.iter().enumerate().take(q) {
            for j in 0..q {
                squares += row[j] * scatter[i][j];
            }
        }
        term.log_prior_of_scales(scales) - groups * spread.log_det - 0.5 * squares
    })
}

/// Moves each of `scales` along its slice under `log_density`.
pub(in crate::samplers) fn slice_each(
    scales: &mut [f64],
    rng: &mut ChainRng,
    log_density: impl Fn(&[f64]) -> f64,
) -> Result<(), StepError> {
    let mut at = [0.0; MAX_SCALES];
    let at = &mut at[..scales.len()];
    at.copy_from_slice(scales);
    let usable = |at: &[f64]| {
        let value = log_density(at);
        if value.is_finite() {
            value
        } else {
            f64::NEG_INFINITY
        }
    };
    let mut here = usable(at);
    for k in 0..at.len() {
        let centre = at[k];
        let (t, value) = slice_along(here, WIDTH, rng, |t| {
            at[k] = centre + t;
            Ok(usable(at))
        })?;
        at[k] = centre + t;
        here = value;
    }
    scales.copy_from_slice(at);
    Ok(())
}

/// Precision and location of a normal distribution that, averaged over draws like this one, is the prior: Student-t and
/// Laplace priors are mixtures of normals (Andrews and Mallows 1974), drawn here given the value `z`.
pub(in crate::samplers) fn normal_given(prior: &Prior, z: f64, rng: &mut ChainRng) -> [f64; 2] {
    match *prior {
        // The last four are no priors of coefficients.
        Prior::Flat
        | Prior::Exponential { .. }
        | Prior::Gamma { .. }
        | Prior::InvGamma { .. }
        | Prior::LogNormal { .. } => [0.0, 0.0],
        Prior::Normal { mean, sd } => [1.0 / (sd * sd), mean],
        Prior::StudentT {
            df,
            location,
            scale,
        } => {
            let square = ((z - location) / scale).powi(2);
            let chi2 = ChiSquared::new(df + 1.0).map_or(f64::NAN, |chi2| chi2.sample(rng));
            [chi2 / (df + square) / (scale * scale), location]
        }
        Prior::Laplace { location, scale } => {
            [inverse_gaussian(z - location, scale, rng), location]
        }
    }
}

/// 1/v of a Laplace variate of scale b at distance d from its centre: inverse Gaussian with mean 1/(b|d|) and shape
/// 1/b² (Park and Casella 2008), by Michael, Schucany and Haas (1976) with their smaller root written without
/// cancellation.
fn inverse_gaussian(d: f64, b: f64, rng: &mut ChainRng) -> f64 {
    let normal: f64 = StandardNormal.sample(rng);
    // In units of the shape: one over the mean.
    let (over_mean, y) = (d.abs() * b, normal * normal * b * b);
    let small = 2.0 / (2.0 * over_mean + y + (4.0 * over_mean * y + y * y).sqrt());
    let root = if rng.random::<f64>() * (1.0 + small * over_mean) <= 1.0 {
        small
    } else {
        1.0 / (over_mean * over_mean * small)
    };
    root.min(f64::MAX)
}
