# Degrees of freedom and p values of fixed effects by Satterthwaite's method, and likelihood-ratio tests, for the linear sets of
# lme4.R:
#
#     Rscript satterthwaite.R lme4
#
# reads lme4/<set>.csv and writes lme4/tests.csv (fit,quantity,name,value with 17 significant digits): df, p of each fixed effect
# (lmerTest), and statistic, df and p of a comparison with the model without the slope (anova of two ML fits).

suppressPackageStartupMessages({ library(lme4); library(lmerTest) })
folder <- commandArgs(trailingOnly = TRUE)[1]
rows <- list()
add <- function(fit, quantity, name, value)
  rows[[length(rows) + 1]] <<- data.frame(fit = fit, quantity = quantity, name = name,
                                          value = trimws(formatC(value, digits = 17, format = "g")))
control <- lmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-10, maxfun = 1e6), check.conv.singular = "ignore",
                       check.conv.grad = "ignore", check.conv.hess = "ignore")
both <- function(id, set, larger, smaller) {
  data <- read.csv(file.path(folder, paste0(set, ".csv")))
  fit <- function(formula, reml, start = NULL)
    do.call(lmerTest::lmer, list(formula, data, REML = reml, control = control, start = start))
  refit <- function(formula, reml) fit(formula, reml, getME(fit(formula, reml), "theta"))
  for (reml in c(TRUE, FALSE)) {
    name <- paste0(id, if (reml) ":reml" else ":ml")
    table <- coef(summary(refit(larger, reml), ddf = "Satterthwaite"))
    add(name, "df", seq_len(nrow(table)), table[, "df"])
    add(name, "p", seq_len(nrow(table)), table[, "Pr(>|t|)"])
  }
  compared <- anova(refit(smaller, FALSE), refit(larger, FALSE))
  add(id, "chisq", "", compared$Chisq[2])
  add(id, "chisq_df", "", compared$Df[2])
  add(id, "chisq_p", "", compared$`Pr(>Chisq)`[2])
}

both("balanced", "balanced", y ~ x + (1 | g), y ~ 1 + (1 | g))
both("unbalanced", "unbalanced", y ~ x + f + (1 | g), y ~ x + (1 | g))
both("crossed", "crossed", y ~ x + (1 | subject) + (1 | item), y ~ x + (1 | subject))
both("crossed-slope", "crossed", y ~ x + (1 + x | subject) + (1 | item), y ~ x + (1 | subject) + (1 | item))
both("nested", "nested", y ~ x + (1 | school) + (1 | school:class), y ~ x + (1 | school))
both("slopes", "slopes", y ~ day + (day | subject), y ~ day + (1 | subject))
both("independent", "slopes", y ~ day + (day || subject), y ~ 1 + (day || subject))
both("none", "none", y ~ x + (1 | g), y ~ 1 + (1 | g))

write.csv(do.call(rbind, rows), file.path(folder, "tests.csv"), row.names = FALSE, quote = FALSE)
