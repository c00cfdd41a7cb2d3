# Maxima of likelihoods of mixed models with two effects per group, each group's integral by the trapezoidal rule on a fine grid,
# and of cattle herds (cbpp of lme4; Lesnoff et al. 2004) by lme4 with 25 nodes:
#
#     Rscript integrals.R .
#
# reads lme4/counts.csv and writes integrals_binary.csv and integrals_cbpp.csv (data) and integrals_r.csv (name,value).

suppressPackageStartupMessages({
  library(lme4)
  library(numDeriv)
})
out <- commandArgs(trailingOnly = TRUE)[1]
rows <- list()
add <- function(fit, name, value)
  rows[[length(rows) + 1]] <<- data.frame(name = paste(fit, name, sep = ":"),
                                          value = trimws(formatC(value, digits = 17, format = "g")))

# ---- two effects ----
# u ~ N(0, I) on a grid within 7.5 standard deviations, far finer than any group knows its effects.
fit_two <- function(id, d, log_p, start, step) {
  axis <- seq(-7.5, 7.5, by = step)
  grid <- as.matrix(expand.grid(axis, axis))
  prior <- rowSums(dnorm(grid, log = TRUE)) + 2 * log(step)
  groups <- split(d, d$g)
  minus_log_lik <- function(at) {
    # Intercept, slope, and the Cholesky factor of the covariance of effects by columns.
    lambda <- matrix(c(at[3], at[4], 0, at[5]), 2)
    b <- grid %*% t(lambda)
    -sum(vapply(groups, function(own) {
      # The slope is the second factor.
      terms <- prior
      for (i in seq_len(nrow(own)))
        terms <- terms + log_p(own$y[i], at[1] + at[2] * own$x[i] + own$offset[i] + b[, 1] + b[, 2] * own$x[i])
      largest <- max(terms)
      largest + log(sum(exp(terms - largest)))
    }, 0))
  }
  at <- optim(start, minus_log_lik, method = "BFGS", control = list(reltol = 1e-12, maxit = 200))$par
  for (round in 1:2) {
    H <- hessian(minus_log_lik, at)
    at <- at - solve(H, grad(minus_log_lik, at))
  }
  H <- hessian(minus_log_lik, at)
  covariance <- solve(H)
  sigma <- tcrossprod(matrix(c(at[3], at[4], 0, at[5]), 2))
  add(id, c("intercept", "x"), at[1:2])
  add(id, c("intercept_se", "x_se"), sqrt(diag(covariance))[1:2])
  add(id, c("sd_intercept", "sd_x"), sqrt(diag(sigma)))
  add(id, "correlation", cov2cor(sigma)[1, 2])
  add(id, "log_lik", -minus_log_lik(at))
}
counts <- read.csv(file.path(out, "lme4", "counts.csv"))
counts$offset <- log(counts$e)
fit_two("counts", counts, function(y, eta) dpois(y, exp(eta), log = TRUE), c(0.6, 0.5, 0.5, 0.1, 0.3), 0.075)
RNGkind("Mersenne-Twister", "Inversion", "Rejection")
set.seed(10)
g <- rep(1:25, each = 12)
x <- round(rnorm(300), 3)
binary <- data.frame(g = sprintf("g%02d", g), x = x)
binary$y <- rbinom(300, 1, plogis(0.4 - 0.7 * x + rnorm(25, 0, 1.2)[g] + rnorm(25, 0, 1)[g] * x))
write.csv(binary, file.path(out, "integrals_binary.csv"), row.names = FALSE, quote = FALSE)
binary$offset <- 0
fit_two("binary", binary, function(y, eta) if (y == 1) -log1p(exp(-eta)) else -log1p(exp(eta)), c(0.3, -0.8, 1, 0.2, 0.5), 0.15)

# ---- cattle herds ----
data(cbpp)
write.csv(cbpp, file.path(out, "integrals_cbpp.csv"), row.names = FALSE, quote = FALSE)
m <- glmer(cbind(incidence, size - incidence) ~ period + (1 | herd), cbpp, binomial, nAGQ = 25,
           control = glmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-10, maxfun = 1e6), tolPwrss = 1e-14,
                                  check.conv.grad = "ignore", check.conv.hess = "ignore", calc.derivs = FALSE))
# The log likelihood itself, which glmer shifts by that of the saturated model: one dimension on a grid.
u <- seq(-8, 8, by = 0.02)
eta <- predict(m, re.form = NA)
sd <- getME(m, "theta")
log_lik <- sum(vapply(split(seq_len(nrow(cbpp)), cbpp$herd), function(own) {
  terms <- dnorm(u, log = TRUE) + log(0.02)
  for (i in own) terms <- terms + dbinom(cbpp$incidence[i], cbpp$size[i], plogis(eta[i] + sd * u), log = TRUE)
  largest <- max(terms)
  largest + log(sum(exp(terms - largest)))
}, 0))
add("cbpp", c("intercept", "period2", "period3", "period4"), fixef(m))
add("cbpp", "sd_intercept", sd)
add("cbpp", "log_lik", log_lik)

write.csv(do.call(rbind, rows), file.path(out, "integrals_r.csv"), row.names = FALSE, quote = FALSE)
