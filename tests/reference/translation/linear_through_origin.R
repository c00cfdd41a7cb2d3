library(brms)
# Priors in standard deviations of y, on the scale of the data
# Priors per standard deviation of a predictor, divided by that standard deviation
fit <- brm(
  y | weights(w) ~ 0 + x + z,
  data = data, family = gaussian(),
  prior = c(
    set_prior("normal(0, 38.198964363064356)", class = "b", coef = "x"),
    set_prior("normal(0, 62.675312886260215)", class = "b", coef = "z"),
    set_prior("inv_gamma(2, 6.412339257244582)", class = "sigma")
  )
)
