//! What a table offers to a model: which columns could be explained, which could explain, which name groups of rows, which
//! stay out and why; and a guess of the outcome. The window's first questions and a command line without a formula use it.

use rayon::prelude::*;

use super::roles::Roles;
use super::table::Table;
use ergodic_base::numerals::plural;
use ergodic_core::design::{
    ColumnKind, Columns as _, MAX_CATEGORIES, MAX_LEVELS, is_rating, ordered_levels,
};
use ergodic_core::formula::{Factor, quote_name};

/// Most predictors that are taken without being asked for: a sentence can still name them all.
pub(crate) const MOST_PREDICTORS: usize = 6;
/// Levels from which a category is offered as a group: below, the spread of groups is hardly known, and above, one coefficient
/// per level says little about each.
pub(crate) const GROUP_LEVELS: usize = 8;
/// Levels up to which text is a category even where most rows differ.
const FEW_LEVELS: usize = 20;
/// Rows per value from which whole numbers 1, 2, … are a rating and not a few counts.
const ROWS_PER_RATING: usize = 3;
/// Variance over mean from which counts are clearly more scattered than a Poisson distribution allows for.
const OVERDISPERSED: f64 = 3.0;
/// Different numbers that are counted; beyond, they are "more than" these.
const MOST_COUNTED: usize = 1000;

/// Names of the columns of documents, in long tables of words.
const WORD_NAMES: [&str; 5] = ["word", "words", "term", "token", "lemma"];
const DOCUMENT_NAMES: [&str; 6] = [
    "document",
    "doc",
    "document_id",
    "doc_id",
    "docid",
    "text_id",
];
const COUNT_NAMES: [&str; 5] = ["count", "counts", "n", "freq", "frequency"];
/// Names that say what a column is for.
const OUTCOME_NAMES: [&str; 8] = [
    "y",
    "outcome",
    "response",
    "target",
    "label",
    "dependent",
    "dv",
    "resp",
];
/// Words within names that say the same.
const OUTCOME_WORDS: [&str; 10] = [
    "outcome",
    "response",
    "target",
    "label",
    "churn",
    "churned",
    "died",
    "survived",
    "defaulted",
    "relapsed",
];
/// Words within names that make an outcome likely.
const LIKELY_WORDS: [&str; 6] = ["score", "result", "price", "success", "event", "default"];
/// Words within names of columns that number rows or units.
const ID_WORDS: [&str; 8] = [
    "id", "idx", "index", "no", "nr", "number", "code", "rownames",
];
/// Words within names of columns that say which group a row belongs to.
const GROUP_WORDS: [&str; 20] = [
    "group", "county", "school", "class", "subject", "patient", "person", "site", "state",
    "region", "district", "batch", "clinic", "hospital", "country", "city", "plot", "block",
    "herd", "study",
];

/// What a column is as an outcome.
#[derive(Clone, Debug, PartialEq)]
pub enum OutcomeKind {
    /// Two values.
    TwoValues,
    /// Whole numbers that begin at 0 or 1, with their variance over their mean.
    Count {
        /// Variance over mean: 1 for a Poisson distribution.
        dispersion: f64,
    },
    /// Whole numbers from 1 to this one, each of which occurs.
    Rating(usize),
    /// Other numbers; how many different ones, unless they are very many.
    Number(Option<usize>),
    /// Levels that say their order; how many.
    Levels(usize),
    /// Categories without an order; how many.
    Categories(usize),
}

impl OutcomeKind {
    /// In a word or two: "count".
    pub fn label(&self) -> String {
        match self {
            Self::TwoValues => "yes or no".to_owned(),
            Self::Count { .. } => "count".to_owned(),
            Self::Rating(most) => format!("rating, 1 to {most}"),
            Self::Number(_) => "number".to_owned(),
            Self::Levels(levels) => format!("{levels} ordered levels"),
            Self::Categories(levels) => format!("{levels} categories"),
        }
    }

    /// What makes it that, as what can follow "because": "`y` holds 60 different numbers".
    pub fn reason(&self, column: &str) -> String {
        match self {
            Self::TwoValues => format!("`{column}` has two values"),
            Self::Count { dispersion } if *dispersion > OVERDISPERSED => format!(
                "`{column}` holds counts whose variance is {dispersion:.0} times their mean"
            ),
            Self::Count { .. } => format!("`{column}` holds whole numbers that begin at 0 or 1"),
            Self::Rating(most) => format!(
                "`{column}` holds ratings from 1 to {most}, which are taken as numbers; `ordered({column})` is for their levels"
            ),
            Self::Number(Some(different)) => {
                format!("`{column}` holds {different} different numbers")
            }
            Self::Number(None) => {
                format!("`{column}` holds more than {MOST_COUNTED} different numbers")
            }
            Self::Levels(levels) => format!("`{column}` has {levels} levels with an order"),
            Self::Categories(levels) => format!("`{column}` has {levels} categories"),
        }
    }

    /// Whether the outcome is a count with a variance far above its mean.
    pub fn is_overdispersed(&self) -> bool {
        matches!(self, Self::Count { dispersion } if *dispersion > OVERDISPERSED)
    }
}

/// What a column could be beside the outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// A predictor.
    Predictor,
    /// A group that rows belong to, with the number of groups.
    Group(usize),
    /// A column that stays out: in a word or two, and why as a clause.
    Aside(&'static str, String),
}

/// Why a column, named as in a formula, cannot be an outcome.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoOutcome {
    /// A column with one value in all rows.
    #[error("Column {name} has the single value `{only}`, so there is nothing to explain")]
    Constant {
        /// Column.
        name: String,
        /// Value of the column.
        only: String,
    },
    /// All its values are missing.
    #[error("Column {0} has no values, so it cannot be the outcome")]
    Empty(String),
    /// A column of dates.
    #[error("Column {0} holds dates, which cannot be explained; choose another outcome")]
    Dates(String),
    /// A column of texts that are nearly all different.
    #[error(
        "Column {name} has {texts} different texts in {}, which are too many for categories: {reason}; choose another outcome{}",
        plural(*rows, "row"),
        if *has_numbers {
            ", or set its type to number (data.import.column_types), which takes what is no number as missing"
        } else {
            ""
        }
    )]
    Texts {
        /// Column.
        name: String,
        /// Different texts.
        texts: usize,
        /// Rows that have one.
        rows: usize,
        /// Why the column is taken as texts.
        reason: String,
        /// Whether some of these are numbers.
        has_numbers: bool,
    },
    /// A column with more values than categories may have.
    #[error(
        "Column {0} has more than the {MAX_CATEGORIES} values that categories may have; choose another outcome"
    )]
    TooMany(String),
}

/// What one column could be.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    /// What the column is as an outcome, or why it cannot be one.
    pub outcome: Result<OutcomeKind, NoOutcome>,
    /// What the column could be otherwise.
    pub part: Part,
}

/// A guess of the outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guess {
    /// Column.
    pub column: String,
    /// Source of the guess, as what follows "guessed": "from its name".
    pub from: &'static str,
    /// Whether to go on with it without asking.
    pub sure: bool,
}

/// What a table offers to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Suggestions {
    /// Names of the columns, in order.
    pub names: Vec<String>,
    /// What each column could be, in the same order.
    pub offers: Vec<Offer>,
    /// The likeliest outcome, if any column can be one.
    pub guess: Option<Guess>,
}

impl Suggestions {
    /// Looks at all columns. Takes about as long as profiling them; run it on a worker thread.
    pub fn of(table: &Table) -> Self {
        let offers: Vec<Offer> = (0..table.columns().len())
            .into_par_iter()
            .map(|col| Offer {
                outcome: outcome_of(table, col, false),
                part: part_of(table, col),
            })
            .collect();
        let names: Vec<String> = table.names().map(str::to_owned).collect();
        let guess = guess(&names, &offers);
        Self {
            names,
            offers,
            guess,
        }
    }

    /// What the column of this name could be.
    pub fn offer(&self, column: &str) -> Option<&Offer> {
        let at = self.names.iter().position(|name| name == column)?;
        self.offers.get(at)
    }

    /// All columns that could explain `outcome`, or take part in a model without one.
    pub fn explaining(&self, outcome: Option<&str>) -> Vec<&str> {
        let pairs = self.names.iter().zip(&self.offers);
        pairs
            .filter(|(name, offer)| offer.part == Part::Predictor && Some(name.as_str()) != outcome)
            .map(|(name, _)| name.as_str())
            .collect()
    }

    /// The predictors of a first model: those columns, unless they are more than a handful.
    pub fn predictors(&self, outcome: Option<&str>) -> Vec<&str> {
        let mut all = self.explaining(outcome);
        if all.len() > MOST_PREDICTORS {
            all.clear();
        }
        all
    }

    /// Columns that could be groups, with how many groups each has.
    pub fn groups(&self) -> Vec<(&str, usize)> {
        let pairs = self.names.iter().zip(&self.offers);
        pairs
            .filter_map(|(name, offer)| match offer.part {
                Part::Group(levels) => Some((name.as_str(), levels)),
                _ => None,
            })
            .collect()
    }

    /// The formula of a topic model, where columns are called as those of words and documents, and perhaps counts, mostly are.
    pub fn documents(&self) -> Option<String> {
        let called = |wanted: &[&str]| {
            let is = |name: &&String| wanted.contains(&name.trim().to_lowercase().as_str());
            self.names.iter().find(is).map(|name| quote_name(name))
        };
        let (word, document) = (called(&WORD_NAMES)?, called(&DOCUMENT_NAMES)?);
        let count = called(&COUNT_NAMES).map_or(String::new(), |count| format!(" + {count}"));
        Some(format!("~ {word}{count} + (1 | {document})"))
    }

    /// The roles of a first model of `outcome`, or of one that explains none.
    pub fn roles(&self, outcome: Option<&str>) -> Roles {
        let predictors = self.predictors(outcome);
        Roles {
            response: outcome.map(str::to_owned),
            predictors: predictors
                .into_iter()
                .map(|name| Factor::Column(name.to_owned()))
                .collect(),
            ..Roles::default()
        }
    }

    /// Whether `roles` have just the predictors that would be suggested for some outcome, so that nothing chosen is lost when
    /// they follow another one.
    pub fn made(&self, roles: &Roles) -> bool {
        let plain = roles.interactions.is_empty()
            && roles.groups.is_empty()
            && roles.offsets.is_empty()
            && roles.weights.is_none()
            && roles.se.is_none()
            && roles.cens.is_none()
            && roles.intercept;
        let all = self.explaining(None);
        let named = |name: &&str| {
            let mut factors = roles.predictors.iter();
            factors.any(|factor| factor.as_column() == Some(*name))
        };
        let left_out = all.iter().filter(|name| !named(name)).count();
        plain
            && (roles.predictors.is_empty()
                || (roles.predictors.len() + left_out == all.len() && left_out <= 1))
    }
}

/// The likeliest outcome: by name, then by place.
fn guess(names: &[String], offers: &[Offer]) -> Option<Guess> {
    let able: Vec<usize> = (0..names.len())
        .filter(|&i| offers[i].outcome.is_ok())
        .collect();
    let made = |i: usize, from, sure| {
        Some(Guess {
            column: names[i].clone(),
            from,
            sure,
        })
    };
    let whole = able.iter().find(|&&i| {
        let name = names[i].trim().to_lowercase();
        OUTCOME_NAMES.contains(&name.as_str())
    });
    if let Some(&i) = whole {
        return made(i, "from its name", true);
    }
    let with = |wanted: &[&str]| -> Vec<usize> {
        let has = |i: &&usize| {
            let mut words = words_of(&names[**i]).into_iter();
            words.any(|word| wanted.contains(&word.as_str()))
        };
        able.iter().filter(has).copied().collect()
    };
    let named = with(&OUTCOME_WORDS);
    if let Some(&first) = named.first() {
        return made(first, "from its name", named.len() == 1);
    }
    if let Some(&first) = with(&LIKELY_WORDS).first() {
        return made(first, "from its name", false);
    }
    // The outcome of a table usually stands last or first.
    let fits = |i: usize| able.contains(&i) && offers[i].part == Part::Predictor;
    let last = names.len().checked_sub(1)?;
    if fits(last) {
        return made(last, "as the last column", false);
    }
    if fits(0) {
        return made(0, "as the first column", false);
    }
    let any = able.iter().rfind(|&&i| fits(i)).or(able.last())?;
    made(*any, "as a column that can be explained", false)
}

/// The words of a name, small: `kidScore`, `kid_score` and `Kid score` are "kid" and "score".
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for c in name.chars() {
        let new_word = !c.is_alphanumeric() || (c.is_uppercase() && was_small);
        if new_word && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        was_small = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

fn has_word(name: &str, wanted: &[&str]) -> bool {
    let is = |word: String| wanted.contains(&word.as_str());
    words_of(name).into_iter().any(is)
}

/// What column `col` is as an outcome; numbers are taken as categories where `categorical`.
///
/// # Errors
/// It has no values, a single value, dates, or texts that are nearly all different.
pub fn outcome_of(table: &Table, col: usize, categorical: bool) -> Result<OutcomeKind, NoOutcome> {
    let info = &table.columns()[col];
    let name = ergodic_core::formula::quote_name(&info.name);
    let present = table.num_rows() - info.num_missing;
    let levels = table.few_levels(col, MAX_CATEGORIES);
    let count = levels.as_ref().map(Vec::len);
    match (count, levels.as_ref().and_then(|levels| levels.first())) {
        (Some(1), Some(only)) => {
            let only = only.clone();
            return Err(NoOutcome::Constant { name, only });
        }
        (Some(0), _) => {
            return Err(NoOutcome::Empty(name));
        }
        (Some(2), _) => return Ok(OutcomeKind::TwoValues),
        _ => {}
    }
    if info.kind == ColumnKind::Date {
        return Err(NoOutcome::Dates(name));
    }
    let Some(numbers) = table.numbers(col).filter(|_| !categorical) else {
        return match count {
            Some(count) if count <= FEW_LEVELS || 2 * count <= present => {
                let says_order = || {
                    let levels = table.few_levels(col, MAX_LEVELS);
                    levels.is_some_and(|levels| ordered_levels::order(&levels).is_some())
                };
                Ok(match info.kind == ColumnKind::Text && says_order() {
                    true => OutcomeKind::Levels(count),
                    false => OutcomeKind::Categories(count),
                })
            }
            Some(texts) => Err(NoOutcome::Texts {
                name,
                texts,
                rows: present,
                reason: info.reason.clone(),
                has_numbers: table.texts(col).is_some_and(|cells| {
                    let mut numbers = cells.flatten().filter_map(|cell| cell.parse().ok());
                    numbers.any(f64::is_finite)
                }),
            }),
            None => Err(NoOutcome::TooMany(name)),
        };
    };
    let values = || numbers.iter().copied().filter(|value| !value.is_nan());
    let least = values().fold(f64::INFINITY, f64::min);
    let largest = values().fold(f64::NEG_INFINITY, f64::max);
    let whole = values().all(|value| value.fract() == 0.0);
    if !whole || (least != 0.0 && least != 1.0) {
        return Ok(OutcomeKind::Number(count));
    }
    if let Some(count) = count
        && is_rating(count, least, largest)
        && present >= ROWS_PER_RATING * count
    {
        return Ok(OutcomeKind::Rating(count));
    }
    let mean = values().sum::<f64>() / present as f64;
    let square = values().map(|value| (value - mean).powi(2)).sum::<f64>();
    Ok(OutcomeKind::Count {
        dispersion: square / (present - 1) as f64 / mean,
    })
}

/// What column `col` could be beside the outcome.
fn part_of(table: &Table, col: usize) -> Part {
    let info = &table.columns()[col];
    let present = table.num_rows() - info.num_missing;
    match table.few_levels(col, 1).as_deref() {
        Some([]) => return Part::Aside("no values", "it has no values".to_owned()),
        Some([only]) => {
            return Part::Aside("one value", format!("it is `{only}` in all rows"));
        }
        _ => {}
    }
    if info.kind == ColumnKind::Date {
        return Part::Aside(
            "date",
            "dates are neither numbers nor categories".to_owned(),
        );
    }
    let numbers_rows = has_word(&info.name, &ID_WORDS);
    let identifier = || {
        let all = format!("all of its {present} values differ");
        Part::Aside("identifier", all)
    };
    if let Some(numbers) = table.numbers(col) {
        if !numbers_rows && !has_word(&info.name, &GROUP_WORDS) {
            return Part::Predictor;
        }
        let whole = numbers
            .iter()
            .all(|value| value.is_nan() || value.fract() == 0.0);
        return match table.few_levels(col, present / 2) {
            _ if !whole => Part::Predictor,
            Some(levels) if levels.len() >= 3 => Part::Group(levels.len()),
            Some(_) => Part::Predictor,
            None if table.few_levels(col, present - 1).is_none() => identifier(),
            None => Part::Predictor,
        };
    }
    let most = (present / 2).max(FEW_LEVELS.min(present - 1));
    match table.few_levels(col, most).map(|levels| levels.len()) {
        Some(levels) if levels < GROUP_LEVELS => Part::Predictor,
        Some(levels) if 2 * levels <= present => Part::Group(levels),
        _ if table.few_levels(col, present - 1).is_none() => identifier(),
        _ => Part::Aside(
            "text",
            format!("more than half of its {present} texts differ"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ergodic_core::design::Values;

    fn numbers(values: impl IntoIterator<Item = f64>) -> Values {
        Values::Numbers(values.into_iter().collect())
    }

    fn texts(values: impl IntoIterator<Item = String>) -> Values {
        Values::Texts(values.into_iter().map(Some).collect())
    }

    fn suggestions(columns: Vec<(&str, Values)>) -> Suggestions {
        let columns = columns
            .into_iter()
            .map(|(name, values)| (name.to_owned(), values))
            .collect();
        Suggestions::of(&Table::from_columns("t", columns).unwrap())
    }

    fn some(i: i32) -> f64 {
        f64::from(i * 37 % 101) + 0.5
    }

    fn coin(i: i32) -> f64 {
        f64::from((i * i / 3) % 2)
    }

    /// The outcome that was guessed for columns of these names, and whether it was sure.
    fn guessed(columns: Vec<(&str, Values)>) -> (String, &'static str, bool) {
        let guess = suggestions(columns).guess.unwrap();
        (guess.column, guess.from, guess.sure)
    }

    #[test]
    fn names_go_before_places_and_places_before_kinds() {
        let measured = || numbers((0..60).map(some));
        let binary = || numbers((0..60).map(coin));
        for (columns, expected) in [
            // Many columns with two values, as in a poll: the name decides.
            (
                vec![("y", binary()), ("black", binary()), ("female", binary())],
                ("y", "from its name", true),
            ),
            (
                vec![("age", measured()), ("Has_Churned", binary())],
                ("Has_Churned", "from its name", true),
            ),
            // Two names that could be meant are asked about.
            (
                vec![("target_a", measured()), ("targetB", measured())],
                ("target_a", "from its name", false),
            ),
            (
                vec![("kid_score", measured()), ("mom_hs", binary())],
                ("kid_score", "from its name", false),
            ),
            (
                vec![
                    ("year", numbers((1950..2010).map(f64::from))),
                    ("temp", measured()),
                ],
                ("temp", "as the last column", false),
            ),
            (
                vec![
                    ("log_radon", measured()),
                    ("county", texts((0..60).map(|i| format!("c{}", i % 12)))),
                ],
                ("log_radon", "as the first column", false),
            ),
        ] {
            let (column, from, sure) = guessed(columns);
            assert_eq!((column.as_str(), from, sure), expected);
        }
    }

    #[test]
    fn columns_are_told_apart_by_what_they_hold() {
        let found = suggestions(vec![
            ("customer", texts((0..60).map(|i| format!("C{i}")))),
            ("id", numbers((1..=60).map(f64::from))),
            ("county_idx", numbers((0..60).map(|i| f64::from(i % 15)))),
            ("county", texts((0..60).map(|i| format!("c{}", i % 12)))),
            ("plan", texts((0..60).map(|i| format!("p{}", i % 3)))),
            (
                "remark",
                texts((0..60).map(|i| format!("r{}", i / 2 * 2 + i % 3))),
            ),
            ("one", numbers([4.5; 60])),
            ("year", numbers((1950..2010).map(f64::from))),
            ("x", numbers((0..60).map(some))),
        ]);
        let parts: Vec<&str> = found
            .offers
            .iter()
            .map(|offer| match offer.part {
                Part::Predictor => "predictor",
                Part::Group(_) => "group",
                Part::Aside(word, _) => word,
            })
            .collect();
        assert_eq!(
            parts,
            [
                "identifier",
                "identifier",
                "group",
                "group",
                "predictor",
                "text",
                "one value",
                "predictor",
                "predictor"
            ]
        );
        assert_eq!(found.groups(), [("county_idx", 15), ("county", 12)]);
        assert_eq!(found.predictors(Some("x")), ["plan", "year"]);
        let roles = found.roles(Some("x"));
        assert_eq!(roles.to_formula().unwrap().to_string(), "x ~ plan + year");
        assert!(found.made(&roles));
    }

    #[test]
    fn a_wide_table_brings_no_predictors_by_itself() {
        let columns =
            (0..=MOST_PREDICTORS + 1).map(|j| (format!("x{j}"), numbers((0..20).map(some))));
        let table = Table::from_columns("t", columns.collect()).unwrap();
        let found = Suggestions::of(&table);
        assert!(found.predictors(Some("x0")).is_empty());
        assert_eq!(found.explaining(Some("x0")).len(), MOST_PREDICTORS + 1);
    }

    #[test]
    fn outcomes_are_numbers_counts_ratings_or_categories() {
        let kind = |values: Values| {
            let table = Table::from_columns("t", vec![("y".to_owned(), values)]).unwrap();
            outcome_of(&table, 0, false)
        };
        let label = |values: Values| kind(values).map(|kind| kind.label());
        assert_eq!(label(numbers((0..60).map(some))).unwrap(), "number");
        assert_eq!(
            kind(numbers((0..60).map(some))).unwrap().reason("y"),
            "`y` holds 60 different numbers"
        );
        assert_eq!(label(numbers((0..60).map(coin))).unwrap(), "yes or no");
        let rating = numbers((0..60).map(|i| f64::from(i % 5 + 1)));
        assert_eq!(kind(rating), Ok(OutcomeKind::Rating(5)));
        let counts = kind(numbers((0..60).map(|i| f64::from(i % 4)))).unwrap();
        assert!(matches!(counts, OutcomeKind::Count { .. }) && !counts.is_overdispersed());
        let wild = kind(numbers((0..60).map(|i| f64::from(i % 6).powi(3)))).unwrap();
        assert!(wild.is_overdispersed());
        assert!(wild.reason("y").contains("times their mean"));
        // Few whole numbers from 1 on are counts: there is no telling.
        assert!(matches!(
            kind(numbers([1.0, 2.0, 3.0, 1.0])),
            Ok(OutcomeKind::Count { .. })
        ));
        let words = |of: [&'static str; 3]| texts((0..60).map(move |i| of[i % 3].to_owned()));
        assert_eq!(kind(words(["a", "b", "c"])), Ok(OutcomeKind::Categories(3)));
        assert_eq!(kind(words(["0", "1", "2"])), Ok(OutcomeKind::Levels(3)));
        for (values, part) in [
            (numbers([4.0; 5]), "the single value `4`"),
            (texts((0..60).map(|i| i.to_string())), "60 different texts"),
            (numbers([f64::NAN; 5]), "no values"),
        ] {
            let refusal = kind(values).unwrap_err();
            assert!(refusal.to_string().contains(part), "{refusal}");
        }
        let mixed = texts((0..60).map(|i| {
            if i == 7 {
                "n.v.".to_owned()
            } else {
                i.to_string()
            }
        }));
        let refusal = kind(mixed).unwrap_err().to_string();
        assert!(refusal.contains("set its type to number"), "{refusal}");
        let names = texts((0..60).map(|i| format!("name {i}")));
        let refusal = kind(names).unwrap_err().to_string();
        assert!(refusal.ends_with("choose another outcome"), "{refusal}");
    }
}
