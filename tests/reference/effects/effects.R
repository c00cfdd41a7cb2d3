# Makes the reference numbers of crates/analysis/src/effects/tests.rs: average marginal effects and contrasts of a logistic and of a
# Poisson regression with interactions, by plain R from the draws that this script writes. No packages.
#
#   Rscript effects.R [folder]
#
# writes data.csv, draws_logistic.csv and draws_poisson.csv (4 chains of 60 draws, one after the other), and effects.csv
# (model, predictor, contrast, by, and over draws: mean, sd, 5 %, 50 %, 95 % quantiles, share above 0), and along.csv (model, predictor,
# others, by, at, and mean, sd and quantiles of the expected outcome there, with the others typical or averaged over the rows).
# Slopes are exact derivatives by hand, not differences.
folder <- commandArgs(trailingOnly = TRUE)
folder <- if (length(folder)) folder[1] else "."
RNGkind("Mersenne-Twister", "Inversion", "Rejection")
set.seed(20261123)

n <- 90
data <- data.frame(
  x = round(rnorm(n, 3, 1.5), 3),
  z = round(rexp(n, 0.5) + 0.05, 3),
  f = sample(c("a", "b", "c"), n, TRUE, c(0.5, 0.3, 0.2)),
  t = rbinom(n, 1, 0.4),
  e = round(runif(n, 0.5, 4), 2)
)
eta <- with(data, -1 + 0.4 * x - 0.5 * (f == "b") + 0.8 * (f == "c") - 0.3 * x * (f == "c") + 0.6 * log(z) + 0.5 * t)
data$y <- rbinom(n, 1, plogis(eta))
rate <- with(data, exp(0.2 + 0.1 * x - 0.2 * z + 0.08 * x * z + 0.3 * (f == "b")))
data$k <- rpois(n, data$e * rate)
write.csv(data, file.path(folder, "data.csv"), row.names = FALSE, quote = FALSE)

digits <- function(x) formatC(x, digits = 17, format = "g")
draws <- function(fit, names, file) {
  b <- matrix(rnorm(240 * length(names)), 240) %*% chol(vcov(fit))
  b <- sweep(b, 2, coef(fit), "+")
  text <- apply(b, 2, digits)
  writeLines(c(paste(names, collapse = ","), apply(text, 1, paste, collapse = ",")), file.path(folder, file))
  # What the file says is what is computed with.
  b <- matrix(as.numeric(text), nrow(b))
  colnames(b) <- names(coef(fit))
  b
}

logistic <- glm(y ~ x * f + log(z) + t, binomial, data)
poisson <- glm(k ~ x * z + f + offset(log(e)), poisson, data)
b <- draws(logistic, c("b[Intercept]", "b[x]", "b[f=b]", "b[f=c]", "b[log(z)]", "b[t]", "b[x:f=b]", "b[x:f=c]"),
           "draws_logistic.csv")
g <- draws(poisson, c("b[Intercept]", "b[x]", "b[z]", "b[f=b]", "b[f=c]", "b[x:z]"), "draws_poisson.csv")

# Expected outcomes, draws by rows.
p <- function(d) plogis(b %*% t(model.matrix(~ x * f + log(z) + t, d)))
m <- function(d) exp(sweep(g %*% t(model.matrix(~ x * z + f, d)), 2, log(d$e), "+"))
with_column <- function(d, name, value) {
  d[[name]] <- if (name == "f") factor(value, c("a", "b", "c")) else value
  d
}
data$f <- factor(data$f)

rows <- list()
tell <- function(model, predictor, contrast, values, by = "") {
  effect <- rowMeans(values)
  rows[[length(rows) + 1]] <<- c(model, predictor, contrast, by, digits(c(
    mean(effect), sd(effect), quantile(effect, c(0.05, 0.5, 0.95)), mean(effect > 0)
  )))
}
differences <- function(model, expected, numbers, levels, base, by = "") {
  for (name in numbers) {
    for (step in c("1 more", "1 sd more")) {
      more <- with_column(base, name, base[[name]] + if (step == "1 more") 1 else sd(data[[name]]))
      tell(model, name, step, expected(more) - expected(base), by)
    }
  }
  for (pair in levels) {
    to <- function(level) expected(with_column(base, pair[1], if (pair[1] == "t") as.numeric(level) else level))
    tell(model, pair[1], paste(pair[2], "-", pair[3]), to(pair[2]) - to(pair[3]), by)
  }
}
of_f <- list(c("f", "b", "a"), c("f", "c", "a"), c("f", "c", "b"))

differences("logistic", p, c("x", "z"), c(of_f, list(c("t", "1", "0"))), data)
q <- p(data) * (1 - p(data))
slope <- function(d) b[, "x"] + outer(b[, "x:fb"], as.numeric(d$f == "b")) + outer(b[, "x:fc"], as.numeric(d$f == "c"))
tell("logistic", "x", "slope", q * slope(data))
tell("logistic", "z", "slope", q * outer(b[, "log(z)"], 1 / data$z))
for (level in c("a", "b", "c")) {
  at <- with_column(data, "f", rep(level, n))
  differences("logistic", p, c("x", "z"), list(), at, paste0("f=", level))
  tell("logistic", "x", "slope", p(at) * (1 - p(at)) * slope(at), paste0("f=", level))
}

differences("poisson", m, c("x", "z"), of_f, data)
tell("poisson", "x", "slope", m(data) * (g[, "x"] + outer(g[, "x:z"], data$z)))
tell("poisson", "z", "slope", m(data) * (g[, "z"] + outer(g[, "x:z"], data$x)))

writeLines(c("model,predictor,contrast,by,mean,sd,q5,q50,q95,p_above", sapply(rows, paste, collapse = ",")),
           file.path(folder, "effects.csv"))

# Expected outcomes along a predictor.
typical <- data.frame(
  x = mean(data$x), z = mean(data$z), f = factor(names(which.max(table(data$f))), c("a", "b", "c")), t = round(mean(data$t)),
  e = mean(data$e)
)
rows <- list()
follow <- function(model, expected, name, others, by, base) {
  for (at in seq(min(data[[name]]), max(data[[name]]), length.out = 5)) {
    value <- rowMeans(expected(with_column(base, name, rep(at, nrow(base)))))
    rows[[length(rows) + 1]] <<- c(model, name, others, by, digits(c(
      at, mean(value), sd(value), quantile(value, c(0.05, 0.5, 0.95))
    )))
  }
}
for (level in c("a", "b", "c")) follow("logistic", p, "x", "typical", level, with_column(typical, "f", level))
follow("logistic", p, "z", "rows", "", data)
follow("poisson", m, "z", "typical", "", typical)
follow("poisson", m, "x", "rows", "", data)
writeLines(c("model,predictor,others,by,at,mean,sd,q5,q50,q95", sapply(rows, paste, collapse = ",")),
           file.path(folder, "along.csv"))
