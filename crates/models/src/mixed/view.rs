//! The view of a mixed model by its parts: coefficients, scales, and effects of groups.

use super::MixedModel;
use super::terms::GroupTerm;
use crate::families::rows::{AuxLanes as _, RowFamily};
use crate::glm::{CurvatureOf, TermsOf};
use crate::prior::PriorRows;
use crate::{Rows, Scratch};

/// The view of a posterior in which row i depends on u through z_i = x_i'β + o_i + Σ_t z_ti'r_t[g_t(i)] and few
/// auxiliary coordinates a, with r_t[g] ~ N(0, Σ_t): given the scales effects have normal priors, and given the effects
/// scales do not depend on the rows.
///
/// Samplers that update block by block need this structure ([`crate::Model::mixed_effects`]). All on the scale
/// on which sampling happens. u holds β (P), a, scales of curves, per term the scales, then per term coordinates of
/// effects; each [`GroupTerm`] says where its own are and translates coordinates to effects and back. All that is in plain
/// coordinates, which [`Self::to_plain`] makes of the model's own.
pub trait MixedEffects: Send + Sync {
    /// The group terms, possibly none.
    fn terms(&self) -> &[GroupTerm];
    /// Whether coefficients and auxiliary coordinates have one prior together, that of cut points: then [`Self::coefficient_prior`] and
    /// [`Self::auxiliary_prior`] do not say it.
    fn has_cut_points(&self) -> bool;
    /// Whether the last coefficients bend smooth curves: their prior is one of own coordinates given standard deviations among the
    /// scales, and [`Self::coefficient_prior`] does not say it.
    fn has_curves(&self) -> bool;
    /// P.
    fn num_coefficients(&self) -> usize;
    /// Number of auxiliary coordinates; they follow the coefficients in u.
    fn num_auxiliaries(&self) -> usize;
    /// Effects of all terms together.
    fn num_effects(&self) -> usize;
    /// Whether the model's own coordinates of effects are nearly independent of their scales, and of unit scale.
    fn is_whitened(&self) -> bool;
    /// The model's coordinates become plain ones, in place.
    fn to_plain(&self, u: &mut [f64]);
    /// The inverse of [`Self::to_plain`].
    fn to_own(&self, u: &mut [f64]);
    /// x_i (P).
    fn covariates(&self, row: usize) -> &[f64];
    /// The log prior of β as rows.
    fn coefficient_prior(&self) -> PriorRows;
    /// Log prior of the `k`-th auxiliary coordinate with its Jacobian, its first and its second derivative.
    fn auxiliary_prior(&self, k: usize, a: f64) -> [f64; 3];
    /// Response less offset, and weight, of a row that is N(z_i − o_i, e^{2a}/weight) up to the constant; `None` for
    /// other families.
    fn normal_row(&self, row: usize) -> Option<[f64; 2]>;
    /// ∂ log p/∂z and ∂ log p/∂a per row, row-major B×(1 + auxiliaries), given β and a in `head`
    /// and the effects of all terms.
    fn slopes(
        &self,
        head: &[f64],
        effects: &[f64],
        rows: Rows<'_>,
        scratch: &mut Scratch,
        out: &mut [f64],
    );
    /// −∂² log p/∂z² per row (B).
    fn curvatures(
        &self,
        head: &[f64],
        effects: &[f64],
        rows: Rows<'_>,
        scratch: &mut Scratch,
        out: &mut [f64],
    );
    /// Working memory for these passes.
    fn row_scratch(&self) -> Scratch;
}

impl<F: RowFamily> MixedEffects for MixedModel<F> {
    fn terms(&self) -> &[GroupTerm] {
        &self.terms
    }

    fn has_cut_points(&self) -> bool {
        self.head.has_cuts()
    }

    fn has_curves(&self) -> bool {
        !self.curves.is_empty()
    }

    fn num_coefficients(&self) -> usize {
        self.head.coefficients.len()
    }

    fn num_auxiliaries(&self) -> usize {
        self.head.num_auxiliaries()
    }

    fn num_effects(&self) -> usize {
        self.num_effects
    }

    fn is_whitened(&self) -> bool {
        self.frame.is_whitened()
    }

    fn to_plain(&self, u: &mut [f64]) {
        self.frame.to_plain(u);
    }

    fn to_own(&self, u: &mut [f64]) {
        self.frame.to_own(u);
    }

    fn covariates(&self, row: usize) -> &[f64] {
        self.rows.doubles(row)
    }

    fn coefficient_prior(&self) -> PriorRows {
        self.head.coefficients.prior_rows()
    }

    fn auxiliary_prior(&self, k: usize, a: f64) -> [f64; 3] {
        let parameter = self.head.parameters().get(k);
        parameter.map_or([0.0; 3], |parameter| parameter.log_prior(a))
    }

    fn normal_row(&self, row: usize) -> Option<[f64; 2]> {
        let extra = self.rows.extra(row);
        F::NORMAL.then(|| [extra[0], extra[1]])
    }

    fn slopes(
        &self,
        head: &[f64],
        effects: &[f64],
        rows: Rows<'_>,
        scratch: &mut Scratch,
        out: &mut [f64],
    ) {
        let width = self.rows.width();
        self.rows.each_row(
            head,
            rows,
            &mut scratch.tile,
            |i| self.shift(effects, i),
            TermsOf::<false>,
            |k, _x, lane, row| {
                out[k * width] = row.residual[lane];
                for m in 0..width - 1 {
                    out[k * width + 1 + m] = row.aux.lanes()[m][lane];
                }
            },
        );
    }

    fn curvatures(
        &self,
        head: &[f64],
        effects: &[f64],
        rows: Rows<'_>,
        scratch: &mut Scratch,
        out: &mut [f64],
    ) {
        self.rows.each_row(
            head,
            rows,
            &mut scratch.tile,
            |i| self.shift(effects, i),
            CurvatureOf,
            |k, _x, lane, row| out[k] = row.zz[lane],
        );
    }

    fn row_scratch(&self) -> Scratch {
        self.rows.scratch()
    }
}
