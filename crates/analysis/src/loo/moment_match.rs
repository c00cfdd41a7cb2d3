//! Scores of rows whose importance weights cannot be trusted, by draws moved towards the posterior without each of them: no fit is
//! made again, and a row costs some dozen passes over data and draws.

use rayon::prelude::*;

use super::{CrossValidation, LooError};
use crate::predict::Fitted;
use ergodic_base::Control;
use ergodic_base::draws::DrawList;
use ergodic_core::models::{LogDensity, Model};
use ergodic_diagnostics::loo::moment_match::{Draws, Target};
use ergodic_diagnostics::loo::{Chains, RowScore, Scorer};

/// Draws between two looks at the control.
const TILE: usize = 64;

/// Densities at points on the real line, and what a row is worth there.
struct Moving<'a> {
    fitted: &'a Fitted,
    model: &'a dyn Model,
    density: &'a dyn LogDensity,
    /// Row of the table, 0-based.
    row: u32,
    control: &'a Control,
}

impl Moving<'_> {
    /// Log densities of the posterior at points, and the reported quantities there.
    fn densities(&self, points: &[f64], out: &mut [f64]) -> Result<Vec<f64>, LooError> {
        let (dim, width) = (self.model.dim(), self.model.params().len());
        let mut reported = vec![0.0; out.len() * width];
        points
            .par_chunks(TILE * dim)
            .zip(out.par_chunks_mut(TILE))
            .zip(reported.par_chunks_mut(TILE * width))
            .for_each_init(
                || vec![0.0; dim],
                |grad, ((points, out), reported)| {
                    if self.control.is_cancelled() {
                        return;
                    }
                    let reported = reported.chunks_exact_mut(width);
                    for ((u, out), theta) in points.chunks_exact(dim).zip(out).zip(reported) {
                        *out = self.density.log_density(u, grad);
                        self.model.constrain(u, theta);
                    }
                },
            );
        self.control.check(LooError::Cancelled)?;
        Ok(reported)
    }
}

impl Target for Moving<'_> {
    type Error = LooError;

    fn evaluate(
        &mut self,
        points: &[f64],
        log_density: &mut [f64],
        log_lik: &mut [f64],
    ) -> Result<(), LooError> {
        let width = self.model.params().len();
        let reported = self.densities(points, log_density)?;
        let mut list = DrawList::new(width);
        let mut kept = Vec::with_capacity(log_density.len());
        for (s, theta) in reported.chunks_exact(width).enumerate() {
            // Where there is no density there is no outcome to compute either.
            if log_density[s].is_finite() && theta.iter().all(|it| it.is_finite()) {
                list.push(theta);
                kept.push(s);
            } else {
                log_density[s] = f64::NEG_INFINITY;
            }
        }
        log_lik.fill(f64::NEG_INFINITY);
        if kept.is_empty() {
            return Ok(());
        }
        let of_row = self.fitted.log_lik_of_row(self.row, &list, self.control)?;
        let mut values = vec![0.0; kept.len()];
        of_row.row(0, 0, &mut values);
        for (s, value) in kept.into_iter().zip(values) {
            log_lik[s] = value;
        }
        Ok(())
    }
}

impl CrossValidation {
    /// Takes the scores of rows whose Pareto k is not good, unless they were fitted without, from draws moved by moment matching, where
    /// that lowers it. `draws` (one
    /// list per chain) are those that the scores were made from.
    ///
    /// # Errors
    /// The model has no density, the draws have weights or not all of them were used; somebody cancelled.
    pub fn match_moments(
        &mut self,
        fitted: &Fitted,
        draws: &[&DrawList],
        control: &Control,
    ) -> Result<(), LooError> {
        let model = fitted.model();
        let Some(density) = model.density() else {
            return Err(LooError::NoDensity);
        };
        if draws
            .iter()
            .any(|list| list.width() != model.params().len())
        {
            return Err(LooError::NotKept);
        }
        let count: usize = draws.iter().map(|list| list.len()).sum();
        if self.weighted {
            return Err(LooError::Weighted);
        }
        if count != self.loo.draws {
            return Err(LooError::Thinned);
        }
        let is_left = |i: &usize| {
            let row = &self.observed.rows[*i];
            !self.tried.contains(row) && !self.refitted.contains(row)
        };
        let mut doubtful = self.loo.doubtful();
        doubtful.retain(is_left);
        control.enter("moving draws");
        control.expect(doubtful.len() as u64);
        let dim = model.dim();
        let mut points = vec![0.0; count * dim];
        let mut theta = vec![0.0; model.params().len()];
        let all = draws
            .iter()
            .flat_map(|list| (0..list.len()).map(move |i| (*list, i)));
        for ((list, i), u) in all.zip(points.chunks_exact_mut(dim)) {
            for (j, theta) in theta.iter_mut().enumerate() {
                *theta = list.value(i, j);
            }
            model.unconstrain(&theta, u);
        }
        let lengths: Vec<usize> = draws.iter().map(|list| list.len()).collect();
        let chains = Chains::new(&lengths, None).map_err(|_signed| LooError::SignedWeights)?;
        let mut scorer = Scorer::new(&chains);
        let limit = self.loo.threshold();
        for i in doubtful {
            control.check(LooError::Cancelled)?;
            let row = self.observed.rows[i];
            let mut target = Moving {
                fitted,
                model,
                density,
                row,
                control,
            };
            let (mut log_density, mut log_lik) = (vec![0.0; count], vec![0.0; count]);
            target.evaluate(&points, &mut log_density, &mut log_lik)?;
            if log_density.iter().chain(&log_lik).any(|it| !it.is_finite()) {
                return Err(LooError::NotFinite(fitted.place(row)));
            }
            let draws = Draws {
                points: &points,
                dim,
                log_density: &log_density,
            };
            if let Some(found) = scorer.moment_match(&mut target, draws, &log_lik, limit)? {
                let before = self.loo.rows[i];
                self.loo.rows[i] = RowScore {
                    elpd: found.elpd,
                    mc_variance: found.mc_variance,
                    k: found.k,
                    ..before
                };
                self.matched.push(row);
            }
            self.tried.push(row);
            control.advance(1);
        }
        self.matched.sort_unstable();
        Ok(())
    }

    /// Whether draws could be moved for a row whose Pareto k is not good, as was not tried.
    pub fn can_match_moments(&self) -> bool {
        let is_left =
            |(row, _): &(u32, f64)| !self.tried.contains(row) && !self.refitted.contains(row);
        !self.weighted && self.doubtful().iter().any(is_left)
    }
}
