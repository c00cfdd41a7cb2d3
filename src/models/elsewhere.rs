//! The same model elsewhere: in words, as an equation, as Stan code, as a call of brms.
//!
//! A template fills [`super::Template::elsewhere`]; regressions with one linear predictor give their parts to [`Glm`].
//! Code says the same as the model, to the constants that the data fix: priors hold where the recipe lets them hold, and
//! what another program cannot say is a sentence instead of code that says something else.

use super::{ModelError, ModelOptions, ParamInfo};
use crate::data::design::Design;
use crate::data::formula::{Formula, quote_name};

/// The same model in other notations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    /// Two to four sentences.
    pub words: String,
    /// One line per relation.
    pub equation: String,
    /// A Stan program, or why there is none.
    pub stan: Result<String, String>,
    /// R code that calls brms, or why there is none.
    pub brms: Result<String, String>,
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

impl Context<'_> {
    /// Prior per term of the design.
    pub fn coefficient_priors(&self) -> Vec<String> {
        let terms = self.design.terms.len();
        let params = self.params.iter().take(terms);
        params.map(|param| param.prior.clone()).collect()
    }
}

/// A regression with one linear predictor, as far as it differs from others.
pub struct Glm<'a> {
    /// Data, formula, priors.
    pub context: Context<'a>,
    /// Prior per term, in Stan's notation.
    pub priors: Vec<String>,
    /// What the linear predictor is, in words: "The log odds that `churned` is `yes`".
    pub predicted: String,
    /// How the response follows from `eta[i]`, one relation per line.
    pub response: Vec<String>,
    /// Declarations in Stan's data block besides N, x, offset and weight.
    pub stan_data: Vec<String>,
    /// Name of the density in Stan, on the scale of the linear predictor: `bernoulli_logit`.
    pub stan_density: &'static str,
    /// Its arguments before the linear predictor, one value per row each.
    pub stan_before: &'static [&'static str],
    /// Its arguments after it.
    pub stan_after: &'static [&'static str],
    /// Whether it is a density instead of a probability.
    pub continuous: bool,
    /// Declarations of further parameters in Stan, and statements of their priors.
    pub stan_parameters: Vec<(String, String)>,
    /// R code that prepares the response.
    pub r_response: Vec<String>,
    /// Family in brms.
    pub brms_family: &'static str,
}

impl Glm<'_> {
    /// All notations.
    pub fn describe(&self) -> Elsewhere {
        Elsewhere {
            words: self.words(),
            equation: self.equation(),
            stan: Ok(self.stan()),
            brms: Ok(self.brms()),
        }
    }

    fn first(&self) -> usize {
        usize::from(self.context.design.has_intercept)
    }

    /// Terms besides the intercept.
    fn slopes(&self) -> &[String] {
        &self.context.design.terms[self.first()..]
    }

    fn standardized(&self) -> bool {
        self.context.options.standardize
    }

    fn words(&self) -> String {
        let design = self.context.design;
        let mut text = format!("{} is a sum", self.predicted);
        let names: Vec<String> = self
            .slopes()
            .iter()
            .map(|term| format!("`{term}`"))
            .collect();
        match (design.has_intercept, names.is_empty()) {
            (true, true) => text = format!("{} is the same in all rows", self.predicted),
            (true, false) => text.push_str(": an intercept, and a coefficient times each of "),
            (false, _) => text.push_str(" without intercept: a coefficient times each of "),
        }
        text.push_str(&names.join(", "));
        text.push('.');
        if design.offset.is_some() {
            text.push_str(" An offset with the coefficient 1 is added.");
        }
        if design.weights.is_some() {
            text.push_str(" Each row counts as often as its weight says.");
        }
        let scale = if self.standardized() {
            "coefficients per standard deviation of their predictor, and for the intercept at average predictors"
        } else {
            "coefficients per unit of their predictor, and for the intercept where all predictors are 0"
        };
        text.push_str(&format!(" Priors hold for {scale}."));
        text
    }

    fn equation(&self) -> String {
        let design = self.context.design;
        let mut lines = self.response.clone();
        let mut sum: Vec<String> = Vec::new();
        if design.has_intercept {
            sum.push("b[Intercept]".to_owned());
        }
        sum.extend(
            self.slopes()
                .iter()
                .map(|term| format!("b[{term}] × {term}[i]")),
        );
        if design.offset.is_some() {
            sum.push("offset[i]".to_owned());
        }
        lines.push(format!("eta[i] = {}", sum.join(" + ")));
        if design.weights.is_some() {
            lines.push("row i counts weight[i] times".to_owned());
        }
        for (j, (term, prior)) in design.terms.iter().zip(&self.priors).enumerate() {
            let intercept = design.has_intercept && j == 0;
            lines.push(match (self.standardized(), intercept) {
                _ if prior == FLAT => format!("b[{term}] has a flat prior"),
                (true, true) => format!("b[Intercept] at average predictors ~ {prior}"),
                (true, false) => format!("b[{term}] × sd({term}) ~ {prior}"),
                (false, _) => format!("b[{term}] ~ {prior}"),
            });
        }
        lines.push(format!("i = 1 … {}", design.rows_used));
        lines.join("\n")
    }

    fn stan(&self) -> String {
        let design = self.context.design;
        let (slopes, first) = (self.slopes(), self.first());
        let some = !slopes.is_empty();
        let mut code = Code::default();
        code.line(
            0,
            "// Rows with missing values are left out; columns of x are coded as listed.",
        );
        for (column, level) in &design.reference_levels {
            code.line(0, &format!("// {column}: reference level {level}"));
        }
        code.line(0, "data {");
        code.line(1, "int<lower=1> N;");
        if some {
            code.line(
                1,
                &format!("matrix[N, {}] x;  // {}", slopes.len(), slopes.join(", ")),
            );
        }
        for line in &self.stan_data {
            code.line(1, line);
        }
        if design.offset.is_some() {
            code.line(1, "vector[N] offset_;  // the sum of all offset terms");
        }
        if design.weights.is_some() {
            code.line(1, "vector<lower=0>[N] weight;");
        }
        code.line(0, "}");
        let standardise = some && self.standardized();
        if standardise {
            code.line(0, "transformed data {");
            code.line(
                1,
                "// means and population standard deviations of the columns of x",
            );
            let row = |values: &[f64]| {
                values
                    .iter()
                    .map(|v| number(*v))
                    .collect::<Vec<_>>()
                    .join(", ")
            };
            let k = slopes.len();
            code.line(
                1,
                &format!(
                    "row_vector[{k}] centre = [{}];",
                    row(&design.raw_center[first..])
                ),
            );
            code.line(
                1,
                &format!(
                    "row_vector[{k}] scale = [{}];",
                    row(&design.raw_scale[first..])
                ),
            );
            code.line(
                1,
                &format!("matrix[N, {k}] z = (x - rep_matrix(centre, N)) ./ rep_matrix(scale, N);"),
            );
            code.line(0, "}");
        }
        code.line(0, "parameters {");
        if design.has_intercept {
            let at = if self.standardized() {
                "average predictors"
            } else {
                "x = 0"
            };
            code.line(1, &format!("real alpha;  // intercept at {at}"));
        }
        if some {
            let per = if self.standardized() {
                "standard deviation"
            } else {
                "unit"
            };
            code.line(1, &format!("vector[{}] beta;  // per {per}", slopes.len()));
        }
        for (declaration, _) in &self.stan_parameters {
            code.line(1, declaration);
        }
        code.line(0, "}");
        code.line(0, "model {");
        let mut sum: Vec<&str> = Vec::new();
        if design.has_intercept {
            sum.push("alpha");
        }
        if some {
            sum.push(if standardise { "z * beta" } else { "x * beta" });
        }
        if design.offset.is_some() {
            sum.push("offset_");
        }
        let sum = match sum.as_slice() {
            ["alpha"] => "rep_vector(alpha, N)".to_owned(),
            parts => parts.join(" + "),
        };
        code.line(1, &format!("vector[N] eta = {sum};"));
        self.stan_priors(&mut code);
        let arguments = |eta: &str, index: &str| {
            let before = self.stan_before.iter().map(|name| format!("{name}{index}"));
            let after = self.stan_after.iter().map(|name| (*name).to_owned());
            before
                .chain([eta.to_owned()])
                .chain(after)
                .collect::<Vec<_>>()
                .join(", ")
        };
        let density = self.stan_density;
        if design.weights.is_some() {
            let end = if self.continuous { "lpdf" } else { "lpmf" };
            code.line(1, "for (i in 1:N) {");
            let inside = arguments("eta[i]", "[i]");
            code.line(
                2,
                &format!("target += weight[i] * {density}_{end}(y[i] | {inside});"),
            );
            code.line(1, "}");
        } else {
            code.line(1, &format!("y ~ {density}({});", arguments("eta", "")));
        }
        code.line(0, "}");
        self.stan_reported(&mut code, some);
        code.0
    }

    fn stan_priors(&self, code: &mut Code) {
        let design = self.context.design;
        let mut of_slopes = &self.priors[..];
        if design.has_intercept {
            of_slopes = &self.priors[1..];
            code.prior("alpha", &self.priors[0]);
        }
        match of_slopes {
            [] => {}
            [one, rest @ ..] if rest.iter().all(|prior| prior == one) => code.prior("beta", one),
            all => {
                for (j, (prior, term)) in all.iter().zip(self.slopes()).enumerate() {
                    code.line(1, &format!("// {term}"));
                    code.prior(&format!("beta[{}]", j + 1), prior);
                }
            }
        }
        for (_, statement) in &self.stan_parameters {
            code.line(1, statement);
        }
    }

    /// Coefficients on the scale of the columns as they are.
    fn stan_reported(&self, code: &mut Code, some: bool) {
        let standardise = some && self.standardized();
        code.line(0, "generated quantities {");
        if some {
            let value = if standardise {
                "beta ./ scale'"
            } else {
                "beta"
            };
            code.line(
                1,
                &format!(
                    "vector[{}] b = {value};  // per unit of the columns of x",
                    self.slopes().len()
                ),
            );
        }
        if self.context.design.has_intercept {
            let value = if standardise {
                "alpha - centre * b"
            } else {
                "alpha"
            };
            code.line(1, &format!("real b_Intercept = {value};  // at x = 0"));
        }
        code.line(0, "}");
    }

    fn brms(&self) -> String {
        let Context {
            design, formula, ..
        } = self.context;
        let mut code = Code::default();
        code.line(0, "library(brms)");
        for line in &self.r_response {
            code.line(0, line);
        }
        for (column, level) in &design.reference_levels {
            let name = quote_name(column);
            code.line(
                0,
                &format!(
                    "data${name} <- relevel(factor(data${name}), ref = {})",
                    quoted(level)
                ),
            );
        }
        let mut text = formula.to_string();
        let raw_intercept = design.has_intercept && !self.standardized();
        if raw_intercept {
            // The class Intercept of brms is at average predictors; as a coefficient it is at 0.
            let (left, right) = text.split_once('~').unwrap_or((text.as_str(), "1"));
            let right = right.trim().trim_start_matches("1 + ");
            let right = if right == "1" {
                String::new()
            } else {
                format!(" + {right}")
            };
            text = format!("{} ~ 0 + Intercept{right}", left.trim());
        }
        let mut priors = Vec::new();
        let mut doubtful = false;
        for (j, (term, prior)) in design.terms.iter().zip(&self.priors).enumerate() {
            let intercept = design.has_intercept && j == 0;
            if intercept && !raw_intercept {
                let prior = if prior == FLAT {
                    String::new()
                } else {
                    stan_text(prior)
                };
                priors.push(format!("set_prior(\"{prior}\", class = \"Intercept\")"));
                continue;
            }
            // Flat is what brms does where nothing is said.
            if prior == FLAT {
                continue;
            }
            let scale = if self.standardized() {
                design.raw_scale[j]
            } else {
                1.0
            };
            let (coef, plain) = brms_name(term);
            doubtful |= !plain;
            priors.push(format!(
                "set_prior(\"{}\", class = \"b\", coef = \"{coef}\")",
                stan_text(&divided(prior, scale))
            ));
        }
        if self.standardized() && !self.slopes().is_empty() {
            code.line(0, "# Priors per standard deviation of a predictor, divided by that standard deviation");
        }
        if doubtful {
            code.line(
                0,
                "# get_prior() shows how brms names coefficients of functions and odd names",
            );
        }
        code.line(0, "fit <- brm(");
        code.line(1, &format!("{text},"));
        let comma = if priors.is_empty() { "" } else { "," };
        code.line(
            1,
            &format!("data = data, family = {}{comma}", self.brms_family),
        );
        if !priors.is_empty() {
            code.line(1, "prior = c(");
            for (i, prior) in priors.iter().enumerate() {
                let comma = if i + 1 < priors.len() { "," } else { "" };
                code.line(2, &format!("{prior}{comma}"));
            }
            code.line(1, ")");
        }
        code.line(0, ")");
        code.0
    }
}

/// The prior without a density to write.
const FLAT: &str = "flat";

/// Lines of code.
#[derive(Default)]
pub(super) struct Code(pub(super) String);

impl Code {
    pub(super) fn line(&mut self, level: usize, text: &str) {
        self.0.push_str(&"  ".repeat(level));
        self.0.push_str(text);
        self.0.push('\n');
    }

    fn prior(&mut self, name: &str, prior: &str) {
        if prior == FLAT {
            self.line(1, &format!("// {name}: flat"));
        } else {
            self.line(1, &format!("{name} ~ {};", stan_text(prior)));
        }
    }
}

/// A prior with Stan's names.
fn stan_text(prior: &str) -> String {
    prior.replace("laplace(", "double_exponential(")
}

/// The prior of x/s where that of x is `prior`: locations and scales are divided, degrees of freedom stay.
fn divided(prior: &str, s: f64) -> String {
    let Some((name, rest)) = prior.split_once('(') else {
        return prior.to_owned();
    };
    let arguments: Vec<&str> = rest
        .trim_end_matches(')')
        .split(',')
        .map(str::trim)
        .collect();
    let kept = usize::from(name == "student_t");
    let texts: Vec<String> = arguments
        .iter()
        .enumerate()
        .map(|(i, text)| match text.parse::<f64>() {
            Ok(value) if i >= kept => number(value / s),
            _ => (*text).to_owned(),
        })
        .collect();
    format!("{name}({})", texts.join(", "))
}

/// A number that both languages read back to the same bits.
pub(super) fn number(value: f64) -> String {
    let text = format!("{value:?}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// A text of R or Stan.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// What brms calls a coefficient, and whether that is sure: `plan=plus` is `planplus`; other signs are dropped.
fn brms_name(term: &str) -> (String, bool) {
    let plain = |c: char| c.is_alphanumeric() || c == '_' || c == '.' || c == ':';
    let name = term.replace('=', "");
    (
        name.chars().filter(|&c| plain(c)).collect(),
        name.chars().all(plain),
    )
}

/// What a template that does not describe itself answers.
pub(super) fn not_written(id: &str) -> ModelError {
    ModelError(format!(
        "Template `{id}` is not written down for other programs yet"
    ))
}

#[cfg(test)]
mod tests;
