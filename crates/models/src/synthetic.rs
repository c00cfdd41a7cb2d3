//! Synthetic logistic data, the same bits on every machine and in every language.
//!
//! Every benchmark and every number of the documentation that concerns tall data can be repeated with them.
//!
//! Random words are SplitMix64 used as a counter: word i of stream `seed` is mix(seed + (i + 1) · 0x9E3779B97F4A7C15).
//! A "normal" is the sum of the twelve 16-bit pieces of three consecutive words, minus its mean, over 65536
//! (Irwin-Hall): a dyadic rational, so that the design is exact. Columns: 1, z₁, then x_j = x_{j−1}/2 + z_j. Coefficients
//! are c_j/16 · scale with c_j = −8 + (5j + 3) mod 17. y_i = 1 if u_i < 1/(1 + exp(−η_i)), u_i from stream `seed` + 1.

/// A data set: design by rows, labels, coefficients.
pub struct Synthetic {
    /// N×D, row-major, first column 1.
    pub x: Vec<f64>,
    /// N labels, 0 or 1.
    pub y: Vec<f64>,
    /// D coefficients that made the labels.
    pub theta: Vec<f64>,
}

fn word(seed: u64, index: u64) -> u64 {
    let mut z = seed.wrapping_add((index + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z ^= z >> 30;
    z = z.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z ^= z >> 27;
    z = z.wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

fn normal(seed: u64, index: u64) -> f64 {
    let mut sum = 0_u64;
    for k in 0..3 {
        let word = word(seed, 3 * index + k);
        for piece in 0..4 {
            sum += (word >> (16 * piece)) & 0xFFFF;
        }
    }
    (sum as f64 - 393_210.0) / 65_536.0
}

fn uniform(seed: u64, index: u64) -> f64 {
    (word(seed, index) >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
}

/// `n` rows of `d` columns from `seed`, coefficients multiplied by `scale`.
pub fn logistic(n: usize, d: usize, seed: u64, scale: f64) -> Synthetic {
    let theta: Vec<f64> = (0..d)
        .map(|j| (-8.0 + ((5 * j + 3) % 17) as f64) / 16.0 * scale)
        .collect();
    let mut x = vec![1.0; n * d];
    let mut y = Vec::with_capacity(n);
    for i in 0..n {
        let row = &mut x[i * d..(i + 1) * d];
        for j in 1..d {
            let z = normal(seed, (i * (d - 1) + j - 1) as u64);
            row[j] = if j == 1 { z } else { 0.5 * row[j - 1] + z };
        }
        let mut eta = 0.0;
        for (x, theta) in row.iter().zip(&theta) {
            eta += x * theta;
        }
        let success = uniform(seed + 1, i as u64) < 1.0 / (1.0 + f64::exp(-eta));
        y.push(if success { 1.0 } else { 0.0 });
    }
    Synthetic { x, y, theta }
}

/// 100,000 rows, 10 columns: the set that step times are measured on.
pub fn logit_n1e5_d10() -> Synthetic {
    of_shape(100_000, 10)
}

/// 1,000,000 rows, 20 columns.
pub fn logit_n1e6_d20() -> Synthetic {
    of_shape(1_000_000, 20)
}

/// The set of a shape. Seed and scale change at 20 columns, where larger coefficients would leave rare outcomes only.
pub fn of_shape(rows: usize, columns: usize) -> Synthetic {
    if columns < 20 {
        logistic(rows, columns, 20_240_101, 1.0)
    } else {
        logistic(rows, columns, 20_240_202, 0.5)
    }
}
