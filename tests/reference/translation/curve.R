library(brms)
# brms measures the columns of s() in units of its own: its curves are these, its priors of them are its own
# Priors in standard deviations of y, on the scale of the data
# Priors per standard deviation of a predictor, divided by that standard deviation
fit <- brm(
  y ~ s(x) + z,
  data = data, family = gaussian(),
  prior = c(
    set_prior("normal(32.529500000000006, 64.12339257244582)", class = "Intercept"),
    set_prior("normal(0, 62.675312886260215)", class = "b", coef = "z"),
    set_prior("student_t(3, 0, 16.030848143111456)", class = "sigma")
  )
)
