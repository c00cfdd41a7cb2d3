//! The pattern of Z'Z: one small block for every pair of groups, of the same or of different terms, that meet in a row.
//!
//! A block of terms s ≤ t is q_t × q_s, row-major. Blocks of a term with itself are the groups in order; blocks of two
//! terms are sorted by the group of s, then that of t. All blocks lie in one slice, so that crossproducts, weighted
//! crossproducts and the selected inverse have one layout.

use super::data::RandomTerm;

/// Blocks of a pair of terms.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The earlier term.
    pub s: usize,
    /// The later term, or the same.
    pub t: usize,
    /// Where the first block begins.
    pub offset: usize,
    /// Group of `s` and group of `t` of each block.
    pub groups: Vec<(u32, u32)>,
    /// Block of each row (n).
    pub block_of_row: Vec<u32>,
}

/// All blocks.
#[derive(Clone, Debug)]
pub struct Blocks {
    /// Pairs with s ≤ t, in the order (0, 0), (0, 1), …, (1, 1), ….
    pub pairs: Vec<Pair>,
    /// q per term.
    pub width: Vec<usize>,
    /// Groups per term.
    pub levels: Vec<usize>,
    /// Position of the first effect of each term among all effects.
    pub start: Vec<usize>,
    /// Number of effects.
    pub dim: usize,
    /// Length of the slice of all blocks.
    pub len: usize,
}

impl Blocks {
    /// The pattern of the terms' columns.
    pub fn of(terms: &[RandomTerm]) -> Self {
        let width: Vec<usize> = terms.iter().map(RandomTerm::width).collect();
        let levels: Vec<usize> = terms.iter().map(|term| term.levels.len()).collect();
        let mut start = Vec::with_capacity(terms.len());
        let mut dim = 0;
        for term in terms {
            start.push(dim);
            dim += term.num_effects();
        }
        let (mut pairs, mut len) = (Vec::new(), 0);
        for s in 0..terms.len() {
            for t in s..terms.len() {
                let pair = Pair::of(terms, s, t, len);
                len += pair.groups.len() * width[s] * width[t];
                pairs.push(pair);
            }
        }
        Self {
            pairs,
            width,
            levels,
            start,
            dim,
            len,
        }
    }

    /// The pair of a term with itself.
    pub fn own(&self, t: usize) -> &Pair {
        let terms = self.width.len();
        // Pairs before (t, t): terms + (terms − 1) + … of the earlier ones.
        &self.pairs[t * terms - t * t.saturating_sub(1) / 2]
    }

    /// Overwrites `out` (len) with Z'WZ, W diagonal; `weight(row)` its entries.
    pub fn crossproduct(
        &self,
        terms: &[RandomTerm],
        weight: impl Fn(usize) -> f64,
        out: &mut [f64],
    ) {
        out.fill(0.0);
        for pair in &self.pairs {
            let (term_s, term_t) = (&terms[pair.s], &terms[pair.t]);
            let size = self.width[pair.s] * self.width[pair.t];
            if size == 1 {
                for (row, &block) in pair.block_of_row.iter().enumerate() {
                    out[pair.offset + block as usize] +=
                        weight(row) * term_t.z[row] * term_s.z[row];
                }
                continue;
            }
            for (row, &block) in pair.block_of_row.iter().enumerate() {
                let from = pair.offset + block as usize * size;
                let (z_s, weight) = (term_s.row(row), weight(row));
                let lines = out[from..from + size].chunks_exact_mut(z_s.len());
                for (line, z_t) in lines.zip(term_t.row(row)) {
                    let factor = weight * z_t;
                    for (out, z_s) in line.iter_mut().zip(z_s) {
                        *out += factor * z_s;
                    }
                }
            }
        }
    }

    /// Calls `visit(s, first effect of s, t, first effect of t, from)` for every block; it lies at `from..`.
    pub fn for_each(&self, mut visit: impl FnMut(usize, usize, usize, usize, usize)) {
        for pair in &self.pairs {
            let (s, t) = (pair.s, pair.t);
            let size = self.width[s] * self.width[t];
            for (k, &(group_s, group_t)) in pair.groups.iter().enumerate() {
                visit(
                    s,
                    self.start[s] + group_s as usize * self.width[s],
                    t,
                    self.start[t] + group_t as usize * self.width[t],
                    pair.offset + k * size,
                );
            }
        }
    }

    /// out ← A v for the symmetric matrix A of `blocks`; both `dim` long.
    pub fn multiply(&self, blocks: &[f64], v: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        self.for_each(|s, first_s, t, first_t, from| {
            let (q_s, q_t) = (self.width[s], self.width[t]);
            for i in 0..q_t {
                for j in 0..q_s {
                    let a = blocks[from + i * q_s + j];
                    out[first_t + i] += a * v[first_s + j];
                    if s != t {
                        out[first_s + j] += a * v[first_t + i];
                    }
                }
            }
        });
    }

    /// v ← Λ v, group by group.
    pub fn scale(&self, lambda: &[Vec<f64>], v: &mut [f64]) {
        for (t, lambda) in lambda.iter().enumerate() {
            let q = self.width[t];
            let effects = &mut v[self.start[t]..self.start[t] + q * self.levels[t]];
            for group in effects.chunks_exact_mut(q) {
                for i in (0..q).rev() {
                    group[i] = (0..=i).map(|j| lambda[i * q + j] * group[j]).sum();
                }
            }
        }
    }

    /// v ← Λ' v, group by group.
    pub fn scale_transposed(&self, lambda: &[Vec<f64>], v: &mut [f64]) {
        for (t, lambda) in lambda.iter().enumerate() {
            let q = self.width[t];
            let effects = &mut v[self.start[t]..self.start[t] + q * self.levels[t]];
            for group in effects.chunks_exact_mut(q) {
                for j in 0..q {
                    group[j] = (j..q).map(|i| lambda[i * q + j] * group[i]).sum();
                }
            }
        }
    }

    /// ADDS factor · Σ_groups a_g b_g' to one q×q matrix per term.
    pub fn add_outer(&self, factor: f64, a: &[f64], b: &[f64], out: &mut [Vec<f64>]) {
        for (t, out) in out.iter_mut().enumerate() {
            let q = self.width[t];
            let range = self.start[t]..self.start[t] + q * self.levels[t];
            let groups = a[range.clone()]
                .chunks_exact(q)
                .zip(b[range].chunks_exact(q));
            for (a, b) in groups {
                for i in 0..q {
                    for j in 0..q {
                        out[i * q + j] += factor * a[i] * b[j];
                    }
                }
            }
        }
    }

    /// ADDS Z'v to `out` (dim), `v` one number per row.
    pub fn add_transposed(&self, terms: &[RandomTerm], v: &[f64], out: &mut [f64]) {
        for (t, term) in terms.iter().enumerate() {
            let q = self.width[t];
            for (row, (&level, v)) in term.index.iter().zip(v).enumerate() {
                let from = self.start[t] + level as usize * q;
                for (out, z) in out[from..from + q].iter_mut().zip(term.row(row)) {
                    *out += z * v;
                }
            }
        }
    }

    /// ADDS Z b to `out` (n), `b` one number per effect.
    pub fn add_predictor(&self, terms: &[RandomTerm], b: &[f64], out: &mut [f64]) {
        for (t, term) in terms.iter().enumerate() {
            let q = self.width[t];
            for (row, (&level, out)) in term.index.iter().zip(out.iter_mut()).enumerate() {
                let from = self.start[t] + level as usize * q;
                for (b, z) in b[from..from + q].iter().zip(term.row(row)) {
                    *out += z * b;
                }
            }
        }
    }
}

impl Pair {
    fn of(terms: &[RandomTerm], s: usize, t: usize, offset: usize) -> Self {
        let (index_s, index_t) = (&terms[s].index, &terms[t].index);
        let (levels_s, levels_t) = (terms[s].levels.len(), terms[t].levels.len());
        if s == t || index_s == index_t {
            return Self {
                s,
                t,
                offset,
                groups: (0..levels_s as u32).map(|level| (level, level)).collect(),
                block_of_row: index_s.clone(),
            };
        }
        // Rows by group of s, by counting.
        let mut first = vec![0_usize; levels_s + 1];
        for &level in index_s {
            first[level as usize + 1] += 1;
        }
        for level in 0..levels_s {
            first[level + 1] += first[level];
        }
        let mut rows = vec![0_u32; index_s.len()];
        let mut next = first.clone();
        for (row, &level) in index_s.iter().enumerate() {
            rows[next[level as usize]] = row as u32;
            next[level as usize] += 1;
        }
        let mut groups: Vec<(u32, u32)> = Vec::new();
        let mut block_of_row = vec![0_u32; index_s.len()];
        let mut block_of_level = vec![u32::MAX; levels_t];
        for level in 0..levels_s {
            let here = groups.len();
            let rows = &rows[first[level]..first[level + 1]];
            for &row in rows {
                let other = index_t[row as usize];
                if block_of_level[other as usize] == u32::MAX {
                    block_of_level[other as usize] = 0;
                    groups.push((level as u32, other));
                }
            }
            groups[here..].sort_unstable();
            for (k, &(_, other)) in groups.iter().enumerate().skip(here) {
                block_of_level[other as usize] = k as u32;
            }
            for &row in rows {
                block_of_row[row as usize] = block_of_level[index_t[row as usize] as usize];
            }
            for &(_, other) in &groups[here..] {
                block_of_level[other as usize] = u32::MAX;
            }
        }
        Self {
            s,
            t,
            offset,
            groups,
            block_of_row,
        }
    }
}
