//! Units of a response whose linear predictor has them: searches are made in standard deviations of it.

use super::MixedData;
use super::fit::MixedFit;

/// What a response less its offset is centred at, and how large it is.
#[derive(Clone, Copy, Debug)]
pub struct Units {
    centre: f64,
    scale: f64,
}

impl Units {
    /// Mean, 0 without an intercept, and standard deviation of the response of `data` less its offset.
    pub fn of(data: &MixedData) -> Self {
        let less = rest(data);
        let n = less.len() as f64;
        let mean = less.iter().sum::<f64>() / n;
        let squares: f64 = less.iter().map(|y| (y - mean).powi(2)).sum();
        let scale = (squares / n).sqrt();
        Self {
            centre: if data.scaling.has_intercept {
                mean
            } else {
                0.0
            },
            // A response that does not vary has no unit.
            scale: if scale > 0.0 { scale } else { 1.0 },
        }
    }

    /// `data` in these units, without an offset.
    pub fn standardised(self, data: &MixedData) -> MixedData {
        let less = rest(data).into_iter();
        MixedData {
            y: less.map(|y| (y - self.centre) / self.scale).collect(),
            offset: None,
            // Standard errors: a response with trials has no unit.
            known: (data.known.as_ref())
                .map(|known| known.iter().map(|se| se / self.scale).collect()),
            ..data.clone()
        }
    }

    /// A fit of [`Self::standardised`] in the units of `data`.
    pub fn back(self, mut fit: MixedFit, data: &MixedData) -> MixedFit {
        let Self { centre, scale } = self;
        let stretch = |values: &mut [f64], by: f64| values.iter_mut().for_each(|it| *it *= by);
        for effect in &mut fit.fixed {
            effect.estimate *= scale;
            effect.se *= scale;
        }
        if data.scaling.has_intercept
            && let Some(intercept) = fit.fixed.first_mut()
        {
            intercept.estimate += centre;
        }
        stretch(&mut fit.covariance, scale * scale);
        for component in &mut fit.components {
            stretch(&mut component.sd, scale);
        }
        for curve in &mut fit.curves {
            curve.sd *= scale;
            stretch(&mut curve.bends, scale);
            stretch(&mut curve.bend_sds, scale);
        }
        for effects in &mut fit.effects {
            stretch(&mut effects.mode, scale);
            stretch(&mut effects.sd, scale);
        }
        let auxiliaries = fit.family.definition().auxiliaries;
        let own = |values: &mut [f64]| {
            for (value, one) in values.iter_mut().zip(auxiliaries) {
                *value *= if one.has_unit { scale } else { 1.0 };
            }
        };
        own(&mut fit.auxiliaries);
        if let Some(errors) = &mut fit.monte_carlo {
            stretch(&mut errors.fixed, scale);
            errors.sd.iter_mut().for_each(|sd| stretch(sd, scale));
            own(&mut errors.auxiliaries);
        }
        for (row, (fixed, with_groups)) in (fit.predictors.fixed.iter_mut())
            .zip(&mut fit.predictors.with_groups)
            .enumerate()
        {
            let offset = data.offset.as_ref().map_or(0.0, |offset| offset[row]);
            *fixed = offset + centre + scale * *fixed;
            *with_groups = offset + centre + scale * *with_groups;
        }
        let jacobian = data.total_weight() * scale.ln();
        fit.log_lik -= jacobian;
        fit.aic += 2.0 * jacobian;
        fit.bic += 2.0 * jacobian;
        fit
    }
}

/// The response less its offset.
fn rest(data: &MixedData) -> Vec<f64> {
    match &data.offset {
        Some(offset) => data.y.iter().zip(offset).map(|(y, o)| y - o).collect(),
        None => data.y.clone(),
    }
}
