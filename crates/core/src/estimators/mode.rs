//! The posterior mode. By default: a start from a subset for tall data, then Newton on all rows, L-BFGS where Newton fails;
//! or by another method of the registry, checked and if need be finished by Newton.

use super::registry::{Plan, Way};
use super::smoothing::{self, Smoothing};
use super::trace::{Recorder, SUBSET, Search};
use super::{hessian_free, lbfgs, newton, stochastic};
use crate::models::{LogDensity, Model, RowLikelihood, Rows};
use crate::oracle::{Centre, passes};
use ergodic_base::linalg::{Cholesky, axpy, dot, symmetric_eigen};
use ergodic_base::{Control, Purpose, stream};

/// Above this many rows the first iterations use a subset: a Newton step on 20,000 rows brings the start within a few
/// posterior standard deviations of the subset's mode, from which two or three full passes finish.
const SUBSET_ROWS: usize = 20_000;
/// Farthest that a centre of control variates may be from the mode, in posterior standard deviations: the variance of the
/// gradient estimate, which grows with the squared distance to the centre, is then 1 % larger for one parameter and less
/// for more.
pub const GOOD_ENOUGH: f64 = 0.1;
/// Saddles that are left before a search gives up: each has a higher density than the one before, and symmetric models have few.
const MOST_SADDLES: usize = 5;
/// Share of the largest curvature from which a negative one is a saddle, and not the rounding of a flat direction.
const BENT: f64 = 1e-8;
/// Halvings of the first step away from a saddle.
const SADDLE_HALVINGS: u32 = 20;

/// One more pass over the data is begun, unless somebody cancelled.
pub(super) fn tick(control: &Control) -> Result<(), ModeError> {
    control.count(1);
    control.check(ModeError::Cancelled)
}

/// The outcome of a mode search.
#[derive(Clone, Debug)]
pub struct Mode {
    /// The mode with curvature and per-row data.
    pub centre: Centre,
    /// How the mode was found.
    pub search: Search,
}

/// Why no mode was found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModeError {
    /// The search was cancelled.
    #[error("the search for the mode was cancelled")]
    Cancelled,
    /// The density has no usable mode.
    #[error("no mode was found: {0}")]
    NotFound(&'static str),
    /// The model has so many parameters that a dense curvature would take too long.
    #[error("{0} parameters are too many for a dense curvature")]
    TooMany(usize),
    /// The model is known to have many places that are equally high.
    #[error("this model has many modes that are equal, and none is sought")]
    NoneSought,
    /// The method stopped too far from the mode, and was not allowed to go on with Newton's.
    #[error("{0}")]
    TooFar(String),
}

/// Which rows an objective uses; a subset is scaled up to all rows.
#[derive(Clone, Copy)]
pub(super) struct Objective<'a> {
    pub density: &'a dyn LogDensity,
    pub rows: Rows<'a>,
    /// How kinks of priors are smoothed, if they are.
    pub smoothing: Option<Smoothing>,
}

impl<'a> Objective<'a> {
    /// The log density as it is, or of a subset of its rows.
    pub fn new(density: &'a dyn LogDensity, rows: Rows<'a>) -> Self {
        Self {
            density,
            rows,
            smoothing: None,
        }
    }

    /// Rows that one evaluation passes over.
    pub fn num_rows(&self) -> usize {
        self.rows.len(num_obs(self.density))
    }

    /// Log posterior with the likelihood scaled to all rows; overwrites `grad`.
    pub fn value(&self, u: &[f64], grad: &mut [f64], work: &mut [f64]) -> f64 {
        let Some(model) = self.density.rows() else {
            return self.density.log_density(u, grad);
        };
        let num_obs = model.num_obs();
        let scale = num_obs as f64 / self.rows.len(num_obs) as f64;
        let mut value = model.log_prior(u, grad);
        if let Some(smoothing) = self.smoothing {
            value += smoothing.value(model, u, grad);
        }
        work.fill(0.0);
        value += scale * passes::log_lik(model, u, self.rows, work);
        ergodic_base::linalg::axpy(scale, work, grad);
        value
    }

    /// −∇² of the same, overwriting `hessian`.
    pub(crate) fn neg_hessian(&self, u: &[f64], hessian: &mut [f64]) {
        hessian.fill(0.0);
        let Some(model) = self.density.rows() else {
            return self.density.add_neg_hessian(u, hessian);
        };
        let num_obs = model.num_obs();
        let scale = num_obs as f64 / self.rows.len(num_obs) as f64;
        passes::add_neg_hessian(model, u, self.rows, hessian);
        for entry in hessian.iter_mut() {
            *entry *= scale;
        }
        model.add_neg_hessian_log_prior(u, hessian);
        if let Some(smoothing) = self.smoothing {
            smoothing.add_neg_hessian(model, u, hessian);
        }
    }
}

/// N; a density without rows is evaluated as one.
pub(super) fn num_obs(density: &dyn LogDensity) -> usize {
    density.rows().map_or(1, RowLikelihood::num_obs)
}

/// Finds the mode of `model`, starting at u = 0, by the method of `auto`: Newton's, and L-BFGS where that fails.
///
/// # Errors
/// [`ModeError::Cancelled`], or [`ModeError::NotFound`] when the curvature stays indefinite or no progress is made.
pub fn find_mode(model: &dyn Model, control: &Control) -> Result<Mode, ModeError> {
    find_mode_by(model, &Plan::auto(), control)
}

/// Finds the mode of `model` as `plan` says.
///
/// # Errors
/// As [`find_mode`], or [`ModeError::TooFar`].
pub fn find_mode_by(model: &dyn Model, plan: &Plan, control: &Control) -> Result<Mode, ModeError> {
    let density = model
        .density()
        .ok_or(ModeError::NotFound("this model has no density to climb"))?;
    if !density.has_dense_curvature() {
        return Err(match density.has_equal_modes() {
            true => ModeError::NoneSought,
            false => ModeError::TooMany(density.dim()),
        });
    }
    let dim = density.dim();
    let mut u = plan.start.clone().unwrap_or_else(|| vec![0.0; dim]);
    let mut recorder = Recorder::new(num_obs(density));
    let full = Objective::new(density, Rows::All);
    let mut stopped_at = None;
    let mut polish = None;
    let (iterations, method) = match &plan.way {
        None => {
            if plan.start.is_none() {
                subset_start(density, &mut u, control, &mut recorder)?;
            }
            climb(full, &mut u, control, &mut recorder)?
        }
        Some((Way::Newton, spec)) => {
            if plan.start.is_none() {
                subset_start(density, &mut u, control, &mut recorder)?;
            }
            recorder.enter(spec.id);
            let iterations = smoothly(full, &mut u, |objective, u| {
                newton::maximise(objective, u, control, &mut recorder)
            })?;
            (iterations, spec.id)
        }
        Some((Way::Lbfgs, spec)) => {
            recorder.enter(spec.id);
            let iterations = smoothly(full, &mut u, |objective, u| {
                by_lbfgs(objective, u, control, &mut recorder)
            })?;
            (iterations, spec.id)
        }
        Some((Way::HessianFree, spec)) => {
            recorder.enter(spec.id);
            let iterations = smoothly(full, &mut u, |objective, u| {
                hessian_free::maximise(objective, u, control, &mut recorder)
            })?;
            (iterations, spec.id)
        }
        Some((Way::Stochastic(search), spec)) => {
            recorder.enter(spec.id);
            let steps =
                stochastic::maximise(full, &mut u, search.as_ref(), control, &mut recorder)?;
            let distance = distance_to_peak(full, &u);
            stopped_at = distance;
            if search.wants_polish() {
                let (iterations, _method) = climb(full, &mut u, control, &mut recorder)?;
                polish = Some(iterations);
            } else if distance.is_none_or(|distance| distance > GOOD_ENOUGH) {
                return Err(ModeError::TooFar(too_far(spec.title, distance)));
            }
            (steps, spec.id)
        }
    };
    let centre = Centre::at(density, &u).map_err(|_indefinite| {
        ModeError::NotFound("the curvature at the mode is not positive definite")
    })?;
    let search = recorder.finish(full, &centre, method, iterations, stopped_at, polish);
    Ok(Mode { centre, search })
}

/// For tall data: brings `u` near the mode of a subset, from which few full passes finish.
fn subset_start(
    density: &dyn LogDensity,
    u: &mut [f64],
    control: &Control,
    recorder: &mut Recorder,
) -> Result<(), ModeError> {
    let num_obs = num_obs(density);
    if num_obs <= 4 * SUBSET_ROWS {
        return Ok(());
    }
    // Rows were shuffled at import, so the first ones are a random subset; a random start avoids favouring them
    // over what other subsets of the project use.
    use rand::RngExt as _;
    let start = stream(0, 0, Purpose::Init).random_range(0..num_obs - SUBSET_ROWS);
    let subset = Objective {
        // The first smoothing is enough for a start.
        smoothing: smoothing::stages(density).first().copied(),
        ..Objective::new(
            density,
            Rows::Span {
                start,
                len: SUBSET_ROWS,
            },
        )
    };
    recorder.enter(SUBSET);
    // A failure here costs nothing: the full search starts from wherever the subset ended.
    match newton::maximise(subset, u, control, recorder) {
        Err(ModeError::Cancelled) => return Err(ModeError::Cancelled),
        Err(_) => u.fill(0.0),
        Ok(_) => {}
    }
    Ok(())
}

/// Climbs from `u` to a mode of `density` by the method of `auto`, without what is recorded there.
pub(super) fn climb_from(
    density: &dyn LogDensity,
    u: &mut [f64],
    control: &Control,
) -> Result<(), ModeError> {
    let mut recorder = Recorder::new(num_obs(density));
    let full = Objective::new(density, Rows::All);
    climb(full, u, control, &mut recorder).map(|_outcome| ())
}

/// Newton from `u`, and L-BFGS from the same place where Newton fails.
fn climb(
    full: Objective<'_>,
    u: &mut [f64],
    control: &Control,
    recorder: &mut Recorder,
) -> Result<(u64, &'static str), ModeError> {
    let start = u.to_vec();
    recorder.enter(newton::SPEC.id);
    let by_newton = smoothly(full, u, |objective, u| {
        newton::maximise(objective, u, control, recorder)
    });
    match by_newton {
        Ok(iterations) => Ok((iterations, newton::SPEC.id)),
        Err(ModeError::Cancelled) => Err(ModeError::Cancelled),
        Err(_) => {
            u.copy_from_slice(&start);
            recorder.enter(lbfgs::SPEC.id);
            let iterations = smoothly(full, u, |objective, u| {
                by_lbfgs(objective, u, control, recorder)
            })?;
            Ok((iterations, lbfgs::SPEC.id))
        }
    }
}

/// L-BFGS, and again from beside the place where it ends if that is a saddle, to which symmetric models lead from a symmetric start; then
/// Newton if that is no mode yet: along directions in which the curvature is a millionth of that in others, steps of L-BFGS gain too
/// little to go on.
fn by_lbfgs(
    objective: Objective<'_>,
    u: &mut [f64],
    control: &Control,
    recorder: &mut Recorder,
) -> Result<u64, ModeError> {
    let mut iterations = lbfgs::maximise(objective, u, control, recorder)?;
    let mut distance = distance_to_peak(objective, u);
    for _ in 0..MOST_SADDLES {
        if distance.is_some() || !leave_saddle(objective, u, recorder) {
            break;
        }
        iterations += lbfgs::maximise(objective, u, control, recorder)?;
        distance = distance_to_peak(objective, u);
    }
    if distance.is_some_and(|distance| distance > GOOD_ENOUGH) {
        iterations += newton::maximise(objective, u, control, recorder)?;
    }
    Ok(iterations)
}

/// Climbs by `climb`; through the smoothings of the priors' kinks where they have some.
fn smoothly(
    full: Objective<'_>,
    u: &mut [f64],
    mut climb: impl FnMut(Objective<'_>, &mut [f64]) -> Result<u64, ModeError>,
) -> Result<u64, ModeError> {
    let stages = smoothing::stages(full.density);
    if stages.is_empty() {
        return climb(full, u);
    }
    let mut iterations = 0;
    for stage in stages {
        let objective = Objective {
            smoothing: Some(stage),
            ..full
        };
        iterations += climb(objective, u)?;
    }
    Ok(iterations)
}

/// Norm of the gradient at `u` in units of the curvature there, which is the distance to the mode in posterior standard
/// deviations if the density is normal; `None` where the curvature is not positive definite.
fn distance_to_peak(objective: Objective<'_>, u: &[f64]) -> Option<f64> {
    let dim = u.len();
    let (mut grad, mut work) = (vec![0.0; dim], vec![0.0; dim]);
    let mut hessian = vec![0.0; dim * dim];
    objective.value(u, &mut grad, &mut work);
    objective.neg_hessian(u, &mut hessian);
    let factor = Cholesky::of(&hessian, dim).ok()?;
    factor.solve_lower(&mut grad);
    let distance = dot(&grad, &grad).sqrt();
    distance.is_finite().then_some(distance)
}

/// Moves `u` from a saddle to where the density is higher, along the direction in which it bends upwards most; whether there is one.
fn leave_saddle(objective: Objective<'_>, u: &mut [f64], recorder: &mut Recorder) -> bool {
    let dim = u.len();
    let (mut grad, mut work) = (vec![0.0; dim], vec![0.0; dim]);
    let mut hessian = vec![0.0; dim * dim];
    objective.neg_hessian(u, &mut hessian);
    recorder.spend(objective.num_rows());
    let Some((values, vectors)) = symmetric_eigen(&hessian, dim) else {
        return false;
    };
    let largest = values.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
    let Some(&least) = values.first().filter(|it| **it < -BENT * largest) else {
        return false;
    };
    let direction = &vectors[..dim];
    let mut value = |u: &[f64]| {
        recorder.spend(objective.num_rows());
        objective.value(u, &mut grad, &mut work)
    };
    let here = value(u);
    // Where the bend alone would gain half a nat.
    let mut length = 1.0 / least.abs().sqrt();
    for _ in 0..SADDLE_HALVINGS {
        for sign in [1.0, -1.0] {
            let mut beside = u.to_vec();
            axpy(sign * length, direction, &mut beside);
            if value(&beside) > here {
                u.copy_from_slice(&beside);
                return true;
            }
        }
        length *= 0.5;
    }
    false
}

fn too_far(title: &str, distance: Option<f64>) -> String {
    let place = distance.map_or_else(
        || "where the curvature is not that of a mode".to_owned(),
        |distance| format!("{distance:.2} posterior standard deviations from the mode"),
    );
    format!(
        "{title} stopped {place}, and control variates need at most {GOOD_ENOUGH}; \
         allow more steps or set mode.polish = true"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::{DensityModel, density_of};
    use crate::testing::GaussianRows;

    #[test]
    fn a_gaussian_posterior_peaks_at_its_mean() {
        for num_obs in [500, 100_000] {
            let model = GaussianRows::simulated(num_obs, 3, 1);
            let mode = find_mode(&model, &Control::default()).unwrap();
            for (found, mean) in mode.centre.u.iter().zip(model.posterior_mean()) {
                assert!((found - mean).abs() < 1e-9);
            }
            for (sd, variance) in mode.centre.sds().iter().zip(model.posterior_variance()) {
                assert!((sd * sd / variance - 1.0).abs() < 1e-9);
            }
        }
    }

    /// Two modes beside a saddle, where searches start: the gradient vanishes there, and the curvature says where to go.
    #[test]
    fn a_search_leaves_a_saddle() {
        let density = density_of(2, |u: &[f64], grad: &mut [f64]| {
            let well = u[0] * u[0] - 4.0;
            grad[0] = -4.0 * u[0] * well;
            grad[1] = -2.0 * u[1];
            -well * well - u[1] * u[1]
        });
        let mode = find_mode(&DensityModel::new(density), &Control::default()).unwrap();
        let [well, other] = [mode.centre.u[0], mode.centre.u[1]];
        assert!(
            (well.abs() - 2.0).abs() < 1e-6 && other.abs() < 1e-6,
            "{well} {other}"
        );
    }

    #[test]
    fn newton_and_lbfgs_agree() {
        let model = GaussianRows::simulated(300, 4, 2);
        let objective = Objective::new(&model, Rows::All);
        let mut recorder = Recorder::new(300);
        let (mut by_newton, mut by_lbfgs) = (vec![0.0; 4], vec![0.0; 4]);
        newton::maximise(
            objective,
            &mut by_newton,
            &Control::default(),
            &mut recorder,
        )
        .unwrap();
        lbfgs::maximise(objective, &mut by_lbfgs, &Control::default(), &mut recorder).unwrap();
        for (a, b) in by_newton.iter().zip(&by_lbfgs) {
            assert!((a - b).abs() < 1e-6, "{a} {b}");
        }
    }

    /// 200 rows, of which the data need the first of four coefficients; the others sit at the kink of their priors. The mode
    /// is where each coordinate alone has none better.
    #[test]
    fn the_peak_under_laplace_priors_is_found_at_their_kinks() {
        let recipe = |formula: &str| {
            let mut recipe = crate::design::ModelFrame::new(formula.parse().unwrap());
            recipe.standardize = true;
            recipe
        };
        let made = crate::synthetic::logistic(200, 5, 3, 0.2);
        let columns = (0..4).map(|j| {
            let values = made.x.chunks(5).map(|row| row[j + 1]).collect();
            (format!("x{j}"), crate::design::Values::Numbers(values))
        });
        let y = (
            "y".to_owned(),
            crate::design::Values::Numbers(made.y.clone()),
        );
        let table =
            crate::design::MemoryColumns::new("t", std::iter::once(y).chain(columns).collect())
                .unwrap();
        let frame = recipe("y ~ x0 + x1 + x2 + x3");
        let (design, _) = crate::design::Design::build(&table, &frame).unwrap();
        for standardize in [true, false] {
            let options = crate::models::ModelOptions {
                priors: vec![("b".to_owned(), "laplace(0, 0.1)".to_owned())],
                standardize,
                ..Default::default()
            };
            let build = crate::models::find("logistic").unwrap().build;
            let model = build(std::sync::Arc::new(design.clone()), &options).unwrap();
            let mode = find_mode(model.as_ref(), &Control::default()).unwrap();
            let density = |u: &[f64]| {
                let mut unused = vec![0.0; u.len()];
                model.rows().unwrap().log_prior(u, &mut unused)
                    + model.rows().unwrap().log_lik(
                        u,
                        Rows::All,
                        &mut model.rows().unwrap().scratch(),
                        &mut unused,
                    )
            };
            let peak = density(&mode.centre.u);
            let sds = mode.centre.sds();
            for j in 0..sds.len() {
                for step in [-0.1, 0.1] {
                    let mut u = mode.centre.u.clone();
                    u[j] += step * sds[j];
                    assert!(density(&u) < peak, "standardize {standardize}, {j}, {step}");
                }
            }
            let mut theta = vec![0.0; 5];
            model.constrain(&mode.centre.u, &mut theta);
            let at_kink = theta[1..].iter().filter(|b| b.abs() < 1e-3).count();
            assert!((1..4).contains(&at_kink), "{theta:?}");
            assert!(
                mode.search.gradient_norm < 1e-3,
                "{}",
                mode.search.gradient_norm
            );
        }
    }

    #[test]
    fn a_cancelled_search_says_so() {
        let model = GaussianRows::simulated(300, 2, 2);
        let control = Control::default();
        control.cancel();
        assert_eq!(
            find_mode(&model, &control).unwrap_err(),
            ModeError::Cancelled
        );
    }
}
