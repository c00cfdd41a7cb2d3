//! The row loop that generalised linear models share; generic over the family, no template itself.
//!
//! A row's likelihood depends on its linear predictor z and on auxiliary coordinates that all rows share, such as the
//! logarithm of a residual standard deviation; u holds the coefficients first and then those.
//!
//! A row is covariates and then what the family needs (response, offset, …); how they are stored, in double or in single
//! precision, is the concern of [`store`]. Eight rows are transposed into a tile and then handled as
//! [vectors](crate::numerics::vector): no horizontal sum occurs inside the loop. Tiles of neighbouring rows are also kept, from the first
//! pass that asks for them on: passes over the data and over blocks then transpose nothing. Several tiles are handled
//! together, because the exponential and the division of one take longer to end than to begin. The order of additions
//! depends on the number of rows only, so that all levels of vector instructions of one class of arithmetic give the same bits,
//! whichever way a tile comes about. Everything that is computed of rows is compiled for each level.

mod extra;
mod hessian;
mod machine;
mod moments;
mod source;
mod store;
mod sums;

pub use self::moments::MOST_IN_LANES;

use self::machine::prefetch;
use self::source::{Picked, TileSource, whole_block};
use self::store::RowStore;
use self::sums::{Sums, reduce, sum_of_logs};
use super::{Covariates, LinearRows, Rows, Scratch, Storage};
use crate::families::rows::{
    AuxLanes, CurvatureWith, LANES, Lane, RowFamily, RowQuantity, TermsOf, ValueOf,
};
use crate::numerics::arithmetic::{Arithmetic, SimdLevel, at_level};
use crate::numerics::vector::{Vector as _, aligned};

/// Tiles handled together; more would need more registers than there are. The rows of the next as many are prefetched.
const GROUP: usize = 4;

/// Covariates and responses of all rows, in the layout of family `F`.
#[derive(Clone, Debug)]
pub struct GlmRows<F> {
    num_columns: usize,
    store: RowStore,
    family: F,
    level: SimdLevel,
}

/// What a pass over rows computes besides the gradient.
#[derive(Clone, Copy)]
enum Pass<'a> {
    Gradient,
    Value,
    /// Derivatives minus these, 1 + [`RowFamily::num_aux`] per row of the data.
    Difference(&'a [f64]),
}

impl<F: RowFamily> GlmRows<F> {
    /// Takes rows already in layout: `num_columns` covariates, then [`RowFamily::EXTRA`] numbers, per row.
    pub fn new(family: F, num_columns: usize, data: Vec<f64>) -> Self {
        Self {
            num_columns,
            store: RowStore::new(num_columns, F::EXTRA, data),
            family,
            level: SimdLevel::detect(),
        }
    }

    /// The rows with their covariates in the precision of `storage`.
    pub fn stored_as(self, storage: Storage) -> Self {
        match storage {
            Storage::F64 => self,
            Storage::F32 => Self {
                store: self.store.rounded(),
                ..self
            },
        }
    }

    /// The rows with other vector instructions, which must be available.
    #[cfg(test)]
    pub(super) fn at_level(mut self, level: SimdLevel) -> Self {
        assert!(SimdLevel::available().contains(&level));
        self.level = level;
        self
    }

    /// P.
    pub fn num_columns(&self) -> usize {
        self.num_columns
    }

    /// D = P + [`RowFamily::num_aux`].
    pub fn dim(&self) -> usize {
        self.num_columns + self.num_aux()
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
        self.family.shared(&u[self.num_columns..])
    }

    /// N.
    pub fn num_obs(&self) -> usize {
        self.store.num_obs()
    }

    /// Covariates of row `i` of rows in double precision, for templates that offer no other ([`super::Template::STORAGE`]).
    pub fn doubles(&self, i: usize) -> &[f64] {
        match self.store.covariates(i) {
            Covariates::Double(x) => x,
            Covariates::Single(_) => unreachable!("a template that offers double precision alone"),
        }
    }

    /// The [`RowFamily::EXTRA`] numbers of row `i`.
    pub fn extra(&self, i: usize) -> [f64; 4] {
        self.store.extra(i)
    }

    /// Working memory for passes over these rows.
    pub fn scratch(&self) -> Scratch {
        Scratch {
            // One lane more, so that the first can start a cache line.
            tile: vec![0.0; (self.store.stride() * GROUP + 1) * LANES],
            lanes: vec![0.0; (self.num_columns + 1) * LANES],
            vector: vec![0.0; self.num_columns],
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
        at_level!(self.level, A => self.run::<A>(u, rows, pass, scratch, grad))
    }

    #[inline(always)]
    fn run<A: Arithmetic>(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        pass: Pass<'_>,
        scratch: &mut Scratch,
        grad: &mut [f64],
    ) -> f64 {
        let view = self.store.view();
        let neighbours = rows.start().and_then(|start| view.neighbours(start));
        if let Some(source) = neighbours {
            // In a function of its own, so that the loop over single rows, of which small minibatches need few rounds, stays short.
            return A::apart(
                #[inline(always)]
                || self.pass::<A>(u, source, rows, pass, scratch, grad),
            );
        }
        // A stretch that is no row of kept blocks is rare: it goes by the loop over single rows instead of one of its own.
        let mut stretch = std::mem::take(&mut scratch.stretch);
        let picked = match rows {
            Rows::Pick(picked) => picked,
            Rows::All | Rows::Span { .. } => {
                stretch.clear();
                stretch.extend((0..rows.len(self.num_obs())).map(|k| rows.get(k) as u32));
                &stretch
            }
        };
        let source = Picked {
            view,
            row: |k: usize| picked[k] as usize,
            block: |k: usize| whole_block(&picked[k..][..LANES]),
        };
        let value = self.pass::<A>(u, source, Rows::Pick(picked), pass, scratch, grad);
        scratch.stretch = stretch;
        value
    }

    /// One loop per combination of rows and pass, so that the inner loop has no branches.
    #[inline(always)]
    fn pass<A: Arithmetic>(
        &self,
        u: &[f64],
        source: impl TileSource,
        rows: Rows<'_>,
        pass: Pass<'_>,
        scratch: &mut Scratch,
        grad: &mut [f64],
    ) -> f64 {
        let len = rows.len(self.num_obs());
        match pass {
            Pass::Gradient => self.tiles::<A, false, false>(u, len, source, &[], scratch, grad),
            Pass::Value => self.tiles::<A, true, false>(u, len, source, &[], scratch, grad),
            Pass::Difference(c) => self.tiles::<A, false, true>(u, len, source, c, scratch, grad),
        }
    }

    /// The pass over the `len` rows of `source`.
    #[inline(always)]
    fn tiles<A: Arithmetic, const VALUE: bool, const DIFFERENCE: bool>(
        &self,
        u: &[f64],
        len: usize,
        source: impl TileSource,
        centre: &[f64],
        scratch: &mut Scratch,
        grad: &mut [f64],
    ) -> f64 {
        let columns = self.num_columns;
        let (tile, lanes) = (aligned(&mut scratch.tile), aligned(&mut scratch.lanes));
        let mut sums = Sums::new(&mut lanes[..columns]);
        let shared = self.shared(u);
        let pass = TilePass {
            source,
            beta: &u[..columns],
            shared: &shared,
            len,
            centre,
        };
        let mut first = 0;
        while first + GROUP * LANES <= len {
            self.group::<A, GROUP, VALUE, DIFFERENCE>(&pass, first, LANES, tile, &mut sums);
            first += GROUP * LANES;
        }
        while first < len {
            let live = LANES.min(len - first);
            self.group::<A, 1, VALUE, DIFFERENCE>(&pass, first, live, tile, &mut sums);
            first += LANES;
        }
        for (grad, sum) in grad.iter_mut().zip(&*sums.gradient) {
            *grad += reduce(sum);
        }
        for m in 0..self.num_aux() {
            grad[columns + m] += reduce(&sums.aux.lanes()[m]);
        }
        if VALUE {
            reduce(&sums.value) - (sums.log + sum_of_logs(&sums.factors))
        } else {
            0.0
        }
    }

    /// Adds what `T` tiles from row `first` of a pass say; `live` rows count in each.
    #[inline(always)]
    fn group<A: Arithmetic, const T: usize, const VALUE: bool, const DIFFERENCE: bool>(
        &self,
        pass: &TilePass<'_, F, impl TileSource>,
        first: usize,
        live: usize,
        buffer: &mut [Lane],
        sums: &mut Sums<'_, F::Aux>,
    ) {
        let (columns, num_aux, width) = (self.num_columns, self.num_aux(), self.width());
        // Only single tiles are ever cut short; the compiler is to know that.
        let live = if T > 1 { LANES } else { live };
        let tiles = self.tiles_at::<A, T, DIFFERENCE>(pass, first, live, buffer);
        let predictors = predictors::<A, _, _, T>(pass, first, &tiles);
        let mut residuals = [A::V::splat(0.0); T];
        for t in 0..T {
            let at = first + t * LANES;
            let extra = self.extra_lanes(tiles[t]);
            let z = with_offset::<A, F>(predictors[t], &extra).lane();
            let mut terms = F::terms::<A, VALUE>(&z, &extra, pass.shared);
            if DIFFERENCE {
                let (mut centre, mut aux_centre) = ([0.0; LANES], F::Aux::ZERO);
                for k in 0..live {
                    let of_row = &pass.centre[pass.source.row(at + k) * width..][..width];
                    centre[k] = of_row[0];
                    for m in 0..num_aux {
                        aux_centre.lanes_mut()[m][k] = of_row[1 + m];
                    }
                }
                terms.residual = (A::V::load(&terms.residual) - A::V::load(&centre)).lane();
                let aux = terms.aux.lanes_mut().iter_mut();
                for (aux, centre) in aux.zip(aux_centre.lanes()).take(num_aux) {
                    *aux = (A::V::load(aux) - A::V::load(centre)).lane();
                }
            }
            if live < LANES {
                terms.drop_from(live);
            }
            sums.add::<A, VALUE>(&terms, num_aux);
            residuals[t] = A::V::load(&terms.residual);
        }
        if VALUE {
            sums.take_logs(T);
        }
        let covariates = covariates(&tiles, columns);
        for (j, sum) in sums.gradient[..columns].iter_mut().enumerate() {
            let mut total = A::V::load(sum);
            for t in 0..T {
                total = residuals[t].mul_add(A::V::load(&covariates[t][j]), total);
            }
            *sum = total.lane();
        }
    }

    /// The tiles of `T` times eight rows of a pass from row `first` on, of which `live` count in each: kept ones, or put together in
    /// `buffer`. Asks for the next as many.
    #[inline(always)]
    fn tiles_at<'a, A: Arithmetic, const T: usize, const DIFFERENCE: bool>(
        &self,
        pass: &'a TilePass<'_, F, impl TileSource>,
        first: usize,
        live: usize,
        buffer: &'a mut [Lane],
    ) -> [&'a [Lane]; T] {
        let stride = self.store.stride();
        if first + 2 * T * LANES <= pass.len {
            let stored: &[f64] = if DIFFERENCE { pass.centre } else { &[] };
            pass.source
                .prefetch::<T>(first + T * LANES, stored, self.width());
        }
        pass.source.tiles::<A, T>(first, live, stride, buffer)
    }

    /// The rows from blocks where there are some. None are made: models that only go row by row need no rows twice.
    fn as_kept<'a>(&'a self, rows: Rows<'a>) -> impl TileSource + 'a {
        let start = rows.start();
        let start = start.filter(|it| it.is_multiple_of(LANES) && self.store.has_blocks());
        Picked {
            view: self.store.view(),
            row: move |k| rows.get(k),
            block: move |k| start.map(|start| (start + k) / LANES),
        }
    }

    /// [`Self::each_row`] without shifts.
    fn per_row<Q: RowQuantity<F>>(
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
    pub(super) fn each_row<Q: RowQuantity<F>>(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        tile: &mut [f64],
        shift: impl Fn(usize) -> f64,
        quantity: Q,
        mut visit: impl FnMut(usize, Covariates<'_>, usize, &Q::Lanes),
    ) {
        self.row_by_row(u, rows, tile, shift, quantity, |k, lane, _z, values| {
            visit(k, self.store.covariates(rows.get(k)), lane, values);
        });
    }

    /// [`Self::each_row`] with the linear predictors of the tile in place of the covariates of the row.
    fn row_by_row<Q: RowQuantity<F>>(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        tile: &mut [f64],
        shift: impl Fn(usize) -> f64,
        _quantity: Q,
        mut visit: impl FnMut(usize, usize, &Lane, &Q::Lanes),
    ) {
        let buffer = aligned(tile);
        let (len, shared) = (rows.len(self.num_obs()), self.shared(u));
        let mut first = 0;
        while first + GROUP * LANES <= len {
            let mut shifts = [[0.0; LANES]; GROUP];
            for (k, shifted) in shifts.as_flattened_mut().iter_mut().enumerate() {
                *shifted = shift(rows.get(first + k));
            }
            let of = self.row_group::<Q, GROUP>(u, rows, &shared, first, &shifts, buffer);
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
            let [(z, values)] = self.row_group::<Q, 1>(u, rows, &shared, first, &shifts, buffer);
            for lane in 0..live {
                visit(first + lane, lane, &z, &values);
            }
            first += LANES;
        }
    }

    /// Linear predictors, shifted, of `T` tiles from the `first` of these rows on, and a quantity at them. Compiled once for each
    /// family, not for each of its uses.
    fn row_group<Q: RowQuantity<F>, const T: usize>(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        shared: &F::Shared,
        first: usize,
        shifts: &[Lane; T],
        buffer: &mut [Lane],
    ) -> [(Lane, Q::Lanes); T] {
        let len = rows.len(self.num_obs());
        let pass = TilePass {
            source: self.as_kept(rows),
            beta: &u[..self.num_columns],
            shared,
            len,
            centre: &[],
        };
        let live = if T > 1 { LANES } else { LANES.min(len - first) };
        let mut out = [(<[f64; LANES]>::default(), Q::Lanes::default()); T];
        at_level!(self.level, A => {
            let tiles = self.tiles_at::<A, T, false>(&pass, first, live, buffer);
            let predictors = predictors::<A, _, _, T>(&pass, first, &tiles);
            for (t, z) in predictors.iter().enumerate() {
                let extra = self.extra_lanes(tiles[t]);
                let z = with_offset::<A, F>(*z, &extra);
                let z = with_shift::<A>(z, &shifts[t]);
                out[t] = (z, Q::of::<A>(&z, &extra, shared));
            }
        });
        out
    }

    /// ∂ log p/∂z and ∂ log p/∂a per row, row-major B×(1 + [`RowFamily::num_aux`]).
    pub fn residuals(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]) {
        let (tile, width) = (&mut scratch.tile, self.width());
        self.row_by_row(
            u,
            rows,
            tile,
            |_row| 0.0,
            TermsOf::<false>,
            |k, lane, _z, terms| {
                let out = &mut out[k * width..][..width];
                out[0] = terms.residual[lane];
                for m in 0..width - 1 {
                    out[1 + m] = terms.aux.lanes()[m][lane];
                }
            },
        );
    }

    /// Log likelihoods, one per row (B).
    pub fn pointwise(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]) {
        let tile = &mut scratch.tile;
        self.row_by_row(
            u,
            rows,
            tile,
            |_row| 0.0,
            ValueOf,
            |k, lane, _z, [value, _slope]| out[k] = value[lane],
        );
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
        let (columns, dim, width) = (self.num_columns, self.dim(), self.width());
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

/// What all tiles of a pass share.
struct TilePass<'a, F: RowFamily, S> {
    source: S,
    beta: &'a [f64],
    shared: &'a F::Shared,
    len: usize,
    centre: &'a [f64],
}

/// Linear predictors of the rows from `first` on of a pass, in tiles, without offset.
#[inline(always)]
fn predictors<A: Arithmetic, F: RowFamily, S: TileSource, const T: usize>(
    pass: &TilePass<'_, F, S>,
    first: usize,
    tiles: &[&[Lane]; T],
) -> [A::V; T] {
    let mut z = [A::V::splat(0.0); T];
    let columns = pass.beta.len();
    let covariates = covariates(tiles, columns);
    let ahead = pass.source.ahead::<T>(first);
    if !ahead.is_empty() {
        for (j, beta) in pass.beta[..columns].iter().enumerate() {
            for t in 0..T {
                prefetch(ahead, j * T + t);
            }
            let beta = A::V::splat(*beta);
            for t in 0..T {
                z[t] = A::V::load(&covariates[t][j]).mul_add(beta, z[t]);
            }
        }
        for rest in columns * T..ahead.len() {
            prefetch(ahead, rest);
        }
        return z;
    }
    for (j, beta) in pass.beta[..columns].iter().enumerate() {
        let beta = A::V::splat(*beta);
        for t in 0..T {
            z[t] = A::V::load(&covariates[t][j]).mul_add(beta, z[t]);
        }
    }
    z
}

/// Linear predictors with the offset of these extra numbers.
#[inline(always)]
fn with_offset<A: Arithmetic, F: RowFamily>(z: A::V, extra: &[Lane; 4]) -> A::V {
    if F::OFFSET {
        z + A::V::load(&extra[0])
    } else {
        z
    }
}

#[inline(always)]
fn with_shift<A: Arithmetic>(z: A::V, shift: &Lane) -> Lane {
    (z + A::V::load(shift)).lane()
}

/// The covariates of tiles as slices of one known length: no bounds are checked where they are read.
#[inline(always)]
fn covariates<'a, const T: usize>(tiles: &[&'a [Lane]; T], columns: usize) -> [&'a [Lane]; T] {
    let mut own = [&[][..]; T];
    for (own, tile) in own.iter_mut().zip(tiles) {
        *own = &tile[..columns];
    }
    own
}

impl<F: RowFamily> GlmRows<F> {
    /// The extra numbers of the rows of a tile.
    #[inline(always)]
    fn extra_lanes(&self, tile: &[Lane]) -> [Lane; 4] {
        self.store.extra_lanes::<F>(tile)
    }

    /// The extra numbers of row `i` in every lane.
    fn extra_everywhere(&self, i: usize) -> [Lane; 4] {
        self.extra(i).map(|number| [number; LANES])
    }
}

/// Only for families without auxiliary coordinates: elsewhere a row depends on more than its linear predictor.
impl<F: RowFamily> LinearRows for GlmRows<F> {
    fn covariates(&self, row: usize) -> Covariates<'_> {
        self.store.covariates(row)
    }

    fn predictor(&self, row: usize, u: &[f64]) -> f64 {
        let z = self.covariates(row).dot(u);
        if F::OFFSET { z + self.extra(row)[0] } else { z }
    }

    fn derivatives(&self, row: usize, z: f64) -> [f64; 3] {
        self.derivatives_at(row, &[z; LANES]).map(|lane| lane[0])
    }

    fn derivatives_at(&self, row: usize, z: &Lane) -> [Lane; 3] {
        let extra = self.extra_everywhere(row);
        let shared = self.family.shared(&[]);
        at_level!(self.level, A => {
            let [value, slope] = <ValueOf as RowQuantity<F>>::of::<A>(z, &extra, &shared);
            let curvature = F::curvature::<A>(z, &extra, &shared);
            [value, slope, curvature.zz.map(|second| -second)]
        })
    }

    fn slopes(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]) {
        self.residuals(u, rows, scratch, out);
    }

    fn add_weighted_covariates(&self, rows: Rows<'_>, weights: &[f64], grad: &mut [f64]) {
        self.store.add_weighted(|k| rows.get(k), weights, grad);
    }

    fn slope_bound(&self, row: usize) -> f64 {
        F::bounds(&self.extra(row))[0]
    }

    fn curvature_bound(&self, row: usize) -> f64 {
        F::bounds(&self.extra(row))[1]
    }

    fn row_terms(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [[f64; 3]]) {
        let no_shift = |_row| 0.0;
        let tile = &mut scratch.tile;
        self.row_by_row(
            u,
            rows,
            tile,
            no_shift,
            ValueOf,
            |k, lane, z, [value, slope]| out[k] = [z[lane], value[lane], slope[lane]],
        );
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
