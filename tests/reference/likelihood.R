# Likelihood fits without group terms, and of ordered levels with them, against R:
#
#     Rscript likelihood.R
#
# writes likelihood_r.csv (set:name,value):
# - ordered:*, MASS::polr of ordered_data.csv (rating ~ x + w): estimates, standard errors (NAME:se) and log likelihood, made exact by
#   Newton's steps with differences of fourth order;
# - linear:*, lm of lme4/unbalanced.csv (y ~ x), with the log likelihoods by ML and REML;
# - binary:*, glm of lme4/binary.csv (y ~ x), counts:*, glm of lme4/counts.csv (y ~ x + offset(log(e)));
# - judges:*, the maximum of the likelihood of ordinal_data.csv (rating ~ temp + contact + (1 | judge), cumulative logit), each
#   judge's effect integrated numerically, and judges_laplace:*, that of Laplace's approximation of it.
suppressMessages(library(MASS))
suppressMessages(library(lme4))
out <- c()
put <- function(set, values) for (name in names(values)) out[[sprintf("%s:%s", set, name)]] <<- values[[name]]
gradient <- function(f, p, h = 1e-4) sapply(seq_along(p), function(j) {
  e <- replace(numeric(length(p)), j, h)
  (8 * (f(p + e) - f(p - e)) - (f(p + 2 * e) - f(p - 2 * e))) / (12 * h)
})
hessian <- function(f, p, h = 2e-3) {
  g <- sapply(seq_along(p), function(j) {
    e <- replace(numeric(length(p)), j, h)
    (8 * (gradient(f, p + e, h) - gradient(f, p - e, h)) - (gradient(f, p + 2 * e, h) - gradient(f, p - 2 * e, h))) / (12 * h)
  })
  (g + t(g)) / 2
}
with_se <- function(estimates, covariance) {
  se <- sqrt(diag(covariance))
  c(as.list(estimates), setNames(as.list(se), paste0(names(estimates), ":se")))
}

data <- read.csv("ordered_data.csv")
fit <- polr(factor(rating) ~ x + w, data = data, Hess = TRUE, control = list(reltol = 1e-16, maxit = 1000))
log_lik <- function(p) {
  z <- p[1] * data$x + p[2] * data$w
  cuts <- c(-Inf, p[3:5], Inf)
  sum(log(plogis(cuts[data$rating + 1] - z) - plogis(cuts[data$rating] - z)))
}
p <- c(coef(fit), fit$zeta)
for (step in 1:5) p <- p - solve(hessian(log_lik, p), gradient(log_lik, p))
covariance <- solve(-hessian(log_lik, p))
stopifnot(max(abs(p - c(coef(fit), fit$zeta))) < 1e-4, max(abs(covariance / vcov(fit) - 1)) < 1e-2)
names(p) <- c("x", "w", "1|2", "2|3", "3|4")
put("ordered", c(with_se(p, covariance), log_lik = log_lik(p)))

rows <- read.csv("lme4/unbalanced.csv")
fit <- lm(y ~ x, data = rows)
put("linear", c(with_se(coef(fit), vcov(fit)), sigma = sigma(fit), log_lik = as.numeric(logLik(fit)),
  reml = as.numeric(logLik(fit, REML = TRUE)), p = summary(fit)$coefficients["x", 4], df = fit$df.residual))
tight <- list(epsilon = 1e-14, maxit = 100)
fit <- glm(y ~ x, binomial, data = read.csv("lme4/binary.csv"), control = tight)
put("binary", c(with_se(coef(fit), vcov(fit)), log_lik = as.numeric(logLik(fit))))
fit <- glm(y ~ x + offset(log(e)), poisson, data = read.csv("lme4/counts.csv"), control = tight)
put("counts", c(with_se(coef(fit), vcov(fit)), log_lik = as.numeric(logLik(fit))))

wine <- read.csv("ordinal_data.csv")
x <- cbind(wine$temp == "warm", wine$contact == "yes")
by_judge <- split(seq_len(nrow(wine)), wine$judge)
# Coordinates: slopes, first cut point, logarithms of gaps, logarithm of the standard deviation between judges.
unpack <- function(p) list(b = p[1:2], cuts = p[3] + c(0, cumsum(exp(p[4:6]))), sd = exp(p[7]))
joint <- function(u, rows, q) {
  z <- c(x[rows, ] %*% q$b) + q$sd * u
  cuts <- c(-Inf, q$cuts, Inf)
  sum(log(plogis(cuts[wine$rating[rows] + 1] - z) - plogis(cuts[wine$rating[rows]] - z))) + dnorm(u, log = TRUE)
}
mode_of <- function(rows, q) {
  f <- function(u) joint(u, rows, q)
  u <- optimize(f, c(-6, 6), maximum = TRUE, tol = 1e-10)$maximum
  for (step in 1:4) {
    h <- 1e-3
    slope <- (8 * (f(u + h) - f(u - h)) - (f(u + 2 * h) - f(u - 2 * h))) / (12 * h)
    bend <- (-f(u + 2 * h) + 16 * f(u + h) - 30 * f(u) + 16 * f(u - h) - f(u - 2 * h)) / (12 * h^2)
    u <- u - slope / bend
  }
  list(u = u, at = f(u), bend = bend)
}
exact <- function(p) {
  q <- unpack(p)
  sum(sapply(by_judge, function(rows) {
    m <- mode_of(rows, q)
    width <- 1 / sqrt(-m$bend)
    # The trapezoidal rule over the whole line: its error falls faster than any power of the step.
    u <- m$u + width * seq(-12, 12, by = 0.2)
    m$at + log(0.2 * width * sum(exp(sapply(u, joint, rows = rows, q = q) - m$at)))
  }))
}
# The second derivative of a row's log likelihood in closed form: differences of the mode's bend would be differences of differences.
laplace <- function(p) {
  q <- unpack(p)
  sum(sapply(by_judge, function(rows) {
    m <- mode_of(rows, q)
    z <- c(x[rows, ] %*% q$b) + q$sd * m$u
    cuts <- c(-Inf, q$cuts, Inf)
    density <- dlogis(cuts[wine$rating[rows] + 1] - z) + dlogis(cuts[wine$rating[rows]] - z)
    m$at + 0.5 * log(2 * pi) - 0.5 * log(1 + q$sd^2 * sum(density))
  }))
}
for (set in c("judges", "judges_laplace")) {
  f <- if (set == "judges") exact else laplace
  p <- optim(c(1.5, 1, -1, 0.7, 0.5, 0.4, 0), f, method = "BFGS", control = list(fnscale = -1, reltol = 1e-12, maxit = 500))$par
  for (step in 1:3) p <- p - solve(hessian(f, p, 1e-2), gradient(f, p, 1e-3))
  q <- unpack(p)
  # Standard errors of cut points by the delta method.
  map <- diag(7)
  for (k in 2:4) map[2 + k, 3:(2 + k)] <- c(1, exp(p[4:(2 + k)]))
  covariance <- map %*% solve(-hessian(f, p, 1e-2)) %*% t(map)
  values <- setNames(c(q$b, q$cuts), c("temp=warm", "contact=yes", "1|2", "2|3", "3|4", "4|5"))
  put(set, c(with_se(values, covariance[1:6, 1:6]), sd = q$sd, log_lik = f(p)))
}
writeLines(c("name,value", sprintf("%s,%.17g", names(out), unlist(out))), "likelihood_r.csv")
