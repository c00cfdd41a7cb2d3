library(brms)
data$plan <- relevel(factor(data$plan), ref = "a")
fit <- brm(
  y ~ 0 + Intercept + x + plan,
  data = data, family = gaussian(),
  prior = c(
    set_prior("normal(33, 148)", class = "b", coef = "Intercept"),
    set_prior("normal(0, 38.2)", class = "b", coef = "x"),
    set_prior("normal(0, 128)", class = "b", coef = "planb"),
    set_prior("normal(0, 160)", class = "b", coef = "planc"),
    set_prior("student_t(3, 0, 16.025)", class = "sigma")
  )
)
