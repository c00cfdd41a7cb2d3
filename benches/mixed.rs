//! Likelihood fits of tall mixed data: 1,000,000 rows in 10,000 groups.
//!
//! `cargo bench --bench mixed`; `ERGODIC_BENCH_ROWS` and `ERGODIC_BENCH_GROUPS` change the shape.

#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use divan::Bencher;
use ergodic_base::Control;
use ergodic_core::design::Scaling;
use ergodic_core::estimators::mixed::{
    Criterion, Fineness, Method, MixedData, RandomTerm, fit_gaussian, fit_generalised,
};
use ergodic_core::families::Family;

mod support;

fn main() {
    divan::main();
}

fn size(name: &str, default: usize) -> usize {
    std::env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

/// A standard normal by the sum of twelve uniforms, from a counter: the same data on every machine.
fn normal(counter: &mut u64) -> f64 {
    (0..12)
        .map(|_| {
            *counter += 1;
            let mut z = counter.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            ((z ^ (z >> 31)) >> 11) as f64 / 9_007_199_254_740_992.0
        })
        .sum::<f64>()
        - 6.0
}

/// y = 1 + 0.5 x₁ + … + b_g (+ slope_g x₁) + e, five predictors; `crossed` adds 500 further groups.
fn data(slopes: bool, crossed: bool, counts: bool) -> MixedData {
    let is_test = support::is_test();
    let (n, groups) = (
        size("ERGODIC_BENCH_ROWS", if is_test { 5000 } else { 1_000_000 }),
        size("ERGODIC_BENCH_GROUPS", if is_test { 50 } else { 10_000 }),
    );
    let mut counter = 1;
    let p = 6;
    let effects: Vec<f64> = (0..2 * groups + 500)
        .map(|_| normal(&mut counter))
        .collect();
    let (mut x, mut y, mut z) = (Vec::new(), Vec::new(), Vec::new());
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for row in 0..n {
        let (g, h) = (row % groups, (row / groups * 7 + row) % 500);
        let line: Vec<f64> = (1..p).map(|_| normal(&mut counter)).collect();
        let mut eta = 1.0 + 0.3 * line.iter().sum::<f64>() + 0.7 * effects[g];
        z.push(1.0);
        if slopes {
            eta += 0.4 * effects[groups + g] * line[0];
            z.push(line[0]);
        }
        if crossed {
            eta += 0.5 * effects[2 * groups + h];
        }
        x.push(1.0);
        x.extend(&line);
        let noise = normal(&mut counter);
        // Rounded log-normal counts: overdispersed, which costs the same.
        y.push(if counts {
            (eta + 0.3 * noise).exp().round()
        } else {
            eta + noise
        });
        first.push(g as u32);
        second.push(h as u32);
    }
    let width = 1 + usize::from(slopes);
    let term =
        |group: &str, levels: usize, index: Vec<u32>, z: Vec<f64>, width: usize| RandomTerm {
            group: group.to_owned(),
            levels: (0..levels).map(|k| k.to_string()).collect(),
            index,
            z,
            names: ["Intercept", "x1"][..width]
                .iter()
                .map(|s| (*s).to_owned())
                .collect(),
            scale: vec![1.0; width],
            correlated: true,
            along: None,
        };
    let mut terms = vec![term("g", groups, first, z, width)];
    if crossed {
        terms.push(term("h", 500, second, vec![1.0; n], 1));
    }
    MixedData {
        levels: Vec::new(),
        x,
        columns: (0..p)
            .map(|j| {
                if j == 0 {
                    "Intercept".to_owned()
                } else {
                    format!("x{j}")
                }
            })
            .collect(),
        scaling: Scaling {
            center: vec![0.0; p],
            scale: vec![1.0; p],
            has_intercept: true,
        },
        y,
        response: "y".to_owned(),
        weights: None,
        offset: None,
        known: None,
        terms,
    }
}

fn gaussian(bencher: Bencher<'_, '_>, data: &MixedData, method: Method, criterion: Criterion) {
    bencher.bench_local(|| fit_gaussian(data, method, criterion, &Control::default()).unwrap());
}

#[divan::bench(sample_count = 3)]
fn intercepts_reml(bencher: Bencher<'_, '_>) {
    gaussian(
        bencher,
        &data(false, false, false),
        Method::Profile,
        Criterion::Reml,
    );
}

#[divan::bench(sample_count = 3)]
fn slopes_reml(bencher: Bencher<'_, '_>) {
    gaussian(
        bencher,
        &data(true, false, false),
        Method::Profile,
        Criterion::Reml,
    );
}

#[divan::bench(sample_count = 3)]
fn slopes_squarem(bencher: Bencher<'_, '_>) {
    gaussian(
        bencher,
        &data(true, false, false),
        Method::Squarem,
        Criterion::Ml,
    );
}

#[divan::bench(sample_count = 3)]
fn crossed_reml(bencher: Bencher<'_, '_>) {
    gaussian(
        bencher,
        &data(false, true, false),
        Method::Profile,
        Criterion::Reml,
    );
}

#[divan::bench(sample_count = 1)]
fn counts_laplace(bencher: Bencher<'_, '_>) {
    let data = data(false, false, true);
    bencher.bench_local(|| {
        fit_generalised(
            &data,
            Family::Poisson,
            Method::Laplace,
            Fineness::default(),
            &Control::default(),
        )
        .unwrap()
    });
}
