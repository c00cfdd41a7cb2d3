//! What coefficients mean, in words.

use crate::design::Design;
use crate::design::design_term::TermPart;

/// What coefficient `j` of a design says about `quantity`, in words.
pub(crate) fn meaning(design: &Design, j: usize, quantity: &str, standardized: bool) -> String {
    if design.has_intercept && j == 0 {
        let at = if standardized {
            "at average predictors"
        } else {
            "when all predictors are 0"
        };
        return format!("{quantity} {at}");
    }
    if standardized {
        return format!(
            "change in {quantity} per standard deviation of {}",
            design.terms[j]
        );
    }
    let parts = design.terms[j].parts();
    let roles: Vec<Role<'_>> = (0..parts.len()).map(|at| Role::of(design, j, at)).collect();
    let mut changes = Vec::new();
    let mut places = Vec::new();
    for (role, part) in roles.iter().zip(parts) {
        let column = part.factor.column();
        match role {
            Role::Number => changes.push(format!("per unit of {}", part.label(false))),
            Role::Instead { level, reference } => {
                changes.push(format!("for {column} {level} instead of {reference}"));
            }
            Role::Alone(level) => places.push(format!("{column} is {level}")),
        }
    }
    if changes.is_empty() {
        let place = places.join(" and ");
        return match design.has_intercept {
            true => format!("change in {quantity} where {place}"),
            false => format!("{quantity} where {place} and all other predictors are 0"),
        };
    }
    for place in held(design, j) {
        if !places.contains(&place) {
            places.push(place);
        }
    }
    let what = match changes.len() {
        1 => "change",
        _ => "difference in the change",
    };
    let place = match places.is_empty() {
        true => String::new(),
        false => format!(" where {}", places.join(" and ")),
    };
    format!("{what} in {quantity} {}{place}", changes.join(", "))
}

/// What a part of a term is to its coefficient.
enum Role<'a> {
    /// A number, by whose unit the outcome changes.
    Number,
    /// A level, compared with the reference.
    Instead { level: &'a str, reference: &'a str },
    /// A level beside which all others, the reference too, have a coefficient of their own.
    Alone(&'a str),
}

impl<'a> Role<'a> {
    /// The role of part `at` of term `j`.
    fn of(design: &'a Design, j: usize, at: usize) -> Self {
        let parts = design.terms[j].parts();
        let column = parts[at].factor.column();
        let Some(level) = parts[at].level.as_deref() else {
            return Self::Number;
        };
        let mut references = design.reference_levels.iter();
        let Some((_, reference)) = references.find(|(other, _)| other == column) else {
            return Self::Alone(level);
        };
        let is_of_reference = |(place, part): (usize, &TermPart)| {
            let own = &parts[place];
            match place == at {
                true => part.factor == own.factor && part.level.as_ref() == Some(reference),
                false => part == own,
            }
        };
        let has_own = design.terms.iter().any(|other| {
            let others = other.parts();
            others.len() == parts.len() && others.iter().enumerate().all(is_of_reference)
        });
        match has_own {
            true => Self::Alone(level),
            false => Self::Instead { level, reference },
        }
    }
}

/// Where coefficient `j` holds: what further parts of the interactions that it is in are there.
fn held(design: &Design, j: usize) -> Vec<String> {
    let parts = design.terms[j].parts();
    let mut places = Vec::new();
    for (k, term) in design.terms.iter().enumerate() {
        let all = term.parts();
        if all.len() <= parts.len() || !parts.iter().all(|part| all.contains(part)) {
            continue;
        }
        for (at, part) in all.iter().enumerate().filter(|(_, it)| !parts.contains(it)) {
            let place = match Role::of(design, k, at) {
                Role::Number => format!("{} is 0", part.factor.label()),
                Role::Instead { reference, .. } => {
                    format!("{} is {reference}", part.factor.column())
                }
                Role::Alone(_) => continue,
            };
            if !places.contains(&place) {
                places.push(place);
            }
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::meaning;
    use crate::design::{Design, MemoryColumns, ModelFrame, ResponseUse, Values};

    fn meanings(formula: &str) -> Vec<(String, String)> {
        let numbers =
            |step: usize| Values::Numbers((0..24).map(|i| (i * step % 11) as f64).collect());
        let texts = |levels: &[&str], each: usize| {
            let level = |i: usize| Some(levels[i / each % levels.len()].to_owned());
            Values::Texts((0..24).map(level).collect())
        };
        let columns = [
            ("y", numbers(5)),
            ("x", numbers(7)),
            ("z", numbers(3)),
            ("f", texts(&["a", "b"], 1)),
            ("g", texts(&["u", "v", "w"], 2)),
        ];
        let columns = columns.map(|(name, values)| (name.to_owned(), values));
        let table = MemoryColumns::new("t", columns.into()).unwrap();
        let frame = ModelFrame {
            response_use: ResponseUse::Number,
            ..ModelFrame::new(formula.parse().unwrap())
        };
        let (design, _) = Design::build(&table, &frame).unwrap();
        let each = 0..design.num_columns();
        each.map(|j| (design.terms[j].to_string(), meaning(&design, j, "y", false)))
            .collect()
    }

    /// Coefficients of a product, and of what is in one, say where they hold.
    #[test]
    fn coefficients_of_interactions_say_where_they_hold() {
        for (formula, term, said) in [
            ("y ~ x + f", "f=b", "change in y for f b instead of a"),
            ("y ~ x + f", "x", "change in y per unit of x"),
            (
                "y ~ x*f",
                "f=b",
                "change in y for f b instead of a where x is 0",
            ),
            ("y ~ x*f", "x", "change in y per unit of x where f is a"),
            (
                "y ~ x*f",
                "x:f=b",
                "difference in the change in y per unit of x, for f b instead of a",
            ),
            (
                "y ~ x*z",
                "x:z",
                "difference in the change in y per unit of x, per unit of z",
            ),
            (
                "y ~ x*z + x*g",
                "x",
                "change in y per unit of x where z is 0 and g is u",
            ),
            // Each level has a slope of its own.
            (
                "y ~ f + x:f",
                "x:f=b",
                "change in y per unit of x where f is b",
            ),
            (
                "y ~ 0 + f",
                "f=b",
                "y where f is b and all other predictors are 0",
            ),
        ] {
            let all = meanings(formula);
            let found = all.iter().find(|(name, _)| name == term);
            assert_eq!(
                found.map(|it| it.1.as_str()),
                Some(said),
                "{formula}: {all:?}"
            );
        }
    }
}
