//! Distributions: one line each, the log density written in the language itself.
//!
//! To add one, add a line: its name with its parameters, the values that it is of, and log p(y). Derivatives, the parts that depend
//! on parameters or on columns alone, types and the bounds of parameters that have it as a prior follow from these, and the tests
//! compare the line with numerical integration or summation. Densities are complete: they integrate to 1.

use std::sync::LazyLock;

use crate::parser::parse_expression;
use crate::syntax::Expr;

/// Values of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// All numbers.
    Real,
    /// Numbers above 0.
    Positive,
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
}

impl Support {
    /// Whether values are whole numbers, which parameters cannot be.
    pub fn is_discrete(self) -> bool {
        matches!(
            self,
            Self::Binary | Self::Counts | Self::Trials | Self::Levels
        )
    }

    /// The values in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Real => "numbers",
            Self::Positive => "numbers above 0",
            Self::Unit => "numbers between 0 and 1",
            Self::Between => "numbers between its bounds",
            Self::Binary => "0 or 1",
            Self::Counts => "whole numbers from 0",
            Self::Trials => "whole numbers from 0 to the number of trials",
            Self::Simplex => "shares of a whole",
            Self::Levels => "whole numbers from 1 to the number of levels",
        }
    }
}

/// A distribution of the language.
pub struct Distribution {
    /// Its name.
    pub name: &'static str,
    /// Its parameters in order.
    pub parameters: &'static [&'static str],
    /// Its values.
    pub support: Support,
    /// log p(y) in the language; empty for a distribution of or by vectors, which `lower` knows.
    pub density: &'static str,
}

macro_rules! distributions {
    ($($name:ident($($parameter:ident),*) on $support:ident: $density:expr;)*) => {
        /// All distributions.
        pub static DISTRIBUTIONS: &[Distribution] = &[$(Distribution {
            name: stringify!($name),
            parameters: &[$(stringify!($parameter)),*],
            support: Support::$support,
            density: $density,
        }),*];
    };
}

distributions! {
    normal(mu, sigma) on Real: "-0.5 * ((y - mu) / sigma)^2 - log(sigma) - 0.9189385332046727";
    student_t(nu, mu, sigma) on Real: "lgamma(0.5 * (nu + 1)) - lgamma(0.5 * nu) - 0.5 * log(nu * pi) - log(sigma) - 0.5 * (nu + 1) * log1p(((y - mu) / sigma)^2 / nu)";
    cauchy(mu, sigma) on Real: "-log(pi) - log(sigma) - log1p(((y - mu) / sigma)^2)";
    laplace(mu, sigma) on Real: "-abs(y - mu) / sigma - log(2 * sigma)";
    logistic(mu, sigma) on Real: "-(y - mu) / sigma - log(sigma) - 2 * softplus(-(y - mu) / sigma)";
    gumbel(mu, sigma) on Real: "-(y - mu) / sigma - exp(-(y - mu) / sigma) - log(sigma)";
    half_normal(sigma) on Positive: "-0.5 * (y / sigma)^2 - log(sigma) - 0.22579135264472744";
    half_student_t(nu, zero, sigma) on Positive: "log(2) + lgamma(0.5 * (nu + 1)) - lgamma(0.5 * nu) - 0.5 * log(nu * pi) - log(sigma) - 0.5 * (nu + 1) * log1p((y / sigma)^2 / nu)";
    half_cauchy(sigma) on Positive: "log(2) - log(pi) - log(sigma) - log1p((y / sigma)^2)";
    exponential(rate) on Positive: "log(rate) - rate * y";
    gamma(shape, rate) on Positive: "shape * log(rate) - lgamma(shape) + (shape - 1) * log(y) - rate * y";
    inv_gamma(shape, scale) on Positive: "shape * log(scale) - lgamma(shape) - (shape + 1) * log(y) - scale / y";
    chi_square(nu) on Positive: "-0.5 * nu * log(2) - lgamma(0.5 * nu) + (0.5 * nu - 1) * log(y) - 0.5 * y";
    lognormal(mu, sigma) on Positive: "-0.5 * ((log(y) - mu) / sigma)^2 - log(sigma) - log(y) - 0.9189385332046727";
    weibull(shape, scale) on Positive: "log(shape) - log(scale) + (shape - 1) * (log(y) - log(scale)) - exp(shape * (log(y) - log(scale)))";
    beta(a, b) on Unit: "lgamma(a + b) - lgamma(a) - lgamma(b) + (a - 1) * log(y) + (b - 1) * log1p(-y)";
    beta_proportion(mu, kappa) on Unit: "lgamma(kappa) - lgamma(mu * kappa) - lgamma((1 - mu) * kappa) + (mu * kappa - 1) * log(y) + ((1 - mu) * kappa - 1) * log1p(-y)";
    uniform(lower, upper) on Between: "-log(upper - lower)";
    bernoulli(p) on Binary: "y * log(p) + (1 - y) * log1p(-p)";
    bernoulli_logit(z) on Binary: "y * z - softplus(z)";
    binomial(n, p) on Trials: "lgamma(n + 1) - lgamma(y + 1) - lgamma(n - y + 1) + y * log(p) + (n - y) * log1p(-p)";
    binomial_logit(n, z) on Trials: "lgamma(n + 1) - lgamma(y + 1) - lgamma(n - y + 1) + y * z - n * softplus(z)";
    poisson(rate) on Counts: "y * log(rate) - rate - lgamma(y + 1)";
    poisson_log(z) on Counts: "y * z - exp(z) - lgamma(y + 1)";
    neg_binomial_2(mu, phi) on Counts: "lgamma(y + phi) - lgamma(phi) - lgamma(y + 1) + phi * (log(phi) - log(mu + phi)) + y * (log(mu) - log(mu + phi))";
    neg_binomial_2_log(z, phi) on Counts: "lgamma(y + phi) - lgamma(phi) - lgamma(y + 1) + y * (z - log(phi)) - (y + phi) * softplus(z - log(phi))";
    geometric(p) on Counts: "log(p) + y * log1p(-p)";
    dirichlet(alpha) on Simplex: "";
    ordered_logistic(z, thresholds) on Levels: "";
}

/// Trees of the densities, in the order of [`DISTRIBUTIONS`].
static TREES: LazyLock<Vec<Option<Expr>>> = LazyLock::new(|| {
    let tree = |distribution: &Distribution| parse_expression(distribution.density).ok();
    DISTRIBUTIONS.iter().map(tree).collect()
});

/// The distribution of this name.
pub(crate) fn find(name: &str) -> Option<&'static Distribution> {
    DISTRIBUTIONS.iter().find(|it| it.name == name)
}

/// The name of the distribution whose log density a function of this name is.
pub(crate) fn stem(function: &str) -> Option<&str> {
    ["_lpdf", "_lpmf"]
        .iter()
        .find_map(|end| function.strip_suffix(end))
}

/// Whether a function of this name is the log density of levels, a number though it takes a vector.
pub(crate) fn is_of_levels(function: &str) -> bool {
    let distribution = stem(function).and_then(find);
    distribution.is_some_and(|it| it.support == Support::Levels)
}

impl Distribution {
    /// The tree of its density; none for a distribution of or by vectors.
    pub(crate) fn tree(&self) -> Option<&'static Expr> {
        let at = DISTRIBUTIONS.iter().position(|it| it.name == self.name)?;
        TREES[at].as_ref()
    }

    /// How it is written: `normal(mu, sigma)`.
    pub fn signature(&self) -> String {
        format!("{}({})", self.name, self.parameters.join(", "))
    }
}
