//! The network in other notations. Parameters of its Stan program stand in the order of the model's coordinates.

use super::{Activation, NetSettings, Role, Shape, TEMPLATE, groups_of};
use crate::translation::{Context, NoTranslation, Program, Translation, comment, each_of, listed};
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
            hidden: settings.hidden()?,
            levels: levels.len(),
        },
        activation: settings.activation,
    };
    Ok(Translation {
        words: it.words(),
        equation: it.equation(),
        stan: Ok(it.stan()),
        brms: Err(NoTranslation::Absent(
            "brms has no networks with hidden units; the Stan program runs in cmdstanr or rstan as it is",
        )),
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
        let precisions: Vec<String> = groups_of(design, &self.shape)
            .iter()
            .map(|shared| {
                let prior = self.context.prior(shared.precision().as_str());
                format!("{prior} for the precision of {}", shared.words)
            })
            .collect();
        let (kind, further, last) = match &self.shape.hidden[1..] {
            [] => ("one hidden layer".to_owned(), String::new(), ""),
            more => {
                let counts: Vec<String> = more.iter().map(usize::to_string).collect();
                let (layers, make) = match more {
                    [_] => ("A further layer", "makes"),
                    _ => ("Further layers", "make"),
                };
                let further = format!(
                    " {layers} of {} hidden units {make} the same of an intercept and a weight times what each unit of the layer before \
                     passes on.",
                    listed(&counts)
                );
                let kind = format!("{} hidden layers", more.len() + 1);
                (kind, further, " of the last layer")
            }
        };
        format!(
            "A network with {kind}: each of {} hidden units sums {sums}, and passes on {passed}.{further} The score of each level of `{}` \
             ({}) is an intercept and a weight times what each hidden unit{last} passes on; the probability of a level is e to the power of its \
             score over the sum of these powers over all levels.{scale}{}{} Weights are normal around 0, and priors are {}. Hidden units have \
             no order, so that single weights mean nothing, only what is predicted does. {}",
            self.shape.first_units(),
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
        // h and s of the first layer have no number, as in a network of one.
        let layer = |l: usize| match l {
            1 => String::new(),
            l => l.to_string(),
        };
        let passed = |l: usize| {
            let l = layer(l);
            match self.activation {
                Activation::Softmax => format!("h{l}[i] = softmax(s{l}[i])"),
                Activation::Tanh => format!("h{l}[i,l] = tanh(s{l}[i,l])"),
            }
        };
        let hidden = &self.shape.hidden;
        let mut lines = vec![
            format!("{name}[i] ~ categorical(softmax(r[i]))"),
            format!(
                "r[i,k] = output_weight[k,Intercept] + Σ_l output_weight[k,l] × h{}[i,l]",
                layer(hidden.len())
            ),
        ];
        for l in (2..=hidden.len()).rev() {
            lines.push(passed(l));
            lines.push(format!(
                "s{l}[i,l] = hidden_weight[{l}:l,Intercept] + Σ_m hidden_weight[{l}:l,m] × h{}[i,m]",
                layer(l - 1)
            ));
        }
        let counts: Vec<String> = hidden.iter().map(usize::to_string).collect();
        lines.extend([
            passed(1),
            format!("s[i,l] = {}", inputs.join(" + ")),
            match counts.as_slice() {
                [units] => format!("l = 1 … {units}"),
                all => format!(
                    "l = 1 … {} in the layers one after the other",
                    all.join(", ")
                ),
            },
            format!("k = {}", self.levels.join(", ")),
        ]);
        if self.context.options.standardize && design.terms.len() > self.first() {
            lines.push("with predictors centred and scaled to standard deviation 1".to_owned());
        }
        if design.weights.is_some() {
            lines.push("row i counts weight[i] times".to_owned());
        }
        for shared in groups_of(design, &self.shape) {
            let (name, words) = (shared.precision(), shared.words);
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
        let (inputs, levels) = (self.shape.inputs, self.shape.levels);
        let (units, last) = (self.shape.first_units(), self.shape.last_units());
        let first = self.first();
        let (slopes, some) = (inputs - first, inputs > first);
        let mut program = Program::default();
        program.notes.push(
            "Hidden units have no order, so chains disagree about their numbers: compare only what does not depend on these."
                .to_owned(),
        );
        program.data.push("int<lower=1> N;".to_owned());
        program.columns(&design.terms[first..]);
        program.data.push(format!(
            "array[N] int<lower=1, upper={levels}> y;  // {}",
            comment(&self.levels.join(", "))
        ));
        program.offset_and_weights(design);
        let standardise = some && self.context.options.standardize;
        if standardise {
            program.scales(design, first..inputs);
            program.transformed_data.push(format!(
                "matrix[N, {slopes}] v = (x - rep_matrix(centre, N)) ./ rep_matrix(scale, N);"
            ));
        }
        let columns = if standardise { "v" } else { "x" };
        program
            .parameters
            .push("// weights in units of their prior standard deviation".to_owned());
        let mut sums = Vec::new();
        for shared in groups_of(design, &self.shape) {
            // Names in Stan have no colon.
            let (key, layer, words) = (shared.key('_'), shared.layer, &shared.words);
            let all = format!("to_vector({key})");
            let (declared, normal) = match shared.role {
                Role::HiddenBias => {
                    if layer == 1 {
                        sums.push(format!(
                            "rep_matrix(to_row_vector({key}) / sqrt(precision_{key}), N)"
                        ));
                    }
                    let own = self.shape.hidden[layer - 1];
                    (format!("vector[{own}] {key}"), key.clone())
                }
                Role::Hidden if layer == 1 => {
                    sums.push(format!("{columns} * {key}' / sqrt(precision_{key})"));
                    (format!("matrix[{units}, {slopes}] {key}"), all)
                }
                Role::Hidden => {
                    let (own, before) =
                        (self.shape.hidden[layer - 1], self.shape.hidden[layer - 2]);
                    (format!("matrix[{own}, {before}] {key}"), all)
                }
                Role::OutputBias => (format!("vector[{levels}] {key}"), key.clone()),
                Role::Output => (format!("matrix[{levels}, {last}] {key}"), all),
            };
            program.parameters.push(format!("{declared};  // {words}"));
            program.model.push(format!("{normal} ~ std_normal();"));
        }
        for shared in groups_of(design, &self.shape) {
            let name = format!("precision_{}", shared.key('_'));
            program.parameters.push(format!("real<lower=0> {name};"));
            let prior = self.context.prior(shared.precision().as_str());
            program.prior(&name, prior);
        }
        let weight = match design.weights {
            Some(_) => "weight[i] * ",
            None => "",
        };
        let function = match self.activation {
            Activation::Softmax => "softmax",
            Activation::Tanh => "tanh",
        };
        // Declarations stand before statements.
        let sum = format!("matrix[N, {units}] s = {};", sums.join(" + "));
        program.model.insert(0, sum);
        program.model.extend([
            "for (i in 1:N) {".to_owned(),
            format!("  vector[{units}] h = {function}(s[i]');"),
        ]);
        let mut before = "h".to_owned();
        for (l, own) in (2..).zip(&self.shape.hidden[1..]) {
            let h = format!("h{l}");
            program.model.push(format!(
                "  vector[{own}] {h} = {function}(hidden_bias_{l} / sqrt(precision_hidden_bias_{l}) + hidden_{l} * {before} / \
                 sqrt(precision_hidden_{l}));"
            ));
            before = h;
        }
        program.model.extend([
            format!(
                "  vector[{levels}] r = output_bias / sqrt(precision_output_bias) + output * {before} / sqrt(precision_output);"
            ),
            format!("  target += {weight}categorical_logit_lpmf(y[i] | r);"),
            "}".to_owned(),
        ]);
        program.text()
    }
}
