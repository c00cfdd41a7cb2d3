library(brms)
# Priors in standard deviations of y, on the scale of the data
# Priors per standard deviation of a predictor, divided by that standard deviation
fit <- brm(
  y ~ x + (1 | school),
  data = data, family = student(),
  prior = c(
    set_prior("normal(32.529500000000006, 64.12339257244582)", class = "Intercept"),
    set_prior("normal(0, 38.198964363064356)", class = "b", coef = "x"),
    set_prior("student_t(3, 0, 16.030848143111456)", class = "sigma"),
    set_prior("gamma(3, 0.2)", class = "nu"),
    set_prior("student_t(3, 0, 16.030848143111456)", class = "sd", group = "school", coef = "Intercept")
  )
)
