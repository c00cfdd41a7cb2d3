//! Fits of responses that are not Gaussian.

use super::ascent::squared;
use super::bfgs::{Minimum, minimise};
use super::expectation::Expectation;
use super::fit::{self, Method, MixedFit};
use super::integral::{Fineness, Integral};
use super::laplace::Laplace;
use super::mcem::{self, MonteCarlo};
use super::objective::Objective;
use super::remark::Remark;
use super::units::Units;
use super::{Breakdown, EVALUATING, Misfit, MixedData, MixedError, tick};
use crate::families::{Family, Link, Outcome, Support};
use ergodic_base::linalg::{Cholesky, axpy, dot};
use ergodic_base::{Control, Warning};

/// Newton steps of the fit without group effects that starts the search.
const START_STEPS: usize = 25;
/// Diagonals of Λ below this are tried at 0 exactly.
const NEAR_ZERO: f64 = 1e-3;
/// Smallest diagonal of Λ at which the search by integrals begins.
const RESTART: f64 = 0.1;
/// How much larger the deviance may be at 0 for that.
const NOT_WORSE: f64 = 1e-7;
/// Step of the differences that give the curvature, in units of scaled columns and of θ.
const STEP: f64 = 2e-3;
/// Shape of the negative binomial beyond which it is a Poisson distribution to all who look.
const POISSON_SHAPE: f64 = 1e4;
/// Largest log shape of a negative binomial, and logarithm of degrees of freedom: beyond it the likelihood counts as flat.
const MOST_LOG_SHAPE: f64 = 11.5;
/// Largest log shape of other families: responses then differ from their means by rounding only.
const EXACT_LOG_SHAPE: f64 = 50.0;
/// Log odds beyond which a chance counts as 0 or 1, and the likelihood as flat.
const MOST_LOG_ODDS: f64 = 12.0;
/// Chance that is 0 to all who look.
const NO_CHANCE: f64 = 1e-4;
/// What models call the scale of noise.
const SIGMA: &str = "sigma";
/// Monte Carlo error in standard errors that deserves a word.
const NOISY: f64 = 0.1;
/// Difference of log likelihoods that deserves a word.
const CLEAR: f64 = 0.1;
/// Size of a coefficient of a scaled column that no data make unless they separate yes from no.
const SEPARATED: f64 = 12.0;

/// Fits `data` by a method that is not for Gaussian responses alone, integrals as finely as `fineness` says.
///
/// # Errors
/// The data cannot be fitted, the method does not fit them, the search failed, or it was cancelled.
pub fn fit_generalised(
    data: &MixedData,
    family: Family,
    method: Method,
    fineness: Fineness,
    control: &Control,
) -> Result<MixedFit, MixedError> {
    control.enter(EVALUATING);
    if family.definition().link == Link::Identity {
        let units = Units::of(data);
        let fit = search_fit(&units.standardised(data), family, method, fineness, control)?;
        return Ok(units.back(fit, data));
    }
    search_fit(data, family, method, fineness, control)
}

fn search_fit(
    data: &MixedData,
    family: Family,
    method: Method,
    fineness: Fineness,
    control: &Control,
) -> Result<MixedFit, MixedError> {
    let mut laplace = Laplace::new(data, family)?;
    // What a method cannot do is said before the search.
    match method {
        Method::Laplace => {}
        Method::EmLaplace => data.check_groups(method)?,
        Method::Aghq | Method::Ghq | Method::MonteCarlo | Method::EmAghq => {
            Integral::new(&mut laplace, method, fineness)?;
        }
        Method::Mcem => {
            data.check_groups(method)?;
            if family == Family::Ordered {
                return Err(Misfit::CutPoints.into());
            }
        }
        Method::Profile | Method::Em | Method::Squarem => {
            return Err(Misfit::GaussianOnly(method).into());
        }
    }
    let (mut parameters, mut inverse) = start(&mut laplace, control)?;
    let mut iterations = 0;
    let (mut monte_carlo, mut course, mut warnings) = (None, Vec::new(), Vec::new());
    let mut objective = match method {
        Method::Aghq | Method::Ghq | Method::MonteCarlo => {
            // Laplace's approximation is near and its gradient is cheap: begin at its end, with its curvature.
            let mut near = Objective::Laplace(&mut laplace);
            iterations += search(&mut near, &mut parameters, inverse.clone(), control)?.iterations;
            let curvature = curvature(&mut near, &parameters, control)?;
            if let Ok(factor) = Cholesky::of(&curvature, parameters.len()) {
                inverse = factor.inverse();
            }
            // At 0 an even function is flat.
            for k in laplace.shape.diagonal() {
                parameters[k] = parameters[k].abs().max(RESTART);
            }
            Objective::Integral(Box::new(Integral::new(&mut laplace, method, fineness)?))
        }
        Method::EmAghq => {
            Objective::Integral(Box::new(Integral::new(&mut laplace, method, fineness)?))
        }
        _ => Objective::Laplace(&mut laplace),
    };
    match method {
        Method::Mcem => {
            let (found, errors) = mcem::maximise(objective.laplace(), &parameters, control)?;
            iterations = errors.iterations;
            (parameters, monte_carlo) = (found, Some(errors));
        }
        Method::EmAghq | Method::EmLaplace => {
            let bounds = bounds(&objective.laplace().outcome);
            let mut em = Expectation::new(&mut objective, bounds);
            let start = em.point(&parameters);
            let end = squared(&mut em, start, control)?;
            parameters = em.parameters(&end.point);
            (iterations, course) = (end.iterations, end.deviances);
            if !end.converged {
                warnings.push(Remark::NotConverged {}.into());
            }
            let value = objective.value(&parameters, control)?;
            to_edges(&mut objective, &mut parameters, value, control)?;
        }
        _ => iterations += finish(&mut objective, &mut parameters, inverse, control)?,
    }
    let curvature = curvature(&mut objective, &parameters, control)?;
    let deviance = objective.value(&parameters, control)?;
    let (mut error, mut num_effects) = (None, 1);
    if let Objective::Integral(integral) = &objective {
        (error, num_effects) = (integral.error(), integral.num_effects());
    }
    drop(objective);
    if method == Method::Ghq {
        let mut adaptive = Integral::new(&mut laplace, Method::Aghq, fineness)?;
        let difference = 0.5 * (adaptive.deviance(&parameters, control)? - deviance);
        if difference.abs() > CLEAR {
            warnings.push(Remark::NarrowEffects { difference }.into());
        }
    }
    if let Some(error) = error.filter(|error| *error > CLEAR) {
        warnings.push(Remark::NoisyLikelihood { error }.into());
    }
    // Modes at the end, whatever was evaluated last.
    laplace.deviance(&parameters, control)?;
    laplace.factor.selected_inverse(&mut laplace.inverse);
    let scaled = covariance(&laplace, &parameters, &curvature, &mut warnings)?;
    let criterion = criterion(method, fineness, num_effects);
    let mut fit = report(
        &laplace,
        &parameters,
        deviance,
        &scaled,
        (method, criterion),
        iterations,
        warnings,
        control,
    );
    fit.course = course;
    fit.log_lik_error = error;
    if let Some(errors) = monte_carlo {
        fit.warnings
            .extend(too_noisy(&fit, &errors).map(Warning::from));
        fit.monte_carlo = Some(errors);
    }
    Ok(fit)
}

/// What was maximised, in words; integrals are over `num_effects` effects.
fn criterion(method: Method, fineness: Fineness, num_effects: usize) -> String {
    let Fineness { nodes, draws } = fineness;
    let each = match num_effects {
        1 => String::new(),
        several => format!(" for each of {several} effects"),
    };
    match method {
        Method::Aghq => format!("adaptive Gauss-Hermite quadrature with {nodes} nodes{each}"),
        Method::Ghq => format!("Gauss-Hermite quadrature with {nodes} nodes{each}"),
        Method::MonteCarlo => format!("Monte Carlo integrals with {draws} draws for each group"),
        Method::EmAghq => format!(
            "log likelihood and standard errors by adaptive Gauss-Hermite quadrature with {nodes} nodes{each}"
        ),
        Method::Mcem => {
            "log likelihood and standard errors by Laplace's approximation there".to_owned()
        }
        _ => "Laplace".to_owned(),
    }
}

/// Searches from `parameters`, in place, to the end: diagonals of Λ are not negative, and 0 where that is not worse.
/// Returns iterations.
fn finish(
    objective: &mut Objective<'_, '_>,
    parameters: &mut [f64],
    inverse: Vec<f64>,
    control: &Control,
) -> Result<u64, MixedError> {
    let end = search(objective, parameters, inverse, control)?;
    let shape = &objective.laplace().shape;
    shape.normalise(&mut parameters[..shape.len()]);
    to_edges(objective, parameters, end.value, control)?;
    Ok(end.iterations)
}

/// Sets small diagonals of Λ to 0 where that makes the deviance no larger than `value`.
fn to_edges(
    objective: &mut Objective<'_, '_>,
    parameters: &mut [f64],
    mut value: f64,
    control: &Control,
) -> Result<(), MixedError> {
    for k in objective.laplace().shape.diagonal() {
        if parameters[k] < NEAR_ZERO {
            let kept = std::mem::replace(&mut parameters[k], 0.0);
            let there = objective.value(parameters, control)?;
            if there <= value + NOT_WORSE {
                value = value.min(there);
            } else {
                parameters[k] = kept;
            }
        }
    }
    Ok(())
}

/// The remark on Monte Carlo errors that are not small beside standard errors.
fn too_noisy(fit: &MixedFit, errors: &MonteCarlo) -> Option<Remark> {
    let (effect, error) = fit
        .fixed
        .iter()
        .zip(&errors.fixed)
        .find(|(effect, error)| **error > NOISY * effect.se)?;
    Some(Remark::MonteCarloError {
        column: effect.name.clone(),
        share: error / effect.se,
    })
}

/// Minimises the deviance from `parameters`, in place.
fn search(
    objective: &mut Objective<'_, '_>,
    parameters: &mut [f64],
    inverse: Vec<f64>,
    control: &Control,
) -> Result<Minimum, MixedError> {
    let first = objective.laplace().auxiliaries().start;
    let bounds = bounds(&objective.laplace().outcome);
    let bounds = bounds.as_slice();
    let end = minimise(parameters, inverse, |at, grad| {
        let inside = |(at, [least, most]): (&f64, &[f64; 2])| at >= least && at <= most;
        if at[first..].iter().zip(bounds).all(inside) {
            return objective.gradient(at, grad, control);
        }
        let mut capped = at.to_vec();
        clamp(&mut capped[first..], bounds);
        let value = objective.gradient(&capped, grad, control);
        for j in first..at.len() {
            if capped[j] != at[j] {
                grad[j] = 0.0;
            }
        }
        value
    })?;
    clamp(&mut parameters[first..], bounds);
    Ok(end)
}

/// Between which coordinates of a response's parameters the likelihood is not flat.
fn bounds(outcome: &Outcome) -> Vec<[f64; 2]> {
    if outcome.family() == Family::Ordered {
        // Every level has rows, so no gap ends at 0.
        return vec![[f64::NEG_INFINITY, f64::INFINITY]; outcome.num_coordinates()];
    }
    let definition = outcome.family().definition();
    let counts = definition.is_whole;
    let auxiliaries = definition.auxiliaries.iter();
    auxiliaries
        .take(outcome.num_coordinates())
        .map(|one| match one.support {
            Support::Chance => [-MOST_LOG_ODDS, MOST_LOG_ODDS],
            // Shapes of counts, whose variance does not vanish with them.
            Support::Above(_) if counts => [f64::NEG_INFINITY, MOST_LOG_SHAPE],
            Support::Above(lower) if lower > 0.0 => [f64::NEG_INFINITY, MOST_LOG_SHAPE],
            Support::Above(_) => [f64::NEG_INFINITY, EXACT_LOG_SHAPE],
        })
        .collect()
}

fn clamp(at: &mut [f64], bounds: &[[f64; 2]]) {
    for (at, [least, most]) in at.iter_mut().zip(bounds) {
        *at = at.clamp(*least, *most);
    }
}

/// θ of the identity, β without group effects, the family where a search starts; and a guess of the inverse curvature there.
fn start(laplace: &mut Laplace<'_>, control: &Control) -> Result<(Vec<f64>, Vec<f64>), MixedError> {
    let data = laplace.data;
    let (n, p, free) = (data.num_obs(), data.num_columns(), laplace.shape.len());
    let mut beta = vec![0.0; p];
    let mut factor = Cholesky::empty(p);
    let log_p = |laplace: &Laplace<'_>, beta: &[f64]| -> f64 {
        (0..n)
            .map(|row| {
                let (y, trials, weight) = laplace.row(row);
                let offset = data.offset.as_ref().map_or(0.0, |o| o[row]);
                let eta = dot(data.row(row), beta) + offset;
                weight * laplace.outcome.at(eta, y, trials).log_p
            })
            .sum()
    };
    let mut value = log_p(laplace, &beta);
    for step_number in 0..START_STEPS {
        tick(control)?;
        let (mut grad, mut hessian) = (vec![0.0; p], vec![0.0; p * p]);
        for row in 0..n {
            let (y, trials, weight) = laplace.row(row);
            let offset = data.offset.as_ref().map_or(0.0, |o| o[row]);
            let x = data.row(row);
            let d = laplace.outcome.at(dot(x, &beta) + offset, y, trials);
            axpy(weight * d.score, x, &mut grad);
            for i in 0..p {
                axpy(
                    weight * d.weight.max(0.0) * x[i],
                    x,
                    &mut hessian[i * p..(i + 1) * p],
                );
            }
        }
        if factor.factor(&hessian).is_err() {
            return if step_number == 0 {
                Err(Misfit::DependentOrZero.into())
            } else {
                // Separated: the search goes on from here and will say so.
                break;
            };
        }
        factor.solve(&mut grad);
        let mut length = 1.0;
        let next = loop {
            let mut trial = beta.clone();
            axpy(length, &grad, &mut trial);
            let there = log_p(laplace, &trial);
            if there >= value || length < 1e-6 {
                break (there, trial);
            }
            length *= 0.5;
        };
        let gain = next.0 - value;
        (value, beta) = next;
        if gain.abs() < 1e-6 {
            break;
        }
    }
    let dim = laplace.dim();
    let mut parameters = laplace.shape.start();
    parameters.extend_from_slice(&beta);
    let coordinates = laplace.outcome.coordinates();
    parameters.extend_from_slice(&coordinates);
    if !laplace.deviance(&parameters, control)?.is_finite() {
        return Err(Breakdown::StartWithOffset.into());
    }
    let mut inverse = vec![0.0; dim * dim];
    for (k, (t, _, _)) in laplace.shape.entries().enumerate() {
        let told_by = laplace.shape.told_by(t, laplace.blocks.levels[t]);
        inverse[k * dim + k] = 0.25 / told_by as f64;
    }
    if let Ok(information) = Cholesky::of(&laplace.information(), p) {
        let covariance = information.inverse();
        for i in 0..p {
            for j in 0..p {
                inverse[(free + i) * dim + free + j] = 0.5 * covariance[i * p + j];
            }
        }
    } else {
        for i in free..free + p {
            inverse[i * dim + i] = 1.0 / n as f64;
        }
    }
    for j in laplace.auxiliaries() {
        inverse[j * dim + j] = 1.0 / n as f64;
    }
    Ok((parameters, inverse))
}

/// Second derivatives of the deviance in all parameters, by differences of fourth order: of the gradient for Laplace's,
/// of the value for quadrature.
fn curvature(
    objective: &mut Objective<'_, '_>,
    at: &[f64],
    control: &Control,
) -> Result<Vec<f64>, MixedError> {
    let dim = at.len();
    let mut hessian = vec![0.0; dim * dim];
    let mut moved = at.to_vec();
    if let Objective::Laplace(laplace) = objective {
        let mut grad = vec![0.0; dim];
        for i in 0..dim {
            for (h, factor) in [(1.0, 8.0), (-1.0, -8.0), (2.0, -1.0), (-2.0, 1.0)] {
                moved[i] = at[i] + h * STEP;
                laplace.deviance_and_gradient(&moved, &mut grad, control)?;
                axpy(
                    factor / (12.0 * STEP),
                    &grad,
                    &mut hessian[i * dim..(i + 1) * dim],
                );
            }
            moved[i] = at[i];
        }
    } else {
        for i in 0..dim {
            for j in 0..=i {
                let mut mixed = |h: f64| -> Result<f64, MixedError> {
                    let mut sum = 0.0;
                    for (a, b) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
                        moved[i] += a * h;
                        moved[j] += b * h;
                        sum += a * b * objective.value(&moved, control)?;
                        moved.copy_from_slice(at);
                    }
                    Ok(sum / (4.0 * h * h))
                };
                let value = (4.0 * mixed(2.0 * STEP)? - mixed(4.0 * STEP)?) / 3.0;
                hessian[i * dim + j] = value;
                hessian[j * dim + i] = value;
            }
        }
    }
    for i in 0..dim {
        for j in 0..i {
            let mean = 0.5 * (hessian[i * dim + j] + hessian[j * dim + i]);
            hessian[i * dim + j] = mean;
            hessian[j * dim + i] = mean;
        }
    }
    Ok(hessian)
}

/// The covariance of β for scaled columns, and of the logarithms of gaps between cut points after it: from the curvature in all parameters that are not at an edge, or given θ
/// where that is not positive definite.
fn covariance(
    laplace: &Laplace<'_>,
    parameters: &[f64],
    curvature: &[f64],
    warnings: &mut Vec<Warning>,
) -> Result<Vec<f64>, MixedError> {
    let (dim, p, free) = (
        parameters.len(),
        laplace.data.num_columns(),
        laplace.shape.len(),
    );
    let width = p + num_gaps(&laplace.outcome);
    let at_edge: Vec<usize> = laplace
        .shape
        .diagonal()
        .into_iter()
        .filter(|&k| parameters[k] == 0.0)
        .collect();
    let first = laplace.auxiliaries().start;
    let bounds = bounds(&laplace.outcome);
    let is_flat = |k: usize| k >= first && bounds[k - first].contains(&parameters[k]);
    // Where a diagonal of Λ is 0, so are the derivatives in its column.
    let entries: Vec<(usize, usize, usize)> = laplace.shape.entries().collect();
    let kept: Vec<usize> = (0..dim)
        .filter(|&k| {
            !is_flat(k)
                && !at_edge.iter().any(|&edge| {
                    k == edge
                        || (k < free
                            && (entries[k].0, entries[k].2) == (entries[edge].0, entries[edge].2))
                })
        })
        .collect();
    let size = kept.len();
    let mut half = vec![0.0; size * size];
    for (i, &row) in kept.iter().enumerate() {
        for (j, &column) in kept.iter().enumerate() {
            half[i * size + j] = 0.5 * curvature[row * dim + column];
        }
    }
    if let Ok(factor) = Cholesky::of(&half, size) {
        let inverse = factor.inverse();
        let first = kept.iter().position(|&k| k == free).unwrap_or(0);
        let mut out = vec![0.0; width * width];
        for i in 0..width {
            for j in 0..width {
                out[i * width + j] = inverse[(first + i) * size + first + j];
            }
        }
        return Ok(out);
    }
    warnings.push(Remark::Curvature {}.into());
    let factor =
        Cholesky::of(&laplace.information(), p).map_err(|_indefinite| Breakdown::Undetermined)?;
    // What is not known of gaps has no number.
    let (inverse, mut out) = (factor.inverse(), vec![f64::NAN; width * width]);
    for i in 0..p {
        out[i * width..i * width + p].copy_from_slice(&inverse[i * p..(i + 1) * p]);
    }
    Ok(out)
}

/// Gaps between the cut points of ordered levels, whose coordinates come after the coefficients.
fn num_gaps(outcome: &Outcome) -> usize {
    match outcome.family() {
        Family::Ordered => outcome.num_coordinates(),
        _ => 0,
    }
}

fn report(
    laplace: &Laplace<'_>,
    parameters: &[f64],
    deviance: f64,
    covariance: &[f64],
    (method, criterion): (Method, String),
    iterations: u64,
    mut warnings: Vec<Warning>,
    control: &Control,
) -> MixedFit {
    let data = laplace.data;
    let (free, p) = (laplace.shape.len(), data.num_columns());
    let beta = &parameters[free..free + p];
    let (mut fixed, mut covariance) = fit::unscale(data, beta, covariance, 0.0);
    let mut cuts = Vec::new();
    if let Outcome::Ordered(levels) = &laplace.outcome {
        cuts = fit::cut_points(data, levels.cuts(), &mut fixed, &mut covariance);
    }
    warnings.extend(fit::singular(data, &laplace.lambda));
    let family = laplace.outcome.family();
    let definition = family.definition();
    let at = laplace.outcome.coordinates();
    let auxiliaries = definition.auxiliaries.iter().zip(&at);
    let auxiliaries: Vec<f64> = auxiliaries
        .map(|(one, at)| one.support.value(*at))
        .collect();
    for (one, value) in definition.auxiliaries.iter().zip(&auxiliaries) {
        match one.support {
            Support::Above(_) if definition.is_whole && *value > POISSON_SHAPE => {
                warnings.push(Remark::NoOverdispersion {}.into());
            }
            Support::Chance if *value < NO_CHANCE => {
                warnings.push(Remark::NoExtraZeros {}.into());
            }
            _ => {}
        }
    }
    // The scale of noise is a variance on the scale of the linear predictor, too, where all of that is known.
    let sigma = (definition.auxiliaries.iter().zip(&auxiliaries))
        .find(|(one, _)| one.name == SIGMA)
        .map_or(0.0, |(_, sigma)| *sigma);
    let within = definition.latent_variance.map(|rest| rest + sigma * sigma);
    if definition.link == Link::Logit
        && definition.is_whole
        && let Some(j) = (0..p).find(|&j| beta[j].abs() > SEPARATED)
    {
        let column = data.columns[j].clone();
        warnings.push(Remark::Separation { column }.into());
    }
    let num_params = parameters.len();
    let (effects, curves) = fit::effects(
        data,
        &laplace.blocks,
        &laplace.lambda,
        &laplace.b,
        &laplace.inverse,
        1.0,
    );
    MixedFit {
        method,
        family,
        criterion,
        num_obs: data.num_obs(),
        components: fit::components(data, &laplace.lambda, 1.0, within),
        effects,
        curves,
        predictors: fit::predictors(data, &laplace.blocks, beta, 0.0, &laplace.b),
        fixed,
        cuts,
        covariance,
        sigma: None,
        auxiliaries,
        log_lik: -0.5 * deviance,
        log_lik_error: None,
        num_params,
        aic: deviance + 2.0 * num_params as f64,
        bic: deviance + num_params as f64 * data.total_weight().ln(),
        theta: parameters[..free].to_vec(),
        iterations,
        evaluations: control.counted(),
        course: Vec::new(),
        monte_carlo: None,
        warnings,
    }
}
