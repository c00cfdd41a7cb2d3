//! Independent draws from a conjugate posterior (`conjugate`): the reference for models of probabilities.
//!
//! p ~ Dirichlet(α + C): p_j = G_j/ΣG with G_j ~ Gamma(α_j + C_j, 1), drawn as logarithms so that categories that were
//! never seen do not underflow. One pass over the rows at the start; a draw costs K gamma variables, whatever N is.
//!
//! Not for: models without a conjugate prior, which it refuses.

use crate::models::Model;
use crate::oracle::{Oracle, StepError};
use crate::samplers::cir::log_gamma;
use crate::samplers::recommend::{Standing, Traits};
use crate::samplers::simplex::{self, Weights};
use crate::samplers::{
    Sampler, SamplerFamily, SamplerSpec, StateVisitor, Target, Tick, Unsuitable,
};
use ergodic_base::Streams;
use ergodic_base::settings::SettingError;

/// The sampler `conjugate`.
pub struct Conjugate;

impl Sampler for Conjugate {
    type Settings = ();
    type Config = ();
    type State = Weights;
    const ADVICE: Traits = Traits::ORDINARY
        .row_passes(1e-6, 0.0)
        .standing(Standing::Auto);
    const SPEC: SamplerSpec = SamplerSpec {
        id: "conjugate",
        family: SamplerFamily::Simplex,
        title: "Conjugate draws",
        about: "Independent exact draws where the posterior is a Dirichlet distribution: the reference for the others",
        cite: "Textbook; the gamma construction of the Dirichlet distribution",
        formula: "p_j = G_j / Σ G, G_j ~ Gamma(α_j + C_j, 1)",
        fields: &[],
        info: &[],
        bias: None,
        // Every draw is independent of the last.
        default_warmup: 1,
        ..SamplerSpec::ORDINARY
    };

    fn suits(model: &dyn Model) -> Result<(), Unsuitable> {
        simplex::suits(model)
    }

    fn configure((): &mut (), _target: &Target) -> Result<(), SettingError> {
        Ok(())
    }

    fn init(
        (): &(),
        u0: &[f64],
        oracle: &mut Oracle,
        _streams: &mut Streams,
    ) -> Result<Weights, StepError> {
        let view = simplex::view(oracle)?;
        let mut state = Weights::at(u0, 1.0, view);
        state.counts.copy_from_slice(view.totals());
        oracle.datum_grads += oracle.num_obs() as u64;
        Ok(state)
    }

    fn step(
        (): &(),
        at: Tick,
        state: &mut Weights,
        oracle: &mut Oracle,
        streams: &mut Streams,
        _info: &mut [f64],
    ) -> Result<(), StepError> {
        let view = simplex::view(oracle)?;
        let shapes = state.counts.iter().zip(view.concentration());
        for (log, (count, alpha)) in state.log.iter_mut().zip(shapes) {
            *log = log_gamma(&mut streams.noise, alpha + count);
        }
        state.settle(view, at.iter)
    }

    fn position(state: &Weights) -> &[f64] {
        &state.u
    }

    fn visit(state: &mut Weights, visitor: &mut dyn StateVisitor) {
        state.visit(visitor);
    }
}
