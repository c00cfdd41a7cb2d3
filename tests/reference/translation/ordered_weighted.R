library(brms)
data$rating <- factor(data$rating, levels = c("1", "2", "3", "4"), ordered = TRUE)
data$plan <- relevel(factor(data$plan), ref = "a")
# Priors per standard deviation of a predictor, divided by that standard deviation
fit <- brm(
  rating | weights(w) ~ x + plan + offset(e),
  data = data, family = cumulative("logit"),
  prior = c(
    set_prior("student_t(3, 0, 10)", class = "Intercept"),
    set_prior("normal(0, 5.9571028341814)", class = "b", coef = "x"),
    set_prior("normal(0, 20.025046972870353)", class = "b", coef = "planb"),
    set_prior("normal(0, 24.999999999999996)", class = "b", coef = "planc")
  )
)
