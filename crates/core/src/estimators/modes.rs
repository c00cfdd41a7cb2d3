//! Several modes that are far apart: chains that all start around one of them would agree, and know nothing of the others.

use std::sync::Arc;

use super::mode::{ModeError, climb_from};
use crate::models::{LinearRows, Model};
use crate::oracle::Centre;
use ergodic_base::linalg::dot;
use ergodic_base::{Control, Purpose, Warning, stream};

/// Places from which modes are sought: of two modes that as many places lead to, one is missed once in 30,000 times.
const STARTS: usize = 16;
/// Every other place is this many times as far out, for modes outside of where chains of unknown models start.
const FAR: f64 = 5.0;
/// Largest N D² with which modes are sought: a curvature of this size is made in about a millisecond.
const MOST_WORK: usize = 1_000_000;
/// Distance between modes, in the standard deviations of both, from which chains around one may never see the other. Chains start
/// within about five of their mode.
const APART: f64 = 5.0;
/// Smallest probability of a mode relative to the most probable one's by which it is worth a chain: one that
/// chains of 4,000 draws altogether should visit many times.
const SHARE: f64 = 0.01;

ergodic_base::remarks! {
    /// What is remarkable about the modes of a posterior.
    pub enum Remark {
        /// Several modes that are far apart.
        Several {
            /// How many.
            modes: usize,
        }
        Info "several-modes" (
            "The posterior has {modes} modes that are far apart, and chains start in each in turn: only those that go to and fro between \
             them tell how probable each is"
        );
    }
}

/// Modes of the posterior of `model` that are far apart, the most probable first as far as normal approximations tell; empty where
/// there are fewer than two, or where looking for them would take long. Models with effects of groups are not searched: their
/// densities may have peaks without probability. Nor are those whose rows and priors are all log-concave, which have one mode.
///
/// # Errors
/// [`ModeError::Cancelled`].
pub fn find_modes(model: &dyn Model, control: &Control) -> Result<Vec<Arc<Centre>>, ModeError> {
    let Some(density) = model.density() else {
        return Ok(Vec::new());
    };
    let dim = density.dim();
    let work = model.num_obs().max(1).saturating_mul(dim * dim);
    let grouped = model.mixed_effects().is_some() || model.hierarchy().is_some();
    if work > MOST_WORK || grouped || !density.has_dense_curvature() || is_log_concave(model) {
        return Ok(Vec::new());
    }
    let mut found: Vec<(f64, Centre)> = Vec::new();
    for k in 0..STARTS {
        let mut u = vec![0.0; dim];
        density.init(&mut stream(0, k, Purpose::Init), &mut u);
        if k % 2 == 1 {
            u.iter_mut().for_each(|u| *u *= FAR);
        }
        match climb_from(density, &mut u, control) {
            Ok(()) => {}
            Err(ModeError::Cancelled) => return Err(ModeError::Cancelled),
            Err(_) => continue,
        }
        // What is known at a mode costs passes over the rows: only of one that is new.
        if !found.iter().all(|(_, other)| is_far(other, &u)) {
            continue;
        }
        let Ok(mode) = Centre::at(density, &u) else {
            continue;
        };
        if found.iter().all(|(_, other)| is_far(&mode, &other.u)) {
            let log_density = density.log_density(&mode.u, &mut vec![0.0; dim]);
            let log_volume = -(0..dim)
                .map(|j| mode.factor.lower()[j * dim + j].ln())
                .sum::<f64>();
            found.push((log_density + log_volume, mode));
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    let least = found
        .first()
        .map_or(f64::NAN, |(best, _)| best + SHARE.ln());
    found.retain(|(log_mass, _)| *log_mass >= least);
    if found.len() < 2 {
        found.clear();
    }
    Ok(found.into_iter().map(|(_, mode)| Arc::new(mode)).collect())
}

/// What to tell of the modes that chains start in.
pub fn remark(modes: &[Arc<Centre>]) -> Option<Warning> {
    let modes = modes.len();
    (modes > 1).then(|| Remark::Several { modes }.into())
}

/// Whether `u` is apart from `mode` by its standard deviations.
fn is_far(mode: &Centre, u: &[f64]) -> bool {
    let between: Vec<f64> = mode.u.iter().zip(u).map(|(a, b)| a - b).collect();
    let dim = between.len();
    let squared: f64 = (0..dim)
        .map(|j| between[j] * dot(&mode.hessian[j * dim..][..dim], &between))
        .sum();
    squared > APART * APART
}

/// Whether the log posterior is known to be concave: each row and each prior is, in a linear combination of coordinates.
fn is_log_concave(model: &dyn Model) -> bool {
    let are_concave = |rows: &dyn LinearRows, count: usize| {
        (0..count).all(|row| rows.curvature_range(row)[0] >= 0.0)
    };
    match (model.linear_rows(), model.prior_rows()) {
        (Some(rows), Some(prior)) => {
            are_concave(rows, model.num_obs()) && are_concave(prior, prior.count())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::{Design, MemoryColumns, ModelFrame, Values};
    use crate::models::{DensityModel, ModelOptions, density_of};
    use ergodic_base::settings::Settings;

    /// Half N(−a, 1) and half N(a, 1), with a second coordinate; `share` of the mode at a relative to the other.
    fn modes(a: f64, log_share: f64) -> Vec<Vec<f64>> {
        let density = density_of(2, move |u: &[f64], grad: &mut [f64]| {
            let [left, right] = [-a, a].map(|centre| -0.5 * (u[0] - centre) * (u[0] - centre));
            let right = right + log_share;
            let largest = left.max(right);
            let total = (left - largest).exp() + (right - largest).exp();
            let share = (right - largest).exp() / total;
            grad[0] = -(u[0] + a) * (1.0 - share) - (u[0] - a) * share;
            grad[1] = -u[1];
            largest + total.ln() - 0.5 * u[1] * u[1]
        });
        let found = find_modes(&DensityModel::new(density), &Control::default()).unwrap();
        found.iter().map(|mode| mode.u.clone()).collect()
    }

    #[test]
    fn modes_are_found_that_are_far_apart_and_probable() {
        let found = modes(5.0, -1.0);
        assert_eq!(found.len(), 2);
        assert!((found[0][0] + 5.0).abs() < 1e-6, "{found:?}");
        assert!((found[1][0] - 5.0).abs() < 1e-6, "{found:?}");
        assert!(modes(2.0, 0.0).is_empty());
        assert!(modes(5.0, -10.0).is_empty());
    }
    /// A logistic regression has one mode; Student-t priors may give a posterior two, and squared curvatures say so.
    #[test]
    fn only_log_concave_posteriors_are_spared_the_search() {
        for (template, prior, expected) in [
            ("logistic", "normal(0, 2.5)", true),
            ("poisson", "flat", true),
            ("logistic", "student_t(3, 0, 1)", false),
            ("linear", "normal(0, 2.5)", false),
        ] {
            let columns = vec![
                ("y", vec![0.0, 1.0, 0.0, 1.0, 1.0, 0.0]),
                ("x", vec![0.3, -1.0, 0.5, 2.0, 1.5, -0.2]),
            ];
            let columns = columns.into_iter();
            let columns = columns.map(|(name, values)| (name.to_owned(), Values::Numbers(values)));
            let table = MemoryColumns::new("t", columns.collect()).unwrap();
            let frame = ModelFrame {
                response_use: crate::models::find(template)
                    .unwrap()
                    .response_use(&Settings::default()),
                ..ModelFrame::new("y ~ x".parse().unwrap())
            };
            let (design, _) = Design::build(&table, &frame).unwrap();
            let options = ModelOptions {
                priors: vec![("b".to_owned(), prior.to_owned())],
                ..ModelOptions::default()
            };
            let build = crate::models::find(template).unwrap().build;
            let model = build(Arc::new(design), &options).unwrap();
            assert_eq!(
                is_log_concave(model.as_ref()),
                expected,
                "{template} {prior}"
            );
        }
    }
}
