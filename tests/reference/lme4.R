# Data sets and fits of lme4 for the likelihood side of mixed models:
#
#     Rscript lme4.R lme4
#
# writes lme4/<set>.csv (data) and lme4/fits.csv (fit,quantity,name,value with 17 significant digits).
# Optimisers run at much tighter tolerances than lme4's own, so that its numbers have the digits; standard errors of
# glmer come from the whole curvature of the deviance, by differences of sixth order: steps are long because
# glmer's deviance is only good to about 1e-6, whatever its tolerances.

suppressPackageStartupMessages(library(lme4))
out <- commandArgs(trailingOnly = TRUE)[1]
RNGkind("Mersenne-Twister", "Inversion", "Rejection")
label <- function(prefix, i) sprintf("%s%02d", prefix, i)
save_set <- function(name, d) write.csv(d, file.path(out, paste0(name, ".csv")), row.names = FALSE, quote = FALSE)

# ---- data ----
set.seed(1)
balanced <- expand.grid(rep = 1:8, g = 1:12)
balanced$x <- round(rnorm(96), 3)
balanced$y <- round(20 + 1.5 * balanced$x + rnorm(12, 0, 2)[balanced$g] + rnorm(96, 0, 1.2), 4)
balanced <- data.frame(g = label("g", balanced$g), x = balanced$x, y = balanced$y)

set.seed(2)
size <- c(1, 14, 3, 2, 9, 5, 1, 7, 12, 4, 2, 6, 11, 3, 8, 5, 10, 4)
g <- rep(seq_along(size), size)
n <- length(g)
unbalanced <- data.frame(g = label("g", g), x = round(rnorm(n, 50, 10), 2), f = sample(c("a", "b", "c"), n, TRUE),
                         w = round(runif(n, 0.5, 3), 2))
unbalanced$y <- round(250 + 0.8 * unbalanced$x + c(a = 0, b = 5, c = -3)[unbalanced$f] + rnorm(18, 0, 6)[g]
                      + rnorm(n, 0, 9) / sqrt(unbalanced$w), 3)

set.seed(3)
crossed <- expand.grid(item = 1:9, subject = 1:20)
crossed <- crossed[runif(nrow(crossed)) < 0.7, ]
n <- nrow(crossed)
x <- round(runif(n, -1, 1), 3)
crossed <- data.frame(subject = label("s", crossed$subject), item = label("i", crossed$item), x = x,
                      y = round(3 - 0.7 * x + rnorm(20, 0, 1.1)[crossed$subject] + rnorm(9, 0, 0.6)[crossed$item]
                                + rnorm(n, 0, 0.8), 4))

set.seed(4)
nested <- expand.grid(pupil = 1:5, class = 1:4, school = 1:11)
n <- nrow(nested)
x <- round(rnorm(n), 3)
u <- rnorm(11, 0, 1.5)[nested$school]
v <- rnorm(44, 0, 0.9)[nested$class + 4 * (nested$school - 1)]
nested <- data.frame(school = label("s", nested$school), class = label("c", nested$class), x = x,
                     y = round(50 + 2 * x + u + v + rnorm(n, 0, 2), 4))

set.seed(5)
slopes <- expand.grid(day = 0:9, subject = 1:18)
n <- nrow(slopes)
a <- rnorm(18)
b <- 0.3 * a + sqrt(1 - 0.09) * rnorm(18)
slopes <- data.frame(subject = label("s", slopes$subject), day = slopes$day,
                     y = round(250 + 10 * slopes$day + 25 * a[slopes$subject] + 6 * (b[slopes$subject]) * slopes$day
                               + rnorm(n, 0, 25), 3))

set.seed(6)
none <- data.frame(g = label("g", rep(1:10, each = 6)), x = round(rnorm(60), 3))
noise <- rnorm(60)
noise <- noise - ave(noise, none$g)
none$y <- round(1 + none$x + noise, 4)

set.seed(7)
binomial_set <- data.frame(g = label("g", rep(1:15, each = 6)), x = round(rnorm(90), 3), n = sample(4:12, 90, TRUE))
p <- plogis(-0.4 + 0.9 * binomial_set$x + rnorm(15, 0, 0.8)[rep(1:15, each = 6)])
binomial_set$r <- rbinom(90, binomial_set$n, p)

set.seed(8)
g <- rep(1:30, times = sample(5:14, 30, TRUE))
n <- length(g)
x <- round(rnorm(n), 3)
binary <- data.frame(g = label("g", g), h = label("h", sample(1:8, n, TRUE)), x = x)
binary$y <- rbinom(n, 1, plogis(0.3 - 0.8 * x + rnorm(30, 0, 1.2)[g] + rnorm(8, 0, 0.5)[as.integer(factor(binary$h))]))

set.seed(9)
g <- rep(1:16, each = 9)
n <- length(g)
x <- round(rnorm(n), 3)
e <- round(runif(n, 0.5, 4), 2)
counts <- data.frame(g = label("g", g), x = x, e = e,
                     y = rpois(n, e * exp(0.6 + 0.5 * x + rnorm(16, 0, 0.5)[g] + rnorm(16, 0, 0.3)[g] * x)))

sets <- list(balanced = balanced, unbalanced = unbalanced, crossed = crossed, nested = nested, slopes = slopes,
             none = none, binomial = binomial_set, binary = binary, counts = counts)
for (name in names(sets)) save_set(name, sets[[name]])

# ---- fits ----
rows <- list()
add <- function(fit, quantity, name, value)
  rows[[length(rows) + 1]] <<- data.frame(fit = fit, quantity = quantity, name = name,
                                          value = trimws(formatC(value, digits = 17, format = "g")))
curvature <- function(f, at) {
  k <- length(at)
  second <- function(h) {
    H <- matrix(0, k, k)
    for (i in 1:k) for (j in i:k) {
      ei <- ej <- rep(0, k)
      ei[i] <- h
      ej[j] <- h
      H[i, j] <- H[j, i] <- (f(at + ei + ej) - f(at + ei - ej) - f(at - ei + ej) + f(at - ei - ej)) / (4 * h * h)
    }
    H
  }
  d <- list(second(0.03), second(0.06), second(0.12))
  (64 * d[[1]] - 20 * d[[2]] + d[[3]]) / 45
}
record <- function(id, m, se = sqrt(diag(as.matrix(vcov(m))))) {
  plain <- function(name) ifelse(name == "(Intercept)", "Intercept", name)
  add(id, "fixef", seq_along(fixef(m)), fixef(m))
  add(id, "se", seq_along(fixef(m)), se)
  vc <- as.data.frame(VarCorr(m))
  for (i in seq_len(nrow(vc))) {
    group <- sub("\\.[0-9]+$", "", vc$grp[i])
    if (group == "Residual") add(id, "sigma", "", vc$sdcor[i])
    else if (is.na(vc$var2[i])) add(id, "sd", paste(group, plain(vc$var1[i]), sep = "|"), vc$sdcor[i])
    else if (!is.nan(vc$sdcor[i]))
      add(id, "cor", paste(group, plain(vc$var1[i]), plain(vc$var2[i]), sep = "|"), vc$sdcor[i])
  }
  reml <- isREML(m)
  add(id, "loglik", "", as.numeric(logLik(m)))
  add(id, "criterion", "", if (reml) REMLcrit(m) else -2 * as.numeric(logLik(m)))
  add(id, "aic", "", AIC(m))
  add(id, "bic", "", BIC(m))
  effects <- as.data.frame(ranef(m, condVar = TRUE))
  name <- paste(effects$grpvar, effects$grp, plain(as.character(effects$term)), sep = "|")
  add(id, "ranef", name, effects$condval)
  add(id, "condsd", name, effects$condsd)
}
tight <- list(rhoend = 1e-10, maxfun = 1e6)
linear <- function(id, formula, data, weights = NULL) for (reml in c(FALSE, TRUE)) {
  control <- lmerControl(optimizer = "bobyqa", optCtrl = tight, check.conv.singular = "ignore",
                         check.conv.grad = "ignore", check.conv.hess = "ignore")
  fit <- function(start) do.call(lmer, list(formula, data, REML = reml, control = control, weights = weights, start = start))
  m <- fit(getME(fit(NULL), "theta"))
  record(paste0(id, if (reml) ":reml" else ":ml"), m)
}
general <- function(id, formula, data, family, agq = 1) {
  control <- glmerControl(optimizer = "bobyqa", optCtrl = tight, tolPwrss = 1e-14, check.conv.grad = "ignore",
                          check.conv.hess = "ignore", calc.derivs = FALSE)
  fit <- function(start, ...)
    do.call(glmer, list(formula, data, family = family, nAGQ = agq, control = control, start = start, ...))
  m <- fit(NULL)
  m <- fit(list(theta = getME(m, "theta"), fixef = fixef(m)))
  at <- c(getME(m, "theta"), fixef(m))
  H <- curvature(fit(NULL, devFunOnly = TRUE), at)
  fixed <- length(getME(m, "theta")) + seq_along(fixef(m))
  record(paste0(id, if (agq > 1) paste0(":aghq", agq) else ":laplace"), m, sqrt(diag(solve(H / 2)))[fixed])
}

linear("balanced", y ~ x + (1 | g), balanced)
linear("unbalanced", y ~ x + f + (1 | g), unbalanced)
linear("weighted", y ~ x + f + (1 | g), unbalanced, weights = unbalanced$w)
linear("crossed", y ~ x + (1 | subject) + (1 | item), crossed)
linear("crossed-slope", y ~ x + (1 + x | subject) + (1 | item), crossed)
linear("nested", y ~ x + (1 | school) + (1 | school:class), nested)
linear("slopes", y ~ day + (day | subject), slopes)
linear("independent", y ~ day + (day || subject), slopes)
linear("none", y ~ x + (1 | g), none)
for (k in c(1, 9)) {
  general("binomial", cbind(r, n - r) ~ x + (1 | g), binomial_set, binomial, k)
  general("binary", y ~ x + (1 | g), binary, binomial, k)
  general("counts", y ~ x + offset(log(e)) + (1 | g), counts, poisson, k)
}
general("binary-crossed", y ~ x + (1 | g) + (1 | h), binary, binomial)
general("counts-slope", y ~ x + offset(log(e)) + (x | g), counts, poisson)
general("counts-independent", y ~ x + offset(log(e)) + (x || g), counts, poisson)

write.csv(do.call(rbind, rows), file.path(out, "fits.csv"), row.names = FALSE, quote = FALSE)
