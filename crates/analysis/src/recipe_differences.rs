//! What differs between two recipes, entry by entry.

use std::collections::BTreeMap;

use super::recipe::Recipe;

/// An entry that two recipes do not agree on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingDifference {
    /// Section and name, as `--set` takes them.
    pub key: String,
    /// What each of the two says; `None` where it leaves the entry open.
    pub values: [Option<String>; 2],
}

/// Entries that say nothing of what is run: the layout of the file, and the checksum of the data.
const SILENT: [&str; 2] = ["format", "data.fingerprint"];
/// Begin of entries with numbers that another entry names.
const NUMBERS: &str = "run.start_draws.";

impl Recipe {
    /// The entries that this recipe and `other` do not agree on, by section and name.
    pub fn differences(&self, other: &Self) -> Vec<SettingDifference> {
        let mut entries: BTreeMap<String, [Option<String>; 2]> = BTreeMap::new();
        for (k, recipe) in [self, other].into_iter().enumerate() {
            let table: toml::Table = recipe.to_toml().parse().unwrap_or_default();
            collect(&table, "", &mut |key, value| {
                entries.entry(key).or_default()[k] = Some(value);
            });
        }
        let differs = |(key, values): &(String, [Option<String>; 2])| {
            values[0] != values[1] && !SILENT.contains(&key.as_str()) && !key.starts_with(NUMBERS)
        };
        entries
            .into_iter()
            .filter(differs)
            .map(|(key, values)| SettingDifference { key, values })
            .collect()
    }
}

/// Calls `tell` with the dotted key and the value of each entry that is no table.
fn collect(table: &toml::Table, section: &str, tell: &mut dyn FnMut(String, String)) {
    for (name, value) in table {
        let is_plain = !name.contains(['.', '=', '"', ' ']);
        let name = match is_plain {
            true => name.clone(),
            false => format!("\"{name}\""),
        };
        let key = match section {
            "" => name,
            section => format!("{section}.{name}"),
        };
        match value {
            toml::Value::Table(inner) => collect(inner, &key, tell),
            toml::Value::String(text) => tell(key, text.clone()),
            other => tell(key, other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_that_differ_are_told_with_both_values() {
        let recipe = Recipe::new("a.csv", "logistic", "y ~ x");
        assert_eq!(recipe.differences(&recipe), []);
        let changes = [
            "priors.b=normal(0, 1)",
            "run.seed=7",
            "priors.\"b[x.y]\"=normal(0, 2)",
        ];
        let other = recipe.changed(&changes.map(str::to_owned)).unwrap();
        let found = recipe.differences(&other);
        let of = |key: &str| {
            let mut found = found.iter().filter(|it| it.key == key);
            found.next().map(|it| it.values.clone())
        };
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(of("priors.b"), Some([None, text("normal(0, 1)")]));
        assert_eq!(of("run.seed"), Some([text("1"), text("7")]));
        assert_eq!(of("priors.\"b[x.y]\""), Some([None, text("normal(0, 2)")]));
        assert_eq!(found.len(), 3, "{found:?}");
        // What is told can be set.
        let again = found.iter().filter_map(|it| {
            let value = it.values[1].as_ref()?;
            Some(format!("{}={value}", it.key))
        });
        assert_eq!(recipe.changed(&again.collect::<Vec<_>>()).unwrap(), other);
    }
}
