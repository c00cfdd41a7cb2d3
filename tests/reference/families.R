# Lognormal, Weibull and beta responses against R and Stan:
#
#     Rscript families.R
#
# simulates families_data.csv (180 rows in 15 groups) and writes families_r.csv (family:name,value):
# - density:K, R's log density of row K at the linear predictor 0.3 + 0.2 x and the parameter 1.7, and stan:K, Stan's of the
#   statement that `export --format stan` writes;
# - plain:*, the fit without groups: lm of log y (with the standard deviation that maximises the likelihood), survreg, and
#   glmmTMB for beta responses;
# - laplace:*, the maximum of the Laplace approximation with an intercept per group, of beta responses by glmmTMB;
# - mixed:*, that of the likelihood itself, in closed form for lognormal responses, for others integrated by the trapezoidal rule
#   over 12 standard deviations each way.

suppressPackageStartupMessages({ library(survival); library(glmmTMB); library(rstan) })
set.seed(11)
n <- 180; groups <- 15
g <- (seq_len(n) - 1) %% groups
x <- round(rnorm(n, 2, 1.5), 3)
effect <- 0.5 * rnorm(groups)
eta <- 0.5 + 0.3 * x + effect[g + 1]
data <- data.frame(
  x = x, g = sprintf("g%d", g),
  lognormal = round(exp(eta + 0.7 * rnorm(n)), 4) + 1e-4,
  weibull = round(rweibull(n, 1.6, exp(eta) / gamma(1 + 1 / 1.6)), 4) + 1e-4,
  beta = pmin(pmax(round(rbeta(n, 6 * plogis(eta - 1), 6 * plogis(1 - eta)), 4), 1e-4), 1 - 1e-4)
)
for (name in c("lognormal", "weibull", "beta")) data[[name]] <- round(data[[name]], 4)
write.csv(data, "families_data.csv", row.names = FALSE, quote = FALSE)
out <- c()
put <- function(family, set, values) {
  for (name in names(values)) out[[sprintf("%s:%s:%s", family, set, name)]] <<- values[[name]]
}

density <- list(
  lognormal = function(y, z, sigma) dlnorm(y, z, sigma, log = TRUE),
  weibull = function(y, z, shape) dweibull(y, shape, exp(z - lgamma(1 + 1 / shape)), log = TRUE),
  beta = function(y, z, phi) dbeta(y, plogis(z) * phi, plogis(-z) * phi, log = TRUE)
)
expose_stan_functions(stanc(model_code = "
functions {
  real of_lognormal(real y, real eta, real sigma) { return lognormal_lpdf(y | eta, sigma); }
  real of_weibull(real y, real eta, real shape) { return weibull_lpdf(y | shape, exp(eta - lgamma(1 + 1 / shape))); }
  real of_beta(real y, real eta, real phi) { return beta_proportion_lpdf(y | inv_logit(eta), phi); }
}
model { }"))
stan <- list(lognormal = of_lognormal, weibull = of_weibull, beta = of_beta)
for (family in names(density)) for (k in seq(1, n, by = 30)) {
  at <- list(data[[family]][k], 0.3 + 0.2 * x[k], 1.7)
  put(family, "density", setNames(list(do.call(density[[family]], at)), k - 1))
  put(family, "stan", setNames(list(do.call(stan[[family]], at)), k - 1))
}

fit <- lm(log(lognormal) ~ x, data = data)
put("lognormal", "plain", list(intercept = coef(fit)[[1]], x = coef(fit)[[2]], parameter = sqrt(mean(resid(fit)^2)),
                               log_lik = as.numeric(logLik(fit)) - sum(log(data$lognormal))))
fit <- survreg(Surv(weibull) ~ x, data = data, dist = "weibull", control = survreg.control(rel.tolerance = 1e-14, maxiter = 200))
put("weibull", "plain", list(intercept = coef(fit)[[1]] + lgamma(1 + fit$scale), x = coef(fit)[[2]], parameter = 1 / fit$scale,
                             log_lik = fit$loglik[2]))
tight <- glmmTMBControl(optCtrl = list(rel.tol = 1e-13, x.tol = 1e-11, iter.max = 2000, eval.max = 4000))
fit <- glmmTMB(beta ~ x, family = beta_family(), data = data, control = tight)
put("beta", "plain", list(intercept = fixef(fit)$cond[[1]], x = fixef(fit)$cond[[2]], parameter = sigma(fit),
                          log_lik = as.numeric(logLik(fit))))
fit <- glmmTMB(beta ~ x + (1 | g), family = beta_family(), data = data, control = tight)
put("beta", "laplace", list(intercept = fixef(fit)$cond[[1]], x = fixef(fit)$cond[[2]], sd = sqrt(VarCorr(fit)$cond$g[1]),
                            parameter = sigma(fit), log_lik = as.numeric(logLik(fit))))

nodes <- seq(-12, 12, length.out = 601)
weights <- dnorm(nodes) * (nodes[2] - nodes[1])
of_group <- function(family, p) function(k) {
  rows <- which(g == k)
  log_p <- vapply(nodes, function(node) {
    sum(density[[family]](data[[family]][rows], p[1] + p[2] * x[rows] + exp(p[3]) * node, exp(p[4])))
  }, 0)
  top <- max(log_p)
  top + log(sum(weights * exp(log_p - top)))
}
for (family in names(density)) {
  minus_log_lik <- function(p) {
    value <- -sum(vapply(seq_len(groups) - 1, of_group(family, p), 0))
    if (is.finite(value)) value else 1e10
  }
  start <- c(0.5, 0.3, log(0.5), log(list(lognormal = 0.7, weibull = 1.6, beta = 6)[[family]]))
  found <- optim(start, minus_log_lik, method = "BFGS", control = list(reltol = 1e-14, maxit = 500, ndeps = rep(1e-5, 4)))
  found <- optim(found$par, minus_log_lik, control = list(reltol = 1e-15, maxit = 5000))
  put(family, "mixed", list(intercept = found$par[1], x = found$par[2], sd = exp(found$par[3]), parameter = exp(found$par[4]),
                            log_lik = -found$value))
}
writeLines(c("name,value", sprintf("%s,%.17g", names(out), unlist(out))), "families_r.csv")
