//! Multinomial regression in other notations.
//!
//! Coefficients of a level are a column of Stan's matrix, so that they stand in the order of the model's coordinates.

use super::super::ModelError;
use super::super::translation::{
    Context, FLAT, NoTranslation, Program, Translation, brm_call, brms_name, comment, each_of,
    formula_of_brms, listed, moved, quoted, r_coding, with_raw_intercept,
};
use super::{levels_of, name_of};
use crate::design::DesignTerm;
use crate::formula::quote_name;

/// A multinomial regression, as far as it is told.
struct Described<'a> {
    context: Context<'a>,
    reference: &'a str,
    /// Levels but the reference.
    others: &'a [String],
}

/// All notations.
///
/// # Errors
/// The response has no levels.
pub(super) fn describe(context: &Context<'_>) -> Result<Translation, ModelError> {
    let (reference, others) = levels_of(context.design)?;
    let it = Described {
        context: *context,
        reference,
        others,
    };
    Ok(Translation {
        words: it.words(),
        equation: it.equation(),
        stan: Ok(it.stan()),
        brms: it.brms(),
    })
}

impl<'a> Described<'a> {
    fn has_intercept(&self) -> bool {
        self.context.design.has_intercept
    }

    fn is_intercept(&self, j: usize) -> bool {
        self.has_intercept() && j == 0
    }

    fn standardized(&self) -> bool {
        self.context.options.standardize
    }

    fn terms(&self) -> &'a [DesignTerm] {
        &self.context.design.terms
    }

    fn slopes(&self) -> &'a [DesignTerm] {
        &self.terms()[usize::from(self.has_intercept())..]
    }

    /// Priors of the coefficient of a term by level.
    fn priors(&self, term: &DesignTerm) -> Vec<&'a str> {
        let of_level = |level: &String| self.context.prior(name_of(level, term).as_str());
        self.others.iter().map(of_level).collect()
    }

    /// The prior of the coefficients of these terms, where they all have one.
    fn common_prior(&self, terms: &[DesignTerm]) -> Option<&'a str> {
        let mut all = terms.iter().flat_map(|term| self.priors(term));
        let first = all.next()?;
        all.all(|prior| prior == first).then_some(first)
    }

    fn words(&self) -> String {
        let design = self.context.design;
        let name = &design.response.name;
        let mut text = format!(
            "The log odds of each level of `{name}` against `{}`, the reference, are a sum",
            self.reference
        );
        text.push_str(&match (self.has_intercept(), self.slopes()) {
            (true, []) => ": an intercept, the same in all rows.".to_owned(),
            (true, slopes) => format!(
                ": an intercept, and a coefficient times {}.",
                each_of(slopes)
            ),
            (false, slopes) => format!(
                " without intercept: a coefficient times {}.",
                each_of(slopes)
            ),
        });
        text.push_str(&format!(
            " The other levels are {}, and each has coefficients of its own. The probability of a level is e to the power of its log \
             odds over the sum of these powers over all levels, that of the reference being 1.",
            listed(self.others)
        ));
        text.push_str(self.context.weights());
        text.push_str(&self.context.coding());
        format!("{text} {} {}", self.words_of_priors(), self.context.rows())
    }

    /// Who has which prior on which scale.
    fn words_of_priors(&self) -> String {
        let (intercepts, slopes) = self
            .terms()
            .split_at(self.terms().len() - self.slopes().len());
        let of_slopes = match self.standardized() {
            true => "per standard deviation",
            false => "per unit",
        };
        let of_intercepts = match self.standardized() {
            true => "at average predictors",
            false => "at x = 0",
        };
        let mut texts = Vec::new();
        for (terms, what, place) in [
            (intercepts, "the intercepts", of_intercepts),
            (slopes, "coefficients", of_slopes),
        ] {
            if terms.is_empty() {
                continue;
            }
            if let Some(prior) = self.common_prior(terms) {
                texts.push(format!("{prior} for {what} ({place})"));
                continue;
            }
            for term in terms {
                for (level, prior) in self.others.iter().zip(self.priors(term)) {
                    texts.push(format!("{prior} for `{}` ({place})", name_of(level, term)));
                }
            }
        }
        format!("Priors are {}.", texts.join("; "))
    }

    fn equation(&self) -> String {
        let design = self.context.design;
        let (name, reference) = (&design.response.name, self.reference);
        let sum: Vec<String> = (self.terms().iter().enumerate())
            .map(|(j, term)| match self.is_intercept(j) {
                true => "logit[k,Intercept]".to_owned(),
                false => format!("logit[k,{term}] × {term}[i]"),
            })
            .collect();
        let mut lines = vec![
            format!("{name}[i] ~ categorical(p[i])"),
            format!("log(p[i,k] / p[i,{reference}]) = {}", sum.join(" + ")),
            format!("k = {}", self.others.join(", ")),
        ];
        if design.weights.is_some() {
            lines.push("row i counts weight[i] times".to_owned());
        }
        for (j, term) in self.terms().iter().enumerate() {
            let relation = |level: &str, prior: &str| {
                let name = format!("logit[{level},{term}]");
                match (self.standardized(), self.is_intercept(j)) {
                    _ if prior == FLAT => format!("{name} has a flat prior"),
                    (true, true) => format!("{name} at average predictors ~ {prior}"),
                    (true, false) => format!("{name} × sd({term}) ~ {prior}"),
                    (false, _) => format!("{name} ~ {prior}"),
                }
            };
            match self.common_prior(std::slice::from_ref(term)) {
                Some(prior) => lines.push(relation("k", prior)),
                None => {
                    let levels = self.others.iter().zip(self.priors(term));
                    lines.extend(levels.map(|(level, prior)| relation(level, prior)));
                }
            }
        }
        lines.push(format!("i = 1 … {}", design.rows_used));
        lines.join("\n")
    }

    fn stan(&self) -> String {
        let design = self.context.design;
        let (slopes, first) = (self.slopes(), usize::from(self.has_intercept()));
        let (k, some) = (slopes.len(), !slopes.is_empty());
        let (levels, width) = (self.others.len() + 1, self.terms().len());
        let standardise = some && self.standardized();
        let mut program = Program::begin(design);
        program.columns(slopes);
        let all = format!("{}, {}", self.reference, self.others.join(", "));
        program.data.push(format!(
            "array[N] int<lower=1, upper={levels}> y;  // {}",
            comment(&all)
        ));
        program.offset_and_weights(design);
        if standardise {
            program.scales(design, first..first + k);
        }
        let columns = match standardise {
            true => "(x - rep_matrix(centre, N)) ./ rep_matrix(scale, N)",
            false => "x",
        };
        let columns = match (self.has_intercept(), some) {
            (true, true) => format!("append_col(rep_vector(1, N), {columns})"),
            (true, false) => "rep_matrix(1, N, 1)".to_owned(),
            (false, _) => columns.to_owned(),
        };
        program
            .transformed_data
            .push(format!("matrix[N, {width}] z = {columns};"));
        program.parameters.push(format!(
            "matrix[{width}, {}] beta;  // {}by level but the first",
            levels - 1,
            match (self.has_intercept(), self.standardized()) {
                (true, true) => "intercept at average predictors, then per standard deviation; ",
                (true, false) => "intercept at x = 0, then per unit; ",
                (false, true) => "per standard deviation; ",
                (false, false) => "per unit; ",
            }
        ));
        self.stan_priors(&mut program);
        let weight = match design.weights {
            Some(_) => "weight[i] * ",
            None => "",
        };
        program.model.insert(
            0,
            format!("matrix[N, {levels}] eta = append_col(rep_vector(0, N), z * beta);"),
        );
        program.model.extend([
            "for (i in 1:N) {".to_owned(),
            format!("  target += {weight}categorical_logit_lpmf(y[i] | eta[i]');"),
            "}".to_owned(),
        ]);
        let of_slopes = format!("block(beta, {}, 1, {k}, {})", first + 1, levels - 1);
        if some {
            let value = match standardise {
                true => format!("{of_slopes} ./ rep_matrix(scale', {})", levels - 1),
                false => of_slopes,
            };
            program.generated.push(format!(
                "matrix[{k}, {}] b = {value};  // per unit of the columns of x",
                levels - 1
            ));
        }
        if self.has_intercept() {
            let less = if standardise { " - centre * b" } else { "" };
            program.generated.push(format!(
                "row_vector[{}] b_Intercept = beta[1]{less};  // at x = 0",
                levels - 1
            ));
        }
        program.text()
    }

    fn stan_priors(&self, program: &mut Program) {
        let first = usize::from(self.has_intercept());
        let all = |from: usize, to: usize| match from == to {
            true => format!("beta[{from}]"),
            false => format!("to_vector(beta[{from}:{to}])"),
        };
        let (intercepts, slopes) = self.terms().split_at(first);
        for (terms, from) in [(intercepts, 1), (slopes, first + 1)] {
            if terms.is_empty() {
                continue;
            }
            if let Some(prior) = self.common_prior(terms) {
                program.prior(&all(from, from + terms.len() - 1), prior);
                continue;
            }
            for (j, term) in terms.iter().enumerate() {
                let levels = self.others.iter().zip(self.priors(term));
                for (k, (level, prior)) in levels.enumerate() {
                    program
                        .model
                        .push(format!("// {}", comment(name_of(level, term).as_str())));
                    program.prior(&format!("beta[{}, {}]", from + j, k + 1), prior);
                }
            }
        }
    }

    fn brms(&self) -> Result<String, NoTranslation> {
        let design = self.context.design;
        let mut text = formula_of_brms(self.context.formula)?;
        let name = quote_name(&design.response.name);
        let levels: Vec<String> = std::iter::once(self.reference)
            .chain(self.others.iter().map(String::as_str))
            .map(quoted)
            .collect();
        let mut before = vec![format!(
            "data${name} <- factor(data${name}, levels = c({}))",
            levels.join(", ")
        )];
        before.extend(r_coding(design));
        if self.context.formula.has_splines() {
            before.push("library(splines)".to_owned());
        }
        let raw_intercept = self.has_intercept() && !self.standardized();
        if raw_intercept {
            text = with_raw_intercept(&text);
        }
        let (mut priors, mut doubtful) = (Vec::new(), false);
        for level in self.others {
            // brms leaves all but letters and digits out.
            let of_level: String = level.chars().filter(|c| c.is_alphanumeric()).collect();
            doubtful |= of_level != *level;
            for (j, term) in self.terms().iter().enumerate() {
                let prior = self.context.prior(name_of(level, term).as_str());
                if self.is_intercept(j) && !raw_intercept {
                    let prior = match prior {
                        FLAT => String::new(),
                        prior => moved(prior, 1.0, 0.0),
                    };
                    priors.push(format!(
                        "set_prior(\"{prior}\", class = \"Intercept\", dpar = \"mu{of_level}\")"
                    ));
                    continue;
                }
                // Flat is the default of brms.
                if prior == FLAT {
                    continue;
                }
                let scale = match self.standardized() {
                    true => 1.0 / design.raw_scale[j],
                    false => 1.0,
                };
                let (coef, plain) = brms_name(term.as_str());
                doubtful |= !plain;
                priors.push(format!(
                    "set_prior(\"{}\", class = \"b\", coef = \"{coef}\", dpar = \"mu{of_level}\")",
                    moved(prior, scale, 0.0)
                ));
            }
        }
        if self.standardized() && !self.slopes().is_empty() {
            before.push(
                "# Priors per standard deviation of a predictor, divided by that standard deviation"
                    .to_owned(),
            );
        }
        if doubtful {
            before.push(
                "# get_prior() shows how brms names coefficients of functions, and levels and terms with odd names"
                    .to_owned(),
            );
        }
        let family = "data = data, family = categorical()".to_owned();
        Ok(brm_call(&before, &[text, family], &priors))
    }
}
