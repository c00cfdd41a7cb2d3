# The share of outcomes of which some are censored that are at least as large as a value, by nonparametric maximum likelihood:
#
#     Rscript turnbull.R
#
# simulates turnbull_data.csv (set,value,status with status `none`, `right` or `left`) and writes turnbull_r.csv (set,at,share) for
# all values of a set. Values are rounded, so that there are ties; a row that is censored at a value lies above it, or below.
# - right: survfit of survival (Kaplan and Meier).
# - left: survfit of the values with their signs changed.
# - both: the self-consistent iteration of Turnbull (1976) over all rows and pieces, until no derivative of the mean log likelihood
#   towards a value or gap is above 1 by more than 1e-13; survfit's version, which ends earlier, is within 0.001.
# - status: no outcome was seen, so the share below is the isotonic regression of whether a row is left-censored (isoreg).

suppressPackageStartupMessages(library(survival))
set.seed(31)
n <- 160
outcomes <- function() rweibull(n, 1.4, 10)
set <- function(name, value, status) data.frame(set = name, value = value, status = status)
y <- outcomes(); end <- rexp(n, 1 / 15)
right <- set("right", ceiling(2 * pmin(y, end)) / 2, ifelse(y > end, "right", "none"))
y <- outcomes(); limit <- sample(c(2, 5, 9), n, TRUE)
left <- set("left", ceiling(2 * pmax(y, limit)) / 2, ifelse(y < limit, "left", "none"))
y <- outcomes(); begin <- runif(n, 0, 14); end <- begin + rexp(n, 1 / 5)
both <- set("both", ceiling(2 * pmax(pmin(y, end), begin)) / 2, ifelse(y < begin, "left", ifelse(y > end, "right", "none")))
y <- outcomes(); when <- runif(n, 0, 25)
status <- set("status", round(when, 3), ifelse(y < when, "left", "right"))
stopifnot(!anyDuplicated(status$value))
data <- rbind(right, left, both, status)
write.csv(data, "turnbull_data.csv", row.names = FALSE, quote = FALSE)

# The share of at least `at` by a curve of survfit: what is left before the steps at `at`.
before <- function(fit, at) vapply(at, function(t) c(1, fit$surv)[1 + sum(fit$time < t)], 0)
# The share above `at`.
after <- function(fit, at) vapply(at, function(t) c(1, fit$surv)[1 + sum(fit$time <= t)], 0)
places <- function(rows) sort(unique(rows$value))
found <- list()
put <- function(rows, at, share) found[[length(found) + 1]] <<- sprintf("%s,%.17g,%.17g", rows$set[1], at, share)

at <- places(right)
put(right, at, before(survfit(Surv(value, status == "none") ~ 1, data = right), at))
at <- places(left)
put(left, at, 1 - after(survfit(Surv(-value, status == "none") ~ 1, data = left), -at))

# Candidates: values seen, and what is between neighbouring values.
v <- places(both)
points <- unique(both$value[both$status == "none"])
gaps <- cbind(c(-Inf, v), c(v, Inf))
pieces <- rbind(cbind(points, points), gaps)
within <- function(row) {
  at <- both$value[row]
  switch(both$status[row],
    none = pieces[, 1] == at & pieces[, 2] == at,
    right = pieces[, 1] >= at & pieces[, 2] > at,
    left = pieces[, 2] <= at & pieces[, 1] < at)
}
A <- t(vapply(seq_len(n), within, logical(nrow(pieces)))) * 1
p <- rep(1 / ncol(A), ncol(A))
repeat {
  slopes <- drop(crossprod(A, 1 / drop(A %*% p))) / n
  if (max(slopes) < 1 + 1e-13) break
  p <- p * slopes
}
share <- vapply(v, function(at) sum(p[pieces[, 1] >= at]), 0)
# Left-censored rows of survfit may be equal to their value, so that they are moved down by less than values differ.
moved <- both$value - ifelse(both$status == "left", 0.01, 0)
time <- Surv(ifelse(both$status == "left", NA, moved), ifelse(both$status == "right", NA, moved), type = "interval2")
stopifnot(max(abs(before(survfit(time ~ 1), points) - share[match(points, v)])) < 0.001)
put(both, v, share)

at <- places(status)
below <- isoreg(at, as.numeric(status$status[order(status$value)] == "left"))$yf
put(status, at, 1 - below)
writeLines(c("set,at,share", unlist(found)), "turnbull_r.csv")
