//! Negative binomial counts: log of the mean μ is z, and the variance is μ + μ²/shape.
//!
//! log p = ln Γ(y + φ) − ln Γ(φ) − log y! − φ log(1 + μ/φ) + y (log μ − log(φ + μ)). With c = φ/(φ + μ):
//! ∂/∂z = c (y − μ), ∂/∂φ = ψ(y + φ) − ψ(φ) − log(1 + μ/φ) + (μ − y)/(φ + μ), ∂/∂a = φ ∂/∂φ;
//! −∂²/∂z² = c (y + φ) p with p = μ/(φ + μ), −∂²/∂z∂a = −c (y − μ) p,
//! −∂²/∂a² = c (y − μ) p − φ (ψ(y + φ) − ψ(φ) − log(1 + μ/φ) + φ (ψ'(y + φ) − ψ'(φ)) + p). A row of weight w counts as w rows.

use rand_distr::{Distribution as _, Gamma};
use statrs::function::gamma::{digamma, ln_gamma};

use super::notation::Notation;
use super::poisson::{self, count, count_rows};
use super::rows::{
    Curvature, FamilyRows, FewAux, LANES, Lane, MANY_LOOPS, MAX_AUX, RowFamily, Terms,
};
use super::{
    Auxiliary, Coordinates, Definition, Derivatives, Distribution, FamilyError, Link, Support,
};
use crate::design::Design;
use crate::numerics::arithmetic::Arithmetic;
use crate::numerics::elementary::softplus_of;
use crate::numerics::vector::{Bits as _, Vector as _};
use ergodic_base::ChainRng;
use ergodic_base::special::{
    digamma_difference, ln_gamma_difference, softplus, trigamma_difference,
};

/// Largest count whose rising factorial is summed.
const MOST_SUMMED: f64 = 200.0;

pub(super) const DEFINITION: Definition = Definition {
    id: "negative_binomial",
    title: "Negative binomial",
    kind: "Negative binomial",
    about: "counts that vary more",
    auxiliaries: &[SHAPE],
    ..poisson::DEFINITION
};

/// The shape.
pub(super) const SHAPE: Auxiliary = Auxiliary {
    name: "shape",
    what: "shape of the overdispersion",
    meaning: |design| {
        let name = &design.response.name;
        format!("shape of the overdispersion of {name}: its variance is mean + mean²/shape")
    },
    support: Support::Above(0.0),
    has_unit: false,
    prior: "lognormal(2, 2)",
};

/// Counts whose mean has the logarithm z, with variance mean + mean²/shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    shape: f64,
    log_shape: f64,
}

impl Outcome {
    /// Counts of this shape.
    pub fn new(shape: f64) -> Self {
        Self {
            shape,
            log_shape: shape.ln(),
        }
    }
}

impl Distribution for Outcome {
    const COORDINATES: usize = 1;
    const START: Self = Self {
        shape: 1.0,
        log_shape: 0.0,
    };

    fn draw(self, z: f64, _trials: f64, rng: &mut ChainRng) -> f64 {
        let mean = z.exp();
        // A gamma variable of a small shape may be 0 to rounding.
        let varied = Gamma::new(self.shape, mean / self.shape).map_or(mean, |g| g.sample(rng));
        count(varied, rng)
    }

    #[inline]
    fn at(self, z: f64, y: f64, _trials: f64) -> Derivatives {
        // With p = μ/(μ + shape) = logistic(z − log shape).
        let Self { shape, log_shape } = self;
        let p = Link::Logit.inverse(z - log_shape);
        let weight = (y + shape) * p * (1.0 - p);
        Derivatives {
            log_p: y * (z - log_shape) - (y + shape) * softplus(z - log_shape),
            score: y - (y + shape) * p,
            weight,
            slope: weight * (1.0 - 2.0 * p),
        }
    }

    fn variance(self, z: f64, _trials: f64) -> f64 {
        let mean = z.exp();
        mean + mean * mean / self.shape
    }

    fn constant(self, y: f64, _trials: f64) -> f64 {
        rising(self.shape, y)[0] - ln_gamma(y + 1.0)
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
        let p = Link::Logit.inverse(z - log_shape);
        let (spread, total) = (p * (1.0 - p), y + shape);
        let of_one = [
            shape * (digamma(y + shape) - digamma(shape) - softplus(z - log_shape)) - y + total * p,
            total * spread - shape * p,
            shape * spread - total * spread * (1.0 - 2.0 * p),
        ];
        [of_one, [0.0; 3]]
    }
}

/// log Γ(shape + y) − log Γ(shape) and its derivative in the shape. As a sum for the counts one meets: the difference of two
/// large logarithms would lose the digits that tell large shapes apart.
fn rising(shape: f64, y: f64) -> [f64; 2] {
    if y > MOST_SUMMED {
        return [
            ln_gamma(shape + y) - ln_gamma(shape),
            digamma(shape + y) - digamma(shape),
        ];
    }
    (0..y as u32).fold([0.0, 0.0], |[log, slope], j| {
        let factor = shape + f64::from(j);
        [log + factor.ln(), slope + 1.0 / factor]
    })
}

/// Rows with offset, count, weight and −w log y! after the covariates.
#[derive(Clone, Copy, Debug)]
pub struct NegativeBinomialCounts {
    /// Counts below this stand in the tables of [`Shape`].
    tabled: usize,
    /// Whether that is all of them.
    all_tabled: bool,
}

/// Most counts in a table: more of them cost more per pass than the rows of a small minibatch gain.
const TABLED: usize = 64;

/// φ, and what rows of small counts need of it.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    shape: f64,
    log_shape: f64,
    /// Counts in the table.
    tabled: usize,
    /// Whether all counts are in the table.
    all_tabled: bool,
    /// log Γ(φ + y) − log Γ(φ) and ψ(φ + y) − ψ(φ), by y.
    differences: [[f64; 2]; TABLED],
}

impl Shape {
    fn new(log_shape: f64, tabled: usize, all_tabled: bool) -> Self {
        let shape = log_shape.exp();
        let mut differences = [[0.0; 2]; TABLED];
        let [mut log, mut slope] = [0.0; 2];
        for (y, entry) in differences.iter_mut().enumerate().take(tabled) {
            *entry = [log, slope];
            let factor = shape + y as f64;
            log += factor.ln();
            slope += 1.0 / factor;
        }
        Self {
            shape,
            log_shape,
            tabled,
            all_tabled,
            differences,
        }
    }

    /// Both differences at eight counts.
    #[inline(always)]
    fn differences_of<A: Arithmetic, const VALUE: bool>(&self, y: &Lane) -> [Lane; 2] {
        /// 2^52, whose last bits are a whole number.
        const WHOLE: f64 = 4_503_599_627_370_496.0;
        let mut out = [[0.0; LANES]; 2];
        let places = (A::V::load(y) + A::V::splat(WHOLE)).bits().words();
        let mut tabled = true;
        if !self.all_tabled {
            for place in places {
                tabled &= place.wrapping_sub(WHOLE.to_bits()) < self.tabled as u64;
            }
        }
        if tabled {
            for k in 0..LANES {
                // The remainder is the number itself, and shows the compiler that it is in the table.
                [out[0][k], out[1][k]] = self.differences[places[k] as usize % TABLED];
            }
        } else {
            self.beyond_the_table::<VALUE>(y, &mut out);
        }
        out
    }

    /// [`Self::differences_of`] where a count is too large for the table. A function of its own: calls in the row loop would keep
    /// its numbers out of registers.
    #[cold]
    #[inline(never)]
    fn beyond_the_table<const VALUE: bool>(&self, y: &Lane, out: &mut [Lane; 2]) {
        for k in 0..LANES {
            [out[0][k], out[1][k]] = self.differences::<VALUE>(y[k]);
        }
    }

    fn differences<const VALUE: bool>(&self, y: f64) -> [f64; 2] {
        let place = y as usize;
        if place < self.tabled {
            return self.differences[place];
        }
        let log = if VALUE {
            ln_gamma_difference(self.shape, y)
        } else {
            0.0
        };
        [log, digamma_difference(self.shape, y)]
    }
}

impl RowFamily for NegativeBinomialCounts {
    type Aux = FewAux;
    const EXTRA: usize = 4;
    const AUX: usize = 1;
    const LOG_CONCAVE: bool = true;
    const WITHIN_LOOPS: bool = MANY_LOOPS;
    type Shared = Shape;

    fn shared(&self, aux: &[f64]) -> Shape {
        Shape::new(aux[0], self.tabled, self.all_tabled)
    }

    #[inline(always)]
    fn terms<A: Arithmetic, const VALUE: bool>(
        z: &Lane,
        [_offset, y, weight, constant]: [&Lane; 4],
        of: &Shape,
    ) -> Terms {
        let number = A::V::splat;
        let [log_gamma, digamma] = of.differences_of::<A, VALUE>(y);
        let [log_gamma, digamma] = A::V::load_all([&log_gamma, &digamma]);
        let [z, y, weight, constant] = A::V::load_all([z, y, weight, constant]);
        let shape = number(of.shape);
        let t = z - number(of.log_shape);
        let (log_ratio, ratio) = softplus_of(t);
        let c = number(1.0) / (number(1.0) + ratio);
        let residual = weight * ((-shape).mul_add(ratio, y) * c);
        let slope = (weight * shape).mul_add(digamma - log_ratio, -residual);
        let mut sum = number(0.0);
        if VALUE {
            let log_chance = (-shape).mul_add(log_ratio, y.mul_add(t - log_ratio, log_gamma));
            sum = weight.mul_add(log_chance, constant);
        }
        Terms::of_one(residual.lane(), slope.lane(), sum.lane())
    }

    #[inline(always)]
    fn curvature<A: Arithmetic>(
        z: &Lane,
        [_offset, y, weight, _constant]: [&Lane; 4],
        of: &Shape,
    ) -> Curvature {
        let shape = of.shape;
        let (log_ratio, ratio) = softplus_of(A::V::load(z) - A::V::splat(of.log_shape));
        let (log_ratio, ratio) = (log_ratio.lane(), ratio.lane());
        let mut out = Curvature::default();
        for k in 0..LANES {
            let (y, weight, log_ratio, ratio) = (y[k], weight[k], log_ratio[k], ratio[k]);
            let c = 1.0 / (1.0 + ratio);
            let share = ratio * c;
            let residual = c * (y - shape * ratio);
            out.zz[k] = weight * c * (y + shape) * share;
            out.za[0][k] = -weight * residual * share;
            let [_log, digamma] = of.differences::<false>(y);
            let of_shape = digamma - log_ratio + shape * trigamma_difference(shape, y) + share;
            out.aa[0][k] = -weight * (shape * of_shape - residual * share);
        }
        out
    }

    fn outcome(&self, of: &Shape) -> super::Outcome {
        super::Outcome::NegativeBinomial(Outcome::new(of.shape))
    }
}

pub(super) fn rows(design: &Design) -> Result<FamilyRows<NegativeBinomialCounts>, FamilyError> {
    let largest = design.y.iter().copied().fold(0.0, f64::max);
    let tabled = TABLED.min(largest as usize + 1);
    let all_tabled = largest < tabled as f64;
    let family = NegativeBinomialCounts { tabled, all_tabled };
    Ok(count_rows(family, design))
}

pub(super) fn notation(design: &Design) -> Notation {
    let name = &design.response.name;
    Notation {
        given: format!(
            "`{name}` is a negative binomial count, whose variance is mean + mean²/`shape`."
        ),
        response: vec![
            format!("{name}[i] ~ neg_binomial_2(mu[i], shape), with variance mu[i] + mu[i]²/shape"),
            "log(mu[i]) = eta[i]".to_owned(),
        ],
        stan_density: "neg_binomial_2_log",
        stan_arguments: vec!["eta[]".to_owned(), "shape".to_owned()],
        brms_family: "negbinomial()",
        ..poisson::notation(design)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::arithmetic::Separate;

    /// Chains meet such places in their first steps, and stay where a density rises without bound.
    #[test]
    fn densities_stay_below_one_where_means_are_beyond_all_numbers() {
        let family = NegativeBinomialCounts {
            tabled: 8,
            all_tabled: true,
        };
        for (z, shape, y) in [
            (20.0, 2.0, 5.0),
            (690.0, 1e-5, 0.0),
            (690.0, 1e-5, 3.0),
            (2500.0, 1.4e-4, 7.0),
            (1e5, 1e-9, 1.0),
        ] {
            let shape: f64 = shape;
            let t = z - shape.ln();
            let log_ratio = if t > 40.0 { t } else { t.exp().ln_1p() };
            let expected = ln_gamma(y + shape) - ln_gamma(shape) - ln_gamma(y + 1.0)
                + y * (t - log_ratio)
                - shape * log_ratio;
            let shared = family.shared(&[shape.ln()]);
            let row = [0.0, y, 1.0, -ln_gamma(y + 1.0)].map(|number| [number; LANES]);
            let found = NegativeBinomialCounts::terms::<Separate, true>(
                &[z; LANES],
                row.each_ref(),
                &shared,
            );
            assert!(found.sum[0] < 0.0, "{z} {shape} {y}: {}", found.sum[0]);
            // Of a mean beyond all numbers only the shape is left. Small shares are subnormal numbers of few digits.
            let slope = if t > 40.0 {
                -shape
            } else {
                shape * (y - z.exp()) / (shape + z.exp())
            };
            for (found, expected) in [(found.sum[0], expected), (found.residual[0], slope)] {
                assert!(
                    (found - expected).abs() <= 1e-6 * expected.abs(),
                    "{z} {shape} {y}: {found} and not {expected}"
                );
            }
            let curvature =
                NegativeBinomialCounts::curvature::<Separate>(&[z; LANES], row.each_ref(), &shared);
            assert!(curvature.aa[0][0].is_finite(), "{z} {shape} {y}");
        }
    }
}
