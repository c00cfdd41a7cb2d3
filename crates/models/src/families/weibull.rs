//! Weibull responses, positive numbers such as times: the logarithm of the mean is z, as in brms. With α the shape the scale is
//! s = e^z/Γ(1 + 1/α), and y^α is exponential; below 1 the hazard falls with y, above 1 it rises.
//!
//! log p = log α − log y + v − r with v = α log(y/s) = α (log y − z + log Γ(1 + 1/α)) and r = e^v. With a = log α and
//! d = ∂v/∂a = v − ψ(1 + 1/α), of which the derivative is e = d + ψ'(1 + 1/α)/α:
//! ∂/∂z = α (r − 1), ∂/∂a = 1 + d (1 − r); −∂²/∂z² = α² r, −∂²/∂z∂a = −α (r − 1 + r d), −∂²/∂a² = d² r − e (1 − r). A row of
//! weight w counts as w rows.
//!
//! Default prior of the shape: lognormal(0.5, 1), with 95 % between 0.23 and 12: from a standard deviation of thirteen times the
//! mean to one of a tenth.

use rand_distr::{Distribution as _, Exp1};
use statrs::function::gamma::{digamma, ln_gamma};

use super::censoring::{self, LogScale, Place};
use super::gamma::{above_zero, log_rows, positive_numbers};
use super::notation::Notation;
use super::rows::{Curvature, FamilyRows, FewAux, LANES, Lane, MAX_AUX, RowFamily, Terms};
use super::{
    Auxiliary, Coordinates, Definition, Derivatives, Distribution, FamilyError, Link, Support,
};
use crate::design::censoring::Censoring;
use crate::design::{Design, ResponseUse};
use crate::numerics::arithmetic::Arithmetic;
use crate::numerics::elementary::exp;
use ergodic_base::ChainRng;
use ergodic_base::special::trigamma;

pub(super) const DEFINITION: Definition = Definition {
    id: "weibull",
    title: "Weibull",
    kind: "Weibull",
    about: "times and other positive numbers whose hazard rises or falls",
    quantity: "log of the expected",
    response: ResponseUse::Number,
    check: |design| above_zero(design, "weibull"),
    link: Link::Log,
    is_whole: false,
    latent_variance: None,
    auxiliaries: &[Auxiliary {
        name: "shape",
        what: "shape of the Weibull distribution",
        meaning: |design| {
            let name = &design.response.name;
            format!("shape of the Weibull distribution of {name}: above 1 its hazard rises")
        },
        support: Support::Above(0.0),
        has_unit: false,
        prior: "lognormal(0.5, 1)",
    }],
};

/// Positive numbers whose mean has the logarithm z, with a hazard that goes as y^(shape − 1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    shape: Shape,
}

/// α and functions of it that all rows need.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    shape: f64,
    /// log α.
    log: f64,
    /// log Γ(1 + 1/α), the logarithm of the mean for a scale of 1.
    log_mean: f64,
    /// ψ(1 + 1/α).
    digamma: f64,
    /// ψ'(1 + 1/α)/α.
    bend: f64,
}

impl Shape {
    fn new(log: f64) -> Self {
        let shape = log.exp();
        let at = 1.0 + 1.0 / shape;
        Self {
            shape,
            log,
            log_mean: ln_gamma(at),
            digamma: digamma(at),
            bend: trigamma(at) / shape,
        }
    }

    /// v.
    #[inline(always)]
    fn power(&self, z: f64, log_y: f64) -> f64 {
        self.shape * (log_y - z + self.log_mean)
    }
}

impl Distribution for Outcome {
    const COORDINATES: usize = 1;
    const START: Self = Self {
        // 1 − γ and π²/6 − 1.
        shape: Shape {
            shape: 1.0,
            log: 0.0,
            log_mean: 0.0,
            digamma: 0.422_784_335_098_467_1,
            bend: 0.644_934_066_848_226_4,
        },
    };

    fn draw(self, z: f64, _trials: f64, rng: &mut ChainRng) -> f64 {
        let hazard: f64 = Exp1.sample(rng);
        let Shape {
            shape, log_mean, ..
        } = self.shape;
        let drawn = (z - log_mean + hazard.ln() / shape).exp();
        // Neither 0 nor infinity has a density.
        drawn.clamp(f64::MIN_POSITIVE, f64::MAX)
    }

    #[inline]
    fn at(self, z: f64, y: f64, known: f64) -> Derivatives {
        let status = Censoring::of(known);
        if status != Censoring::Seen {
            return censoring::derivatives(&self.shape, z, y, status);
        }
        let shape = self.shape.shape;
        let power = self.shape.power(z, y.ln());
        let ratio = power.exp();
        let weight = shape * shape * ratio;
        Derivatives {
            log_p: power - ratio,
            score: shape * (ratio - 1.0),
            weight,
            slope: -shape * weight,
        }
    }

    fn variance(self, z: f64, _known: f64) -> f64 {
        let Shape {
            shape, log_mean, ..
        } = self.shape;
        (2.0 * z).exp() * (ln_gamma(1.0 + 2.0 / shape) - 2.0 * log_mean).exp_m1()
    }

    fn constant(self, y: f64, known: f64) -> f64 {
        if Censoring::of(known) != Censoring::Seen {
            return 0.0;
        }
        self.shape.log - y.ln()
    }

    fn coordinates(self) -> Coordinates {
        [self.shape.log, 0.0]
    }

    fn with_coordinates(self, [log_shape, _]: Coordinates) -> Self {
        Self {
            shape: Shape::new(log_shape),
        }
    }

    fn in_coordinates(self, z: f64, y: f64, known: f64) -> [[f64; 3]; MAX_AUX] {
        let status = Censoring::of(known);
        if status != Censoring::Seen {
            let of_one = censoring::in_coordinate(&self.shape, z, y, status);
            return [of_one, [0.0; 3]];
        }
        let shape = self.shape.shape;
        let power = self.shape.power(z, y.ln());
        let ratio = power.exp();
        let turn = power - self.shape.digamma;
        let of_one = [
            1.0 + turn * (1.0 - ratio),
            shape * (ratio - 1.0 + ratio * turn),
            shape * shape * ratio * (2.0 + turn),
        ];
        [of_one, [0.0; 3]]
    }
}

/// y is below its value with chance 1 − e^−r and above it with e^−r. Of the former with q = r/(e^r − 1) the first derivative in v is q,
/// the second q (1 − r − q).
impl LogScale for Shape {
    #[inline]
    fn place(&self, z: f64, log_y: f64) -> Place {
        let v = self.power(z, log_y);
        let turn = v - self.digamma;
        Place {
            v,
            z: -self.shape,
            a: turn,
            za: -self.shape,
            aa: turn + self.bend,
        }
    }

    #[inline]
    fn tail(v: f64, status: Censoring) -> [f64; 4] {
        let r = v.exp();
        match status {
            Censoring::Seen => [v - r, 1.0 - r, -r, -r],
            Censoring::Right => [-r; 4],
            // What is above is 0 in arithmetic.
            Censoring::Left if r > NOTHING_ABOVE => [0.0; 4],
            // What is below is r.
            Censoring::Left if r == 0.0 => [v, 1.0, 0.0, 0.0],
            Censoring::Left => {
                let q = r / r.exp_m1();
                let rest = 1.0 - r - q;
                let bend = q * rest;
                let log_p = (-(-r).exp_m1()).ln();
                [log_p, q, bend, bend * rest - q * (r + bend)]
            }
        }
    }
}

/// See [`Shape::tail`]: e^700 is nearly the largest number, and e^−700 nothing beside 1.
const NOTHING_ABOVE: f64 = 700.0;

/// Rows with offset, response, weight and log y after the covariates.
#[derive(Clone, Copy, Debug)]
pub struct Times;

impl RowFamily for Times {
    type Aux = FewAux;
    const EXTRA: usize = 4;
    const AUX: usize = 1;
    const LOG_CONCAVE: bool = true;
    type Shared = Shape;

    fn shared(&self, aux: &[f64]) -> Shape {
        Shape::new(aux[0])
    }

    #[inline(always)]
    fn terms<A: Arithmetic, const VALUE: bool>(
        z: &Lane,
        [_offset, _y, weight, log_y]: [&Lane; 4],
        of: &Shape,
    ) -> Terms {
        let (power, ratio) = powers::<A>(z, log_y, of);
        let (mut residual, mut aux, mut sum) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        for k in 0..LANES {
            residual[k] = weight[k] * of.shape * (ratio[k] - 1.0);
            let turn = power[k] - of.digamma;
            aux[k] = weight[k] * A::mul_add(turn, 1.0 - ratio[k], 1.0);
            if VALUE {
                sum[k] = weight[k] * (of.log - log_y[k] + power[k] - ratio[k]);
            }
        }
        Terms::of_one(residual, aux, sum)
    }

    #[inline(always)]
    fn curvature<A: Arithmetic>(
        z: &Lane,
        [_offset, _y, weight, log_y]: [&Lane; 4],
        of: &Shape,
    ) -> Curvature {
        let (power, ratio) = powers::<A>(z, log_y, of);
        let mut out = Curvature::default();
        for k in 0..LANES {
            let (weight, ratio) = (weight[k], ratio[k]);
            let turn = power[k] - of.digamma;
            out.zz[k] = weight * of.shape * of.shape * ratio;
            out.za[0][k] = -weight * of.shape * (ratio - 1.0 + ratio * turn);
            out.aa[0][k] = weight * (turn * turn * ratio - (turn + of.bend) * (1.0 - ratio));
        }
        out
    }

    fn outcome(&self, of: &Shape) -> super::Outcome {
        super::Outcome::Weibull(Outcome { shape: *of })
    }
}

/// v and e^v.
#[inline(always)]
fn powers<A: Arithmetic>(z: &Lane, log_y: &Lane, of: &Shape) -> (Lane, Lane) {
    let mut power = [0.0; LANES];
    for k in 0..LANES {
        power[k] = of.power(z[k], log_y[k]);
    }
    let ratio = exp::<A>(&power);
    (power, ratio)
}

pub(super) fn rows(design: &Design) -> Result<FamilyRows<Times>, FamilyError> {
    Ok(log_rows(Times, design))
}

pub(super) fn notation(design: &Design) -> Notation {
    let name = &design.response.name;
    let own = Notation {
        given: format!(
            "`{name}` has a Weibull distribution; its hazard rises where `shape` is above 1."
        ),
        response: vec![
            format!("{name}[i] ~ weibull(shape, mu[i] / gamma(1 + 1/shape)), with mean mu[i]"),
            "log(mu[i]) = eta[i]".to_owned(),
        ],
        stan_density: "weibull",
        stan_arguments: vec![
            "shape".to_owned(),
            "exp(eta[] - lgamma(1 + 1 / shape))".to_owned(),
        ],
        brms_family: "weibull()",
        ..positive_numbers(design)
    };
    censoring::notation(design, "weibull", "weibull_censored", own)
}
