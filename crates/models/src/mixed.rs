//! Mixed models: η_i = x_i'β + o_i + Σ_t z_ti'r_t[g_t(i)], effects of groups r_t[g] ~ N(0, Σ_t), and a family for y_i given η_i.
//!
//! | parameter | space | default prior | scale of the prior |
//! |---|---|---|---|
//! | `b[Intercept]` | real | normal(0, 2.5), with a log link normal(log mean, 2.5) | at centred predictors; Gaussian: in sd(y) from the mean of y |
//! | `b[term]` | real | normal(0, 2.5) | per standard deviation of the predictor; Gaussian: in sd(y) |
//! | `sigma` | positive, Gaussian and Student t | half_student_t(3, 0, 2.5) | in sd(y) |
//! | `shape` | positive, negative binomial (zero-inflated or not) and gamma | lognormal(2, 2) | none |
//! | `shape` | positive, Weibull | lognormal(0.5, 1) | none |
//! | `sigma` | positive, lognormal | half_student_t(3, 0, 1) | of log y |
//! | `phi` | positive, beta | lognormal(2, 2) | none |
//! | `zi` | (0, 1), zero-inflated counts | beta(1, 1) | none |
//! | `nu` | above 1, Student t | gamma(2, 0.1) | none |
//! | `cut[a\|b]` | ordered, in place of the intercept | student_t(3, 0, 2.5) each | at centred predictors |
//! | `sd[g,term]` | positive | half_student_t(3, 0, 2.5) | as `b[term]` |
//! | `cor[g,a,b]` | (−1, 1) | lkj(1): all correlation matrices alike | none |
//! | `r[g,level,term]` | real | normal with these | |
//! | `icc[g]` | (0, 1) | follows | |
//! | `sd[s(x)]` | positive | half_student_t(3, 0, 2.5) | as the intercept |
//! | `bend[s(x),j]` | real | normal with this | |
//!
//! A smooth curve `s(x)` is a straight line with the coefficient `b[s(x)]` and what bends it, which is small or large with
//! `sd[s(x)]` ([`curves`]).
//!
//! `icc[g]`, the share of `g` in the variance of a row, is reported where all effects are intercepts: sd² over the sum of all
//! sd² and σ² (Gaussian; of the logarithm, lognormal) or π²/3, the variance of the logistic distribution (Bernoulli,
//! binomial, ordered).
//!
//! Columns of group terms are scaled but not centred (centring would change a model whose effects are independent). Row
//! likelihoods are those of `linear`, `logistic`, `poisson` and `negative-binomial`.
//!
//! `model.parametrisation`: `non-centred` samples z with r = D L z, which is independent of the scales beforehand and
//! therefore mixes where groups have few rows; `centred` samples r itself, apart from what coefficients can say for all
//! groups ([`frame`]), better where the data know every group; `auto` (default) centres the groups that
//! [`ModelOptions::well_known`] names and, where it is empty, terms with at least [`MANY_ROWS`] rows per group and effect.
//! With [`ModelOptions::working`] it takes the coordinates of [`whitening`] instead. The posterior is the same.
//!
//! Gradient: one pass over rows adds residuals into Σ_t q_t numbers each, one pass over groups takes them to coordinates
//! ([`terms`]). Curvature: central differences of the gradient, where N·D and D allow it; larger models start without
//! a mode and learn scales while warming up.
//!
//! Identifiability: a grouping of few groups leaves its sd to the prior; a term whose groups have one row each is confounded
//! with σ.

use std::ops::Range;
use std::sync::Arc;

use rand::RngExt as _;

use super::density::add_differences;
use super::glm::{GlmRows, TermsOf, ValueOf};
use super::head::Head;
use super::predicts::Predicts;
use super::regression::{Parts, PartsUse, model_of};
use super::translation::{Context, Glm, Translation};
use super::{
    Block, CentreRows, ChosenBy, LogDensity, Model, ModelError, ModelOptions, ModelSpec,
    NoPriorDraws, ParamInfo, Posterior, PriorDraws, PriorOf, PriorSource, RoundTrip, RowLikelihood,
    Rows, Scratch, Template, sum_of_rows,
};
use crate::design::Design;
use crate::families::Family;
use crate::families::rows::{AuxLanes as _, ResponseScale, RowFamily, value_or};
use curves::Curve;
use ergodic_base::linalg::axpy;
use ergodic_base::settings::{Declared as _, Settings};
use ergodic_base::{ChainRng, Class, INTERCEPT, ParamId};
use frame::Frame;
use options::{MixedSettings, PRIORS, Parametrisation};
use parameters::{check_keys, effect_params, make_term};

mod curves;
mod frame;
mod options;
mod parameters;
mod predicts;
mod terms;
mod view;
mod whitening;
mod workspace;

pub use terms::{GroupTerm, Lower, MAX_CORRELATIONS, MAX_EFFECTS};
pub use view::MixedEffects;
pub use whitening::{WorkingRows, suits_whitening};
use workspace::Workspaces;

/// Rows per group and effect from which `auto` centres: the likelihood then knows an effect some ten times better than its
/// prior does.
const MANY_ROWS: usize = 100;
/// Most rows times coordinates for which curvature is made: a matrix of curvature costs two passes over rows per coordinate.
const MAX_DENSE_WORK: usize = 10_000_000;
/// The template `mixed`.
pub struct Mixed;

impl Template for Mixed {
    const SPEC: ModelSpec = ModelSpec {
        id: "mixed",
        title: "Mixed model",
        about: "How an outcome depends on predictors whose effects vary between groups, such as schools or patients",
        fields: MixedSettings::FIELDS,
        response: |settings| family_of(settings).definition().response,
        priors: PRIORS,
    };
    const ROUND_TRIP: RoundTrip = RoundTrip {
        near: 1e-6,
        far: 1e-6,
        reason: "correlations near ±1 say little about their coordinates",
    };

    fn family(settings: &Settings) -> Option<Family> {
        Some(family_of(settings))
    }

    fn build(design: Arc<Design>, options: &ModelOptions) -> Result<Arc<dyn Model>, ModelError> {
        let family = family_of(&options.settings);
        let residual_variance = family.definition().latent_variance;
        model_of(
            family,
            design,
            Build {
                residual_variance,
                options,
            },
        )
    }

    fn translate(context: &Context<'_>) -> Result<Translation, ModelError> {
        Ok(Glm::of(context, family_of(&context.options.settings))?.describe())
    }
}

struct Build<'a> {
    residual_variance: Option<f64>,
    options: &'a ModelOptions,
}

impl PartsUse for Build<'_> {
    fn model<F: RowFamily>(self, parts: Parts<F>) -> Result<Arc<dyn Model>, ModelError> {
        MixedModel::model(parts, self.residual_variance, self.options)
    }
}

/// The family that the settings choose, by default numbers with normal noise.
fn family_of(settings: &Settings) -> Family {
    MixedSettings::read(settings).map_or(Family::Gaussian, |settings| settings.family)
}

/// The posterior of a mixed model. u holds coefficients, the family's auxiliary coordinates, log sds of curves, per term log sds and
/// correlations, then per term the effects.
struct MixedModel<F> {
    design: Arc<Design>,
    response: ResponseScale,
    rows: GlmRows<F>,
    params: Vec<ParamInfo>,
    head: Head,
    curves: Vec<Curve>,
    terms: Vec<GroupTerm>,
    /// Coordinates of scales: auxiliary, sds, correlations.
    scales: Range<usize>,
    /// Effects of all terms together.
    num_effects: usize,
    /// Variance of a row within all groups, besides σ²; `None` where shares of variance are not reported.
    residual_variance: Option<f64>,
    /// From u to coordinates with coefficients and centred effects as they are.
    frame: Frame,
    /// For passes that are given no memory.
    workspaces: Workspaces,
}

impl<F: RowFamily> MixedModel<F> {
    fn model(
        parts: Parts<F>,
        residual_variance: Option<f64>,
        options: &ModelOptions,
    ) -> Result<Arc<dyn Model>, ModelError> {
        let MixedSettings {
            parametrisation, ..
        } = MixedSettings::read(&options.settings)?;
        let (head, mut params) = parts.coordinates(options)?;
        let Parts {
            design,
            response,
            quantity,
            ..
        } = parts;
        let (curves, of_curves) = Curve::all(&design, params.len(), response, &quantity, options)?;
        params.extend(of_curves);
        let mut terms = Vec::new();
        let (mut place, mut start) = (params.len(), 0);
        for (t, group) in design.group_terms.iter().enumerate() {
            let (mut term, infos) = make_term(
                &design,
                group,
                t,
                response,
                &quantity,
                options,
                parametrisation,
            )?;
            term.start = start;
            term.scales = place..place + term.width() + term.num_correlations();
            place = term.scales.end;
            start += term.effects.len();
            params.extend(infos);
            terms.push(term);
        }
        let scales = head.coefficients.len()..place;
        for term in &mut terms {
            let len = term.effects.len();
            term.effects = place..place + len;
            place += len;
        }
        let intercepts_only =
            !terms.is_empty() && terms.iter().all(|term| term.names == [INTERCEPT]);
        let residual_variance = residual_variance.filter(|_| intercepts_only);
        if residual_variance.is_some() {
            params.extend(terms.iter().map(|term| ParamInfo {
                name: ParamId::of(Class::VarianceShare, [&term.group]),
                meaning: format!(
                    "share of {} in the variance of {}",
                    term.group, design.response.name
                ),
                prior: PriorOf::NONE,
                prior_source: PriorSource::new(
                    ChosenBy::Model,
                    "follows from the standard deviations",
                ),
            }));
        }
        for term in &terms {
            params.extend(effect_params(term, &quantity));
        }
        check_keys(&params, &terms, options)?;
        let rows = GlmRows::new(parts.family, design.terms.len(), parts.data);
        let auto = parametrisation == Parametrisation::Auto;
        let working = options.working.as_deref().filter(|_working| auto);
        let frame = Frame::new(
            &curves,
            &terms,
            head.coefficients.len(),
            &|row| rows.doubles(row),
            working,
        );
        Ok(Arc::new(Self {
            rows,
            frame,
            response,
            design,
            params,
            head,
            curves,
            terms,
            scales,
            num_effects: start,
            residual_variance,
            workspaces: Workspaces::default(),
        }))
    }

    /// What the rows' family reads of u.
    fn of_rows<'a>(&self, u: &'a [f64]) -> &'a [f64] {
        &u[..self.rows.dim()]
    }

    /// What effects add to the predictor of row `i`.
    #[inline]
    fn shift(&self, effects: &[f64], i: usize) -> f64 {
        let mut sum = 0.0;
        for term in &self.terms {
            let (z, at) = term.row(i);
            for (z, r) in z.iter().zip(&effects[at..]) {
                sum += z * r;
            }
        }
        sum
    }

    /// Effects of all terms, and as many numbers to work with.
    fn effects<'a>(&self, u: &[f64], work: &'a mut [f64]) -> (&'a mut [f64], &'a mut [f64]) {
        let (effects, rest) = work.split_at_mut(self.num_effects);
        for term in &self.terms {
            term.write_effects(u, effects);
        }
        (effects, &mut rest[..self.num_effects])
    }

    /// ADDS `factor` times the gradient of the log likelihood to `grad`, and returns the log likelihood if `VALUE`.
    fn add_gradient<const VALUE: bool>(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        factor: f64,
        scratch: &mut Scratch,
        grad: &mut [f64],
    ) -> f64 {
        if !self.frame.is_identity() {
            let dim = self.dim();
            let (own, rest) = scratch.vector.split_at_mut(2 * self.num_effects);
            let (at, rest) = rest.split_at_mut(dim);
            at.copy_from_slice(u);
            let slopes = &mut rest[..dim];
            slopes.fill(0.0);
            let tile = &mut scratch.tile;
            return self.workspaces.lend(|workspace| {
                let path = &mut workspace.path;
                self.frame.walk(at, path);
                let value = self.add_gradient_with::<VALUE>(at, rows, factor, own, tile, slopes);
                self.frame.pull_back(at, path, 0.0, slopes);
                axpy(1.0, slopes, grad);
                value
            });
        }
        self.add_gradient_with::<VALUE>(
            u,
            rows,
            factor,
            &mut scratch.vector,
            &mut scratch.tile,
            grad,
        )
    }

    /// Adds the gradient for u in plain coordinates, with the memory for effects and for a tile.
    fn add_gradient_with<const VALUE: bool>(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        factor: f64,
        work: &mut [f64],
        tile: &mut [f64],
        grad: &mut [f64],
    ) -> f64 {
        let (effects, by_effect) = self.effects(u, work);
        by_effect.fill(0.0);
        let (columns, num_aux) = (self.rows.num_columns(), self.rows.num_aux());
        let mut value = 0.0;
        self.rows.each_row(
            self.of_rows(u),
            rows,
            tile,
            |i| self.shift(effects, i),
            TermsOf::<VALUE>,
            |k, x, lane, row| {
                let residual = row.residual[lane];
                x.add_to(factor * residual, &mut grad[..columns]);
                for m in 0..num_aux {
                    grad[columns + m] += factor * row.aux.lanes()[m][lane];
                }
                let i = rows.get(k);
                for term in &self.terms {
                    let (z, at) = term.row(i);
                    axpy(residual, z, &mut by_effect[at..at + z.len()]);
                }
                if VALUE {
                    value += row.sum[lane];
                }
            },
        );
        for term in &self.terms {
            term.pull_back(u, by_effect, factor, grad);
        }
        value
    }

    /// Reported quantities at plain coordinates.
    fn report(&self, u: &[f64], theta: &mut [f64]) {
        let first = self.rows.dim();
        self.head.report(u, theta);
        for curve in &self.curves {
            theta[curve.scale] = curve.sd.report(u[curve.scale]);
        }
        let mut at = first + self.curves.len();
        for term in &self.terms {
            for (j, sd) in term.sds.iter().enumerate() {
                theta[at + j] = sd.report(u[term.scales.start + j]);
            }
            at += term.width();
            let num = term.num_correlations();
            term.write_correlations(u, &mut theta[at..at + num]);
            at += num;
        }
        if let Some(rest) = self.residual_variance {
            let variance = |j: usize| (2.0 * u[j]).exp();
            let within = rest
                + if self.head.parameters().is_empty() {
                    0.0
                } else {
                    variance(self.head.coefficients.len())
                };
            let between = |term: &GroupTerm| variance(term.scales.start);
            let total = within + self.terms.iter().map(between).sum::<f64>();
            for (theta, term) in theta[self.shares()].iter_mut().zip(&self.terms) {
                *theta = between(term) / total;
            }
        }
        let effects = &mut theta[self.shares().end..];
        for term in &self.terms {
            term.write_effects(u, effects);
            let q = term.width();
            for group in effects[term.start..][..term.effects.len()].chunks_exact_mut(q) {
                for (r, unit) in group.iter_mut().zip(&term.units) {
                    *r *= unit;
                }
            }
        }
    }

    /// Calls `with` for u with coefficients and effects as they are.
    fn in_plain<R>(&self, u: &[f64], with: impl FnOnce(&[f64]) -> R) -> R {
        self.on_path(u, |plain, _path, _log_determinant| with(plain))
    }

    /// Calls `with` for that u, with what a gradient needs to get back, and the log of the determinant of the map.
    fn on_path<R>(
        &self,
        u: &[f64],
        with: impl FnOnce(&[f64], &mut whitening::Path, f64) -> R,
    ) -> R {
        if self.frame.is_identity() {
            return with(u, &mut whitening::Path::default(), 0.0);
        }
        self.workspaces.lend(|workspace| {
            let path = &mut workspace.path;
            workspace.plain.clear();
            workspace.plain.extend_from_slice(u);
            let log_determinant = self.frame.walk(&mut workspace.plain, path);
            with(&workspace.plain, path, log_determinant)
        })
    }

    /// The log prior at plain coordinates, but for that of curves, and, overwritten, its gradient there.
    fn log_prior_with(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        let mut value = self.head.log_prior(u, grad);
        for curve in &self.curves {
            grad[curve.scale] = 0.0;
        }
        for term in &self.terms {
            value += term.log_prior(u, grad);
        }
        value
    }

    /// ADDS to `hessian` what `add` adds to one in plain coordinates.
    fn add_in_plain(&self, hessian: &mut [f64], add: impl FnOnce(&mut [f64])) {
        if self.frame.is_identity() {
            return add(hessian);
        }
        self.workspaces.lend(|workspace| {
            let plain = &mut workspace.numbers;
            plain.clear();
            plain.resize(hessian.len(), 0.0);
            add(plain);
            self.frame.pull_back_matrix(plain, self.dim());
            axpy(1.0, plain, hessian);
        });
    }

    /// Coordinates of coefficients and scales, the first of u, from reported quantities.
    fn read_scales(&self, theta: &[f64], u: &mut [f64]) {
        self.head.position(theta, u);
        for curve in &self.curves {
            u[curve.scale] = curve.sd.position(theta[curve.scale]);
        }
        for term in &self.terms {
            let at = term.scales.start;
            for (j, sd) in term.sds.iter().enumerate() {
                u[at + j] = sd.position(theta[at + j]);
            }
            term.read_correlations(&theta[at + term.width()..term.scales.end], u);
        }
    }

    /// Where shares of variance are among reported quantities.
    fn shares(&self) -> Range<usize> {
        let num = if self.residual_variance.is_some() {
            self.terms.len()
        } else {
            0
        };
        self.scales.end..self.scales.end + num
    }
}

impl<F: RowFamily> Model for MixedModel<F> {
    fn params(&self) -> &[ParamInfo] {
        &self.params
    }

    fn posterior(&self) -> Posterior<'_> {
        Posterior::Density(self)
    }

    fn predicts(&self) -> Option<&dyn Predicts> {
        Some(self)
    }

    fn constrain(&self, u: &[f64], theta: &mut [f64]) {
        self.in_plain(u, |u| self.report(u, theta));
    }

    fn unconstrain(&self, theta: &[f64], u: &mut [f64]) {
        self.read_scales(theta, u);
        let mut effects = theta[self.shares().end..].to_vec();
        for term in &self.terms {
            let q = term.width();
            for group in effects[term.start..][..term.effects.len()].chunks_exact_mut(q) {
                for (r, unit) in group.iter_mut().zip(&term.units) {
                    *r /= unit;
                }
            }
            term.read_effects(&effects, u);
        }
        self.frame.to_own(u);
    }

    fn prior_range(&self, index: usize) -> Option<(f64, f64)> {
        if index < self.head.len() {
            return self.head.prior_range(index);
        }
        if let Some(curve) = self.curves.iter().find(|curve| curve.scale == index) {
            return curve.sd.range();
        }
        let term = self
            .terms
            .iter()
            .find(|term| term.scales.contains(&index))?;
        match term.sds.get(index - term.scales.start) {
            Some(sd) => sd.range(),
            None => Some((-1.0, 1.0)),
        }
    }

    fn prior_density(&self, index: usize, value: f64) -> Option<f64> {
        if index < self.head.len() {
            return self.head.prior_density(index, value);
        }
        if let Some(curve) = self.curves.iter().find(|curve| curve.scale == index) {
            return curve.sd.density(value);
        }
        let term = self
            .terms
            .iter()
            .find(|term| term.scales.contains(&index))?;
        match term.sds.get(index - term.scales.start) {
            Some(sd) => sd.density(value),
            None => Some(term.correlation_density(value)),
        }
    }

    fn mixed_effects(&self) -> Option<&dyn MixedEffects> {
        Some(self)
    }

    fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut add = |name: ParamId, coordinates: Range<usize>| {
            if !coordinates.is_empty() {
                blocks.push(Block { name, coordinates });
            }
        };
        let p = self.head.coefficients.len();
        let straight = self.curves.first().map_or(p, |curve| curve.bends.start);
        add("b".into(), 0..straight);
        for curve in &self.curves {
            let bends = ParamId::of(Class::Bend, [&curve.name]);
            add(bends, curve.bends.clone());
        }
        add("scales".into(), self.scales.clone());
        for term in &self.terms {
            let effects = ParamId::of(Class::Effect, [&term.group]);
            add(effects, term.effects.clone());
        }
        blocks
    }

    fn prior_draws(&self) -> Option<&dyn PriorDraws> {
        Some(self)
    }
}

impl<F: RowFamily> LogDensity for MixedModel<F> {
    fn dim(&self) -> usize {
        self.scales.end + self.num_effects
    }

    fn log_density(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        sum_of_rows(self, u, grad)
    }

    fn has_dense_curvature(&self) -> bool {
        self.dim() <= super::MAX_DENSE_DIM_OF_GROUPS
            && self.num_obs() * self.dim() <= MAX_DENSE_WORK
    }

    fn init(&self, rng: &mut ChainRng, u: &mut [f64]) {
        // Scales from 0.2 to 1.6, so that predictors stay moderate whatever the number of terms.
        for (j, u) in u.iter_mut().enumerate() {
            *u = if self.scales.contains(&j) {
                rng.random_range(-1.5..0.5)
            } else {
                rng.random_range(-1.0..1.0)
            };
        }
    }

    fn rows(&self) -> Option<&dyn RowLikelihood> {
        Some(self)
    }
}

impl<F: RowFamily> RowLikelihood for MixedModel<F> {
    fn num_obs(&self) -> usize {
        self.rows.num_obs()
    }

    fn scratch(&self) -> Scratch {
        // Effects and their gradient; a position and two gradients for curvature.
        let vector = vec![0.0; 2 * self.num_effects + 3 * self.dim()];
        Scratch {
            vector,
            ..self.rows.scratch()
        }
    }

    fn log_prior(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        self.on_path(u, |plain, path, log_determinant| {
            let value = self.log_prior_with(plain, grad);
            self.frame.pull_back(plain, path, 1.0, grad);
            let of_curves = self.curves.iter();
            let of_curves: f64 = of_curves.map(|curve| curve.add_log_prior(u, grad)).sum();
            value + log_determinant + of_curves
        })
    }

    fn log_prior_density(&self, u: &[f64]) -> Option<f64> {
        let mut no_slopes = vec![0.0; self.head.len()];
        let value = self.in_plain(u, |u| {
            self.head.log_prior(u, &mut no_slopes) - self.head.log_jacobian(u)
        });
        let of_curves = self.curves.iter().map(|curve| curve.log_prior_density(u));
        let of_terms = self.terms.iter().map(|term| term.log_prior_density(u));
        Some(value + of_curves.chain(of_terms).sum::<f64>())
    }

    fn log_lik(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, grad: &mut [f64]) -> f64 {
        self.add_gradient::<true>(u, rows, 1.0, scratch, grad)
    }

    fn grad_log_lik(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, grad: &mut [f64]) {
        self.add_gradient::<false>(u, rows, 1.0, scratch, grad);
    }

    fn pointwise(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]) {
        let Scratch { vector, tile, .. } = scratch;
        self.in_plain(u, |u| {
            let (effects, _) = self.effects(u, vector);
            self.rows.each_row(
                self.of_rows(u),
                rows,
                tile,
                |i| self.shift(effects, i),
                ValueOf,
                |k, _x, lane, [value, _slope]| out[k] = value[lane],
            );
        });
    }

    fn scores(&self, u: &[f64], rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]) {
        out.fill(0.0);
        for (k, out) in out.chunks_exact_mut(self.dim()).enumerate() {
            let row = Rows::Span {
                start: rows.get(k),
                len: 1,
            };
            self.add_gradient::<false>(u, row, 1.0, scratch, out);
        }
    }

    fn score_differences(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        centre: &CentreRows,
        s: &mut Scratch,
        out: &mut [f64],
    ) {
        self.scores(u, rows, s, out);
        for (k, out) in out.chunks_exact_mut(self.dim()).enumerate() {
            let row = Rows::Span {
                start: rows.get(k),
                len: 1,
            };
            self.add_gradient::<false>(&centre.u, row, -1.0, s, out);
        }
    }

    fn add_neg_hessian_log_lik(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        scratch: &mut Scratch,
        hessian: &mut [f64],
    ) {
        let dim = self.dim();
        if !self.frame.is_linear() {
            return self.workspaces.add_differences(u, hessian, |u, grad| {
                self.add_gradient::<false>(u, rows, 1.0, scratch, grad);
            });
        }
        let (own, rest) = scratch.vector.split_at_mut(2 * self.num_effects);
        let (at, rest) = rest.split_at_mut(dim);
        at.copy_from_slice(u);
        self.frame.to_plain(at);
        self.add_in_plain(hessian, |hessian| {
            add_differences(at, rest, hessian, |u, grad| {
                self.add_gradient_with::<false>(u, rows, 1.0, own, &mut scratch.tile, grad);
            });
        });
    }

    fn add_neg_hessian_log_prior(&self, u: &[f64], hessian: &mut [f64]) {
        let dim = self.dim();
        if !self.frame.is_linear() {
            return self.workspaces.add_differences(u, hessian, |u, grad| {
                self.log_prior(u, grad);
            });
        }
        self.add_in_plain(hessian, |hessian| {
            self.in_plain(u, |u| {
                self.head.add_neg_hessian(u, dim, hessian);
                for term in &self.terms {
                    term.add_neg_hessian_log_prior(u, dim, hessian);
                }
            });
        });
    }
}

impl<F: RowFamily> PriorDraws for MixedModel<F> {
    fn draw_prior(&self, rng: &mut ChainRng, u: &mut [f64]) -> Result<(), NoPriorDraws> {
        self.head.draw_prior(rng, u)?;
        for curve in &self.curves {
            curve.draw_prior(rng, u).ok_or(NoPriorDraws::HasFlat)?;
        }
        for term in &self.terms {
            term.draw_prior(rng, u).ok_or(NoPriorDraws::HasFlat)?;
        }
        self.frame.to_own(u);
        Ok(())
    }

    fn simulate(&self, u: &[f64], rows: Rows<'_>, rng: &mut ChainRng, y: &mut [f64]) {
        let mut plain = u.to_vec();
        self.frame.to_plain(&mut plain);
        let u = &plain[..];
        let outcome = self
            .rows
            .family()
            .outcome(&self.rows.shared(self.of_rows(u)));
        let mut effects = vec![0.0; self.num_effects];
        for term in &self.terms {
            term.write_effects(u, &mut effects);
        }
        let response = self.response;
        for (k, y) in y.iter_mut().enumerate() {
            let i = rows.get(k);
            let offset = value_or(&self.design.offset, i, 0.0);
            let mut z = self.shift(&effects, i) + if response.identity { 0.0 } else { offset };
            for (x, u) in self.design.x.row(i).iter().zip(u) {
                z += x * u;
            }
            *y = outcome.draw(z, self.design.known(i), rng);
            if response.identity {
                *y = response.centre + response.scale * *y + offset;
            }
        }
    }
}

#[cfg(test)]
mod tests;
