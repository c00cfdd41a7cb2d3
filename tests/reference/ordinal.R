# Ordinal regressions with and without groups by Stan, from the code that `ergodic show --as stan` writes for them:
#
#     Rscript tests/reference/ordinal.R target/debug/ergodic
#
# simulates ordinal_data.csv (120 tastings of wine by 10 judges: judge, temp, contact, rating from 1 to 5, taste in words), writes the
# programs ordinal/NAME.stan and ordinal_r.csv (name,value):
# - NAME:u:i:j and NAME:density:i, unconstrained coordinates in Stan's order, and the log density there with the Jacobian, up to a
#   constant;
# - mixed:PARAMETER, PARAMETER:mcse and PARAMETER:sd, posterior means of the mixed model, their Monte Carlo standard errors and
#   standard deviations, from 4 chains of 10,000 draws.
# Needs rstan; the code is rewritten for versions that do not know `array[N] int` yet.
suppressMessages(library(rstan))
rstan_options(boost_lib = "/usr/include")
program <- normalizePath(commandArgs(TRUE)[1])
here <- file.path("tests", "reference")
set.seed(47)
judge <- rep(sprintf("j%d", 1:10), each = 12)
temp <- rep(c("cold", "warm"), 60)
contact <- rep(rep(c("no", "yes"), each = 2), 30)
effect <- rnorm(10, 0, 1.1)
latent <- 1.8 * (temp == "warm") + 1.1 * (contact == "yes") + rep(effect, each = 12) + rlogis(120)
rating <- findInterval(latent, c(-1.2, 0.9, 2.6, 4.1)) + 1
words <- c("poor", "fair", "good", "very good", "excellent")
table <- data.frame(judge, temp, contact, rating, taste = words[rating])
data_file <- file.path(here, "ordinal_data.csv")
write.csv(table, data_file, row.names = FALSE, quote = FALSE)
out <- c()
put <- function(name, value) out[[name]] <<- value

x <- cbind(as.numeric(temp == "warm"), as.numeric(contact == "yes"))
common <- list(N = 120, x = x, y = rating)
by_judge <- as.integer(factor(judge, levels = sort(unique(judge))))
cases <- list(
  plain = list(args = c("--template", "ordered", "--formula", shQuote("rating ~ temp + contact")), data = common),
  raw = list(args = c("--template", "ordered", "--formula", shQuote("taste ~ temp + contact"), "--set", "model.standardize=false"),
    data = common),
  mixed = list(args = c("--template", "mixed", "--set", "model.family=ordered", "--set", "model.parametrisation=non-centred",
    "--formula", shQuote("rating ~ temp + contact + (1 | judge)")),
    data = c(common, list(J_1 = 10, group_1 = by_judge)))
)
for (name in names(cases)) {
  case <- cases[[name]]
  code <- system2(program, c("show", "--data", data_file, case$args, "--as", "stan"), stdout = TRUE)
  writeLines(code, file.path(here, "ordinal", paste0(name, ".stan")))
  old <- gsub("^( *)array\\[([^]]*)\\] (.*) ([A-Za-z_0-9]+);", "\\1\\3 \\4[\\2];", code)
  model <- suppressMessages(stan_model(model_code = paste(old, collapse = "\n")))
  fit <- suppressWarnings(suppressMessages(sampling(model, data = case$data, chains = 0)))
  dim <- get_num_upars(fit)
  set.seed(1)
  points <- matrix(0.7 * rnorm(3 * dim), 3)
  for (i in 1:3) {
    for (j in 1:dim) put(sprintf("%s:u:%d:%d", name, i, j), points[i, j])
    put(sprintf("%s:density:%d", name, i), log_prob(fit, points[i, ], adjust_transform = TRUE))
  }
}
drawn <- sampling(model, data = cases$mixed$data, chains = 4, iter = 11000, warmup = 1000, seed = 3, refresh = 0)
summary <- summary(drawn)$summary
found <- rownames(summary)
for (name in grep("^(b\\[|b_cut\\[|sd_1)", found, value = TRUE)) {
  put(paste0("mixed:", name), summary[name, "mean"])
  put(paste0("mixed:", name, ":mcse"), summary[name, "se_mean"])
  put(paste0("mixed:", name, ":sd"), summary[name, "sd"])
}
writeLines(c("name,value", sprintf("%s,%.17g", names(out), unlist(out))), file.path(here, "ordinal_r.csv"))
