# What brms 2.18 makes of the calls in this folder: Rscript translation.R
# Every call must be read, with priors for parameters that there are; brms/CASE.stan and CASE.json are for translation.py.
suppressMessages(library(brms))
dir.create("brms", showWarnings = FALSE)
read <- function() read.csv("data.csv")
for (file in list.files(".", "\\.R$")) {
  case <- sub("\\.R$", "", file)
  if (case == "translation") next
  data <- read()
  code <- parse(file)
  environment <- new.env()
  assign("data", data, environment)
  assign("brm", function(...) {
    program <- make_stancode(..., save_model = NULL)
    writeLines(program, file.path("brms", paste0(case, ".stan")))
    writeLines(jsonlite::toJSON(unclass(make_standata(...)), auto_unbox = FALSE, digits = NA, matrix = "rowmajor"),
               file.path("brms", paste0(case, ".json.raw")))
    list(...)
  }, environment)
  for (line in code) eval(line, environment)
  # Numbers stay numbers, vectors of one element stay vectors.
  raw <- jsonlite::fromJSON(file.path("brms", paste0(case, ".json.raw")), simplifyVector = TRUE)
  stan <- readLines(file.path("brms", paste0(case, ".stan")))
  scalar <- function(name) any(grepl(paste0("^ *(int|real)(<[^>]*>)? ", name, ";"), stan))
  out <- lapply(names(raw), function(name) if (scalar(name)) jsonlite::unbox(raw[[name]]) else raw[[name]])
  names(out) <- names(raw)
  writeLines(jsonlite::toJSON(out, digits = NA), file.path("brms", paste0(case, ".json")))
  file.remove(file.path("brms", paste0(case, ".json.raw")))
  cat(case, "read by brms\n")
}
