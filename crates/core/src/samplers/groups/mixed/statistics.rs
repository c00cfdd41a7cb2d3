//! What a normal likelihood of a mixed model depends on: sums of products over rows, made once.

use std::collections::HashMap;

use crate::models::mixed::MixedEffects;
use ergodic_base::linalg::{axpy, dot};

/// Cancellation in the residual sum of squares that still leaves it eight digits.
const MOST_CANCELLATION: f64 = 1e8;

/// Weighted sums of products of response y, columns x (P) and effect columns z.
pub struct Statistics {
    /// Σ w.
    pub weight: f64,
    yy: f64,
    /// Σ w x x' (P×P), Σ w x y (P).
    pub xx: Vec<f64>,
    pub xy: Vec<f64>,
    /// By term.
    pub terms: Vec<TermStatistics>,
    pairs: Vec<Pair>,
}

/// Sums over the rows of each group of a term, group by group.
pub struct TermStatistics {
    /// q.
    pub width: usize,
    /// Where the term's effects are.
    pub start: usize,
    /// Σ w z z' (q×q).
    pub zz: Vec<f64>,
    /// Σ w z x' (q×P).
    pub zx: Vec<f64>,
    zy: Vec<f64>,
}

/// Sums over the rows that a group of term s and one of a later term t share.
struct Pair {
    s: usize,
    t: usize,
    groups: Vec<(u32, u32)>,
    /// Σ w z_s z_t' (q_s×q_t) per pair of groups.
    blocks: Vec<f64>,
}

impl Statistics {
    /// Of all rows; `None` where the likelihood is not normal.
    pub fn of(view: &dyn MixedEffects, num_obs: usize) -> Option<Self> {
        let p = view.num_coefficients();
        let terms = view.terms();
        let mut out = Self {
            weight: 0.0,
            yy: 0.0,
            xx: vec![0.0; p * p],
            xy: vec![0.0; p],
            terms: terms
                .iter()
                .map(|term| TermStatistics {
                    width: term.width(),
                    start: term.start,
                    zz: vec![0.0; term.levels.len() * term.width() * term.width()],
                    zx: vec![0.0; term.levels.len() * term.width() * p],
                    zy: vec![0.0; term.levels.len() * term.width()],
                })
                .collect(),
            pairs: Vec::new(),
        };
        for row in 0..num_obs {
            let [y, weight] = view.normal_row(row)?;
            let x = view.covariates(row);
            out.weight += weight;
            out.yy += weight * y * y;
            for i in 0..p {
                out.xy[i] += weight * x[i] * y;
                for j in 0..p {
                    out.xx[i * p + j] += weight * x[i] * x[j];
                }
            }
            for (term, sums) in terms.iter().zip(&mut out.terms) {
                let (z, at) = term.row(row);
                let (q, first) = (z.len(), at - term.start);
                for i in 0..q {
                    let scaled = weight * z[i];
                    sums.zy[first + i] += scaled * y;
                    for j in 0..q {
                        sums.zz[(first + i) * q + j] += scaled * z[j];
                    }
                    for j in 0..p {
                        sums.zx[(first + i) * p + j] += scaled * x[j];
                    }
                }
            }
        }
        for t in 0..terms.len() {
            for s in 0..t {
                out.pairs.push(Pair::of(view, s, t, num_obs));
            }
        }
        Some(out)
    }

    /// Σ w z ỹ per group of term `t`, with ỹ the response less the effects of all other terms.
    pub fn response_without(&self, t: usize, effects: &[f64], zy: &mut [f64]) {
        zy.copy_from_slice(&self.terms[t].zy);
        self.subtract_others(t, effects, zy);
    }

    /// SUBTRACTS Σ w z z'r of all other terms per group of term `t`.
    fn subtract_others(&self, t: usize, effects: &[f64], out: &mut [f64]) {
        for (s, other) in self.terms.iter().enumerate().filter(|&(s, _)| s != t) {
            self.each_product(t, s, |g, h, entry| {
                out[g] -= entry * effects[other.start + h];
            });
        }
    }

    /// Σ w z e per group of term `t`, with the residuals e = y − x'β − Σ z'r.
    pub fn rest_of_effects(&self, t: usize, beta: &[f64], effects: &[f64], out: &mut [f64]) {
        let p = beta.len();
        let sums = &self.terms[t];
        let q = sums.width;
        let own = &effects[sums.start..][..sums.zy.len()];
        for (k, out) in out.iter_mut().enumerate() {
            let group = &own[k - k % q..][..q];
            *out =
                sums.zy[k] - dot(&sums.zx[k * p..][..p], beta) - dot(&sums.zz[k * q..][..q], group);
        }
        self.subtract_others(t, effects, out);
    }

    /// Σ w x e (P).
    pub fn rest_of_coefficients(&self, beta: &[f64], effects: &[f64], out: &mut [f64]) {
        let p = beta.len();
        for (i, out) in out.iter_mut().enumerate() {
            *out = self.xy[i] - dot(&self.xx[i * p..][..p], beta);
        }
        for sums in &self.terms {
            let own = &effects[sums.start..][..sums.zy.len()];
            for (r, row) in own.iter().zip(sums.zx.chunks_exact(p.max(1))) {
                axpy(-r, row, out);
            }
        }
    }

    /// Calls `visit(effect of s, effect of t, Σ w z z')` for all pairs of groups with a row in common, of two different
    /// terms; effects are counted from the first of their term.
    pub fn each_product(&self, s: usize, t: usize, mut visit: impl FnMut(usize, usize, f64)) {
        for pair in &self.pairs {
            if (pair.s, pair.t) == (s, t) {
                pair.each(self, &mut visit);
            } else if (pair.s, pair.t) == (t, s) {
                pair.each(self, |g, h, entry| visit(h, g, entry));
            }
        }
    }

    /// Σ w (y − x'β − z'r)²; `None` where so many digits cancel that the rows must be asked.
    pub fn residual_sum(&self, beta: &[f64], effects: &[f64]) -> Option<f64> {
        let p = beta.len();
        let (mut sum, mut size) = (self.yy, self.yy);
        let mut add = |value: f64| {
            sum += value;
            size += value.abs();
        };
        for i in 0..p {
            add(-2.0 * beta[i] * self.xy[i]);
            for j in 0..p {
                add(beta[i] * beta[j] * self.xx[i * p + j]);
            }
        }
        for sums in &self.terms {
            let q = sums.width;
            let own = &effects[sums.start..][..sums.zy.len()];
            for (k, r) in own.iter().enumerate() {
                let group = &own[k - k % q..][..q];
                let with_x = sums.zx[k * p..][..p].iter().zip(beta);
                let with_z = sums.zz[k * q..][..q].iter().zip(group);
                add(-2.0 * r * sums.zy[k]);
                add(2.0 * r * with_x.map(|(a, b)| a * b).sum::<f64>());
                add(r * with_z.map(|(a, b)| a * b).sum::<f64>());
            }
        }
        for pair in &self.pairs {
            let (s, t) = (self.terms[pair.s].start, self.terms[pair.t].start);
            pair.each(self, |g, h, entry| {
                add(2.0 * entry * effects[s + g] * effects[t + h]);
            });
        }
        (sum * MOST_CANCELLATION > size).then_some(sum)
    }
}

impl Pair {
    fn of(view: &dyn MixedEffects, s: usize, t: usize, num_obs: usize) -> Self {
        let (first, second) = (&view.terms()[s], &view.terms()[t]);
        let size = first.width() * second.width();
        let mut places: HashMap<(u32, u32), usize> = HashMap::new();
        let mut out = Self {
            s,
            t,
            groups: Vec::new(),
            blocks: Vec::new(),
        };
        for row in 0..num_obs {
            let Some([_y, weight]) = view.normal_row(row) else {
                continue;
            };
            let groups = (first.index[row], second.index[row]);
            let place = *places.entry(groups).or_insert_with(|| {
                out.groups.push(groups);
                out.blocks.resize(out.blocks.len() + size, 0.0);
                out.groups.len() - 1
            });
            let (z_s, z_t) = (first.row(row).0, second.row(row).0);
            let block = &mut out.blocks[place * size..][..size];
            for (line, z_s) in block.chunks_exact_mut(z_t.len()).zip(z_s) {
                for (entry, z_t) in line.iter_mut().zip(z_t) {
                    *entry += weight * z_s * z_t;
                }
            }
        }
        out
    }

    /// Calls `visit(effect of s, effect of t, entry)`, effects counted from the first of their term.
    fn each(&self, statistics: &Statistics, mut visit: impl FnMut(usize, usize, f64)) {
        let (q_s, q_t) = (
            statistics.terms[self.s].width,
            statistics.terms[self.t].width,
        );
        let blocks = self.blocks.chunks_exact(q_s * q_t);
        for (&(g, h), block) in self.groups.iter().zip(blocks) {
            for i in 0..q_s {
                for j in 0..q_t {
                    visit(
                        g as usize * q_s + i,
                        h as usize * q_t + j,
                        block[i * q_t + j],
                    );
                }
            }
        }
    }
}
