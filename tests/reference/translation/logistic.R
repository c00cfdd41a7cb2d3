library(brms)
data$bin <- as.integer(data$bin == "yes")
data$plan <- relevel(factor(data$plan), ref = "a")
# Priors per standard deviation of a predictor, divided by that standard deviation
fit <- brm(
  bin ~ x + plan,
  data = data, family = bernoulli(),
  prior = c(
    set_prior("student_t(4, 1, 3)", class = "Intercept"),
    set_prior("double_exponential(0.59571028341814, 1.19142056683628)", class = "b", coef = "x"),
    set_prior("normal(0, 20.025046972870353)", class = "b", coef = "planb"),
    set_prior("normal(0, 24.999999999999996)", class = "b", coef = "planc")
  )
)
