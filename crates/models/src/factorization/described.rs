//! Matrix factorisation in other notations.

use super::{FactorizationModel, KINDS, PrecisionPrior};
use crate::translation::{Context, NoTranslation, Program, Translation, comment, number};
use ergodic_base::numerals::significant;

/// Digits of what is computed from ratings or settings, in words; equations and programs have all.
const DIGITS: usize = 4;
/// Letters of the four blocks, as the source has them.
const LETTERS: [&str; 4] = ["a", "b", "U", "V"];

pub(super) fn describe(context: &Context<'_>, model: &FactorizationModel) -> Translation {
    Translation {
        words: words(context, model),
        equation: equation(context, model),
        stan: Ok(stan(context, model)),
        brms: Err(NoTranslation::Absent(
            "brms has sums of effects of users and of items, but no products of factors of both",
        )),
    }
}

fn words(context: &Context<'_>, model: &FactorizationModel) -> String {
    let [user, item] = &model.table.names;
    let [users, items] = model.layout.groups;
    let mut text = format!(
        "`{}` is normal around the sum of {}, a number for each of {users} levels of `{user}`, one for each of {items} of `{item}`, and the \
         product of their vectors of {} factors, with the known precision {} (standard deviation {}).",
        context.design.response.name,
        match context.design.has_intercept {
            true => format!("its mean {}", significant(model.table.mean, DIGITS)),
            false => "0".to_owned(),
        },
        model.layout.factors,
        number(model.precision),
        significant(model.precision.sqrt().recip(), DIGITS),
    );
    for (kind, prior) in KINDS.iter().zip(&model.priors) {
        text.push_str(&match prior.0 {
            PrecisionPrior::Constant(value) => {
                format!(" The precision of `{}` is {}.", kind.word, number(value))
            }
            PrecisionPrior::Gamma { .. } => format!(
                " The prior of the precision of `{}`, which is integrated out, is {}.",
                kind.word,
                prior.0.text()
            ),
        });
    }
    text.push_str(
        " A rotation of all factors changes no prediction, so that single factors and criteria of their convergence mean nothing; \
         predictions and the density do.",
    );
    format!("{text}{} {}", context.weights(), context.rows())
}

fn equation(context: &Context<'_>, model: &FactorizationModel) -> String {
    let [user, item] = &model.table.names;
    let y = &context.design.response.name;
    let mut lines = vec![format!(
        "{y}[i] ~ normal({} + a[{user}[i]] + b[{item}[i]] + U[{user}[i]]'V[{item}[i]], {})",
        number(model.table.mean),
        number(model.precision.sqrt().recip())
    )];
    for (letter, prior) in LETTERS.iter().zip(&model.priors) {
        match prior.0 {
            PrecisionPrior::Constant(value) => lines.push(format!(
                "{letter} ~ normal(0, {})",
                number(value.sqrt().recip())
            )),
            PrecisionPrior::Gamma { .. } => {
                lines.push(format!("{letter} ~ normal(0, 1/sqrt(lambda_{letter}))"));
                lines.push(format!("lambda_{letter} ~ {}", prior.0.text()));
            }
        }
    }
    lines.push(format!("i = 1 … {}", model.table.y.len()));
    lines.join("\n")
}

fn stan(context: &Context<'_>, model: &FactorizationModel) -> String {
    let [user, item] = &model.table.names;
    let [users, items] = model.layout.groups;
    let width = model.layout.factors;
    let sd = number(model.precision.sqrt().recip());
    let mean = "m + a[user[i]] + b[item[i]] + dot_product(U[user[i]], V[item[i]])";
    let mut program = Program {
        notes: vec![
            "Precisions of a, b, U and V are integrated out. A rotation of U and V changes nothing: compare predictions alone."
                .to_owned(),
        ],
        data: vec![
            "int<lower=1> N;  // rows".to_owned(),
            format!("array[N] int<lower=1, upper={users}> user;  // {}", comment(user)),
            format!("array[N] int<lower=1, upper={items}> item;  // {}", comment(item)),
            format!("vector[N] y;  // {}", comment(&context.design.response.name)),
        ],
        transformed_data: vec![format!("real m = {};", number(model.table.mean))],
        parameters: vec![
            format!("vector[{users}] a;"),
            format!("vector[{items}] b;"),
            format!("array[{users}] vector[{width}] U;"),
            format!("array[{items}] vector[{width}] V;"),
        ],
        ..Program::default()
    };
    let mut declared = Vec::new();
    for (k, (letter, prior)) in LETTERS.iter().zip(&model.priors).enumerate() {
        let squares = if KINDS[k].is_factor {
            declared.push(format!("real squares_{letter} = 0;"));
            format!("squares_{letter}")
        } else {
            format!("dot_self({letter})")
        };
        if KINDS[k].is_factor {
            program.model.push(format!(
                "for (g in 1:{}) squares_{letter} += dot_self({letter}[g]);",
                model.layout.groups[KINDS[k].side]
            ));
        }
        let n = model.layout.block(k).len() as f64;
        program.model.push(match prior.0 {
            PrecisionPrior::Constant(value) => {
                format!("target += -0.5 * {} * {squares};", number(value))
            }
            PrecisionPrior::Gamma { shape, rate } => format!(
                "target += -{} * log({} + 0.5 * {squares});",
                number(shape + 0.5 * n),
                number(rate)
            ),
        });
    }
    program.model.push("for (i in 1:N) {".to_owned());
    program.model.push(match &context.design.weights {
        Some(_) => {
            program
                .data
                .push("vector<lower=0>[N] w;  // weights".to_owned());
            format!("  target += w[i] * normal_lpdf(y[i] | {mean}, {sd});")
        }
        None => format!("  y[i] ~ normal({mean}, {sd});"),
    });
    program.model.push("}".to_owned());
    // Declarations stand before statements.
    program.model.splice(0..0, declared);
    program.text()
}
