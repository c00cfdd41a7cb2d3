//! Exact draws of a block whose conditional distribution has a known form ([`crate::models::KnownConditional`]).
//!
//! **Normal.** With g the gradient and H the curvature of the log density at u, which is quadratic:
//! u' = u + H⁻¹ g + L⁻ᵀ ξ, H = L Lᵀ. One pass for g and one for H.
//!
//! **Logarithm of a gamma variable.** The log density a u − b e^{cu} has the slope a − q with q = b c e^{cu}, and a − 2q where e^{cu} is
//! twice as large: two slopes tell a and q without approximation. Then e^{cu'} is a gamma variable with shape a/c and rate b. Two passes
//! per coordinate.
//!
//! Source: textbook; Gelfand and Smith (1990) for Gibbs sampling from such conditionals.

use rand_distr::{Distribution as _, Gamma, StandardNormal};

use crate::models::{Form, form_of};
use crate::oracle::{Oracle, StepError};
use crate::samplers::{
    Conditional, InfoColumn, Sampler, SamplerFamily, SamplerSpec, StateVisitor, Target, Tick, names,
};
use ergodic_base::Streams;
use ergodic_base::linalg::{Cholesky, axpy};
use ergodic_base::settings::SettingError;

/// Draws from conditionals of known form: no sampler of its own, but one of blocks.
pub struct KnownForm;

/// Position, and working memory.
pub struct State {
    u: Vec<f64>,
    grad: Vec<f64>,
    /// Of normal blocks, row-major.
    hessian: Vec<f64>,
    form: Form,
}

impl Sampler for KnownForm {
    type Settings = ();
    type Config = ();
    type State = State;
    const SPEC: SamplerSpec = SamplerSpec {
        id: names::CONJUGATE,
        family: SamplerFamily::FullData,
        title: "Draws from conditionals",
        about: "Exact draws of a block whose distribution given the others has a known form",
        cite: "Gelfand and Smith 1990, JASA 85",
        formula: "u_b' ~ π(u_b | u_{-b})",
        info: &[InfoColumn::LOG_DENSITY],
        ..SamplerSpec::ORDINARY
    };

    fn configure((): &mut (), _target: &Target) -> Result<(), SettingError> {
        Ok(())
    }

    fn init(
        (): &(),
        u0: &[f64],
        oracle: &mut Oracle,
        _streams: &mut Streams,
    ) -> Result<State, StepError> {
        let whole: Vec<usize> = (0..u0.len()).collect();
        let form = form_of(
            oracle.block().unwrap_or(&whole),
            &oracle.model().known_conditionals(),
        );
        let form = form.ok_or(StepError::Lacks("conditional distribution of known form"))?;
        let squares = match form {
            Form::Normal => u0.len() * u0.len(),
            Form::LogGamma { .. } => 0,
        };
        Ok(State {
            u: u0.to_vec(),
            grad: vec![0.0; u0.len()],
            hessian: vec![0.0; squares],
            form,
        })
    }

    fn step(
        (): &(),
        at: Tick,
        state: &mut State,
        oracle: &mut Oracle,
        streams: &mut Streams,
        info: &mut [f64],
    ) -> Result<(), StepError> {
        info[0] = match state.form {
            Form::Normal => state.draw_normal(at, oracle, streams)?,
            Form::LogGamma { power } => state.draw_log_gammas(power, at, oracle, streams)?,
        };
        Ok(())
    }

    fn position(state: &State) -> &[f64] {
        &state.u
    }

    fn visit(state: &mut State, visitor: &mut dyn StateVisitor) {
        visitor.slice("u", &mut state.u);
    }
}

impl Conditional for KnownForm {
    fn refresh(_state: &mut State, _oracle: &mut Oracle) -> Result<(), StepError> {
        // Nothing is remembered.
        Ok(())
    }
}

impl State {
    /// Draws all coordinates together; the log density of the draw.
    fn draw_normal(
        &mut self,
        at: Tick,
        oracle: &mut Oracle,
        streams: &mut Streams,
    ) -> Result<f64, StepError> {
        let before = oracle.exact(&self.u, &mut self.grad)?;
        oracle.exact_curvature(&self.u, &mut self.hessian)?;
        let dim = self.u.len();
        let factor = Cholesky::of(&self.hessian, dim).map_err(|_not_positive| {
            StepError::not_positive("the curvature of a block of parameters", at.iter)
        })?;
        // With s = L⁻¹ g the log density is greater by sᵀs/2 at the mean, and the draw's is lower than there by ξᵀξ/2.
        factor.solve_lower(&mut self.grad);
        let mut change = 0.0;
        for slope in &mut self.grad {
            let normal: f64 = StandardNormal.sample(&mut streams.noise);
            change += 0.5 * (*slope * *slope - normal * normal);
            *slope += normal;
        }
        factor.solve_lower_transpose(&mut self.grad);
        axpy(1.0, &self.grad, &mut self.u);
        self.finite(before + change, at)
    }

    /// Draws one coordinate after the other; the log density of the last draw.
    fn draw_log_gammas(
        &mut self,
        power: f64,
        at: Tick,
        oracle: &mut Oracle,
        streams: &mut Streams,
    ) -> Result<f64, StepError> {
        let mut log_density = f64::NAN;
        for j in 0..self.u.len() {
            let before = oracle.exact(&self.u, &mut self.grad)?;
            let (old, slope) = (self.u[j], self.grad[j]);
            self.u[j] = old + std::f64::consts::LN_2 / power;
            oracle.exact(&self.u, &mut self.grad)?;
            // q and a of the module's header.
            let rate = slope - self.grad[j];
            let shape = slope + rate;
            let drawn = Gamma::new(shape / power, power / rate);
            let drawn = drawn.map_err(|_no_distribution| {
                StepError::not_finite("the conditional of a parameter", at.iter)
            })?;
            // e^{c(u' − u)}: a gamma variable with rate b e^{cu} = q/c.
            let growth = drawn.sample(&mut streams.noise);
            self.u[j] = old + growth.ln() / power;
            log_density = before + shape * (self.u[j] - old) - rate / power * (growth - 1.0);
        }
        self.finite(log_density, at)
    }

    fn finite(&self, log_density: f64, at: Tick) -> Result<f64, StepError> {
        if log_density.is_finite() && self.u.iter().all(|u| u.is_finite()) {
            Ok(log_density)
        } else {
            Err(StepError::not_finite("the log density", at.iter))
        }
    }
}
