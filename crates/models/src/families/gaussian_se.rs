//! Numbers with known standard errors, such as the estimates that a meta-analysis puts together: y = z + s ε with ε standard normal
//! and s the standard error of the row.
//!
//! log p = −(y − z)²/(2 s²) − log s − log(2π)/2. A row of weight w counts as w rows.

use std::f64::consts::TAU;

use rand_distr::{Distribution as _, StandardNormal};

use super::gaussian::{self, number_row};
use super::notation::Notation;
use super::rows::{
    Curvature, FamilyRows, FewAux, LANES, Lane, ResponseScale, RowFamily, Terms, rows_with,
};
use super::{Definition, Derivatives, Distribution, FamilyError, Link};
use crate::design::{Design, ResponseUse};
use crate::numerics::arithmetic::Arithmetic;
use crate::numerics::vector::Vector as _;
use ergodic_base::ChainRng;

pub(super) const DEFINITION: Definition = Definition {
    id: "gaussian_se",
    title: "Normal, known errors",
    kind: "Known-variance linear",
    about: "numbers with known standard errors",
    quantity: "mean of",
    response: ResponseUse::Number,
    check,
    link: Link::Identity,
    is_whole: false,
    latent_variance: None,
    auxiliaries: &[],
};

fn check(design: &Design) -> Result<(), FamilyError> {
    match &design.se {
        Some(_) => Ok(()),
        None => Err(FamilyError::NoErrors {
            response: design.response.name.clone(),
        }),
    }
}

/// z plus normal noise whose standard deviation is that of the row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// What standard errors are given in, in units of z.
    unit: f64,
}

impl Distribution for Outcome {
    const START: Self = Self { unit: 1.0 };

    fn draw(self, z: f64, se: f64, rng: &mut ChainRng) -> f64 {
        let noise: f64 = StandardNormal.sample(rng);
        z + self.unit * se * noise
    }

    fn at(self, z: f64, y: f64, se: f64) -> Derivatives {
        let sd = self.unit * se;
        let weight = 1.0 / (sd * sd);
        Derivatives {
            log_p: -0.5 * weight * (y - z) * (y - z),
            score: weight * (y - z),
            weight,
            slope: 0.0,
        }
    }

    fn variance(self, _z: f64, se: f64) -> f64 {
        (self.unit * se).powi(2)
    }

    fn constant(self, _y: f64, se: f64) -> f64 {
        -0.5 * TAU.ln() - (self.unit * se).ln()
    }

    fn scaled(self, by: f64) -> Self {
        Self {
            unit: self.unit * by,
        }
    }
}

/// Rows with response, weight, the weight times the constant of the density, and 1/s².
#[derive(Clone, Copy, Debug)]
pub struct Estimates {
    /// See [`Outcome::unit`].
    unit: f64,
}

impl RowFamily for Estimates {
    type Aux = FewAux;
    const EXTRA: usize = 4;
    const OFFSET: bool = false;
    const LOG_CONCAVE: bool = true;
    const QUADRATIC: bool = true;
    type Shared = f64;

    fn shared(&self, _aux: &[f64]) -> f64 {
        self.unit
    }

    #[inline(always)]
    fn terms<A: Arithmetic, const VALUE: bool>(
        z: &Lane,
        [y, weight, constant, precision]: [&Lane; 4],
        _unit: &f64,
    ) -> Terms {
        let [z, y, weight, constant] = A::V::load_all([z, y, weight, constant]);
        let r = y - z;
        let residual = weight * A::V::load(precision) * r;
        let mut sum = A::V::splat(0.0);
        if VALUE {
            sum = (A::V::splat(-0.5) * residual).mul_add(r, constant);
        }
        Terms::of_none(residual.lane(), sum.lane())
    }

    #[inline(always)]
    fn curvature<A: Arithmetic>(
        _z: &Lane,
        [_y, weight, _constant, precision]: [&Lane; 4],
        _unit: &f64,
    ) -> Curvature {
        let mut out = Curvature::default();
        for k in 0..LANES {
            out.zz[k] = weight[k] * precision[k];
        }
        out
    }

    fn bounds(extra: &[f64]) -> [f64; 2] {
        [f64::INFINITY, extra[1] * extra[3]]
    }

    fn third_bound(_extra: &[f64]) -> f64 {
        0.0
    }

    fn outcome(&self, unit: &f64) -> super::Outcome {
        super::Outcome::GaussianSe(Outcome { unit: *unit })
    }
}

pub(super) fn rows(design: &Design) -> Result<FamilyRows<Estimates>, FamilyError> {
    let response = ResponseScale::of(design)?;
    let unit = 1.0 / response.scale;
    Ok(FamilyRows {
        family: Estimates { unit },
        data: rows_with(design, |i| {
            let sd = unit * design.known(i);
            let constant = -0.5 * TAU.ln() - sd.ln();
            let [y, weight, constant] = number_row(design, response, constant, i);
            [y, weight, constant, 1.0 / (sd * sd)]
        }),
        response,
    })
}

pub(super) fn notation(design: &Design) -> Notation {
    let name = &design.response.name;
    let own = gaussian::notation(design);
    let mut stan_data = own.stan_data;
    stan_data.push("vector<lower=0>[N] se;  // standard errors of y".to_owned());
    Notation {
        given: format!("`{name}` varies around this mean normally with its known standard error."),
        response: vec![format!("{name}[i] ~ normal(eta[i], se[i])")],
        stan_data,
        stan_arguments: vec!["eta[]".to_owned(), "se[]".to_owned()],
        ..gaussian::notation(design)
    }
}
