//! Cut points between ordered levels: their prior, and the map to the real line.
//!
//! The K − 1 cut points are c_j = −b + Σ_{i<j} e^{a_i}: b is the intercept and a_i are the logarithms of the gaps between them, K − 2
//! coordinates after the coefficients. Each has the same prior, independent of the others but for their order, as brms has it for
//! its class `Intercept`: log p = Σ_j log p(c_j) + Σ_i a_i with the Jacobian. It holds where that of an intercept does: at average
//! predictors or, with `standardize = false`, at x = 0.
//!
//! Default: student_t(3, 0, 2.5), that of brms.

use super::coefficients::{Coefficients, prior_place};
use super::prior::Prior;
use super::{ModelError, ModelOptions, ParamInfo, PriorSource};
use crate::design::{Design, MAX_LEVELS};
use ergodic_base::{ChainRng, Class, ParamId};

/// Key of the prior of all cut points, with words for it.
pub(super) const CUTS: (&str, &str) = ("cut", "Cut points between levels");

/// Degrees of freedom of the default prior.
const DEFAULT_DF: f64 = 3.0;

/// The cut points of a model.
pub(super) struct CutPoints {
    prior: Prior,
    /// K − 1.
    num: usize,
    /// ∂b/∂u of the coefficients, where the prior holds.
    slopes: Vec<f64>,
}

/// The prior at one position.
struct At {
    /// log p of the cut points.
    value: f64,
    /// Σ_{j ≥ i} of the derivatives of log p(c_j), by i from the first cut point.
    slopes_from: [f64; MAX_LEVELS],
}

impl CutPoints {
    /// The cut points with the prior of `options`, and how they are reported.
    ///
    /// # Errors
    /// The prior is not one of real parameters.
    pub fn new(
        design: &Design,
        coefficients: &Coefficients,
        options: &ModelOptions,
    ) -> Result<(Self, Vec<ParamInfo>), ModelError> {
        let (prior, source) = match options.prior(CUTS.0) {
            Some(text) => (Prior::parse(text)?, PriorSource::USER),
            None => {
                let prior = Prior::StudentT {
                    df: DEFAULT_DF,
                    location: 0.0,
                    scale: coefficients.default_width_of_intercept(options.defaults),
                };
                (prior, options.defaults.source())
            }
        };
        let levels = design.response.levels();
        let place = prior_place(true, !options.standardize);
        let at = if options.report_standardized {
            "at average predictors"
        } else {
            "when all predictors are 0"
        };
        let name = &design.response.name;
        let params = levels.windows(2).map(|pair| ParamInfo {
            name: ParamId::of(Class::CutPoint, [format!("{}|{}", pair[0], pair[1])]),
            meaning: format!(
                "cut point between {} and {}: the log odds of {name} {} or lower {at}",
                pair[0], pair[1], pair[0]
            ),
            prior: prior.into(),
            prior_source: source.clone().at(format!("each, in order, {place}")),
        });
        let own = Self {
            prior,
            num: levels.len() - 1,
            slopes: coefficients.intercept_slopes(),
        };
        Ok((own, params.collect()))
    }

    /// K − 2.
    pub fn num_gaps(&self) -> usize {
        self.num - 1
    }

    /// The cut points of an intercept and logarithms of gaps, into the first of `cuts`.
    pub fn write(intercept: f64, log_gaps: &[f64], cuts: &mut [f64]) {
        let mut cut = -intercept;
        cuts[0] = cut;
        for (out, log_gap) in cuts[1..].iter_mut().zip(log_gaps) {
            cut += log_gap.exp();
            *out = cut;
        }
    }

    /// The cut points where the prior holds.
    fn cuts(&self, coefficients: &Coefficients, u: &[f64]) -> [f64; MAX_LEVELS] {
        let first = coefficients.len();
        let mut cuts = [0.0; MAX_LEVELS];
        let intercept = coefficients.intercept(u);
        Self::write(intercept, &u[first..first + self.num_gaps()], &mut cuts);
        cuts
    }

    fn at(&self, cuts: &[f64]) -> At {
        let mut value = 0.0;
        let mut slopes_from = [0.0; MAX_LEVELS];
        for j in (0..self.num).rev() {
            let (log_p, slope) = self.prior.log_density(cuts[j]);
            value += log_p;
            slopes_from[j] = slopes_from[j + 1] + slope;
        }
        At { value, slopes_from }
    }

    /// The log prior with the Jacobian; ADDS its gradient in the coefficients to `grad` and overwrites that in the gaps.
    pub fn add_log_prior(&self, coefficients: &Coefficients, u: &[f64], grad: &mut [f64]) -> f64 {
        let first = coefficients.len();
        let mut at = self.at(&self.cuts(coefficients, u));
        for (grad, slope) in grad.iter_mut().zip(&self.slopes) {
            *grad -= at.slopes_from[0] * slope;
        }
        for (i, &log_gap) in u[first..first + self.num_gaps()].iter().enumerate() {
            at.value += log_gap;
            grad[first + i] = 1.0 + log_gap.exp() * at.slopes_from[i + 1];
        }
        at.value
    }

    /// −∂²/∂u² of the log prior, ADDED to the row-major `hessian` (`dim` × `dim`).
    pub fn add_neg_hessian(
        &self,
        coefficients: &Coefficients,
        u: &[f64],
        dim: usize,
        hessian: &mut [f64],
    ) {
        let first = coefficients.len();
        let cuts = self.cuts(coefficients, u);
        let at = self.at(&cuts);
        let mut gaps = [0.0; MAX_LEVELS];
        for (gap, log_gap) in gaps.iter_mut().zip(&u[first..first + self.num_gaps()]) {
            *gap = log_gap.exp();
        }
        // ∂c_j/∂u, which has a gap more for each next cut point.
        let slope = |a: usize| match a.checked_sub(first) {
            None => -self.slopes[a],
            Some(gap) => gaps[gap],
        };
        for (j, &cut) in cuts[..self.num].iter().enumerate() {
            if j > 0 {
                hessian[(first + j - 1) * (dim + 1)] -= gaps[j - 1] * at.slopes_from[j];
            }
            let curvature = self.prior.curvature(cut);
            for a in 0..first + j {
                for b in 0..first + j {
                    hessian[a * dim + b] += curvature * slope(a) * slope(b);
                }
            }
        }
    }

    /// Draws from the prior: logarithms of gaps, into the first of `log_gaps`, and the intercept where the prior holds. The cut
    /// points are draws in order. `None` for a prior that cannot be drawn from.
    pub fn draw(&self, rng: &mut ChainRng, log_gaps: &mut [f64]) -> Option<f64> {
        let mut cuts: Vec<f64> = (0..self.num)
            .map(|_| self.prior.draw(rng))
            .collect::<Option<_>>()?;
        cuts.sort_by(f64::total_cmp);
        for (out, pair) in log_gaps.iter_mut().zip(cuts.windows(2)) {
            *out = (pair[1] - pair[0]).max(f64::MIN_POSITIVE).ln();
        }
        Some(-cuts[0])
    }
}
