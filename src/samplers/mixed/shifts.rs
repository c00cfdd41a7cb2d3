//! Moves between coefficients and effects: what all groups share can be said by a coefficient.
//!
//! Where x_i'd = z_i'a_g for all rows i of every group g, β + δ d and r_g − δ a_g leave every predictor as it is: intercepts and
//! slopes that vary by group, and columns that are constant within groups. So δ | β, r does not depend on the rows, and drawing
//! it along its slice costs no pass. Without it such a coefficient follows the effects in steps as small as the rows allow; the
//! effect is that of centring effects at their coefficients (Gelfand, Sahu and Carlin 1995; Liu and Sabatti 2000).

use super::Spread;
use crate::base::linalg::{axpy, dot};
use crate::base::rng::ChainRng;
use crate::models::LinearRows as _;
use crate::models::mixed::{GroupTerm, MixedEffects};
use crate::models::prior::PriorRows;
use crate::oracle::StepError;
use crate::samplers::slice::slice_along;

/// Relative difference that still counts as equal.
const EQUAL: f64 = 1e-9;
/// First width of slices in standard deviations of δ under a flat prior of the coefficient.
const WIDTH: f64 = 3.0;

/// One direction.
pub struct Shift {
    term: usize,
    /// d (P).
    direction: Vec<f64>,
    /// a_g (G×q).
    by_group: Vec<f64>,
    trial: Vec<f64>,
}

/// All directions of `view` for its `num_obs` rows.
pub fn find(view: &dyn MixedEffects, num_obs: usize) -> Vec<Shift> {
    let p = view.num_coefficients();
    let is_one = |value: f64| (value - 1.0).abs() < EQUAL;
    let intercept = (0..p).find(|&j| (0..num_obs).all(|i| is_one(view.covariates(i)[j])));
    let mut found = Vec::new();
    for (t, term) in view.terms().iter().enumerate() {
        let q = term.width();
        let ones = (0..q).find(|&k| (0..num_obs).all(|i| is_one(term.row(i).0[k])));
        for j in 0..p {
            let mut direction = vec![0.0; p];
            direction[j] = 1.0;
            let mut by_group = vec![0.0; term.levels.len() * q];
            let column = |i: usize| view.covariates(i)[j];
            if let (Some(one), Some(constants)) = (ones, by_level(term, num_obs, &column)) {
                for (g, constant) in constants.into_iter().enumerate() {
                    by_group[g * q + one] = constant;
                }
            } else if let Some((k, slope, rest)) = line(term, num_obs, &column) {
                for a in by_group.chunks_exact_mut(q) {
                    a[k] = slope;
                }
                match (ones, intercept) {
                    _ if rest == 0.0 => {}
                    (Some(one), _) => {
                        for a in by_group.chunks_exact_mut(q) {
                            a[one] = rest;
                        }
                    }
                    (None, Some(intercept)) => direction[intercept] -= rest,
                    (None, None) => continue,
                }
            } else {
                continue;
            }
            found.push(Shift {
                term: t,
                direction,
                by_group,
                trial: vec![0.0; p],
            });
        }
    }
    found
}

/// The value of `column` in each group, where it has one; 0 for groups without rows.
fn by_level(term: &GroupTerm, num_obs: usize, column: &dyn Fn(usize) -> f64) -> Option<Vec<f64>> {
    let mut values = vec![f64::NAN; term.levels.len()];
    for i in 0..num_obs {
        let (value, here) = (&mut values[term.index[i] as usize], column(i));
        if value.is_nan() {
            *value = here;
        }
        if (*value - here).abs() > EQUAL * value.abs().max(1.0) {
            return None;
        }
    }
    for value in &mut values {
        if value.is_nan() {
            *value = 0.0;
        }
    }
    Some(values)
}

/// (k, s, c) with `column` = s z_k + c in all rows.
fn line(
    term: &GroupTerm,
    num_obs: usize,
    column: &dyn Fn(usize) -> f64,
) -> Option<(usize, f64, f64)> {
    (0..term.width()).find_map(|k| {
        let z = |i: usize| term.row(i).0[k];
        let other = (1..num_obs).find(|&i| (z(i) - z(0)).abs() > EQUAL)?;
        let slope = (column(other) - column(0)) / (z(other) - z(0));
        let rest = column(0) - slope * z(0);
        let fits = |i: usize| {
            let (value, along) = (column(i), slope * z(i));
            (value - along - rest).abs() < EQUAL * (1.0 + value.abs() + along.abs())
        };
        (slope != 0.0 && (0..num_obs).all(fits)).then_some((k, slope, rest))
    })
}

impl Shift {
    /// Draws δ.
    pub fn draw(
        &mut self,
        terms: &[GroupTerm],
        spreads: &[Spread],
        prior: &PriorRows,
        beta: &mut [f64],
        effects: &mut [f64],
        rng: &mut ChainRng,
    ) -> Result<(), StepError> {
        let (term, spread) = (&terms[self.term], &spreads[self.term]);
        let q = term.width();
        let own = &mut effects[term.start..][..term.effects.len()];
        let (mut linear, mut square) = (0.0, 0.0);
        for (r, a) in own.chunks_exact(q).zip(self.by_group.chunks_exact(q)) {
            for i in 0..q {
                let pull = dot(&spread.precision[i][..q], a);
                linear += r[i] * pull;
                square += a[i] * pull;
            }
        }
        if square <= 0.0 || !square.is_finite() {
            return Ok(());
        }
        let (direction, trial) = (&self.direction, &mut self.trial);
        let mut log_density = |delta: f64| {
            trial.copy_from_slice(beta);
            axpy(delta, direction, trial);
            let of_beta: f64 = (0..prior.count())
                .map(|k| {
                    prior
                        .prior(k)
                        .log_density(dot(prior.covariates(k), trial))
                        .0
                })
                .sum();
            Ok(of_beta + delta * (linear - 0.5 * delta * square))
        };
        let here = log_density(0.0)?;
        let (delta, _) = slice_along(here, WIDTH / square.sqrt(), rng, log_density)?;
        axpy(delta, direction, beta);
        axpy(-delta, &self.by_group, own);
        Ok(())
    }
}
