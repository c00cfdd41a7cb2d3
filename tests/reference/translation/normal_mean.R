library(brms)
fit <- brm(
  x | weights(w) ~ 1,
  data = data, family = gaussian(),
  prior = c(
    set_prior("normal(0, 3.1622776601683795)", class = "Intercept"),
    set_prior("constant(1)", class = "sigma")
  )
)
