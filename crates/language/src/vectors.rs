//! Vectors of columns, which the section `data` names: `x: vector = [age, pixel1..pixel9, px_*]`.

use std::collections::HashSet;

use crate::place::{Fault, Span, hint};
use crate::syntax::{Chosen, Expr, ExprKind, Statement, Tree, Vector};

/// Most columns of a vector: a table of more is too wide for a matrix of curvature, and for readers of its summary.
pub(crate) const MOST_COLUMNS: usize = 10_000;

/// The columns of a vector in order, with the places where they are chosen.
#[derive(Clone, Debug)]
pub(crate) struct VectorColumns {
    pub columns: Vec<(String, Span)>,
}

/// The columns of the vectors of `tree` in a table whose columns have these `names`; without a table, those that are named.
pub(crate) fn columns_of(tree: &Tree, names: Option<&[&str]>) -> Result<Vec<VectorColumns>, Fault> {
    let known: Option<HashSet<&str>> = names.map(|names| names.iter().copied().collect());
    let outcomes = outcomes(tree);
    let of = |vector: &Vector| {
        let mut columns: Vec<(String, Span)> = Vec::new();
        for part in &vector.parts {
            let found = match (&part.columns, names) {
                (Chosen::Named(named), _) => named.clone(),
                (Chosen::Like(_), None) => Vec::new(),
                (Chosen::Like(pieces), Some(names)) => {
                    let found = like(pieces, names, part.span)?;
                    // Nobody means an outcome to explain itself; whoever does can name it.
                    let outcome = found.iter().find(|name| outcomes.contains(name.as_str()));
                    if let Some(outcome) = outcome {
                        let message = format!(
                            "`{}` chooses `{outcome}`, which is the outcome; choose columns without it",
                            pieces.join("*")
                        );
                        return Err(Fault::new(part.span, message));
                    }
                    found
                }
            };
            for name in found {
                if let (Some(known), Some(names)) = (&known, names)
                    && !known.contains(name.as_str())
                {
                    let hint = hint(&name, names.iter().copied());
                    let message = format!("The data have no column `{name}`{hint}");
                    return Err(Fault::new(part.span, message));
                }
                columns.push((name, part.span));
            }
            if columns.len() > MOST_COLUMNS {
                return Err(too_many(part.span));
            }
        }
        let mut seen = HashSet::new();
        for (name, span) in &columns {
            if !seen.insert(name) {
                let message = format!("`{name}` is in this vector already; name it once");
                return Err(Fault::new(*span, message));
            }
        }
        Ok(VectorColumns { columns })
    };
    tree.vectors.iter().map(of).collect()
}

/// Columns that stand left of a `~` in the rows, alone or in a function, as in `log(y)`.
fn outcomes(tree: &Tree) -> HashSet<&str> {
    let left = tree.rows.iter().filter_map(|line| match line {
        Statement::Relation(outcome, _) => column_in(outcome),
        _ => None,
    });
    let mut outcomes: HashSet<&str> = left.collect();
    // A vector may have the name of one of its columns, and is meant then.
    for name in tree.names() {
        outcomes.remove(name);
    }
    outcomes
}

fn column_in(e: &Expr) -> Option<&str> {
    match &e.kind {
        ExprKind::Name(name) => Some(name.as_str()),
        ExprKind::Call(_, arguments) => match arguments.as_slice() {
            [inner] => column_in(inner),
            _ => None,
        },
        _ => None,
    }
}

fn too_many(span: Span) -> Fault {
    let message = format!("A vector has at most {MOST_COLUMNS} columns, but here are more");
    Fault::new(span, message)
}

/// The names that have `pieces` in this order, the first at their beginning and the last at their end, by the numbers in them.
fn like(pieces: &[String], names: &[&str], span: Span) -> Result<Vec<String>, Fault> {
    let matches = |name: &&&str| {
        let (Some((first, rest)), mut left) = (pieces.split_first(), **name) else {
            return false;
        };
        let Some((last, between)) = rest.split_last() else {
            return left == first;
        };
        match left.strip_prefix(first.as_str()) {
            Some(tail) => left = tail,
            None => return false,
        }
        for piece in between {
            match left.find(piece.as_str()) {
                Some(at) => left = &left[at + piece.len()..],
                None => return false,
            }
        }
        left.ends_with(last.as_str())
    };
    let mut found: Vec<&str> = names.iter().filter(matches).copied().collect();
    if found.is_empty() {
        let pattern = pieces.join("*");
        let message = format!("The data have no column whose name is like `{pattern}`");
        return Err(Fault::new(span, message));
    }
    found.sort_by_cached_key(|name| (runs(name), *name));
    Ok(found.into_iter().map(str::to_owned).collect())
}

/// A stretch of a name: digits by the size of their number, which has as many digits as it is long, or other letters.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Run<'a> {
    Digits(usize, &'a str),
    Other(&'a str),
}

fn runs(name: &str) -> Vec<Run<'_>> {
    let (mut runs, mut rest) = (Vec::new(), name);
    while let Some(first) = rest.chars().next() {
        let is_digit = first.is_ascii_digit();
        let end = rest.find(|c: char| c.is_ascii_digit() != is_digit);
        let (run, tail) = rest.split_at(end.unwrap_or(rest.len()));
        let digits = run.trim_start_matches('0');
        runs.push(match is_digit {
            true => Run::Digits(digits.len(), digits),
            false => Run::Other(run),
        });
        rest = tail;
    }
    runs
}

/// `pixel1`, `pixel2`, … from `first` to `last`, which differ in the number at their end.
pub(crate) fn numbered(first: &str, last: &str, span: Span) -> Result<Vec<String>, Fault> {
    let parts = |name: &str| {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let number = name[stem..].parse::<u64>().ok()?;
        Some((name[..stem].to_owned(), number, name.len() - stem))
    };
    let ends = parts(first).zip(parts(last));
    let Some(((stem, from, width), (_, to, _))) = ends.filter(|(a, b)| a.0 == b.0) else {
        let message = format!(
            "`{first}` and `{last}` are no ends of a range, which differ in the number that ends them, as in pixel1..pixel9"
        );
        return Err(Fault::new(span, message));
    };
    // Numbers of one width have zeros before them.
    let width = if first[stem.len()..].starts_with('0') {
        width
    } else {
        0
    };
    let name = |number: u64| format!("{stem}{number:0width$}");
    if from > to || name(to) != last {
        let message = format!("The range ends at `{last}` and never gets there from `{first}`");
        return Err(Fault::new(span, message));
    }
    if to - from >= MOST_COLUMNS as u64 {
        return Err(too_many(span));
    }
    Ok((from..=to).map(name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pieces: &[&str], names: &[&str]) -> Vec<String> {
        let pieces: Vec<String> = pieces.iter().map(|&it| it.to_owned()).collect();
        like(&pieces, names, Span::default()).unwrap_or_default()
    }

    #[test]
    fn patterns_match_names_in_the_order_of_their_numbers() {
        let names = ["px_10", "px_2", "age", "px_1_sd", "px_1", "apx_3", "px_02"];
        assert_eq!(
            found(&["px_", ""], &names),
            ["px_1", "px_1_sd", "px_02", "px_2", "px_10"]
        );
        assert_eq!(found(&["", "_1", ""], &names), ["px_1", "px_1_sd", "px_10"]);
        assert_eq!(found(&["px_", "_sd"], &names), ["px_1_sd"]);
        // What begins a name and what ends it do not overlap.
        assert_eq!(found(&["ag", "ge"], &names), Vec::<String>::new());
        assert_eq!(found(&["", ""], &names).len(), names.len());
    }

    #[test]
    fn ranges_count_from_one_end_to_the_other() {
        let range = |first, last| numbered(first, last, Span::default());
        assert_eq!(range("x8", "x11").unwrap(), ["x8", "x9", "x10", "x11"]);
        assert_eq!(range("x08", "x10").unwrap(), ["x08", "x09", "x10"]);
        assert_eq!(range("1", "2").unwrap(), ["1", "2"]);
        assert_eq!(range("x3", "x3").unwrap(), ["x3"]);
        for (first, last) in [
            ("x3", "x2"),
            ("x08", "x9"),
            ("x1", "y2"),
            ("x", "x2"),
            ("x1", "x2000000000"),
            ("x1", "x99999999999999999999"),
        ] {
            assert!(range(first, last).is_err(), "{first}..{last}");
        }
    }
}
