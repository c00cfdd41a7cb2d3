//! The bouncy particle sampler with subsampling (`bouncy-particle`): exact, and one row per event.
//!
//! Source: Bouchard-Côté, Vollmer and Doucet, "The bouncy particle sampler" (2018), its local version, with velocities
//! w ~ N(0, I) that are refreshed at rate λ. A factor with gradient n bounces the particle at rate (w'n)⁺, which reflects
//! the velocity at the hyperplane across n: w ← w − 2 (w'n)/(n'n) n. The factors, in coordinates whitened at the mode, are
//!
//! | | gradient | rate |
//! |---|---|---|
//! | linear part | g + A v | (w'(g + A v))⁺ = (a + b s)⁺ along a trajectory: exact arrival times |
//! | row i | r_i(v) b_i | (r_i(v) w'b_i)⁺ ≤ |w| |b_i| |r_i|, bounded by [`crate::samplers::piecewise::remainders`] and thinned |
//!
//! A bounce of the linear part is therefore one of the whole normal approximation, and rows bounce where the posterior departs from
//! it; with `control_variates = gradient` rows do all of it.
//!
//! **Refreshment.** In D dimensions the linear part bounces at rate 0.4 sqrt(D). λ = 1.424 sqrt(D), so that 78 % of events
//! are refreshments, mixes the log density fastest (Bierkens, Kamatani and Roberts, "High-dimensional scaling limits of
//! piecewise deterministic sampling algorithms", 2022). Coordinates then forget their value in a time of sqrt(D),
//! and so has the default time per draw.
//!
//! **Cost.** A bounce or a refreshment D² operations, a proposal one row and D operations. **Bias.** None. **Not for**
//! posteriors far from normal: exact still, but bounds grow with the distance from the mode.

use rand_distr::{Distribution as _, StandardNormal};

use crate::samplers::SamplerSpec;
use crate::samplers::piecewise::{
    INFO, Motion, Path, Piecewise, PiecewiseSettings, Refreshed, first_arrival,
};
use crate::samplers::recommend::Traits;
use ergodic_base::ChainRng;
use ergodic_base::linalg::{axpy, dot, matvec};
use ergodic_base::settings::Declared as _;

/// Time per draw and sqrt(D): on a normal posterior draws at this distance are correlated by less than 0.55.
const TIME_PER_DRAW: f64 = 2.5;

/// The sampler `bouncy-particle`.
pub type BouncyParticle = Piecewise<Bounce>;

/// Velocities that are reflected.
pub struct Bounce;

/// w ← w − 2 (w'n)/(n'n) n.
fn reflect(velocity: &mut [f64], n: &[f64]) {
    let share = dot(velocity, n) / dot(n, n);
    axpy(-2.0 * share, n, velocity);
}

impl Motion for Bounce {
    const ADVICE: Traits = Traits::ORDINARY.centred(1.0).expanding_rows();
    const SPEC: SamplerSpec = SamplerSpec {
        id: "bouncy-particle",
        family: crate::samplers::SamplerFamily::PiecewiseDeterministic,
        title: "Bouncy particle",
        about: "Moves on straight lines and bounces off the posterior's slopes, row by row: exact for tall data",
        cite: "Bouchard-Côté, Vollmer, Doucet, \"The bouncy particle sampler\", Journal of the American Statistical Association \
               113 (2018)",
        formula: "v(t + s) = v(t) + s w; w reflects at g + A v with rate (w'(g + A v))⁺, at b_i with rate (r_i(v) w'b_i)⁺, \
                  and is drawn from N(0, I) with rate λ; u = û + (L')⁻¹ v, L L' = H",
        fields: PiecewiseSettings::<Refreshed>::FIELDS,
        info: INFO,
        needs_mode: true,
        minibatch: true,
        bias: None,
        default_warmup: 100,
        ..SamplerSpec::ORDINARY
    };
    type Refreshment = Refreshed;

    fn time_per_draw(dim: usize) -> f64 {
        TIME_PER_DRAW * (dim as f64).sqrt()
    }

    fn launch(rng: &mut ChainRng, velocity: &mut [f64]) {
        for w in velocity {
            *w = StandardNormal.sample(rng);
        }
    }

    fn reach(b: &[f64]) -> f64 {
        dot(b, b).sqrt()
    }

    fn scale(speed: f64) -> f64 {
        speed
    }

    fn next_event(path: &Path, rng: &mut ChainRng) -> (f64, usize) {
        let (w, drift, turn) = (&path.velocity, &path.drift, &path.turn);
        (first_arrival(dot(w, drift), dot(w, turn), rng), 0)
    }

    fn event(path: &mut Path, matrix: &[f64], _coordinate: usize) {
        reflect(&mut path.velocity, &path.drift);
        matvec(matrix, &path.velocity, &mut path.turn);
    }

    fn row_rate(path: &Path, strength: f64, b: &[f64]) -> f64 {
        (strength * dot(&path.velocity, b)).max(0.0)
    }

    fn row_event(path: &mut Path, matrix: &[f64], _strength: f64, b: &[f64], _rng: &mut ChainRng) {
        reflect(&mut path.velocity, b);
        matvec(matrix, &path.velocity, &mut path.turn);
    }
}
