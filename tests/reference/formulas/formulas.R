# Model matrices of R for formula functions: Rscript formulas.R DIR writes data.csv, new.csv, matrix.csv and predict.csv.
#
# matrix.csv and predict.csv have the rows formula,column,row,value; the columns are those of model.matrix, in its order,
# without the intercept. predict.csv holds the same functions at the rows of new.csv, some of them beyond the range of the data.
library(splines)
dir <- commandArgs(trailingOnly = TRUE)[1]
set.seed(20)
n <- 30
data <- data.frame(x = round(rgamma(n, 2, 0.5), 3), z = round(rnorm(n, 100, 5), 2),
                   k = sample(0:9, n, replace = TRUE), f = sample(c("a", "b", "c"), n, replace = TRUE), y = seq_len(n))
new <- data.frame(x = c(0.05, 0.5, 2, 5.5, 30), z = c(70, 99, 100, 101.5, 130), k = c(-0.5, 0, 3, 9, 14),
                  f = c("a", "b", "c", "a", "b"))
formulas <- c(
  "log(x)", "log2(x) + log10(x)", "log1p(k) + sqrt(x) + exp(k) + abs(z)", "scale(z)", "I(x^2) + I(z^3)",
  "poly(x, 3)", "poly(z, 6)", "poly(x, 3, raw = TRUE)",
  "ns(x, 1)", "ns(x, 2)", "ns(x, 3)", "ns(z, 7)",
  "bs(x, 3)", "bs(x, 4)", "bs(z, 10)", "bs(x, 5, degree = 2)", "bs(x, 3, degree = 1)",
  "ns(log(x), 3)", "f + ns(x, 3) + f:ns(x, 3)", "f:poly(x, 2)", "log(x) + z + log(x):z",
  "ns(x, 2):bs(z, 3)", "I(x > 2) + I(k == 0) + I(z <= 100.5)", "I(z - 100) + I(x/10) + I(I(z - 90)^2)", "(x + z + f)^2",
  "f/x", "factor(k) + x", "as.factor(k):x", "(f + k)/x", "log(I(x + 1)) + k")
long <- function(formula, matrix) {
  matrix <- matrix[, colnames(matrix) != "(Intercept)", drop = FALSE]
  data.frame(formula = formula, column = rep(colnames(matrix), each = nrow(matrix)),
             row = rep(seq_len(nrow(matrix)), ncol(matrix)), value = sprintf("%.15g", as.vector(matrix)))
}
fitted <- lapply(formulas, function(formula) {
  frame <- model.frame(as.formula(paste("~", formula)), data)
  long(formula, model.matrix(terms(frame), frame))
})
# Categories of numbers that only new data have are an error there.
predicted <- lapply(grep("factor", formulas, value = TRUE, invert = TRUE), function(formula) {
  terms <- terms(model.frame(as.formula(paste("~", formula)), data))
  frame <- suppressWarnings(model.frame(terms, new, xlev = list(f = c("a", "b", "c"))))
  long(formula, suppressWarnings(model.matrix(terms, frame)))
})
write <- function(frame, file) write.csv(frame, file.path(dir, file), row.names = FALSE, quote = c(1, 2))
write.csv(data, file.path(dir, "data.csv"), row.names = FALSE, quote = FALSE)
write.csv(new, file.path(dir, "new.csv"), row.names = FALSE, quote = FALSE)
write(do.call(rbind, fitted), "matrix.csv")
write(do.call(rbind, predicted), "predict.csv")
