//! Densities against their integrals, and against another library.

use statrs::distribution as other;
use statrs::distribution::{Continuous as _, Discrete as _};

use super::*;
use crate::distributions::{Distribution, Support};

/// Values of parameters at which densities are checked.
fn example(parameter: &str) -> f64 {
    match parameter {
        "mu" | "z" | "xi" => 0.3,
        "lower" => -1.0,
        "zero" => 0.0,
        "p" => 0.35,
        "n" => 12.0,
        "nu" | "kappa" => 5.0,
        "upper" | "shape" => 2.5,
        _ => 1.7,
    }
}

/// Parameters of a distribution at which it is checked, as they are written.
pub(super) fn arguments(name: &str, parameters: &[&str]) -> Vec<String> {
    let value = |parameter: &&str| match (name, *parameter) {
        ("beta_proportion", "mu") => 0.3,
        ("neg_binomial_2", "mu") => 2.2,
        // Heavier tails have no mean that sums of nodes would find.
        ("pareto", "alpha") => 5.0,
        (_, it) => example(it),
    };
    parameters.iter().map(|it| value(it).to_string()).collect()
}

/// The log density of `y`, written down.
fn written(name: &str, parameters: &[&str]) -> String {
    let numbers = [vec!["y".to_owned()], arguments(name, parameters)].concat();
    format!("{name}_lpdf({})", numbers.join(", "))
}

/// The density of a distribution at `y`, of a model that has nothing else.
fn density_at(name: &str, parameters: &[&str], y: f64) -> f64 {
    // In the interior every coordinate is the number itself.
    let text = format!(
        "parameters\n y: real\ntarget\n {}\n",
        written(name, parameters)
    );
    let (value, _) = density(model(&text, &[]).as_ref(), &[y]);
    value.exp()
}

/// The expectation of a function of a value of `it`, by integration or summation of its density.
pub(super) fn expectation(it: &Distribution, of: impl Fn(f64) -> f64) -> f64 {
    let text = format!(
        "parameters\n y: real\ntarget\n {}\n",
        written(it.name, it.parameters)
    );
    let model = model(&text, &[]);
    let at = |y: f64| {
        let p = density(model.as_ref(), &[y]).0.exp();
        // Far out the density is 0 however large the function.
        if p == 0.0 { 0.0 } else { p * of(y) }
    };
    match it.support {
        Support::Binary | Support::Trials | Support::Counts => {
            let most = match it.support {
                Support::Binary => 1,
                Support::Trials => 12,
                _ => 400,
            };
            (0..=most).map(|y| at(f64::from(y))).sum()
        }
        _ => {
            // y = exp(sinh(t)) and its like reach far tails with few nodes: the trapezoid rule converges fast.
            let nodes = 2000;
            let sum: f64 = (-nodes..=nodes)
                .map(|k| {
                    let t = 4.0 * f64::from(k) / f64::from(nodes);
                    let s = t.sinh() * std::f64::consts::FRAC_PI_2;
                    let slope = t.cosh() * std::f64::consts::FRAC_PI_2;
                    let (y, dy) = match it.support {
                        Support::Unit | Support::Between => {
                            let (a, b) = match it.support {
                                Support::Unit => (0.0, 1.0),
                                _ => (-1.0, 2.5),
                            };
                            let p = 1.0 / (1.0 + (-2.0 * s).exp());
                            let q = 1.0 / (1.0 + (2.0 * s).exp());
                            (a + (b - a) * p, (b - a) * 2.0 * p * q)
                        }
                        Support::Above => (example("y_min") + s.exp(), s.exp()),
                        // Both sides of a kink by themselves.
                        _ => (s.exp(), s.exp()),
                    };
                    let value = match it.support {
                        Support::Real => at(example("mu") + y) + at(example("mu") - y),
                        _ => at(y),
                    };
                    let value = value * dy * slope;
                    // At the ends of the support rounding reaches the bounds themselves.
                    if value.is_finite() { value } else { 0.0 }
                })
                .sum();
            sum * 4.0 / f64::from(nodes)
        }
    }
}

/// Densities are complete: they integrate, or sum, to 1.
#[test]
fn densities_integrate_to_one() {
    for it in DISTRIBUTIONS
        .iter()
        .filter(|it| it.support != Support::Simplex && !it.support.is_of_levels())
    {
        let total = expectation(it, |_y| 1.0);
        assert!((total - 1.0).abs() < 1e-8, "{}: {total}", it.name);
    }
}

#[test]
fn densities_are_those_of_another_library() {
    let at = |name: &str, y: f64| {
        let it = crate::distributions::find(name).unwrap();
        density_at(name, it.parameters, y).ln()
    };
    let sigma = 1.7;
    for y in [0.07, 0.4, 0.93, 1.6] {
        let pairs = [
            ("normal", other::Normal::new(0.3, sigma).unwrap().ln_pdf(y)),
            (
                "student_t",
                other::StudentsT::new(0.3, sigma, 5.0).unwrap().ln_pdf(y),
            ),
            ("cauchy", other::Cauchy::new(0.3, sigma).unwrap().ln_pdf(y)),
            (
                "laplace",
                other::Laplace::new(0.3, sigma).unwrap().ln_pdf(y),
            ),
            ("gumbel", other::Gumbel::new(0.3, sigma).unwrap().ln_pdf(y)),
            (
                "half_normal",
                2.0_f64.ln() + other::Normal::new(0.0, sigma).unwrap().ln_pdf(y),
            ),
            (
                "half_student_t",
                2.0_f64.ln() + other::StudentsT::new(0.0, sigma, 5.0).unwrap().ln_pdf(y),
            ),
            (
                "half_cauchy",
                2.0_f64.ln() + other::Cauchy::new(0.0, sigma).unwrap().ln_pdf(y),
            ),
            ("exponential", other::Exp::new(1.7).unwrap().ln_pdf(y)),
            ("gamma", other::Gamma::new(2.5, 1.7).unwrap().ln_pdf(y)),
            (
                "inv_gamma",
                other::InverseGamma::new(2.5, 1.7).unwrap().ln_pdf(y),
            ),
            ("chi_square", other::ChiSquared::new(5.0).unwrap().ln_pdf(y)),
            (
                "lognormal",
                other::LogNormal::new(0.3, sigma).unwrap().ln_pdf(y),
            ),
            ("weibull", other::Weibull::new(2.5, 1.7).unwrap().ln_pdf(y)),
            ("uniform", other::Uniform::new(-1.0, 2.5).unwrap().ln_pdf(y)),
        ];
        for (name, wanted) in pairs {
            near(&[at(name, y)], &[wanted], 1e-10, name);
        }
        if y < 1.0 {
            let wanted = other::Beta::new(1.7, 1.7).unwrap().ln_pdf(y);
            near(&[at("beta", y)], &[wanted], 1e-10, "beta");
            let wanted = other::Beta::new(1.5, 3.5).unwrap().ln_pdf(y);
            near(
                &[at("beta_proportion", y)],
                &[wanted],
                1e-10,
                "beta_proportion",
            );
        }
    }
    let p = 1.0 / (1.0 + (-0.3_f64).exp());
    for y in [0_u32, 1, 4, 11] {
        let (k, value) = (u64::from(y), f64::from(y));
        // Of neg_binomial_2 with mean μ and size φ, by its probability φ/(φ + μ).
        let size = |phi: f64, mu: f64| {
            other::NegativeBinomial::new(phi, phi / (phi + mu))
                .unwrap()
                .ln_pmf(k)
        };
        let pairs = [
            (
                "binomial",
                other::Binomial::new(0.35, 12).unwrap().ln_pmf(k),
            ),
            (
                "binomial_logit",
                other::Binomial::new(p, 12).unwrap().ln_pmf(k),
            ),
            ("poisson", other::Poisson::new(1.7).unwrap().ln_pmf(k)),
            (
                "poisson_log",
                other::Poisson::new(0.3_f64.exp()).unwrap().ln_pmf(k),
            ),
            ("neg_binomial_2", size(1.7, 2.2)),
            ("neg_binomial_2_log", size(1.7, 0.3_f64.exp())),
            (
                "geometric",
                other::Geometric::new(0.35).unwrap().ln_pmf(k + 1),
            ),
        ];
        for (name, wanted) in pairs {
            near(&[at(name, value)], &[wanted], 1e-10, name);
        }
        if y < 2 {
            let wanted = other::Bernoulli::new(0.35).unwrap().ln_pmf(k);
            near(&[at("bernoulli", value)], &[wanted], 1e-10, "bernoulli");
            let wanted = other::Bernoulli::new(p).unwrap().ln_pmf(k);
            near(
                &[at("bernoulli_logit", value)],
                &[wanted],
                1e-10,
                "bernoulli_logit",
            );
        }
    }
    // The only one of vectors, from a model that has nothing else; its coordinates bring their Jacobian.
    let model = |prior: &str| model(&format!("parameters\n p: simplex(3){prior}\n"), &[]);
    let (with, without) = (model(" ~ dirichlet([1.5, 2, 0.7])"), model(""));
    let u = [0.4, -0.9];
    let mut theta = [0.0; 3];
    with.constrain(&u, &mut theta);
    let got = density(with.as_ref(), &u).0 - density(without.as_ref(), &u).0;
    let log_gamma = statrs::function::gamma::ln_gamma;
    let alpha = [1.5, 2.0, 0.7];
    let powers: f64 = alpha
        .iter()
        .zip(theta)
        .map(|(a, p)| (a - 1.0) * p.ln())
        .sum();
    let wanted = powers + log_gamma(4.2) - alpha.iter().map(|&a| log_gamma(a)).sum::<f64>();
    near(&[got], &[wanted], 1e-12, "dirichlet");
}
