//! The likelihood of rows as the row loop takes it, eight at a time, and what a family needs to lay rows out.

use super::{FamilyError, Link, Outcome};
use crate::design::{Design, MAX_LEVELS};
use crate::numerics::arithmetic::Arithmetic;
pub use crate::numerics::elementary::{LANES, Lane};
use crate::numerics::pages::{Pages, ROWS_AT_ONCE};
use ergodic_base::Reporter;
use ndarray::ArrayView1;
use rayon::prelude::*;

/// Most auxiliary coordinates of a family whose number of them is fixed.
pub const MAX_AUX: usize = 2;

/// A lane for each auxiliary coordinate that a family can have, and one for each pair of them. A type, so that families of few
/// coordinates carry no more.
pub trait AuxLanes: Copy + Send + Sync {
    /// One for each pair: that of m and l ≤ m at m (m + 1)/2 + l.
    type Pairs: Copy;
    /// All zero.
    const ZERO: Self;
    /// All zero.
    const ZERO_PAIRS: Self::Pairs;
    /// By coordinate.
    fn lanes(&self) -> &[Lane];
    /// By coordinate.
    fn lanes_mut(&mut self) -> &mut [Lane];
    /// By pair.
    fn pairs(pairs: &Self::Pairs) -> &[Lane];
    /// By pair.
    fn pairs_mut(pairs: &mut Self::Pairs) -> &mut [Lane];
}

macro_rules! aux_lanes {
    ($len:expr) => {
        impl AuxLanes for [Lane; $len] {
            type Pairs = [Lane; $len * ($len + 1) / 2];
            const ZERO: Self = [[0.0; LANES]; $len];
            const ZERO_PAIRS: Self::Pairs = [[0.0; LANES]; $len * ($len + 1) / 2];

            #[inline(always)]
            fn lanes(&self) -> &[Lane] {
                self
            }

            #[inline(always)]
            fn lanes_mut(&mut self) -> &mut [Lane] {
                self
            }

            #[inline(always)]
            fn pairs(pairs: &Self::Pairs) -> &[Lane] {
                pairs
            }

            #[inline(always)]
            fn pairs_mut(pairs: &mut Self::Pairs) -> &mut [Lane] {
                pairs
            }
        }
    };
}

/// Auxiliary coordinates of a family with a fixed number of them.
pub type FewAux = [Lane; MAX_AUX];
aux_lanes!(MAX_AUX);

/// Most gaps between the cut points of ordered levels.
pub const MAX_GAPS: usize = MAX_LEVELS - 2;
/// Auxiliary coordinates of ordered levels.
pub type GapAux = [Lane; MAX_GAPS];
aux_lanes!(MAX_GAPS);

/// Whether row loops are compiled for each family whose terms are short. In builds with debug assertions they would be most of what
/// compiles: there only the rows of yes or no have loops of their own, so that tests see both ways.
pub const MANY_LOOPS: bool = cfg!(not(debug_assertions));

/// How one row's likelihood depends on its linear predictor z and on auxiliary coordinates a.
pub trait RowFamily: Copy + Send + Sync + 'static {
    /// Numbers stored per row after the covariates, at most four.
    const EXTRA: usize;
    /// Whether the first of these is an offset of the linear predictor.
    const OFFSET: bool = true;
    /// Auxiliary coordinates where their number is the same for all responses, at most [`MAX_AUX`].
    const AUX: usize = 0;
    /// How large factors ([`TermsWith::factor`]) become.
    const FACTORS: Factors = Factors::One;
    /// Whether row loops are compiled once more with the terms of this family within them: for short terms, which take less than about
    /// 6 ns per row. The loops of all other families are compiled once and call their terms, which takes about 1 ns per row. [`MANY_LOOPS`]
    /// for all but the one whose loops are compiled always.
    const WITHIN_LOOPS: bool = false;
    /// Lanes for all of them: [`FewAux`] where the number is fixed.
    type Aux: AuxLanes;
    /// Auxiliary coordinates.
    #[inline(always)]
    fn num_aux(&self) -> usize {
        Self::AUX
    }
    /// Whether log p is concave in z for every row.
    const LOG_CONCAVE: bool = false;
    /// Whether log p is quadratic in z for every row.
    const QUADRATIC: bool = false;
    /// What the rows of a pass share: functions of the auxiliary coordinates.
    type Shared: Copy;
    /// What the rows of a pass share at `aux` ([`Self::num_aux`]).
    fn shared(&self, aux: &[f64]) -> Self::Shared;
    /// What the logarithm of a row's factor counts for, the same in all rows.
    fn of_log(_shared: &Self::Shared) -> OfLog {
        OfLog::NEGATIVE
    }
    /// Derivatives and, if `VALUE`, value of log p at z, both but for the logarithms of factors ([`Self::of_log`]). Without `VALUE`
    /// derivatives are whole, and values and factors mean nothing.
    fn terms<A: Arithmetic, const VALUE: bool>(
        z: &Lane,
        extra: [&Lane; 4],
        shared: &Self::Shared,
    ) -> TermsWith<Self::Aux>;
    /// Second derivatives of −log p.
    fn curvature<A: Arithmetic>(
        z: &Lane,
        extra: [&Lane; 4],
        shared: &Self::Shared,
    ) -> CurvatureWith<Self::Aux>;
    /// Largest |∂ log p/∂z| and |∂² log p/∂z²| over all z, for one row with these extra numbers; infinite if there are
    /// none.
    fn bounds(_extra: &[f64]) -> [f64; 2] {
        [f64::INFINITY; 2]
    }
    /// Largest |∂³ log p/∂z³| over all z for such a row, where it is known.
    fn third_bound(_extra: &[f64]) -> f64 {
        f64::INFINITY
    }
    /// Whether rows are normal around their predictor and have response, weight and constant after the covariates.
    const NORMAL: bool = false;
    /// The distribution of a response, in internal units, around its linear predictor.
    fn outcome(&self, shared: &Self::Shared) -> Outcome;
    /// Remarks on how a model fits, given mean and weight per row at the mode.
    fn remark(_fit: &Fit<'_>, _reporter: &mut Reporter) {}
}

/// How large factors of rows become.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Factors {
    /// All are 1.
    One,
    /// Between 1 and 2.
    UpToTwo,
    /// From 1 to the largest number.
    Any,
}

/// What the logarithm of a row's factor is multiplied by before it is added to log p and to its derivatives.
#[derive(Clone, Copy, Debug)]
pub struct OfLog {
    /// In log p.
    pub value: f64,
    /// In ∂ log p/∂a, per auxiliary coordinate.
    pub aux: [f64; MAX_AUX],
}

impl OfLog {
    /// log p = `sum` − log(`factor`).
    pub const NEGATIVE: Self = Self {
        value: -1.0,
        aux: [0.0; MAX_AUX],
    };
}

/// What a row's likelihood says at its linear predictor, but for what the logarithm of its factor adds ([`RowFamily::of_log`]).
#[derive(Clone, Copy, Debug)]
pub struct TermsWith<A> {
    /// ∂ log p/∂z.
    pub residual: Lane,
    /// ∂ log p/∂a, one per auxiliary coordinate; the rest means nothing.
    pub aux: A,
    /// See above.
    pub sum: Lane,
    /// See [`Factors`]: the product of many costs one logarithm.
    pub factor: Lane,
}

/// Terms of a family with a fixed number of auxiliary coordinates.
pub type Terms = TermsWith<FewAux>;

impl<A: AuxLanes> Default for TermsWith<A> {
    #[inline(always)]
    fn default() -> Self {
        Self {
            residual: [0.0; LANES],
            aux: A::ZERO,
            sum: [0.0; LANES],
            factor: [0.0; LANES],
        }
    }
}

impl Terms {
    /// Terms of rows without auxiliary coordinates whose values are sums.
    #[inline(always)]
    pub(super) fn of_none(residual: Lane, sum: Lane) -> Self {
        Self::of_one(residual, [0.0; LANES], sum)
    }

    /// Terms of rows with one auxiliary coordinate whose values are sums.
    #[inline(always)]
    pub(super) fn of_one(residual: Lane, aux: Lane, sum: Lane) -> Self {
        Self {
            residual,
            aux: [aux, [0.0; LANES]],
            sum,
            factor: [1.0; LANES],
        }
    }
}

impl<X: AuxLanes> TermsWith<X> {
    /// Makes rows from the lane `first` on count for nothing.
    pub(crate) fn drop_from(&mut self, first: usize) {
        let lanes = [&mut self.residual, &mut self.sum];
        for lane in lanes.into_iter().chain(self.aux.lanes_mut()) {
            lane[first..].fill(0.0);
        }
        self.factor[first..].fill(1.0);
    }
}

/// Second derivatives of −log p of a row; those of auxiliary coordinates that the family lacks mean nothing.
#[derive(Clone, Copy, Debug)]
pub struct CurvatureWith<A: AuxLanes> {
    /// −∂² log p/∂z².
    pub zz: Lane,
    /// −∂² log p/∂z∂a, per auxiliary coordinate.
    pub za: A,
    /// −∂² log p/∂a∂a': of the first, of both, of the second, and so on ([`AuxLanes::Pairs`]).
    pub aa: A::Pairs,
}

/// Curvature of a family with a fixed number of auxiliary coordinates.
pub type Curvature = CurvatureWith<FewAux>;

impl<A: AuxLanes> Default for CurvatureWith<A> {
    #[inline(always)]
    fn default() -> Self {
        Self {
            zz: [0.0; LANES],
            za: A::ZERO,
            aa: A::ZERO_PAIRS,
        }
    }
}

impl<A: AuxLanes> CurvatureWith<A> {
    /// Makes rows from the lane `first` on count for nothing.
    pub(crate) fn drop_from(&mut self, first: usize) {
        let lanes = std::iter::once(&mut self.zz).chain(self.za.lanes_mut());
        for lane in lanes.chain(A::pairs_mut(&mut self.aa)) {
            lane[first..].fill(0.0);
        }
    }
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
    pub data: Pages<f64>,
    /// Units of the linear predictor.
    pub response: ResponseScale,
}

/// What is made of the rows of a family that is chosen at run time.
pub trait RowUse {
    /// What is made of the rows.
    type Made;
    /// Makes that of `rows`.
    fn of<F: RowFamily>(self, rows: FamilyRows<F>) -> Self::Made;
}

/// Rows in a layout of covariates and `extra` numbers.
pub(super) fn rows_with<const K: usize>(
    design: &Design,
    extra: impl Fn(usize) -> [f64; K] + Sync,
) -> Pages<f64> {
    laid_out(design, K, |i, x, row| {
        let (covariates, rest) = row.split_at_mut(x.len());
        covariates.iter_mut().zip(x).for_each(|(to, x)| *to = *x);
        rest.copy_from_slice(&extra(i));
    })
}

/// Rows of as many numbers as there are covariates and `num_extra` more: `fill` takes the number of a row, its covariates and where
/// its numbers go.
pub(super) fn laid_out(
    design: &Design,
    num_extra: usize,
    fill: impl Fn(usize, ArrayView1<'_, f64>, &mut [f64]) + Sync,
) -> Pages<f64> {
    let width = design.x.ncols() + num_extra;
    let mut rows = Pages::zeros(width * design.x.nrows());
    (rows.par_chunks_exact_mut(width).enumerate())
        .with_min_len(ROWS_AT_ONCE)
        .for_each(|(i, row)| fill(i, design.x.row(i), row));
    rows
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
    /// The scale of a family with this link.
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

    /// The scale of a linear predictor with a link: a number without a unit.
    pub const LINK: Self = Self {
        centre: 0.0,
        scale: 1.0,
        identity: false,
        expected: 0.0,
    };

    /// The scale of counts and positive numbers: the logarithm of a mean, of which the unit of the response and that of the exposure
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
