//! Rows of the summary that stand for a whole vector: `theta[*,age]`, worst of 14.

use std::collections::{BTreeMap, BTreeSet};

use ergodic_base::param::ParamId;

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
        /// Whether the variable stands below the head of its group.
        inside: bool,
    },
    /// A vector, with the member that comes first in the order.
    Group {
        /// Pattern of the members' names.
        name: ParamId,
        /// Index of that member.
        first: usize,
        /// Number of members.
        count: usize,
        /// Whether the members follow.
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

    /// Whether the row is the head of a group whose members follow.
    pub fn is_open_head(&self) -> bool {
        matches!(self, Self::Group { open: true, .. })
    }

    /// Whether the row shows `variable`, or stands for it while it is folded.
    pub fn holds<'a>(&self, variable: usize, name_of: impl Fn(usize) -> &'a ParamId) -> bool {
        match self {
            Self::Variable { index, .. } => *index == variable,
            Self::Group { open: true, .. } => false,
            Self::Group { name, first, .. } => {
                *first == variable || name_of(variable).vector().as_ref() == Some(name)
            }
        }
    }
}

/// Rows for variables in this `order`; with `fold`, vectors are one row each unless they are in `open`.
pub fn items<'a>(
    order: &[usize],
    fold: bool,
    open: &BTreeSet<ParamId>,
    name_of: impl Fn(usize) -> &'a ParamId,
) -> Vec<Item> {
    let single = |index| Item::Variable {
        index,
        inside: false,
    };
    if !fold {
        return order.iter().copied().map(single).collect();
    }
    let mut members: BTreeMap<ParamId, Vec<usize>> = BTreeMap::new();
    let patterns: Vec<Option<ParamId>> =
        (order.iter().map(|&index| name_of(index).vector())).collect();
    for (&index, pattern) in order.iter().zip(&patterns) {
        if let Some(pattern) = pattern {
            members.entry(pattern.clone()).or_default().push(index);
        }
    }
    members.retain(|_, indices| indices.len() >= LEAST);
    let mut rows = Vec::new();
    let mut done: BTreeSet<&ParamId> = BTreeSet::new();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_one_row_until_they_are_opened() {
        let mut names: Vec<ParamId> = vec!["b[Intercept]".into(), "b[age]".into()];
        for group in 0..12 {
            names.push(format!("theta[g{group},age]").into());
            names.push(format!("theta[g{group},Intercept]").into());
            names.push(format!("r[school,St. {group}, Ives,Intercept]").into());
        }
        let order: Vec<usize> = (0..names.len()).collect();
        let name_of = |index: usize| &names[index];
        let closed = items(&order, true, &BTreeSet::new(), name_of);
        let heads: Vec<String> = closed
            .iter()
            .map(|item| match item {
                Item::Variable { index, .. } => names[*index].to_string(),
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
        assert!(closed[2].holds(5, name_of) && !closed[3].holds(5, name_of));
        let open = BTreeSet::from(["theta[*,age]".into()]);
        let rows = items(&order, true, &open, name_of);
        assert_eq!(rows.len(), 5 + 12);
        assert!(rows[2].is_open_head() && !rows[2].holds(5, name_of));
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
