//! Passes over many rows in parts that are always the same, so that sums do not depend on the number of threads.

use rayon::prelude::*;

use super::CHUNK_ROWS;
use crate::models::{RowLikelihood, Rows, Scratch};
use ergodic_base::linalg::axpy;

/// Parts of a pass for second derivatives at most: enough for many cores to share.
const MOST_PARTS: usize = 64;
/// Numbers of all parts' matrices at most, 64 MB.
const MOST_NUMBERS: usize = 1 << 23;
/// Rows times sums from which other threads help: with fewer, about a third of a millisecond, a pass is over soon after they have woken up.
const SHARED_FROM: usize = 1 << 21;

/// Log likelihood of `rows` of `model` at `u` (D) and, ADDED to `grad` (D), its gradient, with all cores of the machine where they are
/// free to help.
pub fn log_lik(model: &dyn RowLikelihood, u: &[f64], rows: Rows<'_>, grad: &mut [f64]) -> f64 {
    let width = u.len() + 1;
    let sums = sums_of_parts(model, rows, CHUNK_ROWS, width, |rows, scratch, sums| {
        let (value, grad) = sums.split_at_mut(1);
        value[0] = model.log_lik(u, rows, scratch, grad);
    });
    let mut value = 0.0;
    for sums in sums.chunks_exact(width) {
        value += sums[0];
        axpy(1.0, &sums[1..], grad);
    }
    value
}

/// ADDS −∂² of the log likelihood of `rows` of `model` at `u` (D) to the row-major `hessian` (D×D), as [`log_lik`] does its gradient.
pub fn add_neg_hessian(model: &dyn RowLikelihood, u: &[f64], rows: Rows<'_>, hessian: &mut [f64]) {
    let most = (MOST_NUMBERS / hessian.len().max(1)).clamp(1, MOST_PARTS);
    let chunks = rows
        .len(model.num_obs())
        .div_ceil(CHUNK_ROWS)
        .div_ceil(most);
    let (part_rows, width) = (chunks * CHUNK_ROWS, hessian.len());
    let sums = sums_of_parts(model, rows, part_rows, width, |rows, scratch, sums| {
        model.add_neg_hessian_log_lik(u, rows, scratch, sums);
    });
    for sums in sums.chunks_exact(width) {
        axpy(1.0, sums, hessian);
    }
}

/// `width` sums over each part of `part_rows` rows, one part after the other. One part alone of rows that are not neighbours, and of all
/// rows where the model knows them by fewer sums.
fn sums_of_parts(
    model: &dyn RowLikelihood,
    rows: Rows<'_>,
    part_rows: usize,
    width: usize,
    sum: impl Fn(Rows<'_>, &mut Scratch, &mut [f64]) + Sync,
) -> Vec<f64> {
    let num_obs = model.num_obs();
    let neighbours = match rows {
        Rows::All if model.cost_of_all() < num_obs => None,
        Rows::All => Some((0, num_obs)),
        Rows::Span { start, len } => Some((start, len)),
        _ => None,
    };
    let Some((first, len)) = neighbours.filter(|&(_first, len)| len > part_rows) else {
        let mut sums = vec![0.0; width];
        sum(rows, &mut model.scratch(), &mut sums);
        return sums;
    };
    let mut sums = vec![0.0; len.div_ceil(part_rows) * width];
    let part = |scratch: &mut Scratch, (index, sums): (usize, &mut [f64])| {
        let start = index * part_rows;
        let rows = Rows::Span {
            start: first + start,
            len: part_rows.min(len - start),
        };
        sum(rows, scratch, sums);
    };
    // A thread of a pool that waits for others could take up a chain that is to run for hours.
    if rayon::current_thread_index().is_none() && len * width >= SHARED_FROM {
        (sums.par_chunks_mut(width).enumerate()).for_each_init(|| model.scratch(), part);
    } else {
        let mut scratch = model.scratch();
        (sums.chunks_mut(width).enumerate()).for_each(|it| part(&mut scratch, it));
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::GaussianRows;

    /// Number of rows that make many parts, the last of them short, and are shared.
    const NUM_OBS: usize = (SHARED_FROM / 3).next_multiple_of(CHUNK_ROWS) + 77;

    /// A pool's threads go from part to part, others share them.
    #[test]
    fn passes_are_the_same_whoever_makes_them_and_sum_all_rows() {
        let model = GaussianRows::simulated(NUM_OBS, 2, 5);
        let u = [0.3, -0.2];
        let made = || {
            let (mut grad, mut hessian) = ([1.0; 2], [0.5; 4]);
            let value = log_lik(&model, &u, Rows::All, &mut grad);
            add_neg_hessian(&model, &u, Rows::All, &mut hessian);
            (value, grad, hessian)
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build();
        let (value, grad, hessian) = made();
        assert_eq!((value, grad, hessian), pool.unwrap().install(made));
        let (mut plain, mut curvature) = ([1.0; 2], [0.5; 4]);
        let mut scratch = model.scratch();
        let all = model.log_lik(&u, Rows::All, &mut scratch, &mut plain);
        model.add_neg_hessian_log_lik(&u, Rows::All, &mut scratch, &mut curvature);
        let close = |a: f64, b: f64| (a - b).abs() < 1e-11 * b.abs();
        assert!(close(value, all), "{value} {all}");
        assert!(grad.iter().zip(plain).all(|(a, b)| close(*a, b)));
        assert!(hessian.iter().zip(curvature).all(|(a, b)| close(*a, b)));
    }

    #[test]
    fn spans_are_those_asked_for() {
        let model = GaussianRows::simulated(NUM_OBS, 2, 6);
        let u = [0.1, 0.2];
        let of = |start, len| {
            let mut grad = [0.0; 2];
            log_lik(&model, &u, Rows::Span { start, len }, &mut grad)
        };
        let whole = of(3, NUM_OBS - 3);
        let parts = of(3, 1000) + of(1003, NUM_OBS - 1003);
        assert!(
            (whole - parts).abs() < 1e-11 * whole.abs(),
            "{whole} {parts}"
        );
    }
}
