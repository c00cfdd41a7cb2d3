//! Penalised smooth curves of a mixed model: what bends them is Σ_j s_j c_j(x) with s_j ~ N(0, sd²), the c_j those of
//! [`crate::design::smooth`].
//!
//! The c_j are the last columns of the design, and their coefficients in plain coordinates are coefficients like all others.
//! The model's own coordinates are z_j = s_j/sd, independent N(0, 1) beforehand (non-centred), so that sd and the s_j make no
//! funnel where the data say that a curve is nearly straight.

use std::ops::Range;

use rand::RngExt as _;
use rand_distr::StandardNormal;

use crate::design::Design;
use crate::families::rows::ResponseScale;
use crate::positive::{Positive, PositiveSpec};
use crate::prior::Prior;
use crate::{ModelError, ModelOptions, ParamInfo};
use ergodic_base::{ChainRng, Class, ParamId};

/// What bends one curve.
#[derive(Clone, Debug)]
pub(super) struct Curve {
    /// Name of the curve as it is reported: `s(x)`.
    pub name: String,
    /// Where the coefficients of the curve are in u.
    pub bends: Range<usize>,
    /// Where the logarithm of its standard deviation is in u.
    pub scale: usize,
    /// The standard deviation.
    pub sd: Positive,
    /// What the columns of the curve were divided by.
    widths: Vec<f64>,
}

impl Curve {
    /// The curves of `design`, the first standard deviation at coordinate `first`, with how these are reported.
    ///
    /// # Errors
    /// A prior that is not one of positive parameters.
    pub fn all(
        design: &Design,
        first: usize,
        response: ResponseScale,
        quantity: &str,
        options: &ModelOptions,
    ) -> Result<(Vec<Self>, Vec<ParamInfo>), ModelError> {
        let (mut curves, mut infos): (Vec<Self>, Vec<ParamInfo>) = (Vec::new(), Vec::new());
        for (j, term) in design.terms.iter().enumerate() {
            let Some((factor, _number)) = term.bend() else {
                continue;
            };
            let name = factor.label();
            let width = design.raw_scale[j];
            if let Some(curve) = curves.last_mut().filter(|curve| curve.name == name) {
                curve.bends.end = j + 1;
                curve.widths.push(width);
                continue;
            }
            let spec = PositiveSpec {
                name: ParamId::of(Class::Sd, [&name]),
                class: "sd",
                meaning: format!(
                    "standard deviation of {quantity} along the curve {name} around its straight line"
                ),
                lower: 0.0,
                unit: response.scale,
                unit_words: if response.identity {
                    format!("sd of `{}`", design.response.name)
                } else {
                    String::new()
                },
                default: Prior::StudentT {
                    df: 3.0,
                    location: 0.0,
                    scale: options.defaults.group_scale(),
                },
            };
            let (sd, info) = Positive::new(spec, options)?;
            infos.push(info);
            curves.push(Self {
                name,
                bends: j..j + 1,
                scale: first + curves.len(),
                sd,
                widths: vec![width],
            });
        }
        Ok((curves, infos))
    }

    /// Own coordinates become coefficients, in place.
    pub fn to_plain(&self, u: &mut [f64]) {
        let sd = u[self.scale].exp();
        for (u, width) in u[self.bends.clone()].iter_mut().zip(&self.widths) {
            *u *= sd * width;
        }
    }

    /// The inverse of [`Self::to_plain`].
    pub fn to_own(&self, u: &mut [f64]) {
        let sd = u[self.scale].exp();
        for (u, width) in u[self.bends.clone()].iter_mut().zip(&self.widths) {
            *u /= sd * width;
        }
    }

    /// A gradient at `plain` becomes that in own coordinates.
    pub fn pull_back(&self, plain: &[f64], grad: &mut [f64]) {
        let sd = plain[self.scale].exp();
        let mut by_scale = 0.0;
        let bends = plain[self.bends.clone()].iter().zip(&self.widths);
        for ((bend, width), slope) in bends.zip(&mut grad[self.bends.clone()]) {
            by_scale += *slope * bend;
            *slope *= sd * width;
        }
        grad[self.scale] += by_scale;
    }

    /// The log prior of its own coordinates; ADDS its gradient.
    pub fn add_log_prior(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        let [mut value, slope, _second] = self.sd.log_prior(u[self.scale]);
        grad[self.scale] += slope;
        let bends = u[self.bends.clone()].iter();
        for (z, slope) in bends.zip(&mut grad[self.bends.clone()]) {
            value -= 0.5 * z * z;
            *slope -= z;
        }
        value
    }

    /// Log density of the prior of its standard deviation.
    pub fn log_prior_density(&self, u: &[f64]) -> f64 {
        self.sd.log_prior(u[self.scale])[0] - u[self.scale]
    }

    /// Draws its standard deviation and, in plain coordinates, its coefficients from the prior; `None` where the prior is flat.
    pub fn draw_prior(&self, rng: &mut ChainRng, u: &mut [f64]) -> Option<()> {
        u[self.scale] = self.sd.draw(rng)?;
        for u in &mut u[self.bends.clone()] {
            *u = rng.sample(StandardNormal);
        }
        self.to_plain(u);
        Some(())
    }
}
