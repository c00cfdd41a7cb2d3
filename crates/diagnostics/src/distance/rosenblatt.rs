//! The Kolmogorov-Smirnov distance of draws of several quantities, coordinate by coordinate of Rosenblatt's transform.
//!
//! Rosenblatt (1952), "Remarks on a multivariate transformation": with the distribution functions of each quantity given those before it,
//! draws of a law become independent uniform numbers. Here the functions are those of the normal distribution with the mean and covariance
//! of the first posterior, and the distance is between transformed draws of both, its mean over coordinates: it sees what moments and
//! marginal distributions do not, such as how quantities hang together, and is 0 for equal laws also where they are not normal. As it does
//! not depend on what an increasing function does to a coordinate, the transform is linear: quantities less what those before them predict.

use rayon::prelude::*;

use super::{Cloud, FLAT};
use crate::Missing;
use crate::kolmogorov::distance_between;
use ergodic_base::linalg::{axpy, dot, matvec};

/// The rows of the transform (R×D) for a law with this covariance (D×D): each quantity less its regression on those before it, without
/// those that are sums of these.
pub(super) fn transform(covariance: &[f64], dim: usize) -> Vec<f64> {
    let mut rows: Vec<f64> = Vec::with_capacity(dim * dim);
    let mut variances: Vec<f64> = Vec::with_capacity(dim);
    let mut with = vec![0.0; dim];
    for j in 0..dim {
        let of_all = &covariance[j * dim..(j + 1) * dim];
        let mut row = vec![0.0; dim];
        row[j] = 1.0;
        for (before, variance) in rows.chunks_exact(dim).zip(&variances) {
            axpy(-dot(of_all, before) / variance, before, &mut row);
        }
        matvec(covariance, &row, &mut with);
        let variance = dot(&row, &with);
        if variance > FLAT * of_all[j] {
            rows.extend(row);
            variances.push(variance);
        }
    }
    rows
}

/// The mean over the `rows` of a transform of the distances between draws of both along it.
///
/// # Errors
/// Weights that are negative have no distribution function.
pub(super) fn rosenblatt(one: &Cloud, other: &Cloud, rows: &[f64]) -> Result<f64, Missing> {
    if one.is_signed() || other.is_signed() {
        return Err(Missing::Weights);
    }
    let along = |cloud: &Cloud, row: &[f64]| -> Vec<f64> {
        let points = cloud.points.chunks_exact(cloud.dim);
        points.map(|point| dot(row, point)).collect()
    };
    let distances: Vec<f64> = rows
        .par_chunks_exact(one.dim)
        .map(|row| {
            let [values, others] = [one, other].map(|cloud| along(cloud, row));
            distance_between((&values, &one.weights), (&others, &other.weights))
        })
        .collect::<Result<_, _>>()?;
    Ok(distances.iter().sum::<f64>() / distances.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::super::tests::cloud;
    use super::*;
    use crate::distance::compare;
    use crate::testing::normals;
    use ergodic_base::draws::DrawList;

    /// Two standard normal quantities with this correlation, from independent ones.
    fn correlated(seed: u64, rho: f64) -> Vec<DrawList> {
        let rest = (1.0 - rho * rho).sqrt();
        let of = |chain: &DrawList| {
            let mut all = DrawList::new(2);
            for i in 0..chain.len() {
                let (a, b) = (chain.value(i, 0), chain.value(i, 1));
                all.push(&[a, rho * a + rest * b]);
            }
            all
        };
        normals(seed, 1000, &[(0.0, 1.0), (0.0, 1.0)])
            .iter()
            .map(of)
            .collect()
    }

    #[test]
    fn correlations_are_seen_where_marginals_agree() {
        let one = cloud(&correlated(51, 0.9), &[]);
        let same = compare(&one, &cloud(&correlated(52, 0.9), &[])).unwrap();
        let other = compare(&one, &cloud(&correlated(53, -0.9), &[])).unwrap();
        let by_chance = same.halves.unwrap().rosenblatt.unwrap();
        assert!(same.distances.rosenblatt.unwrap() < by_chance, "{same:?}");
        // The second coordinate is y − 0.9 x: normal with variances 0.19 and 3.43, whose distribution functions are 0.30 apart at most.
        // The mean with the first, which is the same in both, is 0.15; chance adds about 0.01 to each with 4,000 draws.
        let seen = other.distances.rosenblatt.unwrap();
        assert!((seen - 0.16).abs() < 0.02, "{seen}");
    }

    #[test]
    fn sums_of_quantities_before_them_have_no_coordinate() {
        // Of a, b and a + b, with variances 1 and 4.
        let covariance = [1.0, 0.0, 1.0, 0.0, 4.0, 4.0, 1.0, 4.0, 5.0];
        assert_eq!(transform(&covariance, 3), [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    }
}
