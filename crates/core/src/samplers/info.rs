//! What a sampler tells with each draw: columns of numbers, by names that others look for.

/// One column of information that a sampler reports with each draw. NaN means "not defined here".
#[derive(Clone, Copy, Debug)]
pub struct InfoColumn {
    /// Name in files and panels.
    pub name: &'static str,
    /// What the column says.
    pub help: &'static str,
}

impl InfoColumn {
    /// The column `name`, which says what `help` explains.
    pub const fn new(name: &'static str, help: &'static str) -> Self {
        Self { name, help }
    }

    /// [`LOG_DENSITY`] of the posterior.
    pub(crate) const LOG_DENSITY: Self =
        Self::new(LOG_DENSITY, "Log posterior of the draw up to a constant");
    /// [`N_LEAPFROG`] of one trajectory.
    pub(crate) const N_LEAPFROG: Self = Self::new(N_LEAPFROG, "Leapfrog steps of the trajectory");
    /// [`DIVERGENT`] of one trajectory.
    pub(crate) const DIVERGENT: Self = Self::new(
        DIVERGENT,
        "1 where the energy rose by more than 1000: the step is too long for the curvature met there",
    );
    /// [`ENERGY`] of a trajectory's end.
    pub(crate) const ENERGY: Self = Self::new(
        ENERGY,
        "Energy of the draw: minus log density plus kinetic energy",
    );
    /// [`TREE_DEPTH`].
    pub(crate) const TREE_DEPTH: Self = Self::new(TREE_DEPTH, "Doublings of the trajectory");
}

/// Name of the information column that is 1 where a transition diverged.
pub const DIVERGENT: &str = "divergent";
/// Name of the information column with the acceptance probability of the transition.
pub const ACCEPT: &str = "accept_stat";
/// Name of the information column with the acceptance probability of a change of the rows that stand for all.
pub const ACCEPT_ROWS: &str = "accept_rows";
/// Name of the information column with the step size in use.
pub const STEP_SIZE: &str = "step_size";
/// Name of the information column with the share of gradient noise in all noise of a step, 0 to 1.
pub(crate) const NOISE_SHARE: &str = "noise_share";
/// Name of the information column with the log posterior of the draw.
pub const LOG_DENSITY: &str = "log_density";
/// Name of the information column with the energy (Hamiltonian) of the draw.
pub const ENERGY: &str = "energy";
/// Name of the information column with the doublings of a NUTS trajectory.
pub const TREE_DEPTH: &str = "tree_depth";
/// Name of the information column with the leapfrog steps of a transition.
pub const N_LEAPFROG: &str = "n_leapfrog";
/// Name of the information column with the density evaluations of a step.
pub const EVALUATIONS: &str = "evaluations";
/// Name of the information column with the largest ratio of the OSGFS criterion (17) over components.
pub const CRITERION: &str = "criterion";
/// Name of the information column with the weight of the draw in every average; it may be negative (signed estimators).
/// Without the column, or where all weights are equal, averages are plain.
pub const WEIGHT: &str = "weight";

/// Which of the information columns called `names` holds weights, if any.
pub fn weight_column<N: AsRef<str>>(names: &[N]) -> Option<usize> {
    names.iter().position(|name| name.as_ref() == WEIGHT)
}

/// Which of the information columns called `names` holds the energies of transitions that keep the exact posterior, if any: those of
/// samplers that report its log density too. Estimates from subsets of rows move an energy in ways of their own.
pub fn energy_column<N: AsRef<str>>(names: &[N]) -> Option<usize> {
    let find = |wanted| names.iter().position(|name| name.as_ref() == wanted);
    find(LOG_DENSITY).and(find(ENERGY))
}

/// Name of the information column with the potential temperature of a thermostat, 1 on target.
pub(crate) const TEMPERATURE: &str = "temperature";
/// Name of the information column with the rows used by a step, as a share of all rows.
pub const ROWS_SHARE: &str = "rows_share";
/// Name of the information column with the largest split R-hat of the draws of any shard.
pub(crate) const SHARD_RHAT: &str = "shard_rhat";
/// Name of the information column with the share of proposals accepted where draws of shards were combined.
pub(crate) const COMBINE_ACCEPT: &str = "combine_accept";
/// Name of the information column with the estimated variance of the estimate of the log likelihood.
pub const LOG_LIK_VARIANCE: &str = "log_lik_variance";
/// Name of the information column with the sign of the estimate of the likelihood.
pub const SIGN: &str = "sign";
