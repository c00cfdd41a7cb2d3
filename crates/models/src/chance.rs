//! Chances: their priors, beta distributions, and the map to the real line.
//!
//! A chance p is sampled as u = log(p/(1 − p)); densities of u carry the Jacobian p (1 − p).

use rand_distr::{Beta, Distribution as _};
use statrs::function::gamma::ln_gamma;

use super::prior_text::{PriorError, PriorProblem, PriorText};
use super::{ModelError, ModelOptions, ParamInfo, PriorSource};
use ergodic_base::special::logistic;
use ergodic_base::{ChainRng, ParamId};

/// The form of the prior of a chance, for people.
pub(super) const FORM: &str = "beta(a, b) with a and b above 0";

/// What a template says about one of its chances.
#[derive(Clone, Debug)]
pub struct ChanceSpec {
    /// Name of the chance.
    pub name: ParamId,
    /// What the chance says, in words.
    pub meaning: String,
    /// Prior where the user sets none: a and b.
    pub default: [f64; 2],
}

/// A chance with the prior beta(a, b).
#[derive(Clone, Copy, Debug)]
pub struct Chance {
    a: f64,
    b: f64,
}

/// a and b of the text `beta(a, b)`.
///
/// # Errors
/// It is another text.
pub fn parse(text: &str) -> Result<[f64; 2], PriorError> {
    let written = PriorText::read(text, FORM)?;
    match written.positive("beta")? {
        Some(numbers) => Ok(numbers),
        None => Err(written.refuse(PriorProblem::OfChances)),
    }
}

impl Chance {
    /// The chance with its prior of `options`, and how it is reported.
    ///
    /// # Errors
    /// The prior is not one of chances.
    pub fn new(spec: ChanceSpec, options: &ModelOptions) -> Result<(Self, ParamInfo), ModelError> {
        let ([a, b], source) = match options.prior(&spec.name) {
            Some(text) => (parse(text)?, PriorSource::USER),
            None => (spec.default, PriorSource::DEFAULT),
        };
        let info = ParamInfo {
            name: spec.name,
            meaning: spec.meaning,
            prior: format!("beta({a}, {b})").into(),
            prior_source: source,
        };
        Ok((Self { a, b }, info))
    }

    /// A draw of u from the prior.
    pub fn draw(&self, rng: &mut ChainRng) -> Option<f64> {
        let p = Beta::new(self.a, self.b).ok()?.sample(rng);
        // Neither 0 nor 1 stands anywhere on the real line.
        let p: f64 = p.clamp(f64::MIN_POSITIVE, 1.0 - 0.5 * f64::EPSILON);
        Some(p.ln() - (-p).ln_1p())
    }

    /// Log prior of u with the Jacobian, its first and its second derivative; constants dropped.
    pub fn log_prior(&self, u: f64) -> [f64; 3] {
        let Self { a, b } = *self;
        let (p, rest) = (logistic(u), logistic(-u));
        let below = (-u.abs()).exp().ln_1p();
        let [log_p, log_rest] = [u.min(0.0) - below, (-u).min(0.0) - below];
        [
            a * log_p + b * log_rest,
            a * rest - b * p,
            -(a + b) * p * rest,
        ]
    }

    /// The logarithm of the Jacobian at u.
    pub fn log_jacobian(u: f64) -> f64 {
        -u.abs() - 2.0 * (-u.abs()).exp().ln_1p()
    }

    /// Density of the prior.
    pub fn density(&self, p: f64) -> f64 {
        if p <= 0.0 || p >= 1.0 {
            return 0.0;
        }
        let Self { a, b } = *self;
        let log_constant = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b);
        (log_constant + (a - 1.0) * p.ln() + (b - 1.0) * (-p).ln_1p()).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_are_those_of_differences_and_the_density_integrates_to_one() {
        let chance = Chance { a: 2.5, b: 4.0 };
        let step = 1e-5;
        for u in [-3.0, -0.2, 0.9, 4.0] {
            for k in 0..2 {
                let at = |u: f64| chance.log_prior(u)[k];
                let numeric = (at(u + step) - at(u - step)) / (2.0 * step);
                assert!((numeric - chance.log_prior(u)[k + 1]).abs() < 1e-8, "{u}");
            }
            // The density of u is that of p times the Jacobian.
            let ratio = |u: f64| {
                let p = logistic(u);
                chance.log_prior(u)[0] - Chance::log_jacobian(u) - chance.density(p).ln()
            };
            assert!((ratio(u) - ratio(0.0)).abs() < 1e-12, "{u}");
        }
        let points = 100_000;
        let sum: f64 = (0..points)
            .map(|k| chance.density((f64::from(k) + 0.5) / f64::from(points)))
            .sum();
        assert!((sum / f64::from(points) - 1.0).abs() < 1e-8);
    }

    #[test]
    fn what_is_no_prior_of_a_chance_is_refused() {
        assert_eq!(parse("beta(1, 2.5)"), Ok([1.0, 2.5]));
        for (text, sentence) in [
            (
                "normal(0, 1)",
                "Prior `normal(0, 1)` is not one of a chance; write beta(a, b) with a and b above 0",
            ),
            (
                "beta(0, 1)",
                "Prior `beta(0, 1)` needs arguments above 0; write beta(a, b) with a and b above 0",
            ),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), sentence);
        }
    }
}
