library(brms)
# Priors in standard deviations of y, on the scale of the data
# Priors per standard deviation of a predictor, divided by that standard deviation
fit <- brm(
  y | weights(w) ~ x,
  data = data, family = student(),
  prior = c(
    set_prior("normal(32.529500000000006, 64.12339257244582)", class = "Intercept"),
    set_prior("normal(0, 38.198964363064356)", class = "b", coef = "x"),
    set_prior("student_t(1, 0, 12.824678514489165)", class = "sigma"),
    set_prior("constant(4)", class = "nu")
  )
)
