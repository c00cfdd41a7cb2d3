# Makes the reference answers of tests/answers.rs: five analyses of well-known data, fitted with rstanarm (one by hand in Stan, where
# rstanarm has other priors), and what is asked of them: effects on the outcome scale by hand from the expected outcomes of each draw,
# means at typical predictors by emmeans, and leave-one-out scores by loo. Priors are those that the tests set.
#
#   Rscript answers.R [folder]        needs rstanarm, rstan, emmeans, loo, posterior, lme4, MASS
#
# writes the five tables, and answers.csv: set, what (coefficient, effect, typical, score), of, at, mean over draws, its Monte Carlo
# error, sd over draws, its Monte Carlo error. For scores the mean is elpd_loo and the sd its standard error.
suppressPackageStartupMessages({
  library(rstanarm)
  library(emmeans)
  library(loo)
  library(posterior)
})
folder <- commandArgs(trailingOnly = TRUE)
folder <- if (length(folder)) folder[1] else "."
options(mc.cores = 2)
CHAINS <- 4
ITERATIONS <- 12000
SEED <- 20261123

data(sleepstudy, cbpp, package = "lme4")
data(birthwt, epil, package = "MASS")
birthwt <- birthwt[c("low", "age", "lwt", "race", "smoke", "ptl", "ht", "ui")]
epil <- epil[c("y", "trt", "lbase", "lage", "V4", "subject")]
mtcars <- mtcars[c("mpg", "cyl", "hp", "wt")]
for (name in c("sleepstudy", "cbpp", "birthwt", "epil", "mtcars")) {
  write.csv(get(name), file.path(folder, paste0(name, ".csv")), row.names = FALSE, quote = FALSE)
}

rows <- list()
# `values`: one number per draw, chain after chain.
tell <- function(set, what, of, at, values) {
  chains <- matrix(values, ncol = CHAINS)
  rows[[length(rows) + 1]] <<- data.frame(
    set, what, of, at, mean = mean(values), mcse = mcse_mean(chains), sd = sd(values), mcse_sd = mcse_sd(chains)
  )
}
score <- function(set, of, log_lik) {
  found <- loo(log_lik, r_eff = relative_eff(exp(log_lik)))
  e <- found$estimates["elpd_loo", ]
  error <- sqrt(sum(found$pointwise[, "mcse_elpd_loo"]^2))
  rows[[length(rows) + 1]] <<- data.frame(set, what = "score", of, at = "", mean = e[[1]], mcse = error, sd = e[[2]], mcse_sd = NA)
  found
}
difference <- function(set, of, a, b) {
  e <- b$pointwise[, "elpd_loo"] - a$pointwise[, "elpd_loo"]
  error <- sqrt(sum(a$pointwise[, "mcse_elpd_loo"]^2 + b$pointwise[, "mcse_elpd_loo"]^2))
  rows[[length(rows) + 1]] <<- data.frame(
    set, what = "score", of, at = "difference", mean = sum(e), mcse = error, sd = sqrt(length(e)) * sd(e), mcse_sd = NA
  )
}
by_chain <- function(l) {
  array(l, c(nrow(l) / CHAINS, CHAINS, ncol(l)))
}
coefficients <- function(set, fit, names) {
  draws <- as.matrix(fit)
  for (name in names(names)) tell(set, "coefficient", names[[name]], "", draws[, name])
}
# Mean over the rows of the expected outcome where `change` has changed them.
average <- function(fit, change = identity, ...) rowMeans(posterior_epred(fit, newdata = change(fit$data), ...))
with_value <- function(name, value) function(d) { d[[name]] <- if (is.factor(d[[name]])) factor(value, levels(d[[name]])) else value; d }
shifted <- function(name, by) function(d) { d[[name]] <- d[[name]] + by; d }
slope <- function(fit, name, h, ...) (average(fit, shifted(name, h), ...) - average(fit, shifted(name, -h), ...)) / (2 * h)
contrast <- function(fit, name, a, b, ...) average(fit, with_value(name, a), ...) - average(fit, with_value(name, b), ...)
typical <- function(set, grid, of) {
  draws <- grid@post.beta %*% t(grid@linfct)
  for (j in seq_len(ncol(draws))) tell(set, "typical", of, as.character(grid@grid[[of]][j]), draws[, j])
}
spread <- function(x) sqrt(mean((x - mean(x))^2))
# 2.5 per standard deviation of each column of the design.
per_sd <- function(formula, d, unit = 1) {
  x <- model.matrix(formula, d)[, -1, drop = FALSE]
  normal(0, 2.5 * unit / apply(x, 2, spread), autoscale = FALSE)
}
settings <- list(chains = CHAINS, iter = ITERATIONS, seed = SEED, refresh = 0)
fit <- function(f, ...) do.call(f, c(list(...), settings))

# Birth weight below 2,500 g.
birthwt$race <- factor(birthwt$race)
f <- low ~ age + lwt + race + smoke + ptl + ht + ui
logistic <- function(f) fit(stan_glm, f, family = binomial(), data = birthwt, prior = per_sd(f, birthwt),
                            prior_intercept = normal(0, 2.5, autoscale = FALSE))
full <- logistic(f)
coefficients("birthwt", full, c(age = "b[age]", race2 = "b[race=2]", race3 = "b[race=3]", smoke = "b[smoke]"))
tell("birthwt", "effect", "age", "slope", slope(full, "age", 1e-3))
tell("birthwt", "effect", "lwt", "slope", slope(full, "lwt", 1e-3))
for (name in c("smoke", "ht", "ui")) tell("birthwt", "effect", name, "1 - 0", contrast(full, name, 1, 0))
for (pair in list(c(2, 1), c(3, 1), c(3, 2))) {
  tell("birthwt", "effect", "race", paste(pair, collapse = " - "), contrast(full, "race", pair[1], pair[2]))
}
a <- score("birthwt", "full", by_chain(log_lik(full)))
b <- score("birthwt", "without race", by_chain(log_lik(logistic(update(f, . ~ . - race)))))
difference("birthwt", "without race", a, b)

# Miles per gallon.
mtcars$cyl <- factor(mtcars$cyl)
f <- mpg ~ wt + hp + cyl
unit <- spread(mtcars$mpg)
linear <- function(f) fit(stan_glm, f, data = mtcars, prior = per_sd(f, mtcars, unit),
                          prior_intercept = normal(mean(mtcars$mpg), 2.5 * unit, autoscale = FALSE),
                          prior_aux = exponential(1 / unit, autoscale = FALSE))
full <- linear(f)
coefficients("mtcars", full, c(wt = "b[wt]", hp = "b[hp]", cyl6 = "b[cyl=6]", cyl8 = "b[cyl=8]", sigma = "sigma"))
for (pair in list(c(6, 4), c(8, 4), c(8, 6))) {
  tell("mtcars", "effect", "cyl", paste(pair, collapse = " - "), contrast(full, "cyl", pair[1], pair[2]))
}
typical("mtcars", emmeans(full, ~cyl), "cyl")
a <- score("mtcars", "full", by_chain(log_lik(full)))
b <- score("mtcars", "without hp", by_chain(log_lik(linear(update(f, . ~ . - hp)))))
difference("mtcars", "without hp", a, b)

# Seizures of 59 patients.
f <- y ~ lbase * trt + lage + V4 + (1 | subject)
fixed <- y ~ lbase * trt + lage + V4
full <- fit(stan_glmer, f, family = poisson(), data = epil, prior = per_sd(fixed, epil),
            prior_intercept = normal(log(mean(epil$y)), 2.5, autoscale = FALSE), prior_covariance = decov(1, 1, 1, 1))
coefficients("epil", full, c(lbase = "b[lbase]", trtprogabide = "b[trt=progabide]", lage = "b[lage]", V4 = "b[V4]"))
tell("epil", "coefficient", "sd[subject,Intercept]", "", sqrt(as.matrix(full)[, "Sigma[subject:(Intercept),(Intercept)]"]))
tell("epil", "effect", "lbase", "slope", slope(full, "lbase", 1e-4))
tell("epil", "effect", "lage", "slope", slope(full, "lage", 1e-4))
tell("epil", "effect", "V4", "1 - 0", contrast(full, "V4", 1, 0))
tell("epil", "effect", "trt", "progabide - placebo", contrast(full, "trt", "progabide", "placebo"))
typical("epil", emmeans(full, ~trt, at = list(lbase = mean(epil$lbase), lage = mean(epil$lage), V4 = 0),
                        type = "response", regrid = "response"), "trt")
a <- score("epil", "full", by_chain(log_lik(full)))
b <- score("epil", "without treatment", by_chain(log_lik(
  fit(stan_glmer, y ~ lbase + lage + V4 + (1 | subject), family = poisson(), data = epil, prior = per_sd(y ~ lbase + lage + V4, epil),
      prior_intercept = normal(log(mean(epil$y)), 2.5, autoscale = FALSE), prior_covariance = decov(1, 1, 1, 1))
)))
difference("epil", "without treatment", a, b)

# Infected cattle in 15 herds.
full <- fit(stan_glmer, cbind(incidence, size - incidence) ~ period + (1 | herd), family = binomial(), data = cbpp,
            prior = per_sd(~period, cbpp),
            prior_intercept = normal(0, 2.5, autoscale = FALSE), prior_covariance = decov(1, 1, 1, 1))
coefficients("cbpp", full, c(period2 = "b[period=2]", period3 = "b[period=3]", period4 = "b[period=4]"))
tell("cbpp", "coefficient", "sd[herd,Intercept]", "", sqrt(as.matrix(full)[, "Sigma[herd:(Intercept),(Intercept)]"]))
for (pair in list(c(2, 1), c(3, 1), c(4, 1), c(3, 2), c(4, 2), c(4, 3))) {
  tell("cbpp", "effect", "period", paste(pair, collapse = " - "), contrast(full, "period", pair[1], pair[2]))
}
typical("cbpp", emmeans(full, ~period, type = "response", regrid = "response"), "period")

a <- score("cbpp", "full", by_chain(log_lik(full)))
b <- score("cbpp", "without period", by_chain(log_lik(
  fit(stan_glmer, cbind(incidence, size - incidence) ~ (1 | herd), family = binomial(), data = cbpp,
      prior_intercept = normal(0, 2.5, autoscale = FALSE), prior_covariance = decov(1, 1, 1, 1))
)))
difference("cbpp", "without period", a, b)

# Reaction times of 18 people: rstanarm's prior of the standard deviations of groups is a multiple of sigma, so by hand.
suppressPackageStartupMessages(library(rstan))
if (dir.exists("/usr/include/boost")) rstan_options(boost_lib = "/usr/include")
program <- stan_model(model_code = "
data { int n; int g; int q; vector[n] y; vector[n] x; int subject[n]; real centre; real centre_x; real sd_x; real unit; }
parameters { real a; real b; real<lower=0> sigma; vector<lower=0>[q] tau; cholesky_factor_corr[q] L; matrix[q, g] z; }
transformed parameters {
  matrix[g, q] r = (diag_pre_multiply(tau, L) * z)';
  vector[n] eta = a + b * (x - centre_x) + r[subject, 1];
  if (q == 2) eta += r[subject, q] .* x;
}
model {
  a ~ normal(centre, 2.5 * unit);
  b ~ normal(0, 2.5 * unit / sd_x);
  sigma ~ exponential(1 / unit);
  tau[1] ~ student_t(3, 0, 2.5 * unit);
  if (q == 2) tau[q] ~ student_t(3, 0, 2.5 * unit / sd_x);
  L ~ lkj_corr_cholesky(1);
  to_vector(z) ~ std_normal();
  y ~ normal(eta, sigma);
}
generated quantities {
  vector[n] log_lik;
  for (i in 1:n) log_lik[i] = normal_lpdf(y[i] | eta[i], sigma);
}
")
sleep <- function(q) {
  d <- with(sleepstudy, list(
    n = length(Days), g = nlevels(Subject), q = q, y = Reaction, x = Days, subject = as.integer(Subject),
    centre = mean(Reaction), centre_x = mean(Days), sd_x = spread(Days), unit = spread(Reaction)
  ))
  sampling(program, d, chains = CHAINS, iter = ITERATIONS, seed = SEED, refresh = 0, control = list(adapt_delta = 0.95))
}
# extract() without permutation keeps the chains in order.
drawn <- function(fit, name) as.vector(rstan::extract(fit, name, permuted = FALSE))
full <- sleep(2)
for (pair in list(c("b", "b[Days]"), c("sigma", "sigma"), c("tau[1]", "sd[Subject,Intercept]"), c("tau[2]", "sd[Subject,Days]"))) {
  tell("sleepstudy", "coefficient", pair[2], "", drawn(full, pair[1]))
}
# The mean is linear: its slope over the rows is that of the population plus the mean of the effects, each subject having ten rows.
tell("sleepstudy", "effect", "Days", "slope", rowMeans(sapply(seq_len(18), function(j) drawn(full, sprintf("r[%d,2]", j)))) + drawn(full, "b"))
logs <- function(fit) {
  l <- rstan::extract(fit, "log_lik", permuted = FALSE)
  array(l, dim(l))
}
a <- score("sleepstudy", "full", logs(full))
b <- score("sleepstudy", "without slopes", logs(sleep(1)))
difference("sleepstudy", "without slopes", a, b)

table <- do.call(rbind, rows)
# The error of a score is not known where importance weights fail.
for (name in c("mean", "mcse", "sd", "mcse_sd")) table[[name]] <- ifelse(is.na(table[[name]]), "", trimws(formatC(table[[name]], digits = 8, format = "g")))
write.csv(table, file.path(folder, "answers.csv"), row.names = FALSE, quote = c(3, 4))
