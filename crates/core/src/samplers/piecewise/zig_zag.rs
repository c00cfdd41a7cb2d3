//! The zig-zag sampler with subsampling (`zig-zag`): exact, and one row per event.
//!
//! Source: Bierkens, Fearnhead and Roberts, "The zig-zag process and super-efficient sampling for Bayesian analysis of big
//! data" (2019), their ZZ-CV. Velocities are ±1 in every coordinate; coordinate j changes its sign at rate
//!
//! | | rate |
//! |---|---|
//! | ZZ-CV | mean over i of (w_j [∂_jψ(v̂) + N ∂_jψ_i(v) − N ∂_jψ_i(v̂)])⁺, rows drawn uniformly |
//! | ours | (w_j (g + A v)_j)⁺ + Σ_i (w_j r_i(v) b_ij)⁺ |
//!
//! in coordinates whitened at the mode, so that correlated posteriors mix ([`crate::samplers::piecewise::remainders`] has g, A, r_i, b_i and the
//! derivation of the bounds). Either difference of the rates at w_j and −w_j is ∂_jψ, which makes the posterior
//! invariant. With `control_variates = gradient` A is 0 and g nearly so, and the two are the same but for the choice of
//! rows: they are drawn in proportion to their bounds, Σ_j |b_ij| |b_i| R for power 1, instead of uniformly under the
//! largest bound, so that one outlying row does not set the pace. With `curvature` the linear part, all there is in a normal
//! posterior, needs no rows, and the excess of sign changes that subsampling adds, which slows mixing, all but goes.
//!
//! **Cost.** An event of the linear part D exponentials; a proposal one row and D operations. Proposals per unit of
//! time: some D² with first-order bounds, D³ N^{-1/2} with those of second order, and never more because of N.
//! **Bias.** None. **Not for** posteriors far from normal: exact still, but bounds grow with the distance from the mode.

use rand::RngExt as _;

use crate::samplers::SamplerSpec;
use crate::samplers::piecewise::{INFO, Motion, Path, Piecewise, PiecewiseSettings, first_arrival};
use crate::samplers::recommend::{Standing, Traits};
use ergodic_base::ChainRng;
use ergodic_base::linalg::axpy;
use ergodic_base::settings::Declared as _;

/// On a normal posterior draws at this distance are correlated by less than ½ whatever D is: a coordinate needs 2.5 on
/// average from one flip to the next.
const TIME_PER_DRAW: f64 = 2.0;

/// The sampler `zig-zag`.
pub type ZigZag = Piecewise<Flip>;

/// Signs that flip.
pub struct Flip;

fn flip(path: &mut Path, matrix: &[f64], j: usize) {
    let dim = path.velocity.len();
    path.velocity[j] = -path.velocity[j];
    // A is symmetric: its row is its column.
    axpy(
        2.0 * path.velocity[j],
        &matrix[j * dim..(j + 1) * dim],
        &mut path.turn,
    );
}

impl Motion for Flip {
    const ADVICE: Traits = Traits::ORDINARY
        .centred(1.0)
        .standing(Standing::Tall)
        .expanding_rows();
    const SPEC: SamplerSpec = SamplerSpec {
        id: "zig-zag",
        family: crate::samplers::SamplerFamily::PiecewiseDeterministic,
        title: "Zig-zag",
        about: "Moves on straight lines whose direction changes when single rows ask for it: exact for tall data",
        cite: "Bierkens, Fearnhead, Roberts, \"The zig-zag process and super-efficient sampling for Bayesian analysis of big \
               data\", Annals of Statistics 47 (2019)",
        formula: "v(t + s) = v(t) + s w, w_j = ±1 flips at rate (w_j (g + A v)_j)⁺ + Σ_i (w_j r_i(v) b_ij)⁺, \
                  u = û + (L')⁻¹ v, L L' = H",
        fields: PiecewiseSettings::<()>::FIELDS,
        info: INFO,
        needs_mode: true,
        minibatch: true,
        bias: None,
        default_warmup: 100,
        ..SamplerSpec::ORDINARY
    };
    type Refreshment = ();

    fn time_per_draw(_dim: usize) -> f64 {
        TIME_PER_DRAW
    }

    fn launch(rng: &mut ChainRng, velocity: &mut [f64]) {
        for w in velocity {
            *w = if rng.random::<bool>() { 1.0 } else { -1.0 };
        }
    }

    fn reach(b: &[f64]) -> f64 {
        b.iter().map(|b| b.abs()).sum()
    }

    fn scale(_speed: f64) -> f64 {
        1.0
    }

    fn next_event(path: &Path, rng: &mut ChainRng) -> (f64, usize) {
        let mut first = (f64::INFINITY, 0);
        for (j, w) in path.velocity.iter().enumerate() {
            let time = first_arrival(w * path.drift[j], w * path.turn[j], rng);
            if time < first.0 {
                first = (time, j);
            }
        }
        first
    }

    fn event(path: &mut Path, matrix: &[f64], coordinate: usize) {
        flip(path, matrix, coordinate);
    }

    fn row_rate(path: &Path, strength: f64, b: &[f64]) -> f64 {
        let rates = path.velocity.iter().zip(b);
        rates.map(|(w, b)| (w * strength * b).max(0.0)).sum()
    }

    fn row_event(path: &mut Path, matrix: &[f64], strength: f64, b: &[f64], rng: &mut ChainRng) {
        // One coordinate, in proportion to the rates.
        let mut left = rng.random::<f64>() * Self::row_rate(path, strength, b);
        let mut chosen = 0;
        for (j, (w, b)) in path.velocity.iter().zip(b).enumerate() {
            let rate = w * strength * b;
            if rate > 0.0 {
                chosen = j;
                left -= rate;
                if left < 0.0 {
                    break;
                }
            }
        }
        flip(path, matrix, chosen);
    }
}
