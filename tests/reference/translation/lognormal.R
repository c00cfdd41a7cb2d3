library(brms)
# Priors per standard deviation of a predictor, divided by that standard deviation
fit <- brm(
  hours ~ x + z,
  data = data, family = lognormal(),
  prior = c(
    set_prior("normal(0, 10)", class = "Intercept"),
    set_prior("normal(0, 5.9571028341814)", class = "b", coef = "x"),
    set_prior("normal(0, 9.774172945614257)", class = "b", coef = "z"),
    set_prior("student_t(1, 0, 1)", class = "sigma")
  )
)
