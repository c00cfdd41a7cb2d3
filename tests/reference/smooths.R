# Fits of smooth curves by R's mgcv, with which crates/core/src/estimators/mixed compares its own: thin plate regression splines by REML.
# Run in tests/reference: Rscript smooths.R
#
# Random intercepts are mgcv's s(g, bs = "re"), which is the same model. ML is another criterion there, for it depends on how much of a
# straight line the functions have that bend a curve; the counts are for tests that compute the criterion themselves.

library(mgcv)
options(digits = 17)
RNGkind("Mersenne-Twister", "Inversion", "Rejection")
set.seed(20240217)

folder <- "smooths"
tight <- gam.control(epsilon = 1e-11, newton = list(conv.tol = 1e-10))
rows <- list()
add <- function(fit, quantity, name, value) {
  rows[[length(rows) + 1]] <<- data.frame(fit = fit, quantity = quantity, name = name, value = value)
}

write_data <- function(id, data) {
  # Fits are of the numbers that the file has.
  path <- file.path(folder, paste0(id, ".csv"))
  write.csv(data, path, row.names = FALSE, quote = FALSE)
  read.csv(path, stringsAsFactors = TRUE)
}

add_fit <- function(id, fit, new) {
  # The estimate by the criterion itself; fit$scale takes degrees of freedom off by the trace of the hat matrix.
  add(id, "sigma", "", sqrt(fit$reml.scale))
  for (name in names(coef(fit))[!grepl("^s\\(", names(coef(fit)))]) {
    # Intercepts depend on how a curve is centred; slopes do not.
    if (name != "(Intercept)") {
      add(id, "coef", name, coef(fit)[[name]])
    }
  }
  add(id, "edf", "x", sum(fit$edf[grepl("^s\\(x\\)", names(coef(fit)))]))
  curve <- predict(fit, new, exclude = "s(g)", newdata.guaranteed = TRUE)
  for (i in seq_along(curve)) {
    add(id, "curve", i, curve[[i]])
  }
  fitted <- predict(fit)
  for (i in seq_along(fitted)) {
    add(id, "fitted", i, fitted[[i]])
  }
}

grid <- function(data) {
  # Two points outside of the range on either side.
  from <- min(data$x)
  to <- max(data$x)
  wide <- to - from
  data.frame(x = c(from - 0.3 * wide, from - 0.1 * wide, seq(from, to, length.out = 17), to + 0.1 * wide, to + 0.3 * wide),
    z = 0, g = levels(data$g)[1])
}

# A wavy curve beside a predictor and groups.
n <- 150
x <- round(runif(n, 10, 60), 3)
z <- round(rnorm(n), 3)
g <- factor(sample(paste0("g", 1:12), n, replace = TRUE))
effects <- rnorm(12, 0, 0.6)
y <- round(5 + 0.4 * z + 1.5 * sin(x / 6) + 0.02 * x + effects[as.integer(g)] + rnorm(n, 0, 0.7), 4)
waves <- write_data("waves", data.frame(y, x, z, g))

# Few different values, many rows of each, hardly a curve.
n <- 240
x <- sample(c(1:9, 12, 15, 21), n, replace = TRUE)
y <- round(2 + 0.3 * x - 0.006 * x^2 + rnorm(n), 4)
doses <- write_data("doses", data.frame(y, x, z = 0, g = factor(rep("a", n))))

# Counts.
n <- 200
x <- round(rbeta(n, 1.5, 3), 4)
z <- round(rnorm(n), 3)
y <- rpois(n, exp(1 + 0.3 * z + 1.2 * cos(5 * x)))
write_data("counts", data.frame(y, x, z, g = factor(rep("a", n))))

method <- "REML"
add_fit("waves:reml", gam(y ~ z + s(x), data = waves, method = method, control = tight), grid(waves))
add_fit("waves-wide:reml", gam(y ~ z + s(x, k = 25), data = waves, method = method, control = tight), grid(waves))
grouped <- gam(y ~ z + s(x) + s(g, bs = "re"), data = waves, method = method, control = tight)
add_fit("waves-groups:reml", grouped, grid(waves))
sds <- gam.vcomp(grouped)
if (is.list(sds)) {
  sds <- sds$vc
}
add("waves-groups:reml", "sd", "g", sds["s(g)", 1])
add_fit("doses:reml", gam(y ~ s(x, k = 6), data = doses, method = method, control = tight), grid(doses))

all <- do.call(rbind, rows)
all$value <- format(all$value, digits = 12, trim = TRUE)
write.csv(all, file.path(folder, "fits.csv"), row.names = FALSE, quote = FALSE)
cat(R.version.string, "mgcv", as.character(packageVersion("mgcv")), "\n")
