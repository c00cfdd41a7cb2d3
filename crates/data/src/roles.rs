//! Roles of columns and the formula as two views of one thing.
//!
//! Clicking roles builds the same [`Formula`] that can be typed: [`Roles::from_formula`] and
//! [`Roles::to_formula`] are inverse to each other. A role that a column cannot take is refused with the reason
//! and, where there is one, the conversion that would make it possible.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

pub use super::role_checks::check_role;
use super::role_checks::{check_categories, check_levels, check_number, is_number};
use super::sniff::ColumnKindOverride;
use super::table::Table;
use ergodic_core::design::{ColumnKind, Columns as _, ResponseUse};
use ergodic_core::formula::{
    ALL_OTHERS, Elementwise, Factor, Formula, GroupTerm, Response, Term, Trials, quote_name,
};

/// Text with more levels than this is not suggested as a predictor.
const MOST_SUGGESTED: usize = 50;
/// What a column does in a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// To be explained.
    Response,
    /// Explains.
    Predictor,
    /// Rows with the same value belong together.
    Group,
    /// Added with coefficient 1.
    Offset,
    /// How often each row counts.
    Weight,
    /// Trials in which the response counts successes.
    Trials,
    /// Not used.
    Ignore,
}

impl Role {
    /// All roles, in the order of a menu.
    pub const ALL: [Self; 7] = [
        Self::Response,
        Self::Predictor,
        Self::Group,
        Self::Offset,
        Self::Weight,
        Self::Trials,
        Self::Ignore,
    ];

    /// The word with its article: "an outcome", "a weight".
    pub(crate) fn with_article(self) -> String {
        let article = match self {
            Self::Response | Self::Offset => "an",
            _ => "a",
        };
        format!("{article} {}", self.label())
    }

    /// One word for the window.
    pub fn label(self) -> &'static str {
        match self {
            Self::Response => "outcome",
            Self::Predictor => "predictor",
            Self::Group => "group",
            Self::Offset => "offset",
            Self::Weight => "weight",
            Self::Trials => "trials",
            Self::Ignore => "ignore",
        }
    }
}

/// Columns by role. What clicks cannot say, such as interactions and slopes by group, is kept beside them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roles {
    /// The response, if one is chosen.
    pub response: Option<String>,
    /// The function of it that is explained, if a formula names one.
    pub response_function: Option<Elementwise>,
    /// How the response is read.
    pub response_use: ResponseUse,
    /// Success level of the outcome, if the user chose one.
    pub success: Option<String>,
    /// Main effects, in order: columns and functions of columns.
    pub predictors: Vec<Factor>,
    /// Terms of several factors.
    pub interactions: Vec<Term>,
    /// Whether there is an intercept.
    pub intercept: bool,
    /// Group terms.
    pub groups: Vec<GroupTerm>,
    /// Columns that `.` does not stand for.
    pub left_out: Vec<String>,
    /// Offsets.
    pub offsets: Vec<Factor>,
    /// Weights of rows.
    pub weights: Option<String>,
    /// Numbers of trials.
    pub trials: Option<Trials>,
    /// Standard errors of the response.
    pub se: Option<String>,
    /// Which responses are censored.
    pub cens: Option<String>,
}

impl Default for Roles {
    fn default() -> Self {
        Self {
            response: None,
            response_function: None,
            response_use: ResponseUse::Outcome,
            success: None,
            predictors: Vec::new(),
            interactions: Vec::new(),
            intercept: true,
            groups: Vec::new(),
            left_out: Vec::new(),
            offsets: Vec::new(),
            weights: None,
            trials: None,
            se: None,
            cens: None,
        }
    }
}

/// A change that would let a column take a role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Conversion {
    /// Import the column with this type.
    Import(ColumnKindOverride),
    /// Treat the column as categorical in the model.
    TreatAsCategorical,
    /// Keep its most frequent values, and merge the others.
    KeepTop(usize),
    /// Give it this role instead.
    UseAs(Role),
}

impl Conversion {
    /// What the conversion does to `column`, as an offer: "Treat age as categories".
    pub fn offer(&self, column: &str) -> String {
        match self {
            Self::Import(ColumnKindOverride::Number) => format!("Read {column} as numbers"),
            Self::Import(ColumnKindOverride::Category) => format!("Read {column} as categories"),
            Self::TreatAsCategorical => format!("Treat {column} as categories"),
            Self::KeepTop(top) => keep_top(*top, column),
            Self::UseAs(role) => format!("Use {column} as {}", role.with_article()),
        }
    }
}

/// The words of a button that merges rare values.
pub fn keep_top(top: usize, column: &str) -> String {
    format!("Keep the {top} most frequent values of {column}")
}

/// Why a column cannot take a role, and what would help.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Refusal {
    /// One sentence naming the column and the role.
    pub reason: String,
    /// The conversion to offer.
    pub conversion: Option<Conversion>,
}

impl Roles {
    /// The roles that a formula gives.
    pub fn from_formula(formula: &Formula) -> Self {
        let (mains, interactions): (Vec<&Term>, Vec<&Term>) =
            formula.terms.iter().partition(|term| term.len() == 1);
        Self {
            response: formula
                .response
                .as_ref()
                .map(|response| response.column.clone()),
            response_function: (formula.response.as_ref()).and_then(|response| response.function),
            response_use: ResponseUse::Outcome,
            success: None,
            predictors: mains.into_iter().flatten().cloned().collect(),
            interactions: interactions.into_iter().cloned().collect(),
            intercept: formula.intercept,
            groups: formula.groups.clone(),
            left_out: formula.left_out.clone(),
            offsets: formula.offsets.clone(),
            weights: formula
                .response
                .as_ref()
                .and_then(|response| response.weights.clone()),
            trials: formula
                .response
                .as_ref()
                .and_then(|response| response.trials.clone()),
            se: (formula.response.as_ref()).and_then(|response| response.se.clone()),
            cens: (formula.response.as_ref()).and_then(|response| response.cens.clone()),
        }
    }

    /// The formula of the roles; `None` while there is no response, or no column for models that have none.
    pub fn to_formula(&self) -> Option<Formula> {
        let response = match &self.response {
            Some(column) => Some(Response {
                column: column.clone(),
                function: self.response_function,
                ordered: false,
                trials: self.trials.clone(),
                weights: self.weights.clone(),
                se: self.se.clone(),
                cens: self.cens.clone(),
            }),
            None if self.response_use == ResponseUse::Absent && !self.predictors.is_empty() => None,
            None => return None,
        };
        let mut formula = Formula {
            response,
            intercept: self.intercept,
            terms: Vec::new(),
            left_out: self.left_out.clone(),
            offsets: self.offsets.clone(),
            groups: self.groups.clone(),
        };
        let mains = self.predictors.iter().map(|factor| vec![factor.clone()]);
        formula.add_terms(mains.chain(self.interactions.iter().cloned()));
        Some(formula)
    }

    /// Whether a predictor enters as a penalised smooth curve.
    pub fn has_curves(&self) -> bool {
        self.predictors.iter().any(Factor::is_smooth)
    }

    /// The roles of a column, several if it is used several times; `[Ignore]` if it is not used.
    pub fn of(&self, column: &str) -> Vec<Role> {
        let mut roles = Vec::new();
        if self.response.as_deref() == Some(column) {
            roles.push(Role::Response);
        }
        if self
            .predictors
            .iter()
            .chain(self.interactions.iter().flatten())
            .any(|factor| factor.column() == column)
        {
            roles.push(Role::Predictor);
        }
        if self
            .groups
            .iter()
            .any(|group| group.group.iter().any(|name| name == column))
        {
            roles.push(Role::Group);
        }
        if self.offsets.iter().any(|offset| offset.column() == column) {
            roles.push(Role::Offset);
        }
        if self.weights.as_deref() == Some(column) {
            roles.push(Role::Weight);
        }
        if self.has_trials_of(column) {
            roles.push(Role::Trials);
        }
        if roles.is_empty() {
            roles.push(Role::Ignore);
        }
        roles
    }

    /// What is explained, for sentences: `y`, or `log(y)`; empty while nothing is.
    pub fn response_label(&self) -> String {
        let column = self.response.clone().unwrap_or_default();
        match self.response_function {
            Some(function) => format!("{}({column})", function.name()),
            None => column,
        }
    }

    /// Whether the number of trials follows from `column`.
    fn has_trials_of(&self, column: &str) -> bool {
        self.trials.as_ref().and_then(Trials::column) == Some(column)
    }

    /// Columns of the table that the model does not use, also not in effects that vary by groups.
    pub fn ignored<'a>(&self, table: &'a Table) -> Vec<&'a str> {
        let factors = (self.predictors.iter())
            .chain(self.interactions.iter().flatten())
            .chain(self.offsets.iter())
            .chain(self.groups.iter().flat_map(|group| &group.terms).flatten());
        let mut used: BTreeSet<&str> = factors.map(Factor::column).collect();
        used.extend(
            self.groups
                .iter()
                .flat_map(|group| &group.group)
                .map(String::as_str),
        );
        used.extend(self.response.as_deref());
        used.extend(self.weights.as_deref());
        used.extend(self.se.as_deref());
        used.extend(self.cens.as_deref());
        used.extend(self.trials.as_ref().and_then(Trials::column));
        table.names().filter(|name| !used.contains(name)).collect()
    }

    /// Gives `column` the role, taking it out of every other one; a role that only one column can have is taken
    /// from the column that had it. Refuses a role that the column cannot take.
    pub fn assign(&mut self, table: &Table, column: &str, role: Role) -> Result<(), Refusal> {
        self.check_role(table, column, role)?;
        self.remove(column);
        let name = column.to_owned();
        match role {
            Role::Response => {
                self.response = Some(name);
                self.response_function = None;
                self.success = None;
            }
            Role::Predictor => self.predictors.push(Factor::Column(name)),
            Role::Group => {
                self.groups.push(GroupTerm {
                    intercept: true,
                    terms: Vec::new(),
                    correlated: true,
                    group: vec![name],
                });
            }
            Role::Offset => self.offsets.push(Factor::Column(name)),
            Role::Weight => self.weights = Some(name),
            Role::Trials => self.trials = Some(Trials::Column(name)),
            Role::Ignore => {}
        }
        Ok(())
    }

    /// Whether `column` can take `role` beside the roles that others have.
    fn check_role(&self, table: &Table, column: &str, role: Role) -> Result<(), Refusal> {
        match (role, self.response_use) {
            (Role::Response, ResponseUse::Categories) => check_categories(table, column),
            (Role::Response, ResponseUse::Ordered | ResponseUse::Unordered) => {
                check_levels(table, column, self.response_use)
            }
            (Role::Response, ResponseUse::Number | ResponseUse::Count) => {
                check_number(table, column, self.response_use)
            }
            (Role::Response, ResponseUse::Absent) => Err(Refusal {
                reason: format!(
                    "Column {} cannot be the outcome, because this model explains none; use it as a predictor to take \
                     part",
                    quote_name(column)
                ),
                conversion: Some(Conversion::UseAs(Role::Predictor)),
            }),
            // With trials named, the response is a count and may have any number of values.
            (Role::Response, ResponseUse::Outcome)
                if self.trials.is_some() && is_number(table, column) =>
            {
                Ok(())
            }
            _ => check_role(table, column, role),
        }
    }

    /// Takes `column` out of every role, with the interactions and group terms that name it.
    pub fn remove(&mut self, column: &str) {
        let names = |term: &[Factor]| term.iter().any(|factor| factor.column() == column);
        if self.response.as_deref() == Some(column) {
            self.response = None;
            self.response_function = None;
            self.success = None;
        }
        self.predictors.retain(|factor| factor.column() != column);
        self.interactions.retain(|term| !names(term));
        self.groups
            .retain(|group| group.group.iter().all(|name| name != column));
        for group in &mut self.groups {
            group.terms.retain(|term| !names(term));
        }
        self.groups
            .retain(|group| group.intercept || !group.terms.is_empty());
        self.offsets.retain(|offset| offset.column() != column);
        if self.se.as_deref() == Some(column) {
            self.se = None;
        }
        if self.cens.as_deref() == Some(column) {
            self.cens = None;
        }
        if self.weights.as_deref() == Some(column) {
            self.weights = None;
        }
        if self.has_trials_of(column) {
            self.trials = None;
        }
    }
}

/// Distinct values of a column, unless they are many.
fn num_levels(table: &Table, col: usize) -> Option<usize> {
    let levels = table.few_levels(col, MOST_SUGGESTED);
    levels.map(|levels| levels.len())
}

/// Whether a column can explain another: it varies, and is neither an identifier nor a date.
fn explains(table: &Table, col: usize) -> bool {
    let info = &table.columns()[col];
    match (info.kind, num_levels(table, col)) {
        (ColumnKind::Number, levels) => levels.is_none_or(|levels| levels > 1),
        (ColumnKind::Text, Some(levels)) => {
            levels > 1 && (levels < 20 || levels < table.num_rows() - info.num_missing)
        }
        _ => false,
    }
}

/// Puts columns in the place of `.`, which stands, as in R, for those that the formula does not name; here for those of
/// them that can explain something.
pub fn expand_dot(formula: &mut Formula, table: &Table) {
    let dot = |term: &Term| matches!(term.as_slice(), [Factor::Column(name)] if name == ALL_OTHERS);
    let Some(at) = formula.terms.iter().position(dot) else {
        return;
    };
    let is_column = |name: &String| table.column(name).is_some();
    // With a name that is no column the formula stays as it is, for the error that every unknown name gives.
    if table.column(ALL_OTHERS).is_some() || !formula.left_out.iter().all(is_column) {
        return;
    }
    let named: BTreeSet<&str> = formula.columns().into_iter().collect();
    let columns: Vec<Term> = (0..table.columns().len())
        .filter(|&col| explains(table, col))
        .map(|col| &table.columns()[col].name)
        .filter(|name| !named.contains(name.as_str()))
        .map(|name| vec![Factor::Column(name.clone())])
        .collect();
    formula.terms.splice(at..=at, columns);
    formula.left_out.clear();
}

#[cfg(test)]
mod tests {
    use super::*;
    use ergodic_core::design::Values;
    use ergodic_core::formula::{Constant, Function, Operator};
    use proptest::prelude::*;

    fn table() -> Table {
        let texts = |cells: &[&str]| {
            Values::Texts(cells.iter().map(|cell| Some((*cell).to_owned())).collect())
        };
        Table::from_columns(
            "t",
            vec![
                ("yes".into(), Values::Numbers(vec![0.0, 1.0, 1.0, 0.0])),
                ("x".into(), Values::Numbers(vec![0.5, -1.0, 2.0, 3.0])),
                ("n".into(), Values::Numbers(vec![1.0, 2.0, 3.0, 4.0])),
                ("word".into(), texts(&["a", "b", "c", "a"])),
                ("digits".into(), texts(&["01", "02", "03", "x"])),
            ],
        )
        .unwrap()
    }

    #[test]
    fn clicks_write_the_formula() {
        let (table, mut roles) = (table(), Roles::default());
        assert!(roles.to_formula().is_none());
        for (column, role) in [
            ("yes", Role::Response),
            ("x", Role::Predictor),
            ("word", Role::Predictor),
            ("n", Role::Weight),
        ] {
            roles.assign(&table, column, role).unwrap();
        }
        assert_eq!(
            roles.to_formula().unwrap().to_string(),
            "yes | weights(n) ~ x + word"
        );
        roles.assign(&table, "word", Role::Group).unwrap();
        assert_eq!(
            roles.to_formula().unwrap().to_string(),
            "yes | weights(n) ~ x + (1 | word)"
        );
        assert_eq!(roles.of("word"), [Role::Group]);
        assert_eq!(roles.ignored(&table), ["digits"]);
        let counts: Formula = "cbind(yes, n) ~ log(x)".parse().unwrap();
        assert_eq!(
            Roles::from_formula(&counts).ignored(&table),
            ["word", "digits"]
        );
        roles.assign(&table, "n", Role::Ignore).unwrap();
        // A count becomes a response once its trials are named.
        assert!(roles.assign(&table, "n", Role::Response).is_err());
        roles.trials = Some(Trials::Constant(9));
        roles.assign(&table, "n", Role::Response).unwrap();
        assert_eq!(
            roles.to_formula().unwrap().to_string(),
            "n | trials(9) ~ x + (1 | word)"
        );
    }

    #[test]
    fn refusals_say_why_and_offer_a_conversion() {
        let table = table();
        for (column, role, part, conversion) in [
            (
                "word",
                Role::Weight,
                "holds text, but weights must be numbers; none of its values is one",
                None,
            ),
            (
                "digits",
                Role::Offset,
                "1 of 4 values such as `x` would be missing",
                Some(Conversion::Import(ColumnKindOverride::Number)),
            ),
            (
                "x",
                Role::Weight,
                "Column x is -1 in row 2, but weights must be not negative",
                Some(Conversion::UseAs(Role::Predictor)),
            ),
            (
                "x",
                Role::Trials,
                "is 0.5 in row 1",
                Some(Conversion::UseAs(Role::Predictor)),
            ),
            (
                "n",
                Role::Response,
                "has 4 values (`1`, `2`, `3`, `4`)",
                Some(Conversion::UseAs(Role::Predictor)),
            ),
            ("nope", Role::Response, "names the column `nope`", None),
        ] {
            let refusal = check_role(&table, column, role).unwrap_err();
            assert!(refusal.reason.contains(part), "{}", refusal.reason);
            assert_eq!(refusal.conversion, conversion);
        }
    }

    fn name() -> impl Strategy<Value = String> {
        prop_oneof![4 => "[a-z][a-z0-9_.]{0,4}", 1 => "[ -~äß]{1,6}"]
    }

    fn names(most: usize) -> impl Strategy<Value = Vec<String>> {
        prop::collection::btree_set(name(), 1..=most).prop_map(|names| names.into_iter().collect())
    }

    const OPERATORS: [Operator; 10] = [
        Operator::Above,
        Operator::AtLeast,
        Operator::Below,
        Operator::AtMost,
        Operator::Equal,
        Operator::Unequal,
        Operator::Plus,
        Operator::Minus,
        Operator::Times,
        Operator::Divide,
    ];

    fn single() -> impl Strategy<Value = Factor> {
        let function = prop_oneof![
            Just(Function::Elementwise(Elementwise::Log)),
            Just(Function::Elementwise(Elementwise::Log1p)),
            Just(Function::Scale),
            (1..=15_u32).prop_map(Function::Power),
            (Just(1), any::<bool>()).prop_map(|(degree, raw)| Function::Poly { degree, raw }),
            (0_usize..10, prop_oneof![-99.0..99.0, any::<f64>()])
                .prop_filter("a finite number", |(_, value): &(usize, f64)| value
                    .is_finite()
                    && *value != 0.0)
                .prop_map(|(k, value)| Function::Inside {
                    operator: OPERATORS[k],
                    value: Constant::new(value),
                }),
        ];
        (name(), prop::collection::vec(function, 0..3)).prop_map(|(name, functions)| {
            let wrap = |of, function| Factor::Call(function, Box::new(of));
            functions.into_iter().fold(Factor::Column(name), wrap)
        })
    }

    fn factor() -> impl Strategy<Value = Factor> {
        let function = prop_oneof![
            (1..=15_u32, any::<bool>()).prop_map(|(degree, raw)| Function::Poly { degree, raw }),
            (1..=1000_u32).prop_map(|df| Function::Natural { df }),
            (1..=15_u32, 0..9_u32).prop_map(|(degree, more)| Function::BSpline {
                df: degree + more,
                degree
            }),
        ];
        prop_oneof![
            single(),
            (function, single()).prop_map(|(function, of)| Factor::Call(function, Box::new(of))),
            name().prop_map(Factor::Category),
        ]
    }

    fn term(most: usize) -> impl Strategy<Value = Term> {
        prop::collection::btree_set(factor(), 1..=most).prop_map(|term| term.into_iter().collect())
    }

    prop_compose! {
        fn formula()(
            column in name(),
            trials in prop::option::of(prop_oneof![
                name().prop_map(Trials::Column), name().prop_map(Trials::Failures), (1_u64..99).prop_map(Trials::Constant)
            ]),
            function in prop::option::of(prop_oneof![Just(Elementwise::Log), Just(Elementwise::Sqrt), Just(Elementwise::Log1p)]),
            weights in prop::option::of(name()),
            se in prop::option::of(name()),
            cens in prop::option::of(name()),
            intercept: bool,
            first in factor(),
            terms in prop::collection::vec(term(3), 0..5),
            offsets in prop::collection::vec(single(), 0..3),
            groups in prop::collection::vec((names(2), any::<bool>(), prop::collection::vec(term(2), 0..3)), 0..3),
        ) -> Formula {
            let failures = match &trials {
                Some(Trials::Failures(failures)) if *failures == column => "other".to_owned(),
                Some(Trials::Failures(failures)) => failures.clone(),
                _ => String::new(),
            };
            let trials = trials.map(|it| if failures.is_empty() { it } else { Trials::Failures(failures.clone()) });
            let function = function.filter(|_| trials.is_none() && cens.is_none());
            let mut formula = Formula {
                response: Some(Response { column: column.clone(), function, ordered: false, trials, weights, se, cens }), intercept,
                terms: Vec::new(), left_out: Vec::new(), offsets: Vec::new(), groups: Vec::new(),
            };
            for term in terms.into_iter().chain([vec![first]])
                .filter(|term| term.iter().all(|factor| factor.column() != column && factor.column() != failures))
            {
                formula.add_term(term);
            }
            formula.intercept |= formula.terms.is_empty();
            for offset in offsets {
                if !formula.offsets.contains(&offset) {
                    formula.offsets.push(offset);
                }
            }
            for (group, correlated, slopes) in groups {
                let mut holder = Formula { terms: Vec::new(), ..formula.clone() };
                slopes.into_iter().for_each(|slope| holder.add_term(slope));
                let group = GroupTerm { intercept: true, terms: holder.terms, correlated, group };
                if !formula.groups.contains(&group) {
                    formula.groups.push(group);
                }
            }
            formula
        }
    }

    #[test]
    fn a_dot_stands_for_the_columns_that_are_not_named() {
        let table = super::super::samples::load("churn", &Default::default(), &Default::default())
            .unwrap()
            .table;
        for (text, expected) in [
            // The customer's number explains nothing.
            (
                "churned ~ .",
                "churned ~ age + tenure_months + monthly_fee + support_calls + region + plan",
            ),
            (
                "churned ~ log(age) + . + (1 | region) + offset(monthly_fee)",
                "churned ~ log(age) + tenure_months + support_calls + plan + offset(monthly_fee) + (1 | region)",
            ),
            (
                "churned ~ . - plan - age + (1 | region)",
                "churned ~ tenure_months + monthly_fee + support_calls + (1 | region)",
            ),
            (
                "churned ~ . - plans - region",
                "churned ~ . - plans - region",
            ),
            (
                "~ .",
                "~ age + tenure_months + monthly_fee + support_calls + region + plan + churned",
            ),
            ("churned ~ age", "churned ~ age"),
        ] {
            let mut formula: Formula = text.parse().unwrap();
            expand_dot(&mut formula, &table);
            assert_eq!(formula.to_string(), expected);
        }
    }

    proptest! {
        #[test]
        fn any_formula_survives_text_and_roles(formula in formula()) {
            let text = formula.to_string();
            let read: Formula = text.parse().map_err(|error| TestCaseError::fail(format!("{text}: {error}")))?;
            prop_assert_eq!(&read, &formula, "{}", text);
            prop_assert_eq!(read.to_string(), text);
            prop_assert_eq!(Roles::from_formula(&formula).to_formula(), Some(formula));
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in "([a-z01 ~+:*()|/`,=^><-]|log\\(|ns\\(x, |poly\\(|, df = |I\\(z\\^|I\\(x > |factor\\(x|cbind\\(r, |\\)\\^2| %in% ){0,40}") {
            if let Ok(formula) = text.parse::<Formula>() {
                prop_assert_eq!(formula.to_string().parse::<Formula>(), Ok(formula));
            }
        }
    }
}
