//! Whether chains have left the centre of their control variates, whose gradients are noisy far from it.

use super::remark::Remark;
use super::sampling::Sampling;
use crate::samplers::recommend::Work;
use ergodic_base::draws::DrawList;
use ergodic_base::linalg::{axpy, dot};
use ergodic_base::{Severity, Warning};
use ergodic_diagnostics::{Finding, Limits, Verdict};

/// Words of the quick fix.
pub const QUICK_FIX: &str = "Refresh centre";
/// Posterior standard deviations that a mean may be from the centre: with one parameter the variance of the gradient
/// estimate, which grows with the squared distance, is then ten times what it is near the centre.
const LIMIT: f64 = 3.0;
/// Draws of a chain, or of a group of chains, that its mean is taken over: its error is then a fifteenth of a standard deviation at
/// most.
const MOST_DRAWS: usize = 250;

/// Distance of the mean of the later half of a chain from the centre in whitened units, the largest over chains; chains that `limits`
/// judges together have one mean. `None` for samplers without control variates or that move the point they expand around, while
/// there are fewer draws than `limits` asks for, and where draws of some quantities are not kept.
pub fn distance(job: &dyn Sampling, chains: &[&DrawList], limits: &Limits) -> Option<f64> {
    let centre = job.centre()?;
    let advice = &job.sampler().advice;
    let is_fixed = matches!(advice.work, Work::Centred { .. }) && !advice.recentres;
    if !is_fixed || !job.keep().is_all() {
        return None;
    }
    let together = limits.chains_per_unit();
    let most = MOST_DRAWS.div_ceil(together);
    let of_unit = |unit: &[&DrawList]| {
        let mut u = vec![0.0; centre.u.len()];
        let mut one = vec![0.0; centre.u.len()];
        let mut count = 0.0;
        for draws in unit {
            if draws.len() < limits.least_draws() {
                return None;
            }
            let mut theta = vec![0.0; draws.width()];
            let first = draws.len() / 2;
            let stride = (draws.len() - first).div_ceil(most);
            for draw in (first..draws.len()).step_by(stride) {
                for (j, value) in theta.iter_mut().enumerate() {
                    *value = draws.value(draw, j);
                }
                // The mean of u, which is not the point u of the mean.
                job.model().unconstrain(&theta, &mut one);
                axpy(1.0, &one, &mut u);
                count += 1.0;
            }
        }
        for (u, centre) in u.iter_mut().zip(&centre.u) {
            *u = *u / count - centre;
        }
        // H = L L', so L'(u − û) has unit variances near the mode.
        let mut whitened = vec![0.0; u.len()];
        centre.factor.lower_transpose_mul(&u, &mut whitened);
        let distance = dot(&whitened, &whitened).sqrt();
        distance.is_finite().then_some(distance)
    };
    chains.chunks(together).filter_map(of_unit).reduce(f64::max)
}

/// Means of the draws from `first` on.
fn means(draws: &DrawList, first: usize) -> Vec<f64> {
    let count = (draws.len() - first).max(1) as f64;
    (0..draws.width())
        .map(|j| draws.column(j)[first..].iter().sum::<f64>() / count)
        .collect()
}

/// Whether `distance` is too far with `dim` parameters. A draw itself is about sqrt(D) away, so that a mean as far doubles
/// the noise.
pub(crate) fn is_far(distance: f64, dim: usize) -> bool {
    distance > LIMIT.max((dim as f64).sqrt())
}

/// What to tell the user about a distance that is too far. Gradients that are noisy make an approximate sampler wrong in a
/// way that nobody has `proved` harmless; an exact one they only make slow.
pub fn finding(distance: f64, biased: bool, proved: bool) -> Finding {
    let remark = Remark::ModeDrift {
        distance,
        biased,
        proved,
    };
    let mut warning = Warning::from(remark);
    let verdict = if biased && !proved {
        Verdict::NotCertified
    } else {
        warning.severity = Severity::Info;
        Verdict::Good
    };
    Finding::new(
        verdict,
        &format!("draws are {distance:.1} sd from the centre"),
        Some("refresh the centre"),
        Some(warning),
    )
}

/// Where to look for the mode instead: the mean of all draws, on the scale they are reported on.
pub fn start(chains: &[&DrawList]) -> Option<Vec<f64>> {
    let full: Vec<&&DrawList> = chains.iter().filter(|draws| !draws.is_empty()).collect();
    let total: usize = full.iter().map(|draws| draws.len()).sum();
    let width = full.first()?.width();
    let mut sums = vec![0.0; width];
    for draws in full {
        for (sum, mean) in sums.iter_mut().zip(means(draws, 0)) {
            *sum += mean * draws.len() as f64 / total as f64;
        }
    }
    sums.iter().all(|value| value.is_finite()).then_some(sums)
}
