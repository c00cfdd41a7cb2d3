//! Stochastic gradient Riemannian Langevin dynamics (`sgrld`): the metric is the Fisher information where the chain is.
//!
//! Sources: Patterson and Teh (2013); Chen (2016), slide "SGRLD".
//!
//! | | update |
//! |---|---|
//! | Chen | θ' = θ − h (G ∇Ũ + Γ) + sqrt(2hG) ζ, Γ_i = Σ_j ∂G_ij/∂θ_j |
//! | ours | θ' = θ + h (G ĝ + Γ) + sqrt(2h) G^{1/2} ξ: the slide's sign of Γ is wrong |
//!
//! with ĝ a minibatch estimate of ∇log π, centred at the mode or plain (`gradient`). Decreasing steps and temperatures are
//! those of [`crate::samplers::langevin`]; at temperature T the correction is TΓ.
//!
//! **Metric.** Any positive definite G(θ) leaves the posterior alone, as long as Γ belongs to it. Ours is the inverse of the
//! information of R rows, chosen once (R = 20 D, 200 to 2000), with w_i = −∂² log p/∂z² at z_i = a_i'θ + o_i, which for
//! canonical links is the expected information, and the prior's curvature at the mode:
//!
//! J(θ) = P + (N/R) Σ_{i≤R} w_i(θ) ã_i ã_i',  G = J⁻¹,  Γ = −G (N/R) Σ_{i≤R} w_i'(θ) (ã_i'G a_i) ã_i.
//!
//! In coordinates in which the curvature H at the mode is the identity, ã_i are the a_i in those in which J is, too: the rows
//! are bent so that J at the mode is H. So h has no unit, and 1 is a Newton step at the mode. Had the metric been estimated
//! from the minibatch of each step, its noise would be correlated with that of the gradient, and Γ unknown.
//!
//! **Bias.** As `sgld-cv` (centred) or `sgld` (plain) near the mode. The default step has an excess of variance of 4 % or 10 %.
//!
//! Cost of a step: B row gradients, 3R second derivatives and R D² for the metric. For: posteriors whose curvature changes a lot
//! over their width. Not for: nearly normal posteriors, where `sgld-cv` does the same for less. Needs linear predictors.

use crate::models::arithmetic::LANES;
use crate::models::{LinearRows, Model, RowLikelihood};
use crate::oracle::row_noise::spread_rows;
use crate::oracle::{Centre, Estimator, Oracle, StepError};
use crate::samplers::langevin::{
    Config, EXCESS_CENTRED, EXCESS_PLAIN, INFO, Langevin, LangevinSettings, Noise, Rates, Rule,
    TIME_CENTRED, TIME_PLAIN, centred_batch, plain_batch,
};
use crate::samplers::minibatch_settings::PlainRows;
use crate::samplers::{
    Sampler, SamplerFamily, SamplerSpec, StateVisitor, Target, Tick, Unsuitable,
};
use ergodic_base::linalg::{Cholesky, NotPositiveDefinite, axpy, dot, whiten};
use ergodic_base::settings::{Declared as _, SettingError};
use ergodic_base::{Purpose, Streams, stream};
use ergodic_diagnostics::Remedy;

/// Rows of the metric per parameter: its eigenvalues are then within some 20 % of those of all rows, before they are bent.
const ROWS_PER_DIM: usize = 20;
/// Least rows of the metric.
const ROWS_LEAST: usize = 200;
/// Most rows of the metric, because a step goes through all of them.
const ROWS_MOST: usize = 2_000;
/// Half the distance of the points of a central difference in z: the error of w' is about its square.
const DIFFERENCE: f64 = 1e-4;

ergodic_base::choice! {
    /// Estimate of the gradient.
    pub enum Gradient {
        /// With control variates.
        Centred = "centred",
        /// Without control variates, as published.
        Plain = "plain",
    }
}

ergodic_base::settings! {
    /// What `sgrld` has beside the settings of all Langevin samplers.
    pub struct Own {
        gradient: Gradient = Gradient::field("Gradient", Some(Gradient::Centred))
            .help("centred: minibatch gradients centred at the mode; plain: without control variates, as published")
            .why("little noise near the mode, so a smaller bias and longer steps");
    }
}

/// The sampler `sgrld`.
pub struct Sgrld;

/// Settings in force.
#[derive(Clone, Debug)]
pub struct SgrldConfig {
    core: Config,
    estimator: Estimator,
}

/// Position, metric, and working memory.
pub struct SgrldState {
    core: Langevin,
    metric: Metric,
}

/// J, G and Γ in coordinates η = L'(u − û) whitened by the curvature H = LL' at the mode.
pub(in crate::samplers) struct Metric {
    rows: Vec<u32>,
    /// N/R.
    scale: f64,
    /// ∂z_i/∂η, row-major R×D.
    slopes: Vec<f64>,
    /// ã_i, row-major R×D.
    bent: Vec<f64>,
    /// P, D×D.
    prior: Vec<f64>,
    /// J, D×D.
    information: Vec<f64>,
    /// J = K K'.
    factor: Cholesky,
    /// w_i', length R.
    changes: Vec<f64>,
    /// Γ, length D.
    gamma: Vec<f64>,
    vectors: [Vec<f64>; 2],
}

/// −∂² log p/∂z² of `row` at `u` and its derivative in z.
fn weight(linear: &dyn LinearRows, row: usize, u: &[f64]) -> (f64, f64) {
    let z = linear.predictor(row, u);
    // Eight at once take as long as one, or as those that differ.
    let mut around = [z; LANES];
    around[1] += DIFFERENCE;
    around[2] -= DIFFERENCE;
    let mut found = [[[0.0; LANES]; 3]];
    linear.derivatives_at(row, &[around], &mut found);
    let [[_, _, second]] = found;
    (-second[0], (second[2] - second[1]) / (2.0 * DIFFERENCE))
}

impl Metric {
    pub(in crate::samplers) fn new(
        model: &dyn RowLikelihood,
        linear: &dyn LinearRows,
        centre: &Centre,
    ) -> Result<Self, NotPositiveDefinite> {
        let (dim, num_obs) = (model.dim(), model.num_obs());
        let count = (ROWS_PER_DIM * dim).clamp(ROWS_LEAST, ROWS_MOST);
        let rows = spread_rows(num_obs, count, &mut stream(0, 3, Purpose::Data));
        let mut slopes = vec![0.0; rows.len() * dim];
        for (slope, &row) in slopes.chunks_exact_mut(dim).zip(&rows) {
            linear.covariates(row as usize).write_to(slope);
        }
        for slope in slopes.chunks_exact_mut(dim) {
            centre.factor.solve_lower(slope);
        }
        let mut prior = vec![0.0; dim * dim];
        model.add_neg_hessian_log_prior(&centre.u, &mut prior);
        whiten(&centre.factor, &mut prior);
        let mut metric = Self {
            scale: num_obs as f64 / rows.len() as f64,
            bent: slopes.clone(),
            changes: vec![0.0; rows.len()],
            information: vec![0.0; dim * dim],
            factor: Cholesky::empty(dim),
            gamma: vec![0.0; dim],
            vectors: [vec![0.0; dim], vec![0.0; dim]],
            rows,
            slopes,
            prior,
        };
        metric.set(linear, &centre.u)?;
        // Bends rows and prior so that J at the mode is the identity.
        let mode = metric.factor.clone();
        for row in metric.bent.chunks_exact_mut(dim) {
            mode.solve_lower(row);
        }
        whiten(&mode, &mut metric.prior);
        Ok(metric)
    }

    /// J and its factor at `u`, and w'.
    fn set(&mut self, linear: &dyn LinearRows, u: &[f64]) -> Result<(), NotPositiveDefinite> {
        let dim = u.len();
        self.information.copy_from_slice(&self.prior);
        for (k, bent) in self.bent.chunks_exact(dim).enumerate() {
            let (value, change) = weight(linear, self.rows[k] as usize, u);
            self.changes[k] = change;
            for i in 0..dim {
                // The lower triangle is all that is read.
                let row = &mut self.information[i * dim..=i * dim + i];
                axpy(self.scale * value * bent[i], &bent[..=i], row);
            }
        }
        self.factor.factor(&self.information)
    }

    /// J and Γ at `u`.
    pub(in crate::samplers) fn update(
        &mut self,
        linear: &dyn LinearRows,
        u: &[f64],
    ) -> Result<(), NotPositiveDefinite> {
        self.set(linear, u)?;
        let dim = u.len();
        self.gamma.fill(0.0);
        let [left, right] = &mut self.vectors;
        let rows = self
            .bent
            .chunks_exact(dim)
            .zip(self.slopes.chunks_exact(dim));
        for ((bent, slope), change) in rows.zip(&self.changes) {
            left.copy_from_slice(bent);
            right.copy_from_slice(slope);
            self.factor.solve_lower(left);
            self.factor.solve_lower(right);
            axpy(
                -self.scale * change * dot(left, right),
                bent,
                &mut self.gamma,
            );
        }
        self.factor.solve(&mut self.gamma);
        Ok(())
    }

    /// Γ, length D.
    #[cfg(test)]
    pub(in crate::samplers) fn gamma(&self) -> &[f64] {
        &self.gamma
    }

    /// G, D×D.
    #[cfg(test)]
    pub(in crate::samplers) fn inverse(&self) -> Vec<f64> {
        self.factor.inverse()
    }
}

impl Sampler for Sgrld {
    type Settings = LangevinSettings<PlainRows, Own>;
    type Config = SgrldConfig;
    type State = SgrldState;
    const SPEC: SamplerSpec = SamplerSpec {
        id: "sgrld",
        family: SamplerFamily::Langevin,
        title: "SGRLD",
        about: "Langevin dynamics whose steps are scaled by the Fisher information at the present position, for posteriors whose \
                curvature changes over their width",
        cite: "Patterson, Teh, \"Stochastic gradient Riemannian Langevin dynamics on the probability simplex\", NIPS 2013",
        formula: "θ' = θ + h (G(θ) ĝ(θ) + Γ(θ)) + sqrt(2h) G(θ)^{1/2} ξ, G = information⁻¹, Γ_i = Σ_j ∂G_ij/∂θ_j",
        fields: Self::Settings::FIELDS,
        info: INFO,
        needs_mode: true,
        minibatch: true,
        remedy: Some(Remedy::SmallerStep),
        bias: Some(
            "Standard deviations come out about 2 % too large at the default step with centred gradients and 5 % with plain ones, \
             more with larger steps; at a temperature other than 1 the target is not the posterior",
        ),
        default_warmup: 200,
        ..SamplerSpec::ORDINARY
    };

    fn suits(model: &dyn Model) -> Result<(), Unsuitable> {
        let rows = model.linear_rows();
        rows.map(|_rows| ()).ok_or(Unsuitable::NoLinearPredictor)
    }

    fn configure(
        settings: &mut Self::Settings,
        target: &Target,
    ) -> Result<SgrldConfig, SettingError> {
        let plain = plain_batch(target.num_obs);
        let (estimator, batch, noise, excess, time) = match settings.own.gradient {
            Gradient::Centred => (
                Estimator::ControlVariate,
                target.difference_rows().map_or(Ok(plain), centred_batch)?,
                Noise::Mode,
                EXCESS_CENTRED,
                TIME_CENTRED,
            ),
            Gradient::Plain => (
                Estimator::Plain,
                plain,
                Noise::Plain,
                EXCESS_PLAIN,
                TIME_PLAIN,
            ),
        };
        let minibatch = settings.rows.settle_with(target, batch);
        let rule = Rule {
            id: Self::SPEC.id,
            needs_mode: true,
            rates: Rates::Own(1.0),
            excess,
            time,
        };
        let core = Config::settle(&rule, noise, minibatch, settings, target)?;
        Ok(SgrldConfig { core, estimator })
    }

    fn steps_per_draw(config: &SgrldConfig) -> u64 {
        config.core.steps_per_draw
    }

    fn init(
        config: &SgrldConfig,
        u0: &[f64],
        oracle: &mut Oracle,
        _streams: &mut Streams,
    ) -> Result<SgrldState, StepError> {
        config.core.minibatch.install(config.estimator, oracle);
        let model = oracle.rows()?;
        let metric = match (model.linear_rows(), oracle.centre()) {
            (Some(linear), Some(centre)) => Metric::new(model, linear, centre),
            _ => Err(NotPositiveDefinite),
        };
        Ok(SgrldState {
            core: Langevin::at(u0),
            metric: metric.map_err(|_not_positive| indefinite(0))?,
        })
    }

    fn step(
        config: &SgrldConfig,
        at: Tick,
        SgrldState { core, metric }: &mut SgrldState,
        oracle: &mut Oracle,
        streams: &mut Streams,
        info: &mut [f64],
    ) -> Result<(), StepError> {
        oracle.grad(&core.u, &mut streams.batch, &mut core.grad);
        let h = core.draw_noise(&config.core, streams);
        let (Some(linear), Some(centre)) = (oracle.model().linear_rows(), oracle.centre()) else {
            return Err(indefinite(at.iter));
        };
        metric
            .update(linear, &core.u)
            .map_err(|_not_positive| indefinite(at.iter))?;
        // In whitened coordinates, with J = K K': h (K⁻ᵀK⁻¹ L⁻¹ĝ + TΓ) + sqrt(2hT) K⁻ᵀ ξ; back with L⁻ᵀ.
        centre.factor.solve_lower(&mut core.grad);
        metric.factor.solve_lower(&mut core.grad);
        axpy(h, &core.grad, &mut core.jump);
        metric.factor.solve_lower_transpose(&mut core.jump);
        axpy(h * config.core.temperature, &metric.gamma, &mut core.jump);
        centre.factor.solve_lower_transpose(&mut core.jump);
        core.finish(&config.core, at, info)
    }

    fn position(state: &SgrldState) -> &[f64] {
        &state.core.u
    }

    fn visit(state: &mut SgrldState, visitor: &mut dyn StateVisitor) {
        // The metric follows from the position.
        state.core.visit(visitor);
    }
}

fn indefinite(iter: u64) -> StepError {
    StepError::not_positive("the information of the metric", iter)
}

#[cfg(test)]
mod tests;
