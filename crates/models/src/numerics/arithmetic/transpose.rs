//! Transposing rows with the vectors of x86-64. Compilers make gathers of it, or load eight columns of one row and scatter them, or
//! store single numbers for which the vector load that follows has to wait; that takes up to twice as long, and which of them it is
//! changes with every change of the code around.

use std::arch::x86_64::{
    __m256d, __m512d, _mm_loadu_pd, _mm256_set_m128d, _mm256_set_pd, _mm256_storeu_pd,
    _mm256_unpackhi_pd, _mm256_unpacklo_pd, _mm512_castpd256_pd512, _mm512_insertf64x4,
    _mm512_loadu_pd, _mm512_shuffle_f64x2, _mm512_storeu_pd, _mm512_unpackhi_pd,
    _mm512_unpacklo_pd,
};

use super::{LANES, Lane, one_column_at_a_time};

/// Puts eight rows of one length side by side; the processor must have AVX2.
#[inline(always)]
#[expect(
    unsafe_code,
    reason = "calls functions for CPU features that were detected, and loads vectors from places that were checked"
)]
pub(super) fn by_halves(rows: [&[f64]; LANES], tile: &mut [Lane]) {
    let length = tile.len();
    let rows = of_length(rows, length);
    let mut first = 0;
    while first + 2 <= length {
        // SAFETY: AVX2 is there, and every row has two numbers from `first` on.
        unsafe { two_columns_by_halves(&rows, first, &mut tile[first..first + 2]) };
        first += 2;
    }
    if first < length {
        // SAFETY: AVX2 is there.
        unsafe { one_column_by_halves(&rows, first, &mut tile[first]) };
    }
}

/// Columns `first` and `first` + 1.
#[inline]
#[target_feature(enable = "avx2")]
#[expect(unsafe_code, reason = "loads vectors of two numbers")]
unsafe fn two_columns_by_halves(rows: &[&[f64]; LANES], first: usize, tile: &mut [Lane]) {
    let load = |k: usize| {
        // SAFETY: the caller knows that there are two numbers from `first` on.
        unsafe { _mm_loadu_pd(rows[k].as_ptr().add(first)) }
    };
    for k in [0, 4] {
        // Rows k and k + 2, and those after them.
        let even = _mm256_set_m128d(load(k + 2), load(k));
        let odd = _mm256_set_m128d(load(k + 3), load(k + 1));
        store_half(&mut tile[0], k, _mm256_unpacklo_pd(even, odd));
        store_half(&mut tile[1], k, _mm256_unpackhi_pd(even, odd));
    }
}

/// Column `j`.
#[inline]
#[target_feature(enable = "avx2")]
fn one_column_by_halves(rows: &[&[f64]; LANES], j: usize, lane: &mut Lane) {
    for k in [0, 4] {
        let half = _mm256_set_pd(rows[k + 3][j], rows[k + 2][j], rows[k + 1][j], rows[k][j]);
        store_half(lane, k, half);
    }
}

/// Writes four numbers of a lane, the first of them the `k`-th.
#[inline]
#[target_feature(enable = "avx2")]
#[expect(unsafe_code, reason = "stores a vector of four numbers")]
fn store_half(lane: &mut Lane, k: usize, half: __m256d) {
    let four = &mut lane[k..k + 4];
    // SAFETY: there are four numbers.
    unsafe { _mm256_storeu_pd(four.as_mut_ptr(), half) };
}

/// Rows of one known length: no bounds are checked where they are read.
#[inline(always)]
fn of_length([r0, r1, r2, r3, r4, r5, r6, r7]: [&[f64]; LANES], length: usize) -> [&[f64]; LANES] {
    [
        &r0[..length],
        &r1[..length],
        &r2[..length],
        &r3[..length],
        &r4[..length],
        &r5[..length],
        &r6[..length],
        &r7[..length],
    ]
}

/// Puts eight rows of one length side by side; the processor must have AVX-512.
#[inline(always)]
#[expect(
    unsafe_code,
    reason = "calls functions for CPU features that were detected, and loads vectors from places that were checked"
)]
pub(super) fn whole(rows: [&[f64]; LANES], tile: &mut [Lane]) {
    let length = tile.len();
    let rows = of_length(rows, length);
    let mut first = 0;
    while first + LANES <= length {
        // SAFETY: AVX-512 is there, and every row has eight numbers from `first` on.
        unsafe { eight_columns(&rows, first, &mut tile[first..first + LANES]) };
        first += LANES;
    }
    while first + 2 <= length {
        // SAFETY: AVX-512 is there, and every row has two numbers from `first` on.
        unsafe { two_columns(&rows, first, &mut tile[first..first + 2]) };
        first += 2;
    }
    if first < length {
        one_column_at_a_time();
        let [r0, r1, r2, r3, r4, r5, r6, r7] = rows;
        let row = |row: &[f64]| row[first];
        tile[first] = [
            row(r0),
            row(r1),
            row(r2),
            row(r3),
            row(r4),
            row(r5),
            row(r6),
            row(r7),
        ];
    }
}

/// Columns `first` to `first` + 7, by three rounds of exchanges: of neighbours, of pairs, of fours.
#[inline]
#[target_feature(enable = "avx512f")]
#[expect(unsafe_code, reason = "loads and stores vectors of eight numbers")]
unsafe fn eight_columns(rows: &[&[f64]; LANES], first: usize, tile: &mut [Lane]) {
    let load = |k: usize| {
        // SAFETY: the caller knows that there are eight numbers from `first` on.
        unsafe { _mm512_loadu_pd(rows[k].as_ptr().add(first)) }
    };
    let mut store = |j: usize, lane: __m512d| {
        // SAFETY: a lane has eight numbers.
        unsafe { _mm512_storeu_pd(tile[j].as_mut_ptr(), lane) };
    };
    for odd in 0..2 {
        let pair = |k: usize| match odd {
            0 => _mm512_unpacklo_pd(load(k), load(k + 1)),
            _ => _mm512_unpackhi_pd(load(k), load(k + 1)),
        };
        let (p0, p2, p4, p6) = (pair(0), pair(2), pair(4), pair(6));
        // Columns odd and 4 + odd, then 2 + odd and 6 + odd, of rows 0 to 3 and 4 to 7.
        let low = _mm512_shuffle_f64x2::<0x88>(p0, p2);
        let high = _mm512_shuffle_f64x2::<0x88>(p4, p6);
        store(odd, _mm512_shuffle_f64x2::<0x88>(low, high));
        store(4 + odd, _mm512_shuffle_f64x2::<0xdd>(low, high));
        let low = _mm512_shuffle_f64x2::<0xdd>(p0, p2);
        let high = _mm512_shuffle_f64x2::<0xdd>(p4, p6);
        store(2 + odd, _mm512_shuffle_f64x2::<0x88>(low, high));
        store(6 + odd, _mm512_shuffle_f64x2::<0xdd>(low, high));
    }
}

/// Columns `first` and `first` + 1.
#[inline]
#[target_feature(enable = "avx512f")]
#[expect(
    unsafe_code,
    reason = "loads and stores vectors of two and of eight numbers"
)]
unsafe fn two_columns(rows: &[&[f64]; LANES], first: usize, tile: &mut [Lane]) {
    let load = |k: usize| {
        // SAFETY: the caller knows that there are two numbers from `first` on.
        unsafe { _mm_loadu_pd(rows[k].as_ptr().add(first)) }
    };
    // Every other row: 0, 2, 4, 6 and 1, 3, 5, 7.
    let four = |k: usize| {
        let low = _mm256_set_m128d(load(k + 2), load(k));
        let high = _mm256_set_m128d(load(k + 6), load(k + 4));
        _mm512_insertf64x4::<1>(_mm512_castpd256_pd512(low), high)
    };
    let (even, odd) = (four(0), four(1));
    // SAFETY: a lane has eight numbers.
    unsafe {
        _mm512_storeu_pd(tile[0].as_mut_ptr(), _mm512_unpacklo_pd(even, odd));
        _mm512_storeu_pd(tile[1].as_mut_ptr(), _mm512_unpackhi_pd(even, odd));
    }
}
