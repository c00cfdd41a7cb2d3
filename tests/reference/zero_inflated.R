# Zero-inflated counts, and Student-t noise with groups, against R, pscl, glmmTMB and Stan:
#
#     Rscript zero_inflated.R
#
# simulates zero_inflated_data.csv (180 rows in 15 groups) and writes zero_inflated_r.csv (family:set:name,value):
# - density:K, R's log density of row K at the linear predictor 0.3 + 0.2 x, the chance of an extra zero 0.3 and other parameters 1.7,
#   and stan:K, Stan's of the function that `export --format stan` writes;
# - plain:*, the fit without groups of zeroinfl, for Student-t noise the maximum that optim finds;
# - laplace:*, the maximum of the Laplace approximation of zero-inflated counts with an intercept per group, by glmmTMB;
# - mixed:*, that of the likelihood itself, integrated by the trapezoidal rule over 12 standard deviations each way.

suppressPackageStartupMessages({ library(pscl); library(glmmTMB); library(rstan) })
set.seed(12)
n <- 180; groups <- 15
g <- (seq_len(n) - 1) %% groups
x <- round(rnorm(n, 2, 1.5), 3)
effect <- 0.5 * rnorm(groups)
eta <- 0.8 + 0.3 * x + effect[g + 1]
extra <- function() rbinom(n, 1, 0.25)
data <- data.frame(
  x = x, g = sprintf("g%d", g),
  zero_inflated_poisson = ifelse(extra() == 1, 0, rpois(n, exp(eta))),
  zero_inflated_negative_binomial = ifelse(extra() == 1, 0, rnbinom(n, size = 3, mu = exp(eta))),
  student = round(10 * (eta + 0.4 * rt(n, 3)), 4)
)
write.csv(data, "zero_inflated_data.csv", row.names = FALSE, quote = FALSE)
out <- c()
put <- function(family, set, values) {
  for (name in names(values)) out[[sprintf("%s:%s:%s", family, set, name)]] <<- values[[name]]
}

with_zeros <- function(of) function(y, z, p) {
  zi <- p[length(p)]
  own <- of(y, z, p)
  ifelse(y > 0, log1p(-zi) + own, log(zi + (1 - zi) * exp(own)))
}
density <- list(
  zero_inflated_poisson = with_zeros(function(y, z, p) dpois(y, exp(z), log = TRUE)),
  zero_inflated_negative_binomial = with_zeros(function(y, z, p) dnbinom(y, size = p[1], mu = exp(z), log = TRUE)),
  student = function(y, z, p) dt((y - z) / p[1], p[2], log = TRUE) - log(p[1])
)
at <- list(zero_inflated_poisson = 0.3, zero_inflated_negative_binomial = c(1.7, 0.3), student = c(1.7, 1.7))
expose_stan_functions(stanc(model_code = "
functions {
  real zero_inflated_poisson_log_lpmf(int y, real eta, real zi) {
    if (y > 0) {
      return log1m(zi) + poisson_log_lpmf(y | eta);
    }
    return log_mix(zi, 0, poisson_log_lpmf(0 | eta));
  }
  real zero_inflated_neg_binomial_2_log_lpmf(int y, real eta, real shape, real zi) {
    if (y > 0) {
      return log1m(zi) + neg_binomial_2_log_lpmf(y | eta, shape);
    }
    return log_mix(zi, 0, neg_binomial_2_log_lpmf(0 | eta, shape));
  }
  real of_poisson(int y, real eta, real zi) { return zero_inflated_poisson_log_lpmf(y | eta, zi); }
  real of_negative_binomial(int y, real eta, real shape, real zi) {
    return zero_inflated_neg_binomial_2_log_lpmf(y | eta, shape, zi);
  }
  real of_student(real y, real eta, real sigma, real nu) { return student_t_lpdf(y | nu, eta, sigma); }
}
model { }"))
stan <- list(zero_inflated_poisson = of_poisson, zero_inflated_negative_binomial = of_negative_binomial, student = of_student)
for (family in names(density)) for (k in seq(1, n, by = 15)) {
  y <- data[[family]][k]
  z <- 0.3 + 0.2 * x[k]
  put(family, "density", setNames(list(density[[family]](y, z, at[[family]])), k - 1))
  put(family, "stan", setNames(list(do.call(stan[[family]], as.list(c(y, z, at[[family]])))), k - 1))
}

# Coordinates of what a family has besides, and back.
inside <- list(
  zero_inflated_poisson = list(to = qlogis, from = plogis, names = "zi"),
  zero_inflated_negative_binomial = list(to = function(p) c(log(p[1]), qlogis(p[2])), from = function(u) c(exp(u[1]), plogis(u[2])),
                                         names = c("shape", "zi")),
  student = list(to = function(p) c(log(p[1]), log(p[2] - 1)), from = function(u) c(exp(u[1]), 1 + exp(u[2])),
                 names = c("sigma", "nu"))
)
start_at <- list(zero_inflated_poisson = 0.25, zero_inflated_negative_binomial = c(3, 0.25), student = c(4, 3))
best <- function(f, start) {
  steps <- rep(1e-5, length(start))
  found <- optim(start, f, method = "BFGS", control = list(reltol = 1e-14, maxit = 500, ndeps = steps))
  found <- optim(found$par, f, control = list(reltol = 1e-15, maxit = 20000))
  optim(found$par, f, method = "BFGS", control = list(reltol = 1e-15, maxit = 500, ndeps = steps))
}
report <- function(family, set, found, sd) {
  from <- 2 + sd
  values <- list(intercept = found$par[1], x = found$par[2])
  if (sd) values$sd <- exp(found$par[3])
  own <- inside[[family]]$from(found$par[-seq_len(from)])
  for (k in seq_along(own)) values[[inside[[family]]$names[k]]] <- own[k]
  values$log_lik <- -found$value
  put(family, set, values)
}
slope <- list(zero_inflated_poisson = c(0.8, 0.3), zero_inflated_negative_binomial = c(0.8, 0.3), student = c(8, 3))
spread <- list(zero_inflated_poisson = 0.5, zero_inflated_negative_binomial = 0.5, student = 5)
for (family in names(density)) {
  of <- function(p) {
    value <- -sum(density[[family]](data[[family]], p[1] + p[2] * x, inside[[family]]$from(p[-(1:2)])))
    if (is.finite(value)) value else 1e10
  }
  report(family, "plain", best(of, c(slope[[family]], inside[[family]]$to(start_at[[family]]))), FALSE)
}
for (one in list(c("zero_inflated_poisson", "poisson"), c("zero_inflated_negative_binomial", "negbin"))) {
  fit <- zeroinfl(as.formula(paste(one[1], "~ x | 1")), data = data, dist = one[2], control = zeroinfl.control(reltol = 1e-14))
  stopifnot(abs(as.numeric(logLik(fit)) - out[[paste0(one[1], ":plain:log_lik")]]) < 1e-7)
}
tight <- glmmTMBControl(optCtrl = list(rel.tol = 1e-13, x.tol = 1e-11, iter.max = 2000, eval.max = 4000))
for (one in list(list("zero_inflated_poisson", poisson()), list("zero_inflated_negative_binomial", nbinom2()))) {
  fit <- glmmTMB(as.formula(paste(one[[1]], "~ x + (1 | g)")), ziformula = ~1, family = one[[2]], data = data, control = tight)
  values <- list(intercept = fixef(fit)$cond[[1]], x = fixef(fit)$cond[[2]], sd = sqrt(VarCorr(fit)$cond$g[1]))
  if (one[[1]] != "zero_inflated_poisson") values$shape <- sigma(fit)
  put(one[[1]], "laplace", c(values, zi = plogis(fixef(fit)$zi[[1]]), log_lik = as.numeric(logLik(fit))))
}

nodes <- seq(-12, 12, length.out = 601)
weights <- dnorm(nodes) * (nodes[2] - nodes[1])
for (family in names(density)) {
  of_group <- function(p) function(k) {
    rows <- which(g == k)
    own <- inside[[family]]$from(p[-(1:3)])
    log_p <- vapply(nodes, function(node) {
      sum(density[[family]](data[[family]][rows], p[1] + p[2] * x[rows] + exp(p[3]) * node, own))
    }, 0)
    top <- max(log_p)
    top + log(sum(weights * exp(log_p - top)))
  }
  minus_log_lik <- function(p) {
    value <- -sum(vapply(seq_len(groups) - 1, of_group(p), 0))
    if (is.finite(value)) value else 1e10
  }
  report(family, "mixed", best(minus_log_lik, c(slope[[family]], log(spread[[family]]), inside[[family]]$to(start_at[[family]]))), TRUE)
}
writeLines(c("name,value", sprintf("%s,%.17g", names(out), unlist(out))), "zero_inflated_r.csv")
