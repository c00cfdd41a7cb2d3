library(brms)
fit <- brm(
  y | weights(w) + se(se) ~ 0 + Intercept + x + z,
  data = data, family = gaussian(),
  prior = c(
    set_prior("normal(33, 127)", class = "b", coef = "Intercept"),
    set_prior("normal(0, 38.2)", class = "b", coef = "x"),
    set_prior("normal(0, 62.7)", class = "b", coef = "z")
  )
)
