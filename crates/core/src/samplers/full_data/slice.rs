//! Slice sampling along one direction after the other.
//!
//! Reference: Neal (2003), Slice sampling, Annals of Statistics 31: figure 3 (stepping out) and figure 5 (shrinkage).
//!
//! **One step** is a sweep over D directions d_j. For each: a level log y = log π(u) − E with E ~ Exp(1); an interval
//! of width w_j placed at random around 0, each end moved outwards by w_j while log π(u + t d_j) > log y there, at most
//! 100 times in all, divided at random between the ends; then t uniform in the interval, which is cut back to t until
//! log π(u + t d_j) > log y. A density that is not a finite number lies outside every slice.
//!
//! | setting | meaning | default |
//! |---|---|---|
//! | `directions` | eigen: eigenvectors of the curvature H at the mode, scaled by 1/sqrt(eigenvalue); coordinates: axes | eigen if a mode was found |
//! | `width` | fixes all w_j: in posterior sds at the mode if one was found, otherwise in units of u | adapted |
//!
//! **Widths.** In warm-up w_j follows three times the running mean of |t|, which on a normal direction of sd 1 makes it
//! 3.2: about the mean length of a slice (E 2r with r² ~ χ²₃), where the total of steps out and in is smallest, and
//! flat. Widths of other sizes cost evaluations, not correctness. Later sweeps weigh more, so that a start at the wrong
//! scale is soon forgotten; after warm-up nothing changes.
//!
//! **Cost.** About five passes over N rows for each direction, 5 D per draw (the oracle's exact pass computes the
//! gradient along with the density). **Bias.** None. **Not for** many or, without a mode, strongly correlated
//! parameters. It needs no gradient and no step size, which makes it a check on the samplers that do.

use rand::RngExt as _;
use rand_distr::{Distribution as _, Exp1};

use crate::oracle::{Centre, Oracle, StepError};
use crate::samplers::full_data::hamiltonian::start_density;
use crate::samplers::recommend::Traits;
use crate::samplers::{
    Conditional, EVALUATIONS, InfoColumn, Phase, Sampler, SamplerFamily, SamplerSpec, StateVisitor,
    Target, Tick,
};
use ergodic_base::linalg::{axpy, symmetric_eigen};
use ergodic_base::settings::{Declared as _, Field, SettingError};
use ergodic_base::{ChainRng, Streams};

/// Width per mean |t| of the moves.
const WIDTH_PER_MOVE: f64 = 3.0;
/// Sweeps that a start at the curvature counts for in the running mean.
const CURVATURE_SWEEPS: u64 = 20;
/// Most steps out: ends the search where the density does not fall.
const MOST_STEPS_OUT: f64 = 100.0;
/// Cuts after which a point stays where it is: its interval has shrunk to it, to the last bit.
const MOST_CUTS: u32 = 2000;

ergodic_base::choice! {
    /// Along which lines slices are drawn.
    pub enum Directions {
        /// The principal axes of the curvature at the mode.
        Eigen = "eigen",
        /// One parameter after the other.
        Coordinates = "coordinates",
    }
}

ergodic_base::settings! {
    /// Settings of [`Slice`]; without a width it is adapted in warm-up.
    pub struct SliceSettings {
        directions: Option<Directions> = Directions::field("Directions", None)
            .help("eigen: along the principal axes of the curvature at the mode; coordinates: one parameter after the other")
            .why("eigen where a mode was found: parameters are nearly independent along these axes; else coordinates");
        width: Option<f64> = Field::real("Width", 1e-9, 1e9, None)
            .help(
                "First width of the interval around the present value, in posterior standard deviations at the mode if there \
                 is one, otherwise in units of the parameter; a number fixes it, auto adapts it in warm-up",
            )
            .why("three times the typical move, learnt in warm-up; other widths cost time, not correctness");
    }
}

const INFO: &[InfoColumn] = &[
    InfoColumn::new(EVALUATIONS, "Passes over all rows of the sweep"),
    InfoColumn::LOG_DENSITY,
];

/// The sampler `slice`.
pub struct Slice;

/// State of [`Slice`].
pub struct State {
    u: Vec<f64>,
    log_density: f64,
    /// Running means of |t| per direction, length D.
    moves: Vec<f64>,
    /// Sweeps that these count for.
    sweeps: u64,
    /// 1 once warm-up is over.
    frozen: u64,
    /// One direction per row, D×D; fixed at the start.
    directions: Vec<f64>,
    /// Working memory.
    proposal: Vec<f64>,
    grad: Vec<f64>,
}

impl Sampler for Slice {
    type Settings = SliceSettings;
    type Config = SliceSettings;
    type State = State;

    const ADVICE: Traits = Traits::ORDINARY.passes(6.0, 1.0);
    const SPEC: SamplerSpec = SamplerSpec {
        id: "slice",
        family: SamplerFamily::FullData,
        title: "Slice sampler",
        about: "Draws along one direction after the other from the slice under the density: exact, needs no tuning and no \
                gradient",
        cite: "Neal 2003, Annals of Statistics 31",
        formula: "log y = log π(u) - Exp(1); u' = u + t d_j with t uniform where log π(u') > log y",
        fields: SliceSettings::FIELDS,
        info: INFO,
        bias: None,
        default_warmup: 500,
        ..SamplerSpec::ORDINARY
    };

    fn configure(
        settings: &mut SliceSettings,
        target: &Target,
    ) -> Result<SliceSettings, SettingError> {
        let has_mode = target.has_mode();
        let directions = *settings.directions.get_or_insert(if has_mode {
            Directions::Eigen
        } else {
            Directions::Coordinates
        });
        if directions == Directions::Eigen && !has_mode {
            return Err(SettingError::unfit(
                "directions",
                "cannot be `eigen` because no mode was found; choose coordinates or auto",
            ));
        }
        Ok(settings.clone())
    }

    fn init(
        config: &SliceSettings,
        u0: &[f64],
        oracle: &mut Oracle,
        _streams: &mut Streams,
    ) -> Result<State, StepError> {
        let dim = u0.len();
        let mut grad = vec![0.0; dim];
        let log_density = start_density(u0, oracle, &mut grad)?;
        let centre = oracle.centre();
        Ok(State {
            u: u0.to_vec(),
            log_density,
            moves: vec![1.0; dim],
            sweeps: if centre.is_some() {
                CURVATURE_SWEEPS
            } else {
                0
            },
            frozen: 0,
            directions: directions(config.directions, centre.map(AsRef::as_ref), dim)?,
            proposal: vec![0.0; dim],
            grad,
        })
    }

    fn step(
        config: &SliceSettings,
        at: Tick,
        state: &mut State,
        oracle: &mut Oracle,
        streams: &mut Streams,
        info: &mut [f64],
    ) -> Result<(), StepError> {
        if at.phase == Phase::Draw {
            state.frozen = 1;
        }
        let learns = state.frozen == 0 && config.width.is_none();
        // The last of k sweeps weighs 2/(k + 2).
        let gain = 2.0 / (state.sweeps as f64 + 3.0);
        let mut evaluations = 0;
        for j in 0..state.u.len() {
            let width = config.width.unwrap_or(WIDTH_PER_MOVE * state.moves[j]);
            let t = move_along(
                j,
                width,
                state,
                oracle,
                &mut streams.noise,
                &mut evaluations,
            )?;
            if learns {
                state.moves[j] += gain * (t.abs() - state.moves[j]);
            }
        }
        state.sweeps += u64::from(learns);
        info.copy_from_slice(&[f64::from(evaluations), state.log_density]);
        Ok(())
    }

    fn position(state: &State) -> &[f64] {
        &state.u
    }

    fn visit(state: &mut State, visitor: &mut dyn StateVisitor) {
        visitor.slice("position", &mut state.u);
        visitor.scalar("log_density", &mut state.log_density);
        visitor.slice("moves", &mut state.moves);
        visitor.counter("sweeps", &mut state.sweeps);
        visitor.counter("frozen", &mut state.frozen);
    }
}

impl Conditional for Slice {
    fn refresh(state: &mut State, oracle: &mut Oracle) -> Result<(), StepError> {
        state.log_density = start_density(&state.u, oracle, &mut state.grad)?;
        Ok(())
    }
}

/// One direction per row (D×D), of the length of a posterior standard deviation where the curvature is known.
fn directions(
    chosen: Option<Directions>,
    centre: Option<&Centre>,
    dim: usize,
) -> Result<Vec<f64>, StepError> {
    let mut directions = vec![0.0; dim * dim];
    match centre {
        Some(centre) if chosen == Some(Directions::Eigen) => {
            let refuse = StepError::not_positive("the curvature at the mode", 0);
            let (values, vectors) = symmetric_eigen(&centre.hessian, dim).ok_or(refuse.clone())?;
            for ((row, vector), value) in directions
                .chunks_exact_mut(dim)
                .zip(vectors.chunks_exact(dim))
                .zip(values)
            {
                if value <= 0.0 {
                    return Err(refuse);
                }
                axpy(1.0 / value.sqrt(), vector, row);
            }
        }
        _ => {
            for j in 0..dim {
                directions[j * dim + j] =
                    centre.map_or(1.0, |centre| 1.0 / centre.hessian[j * dim + j].sqrt());
            }
        }
    }
    Ok(directions)
}

/// Updates `state` along direction `j` and returns the t it moved by. After an error the position is that of the last
/// direction finished.
fn move_along(
    j: usize,
    width: f64,
    state: &mut State,
    oracle: &mut Oracle,
    rng: &mut ChainRng,
    evaluations: &mut u32,
) -> Result<f64, StepError> {
    let dim = state.u.len();
    let State {
        u, proposal, grad, ..
    } = state;
    let direction = &state.directions[j * dim..(j + 1) * dim];
    // log π at t, −∞ where it is not a finite number.
    let log_density = |t: f64| -> Result<f64, StepError> {
        proposal.copy_from_slice(u);
        axpy(t, direction, proposal);
        *evaluations += 1;
        let value = oracle.exact(proposal, grad)?;
        let usable = value.is_finite() && proposal.iter().all(|u| u.is_finite());
        Ok(if usable { value } else { f64::NEG_INFINITY })
    };
    let (t, value) = slice_along(state.log_density, width, rng, log_density)?;
    if t != 0.0 {
        std::mem::swap(u, proposal);
        state.log_density = value;
    }
    Ok(t)
}

/// Draws t from the slice under `log_density(t)`, which is `here` at t = 0 and −∞ where there is none; returns t and
/// the log density there. Where t is not 0 the last evaluation was at it.
///
/// # Errors
/// Those of `log_density`.
pub(in crate::samplers) fn slice_along(
    here: f64,
    width: f64,
    rng: &mut ChainRng,
    mut log_density: impl FnMut(f64) -> Result<f64, StepError>,
) -> Result<(f64, f64), StepError> {
    let drop: f64 = Exp1.sample(rng);
    let level = here - drop;

    let mut low = -width * rng.random::<f64>();
    let mut high = low + width;
    let mut steps_low = (MOST_STEPS_OUT * rng.random::<f64>()).floor();
    let mut steps_high = MOST_STEPS_OUT - 1.0 - steps_low;
    while steps_low > 0.0 && log_density(low)? > level {
        low -= width;
        steps_low -= 1.0;
    }
    while steps_high > 0.0 && log_density(high)? > level {
        high += width;
        steps_high -= 1.0;
    }
    for _ in 0..MOST_CUTS {
        let t = low + (high - low) * rng.random::<f64>();
        let value = log_density(t)?;
        if value > level {
            return Ok((t, value));
        }
        if t < 0.0 {
            low = t;
        } else {
            high = t;
        }
    }
    Ok((0.0, here))
}

#[cfg(test)]
mod tests;
