//! Lines in an order in which Stan reads them: a definition stands before what uses it.

use std::collections::HashMap;

use crate::syntax::{Definition, Expr, ExprKind, Statement};

/// What stands in a line.
trait Line {
    /// The name that the line defines.
    fn defines(&self) -> Option<&str>;
    /// Expressions of the line.
    fn expressions(&self) -> Vec<&Expr>;
}

impl Line for Definition {
    fn defines(&self) -> Option<&str> {
        Some(&self.name.text)
    }

    fn expressions(&self) -> Vec<&Expr> {
        vec![&self.value]
    }
}

impl Line for Statement {
    fn defines(&self) -> Option<&str> {
        match self {
            Self::Definition(definition) => definition.defines(),
            Self::Relation(..) | Self::Term(_) => None,
        }
    }

    fn expressions(&self) -> Vec<&Expr> {
        match self {
            Self::Definition(definition) => definition.expressions(),
            Self::Relation(outcome, law) => {
                std::iter::once(outcome).chain(&law.arguments).collect()
            }
            Self::Term(term) => vec![term],
        }
    }
}

/// Definitions as they stand, but each after those that it is made of.
pub(super) fn definitions<'a>(
    lines: impl IntoIterator<Item = &'a Definition>,
) -> Vec<&'a Definition> {
    let lines: Vec<&Definition> = lines.into_iter().collect();
    ordered(&lines)
}

/// Lines as they stand, but each after the definitions among them that it uses.
pub(super) fn statements(lines: &[Statement]) -> Vec<&Statement> {
    let lines: Vec<&Statement> = lines.iter().collect();
    ordered(&lines)
}

fn ordered<'a, T: Line>(lines: &[&'a T]) -> Vec<&'a T> {
    let places: HashMap<&str, usize> = (lines.iter().enumerate())
        .filter_map(|(at, line)| Some((line.defines()?, at)))
        .collect();
    let mut is_begun = vec![false; lines.len()];
    let mut order = Vec::new();
    for first in 0..lines.len() {
        // Lines that wait for those above them.
        let mut open = vec![(first, false)];
        while let Some((at, is_ready)) = open.pop() {
            if is_ready {
                order.push(lines[at]);
            } else if !std::mem::replace(&mut is_begun[at], true) {
                open.push((at, true));
                let mut used = Vec::new();
                for expression in lines[at].expressions() {
                    expression.walk(&mut |e| {
                        if let ExprKind::Name(name) = &e.kind {
                            used.extend(places.get(name.as_str()));
                        }
                    });
                }
                // The first that is used comes first.
                open.extend(used.into_iter().rev().map(|at| (at, false)));
            }
        }
    }
    order
}
