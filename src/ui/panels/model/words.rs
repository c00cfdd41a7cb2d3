//! The draft as sentences.

use crate::app::{Document, ModelCheck};
use crate::ui::widgets::number;
use ergodic_base::names::listed;
use ergodic_core::design::ResponseUse;
use ergodic_core::formula::{Elementwise, Factor, Function, GroupTerm, Term, Trials};
use ergodic_core::models::names;
use ergodic_data::Roles;

/// Most predictors that the sentence names before somebody asks for all.
pub const MOST_NAMED: usize = 8;

/// One to three sentences that say what the model says. They name at most `most` predictors.
pub fn in_words(document: &Document, check: Option<&ModelCheck>, most: usize) -> String {
    let roles = &document.roles;
    let Some(response) = &roles.response else {
        if roles.response_use == ResponseUse::Absent && !roles.predictors.is_empty() {
            let names: Vec<String> = roles
                .predictors
                .iter()
                .map(|factor| format!("`{}`", factor.label()))
                .collect();
            return format!("Groups rows with similar {}.", list(&first(names, most)));
        }
        return "Nothing is explained yet. Choose an outcome at the left, or type a formula."
            .to_owned();
    };
    // `log(y)` where the formula says so.
    let response = &roles
        .response_function
        .map_or(response.clone(), |_| roles.response_label());
    if roles.response_use == ResponseUse::Categories {
        let mut text = format!(
            "Each value of `{response}` has its own probability, the same in all rows; together they make 1."
        );
        if let Some(weights) = &roles.weights {
            text.push_str(&format!(" Each row counts `{weights}` times."));
        }
        return text;
    }
    let mut text = match &roles.trials {
        _ if document.recipe.model.template == names::STUDENT => {
            format!("The middle of `{response}`, whose outliers count less,")
        }
        _ if roles.response_use == ResponseUse::Number => format!("The mean of `{response}`"),
        _ if roles.response_use == ResponseUse::Ordered => {
            format!("The chance of a higher level of `{response}`")
        }
        _ if roles.response_use == ResponseUse::Unordered => {
            format!("The chance of each level of `{response}`")
        }
        _ if roles.response_use == ResponseUse::Count => {
            format!("The expected count `{response}`")
        }
        Some(Trials::Column(trials)) => {
            format!("The chance of each of the `{trials}` trials that `{response}` counts")
        }
        Some(Trials::Failures(failures)) => {
            format!(
                "The chance of each of the `{response}` + `{failures}` trials that `{response}` counts"
            )
        }
        Some(Trials::Constant(trials)) => {
            format!("The chance of each of the {trials} trials that `{response}` counts")
        }
        None => {
            let success = document.recipe.model.success.as_ref().or_else(|| {
                check
                    .and_then(|check| check.response_levels.last())
                    .map(|(level, _)| level)
            });
            match success {
                Some(success) => format!("The chance that `{response}` is `{success}`"),
                None => format!("The chance that `{response}` holds"),
            }
        }
    };
    let terms = first(terms(roles), most);
    if terms.is_empty() && !roles.groups.is_empty() {
        text.push_str(" depends on the group.");
    } else if terms.is_empty() {
        text.push_str(" is the same in all rows.");
    } else {
        text.push_str(&format!(" depends on {}.", list(&terms)));
    }
    for group in &roles.groups {
        let names: Vec<String> = group.group.iter().map(|name| format!("`{name}`")).collect();
        text.push_str(&format!(
            " Each {} has its own {}{}.",
            names.join(" and "),
            if roles.response_use == ResponseUse::Number {
                "average"
            } else {
                "base rate"
            },
            effects(roles, group)
        ));
    }
    for offset in &roles.offsets {
        let what = match offset {
            Factor::Call(Function::Elementwise(Elementwise::Log), of) => {
                format!("The logarithm of `{}`", of.label())
            }
            _ => format!("`{}`", offset.label()),
        };
        text.push_str(&format!(" {what} is added with coefficient 1."));
    }
    if let Some(weights) = &roles.weights {
        text.push_str(&format!(" Each row counts `{weights}` times."));
    }
    if !roles.intercept {
        text.push_str(" There is no intercept.");
    }
    text
}

/// What beside its base rate is a group's own; named where it is not simply all that the model has.
pub fn effects(roles: &Roles, group: &GroupTerm) -> String {
    let fixed = roles.predictors.len() + roles.interactions.len();
    if group.terms.is_empty() {
        return String::new();
    }
    if group.terms.len() == fixed {
        return " and its own effects".to_owned();
    }
    let name = |term: &Term| {
        let names: Vec<String> = term.iter().map(Factor::label).collect();
        format!("`{}`", names.join(" × "))
    };
    let names: Vec<String> = group.terms.iter().map(name).collect();
    let word = if names.len() == 1 {
        "effect"
    } else {
        "effects"
    };
    format!(" and its own {word} of {}", list(&names))
}

fn terms(roles: &Roles) -> Vec<String> {
    let mut terms: Vec<String> = roles
        .predictors
        .iter()
        .map(|factor| match factor {
            Factor::Call(Function::Smooth { .. }, of) => {
                format!("`{}` along a smooth curve", of.label())
            }
            factor => format!("`{}`", factor.label()),
        })
        .collect();
    for term in &roles.interactions {
        let names: Vec<String> = term
            .iter()
            .map(|factor| format!("`{}`", factor.label()))
            .collect();
        terms.push(format!("the interaction of {}", list(&names)));
    }
    terms
}

/// The first `most` words and how many more there are; a single one more is named as well.
fn first(mut words: Vec<String>, most: usize) -> Vec<String> {
    let more = words.len().saturating_sub(most);
    if more > 1 {
        words.truncate(most);
        words.push(format!("{} more", number::integer(more as u64)));
    }
    words
}

fn list(words: &[String]) -> String {
    listed(words, usize::MAX)
}

/// "Uses 9 812 of 10 000 rows; without a value: 188 in `income`".
pub fn rows_used(check: &ModelCheck) -> String {
    let (used, total) = check.rows;
    let total_text = number::integer(total as u64);
    if used == total {
        return format!("Uses all {total_text} rows");
    }
    let columns: Vec<String> = check
        .dropped
        .iter()
        .map(|(column, count)| format!("{} in `{column}`", number::integer(*count as u64)))
        .collect();
    let used = number::integer(used as u64);
    if columns.is_empty() {
        format!("Uses {used} of {total_text} rows")
    } else {
        format!(
            "Uses {used} of {total_text} rows; without a value: {}",
            list(&columns)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(formula: &str) -> String {
        let mut document = Document::new("data.csv", "logistic");
        document.set_formula(formula);
        in_words(&document, None, MOST_NAMED)
    }

    #[test]
    fn many_predictors_are_counted() {
        let names: Vec<String> = (1..=2000).map(|j| format!("x{j}")).collect();
        let text = words(&format!("ill ~ {}", names.join(" + ")));
        assert!(
            text.ends_with("`x7`, `x8` and 1\u{202f}992 more.")
                || text.ends_with("`x7`, `x8` and 1\u{2009}992 more."),
            "{text}"
        );
        let nine = format!("ill ~ {}", names[..9].join(" + "));
        assert!(words(&nine).ends_with("`x8` and `x9`."), "{}", words(&nine));
    }

    #[test]
    fn sentences_follow_the_formula() {
        assert_eq!(
            words("ill ~ age + dose + age:dose"),
            "The chance that `ill` holds depends on `age`, `dose` and the interaction of `age` and `dose`."
        );
        assert_eq!(
            words("ill ~ 1"),
            "The chance that `ill` holds is the same in all rows."
        );
        assert_eq!(
            words("dead | trials(n) ~ 0 + dose + offset(log(time))"),
            "The chance of each of the `n` trials that `dead` counts depends on `dose`. \
             The logarithm of `time` is added with coefficient 1. There is no intercept."
        );
    }

    #[test]
    fn effects_of_groups_alone_are_named() {
        assert_eq!(
            words("ill ~ (1 + age + dose | clinic)"),
            "The chance that `ill` holds depends on the group. Each `clinic` has its own base rate and its own effects of \
             `age` and `dose`."
        );
        assert_eq!(
            words("ill ~ age + dose + (1 + age | clinic)"),
            "The chance that `ill` holds depends on `age` and `dose`. Each `clinic` has its own base rate and its own effect \
             of `age`."
        );
    }

    #[test]
    fn numbers_and_counts_have_their_own_words() {
        for (template, formula, expected) in [
            (
                "linear",
                "price ~ size",
                "The mean of `price` depends on `size`.",
            ),
            (
                "student",
                "price ~ size",
                "The middle of `price`, whose outliers count less, depends on `size`.",
            ),
            (
                "mixed",
                "score ~ age + (1 + age | school)",
                "The mean of `score` depends on `age`. Each `school` has its own average and its own effects.",
            ),
            (
                "poisson",
                "calls ~ 1",
                "The expected count `calls` is the same in all rows.",
            ),
        ] {
            let mut document = Document::new("data.csv", template);
            document.set_formula(formula);
            assert_eq!(in_words(&document, None, MOST_NAMED), expected);
        }
    }

    #[test]
    fn categories_have_their_own_words() {
        let mut document = Document::new("data.csv", "categorical");
        document.set_formula("species | weights(count) ~ 1");
        assert_eq!(
            in_words(&document, None, MOST_NAMED),
            "Each value of `species` has its own probability, the same in all rows; together they make 1. \
             Each row counts `count` times."
        );
    }

    #[test]
    fn dropped_rows_are_named_by_column() {
        let mut check = ModelCheck {
            rows: (90, 100),
            dropped: vec![("a".to_owned(), 4), ("b".to_owned(), 7)],
            ..ModelCheck::default()
        };
        assert_eq!(
            rows_used(&check),
            "Uses 90 of 100 rows; without a value: 4 in `a` and 7 in `b`"
        );
        check.rows = (100, 100);
        assert_eq!(rows_used(&check), "Uses all 100 rows");
    }
}
