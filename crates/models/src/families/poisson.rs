//! Poisson counts: the logarithm of the mean μ is z.
//!
//! Score of a row: w (y − μ) x; curvature: w μ x x'. The log likelihood holds log y! too, so values per row are those of the
//! distribution. A row of weight w counts as w rows.

use rand_distr::{Distribution as _, Poisson};
use statrs::function::gamma::ln_gamma;

use super::notation::{Notation, comment};
use super::rows::{
    Curvature, FamilyRows, FewAux, Fit, LANES, Lane, MANY_LOOPS, ResponseScale, RowFamily, Terms,
    rows_with, value_or,
};
use super::{Definition, Derivatives, Distribution, FamilyError, Link, any};
use crate::design::{Design, Remark, ResponseUse};
use crate::numerics::arithmetic::Arithmetic;
use crate::numerics::elementary::{exp, exp_of};
use crate::numerics::vector::Vector as _;
use ergodic_base::{ChainRng, Reporter};

/// Pearson's statistic per degree of freedom from which a remark is made: intervals are then a fifth too narrow.
const OVERDISPERSED: f64 = 1.5;

pub(super) const DEFINITION: Definition = Definition {
    id: "poisson",
    title: "Poisson",
    kind: "Poisson",
    about: "counts whose variance is their mean",
    quantity: "log of the expected",
    response: ResponseUse::Count,
    check: any,
    link: Link::Log,
    is_whole: true,
    latent_variance: None,
    auxiliaries: &[],
};

/// Counts whose mean has the logarithm z.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome;

impl Distribution for Outcome {
    const START: Self = Self;

    fn draw(self, z: f64, _trials: f64, rng: &mut ChainRng) -> f64 {
        count(z.exp(), rng)
    }

    #[inline]
    fn at(self, z: f64, y: f64, _trials: f64) -> Derivatives {
        let mean = z.exp();
        Derivatives {
            log_p: y * z - mean,
            score: y - mean,
            weight: mean,
            slope: mean,
        }
    }

    fn variance(self, z: f64, _trials: f64) -> f64 {
        z.exp()
    }

    fn constant(self, y: f64, _trials: f64) -> f64 {
        -ln_gamma(y + 1.0)
    }
}

/// A count with this mean.
pub(super) fn count(mean: f64, rng: &mut ChainRng) -> f64 {
    Poisson::new(mean).map_or(mean, |poisson| poisson.sample(rng))
}

/// Rows with offset, count, weight and −w log y! after the covariates.
#[derive(Clone, Copy, Debug)]
pub struct PoissonCounts;

impl RowFamily for PoissonCounts {
    type Aux = FewAux;
    const EXTRA: usize = 4;
    const LOG_CONCAVE: bool = true;
    const WITHIN_LOOPS: bool = MANY_LOOPS;
    type Shared = ();

    fn shared(&self, _aux: &[f64]) {}

    #[inline(always)]
    fn terms<A: Arithmetic, const VALUE: bool>(
        z: &Lane,
        [_offset, y, weight, constant]: [&Lane; 4],
        (): &(),
    ) -> Terms {
        let [z, y, weight, constant] = A::V::load_all([z, y, weight, constant]);
        let mean = exp_of(z);
        let mut sum = A::V::splat(0.0);
        if VALUE {
            sum = weight.mul_add(y.mul_add(z, -mean), constant);
        }
        Terms::of_none((weight * (y - mean)).lane(), sum.lane())
    }

    #[inline(always)]
    fn curvature<A: Arithmetic>(
        z: &Lane,
        [_offset, _y, weight, _constant]: [&Lane; 4],
        (): &(),
    ) -> Curvature {
        let mut zz = exp::<A>(z);
        for k in 0..LANES {
            zz[k] *= weight[k];
        }
        Curvature {
            zz,
            ..Curvature::default()
        }
    }

    fn outcome(&self, (): &()) -> super::Outcome {
        super::Outcome::Poisson(Outcome)
    }

    fn remark(fit: &Fit<'_>, reporter: &mut Reporter) {
        let design = fit.design;
        let (mut statistic, mut rows) = (0.0, 0.0);
        for (i, (z, y)) in fit.predictors.iter().zip(&design.y).enumerate() {
            let (mean, weight) = (z.exp(), value_or(&design.weights, i, 1.0));
            statistic += weight * (y - mean).powi(2) / mean;
            rows += weight;
        }
        let ratio = statistic / (rows - design.num_columns() as f64);
        if rows > design.num_columns() as f64 && ratio > OVERDISPERSED {
            let response = design.response.name.clone();
            reporter.report(Remark::Overdispersed { response, ratio });
        }
    }
}

/// Offset, count, weight and −w log y! of row `i`.
fn count_row(design: &Design, i: usize) -> [f64; 4] {
    let (y, weight) = (design.y[i], value_or(&design.weights, i, 1.0));
    let offset = value_or(&design.offset, i, 0.0);
    [offset, y, weight, -weight * ln_gamma(y + 1.0)]
}

pub(super) fn rows(design: &Design) -> Result<FamilyRows<PoissonCounts>, FamilyError> {
    Ok(count_rows(PoissonCounts, design))
}

/// Rows of counts.
pub(super) fn count_rows<F>(family: F, design: &Design) -> FamilyRows<F> {
    FamilyRows {
        family,
        data: rows_with(design, |i| count_row(design, i)),
        response: ResponseScale::log_of(design),
    }
}

pub(super) fn notation(design: &Design) -> Notation {
    let name = &design.response.name;
    Notation {
        predicted: format!("The logarithm of the expected `{name}`"),
        given: format!("`{name}` is a Poisson count, whose variance is its mean."),
        response: vec![
            format!("{name}[i] ~ poisson(mu[i])"),
            "log(mu[i]) = eta[i]".to_owned(),
        ],
        stan_data: vec![format!("array[N] int<lower=0> y;  // {}", comment(name))],
        stan_functions: Vec::new(),
        stan_density: "poisson_log",
        stan_arguments: vec!["eta[]".to_owned()],
        r_response: Vec::new(),
        brms_family: "poisson()",
    }
}
