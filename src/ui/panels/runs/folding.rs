//! Rows of the summary that are no variables: headings, and rows that stand for a whole vector: `theta[*,age]`, worst of 14.

use std::collections::{BTreeMap, BTreeSet};

use ergodic_base::ParamId;

/// Variables from which vectors are folded.
pub const MANY: usize = 40;
/// Members that make a vector worth folding.
const LEAST: usize = 8;

/// A row of the table.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// What the rows below are of.
    Heading {
        /// Words of the heading.
        title: &'static str,
        /// Index of the variable that comes first below it.
        first: usize,
    },
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
        /// Indices of the members, in their order.
        members: Vec<usize>,
        /// Whether the members follow.
        open: bool,
    },
}

impl Item {
    /// The variable whose numbers the row shows.
    pub fn variable(&self) -> usize {
        match self {
            Self::Variable { index, .. } => *index,
            Self::Group { first, .. } | Self::Heading { first, .. } => *first,
        }
    }

    /// The words of a heading.
    pub fn heading(&self) -> Option<&'static str> {
        match self {
            Self::Heading { title, .. } => Some(title),
            _ => None,
        }
    }

    /// Whether the row is the head of a group whose members follow.
    pub fn is_open_head(&self) -> bool {
        matches!(self, Self::Group { open: true, .. })
    }

    /// Whether the row shows `variable`, or stands for it while it is folded.
    pub fn holds(&self, variable: usize) -> bool {
        match self {
            Self::Variable { index, .. } => *index == variable,
            Self::Group { open: true, .. } | Self::Heading { .. } => false,
            Self::Group { members, .. } => members.contains(&variable),
        }
    }
}

/// As [`items`], with the words of `title_of` above the variables that have them in common, which stand together in `order`.
pub fn under_headings<'a>(
    order: &[usize],
    fold: bool,
    open: &BTreeSet<ParamId>,
    name_of: impl Fn(usize) -> &'a ParamId,
    title_of: impl Fn(usize) -> &'static str,
) -> Vec<Item> {
    let sections = order.chunk_by(|&a, &b| title_of(a) == title_of(b));
    let rows = sections.flat_map(|section| {
        let first = section[0];
        let title = title_of(first);
        let rows = items(section, fold, open, &name_of);
        std::iter::once(Item::Heading { title, first }).chain(rows)
    });
    rows.collect()
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
            members: indices.clone(),
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
                Item::Group { name, members, .. } => format!("{name} {}", members.len()),
                Item::Heading { title, .. } => (*title).to_owned(),
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
        assert!(closed[2].holds(5) && !closed[3].holds(5));
        let open = BTreeSet::from(["theta[*,age]".into()]);
        let rows = items(&order, true, &open, name_of);
        assert_eq!(rows.len(), 5 + 12);
        assert!(rows[2].is_open_head() && !rows[2].holds(5));
        assert_eq!(
            rows[4],
            Item::Variable {
                index: 5,
                inside: true
            }
        );
        assert_eq!(items(&order, false, &open, name_of).len(), names.len());
        // Under headings vectors are folded as well, and a heading stands for no variable.
        let title = |index: usize| match names[index].is_varying() {
            false => "Coefficients",
            true => "Effects",
        };
        let rows = under_headings(&order, true, &BTreeSet::new(), name_of, title);
        let titles: Vec<_> = rows.iter().map(Item::heading).collect();
        let [one, other] = [Some("Coefficients"), Some("Effects")];
        assert_eq!(titles, [one, None, None, other, None, None, None]);
        assert!(!rows[0].holds(0) && rows[1].holds(0));
        assert!(rows[4].holds(5));
    }
}
