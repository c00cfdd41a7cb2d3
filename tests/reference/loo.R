# Makes the reference numbers of crates/diagnostics/src/loo/tests.rs with the R packages loo and posterior.
#
#   Rscript loo.R [folder]
#
# writes loo_log_lik.csv (model, chain, then the log density of ten rows; one line per draw) and loo.csv
# (model, row, quantity, value; 17 significant digits; row 0 for totals).
#
# Draws are those of a normal mean and of a line with known posterior, correlated along chains, and of the line with noise too
# small for the outlier in the last row, whose weights have no mean. Relative efficiencies are given to loo: in its later
# versions they are posterior's basic effective sample size of exp(log_lik) per draw, before that they were of chains not split.
suppressPackageStartupMessages({ library(loo); library(posterior) })
options(mc.cores = 1)

folder <- commandArgs(trailingOnly = TRUE)
folder <- if (length(folder)) folder[1] else "."
RNGkind("Mersenne-Twister", "Inversion", "Rejection")
set.seed(20261123)
made_by <- sprintf("# made by loo.R: %s, loo %s, posterior %s", R.version.string, packageVersion("loo"), packageVersion("posterior"))

draws <- 150
chains <- 2
x <- seq(-1.35, 1.35, length.out = 10)
y <- c(0.2, 0.7, -0.3, 0.9, 1.1, 0.4, 1.9, 1.0, 2.2, 5.1)
ar1 <- function(phi) {
  as.vector(sapply(seq_len(chains), function(j) {
    as.numeric(stats::filter(rnorm(draws, sd = sqrt(1 - phi^2)), phi, "recursive", init = rnorm(1)))
  }))
}
normal <- function(mean, sd) sapply(seq_along(y), function(i) dnorm(y[i], mean[, i], sd, log = TRUE))
line <- function(sd, phi) {
  design <- cbind(1, x)
  covariance <- solve(crossprod(design)) * sd^2
  middle <- solve(crossprod(design), crossprod(design, y))
  noise <- cbind(ar1(phi), ar1(phi)) %*% chol(covariance)
  normal(t(design %*% (as.vector(middle) + t(noise))), sd)
}
models <- list(
  mean  = normal(matrix(mean(y) + 1.5 / sqrt(10) * ar1(0.6), chains * draws, 10), 1.5),
  line  = line(1.1, 0.3),
  tight = line(0.35, 0)
)
# What is read is what was computed from.
models <- lapply(models, function(m) signif(m, 7))

chain <- rep(seq_len(chains), each = draws)
path <- file.path(folder, "loo_log_lik.csv")
cat(made_by, "\n", sep = "", file = path)
for (name in names(models)) {
  write.table(data.frame(name, chain, models[[name]]), path, append = TRUE, sep = ",", quote = FALSE,
              row.names = FALSE, col.names = FALSE)
}

rows <- list()
put <- function(model, row, quantity, value) {
  rows[[length(rows) + 1]] <<- sprintf("%s,%d,%s,%.17g", model, row, quantity, value)
}
fits <- lapply(names(models), function(name) {
  ll <- models[[name]]
  r_eff <- apply(ll, 2, function(l) ess_basic(matrix(exp(l), draws, chains)) / length(l))
  fit <- suppressWarnings(loo(ll, r_eff = r_eff, save_psis = TRUE))
  wide <- suppressWarnings(waic(ll))
  lw <- weights(fit$psis_object, normalize = TRUE, log = FALSE)
  for (i in seq_along(y)) {
    put(name, i, "elpd", fit$pointwise[i, "elpd_loo"])
    put(name, i, "p", fit$pointwise[i, "p_loo"])
    put(name, i, "k", fit$pointwise[i, "influence_pareto_k"])
    put(name, i, "p_waic", wide$pointwise[i, "p_waic"])
    # Monte Carlo variance of the weighted mean, taken to the scale of logarithms by the log-normal with these moments.
    elpd <- exp(fit$pointwise[i, "elpd_loo"])
    put(name, i, "mc_variance", log(1 + sum(lw[, i]^2 * (exp(ll[, i]) - elpd)^2) / r_eff[i] / elpd^2))
  }
  for (quantity in c("elpd_loo", "p_loo", "looic")) {
    put(name, 0, quantity, fit$estimates[quantity, "Estimate"])
    put(name, 0, paste0("se_", quantity), fit$estimates[quantity, "SE"])
  }
  for (quantity in c("elpd_waic", "p_waic", "waic")) {
    put(name, 0, quantity, wide$estimates[quantity, "Estimate"])
    put(name, 0, paste0("se_", quantity), wide$estimates[quantity, "SE"])
  }
  fit
})
names(fits) <- names(models)
comparison <- suppressWarnings(loo_compare(fits))
for (name in names(models)) {
  put(name, 0, "elpd_diff", comparison[name, "elpd_diff"])
  put(name, 0, "se_diff", comparison[name, "se_diff"])
}
elpd <- sapply(fits, function(fit) fit$pointwise[, "elpd_loo"])
by_loo <- as.numeric(stacking_weights(elpd))
for (k in seq_along(models)) put(names(models)[k], 0, "stacking_loo", by_loo[k])
# loo's search ends early; of two models the root of the derivative is exact.
slope <- function(w) sum((exp(elpd[, 2]) - exp(elpd[, 3])) / (w * exp(elpd[, 2]) + (1 - w) * exp(elpd[, 3])))
share <- uniroot(slope, c(1e-9, 1 - 1e-9), tol = 1e-15, maxiter = 10000)$root
put("line", 0, "stacking_of_two", share)
put("tight", 0, "stacking_of_two", 1 - share)
writeLines(c(made_by, "model,row,quantity,value", unlist(rows)), file.path(folder, "loo.csv"))
