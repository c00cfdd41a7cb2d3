//! Buttons that act on what the check of a model says: each does what the sentence beside it advises.

use super::command::Command;
use super::document::Document;
use crate::base::reporter::Warning;
use crate::base::settings::Value;
use crate::data::formula::{Factor, Formula, Function, Response, Trials, quote_term};
use crate::data::load::Loaded;
use crate::data::rare::TOP;
use crate::data::roles::{Role, check_role, keep_top};
use crate::data::terms::MAX_LEVELS;
use crate::models;
use crate::models::choice::choose;

/// Most remedies of a refusal that are shown.
const MOST_SHOWN: usize = 3;
/// Most remedies of a refusal that are tried: each costs a look at the data.
const MOST_TRIED: usize = 8;
/// A prior of coefficients per standard deviation that lets effects be of any size met in practice: an odds ratio of 150 is
/// two of its standard deviations.
const NARROW_PRIOR: &str = "normal(0, 2.5)";

/// What a button says and does.
#[derive(Clone, Debug, PartialEq)]
pub struct Remedy {
    /// Its words.
    pub label: String,
    /// What it does, one after the other.
    pub commands: Vec<Command>,
}

impl Remedy {
    fn formula(label: String, formula: &Formula) -> Self {
        Self {
            label,
            commands: vec![Command::SetFormula(formula.to_string())],
        }
    }

    /// The draft after it.
    fn applied(&self, document: &Document) -> Document {
        let mut document = document.clone();
        for command in &self.commands {
            match command.clone() {
                Command::SetFormula(text) => document.set_formula(&text),
                Command::SetTemplate(id) => document.set_template(id),
                Command::SetModelSetting(key, value) => document.set_model_setting(&key, value),
                Command::SetTopLevels(column, top) => document.set_top_levels(&column, top),
                _ => {}
            }
        }
        document
    }
}

/// What helps against a remark on the draft, best first.
pub(super) fn of_warning(warning: &Warning, document: &Document, loaded: &Loaded) -> Vec<Remedy> {
    let Ok(formula) = document.recipe.model.formula.parse::<Formula>() else {
        return Vec::new();
    };
    let draft = Draft {
        document,
        loaded,
        formula,
    };
    let subject = warning.subject.as_deref().unwrap_or_default();
    let mut found: Vec<Option<Remedy>> = Vec::new();
    match warning.code.as_str() {
        "constant-column" | "collinear" | "nearly-collinear" => {
            found.push(draft.without_term(subject));
        }
        "missing-values" => found.push(draft.without_column(subject)),
        "separation" => {
            found.push(draft.narrow_prior());
            found.push(draft.without_term(subject));
        }
        "more-predictors-than-rows" => found.push(draft.narrow_prior()),
        "few-groups" => {
            found.push(draft.without_group(subject));
            found.push(draft.group_as_predictor(subject));
        }
        "one-row-groups" | "constant-response-in-groups" => {
            found.push(draft.without_group(subject));
        }
        "more-effects-than-rows" => found.push(draft.intercept_only(subject)),
        "constant-in-groups" => found.push(draft.same_in_all_groups(warning)),
        "overdispersion" => found.push(draft.negative_binomial()),
        "rare-levels" => {
            found.push(draft.keep_top(subject));
            found.push(draft.column_as_group(subject));
        }
        "merged-levels" => found.push(draft.keep_all(subject)),
        _ => {}
    }
    found.into_iter().flatten().collect()
}

/// What helps against a refusal of the draft: changes after which `is_fine` says yes.
pub(super) fn of_refusal(
    document: &Document,
    loaded: &Loaded,
    is_fine: impl Fn(&Document) -> bool,
) -> Vec<Remedy> {
    let Ok(formula) = document.recipe.model.formula.parse::<Formula>() else {
        return Vec::new();
    };
    let draft = Draft {
        document,
        loaded,
        formula,
    };
    let mut found = Vec::new();
    let mut tried = 0;
    for remedy in draft.attempts() {
        if found.len() == MOST_SHOWN || tried == MOST_TRIED {
            break;
        }
        let after = remedy.applied(document);
        if after == *document || found.contains(&remedy) {
            continue;
        }
        tried += 1;
        if is_fine(&after) {
            found.push(remedy);
        }
    }
    found
}

/// A draft with what is asked of it all the time.
struct Draft<'a> {
    document: &'a Document,
    loaded: &'a Loaded,
    formula: Formula,
}

impl Draft<'_> {
    fn template(&self) -> &str {
        &self.document.recipe.model.template
    }

    /// The template that the response of `formula` needs, with that formula.
    fn chosen(&self, label: &str, formula: &Formula) -> Option<Remedy> {
        let table = &self.loaded.table;
        let choice = choose(table, formula, &self.document.recipe.model.categorical)?;
        let title = models::find(choice.template).ok()?.spec.title;
        let mut commands = Vec::new();
        if choice.template != self.template() {
            commands.push(Command::SetTemplate(choice.template.to_owned()));
        }
        for &(key, value) in &choice.settings {
            let value = Value::Text(value.to_owned());
            commands.push(Command::SetModelSetting(key.to_owned(), Some(value)));
        }
        commands.push(Command::SetFormula(formula.to_string()));
        // Under the same template it is the setting that changes.
        let setting = choice
            .settings
            .first()
            .filter(|_| choice.template == self.template());
        let words = match setting {
            Some((key, value)) => format!("{key} {value}"),
            None => title.to_owned(),
        };
        Some(Remedy {
            label: label.replace("{}", &words),
            commands,
        })
    }

    /// The same formula under the template for it, where that of the draft cannot have it.
    fn under_any_template(&self, label: String, formula: &Formula) -> Option<Remedy> {
        let needs_groups = models::find(self.template()).is_ok_and(|entry| entry.all_vary);
        if needs_groups {
            self.chosen(&label, formula)
        } else {
            Some(Remedy::formula(label, formula))
        }
    }

    fn without_column(&self, column: &str) -> Option<Remedy> {
        let mut formula = self.formula.clone();
        let names = |term: &Vec<Factor>| term.iter().any(|factor| factor.column() == column);
        formula.terms.retain(|term| !names(term));
        for group in &mut formula.groups {
            group.terms.retain(|term| !names(term));
        }
        formula
            .groups
            .retain(|group| group.intercept || !group.terms.is_empty());
        self.smaller(format!("Leave {column} out"), &formula)
    }

    /// The remedy of a formula with fewer terms, if it has some left.
    fn smaller(&self, label: String, formula: &Formula) -> Option<Remedy> {
        let explains = formula.response.is_some() || !formula.terms.is_empty();
        let has_some = formula.intercept || !formula.terms.is_empty();
        (*formula != self.formula && explains && has_some).then(|| Remedy::formula(label, formula))
    }

    /// Without the term that makes the column called `name`, such as `plan=b:age`.
    fn without_term(&self, name: &str) -> Option<Remedy> {
        let made_by = |term: &Vec<Factor>| {
            let parts: Vec<&str> = name.split(':').collect();
            parts.len() == term.len()
                && parts.iter().zip(term).all(|(part, factor)| {
                    let label = factor.label();
                    let rest = part.strip_prefix(label.as_str());
                    rest.is_some_and(|rest| {
                        rest.is_empty()
                            || rest.starts_with('=')
                            || rest.chars().all(|c| c.is_ascii_digit())
                    })
                })
        };
        let term = self
            .formula
            .terms
            .iter()
            .find(|term| made_by(term))?
            .clone();
        let mut formula = self.formula.clone();
        formula.terms.retain(|other| *other != term);
        for group in &mut formula.groups {
            group.terms.retain(|other| *other != term);
        }
        formula
            .groups
            .retain(|group| group.intercept || !group.terms.is_empty());
        self.smaller(format!("Leave {} out", quote_term(&term)), &formula)
    }

    /// Without the group terms of a grouping.
    fn without_group(&self, name: &str) -> Option<Remedy> {
        let mut formula = self.formula.clone();
        formula.groups.retain(|group| group.group.join(":") != name);
        if formula == self.formula {
            return None;
        }
        self.under_any_template(format!("Leave the groups of {name} out"), &formula)
    }

    /// The grouping column as a predictor.
    fn group_as_predictor(&self, name: &str) -> Option<Remedy> {
        let mut formula = self.formula.clone();
        let single = |group: &crate::data::formula::GroupTerm| group.group == [name];
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
    fn intercept_only(&self, name: &str) -> Option<Remedy> {
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

    /// An effect that cannot vary by group is the same in all groups; the remark names it, and its remedy the grouping.
    fn same_in_all_groups(&self, warning: &Warning) -> Option<Remedy> {
        let effect = warning.subject.as_deref()?;
        let remedy = warning.remedy.as_deref()?;
        let mut formula = self.formula.clone();
        let mut changed = false;
        for group in &mut formula.groups {
            if !remedy.ends_with(&format!("of `{}`", group.group.join(":"))) {
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
    fn narrow_prior(&self) -> Option<Remedy> {
        let entry = models::find(self.template()).ok()?;
        let takes = entry.spec.priors.classes.iter().any(|(key, _)| *key == "b");
        let is_set = self.document.recipe.priors.get("b").map(String::as_str) == Some(NARROW_PRIOR);
        (takes && !is_set && self.document.recipe.model.standardize).then(|| Remedy {
            label: format!("Use the prior {NARROW_PRIOR} for coefficients"),
            commands: vec![Command::SetPrior(
                "b".to_owned(),
                Some(NARROW_PRIOR.to_owned()),
            )],
        })
    }

    fn negative_binomial(&self) -> Option<Remedy> {
        let command = match self.template() {
            "poisson" => Command::SetTemplate("negative-binomial".to_owned()),
            "mixed" => Command::SetModelSetting(
                "family".to_owned(),
                Some(Value::Text("negative_binomial".to_owned())),
            ),
            _ => return None,
        };
        Some(Remedy {
            label: "Use negative binomial counts".to_owned(),
            commands: vec![command],
        })
    }

    /// Changes of a draft that was refused, the likeliest first; not all of them help.
    fn attempts(&self) -> Vec<Remedy> {
        let table = &self.loaded.table;
        let mut found: Vec<Option<Remedy>> = vec![self.chosen("Use {}", &self.formula)];
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
            let log = Function::Elementwise(crate::data::formula::Elementwise::Log);
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
        if !self.formula.groups.is_empty() {
            let mut varied = self.formula.clone();
            varied.gather();
            varied.vary_all();
            found.push(Some(Remedy::formula(
                "Let all coefficients vary by group".to_owned(),
                &varied,
            )));
            let mut plain = self.formula.clone();
            plain.groups.clear();
            found.push(Some(Remedy::formula(
                "Leave the groups out".to_owned(),
                &plain,
            )));
        }
        if !self.formula.offsets.is_empty() {
            let mut plain = self.formula.clone();
            plain.offsets.clear();
            found.push(Some(Remedy::formula(
                "Leave the offset out".to_owned(),
                &plain,
            )));
        }
        if let Some(Response {
            weights: Some(weights),
            ..
        }) = &self.formula.response
        {
            let mut plain = self.formula.clone();
            if let Some(response) = &mut plain.response {
                response.weights = None;
            }
            let label = format!("Leave the weights {weights} out");
            found.push(Some(Remedy::formula(label, &plain)));
        }
        found.into_iter().flatten().collect()
    }

    /// Rare values of a predictor merged; frequent ones must be so.
    fn keep_top(&self, column: &str) -> Option<Remedy> {
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
        (repeats && keeps.is_none_or(|&top| top > TOP)).then(|| Remedy {
            label: keep_top(TOP, column),
            commands: vec![Command::SetTopLevels(column.to_owned(), Some(TOP))],
        })
    }

    /// All values of a predictor again, where there are not too many.
    fn keep_all(&self, column: &str) -> Option<Remedy> {
        let table = &self.loaded.table;
        let col = table.index_of(column, "").ok()?;
        table.few_levels(col, MAX_LEVELS).map(|_levels| Remedy {
            label: format!("Use all values of {column}"),
            commands: vec![Command::SetTopLevels(column.to_owned(), None)],
        })
    }

    /// A predictor of many texts as a group.
    fn column_as_group(&self, column: &str) -> Option<Remedy> {
        let mut formula = self.formula.clone();
        let names = |term: &Vec<Factor>| term.iter().any(|factor| factor.column() == column);
        formula.terms.retain(|term| !names(term));
        formula.groups.push(crate::data::formula::GroupTerm {
            intercept: true,
            terms: Vec::new(),
            correlated: true,
            group: vec![column.to_owned()],
        });
        self.chosen(&format!("Use {column} as a group"), &formula)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::Session;

    /// A draft of `text` under a template with a setting.
    fn draft(text: &str, template: &str, setting: Option<(&str, &str)>, formula: &str) -> Session {
        let folder = tempfile::tempdir().unwrap();
        let mut session = Session::with_file(&folder, "t.csv", text);
        assert!(session.state.data.is_some(), "{:?}", session.state.problem);
        session.send(Command::AcceptImport);
        session.send(Command::SetTemplate(template.to_owned()));
        if let Some((key, value)) = setting {
            let value = Some(Value::Text(value.to_owned()));
            session.send(Command::SetModelSetting(key.to_owned(), value));
        }
        session.send(Command::SetFormula(formula.to_owned()));
        session
    }

    fn formula_of(session: &Session) -> String {
        let document = session.state.document.as_ref().unwrap();
        format!(
            "{}: {}",
            document.recipe.model.template, document.recipe.model.formula
        )
    }

    /// The remark `code` is there with these buttons; the first of them makes it go away and leads to `after`.
    fn helps(session: &mut Session, code: &str, labels: &[&str], after: &str) {
        let check = session.state.check.clone().unwrap();
        assert_eq!(check.error, None);
        let codes: Vec<&str> = check.warnings.iter().map(|it| it.code.as_str()).collect();
        let at = codes.iter().position(|it| *it == code);
        let remedies = &check.remedies[at.unwrap_or_else(|| panic!("{code} is not in {codes:?}"))];
        let found: Vec<&str> = remedies.iter().map(|it| it.label.as_str()).collect();
        assert_eq!(found, labels, "{code}");
        for command in remedies[0].commands.clone() {
            session.send(command);
        }
        let check = session.state.check.clone().unwrap();
        assert_eq!(check.error, None, "{code}");
        assert!(
            check.warnings.iter().all(|it| it.code != code),
            "{code} is still there"
        );
        assert_eq!(formula_of(session), after);
    }

    /// The draft is refused with these words and buttons; the first leads to a model that can run.
    fn helps_out(session: &mut Session, words: &str, labels: &[&str], after: &str) {
        let check = session.state.check.clone().unwrap();
        let error = check.error.clone().unwrap_or_default();
        assert!(error.contains(words), "`{words}` is not in `{error}`");
        let found: Vec<&str> = check.ways_out.iter().map(|it| it.label.as_str()).collect();
        assert_eq!(found, labels, "{error}");
        for command in check.ways_out[0].commands.clone() {
            session.send(command);
        }
        assert_eq!(session.state.check.clone().unwrap().error, None);
        assert_eq!(formula_of(session), after);
    }

    /// 40 rows: y, x, z, groups g of 4, one, size (the same in a group), level (y the same in a group), many.
    fn table() -> String {
        let mut text = String::from("y,ill,x,z,g,one,size,flat,pair,id,calls,twice\n");
        for i in 0..40_u32 {
            // Numbers without a pattern that a model could find.
            let a = f64::from((i * 7919 + 13) % 101) / 10.0;
            let b = f64::from((i * 104_729 + 5) % 97) / 10.0;
            let g = i % 8;
            let calls = if i % 9 == 0 { 60 } else { i % 3 };
            text.push_str(&format!(
                "{:.1},{},{b:.1},{a:.1},g{g},all,{},{},p{},id{i},{calls},{:.1}\n",
                a + f64::from(g),
                if (i * 31) % 7 > 3 { "yes" } else { "no" },
                g * g,
                10 * g,
                i / 2,
                2.0 * b
            ));
        }
        text
    }

    #[test]
    fn remarks_on_groups_have_buttons_that_act() {
        let text = table();
        let mixed = |formula: &str| draft(&text, "mixed", None, formula);
        helps(
            &mut mixed("y ~ x + (1 | one)"),
            "few-groups",
            &["Leave the groups of one out"],
            "mixed: y ~ x",
        );
        helps(
            &mut mixed("y ~ x + (1 + size | g)"),
            "constant-in-groups",
            &["Make the effect of size the same in all groups"],
            "mixed: y ~ x + (1 | g)",
        );
        helps(
            &mut mixed("flat ~ x + (1 | g)"),
            "constant-response-in-groups",
            &["Leave the groups of g out"],
            "mixed: flat ~ x",
        );
        helps(
            &mut mixed("y ~ x + (1 + x | pair)"),
            "more-effects-than-rows",
            &["Let only the intercept vary by pair"],
            "mixed: y ~ x + (1 | pair)",
        );
        helps(
            &mut mixed("y ~ x + (1 | id)"),
            "one-row-groups",
            &["Leave the groups of id out"],
            "mixed: y ~ x",
        );
        // A template that needs a group gives way to one that does not.
        helps(
            &mut draft(&text, "hierarchical", None, "ill ~ x + (1 + x | one)"),
            "few-groups",
            &["Leave the groups of one out"],
            "logistic: ill ~ x",
        );
        helps(
            &mut draft(&text, "hierarchical", None, "ill ~ size + (1 + size | g)"),
            "constant-in-groups",
            &["Make the effect of size the same in all groups"],
            "mixed: ill ~ size + (1 | g)",
        );
    }

    #[test]
    fn remarks_on_columns_and_counts_have_buttons_that_act() {
        let text = table();
        helps(
            &mut draft(&text, "linear", None, "y ~ x + z + twice"),
            "collinear",
            &["Leave twice out"],
            "linear: y ~ x + z",
        );
        helps(
            &mut draft(&text, "poisson", None, "calls ~ x"),
            "overdispersion",
            &["Use negative binomial counts"],
            "negative-binomial: calls ~ x",
        );
        let mut session = draft(
            "y,a,b,c\n1,1,5,2\n0,2,3,7\n1,4,4,1\n",
            "logistic",
            None,
            "y ~ a + b + c",
        );
        let check = session.state.check.clone().unwrap();
        let remedy = check.remedies[0][0].clone();
        assert_eq!(
            remedy.label,
            "Use the prior normal(0, 2.5) for coefficients"
        );
        session.send(remedy.commands[0].clone());
        let document = session.state.document.unwrap();
        assert_eq!(document.recipe.priors["b"], "normal(0, 2.5)");
    }

    #[test]
    fn refusals_have_buttons_that_lead_to_a_model() {
        let text = table();
        helps_out(
            &mut draft("n,x\n3,1\n-2,4\n0,2\n5,7\n", "poisson", None, "n ~ x"),
            "it is -2 in line 3",
            &["Use Linear regression"],
            "linear: n ~ x",
        );
        helps_out(
            &mut draft(
                "died,years,x\n1,2.5,1\n0,4,4\n2,3.1,2\n1,6,7\n",
                "logistic",
                None,
                "died | trials(years) ~ x",
            ),
            "The number of trials `years` must be whole and at least 1, but it is 2.5 in line 2",
            &["Use Poisson regression of died with years as exposure"],
            "poisson: died ~ x + offset(log(years))",
        );
        helps_out(
            &mut draft(&text, "linear", None, "y ~ x + (1 | g)"),
            "no effects that vary by group",
            &["Use Mixed model", "Leave the groups out"],
            "mixed: y ~ x + (1 | g)",
        );
        helps_out(
            &mut draft(&text, "dp-mixture", None, "~ x + one"),
            "has the single value `all`",
            &["Leave one out"],
            "dp-mixture: ~ x",
        );
    }

    /// 2,600 rows: 40 frequent values and `rare` that occur once, or in `rare` below as many rows as there are.
    fn agents(rare: u32) -> String {
        let mut text = String::from("y,agent\n");
        for i in 0..2600_u32 {
            let agent = match i % 2 {
                1 if i / 2 < rare => format!("u{i}"),
                _ => format!("a{}", (i / 2) % 40),
            };
            text.push_str(&format!("{},{agent}\n", (i * 7919) % 101));
        }
        text
    }

    #[test]
    fn rare_values_of_a_predictor_can_be_merged_and_told_apart_again() {
        // Too many for a predictor.
        let mut session = draft(&agents(1300), "linear", None, "y ~ agent");
        let check = session.state.check.clone().unwrap();
        let labels: Vec<&str> = check.ways_out.iter().map(|it| it.label.as_str()).collect();
        let [group, keep, leave] = [
            "Use agent as a group",
            "Keep the 20 most frequent values of agent",
            "Leave agent out",
        ];
        assert_eq!(labels, [group, keep, leave]);
        session.send(check.ways_out[1].commands[0].clone());
        let check = session.state.check.clone().unwrap();
        assert_eq!(check.error, None);
        let merged = check
            .warnings
            .iter()
            .position(|it| it.code == "merged-levels");
        let merged = merged.unwrap();
        assert_eq!(
            check.warnings[merged].message,
            "Of `agent` the 20 most frequent values are kept, and 1320 others, 74.6 % of rows, are one value `other`"
        );
        // All values would be too many.
        assert!(check.remedies[merged].is_empty());
        assert_eq!(check.params.len(), 22);
        assert_eq!(check.params[20].name, "b[agent=other]");
        session.send(Command::SetTopLevels("agent".to_owned(), None));
        assert!(session.state.check.clone().unwrap().error.is_some());

        // Not too many, but too many of few rows.
        let mut session = draft(&agents(300), "linear", None, "y ~ agent");
        helps(
            &mut session,
            "rare-levels",
            &[keep, group],
            "linear: y ~ agent",
        );
        helps(
            &mut session,
            "merged-levels",
            &["Use all values of agent"],
            "linear: y ~ agent",
        );
        let check = session.state.check.unwrap();
        assert!(check.warnings.iter().any(|it| it.code == "rare-levels"));
        assert_eq!(check.params.len(), 341);

        // A role that is refused offers the same.
        let mut session = draft(&agents(1300), "linear", None, "y ~ 1");
        session.send(Command::AssignRole("agent".to_owned(), Role::Predictor));
        let (words, command) = session.state.toast.clone().unwrap().act.unwrap();
        assert_eq!(words, keep);
        session.send(command);
        assert_eq!(session.state.check.clone().unwrap().error, None);
        assert_eq!(formula_of(&session), "linear: y ~ agent");
    }

    #[test]
    fn a_column_of_a_hundred_thousand_texts_is_refused_at_once_and_can_be_a_group() {
        let mut text = String::from("y,id\n");
        for i in 0..100_000_u32 {
            text.push_str(&format!("{},id{i}\n", (i * 7919) % 101));
        }
        let mut session = draft(&text, "linear", None, "y ~ id");
        let check = session.state.check.clone().unwrap();
        let error = check.error.clone().unwrap();
        assert!(
            error.starts_with("The predictor `id` has 100000 different values, more than the 1000"),
            "{error}"
        );
        helps_out(
            &mut session,
            "use it as a group",
            &["Use id as a group", "Leave id out"],
            "mixed: y ~ 1 + (1 | id)",
        );
    }
}
