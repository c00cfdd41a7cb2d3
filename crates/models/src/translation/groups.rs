//! Group terms of a regression in other notations.

use super::{Context, FLAT, Program, brms_name, comment, numbers, stretched};
use crate::design::GroupDesign;
use crate::formula::quote_name;
use ergodic_base::{Class, INTERCEPT, ParamId};

/// The letter of one of the groups of `name` in an equation, where `name` stands for itself and `i` for a row.
pub fn index_letter(name: &str) -> char {
    if name == "g" { 'j' } else { 'g' }
}

/// A group term, as it is written.
pub(super) struct Group<'a> {
    term: &'a GroupDesign,
    /// Name of the grouping.
    name: &'a str,
    /// Number of groups.
    levels: usize,
    /// 1, 2, …: the suffix of its names in Stan.
    number: usize,
    /// Whether priors hold for scaled columns.
    standardized: bool,
    /// Units of the response per unit of the linear predictor.
    unit: f64,
    /// Priors of standard deviations, one per effect.
    sds: Vec<&'a str>,
    /// Prior of correlations; `None` without any.
    correlations: Option<&'a str>,
}

impl<'a> Group<'a> {
    /// All group terms of the model.
    pub fn all(context: &Context<'a>, unit: f64) -> Vec<Self> {
        let design = context.design;
        let terms = design.group_terms.iter().enumerate();
        terms
            .map(|(t, term)| {
                let factor = &design.groups[term.factor];
                let correlated = term.correlated && term.names.len() > 1;
                let sds = term.names.iter();
                Self {
                    name: &factor.name,
                    levels: factor.levels.len(),
                    number: t + 1,
                    standardized: context.options.standardize,
                    unit,
                    sds: sds
                        .map(|effect| {
                            context.prior(&ParamId::of(Class::Sd, [&factor.name, effect]))
                        })
                        .collect(),
                    correlations: correlated.then(|| {
                        let mut found = context.params.iter();
                        let of_factor = |name: &ParamId| {
                            name.class() == Class::Correlation
                                && name.factor() == Some(&factor.name)
                        };
                        found
                            .find(|param| of_factor(&param.name))
                            .map_or(FLAT, |param| param.prior.as_str())
                    }),
                    term,
                }
            })
            .collect()
    }

    /// Whether only the intercept varies, which needs no columns.
    fn intercept_only(&self) -> bool {
        self.term.names == [INTERCEPT]
    }

    /// q.
    fn width(&self) -> usize {
        self.term.names.len()
    }

    /// Whether columns are divided by their standard deviations.
    fn scaled(&self) -> bool {
        self.standardized && self.term.scale.iter().any(|&scale| scale != 1.0)
    }

    /// A sentence, with a space before it.
    pub fn words(&self) -> String {
        let effects: Vec<String> = (self.term.names.iter())
            .map(|name| match name.as_str() {
                INTERCEPT => "the intercept".to_owned(),
                name => format!("the coefficient of `{name}`"),
            })
            .collect();
        let (plural, own) = match effects.len() {
            1 => ("varies", "a standard deviation of its own"),
            _ => ("vary", "standard deviations of their own"),
        };
        let together = match (&self.correlations, effects.len()) {
            (_, 1) => "",
            (Some(_), _) => " and with correlations",
            (None, _) => ", independently of each other",
        };
        format!(
            " Between the {} groups of `{}` {} {plural} normally, with {own}{together}.",
            self.levels,
            self.name,
            effects.join(" and ")
        )
    }

    /// What the group adds to the linear predictor in an equation.
    pub fn sum(&self) -> impl Iterator<Item = String> {
        let name = self.name;
        self.term.names.iter().map(move |effect| {
            let times = match effect.as_str() {
                INTERCEPT => String::new(),
                effect => format!(" × {effect}[i]"),
            };
            format!("r[{name},{name}[i],{effect}]{times}")
        })
    }

    /// Relations of its parameters; `unit` is what the response is divided by, in words.
    pub fn relations(&self, unit: &str) -> Vec<String> {
        let name = self.name;
        let g = index_letter(name);
        let mut lines = Vec::new();
        if self.correlations.is_some() {
            lines.push(format!(
                "r[{name},{g}] ~ multi_normal(0, D R D), D = diag(sd[{name}]), R = cor[{name}], for all groups {g} of {name}"
            ));
        } else {
            lines.extend(self.term.names.iter().map(|effect| {
                format!("r[{name},{g},{effect}] ~ normal(0, sd[{name},{effect}]) for all groups {g} of {name}")
            }));
        }
        for (effect, prior) in self.term.names.iter().zip(&self.sds) {
            let times = match effect.as_str() {
                INTERCEPT => String::new(),
                _ if !self.standardized => String::new(),
                effect => format!(" × sd({effect})"),
            };
            lines.push(if *prior == FLAT {
                format!("sd[{name},{effect}] has a flat prior")
            } else {
                format!("sd[{name},{effect}]{times}{unit} ~ {prior}")
            });
        }
        lines.extend(
            self.correlations
                .map(|prior| format!("cor[{name}] ~ {prior}")),
        );
        lines
    }

    /// Data, parameters and priors in Stan.
    pub fn stan(&self, program: &mut Program) {
        let (t, q, name) = (self.number, self.width(), comment(self.name));
        let mut data = vec![
            format!("int<lower=1> J_{t};  // groups of {name}"),
            format!("array[N] int<lower=1, upper=J_{t}> group_{t};  // that of each row"),
        ];
        if !self.intercept_only() {
            let names = comment(&self.term.names.join(", "));
            data.push(format!(
                "matrix[N, {q}] w_{t};  // {names} (a column of 1 for Intercept)"
            ));
        }
        program.data.extend(data);
        if self.scaled() {
            program.transformed_data.extend([
                format!("// population standard deviations of the columns of w_{t}; they are not centred"),
                format!("row_vector[{q}] w_scale_{t} = [{}];", numbers(&self.term.scale)),
                format!("matrix[N, {q}] ws_{t} = w_{t} ./ rep_matrix(w_scale_{t}, N);"),
            ]);
        }
        let what = if self.unit == 1.0 || !self.standardized {
            ""
        } else {
            ", in y_scale"
        };
        program.parameters.push(format!(
            "vector<lower=0>[{q}] tau_{t};  // standard deviations between groups{what}"
        ));
        if self.correlations.is_some() {
            program
                .parameters
                .push(format!("cholesky_factor_corr[{q}] L_{t};"));
        }
        let effects: Vec<(&str, &str)> = (self.term.names.iter())
            .map(String::as_str)
            .zip(self.sds.iter().copied())
            .collect();
        program.priors(&format!("tau_{t}"), &effects);
        if let Some(prior) = self.correlations {
            program.prior(
                &format!("L_{t}"),
                &prior.replace("lkj(", "lkj_corr_cholesky("),
            );
        }
        program
            .model
            .push(format!("to_vector(v_{t}) ~ std_normal();"));
        let factor = if self.correlations.is_some() {
            format!("diag_pre_multiply(tau_{t}, L_{t})")
        } else {
            format!("diag_matrix(tau_{t})")
        };
        program.transformed_parameters.push(format!(
            "matrix[J_{t}, {q}] effect_{t} = ({factor} * v_{t})';"
        ));
        self.stan_reported(program);
    }

    /// Effects in units of their standard deviation, which come after all other parameters.
    pub fn stan_effects(&self, program: &mut Program) {
        let (t, q) = (self.number, self.width());
        program.parameters.push(format!(
            "matrix[{q}, J_{t}] v_{t};  // effects in units of their standard deviation"
        ));
    }

    /// What the group adds to the linear predictor in Stan.
    pub fn stan_sum(&self) -> String {
        let t = self.number;
        if self.intercept_only() {
            return format!("effect_{t}[group_{t}, 1]");
        }
        let columns = if self.scaled() { "ws" } else { "w" };
        format!("rows_dot_product({columns}_{t}, effect_{t}[group_{t}])")
    }

    /// Parameters of the group term as they are reported.
    fn stan_reported(&self, program: &mut Program) {
        let (t, q) = (self.number, self.width());
        let mut lines = Vec::new();
        let units: Vec<f64> = (self.term.scale.iter())
            .map(|scale| self.unit / scale)
            .collect();
        if self.standardized && units.iter().any(|&unit| unit != 1.0) {
            lines.extend([
                format!("row_vector[{q}] unit_{t} = [{}];", numbers(&units)),
                format!("vector[{q}] sd_{t} = tau_{t} .* unit_{t}';  // on the scale of the data"),
                format!("matrix[J_{t}, {q}] r_{t} = effect_{t} .* rep_matrix(unit_{t}, J_{t});"),
            ]);
        } else {
            lines.extend([
                format!("vector[{q}] sd_{t} = tau_{t};"),
                format!("matrix[J_{t}, {q}] r_{t} = effect_{t};"),
            ]);
        }
        if self.correlations.is_some() {
            lines.push(format!(
                "matrix[{q}, {q}] cor_{t} = multiply_lower_tri_self_transpose(L_{t});"
            ));
        }
        program.generated.extend(lines);
    }

    /// Priors of the group term in brms, and whether brms may name a coefficient otherwise.
    pub fn brms(&self) -> (Vec<String>, bool) {
        let group: Vec<String> = self.name.split(':').map(quote_name).collect();
        let group = group.join(":");
        let (mut priors, mut doubtful) = (Vec::new(), false);
        for ((effect, prior), scale) in (self.term.names.iter())
            .zip(&self.sds)
            .zip(&self.term.scale)
        {
            let (coef, plain) = brms_name(effect);
            doubtful |= !plain;
            let unit = if self.standardized {
                self.unit / scale
            } else {
                1.0
            };
            let text = if *prior == FLAT {
                String::new()
            } else {
                stretched(prior, unit)
            };
            // Nothing said means the prior of the class, which is not flat unless that is said.
            priors.push(if text.is_empty() {
                "set_prior(\"\", class = \"sd\")".to_owned()
            } else {
                format!(
                    "set_prior(\"{text}\", class = \"sd\", group = \"{group}\", coef = \"{coef}\")"
                )
            });
        }
        if let Some(prior) = self.correlations {
            priors.push(format!(
                "set_prior(\"{prior}\", class = \"cor\", group = \"{group}\")"
            ));
        }
        (priors, doubtful)
    }
}
