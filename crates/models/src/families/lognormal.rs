//! Lognormal responses, positive numbers whose logarithm is normal: log y ~ Normal(z, σ²). The median is e^z, the mean
//! e^(z + σ²/2), so that e^b is a ratio of medians as well as of means.
//!
//! Rows are those of normal responses log y less their offset, of which the density is that of log y times 1/y. With
//! r = log y − z and a = log σ: ∂/∂a = r²/σ² − 1; of the score r/σ² it is −2r/σ², of the weight 1/σ² −2/σ².
//!
//! Default prior of σ: half_student_t(3, 0, 1), with 95 % below 3.2; at 1 two in three responses are within a factor of 2.7 of
//! their median.

use rand_distr::{Distribution as _, StandardNormal};

use std::f64::consts::TAU;

use super::censoring::{self, LogScale, Place, normal_tail};
use super::gamma::{above_zero, positive_numbers};
use super::gaussian::{Normal, Sigma};
use super::notation::Notation;
use super::rows::{
    Curvature, FamilyRows, FewAux, Lane, MANY_LOOPS, MAX_AUX, ResponseScale, RowFamily, Terms,
    rows_with, value_or,
};
use super::{
    Auxiliary, Coordinates, Definition, Derivatives, Distribution, FamilyError, Link, Support,
};
use crate::design::censoring::Censoring;
use crate::design::{Design, ResponseUse};
use crate::numerics::arithmetic::Arithmetic;
use ergodic_base::ChainRng;

pub(super) const DEFINITION: Definition = Definition {
    id: "lognormal",
    title: "Lognormal",
    kind: "Lognormal",
    about: "positive numbers whose logarithm is normal",
    quantity: "log of the median",
    response: ResponseUse::Number,
    check: |design| above_zero(design, "lognormal"),
    link: Link::Log,
    is_whole: false,
    latent_variance: Some(0.0),
    auxiliaries: &[Auxiliary {
        name: "sigma",
        what: "standard deviation of the logarithm",
        meaning: |design| {
            format!(
                "standard deviation of the logarithm of {}",
                design.response.name
            )
        },
        support: Support::Above(0.0),
        has_unit: false,
        prior: "half_student_t(3, 0, 1)",
    }],
};

/// Positive numbers whose logarithm is normal around z.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    sigma: f64,
}

impl Distribution for Outcome {
    const COORDINATES: usize = 1;
    const START: Self = Self { sigma: 1.0 };

    fn draw(self, z: f64, _trials: f64, rng: &mut ChainRng) -> f64 {
        let noise: f64 = StandardNormal.sample(rng);
        // Neither 0 nor infinity has a density.
        (z + self.sigma * noise)
            .exp()
            .clamp(f64::MIN_POSITIVE, f64::MAX)
    }

    #[inline]
    fn at(self, z: f64, y: f64, known: f64) -> Derivatives {
        let status = Censoring::of(known);
        if status != Censoring::Seen {
            return censoring::derivatives(&Sigma::of(self.sigma), z, y, status);
        }
        let weight = 1.0 / (self.sigma * self.sigma);
        let r = y.ln() - z;
        Derivatives {
            log_p: -0.5 * weight * r * r,
            score: weight * r,
            weight,
            slope: 0.0,
        }
    }

    fn variance(self, z: f64, _known: f64) -> f64 {
        let variance = self.sigma * self.sigma;
        (2.0 * z + variance).exp() * variance.exp_m1()
    }

    fn constant(self, y: f64, known: f64) -> f64 {
        if Censoring::of(known) != Censoring::Seen {
            return 0.0;
        }
        -0.5 * TAU.ln() - self.sigma.ln() - y.ln()
    }

    fn mean_factor(self) -> f64 {
        (0.5 * self.sigma * self.sigma).exp()
    }

    fn coordinates(self) -> Coordinates {
        [self.sigma.ln(), 0.0]
    }

    fn with_coordinates(self, [log_sigma, _]: Coordinates) -> Self {
        Self {
            sigma: log_sigma.exp(),
        }
    }

    fn in_coordinates(self, z: f64, y: f64, known: f64) -> [[f64; 3]; MAX_AUX] {
        let status = Censoring::of(known);
        if status != Censoring::Seen {
            let of_one = censoring::in_coordinate(&Sigma::of(self.sigma), z, y, status);
            return [of_one, [0.0; 3]];
        }
        let weight = 1.0 / (self.sigma * self.sigma);
        let r = y.ln() - z;
        let of_one = [weight * r * r - 1.0, -2.0 * weight * r, -2.0 * weight];
        [of_one, [0.0; 3]]
    }
}

impl LogScale for Sigma {
    #[inline]
    fn place(&self, z: f64, log_y: f64) -> Place {
        let steps = self.precision.sqrt();
        let v = steps * (log_y - z);
        Place {
            v,
            z: -steps,
            a: -v,
            za: steps,
            aa: v,
        }
    }

    #[inline]
    fn tail(v: f64, status: Censoring) -> [f64; 4] {
        normal_tail(v, status)
    }
}

/// Rows with log y less the offset, weight and the constant of the density times the weight.
#[derive(Clone, Copy, Debug)]
pub struct NormalLogarithms;

impl RowFamily for NormalLogarithms {
    type Aux = FewAux;
    const EXTRA: usize = Normal::EXTRA;
    const OFFSET: bool = Normal::OFFSET;
    const AUX: usize = Normal::AUX;
    const LOG_CONCAVE: bool = Normal::LOG_CONCAVE;
    const NORMAL: bool = Normal::NORMAL;
    const WITHIN_LOOPS: bool = MANY_LOOPS;
    type Shared = Sigma;

    fn shared(&self, aux: &[f64]) -> Sigma {
        Normal.shared(aux)
    }

    #[inline(always)]
    fn terms<A: Arithmetic, const VALUE: bool>(
        z: &Lane,
        extra: [&Lane; 4],
        sigma: &Sigma,
    ) -> Terms {
        Normal::terms::<A, VALUE>(z, extra, sigma)
    }

    #[inline(always)]
    fn curvature<A: Arithmetic>(z: &Lane, extra: [&Lane; 4], sigma: &Sigma) -> Curvature {
        Normal::curvature::<A>(z, extra, sigma)
    }

    fn outcome(&self, sigma: &Sigma) -> super::Outcome {
        super::Outcome::Lognormal(Outcome { sigma: sigma.sd() })
    }
}

pub(super) fn rows(design: &Design) -> Result<FamilyRows<NormalLogarithms>, FamilyError> {
    Ok(FamilyRows {
        family: NormalLogarithms,
        data: rows_with(design, |i| {
            let weight = value_or(&design.weights, i, 1.0);
            let log_y = design.y[i].ln();
            let constant = -weight * (0.5 * TAU.ln() + log_y);
            [log_y - value_or(&design.offset, i, 0.0), weight, constant]
        }),
        response: ResponseScale::log_of(design),
    })
}

pub(super) fn notation(design: &Design) -> Notation {
    let name = &design.response.name;
    let own = Notation {
        predicted: format!("The logarithm of the median `{name}`"),
        given: format!(
            "The logarithm of `{name}` varies around this normally with standard deviation `sigma`; the mean is the median times \
             exp(`sigma`²/2)."
        ),
        response: vec![format!(
            "{name}[i] ~ lognormal(eta[i], sigma), with mean exp(eta[i] + sigma²/2)"
        )],
        stan_density: "lognormal",
        stan_arguments: vec!["eta[]".to_owned(), "sigma".to_owned()],
        brms_family: "lognormal()",
        ..positive_numbers(design)
    };
    censoring::notation(design, "lognormal", "lognormal_censored", own)
}
