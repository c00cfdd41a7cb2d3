//! Smooth curves by REML against R's mgcv (`tests/reference/smooths.R`), whose thin plate regression splines these are; by ML and
//! Laplace's approximation against these criteria computed anew.

use crate::design::Coding;
use crate::design::{Columns as _, Design, MemoryColumns, ModelFrame, ResponseUse, Values};
use crate::estimators::mixed::integral::Fineness;
use crate::estimators::mixed::testing::Reference;
use crate::estimators::mixed::{
    Criterion, Method, MixedData, MixedFit, fit_gaussian, fit_generalised,
};
use crate::families::Family;
use crate::testing::tables::{load_csv, reference};
use ergodic_base::Control;
use ergodic_base::linalg::{Cholesky, dot};

/// A set of the reference under a formula: the design, and how to code new rows.
struct Set {
    table: MemoryColumns,
    design: Design,
    coding: Coding,
}

fn set(name: &str, formula: &str, response: ResponseUse) -> Set {
    let table = load_csv(&reference("smooths").join(format!("{name}.csv")));
    let frame = ModelFrame {
        response_use: response,
        ..ModelFrame::new(formula.parse().unwrap())
    };
    let (design, _) = Design::build(&table, &frame).unwrap();
    let coding = Coding::of(&table, &frame, &design).unwrap();
    Set {
        table,
        design,
        coding,
    }
}

impl Set {
    fn data(&self) -> MixedData {
        self.design.clone().into()
    }

    /// The curve of `fit` at the 21 values of x of the reference, two outside of the range on either side, z = 0.
    fn curve(&self, fit: &MixedFit) -> Vec<f64> {
        let col = self.table.position("x").unwrap();
        let x = self.table.numbers(col).unwrap();
        let [from, to] = [
            x.iter().copied().fold(f64::INFINITY, f64::min),
            x.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        ];
        let wide = to - from;
        let mut at = vec![from - 0.3 * wide, from - 0.1 * wide];
        at.extend((0..17).map(|i| from + wide * f64::from(i) / 16.0));
        at.extend([to + 0.1 * wide, to + 0.3 * wide]);
        let columns = vec![
            ("z".to_owned(), Values::Numbers(vec![0.0; at.len()])),
            ("x".to_owned(), Values::Numbers(at)),
        ];
        let new = MemoryColumns::new("new", columns).unwrap();
        let coded = self.coding.code(&new, None, false).unwrap();
        let coefficients = fit.coefficients();
        assert_eq!(coded.x.ncols(), coefficients.len());
        let rows = coded.x.rows().into_iter();
        rows.map(|row| row.iter().zip(&coefficients).map(|(x, b)| x * b).sum())
            .collect()
    }

    /// Largest distance of the linear predictors of `fit` from those of the reference.
    fn apart(&self, fit: &MixedFit, there: &Reference, id: &str) -> f64 {
        let predictors = self.design.row.iter().zip(&fit.predictors.with_groups);
        let of_rows = predictors.map(|(&row, eta)| {
            let number = (row + 1).to_string();
            (eta - there.get(id, "fitted", &number)).abs()
        });
        let curve = self.curve(fit);
        let of_curve = (curve.iter().zip(1..))
            .map(|(eta, i)| (eta - there.get(id, "curve", &i.to_string())).abs());
        of_rows.chain(of_curve).fold(0.0, f64::max)
    }
}

/// Fitted values, the curve inside and outside of the range, slopes of other predictors, σ and the spread of groups, by REML. ML of
/// mgcv is another criterion: what it takes for known, the line, has a share in the functions that bend its curves.
#[test]
fn gaussian_fits_by_reml_are_those_of_mgcv() {
    let there = Reference::of("smooths", "fits.csv");
    for (id, data, formula) in [
        ("waves:reml", "waves", "y ~ z + s(x)"),
        ("waves-wide:reml", "waves", "y ~ z + s(x, k = 25)"),
        ("waves-groups:reml", "waves", "y ~ z + s(x) + (1 | g)"),
        ("doses:reml", "doses", "y ~ s(x, k = 6)"),
    ] {
        let set = set(data, formula, ResponseUse::Number);
        let control = Control::default();
        let fit = fit_gaussian(&set.data(), Method::Profile, Criterion::Reml, &control).unwrap();
        let apart = set.apart(&fit, &there, id);
        assert!(apart < 1e-4, "{id}: {apart}");
        let sigma = there.get(id, "sigma", "");
        assert!((fit.sigma.unwrap() - sigma).abs() < 1e-5, "{id}: {sigma}");
        if let Some(z) = fit.fixed.iter().find(|effect| effect.name == "z") {
            let slope = there.get(id, "coef", "z");
            assert!((z.estimate - slope).abs() < 1e-5, "{id}: {slope}");
        }
        for component in &fit.components {
            let sd = there.get(id, "sd", "g");
            assert!((component.sd[0] - sd).abs() < 1e-4, "{id}: {sd}");
        }
        let [curve] = fit.curves.as_slice() else {
            panic!("{:?}", fit.curves);
        };
        assert_eq!((curve.name.as_str(), curve.along.as_str()), ("s(x)", "x"));
        assert!(curve.sd > 0.0 && curve.bends.len() == curve.bend_sds.len());
    }
}

/// Of y ~ N(Xb, V) with V = σ²I + Σ sd² ZZ', computed with the whole of V: the largest log likelihood for given spreads and the
/// predictors Xb + (V − σ²I) V⁻¹ (y − Xb).
fn with_whole_covariance(data: &MixedData, sigma: f64, sds: &[f64]) -> (f64, Vec<f64>) {
    let (n, p) = (data.num_obs(), data.num_columns());
    let mut between = vec![0.0; n * n];
    for (term, sd) in data.terms.iter().zip(sds) {
        for i in 0..n {
            for j in (0..n).filter(|&j| term.index[i] == term.index[j]) {
                between[i * n + j] += sd * sd * dot(term.row(i), term.row(j));
            }
        }
    }
    let mut all = between.clone();
    for i in 0..n {
        all[i * n + i] += sigma * sigma;
    }
    let factor = Cholesky::of(&all, n).unwrap();
    let columns: Vec<Vec<f64>> = (0..p)
        .map(|j| (0..n).map(|i| data.row(i)[j]).collect())
        .collect();
    let solved = |of: &[f64]| {
        let mut out = of.to_vec();
        factor.solve(&mut out);
        out
    };
    let by_columns: Vec<Vec<f64>> = columns.iter().map(|column| solved(column)).collect();
    let normal: Vec<f64> = (by_columns.iter())
        .flat_map(|solved| columns.iter().map(|column| dot(solved, column)))
        .collect();
    let mut b: Vec<f64> = by_columns.iter().map(|it| dot(it, &data.y)).collect();
    Cholesky::of(&normal, p).unwrap().solve(&mut b);
    let line: Vec<f64> = (0..n).map(|i| dot(data.row(i), &b)).collect();
    let rest: Vec<f64> = data.y.iter().zip(&line).map(|(y, eta)| y - eta).collect();
    let told = solved(&rest);
    let constant = n as f64 * (2.0 * std::f64::consts::PI).ln();
    let log_lik = -0.5 * (constant + factor.log_det() + dot(&rest, &told));
    let predictors = (line.iter().zip(between.chunks_exact(n)))
        .map(|(eta, row)| eta + dot(row, &told))
        .collect();
    (log_lik, predictors)
}

/// The maximum over logarithms of σ and spreads by steps along each, halved where none leads up.
fn climb(data: &MixedData, start: &[f64]) -> (f64, Vec<f64>) {
    let value = |at: &[f64]| {
        let sds: Vec<f64> = at.iter().map(|log| log.exp()).collect();
        with_whole_covariance(data, sds[0], &sds[1..]).0
    };
    let (mut at, mut step) = (start.to_vec(), 0.5);
    let mut best = value(&at);
    while step > 1e-6 {
        let mut higher = false;
        for k in 0..at.len() {
            for by in [step, -step] {
                let mut there = at.clone();
                there[k] += by;
                let value = value(&there);
                if value > best {
                    (best, at, higher) = (value, there, true);
                }
            }
        }
        if !higher {
            step *= 0.5;
        }
    }
    (best, at)
}

#[test]
fn gaussian_fits_by_ml_are_the_maximum_of_the_marginal_likelihood() {
    for (data, formula) in [
        ("waves", "y ~ z + s(x)"),
        ("waves", "y ~ z + s(x, k = 6) + (1 | g)"),
    ] {
        let data = set(data, formula, ResponseUse::Number).data();
        let control = Control::default();
        let fit = fit_gaussian(&data, Method::Profile, Criterion::Ml, &control).unwrap();
        let (log_lik, at) = climb(&data, &vec![0.0; 1 + data.terms.len()]);
        assert!(
            (fit.log_lik - log_lik).abs() < 1e-6,
            "{formula}: {} against {log_lik}",
            fit.log_lik
        );
        let of_groups = fit.components.iter().map(|component| component.sd[0]);
        let of_curves = fit.curves.iter().map(|curve| curve.sd);
        let sds: Vec<f64> = of_groups.chain(of_curves).collect();
        let sigma = fit.sigma.unwrap();
        for (sd, log) in [sigma].iter().chain(&sds).zip(&at) {
            // The likelihood is flat at its maximum: to rounding of it this is how far it tells spreads apart.
            assert!((sd.ln() - log).abs() < 1e-4, "{formula}: {sd} {at:?}");
        }
        let (there, predictors) = with_whole_covariance(&data, sigma, &sds);
        assert!((fit.log_lik - there).abs() < 1e-6, "{formula}: {there}");
        for (eta, expected) in fit.predictors.with_groups.iter().zip(&predictors) {
            assert!((eta - expected).abs() < 1e-6, "{formula}: {eta} {expected}");
        }
    }
}

/// Laplace's approximation to the log likelihood of counts with a curve of standard deviation `sd` around `line`, from sums over
/// rows.
fn laplace_of_counts(data: &MixedData, line: &[f64], sd: f64) -> f64 {
    let [term] = data.terms.as_slice() else {
        panic!("one curve");
    };
    let (q, precision) = (term.width(), 1.0 / (sd * sd));
    let mut bends = vec![0.0; q];
    let mut log_det = 0.0;
    let eta = |bends: &[f64], i: usize| line[i] + dot(term.row(i), bends);
    for _ in 0..100 {
        let mut slope: Vec<f64> = bends.iter().map(|b| -precision * b).collect();
        let mut curvature = vec![0.0; q * q];
        for j in 0..q {
            curvature[j * q + j] = precision;
        }
        for (i, y) in data.y.iter().enumerate() {
            let (z, mean) = (term.row(i), eta(&bends, i).exp());
            for j in 0..q {
                slope[j] += (y - mean) * z[j];
                for k in 0..q {
                    curvature[j * q + k] += mean * z[j] * z[k];
                }
            }
        }
        let factor = Cholesky::of(&curvature, q).unwrap();
        log_det = factor.log_det();
        factor.solve(&mut slope);
        // Short steps at first: means are exponentials.
        let most = slope
            .iter()
            .fold(0.0_f64, |most, step| most.max(step.abs()));
        let share = (0.5 / most).min(1.0);
        for (bend, step) in bends.iter_mut().zip(&slope) {
            *bend += share * step;
        }
        if most < 1e-12 {
            break;
        }
    }
    let of_rows = data.y.iter().enumerate().map(|(i, &y)| {
        let eta = eta(&bends, i);
        y * eta - eta.exp() - (1..=y as u32).map(|k| f64::from(k).ln()).sum::<f64>()
    });
    of_rows.sum::<f64>()
        - 0.5 * precision * dot(&bends, &bends)
        - q as f64 * sd.ln()
        - 0.5 * log_det
}

#[test]
fn a_fit_of_counts_is_the_maximum_of_laplaces_approximation() {
    let data = set("counts", "y ~ z + s(x)", ResponseUse::Count).data();
    let control = Control::default();
    let fineness = Fineness::default();
    let fit = fit_generalised(&data, Family::Poisson, Method::Laplace, fineness, &control).unwrap();
    let curve = &fit.curves[0];
    // Without what bends the curve.
    let line: Vec<f64> = (fit.predictors.with_groups.iter().enumerate())
        .map(|(i, eta)| eta - dot(data.terms[0].row(i), &curve.bends))
        .collect();
    let best = laplace_of_counts(&data, &line, curve.sd);
    assert!((fit.log_lik - best).abs() < 1e-6, "{} {best}", fit.log_lik);
    // A parabola through neighbours says how much higher the maximum is along each fixed effect and the logarithm of the spread.
    let step = 1e-3;
    for j in 0..=data.num_columns() {
        let [below, above] = [-step, step].map(|by: f64| {
            if j == data.num_columns() {
                return laplace_of_counts(&data, &line, curve.sd * by.exp());
            }
            let moved: Vec<f64> = (line.iter().enumerate())
                .map(|(i, eta)| eta + by * data.row(i)[j])
                .collect();
            laplace_of_counts(&data, &moved, curve.sd)
        });
        let (slope, bend) = (0.5 * (above - below), 2.0 * best - above - below);
        assert!(bend > 0.0, "{j}: {below} {best} {above}");
        let higher = 0.5 * slope * slope / bend;
        assert!(higher < 1e-6, "{j}: {higher}");
    }
}

/// A straight line needs no curve: the spread goes to 0 without a remark on a fit at its edge.
#[test]
fn a_straight_line_has_no_spread() {
    let x: Vec<f64> = (0..60).map(|i| f64::from(i) / 6.0).collect();
    // Noise without any pattern along x.
    let y = x
        .iter()
        .enumerate()
        .map(|(i, x)| 1.0 + 2.0 * x + [0.3, -0.3][i % 2])
        .collect();
    let columns = vec![
        ("y".to_owned(), Values::Numbers(y)),
        ("x".to_owned(), Values::Numbers(x)),
    ];
    let table = MemoryColumns::new("line", columns).unwrap();
    let frame = ModelFrame {
        response_use: ResponseUse::Number,
        ..ModelFrame::new("y ~ s(x)".parse().unwrap())
    };
    let data: MixedData = Design::build(&table, &frame).unwrap().0.into();
    let control = Control::default();
    let fit = fit_gaussian(&data, Method::Profile, Criterion::Reml, &control).unwrap();
    assert_eq!(fit.curves[0].sd, 0.0);
    assert!(fit.warnings.is_empty(), "{:?}", fit.warnings);
    assert!((fit.fixed[1].estimate - 2.0).abs() < 0.01);
}

#[test]
fn methods_about_groups_refuse_curves() {
    let set = set("waves", "y ~ s(x) + (1 | g)", ResponseUse::Number);
    let control = Control::default();
    let error = fit_gaussian(&set.data(), Method::Em, Criterion::Ml, &control).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("fits no smooth curves such as s(x)"),
        "{error}"
    );
}
