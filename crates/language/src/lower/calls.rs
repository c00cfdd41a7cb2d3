//! Functions of several numbers and of vectors, and log densities as functions.

use super::products::MATMUL;
use super::tails::{self, TAILS};
use super::{Lowering, Picks, are, shape_words};
use crate::distributions;
use crate::foreign;
use crate::functions::{FUNCTIONS, Function};
use crate::graph::Id;
use crate::place::{Fault, Span, hint};
use crate::syntax::{Binary, Expr, Law, Name};

/// Functions of several numbers or of vectors, for messages.
pub(crate) const OTHER_FUNCTIONS: [&str; 12] = [
    "sum",
    "mean",
    "dot",
    "matmul",
    "length",
    "log_sum_exp",
    "log_mix",
    "min",
    "max",
    "where",
    "logit",
    "log_diff_exp",
];

impl Lowering<'_> {
    /// The elements of the only argument, a vector.
    fn vector(&mut self, e: &Expr) -> Result<Vec<Id>, Fault> {
        let sizes = self.shape(e)?;
        if sizes.is_empty() {
            return Err(Fault::new(e.span, "A vector is needed here"));
        }
        self.elements(e, &sizes)
    }

    fn arity(
        &self,
        name: &Name,
        arguments: &[Expr],
        wanted: usize,
        span: Span,
    ) -> Result<(), Fault> {
        if arguments.len() == wanted {
            return Ok(());
        }
        let message = format!(
            "`{}` takes {wanted} argument{}, but {} given",
            name.text,
            if wanted == 1 { "" } else { "s" },
            are(arguments.len())
        );
        Err(Fault::new(span, message))
    }

    pub(super) fn called(
        &mut self,
        name: &Name,
        arguments: &[Expr],
        span: Span,
        picks: &Picks,
    ) -> Result<Id, Fault> {
        let arity = |it: &Self, wanted: usize| it.arity(name, arguments, wanted, span);
        if let Some(function) = Function::find(&name.text) {
            arity(self, 1)?;
            let inner = self.part(&arguments[0], picks)?;
            self.graph.place = span;
            return Ok(self.graph.call(function, inner));
        }
        if let Some(told) = tails::find(&name.text) {
            arity(self, 1 + told.0.parameters.len())?;
            let items = (arguments.iter().map(|argument| self.part(argument, picks)))
                .collect::<Result<Vec<Id>, Fault>>()?;
            self.graph.place = span;
            return self.tail(told, items[0], &items[1..], span);
        }
        let is_vector = arguments.len() == 1;
        let items = match name.text.as_str() {
            "sum" | "mean" => {
                arity(self, 1)?;
                self.vector(&arguments[0])?
            }
            "length" => {
                arity(self, 1)?;
                return self.length(&arguments[0]);
            }
            "dot" => {
                arity(self, 2)?;
                return self.dot(&arguments[0], &arguments[1], span);
            }
            MATMUL => return self.product(arguments, span, picks),
            "log_sum_exp" | "min" | "max" if is_vector => self.vector(&arguments[0])?,
            "log_sum_exp" | "min" | "max" | "log_mix" | "where" | "logit" | "log_diff_exp" => {
                let mut items = Vec::new();
                for argument in arguments {
                    items.push(self.part(argument, picks)?);
                }
                items
            }
            _ => return self.log_density(name, arguments, span, picks),
        };
        self.graph.place = span;
        let graph = &mut self.graph;
        Ok(match name.text.as_str() {
            "sum" => graph.sum(&items),
            "mean" => {
                let (total, count) = (graph.sum(&items), graph.constant(items.len() as f64));
                graph.binary(Binary::Div, total, count)
            }
            "log_mix" => {
                self.arity(name, arguments, 3, span)?;
                self.log_mix(items[0], items[1], items[2])
            }
            "where" => {
                self.arity(name, arguments, 3, span)?;
                self.graph.select(items[0], items[1], items[2])
            }
            "logit" => {
                self.arity(name, arguments, 1, span)?;
                let minus = self.graph.negate(items[0]);
                let (log_p, log_q) = (
                    self.graph.call(Function::Log, items[0]),
                    self.graph.call(Function::Log1p, minus),
                );
                self.graph.binary(Binary::Sub, log_p, log_q)
            }
            "log_diff_exp" => {
                self.arity(name, arguments, 2, span)?;
                let difference = self.graph.binary(Binary::Sub, items[1], items[0]);
                let less = self.graph.call(Function::Log1mExp, difference);
                self.graph.binary(Binary::Add, items[0], less)
            }
            other => {
                let Some((first, rest)) = items.split_first() else {
                    return Err(Fault::new(span, format!("`{other}` needs an argument")));
                };
                if other == "log_sum_exp" {
                    return Ok(self.log_sum_exp(*first, rest));
                }
                let mut result = *first;
                for &item in rest {
                    let (a, b) = if other == "min" {
                        (result, item)
                    } else {
                        (item, result)
                    };
                    let less = self.graph.binary(Binary::Less, a, b);
                    result = self.graph.select(less, result, item);
                }
                result
            }
        })
    }

    /// The number of elements of a vector, which needs no values of it.
    fn length(&mut self, e: &Expr) -> Result<Id, Fault> {
        match self.shape(e)?.as_slice() {
            [length] => Ok(self.graph.constant(*length as f64)),
            sizes => {
                let message = format!(
                    "`length` is of a vector, but this is {}",
                    shape_words(sizes)
                );
                Err(Fault::new(e.span, message))
            }
        }
    }

    /// ln(p e^a + (1 − p) e^b).
    fn log_mix(&mut self, p: Id, a: Id, b: Id) -> Id {
        let minus = self.graph.negate(p);
        let log_p = self.graph.call(Function::Log, p);
        let log_q = self.graph.call(Function::Log1p, minus);
        let a = self.graph.binary(Binary::Add, log_p, a);
        let b = self.graph.binary(Binary::Add, log_q, b);
        self.log_sum_exp(a, &[b])
    }

    fn dot(&mut self, a: &Expr, b: &Expr, span: Span) -> Result<Id, Fault> {
        let (of_a, of_b) = (self.shape(a)?, self.shape(b)?);
        if of_a.len() != 1 || of_a != of_b {
            let message = format!(
                "`dot` takes two vectors of one length, but {} and {} are given",
                shape_words(&of_a),
                shape_words(&of_b)
            );
            return Err(Fault::new(span, message));
        }
        let (a, b) = (self.elements(a, &of_a)?, self.elements(b, &of_b)?);
        self.graph.place = span;
        let mut products = Vec::new();
        for (a, b) in a.into_iter().zip(b) {
            products.push(self.graph.binary(Binary::Mul, a, b));
        }
        Ok(self.graph.sum(&products))
    }

    /// `normal_lpdf(y, mu, sigma)`: a log density as a number.
    fn log_density(
        &mut self,
        name: &Name,
        arguments: &[Expr],
        span: Span,
        picks: &Picks,
    ) -> Result<Id, Fault> {
        let stem = distributions::stem(&name.text);
        let Some(stem) = stem else {
            let functions = FUNCTIONS.iter().map(|(known, _)| *known);
            let known: Vec<&str> = functions
                .chain(OTHER_FUNCTIONS)
                .chain(TAILS.map(|(name, ..)| name))
                .collect();
            let densities = match distributions::find(&name.text) {
                Some(_) => format!("; the log density is `{}_lpdf`", name.text),
                None => foreign::function(&name.text).unwrap_or_else(|| hint(&name.text, known)),
            };
            let message = format!("There is no function `{}`{densities}", name.text);
            return Err(Fault::new(name.span, message));
        };
        let law = Law {
            name: Name {
                text: stem.to_owned(),
                span: name.span,
            },
            arguments: arguments.iter().skip(1).cloned().collect(),
            span,
        };
        let distribution = self.check_law(&law)?;
        if distribution.support.is_of_levels()
            && let [outcome, rest @ ..] = arguments
        {
            return Ok(self
                .level(distribution, (outcome, rest), picks, span)?
                .log_p);
        }
        if distribution.tree().is_none() {
            let message = format!("`{stem}` is of vectors; write `p ~ {stem}(…)`");
            return Err(Fault::new(name.span, message));
        }
        let mut numbers = Vec::new();
        for argument in arguments {
            numbers.push(self.part(argument, picks)?);
        }
        self.graph.place = span;
        self.density(distribution, numbers[0], &numbers[1..], span)
    }
}
