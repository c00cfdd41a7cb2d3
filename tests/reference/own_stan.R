# Log densities of programs in own_stan/*.model by Stan, from the code that `ergodic show --as stan` writes for them.
#
#   Rscript tests/reference/own_stan.R target/debug/ergodic
#
# Writes own_stan/NAME.stan, the code, and own_stan/NAME.csv: unconstrained coordinates, and the log density there with the Jacobian, up to a
# constant. Needs rstan; the code is rewritten for versions that do not know `array[N] int` yet.
suppressMessages(library(rstan))
rstan_options(boost_lib = "/usr/include")
program <- normalizePath(commandArgs(TRUE)[1])
here <- file.path("tests", "reference", "own_stan")
table <- read.csv(file.path(here, "data.csv"))
for (file in list.files(here, "[.]model$", full.names = TRUE)) {
  stem <- sub("[.]model$", "", file)
  code <- system2(program, c("show", "--model", file, "--data", file.path(here, "data.csv"), "--as", "stan"), stdout = TRUE)
  writeLines(code, paste0(stem, ".stan"))
  # What is data: columns, codes of categories in the order of the alphabet, and expressions that a comment has.
  data <- list(N = nrow(table))
  for (name in names(table)) {
    column <- table[[name]]
    data[[name]] <- if (is.character(column)) as.integer(factor(column)) else column
    if (is.character(column)) data[[paste0("K_", name)]] <- length(unique(column))
  }
  for (line in grep("^  array.* y[0-9]+;", code, value = TRUE)) {
    name <- sub(".* (y[0-9]+);.*", "\\1", line)
    data[[name]] <- as.integer(eval(parse(text = sub(".*// ", "", line)), table))
  }
  old <- gsub("^( *)array\\[([^]]*)\\] (.*) ([A-Za-z_0-9]+);", "\\1\\3 \\4[\\2];", code)
  fit <- suppressWarnings(suppressMessages(stan(model_code = paste(old, collapse = "\n"), data = data, chains = 0)))
  dim <- get_num_upars(fit)
  set.seed(1)
  points <- matrix(rnorm(4 * dim), 4)
  density <- apply(points, 1, function(u) log_prob(fit, u, adjust_transform = TRUE))
  write.table(format(cbind(points, density), digits = 17), paste0(stem, ".csv"), sep = ",", quote = FALSE,
    row.names = FALSE, col.names = c(paste0("u", seq_len(dim)), "log_density"))
}
