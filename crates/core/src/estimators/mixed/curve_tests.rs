//! Smooth curves by likelihood against R's mgcv (`tests/reference/smooths.R`), whose thin plate regression splines these are.

use super::fit::MixedFit;
use super::testing::Reference;
use super::{Criterion, Method, MixedData, fit_gaussian, fit_generalised};
use crate::design::Columns as _;
use crate::design::coding::Coding;
use crate::design::columns::{MemoryColumns, Values};
use crate::design::matrix::{Design, ModelFrame};
use crate::design::response::ResponseUse;
use crate::design::testing::{load_csv, reference};
use crate::families::Family;
use ergodic_base::control::Control;

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

/// Fitted values, the curve inside and outside of the range, slopes of other predictors, σ and the spread of groups, by REML. ML
/// differs: how much of a line the functions that bend have is no matter to REML, but to ML, which takes the coefficient of the line
/// as known; ours have none of it, those of mgcv some. Standard errors of these curves are 0.2, and more beyond the data.
#[test]
fn gaussian_fits_are_those_of_mgcv() {
    let there = Reference::of("smooths", "fits.csv");
    for (id, data, formula) in [
        ("waves", "waves", "y ~ z + s(x)"),
        ("waves-wide", "waves", "y ~ z + s(x, k = 25)"),
        ("waves-groups", "waves", "y ~ z + s(x) + (1 | g)"),
        ("doses", "doses", "y ~ s(x, k = 6)"),
    ] {
        let set = set(data, formula, ResponseUse::Number);
        for (criterion, word) in [(Criterion::Reml, "reml"), (Criterion::Ml, "ml")] {
            let id = format!("{id}:{word}");
            let control = Control::default();
            let fit = fit_gaussian(&set.data(), Method::Profile, criterion, &control).unwrap();
            let apart = set.apart(&fit, &there, &id);
            let exact = criterion == Criterion::Reml;
            assert!(apart < if exact { 1e-4 } else { 0.2 }, "{id}: {apart}");
            if !exact {
                continue;
            }
            let sigma = there.get(&id, "sigma", "");
            assert!((fit.sigma.unwrap() - sigma).abs() < 1e-5, "{id}: {sigma}");
            if let Some(z) = fit.fixed.iter().find(|effect| effect.name == "z") {
                let slope = there.get(&id, "coef", "z");
                assert!((z.estimate - slope).abs() < 1e-5, "{id}: {slope}");
            }
            for component in &fit.components {
                let sd = there.get(&id, "sd", "g");
                assert!((component.sd[0] - sd).abs() < 1e-4, "{id}: {sd}");
            }
            let [curve] = fit.curves.as_slice() else {
                panic!("{:?}", fit.curves);
            };
            assert_eq!((curve.name.as_str(), curve.along.as_str()), ("s(x)", "x"));
            assert!(curve.sd > 0.0 && curve.bends.len() == curve.bend_sds.len());
        }
    }
}

/// mgcv's ML of counts and Laplace's approximation here differ as ML of numbers does, and by the error of both approximations.
#[test]
fn a_fit_of_counts_is_near_that_of_mgcv() {
    let there = Reference::of("smooths", "fits.csv");
    let set = set("counts", "y ~ z + s(x)", ResponseUse::Count);
    let control = Control::default();
    let fit = fit_generalised(&set.data(), Family::Poisson, Method::Laplace, 1, &control).unwrap();
    let apart = set.apart(&fit, &there, "counts:ml");
    // Of the linear predictor; standard errors of the curve are 0.1, and more beyond the data.
    assert!(apart < 0.2, "{apart}");
    let slope = there.get("counts:ml", "coef", "z");
    assert!((fit.fixed[1].estimate - slope).abs() < 0.01, "{slope}");
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
