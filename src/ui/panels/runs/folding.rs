//! Rows of the summary that stand for a whole vector: `theta[*,age]`, worst of 14.

use std::collections::{BTreeMap, BTreeSet};

/// Variables from which vectors are folded.
pub const MANY: usize = 40;
/// Members that make a vector worth folding.
const LEAST: usize = 8;

/// A row of the table.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A variable.
    Variable {
        /// Index of the variable.
        index: usize,
        /// Whether it stands below the head of its group.
        inside: bool,
    },
    /// A vector, with the member that comes first in the order.
    Group {
        /// Pattern of the members' names.
        name: String,
        /// Index of that member.
        first: usize,
        /// Number of members.
        count: usize,
        /// Whether its members follow.
        open: bool,
    },
}

impl Item {
    /// The variable whose numbers the row shows.
    pub fn variable(&self) -> usize {
        match self {
            Self::Variable { index, .. } => *index,
            Self::Group { first, .. } => *first,
        }
    }

    /// Whether it is the head of a group whose members follow.
    pub fn is_open_head(&self) -> bool {
        matches!(self, Self::Group { open: true, .. })
    }

    /// Whether it shows `variable`, or stands for it while it is folded.
    pub fn holds<'a>(&self, variable: usize, name_of: impl Fn(usize) -> &'a str) -> bool {
        match self {
            Self::Variable { index, .. } => *index == variable,
            Self::Group { open: true, .. } => false,
            Self::Group { name, first, .. } => {
                *first == variable || pattern(name_of(variable)).as_deref() == Some(name)
            }
        }
    }
}

/// Rows for variables in this `order`; with `fold`, vectors are one row each unless they are in `open`.
pub fn items<'a>(
    order: &[usize],
    fold: bool,
    open: &BTreeSet<String>,
    name_of: impl Fn(usize) -> &'a String,
) -> Vec<Item> {
    let single = |index| Item::Variable {
        index,
        inside: false,
    };
    if !fold {
        return order.iter().copied().map(single).collect();
    }
    let mut members: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let patterns: Vec<Option<String>> =
        order.iter().map(|&index| pattern(name_of(index))).collect();
    for (&index, pattern) in order.iter().zip(&patterns) {
        if let Some(pattern) = pattern {
            members.entry(pattern.clone()).or_default().push(index);
        }
    }
    members.retain(|_, indices| indices.len() >= LEAST);
    let mut rows = Vec::new();
    let mut done: BTreeSet<&str> = BTreeSet::new();
    for (&index, pattern) in order.iter().zip(&patterns) {
        let group = pattern
            .as_ref()
            .and_then(|name| Some((name, members.get(name)?)));
        let Some((name, indices)) = group else {
            rows.push(single(index));
            continue;
        };
        if !done.insert(name) {
            continue;
        }
        let open = open.contains(name);
        rows.push(Item::Group {
            name: name.clone(),
            first: index,
            count: indices.len(),
            open,
        });
        if open {
            rows.extend(indices.iter().map(|&index| Item::Variable {
                index,
                inside: true,
            }));
        }
    }
    rows
}

/// What the members of a vector share: `theta[*,age]` of `theta[north,age]`, `r[school,*,Intercept]` of
/// `r[school,17,Intercept]`, `weight[*]` of `weight[3]`.
fn pattern(name: &str) -> Option<String> {
    let (head, inside) = name.strip_suffix(']')?.split_once('[')?;
    let mut terms: Vec<&str> = inside.split(',').collect();
    // With three terms the first names the grouping and the second the group.
    let varies = usize::from(terms.len() >= 3);
    *terms.get_mut(varies)? = "*";
    Some(format!("{head}[{}]", terms.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_one_row_until_they_are_opened() {
        let mut names: Vec<String> = vec!["b[Intercept]".to_owned(), "b[age]".to_owned()];
        for group in 0..12 {
            names.push(format!("theta[g{group},age]"));
            names.push(format!("theta[g{group},Intercept]"));
            names.push(format!("r[school,{group},Intercept]"));
        }
        let order: Vec<usize> = (0..names.len()).collect();
        let name_of = |index: usize| &names[index];
        let closed = items(&order, true, &BTreeSet::new(), name_of);
        let heads: Vec<String> = closed
            .iter()
            .map(|item| match item {
                Item::Variable { index, .. } => names[*index].clone(),
                Item::Group { name, count, .. } => format!("{name} {count}"),
            })
            .collect();
        assert_eq!(
            heads,
            [
                "b[Intercept]",
                "b[age]",
                "theta[*,age] 12",
                "theta[*,Intercept] 12",
                "r[school,*,Intercept] 12"
            ]
        );
        // A folded member is where its vector is.
        let name = |index: usize| names[index].as_str();
        assert!(closed[2].holds(5, name) && !closed[3].holds(5, name));
        let open = BTreeSet::from(["theta[*,age]".to_owned()]);
        let rows = items(&order, true, &open, name_of);
        assert_eq!(rows.len(), 5 + 12);
        assert!(rows[2].is_open_head() && !rows[2].holds(5, name));
        assert_eq!(
            rows[4],
            Item::Variable {
                index: 5,
                inside: true
            }
        );
        assert_eq!(items(&order, false, &open, name_of).len(), names.len());
    }
}
