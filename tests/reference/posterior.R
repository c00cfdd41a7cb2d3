# Makes the reference numbers of crates/diagnostics/tests/reference.rs with the R package posterior.
#
#   Rscript posterior.R [folder]
#
# writes draws_<set>.csv (one column per chain, one row per iteration, no header except the comment)
# and posterior.csv (set, statistic, value; 17 significant digits; NA where posterior gives none).
suppressPackageStartupMessages(library(posterior))

folder <- commandArgs(trailingOnly = TRUE)
folder <- if (length(folder)) folder[1] else "."
RNGkind("Mersenne-Twister", "Inversion", "Rejection")
set.seed(20260301)
made_by <- sprintf("# made by posterior.R: %s, posterior %s", R.version.string, packageVersion("posterior"))

ar1 <- function(n, chains, phi) {
  sapply(seq_len(chains), function(j) {
    as.numeric(stats::filter(rnorm(n, sd = sqrt(1 - phi^2)), phi, "recursive", init = rnorm(1)))
  })
}

sets <- list(
  iid         = matrix(rnorm(4 * 250), 250, 4),
  ar09        = ar1(400, 4, 0.9),
  ar099       = ar1(300, 4, 0.99),
  antithetic  = ar1(250, 4, -0.7),
  cauchy      = matrix(rcauchy(4 * 250), 250, 4),
  shifted     = ar1(200, 4, 0.5) + rep(c(0, 0, 0.4, 1), each = 200),
  scaled      = ar1(200, 4, 0.5) * rep(c(1, 1, 1, 3), each = 200),
  odd         = ar1(151, 3, 0.6),
  one_chain   = ar1(301, 1, 0.8),
  counts      = matrix(rpois(4 * 200, 3), 200, 4),
  binary      = matrix(rbinom(4 * 200, 1, 0.3), 200, 4),
  # S - 1 is a multiple of 20, so that quantiles fall on draws, with ties around them.
  on_a_draw   = round(ar1(101, 1, 0.5), 1),
  far         = 1e6 + 1e-2 * ar1(200, 4, 0.3),
  skewed      = exp(3 * ar1(200, 2, 0.7)),
  short10     = matrix(rnorm(4 * 10), 10, 4),
  short7      = matrix(rnorm(2 * 7), 7, 2),
  short5      = matrix(rnorm(2 * 5), 5, 2),
  # Not shorter: with 2 or 3 iterations posterior's halves of several chains lose their matrix shape.
  short4      = matrix(rnorm(2 * 4), 4, 2),
  constant    = matrix(2.5, 50, 4),
  one_stuck   = cbind(ar1(100, 3, 0.4), 0.3),
  all_stuck   = matrix(rep(c(1, 2, 3, 4), each = 40), 40, 4),
  half_stuck  = rbind(matrix(0, 40, 2), ar1(40, 2, 0.2))
)

# Definitions that this version of posterior has not got, from their sources.

# Local effective sample size (Vehtari et al. 2021): that of the share of draws between two quantiles.
ess_local <- function(x, k, intervals = 20) {
  inside <- x <= quantile(x, k / intervals)
  if (k > 1) inside <- inside & x > quantile(x, (k - 1) / intervals)
  if (posterior:::should_return_NA(x)) return(NA_real_)
  posterior:::.ess(posterior:::.split_chains(inside))
}

# Nested R-hat (Margossian et al. 2024, equations 15 to 19) of neighbouring chains in groups.
rhat_nested <- function(x, groups) {
  if (posterior:::should_return_NA(x) || ncol(x) %% groups != 0) return(NA_real_)
  group <- rep(seq_len(groups), each = ncol(x) / groups)
  chain_mean <- colMeans(x)
  chain_var <- apply(x, 2, stats::var)
  group_mean <- tapply(chain_mean, group, mean)
  between <- if (ncol(x) == groups) 0 else tapply(chain_mean, group, stats::var)
  within <- tapply(chain_var, group, mean) + between
  sqrt(1 + stats::var(group_mean) / mean(within))
}

# Betancourt (2016), of the first chain.
ebfmi <- function(x) {
  energy <- x[, 1]
  if (posterior:::should_return_NA(energy)) return(NA_real_)
  sum(diff(energy)^2) / sum((energy - mean(energy))^2)
}

statistics <- list(
  mean = mean, sd = stats::sd, median = stats::median, mad = stats::mad,
  q5 = function(x) quantile2(x, 0.05, names = FALSE),
  q50 = function(x) quantile2(x, 0.5, names = FALSE),
  q95 = function(x) quantile2(x, 0.95, names = FALSE),
  q1 = function(x) quantile2(x, 0.01, names = FALSE),
  q975 = function(x) quantile2(x, 0.975, names = FALSE),
  rhat = rhat, rhat_basic = rhat_basic,
  ess_bulk = ess_bulk, ess_tail = ess_tail, ess_mean = ess_mean, ess_sd = ess_sd, ess_basic = ess_basic,
  ess_q5 = function(x) ess_quantile(x, 0.05, names = FALSE),
  ess_q50 = function(x) ess_quantile(x, 0.5, names = FALSE),
  ess_q95 = function(x) ess_quantile(x, 0.95, names = FALSE),
  mcse_mean = mcse_mean, mcse_sd = mcse_sd,
  mcse_q5 = function(x) mcse_quantile(x, 0.05, names = FALSE),
  mcse_q50 = function(x) mcse_quantile(x, 0.5, names = FALSE),
  mcse_q95 = function(x) mcse_quantile(x, 0.95, names = FALSE),
  ess_q25 = function(x) ess_quantile(x, 0.25, names = FALSE),
  inefficiency = function(x) length(x) / ess_mean(x),
  ess_local1 = function(x) ess_local(x, 1),
  ess_local4 = function(x) ess_local(x, 4),
  ess_local10 = function(x) ess_local(x, 10),
  ess_local11 = function(x) ess_local(x, 11),
  ess_local20 = function(x) ess_local(x, 20),
  rhat_nested2 = function(x) rhat_nested(x, 2),
  rhat_nested4 = function(x) rhat_nested(x, 4),
  ebfmi1 = ebfmi
)

number <- function(x) ifelse(is.na(x), "NA", formatC(x, digits = 17, format = "g", width = 1))
out <- c(made_by, "set,statistic,value")
for (name in names(sets)) {
  # Eight significant digits keep the files small; the digits of "far" are where it varies.
  x <- signif(sets[[name]], if (name == "far") 14 else 8)
  file <- file.path(folder, paste0("draws_", name, ".csv"))
  rows <- apply(x, 1, function(row) paste(formatC(row, digits = 15, format = "g", width = 1), collapse = ","))
  writeLines(c(made_by, rows), file)
  x <- as.matrix(read.csv(file, header = FALSE, comment.char = "#"))
  dimnames(x) <- NULL
  for (statistic in names(statistics)) {
    value <- suppressWarnings(statistics[[statistic]](x))
    out <- c(out, paste(name, statistic, number(as.numeric(value)), sep = ","))
  }
}
# The normal quantile and the Beta quantile that the definitions rest on.
p <- c(1e-12, 1e-6, (1:9 - 3 / 8) / 40000.25, 0.01, 0.025, 0.1, 0.3, 0.4999, 0.5, 0.7, 0.999, 1 - 1e-9)
out <- c(out, paste("qnorm", formatC(p, digits = 17, format = "g", width = 1), number(qnorm(p)), sep = ","))
writeLines(out, file.path(folder, "posterior.csv"))
