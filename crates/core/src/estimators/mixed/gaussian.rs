//! Fits of a Gaussian response.

use super::bfgs::minimise;
use super::em::{EmCourse, em, squarem};
use super::fit::{self, Method, MixedFit};
use super::profile::{Criterion, Profile};
use super::remark::Remark;
use super::satterthwaite;
use super::{EVALUATING, Misfit, MixedData, MixedError, tick};
use crate::families::Family;
use ergodic_base::linalg::Cholesky;
use ergodic_base::{Control, Warning};

/// Diagonals of Λ below this are tried at 0 exactly.
const NEAR_ZERO: f64 = 1e-3;
/// How much larger the deviance may be at 0 for that.
const NOT_WORSE: f64 = 1e-7;
/// How far beside the end of a search the slope is taken for its curvature, and how far the minimum may be, in an entry of Λ, whose scale is 1: a
/// curvature that is off by as much leaves a thousandth of the error of the search.
const BESIDE: f64 = 1e-3;

/// EM, accelerated or not.
type Em = fn(&mut Profile<'_>, &Control) -> Result<EmCourse, MixedError>;

/// Fits `data` with a Gaussian response by `profile`, `em` or `squarem`.
///
/// # Errors
/// The data cannot be fitted, the method does not fit them, the search failed, or it was cancelled.
pub fn fit_gaussian(
    data: &MixedData,
    method: Method,
    criterion: Criterion,
    control: &Control,
) -> Result<MixedFit, MixedError> {
    control.enter(EVALUATING);
    // Before the rows are read: what the method cannot do.
    let by_em = match (method, criterion) {
        (Method::Profile, _) => None,
        (Method::Em, Criterion::Ml) => Some(em as Em),
        (Method::Squarem, Criterion::Ml) => Some(squarem as Em),
        (Method::Em | Method::Squarem, Criterion::Reml) => {
            return Err(Misfit::Restricted(method).into());
        }
        (
            Method::Laplace
            | Method::Aghq
            | Method::Ghq
            | Method::MonteCarlo
            | Method::EmAghq
            | Method::EmLaplace
            | Method::Mcem,
            _,
        ) => {
            return Err(Misfit::NotGaussian(method).into());
        }
    };
    if by_em.is_some() {
        data.check_groups(method)?;
    }
    let mut profile = Profile::new(data, criterion, control)?;
    if criterion == Criterion::Reml && profile.degrees() < 1.0 {
        let effects = data.num_columns();
        let misfit = match data.weights {
            Some(_) => Misfit::Weights {
                sum: data.total_weight(),
                effects,
            },
            None => Misfit::Rows {
                rows: data.num_obs(),
                effects,
            },
        };
        return Err(misfit.into());
    }
    let mut warnings = Vec::new();
    let (theta, iterations, course) = match by_em {
        None => {
            let (theta, iterations) = quasi_newton(&mut profile, control)?;
            (theta, iterations, Vec::new())
        }
        Some(climb) => of_em(climb(&mut profile, control)?, &mut warnings),
    };
    Ok(report(
        &mut profile,
        theta,
        method,
        iterations,
        course,
        warnings,
        control,
    ))
}

fn of_em(course: EmCourse, warnings: &mut Vec<Warning>) -> (Vec<f64>, u64, Vec<f64>) {
    if !course.converged {
        warnings.push(Remark::NotConverged {}.into());
    }
    (course.theta, course.iterations, course.deviances)
}

fn quasi_newton(
    profile: &mut Profile<'_>,
    control: &Control,
) -> Result<(Vec<f64>, u64), MixedError> {
    let mut theta = profile.shape.start();
    let dim = theta.len();
    // Effects of a group with many rows are known well, so θ is determined by the number of groups: a guess per entry.
    let mut inverse = vec![0.0; dim * dim];
    for (k, (t, _, _)) in profile.shape.entries().enumerate() {
        let told_by = profile.shape.told_by(t, profile.blocks.levels[t]);
        inverse[k * dim + k] = 0.25 / told_by as f64;
    }
    let end = minimise(&mut theta, inverse, |theta, grad| {
        tick(control)?;
        Ok(profile.deviance_and_gradient(theta, grad))
    })?;
    profile.shape.normalise(&mut theta);
    // An even function of a diagonal is flat at 0: go there exactly where that is not worse.
    let mut value = end.value;
    for k in profile.shape.diagonal() {
        if theta[k] < NEAR_ZERO {
            let kept = std::mem::replace(&mut theta[k], 0.0);
            let there = profile.deviance(&theta);
            if there <= value + NOT_WORSE {
                value = value.min(there);
            } else {
                theta[k] = kept;
            }
        }
    }
    Ok((polished(profile, theta), end.iterations))
}

/// `theta` after a step of Newton's method, where a search ended near the minimum: its last digits, which the deviance does not tell, are those
/// of the slope. Without a step where the curvature has no minimum or this is not near.
fn polished(profile: &mut Profile<'_>, mut theta: Vec<f64>) -> Vec<f64> {
    // At the edge, where entries are zero, they stay.
    let free: Vec<usize> = (0..theta.len()).filter(|&k| theta[k] != 0.0).collect();
    let dim = free.len();
    if dim == 0 {
        return theta;
    }
    let [mut here, mut there] = [(); 2].map(|()| vec![0.0; theta.len()]);
    profile.deviance_and_gradient(&theta, &mut here);
    let mut curvature = vec![0.0; dim * dim];
    for (a, &k) in free.iter().enumerate() {
        let kept = theta[k];
        theta[k] += BESIDE;
        profile.deviance_and_gradient(&theta, &mut there);
        theta[k] = kept;
        for (b, &l) in free.iter().enumerate() {
            curvature[a * dim + b] = (there[l] - here[l]) / BESIDE;
        }
    }
    let mut step: Vec<f64> = free.iter().map(|&k| here[k]).collect();
    if let Ok(factor) = Cholesky::of(&curvature, dim) {
        factor.solve(&mut step);
        if step.iter().all(|step| step.abs() < BESIDE) {
            for (&k, step) in free.iter().zip(step) {
                theta[k] -= step;
            }
        }
    }
    theta
}

fn report(
    profile: &mut Profile<'_>,
    theta: Vec<f64>,
    method: Method,
    iterations: u64,
    course: Vec<f64>,
    mut warnings: Vec<Warning>,
    control: &Control,
) -> MixedFit {
    let data = profile.data();
    let degrees = satterthwaite::degrees(profile, &theta);
    let deviance = profile.deviance(&theta);
    profile.factor.selected_inverse(&mut profile.inverse);
    let variance = profile.variance();
    let sigma = variance.sqrt();
    let covariance: Vec<f64> = profile
        .fixed
        .inverse()
        .iter()
        .map(|v| v * variance)
        .collect();
    let shift = profile.cross.shift;
    let (mut fixed, covariance) = fit::unscale(data, &profile.beta, &covariance, shift);
    for (effect, df) in fixed.iter_mut().zip(degrees.into_iter().flatten()) {
        effect.df = Some(df);
    }
    let modes = profile.effects();
    let num_params = fixed.len() + theta.len() + 1;
    warnings.extend(fit::singular(data, &profile.lambda));
    let (effects, curves) = fit::effects(
        data,
        &profile.blocks,
        &profile.lambda,
        &modes,
        &profile.inverse,
        sigma,
    );
    MixedFit {
        method,
        family: Family::Gaussian,
        criterion: profile.criterion.name().to_owned(),
        num_obs: data.num_obs(),
        components: fit::components(data, &profile.lambda, sigma, Some(variance)),
        effects,
        curves,
        predictors: fit::predictors(data, &profile.blocks, &profile.beta, shift, &modes),
        fixed,
        cuts: Vec::new(),
        covariance,
        sigma: Some(sigma),
        auxiliaries: Vec::new(),
        log_lik: -0.5 * deviance,
        log_lik_error: None,
        num_params,
        aic: deviance + 2.0 * num_params as f64,
        bic: deviance + num_params as f64 * profile.cross.num_obs.ln(),
        theta,
        iterations,
        evaluations: control.counted(),
        course,
        monte_carlo: None,
        warnings,
    }
}
