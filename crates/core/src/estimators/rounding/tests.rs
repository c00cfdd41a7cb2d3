//! The shift against two searches for the mode, and draws from both posteriors.

use std::sync::Arc;

use ndarray::Array2;
use rand::RngExt as _;
use rand_distr::StandardNormal;

use super::*;
use crate::design::{Design, ResponseKind};
use crate::estimators::find_mode;
use crate::models::{ModelOptions, Storage, find};
use crate::samplers::testing::{Chain, Run, estimate, exact_oracle};
use crate::testing::{binary, plain_design};
use ergodic_base::{Control, Purpose, Severity, stream};

const ROWS: usize = 203;

/// An intercept and two predictors of yes or no, or of numbers; the first predictor is `level` of its standard deviations from 0.
fn design(numbers: bool, level: f64) -> Arc<Design> {
    let mut rng = stream(71, 0, Purpose::Data);
    let mut x = Array2::ones((ROWS, 3));
    let mut y = Vec::new();
    for mut x in x.rows_mut() {
        let [first, second, noise]: [f64; 3] = std::array::from_fn(|_| rng.sample(StandardNormal));
        (x[1], x[2]) = (first + level, second);
        let mean = 0.9 * first - 0.6 * second;
        y.push(match numbers {
            true => mean + noise,
            false => f64::from(u8::from(mean + 1.7 * noise > -0.3)),
        });
    }
    let kind = match numbers {
        true => ResponseKind::Number {
            mean: 0.0,
            sd: 1.0,
            range: [-9.0, 9.0],
            function: None,
        },
        false => binary(),
    };
    Arc::new(plain_design(x, y, kind))
}

/// The model of `template` under flat priors, with its mode.
fn found(template: &str, design: &Arc<Design>, storage: Storage) -> (Arc<dyn Model>, Centre) {
    let options = ModelOptions {
        storage,
        priors: ["b", "intercept"]
            .map(|key| (key.to_owned(), "flat".to_owned()))
            .into(),
        standardize: true,
        ..ModelOptions::default()
    };
    let model = (find(template).unwrap().build)(Arc::clone(design), &options).unwrap();
    let mode = find_mode(model.as_ref(), &Control::default()).unwrap();
    (model, mode.centre)
}

/// The largest shift between the modes of both, in posterior standard deviations, with its parameter.
fn between(template: &str, design: &Arc<Design>) -> Shift {
    let (exact, there) = found(template, design, Storage::F64);
    let (rounded, here) = found(template, design, Storage::F32);
    let count = exact.params().len();
    let [mut before, mut after] = [vec![0.0; count], vec![0.0; count]];
    rounded.constrain(&here.u, &mut before);
    exact.constrain(&there.u, &mut after);
    let slopes = whitened_slopes(rounded.as_ref(), &here);
    let shifts = (0..count).map(|j| {
        let slopes = &slopes[j * here.u.len()..][..here.u.len()];
        Shift {
            parameter: rounded.params()[j].name.clone(),
            sds: (after[j] - before[j]).abs() / dot(slopes, slopes).sqrt(),
        }
    });
    shifts.max_by(|a, b| a.sds.total_cmp(&b.sds)).unwrap()
}

#[test]
fn the_shift_is_that_between_the_modes() {
    for (template, numbers) in [("logistic", false), ("linear", true)] {
        let design = design(numbers, 1e5);
        let (exact, _) = found(template, &design, Storage::F64);
        let (rounded, centre) = found(template, &design, Storage::F32);
        let shift = largest_shift(rounded.as_ref(), exact.as_ref(), &centre).unwrap();
        let expected = between(template, &design);
        assert!(
            (1e-4..0.3).contains(&expected.sds),
            "{template}: {expected:?}"
        );
        assert!(
            (shift.sds / expected.sds - 1.0).abs() < 0.02,
            "{template}: {shift:?} {expected:?}"
        );
    }
}

#[test]
fn standard_deviations_of_coordinates_are_lengths_of_slopes() {
    let design = design(true, 0.0);
    let (model, centre) = found("linear", &design, Storage::F64);
    let (dim, slopes) = (centre.u.len(), whitened_slopes(model.as_ref(), &centre));
    let sds = centre.sds();
    let mut theta = vec![0.0; dim];
    model.constrain(&centre.u, &mut theta);
    // A slope is its coordinate in another unit; sigma is the exponential of its own.
    for (j, slopes) in slopes.chunks_exact(dim).enumerate().skip(1) {
        let unit = if j + 1 < dim {
            theta[j] / centre.u[j]
        } else {
            theta[j]
        };
        let expected = (unit * sds[j]).abs();
        let found = dot(slopes, slopes).sqrt();
        assert!(
            (found / expected - 1.0).abs() < 1e-5,
            "{j}: {found} {expected}"
        );
    }
}

#[test]
fn numbers_that_single_precision_holds_do_not_move_estimates() {
    let mut exact = design(false, 3.0);
    let columns = &mut Arc::make_mut(&mut exact).x;
    columns.mapv_inplace(|x| f64::from(x as f32));
    let (rounded, centre) = found("logistic", &exact, Storage::F32);
    let other = || Ok::<_, ()>(found("logistic", &exact, Storage::F64).0);
    let words = remark(rounded.as_ref(), Some(&centre), other).unwrap();
    assert!(matches!(
        words.remark(),
        Some(Remark::Harmless { shift }) if shift.sds == 0.0
    ));
}

/// Centred and scaled columns lose nothing that a posterior could show. A column of a thousand million plus numbers with a standard
/// deviation of a thousand, which without an intercept is scaled and not centred, does.
#[test]
fn what_moves_estimates_is_a_warning() {
    let (usual, far) = (design(false, 0.0), design(false, 1e6));
    let words = [&usual, &far].map(|design| {
        let (rounded, centre) = found("logistic", design, Storage::F32);
        let exact = || Ok::<_, ()>(found("logistic", design, Storage::F64).0);
        remark(rounded.as_ref(), Some(&centre), exact).unwrap()
    });
    assert_eq!(words[0].severity, Severity::Info, "{}", words[0]);
    assert_eq!(words[1].severity, Severity::Watch, "{}", words[1]);
    assert!(words[1].to_string().contains("leave `data.storage` out"));
    let Some(Remark::Harmless { shift }) = words[0].remark() else {
        panic!("{}", words[0]);
    };
    assert!(shift.sds > 0.0 && shift.sds < 1e-5, "{shift:?}");
    let (rounded, _) = found("logistic", &usual, Storage::F32);
    let unknown = remark(rounded.as_ref(), None, || Err(())).unwrap();
    assert!(matches!(unknown.remark(), Some(Remark::Unknown {})));
}

#[test]
fn draws_of_both_posteriors_agree() {
    let design = design(false, 0.0);
    let chains = |storage, seed| -> Vec<_> {
        let (model, centre) = found("logistic", &design, storage);
        let centre = Arc::new(centre);
        let oracle = || exact_oracle(Arc::clone(&model), Some(Arc::clone(&centre)));
        (seed..seed + 2)
            .map(|seed| Run::new("nuts").seed(seed).go(oracle(), 200, 1000))
            .collect()
    };
    let (double, single) = (chains(Storage::F64, 1), chains(Storage::F32, 3));
    for j in 0..3 {
        let of = |chains: &[Chain], power: i32| {
            let values = chains.iter().map(|chain| {
                let draws = chain.coordinate(j);
                draws.iter().map(|x| x.powi(power)).collect::<Vec<_>>()
            });
            estimate(&values.collect::<Vec<_>>())
        };
        for power in [1, 2] {
            let ((a, error_a), (b, error_b)) = (of(&double, power), of(&single, power));
            let allowed = 4.0 * error_a.hypot(error_b);
            assert!(
                (a - b).abs() < allowed && allowed < 0.1,
                "{j}: {a} {b} {allowed}"
            );
        }
    }
}
