//! Identities of reported quantities: the class of each and which one of its class, with the text that files and the screen have.
//!
//! ```
//! use ergodic_base::{Class, ParamId};
//!
//! let effect = ParamId::of(Class::Effect, ["school", "St. Ives, upper", "Intercept"]);
//! assert_eq!(effect.as_str(), "r[school,St. Ives, upper,Intercept]");
//! // Texts are read in one place, and two quantities never have the same text.
//! assert_eq!(ParamId::from(effect.as_str()), effect);
//! let other = ParamId::of(Class::Effect, ["school", "St. Ives", "plan=upper,Intercept"]);
//! assert_eq!(other.as_str(), "r[school,St. Ives,\"plan=upper,Intercept\"]");
//! ```

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Kinds of reported quantities that models have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Coefficient of a term: `b[age]`.
    Coefficient,
    /// Mean over groups of the coefficient of a term: `mu[age]`.
    Mean,
    /// Covariance between groups of the coefficients of two terms: `Sigma[Intercept,age]`.
    Covariance,
    /// Coefficient of a term in one group: `theta[north,age]`.
    GroupCoefficient,
    /// Coefficient of a term in the log odds of one level against the first: `logit[red,age]`.
    LevelCoefficient,
    /// Standard deviation between groups of the effect of a term: `sd[school,age]`; that of a smooth curve around its
    /// straight line: `sd[s(age)]`.
    Sd,
    /// Correlation between groups of the effects of two terms: `cor[school,Intercept,age]`.
    Correlation,
    /// How one group differs in the effect of a term: `r[school,17,age]`.
    Effect,
    /// How much one function of a basis bends a smooth curve: `bend[s(age),3]`.
    Bend,
    /// Share of a grouping in the variance: `icc[school]`.
    VarianceShare,
    /// Probability of a category: `p[heads]`.
    Probability,
    /// Share of a cluster: `weight[1]`.
    ClusterShare,
    /// Cut point between two neighbours of ordered levels: `cut[low|mid]`.
    CutPoint,
    /// Weight of a term in a hidden unit of a network: `hidden_weight[3,age]`.
    HiddenWeight,
    /// Weight of a hidden unit in the score of a level: `output_weight[red,3]`.
    OutputWeight,
    /// Anything else: `sigma`, `x[1,2]`.
    Other,
}

/// The term of a constant that is added: the name of the intercept among those of terms.
pub const INTERCEPT: &str = "Intercept";

/// Factors of users and of items, of which a rotation changes nothing: `user_factor[anna,1]`.
const FACTORS: [&str; 2] = ["user_factor", "item_factor"];

/// What a key of a quantity names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    Factor,
    Level,
    Term,
}

/// The word of each class before the bracket, and what stands in it.
const CLASSES: [(Class, &str, &[Key]); 15] = [
    (Class::Coefficient, "b", &[Key::Term]),
    (Class::Mean, "mu", &[Key::Term]),
    (Class::Covariance, "Sigma", &[Key::Term, Key::Term]),
    (Class::GroupCoefficient, "theta", &[Key::Level, Key::Term]),
    (Class::LevelCoefficient, "logit", &[Key::Level, Key::Term]),
    (Class::Sd, "sd", &[Key::Factor, Key::Term]),
    (
        Class::Correlation,
        "cor",
        &[Key::Factor, Key::Term, Key::Term],
    ),
    (Class::Effect, "r", &[Key::Factor, Key::Level, Key::Term]),
    (Class::Bend, "bend", &[Key::Factor, Key::Level]),
    (Class::VarianceShare, "icc", &[Key::Factor]),
    (Class::Probability, "p", &[Key::Level]),
    (Class::ClusterShare, "weight", &[Key::Level]),
    (Class::CutPoint, "cut", &[Key::Level]),
    (
        Class::HiddenWeight,
        "hidden_weight",
        &[Key::Level, Key::Term],
    ),
    (
        Class::OutputWeight,
        "output_weight",
        &[Key::Level, Key::Term],
    ),
];

impl Class {
    /// The word before the bracket and what stands in it.
    fn form(self) -> (&'static str, &'static [Key]) {
        let found = CLASSES.iter().find(|(class, ..)| *class == self);
        found.map_or(("", &[]), |(_, word, keys)| (word, keys))
    }

    /// The keys in `inside` where none is quoted: a grouping ends at the first comma, a term after a group begins after the
    /// last one, for names of groups may have commas.
    fn split(self, inside: &str) -> Vec<&str> {
        let (mut keys, mut rest) = (Vec::new(), inside);
        let mut roles = self.form().1;
        if self == Self::Other {
            return inside.split(',').collect();
        }
        if let [Key::Factor, after @ ..] = roles
            && !after.is_empty()
            && let Some((factor, other)) = rest.split_once(',')
        {
            keys.push(factor);
            (rest, roles) = (other, after);
        }
        let two = match roles {
            [Key::Level, Key::Term] => rest.rsplit_once(','),
            [Key::Term, Key::Term] => rest.split_once(','),
            _ => None,
        };
        match two {
            Some((first, second)) => keys.extend([first, second]),
            None => keys.push(rest),
        }
        keys
    }
}

/// A quantity that belongs to one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupEffect<'a> {
    /// The grouping; empty where there is only one.
    pub factor: &'a str,
    /// The group.
    pub level: &'a str,
    /// The term.
    pub term: &'a str,
}

/// Which quantity a column of draws is. A copy costs nothing.
///
/// Its text is what files and the screen have; two identities with the same text are equal, because a key is quoted wherever
/// its text would read otherwise. Fewer keys than the class has stand for all quantities that have these: `r[school]`.
#[derive(Clone, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct ParamId(Arc<Parts>);

struct Parts {
    text: String,
    class: Class,
    /// Bytes of the word before the bracket.
    word: usize,
    keys: Vec<String>,
}

impl ParamId {
    /// The quantity of `class` with these keys.
    pub fn of<K: Into<String>>(class: Class, keys: impl IntoIterator<Item = K>) -> Self {
        let keys = keys.into_iter().map(Into::into).collect();
        Self::new(class, class.form().0, keys)
    }

    /// The quantity called `word` with these keys, of the class that has this word.
    pub fn keyed<K: Into<String>>(word: &str, keys: impl IntoIterator<Item = K>) -> Self {
        let class = CLASSES.iter().find(|(_, known, _)| *known == word);
        let class = class.map_or(Class::Other, |(class, ..)| *class);
        Self::new(class, word, keys.into_iter().map(Into::into).collect())
    }

    /// A quantity of no class that has no keys, whatever is in its `name`.
    pub fn named(name: &str) -> Self {
        Self(Arc::new(Parts {
            text: name.to_owned(),
            class: Class::Other,
            word: name.len(),
            keys: Vec::new(),
        }))
    }

    fn new(class: Class, word: &str, keys: Vec<String>) -> Self {
        let reads = |text: &str| {
            let (read, other, found) = read(text);
            read == class && other == word && found == keys
        };
        let plain = written(word, keys.iter().map(String::as_str));
        let text = if reads(&plain) {
            plain
        } else {
            let quoted = |key: &String| format!("\"{}\"", key.replace('"', "\"\""));
            let odd = |key: &String| key.contains(',') || key.starts_with('"');
            let some = keys.iter().map(|key| match odd(key) {
                true => quoted(key),
                false => key.clone(),
            });
            let some = written(word, some);
            match reads(&some) {
                true => some,
                false => written(word, keys.iter().map(quoted)),
            }
        };
        Self(Arc::new(Parts {
            text,
            class,
            word: word.len(),
            keys,
        }))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0.text
    }

    /// The class.
    pub fn class(&self) -> Class {
        self.0.class
    }

    /// What stands before the bracket: `b` of `b[age]`, all of `sigma`.
    pub fn word(&self) -> &str {
        &self.0.text[..self.0.word]
    }

    /// What stands in the bracket, as it is without quotes.
    pub fn keys(&self) -> &[String] {
        &self.0.keys
    }

    fn key(&self, wanted: Key) -> Option<&str> {
        let roles = self.class().form().1.iter();
        let mut found = roles.zip(self.keys()).filter(|(role, _)| **role == wanted);
        found.next().map(|(_, key)| key.as_str())
    }

    /// The grouping, where the class has one.
    pub fn factor(&self) -> Option<&str> {
        self.key(Key::Factor)
    }

    /// The first term, where the class has one.
    pub fn term(&self) -> Option<&str> {
        self.key(Key::Term)
    }

    /// Whether the first term is the intercept.
    pub fn is_intercept(&self) -> bool {
        self.term() == Some(INTERCEPT)
    }

    /// Group, grouping and term of a quantity that belongs to one group: `theta[17,age]`, `r[school,17,age]`.
    pub fn group_effect(&self) -> Option<GroupEffect<'_>> {
        let is_effect = matches!(self.class(), Class::Effect | Class::GroupCoefficient);
        Some(GroupEffect {
            factor: self.factor().unwrap_or_default(),
            level: self.key(Key::Level).filter(|_| is_effect)?,
            term: self.term()?,
        })
    }

    /// Whether the parameter is one of many with a spread in common: a quantity of one group, a function that bends a smooth curve, or a
    /// weight of a network.
    pub fn is_varying(&self) -> bool {
        self.class() == Class::Bend || self.is_exchangeable() || self.group_effect().is_some()
    }

    /// Whether the parameter belongs to one of several units whose numbers may change without any consequence: it means nothing by itself.
    pub fn is_exchangeable(&self) -> bool {
        matches!(self.class(), Class::HiddenWeight | Class::OutputWeight)
            || FACTORS.contains(&self.word())
    }

    /// The name without quotes.
    fn unquoted(&self) -> String {
        written(self.word(), self.keys().iter().map(String::as_str))
    }

    /// Whether `name`, read from a file, is this quantity: files of earlier versions have names without quotes.
    pub fn was(&self, name: &Self) -> bool {
        self == name || *name == self.unquoted()
    }

    /// The vector that this quantity is in: `theta[*,age]` of `theta[north,age]`, `r[school,*,Intercept]` of
    /// `r[school,17,Intercept]`, `weight[*]` of `weight[3]`.
    pub fn vector(&self) -> Option<Self> {
        let mut keys = self.keys().to_vec();
        // With three keys the first names the grouping and the second the group; that of a curve is a vector of its own.
        let varies = usize::from(keys.len() >= 3 || self.class() == Class::Bend);
        *keys.get_mut(varies)? = "*".to_owned();
        Some(Self::new(self.class(), self.word(), keys))
    }

    /// The name with what `short` makes of each key, by its place.
    pub fn with_keys<'a>(&'a self, short: impl Fn(usize, &'a str) -> String) -> String {
        let keys = self.keys().iter().enumerate();
        written(self.word(), keys.map(|(k, key)| short(k, key)))
    }
}

/// Grouping and term of the effects of groups among `names` that `selected` is about: its own, those whose mean or spread it is, and
/// otherwise the first; `None` where there are none.
pub fn group_term<'a>(
    names: &'a [ParamId],
    selected: Option<&'a ParamId>,
) -> Option<(&'a str, &'a str)> {
    let found = |factor: Option<&str>, term: Option<&str>| {
        let effects = names.iter().filter_map(ParamId::group_effect);
        let mut wanted = effects.filter(|effect| {
            factor.is_none_or(|factor| factor == effect.factor)
                && term.is_none_or(|term| term == effect.term)
        });
        wanted.next()
    };
    let wanted = selected.and_then(|selected| match selected.class() {
        Class::Mean => found(None, selected.term()),
        Class::Sd => found(selected.factor(), selected.term()),
        _ => (selected.group_effect())
            .and_then(|effect| found(Some(effect.factor), Some(effect.term))),
    });
    wanted
        .or_else(|| found(None, None))
        .map(|effect| (effect.factor, effect.term))
}

/// What [varying](ParamId::is_varying) quantities among `names` are, in words.
pub fn varying_words<'a>(names: impl IntoIterator<Item = &'a ParamId>) -> &'static str {
    let (mut groups, mut curves) = (false, false);
    for name in names {
        if name.is_exchangeable() {
            return match name.class() {
                Class::Other => "factors",
                _ => "weights of a network",
            };
        }
        curves |= name.class() == Class::Bend;
        groups |= name.group_effect().is_some();
    }
    match (groups, curves) {
        (true, true) => "effects of groups and functions that bend curves",
        (false, true) => "functions that bend curves",
        _ => "effects of groups",
    }
}

/// `word[a,b]`, or the word alone.
fn written<K: AsRef<str>>(word: &str, keys: impl Iterator<Item = K>) -> String {
    let mut text = word.to_owned();
    for (k, key) in keys.enumerate() {
        text.push(if k == 0 { '[' } else { ',' });
        text.push_str(key.as_ref());
    }
    if text.len() > word.len() {
        text.push(']');
    }
    text
}

/// Class, word and keys of a name.
fn read(text: &str) -> (Class, &str, Vec<String>) {
    let Some((word, inside)) = text.strip_suffix(']').and_then(|text| text.split_once('[')) else {
        return (Class::Other, text, Vec::new());
    };
    let class = CLASSES.iter().find(|(_, known, _)| *known == word);
    let class = class.map_or(Class::Other, |(class, ..)| *class);
    let keys = read_quoted(inside).unwrap_or_else(|| {
        let keys = class.split(inside).into_iter();
        keys.map(str::to_owned).collect()
    });
    (class, word, keys)
}

/// Keys some of which are quoted; `None` if none is, or quotes stand otherwise.
fn read_quoted(inside: &str) -> Option<Vec<String>> {
    let (mut keys, mut rest, mut any) = (Vec::new(), inside, false);
    loop {
        let after = if let Some(mut quoted) = rest.strip_prefix('"') {
            any = true;
            let mut key = String::new();
            loop {
                let (before, after) = quoted.split_once('"')?;
                key.push_str(before);
                match after.strip_prefix('"') {
                    Some(more) => {
                        key.push('"');
                        quoted = more;
                    }
                    None => {
                        keys.push(key);
                        break after;
                    }
                }
            }
        } else {
            let end = rest.find(',').unwrap_or(rest.len());
            keys.push(rest[..end].to_owned());
            &rest[end..]
        };
        if after.is_empty() {
            return any.then_some(keys);
        }
        rest = after.strip_prefix(',')?;
    }
}

impl From<&str> for ParamId {
    /// Reads a name. Every text is one and stays as it is; one with quotes that nothing asks for is of no class.
    fn from(text: &str) -> Self {
        let (class, word, keys) = read(text);
        let id = Self::new(class, word, keys);
        if id == *text { id } else { Self::named(text) }
    }
}

impl From<String> for ParamId {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<ParamId> for String {
    fn from(id: ParamId) -> Self {
        id.as_str().to_owned()
    }
}

crate::reads_as_text!(ParamId);

impl Eq for ParamId {}

impl PartialOrd for ParamId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ParamId {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl Hash for ParamId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl fmt::Debug for ParamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_read_by_their_class() {
        for (name, class, keys) in [
            ("b[age]", Class::Coefficient, &["age"][..]),
            ("b[plan=a, b]", Class::Coefficient, &["plan=a, b"]),
            ("theta[17,age]", Class::GroupCoefficient, &["17", "age"]),
            ("logit[a, b,age]", Class::LevelCoefficient, &["a, b", "age"]),
            (
                "theta[St. Ives, upper,age:dose]",
                Class::GroupCoefficient,
                &["St. Ives, upper", "age:dose"],
            ),
            ("r[school,17,x]", Class::Effect, &["school", "17", "x"]),
            ("r[g,a, b,x]", Class::Effect, &["g", "a, b", "x"]),
            ("r[school]", Class::Effect, &["school"]),
            ("sd[g,plan=a, b]", Class::Sd, &["g", "plan=a, b"]),
            (
                "cor[g,Intercept,x]",
                Class::Correlation,
                &["g", "Intercept", "x"],
            ),
            ("Sigma[age,dose]", Class::Covariance, &["age", "dose"]),
            ("bend[s(age),3]", Class::Bend, &["s(age)", "3"]),
            ("p[a]b]", Class::Probability, &["a]b"]),
            ("x[1,2]", Class::Other, &["1", "2"]),
            ("lp__", Class::Other, &[]),
            ("a[b", Class::Other, &[]),
            ("b[]", Class::Coefficient, &[""]),
        ] {
            let id = ParamId::from(name);
            assert_eq!((id.as_str(), id.class()), (name, class));
            assert_eq!(id.keys(), keys, "{name}");
            assert_eq!(id.unquoted(), name);
        }
        let effect = ParamId::from("r[g,a, b,x]");
        let effect = effect.group_effect().unwrap();
        assert_eq!(
            (effect.factor, effect.level, effect.term),
            ("g", "a, b", "x")
        );
        let bend = ParamId::from("bend[s(age),3]");
        assert!(bend.is_varying() && bend.group_effect().is_none());
        assert_eq!(bend.vector().unwrap(), "bend[s(age),*]");
        assert!(!ParamId::from("sd[s(age)]").is_varying());
        for name in [
            "mu[age]",
            "sd[school,age]",
            "theta[1]",
            "logit[red,age]",
            "r[school]",
            "p[a]",
            "lp__",
        ] {
            assert_eq!(ParamId::from(name).group_effect(), None, "{name}");
        }
    }

    #[test]
    fn effects_of_groups_are_those_that_a_parameter_is_about() {
        let names: Vec<ParamId> = [
            "mu[a]",
            "mu[b]",
            "theta[1,a]",
            "theta[1,b]",
            "sd[h,c]",
            "r[h,x,c]",
        ]
        .map(ParamId::from)
        .into();
        for (selected, expected) in [
            ("mu[b]", ("", "b")),
            ("theta[1,b]", ("", "b")),
            ("sd[h,c]", ("h", "c")),
            ("r[h,x,c]", ("h", "c")),
            ("b[z]", ("", "a")),
        ] {
            let selected = ParamId::from(selected);
            assert_eq!(
                group_term(&names, Some(&selected)),
                Some(expected),
                "{selected}"
            );
        }
        assert_eq!(group_term(&names, None), Some(("", "a")));
        assert_eq!(group_term(&names[..2], None), None);
    }

    /// A level `a` with the coefficient of `p=b,c` and a level `a,p=b` with that of `c` were called the same.
    #[test]
    fn a_key_is_quoted_only_where_its_name_would_read_otherwise() {
        let name = |keys: [&str; 2]| ParamId::of(Class::GroupCoefficient, keys).to_string();
        assert_eq!(name(["a,p=b", "c"]), "theta[a,p=b,c]");
        assert_eq!(name(["a", "p=b,c"]), "theta[a,\"p=b,c\"]");
        assert_eq!(name(["a", "p=b\",c"]), "theta[a,\"p=b\"\",c\"]");
        assert_eq!(name(["\"a\"", "b"]), "theta[\"\"\"a\"\"\",b]");
        assert_eq!(name(["\"a", "b"]), "theta[\"a,b]");
    }

    #[test]
    fn a_word_of_ones_own_has_keys() {
        let id = ParamId::keyed("slope", ["north, east", "2"]);
        assert_eq!(id.as_str(), "slope[\"north, east\",2]");
        assert_eq!(ParamId::from(id.as_str()).keys(), ["north, east", "2"]);
        assert_eq!(
            ParamId::keyed("b", ["age"]),
            ParamId::of(Class::Coefficient, ["age"])
        );
    }

    proptest! {
        #[test]
        fn quantities_that_differ_have_names_that_differ(
            class in 0..CLASSES.len(),
            keys in proptest::collection::vec("[a,\"\\]\\[:]{0,4}", 1..4),
            text in "[a-c,\"\\]\\[]{0,12}",
        ) {
            let (class, ..) = CLASSES[class];
            prop_assume!(keys.len() <= class.form().1.len());
            let id = ParamId::of(class, keys.clone());
            let again = ParamId::from(id.as_str());
            prop_assert_eq!((again.class(), again.keys()), (class, &keys[..]), "{}", id.as_str());
            let read = ParamId::from(text.as_str());
            prop_assert_eq!(read.as_str(), text);
        }
    }
}
