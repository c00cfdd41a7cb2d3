library(brms)
data$plan <- relevel(factor(data$plan), ref = "a")
# Priors per standard deviation of a predictor, divided by that standard deviation
fit <- brm(
  count ~ x + plan + offset(log(n)),
  data = data, family = zero_inflated_poisson(),
  prior = c(
    set_prior("normal(0, 10)", class = "Intercept"),
    set_prior("normal(0, 5.9571028341814)", class = "b", coef = "x"),
    set_prior("normal(0, 20.025046972870353)", class = "b", coef = "planb"),
    set_prior("normal(0, 24.999999999999996)", class = "b", coef = "planc"),
    set_prior("beta(1, 1)", class = "zi")
  )
)
