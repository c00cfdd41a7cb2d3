//! Models of the gallery whose moments are known: as densities by quadrature, and as posteriors that are sampled.

use super::*;
use ergodic_core::Fit;

/// Reported means of a run, each against what is known, within four Monte Carlo standard errors.
fn compare(text: &str, wanted: &[(&str, f64)]) {
    let fit = Fit::of_model(model(text, &[])).chains(4).draws(2000);
    let fit = fit.run().unwrap();
    for (name, wanted) in wanted {
        let summary = fit.summary();
        let row = (summary.rows().iter())
            .find(|row| row.variable == **name)
            .unwrap_or_else(|| panic!("{name}"));
        let (mean, error) = (row.mean.unwrap(), row.mcse_mean.unwrap());
        assert!(
            (mean - wanted).abs() < 4.0 * error,
            "{name}: {mean} ± {error} and {wanted}"
        );
    }
}

#[test]
fn a_mixture_of_correlated_normals_has_its_moments() {
    let text = include_str!("../../../../examples/models/correlated_mixture.model");
    // Σ w (S + m m') of both components.
    let wanted = [
        ("x[1]", 0.4 * -2.0 + 0.6 * 2.0),
        ("x[2]", 0.6),
        ("square[1]", 0.4 * (1.0 + 4.0) + 0.6 * (2.0 + 4.0)),
        ("square[2]", 0.4 * 1.0 + 0.6 * (0.5 + 1.0)),
        ("product", 0.4 * 0.8 + 0.6 * (-0.6 + 2.0)),
    ];
    // Sums over a grid have no error to speak of where a density is smooth and has fallen to nothing at the ends.
    let (model, step) = (model(text, &[]), 0.1);
    let mut sums = [0.0; 6];
    for i in -110..=110 {
        for j in -80..=80 {
            let (x, y) = (step * f64::from(i), step * f64::from(j));
            let p = density(model.as_ref(), &[x, y]).0.exp() * step * step;
            for (sum, value) in sums.iter_mut().zip([1.0, x, y, x * x, y * y, x * y]) {
                *sum += p * value;
            }
        }
    }
    let exact: Vec<f64> = wanted.iter().map(|(_, value)| *value).collect();
    near(&sums, &[&[1.0][..], &exact].concat(), 1e-8, "by the grid");
    compare(text, &wanted);
}

#[test]
fn wells_of_unequal_depth_have_their_moments() {
    let text = include_str!("../../../../examples/models/uneven_wells.model");
    let model = model(text, &[]);
    let (mut total, mut mean, mut deeper) = (0.0, 0.0, 0.0);
    let step = 1e-3;
    for i in -8000..8000 {
        let x = step * (f64::from(i) + 0.5);
        // The product of all four factors, multiplied out.
        let potential = (x.powi(4) + x.powi(3) - 13.0 * x * x - x + 12.0) / 14.0 + 0.5;
        let p = (-potential).exp();
        total += p;
        mean += p * x;
        deeper += if x < 0.0 { p } else { 0.0 };
        if i % 1000 == 0 {
            near(
                &[density(model.as_ref(), &[x]).0],
                &[-potential],
                1e-12,
                "density",
            );
        }
    }
    compare(text, &[("x", mean / total), ("deeper", deeper / total)]);
}

#[test]
fn heavy_tails_have_their_moments() {
    let text = include_str!("../../../../examples/models/heavy_tails.model");
    let model = model(text, &[]);
    // The density of a t with ν degrees of freedom falls as |x|^-10: a grid out to 60 leaves less than 1e-6 of it outside.
    let (step, mut total) = (0.2, 0.0);
    for i in -300..=300 {
        for j in -300..=300 {
            let at = [step * f64::from(i), step * f64::from(j)];
            total += density(model.as_ref(), &at).0.exp() * step * step;
        }
    }
    near(&[total], &[1.0], 1e-6, "total");
    let variance = 8.0 / 6.0;
    compare(
        text,
        &[
            ("x[1]", 0.0),
            ("x[2]", 0.0),
            ("square[1]", variance),
            ("square[2]", variance),
            ("product", 0.6 * variance),
        ],
    );
}

#[test]
fn a_warped_posterior_has_its_moments() {
    let text = include_str!("../../../../examples/models/warped.model");
    let model = model(text, &[]);
    let log_density = |a: f64, b: f64| {
        let off = (1.0 - a - b * b) / 0.2;
        -0.5 * (a * a + b * b + off * off) - 1.5 * (2.0 * std::f64::consts::PI).ln() - 0.2_f64.ln()
    };
    let (step, mut sums) = (0.02, [0.0; 5]);
    for i in -350..=250 {
        for j in -250..=250 {
            let (a, b) = (step * f64::from(i), step * f64::from(j));
            let p = log_density(a, b).exp();
            for (sum, value) in sums.iter_mut().zip([1.0, a, b, a + b * b, b * b]) {
                *sum += p * value;
            }
            if i % 100 == 0 && j % 100 == 0 {
                let found = density(model.as_ref(), &[a, b]).0;
                near(&[found], &[log_density(a, b)], 1e-12, "density");
            }
        }
    }
    let mean = |at: usize| sums[at] / sums[0];
    compare(
        text,
        &[
            ("a", mean(1)),
            ("b", mean(2)),
            ("told", mean(3)),
            ("square", mean(4)),
        ],
    );
}
