library(brms)
# Priors in standard deviations of y, on the scale of the data
# Priors per standard deviation of a predictor, divided by that standard deviation
fit <- brm(
  y | se(se) ~ 1 + (1 | school),
  data = data, family = gaussian(),
  prior = c(
    set_prior("normal(32.529500000000006, 64.12339257244582)", class = "Intercept"),
    set_prior("student_t(3, 0, 16.030848143111456)", class = "sd", group = "school", coef = "Intercept")
  )
)
