library(brms)
fit <- brm(
  hours | weights(w) ~ 0 + Intercept + x + (1 | school),
  data = data, family = Gamma(link = "log"),
  prior = c(
    set_prior("normal(0, 10)", class = "b", coef = "Intercept"),
    set_prior("normal(0, 10)", class = "b", coef = "x"),
    set_prior("gamma(2, 0.1)", class = "shape"),
    set_prior("student_t(3, 0, 2.5)", class = "sd", group = "school", coef = "Intercept")
  )
)
