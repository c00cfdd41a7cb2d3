//! Successes among trials, each with log odds z.
//!
//! Score of a row: w (y − n σ(z)) x; curvature: w n σ(z)(1 − σ(z)) x x'.

use std::f64::consts::PI;

use rand_distr::{Binomial, Distribution as _};
use statrs::function::gamma::ln_gamma;

use super::notation::{Notation, comment};
use super::rows::{
    Curvature, FamilyRows, FewAux, LANES, Lane, MANY_LOOPS, ResponseScale, RowFamily, Terms,
    rows_with, value_or,
};
use super::{Definition, Derivatives, Distribution, FamilyError, Link, bernoulli};
use crate::design::{Design, ResponseUse};
use crate::numerics::arithmetic::Arithmetic;
use crate::numerics::elementary::exp_negative_of;
use crate::numerics::vector::Vector as _;
use ergodic_base::ChainRng;
use ergodic_base::special::{logistic_with, softplus};

/// Variance of the logistic distribution.
const LOGISTIC_VARIANCE: f64 = PI * PI / 3.0;

pub(super) const DEFINITION: Definition = Definition {
    id: "binomial",
    title: "Successes",
    kind: "Binomial",
    about: "successes among trials",
    quantity: "log odds of",
    response: ResponseUse::Outcome,
    check,
    link: Link::Logit,
    is_whole: true,
    latent_variance: Some(LOGISTIC_VARIANCE),
    auxiliaries: &[],
};

/// Successes among trials whose log odds are z.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome;

impl Distribution for Outcome {
    const START: Self = Self;

    fn draw(self, z: f64, trials: f64, rng: &mut ChainRng) -> f64 {
        Binomial::new(trials as u64, Link::Logit.inverse(z))
            .map_or(f64::NAN, |binomial| binomial.sample(rng) as f64)
    }

    #[inline]
    fn at(self, z: f64, y: f64, trials: f64) -> Derivatives {
        let p = Link::Logit.inverse(z);
        let weight = trials * p * Link::Logit.inverse(-z);
        Derivatives {
            log_p: y * z - trials * softplus(z),
            score: y - trials * p,
            weight,
            slope: weight * (1.0 - 2.0 * p),
        }
    }

    fn variance(self, z: f64, trials: f64) -> f64 {
        trials * Link::Logit.inverse(z) * Link::Logit.inverse(-z)
    }

    fn constant(self, y: f64, trials: f64) -> f64 {
        if trials == 1.0 {
            return 0.0;
        }
        ln_gamma(trials + 1.0) - ln_gamma(y + 1.0) - ln_gamma(trials - y + 1.0)
    }
}

/// Largest |σ''|, 1/(6 sqrt 3), at σ = (1 ± 1/sqrt 3)/2.
pub(super) const LARGEST_THIRD: f64 = 0.096_225_044_864_937_63;

#[inline(always)]
pub(super) fn exp_minus_abs<A: Arithmetic>(z: &Lane) -> Lane {
    let z = A::V::load(z);
    exp_negative_of(z.smaller(-z)).lane()
}

/// Rows with offset, successes, trials and weight after the covariates.
#[derive(Clone, Copy, Debug)]
pub struct WeightedBinomial;

impl RowFamily for WeightedBinomial {
    type Aux = FewAux;
    const EXTRA: usize = 4;
    const LOG_CONCAVE: bool = true;
    const WITHIN_LOOPS: bool = MANY_LOOPS;
    type Shared = ();

    fn shared(&self, _aux: &[f64]) {}

    #[inline(always)]
    fn terms<A: Arithmetic, const VALUE: bool>(
        z: &Lane,
        [_offset, y, trials, weight]: [&Lane; 4],
        (): &(),
    ) -> Terms {
        let e = exp_minus_abs::<A>(z);
        let (mut residual, mut sum) = ([0.0; LANES], [0.0; LANES]);
        for k in 0..LANES {
            residual[k] = weight[k] * A::mul_add(-trials[k], logistic_with(z[k], e[k]), y[k]);
            if VALUE {
                let log_one_plus_exp = z[k].max(0.0) + e[k].ln_1p();
                sum[k] = weight[k] * A::mul_add(y[k], z[k], -(trials[k] * log_one_plus_exp));
            }
        }
        Terms::of_none(residual, sum)
    }

    #[inline(always)]
    fn curvature<A: Arithmetic>(
        z: &Lane,
        [_offset, _y, trials, weight]: [&Lane; 4],
        (): &(),
    ) -> Curvature {
        let mut out = exp_minus_abs::<A>(z);
        for k in 0..LANES {
            let e = out[k];
            out[k] = weight[k] * trials[k] * e / ((1.0 + e) * (1.0 + e));
        }
        Curvature {
            zz: out,
            ..Curvature::default()
        }
    }

    fn bounds(extra: &[f64]) -> [f64; 2] {
        let (y, trials, weight) = (extra[1], extra[2], extra[3]);
        [weight * y.max(trials - y), 0.25 * weight * trials]
    }

    fn third_bound(extra: &[f64]) -> f64 {
        LARGEST_THIRD * extra[2] * extra[3]
    }

    fn outcome(&self, (): &()) -> super::Outcome {
        super::Outcome::Binomial(Outcome)
    }
}

/// Refuses outcomes without a number of trials.
fn check(design: &Design) -> Result<(), FamilyError> {
    if design.trials.is_some() {
        return Ok(());
    }
    Err(FamilyError::NoTrials {
        response: design.response.name.clone(),
        instead: bernoulli::DEFINITION.id,
    })
}

pub(super) fn rows(design: &Design) -> Result<FamilyRows<WeightedBinomial>, FamilyError> {
    Ok(weighted_rows(design))
}

/// Rows of any design, with one trial where their number is not given.
pub(crate) fn weighted_rows(design: &Design) -> FamilyRows<WeightedBinomial> {
    FamilyRows {
        family: WeightedBinomial,
        data: rows_with(design, |i| {
            [
                value_or(&design.offset, i, 0.0),
                design.y[i],
                value_or(&design.trials, i, 1.0),
                value_or(&design.weights, i, 1.0),
            ]
        }),
        response: ResponseScale::LINK,
    }
}

pub(super) fn notation(design: &Design) -> Notation {
    let name = &design.response.name;
    Notation {
        predicted: format!("The log odds of a success among the trials that `{name}` counts"),
        given: "Successes among trials are binomial.".to_owned(),
        response: vec![
            format!("{name}[i] ~ binomial(trials[i], p[i])"),
            "logit(p[i]) = eta[i]".to_owned(),
        ],
        stan_data: vec![
            format!("array[N] int<lower=0> y;  // successes: {}", comment(name)),
            "array[N] int<lower=1> trials;".to_owned(),
        ],
        stan_functions: Vec::new(),
        stan_density: "binomial_logit",
        stan_arguments: vec!["trials[]".to_owned(), "eta[]".to_owned()],
        r_response: Vec::new(),
        brms_family: "binomial()",
    }
}
