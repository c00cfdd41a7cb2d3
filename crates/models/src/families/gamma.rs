//! Gamma responses, positive numbers: the logarithm of the mean μ is z, and the variance is μ²/shape, so that the standard
//! deviation is 1/√shape of the mean whatever the mean.
//!
//! log p = α log α − log Γ(α) + (α − 1) log y − α (z + r) with α the shape and r = y e^−z. With a = log α:
//! ∂/∂z = α (r − 1), ∂/∂a = α d with d = log α − ψ(α) + 1 + log y − z − r; −∂²/∂z² = α r, −∂²/∂z∂a = −α (r − 1),
//! −∂²/∂a² = −α (d + 1 − α ψ'(α)). A row of weight w counts as w rows.
//!
//! Default prior of the shape: lognormal(2, 2), as that of negative binomial counts; 95 % of the coefficient of variation
//! 1/√shape is between 0.05 and 2.6.

use rand_distr::{Distribution as _, Gamma};
use statrs::function::gamma::{digamma, ln_gamma};

use super::notation::{Notation, comment};
use super::rows::{
    Curvature, FamilyRows, FewAux, LANES, Lane, MAX_AUX, ResponseScale, RowFamily, Terms,
    rows_with, value_or,
};
use super::{
    Auxiliary, Coordinates, Definition, Derivatives, Distribution, FamilyError, Link, Support,
    row_of_file,
};
use crate::design::{Design, ResponseUse};
use crate::numerics::arithmetic::Arithmetic;
use crate::numerics::elementary::exp;
use ergodic_base::ChainRng;
use ergodic_base::special::trigamma;

pub(super) const DEFINITION: Definition = Definition {
    id: "gamma",
    title: "Gamma",
    kind: "Gamma",
    about: "positive numbers that vary in proportion to their mean",
    quantity: "log of the expected",
    response: ResponseUse::Number,
    check: |design| above_zero(design, "gamma"),
    link: Link::Log,
    is_whole: false,
    latent_variance: None,
    auxiliaries: &[Auxiliary {
        name: "shape",
        what: "shape of the gamma distribution",
        meaning: |design| {
            let name = &design.response.name;
            format!("shape of the gamma distribution of {name}: its variance is mean²/shape")
        },
        support: Support::Above(0.0),
        has_unit: false,
        prior: "lognormal(2, 2)",
    }],
};

/// Refuses responses that are not positive, for the family with this identifier.
pub(super) fn above_zero(design: &Design, family: &'static str) -> Result<(), FamilyError> {
    let Some(i) = design.y.iter().position(|y| *y <= 0.0) else {
        return Ok(());
    };
    Err(FamilyError::NotPositive {
        response: design.response.name.clone(),
        value: design.y[i],
        row: row_of_file(design, i),
        family,
    })
}

/// Positive numbers whose mean has the logarithm z, with variance mean²/shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    shape: f64,
    log_shape: f64,
}

impl Distribution for Outcome {
    const COORDINATES: usize = 1;
    const START: Self = Self {
        shape: 1.0,
        log_shape: 0.0,
    };

    fn draw(self, z: f64, _trials: f64, rng: &mut ChainRng) -> f64 {
        let mean = z.exp();
        let drawn = Gamma::new(self.shape, mean / self.shape).map_or(mean, |g| g.sample(rng));
        // A variable of a small shape may be 0 to rounding, and one of a large mean infinite; neither has a density.
        drawn.clamp(f64::MIN_POSITIVE, f64::MAX)
    }

    #[inline]
    fn at(self, z: f64, y: f64, _trials: f64) -> Derivatives {
        let ratio = y * (-z).exp();
        let weight = self.shape * ratio;
        Derivatives {
            log_p: -self.shape * (z + ratio),
            score: self.shape * (ratio - 1.0),
            weight,
            slope: -weight,
        }
    }

    fn variance(self, z: f64, _trials: f64) -> f64 {
        (2.0 * z).exp() / self.shape
    }

    fn constant(self, y: f64, _trials: f64) -> f64 {
        normaliser(self.shape) + (self.shape - 1.0) * y.ln()
    }

    fn coordinates(self) -> Coordinates {
        [self.log_shape, 0.0]
    }

    fn with_coordinates(self, [log_shape, _]: Coordinates) -> Self {
        Self {
            shape: log_shape.exp(),
            log_shape,
        }
    }

    fn in_coordinates(self, z: f64, y: f64, _known: f64) -> [[f64; 3]; MAX_AUX] {
        let Self { shape, log_shape } = self;
        let ratio = y * (-z).exp();
        let of_one = [
            shape * (log_shape - digamma(shape) + 1.0 + y.ln() - z - ratio),
            shape * (ratio - 1.0),
            shape * ratio,
        ];
        [of_one, [0.0; 3]]
    }
}

/// α log α − log Γ(α).
fn normaliser(shape: f64) -> f64 {
    shape * shape.ln() - ln_gamma(shape)
}

/// Rows with offset, response, weight and log y after the covariates.
#[derive(Clone, Copy, Debug)]
pub struct PositiveNumbers;

/// The shape and functions of it that all rows need.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    shape: f64,
    /// α log α − log Γ(α).
    normaliser: f64,
    /// log α − ψ(α) + 1.
    slope: f64,
    /// 1 − α ψ'(α).
    bend: f64,
}

impl RowFamily for PositiveNumbers {
    type Aux = FewAux;
    const EXTRA: usize = 4;
    const AUX: usize = 1;
    const LOG_CONCAVE: bool = true;
    type Shared = Shape;

    fn shared(&self, aux: &[f64]) -> Shape {
        let shape = aux[0].exp();
        Shape {
            shape,
            normaliser: normaliser(shape),
            slope: aux[0] - digamma(shape) + 1.0,
            bend: 1.0 - shape * trigamma(shape),
        }
    }

    #[inline(always)]
    fn terms<A: Arithmetic, const VALUE: bool>(
        z: &Lane,
        [_offset, y, weight, log_y]: [&Lane; 4],
        of: &Shape,
    ) -> Terms {
        let ratio = ratios::<A>(z, y);
        let (mut residual, mut aux, mut sum) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        for k in 0..LANES {
            let weighted = weight[k] * of.shape;
            residual[k] = weighted * (ratio[k] - 1.0);
            aux[k] = weighted * (of.slope + log_y[k] - z[k] - ratio[k]);
            if VALUE {
                let constant = A::mul_add(of.shape - 1.0, log_y[k], of.normaliser);
                sum[k] = A::mul_add(weight[k], constant, -(weighted * (z[k] + ratio[k])));
            }
        }
        Terms::of_one(residual, aux, sum)
    }

    #[inline(always)]
    fn curvature<A: Arithmetic>(
        z: &Lane,
        [_offset, y, weight, log_y]: [&Lane; 4],
        of: &Shape,
    ) -> Curvature {
        let ratio = ratios::<A>(z, y);
        let mut out = Curvature::default();
        for k in 0..LANES {
            let weighted = weight[k] * of.shape;
            out.zz[k] = weighted * ratio[k];
            out.za[0][k] = -weighted * (ratio[k] - 1.0);
            let slope = of.slope + log_y[k] - z[k] - ratio[k];
            out.aa[0][k] = -weighted * (slope + of.bend);
        }
        out
    }

    fn outcome(&self, of: &Shape) -> super::Outcome {
        super::Outcome::Gamma(Outcome {
            shape: of.shape,
            log_shape: of.shape.ln(),
        })
    }
}

/// y e^−z.
#[inline(always)]
fn ratios<A: Arithmetic>(z: &Lane, y: &Lane) -> Lane {
    let mut minus = [0.0; LANES];
    for k in 0..LANES {
        minus[k] = -z[k];
    }
    let mut out = exp::<A>(&minus);
    for k in 0..LANES {
        out[k] *= y[k];
    }
    out
}

pub(super) fn rows(design: &Design) -> Result<FamilyRows<PositiveNumbers>, FamilyError> {
    Ok(log_rows(PositiveNumbers, design))
}

/// Rows with offset, response, weight and log y after the covariates.
pub(super) fn log_rows<F>(family: F, design: &Design) -> FamilyRows<F> {
    FamilyRows {
        family,
        data: rows_with(design, |i| {
            let (y, weight) = (design.y[i], value_or(&design.weights, i, 1.0));
            [value_or(&design.offset, i, 0.0), y, weight, y.ln()]
        }),
        response: ResponseScale::log_of(design),
    }
}

pub(super) fn notation(design: &Design) -> Notation {
    let name = &design.response.name;
    Notation {
        given: format!("`{name}` has a gamma distribution, whose variance is mean²/`shape`."),
        response: vec![
            format!("{name}[i] ~ gamma(shape, shape / mu[i]), with variance mu[i]²/shape"),
            "log(mu[i]) = eta[i]".to_owned(),
        ],
        stan_density: "gamma",
        stan_arguments: vec!["shape".to_owned(), "shape * exp(-eta[])".to_owned()],
        brms_family: "Gamma(link = \"log\")",
        ..positive_numbers(design)
    }
}

/// What families of positive numbers have in common, with nothing said of their distribution.
pub(super) fn positive_numbers(design: &Design) -> Notation {
    let name = &design.response.name;
    Notation {
        predicted: format!("The logarithm of the expected `{name}`"),
        given: String::new(),
        response: Vec::new(),
        stan_data: vec![format!("vector<lower=0>[N] y;  // {}", comment(name))],
        stan_functions: Vec::new(),
        stan_density: "",
        stan_arguments: Vec::new(),
        r_response: Vec::new(),
        brms_family: "",
    }
}
