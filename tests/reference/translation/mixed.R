library(brms)
# Priors in standard deviations of y, on the scale of the data
# Priors per standard deviation of a predictor, divided by that standard deviation
fit <- brm(
  y ~ x + z + (1 + x + z | school) + (1 | class),
  data = data, family = gaussian(),
  prior = c(
    set_prior("normal(32.529500000000006, 64.12339257244582)", class = "Intercept"),
    set_prior("normal(0, 38.198964363064356)", class = "b", coef = "x"),
    set_prior("normal(0, 62.675312886260215)", class = "b", coef = "z"),
    set_prior("student_t(3, 0, 16.030848143111456)", class = "sigma"),
    set_prior("student_t(3, 0, 16.030848143111456)", class = "sd", group = "school", coef = "Intercept"),
    set_prior("exponential(0.26178720200250455)", class = "sd", group = "school", coef = "x"),
    set_prior("student_t(3, 0, 15.668828221565054)", class = "sd", group = "school", coef = "z"),
    set_prior("lkj(2)", class = "cor", group = "school"),
    set_prior("student_t(3, 0, 16.030848143111456)", class = "sd", group = "class", coef = "Intercept")
  )
)
