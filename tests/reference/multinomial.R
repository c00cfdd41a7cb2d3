# Multinomial regressions by nnet, and by Stan from the code that `ergodic show --as stan` writes for them:
#
#     Rscript tests/reference/multinomial.R target/debug/ergodic
#
# simulates multinomial_data.csv (400 voters: age, income, region, how often each counts, party), writes the programs
# multinomial/NAME.stan and multinomial_r.csv (name,value):
# - CASE:PARAMETER, CASE:se:PARAMETER and CASE:log_lik of nnet::multinom, plain and weighted;
# - posterior:PARAMETER, posterior:PARAMETER:mcse and posterior:PARAMETER:sd of the program plain, from 4 chains of 5,000 draws;
# - NAME:u:i:j and NAME:density:i, unconstrained coordinates in Stan's order, and the log density there with the Jacobian, up to a
#   constant.
# Needs rstan; the code is rewritten for versions that do not know `array[N] int` yet.
library(nnet)
suppressMessages(library(rstan))
rstan_options(boost_lib = "/usr/include")
program <- normalizePath(commandArgs(TRUE)[1])
here <- file.path("tests", "reference")
set.seed(53)
n <- 400
age <- round(runif(n, 18, 80))
income <- round(rlnorm(n, 3.4, 0.5), 1)
region <- sample(c("east", "north", "west"), n, TRUE)
eta <- cbind(
  blue = 0,
  green = 1.6 - 0.05 * age + 0.01 * income + 0.8 * (region == "west"),
  none = 0.3 - 0.02 * age - 0.01 * income,
  red = -0.4 + 0.01 * age - 0.02 * income + 1.1 * (region == "north")
)
p <- exp(eta) / rowSums(exp(eta))
party <- colnames(eta)[apply(p, 1, function(p) sample(4, 1, prob = p))]
table <- data.frame(age, income, region, n = rep(1:4, n / 4), party)
data_file <- file.path(here, "multinomial_data.csv")
write.csv(table, data_file, row.names = FALSE, quote = FALSE)
out <- c()
put <- function(name, value) out[[name]] <<- value

terms <- c("Intercept", "age", "income", "region=north", "region=west")
# On predictors without a unit, so that the search ends as exactly as it can.
x <- cbind(1, age / 50, income / 30, region == "north", region == "west")
unit <- c(1, 50, 30, 1, 1)
y <- factor(party)
for (case in c("plain", "weighted")) {
  weights <- if (case == "plain") rep(1, n) else table$n
  fit <- multinom(y ~ 0 + x, weights = weights, Hess = TRUE, reltol = 1e-15, abstol = 1e-15, maxit = 5000, trace = FALSE)
  # Newton steps end what the search leaves.
  b <- coef(fit)
  for (step in 1:5) {
    eta <- cbind(0, x %*% t(b))
    p <- exp(eta) / rowSums(exp(eta))
    score <- as.vector(t(x) %*% (weights * (outer(party, levels(y)[-1], "==") - p[, -1])))
    information <- matrix(0, 15, 15)
    for (k in 1:3) for (l in 1:3) {
      w <- weights * (p[, k + 1] * (k == l) - p[, k + 1] * p[, l + 1])
      information[5 * (k - 1) + 1:5, 5 * (l - 1) + 1:5] <- t(x) %*% (w * x)
    }
    b <- b + t(matrix(solve(information, score), 5))
  }
  stopifnot(max(abs(b - coef(fit))) < 1e-4)
  se <- t(matrix(sqrt(diag(solve(information))), 5))
  stopifnot(max(abs(se / summary(fit)$standard.errors - 1)) < 1e-4)
  for (k in 1:3) for (j in 1:5) {
    name <- sprintf("logit[%s,%s]", levels(y)[k + 1], terms[j])
    put(paste0(case, ":", name), b[k, j] / unit[j])
    put(paste0(case, ":se:", name), se[k, j] / unit[j])
  }
  put(paste0(case, ":log_lik"), sum(weights * log(p[cbind(1:n, as.integer(y))])))
}

columns <- cbind(age, income, as.numeric(region == "north"), as.numeric(region == "west"))
common <- list(N = n, x = columns, y = as.integer(y))
by_red <- list(N = n, x = columns, y = as.integer(factor(party, levels = c("red", "none", "blue", "green"))), weight = table$n)
formula <- function(text) c("--template", "multinomial", "--formula", shQuote(text))
cases <- list(
  plain = list(args = formula("party ~ age + income + region"), data = common),
  raw = list(args = c(formula("party | weights(n) ~ age + income + region"), "--set", "model.standardize=false",
    "--set", shQuote("priors.b=normal(0, 1)"), "--set", shQuote("priors.intercept=student_t(3, 0, 2)"),
    "--set", shQuote("model.levels=[\"red\", \"none\", \"blue\", \"green\"]")), data = by_red),
  through_0 = list(args = c(formula("party ~ 0 + age + income"), "--set", shQuote("priors.logit[red,age]=normal(0.3, 0.7)")),
    data = list(N = n, x = columns[, 1:2], y = as.integer(y)))
)
dir.create(file.path(here, "multinomial"), showWarnings = FALSE)
for (name in names(cases)) {
  case <- cases[[name]]
  code <- system2(program, c("show", "--data", data_file, case$args, "--as", "stan"), stdout = TRUE)
  writeLines(code, file.path(here, "multinomial", paste0(name, ".stan")))
  old <- gsub("^( *)array\\[([^]]*)\\] (.*) ([A-Za-z_0-9]+);", "\\1\\3 \\4[\\2];", code)
  model <- suppressMessages(stan_model(model_code = paste(old, collapse = "\n")))
  fit <- suppressWarnings(suppressMessages(sampling(model, data = case$data, chains = 0)))
  dim <- get_num_upars(fit)
  set.seed(1)
  points <- matrix((if (name == "plain") 0.7 else 0.02) * rnorm(3 * dim), 3)
  for (i in 1:3) {
    for (j in 1:dim) put(sprintf("%s:u:%d:%d", name, i, j), points[i, j])
    put(sprintf("%s:density:%d", name, i), log_prob(fit, points[i, ], adjust_transform = TRUE))
  }
  if (name == "plain") {
    drawn <- sampling(model, data = case$data, chains = 4, iter = 6000, warmup = 1000, seed = 3, refresh = 0)
    summary <- summary(drawn, pars = c("b_Intercept", "b"))$summary
    for (k in 1:3) for (j in 1:5) {
      there <- if (j == 1) sprintf("b_Intercept[%d]", k) else sprintf("b[%d,%d]", j - 1, k)
      ours <- sprintf("posterior:logit[%s,%s]", levels(y)[k + 1], terms[j])
      put(ours, summary[there, "mean"])
      put(paste0(ours, ":mcse"), summary[there, "se_mean"])
      put(paste0(ours, ":sd"), summary[there, "sd"])
    }
  }
}
writeLines(c("name,value", sprintf("%s,%.17g", names(out), unlist(out))), file.path(here, "multinomial_r.csv"))
