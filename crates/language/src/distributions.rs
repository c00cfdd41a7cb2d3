//! Distributions: one line each, the log density written in the language itself.
//!
//! To add one, add a line: its name with its parameters, and the [`Limits`] of those that not every finite number will do for, the
//! values that it is of, and log p(y). Derivatives, the parts that depend on parameters or on columns alone, types and the bounds of
//! parameters that have it as a prior follow from these, and the tests compare the line with numerical integration or summation.
//! Densities are complete: they integrate to 1.

use std::sync::LazyLock;

use ergodic_base::ChainRng;
use rand::RngExt as _;

use crate::limits::Limits;
use crate::parser::parse_expression;
use crate::syntax::Expr;
use crate::variates::{
    beta, binomial, category, category_by_logits, exponential, gamma, level, logistic, normal,
    poisson, share, skew_normal, student_t,
};

/// Values of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// All numbers.
    Real,
    /// Numbers above 0.
    Positive,
    /// Numbers above the first parameter, which is above 0.
    Above,
    /// Numbers between 0 and 1.
    Unit,
    /// Numbers between the first two parameters.
    Between,
    /// 0 or 1.
    Binary,
    /// Whole numbers from 0.
    Counts,
    /// Whole numbers from 0 to the first parameter.
    Trials,
    /// Shares of a whole: vectors of numbers between 0 and 1 whose sum is 1.
    Simplex,
    /// Whole numbers from 1 to the number of levels, one more than thresholds.
    Levels,
    /// Whole numbers from 1 to the number of categories, or the categories of a column.
    Categories,
}

impl Support {
    /// Whether values are whole numbers, which parameters cannot be.
    pub fn is_discrete(self) -> bool {
        matches!(
            self,
            Self::Binary | Self::Counts | Self::Trials | Self::Levels | Self::Categories
        )
    }

    /// Whether values are levels or categories, whose density takes a vector.
    pub(crate) fn is_of_levels(self) -> bool {
        matches!(self, Self::Levels | Self::Categories)
    }

    /// Whether `value` is one of them; `most` is the number of trials, where it is known. Of shares, levels and
    /// categories everything is one.
    pub(crate) fn holds(self, value: f64, most: Option<f64>) -> bool {
        let is_whole = value >= 0.0 && value.fract() == 0.0;
        match self {
            Self::Real | Self::Between => value.is_finite(),
            // Below the first parameter, which may be any, there is no density, but no mistake either.
            Self::Positive | Self::Above => value > 0.0 && value.is_finite(),
            Self::Unit => value > 0.0 && value < 1.0,
            Self::Binary => value == 0.0 || value == 1.0,
            Self::Counts => is_whole && value.is_finite(),
            Self::Trials => is_whole && most.is_none_or(|most| value <= most),
            Self::Simplex | Self::Levels | Self::Categories => true,
        }
    }

    /// The values in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Real => "numbers",
            Self::Positive => "numbers above 0",
            Self::Above => "numbers above its first parameter",
            Self::Unit => "numbers between 0 and 1",
            Self::Between => "numbers between its bounds",
            Self::Binary => "0 or 1",
            Self::Counts => "whole numbers from 0",
            Self::Trials => "whole numbers from 0 to the number of trials",
            Self::Simplex => "shares of a whole",
            Self::Levels => "whole numbers from 1 to the number of levels",
            Self::Categories => "categories, or whole numbers from 1 to the number of them",
        }
    }
}

/// A distribution of the language.
#[derive(Debug)]
pub struct Distribution {
    /// Name of the distribution.
    pub name: &'static str,
    /// Parameters in order.
    pub parameters: &'static [&'static str],
    /// Values that each of them may have.
    pub(crate) limits: &'static [Limits],
    /// Values of the distribution.
    pub support: Support,
    /// log p(y) in the language; empty for a distribution of or by vectors, which `lower` knows.
    pub density: &'static str,
    /// The expected value in the language, of [`Support::Trials`] the expected share of them; empty where there is none, or `lower`
    /// knows it.
    pub mean: &'static str,
    /// The median in the language, which a growing function of the outcome takes along; empty where no formula says it.
    pub median: &'static str,
    /// Draws a value; none where nobody has said how.
    pub(crate) draw: Option<Draw>,
}

/// Draws a value, given the parameters.
pub(crate) type Draw = fn(&[f64], &mut ChainRng) -> f64;

/// A [`Draw`] from its line.
macro_rules! draw {
    (($($parameter:ident $(: $limits:ident)?),*), $rng:ident, $draw:expr) => {
        |numbers: &[f64], $rng: &mut ChainRng| match *numbers {
            [$($parameter),*] => {
                // Not every one has a part in every draw.
                _ = ($($parameter,)*);
                $draw
            }
            _ => f64::NAN,
        }
    };
}

/// What may be left out.
macro_rules! optional {
    () => {
        None
    };
    ($given:expr) => {
        Some($given)
    };
}

macro_rules! names {
    (($($parameter:ident $(: $limits:ident)?),*)) => {
        &[$(stringify!($parameter)),*]
    };
}

macro_rules! limits {
    (($($parameter:ident $(: $limits:ident)?),*)) => {
        &[$(limits!(of $($limits)?)),*]
    };
    (of) => {
        Limits::Finite
    };
    (of $limits:ident) => {
        Limits::$limits
    };
}

macro_rules! distributions {
    ($($name:ident $parameters:tt on $support:ident: $density:literal $(, mean $mean:literal)? $(, median $median:literal)? $(, draw |$rng:ident| $draw:expr)? $(, draw by $by:ident)?;)*) => {
        /// All distributions.
        pub static DISTRIBUTIONS: &[Distribution] = &[$(Distribution {
            name: stringify!($name),
            parameters: names!($parameters),
            limits: limits!($parameters),
            support: Support::$support,
            density: $density,
            mean: concat!($($mean)?),
            median: concat!($($median)?),
            draw: optional!($(draw!($parameters, $rng, $draw))? $($by)?),
        }),*];
    };
}

distributions! {
    normal(mu, sigma: Positive) on Real: "-0.5 * ((y - mu) / sigma)^2 - log(sigma) - 0.9189385332046727", mean "mu", median "mu", draw |rng| mu + sigma * normal(rng);
    std_normal() on Real: "-0.5 * y^2 - 0.9189385332046727", mean "0", median "0", draw |rng| normal(rng);
    student_t(nu: Positive, mu, sigma: Positive) on Real: "lgamma_rise(0.5 * nu, 0.5) - 0.5 * log(nu * pi) - log(sigma) - 0.5 * (nu + 1) * log1p(((y - mu) / sigma)^2 / nu)", mean "mu", median "mu", draw |rng| mu + sigma * student_t(nu, rng);
    cauchy(mu, sigma: Positive) on Real: "-log(pi) - log(sigma) - log1p(((y - mu) / sigma)^2)", median "mu", draw |rng| mu + sigma * student_t(1.0, rng);
    laplace(mu, sigma: Positive) on Real: "-abs(y - mu) / sigma - log(2 * sigma)", mean "mu", median "mu", draw |rng| mu + sigma * (exponential(rng) - exponential(rng));
    logistic(mu, sigma: Positive) on Real: "-(y - mu) / sigma - log(sigma) - 2 * softplus(-(y - mu) / sigma)", mean "mu", median "mu", draw |rng| mu + sigma * logistic(rng);
    skew_normal(xi, omega: Positive, alpha) on Real: "std_normal_lcdf(alpha * (y - xi) / omega) - 0.5 * ((y - xi) / omega)^2 - log(omega) - 0.22579135264472744", mean "xi + 0.7978845608028654 * omega * alpha / sqrt(1 + alpha^2)", draw |rng| xi + omega * skew_normal(alpha, rng);
    gumbel(mu, sigma: Positive) on Real: "-(y - mu) / sigma - exp(-(y - mu) / sigma) - log(sigma)", mean "mu + 0.5772156649015329 * sigma", median "mu + 0.36651292058166435 * sigma", draw |rng| mu - sigma * exponential(rng).ln();
    half_normal(sigma: Positive) on Positive: "-0.5 * (y / sigma)^2 - log(sigma) - 0.22579135264472744", mean "0.7978845608028654 * sigma", median "0.6744897501960817 * sigma", draw |rng| sigma * normal(rng).abs();
    half_student_t(nu: Positive, zero, sigma: Positive) on Positive: "log(2) + lgamma_rise(0.5 * nu, 0.5) - 0.5 * log(nu * pi) - log(sigma) - 0.5 * (nu + 1) * log1p((y / sigma)^2 / nu)", mean "where(1 < nu, 2 * sigma * sqrt(nu / pi) * exp(lgamma_rise(0.5 * nu, 0.5)) / (nu - 1), inf)", draw |rng| sigma * student_t(nu, rng).abs();
    half_cauchy(sigma: Positive) on Positive: "log(2) - log(pi) - log(sigma) - log1p((y / sigma)^2)", median "sigma", draw |rng| sigma * student_t(1.0, rng).abs();
    exponential(rate: Positive) on Positive: "log(rate) - rate * y", mean "1 / rate", median "0.6931471805599453 / rate", draw |rng| exponential(rng) / rate;
    gamma(shape: Positive, rate: Positive) on Positive: "shape * log(rate) - lgamma(shape) + (shape - 1) * log(y) - rate * y", mean "shape / rate", draw |rng| gamma(shape, rng) / rate;
    inv_gamma(shape: Positive, scale: Positive) on Positive: "shape * log(scale) - lgamma(shape) - (shape + 1) * log(y) - scale / y", mean "where(1 < shape, scale / (shape - 1), inf)", draw |rng| scale / gamma(shape, rng);
    chi_square(nu: Positive) on Positive: "-0.5 * nu * log(2) - lgamma(0.5 * nu) + (0.5 * nu - 1) * log(y) - 0.5 * y", mean "nu", draw |rng| 2.0 * gamma(0.5 * nu, rng);
    lognormal(mu, sigma: Positive) on Positive: "-0.5 * ((log(y) - mu) / sigma)^2 - log(sigma) - log(y) - 0.9189385332046727", mean "exp(mu + 0.5 * sigma^2)", median "exp(mu)", draw |rng| (mu + sigma * normal(rng)).exp();
    weibull(shape: Positive, scale: Positive) on Positive: "log(shape) - log(scale) + (shape - 1) * (log(y) - log(scale)) - exp(shape * (log(y) - log(scale)))", mean "scale * exp(lgamma(1 + 1 / shape))", median "scale * 0.6931471805599453^(1 / shape)", draw |rng| scale * exponential(rng).powf(1.0 / shape);
    pareto(y_min: Positive, alpha: Positive) on Above: "where(y < y_min, -inf, log(alpha) + alpha * log(y_min) - (alpha + 1) * log(y))", mean "where(1 < alpha, alpha * y_min / (alpha - 1), inf)", median "y_min * 2^(1 / alpha)", draw |rng| y_min * (exponential(rng) / alpha).exp();
    beta(a: Positive, b: Positive) on Unit: "lgamma(a + b) - lgamma(a) - lgamma(b) + (a - 1) * log(y) + (b - 1) * log1p(-y)", mean "a / (a + b)", draw |rng| beta(a, b, rng);
    beta_proportion(mu: Share, kappa: Positive) on Unit: "lgamma(kappa) - lgamma(mu * kappa) - lgamma((1 - mu) * kappa) + (mu * kappa - 1) * log(y) + ((1 - mu) * kappa - 1) * log1p(-y)", mean "mu", draw |rng| beta(mu * kappa, (1.0 - mu) * kappa, rng);
    uniform(lower, upper) on Between: "-log(upper - lower)", mean "0.5 * (lower + upper)", median "0.5 * (lower + upper)", draw |rng| lower + (upper - lower) * rng.random::<f64>();
    bernoulli(p: Share) on Binary: "y * log(p) + (1 - y) * log1p(-p)", mean "p", draw |rng| binomial(1.0, p, rng);
    bernoulli_logit(z) on Binary: "y * z - softplus(z)", mean "logistic(z)", draw |rng| binomial(1.0, share(z), rng);
    binomial(n, p: Share) on Trials: "lgamma(n + 1) - lgamma(y + 1) - lgamma(n - y + 1) + y * log(p) + (n - y) * log1p(-p)", mean "p", draw |rng| binomial(n, p, rng);
    binomial_logit(n, z) on Trials: "lgamma(n + 1) - lgamma(y + 1) - lgamma(n - y + 1) + y * z - n * softplus(z)", mean "logistic(z)", draw |rng| binomial(n, share(z), rng);
    beta_binomial(n, a: Positive, b: Positive) on Trials: "lgamma(n + 1) - lgamma(y + 1) - lgamma(n - y + 1) + lgamma_rise(a, y) + lgamma_rise(b, n - y) - lgamma_rise(a + b, n)", mean "a / (a + b)", draw |rng| binomial(n, beta(a, b, rng), rng);
    poisson(rate: NonNegative) on Counts: "y * log(rate) - rate - lgamma(y + 1)", mean "rate", draw |rng| poisson(rate, rng);
    poisson_log(z) on Counts: "y * z - exp(z) - lgamma(y + 1)", mean "exp(z)", draw |rng| poisson(z.exp(), rng);
    neg_binomial_2(mu: NonNegative, phi: Positive) on Counts: "lgamma_rise(phi, y) - lgamma(y + 1) + where(phi < 1e5, phi * (log(phi) - log(mu + phi)), -phi * log1p(mu / where(phi < 1e5, 1e5, phi))) + y * (log(mu) - log(mu + phi))", mean "mu", draw |rng| poisson(mu / phi * gamma(phi, rng), rng);
    neg_binomial_2_log(z, phi: Positive) on Counts: "lgamma_rise(phi, y) - lgamma(y + 1) + y * (z - log(phi)) - (y + phi) * softplus(z - log(phi))", mean "exp(z)", draw |rng| poisson(z.exp() / phi * gamma(phi, rng), rng);
    geometric(p: Share) on Counts: "log(p) + y * log1p(-p)", mean "(1 - p) / p", draw |rng| (-exponential(rng) / (-p).ln_1p()).floor();
    dirichlet(alpha) on Simplex: "";
    ordered_logistic(z, thresholds) on Levels: "", draw by level;
    categorical(theta: Share) on Categories: "", draw by category;
    categorical_logit(logits) on Categories: "", draw by category_by_logits;
}

/// Trees of the densities, the means and the medians, in the order of [`DISTRIBUTIONS`].
static TREES: LazyLock<Vec<[Option<Expr>; 3]>> = LazyLock::new(|| {
    let trees = |it: &Distribution| {
        [it.density, it.mean, it.median].map(|text| parse_expression(text).ok())
    };
    DISTRIBUTIONS.iter().map(trees).collect()
});

/// Other names of distributions, which Stan has for them, and the one here.
const ALIASES: [(&str, &str); 1] = [("double_exponential", "laplace")];

/// The distribution of this name.
pub(crate) fn find(name: &str) -> Option<&'static Distribution> {
    let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
    let name = alias.map_or(name, |(_, name)| *name);
    DISTRIBUTIONS.iter().find(|it| it.name == name)
}

/// The name of the distribution whose log density a function of this name is.
pub(crate) fn stem(function: &str) -> Option<&str> {
    ["_lpdf", "_lpmf"]
        .iter()
        .find_map(|end| function.strip_suffix(end))
}

/// Whether a distribution of this name is of categories.
pub(crate) fn is_of_categories(name: &str) -> bool {
    find(name).is_some_and(|it| it.support == Support::Categories)
}

/// Whether a function of this name is the log density of levels or categories, a number though it takes a vector.
pub(crate) fn is_of_levels(function: &str) -> bool {
    let distribution = stem(function).and_then(find);
    distribution.is_some_and(|it| it.support.is_of_levels())
}

impl Distribution {
    /// The tree of its density; none for a distribution of or by vectors.
    pub(crate) fn tree(&self) -> Option<&'static Expr> {
        self.trees()?[0].as_ref()
    }

    /// The tree of its expected value; none where there is none, or for a distribution by vectors.
    pub(crate) fn mean_tree(&self) -> Option<&'static Expr> {
        self.trees()?[1].as_ref()
    }

    /// The tree of its median; none where no formula says it.
    pub(crate) fn median_tree(&self) -> Option<&'static Expr> {
        self.trees()?[2].as_ref()
    }

    fn trees(&self) -> Option<&'static [Option<Expr>; 3]> {
        let at = DISTRIBUTIONS.iter().position(|it| it.name == self.name)?;
        TREES.get(at)
    }

    /// The names of its parameters with `numbers` that stand for them.
    pub(crate) fn named<T: Copy>(&self, numbers: &[T]) -> impl Iterator<Item = (&'static str, T)> {
        let names = self.parameters.iter().copied();
        names.zip(numbers.to_vec())
    }

    /// How the distribution is written: `normal(mu, sigma)`.
    pub fn signature(&self) -> String {
        format!("{}({})", self.name, self.parameters.join(", "))
    }
}
