//! What stands above the estimates of a run.

use std::collections::{BTreeMap, BTreeSet};

use super::priors;
use ergodic_analysis::templates;
use ergodic_base::ParamId;
use ergodic_base::numerals::plural;
use ergodic_base::shown::capitalised;
use ergodic_core::models::PriorOf;
use ergodic_export::Manifest;

/// Priors that are named; reports have a table of all.
const MOST_PRIORS: usize = 12;

/// What was fitted, in lines: the model with its response family and its formula, how many rows and groups there are of which there are
/// `variables`, and where the model has some its priors and for which scales they hold.
pub fn head(manifest: &Manifest, variables: &[ParamId]) -> Vec<String> {
    let title = manifest.model_in_words();
    // A text's formula says which columns it reads, its outcome among them, and not what it makes of them.
    let model = match templates::is_text(&manifest.template) {
        true => title,
        false => format!("{title}: {}", manifest.formula),
    };
    let mut groups: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for effect in variables.iter().filter_map(ParamId::group_effect) {
        let levels = groups.entry(effect.factor).or_default();
        levels.insert(effect.level);
    }
    let mut rows = plural(manifest.rows_used, "row");
    for (factor, levels) in groups {
        rows.push_str(&format!(", {} groups", levels.len()));
        if !factor.is_empty() {
            rows.push_str(&format!(" of {factor}"));
        }
    }
    let mut lines = vec![model, rows];
    let named: Vec<String> = (priors(manifest).iter())
        .filter(|row| row.prior != PriorOf::NONE)
        .map(|row| format!("{} ~ {}", row.name, row.prior))
        .collect();
    if !named.is_empty() {
        let first = &named[..named.len().min(MOST_PRIORS)];
        let more = match named.len() - first.len() {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        lines.push(format!("Priors: {}{more}", first.join(", ")));
        lines.push(capitalised(&manifest.scales));
    }
    lines
}
