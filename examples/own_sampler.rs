//! A sampler of one's own: a random walk with steps of fixed length, as short as a sampler can be.
//!
//! The engine gives it chains on threads, checkpoints, diagnostics and the same seed for the same draws.
//!
//! `cargo run --release -p ergodic-core --example own_sampler`

#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

use ergodic_base::Streams;
use ergodic_base::settings::{Declared as _, Field, SettingError};
use ergodic_core::models::density_of;
use ergodic_core::oracle::{Oracle, StepError};
use ergodic_core::samplers::{
    InfoColumn, Sampler, SamplerFamily, SamplerSpec, StateVisitor, Target, Tick,
};
use ergodic_core::{Fit, FitError};
use rand::RngExt as _;
use rand_distr::{Distribution as _, StandardNormal};

/// Proposals u + s z with z ~ N(0, I), accepted with the probability of Metropolis et al. (1953).
struct Walk;

ergodic_base::settings! {
    /// Settings of [`Walk`]: a struct, and at the same time its flags, recipe entries and form.
    struct WalkSettings {
        length: f64 = Field::real("Length of a step", 1e-6, 1e6, Some(1.0))
            .help("Standard deviation of a proposal in every coordinate")
            .why("the scale of a standard normal");
    }
}

/// Where a chain stands.
struct Standing {
    u: Vec<f64>,
    log_density: f64,
    proposal: Vec<f64>,
    grad: Vec<f64>,
}

impl Sampler for Walk {
    type Settings = WalkSettings;
    type Config = f64;
    type State = Standing;

    const SPEC: SamplerSpec = SamplerSpec {
        id: "walk",
        family: SamplerFamily::FullData,
        title: "Random walk",
        about: "Normal steps of fixed length",
        cite: "Metropolis et al. 1953",
        formula: "u' = u + s z",
        fields: WalkSettings::FIELDS,
        info: &[InfoColumn {
            name: "accepted",
            help: "1 where the proposal was accepted",
        }],
        needs_mode: false,
        own_steps: false,
        centres_at_start: false,
        minibatch: false,
        bias: None,
        bias_order: None,
        remedy: None,
        default_warmup: 500,
        decides_warmup: false,
        negative_control: false,
    };

    fn configure(settings: &mut WalkSettings, _target: &Target) -> Result<f64, SettingError> {
        Ok(settings.length)
    }

    fn init(
        _length: &f64,
        u0: &[f64],
        oracle: &mut Oracle,
        _streams: &mut Streams,
    ) -> Result<Standing, StepError> {
        let mut grad = vec![0.0; u0.len()];
        Ok(Standing {
            log_density: oracle.exact(u0, &mut grad)?,
            u: u0.to_vec(),
            proposal: u0.to_vec(),
            grad,
        })
    }

    fn step(
        length: &f64,
        _at: Tick,
        state: &mut Standing,
        oracle: &mut Oracle,
        streams: &mut Streams,
        info: &mut [f64],
    ) -> Result<(), StepError> {
        for (proposal, u) in state.proposal.iter_mut().zip(&state.u) {
            let z: f64 = StandardNormal.sample(&mut streams.noise);
            *proposal = u + length * z;
        }
        let proposed = oracle.exact(&state.proposal, &mut state.grad)?;
        let accepted = streams.noise.random::<f64>().ln() < proposed - state.log_density;
        if accepted {
            std::mem::swap(&mut state.u, &mut state.proposal);
            state.log_density = proposed;
        }
        info[0] = f64::from(u8::from(accepted));
        Ok(())
    }

    fn position(state: &Standing) -> &[f64] {
        &state.u
    }

    fn visit(state: &mut Standing, visitor: &mut dyn StateVisitor) {
        visitor.slice("u", &mut state.u);
        visitor.scalar("log_density", &mut state.log_density);
    }
}

fn main() -> Result<(), FitError> {
    let normal = density_of(2, |u: &[f64], grad: &mut [f64]| {
        grad[0] = -u[0];
        grad[1] = -u[1];
        -0.5 * (u[0] * u[0] + u[1] * u[1])
    });
    let fit = Fit::new(normal)
        .sampler::<Walk>()
        .set("length", 1.7)
        .draws(5000)
        .run()?;
    println!("{}", fit.summary());
    Ok(())
}
