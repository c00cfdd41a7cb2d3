//! NUTS with energy conserving subsampling (`nuts-ecs`): the estimate of `hmc-ecs`, trajectories that end by themselves.
//!
//! Dang et al. (2019), section 7, leave it open. Given a subsample, the estimated posterior is a density like any other, so a
//! transition of [`crate::samplers::full_data::nuts`] on it leaves the target of [`crate::samplers::subsampling::energy_conserving`] invariant just as a trajectory of
//! fixed length does. The estimate, its gradient and its bias are those of [`crate::samplers::subsampling::hmc_ecs`].
//!
//! **When.** Instead of `hmc-ecs` where posteriors are wider or narrower than the curvature at the mode tells: trajectories end where they
//! turn back. Near a normal one, with 3 to 40 coefficients of 50,000 rows, a gradient of `hmc-ecs` gives as many effective draws for
//! means and 1.4 times as many for tails (smallest bulk and tail sizes, geometric means over eight numbers of coefficients; the new block
//! of rows counts as one and a half gradients), at a cost per draw that is known beforehand.
//!
//! **Target acceptance.** There 0.7 gives 1.13 (bulk) and 1.16 (tail) times as many effective draws per gradient as 0.8, and 0.6 gives 1.34
//! and 1.22 times as many: trajectories of three long steps turn back where those of shorter ones go on to seven. 0.7 keeps a distance
//! from steps that are too long where curvature varies.

use crate::samplers::recommend::Traits;
use crate::samplers::subsampling::energy_conserving::{
    COLUMNS, Dynamics, EcsSettings, EnergyConserving, Expansions, MetricRows, ORDER, Variant,
    target_accept,
};
use crate::samplers::subsampling::hmc_ecs::Perturbed;
use crate::samplers::{InfoColumn, SamplerSpec};
use ergodic_base::settings::{Declared as _, Field};

ergodic_base::settings! {
    /// Settings of trajectories that end where they turn back.
    pub struct Depth {
        max_depth: usize = Field::int("Most doublings", 1, 20, Some(10))
            .help("A trajectory has at most 2 to this power leapfrog steps")
            .why("Stan's default: 1023 leapfrog steps mean a badly scaled target");
        target_accept: f64 = target_accept(
            0.7,
            "where the metric is the curvature, a gradient gives an eighth more effective draws for means and a sixth for tails than at 0.8",
        );
    }
}

/// The sampler `nuts-ecs`.
pub type NutsEcs = EnergyConserving<Doubling>;

/// The difference estimator with NUTS.
pub struct Doubling;

impl Variant for Doubling {
    const ADVICE: Traits = Traits::ORDINARY.centred(12.0).recentring();
    const SPEC: SamplerSpec = SamplerSpec {
        id: "nuts-ecs",
        title: "NUTS-ECS",
        about: "NUTS on a subsample that is renewed block by block: no trajectory length to choose, the bias is tiny",
        cite: "Dang, Quiroz, Kohn, Tran and Villani 2019, JMLR 20, section 7; Hoffman and Gelman 2014, JMLR 15",
        formula: "one block of S anew, accepted with min(1, L̂'/L̂); a NUTS transition on log L̂ + log prior; log L̂ = Σ q + \
                  Σ_S d/(m p) - σ̂²/2",
        fields: EcsSettings::<Expansions, (), Depth>::FIELDS,
        info: &[
            COLUMNS[0],
            COLUMNS[1],
            COLUMNS[2],
            COLUMNS[3],
            COLUMNS[4],
            COLUMNS[5],
            COLUMNS[6],
            InfoColumn::TREE_DEPTH,
            InfoColumn::DIVERGENT,
            ORDER,
        ],
        ..Perturbed::SPEC
    };
    const SIGNED: bool = false;

    type Expansion = Expansions;
    type Estimate = ();
    type Trajectory = Depth;

    fn order(expansion: &Expansions) -> Option<usize> {
        expansion.order.order
    }

    fn metric_rows(expansion: &Expansions) -> MetricRows {
        expansion.metric_rows
    }

    fn dynamics(trajectory: &Depth) -> Dynamics {
        Dynamics::Doubling(trajectory.max_depth)
    }

    fn target_accept(trajectory: &Depth) -> f64 {
        trajectory.target_accept
    }
}
