//! Degrees of freedom of the t ratios of fixed effects, by Satterthwaite's method.
//!
//! The variance of a coefficient, f = σ² c(θ), is uncertain because θ and σ² are estimates; a χ² distribution scaled to f has its
//! mean and variance with 2 f²/Var(f) degrees of freedom (Satterthwaite 1946, Biometrics Bulletin 2; Fai and Cornelius 1996, Journal of
//! Statistical Computation and Simulation 54; Kuznetsova, Brockhoff and Christensen 2017, Journal of Statistical Software 82, section 2.3).
//! With w = log v(θ) − log σ², where v(θ) is the best σ² at θ, the deviance is that of the profile plus ν (eʷ − 1 − w), so that at its
//! minimum the curvature has no term of θ and w together: Var(w) = 2/ν, Var(θ) = 2 P″⁻¹ with the profiled deviance P, and
//!
//! ```text
//! 1/df = 1/ν + g' P″⁻¹ g,    g = ∂ log(v c)/∂θ
//! ```
//!
//! where v c is the profiled variance of the coefficient, ν is n for ML and n − p for REML. These are lmerTest's degrees of freedom,
//! which takes all derivatives of the deviance of θ and σ by differences.

use super::fit;
use super::profile::Profile;
use ergodic_base::linalg::{Cholesky, dot};

/// Step of differences of fourth order in an entry of Λ, whose scale is 1: their error is of the size of its fourth power.
const STEP: f64 = 1e-3;
/// Weights of values one and two steps to either side.
const DIFFERENCES: [(f64, f64); 4] = [(-2.0, 1.0), (-1.0, -8.0), (1.0, 8.0), (2.0, -1.0)];

/// Degrees of freedom of the p coefficients of the columns as they are, at the minimum `theta`; `None` where the likelihood is too
/// flat to tell. Entries of θ that are zero stay there: at that edge variances do not depend on them to first order.
///
/// The profile is left at another θ.
pub(super) fn degrees(profile: &mut Profile<'_>, theta: &[f64]) -> Option<Vec<f64>> {
    let free: Vec<usize> = (0..theta.len()).filter(|&k| theta[k] != 0.0).collect();
    let (dim, p) = (free.len(), profile.cross.num_columns);
    let mut curvature = vec![0.0; dim * dim];
    let mut slopes = vec![0.0; p * dim];
    let mut grad = vec![0.0; theta.len()];
    for (a, &k) in free.iter().enumerate() {
        for (steps, weight) in DIFFERENCES {
            let mut there = theta.to_vec();
            there[k] += steps * STEP;
            profile.deviance_and_gradient(&there, &mut grad);
            let weight = weight / (12.0 * STEP);
            for (b, &l) in free.iter().enumerate() {
                curvature[a * dim + b] += weight * grad[l];
            }
            for (j, variance) in log_variances(profile).into_iter().enumerate() {
                slopes[j * dim + a] += weight * variance;
            }
        }
    }
    for a in 0..dim {
        for b in 0..a {
            let mean = 0.5 * (curvature[a * dim + b] + curvature[b * dim + a]);
            (curvature[a * dim + b], curvature[b * dim + a]) = (mean, mean);
        }
    }
    let of_residual = 1.0 / profile.degrees();
    if dim == 0 {
        return Some(vec![1.0 / of_residual; p]);
    }
    let factor = Cholesky::of(&curvature, dim).ok()?;
    let of = |slopes: &[f64]| {
        let mut solved = slopes.to_vec();
        factor.solve(&mut solved);
        1.0 / (of_residual + dot(slopes, &solved))
    };
    let degrees: Vec<f64> = slopes.chunks_exact(dim).map(of).collect();
    degrees.iter().all(|df| df.is_finite()).then_some(degrees)
}

/// Logarithms of the variances of the coefficients (p) of the columns as they are, at the present θ.
fn log_variances(profile: &Profile<'_>) -> Vec<f64> {
    let variance = profile.variance();
    let covariance: Vec<f64> = (profile.fixed.inverse().iter())
        .map(|v| v * variance)
        .collect();
    let (fixed, _) = fit::unscale(profile.data(), &profile.beta, &covariance, 0.0);
    fixed.iter().map(|effect| 2.0 * effect.se.ln()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Reference, numbers};
    use super::super::{Criterion, Method, fit_gaussian};
    use ergodic_base::Control;

    /// Sets of `tests/reference/satterthwaite.R`: data, formula.
    const SETS: [(&str, &str, &str); 8] = [
        ("balanced", "balanced", "y ~ x + (1 | g)"),
        ("unbalanced", "unbalanced", "y ~ x + f + (1 | g)"),
        ("crossed", "crossed", "y ~ x + (1 | subject) + (1 | item)"),
        (
            "crossed-slope",
            "crossed",
            "y ~ x + (1 + x | subject) + (1 | item)",
        ),
        (
            "nested",
            "nested",
            "y ~ x + (1 | school) + (1 | school:class)",
        ),
        ("slopes", "slopes", "y ~ day + (day | subject)"),
        ("independent", "slopes", "y ~ day + (day || subject)"),
        ("none", "none", "y ~ x + (1 | g)"),
    ];

    #[test]
    fn degrees_of_freedom_and_p_values_are_those_of_lmer_test() {
        let reference = Reference::read_from("tests.csv");
        for (id, set, formula) in SETS {
            for (criterion, name) in [(Criterion::Ml, "ml"), (Criterion::Reml, "reml")] {
                let data = numbers(set, formula);
                let control = Control::default();
                let fit = fit_gaussian(&data, Method::Profile, criterion, &control).unwrap();
                for (j, effect) in fit.fixed.iter().enumerate() {
                    let id = format!("{id}:{name}");
                    let there = |what| reference.get(&id, what, &(j + 1).to_string());
                    let (df, p) = (effect.df.unwrap(), effect.p_value());
                    // lmerTest's derivatives are differences of a deviance at a minimum that is searched for.
                    let apart = (df / there("df") - 1.0).abs();
                    assert!(
                        apart < 1e-5,
                        "{id} {}: {df}, not {}",
                        effect.name,
                        there("df")
                    );
                    // The p value magnifies the digits of the ratio, the more the smaller it is.
                    let apart = (p.ln() - there("p").ln()).abs() / there("p").ln().abs().max(1.0);
                    assert!(
                        apart < 1e-3,
                        "{id} {}: {p}, not {}",
                        effect.name,
                        there("p")
                    );
                }
            }
        }
    }

    /// By `tests/reference/satterthwaite.py`, at the minimum to the last digit.
    #[test]
    fn degrees_of_freedom_are_those_of_exact_derivatives() {
        let reference = Reference::read_from("satterthwaite.csv");
        for (id, formula) in [
            ("balanced", "y ~ x + (1 | g)"),
            ("crossed", "y ~ x + (1 | subject) + (1 | item)"),
            ("slopes", "y ~ day + (day | subject)"),
        ] {
            for (criterion, name) in [(Criterion::Ml, "ml"), (Criterion::Reml, "reml")] {
                let data = numbers(id, formula);
                let control = Control::default();
                let fit = fit_gaussian(&data, Method::Profile, criterion, &control).unwrap();
                for (j, effect) in fit.fixed.iter().enumerate() {
                    let there = reference.get(&format!("{id}:{name}"), "df", &(j + 1).to_string());
                    let df = effect.df.unwrap();
                    assert!(
                        (df / there - 1.0).abs() < 1e-8,
                        "{id}:{name}: {df}, not {there}"
                    );
                }
            }
        }
    }

    /// In a balanced design without noise in θ the classical test of an intercept has one degree of freedom less than groups.
    #[test]
    fn a_balanced_design_has_the_degrees_of_its_analysis_of_variance() {
        let data = numbers("slopes", "y ~ day + (day | subject)");
        let control = Control::default();
        let fit = fit_gaussian(&data, Method::Profile, Criterion::Reml, &control).unwrap();
        for effect in &fit.fixed {
            assert!((effect.df.unwrap() - 17.0).abs() < 1e-7, "{:?}", effect.df);
        }
    }
}
