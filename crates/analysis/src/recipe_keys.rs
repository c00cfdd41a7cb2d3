//! The entries of a recipe that are no settings of a template, sampler or optimiser: for lists and help.

/// One entry, as `--set` names it.
#[derive(Clone, Copy, Debug)]
pub struct RecipeKey {
    /// Section and name; `NAME` stands for a column, class or parameter.
    pub key: &'static str,
    /// Values.
    pub takes: &'static str,
    /// Default.
    pub default: &'static str,
    /// What the entry sets.
    pub about: &'static str,
    /// A value that it takes.
    pub example: &'static str,
}

const fn key(
    key: &'static str,
    takes: &'static str,
    default: &'static str,
    about: &'static str,
    example: &'static str,
) -> RecipeKey {
    RecipeKey {
        key,
        takes,
        default,
        about,
        example,
    }
}

/// All entries, by section.
#[rustfmt::skip]
pub const RECIPE_KEYS: &[RecipeKey] = &[
    key("data.source", "a path, or sample:NAME", "none", "The table; paths are relative to the recipe", "b.csv"),
    key("data.fingerprint", "a fingerprint, or none", "none; in saved recipes that of the table", "SHA-256 that the table must have, so that no other is taken for it; none takes whatever the table is now", "none"),
    key("data.import.delimiter", "a character", "guessed", "Separator between values", ";"),
    key("data.import.decimal", ". | ,", "guessed", "The decimal mark", "."),
    key("data.import.encoding", "a name such as utf-8 or windows-1252", "guessed", "How the text is encoded", "utf-8"),
    key("data.import.header", "true | false", "guessed", "Whether the first line holds the names of the columns", "true"),
    key("data.import.missing", "a list of texts", "guessed", "Codes for missing values, besides empty cells", "[\"-99\"]"),
    key("data.import.ragged", "join | skip", "refused", "Lines with more or fewer values than the header: join the surplus into the last column, or leave the line out", "skip"),
    key("data.import.max_gigabytes", "whole number", "256 MB or 25 times a packed file", "Most gigabytes that a packed file may unpack to, or that may come from a pipe", "4"),
    key("data.import.column_types.NAME", "number | category", "guessed", "How a column is read", "category"),
    key("data.storage", "f64 | f32", "f64", "Precision in which the predictors of rows are stored: f32 takes half the memory, and the run says by how much it moves estimates", "f32"),
    key("model.template", "a template of `ergodic list templates`", "by the outcome", "Model template", ergodic_core::models::names::LINEAR),
    key("model.formula", "a formula", "none", "Outcome and predictors", "y ~ z"),
    key("model.success", "a value of the outcome", "1, true, yes or the second", "What counts as success", "no"),
    key("model.levels", "a list of texts", "those in the data", "Categories of the outcome that may have no rows; all levels of an ordered outcome from lowest to highest, or of one without an order the reference first", "[\"a\", \"b\"]"),
    key("model.standardize", "true | false", "true", "Whether priors hold per standard deviation of the predictors", "false"),
    key("model.hold_out", "a share such as 0.2, a part such as 3/10, COLUMN=VALUE, or rows 3, 17", "none", "Rows kept out of the fit, to score its predictions by: that share of all rows, drawn by model.hold_out_seed; the third of ten parts drawn so; rows where the column has the value; or rows by number", "0.2"),
    key("model.hold_out_seed", "whole number from 0", "1", "Seed that rows to keep out are drawn by, apart from that of the run, so that runs with other seeds keep out the same rows", "7"),
    key("model.reference.NAME", "a level", "the first", "The level that others of the column are compared with", "a"),
    key("model.categorical", "a list of columns", "none", "Columns of numbers that are categories", "[\"x\"]"),
    key("model.top_levels.NAME", "whole number from 1", "all levels", "Most frequent values of a categorical predictor that are kept; all others are one value `other`", "20"),
    key("priors.default", "cautious | weakly-informative | papers", "weakly-informative; papers in a recipe without this entry", "Priors of coefficients that have none of their own: normal with standard deviation 1, 2.5 or 10", "papers"),
    key("priors.NAME", "a distribution such as normal(0, 2.5)", "by the template", "Prior of a class such as b or intercept, or of one parameter such as b[age]", "normal(0, 1)"),
    key("mode.method", "auto, or an optimiser of `ergodic list optimisers`", "auto", "How the mode of the posterior is found", "newton"),
    key("mode.start", "a list of numbers", "0 in internal coordinates", "Where the search starts, one number per reported variable", "[1.5]"),
    key("sampler.id", "auto, or a sampler of `ergodic list samplers`", "auto", "Sampler", ergodic_core::samplers::names::NUTS),
    key("run.chains", "whole number from 1 to 256", "4", "Chains, each with a thread of its own", "4"),
    key("run.superchains", "whole number from 2 that divides run.chains", "none: each chain begins at a point of its own", "Groups of neighbouring chains that begin at one point each: for many short chains, which nested R-hat judges", "2"),
    key("run.warmup", "whole number", "by the sampler", "Iterations before draws are kept", "50"),
    key("run.draws", "whole number from 1", "1000; 10000 or more with a target", "Kept draws per chain; the most, where another rule stops the run", "70"),
    key("run.keep", "all, or names and patterns such as b[*], sigma", "all", "Reported quantities whose draws are kept, in memory and on disk; of the others means and standard deviations are accumulated while the chains run", "b[*], sigma"),
    key("run.until_precise", "true | false", "true, unless draws or targets are named", "Whether a run of 1000 draws or more that is not precise enough goes on, where that is cheap", "false"),
    key("run.zero_variance", "linear | quadratic", "none", "Control variates by which means and standard deviations are corrected while the run goes on, from exact gradients that are kept with its draws: linear ones are exact for means of normal posteriors, quadratic ones also for variances", "linear"),
    key("run.seed", "whole number from 0", "1", "Seed of all random numbers", "7"),
    key("run.max_seconds", "a number above 0", "none", "Stop after this many seconds", "9"),
    key("run.target_ess", "a number above 0", "none", "Stop once every variable has this effective sample size, bulk and tail", "500"),
    key("run.target_rhat", "a number above 1", "1.01 with target_ess", "Stop once every R-hat is at most this", "1.02"),
    key("run.start", "mode | prior | values such as b[age]=1, intercept=0 | a run folder", "mode", "Where chains start: around the mode; each at a draw of the prior; at values, for all chains or with `;` between those of each, other parameters around the mode; or at the last draws of a run", "prior"),
    key("run.start_spread", "a number above 0", "2", "Posterior standard deviations around the mode at which chains start; a sampler that decides itself when its warm-up ends needs them far away, such as 10", "5"),
    key("run.start_draws.NAME", "a list of numbers", "read from the run folder", "The last draws of the run that run.start names, one per chain: written by the program, so that the recipe replays without that run", "[0.5, 1, 1, 1]"),
    key("run.warmup_of_chains", "a list of whole numbers", "none", "Where the warm-up of each chain was ended by hand", "[3, 3, 3, 3]"),
    key("run.draws_of_chains", "a list of whole numbers", "none", "Kept draws of each chain of a run that was stopped: replays it exactly", "[3, 3, 3, 3]"),
    key("report.scale", "original | standardised", "original", "Scale of reported coefficients", "standardised"),
];

#[cfg(test)]
mod tests {
    use super::super::Recipe;
    use super::*;

    #[test]
    fn every_key_is_taken_and_changes_the_recipe() {
        let recipe = Recipe::new("a.csv", "logistic", "y ~ x");
        for entry in RECIPE_KEYS {
            let change = format!("{}={}", entry.key.replace("NAME", "b"), entry.example);
            let changed = recipe.changed(&[change]).unwrap();
            // The example of lists by chain is for as many chains as there are by default.
            if entry.key != "run.chains" {
                assert_ne!(changed, recipe, "{}", entry.key);
            }
        }
    }

    #[test]
    fn every_entry_of_a_full_recipe_has_a_key() {
        let recipe = Recipe::new("a.csv", "logistic", "y ~ x");
        let changes: Vec<String> = (RECIPE_KEYS.iter())
            .map(|entry| format!("{}={}", entry.key.replace("NAME", "b"), entry.example))
            .collect();
        let full: toml::Table = recipe.changed(&changes).unwrap().to_toml().parse().unwrap();
        let known = |path: &str| {
            RECIPE_KEYS
                .iter()
                .any(|entry| entry.key.replace("NAME", "b") == path)
        };
        fn walk(table: &toml::Table, path: &str, known: &dyn Fn(&str) -> bool) {
            for (key, value) in table {
                let path = if path.is_empty() {
                    key.clone()
                } else {
                    format!("{path}.{key}")
                };
                match value {
                    toml::Value::Table(inner) => walk(inner, &path, known),
                    // What every recipe begins with.
                    _ => assert!(known(&path) || path == "format", "{path}"),
                }
            }
        }
        walk(&full, "", &known);
    }
}
