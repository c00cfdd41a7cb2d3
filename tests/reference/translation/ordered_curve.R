library(brms)
data$rating <- factor(data$rating, levels = c("1", "2", "3", "4"), ordered = TRUE)
# brms measures the columns of s() in units of its own: its curves are these, its priors of them are its own
# Priors per standard deviation of a predictor, divided by that standard deviation
fit <- brm(
  rating ~ s(x, k = 5) + (1 | school),
  data = data, family = cumulative("logit"),
  prior = c(
    set_prior("student_t(3, 0, 10)", class = "Intercept"),
    set_prior("student_t(3, 0, 2.5)", class = "sd", group = "school", coef = "Intercept")
  )
)
