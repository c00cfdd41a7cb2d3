//! The network in other notations. Parameters of its Stan program stand in the order of the model's coordinates.

use super::{Activation, NetSettings, Shape, TEMPLATE, groups_of, precision};
use crate::translation::{Context, Program, Translation, comment, each_of, listed, numbers};
use crate::{ModelError, unordered_levels};
use ergodic_base::settings::Declared as _;

/// A network, as far as it is told.
struct Described<'a> {
    context: Context<'a>,
    levels: &'a [String],
    shape: Shape,
    activation: Activation,
}

/// All notations.
///
/// # Errors
/// The response has no levels, or a setting is none.
pub(super) fn describe(context: &Context<'_>) -> Result<Translation, ModelError> {
    let levels = unordered_levels(context.design, TEMPLATE)?;
    let settings = NetSettings::read(&context.options.settings)?;
    let it = Described {
        context: *context,
        levels,
        shape: Shape {
            inputs: context.design.terms.len(),
            units: settings.hidden_units,
            levels: levels.len(),
        },
        activation: settings.activation,
    };
    Ok(Translation {
        words: it.words(),
        equation: it.equation(),
        stan: Ok(it.stan()),
        brms: Err("brms has no networks with hidden units; the Stan program runs in cmdstanr or rstan as it is".to_owned()),
    })
}

impl Described<'_> {
    fn first(&self) -> usize {
        usize::from(self.context.design.has_intercept)
    }

    fn words(&self) -> String {
        let design = self.context.design;
        let passed = match self.activation {
            Activation::Softmax => {
                "the shares of e to the power of their sums, which are 1 together"
            }
            Activation::Tanh => "the hyperbolic tangent of its sum each",
        };
        let slopes = &design.terms[self.first()..];
        let sums = match (self.first(), slopes) {
            (_, []) => "an intercept".to_owned(),
            (1, slopes) => format!("an intercept and a weight times {}", each_of(slopes)),
            (_, slopes) => format!("a weight times {}", each_of(slopes)),
        };
        let scale = match self.context.options.standardize {
            true => " Inputs are centred and in units of their standard deviation.",
            false => "",
        };
        let precisions: Vec<String> = groups_of(design, self.shape)
            .iter()
            .map(|(key, words, _count)| {
                let name = precision(key);
                format!(
                    "{} for the precision of {words}",
                    self.context.prior(name.as_str())
                )
            })
            .collect();
        format!(
            "A network with one hidden layer: each of {} hidden units sums {sums}, and passes on {passed}. The score of each level of `{}` \
             ({}) is an intercept and a weight times what each hidden unit passes on; the probability of a level is e to the power of its \
             score over the sum of these powers over all levels.{scale}{}{} Weights are normal around 0, and priors are {}. Hidden units have \
             no order, so that single weights mean nothing, only what is predicted does. {}",
            self.shape.units,
            design.response.name,
            listed(self.levels),
            self.context.weights(),
            self.context.coding(),
            precisions.join("; "),
            self.context.rows()
        )
    }

    fn equation(&self) -> String {
        let design = self.context.design;
        let name = &design.response.name;
        let inputs: Vec<String> = (design.terms.iter().enumerate())
            .map(|(j, term)| match j < self.first() {
                true => "hidden_weight[l,Intercept]".to_owned(),
                false => format!("hidden_weight[l,{term}] × {term}[i]"),
            })
            .collect();
        let passed = match self.activation {
            Activation::Softmax => "h[i] = softmax(s[i])",
            Activation::Tanh => "h[i,l] = tanh(s[i,l])",
        };
        let mut lines = vec![
            format!("{name}[i] ~ categorical(softmax(r[i]))"),
            "r[i,k] = output_weight[k,Intercept] + Σ_l output_weight[k,l] × h[i,l]".to_owned(),
            passed.to_owned(),
            format!("s[i,l] = {}", inputs.join(" + ")),
            format!("l = 1 … {}", self.shape.units),
            format!("k = {}", self.levels.join(", ")),
        ];
        if design.weights.is_some() {
            lines.push("row i counts weight[i] times".to_owned());
        }
        for (key, words, _count) in groups_of(design, self.shape) {
            let name = precision(key);
            let prior = self.context.prior(name.as_str());
            lines.push(format!("{words} ~ normal(0, 1/sqrt({name}))"));
            lines.push(match prior {
                crate::translation::FLAT => format!("{name} has a flat prior"),
                prior => format!("{name} ~ {prior}"),
            });
        }
        lines.push(format!("i = 1 … {}", design.rows_used));
        lines.join("\n")
    }

    fn stan(&self) -> String {
        let design = self.context.design;
        let Shape {
            inputs,
            units,
            levels,
        } = self.shape;
        let first = self.first();
        let (slopes, some) = (inputs - first, inputs > first);
        let mut program = Program::default();
        program.notes.push(
            "Hidden units have no order, so chains disagree about their numbers: compare only what does not depend on these."
                .to_owned(),
        );
        program.data.push("int<lower=1> N;".to_owned());
        if some {
            let names = comment(&design.terms[first..].join(", "));
            program
                .data
                .push(format!("matrix[N, {slopes}] x;  // {names}"));
        }
        program.data.push(format!(
            "array[N] int<lower=1, upper={levels}> y;  // {}",
            comment(&self.levels.join(", "))
        ));
        if design.weights.is_some() {
            program.data.push("vector<lower=0>[N] weight;".to_owned());
        }
        let standardise = some && self.context.options.standardize;
        if standardise {
            program.transformed_data.extend([
                "// means and population standard deviations of the columns of x".to_owned(),
                format!(
                    "row_vector[{slopes}] centre = [{}];",
                    numbers(&design.raw_center[first..])
                ),
                format!(
                    "row_vector[{slopes}] scale = [{}];",
                    numbers(&design.raw_scale[first..])
                ),
                format!(
                    "matrix[N, {slopes}] v = (x - rep_matrix(centre, N)) ./ rep_matrix(scale, N);"
                ),
            ]);
        }
        let columns = if standardise { "v" } else { "x" };
        program
            .parameters
            .push("// weights in units of their prior standard deviation".to_owned());
        let mut sums = Vec::new();
        for (key, words, _count) in groups_of(design, self.shape) {
            let (declared, normal) = match key {
                "hidden_bias" => {
                    sums.push(format!(
                        "rep_matrix(to_row_vector(hidden_bias) / sqrt(precision_{key}), N)"
                    ));
                    (format!("vector[{units}] {key}"), key.to_owned())
                }
                "hidden" => {
                    sums.push(format!("{columns} * hidden' / sqrt(precision_{key})"));
                    (
                        format!("matrix[{units}, {slopes}] {key}"),
                        format!("to_vector({key})"),
                    )
                }
                "output_bias" => (format!("vector[{levels}] {key}"), key.to_owned()),
                _ => (
                    format!("matrix[{levels}, {units}] {key}"),
                    format!("to_vector({key})"),
                ),
            };
            program.parameters.push(format!("{declared};  // {words}"));
            program.model.push(format!("{normal} ~ std_normal();"));
        }
        for (key, _words, _count) in groups_of(design, self.shape) {
            let name = format!("precision_{key}");
            program.parameters.push(format!("real<lower=0> {name};"));
            program.prior(&name, self.context.prior(precision(key).as_str()));
        }
        let weight = match design.weights {
            Some(_) => "weight[i] * ",
            None => "",
        };
        let passed = match self.activation {
            Activation::Softmax => "softmax(s[i]')",
            Activation::Tanh => "tanh(s[i]')",
        };
        program.model.extend([
            format!("matrix[N, {units}] s = {};", sums.join(" + ")),
            "for (i in 1:N) {".to_owned(),
            format!("  vector[{units}] h = {passed};"),
            format!(
                "  vector[{levels}] r = output_bias / sqrt(precision_output_bias) + output * h / sqrt(precision_output);"
            ),
            format!("  target += {weight}categorical_logit_lpmf(y[i] | r);"),
            "}".to_owned(),
        ]);
        // Declarations stand before statements.
        let at = program
            .model
            .iter()
            .position(|line| line.starts_with("matrix["));
        if let Some(at) = at {
            let declared = program.model.remove(at);
            program.model.insert(0, declared);
        }
        program.text()
    }
}
