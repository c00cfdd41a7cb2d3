library(brms)
fit <- brm(
  bf(z ~ a + b^2, a + b ~ 1, nl = TRUE),
  data = data, family = gaussian(),
  prior = c(
    set_prior("normal(0, 1)", class = "b", nlpar = "a"),
    set_prior("normal(0, 1)", class = "b", nlpar = "b"),
    set_prior("constant(2)", class = "sigma")
  )
)
