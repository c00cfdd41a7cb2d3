//! Coordinates in which effects of groups hardly depend on their standard deviations and correlations, whatever the data
//! know of them.
//!
//! With a parabola for the log likelihood of each row, that of a likelihood fit with working weight h_i and working response
//! y_i, effects are normal given β, the standard deviations and the correlations. One term after the other is integrated
//! out, from the one with most groups to the one with fewest. With Σ_t = L L' the covariance of the effects of term t and
//! z_ti its columns:
//!
//! ```text
//! W_t[g] = Σ_{i in g} h_i F_ti z_ti z_ti' F_ti
//! V = (Σ_t⁻¹ + W_t[g])⁻¹ = A A'                   A lower triangular
//! n = A' Σ_{i in g} h_i F_ti² z_ti (y_i − x_i'β − effects of terms after t)
//! r_t[g] = A (n + z)
//! ```
//!
//! z are the coordinates: independent N(0, I) given β and all scales as far as the parabolas are right, so that groups of
//! which nothing is known are non-centred (A = L), well-known ones centred on what β leaves (A depends on the rows alone),
//! and all between are between, effect by effect, at every Σ. Data-based non-centring of Christensen, Roberts and Sköld
//! (2006), "Robust MCMC methods for spatial GLMMs", JCGS 15, for vectors. Whatever h and y are, the posterior is the same:
//! the Jacobian is Σ log A_jj.
//!
//! F_ti is diagonal: the squares φ of its entries are what the terms nested in t leave of a column. A term t' leaves
//! 1/(1 + Σ_t'[j,j] W_t'[g][j,j]) of the column of its effect j, and all of the others. For intercepts alone this is the exact
//! elimination of nested terms; for several effects it takes their columns to be orthogonal within groups.
//!
//! A = L N with N = M⁻ᵀ, where I + L' W L = M M' with M upper triangular. Backwards, with b = A' times the gradient in r and
//! J the factor of the log Jacobian, the slope by Σ⁻¹ and by W is −A Q A', Q the symmetric part of
//! b n' + tril(b z') + ½ J I, where tril halves the diagonal. From there the slope by L is 2 tril(L⁻ᵀ N Q N'), with its diagonal.
//!
//! Rows of the same groups count together, as one cell, and columns that several effects share count once.

use std::array::from_fn;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::terms::{Factor, GroupTerm, MAX_EFFECTS, Shape};
use crate::design::Design;
use ergodic_base::linalg::{axpy, dot};

/// Most cells: each part of the rows that is summed by itself takes a pass over all of them.
const MOST_CELLS: usize = 16_384;

/// The parabolas of all rows: working weights h and, as there may be none, h times the working responses less offsets.
#[derive(Clone, Debug)]
pub struct WorkingRows {
    /// h (N).
    pub weights: Vec<f64>,
    /// h y (N).
    pub scores: Vec<f64>,
}

/// Whether coordinates by parabolas cost no more than passes over the rows of this design do: there are few enough cells,
/// fewer where they have several columns.
pub fn suits_whitening(design: &Design) -> bool {
    let terms = &design.group_terms;
    let columns = terms.iter().flat_map(|term| term.z.columns());
    let width = distinct(columns.into_iter().map(|column| column.to_vec()))
        .0
        .len();
    let indices = terms.iter().map(|term| {
        let factor = &design.groups[term.factor];
        factor.index.as_slice()
    });
    let (_of_row, first_rows) = cells(design.num_obs(), indices);
    let count = first_rows.len();
    !terms.is_empty() && count <= MOST_CELLS && count * (width - 1) <= design.num_obs()
}

/// The cell of each row, in order of their first rows, and these.
fn cells<'a>(n: usize, indices: impl Iterator<Item = &'a [u32]>) -> (Vec<u32>, Vec<usize>) {
    let mut of_row = vec![0; n];
    let mut first_rows = Vec::new();
    for index in indices {
        first_rows.clear();
        let mut known: HashMap<(u32, u32), u32> = HashMap::new();
        for (i, (cell, &group)) in of_row.iter_mut().zip(index).enumerate() {
            let next = known.len() as u32;
            *cell = *known.entry((*cell, group)).or_insert_with(|| {
                first_rows.push(i);
                next
            });
        }
    }
    (of_row, first_rows)
}

/// The columns that differ, and which of them each column is.
fn distinct(columns: impl Iterator<Item = Vec<f64>>) -> (Vec<Vec<f64>>, Vec<usize>) {
    let mut different: Vec<Vec<f64>> = Vec::new();
    let places = columns.map(|column| {
        let known = different.iter().position(|other| *other == column);
        known.unwrap_or_else(|| {
            different.push(column);
            different.len() - 1
        })
    });
    let places = places.collect();
    (different, places)
}

/// The map from coordinates u to those with effects as they are. Of each of C cells and E columns of effects z:
#[derive(Clone, Debug)]
pub(super) struct Whitening {
    /// From most groups to fewest.
    stages: Vec<Stage>,
    /// Σ h z z' (C×E×E).
    weights: Vec<f64>,
    /// Σ h z y (C×E).
    scores: Vec<f64>,
    /// Σ h z x' (C×E×P).
    predictors: Vec<f64>,
    /// E.
    width: usize,
    /// P.
    p: usize,
}

/// One term, of q effects per group.
#[derive(Clone, Debug)]
struct Stage {
    shape: Shape,
    /// Where the scales of the term are in u.
    scales: Range<usize>,
    /// Where the effects of the term are in u.
    effects: Range<usize>,
    /// Which of the E columns the effects of the term have.
    columns: Vec<usize>,
    /// Group of each cell.
    index: Vec<u32>,
    /// Stages before it whose groups lie in its groups.
    inside: Vec<usize>,
    /// Whether the term is inside a later one.
    is_inside: bool,
    /// W with φ = 1 (q×q by group).
    known: Vec<f64>,
}

/// What a map to plain coordinates leaves for its transpose.
#[derive(Debug, Default)]
pub(super) struct Path {
    stages: Vec<StagePath>,
    /// h (y − x'β − effects of later terms) by cell and column, or the slopes by it.
    rest: Vec<f64>,
}

/// Of one stage.
#[derive(Debug, Default)]
struct StagePath {
    /// φ by cell and column, where stages are inside.
    share: Vec<f64>,
    /// What the path had as the rest, where stages are inside.
    rest: Vec<f64>,
    /// By group: W, N and A (q×q).
    known: Vec<f64>,
    turn: Vec<f64>,
    root: Vec<f64>,
    /// By group and effect: what is left of the columns, n, z and r.
    left: Vec<f64>,
    mean: Vec<f64>,
    own: Vec<f64>,
    effects: Vec<f64>,
    /// Slopes by W, by log φ for others, and by the sum in n.
    by_known: Vec<f64>,
    by_left: Vec<f64>,
    by_sum: Vec<f64>,
}

impl StagePath {
    fn resize(&mut self, stage: &Stage, rest: usize) {
        let inside = if stage.inside.is_empty() { 0 } else { rest };
        for by_cell in [&mut self.share, &mut self.rest] {
            by_cell.resize(inside, 0.0);
        }
        let len = stage.effects.len();
        for by_group in [
            &mut self.known,
            &mut self.turn,
            &mut self.root,
            &mut self.by_known,
        ] {
            by_group.resize(len * stage.shape.width, 0.0);
        }
        for by_effect in [
            &mut self.left,
            &mut self.mean,
            &mut self.own,
            &mut self.effects,
            &mut self.by_left,
            &mut self.by_sum,
        ] {
            by_effect.resize(len, 0.0);
        }
    }
}

/// A small matrix.
type Square<const Q: usize> = [[f64; Q]; Q];

/// Matrices one after the other.
fn squares<const Q: usize>(numbers: &[f64]) -> &[Square<Q>] {
    numbers.as_chunks().0.as_chunks().0
}

fn squares_mut<const Q: usize>(numbers: &mut [f64]) -> &mut [Square<Q>] {
    numbers.as_chunks_mut().0.as_chunks_mut().0
}

/// Calls a method with the number of effects as a constant: small matrices then need no loops.
macro_rules! by_width {
    ($stage:expr, $whitening:ident.$method:ident($($argument:expr),*)) => {
        match $stage.shape.width {
            1 => $whitening.$method::<1>($($argument),*),
            2 => $whitening.$method::<2>($($argument),*),
            3 => $whitening.$method::<3>($($argument),*),
            4 => $whitening.$method::<4>($($argument),*),
            5 => $whitening.$method::<5>($($argument),*),
            6 => $whitening.$method::<6>($($argument),*),
            7 => $whitening.$method::<7>($($argument),*),
            _ => $whitening.$method::<MAX_EFFECTS>($($argument),*),
        }
    };
}

impl Whitening {
    /// For `terms` and the P coefficients of columns `row`.
    pub fn new<'x>(
        terms: &[GroupTerm],
        p: usize,
        row: &dyn Fn(usize) -> &'x [f64],
        working: &WorkingRows,
    ) -> Self {
        let n = working.weights.len();
        let (of_row, first_rows) = cells(n, terms.iter().map(|term| term.index.as_slice()));
        let of_terms = terms.iter().flat_map(|term| {
            let column = |j| term.z.iter().skip(j).step_by(term.width()).copied();
            (0..term.width()).map(move |j| column(j).collect())
        });
        let (columns, places) = distinct(of_terms);
        let (count, width) = (first_rows.len(), columns.len());
        let mut weights = vec![0.0; count * width * width];
        let mut scores = vec![0.0; count * width];
        let mut predictors = vec![0.0; count * width * p];
        for (i, &cell) in of_row.iter().enumerate() {
            for (a, z) in columns.iter().enumerate() {
                let at = cell as usize * width + a;
                let weight = working.weights[i] * z[i];
                scores[at] += working.scores[i] * z[i];
                for (sum, z) in weights[at * width..].iter_mut().zip(&columns) {
                    *sum += weight * z[i];
                }
                axpy(weight, &row(i)[..p], &mut predictors[at * p..(at + 1) * p]);
            }
        }
        let mut next = places.iter().copied();
        let mut order: Vec<(&GroupTerm, Vec<usize>)> = terms
            .iter()
            .map(|term| (term, next.by_ref().take(term.width()).collect()))
            .collect();
        order.sort_by_key(|(term, _columns)| std::cmp::Reverse(term.levels.len()));
        let mut stages: Vec<Stage> = Vec::new();
        for (term, columns) in order {
            let index: Vec<u32> = first_rows.iter().map(|&i| term.index[i]).collect();
            let inside = (0..stages.len()).filter(|&s| lies_in(&stages[s].index, &index));
            let inside: Vec<usize> = inside.collect();
            for &s in &inside {
                stages[s].is_inside = true;
            }
            let mut stage = Stage {
                shape: term.shape(),
                scales: term.scales.clone(),
                effects: term.effects.clone(),
                known: vec![0.0; term.effects.len() * term.width()],
                is_inside: false,
                columns,
                index,
                inside,
            };
            let mut known = std::mem::take(&mut stage.known);
            add_known(&stage, &weights, &vec![1.0; count * width], &mut known);
            stage.known = known;
            stages.push(stage);
        }
        Self {
            stages,
            weights,
            scores,
            predictors,
            width,
            p,
        }
    }

    /// h (y − x'β) by cell and column.
    fn residuals(&self, u: &[f64], rest: &mut Vec<f64>) {
        rest.clear();
        rest.extend_from_slice(&self.scores);
        if self.p > 0 {
            let predictors = self.predictors.chunks_exact(self.p);
            for (rest, x) in rest.iter_mut().zip(predictors) {
                *rest -= dot(x, &u[..self.p]);
            }
        }
    }

    /// φ, W, N and A of stage `t` at the scales in u; returns the sum of all log A_jj.
    fn eliminate<const Q: usize>(&self, t: usize, u: &[f64], path: &mut Path) -> f64 {
        let stage = &self.stages[t];
        let (finer, rest) = path.stages.split_at_mut(t);
        let own = &mut rest[0];
        own.resize(stage, self.scores.len());
        if stage.inside.is_empty() {
            own.known.copy_from_slice(&stage.known);
        } else {
            own.share.fill(1.0);
            for &s in &stage.inside {
                let inner = &self.stages[s];
                let shares = own.share.chunks_exact_mut(self.width);
                for (share, &g) in shares.zip(&inner.index) {
                    let left = &finer[s].left[g as usize * inner.columns.len()..];
                    for (left, &column) in left.iter().zip(&inner.columns) {
                        share[column] *= left;
                    }
                }
            }
            own.known.fill(0.0);
            add_known(stage, &self.weights, &own.share, &mut own.known);
        }
        let factor = stage.shape.factor(&u[stage.scales.clone()]);
        if stage.is_inside {
            let known = squares::<Q>(&own.known);
            for (left, known) in own.left.as_chunks_mut::<Q>().0.iter_mut().zip(known) {
                *left = from_fn(|j| 1.0 / (1.0 + factor.sds[j].powi(2) * known[j][j]));
            }
        }
        let lower = scaled::<Q>(&factor);
        let mut log_jacobian = 0.0;
        for ((known, turn), root) in squares(&own.known)
            .iter()
            .zip(squares_mut(&mut own.turn))
            .zip(squares_mut(&mut own.root))
        {
            *turn = turn_of(&lower, known);
            *root = product(&lower, turn);
            for (j, row) in root.iter().enumerate() {
                log_jacobian += row[j].ln();
            }
        }
        log_jacobian
    }

    /// Coordinates of stage `t` become effects, or, `back`, effects coordinates; the rest becomes that of the stage before.
    fn exchange<const Q: usize>(&self, t: usize, back: bool, u: &mut [f64], path: &mut Path) {
        let (stage, width) = (&self.stages[t], self.width);
        let columns: [usize; Q] = from_fn(|j| stage.columns[j]);
        let own = &mut path.stages[t];
        let sums = own.by_sum.as_chunks_mut::<Q>().0;
        sums.fill([0.0; Q]);
        if stage.inside.is_empty() {
            for (rest, &g) in path.rest.chunks_exact(width).zip(&stage.index) {
                let sum = &mut sums[g as usize];
                for j in 0..Q {
                    sum[j] += rest[columns[j]];
                }
            }
        } else {
            own.rest.copy_from_slice(&path.rest);
            let shares = own.share.chunks_exact(width);
            for ((rest, share), &g) in path.rest.chunks_exact(width).zip(shares).zip(&stage.index) {
                let sum = &mut sums[g as usize];
                for j in 0..Q {
                    sum[j] += share[columns[j]] * rest[columns[j]];
                }
            }
        }
        let given = u[stage.effects.clone()].as_chunks_mut::<Q>().0;
        let effects = own.effects.as_chunks_mut::<Q>().0;
        let means = own.mean.as_chunks_mut::<Q>().0;
        let coordinates = own.own.as_chunks_mut::<Q>().0;
        for (g, root) in squares::<Q>(&own.root).iter().enumerate() {
            let mean: [f64; Q] = transpose_times(root, &sums[g]);
            if back {
                let mut z = given[g];
                for i in 0..Q {
                    for k in 0..i {
                        z[i] -= root[i][k] * z[k];
                    }
                    z[i] /= root[i][i];
                }
                effects[g] = given[g];
                given[g] = from_fn(|j| z[j] - mean[j]);
            } else {
                coordinates[g] = given[g];
                effects[g] = times(root, &from_fn(|j| mean[j] + given[g][j]));
                given[g] = effects[g];
            }
            means[g] = mean;
        }
        if t == 0 {
            return;
        }
        let weights = self.weights.chunks_exact(width * width);
        let cells = path.rest.chunks_exact_mut(width).zip(weights);
        for ((rest, weights), &g) in cells.zip(&stage.index) {
            let effect = &effects[g as usize];
            for (rest, weights) in rest.iter_mut().zip(weights.chunks_exact(width)) {
                for j in 0..Q {
                    *rest -= weights[columns[j]] * effect[j];
                }
            }
        }
    }

    /// Goes from the last term to the first. Returns log |∂r/∂z|.
    fn walk(&self, back: bool, u: &mut [f64], path: &mut Path) -> f64 {
        path.stages
            .resize_with(self.stages.len(), StagePath::default);
        let mut log_jacobian = 0.0;
        for (t, stage) in self.stages.iter().enumerate() {
            log_jacobian += by_width!(stage, self.eliminate(t, u, path));
        }
        self.residuals(u, &mut path.rest);
        for (t, stage) in self.stages.iter().enumerate().rev() {
            by_width!(stage, self.exchange(t, back, u, path));
        }
        log_jacobian
    }

    /// u ← coordinates with effects as they are; returns log |∂r/∂z|.
    pub fn to_plain(&self, u: &mut [f64], path: &mut Path) -> f64 {
        self.walk(false, u, path)
    }

    /// The inverse of [`Self::to_plain`].
    pub fn to_own(&self, u: &mut [f64]) {
        self.walk(true, u, &mut Path::default());
    }

    /// A gradient in the coordinates `plain` becomes that in u, with `jacobian` times that of log |∂r/∂z|; `path` is what
    /// [`Self::to_plain`] left.
    pub fn pull_back(&self, plain: &[f64], path: &mut Path, jacobian: f64, grad: &mut [f64]) {
        path.rest.fill(0.0);
        for (t, stage) in self.stages.iter().enumerate() {
            by_width!(stage, self.pull_back_stage(t, plain, path, jacobian, grad));
        }
        if self.p > 0 {
            let predictors = self.predictors.chunks_exact(self.p);
            for (by_rest, x) in path.rest.iter().zip(predictors) {
                axpy(-by_rest, x, &mut grad[..self.p]);
            }
        }
        for (t, stage) in self.stages.iter().enumerate().rev() {
            if stage.is_inside {
                self.pull_back_left(t, plain, path, grad);
            }
            if !stage.inside.is_empty() {
                self.pull_back_share(t, path);
            }
        }
    }

    /// Through [`Self::exchange`] and, with the φ as they are, through [`Self::eliminate`].
    fn pull_back_stage<const Q: usize>(
        &self,
        t: usize,
        plain: &[f64],
        path: &mut Path,
        jacobian: f64,
        grad: &mut [f64],
    ) {
        let (stage, width) = (&self.stages[t], self.width);
        let columns: [usize; Q] = from_fn(|j| stage.columns[j]);
        let own = &mut path.stages[t];
        own.by_left.fill(0.0);
        let slopes = grad[stage.effects.clone()].as_chunks_mut::<Q>().0;
        if t > 0 {
            let weights = self.weights.chunks_exact(width * width);
            let cells = path.rest.chunks_exact(width).zip(weights);
            for ((by_rest, weights), &g) in cells.zip(&stage.index) {
                let slope = &mut slopes[g as usize];
                for (by_rest, weights) in by_rest.iter().zip(weights.chunks_exact(width)) {
                    for j in 0..Q {
                        slope[j] -= by_rest * weights[columns[j]];
                    }
                }
            }
        }
        let sums = own.by_sum.as_chunks_mut::<Q>().0;
        let by_known = squares_mut::<Q>(&mut own.by_known);
        let means = own.mean.as_chunks::<Q>().0;
        let coordinates = own.own.as_chunks::<Q>().0;
        let mut by_spread = [[0.0; Q]; Q];
        for (g, (root, turn)) in squares(&own.root)
            .iter()
            .zip(squares(&own.turn))
            .enumerate()
        {
            let slope: [f64; Q] = transpose_times(root, &slopes[g]);
            slopes[g] = slope;
            sums[g] = times(root, &slope);
            let mut middle: Square<Q> = [[0.0; Q]; Q];
            for i in 0..Q {
                for k in 0..=i {
                    let by_root = slope[i] * coordinates[g][k];
                    let value = 0.5 * (slope[i] * means[g][k] + slope[k] * means[g][i] + by_root);
                    middle[i][k] = value;
                    middle[k][i] = value;
                }
                middle[i][i] += 0.5 * jacobian;
            }
            add_sandwich(1.0, turn, &middle, &mut by_spread);
            if !stage.inside.is_empty() {
                by_known[g] = [[0.0; Q]; Q];
                add_sandwich(-1.0, root, &middle, &mut by_known[g]);
            }
        }
        let factor = stage.shape.factor(&plain[stage.scales.clone()]);
        add_slopes_of_scales(&factor, by_spread, &mut grad[stage.scales.clone()]);
        let sums = &*sums;
        let cells = path.rest.chunks_exact_mut(width).zip(&stage.index);
        if stage.inside.is_empty() {
            for (by_rest, &g) in cells {
                for j in 0..Q {
                    by_rest[columns[j]] += sums[g as usize][j];
                }
            }
        } else {
            for ((by_rest, &g), share) in cells.zip(own.share.chunks_exact(width)) {
                for j in 0..Q {
                    by_rest[columns[j]] += sums[g as usize][j] * share[columns[j]];
                }
            }
        }
    }

    /// Slopes by what stage `t` leaves of its columns become those by W and by its standard deviations.
    fn pull_back_left(&self, t: usize, plain: &[f64], path: &mut Path, grad: &mut [f64]) {
        let (stage, own) = (&self.stages[t], &mut path.stages[t]);
        let q = stage.columns.len();
        for (k, (by_left, left)) in own.by_left.iter().zip(&own.left).enumerate() {
            // log φ = −log(1 + s² W).
            let (g, j) = (k / q, k % q);
            let scale = stage.scales.start + j;
            let entry = g * q * q + j * (q + 1);
            let by_known = -by_left * left * (2.0 * plain[scale]).exp();
            grad[scale] += 2.0 * by_known * own.known[entry];
            own.by_known[entry] += by_known;
        }
    }

    /// Slopes by W and by the sums of stage `t` become those by what the stages inside leave of their columns.
    fn pull_back_share(&self, t: usize, path: &mut Path) {
        let (stage, width) = (&self.stages[t], self.width);
        let (finer, rest) = path.stages.split_at_mut(t);
        let own = &rest[0];
        let q = stage.columns.len();
        for (k, &g) in stage.index.iter().enumerate() {
            let g = g as usize;
            let cell = k * width..(k + 1) * width;
            let (share, rest) = (&own.share[cell.clone()], &own.rest[cell]);
            let weights = &self.weights[k * width * width..];
            for (i, &a) in stage.columns.iter().enumerate() {
                let mut by_log_share = own.by_sum[g * q + i] * share[a] * rest[a];
                for (j, &b) in stage.columns.iter().enumerate() {
                    let by_known = own.by_known[(g * q + i) * q + j];
                    by_log_share += by_known * shared(share, a, b) * weights[a * width + b];
                }
                for &s in &stage.inside {
                    let inner = &self.stages[s];
                    if let Some(j) = inner.columns.iter().position(|&column| column == a) {
                        let of_group = inner.index[k] as usize * inner.columns.len();
                        finer[s].by_left[of_group + j] += by_log_share;
                    }
                }
            }
        }
    }
}

/// sqrt(φ_a φ_b).
fn shared(share: &[f64], a: usize, b: usize) -> f64 {
    if a == b {
        share[a]
    } else {
        (share[a] * share[b]).sqrt()
    }
}

/// ADDS W of all groups.
fn add_known(stage: &Stage, weights: &[f64], share: &[f64], known: &mut [f64]) {
    let (q, width) = (stage.columns.len(), share.len() / stage.index.len().max(1));
    let cells = share
        .chunks_exact(width)
        .zip(weights.chunks_exact(width * width));
    for ((share, weights), &g) in cells.zip(&stage.index) {
        let of_group = &mut known[g as usize * q * q..];
        for (row, &a) in of_group.chunks_exact_mut(q).zip(&stage.columns) {
            for (known, &b) in row.iter_mut().zip(&stage.columns) {
                *known += shared(share, a, b) * weights[a * width + b];
            }
        }
    }
}

/// D L.
fn scaled<const Q: usize>(factor: &Factor) -> Square<Q> {
    from_fn(|i| from_fn(|k| factor.sds[i] * factor.lower[i][k]))
}

/// N with I + L' W L = N⁻ᵀ N⁻¹.
fn turn_of<const Q: usize>(lower: &Square<Q>, known: &Square<Q>) -> Square<Q> {
    let mut upper = [[0.0; Q]; Q];
    add_sandwich(
        1.0,
        &from_fn(|i| from_fn(|k| lower[k][i])),
        known,
        &mut upper,
    );
    let mut turn = [[0.0; Q]; Q];
    for j in (0..Q).rev() {
        upper[j][j] += 1.0;
        for i in (0..=j).rev() {
            for k in j + 1..Q {
                upper[i][j] -= upper[i][k] * upper[j][k];
            }
            if i == j {
                // No less than 1, but for rounding.
                upper[j][j] = upper[j][j].max(1.0).sqrt();
            } else {
                upper[i][j] /= upper[j][j];
            }
        }
    }
    for j in 0..Q {
        turn[j][j] = 1.0 / upper[j][j];
        for i in j + 1..Q {
            let mut sum = 0.0;
            for k in j..i {
                sum += upper[k][i] * turn[k][j];
            }
            turn[i][j] = -sum / upper[i][i];
        }
    }
    turn
}

/// Of lower triangles.
fn product<const Q: usize>(a: &Square<Q>, b: &Square<Q>) -> Square<Q> {
    let mut out = [[0.0; Q]; Q];
    for i in 0..Q {
        for j in 0..=i {
            for k in j..=i {
                out[i][j] += a[i][k] * b[k][j];
            }
        }
    }
    out
}

/// A x.
fn times<const Q: usize>(a: &Square<Q>, x: &[f64; Q]) -> [f64; Q] {
    let mut out = [0.0; Q];
    for i in 0..Q {
        for k in 0..=i {
            out[i] += a[i][k] * x[k];
        }
    }
    out
}

/// A'x.
fn transpose_times<const Q: usize>(a: &Square<Q>, x: &[f64; Q]) -> [f64; Q] {
    let mut out = [0.0; Q];
    for i in 0..Q {
        for k in 0..=i {
            out[k] += a[i][k] * x[i];
        }
    }
    out
}

/// ADDS `factor` A S A'.
fn add_sandwich<const Q: usize>(factor: f64, a: &Square<Q>, s: &Square<Q>, out: &mut Square<Q>) {
    let mut half = [[0.0; Q]; Q];
    for i in 0..Q {
        for j in 0..Q {
            for k in 0..Q {
                half[i][j] += a[i][k] * s[k][j];
            }
        }
    }
    for i in 0..Q {
        for j in 0..Q {
            for k in 0..Q {
                out[i][j] += factor * half[i][k] * a[j][k];
            }
        }
    }
}

/// ADDS to the gradient in the scales, given Σ N Q N' over groups.
fn add_slopes_of_scales<const Q: usize>(factor: &Factor, by_spread: Square<Q>, grad: &mut [f64]) {
    let lower = scaled::<Q>(factor);
    // L⁻ᵀ of it.
    let mut solved = by_spread;
    for i in (0..Q).rev() {
        for j in 0..Q {
            for k in i + 1..Q {
                solved[i][j] -= lower[k][i] * solved[k][j];
            }
            solved[i][j] /= lower[i][i];
        }
    }
    let mut by_entry = [[0.0; MAX_EFFECTS]; MAX_EFFECTS];
    for i in 0..Q {
        for k in 0..=i {
            let slope = 2.0 * solved[i][k];
            by_entry[i][k] = slope * factor.sds[i];
            grad[i] += slope * lower[i][k];
        }
    }
    factor.pull_back(&by_entry, grad);
}

/// Whether most groups of `fine` are in one group of `coarse`; both by cell.
fn lies_in(fine: &[u32], coarse: &[u32]) -> bool {
    let pairs: HashSet<(u32, u32)> = fine.iter().copied().zip(coarse.iter().copied()).collect();
    let groups: HashSet<u32> = fine.iter().copied().collect();
    pairs.len() < 2 * groups.len()
}
