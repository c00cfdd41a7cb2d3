//! Buttons that act on what the check of a model says: each does what the sentence beside it advises.

use super::command::Command;
use super::document::Document;
use super::draft_change::DraftChange;
use super::drafting::{Surroundings, changed};
use ergodic_analysis::choice::choose;
use ergodic_analysis::templates;
use ergodic_base::Warning;
use ergodic_base::settings::Value;
use ergodic_core::design::lump_levels::TOP;
use ergodic_core::design::terms::MAX_LEVELS;
use ergodic_core::design::{Columns as _, Remark};
use ergodic_core::families::Family;
use ergodic_core::formula::{Factor, Formula, Function, Response, Term, Trials, quote_term};
use ergodic_core::models::names;
use ergodic_data::suggest::Suggestions;
use ergodic_data::{Loaded, Role, check_role, keep_top};

/// Most quick fixes of a refusal that are shown.
const MOST_SHOWN: usize = 3;
/// Most quick fixes of a refusal that are tried: each costs a look at the data.
const MOST_TRIED: usize = 8;
/// A prior of coefficients per standard deviation that expects most effects to be small: an odds ratio of 7 is two of its
/// standard deviations.
const NARROW_PRIOR: &str = "normal(0, 1)";

/// What a button says and does.
#[derive(Clone, Debug, PartialEq)]
pub struct QuickFix {
    /// Words on the button.
    pub label: String,
    /// What the button does, one after the other.
    pub commands: Vec<Command>,
}

/// A quick fix of the draft, which can be tried before it is offered.
#[derive(Debug, PartialEq)]
struct DraftFix {
    /// Words on the button.
    label: String,
    /// Changes of the draft, one after the other.
    changes: Vec<DraftChange>,
}

impl DraftFix {
    fn one(label: impl Into<String>, change: DraftChange) -> Self {
        Self {
            label: label.into(),
            changes: vec![change],
        }
    }

    fn formula(label: impl Into<String>, formula: &Formula) -> Self {
        Self::one(label, DraftChange::Formula(formula.to_string()))
    }

    /// The draft as a click will leave it; `None` if one of the changes would be refused.
    fn applied(&self, document: &Document, around: Surroundings<'_>) -> Option<Document> {
        self.changes
            .iter()
            .cloned()
            .try_fold(document.clone(), |document, change| {
                Some(changed(&document, change, around).ok()?.document)
            })
    }
}

impl From<DraftFix> for QuickFix {
    fn from(fix: DraftFix) -> Self {
        Self {
            label: fix.label,
            commands: fix.changes.into_iter().map(Command::Change).collect(),
        }
    }
}

/// What helps against a remark on the draft, best first.
pub(super) fn of_warning(warning: &Warning, document: &Document, loaded: &Loaded) -> Vec<QuickFix> {
    let Some(draft) = Draft::of(document, loaded) else {
        return Vec::new();
    };
    let Some(remark) = warning.remark::<Remark>() else {
        return Vec::new();
    };
    let found = match remark {
        Remark::ConstantColumn { column, .. } | Remark::Collinear { column, .. } => {
            vec![draft.without_term(&column.factors())]
        }
        Remark::ConstantLeftOut { term, .. } => vec![draft.without_term(term)],
        Remark::NearlyCollinear { columns, .. } => {
            let weakest = columns.first();
            vec![weakest.and_then(|column| draft.without_term(&column.factors()))]
        }
        Remark::MissingValues { dispensable, .. } => {
            let column = dispensable.as_deref();
            vec![column.and_then(|column| draft.without_column(column))]
        }
        Remark::ValueSeparates { column, .. }
        | Remark::CutSeparates { column, .. }
        | Remark::LevelsSeparate {
            example: column, ..
        } => {
            vec![draft.narrow_prior(), draft.without_term(&column.factors())]
        }
        Remark::TogetherSeparate { .. } | Remark::MoreColumnsThanRows { .. } => {
            vec![draft.narrow_prior()]
        }
        Remark::OneGroup { group, .. } | Remark::FewGroups { group, .. } => {
            vec![draft.without_group(group), draft.group_as_predictor(group)]
        }
        Remark::OneRowGroups { group, .. }
        | Remark::NoResidualInGroups { group, .. }
        | Remark::ConstantResponseInGroups { group, .. } => {
            vec![draft.without_group(group)]
        }
        Remark::MoreEffectsThanRows { group, .. } => vec![draft.intercept_only(group)],
        Remark::ConstantInGroups { column, group } => {
            vec![draft.same_in_all_groups(column, group)]
        }
        Remark::Overdispersed { .. } => vec![draft.negative_binomial()],
        Remark::Outliers { .. } => vec![draft.robust()],
        Remark::Bend { column, .. } => vec![draft.with_square(column)],
        Remark::RareLevels { column, .. } => {
            vec![draft.keep_top(column), draft.column_as_group(column)]
        }
        Remark::ManyLevels { column, .. } => {
            vec![draft.column_as_group(column), draft.keep_top(column)]
        }
        Remark::Codes { column, .. } => vec![Some(DraftFix::one(
            format!("Treat {column} as categories"),
            DraftChange::Categorical(column.clone(), true),
        ))],
        Remark::Rating { response, .. } => draft.readings(response),
        Remark::MergedLevels { levels, .. } => vec![draft.keep_all(&levels.column)],
        Remark::NumbersAsCategories { column, .. } => vec![draft.without_column(column)],
        Remark::MoreCollinear { .. }
        | Remark::ExactFit { .. }
        | Remark::UnusedSetting { .. }
        | Remark::Censored { .. }
        | Remark::HeldOut { .. }
        | Remark::CollinearityUnchecked { .. }
        | Remark::SeparationUnchecked {} => Vec::new(),
    };
    found.into_iter().flatten().map(QuickFix::from).collect()
}

/// What helps against a refusal of the draft: changes after which `is_fine` says yes.
pub(super) fn of_refusal(
    document: &Document,
    loaded: &Loaded,
    suggestions: &Suggestions,
    is_fine: impl Fn(&Document) -> bool,
) -> Vec<QuickFix> {
    let Some(draft) = Draft::of(document, loaded) else {
        return Vec::new();
    };
    let around = Surroundings {
        data: Some((&loaded.table, suggestions)),
        check: None,
    };
    let mut found = Vec::new();
    let mut tried = 0;
    for fix in draft.attempts() {
        if found.len() == MOST_SHOWN || tried == MOST_TRIED {
            break;
        }
        let after = fix.applied(document, around);
        let Some(after) = after.filter(|after| after != document && !found.contains(&fix)) else {
            continue;
        };
        tried += 1;
        if is_fine(&after) {
            found.push(fix);
        }
    }
    found.into_iter().map(QuickFix::from).collect()
}

/// A draft with what is asked of it all the time.
struct Draft<'a> {
    document: &'a Document,
    loaded: &'a Loaded,
    formula: Formula,
}

impl<'a> Draft<'a> {
    /// `None` while its formula cannot be read.
    fn of(document: &'a Document, loaded: &'a Loaded) -> Option<Self> {
        Some(Self {
            document,
            loaded,
            formula: document.recipe.model.formula.parse().ok()?,
        })
    }

    fn template(&self) -> &str {
        &self.document.recipe.model.template
    }

    /// The template that the response of `formula` needs, with that formula.
    fn chosen(&self, label: &str, formula: &Formula) -> Option<DraftFix> {
        let table = &self.loaded.table;
        let choice = choose(table, formula, &self.document.recipe.model.categorical).ok()?;
        let title = templates::find(choice.template).ok()?.spec.title;
        let mut changes = Vec::new();
        if choice.template != self.template() {
            changes.push(DraftChange::Template(choice.template.to_owned()));
        }
        for &(key, value) in &choice.settings {
            let value = Value::Text(value.to_owned());
            changes.push(DraftChange::ModelSetting(key.to_owned(), Some(value)));
        }
        changes.push(DraftChange::Formula(formula.to_string()));
        // Under the same template it is the setting that changes.
        let setting = choice
            .settings
            .first()
            .filter(|_| choice.template == self.template());
        let family = setting.and_then(|(_, value)| Family::find(value));
        let words = match (family, setting) {
            (Some(family), _) => format!("the family {}", family.definition().title),
            (None, Some((key, value))) => format!("{key} {value}"),
            (None, None) => title.to_owned(),
        };
        Some(DraftFix {
            label: label.replace("{}", &words),
            changes,
        })
    }

    /// A change to `formula` under the template for it, where that of the draft cannot have it.
    fn under_any_template(&self, label: String, formula: &Formula) -> Option<DraftFix> {
        let needs_groups = templates::find(self.template()).is_ok_and(|entry| entry.all_vary);
        if needs_groups {
            self.chosen(&label, formula)
        } else {
            Some(DraftFix::formula(label, formula))
        }
    }

    fn without_column(&self, column: &str) -> Option<DraftFix> {
        let names = |term: &Term| term.iter().any(|factor| factor.column() == column);
        self.without(format!("Leave {column} out"), names)
    }

    /// Without the terms that `is_out` says, as predictors and where they vary by group.
    fn without(&self, label: String, is_out: impl Fn(&Term) -> bool) -> Option<DraftFix> {
        let mut formula = self.formula.clone();
        formula.terms.retain(|term| !is_out(term));
        for group in &mut formula.groups {
            group.terms.retain(|term| !is_out(term));
        }
        formula
            .groups
            .retain(|group| group.intercept || !group.terms.is_empty());
        self.smaller(label, &formula)
    }

    /// The quick fix of a formula with fewer terms, if it has some left.
    fn smaller(&self, label: String, formula: &Formula) -> Option<DraftFix> {
        let explains = formula.response.is_some() || !formula.terms.is_empty();
        let has_some = formula.intercept || !formula.terms.is_empty();
        (*formula != self.formula && explains && has_some)
            .then(|| DraftFix::formula(label, formula))
    }

    fn without_term(&self, term: &Term) -> Option<DraftFix> {
        self.without(format!("Leave {} out", quote_term(term)), |it| it == term)
    }

    /// Without the group terms of a grouping.
    fn without_group(&self, name: &str) -> Option<DraftFix> {
        let mut formula = self.formula.clone();
        formula.groups.retain(|group| group.group.join(":") != name);
        if formula == self.formula {
            return None;
        }
        self.under_any_template(format!("Leave the groups of {name} out"), &formula)
    }

    /// The grouping column as a predictor.
    fn group_as_predictor(&self, name: &str) -> Option<DraftFix> {
        let mut formula = self.formula.clone();
        let single = |group: &ergodic_core::formula::GroupTerm| group.group == [name];
        if !formula.groups.iter().any(single) || self.loaded.table.column(name).is_none() {
            return None;
        }
        let col = self.loaded.table.index_of(name, "").ok()?;
        if self.loaded.table.few_levels(col, 1).is_some() {
            return None;
        }
        formula.groups.retain(|group| !single(group));
        formula.add_term(vec![Factor::Column(name.to_owned())]);
        self.under_any_template(format!("Use {name} as a predictor"), &formula)
    }

    /// Only the intercept varies by a grouping.
    fn intercept_only(&self, name: &str) -> Option<DraftFix> {
        let mut formula = self.formula.clone();
        for group in &mut formula.groups {
            if group.group.join(":") == name {
                group.intercept = true;
                group.terms.clear();
            }
        }
        let label = format!("Let only the intercept vary by {name}");
        self.under_any_template(label, &formula)
    }

    /// An effect that cannot vary by group is the same in all groups.
    fn same_in_all_groups(&self, effect: &str, grouping: &str) -> Option<DraftFix> {
        let mut formula = self.formula.clone();
        let mut changed = false;
        for group in &mut formula.groups {
            if group.group.join(":") != grouping {
                continue;
            }
            let before = group.terms.len();
            group.terms.retain(|term| {
                let columns: Vec<&str> = effect.split(':').collect();
                !(columns.len() == term.len()
                    && columns.iter().zip(term).all(|(column, factor)| {
                        let plain = column.split('=').next().unwrap_or_default();
                        plain.starts_with(&factor.label())
                    }))
            });
            changed |= group.terms.len() < before;
        }
        formula
            .groups
            .retain(|group| group.intercept || !group.terms.is_empty());
        if !changed {
            return None;
        }
        self.under_any_template(
            format!("Make the effect of {effect} the same in all groups"),
            &formula,
        )
    }

    /// A prior of coefficients with less room.
    fn narrow_prior(&self) -> Option<DraftFix> {
        let entry = templates::find(self.template()).ok()?;
        let takes = entry.spec.priors.classes.iter().any(|(key, _)| *key == "b");
        let is_set = self.document.recipe.priors.get("b").map(String::as_str) == Some(NARROW_PRIOR);
        (takes && !is_set && self.document.recipe.model.standardize).then(|| {
            DraftFix::one(
                format!("Use the prior {NARROW_PRIOR} for coefficients"),
                DraftChange::Prior("b".to_owned(), Some(NARROW_PRIOR.to_owned())),
            )
        })
    }

    fn negative_binomial(&self) -> Option<DraftFix> {
        let change = match self.template() {
            names::POISSON => DraftChange::Template(names::NEGATIVE_BINOMIAL.to_owned()),
            names::MIXED => DraftChange::ModelSetting(
                "family".to_owned(),
                Some(Value::Text(Family::NegativeBinomial.id().to_owned())),
            ),
            _ => return None,
        };
        Some(DraftFix::one("Use negative binomial counts", change))
    }

    /// Other readings of an outcome that looks like a rating: under templates without groups each is one of its own.
    fn readings(&self, column: &str) -> Vec<Option<DraftFix>> {
        let other = |label: String, template: &str| {
            (template != self.template())
                .then(|| DraftFix::one(label, DraftChange::Template(template.to_owned())))
        };
        if ![names::LINEAR, names::POISSON, names::NEGATIVE_BINOMIAL].contains(&self.template()) {
            return Vec::new();
        }
        vec![
            other(format!("Take {column} as a number"), names::LINEAR),
            other(format!("Take {column} as a count"), names::POISSON),
            other(format!("Take {column} as ordered levels"), names::ORDERED),
            other(
                format!("Take {column} as levels without an order"),
                names::MULTINOMIAL,
            ),
            other(format!("Take {column} as categories"), names::CATEGORICAL),
        ]
    }

    /// Noise in which outliers count less.
    fn robust(&self) -> Option<DraftFix> {
        (self.template() == names::LINEAR).then(|| {
            let template = DraftChange::Template(names::STUDENT.to_owned());
            DraftFix::one("Use robust regression", template)
        })
    }

    /// With the square of a column that is a predictor as it is.
    fn with_square(&self, column: &str) -> Option<DraftFix> {
        let mut formula = self.formula.clone();
        let plain = vec![Factor::Column(column.to_owned())];
        if !formula.terms.contains(&plain) {
            return None;
        }
        let square = format!("~ I({}^2)", quote_term(&plain));
        formula.add_term(square.parse::<Formula>().ok()?.terms.into_iter().next()?);
        let label = format!("Add the square of {column}");
        (formula != self.formula).then(|| DraftFix::formula(label, &formula))
    }

    /// Changes of a draft that was refused, the likeliest first; not all of them help.
    fn attempts(&self) -> Vec<DraftFix> {
        let table = &self.loaded.table;
        let mut found: Vec<Option<DraftFix>> = vec![self.chosen("Use {}", &self.formula)];
        if let Some(Response {
            column,
            trials: Some(Trials::Column(trials)),
            ..
        }) = &self.formula.response
        {
            // Trials that are not whole are an exposure, such as person-years.
            let mut formula = self.formula.clone();
            if let Some(response) = &mut formula.response {
                response.trials = None;
            }
            let log = Function::Elementwise(ergodic_core::formula::Elementwise::Log);
            let exposure = Factor::Call(log, Box::new(Factor::Column(trials.clone())));
            formula.offsets.push(exposure);
            found.push(self.chosen(
                &format!("Use {{}} of {column} with {trials} as exposure"),
                &formula,
            ));
        }
        for column in self.formula.terms.iter().flatten().map(Factor::column) {
            let Ok(col) = table.index_of(column, "") else {
                found.push(self.without_column(column));
                continue;
            };
            if check_role(table, column, Role::Predictor).is_err() {
                found.push(self.column_as_group(column));
                found.push(self.keep_top(column));
                found.push(self.without_column(column));
            } else if table.few_levels(col, 1).is_some() {
                found.push(self.without_column(column));
            }
        }
        let mut edit = |label: String, edit: &dyn Fn(&mut Formula)| {
            let mut formula = self.formula.clone();
            edit(&mut formula);
            found.push(Some(DraftFix::formula(label, &formula)));
        };
        if !self.formula.groups.is_empty() {
            edit("Let all coefficients vary by group".to_owned(), &|it| {
                it.gather();
                it.vary_all();
            });
            edit("Leave the groups out".to_owned(), &|it| it.groups.clear());
        }
        if !self.formula.offsets.is_empty() {
            edit("Leave the offset out".to_owned(), &|it| it.offsets.clear());
        }
        if let Some(response) = &self.formula.response {
            let mut without = |what: &str, column: &Option<String>, clear: fn(&mut Response)| {
                let Some(column) = column else { return };
                edit(format!("Leave the {what} {column} out"), &|it| {
                    it.response.iter_mut().for_each(clear);
                });
            };
            without("censoring", &response.cens, |it| it.cens = None);
            without("standard errors", &response.se, |it| it.se = None);
            without("weights", &response.weights, |it| it.weights = None);
        }
        found.into_iter().flatten().collect()
    }

    /// Rare values of a predictor merged; frequent ones must be so.
    fn keep_top(&self, column: &str) -> Option<DraftFix> {
        let table = &self.loaded.table;
        let labels = table.labels(table.index_of(column, "").ok()?);
        let mut counts = vec![0_usize; labels.levels.len()];
        for &code in &labels.codes {
            if let Some(count) = counts.get_mut(code as usize) {
                *count += 1;
            }
        }
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let repeats = counts.len() > TOP + 1 && counts[TOP - 1] > 1;
        let keeps = self.document.recipe.model.top_levels.get(column);
        (repeats && keeps.is_none_or(|&top| top > TOP)).then(|| {
            let change = DraftChange::TopLevels(column.to_owned(), Some(TOP));
            DraftFix::one(keep_top(TOP, column), change)
        })
    }

    /// All values of a predictor again, where there are not too many.
    fn keep_all(&self, column: &str) -> Option<DraftFix> {
        let table = &self.loaded.table;
        let col = table.index_of(column, "").ok()?;
        table.few_levels(col, MAX_LEVELS).map(|_levels| {
            let change = DraftChange::TopLevels(column.to_owned(), None);
            DraftFix::one(format!("Use all values of {column}"), change)
        })
    }

    /// A predictor of many texts as a group.
    fn column_as_group(&self, column: &str) -> Option<DraftFix> {
        let mut formula = self.formula.clone();
        let names = |term: &Vec<Factor>| term.iter().any(|factor| factor.column() == column);
        formula.terms.retain(|term| !names(term));
        formula.groups.push(ergodic_core::formula::GroupTerm {
            intercept: true,
            terms: Vec::new(),
            correlated: true,
            group: vec![column.to_owned()],
        });
        self.chosen(&format!("Use {column} as a group"), &formula)
    }
}

#[cfg(test)]
mod tests;
