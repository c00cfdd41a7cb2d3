# Makes the reference numbers of crates/analysis/src/loo/subsample.rs with the R package loo.
#
#   Rscript loo_subsample.R [folder]
#
# writes loo_subsample.csv (what, row, value; 17 significant digits): approximations of all rows, the values of the rows that were
# drawn, and estimate, standard error and standard error by the choice of rows, of the difference estimator (loo:::srs_diff_est,
# which loo_subsample uses for elpd_loo) and of simple random sampling (loo:::srs_est, which it uses for p_loo).
suppressPackageStartupMessages(library(loo))

folder <- commandArgs(trailingOnly = TRUE)
folder <- if (length(folder)) folder[1] else "."
RNGkind("Mersenne-Twister", "Inversion", "Rejection")
set.seed(20261124)

n <- 120
m <- 15
approximate <- signif(-1.4 - rgamma(n, 2), 7)
rows <- sort(sample.int(n, m))
values <- signif(approximate[rows] - 0.05 - 0.2 * rexp(m), 7)
estimates <- list(difference = loo:::srs_diff_est(approximate, values, rows), plain = loo:::srs_est(values, approximate))

path <- file.path(folder, "loo_subsample.csv")
cat(sprintf("# made by loo_subsample.R: %s, loo %s\n", R.version.string, packageVersion("loo")), file = path)
cat("what,row,value\n", file = path, append = TRUE)
put <- function(what, row, value) cat(sprintf("%s,%d,%.17g\n", what, row, value), file = path, append = TRUE)
for (i in seq_len(n)) put("approximate", i, approximate[i])
for (k in seq_len(m)) put("value", rows[k], values[k])
for (name in names(estimates)) {
  it <- estimates[[name]]
  put(name, 0, it$y_hat)
  put(name, 0, sqrt(it$hat_v_y))
  put(name, 0, sqrt(it$v_y_hat))
}
