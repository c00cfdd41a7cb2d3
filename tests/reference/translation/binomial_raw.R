library(brms)
fit <- brm(
  succ | trials(n) + weights(w) ~ 0 + Intercept + x + offset(e),
  data = data, family = binomial(),
  prior = c(
    set_prior("normal(0, 10)", class = "b", coef = "Intercept"),
    set_prior("normal(0, 10)", class = "b", coef = "x")
  )
)
