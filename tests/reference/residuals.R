# Binned residuals of bayesplot (ppc_error_binned), for `ergodic check`:
#
#     Rscript residuals.R
#
# writes residuals_data.csv (x, g, yes, z) and residuals.csv
# outcome,along,place,at,observed,sd: the mean of the column in the bin (of a level its name), the mean residual, and the standard
# deviation of that mean under the model. Parameters are known: P(yes) = plogis(-0.4 + 0.8 x), z ~ normal(1 + 2 x, 1.5); data are of other
# parameters, so that residuals follow x and g.

suppressPackageStartupMessages(library(bayesplot))
set.seed(20)
n <- 240
x <- round(rnorm(n), 6)
g <- sample(c("north", "east", "south", "west"), n, replace = TRUE, prob = c(4, 3, 2, 1))
yes <- rbinom(n, 1, plogis(-0.2 + 0.3 * x + 0.5 * (g == "east")))
z <- round(1.2 + 2 * x + 0.4 * x^2 + rnorm(n, 0, 1.5), 6)
write.csv(data.frame(x, g, yes, z), "residuals_data.csv", row.names = FALSE, quote = FALSE)

out <- NULL
add <- function(outcome, expected, sd, y) {
  r <- y - expected
  for (along in c("expected", "x")) {
    by <- if (along == "x") x else expected
    bins <- bayesplot:::n_bins(n)
    errors <- bayesplot:::bin_errors(by, r, bins)
    variances <- bayesplot:::bin_errors(by, sd^2, bins)
    # A mean of variances over the number of rows is the variance of a mean.
    rows <- table(cut(rank(by), c(0, floor(n * (1:bins) / bins))))
    out <<- rbind(out, data.frame(outcome, along, place = seq_len(nrow(errors)) - 1, at = errors$ey_bar,
                                  observed = errors$err_bar, sd = sqrt(variances$err_bar / as.vector(rows))))
  }
  for (level in sort(unique(g)))
    out <<- rbind(out, data.frame(outcome, along = "g", place = level, at = NA, observed = mean(r[g == level]),
                                  sd = sqrt(mean(sd[g == level]^2) / sum(g == level))))
}
p <- plogis(-0.4 + 0.8 * x)
add("yes", p, sqrt(p * (1 - p)), yes)
add("z", 1 + 2 * x, rep(1.5, n), z)
out$at <- trimws(formatC(out$at, digits = 17, format = "g"))
out$observed <- trimws(formatC(out$observed, digits = 17, format = "g"))
out$sd <- trimws(formatC(out$sd, digits = 17, format = "g"))
write.csv(out, "residuals.csv", row.names = FALSE, quote = FALSE)
