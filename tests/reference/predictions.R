# Predictions of lme4 for rows of the fits' data and for new ones, with and without group effects:
#
#     Rscript predictions.R lme4
#
# reads lme4/<set>.csv, writes the new rows to lme4/new_<set>.csv and to lme4/predictions.csv
# fit,row,fixed,with: predict(type = "response") with re.form = NA and NULL; groups that the fit does not have get 0.
# Optimisers run at the tolerances of lme4.R.

suppressPackageStartupMessages({ library(lme4); library(splines) })
out <- commandArgs(trailingOnly = TRUE)[1]
read <- function(name) read.csv(file.path(out, paste0(name, ".csv")), stringsAsFactors = FALSE)
tight <- list(maxfun = 100000, rhobeg = 0.2, rhoend = 1e-9)
lmm <- lmerControl(optimizer = "bobyqa", optCtrl = tight, calc.derivs = FALSE)
glmm <- glmerControl(optimizer = "bobyqa", optCtrl = tight, calc.derivs = FALSE, tolPwrss = 1e-12)

new <- list(
  unbalanced = data.frame(g = c("g02", "g05", "g99", "g13"), x = c(40, 61.5, 50, 72.25), f = c("a", "c", "b", "b")),
  slopes = data.frame(subject = c("s01", "s07", "s50", "s50", "s18"), day = c(4.5, 12, 0, 3, 9)),
  crossed = data.frame(subject = c("s01", "s03", "s77"), item = c("i01", "i44", "i02"), x = c(-0.9, 0.3, 1.2)),
  binary = data.frame(g = c("g01", "g09", "g77"), x = c(-2, 0.4, 1.1)),
  counts = data.frame(g = c("g01", "g04", "g88"), x = c(-0.5, 1, 0), e = c(0.5, 3, 2))
)
for (name in names(new))
  write.csv(new[[name]], file.path(out, paste0("new_", name, ".csv")), row.names = FALSE, quote = FALSE)

fits <- list(
  "unbalanced:reml" = lmer(y ~ x + f + (1 | g), read("unbalanced"), control = lmm),
  "unbalanced:spline" = lmer(y ~ ns(x, 3) + f + (1 | g), read("unbalanced"), control = lmm),
  "slopes:reml" = lmer(y ~ day + (day | subject), read("slopes"), control = lmm),
  "crossed:ml" = lmer(y ~ x + (1 + x | subject) + (1 | item), read("crossed"), REML = FALSE, control = lmm),
  "binary:laplace" = glmer(y ~ x + (1 | g), read("binary"), binomial, control = glmm),
  "counts:laplace" = glmer(y ~ x + offset(log(e)) + (1 | g), read("counts"), poisson, control = glmm)
)
result <- NULL
for (name in names(fits)) {
  set <- sub(":.*", "", name)
  predicted <- function(form) predict(fits[[name]], new[[set]], re.form = form, type = "response", allow.new.levels = TRUE)
  result <- rbind(result, data.frame(fit = name, row = seq_len(nrow(new[[set]])),
                                     fixed = format(predicted(NA), digits = 15), with = format(predicted(NULL), digits = 15)))
}
write.csv(result, file.path(out, "predictions.csv"), row.names = FALSE, quote = FALSE)
