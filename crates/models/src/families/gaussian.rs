//! Normal responses: y ~ Normal(z, σ²).
//!
//! With r = y − z and a = log σ: ∂/∂z = r/σ², ∂/∂a = r²/σ² − 1; −∂²/∂z² = 1/σ², −∂²/∂z∂a = 2r/σ², −∂²/∂a² = 2r²/σ². A row of
//! weight w counts as w rows.

use std::f64::consts::{PI, TAU};

use rand_distr::{Distribution as _, StandardNormal};

use super::notation::{Notation, comment};
use super::rows::{
    Curvature, FamilyRows, FewAux, Fit, LANES, Lane, MANY_LOOPS, ResponseScale, RowFamily, Terms,
    rows_with, value_or,
};
use super::{Auxiliary, Definition, Derivatives, Distribution, FamilyError, Link, Support, any};
use crate::design::{Design, ResponseUse};
use crate::numerics::arithmetic::Arithmetic;
use crate::numerics::vector::Vector as _;
use ergodic_base::{ChainRng, Reporter};

mod residuals;

pub(super) const DEFINITION: Definition = Definition {
    id: "gaussian",
    title: "Normal",
    kind: "Linear",
    about: "numbers",
    quantity: "mean of",
    response: ResponseUse::Number,
    check: any,
    link: Link::Identity,
    is_whole: false,
    latent_variance: Some(0.0),
    auxiliaries: &[SIGMA],
};

/// σ of families with a residual scale.
pub(super) const SIGMA: Auxiliary = Auxiliary {
    name: "sigma",
    what: "residual scale",
    meaning: |design| {
        let within = if design.group_terms.is_empty() {
            "around its mean"
        } else {
            "within groups"
        };
        format!("standard deviation of {} {within}", design.response.name)
    },
    support: Support::Above(0.0),
    has_unit: true,
    prior: "half_student_t(3, 0, 2.5)",
};

/// z plus normal noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Standard deviation of the noise.
    pub sd: f64,
}

impl Distribution for Outcome {
    const START: Self = Self { sd: 1.0 };

    fn draw(self, z: f64, _trials: f64, rng: &mut ChainRng) -> f64 {
        let noise: f64 = StandardNormal.sample(rng);
        z + self.sd * noise
    }

    fn at(self, z: f64, y: f64, _trials: f64) -> Derivatives {
        let weight = 1.0 / (self.sd * self.sd);
        Derivatives {
            log_p: -0.5 * weight * (y - z) * (y - z),
            score: weight * (y - z),
            weight,
            slope: 0.0,
        }
    }

    fn variance(self, _z: f64, _known: f64) -> f64 {
        self.sd * self.sd
    }

    fn constant(self, _y: f64, _trials: f64) -> f64 {
        -0.5 * TAU.ln() - self.sd.ln()
    }

    fn scaled(self, by: f64) -> Self {
        Self { sd: self.sd * by }
    }
}

/// Rows with response, weight and the logarithm of the normal density's constant, times the weight.
#[derive(Clone, Copy, Debug)]
pub struct Normal;

/// σ as the rows need it.
#[derive(Clone, Copy, Debug)]
pub struct Sigma {
    log: f64,
    /// 1/σ².
    pub(super) precision: f64,
}

impl Sigma {
    /// Of σ itself.
    pub(super) fn of(sd: f64) -> Self {
        Self {
            log: sd.ln(),
            precision: 1.0 / (sd * sd),
        }
    }

    /// σ.
    pub(super) fn sd(&self) -> f64 {
        self.log.exp()
    }
}

impl RowFamily for Normal {
    type Aux = FewAux;
    const EXTRA: usize = 3;
    const OFFSET: bool = false;
    const AUX: usize = 1;
    const QUADRATIC: bool = true;
    const WITHIN_LOOPS: bool = MANY_LOOPS;
    type Shared = Sigma;

    fn shared(&self, aux: &[f64]) -> Sigma {
        Sigma {
            log: aux[0],
            precision: (-2.0 * aux[0]).exp(),
        }
    }

    #[inline(always)]
    fn terms<A: Arithmetic, const VALUE: bool>(
        z: &Lane,
        [y, weight, constant, _]: [&Lane; 4],
        sigma: &Sigma,
    ) -> Terms {
        let number = A::V::splat;
        let [z, y, weight, constant] = A::V::load_all([z, y, weight, constant]);
        let r = y - z;
        let scaled = number(sigma.precision) * r;
        let square = scaled * r;
        let aux = weight * (square - number(1.0));
        let mut sum = number(0.0);
        if VALUE {
            let below = number(0.5).mul_add(square, number(sigma.log));
            sum = (-weight).mul_add(below, constant);
        }
        Terms::of_one((weight * scaled).lane(), aux.lane(), sum.lane())
    }

    #[inline(always)]
    fn curvature<A: Arithmetic>(
        z: &Lane,
        [y, weight, _constant, _]: [&Lane; 4],
        sigma: &Sigma,
    ) -> Curvature {
        let mut out = Curvature::default();
        for k in 0..LANES {
            let r = y[k] - z[k];
            let precision = weight[k] * sigma.precision;
            out.zz[k] = precision;
            out.za[0][k] = 2.0 * precision * r;
            out.aa[0][k] = 2.0 * precision * r * r;
        }
        out
    }

    const NORMAL: bool = true;

    fn outcome(&self, sigma: &Sigma) -> super::Outcome {
        super::Outcome::Gaussian(Outcome { sd: sigma.sd() })
    }

    fn remark(fit: &Fit<'_>, reporter: &mut Reporter) {
        residuals::remark(fit, reporter);
    }
}

/// Internal response, weight, and weight times `constant` less the logarithm of the response's scale, which makes the density
/// one of the response as it is.
pub(super) fn number_row(
    design: &Design,
    response: ResponseScale,
    constant: f64,
    i: usize,
) -> [f64; 3] {
    let weight = value_or(&design.weights, i, 1.0);
    let y = design.y[i] - value_or(&design.offset, i, 0.0) - response.centre;
    let constant = weight * (constant - response.scale.ln());
    [y / response.scale, weight, constant]
}

pub(super) fn rows(design: &Design) -> Result<FamilyRows<Normal>, FamilyError> {
    let response = ResponseScale::of(design)?;
    let constant = -0.5 * (2.0 * PI).ln();
    Ok(FamilyRows {
        family: Normal,
        data: rows_with(design, |i| number_row(design, response, constant, i)),
        response,
    })
}

pub(super) fn notation(design: &Design) -> Notation {
    let name = &design.response.name;
    Notation {
        predicted: format!("The mean of `{name}`"),
        given: format!(
            "`{name}` varies around this mean normally with standard deviation `sigma`."
        ),
        response: vec![format!("{name}[i] ~ normal(eta[i], sigma)")],
        stan_data: vec![format!("vector[N] y;  // {}", comment(name))],
        stan_functions: Vec::new(),
        stan_density: "normal",
        stan_arguments: vec!["eta[]".to_owned(), SIGMA.name.to_owned()],
        r_response: Vec::new(),
        brms_family: "gaussian()",
    }
}
