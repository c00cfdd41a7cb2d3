//! The entries of a recipe that are no settings of a template, sampler or optimiser: for lists and help.

use super::Recipe;
use ergodic_base::settings::{Entry, Section as _};
use ergodic_core::models::{DefaultPriors, default_priors};

/// All entries, by section.
pub fn recipe_keys() -> Vec<Entry> {
    let mut entries = Recipe::entries();
    let mode = entries.iter().position(|it| it.key == "mode.method");
    let at = mode.expect("the mode stands after the priors");
    entries.splice(at..at, priors());
    entries
}

/// The entries of `[priors]`, whose names are those of classes and parameters but for one.
fn priors() -> [Entry; 2] {
    [
        Entry {
            key: "priors.default",
            name: default_priors::KEY,
            about: "Priors of coefficients that have none of their own: normal with standard deviation 1, 2.5 or 10",
            takes: "cautious | weakly-informative | papers".to_owned(),
            default: "weakly-informative; papers in a recipe without this entry".to_owned(),
            example: DefaultPriors::Papers.id(),
        },
        Entry {
            key: "priors.NAME",
            name: "NAME",
            about: "Prior of a class such as b or intercept, or of one parameter such as b[age]",
            takes: "a distribution such as normal(0, 2.5)".to_owned(),
            default: "by the template".to_owned(),
            example: "normal(0, 1)",
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_taken_and_changes_the_recipe() {
        let recipe = Recipe::new("a.csv", "logistic", "y ~ x");
        for entry in recipe_keys() {
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
        let changes: Vec<String> = (recipe_keys().iter())
            .map(|entry| format!("{}={}", entry.key.replace("NAME", "b"), entry.example))
            .collect();
        let full: toml::Table = recipe.changed(&changes).unwrap().to_toml().parse().unwrap();
        let keys = recipe_keys();
        let known = |path: &str| {
            keys.iter()
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
