//! Priors of real parameters in Stan's notation: `normal(0, 10)`, `student_t(3, 0, 2.5)`, `laplace(0, 1)`,
//! `cauchy(0, 2.5)`, `flat`.

use std::f64::consts::{LN_2, PI};
use std::fmt;

use rand::RngExt as _;
use rand_distr::{Exp1, StandardNormal};
use statrs::function::gamma::ln_gamma;

use super::LinearRows;
use super::prior_text::{Argument, PriorError, PriorProblem, PriorText};
use ergodic_base::linalg::dot;
use ergodic_base::numerals::to_digits;
use ergodic_base::rng::ChainRng;

/// The forms of [`Prior`], for people.
pub const FORMS: &str = "normal(mean, sd), student_t(df, location, scale), laplace(location, scale), \
                         cauchy(location, scale) or flat";

/// A density on the real line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Prior {
    /// Improper, constant.
    Flat,
    /// Mean and standard deviation.
    Normal {
        /// Mean.
        mean: f64,
        /// Standard deviation.
        sd: f64,
    },
    /// Location and scale b: density exp(−|x − m|/b)/(2b).
    Laplace {
        /// Location m.
        location: f64,
        /// Scale b.
        scale: f64,
    },
    /// Degrees of freedom, location, scale.
    StudentT {
        /// Degrees of freedom.
        df: f64,
        /// Location.
        location: f64,
        /// Scale.
        scale: f64,
    },
}

/// `x` to three significant digits: what a default prior on the scale of the data is rounded to, for people.
pub(super) fn significant(x: f64) -> f64 {
    to_digits(x, 3)
}

impl Prior {
    /// Reads Stan's notation; the error says which forms are known.
    pub fn parse(text: &str) -> Result<Self, PriorError> {
        use Argument::Number;
        let written = PriorText::read(text, FORMS)?;
        let (prior, least) = match (written.name, written.arguments.as_slice()) {
            ("flat", []) => return Ok(Self::Flat),
            ("normal", &[Number(mean), Number(sd)]) => (Self::Normal { mean, sd }, sd),
            ("laplace" | "double_exponential", &[Number(location), Number(scale)]) => {
                (Self::Laplace { location, scale }, scale)
            }
            ("student_t", &[Number(df), Number(location), Number(scale)]) => (
                Self::StudentT {
                    df,
                    location,
                    scale,
                },
                scale.min(df),
            ),
            ("cauchy", &[Number(location), Number(scale)]) => (
                Self::StudentT {
                    df: 1.0,
                    location,
                    scale,
                },
                scale,
            ),
            _ => return Err(written.refuse(PriorProblem::Unknown)),
        };
        if least <= 0.0 {
            return Err(written.refuse(match written.name {
                "student_t" => PriorProblem::FreedomOrScale,
                _ => PriorProblem::Scale,
            }));
        }
        Ok(prior)
    }

    /// A draw; `None` from the flat prior, which is no distribution.
    pub fn draw(&self, rng: &mut ChainRng) -> Option<f64> {
        match *self {
            Self::Flat => None,
            Self::Normal { mean, sd } => Some(mean + sd * rng.sample::<f64, _>(StandardNormal)),
            Self::Laplace { location, scale } => {
                let size: f64 = rng.sample(Exp1);
                let sign = if rng.random::<bool>() { 1.0 } else { -1.0 };
                Some(location + sign * scale * size)
            }
            Self::StudentT {
                df,
                location,
                scale,
            } => {
                let t = rand_distr::StudentT::new(df).ok()?;
                Some(location + scale * rng.sample(t))
            }
        }
    }

    /// Log density and its derivative at `x`, constants dropped.
    pub fn log_density(&self, x: f64) -> (f64, f64) {
        match *self {
            Self::Flat => (0.0, 0.0),
            Self::Normal { mean, sd } => {
                let z = (x - mean) / sd;
                (-0.5 * z * z, -z / sd)
            }
            Self::Laplace { location, scale } => {
                let d = x - location;
                // At the kink the gradient is taken as 0, the middle of the subdifferential.
                let sign = if d == 0.0 { 0.0 } else { d.signum() };
                (-d.abs() / scale, -sign / scale)
            }
            Self::StudentT {
                df,
                location,
                scale,
            } => {
                let z = (x - location) / scale;
                let q = z * z / df;
                (
                    -0.5 * (df + 1.0) * q.ln_1p(),
                    -(df + 1.0) * z / (df * scale * (1.0 + q)),
                )
            }
        }
    }

    /// −d²/dx² of the log density at `x`, never negative: where the density is not log-concave or has a kink, the
    /// curvature of a normal of comparable width stands in (it serves preconditioners only, never the target).
    pub fn curvature(&self, x: f64) -> f64 {
        match *self {
            Self::Flat => 0.0,
            Self::Normal { sd, .. } => 1.0 / (sd * sd),
            // E|x| = b, so slope/|x| is the curvature of the parabola that touches at x (local quadratic approximation).
            Self::Laplace { location, scale } => 1.0 / (scale * (x - location).abs().max(scale)),
            Self::StudentT { .. } => (-self.second_derivative(x)).max(0.0),
        }
    }

    /// Where the log density has a kink, and the scale b of its slopes ±1/b there.
    pub fn kink(&self) -> Option<(f64, f64)> {
        match *self {
            Self::Laplace { location, scale } => Some((location, scale)),
            Self::Flat | Self::Normal { .. } | Self::StudentT { .. } => None,
        }
    }

    /// d²/dx² of the log density at `x`, beside the kink where there is one.
    pub fn second_derivative(&self, x: f64) -> f64 {
        match *self {
            Self::Flat | Self::Laplace { .. } => 0.0,
            Self::Normal { sd, .. } => -1.0 / (sd * sd),
            Self::StudentT {
                df,
                location,
                scale,
            } => {
                let z = (x - location) / scale;
                let q = z * z / df;
                -((df + 1.0) * (1.0 - q) / (df * scale * scale * (1.0 + q) * (1.0 + q)))
            }
        }
    }

    /// The largest absolute slope of the log density; infinite for the normal prior.
    pub fn slope_bound(&self) -> f64 {
        match *self {
            Self::Flat => 0.0,
            Self::Normal { .. } => f64::INFINITY,
            Self::Laplace { scale, .. } => 1.0 / scale,
            // At z² = df.
            Self::StudentT { df, scale, .. } => 0.5 * (df + 1.0) / (df.sqrt() * scale),
        }
    }

    /// The smallest and the largest −d²/dx² of the log density; infinite where it has a kink.
    pub fn curvature_range(&self) -> [f64; 2] {
        match *self {
            Self::Flat => [0.0, 0.0],
            Self::Normal { sd, .. } => [1.0 / (sd * sd); 2],
            Self::Laplace { .. } => [f64::NEG_INFINITY, f64::INFINITY],
            Self::StudentT { df, scale, .. } => {
                // (1 − q)/(1 + q)² falls from 1 at q = 0 to −1/8 at q = 3 and rises to 0 from there.
                let peak = (df + 1.0) / (df * scale * scale);
                [-0.125 * peak, peak]
            }
        }
    }

    /// The largest |d³/dx³| of the log density; infinite where it has a kink.
    pub fn third_bound(&self) -> f64 {
        match *self {
            Self::Flat | Self::Normal { .. } => 0.0,
            Self::Laplace { .. } => f64::INFINITY,
            Self::StudentT { df, scale, .. } => {
                // With x² = q the slope is a multiple of x/(1 + x²), whose second derivative is largest at x = √2 − 1.
                let largest = 0.75 + std::f64::consts::FRAC_1_SQRT_2;
                largest * (df + 1.0) / (df.sqrt() * scale * df * scale * scale)
            }
        }
    }

    /// Normalised density at `x`; `None` for the flat prior.
    pub fn density(&self, x: f64) -> Option<f64> {
        let log_constant = match *self {
            Self::Flat => return None,
            Self::Normal { sd, .. } => -sd.ln() - 0.5 * (2.0 * PI).ln(),
            Self::Laplace { scale, .. } => -scale.ln() - LN_2,
            Self::StudentT { df, scale, .. } => {
                ln_gamma(0.5 * (df + 1.0)) - ln_gamma(0.5 * df) - 0.5 * (df * PI).ln() - scale.ln()
            }
        };
        Some((self.log_density(x).0 + log_constant).exp())
    }

    /// This prior for `x/factor`: what a prior in units of standard deviations is on the original scale.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        match *self {
            Self::Flat => Self::Flat,
            Self::Normal { mean, sd } => Self::Normal {
                mean: mean * factor,
                sd: sd * factor,
            },
            Self::Laplace { location, scale } => Self::Laplace {
                location: location * factor,
                scale: scale * factor,
            },
            Self::StudentT {
                df,
                location,
                scale,
            } => Self::StudentT {
                df,
                location: location * factor,
                scale: scale * factor,
            },
        }
    }

    /// Standard deviation, or a comparable width where it is infinite; `None` for the flat prior.
    pub fn width(&self) -> Option<f64> {
        match *self {
            Self::Flat => None,
            Self::Normal { sd, .. } => Some(sd),
            Self::Laplace { scale, .. } => Some(scale * std::f64::consts::SQRT_2),
            Self::StudentT { df, scale, .. } if df > 2.0 => Some(scale * (df / (df - 2.0)).sqrt()),
            Self::StudentT { scale, .. } => Some(scale),
        }
    }

    /// The interval in which the density is at least a hundredth of its peak; `None` for the flat prior.
    pub fn span(&self) -> Option<(f64, f64)> {
        const LEAST: f64 = 0.01;
        let half = match *self {
            Self::Flat => return None,
            Self::Normal { sd, .. } => sd * (-2.0 * LEAST.ln()).sqrt(),
            Self::Laplace { scale, .. } => -scale * LEAST.ln(),
            Self::StudentT { df, scale, .. } => {
                scale * (df * (LEAST.powf(-2.0 / (df + 1.0)) - 1.0)).sqrt()
            }
        };
        Some((self.location() - half, self.location() + half))
    }

    /// This prior moved by `shift`.
    #[must_use]
    pub fn shifted(&self, shift: f64) -> Self {
        let mut moved = *self;
        match &mut moved {
            Self::Flat => {}
            Self::Normal { mean: at, .. }
            | Self::Laplace { location: at, .. }
            | Self::StudentT { location: at, .. } => *at += shift,
        }
        moved
    }

    /// Centre of the density.
    pub fn location(&self) -> f64 {
        match *self {
            Self::Flat => 0.0,
            Self::Normal { mean, .. } => mean,
            Self::Laplace { location, .. } | Self::StudentT { location, .. } => location,
        }
    }
}

/// A log prior Σ log p_k(t_k'u) as rows with covariates t_k, for samplers that look at the likelihood in this way.
#[derive(Clone, Debug)]
pub struct PriorRows {
    priors: Vec<Prior>,
    /// Row-major: t_k is row k.
    map: Vec<f64>,
}

impl PriorRows {
    /// One prior per coordinate of u.
    pub fn independent(priors: Vec<Prior>) -> Self {
        Self::mapped(priors, |u, out| out.copy_from_slice(u))
    }

    /// Priors for the D numbers that the linear `map` makes of u.
    pub fn mapped(priors: Vec<Prior>, map: impl Fn(&[f64], &mut [f64])) -> Self {
        let dim = priors.len();
        let (mut unit, mut column) = (vec![0.0; dim], vec![0.0; dim]);
        let mut matrix = vec![0.0; dim * dim];
        for j in 0..dim {
            unit[j] = 1.0;
            map(&unit, &mut column);
            unit[j] = 0.0;
            for (k, &entry) in column.iter().enumerate() {
                matrix[k * dim + j] = entry;
            }
        }
        Self {
            priors,
            map: matrix,
        }
    }

    /// Number of rows, D.
    pub fn count(&self) -> usize {
        self.priors.len()
    }

    /// The prior of a row.
    pub fn prior(&self, row: usize) -> &Prior {
        &self.priors[row]
    }
}

impl LinearRows for PriorRows {
    fn covariates(&self, row: usize) -> &[f64] {
        let dim = self.priors.len();
        &self.map[row * dim..(row + 1) * dim]
    }

    fn predictor(&self, row: usize, u: &[f64]) -> f64 {
        dot(self.covariates(row), u)
    }

    fn derivatives(&self, row: usize, z: f64) -> [f64; 3] {
        let prior = &self.priors[row];
        let (value, slope) = prior.log_density(z);
        [value, slope, prior.second_derivative(z)]
    }

    fn slope_bound(&self, row: usize) -> f64 {
        self.priors[row].slope_bound()
    }

    fn curvature_bound(&self, row: usize) -> f64 {
        let [least, most] = self.priors[row].curvature_range();
        most.max(-least)
    }

    fn curvature_range(&self, row: usize) -> [f64; 2] {
        self.priors[row].curvature_range()
    }

    fn third_bound(&self, row: usize) -> f64 {
        self.priors[row].third_bound()
    }
}

impl fmt::Display for Prior {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flat => write!(f, "flat"),
            Self::Normal { mean, sd } => write!(f, "normal({mean}, {sd})"),
            Self::Laplace { location, scale } => write!(f, "laplace({location}, {scale})"),
            Self::StudentT {
                df,
                location,
                scale,
            } => write!(f, "student_t({df}, {location}, {scale})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [&str; 5] = [
        "normal(1, 2)",
        "laplace(0.5, 1)",
        "student_t(3, 0, 2.5)",
        "cauchy(0, 1)",
        "flat",
    ];

    #[test]
    fn derivatives_agree_with_finite_differences() {
        let step = 1e-6;
        for text in ALL {
            let prior = Prior::parse(text).unwrap();
            for x in [-3.0, -0.2, 0.7, 4.0] {
                let slope =
                    (prior.log_density(x + step).0 - prior.log_density(x - step).0) / (2.0 * step);
                assert!(
                    (slope - prior.log_density(x).1).abs() < 1e-7,
                    "{text} at {x}"
                );
            }
        }
    }

    #[test]
    fn second_derivatives_agree_with_finite_differences_and_keep_their_bounds() {
        let step = 1e-5;
        for text in ALL.into_iter().chain(["student_t(1.5, 1, 0.3)"]) {
            let prior = Prior::parse(text).unwrap();
            let (mut slope, mut third) = (0.0_f64, 0.0_f64);
            let mut range = [f64::INFINITY, f64::NEG_INFINITY];
            for i in -4000..4000 {
                let x = prior.location() + (f64::from(i) + 0.5) * 2e-3;
                let second = prior.second_derivative(x);
                let numeric =
                    (prior.log_density(x + step).1 - prior.log_density(x - step).1) / (2.0 * step);
                assert!((numeric - second).abs() < 1e-5, "{text} at {x}");
                let next = prior.second_derivative(x + step);
                slope = slope.max(prior.log_density(x).1.abs());
                range = [range[0].min(-second), range[1].max(-second)];
                third = third.max((next - second).abs() / step);
            }
            let [least, most] = prior.curvature_range();
            assert!(slope <= prior.slope_bound() && third <= prior.third_bound() + 1e-6);
            assert!(range[0] >= least && range[1] <= most, "{text}");
            if let Prior::StudentT { .. } = prior {
                // The bounds are reached.
                assert!(slope > 0.999 * prior.slope_bound(), "{text}");
                assert!(third > 0.99 * prior.third_bound(), "{text}");
                assert!(range[0] < 0.999 * least && range[1] > 0.99 * most, "{text}");
            }
        }
    }

    #[test]
    fn the_span_ends_where_the_density_is_a_hundredth_of_its_peak() {
        for text in &ALL[..4] {
            let prior = Prior::parse(text).unwrap();
            let peak = prior.density(prior.location()).unwrap();
            let (from, to) = prior.span().unwrap();
            for end in [from, to] {
                assert!(
                    (prior.density(end).unwrap() / peak - 0.01).abs() < 1e-12,
                    "{text}"
                );
            }
        }
    }

    #[test]
    fn densities_integrate_to_one() {
        for text in &ALL[..3] {
            let prior = Prior::parse(text).unwrap();
            let step = 0.01;
            let total: f64 = (-400_000..400_000)
                .map(|i| prior.density(f64::from(i) * step).unwrap() * step)
                .sum();
            // The kink of the Laplace density costs step²/12 times the jump of its slope.
            assert!((total - 1.0).abs() < 2e-5, "{text}: {total}");
        }
    }

    #[test]
    fn text_survives_a_round_trip() {
        for text in [
            "normal(0, 10)",
            "laplace(0, 1)",
            "student_t(3, 0, 2.5)",
            "flat",
        ] {
            assert_eq!(Prior::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn nonsense_is_refused_with_the_known_forms() {
        for text in [
            "normal",
            "normal(0)",
            "normal(0, -1)",
            "normal(0, x)",
            "gamma(1, 1)",
            "student_t(0, 0, 1)",
            "",
        ] {
            let message = Prior::parse(text).unwrap_err().to_string();
            assert!(
                message.contains("student_t(df, location, scale)"),
                "{message}"
            );
        }
    }
}
