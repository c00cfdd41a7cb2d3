//! The row loop that generalised linear models share; generic over the family, no template itself.
//!
//! A row's likelihood depends on its linear predictor z and on auxiliary coordinates that all rows share, such as the
//! logarithm of a residual standard deviation; u holds the coefficients first and then those.
//!
//! Rows are stored one after another, covariates first and then what the family needs (response, offset, …), so that
//! a random row costs one stretch of memory. Eight rows are transposed into a tile and then handled by vector
//! instructions: no horizontal sum occurs inside the loop. Tiles of neighbouring rows are also kept, from the first
//! pass that asks for them on: passes over the data and over blocks then transpose nothing. Several tiles are handled
//! together, because the exponential and the division of one take longer to end than to begin. The order of additions
//! depends on the number of rows only, and no fused multiply-add is used, so SSE2, AVX2 and AVX-512 give the same bits,
//! whichever way a tile comes about.

mod machine;

use std::sync::OnceLock;

use self::machine::{one_column_at_a_time, prefetch};
use super::{LinearRows, Rows, Scratch};
use crate::families::rows::{LANES, Lane, MAX_AUX, RowFamily, Terms};
use ergodic_base::linalg::dot;
pub(super) use machine::SimdLevel;

/// Tiles handled together; more would need more registers than there are. The rows of the next as many are prefetched.
const GROUP: usize = 4;
/// Products of [`Terms::factor`]s (each at most 2) before their logarithm is taken; 2^512 is finite.
const TILES_PER_LOG: usize = 512;

/// Covariates and responses of all rows, in the layout of family `F`.
#[derive(Clone, Debug)]
pub struct GlmRows<F> {
    num_columns: usize,
    num_obs: usize,
    data: Vec<f64>,
    /// The tiles of whole blocks of [`LANES`] neighbouring rows, a lane for each number of a row.
    blocks: OnceLock<Vec<Lane>>,
    family: F,
    level: SimdLevel,
}

/// What a pass over rows computes besides the gradient.
#[derive(Clone, Copy)]
enum Pass<'a> {
    Gradient,
    Value,
    /// Derivatives minus these, 1 + [`RowFamily::AUX`] per row of the data.
    Difference(&'a [f64]),
}

impl<F: RowFamily> GlmRows<F> {
    /// Derivatives per row: in z and in the auxiliary coordinates.
    const WIDTH: usize = 1 + F::AUX;

    /// Takes rows already in layout: `num_columns` covariates, then [`RowFamily::EXTRA`] numbers, per row.
    pub fn new(family: F, num_columns: usize, data: Vec<f64>) -> Self {
        let num_obs = data.len() / (num_columns + F::EXTRA);
        Self {
            num_columns,
            num_obs,
            data,
            blocks: OnceLock::new(),
            family,
            level: SimdLevel::detect(),
        }
    }

    /// These rows with other vector instructions, which must be available.
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

    /// D = P + [`RowFamily::AUX`].
    pub fn dim(&self) -> usize {
        self.num_columns + F::AUX
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
        self.num_obs
    }

    /// Numbers per row.
    fn stride(&self) -> usize {
        self.num_columns + F::EXTRA
    }

    /// Covariates and extra numbers of row `i`.
    pub fn row(&self, i: usize) -> &[f64] {
        let stride = self.stride();
        &self.data[i * stride..(i + 1) * stride]
    }

    /// Working memory for passes over these rows.
    pub fn scratch(&self) -> Scratch {
        Scratch {
            tile: vec![0.0; self.stride() * LANES * GROUP],
            lanes: vec![0.0; self.num_columns * LANES],
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
        self.level.run(
            #[inline(always)]
            || self.run(u, rows, pass, scratch, grad),
        )
    }

    #[inline(always)]
    fn run(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        pass: Pass<'_>,
        scratch: &mut Scratch,
        grad: &mut [f64],
    ) -> f64 {
        let (start, len) = match rows {
            Rows::All => (0, self.num_obs),
            Rows::Span { start, len } => (start, len),
            Rows::Pick(rows) => {
                let row = |k: usize| rows[k] as usize;
                let block = |k: usize| whole_block(&rows[k..][..LANES]);
                return self.pass(u, rows.len(), row, block, pass, scratch, grad);
            }
        };
        let aligned = start.is_multiple_of(LANES);
        let block = |k: usize| aligned.then_some((start + k) / LANES);
        self.pass(u, len, |k| start + k, block, pass, scratch, grad)
    }

    /// One loop per combination of rows and pass, so that the inner loop has no branches.
    #[inline(always)]
    fn pass(
        &self,
        u: &[f64],
        len: usize,
        row: impl Fn(usize) -> usize,
        block: impl Fn(usize) -> Option<usize>,
        pass: Pass<'_>,
        scratch: &mut Scratch,
        grad: &mut [f64],
    ) -> f64 {
        match pass {
            Pass::Gradient => self.tiles::<false, false>(u, len, row, block, &[], scratch, grad),
            Pass::Value => self.tiles::<true, false>(u, len, row, block, &[], scratch, grad),
            Pass::Difference(c) => self.tiles::<false, true>(u, len, row, block, c, scratch, grad),
        }
    }

    /// The pass over `len` rows, of which `row(k)` is the k-th; where the eight from k on are a block of neighbours, `block(k)` is
    /// its number.
    #[inline(always)]
    fn tiles<const VALUE: bool, const DIFFERENCE: bool>(
        &self,
        u: &[f64],
        len: usize,
        row: impl Fn(usize) -> usize,
        block: impl Fn(usize) -> Option<usize>,
        centre: &[f64],
        scratch: &mut Scratch,
        grad: &mut [f64],
    ) -> f64 {
        let columns = self.num_columns;
        let (tile, _) = scratch.tile.as_chunks_mut::<LANES>();
        let (lanes, _) = scratch.lanes.as_chunks_mut::<LANES>();
        let mut sums = Sums::new(&mut lanes[..columns]);
        let pass = TilePass {
            beta: &u[..columns],
            shared: self.shared(u),
            row,
            block,
            len,
            centre,
        };
        let mut first = 0;
        while first + GROUP * LANES <= len {
            self.group::<GROUP, VALUE, DIFFERENCE>(&pass, first, LANES, tile, &mut sums);
            first += GROUP * LANES;
        }
        while first < len {
            let live = LANES.min(len - first);
            self.group::<1, VALUE, DIFFERENCE>(&pass, first, live, tile, &mut sums);
            first += LANES;
        }
        for (grad, sum) in grad.iter_mut().zip(&*sums.gradient) {
            *grad += reduce(sum);
        }
        for m in 0..F::AUX {
            grad[columns + m] += reduce(&sums.aux[m]);
        }
        if VALUE {
            reduce(&sums.value) - (sums.log + sum_of_logs(&sums.factors))
        } else {
            0.0
        }
    }

    /// Adds what `T` tiles from row `first` of a pass say; `live` rows count in each.
    #[inline(always)]
    fn group<const T: usize, const VALUE: bool, const DIFFERENCE: bool>(
        &self,
        pass: &TilePass<'_, F, impl Fn(usize) -> usize, impl Fn(usize) -> Option<usize>>,
        first: usize,
        live: usize,
        mut buffer: &mut [Lane],
        sums: &mut Sums<'_>,
    ) {
        let (columns, stride) = (self.num_columns, self.stride());
        if first + 2 * T * LANES <= pass.len {
            for t in T..2 * T {
                self.prefetch_tile::<DIFFERENCE>(pass, first + t * LANES);
            }
        }
        let tiles: [&[Lane]; T] = std::array::from_fn(|t| {
            let at = first + t * LANES;
            let (own, rest) = std::mem::take(&mut buffer).split_at_mut(stride);
            buffer = rest;
            let block = if live == LANES {
                (pass.block)(at)
            } else {
                None
            };
            match block {
                Some(block) => &self.blocks()[block * stride..][..stride],
                None => {
                    self.fill_tile(|k| (pass.row)(at + k), live, own);
                    own
                }
            }
        });
        let predictors = predictors(pass.beta, &tiles);
        let mut residuals = [[0.0; LANES]; T];
        for t in 0..T {
            let at = first + t * LANES;
            let extra = extra_lanes::<F>(&tiles[t][columns..]);
            let mut z = predictors[t];
            F::predictor(&mut z, &extra);
            let Terms {
                mut residual,
                mut aux,
                mut sum,
                mut factor,
            } = F::terms::<VALUE>(&z, &extra, &pass.shared);
            if DIFFERENCE {
                let centre = |k: usize| &pass.centre[(pass.row)(at + k) * Self::WIDTH..];
                for k in 0..live {
                    residual[k] -= centre(k)[0];
                }
                for (m, aux) in aux.iter_mut().enumerate().take(F::AUX) {
                    for (k, aux) in aux.iter_mut().enumerate().take(live) {
                        *aux -= centre(k)[1 + m];
                    }
                }
            }
            if VALUE {
                for k in live..LANES {
                    sum[k] = 0.0;
                    factor[k] = 1.0;
                }
                sums.add_value(&sum, &factor);
            }
            for residual in residual.iter_mut().skip(live) {
                *residual = 0.0;
            }
            for m in 0..F::AUX {
                for k in 0..live {
                    sums.aux[m][k] += aux[m][k];
                }
            }
            residuals[t] = residual;
        }
        for (j, sum) in sums.gradient.iter_mut().enumerate() {
            one_column_at_a_time();
            let mut total = *sum;
            for (tile, residual) in tiles.iter().zip(&residuals) {
                for k in 0..LANES {
                    total[k] += residual[k] * tile[j][k];
                }
            }
            *sum = total;
        }
    }

    /// The tiles of all whole blocks.
    #[inline(always)]
    fn blocks(&self) -> &[Lane] {
        self.blocks.get_or_init(|| self.transposed())
    }

    #[cold]
    fn transposed(&self) -> Vec<Lane> {
        let stride = self.stride();
        let mut blocks = vec![[0.0; LANES]; self.num_obs / LANES * stride];
        for (block, tile) in blocks.chunks_exact_mut(stride).enumerate() {
            self.fill_tile(|k| block * LANES + k, LANES, tile);
        }
        blocks
    }

    /// Transposes up to [`LANES`] rows into `tile`. Lanes past `live` repeat the first row; callers zero their weight.
    #[inline(always)]
    fn fill_tile(&self, row: impl Fn(usize) -> usize, live: usize, tile: &mut [Lane]) {
        self.fill_and_predict(&[], row, live, tile);
    }

    /// The same, with the linear predictors of these rows, without offset.
    #[inline(always)]
    fn fill_and_predict(
        &self,
        beta: &[f64],
        row: impl Fn(usize) -> usize,
        live: usize,
        tile: &mut [Lane],
    ) -> Lane {
        let stride = tile.len();
        let row_of = |k: usize| {
            let start = row(if k < live { k } else { 0 }) * stride;
            &self.data[start..][..stride]
        };
        // Eight named rows of one known length: no bounds are checked below, and a lane is put together in registers
        // (eight single stores would stall the vector load that follows them).
        let (r0, r1, r2, r3) = (row_of(0), row_of(1), row_of(2), row_of(3));
        let (r4, r5, r6, r7) = (row_of(4), row_of(5), row_of(6), row_of(7));
        let mut z = [0.0; LANES];
        for j in 0..stride {
            let lane = [r0[j], r1[j], r2[j], r3[j], r4[j], r5[j], r6[j], r7[j]];
            tile[j] = lane;
            if j < beta.len() {
                for k in 0..LANES {
                    z[k] += lane[k] * beta[j];
                }
            }
        }
        z
    }

    /// [`Self::each_row`] without shifts.
    fn per_row<T>(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        scratch: &mut Scratch,
        function: impl Fn(&Lane, &[Lane; 4], &F::Shared) -> T,
        visit: impl FnMut(usize, &[f64], usize, &T),
    ) {
        self.each_row(u, rows, &mut scratch.tile, |_row| 0.0, function, visit);
    }

    /// Calls `visit(k, x, lane, values)` for every row: the k-th with covariates x is `lane` of the values that `function`
    /// computes for a tile, with `shift(row)` added to its linear predictor. `tile` is that of [`Self::scratch`].
    pub(super) fn each_row<T>(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        tile: &mut [f64],
        shift: impl Fn(usize) -> f64,
        function: impl Fn(&Lane, &[Lane; 4], &F::Shared) -> T,
        mut visit: impl FnMut(usize, &[f64], usize, &T),
    ) {
        let (tile, _) = tile.as_chunks_mut::<LANES>();
        let tile = &mut tile[..self.num_columns + F::EXTRA];
        let beta = &u[..self.num_columns];
        let shared = self.shared(u);
        let len = rows.len(self.num_obs);
        let mut first = 0;
        while first < len {
            let live = LANES.min(len - first);
            let mut z = self.fill_and_predict(beta, |k| rows.get(first + k), live, tile);
            let extra = extra_lanes::<F>(&tile[self.num_columns..]);
            F::predictor(&mut z, &extra);
            for (lane, z) in z.iter_mut().enumerate().take(live) {
                *z += shift(rows.get(first + lane));
            }
            let values = function(&z, &extra, &shared);
            for lane in 0..live {
                let k = first + lane;
                visit(k, self.covariates(rows.get(k)), lane, &values);
            }
            first += LANES;
        }
    }

    /// ∂ log p/∂z and ∂ log p/∂a per row, row-major B×(1 + [`RowFamily::AUX`]).
    pub fn residuals(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]) {
        self.per_row(u, rows, scratch, F::terms::<false>, |k, _x, lane, terms| {
            let out = &mut out[k * Self::WIDTH..][..Self::WIDTH];
            out[0] = terms.residual[lane];
            for m in 0..F::AUX {
                out[1 + m] = terms.aux[m][lane];
            }
        });
    }

    /// Log likelihoods, one per row (B).
    pub fn pointwise(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]) {
        self.per_row(u, rows, scratch, F::terms::<true>, |k, _x, lane, terms| {
            out[k] = terms.sum[lane] - terms.factor[lane].ln();
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
        let (columns, dim) = (self.num_columns, self.dim());
        self.per_row(u, rows, scratch, F::terms::<false>, |k, x, lane, terms| {
            let centre =
                |m: usize| centre.map_or(0.0, |centre| centre[rows.get(k) * Self::WIDTH + m]);
            let out = &mut out[k * dim..(k + 1) * dim];
            let residual = terms.residual[lane] - centre(0);
            for (out, x) in out.iter_mut().zip(x) {
                *out = residual * x;
            }
            for m in 0..F::AUX {
                out[columns + m] = terms.aux[m][lane] - centre(1 + m);
            }
        });
    }

    /// ADDS the sum of second derivatives of −log p to the row-major D×D `hessian`.
    pub fn add_neg_hessian(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        scratch: &mut Scratch,
        hessian: &mut [f64],
    ) {
        let (columns, dim) = (self.num_columns, self.dim());
        self.per_row(u, rows, scratch, F::curvature, |_k, x, lane, curvature| {
            for i in 0..columns {
                let weight = curvature.zz[lane] * x[i];
                for (entry, x_j) in hessian[i * dim..i * dim + i + 1].iter_mut().zip(x) {
                    *entry += weight * x_j;
                }
            }
            for m in 0..F::AUX {
                let row = &mut hessian[(columns + m) * dim..][..dim];
                for (entry, x_j) in row.iter_mut().zip(x) {
                    *entry += curvature.za[m][lane] * x_j;
                }
                for l in 0..=m {
                    row[columns + l] += curvature.aa[m + l][lane];
                }
            }
        });
        for i in 0..dim {
            for j in 0..i {
                hessian[j * dim + i] = hessian[i * dim + j];
            }
        }
    }

    /// Asks for the rows of the tile at `first` ahead of their use.
    #[inline(always)]
    fn prefetch_tile<const DIFFERENCE: bool>(
        &self,
        pass: &TilePass<'_, F, impl Fn(usize) -> usize, impl Fn(usize) -> Option<usize>>,
        first: usize,
    ) {
        // Numbers per cache line.
        const LINE: usize = 8;
        let stride = self.stride();
        if let Some(block) = (pass.block)(first) {
            for lane in self.blocks()[block * stride..][..stride].iter() {
                prefetch(lane, 0);
            }
            if DIFFERENCE {
                prefetch(pass.centre, block * LANES * Self::WIDTH);
            }
            return;
        }
        for k in 0..LANES {
            let row = (pass.row)(first + k);
            let mut at = row * stride;
            while at < (row + 1) * stride {
                prefetch(&self.data, at);
                at += LINE;
            }
            if DIFFERENCE {
                prefetch(pass.centre, row * Self::WIDTH);
            }
        }
    }
}

/// What all tiles of a pass share.
struct TilePass<'a, F: RowFamily, R, B> {
    beta: &'a [f64],
    shared: F::Shared,
    row: R,
    block: B,
    len: usize,
    centre: &'a [f64],
}

/// Running sums of a pass, lane by lane.
struct Sums<'a> {
    gradient: &'a mut [Lane],
    aux: [Lane; MAX_AUX],
    value: Lane,
    /// The product of [`Terms::factor`]s since the last logarithm.
    factors: Lane,
    /// Tiles in that product.
    pending: usize,
    /// The logarithms of former products.
    log: f64,
}

impl<'a> Sums<'a> {
    fn new(gradient: &'a mut [Lane]) -> Self {
        gradient.fill([0.0; LANES]);
        Self {
            gradient,
            aux: [[0.0; LANES]; MAX_AUX],
            value: [0.0; LANES],
            factors: [1.0; LANES],
            pending: 0,
            log: 0.0,
        }
    }

    #[inline(always)]
    fn add_value(&mut self, sum: &Lane, factor: &Lane) {
        for k in 0..LANES {
            self.value[k] += sum[k];
            self.factors[k] *= factor[k];
        }
        self.pending += 1;
        if self.pending == TILES_PER_LOG {
            self.log += sum_of_logs(&self.factors);
            self.factors = [1.0; LANES];
            self.pending = 0;
        }
    }
}

/// The number of the block of neighbours that these eight rows are, if they are one.
#[inline(always)]
fn whole_block(rows: &[u32]) -> Option<usize> {
    let first = rows[0];
    let neighbours = || rows.iter().zip(first..).all(|(&row, next)| row == next);
    (first.is_multiple_of(LANES as u32) && neighbours()).then_some(first as usize / LANES)
}

/// Linear predictors of rows in tiles, without offset.
#[inline(always)]
fn predictors<const T: usize>(beta: &[f64], tiles: &[&[Lane]; T]) -> [Lane; T] {
    let mut z = [[0.0; LANES]; T];
    for (j, beta) in beta.iter().enumerate() {
        one_column_at_a_time();
        for (z, tile) in z.iter_mut().zip(tiles) {
            for k in 0..LANES {
                z[k] += tile[j][k] * beta;
            }
        }
    }
    z
}

#[inline(always)]
fn extra_lanes<F: RowFamily>(tile: &[Lane]) -> [Lane; 4] {
    let mut extra = [[0.0; LANES]; 4];
    extra[..F::EXTRA].copy_from_slice(&tile[..F::EXTRA]);
    extra
}

/// Sum over lanes in a fixed order.
#[inline(always)]
fn reduce(lane: &Lane) -> f64 {
    ((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7]))
}

fn sum_of_logs(factors: &Lane) -> f64 {
    reduce(&factors.map(f64::ln))
}

impl<F: RowFamily> GlmRows<F> {
    /// The extra numbers of row `i` in every lane.
    fn extra(&self, i: usize) -> [Lane; 4] {
        let mut extra = [[0.0; LANES]; 4];
        for (lane, &value) in extra.iter_mut().zip(&self.row(i)[self.num_columns..]) {
            *lane = [value; LANES];
        }
        extra
    }
}

/// Only for families without auxiliary coordinates: elsewhere a row depends on more than its linear predictor.
impl<F: RowFamily> LinearRows for GlmRows<F> {
    fn covariates(&self, row: usize) -> &[f64] {
        &self.row(row)[..self.num_columns]
    }

    fn predictor(&self, row: usize, u: &[f64]) -> f64 {
        let mut z = [dot(self.covariates(row), u); LANES];
        F::predictor(&mut z, &self.extra(row));
        z[0]
    }

    fn derivatives(&self, row: usize, z: f64) -> [f64; 3] {
        let (z, extra) = ([z; LANES], self.extra(row));
        let shared = self.family.shared(&[]);
        let terms = F::terms::<true>(&z, &extra, &shared);
        let value = terms.sum[0] - terms.factor[0].ln();
        let curvature = F::curvature(&z, &extra, &shared).zz[0];
        [value, terms.residual[0], -curvature]
    }

    fn slopes(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]) {
        self.residuals(u, rows, scratch, out);
    }

    fn slope_bound(&self, row: usize) -> f64 {
        F::bounds(&self.row(row)[self.num_columns..])[0]
    }

    fn curvature_bound(&self, row: usize) -> f64 {
        F::bounds(&self.row(row)[self.num_columns..])[1]
    }

    fn row_terms(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [[f64; 3]]) {
        let (tile, _) = scratch.tile.as_chunks_mut::<LANES>();
        let tile = &mut tile[..self.num_columns + F::EXTRA];
        let shared = self.shared(u);
        let mut first = 0;
        for out in out.chunks_mut(LANES) {
            let mut z = self.fill_and_predict(u, |k| rows.get(first + k), out.len(), tile);
            let extra = extra_lanes::<F>(&tile[self.num_columns..]);
            F::predictor(&mut z, &extra);
            let terms = F::terms::<true>(&z, &extra, &shared);
            for (k, out) in out.iter_mut().enumerate() {
                *out = [z[k], terms.sum[k] - terms.factor[k].ln(), terms.residual[k]];
            }
            first += LANES;
        }
    }

    fn curvature_range(&self, row: usize) -> [f64; 2] {
        let bound = self.curvature_bound(row);
        [if F::LOG_CONCAVE { 0.0 } else { -bound }, bound]
    }

    fn third_bound(&self, row: usize) -> f64 {
        F::third_bound(&self.row(row)[self.num_columns..])
    }
}

#[cfg(test)]
mod tests;
