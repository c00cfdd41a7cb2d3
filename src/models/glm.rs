//! The row loop that generalised linear models share; generic over the family, no template itself.
//!
//! Rows are stored one after another, covariates first and then what the family needs (response, offset, …), so that
//! a random row costs one stretch of memory. Eight rows are transposed into a tile and then handled by vector
//! instructions: no horizontal sum occurs inside the loop. The order of additions depends on the number of rows
//! only, and no fused multiply-add is used, so SSE2, AVX2 and AVX-512 give the same bits.

use super::{LinearRows, Rows, Scratch};
use crate::base::linalg::dot;

/// Rows handled together.
pub const LANES: usize = 8;
/// One number for each of [`LANES`] rows.
pub type Lane = [f64; LANES];

/// Tiles ahead whose rows are prefetched; a tile takes about as long as a few memory accesses.
const PREFETCH_TILES: usize = 2;
/// Products of [`Terms::factor`]s (each at most 2) before their logarithm is taken; 2^512 is finite.
const TILES_PER_LOG: usize = 512;

/// How one row's likelihood depends on its linear predictor z.
pub trait Family: Copy + Send + Sync + 'static {
    /// Numbers stored per row after the covariates, at most four.
    const EXTRA: usize;
    /// Whether log p is concave in z for every row.
    const LOG_CONCAVE: bool = false;
    /// Adds what the linear predictor has besides covariates: an offset.
    fn predictor(z: &mut Lane, extra: &[Lane; 4]);
    /// Derivative and, if `VALUE`, value of log p at z; without `VALUE` the latter mean nothing.
    fn terms<const VALUE: bool>(z: &Lane, extra: &[Lane; 4]) -> Terms;
    /// −∂² log p/∂z².
    fn curvature(z: &Lane, extra: &[Lane; 4]) -> Lane;
    /// Largest |∂ log p/∂z| and |∂² log p/∂z²| over all z, for one row with these extra numbers.
    fn bounds(extra: &[f64]) -> [f64; 2];
    /// Largest |∂³ log p/∂z³| over all z for such a row, where it is known.
    fn third_bound(_extra: &[f64]) -> f64 {
        f64::INFINITY
    }
}

/// What a row's likelihood says at its linear predictor; log p = `sum` − log(`factor`).
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// ∂ log p/∂z.
    pub residual: Lane,
    /// See above.
    pub sum: Lane,
    /// Between 1 and 2: products of many factors cost one logarithm.
    pub factor: Lane,
}

/// Covariates and responses of all rows, in the layout of family `F`.
#[derive(Clone, Debug)]
pub struct GlmRows<F> {
    num_columns: usize,
    num_obs: usize,
    data: Vec<f64>,
    family: std::marker::PhantomData<F>,
    level: SimdLevel,
}

/// Vector instructions that the row loop is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SimdLevel {
    Baseline,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl SimdLevel {
    /// What this machine offers, narrowest first.
    pub(super) fn available() -> Vec<Self> {
        let mut levels = vec![Self::Baseline];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") {
                levels.push(Self::Avx2);
            }
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
            {
                levels.push(Self::Avx512);
            }
        }
        levels
    }

    fn detect() -> Self {
        Self::available().last().copied().unwrap_or(Self::Baseline)
    }
}

/// What a pass over rows computes besides the gradient.
#[derive(Clone, Copy)]
enum Pass<'a> {
    Gradient,
    Value,
    /// Residuals minus these (one per row of the data).
    Difference(&'a [f64]),
}

impl<F: Family> GlmRows<F> {
    /// Takes rows already in layout: `num_columns` covariates, then [`Family::EXTRA`] numbers, per row.
    pub fn new(num_columns: usize, data: Vec<f64>) -> Self {
        let num_obs = data.len() / (num_columns + F::EXTRA);
        Self {
            num_columns,
            num_obs,
            data,
            family: std::marker::PhantomData,
            level: SimdLevel::detect(),
        }
    }

    /// The same rows with other vector instructions, which must be available.
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

    /// N.
    pub fn num_obs(&self) -> usize {
        self.num_obs
    }

    /// Covariates and extra numbers of row `i`.
    pub fn row(&self, i: usize) -> &[f64] {
        let stride = self.num_columns + F::EXTRA;
        &self.data[i * stride..(i + 1) * stride]
    }

    /// Working memory for passes over these rows.
    pub fn scratch(&self) -> Scratch {
        Scratch {
            tile: vec![0.0; (self.num_columns + F::EXTRA) * LANES],
            lanes: vec![0.0; self.num_columns * LANES],
            vector: vec![0.0; self.num_columns],
            ..Scratch::default()
        }
    }

    /// ADDS the gradient of the summed log likelihood to `grad` (P).
    pub fn gradient(&self, beta: &[f64], rows: Rows<'_>, scratch: &mut Scratch, grad: &mut [f64]) {
        self.dispatch(beta, rows, Pass::Gradient, scratch, grad);
    }

    /// The summed log likelihood; ADDS its gradient to `grad` (P).
    pub fn value_gradient(
        &self,
        beta: &[f64],
        rows: Rows<'_>,
        scratch: &mut Scratch,
        grad: &mut [f64],
    ) -> f64 {
        self.dispatch(beta, rows, Pass::Value, scratch, grad)
    }

    /// ADDS Σ (r_i − centre_i) x_i to `grad` (P), with the residuals r_i at `beta` and `centre` those at an anchor.
    pub fn gradient_difference(
        &self,
        beta: &[f64],
        rows: Rows<'_>,
        centre: &[f64],
        scratch: &mut Scratch,
        grad: &mut [f64],
    ) {
        self.dispatch(beta, rows, Pass::Difference(centre), scratch, grad);
    }

    #[cfg_attr(
        target_arch = "x86_64",
        expect(
            unsafe_code,
            reason = "calls the same safe loop compiled for CPU features that were detected"
        )
    )]
    fn dispatch(
        &self,
        beta: &[f64],
        rows: Rows<'_>,
        pass: Pass<'_>,
        scratch: &mut Scratch,
        grad: &mut [f64],
    ) -> f64 {
        match self.level {
            SimdLevel::Baseline => self.run(beta, rows, pass, scratch, grad),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the level was detected on this machine.
            SimdLevel::Avx2 => unsafe { self.run_avx2(beta, rows, pass, scratch, grad) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the level was detected on this machine.
            SimdLevel::Avx512 => unsafe { self.run_avx512(beta, rows, pass, scratch, grad) },
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn run_avx2(
        &self,
        beta: &[f64],
        rows: Rows<'_>,
        pass: Pass<'_>,
        s: &mut Scratch,
        grad: &mut [f64],
    ) -> f64 {
        self.run(beta, rows, pass, s, grad)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
    fn run_avx512(
        &self,
        beta: &[f64],
        rows: Rows<'_>,
        pass: Pass<'_>,
        s: &mut Scratch,
        grad: &mut [f64],
    ) -> f64 {
        self.run(beta, rows, pass, s, grad)
    }

    #[inline(always)]
    fn run(
        &self,
        beta: &[f64],
        rows: Rows<'_>,
        pass: Pass<'_>,
        scratch: &mut Scratch,
        grad: &mut [f64],
    ) -> f64 {
        // One loop per combination, so that the inner loop has no branches.
        match (rows, pass) {
            (Rows::All, Pass::Gradient) => {
                self.tiles::<false, false>(beta, self.num_obs, |k| k, &[], scratch, grad)
            }
            (Rows::All, Pass::Value) => {
                self.tiles::<true, false>(beta, self.num_obs, |k| k, &[], scratch, grad)
            }
            (Rows::All, Pass::Difference(c)) => {
                self.tiles::<false, true>(beta, self.num_obs, |k| k, c, scratch, grad)
            }
            (Rows::Span { start, len }, Pass::Gradient) => {
                self.tiles::<false, false>(beta, len, |k| start + k, &[], scratch, grad)
            }
            (Rows::Span { start, len }, Pass::Value) => {
                self.tiles::<true, false>(beta, len, |k| start + k, &[], scratch, grad)
            }
            (Rows::Span { start, len }, Pass::Difference(c)) => {
                self.tiles::<false, true>(beta, len, |k| start + k, c, scratch, grad)
            }
            (Rows::Pick(p), Pass::Gradient) => {
                self.tiles::<false, false>(beta, p.len(), |k| p[k] as usize, &[], scratch, grad)
            }
            (Rows::Pick(p), Pass::Value) => {
                self.tiles::<true, false>(beta, p.len(), |k| p[k] as usize, &[], scratch, grad)
            }
            (Rows::Pick(p), Pass::Difference(c)) => {
                self.tiles::<false, true>(beta, p.len(), |k| p[k] as usize, c, scratch, grad)
            }
        }
    }

    #[inline(always)]
    fn tiles<const VALUE: bool, const DIFFERENCE: bool>(
        &self,
        beta: &[f64],
        len: usize,
        row: impl Fn(usize) -> usize,
        centre: &[f64],
        scratch: &mut Scratch,
        grad: &mut [f64],
    ) -> f64 {
        let columns = self.num_columns;
        let (tile, _) = scratch.tile.as_chunks_mut::<LANES>();
        let (sums, _) = scratch.lanes.as_chunks_mut::<LANES>();
        let (tile, sums, beta) = (
            &mut tile[..columns + F::EXTRA],
            &mut sums[..columns],
            &beta[..columns],
        );
        sums.fill([0.0; LANES]);
        let mut value_sum = [0.0; LANES];
        let mut factors = [1.0; LANES];
        let mut log_sum = 0.0;
        let mut pending = 0;

        let mut first = 0;
        while first < len {
            let live = LANES.min(len - first);
            let ahead = first + PREFETCH_TILES * LANES;
            if ahead + LANES <= len {
                for k in 0..LANES {
                    self.prefetch(row(ahead + k));
                    if DIFFERENCE {
                        prefetch(centre, row(ahead + k));
                    }
                }
            }
            let mut z = self.fill_tile(beta, |k| row(first + k), live, tile);
            let extra = extra_lanes::<F>(&tile[columns..]);
            F::predictor(&mut z, &extra);
            let Terms {
                mut residual,
                mut sum,
                mut factor,
            } = F::terms::<VALUE>(&z, &extra);
            if DIFFERENCE {
                for (k, residual) in residual.iter_mut().enumerate().take(live) {
                    *residual -= centre[row(first + k)];
                }
            }
            if VALUE {
                for k in live..LANES {
                    sum[k] = 0.0;
                    factor[k] = 1.0;
                }
                for k in 0..LANES {
                    value_sum[k] += sum[k];
                    factors[k] *= factor[k];
                }
                pending += 1;
                if pending == TILES_PER_LOG {
                    log_sum += sum_of_logs(&factors);
                    factors = [1.0; LANES];
                    pending = 0;
                }
            }
            for residual in residual.iter_mut().skip(live) {
                *residual = 0.0;
            }
            for (sum, x) in sums.iter_mut().zip(&*tile) {
                for k in 0..LANES {
                    sum[k] += residual[k] * x[k];
                }
            }
            first += LANES;
        }
        for (grad, sum) in grad.iter_mut().zip(&*sums) {
            *grad += reduce(sum);
        }
        if VALUE {
            reduce(&value_sum) - (log_sum + sum_of_logs(&factors))
        } else {
            0.0
        }
    }

    /// Transposes up to [`LANES`] rows into `tile` and returns their linear predictors without offset. Lanes past
    /// `live` repeat the first row; callers zero their weight.
    #[inline(always)]
    fn fill_tile(
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

    /// Calls `visit(k, x, lane value)` for every row with one number computed per row by `function`.
    fn per_row(
        &self,
        beta: &[f64],
        rows: Rows<'_>,
        scratch: &mut Scratch,
        function: impl Fn(&Lane, &[Lane; 4]) -> Lane,
        mut visit: impl FnMut(usize, &[f64], f64),
    ) {
        let (tile, _) = scratch.tile.as_chunks_mut::<LANES>();
        let tile = &mut tile[..self.num_columns + F::EXTRA];
        let len = rows.len(self.num_obs);
        let mut first = 0;
        while first < len {
            let live = LANES.min(len - first);
            let mut z = self.fill_tile(beta, |k| rows.get(first + k), live, tile);
            let extra = extra_lanes::<F>(&tile[self.num_columns..]);
            F::predictor(&mut z, &extra);
            let values = function(&z, &extra);
            for (k, &value) in values.iter().enumerate().take(live) {
                visit(
                    first + k,
                    &self.row(rows.get(first + k))[..self.num_columns],
                    value,
                );
            }
            first += LANES;
        }
    }

    /// Residuals ∂ log p/∂z, one per row (B).
    pub fn residuals(&self, beta: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]) {
        let residual = |z: &Lane, extra: &[Lane; 4]| F::terms::<false>(z, extra).residual;
        self.per_row(beta, rows, scratch, residual, |k, _x, residual| {
            out[k] = residual;
        });
    }

    /// Log likelihoods, one per row (B).
    pub fn pointwise(&self, beta: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]) {
        let value = |z: &Lane, extra: &[Lane; 4]| {
            let Terms { sum, factor, .. } = F::terms::<true>(z, extra);
            std::array::from_fn(|k| sum[k] - factor[k].ln())
        };
        self.per_row(beta, rows, scratch, value, |k, _x, value| out[k] = value);
    }

    /// Scores r_i x_i, or (r_i − centre_i) x_i where `centre` is given; row-major B×P.
    pub fn scores(
        &self,
        beta: &[f64],
        rows: Rows<'_>,
        centre: Option<&[f64]>,
        scratch: &mut Scratch,
        out: &mut [f64],
    ) {
        let columns = self.num_columns;
        let residual = |z: &Lane, extra: &[Lane; 4]| F::terms::<false>(z, extra).residual;
        self.per_row(beta, rows, scratch, residual, |k, x, residual| {
            let residual = residual - centre.map_or(0.0, |centre| centre[rows.get(k)]);
            for (out, x) in out[k * columns..(k + 1) * columns].iter_mut().zip(x) {
                *out = residual * x;
            }
        });
    }

    /// ADDS Σ c_i x_i x_i', with c_i = −∂² log p/∂z², to the row-major P×P `hessian`.
    pub fn add_neg_hessian(
        &self,
        beta: &[f64],
        rows: Rows<'_>,
        scratch: &mut Scratch,
        hessian: &mut [f64],
    ) {
        let columns = self.num_columns;
        self.per_row(beta, rows, scratch, F::curvature, |_k, x, curvature| {
            for i in 0..columns {
                let weight = curvature * x[i];
                for (entry, x_j) in hessian[i * columns..i * columns + i + 1].iter_mut().zip(x) {
                    *entry += weight * x_j;
                }
            }
        });
        for i in 0..columns {
            for j in 0..i {
                hessian[j * columns + i] = hessian[i * columns + j];
            }
        }
    }

    #[inline(always)]
    fn prefetch(&self, row: usize) {
        let stride = self.num_columns + F::EXTRA;
        // Numbers per cache line.
        const LINE: usize = 8;
        let start = row * stride;
        let mut at = start;
        while at < start + stride {
            prefetch(&self.data, at);
            at += LINE;
        }
    }
}

/// Asks for `data[index]` ahead of its use; does nothing where the machine offers no such instruction.
#[inline(always)]
#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "a prefetch hint reads nothing and cannot fault")
)]
fn prefetch(data: &[f64], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: prefetching has no architectural effect, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(data.as_ptr().wrapping_add(index).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (data, index);
}

#[inline(always)]
fn extra_lanes<F: Family>(tile: &[Lane]) -> [Lane; 4] {
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

/// exp(x) for x ≤ 0, to about 1 ulp; below −708 it returns exp(−708) instead of a subnormal.
#[inline(always)]
pub fn exp_negative(x: &Lane) -> Lane {
    // 1.5·2^52: adding it rounds to the nearest integer, which then stands in the low bits.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
    const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    // Taylor coefficients 1/0!, …, 1/13!: the remainder on |r| ≤ ln(2)/2 is below 1e-17.
    const COEFFICIENTS: [f64; 14] = [
        1.0,
        1.0,
        0.5,
        1.666_666_666_666_666_6e-1,
        4.166_666_666_666_666_4e-2,
        8.333_333_333_333_333e-3,
        1.388_888_888_888_889e-3,
        1.984_126_984_126_984e-4,
        2.480_158_730_158_73e-5,
        2.755_731_922_398_589_3e-6,
        2.755_731_922_398_589e-7,
        2.505_210_838_544_172e-8,
        2.087_675_698_786_809_8e-9,
        1.605_904_383_682_161_3e-10,
    ];
    let mut out = [0.0; LANES];
    for k in 0..LANES {
        let x = if x[k] > -708.0 { x[k] } else { -708.0 };
        let shifted = x * std::f64::consts::LOG2_E + ROUND;
        let whole = shifted - ROUND;
        let rest = (x - whole * LN_2_HIGH) - whole * LN_2_LOW;
        // Estrin's scheme: pairs, fours, eights. A chain of thirteen steps would wait for each of them.
        let pair = |i: usize| COEFFICIENTS[i] + COEFFICIENTS[i + 1] * rest;
        let rest_2 = rest * rest;
        let rest_4 = rest_2 * rest_2;
        let low = (pair(0) + pair(2) * rest_2) + (pair(4) + pair(6) * rest_2) * rest_4;
        let high = (pair(8) + pair(10) * rest_2) + pair(12) * rest_4;
        let sum = low + high * (rest_4 * rest_4);
        // The exponent field is raised by `whole`; the result stays a normal number for x ≥ −708.
        out[k] = f64::from_bits(sum.to_bits().wrapping_add(shifted.to_bits() << 52));
    }
    out
}

impl<F: Family> GlmRows<F> {
    /// The extra numbers of row `i` in every lane.
    fn extra(&self, i: usize) -> [Lane; 4] {
        let mut extra = [[0.0; LANES]; 4];
        for (lane, &value) in extra.iter_mut().zip(&self.row(i)[self.num_columns..]) {
            *lane = [value; LANES];
        }
        extra
    }
}

impl<F: Family> LinearRows for GlmRows<F> {
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
        let terms = F::terms::<true>(&z, &extra);
        let value = terms.sum[0] - terms.factor[0].ln();
        [value, terms.residual[0], -F::curvature(&z, &extra)[0]]
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
        let u = &u[..self.num_columns];
        let mut first = 0;
        for out in out.chunks_mut(LANES) {
            let mut z = self.fill_tile(u, |k| rows.get(first + k), out.len(), tile);
            let extra = extra_lanes::<F>(&tile[self.num_columns..]);
            F::predictor(&mut z, &extra);
            let terms = F::terms::<true>(&z, &extra);
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
mod tests {
    use super::*;

    #[test]
    fn the_fast_exponential_is_accurate() {
        let mut worst = 0.0_f64;
        for i in 0..200_000 {
            let x = -f64::from(i) * 3.5e-3;
            let got = exp_negative(&[x; LANES])[3];
            worst = worst.max((got / x.exp() - 1.0).abs());
        }
        assert!(worst < 5e-16, "{worst}");
        assert!(exp_negative(&[-1e4; LANES])[0] < 1e-300);
        assert_eq!(exp_negative(&[0.0; LANES])[0], 1.0);
    }
}
