//! Priors as a table, and in a sentence.

use ergodic_analysis::templates;
use ergodic_base::{Class, ParamId};
use ergodic_core::models::{ChosenBy, PriorOf, PriorSource};
use ergodic_export::Manifest;

/// Names of parameters whose prior the user set that a sentence lists.
const MOST_NAMED: usize = 6;

/// Distributions as papers name them, where that is not as Stan does.
const IN_PAPERS: [(&str, &str); 8] = [
    ("student_t", "Student-t"),
    ("half_student_t", "half-Student-t"),
    ("half_normal", "half-normal"),
    ("half_cauchy", "half-Cauchy"),
    ("cauchy", "Cauchy"),
    ("laplace", "Laplace"),
    ("lkj", "LKJ"),
    ("inv_wishart", "inverse-Wishart"),
];

/// The prior of a parameter, or of a vector of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriorRow {
    /// The parameter, or the vector such as `r[school,*,Intercept]`.
    pub name: String,
    /// How many parameters it is of.
    pub count: usize,
    /// The prior in Stan's notation; empty where one follows from others.
    pub prior: PriorOf,
    /// Where the prior comes from.
    pub source: PriorSource,
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

/// The priors in sentences: those by default by what they are of, and those that the user set by name. What follows from other
/// parameters, such as effects of groups from their spread, is part of the model and not told. Names stand between backticks.
pub fn sentences(manifest: &Manifest) -> Vec<String> {
    if templates::is_text(&manifest.template) {
        return vec!["Priors are those that the text of the model names.".to_owned()];
    }
    // Prior and what it is per, with what it is of; in the order of the parameters.
    let (mut by_default, mut by_user): (Vec<Shared>, Vec<Shared>) = Default::default();
    for row in rows(manifest) {
        let place = row.source.place;
        let (all, of) = match row.source.by {
            ChosenBy::User => (&mut by_user, quoted(&row.name)),
            ChosenBy::Default => (&mut by_default, noun(&ParamId::from(row.name))),
            ChosenBy::Model => continue,
        };
        match (all.iter_mut()).find(|it| (&it.prior, &it.place) == (&row.prior, &place)) {
            Some(shared) if shared.of.contains(&of) => {}
            Some(shared) => shared.of.push(of),
            None => all.push(Shared {
                prior: row.prior,
                place,
                of: vec![of],
            }),
        }
    }
    let told = |who: &str, all: &[Shared]| {
        let all: Vec<String> = all.iter().map(Shared::clause).collect();
        (!all.is_empty()).then(|| format!("Priors {who} are {}.", all.join("; ")))
    };
    [
        told("by default", &by_default),
        told("set by the user", &by_user),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A prior that several parameters have.
struct Shared {
    prior: PriorOf,
    place: String,
    of: Vec<String>,
}

impl Shared {
    /// "normal(0, 2.5) for coefficients (per standard deviation of the predictor)".
    fn clause(&self) -> String {
        let more = self.of.len().saturating_sub(MOST_NAMED);
        let mut of: Vec<String> = self.of.iter().take(MOST_NAMED).cloned().collect();
        if more > 0 {
            of.push(format!("{more} more"));
        }
        let of = match of.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
            None => String::new(),
        };
        let place = match self.place.as_str() {
            "" => String::new(),
            place => {
                let whose = "per standard deviation of the predictor";
                format!(" ({})", place.replace("per standard deviation", whose))
            }
        };
        format!("{} for {of}{place}", in_papers(self.prior.as_str()))
    }
}

/// A prior as papers write it.
fn in_papers(prior: &str) -> String {
    let end = prior.find('(').unwrap_or(prior.len());
    let (name, arguments) = prior.split_at(end);
    let found = IN_PAPERS.iter().find(|(stan, _)| *stan == name);
    format!("{}{arguments}", found.map_or(name, |(_, paper)| paper))
}

/// A name between backticks, without any of its own.
fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "'"))
}

/// What parameters of the class of `id` are called together.
fn noun(id: &ParamId) -> String {
    let is_intercept = id.is_intercept();
    let text = match id.class() {
        Class::Coefficient if is_intercept => "the intercept",
        Class::LevelCoefficient if is_intercept => "intercepts",
        Class::Coefficient | Class::LevelCoefficient => "coefficients",
        Class::Mean if is_intercept => "the mean of intercepts over groups",
        Class::Mean => "means of coefficients over groups",
        Class::Covariance => "covariances between groups",
        Class::Sd if id.term().is_some() => "spreads between groups",
        Class::Sd => "spreads of smooth curves",
        Class::Correlation => "correlations of effects",
        Class::CutPoint => "cut points",
        Class::Probability => "probabilities",
        _ => return quoted(id.word()),
    };
    text.to_owned()
}
