# Censored Weibull and lognormal responses against R and Stan:
#
#     Rscript censoring.R
#
# simulates censoring_data.csv (180 rows in 15 groups; status `none`, `right` or `left` per family) and writes censoring_r.csv
# (family:set:name,value):
# - density:K, R's log density of row K, or log chance of what is known of it, at the linear predictor 0.3 + 0.2 x and the
#   parameter 1.7, and stan:K, Stan's by the function that `export --format stan` declares;
# - plain:*, the fit without groups by survreg;
# - mixed:*, the maximum of the likelihood with an intercept per group, integrated by the trapezoidal rule over 12 standard
#   deviations each way;
# - posterior:*, mean and standard deviation of a model without predictors and groups, by the trapezoidal rule in the intercept and
#   the logarithm of the parameter, with the priors normal(0, 2.5) and lognormal(0.5, 1).

suppressPackageStartupMessages({ library(survival); library(rstan) })
set.seed(23)
n <- 180; groups <- 15
g <- (seq_len(n) - 1) %% groups
x <- round(rnorm(n, 2, 1.5), 3)
effect <- 0.5 * rnorm(groups)
eta <- 0.5 + 0.3 * x + effect[g + 1]
data <- data.frame(x = x, g = sprintf("g%d", g))
whole <- list(lognormal = exp(eta + 0.7 * rnorm(n)), weibull = rweibull(n, 1.6, exp(eta) / gamma(1 + 1 / 1.6)))
for (family in names(whole)) {
  last <- rexp(n, 1 / 8)
  limit <- 0.6
  y <- pmax(pmin(whole[[family]], last), limit)
  data[[family]] <- round(y, 4)
  data[[paste0("s_", family)]] <- ifelse(whole[[family]] < limit & limit < last, "left", ifelse(whole[[family]] > last & last > limit, "right", "none"))
}
write.csv(data, "censoring_data.csv", row.names = FALSE, quote = FALSE)
out <- c()
put <- function(family, set, values) {
  for (name in names(values)) out[[sprintf("%s:%s:%s", family, set, name)]] <<- values[[name]]
}

beyond <- function(d, p, y, s) ifelse(s == "none", d(y), ifelse(s == "right", p(y, FALSE), p(y, TRUE)))
density <- list(
  lognormal = function(y, s, z, sigma) beyond(
    function(y) dlnorm(y, z, sigma, log = TRUE), function(y, below) plnorm(y, z, sigma, below, log.p = TRUE), y, s),
  weibull = function(y, s, z, shape) {
    scale <- exp(z - lgamma(1 + 1 / shape))
    beyond(function(y) dweibull(y, shape, scale, log = TRUE), function(y, below) pweibull(y, shape, scale, below, log.p = TRUE), y, s)
  }
)
# The functions that translations declare, under names of their own.
code <- "
functions {
  real weibull_censored(real y, real a, real b, int status) {
    if (status == 1) return weibull_lccdf(y | a, b);
    if (status == -1) return weibull_lcdf(y | a, b);
    return weibull_lpdf(y | a, b);
  }
  real lognormal_censored(real y, real a, real b, int status) {
    if (status == 1) return lognormal_lccdf(y | a, b);
    if (status == -1) return lognormal_lcdf(y | a, b);
    return lognormal_lpdf(y | a, b);
  }
  real of_lognormal(real y, int status, real eta, real sigma) { return lognormal_censored(y, eta, sigma, status); }
  real of_weibull(real y, int status, real eta, real shape) {
    return weibull_censored(y, shape, exp(eta - lgamma(1 + 1 / shape)), status);
  }
}
model { }"
expose_stan_functions(stanc(model_code = code))
stan <- list(lognormal = of_lognormal, weibull = of_weibull)
for (family in names(density)) {
  s <- data[[paste0("s_", family)]]
  # The first rows of each status.
  for (k in unlist(lapply(c("none", "right", "left"), function(one) head(which(s == one), 3)))) {
    z <- 0.3 + 0.2 * x[k]
    put(family, "density", setNames(list(density[[family]](data[[family]][k], s[k], z, 1.7)), k - 1))
    code <- c(none = 0L, right = 1L, left = -1L)[[s[k]]]
    put(family, "stan", setNames(list(stan[[family]](data[[family]][k], code, z, 1.7)), k - 1))
  }
}

for (family in names(density)) {
  y <- data[[family]]; s <- data[[paste0("s_", family)]]
  time <- Surv(ifelse(s == "left", NA, y), ifelse(s == "right", NA, y), type = "interval2")
  tight <- survreg.control(rel.tolerance = 1e-14, maxiter = 200)
  fit <- survreg(time ~ x, dist = family, control = tight)
  shift <- if (family == "weibull") lgamma(1 + fit$scale) else 0
  parameter <- if (family == "weibull") 1 / fit$scale else fit$scale
  z <- coef(fit)[[1]] + shift + coef(fit)[[2]] * x
  log_lik <- sum(density[[family]](y, s, z, parameter))
  stopifnot(abs(log_lik - fit$loglik[2]) < 1e-8)
  put(family, "plain", list(intercept = coef(fit)[[1]] + shift, x = coef(fit)[[2]], parameter = parameter, log_lik = log_lik))
}

nodes <- seq(-12, 12, length.out = 601)
weights <- dnorm(nodes) * (nodes[2] - nodes[1])
of_group <- function(family, p) function(k) {
  rows <- which(g == k)
  log_p <- vapply(nodes, function(node) {
    z <- p[1] + p[2] * x[rows] + exp(p[3]) * node
    sum(density[[family]](data[[family]][rows], data[[paste0("s_", family)]][rows], z, exp(p[4])))
  }, 0)
  top <- max(log_p)
  top + log(sum(weights * exp(log_p - top)))
}
for (family in names(density)) {
  minus_log_lik <- function(p) {
    value <- -sum(vapply(seq_len(groups) - 1, of_group(family, p), 0))
    if (is.finite(value)) value else 1e10
  }
  start <- c(0.5, 0.3, log(0.5), log(list(lognormal = 0.7, weibull = 1.6)[[family]]))
  found <- optim(start, minus_log_lik, method = "BFGS", control = list(reltol = 1e-14, maxit = 500, ndeps = rep(1e-5, 4)))
  found <- optim(found$par, minus_log_lik, control = list(reltol = 1e-15, maxit = 5000))
  put(family, "mixed", list(intercept = found$par[1], x = found$par[2], sd = exp(found$par[3]), parameter = exp(found$par[4]),
                            log_lik = -found$value))
}

for (family in names(density)) {
  y <- data[[family]]; s <- data[[paste0("s_", family)]]
  grid <- expand.grid(z = seq(0.2, 2.4, length.out = 441), a = seq(-1.2, 1.5, length.out = 541))
  log_p <- vapply(seq_len(nrow(grid)), function(k) {
    at <- grid[k, ]
    sum(density[[family]](y, s, at$z, exp(at$a))) + dnorm(at$z, 0, 2.5, log = TRUE) + dnorm(at$a, 0.5, 1, log = TRUE)
  }, 0)
  p <- exp(log_p - max(log_p))
  edge <- grid$z %in% range(grid$z) | grid$a %in% range(grid$a)
  stopifnot(max(p[edge]) < 1e-12)
  p <- p / sum(p)
  moments <- function(v) c(sum(p * v), sqrt(sum(p * v^2) - sum(p * v)^2))
  of_z <- moments(grid$z); of_parameter <- moments(exp(grid$a))
  put(family, "posterior", list(intercept = of_z[1], intercept_sd = of_z[2], parameter = of_parameter[1], parameter_sd = of_parameter[2]))
}
writeLines(c("name,value", sprintf("%s,%.17g", names(out), unlist(out))), "censoring_r.csv")
