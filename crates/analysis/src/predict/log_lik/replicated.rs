//! Replicated outcomes: what the rows of a fit would have been under each draw, beside what they were.

use ergodic_base::Control;
use ergodic_base::draws::DrawList;
use ergodic_core::design::censoring::Censoring;

use super::super::{Fitted, PredictError, Work};
use super::{LogLik, LogLikError};

/// Replicated outcomes of every row, drawn when they are asked for.
pub(crate) struct Replicates {
    log_lik: LogLik,
}

/// One row under every draw.
pub(crate) struct Row {
    /// Log density of what was observed.
    pub(crate) log_lik: Vec<f64>,
    /// Expected outcome on the scale of the model; of successes among trials their share, of levels without an order the probability
    /// of the most probable one.
    pub(crate) mean: Vec<f64>,
    /// An outcome, as it would stand in the column.
    pub(crate) outcome: Vec<f64>,
    /// By how much the outcome is above `mean`, on the scale of the model; of successes among trials their share, of levels without an
    /// order 1 where it is the most probable one and 0 elsewhere.
    pub(crate) noise: Vec<f64>,
    work: Work,
}

impl Row {
    /// For this many draws.
    pub(crate) fn new(draws: usize) -> Self {
        Self {
            log_lik: vec![0.0; draws],
            mean: vec![0.0; draws],
            outcome: vec![0.0; draws],
            noise: vec![0.0; draws],
            work: Work::new(draws),
        }
    }
}

impl Fitted {
    /// Replicated outcomes at the draws at `places` (chain and draw of each), which all count the same.
    pub(crate) fn replicates(
        &self,
        draws: &[&DrawList],
        places: &[(usize, usize)],
        control: &Control,
    ) -> Result<Replicates, LogLikError> {
        let posterior = |control: &Control| -> Result<_, PredictError> {
            self.posterior_of(draws, &[], places, control)
        };
        Ok(Replicates {
            log_lik: self.log_lik_of(posterior, control)?,
        })
    }

    /// The response.
    pub(crate) fn response(&self) -> &ergodic_core::design::ResponseInfo {
        &self.response
    }
}

impl Replicates {
    /// Of the rows of a log likelihood.
    pub(in super::super) fn new(log_lik: LogLik) -> Self {
        Self { log_lik }
    }

    /// The log likelihood of the same rows at the same draws.
    pub(crate) fn log_lik(&self) -> &LogLik {
        &self.log_lik
    }

    /// The outcome of the `i`-th row as it stands in the column; of two values 1 for success.
    pub(crate) fn observed(&self, i: usize) -> f64 {
        match self.log_lik.observed.function {
            Some(_) => self.log_lik.observed.values[i],
            None => self.log_lik.y[i],
        }
    }

    /// Whether the outcome of the `i`-th row is known only to be larger, or smaller.
    pub(crate) fn is_censored(&self, i: usize) -> bool {
        let statuses = self.log_lik.observed.censoring.as_ref();
        statuses.is_some_and(|statuses| statuses[i] != Censoring::Seen)
    }

    /// Trials of the `i`-th row, 1 where there are none.
    pub(crate) fn trials(&self, i: usize) -> f64 {
        self.log_lik.trials(i)
    }

    /// By how much what was observed in the `i`-th row is above the posterior mean of what is expected there, and that mean: on the
    /// scale of the model; of successes among trials their share; of levels without an order whether it is the most probable one. `row` is
    /// working memory.
    pub(crate) fn residual(&self, i: usize, row: &mut Row) -> (f64, f64) {
        let LogLik {
            posterior,
            coded,
            seed,
            ..
        } = &self.log_lik;
        posterior.expected(coded, i, 0, *seed, &mut row.work, &mut row.mean);
        let mean = row.mean.iter().sum::<f64>() / row.mean.len() as f64;
        (self.counted(i, self.log_lik.y[i], &row.work) - mean, mean)
    }

    /// An outcome of the `i`-th row as its expectation has it: of successes among trials their share, of levels without an order whether it is
    /// the most probable one.
    fn counted(&self, i: usize, outcome: f64, work: &Work) -> f64 {
        match work.called() {
            Some(called) => f64::from(outcome == called),
            None => outcome / self.trials(i),
        }
    }

    /// Posterior means of the chances of `count` levels of the `i`-th row.
    pub(in super::super) fn chances(&self, i: usize, count: usize, work: &mut Work) -> Vec<f64> {
        let log_lik = &self.log_lik;
        (log_lik.posterior).chances(&log_lik.coded, i, log_lik.seed, count, work)
    }

    /// The seed of the run.
    pub(crate) fn seed(&self) -> u64 {
        self.log_lik.seed
    }

    /// The `i`-th row under every draw; the outcomes are those that predictions of the row are made of.
    pub(crate) fn row(&self, i: usize, out: &mut Row) {
        let LogLik {
            posterior,
            coded,
            seed,
            ..
        } = &self.log_lik;
        let both = (out.mean.as_mut_slice(), out.outcome.as_mut_slice());
        posterior.replicate(coded, i, *seed, &mut out.work, both);
        for s in 0..out.mean.len() {
            out.noise[s] = self.counted(i, out.outcome[s], &out.work) - out.mean[s];
        }
        if let Some(function) = posterior.function {
            let outcomes = out.outcome.iter_mut();
            outcomes.for_each(|outcome| *outcome = function.inverse(*outcome));
        }
        let place = (i, self.log_lik.y[i]);
        posterior.log_density_again(coded, place, &out.work, &mut out.log_lik);
        self.log_lik.count(i, &mut out.log_lik);
    }
}
