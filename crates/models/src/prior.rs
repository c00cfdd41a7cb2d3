//! Priors of single numbers in Stan's notation, such as `normal(0, 10)` for a coefficient or `gamma(2, 0.1)` for a scale.

use std::f64::consts::{LN_2, PI, SQRT_2};
use std::fmt;
use std::sync::Arc;

use rand::RngExt as _;
use rand_distr::{Exp1, Gamma, StandardNormal};
use statrs::function::beta::beta_reg;
use statrs::function::erf::erfc;
use statrs::function::gamma::{gamma_lr, gamma_ur, ln_gamma};

use super::prior_text::{Argument, PriorError, PriorProblem, PriorText};
use super::{Covariates, LinearRows};
use ergodic_base::ChainRng;
use ergodic_base::linalg::dot;
use ergodic_base::numerals::to_digits;

/// The forms of the [`Prior`] of a real parameter, for people.
pub(crate) const FORMS: &str = "normal(mean, sd), student_t(df, location, scale), laplace(location, scale), \
                         cauchy(location, scale) or flat";

/// The forms of the [`Prior`] of a positive parameter, for people.
pub(crate) const POSITIVE_FORMS: &str = "half_normal(sd), half_student_t(df, 0, scale), half_cauchy(scale), exponential(rate), \
                                  gamma(shape, rate), inv_gamma(shape, scale), lognormal(mean, sd) or flat";

/// Share of the prior of a positive parameter that pictures leave out at its upper end.
pub(super) const TAIL: f64 = 0.02;

/// A density on the real line or, from [`Self::Exponential`] on, on its positive half. The prior of a positive parameter is one
/// of the latter, or the density of |x| where that of x is symmetric about 0.
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
    /// Density ∝ exp(−rate x).
    Exponential {
        /// One over the mean.
        rate: f64,
    },
    /// Density ∝ x^(shape − 1) exp(−rate x).
    Gamma {
        /// Shape.
        shape: f64,
        /// Rate.
        rate: f64,
    },
    /// Density ∝ x^(−shape − 1) exp(−scale/x).
    InvGamma {
        /// Shape.
        shape: f64,
        /// Scale.
        scale: f64,
    },
    /// log x ~ normal(mean, sd).
    LogNormal {
        /// Mean of log x.
        mean: f64,
        /// Standard deviation of log x.
        sd: f64,
    },
}

/// `x` to three significant digits: what a default prior on the scale of the data is rounded to, for people.
pub(super) fn significant(x: f64) -> f64 {
    to_digits(x, 3)
}

impl Prior {
    /// The prior of a real parameter in Stan's notation; the error says which forms are known.
    pub fn parse(text: &str) -> Result<Self, PriorError> {
        use Argument::Number;
        let written = PriorText::read(text, FORMS)?;
        let prior = match (written.name, written.arguments.as_slice()) {
            ("flat", []) => Self::Flat,
            ("normal", &[Number(mean), Number(sd)]) => Self::Normal { mean, sd },
            ("laplace" | "double_exponential", &[Number(location), Number(scale)]) => {
                Self::Laplace { location, scale }
            }
            ("student_t", &[Number(df), Number(location), Number(scale)]) => {
                Self::student_t(df, location, scale)
            }
            ("cauchy", &[Number(location), Number(scale)]) => Self::student_t(1.0, location, scale),
            _ => return Err(written.refuse(PriorProblem::Unknown)),
        };
        if prior.least_argument() <= 0.0 {
            return Err(written.refuse(match written.name {
                "student_t" => PriorProblem::FreedomOrScale,
                _ => PriorProblem::Scale,
            }));
        }
        Ok(prior)
    }

    /// The prior of a positive parameter in Stan's notation. `normal`, `student_t` and `cauchy` with location 0 mean their
    /// upper halves, as in Stan for a parameter that is declared positive. The error says which forms are known.
    pub fn parse_positive(text: &str) -> Result<Self, PriorError> {
        use Argument::Number;
        let written = PriorText::read(text, POSITIVE_FORMS)?;
        let (halved, name) = match written.name.strip_prefix("half_") {
            Some(name) => (true, name),
            None => (false, written.name),
        };
        let prior = match (name, written.arguments.as_slice()) {
            ("normal", &[Number(sd)]) if halved => Self::Normal { mean: 0.0, sd },
            ("normal", &[Number(mean), Number(sd)]) => Self::Normal { mean, sd },
            ("student_t", &[Number(df), Number(location), Number(scale)]) => {
                Self::student_t(df, location, scale)
            }
            ("cauchy", &[Number(scale)]) if halved => Self::student_t(1.0, 0.0, scale),
            ("cauchy", &[Number(location), Number(scale)]) => Self::student_t(1.0, location, scale),
            _ if halved => return Err(written.refuse(PriorProblem::OfPositive)),
            ("flat", []) => Self::Flat,
            ("exponential", &[Number(rate)]) => Self::Exponential { rate },
            ("gamma", &[Number(shape), Number(rate)]) => Self::Gamma { shape, rate },
            ("inv_gamma", &[Number(shape), Number(scale)]) => Self::InvGamma { shape, scale },
            ("lognormal", &[Number(mean), Number(sd)]) => Self::LogNormal { mean, sd },
            _ => return Err(written.refuse(PriorProblem::OfPositive)),
        };
        if prior.location() != 0.0 {
            return Err(written.refuse(PriorProblem::Location));
        }
        if prior.least_argument() <= 0.0 {
            return Err(written.refuse(PriorProblem::Arguments));
        }
        Ok(prior)
    }

    fn student_t(df: f64, location: f64, scale: f64) -> Self {
        Self::StudentT {
            df,
            location,
            scale,
        }
    }

    /// The least of the arguments that must be positive.
    fn least_argument(&self) -> f64 {
        match *self {
            Self::Flat => f64::INFINITY,
            Self::Normal { sd: scale, .. }
            | Self::LogNormal { sd: scale, .. }
            | Self::Laplace { scale, .. }
            | Self::Exponential { rate: scale } => scale,
            Self::StudentT { df: one, scale, .. }
            | Self::Gamma {
                shape: one,
                rate: scale,
            }
            | Self::InvGamma { shape: one, scale } => one.min(scale),
        }
    }

    /// Whether this is a density on the whole line, so that the prior of a positive parameter is its upper half, twice as high.
    fn is_halved_when_positive(&self) -> bool {
        matches!(
            self,
            Self::Normal { .. } | Self::StudentT { .. } | Self::Laplace { .. }
        )
    }

    /// Stan's notation for the prior of a positive parameter.
    pub(crate) fn positive_text(&self) -> String {
        match self {
            Self::Normal { sd, .. } => format!("half_normal({sd})"),
            Self::StudentT { df, scale, .. } if *df == 1.0 => format!("half_cauchy({scale})"),
            whole if whole.is_halved_when_positive() => format!("half_{whole}"),
            other => other.to_string(),
        }
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
            Self::Exponential { rate } => Some(rng.sample::<f64, _>(Exp1) / rate),
            Self::Gamma { shape, rate } => Some(rng.sample(Gamma::new(shape, 1.0 / rate).ok()?)),
            Self::InvGamma { shape, scale } => {
                let gamma: f64 = rng.sample(Gamma::new(shape, 1.0).ok()?);
                Some(scale / gamma)
            }
            Self::LogNormal { mean, sd } => {
                Some((mean + sd * rng.sample::<f64, _>(StandardNormal)).exp())
            }
        }
    }

    /// Log density, its first and its second derivative at `x`, constants dropped; the latter beside a kink where there is one.
    pub fn derivatives(&self, x: f64) -> [f64; 3] {
        match *self {
            Self::Flat => [0.0; 3],
            Self::Normal { mean, sd } => {
                let z = (x - mean) / sd;
                [-0.5 * z * z, -z / sd, -1.0 / (sd * sd)]
            }
            Self::Laplace { location, scale } => {
                let d = x - location;
                // At the kink the gradient is taken as 0, the middle of the subdifferential.
                let sign = if d == 0.0 { 0.0 } else { d.signum() };
                [-d.abs() / scale, -sign / scale, 0.0]
            }
            Self::StudentT {
                df,
                location,
                scale,
            } => {
                let z = (x - location) / scale;
                let (q, c) = (z * z / df, df + 1.0);
                [
                    -0.5 * c * q.ln_1p(),
                    -c * z / (df * scale * (1.0 + q)),
                    -c * (1.0 - q) / (df * scale * scale * (1.0 + q) * (1.0 + q)),
                ]
            }
            Self::Exponential { rate } => [-rate * x, -rate, 0.0],
            Self::Gamma { shape, rate } => {
                let a = shape - 1.0;
                [a * x.ln() - rate * x, a / x - rate, -a / (x * x)]
            }
            Self::InvGamma { shape, scale } => {
                let (a, r) = (shape + 1.0, 1.0 / x);
                [
                    -a * x.ln() - scale * r,
                    (scale * r - a) * r,
                    (a - 2.0 * scale * r) * r * r,
                ]
            }
            Self::LogNormal { mean, sd } => {
                let z = (x.ln() - mean) / sd;
                [
                    -x.ln() - 0.5 * z * z,
                    -(1.0 + z / sd) / x,
                    (1.0 + z / sd - 1.0 / (sd * sd)) / (x * x),
                ]
            }
        }
    }

    /// Log density and its derivative at `x`, constants dropped.
    pub fn log_density(&self, x: f64) -> (f64, f64) {
        let [value, slope, _second] = self.derivatives(x);
        (value, slope)
    }

    /// −d²/dx² of the log density at `x`, never negative: where the density is not log-concave or has a kink, the
    /// curvature of a normal of comparable width stands in (it serves preconditioners only, never the target).
    pub fn curvature(&self, x: f64) -> f64 {
        match *self {
            // E|x| = b, so slope/|x| is the curvature of the parabola that touches at x (local quadratic approximation).
            Self::Laplace { location, scale } => 1.0 / (scale * (x - location).abs().max(scale)),
            _ => (-self.derivatives(x)[2]).max(0.0),
        }
    }

    /// Where the log density has a kink, and the scale b of its slopes ±1/b there.
    pub fn kink(&self) -> Option<(f64, f64)> {
        match *self {
            Self::Laplace { location, scale } => Some((location, scale)),
            _ => None,
        }
    }

    /// The largest absolute slope of the log density; infinite where there is none.
    pub fn slope_bound(&self) -> f64 {
        match *self {
            Self::Flat => 0.0,
            Self::Laplace { scale, .. } => 1.0 / scale,
            Self::Exponential { rate } => rate,
            // At z² = df.
            Self::StudentT { df, scale, .. } => 0.5 * (df + 1.0) / (df.sqrt() * scale),
            _ => f64::INFINITY,
        }
    }

    /// The smallest and the largest −d²/dx² of the log density; infinite where it has a kink or no bounds.
    pub fn curvature_range(&self) -> [f64; 2] {
        match *self {
            Self::Flat | Self::Exponential { .. } => [0.0, 0.0],
            Self::Normal { sd, .. } => [1.0 / (sd * sd); 2],
            Self::StudentT { df, scale, .. } => {
                // (1 − q)/(1 + q)² falls from 1 at q = 0 to −1/8 at q = 3 and rises to 0 from there.
                let peak = (df + 1.0) / (df * scale * scale);
                [-0.125 * peak, peak]
            }
            _ => [f64::NEG_INFINITY, f64::INFINITY],
        }
    }

    /// The largest |d³/dx³| of the log density; infinite where it has a kink or no bound.
    pub fn third_bound(&self) -> f64 {
        match *self {
            Self::Flat | Self::Normal { .. } | Self::Exponential { .. } => 0.0,
            Self::StudentT { df, scale, .. } => {
                // With x² = q the slope is a multiple of x/(1 + x²), whose second derivative is largest at x = √2 − 1.
                let largest = 0.75 + std::f64::consts::FRAC_1_SQRT_2;
                largest * (df + 1.0) / (df.sqrt() * scale * df * scale * scale)
            }
            _ => f64::INFINITY,
        }
    }

    /// Normalised density at `x`; `None` for the flat prior.
    pub fn density(&self, x: f64) -> Option<f64> {
        let log_constant = match *self {
            Self::Flat => return None,
            Self::Normal { sd, .. } | Self::LogNormal { sd, .. } => {
                -sd.ln() - 0.5 * (2.0 * PI).ln()
            }
            Self::Laplace { scale, .. } => -scale.ln() - LN_2,
            Self::StudentT { df, scale, .. } => {
                ln_gamma(0.5 * (df + 1.0)) - ln_gamma(0.5 * df) - 0.5 * (df * PI).ln() - scale.ln()
            }
            Self::Exponential { rate } => rate.ln(),
            Self::Gamma { shape, rate } => shape * rate.ln() - ln_gamma(shape),
            Self::InvGamma { shape, scale } => shape * scale.ln() - ln_gamma(shape),
        };
        if x <= 0.0 && !self.is_halved_when_positive() {
            return Some(0.0);
        }
        Some((self.derivatives(x)[0] + log_constant).exp())
    }

    /// Normalised density at `x` of the prior of a positive parameter, 0 below 0; `None` for the flat prior.
    pub fn positive_density(&self, x: f64) -> Option<f64> {
        let density = self.density(x)?;
        Some(match self.is_halved_when_positive() {
            _ if x <= 0.0 => 0.0,
            true => 2.0 * density,
            false => density,
        })
    }

    /// The chance that a positive parameter with this prior is above `x`; `None` for the flat prior.
    pub(crate) fn positive_survival(&self, x: f64) -> Option<f64> {
        let share = match *self {
            Self::Flat => return None,
            _ if x <= 0.0 => 1.0,
            Self::Normal { sd, .. } => erfc(x / (sd * SQRT_2)),
            Self::Laplace { scale, .. } => (-x / scale).exp(),
            Self::StudentT { df, scale, .. } => {
                let z = x / scale;
                beta_reg(0.5 * df, 0.5, df / (df + z * z))
            }
            Self::Exponential { rate } => (-rate * x).exp(),
            Self::Gamma { shape, rate } => gamma_ur(shape, rate * x),
            Self::InvGamma { shape, scale } => gamma_lr(shape, scale / x),
            Self::LogNormal { mean, sd } => 0.5 * erfc((x.ln() - mean) / (sd * SQRT_2)),
        };
        Some(share)
    }

    /// The prior for `x/factor`: what a prior in units of standard deviations is on the original scale.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let mut scaled = *self;
        match &mut scaled {
            Self::Flat => {}
            Self::Normal {
                mean: location,
                sd: scale,
            }
            | Self::Laplace { location, scale }
            | Self::StudentT {
                location, scale, ..
            } => {
                *location *= factor;
                *scale *= factor;
            }
            Self::Exponential { rate } | Self::Gamma { rate, .. } => *rate /= factor,
            Self::InvGamma { scale, .. } => *scale *= factor,
            Self::LogNormal { mean, .. } => *mean += factor.ln(),
        }
        scaled
    }

    /// The interval in which a density on the whole line is at least a hundredth of its peak; `None` for the others.
    pub fn span(&self) -> Option<(f64, f64)> {
        const LEAST: f64 = 0.01;
        let half = match *self {
            Self::Normal { sd, .. } => sd * (-2.0 * LEAST.ln()).sqrt(),
            Self::Laplace { scale, .. } => -scale * LEAST.ln(),
            Self::StudentT { df, scale, .. } => {
                scale * (df * (LEAST.powf(-2.0 / (df + 1.0)) - 1.0)).sqrt()
            }
            Self::Flat
            | Self::Exponential { .. }
            | Self::Gamma { .. }
            | Self::InvGamma { .. }
            | Self::LogNormal { .. } => return None,
        };
        Some((self.location() - half, self.location() + half))
    }

    /// The interval of a positive parameter above `from` that a picture of its prior shows; `None` for the flat prior.
    pub fn positive_range(&self, from: f64) -> Option<(f64, f64)> {
        let share = self.positive_survival(from)?;
        // Doubling, then halving the interval: survival falls with x.
        let mut to = 1e-6_f64.max(from);
        while self.positive_survival(to)? > TAIL * share && to < 1e300 {
            to *= 2.0;
        }
        let mut below = 0.5 * to;
        for _ in 0..20 {
            let middle = 0.5 * (below + to);
            if self.positive_survival(middle)? > TAIL * share {
                below = middle;
            } else {
                to = middle;
            }
        }
        Some((from, to))
    }

    /// The prior moved by `shift`, if it is one on the whole line.
    #[must_use]
    pub fn shifted(&self, shift: f64) -> Self {
        let mut moved = *self;
        match &mut moved {
            Self::Normal { mean: at, .. }
            | Self::Laplace { location: at, .. }
            | Self::StudentT { location: at, .. } => *at += shift,
            Self::Flat
            | Self::Exponential { .. }
            | Self::Gamma { .. }
            | Self::InvGamma { .. }
            | Self::LogNormal { .. } => {}
        }
        moved
    }

    /// Centre of a density on the whole line; 0 for the others, which start there.
    pub fn location(&self) -> f64 {
        match *self {
            Self::Normal { mean, .. } => mean,
            Self::Laplace { location, .. } | Self::StudentT { location, .. } => location,
            Self::Flat
            | Self::Exponential { .. }
            | Self::Gamma { .. }
            | Self::InvGamma { .. }
            | Self::LogNormal { .. } => 0.0,
        }
    }
}

/// A log prior r Σ log p_k(t_k'u) as rows with covariates t_k, for samplers that look at the likelihood in this way. The power r is 1 but
/// for a shard of a model.
#[derive(Clone, Debug)]
pub struct PriorRows {
    priors: Vec<Prior>,
    /// Row-major: t_k is row k.
    map: Arc<[f64]>,
    /// r.
    power: f64,
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
            map: matrix.into(),
            power: 1.0,
        }
    }

    /// These priors raised to `power`.
    #[must_use]
    pub fn raised(&self, power: f64) -> Self {
        Self {
            power: self.power * power,
            ..self.clone()
        }
    }

    /// The power r to which priors are raised.
    pub fn power(&self) -> f64 {
        self.power
    }

    /// Number of rows, D.
    pub fn count(&self) -> usize {
        self.priors.len()
    }

    /// The prior of a row, before it is raised to [`Self::power`].
    pub fn prior(&self, row: usize) -> &Prior {
        &self.priors[row]
    }

    /// What the prior of a row is the prior of: a row of the map (D).
    pub fn row(&self, row: usize) -> &[f64] {
        let dim = self.priors.len();
        &self.map[row * dim..(row + 1) * dim]
    }
}

impl LinearRows for PriorRows {
    fn covariates(&self, row: usize) -> Covariates<'_> {
        Covariates::Double(self.row(row))
    }

    fn predictor(&self, row: usize, u: &[f64]) -> f64 {
        dot(self.row(row), u)
    }

    fn derivatives(&self, row: usize, z: f64) -> [f64; 3] {
        let derivatives = self.priors[row].derivatives(z);
        derivatives.map(|it| self.power * it)
    }

    fn slope_bound(&self, row: usize) -> f64 {
        self.power * self.priors[row].slope_bound()
    }

    fn curvature_bound(&self, row: usize) -> f64 {
        let [least, most] = self.curvature_range(row);
        most.max(-least)
    }

    fn curvature_range(&self, row: usize) -> [f64; 2] {
        let range = self.priors[row].curvature_range();
        range.map(|it| self.power * it)
    }

    fn third_bound(&self, row: usize) -> f64 {
        self.power * self.priors[row].third_bound()
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
            Self::Exponential { rate } => write!(f, "exponential({rate})"),
            Self::Gamma { shape, rate } => write!(f, "gamma({shape}, {rate})"),
            Self::InvGamma { shape, scale } => write!(f, "inv_gamma({shape}, {scale})"),
            Self::LogNormal { mean, sd } => write!(f, "lognormal({mean}, {sd})"),
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
                let second = prior.derivatives(x)[2];
                let numeric =
                    (prior.log_density(x + step).1 - prior.log_density(x - step).1) / (2.0 * step);
                assert!((numeric - second).abs() < 1e-5, "{text} at {x}");
                let next = prior.derivatives(x + step)[2];
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
