//! Standard deviations, correlations and σ of a normal mixed model with coefficients and effects integrated out.
//!
//! Given its scales a normal mixed model is normal in β and the effects r, so that both integrate out of the posterior.
//! Scales drawn along slices of what is left, and (β, r) from their joint normal after that, are one draw of all of them
//! together (Liu 1994, The collapsed Gibbs sampler; van Dyk and Park 2008): a standard deviation near zero or
//! correlations near one then cost nothing, however few rows tell the effects. Reference for the algebra: Bates, Mächler,
//! Bolker and Walker (2015), section 3.
//!
//! All is said relative to the present (β, r), whose residuals e are small: with h = (Z, X)'e/σ² + ∂ log prior and Q the
//! precision of (r, β), log p(y | scales) = −Σw log σ − e'e/2σ² + log prior(r) − log|Q|/2 + h'Q⁻¹h/2 up to a constant. Of a
//! block of terms one, the lead, has a block-diagonal part in Q and is eliminated group by group; the rest, the tail of
//! coefficients and effects of the other terms, is dense.

use rand_distr::{Distribution as _, StandardNormal};

use super::statistics::Statistics;
use super::{Spread, WIDTH, scatter};
use crate::models::mixed::{GroupTerm, Lower, MixedEffects};
use crate::oracle::StepError;
use crate::samplers::full_data::slice::slice_along;
use ergodic_base::ChainRng;
use ergodic_base::linalg::{Cholesky, axpy, dot};

/// Operations of one evaluation up to which a block is integrated out: some tens of evaluations are then a few
/// milliseconds, which buys a draw that is nearly independent of the last one.
const MOST_WORK: f64 = 2e5;
/// Evaluations along a slice.
const EVALUATIONS: f64 = 7.0;

/// Scales so small or so large that a precision has no factor.
pub fn not_positive(iter: u64) -> StepError {
    StepError::not_positive("the precision of coefficients or of effects", iter)
}

/// Terms that are drawn together with the coefficients.
pub struct Block {
    /// Term whose effects are eliminated group by group.
    lead: usize,
    /// The other terms and where their effects are in the tail.
    others: Vec<(usize, usize)>,
    /// P, and numbers in the tail.
    p: usize,
    size: usize,
    /// By group of the lead: places in the tail of what it has rows in common with, ascending; sums of products with
    /// these, q×len per group.
    ends: Vec<usize>,
    columns: Vec<u32>,
    cross: Vec<f64>,
    /// Sums of products of the tail (size×size).
    tail: Vec<f64>,
    /// Residuals' products with the lead's columns, with the tail's, and their sum of squares.
    lead_rest: Vec<f64>,
    tail_rest: Vec<f64>,
    squares: f64,
    /// Σ r r' by term, the lead's first.
    scatters: Vec<Lower>,
    spreads: Vec<Spread>,
    /// L of each group (q×q), L⁻¹ times its part of Q, L⁻¹ h.
    lower: Vec<f64>,
    across: Vec<f64>,
    own: Vec<f64>,
    precision: Vec<f64>,
    linear: Vec<f64>,
    factor: Cholesky,
}

/// Normal prior of β that its prior is a mixture of: precision (P×P) and linear part (P).
#[derive(Clone, Copy)]
pub struct CoefficientPrior<'a> {
    pub precision: &'a [f64],
    pub linear: &'a [f64],
}

/// How the terms of a model are divided: blocks to be integrated out, and terms that are too large for that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Division {
    /// Terms of each block, the lead first.
    pub blocks: Vec<Vec<usize>>,
    /// Terms that are in no block.
    pub single: Vec<usize>,
}

/// All terms in one block where that costs little, otherwise each in its own where that does.
pub fn divide(view: &dyn MixedEffects) -> Division {
    let terms = view.terms();
    if terms.is_empty() {
        return Division::default();
    }
    let mut all: Vec<usize> = (0..terms.len()).collect();
    // The first of equals, so that the order is that of the formula.
    all.sort_by_key(|&t| std::cmp::Reverse(terms[t].effects.len()));
    if work(view, &all) <= MOST_WORK {
        return Division {
            blocks: vec![all],
            single: Vec::new(),
        };
    }
    let (blocks, single): (Vec<usize>, Vec<usize>) =
        (0..terms.len()).partition(|&t| work(view, &[t]) <= MOST_WORK);
    Division {
        blocks: blocks.into_iter().map(|t| vec![t]).collect(),
        single,
    }
}

/// Operations of one evaluation for a block, at most.
fn work(view: &dyn MixedEffects, block: &[usize]) -> f64 {
    let terms = view.terms();
    let Some((&lead, others)) = block.split_first() else {
        return 0.0;
    };
    let p = view.num_coefficients();
    let tail = p + others
        .iter()
        .map(|&t| terms[t].effects.len())
        .sum::<usize>();
    let (tail, q) = (tail as f64, terms[lead].width() as f64);
    let groups = terms[lead].levels.len() as f64;
    // A group has rows in common with at most one group of another term per row.
    let rows = terms[lead].index.len() as f64 / groups.max(1.0);
    let widths: f64 = others.iter().map(|&t| terms[t].width() as f64).sum();
    let columns = (p as f64 + rows * widths).min(tail);
    groups * q * (q * q + q * columns + 0.5 * columns * columns) + tail * tail * tail / 3.0
}

/// Operations of a draw of all terms, an order of magnitude.
pub fn draw_work(view: &dyn MixedEffects) -> f64 {
    let terms = view.terms();
    let Division { blocks, single } = divide(view);
    let scales = |block: &[usize]| block.iter().map(|&t| terms[t].scales.len()).sum::<usize>();
    let marginal =
        |block: &Vec<usize>| EVALUATIONS * (scales(block) + 1) as f64 * work(view, block);
    let pairs = (terms.len() * terms.len().saturating_sub(1)) as f64;
    let rows = terms.first().map_or(0, |term| term.index.len()) as f64;
    // Conditional draws cost about two evaluations, and pairs of crossed groups are visited for each of them.
    blocks.iter().map(marginal).sum::<f64>()
        + single.iter().map(|&t| 2.0 * work(view, &[t])).sum::<f64>()
        + if blocks.len() + single.len() > 1 {
            2.0 * rows * pairs
        } else {
            rows
        }
}

impl Block {
    /// The terms `block`, the lead first.
    pub fn new(view: &dyn MixedEffects, statistics: &Statistics, block: &[usize]) -> Option<Self> {
        let (&lead, rest) = block.split_first()?;
        let terms = view.terms();
        let p = view.num_coefficients();
        let mut size = p;
        let mut others = Vec::new();
        for &t in rest {
            others.push((t, size));
            size += terms[t].effects.len();
        }
        let mut tail = vec![0.0; size * size];
        for i in 0..p {
            tail[i * size..i * size + p].copy_from_slice(&statistics.xx[i * p..(i + 1) * p]);
        }
        for &(t, start) in &others {
            let sums = &statistics.terms[t];
            let q = sums.width;
            for k in 0..terms[t].effects.len() {
                let at = start + k;
                for j in 0..p {
                    let value = sums.zx[k * p + j];
                    tail[at * size + j] = value;
                    tail[j * size + at] = value;
                }
                for l in 0..q {
                    tail[at * size + start + k - k % q + l] = sums.zz[k * q + l];
                }
            }
            for &(s, before) in others.iter().take_while(|&&(s, _)| s != t) {
                statistics.each_product(s, t, |g, h, value| {
                    let (a, b) = (before + g, start + h);
                    tail[a * size + b] = value;
                    tail[b * size + a] = value;
                });
            }
        }
        let q = terms[lead].width();
        let groups = terms[lead].levels.len();
        let sums = &statistics.terms[lead];
        // Columns of other terms by group of the lead, with products by effect.
        let mut touched = vec![std::collections::BTreeMap::<u32, Vec<f64>>::new(); groups];
        for &(t, start) in &others {
            statistics.each_product(lead, t, |g, h, value| {
                let column = touched[g / q].entry((start + h) as u32);
                column.or_insert_with(|| vec![0.0; q])[g % q] = value;
            });
        }
        let (mut ends, mut columns, mut cross) = (Vec::new(), Vec::new(), Vec::new());
        for (g, touched) in touched.into_iter().enumerate() {
            columns.extend(0..p as u32);
            columns.extend(touched.keys());
            for i in 0..q {
                cross.extend_from_slice(&sums.zx[(g * q + i) * p..][..p]);
                cross.extend(touched.values().map(|values| values[i]));
            }
            ends.push(columns.len());
        }
        Some(Self {
            p,
            size,
            lead_rest: vec![0.0; groups * q],
            tail_rest: vec![0.0; size],
            squares: 0.0,
            scatters: Vec::with_capacity(block.len()),
            spreads: Vec::with_capacity(block.len()),
            lower: vec![0.0; groups * q * q],
            across: vec![0.0; cross.len()],
            own: vec![0.0; groups * q],
            precision: vec![0.0; size * size],
            linear: vec![0.0; size],
            factor: Cholesky::empty(size),
            lead,
            others,
            ends,
            columns,
            cross,
            tail,
        })
    }

    /// Draws the scales of the block's terms and σ with β and the block's effects integrated out, then these. `squares` is
    /// the weighted sum of squared residuals at (u, effects); u holds β, log σ and the scales.
    pub fn draw(
        &mut self,
        view: &dyn MixedEffects,
        statistics: &Statistics,
        prior: CoefficientPrior<'_>,
        squares: f64,
        u: &mut [f64],
        effects: &mut [f64],
        iter: u64,
        rng: &mut ChainRng,
    ) -> Result<(), StepError> {
        let terms = view.terms();
        self.prepare(view, statistics, squares, u, effects);
        let mut here = self.log_density(view, statistics, prior, u, effects);
        let places = self.num_scales(terms) + 1;
        for k in 0..places {
            let place = self.scale(terms, k);
            let centre = u[place];
            let (t, value) = slice_along(here, WIDTH, rng, |t| {
                u[place] = centre + t;
                Ok(self.log_density(view, statistics, prior, u, effects))
            })?;
            u[place] = centre + t;
            here = value;
        }
        // The factors are those of the last trial.
        self.draw_at_scales(view, statistics, prior, u, effects, iter, rng)
    }

    /// Draws β and the block's effects given the scales.
    pub fn draw_effects(
        &mut self,
        view: &dyn MixedEffects,
        statistics: &Statistics,
        prior: CoefficientPrior<'_>,
        u: &mut [f64],
        effects: &mut [f64],
        iter: u64,
        rng: &mut ChainRng,
    ) -> Result<(), StepError> {
        // At given scales the sum of squares is a constant.
        self.prepare(view, statistics, 0.0, u, effects);
        self.draw_at_scales(view, statistics, prior, u, effects, iter, rng)
    }

    fn draw_at_scales(
        &mut self,
        view: &dyn MixedEffects,
        statistics: &Statistics,
        prior: CoefficientPrior<'_>,
        u: &mut [f64],
        effects: &mut [f64],
        iter: u64,
        rng: &mut ChainRng,
    ) -> Result<(), StepError> {
        let value = self.log_density(view, statistics, prior, u, effects);
        if !value.is_finite() {
            return Err(not_positive(iter));
        }
        self.draw_location(view.terms(), u, effects, rng);
        Ok(())
    }

    /// The term whose effects are eliminated group by group.
    pub fn lead(&self) -> usize {
        self.lead
    }

    /// Takes in the state that [`Self::log_density`] is relative to.
    pub(super) fn prepare(
        &mut self,
        view: &dyn MixedEffects,
        statistics: &Statistics,
        squares: f64,
        u: &[f64],
        effects: &[f64],
    ) {
        let p = self.p;
        let terms = view.terms();
        statistics.rest_of_effects(self.lead, &u[..p], effects, &mut self.lead_rest);
        statistics.rest_of_coefficients(&u[..p], effects, &mut self.tail_rest[..p]);
        for &(t, start) in &self.others {
            let out = &mut self.tail_rest[start..][..terms[t].effects.len()];
            statistics.rest_of_effects(t, &u[..p], effects, out);
        }
        self.squares = squares;
        self.scatters.clear();
        for t in std::iter::once(self.lead).chain(self.others.iter().map(|other| other.0)) {
            self.scatters.push(scatter(&terms[t], effects));
        }
    }

    fn num_scales(&self, terms: &[GroupTerm]) -> usize {
        let of_others = self.others.iter().map(|&(t, _)| terms[t].scales.len());
        terms[self.lead].scales.len() + of_others.sum::<usize>()
    }

    /// Where scale `k` of the block is in u: those of the lead, of the others, and log σ.
    fn scale(&self, terms: &[GroupTerm], mut k: usize) -> usize {
        let of_terms = std::iter::once(self.lead).chain(self.others.iter().map(|other| other.0));
        for t in of_terms {
            let scales = &terms[t].scales;
            if k < scales.len() {
                return scales.start + k;
            }
            k -= scales.len();
        }
        self.p
    }

    /// Log density of scales and σ given the rows and all other terms, up to a constant; leaves behind the factors for
    /// [`Self::draw_location`].
    pub(super) fn log_density(
        &mut self,
        view: &dyn MixedEffects,
        statistics: &Statistics,
        prior: CoefficientPrior<'_>,
        u: &[f64],
        effects: &[f64],
    ) -> f64 {
        let (p, size, terms) = (self.p, self.size, view.terms());
        let precision = (-2.0 * u[p]).exp();
        let mut value = view.auxiliary_prior(0, u[p])[0]
            - statistics.weight * u[p]
            - 0.5 * precision * self.squares;
        self.spreads.clear();
        let of_terms = std::iter::once(self.lead).chain(self.others.iter().map(|other| other.0));
        for (t, scatter) in of_terms.zip(&self.scatters) {
            let term = &terms[t];
            let scales = &u[term.scales.clone()];
            let spread = Spread::at(term, scales);
            value += term.log_prior_of_scales(scales);
            value -= term.levels.len() as f64 * spread.log_det;
            for (row, scatter) in spread.precision.iter().zip(scatter).take(term.width()) {
                value -= 0.5 * dot(&row[..term.width()], &scatter[..term.width()]);
            }
            self.spreads.push(spread);
        }
        // The tail.
        for (out, tail) in self.precision.iter_mut().zip(&self.tail) {
            *out = precision * tail;
        }
        for (out, rest) in self.linear.iter_mut().zip(&self.tail_rest) {
            *out = precision * rest;
        }
        for i in 0..p {
            let row = &prior.precision[i * p..(i + 1) * p];
            axpy(1.0, row, &mut self.precision[i * size..i * size + p]);
            self.linear[i] += prior.linear[i] - dot(row, &u[..p]);
        }
        for (&(t, start), spread) in self.others.iter().zip(&self.spreads[1..]) {
            let term = &terms[t];
            let q = term.width();
            let own = &effects[term.start..][..term.effects.len()];
            for (g, r) in own.chunks_exact(q).enumerate() {
                for i in 0..q {
                    let at = start + g * q + i;
                    let row = &spread.precision[i][..q];
                    axpy(
                        1.0,
                        row,
                        &mut self.precision[at * size + start + g * q..][..q],
                    );
                    self.linear[at] -= dot(row, r);
                }
            }
        }
        let zz = &statistics.terms[self.lead].zz;
        let Some(of_lead) = self.eliminate(&terms[self.lead], zz, precision, effects) else {
            return f64::NEG_INFINITY;
        };
        value += of_lead;
        if size > 0 {
            if self.factor.factor(&self.precision).is_err() {
                return f64::NEG_INFINITY;
            }
            self.factor.solve_lower(&mut self.linear);
            value += 0.5 * (dot(&self.linear, &self.linear) - self.factor.log_det());
        }
        if value.is_finite() {
            value
        } else {
            f64::NEG_INFINITY
        }
    }

    /// Eliminates the lead's effects from the tail; what they add to the log density, `None` if that is not a number.
    fn eliminate(
        &mut self,
        term: &GroupTerm,
        zz: &[f64],
        precision: f64,
        effects: &[f64],
    ) -> Option<f64> {
        let (size, q) = (self.size, term.width());
        let prior = &self.spreads[0].precision;
        let own = &effects[term.start..][..term.effects.len()];
        let mut value = 0.0;
        let mut from = 0;
        for (g, &end) in self.ends.iter().enumerate() {
            let columns = &self.columns[from..end];
            let len = columns.len();
            let cross = &self.cross[from * q..end * q];
            let across = &mut self.across[from * q..end * q];
            from = end;
            let lower = &mut self.lower[g * q * q..][..q * q];
            for (k, (out, zz)) in lower.iter_mut().zip(&zz[g * q * q..]).enumerate() {
                *out = prior[k / q][k % q] + precision * zz;
            }
            if !factor_in_place(lower, q) {
                return None;
            }
            let (r, rest) = (&own[g * q..][..q], &self.lead_rest[g * q..][..q]);
            let h = &mut self.own[g * q..][..q];
            for i in 0..q {
                // Forward substitution in all columns at once.
                let (done, ahead) = across.split_at_mut(i * len);
                let row = &mut ahead[..len];
                for (out, cross) in row.iter_mut().zip(&cross[i * len..]) {
                    *out = precision * cross;
                }
                let mut own = precision * rest[i] - dot(&prior[i][..q], r);
                for k in 0..i {
                    axpy(-lower[i * q + k], &done[k * len..(k + 1) * len], row);
                    own -= lower[i * q + k] * h[k];
                }
                let pivot = lower[i * q + i];
                row.iter_mut().for_each(|out| *out /= pivot);
                h[i] = own / pivot;
                value += 0.5 * h[i] * h[i] - pivot.ln();
                for (a, (&place, &entry)) in columns.iter().zip(row.iter()).enumerate() {
                    let place = place as usize;
                    self.linear[place] -= h[i] * entry;
                    let line = &mut self.precision[place * size..][..size];
                    for (&other, &with) in columns[..=a].iter().zip(row.iter()) {
                        line[other as usize] -= entry * with;
                    }
                }
            }
        }
        value.is_finite().then_some(value)
    }

    /// Draws β and the block's effects at the scales of the last [`Self::log_density`], which was finite.
    fn draw_location(
        &mut self,
        terms: &[GroupTerm],
        u: &mut [f64],
        effects: &mut [f64],
        rng: &mut ChainRng,
    ) {
        for value in &mut self.linear {
            let normal: f64 = StandardNormal.sample(rng);
            *value += normal;
        }
        // What the tail moves by.
        self.factor.solve_lower_transpose(&mut self.linear);
        axpy(1.0, &self.linear[..self.p], &mut u[..self.p]);
        for &(t, start) in &self.others {
            let term = &terms[t];
            let own = &mut effects[term.start..][..term.effects.len()];
            axpy(1.0, &self.linear[start..][..own.len()], own);
        }
        let term = &terms[self.lead];
        let q = term.width();
        let own = &mut effects[term.start..][..term.effects.len()];
        let mut from = 0;
        for (g, (&end, r)) in self.ends.iter().zip(own.chunks_exact_mut(q)).enumerate() {
            let columns = &self.columns[from..end];
            let across = &self.across[from * q..end * q];
            from = end;
            let lower = &self.lower[g * q * q..][..q * q];
            let h = &mut self.own[g * q..][..q];
            for (h, row) in h.iter_mut().zip(across.chunks_exact(columns.len().max(1))) {
                for (&place, entry) in columns.iter().zip(row) {
                    *h -= entry * self.linear[place as usize];
                }
            }
            for i in (0..q).rev() {
                let normal: f64 = StandardNormal.sample(rng);
                h[i] += normal;
            }
            for i in (0..q).rev() {
                h[i] /= lower[i * q + i];
                for k in 0..i {
                    h[k] -= lower[i * q + k] * h[i];
                }
                r[i] += h[i];
            }
        }
    }
}

/// The lower factor of a small q×q matrix, in place; whether it is positive definite.
fn factor_in_place(a: &mut [f64], q: usize) -> bool {
    for i in 0..q {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|k| a[i * q + k] * a[j * q + k]).sum();
            let rest = a[i * q + j] - sum;
            if i > j {
                a[i * q + j] = rest / a[j * q + j];
            } else if rest > 0.0 && rest.is_finite() {
                a[i * q + i] = rest.sqrt();
            } else {
                return false;
            }
        }
    }
    true
}
