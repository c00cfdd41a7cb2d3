//! Coordinates in which coefficients do not follow the effects of groups that the data know well.
//!
//! Where groups have many rows the data tell β + r_g, and β is as uncertain as the mean of so many r_g is beforehand: all
//! of them move together along directions of no information, β + δ d and r_g − δ a_g ([`crate::design::confounding`]). Effects
//! of such groups are sampled as they are (centred), and two linear maps take the directions out:
//!
//! ```text
//! r = H w         H orthogonal (Householder): the first coordinates of w lie along the a, the others across
//! β = β' − D δ    δ the coefficients of r along the a
//! ```
//!
//! β' is then what the data know, the coordinates along a are what only their prior knows, and each has its own scale. This
//! is hierarchical centring (Gelfand, Sahu and Carlin 1995) for any number of terms at once: intercepts, slopes whose
//! column is a fixed effect, and columns that are constant within groups. The determinant is one; the posterior is the
//! same.
//!
//! Where the rows' parabolas are known the coordinates are those of [`super::whitening`] instead. Before either, what bends
//! smooth curves is multiplied by their standard deviations ([`Curve`]); no group takes over from that.

use super::curves::Curve;
use super::terms::GroupTerm;
use super::whitening::{Path, Whitening, WorkingRows};
use crate::design::{GroupColumns, directions};
use ergodic_base::linalg::{axpy, dot};

/// Share of a direction that must be its own, not that of those before it.
const OWN_SHARE: f64 = 1e-6;

/// Directions of one term that are taken out, at most: an intercept, slopes, and columns of groups.
const MOST_DIRECTIONS: usize = 32;

/// The map from coordinates u to those with β and centred effects as they are; the identity where no effects are centred and no
/// curves bend.
#[derive(Clone, Debug, Default)]
pub(super) struct Frame {
    curves: Vec<Curve>,
    moves: Vec<TermMoves>,
    whitening: Option<Whitening>,
}

/// Of one term with k directions.
#[derive(Clone, Debug)]
struct TermMoves {
    /// Where the term's effects are in u.
    start: usize,
    /// Householder vectors, each of unit length and as long as the term has effects.
    reflectors: Vec<Vec<f64>>,
    /// Where the coordinate along each direction is, from `start`.
    pivots: Vec<usize>,
    /// R of the QR factorisation of the a (k×k, upper, row-major).
    upper: Vec<f64>,
    /// d of each direction.
    shifts: Vec<Vec<f64>>,
}

impl Frame {
    /// For `curves`, `terms` and the P coefficients of columns `row`.
    pub fn new<'x>(
        curves: &[Curve],
        terms: &[GroupTerm],
        p: usize,
        row: &dyn Fn(usize) -> &'x [f64],
        working: Option<&WorkingRows>,
    ) -> Self {
        if let Some(working) = working {
            return Self {
                curves: curves.to_vec(),
                moves: Vec::new(),
                whitening: Some(Whitening::new(terms, p, row, working)),
            };
        }
        let straight = curves.first().map_or(p, |curve| curve.bends.start);
        let moves = (terms.iter()).filter_map(|term| TermMoves::of(term, straight, row));
        Self {
            curves: curves.to_vec(),
            moves: moves.collect(),
            whitening: None,
        }
    }

    /// Whether coordinates are those of coefficients and effects themselves.
    pub fn is_identity(&self) -> bool {
        self.curves.is_empty() && self.moves.is_empty() && self.whitening.is_none()
    }

    /// u ← coordinates with β and effects as they are.
    pub fn to_plain(&self, u: &mut [f64]) {
        self.walk(u, &mut Path::default());
    }

    /// Takes u to coordinates with β and effects as they are; returns the log of the determinant, leaving out that of curves, whose
    /// prior is one of own coordinates; and leaves in `path` what [`Self::pull_back`] needs.
    pub fn walk(&self, u: &mut [f64], path: &mut Path) -> f64 {
        self.curves.iter().for_each(|curve| curve.to_plain(u));
        if let Some(whitening) = &self.whitening {
            return whitening.to_plain(u, path);
        }
        for of_term in &self.moves {
            of_term.add_shift(-1.0, u);
            of_term.reflect_back(u);
        }
        0.0
    }

    /// The inverse of [`Self::to_plain`].
    pub fn to_own(&self, u: &mut [f64]) {
        if let Some(whitening) = &self.whitening {
            whitening.to_own(u);
        }
        for of_term in &self.moves {
            of_term.reflect(u);
            of_term.add_shift(1.0, u);
        }
        self.curves.iter().for_each(|curve| curve.to_own(u));
    }

    /// A gradient at `plain` becomes that in u, with `determinant` times that of the log determinant: the transpose of
    /// [`Self::walk`], which left `path`.
    pub fn pull_back(&self, plain: &[f64], path: &mut Path, determinant: f64, grad: &mut [f64]) {
        match &self.whitening {
            Some(whitening) => whitening.pull_back(plain, path, determinant, grad),
            None => self.turn(grad),
        }
        (self.curves.iter()).for_each(|curve| curve.pull_back(plain, grad));
    }

    /// [`Self::pull_back`] of the linear map.
    fn turn(&self, grad: &mut [f64]) {
        for of_term in &self.moves {
            of_term.reflect(grad);
            of_term.pull_back_shift(grad);
        }
    }

    /// Whether effects have coordinates by the parabolas of rows.
    pub fn is_whitened(&self) -> bool {
        self.whitening.is_some()
    }

    /// Whether the map is linear.
    pub fn is_linear(&self) -> bool {
        self.curves.is_empty() && self.whitening.is_none()
    }

    /// T'AT for the symmetric D×D matrix `a` in plain coordinates, T the linear map of [`Self::to_plain`].
    pub fn pull_back_matrix(&self, a: &mut [f64], dim: usize) {
        // Rows become those of AT, as A is symmetric; the same for columns follows on the transpose.
        for _ in 0..2 {
            for row in a.chunks_exact_mut(dim) {
                self.turn(row);
            }
            for i in 0..dim {
                for j in 0..i {
                    a.swap(i * dim + j, j * dim + i);
                }
            }
        }
    }
}

impl TermMoves {
    /// `None` where nothing of the term is centred or no coefficient can take over for its effects.
    fn of<'x>(term: &GroupTerm, p: usize, row: &dyn Fn(usize) -> &'x [f64]) -> Option<Self> {
        let q = term.width();
        if term.num_centred() < 2 {
            return None;
        }
        let group = GroupColumns {
            index: &term.index,
            z: &term.z,
            width: q,
            levels: term.levels.len(),
        };
        let rows_of_group = rows_by_group(term);
        let mut found = Self {
            start: term.effects.start,
            reflectors: Vec::new(),
            pivots: Vec::new(),
            upper: Vec::new(),
            shifts: Vec::new(),
        };
        let mut columns: Vec<Vec<f64>> = Vec::new();
        for direction in directions(row, p, &group) {
            let mut a = direction.by_group;
            for (g, own) in a.chunks_exact_mut(q).enumerate() {
                if !term.centred[g] {
                    own.fill(0.0);
                }
            }
            if columns.len() == MOST_DIRECTIONS {
                break;
            }
            let length = dot(&a, &a).sqrt();
            for reflector in &found.reflectors {
                apply(reflector, &mut a);
            }
            // What is left of it besides the directions before.
            let mut rest = a.clone();
            for &pivot in &found.pivots {
                rest[pivot] = 0.0;
            }
            let own = dot(&rest, &rest).sqrt();
            if own <= OWN_SHARE * length {
                continue;
            }
            // The effect of the group with most rows, where the direction has weight: what is known best changes least.
            let largest = rest
                .iter()
                .fold(0.0_f64, |most, value| most.max(value.abs()));
            let pivot = (0..rest.len())
                .filter(|&k| rest[k].abs() >= 0.5 * largest)
                .max_by_key(|&k| rows_of_group[k / q])?;
            let sign = if rest[pivot] < 0.0 { -1.0 } else { 1.0 };
            let mut reflector = rest;
            reflector[pivot] += sign * own;
            let scale = 1.0 / dot(&reflector, &reflector).sqrt();
            reflector.iter_mut().for_each(|value| *value *= scale);
            apply(&reflector, &mut a);
            found.reflectors.push(reflector);
            found.pivots.push(pivot);
            found.shifts.push(direction.direction);
            columns.push(a);
        }
        let k = columns.len();
        found.upper = vec![0.0; k * k];
        for (j, column) in columns.iter().enumerate() {
            for i in 0..=j {
                found.upper[i * k + j] = column[found.pivots[i]];
            }
        }
        (k > 0).then_some(found)
    }

    fn effects<'u>(&self, u: &'u mut [f64]) -> &'u mut [f64] {
        let len = self.reflectors[0].len();
        &mut u[self.start..self.start + len]
    }

    /// w ← H' r.
    fn reflect(&self, u: &mut [f64]) {
        let own = self.effects(u);
        for reflector in &self.reflectors {
            apply(reflector, own);
        }
    }

    /// r ← H w.
    fn reflect_back(&self, u: &mut [f64]) {
        let own = self.effects(u);
        for reflector in self.reflectors.iter().rev() {
            apply(reflector, own);
        }
    }

    /// ADDS `sign` times Dδ to the coefficients; effects must be w. δ = R⁻¹ (w at the pivots).
    fn add_shift(&self, sign: f64, u: &mut [f64]) {
        let k = self.pivots.len();
        let mut delta = [0.0; MOST_DIRECTIONS];
        for i in (0..k).rev() {
            let known = dot(&self.upper[i * k + i + 1..(i + 1) * k], &delta[i + 1..k]);
            delta[i] = (u[self.start + self.pivots[i]] - known) / self.upper[i * k + i];
        }
        for (delta, shift) in delta.iter().zip(&self.shifts) {
            axpy(sign * delta, shift, &mut u[..shift.len()]);
        }
    }

    /// ADDS −R⁻ᵀ D'g to the gradient at the pivots, g that of the coefficients.
    fn pull_back_shift(&self, grad: &mut [f64]) {
        let k = self.pivots.len();
        let mut solved = [0.0; MOST_DIRECTIONS];
        for (i, shift) in self.shifts.iter().enumerate() {
            let mut sum = dot(shift, &grad[..shift.len()]);
            for j in 0..i {
                sum -= self.upper[j * k + i] * solved[j];
            }
            solved[i] = sum / self.upper[i * k + i];
        }
        for (solved, pivot) in solved.iter().zip(&self.pivots) {
            grad[self.start + pivot] -= solved;
        }
    }
}

/// x ← (I − 2vv') x.
fn apply(reflector: &[f64], x: &mut [f64]) {
    let along = dot(reflector, x);
    axpy(-2.0 * along, reflector, x);
}

fn rows_by_group(term: &GroupTerm) -> Vec<usize> {
    let mut rows = vec![0; term.levels.len()];
    for &level in &term.index {
        rows[level as usize] += 1;
    }
    rows
}
