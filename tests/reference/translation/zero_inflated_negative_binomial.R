library(brms)
# Priors per standard deviation of a predictor, divided by that standard deviation
fit <- brm(
  count | weights(w) ~ x + (1 | school),
  data = data, family = zero_inflated_negbinomial(),
  prior = c(
    set_prior("normal(0, 10)", class = "Intercept"),
    set_prior("normal(0, 5.9571028341814)", class = "b", coef = "x"),
    set_prior("lognormal(2, 2)", class = "shape"),
    set_prior("beta(2, 5)", class = "zi"),
    set_prior("student_t(3, 0, 2.5)", class = "sd", group = "school", coef = "Intercept")
  )
)
