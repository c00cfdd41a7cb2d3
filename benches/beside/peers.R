# Times of lme4 for `benches/beside.sh`, by requests as `benches/beside.rs` describes them: `mixed normal intercepts` and so on.
# 100,000 rows in 1,000 groups.

suppressPackageStartupMessages(library(lme4))

table_of <- function(binary, slopes) {
  set.seed(1)
  rows <- 100000
  g <- rep_len(1:1000, rows)
  x1 <- rnorm(rows)
  x2 <- rnorm(rows)
  eta <- 0.5 * x1 - 0.25 * x2 + (0.75 * rnorm(1000))[g]
  if (slopes) eta <- eta + (0.4 * rnorm(1000))[g] * x1
  y <- if (binary) rbinom(rows, 1, plogis(eta)) else 1 + eta + rnorm(rows)
  data.frame(y, x1, x2, g = factor(g))
}

answer <- function(request) {
  words <- strsplit(request, " ")[[1]]
  if (words[1] != "mixed") return("-")
  binary <- words[2] == "binary"
  slopes <- words[3] == "slopes"
  data <- table_of(binary, slopes)
  formula <- if (slopes) y ~ x1 + x2 + (x1 | g) else y ~ x1 + x2 + (1 | g)
  fit <- if (binary) function() glmer(formula, data, family = binomial) else function() lmer(formula, data)
  seconds <- sapply(1:3, function(k) system.time(fit())[["elapsed"]])
  format(min(seconds), digits = 6)
}

input <- file("stdin", open = "r")
while (length(request <- readLines(input, n = 1)) > 0) {
  cat(if (request == "hello") paste0("lme4 ", packageVersion("lme4")) else answer(request), "\n", sep = "")
  flush(stdout())
}
