//! Coefficients of a linear predictor: names, words, priors per class or parameter, and the maps between three scales.
//!
//! Sampling happens on u: coefficients of standardised predictors, for a response that is standardised too where the link
//! is the identity. Priors hold for these or, with `standardize = false`, for the coefficients of the columns as they are
//! with the intercept at x = 0; reports are on either scale. The maps are affine, raw = T u + t with T diagonal but for the
//! intercept's row, so scaling never changes the model.

use std::sync::Arc;

use super::default_priors::DefaultPriors;
use super::prior::{Prior, PriorRows, significant};
use super::{ModelError, ModelOptions, NoPriorDraws, ParamInfo, PriorSource};
use crate::design::{Design, DesignTerm};
use crate::families::rows::ResponseScale;
use ergodic_base::linalg::dot;
use ergodic_base::numerals::rounded;
use ergodic_base::{ChainRng, Class, ParamId};

mod meaning;

pub(super) use meaning::meaning;

/// Keys of priors of coefficients, with words for them.
pub(super) const INTERCEPT: (&str, &str) = ("intercept", "Intercept");
/// See [`INTERCEPT`].
pub(super) const SLOPES: (&str, &str) = ("b", "All other coefficients");

/// The coefficients of a design, the first P coordinates of u.
pub(super) struct Coefficients {
    design: Arc<Design>,
    response: ResponseScale,
    /// One per coefficient, but for those that bend smooth curves, which come last: their prior is not said here, and nothing is
    /// added for them.
    priors: Vec<Prior>,
    /// Priors hold for raw coefficients instead of standardised ones.
    on_raw: bool,
    /// Reported coefficients are u itself.
    report_standardized: bool,
    /// The intercept has its prior elsewhere ([`super::cut_points`]).
    is_first_cut: bool,
}

impl Coefficients {
    /// Coefficients with the priors of `options`, and how they are reported; `quantity` is what the linear predictor is, such
    /// as "log odds of y".
    ///
    /// # Errors
    /// A prior is not one of real parameters.
    pub fn new(
        design: Arc<Design>,
        response: ResponseScale,
        quantity: &str,
        options: &ModelOptions,
    ) -> Result<(Self, Vec<ParamInfo>), ModelError> {
        let name = |term: &DesignTerm| ParamId::of(Class::Coefficient, [term]);
        Self::named(design, response, (quantity, name), options)
    }

    /// The coefficients and their quantities, with names that `name` makes of terms.
    ///
    /// # Errors
    /// A prior is not one of real parameters.
    pub fn named(
        design: Arc<Design>,
        response: ResponseScale,
        (quantity, name): (&str, impl Fn(&DesignTerm) -> ParamId),
        options: &ModelOptions,
    ) -> Result<(Self, Vec<ParamInfo>), ModelError> {
        let mut coefficients = Self {
            priors: Vec::new(),
            design,
            response: ResponseScale {
                // As exact as a prior of width 1 needs it.
                expected: rounded(response.expected, -2),
                ..response
            },
            on_raw: !options.standardize,
            report_standardized: options.report_standardized,
            is_first_cut: false,
        };
        let mut params = Vec::new();
        for j in 0..coefficients.len() {
            if let Some((curve, number)) = coefficients.design.terms[j].bend() {
                let curve = curve.label();
                params.push(ParamInfo {
                    meaning: format!(
                        "share of function {number} of its basis in the curve {curve}"
                    ),
                    prior: format!("normal(0, {})", ParamId::of(Class::Sd, [&curve])).into(),
                    prior_source: PriorSource::MODEL,
                    name: ParamId::of(Class::Bend, [curve, number.to_string()]),
                });
                continue;
            }
            let class = if coefficients.is_intercept(j) {
                INTERCEPT.0
            } else {
                SLOPES.0
            };
            let name = name(&coefficients.design.terms[j]);
            let (prior, source) = match options.prior(&name).or_else(|| options.prior(class)) {
                Some(text) => (Prior::parse(text)?, PriorSource::USER),
                None => {
                    let defaults = options.defaults;
                    (coefficients.default_prior(j, defaults), defaults.source())
                }
            };
            coefficients.priors.push(prior);
            params.push(ParamInfo {
                name,
                meaning: coefficients.meaning(j, quantity),
                prior: prior.into(),
                prior_source: source.at(coefficients.prior_scale(j)),
            });
        }
        Ok((coefficients, params))
    }

    /// The intercept has no prior here.
    pub fn leave_intercept(&mut self) {
        self.is_first_cut = true;
        self.priors[0] = Prior::Flat;
    }

    /// Width of the default prior of the intercept.
    pub fn default_width_of_intercept(&self, defaults: DefaultPriors) -> f64 {
        match self.default_prior(0, defaults) {
            Prior::Normal { sd, .. } => sd,
            _ => defaults.intercept_sd(),
        }
    }

    /// The intercept of a design that has one, on the scale that priors hold on.
    pub fn intercept(&self, u: &[f64]) -> f64 {
        if !self.on_raw {
            return u[0];
        }
        let (design, response) = (&self.design, self.response);
        let rest = u[1..self.len()].iter().zip(&design.raw_center[1..]);
        let less = rest.zip(&design.raw_scale[1..]);
        let less: f64 = less.map(|((u, centre), scale)| u * centre / scale).sum();
        response.centre + response.scale * (u[0] - less)
    }

    /// The derivatives of [`Self::intercept`] (P).
    pub fn intercept_slopes(&self) -> Vec<f64> {
        let (design, response) = (&self.design, self.response);
        let slope = |j: usize| match (j, self.on_raw) {
            (0, true) => response.scale,
            (0, false) => 1.0,
            (_, true) => -response.scale * design.raw_center[j] / design.raw_scale[j],
            (_, false) => 0.0,
        };
        (0..self.len()).map(slope).collect()
    }

    /// P.
    pub fn len(&self) -> usize {
        self.design.terms.len()
    }

    fn is_intercept(&self, j: usize) -> bool {
        self.design.has_intercept && j == 0
    }

    /// A normal prior per standard deviation of predictor and response; where priors hold per unit the same in the units of the
    /// data, so that a default does no harm on any scale.
    fn default_prior(&self, j: usize, defaults: DefaultPriors) -> Prior {
        let (design, response) = (&self.design, self.response);
        let in_units = response.identity || defaults.follows_units();
        if !(self.on_raw && in_units) {
            let centred = self.is_intercept(j) && in_units;
            let of_class = match self.is_intercept(j) {
                true => defaults.intercept_sd(),
                false => defaults.sd(),
            };
            return Prior::Normal {
                mean: if centred { response.expected } else { 0.0 },
                sd: of_class,
            };
        }
        let width = defaults.sd() * response.scale;
        if !self.is_intercept(j) {
            return Prior::Normal {
                mean: 0.0,
                sd: significant(width / design.raw_scale[j]),
            };
        }
        let squares: f64 = (1..self.len())
            .map(|j| (defaults.sd() * design.raw_center[j] / design.raw_scale[j]).powi(2))
            .sum();
        let own = defaults.intercept_sd().powi(2);
        let sd = significant(response.scale * (own + squares).sqrt());
        // The mean to a hundredth of the width at least.
        let place = sd.log10().floor() as i32 - 2;
        Prior::Normal {
            mean: rounded(response.centre + response.expected, place),
            sd,
        }
    }

    fn meaning(&self, j: usize, quantity: &str) -> String {
        let meaning = meaning(&self.design, j, quantity, self.report_standardized);
        format!("{meaning}{}", self.unit_of_report())
    }

    fn unit_of_report(&self) -> String {
        if self.report_standardized && self.response.identity {
            format!(", in standard deviations of {}", self.design.response.name)
        } else {
            String::new()
        }
    }

    fn prior_scale(&self, j: usize) -> String {
        let place = prior_place(self.is_intercept(j), self.on_raw);
        if !self.response.identity || self.on_raw {
            return place.to_owned();
        }
        let from = if self.is_intercept(j) {
            " from its mean"
        } else {
            ""
        };
        format!("{place}, in sd of `{}`{from}", self.design.response.name)
    }

    /// Raw coefficients (P) from u, of which the first P are read.
    fn to_raw(&self, u: &[f64], raw: &mut [f64]) {
        let (design, response) = (&self.design, self.response);
        let dim = self.len();
        for j in 0..dim {
            raw[j] = u[j] * response.scale / design.raw_scale[j];
        }
        if design.has_intercept {
            let at_average = response.centre + response.scale * u[0];
            raw[0] = at_average - dot(&raw[1..dim], &design.raw_center[1..]);
        }
    }

    /// Coefficients (P) of the columns as they are, from u.
    pub fn raw(&self, u: &[f64]) -> Vec<f64> {
        let mut raw = vec![0.0; self.len()];
        self.to_raw(u, &mut raw);
        raw
    }

    /// Reported coefficients from u, into the first P of `theta`.
    pub fn report(&self, u: &[f64], theta: &mut [f64]) {
        if self.report_standardized {
            theta[..self.len()].copy_from_slice(&u[..self.len()]);
            // What bends a curve is reported as a share of functions that have no other scale: its prior has the curve's sd.
            for j in self.bends() {
                theta[j] /= self.design.raw_scale[j];
            }
        } else {
            self.to_raw(u, theta);
        }
    }

    /// Coefficients that bend smooth curves.
    fn bends(&self) -> impl Iterator<Item = usize> {
        let terms = &self.design.terms;
        (0..self.len()).filter(|&j| terms[j].bend().is_some())
    }

    /// The coordinates (P) whose reported coefficients are `theta`.
    pub fn position(&self, theta: &[f64], u: &mut [f64]) {
        let dim = self.len();
        u[..dim].copy_from_slice(&theta[..dim]);
        if self.report_standardized {
            for j in self.bends() {
                u[j] *= self.design.raw_scale[j];
            }
        } else {
            self.standardise(&mut u[..dim]);
        }
    }

    /// Turns raw coefficients (P) into u, in place.
    fn standardise(&self, u: &mut [f64]) {
        let (design, response) = (&self.design, self.response);
        if design.has_intercept {
            let at_average = u[0] + dot(&u[1..], &design.raw_center[1..]);
            u[0] = (at_average - response.centre) / response.scale;
        }
        for j in usize::from(design.has_intercept)..u.len() {
            u[j] = u[j] * design.raw_scale[j] / response.scale;
        }
    }

    /// Draws the first P coordinates of `u` from the prior. An intercept that has none here is in `u`, on the scale that priors
    /// hold on.
    ///
    /// # Errors
    /// Why it cannot be done.
    pub fn draw_prior(&self, rng: &mut ChainRng, u: &mut [f64]) -> Result<(), NoPriorDraws> {
        let u = &mut u[..self.len()];
        let drawn = usize::from(self.is_first_cut);
        for (u, prior) in u.iter_mut().zip(&self.priors).skip(drawn) {
            *u = prior.draw(rng).ok_or(NoPriorDraws::HasFlat)?;
        }
        if self.on_raw {
            self.standardise(u);
        }
        Ok(())
    }

    /// The log prior; overwrites its gradient (P).
    pub fn log_prior(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        let dim = self.len();
        let grad = &mut grad[..dim];
        let mut log_density = 0.0;
        if self.on_raw {
            // `grad` holds the raw coefficients until each is replaced by its derivative.
            self.to_raw(u, grad);
            grad[self.priors.len()..].fill(0.0);
            for (g, prior) in grad.iter_mut().zip(&self.priors) {
                let (value, slope) = prior.log_density(*g);
                log_density += value;
                *g = slope;
            }
            self.pull_back(grad);
        } else {
            grad[self.priors.len()..].fill(0.0);
            for ((g, prior), &u) in grad.iter_mut().zip(&self.priors).zip(u) {
                let (value, slope) = prior.log_density(u);
                log_density += value;
                *g = slope;
            }
        }
        log_density
    }

    /// T' g for the linear part T of the map to raw coefficients.
    fn pull_back(&self, g: &mut [f64]) {
        let (design, response) = (&self.design, self.response);
        let intercept = if design.has_intercept { g[0] } else { 0.0 };
        for j in usize::from(design.has_intercept)..g.len() {
            g[j] = (g[j] - intercept * design.raw_center[j]) * response.scale / design.raw_scale[j];
        }
        if design.has_intercept {
            g[0] *= response.scale;
        }
    }

    /// −∂²/∂u² of the log prior, ADDED to the first P rows and columns of the row-major `hessian` (`dim` × `dim`).
    pub fn add_neg_hessian(&self, u: &[f64], dim: usize, hessian: &mut [f64]) {
        let (design, response) = (&self.design, self.response);
        let len = self.len();
        if !self.on_raw {
            for (j, prior) in self.priors.iter().enumerate() {
                hessian[j * dim + j] += prior.curvature(u[j]);
            }
            return;
        }
        for j in usize::from(design.has_intercept)..self.priors.len() {
            let scale = design.raw_scale[j] / response.scale;
            hessian[j * dim + j] += self.priors[j].curvature(u[j] / scale) / (scale * scale);
        }
        if design.has_intercept {
            // raw_0 = t_0 + Σ_j t_j u_j.
            let t = |j: usize| match j {
                0 => response.scale,
                _ => -response.scale * design.raw_center[j] / design.raw_scale[j],
            };
            let raw = response.centre + (0..len).map(|j| t(j) * u[j]).sum::<f64>();
            let curvature = self.priors[0].curvature(raw);
            for a in 0..len {
                for b in 0..len {
                    hessian[a * dim + b] += curvature * t(a) * t(b);
                }
            }
        }
    }

    /// The log prior as rows, for models whose only parameters these are.
    pub fn prior_rows(&self) -> PriorRows {
        if !self.on_raw {
            return PriorRows::independent(self.priors.clone());
        }
        // Rows are linear in u, so the constant of the intercept's map moves its prior instead.
        let mut priors = self.priors.clone();
        if self.design.has_intercept {
            priors[0] = priors[0].shifted(-self.response.centre);
        }
        let centre = self.response.centre;
        PriorRows::mapped(priors, |u, raw| {
            self.to_raw(u, raw);
            if self.design.has_intercept {
                raw[0] -= centre;
            }
        })
    }

    /// Whether the log prior is quadratic in the coefficients.
    pub fn have_normal_priors(&self) -> bool {
        let mut priors = self.priors.iter();
        priors.all(|prior| matches!(prior, Prior::Flat | Prior::Normal { .. }))
    }

    /// The prior of reported coefficient `j` on the scale it is reported on; `None` where it mixes several priors.
    pub fn prior(&self, j: usize) -> Option<Prior> {
        let prior = *self.priors.get(j)?;
        if self.on_raw != self.report_standardized {
            return Some(prior);
        }
        if self.is_intercept(j) {
            return self.prior_of_other_intercept();
        }
        let scale = self.design.raw_scale[j] / self.response.scale;
        Some(prior.scaled(if self.on_raw { scale } else { 1.0 / scale }))
    }

    /// Prior of the intercept on the scale that priors do not hold on, where it is normal: there it is the sum of the
    /// intercept and of all coefficients times their centres, and other sums have no closed form.
    fn prior_of_other_intercept(&self) -> Option<Prior> {
        let (design, response) = (&self.design, self.response);
        let (mut mean, mut variance) = (0.0, 0.0);
        for (j, prior) in self.priors.iter().enumerate() {
            let Prior::Normal { mean: m, sd } = *prior else {
                return None;
            };
            let factor = match (j, self.on_raw) {
                (0, _) => 1.0,
                (_, true) => design.raw_center[j],
                (_, false) => -design.raw_center[j] / design.raw_scale[j],
            };
            mean += factor * m;
            variance += (factor * sd).powi(2);
        }
        let sum = Prior::Normal {
            mean,
            sd: variance.sqrt(),
        };
        Some(if self.on_raw {
            sum.shifted(-response.centre).scaled(1.0 / response.scale)
        } else {
            sum.scaled(response.scale).shifted(response.centre)
        })
    }
}
/// Where the prior of an intercept or of another coefficient holds, in words.
pub(super) fn prior_place(is_intercept: bool, on_raw: bool) -> &'static str {
    match (is_intercept, on_raw) {
        (true, false) => "at average predictors",
        (true, true) => "at x = 0",
        (false, false) => "per standard deviation",
        (false, true) => "per unit",
    }
}
