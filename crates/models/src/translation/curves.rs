//! Smooth curves of a regression in other notations.

use super::{Context, FLAT, Program, comment};
use crate::design::DesignTerm;
use crate::formula::Factor;
use ergodic_base::{Class, ParamId};

/// A smooth curve, as it is written.
pub(super) struct Curve<'a> {
    /// Name of the curve as it is reported: `s(age)`.
    name: String,
    /// The variable that the curve goes along: `age`.
    along: String,
    /// Functions that bend it.
    width: usize,
    /// 1, 2, …: the suffix of its names in Stan.
    number: usize,
    /// Prior of its standard deviation.
    prior: &'a str,
    /// Units of the response per unit of the linear predictor.
    unit: f64,
}

/// What the column of a straight line is called.
pub(super) fn column_of(term: &DesignTerm) -> String {
    match term.factors().as_slice() {
        [smooth @ Factor::Call(_, of)] if smooth.is_smooth() => of.label(),
        _ => term.to_string(),
    }
}

impl<'a> Curve<'a> {
    /// All curves of the model; `unit` as of groups.
    pub fn all(context: &Context<'a>, unit: f64) -> Vec<Self> {
        let mut curves: Vec<Self> = Vec::new();
        for term in &context.design.terms {
            let Some((factor, number)) = term.bend() else {
                continue;
            };
            if number == 1 {
                let name = factor.label();
                curves.push(Self {
                    along: column_of(term),
                    width: 0,
                    number: curves.len() + 1,
                    prior: context.prior(ParamId::of(Class::Sd, [&name]).as_str()),
                    unit: if context.options.standardize {
                        unit
                    } else {
                        1.0
                    },
                    name,
                });
            }
            if let Some(curve) = curves.last_mut() {
                curve.width = number;
            }
        }
        curves
    }

    /// A sentence, with a space before it.
    pub fn words(&self) -> String {
        let functions = match self.width {
            1 => "one function".to_owned(),
            many => format!("{many} functions"),
        };
        format!(
            " Along `{}` runs a smooth curve, a thin plate regression spline: the straight line, and {functions} that bend it, whose \
             coefficients are normal with one standard deviation.",
            self.along
        )
    }

    /// What the curve adds to the linear predictor in an equation, besides its straight line.
    pub fn sum(&self) -> String {
        let Self { name, along, .. } = self;
        format!("Σ_j bend[{name},j] × c_j({along}[i])")
    }

    /// Relations of its parameters; `unit` is what the response is divided by, in words.
    pub fn relations(&self, unit: &str) -> [String; 2] {
        let name = &self.name;
        [
            format!(
                "bend[{name},j] ~ normal(0, sd[{name}]) for j = 1 … {}",
                self.width
            ),
            match self.prior {
                FLAT => format!("sd[{name}] has a flat prior"),
                prior => format!("sd[{name}]{unit} ~ {prior}"),
            },
        ]
    }

    /// Data and coefficients in Stan, which come after those of all other columns.
    pub fn stan_coefficients(&self, program: &mut Program) {
        let (t, m, name) = (self.number, self.width, comment(&self.name));
        program.data.push(format!(
            "matrix[N, {m}] c_{t};  // functions that bend {name}"
        ));
        program.parameters.push(format!(
            "vector[{m}] curve_{t};  // their coefficients in units of the standard deviation"
        ));
        program.model.push(format!("curve_{t} ~ std_normal();"));
    }

    /// The standard deviation in Stan, and what is reported.
    pub fn stan_scale(&self, program: &mut Program) {
        let (t, m) = (self.number, self.width);
        let what = if self.unit == 1.0 { "" } else { ", in y_scale" };
        let name = comment(&self.name);
        program.parameters.push(format!(
            "real<lower=0> tau_curve_{t};  // standard deviation of {name} around its line{what}"
        ));
        program.prior(&format!("tau_curve_{t}"), self.prior);
        let unit = if self.unit == 1.0 { "" } else { "y_scale * " };
        program.generated.extend([
            format!("real sd_curve_{t} = {unit}tau_curve_{t};"),
            format!("vector[{m}] bend_{t} = sd_curve_{t} * curve_{t};"),
        ]);
    }

    /// What the curve adds to the linear predictor in Stan.
    pub fn stan_sum(&self) -> String {
        let t = self.number;
        format!("c_{t} * (tau_curve_{t} * curve_{t})")
    }
}
