# Makes the reference numbers of crates/diagnostics/src/loo/moment_match/tests.rs with the R package loo.
#
#   Rscript loo_moment_match.R [folder]
#
# writes loo_moment_match_data.csv (model,x,y), loo_moment_match_draws.csv (model, then the draws of three unconstrained
# parameters, 0 where there are two) and loo_moment_match.csv (model,row,quantity,value; 17 significant digits).
#
# Models are a line with normal noise whose logarithm is the third parameter, its posterior drawn exactly, and a logistic line,
# drawn by a long Metropolis chain; both with flat priors and with outliers. Pareto k and elpd are those of moment matching
# without the split, and with it; loo 2.5.1 splits by an inverse map that is one only where nothing but shifts was done, so
# that "elpd_split" is made with the exact inverse in its place, everything else being loo's.
suppressPackageStartupMessages(library(loo))
options(mc.cores = 1)
folder <- commandArgs(trailingOnly = TRUE)
folder <- if (length(folder)) folder[1] else "."
RNGkind("Mersenne-Twister", "Inversion", "Rejection")
set.seed(20211)
made_by <- sprintf("# made by loo_moment_match.R: %s, loo %s", R.version.string, packageVersion("loo"))

inverse <- function(upars, mean_original, total_shift, total_scaling, total_mapping) {
  back <- sweep(upars, 2, mean_original + total_shift, "-")
  back <- tcrossprod(back, solve(total_mapping))
  back <- sweep(back, 2, total_scaling, "/")
  sweep(back, 2, mean_original, "+")
}
split_as_is <- loo:::loo_moment_match_split
split_exactly <- split_as_is
at <- grep("attributes\\(upars_trans_inv\\)", sapply(as.list(body(split_as_is)), function(e) paste(deparse(e), collapse = "")))
stopifnot(length(at) == 1)
body(split_exactly)[[at]] <- quote(upars_trans_inv <- inverse(upars, mean_original, total_shift, total_scaling, total_mapping))
environment(split_exactly) <- list2env(list(inverse = inverse), parent = asNamespace("loo"))

S <- 1000
n <- 20
x <- round(seq(-1.9, 1.9, length.out = n), 2)
y <- round(0.5 + 0.8 * x + rnorm(n, 0, 0.6), 2)
y[20] <- 5.2
y[3] <- -4.1
design <- cbind(1, x)
fit <- lm.fit(design, y)
rest <- sum(fit$residuals^2)
sigma <- sqrt(rest / rchisq(S, n - 2))
root <- t(chol(solve(crossprod(design))))
line <- cbind(t(fit$coefficients + root %*% matrix(rnorm(2 * S), 2) * rep(sigma, each = 2)), log(sigma))

xb <- round(c(seq(-2, 2, length.out = 15), 6), 2)
yb <- c(0, 0, 0, 1, 0, 0, 1, 0, 1, 1, 0, 1, 1, 1, 1, 0)
log_logistic <- function(b) sum(ifelse(yb == 1, plogis(b[1] + b[2] * xb, log.p = TRUE), plogis(-b[1] - b[2] * xb, log.p = TRUE)))
now <- c(0, 0.5)
logistic <- matrix(0, S, 3)
for (s in seq_len(S)) {
  for (step in 1:20) {
    proposed <- now + rnorm(2, 0, c(0.8, 0.5))
    if (log(runif(1)) < log_logistic(proposed) - log_logistic(now)) now <- proposed
  }
  logistic[s, 1:2] <- now
}
line <- signif(line, 10)
logistic <- signif(logistic, 10)

models <- list(
  line = list(x = x, y = y, draws = line, dim = 3, log_lik = function(u, i) dnorm(y[i], u[, 1] + u[, 2] * x[i], exp(u[, 3]), log = TRUE)),
  logistic = list(x = xb, y = yb, draws = logistic, dim = 2,
                  log_lik = function(u, i) plogis((2 * yb[i] - 1) * (u[, 1] + u[, 2] * xb[i]), log.p = TRUE))
)
# What a posterior without a row expects of it, exactly: a t distribution; and sums over a fine grid.
exact <- list(
  line = function(i) {
    without <- lm.fit(design[-i, ], y[-i])
    df <- n - 3
    scale <- sqrt(sum(without$residuals^2) / df * (1 + drop(design[i, ] %*% solve(crossprod(design[-i, ])) %*% design[i, ])))
    dt((y[i] - sum(design[i, ] * without$coefficients)) / scale, df, log = TRUE) - log(scale)
  },
  logistic = function(i) {
    grid <- as.matrix(expand.grid(seq(-12, 12, by = 0.04), seq(-4, 16, by = 0.04)))
    all <- sapply(seq_along(yb), function(j) plogis((2 * yb[j] - 1) * (grid[, 1] + grid[, 2] * xb[j]), log.p = TRUE))
    rest <- rowSums(all[, -i])
    rest <- exp(rest - max(rest))
    log(sum(rest * exp(all[, i])) / sum(rest))
  }
)
rows <- list()
put <- function(model, row, quantity, value)
  rows[[length(rows) + 1]] <<- sprintf("%s,%d,%s,%.17g", model, row, quantity, value)
for (name in names(models)) {
  m <- models[[name]]
  upars <- m$draws[, seq_len(m$dim), drop = FALSE]
  N <- length(m$y)
  all_rows <- function(u) sapply(seq_len(N), function(i) m$log_lik(u, i))
  ll <- all_rows(upars)
  r_eff <- apply(ll, 2, function(l) relative_eff(array(exp(l), c(S, 1, 1))))
  before <- suppressWarnings(loo(ll, r_eff = r_eff))
  matched <- function(split) suppressWarnings(loo_moment_match(
    m, before, post_draws = function(x, ...) x$draws, log_lik_i = function(x, i, ...) matrix(ll[, i], S, 1),
    unconstrain_pars = function(x, pars, ...) upars, log_prob_upars = function(x, upars, ...) rowSums(all_rows(upars)),
    log_lik_i_upars = function(x, upars, i, ...) x$log_lik(upars, i), split = split))
  whole <- matched(FALSE)
  as_is <- matched(TRUE)
  assignInNamespace("loo_moment_match_split", split_exactly, "loo")
  exactly <- matched(TRUE)
  assignInNamespace("loo_moment_match_split", split_as_is, "loo")
  for (i in which(before$diagnostics$pareto_k > 0.7)) {
    put(name, i, "efficiency", r_eff[i])
    put(name, i, "k_before", before$diagnostics$pareto_k[i])
    put(name, i, "elpd_before", before$pointwise[i, "elpd_loo"])
    put(name, i, "k", whole$diagnostics$pareto_k[i])
    put(name, i, "elpd_whole", whole$pointwise[i, "elpd_loo"])
    put(name, i, "elpd_as_is", as_is$pointwise[i, "elpd_loo"])
    put(name, i, "elpd_split", exactly$pointwise[i, "elpd_loo"])
    put(name, i, "elpd_exact", exact[[name]](i))
  }
}
write.csv(do.call(rbind, lapply(names(models), function(name) data.frame(model = name, x = models[[name]]$x, y = models[[name]]$y))),
          file.path(folder, "loo_moment_match_data.csv"), row.names = FALSE, quote = FALSE)
path <- file.path(folder, "loo_moment_match_draws.csv")
cat(made_by, "\n", sep = "", file = path)
for (name in names(models))
  write.table(data.frame(name, formatC(models[[name]]$draws, digits = 10, format = "g", width = 1)), path, append = TRUE, sep = ",",
              quote = FALSE, row.names = FALSE, col.names = FALSE)
writeLines(c(made_by, "model,row,quantity,value", unlist(rows)), file.path(folder, "loo_moment_match.csv"))
