//! Moves between coefficients and effects: what all groups share can be said by a coefficient.
//!
//! Along the directions of [`crate::design::confounding`] β + δ d and r_g − δ a_g leave every predictor as it is. So δ | β, r
//! does not depend on the rows, and drawing it along its slice costs no pass. Without it such a coefficient follows the
//! effects in steps as small as the rows allow; the effect is that of centring effects at their coefficients (Gelfand,
//! Sahu and Carlin 1995; Liu and Sabatti 2000).

use super::Spread;
use crate::design::{Direction, GroupColumns, directions};
use crate::models::PriorRows;
use crate::models::mixed::{GroupTerm, MixedEffects};
use crate::oracle::StepError;
use crate::samplers::full_data::slice::slice_along;
use ergodic_base::ChainRng;
use ergodic_base::linalg::{axpy, dot};

/// First width of slices in standard deviations of δ under a flat prior of the coefficient.
const WIDTH: f64 = 3.0;

/// One direction.
pub struct Shift {
    term: usize,
    along: Direction,
    trial: Vec<f64>,
}

/// All directions of `view`.
pub fn find(view: &dyn MixedEffects) -> Vec<Shift> {
    let p = view.num_coefficients();
    let mut found = Vec::new();
    for (term, columns) in view.terms().iter().enumerate() {
        let group = GroupColumns {
            index: &columns.index,
            z: &columns.z,
            width: columns.width(),
            levels: columns.levels.len(),
        };
        let all = directions(&|row| view.covariates(row), p, &group);
        found.extend(all.into_iter().map(|along| Shift {
            term,
            along,
            trial: vec![0.0; p],
        }));
    }
    found
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
        let Direction {
            direction,
            by_group,
        } = &self.along;
        let own = &mut effects[term.start..][..term.effects.len()];
        let (mut linear, mut square) = (0.0, 0.0);
        for (r, a) in own.chunks_exact(q).zip(by_group.chunks_exact(q)) {
            for i in 0..q {
                let pull = dot(&spread.precision[i][..q], a);
                linear += r[i] * pull;
                square += a[i] * pull;
            }
        }
        if square <= 0.0 || !square.is_finite() {
            return Ok(());
        }
        let trial = &mut self.trial;
        let mut log_density = |delta: f64| {
            trial.copy_from_slice(beta);
            axpy(delta, direction, trial);
            let of_beta: f64 = (0..prior.count())
                .map(|k| prior.prior(k).log_density(dot(prior.row(k), trial)).0)
                .sum();
            Ok(of_beta + delta * (linear - 0.5 * delta * square))
        };
        let here = log_density(0.0)?;
        let (delta, _) = slice_along(here, WIDTH / square.sqrt(), rng, log_density)?;
        axpy(delta, direction, beta);
        axpy(-delta, by_group, own);
        Ok(())
    }
}
