//! Priors as a table.

use ergodic_base::param::ParamId;
use ergodic_export::manifest::Manifest;

/// The prior of a parameter, or of a vector of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriorRow {
    /// The parameter, or the vector such as `r[school,*,Intercept]`.
    pub name: String,
    /// How many parameters it is of.
    pub count: usize,
    /// The prior in Stan's notation; empty where one follows from others.
    pub prior: String,
    /// Where the prior comes from.
    pub source: String,
}

/// The priors of a run; effects of groups that share one are one row.
pub fn rows(manifest: &Manifest) -> Vec<PriorRow> {
    let mut rows: Vec<PriorRow> = Vec::new();
    for (name, prior, source) in &manifest.priors {
        let id = ParamId::from(name.as_str());
        let vector = id.vector().filter(|_| id.is_varying());
        let shown = vector.as_ref().map_or(name.clone(), ToString::to_string);
        let same = |row: &&mut PriorRow| {
            vector.is_some() && (&row.name, &row.prior, &row.source) == (&shown, prior, source)
        };
        match rows.iter_mut().rev().find(same) {
            Some(row) => row.count += 1,
            None => rows.push(PriorRow {
                name: shown,
                count: 1,
                prior: prior.clone(),
                source: source.clone(),
            }),
        }
    }
    rows
}
