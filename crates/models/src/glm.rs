//! The row loop that generalised linear models share; no template itself.
//!
//! A row's likelihood depends on its linear predictor z and on auxiliary coordinates that all rows share, such as the
//! logarithm of a residual standard deviation; u holds the coefficients first and then those.
//!
//! A row is covariates and then what the family needs (response, offset, …); how they are stored, in double or in single
//! precision, is the concern of [`store`]. Eight rows are transposed into a tile and then handled as
//! [vectors](crate::numerics::vector): no horizontal sum occurs inside the loop. Tiles of neighbouring rows are also kept, from the first
//! pass over blocks on, or once passes over stretches have read all rows often enough: they then transpose nothing. Several tiles are
//! handled together, because the exponential and the division of one take longer to end than to begin. The order of additions
//! depends on the number of rows only, so that all levels of vector instructions of one class of arithmetic give the same bits,
//! whichever way a tile comes about.
//!
//! Loops are compiled for each level of vector instructions, and once more for each family whose terms are so short that calling them
//! would be felt ([`RowFamily::WITHIN_LOOPS`]); of all other families they call the terms, several tiles at a time.

mod columns;
mod extra;
mod hessian;
mod machine;
mod moments;
mod normal_sums;
mod quantity;
mod source;
mod store;
mod sums;
mod terms;
mod tiled;

pub use self::moments::MOST_IN_LANES;
pub use self::normal_sums::NormalSums;
pub use self::quantity::{CurvatureOf, RowQuantity, TermsOf, ValueOf};

use self::quantity::add_logs;
use self::store::RowStore;
use self::terms::with_terms;
use self::tiled::{GROUP, Pass, TiledRows};
use super::{Covariates, LinearRows, Rows, Scratch, Storage};
use crate::families::rows::{AuxLanes as _, LANES, Lane, RowFamily};
use crate::numerics::arithmetic::{SimdLevel, at_level};
use crate::numerics::pages::Pages;
use crate::numerics::vector::aligned;

/// Covariates and responses of all rows, in the layout of family `F`.
#[derive(Debug)]
pub struct GlmRows<F> {
    tiled: TiledRows,
    family: F,
}

impl<F: RowFamily> GlmRows<F> {
    /// Takes rows already in layout: `num_columns` covariates, then [`RowFamily::EXTRA`] numbers, per row.
    pub fn new(family: F, num_columns: usize, data: Pages<f64>) -> Self {
        Self {
            tiled: TiledRows {
                num_columns,
                store: RowStore::new(num_columns, F::EXTRA, data),
                level: SimdLevel::detect(),
            },
            family,
        }
    }

    /// The rows with their covariates in the precision of `storage`.
    pub fn stored_as(mut self, storage: Storage) -> Self {
        if storage == Storage::F32 {
            self.tiled.store = self.tiled.store.rounded();
        }
        self
    }

    /// The rows with other vector instructions, which must be available.
    #[cfg(test)]
    pub(super) fn at_level(mut self, level: SimdLevel) -> Self {
        assert!(SimdLevel::available().contains(&level));
        self.tiled.level = level;
        self
    }

    /// The instructions that loops over these rows use.
    fn level(&self) -> SimdLevel {
        self.tiled.level
    }

    /// P.
    pub fn num_columns(&self) -> usize {
        self.tiled.num_columns
    }

    /// D = P + [`RowFamily::num_aux`].
    pub fn dim(&self) -> usize {
        self.tiled.num_columns + self.num_aux()
    }

    /// Auxiliary coordinates.
    #[inline(always)]
    pub fn num_aux(&self) -> usize {
        self.family.num_aux()
    }

    /// Derivatives per row: in z and in the auxiliary coordinates.
    #[inline(always)]
    pub fn width(&self) -> usize {
        1 + self.num_aux()
    }

    /// The family.
    pub fn family(&self) -> &F {
        &self.family
    }

    /// What all rows share at `u` (D).
    pub fn shared(&self, u: &[f64]) -> F::Shared {
        self.family.shared(&u[self.tiled.num_columns..])
    }

    /// N.
    pub fn num_obs(&self) -> usize {
        self.tiled.store.num_obs()
    }

    /// Covariates of row `i` of rows in double precision, for templates that offer no other ([`super::Template::STORAGE`]).
    pub fn doubles(&self, i: usize) -> &[f64] {
        match self.tiled.store.covariates(i) {
            Covariates::Double(x) => x,
            Covariates::Single(_) => unreachable!("a template that offers double precision alone"),
        }
    }

    /// The [`RowFamily::EXTRA`] numbers of row `i`.
    pub fn extra(&self, i: usize) -> [f64; 4] {
        self.tiled.store.extra(i)
    }

    /// Working memory for passes over these rows.
    pub fn scratch(&self) -> Scratch {
        Scratch {
            // One lane more, so that the first can start a cache line.
            tile: vec![0.0; (self.tiled.store.stride() * GROUP + 1) * LANES],
            lanes: vec![0.0; (self.tiled.num_columns + 1) * LANES],
            vector: vec![0.0; self.tiled.num_columns],
            ..Scratch::default()
        }
    }

    /// ADDS the gradient of the summed log likelihood to `grad` (D).
    pub fn gradient(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, grad: &mut [f64]) {
        self.dispatch(u, rows, Pass::Gradient, scratch, grad);
    }

    /// The summed log likelihood; ADDS its gradient to `grad` (D).
    pub fn value_gradient(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        scratch: &mut Scratch,
        grad: &mut [f64],
    ) -> f64 {
        self.dispatch(u, rows, Pass::Value, scratch, grad)
    }

    /// ADDS the gradient at `u` minus that at a centre to `grad` (D); `centre` are the derivatives per row at the centre
    /// ([`Self::residuals`]).
    pub fn gradient_difference(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        centre: &[f64],
        scratch: &mut Scratch,
        grad: &mut [f64],
    ) {
        self.dispatch(u, rows, Pass::Difference(centre), scratch, grad);
    }

    fn dispatch(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        pass: Pass<'_>,
        scratch: &mut Scratch,
        grad: &mut [f64],
    ) -> f64 {
        let shared = self.shared(u);
        with_terms!(self, &shared, terms => self.tiled.pass(terms, u, rows, pass, scratch, grad))
    }

    /// [`Self::each_row`] without shifts.
    fn per_row<Q: RowQuantity<F::Aux>>(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        scratch: &mut Scratch,
        quantity: Q,
        mut visit: impl FnMut(usize, Covariates<'_>, usize, &Q::Lanes),
    ) {
        let tile = &mut scratch.tile;
        self.each_row(
            u,
            rows,
            tile,
            |_row| 0.0,
            quantity,
            |k, x, lane, of| {
                visit(k, x, lane, of);
            },
        );
    }

    /// Calls `visit(k, x, lane, values)` for every row: the k-th with covariates x is `lane` of the values of a tile, with
    /// `shift(row)` added to its linear predictor. `tile` is that of [`Self::scratch`].
    pub(super) fn each_row<Q: RowQuantity<F::Aux>>(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        tile: &mut [f64],
        shift: impl Fn(usize) -> f64,
        quantity: Q,
        mut visit: impl FnMut(usize, Covariates<'_>, usize, &Q::Lanes),
    ) {
        self.row_by_row(u, rows, tile, shift, quantity, |k, lane, _z, values| {
            visit(k, self.tiled.store.covariates(rows.get(k)), lane, values);
        });
    }

    /// [`Self::each_row`] with the linear predictors of the tile in place of the covariates of the row.
    fn row_by_row<Q: RowQuantity<F::Aux>>(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        tile: &mut [f64],
        shift: impl Fn(usize) -> f64,
        _quantity: Q,
        mut visit: impl FnMut(usize, usize, &Lane, &Q::Lanes),
    ) {
        let (buffer, shared) = (aligned(tile), self.shared(u));
        let len = rows.len(self.num_obs());
        with_terms!(self, &shared, terms => {
            let mut first = 0;
            while first + GROUP * LANES <= len {
                let mut shifts = [[0.0; LANES]; GROUP];
                for (k, shifted) in shifts.as_flattened_mut().iter_mut().enumerate() {
                    *shifted = shift(rows.get(first + k));
                }
                let tiled = &self.tiled;
                let of = tiled.row_group::<_, Q, GROUP>(terms, u, rows, first, &shifts, buffer);
                for (t, (z, values)) in of.iter().enumerate() {
                    for lane in 0..LANES {
                        visit(first + t * LANES + lane, lane, z, values);
                    }
                }
                first += GROUP * LANES;
            }
            while first < len {
                let live = LANES.min(len - first);
                let mut shifts = [[0.0; LANES]];
                for (k, shifted) in shifts[0].iter_mut().enumerate().take(live) {
                    *shifted = shift(rows.get(first + k));
                }
                let tiled = &self.tiled;
                let [(z, values)] =
                    tiled.row_group::<_, Q, 1>(terms, u, rows, first, &shifts, buffer);
                for lane in 0..live {
                    visit(first + lane, lane, &z, &values);
                }
                first += LANES;
            }
        });
    }

    /// [`Self::row_by_row`] without shifts.
    fn unshifted<Q: RowQuantity<F::Aux>>(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        scratch: &mut Scratch,
        quantity: Q,
        visit: impl FnMut(usize, usize, &Lane, &Q::Lanes),
    ) {
        let tile = &mut scratch.tile;
        self.row_by_row(u, rows, tile, |_row| 0.0, quantity, visit);
    }

    /// ∂ log p/∂z and ∂ log p/∂a per row, row-major B×(1 + [`RowFamily::num_aux`]).
    pub fn residuals(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]) {
        let width = self.width();
        self.unshifted(u, rows, scratch, TermsOf::<false>, |k, lane, _z, terms| {
            let out = &mut out[k * width..][..width];
            out[0] = terms.residual[lane];
            for m in 0..width - 1 {
                out[1 + m] = terms.aux.lanes()[m][lane];
            }
        });
    }

    /// Log likelihoods, one per row (B).
    pub fn pointwise(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]) {
        self.unshifted(u, rows, scratch, ValueOf, |k, lane, _z, [value, _slope]| {
            out[k] = value[lane];
        });
    }

    /// Scores, or those minus the scores of which `centre` are the derivatives ([`Self::residuals`] of all rows); row-major
    /// B×D.
    pub fn scores(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        centre: Option<&[f64]>,
        scratch: &mut Scratch,
        out: &mut [f64],
    ) {
        let (columns, dim, width) = (self.tiled.num_columns, self.dim(), self.width());
        self.per_row(u, rows, scratch, TermsOf::<false>, |k, x, lane, terms| {
            let centre = |m: usize| centre.map_or(0.0, |centre| centre[rows.get(k) * width + m]);
            let out = &mut out[k * dim..(k + 1) * dim];
            let residual = terms.residual[lane] - centre(0);
            x.write_to(&mut out[..columns]);
            for out in &mut out[..columns] {
                *out *= residual;
            }
            for m in 0..width - 1 {
                out[columns + m] = terms.aux.lanes()[m][lane] - centre(1 + m);
            }
        });
    }
}

impl<F: RowFamily> GlmRows<F> {
    /// The extra numbers of row `i` in every lane.
    fn extra_everywhere(&self, i: usize) -> [Lane; 4] {
        self.extra(i).map(|number| [number; LANES])
    }
}

/// Only for families without auxiliary coordinates: elsewhere a row depends on more than its linear predictor.
impl<F: RowFamily> LinearRows for GlmRows<F> {
    fn covariates(&self, row: usize) -> Covariates<'_> {
        self.tiled.store.covariates(row)
    }

    fn predictor(&self, row: usize, u: &[f64]) -> f64 {
        let z = self.covariates(row).dot(u);
        if F::OFFSET { z + self.extra(row)[0] } else { z }
    }

    fn derivatives(&self, row: usize, z: f64) -> [f64; 3] {
        let mut out = [[[0.0; LANES]; 3]];
        self.derivatives_at(row, &[[z; LANES]], &mut out);
        out[0].map(|lane| lane[0])
    }

    fn derivatives_at(&self, first: usize, z: &[Lane], out: &mut [[Lane; 3]]) {
        let shared = self.family.shared(&[]);
        at_level!(self.level(), A => {
            for k in 0..z.len() {
                let extra = self.extra_everywhere(first + k);
                let mut terms = F::terms::<A, true>(&z[k], extra.each_ref(), &shared);
                add_logs::<A, _>(&mut terms, F::FACTORS, F::of_log(&shared));
                let curvature = F::curvature::<A>(&z[k], extra.each_ref(), &shared);
                let [values, slopes, seconds] = &mut out[k];
                (*values, *slopes) = (terms.sum, terms.residual);
                for lane in 0..LANES {
                    seconds[lane] = -curvature.zz[lane];
                }
            }
        });
    }

    fn slopes(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]) {
        self.residuals(u, rows, scratch, out);
    }

    fn curvatures(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]) {
        self.unshifted(u, rows, scratch, CurvatureOf, |k, lane, _z, of| {
            out[k] = of.zz[lane];
        });
    }

    fn add_weighted_covariates(&self, rows: Rows<'_>, weights: &[f64], grad: &mut [f64]) {
        self.tiled
            .store
            .add_weighted(|k| rows.get(k), weights, grad);
    }

    fn slope_bound(&self, row: usize) -> f64 {
        F::bounds(&self.extra(row))[0]
    }

    fn curvature_bound(&self, row: usize) -> f64 {
        F::bounds(&self.extra(row))[1]
    }

    fn row_terms(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [[f64; 3]]) {
        self.unshifted(u, rows, scratch, ValueOf, |k, lane, z, [value, slope]| {
            out[k] = [z[lane], value[lane], slope[lane]];
        });
    }

    fn curvature_range(&self, row: usize) -> [f64; 2] {
        let bound = self.curvature_bound(row);
        [if F::LOG_CONCAVE { 0.0 } else { -bound }, bound]
    }

    fn third_bound(&self, row: usize) -> f64 {
        F::third_bound(&self.extra(row))
    }
}

#[cfg(test)]
mod tests;
