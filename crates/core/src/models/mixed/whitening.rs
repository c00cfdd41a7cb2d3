//! Coordinates in which intercepts of groups hardly depend on their standard deviations, whatever the data know of them.
//!
//! With a parabola for the log likelihood of each row, that of a likelihood fit with working weight h_i and working response
//! y_i, effects are normal given β and the standard deviations. One term after the other is integrated out, from the one
//! with most groups to the one with fewest:
//!
//! ```text
//! c_t[g] = 1/(1 + s_t² W_t[g])    W_t[g] = Σ_{i in g} h_i φ_ti    φ_ti = Π c_t'[g_t'(i)] over t' nested in t
//! r_t[g] = m + sqrt(V) z,         V = s_t² c_t[g],    m = V Σ_{i in g} φ_ti h_i (y_i − x_i'β − effects of terms after t)
//! ```
//!
//! z are the coordinates: independent N(0, I) given β and all s as far as the parabolas are right and terms are nested, so
//! that groups of which nothing is known are non-centred, well-known ones centred on what β leaves, and all between are
//! between, at every s. Data-based non-centring of Christensen, Roberts and Sköld (2006), "Robust MCMC methods for spatial
//! GLMMs", JCGS 15. Whatever h and y are, the posterior is the same: the Jacobian is Σ ½ log V.
//!
//! Rows of the same groups count together, as one cell.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::terms::GroupTerm;
use crate::design::matrix::Design;
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

/// Whether a model of this design can have such coordinates: groups vary by intercepts alone, and have few enough cells.
pub fn has_intercepts_of_groups(design: &Design) -> bool {
    let mut terms = design.group_terms.iter();
    !design.group_terms.is_empty() && terms.all(|term| term.names == ["Intercept"]) && {
        let indices = design.group_terms.iter().map(|term| {
            let factor = &design.groups[term.factor];
            factor.index.as_slice()
        });
        let (_of_row, first_rows) = cells(design.num_obs(), indices);
        first_rows.len() <= MOST_CELLS
    }
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

/// The map from coordinates u to those with effects as they are.
#[derive(Clone, Debug)]
pub(super) struct Whitening {
    /// From most groups to fewest.
    stages: Vec<Stage>,
    /// h by cell (C).
    weights: Vec<f64>,
    /// h y by cell (C).
    scores: Vec<f64>,
    /// h x by cell (C×P).
    columns: Vec<f64>,
    /// P.
    p: usize,
}

/// One term.
#[derive(Clone, Debug)]
struct Stage {
    /// Where its log standard deviation is in u.
    scale: usize,
    /// Where its effects are in u.
    effects: Range<usize>,
    /// Where its groups are among those of all stages.
    start: usize,
    /// Group of each cell.
    index: Vec<u32>,
    /// Stages before it whose groups lie in its groups.
    inside: Vec<usize>,
}

/// What a map to plain coordinates leaves for its transpose. By stage and cell, or by stage and group.
#[derive(Debug, Default)]
pub(super) struct Path {
    /// φ.
    share: Vec<f64>,
    /// h (y − x'β − effects of later terms).
    rest: Vec<f64>,
    /// W.
    known: Vec<f64>,
    /// c.
    left: Vec<f64>,
    /// V.
    variance: Vec<f64>,
    /// m.
    mean: Vec<f64>,
    /// Slopes by log V, by log c and by Σ φ h (…), and by the rest of each cell.
    by_variance: Vec<f64>,
    by_left: Vec<f64>,
    by_sum: Vec<f64>,
    by_rest: Vec<f64>,
}

impl Path {
    fn resize(&mut self, cells: usize, stages: usize, groups: usize) {
        self.share.resize(stages * cells, 0.0);
        self.rest.resize(stages * cells, 0.0);
        self.by_rest.resize(cells, 0.0);
        for by_group in [
            &mut self.known,
            &mut self.left,
            &mut self.variance,
            &mut self.mean,
            &mut self.by_variance,
            &mut self.by_left,
            &mut self.by_sum,
        ] {
            by_group.resize(groups, 0.0);
        }
    }
}

impl Whitening {
    /// For `terms` of intercepts and the P coefficients of columns `row`.
    pub fn new<'x>(
        terms: &[GroupTerm],
        p: usize,
        row: &dyn Fn(usize) -> &'x [f64],
        working: &WorkingRows,
    ) -> Self {
        let n = working.weights.len();
        let (of_row, first_rows) = cells(n, terms.iter().map(|term| term.index.as_slice()));
        let count = first_rows.len();
        let mut weights = vec![0.0; count];
        let mut scores = vec![0.0; count];
        let mut columns = vec![0.0; count * p];
        for (i, &cell) in of_row.iter().enumerate() {
            let cell = cell as usize;
            weights[cell] += working.weights[i];
            scores[cell] += working.scores[i];
            axpy(
                working.weights[i],
                &row(i)[..p],
                &mut columns[cell * p..(cell + 1) * p],
            );
        }
        let mut order: Vec<&GroupTerm> = terms.iter().collect();
        order.sort_by_key(|term| std::cmp::Reverse(term.levels.len()));
        let mut stages: Vec<Stage> = Vec::new();
        for term in order {
            let index: Vec<u32> = first_rows.iter().map(|&i| term.index[i]).collect();
            let inside = (0..stages.len()).filter(|&s| lies_in(&stages[s].index, &index));
            stages.push(Stage {
                scale: term.scales.start,
                effects: term.effects.clone(),
                start: stages.last().map_or(0, |stage| stage.groups().end),
                inside: inside.collect(),
                index,
            });
        }
        Self {
            stages,
            weights,
            scores,
            columns,
            p,
        }
    }

    /// h (y − x'β) by cell.
    fn residuals(&self, u: &[f64], rest: &mut [f64]) {
        rest.copy_from_slice(&self.scores);
        if self.p > 0 {
            let columns = self.columns.chunks_exact(self.p);
            for (rest, x) in rest.iter_mut().zip(columns) {
                *rest -= dot(x, &u[..self.p]);
            }
        }
    }

    /// φ, W, c and V at the standard deviations in u.
    fn eliminate(&self, u: &[f64], path: &mut Path) {
        let cells = self.weights.len();
        let groups = self.stages.last().map_or(0, |stage| stage.groups().end);
        path.resize(cells, self.stages.len(), groups);
        for (t, stage) in self.stages.iter().enumerate() {
            let share = &mut path.share[t * cells..(t + 1) * cells];
            share.fill(1.0);
            for &s in &stage.inside {
                let left = &path.left[self.stages[s].groups()];
                for (share, &g) in share.iter_mut().zip(&self.stages[s].index) {
                    *share *= left[g as usize];
                }
            }
            let known = &mut path.known[stage.groups()];
            known.fill(0.0);
            for ((share, weight), &g) in share.iter().zip(&self.weights).zip(&stage.index) {
                known[g as usize] += share * weight;
            }
            let spread = (2.0 * u[stage.scale]).exp();
            let left = &mut path.left[stage.groups()];
            let variance = &mut path.variance[stage.groups()];
            for ((known, left), variance) in known.iter().zip(left).zip(variance) {
                *left = 1.0 / (1.0 + spread * known);
                *variance = spread * *left;
            }
        }
    }

    /// Goes from the last term to the first; `exchange` overwrites coordinate or effect of a group, given m and sqrt V, and
    /// returns the effect. Returns log |∂r/∂z|.
    fn walk(
        &self,
        u: &mut [f64],
        path: &mut Path,
        exchange: impl Fn(&mut f64, f64, f64) -> f64,
    ) -> f64 {
        self.eliminate(u, path);
        let cells = self.weights.len();
        let mut log_jacobian = 0.0;
        self.residuals(u, &mut path.by_rest);
        for (t, stage) in self.stages.iter().enumerate().rev() {
            path.rest[t * cells..(t + 1) * cells].copy_from_slice(&path.by_rest);
            let share = &path.share[t * cells..(t + 1) * cells];
            let mean = &mut path.mean[stage.groups()];
            mean.fill(0.0);
            for ((share, rest), &g) in share.iter().zip(&path.by_rest).zip(&stage.index) {
                mean[g as usize] += share * rest;
            }
            let effects = &mut path.by_sum[stage.groups()];
            let variances = &path.variance[stage.groups()];
            let own = &mut u[stage.effects.clone()];
            for (((own, mean), variance), effect) in own
                .iter_mut()
                .zip(mean.iter_mut())
                .zip(variances)
                .zip(effects.iter_mut())
            {
                *mean *= variance;
                *effect = exchange(own, *mean, variance.sqrt());
                log_jacobian += 0.5 * variance.ln();
            }
            for ((rest, weight), &g) in path.by_rest.iter_mut().zip(&self.weights).zip(&stage.index)
            {
                *rest -= weight * effects[g as usize];
            }
        }
        log_jacobian
    }

    /// u ← coordinates with effects as they are; returns log |∂r/∂z|.
    pub fn to_plain(&self, u: &mut [f64], path: &mut Path) -> f64 {
        self.walk(u, path, |own, mean, sd| {
            *own = mean + sd * *own;
            *own
        })
    }

    /// The inverse of [`Self::to_plain`].
    pub fn to_own(&self, u: &mut [f64]) {
        self.walk(u, &mut Path::default(), |own, mean, sd| {
            let effect = *own;
            *own = (effect - mean) / sd;
            effect
        });
    }

    /// A gradient in the coordinates `plain` becomes that in u, with `jacobian` times that of log |∂r/∂z|; `path` is what
    /// [`Self::to_plain`] left.
    pub fn pull_back(&self, plain: &[f64], path: &mut Path, jacobian: f64, grad: &mut [f64]) {
        let cells = self.weights.len();
        path.by_rest.fill(0.0);
        path.by_left.fill(0.0);
        for (t, stage) in self.stages.iter().enumerate() {
            let by_effect = &mut grad[stage.effects.clone()];
            if t > 0 {
                let cells = path.by_rest.iter().zip(&self.weights).zip(&stage.index);
                for ((by_rest, weight), &g) in cells {
                    by_effect[g as usize] -= by_rest * weight;
                }
            }
            let effects = &plain[stage.effects.clone()];
            for ((g, slope), effect) in stage.groups().zip(by_effect).zip(effects) {
                // ∂r/∂ log V = m + ½ sqrt(V) z.
                path.by_variance[g] = 0.5 * (*slope * (path.mean[g] + effect) + jacobian);
                path.by_sum[g] = *slope * path.variance[g];
                *slope *= path.variance[g].sqrt();
            }
            let by_sum = &path.by_sum[stage.groups()];
            let share = &path.share[t * cells..(t + 1) * cells];
            for ((by_rest, share), &g) in path.by_rest.iter_mut().zip(share).zip(&stage.index) {
                *by_rest += by_sum[g as usize] * share;
            }
        }
        if self.p > 0 {
            let columns = self.columns.chunks_exact(self.p);
            for (by_rest, x) in path.by_rest.iter().zip(columns) {
                axpy(-by_rest, x, &mut grad[..self.p]);
            }
        }
        for (t, stage) in self.stages.iter().enumerate().rev() {
            // log V = 2 log s + log c, c = 1/(1 + s² W).
            for g in stage.groups() {
                let by_left = path.by_variance[g] + path.by_left[g];
                let by_known = -path.variance[g] * by_left;
                grad[stage.scale] += 2.0 * (path.by_variance[g] + path.known[g] * by_known);
                // Not read again: it becomes the slope by W.
                path.by_variance[g] = by_known;
            }
            if stage.inside.is_empty() {
                continue;
            }
            for k in 0..cells {
                let g = stage.start + stage.index[k] as usize;
                let by_share = path.by_sum[g] * path.rest[t * cells + k]
                    + path.by_variance[g] * self.weights[k];
                let by_log_share = by_share * path.share[t * cells + k];
                for &s in &stage.inside {
                    let finer = &self.stages[s];
                    path.by_left[finer.start + finer.index[k] as usize] += by_log_share;
                }
            }
        }
    }
}

impl Stage {
    fn groups(&self) -> Range<usize> {
        self.start..self.start + self.effects.len()
    }
}

/// Whether most groups of `fine` are in one group of `coarse`; both by cell.
fn lies_in(fine: &[u32], coarse: &[u32]) -> bool {
    let pairs: HashSet<(u32, u32)> = fine.iter().copied().zip(coarse.iter().copied()).collect();
    let groups: HashSet<u32> = fine.iter().copied().collect();
    pairs.len() < 2 * groups.len()
}
