//! The few dense operations that steps need, on slices; factorisations come from `faer`.
//!
//! Matrices are square, row-major slices of length D². Products are written out with a fixed order of additions,
//! so that they give the same bits on every machine; factorisations do within a class of processors.

use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{
    LltParams, cholesky_in_place, cholesky_in_place_scratch,
};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par, Spec};

/// A symmetric matrix turned out not to be positive definite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the matrix is not positive definite")]
pub struct NotPositiveDefinite;

/// Σ a_i b_i with eight accumulators, so that strict additions still use vector units.
#[inline]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    widening_dot(a, b)
}

/// [`dot`] of numbers of any precision below: they are widened first, so that only they are rounded.
#[inline]
pub fn widening_dot<T: Copy + Into<f64>>(a: &[T], b: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let (a_main, a_tail) = a.as_chunks::<8>();
    let (b_main, b_tail) = b.as_chunks::<8>();
    for (x, y) in a_main.iter().zip(b_main) {
        for k in 0..8 {
            lanes[k] += x[k].into() * y[k];
        }
    }
    let tails = a_tail.iter().zip(b_tail);
    let tail: f64 = tails.map(|(&x, y)| x.into() * y).sum();
    ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5]))
        + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]))
        + tail
}

/// y ← y + α x.
#[inline]
pub fn axpy(alpha: f64, x: &[f64], y: &mut [f64]) {
    widening_axpy(alpha, x, y);
}

/// [`axpy`] of numbers of any precision below.
#[inline]
pub fn widening_axpy<T: Copy + Into<f64>>(alpha: f64, x: &[T], y: &mut [f64]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y += alpha * x.into();
    }
}

/// Rows handled together, so that sums stand in registers.
const TOGETHER: usize = 8;

/// ADDS Σ s s' over the rows s of the row-major B×D `scores` to the lower half of `out` (D×D), one row after another in every sum.
pub fn add_outer_products(scores: &[f64], dim: usize, out: &mut [f64]) {
    let groups = scores.chunks_exact(TOGETHER * dim);
    let rest = groups.remainder();
    for group in groups {
        let rows: [&[f64]; TOGETHER] = std::array::from_fn(|k| &group[k * dim..][..dim]);
        for (i, line) in out.chunks_exact_mut(dim).enumerate() {
            let factors = rows.map(|row| row[i]);
            let line = &mut line[..=i];
            let rows = rows.map(|row| &row[..=i]);
            for j in 0..line.len() {
                let mut sum = line[j];
                for k in 0..TOGETHER {
                    sum += factors[k] * rows[k][j];
                }
                line[j] = sum;
            }
        }
    }
    for row in rest.chunks_exact(dim) {
        for i in 0..dim {
            axpy(row[i], row, &mut out[i * dim..=i * dim + i]);
        }
    }
}

/// out ← A x for a row-major matrix with `x.len()` columns.
#[inline]
pub fn matvec(a: &[f64], x: &[f64], out: &mut [f64]) {
    for (row, out) in a.chunks_exact(x.len()).zip(out) {
        *out = dot(row, x);
    }
}

/// A matrix as a factor of a product ([`add_product`]).
#[derive(Clone, Copy, Debug)]
pub struct Factor<'a>(MatRef<'a, f64>);

impl<'a> Factor<'a> {
    /// The row-major matrix of `columns` columns in `values`.
    pub fn of(values: &'a [f64], columns: usize) -> Self {
        let rows = values.len() / columns.max(1);
        Self(MatRef::from_row_major_slice(
            &values[..rows * columns],
            rows,
            columns,
        ))
    }

    /// The matrix with rows for columns.
    #[must_use]
    pub fn transposed(self) -> Self {
        Self(self.0.transpose())
    }
}

/// ADDS the product A B of an m×k and a k×n matrix to the row-major `out` (m×n), on the thread that calls.
pub fn add_product(a: Factor<'_>, b: Factor<'_>, out: &mut [f64]) {
    let (Factor(a), Factor(b)) = (a, b);
    let out = MatMut::from_row_major_slice_mut(out, a.nrows(), b.ncols());
    matmul(out, Accum::Add, a, b, 1.0, Par::Seq);
}

/// x'A x.
pub fn quadratic_form(a: &[f64], x: &[f64]) -> f64 {
    a.chunks_exact(x.len())
        .zip(x)
        .map(|(row, x_i)| x_i * dot(row, x))
        .sum()
}

/// The lower factor L of A = L L', with its working memory: refactoring does not allocate.
pub struct Cholesky {
    dim: usize,
    lower: Vec<f64>,
    memory: MemBuffer,
}

impl std::fmt::Debug for Cholesky {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cholesky")
            .field("dim", &self.dim)
            .finish_non_exhaustive()
    }
}

impl Clone for Cholesky {
    fn clone(&self) -> Self {
        let mut copy = Self::empty(self.dim);
        copy.lower.copy_from_slice(&self.lower);
        copy
    }
}

impl Cholesky {
    /// Memory for D×D matrices; holds the identity until [`Self::factor`] succeeds.
    pub fn empty(dim: usize) -> Self {
        let params = Spec::<LltParams, f64>::default();
        let memory = MemBuffer::new(cholesky_in_place_scratch::<f64>(dim, Par::Seq, params));
        let mut lower = vec![0.0; dim * dim];
        for i in 0..dim {
            lower[i * dim + i] = 1.0;
        }
        Self { dim, lower, memory }
    }

    /// The factor of the symmetric matrix `a` (its lower triangle is read).
    pub fn of(a: &[f64], dim: usize) -> Result<Self, NotPositiveDefinite> {
        let mut factor = Self::empty(dim);
        factor.factor(a)?;
        Ok(factor)
    }

    /// Replaces the factor by that of `a`. After an error the factor must not be used.
    pub fn factor(&mut self, a: &[f64]) -> Result<(), NotPositiveDefinite> {
        let dim = self.dim;
        self.lower.copy_from_slice(a);
        let view = MatMut::from_row_major_slice_mut(&mut self.lower, dim, dim);
        let params = Spec::<LltParams, f64>::default();
        cholesky_in_place(
            view,
            faer::linalg::cholesky::llt::factor::LltRegularization::default(),
            Par::Seq,
            MemStack::new(&mut self.memory),
            params,
        )
        .map_err(|_not_positive| NotPositiveDefinite)?;
        for i in 0..dim {
            for j in i + 1..dim {
                self.lower[i * dim + j] = 0.0;
            }
        }
        // A NaN passes the pivot test of the library.
        if self.lower.iter().all(|v| v.is_finite()) {
            Ok(())
        } else {
            Err(NotPositiveDefinite)
        }
    }

    /// D.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// L, row-major with zeros above the diagonal.
    pub fn lower(&self) -> &[f64] {
        &self.lower
    }

    /// L for saving and restoring; what is written must be lower triangular with a positive diagonal.
    pub fn lower_mut(&mut self) -> &mut [f64] {
        &mut self.lower
    }

    /// out ← L x.
    pub fn lower_mul(&self, x: &[f64], out: &mut [f64]) {
        for i in 0..self.dim {
            let row = &self.lower[i * self.dim..i * self.dim + i + 1];
            out[i] = dot(row, &x[..=i]);
        }
    }

    /// out ← L' x.
    pub fn lower_transpose_mul(&self, x: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for i in 0..self.dim {
            axpy(
                x[i],
                &self.lower[i * self.dim..i * self.dim + i + 1],
                &mut out[..=i],
            );
        }
    }

    /// x ← L⁻¹ x.
    pub fn solve_lower(&self, x: &mut [f64]) {
        for i in 0..self.dim {
            let row = &self.lower[i * self.dim..i * self.dim + i];
            x[i] = (x[i] - dot(row, &x[..i])) / self.lower[i * self.dim + i];
        }
    }

    /// x ← L⁻¹ x for every row x of the row-major B×D `rows`: eight at a time, so that no row waits for its own
    /// divisions. Allocates, so it is for preparation, not for steps.
    pub fn solve_lower_rows(&self, rows: &mut [f64]) {
        let dim = self.dim;
        let mut columns = vec![[0.0; TOGETHER]; dim];
        for rows in rows.chunks_mut(TOGETHER * dim) {
            for (k, row) in rows.chunks_exact(dim).enumerate() {
                for (column, &x) in columns.iter_mut().zip(row) {
                    column[k] = x;
                }
            }
            for i in 0..dim {
                let line = &self.lower[i * dim..=i * dim + i];
                let (known, rest) = columns.split_at_mut(i);
                let own = &mut rest[0];
                for (column, &factor) in known.iter().zip(line) {
                    for k in 0..TOGETHER {
                        own[k] -= factor * column[k];
                    }
                }
                for x in own {
                    *x /= line[i];
                }
            }
            for (k, row) in rows.chunks_exact_mut(dim).enumerate() {
                for (column, x) in columns.iter().zip(row) {
                    *x = column[k];
                }
            }
        }
    }

    /// x ← L⁻ᵀ x: turns standard normals into N(0, A⁻¹).
    pub fn solve_lower_transpose(&self, x: &mut [f64]) {
        for i in (0..self.dim).rev() {
            x[i] /= self.lower[i * self.dim + i];
            let x_i = x[i];
            let row = &self.lower[i * self.dim..i * self.dim + i];
            axpy(-x_i, row, &mut x[..i]);
        }
    }

    /// x ← A⁻¹ x.
    pub fn solve(&self, x: &mut [f64]) {
        self.solve_lower(x);
        self.solve_lower_transpose(x);
    }

    /// A⁻¹, row-major.
    pub fn inverse(&self) -> Vec<f64> {
        let dim = self.dim;
        let mut out = vec![0.0; dim * dim];
        let mut column = vec![0.0; dim];
        for j in 0..dim {
            column.fill(0.0);
            column[j] = 1.0;
            self.solve(&mut column);
            for i in 0..dim {
                out[i * dim + j] = column[i];
            }
        }
        out
    }

    /// Writes A⁻¹ (D×D) into `out` without allocating; symmetric up to rounding.
    pub fn write_inverse(&self, out: &mut [f64]) {
        out.fill(0.0);
        for (j, column) in out.chunks_exact_mut(self.dim).enumerate() {
            column[j] = 1.0;
            self.solve(column);
        }
    }

    /// log det A.
    pub fn log_det(&self) -> f64 {
        (0..self.dim)
            .map(|i| 2.0 * self.lower[i * self.dim + i].ln())
            .sum()
    }
}

/// Eigenvalues and eigenvectors of a symmetric matrix, with their working memory: decomposing again does not allocate.
pub struct SymmetricEigen {
    dim: usize,
    values: Vec<f64>,
    vectors: Vec<f64>,
    memory: MemBuffer,
}

impl std::fmt::Debug for SymmetricEigen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SymmetricEigen")
            .field("dim", &self.dim)
            .finish_non_exhaustive()
    }
}

/// An eigendecomposition failed: the matrix holds NaN or infinity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the matrix has entries that are not finite numbers")]
pub struct NotFinite;

impl SymmetricEigen {
    /// Memory for D×D matrices.
    pub fn empty(dim: usize) -> Self {
        let memory = MemBuffer::new(self_adjoint_evd_scratch::<f64>(
            dim,
            ComputeEigenvectors::Yes,
            Par::Seq,
            Spec::default(),
        ));
        Self {
            dim,
            values: vec![0.0; dim],
            vectors: vec![0.0; dim * dim],
            memory,
        }
    }

    /// Decomposes the symmetric matrix `a` (its lower triangle is read).
    pub fn decompose(&mut self, a: &[f64]) -> Result<(), NotFinite> {
        if a.iter().any(|v| !v.is_finite()) {
            return Err(NotFinite);
        }
        let dim = self.dim;
        self_adjoint_evd(
            MatRef::from_row_major_slice(a, dim, dim),
            DiagMut::from_slice_mut(&mut self.values),
            // Column-major: column k, the k-th vector, is a contiguous row of ours.
            Some(MatMut::from_column_major_slice_mut(
                &mut self.vectors,
                dim,
                dim,
            )),
            Par::Seq,
            MemStack::new(&mut self.memory),
            Spec::default(),
        )
        .map_err(|_no_convergence| NotFinite)
    }

    /// Eigenvalues in ascending order (D).
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The unit eigenvector of the `k`-th value (D).
    pub fn vector(&self, k: usize) -> &[f64] {
        &self.vectors[k * self.dim..(k + 1) * self.dim]
    }
}

/// Eigenvalues in ascending order and eigenvectors of a symmetric matrix; vector k is row k of the second result.
pub fn symmetric_eigen(a: &[f64], dim: usize) -> Option<(Vec<f64>, Vec<f64>)> {
    let mut eigen = SymmetricEigen::empty(dim);
    eigen.decompose(a).ok()?;
    Some((eigen.values, eigen.vectors))
}

/// A ← L⁻¹ A L⁻ᵀ for a symmetric row-major matrix: A in the coordinates in which L L' is the identity.
pub fn whiten(factor: &Cholesky, a: &mut [f64]) {
    let dim = factor.dim();
    for row in a.chunks_exact_mut(dim) {
        factor.solve_lower(row);
    }
    for i in 0..dim {
        for j in 0..i {
            a.swap(i * dim + j, j * dim + i);
        }
    }
    for row in a.chunks_exact_mut(dim) {
        factor.solve_lower(row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_one_row_after_another() {
        for (rows, dim) in [(3, 2), (8, 5), (29, 7), (40, 1)] {
            let scores: Vec<f64> = (0..rows * dim).map(|i| (i as f64 * 1.7).sin()).collect();
            let mut expected = vec![0.5; dim * dim];
            for row in scores.chunks_exact(dim) {
                for i in 0..dim {
                    axpy(row[i], row, &mut expected[i * dim..=i * dim + i]);
                }
            }
            let mut out = vec![0.5; dim * dim];
            add_outer_products(&scores, dim, &mut out);
            assert_eq!(out, expected);
        }
    }

    #[test]
    fn rows_are_solved_together_as_one_by_one() {
        let factor = Cholesky::of(&A, 3).unwrap();
        for rows in [1, 8, 21] {
            let mut together: Vec<f64> = (0..3 * rows).map(|i| (i as f64 * 0.7).cos()).collect();
            let mut alone = together.clone();
            factor.solve_lower_rows(&mut together);
            for row in alone.chunks_exact_mut(3) {
                factor.solve_lower(row);
            }
            for (together, alone) in together.iter().zip(&alone) {
                assert!((together - alone).abs() < 1e-15);
            }
        }
    }

    const A: [f64; 9] = [4.0, 2.0, 0.6, 2.0, 3.0, 0.4, 0.6, 0.4, 2.0];

    #[test]
    fn the_factor_multiplies_back_and_solves() {
        let factor = Cholesky::of(&A, 3).unwrap();
        let x = [0.3, -1.2, 2.0];
        let (mut half, mut ax) = ([0.0; 3], [0.0; 3]);
        factor.lower_transpose_mul(&x, &mut half);
        factor.lower_mul(&half, &mut ax);
        let mut expected = [0.0; 3];
        matvec(&A, &x, &mut expected);
        for i in 0..3 {
            assert!((ax[i] - expected[i]).abs() < 1e-14);
        }
        factor.solve(&mut ax);
        for i in 0..3 {
            assert!((ax[i] - x[i]).abs() < 1e-14);
        }
        assert!((quadratic_form(&A, &x) - dot(&x, &expected)).abs() < 1e-14);
    }

    #[test]
    fn indefinite_and_nan_matrices_are_refused() {
        assert_eq!(
            Cholesky::of(&[1.0, 2.0, 2.0, 1.0], 2).unwrap_err(),
            NotPositiveDefinite
        );
        assert!(Cholesky::of(&[1.0, f64::NAN, f64::NAN, 1.0], 2).is_err());
    }

    #[test]
    fn eigenvectors_diagonalise() {
        let (values, vectors) = symmetric_eigen(&A, 3).unwrap();
        for k in 0..3 {
            let v = &vectors[3 * k..3 * k + 3];
            assert!((quadratic_form(&A, v) - values[k]).abs() < 1e-12);
            assert!((dot(v, v) - 1.0).abs() < 1e-12);
        }
        assert!(values[0] <= values[1] && values[1] <= values[2]);
    }
    #[test]
    fn whitening_a_matrix_by_its_own_factor_gives_the_identity() {
        let mut a = A;
        whiten(&Cholesky::of(&A, 3).unwrap(), &mut a);
        for i in 0..3 {
            for j in 0..3 {
                let expected = f64::from(u8::from(i == j));
                assert!((a[3 * i + j] - expected).abs() < 1e-14);
            }
        }
    }
}
