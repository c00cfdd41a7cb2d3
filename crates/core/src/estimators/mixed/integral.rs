//! The likelihood of groups as integrals over their effects, by points: quadrature or random draws.
//!
//! With one grouping factor the likelihood is a product over its groups g of integrals over their q effects u ~ N(0, I), b = Λu
//! (El Hanchi 2018, equation 30). Each is a sum over points u_j with weights, of which there are three rules. With û the mode,
//! LL' = M_gg⁻¹ the inverse curvature there, and points t_j of a standard normal variable with weights ω_j:
//!
//! ```text
//! ∫ p(y_g|Λu) φ(u) du ≈ Σ_j ω_j p(y_g|Λt_j)                                                     plain
//!                     ≈ |L| Σ_j ω_j p(y_g|Λu_j) exp(½|t_j|² − ½|u_j|²),   u_j = û + L t_j            adaptive
//!                     ≈ (1/S) Σ_s p(y_g|Λu_s) φ(u_s)/m(u_s),   u_s ~ m = α N(0, I) + (1 − α) N(û, LL')   drawn
//! ```
//!
//! Quadrature takes for t_j the product of q times the nodes of Gauss-Hermite quadrature: n nodes are exact where what multiplies
//! the normal density is a polynomial of degree at most 2n − 1 in each direction, and one adaptive node is Laplace's approximation
//! (Pinheiro and Bates 1995). Draws are the same in every evaluation, so that the likelihood is a smooth function of the parameters;
//! a share α of them comes from the effects' own distribution, which bounds the weights by p(y_g|Λu)/α where an integrand has longer
//! tails than its normal approximation (Hesterberg 1995). Derivatives are taken by differences of fourth order: points move with the
//! parameters.

use rand_distr::{Distribution as _, StandardNormal};

use super::blocks::Blocks;
use super::fit::Method;
use super::laplace::Laplace;
use super::{Misfit, MixedData, MixedError};
use crate::numerics::quadrature::gauss_hermite;
use ergodic_base::linalg::{Cholesky, dot};
use ergodic_base::{Control, substream};

/// Most nodes in each direction.
pub const MOST_NODES: usize = 100;
/// Most points of a group: nodes to the power of the effects.
pub const MOST_POINTS: usize = 20_000;
/// Fewest and most draws of a group.
pub const LEAST_DRAWS: usize = 20;
/// See [`LEAST_DRAWS`].
pub const MOST_DRAWS: usize = 1_000_000;
/// Step of the differences, in units of scaled columns and of θ: rounding and neglected terms are both below 1e-7.
const STEP: f64 = 1e-3;
/// Draws of a hundred that are from the effects' own distribution, α.
const PRIOR_PERCENT: usize = 20;
/// Random numbers are the same in every run: the same data give the same estimates.
const SEED: u64 = 56;

/// How finely integrals are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fineness {
    /// Nodes of quadrature in the direction of each effect.
    pub nodes: usize,
    /// Draws for each group.
    pub draws: usize,
}

impl Default for Fineness {
    /// Users of lme4 take 9 to 25 nodes.
    fn default() -> Self {
        Self {
            nodes: 15,
            draws: 1_000,
        }
    }
}

/// Nodes and weights of a standard normal variable in several directions.
struct Grid {
    /// t, one row per point.
    points: Vec<f64>,
    /// log ω.
    log_weights: Vec<f64>,
}

impl Grid {
    /// The product of `q` times `n` nodes.
    fn new(n: usize, q: usize) -> Self {
        let (nodes, weights) = gauss_hermite(n);
        let half_log_pi = 0.5 * std::f64::consts::PI.ln();
        let one: Vec<(f64, f64)> = (nodes.iter().zip(&weights))
            .map(|(x, w)| (std::f64::consts::SQRT_2 * x, w.ln() - half_log_pi))
            .collect();
        let (mut points, mut log_weights) = (Vec::new(), Vec::new());
        let mut digits = vec![0; q];
        loop {
            points.extend(digits.iter().map(|&k| one[k].0));
            log_weights.push(digits.iter().map(|&k| one[k].1).sum());
            // Counts up in the number system of base n.
            let Some(place) = digits.iter().rposition(|&k| k + 1 < n) else {
                break;
            };
            digits[place] += 1;
            digits[place + 1..].fill(0);
        }
        Self {
            points,
            log_weights,
        }
    }
}

/// Where integrands are evaluated.
enum Rule {
    Plain(Grid),
    Adaptive(Grid),
    Drawn(usize),
}

/// Rows by the groups of one factor, and where the effects of a group stand in each term.
struct Grouping {
    order: Vec<u32>,
    /// Where the rows of each group begin in `order`, and their end.
    first: Vec<usize>,
    /// First effect and number of effects of each term.
    terms: Vec<(usize, usize)>,
    /// Number of effects of a group.
    width: usize,
}

impl Grouping {
    fn of(data: &MixedData, blocks: &Blocks, method: Method) -> Result<Self, MixedError> {
        data.check_groups(method)?;
        let index = &data.terms[0].index;
        if let Some(other) = data.terms.iter().find(|term| term.index != *index) {
            return Err(Misfit::Crossed {
                method,
                one: data.terms[0].group.clone(),
                other: other.group.clone(),
            }
            .into());
        }
        let mut first = vec![0; blocks.levels[0] + 1];
        for &level in index {
            first[level as usize + 1] += 1;
        }
        for level in 0..blocks.levels[0] {
            first[level + 1] += first[level];
        }
        let (mut order, mut next) = (vec![0; index.len()], first.clone());
        for (row, &level) in index.iter().enumerate() {
            order[next[level as usize]] = row as u32;
            next[level as usize] += 1;
        }
        Ok(Self {
            order,
            first,
            terms: (blocks.start.iter().copied())
                .zip(blocks.width.iter().copied())
                .collect(),
            width: blocks.width.iter().sum(),
        })
    }

    fn len(&self) -> usize {
        self.first.len() - 1
    }

    /// Picks the effects of a group out of those of all groups.
    fn pick(&self, group: usize, all: &[f64], out: &mut Vec<f64>) {
        out.clear();
        for &(start, q) in &self.terms {
            out.extend_from_slice(&all[start + group * q..][..q]);
        }
    }

    /// Writes M_gg⁻¹ of a group (width × width) from the blocks of M⁻¹.
    fn covariance(&self, group: usize, blocks: &Blocks, inverse: &[f64], out: &mut [f64]) {
        let place = |t: usize| self.terms[..t].iter().map(|(_, q)| q).sum::<usize>();
        for pair in &blocks.pairs {
            let (q_s, q_t) = (blocks.width[pair.s], blocks.width[pair.t]);
            let block = &inverse[pair.offset + group * q_s * q_t..][..q_s * q_t];
            let (s, t) = (place(pair.s), place(pair.t));
            for i in 0..q_t {
                for j in 0..q_s {
                    let value = block[i * q_s + j];
                    out[(t + i) * self.width + s + j] = value;
                    out[(s + j) * self.width + t + i] = value;
                }
            }
        }
    }
}

/// The points of one group at work.
#[derive(Default)]
struct Points {
    mode: Vec<f64>,
    covariance: Vec<f64>,
    /// u, then b = Λu, one row per point.
    effects: Vec<f64>,
    /// Logarithms of what p(y_g|b) is multiplied by, then of the terms of the sum.
    terms: Vec<f64>,
}

/// A group whose integral is a sum over points.
#[derive(Clone, Copy)]
pub struct Summed<'s> {
    /// The rows of the group.
    pub rows: &'s [u32],
    /// b of all terms side by side, one row per point.
    pub effects: &'s [f64],
    /// Shares of the points in the sum: chances of the effects given the rows.
    pub shares: &'s [f64],
}

/// The deviance by integrals of groups.
pub struct Integral<'l, 'a> {
    /// Finds the modes, and holds the parameters.
    pub laplace: &'l mut Laplace<'a>,
    rule: Rule,
    grouping: Grouping,
    points: Points,
    /// Variance of the Monte Carlo error of the log likelihood that was computed last.
    error_variance: f64,
}

impl<'l, 'a> Integral<'l, 'a> {
    /// By the rule of `method`.
    ///
    /// # Errors
    /// Several grouping factors, numbers of nodes or draws that make no sense, or more points than anybody would wait for.
    pub fn new(
        laplace: &'l mut Laplace<'a>,
        method: Method,
        fineness: Fineness,
    ) -> Result<Self, MixedError> {
        let grouping = Grouping::of(laplace.data, &laplace.blocks, method)?;
        let q = grouping.width;
        let rule = match method {
            Method::MonteCarlo => {
                let draws = fineness.draws;
                if !(LEAST_DRAWS..=MOST_DRAWS).contains(&draws) {
                    return Err(Misfit::Draws(draws).into());
                }
                Rule::Drawn(draws)
            }
            Method::Ghq => Rule::Plain(grid(fineness.nodes, q)?),
            _ => Rule::Adaptive(grid(fineness.nodes, q)?),
        };
        Ok(Self {
            laplace,
            rule,
            points: Points {
                covariance: vec![0.0; q * q],
                ..Points::default()
            },
            grouping,
            error_variance: 0.0,
        })
    }

    /// Number of effects of a group.
    pub fn num_effects(&self) -> usize {
        self.grouping.width
    }

    /// The deviance at the parameters of [`Laplace::deviance`].
    ///
    /// # Errors
    /// Cancelled.
    pub fn deviance(&mut self, parameters: &[f64], control: &Control) -> Result<f64, MixedError> {
        self.visit(parameters, control, |_laplace, _group| {})
    }

    /// The deviance at the parameters, handing each group to `visit` when its integral is known.
    ///
    /// # Errors
    /// Cancelled.
    pub fn visit(
        &mut self,
        parameters: &[f64],
        control: &Control,
        mut visit: impl FnMut(&Laplace<'a>, Summed<'_>),
    ) -> Result<f64, MixedError> {
        if matches!(self.rule, Rule::Plain(_)) {
            self.laplace.place(parameters);
            super::tick(control)?;
        } else {
            if !self.laplace.deviance(parameters, control)?.is_finite() {
                return Ok(f64::INFINITY);
            }
            (self.laplace.factor).selected_inverse(&mut self.laplace.inverse);
        }
        let laplace = &*self.laplace;
        let q = self.grouping.width;
        let mut log_lik = laplace.constants();
        self.error_variance = 0.0;
        for group in 0..self.grouping.len() {
            control.check(MixedError::Cancelled)?;
            let points = &mut self.points;
            if points
                .spread(&self.rule, &self.grouping, laplace, group)
                .is_none()
            {
                return Ok(f64::INFINITY);
            }
            let own = self.grouping.first[group]..self.grouping.first[group + 1];
            let rows = &self.grouping.order[own];
            for &row in rows {
                let row = row as usize;
                let (y, known, weight) = laplace.row(row);
                let base = laplace.base[row];
                let mut at = |z: &[f64]| {
                    let effects = points.effects.chunks_exact(q);
                    for (term, b) in points.terms.iter_mut().zip(effects) {
                        let d = laplace.outcome.at(base + dot(z, b), y, known);
                        *term += weight * d.log_p;
                    }
                };
                match &laplace.data.terms[..] {
                    [term] => at(term.row(row)),
                    terms => {
                        let z: Vec<f64> =
                            terms.iter().flat_map(|it| it.row(row)).copied().collect();
                        at(&z);
                    }
                }
            }
            let largest = points
                .terms
                .iter()
                .copied()
                .fold(f64::NEG_INFINITY, f64::max);
            if !largest.is_finite() {
                return Ok(f64::INFINITY);
            }
            let mut sum = 0.0;
            for term in &mut points.terms {
                *term = (*term - largest).exp();
                sum += *term;
            }
            log_lik += largest + sum.ln();
            for term in &mut points.terms {
                *term /= sum;
            }
            if let Rule::Drawn(draws) = self.rule {
                let (own, around) = points.terms.split_at(from_prior(draws));
                self.error_variance += variance_of_sum(own) + variance_of_sum(around);
            }
            visit(
                laplace,
                Summed {
                    rows,
                    effects: &points.effects,
                    shares: &points.terms,
                },
            );
        }
        Ok(-2.0 * log_lik)
    }

    /// Monte Carlo standard error of the log likelihood that was computed last, where there are draws.
    pub fn error(&self) -> Option<f64> {
        matches!(self.rule, Rule::Drawn(_)).then(|| self.error_variance.sqrt())
    }

    /// The deviance and its gradient by differences.
    ///
    /// # Errors
    /// Cancelled.
    pub fn deviance_and_gradient(
        &mut self,
        parameters: &[f64],
        grad: &mut [f64],
        control: &Control,
    ) -> Result<f64, MixedError> {
        let deviance = self.deviance(parameters, control)?;
        if !deviance.is_finite() {
            grad.fill(0.0);
            return Ok(f64::INFINITY);
        }
        let mut moved = parameters.to_vec();
        for k in 0..moved.len() {
            let mut at = |h: f64| {
                moved[k] = parameters[k] + h;
                let value = self.deviance(&moved, control);
                moved[k] = parameters[k];
                value
            };
            let near = at(STEP)? - at(-STEP)?;
            let far = at(2.0 * STEP)? - at(-2.0 * STEP)?;
            grad[k] = (8.0 * near - far) / (12.0 * STEP);
        }
        Ok(deviance)
    }
}

/// The product grid of `nodes` in `q` directions, unless it is too large.
fn grid(nodes: usize, q: usize) -> Result<Grid, MixedError> {
    if nodes == 0 || nodes > MOST_NODES {
        return Err(Misfit::Nodes(nodes).into());
    }
    let points = |nodes: usize| (0..q).try_fold(1_usize, |product, _| product.checked_mul(nodes));
    let fits = |nodes: usize| points(nodes).is_some_and(|points| points <= MOST_POINTS);
    if !fits(nodes) {
        let most = (1..nodes).rev().find(|&fewer| fits(fewer)).unwrap_or(1);
        return Err(Misfit::Points {
            nodes,
            effects: q,
            points: points(nodes),
            most,
        }
        .into());
    }
    Ok(Grid::new(nodes, q))
}

/// How many of a group's draws come from the effects' own distribution.
fn from_prior(draws: usize) -> usize {
    (draws * PRIOR_PERCENT).div_ceil(100)
}

/// Variance of a sum of independent numbers of one distribution.
fn variance_of_sum(numbers: &[f64]) -> f64 {
    let n = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / n;
    let squares: f64 = numbers.iter().map(|x| (x - mean).powi(2)).sum();
    n * squares / (n - 1.0)
}

impl Points {
    /// Sets b and logarithms of weights of a group; `None` where its curvature has no root.
    fn spread(
        &mut self,
        rule: &Rule,
        grouping: &Grouping,
        laplace: &Laplace<'_>,
        group: usize,
    ) -> Option<()> {
        let q = grouping.width;
        self.effects.clear();
        self.terms.clear();
        let root = match rule {
            Rule::Plain(grid) => {
                self.effects.extend_from_slice(&grid.points);
                self.terms.extend_from_slice(&grid.log_weights);
                None
            }
            Rule::Adaptive(_) | Rule::Drawn(_) => {
                grouping.pick(group, &laplace.u, &mut self.mode);
                grouping.covariance(
                    group,
                    &laplace.blocks,
                    &laplace.inverse,
                    &mut self.covariance,
                );
                Some(Cholesky::of(&self.covariance, q).ok()?)
            }
        };
        // log|L|.
        let log_scale = root.as_ref().map_or(0.0, |root| 0.5 * root.log_det());
        let (mut u, mut t) = (vec![0.0; q], vec![0.0; q]);
        match (rule, &root) {
            (Rule::Adaptive(grid), Some(root)) => {
                for (t, log_weight) in grid.points.chunks_exact(q).zip(&grid.log_weights) {
                    root.lower_mul(t, &mut u);
                    u.iter_mut()
                        .zip(&self.mode)
                        .for_each(|(u, mode)| *u += mode);
                    let tilt = 0.5 * (dot(t, t) - dot(&u, &u));
                    self.terms.push(log_weight + log_scale + tilt);
                    self.effects.extend_from_slice(&u);
                }
            }
            (Rule::Drawn(draws), Some(root)) => {
                let mut rng = substream(SEED, group as u64);
                let own = from_prior(*draws);
                let share = own as f64 / *draws as f64;
                let (log_own, log_around) = (share.ln(), (1.0 - share).ln() - log_scale);
                for s in 0..*draws {
                    t.fill_with(|| StandardNormal.sample(&mut rng));
                    if s < own {
                        u.copy_from_slice(&t);
                        t.iter_mut()
                            .zip(&self.mode)
                            .for_each(|(t, mode)| *t -= mode);
                        root.solve_lower(&mut t);
                    } else {
                        root.lower_mul(&t, &mut u);
                        u.iter_mut()
                            .zip(&self.mode)
                            .for_each(|(u, mode)| *u += mode);
                    }
                    // log φ/m: of both parts of m beside φ.
                    let around = log_around + 0.5 * (dot(&u, &u) - dot(&t, &t));
                    let (high, low) = (log_own.max(around), log_own.min(around));
                    let mixture = high + (low - high).exp().ln_1p();
                    self.terms.push(-(*draws as f64).ln() - mixture);
                    self.effects.extend_from_slice(&u);
                }
            }
            (Rule::Plain(_), _) | (Rule::Adaptive(_) | Rule::Drawn(_), None) => {}
        }
        for effects in self.effects.chunks_exact_mut(q) {
            let mut from = 0;
            for (&(_, width), lambda) in grouping.terms.iter().zip(&laplace.lambda) {
                let own = &mut effects[from..from + width];
                for i in (0..width).rev() {
                    own[i] = dot(&lambda[i * width..=i * width + i], &own[..=i]);
                }
                from += width;
            }
        }
        Some(())
    }
}
