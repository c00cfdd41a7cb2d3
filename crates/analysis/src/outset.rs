//! What a likelihood fit tells of a mixed model before its chains start: which groups the data know well, and where the
//! posterior is.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use rand_distr::{Distribution as _, StandardNormal};

use super::likelihood::{self, LikelihoodOptions};
use super::recipe::{AUTO, Recipe};
use super::remark::Remark;
use ergodic_base::linalg::{Cholesky, dot};
use ergodic_base::{Class, Control, ParamId, Purpose, Warning, stream};
use ergodic_core::design::Design;
use ergodic_core::estimators::mixed::{
    Criterion, Fineness, Method, MixedData, MixedError, MixedFit, fit_gaussian, fit_generalised,
};
use ergodic_core::families::{Family, Support};
use ergodic_core::models::names::MIXED;
use ergodic_core::models::{
    Model, ModelEntry, ModelError, ModelOptions, Rows, WorkingRows, suits_whitening,
};
use ergodic_core::oracle::Centre;
use ergodic_core::samplers;

/// Information of the data about the effect of a group, relative to that of the spread of groups, from which the group is
/// well known. Between 1 and this both parametrisations do; a posterior has a mode with the effects as they are from 4 on.
const WELL_KNOWN: f64 = 5.0;
/// Rows, and effects of all but the largest term, up to which a fit takes a second or two.
const MOST_ROWS: usize = 50_000;
const MOST_CROSSED: usize = 300;
/// Dispersion of starts for the logarithms of standard deviations and of a shape, in units of the spread of starts.
const LOG_DISPERSION: f64 = 0.25;
/// Smallest standard deviation to start from, in units of the response or of the link: an estimate may be zero.
const SMALLEST_SD: f64 = 0.1;
/// What is left of correlations where chains start: estimates may be on the edge of what correlations can be together, and
/// no single one need be near one for that. Less of all of them is inside.
const SHARE_OF_CORRELATIONS: f64 = 0.9;

/// The estimates of a likelihood fit, and what follows from them.
pub struct Outset {
    fit: MixedFit,
    /// The model, with reported quantities per unit of the columns as they are.
    model: Arc<dyn Model>,
    /// By term and group: whether the data know its effects well.
    well_known: Vec<Vec<bool>>,
    /// Coordinates of effects, where these are independent and of unit scale as far as the fit tells.
    white: Option<Range<usize>>,
}

impl std::fmt::Debug for Outset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outset")
            .field("well_known", &self.well_known)
            .finish_non_exhaustive()
    }
}

/// Whether a fit is worth its time for this recipe: group terms, and a sampler whose coordinates matter.
pub(super) fn is_wanted(recipe: &Recipe, design: &Design) -> bool {
    let family = LikelihoodOptions::of(recipe).family;
    let gaussian = family == Family::Gaussian;
    let by_groups = matches!(
        recipe.sampler.id.as_str(),
        "auto" | samplers::names::GIBBS_MIXED
    );
    let sizes = design.group_terms.iter();
    let mut sizes: Vec<usize> = sizes
        .map(|term| term.names.len() * design.groups[term.factor].levels.len())
        .collect();
    sizes.sort_unstable();
    let crossed: usize = sizes.iter().rev().skip(1).sum();
    // Cut points drawn around their estimates may lose their order.
    recipe.model.template == MIXED
        && family != Family::Ordered
        && !sizes.is_empty()
        && !(gaussian && by_groups)
        && design.num_obs() <= MOST_ROWS
        && crossed <= MOST_CROSSED
}

impl Outset {
    /// Fits the model of `recipe`, which [`is_wanted`]; `None` where the likelihood has no usable maximum. Tells `options`
    /// which groups are well known.
    ///
    /// # Errors
    /// Somebody cancelled, or the model cannot be built.
    pub(super) fn find(
        recipe: &Recipe,
        design: &Arc<Design>,
        entry: &ModelEntry,
        options: &mut ModelOptions,
        control: &Control,
    ) -> Result<Option<Self>, OutsetError> {
        let family = LikelihoodOptions::of(recipe).family;
        let data = MixedData::from(Design::clone(design));
        let fitted = match likelihood::told_apart(family, design) {
            Family::Gaussian => fit_gaussian(&data, Method::Profile, Criterion::Reml, control),
            family => fit_generalised(&data, family, Method::Laplace, Fineness::default(), control),
        };
        let fit = match fitted {
            Ok(fit) => fit,
            Err(MixedError::Cancelled) => return Err(OutsetError::Cancelled),
            // Whatever keeps a likelihood from having a maximum, a prior may mend.
            Err(_) => return Ok(None),
        };
        let mut numbers = fit
            .fixed
            .iter()
            .flat_map(|effect| [effect.estimate, effect.se]);
        if !numbers.all(f64::is_finite) {
            return Ok(None);
        }
        options.well_known = well_known(&fit);
        let mut raw = ModelOptions {
            report_standardized: false,
            ..options.clone()
        };
        let mut outset = Self {
            model: (entry.build)(Arc::clone(design), &raw)?,
            well_known: options.well_known.clone(),
            white: None,
            fit,
        };
        if whitens(recipe, design, options)
            && let Some(working) = working_rows(outset.model.as_ref(), &outset.position())
        {
            options.working = Some(Arc::new(working));
            raw.working.clone_from(&options.working);
            outset.model = (entry.build)(Arc::clone(design), &raw)?;
            let blocks = outset.model.blocks();
            let effects = blocks
                .iter()
                .filter(|block| block.name.class() == Class::Effect);
            let first = effects.map(|block| block.coordinates.start).min();
            outset.white = first.map(|first| first..outset.model.dim());
        }
        Ok(Some(outset))
    }

    /// Whether effects have coordinates of their own, independent and of unit scale as far as the fit tells.
    pub fn is_whitened(&self) -> bool {
        self.white.is_some()
    }

    /// Whether coordinates depend on what the fit tells of groups.
    pub fn knows_groups(&self) -> bool {
        self.white.is_some() || self.well_known.iter().flatten().any(|&known| known)
    }

    /// The estimates as coordinates, in the parametrisation that [`Self::knows_groups`] leads to.
    pub fn position(&self) -> Vec<f64> {
        self.place(0.0, &mut || 0.0)
    }

    /// Where chain `chain` starts: `spread` standard errors around the estimates.
    pub fn start(&self, spread: f64, (seed, chain): (u64, usize)) -> Vec<f64> {
        let mut rng = stream(seed, chain, Purpose::Init);
        let mut noise = || StandardNormal.sample(&mut rng);
        let mut u = self.place(spread, &mut noise);
        if let Some(effects) = &self.white {
            u[effects.clone()].copy_from_slice(&self.position()[effects.clone()]);
            for u in &mut u[effects.clone()] {
                *u += spread * noise();
            }
        }
        u
    }

    /// Estimates plus `noise` times `spread` times what they are uncertain by.
    fn place(&self, spread: f64, noise: &mut dyn FnMut() -> f64) -> Vec<f64> {
        let fit = &self.fit;
        let mut values: HashMap<ParamId, f64> = HashMap::new();
        let p = fit.fixed.len();
        let mut shift = vec![0.0; p];
        if let Ok(factor) = Cholesky::of(&fit.covariance, p) {
            let drawn: Vec<f64> = (0..p).map(|_| spread * noise()).collect();
            factor.lower_mul(&drawn, &mut shift);
        }
        for (effect, shift) in fit.fixed.iter().zip(shift) {
            let coefficient = ParamId::of(Class::Coefficient, [&effect.name]);
            values.insert(coefficient, effect.estimate + shift);
        }
        let mut around = |value: f64| value * (LOG_DISPERSION * spread * noise()).exp();
        for (one, value) in fit.parameters() {
            // Where the likelihood is flat, an estimate may be anywhere.
            let value = match one.support {
                Support::Above(0.0) => around(match fit.sigma {
                    Some(sigma) => sigma,
                    None => value.clamp(1e-2, 1e3),
                }),
                Support::Above(lower) => lower + around((value - lower).clamp(1e-2, 1e3)),
                Support::Chance => {
                    let odds = value.clamp(1e-3, 1.0 - 1e-3);
                    let odds = around(odds / (1.0 - odds));
                    odds / (1.0 + odds)
                }
            };
            values.insert(ParamId::named(one.name), value);
        }
        for component in &fit.components {
            let (group, q) = (&component.group, component.names.len());
            for (j, name) in component.names.iter().enumerate() {
                values.insert(
                    ParamId::of(Class::Sd, [group, name]),
                    around(component.sd[j]),
                );
                for (k, other) in component.names.iter().enumerate().take(j) {
                    let correlation = component.correlation[j * q + k];
                    // None is told where a standard deviation is zero.
                    let inside = if correlation.is_finite() {
                        SHARE_OF_CORRELATIONS * correlation
                    } else {
                        0.0
                    };
                    let of_both = ParamId::of(Class::Correlation, [group, other, name]);
                    values.insert(of_both, inside);
                }
            }
        }
        for curve in &fit.curves {
            let sd = around(curve.sd);
            values.insert(ParamId::of(Class::Sd, [&curve.name]), sd);
        }
        for curve in &fit.curves {
            for (k, (bend, sd)) in curve.bends.iter().zip(&curve.bend_sds).enumerate() {
                let sd = if sd.is_finite() { *sd } else { 0.0 };
                let id = ParamId::of(Class::Bend, [curve.name.clone(), (k + 1).to_string()]);
                values.insert(id, bend + spread * sd * noise());
            }
        }
        for term in &fit.effects {
            let q = term.names.len();
            for (k, (mode, sd)) in term.mode.iter().zip(&term.sd).enumerate() {
                let (level, name) = (&term.levels[k / q], &term.names[k % q]);
                let sd = if sd.is_finite() { *sd } else { 0.0 };
                let value = mode + spread * sd * noise();
                values.insert(
                    ParamId::of(Class::Effect, [&term.group, level, name]),
                    value,
                );
            }
        }
        let params = self.model.params();
        // Quantities at scales that are as small as they may be.
        let mut least = vec![0.0; params.len()];
        self.model
            .constrain(&vec![SMALLEST_SD.ln(); self.model.dim()], &mut least);
        let theta: Vec<f64> = params
            .iter()
            .zip(&least)
            .map(|(param, least)| {
                let value = values.get(&param.name).copied().unwrap_or(0.5);
                if param.name.class() == Class::Sd || param.name == "sigma" {
                    value.max(*least)
                } else {
                    value
                }
            })
            .collect();
        let mut u = vec![0.0; self.model.dim()];
        self.model.unconstrain(&theta, &mut u);
        u
    }

    /// Which effects are sampled as they are, in words; `None` if none are.
    pub fn remark(&self) -> Option<Warning> {
        if self.white.is_some() {
            return None;
        }
        let mut parts = Vec::new();
        for (term, known) in self.fit.components.iter().zip(&self.well_known) {
            let count = known.iter().filter(|&&known| known).count();
            if count > 1 {
                parts.push(format!(
                    "{count} of {} groups of `{}`",
                    known.len(),
                    term.group
                ));
            }
        }
        (!parts.is_empty()).then(|| Warning::from(Remark::CentredEffects { groups: parts }))
    }
}

/// Standard deviation of the logarithm of a spread of groups from which a mode tells nothing of it: priors leave it a few units.
const NOTHING_KNOWN: f64 = 50.0;

/// Whether a mode is none to start from: with effects as they are the density is level, or rises without bound, where their
/// spread goes to zero, and a search may end there.
pub(super) fn has_lost_spread(model: &dyn Model, centre: &Centre) -> bool {
    let Some(view) = model.mixed_effects() else {
        return false;
    };
    let sds = centre.sds();
    let terms = (view.terms().iter()).filter(|term| !view.is_whitened() && term.num_centred() > 0);
    let mut spreads = terms.flat_map(|term| term.scales.clone().take(term.names.len()));
    spreads.any(|j| sds[j].is_nan() || sds[j] >= NOTHING_KNOWN)
}

/// Whether a run of `recipe` takes coordinates that need a pass over groups of all rows at each step.
fn whitens(recipe: &Recipe, design: &Design, options: &ModelOptions) -> bool {
    let id = recipe.sampler.id.as_str();
    let by_all_rows = || samplers::find(id).is_some_and(|entry| !entry.spec.minibatch);
    options.settings.text("parametrisation") == Some(AUTO)
        && suits_whitening(design)
        && (id == AUTO || by_all_rows())
}

/// The parabolas of rows at the coordinates `u` of `model`; `None` where they are not finite.
fn working_rows(model: &dyn Model, u: &[f64]) -> Option<WorkingRows> {
    let view = model.mixed_effects()?;
    let mut plain = u.to_vec();
    view.to_plain(&mut plain);
    let mut effects = vec![0.0; view.num_effects()];
    for term in view.terms() {
        term.write_effects(&plain, &mut effects);
    }
    let (p, width) = (view.num_coefficients(), 1 + view.num_auxiliaries());
    let head = &plain[..p + view.num_auxiliaries()];
    let (n, mut scratch) = (model.num_obs(), view.row_scratch());
    let mut weights = vec![0.0; n];
    view.curvatures(head, &effects, Rows::All, &mut scratch, &mut weights);
    let mut slopes = vec![0.0; n * width];
    view.slopes(head, &effects, Rows::All, &mut scratch, &mut slopes);
    let scores = (weights.iter().zip(slopes.chunks_exact(width)).enumerate())
        .map(|(i, (weight, slopes))| {
            let of_terms = view.terms().iter().map(|term| {
                let (z, at) = term.row(i);
                dot(z, &effects[at..at + z.len()])
            });
            weight * (dot(view.covariates(i), &head[..p]) + of_terms.sum::<f64>()) + slopes[0]
        })
        .collect();
    let working = WorkingRows { weights, scores };
    let fits = working.weights.iter().all(|h| *h >= 0.0 && h.is_finite())
        && working.scores.iter().all(|score| score.is_finite());
    fits.then_some(working)
}

/// By term and group, whether the data tell all effects of the group much better than its standard deviations do.
fn well_known(fit: &MixedFit) -> Vec<Vec<bool>> {
    fit.components
        .iter()
        .zip(&fit.effects)
        .map(|(component, effects)| {
            let q = component.names.len();
            let informed = |k: usize, sd: f64| {
                let ratio = (component.sd[k] / sd).powi(2);
                ratio.is_finite() && ratio - 1.0 >= WELL_KNOWN
            };
            let groups = effects.sd.chunks_exact(q);
            groups
                .map(|sds| sds.iter().enumerate().all(|(k, &sd)| informed(k, sd)))
                .collect()
        })
        .collect()
}

/// Why there is no outset.
#[derive(Debug, thiserror::Error)]
pub(super) enum OutsetError {
    /// Somebody cancelled.
    #[error("the likelihood fit was cancelled")]
    Cancelled,
    /// The model.
    #[error(transparent)]
    Model(#[from] ModelError),
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::Job;

    /// Intercepts and slopes of five groups whose correlations 0.5, 0.5 and −0.5 leave one of them no variation of its own.
    #[test]
    fn chains_start_inside_where_the_estimates_are_on_the_edge() {
        let mut text = "y,x,w,g\n".to_owned();
        for g in 0..5_i32 {
            let [a, b] = [
                [2.0, 0.5],
                [-1.0, 1.5],
                [0.5, -2.0],
                [-1.8, -0.9],
                [0.3, 0.9],
            ][g as usize];
            let (on_x, on_w) = (0.5 * a + 0.87 * b, 0.5 * a - 0.87 * b);
            for k in 0..16_i32 {
                let sign = |bit: i32| f64::from(1 - 2 * ((k >> bit) & 1));
                // The rest is orthogonal to both predictors.
                let y = 5.0 + a + on_x * sign(0) + on_w * sign(1) + 0.7 * sign(2) * sign(3);
                text.push_str(&format!("{y},{},{},g{g}\n", sign(0), sign(1)));
            }
        }
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("edge.csv"), text).unwrap();
        let mut recipe = Recipe::new("edge.csv", "mixed", "y ~ x + w + (x + w | g)");
        recipe.sampler.id = "nuts".to_owned();
        let control = Control::default();
        let job = Job::prepare(&recipe, Path::new(folder.path()), None, &control).unwrap();
        let outset = job.outset.as_ref().unwrap();
        assert!(outset.fit.is_singular());
        let largest = outset.fit.components[0].correlation.iter();
        assert!(
            largest
                .filter(|c| c.abs() < 1.0 - 1e-9)
                .all(|c| c.abs() < 0.9)
        );
        let model = job.model.as_ref();
        for u in [
            outset.position(),
            outset.start(2.0, (1, 0)),
            outset.start(2.0, (1, 3)),
        ] {
            let mut grad = vec![0.0; model.dim()];
            let value = model.density().unwrap().log_density(&u, &mut grad);
            assert!(value.is_finite(), "{u:?}");
            // On the edge a partial correlation has a coordinate of 18, where rounding ends, or more.
            assert!(u.iter().all(|u| u.abs() < 15.0), "{u:?}");
        }
    }

    /// With effects as they are the density is level where the spread of one group vanishes, and without bound where that of
    /// more does.
    #[test]
    fn effects_of_few_groups_are_sampled_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        for groups in [1, 2, 6] {
            let mut text = "y,x,g\n".to_owned();
            for i in 0..60_i32 {
                let noise = f64::from(i * i % 17) - 8.0;
                let x = f64::from(i % 7) - 3.0;
                text.push_str(&format!("{},{x},g{}\n", 0.5 * x + 0.2 * noise, i % groups));
            }
            std::fs::write(folder.path().join("few.csv"), text).unwrap();
            for sampler in ["auto", "nuts"] {
                let mut recipe = Recipe::new("few.csv", "mixed", "y ~ x + (1 | g)");
                recipe.sampler.id = sampler.to_owned();
                (recipe.run.draws, recipe.run.until_precise) = (100, false);
                let changes = ["model.parametrisation=centred".to_owned()];
                let recipe = recipe.changed(&changes).unwrap();
                let control = Control::default();
                let job = Job::prepare(&recipe, folder.path(), None, &control).unwrap();
                let mut run = crate::Run::start(Arc::new(job), None, None).unwrap();
                run.join();
                let view = run.view();
                assert_eq!(view.usable().count(), 4, "{groups} {sampler}");
                assert_eq!(view.draws_per_chain(), 100, "{groups} {sampler}");
            }
        }
    }
}
