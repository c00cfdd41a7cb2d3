//! Regressions with one linear predictor, with or without group terms, in other notations.

use super::super::ModelError;
use super::curves::{Curve, column_of};
use super::groups::Group;
use super::{
    Context, FLAT, NoTranslation, Program, Translation, brm_call, brms_name, comment, each_of,
    listed, moved, number, quoted, stretched,
};
use crate::design::lump_levels::OTHER;
use crate::design::{Design, DesignTerm};
use crate::families::notation::Notation;
use crate::families::rows::ResponseScale;
use crate::families::{Auxiliary, Family, Support};
use crate::formula::{Factor, Formula, Trials, quote_name};
use ergodic_base::{Class, ParamId};
/// A regression with one linear predictor, as far as it differs from others.
pub(in super::super) struct Glm<'a> {
    /// Data, formula, priors.
    pub context: Context<'a>,
    /// How the response follows from the linear predictor.
    pub notation: Notation,
    /// Units of the linear predictor.
    pub scale: ResponseScale,
    /// Whether the response has a density instead of a probability.
    pub continuous: bool,
    /// Parameters besides coefficients and those of groups.
    pub auxiliaries: Vec<&'static Auxiliary>,
    /// Priors in brms besides those of parameters.
    pub brms_priors: Vec<String>,
}

impl<'a> Glm<'a> {
    /// A regression of `family`.
    ///
    /// # Errors
    /// The response does not vary.
    pub fn of(context: &Context<'a>, family: Family) -> Result<Self, ModelError> {
        let definition = family.definition();
        Ok(Self {
            context: *context,
            notation: family.notation(context.design),
            scale: ResponseScale::with_link(definition.link, context.design)?,
            continuous: !definition.is_whole,
            auxiliaries: definition.auxiliaries.iter().collect(),
            brms_priors: Vec::new(),
        })
    }
}

impl Glm<'_> {
    /// All notations.
    pub fn describe(&self) -> Translation {
        Translation {
            words: self.words(),
            equation: self.equation(),
            stan: Ok(self.stan()),
            brms: self.brms(),
        }
    }

    fn first(&self) -> usize {
        usize::from(self.context.design.has_intercept)
    }

    /// Terms but those that bend smooth curves, which are the last.
    fn terms(&self) -> &[DesignTerm] {
        let terms = &self.context.design.terms;
        let bends = terms.iter().position(|term| term.bend().is_some());
        &terms[..bends.unwrap_or(terms.len())]
    }

    /// Terms besides the intercept.
    fn slopes(&self) -> &[DesignTerm] {
        &self.terms()[self.first()..]
    }

    /// Prior per term.
    fn priors(&self) -> impl Iterator<Item = &str> {
        self.terms().iter().map(|term| {
            let name = ParamId::of(Class::Coefficient, [term]);
            self.context.prior(name.as_str())
        })
    }

    /// Ordered levels of the response, whose cut points stand for an intercept; none of others.
    fn levels(&self) -> &[String] {
        self.context.design.response.levels()
    }

    /// Whether the linear predictor has an intercept of its own.
    fn has_intercept(&self) -> bool {
        self.context.design.has_intercept && self.levels().is_empty()
    }

    /// The prior of cut points, the same for all.
    fn prior_of_cuts(&self) -> &str {
        let mut params = self.context.params.iter();
        let cut = params.find(|param| param.name.class() == Class::CutPoint);
        cut.map_or(FLAT, |cut| cut.prior.as_str())
    }

    fn standardized(&self) -> bool {
        self.context.options.standardize
    }

    /// Whether the response is standardised, so that the linear predictor has another unit.
    fn has_unit(&self) -> bool {
        self.standardized() && self.scale.identity
    }

    /// The response as it is standardised, in words: `y` or `y − offset`.
    fn standardised_response(&self) -> String {
        let name = &self.context.design.response.name;
        match self.context.design.offset {
            Some(_) => format!("{name} − offset"),
            None => name.clone(),
        }
    }

    /// Units of the response per unit of the linear predictor.
    fn unit(&self) -> f64 {
        if self.has_unit() {
            self.scale.scale
        } else {
            1.0
        }
    }

    fn groups(&self) -> Vec<Group<'_>> {
        Group::all(&self.context, self.unit())
    }

    fn curves(&self) -> Vec<Curve<'_>> {
        Curve::all(&self.context, self.unit())
    }

    fn words(&self) -> String {
        let design = self.context.design;
        let columns: Vec<String> = self.slopes().iter().map(column_of).collect();
        let slopes = each_of(&columns);
        let mut text = match (design.has_intercept, self.slopes().is_empty()) {
            (true, true) => format!("{} is the same in all rows.", self.notation.predicted),
            (true, false) if !self.levels().is_empty() => {
                format!(
                    "{} is a sum: a coefficient times {slopes}.",
                    self.notation.predicted
                )
            }
            (true, false) => format!(
                "{} is a sum: an intercept, and a coefficient times {slopes}.",
                self.notation.predicted
            ),
            (false, _) => format!(
                "{} is a sum without intercept: a coefficient times {slopes}.",
                self.notation.predicted
            ),
        };
        for curve in self.curves() {
            text.push_str(&curve.words());
        }
        for group in self.groups() {
            text.push_str(&group.words());
        }
        if design.offset.is_some() {
            text.push_str(" An offset with the coefficient 1 is added.");
        }
        if !self.notation.given.is_empty() {
            text.push_str(&format!(" {}", self.notation.given));
        }
        text.push_str(self.context.weights());
        text.push_str(&self.context.coding());
        format!("{text} {} {}", self.words_of_priors(), self.context.rows())
    }

    /// Who has which prior on which scale, those alike together.
    fn words_of_priors(&self) -> String {
        // Class, prior, scale, names.
        let mut all: Vec<(&str, &str, &str, Vec<&str>)> = Vec::new();
        for param in self.context.params {
            let class = match param.name.class() {
                Class::Bend | Class::Effect | Class::VarianceShare => continue,
                Class::Coefficient if param.name.is_intercept() => "intercept",
                _ => param.name.word(),
            };
            let (prior, place) = (param.prior.as_str(), param.prior_source.place.as_str());
            let same = (all.iter_mut())
                .find(|(other, its, at, _)| (*other, *its, *at) == (class, prior, place));
            match same {
                Some((_, _, _, names)) => names.push(&param.name),
                None => all.push((class, prior, place, vec![&param.name])),
            }
        }
        let texts: Vec<String> = all
            .iter()
            .map(|(class, prior, place, names)| {
                let what = match *class {
                    "intercept" => "the intercept".to_owned(),
                    "b" if names.len() == self.slopes().len() => match names.len() {
                        1 => "the coefficient".to_owned(),
                        _ => "coefficients".to_owned(),
                    },
                    "cor" => "correlations".to_owned(),
                    "cut" => "cut points".to_owned(),
                    _ => listed(names),
                };
                let place = if place.is_empty() {
                    String::new()
                } else {
                    format!(" ({place})")
                };
                format!("{prior} for {what}{place}")
            })
            .collect();
        format!("Priors are {}.", texts.join("; "))
    }

    fn equation(&self) -> String {
        let design = self.context.design;
        let mut lines = self.notation.response.clone();
        let mut sum: Vec<String> = Vec::new();
        if self.has_intercept() {
            sum.push("b[Intercept]".to_owned());
        }
        let times = |term: &DesignTerm| format!("b[{term}] × {}[i]", column_of(term));
        sum.extend(self.slopes().iter().map(times));
        let (curves, groups) = (self.curves(), self.groups());
        sum.extend(curves.iter().map(Curve::sum));
        sum.extend(groups.iter().flat_map(Group::sum));
        if design.offset.is_some() {
            sum.push("offset[i]".to_owned());
        }
        if sum.is_empty() {
            sum.push("0".to_owned());
        }
        lines.push(format!("eta[i] = {}", sum.join(" + ")));
        if design.weights.is_some() {
            lines.push("row i counts weight[i] times".to_owned());
        }
        let response = self.standardised_response();
        let unit = if self.has_unit() {
            format!(" / sd({response})")
        } else {
            String::new()
        };
        for (j, (term, prior)) in self.terms().iter().zip(self.priors()).enumerate() {
            let intercept = design.has_intercept && j == 0;
            if intercept && !self.has_intercept() {
                let at = if self.standardized() {
                    " at average predictors"
                } else {
                    ""
                };
                lines.push(match self.prior_of_cuts() {
                    FLAT => "cut[k] have a flat prior, in order".to_owned(),
                    prior => format!("cut[k]{at} ~ {prior}, in order"),
                });
                continue;
            }
            lines.push(match (self.standardized(), intercept) {
                _ if prior == FLAT => format!("b[{term}] has a flat prior"),
                (true, true) if self.has_unit() => {
                    format!(
                        "(b[Intercept] at average predictors − mean({response})){unit} ~ {prior}"
                    )
                }
                (true, true) => format!("b[Intercept] at average predictors ~ {prior}"),
                (true, false) => format!("b[{term}] × sd({}){unit} ~ {prior}", column_of(term)),
                (false, _) => format!("b[{term}] ~ {prior}"),
            });
        }
        for &auxiliary in &self.auxiliaries {
            let Auxiliary { name, has_unit, .. } = auxiliary;
            let unit = if *has_unit { unit.as_str() } else { "" };
            let prior = self.context.prior(name);
            lines.push(if prior == FLAT {
                format!("{name} has a flat prior")
            } else {
                match auxiliary.support {
                    Support::Above(lower) if lower != 0.0 => {
                        format!("{name}{unit} ~ {prior} above {lower}")
                    }
                    _ => format!("{name}{unit} ~ {prior}"),
                }
            });
        }
        lines.extend(curves.iter().flat_map(|curve| curve.relations(&unit)));
        lines.extend(groups.iter().flat_map(|group| group.relations(&unit)));
        lines.push(format!("i = 1 … {}", design.rows_used));
        lines.join("\n")
    }

    fn stan(&self) -> String {
        let design = self.context.design;
        let (slopes, first) = (self.slopes(), self.first());
        let (k, some) = (slopes.len(), !slopes.is_empty());
        let standardise = some && self.standardized();
        let mut program = Program::begin(design);
        (program.functions).extend_from_slice(&self.notation.stan_functions);
        let names: Vec<String> = slopes.iter().map(column_of).collect();
        program.columns(&names);
        program.data.extend_from_slice(&self.notation.stan_data);
        program.offset_and_weights(design);
        if standardise {
            program.scales(design, first..first + k);
            program.transformed_data.push(format!(
                "matrix[N, {k}] z = (x - rep_matrix(centre, N)) ./ rep_matrix(scale, N);"
            ));
        }
        if self.has_unit() {
            let of = match design.offset {
                Some(_) => "y - offset_",
                None => "y",
            };
            let centre = if design.has_intercept {
                "mean and "
            } else {
                ""
            };
            program.transformed_data.extend([
                format!("// {centre}population standard deviation of {of}"),
                format!("real y_centre = {};", number(self.scale.centre)),
                format!("real y_scale = {};", number(self.scale.scale)),
            ]);
        }
        self.stan_parameters(&mut program);
        let mut sum: Vec<String> = Vec::new();
        if self.has_intercept() {
            sum.push("alpha".to_owned());
        }
        if some {
            sum.push(if standardise { "z * beta" } else { "x * beta" }.to_owned());
        }
        let (curves, groups) = (self.curves(), self.groups());
        sum.extend(curves.iter().map(Curve::stan_sum));
        sum.extend(groups.iter().map(Group::stan_sum));
        if sum == ["alpha"] {
            sum = vec!["rep_vector(alpha, N)".to_owned()];
        }
        if sum.is_empty() {
            sum.push("rep_vector(0, N)".to_owned());
        }
        let mut sum = sum.join(" + ");
        if self.has_unit() {
            sum = format!("y_centre + y_scale * ({sum})");
        }
        if design.offset.is_some() {
            sum.push_str(" + offset_");
        }
        program.model.insert(0, format!("vector[N] eta = {sum};"));
        program.model.extend(self.stan_likelihood());
        self.stan_reported(&mut program);
        program.text()
    }

    /// Parameters in the order of the model's coordinates, and their priors.
    fn stan_parameters(&self, program: &mut Program) {
        let design = self.context.design;
        let priors: Vec<(&str, &str)> = (self.terms().iter())
            .map(DesignTerm::as_str)
            .zip(self.priors())
            .collect();
        let mut of_slopes = &priors[..];
        let unit = if self.has_unit() { ", in y_scale" } else { "" };
        if design.has_intercept {
            let (at, from) = match (self.standardized(), self.has_unit()) {
                (true, true) => ("average predictors", ", in y_scale from y_centre"),
                (true, false) => ("average predictors", ""),
                (false, _) => ("x = 0", ""),
            };
            if self.has_intercept() {
                let intercept = format!("real alpha;  // intercept at {at}{from}");
                program.parameters.push(intercept);
                program.prior("alpha", priors[0].1);
            } else {
                let cuts = self.levels().len() - 1;
                let cuts = format!("ordered[{cuts}] cut;  // cut points at {at}");
                program.parameters.push(cuts);
                program.prior("cut", self.prior_of_cuts());
            }
            of_slopes = &priors[1..];
        }
        if !of_slopes.is_empty() {
            let per = if self.standardized() {
                "standard deviation"
            } else {
                "unit"
            };
            program.parameters.push(format!(
                "vector[{}] beta;  // per {per}{unit}",
                of_slopes.len()
            ));
            program.priors("beta", of_slopes);
        }
        let curves = self.curves();
        (curves.iter()).for_each(|curve| curve.stan_coefficients(program));
        for &auxiliary in &self.auxiliaries {
            let (name, unit) = (
                self.stan_name(auxiliary),
                if auxiliary.has_unit { unit } else { "" },
            );
            program.parameters.push(format!(
                "real<{}> {name};  // {}{unit}",
                match auxiliary.support {
                    Support::Above(lower) => format!("lower={}", number(lower)),
                    Support::Chance => "lower=0, upper=1".to_owned(),
                },
                auxiliary.what
            ));
            program.prior(&name, self.context.prior(auxiliary.name));
        }
        curves.iter().for_each(|curve| curve.stan_scale(program));
        let groups = self.groups();
        groups.iter().for_each(|group| group.stan(program));
        groups.iter().for_each(|group| group.stan_effects(program));
    }

    /// What an auxiliary parameter is called where it is sampled.
    fn stan_name(&self, auxiliary: &Auxiliary) -> String {
        let scaled = auxiliary.has_unit && self.has_unit();
        format!("{}{}", auxiliary.name, if scaled { "_std" } else { "" })
    }

    /// The statement of the likelihood in Stan, given `eta`.
    pub fn stan_likelihood(&self) -> Vec<String> {
        let arguments = |index: &str| {
            let arguments = self.notation.stan_arguments.iter().map(|argument| {
                let unit = |auxiliary: &&&Auxiliary| {
                    auxiliary.name == argument && auxiliary.has_unit && self.has_unit()
                };
                match self.auxiliaries.iter().find(unit) {
                    Some(auxiliary) => format!("y_scale * {}", self.stan_name(auxiliary)),
                    None => argument.replace("[]", index),
                }
            });
            arguments.collect::<Vec<_>>().join(", ")
        };
        let density = self.notation.stan_density;
        let weighted = self.context.design.weights.is_some();
        // Functions of the program take one row, those of Stan all.
        if !weighted && self.notation.stan_functions.is_empty() {
            return vec![format!("y ~ {density}({});", arguments(""))];
        }
        let end = if self.continuous { "lpdf" } else { "lpmf" };
        let weight = if weighted { "weight[i] * " } else { "" };
        vec![
            "for (i in 1:N) {".to_owned(),
            format!(
                "  target += {weight}{density}_{end}(y[i] | {});",
                arguments("[i]")
            ),
            "}".to_owned(),
        ]
    }

    /// Parameters on the scale of the columns as they are; those of groups are there already.
    fn stan_reported(&self, program: &mut Program) {
        let some = !self.slopes().is_empty();
        let standardise = some && self.standardized();
        let unit = if self.has_unit() { "y_scale * " } else { "" };
        let mut lines = Vec::new();
        if some {
            let value = if standardise {
                "beta ./ scale'"
            } else {
                "beta"
            };
            lines.push(format!(
                "vector[{}] b = {unit}{value};  // per unit of the columns of x",
                self.slopes().len()
            ));
        }
        if !self.levels().is_empty() {
            let more = if standardise { " + centre * b" } else { "" };
            lines.push(format!(
                "vector[{}] b_cut = cut{more};  // at x = 0",
                self.levels().len() - 1
            ));
        }
        if self.has_intercept() {
            let centre = if self.has_unit() { "y_centre + " } else { "" };
            let less = if standardise { " - centre * b" } else { "" };
            lines.push(format!(
                "real b_Intercept = {centre}{unit}alpha{less};  // at x = 0"
            ));
        }
        for auxiliary in self.auxiliaries.iter().filter(|one| one.has_unit) {
            let name = self.stan_name(auxiliary);
            if name != auxiliary.name {
                lines.push(format!("real {} = {unit}{name};", auxiliary.name));
            }
        }
        program.generated.splice(0..0, lines);
    }

    fn brms(&self) -> Result<String, NoTranslation> {
        let Context {
            design, formula, ..
        } = self.context;
        let mut text = formula_of_brms(formula)?;
        let mut before = self.notation.r_response.clone();
        before.extend(r_coding(design));
        if formula.has_splines() {
            before.push("library(splines)".to_owned());
        }
        let raw_intercept = self.has_intercept() && !self.standardized();
        if !self.levels().is_empty() && !self.standardized() {
            // The thresholds of brms are at average predictors otherwise.
            text = format!("bf({text}, center = FALSE)");
        }
        if raw_intercept {
            text = with_raw_intercept(&text);
        }
        let (unit, centre) = if self.has_unit() {
            (self.scale.scale, self.scale.centre)
        } else {
            (1.0, 0.0)
        };
        let mut priors = Vec::new();
        let mut doubtful = false;
        for (j, (term, prior)) in self.terms().iter().zip(self.priors()).enumerate() {
            let intercept = design.has_intercept && j == 0;
            if intercept && !self.levels().is_empty() {
                let prior = match self.prior_of_cuts() {
                    FLAT => String::new(),
                    prior => moved(prior, 1.0, 0.0),
                };
                priors.push(format!("set_prior(\"{prior}\", class = \"Intercept\")"));
                continue;
            }
            if intercept && !raw_intercept {
                let prior = if prior == FLAT {
                    String::new()
                } else {
                    moved(prior, unit, centre)
                };
                priors.push(format!("set_prior(\"{prior}\", class = \"Intercept\")"));
                continue;
            }
            // Flat is the default of brms. Of the straight line of a curve it has another unit.
            if prior == FLAT || term.factors().iter().any(Factor::is_smooth) {
                continue;
            }
            let scale = if self.standardized() {
                unit / design.raw_scale[j]
            } else {
                1.0
            };
            let (coef, plain) = brms_name(term);
            doubtful |= !plain;
            priors.push(format!(
                "set_prior(\"{}\", class = \"b\", coef = \"{coef}\")",
                moved(prior, scale, 0.0)
            ));
        }
        for &auxiliary in &self.auxiliaries {
            let prior = match self.context.prior(auxiliary.name) {
                FLAT => String::new(),
                prior if auxiliary.has_unit => stretched(prior, unit),
                prior => stretched(prior, 1.0),
            };
            priors.push(format!(
                "set_prior(\"{prior}\", class = \"{}\")",
                auxiliary.name
            ));
        }
        priors.extend_from_slice(&self.brms_priors);
        let groups = self.groups();
        for group in &groups {
            let (of_group, doubt) = group.brms();
            for prior in of_group {
                if !priors.contains(&prior) {
                    priors.push(prior);
                }
            }
            doubtful |= doubt;
        }
        if !self.curves().is_empty() {
            before.push(
                "# brms measures the columns of s() in units of its own: its curves are these, its priors of them are its own"
                    .to_owned(),
            );
        }
        if self.has_unit() {
            before.push(format!(
                "# Priors in standard deviations of {}, on the scale of the data",
                comment(&self.standardised_response())
            ));
        }
        if self.standardized() && !(self.slopes().is_empty() && groups.is_empty()) {
            before.push(
                "# Priors per standard deviation of a predictor, divided by that standard deviation"
                    .to_owned(),
            );
        }
        if doubtful {
            before.push(
                "# get_prior() shows how brms names coefficients of functions and odd names"
                    .to_owned(),
            );
        }
        let family = format!("data = data, family = {}", self.notation.brms_family);
        Ok(brm_call(&before, &[text, family], &priors))
    }
}

/// R code that makes categories what they are in the design.
pub(in super::super) fn r_coding(design: &Design) -> Vec<String> {
    let mut lines = Vec::new();
    for merged in &design.merged {
        let name = quote_name(&merged.column);
        let kept: Vec<String> = merged.kept.iter().map(|level| quoted(level)).collect();
        lines.push(format!(
            "data${name} <- ifelse(data${name} %in% c({}), as.character(data${name}), {})",
            kept.join(", "),
            quoted(OTHER)
        ));
    }
    for (column, level) in &design.reference_levels {
        let name = quote_name(column);
        lines.push(format!(
            "data${name} <- relevel(factor(data${name}), ref = {})",
            quoted(level)
        ));
    }
    lines
}

/// A formula of brms whose intercept is a coefficient at 0: the class Intercept is at average predictors.
pub(in super::super) fn with_raw_intercept(formula: &str) -> String {
    let (left, right) = formula.split_once('~').unwrap_or((formula, "1"));
    let right = right.trim().trim_start_matches("1 + ");
    let right = if right == "1" {
        String::new()
    } else {
        format!(" + {right}")
    };
    format!("{} ~ 0 + Intercept{right}", left.trim())
}

/// The formula for data whose categories are factors already: `factor(x)` is `x`, and `cbind(r, s)` is of `r + s` trials. The
/// error says why there is none.
pub(in super::super) fn formula_of_brms(formula: &Formula) -> Result<String, NoTranslation> {
    let mut formula = formula.clone();
    let slopes = |formula: &Formula| {
        let of_groups = formula.groups.iter().flat_map(|group| &group.terms);
        let all = formula.terms.iter().chain(of_groups).flatten();
        all.chain(&formula.offsets)
            .cloned()
            .collect::<Vec<Factor>>()
    };
    let factors = slopes(&formula);
    for category in &factors {
        let Factor::Category(name) = category else {
            continue;
        };
        if factors
            .iter()
            .any(|other| other != category && other.column() == name)
        {
            return Err(NoTranslation::NumbersAndCategories(name.clone()));
        }
    }
    let of_groups = formula.groups.iter_mut().flat_map(|group| &mut group.terms);
    for factor in formula.terms.iter_mut().chain(of_groups).flatten() {
        if let Factor::Category(name) = factor {
            *factor = Factor::Column(std::mem::take(name));
        }
    }
    if let Some(response) = &mut formula.response {
        response.ordered = false;
    }
    if let Some(response) = &mut formula.response
        && let Some(Trials::Failures(failures)) = &response.trials
    {
        let column = quote_name(&response.column);
        let trials = format!("trials({column} + {})", quote_name(failures));
        response.trials = None;
        let weights = response.weights.take();
        let weights = weights.map_or(String::new(), |name| {
            format!(" + weights({})", quote_name(&name))
        });
        formula.response = None;
        return Ok(format!("{column} | {trials}{weights} {formula}"));
    }
    Ok(formula.to_string())
}
