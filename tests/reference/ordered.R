# Levels with an order against R:
#
#     Rscript ordered.R
#
# simulates ordered_data.csv (240 rows: rating 1 to 4, x, w) and writes ordered_r.csv (set:name,value):
# - polr:*, the maximum of the likelihood by MASS::polr, made exact by Newton's steps;
# - posterior:*, mean, its Monte Carlo standard error and standard deviation under the priors normal(0, 2.5) of slopes and
#   student_t(3, 0, 2.5) of thresholds, by importance sampling from a multivariate t around the mode, in coordinates where the
#   first threshold and the logarithms of the steps between thresholds are free.

library(MASS)
set.seed(31)
n <- 240
x <- round(rnorm(n), 3)
w <- round(rnorm(n, 1, 2), 3)
latent <- 0.9 * x - 0.4 * w + rlogis(n)
rating <- findInterval(latent, c(-1.5, 0.2, 1.3)) + 1
data <- data.frame(rating = rating, x = x, w = w)
write.csv(data, "ordered_data.csv", row.names = FALSE, quote = FALSE)
out <- c()
put <- function(set, values) for (name in names(values)) out[[sprintf("%s:%s", set, name)]] <<- values[[name]]

thresholds <- function(u) u[1] + c(0, cumsum(exp(u[-1])))
log_lik <- function(p) {
  z <- p[1] * x + p[2] * w
  cuts <- c(-Inf, thresholds(p[3:5]), Inf)
  sum(log(plogis(cuts[rating + 1] - z) - plogis(cuts[rating] - z)))
}
log_posterior <- function(p) {
  cuts <- thresholds(p[3:5])
  log_lik(p) + sum(dnorm(p[1:2], 0, 2.5, log = TRUE)) + sum(dt(cuts / 2.5, 3, log = TRUE)) + p[4] + p[5]
}
fit <- polr(factor(rating) ~ x + w, data = data, control = list(reltol = 1e-16, maxit = 1000))
start <- c(coef(fit), fit$zeta[[1]], log(diff(fit$zeta)))
gradient <- function(f, p, h = 1e-4) sapply(seq_along(p), function(j) {
  e <- replace(numeric(length(p)), j, h)
  (8 * (f(p + e) - f(p - e)) - (f(p + 2 * e) - f(p - 2 * e))) / (12 * h)
})
newton <- function(f, p) {
  for (step in 1:20) p <- p - solve(optimHess(p, f, control = list(ndeps = rep(1e-4, length(p)))), gradient(f, p))
  p
}
best <- newton(log_lik, start)
cuts <- thresholds(best[3:5])
stopifnot(max(abs(c(best[1:2], cuts) - c(coef(fit), fit$zeta))) < 1e-4, abs(log_lik(best) - as.numeric(logLik(fit))) < 1e-8)
put("polr", list(x = best[1], w = best[2], `c[1]` = cuts[1], `c[2]` = cuts[2], `c[3]` = cuts[3], log_lik = log_lik(best)))

mode <- newton(log_posterior, start)
covariance <- solve(-optimHess(mode, log_posterior, control = list(ndeps = rep(1e-4, 5))))
draws <- 200000
root <- t(chol(1.2 * covariance))
t_draws <- matrix(rnorm(5 * draws), 5) / rep(sqrt(rchisq(draws, 7) / 7), each = 5)
at <- mode + root %*% t_draws
log_proposal <- -0.5 * 12 * log1p(colSums(t_draws^2) / 7)
log_w <- apply(at, 2, log_posterior) - log_proposal
weight <- exp(log_w - max(log_w)); weight <- weight / sum(weight)
stopifnot(1 / sum(weight^2) > 0.5 * draws)
values <- rbind(at[1:2, ], apply(at[3:5, ], 2, thresholds))
labels <- c("x", "w", "c[1]", "c[2]", "c[3]")
for (j in 1:5) {
  mean <- sum(weight * values[j, ])
  sd <- sqrt(sum(weight * (values[j, ] - mean)^2))
  put("posterior", setNames(list(mean, sqrt(sum(weight^2 * (values[j, ] - mean)^2)), sd), paste0(labels[j], c("", ":mcse", ":sd"))))
}
writeLines(c("name,value", sprintf("%s,%.17g", names(out), unlist(out))), "ordered_r.csv")
