//! Small models of rows of numbers, for teaching and tests: what they share.
//!
//! A file of [`examples`](self) states one row's log density, gradient and curvature, and the prior; [`ExampleModel`] makes
//! a [`Model`] of it. Sampling happens on the parameters themselves or simple functions of them: nothing is centred or
//! scaled. Rows may have weights; predictors, groups and offsets are refused.

use std::sync::Arc;

use rand::RngExt as _;
use rand_distr::StandardNormal;

use super::{
    CentreRows, ChosenBy, KnownConditional, LogDensity, Marginal, Model, ModelError, ModelOptions,
    NoPriorDraws, ParamInfo, Posterior, Prior, PriorDraws, PriorOf, PriorSource, PriorSpec,
    RowLikelihood, Rows, Scratch, Template, sum_of_rows,
};
use crate::design::{Design, Predictor, ResponseKind};
use ergodic_base::settings::Field;
use ergodic_base::{ChainRng, ParamId};

mod described;
mod gaussian_mixture;
mod multivariate_t;
mod normal_gamma;
mod normal_mean;
#[cfg(test)]
mod tests;
mod warped_gaussian;

pub use gaussian_mixture::GaussianMixture;
pub use multivariate_t::MultivariateT;
pub use normal_gamma::NormalGamma;
pub use normal_mean::NormalMean;
pub use warped_gaussian::WarpedGaussian;

/// Priors of these models are settings of the template.
const PRIORS_ARE_SETTINGS: PriorSpec = PriorSpec {
    classes: &[],
    check: |_text| {
        let why = "The prior of this template is among its settings";
        Err(ModelError::Data(why.to_owned()))
    },
    forms: "the prior is among the settings of the template",
    example: "",
};

/// One row's likelihood and the prior, on D unconstrained coordinates.
trait Example: Send + Sync + 'static {
    /// The D reported quantities.
    fn params(&self) -> Vec<ParamInfo>;
    /// Reported quantities at `u`, both D long.
    fn constrain(&self, u: &[f64], theta: &mut [f64]) {
        theta.copy_from_slice(u);
    }
    /// The inverse of [`Self::constrain`].
    fn unconstrain(&self, theta: &[f64], u: &mut [f64]) {
        u.copy_from_slice(theta);
    }
    /// Independent normal priors, one per coordinate, where the prior is made of such.
    fn priors(&self) -> &[NormalPrior] {
        &[]
    }
    /// See [`Model::log_prior`].
    fn log_prior(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        let mut sum = 0.0;
        for ((prior, &u), grad) in self.priors().iter().zip(u).zip(grad) {
            let (value, slope) = prior.log_density(u);
            sum += value;
            *grad = slope;
        }
        sum
    }
    /// See [`Model::known_conditionals`].
    fn known_conditionals(&self) -> Vec<KnownConditional> {
        Vec::new()
    }
    /// log|∂θ/∂u|, which [`Self::log_prior`] contains.
    fn log_jacobian(&self, _u: &[f64]) -> f64 {
        0.0
    }
    /// See [`Model::add_neg_hessian_log_prior`].
    fn add_prior_curvature(&self, _u: &[f64], hessian: &mut [f64]) {
        let priors = self.priors();
        for (j, prior) in priors.iter().enumerate() {
            hessian[j * priors.len() + j] += 1.0 / prior.variance;
        }
    }
    /// See [`Model::prior_density`].
    fn prior_density(&self, index: usize, value: f64) -> Option<f64> {
        Some(self.priors()[index].density(value))
    }
    /// See [`Model::prior_range`].
    fn prior_range(&self, index: usize) -> Option<(f64, f64)> {
        let NormalPrior { mean, variance } = *self.priors().get(index)?;
        let sd = variance.sqrt();
        Prior::Normal { mean, sd }.span()
    }
    /// See [`Model::marginal`]; rows come with their weights.
    fn marginal(
        &self,
        _index: usize,
        _rows: &mut dyn Iterator<Item = (&[f64], f64)>,
    ) -> Option<Marginal> {
        None
    }
    /// See [`Model::draw_prior`].
    fn draw_prior(&self, rng: &mut ChainRng, u: &mut [f64]) -> Result<(), NoPriorDraws> {
        for (prior, u) in self.priors().iter().zip(u) {
            *u = prior.draw(rng);
        }
        Ok(())
    }
    /// log p(x|u); ADDS `weight` times its gradient to `grad`.
    fn row(&self, x: &[f64], u: &[f64], weight: f64, grad: &mut [f64]) -> f64;
    /// log p(x|u).
    fn log_density(&self, x: &[f64], u: &[f64]) -> f64;
    /// ADDS `weight` times −∂²/∂u² log p(x|u) to `hessian` (D×D).
    fn add_curvature(&self, x: &[f64], u: &[f64], weight: f64, hessian: &mut [f64]);
    /// A row drawn from p(x|u).
    fn draw_row(&self, u: &[f64], rng: &mut ChainRng, x: &mut [f64]);
}

/// A parameter with what is said about it.
fn param(name: impl Into<ParamId>, meaning: &str, prior: impl Into<PriorOf>) -> ParamInfo {
    ParamInfo {
        name: name.into(),
        meaning: meaning.to_owned(),
        prior: prior.into(),
        prior_source: PriorSource::new(ChosenBy::User, "set by the template's settings"),
    }
}

/// A setting that is a number above 0.
const fn positive(label: &'static str, default: f64) -> Field {
    Field::real(label, 1e-12, 1e12, Some(default))
}

/// A setting that is the mean of a prior.
const PRIOR_MEAN: Field = Field::real("Prior mean", -1e12, 1e12, Some(0.0));

/// log of the standard normal density's constant, −log(2π)/2.
const LOG_NORMAL: f64 = -0.918_938_533_204_672_8;

fn log_normal(x: f64, mean: f64, variance: f64) -> f64 {
    LOG_NORMAL - 0.5 * variance.ln() - 0.5 * (x - mean) * (x - mean) / variance
}

/// A normal prior N(mean, variance) for every coordinate of a model.
#[derive(Clone, Copy, Debug)]
struct NormalPrior {
    mean: f64,
    variance: f64,
}

impl NormalPrior {
    fn text(&self) -> String {
        format!("normal({}, {})", self.mean, self.variance.sqrt())
    }

    /// Log density without its constant, and its derivative.
    fn log_density(&self, x: f64) -> (f64, f64) {
        let d = x - self.mean;
        (-0.5 * d * d / self.variance, -d / self.variance)
    }

    fn density(&self, x: f64) -> f64 {
        log_normal(x, self.mean, self.variance).exp()
    }

    fn draw(&self, rng: &mut ChainRng) -> f64 {
        self.mean + self.variance.sqrt() * rng.sample::<f64, _>(StandardNormal)
    }
}

/// The posterior of an [`Example`].
struct ExampleModel<E> {
    example: E,
    params: Vec<ParamInfo>,
    /// N × C, row-major.
    values: Vec<f64>,
    /// C.
    width: usize,
    weights: Option<Vec<f64>>,
    num_obs: usize,
}

/// The model of a design; `make` makes the example for rows of C numbers, whose names it is given.
fn model<T: Template, E: Example>(
    design: &Design,
    options: &ModelOptions,
    make: impl FnOnce(Vec<String>) -> Result<E, ModelError>,
) -> Result<Arc<dyn Model>, ModelError> {
    let id = T::SPEC.id;
    let unfit = |why: String| ModelError::unfit(id, why);
    super::refuse_group_terms(design, id)?;
    if let Some((key, _)) = options.priors.first() {
        return Err(unfit(format!(
            "has its prior among its own settings; remove `priors.{key}`, and see `ergodic list settings {id}`"
        )));
    }
    let (names, values) = match design.response.kind {
        ResponseKind::Absent => rows_of(design, id)?,
        ResponseKind::Number { .. } if design.num_columns() == 1 && design.has_intercept => {
            (vec![design.response.name.clone()], design.y.clone())
        }
        ResponseKind::Number { .. } => {
            return Err(unfit(format!(
                "takes no predictors; write `{} ~ 1`",
                design.response.written()
            )));
        }
        _ => {
            return Err(unfit("needs a numeric outcome".to_owned()));
        }
    };
    if design.offset.is_some() {
        return Err(unfit("takes no offsets; leave them out".to_owned()));
    }
    let width = names.len();
    if width == 0 {
        return Err(unfit(
            "needs at least one column of numbers, such as `~ x1 + x2`".to_owned(),
        ));
    }
    let example = make(names)?;
    Ok(Arc::new(ExampleModel {
        params: example.params(),
        example,
        values,
        width,
        weights: design.weights.clone(),
        num_obs: design.num_obs(),
    }))
}

/// Names of the columns and their numbers, row-major, for a template called `id`.
fn rows_of(design: &Design, id: &'static str) -> Result<(Vec<String>, Vec<f64>), ModelError> {
    let width = design.columns.len();
    let mut names = Vec::with_capacity(width);
    let mut values = vec![0.0; design.num_obs() * width];
    for (j, (name, column)) in design.columns.iter().enumerate() {
        let Predictor::Numeric(column) = column else {
            return Err(ModelError::unfit(
                id,
                format!("takes columns of numbers, but `{name}` holds categories; leave it out"),
            ));
        };
        names.push(name.clone());
        for (i, value) in column.iter().enumerate() {
            values[i * width + j] = *value;
        }
    }
    Ok((names, values))
}

impl<E: Example> ExampleModel<E> {
    /// Row `i` and its weight.
    fn at(&self, i: usize) -> (&[f64], f64) {
        let weight = self.weights.as_ref().map_or(1.0, |weights| weights[i]);
        (&self.values[i * self.width..(i + 1) * self.width], weight)
    }
}

impl<E: Example> Model for ExampleModel<E> {
    fn params(&self) -> &[ParamInfo] {
        &self.params
    }

    fn posterior(&self) -> Posterior<'_> {
        Posterior::Density(self)
    }

    fn constrain(&self, u: &[f64], theta: &mut [f64]) {
        self.example.constrain(u, theta);
    }

    fn unconstrain(&self, theta: &[f64], u: &mut [f64]) {
        self.example.unconstrain(theta, u);
    }

    fn prior_density(&self, index: usize, value: f64) -> Option<f64> {
        self.example.prior_density(index, value)
    }

    fn prior_range(&self, index: usize) -> Option<(f64, f64)> {
        self.example.prior_range(index)
    }

    fn known_conditionals(&self) -> Vec<KnownConditional> {
        self.example.known_conditionals()
    }

    fn marginal(&self, index: usize) -> Option<Marginal> {
        let mut rows = (0..self.num_obs).map(|i| self.at(i));
        self.example.marginal(index, &mut rows)
    }

    fn prior_draws(&self) -> Option<&dyn PriorDraws> {
        Some(self)
    }
}

impl<E: Example> LogDensity for ExampleModel<E> {
    fn dim(&self) -> usize {
        self.params.len()
    }

    fn log_density(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        sum_of_rows(self, u, grad)
    }

    fn rows(&self) -> Option<&dyn RowLikelihood> {
        Some(self)
    }
}

impl<E: Example> RowLikelihood for ExampleModel<E> {
    fn num_obs(&self) -> usize {
        self.num_obs
    }

    fn scratch(&self) -> Scratch {
        Scratch {
            vector: vec![0.0; self.dim()],
            ..Scratch::default()
        }
    }

    fn log_prior(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        self.example.log_prior(u, grad)
    }

    fn log_prior_density(&self, u: &[f64]) -> Option<f64> {
        let log_prior = self.example.log_prior(u, &mut vec![0.0; u.len()]);
        Some(log_prior - self.example.log_jacobian(u))
    }

    fn log_lik(&self, u: &[f64], rows: Rows<'_>, _scratch: &mut Scratch, grad: &mut [f64]) -> f64 {
        let mut sum = 0.0;
        for k in 0..rows.len(self.num_obs) {
            let (x, weight) = self.at(rows.get(k));
            sum += weight * self.example.row(x, u, weight, grad);
        }
        sum
    }

    fn pointwise(&self, u: &[f64], rows: Rows<'_>, _scratch: &mut Scratch, out: &mut [f64]) {
        for (k, out) in out.iter_mut().enumerate() {
            let (x, weight) = self.at(rows.get(k));
            *out = weight * self.example.log_density(x, u);
        }
    }

    fn scores(&self, u: &[f64], rows: Rows<'_>, _scratch: &mut Scratch, out: &mut [f64]) {
        for (k, out) in out.chunks_exact_mut(self.dim()).enumerate() {
            let (x, weight) = self.at(rows.get(k));
            out.fill(0.0);
            self.example.row(x, u, weight, out);
        }
    }

    /// Row by row, which cancels before sums do.
    fn grad_difference(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        centre: &CentreRows,
        _scratch: &mut Scratch,
        grad: &mut [f64],
    ) {
        for k in 0..rows.len(self.num_obs) {
            let (x, weight) = self.at(rows.get(k));
            self.example.row(x, u, weight, grad);
            self.example.row(x, &centre.u, -weight, grad);
        }
    }

    fn add_neg_hessian_log_lik(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        _scratch: &mut Scratch,
        hessian: &mut [f64],
    ) {
        for k in 0..rows.len(self.num_obs) {
            let (x, weight) = self.at(rows.get(k));
            self.example.add_curvature(x, u, weight, hessian);
        }
    }

    fn add_neg_hessian_log_prior(&self, u: &[f64], hessian: &mut [f64]) {
        self.example.add_prior_curvature(u, hessian);
    }
}

impl<E: Example> PriorDraws for ExampleModel<E> {
    fn draw_prior(&self, rng: &mut ChainRng, u: &mut [f64]) -> Result<(), NoPriorDraws> {
        self.example.draw_prior(rng, u)
    }

    fn width(&self) -> usize {
        self.width
    }

    fn simulate(&self, u: &[f64], rows: Rows<'_>, rng: &mut ChainRng, y: &mut [f64]) {
        debug_assert_eq!(y.len(), rows.len(self.num_obs) * self.width);
        for x in y.chunks_exact_mut(self.width) {
            self.example.draw_row(u, rng, x);
        }
    }
}
