//! What the palette offers about the terms of the model.

use crate::app::{Document, DraftChange};
use ergodic_core::formula::Factor;
use ergodic_data::Roles;

/// Most predictors whose interactions and effects by group are offered: their number grows with the square.
const MOST_PAIRED: usize = 12;

/// What changes the terms of the model.
pub fn model_commands(document: &Document) -> Vec<(String, DraftChange)> {
    let roles = &document.roles;
    let mut rows = vec![
        (
            "Explain nothing: find groups of rows".to_owned(),
            DraftChange::NoOutcome,
        ),
        (
            "Add all columns as predictors".to_owned(),
            DraftChange::AllPredictors,
        ),
    ];
    if roles.predictors.len() > MOST_PAIRED || roles.response.is_none() {
        return rows;
    }
    let mut offer = |text: String, changed: &Roles| {
        if let Some(formula) = changed.to_formula() {
            rows.push((text, DraftChange::Formula(formula.to_string())));
        }
    };
    // Smooth curves have neither interactions nor effects by group.
    let predictors: Vec<&Factor> = roles
        .predictors
        .iter()
        .filter(|it| !it.is_smooth())
        .collect();
    for (i, &first) in predictors.iter().enumerate() {
        for &second in &predictors[i + 1..] {
            let mut changed = roles.clone();
            changed
                .interactions
                .push(vec![first.clone(), second.clone()]);
            let names = (first.label(), second.label());
            offer(
                format!("Add the interaction of {} and {}", names.0, names.1),
                &changed,
            );
        }
        for (at, group) in roles.groups.iter().enumerate() {
            let term = vec![first.clone()];
            if !group.terms.contains(&term) {
                let mut changed = roles.clone();
                changed.groups[at].terms.push(term);
                let (name, by) = (first.label(), group.group.join(" and "));
                offer(format!("Let the effect of {name} differ by {by}"), &changed);
            }
        }
    }
    rows
}
