//! Names: shortened where there is little room, and found again where they are misspelt.

use std::collections::HashMap;

use strsim::levenshtein;

/// Shortens `Intercept` to `Int…` and `region=north` to `reg…=north`: the level distinguishes.
pub fn shorten_term(term: &str, letters: usize) -> String {
    let (word, level) = term.split_at(term.find('=').unwrap_or(term.len()));
    if word.chars().count() <= letters + 1 {
        return term.to_owned();
    }
    let kept: String = word.chars().take(letters).collect();
    format!("{kept}…{level}")
}

/// Words in a sentence: "a", "a and b", "a, b and c"; of more than `most` the first ones and how many more there are.
pub fn listed<T: Into<String>>(words: impl IntoIterator<Item = T>, most: usize) -> String {
    let mut words: Vec<String> = words.into_iter().map(T::into).collect();
    if words.len() > most {
        let more = words.len() - most;
        words.truncate(most);
        words.push(format!("{more} more"));
    }
    match words.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => words.concat(),
    }
}

/// Names no two of which are alike: those in `plain`, but where some coincide what `quoted` makes of these, by their place.
/// What it makes of all of them must differ.
pub fn told_apart(plain: Vec<String>, quoted: impl Fn(usize) -> String) -> Vec<String> {
    let repeats = |names: &[String]| -> Vec<bool> {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for name in names {
            *counts.entry(name).or_default() += 1;
        }
        names.iter().map(|name| counts[name.as_str()] > 1).collect()
    };
    let alike = repeats(&plain);
    if !alike.contains(&true) {
        return plain;
    }
    let pairs = plain.into_iter().zip(&alike).enumerate();
    let names: Vec<String> = pairs
        .map(|(k, (name, alike))| if *alike { quoted(k) } else { name })
        .collect();
    match repeats(&names).contains(&true) {
        true => (0..names.len()).map(quoted).collect(),
        false => names,
    }
}

/// Lets a type read as the text that its method `as_str` gives, and equal every text that is the same.
#[macro_export]
macro_rules! reads_as_text {
    ($type:ty) => {
        impl std::ops::Deref for $type {
            type Target = str;

            fn deref(&self) -> &str {
                self.as_str()
            }
        }

        impl AsRef<str> for $type {
            fn as_ref(&self) -> &str {
                self.as_str()
            }
        }

        impl std::borrow::Borrow<str> for $type {
            fn borrow(&self) -> &str {
                self.as_str()
            }
        }

        impl<T: AsRef<str> + ?Sized> PartialEq<T> for $type {
            fn eq(&self, other: &T) -> bool {
                self.as_str() == other.as_ref()
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

/// Names of more letters are not compared: nobody mistypes them, and comparing takes time.
const LONGEST_COMPARED: usize = 100;
/// Names that one is compared with at most.
const MOST_COMPARED: usize = 10_000;

/// The name most like `wanted` by the letters to change, add or leave out, upper and lower case being equal; `None` if none is.
pub fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let letters = wanted.chars().count();
    if letters > LONGEST_COMPARED {
        return None;
    }
    let folded = wanted.to_lowercase();
    let near = names
        .filter(|name| name.len() <= 4 * LONGEST_COMPARED)
        .take(MOST_COMPARED)
        .map(|name| (levenshtein(&folded, &name.to_lowercase()), name))
        .min();
    // Something must be left of it: all names of one letter are one letter apart.
    near.filter(|(distance, _)| *distance <= 1 + letters / 4 && *distance < letters)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::{shorten_term, told_apart};

    #[test]
    fn terms_lose_letters_and_keep_their_levels() {
        assert_eq!(shorten_term("Intercept", 3), "Int…");
        assert_eq!(shorten_term("region=north", 3), "reg…=north");
        assert_eq!(shorten_term("plan=a_long_level", 3), "plan=a_long_level");
        assert_eq!(shorten_term("age", 3), "age");
    }

    #[test]
    fn names_that_coincide_are_quoted() {
        let apart =
            |names: [&str; 3]| told_apart(names.map(str::to_owned).to_vec(), |k| format!("`{k}`"));
        assert_eq!(apart(["a", "b", "c"]), ["a", "b", "c"]);
        assert_eq!(apart(["a", "b", "a"]), ["`0`", "b", "`2`"]);
        assert_eq!(apart(["a", "`0`", "a"]), ["`0`", "`1`", "`2`"]);
    }
}
