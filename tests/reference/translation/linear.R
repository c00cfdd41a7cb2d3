library(brms)
data$plan <- relevel(factor(data$plan), ref = "a")
# Priors in standard deviations of y − offset, on the scale of the data
# Priors per standard deviation of a predictor, divided by that standard deviation
fit <- brm(
  y ~ x + plan + offset(e),
  data = data, family = gaussian(),
  prior = c(
    set_prior("normal(30.713749999999997, 63.65047009842111)", class = "Intercept"),
    set_prior("normal(0, 37.91723958202829)", class = "b", coef = "x"),
    set_prior("normal(0, 127.46036535661625)", class = "b", coef = "planb"),
    set_prior("normal(0, 159.12617524605275)", class = "b", coef = "planc"),
    set_prior("student_t(3, 0, 15.912617524605277)", class = "sigma")
  )
)
