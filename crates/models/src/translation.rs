//! Translations of a model: in words, as an equation, as Stan code, as a call of brms.
//!
//! A template fills [`super::Template::translate`]; regressions with one linear predictor give their parts to [`Glm`].
//! Code says the same as the model, to the constants that the data fix: priors hold where the recipe lets them hold, and
//! what another program cannot say is a sentence instead of code that says something else. Parameters of a Stan program
//! stand in the order of the model's coordinates and, where priors hold for standardised predictors, on their scale: then
//! both have the same density on the unconstrained space, up to a constant. Cut points between ordered levels stand together in
//! place of the intercept, which is the first of them with the other sign.

use std::ops::Range;

use super::prior::Prior;
use super::{ModelOptions, ParamInfo};
use crate::design::Design;
use crate::design::lump_levels::OTHER;
pub(super) use crate::families::notation::{comment, quoted};
use crate::formula::{Formula, term_label};
use ergodic_base::numerals::thousands;

mod curves;
mod groups;
mod regression;

pub(super) use groups::index_letter;
pub(super) use regression::{Glm, formula_of_brms, r_coding, with_raw_intercept};

/// A model in other notations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Translation {
    /// A paragraph, as it could stand in a report.
    pub words: String,
    /// One line per relation.
    pub equation: String,
    /// A Stan program, or why there is none.
    pub stan: Result<String, NoTranslation>,
    /// R code that calls brms, or why there is none.
    pub brms: Result<String, NoTranslation>,
}

/// Why a model has no translation into a notation: one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoTranslation {
    /// The notation has no such model; the template says what it is that is not there.
    #[error("{0}")]
    Absent(&'static str),
    /// A column that is both numbers and categories, which R has not got.
    #[error(
        "`{0}` is used as numbers and as categories; for R make two columns of it, one of them a factor"
    )]
    NumbersAndCategories(String),
    /// What a language of models that is not known here says of a text, with the place in it.
    #[error("{0}")]
    Text(String),
}

/// What a model is described from.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The data.
    pub design: &'a Design,
    /// The formula.
    pub formula: &'a Formula,
    /// Priors and scales.
    pub options: &'a ModelOptions,
    /// What the model reports, coefficients first.
    pub params: &'a [ParamInfo],
}

impl<'a> Context<'a> {
    /// The prior of what is reported as `name`, in Stan's notation; flat where there is none.
    pub fn prior(&self, name: &str) -> &'a str {
        let found = self.params.iter().find(|param| param.name == *name);
        found.map_or(FLAT, |param| param.prior.as_str())
    }

    /// How many rows are used, and what of the formula is not, in sentences.
    pub fn rows(&self) -> String {
        self.rows_but(0)
    }

    /// How many rows are used, as in [`Self::rows`], where the model itself holds `held_out` rows out.
    pub fn rows_but(&self, held_out: usize) -> String {
        let count = |rows: usize| thousands(rows as u64);
        let design = self.design;
        let [used, total] =
            [design.rows_used, design.rows_total].map(|rows| count(rows - held_out));
        let out = match design.held_out + held_out {
            0 => String::new(),
            rows => format!(" that are not among the {} held out", count(rows)),
        };
        let mut text = if used == total {
            format!("All {total} rows{out} are used.")
        } else {
            format!("Of {total} rows{out}, the {used} without missing values are used.")
        };
        let constant = self.design.left_out.iter().map(|term| term_label(term));
        let constant: Vec<String> = constant.collect();
        if !constant.is_empty() {
            let are = if constant.len() == 1 { "is" } else { "are" };
            let listed = listed(&constant);
            text.push_str(&format!(
                " {listed} {are} the same in all of them and left out of the model."
            ));
        }
        text
    }

    /// Sentences on categories: those that are merged, and what they are compared with; a space before each.
    pub(super) fn coding(&self) -> String {
        let mut text = String::new();
        for merged in &self.design.merged {
            text.push_str(&format!(
                " Of `{}` the {} most frequent values are kept; the others are one value `{OTHER}`.",
                merged.column,
                merged.kept.len()
            ));
        }
        if !self.design.reference_levels.is_empty() {
            let references: Vec<String> = (self.design.reference_levels.iter())
                .map(|(column, level)| format!("`{column}` with `{level}`"))
                .collect();
            text.push_str(&format!(
                " Categories are compared with a reference: {}.",
                references.join(", ")
            ));
        }
        text
    }

    /// The sentence on weights, if there are any, with a space before it.
    pub fn weights(&self) -> &'static str {
        match self.design.weights {
            Some(_) => " Each row counts as often as its weight says.",
            None => "",
        }
    }
}

/// The prior without a density to write.
pub(super) const FLAT: &str = "flat";
/// Names listed in words; code and equations have all of them.
const MOST_LISTED: usize = 12;

/// Names in backticks with commas, the first ones where there are many.
pub(super) fn listed<T: AsRef<str>>(names: &[T]) -> String {
    let shown: Vec<String> = names
        .iter()
        .take(MOST_LISTED)
        .map(|name| format!("`{}`", name.as_ref()))
        .collect();
    let shown = shown.join(", ");
    if names.len() > MOST_LISTED {
        format!("{shown}, … ({} in all)", names.len())
    } else {
        shown
    }
}

/// What a coefficient each is multiplied by: "`age`", or "each of `age`, `dose`".
pub(super) fn each_of<T: AsRef<str>>(names: &[T]) -> String {
    match names {
        [one] => listed(std::slice::from_ref(one)),
        all => format!("each of {}", listed(all)),
    }
}

/// A Stan program by its blocks, one statement or line of it each.
#[derive(Default)]
pub struct Program {
    /// Comments at its head.
    pub notes: Vec<String>,
    /// Block `functions`.
    pub functions: Vec<String>,
    /// Block `data`.
    pub data: Vec<String>,
    /// Block `transformed data`.
    pub transformed_data: Vec<String>,
    /// Block `parameters`.
    pub parameters: Vec<String>,
    /// Block `transformed parameters`.
    pub transformed_parameters: Vec<String>,
    /// Block `model`.
    pub model: Vec<String>,
    /// Block `generated quantities`.
    pub generated: Vec<String>,
}

/// The line above means and standard deviations of the columns of x.
pub(super) const SCALES: &str = "// means and population standard deviations of the columns of x";

impl Program {
    /// A program that reads the rows of `design`, and what its notes say of them.
    pub fn begin(design: &Design) -> Self {
        let note = "Rows with missing values are left out; columns of x are coded as listed.";
        let references = (design.reference_levels.iter())
            .map(|(column, level)| comment(&format!("{column}: reference level {level}")));
        Self {
            notes: std::iter::once(note.to_owned()).chain(references).collect(),
            data: vec!["int<lower=1> N;".to_owned()],
            ..Self::default()
        }
    }

    /// Declares the columns of x of these names, if there are any.
    pub fn columns<T: AsRef<str>>(&mut self, names: &[T]) {
        if !names.is_empty() {
            let all: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
            let (k, all) = (names.len(), comment(&all.join(", ")));
            self.data.push(format!("matrix[N, {k}] x;  // {all}"));
        }
    }

    /// Declares the offset and the weights of rows, where `design` has them.
    pub fn offset_and_weights(&mut self, design: &Design) {
        if design.offset.is_some() {
            let offset = "vector[N] offset_;  // the sum of all offset terms";
            self.data.push(offset.to_owned());
        }
        if design.weights.is_some() {
            self.data.push("vector<lower=0>[N] weight;".to_owned());
        }
    }

    /// Defines means and standard deviations of the columns of x, which are `columns` of `design`.
    pub fn scales(&mut self, design: &Design, columns: Range<usize>) {
        let k = columns.len();
        let row = |name: &str, values: &[f64]| {
            format!(
                "row_vector[{k}] {name} = [{}];",
                numbers(&values[columns.clone()])
            )
        };
        self.transformed_data.extend([
            SCALES.to_owned(),
            row("centre", &design.raw_center),
            row("scale", &design.raw_scale),
        ]);
    }

    /// The program; blocks without lines are left out.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for note in &self.notes {
            text.push_str(&format!("// {note}\n"));
        }
        for (name, lines) in [
            ("functions", &self.functions),
            ("data", &self.data),
            ("transformed data", &self.transformed_data),
            ("parameters", &self.parameters),
            ("transformed parameters", &self.transformed_parameters),
            ("model", &self.model),
            ("generated quantities", &self.generated),
        ] {
            if lines.is_empty() {
                continue;
            }
            text.push_str(&format!("{name} {{\n"));
            for line in lines {
                text.push_str(&format!("  {line}\n"));
            }
            text.push_str("}\n");
        }
        text
    }

    /// Adds the statement of the prior of a parameter, or of the entries of one.
    pub fn prior(&mut self, name: &str, prior: &str) {
        self.model.push(if prior == FLAT {
            format!("// {name}: flat")
        } else {
            format!("{name} ~ {};", stan_text(prior))
        });
    }

    /// Adds the priors of the entries of a vector called `name`, each with what the entry is: one statement where they
    /// agree.
    pub fn priors(&mut self, name: &str, priors: &[(&str, &str)]) {
        match priors {
            [] => {}
            [(_, one), rest @ ..] if rest.iter().all(|(_, prior)| prior == one) => {
                self.prior(name, one);
            }
            all => {
                for (j, (what, prior)) in all.iter().enumerate() {
                    self.model.push(format!("// {what}"));
                    self.prior(&format!("{name}[{}]", j + 1), prior);
                }
            }
        }
    }
}

/// A prior with Stan's names.
fn stan_text(prior: &str) -> String {
    // Halves are written whole where the parameter is declared positive.
    match Prior::parse_positive(prior) {
        Ok(whole) if prior.starts_with("half_") => whole.to_string(),
        _ => prior.replace("laplace(", "double_exponential("),
    }
}

/// The prior of a + s x in Stan's notation where that of x is `prior`.
pub(super) fn moved(prior: &str, s: f64, a: f64) -> String {
    match Prior::parse(prior) {
        Ok(prior) => stan_text(&prior.scaled(s).shifted(a).to_string()),
        Err(_not_real) => prior.to_owned(),
    }
}

/// The prior of s x in Stan's notation where that of x > 0 is `prior`.
fn stretched(prior: &str, s: f64) -> String {
    match Prior::parse_positive(prior) {
        Ok(prior) => prior.scaled(s).to_string(),
        Err(_not_positive) => prior.to_owned(),
    }
}

/// A number that both languages read back to the same bits.
pub(super) fn number(value: f64) -> String {
    let text = format!("{value:?}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// Numbers with commas.
pub(super) fn numbers(values: &[f64]) -> String {
    let texts: Vec<String> = values.iter().map(|value| number(*value)).collect();
    texts.join(", ")
}

/// What brms calls a coefficient, and whether that is sure: `plan=plus` is `planplus`; other signs are dropped.
pub(super) fn brms_name(term: &str) -> (String, bool) {
    let plain = |c: char| c.is_alphanumeric() || c == '_' || c == '.' || c == ':';
    let name = term.replace('=', "");
    (
        name.chars().filter(|&c| plain(c)).collect(),
        name.chars().all(plain),
    )
}

/// A call of `brm` with its arguments, `set_prior` calls last.
pub(super) fn brm_call(before: &[String], arguments: &[String], priors: &[String]) -> String {
    let mut lines = vec!["library(brms)".to_owned()];
    lines.extend_from_slice(before);
    lines.push("fit <- brm(".to_owned());
    for (i, argument) in arguments.iter().enumerate() {
        let last = i + 1 == arguments.len() && priors.is_empty();
        lines.push(format!("  {argument}{}", if last { "" } else { "," }));
    }
    if !priors.is_empty() {
        lines.push("  prior = c(".to_owned());
        for (i, prior) in priors.iter().enumerate() {
            let comma = if i + 1 < priors.len() { "," } else { "" };
            lines.push(format!("    {prior}{comma}"));
        }
        lines.push("  )".to_owned());
    }
    lines.push(")".to_owned());
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests;
