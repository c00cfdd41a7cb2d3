//! Why no design can be made: one sentence each, saying what happened, where, and what to do.

use super::response::OutcomeLevels;
use crate::formula::FormulaError;
use ergodic_base::names::nearest;
use ergodic_base::shown::shortened;

/// Why a formula, a role or a column was refused. `Display` is the sentence, without a final period.
#[derive(Debug, thiserror::Error)]
pub enum DesignError {
    /// A formula that cannot be read.
    #[error(transparent)]
    Formula(#[from] FormulaError),
    /// A column that the table does not have.
    #[error(
        "{place} names the column `{}`, which the table does not have; {hint}",
        shortened(column)
    )]
    UnknownColumn {
        /// "The formula", "The recipe".
        place: String,
        /// Name.
        column: String,
        /// Nearest names, or all.
        hint: String,
    },
    /// A column that cannot play its role.
    #[error("{0}")]
    Role(String),
    /// An outcome of levels, where the model explains something else.
    #[error(transparent)]
    Levels(#[from] OutcomeLevels),
    /// Levels whose order the formula speaks of, where the model explains something else.
    #[error(
        "The outcome `ordered({name})` has levels with an order, which this model does not explain; choose template `ordered`, or \
         template `mixed` with model.family = \"ordered\", or write `{name}` alone"
    )]
    Ordered {
        /// Column of the outcome.
        name: String,
    },
    /// No rows are left.
    #[error("{0}")]
    NoRows(String),
}

impl DesignError {
    /// Refuses a column whose numbers, from the least to the largest of `ends`, are so far apart that their `spread` is no number.
    pub(crate) fn check_width(
        spread: f64,
        role: &str,
        name: &str,
        ends: impl FnOnce() -> [f64; 2],
    ) -> Result<(), Self> {
        if spread.is_finite() {
            return Ok(());
        }
        let [least, largest] = ends();
        Err(Self::Role(format!(
            "The {role} `{name}` has numbers from {least:e} to {largest:e}, too far apart to compute with; divide the column \
             by a power of ten, or look for a code of missing values among them"
        )))
    }
}

/// The names most like `wanted`, in words for an error: "did you mean `income`?" or the list of columns.
pub fn name_hint<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    if let Some(name) = nearest(wanted, names.iter().copied()) {
        return format!("did you mean `{name}`?");
    }
    let shown: Vec<String> = names
        .iter()
        .take(12)
        .map(|name| format!("`{}`", shortened(name)))
        .collect();
    let more = names.len().saturating_sub(shown.len());
    let rest = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    format!("it has {}{rest}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_gets_the_nearest_one_and_a_strange_one_the_list() {
        let names = ["age", "income", "region"];
        assert_eq!(
            name_hint("incme", names.into_iter()),
            "did you mean `income`?"
        );
        assert_eq!(name_hint("Age", names.into_iter()), "did you mean `age`?");
        assert_eq!(name_hint("x", ["g", "y"].into_iter()), "it has `g`, `y`");
        assert_eq!(name_hint("x", ["g", "X"].into_iter()), "did you mean `X`?");
        assert!(name_hint("zzzzzz", names.into_iter()).contains("`age`, `income`, `region`"));
    }
}
