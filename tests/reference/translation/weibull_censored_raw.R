library(brms)
data$plan <- relevel(factor(data$plan), ref = "a")
fit <- brm(
  hours | weights(w) + cens(seen) ~ 0 + Intercept + x + plan,
  data = data, family = weibull(),
  prior = c(
    set_prior("normal(0, 10)", class = "b", coef = "Intercept"),
    set_prior("normal(0, 10)", class = "b", coef = "x"),
    set_prior("normal(0, 10)", class = "b", coef = "planb"),
    set_prior("normal(0, 10)", class = "b", coef = "planc"),
    set_prior("lognormal(0.5, 1)", class = "shape")
  )
)
