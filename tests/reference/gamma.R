# The gamma family against R and Stan, with the data of gamma.py:
#
#     Rscript gamma.R
#
# writes gamma_r.csv (name,value):
# - glm:*, glm(family = Gamma(link = "log")), with the shape that maximises the likelihood (MASS::gamma.shape);
# - laplace:*, the maximum of the Laplace approximation with an intercept per group (glmmTMB). glmer maximises something else:
#   its dispersion is an estimate from residuals and no parameter of the likelihood, so its fits are not comparable;
# - stan:K, Stan's log density of row K as `export --format stan` writes it, at the linear predictor 0.3 + 0.5 x, shape 2.5.

suppressPackageStartupMessages({ library(MASS); library(glmmTMB); library(rstan) })
data <- read.csv("gamma_data.csv")
out <- list()

fit <- glm(y ~ x, family = Gamma(link = "log"), data = data, control = list(epsilon = 1e-15, maxit = 500))
shape <- gamma.shape(fit, it.lim = 500, eps.max = 1e-13)$alpha
out[["glm:intercept"]] <- coef(fit)[[1]]
out[["glm:x"]] <- coef(fit)[[2]]
out[["glm:shape"]] <- shape
out[["glm:log_lik"]] <- sum(dgamma(data$y, shape, shape / fitted(fit), log = TRUE))

fit <- glmmTMB(y ~ x + (1 | g), family = Gamma(link = "log"), data = data,
               control = glmmTMBControl(optCtrl = list(rel.tol = 1e-15, x.tol = 1e-12, iter.max = 2000, eval.max = 4000)))
out[["laplace:intercept"]] <- fixef(fit)$cond[[1]]
out[["laplace:x"]] <- fixef(fit)$cond[[2]]
out[["laplace:sd"]] <- sqrt(VarCorr(fit)$cond$g[1])
out[["laplace:shape"]] <- 1 / sigma(fit)^2
out[["laplace:log_lik"]] <- as.numeric(logLik(fit))

expose_stan_functions(stanc(model_code = "
functions {
  real of_row(real y, real eta, real shape) { return gamma_lpdf(y | shape, shape / exp(eta)); }
}
model { }"))
for (k in seq(1, nrow(data), by = 30))
  out[[sprintf("stan:%d", k - 1)]] <- of_row(data$y[k], 0.3 + 0.5 * data$x[k], 2.5)

lines <- sprintf("%s,%.17g", names(out), unlist(out))
writeLines(c("name,value", lines), "gamma_r.csv")
