//! What the examples share where they are written down in other notations.

use crate::design::Design;
use crate::design::ResponseKind;
use crate::translation::{Context, NoTranslation, Program, Translation, brm_call, comment};

/// An example as far as it differs from others.
pub(super) struct Described {
    /// Story and prior of the model, in sentences.
    pub words: String,
    /// Relations, one per line.
    pub equation: Vec<String>,
    /// Whether a row is a vector also where it has one column.
    pub vectors: bool,
    /// Parameters in Stan.
    pub parameters: Vec<String>,
    /// Priors in Stan.
    pub priors: Vec<String>,
    /// The log density of row `x[i]` in Stan.
    pub row: String,
    /// R code that calls brms, or why there is none.
    pub brms: Result<String, NoTranslation>,
}

/// Names of the columns that a row holds.
pub(super) fn columns(design: &Design) -> Vec<String> {
    match design.response.kind {
        ResponseKind::Absent => (design.columns.iter())
            .map(|(name, _)| name.clone())
            .collect(),
        _ => vec![design.response.name.clone()],
    }
}

/// A call of brms for one column explained by nothing but `formula`, with these priors.
pub(super) fn brms(context: &Context<'_>, formula: &str, family: &str, priors: &[&str]) -> String {
    let name = match context.design.response.kind {
        ResponseKind::Absent => crate::formula::quote_name(&columns(context.design).concat()),
        _ => context.design.response.written(),
    };
    let weights = (context.formula.response.as_ref())
        .and_then(|response| response.weights.as_deref())
        .map_or(String::new(), |weights| {
            format!(" | weights({})", crate::formula::quote_name(weights))
        });
    let priors: Vec<String> = priors
        .iter()
        .map(|prior| format!("set_prior({prior})"))
        .collect();
    let arguments = [
        formula.replace("x ~", &format!("{name}{weights} ~")),
        format!("data = data, family = {family}"),
    ];
    brm_call(&[], &arguments, &priors)
}

impl Described {
    /// All notations.
    pub fn all(self, context: &Context<'_>) -> Translation {
        let design = context.design;
        let names = columns(design);
        let (listed, width) = (comment(&names.join(", ")), names.len());
        let mut data = vec![
            "int<lower=1> N;".to_owned(),
            if self.vectors {
                format!("array[N] vector[{width}] x;  // {listed}")
            } else {
                format!("vector[N] x;  // {listed}")
            },
        ];
        let mut times = "";
        if design.weights.is_some() {
            data.push("vector<lower=0>[N] weight;".to_owned());
            times = "weight[i] * ";
        }
        let mut model = self.priors;
        model.extend([
            "for (i in 1:N) {".to_owned(),
            format!("  target += {times}{};", self.row),
            "}".to_owned(),
        ]);
        let mut equation = self.equation;
        if design.weights.is_some() {
            equation.push("row i counts weight[i] times".to_owned());
        }
        equation.push(format!("x[i] = {}", names.join(", ")));
        equation.push(format!("i = 1 … {}", design.rows_used));
        let program = Program {
            notes: vec!["Rows with missing values are left out.".to_owned()],
            data,
            parameters: self.parameters,
            model,
            ..Program::default()
        };
        Translation {
            words: format!("{}{} {}", self.words, context.weights(), context.rows()),
            equation: equation.join("\n"),
            stan: Ok(program.text()),
            brms: self.brms,
        }
    }
}
