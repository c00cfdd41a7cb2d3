//! What the piecewise-deterministic samplers share: the zig-zag sampler ([`super::piecewise::zig_zag`]) and the bouncy particle
//! sampler ([`super::piecewise::bouncy_particle`]).
//!
//! A particle at v (whitened coordinates, [`super::piecewise::remainders`]) moves with constant velocity w until an event changes
//! w. The gradient of the potential is a sum of factors: the linear part g + A v, and one remainder r_i b_i per row. A
//! velocity changes at the sum of the rates that the factors ask for by themselves, max(0, w'∇ψ_f), each event as its
//! factor demands; the posterior is then invariant exactly (the local samplers of the sources).
//!
//! * The linear part has rates (a + b s)⁺ along a trajectory, whose arrival times are found in closed form: no row is
//!   looked at and nothing is rejected.
//! * A row's events are found by thinning: proposals come at the summed bounds of all rows, one row is drawn in
//!   proportion to its bound, and it accepts with the ratio of its rate to its bound. A row above its bound ends the
//!   chain with an error; it is never clipped.
//!
//! **Draws** are positions at equally spaced times of the trajectory. Waiting times are exponential and forget how long
//! they have lasted, so the clocks are started afresh with each draw: the state is position and velocity.

pub(super) mod bouncy_particle;
pub(super) mod remainders;
pub(super) mod zig_zag;

use std::marker::PhantomData;

use rand::RngExt as _;
use rand_distr::{Distribution as _, Exp1};

use self::remainders::{AllRows, Heading, Remainders};
use super::{InfoColumn, ROWS_SHARE, Sampler, SamplerSpec, StateVisitor, Target, Tick, Unsuitable};
use crate::models::Model;
use crate::oracle::{Oracle, StepError};
use crate::samplers::recommend::Traits;
use ergodic_base::linalg::{axpy, dot, matvec};
use ergodic_base::settings::{Declared, Field, SettingError};
use ergodic_base::{ChainRng, Streams};

ergodic_base::choice! {
    /// Order of the control variates.
    pub enum ControlVariates {
        /// Rows are expanded to second order.
        Curvature = "curvature",
        /// To first order.
        Gradient = "gradient",
    }
}

ergodic_base::settings! {
    /// Settings, with those `R` of samplers whose velocities are refreshed.
    pub struct PiecewiseSettings<R> {
        time_per_draw: Option<f64> = Field::real("Time per draw", 1e-3, 1e4, None)
            .help(
                "Length of the trajectory between recorded draws, in units in which the posterior has standard deviation 1 in \
                 every direction and so has each component of the velocity",
            )
            .why("long enough for draws to be worth keeping");
        control_variates: ControlVariates = ControlVariates::field("Control variates", Some(ControlVariates::Curvature))
            .help(
                "curvature: rows are expanded to second order at the mode, so that only what is left of them needs looking at; \
                 gradient: to first order, as in ZZ-CV, with more events and slower mixing",
            )
            .why("the posterior is then followed as far as it is normal without looking at a row");
        refreshment: R;
    }
}

/// How often velocities are refreshed.
pub trait Refreshment: Declared {
    /// The rate in `dim` dimensions.
    fn settle(&mut self, dim: usize) -> f64;
}

/// Never.
impl Refreshment for () {
    fn settle(&mut self, _dim: usize) -> f64 {
        0.0
    }
}

ergodic_base::settings! {
    /// The setting of samplers whose velocities are refreshed.
    pub struct Refreshed {
        refresh_rate: Option<f64> = Field::real("Refreshment rate", 1e-3, 1e4, None)
            .help("Rate at which the velocity is drawn afresh; without it the chain may not reach the whole posterior")
            .why("1.42 sqrt(D): nearly four of five events are refreshments, the best share in many dimensions");
    }
}

impl Refreshment for Refreshed {
    fn settle(&mut self, dim: usize) -> f64 {
        *(self.refresh_rate).get_or_insert(BEST_REFRESHMENT * (dim as f64).sqrt())
    }
}

/// Information columns.
pub const INFO: &[InfoColumn] = &[
    InfoColumn::new("events", "changes of velocity since the last draw"),
    InfoColumn::new(
        "bound_ratio",
        "share of the proposed row events that occurred: how tight the bounds are",
    ),
    InfoColumn::new(
        ROWS_SHARE,
        "rows looked at since the last draw, as a share of all rows",
    ),
];

/// Where the particle is and what the linear part of the gradient is there; all whitened, length D.
#[derive(Debug)]
pub struct Path {
    /// v.
    pub position: Vec<f64>,
    /// w.
    pub velocity: Vec<f64>,
    /// g + A v.
    pub drift: Vec<f64>,
    /// A w: how the drift changes with time.
    pub turn: Vec<f64>,
}

impl Path {
    fn advance(&mut self, time: f64) {
        axpy(time, &self.velocity, &mut self.position);
        axpy(time, &self.turn, &mut self.drift);
    }
}

/// How a sampler moves: what velocities there are and how events change them.
pub trait Motion: 'static {
    /// The description.
    const SPEC: SamplerSpec;
    /// See [`Sampler::ADVICE`].
    const ADVICE: Traits = Traits::ORDINARY;
    /// How often velocities are refreshed.
    type Refreshment: Refreshment;

    /// Default of the setting `time_per_draw`.
    fn time_per_draw(dim: usize) -> f64;
    /// Draws a velocity.
    fn launch(rng: &mut ChainRng, velocity: &mut [f64]);
    /// With `scale`, the largest rate that a factor with gradient `b` can ask for, up to a factor of the velocity.
    fn reach(b: &[f64]) -> f64;
    /// The factor of [`Self::reach`] for velocities of length `speed`.
    fn scale(speed: f64) -> f64;
    /// Time of the next event of the linear part, and the coordinate it concerns.
    fn next_event(path: &Path, rng: &mut ChainRng) -> (f64, usize);
    /// An event of the linear part, now.
    fn event(path: &mut Path, matrix: &[f64], coordinate: usize);
    /// The rate of a factor with gradient `strength` × `b`.
    fn row_rate(path: &Path, strength: f64, b: &[f64]) -> f64;
    /// An event of such a factor.
    fn row_event(path: &mut Path, matrix: &[f64], strength: f64, b: &[f64], rng: &mut ChainRng);
}

/// First arrival of a process of rate (a + b s)⁺; infinite if there is none.
pub fn first_arrival(a: f64, b: f64, rng: &mut ChainRng) -> f64 {
    let wait: f64 = Exp1.sample(rng);
    if a > 0.0 {
        let discriminant = a * a + 2.0 * b * wait;
        if discriminant < 0.0 {
            return f64::INFINITY;
        }
        2.0 * wait / (a + discriminant.sqrt())
    } else if b > 0.0 {
        -a / b + (2.0 * wait / b).sqrt()
    } else {
        f64::INFINITY
    }
}

/// The sampler that moves by `M`.
pub struct Piecewise<M>(PhantomData<fn() -> M>);

/// Settings in force.
#[derive(Clone, Debug)]
pub struct Config {
    time: f64,
    curvature: bool,
    /// 0 for samplers without refreshment.
    refresh_rate: f64,
}

/// Position and velocity, the expanded rows, working memory.
#[derive(Debug)]
pub struct State {
    u: Vec<f64>,
    path: Path,
    rows: Remainders,
    heading: Heading,
    b: Vec<f64>,
}

/// What happened since the last draw.
#[derive(std::default::Default)]
struct Tally {
    events: u64,
    accepted: u64,
    proposals: u64,
}

fn no_rows() -> StepError {
    StepError::not_positive("the curvature at the mode, which was not found,", 0)
}

impl<M: Motion> Sampler for Piecewise<M> {
    type Settings = PiecewiseSettings<M::Refreshment>;
    type Config = Config;
    type State = State;
    const SPEC: SamplerSpec = M::SPEC;
    const ADVICE: Traits = M::ADVICE;

    fn suits(model: &dyn Model) -> Result<(), Unsuitable> {
        remainders::suits(model)
    }

    fn configure(settings: &mut Self::Settings, target: &Target) -> Result<Config, SettingError> {
        target.require_mode(M::SPEC.id, "use `nuts`")?;
        Ok(Config {
            time: *(settings.time_per_draw).get_or_insert(M::time_per_draw(target.dim)),
            curvature: settings.control_variates == ControlVariates::Curvature,
            refresh_rate: settings.refreshment.settle(target.dim),
        })
    }

    fn init(
        config: &Config,
        u0: &[f64],
        oracle: &mut Oracle,
        streams: &mut Streams,
    ) -> Result<State, StepError> {
        let dim = u0.len();
        let centre = oracle.centre().ok_or_else(no_rows)?;
        let rows = AllRows::of(oracle.model(), centre).ok_or_else(no_rows)?;
        let rows = Remainders::new(&rows, centre, config.curvature, M::reach)?;
        let away: Vec<f64> = u0.iter().zip(&centre.u).map(|(u, mode)| u - mode).collect();
        let mut path = Path {
            position: vec![0.0; dim],
            velocity: vec![0.0; dim],
            drift: vec![0.0; dim],
            turn: vec![0.0; dim],
        };
        centre.factor.lower_transpose_mul(&away, &mut path.position);
        M::launch(&mut streams.noise, &mut path.velocity);
        oracle.datum_grads += oracle.num_obs() as u64;
        Ok(State {
            u: u0.to_vec(),
            path,
            rows,
            heading: Heading {
                offset: vec![0.0; dim],
                velocity: vec![0.0; dim],
                time: 0.0,
            },
            b: vec![0.0; dim],
        })
    }

    fn step(
        config: &Config,
        at: Tick,
        state: &mut State,
        oracle: &mut Oracle,
        streams: &mut Streams,
        info: &mut [f64],
    ) -> Result<(), StepError> {
        let centre = oracle.centre().ok_or_else(no_rows)?;
        let rows = AllRows::of(oracle.model(), centre).ok_or_else(no_rows)?;
        let tally = travel::<M>(config, at.iter, state, &rows, streams)?;
        state.u.copy_from_slice(&state.path.position);
        centre.factor.solve_lower_transpose(&mut state.u);
        axpy(1.0, &centre.u, &mut state.u);
        oracle.datum_grads += tally.proposals;
        info.copy_from_slice(&[
            tally.events as f64,
            tally.accepted as f64 / tally.proposals as f64,
            tally.proposals as f64 / oracle.num_obs() as f64,
        ]);
        Ok(())
    }

    fn position(state: &State) -> &[f64] {
        &state.u
    }

    fn visit(state: &mut State, visitor: &mut dyn StateVisitor) {
        visitor.slice("u", &mut state.u);
        visitor.slice("whitened_position", &mut state.path.position);
        visitor.slice("velocity", &mut state.path.velocity);
    }
}

/// Refreshments per unit of time and sqrt(D) that mix the log density of a normal target fastest in many dimensions.
const BEST_REFRESHMENT: f64 = 1.424;

/// Follows the trajectory for the time of one draw.
fn travel<M: Motion>(
    config: &Config,
    iter: u64,
    state: &mut State,
    rows: &AllRows<'_>,
    streams: &mut Streams,
) -> Result<Tally, StepError> {
    let State {
        path,
        rows: remainders,
        heading,
        b,
        ..
    } = state;
    // Found at the first proposal after a change of velocity: many changes see none.
    let mut headed = false;
    let matrix = &remainders.matrix;
    // Computed afresh for each draw: rounding does not pile up, and the drift needs no saving.
    matvec(matrix, &path.position, &mut path.drift);
    axpy(1.0, &remainders.gradient, &mut path.drift);
    matvec(matrix, &path.velocity, &mut path.turn);
    let mut tally = Tally::default();
    let mut left = config.time;
    let (mut event_in, mut coordinate) = M::next_event(path, &mut streams.noise);
    let mut speed = length(&path.velocity);
    loop {
        let radius = length(&path.position);
        if !radius.is_finite() {
            return Err(StepError::not_finite("the position", iter));
        }
        let scale = M::scale(speed);
        let proposal = remainders.next(radius, speed, scale, &mut streams.noise);
        let refresh_in = if config.refresh_rate > 0.0 {
            let wait: f64 = Exp1.sample(&mut streams.noise);
            wait / config.refresh_rate
        } else {
            f64::INFINITY
        };
        let time = left.min(event_in).min(proposal.time).min(refresh_in);
        path.advance(time);
        heading.time += time;
        if time == left {
            return Ok(tally);
        }
        left -= time;
        if time == proposal.time {
            tally.proposals += 1;
            if !headed {
                heading.offset.copy_from_slice(&path.position);
                rows.factor.solve_lower_transpose(&mut heading.offset);
                heading.velocity.copy_from_slice(&path.velocity);
                rows.factor.solve_lower_transpose(&mut heading.velocity);
                heading.time = 0.0;
                headed = true;
            }
            let pull = remainders.look(rows, proposal, heading, iter, &mut streams.batch)?;
            let threshold = streams.noise.random::<f64>() * pull.bound;
            let possible = threshold < pull.strength.abs();
            if possible {
                remainders.direction(rows, pull, b);
            }
            if !possible || M::row_rate(path, pull.strength, b) <= threshold * M::reach(b) * scale {
                event_in -= time;
                continue;
            }
            tally.accepted += 1;
            M::row_event(path, matrix, pull.strength, b, &mut streams.noise);
        } else if time == event_in {
            M::event(path, matrix, coordinate);
        } else {
            M::launch(&mut streams.noise, &mut path.velocity);
            matvec(matrix, &path.velocity, &mut path.turn);
        }
        tally.events += 1;
        headed = false;
        speed = length(&path.velocity);
        (event_in, coordinate) = M::next_event(path, &mut streams.noise);
    }
}

fn length(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

#[cfg(test)]
mod tests;
