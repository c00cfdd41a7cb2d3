# Data sets that textbooks use, for tests of default settings:
#
#     Rscript textbook.R .
#
# writes <set>.csv from R 4.2 (datasets: ChickWeight, faithful, iris), MASS 7.3 (galaxies) and lme4 1.1-31 (Dyestuff2, grouseticks,
# Pastes); README.md has who collected them, and under which licence they are here. `levels` and `sites` are simulated, and so is
# `plants`, by plants.py.

suppressPackageStartupMessages({library(lme4); library(MASS)})
out <- commandArgs(trailingOnly = TRUE)[1]
RNGkind("Mersenne-Twister", "Inversion", "Rejection")
save_set <- function(name, d) write.csv(as.data.frame(d), file.path(out, paste0(name, ".csv")), row.names = FALSE, quote = FALSE)
save_set("pastes", Pastes[, c("strength", "batch", "cask")])
save_set("dyestuff2", Dyestuff2)
save_set("chickweight", as.data.frame(ChickWeight)[, c("weight", "Time", "Chick", "Diet")])
save_set("grouseticks", grouseticks[, c("TICKS", "YEAR", "cHEIGHT", "BROOD", "INDEX", "LOCATION")])
save_set("faithful", faithful)
save_set("galaxies", data.frame(speed = galaxies / 1000))
save_set("iris", iris)

# A factor of 100 levels.
set.seed(1)
level <- rep(1:100, each = 10)
e <- rnorm(100)
save_set("levels", data.frame(y = round(e[level] + rnorm(1000), 4), g = sprintf("g%03d", level)))

# Counts that tell the effect of every group well.
set.seed(2)
site <- rep(1:200, each = 12)
r <- rnorm(200, 0, 0.7)
save_set("sites", data.frame(obs = rpois(2400, exp(3.5 + r[site])), site = sprintf("s%03d", site)))
