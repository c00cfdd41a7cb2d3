//! Against the closed forms of a normal density, and what has no regions.

use std::f64::consts::TAU;

use super::*;

/// Means, standard deviations and correlation of a normal density.
const MEAN: [f64; 2] = [3.0, -200.0];
const SD: [f64; 2] = [0.5, 40.0];
const CORRELATION: f64 = 0.8;

/// Draws of that density: even in the share of the mass inside their ellipse, and around it by the golden ratio.
fn normal(n: usize) -> [Vec<f64>; 2] {
    let draw = |i: usize| {
        let radius = (-2.0 * ((i as f64 + 0.5) / n as f64).ln()).sqrt();
        let (sin, cos) = (TAU * (i as f64 * 0.618_033_988_749_895).fract()).sin_cos();
        let (a, b) = (radius * cos, radius * sin);
        let free = (1.0 - CORRELATION * CORRELATION).sqrt();
        (
            MEAN[0] + SD[0] * a,
            MEAN[1] + SD[1] * (CORRELATION * a + free * b),
        )
    };
    let (x, y) = (0..n).map(draw).unzip();
    [x, y]
}

/// Area within closed lines; holes count against it where they run the other way round.
fn area(lines: &[Vec<[f64; 2]>]) -> f64 {
    let sides = lines.iter().flat_map(|line| line.windows(2));
    let twice: f64 = sides
        .map(|side| side[0][0] * side[1][1] - side[1][0] * side[0][1])
        .sum();
    0.5 * twice.abs()
}

/// Whether a point lies within closed lines.
fn is_inside(lines: &[Vec<[f64; 2]>], [x, y]: [f64; 2]) -> bool {
    let sides = lines.iter().flat_map(|line| line.windows(2));
    let crossed = sides.filter(|side| {
        let [[x0, y0], [x1, y1]] = [side[0], side[1]];
        (y0 > y) != (y1 > y) && x < x0 + (x1 - x0) * (y - y0) / (y1 - y0)
    });
    crossed.count() % 2 == 1
}

fn share_inside(region: &Region, [x, y]: [&[f64]; 2]) -> f64 {
    let inside = x
        .iter()
        .zip(y)
        .filter(|(x, y)| is_inside(&region.contours, [**x, **y]));
    inside.count() as f64 / x.len() as f64
}

#[test]
fn regions_of_a_normal_density_are_its_ellipses() {
    let [x, y] = normal(20_000);
    let found = regions([&x, &y], None, MASSES).unwrap();
    let free = 1.0 - CORRELATION * CORRELATION;
    let root = SD[0] * SD[1] * free.sqrt();
    // In units of the standard deviations, the axes of the ellipses have squares 1 ± the correlation.
    for (region, mass) in found.iter().zip(MASSES) {
        assert_eq!(region.mass, mass);
        assert_eq!(region.contours.len(), 1, "one line around {mass}");
        let line = &region.contours[0];
        assert_eq!(line.first(), line.last());
        let squared = -2.0 * (1.0 - mass).ln();
        let scaled = || {
            line.iter()
                .map(|at| [0, 1].map(|k| (at[k] - MEAN[k]) / SD[k]))
        };
        for [a, b] in scaled() {
            let found = (a * a - 2.0 * CORRELATION * a * b + b * b) / free;
            assert!(
                ((found / squared).sqrt() - 1.0).abs() < 0.03,
                "{mass}: {found} {squared}"
            );
        }
        let lengths: Vec<f64> = scaled().map(|[a, b]| a.hypot(b)).collect();
        let (short, long) = (lengths.iter()).fold((f64::MAX, 0.0_f64), |(low, high), &it| {
            (low.min(it), high.max(it))
        });
        let expected = [1.0 - CORRELATION, 1.0 + CORRELATION].map(|it| (it * squared).sqrt());
        for (found, expected) in [short, long].into_iter().zip(expected) {
            assert!((found / expected - 1.0).abs() < 0.03, "{found} {expected}");
        }
        let (found, expected) = (area(&region.contours), 0.5 * TAU * squared * root);
        assert!((found / expected - 1.0).abs() < 0.02, "{found} {expected}");
        let share = share_inside(region, [&x, &y]);
        assert!((share - mass).abs() < 0.003, "{share} {mass}");
        // The kernel widens the density by h² in units of its covariance.
        let wide = 1.0 + 20_000_f64.powf(-1.0 / 3.0);
        let level = (-0.5 * squared / wide).exp() / (TAU * root * wide);
        assert!(
            (region.level / level - 1.0).abs() < 0.03,
            "{} {level}",
            region.level
        );
    }
}

#[test]
fn modes_have_a_region_each_and_what_weighs_nothing_has_none() {
    let [mut x, mut y] = normal(5_000);
    let [one] = regions([&x, &y], None, [0.9]).unwrap();
    let count = x.len();
    for i in 0..count {
        x.push(x[i] + 12.0);
        y.push(y[i]);
    }
    let [two] = regions([&x, &y], None, [0.9]).unwrap();
    assert_eq!(two.contours.len(), 2);
    assert!((share_inside(&two, [&x, &y]) - 0.9).abs() < 0.01);
    let weights: Vec<f64> = (0..2 * count)
        .map(|i| if i < count { 2.0 } else { 0.0 })
        .collect();
    let [weighted] = regions([&x, &y], Some(&weights), [0.9]).unwrap();
    let share = area(&weighted.contours) / area(&one.contours);
    assert!((share - 1.0).abs() < 0.03, "{share}");
    assert!(weighted.contours.iter().flatten().all(|at| at[0] < 8.0));
}

#[test]
fn a_ring_has_a_hole() {
    let n = 4_000;
    let angle = |i: usize| TAU * (i as f64 * 0.618_033_988_749_895).fract();
    let radius = |i: usize| 1.0 + 0.4 * (i as f64 / n as f64 - 0.5);
    let (x, y): (Vec<f64>, Vec<f64>) = (0..n)
        .map(|i| (radius(i) * angle(i).cos(), radius(i) * angle(i).sin()))
        .unzip();
    let [region] = regions([&x, &y], None, [0.9]).unwrap();
    assert_eq!(region.contours.len(), 2);
    assert!(!is_inside(&region.contours, [0.0, 0.0]));
    assert!((share_inside(&region, [&x, &y]) - 0.9).abs() < 0.01);
}

#[test]
fn far_draws_leave_the_picture_and_every_line_closes() {
    let [mut x, mut y] = normal(3_000);
    for k in 0..30 {
        x.push(1e6 + f64::from(k));
        y.push(-1e7 * f64::from(k));
    }
    let found = regions([&x, &y], None, MASSES).unwrap();
    for region in &found {
        assert!(!region.contours.is_empty());
        for line in &region.contours {
            assert_eq!(line.first(), line.last());
            assert!(line.iter().flatten().all(|value| value.is_finite()));
        }
    }
}

#[test]
fn draws_without_a_joint_density_are_refused() {
    let [x, y] = normal(400);
    let refused = |x: &[f64], y: &[f64]| regions([x, y], None, MASSES).unwrap_err();
    assert_eq!(refused(&x[..50], &y[..50]), Missing::TooFew);
    assert_eq!(refused(&x, &[2.0; 400]), Missing::Constant);
    let twice: Vec<f64> = x.iter().map(|value| 1.0 - 2.0 * value).collect();
    assert_eq!(refused(&x, &twice), Missing::Constant);
    let mut odd = y.clone();
    odd[7] = f64::NAN;
    assert_eq!(refused(&x, &odd), Missing::NotFinite);
    // Weights so negative that the variance is.
    let middle = |i: usize| {
        if (x[i] - MEAN[0]).abs() < SD[0] {
            3.0
        } else {
            -2.0
        }
    };
    let weights: Vec<f64> = (0..400).map(middle).collect();
    let refused = regions([&x, &y], Some(&weights), MASSES).unwrap_err();
    assert_eq!(refused, Missing::Weights);
}
