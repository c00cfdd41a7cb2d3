library(brms)
fit <- brm(
  share | weights(w) ~ 0 + Intercept + x + z,
  data = data, family = Beta(),
  prior = c(
    set_prior("normal(0, 10)", class = "b", coef = "Intercept"),
    set_prior("normal(0, 10)", class = "b", coef = "x"),
    set_prior("normal(0, 10)", class = "b", coef = "z"),
    set_prior("exponential(0.1)", class = "phi")
  )
)
