library(brms)
data$plan <- relevel(factor(data$plan), ref = "a")
# Priors per standard deviation of a predictor, divided by that standard deviation
fit <- brm(
  share ~ x + plan + (1 | school),
  data = data, family = Beta(),
  prior = c(
    set_prior("normal(0, 10)", class = "Intercept"),
    set_prior("normal(0, 5.9571028341814)", class = "b", coef = "x"),
    set_prior("normal(0, 20.025046972870353)", class = "b", coef = "planb"),
    set_prior("normal(0, 24.999999999999996)", class = "b", coef = "planc"),
    set_prior("lognormal(2, 2)", class = "phi"),
    set_prior("student_t(3, 0, 2.5)", class = "sd", group = "school", coef = "Intercept")
  )
)
