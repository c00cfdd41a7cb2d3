# Principal components of draws, and draws of another run projected on them:
#
#     Rscript components.R
#
# writes components_draws.csv (run, chain, a, b, c, d: two runs of two chains) and components.csv
# quantity,place,value with 17 significant digits: rotation and variances of prcomp(scale. = TRUE) of run 1, where the largest weight of a
# direction is made positive; means and covariances of both runs projected on its first and last component.

set.seed(24)
n <- 150
made <- function(run, shift) {
  z <- matrix(rnorm(4 * n), n)
  a <- 3 + z[, 1]
  b <- 1000 + 50 * (0.9 * z[, 1] + 0.3 * z[, 2] + shift)
  c <- 0.01 * (z[, 3] - 0.5 * z[, 1])
  d <- z[, 4] + 0.2 * z[, 2]
  data.frame(run, chain = rep(1:2, each = n / 2), a = round(a, 6), b = round(b, 5), c = round(c, 8), d = round(d, 6))
}
draws <- rbind(made(1, 0), made(2, 0.4))
write.csv(draws, "components_draws.csv", row.names = FALSE, quote = FALSE)
columns <- c("a", "b", "c", "d")
first <- as.matrix(draws[draws$run == 1, columns])
fit <- prcomp(first, scale. = TRUE)
rotation <- apply(fit$rotation, 2, function(v) v * sign(v[which.max(abs(v))]))[, c(1, 4)]
out <- data.frame(quantity = character(), place = integer(), value = numeric())
add <- function(quantity, value) out <<- rbind(out, data.frame(quantity, place = seq_along(value) - 1, value = as.vector(value)))
add("largest", rotation[, 1])
add("smallest", rotation[, 2])
add("variances", fit$sdev[c(1, 4)]^2)
for (run in 1:2) {
  x <- scale(as.matrix(draws[draws$run == run, columns]), fit$center, fit$scale) %*% rotation
  v <- cov(x)
  add(paste0("mean", run), colMeans(x))
  add(paste0("covariance", run), c(v[1, 1], v[1, 2], v[2, 2]))
}
out$value <- trimws(formatC(out$value, digits = 17, format = "g"))
write.csv(out, "components.csv", row.names = FALSE, quote = FALSE)
