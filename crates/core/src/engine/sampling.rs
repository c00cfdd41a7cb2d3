//! What a run needs to know of what it samples.

use std::sync::Arc;

use super::chain::{Warmup, dispersed_start};
use super::gradients;
use super::keep::{self, Keep};
use super::run_section::RunSection;
use super::start::{self, StartError};
use crate::models::Model;
use crate::oracle::Centre;
use crate::samplers::{self, SamplerEntry, Target};
use ergodic_base::settings::Settings;
use ergodic_base::{ParamId, Warning};

/// A model, a sampler with every setting resolved, and a plan: immutable and shared by the chains of a run.
pub trait Sampling: Send + Sync {
    /// The posterior.
    fn model(&self) -> &Arc<dyn Model>;
    /// The sampler.
    fn sampler(&self) -> &'static SamplerEntry;
    /// Settings of the sampler, none absent.
    fn settings(&self) -> &Settings;
    /// Chains, draws, seed and when to stop.
    fn run_section(&self) -> &RunSection;
    /// Mode and curvature, where found.
    fn centre(&self) -> Option<&Arc<Centre>>;
    /// Modes that are far apart, in which chains start in turn; empty where there is but one.
    fn modes(&self) -> &[Arc<Centre>] {
        &[]
    }
    /// The mode around which chain `chain` (0-based) starts, where one was found.
    fn centre_of_chain(&self, chain: usize) -> Option<&Centre> {
        let modes = self.modes();
        match modes.len() {
            0 => self.centre().map(Arc::as_ref),
            count => Some(&modes[self.run_section().start_of(chain) % count]),
        }
    }
    /// What samplers resolve their defaults from.
    fn target(&self) -> Target {
        Target::new(self.model(), self.centre())
    }
    /// Remarks on data, model and choice of sampler.
    fn warnings(&self) -> &[Warning];

    /// Where chain `chain` (0-based) starts by default, in unconstrained coordinates (D):
    /// [`RunSection::start_spread`] posterior standard deviations around the mode (around each in turn, where there are several)
    /// or, without one, where the model says. Chains of one group begin at the same point ([`RunSection::superchains`]).
    fn around_mode(&self, chain: usize) -> Vec<f64> {
        let (centre, run) = (self.centre_of_chain(chain), self.run_section());
        let stream = (run.seed, run.start_of(chain));
        dispersed_start(self.model().as_ref(), centre, run.start_spread, stream)
    }

    /// Where chain `chain` (0-based) starts, in unconstrained coordinates (D).
    ///
    /// # Errors
    /// The chain cannot start where [`RunSection::start`] says.
    fn start_position(&self, chain: usize) -> Result<Vec<f64>, StartError> {
        let (model, run) = (self.model().as_ref(), self.run_section());
        start::position(model, run, chain, || self.around_mode(chain))
    }

    /// When warm-up ends.
    fn warmup(&self) -> Warmup {
        let spec = &self.sampler().spec;
        match self.run_section().warmup {
            Some(length) => Warmup::Fixed(length),
            None if spec.decides_warmup => Warmup::UntilReady {
                max: spec.default_warmup,
            },
            None => Warmup::Fixed(spec.default_warmup),
        }
    }

    /// Which reported quantities the run keeps draws of: all, unless [`RunSection::keep`] names some, which whoever made the job has
    /// checked.
    fn keep(&self) -> Keep {
        let params = self.model().params();
        Keep::of(&self.run_section().keep, params)
            .unwrap_or_else(|_refused| Keep::all(params.len()))
    }

    /// Names of the reported quantities whose draws are kept, in the order of the columns of draws.
    fn variables(&self) -> Vec<ParamId> {
        keep::names(self.model().params(), self.keep().kept())
    }

    /// Names of the reported quantities whose draws are not kept, in the order of their moments.
    fn unkept_variables(&self) -> Vec<ParamId> {
        keep::names(self.model().params(), self.keep().unkept())
    }

    /// Number of information columns: those of the sampler and, behind them, the components of the gradient where the run keeps it.
    fn num_info(&self) -> usize {
        let gradient = self.run_section().zero_variance.map(|_| self.model().dim());
        self.sampler().spec.info.len() + gradient.unwrap_or(0)
    }

    /// Names of the information columns.
    fn info_names(&self) -> Vec<String> {
        let columns = self.sampler().spec.info.iter();
        let own = columns.map(|column| column.name.to_owned());
        let kept = self.num_info() - self.sampler().spec.info.len();
        own.chain((0..kept).map(gradients::column)).collect()
    }

    /// The information column with the weights of draws, for samplers that weigh them.
    fn weight_column(&self) -> Option<usize> {
        let columns = self.sampler().spec.info.iter();
        let names: Vec<&str> = columns.map(|column| column.name).collect();
        samplers::weight_column(&names)
    }

    /// Draws that chain `chain` is to keep.
    fn draws_wanted(&self, chain: usize) -> u64 {
        let run = self.run_section();
        run.draws_of_chains
            .as_ref()
            .map_or(run.draws, |draws| draws[chain])
    }
}
