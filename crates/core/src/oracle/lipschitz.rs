//! Rows chosen with probability proportional to the Lipschitz constant of their gradient (Baker 2018, Lemma 3.3.3).
//!
//! The lemma's L_i is that of ∇f_i in the coordinates in which a chain moves. Chains with control variates move in
//! whitened coordinates η = L'(u − û), H = LL'; row i, whose log likelihood depends on u through a_i'u, has there
//! L_i = (largest |∂² log p/∂z²|) a_i'H⁻¹a_i. Choosing u itself instead would let the unit of a column decide.

use std::sync::Arc;

use rand::RngExt as _;

use super::Centre;
use super::minibatch::below;
use super::row_noise::{spread_rows, typical_point, typical_points};
use crate::models::{LinearRows, RowLikelihood, Rows};
use ergodic_base::linalg::{Cholesky, axpy, dot};
use ergodic_base::{ChainRng, Purpose, stream};

/// Rows from which the noise under this choice is measured, over all points together.
const NOISE_ROWS: usize = 40_000;

/// Rows whose covariates are whitened at once.
const BLOCK: usize = 256;

/// Rows with unequal probabilities p_i, drawn in constant time (Walker's alias method, built as Vose does).
#[derive(Clone, Debug)]
pub struct AliasTable {
    slots: Vec<Slot>,
    /// 1/(N p_i).
    weight: Vec<f64>,
}

/// What a draw looks up of the row that it hits: side by side, so that it costs one access to memory.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Slot {
    /// Chance to stay with this row.
    stay: f64,
    /// The row to go to otherwise.
    alias: u32,
}

impl AliasTable {
    /// The table for p_i ∝ `masses`; `None` unless all are finite, none is negative and one is positive.
    pub fn new(masses: &[f64]) -> Option<Self> {
        let total: f64 = masses.iter().sum();
        if !(total > 0.0 && total.is_finite()) || masses.iter().any(|&mass| mass < 0.0) {
            return None;
        }
        let mean = total / masses.len() as f64;
        let slot = |(mass, alias): (&f64, u32)| Slot {
            stay: mass / mean,
            alias,
        };
        let mut slots: Vec<Slot> = masses.iter().zip(0..).map(slot).collect();
        let weight = masses
            .iter()
            .map(|&mass| if mass > 0.0 { mean / mass } else { 0.0 })
            .collect();
        // Both take each number, and one keeps it: no processor foresees which.
        let (mut small, mut large) = (vec![0; slots.len()], vec![0; slots.len()]);
        let (mut num_small, mut num_large) = (0, 0);
        for (i, slot) in slots.iter().enumerate() {
            let is_small = slot.stay < 1.0;
            (small[num_small], large[num_large]) = (i, i);
            num_small += usize::from(is_small);
            num_large += usize::from(!is_small);
        }
        small.truncate(num_small);
        large.truncate(num_large);
        while let (Some(&poor), Some(&rich)) = (small.last(), large.last()) {
            small.pop();
            slots[poor].alias = rich as u32;
            slots[rich].stay -= 1.0 - slots[poor].stay;
            if slots[rich].stay < 1.0 {
                large.pop();
                small.push(rich);
            }
        }
        // What is left over is 1 up to rounding.
        for i in small.into_iter().chain(large) {
            slots[i].stay = 1.0;
        }
        Some(Self { slots, weight })
    }

    /// The table of a model's Lipschitz constants, in coordinates whitened by `factor`; `None` for models without
    /// linear rows and for likelihoods with unbounded curvature.
    pub fn of_model(model: &dyn RowLikelihood, factor: &Cholesky) -> Option<Arc<Self>> {
        let linear = model.linear_rows()?;
        let rows = 0..model.num_obs();
        Self::new(&lipschitz(linear, factor, rows)).map(Arc::new)
    }

    /// A row.
    pub fn draw(&self, rng: &mut ChainRng) -> u32 {
        let row = below(rng, self.slots.len() as u32);
        let Slot { stay, alias } = self.slots[row as usize];
        if rng.random::<f64>() < stay {
            row
        } else {
            alias
        }
    }

    /// 1/(N p_i), which makes a sum over drawn rows unbiased.
    pub fn weight(&self, row: u32) -> f64 {
        self.weight[row as usize]
    }
}

/// L_i in whitened coordinates of these rows.
fn lipschitz(
    linear: &dyn LinearRows,
    factor: &Cholesky,
    rows: impl ExactSizeIterator<Item = usize> + Clone,
) -> Vec<f64> {
    let mut constants = squared_lengths(linear, factor, rows.clone());
    for (constant, row) in constants.iter_mut().zip(rows) {
        *constant *= linear.curvature_bound(row);
    }
    constants
}

/// a_i'H⁻¹a_i of these rows, given the factor of H.
pub(super) fn squared_lengths(
    linear: &dyn LinearRows,
    factor: &Cholesky,
    mut rows: impl ExactSizeIterator<Item = usize>,
) -> Vec<f64> {
    let dim = factor.dim();
    let mut block = vec![0.0; BLOCK * dim];
    let mut lengths = Vec::with_capacity(rows.len());
    while rows.len() > 0 {
        let block = &mut block[..rows.len().min(BLOCK) * dim];
        for (own, row) in block.chunks_exact_mut(dim).zip(&mut rows) {
            linear.covariates(row).write_to(own);
        }
        factor.solve_lower_rows(block);
        lengths.extend(block.chunks_exact(dim).map(|own| dot(own, own)));
    }
    lengths
}

/// What [`super::RowNoise::differences`] is with p_i ∝ L_i instead of 1/N: Σ_i Δ_i Δ_i'/p_i − (Σ_i Δ_i)(Σ_i Δ_i)' of whitened
/// score differences, averaged over the quadratic approximation; row-major D×D.
pub fn weighted_difference_noise(model: &dyn RowLikelihood, centre: &Centre) -> Option<Vec<f64>> {
    let Centre { u, factor, .. } = centre;
    let linear = model.linear_rows()?;
    let (dim, num_obs) = (u.len(), model.num_obs());
    let mut rng = stream(0, 2, Purpose::Data);
    let rows = spread_rows(num_obs, NOISE_ROWS, &mut rng);
    let constants = lipschitz(linear, factor, rows.iter().map(|&row| row as usize));
    let mean = constants.iter().sum::<f64>() / rows.len() as f64;
    if !(mean > 0.0 && mean.is_finite()) {
        return None;
    }
    let points = typical_points(dim);
    let num_points = points.len() as f64;
    let mut scratch = model.scratch();
    let mut scores = Vec::new();
    let mut noise = vec![0.0; dim * dim];
    for point in points {
        let u = typical_point(u, factor, point);
        let rows = spread_rows(num_obs, (NOISE_ROWS / (2 * dim)).max(1), &mut rng);
        let count = rows.len() as f64;
        scores.clear();
        scores.resize(rows.len() * dim, 0.0);
        model.score_differences(
            &u,
            Rows::Pick(&rows),
            &centre.rows,
            &mut scratch,
            &mut scores,
        );
        let mut sum = vec![0.0; dim];
        // Σ over all rows, estimated from `count` of them; with N p_i = L_i/mean a square weighs N² mean/(L_i count).
        let per_row = num_obs as f64 / count;
        factor.solve_lower_rows(&mut scores);
        let constants = lipschitz(linear, factor, rows.iter().map(|&row| row as usize));
        for (score, constant) in scores.chunks_exact(dim).zip(constants) {
            axpy(per_row, score, &mut sum);
            if constant > 0.0 {
                let weight = num_obs as f64 * per_row * mean / constant;
                add_square(weight / num_points, score, &mut noise);
            }
        }
        add_square(-1.0 / num_points, &sum, &mut noise);
    }
    Some(noise)
}

/// ADDS `weight` x x' to `out`.
fn add_square(weight: f64, x: &[f64], out: &mut [f64]) {
    for (row, &value) in out.chunks_exact_mut(x.len()).zip(x) {
        axpy(weight * value, x, row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_with_their_probabilities() {
        let masses = [0.0, 1.0, 5.0, 0.5, 3.5, 0.0, 10.0];
        let table = AliasTable::new(&masses).unwrap();
        let mut rng = stream(3, 0, Purpose::Batch);
        let (draws, mut counts) = (200_000, [0_u32; 7]);
        for _ in 0..draws {
            counts[table.draw(&mut rng) as usize] += 1;
        }
        for (row, mass) in masses.iter().enumerate() {
            let p = mass / 20.0;
            let error = (f64::from(draws) * p * (1.0 - p)).sqrt();
            assert!(
                (f64::from(counts[row]) - p * f64::from(draws)).abs() <= 4.0 * error,
                "{counts:?}"
            );
            if p > 0.0 {
                assert!((table.weight(row as u32) * 7.0 * p - 1.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn unusable_probabilities_are_refused() {
        assert!(AliasTable::new(&[0.0, 0.0]).is_none());
        assert!(AliasTable::new(&[1.0, f64::INFINITY]).is_none());
        assert!(AliasTable::new(&[1.0, f64::NAN]).is_none());
        assert!(AliasTable::new(&[1.0, -0.5]).is_none());
    }
}
