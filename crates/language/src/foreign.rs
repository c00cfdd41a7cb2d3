//! What people write who come from Stan, BUGS or R, and what stands for it here. Asked before an error says no more than that a word or
//! a sign is not known.

/// Signs that mean something elsewhere, and what to write; longer ones first.
const SIGNS: [(&str, &str); 17] = [
    ("%*%", "the product of matrices is matmul(a, b)"),
    ("//", "a comment begins with `#`"),
    ("/*", "a comment begins with `#`, on every line"),
    ("**", "a power is written x^2"),
    (".*", "`*` multiplies element by element already"),
    ("./", "`/` divides element by element already"),
    (
        "+=",
        "a summand of the log density is a line of its own in `rows` or `target`, without `target +=`",
    ),
    (
        "&&",
        "that both hold is their product, as in (a < 1) * (b < 2)",
    ),
    ("||", "that one of two holds is max(a < 1, b < 2)"),
    (";", "a line ends where it ends, without `;`"),
    (
        "{",
        "a section is a word on a line of its own, such as `parameters`, and the lines after it, without braces",
    ),
    (
        "}",
        "a section is a word on a line of its own, such as `parameters`, and the lines after it, without braces",
    ),
    ("?", "`condition ? a : b` is written where(condition, a, b)"),
    (
        "&",
        "that both hold is their product, as in (a < 1) * (b < 2)",
    ),
    ("!", "that something does not hold is written 1 - (a < 1)"),
    (
        "'",
        "texts stand in double quotes, and vectors need no transposing",
    ),
    ("%", "there is no remainder"),
];

/// How long the signs are that are looked for before those of the language, with which they begin.
const LONG: usize = 2;

const LOOP: &str = "there are no loops: a line of `rows` holds for every row, and vectors are computed with element by element";
const BRANCH: &str = "a choice is a number, where(condition, a, b)";
const TYPE: &str = "a type stands after the name and bounds after `in`, as in `s: real in (0, 1)` or `w: vector(3)`";
const DECLARED_DATA: &str = "columns of the data need no declaration";

/// Words that begin a line elsewhere, and what to write.
const BEGINNINGS: [(&str, &str); 22] = [
    ("for", LOOP),
    ("while", LOOP),
    ("if", BRANCH),
    ("else", BRANCH),
    ("int", DECLARED_DATA),
    (
        "array",
        "a parameter with two dimensions is a matrix, as in `w: matrix(3, 2)`",
    ),
    ("real", TYPE),
    ("vector", TYPE),
    ("row_vector", TYPE),
    ("matrix", TYPE),
    ("simplex", TYPE),
    ("ordered", TYPE),
    ("positive", TYPE),
    ("positive_ordered", TYPE),
    (
        "model",
        "priors stand beside their parameters, as in `a ~ normal(0, 1)`, and the likelihood in the section `rows`",
    ),
    ("likelihood", "the likelihood stands in the section `rows`"),
    (
        "prior",
        "priors stand beside their parameters, as in `a ~ normal(0, 1)`",
    ),
    (
        "priors",
        "priors stand beside their parameters, as in `a ~ normal(0, 1)`",
    ),
    (
        "transformed",
        "definitions stand among the parameters, as in `theta = mu + tau * z`, and those of columns in `rows`",
    ),
    (
        "generated",
        "what is reported stands in the section `report`",
    ),
    (
        "functions",
        "definitions stand for functions, as in `theta = mu + tau * z`",
    ),
    (
        "return",
        "a line says what is known of a row or of a parameter, and returns nothing",
    ),
];

const COVARIANCE: &str = "with a known inverse P of the covariance matrix write `-0.5 * dot(x - m, matmul(P, x - m))` in `target`";

/// What stands for distributions of correlation matrices.
const CORRELATION: &str = "with two dimensions take `r in (-1, 1)` as a parameter, and `r * z[1] + sqrt(1 - r^2) * z[2]` of standard normal numbers";

/// Distributions that have another name elsewhere, and what to write.
const DISTRIBUTIONS: [(&str, &str); 27] = [
    (
        "dnorm",
        "write normal(mu, sigma), of a precision tau normal(mu, 1 / sqrt(tau))",
    ),
    ("gaussian", "write normal(mu, sigma)"),
    ("dt", "write student_t(nu, mu, sigma)"),
    ("t", "write student_t(nu, mu, sigma)"),
    ("dlnorm", "write lognormal(mu, sigma)"),
    ("dgamma", "write gamma(shape, rate)"),
    ("dbeta", "write beta(a, b)"),
    ("dunif", "write uniform(lower, upper)"),
    ("dexp", "write exponential(rate)"),
    ("dweib", "write weibull(shape, scale)"),
    ("ddirch", "write dirichlet(alpha)"),
    ("ddexp", "write laplace(mu, sigma)"),
    ("dbern", "write bernoulli(p)"),
    ("dbin", "write binomial(n, p)"),
    ("dpois", "write poisson(rate)"),
    ("dnegbin", "write neg_binomial_2(mu, phi)"),
    ("neg_binomial", "write neg_binomial_2(mu, phi)"),
    ("multi_normal", COVARIANCE),
    ("multi_normal_prec", COVARIANCE),
    ("dmnorm", COVARIANCE),
    ("multi_normal_cholesky", COVARIANCE),
    ("lkj_corr", CORRELATION),
    ("lkj_corr_cholesky", CORRELATION),
    ("lkj_cov", CORRELATION),
    ("wishart", CORRELATION),
    ("inv_wishart", CORRELATION),
    ("inv_chi_square", "write inv_gamma(nu / 2, 0.5)"),
];

/// Functions that have another name elsewhere, and what to write.
const FUNCTIONS: [(&str, &str); 16] = [
    ("pow", "write x^y"),
    ("fabs", "write abs(x)"),
    ("ifelse", "write where(condition, a, b)"),
    ("if_else", "write where(condition, a, b)"),
    ("dot_product", "write dot(a, b)"),
    ("inprod", "write dot(a, b)"),
    ("ilogit", "write logistic(x)"),
    ("plogis", "write logistic(x)"),
    ("qlogis", "write logit(p)"),
    ("inv", "write 1 / x"),
    ("pnorm", "write Phi(x), or normal_cdf(x, mu, sigma)"),
    ("normal_ccdf", "write normal_cdf(-x, -mu, sigma)"),
    ("log10", "write log(x) / log(10)"),
    ("log1m", "write log1p(-x)"),
    ("log_inv_logit", "write -softplus(-x)"),
    ("step", "write a comparison, as in (x > 0)"),
];

/// A sign of two characters or more with which `text` begins, and what to write; none of those that the language has itself.
pub(crate) fn long_sign(text: &str) -> Option<(&'static str, &'static str)> {
    sign(text).filter(|(sign, _)| sign.len() >= LONG)
}

/// A sign with which `text` begins, and what to write for it.
pub(crate) fn sign(text: &str) -> Option<(&'static str, &'static str)> {
    SIGNS.into_iter().find(|(sign, _)| text.starts_with(sign))
}

/// What to write for a line that begins with `word`.
pub(crate) fn beginning(word: &str) -> Option<&'static str> {
    of(&BEGINNINGS, word)
}

/// "; write …" for a distribution of this name elsewhere.
pub(crate) fn distribution(name: &str) -> Option<String> {
    of(&DISTRIBUTIONS, name).map(|advice| format!("; {advice}"))
}

/// "; write …" for a function of this name elsewhere.
pub(crate) fn function(name: &str) -> Option<String> {
    of(&FUNCTIONS, name).map(|advice| format!("; {advice}"))
}

fn of(known: &[(&str, &'static str)], word: &str) -> Option<&'static str> {
    let found = known.iter().find(|(it, _)| *it == word);
    found.map(|(_, advice)| *advice)
}
