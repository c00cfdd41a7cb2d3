library(brms)
# brms measures the columns of s() in units of its own: its curves are these, its priors of them are its own
fit <- brm(
  count | weights(w) ~ 0 + Intercept + s(x, k = 5) + s(z, k = 6) + (1 | school),
  data = data, family = negbinomial(),
  prior = c(
    set_prior("normal(0, 10)", class = "b", coef = "Intercept"),
    set_prior("lognormal(2, 2)", class = "shape"),
    set_prior("student_t(3, 0, 2.5)", class = "sd", group = "school", coef = "Intercept")
  )
)
