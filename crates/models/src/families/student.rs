//! Student-t responses: y = z + σ t with t Student-t of ν degrees of freedom.
//!
//! With t = (y − z)/σ and a = log σ, log p = f(t) − a + c(ν) where f(t) = −(ν + 1)/2 log(1 + t²/ν) and
//! c(ν) = ln Γ((ν + 1)/2) − ln Γ(ν/2) − log(νπ)/2. The coordinate of ν is b = log(ν − 1). Rows are not log-concave in z. A row of
//! weight w counts as w rows.

use std::f64::consts::PI;

use rand_distr::{Distribution as _, StudentT};

use super::gaussian::{self, SIGMA, number_row};
use super::notation::Notation;
use super::rows::{
    Curvature, Factors, FamilyRows, FewAux, LANES, Lane, MANY_LOOPS, MAX_AUX, OfLog, ResponseScale,
    RowFamily, Terms, rows_with,
};
use super::{
    Auxiliary, Coordinates, Definition, Derivatives, Distribution, FamilyError, Link, Support, any,
};
use crate::design::{Design, ResponseUse};
use crate::numerics::arithmetic::Arithmetic;
use crate::numerics::elementary::ln_1p_of;
use crate::numerics::vector::Vector as _;
use ergodic_base::ChainRng;
use ergodic_base::special::{digamma_difference, ln_gamma_difference, trigamma_difference};

/// Smallest ν where it is estimated: below it the noise has no mean.
const LEAST_NU: f64 = 1.0;

/// Name of ν.
pub(crate) const NU: &str = "nu";

pub(super) const DEFINITION: Definition = Definition {
    id: "student",
    title: "Student t",
    kind: "Student t",
    about: "numbers with outliers",
    quantity: "middle of",
    response: ResponseUse::Number,
    check: any,
    link: Link::Identity,
    is_whole: false,
    latent_variance: None,
    auxiliaries: &[
        Auxiliary {
            meaning: |design| format!("scale of the Student-t noise of {}", design.response.name),
            ..SIGMA
        },
        Auxiliary {
            name: NU,
            what: "degrees of freedom",
            meaning: |design| {
                let name = &design.response.name;
                format!(
                    "degrees of freedom of the Student-t noise of {name}: the smaller, the heavier its tails"
                )
            },
            support: Support::Above(LEAST_NU),
            has_unit: false,
            prior: "gamma(2, 0.1)",
        },
    ],
};

/// z plus Student-t noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Degrees of freedom.
    pub nu: f64,
    /// Scale of the noise.
    pub scale: f64,
}

impl Distribution for Outcome {
    const START: Self = Self {
        nu: 4.0,
        scale: 1.0,
    };
    const COORDINATES: usize = 2;

    fn draw(self, z: f64, _trials: f64, rng: &mut ChainRng) -> f64 {
        StudentT::new(self.nu).map_or(f64::NAN, |t| z + self.scale * t.sample(rng))
    }

    fn at(self, z: f64, y: f64, _trials: f64) -> Derivatives {
        let Self { nu, scale } = self;
        let t = (y - z) / scale;
        let below = nu + t * t;
        Derivatives {
            log_p: -0.5 * (nu + 1.0) * (t * t / nu).ln_1p(),
            score: (nu + 1.0) * t / (below * scale),
            weight: (nu + 1.0) * (nu - t * t) / (below * scale).powi(2),
            slope: 2.0 * (nu + 1.0) * t * (3.0 * nu - t * t) / (below * scale).powi(3),
        }
    }

    fn variance(self, _z: f64, _trials: f64) -> f64 {
        let Self { nu, scale } = self;
        if nu > 2.0 {
            scale * scale * nu / (nu - 2.0)
        } else {
            f64::INFINITY
        }
    }

    fn constant(self, _y: f64, _trials: f64) -> f64 {
        ln_gamma_difference(0.5 * self.nu, 0.5) - 0.5 * (PI * self.nu).ln() - self.scale.ln()
    }

    fn scaled(self, by: f64) -> Self {
        Self {
            scale: self.scale * by,
            ..self
        }
    }

    fn coordinates(self) -> Coordinates {
        [self.scale.ln(), (self.nu - LEAST_NU).ln()]
    }

    fn with_coordinates(self, [log_scale, log_freedom]: Coordinates) -> Self {
        Self {
            nu: LEAST_NU + log_freedom.exp(),
            scale: log_scale.exp(),
        }
    }

    fn in_coordinates(self, z: f64, y: f64, _known: f64) -> [[f64; 3]; MAX_AUX] {
        let Self { nu, scale } = self;
        let t = (y - z) / scale;
        let square = t * t;
        let below = nu + square;
        // The first three derivatives of f.
        let first = -(nu + 1.0) * t / below;
        let second = -(nu + 1.0) * (nu - square) / below.powi(2);
        let third = 2.0 * (nu + 1.0) * t * (3.0 * nu - square) / below.powi(3);
        let of_constant = 0.5 * digamma_difference(0.5 * nu, 0.5) - 0.5 / nu;
        let in_nu =
            of_constant - 0.5 * (square / nu).ln_1p() + 0.5 * (nu + 1.0) * square / (nu * below);
        let bend = (2.0 * nu + 1.0 - square) * below - 2.0 * (nu + 1.0) * (nu - square);
        let step = nu - LEAST_NU;
        [
            [
                -t * first - 1.0,
                (t * second + first) / scale,
                (t * third + 2.0 * second) / (scale * scale),
            ],
            [
                step * in_nu,
                step * t * (square - 1.0) / (below.powi(2) * scale),
                step * bend / (below.powi(3) * scale * scale),
            ],
        ]
    }
}

/// Rows with response, weight and constant. With `PLAIN` all rows count once, so that the sum of the logarithms of a pass is one
/// logarithm of a product.
#[derive(Clone, Copy, Debug)]
pub struct Noise<const PLAIN: bool> {
    /// ν where it is given, else it is the second auxiliary coordinate.
    nu: Option<f64>,
}

/// σ, ν and functions of them that all rows need.
#[derive(Clone, Copy, Debug)]
pub struct Scales {
    log_sigma: f64,
    /// 1/σ.
    inverse: f64,
    nu: f64,
    /// 1/ν.
    inverse_nu: f64,
    /// c(ν) without the constant −log(π)/2, and its first two derivatives.
    constant: [f64; 3],
    /// dν/db; 0 where ν is given.
    step: f64,
}

impl Scales {
    fn new(log_sigma: f64, nu: f64, step: f64) -> Self {
        // ln Γ(h + 1/2) − ln Γ(h) with h = ν/2, and derivatives in ν.
        let half = 0.5 * nu;
        Self {
            log_sigma,
            inverse: (-log_sigma).exp(),
            nu,
            inverse_nu: 1.0 / nu,
            constant: [
                ln_gamma_difference(half, 0.5) - 0.5 * nu.ln(),
                0.5 * digamma_difference(half, 0.5) - 0.5 / nu,
                0.25 * trigamma_difference(half, 0.5) + 0.5 / (nu * nu),
            ],
            step,
        }
    }
}

#[inline(always)]
fn terms<A: Arithmetic, const VALUE: bool, const PLAIN: bool>(
    z: &Lane,
    [y, weight, constant, _]: [&Lane; 4],
    s: &Scales,
) -> Terms {
    let number = A::V::splat;
    let [z, y, weight, constant] = A::V::load_all([z, y, weight, constant]);
    let (inverse, half) = (number(s.inverse), number(0.5));
    let t = (y - z) * inverse;
    let square = t * t;
    let ratio = square * number(s.inverse_nu);
    // Logarithms are left to the end of the pass where it asks for its value.
    let later = PLAIN && VALUE;
    let is_free = s.step != 0.0;
    let logs = if !later && (VALUE || is_free) {
        ln_1p_of(ratio)
    } else {
        number(0.0)
    };
    // −f'(t)/t.
    let pull = number(s.nu + 1.0) / t.mul_add(t, number(s.nu));
    let of_scale = weight * pull.mul_add(square, number(-1.0));
    let (mut of_nu, mut sum) = (number(0.0), number(0.0));
    if is_free {
        let slope = number(s.constant[1]) - half * logs + half * pull * ratio;
        of_nu = weight * slope * number(s.step);
    }
    if VALUE {
        let log_p = number(s.constant[0] - s.log_sigma) - number(0.5 * (s.nu + 1.0)) * logs;
        sum = weight.mul_add(log_p, constant);
    }
    let mut factor = [1.0; LANES];
    if later {
        factor = (number(1.0) + ratio).lane();
    }
    Terms {
        residual: (weight * pull * t * inverse).lane(),
        aux: [of_scale.lane(), of_nu.lane()],
        sum: sum.lane(),
        factor,
    }
}

#[inline(always)]
fn curvature(z: &Lane, [y, weight, _constant, _]: [&Lane; 4], s: &Scales) -> Curvature {
    let mut out = Curvature::default();
    for k in 0..LANES {
        let (w, nu) = (weight[k], s.nu);
        let t = (y[k] - z[k]) * s.inverse;
        let square = t * t;
        let below = nu + square;
        let first = -(nu + 1.0) * t / below;
        let second = -(nu + 1.0) * (nu - square) / (below * below);
        // ∂f'/∂ν.
        let mixed = -t * (square - 1.0) / (below * below);
        out.zz[k] = -w * second * s.inverse * s.inverse;
        out.za[0][k] = -w * (second * t + first) * s.inverse;
        out.aa[0][k] = -w * t * (first + t * second);
        out.za[1][k] = w * mixed * s.inverse * s.step;
        out.aa[1][k] = w * t * mixed * s.step;
        let slope =
            s.constant[1] - 0.5 * (square / nu).ln_1p() + 0.5 * (nu + 1.0) * square / (nu * below);
        let change = s.constant[2]
            + 0.5 * square / (nu * below)
            + 0.5 * square * (nu * below - (nu + 1.0) * (nu + below)) / (nu * below).powi(2);
        out.aa[2][k] = -w * s.step * (slope + s.step * change);
    }
    out
}

impl<const PLAIN: bool> RowFamily for Noise<PLAIN> {
    type Aux = FewAux;
    const EXTRA: usize = 3;
    const OFFSET: bool = false;
    const FACTORS: Factors = if PLAIN { Factors::Any } else { Factors::One };
    const WITHIN_LOOPS: bool = PLAIN && MANY_LOOPS;
    type Shared = Scales;

    fn num_aux(&self) -> usize {
        if self.nu.is_some() { 1 } else { 2 }
    }

    fn shared(&self, aux: &[f64]) -> Scales {
        if let Some(nu) = self.nu {
            return Scales::new(aux[0], nu, 0.0);
        }
        let step = aux[1].exp();
        Scales::new(aux[0], LEAST_NU + step, step)
    }

    fn of_log(scales: &Scales) -> OfLog {
        OfLog {
            value: -0.5 * (scales.nu + 1.0),
            aux: [0.0, -0.5 * scales.step],
        }
    }

    #[inline(always)]
    fn terms<A: Arithmetic, const VALUE: bool>(
        z: &Lane,
        extra: [&Lane; 4],
        scales: &Scales,
    ) -> Terms {
        terms::<A, VALUE, PLAIN>(z, extra, scales)
    }

    #[inline(always)]
    fn curvature<A: Arithmetic>(z: &Lane, extra: [&Lane; 4], scales: &Scales) -> Curvature {
        curvature(z, extra, scales)
    }

    fn outcome(&self, scales: &Scales) -> super::Outcome {
        super::Outcome::Student(Outcome {
            nu: scales.nu,
            scale: scales.log_sigma.exp(),
        })
    }
}

pub(super) fn rows(design: &Design) -> Result<FamilyRows<Noise<false>>, FamilyError> {
    with_nu(None, design)
}

/// Rows with ν estimated or given; `PLAIN` for designs without weights.
pub(crate) fn with_nu<const PLAIN: bool>(
    nu: Option<f64>,
    design: &Design,
) -> Result<FamilyRows<Noise<PLAIN>>, FamilyError> {
    let response = ResponseScale::of(design)?;
    let constant = -0.5 * PI.ln();
    Ok(FamilyRows {
        family: Noise { nu },
        data: rows_with(design, |i| number_row(design, response, constant, i)),
        response,
    })
}

pub(super) fn notation(design: &Design) -> Notation {
    notation_with(design, "nu")
}

/// The family with ν called `nu`, or that number.
pub(crate) fn notation_with(design: &Design, nu: &str) -> Notation {
    let name = &design.response.name;
    Notation {
        predicted: format!("The middle of `{name}`"),
        given: format!(
            "`{name}` varies around it as a Student t with {nu} degrees of freedom and scale `sigma`, so that outliers \
             count less than with normal noise."
        ),
        response: vec![format!("{name}[i] ~ student_t({nu}, eta[i], sigma)")],
        stan_density: "student_t",
        stan_arguments: vec![nu.to_owned(), "eta[]".to_owned(), SIGMA.name.to_owned()],
        brms_family: "student()",
        ..gaussian::notation(design)
    }
}
