//! Fisher scoring with control variates (`osgfs-cv`): nearly independent draws at the cost of a minibatch each.
//!
//! The update (8) of OSGFS ([`crate::samplers::fisher_scoring::osgfs`]) with three of the report's open points closed:
//!
//! * gradients are centred at the mode û, so that their noise Σ stays bounded while N grows and k need not be small;
//! * H is the exact curvature of the log posterior at û, not the spread of row gradients, so that the model need not be
//!   well specified;
//! * k is as large as it can be in every direction of the common eigenbasis of Σ and H: k_i = min(`k_max`, 4/(1 + v_i)),
//!   v_i = (N/|S|) ρ_i the gradient noise there ([`crate::samplers::fisher`]). In whitened coordinates the noise is κ/|S| times a
//!   matrix measured at the mode from score differences ([`crate::oracle::RowNoise::differences`]), averaged over the
//!   quadratic approximation of the posterior: nothing adapts. Where few rows weigh a lot they are drawn more often (`scheme`).
//!
//! In Langevin time h = k/2. `k_max` = 2 gives independent draws from the normal approximation if gradients are exact, so
//! the shape is that of a normal distribution; the smaller k, the more the gradient, and with it the true shape, has a say,
//! and the more draws are correlated: by 1 − k/2 from step to step. The default 1 is in the middle.
//!
//! Burn-in ends by the same criterion ([`crate::samplers::criterion`]). Cost of a step: |S| row gradients and 4 D².
//!
//! **Any density.** The report leaves open (section 4) what takes the place of the Fisher information where a density is not that of rows of
//! data, and suggests a Taylor approximation. Here it is that of second order at the mode û, log π(θ) ≈ log π(û) − ½ (θ − û)'H(θ − û):
//! H above is the curvature at û of whatever density there is, exact or by differences of gradients. Without rows gradients are exact,
//! Σ = 0 and k = `k_max`, and the update is θ' = θ + (k/2) H⁻¹ ∇log π(θ) + N(0, (k − ¼k²) H⁻¹): a Langevin step of h = k/2 with as much
//! less noise as makes H⁻¹ stationary. `osgfs` and `sgfs` estimate H from the spread of row gradients and cannot do without rows.
//!
//! Not for: posteriors with several modes, or skewed ones (few rows, rare outcomes): then `nuts`, which is exact.

use crate::numerics::fisher_step::k_limit;
use crate::oracle::{Estimator, Oracle, Scheme, StepError};
use crate::samplers::fisher_scoring::osgfs::steps_for;
use crate::samplers::fisher_scoring::osgfs_burn_in::{self, BurnIn, CriterionSettings};
use crate::samplers::fisher_scoring::{Scoring, check_gradient};
use crate::samplers::langevin::STEPS_PER_DRAW;
use crate::samplers::minibatch_settings::{BATCH, CENTRED_SCHEME, MinibatchSettings, Size};
use crate::samplers::recommend::Traits;
use crate::samplers::{
    InfoColumn, NOISE_SHARE, Output, OutputSpec, Sampler, SamplerFamily, SamplerSpec, StateVisitor,
    Target, Tick,
};
use ergodic_base::Streams;
use ergodic_base::linalg::Cholesky;
use ergodic_base::settings::{Declared as _, Field, SettingError};

ergodic_base::settings! {
    /// Settings of [`OsgfsCv`]; the noise of its schemes is that of independent rows, as of OSGFS.
    pub struct OsgfsCvSettings {
        batch: Option<Size> = BATCH;
        scheme: Option<Scheme> = Field::choice("Choice of rows", &["iid", "blocks", "lipschitz"], None)
            .help(
                "iid: independent rows with replacement, as the report assumes; blocks: random blocks of 8 rows; lipschitz: \
                 independent rows, the likelier the more their gradients can change, for data in which few rows weigh a lot",
            )
            .why(CENTRED_SCHEME.why);
        k_max: f64 = Field::real("Largest k", 1e-3, 2.0, Some(1.0))
            .help(
                "Upper limit of the step constant k: draws are correlated by 1 − k/2 per step; 2 gives nearly independent draws \
                 of a purely normal shape, small values follow the true shape",
            )
            .why("half the distance of a Newton step: correlation ½ per step, with the shape still drawn from the gradient");
        burn_in: BurnIn;
        steps_per_draw: Option<u64> = STEPS_PER_DRAW;
    }
}

/// The sampler `osgfs-cv`.
pub struct OsgfsCv;

/// Settings in force.
#[derive(Clone, Debug)]
pub struct OsgfsCvConfig {
    minibatch: MinibatchSettings,
    k_max: f64,
    criterion: CriterionSettings,
    steps_per_draw: u64,
}

impl Sampler for OsgfsCv {
    type Settings = OsgfsCvSettings;
    type Config = OsgfsCvConfig;
    type State = Scoring;
    const ADVICE: Traits = Traits::ORDINARY.centred(3.0).normal();
    const NEEDS_ROWS: bool = false;
    const OUTPUTS: &'static [OutputSpec] = osgfs_burn_in::OUTPUTS;
    const SPEC: SamplerSpec = SamplerSpec {
        id: "osgfs-cv",
        family: SamplerFamily::FisherScoring,
        title: "OSGFS with control variates",
        about: "Fisher scoring with minibatch gradients centred at the mode: nearly independent draws of tall data",
        cite: "El Hanchi, \"Stochastic gradient MCMC algorithms and their applications\", report, 2018, with control variates \
               and the exact bound on k",
        formula: "θ' = θ + D ĝ(θ) + N(0, 2D − D Σ D − D H D), D = ½ V diag(k_i) V', V'HV = I, V'ΣV = diag(v_i), \
                  k_i = min(k_max, 4/(1 + v_i))",
        fields: OsgfsCvSettings::FIELDS,
        info: &[
            osgfs_burn_in::COLUMNS[0],
            osgfs_burn_in::COLUMNS[1],
            InfoColumn::new(
                "k",
                "step constant k of the slowest direction; 2 would give independent draws",
            ),
            InfoColumn::new(
                NOISE_SHARE,
                "largest predicted share of gradient noise in all noise of a step, 0 to 1; it is corrected for",
            ),
        ],
        needs_mode: true,
        minibatch: true,
        bias: Some(
            "Draws lean towards a normal distribution around the mode: exact for normal posteriors, and the more skewed the \
             posterior, the more tails and standard deviations are off",
        ),
        default_warmup: 500,
        decides_warmup: true,
        ..SamplerSpec::ORDINARY
    };

    fn configure(
        settings: &mut OsgfsCvSettings,
        target: &Target,
    ) -> Result<OsgfsCvConfig, SettingError> {
        if !target.has_mode() {
            let has_rows = target.model.as_ref().is_none_or(|it| it.rows().is_some());
            let instead = if has_rows {
                "use `nuts` or `osgfs`"
            } else {
                "use `nuts`"
            };
            return Err(SettingError::no_mode("osgfs-cv", instead));
        }
        let n = target.num_obs;
        let OsgfsCvSettings { batch, scheme, .. } = settings;
        let minibatch = MinibatchSettings::settle_centred(batch, scheme, target)?;
        let rows = target
            .centred_rows(minibatch.scheme)
            .unwrap_or(f64::INFINITY);
        let k_max = settings.k_max;
        let k = k_limit(minibatch.noise_factor(n) * rows / n as f64).min(k_max);
        Ok(OsgfsCvConfig {
            minibatch,
            k_max,
            criterion: settings.burn_in.settle(k),
            steps_per_draw: *(settings.steps_per_draw).get_or_insert_with(|| steps_for(k)),
        })
    }

    fn steps_per_draw(config: &OsgfsCvConfig) -> u64 {
        config.steps_per_draw
    }

    fn init(
        config: &OsgfsCvConfig,
        u0: &[f64],
        oracle: &mut Oracle,
        _streams: &mut Streams,
    ) -> Result<Scoring, StepError> {
        config.minibatch.install(Estimator::ControlVariate, oracle);
        let indefinite = |_not_positive| StepError::not_positive("the curvature at the mode", 0);
        let Some(centre) = oracle.centre() else {
            return Err(StepError::not_positive(
                "the curvature at the mode, which was not found,",
                0,
            ));
        };
        let n = oracle.num_obs();
        let scale = config.minibatch.noise_factor(n) / n as f64;
        let mut scoring = Scoring::new(u0, config.criterion);
        scoring.sigma = unwhiten(
            &centre.factor,
            centre
                .noise(oracle.model().rows())
                .centred(config.minibatch.scheme),
            scale,
        );
        scoring
            .step
            .set_basis(&centre.hessian, &scoring.sigma)
            .map_err(indefinite)?;
        scoring
            .step
            .set_k(|v| k_limit(v).min(config.k_max))
            .map_err(indefinite)?;
        Ok(scoring)
    }

    fn step(
        _config: &OsgfsCvConfig,
        at: Tick,
        scoring: &mut Scoring,
        oracle: &mut Oracle,
        streams: &mut Streams,
        info: &mut [f64],
    ) -> Result<(), StepError> {
        oracle.grad(&scoring.u, &mut streams.batch, &mut scoring.grad);
        check_gradient(&scoring.grad, at.iter)?;
        if let Some(centre) = oracle.centre() {
            scoring.advance(&centre.hessian, &mut streams.noise, info);
        }
        Ok(())
    }

    fn position(state: &Scoring) -> &[f64] {
        &state.u
    }

    fn ready(state: &Scoring) -> bool {
        state.criterion.passed()
    }

    fn output(state: &Scoring, _k: usize) -> Output<'_> {
        Output::Numbers(state.criterion.ratios())
    }

    fn visit(state: &mut Scoring, visitor: &mut dyn StateVisitor) {
        state.visit(visitor);
    }
}

/// `scale` L W L' for a whitened matrix W.
fn unwhiten(factor: &Cholesky, whitened: &[f64], scale: f64) -> Vec<f64> {
    let dim = factor.dim();
    let mut half = vec![0.0; dim * dim];
    for (row, out) in whitened.chunks_exact(dim).zip(half.chunks_exact_mut(dim)) {
        factor.lower_mul(row, out);
    }
    // Row i of `half` is L w_i, so `half` is W L'; its columns still need L.
    let (mut column, mut result) = (vec![0.0; dim], vec![0.0; dim]);
    let mut out = vec![0.0; dim * dim];
    for j in 0..dim {
        for i in 0..dim {
            column[i] = half[i * dim + j];
        }
        factor.lower_mul(&column, &mut result);
        for i in 0..dim {
            out[i * dim + j] = scale * result[i];
        }
    }
    out
}

#[cfg(test)]
mod tests;
