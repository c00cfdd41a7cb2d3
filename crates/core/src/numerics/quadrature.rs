//! Nodes and weights of Gauss-Hermite quadrature.

use ergodic_base::linalg::symmetric_eigen;

/// Nodes and weights for ∫ e^(−x²) f(x) dx, nodes ascending: eigenvalues of the Jacobi matrix (Golub and Welsch 1969),
/// polished by Newton's method, because small weights need all their digits.
pub fn gauss_hermite(n: usize) -> (Vec<f64>, Vec<f64>) {
    let mut jacobi = vec![0.0; n * n];
    for j in 1..n {
        let off = (j as f64 / 2.0).sqrt();
        jacobi[j * n + j - 1] = off;
        jacobi[(j - 1) * n + j] = off;
    }
    let mut nodes = symmetric_eigen(&jacobi, n).map_or_else(Vec::new, |(values, _)| values);
    let weights = nodes
        .iter_mut()
        .map(|node| {
            for _ in 0..2 {
                let (value, slope) = hermite(n, *node);
                *node -= value / slope;
            }
            let slope = hermite(n, *node).1;
            2.0 / (slope * slope)
        })
        .collect();
    (nodes, weights)
}

/// The orthonormal Hermite polynomial of degree n and its derivative √(2n) h_{n−1}.
fn hermite(n: usize, x: f64) -> (f64, f64) {
    let (mut before, mut value) = (0.0, std::f64::consts::PI.powf(-0.25));
    for j in 1..=n {
        let j = j as f64;
        let next = x * (2.0 / j).sqrt() * value - ((j - 1.0) / j).sqrt() * before;
        before = value;
        value = next;
    }
    (value, (2.0 * n as f64).sqrt() * before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quadrature_is_exact_for_polynomials() {
        for n in [1, 2, 3, 5, 9, 20, 41, 100] {
            let (nodes, weights) = gauss_hermite(n);
            assert!(
                nodes.windows(2).all(|pair| pair[0] < pair[1]),
                "{n} {nodes:?}"
            );
            // ∫ x^(2m) e^(−x²) dx = Γ(m + 1/2).
            let mut moment = std::f64::consts::PI.sqrt();
            for m in 0..n.min(12) {
                let sum: f64 = nodes
                    .iter()
                    .zip(&weights)
                    .map(|(x, w)| w * x.powi(2 * m as i32))
                    .sum();
                assert!(
                    (sum / moment - 1.0).abs() < 1e-11,
                    "{n} {m}: {sum} {moment}"
                );
                moment *= m as f64 + 0.5;
            }
        }
    }
}
