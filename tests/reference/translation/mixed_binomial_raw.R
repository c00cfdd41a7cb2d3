library(brms)
fit <- brm(
  succ | trials(n) ~ 0 + Intercept + x + (0 + x | school),
  data = data, family = binomial(),
  prior = c(
    set_prior("normal(0, 10)", class = "b", coef = "Intercept"),
    set_prior("normal(0, 10)", class = "b", coef = "x"),
    set_prior("normal(0, 1)", class = "sd", group = "school", coef = "x")
  )
)
