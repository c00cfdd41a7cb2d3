//! The sparse Cholesky factor of M = Λ'AΛ + I for a matrix A of [`Blocks`], its determinant, solutions, and the part of
//! its inverse that lies on the pattern of A.
//!
//! The fill-reducing order (approximate minimum degree) and the supernodes are found once; factoring again only computes.
//! The selected inverse is Takahashi's recursion by supernodes J with rows P below: with Y = L_PJ L_JJ⁻¹,
//! Z_PJ = −Z_PP Y and Z_JJ = (L_JJ L_JJ')⁻¹ − Y' Z_PJ, from the last supernode to the first (Takahashi, Fagan and Chin
//! 1973; Erisman and Tinney 1975). Z_PP lies on the pattern of later supernodes. It costs about as much as the factor.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{LltParams, LltRegularization};
use faer::linalg::cholesky::llt::inverse::{inverse, inverse_scratch};
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_upper_triangular_in_place;
use faer::sparse::linalg::cholesky::supernodal::{SupernodalLltRef, SymbolicSupernodalCholesky};
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymbolicCholeskyRaw, SymmetricOrdering,
    factorize_symbolic_cholesky,
};
use faer::sparse::linalg::{SupernodalThreshold, SymbolicSupernodalParams};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMat};
use faer::{Accum, Conj, Mat, MatMut, Par, Side, Spec};

use super::blocks::Blocks;
use super::{Misfit, MixedError};
use ergodic_base::linalg::NotPositiveDefinite;

/// Largest factor, in numbers (3.2 GB): beyond it many crossed groups have filled in.
const MOST_NUMBERS: usize = 400_000_000;
/// Marks entries above the diagonal, which are not stored.
const NOWHERE: usize = usize::MAX;

/// The factor and its working memory.
pub struct Factor {
    dim: usize,
    symbolic: SymbolicCholesky<usize>,
    pattern: SymbolicSparseColMat<usize>,
    /// Position in `values` of every number of the blocks.
    slot: Vec<usize>,
    /// Position in `inverse` of every number of the blocks.
    inverse_slot: Vec<usize>,
    /// Lower half of M by columns.
    values: Vec<f64>,
    /// L by supernodes.
    lower: Vec<f64>,
    /// Z by supernodes, as L; diagonal parts are full.
    inverse: Vec<f64>,
    memory: MemBuffer,
}

impl Factor {
    /// Finds the order and the pattern of L.
    ///
    /// # Errors
    /// The factor would not fit into memory.
    pub fn new(blocks: &Blocks) -> Result<Self, MixedError> {
        let too_large = || MixedError::from(Misfit::Dense(blocks.dim));
        let (pattern, slot) = columns(blocks);
        let params = CholeskySymbolicParams {
            // Below zero: always by supernodes, even without any operation to do.
            supernodal_flop_ratio_threshold: SupernodalThreshold(-1.0),
            supernodal_params: SymbolicSupernodalParams::default(),
            ..CholeskySymbolicParams::default()
        };
        let symbolic = factorize_symbolic_cholesky(
            pattern.as_ref(),
            Side::Lower,
            SymmetricOrdering::Amd,
            params,
        )
        .map_err(|_out_of_memory| too_large())?;
        if symbolic.len_val() > MOST_NUMBERS {
            return Err(too_large());
        }
        let inverse_slot = inverse_positions(blocks, &symbolic);
        let scratch = symbolic
            .factorize_numeric_llt_scratch::<f64>(Par::Seq, Spec::<LltParams, f64>::default());
        Ok(Self {
            dim: blocks.dim,
            values: vec![1.0; pattern.row_idx().len()],
            lower: vec![0.0; symbolic.len_val()],
            inverse: vec![0.0; symbolic.len_val()],
            memory: MemBuffer::new(scratch),
            symbolic,
            pattern,
            slot,
            inverse_slot,
        })
    }

    /// Factors Λ'AΛ + I.
    ///
    /// # Errors
    /// Numbers are not finite, or so large that rounding made the matrix indefinite.
    pub fn factor(
        &mut self,
        blocks: &Blocks,
        a: &[f64],
        lambda: &[Vec<f64>],
    ) -> Result<(), NotPositiveDefinite> {
        let slot = &self.slot;
        let values = &mut self.values;
        for pair in &blocks.pairs {
            let (q_s, q_t) = (blocks.width[pair.s], blocks.width[pair.t]);
            let (lambda_s, lambda_t) = (&lambda[pair.s], &lambda[pair.t]);
            let size = q_s * q_t;
            for block in 0..pair.groups.len() {
                let from = pair.offset + block * size;
                for i in 0..q_t {
                    for j in 0..q_s {
                        let to = slot[from + i * q_s + j];
                        if to == NOWHERE {
                            continue;
                        }
                        let mut sum = f64::from(u8::from(pair.s == pair.t && i == j));
                        for k in i..q_t {
                            for l in j..q_s {
                                sum += lambda_t[k * q_t + i]
                                    * a[from + k * q_s + l]
                                    * lambda_s[l * q_s + j];
                            }
                        }
                        values[to] = sum;
                    }
                }
            }
        }
        if values.iter().any(|v| !v.is_finite()) {
            return Err(NotPositiveDefinite);
        }
        self.symbolic
            .factorize_numeric_llt(
                &mut self.lower,
                SparseColMatRef::new(self.pattern.as_ref(), &self.values),
                Side::Lower,
                LltRegularization::default(),
                Par::Seq,
                MemStack::new(&mut self.memory),
                Spec::default(),
            )
            .map(|_factor| ())
            .map_err(|_not_positive| NotPositiveDefinite)
    }

    /// log det M.
    pub fn log_det(&self) -> f64 {
        let supernodes = supernodal(&self.symbolic);
        let factor = SupernodalLltRef::new(supernodes, &self.lower);
        let mut sum = 0.0;
        for s in 0..supernodes.n_supernodes() {
            let matrix = factor.supernode(s).val();
            for j in 0..matrix.ncols() {
                sum += 2.0 * matrix[(j, j)].ln();
            }
        }
        sum
    }

    /// Each column of `rhs` (dim × k, by columns) ← M⁻¹ times it.
    pub fn solve(&self, rhs: &mut [f64]) {
        if self.dim == 0 {
            return;
        }
        let columns = rhs.len() / self.dim;
        let mut memory = MemBuffer::new(
            self.symbolic
                .solve_in_place_scratch::<f64>(columns, Par::Seq),
        );
        LltRef::new(&self.symbolic, &self.lower).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(rhs, self.dim, columns),
            Par::Seq,
            MemStack::new(&mut memory),
        );
    }

    /// Writes M⁻¹ on the pattern of the blocks into `out`, in their layout.
    pub(crate) fn selected_inverse(&mut self, out: &mut [f64]) {
        let supernodes = supernodal(&self.symbolic);
        let factor = SupernodalLltRef::new(supernodes, &self.lower);
        let home = homes(supernodes);
        let mut position = vec![0; self.dim];
        for s in (0..supernodes.n_supernodes()).rev() {
            let node = factor.supernode(s);
            let (matrix, below) = (node.val(), node.pattern());
            let (width, depth) = (matrix.ncols(), below.len());
            let from = supernodes.col_ptr_for_val()[s];
            if depth == 0 && width == 1 {
                self.inverse[from] = 1.0 / (matrix[(0, 0)] * matrix[(0, 0)]);
                continue;
            }
            let (top, bottom) = matrix.split_at_row(width);
            let mut own = Mat::<f64>::zeros(width, width);
            let mut memory = MemBuffer::new(inverse_scratch::<f64>(width, Par::Seq));
            inverse(own.as_mut(), top, Par::Seq, MemStack::new(&mut memory));
            for j in 0..width {
                for i in 0..j {
                    own[(i, j)] = own[(j, i)];
                }
            }
            let mut across = Mat::<f64>::zeros(depth, width);
            if depth > 0 {
                // Z_PP, gathered from the later supernodes.
                let mut later = Mat::<f64>::zeros(depth, depth);
                let mut current = usize::MAX;
                for (j, &column) in below.iter().enumerate() {
                    let node = home[column];
                    if node != current {
                        positions(supernodes, node, &mut position);
                        current = node;
                    }
                    let start = supernodes.supernode_begin()[node];
                    let rows = height(supernodes, node);
                    let column_from = supernodes.col_ptr_for_val()[node] + (column - start) * rows;
                    for (i, &row) in below.iter().enumerate() {
                        if row >= column {
                            let value = self.inverse[column_from + position[row]];
                            later[(i, j)] = value;
                            later[(j, i)] = value;
                        }
                    }
                }
                let mut y = bottom.to_owned();
                solve_upper_triangular_in_place(
                    top.transpose(),
                    y.as_mut().transpose_mut(),
                    Par::Seq,
                );
                matmul(
                    across.as_mut(),
                    Accum::Replace,
                    later.as_ref(),
                    y.as_ref(),
                    -1.0,
                    Par::Seq,
                );
                matmul(
                    own.as_mut(),
                    Accum::Add,
                    y.as_ref().transpose(),
                    across.as_ref(),
                    -1.0,
                    Par::Seq,
                );
            }
            let rows = width + depth;
            for j in 0..width {
                let column = &mut self.inverse[from + j * rows..from + (j + 1) * rows];
                for i in 0..width {
                    column[i] = own[(i, j)];
                }
                for i in 0..depth {
                    column[width + i] = across[(i, j)];
                }
            }
        }
        for (out, &slot) in out.iter_mut().zip(&self.inverse_slot) {
            *out = self.inverse[slot];
        }
    }
}

fn supernodal(symbolic: &SymbolicCholesky<usize>) -> &SymbolicSupernodalCholesky<usize> {
    match symbolic.raw() {
        SymbolicCholeskyRaw::Supernodal(supernodes) => supernodes,
        SymbolicCholeskyRaw::Simplicial(_) => {
            unreachable!("the threshold asks for supernodes")
        }
    }
}

/// Supernode of each column.
fn homes(supernodes: &SymbolicSupernodalCholesky<usize>) -> Vec<usize> {
    let mut home = vec![0; supernodes.nrows()];
    let bounds = supernodes
        .supernode_begin()
        .iter()
        .zip(supernodes.supernode_end());
    for (s, (&begin, &end)) in bounds.enumerate() {
        home[begin..end].fill(s);
    }
    home
}

/// Rows of a supernode, those of its own columns included.
fn height(supernodes: &SymbolicSupernodalCholesky<usize>, s: usize) -> usize {
    let width = supernodes.supernode_end()[s] - supernodes.supernode_begin()[s];
    width + supernodes.supernode(s).pattern().len()
}

/// Writes where each row of a supernode stands in its columns.
fn positions(supernodes: &SymbolicSupernodalCholesky<usize>, s: usize, position: &mut [usize]) {
    let (begin, end) = (
        supernodes.supernode_begin()[s],
        supernodes.supernode_end()[s],
    );
    for row in begin..end {
        position[row] = row - begin;
    }
    for (k, &row) in supernodes.supernode(s).pattern().iter().enumerate() {
        position[row] = end - begin + k;
    }
}

/// The lower half of the pattern by columns, and where each number of the blocks stands in it.
fn columns(blocks: &Blocks) -> (SymbolicSparseColMat<usize>, Vec<usize>) {
    if blocks.dim == 0 {
        // Without effects: a 1 × 1 identity, which has a factor and no logarithm of a determinant.
        let identity = SymbolicSparseColMat::new_checked(1, 1, vec![0, 1], None, vec![0]);
        return (identity, Vec::new());
    }
    let mut begin = vec![0_usize; blocks.dim + 1];
    blocks.for_each(|s, first_s, t, _, _| {
        for j in 0..blocks.width[s] {
            begin[first_s + j + 1] += if s == t {
                blocks.width[t] - j
            } else {
                blocks.width[t]
            };
        }
    });
    for column in 0..blocks.dim {
        begin[column + 1] += begin[column];
    }
    let mut row_of = vec![0; begin[blocks.dim]];
    let mut slot = vec![NOWHERE; blocks.len];
    let mut next = begin.clone();
    blocks.for_each(|s, first_s, t, first_t, from| {
        let q_s = blocks.width[s];
        for j in 0..q_s {
            let first = if s == t { j } else { 0 };
            for i in first..blocks.width[t] {
                let to = &mut next[first_s + j];
                row_of[*to] = first_t + i;
                slot[from + i * q_s + j] = *to;
                *to += 1;
            }
        }
    });
    (
        SymbolicSparseColMat::new_checked(blocks.dim, blocks.dim, begin, None, row_of),
        slot,
    )
}

/// Where each number of the blocks stands in a matrix with the layout of L.
fn inverse_positions(blocks: &Blocks, symbolic: &SymbolicCholesky<usize>) -> Vec<usize> {
    let supernodes = supernodal(symbolic);
    let home = homes(supernodes);
    // Each number as (supernode, row, column), so that every supernode is looked at once.
    let to_new = |original: usize| match symbolic.perm() {
        Some(perm) => perm.arrays().1[original],
        None => original,
    };
    let mut wanted: Vec<(usize, usize, usize, usize)> = Vec::with_capacity(blocks.len);
    blocks.for_each(|s, first_s, t, first_t, from| {
        let q_s = blocks.width[s];
        for i in 0..blocks.width[t] {
            for j in 0..q_s {
                let (row, column) = (to_new(first_t + i), to_new(first_s + j));
                let (row, column) = (row.max(column), row.min(column));
                wanted.push((home[column], row, column, from + i * q_s + j));
            }
        }
    });
    wanted.sort_unstable();
    let mut slots = vec![0; blocks.len];
    let mut position = vec![0; blocks.dim];
    let mut current = usize::MAX;
    for (node, row, column, entry) in wanted {
        if node != current {
            positions(supernodes, node, &mut position);
            current = node;
        }
        let begin = supernodes.supernode_begin()[node];
        let rows = height(supernodes, node);
        slots[entry] = supernodes.col_ptr_for_val()[node] + (column - begin) * rows + position[row];
    }
    slots
}

#[cfg(test)]
mod tests {
    use super::super::covariance::Shape;
    use super::super::testing;
    use super::*;
    use ergodic_base::linalg::Cholesky;

    /// Determinant, solution and selected inverse agree with dense ones, for crossed, nested and sloping terms.
    #[test]
    fn the_sparse_factor_agrees_with_a_dense_one() {
        for data in testing::all_designs() {
            let blocks = Blocks::of(&data.terms);
            let mut a = vec![0.0; blocks.len];
            blocks.crossproduct(&data.terms, |row| 1.0 + (row % 3) as f64, &mut a);
            let shape = Shape::of(&data.terms);
            let theta: Vec<f64> = (0..shape.len())
                .map(|k| 0.4 + 0.3 * (k as f64).sin())
                .collect();
            let mut lambda = shape.zeros();
            shape.lambda(&theta, &mut lambda);
            let mut factor = Factor::new(&blocks).unwrap();
            factor.factor(&blocks, &a, &lambda).unwrap();

            let dim = blocks.dim;
            let mut dense = vec![0.0; dim * dim];
            for column in 0..dim {
                let (mut v, mut av) = (vec![0.0; dim], vec![0.0; dim]);
                v[column] = 1.0;
                blocks.scale(&lambda, &mut v);
                blocks.multiply(&a, &v, &mut av);
                blocks.scale_transposed(&lambda, &mut av);
                for row in 0..dim {
                    dense[row * dim + column] = av[row] + f64::from(u8::from(row == column));
                }
            }
            let reference = Cholesky::of(&dense, dim).unwrap();
            assert!((factor.log_det() - reference.log_det()).abs() < 1e-9 * dim as f64);
            let mut x: Vec<f64> = (0..dim).map(|i| (i as f64).cos()).collect();
            let mut expected = x.clone();
            factor.solve(&mut x);
            reference.solve(&mut expected);
            for (x, expected) in x.iter().zip(&expected) {
                assert!((x - expected).abs() < 1e-10);
            }
            let inverse = reference.inverse();
            let mut selected = vec![0.0; blocks.len];
            factor.selected_inverse(&mut selected);
            blocks.for_each(|s, first_s, t, first_t, from| {
                for i in 0..blocks.width[t] {
                    for j in 0..blocks.width[s] {
                        let expected = inverse[(first_t + i) * dim + first_s + j];
                        let got = selected[from + i * blocks.width[s] + j];
                        assert!((got - expected).abs() < 1e-10, "{got} {expected}");
                    }
                }
            });
        }
    }
}
