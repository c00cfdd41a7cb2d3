//! Designs of regressions whose responses are drawn.

use ndarray::Array2;
use rand::RngExt as _;
use rand_distr::{Binomial, Distribution as _, Poisson, StandardNormal};

use super::plain_design;
use crate::design::{Design, ResponseKind};
use ergodic_base::{Purpose, stream};

/// What a test design has besides covariates and a response.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shape {
    pub trials: bool,
    pub weights: bool,
    pub offset: bool,
    pub no_intercept: bool,
}

/// Rows of the test designs: not a multiple of the rows handled together.
pub const NUM_OBS: usize = 203;

/// A design with three predictors on odd scales, responses drawn from a logistic model.
pub fn design(shape: Shape, num_obs: usize) -> Design {
    let mut rng = stream(61, 0, Purpose::Data);
    let first = usize::from(!shape.no_intercept);
    let columns = 3 + first;
    let (center, scale) = ([2.0, -30.0, 0.5], [0.5, 12.0, 1e-2]);
    let mut x = Array2::<f64>::ones((num_obs, columns));
    let (mut y, mut trials, mut weights, mut offset) = (vec![], vec![], vec![], vec![]);
    for mut row in x.rows_mut() {
        let mut z = -0.3;
        for j in first..columns {
            row[j] = rng.sample(StandardNormal);
            z += 0.6 * row[j];
        }
        let o = if shape.offset {
            rng.random_range(-1.0..1.0)
        } else {
            0.0
        };
        let n: u32 = if shape.trials {
            rng.random_range(1..9)
        } else {
            1
        };
        let p = 1.0 / (1.0 + f64::exp(-z - o));
        y.push(Binomial::new(u64::from(n), p).unwrap().sample(&mut rng) as f64);
        trials.push(f64::from(n));
        weights.push(rng.random_range(0.0..3.0));
        offset.push(o);
    }
    let terms = ["Intercept", "age", "income", "dose"];
    let raw = |values: [f64; 3], intercept: f64| {
        let mut out = if first == 1 { vec![intercept] } else { vec![] };
        out.extend(values);
        out
    };
    Design {
        // Without an intercept columns are scaled but not centred.
        raw_center: raw(if first == 1 { center } else { [0.0; 3] }, 0.0),
        raw_scale: raw(scale, 1.0),
        terms: terms[1 - first..].iter().map(|&term| term.into()).collect(),
        has_intercept: first == 1,
        trials: shape.trials.then_some(trials),
        weights: shape.weights.then_some(weights),
        offset: shape.offset.then_some(offset),
        ..plain_design(x, y, ResponseKind::Successes)
    }
}

/// A design with a response of numbers on an odd scale, or of overdispersed counts.
pub fn measured_design(counts: bool, shape: Shape, num_obs: usize) -> Design {
    let mut design = design(shape, num_obs);
    let mut rng = stream(64, 0, Purpose::Data);
    let first = usize::from(design.has_intercept);
    let mut y = Vec::with_capacity(num_obs);
    for (i, x) in design.x.rows().into_iter().enumerate() {
        let slopes: f64 = x.iter().skip(first).map(|x| 0.4 * x).sum();
        let noise: f64 = rng.sample(StandardNormal);
        y.push(if counts {
            let offset = design.offset.as_ref().map_or(0.0, |offset| offset[i]);
            Poisson::new((1.2 + slopes + offset + 0.7 * noise).exp())
                .unwrap()
                .sample(&mut rng)
        } else {
            2.4 + 0.3 * (slopes + noise)
        });
    }
    let total: f64 = y.iter().sum();
    let largest = y.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    design.response.kind = if counts {
        ResponseKind::Count { total, largest }
    } else {
        ResponseKind::Number {
            mean: total / num_obs as f64,
            sd: 0.3,
            range: [0.0, largest],
            function: None,
        }
    };
    design.y = y;
    design
}
