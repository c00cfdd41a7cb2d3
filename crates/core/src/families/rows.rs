//! The likelihood of rows as the row loop takes it, eight at a time, and what a family needs to lay rows out.

use super::{FamilyError, Link, Outcome};
use crate::design::matrix::Design;
use ergodic_base::reporter::Reporter;

/// Rows handled together.
pub const LANES: usize = 8;
/// One number for each of [`LANES`] rows.
pub type Lane = [f64; LANES];

/// Most auxiliary coordinates of a family.
pub const MAX_AUX: usize = 2;

/// How one row's likelihood depends on its linear predictor z and on auxiliary coordinates a.
pub trait RowFamily: Copy + Send + Sync + 'static {
    /// Numbers stored per row after the covariates, at most four.
    const EXTRA: usize;
    /// Auxiliary coordinates, at most [`MAX_AUX`].
    const AUX: usize = 0;
    /// Whether log p is concave in z for every row.
    const LOG_CONCAVE: bool = false;
    /// What the rows of a pass share: functions of the auxiliary coordinates.
    type Shared: Copy;
    /// The same at `aux` ([`Self::AUX`]).
    fn shared(&self, aux: &[f64]) -> Self::Shared;
    /// Adds what the linear predictor has besides covariates: an offset, the first of the extra numbers where there is one.
    #[inline(always)]
    fn predictor(z: &mut Lane, extra: &[Lane; 4]) {
        for k in 0..LANES {
            z[k] += extra[0][k];
        }
    }
    /// Derivatives and, if `VALUE`, value of log p at z; without `VALUE` the latter mean nothing.
    fn terms<const VALUE: bool>(z: &Lane, extra: &[Lane; 4], shared: &Self::Shared) -> Terms;
    /// Second derivatives of −log p.
    fn curvature(z: &Lane, extra: &[Lane; 4], shared: &Self::Shared) -> Curvature;
    /// Largest |∂ log p/∂z| and |∂² log p/∂z²| over all z, for one row with these extra numbers; infinite if there are
    /// none.
    fn bounds(_extra: &[f64]) -> [f64; 2] {
        [f64::INFINITY; 2]
    }
    /// Largest |∂³ log p/∂z³| over all z for such a row, where it is known.
    fn third_bound(_extra: &[f64]) -> f64 {
        f64::INFINITY
    }
    /// Whether rows are normal around their predictor and begin with response and weight after the covariates.
    const NORMAL: bool = false;
    /// The distribution of a response, in internal units, around its linear predictor.
    fn outcome(&self, shared: &Self::Shared) -> Outcome;
    /// Remarks on how a model fits, given mean and weight per row at the mode.
    fn remark(_fit: &Fit<'_>, _reporter: &mut Reporter) {}
}

/// What a row's likelihood says at its linear predictor; log p = `sum` − log(`factor`).
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// ∂ log p/∂z.
    pub residual: Lane,
    /// ∂ log p/∂a, one per auxiliary coordinate; the rest means nothing.
    pub aux: [Lane; MAX_AUX],
    /// See above.
    pub sum: Lane,
    /// Between 1 and 2: products of many factors cost one logarithm.
    pub factor: Lane,
}

/// Second derivatives of −log p of a row; those of auxiliary coordinates that the family lacks mean nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Curvature {
    /// −∂² log p/∂z².
    pub zz: Lane,
    /// −∂² log p/∂z∂a, per auxiliary coordinate.
    pub za: [Lane; MAX_AUX],
    /// −∂² log p/∂a∂a': of the first, of both, of the second.
    pub aa: [Lane; 3],
}

/// A fit at the mode, for [`RowFamily::remark`].
#[derive(Debug)]
pub struct Fit<'a> {
    /// The data.
    pub design: &'a Design,
    /// Units of the linear predictor.
    pub response: ResponseScale,
    /// Linear predictors with their offsets, N; without them where the link is the identity.
    pub predictors: Vec<f64>,
}

/// All rows of a design in the layout of a family.
#[derive(Debug)]
pub struct FamilyRows<F> {
    /// The family.
    pub family: F,
    /// Covariates and then the family's numbers, row by row.
    pub data: Vec<f64>,
    /// Units of the linear predictor.
    pub response: ResponseScale,
}

/// What is made of the rows of a family that is chosen at run time.
pub trait RowUse {
    /// What comes of it.
    type Made;
    /// Makes it.
    fn of<F: RowFamily>(self, rows: FamilyRows<F>) -> Self::Made;
}

/// Rows in a layout of covariates and `extra` numbers.
pub(super) fn rows_with<const K: usize>(
    design: &Design,
    extra: impl Fn(usize) -> [f64; K],
) -> Vec<f64> {
    let mut data = Vec::with_capacity(design.x.len() + K * design.y.len());
    for (i, x) in design.x.rows().into_iter().enumerate() {
        data.extend(x.iter());
        data.extend(extra(i));
    }
    data
}

/// The `i`-th value of an optional column.
pub fn value_or(values: &Option<Vec<f64>>, i: usize, absent: f64) -> f64 {
    values.as_ref().map_or(absent, |values| values[i])
}

/// Units of the linear predictor on the scale of the data: response = centre + scale × internal response.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResponseScale {
    /// Centre, 0 without an intercept.
    pub centre: f64,
    /// Scale.
    pub scale: f64,
    /// Whether the link is the identity, so that the linear predictor has the unit of the response.
    pub identity: bool,
    /// Internal linear predictor of an average row as far as units alone decide it: the centre of the intercept's default prior.
    pub expected: f64,
}

impl ResponseScale {
    /// That of a family with this link.
    ///
    /// # Errors
    /// See [`Self::of`].
    pub fn with_link(link: Link, design: &Design) -> Result<Self, FamilyError> {
        match link {
            Link::Identity => Self::of(design),
            Link::Log => Ok(Self::log_of(design)),
            Link::Logit => Ok(Self::LINK),
        }
    }

    /// That of a linear predictor with a link: a number without a unit.
    pub const LINK: Self = Self {
        centre: 0.0,
        scale: 1.0,
        identity: false,
        expected: 0.0,
    };

    /// That of counts and positive numbers: the logarithm of a mean, of which the unit of the response and that of the exposure
    /// decide what is usual.
    pub fn log_of(design: &Design) -> Self {
        Self {
            expected: super::log_mean(design),
            ..Self::LINK
        }
    }

    /// Standardises the response less its offset: mean and standard deviation (divisor n).
    ///
    /// # Errors
    /// It is the same in all rows.
    pub fn of(design: &Design) -> Result<Self, FamilyError> {
        let [mean, scale] = design.response_units();
        // The same relative width as that of a constant predictor.
        if scale.is_nan() || scale <= 1e-14 * mean.abs() {
            let less = if design.offset.is_some() {
                " less its offset"
            } else {
                ""
            };
            return Err(FamilyError::Constant {
                response: design.response.name.clone(),
                less,
                value: mean,
                rows: design.y.len(),
            });
        }
        let centre = if design.has_intercept { mean } else { 0.0 };
        Ok(Self {
            centre,
            scale,
            identity: true,
            expected: 0.0,
        })
    }
}

/// exp(x) for x ≤ 0, to about 1 ulp; below −708 it returns exp(−708) instead of a subnormal.
#[inline(always)]
pub fn exp_negative(x: &Lane) -> Lane {
    let mut out = [0.0; LANES];
    for k in 0..LANES {
        let x = if x[k] > -LARGEST_EXPONENT {
            x[k]
        } else {
            -LARGEST_EXPONENT
        };
        out[k] = exp_of_moderate(x);
    }
    out
}

/// exp(x) to about 1 ulp; beyond ±708 that of ±708, so that it is never infinite.
#[inline(always)]
pub fn exp(x: &Lane) -> Lane {
    let mut out = [0.0; LANES];
    for k in 0..LANES {
        let x = if x[k] > -LARGEST_EXPONENT {
            x[k]
        } else {
            -LARGEST_EXPONENT
        };
        out[k] = exp_of_moderate(if x < LARGEST_EXPONENT {
            x
        } else {
            LARGEST_EXPONENT
        });
    }
    out
}

/// The exponentials of this and of its negative are normal numbers.
const LARGEST_EXPONENT: f64 = 708.0;

/// exp(x) for |x| ≤ [`LARGEST_EXPONENT`].
#[inline(always)]
fn exp_of_moderate(x: f64) -> f64 {
    // 1.5·2^52: adding it rounds to the nearest integer, which then stands in the low bits.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
    const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    // Taylor coefficients 1/0!, …, 1/13!: the remainder on |r| ≤ ln(2)/2 is below 1e-17.
    const COEFFICIENTS: [f64; 14] = [
        1.0,
        1.0,
        0.5,
        1.666_666_666_666_666_6e-1,
        4.166_666_666_666_666_4e-2,
        8.333_333_333_333_333e-3,
        1.388_888_888_888_889e-3,
        1.984_126_984_126_984e-4,
        2.480_158_730_158_73e-5,
        2.755_731_922_398_589_3e-6,
        2.755_731_922_398_589e-7,
        2.505_210_838_544_172e-8,
        2.087_675_698_786_809_8e-9,
        1.605_904_383_682_161_3e-10,
    ];
    let shifted = x * std::f64::consts::LOG2_E + ROUND;
    let whole = shifted - ROUND;
    let rest = (x - whole * LN_2_HIGH) - whole * LN_2_LOW;
    // Estrin's scheme: pairs, fours, eights. A chain of thirteen steps would wait for each of them.
    let pair = |i: usize| COEFFICIENTS[i] + COEFFICIENTS[i + 1] * rest;
    let rest_2 = rest * rest;
    let rest_4 = rest_2 * rest_2;
    let low = (pair(0) + pair(2) * rest_2) + (pair(4) + pair(6) * rest_2) * rest_4;
    let high = (pair(8) + pair(10) * rest_2) + pair(12) * rest_4;
    let sum = low + high * (rest_4 * rest_4);
    // The exponent field moves by `whole`; the result stays a normal number for |x| ≤ 708.
    f64::from_bits(sum.to_bits().wrapping_add(shifted.to_bits() << 52))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fast_exponential_is_accurate() {
        let mut worst = 0.0_f64;
        for i in 0..200_000 {
            let x = -f64::from(i) * 3.5e-3;
            let got = exp_negative(&[x; LANES])[3];
            worst = worst.max((got / x.exp() - 1.0).abs());
        }
        assert!(worst < 5e-16, "{worst}");
        assert!(exp_negative(&[-1e4; LANES])[0] < 1e-300);
        assert_eq!(exp_negative(&[0.0; LANES])[0], 1.0);
        for i in -200_000..200_000 {
            let x = f64::from(i) * 3.5e-3;
            worst = worst.max((exp(&[x; LANES])[5] / x.exp() - 1.0).abs());
        }
        assert!(worst < 5e-16, "{worst}");
        assert!(exp(&[1e4; LANES])[0] > 1e300 && exp(&[1e4; LANES])[0].is_finite());
    }
}
