//! Diagnostics: arrays in, numbers out. Nothing here knows models, samplers or the window.
//!
//! Definitions of R-hat, effective sample size and Monte Carlo error are those of the R package posterior
//! (Vehtari, Gelman, Simpson, Carpenter, Bürkner 2021, doi 10.1214/20-BA1221); `tests/reference` holds its numbers.
//!
//! ```
//! use ergodic_diagnostics::{ess_bulk, mcse_mean, rhat};
//!
//! // Two chains that agree, and one that does not.
//! let chain = |from: f64| (0..200).map(|i| from + f64::from(i * 37 % 101)).collect::<Vec<f64>>();
//! let (one, two, other) = (chain(0.0), chain(1.0), chain(500.0));
//! assert!(rhat(&[&one, &two])? < 1.01);
//! assert!(rhat(&[&one, &other])? > 1.5);
//! assert!(ess_bulk(&[&one, &two])? > 100.0);
//! assert!(mcse_mean(&[&one, &two])? > 0.0);
//! # Ok::<(), ergodic_diagnostics::Missing>(())
//! ```
//!
//! | items and modules | what for |
//! |---|---|
//! | [`rhat()`], [`ess_bulk`], [`ess_tail`], [`mcse_mean`] and their kin, [`quantiles`] | one number for the chains of one parameter |
//! | [`summarise`] | the table: all parameters at once, in parallel |
//! | [`extra`] | further columns of it, for those who ask |
//! | [`estimates`] | means and standard deviations of quantities whose draws were not kept |
//! | [`Inefficiency`] | draws and seconds per effective draw |
//! | [`energy`] | the Bayesian fraction of missing information of Hamiltonian samplers |
//! | [`running`] | how R-hat, ESS and MCSE developed over the draws |
//! | [`Limits`], [`Verdict`] | what is asked of a variable and of a run, and the word for it |
//! | [`judge`] | everything that is wrong with a run, each with what to do, and one sentence of them |
//! | [`bias`] | how far an approximate sampler is from a reference |
//! | [`distance`] | how far apart two joint posteriors are |
//! | [`total_variation`] | how far apart two marginal posteriors are |
//! | [`psis`] | Pareto-smoothed importance weights |
//! | [`loo`] | how well models predict rows that they have not seen, and how they compare |
//! | [`scores`] | how good predictions were, by what was observed then |
//! | [`power_scaling`] | how much a posterior depends on prior and likelihood |
//! | [`uniformity`] | whether ranks of simulation-based calibration are uniform |
//! | [`zero_variance`] | control variates from gradients: smaller errors from the same draws |
//! | [`log_density_at`] | the density of draws at one point, with its error |
//! | [`worst_pairs`] | which parameters go along with divergent transitions |
//! | [`density()`], [`BoxPlot`], [`contours`], [`joint`], [`autocorrelation()`], [`rank_counts`] | what plots draw |
//! | [`partition`] | how often units share a cluster, and one partition that stands for all |
//! | [`weights`] | what all of these mean for weighted draws |
//!
//! Chains come as slices of draws. They should have equal length; longer ones are cut to the shortest, because
//! the definitions need a rectangle and the newest draws of a chain that is ahead have no counterpart.

mod autocorrelation;
pub mod bias;
mod boxes;
pub mod contours;
mod density;
pub mod distance;
mod divergent_pairs;
pub mod energy;
mod ess;
pub mod estimates;
pub mod extra;
mod findings;
mod fourier;
mod geyer;
mod indicator;
mod inefficiency;
pub mod joint;
pub mod kolmogorov;
mod local_density;
pub mod loo;
mod mcse;
mod moments;
mod parted;
pub mod partition;
mod pooled;
pub mod power_scaling;
pub mod psis;
pub mod quantiles;
mod ranks;
mod remark;
mod remedy;
mod rhat;
pub mod running;
pub mod scores;
pub mod sentence;
mod sorting;
pub mod stein;
mod summary;
#[cfg(test)]
mod testing;
pub mod total_variation;
pub mod uniformity;
mod verdict;
pub mod weights;
pub mod zero_variance;

pub use autocorrelation::autocorrelation;
pub use boxes::BoxPlot;
pub use density::{Density, Histogram, density, histogram};
pub use divergent_pairs::{DivergentPair, worst_pairs};
pub use ess::{Across, INTERVALS, ess_between, ess_bulk, ess_mean, ess_quantile, ess_sd, ess_tail};
pub use findings::{Finding, Judgement, VerdictInputs, judge};
pub use inefficiency::{Inefficiency, Spread};
pub use local_density::{LogDensity, log_density_at};
pub use mcse::{mcse_mean, mcse_quantile, mcse_sd};
pub use parted::Parted;
pub use ranks::rank_counts;
pub use remark::Remark;
pub use remedy::Remedy;
pub use rhat::{rhat, rhat_basic, rhat_nested};
pub use summary::{SummaryRow, summarise};
pub use verdict::{
    ADVISED_CHAINS, ESS_PER_CHAIN, Limits, Measure, Precision, RHAT_LIMIT, SENTENCE_LIMIT, Verdict,
};

use serde::{Deserialize, Serialize};

/// Why a diagnostic has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// Fewer draws than the definition needs: 4 per chain for R-hat, 6 per chain for an effective sample size.
    #[error("too few draws")]
    TooFew,
    /// All values agree to 2.2e-16 (of the variable, or of the indicator or deviation that the definition uses).
    #[error("constant")]
    Constant,
    /// At least one value is NaN or infinite.
    #[error("not finite")]
    NotFinite,
    /// Weights that are not finite, or that cancel so that their sum is not positive beyond doubt.
    #[error("weights cancel")]
    Weights,
}

/// A diagnostic, or why there is none; `.ok()` gives the `Option`.
pub type Estimate = Result<f64, Missing>;

/// Range below which values count as constant, as in posterior.
const CONSTANT_RANGE: f64 = f64::EPSILON;
