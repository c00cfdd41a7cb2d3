//! Marginal posterior distributions that are known in closed form.

use statrs::function::gamma::ln_gamma;

/// A distribution of one number.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "distribution", rename_all = "snake_case")]
pub enum Marginal {
    /// Normal.
    Normal {
        /// Mean of the distribution.
        mean: f64,
        /// Standard deviation of the distribution.
        sd: f64,
    },
    /// Student t.
    StudentT {
        /// Degrees of freedom.
        df: f64,
        /// Middle of the distribution.
        location: f64,
        /// Scale in which it is a t distribution.
        scale: f64,
    },
    /// Gamma.
    Gamma {
        /// Shape of the distribution.
        shape: f64,
        /// Rate of the distribution, 1 over the scale.
        rate: f64,
    },
    /// Beta.
    Beta {
        /// The exponent of x, plus 1.
        a: f64,
        /// The exponent of 1 − x, plus 1.
        b: f64,
    },
}

impl Marginal {
    /// The density at `x`.
    pub fn density(&self, x: f64) -> f64 {
        let log = match *self {
            Self::Normal { mean, sd } => {
                let z = (x - mean) / sd;
                -0.5 * z * z - sd.ln() - 0.5 * std::f64::consts::TAU.ln()
            }
            Self::StudentT {
                df,
                location,
                scale,
            } => {
                let z = (x - location) / scale;
                let constant = ln_gamma(0.5 * (df + 1.0)) - ln_gamma(0.5 * df);
                let scale = 0.5 * (df * std::f64::consts::PI).ln() + scale.ln();
                constant - scale - 0.5 * (df + 1.0) * (z * z / df).ln_1p()
            }
            Self::Gamma { .. } if x <= 0.0 => return 0.0,
            Self::Gamma { shape, rate } => {
                shape * rate.ln() - ln_gamma(shape) + (shape - 1.0) * x.ln() - rate * x
            }
            Self::Beta { .. } if x <= 0.0 || x >= 1.0 => return 0.0,
            Self::Beta { a, b } => {
                let constant = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b);
                constant + (a - 1.0) * x.ln() + (b - 1.0) * (-x).ln_1p()
            }
        };
        log.exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::{categorical_design, example_design};
    use crate::design::{ResponseKind, ResponseUse};
    use crate::{Model, ModelOptions, REGISTRY};
    use ergodic_base::settings::Settings;
    use statrs::distribution::{Beta, Continuous as _, Gamma, Normal, StudentsT};

    #[test]
    fn densities_are_those_of_another_library() {
        let close = |found: f64, expected: f64| {
            assert!(
                (found - expected).abs() <= 1e-11 * expected.abs().max(1e-300),
                "{found} {expected}"
            );
        };
        for x in [-3.0, -0.2, 0.3, 0.9, 4.0] {
            let normal = Marginal::Normal { mean: 0.5, sd: 2.0 };
            close(normal.density(x), Normal::new(0.5, 2.0).unwrap().pdf(x));
            let t = Marginal::StudentT {
                df: 7.0,
                location: -1.0,
                scale: 1.5,
            };
            close(t.density(x), StudentsT::new(-1.0, 1.5, 7.0).unwrap().pdf(x));
            let gamma = Marginal::Gamma {
                shape: 2.5,
                rate: 3.0,
            };
            let beta = Marginal::Beta { a: 2.0, b: 0.7 };
            if x > 0.0 {
                close(gamma.density(x), Gamma::new(2.5, 3.0).unwrap().pdf(x));
            } else {
                assert_eq!(gamma.density(x), 0.0);
            }
            if x > 0.0 && x < 1.0 {
                close(beta.density(x), Beta::new(2.0, 0.7).unwrap().pdf(x));
            } else {
                assert_eq!(beta.density(x), 0.0);
            }
        }
    }

    /// Steps of a grid on either side of its middle.
    const STEPS: i32 = 150;

    /// Mean and mean square of each reported quantity by the sum over a grid of positions around `centre`, `reach` curvatures wide.
    fn by_grid(model: &dyn Model, centre: &[f64], reach: f64) -> Vec<[f64; 2]> {
        let density = model.density().unwrap();
        let log_density = |u: &[f64]| density.log_density(u, &mut vec![0.0; u.len()]);
        let width = |j: usize| {
            let mut shifted = centre.to_vec();
            let mut at = |off: f64| {
                shifted[j] = centre[j] + off;
                log_density(&shifted)
            };
            let step = 1e-3;
            let curvature = (2.0 * at(0.0) - at(step) - at(-step)) / (step * step);
            reach / curvature.sqrt() / f64::from(STEPS)
        };
        let widths: Vec<f64> = (0..centre.len()).map(width).collect();
        let highest = log_density(centre);
        let (mut total, mut sums) = (0.0, vec![[0.0; 2]; model.params().len()]);
        let mut theta = vec![0.0; sums.len()];
        let across = 2 * STEPS + 1;
        for cell in 0..across.pow(centre.len() as u32) {
            let mut rest = cell;
            let u: Vec<f64> = (centre.iter().zip(&widths))
                .map(|(centre, width)| {
                    let step = rest % across - STEPS;
                    rest /= across;
                    centre + f64::from(step) * width
                })
                .collect();
            let weight = (log_density(&u) - highest).exp();
            model.constrain(&u, &mut theta);
            total += weight;
            for (sums, value) in sums.iter_mut().zip(&theta) {
                sums[0] += weight * value;
                sums[1] += weight * value * value;
            }
        }
        sums.iter()
            .map(|sums| sums.map(|sum| sum / total))
            .collect()
    }

    /// Mean and mean square in closed form.
    fn moments(marginal: Marginal) -> [f64; 2] {
        let (mean, variance) = match marginal {
            Marginal::Normal { mean, sd } => (mean, sd * sd),
            Marginal::StudentT {
                df,
                location,
                scale,
            } => (location, scale * scale * df / (df - 2.0)),
            Marginal::Gamma { shape, rate } => (shape / rate, shape / rate / rate),
            Marginal::Beta { a, b } => (a / (a + b), a * b / ((a + b) * (a + b) * (a + b + 1.0))),
        };
        [mean, mean * mean + variance]
    }

    #[test]
    fn marginals_are_those_of_the_density() {
        let mut known = Vec::new();
        for entry in REGISTRY {
            let settings = entry.resolve(&Settings::default()).unwrap();
            let options = ModelOptions {
                settings,
                ..ModelOptions::default()
            };
            for weighted in [false, true] {
                let response_use = entry.response_use(&options.settings);
                let mut design = match response_use {
                    ResponseUse::Categories => categorical_design(weighted, 40),
                    other => example_design(other, weighted, 40),
                };
                // As many categories as a grid can have.
                if let ResponseKind::Categories { levels } = &mut design.response.kind {
                    levels.truncate(3);
                    design.y.iter_mut().for_each(|code| *code = code.min(2.0));
                }
                let Ok(model) = (entry.build)(std::sync::Arc::new(design), &options) else {
                    continue;
                };
                let marginals = (0..model.params().len()).map(|index| model.marginal(index));
                let Some(marginals) = marginals.collect::<Option<Vec<Marginal>>>() else {
                    continue;
                };
                known.push(entry.spec.id);
                let means: Vec<f64> = marginals.iter().map(|it| moments(*it)[0]).collect();
                let mut centre = vec![0.0; model.dim()];
                model.unconstrain(&means, &mut centre);
                assert!(centre.len() <= 2, "{}", entry.spec.id);
                let found = by_grid(model.as_ref(), &centre, 12.0);
                for (found, marginal) in found.iter().zip(&marginals) {
                    let expected = moments(*marginal);
                    let sd = (expected[1] - expected[0] * expected[0]).sqrt();
                    let off = (found[0] - expected[0]).abs() / sd;
                    assert!(off < 1e-4, "{} {marginal:?} {found:?}", entry.spec.id);
                    let variance = found[1] - found[0] * found[0];
                    assert!(
                        (variance.sqrt() / sd - 1.0).abs() < 1e-3,
                        "{} {marginal:?}",
                        entry.spec.id
                    );
                }
            }
        }
        known.sort_unstable();
        let expected = ["categorical", "normal-gamma", "normal-mean"];
        assert_eq!(known, expected.map(|id| [id, id]).concat());
    }
}
