//! Yes or no with log odds z: one trial of the binomial family.
//!
//! Rows of a plain regression are stored multiplied by their sign s = 2y − 1, so that log p = −log(1 + exp(−s z)) needs no
//! response: one stretch of memory per row.

use super::binomial::{LARGEST_THIRD, WeightedBinomial, exp_minus_abs, weighted_rows};
use super::notation::{Notation, comment, quoted};
use super::rows::{
    Curvature, Factors, FamilyRows, FewAux, LANES, Lane, MANY_LOOPS, MAX_AUX, ResponseScale,
    RowFamily, Terms, laid_out,
};
use super::{Definition, FamilyError, binomial};
use crate::design::{Design, ResponseKind};
use crate::formula::quote_name;
use crate::numerics::arithmetic::Arithmetic;
use crate::numerics::pages::Pages;
use crate::numerics::vector::Vector as _;

pub use super::binomial::Outcome;

pub(super) const DEFINITION: Definition = Definition {
    id: "bernoulli",
    title: "Yes/no",
    kind: "Logistic",
    about: "two values",
    check,
    ..binomial::DEFINITION
};

/// Bernoulli rows multiplied by s = 2y − 1.
#[derive(Clone, Copy, Debug)]
pub struct SignedBernoulli;

impl RowFamily for SignedBernoulli {
    type Aux = FewAux;
    const EXTRA: usize = 0;
    const OFFSET: bool = false;
    const FACTORS: Factors = Factors::UpToTwo;
    const LOG_CONCAVE: bool = true;
    const WITHIN_LOOPS: bool = true;
    type Shared = ();

    fn shared(&self, _aux: &[f64]) {}

    #[inline(always)]
    fn terms<A: Arithmetic, const VALUE: bool>(z: &Lane, _extra: [&Lane; 4], (): &()) -> Terms {
        let (e, z) = (A::V::load(&exp_minus_abs::<A>(z)), A::V::load(z));
        let (zero, one) = (A::V::splat(0.0), A::V::splat(1.0));
        let factor = one + e;
        Terms {
            residual: (z.where_less(zero, one, e) / factor).lane(),
            aux: [[0.0; LANES]; MAX_AUX],
            sum: z.smaller(zero).lane(),
            factor: factor.lane(),
        }
    }

    #[inline(always)]
    fn curvature<A: Arithmetic>(z: &Lane, _extra: [&Lane; 4], (): &()) -> Curvature {
        let mut out = exp_minus_abs::<A>(z);
        for e in &mut out {
            *e /= (1.0 + *e) * (1.0 + *e);
        }
        Curvature {
            zz: out,
            ..Curvature::default()
        }
    }

    fn bounds(_extra: &[f64]) -> [f64; 2] {
        [1.0, 0.25]
    }

    fn third_bound(_extra: &[f64]) -> f64 {
        LARGEST_THIRD
    }

    fn outcome(&self, (): &()) -> super::Outcome {
        super::Outcome::Bernoulli(Outcome)
    }
}

/// Bernoulli rows with their offset after the covariates, all multiplied by s = 2y − 1.
#[derive(Clone, Copy, Debug)]
pub struct OffsetBernoulli;

impl RowFamily for OffsetBernoulli {
    type Aux = FewAux;
    const EXTRA: usize = 1;
    const FACTORS: Factors = SignedBernoulli::FACTORS;
    const LOG_CONCAVE: bool = true;
    const WITHIN_LOOPS: bool = MANY_LOOPS;
    type Shared = ();

    fn shared(&self, _aux: &[f64]) {}

    #[inline(always)]
    fn terms<A: Arithmetic, const VALUE: bool>(z: &Lane, extra: [&Lane; 4], (): &()) -> Terms {
        SignedBernoulli::terms::<A, VALUE>(z, extra, &())
    }

    #[inline(always)]
    fn curvature<A: Arithmetic>(z: &Lane, extra: [&Lane; 4], (): &()) -> Curvature {
        SignedBernoulli::curvature::<A>(z, extra, &())
    }

    fn bounds(extra: &[f64]) -> [f64; 2] {
        SignedBernoulli::bounds(extra)
    }

    fn third_bound(extra: &[f64]) -> f64 {
        SignedBernoulli::third_bound(extra)
    }

    fn outcome(&self, (): &()) -> super::Outcome {
        SignedBernoulli.outcome(&())
    }
}

/// Rows of a design without trials, weights and offset.
pub(crate) fn signed(design: &Design) -> Result<FamilyRows<SignedBernoulli>, FamilyError> {
    Ok(FamilyRows {
        family: SignedBernoulli,
        data: signed_rows(design),
        response: ResponseScale::LINK,
    })
}

pub(crate) fn signed_rows(design: &Design) -> Pages<f64> {
    laid_out(design, 0, |i, x, row| {
        let sign = 2.0 * design.y[i] - 1.0;
        row.iter_mut().zip(x).for_each(|(to, x)| *to = sign * x);
    })
}

/// Refuses successes among trials.
fn check(design: &Design) -> Result<(), FamilyError> {
    if design.trials.is_none() {
        return Ok(());
    }
    Err(FamilyError::Trials {
        response: design.response.name.clone(),
        instead: binomial::DEFINITION.id,
    })
}

pub(super) fn rows(design: &Design) -> Result<FamilyRows<WeightedBinomial>, FamilyError> {
    Ok(weighted_rows(design))
}

pub(super) fn notation(design: &Design) -> Notation {
    let name = &design.response.name;
    let quoted_name = quote_name(name);
    let ResponseKind::Binary { success, .. } = &design.response.kind else {
        return binomial::notation(design);
    };
    Notation {
        predicted: format!("The log odds that `{name}` is `{success}`"),
        given: String::new(),
        response: vec![
            format!("[{name}[i] = {success}] ~ bernoulli(p[i])"),
            "logit(p[i]) = eta[i]".to_owned(),
        ],
        stan_data: vec![format!(
            "array[N] int<lower=0, upper=1> y;  // {}",
            comment(&format!("1 where {name} is {success}"))
        )],
        stan_functions: Vec::new(),
        stan_density: "bernoulli_logit",
        stan_arguments: vec!["eta[]".to_owned()],
        r_response: vec![format!(
            "data${quoted_name} <- as.integer(data${quoted_name} == {})",
            quoted(success)
        )],
        brms_family: "bernoulli()",
    }
}
