//! Stochastic gradient Langevin dynamics with a fixed step, plain (`sgld`) and with control variates (`sgld-cv`).
//!
//! Sources: Welling and Teh (2011); Baker, Fearnhead, Fox and Nemeth, "Control variates for stochastic gradient
//! MCMC" (2019), algorithm 1 and equation (3.3.1) of Baker's thesis.
//!
//! | | update |
//! |---|---|
//! | ours | θ' = θ + h M ĝ + sqrt(2h) M^{1/2} ξ |
//! | Welling and Teh, thesis main text | θ' = θ + (ε/2) ĝ + N(0, ε), so h = ε/2 ([`super::convention`]) |
//!
//! with ĝ the minibatch estimate of ∇log π (`sgld`) or the same estimate centred at the mode (`sgld-cv`), and M = H⁻¹,
//! the inverse curvature at the mode, or the identity (`precondition = none`).
//!
//! **Bias.** In a direction in which H is 1, gradient noise of variance V makes the stationary variance
//! (2h + h²V)/(1 − (1−h)²) = (1 + hV/2)/(1 − h/2) instead of 1. Plain gradients have V = (N/B) ρ with ρ about 1;
//! centred ones V = κ/B with κ about the number of parameters, which does not grow with N. Both ρ and κ are measured at
//! the mode ([`crate::oracle::Anchor`]).
//!
//! **Default step.** The h whose predicted excess of variance is ε: h = 2ε/(1 + ε + V). ε = 4 % (2 % of a standard
//! deviation) for centred gradients. For plain ones ε = 10 %: V is large, a chain needs 2/h steps of B rows to forget
//! its position, so an independent draw costs at least (1/ε) 2N row gradients for whatever batch; 4 % would cost 2.5
//! times as much and still not be exact.
//!
//! **Draws.** A recorded draw is 1 (`sgld-cv`) or ½ (`sgld`) unit of Langevin time after the one before: correlation
//! e⁻¹ or e^{−½}. Cost of a step: B row gradients and two triangular solves.
//!
//! Not for: posteriors with several modes or far from normal (`sgld-cv`: its gradients are noisy far from the mode), or
//! whenever `nuts` is affordable, which is exact.

use std::marker::PhantomData;

use rand_distr::{Distribution as _, StandardNormal};

use super::advise::{Standing, Traits};
use super::minibatch_settings::{BATCH, MinibatchSettings, SCHEME};
use super::{InfoColumn, NOISE_SHARE, STEP_SIZE, Sampler, SamplerSpec, StateVisitor, Target, Tick};
use crate::base::linalg::axpy;
use crate::base::rng::Streams;
use crate::base::settings::{Default, Field, Kind, SettingError, Settings, Value};
use crate::oracle::{Estimator, Oracle, StepError};

/// Predicted excess of variance at the default step, plain gradients.
const EXCESS_PLAIN: f64 = 0.10;
/// The same with control variates.
const EXCESS_CENTRED: f64 = 0.04;
/// Langevin time between draws, plain: short, because time is expensive.
const TIME_PLAIN: f64 = 0.5;
/// The same with control variates.
const TIME_CENTRED: f64 = 1.0;
/// Most steps per recorded draw by default: beyond it draws get correlated instead of a run endless.
const STEPS_CAP: u64 = 2_000;
/// Most rows per recorded draw by default: between draws a chain does not notice that it should stop, and so many take
/// some 50 ms.
const ROWS_CAP: u64 = 4_000_000;
/// Default batch: this share of the rows …
const BATCH_SHARE: usize = 100;
/// … but at least this many, below which overheads rule, …
const BATCH_LEAST: usize = 500;
/// … and at most this many, beyond which a step of control variates is already nearly noise-free.
const BATCH_MOST: usize = 5_000;

const STEP: Field = Field {
    key: "step_size",
    label: "Step size",
    help: "Langevin time h per step, ε/2 of Welling and Teh: with the curvature as preconditioner it has no unit, 1 is one \
           Newton step, and it must be below 2",
    kind: Kind::Real {
        min: 1e-15,
        max: 1e6,
    },
    default: None,
    why: "the largest step whose predicted excess of the standard deviation is 2 % (sgld-cv) or 5 % (sgld)",
};

const PRECONDITION: Field = Field {
    key: "precondition",
    label: "Preconditioner",
    help: "curvature: steps are scaled by the inverse curvature at the mode; none: one step size for all directions",
    kind: Kind::Choice(&["curvature", "none"]),
    default: Some(Default::Text("curvature")),
    why: "all directions then move equally fast",
};

/// Kernel steps per recorded draw.
pub(super) const STEPS_PER_DRAW: Field = Field {
    key: "steps_per_draw",
    label: "Steps per draw",
    help: "Steps between recorded draws; the steps between are not kept",
    kind: Kind::Int {
        min: 1,
        max: 10_000_000,
    },
    default: None,
    why: "as many as it takes for draws to be worth keeping, at most 2000 and at most 4 million rows",
};

const FIELDS: &[Field] = &[STEP, BATCH, SCHEME, PRECONDITION, STEPS_PER_DRAW];

const INFO: &[InfoColumn] = &[
    InfoColumn {
        name: STEP_SIZE,
        help: "Langevin time per step",
    },
    InfoColumn {
        name: NOISE_SHARE,
        help: "predicted share of gradient noise in all noise of a step; the nearer to 0 the smaller the bias",
    },
];

/// The sampler `sgld`.
pub type Sgld = Langevin<Plain>;

/// The sampler `sgld-cv`.
pub type SgldCv = Langevin<Centred>;

/// Both samplers: they differ in the gradient estimate `V`.
pub struct Langevin<V>(PhantomData<fn() -> V>);

/// The gradient estimate of a sampler, and its description.
pub trait Variant: 'static {
    /// The estimate.
    const ESTIMATOR: Estimator;
    /// The description.
    const SPEC: SamplerSpec;
    /// For the adviser.
    const ADVICE: Traits;
}

/// Plain minibatch gradients.
pub struct Plain;

/// Gradients centred at the mode.
pub struct Centred;

/// Settings in force.
#[derive(Clone, Debug)]
pub struct SgldConfig {
    step_size: f64,
    preconditioned: bool,
    minibatch: MinibatchSettings,
    steps_per_draw: u64,
    noise_share: f64,
}

/// Position and working memory.
#[derive(Clone, Debug)]
pub struct SgldState {
    u: Vec<f64>,
    grad: Vec<f64>,
    jump: Vec<f64>,
}

/// The step h at which the predicted stationary variance (1 + hV/2)/(1 − h/2) is 1 + `excess`.
fn step_for_excess(excess: f64, noise: f64) -> f64 {
    2.0 * excess / (1.0 + excess + noise)
}

fn plain_batch(num_obs: usize) -> usize {
    (num_obs / BATCH_SHARE).clamp(BATCH_LEAST, BATCH_MOST)
}

/// Default batch for gradients centred at the mode, given κ ([`crate::oracle::Anchor::difference_rows`]): twice κ at least,
/// so that the gradient noise of a Newton step is at most half of the posterior's variance.
pub(super) fn centred_batch(num_obs: usize, difference_rows: f64) -> usize {
    plain_batch(num_obs).max((2.0 * difference_rows).ceil() as usize)
}

/// `steps` per recorded draw, or as many as a default may ask for.
pub(super) fn capped_steps(steps: u64, minibatch: &MinibatchSettings) -> u64 {
    let by_rows = (ROWS_CAP / minibatch.batch as u64).max(1);
    steps.min(STEPS_CAP).min(by_rows)
}

fn configure(
    id: &str,
    estimator: Estimator,
    settings: &Settings,
    target: &Target,
) -> Result<SgldConfig, SettingError> {
    let centred = estimator == Estimator::ControlVariate;
    let known = target
        .noise_ratio
        .zip(target.difference_rows)
        .zip(target.curvature_range);
    if centred && known.is_none() {
        return Err(SettingError(format!(
            "Sampler `{id}` needs the posterior mode, and none was found; use `nuts`, or `sgld` with your own `step_size`"
        )));
    }
    let n = target.num_obs;
    let default_batch = match target.difference_rows.filter(|_| centred) {
        Some(rows) => centred_batch(n, rows),
        None => plain_batch(n),
    };
    let minibatch = MinibatchSettings::read(settings, target, default_batch);
    let factor = minibatch.noise_factor(n);
    let preconditioned = match settings.text("precondition") {
        Some(word) => word == "curvature",
        None => known.is_some(),
    };
    let Some(((rho, rows), (slowest, stiffest))) = known else {
        let given = settings
            .real("step_size")
            .zip(settings.int("steps_per_draw"));
        let (Some((step_size, steps)), false) = (given, preconditioned) else {
            return Err(SettingError(format!(
                "Sampler `{id}` takes its settings from the posterior mode, and none was found; set `precondition` to none and \
                 give `step_size` and `steps_per_draw`"
            )));
        };
        return Ok(SgldConfig {
            step_size,
            preconditioned,
            minibatch,
            steps_per_draw: steps as u64,
            noise_share: f64::NAN,
        });
    };
    let noise = factor * if centred { rows / n as f64 } else { rho };
    // Rates at which the slowest and the stiffest direction move per unit of `step_size`.
    let (slow, stiff) = if preconditioned {
        (1.0, 1.0)
    } else {
        (slowest, stiffest)
    };
    let (excess, time) = if centred {
        (EXCESS_CENTRED, TIME_CENTRED)
    } else {
        (EXCESS_PLAIN, TIME_PLAIN)
    };
    let step_size = settings
        .real("step_size")
        .unwrap_or_else(|| step_for_excess(excess, noise) / stiff);
    if step_size * stiff >= 2.0 {
        return Err(SettingError(format!(
            "Setting `step_size` must be below {} for this posterior, or the chain explodes; {step_size} was given",
            2.0 / stiff
        )));
    }
    let steps = (time / (step_size * slow)).ceil().max(1.0);
    let steps_per_draw = settings.int("steps_per_draw").map_or_else(
        || capped_steps(steps as u64, &minibatch),
        |steps| steps as u64,
    );
    let gradient_noise = 0.5 * step_size * stiff * noise;
    Ok(SgldConfig {
        step_size,
        preconditioned,
        minibatch,
        steps_per_draw,
        noise_share: gradient_noise / (1.0 + gradient_noise),
    })
}

impl<V: Variant> Sampler for Langevin<V> {
    type Config = SgldConfig;
    type State = SgldState;
    const SPEC: SamplerSpec = V::SPEC;
    const ADVICE: Traits = V::ADVICE;

    fn configure(settings: &Settings, target: &Target) -> Result<SgldConfig, SettingError> {
        configure(V::SPEC.id, V::ESTIMATOR, settings, target)
    }

    fn resolved(config: &SgldConfig) -> Vec<(&'static str, Value)> {
        let precondition = if config.preconditioned {
            "curvature"
        } else {
            "none"
        };
        let mut values = vec![
            ("step_size", Value::Real(config.step_size)),
            ("precondition", Value::Text(precondition.to_owned())),
            ("steps_per_draw", Value::Int(config.steps_per_draw as i64)),
        ];
        values.extend(config.minibatch.resolved());
        values
    }

    fn steps_per_draw(config: &SgldConfig) -> u64 {
        config.steps_per_draw
    }

    fn init(
        config: &SgldConfig,
        u0: &[f64],
        oracle: &mut Oracle,
        _streams: &mut Streams,
    ) -> Result<SgldState, StepError> {
        oracle.set_estimator(
            V::ESTIMATOR,
            config.minibatch.batch,
            config.minibatch.scheme,
        );
        Ok(SgldState {
            u: u0.to_vec(),
            grad: vec![0.0; u0.len()],
            jump: vec![0.0; u0.len()],
        })
    }

    fn step(
        config: &SgldConfig,
        at: Tick,
        state: &mut SgldState,
        oracle: &mut Oracle,
        streams: &mut Streams,
        info: &mut [f64],
    ) -> Result<(), StepError> {
        oracle.grad(&state.u, &mut streams.batch, &mut state.grad);
        let h = config.step_size;
        let noise_scale = (2.0 * h).sqrt();
        for jump in &mut state.jump {
            let normal: f64 = StandardNormal.sample(&mut streams.noise);
            *jump = noise_scale * normal;
        }
        let factor = oracle.anchor().map(|anchor| &anchor.factor);
        match factor.filter(|_| config.preconditioned) {
            Some(factor) => {
                // With H = L L': h H⁻¹ ĝ + sqrt(2h) L⁻ᵀ ξ = L⁻ᵀ (h L⁻¹ ĝ + sqrt(2h) ξ).
                factor.solve_lower(&mut state.grad);
                axpy(h, &state.grad, &mut state.jump);
                factor.solve_lower_transpose(&mut state.jump);
            }
            None => axpy(h, &state.grad, &mut state.jump),
        }
        if state.jump.iter().any(|jump| !jump.is_finite()) {
            return Err(StepError::NonFinite {
                what: "the gradient",
                iter: at.iter,
            });
        }
        axpy(1.0, &state.jump, &mut state.u);
        info[0] = h;
        info[1] = config.noise_share;
        Ok(())
    }

    fn position(state: &SgldState) -> &[f64] {
        &state.u
    }

    fn visit(state: &mut SgldState, visitor: &mut dyn StateVisitor) {
        visitor.slice("u", &mut state.u);
    }
}

impl Variant for Plain {
    const ESTIMATOR: Estimator = Estimator::Plain;
    // 2/h steps of B rows at h = 2ε B/N make an independent draw: 20 N rows at ε = 10 %, and draws that overlap.
    const ADVICE: Traits = Traits::ORDINARY
        .passes(40.0, 0.0)
        .standing(Standing::Comparison);
    const SPEC: SamplerSpec = SamplerSpec {
        id: "sgld",
        title: "SGLD",
        about: "Langevin dynamics with minibatch gradients: the baseline of its family, with a bias that it shows",
        cite: "Welling, Teh, \"Bayesian learning via stochastic gradient Langevin dynamics\", ICML 2011",
        formula: "θ' = θ + h M ĝ(θ) + sqrt(2h) M^{1/2} ξ, M = H⁻¹",
        fields: FIELDS,
        info: INFO,
        needs_mode: true,
        minibatch: true,
        bias: Some(
            "Standard deviations come out too large because gradient noise is not corrected for: by about 5 to 10 % at the default \
             step, more with larger steps or smaller minibatches",
        ),
        default_warmup: 200,
        decides_warmup: false,
    };
}

impl Variant for Centred {
    const ESTIMATOR: Estimator = Estimator::ControlVariate;
    // Steps of h = 0.05: 20 for a unit of Langevin time, and two such for an effective draw.
    const ADVICE: Traits = Traits::ORDINARY.centred(40.0).standing(Standing::Auto);
    const SPEC: SamplerSpec = SamplerSpec {
        id: "sgld-cv",
        title: "SGLD with control variates",
        about: "Langevin dynamics with minibatch gradients centred at the mode: little noise near it, for tall data",
        cite: "Baker, Fearnhead, Fox, Nemeth, \"Control variates for stochastic gradient MCMC\", \
               Statistics and Computing 29 (2019)",
        formula: "θ' = θ + h M [∇log π(û) + difference of gradients at θ and û] + sqrt(2h) M^{1/2} ξ, M = H⁻¹",
        fields: FIELDS,
        info: INFO,
        needs_mode: true,
        minibatch: true,
        bias: Some(
            "Standard deviations come out about 2 % too large at the default step, more with larger steps or where the posterior \
             is far from normal",
        ),
        default_warmup: 200,
        decides_warmup: false,
    };
}

#[cfg(test)]
mod tests;
