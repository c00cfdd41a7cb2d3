library(brms)
# Priors per standard deviation of a predictor, divided by that standard deviation
fit <- brm(
  hours | cens(seen) ~ x + (1 | school),
  data = data, family = lognormal(),
  prior = c(
    set_prior("normal(0, 10)", class = "Intercept"),
    set_prior("normal(0, 5.9571028341814)", class = "b", coef = "x"),
    set_prior("student_t(3, 0, 1)", class = "sigma"),
    set_prior("student_t(3, 0, 2.5)", class = "sd", group = "school", coef = "Intercept")
  )
)
