//! The Wasserstein-2 distance of draws along directions, which, other than that of normal approximations, sees shapes.
//!
//! Source: Rabin, Peyré, Delon and Bernot (2012), "Wasserstein barycenter and its application to texture mixing". Along a direction v
//! the distance of the draws v'x from the draws v'y is that of their quantiles, ∫ (F⁻¹(p) − G⁻¹(p))² dp. Here its mean over directions is
//! multiplied by D, so that draws that are all moved by δ are at distance |δ|. Directions are bases of random rotations, of which each is
//! as good as all directions for that.

use rand::RngExt as _;
use rand_distr::StandardNormal;
use rayon::prelude::*;

use super::Cloud;
use ergodic_base::linalg::{axpy, dot};
use ergodic_base::{Purpose, stream};

/// Directions at least.
const DIRECTIONS: usize = 100;
/// Seed of the directions: the same for all comparisons of as many quantities.
const SEED: u64 = 20_120_711;

/// The sliced Wasserstein-2 distance of two clouds of one dimension D, in its units; exact for D = 1. `None` with negative weights, which
/// have no quantiles.
pub(super) fn sliced(one: &Cloud, other: &Cloud) -> Option<f64> {
    if one.is_signed() || other.is_signed() {
        return None;
    }
    let directions = directions(one.dim);
    let squares: Vec<f64> = directions
        .par_chunks_exact(one.dim)
        .map(|direction| along(&sorted(one, direction), &sorted(other, direction)))
        .collect();
    let mean = squares.iter().sum::<f64>() / squares.len() as f64;
    Some((one.dim as f64 * mean).sqrt())
}

/// Orthonormal bases, one vector of length `dim` after the other.
fn directions(dim: usize) -> Vec<f64> {
    if dim == 1 {
        return vec![1.0];
    }
    let mut rng = stream(SEED, 0, Purpose::Diagnostics);
    let mut all = Vec::new();
    for _ in 0..DIRECTIONS.div_ceil(dim) {
        let first = all.len();
        for _ in 0..dim {
            let mut vector: Vec<f64> = (0..dim).map(|_| rng.sample(StandardNormal)).collect();
            // Twice: what is left of the others by rounding goes the second time.
            for _ in 0..2 {
                for before in all[first..].chunks_exact(dim) {
                    axpy(-dot(before, &vector), before, &mut vector);
                }
            }
            let length = dot(&vector, &vector).sqrt();
            all.extend(vector.iter().map(|it| it / length));
        }
    }
    all
}

/// Where points are along a direction, in order, with their weights.
fn sorted(cloud: &Cloud, direction: &[f64]) -> Vec<(f64, f64)> {
    let points = cloud.points.chunks_exact(cloud.dim).zip(&cloud.weights);
    let mut places: Vec<(f64, f64)> = points.map(|(x, w)| (dot(direction, x), *w)).collect();
    places.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    places
}

/// The squared distance of two lists of places with weights whose sums are 1.
fn along(one: &[(f64, f64)], other: &[(f64, f64)]) -> f64 {
    let mut others = other.iter();
    let Some(&(mut place, mut left)) = others.next() else {
        return 0.0;
    };
    let mut sum = 0.0;
    for &(x, weight) in one {
        let mut open = weight;
        while open > left {
            sum += left * (x - place).powi(2);
            open -= left;
            // Sums of weights differ by rounding: the last place takes what is left.
            (place, left) = others.next().copied().unwrap_or((place, f64::INFINITY));
        }
        sum += open * (x - place).powi(2);
        left -= open;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::super::tests::cloud;
    use super::*;
    use crate::distance::compare;
    use crate::testing::normals;
    use ergodic_base::draws::DrawList;

    #[test]
    fn draws_that_are_moved_are_as_far_as_they_were_moved() {
        let chains = normals(31, 200, &[(0.0, 1.0), (3.0, 1.0), (0.0, 1.0)]);
        let moved: Vec<DrawList> = chains
            .iter()
            .map(|chain| {
                let mut all = DrawList::new(3);
                for i in 0..chain.len() {
                    let at = |j| chain.value(i, j);
                    all.push(&[at(0) + 0.3, at(1) - 0.4, at(2) + 1.2]);
                }
                all
            })
            .collect();
        let distance = sliced(&cloud(&chains, &[]), &cloud(&moved, &[])).unwrap();
        assert!((distance - 1.3).abs() < 1e-10, "{distance}");
    }

    /// Along one coordinate quantiles are pairs of sorted draws, and weights count as often as they say.
    #[test]
    fn one_coordinate_is_compared_by_its_quantiles() {
        let list = |values: &[f64]| {
            let mut list = DrawList::new(1);
            values.iter().for_each(|value| list.push(&[*value]));
            vec![list]
        };
        let one = cloud(&list(&[3.0, 1.0, 2.0, 8.0]), &[]);
        let other = cloud(&list(&[1.0, 5.0, 5.0, 2.0]), &[]);
        let expected = ((0.0 + 0.0 + 4.0 + 9.0) / 4.0_f64).sqrt();
        assert!((sliced(&one, &other).unwrap() - expected).abs() < 1e-12);
        let weighted = cloud(&list(&[1.0, 5.0, 2.0]), &[vec![1.0, 2.0, 1.0]]);
        assert!((sliced(&one, &weighted).unwrap() - expected).abs() < 1e-12);
    }

    /// Two modes against one, with the same mean and variance: normal approximations see nothing.
    #[test]
    fn shapes_are_seen_where_moments_agree() {
        let (draws, gap) = (2000, 0.95_f64);
        let rest = (1.0 - gap * gap).sqrt();
        let two: Vec<DrawList> = normals(41, draws, &[(0.0, rest)])
            .iter()
            .map(|chain| {
                let mut all = DrawList::new(1);
                for i in 0..chain.len() {
                    let side = if i % 2 == 0 { gap } else { -gap };
                    all.push(&[chain.value(i, 0) + side]);
                }
                all
            })
            .collect();
        let one = normals(42, draws, &[(0.0, 1.0)]);
        let apart = compare(&cloud(&one, &[]), &cloud(&two, &[])).unwrap();
        let (found, halves) = (apart.distances, apart.halves.unwrap());
        // Quantiles of both, by numerical integration (p from 0 to 1): 0.349.
        let sliced = found.sliced.unwrap();
        assert!((sliced - 0.349).abs() < 0.03, "{sliced}");
        assert!(sliced > 2.0 * halves.sliced.unwrap(), "{apart:?}");
        assert!(found.wasserstein < 0.06, "{found:?}");
    }
}
