//! Signed HMC with energy conserving subsampling (`hmc-ecs-signed`): exact expectations from subsamples.
//!
//! The framework is [`crate::samplers::subsampling::energy_conserving`]; the estimate is the block-Poisson estimator (Dang et al. 2019, (15), as
//! corrected):
//!
//! ```text
//! L̂ = exp(Σ q_i) e^{a+λ} Π_b (d̂_b − a)/λ,   b = 1 … Poisson(λ),   d̂_b = (1/m) Σ_{i∈b} d_i/p_i
//! ```
//!
//! E L̂ = L for any a and λ, but L̂ may be negative: the chain samples |L̂| and each draw counts with the sign of its
//! estimate (17), which the information columns `weight` and `sign` hold. The gradient of log|L̂| is
//! A − C(u − û) + Σ_b ∇d̂_b/(d̂_b − a).
//!
//! **Settings** besides those of the framework: `factors`, λ. a = E d − λ, with E d measured at the start, gives the least
//! variance for a given λ; λ is the smallest that keeps the variance aimed at and the loss by signs below one per cent
//! (18). A block holds λ/G of the factors. Expansions are of order two: lower ones leave a mean E d(u) that falls with the
//! square of the distance from the mode, and with a constant a factors would turn negative where d has fallen by λ.
//!
//! **Cost.** m λ rows per gradient on average: several times `hmc-ecs`.
//! **Bias.** None in averages weighted by sign; the draws themselves, unweighted, come from the distribution of |L̂|.

use crate::samplers::recommend::Traits;
use crate::samplers::subsampling::energy_conserving::{
    COLUMNS, Dynamics, EcsSettings, EnergyConserving, Variant,
};
use crate::samplers::subsampling::hmc_ecs::{Length, Perturbed};
use crate::samplers::{InfoColumn, SIGN, SamplerSpec, WEIGHT};
use ergodic_base::settings::{Declared as _, Field};

ergodic_base::settings! {
    /// The setting of the block-Poisson estimate.
    pub struct Factors {
        factors: Option<usize> = Field::int("Factors", 1, 1_000_000, None)
            .help("λ: mean number of minibatches in an estimate; more of them mean less variance and fewer negative signs")
            .why("the fewest that keep the variance aimed at and lose at most one per cent by signs");
    }
}

/// The sampler `hmc-ecs-signed`.
pub type HmcEcsSigned = EnergyConserving<Signed>;

/// The block-Poisson estimator with HMC.
pub struct Signed;

impl Variant for Signed {
    const ADVICE: Traits = Traits::ORDINARY.centred(12.0).recentring();
    const SPEC: SamplerSpec = SamplerSpec {
        id: "hmc-ecs-signed",
        title: "Signed HMC-ECS",
        about: "HMC on subsamples with an unbiased estimate of the likelihood: exact averages, weighted by the estimate's sign",
        cite: "Dang, Quiroz, Kohn, Tran and Villani 2019, JMLR 20; Quiroz, Tran, Villani, Kohn and Dang 2018, \
               arXiv:1603.08232",
        formula: "as hmc-ecs on |L̂| with L̂ = exp(Σ q + a + λ) Π_b (d̂_b - a)/λ, b = 1 .. Poisson(λ); averages weighted by \
                  sign L̂",
        fields: EcsSettings::<(), Factors, Length>::FIELDS,
        info: &[
            COLUMNS[0],
            COLUMNS[1],
            COLUMNS[2],
            COLUMNS[3],
            COLUMNS[4],
            COLUMNS[5],
            COLUMNS[6],
            InfoColumn::new(SIGN, "Sign of the estimated likelihood of the draw"),
            InfoColumn::new(WEIGHT, "Weight of the draw in averages: the sign"),
        ],
        remedy: None,
        bias: None,
        ..Perturbed::SPEC
    };
    const SIGNED: bool = true;

    type Expansion = ();
    type Estimate = Factors;
    type Trajectory = Length;

    fn order((): &()) -> Option<usize> {
        Some(2)
    }

    fn factors(estimate: &Factors) -> Option<usize> {
        estimate.factors
    }

    fn dynamics(trajectory: &Length) -> Dynamics {
        trajectory.dynamics()
    }

    fn target_accept(trajectory: &Length) -> f64 {
        trajectory.target_accept
    }
}
